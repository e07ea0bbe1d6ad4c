"""Levels of an answer: sums of released cells are what SQL says, with the noise of sums; what cannot be summed is measured and paid for."""

import random
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction as F
from itertools import product
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.answer import Answer
from discreet.audit.twins import Draws, compare
from discreet.curator.session import Curator
from discreet.errors import Fault, QueryError
from discreet.mechanisms import Geometric, Grant, RoundedGaussian
from discreet.mechanisms.sensitivity import Norm
from discreet.noise import Tape
from discreet.plan.catalog import Protected
from discreet.plan.check import check, digest, event_of
from discreet.plan.draws import noise_points
from discreet.plan.explain import explain
from discreet.plan.intervals import predicted
from discreet.plan.levels import coarser, rows_of, views
from discreet.plan.limits import check_limits
from discreet.plan.plan import Plan, Stage
from discreet.plan.post import released_rows
from discreet.plan.release import release
from discreet.plan.spread import SummedNoise
from discreet.plan.totals import combined_totals
from discreet.privacy import loss
from tests.plan import test_coverage
from tests.plan.laws import (
    CLIPPED,
    PERSON,
    ROW,
    TABLE,
    Row,
    decided_by,
    engine,
    honest,
    neighbours,
    planned,
    top_rungs,
    turned,
)
from tests.plan.test_coverage import PEOPLE, ROWS_EACH, RUNS, STATISTICS, faults
from tests.plan.test_readings import callable_kind
from tests.scale import repeats

KEYS = ("g", "x", "FLOOR(y)")
SETS = {
    "ROLLUP (g, x)": [(0, 1), (0,), ()],
    "ROLLUP (x, g)": [(0, 1), (0,), ()],
    "CUBE (g, x)": [(0, 1), (0,), (1,), ()],
    "g, ROLLUP (x)": [(0, 1), (0,)],
    "GROUPING SETS ((g, x), (x), ())": [(0, 1), (1,), ()],
    "GROUPING SETS ((g), (x))": [(0,), (1,)],
    "ROLLUP (g), ROLLUP (x)": [(0, 1), (0,), (1,), ()],
    "ROLLUP ((g, x), FLOOR(y))": [(0, 1, 2), (0, 1), ()],
    "GROUPING SETS (ROLLUP (g, x), CUBE (x), g)": [(0, 1), (0,), (), (1,)],
    "CUBE (g, (x, FLOOR(y)))": [(0, 1, 2), (0,), (1, 2), ()],
    "GROUPING SETS ((g, x), (g), (x, g))": [(0, 1), (0,)],
}
"""What stands behind GROUP BY, and the keys of each level, by their places."""


def asked(group: str, aggregates: str) -> tuple[str, list[str]]:
    """A question of all keys that are grouped by, and which these are, in the order of the text."""
    keys = sorted((key for key in KEYS if key in group), key=group.index)
    shown = ", ".join(f"{key} AS k{i}, GROUPING({key}) AS r{i}" for i, key in enumerate(keys))
    return f"SELECT {shown}, GROUPING({', '.join(keys)}) AS bits, {aggregates} FROM t GROUP BY {group}", keys


def drawn(plan: Plan, seed: int, rows: list[Row] | None = None) -> tuple[Any, ...]:
    run = engine(honest(40) if rows is None else rows).run
    return release(plan, run, Grant(plan.event, Tape(seed)), seed)


def test_levels_are_those_of_the_text() -> None:
    for group, levels in SETS.items():
        text, keys = asked(group, "COUNT(*) AS n")
        plan = planned(text, ROW)
        assert [sorted(each) for each in plan.question.levels] == [sorted(each) for each in levels], group
        assert len(plan.question.keys) == len(keys)
    for group in ("ROLLUP (g), g", "GROUPING SETS ((g, x))", "GROUPING SETS ((x, g), (g, x))", "g, GROUPING SETS (x)"):
        assert planned(f"SELECT COUNT(*) AS n FROM t GROUP BY {group}", ROW).question.levels in ((), ((0,),))


