"""Logarithms, powers and bins: plain Python and DuckDB say the same to the last bit, and bounds hold between their ends, too."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from discreet.errors import QueryError
from discreet.plan import scalar as s
from discreet.plan.catalog import Catalog, Column, Protected, Table
from discreet.plan.evaluate import clean, evaluate
from discreet.plan.explain import explain
from discreet.plan.functions import function
from discreet.plan.number_functions import MOST_BUCKETS
from discreet.plan.private import plan_for
from discreet.plan.rules.scalars import facts_of
from discreet.plan.scalar import Type
from discreet.plan.scope import Scope
from discreet.plan.sql import question
from tests.plan.test_text_functions import agree_on

NAMES = ("ln", "log10", "log2", "exp", "power", "trunc", "width_bucket")
ENDS = (-3.5, -1.0, 0.0, 0.25, 1.0, 2.0, 9.0, 1e10)


@pytest.mark.parametrize("name", NAMES)
def test_a_function_of_numbers_is_the_same_in_python_and_in_duckdb(name: str) -> None:
    agree_on(name)


def facts_hold_inside() -> None:
    """Of all bounds, whole numbers or not, at the ends and at many points between them."""
    spans = [(low, high) for low, high in product(ENDS, ENDS) if low <= high]
    for (low, high), whole in product(spans, (False, True)):
        if whole and (low % 1 or high % 1):
            continue
        kind = Type.INTEGER if whole else Type.NUMBER
        column = Column("x", kind, Fraction(low), Fraction(high), nullable=False)
        scope = Scope.of(Table("t", (column,)))
        inside = {
            low,
            high,
            *(each for each in (*ENDS, -2.0, 3.0, 0.5) if low <= each <= high and not (whole and each % 1)),
        }
        x = s.Column("x", kind)
        asked = [s.Function(name, (x,)) for name in NAMES if function(name).takes == (Type.NUMBER,)]
        asked += [
            s.Function("power", (x, s.Literal(y, Type.NUMBER))) for y in (-2.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0, 60.0)
        ]
        asked += [s.Function("power", (s.Literal(y, Type.NUMBER), x)) for y in (-2.0, 0.0, 0.5, 1.0, 2.0)]
        asked += [s.Function("width_bucket", (x, *(s.Literal(each, Type.NUMBER) for each in (0.0, 5.0, 4.0))))]
        for scalar, value in product(asked, inside):
            facts, found = facts_of(scalar, scope), evaluate(scalar, {"x": int(value) if whole else value})
            assert found is not None or facts.nullable, (scalar, value)
            if found is not None:
                assert facts.low is None or facts.low <= found, (scalar, value)
                assert facts.high is None or found <= facts.high, (scalar, value)
                assert not facts.integral or found == int(found)  # type: ignore[call-overload,arg-type]


def test_the_facts_of_logarithms_powers_and_bins_hold() -> None:
    facts_hold_inside()


def intervals_of_powers_hold() -> None:
    points = [-np.inf, -2.0, -0.5, 0.0, 0.25, 1.0, 3.0, 1e300, np.inf]
    spans = [(low, high) for low, high in product(points, points) if low <= high]
    row = function("power")
    assert row.interval is not None
    for x, y in product(spans, spans):
        with np.errstate(all="ignore"):
            low, high = row.interval(np, *(tuple(np.array([end]) for end in span) for span in (x, y)))
        for a, b in product(*([point for point in points if span[0] <= point <= span[1]] for span in (x, y))):
            found = clean(row.meaning(a, b))
            assert found is None or low[0] <= found <= high[0], (x, y, a, b)  # type: ignore[operator]


def test_the_intervals_of_powers_hold() -> None:
    intervals_of_powers_hold()


CATALOG = Catalog(
    (
        Table(
            "t",
            (
                Column("x", Type.NUMBER, Fraction(0), Fraction(100)),
                Column("age", Type.INTEGER, Fraction(0), Fraction(120)),
                Column("free", Type.NUMBER),
            ),
        ),
    ),
    Protected(),
)


@pytest.mark.parametrize(
    ("key", "groups"),
    [
        ("WIDTH_BUCKET(x, 0, 100, 4)", range(6)),
        ("WIDTH_BUCKET(free, 0, 100, 4)", range(6)),
        ("x // 25", range(5)),
        ("ROUND(x, -1)", range(0, 101, 10)),
        ("TRUNC(x, -1)", range(0, 101, 10)),
        ("POWER(age // 60, 2)", (0, 1, 4)),
        ("FLOOR(LOG10(age))", range(3)),
        ("FLOOR(LN(age + 1))", range(5)),
    ],
)
def test_whole_numbers_are_groups(key: str, groups: range) -> None:
    plan = plan_for(question(f"SELECT {key} AS k, COUNT(*) AS n FROM t GROUP BY k", CATALOG), CATALOG, 1)
    assert {each for (each,) in plan.domain if each is not None} == set(groups)


def test_a_sum_of_what_has_no_lower_end_is_refused_and_the_hint_works() -> None:
    with pytest.raises(QueryError) as refused:
        plan_for(question("SELECT SUM(LN(x)) FROM t", CATALOG), CATALOG, 1)
    assert refused.value.code == "missing-bounds" and "LEAST(GREATEST(" in refused.value.hint
    for inside in (
        "LEAST(GREATEST(LN(x), 0), 5)",
        "LN(GREATEST(x, 1))",
        "LN(x + 1)",
        "LN(age)",
        "EXP(-x)",
        "age ^ 3",
        "SQRT(x) ** 2",
    ):
        plan_for(question(f"SELECT SUM({inside}) FROM t", CATALOG), CATALOG, 1)


def division_is_noted() -> None:
    """Only a cast of a quotient of integers, wherever it stands; the note is no part of the name of a plan."""
    for text, noted in [
        ("SELECT CAST(age / 10 AS INTEGER) AS k, COUNT(*) AS n FROM t GROUP BY k", True),
        ("SELECT COUNT(*) AS n FROM t WHERE (age / 10)::INT = 3", True),
        ("SELECT SUM(CAST(age / 10 AS INTEGER)) AS n FROM t", True),
        ("SELECT COUNT(*) FILTER (WHERE CAST(age / 7 AS BIGINT) > 1) AS n FROM t", True),
        ("SELECT SUM(CAST(x / 10 AS INTEGER)) AS n FROM t", False),
        ("SELECT SUM(age // 10) AS n FROM t", False),
        ("SELECT SUM(age / 10) AS n FROM t", False),
    ]:
        plan = plan_for(question(text, CATALOG), CATALOG, 1)
        assert any("x // y" in note for note in plan.assumed) == noted, text
        assert ("note: / is no integer division" in explain(plan)) == noted
        assert not any("x // y" in note for note in plan.notes)


def test_an_integer_division_that_is_cast_gets_a_note() -> None:
    division_is_noted()


def test_bins_are_bounded() -> None:
    question(f"SELECT COUNT(*) FROM t WHERE WIDTH_BUCKET(x, 0, 1, {MOST_BUCKETS}) = 1", CATALOG)
    with pytest.raises(QueryError, match="WIDTH_BUCKET"):
        question(f"SELECT COUNT(*) FROM t WHERE WIDTH_BUCKET(x, 0, 1, {MOST_BUCKETS + 1}) = 1", CATALOG)
