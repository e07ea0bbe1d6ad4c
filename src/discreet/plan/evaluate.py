"""The meaning of every expression: its value on one row, in plain Python. Slow and obvious; an engine must agree with it.

For any expression of well-typed operands and any row of the declared types `evaluate` returns a value of the type of the expression,
or NULL (None); it never raises because of what is in the row.
"""

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache, singledispatch
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from discreet.errors import Fault
from discreet.plan.casts import convert
from discreet.plan.functions import function
from discreet.plan.scalar import (
    And,
    Arithmetic,
    Case,
    Cast,
    Coalesce,
    Column,
    Comparison,
    Function,
    Grouping,
    In,
    Indicator,
    IsNull,
    Key,
    Like,
    Literal,
    Not,
    Operator,
    Or,
    Order,
    Over,
    Product,
    Released,
    Scalar,
    Steps,
    Type,
    Value,
    type_of,
)
from discreet.plan.texts import LOWER

ORDERS = {
    Order.EQUAL: eq,
    Order.NOT_EQUAL: ne,
    Order.LESS: lt,
    Order.LESS_OR_EQUAL: le,
    Order.GREATER: gt,
    Order.GREATER_OR_EQUAL: ge,
}


@singledispatch
def evaluate(scalar: Scalar, row: Mapping[Any, Value]) -> Value:
    """The value of an expression on a row, given as a value for the place of each column; of released values for each node."""
    raise Fault(f"{type(scalar).__name__} has no meaning", code="scalar")


def evaluate_each(scalar: Scalar, place: str | tuple[str, str], values: Sequence[Value]) -> list[Value]:
    """What `evaluate` says on each row that has one of these values in the one place that an expression reads; node by node, which is
    faster for many rows."""
    if isinstance(scalar, Column):
        return list(map(clean, values))
    if isinstance(scalar, Literal):
        return [evaluate(scalar, {})] * len(values)
    if not isinstance(scalar, Function) or function(scalar.name).many or not scalar.operands:
        return [evaluate(scalar, {place: value}) for value in values]
    called, operands = function(scalar.name), []
    for i, operand in enumerate(scalar.operands):
        column = evaluate_each(operand, place, values)
        if called.operand(i) is Type.NUMBER:
            column = [None if value is None else float(value) for value in column]  # type: ignore[arg-type]
        operands.append(column)
    meaning = called.meaning
    return [None if None in row else clean(meaning(*row)) for row in zip(*operands, strict=True)]


@evaluate.register
def _column(scalar: Column, row: Mapping[Any, Value]) -> Value:
    return clean(row[scalar.place])


@evaluate.register
def _released(scalar: Key | Grouping | Released | Over, row: Mapping[Any, Value]) -> Value:
    """A row of released values has them by the nodes that name them."""
    return clean(row[scalar])


@evaluate.register
def _literal(scalar: Literal, row: Mapping[str, Value]) -> Value:
    return clean(scalar.value)


@evaluate.register
def _arithmetic(scalar: Arithmetic, row: Mapping[str, Value]) -> Value:
    left, right = double_of(scalar.left, row), double_of(scalar.right, row)
    if left is None or right is None:
        return None
    match scalar.operator:
        case Operator.ADD:
            return clean(left + right)
        case Operator.SUBTRACT:
            return clean(left - right)
        case Operator.MULTIPLY:
            return clean(left * right)
        case Operator.DIVIDE:
            return clean(left / right) if right else None
        case Operator.REMAINDER:
            return math.fmod(left, right) if right and math.isfinite(left) else None


@evaluate.register
def _comparison(scalar: Comparison, row: Mapping[str, Value]) -> Value:
    return compare(scalar.order, evaluate(scalar.left, row), evaluate(scalar.right, row))


@evaluate.register
def _and(scalar: And, row: Mapping[str, Value]) -> Value:
    values = [evaluate(part, row) for part in scalar.parts]
    return False if False in values else None if None in values else True


@evaluate.register
def _or(scalar: Or, row: Mapping[str, Value]) -> Value:
    values = [evaluate(part, row) for part in scalar.parts]
    return True if True in values else None if None in values else False


@evaluate.register
def _not(scalar: Not, row: Mapping[str, Value]) -> Value:
    value = evaluate(scalar.operand, row)
    return None if value is None else not value


@evaluate.register
def _is_null(scalar: IsNull, row: Mapping[str, Value]) -> Value:
    return evaluate(scalar.operand, row) is None


@evaluate.register
def _in(scalar: In, row: Mapping[str, Value]) -> Value:
    operand = evaluate(scalar.operand, row)
    if operand is None:
        return None
    return any(compare(Order.EQUAL, operand, evaluate(value, row)) for value in scalar.values)


@evaluate.register
def _like(scalar: Like, row: Mapping[str, Value]) -> Value:
    text = evaluate(scalar.operand, row)
    if text is None:
        return None
    pattern = scalar.pattern.translate(LOWER) if scalar.ignore_case else scalar.pattern
    text = str(text).translate(LOWER) if scalar.ignore_case else str(text)
    return _matcher(pattern).fullmatch(text) is not None


