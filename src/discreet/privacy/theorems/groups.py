"""Group privacy: what holds for k people together when it holds for each of them."""

from fractions import Fraction

from discreet.exact import EXP_LIMIT, Number, exp_up, nonnegative, probability, to_float_up, whole
from discreet.privacy.theorems.rounding import expm1_down, expm1_up

ONE = Fraction(1)


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
    return to_float_up(min(ONE, d * (expm1_up(k * e) / expm1_down(e) if e else k)))


def group_delta_short(epsilon: Number, delta: Number, k: int) -> float:
    """The δ of k people together is at most k e^((k−1)ε) δ, the largest of the k terms k times; at most 1.

    >>> group_delta(0.5, 1e-6, 4) < group_delta_short(0.5, 1e-6, 4) < group_delta_shortest(0.5, 1e-6, 4)
    True
    """
    return _group_bound(epsilon, delta, k, 1)


def group_delta_shortest(epsilon: Number, delta: Number, k: int) -> float:
    """The δ of k people together is at most k e^(kε) δ, a little more; at most 1. Vadhan 2017, lemma 2.2.

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


def group_rho(rho: Number, k: int) -> Fraction:
    """The ρ of k people together under zero-concentrated privacy, k²ρ. Exact. Bun and Steinke 2016, proposition 1.9.

    >>> group_rho(0.02, 3)
    Fraction(9, 50)
    """
    return nonnegative(rho, "rho") * whole(k, "k", least=1) ** 2


def group_mu(mu: Number, k: int) -> Fraction:
    """The μ of k people together under Gaussian privacy, kμ. Exact. Dong, Roth and Su 2022, theorem 2.14.

    >>> group_mu(0.2, 3)
    Fraction(3, 5)
    """
    return nonnegative(mu, "mu") * whole(k, "k", least=1)
