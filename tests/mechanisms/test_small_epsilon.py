"""A constructor that promises an ε keeps it, however small, or refuses."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from discreet.errors import Invalid
from discreet.mechanisms import (
    CoinToss,
    Exponential,
    Gaussian,
    Geometric,
    Laplace,
    NoisyMax,
    RandomizedResponse,
    SignedResponse,
)
from discreet.mechanisms.bernoulli_mean import BernoulliCount, BernoulliMean

CONSTRUCTORS: dict[str, Callable[[Fraction], Any]] = {
    "Laplace": Laplace.for_epsilon,
    "Laplace of a budget": lambda epsilon: Laplace.for_budget(epsilon, 0),
    "Geometric": Geometric.for_epsilon,
    "Geometric of a budget": lambda epsilon: Geometric.for_budget(epsilon, 0),
    "BernoulliMean": lambda epsilon: BernoulliMean.for_epsilon(epsilon, 100),
    "BernoulliMean of a budget": lambda epsilon: BernoulliMean.for_budget(epsilon, 0, n=100),
    "BernoulliCount": lambda epsilon: BernoulliCount.for_epsilon(epsilon, 100),
    "RandomizedResponse": RandomizedResponse.for_epsilon,
    "SignedResponse": SignedResponse.for_epsilon,
    "CoinToss": CoinToss.for_epsilon,
    "Exponential": Exponential.for_epsilon,
    "NoisyMax": NoisyMax.for_epsilon,
}
SIZES = [Fraction(3), Fraction(1, 7), Fraction(1, 10**6), *(Fraction(1, 1 << k) for k in range(33, 44))]


@pytest.mark.parametrize("epsilon", [*SIZES, Fraction(1, 10**30)], ids=str)
@pytest.mark.parametrize("name", CONSTRUCTORS)
def test_a_promised_epsilon_is_kept_or_refused(name: str, epsilon: Fraction) -> None:
    try:
        made = CONSTRUCTORS[name](epsilon)
    except Invalid:
        assert epsilon < 2, "an ordinary epsilon is refused"
        return
    assert made.loss().pure_epsilon() <= epsilon


@pytest.mark.parametrize("delta", [Fraction(1, 10**3), Fraction(1, 10**6), Fraction(1, 10**12)], ids=str)
@pytest.mark.parametrize("epsilon", [Fraction(1), *SIZES[1:4], Fraction(1, 10**9)], ids=str)
def test_gaussian_noise_of_a_small_budget_keeps_it_and_is_hardly_wider(epsilon: Fraction, delta: Fraction) -> None:
    noise = Gaussian.for_budget(epsilon, delta)
    assert noise.loss().certifies(epsilon, delta)
    assert not Gaussian(noise.scale * Fraction(999, 1000)).loss().certifies(epsilon, delta)


@pytest.mark.parametrize("epsilon", [Fraction(1, 1 << 36), Fraction(1, 10**9), Fraction(1, 10)])
def test_laplace_noise_of_an_epsilon_above_its_grid_is_not_refused(epsilon: Fraction) -> None:
    assert epsilon / 2 <= Laplace.for_epsilon(epsilon).loss().pure_epsilon() <= epsilon
