"""What is left of a budget, as an answer shows it: rounded down."""

from fractions import Fraction
from typing import Protocol

from discreet.exact import to_float_down


class Left(Protocol):
    """A budget that is left: ε and δ, and ρ where that is what is counted."""

    @property
    def epsilon(self) -> Fraction: ...

    @property
    def delta(self) -> Fraction: ...

    @property
    def rho(self) -> Fraction | None: ...


def amounts(left: Left) -> dict[str, float]:
    """Its parts, none of them more than there is."""
    parts = {"epsilon": left.epsilon, "delta": left.delta, "rho": left.rho}
    return {name: to_float_down(part) for name, part in parts.items() if part is not None}