def test_one_level_is_the_same_question() -> None:
    one = planned("SELECT g, x, COUNT(*) AS n FROM t GROUP BY GROUPING SETS ((g, x))", ROW)
    assert digest(one) == digest(planned("SELECT g, x, COUNT(*) AS n FROM t GROUP BY g, x", ROW))
    assert digest(planned("SELECT COUNT(*) AS n FROM t GROUP BY GROUPING SETS (())", ROW)) == digest(
        planned("SELECT COUNT(*) AS n FROM t", ROW)
    )
    by_number = planned("SELECT g, x, COUNT(*) AS n FROM t GROUP BY ROLLUP (1, 2)", ROW)
    assert digest(by_number) == digest(planned("SELECT g, x, COUNT(*) AS n FROM t GROUP BY ROLLUP (g, x)", ROW))


def subtotals_are_sums_of_released_cells() -> None:
    """Keys, GROUPING, counts, sums and means of every level are those of the finest cells, added up by hand after the noise."""
    for (group, levels), unit in product(SETS.items(), (ROW, PERSON)):
        text, keys = asked(group, "COUNT(x) AS n, SUM(x) AS s, AVG(x) AS m")
        plan = planned(text, unit, 20)
        released = drawn(plan, 3)
        total, count = plan.releases[2].places
        found = released_rows(plan, released).rows
        middle, low, high = plan.releases[2].middle, 2.0, 5.0  # type: ignore[attr-defined]
        wanted: list[tuple[Any, ...]] = []
        for kept in levels:
            for own in coarser(plan.domain, kept):
                cells = [i for i, cell in enumerate(plan.domain) if tuple(cell[key] for key in kept) == own]
                n, s = (sum(int(released[place][i]) for i in cells) for place in (count, total))
                named = dict(zip(kept, own, strict=True))
                flags = [int(key not in kept) for key in range(len(keys))]
                pairs = [part for key in range(len(keys)) for part in (named.get(key), flags[key])]
                bits = int("".join(map(str, flags)), 2)
                wanted.append((*pairs, bits, n, s))
        assert len(found) == len(wanted) == rows_of(plan)
        for row, (*start, n, s) in zip(found, wanted, strict=True):
            assert list(row[: len(start) + 1]) == [*start, n], (group, row)
            step = plan.measurements[total].step
            assert row[-2] == pytest.approx(float(s * step + middle * n), abs=1e-6)
            if row[-1] is not None and low < row[-1] < high:
                assert row[-1] == pytest.approx(float(middle + s * step / n), abs=1e-5)


def test_subtotals_are_sums_of_released_cells() -> None:
    subtotals_are_sums_of_released_cells()


def what_is_summed_costs_nothing_more() -> None:
    """The same cells, the same noise and the same price as the finest groups alone, whatever the unit and the noise."""
    for unit, delta in product((ROW, turned(ROW), PERSON, turned(PERSON), CLIPPED), (F(0), F(1, 10**6))):
        if unit.clip == "l2" and not delta:
            continue
        inside = "COUNT(*) AS n, SUM(y) AS s, AVG(x) AS m, VAR_POP(x) AS v, CORR(x, y) AS c"
        plain = planned(f"SELECT {inside} FROM t GROUP BY g, x", unit, 1, delta)
        for group in ("ROLLUP (g, x)", "CUBE (g, x)", "GROUPING SETS ((g), (x))"):
            plan = planned(f"SELECT {inside} FROM t GROUP BY {group}", unit, 1, delta)
            check(plan)
            assert (plan.event, plan.epsilon, plan.delta) == (plain.event, plain.epsilon, plain.delta)
            assert plan.measurements == plain.measurements and plan.query == plain.query
            assert digest(plan) != digest(plain) and not any(plan.decided.levels)
            assert sum("subtotals are sums" in note for note in plan.notes) == 1


def test_what_is_summed_costs_nothing_more() -> None:
    what_is_summed_costs_nothing_more()


