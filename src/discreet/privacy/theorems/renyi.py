"""Rényi privacy of one order α > 1: the divergence of P from Q, ln E_Q[(P/Q)^α]/(α−1), is at most r in both directions."""

from fractions import Fraction
from math import exp, expm1, inf, log, log1p

from discreet.errors import Invalid
from discreet.exact import (
    EXP_LIMIT,
    Number,
    exp_down,
    exp_up,
    log_bounds,
    log_down,
    log_up,
    nonnegative,
    probability,
    rational,
    shown,
    to_float_up,
)
from discreet.privacy.theorems.rounding import enough, fall_up
from discreet.privacy.theorems.search import about, first_met, rising_root

ZERO, ONE = Fraction(0), Fraction(1)


def pure_rdp(epsilon: Number, order: Number) -> float:
    """The largest Rényi divergence of order α of any ε-private mechanism: ε + ln((1 + e^(−(2α−1)ε))/(1 + e^-ε))/(α−1).

    That of randomised response (Mironov 2017, proposition 5), which is the worst case by Kairouz, Oh and Viswanath 2015.

    >>> from math import exp, log
    >>> abs(pure_rdp(1, 3) - log((exp(3) + exp(-2)) / (1 + exp(1))) / 2) < 1e-15
    True
    """
    e, a = nonnegative(epsilon, "epsilon"), _order(order)
    if e == 0:
        return 0.0
    bits = enough(min(ONE, e), enough(min(ONE, a - 1), 128))
    share = (1 + exp_up((1 - 2 * a) * e, bits)) / (1 + exp_down(-e, bits))
    return to_float_up(min(e, a * e * e / 2, e + log_up(share, bits) / (a - 1)))


def renyi_delta(order: Number, rdp: Number, epsilon: Number) -> float:
    """Rényi divergence at most r at order α gives (ε, δ) with δ = e^((α−1)(r−ε)) (1 − 1/α)^α / (α−1); at most 1.

    Canonne, Kamath and Steinke 2020, proposition 12; Balle et al. 2020, theorem 21. `renyi_least_delta` is never above it.

    >>> from math import exp
    >>> abs(renyi_delta(8, 0.5, 2) / (exp(7 * (0.5 - 2)) * (7 / 8) ** 8 / 7) - 1) < 1e-14
    True
    """
    a, r = _order(order), nonnegative(rdp, "rdp")
    return to_float_up(renyi_delta_up(a, r, nonnegative(epsilon, "epsilon")))


def renyi_epsilon(order: Number, rdp: Number, delta: Number) -> float:
    """Rényi divergence at most r at order α gives (ε, δ) with ε = r + ln(1 − 1/α) − ln(αδ)/(α−1), or 0.

    Canonne, Kamath and Steinke 2020, proposition 12; Balle et al. 2020, theorem 21.

    >>> from math import log
    >>> abs(renyi_epsilon(8, 0.5, 1e-6) - (0.5 + log(7 / 8) - log(8e-6) / 7)) < 1e-14, renyi_epsilon(8, 0.5, 0)
    (True, inf)
    """
    a, r, d = _order(order), nonnegative(rdp, "rdp"), probability(delta, "delta")
    return to_float_up(max(ZERO, renyi_epsilon_up(a, r, d))) if d else inf


def renyi_least_delta(order: Number, rdp: Number, epsilon: Number) -> float:
    """The least δ with P(A) <= e^ε Q(A) + δ for all A that follows from the divergence r of P from Q at order α alone.

    Asoodeh, Liao, Calmon, Kosut and Sankar 2021. The worst P and Q have two outputs. Where r >= ε + ln(α/(α−1)) it is 1 − e^(ε−r). Else,
    with the δ₀ of `renyi_delta` and D = (1+v)^s − v^s, s = 1 − 1/α, it is the minimum over v >= 0 of δ₀ D^-α + e^ε v − v^s/D: the dual of
    maximising P(A) − e^ε Q(A), and δ₀ itself at v = 0. Any v gives a valid δ, so the best one may come from floats; the formula is then
    evaluated in brackets. A divergence below 1e-9 is taken for 1e-9. At order 2, where e^r − 1 is the χ² divergence x, the minimum is
    (√(x + c²) − c)/2 with c = e^ε − 1.

    >>> from math import exp, sqrt
    >>> x, c = exp(0.001) - 1, exp(0.1) - 1
    >>> abs(renyi_least_delta(2, 0.001, 0.1) / ((sqrt(x + c * c) - c) / 2) - 1) < 1e-12
    True
    >>> round(renyi_least_delta(2, 0.001, 0.1), 6), round(renyi_delta(2, 0.001, 0.1), 6)
    (0.002327, 0.226436)
    """
    a, r = _order(order), nonnegative(rdp, "rdp")
    return to_float_up(_least_delta_up(a, r, nonnegative(epsilon, "epsilon")))


