"""Functions of dates: total, alike in plain Python and on DuckDB, within their facts, grouped by as the bounds allow, refused otherwise."""

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import duckdb
import pytest

from discreet.engines.base import Data
from discreet.engines.duckdb import DuckDB
from discreet.engines.memory import MemoryEngine
from discreet.errors import Invalid, QueryError
from discreet.plan import scalar as s
from discreet.plan.calendar import FIRST, LAST, Grain, day_of, number_of, plus_months, stretches, whole_years
from discreet.plan.catalog import Catalog, Column, Protected, Table
from discreet.plan.dates import PATTERNS, TRUNCATED
from discreet.plan.domain import values_of
from discreet.plan.evaluate import evaluate
from discreet.plan.functions import FUNCTIONS, FunctionRow
from discreet.plan.plan import Plan
from discreet.plan.private import plan_for
from discreet.plan.release import exact_totals
from discreet.plan.rules.scalars import facts_of
from discreet.plan.scalar import Function, Literal, Type
from discreet.plan.scope import Scope
from discreet.plan.sql import question
from discreet.privacy import Adjacency
from tests.engines.twins import rendered, said
from tests.plan import test_security as twins
from tests.plan.laws import Priorities
from tests.scale import repeats

DATE, INTEGER = Type.DATE, Type.INTEGER
D, E, N = s.Column("d", DATE), s.Column("e", DATE), s.Column("n", INTEGER)
ROWS = [row for row in FUNCTIONS.values() if DATE in row.takes]
DAYS = (
    *(date(1, 1, 1), date(1, 1, 31), date(1, 12, 31), date(4, 2, 29), date(99, 12, 31), date(1582, 10, 10)),
    *(date(1900, 2, 28), date(1900, 3, 1), date(1969, 12, 31), date(1970, 1, 1), date(2000, 2, 29), date(2004, 1, 31)),
    *(date(2020, 12, 31), date(2021, 1, 1), date(2021, 1, 3), date(2021, 1, 4), date(2023, 2, 28), date(2023, 3, 1)),
    *(
        date(2024, 2, 29),
        date(2024, 3, 31),
        date(2024, 12, 30),
        date(9999, 1, 1),
        date(9999, 12, 1),
        date(9999, 12, 31),
    ),
)
"""The ends of the years, leap days and days beside missing ones, weeks that lie in two years, and both sides of 1970."""
COUNTS = (
    0,
    1,
    -1,
    2,
    11,
    12,
    -13,
    30,
    366,
    -3652059,
    3652058,
    119987,
    -119987,
    10**6,
    -(10**7),
    2**31,
    2**63 - 1,
    -(2**63),
)


def every(row: FunctionRow) -> Function:
    """A function of dates on plain columns."""
    dates = iter((D, E))
    return Function(row.name, tuple(N if each is INTEGER else next(dates) for each in row.takes))


# One meaning.


def engines_agree() -> None:
    """Every function on every pair of days, with every count, and without a value."""
    values = [*DAYS, None]
    rows = [(d, e, random.Random(i).choice(COUNTS)) for i, (d, e) in enumerate(product(values, values))]
    rows += [(d, None, n) for d, n in product(DAYS, (*COUNTS, None))]
    lists = {
        "row": list(range(len(rows))),
        **{name: [row[i] for row in rows] for i, name in enumerate("den")},
    }
    columns = (s.Column("row", INTEGER), D, E, N)
    scalars = [every(row) for row in ROWS]
    with DuckDB([Data("t", lists, columns)], threads=1) as engine:
        computed = rendered(engine, "t", columns, scalars)
    for (d, e, n), values_ in zip(rows, computed, strict=True):
        for scalar, value in zip(scalars, values_, strict=True):
            meant = evaluate(scalar, {"d": d, "e": e, "n": n})
            assert said(value, scalar) == said(meant, scalar), (scalar, d, e, n)


def test_engines_agree_on_hostile_dates() -> None:
    engines_agree()


