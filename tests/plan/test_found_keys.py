"""Keys that are found: by people, with a δ, at a price that no outcome changes, and nothing of the data besides what was released."""

import json
import random
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from fractions import Fraction as F
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from discreet.answer import Answer, Preview
from discreet.audit.enumeration import exact
from discreet.audit.joint import Draws, Joint
from discreet.audit.joint import planned as joint_of
from discreet.audit.twins import Curators
from discreet.curator.policy import Policy
from discreet.errors import DiscreetError, Fault
from discreet.mechanisms import Grant
from discreet.mechanisms.keys import KeysByName, LaplaceThreshold, OptimalKeys
from discreet.noise import Tape
from discreet.plan import private, within
from discreet.plan.catalog import Protected, Table
from discreet.plan.check import check, check_taken, digest, event_of
from discreet.plan.draft import MOST_FOUND, MOST_FOUND_GROUPS
from discreet.plan.explain import explain
from discreet.plan.finding import selecting
from discreet.plan.limits import check_limits
from discreet.plan.plan import Plan, Stage
from discreet.plan.relation import ONE, CapGroups, CapRows, Found, How, Term, Totals, walk
from discreet.plan.release import decided, release
from discreet.plan.rules.relations import combined
from discreet.plan.scalar import Type
from discreet.plan.steps.base import Step
from discreet.plan.steps.keys import LONGEST, FindKeys
from discreet.plan.steps.search import Search
from discreet.plan.steps.tally import Tally
from discreet.privacy import Adjacency, events, loss
from tests.plan.laws import PERSON, ROW, TABLE, Row, any_row, engine, planned, turned
from tests.scale import repeats

DELTA = F(1, 10**6)
OPEN = replace(TABLE, columns=tuple(replace(each, keys=None) if each.name == "g" else each for each in TABLE.columns))
"""A table whose groups nobody declared."""

NOBODY = Protected("who")
SHORTENED = replace(NOBODY, clip="l2")
UNITS = [PERSON, turned(PERSON), ROW, turned(ROW), NOBODY, turned(NOBODY)]
BY_KEY = "SELECT g, COUNT(*) FROM t GROUP BY g"
TEXTS = [
    BY_KEY,
    "SELECT g, SUM(y), AVG(x) FROM t WHERE x > 2 GROUP BY g",
    "SELECT g, x, COUNT(*) FROM t GROUP BY g, x",
    "SELECT g, note, COUNT(*) FROM t GROUP BY g, note",
    "SELECT y, COUNT(*) FROM t GROUP BY y",
]
PEOPLE = ["SELECT g, COUNT(DISTINCT who) FROM t GROUP BY g", "SELECT g, COUNT(DISTINCT who), SUM(y) FROM t GROUP BY g"]
EPSILONS = (F(1, 10), F(2))


def limited(most: int) -> Table:
    """The table, where a person is declared to have so many values of its keys."""
    columns = (replace(each, max_groups=most) if each.name == "g" else each for each in OPEN.columns)
    return replace(OPEN, columns=tuple(columns))


def found(text: str, unit: Protected, epsilon: Any = 1, delta: Any = DELTA, table: Table = OPEN) -> Plan:
    return planned(text, unit, epsilon, delta, table)


once = cache(found)
"""The same for what is looked at several times; no law of a planted bug may use it."""


def step_of(plan: Plan) -> FindKeys:
    assert isinstance(plan.stage, FindKeys)
    return plan.stage


def keys_steps(plan: Plan) -> list[FindKeys]:
    return [step for step, _ in next(plan.examples()).steps if isinstance(step, FindKeys)]


def with_keys(plan: Plan, *names: Any) -> Plan:
    """The plan for which these were found."""
    return plan.chosen(tuple((name, 1) for name in names))


def cases() -> Iterator[tuple[str, Protected]]:
    """Every kind of unit and question; but for two ladders of limits that are found at once, which make many stages."""
    for unit in (*UNITS, SHORTENED):
        of_people = () if unit.person is None else PEOPLE if unit.max_rows else PEOPLE[:1]
        for text in (*TEXTS, *of_people):
            yield text, unit


# What neighbours can change.


def people(draw: random.Random, unit: Protected, who: int, most: int = 6) -> list[Row]:
    rows = 1 if unit.person is None else draw.randrange(1, most)
    return [{**any_row(draw, who), "g": draw.choice(["A", "B", "C", "D", None])} for _ in range(rows)]


