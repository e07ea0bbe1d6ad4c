"""Facts hold: on any row that keeps its declaration, every expression is what its facts say."""

from datetime import date
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import isinf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.plan import scalar as s
from discreet.plan.calendar import number_of
from discreet.plan.catalog import Column, Table
from discreet.plan.domain import values_of
from discreet.plan.evaluate import evaluate
from discreet.plan.facts import Facts, either
from discreet.plan.rules.conditions import there
from discreet.plan.rules.scalars import facts_of
from discreet.plan.scalar import Type
from discreet.plan.scope import Scope
from tests.plan.strategies import scalars
from tests.scale import repeats

F = Fraction
WHEN = (date(1969, 11, 30), date(2024, 2, 29))
TABLE = Table(
    "t",
    (
        Column("i", Type.INTEGER, F(-3), F(4)),
        Column("j", Type.INTEGER, F(2), F(9), nullable=False),
        Column("x", Type.NUMBER, F(-1, 2), F(5, 2)),
        Column("y", Type.NUMBER),
        Column("w", Type.TEXT, keys=("a", "b")),
        Column("b", Type.BOOLEAN),
        Column("d", Type.DATE),
        Column("large", Type.NUMBER, F(-(10**15)), F(10**15), nullable=False),
        Column("tiny", Type.NUMBER, F(1, 10**310), F(1, 10**300), nullable=False),
        Column("tenth", Type.NUMBER, F(1, 10), F(3, 10), nullable=False),
        Column("wide", Type.INTEGER, nullable=False),
        Column("when", Type.DATE, F(number_of(WHEN[0])), F(number_of(WHEN[1])), nullable=False),
    ),
)
SCOPE = Scope.of(TABLE)
COLUMNS = tuple(s.Column(column.name, column.type) for column in TABLE.columns)

rows = st.fixed_dictionaries(
    {
        "i": st.none() | st.integers(-3, 4),
        "j": st.integers(2, 9),
        "x": st.none() | st.floats(-0.5, 2.5),
        "y": st.none() | st.floats(allow_nan=False),
        "w": st.none() | st.sampled_from(["a", "b", "c"]),
        "b": st.none() | st.booleans(),
        "d": st.none() | st.dates(date(1, 1, 1), date(9999, 12, 31)),
        "large": st.sampled_from([-1e15, 0.0, 1.0, 1e15]) | st.floats(-1e15, 1e15),
        "tiny": st.sampled_from([1e-310, 1e-305, 1e-300]) | st.floats(1e-310, 1e-300),
        "tenth": st.sampled_from([0.1, 0.2, 0.3]) | st.floats(0.1, 0.3),
        "wide": st.sampled_from([-(2**63), -(2**53) - 1, 0, 2**53 + 1, 2**63 - 1]) | st.integers(-(2**63), 2**63 - 1),
        "when": st.sampled_from([*WHEN, date(1970, 1, 1), date(2000, 2, 29)]) | st.dates(*WHEN),
    }
)


def holds(facts: Facts, value: s.Value) -> bool:
    """To the last bit: the ends of an interval are doubles, or declared and meant as the nearest ones; of integers they are exact."""
    if value is None:
        return facts.nullable
    if isinstance(value, bool | str):
        return True
    if isinstance(value, date):
        value = number_of(value)
    if isinf(value):
        return (facts.high if value > 0 else facts.low) is None
    meant = F if isinstance(value, int) else float
    above = facts.low is None or value >= meant(facts.low)
    below = facts.high is None or value <= meant(facts.high)
    return above and below and (not facts.integral or F(value).denominator == 1)


EDGES = (
    *(
        1.7976931348623157e308,
        -1.7976931348623157e308,
        1e308,
        9e307,
        -1e300,
        1e200,
        1e155,
        1e16,
        2.0**53,
        1e9,
        10.0,
        2.0,
    ),
    *(1.0, 0.0, -1.0, 0.1, 0.5, 1e-9, 1e-155, -1e-200, 1e-300, 2.2250738585072014e-308, -1e-310, 5e-324),
)
"""From the largest double to the smallest, so that sums cancel, products over- and underflow, and quotients do both."""


