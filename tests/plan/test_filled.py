"""What is declared never to be missing is not: a row without it counts with the middle of its bounds, in every engine."""

import random
from dataclasses import replace
from fractions import Fraction as F
from typing import Any

import pytest

from discreet.engines.base import Data
from discreet.engines.duckdb import DuckDB
from discreet.engines.memory import MemoryEngine
from discreet.plan import relation as r
from discreet.plan import scalar as s
from discreet.plan.catalog import Catalog, Column, Protected, Table
from discreet.plan.check import digest
from discreet.plan.explain import explain
from discreet.plan.facts import Facts
from discreet.plan.private import plan_for
from discreet.plan.release import exact_totals
from discreet.plan.rules.scopes import scope_of
from discreet.plan.scalar import Type
from discreet.plan.sql import question
from tests.plan import laws
from tests.plan.laws import COLUMNS, PERSON, ROW, TABLE, UNITS, Row, is_a_fault, turned
from tests.scale import repeats

SURE = replace(
    TABLE, columns=tuple(replace(each, nullable=each.low is None or each.name == "deep") for each in TABLE.columns)
)
"""All columns with bounds but one are declared never to be missing; the rows of `laws.any_row` lack each of them."""

MIDDLES = {"x": 3, "y": 1.0, "far": 1e6 + 0.5, "wide": 2**23}
TEXTS = [
    "SELECT AVG(x), COUNT(*) FROM t",
    "SELECT g, AVG(y), COUNT(*), COUNT(y), SUM(y) FROM t GROUP BY g",
    "SELECT SUM(x) FROM t",
    "SELECT SUM(far), COUNT(*) FROM t WHERE x > 2",
    "SELECT SUM(y) FILTER (WHERE x = 3), COUNT(x), AVG(x * 2) FROM t",
    "SELECT COUNT(*) FROM t WHERE x IS NULL",
    "SELECT COUNT(*) FROM t WHERE COALESCE(wide, 5) = 8388608",
    "SELECT AVG(wide), COUNT(wide), AVG(deep), COUNT(deep) FROM t",
    "SELECT x, COUNT(*), AVG(y) FROM t GROUP BY x",
    "SELECT CASE WHEN y > 1 THEN 'high' ELSE 'low' END AS k, SUM(x), COUNT(*) FROM t GROUP BY k",
    "SELECT SUM(x * y), COUNT(x + deep) FROM t",
]


def delta_of(unit: Protected) -> Any:
    return F(1, 10**6) if unit.clip == "l2" else 0


def with_middles(rows: list[Row]) -> list[Row]:
    """The rows as if whoever wrote them had filled them."""
    return [row | {name: middle for name, middle in MIDDLES.items() if row[name] is None} for row in rows]


def totals(plan: Any, rows: list[Row]) -> tuple[list[list[int]], list[list[int]]]:
    """What plain Python and DuckDB find, exactly, for one salt."""
    lists = {column.name: [row[column.name] for row in rows] for column in COLUMNS}
    data = [Data("t", lists, COLUMNS)]
    with DuckDB(data, threads=1) as engine:
        slow = MemoryEngine(data, engine.priorities)
        found = [exact_totals(plan, each.run(plan.query, 5)) for each in (slow, engine)]
    first, second = ([each.tolist() for each in one] for one in found)
    return first, second


def rows_count_with_the_middle() -> None:
    """A question finds in rows that lack values what it finds in rows where the middle was written down; and every row is counted."""
    draw = random.Random(4)
    rows = [laws.any_row(draw, draw.choice([1, 2, 3, None])) for _ in range(30)]
    for unit in UNITS:
        for text in TEXTS:
            plan = laws.planned(text, unit, delta=delta_of(unit), table=SURE)
            (slow, fast), (slow_filled, fast_filled) = totals(plan, rows), totals(plan, with_middles(rows))
            assert slow == fast == slow_filled == fast_filled, (text, unit)
    everyone = laws.planned("SELECT COUNT(x), COUNT(*), AVG(x) FROM t", ROW, table=SURE)
    assert totals(everyone, rows)[1][0] == [len(rows)]


