"""Mechanisms: noise and its cost, together. Each derives what it costs from the noise that it draws.

A mechanism is loaded when it is first named, so that who needs one does not wait for all.
"""

from typing import TYPE_CHECKING

from discreet.lazy import lazy

if TYPE_CHECKING:
    from discreet.mechanisms import bernoulli_mean, keys, sensitivity, vector
    from discreet.mechanisms.above_threshold import AboveThreshold
    from discreet.mechanisms.base import Example, Mechanism, registry
    from discreet.mechanisms.concentrated import ConcentratedExponential
    from discreet.mechanisms.exponential import Exponential
    from discreet.mechanisms.gaussian import DiscreteGaussian, Gaussian, RoundedGaussian
    from discreet.mechanisms.geometric import Geometric
    from discreet.mechanisms.laplace import Laplace
    from discreet.mechanisms.measure import Grant, Measure, unmetered
    from discreet.mechanisms.most_frequent import MostFrequent
    from discreet.mechanisms.noisy_max import NoisyMax
    from discreet.mechanisms.permute_and_flip import PermuteAndFlip
    from discreet.mechanisms.quantile import QuantileIntervals, Quantiles
    from discreet.mechanisms.quantile_ends import QuantileEnds
    from discreet.mechanisms.randomized_response import CoinToss, RandomizedResponse, SignedResponse

__all__ = [
    "AboveThreshold",
    "CoinToss",
    "ConcentratedExponential",
    "DiscreteGaussian",
    "Example",
    "Exponential",
    "Gaussian",
    "Geometric",
    "Grant",
    "Laplace",
    "Measure",
    "Mechanism",
    "MostFrequent",
    "NoisyMax",
    "PermuteAndFlip",
    "QuantileEnds",
    "QuantileIntervals",
    "Quantiles",
    "RandomizedResponse",
    "RoundedGaussian",
    "SignedResponse",
    "bernoulli_mean",
    "keys",
    "registry",
    "sensitivity",
    "unmetered",
    "vector",
]

# The module of each name that is not itself a module.
_HOME = {
    "AboveThreshold": "above_threshold",
    "CoinToss": "randomized_response",
    "ConcentratedExponential": "concentrated",
    "DiscreteGaussian": "gaussian",
    "Example": "base",
    "Exponential": "exponential",
    "Gaussian": "gaussian",
    "Geometric": "geometric",
    "Grant": "measure",
    "Laplace": "laplace",
    "Measure": "measure",
    "Mechanism": "base",
    "MostFrequent": "most_frequent",
    "NoisyMax": "noisy_max",
    "PermuteAndFlip": "permute_and_flip",
    "QuantileIntervals": "quantile",
    "QuantileEnds": "quantile_ends",
    "Quantiles": "quantile",
    "RandomizedResponse": "randomized_response",
    "RoundedGaussian": "gaussian",
    "SignedResponse": "randomized_response",
    "registry": "base",
    "unmetered": "measure",
}

# Type checkers read the imports above instead; with this in view they would accept any name at all.
if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(__name__, __all__, _HOME)
