"""Mechanisms: noise and its cost, together. Each derives what it costs from the noise that it draws."""

from discreet.mechanisms import bernoulli_mean, keys, sensitivity, vector
from discreet.mechanisms.above_threshold import AboveThreshold
from discreet.mechanisms.base import Example, Mechanism, registry
from discreet.mechanisms.exponential import Exponential, PermuteAndFlip
from discreet.mechanisms.gaussian import DiscreteGaussian, Gaussian
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.measure import Grant, Measure, unmetered
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.quantile import QuantileIntervals, Quantiles
from discreet.mechanisms.randomized_response import CoinToss, RandomizedResponse, SignedResponse

__all__ = [
    "AboveThreshold",
    "CoinToss",
    "DiscreteGaussian",
    "Example",
    "Exponential",
    "Gaussian",
    "Geometric",
    "Grant",
    "Laplace",
    "Measure",
    "Mechanism",
    "NoisyMax",
    "PermuteAndFlip",
    "QuantileIntervals",
    "Quantiles",
    "RandomizedResponse",
    "SignedResponse",
    "bernoulli_mean",
    "keys",
    "registry",
    "sensitivity",
    "unmetered",
    "vector",
]
