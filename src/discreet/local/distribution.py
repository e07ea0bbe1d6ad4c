"""What reports of a square wave say of the distribution of numbers: unbiased shares, intervals that always hold, and histograms."""

from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.exact import Number, rational, shown, to_float_up
from discreet.local.likelihood import explained
from discreet.local.mean_estimate import MeanEstimate, half_width
from discreet.local.protocol import checked_confidence
from discreet.local.square_wave import SquareWave
from discreet.noise.size import Ints

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Shares of people in cells between `edges`, in each of which they are taken to be spread evenly.

    >>> even = Histogram(np.array([0.0, 5.0, 10.0]), np.array([0.5, 0.5]))
    >>> even.mean, even.below(2.5), even.quantile(0.75)
    (5.0, 0.25, 7.5)
    """

    edges: Floats
    shares: Floats

    @property
    def cdf(self) -> Floats:
        """The share of people below each edge: 0 at the first and 1 at the last."""
        sums: Floats = np.concatenate(([0.0], np.cumsum(self.shares)))
        sums /= sums[-1]
        return sums

    @property
    def mean(self) -> float:
        """The mean number."""
        return float(self.shares @ (self.edges[:-1] + self.edges[1:]) / 2)

    def below(self, number: Number) -> float:
        """The share of people below a number."""
        return float(np.interp(float(rational(number, "number")), self.edges, self.cdf))

    def quantile(self, share: Number) -> float:
        """The number with this share of people below it."""
        part = rational(share, "share")
        if not 0 <= part <= 1:
            raise Invalid(f"share must lie between 0 and 1, got {shown(share)}")
        return float(np.interp(float(part), self.cdf, self.edges))


@dataclass(frozen=True, slots=True, eq=False)
class DistributionEstimate:
    """The distribution of the numbers of all who reported, on the cells between `edges`.

    `values` are unbiased shares of people up to the upper edge of each cell, and may fall, be below 0 or above 1; `variances` are unbiased
    estimates of their variances for the noise alone, which for few reports may be below 0 too. Where cells are narrow both are large. From
    `low` to `high` each share lies with at least the confidence, by itself, whatever the numbers are: that uses that shares rise,
    and is not centred on `values`.

    `likeliest` and `smoothed` are distributions, and biased: both explain the reports well, and the second has no peaks narrower than a few
    cells. `mean` is unbiased but for half a cell, which its interval includes.
    """

    n: int
    confidence: float
    edges: Floats
    values: Floats
    variances: Floats
    low: Floats
    high: Floats
    mean: MeanEstimate
    likeliest: Histogram
    smoothed: Histogram

    @classmethod
    def of(cls, protocol: SquareWave, totals: Ints, confidence: Number = 0.95) -> "DistributionEstimate":
        """What totals of reports say."""
        n = int(totals.sum())
        level = checked_confidence(confidence, n)
        edges = np.array([float(protocol.low + protocol.step * each) for each in range(protocol.steps + 1)])
        sides = Sides.of(protocol, totals)
        low, high = sides.interval(n, float(1 - level))
        histograms = (Histogram(edges, explained(protocol.window, totals, smooth=each)) for each in (False, True))
        mean = MeanEstimate.of(protocol, totals, level)
        return cls(n, float(level), edges, sides.values, sides.variances(n), low, high, mean, *histograms)

    def quantile(self, share: Number) -> tuple[float, float, float]:
        """The number with this share of people up to it, of `smoothed`, and from where to where it lies with at least the confidence.

        The cell that it lies in has at least the share up to its upper edge, and less up to its lower one. One interval for each
        of both misses with half the chance.
        """
        part = rational(share, "share")
        if not 0 < part < 1:
            raise Invalid(f"share must lie between 0 and 1, got {shown(share)}")
        near = to_float_up(part)  # above 0, however small it is
        first = int(np.flatnonzero(self.high >= near)[0])
        last = int(np.flatnonzero(np.concatenate(([0.0], self.low[:-1])) < near)[-1])
        ends = sorted((self.edges[first], self.edges[last + 1]))
        return self.smoothed.quantile(near), float(ends[0]), float(ends[1])


@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """For each cell, the share of reports that speak for people up to it, and of those that speak for people beyond it.

    `mine` is the part of a cell's reports that are of the first kind, `rare` the chance of a report outside of the window, and `difference`
    how much larger it is inside.
    """

    told_up_to: Floats
    told_beyond: Floats
    mine: Floats
    kinds: Floats  # how many reports speak for either
    rare: float
    difference: float
    width: int

    @classmethod
    def of(cls, protocol: SquareWave, totals: Ints) -> "Sides":
        """Each sum is over every w-th report: of the cell's own one and below, and above it."""
        width, cells = protocol.window.width, protocol.steps
        counts = np.concatenate((totals, np.zeros(-len(totals) % width, np.int64))).reshape(-1, width)
        up_to = np.cumsum(counts, axis=0)
        both = np.array([protocol.sides(cell) for cell in range(cells)], np.float64)
        n = int(totals.sum())
        rare, difference = float(protocol.window.rare), float(protocol.difference)
        told, beyond = (each.reshape(-1)[:cells] / n for each in (up_to, up_to[-1] - up_to))
        return cls(told, beyond, both[:, 0] / both.sum(axis=1), both.sum(axis=1), rare, difference, width)

    @property
    def values(self) -> Floats:
        """The mean of `SquareWave.told` for each cell."""
        weighed = (1 - self.mine) * self.told_up_to - self.mine * self.told_beyond
        return self.mine + weighed / self.difference

    @property
    def elsewhere(self) -> Floats:
        """The variance that is due to reports of a cell by people whose window has none of them."""
        return self.rare / self.difference**2 * self.mine * (1 - self.mine) * self.kinds

    def variances(self, n: int) -> Floats:
        """`SquareWave.variance` for each cell, with the unbiased value in place of the share."""
        own = self.values * (1 - self.mine) ** 2 + (1 - self.values) * self.mine**2
        return ((1 / self.difference - 1) * own + self.elsewhere) / n

    def interval(self, n: int, miss: float) -> tuple[Floats, Floats]:
        """From where to where each share lies, but for this chance at most: half of it at either end."""
        low = self._floor(self.values, n, miss / 2)
        high = -self._floor(-self.values, n, miss / 2, back=True)
        ends = np.clip((low, high), 0, 1)
        return ends.min(axis=0), ends.max(axis=0)

    def _floor(self, values: Floats, n: int, miss: float, *, back: bool = False) -> Floats:
        """What each share is at least; `back` where shares fall, as their negatives do, from the last cell to the first.

        Shares rise, so the average of the last h up to a cell is at most that cell's own. Reports of h <= w neighbouring cells all differ,
        so averages have a variance about h times smaller. Of all h = 1, 2, 4, … the best is taken; each misses with an equal part of the
        chance. One report says 1 − mine or −mine, times 1/difference, about one cell at most, beside a constant.
        """
        spans = [1 << power for power in range(min(self.width, len(values)).bit_length())]
        way = slice(None, None, -1 if back else 1)
        largest = np.where(self.mine < 1, np.maximum(1 - self.mine, self.mine) ** 2, 0)[
            way
        ]  # the last share is 1 for sure
        nats, found = log(len(spans) / miss), np.full_like(values, -np.inf)
        for span in spans:
            many, sums = (_trailing(each, span) for each in (np.ones_like(values), values[way]))
            own, elsewhere = (_trailing(each, span) for each in (largest, self.elsewhere[way]))
            variance = ((1 / self.difference - (span == 1)) * own + elsewhere) / many**2
            half = half_width(n, nats, variance, np.minimum(many, 2) / (self.difference * many))
            found = np.maximum(found, sums / many - half)
        return found[way]


def _trailing(values: Floats, span: int) -> Floats:
    """The sum of the last `span` values up to each, or of as many as there are."""
    sums = np.cumsum(np.concatenate((np.zeros(span), values)))
    return sums[span:] - sums[:-span]