@lru_cache
def extreme(depth: int) -> st.SearchStrategy[s.Scalar]:
    """Arithmetic on numbers of every size, and on what has been rounded, clamped, chosen or cast in between."""
    numbers = [column for column in COLUMNS if column.type.numeric]
    integers = [s.Literal(value, Type.INTEGER) for value in (2**53 + 1, -(2**63), 2**63 - 1, 3)]
    leaves = st.sampled_from([*numbers, *integers, *(s.Literal(value, Type.NUMBER) for value in EDGES)])
    if depth == 0:
        return leaves
    inner = extreme(depth - 1)
    pairs = st.tuples(inner, inner)
    one = st.sampled_from(["abs", "floor", "ceil", "round", "sign", "sqrt"])
    sums = st.builds(s.Arithmetic, st.sampled_from(s.Operator), inner, inner)
    casts = st.builds(s.Cast, inner.filter(lambda each: s.type_of(each) is Type.NUMBER), st.just(Type.INTEGER))
    return st.one_of(
        *[leaves, sums, sums, sums, st.builds(s.Function, one, st.tuples(inner)), casts],
        st.builds(s.Function, st.sampled_from(["greatest", "least"]), pairs),
        st.builds(s.Coalesce, pairs),
        st.builds(lambda both: s.Case(((COLUMNS[5], both[0]),), both[1]), pairs),
    )


def asked(scalar: s.Scalar) -> bool:
    """Whether a question can hold it: steps and indicators are made by the planner, around what was asked."""
    return not isinstance(scalar, s.Steps | s.Indicator) and all(map(asked, s.children(scalar)))


@settings(max_examples=repeats(150))
@given(
    found=st.lists(
        st.one_of(*(scalars(kind, COLUMNS) for kind in (Type.NUMBER, Type.INTEGER, Type.DATE))), min_size=4, max_size=4
    ),
    some=st.lists(rows, min_size=3, max_size=3),
)
def test_every_value_is_what_its_facts_say(found: list[s.Scalar], some: list[dict[str, s.Value]]) -> None:
    for expression in filter(asked, found):
        facts = facts_of(expression, SCOPE)
        for row in some:
            value = evaluate(expression, row)
            assert holds(facts, value), (expression, facts, row, value)


def agree(expression: s.Scalar, row: dict[str, s.Value]) -> None:
    facts, value = facts_of(expression, SCOPE), evaluate(expression, row)
    assert holds(facts, value), (expression, facts, row, value)


@settings(max_examples=repeats(400))
@given(expression=extreme(3), row=rows)
def test_facts_hold_for_numbers_of_every_size(expression: s.Scalar, row: dict[str, s.Value]) -> None:
    agree(expression, row)


B = s.Literal(1.7976931348623157e308, Type.NUMBER)
NAMED = {column.name: column for column in COLUMNS}
ROW: dict[str, s.Value] = {"i": 2, "j": 3, "x": 2.5, "y": 1.0, "w": "a", "b": True, "d": date(2024, 2, 29)}
ROW |= {"large": 1e15, "tiny": 1e-310, "tenth": 0.3, "wide": 2**63 - 1}


def of(operator: str, left: s.Scalar | float, right: s.Scalar | float) -> s.Scalar:
    both = [each if isinstance(each, s.Scalar) else s.Literal(float(each), Type.NUMBER) for each in (left, right)]
    return s.Arithmetic(s.Operator(operator), *both)


TWICE = of("*", of("*", 2, B), NAMED["j"])
HUGE = of("*", NAMED["large"], 1e293)
WIDE = s.Literal(2**53 + 1, Type.INTEGER)
ROUNDED = s.Function("round", (of("*", HUGE, 1e9),))
LOST = of("-", of("+", NAMED["j"], 1e16), 1e16)
SQUARE = of("*", 1e-200, 1e-200)


