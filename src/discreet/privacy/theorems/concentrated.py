"""Zero-concentrated privacy: what mechanisms have of it, and what it is as (ε, δ)."""

from fractions import Fraction
from math import inf, log1p

from discreet.errors import Invalid
from discreet.exact import Number, exp_down, exp_up, log_up, nonnegative, probability, round_down, round_up, to_float_up
from discreet.privacy.theorems.renyi import renyi_delta_up, renyi_epsilon_up
from discreet.privacy.theorems.rounding import enough
from discreet.privacy.theorems.search import about, rising_root

ZERO = Fraction(0)


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
    fall = exp_down(-e, enough(e))
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
    return round_up(e + exp_up(-e, enough(e)) - 1) if e else ZERO


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
    beta = rising_root(lambda b: b * b * about(r) + log1p(b) - reach)
    return to_float_up(max(ZERO, renyi_epsilon_up(1 + beta, (1 + beta) * r, d)))


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
        return about(e) - (2 * b + 1) * (reach - log1p(b)) / b / b + log1p(1 / b)

    beta = rising_root(short)
    rho = (e - renyi_epsilon_up(1 + beta, ZERO, d, 256)) / (1 + beta)
    return round_down(rho * (1 - Fraction(1, 1 << 59)), 59) if rho > 0 else ZERO


def _zcdp_delta_up(r: Fraction, e: Fraction) -> Fraction:
    if r == 0:
        return ZERO
    beta = rising_root(lambda b: (2 * b + 1) * about(r) - log1p(1 / b) - about(e))
    return renyi_delta_up(1 + beta, (1 + beta) * r, e)