def pairs(draw: random.Random, unit: Protected) -> tuple[list[Row], list[Row]]:
    """Two tables that differ in one unit."""
    others = [row for who in range(draw.randrange(4)) for row in people(draw, unit, who)]
    more, instead = people(draw, unit, 8), people(draw, unit, 9)
    return others + more, others + instead if unit.adjacency is Adjacency.REPLACE else others


def no_neighbour_changes_more_keys(tries: int = 60) -> None:
    """A count moves by one at most, and no more counts than the selection is made for; as many do."""
    draw = random.Random(1)
    for unit, most in product((PERSON, turned(PERSON), ROW, turned(ROW)), (1, 2)):
        if unit.person is None and most > 1:
            continue
        step, farthest = step_of(found(BY_KEY, unit, table=limited(most) if most > 1 else OPEN)), 0
        for salt in range(tries):
            first, second = (step._counts(engine(rows).run(step.reads, salt)) for rows in pairs(draw, unit))
            moved = [abs(first.get(key, 0) - second.get(key, 0)) for key in {*first, *second}]
            assert max(moved, default=0) <= 1, (unit, most)
            farthest = max(farthest, sum(moved))
        assert farthest == step.mechanism.groups == (2 if unit.adjacency is Adjacency.REPLACE else 1) * most


def test_no_neighbour_changes_more_keys() -> None:
    no_neighbour_changes_more_keys(repeats(60))


def only_those_who_have_a_key_count() -> None:
    """Each person once for a key, in at most so many keys; a missing key takes nobody's place."""
    rows = [{**any_row(random.Random(0), who), "g": key} for who in range(30) for key in ("A", "A", "A", None, None)]
    step = step_of(found(BY_KEY, PERSON))
    for salt in range(5):
        assert step._counts(engine(rows).run(step.reads, salt)) == {"A": 30}


def test_only_those_who_have_a_key_count() -> None:
    only_those_who_have_a_key_count()


def sensitivities_never_shrink_with_groups() -> None:
    """So a plan for as many groups as there may be has the largest noise of all."""
    for text, unit in cases():
        plan = next(once(text, unit).examples())
        for measurement in plan.measurements:
            moved = [combined(measurement.made, plan.query, plan.relation, cells) for cells in (1, 2, 3, 10, 1000)]
            assert [each.l1 for each in moved] == sorted(each.l1 for each in moved), (text, unit)
            assert [each.l2_squared for each in moved] == sorted(each.l2_squared for each in moved), (text, unit)


def test_sensitivities_never_shrink_with_groups() -> None:
    sensitivities_never_shrink_with_groups()


# The price.


def drawn(plan: Plan) -> events.Event:
    """All that a decided plan draws."""
    made = [step.event() for step, _ in plan.steps]
    made += [each.mechanism.event(each.sensitivity) for each in plan.measurements if each.mechanism]
    return events.Composed(tuple(made))


def ways(plan: Plan, counts: tuple[int, ...] = (0, 1, 2, 7)) -> Iterator[Plan]:
    """The plan with so many keys of each column, and any limits."""
    for size in counts:
        one, draw = plan, random.Random(size)
        while isinstance(step := one.next, Step):
            listed = step.examples[0] if isinstance(step, FindKeys) else draw.choice(step.ways[:4])
            one = one.chosen(listed[:size] if isinstance(step, FindKeys) and isinstance(listed, tuple) else listed)
        yield one


def outcomes_cost_the_same() -> None:
    every_outcome_costs_the_same(((BY_KEY, PERSON), (BY_KEY, turned(NOBODY)), (TEXTS[3], ROW)))


def every_outcome_costs_the_same(asked: Iterable[tuple[str, Protected]], plan_of: Any = found) -> None:
    """Whatever is found, what is drawn is within the price, is covered by the event of the plan, and passes the second check."""
    for text, unit in asked:
        plan = plan_of(text, unit)
        assert plan.epsilon == 1 and plan.delta == DELTA
        assert loss(plan.event).certifies(1, DELTA)
        for one in ways(plan, (0, 1, 7)):
            assert loss(drawn(one)).certifies(1, DELTA), (text, unit)
            for made in range(1, 1 + sum(not step.listed for step, _ in one.steps)):
                check_taken(replace(plan, taken=one.taken[:made]))
            granted(plan, one)