@evaluate.register
def _case(scalar: Case, row: Mapping[str, Value]) -> Value:
    for condition, value in scalar.branches:
        if evaluate(condition, row) is True:
            return _as(type_of(scalar), evaluate(value, row))
    return _as(type_of(scalar), evaluate(scalar.otherwise, row))


@evaluate.register
def _coalesce(scalar: Coalesce, row: Mapping[str, Value]) -> Value:
    values = (evaluate(part, row) for part in scalar.parts)
    return _as(type_of(scalar), next((value for value in values if value is not None), None))


@evaluate.register
def _cast(scalar: Cast, row: Mapping[str, Value]) -> Value:
    return convert(evaluate(scalar.operand, row), type_of(scalar.operand), scalar.type)


@evaluate.register
def _function(scalar: Function, row: Mapping[str, Value]) -> Value:
    called = function(scalar.name)
    values = [
        double_of(operand, row) if called.operand(i) is Type.NUMBER else evaluate(operand, row)
        for i, operand in enumerate(scalar.operands)
    ]
    if called.many:
        values = [value for value in values if value is not None]
    return clean(called.meaning(*values)) if values and None not in values else None


@evaluate.register
def _steps(scalar: Steps, row: Mapping[str, Value]) -> Value:
    value = evaluate(scalar.operand, row)
    if value is None:
        return None
    if scalar.whole:
        return min(max(int(value), int(scalar.low)), int(scalar.high)) - int(scalar.middle)  # type: ignore[arg-type]
    return steps_of(min(max(float(value), scalar.low), scalar.high), scalar)  # type: ignore[arg-type]


def steps_of(x: float, steps: Steps) -> int:
    """The place of a double within the bounds on a grid."""
    return math.floor((x - steps.middle) * math.ldexp(1.0, steps.shift) + 0.5)


@evaluate.register
def _product(scalar: Product, row: Mapping[str, Value]) -> Value:
    left, right = evaluate(scalar.left, row), evaluate(scalar.right, row)
    return None if left is None or right is None else product_of(int(left), int(right), scalar)  # type: ignore[arg-type]


def product_of(left: int, right: int, product: Product) -> int:
    """The place of a product of two factors, in steps."""
    return (2 * left * right + (1 << product.shift) >> product.shift + 1) - product.middle


def product_ends(product: Product) -> tuple[int, int]:
    """The least and the largest place of a product whose factors are within their bounds; a square is never negative."""
    first, second = ([steps_of(end, each) for end in (each.low, each.high)] for each in (product.left, product.right))
    if product.left == product.right:
        sizes = sorted(map(abs, first))
        corners = [(0, 0) if first[0] <= 0 <= first[1] else (sizes[0], sizes[0]), (sizes[1], sizes[1])]
    else:
        corners = [(left, right) for left in first for right in second]
    places = [product_of(left, right, product) for left, right in corners]
    return min(places), max(places)


def largest(scalar: Scalar) -> int:
    """A bound of the size of a term of one row."""
    match scalar:
        case Steps():
            return max(abs(steps_of(bound, scalar)) for bound in (scalar.low, scalar.high))
        case Product():
            return max(map(abs, product_ends(scalar)))
        case Literal(value=int(value)):
            return abs(value)
    return 1


@evaluate.register
def _indicator(scalar: Indicator, row: Mapping[str, Value]) -> Value:
    return 1 if evaluate(scalar.condition, row) is True else 0


def clean(value: Value) -> Value:
    """The value, where what is not a number is NULL."""
    return None if isinstance(value, float) and math.isnan(value) else value


def double_of(scalar: Scalar, row: Mapping[str, Value]) -> float | None:
    """The value of a numeric expression as a double."""
    value = evaluate(scalar, row)
    return None if value is None else float(value)  # type: ignore[arg-type]


def compare(order: Order, left: Value, right: Value) -> bool | None:
    """Whether two values are in this order: of one type, or of an integer with a number, as doubles."""
    if left is None or right is None:
        return None
    if isinstance(left, float) or isinstance(right, float):
        left, right = float(left), float(right)  # type: ignore[arg-type]
    return bool(ORDERS[order](left, right))


def _as(type: Type, value: Value) -> Value:
    """An integer among numbers is a number."""
    return float(value) if type is Type.NUMBER and isinstance(value, int) else value


@lru_cache(maxsize=256)
def _matcher(pattern: str) -> re.Pattern[str]:
    """A pattern of LIKE as a regular expression; a backslash at the very end stands for itself."""
    regex, i = "", 0
    while i < len(pattern):
        character, i = pattern[i], i + 1
        if character == "\\" and i < len(pattern):
            regex, i = regex + re.escape(pattern[i]), i + 1
        else:
            regex += {"%": ".*", "_": "."}.get(character, re.escape(character))
    return re.compile(regex, re.DOTALL)
