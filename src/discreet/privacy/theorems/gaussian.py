"""Gaussian privacy: as hard to attack as telling two normal distributions a distance of μ standard deviations apart."""

from fractions import Fraction
from math import erf, exp, inf, log, log1p, nextafter, sqrt, tanh

import numpy as np

from discreet.errors import Invalid
from discreet.exact import Number, log_up, nonnegative, probability, rational, sqrt_up, to_float_up
from discreet.privacy.numeric.closed import gaussian_log_gap
from discreet.privacy.numeric.special import erfcx
from discreet.privacy.theorems.search import about, first_met

ZERO = Fraction(0)

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
    delta = exp(gaussian_log_gap(float(a) / sqrt(2), about(m) / sqrt(2)))
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
    return first_met(met, high) if high < inf and met(high) else high


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
    mu = max(2 * d, 2 * e / (sqrt_up(reach) + sqrt_up(reach + 2 * e)))  # as δ <= δ(0) < μ/2; and as in gaussian_epsilon
    high = to_float_up(1 / mu)
    return 1 / rational(first_met(met, high), "sigma") if high < inf and met(high) else mu


def pure_mu(epsilon: Number) -> float:
    """The least μ such that every ε-private mechanism is μ-Gaussian private: Φ(μ/2) = e^ε/(1 + e^ε). Floats, from above, to 2e-11.

    The two error rates of an attacker on ε-randomised response lie on two straight lines, which meet where both are 1/(1 + e^ε); on N(0, 1)
    against N(μ, 1) they lie on a convex curve, through Φ(−μ/2) for both. With this μ it meets the lines there and at their ends, so
    it is nowhere above them (Dong, Roth and Su 2022, for error rates as the definition of Gaussian privacy).

    >>> from statistics import NormalDist
    >>> from math import exp
    >>> abs(pure_mu(1) - 2 * NormalDist().inv_cdf(exp(1) / (1 + exp(1)))) < 1e-10, pure_mu(0)
    (True, 0.0)
    """
    e = nonnegative(epsilon, "epsilon")
    if e == 0:
        return 0.0
    high = to_float_up(2 * sqrt_up(2 * e))  # since Φ(−x) <= e^(−x²/2)/2
    return first_met(lambda mu: _covers_pure(mu, e), high) if high < 1e100 and _covers_pure(high, e) else high


def _covers_pure(mu: float, e: Fraction) -> bool:
    """Whether Φ(−μ/2) <= 1/(1 + e^ε), or equally erf(μ/√8) >= tanh(ε/2); not where floats cannot tell."""
    x = mu / sqrt(8)
    if e < 1:
        return erf(x) * (1 - GAUSSIAN_SLACK) >= tanh(to_float_up(e) / 2)
    log_tail = log(float(erfcx(np.array([x]))[0]) / 2) - x * x  # of a size of at least 1, and wrong by 2^-48 of it
    return log_tail * (1 - GAUSSIAN_SLACK) <= -float(e) - log1p(exp(-float(e)))
