"""The theorems of differential privacy, one function each: composition, groups, conversions, the Bayesian reading.

Arguments are read exactly (a float is the decimal it prints) and refused by name before anything is computed. Results are bounds,
rounded outward: nothing here is ever smaller than the formula it states. Rational results are exact fractions. The others are evaluated in
rationals between brackets of e^x and ln x (`discreet.exact`) and rounded up once at the end, except where the docstring says "floats" and
states its slack. Infinity says that the theorem promises nothing.

What the losses of known mechanisms compose to is not here but in `loss.py`: it is never more than these bounds.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from math import exp, inf, log1p, nextafter, sqrt

from discreet.errors import Invalid
from discreet.exact import (
    EXP_LIMIT,
    Number,
    exp_down,
    exp_up,
    log_bounds,
    log_up,
    nonnegative,
    probability,
    rational,
    round_down,
    round_up,
    shown,
    sqrt_up,
    to_float_up,
    whole,
)
from discreet.privacy.adjacency import Adjacency
from discreet.privacy.closed import gaussian_log_gap
from discreet.privacy.optimal import equal_delta, equal_epsilon, mixed_delta, mixed_epsilon

ZERO, ONE = Fraction(0), Fraction(1)

# Composition.


def basic_composition(parts: Iterable[tuple[Number, Number]]) -> tuple[Fraction, Fraction]:
    """(Σε, Σδ), also when each mechanism is chosen after seeing what the earlier ones gave. Exact.

    Dwork, McSherry, Nissim and Smith 2006; Dwork and Lei 2009 for δ > 0. For pure ε it is the best possible.

    >>> basic_composition([(0.1, 0)] * 10), basic_composition([(1, 1e-6), (0.5, 2e-6)])
    ((Fraction(1, 1), Fraction(0, 1)), (Fraction(3, 2), Fraction(3, 1000000)))
    """
    pairs = _pairs(parts)
    return sum((e for e, _ in pairs), ZERO), min(ONE, sum((d for _, d in pairs), ZERO))


def parallel_composition(parts: Iterable[tuple[Number, Number]], adjacency: Adjacency) -> tuple[Fraction, Fraction]:
    """Mechanisms on disjoint groups of people: under add/remove the largest ε and δ, under replace the sums of the two largest.

    McSherry 2009, theorem 4. The groups must be told apart by a declared public function of the person, the same for all rows of that
    person. Each part must hold for the relation within its group and, under replace, for adding or removing a person as well: a
    person replaced by one of another group leaves one part and enters another.

    >>> parallel_composition([(1, 0), (0.5, 1e-6), (2, 0)], Adjacency.ADD_REMOVE)
    (Fraction(2, 1), Fraction(1, 1000000))
    >>> parallel_composition([(1, 0), (0.5, 1e-6), (2, 0)], Adjacency.REPLACE)
    (Fraction(3, 1), Fraction(1, 1000000))
    """
    if not isinstance(adjacency, Adjacency):
        raise Invalid(f"adjacency must be an Adjacency, got {shown(adjacency)}")
    pairs = _pairs(parts)
    touched = 1 if adjacency is Adjacency.ADD_REMOVE else 2
    epsilons, deltas = sorted((e for e, _ in pairs), reverse=True), sorted((d for _, d in pairs), reverse=True)
    return sum(epsilons[:touched], ZERO), min(ONE, sum(deltas[:touched], ZERO))


def advanced_composition(epsilon: Number, delta: Number, k: int, slack: Number) -> tuple[float, Fraction]:
    """k times (ε, δ) is (ε√(2k ln 1/δ′) + kε(e^ε − 1), kδ + δ′), for any slack 0 < δ′ < 1.

    Dwork, Rothblum and Vadhan 2010, theorem III.3. `optimal_epsilon` is never above it.

    >>> from math import sqrt, log, exp
    >>> epsilon, delta = advanced_composition(0.1, 0, 100, 1e-6)
    >>> abs(epsilon - (0.1 * sqrt(200 * log(1e6)) + 10 * (exp(0.1) - 1))) < 1e-14, delta
    (True, Fraction(1, 1000000))
    """
    e, d, k = nonnegative(epsilon, "epsilon"), probability(delta, "delta"), whole(k, "k", least=1)
    more = _open_probability(slack, "slack")
    total = min(ONE, k * d + more)
    if e > EXP_LIMIT:
        return inf, total
    return to_float_up(e * sqrt_up(2 * k * log_up(1 / more)) + k * e * _expm1_up(e)), total


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
    `advanced_composition`.

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
    """The least δ at total ε = target of different (ε, δ), from above, to 1e-6 of it where `optimal_mixed_epsilon` is.

    Murtagh and Vadhan 2016, theorem 1.5; floats with a slack that `optimal.Mixed` states.

    >>> optimal_mixed_delta([(0.5, 0)] * 8, 2.2) == optimal_delta(0.5, 8, 2.2)
    True
    """
    pairs, total = _pairs(parts), nonnegative(target, "target")
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
    floats with a slack that `optimal.Mixed` states, while half of the mechanisms have at most 2^14 sums of losses (28 different ones, or
    thousands of a few kinds); else an upper bound, to an estimated 1e-6 of it.

    >>> optimal_mixed_epsilon([(0.1, 0)] * 50 + [(0.2, 0)] * 50, 1e-6)
    7.990321025875588
    """
    pairs, total = _pairs(parts), probability(target, "target")
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


