"""Keys whose noisy count passes a threshold, with geometric or with Gaussian noise."""

from abc import abstractmethod
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np

from discreet.errors import Invalid
from discreet.exact import Number, divide_up, exp_bounds, log_down, positive, round_up, shift_up, shown, whole
from discreet.fields import Exact, frozen
from discreet.mechanisms.additive import repeated
from discreet.mechanisms.base import Example, Mechanism, registry
from discreet.mechanisms.gaussian import DiscreteGaussian
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.keys.chance import PRECISION, ROOM, Bounds, any_of, exp_bracket, open_probability
from discreet.mechanisms.keys.kept import Kept, at_stake, counts_of
from discreet.noise import Source, discrete_gaussian, discrete_laplace
from discreet.privacy import calibrate, events

LEAST_DELTA = Fraction(1, 1 << 4000)  # events hold nothing shorter
MOST_SCALE = 1 << 16  # of Gaussian noise: its tails are added up term by term


@frozen
class Threshold(Mechanism):
    """A key with count n >= 1 is kept where n + noise > threshold, strictly. A count of 0 is never kept, whatever the noise."""

    scale: Exact
    threshold: int
    groups: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive(self.scale, "scale"))
        object.__setattr__(self, "threshold", whole(self.threshold, "threshold"))
        object.__setattr__(self, "groups", whole(self.groups, "groups", least=1))

    @abstractmethod
    def _leaf(self) -> events.Leaf:
        """One noisy count that moves by one."""

    @abstractmethod
    def _noise(self, size: Any, source: Source | None) -> Any:
        """Integers."""

    @abstractmethod
    def _tail(self, z: int) -> Bounds:
        """Bounds of Pr[noise >= z]."""

    def keeps(self, count: int) -> Bounds:
        """A lower and an upper bound of the probability that a key with this count is kept: n + Z > τ, or Z >= τ − n + 1."""
        n = whole(count, "count")
        return self._tail(self.threshold - n + 1) if n else (Fraction(0), Fraction(0))

    @property
    def delta_keys(self) -> Fraction:
        """1 − (1 − p)^groups, p = Pr[1 + Z > τ]: that a person is seen by a key that nobody else has; rounded up, if at all."""
        return max(LEAST_DELTA, round_up(any_of(self.keeps(1)[1], self.groups)[1], PRECISION))

    def event(self, sensitivity: Number = 1) -> events.Event:
        """The noise, once for each group of a person, and (0, δ_keys) for the keys that nobody else has.

        Say a person is in j groups of their own, and in k − j with others. The latter are noisy counts that move by one, and what the
        threshold hides of them costs nothing. Of the former nothing can be seen without the person, and with the person nothing
        either but for a probability of 1 − (1 − p)^j: (0, 1 − (1 − p)^j)-DP in both directions. All groups have noise of their
        own, so that the whole is the composition of both, and no worse than if k were the number of either kind.
        """
        if not at_stake(sensitivity):
            return events.Composed(())
        return events.Composed((repeated(self._leaf(), self.groups), events.Approximate(Fraction(0), self.delta_keys)))

    def __call__(self, exact: Any, source: Source | None = None) -> Kept:
        """The keys that are kept among those with these counts, and their noisy counts."""
        counts = counts_of(exact)
        noisy = counts + self._noise(counts.shape, source)
        mask = (counts > 0) & (noisy > self.threshold)
        return Kept(mask, np.where(mask, noisy, 0))


