"""Questions of every shape over one small table, and neighbours of it: what published bugs of plans are looked for in."""

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from fractions import Fraction as F
from typing import Any

from discreet.engines.memory import Data, MemoryEngine
from discreet.mechanisms.sensitivity import Norm
from discreet.plan import scalar
from discreet.plan.calendar import number_of
from discreet.plan.catalog import Catalog, Column, Protected, Table
from discreet.plan.plan import Plan
from discreet.plan.private import plan_for
from discreet.plan.release import exact_totals
from discreet.plan.scalar import Type
from discreet.plan.sql import question
from discreet.privacy import Adjacency
from tests.plan.laws import Priorities

DAYS = (F(number_of(date(2024, 1, 20))), F(number_of(date(2024, 3, 10))))
T = Table(
    "t",
    (
        Column("who", Type.TEXT),
        Column("x", Type.INTEGER, F(2), F(5)),
        Column("y", Type.NUMBER, F(-1), F(3)),
        Column("g", Type.TEXT, keys=("A", "B", "C")),
        Column("note", Type.TEXT),
        Column("day", Type.DATE, *DAYS),
        Column("flag", Type.BOOLEAN),
        Column("open", Type.NUMBER),
    ),
)
COLUMNS = tuple(scalar.Column(column.name, column.type) for column in T.columns)
PERSON, ROW = Protected("who", max_groups=2, max_rows=2), Protected()
UNITS = [
    each
    for unit in (PERSON, ROW, replace(PERSON, clip="l2"), Protected("who", max_total=3))
    for each in (unit, replace(unit, adjacency=Adjacency.REPLACE))
]
SHAPES = [
    "SELECT SUM(x) FROM (SELECT x * 1000 AS x FROM t)",
    "WITH v AS (SELECT y AS x, x AS y, g FROM t WHERE note IS NOT NULL) SELECT g, SUM(x), COUNT(y) FROM v GROUP BY g",
    "WITH t AS (SELECT x + y AS y FROM t), u AS (SELECT y * y AS y FROM t) SELECT AVG(y) FROM u",
    "SELECT who, COUNT(*) FROM (SELECT g AS who, x FROM t) GROUP BY who",
    "SELECT SUM(who), COUNT(DISTINCT g) FROM (SELECT x AS who, who AS g FROM t)",
    "SELECT CASE WHEN x > 3 THEN LOWER(g) ELSE 'other' END AS k, AVG(y) FROM t GROUP BY k",
    "SELECT CONCAT(g, '/', flag) AS k, SUM(CASE WHEN flag THEN x * 100 END) FROM t GROUP BY k",
    "SELECT g, COUNT(*), SUM(y) FROM t WHERE g IN ('A', 'C') AND x > 1 GROUP BY g",
    "SELECT note, SUM(x) FROM t WHERE note IN ('7', 'x') GROUP BY note",
    "SELECT g, COUNT(*) / SUM(COUNT(*)) OVER (), RANK() OVER (ORDER BY SUM(x) DESC) FROM t GROUP BY g HAVING COUNT(*) > -9",
    "SELECT VARIANCE(y * 10), CORR(y, x) FROM t",
    "SELECT g, REGR_SLOPE(x * 100, y) FROM (SELECT y, x, g FROM t WHERE g <> 'B') GROUP BY g",
    "SELECT SUM(POWER(x, 2)), AVG(LN(x)), SUM(x // 2) FROM t",
    "SELECT SUM(LEAST(LENGTH(REPLACE(note, 'x', 'xxx')), 9)), COUNT(NULLIF(x, 5)) FROM t",
    "SELECT DATE_TRUNC('month', day) AS k, SUM(DATEDIFF('day', day, DATE '2024-03-01')) FROM t GROUP BY k",
    "SELECT STRFTIME(d, '%Y-%m') AS k, STDDEV(x) FROM (SELECT day + INTERVAL '1 month' AS d, x FROM t) GROUP BY k",
    "SELECT SUM(flag), AVG(x > 3), COUNT_IF(flag) FILTER (WHERE y > 0) FROM t",
    "SELECT AVG(AGE(day, DATE '2000-02-29')), COUNT(day - 5) FROM t WHERE (g, flag) IN (('A', TRUE), ('C', FALSE))",
]
"""One or more of each kind of node: sub-queries, WITH, names given anew, computed keys, narrowed groups, windows, moments, dates, texts."""


def planned(text: str, unit: Protected, epsilon: Any = 1) -> Plan:
    catalog = Catalog((T,), unit)
    return plan_for(question(text, catalog), catalog, epsilon, F(1, 10**6) if unit.clip == "l2" else 0)


def any_row(draw: random.Random, who: str | None) -> dict[str, Any]:
    return {
        "who": who,
        "x": draw.choice([2, 5, 5, -100, 1000, None]),
        "y": draw.choice([-1.0, 3.0, 3.0, 1e308, float("-inf"), None]),
        "g": draw.choice(["A", "B", "C", "Z", None]),
        "note": draw.choice(["7", "x", "xx", None]),
        "day": draw.choice(
            [None, *(date(*each) for each in ((2024, 1, 20), (2024, 3, 10), (1, 1, 1), (9999, 12, 31)))]
        ),
        "flag": draw.choice([True, False, None]),
        "open": draw.choice([1e300, -3.0, None]),
    }


def neighbours(draw: random.Random, unit: Protected) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """A table with somebody, and without them, or with somebody else."""
    others = [any_row(draw, draw.choice(["1", "01", None])) for _ in range(draw.randrange(4))]
    many = 1 if unit.person is None else draw.randrange(1, 7)
    more, instead = ([any_row(draw, who) for _ in range(many)] for who in ("victim", "newcomer"))
    return others + more, others + instead if unit.adjacency is Adjacency.REPLACE else others


def exact(plan: Plan, rows: list[dict[str, Any]], salt: int = 1) -> list[list[int]]:
    """The totals of a plan without noise, by the slow engine."""
    return [totals.tolist() for totals in exact_totals(plan, engine(rows).run(plan.query, salt))]


def engine(rows: list[dict[str, Any]]) -> MemoryEngine:
    lists = {column.name: [row[column.name] for row in rows] for column in COLUMNS}
    return MemoryEngine([Data("t", lists, COLUMNS)], lambda query, salt: Priorities(salt))


def moved(plan: Plan, first: list[list[int]], second: list[list[int]]) -> Iterator[tuple[F, F]]:
    """For each measurement the square of how far two tables are apart in its norm, and of how far they may be."""
    for one, other, each in zip(first, second, plan.measurements, strict=True):
        by = [abs(a - b) for a, b in zip(one, other, strict=True)]
        squared = each.mechanism is not None and each.mechanism.norm is Norm.L2
        yield F(sum(d * d for d in by)) if squared else F(sum(by)) ** 2, each.sensitivity**2