def the_noise_of_a_subtotal_is_the_sum_of_noises() -> None:
    """The ± of a count of k cells is that of k noises: held against draws, of both kinds, and against one cell."""
    for mechanism in (Geometric(F(20)), RoundedGaussian(F(20))):
        draws = np.stack([np.asarray(mechanism([0] * 20_000, Tape(k)), np.int64) for k in range(12)])
        for cells in (2, 3, 12):
            plan = planned("SELECT g, x, COUNT(*) AS n FROM t GROUP BY ROLLUP (g, x)", ROW)
            one = replace(plan.measurements[0], mechanism=mechanism, cells=cells)
            noise = np.abs(draws[:cells].sum(axis=0))
            assert 0.944 < np.mean(noise <= one.error(0.95)) < 0.958, (mechanism, cells)
            assert isinstance(one.noise, SummedNoise)
            points = noise_points(one.noise, 0, 2)
            assert abs(np.std(points) / np.std(draws[:cells].sum(axis=0)) - 1) < 0.03
            assert abs(np.quantile(np.abs(points), 0.95) / np.quantile(noise, 0.95) - 1) < 0.05
    plan = planned("SELECT g, x, COUNT(*) AS n FROM t GROUP BY ROLLUP (g, x)", ROW, F(1, 50))
    finest, middle, whole = (level.plan.measurements[0] for level in views(plan))
    assert (finest.cells, middle.cells, whole.cells) == (1, 4, 12)
    assert 1.8 < middle.error(0.95) / finest.error(0.95) < 2.2 and 2.8 < whole.error(0.95) / finest.error(0.95) < 3.8
    answer = Answer.make(plan, drawn(plan, 1), text="?")
    errors = [row[2].error for row in answer.intervals if row[2] is not None]
    assert errors == [each.error(0.95) for each, n in ((finest, 12), (middle, 3), (whole, 1)) for _ in range(n)]
    assert predicted(plan)[2].error == whole.error(0.95) and predicted(plan)[2].assumes == "sums of 12 groups"


def test_the_noise_of_a_subtotal_is_the_sum_of_noises() -> None:
    the_noise_of_a_subtotal_is_the_sum_of_noises()


@pytest.mark.parametrize("unit", test_coverage.UNITS)
def test_intervals_of_subtotals_hold_the_truth_as_often_as_they_say(unit: str) -> None:
    """Each group has the same rows, which are in four cells: one answer has as many subtotals of one truth as there are groups."""
    x, y = test_coverage.rows_of("skewed")
    cells = np.repeat(np.arange(PEOPLE) % 4, ROWS_EACH)
    table = {
        "g": np.repeat(np.arange(RUNS), x.size).tolist(),
        "h": np.tile(cells, RUNS).tolist(),
        "who": np.repeat(np.arange(RUNS * PEOPLE), ROWS_EACH).tolist(),
        "x": np.tile(x.ravel(), RUNS).tolist(),
        "y": np.tile(y.ravel(), RUNS).tolist(),
    }
    columns: dict[str, dict[str, Any]] = {
        "g": {"type": "integer", "bounds": (0, RUNS - 1)},
        "h": {"type": "integer", "bounds": (0, 3)},
        **{name: {"type": "integer", "bounds": (0, 100)} for name in "xy"},
    }
    with (
        tempfile.TemporaryDirectory() as folder,
        Curator(
            {"t": table}, columns=columns, **test_coverage.UNITS[unit], epsilon=10**6, ledger=Path(folder) / "ledger"
        ) as curator,
    ):
        wrong = []
        for name, statistic in STATISTICS.items():
            text = f"SELECT g, {statistic.asked} AS value FROM t GROUP BY g, ROLLUP (h) HAVING GROUPING(h) = 1"
            told = [
                row
                for row in curator.sql(text, epsilon=2 * statistic.epsilon).to_dicts(errors=True)
                if row["value"] is not None
            ]
            wrong += [f"{name}: {each}" for each in faults(statistic, told, statistic.truth(x, y))]
        assert not wrong


# What cannot be summed.

OF_PEOPLE = [
    "SELECT g, x, COUNT(DISTINCT who) AS p FROM t GROUP BY ROLLUP (g, x)",
    "SELECT g, x, COUNT(DISTINCT who) FILTER (WHERE y > 0) AS p, COUNT(*) AS n, AVG_BY_PERSON(x) AS m FROM t GROUP BY CUBE (g, x)",
    "SELECT g, COUNT(DISTINCT who) AS p, SUM(x) AS s FROM t GROUP BY ROLLUP (g)",
]
LIMITED = [PERSON, turned(PERSON), CLIPPED, turned(CLIPPED), replace(PERSON, max_groups=None, max_rows=None)]


