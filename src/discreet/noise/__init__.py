"""Exact noise from secure bits. Knows nothing of privacy.

Integers drawn here have exactly the probabilities they are said to have, relative to ideal random bits: no float and no libm result
decides any of them. `docs/noise.md` tells how, and how it is tested.
"""

from discreet.noise.bernoulli import bernoulli, bernoulli_exp, odds
from discreet.noise.gaussian import discrete_gaussian
from discreet.noise.grid import Grid, grid_gaussian, grid_laplace
from discreet.noise.laplace import discrete_laplace, geometric
from discreet.noise.response import keep_or_replace
from discreet.noise.source import SecureBits, Source, Tape
from discreet.noise.uniform import uniform

__all__ = [
    "Grid",
    "SecureBits",
    "Source",
    "Tape",
    "bernoulli",
    "bernoulli_exp",
    "discrete_gaussian",
    "discrete_laplace",
    "geometric",
    "grid_gaussian",
    "grid_laplace",
    "keep_or_replace",
    "odds",
    "uniform",
]


def __dir__() -> list[str]:
    return sorted(__all__)