# Groups.


def group_epsilon(epsilon: Number, k: int) -> Fraction:
    """The ε of k people together, kε. Exact. Dwork, McSherry, Nissim and Smith 2006.

    >>> group_epsilon(0.1, 3)
    Fraction(3, 10)
    """
    return nonnegative(epsilon, "epsilon") * whole(k, "k", least=1)


def group_delta(epsilon: Number, delta: Number, k: int) -> float:
    """The δ of k people together, at kε: δ (e^(kε) − 1)/(e^ε − 1), and kδ at ε = 0; at most 1.

    It is the sum δ (1 + e^ε + … + e^((k−1)ε)) over k steps from one data set to the other, each changing one person.

    >>> from math import exp
    >>> abs(group_delta(0.5, 1e-6, 4) / (1e-6 * (exp(2) - 1) / (exp(0.5) - 1)) - 1) < 1e-15, group_delta(0, 1e-6, 4)
    (True, 4e-06)
    """
    e, d, k = nonnegative(epsilon, "epsilon"), probability(delta, "delta"), whole(k, "k", least=1)
    if d == 0 or k == 1:
        return to_float_up(d)
    if k * e > EXP_LIMIT:
        return 1.0
    return to_float_up(min(ONE, d * (_expm1_up(k * e) / _expm1_down(e) if e else k)))


def group_delta_short(epsilon: Number, delta: Number, k: int) -> float:
    """The same from above: k e^((k−1)ε) δ, the largest of the k terms k times; at most 1.

    >>> group_delta(0.5, 1e-6, 4) < group_delta_short(0.5, 1e-6, 4) < group_delta_shortest(0.5, 1e-6, 4)
    True
    """
    return _group_bound(epsilon, delta, k, 1)


def group_delta_shortest(epsilon: Number, delta: Number, k: int) -> float:
    """The same from further above: k e^(kε) δ; at most 1. Vadhan 2017, lemma 2.2.

    >>> from math import exp
    >>> abs(group_delta_shortest(0.5, 1e-6, 4) / (4e-6 * exp(2)) - 1) < 1e-15
    True
    """
    return _group_bound(epsilon, delta, k, 0)


def _group_bound(epsilon: Number, delta: Number, k: int, saved: int) -> float:
    e, d, k = nonnegative(epsilon, "epsilon"), probability(delta, "delta"), whole(k, "k", least=1)
    if d == 0:
        return 0.0
    power = (k - saved) * e
    return 1.0 if power > EXP_LIMIT else to_float_up(min(ONE, k * exp_up(power) * d))


