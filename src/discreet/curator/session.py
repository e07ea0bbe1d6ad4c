"""The curator: takes a question, charges for it durably, reads the data, releases the answer. The trusted centre.

    text ─ plan ─ reserve (durable) ─ noise ─ data ─ settle with the answer's bytes (durable) ─ release

Before the reservation everything depends on the question and on what is declared; a refusal there costs nothing and reads nothing. After
it there is one constant error, and the charge is kept.
"""

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from threading import RLock
from typing import Any, NoReturn, Unpack
from uuid import uuid4

from discreet.answer import Answer, Preview
from discreet.curator.amounts import Price
from discreet.curator.asked import Asked, Params, Terms, check_key, spelled_out
from discreet.curator.catalog import catalog_of
from discreet.curator.declaration import advice_on
from discreet.curator.deriving import Deriving
from discreet.curator.draws import entered
from discreet.curator.flight import Flight
from discreet.curator.loaded import Loaded
from discreet.curator.money import check_relation
from discreet.curator.opening import open_ledger
from discreet.curator.parted import paid_in
from discreet.curator.place import Place, named, place_of
from discreet.curator.policy import Policy
from discreet.curator.pricing import check_least, price_of_measurement, price_of_plan
from discreet.curator.quoting import Quoting
from discreet.curator.randomness import AUDITED, SECURE, Randomness, check_randomness
from discreet.curator.request import LONGEST_ANSWER, Request, Reservation, Stored
from discreet.curator.store import Store
from discreet.engines import registry
from discreet.engines.base import Engine
from discreet.errors import Fault, Invalid, Refused
from discreet.exact import Number, probability
from discreet.mechanisms.measure import Grant, Promise, checked_block
from discreet.noise.source import chosen
from discreet.plan.check import digest
from discreet.plan.explain import explain
from discreet.plan.lacking import without_delta
from discreet.plan.limits import check_limits
from discreet.plan.plan import Plan
from discreet.plan.release import decided, release
from discreet.privacy import events, loss
from discreet.privacy.advice import Verdict, note_on_epsilon

_AFTER_FORK: list[object] = []
"""Engines of a parent process: their threads are not here, and they are neither used nor closed."""


