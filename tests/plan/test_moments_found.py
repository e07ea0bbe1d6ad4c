"""Variances, correlations and lines of numbers whose ranges are found: of which rows, at which price, and how far neighbours move them."""

import random
import re
import tempfile
from dataclasses import replace
from fractions import Fraction as F
from itertools import product
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.mechanisms import AboveThreshold
from discreet.mechanisms.allowance import Allowance
from discreet.mechanisms.sensitivity import Norm
from discreet.plan.check import check_taken, digest
from discreet.plan.intervals import intervals
from discreet.plan.plan import Plan
from discreet.plan.post import released_rows
from discreet.plan.range import FoundRange
from discreet.plan.release import exact_totals
from discreet.plan.steps.base import Step
from discreet.plan.steps.range import FindRange
from tests.plan.asked import NAMES, Row, Schema, Twins
from tests.plan.laws import CLIPPED, PERSON, ROW, engine, exact, neighbours, turned
from tests.plan.pipeline import told_apart
from tests.plan.test_found_ranges import NOBODY, any_ends, found, ranges
from tests.plan.test_moments import OF_ONE, OF_PAIRS, plainly
from tests.plan.test_stages import EMPTY
from tests.scale import repeats

UNITS = [PERSON, turned(PERSON), ROW, turned(ROW), CLIPPED, turned(CLIPPED), NOBODY, turned(NOBODY)]
TEXTS = [
    "SELECT VARIANCE(x) FROM t",
    "SELECT g, STDDEV_POP(y), AVG(y) FROM t GROUP BY g",
    "SELECT CORR(y, x), REGR_SLOPE(y, x) FILTER (WHERE x > 2) FROM t",
    "SELECT COVAR_SAMP(x * 2, far), REGR_R2(x * 2, far) FROM t WHERE y IS NOT NULL",
]


def taken(plan: Plan, seed: int) -> tuple[Plan, list[FoundRange]]:
    """A plan whose steps have some outcomes, and the ranges among them."""
    choose, ends = any_ends(seed), []
    while isinstance(step := plan.next, Step):
        outcome = choose(step)
        plan = plan.chosen(outcome)
        if isinstance(step, FindRange):
            ends.append(step.range_of(outcome))
    return plan, ends


def one_range_for_each_number() -> None:
    """A number of several aggregates is looked for once; what has declared bounds is not; and all of it is the price that was said."""
    for (text, many), unit in product(zip(TEXTS, (1, 1, 2, 1), strict=True), UNITS):
        plan = found(text, unit)
        assert len(ranges(plan)) == many, (text, unit)
        for seed in range(repeats(12 if unit.clip == "l2" else 2)):
            granted, choose, rest = Allowance(plan.event), any_ends(seed), plan
            while isinstance(step := rest.next, Step):
                granted.take(step.event())
                rest = rest.chosen(choose(step))
                check_taken(rest)
            for each in rest.measurements:
                assert each.mechanism is not None, "of a range that has a width nothing is public"
                granted.take(each.mechanism.event(each.sensitivity))
            assert digest(rest) == digest(plan) and rest.event == plan.event


def test_one_range_for_each_number() -> None:
    one_range_for_each_number()


def no_neighbour_moves_more(tries: int = 12) -> None:
    """Whatever was found: no measurement moves by more than its noise is made for."""
    for text, unit in product(TEXTS, UNITS):
        draw, whole = random.Random(text), found(text, unit)
        for seed in range(3):
            plan, _ = taken(whole, seed)
            for salt in range(repeats(tries)):
                first, second = (exact(plan, rows, salt) for rows in neighbours(draw, unit))
                for one, other, each in zip(first, second, plan.measurements, strict=True):
                    by = [abs(a - b) for a, b in zip(one, other, strict=True)]
                    squared = each.mechanism is not None and each.mechanism.norm is Norm.L2
                    moved = F(sum(d * d for d in by)) if squared else F(sum(by)) ** 2
                    assert moved <= each.sensitivity**2, (text, unit, seed)


def test_no_neighbour_moves_more() -> None:
    no_neighbour_moves_more()


