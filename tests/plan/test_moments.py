"""Variances, covariances, correlations and lines: what they are of, how far neighbours move them, and how far off they may be."""

import random
import statistics
from dataclasses import replace
from fractions import Fraction as F
from itertools import product
from math import isfinite
from typing import Any

import duckdb
import numpy as np
import pytest
from scipy.stats import binom

from discreet.curator.session import Curator
from discreet.errors import Fault, QueryError
from discreet.mechanisms import Grant
from discreet.noise import Tape
from discreet.plan.catalog import Catalog, Column, Protected, Table
from discreet.plan.evaluate import evaluate, product_ends, product_of, steps_of
from discreet.plan.intervals import Interval, intervals, predicted
from discreet.plan.plan import Plan
from discreet.plan.post import Shown, released_rows
from discreet.plan.private import plan_for
from discreet.plan.relation import How, Term
from discreet.plan.release import exact_totals, release
from discreet.plan.releases.terms import Centred, MeasuredTerms
from discreet.plan.rules.relations import term_bounds
from discreet.plan.scalar import Column as Node
from discreet.plan.scalar import Literal, Product, Steps, Type
from discreet.plan.sql import question
from discreet.plan.within import plan_within
from tests.plan import laws
from tests.plan.laws import PERSON, ROW, engine, honest, planned, turned
from tests.scale import repeats

ALPHA = 1e-6
"""False-alarm rate of each statistical law."""

RUNS = 200
"""Of each statistic; 4,000 in a soak."""

LEAST, WIDEST = 0.94, 1.5
OF_ONE = ("VARIANCE", "VAR_SAMP", "VAR_POP", "STDDEV", "STDDEV_SAMP", "STDDEV_POP")
OF_PAIRS = ("COVAR_POP", "COVAR_SAMP", "CORR", "REGR_SLOPE", "REGR_INTERCEPT", "REGR_R2")
PAIRED = (*OF_PAIRS, "REGR_COUNT", "REGR_AVGX", "REGR_AVGY")
TOTAL = Protected("who", max_total=3)


# What they are.


def plainly(name: str, y: list[float], x: list[float]) -> float | None:
    """Plain Python's word for it; of one number it is of x."""
    n, my, mx = len(x), statistics.fmean(y), statistics.fmean(x)
    cov = sum((a - my) * (b - mx) for a, b in zip(y, x, strict=True)) / n
    vy, vx = statistics.pvariance(y), statistics.pvariance(x)
    match name:
        case "VAR_POP" | "STDDEV_POP":
            return vx ** (0.5 if name == "STDDEV_POP" else 1)
        case "VARIANCE" | "VAR_SAMP" | "STDDEV" | "STDDEV_SAMP":
            return statistics.variance(x) ** (0.5 if name.startswith("STD") else 1)
        case "COVAR_POP" | "COVAR_SAMP":
            return cov * (n / (n - 1) if name == "COVAR_SAMP" else 1)
        case "CORR" | "REGR_R2":
            return (cov / (vx * vy) ** 0.5) ** (2 if name == "REGR_R2" else 1)
        case "REGR_SLOPE":
            return cov / vx
        case "REGR_INTERCEPT":
            return my - cov / vx * mx
        case "REGR_COUNT":
            return float(n)
    return mx if name == "REGR_AVGX" else my


