"""Tails of noise on integers, in brackets. Both kinds of thresholds know them: Pr[1 + Z > z] = Pr[Z >= z]."""

from fractions import Fraction
from functools import lru_cache, singledispatch

from discreet.audit.law import Bracket
from discreet.errors import Invalid
from discreet.mechanisms.additive import IntegerNoise
from discreet.mechanisms.gaussian import DiscreteGaussian, RoundedGaussian
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.keys import GaussianThreshold, LaplaceThreshold, Threshold


@singledispatch
def tail(mechanism: IntegerNoise, z: int) -> Bracket:
    """Pr[Z >= z] of the noise of a mechanism."""
    raise Invalid(f"the tails of {type(mechanism).__name__} are not known here")


@tail.register
def _geometric_tail(mechanism: Geometric, z: int) -> Bracket:
    return threshold_tail(LaplaceThreshold, mechanism.scale, z)


@tail.register
def _gaussian_tail(mechanism: DiscreteGaussian, z: int) -> Bracket:
    return threshold_tail(GaussianThreshold, mechanism.scale, z)


@tail.register
def _rounded_tail(mechanism: RoundedGaussian, z: int) -> Bracket:
    """The noise is discrete on a finer grid, and rounded, halves up: it is z or more from half a step below z on."""
    fine = 1 << mechanism.bits
    return threshold_tail(GaussianThreshold, mechanism.scale * fine, z * fine - fine // 2)


@lru_cache(maxsize=1 << 14)
def threshold_tail(kind: type[Threshold], scale: Fraction, z: int) -> Bracket:
    if z < 0:
        low, high = kind(scale, 1 - z).keeps(1)
        return Bracket(1 - high, 1 - low)
    return Bracket(*kind(scale, z).keeps(1))
