"""Functions of timestamps: alike in plain Python, on DuckDB and as `datetime` has them; within their facts; grouped by as bounds allow."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date, datetime, time, timedelta
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
from discreet.plan.calendar import Grain
from discreet.plan.catalog import MOST_KEYS, Catalog, Column, Protected, Table
from discreet.plan.dates import PATTERNS
from discreet.plan.domain import values_of
from discreet.plan.evaluate import evaluate
from discreet.plan.functions import FUNCTIONS, FunctionRow
from discreet.plan.moments import FIRST, LAST, began, micros_of, midnight, moment_of, number, stretches
from discreet.plan.plan import Plan
from discreet.plan.private import plan_for
from discreet.plan.release import exact_totals
from discreet.plan.rules.scalars import facts_of
from discreet.plan.scalar import Cast, Function, Literal, Type
from discreet.plan.scope import Scope
from discreet.plan.sql import question
from discreet.plan.times import CLOCK_PATTERNS, UNITS
from discreet.privacy import Adjacency
from tests.engines.twins import agree, rendered, said
from tests.plan import test_security as twins
from tests.plan.laws import Priorities
from tests.scale import repeats

DATE, INTEGER, TEXT, TIMESTAMP = Type.DATE, Type.INTEGER, Type.TEXT, Type.TIMESTAMP
M, P, D, N = s.Column("m", TIMESTAMP), s.Column("o", TIMESTAMP), s.Column("d", DATE), s.Column("n", INTEGER)
ROWS = [row for row in FUNCTIONS.values() if TIMESTAMP in row.takes]
MOMENTS = (
    *(datetime.min, datetime(1, 1, 1, 0, 59, 59, 999999), datetime(1, 1, 31, 12), datetime(1582, 10, 10, 7, 8, 9, 10)),
    *(datetime(1900, 2, 28, 23, 59, 59), datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(1970, 1, 1)),
    *(datetime(1970, 1, 1, 0, 0, 0, 1), datetime(2000, 2, 29, 23, 0), datetime(2020, 12, 31, 23, 59, 59, 500000)),
    *(
        datetime(2021, 1, 1),
        datetime(2023, 2, 28, 12, 30),
        datetime(2024, 2, 29, 12, 29, 59),
        datetime(2024, 3, 31, 2, 30),
    ),
    *(datetime(2024, 10, 27, 2, 30), datetime(2024, 12, 30, 1, 1, 1, 1), datetime(2300, 7, 1, 6, 0, 0, 3)),
    *(datetime(9999, 1, 1), datetime(9999, 12, 31), datetime.max),
)
"""The ends of the years and of days, leap days, both sides of 1970, hours that summer time takes away or gives twice, odd microseconds."""
COUNTS = (0, 1, -1, 12, -13, 59, 86_400, -86_401, 3_652_058, -(10**7), 10**12, 2**62, 2**63 - 1, -(2**63))


def every(row: FunctionRow) -> Function:
    """A function of timestamps on plain columns."""
    moments = iter((M, P))
    return Function(row.name, tuple(N if each is INTEGER else next(moments) for each in row.takes))


# One meaning.

CASTS = (Cast(M, DATE), Cast(M, TEXT), Cast(D, TIMESTAMP), Cast(Cast(M, TEXT), TIMESTAMP))


def engines_agree() -> None:
    """Every function and cast on every pair of moments, with every count, and without a value."""
    values = [*MOMENTS, None]
    rows = [(m, o, random.Random(i).choice(COUNTS)) for i, (m, o) in enumerate(product(values, values))]
    rows += [(m, None, n) for m, n in product(MOMENTS, (*COUNTS, None))]
    lists = {
        "row": list(range(len(rows))),
        **{name: [row[i] for row in rows] for i, name in enumerate("mon")},
        "d": [None if row[0] is None else row[0].date() for row in rows],
    }
    columns = (s.Column("row", INTEGER), M, P, N, D)
    orders = [s.Comparison(order, M, P) for order in s.Order]
    scalars: list[s.Scalar] = [*map(every, ROWS), *CASTS, *orders, s.In(M, (Literal(MOMENTS[3], TIMESTAMP),))]
    with DuckDB([Data("t", lists, columns)], threads=1) as engine:
        computed = rendered(engine, "t", columns, scalars)
    for (m, o, n), values_ in zip(rows, computed, strict=True):
        row = {"m": m, "o": o, "n": n, "d": None if m is None else m.date()}
        for scalar, value in zip(scalars, values_, strict=True):
            assert said(value, scalar) == said(evaluate(scalar, row), scalar), (scalar, m, o, n)


def test_engines_agree_on_hostile_moments() -> None:
    engines_agree()


def _later(moment: datetime, **by: int) -> datetime | None:
    try:
        return moment + timedelta(**by)
    except OverflowError:
        return None


def _months(moment: datetime, count: int) -> datetime | None:
    """Downwards from the 31st to the first day that the month has."""
    month = 12 * moment.year + moment.month - 1 + count
    for day in range(moment.day, 27, -1):
        try:
            return moment.replace(year=month // 12, month=month % 12 + 1, day=day)
        except (ValueError, OverflowError):
            continue
    try:
        return moment.replace(year=month // 12, month=month % 12 + 1)
    except (ValueError, OverflowError):
        return None


def _age(later: datetime, earlier: datetime) -> int:
    """Birthdays, counted one by one; from the first of March where there is no 29th of February."""
    if later < earlier:
        return -_age(earlier, later)
    years = 0
    for year in range(earlier.year + 1, later.year + 1):
        try:
            birthday = earlier.replace(year=year)
        except ValueError:
            birthday = datetime.combine(date(year, 3, 1), earlier.time())
        years += birthday <= later
    return years


PLAIN: dict[str, Callable[..., Any]] = {
    "hour": lambda m: m.time().hour,
    "minute": lambda m: m.time().minute,
    "second": lambda m: m.time().second,
    "epoch": lambda m: float((m - datetime(1970, 1, 1)) // timedelta(microseconds=1)) / 1e6,
    "date_trunc_hour": lambda m: m.replace(minute=0, second=0, microsecond=0),
    "date_trunc_minute": lambda m: m.replace(second=0, microsecond=0),
    "date_trunc_second": lambda m: m.replace(microsecond=0),
    "date_diff_hour": lambda a, b: (
        (b.replace(minute=0, second=0, microsecond=0) - a.replace(minute=0, second=0, microsecond=0))
        // timedelta(hours=1)
    ),
    "date_diff_minute": lambda a, b: (
        (b.replace(second=0, microsecond=0) - a.replace(second=0, microsecond=0)) // timedelta(minutes=1)
    ),
    "date_diff_second": lambda a, b: (b.replace(microsecond=0) - a.replace(microsecond=0)) // timedelta(seconds=1),
    "timestamp_age": _age,
    "timestamp_plus_seconds": lambda m, n: _later(m, seconds=n),
    "timestamp_plus_days": lambda m, n: _later(m, days=n),
    "timestamp_plus_months": _months,
    **{
        f"strftime_{name}": lambda m, p=pattern: m.strftime(p.replace("%Y", f"{m.year:04}"))
        for pattern, (name, _) in CLOCK_PATTERNS.items()
    },
}


def python_means_the_same() -> None:
    """As plain `datetime` has it, whose own arithmetic is used, and none of ours."""
    assert set(PLAIN) == {row.name for row in ROWS}
    for row in ROWS:
        pairs = product(MOMENTS, COUNTS if INTEGER in row.takes else MOMENTS)
        for operands in ((m, other)[: len(row.takes)] for m, other in pairs):
            assert row.meaning(*operands) == PLAIN[row.name](*operands), (row.name, operands)
    for moment in MOMENTS:
        assert evaluate(Cast(M, DATE), {"m": moment}) == moment.date()
        assert evaluate(Cast(Cast(M, TEXT), TIMESTAMP), {"m": moment}) == moment
        assert moment_of(micros_of(moment)) == moment and FIRST <= micros_of(moment) <= LAST


def test_they_mean_what_datetime_means() -> None:
    python_means_the_same()


OWN = {  # what DuckDB's own functions are called that mean the same
    **{unit: f"CAST(date_part('{unit}', m) AS BIGINT)" for unit in UNITS},
    **{f"date_trunc_{unit}": f"date_trunc('{unit}', m)" for unit in UNITS},
    **{f"date_diff_{unit}": f"datediff('{unit}', m, o)" for unit in UNITS},
    **{f"strftime_{name}": f"strftime(m, '{pattern}')" for pattern, (name, _) in CLOCK_PATTERNS.items()},
    "epoch": "epoch(m)",
    "timestamp_age": "CAST(extract(year FROM age(m, o)) AS BIGINT)",
}


def duckdb_means_the_same() -> None:
    pairs = list(product(MOMENTS[3:-3], MOMENTS[3:-3:3]))
    rows = [row for row in ROWS if row.name in OWN]
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (row INTEGER, m TIMESTAMP, o TIMESTAMP)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", [[i, *pair] for i, pair in enumerate(pairs)])
        lists = connection.execute(f"SELECT {', '.join(OWN[row.name] for row in rows)} FROM t ORDER BY row").fetchall()
    for (m, o), values in zip(pairs, lists, strict=True):
        for row, there in zip(rows, values, strict=True):
            assert evaluate(every(row), {"m": m, "o": o}) == there, (row.name, m, o)
    assert {row.name for row in ROWS} - OWN.keys() == {
        f"timestamp_plus_{unit}" for unit in ("seconds", "days", "months")
    }


def test_they_mean_what_duckdb_means_by_itself() -> None:
    duckdb_means_the_same()


# Facts.

RANGES = (
    (datetime(2023, 12, 31, 23, 58, 57), datetime(2024, 1, 1, 0, 1, 2)),
    (datetime(1, 1, 1), datetime(1, 1, 1, 0, 1, 1)),
    (datetime(9999, 12, 31, 23, 58, 30), datetime(9999, 12, 31, 23, 59, 59, 999999)),
    (datetime(2300, 7, 1, 0, 0, 0, 1), datetime(2300, 7, 1, 0, 0, 0, 9)),
    (datetime(1969, 12, 31, 23, 59, 59), datetime(1970, 1, 1, 0, 0, 1)),
    (datetime(2023, 12, 31, 20, 59, 57), datetime(2024, 1, 1, 1, 0, 2)),
)


def table(first: datetime, last: datetime, nullable: bool = True) -> Table:
    low, high = Fraction(micros_of(first)), Fraction(micros_of(last))
    return Table(
        "t",
        (
            Column("who", INTEGER),
            Column("m", TIMESTAMP, low, high, nullable=nullable),
            Column("o", TIMESTAMP, low + 3, high, nullable=nullable),
            Column("n", INTEGER, Fraction(-2), Fraction(40), nullable=nullable),
            Column("d", DATE, low // 86_400_000_000, high // 86_400_000_000, nullable=nullable),
        ),
    )


def moments_of(first: datetime, last: datetime) -> list[datetime]:
    """Every second between two moments, of hours every minute; the microseconds beside each, and the ends."""
    low, high = micros_of(first), micros_of(last)
    if high - low < 100:
        return [moment_of(each) for each in range(low, high + 1)]
    step = 10**6 if high - low < 3600 * 10**6 else 60 * 10**6
    seconds = range(low - low % step, high + 1, step)
    beside = {low, high, *(each + by for each in seconds for by in (-1, 0, 1))}
    return [moment_of(each) for each in sorted(beside) if low <= each <= high]


def facts_hold() -> None:
    """Whatever a row within the bounds has, a function of it is within its facts, and NULL only where they say so."""
    for (first, last), nullable in product(RANGES, (False, True)):
        made = table(first, last, nullable)
        scope = Scope.of(made)
        some = moments_of(first, last)
        few = [*some[:3], *some[-3:], *random.Random(0).choices(some, k=20)]
        pairs = [(m, o) for m in few for o in (first + timedelta(microseconds=3), last)]
        for scalar in (*map(every, ROWS), Cast(M, DATE), Cast(D, TIMESTAMP)):
            facts = facts_of(scalar, scope)
            for (m, o), n in product(pairs, (-2, 0, 40)):
                value = evaluate(scalar, {"m": m, "o": o, "n": n, "d": m.date()})
                assert facts.nullable or value is not None, (scalar, m, o, n)
                known = value if isinstance(value, int | float) else number(value)
                if known is not None:
                    assert facts.low is None or facts.low <= known, (scalar, m, o, n)
                    assert facts.high is None or known <= facts.high, (scalar, m, o, n)
            assert facts.nullable or not nullable
            if s.type_of(scalar) is not TEXT and not (isinstance(scalar, Function) and "plus" in scalar.name):
                assert facts.bounded


def test_facts_hold_on_every_moment() -> None:
    facts_hold()


# Groups.


def keys() -> Iterator[s.Scalar]:
    """Functions of one timestamp, of its day, and what is made of several."""
    for row in ROWS:
        if row.takes == (TIMESTAMP,) and row.name != "epoch":
            yield Function(row.name, (M,))
        elif row.name.startswith("date_diff"):
            yield Function(row.name, (Literal(datetime(2024, 1, 1), TIMESTAMP), M))
    day = Cast(M, DATE)
    yield day
    for name in ("year", "dow", "week", "date_trunc_month", "strftime_year_month"):
        yield Function(name, (day,))
    yield Cast(Function("date_trunc_month", (day,)), TIMESTAMP)
    for unit, count in (("seconds", 3600), ("seconds", -1800), ("seconds", 7), ("days", 31)):
        moved = Function(f"timestamp_plus_{unit}", (M, Literal(count, INTEGER)))
        yield Cast(moved, DATE)
        yield Function("date_trunc_minute", (moved,))
        yield Function("hour", (moved,))
        yield Function("year", (Cast(moved, DATE),))
        yield Function("timestamp_plus_seconds", (Function("date_trunc_hour", (moved,)), Literal(1, INTEGER)))
    hour, month = Function("hour", (M,)), Function("month", (day,))
    yield s.Arithmetic(s.Operator.ADD, s.Arithmetic(s.Operator.MULTIPLY, month, Literal(100.0, Type.NUMBER)), hour)
    yield s.Case(((s.Comparison(s.Order.LESS, hour, Literal(6, INTEGER)), Literal(None, INTEGER)),), hour)


def groups_are_the_image() -> None:
    """The groups of a key are its values on every moment between the bounds, all of them and no others, and in order."""
    for (first, last), key in product(RANGES, keys()):
        if (first, last) == RANGES[-1] and any(each in str(key) for each in ("second", "time", "minute", "day_dots")):
            continue
        listed = values_of(key, Scope.of(table(first, last)))
        assert listed is not None and len(set(listed)) == len(listed), key
        image = list(dict.fromkeys(evaluate(key, {"m": moment}) for moment in moments_of(first, last)))
        assert set(listed) - {None} == set(image) - {None}, (key, first, last)
        assert None not in listed[:-1] and (None not in image or listed[-1] is None)
        there: list[Any] = [value for value in listed if value is not None]
        if s.type_of(key) is not TEXT:
            assert there == sorted(there), key
        elif isinstance(key, Function) and (cycle := FUNCTIONS[key.name].values):
            assert there == [value for value in cycle if value in there]
        else:
            assert there == image, key
    tiny = Scope.of(table(*RANGES[3]))
    assert values_of(M, tiny) == tuple(moments_of(*RANGES[3]))
    assert values_of(Function("timestamp_plus_seconds", (M, Literal(7, INTEGER))), tiny) == tuple(
        each + timedelta(seconds=7) for each in moments_of(*RANGES[3])
    )


def test_the_groups_are_the_values_on_the_moments_between_the_bounds() -> None:
    groups_are_the_image()


def grains_hold() -> None:
    """While a grain lasts nothing that has it changes; on the moments that stand for a range it has all of its values."""
    for first, last in RANGES:
        some = moments_of(first, last)
        if last - first > timedelta(hours=1):
            continue
        for row in ROWS:
            if INTEGER in row.takes:
                continue
            scalar = Function(row.name, (M, Literal(first, TIMESTAMP))[: len(row.takes)])
            values = [evaluate(scalar, {"m": moment}) for moment in some]
            for (moment, value), (after, other) in pairwise(zip(some, values, strict=True)):
                assert value == other or began(row.grain, moment) != began(row.grain, after), (row.name, moment)
        for grain in Grain:
            starts = stretches(first, last, grain, 10**4)
            if starts is None:
                assert grain in (Grain.INSTANT, Grain.SECOND)
                continue
            assert starts[0] == first and starts == sorted(set(starts)) and starts[-1] <= last
            assert [began(grain, moment) for moment in starts[1:]] == starts[1:]
            assert {began(grain, moment) for moment in some} == {began(grain, moment) for moment in starts}
            assert stretches(first, last, grain, len(starts) - 1) is None
    assert all(stretches(datetime.min, datetime.max, grain, 10) is None for grain in Grain)


def test_a_grain_is_how_long_a_function_stays_what_it_is() -> None:
    grains_hold()


def wide(days: int) -> Catalog:
    first = datetime(2020, 1, 1)
    return Catalog((table(first, first + timedelta(days=days) - timedelta(microseconds=1)),), Protected())


IN_FIVE_YEARS = {
    "HOUR(m)": 24,
    "MINUTE(m)": 60,
    "EXTRACT(hour FROM m)": 24,
    "STRFTIME(m, '%H')": 24,
    "STRFTIME(m, '%H:%M')": 1440,
    "TO_CHAR(m, 'HH24')": 24,
    "DATE(m)": 1827,
    "m::date": 1827,
    "DATE_TRUNC('day', m)": 1827,
    "DATE_TRUNC('month', m)": 60,
    "DATE_TRUNC('week', m)": 262,
    "YEAR(m)": 5,
    "DAYNAME(m)": 7,
    "STRFTIME(m, '%Y-%m')": 60,
    "FLOOR(HOUR(m) / 6)": 4,
    "CASE WHEN HOUR(m) < 12 THEN 'am' ELSE 'pm' END": 2,
    "HOUR(m + INTERVAL '1 hour')": 24,
    "YEAR(m + INTERVAL '1 day')": 6,
    "m >= '2022-01-01'": 2,
}


@pytest.mark.parametrize("key", IN_FIVE_YEARS)
def test_a_wide_range_is_grouped_by_its_hours_days_and_months(key: str) -> None:
    catalog = wide(1827)
    plan = plan_for(question(f"SELECT {key} AS k, COUNT(*) AS n FROM t GROUP BY k", catalog), catalog, 1)
    assert len(plan.domain) == IN_FIVE_YEARS[key]


def too_many_hours_are_refused() -> None:
    text = "SELECT DATE_TRUNC('hour', m) AS h, COUNT(*) AS n FROM t GROUP BY h"
    most = MOST_KEYS // 24
    assert len(plan_for(question(text, wide(most)), wide(most), 1).domain) == 24 * most
    for key in ("DATE_TRUNC('hour', m)", "m", "STRFTIME(m, '%Y-%m-%d %H')", "EPOCH(m)"):
        with pytest.raises(QueryError) as refused:
            plan_for(question(f"SELECT {key} AS k, COUNT(*) AS n FROM t GROUP BY k", wide(most + 1)), wide(most + 1), 1)
        assert refused.value.code in ("too-many-groups", "number-key"), key
    bare = Catalog((Table("t", (Column("m", TIMESTAMP),)),), Protected())
    assert len(plan_for(question("SELECT HOUR(m) AS k, COUNT(*) AS n FROM t GROUP BY k", bare), bare, 1).domain) == 24
    for key in ("DATE(m)", "m", "DATE_TRUNC('hour', m)"):
        with pytest.raises(QueryError) as refused:
            plan_for(question(f"SELECT {key} AS k, COUNT(*) AS n FROM t GROUP BY k", bare), bare, 1)
        assert refused.value.code == "missing-keys" and "--bounds m=2020-01-01:2024-12-31" in refused.value.hint
    with pytest.raises(QueryError) as refused:
        plan_for(question("SELECT AVG(DATEDIFF('hour', m, '2024-01-01')) FROM t", bare), bare, 1)
    assert refused.value.code == "missing-bounds" and "the timestamp 'm'" in str(refused.value)


def test_too_many_hours_and_no_bounds_are_refused_with_what_to_do() -> None:
    too_many_hours_are_refused()


# What neighbours can change.

UNITS_OF_PRIVACY = [
    Protected("who", max_groups=2, max_rows=2),
    Protected("who", Adjacency.REPLACE, max_groups=2, max_rows=2),
    Protected(),
    Protected(adjacency=Adjacency.REPLACE),
]
SUMS = [
    "SELECT SUM(DATEDIFF('hour', m, o)), AVG(HOUR(m)) FROM t",
    "SELECT SUM(AGE(o, m)), SUM(DATEDIFF('day', m, o)) FROM t",
    "SELECT HOUR(m) AS h, AVG(DATEDIFF('minute', o, m)), COUNT(*) FROM t GROUP BY h",
    "SELECT DATE_TRUNC('hour', m + INTERVAL '30 minutes') AS h, COUNT(*), SUM(MINUTE(o)) FROM t GROUP BY h",
]
NEAR = (datetime(2023, 12, 31, 20, 15), datetime(2024, 1, 1, 3, 45))
COLUMNS = (s.Column("who", INTEGER), M, P, N)


def any_row(draw: random.Random, who: int) -> dict[str, Any]:
    outside = [
        NEAR[0] - timedelta(microseconds=1),
        NEAR[1] + timedelta(microseconds=1),
        datetime.min,
        datetime.max,
        None,
    ]
    moments = [*NEAR, datetime(2024, 1, 1), datetime(2023, 12, 31, 23, 59, 59, 999999), *outside]
    return {"who": who, "m": draw.choice(moments), "o": draw.choice(moments), "n": draw.choice([-3, 5, None])}


def exact(plan: Plan, rows: list[dict[str, Any]], salt: int) -> list[list[int]]:
    lists = {each.name: [row[each.name] for row in rows] for each in COLUMNS}
    engine = MemoryEngine([Data("t", lists, COLUMNS)], lambda query, salt: Priorities(salt))
    return [totals.tolist() for totals in exact_totals(plan, engine.run(plan.query, salt))]


def no_neighbour_moves_more() -> None:
    """Rows outside of the bounds, at the first and the last of all moments, and without one, move no sum by more than its noise is for."""
    for unit, text in product(UNITS_OF_PRIVACY, SUMS):
        catalog = Catalog((table(*NEAR),), unit)
        plan, draw = plan_for(question(text, catalog), catalog, 1), random.Random(text)
        farthest = [0] * len(plan.measurements)
        for salt in range(repeats(20)):
            others = [any_row(draw, draw.choice([1, 2])) for _ in range(draw.randrange(3))]
            count = 1 if unit.person is None else draw.randrange(1, 6)
            first = others + [any_row(draw, 8) for _ in range(count)]
            instead = [any_row(draw, 9) for _ in range(count)] if unit.adjacency is Adjacency.REPLACE else []
            pairs = zip(exact(plan, first, salt), exact(plan, others + instead, salt), strict=True)
            for i, (one, other) in enumerate(pairs):
                farthest[i] = max(farthest[i], sum(abs(a - b) for a, b in zip(one, other, strict=True)))
        for far, measurement in zip(farthest, plan.measurements, strict=True):
            assert far <= measurement.sensitivity, (unit, text, far, measurement)


def test_no_neighbour_moves_a_sum_of_hours_by_more_than_its_sensitivity() -> None:
    no_neighbour_moves_more()


ASKED = [
    *SUMS,
    "SELECT m, COUNT(*) AS n FROM t WHERE m IN ('2024-01-01', TIMESTAMP '2023-12-31 20:15:00') GROUP BY m",
    "SELECT DATE(m) AS k, COUNT(*) AS n FROM t WHERE m BETWEEN DATE '2023-12-31' AND '2024-01-01 03:00' GROUP BY k",
    "SELECT COALESCE(m, o) >= o AS k, COUNT(m) AS n FROM t WHERE m IS NOT NULL OR o - INTERVAL '9000 years' IS NULL GROUP BY k",
    "SELECT CASE WHEN m < o THEN HOUR(m) ELSE HOUR(o) END AS k, COUNT(*) AS n FROM t GROUP BY k",
]


@pytest.mark.parametrize("text", ASKED)
@pytest.mark.parametrize("unit", UNITS_OF_PRIVACY[::2], ids=["person", "row"])
def test_engines_agree_on_whole_questions(text: str, unit: Protected) -> None:
    catalog, draw = Catalog((table(*NEAR),), unit), random.Random(text)
    rows = [any_row(draw, draw.randrange(9)) for _ in range(60)]
    lists = {each.name: [row[each.name] for row in rows] for each in COLUMNS}
    plan = plan_for(question(text, catalog), catalog, 1)
    agree([Data("t", lists, COLUMNS, person=unit.person)], [plan.query])


HOSTILE = [
    "0001-01-01T00:00:00+14:00",
    "9999-12-31 23:59:59.9999999",
    "2024-02-29T24:00",
    "2024-03-31 02:30:00",
    "",
    "1969-12-31T23:59:59Z",
]
TOLD = [
    "SELECT HOUR(day) AS h, COUNT(*) AS n FROM visits GROUP BY h",
    "SELECT DATE_TRUNC('month', day) AS m, COUNT(*) AS n FROM visits GROUP BY m",
    "SELECT AVG(DATEDIFF('hour', TIMESTAMP '2024-01-15 12:00', day)) AS a, SUM(AGE(day, '2000-02-29')) AS s FROM visits",
    "SELECT COUNT(*) AS n FROM visits WHERE day + INTERVAL '9000 years' IS NULL OR day - INTERVAL '999999 hours' < '0001-02-01'",
]


@pytest.mark.parametrize("moment", HOSTILE)
@pytest.mark.parametrize("unit", twins.UNITS[:2], ids=str)
def test_s9_q7_no_moment_tells_of_itself(unit: Any, moment: str) -> None:
    """The ends of the years, hours that there are not, what is no moment, through the whole path: no error, and nothing that differs."""
    columns = {**twins.COLUMNS, "day": {"type": "timestamp", "bounds": ("2023-12-01", "2024-05-31")}}
    twins.nothing_tells(replace(unit, columns=columns), twins.pair(unit, twins.row(day=moment)), TOLD)


# Reading.


def at(*parts: int) -> Literal:
    return Literal(datetime(*parts), TIMESTAMP)  # type: ignore[arg-type]


def whole(count: int) -> Literal:
    return Literal(count, INTEGER)


DAY = Cast(M, DATE)
READ: dict[str, s.Scalar] = {
    "HOUR(m)": Function("hour", (M,)),
    "EXTRACT(minute FROM m)": Function("minute", (M,)),
    "DATE_PART('second', m)": Function("second", (M,)),
    "DATE_PART('hours', m)": Function("hour", (M,)),
    "EPOCH(m)": Function("epoch", (M,)),
    "EXTRACT(EPOCH FROM m)": Function("epoch", (M,)),
    "YEAR(m)": Function("year", (DAY,)),
    "EXTRACT(dow FROM m)": Function("dow", (DAY,)),
    "DATE_TRUNC('hour', m)": Function("date_trunc_hour", (M,)),
    "DATE_TRUNC('minutes', m)": Function("date_trunc_minute", (M,)),
    "DATE_TRUNC('day', m)": Cast(DAY, TIMESTAMP),
    "DATE_TRUNC('month', m)": Cast(Function("date_trunc_month", (DAY,)), TIMESTAMP),
    "DATE_TRUNC('month', d)": Function("date_trunc_month", (D,)),
    "CAST(m AS DATE)": DAY,
    "m::date": DAY,
    "DATE(m)": DAY,
    "DATE(d)": D,
    "DATE('2024-01-31')": Literal(date(2024, 1, 31), DATE),
    "DATE(DATE_TRUNC('day', m))": DAY,
    "TIMESTAMP '2024-01-31 10:15'": at(2024, 1, 31, 10, 15),
    "TIMESTAMP '2024-01-31T10:15:30.5'": at(2024, 1, 31, 10, 15, 30, 500000),
    "CAST('2024-01-31' AS TIMESTAMP)": at(2024, 1, 31),
    "CAST(DATE '2024-01-31' AS TIMESTAMP)": at(2024, 1, 31),
    "CAST(TIMESTAMP '2024-01-31 10:15' AS DATE)": Literal(date(2024, 1, 31), DATE),
    "d::timestamp": Cast(D, TIMESTAMP),
    "m = '2024-01-31'": s.Comparison(s.Order.EQUAL, M, at(2024, 1, 31)),
    "m < DATE '2024-01-31'": s.Comparison(s.Order.LESS, M, at(2024, 1, 31)),
    "'2024-01-31 08:00' <= m": s.Comparison(s.Order.GREATER_OR_EQUAL, M, at(2024, 1, 31, 8)),
    "d < m": s.Comparison(s.Order.LESS, Cast(D, TIMESTAMP), M),
    "d < TIMESTAMP '2024-01-31 12:00'": s.Comparison(s.Order.LESS, Cast(D, TIMESTAMP), at(2024, 1, 31, 12)),
    "m IN ('2024-01-31', DATE '2024-01-30')": s.In(M, (at(2024, 1, 30), at(2024, 1, 31))),
    "COALESCE(m, d, '2024-01-31')": s.Coalesce((M, Cast(D, TIMESTAMP), at(2024, 1, 31))),
    "CASE WHEN m > o THEN m ELSE '2024-01-31' END": s.Case(
        ((s.Comparison(s.Order.GREATER, M, P), M),), at(2024, 1, 31)
    ),
    "m + INTERVAL '2 hours'": Function("timestamp_plus_seconds", (M, whole(7200))),
    "m - INTERVAL 90 MINUTE": Function("timestamp_plus_seconds", (M, whole(-5400))),
    "INTERVAL (3) SECOND + m": Function("timestamp_plus_seconds", (M, whole(3))),
    "m + INTERVAL '1 day'": Function("timestamp_plus_days", (M, whole(1))),
    "m - INTERVAL '1 year 1 week 2 hours'": Function(
        "timestamp_plus_seconds",
        (
            Function("timestamp_plus_days", (Function("timestamp_plus_months", (M, whole(-12))), whole(-7))),
            whole(-7200),
        ),
    ),
    "DATE_ADD(m, INTERVAL 1 HOUR)": Function("timestamp_plus_seconds", (M, whole(3600))),
    "d + INTERVAL '1 day'": Function("plus_days", (D, whole(1))),
    "DATEDIFF('hour', m, o)": Function("date_diff_hour", (M, P)),
    "DATE_DIFF('minute', d, m)": Function("date_diff_minute", (Cast(D, TIMESTAMP), M)),
    "DATEDIFF('second', '2024-01-31', m)": Function("date_diff_second", (at(2024, 1, 31), M)),
    "DATEDIFF('day', d, m)": Function("date_diff_day", (D, DAY)),
    "DATEDIFF('month', m, o)": Function("date_diff_month", (DAY, Cast(P, DATE))),
    "AGE(m, o)": Function("timestamp_age", (M, P)),
    "AGE('2024-01-31', m)": Function("timestamp_age", (at(2024, 1, 31), M)),
    "AGE(m, d)": Function("timestamp_age", (M, Cast(D, TIMESTAMP))),
    "EXTRACT(YEAR FROM AGE(m, o))": Function("timestamp_age", (M, P)),
    "STRFTIME(m, '%H')": Function("strftime_hour", (M,)),
    "STRFTIME(m, '%Y-%m-%d %H:%M')": Function("strftime_day_hour_minute", (M,)),
    "TO_CHAR(m, 'YYYY-MM-DD HH24:MI')": Function("strftime_day_hour_minute", (M,)),
    "STRFTIME(m, '%Y-%m')": Function("strftime_year_month", (DAY,)),
    "STRFTIME(m, '%Y-%m-%d')": Cast(DAY, TEXT),
    "DATE(m) - d": Function("date_diff_day", (D, DAY)),
}
CATALOG = Catalog(
    (Table("t", (Column("m", TIMESTAMP), Column("o", TIMESTAMP), Column("d", DATE), Column("n", INTEGER))),),
    Protected(),
)


def scalar(text: str, params: Any = None) -> s.Scalar:
    (counted,) = question(f"SELECT COUNT(*) FILTER (WHERE ({text}) IS NULL) FROM t", CATALOG, params).aggregates
    assert isinstance(counted.condition, s.IsNull)
    return counted.condition.operand


def each_is_read(*texts: str) -> None:
    for text in texts or READ:
        assert scalar(text) == READ[text], text


def test_each_way_to_write_it_is_read() -> None:
    each_is_read()


REFUSED = {
    "NOW()": "clock",
    "m > NOW()": "clock",
    "m > CURRENT_TIMESTAMP": "clock",
    "AGE(m)": "clock",
    "DATEDIFF('hour', m, NOW())": "clock",
    "HOUR(d)": "types",
    "EXTRACT(hour FROM d)": "function",
    "EPOCH(d)": "types",
    "DATE_TRUNC('hour', d)": "function",
    "DATE_TRUNC('millisecond', m)": "function",
    "DATEDIFF('hour', d, d)": "function",
    "DATEDIFF('hour', d, '2024-01-01')": "function",
    "DATEDIFF('hour', n, m)": "types",
    "d + INTERVAL '3 hours'": "operator",
    "m + INTERVAL '1.5 hours'": "operator",
    "m - o": "types",
    "m + 1": "types",
    "m * 2": "types",
    "m - d": "types",
    "m > 'yesterday'": "types",
    "m > '2024-01-31T10:00:00Z'": "types",
    "m > '2024-01-31 10:00:00+02:00'": "types",
    "m > '2024-02-30'": "types",
    "m > 7": "types",
    "TIMESTAMP '2024-01-31 10:00 Z'": "literal",
    "TIMESTAMP 'noon'": "literal",
    "CAST(n AS TIMESTAMP)": "types",
    "CAST(m AS INTEGER)": "types",
    "CAST(m AS TIMESTAMPTZ)": "types",
    "m::timestamptz": "types",
    "TIMESTAMP(m)": "function",
    "DATE(DATE(m))": "function",
    "DATE(n)": "types",
    "STRFTIME(d, '%H')": "pattern",
    "STRFTIME(m, '%c')": "pattern",
    "EXTRACT(millisecond FROM m)": "function",
    "EXTRACT(MONTH FROM AGE(m, o))": "types",
}


def each_is_refused(*texts: str) -> None:
    for text in texts or REFUSED:
        with pytest.raises(QueryError) as refused:
            scalar(text)
        assert (text, refused.value.code) == (text, REFUSED[text])
        assert refused.value.hint


def test_each_other_way_is_refused_with_what_to_write() -> None:
    each_is_refused()


def moments_are_bound() -> None:
    """Where there are timestamps a bound moment is one, and where there are none it is its day, as it always was."""
    moment, days = datetime(2024, 1, 31, 10, 15), Catalog((Table("t", (Column("d", DATE),)),), Protected())
    assert scalar("m > ?", [moment]) == s.Comparison(s.Order.GREATER, M, at(2024, 1, 31, 10, 15))
    assert scalar("m > ?", [date(2024, 1, 31)]) == s.Comparison(s.Order.GREATER, M, at(2024, 1, 31))
    asked = question("SELECT COUNT(*) FROM t WHERE d = ?", days, [moment])
    assert asked == question("SELECT COUNT(*) FROM t WHERE d = DATE '2024-01-31'", days)
    from datetime import UTC

    with pytest.raises(QueryError, match="has a zone") as refused:
        scalar("m > ?", [moment.replace(tzinfo=UTC)])
    assert "without a zone" in refused.value.hint


def test_a_bound_moment_is_a_timestamp_where_there_are_some() -> None:
    moments_are_bound()


# Declaring.


def bounds_are_moments() -> None:
    first, last = datetime(2020, 1, 1, 8), datetime(2024, 12, 31, 23, 59, 59, 999999)
    column = Column("m", TIMESTAMP, first, last)  # type: ignore[arg-type]
    assert (column.low, column.high) == (micros_of(first), micros_of(last))
    assert column.end(column.facts.low or Fraction(0)) == first
    assert Column("m", TIMESTAMP, column.low, column.high) == column
    days = Column("m", TIMESTAMP, date(2020, 1, 1), date(2024, 12, 31))  # type: ignore[arg-type]
    assert (days.low, days.high) == (micros_of(midnight(date(2020, 1, 1))), micros_of(last))
    one = Column("m", TIMESTAMP, date(2020, 1, 1), date(2020, 1, 1))  # type: ignore[arg-type]
    assert one.high is not None and one.low is not None and one.high - one.low == 86_400 * 10**6 - 1
    wrong = (
        (last, first),
        (first, None),
        (Fraction(1, 2), Fraction(3)),
        (FIRST - 1, 0),
        (0, LAST + 1),
        (0.0, 1.0),
        (0, "x"),
    )
    for low, high in wrong:
        with pytest.raises(Invalid):
            Column("m", TIMESTAMP, low, high)  # type: ignore[arg-type]


def test_the_bounds_of_a_timestamp_are_moments_or_whole_days() -> None:
    bounds_are_moments()


def test_patterns_with_hours_are_no_patterns_of_dates() -> None:
    assert (
        not PATTERNS.keys() & CLOCK_PATTERNS.keys() and time(23, 59).strftime("%H:%M") == CLOCK_PATTERNS["%H:%M"][1][-1]
    )
