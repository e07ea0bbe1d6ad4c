"""The Bayesian reading: what an attacker who knows everybody else may come to believe, and how often a guess is right."""

from fractions import Fraction

from discreet.exact import Number, exp_down, nonnegative, probability, to_float_down, to_float_up


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


def posterior_bounds(prior: Number, epsilon: Number) -> tuple[float, float]:
    """The least and the largest probability that a fact about one person can have after an ε-private answer, p before it.

    p/(p + (1−p)e^ε) and p/(p + (1−p)e^-ε), the two ends of the odds p/(1−p) times e^±ε; so posterior over prior is within e^±ε, for every
    prior. Dwork, McSherry, Nissim and Smith 2006. It is for an attacker who knows all others: where people are not independent, an answer
    about one of them tells of the others too, and an attacker who knows less may learn more.

    >>> from math import exp
    >>> low, high = posterior_bounds(0.1, 1)
    >>> abs(low - 0.1 / (0.1 + 0.9 * exp(1))) < 1e-15, abs(high - 0.1 / (0.1 + 0.9 * exp(-1))) < 1e-15
    (True, True)
    """
    p, e = probability(prior, "prior"), nonnegative(epsilon, "epsilon")
    if p in (0, 1):
        return float(p), float(p)
    fall = exp_down(-e)
    return to_float_down(_scaled(p, fall, Fraction(1))), to_float_up(_scaled(p, Fraction(1), fall))


def _scaled(p: Fraction, true: Fraction, false: Fraction) -> Fraction:
    """What p becomes when the answer has these chances if the fact is true, and if it is false."""
    return p * true / (p * true + (1 - p) * false)
