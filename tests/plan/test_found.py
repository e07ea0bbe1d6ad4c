"""Limits that are found: what is lacking for a bound and nothing else, on a ladder, at a price that is the same for every rung."""

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction as F
from itertools import combinations, product
from typing import Any

from discreet.plan.catalog import Protected, Table
from discreet.plan.combination import Combination
from discreet.plan.plan import Plan, Stage
from discreet.plan.relation import terms_of
from discreet.plan.steps.base import Outcome, Step
from discreet.plan.steps.search import Search
from discreet.plan.steps.tally import Tally
from discreet.plan.totals import one_group
from discreet.privacy import events, loss
from tests.plan.laws import (
    TABLE,
    Row,
    any_row,
    decided_by,
    engine,
    neighbours,
    planned,
    top_rungs,
    turned,
)
from tests.scale import repeats

DELTA = F(1, 10**6)
NOBODY = Protected("who")
SHORTENED = replace(NOBODY, clip="l2")
UNITS = [NOBODY, turned(NOBODY), SHORTENED, turned(SHORTENED)]
ROWS = ["SELECT COUNT(*) FROM t", "SELECT AVG(y), COUNT(*) FROM t WHERE x > 2"]
BY_GROUP = ["SELECT g, COUNT(*) FROM t GROUP BY g", "SELECT g, SUM(y), AVG(x) FROM t GROUP BY g"]
PEOPLE = ["SELECT g, COUNT(DISTINCT who) FROM t GROUP BY g"]
BOTH = ["SELECT g, COUNT(DISTINCT who), SUM(y) FROM t GROUP BY g"]
WIDE = replace(
    TABLE,
    columns=tuple(replace(each, keys=tuple("ABCDEFGHI")) if each.name == "g" else each for each in TABLE.columns),
)
"""More groups than a norm is bounded by."""


def found(text: str, unit: Protected, epsilon: Any = 1, table: Table = WIDE) -> Plan:
    return planned(text, unit, epsilon, DELTA if unit.clip == "l2" else 0, table)


def any_rungs(seed: int) -> Callable[[Step], Outcome]:
    draw = random.Random(seed)
    return lambda step: draw.choice(step.ways)


def lacks(text: str, **limits: int) -> set[str]:
    """The limits that a plan searches for, on every way through it."""
    plan = found(text, replace(NOBODY, **limits))  # type: ignore[arg-type]
    (names,) = {tuple(step.limit for step, _ in each.steps if isinstance(step, Search)) for each in plan.decisions()}
    return set(names)


# What is lacking.


def only_what_is_lacking_is_found() -> None:
    """A sum of rows is bounded by all rows of a person, or by those in a group with the groups; people by their groups."""
    names = ("max_rows", "max_groups", "max_total")
    for size in range(4):
        for declared in combinations(names, size):
            limits = dict.fromkeys(declared, 2)
            total = "max_total" in declared
            rows = "max_rows" in declared
            groups = "max_groups" in declared
            for text in ROWS:
                assert lacks(text, **limits) == (set() if total or rows else {"max_total"}), (text, declared)
            for text in BY_GROUP:
                assert lacks(text, **limits) == (set() if total or (rows and groups) else {"max_total"}), (
                    text,
                    declared,
                )
            for text in PEOPLE:
                assert lacks(text, **limits) == (set() if groups else {"max_groups"}), (text, declared)
            for text in BOTH:
                of_rows = set() if total or (rows and groups) else {"max_total"}
                assert lacks(text, **limits) == of_rows | (set() if groups else {"max_groups"}), (text, declared)
    assert lacks("SELECT COUNT(DISTINCT who) FROM t") == set(), "an ungrouped count of people needs no limit"


def test_only_what_is_lacking_is_found() -> None:
    only_what_is_lacking_is_found()


def test_an_l2_clip_finds_rows_in_a_group_as_well() -> None:
    for text, names in ((BY_GROUP[0], {"max_rows", "max_total"}), (BOTH[0], {"max_rows", "max_groups"})):
        plan = next(found(text, SHORTENED).examples())
        assert {step.limit for step, _ in plan.steps if isinstance(step, Search)} == names
        assert plan.delta == DELTA and not found(text, NOBODY).delta


def test_no_row_is_limited_where_each_is_a_unit() -> None:
    for text in (*ROWS, *BY_GROUP):
        assert isinstance(planned(text, Protected()).stage, Stage)


