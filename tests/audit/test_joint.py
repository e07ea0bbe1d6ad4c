"""Laws of joint laws: adaptive draws cost what they say, with a kill in between too; and what twins cannot see is found."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction as F
from functools import lru_cache
from itertools import combinations_with_replacement, pairwise
from math import inf
from typing import Any
from unittest import mock

import numpy as np
import pytest

from discreet.audit.enumeration import Exact, exact
from discreet.audit.joint import Draws, Joint, Sight, planned
from discreet.audit.law import Law
from discreet.audit.twins import compare
from discreet.errors import Fault, Invalid, Refused
from discreet.mechanisms import (
    AboveThreshold,
    CoinToss,
    Exponential,
    Geometric,
    NoisyMax,
    PermuteAndFlip,
    measure,
    unmetered,
)
from discreet.mechanisms.keys import LaplaceThreshold
from discreet.mechanisms.selection import Selection
from discreet.plan.catalog import Catalog, Protected
from discreet.plan.plan import Plan
from discreet.plan.private import plan_for
from discreet.plan.sql import question
from discreet.plan.steps.branching import Branching
from discreet.privacy import Adjacency, events, loss
from tests.plan import test_stages as stages
from tests.plan.laws import TABLE, engine

NEAR = 1e-9
REACH = 10
Data = tuple[int, ...]
VALUES = (0, 1)


def tables(relation: Adjacency, most: int = 2) -> Iterator[tuple[Data, Data]]:
    """All tables of up to `most` bits, in order, with all neighbours: one row more, or one row exchanged."""
    for n in range(most + 1):
        for rows in combinations_with_replacement(VALUES, n):
            for value in VALUES:
                if relation is Adjacency.ADD_REMOVE:
                    yield rows, tuple(sorted((*rows, value)))
                else:
                    for i, row in enumerate(rows):
                        if row < value:
                            yield rows, tuple(sorted((*rows[:i], value, *rows[i + 1 :])))


def costs(found: Exact, price: float) -> None:
    """The price is kept: surely where noise is inside of its window, and nothing that is certain contradicts it."""
    assert found.epsilon().low <= price + NEAR
    assert found.hidden < 1e-2 and found.epsilon(found.hidden).high <= price + NEAR


def exceeds(found: Exact, price: float) -> None:
    """It is certain that the price is not kept."""
    assert found.epsilon().low > price + NEAR


# Programs of dependent draws, and what they cost under either relation.

NOISE = Geometric(F(1, 2))


def counts(data: Data) -> list[int]:
    return [data.count(value) for value in VALUES]


def largest_then_count(data: Data, draws: Any, kind: type[Selection] = NoisyMax) -> Any:
    """Which value is most common, then how often it is there."""
    value = draws(kind(F(1)), 1, lambda: counts(data))
    return draws(NOISE, 1, lambda: counts(data)[value])


def above_then_answer(data: Data, draws: Any) -> Any:
    """Which of two counts is the first above 1, and if one is, how much it is."""
    above = draws(AboveThreshold(F(1), 1), 1, lambda: counts(data))
    hits = np.flatnonzero(above)
    return draws(NOISE, 1, lambda: counts(data)[int(hits[0])]) if hits.size else None


def tosses_then_noise(data: Data, draws: Any) -> Any:
    """How much noise there is depends on a coin that was released."""
    tossed = draws(CoinToss(), 1, lambda: int(1 in data))
    return draws(Geometric(F(1) if tossed else F(1, 2)), 1, lambda: len(data))


PROGRAMS: list[tuple[Callable[..., Any], float]] = [(largest_then_count, 3.0), (above_then_answer, 3.0)]


@pytest.mark.parametrize("relation", Adjacency)
@pytest.mark.parametrize(("program", "price"), PROGRAMS, ids=["largest", "above"])
def test_dependent_draws_cost_their_sum(program: Any, price: float, relation: Adjacency) -> None:
    """A count moves by one under either relation; two counts move one way, or both ways."""
    costs(exact(Joint(program, reach=REACH), tables(relation)), price)


@pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip])
def test_any_selection_may_come_first(kind: type[Selection]) -> None:
    program = lambda data, draws: largest_then_count(data, draws, kind)  # noqa: E731
    costs(exact(Joint(program, reach=REACH), tables(Adjacency.REPLACE)), 3.0)


def the_dearest_way_counts() -> None:
    """ln 3 and then 1 or 2: the way with less noise is the price."""
    found = exact(Joint(tosses_then_noise, reach=REACH), tables(Adjacency.ADD_REMOVE))
    price = exact(CoinToss()).epsilon().high + 2
    costs(found, price)
    exceeds(found, price - 0.01)


def test_the_dearest_way_counts() -> None:
    the_dearest_way_counts()


def independent_draws_multiply() -> None:
    """The joint law of two draws is the product of their laws, and noise in a vector is noise in each coordinate."""
    law = Joint(lambda data, draws: (draws(CoinToss(), 1, lambda: 1), draws(CoinToss(), 1, lambda: 0)), reach=2).law(())
    assert law.exact and law.chance(Sight((1, 0), (1, 0))).low == F(9, 16)

    def vector(data: Data, draws: Draws) -> Any:
        return draws.prepare(NOISE, 2, 2)(np.array(counts(data)))

    alone = Joint(lambda data, draws: draws(NOISE, 1, lambda: 0), reach=3).law(())
    pair = Joint(vector, reach=3).law(())
    for a in range(-3, 4):
        for b in range(-3, 4):
            chance = alone.chance(Sight((a,), a)) * alone.chance(Sight((b,), b))
            found = pair.chance(Sight(((a, b),), (a, b)))
            assert found.low <= chance.high and chance.low <= found.high
    costs(exact(Joint(vector, reach=5), [((), (0,)), ((), (1,))]), 2.0)


def test_independent_draws_multiply() -> None:
    independent_draws_multiply()


def test_keys_come_as_a_rule_tells_them() -> None:
    """Keys of unknown names, and then a count for each of them that was seen."""
    rule = LaplaceThreshold(F(1, 2), 2)

    def named(data: Data, draws: Any) -> Any:
        kept = draws(rule, 1, lambda: counts(data))
        return [draws(NOISE, 1, lambda at=at: counts(data)[at]) for at in np.flatnonzero(kept.mask).tolist()]

    found = exact(Joint(named, reach=4), [((0,), (0, 0)), ((), (1,))])
    event = events.Composed((rule.event(1), NOISE.event(1)))
    for epsilon in (0.5, 2.0, 4.0):
        assert float(found.delta(epsilon).low) <= loss(event).delta(epsilon) * (1 + 1e-9)
    assert found.epsilon().low == inf and found.delta(20).low > 0, "a key that nobody else has"


# A kill in between.


@pytest.mark.parametrize("stop", [1, 2])
@pytest.mark.parametrize(("program", "price"), PROGRAMS, ids=["largest", "above"])
def test_a_kill_changes_nothing_where_values_are_kept(program: Any, price: float, stop: int) -> None:
    costs(exact(Joint(program, reach=REACH, stop=stop), tables(Adjacency.REPLACE)), price)
    whole, killed = (Joint(program, reach=4, stop=each).law((0, 1)) for each in (None, stop))
    for seen, chance in killed.chances.items():
        if seen.before:
            same = whole.chance(replace(seen, before=()))
            assert seen.drawn[: len(seen.before)] == seen.before
            assert same.low <= chance.high and chance.low <= same.high


def a_kill_after_which_draws_are_made_anew_is_found() -> None:
    """A system that forgets what it released draws again, and has been paid once."""
    anew = Joint(largest_then_count, reach=2, stop=2, kept=False)
    exceeds(exact(anew, [((), (0,))]), 3.0)


def test_a_kill_after_which_draws_are_made_anew_is_found() -> None:
    a_kill_after_which_draws_are_made_anew_is_found()


def test_who_enters_again_makes_the_same_draws() -> None:
    """State that outlives a kill is found where it leads to another draw."""
    entries: list[int] = []

    def forgetful(data: Data, draws: Any) -> Any:
        entries.append(1)
        return draws(Geometric(len(entries)), 1, lambda: len(data))

    with pytest.raises(Invalid, match="entered again"):
        Joint(forgetful, stop=1).law(())


# The measure that the package has, with every draw of its grants made in every way.


class Kill(BaseException):
    pass


def measured(after: str) -> Callable[[Data, Any], Any]:
    """Largest, then count, under a key; killed once after the first draw was kept, or before it was, or never."""
    event = events.Composed((NoisyMax(F(1)).event(1), NOISE.event(1)))

    def run(data: Data, draws: Draws) -> Any:
        metered = unmetered()
        kills = [after]

        def branched(mechanism: Any, value: Any, size: int, source: Any) -> Any:
            drawn = draws(mechanism, 1, lambda: value)
            if kills[0] == "drawn":
                kills[0] = ""
                raise Kill
            return drawn

        def entry() -> Any:
            with metered(event, key="largest") as grant:
                try:
                    first = grant(NoisyMax(F(1)), 1, lambda: counts(data))
                except Refused as refusal:
                    assert refusal.code == "draw-lost"
                    first = 0
                if kills[0] == "kept":
                    kills[0] = ""
                    raise Kill
                return first, grant(NOISE, 1, lambda: counts(data)[first])

        with mock.patch.object(measure, "_release", branched):
            try:
                return entry()
            except Kill:
                return entry()

    return run


def real_grants_cost_once_with_a_kill_in_between(after: str = "kept") -> None:
    costs(exact(Joint(measured(after), reach=REACH), tables(Adjacency.REPLACE)), 3.0)
    law = Joint(measured(after), reach=4).law((0, 1))
    assert all(len(seen.drawn) == 2 for seen in law.chances), "what was drawn is not drawn again"


@pytest.mark.parametrize("after", ["never", "kept", "drawn"])
def test_real_grants_cost_once_with_a_kill_in_between(after: str) -> None:
    real_grants_cost_once_with_a_kill_in_between(after)


# A real plan of stages.


def relation_of(adjacency: Adjacency) -> Protected:
    return Protected("who", max_groups=1, max_rows=1, adjacency=adjacency)


@lru_cache
def staged(
    adjacency: Adjacency, kind: Callable[..., Selection] = NoisyMax, first: F = F(1, 2), second: F = F(2)
) -> Plan:
    """One of two questions is chosen by noisy scores, and then answered."""
    catalog = Catalog((TABLE,), relation_of(adjacency))
    texts = ["SELECT COUNT(*) AS n FROM t WHERE x <= 2", "SELECT COUNT(*) AS n FROM t"]
    plans = [plan_for(question(text, catalog), catalog, second) for text in texts]
    choice = Branching(
        query=stages.scored((2, 5)),
        scores=tuple(stages.Combination.plain(i) for i in range(2)),
        mechanism=kind(first),
        sensitivity=F(1),
        said="which question is answered",
        outcomes=("x <= 2", "all"),
        stages=tuple(plan.stage for plan in plans),
    )
    return stages.priced(replace(plans[0], stage=choice, epsilon=first + second))


def rows(data: Data) -> list[dict[str, Any]]:
    return [{**stages.EMPTY, "who": who, "x": 2 + 3 * value} for who, value in enumerate(data)]


@lru_cache(maxsize=64)
def found_in(data: Data) -> Any:
    """What an engine finds in these data, remembered."""
    memory, known = engine(rows(data)), {}

    def read(query: Any, salt: int) -> Any:
        if query not in known:
            known[query] = memory.run(query, salt)
        return known[query]

    return read


def plans_of_stages_cost_their_price(kind: Callable[..., Selection] = NoisyMax) -> None:
    for adjacency in Adjacency:
        plan = staged(adjacency, kind)
        stages.check(plan)
        price = loss(plan.event).epsilon()
        assert price == 2.5
        for stop in (None, 1):
            costs(exact(planned(plan, found_in, reach=REACH, stop=stop), tables(adjacency)), price)


@pytest.mark.parametrize("kind", [NoisyMax, Exponential])
def test_plans_of_stages_cost_their_price(kind: Callable[..., Selection]) -> None:
    plans_of_stages_cost_their_price(kind)


# What is planted is found.


class Sharper(NoisyMax):
    """A choice that is sharper than it is priced."""

    __slots__ = ()

    @property
    def rate(self) -> F:
        return 8 * self.epsilon / self.sensitivity


def test_a_wrong_selection_is_seen_by_the_joint_law_and_not_by_twins() -> None:
    plan = staged(Adjacency.REPLACE, Sharper)
    stages.check(plan)
    joint, price = planned(plan, found_in, reach=REACH), loss(plan.event).epsilon()
    exceeds(exact(joint, tables(Adjacency.REPLACE)), price)
    for x, y in tables(Adjacency.REPLACE):
        assert compare(x, y, joint.function).same, "twins are handed the outcome, however likely it was"


def test_the_same_noise_for_two_answers_is_found() -> None:
    def reused(data: Data, draws: Any) -> Any:
        first = draws(NOISE, 1, lambda: counts(data)[0])
        return counts(data)[1] + first - counts(data)[0]

    assert exact(Joint(reused, reach=REACH), tables(Adjacency.ADD_REMOVE)).epsilon().low == inf


def test_a_stage_that_reads_exact_data_is_found() -> None:
    def peeks(data: Data, draws: Any) -> Any:
        """Noise is drawn a second time where the exact count is not small."""
        first = draws(NOISE, 1, lambda: len(data))
        return draws(NOISE, 1, lambda: len(data)) if len(data) > 1 else first

    found = exact(Joint(peeks, reach=4), tables(Adjacency.ADD_REMOVE))
    assert found.epsilon().low == inf
    assert {len(each) for each in found.neighbours or ()} == {1, 2}


def test_a_count_of_rows_where_people_were_priced_is_found() -> None:
    def doubled(data: Data, draws: Any) -> Any:
        return draws(NOISE, 1, lambda: 2 * len(data))

    found = exact(Joint(doubled, reach=REACH), tables(Adjacency.ADD_REMOVE))
    assert abs(found.epsilon().low - 4) < NEAR


# Bounds hold for what lies outside of windows too.


def wider_windows_only_narrow() -> None:
    """Every window has the truth between its bounds, so the bounds of all of them meet; lower ones only rise, and upper ones fall."""
    lows, highs = [], []
    for reach in (0, 1, 2, 4, 8):
        found = exact(Joint(largest_then_count, reach=reach), [((0,), (0, 1))])
        lows.append(found.delta(0.5).low)
        highs.append(found.delta(0.5).high)
    assert max(lows) <= min(highs)
    tiny = F(1, 10**20)
    assert all(a <= b + tiny for a, b in pairwise(lows))
    assert all(a >= b - tiny for a, b in pairwise(highs))
    assert highs[-1] - lows[-1] < F(1, 10**6) < highs[0] - lows[0]


def test_wider_windows_only_narrow() -> None:
    wider_windows_only_narrow()


def what_follows_a_value_outside_of_its_window_is_not_claimed() -> None:
    """A program that misbehaves only where noise is large: no upper bound excludes it at δ = 0."""

    def rare(data: Data, draws: Any) -> Any:
        first = draws(NOISE, 1, lambda: len(data))
        return data if first > 50 else None

    found = exact(Joint(rare, reach=5), [((0,), (1,))])
    assert found.epsilon().high == inf and found.epsilon().low == 0
    assert 0 < found.hidden < 1e-3


def test_what_follows_a_value_outside_of_its_window_is_not_claimed() -> None:
    what_follows_a_value_outside_of_its_window_is_not_claimed()


def test_few_runs_leave_a_rest() -> None:
    few, all_ways = (Joint(largest_then_count, reach=4, runs=runs).law((0, 1)) for runs in (5, 1000))
    assert few.rest > 0 == all_ways.rest
    for seen, chance in few.chances.items():
        assert chance.low <= all_ways.chance(seen).high and all_ways.chance(seen).low <= chance.high
    assert isinstance(few, Law)


def test_prepared_noise_serves_once() -> None:
    def twice(data: Data, draws: Draws) -> Any:
        add = draws.prepare(NOISE, 1, 1)
        return add(np.array([1])), add(np.array([2]))

    with pytest.raises(Fault, match="once"):
        Joint(twice, reach=2).law(())
    with pytest.raises(Fault, match="once"):
        Joint(lambda data, draws: draws.prepare(NOISE, 1, 2)(np.array([1])), reach=2).law(())


def test_an_accountant_says_no_less_than_the_joint_law() -> None:
    event = events.Composed((NoisyMax(F(1)).event(1), NOISE.event(1)))
    found = exact(Joint(largest_then_count, reach=REACH), tables(Adjacency.ADD_REMOVE))
    for epsilon in (0.0, 0.5, 1.0, 2.0, 3.0):
        assert loss(event).delta(epsilon) >= float(found.delta(epsilon).low) * (1 - 1e-12)
