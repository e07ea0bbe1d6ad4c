"""Gaussian noise: discrete on integers, and on reals on a public grid."""

from fractions import Fraction
from math import ceil, exp, fsum, inf, pi, sqrt
from statistics import NormalDist
from typing import Any

from discreet.errors import Invalid
from discreet.exact import Number, nonnegative, positive, sqrt_up, whole
from discreet.mechanisms.additive import GridNoise, IntegerNoise, NoiseShape, integer_sensitivity, steps_up
from discreet.mechanisms.base import Example, confidence_level, half_width, registry
from discreet.mechanisms.sensitivity import Norm
from discreet.noise import Source, discrete_gaussian
from discreet.privacy import calibrate, events
from discreet.privacy.mgf import FINE_SCALE

FINE = 1 << FINE_SCALE.bit_length()
"""Steps in a standard deviation, from where on a discrete Gaussian is priced as a continuous one: a power of 2 above that scale."""

WIDE = 30
"""Beyond this scale the discrete Gaussian has the tails of the continuous one to more digits than a float has."""


def _discrete_examples() -> list[Example]:
    return [
        Example(DiscreteGaussian(Fraction(10)), 1, 7, 8),
        Example(DiscreteGaussian(Fraction(1, 2)), 1, 0, 1),
        Example(DiscreteGaussian(Fraction(3)), 2, -1, 1),
    ]


@registry.add(_discrete_examples)
class DiscreteGaussian(IntegerNoise):
    """P(z) ∝ e^(−(z − y)²/(2·scale²)) on the integers (Canonne, Kamath and Steinke 2020)."""

    __slots__ = ()
    norm = None
    shape = NoiseShape.GAUSSIAN

    @classmethod
    def for_budget(cls, epsilon: Number, delta: Number, *, sensitivity: Number = 1) -> "DiscreteGaussian":
        """Noise that is (epsilon, delta)-DP for one integer."""
        size = integer_sensitivity(positive(sensitivity, "sensitivity"))
        return cls(calibrate.discrete_gaussian(epsilon, delta, size).scale)

    @classmethod
    def for_error(cls, within: Number, confidence: Number = 0.95) -> "DiscreteGaussian":
        """About the most noise that stays within ±`within` with this confidence."""
        width, level = int(positive(within, "within")), confidence_level(confidence)
        scale = Fraction((width + 0.5) / NormalDist().inv_cdf((1 + level) / 2)).limit_denominator(10**6)
        while cls(scale).error(confidence) > width:
            scale *= Fraction(999, 1000)
        return cls(scale)

    def event(self, sensitivity: Number = 1, size: int = 1) -> events.DiscreteGaussian | events.ZeroConcentrated:
        """The noise, for one integer that changes by at most the sensitivity; for a vector of up to `size` integers `event_of_norm`.

        A change of many coordinates by 1 may cost more than one of the same norm in a single coordinate: of four, at σ = 1 and
        ε = 4, 1.47 times the δ. What is known of the change itself is priced by `event_of_shift`.
        """
        if whole(size, "size", least=1) > 1:
            return self.event_of_norm(sensitivity)
        return events.DiscreteGaussian(self.scale, integer_sensitivity(sensitivity))

    def event_of_shift(self, shift: "tuple[int, ...] | list[int]") -> events.Composed:
        """The noise, for a vector that changes by exactly this, or by less in each coordinate."""
        return events.Composed(tuple(events.DiscreteGaussian(self.scale, abs(whole_number(d))) for d in shift))

    def event_of_norm(self, sensitivity: Number) -> events.ZeroConcentrated:
        """The noise, for an integer vector of an L2 sensitivity: zCDP of Δ²/(2·scale²), since no single shift is the worst at every δ."""
        return events.ZeroConcentrated((nonnegative(sensitivity, "sensitivity") / self.scale) ** 2 / 2)

    def _noise(self, size: Any, source: Source | None) -> Any:
        return discrete_gaussian(self.scale, size, source=source)

    def probability(self, output: int, exact: int) -> float:
        """Pr[output], given the exact value."""
        sigma = float(self.scale)
        return exp(-((output - exact) ** 2) / (2 * sigma * sigma)) / _normaliser(sigma)

    @property
    def variance(self) -> float:
        sigma = float(self.scale)
        if sigma > WIDE:
            return sigma * sigma
        reach = range(1, ceil(40 * sigma) + 3)
        return 2 * fsum(z * z * exp(-z * z / (2 * sigma * sigma)) for z in reach) / _normaliser(sigma)

    def error(self, confidence: Number = 0.95) -> float:
        sigma, level = float(self.scale), confidence_level(confidence)
        if sigma > WIDE:
            return float(ceil(NormalDist().inv_cdf((1 + level) / 2) * sigma))
        return float(half_width(lambda w: _tail(sigma, w), level))


