"""Online sessions: a long stream of counting questions, of which only surprising ones cost.

For any table, questions and answers, and however a session ends and is entered again: what it gives is post-processing of the draws of one
grant, whose event is (ε, δ)-DP, certified before it is charged. The session reads exact values in draws only.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from fractions import Fraction
from threading import Lock
from types import TracebackType
from typing import Any

from discreet.errors import Invalid, Refused
from discreet.exact import Number, positive, probability, shown, whole
from discreet.mechanisms.measure import Promise
from discreet.privacy import events
from discreet.weights.dense import DenseModel
from discreet.weights.domain import Domain, Mask, UnitTable
from discreet.weights.labels import label
from discreet.weights.margins import HeldCounts, checked_cells
from discreet.weights.online_answer import OnlineAnswer
from discreet.weights.online_terms import OnlineAsked, OnlineTerms
from discreet.weights.online_ways import Answering, begun
from discreet.weights.prediction import Prediction, Way, predicted


def online(
    table: UnitTable,
    attributes: Any = None,
    *,
    epsilon: Number,
    delta: Number,
    error: Number,
    queries: int,
    updates: int | None = None,
    start: bool = True,
    method: str | Way = "auto",
    key: str | None = None,
) -> "OnlineSession":
    """A session that answers `queries` counting questions on the cells of attributes, each within ±`error` units; (ε, δ)-DP in all.

    It is charged when it begins, whatever is asked then. `updates` questions may surprise; without a number it is as many as a third
    of ε pays for, with 0 nothing is tested. With `start=False` no marginals are measured first. `method` is "weights", "direct" or
    "histogram"; "auto" takes what is predicted to be best. Refused, before anything is charged, where the error is too small.

    >>> import discreet as dp
    >>> from discreet.cells import Categorical
    >>> ward = Categorical("ward", ("A", "B", "C"), other=False, missing=False)
    >>> table = dp.weights.ArrayTable(dp.weights.Domain((ward,)), [[0]] * 800 + [[2]] * 200)
    >>> with dp.weights.online(table, epsilon=1, delta=1e-6, error=50, queries=1000) as session:
    ...     answer = session.count([True, True, False])
    >>> session.way.value, answer.free, abs(float(answer) - 800) < 60
    ('histogram', True, True)
    """
    found = table.attributes(attributes)
    domain = Domain(tuple(found))
    asked = _checked(table, domain, epsilon, delta, error, queries, updates, start)
    return OnlineSession(table, domain, predicted(asked, method), key)


def _checked(
    table: UnitTable,
    domain: Domain,
    epsilon: Number,
    delta: Number,
    error: Number,
    queries: int,
    updates: int | None,
    start: bool,
) -> OnlineAsked:
    bound = probability(delta, "delta")
    if not 0 < bound < 1:
        raise Invalid(
            f"delta must be above 0 and below 1, got {shown(delta)}",
            hint="the noise of a session is Gaussian; take delta far below 1/(number of people)",
        )
    width = float(positive(error, "error"))
    if width < 1:
        raise Invalid(f"error must be at least 1 unit, got {shown(error)}", hint="it is a number of units, not a share")
    if not isinstance(start, bool):
        raise Invalid(f"start must be True or False, got {shown(start)}")
    return OnlineAsked(
        domain.shape,
        table.relation,
        positive(epsilon, "epsilon"),
        bound,
        width,
        whole(queries, "queries", least=1),
        None if updates is None else whole(updates, "updates", least=0),
        start,
    )


class OnlineSession:
    """Questions one by one. It is charged once, and may be used in a `with` block or closed by `close()`.

    One question at a time; it belongs to the process that began it, and can be neither copied nor pickled, as its grant cannot.
    """

    def __init__(self, table: UnitTable, domain: Domain, plan: Prediction, key: str | None = None) -> None:
        terms = plan.chosen.terms
        if terms is None:
            raise Invalid("this plan cannot be carried out", code="method")
        self.domain, self.plan = domain, plan
        self._table, self._terms, self._lock = table, terms, Lock()
        self._closed = False
        with ExitStack() as stack:
            grant = stack.enter_context(
                table.measure(
                    terms.event,
                    label=label(f"online session ({plan.way.value})", domain, plan.asked),
                    key=key,
                    promise=Promise(*self._promised()),
                )
            )
            counts = HeldCounts(table.counts(domain.attributes))
            self._way: Answering = begun(terms, grant, counts, domain, plan.asked.queries, plan.asked.error)
            self._stack = stack.pop_all()

    def _promised(self) -> tuple[Fraction, Fraction]:
        return self.plan.asked.epsilon, self.plan.asked.delta

    @property
    def way(self) -> Way:
        """How questions are answered."""
        return self.plan.way

    @property
    def event(self) -> events.Event:
        """What was charged."""
        return self._terms.event

    @property
    def terms(self) -> OnlineTerms:
        """What is drawn, with its noise."""
        return self._terms

    @property
    def promise(self) -> Promise:
        """The (ε, δ) that all of it keeps."""
        return Promise(*self._promised())

    @property
    def model(self) -> DenseModel | None:
        """What was learned so far, public; None where each answer is measured."""
        return self._way.model

    @property
    def updates_left(self) -> int:
        """How many more questions may surprise."""
        return self._way.updates_left

    @property
    def queries_left(self) -> int:
        """How many more questions are tested, or measured."""
        return self._way.queries_left

    def count(self, cells: str | Mask | Sequence[Any]) -> OnlineAnswer:
        """How many units are in cells: a condition as the table understands it, or an array of True and False."""
        mask = checked_cells(
            self._table.cells(cells, self.domain.attributes) if isinstance(cells, str) else cells, self.domain.shape
        )
        with self._lock:
            if self._closed:
                raise Refused("this session is closed", code="session-closed", hint="enter again under its key")
            if self._way.cut:
                raise Refused(
                    "a question of this session was cut short",
                    code="session-cut",
                    hint="leave it by an exception, and enter again under its key: what was released comes back",
                )
            return self._way.count(mask)

    def close(self) -> None:
        """End the session: what was drawn comes back under its key, and nothing more is drawn."""
        with self._lock:
            self._closed = True
        self._stack.close()

    def __enter__(self) -> "OnlineSession":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends it; after an exception it can be entered again under its key, and goes on."""
        self._closed = True
        self._stack.__exit__(kind, error, trace)

    def __repr__(self) -> str:
        return f"OnlineSession({self.way.value}, queries_left={self.queries_left:,}, updates_left={self.updates_left})"
