"""Selections that are counted in zCDP: the exponential mechanism, at the price that its bounded range allows."""

from fractions import Fraction

from discreet.errors import Invalid
from discreet.exact import Number, positive, sqrt_up
from discreet.mechanisms.base import Example, registry
from discreet.mechanisms.exponential import Exponential
from discreet.privacy import events
from discreet.privacy.theorems import zcdp_rho


def _examples() -> list[Example]:
    return [
        Example(ConcentratedExponential(Fraction(1)), 1, [3, 5, 4, 0], [4, 4, 4, 1]),
        Example(ConcentratedExponential(Fraction(3), Fraction(2)), 2, [7, 0, 2], [9, 2, 0]),
    ]


@registry.add(_examples)
class ConcentratedExponential(Exponential):
    """The exponential mechanism of `Exponential`, for a grant of ρ: its event is ε²/8-zCDP (Cesar and Rogers 2021, by bounded range).

    The choice is the same, to the last bit, and so is `epsilon`; only what is charged is another true statement about it.

    >>> ConcentratedExponential(2).event()
    ZeroConcentrated(rho=Fraction(1, 2))
    """

    __slots__ = ()

    @classmethod
    def for_rho(cls, rho: Number, sensitivity: Number = 1) -> "ConcentratedExponential":
        """The sharpest choice that costs at most ρ: ε = √(8ρ), rounded down by less than 2^-50 of itself."""
        exact = positive(rho, "rho")
        below = 1 / sqrt_up(1 / (8 * exact))
        return cls(below, positive(sensitivity, "sensitivity"))

    @classmethod
    def for_budget(
        cls, epsilon: Number, delta: Number = 0, *, sensitivity: Number = 1, monotone: bool = False
    ) -> "ConcentratedExponential":
        """About the sharpest choice that is (epsilon, delta)-DP by its ρ; it needs a delta."""
        rho = zcdp_rho(epsilon, delta)
        if not rho:
            raise Invalid(
                "a choice that is counted in zCDP needs a delta, and an epsilon that is not tiny",
                hint="for a budget without a delta take Exponential",
            )
        sharp = cls.for_rho(rho * (1 - Fraction(1, 10**9)), sensitivity)
        return cls(sharp.epsilon, sharp.sensitivity, monotone)

    def event(self, sensitivity: Number | None = None) -> events.ZeroConcentrated:  # type: ignore[override]
        """The choice, for scores that change by at most this, or by what was declared."""
        return self.concentrated(sensitivity)
