"""Laplace noise on reals, on a public grid."""

from fractions import Fraction
from math import log
from typing import Any

from discreet.errors import Invalid
from discreet.exact import Number, nonnegative, positive, shown
from discreet.mechanisms.additive import GridNoise, steps_up
from discreet.mechanisms.base import Example, confidence_level, registry
from discreet.mechanisms.geometric import Geometric
from discreet.noise import Source, discrete_laplace
from discreet.privacy import calibrate, events

GRID_SHARE = Fraction(1, 1 << 37)  # of ε, more than what rounding to the grid can cost from ε = 2^-36 on


def _examples() -> list[Example]:
    return [
        Example(Laplace(Fraction(10)), 1, Fraction(7, 2), Fraction(9, 2)),
        Example(Laplace(Fraction(1, 3)), Fraction(1, 2), -0.25, 0.25),
        Example(Laplace(Fraction(4)), 2, [0.5, 1.5], [1.5, 0.5]),
    ]


@registry.add(_examples)
class Laplace(GridNoise):
    """Density e^(−|z − y|/scale)/(2·scale) around each coordinate, on the grid: Δ/scale-DP for an L1 sensitivity Δ.

    What is drawn is geometric noise of scale/grid steps, and that is what it costs (`Geometric`).
    """

    __slots__ = ()

    @classmethod
    def for_epsilon(cls, epsilon: Number, sensitivity: Number = 1) -> "Laplace":
        """The least noise that is epsilon-DP for one number, its rounding included.

        >>> round(float(Laplace.for_epsilon(0.5).scale), 9)
        2.0
        """
        budget = positive(epsilon, "epsilon")
        noise = cls(positive(sensitivity, "sensitivity") / _for_rounding(budget))
        if not noise.loss(sensitivity).certifies(budget, 0):
            raise Invalid(
                f"epsilon must be greater than 2^-37, about 7e-12, got {shown(epsilon)}: rounding to the grid costs as much",
                hint="give the scale and a finer grid, and read the price from loss()",
            )
        return noise

    @classmethod
    def for_budget(cls, epsilon: Number, delta: Number = 0, *, sensitivity: Number = 1) -> "Laplace":
        """The least noise that is (epsilon, delta)-DP for one number, its rounding included."""
        if not nonnegative(delta, "delta"):
            return cls.for_epsilon(epsilon, sensitivity)
        scale = calibrate.laplace(epsilon, delta, sensitivity).scale
        noise = cls(scale)
        while not noise.loss(sensitivity).certifies(epsilon, delta):
            scale *= 1 + Fraction(1, 10**9)
            noise = cls(scale)
        return noise

    @classmethod
    def for_error(cls, within: Number, confidence: Number = 0.95) -> "Laplace":
        """The most noise that stays within ±`within` with this confidence.

        >>> round(float(Laplace.for_error(3, 0.95).scale), 6)
        1.001425
        """
        width = positive(within, "within")
        return cls(Fraction(float(width) / -log(1 - confidence_level(confidence))).limit_denominator(10**9))

    def event(self, sensitivity: Number = 1, size: int = 1) -> events.DiscreteLaplace:
        """The noise on a vector of `size` coordinates; rounding adds a step in each."""
        return events.DiscreteLaplace(self.steps, steps_up(sensitivity, self.grid, size))

    def _noise(self, size: Any, source: Source | None) -> Any:
        return discrete_laplace(self.steps, size, source=source)

    @property
    def variance(self) -> float:
        return Geometric(self.steps).variance * float(self.grid.step) ** 2

    def error(self, confidence: Number = 0.95) -> float:
        """The error is scale·ln(1/(1 − confidence)), and a step of the grid."""
        return float(self.scale) * -log(1 - confidence_level(confidence)) + float(self.grid.step)


def _for_rounding(epsilon: Fraction) -> Fraction:
    """A little less, so that two steps of the grid, each at most scale/2^39, fit in; where they do not, half."""
    return epsilon - Fraction(1, 1 << 38) if epsilon > GRID_SHARE else epsilon / 2