def values_are_those_of_plain_python() -> None:
    """Without noise: of pairs only where both are there, under every unit."""
    rows = honest(48)
    for i, row in enumerate(rows):
        row |= {
            "y": None if i % 7 == 3 else row["y"] + (row["x"] if i % 3 else 0.25),
            "x": None if i % 5 == 1 else row["x"],
        }
        row["y"] = None if row["y"] is None else min(row["y"], 3.0)
    for unit in (replace(PERSON, max_groups=9, max_rows=60), ROW, turned(ROW), replace(TOTAL, max_total=60)):
        for where, keeps in (("", lambda row: True), (" FILTER (WHERE g = 'A')", lambda row: row["g"] == "A")):
            names = [(name, f"{name}(x)") for name in OF_ONE] + [(name, f"{name}(y, x)") for name in PAIRED]
            text = "SELECT " + ", ".join(f"{call}{where} AS c{i}" for i, (_, call) in enumerate(names)) + " FROM t"
            plan = planned(text, unit, epsilon=10**6)
            (shown,) = released_rows(plan, exact_totals(plan, engine(rows).run(plan.query, 5))).rows
            there = [row for row in rows if keeps(row)]
            ones = [float(row["x"]) for row in there if row["x"] is not None]
            pairs = [(row["y"], float(row["x"])) for row in there if row["x"] is not None and row["y"] is not None]
            for (name, _), value in zip(names, shown, strict=True):
                both = (ones, ones) if name in OF_ONE else tuple(map(list, zip(*pairs, strict=True)))
                wanted = plainly(name, *both)  # type: ignore[arg-type]
                assert isinstance(value, int | float) and abs(value - wanted) < 1e-5, (name, unit, where, value, wanted)


def test_values_are_those_of_plain_python() -> None:
    values_are_those_of_plain_python()


def test_values_are_those_of_duckdb() -> None:
    """By group, with missing values, through the whole path."""
    draw = random.Random(4)
    rows = [
        (draw.choice("AB"), *(draw.choice([None, draw.uniform(-5, 5), draw.randrange(-5, 5)]) for _ in range(2)))
        for _ in range(400)
    ]
    calls = [f"{name}(y)" for name in OF_ONE] + [f"{name}(y, x)" for name in PAIRED]
    text = f"SELECT g, {', '.join(calls)} FROM t GROUP BY g ORDER BY g"
    columns = {"g": {"keys": ["A", "B"]}, "y": {"bounds": (-5, 5)}, "x": {"bounds": (-5, 5)}}
    g, y, x = (list(each) for each in zip(*rows, strict=True))
    with Curator(
        {"t": {"g": g, "y": y, "x": x}}, row=True, columns=columns, epsilon=10**6, ledger=":memory:"
    ) as curator:
        found = curator.sql(text, epsilon=10**6).rows
    base = duckdb.connect()
    base.execute("CREATE TABLE t (g VARCHAR, y DOUBLE, x DOUBLE)")
    base.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    wanted = base.execute(text).fetchall()
    for ours, theirs in zip(found, wanted, strict=True):
        assert ours[0] == theirs[0]
        assert np.allclose([float(each) for each in ours[1:]], [float(each) for each in theirs[1:]], atol=2e-3)


def test_one_count_and_what_is_shared() -> None:
    """Equal sums are measured once: a mean and a sum beside a variance are free, and so is all that is of the same pairs."""
    sure = replace(laws.TABLE, columns=tuple(replace(each, nullable=False) for each in laws.TABLE.columns))
    for text, table, measured in (
        ("SELECT VARIANCE(y), STDDEV_POP(y), AVG(y), SUM(y), COUNT(y) FROM t", laws.TABLE, 3),
        ("SELECT CORR(y, x), REGR_SLOPE(y, x), REGR_INTERCEPT(y, x), COVAR_POP(y, x), REGR_R2(y, x), REGR_COUNT(y, x), "
         "REGR_AVGX(y, x), REGR_AVGY(y, x) FROM t", laws.TABLE, 6),
        ("SELECT CORR(y, x), AVG(y), VAR_POP(x), COUNT(*), SUM(x) FROM t", sure, 6),
        ("SELECT CORR(y, x), AVG(y), COUNT(*) FROM t", laws.TABLE, 9),
        ("SELECT CORR(x, x) FROM t", laws.TABLE, 3),
    ):  # fmt: skip
        assert len(planned(text, PERSON, table=table).measurements) == measured, text


# How far neighbours move them.