@pytest.mark.parametrize(
    "expression",
    [
        *[of("-", TWICE, TWICE), of("+", TWICE, of("-", 0, TWICE)), of("*", of("*", 2, B), of("-", 3, NAMED["j"]))],
        *[of("*", 2, s.Coalesce((s.Literal(None, Type.NUMBER), B))), of("/", of("*", 2, B), of("*", 2, B))],
        *[of("%", of("*", 2, B), 3), of("-", of("/", 1, NAMED["tiny"]), of("/", 1, NAMED["tiny"]))],
        *[of("-", of("/", ROUNDED, 1e9), of("/", ROUNDED, 1e9)), of("-", of("+", HUGE, HUGE), B)],
        *[of("/", 1, SQUARE), of("-", of("/", 1, SQUARE), of("/", 1, SQUARE)), SQUARE],
        *[s.Function("sign", (SQUARE,)), s.Function("ceil", (SQUARE,))],
        *[LOST, of("/", 1, LOST), s.Function("floor", (of("/", NAMED["tenth"], 0.1),))],
        *[s.Function("sqrt", (of("*", HUGE, 4),)), s.Cast(of("*", HUGE, 10), Type.INTEGER)],
        *[of("-", WIDE, 2**53), s.Cast(WIDE, Type.NUMBER), s.Coalesce((WIDE, NAMED["x"])), WIDE],
        *[s.Function("least", (WIDE, B)), s.Function("abs", (WIDE,)), of("-", NAMED["wide"], NAMED["wide"])],
    ],
)
def test_facts_hold_where_doubles_end(expression: s.Scalar) -> None:
    agree(expression, ROW)


def test_what_may_overflow_has_no_bounds_and_may_be_null_afterwards() -> None:
    """Of inf − inf, 0 · inf, inf / inf and inf % x comes no number; of one infinity by itself comes one."""
    infinite = of("*", 2, B)
    assert facts_of(infinite, SCOPE) == Facts(nullable=True) and evaluate(infinite, {}) == float("inf")
    for operator in s.Operator:
        found = facts_of(of(operator.value, infinite, infinite), SCOPE)
        assert found.nullable and not found.bounded


@settings(max_examples=repeats(100))
@given(condition=scalars(Type.BOOLEAN, COLUMNS), some=st.lists(rows, min_size=4, max_size=4))
def test_what_a_condition_needs_is_there_where_it_is_true(condition: s.Scalar, some: list[dict[str, s.Value]]) -> None:
    for row in some if asked(condition) else []:
        if evaluate(condition, row) is True:
            assert all(row[each.name] is not None for each in there(condition)), (condition, row)


@settings(max_examples=repeats(100))
@given(key=st.one_of(*(scalars(kind, COLUMNS, 2) for kind in Type)), some=st.lists(rows, min_size=4, max_size=4))
def test_a_list_of_values_holds_every_value_of_declared_rows(key: s.Scalar, some: list[dict[str, s.Value]]) -> None:
    listed = values_of(key, SCOPE) if asked(key) else None
    if listed is None:
        return
    for row in some:
        if row["w"] != "c" and all(row[each.name] is not None for each in s.columns_in(key)):
            value = evaluate(key, row)
            assert value is None or value in listed or isinstance(value, float), (key, listed, row, value)


def test_what_is_one_of_two_is_within_both() -> None:
    """Whatever is known of a value that is one of two holds of both of them."""
    ends: list[Fraction | None] = [None, F(-3), F(0), F(2)]
    some = [Facts(low, high, whole, null) for low in ends for high in ends for whole in (0, 1) for null in (0, 1)]  # type: ignore[arg-type]
    for one, other in product(some, some):
        both = either(one, other)
        for facts in (one, other):
            assert both.low is None or (facts.low is not None and both.low <= facts.low)
            assert both.high is None or (facts.high is not None and both.high >= facts.high)
            assert both.integral <= facts.integral and both.nullable >= facts.nullable


def test_known_intervals() -> None:
    i, j, x = COLUMNS[0], COLUMNS[1], COLUMNS[2]

    def interval(scalar: s.Scalar) -> tuple[Fraction | None, Fraction | None]:
        facts = facts_of(scalar, SCOPE)
        return facts.low, facts.high

    times = s.Arithmetic(s.Operator.MULTIPLY, i, x)
    assert interval(times) == (F(-15, 2), F(10))
    assert interval(s.Arithmetic(s.Operator.DIVIDE, x, j)) == (F(-1, 4), F(5, 4))
    assert interval(s.Arithmetic(s.Operator.DIVIDE, j, x)) == (None, None)
    assert interval(s.Arithmetic(s.Operator.REMAINDER, j, i)) == (F(0), F(4))
    assert interval(s.Function("abs", (i,))) == (F(0), F(4))
    clamped = s.Function(
        "least",
        (s.Function("greatest", (COLUMNS[3], s.Literal(0, Type.INTEGER))), s.Literal(9, Type.INTEGER)),
    )
    assert interval(clamped) == (F(0), F(9)) and not facts_of(clamped, SCOPE).nullable
