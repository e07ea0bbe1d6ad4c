"""Selections that are counted in zCDP: the exponential mechanism, at the price that its bounded range allows."""

from fractions import Fraction

from discreet.exact import Number, positive, sqrt_up
from discreet.mechanisms.base import Example, registry
from discreet.mechanisms.exponential import Exponential
from discreet.privacy import events


def _examples() -> list[Example]:
    return [
        Example(Concentrated(Fraction(1)), 1, [3, 5, 4, 0], [4, 4, 4, 1]),
        Example(Concentrated(Fraction(3), Fraction(2)), 2, [7, 0, 2], [9, 2, 0]),
    ]


@registry.add(_examples)
class Concentrated(Exponential):
    """The exponential mechanism of `Exponential`, for a grant of ρ: its event is ε²/8-zCDP (Cesar and Rogers 2021, by bounded range).

    The choice is the same, to the last bit, and so is `epsilon`; only what is charged is another true statement about it.

    >>> Concentrated(2).event()
    ZeroConcentrated(rho=Fraction(1, 2))
    """

    __slots__ = ()

    @classmethod
    def for_rho(cls, rho: Number, sensitivity: Number = 1) -> "Concentrated":
        """The sharpest choice that costs at most ρ: ε = √(8ρ), rounded down by less than 2^-50 of itself."""
        exact = positive(rho, "rho")
        below = 1 / sqrt_up(1 / (8 * exact))
        return cls(below, positive(sensitivity, "sensitivity"))

    def event(self, sensitivity: Number | None = None) -> events.ZeroConcentrated:  # type: ignore[override]
        """The choice, for scores that change by at most this, or by what was declared."""
        return self.concentrated(sensitivity)