def plans_of_people() -> Iterator[tuple[Plan, Protected]]:
    for text, unit in product(OF_PEOPLE, LIMITED):
        yield decided_by(planned(text, unit, 1, F(1, 10**6) if unit.clip == "l2" else 0), top_rungs), unit


def stages(plan: Plan) -> list[Stage]:
    return [plan.decided, *(each for each in plan.decided.levels if each is not None)]


def no_neighbour_moves_any_level_more(tries: int = 25) -> None:
    """At every level no total moves by more than its noise is made for; and in all, in units of its noise, by no more than is paid."""
    nearest = F(0)
    for plan, unit in plans_of_people():
        draw = random.Random(digest(plan))
        for salt in range(tries):
            pair = neighbours(draw, unit)
            together = F(0)
            for stage in stages(plan):
                first, second = (
                    combined_totals(
                        [each.made for each in stage.measurements],
                        stage.query,
                        stage.domain,
                        engine(rows).run(stage.query, salt),
                    )
                    for rows in pair
                )
                for measurement, one, other in zip(stage.measurements, first, second, strict=True):
                    assert measurement.mechanism is not None
                    by = [abs(int(a) - int(b)) for a, b in zip(one, other, strict=True)]
                    squared = measurement.mechanism.norm is Norm.L2
                    far = F(sum(each * each for each in by)) if squared else F(sum(by)) ** 2
                    assert far <= measurement.sensitivity**2, (plan.question, measurement)
                    together += F(sum(by)) / F(measurement.mechanism.scale)
            if unit.clip != "l2" and not plan.taken:
                assert together <= plan.epsilon
                nearest = max(nearest, together)
    assert nearest > F(2, 3), f"some neighbour uses what is paid for, and none used more than {float(nearest)}"


def test_no_neighbour_moves_any_level_more() -> None:
    no_neighbour_moves_any_level_more(repeats(25))


def test_a_level_has_the_limits_of_its_columns() -> None:
    """Who has two values of x and one of g is in two of the finest groups, in two by x, and in one by g, unless limits are asked for."""
    limits = {"g": 1, "x": 2}
    table = replace(TABLE, columns=tuple(replace(each, max_groups=limits.get(each.name)) for each in TABLE.columns))
    text = "SELECT g, x, COUNT(DISTINCT who) AS p FROM t GROUP BY CUBE (g, x)"
    unit = replace(PERSON, max_groups=None)
    plan = planned(text, unit, table=table)
    assert [int(stage.measurements[0].sensitivity) for stage in stages(plan)] == [2, 1, 2, 1]
    wide = planned(text, replace(unit, max_groups=3, asked=frozenset({"max_groups"})), table=table)
    assert [int(stage.measurements[0].sensitivity) for stage in stages(wide)] == [3, 3, 3, 1]


def people_are_counted_at_each_level() -> None:
    """At a price where noise is nothing: somebody in several groups is one person in their total, and is so in every mean over people."""
    rows, wide = (
        [{**row, "who": i % 7} for i, row in enumerate(honest(40))],
        replace(PERSON, max_groups=40, max_rows=40),
    )
    text = "SELECT g, x, COUNT(DISTINCT who) AS p, COUNT(*) AS n, AVG_BY_PERSON(x) AS m FROM t GROUP BY CUBE (g, x)"
    plan = planned(text, wide, 10**6)
    found = released_rows(plan, drawn(plan, 5, rows)).rows
    assert len(found) == 12 + 3 + 4 + 1
    for g, x, people, n, mean in found:
        there = [row for row in rows if g in (None, row["g"]) and x in (None, row["x"])]
        each: dict[int, list[int]] = {}
        for row in there:
            each.setdefault(row["who"], []).append(row["x"])
        assert (people, n) == (len(each), len(there)), (g, x)
        if each:
            assert mean == pytest.approx(sum(sum(of) / len(of) for of in each.values()) / len(each), abs=1e-2)
    totals = {kind: sum(row[2] for row in found if (row[0] is None, row[1] is None) == kind) for kind in KINDS}
    assert totals[False, False] > totals[False, True] > totals[True, True], "people are in several groups"


