"""The rule that keeps keys as often as privacy allows."""

from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.exact import EXP_LIMIT, Number, divide_up, positive, shift_up, shown, whole
from discreet.fields import Exact, frozen
from discreet.mechanisms.additive import Ints, repeated
from discreet.mechanisms.base import Example, Mechanism, confidence_level, half_width, registry
from discreet.mechanisms.keys.chance import PRECISION, ROOM, Bounds, exp_bracket, open_probability, share
from discreet.mechanisms.keys.kept import Kept, at_stake, counts_of
from discreet.noise import Source
from discreet.noise.source import chosen, words
from discreet.privacy import events

MOST_STEPS = 1 << 20  # of the optimal rule
WORD = 64


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
        object.__setattr__(self, "delta", open_probability(self.delta, "delta"))
        object.__setattr__(self, "groups", whole(self.groups, "groups", least=1))

    @classmethod
    def for_budget(cls, epsilon: Number, delta: Number, *, groups: int = 1) -> "OptimalKeys":
        """The rule that is (epsilon, delta)-DP for a person who is in at most so many groups.

        >>> OptimalKeys.for_budget(1, 0.01).epsilon, OptimalKeys.for_budget(1, 0.01, groups=2).epsilon
        (Fraction(1, 1), Fraction(1, 2))
        """
        k = whole(groups, "groups", least=1)
        return cls(positive(epsilon, "epsilon") / k, share(open_probability(delta, "delta"), k), k)

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
        if not at_stake(sensitivity):
            return events.Composed(())
        return repeated(events.Approximate(self.epsilon, self.delta), self.groups)

    def __call__(self, exact: Any, source: Source | None = None) -> Kept:
        """The keys that are kept among those with these counts, and their noisy counts."""
        counts = counts_of(exact)
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
    low_e, high_e = exp_bracket(epsilon, wide)
    low_d, high_d = int(delta * one), ceil(delta * one)
    steps = [(0, 0)]
    low = high = 0
    while low < one:
        if len(steps) > MOST_STEPS:
            raise Invalid(f"epsilon and delta are too small for the optimal rule: it has over {MOST_STEPS} steps")
        low_left = ((one - high - high_d) << wide) // (high_e if one - high > high_d else low_e)
        high_left = divide_up((one - low - low_d) << wide, low_e if one - low > low_d else high_e)
        low, high = (
            min((low_e * low >> wide) + low_d, one - max(0, high_left)),
            min(shift_up(high_e * high, wide) + high_d, one - max(0, low_left)),
        )
        steps.append((low >> more, shift_up(high, more)))
    return tuple(steps)


@lru_cache(maxsize=64)
def _words(epsilon: Fraction, delta: Fraction) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Words for n >= 1, as long as π(n) < 1: words above the second are certainly not below 2^64 π(n), those below the first are."""
    table = [pair for pair in _rule(epsilon, delta, WORD)[1:] if pair[0] < 1 << WORD]
    low = np.array([low for low, _ in table], np.uint64)
    high = np.array([high - 1 for _, high in table], np.uint64)
    return np.maximum.accumulate(low), np.minimum.accumulate(high[::-1])[::-1]
