"""Geometric noise on integers: the discrete Laplace distribution."""

from fractions import Fraction
from math import exp, expm1, log
from typing import Any

from discreet.errors import Invalid
from discreet.exact import Number, positive, shown
from discreet.mechanisms.additive import IntegerNoise, NoiseShape, integer_sensitivity
from discreet.mechanisms.base import Example, confidence_level, half_width, registry
from discreet.mechanisms.sensitivity import Norm
from discreet.noise import Source, discrete_laplace
from discreet.privacy import calibrate, events


def _examples() -> list[Example]:
    return [
        Example(Geometric(Fraction(10)), 1, 7, 8),
        Example(Geometric(Fraction(1, 2)), 2, -1, 1),
        Example(Geometric(Fraction(5)), 3, [10, 0, 4], [11, 0, 2]),
    ]


@registry.add(_examples)
class Geometric(IntegerNoise):
    """P(z) = (1 − α)/(1 + α) α^|z − y|, α = e^(−1/scale): Δ/scale-DP for an integer, or a vector of L1 sensitivity Δ.

    (Ghosh, Roughgarden and Sundararajan 2009.) In a vector the worst case is one coordinate that moves by all of Δ: a move along
    the others can be made one after another, whose error rates are at least those of the chain (group privacy of trade-off
    functions, Dong, Roth and Su 2022), and along one coordinate the chain is attained, by tests of one threshold.
    """

    __slots__ = ()
    norm = Norm.L1
    shape = NoiseShape.GEOMETRIC

    @classmethod
    def for_epsilon(cls, epsilon: Number, sensitivity: Number = 1) -> "Geometric":
        """The least noise that is epsilon-DP.

        >>> Geometric.for_epsilon(0.1).scale
        Fraction(10, 1)
        """
        return cls(integer_sensitivity(positive(sensitivity, "sensitivity")) / positive(epsilon, "epsilon"))

    @classmethod
    def for_budget(cls, epsilon: Number, delta: Number = 0, *, sensitivity: Number = 1) -> "Geometric":
        """The least noise that is (epsilon, delta)-DP."""
        size = integer_sensitivity(positive(sensitivity, "sensitivity"))
        return cls(calibrate.discrete_laplace(epsilon, delta, size).scale)

    @classmethod
    def for_error(cls, within: Number, confidence: Number = 0.95) -> "Geometric":
        """The most noise that stays within ±`within` with this confidence: Pr[|z| > w] = 2α^(w+1)/(1 + α)."""
        width, level = int(positive(within, "within")), confidence_level(confidence)
        if width < 1:
            raise Invalid(f"within must be at least 1 for integers, got {shown(within)}")
        low, high = 1e-3, 2.0 * (width + 1) / -log(1 - level) + 1
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if _tail(1 / middle, width) <= 1 - level else (low, middle)
        return cls(Fraction(low).limit_denominator(10**6))

    def event(self, sensitivity: Number = 1) -> events.DiscreteLaplace:
        """The noise, for an integer, or a vector of this L1 sensitivity."""
        return events.DiscreteLaplace(self.scale, integer_sensitivity(sensitivity))

    def _noise(self, size: Any, source: Source | None) -> Any:
        return discrete_laplace(self.scale, size, source=source)

    def probability(self, output: int, exact: int) -> float:
        """Pr[output], given the exact value."""
        a = _rate(self.scale)
        return -expm1(-a) / (1 + exp(-a)) * exp(-a * abs(output - exact))

    @property
    def variance(self) -> float:
        """2α/(1 − α)²."""
        a = _rate(self.scale)
        return 2 * exp(-a) / expm1(-a) ** 2

    def error(self, confidence: Number = 0.95) -> float:
        a, level = _rate(self.scale), confidence_level(confidence)
        near = -log((1 - level) * (1 + exp(-a)) / 2) / a
        return float(half_width(lambda w: _tail(a, w), level, near=max(0, int(near) - 1)))


def _rate(scale: Fraction) -> float:
    """1/scale; beyond 700 there is no noise that a float could tell of."""
    return float(min(1 / scale, Fraction(700)))


def _tail(a: float, w: int) -> float:
    """Pr[|z| > w], a = 1/scale."""
    return 2 * exp(-a * (w + 1)) / (1 + exp(-a)) if w >= 0 else 1.0