def no_neighbour_moves_more(tries: int = 25) -> None:
    """No measurement moves by more than its noise is made for, under both relations, with each kind of limit."""
    texts = (
        "SELECT VARIANCE(y) FROM t",
        "SELECT g, STDDEV(x), CORR(x, y) FROM t GROUP BY g",
        "SELECT REGR_SLOPE(far, y) FILTER (WHERE x > 2), COVAR_SAMP(deep, wide) FROM t",
    )
    for text, unit in product(texts, [*laws.UNITS, TOTAL, turned(TOTAL)]):
        moved = laws.searched(text, unit, repeats(tries), F(1, 10**6))
        for far, allowed in zip(moved.farthest, moved.allowed, strict=True):
            assert far <= allowed, (text, unit, far, allowed)


def test_no_neighbour_moves_more() -> None:
    no_neighbour_moves_more()


def squares_are_centred() -> None:
    """A row moves a sum by half of the width of its bounds, squares by half of the square of that, products by half times half: no less
    and no more. Replaced it moves each by as much as lies between its ends."""
    half = 2 * 2**22  # of y, from −1 to 3, in its steps
    for unit, factor in ((ROW, F(1)), (turned(ROW), F(2)), (replace(PERSON, max_rows=3), F(3))):
        plan = planned("SELECT VAR_POP(y), COVAR_POP(y, 0 - y) FROM t WHERE x > 2", unit)
        moved = {each.said: each.sensitivity * each.step for each in plan.measurements}
        assert plan.terms[0].value.shift == 22  # type: ignore[attr-defined]
        assert moved["centred sum"] == factor * half / 2**22
        assert abs(moved["centred squares"] - factor * 2) <= factor * F(1, 2**20)
        assert abs(moved["centred products"] - factor * 4) <= factor * F(1, 2**20)
    reached = laws.searched("SELECT VAR_POP(y) FROM t", ROW, 60)
    assert reached.farthest == reached.allowed


def test_squares_are_centred() -> None:
    squares_are_centred()


GRIDS = [(0.0, 3.0, 1, 1.5), (-1.0, 2.0, 0, 0.0), (5.0, 9.0, 0, 7.0), (0.0, 1.0, 3, 0.5), (-4.0, -2.0, 1, -3.0)]


def ends_of_products_are_reached_and_not_passed() -> None:
    """For every pair of small grids, all values of both tried."""
    x, y = Node("x", Type.NUMBER), Node("y", Type.NUMBER)
    for (left, right), shift, middle in product(product(GRIDS, GRIDS), (0, 1, 3), (0, 2)):
        factors = Steps(x, *left), Steps(x if left == right else y, *right)
        one = Product(*factors, shift, middle)
        ranges = [range(steps_of(each.low, each), steps_of(each.high, each) + 1) for each in factors]
        pairs = [(a, a) for a in ranges[0]] if factors[0] == factors[1] else list(product(*ranges))
        places = [product_of(a, b, one) for a, b in pairs]
        assert product_ends(one) == (min(places), max(places)), one
        for (a, b), place in zip(pairs, places, strict=True):
            assert abs((place + middle) * 2**shift - a * b) <= 2**shift / 2


def test_ends_of_products_are_reached_and_not_passed() -> None:
    ends_of_products_are_reached_and_not_passed()


def products_are_off_by_what_they_say() -> None:
    """The value that a row gives is off its product by no more than the rounding that the ± is told of."""
    draw = random.Random(1)
    for text in ("SELECT VAR_POP(y) FROM t", "SELECT COVAR_POP(y, wide) FROM t", "SELECT CORR(x, far) FROM t"):
        plan = planned(text, ROW)
        for measurement in plan.measurements:
            term = plan.terms[measurement.made.parts[0][0]].value
            if not isinstance(term, Product):
                continue
            assert max(map(abs, term_bounds(plan.terms[measurement.made.parts[0][0]]))) <= 2**24
            for _ in range(200):
                row = {
                    "x": draw.randint(2, 5),
                    "y": draw.uniform(-1, 3),
                    "far": 1e6 + draw.random(),
                    "wide": draw.randint(0, 2**24),
                }
                left, right = (F(evaluate(each.operand, row)) - F(each.middle) for each in (term.left, term.right))  # type: ignore[attr-defined]
                off = measurement.step * (evaluate(term, row) + term.middle) - left * right  # type: ignore[operator, arg-type]
                assert abs(off) <= measurement.rounding, (text, float(off), float(measurement.rounding))


