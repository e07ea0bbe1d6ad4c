"""Joint laws of questions whose limits are found: the limit, two counts, and the answer cost together what is charged, kill or no kill."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction as F
from functools import lru_cache
from itertools import combinations_with_replacement, product
from math import inf
from typing import Any
from unittest import mock

import numpy as np
import pytest

from discreet.audit.enumeration import Exact, exact
from discreet.audit.joint import SALT, Draws, Joint, planned
from discreet.mechanisms import AboveThreshold
from discreet.plan import finding, price
from discreet.plan.caps import Limit
from discreet.plan.catalog import Catalog, Protected
from discreet.plan.check import check
from discreet.plan.plan import Plan
from discreet.plan.private import plan_for
from discreet.plan.release import decided
from discreet.plan.sql import question
from discreet.plan.steps.search import Search, searching
from discreet.plan.steps.tally import Tally
from discreet.plan.totals import ALL_ROWS, combined_totals, one_group
from discreet.privacy import Adjacency, loss
from tests.audit.test_joint import costs, exceeds
from tests.plan import test_stages as stages
from tests.plan.laws import TABLE, engine
from tests.scale import repeats

Person = str
"""The group of each row that somebody has."""

Data = tuple[Person, ...]

PEOPLE = ("", "A", "AB", "ABC")
"""Nobody, and whoever is beyond none, one, or all rungs but the last."""

REACH = 3
PRICE = F(20)
FINDING, COUNTING = F(1, 10), F(3, 10)
BEFORE = FINDING + COUNTING
"""Shares of the price: with so little noise on counts that few values of them can be listed."""

MOVED = 2
"""By how many rows an answer may move, that windows hold it."""


def tables(relation: Adjacency, most: int = 1) -> Iterator[tuple[Data, Data]]:
    """All tables of a few people, with all neighbours: one more, or one exchanged."""
    for n in range(most + 1):
        for others in combinations_with_replacement(PEOPLE[1:], n):
            for one, other in product(PEOPLE, PEOPLE):
                if one < other and bool(one) is (relation is Adjacency.REPLACE):
                    yield tuple(filter(None, (*others, one))), (*others, other)


def some(relation: Adjacency, count: int, moved: int = 9) -> list[tuple[Data, Data]]:
    """So many of these pairs; more of them in a longer run."""
    pairs = [pair for pair in tables(relation) if len("".join(pair[1])) <= len("".join(pair[0])) + moved]
    return random.Random(1).sample(pairs, min(len(pairs), repeats(count)))


def rows(data: Data) -> list[dict[str, Any]]:
    return [{**stages.EMPTY, "who": who, "g": group} for who, person in enumerate(data) for group in person]


@lru_cache(maxsize=256)
def read(data: Data) -> Any:
    """What an engine finds in these data, remembered."""
    memory, known = engine(rows(data)), {}

    def run(query: Any, salt: int) -> Any:
        if query not in known:
            known[query] = memory.run(query, salt)
        return known[query]

    return run


def few_rungs(limit: Limit, *_: Any) -> tuple[int, ...]:
    return (1, 2, 3)


def found(text: str, adjacency: Adjacency) -> Plan:
    """A plan as it is made, of so few limits, and with so little noise, that all it may release can be listed."""
    catalog = Catalog((TABLE,), Protected("who", adjacency=adjacency))
    with (
        mock.patch.object(finding, "_rungs", few_rungs),
        mock.patch.object(price, "ALONE", FINDING),
        mock.patch.object(price, "COUNTING", COUNTING),
    ):
        plan = plan_for(question(text, catalog), catalog, PRICE)
    check(plan)
    assert loss(plan.event).epsilon() == PRICE
    return plan


def whole(plan: Plan, adjacency: Adjacency, stop: int | None = None) -> Exact:
    return exact(planned(plan, read, reach=REACH, stop=stop), some(adjacency, 1, MOVED))


# The limit, the counts and the answer.


def found_limits_cost_their_price(adjacency: Adjacency = Adjacency.REPLACE, stop: int | None = None) -> None:
    """Every limit comes, and some of them cut somebody; whatever is released is as likely on a neighbour, but for the price."""
    plan = found("SELECT COUNT(*) FROM t", adjacency)
    law = before_the_answer(plan).law(("A", "ABC"))
    assert {seen.result[0] for seen in law.chances if not seen.lump} == {0, 1, 2}  # type: ignore[index]
    costs(whole(plan, adjacency, stop), float(PRICE))
    costs(exact(before_the_answer(plan, stop), some(adjacency, 3)), float(PRICE * BEFORE))


@pytest.mark.parametrize(("adjacency", "stop"), [(Adjacency.ADD_REMOVE, None), (Adjacency.REPLACE, 2)])
def test_found_limits_cost_their_price(adjacency: Adjacency, stop: int | None) -> None:
    found_limits_cost_their_price(adjacency, stop)


def before_the_answer(plan: Plan, stop: int | None = None) -> Joint:
    """The steps of a plan alone."""

    def run(data: Data, draws: Draws) -> Any:
        return decided(plan, read(data), draws, SALT).taken

    return Joint(run, REACH, stop)


def steps_cost_their_price() -> None:
    """A limit and two counts, on every pair of neighbours that are alone."""
    for adjacency in Adjacency:
        plan = found("SELECT COUNT(*) FROM t", adjacency)
        costs(exact(before_the_answer(plan), tables(adjacency, 0)), float(PRICE * BEFORE))


def limits_found_within_limits_cost_their_price() -> None:
    """One on groups, then one on rows within it, then counts of people."""
    for adjacency in Adjacency:
        plan = found("SELECT g, COUNT(DISTINCT who), COUNT(*) FROM t GROUP BY g", adjacency)
        assert [step.limit for step, _ in next(plan.examples()).steps if isinstance(step, Search)] == [
            "max_groups",
            "max_total",
        ]
        costs(exact(before_the_answer(plan), some(adjacency, 1)), float(PRICE * BEFORE))


def test_limits_found_within_limits_cost_their_price() -> None:
    limits_found_within_limits_cost_their_price()


# What is planted is found.


def planted(plan: Plan, search: type[Search] = Search, tally: type[Tally] = Tally, **changes: Any) -> Plan:
    """The plan with steps of other kinds: the search, and what counts behind each rung."""
    step = plan.stage
    assert isinstance(step, Search)

    def counted(each: Any) -> Any:
        return tally(each.query, each.measurements, each.more, each.reliable, each.then)

    made = search(step.query, step.limit, step.rungs, step.mechanism, tuple(map(counted, step.stages)))
    return replace(plan, stage=replace(made, **changes))


class Exactly(Search):
    """The limit is taken from the data, without noise."""

    __slots__ = ()

    def drawn(self, run: Any, grant: Any, salt: int) -> int:
        counts = one_group(self._scores, self.query, run(self.query, salt))
        return next((place for place, beyond in enumerate(counts) if not beyond), len(counts))


class OneNoise(Tally):
    """Both counts have the noise of the first."""

    __slots__ = ()

    def drawn(self, run: Any, grant: Any, salt: int) -> tuple[int, ...]:
        each = self.measurements[0]
        add = grant.prepare(each.mechanism, each.sensitivity, 1)
        people, beyond = combined_totals(
            [m.made for m in self.measurements], self.query, ALL_ROWS, run(self.query, salt)
        )
        noisy = int(add(people)[0])
        return noisy, noisy - int(people[0]) + int(beyond[0])


class Unhidden(Tally):
    """How many are beyond the limit is told as it is."""

    __slots__ = ()

    def drawn(self, run: Any, grant: Any, salt: int) -> tuple[int, ...]:
        each = self.measurements[0]
        add = grant.prepare(each.mechanism, each.sensitivity, 1)
        people, beyond = combined_totals(
            [m.made for m in self.measurements], self.query, ALL_ROWS, run(self.query, salt)
        )
        return int(add(people)[0]), int(beyond[0])


class Sharp(AboveThreshold):
    """Next to no noise on the scores, and none on the threshold."""

    __slots__ = ()

    @property
    def query_scale(self) -> F:
        return super().query_scale / 40

    @property
    def threshold_scale(self) -> F:
        return super().threshold_scale / 40


BUGS: dict[str, Callable[[Plan], Plan]] = {
    "the limit is exact": lambda plan: planted(plan, search=Exactly),
    "two counts have one noise": lambda plan: planted(plan, tally=OneNoise),
    "a count is exact": lambda plan: planted(plan, tally=Unhidden),
    "the search has too little noise": lambda plan: planted(
        plan,
        mechanism=Sharp(plan.stage.mechanism.epsilon, 0, monotone=True),  # type: ignore[union-attr]
    ),
}


@pytest.mark.parametrize("bug", BUGS)
def test_what_is_planted_is_found(bug: str) -> None:
    plan = found("SELECT COUNT(*) FROM t", Adjacency.ADD_REMOVE)
    exceeds(exact(before_the_answer(BUGS[bug](plan)), tables(Adjacency.ADD_REMOVE, 0)), float(PRICE * BEFORE))


def test_the_answer_with_the_noise_of_a_count_is_found() -> None:
    """A count and the answer have one noise: their difference is exact."""
    plan = found("SELECT COUNT(*) FROM t", Adjacency.ADD_REMOVE)

    def run(data: Data, draws: Draws) -> Any:
        one = decided(plan, read(data), draws, SALT)
        people = one.taken[1][0]  # type: ignore[index]
        return people - len(data) + sum(map(len, data))

    assert exact(Joint(run, REACH), tables(Adjacency.ADD_REMOVE, 0)).epsilon().low == inf


def only_scores_that_move_one_way_are_priced_so() -> None:
    """People beyond a rung cost ε under either relation; people at a rung, of whom one moves up, cost more than that."""
    mechanism, rungs = searching(F(2), 0), (1, 2, 3, 4, 5, 6)

    def law(scored: Callable[[int, int], bool]) -> Joint:
        def run(data: tuple[int, ...], draws: Draws) -> Any:
            scores = [-sum(scored(rows, rung) for rows in data) for rung in rungs]
            return int(np.flatnonzero([*draws(mechanism, 1, lambda: scores), True])[0])

        return Joint(run)

    pairs = [((*others, a), (*others, b)) for others in [(), (3,)] for a in range(9) for b in range(a)]
    assert exact(law(lambda rows, rung: rows > rung), pairs).epsilon().high <= 2
    assert exact(law(lambda rows, rung: rows <= rung), pairs).epsilon().high <= 2
    # whoever has one row counts for all rungs but the last, and for the last whoever has six
    either = law(lambda rows, rung: rows == (6 if rung == rungs[-1] else 1))
    exceeds(exact(either, [((6, 6), (6, 1))]), 2)


def test_only_scores_that_move_one_way_are_priced_so() -> None:
    only_scores_that_move_one_way_are_priced_so()
