"""Which noise each measurement of a question gets, and how its price is split over them.

The split makes the sum of all errors least, each in units of the width of its declared bounds. Geometric noise of scale Δ₁/ε_i has an error
in proportion to Δ₁/ε_i with Σε_i = ε, so ε_i is in proportion to √(Δ₁/width). Gaussian noise of Δ₂/μ_i with Σμ_i² = μ² has μ_i in
proportion to ∛(Δ₂/width). Shares are fractions of 2^16, so that they add up exactly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, sqrt
from statistics import NormalDist

from discreet.errors import Fault
from discreet.exact import remembered, sqrt_up
from discreet.mechanisms import Geometric, RoundedGaussian
from discreet.mechanisms.additive import IntegerNoise
from discreet.mechanisms.sensitivity import Sensitivity
from discreet.privacy import events, loss

FINE = 1 << 16
TRIES = 60

NORMAL = 1.96
"""Standard deviations at 95 %."""

MOST_COMPARED = 100
"""Beyond such an ε noise is next to nothing, whichever it is."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A vector that needs noise: how far a neighbour can move it, and the width of its declared bounds, both in steps."""

    sensitivity: Sensitivity
    width: Fraction


@dataclass(frozen=True, slots=True)
class PricedNoise:
    """A mechanism, and the sensitivity that it is given: L1 for geometric noise, L2 for Gaussian noise."""

    mechanism: IntegerNoise
    sensitivity: Fraction

    @property
    def event(self) -> events.Event:
        return self.mechanism.event(self.sensitivity)


@dataclass(frozen=True, slots=True)
class Split:
    """Which kind of noise measurements get, and which share of the price each: fixed before anything of the data is known."""

    kind: type[Geometric] | type[RoundedGaussian]
    size: Fraction
    """ε in all for geometric noise; for Gaussian noise the standard deviation of all of it, for a sensitivity of 1."""

    shares: tuple[Fraction, ...]

    def noises(self, measurements: Sequence[Wanted]) -> tuple[PricedNoise, ...]:
        """Noise for measurements: those that the split was made for, or the same under other limits, at the same price."""
        pairs = zip(measurements, self.shares, strict=True)
        if self.kind is Geometric:
            return tuple(
                PricedNoise(Geometric(each.sensitivity.l1 / (self.size * share)), each.sensitivity.l1)
                for each, share in pairs
            )
        return tuple(
            PricedNoise(RoundedGaussian(each.sensitivity.l2 * _deviation(self.size, share)), each.sensitivity.l2)
            for each, share in pairs
        )


def allocate(measurements: Sequence[Wanted], epsilon: Fraction, delta: Fraction) -> Split:
    """Noise that is (ε, δ)-DP for all of them together: geometric, or Gaussian where there is a δ and it is predicted to be closer."""
    chosen = geometric(measurements, epsilon)
    error = predicted_error(measurements, chosen.noises(measurements)) if delta else 0.0
    if delta and gaussian_is_closer(measurements, epsilon, delta, error):
        return gaussian(measurements, epsilon, delta)
    return chosen


def geometric(measurements: Sequence[Wanted], epsilon: Fraction) -> Split:
    """ε-DP noise for all of them together."""
    return Split(Geometric, epsilon, tuple(_shares([each.sensitivity.l1 / each.width for each in measurements], 1 / 2)))


def gaussian(measurements: Sequence[Wanted], epsilon: Fraction, delta: Fraction) -> Split:
    """(ε, δ)-DP noise for all of them together: each gets a share of μ²."""
    sigma = _sigma(epsilon, delta)
    shares = tuple(_gaussian_shares(measurements))
    for _ in range(TRIES):
        split = Split(RoundedGaussian, sigma, shares)
        event = events.Composed(tuple(noise.event for noise in split.noises(measurements)))
        if loss(event).certifies(epsilon, delta):
            return split
        sigma *= 1 + Fraction(1, 10**9)
    raise Fault("no Gaussian noise was found for this price", code="plan")


def gaussian_is_closer(measurements: Sequence[Wanted], epsilon: Fraction, delta: Fraction, error: float) -> bool:
    """Whether Gaussian noise of this price can have a smaller error than another: at the scale where both are equal it costs less."""
    if not error or epsilon > MOST_COMPARED:
        return False
    each = (
        NORMAL * float(want.sensitivity.l2) / (want.width * sqrt(share))
        for want, share in zip(measurements, _gaussian_shares(measurements), strict=True)
    )
    mu, e, phi = sum(each) / error, float(epsilon), NormalDist().cdf
    # Balle and Wang 2018; a choice, not a certificate
    return phi(mu / 2 - e / mu) - exp(e) * phi(-mu / 2 - e / mu) < delta


@remembered
def _deviation(sigma: Fraction, share: Fraction) -> Fraction:
    """The standard deviation of one of several, for a sensitivity of 1."""
    return sqrt_up(sigma**2 / share)


@remembered
def _sigma(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The standard deviation for a sensitivity of 1."""
    return RoundedGaussian.for_budget(epsilon, delta, sensitivity=1).scale


def _gaussian_shares(measurements: Sequence[Wanted]) -> list[Fraction]:
    return _shares([each.sensitivity.l2 / each.width for each in measurements], 2 / 3)


def predicted_error(measurements: Sequence[Wanted], noise: Sequence[PricedNoise]) -> float:
    """The sum of all errors at 95 %, in widths."""
    return sum(each.mechanism.error() / want.width for want, each in zip(measurements, noise, strict=True))


def _shares(weights: Sequence[Fraction], power: float) -> list[Fraction]:
    """Shares in proportion to a power of the weights, as fractions that add up to 1."""
    raised = [float(weight) ** power for weight in weights]
    whole = [max(1, round(FINE * each / max(raised))) for each in raised]
    return [Fraction(each, sum(whole)) for each in whole]