def test_products_are_off_by_what_they_say() -> None:
    products_are_off_by_what_they_say()


# How far off they may be.


def by_runs(runs: int) -> Table:
    """A table with a group for each run."""
    number = {"type": Type.NUMBER, "nullable": False}
    keys = Column("k", Type.INTEGER, keys=tuple(range(runs)))
    return Table("t", (Column("x", low=F(-1), high=F(1), **number), Column("y", low=F(0), high=F(10), **number), keys))  # type: ignore[arg-type]


def released_groups(
    text: str, rows: list[dict[str, Any]], runs: int, delta: Any = 0
) -> tuple[Plan, Shown, list[Interval | None], list[int]]:
    """The same rows in every group, each with noise of its own; and the totals without noise."""
    catalog = Catalog((by_runs(runs),), ROW)
    plan = plan_for(question(text, catalog), catalog, 1, delta)
    totals = [np.array([sum(int(evaluate(term.value, row) or 0) for row in rows)]) for term in plan.terms]  # type: ignore[arg-type]
    exact = [int(each.made.of(totals)[0]) for each in plan.measurements]
    released = [
        each.mechanism(np.full(runs, total, np.int64), Tape(i))  # type: ignore[misc]
        for i, (each, total) in enumerate(zip(plan.measurements, exact, strict=True))
    ]
    shown = released_rows(plan, released)
    return plan, shown, [row[1] for row in intervals(plan, released, shown)], exact


def sampled(kind: str, n: int) -> list[dict[str, Any]]:
    draw = random.Random(f"{kind} {n}")
    rows = []
    for _ in range(n):
        x = min(draw.expovariate(5) - 1, 1.0) if kind == "skewed" else draw.uniform(-1, 1)
        x = float(np.sign(x)) if kind == "ends" else x
        slope = 0 if kind == "apart" else 3
        rows.append({"x": x, "y": min(max(5 + slope * x + draw.uniform(-2, 2), 0.0), 10.0)})
    return rows


def intervals_hold(name: str, kind: str, n: int, delta: Any = 0) -> None:
    """The truth as often as they say; and where all end, they are not much wider than what the noise spreads numbers over."""
    runs, rows = repeats(RUNS), sampled(kind, n)
    call = f"{name}(x)" if name in OF_ONE else f"{name}(y, x)"
    _, shown, spans, _ = released_groups(f"SELECT k, {call} AS v FROM t GROUP BY k", rows, runs, delta)
    truth = plainly(name, [row["y"] for row in rows], [row["x"] for row in rows])
    ends = [
        (span.low, span.high) for span in spans if span is not None and span.low is not None and span.high is not None
    ]
    missed = sum(not low - 1e-9 <= truth <= high + 1e-9 for low, high in ends)  # type: ignore[operator]
    assert binom.cdf(runs - missed, runs, LEAST) > ALPHA, (name, kind, n, missed)
    if (
        len(ends) == runs and n >= 1000 and (name, kind) != ("REGR_R2", "apart")
    ):  # the square of what may have either sign
        low, high = np.quantile([row[1] for row in shown.rows], [0.025, 0.975])
        assert np.median([b - a for a, b in ends]) <= WIDEST * (high - low), (name, kind, n)


@pytest.mark.parametrize("name", ["VAR_POP", "STDDEV", *OF_PAIRS])
def test_intervals_hold(name: str) -> None:
    for kind, n in product(("even", "skewed"), (60, 2000)):
        intervals_hold(name, kind, n)
    intervals_hold(name, "even", 300, F(1, 10**6))
    intervals_hold(name, "apart", 2000)
    intervals_hold(name, "ends", 2000)


def a_draw_that_cannot_be_tells_a_direction() -> None:
    """A covariance that is surely above 0 excludes correlations far below 0, also where a variance may be next to nothing."""
    rows = sampled("even", 100)
    _, shown, spans, _ = released_groups("SELECT k, CORR(y, x) AS v FROM t GROUP BY k", rows, repeats(RUNS))
    ends = [
        span.low for (_, value), span in zip(shown.rows, spans, strict=True) if value is not None and span is not None
    ]
    assert sum(low is not None and low > -0.99 for low in ends) > 0.5 * len(ends) > 0