def least_threshold(enough: Callable[[int], bool], near: int) -> int:
    """The least threshold >= 0 that is enough, if more is always enough then."""
    high, step = max(0, near), 1
    while not enough(high):
        high, step = high + step, 2 * step
    low, step = high - 1, 1
    while low >= 0 and enough(low):
        high, low, step = low, low - step, 2 * step
    low = max(low, -1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _laplace_examples() -> list[Example]:
    return [
        Example(LaplaceThreshold(Fraction(2), 12), 1, [0, 30], [1, 30]),
        Example(LaplaceThreshold(Fraction(1), 5, 2), 1, [3, 7, 0], [4, 7, 1]),
    ]


@registry.add(_laplace_examples)
class LaplaceThreshold(Threshold):
    """Keys whose count with geometric (discrete Laplace) noise is above the threshold: (groups/scale, δ_keys)-DP.

    (Korolova, Kenthapadi, Mishra and Ntoulas 2009, with noise on integers.) The threshold is passed strictly. Where reaching it were
    enough, δ would be that of one less:

    >>> [round(float(LaplaceThreshold(1, t).delta_keys), 4) for t in (5, 4)]
    [0.0049, 0.0134]
    """

    __slots__ = ()

    @classmethod
    def for_budget(cls, epsilon: Number, delta: Number, *, groups: int = 1) -> "LaplaceThreshold":
        """The least noise, and then the lowest threshold, that are (epsilon, delta)-DP.

        >>> LaplaceThreshold.for_budget(1, 1e-6, groups=3)
        LaplaceThreshold(scale=3, threshold=44, groups=3)
        """
        k = whole(groups, "groups", least=1)
        return cls.for_noise(k / positive(epsilon, "epsilon"), delta, groups=k)

    @classmethod
    def for_noise(cls, scale: Number, delta: Number, *, groups: int = 1) -> "LaplaceThreshold":
        """The lowest threshold whose δ_keys is at most delta, for noise of this scale."""
        size, allowed = positive(scale, "scale"), open_probability(delta, "delta")
        near = -float(log_down(allowed / whole(groups, "groups", least=1))) * float(size)
        return cls(size, least_threshold(lambda t: cls(size, t, groups).delta_keys <= allowed, int(near)), groups)

    def _leaf(self) -> events.Leaf:
        return events.DiscreteLaplace(self.scale, 1)

    def _noise(self, size: Any, source: Source | None) -> Any:
        return discrete_laplace(self.scale, size, source=source)

    def _tail(self, z: int) -> Bounds:
        """α^z/(1 + α) for z >= 1, α = e^(−1/scale)."""
        if z < 1:
            low, high = self._tail(1 - z)
            return 1 - high, 1 - low
        one, power = (exp_bounds(-Fraction(times) / self.scale, PRECISION) for times in (1, z))
        return power[0] / (1 + one[1]), power[1] / (1 + one[0])

    def error(self, confidence: Number = 0.95) -> float:
        """± of a noisy count. Those that are kept are the larger ones: near the threshold they are too high more often."""
        return Geometric(self.scale).error(confidence)


def _gaussian_examples() -> list[Example]:
    return [
        Example(GaussianThreshold(Fraction(3), 17), 1, [0, 30], [1, 30]),
        Example(GaussianThreshold(Fraction(2), 9, 2), 1, [3, 7, 0], [4, 7, 1]),
    ]


@registry.add(_gaussian_examples)
class GaussianThreshold(Threshold):
    """Keys whose count with discrete Gaussian noise is above the threshold; the better one where a person is in many groups."""

    __slots__ = ()

    def __post_init__(self) -> None:
        Threshold.__post_init__(self)
        if self.scale > MOST_SCALE:
            raise Invalid(
                f"scale must be at most {MOST_SCALE} for a threshold on Gaussian noise, got {shown(self.scale)}",
                hint="use LaplaceThreshold, or spend more on it",
            )

    @classmethod
    def for_budget(cls, epsilon: Number, delta: Number, *, groups: int = 1) -> "GaussianThreshold":
        """Noise and a threshold that are (epsilon, delta)-DP together: half of delta is for the noise, what it leaves for the keys."""
        allowed, k = open_probability(delta, "delta"), whole(groups, "groups", least=1)
        scale = calibrate.discrete_gaussian(epsilon, allowed / 2, times=k).scale
        rule = cls.for_noise(scale, allowed / 2, groups=k)
        while not rule.loss().certifies(epsilon, allowed):  # where the sum of two bounds is a rounding too much
            rule = cls(scale, rule.threshold + 1, k)
        return rule

    @classmethod
    def for_noise(cls, scale: Number, delta: Number, *, groups: int = 1) -> "GaussianThreshold":
        """The lowest threshold whose δ_keys is at most delta, for noise of this scale."""
        size, allowed = positive(scale, "scale"), open_probability(delta, "delta")
        each = allowed / whole(groups, "groups", least=1)
        near = -NormalDist().inv_cdf(max(float(each), 1e-300)) * float(size)
        return cls(size, least_threshold(lambda t: cls(size, t, groups).delta_keys <= allowed, int(near)), groups)

    def _leaf(self) -> events.Leaf:
        return events.DiscreteGaussian(self.scale, 1)

    def _noise(self, size: Any, source: Source | None) -> Any:
        return discrete_gaussian(self.scale, size, source=source)

    def _tail(self, z: int) -> Bounds:
        if z < 1:
            low, high = self._tail(1 - z)
            return 1 - high, 1 - low
        beyond, positive_half = _gaussian_sum(self.scale, z), _gaussian_sum(self.scale, 1)
        return beyond[0] / (1 + 2 * positive_half[1]), beyond[1] / (1 + 2 * positive_half[0])

    def error(self, confidence: Number = 0.95) -> float:
        """± of a noisy count. Those that are kept are the larger ones: near the threshold they are too high more often."""
        return DiscreteGaussian(self.scale).error(confidence)


@lru_cache(maxsize=256)
def _gaussian_sum(scale: Fraction, start: int) -> Bounds:
    """Bounds of Σ e^(−z²/2σ²) over z >= start, start >= 1.

    Term by term in integers: each term is the one before times a ratio, and each ratio the one before times e^(−1/σ²). Ratios fall, so that
    what is left out at the end is at most a geometric series.
    """
    bits, square = PRECISION + ROOM, scale * scale
    low_step, high_step = exp_bracket(-1 / square, bits)
    low_ratio, high_ratio = exp_bracket(-(2 * start + 1) / (2 * square), bits)
    low = high = 1 << bits
    low_sum = high_sum = 0
    while high > 1 << ROOM // 2:
        low_sum, high_sum = low_sum + low, high_sum + high
        low, high = low * low_ratio >> bits, shift_up(high * high_ratio, bits)
        low_ratio, high_ratio = low_ratio * low_step >> bits, shift_up(high_ratio * high_step, bits)
    high_sum += divide_up(high << bits, (1 << bits) - high_ratio)
    first = exp_bounds(-Fraction(start * start) / (2 * square), PRECISION)
    return first[0] * Fraction(low_sum, 1 << bits), first[1] * Fraction(high_sum, 1 << bits)