# Pure and approximate privacy.


def pure_delta(epsilon: Number, target: Number) -> float:
    """The least δ at ε = target of any ε-private mechanism: (e^ε − e^target)₊ / (1 + e^ε), that of randomised response.

    Kairouz, Oh and Viswanath 2015, k = 1.

    >>> from math import exp
    >>> abs(pure_delta(1, 0.3) - (exp(1) - exp(0.3)) / (1 + exp(1))) < 1e-15, pure_delta(1, 1)
    (True, 0.0)
    """
    return approximate_delta(epsilon, 0, target)


def pure_epsilon(epsilon: Number, target: Number) -> float:
    """The least ε at δ = target of any ε-private mechanism: ln(e^ε − target (1 + e^ε)), or 0.

    >>> pure_epsilon(1, 0), round(pure_epsilon(1, pure_delta(1, 0.3)), 12), pure_epsilon(1, 0.5)
    (1.0, 0.3, 0.0)
    """
    return approximate_epsilon(epsilon, 0, target)


def approximate_delta(epsilon: Number, delta: Number, target: Number) -> float:
    """The least δ′ at ε′ = target of any (ε, δ)-private mechanism: δ + (1−δ)(e^ε − e^target)₊ / (1 + e^ε).

    Kairouz, Oh and Viswanath 2015, k = 1.

    >>> from math import exp
    >>> abs(approximate_delta(1, 0.01, 0) - (0.01 + 0.99 * (exp(1) - 1) / (1 + exp(1)))) < 1e-15
    True
    """
    e, d, to = nonnegative(epsilon, "epsilon"), probability(delta, "delta"), nonnegative(target, "target")
    if to >= e:
        return to_float_up(d)
    response = _fall_up(e - to) / (1 + exp_down(-e))
    return to_float_up(d + (1 - d) * min(ONE, response))


def approximate_epsilon(epsilon: Number, delta: Number, target: Number) -> float:
    """The least ε′ at δ′ = target of any (ε, δ)-private mechanism: ln(e^ε − t (1 + e^ε)), t = (target−δ)/(1−δ), or 0.

    Infinity for a target below δ.

    >>> approximate_epsilon(1, 1e-6, 1e-6), approximate_epsilon(1, 1e-6, 1e-7), approximate_epsilon(1, 1e-6, 0.5)
    (1.0, inf, 0.0)
    """
    e, d, to = nonnegative(epsilon, "epsilon"), probability(delta, "delta"), probability(target, "target")
    if to < d:
        return inf
    if e == 0 or to == 1:
        return 0.0
    left = 1 - (to - d) / (1 - d) * (1 + exp_down(-e, 128))
    return to_float_up(max(ZERO, e + min(ZERO, log_up(left, 128)))) if left > 0 else 0.0


# Zero-concentrated privacy.


def pure_rho(epsilon: Number) -> Fraction:
    """ε-private is ρ-zCDP with ρ = ε tanh(ε/2), at most ε²/2; rounded up to 64 digits.

    Bun and Steinke 2016 have ε²/2. The best ρ: by Kairouz, Oh and Viswanath randomised response is the worst case, and its Rényi
    divergence of order α, divided by α, is (h(s) − h(1/4))/(s − 1/4) with s = (α − 1/2)² and h(s) = ln cosh(ε√s). As (tanh x)/x falls,
    h is concave, so that quotient is largest for s → 1/4, α → 1: h′(1/4) = ε tanh(ε/2).

    >>> from math import tanh
    >>> float(pure_rho(1)) == tanh(0.5), pure_rho(1e-9) < 0.5e-18
    (True, True)
    """
    e = nonnegative(epsilon, "epsilon")
    if e == 0:
        return ZERO
    fall = exp_down(-e, _enough(e))
    return round_up(min(e * (1 - fall) / (1 + fall), e * e / 2))