def whole_number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise Invalid(f"shift must hold integers, got a {type(value).__name__}")
    return value


def _normaliser(sigma: float) -> float:
    """Σ e^(−z²/2σ²) over all integers."""
    if sigma > WIDE:
        return sigma * sqrt(2 * pi)
    return 1 + 2 * fsum(exp(-z * z / (2 * sigma * sigma)) for z in range(1, ceil(40 * sigma) + 3))


def _tail(sigma: float, w: int) -> float:
    """Pr[|z| > w]."""
    if w < 0:
        return 1.0
    beyond = range(w + 1, w + 3 + ceil(40 * sigma))
    return 2 * fsum(exp(-z * z / (2 * sigma * sigma)) for z in beyond) / _normaliser(sigma)


def _examples() -> list[Example]:
    return [
        Example(Gaussian(Fraction(10)), 1, Fraction(7, 2), Fraction(9, 2)),
        Example(Gaussian(Fraction(1, 3)), Fraction(1, 2), -0.25, 0.25),
    ]


@registry.add(_examples)
class Gaussian(GridNoise):
    """Gaussian noise of a standard deviation on each coordinate, on the grid, for an L2 sensitivity."""

    __slots__ = ()

    @classmethod
    def for_budget(cls, epsilon: Number, delta: Number, *, sensitivity: Number = 1) -> "Gaussian":
        """The least noise that is (epsilon, delta)-DP (Balle and Wang 2018), its rounding included; for any epsilon >= 0.

        >>> round(float(Gaussian.for_budget(1, 1e-5).scale), 4)
        3.7306
        """
        return cls._raised(calibrate.gaussian(epsilon, delta, sensitivity).scale, epsilon, delta, sensitivity)

    @classmethod
    def classical(cls, epsilon: Number, delta: Number, *, sensitivity: Number = 1) -> "Gaussian":
        """σ = Δ √(2 ln(1.25/δ))/ε, for epsilon <= 1 only (Dwork and Roth 2014); more noise than `for_budget` needs."""
        return cls(calibrate.classical_gaussian(epsilon, delta, sensitivity).scale)

    @classmethod
    def _raised(cls, scale: Fraction, epsilon: Number, delta: Number, sensitivity: Number) -> "Gaussian":
        """The noise of this scale, or of one larger by as few parts in 10^9 as certify: rounding to the grid costs a little."""

        def noise(parts: int) -> "Gaussian":
            return cls(scale * (1 + Fraction(parts, 10**9)))

        def enough(parts: int) -> bool:
            return noise(parts).loss(sensitivity).certifies(epsilon, delta)

        low, high = -1, 0
        while not enough(high):
            low, high = high, 2 * high or 1
        while high - low > 1 + high // 64:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle, high)
        return noise(high)

    @classmethod
    def for_error(cls, within: Number, confidence: Number = 0.95) -> "Gaussian":
        """The most noise that stays within ±`within` with this confidence."""
        width, level = positive(within, "within"), confidence_level(confidence)
        z = NormalDist().inv_cdf((1 + level) / 2)
        return cls(Fraction(float(width) / z).limit_denominator(10**9))

    def event(self, sensitivity: Number = 1, size: int = 1) -> events.DiscreteGaussian | events.Gaussian:
        """The noise on a vector of `size` coordinates; rounding adds up to a step in each.

        One number: discrete Gaussian noise of scale/grid steps. A vector: each coordinate of its shift costs no more than
        continuous noise on (1 + 1/(12 steps²)) times that shift (`privacy/mgf.py`), and continuous Gaussians of many
        coordinates cost what one of the L2 norm costs.
        """
        exact, count = nonnegative(sensitivity, "sensitivity"), whole(size, "size", least=1)
        if count == 1:
            return events.DiscreteGaussian(self.steps, steps_up(exact, self.grid, 1))
        rounded = exact / self.grid.step + sqrt_up(Fraction(count)) if exact else Fraction(0)
        return events.Gaussian(self.steps, rounded * (1 + 1 / (12 * self.steps**2)))

    def _noise(self, size: Any, source: Source | None) -> Any:
        return discrete_gaussian(self.steps, size, source=source)

    @property
    def variance(self) -> float:
        return float(self.scale) ** 2

    def error(self, confidence: Number = 0.95) -> float:
        """The normal quantile times the standard deviation, and a step of the grid."""
        z = NormalDist().inv_cdf((1 + confidence_level(confidence)) / 2)
        return z * float(self.scale) + float(self.grid.step) if z < inf else inf


