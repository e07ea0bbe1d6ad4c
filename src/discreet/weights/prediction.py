"""Before anything is spent: how far off each of the three ways would be, and which one is taken.

Only public numbers are used: cells, ε, δ, how many questions, the error that is asked for. Of *direct* answers and of the *histogram* the
± is known before any data is read. Of *weights* the noise of what they start from is known; what is in the data beyond low-order
marginals is not. That is what tests are for: an error above the one that is asked for is noticed, as long as there are updates
left. Of all ways that keep the error the one with the least ± is taken, weights with some caution; who needs a ± that holds for any
data asks for the histogram.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import product
from math import erf, floor, inf, prod, sqrt

from discreet.errors import Invalid, Refused
from discreet.exact import shown
from discreet.weights.histogram import MOST_CELLS
from discreet.weights.online_terms import (
    MOST_TESTED,
    OnlineAsked,
    OnlineTerms,
    WeightsTerms,
    direct_terms,
    histogram_terms,
    one_answer,
    tested,
    weights_terms,
)
from discreet.weights.start import Z95

USUAL = (2, 3, 4, 5)
"""How many attributes a typical question is about."""

CAUTION = 1.5
"""How much better weights must be than what is known for any data. On 2^12 cells and 20,000 people they were twice as good where pairs
of attributes tell most, and half as good where they tell nothing."""

CONFIDENCE = 0.95


class Way(Enum):
    """How questions are answered."""

    WEIGHTS = "weights"
    DIRECT = "direct"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Forecast:
    """One way: the ± of an answer at 95 %, over typical questions, and how many are answered within the error that is asked for."""

    way: Way
    error: float
    answered: int
    terms: OnlineTerms | None  # None where it cannot be done at this price
    remark: str

    def __str__(self) -> str:
        width = "—" if self.error == inf else f"±{self.error:,.0f}"
        return f"{self.way.value:<10} {width:>10}  {self.remark}"


@dataclass(frozen=True, slots=True)
class Prediction:
    """All three ways, and the one that is taken."""

    asked: OnlineAsked
    forecasts: tuple[Forecast, ...]
    way: Way

    @property
    def chosen(self) -> Forecast:
        return self.of(self.way)

    def of(self, way: Way) -> Forecast:
        """What is predicted of one way."""
        return next(each for each in self.forecasts if each.way is way)

    def __str__(self) -> str:
        asked = self.asked
        head = (
            f"{asked.queries:,} questions on {prod(asked.shape):,} cells within ±{asked.error:,.0f},"
            f" for ε = {float(asked.epsilon):g} and δ = {float(asked.delta):g}"
        )
        lines = [f"{'→' if each.way is self.way else ' '} {each}" for each in self.forecasts]
        return "\n".join([head, *lines])


def predicted(asked: OnlineAsked, method: str | Way = "auto") -> Prediction:
    """What each way would do, and which one is taken; Refused, before anything is spent, where none keeps what is asked."""
    forecasts = (_weights(asked), _direct(asked), _histogram(asked))
    found = Prediction(asked, forecasts, Way.WEIGHTS)
    way = _best(found) if method == "auto" else _named(found, method)
    return Prediction(asked, forecasts, way)


def _best(found: Prediction) -> Way:
    """Of those that keep the error the one with the least ±; weights must be better by half, since theirs leaves out what low-order
    marginals cannot tell of the data."""
    kept = [each for each in found.forecasts if each.terms is not None and each.error <= found.asked.error]
    if not kept:
        raise _too_small(found)
    return min(kept, key=lambda each: each.error * (CAUTION if each.way is Way.WEIGHTS else 1)).way


def _named(found: Prediction, method: str | Way) -> Way:
    try:
        way = Way(method)
    except ValueError:
        raise Invalid(
            f"method must be auto, weights, direct or histogram, got {shown(method)}", code="method"
        ) from None
    forecast = found.of(way)
    if forecast.terms is None or (way is Way.DIRECT and forecast.error > found.asked.error):
        raise _too_small(found)
    return way


def _too_small(found: Prediction) -> Refused:
    """Which error would do, and which ε: of weights, in closed form, for as many updates as were asked for, or one."""
    asked = found.asked
    cost = (asked.updates or 1) * tested(asked.queries, asked.updates or 1) / float(MOST_TESTED)
    widths = [each.error for each in found.forecasts if each.way is not Way.WEIGHTS]
    if prod(asked.shape) <= MOST_CELLS:
        widths.append(cost / float(asked.epsilon))
    return Refused(
        f"an error of ±{asked.error:g} cannot be kept for {asked.queries:,} questions at ε = {float(asked.epsilon):g}",
        code="error-too-small",
        hint=f"ask for error={min(widths) * 1.01:.0f}, or for about epsilon={cost / asked.error:.3g}, or for fewer questions",
    )


def _direct(asked: OnlineAsked) -> Forecast:
    terms = direct_terms(asked)
    error = terms.noise.error(CONFIDENCE)
    answered = floor((asked.error / (Z95 * float(one_answer(asked.epsilon, asked.delta)))) ** 2)
    return Forecast(
        Way.DIRECT,
        error,
        min(answered, asked.queries),
        terms,
        f"noise on each answer; within ±{asked.error:,.0f} about {answered:,} questions could be answered",
    )


def _histogram(asked: OnlineAsked) -> Forecast:
    if prod(asked.shape) > MOST_CELLS:
        return Forecast(Way.HISTOGRAM, inf, 0, None, f"there are more than {MOST_CELLS:,} cells")
    terms = histogram_terms(asked)
    deviations = [float(terms.noise.scale) * sqrt(cells) for cells in typical(asked.shape)]
    share = _within(asked.error, deviations)
    return Forecast(
        Way.HISTOGRAM,
        _width(deviations),
        floor(share * asked.queries),
        terms,
        f"noise on each cell; {share:.0%} of typical questions within ±{asked.error:,.0f}",
    )


def _weights(asked: OnlineAsked) -> Forecast:
    if prod(asked.shape) > MOST_CELLS:
        return Forecast(Way.WEIGHTS, inf, 0, None, f"there are more than {MOST_CELLS:,} cells")
    terms = weights_terms(asked)
    if terms is None:
        return Forecast(Way.WEIGHTS, inf, 0, None, "the tests alone would cost too much for this error")
    width, begins = _start(asked, terms)
    if not terms.updates:
        return Forecast(Way.WEIGHTS, width, 0, terms, f"{begins}; nothing is tested, and nothing promised")
    times = "once" if terms.updates == 1 else f"{terms.updates} times"
    remark = f"{begins}; an error above ±{asked.error:,.0f} is noticed, {times}"
    return Forecast(Way.WEIGHTS, min(width, asked.error), asked.queries, terms, remark)


def _start(asked: OnlineAsked, terms: WeightsTerms) -> tuple[float, str]:
    """The ± of what a session starts from, for questions about the attributes of a marginal, and in words."""
    if not terms.marginals:
        return inf, "all cells alike at the start"
    parts = [cells for axes in terms.marginals for cells in _parts([asked.shape[axis] for axis in axes])]
    width = _width([sqrt(terms.marginal.variance * cells) for cells in parts])
    many = "one marginal" if len(terms.marginals) == 1 else f"{len(terms.marginals)} marginals"
    return width, f"starts from {many}"


def _parts(shape: list[int]) -> Iterator[float]:
    """Cells of a marginal that a typical question is about: of each attribute one, or half of them."""
    for each in product(*(_shares(size) for size in shape)):
        yield prod(each) * prod(shape)


def typical(shape: tuple[int, ...]) -> list[float]:
    """How many cells typical questions have: on 2 to 5 attributes that follow one another, each either in one cell of an attribute
    or in half of them."""
    size, count = prod(shape), len(shape)
    shares = [
        prod(each)
        for k in sorted({min(k, count) for k in USUAL})
        for first in range(count)
        for each in product(*(_shares(shape[(first + step) % count]) for step in range(k)))
    ]
    return [share * size for share in shares]


def _shares(cells: int) -> Iterator[float]:
    yield 1 / cells
    yield max(1, cells // 2) / cells


def _within(error: float, deviations: list[float]) -> float:
    """The share of answers with these deviations that are within an error."""
    return sum(erf(error / (each * sqrt(2))) for each in deviations) / len(deviations)


def _width(deviations: list[float]) -> float:
    """The ± that 95 % of answers with these deviations keep."""
    low, high = 0.0, 3 * max(deviations)
    while high - low > 1e-3 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if _within(middle, deviations) >= CONFIDENCE else (middle, high)
    return high