def values_are_of_what_is_clamped() -> None:
    """By plain Python: of every number within the range that was found, of pairs where both are there."""
    draw = random.Random(3)
    rows = [
        {
            **EMPTY,
            "who": who,
            "x": draw.choice([None, draw.randrange(-40, 90), draw.randrange(0, 9)]),
            "y": draw.choice([None, draw.uniform(-3, 3), draw.uniform(0, 500)]),
        }
        for who in range(60)
    ]
    names = [(name, f"{name}(x)") for name in OF_ONE] + [(name, f"{name}(y, x)") for name in OF_PAIRS]
    text = "SELECT " + ", ".join(f"{call} AS c{i}" for i, (_, call) in enumerate(names)) + " FROM t"
    plan = found(text, ROW, 10**6)
    for low_x, high_x, low_y, high_y in ((-64, 128, -4, 512), (0, 8, 0, 2), (-8, 64, 1, 256)):
        rest = plan
        while isinstance(step := rest.next, FindRange):
            low, high = (low_x, high_x) if step.name == "x" else (low_y, high_y)
            rest = rest.chosen((step.rungs.index(low), step.rungs.index(high)))
        (shown,) = released_rows(rest, exact_totals(rest, engine(rows).run(rest.query, 1))).rows

        def x_of(row: Any, low: int = low_x, high: int = high_x) -> float | None:
            return None if row["x"] is None else float(min(max(row["x"], low), high))

        def y_of(row: Any, low: int = low_y, high: int = high_y) -> float | None:
            return None if row["y"] is None else float(min(max(row["y"], low), high))

        ones = [x for row in rows if (x := x_of(row)) is not None]
        pairs = [(y, x) for row in rows if (x := x_of(row)) is not None and (y := y_of(row)) is not None]
        for (name, _), value in zip(names, shown, strict=True):
            both = (ones, ones) if name in OF_ONE else tuple(map(list, zip(*pairs, strict=True)))
            wanted = plainly(name, *both)  # type: ignore[arg-type]
            assert isinstance(value, int | float) and wanted is not None
            assert abs(value - wanted) <= 1e-4 * max(1.0, abs(wanted)), (name, value, wanted)


def test_values_are_of_what_is_clamped() -> None:
    values_are_of_what_is_clamped()


def numbers_stay_within_what_a_range_allows() -> None:
    """Whatever range was found, however small or wide, and whatever is released: finite, within what is possible, and in its interval."""
    draw = np.random.default_rng(2)
    for text in (
        "SELECT VARIANCE(x), STDDEV_POP(x) FROM t",
        "SELECT COVAR_POP(y, x), CORR(y, x), REGR_R2(y, x) FROM t",
    ):
        for seed in range(repeats(25)):
            plan, ends = taken(found(text, ROW), seed)
            sizes = 10.0 ** draw.integers(0, 15, len(plan.measurements))
            released = [np.rint(draw.normal(0, 1, 1) * size).astype(np.int64) for size in sizes]
            released[plan.releases[0].places[0]] = np.array([draw.integers(1, 10**6)])
            widths = [float(each.high - each.low) for each in ends]
            most = {"VARIANCE": widths[0] ** 2 / 2, "STDDEV_POP": widths[0] / 2, "CORR": 1.0, "REGR_R2": 1.0}
            most["COVAR_POP"] = widths[0] * widths[-1] / 4
            shown = released_rows(plan, released)
            names = re.findall(r"(\w+)\(", text)
            for name, value, span in zip(names, shown.rows[0], intervals(plan, released, shown)[0], strict=True):
                if value is None:
                    continue
                assert isinstance(value, int | float) and isfinite(value) and abs(value) <= most[name] * (1 + 1e-8)
                assert span is not None and span.low is not None and span.high is not None
                assert span.low <= value <= span.high and isfinite(span.low) and isfinite(span.high)


def test_numbers_stay_within_what_a_range_allows() -> None:
    numbers_stay_within_what_a_range_allows()


# Through the whole path.

AUTO = {"age": {"type": "integer", "bounds": "auto"}, "cost": {"bounds": "auto"}, "ward": {"keys": ["A", "B"]}}
ASKED = [
    "SELECT STDDEV(age) AS d FROM visits",
    "SELECT CORR(cost, age) AS r, REGR_SLOPE(cost, age) AS s FROM visits",
    "SELECT ward, VAR_POP(cost) AS v, AVG(cost) AS a FROM visits GROUP BY ward",
]


def of(who: str, i: int, **values: str) -> Row:
    plain = {**dict.fromkeys(NAMES, ""), "age": str(20 + i % 50), "cost": f"{i % 9}.5", "ward": "AB"[i % 2]}
    return {**plain, "person": who, **values}


@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.parametrize("row", [False, True])
def test_a_victim_far_beyond_is_not_seen(adjacency: str, row: bool) -> None:
    """Somebody with values that nobody else has, infinite ones and none: ranges are found, and nothing tells the neighbours apart."""
    schema = Schema(row, adjacency, 1, 2, "groups", AUTO)
    if row:
        schema = replace(schema, max_groups=None, max_rows=None)
    others = [of(f"p{i}", i) for i in range(40)]
    mine = [
        of("victim", 1, age=age, cost=cost) for age, cost in (("999999999", "1e300"), ("-5000", "-inf"), ("", "nan"))
    ]
    instead = [of("newcomer", 2, age="0", cost="0")] if adjacency == "replace" else []
    pair = Twins([*others, *(mine[:1] if row else mine)], [*others, *instead])
    with tempfile.TemporaryDirectory() as folder:
        for epsilon in (1, 40):
            where = Path(folder) / str(epsilon)
            where.mkdir()
            for text, report in zip(ASKED, told_apart(schema, pair, ASKED, where, 1000, epsilon=epsilon), strict=True):
                assert report.same and report.first.answered, (text, schema, report, report.first.body)
                assert any(isinstance(mechanism, AboveThreshold) for mechanism, _, _ in report.inputs)


@pytest.fixture(autouse=True)
def _state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
