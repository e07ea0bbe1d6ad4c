"""The facts of scalar expressions, by interval arithmetic on the doubles that an engine computes with.

An interval here is where an honest row's value lies; no sensitivity rests on it alone. Whatever is summed is clamped to it as the last
step, so a value outside, from a row that breaks its declaration, changes nothing.

Rounding to the nearest double keeps order. So the double that comes of an operation on doubles lies between the exact ends of its
interval, each rounded once: cancellation, underflow to 0 and overflow are what they are in the engine. An end near the largest
double is no end, as infinity may lie behind it; and of what may be infinite something that is not a number, a NULL, may come.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import reduce, singledispatch
from math import ceil, floor, inf

from discreet.errors import Fault
from discreet.exact import sqrt_up
from discreet.plan.catalog import Table
from discreet.plan.facts import NOTHING_KNOWN, Facts, either
from discreet.plan.scalar import (
    And,
    Arithmetic,
    Case,
    Cast,
    Coalesce,
    Column,
    Comparison,
    Function,
    In,
    IsNull,
    Like,
    Literal,
    Name,
    Not,
    Operator,
    Or,
    Scalar,
    Type,
    type_of,
)

EXACT = 1 << 53  # a double holds every integer up to here
MOST = Fraction(2) ** 1023  # half of the largest double: no rounding leads from below here to infinity
Interval = tuple[Fraction | None, Fraction | None]


def there(condition: Scalar) -> set[str]:
    """Columns that are surely not NULL on a row where a condition is true."""
    match condition:
        case And(parts):
            return set().union(*map(there, parts))
        case Not(IsNull(Column(name))):
            return {name}
        case Not((Comparison() | In() | Like()) as inside):
            return there(inside)
        case Comparison(_, left, right):
            return {operand.name for operand in (left, right) if isinstance(operand, Column)}
        case In(operand) | Like(operand):
            return {operand.name} if isinstance(operand, Column) else set()
        case _:
            return set()


@singledispatch
def facts_of(scalar: Scalar, table: Table) -> Facts:
    """What is known of an expression over the rows of a table."""
    raise Fault(f"{type(scalar).__name__} has no rule for its facts", code="rule")


@facts_of.register
def _(scalar: Column, table: Table) -> Facts:
    column = table.column(scalar.name)
    return Facts(column.low, column.high, column.type is Type.INTEGER, column.nullable)


@facts_of.register
def _(scalar: Literal, table: Table) -> Facts:
    if scalar.value is None:
        return NOTHING_KNOWN
    if not scalar.type.numeric or abs(scalar.value) == inf:  # type: ignore[arg-type]
        return Facts(nullable=False)
    exact = Fraction(scalar.value)  # type: ignore[arg-type]
    return Facts(exact, exact, exact.denominator == 1, False)


@facts_of.register
def _(scalar: Comparison | In | Like, table: Table) -> Facts:
    operands = (scalar.left, scalar.right) if isinstance(scalar, Comparison) else (scalar.operand,)
    return Facts(nullable=any(facts_of(each, table).nullable for each in operands))


@facts_of.register
def _(scalar: And | Or, table: Table) -> Facts:
    return Facts(nullable=any(facts_of(part, table).nullable for part in scalar.parts))


@facts_of.register
def _(scalar: Not, table: Table) -> Facts:
    return Facts(nullable=facts_of(scalar.operand, table).nullable)


@facts_of.register
def _(scalar: IsNull, table: Table) -> Facts:
    return Facts(nullable=False)


@facts_of.register
def _(scalar: Case, table: Table) -> Facts:
    found = _one_of([value for _, value in scalar.branches] + [scalar.otherwise], table)
    return _as_doubles(found) if type_of(scalar) is Type.NUMBER else found


@facts_of.register
def _(scalar: Coalesce, table: Table) -> Facts:
    found = _one_of(list(scalar.parts), table)
    nullable = all(facts_of(part, table).nullable for part in scalar.parts)
    found = replace(found, nullable=nullable)
    return _as_doubles(found) if type_of(scalar) is Type.NUMBER else found


def _one_of(values: list[Scalar], table: Table) -> Facts:
    """Of a value that is one of these; a NULL that is written out has no bounds to add."""
    written = [each for each in values if not (isinstance(each, Literal) and each.value is None)]
    if not written:
        return NOTHING_KNOWN
    found = reduce(either, (facts_of(each, table) for each in written))
    return Facts(found.low, found.high, found.integral, found.nullable or len(written) < len(values))


@facts_of.register
def _(scalar: Cast, table: Table) -> Facts:
    inside, before = facts_of(scalar.operand, table), type_of(scalar.operand)
    if scalar.type.numeric and before is Type.BOOLEAN:
        return Facts(Fraction(0), Fraction(1), True, inside.nullable)
    if not scalar.type.numeric or not before.numeric:
        return Facts(integral=scalar.type is Type.INTEGER)
    if Type.NUMBER in (scalar.type, before):
        inside = _as_doubles(inside)
    if scalar.type is Type.NUMBER:
        return inside
    small = inside.low is not None and inside.high is not None and inside.low > -EXACT and inside.high < EXACT
    return Facts(_each(_half_away, inside.low), _each(_half_away, inside.high), True, inside.nullable or not small)


@facts_of.register
def _(scalar: Arithmetic, table: Table) -> Facts:
    left, right = (_as_doubles(facts_of(each, table)) for each in (scalar.left, scalar.right))
    low, high = map(_nearest, _INTERVALS[scalar.operator](left, right))
    whole = left.integral and right.integral and scalar.operator is not Operator.DIVIDE
    # NaN may come of infinities, never of two finite numbers; these may overflow, and then the interval has no end
    sure = scalar.operator in (Operator.ADD, Operator.SUBTRACT, Operator.MULTIPLY) and left.bounded and right.bounded
    small = low is not None and high is not None and max(abs(low), abs(high)) < EXACT
    return Facts(low, high, whole and small, left.nullable or right.nullable or not sure)


def _add(left: Facts, right: Facts) -> Interval:
    return (
        None if left.low is None or right.low is None else left.low + right.low,
        None if left.high is None or right.high is None else left.high + right.high,
    )


def _subtract(left: Facts, right: Facts) -> Interval:
    return _add(left, Facts(_each(_negative, right.high), _each(_negative, right.low)))


def _multiply(left: Facts, right: Facts) -> Interval:
    if left.low is None or left.high is None or right.low is None or right.high is None:
        return None, None
    corners = [x * y for x in (left.low, left.high) for y in (right.low, right.high)]
    return min(corners), max(corners)


def _divide(left: Facts, right: Facts) -> Interval:
    if right.low is None or right.high is None or right.low <= 0 <= right.high:
        return None, None
    return _multiply(left, Facts(1 / right.high, 1 / right.low))


def _remainder(left: Facts, right: Facts) -> Interval:
    """The sign of the dividend, and less in size than the divisor."""
    if right.low is None or right.high is None:
        return None, None
    most = max(abs(right.low), abs(right.high))
    low = Fraction(0) if left.low is not None and left.low >= 0 else -most
    high = Fraction(0) if left.high is not None and left.high <= 0 else most
    return low, high


_INTERVALS: dict[Operator, Callable[[Facts, Facts], Interval]] = {
    Operator.ADD: _add,
    Operator.SUBTRACT: _subtract,
    Operator.MULTIPLY: _multiply,
    Operator.DIVIDE: _divide,
    Operator.REMAINDER: _remainder,
}


@facts_of.register
def _(scalar: Function, table: Table) -> Facts:
    inside = [_as_doubles(facts_of(operand, table)) for operand in scalar.operands]
    nullable = any(each.nullable for each in inside)
    match scalar.name:
        case Name.GREATEST:
            return _greatest(inside)
        case Name.LEAST:
            turned = _greatest([_turned(each) for each in inside])
            return _turned(turned)
        case Name.ABS:
            return _absolute(inside[0])
        case Name.SQRT:
            most = inside[0].high
            root = None if most is None else sqrt_up(max(most, Fraction(0)))
            return Facts(Fraction(0), _nearest(root))
        case Name.SIGN:
            return Facts(Fraction(-1), Fraction(1), True, nullable)
        case Name.FLOOR | Name.CEIL | Name.ROUND:
            rounded = _ROUNDED[scalar.name]
            return Facts(_each(rounded, inside[0].low), _each(rounded, inside[0].high), True, nullable)
        case Name.LENGTH:
            return Facts(Fraction(0), None, True, nullable)
        case Name.YEAR | Name.MONTH | Name.DAY:
            most = Fraction({Name.YEAR: 9999, Name.MONTH: 12, Name.DAY: 31}[scalar.name])
            return Facts(Fraction(1), most, True, nullable)


def _greatest(parts: list[Facts]) -> Facts:
    """Of the largest of those that are not NULL: at least each that is surely there, at most the largest of all."""
    sure = [part.low for part in parts if not part.nullable and part.low is not None]
    lows = [part.low for part in parts if part.low is not None]
    low = max(sure) if sure else min(lows) if len(lows) == len(parts) else None
    highs = [part.high for part in parts if part.high is not None]
    high = max(highs) if len(highs) == len(parts) else None
    return Facts(low, high, all(part.integral for part in parts), all(part.nullable for part in parts))


def _turned(facts: Facts) -> Facts:
    """Of the value with the other sign."""
    return Facts(_each(_negative, facts.high), _each(_negative, facts.low), facts.integral, facts.nullable)


def _absolute(facts: Facts) -> Facts:
    turned = _turned(facts)
    if facts.low is not None and facts.low >= 0:
        return facts
    if facts.high is not None and facts.high <= 0:
        return turned
    most = max(facts.high, turned.high) if facts.high is not None and turned.high is not None else None
    return Facts(Fraction(0), most, facts.integral, facts.nullable)


def _nearest(bound: Fraction | None) -> Fraction | None:
    """The double nearest to an end, where infinity is far.

    >>> _nearest(Fraction(1, 10**400)), _nearest(Fraction(10**16 + 1)) == 10**16, _nearest(Fraction(10**308))
    (Fraction(0, 1), True, None)
    """
    return None if bound is None or abs(bound) > MOST else Fraction(float(bound))


def _as_doubles(facts: Facts) -> Facts:
    """Of a number as it is computed with: a wide integer, or a declared decimal, is the double nearest to it."""
    return replace(facts, low=_nearest(facts.low), high=_nearest(facts.high))


def _each(function: Callable[[Fraction], Fraction], bound: Fraction | None) -> Fraction | None:
    return None if bound is None else function(bound)


def _negative(x: Fraction) -> Fraction:
    return -x


def _half_away(x: Fraction) -> Fraction:
    return Fraction(floor(x + Fraction(1, 2)) if x >= 0 else ceil(x - Fraction(1, 2)))


_ROUNDED: dict[Name, Callable[[Fraction], Fraction]] = {
    Name.FLOOR: lambda x: Fraction(floor(x)),
    Name.CEIL: lambda x: Fraction(ceil(x)),
    Name.ROUND: _half_away,
}
