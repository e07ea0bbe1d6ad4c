"""Facts hold: on any row that keeps its declaration, every expression is what its facts say."""

from datetime import date
from fractions import Fraction
from math import isinf

from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.plan import scalar as s
from discreet.plan.catalog import Column, Table
from discreet.plan.domain import values_of
from discreet.plan.evaluate import evaluate
from discreet.plan.facts import Facts
from discreet.plan.rules.scalars import facts_of, there
from discreet.plan.scalar import Type
from tests.plan.strategies import scalars
from tests.scale import repeats

F = Fraction
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
    ),
)
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
    }
)


def holds(facts: Facts, value: s.Value) -> bool:
    if value is None:
        return facts.nullable
    if isinstance(value, bool | str | date):
        return True
    if isinf(value):
        return (facts.high if value > 0 else facts.low) is None
    exact = F(value)
    room = (
        max(abs(exact), abs(facts.low or 0), abs(facts.high or 0)) / 10**9
    )  # doubles round; what is summed is clamped anyway
    above = facts.low is None or exact >= facts.low - room
    below = facts.high is None or exact <= facts.high + room
    return above and below and (not facts.integral or exact.denominator == 1)


def asked(scalar: s.Scalar) -> bool:
    """Whether a question can hold it: steps and indicators are made by the planner, around what was asked."""
    return not isinstance(scalar, s.Steps | s.Indicator) and all(map(asked, s.children(scalar)))


@settings(max_examples=repeats(150))
@given(
    found=st.lists(st.one_of(scalars(Type.NUMBER, COLUMNS), scalars(Type.INTEGER, COLUMNS)), min_size=4, max_size=4),
    some=st.lists(rows, min_size=3, max_size=3),
)
def test_every_value_is_what_its_facts_say(found: list[s.Scalar], some: list[dict[str, s.Value]]) -> None:
    for expression in filter(asked, found):
        facts = facts_of(expression, TABLE)
        for row in some:
            value = evaluate(expression, row)
            assert holds(facts, value), (expression, facts, row, value)


@settings(max_examples=repeats(100))
@given(condition=scalars(Type.BOOLEAN, COLUMNS), some=st.lists(rows, min_size=4, max_size=4))
def test_what_a_condition_needs_is_there_where_it_is_true(condition: s.Scalar, some: list[dict[str, s.Value]]) -> None:
    for row in some if asked(condition) else []:
        if evaluate(condition, row) is True:
            assert all(row[name] is not None for name in there(condition)), (condition, row)


@settings(max_examples=repeats(100))
@given(key=st.one_of(*(scalars(kind, COLUMNS, 2) for kind in Type)), some=st.lists(rows, min_size=4, max_size=4))
def test_a_list_of_values_holds_every_value_of_declared_rows(key: s.Scalar, some: list[dict[str, s.Value]]) -> None:
    listed = values_of(key, TABLE) if asked(key) else None
    if listed is None:
        return
    for row in some:
        if row["w"] != "c" and all(row[name] is not None for name in s.columns_in(key)):
            value = evaluate(key, row)
            assert value is None or value in listed or isinstance(value, float), (key, listed, row, value)


def test_known_intervals() -> None:
    i, j, x = COLUMNS[0], COLUMNS[1], COLUMNS[2]

    def interval(scalar: s.Scalar) -> tuple[Fraction | None, Fraction | None]:
        facts = facts_of(scalar, TABLE)
        return facts.low, facts.high

    times = s.Arithmetic(s.Operator.MULTIPLY, i, x)
    assert interval(times) == (F(-15, 2), F(10))
    assert interval(s.Arithmetic(s.Operator.DIVIDE, x, j)) == (F(-1, 4), F(5, 4))
    assert interval(s.Arithmetic(s.Operator.DIVIDE, j, x)) == (None, None)
    assert interval(s.Arithmetic(s.Operator.REMAINDER, j, i)) == (F(0), F(4))
    assert interval(s.Function(s.Name.ABS, (i,))) == (F(0), F(4))
    clamped = s.Function(
        s.Name.LEAST,
        (s.Function(s.Name.GREATEST, (COLUMNS[3], s.Literal(0, Type.INTEGER))), s.Literal(9, Type.INTEGER)),
    )
    assert interval(clamped) == (F(0), F(9)) and not facts_of(clamped, TABLE).nullable
