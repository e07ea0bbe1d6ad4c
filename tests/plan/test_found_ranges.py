"""Ranges that are found: each end by people, at a price that no outcome changes; clamps know of them, and nothing else."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction as F
from functools import lru_cache
from itertools import pairwise, product
from typing import Any
from unittest import mock

import numpy as np
import pytest

from discreet.answer import Preview
from discreet.audit.enumeration import exact
from discreet.audit.joint import SALT, Draws, Joint
from discreet.audit.joint import planned as joint_of
from discreet.errors import QueryError
from discreet.mechanisms import AboveThreshold
from discreet.mechanisms.allowance import Allowance
from discreet.plan import finding
from discreet.plan.catalog import Catalog, Protected, Table
from discreet.plan.check import check, check_taken, digest, event_of
from discreet.plan.explain import explain
from discreet.plan.ladder import signed
from discreet.plan.plan import Plan
from discreet.plan.private import plan_for
from discreet.plan.relation import Contributions, Filter, How, Scan, Totals, terms_of, walk
from discreet.plan.release import decided, exact_totals
from discreet.plan.releases import terms as measured
from discreet.plan.scalar import Column, Comparison, Indicator, Literal, Order, Steps, Type
from discreet.plan.sql import question
from discreet.plan.steps.base import Outcome, Step
from discreet.plan.steps.keys import FindKeys
from discreet.plan.steps.range import FindRange, beyond
from discreet.plan.steps.search import Search, searching
from discreet.plan.totals import one_group
from discreet.plan.within import plan_within
from discreet.privacy import Adjacency, loss
from tests.audit.test_joint import costs, exceeds
from tests.plan.laws import CLIPPED, PERSON, ROW, TABLE, Row, engine, is_a_fault, neighbours, turned
from tests.plan.test_stages import EMPTY
from tests.scale import repeats

DELTA = F(1, 10**6)
AUTO = replace(
    TABLE,
    columns=tuple(
        replace(each, low=None, high=None, auto=True) if each.name in ("x", "y") else each for each in TABLE.columns
    ),
)
"""A table of which the ranges of two numbers are found."""

OPEN = replace(AUTO, columns=tuple(replace(each, keys=None) if each.name == "g" else each for each in AUTO.columns))
"""Neither are the keys declared."""

NOBODY = Protected("who")
UNITS = [PERSON, turned(PERSON), ROW, turned(ROW), CLIPPED, NOBODY, turned(NOBODY)]
SUM = "SELECT SUM(x) FROM t"
MEAN = "SELECT AVG(x), COUNT(x), SUM(y) FROM t WHERE x > 2 AND y IS NOT NULL"
TEXTS = [
    SUM,
    MEAN,
    "SELECT g, SUM(y / x), COUNT(*) FROM t GROUP BY g",
    "SELECT SUM(x) FILTER (WHERE y > 1), AVG(y) FROM t",
]


def found(text: str, unit: Protected, epsilon: Any = 1, delta: Any = DELTA, table: Table = AUTO) -> Plan:
    catalog = Catalog((table,), unit)
    return plan_for(question(text, catalog), catalog, epsilon, delta)


def ranges(plan: Plan) -> list[FindRange]:
    return [step for step, _ in next(plan.examples()).steps if isinstance(step, FindRange)]


def step_of(plan: Plan) -> FindRange:
    assert isinstance(plan.stage, FindRange)
    return plan.stage


def any_ends(seed: int) -> Callable[[Step], Outcome]:
    """Ends of any kind: the corners, ends that are one, ends that have passed each other."""
    draw = random.Random(seed)

    def chosen(step: Step) -> Outcome:
        if not isinstance(step, FindRange):
            return draw.choice(step.ways)
        last = len(step.rungs) - 1
        return draw.choice([0, last, last // 2, draw.randrange(last)]), draw.choice([0, last, draw.randrange(last)])

    return chosen


def cases() -> Iterator[tuple[str, Protected]]:
    return product(TEXTS, UNITS)


# What neighbours can change.


def scores(step: FindRange, rows: list[Row]) -> tuple[list[int], list[int]]:
    counts = one_group(step._scores, step.query, engine(rows).run(step.query, 1))
    return counts[: len(step.rungs) - 1], counts[len(step.rungs) - 1 :]


def scores_move_one_way(tries: int = 15) -> None:
    """By one at most, and all of one search in one direction, under either relation; some move by one."""
    draw = random.Random(1)
    for unit in (PERSON, turned(PERSON), ROW, turned(ROW)):
        step, farthest = step_of(found(SUM, unit)), 0
        for _ in range(tries):
            first, second = (scores(step, rows) for rows in neighbours(draw, unit))
            for one, other in zip(first, second, strict=True):
                moved = {a - b for a, b in zip(one, other, strict=True)}
                assert moved <= {0, 1} or moved <= {0, -1}, unit
                farthest = max(farthest, *map(abs, moved))
                assert all(a >= b for a, b in pairwise(one)), "fewer are beyond a later rung"
        assert farthest == step.mechanism.sensitivity == 1


def test_scores_move_one_way() -> None:
    scores_move_one_way(repeats(60))


# What is found.


def without_noise(mechanism: AboveThreshold, sensitivity: Any, exact: Callable[[], list[int]]) -> Any:
    """What a search would find if it had no noise."""
    above = [score >= mechanism.threshold for score in exact()]
    return np.array(above[: above.index(True) + 1] if True in above else above)


def between(step: FindRange, rows: list[Row]) -> tuple[F, F]:
    outcome = step.drawn(engine(rows).run, without_noise, 1)  # type: ignore[arg-type]
    return step.range_of(outcome).low, step.range_of(outcome).high


def the_first_rungs_that_few_are_beyond_are_found() -> None:
    """People count, and not their rows; as many as are few are cut at either end, and no more; what is missing counts nowhere."""
    for unit in (PERSON, ROW):
        step = step_of(found(SUM, unit, epsilon=10))
        few = step.few
        assert few == 2
        people = [{**EMPTY, "who": who, "x": 3 + who} for who in range(98)]
        nobody = [{**EMPTY, "who": 200 + who} for who in range(40)]
        rich = [{**EMPTY, "who": 300 + who, "x": 10**6} for who in range(few)]
        owes = [{**EMPTY, "who": 400 + who, "x": -5} for who in range(few)]
        assert between(step, people + nobody) == (4, 128)
        assert between(step, people + nobody + rich + owes) == (2, 128)
        assert between(step, people + rich + [{**EMPTY, "who": 500, "x": 10**6}]) == (4, 2**20)
        assert between(step, people + owes + [{**EMPTY, "who": 500, "x": -5}]) == (-8, 128)
        assert between(step, [{**EMPTY, "who": who, "x": 4} for who in range(50)]) == (4, 8), "it has a width"
        assert between(step, []) == (0, 1), "of nobody there is none"
    often = [{**EMPTY, "who": 1, "x": 10**6} for _ in range(50)]
    assert between(step_of(found(SUM, PERSON, epsilon=10)), people + often)[1] == 128, "a person counts once"


def test_the_first_rungs_that_few_are_beyond_are_found() -> None:
    the_first_rungs_that_few_are_beyond_are_found()


def ranges_have_a_width() -> None:
    """Whatever is drawn, even ends that have passed each other."""
    for whole in (True, False):
        rungs = signed(whole=whole)
        query = Totals(Scan("t", ()), (), beyond(Column("x", Type.NUMBER), rungs, How.SUM))
        nothing: Any = None
        step = FindRange(query, Column("x", Type.NUMBER), "x", rungs, searching(F(1), 8), "rows", nothing)
        for outcome in product(range(len(step.rungs)), repeat=2):
            given = step.range_of(outcome)
            assert step.rungs[0] <= given.low < given.high <= step.rungs[-1], outcome


def test_ranges_have_a_width() -> None:
    ranges_have_a_width()


def searches_rarely_run_to_the_end() -> None:
    """Once in 10,000 times at most, of nobody beyond any rung but those of half of the ladder; that is exact."""
    for epsilon, text in product((F(1, 2), F(4)), (SUM, "SELECT SUM(y) FROM t")):
        step = step_of(found(text, ROW, epsilon))
        beyond_end = len(step.rungs) // 2 - 10
        chance = step.mechanism.probability([False] * beyond_end, [0] * beyond_end)
        assert chance < 1 / 10_000, (epsilon, text)


def test_searches_rarely_run_to_the_end() -> None:
    searches_rarely_run_to_the_end()


# What it costs.


def outcomes_cost_the_same(tries: int = 2) -> None:
    """Whatever is found, what follows holds, and no draw goes beyond what was granted before."""
    for text, unit in cases():
        plan = found(text, unit)
        for seed in range(tries):
            taken, granted, choose = plan, Allowance(plan.event), any_ends(seed)
            while isinstance(step := taken.next, Step):
                granted.take(step.event())
                taken = taken.chosen(choose(step))
                check_taken(taken)
            for each in taken.measurements:
                assert each.mechanism is not None, "of a range that has a width nothing is public"
                granted.take(each.mechanism.event(each.sensitivity))
            assert digest(taken) == digest(plan) and taken.event == plan.event


def test_outcomes_cost_the_same() -> None:
    outcomes_cost_the_same(repeats(5))


SPLIT = [
    (SUM, ROW, AUTO, F(1, 2), F(1, 2)),
    (SUM, NOBODY, AUTO, F(1, 4), F(2, 5)),
    (MEAN, PERSON, AUTO, F(1, 2), F(1, 2)),
    ("SELECT g, SUM(x) FROM t GROUP BY g", PERSON, OPEN, F(1, 4), F(1, 2)),
    ("SELECT g, SUM(x), SUM(y) FROM t GROUP BY g", NOBODY, OPEN, F(1, 6), F(2, 5)),
]


def the_price_is_split_as_it_is_said() -> None:
    """Two ends of each range together have an equal part of what ranges have, and the answer the rest; all of it is ε."""
    for text, unit, table, of_ranges, of_answer in SPLIT:
        plan = found(text, unit, F(3), table=table)
        steps = ranges(plan)
        assert loss(plan.event).delta(3) <= DELTA and plan.epsilon == 3
        for step in steps:
            assert loss(step.event()).pure_epsilon() == 2 * step.mechanism.epsilon == 3 * of_ranges / len(steps)
        last = next(plan.examples()).measurements
        prices = [each.mechanism.loss(each.sensitivity).pure_epsilon() for each in last if each.mechanism]
        assert sum(price for price in prices if price) == 3 * of_answer
        assert "found for this question" in " ".join(plan.notes)


def test_the_price_is_split_as_it_is_said() -> None:
    the_price_is_split_as_it_is_said()


def test_the_order_is_keys_ranges_limits() -> None:
    plan = next(found("SELECT g, SUM(x), SUM(y) FROM t GROUP BY g", NOBODY, table=OPEN).examples())
    assert [type(step) for step, _ in plan.steps][:4] == [FindKeys, FindRange, FindRange, Search]


# What a range changes.


def only_clamps_know_of_a_range(tries: int = 8) -> None:
    """Conditions, tests for NULL, keys and counts are the same whatever was found; sums are clamped to it, both ends."""
    for text, unit in ((MEAN, ROW), (MEAN, PERSON), ("SELECT AVG(x * 2), COUNT(x * 2) FROM t WHERE x < 9", ROW)):
        plan = found(text, unit, table=NEVER if "x * 2" in text else AUTO)
        seen = set()
        for seed in range(tries):
            taken, choose = plan, any_ends(seed)
            ends = []
            while isinstance(step := taken.next, Step):
                outcome = choose(step)
                taken = taken.chosen(outcome)
                if isinstance(step, FindRange):
                    ends.append(step.range_of(outcome))
            steps = [term.value for term in taken.terms if isinstance(term.value, Steps)]
            assert {(F(each.low), F(each.high)) for each in steps} == {(each.low, each.high) for each in ends}
            others = tuple(term for term in taken.terms if not isinstance(term.value, Steps))
            conditions = tuple(each.condition for each in walk(taken.query) if isinstance(each, Filter))
            seen.add((others, conditions))
        assert len(seen) == 1 and seen.pop()[0], text
        if "x * 2" in text:
            assert all(isinstance(term.value, Indicator) for term in others), (
                "a product may be NULL, whatever its range"
            )


NEVER = replace(AUTO, columns=tuple(replace(each, nullable=each.name != "x") for each in AUTO.columns))
"""One of them is declared never to be missing."""


def test_only_clamps_know_of_a_range() -> None:
    only_clamps_know_of_a_range()


def values_beyond_are_clamped() -> None:
    """A sum is that of all values, each taken to the nearest end."""
    values = [-1000, -3, 0, 1, 7, 100, 10**9, None]
    rows = [{**EMPTY, "who": who, "x": x, "y": None if x is None else x / 2} for who, x in enumerate(values)]
    for low, high in ((-8, 16), (0, 1), (2, 4), (-16, -2), (0, 2**49), (1024, 2048)):
        for text, halves in ((SUM, 1), ("SELECT SUM(y) FROM t", 2)):
            plan = found(text, ROW)
            rungs = step_of(plan).rungs
            taken = plan.chosen((rungs.index(low), rungs.index(high)))
            (totals,) = exact_totals(taken, engine(rows).run(taken.query, 1))
            clamped = sum(min(max(F(x, halves), low), high) for x in values if x is not None)
            (each,) = taken.measurements
            assert abs(int(totals[0]) * each.step - clamped) <= len(values) * each.rounding + each.half_step
            assert {"ranges": {"x" if halves == 1 else "y": [low, high]}} == taken.found


def test_values_beyond_are_clamped() -> None:
    values_beyond_are_clamped()


# What is checked.


def false_plans_are_found() -> None:
    """Rungs out of order, another argument or another condition at one of them, scores by rows, groups, a second hit: each is a Fault."""
    for unit in (PERSON, ROW):
        plan = found(SUM, unit)
        step = step_of(plan)
        check(plan)
        how = How.ANY if unit.person else How.SUM
        good = beyond(step.argument, step.rungs, how)

        def with_terms(terms: Any, step: FindRange = step) -> Totals:
            source = step.query.source
            return (
                Totals(replace(source, terms=terms))
                if isinstance(source, Contributions)
                else replace(step.query, terms=terms)
            )

        swapped = (step.rungs[0], step.rungs[2], step.rungs[1], *step.rungs[3:])
        other = Indicator(Comparison(Order.GREATER, Column("wide", Type.INTEGER), Literal(4, Type.INTEGER)))
        equal = Indicator(Comparison(Order.EQUAL, step.argument, Literal(4, Type.INTEGER)))
        wrong = [
            replace(step, query=with_terms((good[1], good[0], *good[2:]))),
            replace(step, query=with_terms((replace(good[0], value=other), *good[1:]))),
            replace(step, query=with_terms((replace(good[0], value=equal), *good[1:]))),
            replace(step, query=with_terms(good[:-1])),
            replace(
                step, query=with_terms(tuple(replace(each, how=How.SUM if unit.person else How.ANY) for each in good))
            ),
            replace(step, mechanism=replace(step.mechanism, hits=2, epsilon=step.mechanism.epsilon / 2)),
            replace(step, rungs=(step.rungs[0], step.rungs[0], *step.rungs[2:])),
            replace(step, rungs=step.rungs[::-1]),
            replace(step, rungs=swapped, query=with_terms(beyond(step.argument, swapped, how))),
        ]
        keys = (Column("g", Type.TEXT),)
        source = step.query.source
        grouped = (
            Totals(replace(source, keys=keys)) if isinstance(source, Contributions) else replace(step.query, keys=keys)
        )
        for number, each in enumerate([*wrong, replace(step, query=grouped)]):
            changed = replace(plan, stage=each, event=event_of(each, plan.relation))
            assert is_a_fault(lambda changed=changed: check(changed)), (unit, number)  # type: ignore[misc]


def test_false_plans_are_found() -> None:
    false_plans_are_found()


def test_what_is_no_outcome_is_none() -> None:
    step = step_of(found(SUM, ROW))
    for outcome in (3, (1,), (1, 2, 3), (-1, 4), (0, len(step.rungs)), (True, 4), (0.0, 3)):
        assert is_a_fault(lambda outcome=outcome: step.range_of(outcome)), outcome  # type: ignore[misc]


def test_an_accuracy_needs_a_known_range() -> None:
    catalog = Catalog((AUTO,), ROW)
    with pytest.raises(QueryError, match="within needs the range of x") as refusal:
        plan_within(question(SUM, catalog), catalog, 10)
    assert "--bounds x=LOW:HIGH" in str(refusal.value) and "survey" in str(refusal.value)


def test_what_may_come_is_told_ahead() -> None:
    for text, unit in cases():
        plan = found(text, unit)
        preview = Preview.make(plan, text=text)
        assert len(preview.at_limits) == 4 and preview.groups == (3 if " g," in text else 1)
        assert "may be at each end" in " ".join(preview.notes) and "its range" in explain(plan)
    assert "0 … 1,024" in str(Preview.make(found(SUM, ROW), text=SUM))


def test_one_column_that_is_not_auto_is_asked_for() -> None:
    plain = replace(AUTO, columns=tuple(replace(each, auto=each.name == "x") for each in AUTO.columns))
    with pytest.raises(QueryError, match="needs bounds for 'y'") as refusal:
        found("SELECT SUM(x + y) FROM t", ROW, table=plain)
    assert "--bounds y=auto" in str(refusal.value)


# All that can be released, on a few people.

PRICE = F(20)
TINY = (0, 1, 2)
Data = tuple[tuple[int, ...], ...]
"""The values of each person."""


@lru_cache(maxsize=256)
def read(data: Data) -> Any:
    rows = [{**EMPTY, "who": who, "x": x} for who, values in enumerate(data) for x in values]
    memory, known = engine(rows), {}

    def run(query: Any, salt: int) -> Any:
        if query not in known:
            known[query] = memory.run(query, salt)
        return known[query]

    return run


def tiny(adjacency: Adjacency) -> Plan:
    """A plan as it is made, of so few ends, and with so little noise, that all it may release can be listed."""

    def rungs(*, whole: bool) -> tuple[int, ...]:
        return TINY

    with (
        mock.patch.object(finding, "signed", rungs),
        mock.patch.object(measured, "signed", rungs),
        mock.patch.object(finding, "FEW_BEYOND", 0),
    ):
        unit = replace(PERSON, max_rows=1, max_groups=1, adjacency=adjacency)
        plan = found(SUM, unit, PRICE)
        list(plan.examples())
        for low, high in product(range(3), repeat=2):
            plan.chosen((low, high))
    check(plan)
    return plan


PAIRS: dict[Adjacency, list[tuple[Data, Data]]] = {
    Adjacency.ADD_REMOVE: [((), ((2,),)), (((1,),), ((1,), (0, 2))), (((0,),), ((0,), (1,)))],
    Adjacency.REPLACE: [(((0,),), ((2,),)), (((1, 2),), ((0,),)), (((1,), (0,)), ((1,), (0, 2)))],
}


def ranges_cost_their_price(adjacency: Adjacency = Adjacency.REPLACE, stop: int | None = None) -> None:
    """The two ends, and the answer behind them, are as likely on a neighbour, but for the price; every range comes."""
    plan = tiny(adjacency)

    def run(data: Data, draws: Draws) -> Any:
        return decided(plan, read(data), draws, SALT).taken

    ends = Joint(run, 3, stop)
    law = ends.law(((0,), (1,), (2,)))
    assert len({seen.result for seen in law.chances if not seen.lump}) >= 9
    costs(exact(ends, PAIRS[adjacency]), float(PRICE / 2))
    costs(exact(joint_of(plan, read, reach=3, stop=stop), PAIRS[adjacency][:1]), float(PRICE))


@pytest.mark.parametrize(
    ("adjacency", "stop"), [(Adjacency.ADD_REMOVE, None), (Adjacency.REPLACE, None), (Adjacency.REPLACE, 1)]
)
def test_ranges_cost_their_price(adjacency: Adjacency, stop: int | None) -> None:
    ranges_cost_their_price(adjacency, stop)


def test_scores_that_are_not_nested_cost_more() -> None:
    """People at a rung, instead of beyond it, move in both directions where somebody is replaced."""
    mechanism, rungs = AboveThreshold(F(2), 0, monotone=True), range(6)

    def law(scored: Callable[[int, int], bool]) -> Joint:
        def run(data: tuple[int, ...], draws: Draws) -> Any:
            counts = [-sum(scored(x, rung) for x in data) for rung in rungs]
            return int(np.flatnonzero([*draws(mechanism, 1, lambda: counts), True])[0])

        return Joint(run)

    assert exact(law(lambda x, rung: x > rung), [((3, 5), (3, 1))]).epsilon().high <= 2
    exceeds(exact(law(lambda x, rung: x == (5 if rung == 5 else 1)), [((5, 5), (5, 1))]), 2)


def test_the_ladder_is_that_of_surveys() -> None:
    from discreet.curator.survey.ladder import NUMBERS

    assert signed(whole=False) == NUMBERS and set(signed(whole=True)) <= set(NUMBERS)
    assert terms_of(step_of(found(SUM, ROW)).query) == beyond(Column("x", Type.INTEGER), signed(whole=True), How.SUM)