def laplace_rho(epsilon: Number) -> Fraction:
    """Laplace noise of scale Δ/ε on a value of sensitivity Δ is ρ-zCDP with ρ = ε + e^-ε − 1; rounded up to 64 digits.

    Harrison and Manurangsi 2025. As for `pure_rho`, with h(s) = ln(cosh(ε√s) + sinh(ε√s)/(2√s)). That is the logarithm of an entire
    function of s of order 1/2, whose zeros are the eigenvalues of y″ = s y, y′(0) = y(0)/2, y(ε) = 0: real, and negative as the function is
    positive for s >= 0. So it is a product of factors 1 + s/|sᵢ|, and h is concave. The limit α → 1 is the Kullback–Leibler divergence.
    It is for continuous noise: noise on integers with Δ = 1 is randomised response, so `pure_rho`.

    >>> from math import exp
    >>> abs(float(laplace_rho(1)) - exp(-1)) < 1e-15, laplace_rho(1) < pure_rho(1)
    (True, True)
    """
    e = nonnegative(epsilon, "epsilon")
    return round_up(e + exp_up(-e, _enough(e)) - 1) if e else ZERO


def gaussian_rho(mu: Number) -> Fraction:
    """Gaussian noise of standard deviation Δ/μ on a value of L2 sensitivity Δ is μ²/2-zCDP. Exact.

    Bun and Steinke 2016, proposition 1.6; and so is discrete Gaussian noise (Canonne, Kamath and Steinke 2020, theorem 4).

    >>> gaussian_rho(0.2)
    Fraction(1, 50)
    """
    return nonnegative(mu, "mu") ** 2 / 2


def zcdp_delta(rho: Number, epsilon: Number) -> float:
    """ρ-zCDP is (ε, δ)-private with δ = min over α > 1 of e^((α−1)(αρ−ε)) (1 − 1/α)^α / (α−1).

    Canonne, Kamath and Steinke 2020, corollary 13. Any α gives a valid δ, so the best one may come from floats, where
    (2α−1)ρ + ln(1 − 1/α) = ε; the formula is then evaluated in brackets.

    >>> from math import exp
    >>> terms = [exp((a - 1) * (0.02 * a - 1)) * (1 - 1 / a) ** a / (a - 1) for a in (26, 26.46, 27)]
    >>> 0.99999 * min(terms) < zcdp_delta(0.02, 1) < min(terms)
    True
    """
    r, e = nonnegative(rho, "rho"), nonnegative(epsilon, "epsilon")
    return to_float_up(_zcdp_delta_up(r, e))


def zcdp_implies(rho: Number, epsilon: Number, delta: Number) -> bool:
    """Whether ρ-zCDP is (ε, δ)-private by `zcdp_delta`, compared before any rounding to a float.

    >>> rho = zcdp_rho(1, 1e-7)
    >>> zcdp_implies(rho, 1, 1e-7), zcdp_implies(rho * (1 + Fraction(1, 10**15)), 1, 1e-7)
    (True, False)
    """
    r, e = nonnegative(rho, "rho"), nonnegative(epsilon, "epsilon")
    return _zcdp_delta_up(r, e) <= probability(delta, "delta")


def zcdp_epsilon(rho: Number, delta: Number) -> float:
    """ρ-zCDP is (ε, δ)-private with ε = min over α > 1 of αρ + ln(1 − 1/α) + ln(1/(αδ))/(α−1), or 0.

    Canonne, Kamath and Steinke 2020, corollary 13; the best α has (α−1)²ρ + ln α = ln 1/δ.

    >>> round(zcdp_epsilon(0.02, zcdp_delta(0.02, 1)), 12), zcdp_epsilon(0.02, 0), zcdp_epsilon(0, 0)
    (1.0, inf, 0.0)
    """
    r, d = nonnegative(rho, "rho"), probability(delta, "delta")
    if r == 0 or d == 1:
        return 0.0
    if d == 0:
        return inf
    reach = -float(log_up(d))
    beta = _rising_root(lambda b: b * b * _about(r) + log1p(b) - reach)
    return to_float_up(max(ZERO, _renyi_epsilon_up(1 + beta, (1 + beta) * r, d)))


