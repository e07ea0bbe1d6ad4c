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
from math import inf

from discreet.errors import Fault
from discreet.plan.casts import conversion
from discreet.plan.facts import NOTHING_KNOWN, Facts, as_doubles, either, nearest, turned
from discreet.plan.functions import function
from discreet.plan.moments import number
from discreet.plan.scalar import (
    LARGEST,
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
    Not,
    Operator,
    Or,
    Scalar,
    Type,
    type_of,
)
from discreet.plan.scope import Scope

Interval = tuple[Fraction | None, Fraction | None]


@singledispatch
def facts_of(scalar: Scalar, scope: Scope) -> Facts:
    """What is known of an expression over the rows of a relation whose columns are in scope."""
    raise Fault(f"{type(scalar).__name__} has no rule for its facts", code="rule")


@facts_of.register
def _column(scalar: Column, scope: Scope) -> Facts:
    return scope.facts(scalar)


@facts_of.register
def _literal(scalar: Literal, scope: Scope) -> Facts:
    if scalar.value is None:
        return NOTHING_KNOWN
    place = number(scalar.value)
    if place is not None:
        return Facts(Fraction(place), Fraction(place), True, False)
    if not scalar.type.numeric or abs(scalar.value) == inf:  # type: ignore[arg-type]
        return Facts(nullable=False)
    exact = Fraction(scalar.value)  # type: ignore[arg-type]
    return Facts(exact, exact, exact.denominator == 1, False)


@facts_of.register
def _compared(scalar: Comparison | In | Like, scope: Scope) -> Facts:
    operands = (scalar.left, scalar.right) if isinstance(scalar, Comparison) else (scalar.operand,)
    return Facts(nullable=any(facts_of(each, scope).nullable for each in operands))


@facts_of.register
def _joined(scalar: And | Or, scope: Scope) -> Facts:
    return Facts(nullable=any(facts_of(part, scope).nullable for part in scalar.parts))


@facts_of.register
def _not(scalar: Not, scope: Scope) -> Facts:
    return Facts(nullable=facts_of(scalar.operand, scope).nullable)


@facts_of.register
def _is_null(scalar: IsNull, scope: Scope) -> Facts:
    return Facts(nullable=False)


@facts_of.register
def _case(scalar: Case, scope: Scope) -> Facts:
    facts = _one_of([value for _, value in scalar.branches] + [scalar.otherwise], scope)
    return as_doubles(facts) if type_of(scalar) is Type.NUMBER else facts


@facts_of.register
def _coalesce(scalar: Coalesce, scope: Scope) -> Facts:
    facts = _one_of(list(scalar.parts), scope)
    nullable = all(facts_of(part, scope).nullable for part in scalar.parts)
    facts = replace(facts, nullable=nullable)
    return as_doubles(facts) if type_of(scalar) is Type.NUMBER else facts


def _one_of(values: list[Scalar], scope: Scope) -> Facts:
    """What is known of a value that is one of these; a NULL that is written out has no bounds to add."""
    written = [each for each in values if not (isinstance(each, Literal) and each.value is None)]
    if not written:
        return NOTHING_KNOWN
    facts = reduce(either, (facts_of(each, scope) for each in written))
    return Facts(facts.low, facts.high, facts.integral, facts.nullable or len(written) < len(values))


@facts_of.register
def _cast(scalar: Cast, scope: Scope) -> Facts:
    return conversion(type_of(scalar.operand), scalar.type).facts(facts_of(scalar.operand, scope))


@facts_of.register
def _arithmetic(scalar: Arithmetic, scope: Scope) -> Facts:
    left, right = (as_doubles(facts_of(each, scope)) for each in (scalar.left, scalar.right))
    low, high = map(nearest, _INTERVALS[scalar.operator](left, right))
    whole = left.integral and right.integral and scalar.operator is not Operator.DIVIDE
    # NaN may come of infinities, never of two finite numbers; these may overflow, and then the interval has no end
    sure = scalar.operator in (Operator.ADD, Operator.SUBTRACT, Operator.MULTIPLY) and left.bounded and right.bounded
    small = low is not None and high is not None and max(abs(low), abs(high)) < LARGEST
    return Facts(low, high, whole and small, left.nullable or right.nullable or not sure)


def _add(left: Facts, right: Facts) -> Interval:
    return (
        None if left.low is None or right.low is None else left.low + right.low,
        None if left.high is None or right.high is None else left.high + right.high,
    )


def _subtract(left: Facts, right: Facts) -> Interval:
    return _add(left, turned(right))


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
def _function(scalar: Function, scope: Scope) -> Facts:
    inside = (facts_of(operand, scope) for operand in scalar.operands)
    # what is known of a moment has more digits than a double, and nothing is computed of it in doubles
    exact = [type_of(operand) is Type.TIMESTAMP for operand in scalar.operands]
    return function(scalar.name).known([x if keep else as_doubles(x) for x, keep in zip(inside, exact, strict=True)])