def _rounded_examples() -> list[Example]:
    return [
        Example(RoundedGaussian(Fraction(10)), 1, 7, 8),
        Example(RoundedGaussian(Fraction(1, 2)), 2, -1, 1),
        Example(RoundedGaussian(Fraction(20)), 5, [10, 0, 4], [13, 0, 0]),
    ]


@registry.add(_rounded_examples)
class RoundedGaussian(IntegerNoise):
    """Gaussian noise on a vector of integers, for an L2 sensitivity, rounded to integers.

    The noise is discrete on a grid so fine that each coordinate costs no more than continuous noise on a shift larger by the factor
    1 + 1/(12 steps²) (`privacy/mgf.py`); continuous Gaussians of many coordinates cost what one of the L2 norm costs. The
    exact values are integers, so rounding the noise is rounding the release, which is post-processing.
    """

    __slots__ = ()
    norm = Norm.L2
    shape = NoiseShape.GAUSSIAN

    @classmethod
    def for_budget(cls, epsilon: Number, delta: Number, *, sensitivity: Number = 1) -> "RoundedGaussian":
        """The least noise that is (epsilon, delta)-DP for a vector of this L2 sensitivity."""
        noise = cls(calibrate.gaussian(epsilon, delta, sensitivity).scale)
        while not noise.loss(sensitivity).certifies(epsilon, delta):
            noise = cls(noise.scale * (1 + Fraction(1, 10**9)))
        return noise

    @classmethod
    def for_error(cls, within: Number, confidence: Number = 0.95) -> "RoundedGaussian":
        """About the most noise that stays within ±`within` with this confidence."""
        return cls(DiscreteGaussian.for_error(within, confidence).scale)

    @property
    def bits(self) -> int:
        """The grid is 2^-bits."""
        bits = 0
        while self.scale * (1 << bits) < FINE:
            bits += 1
        return bits

    def event(self, sensitivity: Number = 1) -> events.Gaussian:
        """The noise, for a vector of integers of this L2 sensitivity, of any length."""
        steps = self.scale * (1 << self.bits)
        return events.Gaussian(self.scale, nonnegative(sensitivity, "sensitivity") * (1 + 1 / (12 * steps**2)))

    def _noise(self, size: Any, source: Source | None) -> Any:
        bits = self.bits
        fine = discrete_gaussian(self.scale * (1 << bits), size, source=source)
        return (fine + (1 << bits >> 1)) >> bits if bits else fine

    @property
    def variance(self) -> float:
        """The variance of the Gaussian, and of rounding."""
        sigma = float(self.scale)
        if sigma > 1:
            return sigma * sigma + (1 / 12 if self.bits else 0)
        return 2 * fsum((2 * z - 1) * NormalDist(0, sigma).cdf(0.5 - z) for z in range(1, ceil(40 * sigma) + 3))

    def error(self, confidence: Number = 0.95) -> float:
        """Pr[|noise| > w] = 2Φ(−(w + 1/2)/σ); a step of the grid is far less than the rounding up."""
        normal = NormalDist(0, float(self.scale))
        return float(half_width(lambda w: 2 * normal.cdf(-w - 0.5) if w >= 0 else 1.0, confidence_level(confidence)))