def zcdp_rho(epsilon: Number, delta: Number) -> Fraction:
    """The largest ρ such that ρ-zCDP is (ε, δ)-private by `zcdp_epsilon`, rounded down to 58 digits.

    At the best α, ρ = (ln 1/δ − ln α)/(α−1)² and ε = (2α−1)ρ + ln(1 − 1/α).

    >>> float(zcdp_rho(1, 1e-7)), zcdp_rho(1, 0)
    (0.020187132441824948, Fraction(0, 1))
    """
    e, d = nonnegative(epsilon, "epsilon"), probability(delta, "delta")
    if d == 1:
        raise Invalid("delta must be below 1: at 1 there is no largest rho")
    if d == 0:
        return ZERO
    reach = -float(log_up(d))

    def short(b: float) -> float:
        return _about(e) - (2 * b + 1) * (reach - log1p(b)) / b / b + log1p(1 / b)

    beta = _rising_root(short)
    alpha, bits = 1 + beta, _enough(beta, 256)
    rho = (e - _renyi_epsilon_up(alpha, ZERO, d, bits)) / alpha
    return round_down(rho * (1 - Fraction(1, 1 << 59)), 59) if rho > 0 else ZERO


def _zcdp_delta_up(r: Fraction, e: Fraction) -> Fraction:
    if r == 0:
        return ZERO
    beta = _rising_root(lambda b: (2 * b + 1) * _about(r) - log1p(1 / b) - _about(e))
    return _renyi_delta_up(1 + beta, (1 + beta) * r, e)


# Rényi privacy.


def renyi_delta(order: Number, rdp: Number, epsilon: Number) -> float:
    """Rényi divergence at most r at order α gives (ε, δ) with δ = e^((α−1)(r−ε)) (1 − 1/α)^α / (α−1); at most 1.

    Canonne, Kamath and Steinke 2020, proposition 12; Balle et al. 2020, theorem 21.

    >>> from math import exp
    >>> abs(renyi_delta(8, 0.5, 2) / (exp(7 * (0.5 - 2)) * (7 / 8) ** 8 / 7) - 1) < 1e-14
    True
    """
    a, r = _order(order), nonnegative(rdp, "rdp")
    return to_float_up(_renyi_delta_up(a, r, nonnegative(epsilon, "epsilon")))


def renyi_epsilon(order: Number, rdp: Number, delta: Number) -> float:
    """Rényi divergence at most r at order α gives (ε, δ) with ε = r + ln(1 − 1/α) − ln(αδ)/(α−1), or 0.

    Canonne, Kamath and Steinke 2020, proposition 12; Balle et al. 2020, theorem 21.

    >>> from math import log
    >>> abs(renyi_epsilon(8, 0.5, 1e-6) - (0.5 + log(7 / 8) - log(8e-6) / 7)) < 1e-14, renyi_epsilon(8, 0.5, 0)
    (True, inf)
    """
    a, r, d = _order(order), nonnegative(rdp, "rdp"), probability(delta, "delta")
    return to_float_up(max(ZERO, _renyi_epsilon_up(a, r, d))) if d else inf


def _renyi_delta_up(alpha: Fraction, r: Fraction, e: Fraction) -> Fraction:
    beta, bits = alpha - 1, _enough(alpha - 1, 128)
    (_, high), (low, _) = log_bounds(beta, bits), log_bounds(alpha, bits)
    exponent = beta * (r - e + high - low) - low  # (1 − 1/α)^α / (α−1) = (1 − 1/α)^(α−1) / α
    return ONE if exponent >= 0 else min(ONE, exp_up(exponent, 128))