OWN = {  # what DuckDB's own functions are called that mean the same
    **{f"date_diff_{unit}": f"datediff('{unit}', d, e)" for unit in ("day", "week", "month", "quarter", "year")},
    **{f"date_trunc_{unit}": f"CAST(date_trunc('{unit}', d) AS DATE)" for unit in TRUNCATED},
    **{f"strftime_{name}": f"strftime(d, '{pattern}')" for pattern, (name, _) in PATTERNS.items()},
    "age": "CAST(extract(year FROM age(d, e)) AS BIGINT)",
    **{
        name: f"date_part('{name}', d)"
        for name in ("year", "month", "day", "quarter", "week", "isoyear", "dow", "isodow", "doy")
    },
}


def duckdb_means_the_same() -> None:
    pairs = list(product(DAYS, DAYS[::3]))
    rows = [row for row in ROWS if row.name in OWN]
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (row INTEGER, d DATE, e DATE)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", [[i, *pair] for i, pair in enumerate(pairs)])
        lists = connection.execute(f"SELECT {', '.join(OWN[row.name] for row in rows)} FROM t ORDER BY row").fetchall()
    for (d, e), values in zip(pairs, lists, strict=True):
        for row, there in zip(rows, values, strict=True):
            assert evaluate(every(row), {"d": d, "e": e}) == there, (row.name, d, e)
    assert {row.name for row in ROWS} - OWN.keys() == {"plus_days", "plus_months"}


def test_they_mean_what_duckdb_means_by_itself() -> None:
    duckdb_means_the_same()


def a_birthday_comes_once_a_year() -> None:
    """An age grows by one on the birthday, on the first of March for who has none in that year, and at no other day."""
    for born in DAYS:
        if not 2 < born.year < 9990:
            continue
        for year in range(born.year + 1, born.year + 6):
            birthday = plus_months(born, 12 * (year - born.year))
            assert birthday is not None
            if (birthday.month, birthday.day) != (born.month, born.day):
                birthday += timedelta(days=1)
            before = birthday - timedelta(days=1)
            assert (whole_years(before, born), whole_years(birthday, born)) == (year - born.year - 1, year - born.year)
    for one, other in product(DAYS, DAYS):
        assert whole_years(one, other) == -whole_years(other, one)


def test_a_birthday_comes_once_a_year() -> None:
    a_birthday_comes_once_a_year()


def months_are_added_and_taken_away() -> None:
    for day, months in product(DAYS, (-25, -12, -1, 0, 1, 11, 12, 25)):
        later = plus_months(day, months)
        month = 12 * day.year + day.month - 1 + months
        assert (later is None) is not (12 <= month <= 12 * 9999 + 11)
        if later is not None:
            assert 12 * later.year + later.month - 1 == month and later.day <= day.day
            assert later.day == day.day or (later == date.max or (later + timedelta(days=1)).day == 1)


def test_months_are_added_and_taken_away() -> None:
    months_are_added_and_taken_away()


# Facts.

RANGES = (
    (date(2023, 11, 20), date(2024, 3, 5)),
    (date(1, 1, 1), date(1, 2, 10)),
    (date(9999, 11, 20), date(9999, 12, 31)),
    (date(2024, 2, 29), date(2024, 2, 29)),
    (date(1999, 12, 25), date(2001, 1, 10)),
)


def table(first: date, last: date, nullable: bool = True) -> Table:
    low, high = Fraction(number_of(first)), Fraction(number_of(last))
    return Table(
        "t",
        (
            Column("who", INTEGER),
            Column("d", DATE, low, high, nullable=nullable),
            Column("e", DATE, low + 3 if high - low > 3 else low, high, nullable=nullable),
            Column("n", INTEGER, Fraction(-2), Fraction(40), nullable=nullable),
        ),
    )


def days_of(column: Column) -> list[date]:
    assert column.low is not None and column.high is not None
    return [day_of(number) for number in range(int(column.low), int(column.high) + 1)]