KINDS = ((False, False), (False, True), (True, True))


def test_people_are_counted_at_each_level() -> None:
    people_are_counted_at_each_level()


def levels_are_a_part_of_what_a_plan_costs() -> None:
    """A level that is not measured, not paid for, or of other groups is found; and it is in the name."""
    for plan, _ in plans_of_people():
        plan = replace(plan, stage=plan.decided, taken=())
        plan = replace(plan, event=event_of(plan.stage, plan.relation))
        check(plan)
        assert loss(plan.event).certifies(plan.epsilon, plan.delta)
        stage = plan.decided
        place = max(i for i, each in enumerate(stage.levels) if each is not None)
        level = stage.levels[place]
        assert level is not None

        def changed(
            other: Stage | None, plan: Plan = plan, stage: Stage = stage, place: int = place, priced: bool = True
        ) -> Plan:
            levels = tuple(other if i == place else each for i, each in enumerate(stage.levels))
            made = replace(plan, stage=replace(stage, levels=levels))
            return replace(made, event=event_of(made.stage, made.relation)) if priced else made

        first, *rest = level.measurements
        half = replace(first, sensitivity=first.sensitivity / 2)
        lost = replace(plan, stage=replace(stage, levels=stage.levels[:-1]))
        false = [
            changed(None),
            changed(None, priced=False),
            changed(replace(level, measurements=(half, *rest))),
            changed(replace(level, measurements=())),
            changed(replace(level, domain=(*level.domain, *stage.domain))),
            changed(replace(level, query=stage.query, domain=stage.domain)),
            replace(lost, event=event_of(lost.stage, lost.relation)),
            replace(plan, event=event_of(replace(stage, levels=()), plan.relation)),
        ]
        for i, other in enumerate(stage.levels):
            if other is not None and len(other.domain) > 1:
                false.append(changed(replace(other, domain=other.domain[::-1]), place=i))
        for each in false:
            with pytest.raises(Fault, match="does not hold"):
                check(each)
        unnamed = replace(plan, stage=replace(stage, levels=(None,) * len(stage.levels)))
        assert digest(unnamed) != digest(plan)
    names = [
        planned(f"SELECT COUNT(*) AS n FROM t GROUP BY {group}", ROW) for group in ("ROLLUP (g, x)", "CUBE (g, x)")
    ]
    assert len(set(map(digest, names))) == 2


def test_levels_are_a_part_of_what_a_plan_costs() -> None:
    levels_are_a_part_of_what_a_plan_costs()


@callable_kind()
def readings_are_read_at_each_level() -> None:
    """What is read beside the totals is read for the groups of each level, at its share of the price."""
    text = "SELECT g, x, COUNT_BESIDE(*) AS b, COUNT(*) AS n FROM t GROUP BY ROLLUP (g, x)"
    plan = planned(text, replace(PERSON, max_rows=40, max_groups=40), 10**6)
    check(plan)
    assert [len(each.readings) for each in stages(plan)] == [1, 1, 1]
    assert loss(plan.event).certifies(plan.epsilon, 0) and not loss(plan.event).certifies(plan.epsilon * F(9, 10), 0)
    for _, _, beside, n in released_rows(plan, drawn(plan, 2)).rows:
        assert beside == n
    assert explain(plan).count("rows, by a query of their own") == 3
    answer = Answer.make(plan, drawn(plan, 2), text=text)
    assert len(answer.receipt["measurements"]) == 1 + 3 and Answer.from_bytes(answer.to_bytes()) == answer


def test_readings_are_read_at_each_level() -> None:
    readings_are_read_at_each_level()


@pytest.mark.parametrize("unit", [PERSON, turned(PERSON), CLIPPED])
def test_neighbours_are_not_told_apart(unit: Protected) -> None:
    """All noise is drawn for what both neighbours have, and what is made of it is the same, byte for byte."""
    plan = planned(OF_PEOPLE[1], unit, 1, F(1, 10**6) if unit.clip == "l2" else 0)
    for seed in range(repeats(4)):
        first, second = neighbours(random.Random(seed), unit)

        def run(rows: Any, draws: Draws) -> Any:
            return Answer.make(plan, release(plan, engine(rows).run, draws, 7), text="?").to_bytes()

        report = compare(first, second, run, seed=seed)
        assert report.same and report.first.answered and report.draws == 4 + 3 * 3, report