def granted(plan: Plan, one: Plan) -> None:
    """What a decided plan draws is taken out of what was granted."""
    grant = Grant(plan.event, Tape(1))
    for step, _ in one.steps:
        grant._course.begin(step.event())
    for each in one.measurements:
        if each.mechanism:
            grant._course.begin(each.mechanism.event(each.sensitivity))


def test_every_outcome_costs_the_same() -> None:
    every_outcome_costs_the_same(cases(), once)


def the_price_is_split_as_it_is_said() -> None:
    """Half for keys alone; with a limit each has a quarter, and a tenth counts people; columns have equal parts, of δ too."""
    for text, unit, epsilon in product((BY_KEY, TEXTS[3]), (PERSON, turned(PERSON), NOBODY), EPSILONS):
        plan = found(text, unit, epsilon)
        (one,) = ways(plan, (3,))
        steps = [step for step, _ in one.steps]
        prices = [step.mechanism.price for step in steps if isinstance(step, FindKeys)]
        share = F(1, 4) if unit is NOBODY else F(1, 2)
        assert [price for price, _ in prices] == [epsilon * share / len(prices)] * len(prices)
        assert all(F(99, 100) * DELTA <= delta * len(prices) <= DELTA for _, delta in prices)
        searched = sum((step.mechanism.epsilon for step in steps if isinstance(step, Search)), F(0))
        counted = [loss(step.event()).pure_epsilon() for step in steps if isinstance(step, Tally)]
        rest = loss(events.Composed(tuple(m.mechanism.event(m.sensitivity) for m in one.measurements if m.mechanism)))
        if unit is NOBODY:
            assert (searched, counted, rest.pure_epsilon()) == (epsilon / 4, [epsilon / 10], epsilon * 2 / 5)
        else:
            assert (searched, counted, rest.pure_epsilon()) == (0, [], epsilon / 2)


def test_the_price_is_split_as_it_is_said() -> None:
    the_price_is_split_as_it_is_said()


def test_keys_come_first() -> None:
    plan = next(found("SELECT g, note, COUNT(*) FROM t GROUP BY g, note", NOBODY).examples())
    assert [type(step) for step, _ in plan.steps] == [FindKeys, FindKeys, Search, Tally]
    assert [step.name for step in keys_steps(found(TEXTS[3], PERSON))] == ["g", "note"]


# The joint law of all that is released.

WHO = replace(PERSON, max_rows=1, max_groups=1)
ROUNDED = F(1, 1 << 80)
"""How much wider brackets of probabilities are: the rule for keys is exactly at its δ."""

LARGE = F(1, 5)
"""A δ at which keys of one or two people are found."""


def tables(adjacency: Adjacency) -> list[tuple[list[Row], list[Row]]]:
    """Tiny tables that differ in one person: a key of theirs alone, one of all, one of the others."""

    def row(who: int, key: str) -> Row:
        return {**dict.fromkeys((column.name for column in TABLE.columns), None), "who": who, "g": key}

    if adjacency is Adjacency.ADD_REMOVE:
        alone = [([row(1, "A"), row(2, key)], [row(1, "A")]) for key in ("A", "B")]
        return [*alone, ([row(2, "A"), row(2, "B")], [])]
    return [([row(1, "A"), row(2, "B")], [row(1, "A"), row(3, key)]) for key in ("A", "C")]


def keys_and_answers_cost_their_price(epsilon: F = F(4)) -> None:
    """Every probability of keys and answers, on neighbours, is within the ε and δ of the plan."""
    for unit in (WHO, turned(WHO)):
        plan = found(BY_KEY, unit, epsilon, LARGE)
        joint = joint_of(plan, lambda rows: engine(rows).run, reach=2)
        is_within(exact(joint, tables(unit.adjacency)), plan)


def keys_and_limits_cost_their_price(epsilon: F = F(8)) -> None:
    """The same of keys and of the limit that is found for these keys; what comes after has noise of its own."""
    for unit in (NOBODY, turned(NOBODY)):
        plan = found(PEOPLE[0], unit, epsilon, LARGE)

        def run(rows: list[Row], draws: Draws, plan: Plan = plan) -> Any:
            one = plan
            while isinstance(step := one.next, FindKeys | Search):
                one = one.chosen(step.drawn(engine(rows).run, draws, 1))
            return one.taken

        is_within(exact(Joint(run, reach=2), tables(unit.adjacency)), plan)


