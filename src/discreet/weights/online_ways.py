"""The three ways of an online session, on a grant: what is drawn, in which order, and what is answered.

**Who enters again** under a key has the released values back first: start, hits, measurements, with the questions that they are of,
which are public and were noted beside them. So it does not matter which questions come afterwards, or in which order: what
was measured before is answered as before, and all others go on from there. A round that was begun and not ended is lost, and counts
as a hit; what was asked in it is not known any more, and is not counted.

The order of draws hangs on released values alone: a hit is followed by a note of its question, a note that is not empty by a measurement;
a direct answer is followed by a note. A kill between two of them leaves a hit without a question, which is noted as such.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from math import sqrt
from typing import Any

import numpy as np

from discreet.errors import Fault, Refused
from discreet.mechanisms.guarded import Guarded
from discreet.mechanisms.measure import Grant
from discreet.weights import start
from discreet.weights.dense import DenseModel, even
from discreet.weights.domain import Domain, Mask
from discreet.weights.margins import HeldCounts
from discreet.weights.model import NoisyMarginal
from discreet.weights.online_answer import OnlineAnswer, read, written
from discreet.weights.online_terms import DirectTerms, HistogramTerms, OnlineTerms, WeightsTerms

EMPTY = np.zeros(0, np.uint8)


class Answering(ABC):
    """A way of answering, once it has begun."""

    def __init__(self, queries: int, updates: int = 0) -> None:
        self.queries_left, self.updates_left = queries, updates
        self.cut = False

    @property
    def model(self) -> DenseModel | None:
        """What was learned so far; None where nothing is."""
        return None

    @abstractmethod
    def count(self, cells: Mask) -> OnlineAnswer:
        """How many units are in these cells, about."""

    @contextmanager
    def unbroken(self) -> Iterator[None]:
        """Draws that belong together: where an exception comes in between, the sequence is cut, and only a new entry can go on."""
        self.cut = True
        yield
        self.cut = False


def begun(
    terms: OnlineTerms, grant: Grant, counts: HeldCounts, domain: Domain, queries: int, error: float
) -> Answering:
    """The way that these terms are of; what is drawn at the start is drawn, or comes back."""
    match terms:
        case DirectTerms():
            return DirectAnswers(terms, grant, counts)
        case HistogramTerms():
            return HistogramAnswers(terms, grant, counts, domain, queries)
        case WeightsTerms():
            return WeightsAnswers(terms, grant, counts, domain, queries, error)


def _unless(codes: Collection[str], draw: Callable[[], Any]) -> Any:
    """What is drawn; None where it is refused with one of these codes."""
    try:
        return draw()
    except Refused as refusal:
        if refusal.code not in codes:
            raise
        return None


LOST = ("draw-lost",)
"""A draw of an earlier entry, whose value was not kept."""

OVER = ("draw-lost", "key-settled")
"""Or one that was not made before the session was closed."""


def _nothing_left() -> Refused:
    return Refused(
        "all that this session was to start from is lost; it stays spent",
        code="draw-lost",
        hint="begin another session under a new key",
    )


def _never() -> int:
    raise Fault("a round of an earlier entry looked at data", code="online")


class HistogramAnswers(Answering):
    """Every cell was measured: all answers are sums of noisy cells, and free."""

    def __init__(self, terms: HistogramTerms, grant: Grant, counts: HeldCounts, domain: Domain, queries: int) -> None:
        super().__init__(queries)
        self._deviation = sqrt(terms.noise.variance)
        every = tuple(range(len(domain.shape)))
        noisy = _unless(LOST, lambda: grant(terms.noise, terms.moved, counts.marginal(every)))
        if noisy is None:
            raise _nothing_left()
        self._cells = DenseModel(domain, np.asarray(noisy, np.float64).reshape(domain.shape))

    @property
    def model(self) -> DenseModel:
        """The noisy cells, some of which may be negative."""
        return self._cells

    def count(self, cells: Mask) -> OnlineAnswer:
        """The sum of noisy cells; each of them has noise of its own."""
        self.queries_left = max(0, self.queries_left - 1)
        inside = float(cells.sum()) * self._cells.cells.size / cells.size
        width = start.Z95 * self._deviation * sqrt(inside)
        return OnlineAnswer(self._cells.count(cells), True, True, width, "free: a sum of noisy cells")


class DirectAnswers(Answering):
    """Every answer is a draw; a question that was asked before has the answer that it had."""

    def __init__(self, terms: DirectTerms, grant: Grant, counts: HeldCounts) -> None:
        super().__init__(terms.queries)
        self._terms, self._grant, self._counts = terms, grant, counts
        self._known: dict[bytes, int] = {}
        while grant.again:
            self._drawn(_never, EMPTY)

    def count(self, cells: Mask) -> OnlineAnswer:
        """A fresh answer, or the one that this question had before."""
        mark = np.frombuffer(sha256(written(cells).tobytes()).digest(), np.uint8)
        free = mark.tobytes() in self._known
        if not free:
            self._drawn(self._counts.count(cells), mark)
        value = self._known[mark.tobytes()]
        said = "free: it was asked before" if free else f"measured; {self.queries_left:,} questions are left"
        return OnlineAnswer(float(value), free, True, self._terms.noise.error(), said)

    def _drawn(self, exact: Callable[[], int], mark: Any) -> None:
        """One draw and the note of its question, new or of an earlier entry."""
        if not self.queries_left:
            raise Refused(
                f"all {self._terms.queries:,} questions of this session have been asked",
                code="queries",
                hint="begin another session, and declare how many questions you have",
            )
        with self.unbroken():
            value = _unless(LOST, lambda: self._grant(self._terms.noise, 1, exact))
            self.queries_left -= 1
            noted = None if value is None else _unless(OVER, lambda: self._grant.note(mark))
        if noted is not None and noted.size:
            self._known[noted.tobytes()] = int(value)


class WeightsAnswers(Answering):
    """Private multiplicative weights: a test of each question, and an update for each that surprises."""

    def __init__(
        self, terms: WeightsTerms, grant: Grant, counts: HeldCounts, domain: Domain, queries: int, error: float
    ) -> None:
        super().__init__(queries, terms.updates)
        self._terms, self._grant, self._counts, self._domain = terms, grant, counts, domain
        self._error = error
        self._hits: list[tuple[Mask, int]] = []
        self._ended = False
        self._histogram = self._started()
        self._rounds = None if terms.test is None else grant.rounds(terms.test, 1)
        while grant.again:
            self._replayed()

    @property
    def model(self) -> DenseModel:
        """The histogram, as far as it has learned."""
        return self._histogram

    def count(self, cells: Mask) -> OnlineAnswer:
        """The histogram's answer if it passes the test, a fresh measurement if it does not; untested once nothing is left to test with."""
        for known, measured in self._hits:
            if known.shape == cells.shape and (known == cells).all():
                return self._measured(measured, free=True, said="free: it was measured before")
        expected = self._histogram.count(cells)
        if self._ended or self._rounds is None or not self.updates_left or not self.queries_left:
            return OnlineAnswer(expected, True, False, None, f"free and unchecked: {self._why()}")
        with self.unbroken():
            surprising = _unless(OVER, partial(self._rounds.ask, _distance(self._counts.count(cells), round(expected))))
            value = self._learned(cells) if surprising else None
        if surprising is None:
            self._ended = True
            return self.count(cells)
        self.queries_left -= 1
        if not surprising:
            return OnlineAnswer(expected, True, True, self._error, "free: the histogram passed the test")
        self.updates_left -= 1
        if value is None:
            return OnlineAnswer(expected, False, False, None, "unchecked: its measurement is lost")
        return self._measured(value, free=False, said=f"measured: it surprised; {self._updates()} left")

    def _measured(self, value: int, *, free: bool, said: str) -> OnlineAnswer:
        return OnlineAnswer(float(value), free, True, self._terms.fresh.error(), said)

    def _why(self) -> str:
        if self._ended:
            return "the session was closed"
        return "no update is left" if not self.updates_left else "more questions than were declared"

    def _updates(self) -> str:
        return f"{self.updates_left} update{'' if self.updates_left == 1 else 's'}"

    def _started(self) -> DenseModel:
        """The noisy size and the marginals, and what is fitted to them; what was lost is left out."""
        terms = self._terms
        size = _unless(LOST, lambda: self._grant(terms.size, 1, self._counts.total))
        marginals = []
        for axes in terms.marginals:
            exact = self._counts.marginal(axes)
            noisy = _unless(LOST, partial(self._grant, terms.marginal, terms.moved, exact))
            if noisy is not None:
                shape = [self._domain.shape[axis] for axis in axes]
                values = np.asarray(noisy, np.float64).reshape(shape)
                marginals.append(NoisyMarginal(axes, values, sqrt(terms.marginal.variance)))
        if size is None and not marginals:
            raise _nothing_left()
        total = start.size_of(size, sqrt(terms.size.variance), marginals)
        if not marginals:
            return even(self._domain, total)
        return DenseModel(self._domain, start.fitted(self._domain.shape, marginals, total, start.ITERATIONS))

    def _replayed(self) -> None:
        """One round of an earlier entry: its hit, its question, its measurement; or that it was lost."""
        if self._rounds is None:
            raise Fault("there are rounds in a session without tests", code="online")
        asked = 1
        self.updates_left -= 1
        try:
            while not self._rounds.ask(_never):
                asked += 1
        except Refused as refusal:
            if refusal.code != "draw-lost":
                raise
            return
        self.queries_left = max(0, self.queries_left - asked)
        self._learned(None)

    def _learned(self, cells: Mask | None) -> int | None:
        """The question that hit is noted and measured, and the histogram learns it; None where either is lost."""
        noted = _unless(OVER, lambda: self._grant.note(EMPTY if cells is None else written(cells)))
        question = None if noted is None else read(noted, self._domain.shape)
        if question is None:
            return None
        value = _unless(OVER, lambda: self._grant(self._terms.fresh, 1, self._counts.count(question)))
        if value is None:
            return None
        self._hits.append((question, int(value)))
        self._histogram = self._histogram.learned(question, value)
        return int(value)


def _distance(exact: Guarded[int], expected: int) -> Callable[[], int]:
    """|q(D) − n̂·q(ĥ)|, for a test. The second is public and a whole number: so one unit changes the distance by at most 1."""
    return lambda: abs(exact() - expected)