class Curator(Quoting, Deriving):
    """Holds the data and the budget; answers questions.

    >>> people = {"patient_id": [1, 1, 2, 3], "ward": ["A", "B", "A", "A"]}
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     hospital = Curator({"visits": people}, "patient_id", {"ward": {"keys": ["A", "B"]}}, epsilon=1, ledger=folder)
    ...     answer = hospital.sql("SELECT COUNT(*) AS n FROM visits", epsilon=0.5)
    ...     hospital.remaining.epsilon
    Fraction(1, 2)
    """

    def __init__(
        self,
        tables: Mapping[str, Any],
        unit: str | None = None,
        columns: Mapping[str, Any] | None = None,
        *,
        epsilon: Number,
        delta: Number = 0,
        row: bool = False,
        adjacency: str = "add-remove",
        max_groups: int | None = None,
        max_rows: int | None = None,
        max_total: int | None = None,
        people: int | None = None,
        clip: str = "groups",
        accountant: str = "pure",
        shares: str | None = None,
        analysts: Mapping[str, Mapping[str, Number]] | None = None,
        parts: Mapping[str, Any] | None = None,
        version: str = "1",
        ledger: str | Path | None = None,
        reading: Mapping[str, Any] | None = None,
        public: Mapping[str, Any] | None = None,
    ) -> None:
        """Each row is about the person in column `unit`, or with row=True about another one each.

        `columns` says what is known of columns: {"age": {"bounds": (0, 120)}, "ward": {"keys": ["A", "B"]}}; with several tables
        {"visits": {"age": …}}. What nobody declared is text. `reading` says how sources are read, as under [tables.visits] in a policy:
        {"delimiter": ";", "decimal": ",", "null": ["NA"]}; {"types": "stored"} takes the types of a frame or a Parquet file over.
        `public` has tables that are about nobody, which are joined, and whose values may be keys.
        `ledger` is the folder that keeps the budget: by default <file>.ledger beside a file. "env:NAME" takes the address of a server
        from a variable; ":memory:" keeps a budget for an experiment, and every answer says so. With shares="reserved" the budgets of
        analysts are kept for them: nobody is refused for what another spent. `parts` gives parts of the people budgets of their own:
        {"table": "visits", "column": "region", "budgets": {"north": {"epsilon": 1}}}.
        """
        policy = Policy.declare(
            tables,
            unit,
            columns,
            epsilon=epsilon,
            delta=delta,
            row=row,
            adjacency=adjacency,
            max_groups=max_groups,
            max_rows=max_rows,
            max_total=max_total,
            people=people,
            clip=clip,
            accountant=accountant,
            shares=shares,
            analysts=analysts,
            parts=parts,
            version=version,
            ledger=ledger,
            reading=reading,
            public=public,
        )
        self._start(policy, place_of(policy))

    @classmethod
    def open(cls, policy: str | Path) -> "Curator":
        """The curator of a policy file."""
        path = Path(policy)
        return cls.of(Policy.read(path), path)

    @classmethod
    def of(
        cls,
        policy: Policy,
        path: Path | None = None,
        told: Callable[[Loaded], None] | None = None,
        noted: Callable[[str], None] = warnings.warn,
        place: Place | None = None,
        randomness: Randomness = SECURE,
    ) -> "Curator":
        """The curator of a policy; `path` is the policy's file or the data file, beside which the ledger lies, unless `place` says.

        `told`: whoever asks is the owner, as on a command line. They are handed the report when a question loads the data, and see why
        it does not load. `noted` is handed what the owner should know when a ledger is made. `randomness` is for audits: any but the
        usual one is Refused where the ledger is kept, and every answer says that it is not private.
        """
        self = cls.__new__(cls)
        self._start(policy, place_of(policy, path) if place is None else place, randomness)
        self._told, self._noted = told, noted
        return self

    def _start(self, policy: Policy, place: Place, randomness: Randomness = SECURE) -> None:
        check_randomness(randomness, place)
        self.policy = policy
        self._beside: tuple[str, ...] = (place.note,) if place.note else ()
        if randomness is not SECURE:
            self._beside += (AUDITED,)
        self._check_delta()
        self.catalog, self._loads = catalog_of(policy)
        self._place = place
        self._randomness = randomness
        self._told: Callable[[Loaded], None] | None = None
        self._noted: Callable[[str], None] = warnings.warn
        self._engine: Engine | None = None
        self._ledger: Store | None = None
        self._process = os.getpid()
        self._opening = RLock()
        self._flight = Flight()
        self._sources = {}

    @property
    def _store(self) -> Store:
        """The ledger, made at the first question: a preview makes none. Whoever comes first opens it, and all others wait for that."""
        self._here()
        with self._opening:
            self._flight.check()
            if self._ledger is None:
                self._ledger = open_ledger(self.policy, self._place, self._noted)
            return self._ledger

    def _ledger_if_made(self) -> Store | None:
        self._here()
        return self._store if self._ledger is not None or self._place.is_made() else None

    def _alone(self) -> AbstractContextManager[None]:
        self._here()
        return self._flight.alone()

    def _reopened(self, policy: Policy) -> None:
        catalog, loads = catalog_of(policy)
        with self._opening:
            self.policy, self.catalog, self._loads = policy, catalog, loads
            self._sources = {}
            if self._engine is not None:
                self._engine.close()
            self._engine = None

    def _give_back(self) -> None:
        engine, self._engine = self._engine, None
        store, self._ledger = self._ledger, None
        for opened in (engine, store):
            if opened is not None:
                opened.close()

    def _here(self) -> None:
        """In a forked process: the data are loaded anew, since the threads of the engine are not here."""
        if self._process != os.getpid():
            self._process = os.getpid()
            self._opening, self._flight = RLock(), Flight(closed=self._flight.closed)
            _AFTER_FORK.append(self._engine)
            self._engine = None

    def load(self) -> Loaded:
        """Read the sources, as the owner's act, and tell how many values of each column are none of its declared type.

        What is wrong with a source is told here, and nowhere else: a question that finds the data not loadable says only that. The
        report tells of the data, and is for the owner alone.
        """
        self._here()
        with self._opening:
            self._flight.check()
            if self._engine is None:
                self._engine = registry.engine()(self._loads)
            return Loaded(self._engine.lost)

    def _loaded(self) -> Engine:
        """The data, for a question; where they do not load, one constant Fault, of which nothing can be learned."""
        self._here()
        if self._engine is None and self._told is not None:
            self._told(self.load())
        if self._engine is None:
            try:
                self.load()
            except Exception:  # raised anew below, outside of this block, so that nothing of it can be reached
                self._engine = None
        if self._engine is None:
            raise Fault(
                "the data cannot be loaded; nothing was charged",
                code="source",
                hint="ask the owner, who is told why by `load()` or on the command line",
            )
        return self._engine

    def _check_delta(self) -> None:
        """δ near one in the number of people promises nothing: a note, a warning, then a refusal, by what is declared."""
        advice = advice_on(self.policy.budget.delta, self.policy.protected.people)
        if advice is None or advice.verdict is Verdict.FINE:
            return
        if advice.verdict is Verdict.WARNING:
            warnings.warn(advice.sentence, stacklevel=4)
        self._beside += (advice.sentence,)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be known of the budget: where it is not kept, or promises little. Answers say all but what ε in all comes to."""
        return (*self._beside, *note_on_epsilon(self.policy.budget.epsilon, in_all=True))

    @spelled_out
    def sql(self, text: str, params: Params = None, *, key: str | None = None, **terms: Unpack[Terms]) -> Answer:
        """The private answer to a question, charged before any data is read.

        It is (epsilon, delta)-DP; with `within` instead of epsilon the least price is paid whose ± is no larger: 25, "5%" of the size
        of each number, or {"n": 25, "average": "2%"}; and nothing where the answer follows from one that you have, as near (`derive`).
        The same question again is the same answer, free, at any `confidence`. `key` names the request: a retry under its key is never
        charged twice, and nothing follows for it. `max_rows`, `max_groups` and `max_total` are limits of this question, instead of the
        policy's.
        """
        if key is not None:
            check_key(key)
        self._here()
        with self._flight.question(), named(self._place):
            given = Asked(text, params, key=key, **terms)
            priced, analyst = self._charged_or_free(given), given.analyst
            if isinstance(priced, Answer):
                return priced
            plan, price = priced
            asked, version = digest(plan), self._version()
            name, about = self._named(key, analyst, asked, self._origin(plan.question.source), version)
            if self._store.stored(name, analyst) is None:
                self._loaded()  # whatever is wrong with the source shows before anything is charged
            outcome = self._store.reserve(
                Request(
                    key=name,
                    analyst=analyst,
                    price=price,
                    event=plan.event.to_json(),
                    label=text,
                    data_version=version,
                    question=about,
                    part=paid_in(self.policy, self._place, plan.part),
                )
            )
            made: dict[bytes, Answer] = {}
            encoded = (
                outcome.answer
                if isinstance(outcome, Stored)
                else self._computed(
                    outcome,
                    partial(self._answered, plan, text, asked, self._loaded(), made),
                    partial(self._facts, plan, analyst, made),
                )
            )
            # what is handed out is what is kept: another may have settled this first
            answer = (made[encoded] if encoded in made else Answer.from_bytes(encoded)).told(plan).at(plan, given.level)
            return _receipted(answer, analyst, outcome.sequence).with_remaining(self._left(analyst, plan.part))

    def _version(self) -> str:
        """Of the data that are open here: opening made it that of the ledger. By now the ledger may have come to another one."""
        if self._store.standing().version != self.policy.version:
            raise Refused(
                "the data have another version by now", code="data-version", hint="open the data anew, then ask again"
            )
        return self.policy.version

    @spelled_out
    def preview(self, text: str, params: Params = None, **terms: Unpack[Terms]) -> Preview:
        """What a question would cost, and how far off its answer may be; the plan is the one that `sql` would charge and run.

        Nothing is spent, no data is read, and no ledger is made.
        """
        asked = Asked(text, params, **terms)
        return Preview.make(self._plan(asked), text=text, confidence=asked.level, free=self._offered(asked))

    @spelled_out
    def explain(self, text: str, params: Params = None, **terms: Unpack[Terms]) -> str:
        """The plan of a question as a tree; nothing is spent, no data is read."""
        return explain(self._plan(Asked(text, params, **terms)))

    def _plan(self, asked: Asked) -> Plan:
        return self._priced(asked)[0]

    def _priced(self, asked: Asked) -> tuple[Plan, Price]:
        """The plan that is charged, or shown, and its price. What an analyst lacks a δ for is said with it."""
        if (asked.epsilon is None) is (asked.within is None):
            raise Invalid("a question needs either epsilon or within", hint="epsilon=0.5, or within=25 for ±25 at 95 %")
        delta = probability(asked.delta, "delta") if asked.delta is not None else self._delta_of(asked.analyst)
        plan = self._planned(asked, delta)
        if asked.delta is None and plan.part is not None and delta > (most := self._delta_of_part(plan.part)):
            delta, plan = most, self._planned(asked, most)
        usual = self._usual_delta()
        if asked.delta is None and usual and not delta:
            lacking = without_delta(plan, self._planned(asked, usual), usual)
            plan = replace(plan, assumed=(*plan.assumed, *lacking))
        plan = replace(plan, assumed=(*plan.assumed, *note_on_epsilon(plan.epsilon, in_all=False)))
        price = price_of_plan(plan, self.policy.accountant)
        check_least(price)
        check_limits(plan, LONGEST_ANSWER)
        return plan, price

    def _computed(
        self,
        reservation: Reservation,
        compute: Callable[[], bytes],
        facts: Callable[[bytes], Iterable[tuple[Request, bytes]]] = lambda _: (),
    ) -> bytes:
        """Read, add noise, settle. Whatever goes wrong in between is one constant error, and the charge is kept."""
        encoded: bytes | None
        kept: list[tuple[Request, bytes]] = []
        try:
            encoded = compute()
            kept += facts(encoded)
        except Exception:  # raised anew below, outside of this block, so that nothing of it can be reached
            encoded = None
        if encoded is None or len(encoded) > LONGEST_ANSWER:
            self._store.fail(reservation)
            raise Fault(
                "the question could not be computed; it stays charged",
                code="failed",
                hint="ask the owner to look at the data and the machine",
            )
        return self._store.settle(reservation, encoded, kept)

    def _answered(self, plan: Plan, text: str, asked: str, engine: Engine, made: dict[bytes, Answer]) -> bytes:
        """The answer as it is kept; `made` holds it as it is, too, so that it need not be read again."""
        randomness = self._randomness
        bits, grant = chosen(randomness.source), Grant(plan.event, randomness.source, hand=randomness.hand)
        try:
            salt = bits.bits(64)
            plan = decided(plan, engine.run, grant, salt)
            released = release(plan, engine.run, grant, salt)
        finally:
            grant.close()
        receipt = {
            "plan": asked,
            "data_version": self.policy.version,
            "private": bits.private and randomness is SECURE,
        }
        if self._place.note:
            receipt["kept"] = False
        # what was assumed is told to whoever asks: another may ask for the same plan in other words
        answer = Answer.make(replace(plan, assumed=()), released, text=text, receipt=receipt)
        answer = replace(answer, notes=answer.notes + self._beside)
        encoded = answer.to_bytes()
        made[encoded] = answer
        return encoded

    def measure(
        self,
        event: events.Event,
        *,
        label: str = "",
        key: str | None = None,
        analyst: str | None = None,
        kept: bool = True,
        block: int = 1,
        promise: Promise | None = None,
    ) -> AbstractContextManager[Grant]:
        """Spend and measure in one act: charged durably on entry; each draw is durable before it is handed out.

        Whoever gives a `key` and ends inside, by an exception or a kill, enters again under it, at no new charge: the draws that were
        made come back, in their order, and it goes on with the next. With kept=False values are not kept, and draws are counted in
        blocks of `block`, of which whoever enters again has those that are left. Entering twice at once is refused. A `promise` is
        an (ε, δ) that the event is proven to keep: then that is the price.
        """
        if key is not None:
            check_key(key)
        self._here()
        with self._flight.question():
            relation = self.catalog.protected.relation
            check_relation(str(loss(event).relation or ""), str(relation))
            tagged = events.Under(event, relation)
            size, name = checked_block(tagged, kept, block), key if key is not None else uuid4().hex
            price = price_of_measurement(tagged, self.policy.accountant, self._usual_delta(), promise)
            check_least(price)
            request = Request(
                key=name,
                analyst=analyst,
                price=price,
                event=tagged.to_json(),
                label=label,
                data_version=self._version(),
                question=_measurement(analyst, name, label, size),
            )
            return self._measuring(request, tagged, size)

    @contextmanager
    def _measuring(self, request: Request, event: events.Event, block: int | None) -> Iterator[Grant]:
        """From its charge on a measurement is in flight, until its block ends."""
        self._here()
        with self._flight.question(), entered(self._store, request, event, self._randomness, block) as grant:
            yield grant

    def close(self) -> None:
        """Give back the engine and the ledger, once questions and measurements in flight have ended; no other is taken any more.

        Whoever is inside of a measurement would wait for themselves, and is refused.
        """
        self._here()
        self._flight.close()
        with self._opening:
            self._give_back()

    def __enter__(self) -> "Curator":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Curator({', '.join(self.policy.tables)}; {self.catalog.protected.relation}; {self.policy.budget})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a curator cannot be copied: its budget is kept in one place")


def _receipted(answer: Answer, analyst: str | None, sequence: int) -> Answer:
    """The answer as it is handed out. Only the owner is told a row of the ledger: its number counts what others do."""
    if analyst is None:
        return answer.with_ledger({"sequence": sequence})
    told = answer.receipt.get("ledger")
    return (
        answer if told in (None, {"sequence": sequence}) else replace(answer, receipt=answer.receipt | {"ledger": None})
    )


def _measurement(analyst: str | None, key: str, label: str, block: int | None) -> str:
    """What a measurement asks, which is its own: no other key names it, and it is shared with nobody."""
    return "draws " + sha256(repr((analyst, key, label, block)).encode()).hexdigest()
