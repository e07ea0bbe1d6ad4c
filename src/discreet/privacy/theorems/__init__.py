"""The theorems of differential privacy, one function each: composition, groups, conversions, the Bayesian reading.

Arguments are read exactly (a float is the decimal it prints) and refused by name before anything is computed. Results are bounds,
rounded outward: nothing here is ever smaller than the formula it states. Rational results are exact fractions. The others are evaluated in
rationals between brackets of e^x and ln x (`discreet.exact`) and rounded up once at the end, except where the docstring says "floats" and
states its slack. Infinity says that the theorem promises nothing.

What the losses of known mechanisms compose to is not here but in `loss.py`: it is never more than these bounds.
"""

from discreet.privacy.theorems.approximate import approximate_delta, approximate_epsilon, pure_delta, pure_epsilon
from discreet.privacy.theorems.bayes import bayes_success, posterior_bounds
from discreet.privacy.theorems.composition import advanced_composition, basic_composition, parallel_composition
from discreet.privacy.theorems.concentrated import (
    gaussian_rho,
    laplace_rho,
    pure_rho,
    zcdp_delta,
    zcdp_epsilon,
    zcdp_implies,
    zcdp_rho,
)
from discreet.privacy.theorems.gaussian import gaussian_delta, gaussian_epsilon, gaussian_mu, pure_mu
from discreet.privacy.theorems.groups import (
    group_delta,
    group_delta_short,
    group_delta_shortest,
    group_epsilon,
    group_mu,
    group_rho,
)
from discreet.privacy.theorems.optimal import (
    optimal_delta,
    optimal_epsilon,
    optimal_mixed_delta,
    optimal_mixed_epsilon,
)
from discreet.privacy.theorems.renyi import (
    pure_rdp,
    renyi_delta,
    renyi_epsilon,
    renyi_least_delta,
    renyi_least_epsilon,
)
from discreet.privacy.theorems.shuffling import shuffled_delta, shuffled_epsilon

__all__ = [
    "advanced_composition",
    "approximate_delta",
    "approximate_epsilon",
    "basic_composition",
    "bayes_success",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_mu",
    "gaussian_rho",
    "group_delta",
    "group_delta_short",
    "group_delta_shortest",
    "group_epsilon",
    "group_mu",
    "group_rho",
    "laplace_rho",
    "optimal_delta",
    "optimal_epsilon",
    "optimal_mixed_delta",
    "optimal_mixed_epsilon",
    "parallel_composition",
    "posterior_bounds",
    "pure_delta",
    "pure_epsilon",
    "pure_mu",
    "pure_rdp",
    "pure_rho",
    "renyi_delta",
    "renyi_epsilon",
    "renyi_least_delta",
    "renyi_least_epsilon",
    "shuffled_delta",
    "shuffled_epsilon",
    "zcdp_delta",
    "zcdp_epsilon",
    "zcdp_implies",
    "zcdp_rho",
]


def __dir__() -> list[str]:
    return sorted(__all__)