# What is made of all rows.


def clauses_see_all_levels() -> None:
    """HAVING, ORDER BY, LIMIT and windows are of the rows of all levels; a sum over rows of several levels has no interval."""
    plan = planned(
        "SELECT g, COUNT(*) AS n, SUM(COUNT(*)) OVER () AS twice, SUM(COUNT(*)) OVER (PARTITION BY GROUPING(g)) AS once,"
        " COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY GROUPING(g)) AS share"
        " FROM t GROUP BY ROLLUP (g) ORDER BY GROUPING(g) DESC, g DESC LIMIT 3",
        ROW,
        100,
    )
    answer = Answer.make(plan, drawn(plan, 4), text="?")
    (total, n, twice, once, whole), *rest = answer.rows
    assert total is None and whole == 1 and [row[0] for row in rest] == ["C", "B"] and n == once == 40 and twice == 80
    spans = [dict(zip(["g", "n", "twice", "once", "share"], row, strict=True)) for row in answer.intervals]
    assert all(row["twice"] is None for row in spans), "rows of several levels share their noise"
    assert {each.name: each.error is None for each in predicted(plan)}["twice"]
    once_errors = {row["once"].error for row in spans if row["once"] is not None}
    assert once_errors == {spans[0]["n"].error} and spans[0]["share"].error == 0 < spans[1]["share"].error
    having = planned("SELECT g, COUNT(*) AS n FROM t GROUP BY ROLLUP (g) HAVING COUNT(*) > 20", ROW, 1000)
    assert released_rows(having, drawn(having, 4)).rows == ((None, 40),)
    having = planned("SELECT g, COUNT(*) AS n FROM t GROUP BY ROLLUP (g) HAVING COUNT(*) < 20", ROW, 1000)
    assert [row[0] for row in released_rows(having, drawn(having, 4)).rows] == ["A", "B", "C"]
    outside = planned(
        "SELECT k, n FROM (SELECT g AS k, COUNT(*) AS n FROM t GROUP BY ROLLUP (g)) WHERE n > 20", ROW, 1000
    )
    assert released_rows(outside, drawn(outside, 4)).rows == ((None, 40),)


def test_clauses_see_all_levels() -> None:
    clauses_see_all_levels()


def test_a_missing_key_is_told_apart_from_a_subtotal() -> None:
    """By GROUPING, of the key itself or of what it is called."""
    text = "SELECT CASE WHEN g = 'A' THEN 'a' ELSE NULL END AS k, GROUPING(k) AS r, COUNT(*) AS n FROM t GROUP BY ROLLUP (k)"
    plan = planned(text, ROW, 1000)
    assert [row[:2] for row in released_rows(plan, drawn(plan, 1)).rows] == [("a", 0), (None, 0), (None, 1)]


def test_keys_that_are_found_have_subtotals_of_those() -> None:
    text = "SELECT note, g, COUNT(*) AS n FROM t GROUP BY ROLLUP (note, g)"
    plan = planned(text, ROW, 50, F(1, 100))
    for keys in (("7",), ("7", "x"), ()):
        one = decided_by(plan, lambda step, keys=keys: tuple((key, 9) for key in keys))  # type: ignore[misc]
        released = [np.arange(3 * len(keys), dtype=np.int64)]
        shown = released_rows(one, released)
        assert len(shown.rows) == 3 * len(keys) + len(keys) + 1 == rows_of(one)
        assert shown.rows[-1] == (None, None, sum(range(3 * len(keys))))
        answer = Answer.make(one, released, text=text)
        assert (answer.intervals[-1][2].error == 0) is (not keys)  # type: ignore[union-attr]


