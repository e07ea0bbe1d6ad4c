"""Money as a ledger counts it: whole units of 10^-15 of ε, δ and ρ.

A price is rounded up to units once, a cap down; after that nothing rounds. What people see is a `Budget` of exact numbers, see
`policy.py`; `Amounts` are the integers that a ledger adds up, and `exact` leads from one to the other.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from discreet.accountant import within
from discreet.errors import Invalid
from discreet.exact import Number, divide_up, nonnegative, shown

UNIT = 10**15
"""So many units are one: an ε of 1, say."""

MOST = 10**6 * UNIT
"""No price and no cap is above this: an ε of a million protects nobody."""


def units_up(value: object, name: str) -> int:
    """A caller's number in units, rounded up; so what is not zero stays so."""
    exact = nonnegative(value, name)
    return divide_up(exact.numerator * UNIT, exact.denominator)


def units_down(value: object, name: str) -> int:
    """A caller's number in units, rounded down."""
    exact = nonnegative(value, name)
    return exact.numerator * UNIT // exact.denominator


def in_words(units: int) -> str:
    """Units as a decimal number, without zeros at its end.

    >>> in_words(UNIT // 10), in_words(3 * UNIT), in_words(1)
    ('0.1', '3', '0.000000000000001')
    """
    return format(Decimal(units).scaleb(-15).normalize(), "f")


@dataclass(frozen=True, slots=True)
class Amounts:
    """Whole units of ε, δ and ρ: a price, a cap or a total.

    >>> Amounts.up(0.1, 1e-9) == Amounts(UNIT // 10, 10**6)
    True
    """

    epsilon: int = 0
    delta: int = 0
    rho: int = 0

    def __post_init__(self) -> None:
        for name, most in (("epsilon", MOST), ("delta", UNIT - 1), ("rho", MOST)):
            value = getattr(self, name)
            if type(value) is not int or not 0 <= value <= most:
                raise _not_units(value, name)

    @classmethod
    def up(cls, epsilon: Number = 0, delta: Number = 0, rho: Number = 0) -> "Amounts":
        """A price: numbers rounded up to units. For anything negative, not finite, or too large raises Invalid."""
        return cls(units_up(epsilon, "epsilon"), units_up(delta, "delta"), units_up(rho, "rho"))

    @classmethod
    def down(cls, epsilon: Number = 0, delta: Number = 0, rho: Number = 0) -> "Amounts":
        """A cap: numbers rounded down to units."""
        return cls(units_down(epsilon, "epsilon"), units_down(delta, "delta"), units_down(rho, "rho"))

    @property
    def exact(self) -> tuple[Fraction, Fraction, Fraction]:
        """ε, δ and ρ as the numbers they are."""
        return Fraction(self.epsilon, UNIT), Fraction(self.delta, UNIT), Fraction(self.rho, UNIT)

    def __iter__(self) -> Iterator[int]:
        return iter((self.epsilon, self.delta, self.rho))

    def within(self, other: "Amounts") -> bool:
        return within(self, other)

    def to_json(self) -> list[int]:
        return [self.epsilon, self.delta, self.rho]

    @classmethod
    def from_json(cls, value: list[int]) -> "Amounts":
        return cls(*value)

    def __str__(self) -> str:
        return self.beside(self)

    def beside(self, other: "Amounts") -> str:
        """The amounts in words, with the zeros that another has something in place of.

        >>> print(Amounts(0, 10**9), "|", Amounts(0, 10**9).beside(Amounts(UNIT)))
        delta 0.000001 | epsilon 0, delta 0.000001
        """
        names = ("epsilon", "delta", "rho")
        parts = [f"{name} {in_words(a)}" for name, a, b in zip(names, self, other, strict=True) if a or b]
        return ", ".join(parts) or "nothing"


Price: TypeAlias = Amounts
NOTHING = Amounts()


def _not_units(value: object, name: str) -> Invalid:
    if type(value) is not int:
        return Invalid(f"{name} must be a whole number of units, got {shown(value)}", hint="Amounts.up takes numbers")
    if value < 0:
        return Invalid(f"{name} must not be negative, got {shown(value)} units")
    return Invalid(f"{name} must be {'less than 1' if name == 'delta' else 'at most 1,000,000'}, got more")


@dataclass(frozen=True, slots=True)
class Cap:
    """The most that may be spent, and the (ε, δ) that is kept by it. For the pure accountant these are the same."""

    limit: Amounts
    budget: Amounts

    def within(self, other: "Cap") -> bool:
        return self.limit.within(other.limit) and self.budget.within(other.budget)

    def to_json(self) -> dict[str, Any]:
        return {"budget": self.budget.to_json(), "limit": self.limit.to_json()}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Cap":
        return cls(Amounts.from_json(value["limit"]), Amounts.from_json(value["budget"]))