def _renyi_epsilon_up(alpha: Fraction, r: Fraction, d: Fraction, bits: int = 0) -> Fraction:
    beta, bits = alpha - 1, bits or _enough(alpha - 1, 128)
    (_, high), (low, _) = log_bounds(beta, bits), log_bounds(alpha, bits)
    return r + high - low - (log_bounds(d, bits)[0] + low) / beta


def _order(order: object) -> Fraction:
    alpha = rational(order, "order")
    if alpha <= 1:
        raise Invalid(f"order must be greater than 1, got {shown(order)}")
    return alpha


def _rising_root(f: Callable[[float], float]) -> Fraction:
    """Where a rising function of b > 0 crosses 0: between 2^-1020 and 2^1020, in floats. Any result is a valid order, less 1."""
    low, high = -1020.0, 1020.0
    for _ in range(70):
        middle = (low + high) / 2
        low, high = (middle, high) if f(2.0**middle) < 0 else (low, middle)
    return Fraction(2.0**low)


def _about(x: Fraction) -> float:
    """A float near x, or 1e300 where x is larger."""
    return float(min(x, Fraction(10**300)))


# Gaussian privacy.


GAUSSIAN_SLACK = 1e-11
"""What the floats of `gaussian_delta` may lose, as a share of the result.

The exponent is at most 1,800 in size, and wrong by 2^-53 of that: 2e-13. erfcx is right to a few units of 2^-53; the difference of two, or
2/√π − 2x erfcx(x), for x up to 43, loses at most 4,000 times as much: 2e-12.
"""


def gaussian_delta(mu: Number, epsilon: Number) -> float:
    """μ-Gaussian privacy is (ε, δ)-private with δ = Φ(−ε/μ + μ/2) − e^ε Φ(−ε/μ − μ/2), at every ε >= 0.

    Balle and Wang 2018, theorem 8; Dong, Roth and Su 2022, corollary 2.13. μ = Δ/σ for Gaussian noise. With a = ε/μ − μ/2 both terms share
    e^(−a²/2): δ = e^(−a²/2)/2 (erfcx(a/√2) − erfcx((a+μ)/√2)); no e^ε that overflows. Floats, with GAUSSIAN_SLACK added.

    >>> round(gaussian_delta(1 / 3.7306, 1) * 1e5, 3), round(gaussian_delta(1, 0), 10)  # at 0: 2Φ(μ/2) − 1
    (1.0, 0.3829249226)
    """
    m, e = nonnegative(mu, "mu"), nonnegative(epsilon, "epsilon")
    return _gaussian_delta_up(m, e) if m else 0.0


def _gaussian_delta_up(m: Fraction, e: Fraction) -> float:
    a = e / m - m / 2
    if a > 60:
        return nextafter(0.0, 1.0)  # Φ(−60) < 2^-1074
    if a < -60:
        return 1.0
    delta = exp(gaussian_log_gap(float(a) / sqrt(2), _about(m) / sqrt(2)))
    return min(1.0, delta * (1 + GAUSSIAN_SLACK) + 2.0**-1070)  # 16 units, where floats have no digits left


def gaussian_epsilon(mu: Number, delta: Number) -> float:
    """The least ε such that μ-Gaussian privacy is (ε, δ)-private; infinity at δ = 0. Floats, from above, to 1e-11.

    >>> round(gaussian_epsilon(1 / 3.7306, 1e-5), 3), gaussian_epsilon(1, 0.5), gaussian_epsilon(1, 0)
    (1.0, 0.0, inf)
    """
    m, d = nonnegative(mu, "mu"), probability(delta, "delta")
    if m == 0 or d == 1:
        return 0.0
    if d == 0:
        return inf

    def met(epsilon: float) -> bool:
        return _gaussian_delta_up(m, rational(epsilon, "epsilon")) <= d

    if met(0.0):
        return 0.0
    high = to_float_up(m * (m / 2 + sqrt_up(2 * log_up(1 / d))))  # since Φ(−x) <= e^(−x²/2)/2
    return _least(met, high) if high < inf and met(high) else high


