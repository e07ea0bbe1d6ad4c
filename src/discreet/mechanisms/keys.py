"""Which groups may be named at all: private selection of unknown keys, from how many people each of them has.

A key that only one person has must hardly ever be seen, so what is released are the keys whose noisy count passes a threshold, and with
each key that noisy count itself: one noise serves both. Any other number about a group needs noise of its own. Counts are of people, and
a person is in at most `groups` of them (who is in more is left out of some before they are counted): that holds for adding or removing
one person, where each count moves by one at most. Where a person is replaced by another, `groups` is twice that number.
"""

from abc import abstractmethod
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import ceil
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.exact import (
    EXP_LIMIT,
    Number,
    divide_up,
    exp_bounds,
    log_down,
    nonnegative,
    positive,
    probability,
    round_down,
    round_up,
    shift_up,
    shown,
    whole,
)
from discreet.fields import Exact, frozen
from discreet.mechanisms.additive import MOST_INTEGER, Ints, repeated
from discreet.mechanisms.base import Example, Mechanism, confidence_level, half_width, registry
from discreet.mechanisms.gaussian import DiscreteGaussian
from discreet.mechanisms.geometric import Geometric
from discreet.noise import Source, discrete_gaussian, discrete_laplace
from discreet.noise.source import chosen, words
from discreet.privacy import calibrate, events

__all__ = [
    "GaussianThreshold",
    "Kept",
    "LaplaceThreshold",
    "OptimalKeys",
    "Threshold",
]

Bounds = tuple[Fraction, Fraction]

PRECISION = 96  # bits of a probability, relative
ROOM = 64  # more bits than that, for what a hundred thousand roundings take
LEAST_DELTA = Fraction(1, 1 << 4000)  # events hold nothing shorter
MOST_SCALE = 1 << 16  # of Gaussian noise: its tails are added up term by term
MOST_STEPS = 1 << 20  # of the optimal rule
WORD = 64


class Kept(NamedTuple):
    """Whether the key of each count that went in is kept, and its noisy count, 0 where the key is not kept.

    Only keys that are kept, and their noisy counts, may be shown: how many keys there were, and which, is not private.
    """

    mask: NDArray[np.bool_]
    counts: Ints


def _counts(values: object) -> Ints:
    found = np.asarray(values)
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iu"):
        raise Invalid("counts must be integers in a list or an array of one dimension")
    if found.size and not (int(found.min()) >= 0 and int(found.max()) <= MOST_INTEGER):
        raise Invalid("counts must lie between 0 and 2^62")
    return found.astype(np.int64)


def _of_people(sensitivity: Number) -> bool:
    """Whether anything is at stake; keys are selected by counts of people, which one person changes by one."""
    exact = nonnegative(sensitivity, "sensitivity")
    if exact > 1:
        raise Invalid(
            f"sensitivity must be at most 1: keys are selected by counts of people, got {shown(sensitivity)}",
            hint="count people, not rows; in how many groups a person may be is `groups`",
        )
    return exact > 0


# 1 − (1 − p)^k: that at least one of k happens.


def any_of(p: Fraction, k: int) -> Bounds:
    """A lower and an upper bound of 1 − (1 − p)^k.

    >>> [float(bound) for bound in any_of(Fraction(1, 10), 3)]
    [0.271, 0.271]
    """
    if not p:
        return p, p
    bits = PRECISION + ROOM + max(0, p.denominator.bit_length() - p.numerator.bit_length())
    low, high = (1 - _power(1 - p, k, bits, rounded) for rounded in (round_up, round_down))
    return max(Fraction(0), low), min(Fraction(1), high)


def _power(x: Fraction, k: int, bits: int, rounded: Callable[[Fraction, int], Fraction]) -> Fraction:
    result, base = Fraction(1), x
    while k:
        if k & 1:
            result = rounded(result * base, bits)
        base, k = rounded(base * base, bits), k >> 1
    return result


def share(delta: Fraction, k: int) -> Fraction:
    """1 − (1 − δ)^(1/k), rounded down: what each of k may take so that all together take δ.

    >>> float(share(Fraction(271, 1000), 3))
    0.1
    """
    if k == 1 or not delta:
        return delta
    scale = 1 << (PRECISION + delta.denominator.bit_length() + k.bit_length())
    low, high = 0, ceil(delta * scale)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if any_of(Fraction(middle, scale), k)[1] <= delta else (low, middle)
    return Fraction(low, scale)


# A threshold on noisy counts.


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
        if not _of_people(sensitivity):
            return events.Composed(())
        return events.Composed((repeated(self._leaf(), self.groups), events.Approximate(Fraction(0), self.delta_keys)))

    def __call__(self, exact: Any, source: Source | None = None) -> Kept:
        """The keys that are kept among those with these counts, and their noisy counts."""
        counts = _counts(exact)
        noisy = counts + self._noise(counts.shape, source)
        mask = (counts > 0) & (noisy > self.threshold)
        return Kept(mask, np.where(mask, noisy, 0))