def no_neighbour_moves_more() -> None:
    """No total moves by more than its noise is made for, whoever lacks what is said never to be missing."""
    for unit in UNITS:
        for text in (*TEXTS, *laws.TEXTS):
            moved = laws.searched(text, unit, repeats(20), delta_of(unit), SURE)
            assert all(far <= most for far, most in zip(moved.farthest, moved.allowed, strict=True)), (text, unit)


def one_count_serves_all() -> None:
    """AVG(x), COUNT(*), COUNT(x) and SUM(x) of what is never missing are two measurements; where it may be missing three."""
    for unit in UNITS:
        text, delta = "SELECT AVG(x), COUNT(*), COUNT(x), SUM(x) FROM t WHERE y > 0", delta_of(unit)
        sure, unsure = (laws.planned(text, unit, delta=delta, table=table) for table in (SURE, TABLE))
        assert len(sure.measurements) == 2 and len(unsure.measurements) == 3
        mean, everyone, own, total = sure.releases
        assert {*everyone.places, *own.places} < {*mean.places} == {*total.places}
        assert digest(sure) != digest(unsure)


def declarations_are_not_believed() -> None:
    """What a scan alone reads may be missing, whatever is declared; filled it is not, filtered or not. Others are as declared."""
    catalog, scan = Catalog((SURE,), PERSON), r.Scan("t", COLUMNS)
    x, deep = s.Column("x", Type.INTEGER), s.Column("deep", Type.NUMBER)
    filled = r.Filled(scan, ((x, s.Literal(3, Type.INTEGER)),))
    some = r.Filter(filled, s.Not(s.IsNull(deep)))
    for source, wanted in ((scan, (True, True)), (filled, (False, True)), (some, (False, False))):
        scope = scope_of(source, catalog)
        assert (scope.facts(x).nullable, scope.facts(deep).nullable) == wanted
        assert scope.unfiltered.facts(x).nullable is wanted[0] and scope.facts(x).low == 2
    asked = question("SELECT AVG(x), SUM(y) FROM t WHERE wide > 1", catalog).source
    assert isinstance(asked, r.Filter) and isinstance(asked.source, r.Filled)
    assert {column.name: value.value for column, value in asked.source.values} == {
        name: MIDDLES[name] for name in ("x", "y", "wide")
    }
    assert not any(isinstance(each, r.Filled) for each in r.walk(question("SELECT COUNT(*) FROM t", catalog).source))


def nobody_is_made_up() -> None:
    """Rows without a person are left out, though the column be a number that is declared never to be missing."""
    who = Column("Who", Type.INTEGER, F(0), F(10), nullable=False)
    table = replace(SURE, columns=(who, *SURE.columns[1:]))
    catalog = Catalog((table,), PERSON)
    plan = plan_for(question("SELECT COUNT(*), COUNT(who), COUNT(DISTINCT who), AVG(x) FROM t", catalog), catalog, 1)
    (filled,) = (each for each in r.walk(plan.query) if isinstance(each, r.Filled))
    assert [column.name for column, _ in filled.values] == ["x"]
    five = s.Literal(5, Type.INTEGER)
    assert is_a_fault(
        lambda: scope_of(r.Filled(r.Scan("t", COLUMNS), ((s.Column("Who", Type.INTEGER), five),)), catalog)
    )


def middles_are_of_their_type() -> None:
    """The middle of whole numbers is whole, the lower of two; of others the nearest double; and within the bounds."""
    for low, high, whole, wanted in (
        (F(0), F(5), True, 2),
        (F(-5), F(0), True, -3),
        (F(7), F(7), True, 7),
        (F(0), F(5), False, 2.5),
        (F(1, 10), F(1, 5), False, 0.15),
        (F(10**15 - 1), F(10**15), True, 10**15 - 1),
    ):
        middle = Facts(low, high, whole).middle
        assert middle == wanted and type(middle) is type(wanted), (low, high)
    assert Facts(F(0)).middle is None and Facts().middle is None


