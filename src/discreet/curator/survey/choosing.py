"""What is made of released numbers: which type a column has, its range, its quantiles. Nothing exact is known here.

The constants were chosen by simulation; docs/survey.md has the figures.
"""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

from discreet.curator.survey.reading import LOOKS
from discreet.plan.scalar import Type

SPARED = 0.1
"""The share of people with a value of another type that a column of numbers, dates or booleans may have."""

SEEN = 6.0
"""Standard deviations of noise from which on people with a value are enough to tell its type by."""

FOUND, BESIDE = 4.0, 1.0
"""Deviations that a cell of the outer range must have to be found, and one beside the found ones to be taken with them."""

CUT, AT_LEAST = 0.01, 1.5
"""The share of people that a bound may cut off, and the least number of them, in deviations."""

DRIFT, RUN = 0.5, 2.5
"""People are there as soon as bins in a row are above the first, together by the second, in deviations (a cumulative sum)."""

NEAR_ZERO = 4
"""A range that begins within a fourth of its size from 0 begins there."""

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
NORMAL = 1.96


def type_of(present: float, others: Sequence[float], deviation: float) -> Type:
    """The type of a column of which so many people have a value, and so many one that is no number, no date, no boolean."""
    if present < SEEN * deviation:
        return Type.TEXT
    spared = max(SPARED * present, 2 * deviation)
    return next((kind for kind, other in zip(LOOKS, others, strict=True) if other <= spared), Type.TEXT)


def outer_range(counts: Sequence[float], edges: Sequence[float], deviation: float) -> tuple[float, float] | None:
    """From the first cell that is found to the last, with those beside them; None where none is."""
    found = [i for i, count in enumerate(counts) if count > FOUND * deviation]
    if not found:
        return None
    first, last = found[0], found[-1]
    while first > 1 and counts[first - 1] > BESIDE * deviation:
        first -= 1
    while last < len(counts) - 2 and counts[last + 1] > BESIDE * deviation:
        last += 1
    # What lies below or above all edges is taken as the first, or the last, of them.
    return edges[min(max(first, 1), len(edges) - 1) - 1], edges[max(min(last, len(edges) - 1), 1)]


def from_zero(low: float, high: float) -> tuple[float, float]:
    """A range of numbers, from 0 on where it comes near it."""
    if 0 < NEAR_ZERO * low <= high:
        return 0.0, high
    if low <= NEAR_ZERO * high < 0:
        return low, 0.0
    return low, high


def bounds(counts: Sequence[float], edges: Sequence[float], deviation: float) -> tuple[float, float]:
    """The edges beyond which there are few people on either side."""
    few = max(CUT * sum(counts), AT_LEAST * deviation)
    first, last = _crossing(counts, few, deviation), len(counts) - _crossing(counts[::-1], few, deviation)
    return (edges[first], edges[last]) if first < last else (edges[0], edges[-1])


def _crossing(counts: Sequence[float], few: float, deviation: float) -> int:
    """The first bin up to which there are more than a few people, or where many begin."""
    together = run = 0.0
    for i, count in enumerate(counts):
        together, run = together + count, max(0.0, run + count - DRIFT * deviation)
        if together > few or run > RUN * deviation:
            return i
    return 0


def quantiles(
    counts: Sequence[float], edges: Sequence[float], deviation: float
) -> tuple[tuple[float, float, float, float], ...]:
    """Each quantile with the ends of its interval at 95 %: of the noise in the bins up to it, and of the width of a bin."""
    sums = list(accumulate(accumulate(counts), max))  # noise makes some bins negative, and sums never fall
    if sums[-1] <= 0:
        return ()
    found = []
    for share in QUANTILES:
        rank = share * sums[-1]
        at = bisect_left(sums, rank)
        noise = NORMAL * deviation * min(at + 1, len(counts) - at) ** 0.5
        value, low, high = (_value(each, sums, edges) for each in (rank, rank - noise, rank + noise))
        found.append((share, value, low, high))
    return tuple(found)


def _value(rank: float, sums: Sequence[float], edges: Sequence[float]) -> float:
    at = min(bisect_left(sums, rank), len(sums) - 1)
    below = sums[at - 1] if at else 0.0
    inside = (rank - below) / (sums[at] - below) if sums[at] > below else 0.5
    return edges[at] + (edges[at + 1] - edges[at]) * min(max(inside, 0.0), 1.0)