def is_within(law: Any, plan: Plan) -> None:
    assert law.delta(plan.epsilon).low <= plan.delta
    assert law.delta(plan.epsilon).high <= plan.delta + law.hidden + ROUNDED
    assert law.delta(F(1, 4)).low > 0, "something is seen"


def test_keys_and_answers_cost_their_price() -> None:
    keys_and_answers_cost_their_price()


def test_keys_and_limits_cost_their_price() -> None:
    keys_and_limits_cost_their_price()


# Nothing but what is released.


def run_on(plan: Plan, rows: list[Row], seed: int) -> tuple[Plan, Any]:
    grant = Grant(plan.event, Tape(seed))
    one = decided(plan, engine(rows).run, grant, seed)
    return one, release(one, engine(rows).run, grant, seed)


CROWD = [
    {**any_row(random.Random(who), who), "g": key, "note": "x"}
    for who, key in enumerate(["A"] * 200 + ["B"] * 150 + ["C", "D", None])
]


def rare_keys_are_not_seen(runs: int = 40) -> None:
    """Of many keys that one person has each none is found, nor counted, nor a group of the answer; those that many have are."""
    rows = [*CROWD, *({**CROWD[0], "who": 1000 + i, "g": f"rare {i}"} for i in range(200))]
    for unit, seed in product((PERSON, ROW), range(runs // 4)):
        one, answers = run_on(found(BY_KEY, unit), rows, seed)
        assert one.domain == (("A",), ("B",)) and "rare" not in explain(one)
        assert [len(each) for each in answers] == [2]
        assert abs(int(answers[0][0]) - 200) < 60 and abs(int(answers[0][1]) - 150) < 60


def test_rare_keys_are_not_seen() -> None:
    rare_keys_are_not_seen(repeats(40))


def only_the_largest_are_used() -> None:
    """However many pass, a public number of them is used, and which is told by noisy counts alone."""
    step = replace(step_of(found(BY_KEY, PERSON)), most=3)
    counts = {f"key {i}": 1000 * i for i in range(1, 9)}
    reading = Found(tuple((key,) for key in counts), (_ints(list(counts.values())),))
    outcome = step.drawn(lambda query, salt: reading, Grant(step.event(), Tape(1)), 1)
    assert [key for key, _ in outcome] == ["key 6", "key 7", "key 8"]  # type: ignore[union-attr]
    assert all(count != counts[key] for key, count in outcome), "noisy counts"  # type: ignore[union-attr]
    with pytest.raises(Fault):
        step.after((("a", 1), ("b", 1), ("c", 1), ("d", 1)))


def _ints(values: list[int]) -> Any:
    import numpy as np

    return np.array(values, np.int64)


def test_only_the_largest_are_used() -> None:
    only_the_largest_are_used()


def test_what_can_be_a_key_does_not_depend_on_who_has_it() -> None:
    """A text that is too long, and a number that is none, are no keys, however many people have them."""
    step = step_of(found(BY_KEY, PERSON))
    reading = Found((("x" * LONGEST,), ("x" * (LONGEST + 1),), (None,)), (_ints([9, 99, 999]),))
    assert step._counts(reading) == {"x" * LONGEST: 9}
    numbers = step_of(found("SELECT y, COUNT(*) FROM t GROUP BY y", PERSON))
    assert numbers._counts(Found(((float("inf"),), (-0.0,), (2.5,)), (_ints([5, 6, 7]),))) == {0.0: 6, 2.5: 7}
    whole = step_of(found("SELECT LENGTH(note) AS k, COUNT(*) FROM t GROUP BY k", PERSON))
    ((key, _),) = whole._counts(Found(((7,), (True,)), (_ints([5, 6]),))).items()
    assert type(key) is int and key == 7
    days = replace(step, type=Type.DATE)
    assert days._counts(Found(((1,),), (_ints([4]),))) == {date(1970, 1, 2): 4}
    for wrong in ((("x", 1), ("x", 1)), ((1, 1),), (("x" * (LONGEST + 1), 1),), 0, (("x",),)):
        with pytest.raises(Fault):
            step.after(wrong)


def test_rows_with_other_keys_take_nobodys_place() -> None:
    """Who is in many groups of which few are found counts in those that are."""
    rows = [{**CROWD[0], "who": who, "g": key} for who in range(20) for key in ("A", "q", "r", "s", "t", "u", "v")]
    one = with_keys(found(BY_KEY, WHO), "A")
    assert any(isinstance(part, CapGroups) for part in walk(found(BY_KEY, WHO).stage.reads))  # type: ignore[union-attr]
    assert engine(rows).run(one.query, 1).totals[0].tolist() == [20]


def test_all_combinations_are_shown() -> None:
    plan = with_keys(found("SELECT g, x, COUNT(*) FROM t GROUP BY g, x", PERSON), "A", "B")
    assert plan.domain == tuple(product("AB", (2, 3, 4, 5)))
    assert any("also those that nobody has" in note for note in plan.notes)
    both = with_keys(with_keys(found(TEXTS[3], PERSON), "A", "B"), "x", "y")
    assert both.domain == tuple(product("AB", "xy"))


def test_nothing_is_answered_where_no_key_is_found() -> None:
    for unit in (PERSON, ROW, NOBODY, SHORTENED):
        plan = found(BY_KEY, unit)
        one, answers = run_on(plan, CROWD[-3:], 1)
        answer = Answer.make(one, answers, text=BY_KEY)
        assert answer.rows == () and any("no key was found" in note for note in answer.notes)
        assert answer.receipt["found"]["keys"] == {"g": []}


# What is told.


def test_what_was_found_is_told_and_kept() -> None:
    """The keys are in the receipt, and what was kept of them tells the same plan again."""
    for text, unit in ((BY_KEY, PERSON), (BY_KEY, NOBODY), (TEXTS[3], ROW)):
        plan = found(text, unit)
        one, answers = run_on(plan, CROWD, 3)
        answer = Answer.make(one, answers, text=text)
        pairs = answer.receipt["found"]["keys"]["g"]
        assert [key for key, _ in pairs] == ["A", "B"] and all(isinstance(count, int) for _, count in pairs)
        kept = json.loads(json.dumps(answer.receipt["outcomes"]))
        assert plan.again(kept).taken == one.taken and plan.again(kept).domain == one.domain
        assert answer.receipt["plan"] == digest(plan), "what was found is no part of the name"
        assert any(note.startswith("g: 2 keys were found, each of which about") for note in answer.notes)
        assert Answer.from_bytes(answer.to_bytes()) == answer
        assert "released: 2 keys of g: A, B" in answer.explain()
    days = replace(step_of(found(BY_KEY, PERSON)), type=Type.DATE)
    outcome = ((date(2024, 2, 29), 70),)
    assert days.again(json.loads(json.dumps(days.kept(outcome)))) == outcome


def test_a_preview_tells_how_many_people_must_share_a_key() -> None:
    for text, unit in ((BY_KEY, PERSON), (BY_KEY, NOBODY), (TEXTS[3], ROW)):
        plan = found(text, unit)
        check_limits(plan, 1 << 30)
        preview = Preview.make(plan, text=text)
        step = step_of(plan)
        assert any(f"that about {step.shared:,} " in note for note in preview.notes)
        assert bool(preview.at_limits) is (unit is NOBODY)
        assert preview.groups is None and "the groups that are found" in str(preview)
        assert "costs ε" in preview.explain() and str(preview) and json.dumps(preview.to_json())


def the_told_number_of_people_is_enough() -> None:
    """A key that so many people share is found with at least 95 %, and one less is not enough."""
    for epsilon, delta, groups in product((F(1, 8), F(1)), (F(1, 10**8), F(1, 100)), (1, 3)):
        rule = selecting(epsilon, delta, groups)
        enough = rule.shared_by(0.95)
        assert rule.rule.keeps(enough)[0] >= 0.95 > rule.rule.keeps(enough - 1)[0]
        assert isinstance(rule.rule, OptimalKeys)
        assert enough <= KeysByName(LaplaceThreshold.for_budget(epsilon, delta, groups=groups)).shared_by(0.95)
    assert isinstance(selecting(F(1, 1000), F(1, 10**8), 1).rule, LaplaceThreshold), "its table would be too long"


def test_the_told_number_of_people_is_enough() -> None:
    the_told_number_of_people_is_enough()


# What is refused.


def refused(text: str, unit: Protected, delta: Any = DELTA) -> DiscreetError:
    with pytest.raises(DiscreetError) as refusal:
        found(text, unit, delta=delta)
    return refusal.value


def test_without_a_delta_no_key_is_found() -> None:
    for text, unit in cases():
        if unit.clip == "l2":
            continue
        error = refused(text, unit, 0)
        assert error.code == "missing-keys" and error.hint is not None
        assert all(word in error.hint for word in ("--keys", "--delta", "discreet survey"))


def test_those_who_are_protected_are_no_keys() -> None:
    error = refused("SELECT who, COUNT(*) FROM t GROUP BY who", PERSON)
    assert error.code == "person"


def test_an_accuracy_needs_keys() -> None:
    catalog = private.Catalog((OPEN,), PERSON)
    from discreet.plan.sql import question

    with pytest.raises(DiscreetError) as refusal:
        within.plan_within(question(BY_KEY, catalog), catalog, 25, DELTA)
    assert refusal.value.code == "missing-keys"


def test_computed_numbers_are_no_keys() -> None:
    assert refused("SELECT y * 2 AS k, COUNT(*) FROM t GROUP BY k", PERSON).code == "number-key"


def test_groups_are_within_a_public_number() -> None:
    for text, unit in cases():
        worst = next(once(text, unit).decisions())
        assert 10 <= len(worst.domain) <= MOST_FOUND_GROUPS
        assert all(step.most <= MOST_FOUND for step in keys_steps(once(text, unit)))


def steps_are_checked() -> None:
    """A selection that counts rows, or people in more keys than it is made for, is found before anything is spent."""
    for unit in (PERSON, turned(PERSON)):
        plan = found(BY_KEY, unit, table=limited(2))
        step = step_of(plan)
        capped = step.query.source
        assert isinstance(capped, CapGroups)
        fewer = KeysByName(replace(step.mechanism.rule, groups=step.mechanism.groups - 1))
        for false in (
            replace(step, query=Totals(replace(capped, most=3))),
            replace(step, query=Totals(capped.source)),
            replace(step, mechanism=fewer),
            replace(step, mechanism=step.mechanism.rule),
            replace(step, most=0),
            replace(step, query=Totals(replace(capped, source=replace(capped.source, keys=())))),
        ):
            with pytest.raises(Fault):
                changed = replace(plan, stage=false)
                check(replace(changed, event=event_of(false, plan.relation)))


def test_steps_are_checked() -> None:
    steps_are_checked()


def rows_are_not_people() -> None:
    """A selection whose counts a person moves by several is found, however few keys they have."""
    plan = found(BY_KEY, PERSON, table=limited(2))
    step = step_of(plan)
    capped = step.query.source
    assert isinstance(capped, CapGroups)
    rows = CapRows(replace(capped.source, terms=(Term(How.SUM, ONE),)), 2)  # type: ignore[arg-type]
    false = replace(step, query=Totals(CapGroups(rows, 1)))
    with pytest.raises(Fault, match="more than one"):
        check(replace(plan, stage=false, event=event_of(false, plan.relation)))


def test_rows_are_not_people() -> None:
    rows_are_not_people()


class Cheaper:
    """What follows has less noise than was said where two keys are found."""

    def __init__(self, then: Any) -> None:
        self.then = then

    def filled(self, keys: tuple[Any, ...]) -> Stage | Step:
        stage = self.then.filled(keys)
        if len(keys) != 2:
            return stage
        measurements = tuple(
            replace(each, mechanism=type(each.mechanism)(each.mechanism.scale / 2)) for each in stage.measurements
        )
        return replace(stage, measurements=measurements)


def what_follows_is_checked_again(seed: int = 3) -> None:
    """The way that is taken is checked before it is gone: one that nobody could list, and that costs more."""
    plan = found(BY_KEY, PERSON)
    false = replace(step_of(plan), then=Cheaper(step_of(plan).then), made=[])
    wrong = replace(plan, stage=false)
    check(wrong)
    with pytest.raises(Fault, match="does not hold"):
        run_on(wrong, CROWD, seed)


def test_what_follows_is_checked_again() -> None:
    what_follows_is_checked_again()


# Twins, through the curator.


@settings(max_examples=repeats(6), phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(
    seed=st.integers(0, 10**6),
    adjacency=st.sampled_from(["add-remove", "replace"]),
    limits=st.sampled_from([{"max_rows": 2, "max_groups": 2}, {"max_total": 3}, {}]),
    most=st.none() | st.integers(1, 3),
)
def test_twins_are_not_told_apart(seed: int, adjacency: str, limits: dict[str, int], most: int | None) -> None:
    twins_are_not_told_apart(seed, adjacency, limits, most)


ASKED = (
    "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward",
    "SELECT day, COUNT(DISTINCT person) AS n FROM visits GROUP BY day ORDER BY n",
    "SELECT ward, smoker, SUM(age) AS s FROM visits WHERE age > 3 GROUP BY ward, smoker",
    "SELECT COALESCE(ward, 'none') AS w, COUNT(*) AS n FROM visits GROUP BY w",
)


def twins_are_not_told_apart(
    seed: int = 5, adjacency: str = "add-remove", limits: dict[str, int] | None = None, most: int | None = None
) -> None:
    """Someone with keys of their own, and with more of them than count: handed what its twin found, a neighbour does the same."""
    draw = random.Random(seed)
    first, second = (policy(rows, adjacency, limits or {}, most) for rows in visits(draw, adjacency))
    with Curators(first, second) as pair:
        for text in ASKED:
            report = pair.ask(text, epsilon=4, delta=0.05)
            assert report.same and report.first.answered, (text, report, report.first.body)
            assert pair.ask(text, epsilon=4, delta=0).first.status == "QueryError"


def visits(draw: random.Random, adjacency: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    def rows(who: str, count: int, own: bool) -> list[dict[str, Any]]:
        wards = ["A", "A", "B", None, *([who] if own else [])]
        return [
            {
                "person": who,
                "ward": draw.choice(wards),
                "day": draw.choice([date(2024, 1, 1), date(2024, 1, 2), None]),
                "smoker": draw.choice([True, False, None]),
                "age": draw.choice([1, 5, 99, None]),
            }
            for _ in range(count)
        ]

    others = [row for i in range(draw.randrange(8, 14)) for row in rows(f"p{i}", draw.randrange(1, 4), False)]
    victim, newcomer = rows("victim", draw.randrange(1, 9), True), rows("newcomer", draw.randrange(1, 9), True)
    return [*others, *victim], [*others, *newcomer] if adjacency == "replace" else others


def policy(rows: list[dict[str, Any]], adjacency: str, limits: dict[str, int], most: int | None) -> Policy:
    columns: dict[str, Any] = {
        "ward": {"type": "text", **({} if most is None else {"max_groups": most})},
        "day": {"type": "date"},
        "smoker": {"type": "boolean"},
        "age": {"type": "integer", "bounds": (0, 10**6)},
    }
    data = {name: [row[name] for row in rows] for name in rows[0]}
    return Policy.declare(
        {"visits": data},
        "person",
        columns,
        epsilon=100,
        delta=0.5,
        ledger=":memory:",
        adjacency=adjacency,
        **limits,  # type: ignore[arg-type]
    )


def test_keys_of_a_file_are_found_by_its_engine(tmp_path: Path) -> None:
    """The whole path on a file: hostile texts are keys like any other, and shown so that they do nothing."""
    from discreet.curator.session import Curator

    ages = "SELECT LENGTH(ward) AS letters, YEAR(day) AS year, dose, COUNT(*) AS n FROM visits GROUP BY letters, year, dose"
    wards = ["A", "o'n", "=1+1", "\x1b[31mred", "ä"]
    rows = "\n".join(f'{i},"{wards[i % 5]}",2024-02-{1 + i % 2:02},{0.5 + i % 2}' for i in range(3000))
    (tmp_path / "visits.csv").write_text(f"person,ward,day,dose\n{rows}\n", "utf-8")
    columns = {"ward": {"type": "text"}, "day": {"type": "date"}, "dose": {"type": "number"}}
    with Curator(
        {"visits": tmp_path / "visits.csv"}, "person", columns, epsilon=20, delta=1e-6, ledger=tmp_path / "ledger"
    ) as curator:
        text = "SELECT ward, day, COUNT(*) AS n FROM visits GROUP BY ward, day"
        answer = curator.sql(text, epsilon=4)
        assert [row[:2] for row in answer.rows] == [
            (ward, date(2024, 2, day)) for ward in sorted(wards) for day in (1, 2)
        ]
        again = curator.sql(text, epsilon=4)
        assert (again.rows, again.explain(), curator.spent.epsilon) == (answer.rows, answer.explain(), 4)
        lengths = sorted({len(ward) for ward in wards})
        assert [row[:3] for row in curator.sql(ages, epsilon=4).rows] == list(product(lengths, [2024], [0.5, 1.5]))
        assert "\x1b" not in str(answer) and "\x1b" not in answer.explain()
