"""The machine room of optimal composition of different mechanisms: δ(ε) of randomised responses, from above.

As in `equal.py` the losses have two values each, +εᵢ or −εᵢ. In floats, with a stated slack: it only ever errs upward.
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import log, prod

import numpy as np

from discreet.errors import Invalid
from discreet.exact import to_float_down, to_float_up
from discreet.privacy.theorems.parts import Reals, exact_part, grid_parts

MAX_RANGE = 1400
"""The largest Σε − ε in a composition of different mechanisms: beyond it e^L leaves the range of floats."""

MAX_TOTAL = 10**6
"""The largest Σε of different mechanisms: beyond it floats tell losses apart to less than 1e-8."""

UNDERFLOW = 1e-312
"""What numbers too small for floats may add up to: 2^20 times MAX_MIXED times a few times 2^-1074."""


class Mixed:
    """Different losses ±epsilon_i, composed from above: δ(ε) for every ε >= least.

    Two halves are composed apart; δ(ε) = Σ_a P(a) E_b[(1 − e^(ε − a − b))₊] is a sum over one with look-ups in the other.
    A half of at most `size` values is exact. Else both go to a grid: a value between two grid points is split between them so that its
    mass is kept under P and under Q. Putting the two together again gives the old mechanism back as a function of the new one, so the
    new one is never more private (connecting the dots, Doroshenko et al. 2022), and the excess is of second order in the step.
    On the grid only what can still come above `least` is kept: the distance from the highest sum never shrinks.

    `slack` is what floats may lose, as a share of P[L > ε], in units of 2^-53: 16 for each of the k factors of a probability, 2 · 2^10
    for each sum (taken in two levels), 64 for each unit of loss, which exponents may be wrong by.
    `shift` is what a loss, and ε itself, may be wrong by: as δ falls, δ(ε − shift) by the losses of floats is never below δ(ε) by the true
    ones, also where ε is at the very value of a loss. A half has at most 20 different losses, of which a sum takes at most 21 roundings.
    """

    def __init__(self, epsilons: Sequence[Fraction], least: Fraction, size: int) -> None:
        self.highest = sum(epsilons, Fraction(0))
        if self.highest - least > MAX_RANGE or self.highest > MAX_TOTAL:
            raise Invalid(
                f"the epsilons may add up to at most {MAX_RANGE:,} more than their total epsilon, and to {MAX_TOTAL:,} at all,"
                f" for optimal composition of different mechanisms, got {to_float_up(self.highest):,.0f}",
                hint="basic_composition has no such limit",
            )
        halves = _halves(epsilons)
        self.exact = max(map(_values, halves)) <= size
        if self.exact:
            self.a, self.b = (exact_part(half, least - self.highest) for half in halves)
        else:
            self.a, self.b = grid_parts(halves, self.highest - least, size)
        self.slack = (16 * len(epsilons) + 6 * 2**10 + 64 * (1 + float(self.highest))) * 2.0**-53
        self.shift = 64 * (1 + float(self.highest)) * 2.0**-53
        self.middle = float((self.b.loss[0] + self.b.loss[-1]) / 2)
        self.above = _suffix_sums(self.b.mass)
        self.discounted = _suffix_sums(self.b.mass * _exp_or_less(self.middle - self.b.loss))

    def delta(self, epsilon: float) -> tuple[float, float]:
        """δ(epsilon) from above, for epsilon >= least, and −dδ/dε."""
        x = (epsilon - self.shift) - self.a.loss  # the b above x count
        start = np.searchsorted(self.b.loss, x, side="right")
        bad = float((self.a.mass * self.above[start]).sum())
        less = float((self.a.mass * _exp_or_less(x - self.middle) * self.discounted[start]).sum())
        return min(1.0, max(0.0, bad - less) + self.slack * bad + UNDERFLOW), less


def _exp_or_less(x: Reals) -> Reals:
    """e^x, or less where it would leave the range of floats: the part of δ that it is for is subtracted."""
    out: Reals = np.exp(np.minimum(x, MAX_RANGE / 2))
    return out


def _halves(epsilons: Sequence[Fraction]) -> tuple[list[tuple[Fraction, int]], list[tuple[Fraction, int]]]:
    """The different values with their counts, in two lists of about as many sums."""
    halves: tuple[list[tuple[Fraction, int]], list[tuple[Fraction, int]]] = ([], [])
    sizes = [0.0, 0.0]
    for epsilon, n in sorted(Counter(epsilons).items(), key=lambda item: (-item[1], item[0])):
        smaller = sizes.index(min(sizes))
        halves[smaller].append((epsilon, n))
        sizes[smaller] += log(n + 1)
    return halves


def _values(half: Sequence[tuple[Fraction, int]]) -> int:
    return prod(n + 1 for _, n in half)


def _suffix_sums(values: Reals) -> Reals:
    """values[i:].sum() for i = 0 … n, in two levels, so that no sum goes through more than 2 · 2^10 roundings."""
    n, row = len(values), 1 << 10
    rows = -(-n // row)
    padded = np.zeros(rows * row)
    padded[:n] = values
    inner = np.cumsum(padded.reshape(rows, row)[:, ::-1], axis=1)[:, ::-1]
    outer = np.cumsum(inner[::-1, 0])[::-1]
    return np.append((inner + np.append(outer[1:], 0.0)[:, None]).ravel()[:n], 0.0)


SIZES = tuple(1 << power for power in (14, 16, 18, 20))
CLOSE = 2e-7
"""How far above the optimum a composition of different mechanisms may be, relative to it, as `_settled` estimates it; 1e-6 is promised."""

SMALL = 0.1
"""The ε below which closeness is no longer relative to it."""


def _settled(found: Sequence[float], size: float) -> bool:
    """Whether the last of these results, each from a grid four times finer, is close enough to their limit, for numbers of this size.

    An excess of first order in the step is a third of the last change; of second order a fifteenth, and then changes fall by 16.
    """
    if len(found) < 2:
        return False
    change = found[-2] - found[-1]
    second_order = len(found) > 2 and 8 * change <= found[-3] - found[-2]
    return change / (10 if second_order else 3) <= CLOSE * size


def mixed_delta(epsilons: Sequence[Fraction], target: Fraction) -> float:
    """δ(target) of different randomised responses, from above; the grid is refined until it is settled."""
    if target >= sum(epsilons):
        return 0.0
    point, found = to_float_down(target), list[float]()
    for size in SIZES:
        mixed = Mixed(epsilons, target, size)
        found.append(min([*found, mixed.delta(point)[0]]))
        if mixed.exact or _settled(found, found[-1]):
            break
    return found[-1]


def mixed_epsilon(epsilons: Sequence[Fraction], target: Fraction) -> float:
    """ε(target) of different randomised responses, from above; the grid is refined until it is settled."""
    highest = to_float_up(sum(epsilons, Fraction(0)))
    allowed, least = to_float_down(target), Fraction(0)
    if allowed <= UNDERFLOW:
        return highest
    epsilon, found = highest, list[float]()
    for size in SIZES:
        mixed = Mixed(epsilons, least, size)
        before, epsilon = epsilon, _solve(mixed, float(least), epsilon, allowed)
        if epsilon == float(least) > 0:  # it is lower than was guessed
            least = Fraction(0)
            mixed = Mixed(epsilons, least, size)
            epsilon = _solve(mixed, 0.0, epsilon, allowed)
        found.append(epsilon)
        if mixed.exact or _settled(found, max(epsilon, SMALL)):
            break
        rounding = 2 * len(epsilons) * (highest - float(least)) / size
        least = max(Fraction(0), Fraction(epsilon - 0.1 * (highest - epsilon) - 4 * (before - epsilon) - rounding))
    return epsilon


def _solve(mixed: Mixed, low: float, high: float, target: float) -> float:
    """An ε between low and high with δ(ε) <= target, as low as 1e-8 of it, given that `high` is one.

    Newton's method on ln δ, which is nearly concave, so that it comes from above; by halves where it would leave the bracket.
    """
    if mixed.delta(low)[0] <= target:
        return low
    x = high
    for _ in range(200):
        delta, fall = mixed.delta(x)
        if delta <= target:
            high = x
        else:
            low = x
        near = fall > 0 and delta > target * 1e-3  # below that, floats tell too little of δ
        following = x + (log(delta) - log(target)) * delta / fall if near else low
        if high - low <= 1e-9 * high or (x == high and near and abs(following - x) <= 1e-8 * x):
            break
        x = following if low < following < high else (low + high) / 2
    return high