def _least_threshold(enough: Callable[[int], bool], near: int) -> int:
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


def _open(value: object, name: str) -> Fraction:
    exact = probability(value, name)
    if not 0 < exact < 1:
        raise Invalid(f"{name} must lie between 0 and 1, both excluded, got {shown(value)}")
    return exact


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
        size, allowed = positive(scale, "scale"), _open(delta, "delta")
        near = -float(log_down(allowed / whole(groups, "groups", least=1))) * float(size)
        return cls(size, _least_threshold(lambda t: cls(size, t, groups).delta_keys <= allowed, int(near)), groups)

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
        allowed, k = _open(delta, "delta"), whole(groups, "groups", least=1)
        scale = calibrate.discrete_gaussian(epsilon, allowed / 2, times=k).scale
        found = cls.for_noise(scale, allowed / 2, groups=k)
        while not found.loss().certifies(epsilon, allowed):  # where the sum of two bounds is a rounding too much
            found = cls(scale, found.threshold + 1, k)
        return found

    @classmethod
    def for_noise(cls, scale: Number, delta: Number, *, groups: int = 1) -> "GaussianThreshold":
        """The lowest threshold whose δ_keys is at most delta, for noise of this scale."""
        size, allowed = positive(scale, "scale"), _open(delta, "delta")
        each = allowed / whole(groups, "groups", least=1)
        near = -NormalDist().inv_cdf(max(float(each), 1e-300)) * float(size)
        return cls(size, _least_threshold(lambda t: cls(size, t, groups).delta_keys <= allowed, int(near)), groups)

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
    low_step, high_step = _fixed(-1 / square, bits)
    low_ratio, high_ratio = _fixed(-(2 * start + 1) / (2 * square), bits)
    low = high = 1 << bits
    low_sum = high_sum = 0
    while high > 1 << ROOM // 2:
        low_sum, high_sum = low_sum + low, high_sum + high
        low, high = low * low_ratio >> bits, shift_up(high * high_ratio, bits)
        low_ratio, high_ratio = low_ratio * low_step >> bits, shift_up(high_ratio * high_step, bits)
    high_sum += divide_up(high << bits, (1 << bits) - high_ratio)
    first = exp_bounds(-Fraction(start * start) / (2 * square), PRECISION)
    return first[0] * Fraction(low_sum, 1 << bits), first[1] * Fraction(high_sum, 1 << bits)


def _fixed(x: Fraction, bits: int) -> tuple[int, int]:
    """Integer brackets of 2^bits e^x."""
    low, high = exp_bounds(x, bits)
    return int(low * (1 << bits)), ceil(high * (1 << bits))


# The optimal rule.


def _optimal_examples() -> list[Example]:
    return [
        Example(OptimalKeys(Fraction(1), Fraction(1, 1000)), 1, [0, 30], [1, 30]),
        Example(OptimalKeys(Fraction(1, 2), Fraction(1, 100), 2), 1, [3, 7, 0], [4, 7, 1]),
    ]


