"""The machine room of optimal composition: δ(ε) of many randomised responses, from above.

Any (ε, δ)-private mechanism is a function of one that tells everything with probability δ and else answers by ε-randomised response
(Kairouz, Oh and Viswanath 2015). So what is composed here are losses of two values: +ε with probability e^ε/(1+e^ε), else −ε.

`Equal` composes k equal ones in integers of as many digits as are needed: no float, no result of libm. `Mixed` composes different ones
in floats with a stated slack. Both only ever err upward. The statements, and the treatment of δ, are in `theorems.py`.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, expm1, log, prod

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.exact import exp_bounds, exp_down, log_up, to_float_down, to_float_up

Reals = NDArray[np.float64]

MAX_EQUAL = 10**7
"""The most equal mechanisms: some hundred thousand integers of a few hundred digits."""

MAX_MIXED = 4000
"""The most mechanisms in a composition of different ones that has to go to the grid."""

MAX_RANGE = 1400
"""The largest Σε − ε in a composition of different mechanisms: beyond it e^L leaves the range of floats."""


class Equal:
    """k losses of ±epsilon each, epsilon > 0: the weight of j of them being +epsilon, for every j.

    The weight at the mode is 2^bits; the others follow by w(j+1) = w(j) e^epsilon (k−j)/(j+1) and its inverse, rounded down.
    Away from the mode weights fall, so an error does not grow on its way: a step adds less than 3 units, two for its floors and one
    for e^epsilon, which is right to 2^-fine. So a weight at distance n is too small by at most 3n, and one that came out as 0 is below
    3n + 1. `slack` covers that for all k + 1 weights together, so for any sum of them.
    """

    def __init__(self, epsilon: Fraction, k: int, bits: int) -> None:
        self.epsilon, self.k, self.fine = epsilon, k, bits + 64
        small = min(epsilon, Fraction(self.fine))  # above, all weights but the last are 0 anyway
        rise = exp_bounds(small, self.fine)[0]
        self.mode = min(k, int((k + 1) * rise / (1 + rise)))
        upward = self._upward(1 << bits, int(rise * (1 << self.fine)))
        downward = self._downward(1 << bits, int(exp_down(-small, self.fine) * (1 << self.fine)))
        self.least = self.mode - len(downward)
        self.weights = [*reversed(downward), 1 << bits, *upward]
        self.total = sum(self.weights)  # from below, as each of them
        self.slack = 4 * (k + 1) ** 2
        self.fall = int(exp_down(-2 * epsilon, self.fine) * (1 << self.fine))  # e^(−2 epsilon), from below

    def _upward(self, weight: int, rise: int) -> list[int]:
        out: list[int] = []
        for j in range(self.mode, self.k):
            weight = ((weight * rise) >> self.fine) * (self.k - j) // (j + 1)
            if not weight:
                break
            out.append(weight)
        return out

    def _downward(self, weight: int, fall: int) -> list[int]:
        out: list[int] = []
        for j in range(self.mode, 0, -1):
            weight = (weight * j // (self.k - j + 1) * fall) >> self.fine
            if not weight:
                break
            out.append(weight)
        return out

    def level(self, j: int) -> Fraction:
        """The loss when j are +epsilon."""
        return (2 * j - self.k) * self.epsilon

    def tails(self) -> Iterator[tuple[int, int, int]]:
        """From the top down: j, A = Σ w(i) and B = Σ w(i) e^(level(j) − level(i)), over i >= j; B from below.

        With W the sum of all weights, W δ(ε) = A − e^(ε − level(j)) B for level(j−1) <= ε <= level(j).
        """
        a = b = 0
        for j in range(self.least + len(self.weights) - 1, self.least - 1, -1):
            weight = self.weights[j - self.least]
            a += weight
            b = weight + ((b * self.fall) >> self.fine)
            yield j, a, b


def equal_delta(epsilon: Fraction, k: int, target: Fraction) -> Fraction:
    """δ(target) of k randomised responses of `epsilon` > 0, from above: by at most 2^-60 of it, or by less than 2^-1500."""
    _check_count(k)
    if target >= k * epsilon:
        return Fraction(0)
    first = int((target / epsilon + k) // 2) + 1  # the lowest level above the target
    bits = 256
    while True:
        equal = Equal(epsilon, k, bits)
        found = _excess(equal, first, target)
        if found >= equal.slack << 62 or bits >= 2048:
            return min(Fraction(1), Fraction(found + equal.slack, equal.total))
        bits *= 2


def _excess(equal: Equal, first: int, target: Fraction) -> int:
    """A − e^(target − level) B at the lowest level not below `first` that has a weight."""
    level, a, b = first, 0, 0
    for j, tail, discounted in equal.tails():
        if j < first:
            break
        level, a, b = j, tail, discounted
    return a - int(exp_down(min(Fraction(0), target - equal.level(level)), equal.fine) * b)


def equal_epsilon(epsilon: Fraction, k: int, target: Fraction) -> Fraction:
    """ε(target) of k randomised responses of `epsilon` > 0, from above; for target 0 it is k epsilon."""
    _check_count(k)
    if target == 0:
        return k * epsilon
    digits = max(0, target.denominator.bit_length() - target.numerator.bit_length())
    equal = Equal(epsilon, k, digits + 2 * k.bit_length() + 128)
    allowed = int(target * equal.total)
    for j, a, b in equal.tails():
        left = a + equal.slack - allowed  # W (P[L >= level(j)] − target), from above
        if left > (b * equal.fall) >> equal.fine or j == equal.least:  # δ(level(j−1)) > target
            if left <= 0:
                return Fraction(0)
            return max(Fraction(0), equal.level(j) + min(Fraction(0), log_up(Fraction(left, b), 128)))
        if equal.level(j - 1) <= 0:
            break
    return Fraction(0)


def _check_count(k: int) -> None:
    if k > MAX_EQUAL:
        raise Invalid(f"k must be at most {MAX_EQUAL:,} for optimal composition, got {k:,}")


@dataclass(frozen=True, slots=True)
class Part:
    """Some of the losses, composed: the values of their sum in ascending order, and the probability of each."""

    loss: Reals
    mass: Reals


class Mixed:
    """Different losses ±epsilon_i, composed from above: δ(ε) for every ε >= least.

    Two halves are composed apart; δ(ε) = Σ_a P(a) E_b[(1 − e^(ε − a − b))₊] is a sum over one with look-ups in the other.
    A half of at most `size` values is exact. Else both go to a grid: a value between two grid points is split between them so that its
    mass is kept under P and under Q. Putting the two together again gives the old mechanism back as a function of the new one, so the
    new one is never more private (connecting the dots, Doroshenko et al. 2022), and the excess is of second order in the step.
    On the grid only what can still come above `least` is kept: the distance from the highest sum never shrinks.

    `slack` is what floats may lose, as a share of P[L > ε], in units of 2^-53: 16 for each of the k factors of a probability, 2 · 2^10
    for each sum (taken in two levels), 64 for each unit of loss, which sums of losses and their exponentials may be wrong by.
    """

    def __init__(self, epsilons: Sequence[Fraction], least: Fraction, size: int) -> None:
        self.highest = sum(epsilons, Fraction(0))
        if self.highest - least > MAX_RANGE:
            raise Invalid(
                f"the epsilons may add up to at most {MAX_RANGE:,} for optimal composition of different mechanisms,"
                f" got {float(self.highest):,.0f}"
            )
        halves = _halves(epsilons)
        self.exact = max(map(_values, halves)) <= size
        if self.exact:
            self.a, self.b = (_exact_part(half, least - self.highest) for half in halves)
        else:
            self.a, self.b = _grid_parts(halves, self.highest - least, size)
        self.slack = (16 * len(epsilons) + 6 * 2**10 + 64 * (1 + float(self.highest))) * 2.0**-53
        self.middle = float((self.b.loss[0] + self.b.loss[-1]) / 2)
        self.above = _suffix_sums(self.b.mass)
        self.discounted = _suffix_sums(self.b.mass * np.exp(self.middle - self.b.loss))

    def delta(self, epsilon: float) -> tuple[float, float]:
        """δ(epsilon) from above, for epsilon >= least, and −dδ/dε."""
        if epsilon >= self.highest:
            return 0.0, 0.0
        x = epsilon - self.a.loss  # the b above x count
        start = np.searchsorted(self.b.loss, x, side="right")
        bad = float((self.a.mass * self.above[start]).sum())
        scale = np.exp(np.minimum(x - self.middle, MAX_RANGE / 2))  # where it is cut off there is no b above x
        less = float((self.a.mass * scale * self.discounted[start]).sum())
        underflow = 1e-312  # 2^20 times MAX_MIXED times a few times 2^-1074
        return min(1.0, (bad - less) + self.slack * bad + underflow), less


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


def _exact_part(half: Sequence[tuple[Fraction, int]], gap: Fraction) -> Part:
    """All sums of the losses that are at most −gap below the highest; n equal ones have n + 1 levels."""
    loss, mass = np.zeros(1), np.ones(1)
    for epsilon, n in half:
        levels = np.array([float((2 * j - n) * epsilon) for j in range(n + 1)])
        loss = (loss[:, None] + levels[None, :]).ravel()
        mass = (mass[:, None] * _binomial(epsilon, n)[None, :]).ravel()
    order = np.argsort(loss)
    loss, mass = loss[order], mass[order]
    keep = loss >= loss[-1] + float(gap) - 1e-9
    return Part(loss[keep], mass[keep])


def _binomial(epsilon: Fraction, n: int) -> Reals:
    """The probabilities of j times +epsilon in n."""
    equal = Equal(epsilon, n, 1200)
    out = np.zeros(n + 1)
    out[equal.least : equal.least + len(equal.weights)] = [weight / equal.total for weight in equal.weights]
    return out


def _grid_parts(halves: Sequence[list[tuple[Fraction, int]]], width: Fraction, size: int) -> Iterator[Part]:
    lists = [[epsilon for epsilon, n in half for _ in range(n)] for half in halves]
    count = sum(map(len, lists))
    if count > MAX_MIXED:
        raise Invalid(f"at most {MAX_MIXED:,} mechanisms of many different epsilons can be composed, got {count:,}")
    # Rounded up, the highest sum is at most `count` steps higher, and that is part of the width.
    step = Fraction(to_float_up(width / (size - count - 2)))
    return (_grid_part(epsilons, step, size) for epsilons in lists)


def _grid_part(epsilons: Sequence[Fraction], step: Fraction, size: int) -> Part:
    """The sum of the losses ±epsilon_i on multiples of `step`: its `size` highest values."""
    mass, new = np.zeros(size), np.zeros(size)
    mass[0] = 1.0  # indexed by the distance from the highest sum
    top, used = 0, 1
    for epsilon in epsilons:
        n = int(epsilon // step)
        top, used = top + n + 1, min(size, used + 2 * n + 2)
        for start in range(0, used, BLOCK):
            _spread(mass, new, _shares(epsilon, n, step), start, min(used, start + BLOCK))
        mass, new = new, mass
    loss: Reals = (top - np.arange(size, dtype=np.float64)) * float(step)
    return Part(loss[::-1].copy(), mass[::-1].copy())


BLOCK = 1 << 15
"""Values that are worked on together, so that they stay in the cache: four times faster than all at once."""


def _spread(mass: Reals, new: Reals, shares: Sequence[tuple[int, float]], start: int, stop: int) -> None:
    """new[i] = Σ share · mass[i − distance], for start <= i < stop."""
    new[start:stop] = 0.0
    for distance, share in shares:
        first = max(start, distance)
        if first < stop:
            new[first:stop] += share * mass[first - distance : stop - distance]


def _shares(epsilon: Fraction, n: int, step: Fraction) -> list[tuple[int, float]]:
    """How ±epsilon is split over (n+1), n, −n and −(n+1) steps: distance from n+1, and probability.

    A value v of mass p between g and g + step gives p (1 − e^(g−v))/(1 − e^-step) to the upper one: then p and p e^-v are both kept.
    """
    rest, gap = float(epsilon - n * step), float((n + 1) * step - epsilon)
    fall = exp(-float(epsilon))
    unit = -expm1(-float(step)) * (1 + fall)
    low, high = -expm1(-rest) / unit, -expm1(-gap) / unit
    return [
        (0, low),
        (1, high * exp(-rest)),
        (2 * n + 1, high * fall),
        (2 * n + 2, low * exp(-gap) * fall),
    ]


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
CLOSE = 1e-6
"""How far above the optimum a composition of different mechanisms may be, relative to it, as `_settled` estimates it."""


def _settled(found: Sequence[float]) -> bool:
    """Whether the last of these results, each from a grid four times finer, is close enough to their limit.

    An excess of first order in the step is a third of the last change; of second order a fifteenth, and then changes fall by 16.
    """
    if len(found) < 2:
        return False
    change = found[-2] - found[-1]
    second_order = len(found) > 2 and 8 * change <= found[-3] - found[-2]
    return change / (10 if second_order else 3) <= CLOSE * found[-1]


def mixed_delta(epsilons: Sequence[Fraction], target: Fraction) -> float:
    """δ(target) of different randomised responses, from above; the grid is refined until it is settled."""
    if target >= sum(epsilons):
        return 0.0
    point, found = to_float_down(target), list[float]()
    for size in SIZES:
        mixed = Mixed(epsilons, target, size)
        found.append(min([*found, mixed.delta(point)[0]]))
        if mixed.exact or _settled(found):
            break
    return found[-1]


def mixed_epsilon(epsilons: Sequence[Fraction], target: Fraction) -> float:
    """ε(target) of different randomised responses, from above; the grid is refined until it is settled."""
    highest = to_float_up(sum(epsilons, Fraction(0)))
    allowed, least = to_float_down(target), Fraction(0)
    epsilon, found = highest, list[float]()
    for size in SIZES:
        mixed = Mixed(epsilons, least, size)
        before, epsilon = epsilon, _solve(mixed, float(least), epsilon, allowed)
        if epsilon == float(least) > 0:  # it is lower than was guessed
            least = Fraction(0)
            mixed = Mixed(epsilons, least, size)
            epsilon = _solve(mixed, 0.0, epsilon, allowed)
        found.append(epsilon)
        if mixed.exact or _settled(found):
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
        following = x + log(delta / target) * delta / fall if near else low
        if high - low <= 1e-9 * high or (x == high and near and abs(following - x) <= 1e-8 * x):
            break
        x = following if low < following < high else (low + high) / 2
    return high