LAWS = [
    rows_count_with_the_middle,
    no_neighbour_moves_more,
    one_count_serves_all,
    declarations_are_not_believed,
    nobody_is_made_up,
    middles_are_of_their_type,
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_the_law_holds(law: Any) -> None:
    law()


def test_columns_are_filled_with_what_they_can_hold() -> None:
    """Nothing, a value of another type, or a text is no middle."""
    catalog, scan = Catalog((SURE,), PERSON), r.Scan("t", COLUMNS)
    for name, kind, value in (
        ("x", Type.INTEGER, s.Literal(None, Type.INTEGER)),
        ("x", Type.INTEGER, s.Literal(2.5, Type.NUMBER)),
        ("g", Type.TEXT, s.Literal("A", Type.TEXT)),
    ):
        filled = r.Filled(scan, ((s.Column(name, kind), value),))
        assert is_a_fault(lambda filled=filled: scope_of(filled, catalog)), (name, value)  # type: ignore[misc]


def test_the_plan_says_with_what_a_row_counts() -> None:
    plan = laws.planned("SELECT AVG(x), COUNT(*) FROM t WHERE y > 0", PERSON, table=SURE)
    assert "a row without x counts with 3, the middle of its bounds" in plan.notes
    assert "x is 3 where it is missing, y is 1.0 where it is missing" in explain(plan)
    assert not any("counts with 3" in note for note in laws.planned("SELECT COUNT(*) FROM t", PERSON, table=SURE).notes)


def two_counts_are_told_of() -> None:
    """Where COUNT(*) costs something beside AVG(x), and only there; what is told is no part of the plan's name."""
    names = {
        "SELECT AVG(x), COUNT(*) FROM t": ["x"],
        "SELECT COUNT(*), AVG(y + 1), AVG(x) FROM t": ["(y + 1)", "x"],
        "SELECT AVG(x) FILTER (WHERE g = 'A'), COUNT(*) FILTER (WHERE g = 'A') FROM t": ["x"],
        "SELECT AVG(x) FILTER (WHERE g = 'A'), COUNT(*) FROM t": [],
        "SELECT AVG(x), COUNT(x) FROM t": [],
        "SELECT AVG(x), COUNT(*), COUNT(x) FROM t": [],
        "SELECT AVG(x), COUNT(*) FROM t WHERE x > 2": [],
        "SELECT AVG(x), COUNT(DISTINCT who) FROM t": [],
        "SELECT SUM(x), COUNT(*) FROM t": [],
    }
    for text, wanted in names.items():
        plan = laws.planned(text, PERSON)
        told = [note for note in plan.assumed if "is free beside it" in note]
        assert [f"COUNT({name}) is free beside it" in note for name, note in zip(wanted, told, strict=True)] == [
            True for _ in wanted
        ], text
        assert digest(plan) == digest(replace(plan, assumed=()))
        assert not laws.planned(text, PERSON, table=SURE).assumed
    # How many rows there are is public where one replaces another: nothing is saved.
    assert not laws.planned("SELECT AVG(x), COUNT(*) FROM t", turned(ROW)).assumed


def test_two_counts_are_told_of() -> None:
    two_counts_are_told_of()


def test_columns_without_a_middle_stay_as_they_are_declared() -> None:
    """COUNT of a text that is declared never to be missing counts all rows."""
    table = Table("t", tuple(replace(each, nullable=False) if each.name == "g" else each for each in TABLE.columns))
    rows = [laws.any_row(random.Random(i), 1) | {"g": None} for i in range(3)]
    plan = laws.planned("SELECT COUNT(g) FROM t", ROW, table=table)
    assert totals(plan, rows) == ([[3]], [[3]])