@registry.add(_optimal_examples)
@frozen
class OptimalKeys(Mechanism):
    """The rule that keeps every key as often as (epsilon, delta)-DP for one group allows; for `groups` of them, that often each.

    A key with count n is kept with probability π(n), π(0) = 0 and
    π(n + 1) = min(e^ε π(n) + δ, 1 − e^−ε (1 − π(n) − δ), 1): no rule that is (ε, δ)-DP keeps any count more often (Desfontaines, Voss,
    Gipson and Mandayam 2022). For k groups it is not known to be the best: there it runs at (ε/k, 1 − (1 − δ)^(1/k)).

    It is a threshold too. Let J be the number of n >= 1 with π(n) <= V, V uniform: then Pr[J < n] = π(n), and n + τ − J > τ is how the
    key is kept. The noise τ − J is bounded, truncated geometric where δ fits, as they show. Its probabilities
    f(j) = π(j + 1) − π(j) begin with δ, grow by e^ε and then fall by e^−ε at each step, to a last r <= δ after one of e^ε r + δ − r: so
    Σ max(0, f(j) − e^ε f(j + 1)) = (δ − r) + r, and the other way round it is f(0) = δ. The noisy count itself is (ε, δ)-DP, at any n.
    """

    epsilon: Exact
    delta: Exact
    groups: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        if self.epsilon > EXP_LIMIT:
            raise Invalid(f"epsilon must be at most {EXP_LIMIT}, got {shown(self.epsilon)}")
        object.__setattr__(self, "delta", _open(self.delta, "delta"))
        object.__setattr__(self, "groups", whole(self.groups, "groups", least=1))

    @classmethod
    def for_budget(cls, epsilon: Number, delta: Number, *, groups: int = 1) -> "OptimalKeys":
        """The rule that is (epsilon, delta)-DP for a person who is in at most so many groups.

        >>> OptimalKeys.for_budget(1, 0.01).epsilon, OptimalKeys.for_budget(1, 0.01, groups=2).epsilon
        (Fraction(1, 1), Fraction(1, 2))
        """
        k = whole(groups, "groups", least=1)
        return cls(positive(epsilon, "epsilon") / k, share(_open(delta, "delta"), k), k)

    @property
    def threshold(self) -> int:
        """What a noisy count must exceed: the median of J, so that noise is as often above 0 as below it, or almost."""
        return int(np.searchsorted(_words(self.epsilon, self.delta)[1], np.uint64(1 << WORD - 1), "left"))

    def keeps(self, count: int) -> Bounds:
        """A lower and an upper bound of the probability that a key with this count is kept."""
        bits = PRECISION + self.delta.denominator.bit_length()
        table = _rule(self.epsilon, self.delta, bits)
        low, high = table[min(whole(count, "count"), len(table) - 1)]
        return Fraction(low, 1 << bits), Fraction(high, 1 << bits)

    def event(self, sensitivity: Number = 1) -> events.Event:
        """Each group of a person is (epsilon, delta)-DP, with noise of its own; a group that nobody else is in is no other case."""
        if not _of_people(sensitivity):
            return events.Composed(())
        return repeated(events.Approximate(self.epsilon, self.delta), self.groups)

    def __call__(self, exact: Any, source: Source | None = None) -> Kept:
        """The keys that are kept among those with these counts, and their noisy counts."""
        counts = _counts(exact)
        fallen = self._draw(counts.size, chosen(source))
        mask = fallen < counts
        return Kept(mask, np.where(mask, counts + self.threshold - fallen, 0))

    def _draw(self, size: int, source: Source) -> Ints:
        """J, by the first 64 binary digits of V, and by more of them where those do not tell."""
        low, high = _words(self.epsilon, self.delta)
        first = words(source, size)
        least, most = np.searchsorted(high, first, "left"), np.searchsorted(low, first, "right")
        for tie in np.flatnonzero(least != most):
            least[tie] = self._settle(int(first[tie]), source)
        return least.astype(np.int64)

    def _settle(self, known: int, source: Source) -> int:
        width = WORD
        while True:
            known, width = (known << width) | source.bits(width), 2 * width
            table = _rule(self.epsilon, self.delta, width)[1:]
            least, most = (sum(high <= known for _, high in table), sum(low <= known for low, _ in table))
            if least == most:
                return least

    def error(self, confidence: Number = 0.95) -> float:
        """± of a noisy count. Those that are kept are the larger ones: near the threshold they are too high more often."""
        middle, table = self.threshold, [high / (1 << WORD) for _, high in _rule(self.epsilon, self.delta, WORD)]

        def kept(n: int) -> float:
            return table[min(max(n, 0), len(table) - 1)]

        return float(half_width(lambda w: kept(middle - w) + 1 - kept(middle + w + 1), confidence_level(confidence)))


@lru_cache(maxsize=64)
def _rule(epsilon: Fraction, delta: Fraction, bits: int) -> tuple[tuple[int, int], ...]:
    """Integer brackets of 2^bits π(n), from n = 0 on, up to the first n that is kept for certain."""
    more = ROOM + delta.denominator.bit_length()
    wide = bits + more
    one = 1 << wide
    low_e, high_e = _fixed(epsilon, wide)
    low_d, high_d = int(delta * one), ceil(delta * one)
    found = [(0, 0)]
    low = high = 0
    while low < one:
        if len(found) > MOST_STEPS:
            raise Invalid(f"epsilon and delta are too small for the optimal rule: it has over {MOST_STEPS} steps")
        low_left = ((one - high - high_d) << wide) // (high_e if one - high > high_d else low_e)
        high_left = divide_up((one - low - low_d) << wide, low_e if one - low > low_d else high_e)
        low, high = (
            min((low_e * low >> wide) + low_d, one - max(0, high_left)),
            min(shift_up(high_e * high, wide) + high_d, one - max(0, low_left)),
        )
        found.append((low >> more, shift_up(high, more)))
    return tuple(found)


@lru_cache(maxsize=64)
def _words(epsilon: Fraction, delta: Fraction) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Words for n >= 1, as long as π(n) < 1: words above the second are certainly not below 2^64 π(n), those below the first are."""
    table = [pair for pair in _rule(epsilon, delta, WORD)[1:] if pair[0] < 1 << WORD]
    low = np.array([low for low, _ in table], np.uint64)
    high = np.array([high - 1 for _, high in table], np.uint64)
    return np.maximum.accumulate(low), np.minimum.accumulate(high[::-1])[::-1]


def __dir__() -> list[str]:
    return sorted(__all__)