REFUSED = [
    ("grouping", "SELECT COUNT(*) FROM t GROUP BY ROLLUP ()"),
    ("grouping", "SELECT COUNT(*) FROM t GROUP BY CUBE ()"),
    ("syntax", "SELECT COUNT(*) FROM t GROUP BY GROUPING SETS ()"),
    ("grouping", f"SELECT COUNT(*) FROM t GROUP BY CUBE ({', '.join(f'x + {i}' for i in range(7))})"),
    ("grouping", f"SELECT COUNT(*) FROM t GROUP BY ROLLUP ({', '.join(f'x + {i}' for i in range(64))})"),
    ("grouping", "SELECT COUNT(*) FROM t GROUP BY CUBE (g, x, x + 4, x + 5), CUBE (x + 1, x + 2, x + 3)"),
    ("grouping", "SELECT ROLLUP (g) FROM t"),
    ("grouping", "SELECT COUNT(*) FROM t GROUP BY ROLLUP g"),
    ("grouping", "SELECT COUNT(*) FROM t WHERE CUBE (g) GROUP BY g"),
    ("not-grouped", "SELECT GROUPING(x), COUNT(*) FROM t GROUP BY ROLLUP (g)"),
    ("syntax", "SELECT GROUPING(), COUNT(*) FROM t GROUP BY ROLLUP (g)"),
    ("aggregate-place", "SELECT COUNT(*) FROM t WHERE GROUPING(g) = 1 GROUP BY ROLLUP (g)"),
    ("aggregate-place", "SELECT SUM(GROUPING(g)) FROM t GROUP BY ROLLUP (g)"),
    ("aggregate-place", "SELECT COUNT(*) FROM t GROUP BY ROLLUP (g, GROUPING(g))"),
    ("aggregate-place", "SELECT COUNT(*) FROM t GROUP BY ROLLUP (COUNT(*))"),
    ("person", "SELECT COUNT(*) FROM t GROUP BY ROLLUP (who)"),
    ("distinct", "SELECT DISTINCT g, COUNT(*) FROM t GROUP BY ROLLUP (g)"),
    ("constant", "SELECT COUNT(*) FROM t GROUP BY ROLLUP ('a')"),
    ("ordinal", "SELECT g, COUNT(*) FROM t GROUP BY ROLLUP (9)"),
    ("grouping", "SELECT AVG(n) FROM (SELECT who, g, COUNT(*) AS n FROM t GROUP BY who, ROLLUP (g))"),
    ("grouping", "SELECT g, COUNT(DISTINCT who) AS p FROM t GROUP BY GROUPING SETS ((g), (x))"),
    ("grouping", "SELECT note, COUNT(DISTINCT who) AS p FROM t GROUP BY ROLLUP (note)"),
    ("too-many-groups", "SELECT COUNT(*) FROM t GROUP BY ROLLUP (wide % 316, wide // 316 % 316)"),
]


@pytest.mark.parametrize(("code", "text"), REFUSED)
def test_what_has_no_levels_is_refused(code: str, text: str) -> None:
    with pytest.raises(QueryError) as caught:
        planned(text, PERSON, 1, F(1, 10**6))
    assert caught.value.code == code and caught.value.hint, caught.value


def test_what_cannot_be_summed_is_asked_level_by_level() -> None:
    """The rewrite of a refusal is answered."""
    with pytest.raises(QueryError, match="COUNT DISTINCT") as caught:
        planned("SELECT COUNT(DISTINCT who) AS p FROM t GROUP BY GROUPING SETS ((g), (x), ())", PERSON)
    assert "GROUP BY g, then GROUP BY x, then without GROUP BY" in str(caught.value.hint)
    for group in ("GROUP BY g", "GROUP BY x", "", "GROUP BY GROUPING SETS ((g, x), (g), (x), ())"):
        check(planned(f"SELECT COUNT(DISTINCT who) AS p FROM t {group}", PERSON))


def test_sums_of_noise_that_cannot_be_kept_are_refused() -> None:
    """Of one group the noise could be drawn; the sums of many would not be whole numbers of 64 bits."""
    price = F(1, 2**51)
    check_limits(planned("SELECT COUNT(*) AS n FROM t GROUP BY g, x", ROW, price), 10**9)
    with pytest.raises(QueryError) as caught:
        check_limits(planned("SELECT COUNT(*) AS n FROM t GROUP BY ROLLUP (g, x)", ROW, price / 8), 10**9)
    assert caught.value.code == "noise-too-large"
    assert sqrt(12) < 4  # the largest sum here is of as many cells
