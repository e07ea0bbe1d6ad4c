"""The machine room of optimal composition of equal mechanisms: δ(ε) of k randomised responses, from above.

Any (ε, δ)-private mechanism is a function of one that tells everything with probability δ and else answers by ε-randomised response
(Kairouz, Oh and Viswanath 2015). So what is composed here are losses of two values: +ε with probability e^ε/(1+e^ε), else −ε.
In integers of as many digits as are needed: no float, no result of libm.
"""

from collections.abc import Iterator
from fractions import Fraction

from discreet.errors import Invalid
from discreet.exact import exp_bounds, exp_down, log_up

MAX_EQUAL = 10**7
"""The most equal mechanisms: some hundred thousand integers of a few hundred digits."""


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
