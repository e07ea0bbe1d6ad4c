"""Readings beside the totals of a stage, by a toy: how many rows there are, read by a query of its own, with noise of its own."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction as F
from math import ceil
from typing import Any

import pytest

from discreet.answer import Answer
from discreet.audit.twins import Draws, compare
from discreet.errors import Fault
from discreet.mechanisms import Geometric, Grant
from discreet.mechanisms.additive import Ints
from discreet.noise import Tape
from discreet.plan.caps import Caps
from discreet.plan.catalog import Protected
from discreet.plan.check import check, digest, event_of
from discreet.plan.combination import Combination
from discreet.plan.draft import Draft
from discreet.plan.explain import explain
from discreet.plan.gathering import query_of
from discreet.plan.intervals import predicted
from discreet.plan.plan import Plan, Stage
from discreet.plan.question import Aggregate
from discreet.plan.reading import Groups, Reading, ReadingAsked
from discreet.plan.relation import ONE, How, Term, Totals
from discreet.plan.release import decided, release
from discreet.plan.releases.base import Call, Kind, Number, ReadRelease, registry
from discreet.plan.releases.terms import MeasuredTerms
from discreet.plan.rules.relations import combined
from discreet.plan.steps.base import broken
from discreet.plan.totals import Run, combined_totals
from discreet.privacy import Relation, events, loss
from tests.plan.laws import CLIPPED, PERSON, ROW, TABLE, decided_by, engine, planned, top_rungs

EMPTY = {column.name: None for column in TABLE.columns}
ROWS = [
    {**EMPTY, "who": who, "x": who % 5, "g": "ABC"[who % 3], "y": 1.0} for who in range(30) for _ in range(1 + who % 4)
]
WHOLE = Combination.plain(0)


@dataclass(frozen=True, slots=True)
class Counted(Reading):
    """The rows of each group, and once more with its sign turned, at one price."""

    notation = "Counted query mechanism sensitivity"

    query: Totals
    mechanism: Geometric
    sensitivity: F

    @property
    def columns(self) -> int:
        return 2

    def event(self) -> events.Event:
        return self.mechanism.event(self.sensitivity)

    def check(self, relation: Relation, groups: Groups) -> None:
        if self.sensitivity < combined(WHOLE, self.query, relation, max(1, len(groups))).l1:
            raise broken("a neighbour can change a count by more than its noise is made for")

    def drawn(self, run: Run, grant: Grant, salt: int, groups: Groups) -> Sequence[Ints]:
        add = grant.prepare(self.mechanism, self.sensitivity, len(groups))
        (exact, _) = self.exactly(run, salt, groups)
        noisy = add(exact)
        return noisy, -noisy

    def exactly(self, run: Run, salt: int, groups: Groups) -> Sequence[Ints]:
        (exact,) = combined_totals([WHOLE], self.query, groups, run(self.query, salt))
        return exact, -exact

    def explained(self) -> str:
        return "rows, by a query of their own"

    def receipt(self) -> dict[str, Any]:
        return {"said": "rows besides", "mechanism": "Geometric", "scale": str(self.mechanism.scale)}


@dataclass(frozen=True, slots=True)
class CountAsked(ReadingAsked):
    """The rows, before they have a price."""

    def priced(self, draft: Draft, caps: Caps, epsilon: F) -> Counted:
        query = query_of(replace(draft, terms=(Term(How.SUM, ONE),)), caps)
        moved = F(ceil(combined(WHOLE, query, draft.protected.relation, draft.known).l1))
        return Counted(query, Geometric(moved / epsilon), moved)


@dataclass(frozen=True, slots=True)
class CountBeside(Kind):
    name = "count_beside"
    calls = ("COUNT_BESIDE",)
    word = "COUNT_BESIDE"
    heading = "count"

    @classmethod
    def read(cls, call: Call) -> Aggregate:
        if not call.rows:
            raise call.refusal("function", "it counts rows", "write COUNT_BESIDE(*)")
        return Aggregate(cls(), None, call.condition)

    def planned(self, aggregate: Aggregate, terms: MeasuredTerms) -> "Beside":
        return Beside(terms.read(CountAsked()))


@dataclass(frozen=True, slots=True)
class Beside(ReadRelease):
    notation = "Beside reading"

    reading: int

    def values(self, plan: Plan, released: Sequence[Sequence[int]]) -> Sequence[Number | None]:
        first, second = plan.decided.columns_of(self.reading)
        return [(one - other) // 2 for one, other in zip(released[first], released[second], strict=True)]

    def error(self, plan: Plan, confidence: float) -> Number | None:
        reading = plan.decided.readings[self.reading]
        assert isinstance(reading, Counted)
        return reading.mechanism.error(confidence)


@contextmanager
def callable_kind() -> Iterator[None]:
    """While it lasts the toy can be called."""
    registry.add(CountBeside)
    yield
    registry.remove(CountBeside)


@pytest.fixture(autouse=True)
def kind() -> Iterator[None]:
    with callable_kind():
        yield


def plan_of(text: str, protected: Protected = ROW, epsilon: F = F(1), delta: F = F(0)) -> Plan:
    return planned(text, protected, epsilon, delta)


UNLIMITED = replace(PERSON, max_rows=None, max_groups=None)
PLANS: dict[str, Callable[[], Plan]] = {
    "alone": lambda: plan_of("SELECT COUNT_BESIDE(*) AS n FROM t"),
    "beside": lambda: plan_of("SELECT g, COUNT_BESIDE(*) AS n, COUNT(x) AS m, SUM(y) AS s FROM t GROUP BY g"),
    "twice": lambda: plan_of("SELECT COUNT_BESIDE(*) AS n, COUNT_BESIDE(*) + 1 AS m FROM t"),
    "of people": lambda: plan_of("SELECT g, COUNT_BESIDE(*) AS n, COUNT(*) AS m FROM t GROUP BY g", PERSON),
    "with a limit that is found": lambda: plan_of("SELECT COUNT_BESIDE(*) AS n FROM t", UNLIMITED),
    "beside, with a limit that is found": lambda: plan_of(
        "SELECT COUNT_BESIDE(*) AS n, COUNT(*) AS m FROM t", UNLIMITED
    ),
    "beside Gaussian noise": lambda: plan_of(
        "SELECT g, COUNT_BESIDE(*) AS n, SUM(y) AS m FROM t GROUP BY g", CLIPPED, F(1), F(1, 10**6)
    ),
}


def stage_in(plan: Plan) -> Stage:
    return decided_by(plan, top_rungs).decided


@pytest.mark.parametrize("name", PLANS)
def test_a_reading_is_priced_checked_drawn_and_told(name: str) -> None:
    plan = PLANS[name]()
    check(plan)
    assert plan.epsilon == 1 and loss(plan.event).certifies(plan.epsilon, plan.delta)
    assert not loss(plan.event).certifies(plan.epsilon * F(9, 10), plan.delta), "nothing is paid for in vain"
    for seed in range(5):
        grant = Grant(plan.event, Tape(seed))
        one = decided(plan, engine(ROWS).run, grant, seed)
        released = release(one, engine(ROWS).run, grant, seed)
        assert len(released) == one.decided.width == len(one.measurements) + 2
        assert (released[-1] == -released[-2]).all()
        with pytest.raises(Fault):
            release(one, engine(ROWS).run, grant, seed)
        answer = Answer.make(one, released, text="?")
        column = [each.name for each in answer.columns].index("n")
        assert [row[column] for row in answer.rows] == released[-2].tolist()
        for row in answer.intervals:
            interval = row[column]
            assert interval is not None and interval.error is not None and interval.error > 0
        assert answer.receipt["measurements"][-1]["said"] == "rows besides"
        assert answer.receipt["plan"] == digest(plan)
        assert "rows, by a query of their own" in answer.explain()
        assert Answer.from_bytes(answer.to_bytes()) == answer
    assert "rows, by a query of their own" in explain(plan)
    assert all(each.error is not None for each in predicted(plan) if each.name == "n")


@callable_kind()
def a_reading_is_a_part_of_what_a_plan_costs() -> None:
    """A reading that a neighbour can move farther, that is cheaper than it says, or that nobody pays for is found."""
    for make in PLANS.values():
        plan = make()
        stage = stage_in(plan)
        (reading,) = stage.readings
        assert isinstance(reading, Counted)
        false = [
            replace(stage, readings=(replace(reading, sensitivity=reading.sensitivity / 2),)),
            replace(stage, readings=(replace(reading, mechanism=Geometric(reading.mechanism.scale / 2)),)),
            replace(stage, readings=(reading, reading)),
            replace(stage, readings=()),
        ]
        for each in false:
            with pytest.raises(Fault, match="does not hold"):
                check(replace(plan, stage=each))
        lost = tuple(Beside(1) if isinstance(each, Beside) else each for each in stage.releases)
        unread = replace(plan, stage=replace(stage, releases=lost))
        with pytest.raises(Fault, match="a release is not of its readings"):
            check(replace(unread, event=event_of(unread.stage, unread.relation)))
        alone = replace(plan, stage=replace(stage, readings=(replace(reading, sensitivity=reading.sensitivity / 2),)))
        with pytest.raises(Fault, match="does not hold"):
            check(replace(alone, event=event_of(alone.stage, alone.relation)))


def test_a_reading_is_a_part_of_what_a_plan_costs() -> None:
    a_reading_is_a_part_of_what_a_plan_costs()


@callable_kind()
def names_tell_readings_apart() -> None:
    """Plans that differ in what they read besides have different names."""
    names = {digest(make()) for make in PLANS.values()}
    plan = PLANS["beside"]()
    stage = stage_in(plan)
    names.add(digest(replace(plan, stage=replace(stage, readings=()))))
    names.add(digest(replace(plan, stage=replace(stage, readings=stage.readings * 2))))
    assert len(names) == len(PLANS) + 2


def test_names_tell_readings_apart() -> None:
    names_tell_readings_apart()


def test_neighbours_are_not_told_apart() -> None:
    plan = PLANS["of people"]()
    for who in range(6):
        others = [row for row in ROWS if row["who"] != who]

        def run(rows: Any, draws: Draws) -> Any:
            return release(plan, engine(rows).run, draws, 7)

        report = compare(ROWS, others, run, seed=who)
        assert report.same and report.first.answered and report.draws == 2, report
