"""What an online session draws, in each of its three ways, and what that costs: fixed before any data is read.

*Weights* (Hardt and Rothblum 2010; Dwork and Roth 2014, section 4.2): a noisy size, the marginals that it starts from, then rounds of the
sparse vector technique, each with one fresh measurement of the question that hit. *Direct*: each answer with noise of its own.
*Histogram*: noise on every cell, once.

All noise but that of the tests is Gaussian, and all of it is fixed up front, so that the event is composed of Gaussian leaves and of
pure ε, and its price is found numerically, with bounds.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, log, sqrt
from typing import TypeVar

from discreet.errors import Fault
from discreet.exact import sqrt_up
from discreet.mechanisms import AboveThreshold, RoundedGaussian
from discreet.mechanisms.additive import IntegerNoise
from discreet.privacy import Relation, events, loss
from discreet.privacy.adjacency import cells_moved
from discreet.weights import start
from discreet.weights.margins import Axes

SIZE, FRESH = 0.02, 0.08
"""Of what Gaussian noise may cost (μ²): for the noisy size, and for all fresh measurements; the rest is for marginals."""

ALONE = 0.1
"""Of the same, for the size where no marginals are measured; the rest is for fresh measurements."""

TESTED = Fraction(1, 3)
"""Of ε, for all tests together, where how many updates there are is not said."""

MOST_TESTED = Fraction(1, 2)
"""Of ε, for all tests together, at most."""

MOST_UPDATES = 24
"""Where how many updates there are is not said."""

FALSE_HITS = 20
"""At most one update in so many is for a question that the histogram answers exactly; without this factor most were."""

UNSEEN = Fraction(9, 10)
"""Two-sided confidence of a test, which is 95 % on the one side that matters: an error above what is promised is noticed so often."""

SHARE = Fraction(1, 3)
"""Of ε₀, for the threshold: then it has the same noise as each score. At one half scores have 4/3 of it, and there are very many of
them; in simulations it hardly mattered (docs/weights.md)."""

TAIL = 9.9
"""The 95 % quantile of the noise of a test, of score and threshold together, in units of 1/ε₀."""

STEPS = 1 << 20
TRIES = 40


@dataclass(frozen=True, slots=True)
class OnlineAsked:
    """What was asked for, all of it public."""

    shape: tuple[int, ...]
    relation: Relation
    epsilon: Fraction
    delta: Fraction
    error: float
    queries: int
    updates: int | None
    start: bool

    @property
    def moved(self) -> Fraction:
        """How far one unit moves a histogram, in L2."""
        return sqrt_up(Fraction(cells_moved(self.relation)))


@dataclass(frozen=True, slots=True)
class DirectTerms:
    """Every answer has noise of its own; a count moves by 1 under either relation."""

    relation: Relation
    noise: IntegerNoise
    queries: int

    @property
    def event(self) -> events.Event:
        return events.Under(events.Repeated(self.noise.event(1), self.queries), self.relation)


@dataclass(frozen=True, slots=True)
class HistogramTerms:
    """Every cell has noise, once."""

    relation: Relation
    noise: IntegerNoise
    moved: Fraction

    @property
    def event(self) -> events.Event:
        return events.Under(self.noise.event(self.moved), self.relation)


@dataclass(frozen=True, slots=True)
class WeightsTerms:
    """A noisy size, marginals to start from, tests, and a fresh measurement for each test that hit."""

    relation: Relation
    moved: Fraction
    size: IntegerNoise
    marginals: tuple[Axes, ...]
    marginal: IntegerNoise
    test: AboveThreshold | None
    fresh: IntegerNoise

    @property
    def updates(self) -> int:
        return 0 if self.test is None else self.test.hits

    @property
    def event(self) -> events.Event:
        """Whatever is drawn, composed: what is charged, and what the grant is for."""
        parts: list[events.Event] = [self.size.event(1)]
        if self.marginals:
            parts.append(events.Repeated(self.marginal.event(self.moved), len(self.marginals)))
        if self.test is not None:
            parts += [self.test.event(1), events.Repeated(self.fresh.event(1), self.updates)]
        return events.Under(events.Composed(tuple(parts)), self.relation)


OnlineTerms = DirectTerms | HistogramTerms | WeightsTerms


@lru_cache(maxsize=64)
def one_answer(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The noise of one answer that may cost all."""
    return RoundedGaussian.for_budget(epsilon, delta, sensitivity=1).scale


@lru_cache(maxsize=64)
def direct_terms(asked: OnlineAsked) -> DirectTerms:
    """The least noise with which so many answers cost no more than asked."""

    def terms(scale: float) -> DirectTerms:
        return DirectTerms(asked.relation, _noise(scale * sqrt(asked.queries)), asked.queries)

    return _least(terms, asked)


