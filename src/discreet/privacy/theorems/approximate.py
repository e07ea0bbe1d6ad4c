"""Pure and approximate privacy at another ε or δ than the stated one."""

from fractions import Fraction
from math import inf

from discreet.exact import Number, exp_down, log_up, nonnegative, probability, to_float_up
from discreet.privacy.theorems.rounding import fall_up

ZERO, ONE = Fraction(0), Fraction(1)


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
    response = fall_up(e - to) / (1 + exp_down(-e))
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
