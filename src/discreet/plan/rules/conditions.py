"""What a condition tells of the rows on which it is true: which columns are surely there, and between what values lie.

    WHERE age >= 65 AND age < 80        age is not NULL, and lies between 65 and 79: AVG(age) needs noise for 15 years, and not for 120

What is told follows from the question alone; no row is looked at. As with what is declared, no sensitivity rests on it: whatever is summed
is clamped to its bounds as the last step.
"""

from collections.abc import Iterator
from fractions import Fraction
from math import ceil, floor

from discreet.plan.facts import Facts
from discreet.plan.moments import number
from discreet.plan.scalar import (
    And,
    Column,
    Comparison,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Order,
    Scalar,
    Type,
    columns_in,
    type_of,
)
from discreet.plan.scope import Scope

EXACT = 1 << 53
"""Below this whole numbers are compared with numbers as what they are."""


def where(scope: Scope, *conditions: Scalar) -> Scope:
    """A scope on the rows on which all conditions are true."""
    present = set[Column]().union(*map(there, conditions))
    return scope.where(present, [each for condition in conditions for each in ranges_in(condition)])


def there(condition: Scalar) -> set[Column]:
    """Columns that are surely not NULL on a row where a condition is true."""
    match condition:
        case And(parts):
            return set().union(*map(there, parts))
        case Not(IsNull(Column() as column)):
            return {column}
        case Not((Comparison() | In() | Like()) as inside):
            return there(inside)
        case Comparison(_, left, right):
            return {operand for operand in (left, right) if isinstance(operand, Column)}
        case In(operand) | Like(operand):
            return {operand} if isinstance(operand, Column) else set()
        case _:
            return set()


def ranges_in(condition: Scalar) -> Iterator[tuple[Scalar, Facts]]:
    """Expressions, and between what each lies on a row where a condition is true. A constant stands on the right, as questions are read."""
    match condition:
        case And(parts):
            for part in parts:
                yield from ranges_in(part)
        case Comparison(order, operand, Literal() as end) if _ordered(operand):
            place = _place(end)
            if place is not None:
                yield operand, _beyond(order, place, type_of(operand))
        case In(operand, values) if _ordered(operand):
            places = [_place(value) for value in values]
            known = [place for place in places if place is not None]
            if known and len(known) == len(places):
                yield operand, Facts(min(known), max(known))


def _ordered(operand: Scalar) -> bool:
    """Whether an operand is of the data, and has a place among numbers or in time."""
    type = type_of(operand)
    return bool(columns_in(operand)) and (type.numeric or type in (Type.DATE, Type.TIMESTAMP))


def _place(end: Literal) -> Fraction | None:
    """The number by which a constant is known; None for NULL, and for infinity."""
    moment = number(end.value)
    if moment is not None:
        return Fraction(moment)
    if end.value is None or not end.type.numeric or abs(end.value) == float("inf"):  # type: ignore[arg-type]
        return None
    return Fraction(end.value)  # type: ignore[arg-type]


def _beyond(order: Order, end: Fraction, type: Type) -> Facts:
    """What is known of a value that compares so with an end: a whole number that is more than 64 is 65 at least."""
    whole = type is not Type.NUMBER and abs(end) < EXACT
    match order:
        case Order.EQUAL:
            return Facts(end, end)
        case Order.LESS:
            return Facts(high=Fraction(ceil(end) - 1) if whole else end)
        case Order.LESS_OR_EQUAL:
            return Facts(high=Fraction(floor(end)) if whole else end)
        case Order.GREATER:
            return Facts(low=Fraction(floor(end) + 1) if whole else end)
        case Order.GREATER_OR_EQUAL:
            return Facts(low=Fraction(ceil(end)) if whole else end)
    return Facts()