# The price.


def every_way_costs_the_same() -> None:
    """The event of a plan covers what is drawn on each of its ways, and holds no limit that was found."""
    for unit, text, epsilon in product(UNITS, (*ROWS, *BY_GROUP, *PEOPLE, *BOTH), (F(1, 10), F(2))):
        plan = found(text, unit, epsilon)
        assert plan.epsilon == epsilon and loss(plan.event).certifies(epsilon, plan.delta)
        for seed in range(3):
            one = decided_by(plan, any_rungs(seed))
            drawn = [*(step.event() for step, _ in one.steps)]
            drawn += [each.mechanism.event(each.sensitivity) for each in one.measurements if each.mechanism]
            assert loss(events.Composed(tuple(drawn))).certifies(plan.epsilon, plan.delta), (text, unit)


def test_every_way_costs_the_same() -> None:
    every_way_costs_the_same()


def the_price_is_split_as_it_is_said() -> None:
    """A quarter finds limits, a tenth counts people twice, the rest is the answer's: exactly."""
    for text, epsilon in product((*ROWS, *BY_GROUP, *PEOPLE, *BOTH), (F(1, 3), F(7))):
        one = decided_by(found(text, NOBODY, epsilon), top_rungs)
        searches = sum((step.mechanism.epsilon for step, _ in one.steps if isinstance(step, Search)), F(0))
        tallies = [loss(step.event()).pure_epsilon() for step, _ in one.steps if isinstance(step, Tally)]
        rest = loss(events.Composed(tuple(m.mechanism.event(m.sensitivity) for m in one.measurements if m.mechanism)))
        assert (searches, tallies, rest.pure_epsilon()) == (epsilon / 4, [epsilon / 10], epsilon * 13 / 20)


def test_the_price_is_split_as_it_is_said() -> None:
    the_price_is_split_as_it_is_said()


def test_no_grid_and_no_kind_of_noise_depends_on_the_limit() -> None:
    for unit, text in product(UNITS, (*ROWS, *BY_GROUP, *BOTH)):
        plan = found(text, unit)
        ways = [decided_by(plan, any_rungs(seed)) for seed in range(6)]
        shapes = {tuple((type(m.mechanism), m.step, m.made, m.rounding) for m in one.measurements) for one in ways}
        assert len(shapes) == 1 and len({one.releases for one in ways}) == 1
        for one, other in combinations(ways, 2):
            pairs = zip(one.measurements, other.measurements, strict=True)
            ratios = [
                (a.mechanism.scale / a.sensitivity, b.mechanism.scale / b.sensitivity)
                for a, b in pairs
                if a.mechanism and b.mechanism
            ]
            assert all(abs(a / b - 1) < F(1, 10**6) for a, b in ratios)


# What neighbours can change.


def rows_of(draw: random.Random) -> list[Row]:
    people = [(who, draw.choice([1, 1, 2, 5, 9, 30])) for who in range(draw.randrange(1, 8))]
    return [{**any_row(draw, who), "g": draw.choice("ABCDEFGHI")} for who, rows in people for _ in range(rows)]


def no_neighbour_moves_a_score_in_two_directions(tries: int = 60) -> None:
    """All numbers of people beyond a rung move by one at most, and none up where another goes down, under either relation."""
    draw, moved = random.Random(1), {1: 0, -1: 0}
    for text, unit in product((*BY_GROUP, *PEOPLE), (NOBODY, turned(NOBODY), SHORTENED)):
        plan = found(text, unit)
        for salt in range(tries):
            first, second = neighbours(draw, unit)
            others = rows_of(draw)
            pair = first + others, second + others
            step = plan.stage
            while isinstance(step, Step):
                scores = [one_group(plains(step), step.reads, engine(rows).run(step.reads, salt)) for rows in pair]
                steps = [a - b for a, b in zip(*scores, strict=True)]
                assert max(map(abs, steps)) <= 1 and not {1, -1} <= set(steps), (text, unit, steps)
                for each in set(steps) - {0}:
                    moved[each] += 1
                step = step.after(draw.choice(step.ways[:4]))
    assert min(moved.values()) > 10, "both directions occur"


def plains(step: Step) -> list[Combination]:
    return [Combination.plain(i) for i in range(len(terms_of(step.reads)))]


def test_no_neighbour_moves_a_score_in_two_directions() -> None:
    no_neighbour_moves_a_score_in_two_directions(repeats(60))