def renyi_least_epsilon(order: Number, rdp: Number, delta: Number) -> float:
    """The least ε at δ that follows from the divergence r at order α alone: the inverse of `renyi_least_delta`.

    For δ >= 1/α it is r + ln(1−δ), or 0. Infinity at δ = 0, unless r = 0.

    >>> from math import log
    >>> round(renyi_least_epsilon(2, 0.001, renyi_least_delta(2, 0.001, 0.1)), 12)
    0.1
    >>> abs(renyi_least_epsilon(4, 2, 0.5) - (2 + log(0.5))) < 1e-15
    True
    """
    a, r, d = _order(order), nonnegative(rdp, "rdp"), probability(delta, "delta")
    if r == 0 or d == 1:
        return 0.0
    if d == 0:
        return inf
    if a * d >= 1:
        return to_float_up(max(ZERO, r + log_up(1 - d)))

    def met(epsilon: float) -> bool:
        return _least_delta_up(a, r, rational(epsilon, "epsilon")) <= d

    if met(0.0):
        return 0.0
    simple, high = to_float_up(renyi_epsilon_up(a, r, d)), to_float_up(max(r, LEAST_RDP))
    while high < simple and not met(high):
        high *= 2
    return first_met(met, high) if high < simple else simple


def renyi_delta_up(alpha: Fraction, r: Fraction, e: Fraction) -> Fraction:
    """`renyi_delta`, not yet rounded to a float."""
    exponent = _log_delta_up(alpha, r, e, 128)
    return ONE if exponent >= 0 else min(ONE, exp_up(exponent, 128))


def renyi_epsilon_up(alpha: Fraction, r: Fraction, d: Fraction, bits: int = 128) -> Fraction:
    """`renyi_epsilon`, not yet rounded to a float; it may be negative."""
    beta = alpha - 1
    fine = enough(min(ONE, beta), bits)
    return r - _log_order_ratio(alpha, bits) - (log_down(d, fine) + log_down(alpha, fine)) / beta


def _log_delta_up(alpha: Fraction, r: Fraction, e: Fraction, bits: int) -> Fraction:
    """ln of δ₀ = e^((α−1)(r−ε)) (1 − 1/α)^(α−1) / α."""
    return (alpha - 1) * (r - e - _log_order_ratio(alpha, bits)) - log_down(alpha, bits)


def _log_order_ratio(alpha: Fraction, bits: int) -> Fraction:
    """ln(α/(α−1)) from below, to `bits` digits also after a multiplication by α − 1."""
    return log_down(alpha / (alpha - 1), enough(max(ONE, alpha - 1), bits))


def _least_delta_up(alpha: Fraction, r: Fraction, e: Fraction) -> Fraction:
    if r == 0:
        return ZERO
    if r >= e + log_up(alpha / (alpha - 1)):
        return fall_up(r - e)
    simple = renyi_delta_up(alpha, r, e)
    if e > EXP_LIMIT or not 1 / ORDER_LIMIT <= alpha - 1 <= ORDER_LIMIT:
        return simple
    r = max(r, LEAST_RDP)
    v = _best_dual(alpha, r, e)
    found, bits = simple, 128
    while bits <= 512:  # until more digits no longer help
        before, found = found, min(found, _dual_up(alpha, r, e, v, bits))
        if bits > 128 and before - found <= before / (1 << 54):
            break
        bits *= 2
    return max(ZERO, found)


ORDER_LIMIT = Fraction(10**9)
"""With α − 1 above this, or below its inverse, the two least functions do not look for more than `renyi_delta` gives."""

LEAST_RDP = Fraction(1, 10**9)
"""A smaller divergence is taken for this one: below it floats no longer find the best v."""


def _dual_up(alpha: Fraction, r: Fraction, e: Fraction, v: Fraction, bits: int) -> Fraction:
    """δ₀ D^-α + e^ε v − v^s/D from above, with w = (1 + 1/v)^s, D = v^s (w − 1) and v^s/D = 1/(w − 1)."""
    s, fine = 1 - 1 / alpha, enough(alpha - 1, enough(max(ONE, v), bits))
    low, high = log_bounds(1 + 1 / v, fine)
    w_down, w_up = exp_down(s * low, fine), exp_up(s * high, fine)
    log_d = s * log_down(v, fine) + log_down(w_down - 1, fine)
    exponent = _log_delta_up(alpha, r, e, fine) - alpha * log_d
    if exponent > EXP_LIMIT:
        return ONE
    return exp_up(exponent, fine) + exp_up(e, fine) * v - 1 / (w_up - 1)


def _best_dual(alpha: Fraction, r: Fraction, e: Fraction) -> Fraction:
    """The v of the least dual value, in floats: where its derivative, a rising function, is 0.

    The derivative is (α−1) δ₀ D^(−α−1) v^(s−1) (1 − (1 + 1/v)^(−1/α)) + e^ε − s w/(v (1+v) (w−1)²).
    """
    a, s = float(alpha), float(1 - 1 / alpha)
    log_first = log(float(alpha - 1)) + float(_log_delta_up(alpha, r, e, 64))
    rise = about(e)

    def slope(v: float) -> float:
        up = log1p(1 / v)
        log_gap = log(expm1(s * up))  # of w − 1
        log_d = s * log(v) + log_gap
        first = log_first - (a + 1) * log_d - log(v) / a + log(-expm1(-up / a))
        last = log(s) + s * up - log(v) - log1p(v) - 2 * log_gap
        return max(first, rise) + log1p(exp(-abs(first - rise))) - last

    return min(rising_root(slope), Fraction(2**64))


def _order(order: object) -> Fraction:
    alpha = rational(order, "order")
    if alpha <= 1:
        raise Invalid(f"order must be greater than 1, got {shown(order)}")
    return alpha
