"""Every registered mechanism keeps the laws of contract.py, at each of its examples."""

import numpy as np
import pytest

from discreet.mechanisms import registry
from discreet.mechanisms.additive import Additive, GridNoise
from discreet.mechanisms.base import Example
from tests.mechanisms import contract
from tests.scale import repeats

EXAMPLES = [
    pytest.param(example, id=f"{name}-{i}")
    for name in registry.names()
    for i, example in enumerate(registry.examples(name))
]
ADDED = [each for each in EXAMPLES if isinstance(each.values[0].mechanism, Additive)]
ON_GRID = [each for each in ADDED if isinstance(each.values[0].mechanism, GridNoise)]
COUNTED = [
    each for each in ADDED if hasattr(each.values[0].mechanism, "probability") and isinstance(each.values[0].x, int)
]


FINITE = {
    "AboveThreshold",
    "CoinToss",
    "ConcentratedExponential",
    "Exponential",
    "NoisyMax",
    "PermuteAndFlip",
    "Quantiles",
    "RandomizedResponse",
    "SignedResponse",
}
OF_FEW_OUTPUTS = [
    each
    for each in EXAMPLES
    if type(each.values[0].mechanism).__name__ in FINITE
    and np.ndim(each.values[0].x) < 2
    and np.size(each.values[0].x) < 12
]


@pytest.mark.parametrize("example", OF_FEW_OUTPUTS)
def test_it_costs_at_least_its_own_probabilities(example: Example) -> None:
    contract.costs_at_least_its_own_probabilities(example)


def test_every_mechanism_of_few_outputs_is_looked_at() -> None:
    assert {type(each.values[0].mechanism).__name__ for each in OF_FEW_OUTPUTS} == FINITE


@pytest.mark.parametrize("example", COUNTED)
def test_cost_is_that_of_its_own_probabilities(example: Example) -> None:
    contract.cost_is_that_of_its_own_probabilities(example)


@pytest.mark.parametrize("example", COUNTED)
def test_it_draws_what_it_says(example: Example) -> None:
    contract.drawn_as_it_says(example, repeats(20_000), seed=1)


@pytest.mark.parametrize("example", ADDED)
def test_errors_cover(example: Example) -> None:
    contract.error_covers(example, repeats(5_000), seed=2)


@pytest.mark.parametrize("example", ADDED)
def test_variance_is_what_it_says(example: Example) -> None:
    contract.variance_is_what_it_says(example, repeats(20_000), seed=3)


@pytest.mark.parametrize("example", ON_GRID)
def test_outputs_lie_on_the_grid(example: Example) -> None:
    contract.outputs_lie_on_the_grid(example, repeats(2_000), seed=4)


@pytest.mark.parametrize("example", ON_GRID)
def test_low_bits_tell_nothing(example: Example) -> None:
    contract.low_bits_tell_nothing(example, repeats(10_000), seed=5)


@pytest.mark.parametrize("example", ADDED)
def test_no_sensitivity_costs_nothing(example: Example) -> None:
    contract.no_sensitivity_costs_nothing(example)


@pytest.mark.parametrize("example", ADDED)
def test_less_noise_costs_more(example: Example) -> None:
    contract.less_noise_costs_more(example)


def test_every_mechanism_is_registered_with_examples() -> None:
    known = {
        "DiscreteGaussian",
        "Gaussian",
        "Geometric",
        "Laplace",
        "LaplaceThreshold",
        "GaussianThreshold",
        "OptimalKeys",
        "RoundedGaussian",
    }
    assert known | FINITE | {
        "BernoulliCount",
        "BernoulliMean",
        "MostFrequent",
        "QuantileEnds",
        "QuantileIntervals",
    } == set(registry.names())
    assert all(registry.examples(name) for name in registry.names())
