"""What reports say of frequencies: unbiased shares with their variances and intervals, and shares that are a distribution."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import NDArray

from discreet.exact import Number
from discreet.local.choices import Label
from discreet.local.protocol import checked_confidence
from discreet.mechanisms.randomized_response import deviation
from discreet.noise.size import Ints

LEVELS = 64  # of variances, rounded up, for which a width is computed
FIRST = Fraction(1, 10)  # of the chance to miss, for the first, wide interval


@dataclass(frozen=True, slots=True, eq=False)
class FrequencyEstimates:
    """The share of each label among all who reported.

    `values` are unbiased, and may be below 0; `variances` are unbiased estimates of their variances for the noise alone; from `low` to
    `high` each share lies with at least the confidence, by itself, as `widths` says;
    `consistent` is the nearest distribution to `values`, and is biased: whatever moves all values by at most d moves it by at most 2d, as
    what is subtracted from all of them moves by d at most.
    """

    labels: tuple[Label, ...]
    n: int
    confidence: float
    values: NDArray[np.float64]
    variances: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    consistent: NDArray[np.float64]

    def __iter__(self) -> Iterator[tuple[Label, float, float, float]]:
        """A label, its unbiased share, and the interval of it."""
        for row in zip(self.labels, self.values, self.low, self.high, strict=True):
            yield row[0], float(row[1]), float(row[2]), float(row[3])


def shares(
    own: Fraction, other: Fraction, labels: tuple[Label, ...], support: Ints, n: int, confidence: Number = 0.95
) -> FrequencyEstimates:
    """What n reports, of which `support` are for each cell, say of all shares.

    A report supports the person's own cell with the chance `own`, and each other cell with the chance `other`.
    """
    level = checked_confidence(confidence, n)
    p, q, gap = float(own), float(other), float(own - other)
    told = support / n
    values = (told - q) / gap
    # f p(1−p) + (1−f) q(1−q) with the estimate in place of f, put so that it is seen to be positive
    variances = (told * (1 - p) * (1 - q) + (1 - told) * p * q) / (n * gap**2)
    half = widths(own, other, values, n, level)
    return FrequencyEstimates(
        labels, n, float(level), values, variances, values - half, values + half, projected(values)
    )


def widths(
    supports: Fraction, lies: Fraction, values: NDArray[np.float64], n: int, level: Fraction
) -> NDArray[np.float64]:
    """Half the width of an interval about each value that holds the true share with at least this confidence.

    Coins of people with and without the cell have variances of their own; what is used is their average, and s√(1−4s), by which the sum
    may be skewed, is concave.
    """
    p, q = float(supports), float(lies)
    own, other = p * (1 - p), q * (1 - q)

    def largest(*ends: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.maximum(*(end * own + (1 - end) * other for end in ends))

    return narrowed(largest, float(supports - lies), values, n, level)


def narrowed(
    largest: Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]],
    gap: float,
    values: NDArray[np.float64],
    n: int,
    level: Fraction,
) -> NDArray[np.float64]:
    """Half the width of an interval about each value, where `largest` is the largest variance of a coin for shares within two ends.

    A first interval, from the largest variance that there is, misses with a tenth of the chance; the largest variance within it makes
    the second. Of many reports `deviation` is a corrected normal quantile, which was compared with exact sums: it is no proof.
    """
    miss, most = 1 - level, float(largest(np.zeros(1), np.ones(1))[0])
    first = deviation(n, most, 1 - FIRST * miss) / (n * gap)
    spread = largest(np.clip(values - first, 0, 1), np.clip(values + first, 0, 1))
    steps = np.ceil(spread / most * LEVELS)
    by_step = {
        step: deviation(n, min(most, most * step / LEVELS), 1 - (1 - FIRST) * miss)
        for step in {max(1, ceil(each)) for each in np.unique(steps)}
    }
    return np.array([by_step[max(1, int(step))] for step in steps]) / (n * gap)


def projected(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The nearest shares, by squares, that are not negative and add up to 1 (Held, Wolfe and Crowder 1974).

    >>> projected(np.array([0.75, 0.5, -0.25])).tolist()
    [0.625, 0.375, 0.0]
    """
    falling = np.sort(values)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, len(values) + 1)
    shares: NDArray[np.float64] = np.maximum(values - excess[np.flatnonzero(falling > excess)[-1]], 0.0)
    return shares