def test_a_draw_that_cannot_be_tells_a_direction() -> None:
    a_draw_that_cannot_be_tells_a_direction()


def a_line_through_one_point_has_no_ends() -> None:
    """Of values that are all alike a slope may be anything, and so says its interval wherever there is a number."""
    rows = [{"x": 0.25, "y": float(i % 10)} for i in range(60)]
    _, shown, spans, _ = released_groups("SELECT k, REGR_SLOPE(y, x) AS v FROM t GROUP BY k", rows, repeats(RUNS))
    ends = [span for (_, value), span in zip(shown.rows, spans, strict=True) if value is not None]
    assert sum(span is not None and span.low is None and span.high is None for span in ends) > 0.8 * len(ends) > 0


def test_a_line_through_one_point_has_no_ends() -> None:
    a_line_through_one_point_has_no_ends()


def numbers_stay_within_what_is_possible() -> None:
    """Whatever is released: no infinity, nothing that is not a number, all within its range, and each within its interval."""
    runs = repeats(300)
    draw = np.random.default_rng(5)
    catalog = Catalog((by_runs(runs),), ROW)
    ranges = {
        **{"VAR_POP": (0, 1), "VARIANCE": (0, 2), "STDDEV_POP": (0, 1), "STDDEV": (0, 2), "COVAR_POP": (-5, 5)},
        **{"COVAR_SAMP": (-10, 10), "CORR": (-1, 1), "REGR_R2": (0, 1)},
        **{"REGR_SLOPE": (None, None), "REGR_INTERCEPT": (None, None)},
    }
    for name, (least, most) in ranges.items():
        call = f"{name}(x)" if name in OF_ONE else f"{name}(y, x)"
        plan = plan_for(question(f"SELECT k, {call} AS v FROM t GROUP BY k", catalog), catalog, 1)
        sizes = 10.0 ** draw.integers(0, 17, runs)
        released = [np.rint(draw.normal(0, 1, runs) * sizes).astype(np.int64) for _ in plan.measurements]
        released[plan.releases[0].places[0]] = np.rint(10.0 ** draw.uniform(-1, 6, runs)).astype(np.int64)
        shown = released_rows(plan, released)
        assert any(row[1] is not None for row in shown.rows)
        for (_, value), (_, span) in zip(shown.rows, intervals(plan, released, shown), strict=True):
            if value is None:
                assert span is not None and span.flag and span.low is None, name
                continue
            assert isinstance(value, int | float) and isfinite(value) and span is not None
            for end in (span.low, span.high):
                assert end is None or isfinite(end)
            if least is not None and most is not None:
                assert span.low is not None and span.high is not None
                assert least <= span.low <= value <= span.high <= most, (name, value, span)


def test_numbers_stay_within_what_is_possible() -> None:
    numbers_stay_within_what_is_possible()


def nobody_has_a_spread() -> None:
    """NULL where the count cannot be told from 0, and said to be so; a sample of one has no variance though it has a mean."""
    names = ", ".join([*(f"{name}(x)" for name in OF_ONE), *(f"{name}(y, x)" for name in OF_PAIRS)])
    plan = planned(f"SELECT {names} FROM t", PERSON)
    few = [np.array([each.few], np.int64) for each in plan.measurements]
    shown = released_rows(plan, few)
    assert set(shown.rows[0]) == {None}
    assert all(span is not None and span.flag and span.low is None for span in intervals(plan, few, shown)[0])
    one = planned("SELECT VARIANCE(y), VAR_POP(y), COVAR_SAMP(y, y) FROM t", ROW, 10**6)
    found = released_rows(one, exact_totals(one, engine([{**honest()[0], "y": 2.0}]).run(one.query, 1))).rows
    assert found == ((None, 0.0, None),)


