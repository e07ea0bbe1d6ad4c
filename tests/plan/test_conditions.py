"""What conditions tell of numbers: whatever is summed is clamped to bounds that hold each value which meets them, and no wider ones.

Values are tried one by one, in Python's words for a condition, which know nothing of bounds.
"""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from random import Random

import pytest

from discreet import Curator
from discreet.errors import QueryError
from discreet.plan.catalog import Catalog, Column, Protected, Table
from discreet.plan.plan import Plan
from discreet.plan.private import plan_for
from discreet.plan.scalar import Steps, Type
from discreet.plan.sql import question
from tests.scale import repeats

BOUNDS = (-9, 12)
VALUES = [each / 2 for each in range(-40, 41)]
DOORS = {
    "where": "SELECT AVG(x) AS a FROM t WHERE {}",
    "filter": "SELECT AVG(x) FILTER (WHERE {}) AS a FROM t",
    "inside": "SELECT AVG(x) AS a FROM (SELECT * FROM t WHERE {}) AS s",
    "renamed": "WITH s AS (SELECT x AS z FROM t WHERE {}) SELECT AVG(z) AS a FROM s",
}


@dataclass(frozen=True)
class Condition:
    """A condition, as SQL has it and as Python has it, and whether it is one that bounds are read from."""

    sql: str
    python: str
    read: bool = True


def atom(draw: Random) -> Condition:
    c, d = draw.choice(VALUES), draw.choice(VALUES)
    low, high, order = min(c, d), max(c, d), draw.choice(["<", "<=", ">", ">="])
    return draw.choice(
        [
            Condition(f"x {order} {c}", f"x {order} {c}"),
            Condition(f"{c} {order} x", f"{c} {order} x"),
            Condition(f"x BETWEEN {low} AND {high}", f"{low} <= x <= {high}"),
            Condition(f"x IN ({c}, {d})", f"x in ({c}, {d})", read=False),
            Condition(f"x <> {c}", f"x != {c}", read=False),
            Condition(f"NOT x {order} {c}", f"not x {order} {c}", read=False),
            Condition(f"(x < {low} OR x > {high})", f"(x < {low} or x > {high})", read=False),
            Condition("y > 3", "True", read=False),
            Condition(f"x * 2 > {c}", f"x * 2 > {c}", read=False),
        ]
    )


@cache
def catalog(type: Type, declared: bool) -> Catalog:
    x = Column("x", type, *(map(Fraction, BOUNDS) if declared else ()))
    return Catalog((Table("t", (Column("who", Type.TEXT), x, Column("y", Type.INTEGER))),), Protected())


def clamped(plan: Plan) -> tuple[float, float]:
    """The bounds of the one number of a plan."""
    ((low, high),) = {(each.value.low, each.value.high) for each in plan.terms if isinstance(each.value, Steps)}
    return float(low), float(high)


def bounded_by(asked: list[Condition], type: Type, declared: bool, door: str) -> str:
    """Which case it is, after its bounds were held against each value."""
    told = catalog(type, declared)
    text = DOORS[door].format(" AND ".join(each.sql for each in asked))
    left = [x for x in VALUES if type is Type.NUMBER or x == int(x)]
    left = [x for x in left if not declared or BOUNDS[0] <= x <= BOUNDS[1]]
    left = [x for x in left if all(eval(each.python, {"x": x}) for each in asked)]
    try:
        low, high = clamped(plan_for(question(text, told), told, 1))
    except QueryError as error:
        assert error.code == "missing-bounds" and not declared
        return "no bounds"
    assert all(low <= x <= high for x in left), text
    assert not declared or BOUNDS[0] <= low <= high <= BOUNDS[1], text
    if len(left) < 2 or not all(each.read for each in asked):
        return "bounds"
    beyond = 0 if type is Type.INTEGER else 1 / 2  # the next value that is tried, which an end may leave out
    if declared or min(left) > VALUES[1]:
        assert low >= min(left) - beyond, text
    if declared or max(left) < VALUES[-2]:
        assert high <= max(left) + beyond, text
    return "as narrow as can be"


def test_bounds_are_those_of_the_values_that_meet_the_conditions() -> None:
    draw, cases = Random(1), Counter[tuple[str, str]]()
    for _ in range(repeats(400)):
        type, declared, door = draw.choice([Type.INTEGER, Type.NUMBER]), draw.random() < 0.5, draw.choice([*DOORS])
        asked = [atom(draw) for _ in range(draw.randint(1, 3))]
        cases[door, bounded_by(asked, type, declared, door)] += 1
    assert all(cases[door, case] > 3 for door in DOORS for case in ("no bounds", "bounds", "as narrow as can be"))


@pytest.mark.parametrize("door", DOORS)
def test_what_nobody_declared_is_bounded_by_its_conditions(door: str) -> None:
    told = catalog(Type.INTEGER, False)
    plan = plan_for(question(DOORS[door].format("x >= 3 AND x < 10"), told), told, 1)
    assert clamped(plan) == (3, 9)
    assert any("clamped to 3 … 9" in note for note in plan.told)


def test_a_condition_on_what_is_computed_bounds_it() -> None:
    told = catalog(Type.NUMBER, False)
    text = "SELECT SUM(x * 2) AS s FROM t WHERE x * 2 BETWEEN 1 AND 5"
    assert clamped(plan_for(question(text, told), told, 1)) == (1, 5)
    other = "SELECT SUM(x * 3) AS s FROM t WHERE x * 2 BETWEEN 1 AND 5"
    with pytest.raises(QueryError, match="bounds"):
        plan_for(question(other, told), told, 1)


def test_a_divisor_that_is_not_0_has_an_inverse() -> None:
    told = catalog(Type.INTEGER, True)
    text = "SELECT AVG(1.0 / x) AS a FROM t WHERE x > 0"
    low, high = clamped(plan_for(question(text, told), told, 1))
    assert 0 < low < 0.1 and high == 1
    with pytest.raises(QueryError, match="bounds"):
        plan_for(question(text.replace(" WHERE x > 0", ""), told), told, 1)


def test_an_average_of_some_is_told_as_closely_as_their_range_allows() -> None:
    """The same rows, and a third of the noise."""
    ages = [20 + i % 60 for i in range(3000)]
    columns = {"age": {"type": "integer", "bounds": (0, 120)}}
    with Curator({"t": {"age": ages}}, columns=columns, row=True, epsilon=100, ledger=":memory:") as curator:
        ((narrow,), (wide,)) = (
            curator.sql(f"SELECT AVG(age) AS a FROM t WHERE {those}", epsilon=1).to_dicts(errors=True)
            for those in ("age >= 30 AND age < 70", "NOT (age < 30 OR age >= 70)")
        )
    exact = sum(age for age in ages if 30 <= age < 70) / sum(30 <= age < 70 for age in ages)
    assert abs(narrow["a"] - exact) < 1 and narrow["a_error"] * 2 < wide["a_error"]
