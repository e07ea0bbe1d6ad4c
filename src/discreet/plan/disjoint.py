"""Whether two conditions can both be true of a row: told from the question alone, and never said where it is not proven.

State contract: for any two conditions, True is returned only where no row makes both true. Proof: each is taken apart at AND, and a part
that is true of a row says where one expression e lies: among constants, on one side of a constant, or that e itself is true or false.
On a row on which both are true all parts of both are; where two of them say of the same e that it lies in sets without a common value,
there is no such row. Everything else, such as OR, tells nothing, and neither does an integer that no double is: beside a column of
doubles it is another one.

Privacy does not rest on it: whoever asks for disjoint queries gets groups of a CASE, in one of which a row is at most.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import combinations
from typing import Any

from discreet.plan.scalar import And, Comparison, In, Literal, Not, Order, Scalar, Type, Value, type_of

MOST_EXACT = 1 << 53
"""Integers up to here are doubles."""


@dataclass(frozen=True, slots=True)
class Region:
    """A set of values that an expression lies in: among these values, or between two ends, each with whether it is in; None is no end."""

    among: frozenset[Any] | None = None
    low: tuple[Any, bool] | None = None
    high: tuple[Any, bool] | None = None

    def is_apart_from(self, other: "Region") -> bool:
        """Whether no value lies in both."""
        if self.among is not None:
            return not any(other.holds(each) for each in self.among)
        if other.among is not None:
            return other.is_apart_from(self)
        return _is_below(self.high, other.low) or _is_below(other.high, self.low)

    def holds(self, value: Any) -> bool:
        """Whether a value lies here."""
        if self.among is not None:
            return value in self.among
        exactly = (value, True)
        return not _is_below(exactly, self.low) and not _is_below(self.high, exactly)


def are_disjoint(conditions: Sequence[Scalar]) -> bool:
    """Whether no row makes two of these conditions true, as far as that is proven."""
    regions = [list(_regions(each)) for each in conditions]
    return all(_are_apart(one, other) for one, other in combinations(regions, 2))


def _are_apart(one: list[tuple[Scalar, Region]], other: list[tuple[Scalar, Region]]) -> bool:
    return any(of == about and region.is_apart_from(there) for of, region in one for about, there in other)


def _regions(condition: Scalar) -> Iterator[tuple[Scalar, Region]]:
    """What each part of a condition that is true says of an expression."""
    for part in condition.parts if isinstance(condition, And) else (condition,):
        if isinstance(part, And):
            yield from _regions(part)
            continue
        inner = part.operand if isinstance(part, Not) else part
        yield inner, Region(frozenset({not isinstance(part, Not)}))
        if isinstance(part, Comparison) and isinstance(part.right, Literal):
            yield from _compared(part, part.right)
        elif isinstance(part, In):
            values = [_comparable(each.value, type_of(part.operand)) for each in part.values]
            if None not in values:
                yield part.operand, Region(frozenset(values))


def _compared(part: Comparison, constant: Literal) -> Iterator[tuple[Scalar, Region]]:
    value = _comparable(constant.value, type_of(part.left))
    if value is None:
        return
    match part.order:
        case Order.EQUAL:
            yield part.left, Region(frozenset({value}))
        case Order.LESS | Order.LESS_OR_EQUAL:
            yield part.left, Region(high=(value, part.order is Order.LESS_OR_EQUAL))
        case Order.GREATER | Order.GREATER_OR_EQUAL:
            yield part.left, Region(low=(value, part.order is Order.GREATER_OR_EQUAL))
        case Order.NOT_EQUAL:
            yield replace(part, order=Order.EQUAL), Region(frozenset({False}))


def _comparable(value: Value, kind: Type) -> Any:
    """A constant beside an expression of this type, among others of which two can be compared; None where that is not sure."""
    if value is None or isinstance(value, bool):
        return value
    if kind.numeric and isinstance(value, int | float):
        return float(value) if abs(value) <= MOST_EXACT else None
    if kind is Type.TEXT and isinstance(value, str):
        return value
    return value if kind is Type.DATE and type(value) is date else None


def _is_below(high: tuple[Any, bool] | None, low: tuple[Any, bool] | None) -> bool:
    """Whether all up to an upper end lies below all from a lower end on."""
    if high is None or low is None:
        return False
    return bool(high[0] < low[0] or (high[0] == low[0] and not (high[1] and low[1])))