def test_nobody_has_a_spread() -> None:
    nobody_has_a_spread()


def a_number_correlates_with_itself() -> None:
    """A correlation of a number with itself is 1, and known to be: its noise is one, however often it is named."""
    plan = planned("SELECT CORR(y, y) FROM t", replace(PERSON, max_rows=9), 2)
    rows = [{**row, "who": 100 * i + row["who"]} for i in range(200) for row in honest()]
    released = release(plan, engine(rows).run, Grant(plan.event, Tape(3)), 1)
    shown = released_rows(plan, released)
    ((span,),) = intervals(plan, released, shown)
    assert shown.rows == ((1.0,),) and span is not None and span.low is not None and span.low > 0.999


def test_a_number_correlates_with_itself() -> None:
    a_number_correlates_with_itself()


def test_what_is_said_beforehand_is_about_right() -> None:
    """A preview is for values that are spread evenly, and says so; an accuracy is paid for by it."""
    catalog = Catalog((by_runs(1),), replace(ROW, people=2000))
    for name in ("VAR_POP", "STDDEV", *OF_PAIRS):
        call = f"{name}(x)" if name in OF_ONE else f"{name}(y, x)"
        asked = question(f"SELECT {call} AS v FROM t", catalog)
        (said,) = predicted(plan_for(asked, catalog, 1))
        assert said.error is not None and said.assumes is not None and "spread evenly" in said.assumes
        if name != "REGR_R2":  # which is 0 there, and close to it at any price
            (paid,) = predicted(plan_within(asked, catalog, said.error))
            assert paid.error is not None and paid.error <= said.error


def test_what_is_composed_of_them_has_intervals() -> None:
    """A ratio with a variance in it, and what functions make of one."""
    text = "SELECT k, STDDEV_POP(x) / AVG(y) AS v FROM t GROUP BY k"
    rows = sampled("even", 2000)
    _, shown, spans, _ = released_groups(text, rows, 40)
    truth = statistics.pstdev(row["x"] for row in rows) / statistics.fmean(row["y"] for row in rows)
    assert sum(span is not None and span.low <= truth <= span.high for span in spans) >= 34  # type: ignore[operator]
    assert all(isinstance(row[1], float) for row in shown.rows)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("MIN(x)", "extreme"),
        ("MAX(x)", "extreme"),
        ("CORR(x)", "syntax"),
        ("REGR_SLOPE(x)", "function"),
        ("CORR(x, y, x)", "function"),
        ("CORR(x, g)", "types"),
        ("CORR(x, NULL)", "types"),
        ("VARIANCE(x, y)", "syntax"),
        ("VARIANCE(*)", "star"),
        ("VARIANCE(g)", "types"),
        ("STDDEV(DISTINCT x)", "distinct"),
        ("VARIANCE(who)", "missing-bounds"),
        ("COVAR_POP(x, who)", "missing-bounds"),
        ("VARIANCE(AVG(x))", "aggregate-place"),
        ("SKEWNESS(x)", "statistic"),
        ("REGR_SXX(y, x)", "statistic"),
    ],
)
def test_what_is_not_read_is_refused(call: str, code: str) -> None:
    with pytest.raises(QueryError) as refusal:
        planned(f"SELECT {call} FROM t", PERSON)
    assert refusal.value.code == code


def test_only_steps_are_factors() -> None:
    one = Centred(None, Term(How.SUM, Literal(1, Type.INTEGER)), 0)  # type: ignore[arg-type]
    with pytest.raises(Fault):
        MeasuredTerms(None, (), False).products(one, one)  # type: ignore[arg-type]
    wide = Steps(Node("x", Type.NUMBER), 0.0, 2.0**24, 0, 0.0)
    for broken in (
        Product(wide, wide, 0, 0),
        Product(wide, wide, 23, 0),
        Product(replace(wide, high=2.0**25), wide, 30, 0),
    ):
        with pytest.raises(Fault):
            term_bounds(Term(How.SUM, broken))
    assert term_bounds(Term(How.SUM, Product(wide, wide, 24, 0))) == (0, 2**24)
