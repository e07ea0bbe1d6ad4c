"""Aggregates of the rows of one person: what is gathered of them, in whole numbers, and what is made of that.

    COUNT COUNT_IF COUNT(DISTINCT x)     MIN MAX BOOL_AND BOOL_OR     SUM AVG VARIANCE STDDEV (clamped, on a grid)

It is a closed list: each depends on the set of the person's rows, and on nothing else (`rules.people` says why). SUM, AVG and the others of
numbers need bounds here as they do outside: a value is clamped to them and put on the grid of 2^24 steps that it would have there, and
sums of steps are exact. As in SQL all but counts are NULL where there is no value; a variance of a sample is where there are two or more.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import QueryError
from discreet.plan.evaluate import product_ends
from discreet.plan.facts import Facts
from discreet.plan.grid import ValueGrid, divisor_for, grid_for
from discreet.plan.relation import ONE, Summary
from discreet.plan.releases.terms import without_bounds
from discreet.plan.rules.scalars import facts_of
from discreet.plan.scalar import (
    And,
    Arithmetic,
    Case,
    Comparison,
    Function,
    Indicator,
    IsNull,
    Key,
    Literal,
    Not,
    Operator,
    Order,
    Product,
    Scalar,
    Steps,
    Type,
    type_of,
)
from discreet.plan.scope import Scope

NAMES = frozenset(
    {
        *("COUNT", "COUNT_IF", "COUNTIF", "SUM", "AVG", "MEAN", "MIN", "MAX"),
        *("VARIANCE", "VAR_SAMP", "VAR_POP", "STDDEV", "STDDEV_SAMP", "STDDEV_POP"),
        *("BOOL_AND", "EVERY", "LOGICAL_AND", "BOOL_OR", "LOGICAL_OR"),
    }
)
"""All that can be asked of the rows of one person, as SQL calls it."""

TRUE = Literal(True, Type.BOOLEAN)


@dataclass(frozen=True, slots=True)
class Part:
    """One value that is gathered of all rows of a person: what it is called beside others, how, and of what."""

    called: str
    how: Summary
    value: Scalar

    @property
    def type(self) -> Type:
        return type_of(self.value) if self.how in (Summary.LEAST, Summary.LARGEST) else Type.INTEGER


@dataclass(frozen=True, slots=True)
class OfAPerson:
    """An aggregate of the rows of a person: the parts that are gathered, and what is made of them, where Key(i) is the i-th."""

    heading: str
    parts: tuple[Part, ...]
    made: Scalar

    @property
    def type(self) -> Type:
        return type_of(self.made)


def plain(heading: str, how: Summary, value: Scalar) -> OfAPerson:
    """An aggregate that is one part as it is."""
    part = Part(heading, how, value)
    return OfAPerson(heading, (part,), Key(0, part.type))


def counted(condition: Scalar | None, argument: Scalar | None = None) -> OfAPerson:
    """How many rows there are on which a condition is true, and an argument is not NULL."""
    return plain("count", Summary.SUM, _ones(condition, argument))


def summarised(heading: str, how: Summary, argument: Scalar, condition: Scalar | None) -> OfAPerson:
    """How many values there are, or the least or the largest of them."""
    return plain(heading, how, where(condition, argument))


def total(argument: Scalar, condition: Scalar | None, scope: Scope) -> OfAPerson:
    """The sum of a number. It has the sign of its bounds, and no end of its own."""
    grid, facts = _grid("SUM", argument, scope)
    if grid.near:
        steps, counts = _steps(argument, condition, grid, 0.0), _counts(argument, condition, facts)
        value: Scalar = Key(0, Type.INTEGER) if not grid.shift else _times(Key(0, Type.INTEGER), _number(grid.step))
    else:
        steps, counts = (
            _steps(argument, condition, grid, grid.middle),
            [Part("count", Summary.SUM, _ones(condition, argument))],
        )
        value = _plus(
            _times(Key(0, Type.INTEGER), _number(grid.step)), _times(Key(1, Type.INTEGER), _number(grid.middle))
        )
    if type_of(value) is Type.NUMBER and (grid.low >= 0 or grid.high <= 0):
        value = Function("greatest" if grid.low >= 0 else "least", (value, _number(0)))
    return OfAPerson("sum", (steps, *counts), _if_more(value, counts, 0))


def mean(argument: Scalar, condition: Scalar | None, scope: Scope) -> OfAPerson:
    """The mean of a number, within its bounds."""
    grid, facts = _grid("AVG", argument, scope)
    counts = _counts(argument, condition, facts) or [Part("count", Summary.SUM, ONE)]
    deviation = _over(_times(Key(0, Type.INTEGER), _number(grid.step)), Key(1, Type.INTEGER))
    within = _clamped(_plus(_number(grid.middle), deviation), grid.low, grid.high)
    sure = counts[0].value == ONE
    return OfAPerson(
        "avg",
        (_steps(argument, condition, grid, grid.middle), *counts),
        within if sure else _if_more(within, counts, 0),
    )


def dispersion(
    heading: str, argument: Scalar, condition: Scalar | None, scope: Scope, *, sample: bool, root: bool
) -> OfAPerson:
    """The variance of a number, or its root: (Σy² − (Σy)²/n)/n, or over n − 1; y is a value less the middle of its bounds."""
    grid, _ = _grid(heading.upper(), argument, scope)
    y = _steps(argument, condition, grid, grid.middle)
    if not isinstance(y.value, Steps):
        raise QueryError(f"{heading.upper()} needs a number", code="types")
    shift = divisor_for(max(map(abs, product_ends(Product(y.value, y.value, 0, 0))))).bit_length() - 1
    squares = Part("squares", Summary.SUM, Product(y.value, y.value, shift, 0))
    counts = [Part("count", Summary.SUM, _ones(condition, argument))]
    n, least = Key(1, Type.INTEGER), 1 if sample else 0
    total_y, total_squares = (
        _times(Key(place, Type.INTEGER), _number(step))
        for place, step in ((0, grid.step), (2, grid.step**2 * 2**shift))
    )
    spread = _minus(total_squares, _over(_times(total_y, total_y), n))
    width = Fraction(grid.high) - Fraction(grid.low)
    # of two values, at both ends, over n − 1
    most = width**2 / (2 if sample else 4)
    value: Scalar = _clamped(_over(spread, _minus(n, _number(1)) if sample else n), 0, most)
    if root:
        value = Function("sqrt", (value,))
    return OfAPerson(heading, (y, *counts, squares), _if_more(value, counts, least))


def _grid(name: str, argument: Scalar, scope: Scope) -> tuple[ValueGrid, Facts]:
    """The grid of an argument, as it has outside; or raises QueryError where it has no bounds: inside none are found."""
    facts = facts_of(argument, scope)
    if facts.low is None or facts.high is None:
        raise without_bounds(name, argument, scope, finds=False)
    return grid_for(facts.low, facts.high, facts.integral), facts


def _steps(argument: Scalar, condition: Scalar | None, grid: ValueGrid, middle: float) -> Part:
    return Part("sum", Summary.SUM, Steps(where(condition, argument), grid.low, grid.high, grid.shift, middle))


def _counts(argument: Scalar, condition: Scalar | None, facts: Facts) -> list[Part]:
    """The count of values, where there may be none."""
    if condition is None and not facts.nullable:
        return []
    return [Part("count", Summary.SUM, _ones(condition, argument))]


def _ones(condition: Scalar | None, argument: Scalar | None) -> Scalar:
    conditions = [*([] if condition is None else [condition]), *([] if argument is None else [Not(IsNull(argument))])]
    if not conditions:
        return ONE
    return Indicator(And(tuple(conditions)) if len(conditions) > 1 else conditions[0])


def where(condition: Scalar | None, value: Scalar) -> Scalar:
    """A value where a condition is true, and NULL elsewhere."""
    return value if condition is None else Case(((condition, value),), Literal(None, type_of(value)))


def _if_more(value: Scalar, counts: list[Part], least: int) -> Scalar:
    """A value where there are more than so many, by the count that is the second part; NULL elsewhere."""
    if not counts:
        return value
    enough = Comparison(Order.GREATER, Key(1, Type.INTEGER), Literal(least, Type.INTEGER))
    return Case(((enough, value),), Literal(None, type_of(value)))


def _number(value: Fraction | float) -> Literal:
    return Literal(float(value), Type.NUMBER)


def _clamped(value: Scalar, low: Fraction | float, high: Fraction | float) -> Scalar:
    return Function("least", (Function("greatest", (value, _number(low))), _number(high)))


def _made(operator: Operator) -> Callable[[Scalar, Scalar], Scalar]:
    return lambda left, right: Arithmetic(operator, left, right)


_plus, _minus, _times, _over = map(_made, (Operator.ADD, Operator.SUBTRACT, Operator.MULTIPLY, Operator.DIVIDE))
