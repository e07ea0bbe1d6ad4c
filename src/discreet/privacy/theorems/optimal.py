"""Optimal composition: the least that follows from the ε and δ of the parts alone, at every real ε.

The statements, and the treatment of δ. What is computed stands in `equal.py` and `mixed.py`.
"""

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from math import inf

from discreet.exact import Number, nonnegative, probability, to_float_up, whole
from discreet.privacy.theorems.composition import pairs_of
from discreet.privacy.theorems.equal import equal_delta, equal_epsilon
from discreet.privacy.theorems.mixed import mixed_delta, mixed_epsilon

ZERO, ONE = Fraction(0), Fraction(1)


def optimal_delta(epsilon: Number, k: int, target: Number, *, delta: Number = 0) -> float:
    """The least δ at total ε = target of k times (epsilon, delta), at every real target and not only at the levels (k−2i)ε.

    Kairouz, Oh and Viswanath 2015, theorem 3.3: with δ′ = Σ_j C(k,j) (e^(jε) − e^(target + (k−j)ε))₊ / (1+e^ε)^k it is 1 − (1−δ)^k (1−δ′).
    No bound that knows ε and δ only can be better. In integers, not floats, so 1e-300 is as good as 1e-3; k up to 10^7.

    >>> from math import comb, exp
    >>> terms = [comb(8, j) * max(0, exp(0.5 * j) - exp(2.2 + 0.5 * (8 - j))) for j in range(9)]
    >>> round(optimal_delta(0.5, 8, 2.2), 12) == round(sum(terms) / (1 + exp(0.5)) ** 8, 12)
    True
    """
    e, d, k = nonnegative(epsilon, "epsilon"), probability(delta, "delta"), whole(k, "k", least=1)
    total = nonnegative(target, "target")
    return to_float_up(_with_failures(equal_delta(e, k, total) if e else ZERO, _power_down(1 - d, k)))


def optimal_epsilon(epsilon: Number, k: int, target: Number, *, delta: Number = 0) -> float:
    """The least ε at total δ = target of k times (epsilon, delta): the inverse of `optimal_delta`; infinity where there is none.

    Kairouz, Oh and Viswanath 2015, theorem 3.3. At target 0 it is basic composition, kε; it is never above that, nor above
    `advanced_composition`. As randomised response attains it, √k cannot be improved: at ε = c/√k it tends to the ε of c-Gaussian privacy.

    >>> optimal_epsilon(0.1, 10_000, 1e-6)
    96.57184003313021
    >>> optimal_epsilon(0.1, 10, 0), optimal_epsilon(0.1, 10, 1e-6, delta=1e-6)
    (1.0, inf)
    """
    e, d, k = nonnegative(epsilon, "epsilon"), probability(delta, "delta"), whole(k, "k", least=1)
    left = _without_failures(probability(target, "target"), _power_down(1 - d, k))
    if left < 0:
        return inf
    return to_float_up(equal_epsilon(e, k, left)) if e else 0.0


def optimal_mixed_delta(parts: Iterable[tuple[Number, Number]], target: Number) -> float:
    """The least δ at total ε = target of different (ε, δ), from above; as close as `optimal_mixed_epsilon`.

    Murtagh and Vadhan 2016, theorem 1.5; floats with a slack that `mixed.Mixed` states.

    >>> optimal_mixed_delta([(0.5, 0)] * 8, 2.2) == optimal_delta(0.5, 8, 2.2)
    True
    """
    pairs, total = pairs_of(parts), nonnegative(target, "target")
    if not pairs:
        return 0.0
    epsilons = [e for e, _ in pairs if e]
    if len(set(epsilons)) > 1:
        delta = Fraction(mixed_delta(epsilons, total))
    else:
        delta = equal_delta(epsilons[0], len(epsilons), total) if epsilons else ZERO
    return to_float_up(_with_failures(delta, _survival(d for _, d in pairs)))


def optimal_mixed_epsilon(parts: Iterable[tuple[Number, Number]], target: Number) -> float:
    """The least ε at total δ = target of different (ε, δ), from above; infinity where there is none.

    Murtagh and Vadhan 2016, theorem 1.5: with p(S) = Π_S e^εi, the least ε that meets
    Σ_S (p(S) − e^ε p(not S))₊ / Π(1+e^εi) <= 1 − (1−δ)/Π(1−δi), S over all subsets. To find it exactly is #P-hard. Here it is exact, up to
    floats with a slack that `mixed.Mixed` states, while half of the mechanisms have at most 2^14 sums of losses (28 different ones, or
    thousands of a few kinds); else an upper bound, to an estimated 1e-6 of it, or 1e-7 where it is below 0.1.

    >>> round(optimal_mixed_epsilon([(0.1, 0)] * 50 + [(0.2, 0)] * 50, 1e-6), 10)
    7.9903210259
    """
    pairs, total = pairs_of(parts), probability(target, "target")
    left = _without_failures(total, _survival(d for _, d in pairs))
    if left < 0:
        return inf
    epsilons = [e for e, _ in pairs if e]
    if left == 0:
        return to_float_up(sum(epsilons, ZERO))
    if len(set(epsilons)) > 1:
        return mixed_epsilon(epsilons, left)
    return to_float_up(equal_epsilon(epsilons[0], len(epsilons), left)) if epsilons else 0.0


def _with_failures(delta: Fraction, survive: Fraction) -> Fraction:
    """1 − survive (1 − delta): nothing has failed and δ applies, or something has."""
    return 1 - survive * (1 - min(ONE, delta))


def _without_failures(total: Fraction, survive: Fraction) -> Fraction:
    """The δ left for the losses, 1 − (1 − total)/survive, from below; negative where the failures alone exceed the total."""
    if total == 1:
        return ONE
    if survive <= 1 - total:
        return ZERO if survive == 1 - total else -ONE
    return 1 - (1 - total) / survive


def _survival(deltas: Iterable[Fraction]) -> Fraction:
    """Π(1 − δᵢ), from below."""
    survive = ONE
    for d, n in Counter(deltas).items():
        survive = _product_down(survive, _power_down(1 - d, n))
    return survive


FIXED = 1 << 13
"""Digits after the point in products of probabilities: twice as many as the smallest δ that is read can have."""


def _product_down(x: Fraction, y: Fraction) -> Fraction:
    product = x * y
    if product.denominator.bit_length() <= FIXED:
        return product
    return Fraction((product.numerator << FIXED) // product.denominator, 1 << FIXED)


def _power_down(x: Fraction, n: int) -> Fraction:
    """x^n for 0 <= x <= 1, from below, by squaring."""
    result = ONE
    while n:
        if n & 1:
            result = _product_down(result, x)
        x, n = _product_down(x, x), n >> 1
    return result
