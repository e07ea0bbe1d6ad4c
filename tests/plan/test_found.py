"""Limits that are found: what is lacking for a bound and nothing else, on a ladder, at a price that is the same for every rung."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction as F
from functools import partial
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np

from discreet.answer.record import Answer
from discreet.mechanisms import Geometric, Grant
from discreet.mechanisms.allowance import Allowance
from discreet.noise import Tape
from discreet.plan.catalog import Protected, Table
from discreet.plan.check import _alike, check, digest, event_of
from discreet.plan.combination import Combination
from discreet.plan.ladder import TOP, doublings, ladder, nearest
from discreet.plan.plan import Plan, Stage
from discreet.plan.relation import ONE, CapTotal, Exceeding, Extent, How, Term, Totals, contributions_of, terms_of
from discreet.plan.release import decided
from discreet.plan.steps.base import Outcome, Step
from discreet.plan.steps.search import Search
from discreet.plan.steps.tally import Tally
from discreet.plan.totals import one_group
from discreet.privacy import Adjacency, events, loss
from tests.plan.laws import (
    TABLE,
    Row,
    any_row,
    decided_by,
    engine,
    is_a_fault,
    neighbours,
    planned,
    searched,
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


def no_neighbour_moves_a_score_in_two_directions(tries: int = 20) -> None:
    """All numbers of people beyond a rung move by one at most, and none up where another goes down, under either relation.

    That is so of rows, of rows in a group and of groups, within limits that were declared and within those that were found before.
    """
    draw, moved, extents = random.Random(1), {1: 0, -1: 0}, set()
    for text, unit in product((*BY_GROUP, *PEOPLE, *BOTH), (*UNITS, replace(NOBODY, max_rows=2))):
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
                    extents.add((step.reads.source.extent, unit.adjacency))  # type: ignore[union-attr]
                step = step.after(draw.choice(step.ways[:4]))
    assert min(moved.values()) > 10, "both directions occur"
    assert extents == set(product(Extent, Adjacency)), "of all that limits are on"


def plains(step: Step) -> list[Combination]:
    return [Combination.plain(i) for i in range(len(terms_of(step.reads)))]


def test_no_neighbour_moves_a_score_in_two_directions() -> None:
    no_neighbour_moves_a_score_in_two_directions(repeats(10))


def no_neighbour_moves_an_answer_more(tries: int = 10) -> None:
    """Within limits that were found, low ones that cut, no total moves by more than its noise is made for."""
    for text, unit in product((*ROWS, *BY_GROUP, *PEOPLE, *BOTH), UNITS):
        moved = searched(text, unit, tries, DELTA if unit.clip == "l2" else 0, WIDE)
        for far, allowed in zip(moved.farthest, moved.allowed, strict=True):
            assert far <= allowed, (text, unit, far, allowed)


def test_no_neighbour_moves_an_answer_more() -> None:
    no_neighbour_moves_an_answer_more(repeats(10))


# What is found.


def the_first_rung_that_few_are_beyond_is_found() -> None:
    """At a price without noise: the first limit that nobody is beyond, of rows and of groups, up to the last one."""
    for text, name, rungs in ((ROWS[0], "max_total", ladder()), (PEOPLE[0], "max_groups", ladder(9))):
        plan = found(text, NOBODY, 10**6)
        for most in (1, 2, 6, 9):
            rows = [{**any_row(random.Random(1), 1), "g": "ABCDEFGHI"[i]} for i in range(most)]
            one = decided(plan, engine(rows).run, Grant(plan.event, Tape(most)), 1)
            wanted = next(rung for rung in rungs if rung >= most)
            assert one.found == {name: wanted, "people": 1, "beyond": 0}, (text, most)


def test_the_first_rung_that_few_are_beyond_is_found() -> None:
    the_first_rung_that_few_are_beyond_is_found()


def ladders_go_up_by_a_quarter() -> None:
    for rungs in (ladder(), ladder(100), ladder(100, least=7), doublings()):
        assert list(rungs) == sorted(set(rungs)) and rungs[-1] in (TOP, 100)
        assert all(high <= max(low + 1, 2 * low) for low, high in pairwise(rungs))
    assert all(high <= -(-low * 5 // 4) for low, high in pairwise(ladder()) if low > 3)
    assert ladder(100, least=7)[0] == 7 and nearest((1, 2, 4), 3) == 2 and nearest((1, 2, 4), 9) == 2


def test_ladders_go_up_by_a_quarter() -> None:
    ladders_go_up_by_a_quarter()


def a_grant_covers_every_way_and_no_more() -> None:
    """What is charged covers what is drawn on any way, once, and no less noise than that."""
    for text, unit in product((BY_GROUP[1], BOTH[0]), (NOBODY, SHORTENED)):
        plan = found(text, unit)
        for seed in range(3):
            one, left = decided_by(plan, any_rungs(seed)), Allowance(plan.event)
            drawn = [m.mechanism.event(m.sensitivity) for m in one.measurements if m.mechanism]
            for event in (*(step.event() for step, _ in one.steps), *drawn[::-1]):
                left.take(event)
            assert not any(left.covers(event) for event in drawn), "nothing is left"
            assert not left.covers(events.Pure(F(1, 1000)))
            less = [m.mechanism.event(m.sensitivity * F(11, 10)) for m in one.measurements if m.mechanism]
            assert not Allowance(plan.event).covers(events.Composed((*less, *(s.event() for s, _ in one.steps))))
    small, large = events.Gaussian(F(2), F(1)), events.Gaussian(F(1), F(1))
    for order in ((small, large), (large, small)):
        granted = Allowance(events.Composed(order))
        granted.take(small)
        granted.take(large)
        assert not granted.covers(small) and not Allowance(small).covers(large) and Allowance(large).covers(small)


def test_a_grant_covers_every_way_and_no_more() -> None:
    a_grant_covers_every_way_and_no_more()


# What a plan is, and what is not one.


def searches(plan: Plan) -> Search:
    assert isinstance(plan.stage, Search)
    return plan.stage


def with_stage(plan: Plan, stage: Step) -> Plan:
    """The plan with other steps, and the event of these where every rung leads somewhere."""
    whole = isinstance(stage, Search) and len(stage.rungs) == len(stage.stages)
    return replace(plan, stage=stage, event=event_of(stage, plan.relation) if whole else plan.event)


def tallied(step: Search, change: Callable[[Tally], Tally], places: slice = slice(None)) -> Search:
    """A search with other counts behind some of its rungs."""
    stages = list(step.stages)
    stages[places] = [change(each) for each in stages[places] if isinstance(each, Tally)]
    return replace(step, stages=tuple(stages))


def sharper(tally: Tally) -> Tally:
    """With less noise on its first count."""
    first, second = tally.measurements
    return replace(tally, measurements=(replace(first, mechanism=Geometric(first.mechanism.scale / 2)), second))  # type: ignore[union-attr]


def of_rows(tally: Tally) -> Tally:
    """Counting rows, and not people."""
    stage = tally.then
    assert isinstance(stage, Stage)
    return replace(tally, query=Totals(contributions_of(stage.query)))


def below_half(tally: Tally) -> Tally:
    """With noise for half of a person."""
    first, second = tally.measurements
    halved = replace(first, sensitivity=F(1, 2), mechanism=Geometric(first.mechanism.scale / 2))  # type: ignore[union-attr]
    return replace(tally, measurements=(halved, second))


def halved(tally: Tally) -> Tally:
    """With an answer whose noise is for half of a person, at the same price."""
    stage = tally.then
    assert isinstance(stage, Stage)
    (each,) = stage.measurements
    half = replace(each, sensitivity=each.sensitivity / 2, mechanism=Geometric(each.mechanism.scale / 2))  # type: ignore[union-attr]
    return replace(tally, then=replace(stage, measurements=(half,)))


def false_searches(step: Search) -> Iterator[Search]:
    """Each wrong in one thing."""
    counted = step.query.source
    assert isinstance(counted, Exceeding)
    yield replace(step, query=Totals(counted.source))
    yield replace(step, query=Totals(replace(counted, rungs=counted.rungs[:-1])))
    yield replace(step, rungs=(*step.rungs[1:], step.rungs[0]))
    yield replace(step, rungs=step.rungs[:-1])
    yield replace(step, stages=step.stages[:-1])
    yield replace(step, mechanism=replace(step.mechanism, hits=2))
    yield tallied(step, sharper)
    yield tallied(step, sharper, slice(3, 4))
    yield tallied(step, sharper, slice(-1, None))
    yield tallied(step, below_half)
    yield tallied(step, halved, slice(-1, None))
    yield replace(step, mechanism=replace(step.mechanism, hits=2, epsilon=step.mechanism.epsilon / 2))
    people = replace(contributions_of(counted), terms=(Term(How.ANY, ONE),) * len(counted.rungs))
    yield replace(step, query=Totals(people))
    yield tallied(step, of_rows)
    yield tallied(step, lambda tally: replace(tally, measurements=tally.measurements[:1]))


def _check_with(plan: Plan, step: Step) -> None:
    check(with_stage(plan, step))


def false_plans_are_found() -> None:
    """Whatever is wrong in one thing, on one rung or on all, is a Fault before anything is spent."""
    for unit in (NOBODY, turned(NOBODY)):
        plan = found("SELECT COUNT(*) FROM t", unit)
        check(plan)
        for step in false_searches(searches(plan)):
            assert is_a_fault(partial(_check_with, plan, step)), step.rungs
        for epsilon in (plan.epsilon * F(13, 20), plan.epsilon * F(9, 10), plan.epsilon * F(3, 4)):
            assert is_a_fault(partial(check, replace(plan, epsilon=epsilon)))


def test_false_plans_are_found() -> None:
    false_plans_are_found()


def gaussian_ways_are_paid_by_the_dearest() -> None:
    """Where noise is rounded, the event of a plan has the least of all ways; noise that differs by more is a Fault."""
    plan = found(BY_GROUP[0], SHORTENED)
    (granted,) = [leaf for leaf in leaves(plan.event) if isinstance(leaf, events.Gaussian)]
    for one in plan.decisions():
        for each in one.measurements:
            assert each.mechanism is not None
            assert granted.sensitivity / granted.scale >= each.sensitivity / each.mechanism.scale
    few = [events.Gaussian(F(scale), F(1)) for scale in (10, 11)]
    assert is_a_fault(lambda: _alike(few))
    near = [events.Gaussian(F(10), F(1)), events.Gaussian(F(10) + F(1, 10**7), F(1))]
    for pair in (near, near[::-1]):
        assert list(leaves(_alike(pair))) == [near[0]]


def leaves(event: events.Event) -> Iterator[events.Event]:
    for leaf, count in loss(event).terms:
        yield from [leaf] * count


def test_gaussian_ways_are_paid_by_the_dearest() -> None:
    gaussian_ways_are_paid_by_the_dearest()


def an_outcome_is_one_of_those_that_there_are() -> None:
    """Whichever rung is released leads to the stage of that limit, and what is none is a Fault."""
    step = searches(found("SELECT COUNT(*) FROM t", NOBODY))
    for outcome in step.ways:
        tally = step.after(outcome)
        assert isinstance(tally, Tally) and isinstance(tally.then, Stage) and isinstance(tally.query.source, Exceeding)
        assert tally.query.source.rungs == (0, step.rungs[outcome])
        assert isinstance(tally.then.query.source, CapTotal) and tally.then.query.source.most == step.rungs[outcome]
        assert step.facts(outcome) == {"max_total": step.rungs[outcome]}
        for wrong in (-1, len(step.rungs), (0,), "0", None):
            assert is_a_fault(partial(step.after, wrong))  # type: ignore[arg-type]
            assert is_a_fault(partial(tally.after, wrong))  # type: ignore[arg-type]


def test_an_outcome_is_one_of_those_that_there_are() -> None:
    an_outcome_is_one_of_those_that_there_are()


def what_is_said_is_made_of_what_was_released() -> None:
    """On the same outcomes everything that is said is the same, whatever the data; and it says what was released."""
    plan = found("SELECT COUNT(*) FROM t", NOBODY)
    for people, beyond in ((12345, 678), (9, -5), (-3, 2)):
        one = plan.chosen(6).chosen((people, beyond))
        text = "\n".join(one.told)
        assert "each who counts with at most 9 rows\n" in text and "about" in text
        assert f"about {max(beyond, 0):,} of {max(people, 0):,} people" in text and "more than 9 rows:" in text
        assert ("found with few people" in text) is (people < 2000)
        assert one.found == {"max_total": 9, "people": people, "beyond": beyond}
        assert one.again([6, [people, beyond]]) == one
    all_groups = decided_by(found(PEOPLE[0], NOBODY), top_rungs)
    assert all_groups.found["max_groups"] == 9
    assert not any("more than" in note for note in all_groups.told), "nobody is in more groups than there are"
    one_group_each = found(PEOPLE[0], NOBODY).chosen(0).chosen((5, 1))
    assert any("have more than 1 group:" in note for note in one_group_each.told)


def test_what_is_said_is_made_of_what_was_released() -> None:
    what_is_said_is_made_of_what_was_released()


def kept_answers_say_the_same_again() -> None:
    """An answer that was kept says the same limits, counts and explanation, whoever asks; what they lack is said first."""
    for text, unit in product((ROWS[0], *PEOPLE, *BOTH), (NOBODY, SHORTENED)):
        plan = found(text, unit)
        one = decided_by(plan, any_rungs(5))
        released = [np.arange(len(one.domain), dtype=np.int64)] * len(one.measurements)
        answer = Answer.make(one, released, text=text)
        kept = Answer.from_bytes(answer.to_bytes())
        again, another = kept.told(plan), kept.told(replace(plan, assumed=("you lack something",)))
        assert (again.notes, again.rows, again.explain(), again.receipt) == (
            answer.notes,
            answer.rows,
            answer.explain(),
            answer.receipt,
        )
        assert another.notes[0] == "you lack something" and set(answer.notes) - set(plan.assumed) <= set(another.notes)
        assert all(f"released: {step.named(outcome)}\n" in another.explain() for step, outcome in one.steps)


def test_kept_answers_say_the_same_again() -> None:
    kept_answers_say_the_same_again()


def plans_of_one_name_are_one(tries: int = 60) -> None:
    """Two plans with one digest have equal stages on every way, whatever was declared that does not matter."""
    draw, names = random.Random(3), dict[str, Plan]()
    some: tuple[int | None, ...] = (None, None, 1, 9, 12, 100)
    same = 0
    for _ in range(tries):
        limits = {name: draw.choice(some) for name in ("max_rows", "max_groups")}
        unit = replace(draw.choice([NOBODY, turned(NOBODY)]), **limits)
        plan = found(draw.choice([ROWS[0], BY_GROUP[0], *PEOPLE, *BOTH]), unit, draw.choice([1, 2]))
        other = names.setdefault(digest(plan), plan)
        same += other is not plan
        ways = zip(plan.decisions(), other.decisions(), strict=True)
        assert all(bare(one.decided) == bare(another.decided) for one, another in ways), limits
        assert [step.ways for step in steps_of(plan)] == [step.ways for step in steps_of(other)]
    assert same > tries / 10 and len(names) > tries / 4


def bare(stage: Stage) -> Stage:
    return replace(stage, notes=())


def steps_of(plan: Plan) -> list[Step]:
    return [step for step, _ in decided_by(plan, top_rungs).steps]


def test_plans_of_one_name_are_one() -> None:
    plans_of_one_name_are_one(repeats(60))


def test_another_limit_price_or_table_is_another_name() -> None:
    plans = [
        found(text, unit, epsilon, table)
        for text, unit, epsilon, table in product((BY_GROUP[0], PEOPLE[0]), UNITS, (1, 2), (TABLE, WIDE))
    ]
    names = {digest(plan) for plan in plans}
    # an L2 clip of few groups needs no limit on them, and is another plan all the same
    assert len(names) == len(plans)