def facts_hold() -> None:
    """Whatever a row within the bounds has, a function of it is within its facts, and NULL only where they say so."""
    for (first, last), nullable in product(RANGES, (False, True)):
        made = table(first, last, nullable)
        scope = Scope.of(made)
        some, others = days_of(made.column("d")), days_of(made.column("e"))
        pairs = [(d, e) for d in some for e in (others[0], others[-1], others[len(others) // 2])]
        for row in ROWS:
            facts = facts_of(every(row), scope)
            for (d, e), n in product(pairs, (-2, 0, 40) if INTEGER in row.takes else (0,)):
                value = evaluate(every(row), {"d": d, "e": e, "n": n})
                assert facts.nullable or value is not None, (row.name, d, e, n)
                number = number_of(value) if isinstance(value, date) else value
                if isinstance(number, int):
                    assert facts.low is None or facts.low <= number, (row.name, d, e, n)
                    assert facts.high is None or number <= facts.high, (row.name, d, e, n)
            assert facts.nullable or not nullable
            if row.gives is not Type.TEXT and row.name not in ("plus_days", "plus_months"):
                assert facts.bounded


def test_facts_hold_on_every_day() -> None:
    facts_hold()


def test_without_bounds_a_difference_has_none() -> None:
    bare = Scope.of(Table("t", (Column("d", DATE), Column("e", DATE), Column("n", INTEGER))))
    for row in ROWS:
        facts = facts_of(every(row), bare)
        if len(row.takes) > 1:
            assert facts.low is None and facts.high is None and facts.nullable


# Groups.


def keys() -> Iterator[s.Scalar]:
    """Functions of one date, and what is made of several."""
    for row in ROWS:
        if row.takes == (DATE,):
            yield Function(row.name, (D,))
        elif row.takes == (DATE, DATE):
            yield Function(row.name, (D, Literal(date(2024, 1, 31), DATE)))
            yield Function(row.name, (Literal(date(2000, 2, 29), DATE), D))
        else:
            yield Function(row.name, (D, Literal(1, INTEGER)))
    year, month, week = (Function(name, (D,)) for name in ("year", "month", "week"))
    hundred = Literal(100.0, Type.NUMBER)
    yield s.Arithmetic(s.Operator.ADD, s.Arithmetic(s.Operator.MULTIPLY, year, hundred), month)
    yield s.Arithmetic(s.Operator.ADD, s.Arithmetic(s.Operator.MULTIPLY, month, hundred), week)
    yield s.Case(((s.Comparison(s.Order.LESS, D, Literal(date(2024, 1, 3), DATE)), Literal(None, INTEGER)),), month)
    yield Function("date_trunc_month", (Function("plus_days", (D, Literal(28, INTEGER))),))
    yield D


def groups_are_the_image() -> None:
    """The groups of a key are its values on every day between the bounds, all of them and no others, and in order."""
    for (first, last), key in product(RANGES, keys()):
        listed = values_of(key, Scope.of(table(first, last)))
        assert listed is not None and len(set(listed)) == len(listed), key
        image = [evaluate(key, {"d": day}) for day in days_of(table(first, last).column("d"))]
        assert set(listed) - {None} == set(image) - {None}, (key, first, last)
        assert None not in listed[:-1] and (None not in image or listed[-1] is None)
        there: list[Any] = [value for value in listed if value is not None]
        if s.type_of(key) is not Type.TEXT:
            assert there == sorted(there), key
        elif isinstance(key, Function) and (cycle := FUNCTIONS[key.name].values):
            assert there == [value for value in cycle if value in there]
        else:
            assert there == list(dict.fromkeys(image)), key


def test_the_groups_are_the_values_on_the_days_between_the_bounds() -> None:
    groups_are_the_image()


def grains_hold() -> None:
    """While a grain lasts nothing that has it changes; on the days that stand for a range it has all of its values."""
    first, last = date(2019, 12, 20), date(2024, 3, 2)
    for row in ROWS:
        if row.takes[1:] and row.takes != (DATE, DATE):
            continue
        days = [first + timedelta(days=i) for i in range((last - first).days + 1)]
        scalar = Function(row.name, (D, Literal(first, DATE))[: len(row.takes)])
        values = [evaluate(scalar, {"d": day}) for day in days]
        for (day, value), (after, other) in pairwise(zip(days, values, strict=True)):
            assert value == other or row.grain.start(day) != row.grain.start(after), (row.name, day)
    for grain in Grain:
        starts = stretches(first, last, grain, 10**4)
        assert starts is not None and starts[0] == first and starts == sorted(set(starts))
        assert [grain.start(day) for day in starts[1:]] == starts[1:]
        assert {grain.start(first + timedelta(days=i)) for i in range((last - first).days + 1)} == set(
            map(grain.start, starts)
        )
        assert stretches(first, last, grain, len(starts)) == starts
        assert stretches(first, last, grain, len(starts) - 1) is None
    assert all(stretches(date.min, date.max, grain, 10) is None for grain in Grain)


def test_a_grain_is_how_long_a_function_stays_what_it_is() -> None:
    grains_hold()


def test_names_of_months_and_days_need_no_bounds() -> None:
    bare = Scope.of(Table("t", (Column("d", DATE),)))
    for row in ROWS:
        listed = values_of(Function(row.name, (D,)), bare) if row.takes == (DATE,) else None
        if row.values:
            leap = [date(2020, 1, 1) + timedelta(days=i) for i in range(366)]
            assert listed == row.values and {row.meaning(day) for day in leap} == set(row.values)


LONG = Catalog((table(date(1900, 1, 1), date(2024, 12, 31)),), Protected())
"""A century and a quarter: too many days for groups, and few years and months."""

IN_LONG = {
    "YEAR(d)": 125,
    "DATE_TRUNC('month', d)": 1500,
    "DATE_TRUNC('week', d)": 6523,
    "STRFTIME(d, '%Y-%m')": 1500,
    "QUARTER(d)": 4,
    "DOW(d)": 7,
    "DAYNAME(d)": 7,
    "FLOOR(YEAR(d) / 10) * 10": 13,
    "AGE('2024-12-31', d)": 125,
    "DATEDIFF('year', d, e)": 249,
    "FLOOR(AGE(DATE '2024-12-31', d) / 10) * 10": 13,
    "CASE WHEN YEAR(d) < 2000 THEN 'old' ELSE 'new' END": 2,
}


@pytest.mark.parametrize("key", IN_LONG)
def test_a_long_range_is_grouped_by_its_years_and_months(key: str) -> None:
    plan = plan_for(question(f"SELECT {key} AS k, COUNT(*) AS n FROM t GROUP BY k", LONG), LONG, 1)
    assert len(plan.domain) == IN_LONG[key]


def too_many_days_are_refused() -> None:
    for key in ("d", "DATE_TRUNC('day', d)", "STRFTIME(d, '%Y-%m-%d')", "e - d", "d + 1"):
        with pytest.raises(QueryError) as refused:
            plan_for(question(f"SELECT {key} AS k, COUNT(*) AS n FROM t GROUP BY k", LONG), LONG, 1)
        assert refused.value.code == "too-many-groups" and "DATE_TRUNC('month', d)" in refused.value.hint
    bare = Catalog((Table("t", (Column("d", DATE),)),), Protected())
    for key in ("YEAR(d)", "d", "DATE_TRUNC('month', d)"):
        with pytest.raises(QueryError) as refused:
            plan_for(question(f"SELECT {key} AS k, COUNT(*) AS n FROM t GROUP BY k", bare), bare, 1)
        assert refused.value.code == "missing-keys" and "--bounds d=2020-01-01:2024-12-31" in refused.value.hint
    with pytest.raises(QueryError) as refused:
        plan_for(question("SELECT AVG(d - DATE '2024-01-01') FROM t", bare), bare, 1)
    assert refused.value.code == "missing-bounds" and "--bounds d=2020-01-01:2024-12-31" in refused.value.hint


def test_too_many_days_and_no_bounds_are_refused_with_what_to_do() -> None:
    too_many_days_are_refused()


# What neighbours can change.

UNITS = [
    Protected("who", max_groups=2, max_rows=2),
    Protected("who", Adjacency.REPLACE, max_groups=2, max_rows=2),
    Protected(),
    Protected(adjacency=Adjacency.REPLACE),
]
SUMS = [
    "SELECT SUM(DATEDIFF('day', d, e)) FROM t",
    "SELECT AVG(e - d), SUM(AGE(e, d)) FROM t",
    "SELECT SUM(DATEDIFF('month', e, d)) FILTER (WHERE n > 0), AVG(YEAR(d)) FROM t",
    "SELECT DATE_TRUNC('month', d) AS m, AVG(DATEDIFF('week', d, e)), COUNT(*) FROM t GROUP BY m",
    "SELECT STRFTIME(d + INTERVAL '1 month', '%Y-%m') AS m, SUM(DATEDIFF('quarter', d, e)) FROM t GROUP BY m",
]
NEAR = (date(2023, 11, 20), date(2024, 3, 5))


def any_row(draw: random.Random, who: int) -> dict[str, Any]:
    days = [*NEAR, date(2024, 1, 1), NEAR[0] - timedelta(days=1), NEAR[1] + timedelta(days=1), date.min, date.max, None]
    return {"who": who, "d": draw.choice(days), "e": draw.choice(days), "n": draw.choice([-3, 5, None])}


def exact(plan: Plan, rows: list[dict[str, Any]], salt: int) -> list[list[int]]:
    columns = (s.Column("who", INTEGER), D, E, N)
    lists = {each.name: [row[each.name] for row in rows] for each in columns}
    engine = MemoryEngine([Data("t", lists, columns)], lambda query, salt: Priorities(salt))
    return [totals.tolist() for totals in exact_totals(plan, engine.run(plan.query, salt))]


def no_neighbour_moves_more() -> None:
    """Rows outside of the bounds, on the first and on the last of all days, and without one, move no sum by more than its noise is for."""
    for unit, text in product(UNITS, SUMS):
        catalog = Catalog((table(*NEAR),), unit)
        plan, draw = plan_for(question(text, catalog), catalog, 1), random.Random(text)
        farthest = [0] * len(plan.measurements)
        for salt in range(repeats(25)):
            others = [any_row(draw, draw.choice([1, 2])) for _ in range(draw.randrange(3))]
            count = 1 if unit.person is None else draw.randrange(1, 6)
            first = others + [any_row(draw, 8) for _ in range(count)]
            instead = [any_row(draw, 9) for _ in range(count)] if unit.adjacency is Adjacency.REPLACE else []
            pairs = zip(exact(plan, first, salt), exact(plan, others + instead, salt), strict=True)
            for i, (one, other) in enumerate(pairs):
                farthest[i] = max(farthest[i], sum(abs(a - b) for a, b in zip(one, other, strict=True)))
        for far, measurement in zip(farthest, plan.measurements, strict=True):
            assert far <= measurement.sensitivity, (unit, text, far, measurement)


def test_no_neighbour_moves_a_sum_of_days_by_more_than_its_sensitivity() -> None:
    no_neighbour_moves_more()


HOSTILE = ["0001-01-01", "9999-12-31", "2024-02-29", "2023-02-29", "10000-01-01", "", "1582-10-10 24:00"]
ASKED = [
    "SELECT DATE_TRUNC('month', day) AS m, COUNT(*) AS n FROM visits GROUP BY m",
    "SELECT AVG(DATEDIFF('day', DATE '2024-01-15', day)) AS a FROM visits",
    "SELECT COUNT(*) AS n FROM visits WHERE day + INTERVAL '9000 years' IS NULL OR day - 4000000 IS NULL",
    "SELECT SUM(AGE(day, DATE '2000-02-29')) AS s, COUNT(day + age) AS n FROM visits",
    "SELECT STRFTIME(day, '%A') AS d, COUNT(DISTINCT person) AS n FROM visits GROUP BY d",
]


@pytest.mark.parametrize("day", HOSTILE)
@pytest.mark.parametrize("unit", twins.UNITS[:3], ids=str)
def test_s9_q7_no_date_tells_of_itself(unit: Any, day: str) -> None:
    """Years 1 and 9999, leap days and days that are none, through the whole path: no error, and nothing that differs."""
    columns = {**twins.COLUMNS, "day": {"bounds": ("2023-12-01", "2024-05-31")}}
    asked = [text for text in ASKED if "person" not in text or not unit.row]
    twins.nothing_tells(replace(unit, columns=columns), twins.pair(unit, twins.row(day=day)), asked)


# Reading.

READ: dict[str, s.Scalar] = {
    "YEAR(d)": Function("year", (D,)),
    "EXTRACT(isodow FROM d)": Function("isodow", (D,)),
    "extract('Quarter' FROM d)": Function("quarter", (D,)),
    "DATE_PART('dow', d)": Function("dow", (D,)),
    "datepart('years', d)": Function("year", (D,)),
    "DAYOFWEEK(d)": Function("dow", (D,)),
    "DAYOFYEAR(d)": Function("doy", (D,)),
    "WEEKOFYEAR(d)": Function("week", (D,)),
    "DATE_TRUNC('Month', d)": Function("date_trunc_month", (D,)),
    "DATE_TRUNC('week', CAST(d AS DATE))": Function("date_trunc_week", (D,)),
    "date_trunc('day', d)": D,
    "DATEDIFF('day', d, e)": Function("date_diff_day", (D, E)),
    "date_diff('months', '2024-01-31', d)": Function("date_diff_month", (Literal(date(2024, 1, 31), DATE), D)),
    "d - e": Function("date_diff_day", (E, D)),
    "d - '2024-01-31'": Function("date_diff_day", (Literal(date(2024, 1, 31), DATE), D)),
    "'2024-01-31' - d": Function("date_diff_day", (D, Literal(date(2024, 1, 31), DATE))),
    "d + 7": Function("plus_days", (D, Literal(7, INTEGER))),
    "7 + d": Function("plus_days", (D, Literal(7, INTEGER))),
    "d - 7": Function("plus_days", (D, Literal(-7, INTEGER))),
    "d + n": Function("plus_days", (D, N)),
    "d - n": Function("plus_days", (D, s.Cast(s.Arithmetic(s.Operator.SUBTRACT, Literal(0, INTEGER), N), INTEGER))),
    "d + INTERVAL '30 days'": Function("plus_days", (D, Literal(30, INTEGER))),
    "d + INTERVAL 2 WEEKS": Function("plus_days", (D, Literal(14, INTEGER))),
    "d - INTERVAL '1' MONTH": Function("plus_months", (D, Literal(-1, INTEGER))),
    "d - (INTERVAL '-2 quarters')": Function("plus_months", (D, Literal(6, INTEGER))),
    "INTERVAL (3) DAY + d": Function("plus_days", (D, Literal(3, INTEGER))),
    "d + INTERVAL '1 year 2 months 3 days'": Function(
        "plus_days", (Function("plus_months", (D, Literal(14, INTEGER))), Literal(3, INTEGER))
    ),
    "DATE_ADD(d, INTERVAL 1 MONTH)": Function("plus_months", (D, Literal(1, INTEGER))),
    "AGE(d, e)": Function("age", (D, E)),
    "EXTRACT(YEAR FROM AGE('2024-12-31', d))": Function("age", (Literal(date(2024, 12, 31), DATE), D)),
    "DATE_PART('year', AGE(d, e))": Function("age", (D, E)),
    "STRFTIME(d, '%Y-%m')": Function("strftime_year_month", (D,)),
    "strftime('%Y', d)": Function("strftime_year", (D,)),
    "STRFTIME(d, '%Y-%m-%d')": s.Cast(D, Type.TEXT),
    "TO_CHAR(d, 'YYYY-MM')": Function("strftime_year_month", (D,)),
    "MONTHNAME(d)": Function("strftime_month_name", (D,)),
}
CATALOG = Catalog(
    (Table("t", (Column("d", DATE), Column("e", DATE), Column("n", INTEGER), Column("x", Type.NUMBER))),), Protected()
)


def scalar(text: str) -> s.Scalar:
    (counted,) = question(f"SELECT COUNT(*) FILTER (WHERE ({text}) IS NULL) FROM t", CATALOG).aggregates
    assert isinstance(counted.condition, s.IsNull)
    return counted.condition.operand


def each_is_read(*texts: str) -> None:
    for text in texts or READ:
        assert scalar(text) == READ[text], text


def test_each_way_to_write_it_is_read() -> None:
    each_is_read()


REFUSED = {
    "NOW()": "clock",
    "CURRENT_DATE": "clock",
    "CURRENT_TIMESTAMP": "clock",
    "TODAY()": "clock",
    "AGE(d)": "clock",
    "DATEDIFF('day', d, CURRENT_DATE)": "clock",
    "AGE(NOW(), d)": "clock",
    "AGE()": "clock",
    "AGE(d, e, d)": "function",
    "DATE_TRUNC('hour', d)": "function",
    "DATE_TRUNC('fortnight', d)": "function",
    "DATE_TRUNC(d)": "function",
    "DATE_TRUNC(month, d)": "function",
    "DATEDIFF(day, d, e)": "function",
    "DATEDIFF('hour', d, e)": "function",
    "DATE_PART('hour', d)": "function",
    "DATE_PART('year')": "function",
    "EXTRACT(EPOCH FROM d)": "function",
    "EXTRACT(HOUR FROM d)": "function",
    "HOUR(d)": "types",
    "EXTRACT(MONTH FROM AGE(d, e))": "types",
    "STRFTIME(d, '%c')": "pattern",
    "STRFTIME(d, n)": "pattern",
    "TO_CHAR(d, 'Month')": "pattern",
    "d + e": "types",
    "d + 0.5": "types",
    "d * 2": "types",
    "d - x": "types",
    "7 - d": "types",
    "d + '2024-01-01'": "types",
    "d - 'yesterday'": "types",
    "d > 'yesterday'": "types",
    "n + INTERVAL '1 day'": "types",
    "d + INTERVAL '1 fortnight'": "operator",
    "d + INTERVAL '1.5 days'": "operator",
    "d + INTERVAL 'a day'": "operator",
    "d + INTERVAL '3 hours'": "operator",
    "d + INTERVAL -1 DAY": "unread",
    "d + INTERVAL (n) DAY": "operator",
    "d + INTERVAL '12345678 days'": "operator",
    "d * INTERVAL '1 day'": "operator",
    "INTERVAL '1 day' - d": "operator",
    "INTERVAL '1 day'": "operator",
    "DATEDIFF('day', d)": "syntax",
    "YEAR(n)": "types",
    "DATEDIFF('day', n, d)": "types",
}


def each_is_refused(*texts: str) -> None:
    for text in texts or REFUSED:
        with pytest.raises(QueryError) as refused:
            scalar(text)
        assert (text, refused.value.code) == (text, REFUSED[text])
        assert refused.value.hint


def test_each_other_way_is_refused_with_what_to_write() -> None:
    each_is_refused()
    with pytest.raises(QueryError, match="an answer must not") as refused:
        scalar("AGE(d)")
    assert "AGE(DATE '2024-12-31', born)" in refused.value.hint
    with pytest.raises(QueryError, match="must not depend on when it is asked"):
        scalar("CURRENT_DATE")


# Declaring.


def bounds_are_days() -> None:
    first, last = date(2020, 1, 1), date(2024, 12, 31)
    column = Column("d", DATE, first, last)  # type: ignore[arg-type]
    assert (column.low, column.high) == (number_of(first), number_of(last)) and column.end(
        column.facts.low or Fraction(0)
    ) == first
    assert Column("d", DATE, column.low, column.high) == column
    for low, high in (
        (last, first),
        (first, None),
        (Fraction(1, 2), Fraction(3)),
        (FIRST - 1, 0),
        (0, LAST + 1),
        (0.0, 1.0),
    ):
        with pytest.raises(Invalid):
            Column("d", DATE, low, high)  # type: ignore[arg-type]
    with pytest.raises(Invalid):
        Column("d", Type.TEXT, first, last)  # type: ignore[arg-type]


def test_the_bounds_of_a_date_are_days() -> None:
    bounds_are_days()