def gaussian_mu(epsilon: Number, delta: Number) -> Fraction:
    """The largest μ such that μ-Gaussian privacy is (ε, δ)-private; 0 at δ = 0. Floats, from below, to 1e-11.

    Gaussian noise of standard deviation Δ/μ is then (ε, δ)-private (Balle and Wang 2018).

    >>> round(1 / float(gaussian_mu(1, 1e-5)), 4), round(float(gaussian_mu(0, 0.1)), 6)
    (3.7306, 0.251323)
    """
    e, d = nonnegative(epsilon, "epsilon"), probability(delta, "delta")
    if d == 1:
        raise Invalid("delta must be below 1: at 1 there is no largest mu")
    if d == 0:
        return ZERO

    def met(sigma: float) -> bool:
        return _gaussian_delta_up(1 / rational(sigma, "sigma"), e) <= d

    reach = 2 * log_up(1 / d)
    mu = max(
        2 * d, 2 * e / (sqrt_up(reach) + sqrt_up(reach + 2 * e))
    )  # since δ <= δ(0) < μ/2; and as in gaussian_epsilon
    high = to_float_up(1 / mu)
    return 1 / rational(_least(met, high), "sigma") if high < inf and met(high) else mu


def _least(met: Callable[[float], bool], high: float) -> float:
    """The least x > 0 with met(x), to 2^-50 of it; met holds at `high` and from some x on, and holds at the result."""
    low = high / 2
    while low > 1e-300 and met(low):
        low, high = low / 2, low
    if low <= 1e-300:
        return high
    while high - low > high * 2.0**-50:
        middle = (low + high) / 2
        low, high = (low, middle) if met(middle) else (middle, high)
    return high


# The Bayesian reading.


def bayes_success(epsilon: Number, delta: Number = 0) -> float:
    """The largest probability to guess which of two neighbours it was, both as likely before: (e^ε + δ)/(1 + e^ε).

    Wasserman and Zhou 2010; Kairouz, Oh and Viswanath 2015. For pure ε it is also the largest posterior probability, e^ε/(1 + e^ε);
    for δ > 0 there is none but 1.

    >>> from math import exp
    >>> abs(bayes_success(1) - exp(1) / (1 + exp(1))) < 1e-15, bayes_success(0, 0.01)
    (True, 0.505)
    """
    e, d = nonnegative(epsilon, "epsilon"), probability(delta, "delta")
    fall = exp_down(-e)
    return to_float_up((1 + d * fall) / (1 + fall))


# Arguments.


def _pairs(parts: Iterable[tuple[Number, Number]]) -> list[tuple[Fraction, Fraction]]:
    return [_pair(part) for part in parts]


def _pair(part: object) -> tuple[Fraction, Fraction]:
    if not isinstance(part, tuple) or len(part) != 2:
        raise Invalid(f"each part must be a pair (epsilon, delta), got {shown(part)}")
    return nonnegative(part[0], "epsilon"), probability(part[1], "delta")


def _open_probability(value: object, name: str) -> Fraction:
    number = probability(value, name)
    if number in (0, 1):
        raise Invalid(f"{name} must be strictly between 0 and 1, got {shown(value)}")
    return number


def _enough(x: Fraction, bits: int = 64) -> int:
    """Digits after the point that leave `bits` of them when numbers of the size of x, or 1/x, cancel."""
    return bits + 2 * abs(x.numerator.bit_length() - x.denominator.bit_length())


def _expm1_up(x: Fraction) -> Fraction:
    return exp_up(x, _enough(x)) - 1


def _expm1_down(x: Fraction) -> Fraction:
    return exp_down(x, _enough(x)) - 1


def _fall_up(x: Fraction) -> Fraction:
    """1 − e^-x, from above."""
    return 1 - exp_down(-x, _enough(x))