@lru_cache(maxsize=64)
def histogram_terms(asked: OnlineAsked) -> HistogramTerms:
    """The least noise on all cells."""

    def terms(scale: float) -> HistogramTerms:
        return HistogramTerms(asked.relation, _noise(scale * float(asked.moved)), asked.moved)

    return _least(terms, asked)


@lru_cache(maxsize=64)
def weights_terms(asked: OnlineAsked) -> WeightsTerms | None:
    """The least noise with which all draws together cost no more than asked; None where the tests alone would cost too much."""
    updates = updates_for(asked)
    if updates is None:
        return None
    test = None if not updates else noticing(asked.error, asked.queries, updates)
    marginals: tuple[Axes, ...] | None = None if asked.start else ()

    def terms(scale: float) -> WeightsTerms:
        chosen = marginals
        if chosen is None:
            share = 1 - SIZE - (FRESH if updates else 0)
            chosen = start.chosen(asked.shape, asked.error, lambda k: _part(scale * float(asked.moved), share, k))
        return _weights(asked, scale, chosen, test)

    found = _least(terms, asked)
    if test is not None and found.fresh.error() > asked.error:
        return None
    return found


def _weights(asked: OnlineAsked, scale: float, marginals: Sequence[Axes], test: AboveThreshold | None) -> WeightsTerms:
    updates = 0 if test is None else test.hits
    size, fresh = (SIZE if marginals or not updates else ALONE), (FRESH if marginals else 1 - ALONE) if updates else 0.0
    if not marginals and not updates:
        size = 1.0
    rest = 1 - size - fresh
    return WeightsTerms(
        asked.relation,
        asked.moved,
        _noise(_part(scale, size, 1)),
        tuple(marginals),
        _noise(_part(scale * float(asked.moved), rest, len(marginals)) if marginals else 1.0),
        test,
        _noise(_part(scale, fresh, updates) if updates else 1.0),
    )


def updates_for(asked: OnlineAsked) -> int | None:
    """How many updates there are: as asked, or as many as tests that cost a third of ε pay for; None where none can be paid."""
    if asked.updates is not None:
        return asked.updates if asked.updates == 0 or _paid(asked, asked.updates, MOST_TESTED) else None
    paid = [each for each in range(1, min(MOST_UPDATES, asked.queries) + 1) if _paid(asked, each, TESTED)]
    return paid[-1] if paid else 1 if _paid(asked, 1, MOST_TESTED) else None


def _paid(asked: OnlineAsked, updates: int, share: Fraction) -> bool:
    return updates * tested(asked.queries, updates) / asked.error <= share * asked.epsilon


def tested(queries: int, updates: int) -> float:
    """The error that is promised times the ε₀ of a test: what it costs to notice it, and to notice little else."""
    return 4 * _logs(queries, updates) + TAIL


def _logs(queries: int, updates: int) -> float:
    return max(0.0, log(queries / (2 * updates))) + log(FALSE_HITS)


def noticing(error: float, queries: int, updates: int) -> AboveThreshold:
    """A test that is cheap, and notices an error larger than this one in 95 of 100 cases.

    The threshold is (4/ε₀)·(ln(Q/2T) + ln 20): of Q questions without an error fewer than T/20 hit all the same.
    """
    epsilon = Fraction(ceil(tested(queries, updates) / error * STEPS), STEPS)
    for _ in range(TRIES):
        threshold = ceil(4 / float(epsilon) * _logs(queries, updates))
        test = AboveThreshold(epsilon, threshold, hits=updates, share=SHARE)
        if threshold + test.error(UNSEEN) <= error:
            return test
        epsilon *= 1 + Fraction(1, 50)  # errors are whole numbers, which matters where they are small
    raise Fault("no test was found for this error", code="online")


def _part(scale: float, share: float, among: int) -> float:
    """The noise of one of several draws that have a share of μ² in equal parts."""
    return scale * sqrt(among / share)


def _noise(scale: float) -> RoundedGaussian:
    return RoundedGaussian(Fraction(ceil(scale * STEPS), STEPS))


Found = TypeVar("Found", DirectTerms, HistogramTerms, WeightsTerms)


def _least(terms: Callable[[float], Found], asked: OnlineAsked) -> Found:
    """The terms of least noise that keep what is asked, to a millionth: a certified bound shows that they do."""

    def kept(found: Found) -> bool:
        return loss(found.event).certifies(asked.epsilon, asked.delta)

    low = float(one_answer(asked.epsilon, asked.delta))
    high = low
    for _ in range(TRIES):
        if kept(terms(high)):
            break
        low, high = high, high * (1 + 1e-6 if high == low else 1.25)
    else:
        raise Fault("no noise was found for this price", code="online")
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if kept(terms(middle)) else (middle, high)
    return terms(high)
