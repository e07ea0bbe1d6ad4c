"""Mechanisms: noise and its cost, together. Each derives what it costs from the noise that it draws."""

from discreet.mechanisms import bernoulli_mean, keys, sensitivity, vector
from discreet.mechanisms.base import Example, Mechanism, registry
from discreet.mechanisms.gaussian import DiscreteGaussian, Gaussian
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.measure import Grant, Measure, unmetered
from discreet.mechanisms.randomized_response import CoinToss, RandomizedResponse, SignedResponse

__all__ = [
    "CoinToss",
    "DiscreteGaussian",
    "Example",
    "Gaussian",
    "Geometric",
    "Grant",
    "Laplace",
    "Measure",
    "Mechanism",
    "RandomizedResponse",
    "SignedResponse",
    "bernoulli_mean",
    "keys",
    "registry",
    "sensitivity",
    "unmetered",
    "vector",
]
