"""A finished plan: what will be counted exactly, with which noise, at which price, and how the answer is made of it.

A plan depends on the question and on what is declared, never on the data: two data sets with one catalog have byte-equal plans.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any

from discreet.errors import Fault
from discreet.plan.measurement import Measurement
from discreet.plan.partition import Part
from discreet.plan.parts import part_of
from discreet.plan.question import Question
from discreet.plan.reading import Reading
from discreet.plan.relation import CapGroups, CapRows, CapTotal, Term, Totals, keys_of, terms_of, walk
from discreet.plan.scalar import Value
from discreet.plan.steps.base import Outcome, Step, no_such_outcome
from discreet.privacy import Relation, events

if TYPE_CHECKING:
    from discreet.plan.releases.base import Release
    from discreet.plan.spread import Noise


@dataclass(frozen=True, slots=True)
class Stage:
    """One reading of the data: what an engine runs, what is measured of it, and what is made of that."""

    query: Totals
    domain: tuple[tuple[Value, ...], ...]
    """The groups of the answer, all public; one empty tuple where there are no keys."""

    measurements: tuple[Measurement, ...]
    releases: tuple["Release", ...]
    """One for each aggregate of the question, in its order."""

    notes: tuple[str, ...] = ()
    """What is said of this stage alone, where others could have come in its place: no part of the plan's name."""

    readings: tuple[Reading, ...] = ()
    """What is read besides; its columns stand behind the measurements, in this order."""

    levels: tuple["Stage | None", ...] = ()
    """For each level of the question what is measured for its own groups, and not summed from those of this stage; None for nothing. Behind
    the columns of this stage stand theirs."""

    cells: tuple[int, ...] = ()
    """Of how many groups of an answer that was given each of these is the sum, where nothing is measured anew; empty elsewhere, and no
    part of the plan's name."""

    @property
    def width(self) -> int:
        """How many integers are released for each group."""
        return len(self.measurements) + sum(each.columns for each in self.readings)

    def columns_of(self, reading: int) -> range:
        """The places of what a reading releases, among all that is released."""
        first = len(self.measurements) + sum(each.columns for each in self.readings[:reading])
        return range(first, first + self.readings[reading].columns)

    def noise_of(self, place: int) -> "Noise | None":
        """The noise of what is released at a place; None where there is none, or it is something else than noise."""
        if place < len(self.measurements):
            return self.measurements[place].noise
        noises = [noise for reading in self.readings for noise in reading.noises]
        return noises[place - len(self.measurements)]

    @property
    def queries(self) -> tuple[Totals, ...]:
        """All that an engine runs for it; its own query where that is nothing."""
        own = (self.query,) if self.measurements or not self.readings else ()
        below = (query for each in self.levels if each is not None for query in each.queries)
        return (*own, *(each.query for each in self.readings), *below)


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that is decided before data is touched.

    Stages follow one another. A later one may depend on what an earlier one released, and on nothing exact: it is picked from a public
    table by a released outcome. Once every choice has an outcome the plan is *decided*, and has one query, one domain, its measurements
    and releases.
    """

    question: Question
    stage: Stage | Step
    relation: Relation
    people: int | None
    """How many there are, as declared."""

    event: events.Event
    epsilon: Fraction
    delta: Fraction
    notes: tuple[str, ...]
    """Caps, bounds and rules that applied: properties of the question."""

    assumed: tuple[str, ...] = ()
    """What a survey or an earlier question told, which limit does nothing, what a missing δ or a second count costs: said first, and no
    part of the plan's name."""

    topic: str = ""
    """A name for the limits that are found on the way, the same for other questions that would find them; no part of the plan's name."""

    range_topics: tuple[tuple[str, str], ...] = ()
    """The same for each range that is found on the way: what has it, as it was asked, and a name for it."""

    taken: tuple[Outcome, ...] = ()
    """The outcomes of the steps that were made, in their order: released, and no part of the plan's name."""

    @property
    def part(self) -> Part | None:
        """The part of the people that the question is about; None where it is about all. `check` sees that nothing else is read."""
        return part_of(self.question.source)

    @property
    def next(self) -> Stage | Step:
        """What is to be run next."""
        stage = self.stage
        for outcome in self.taken:
            stage = _after(stage, outcome)
        return stage

    @property
    def steps(self) -> tuple[tuple[Step, Outcome], ...]:
        """The steps that were made, each with its outcome."""
        past, stage = [], self.stage
        for outcome in self.taken:
            if isinstance(stage, Step):
                past.append((stage, outcome))
            stage = _after(stage, outcome)
        return tuple(past)

    @property
    def found(self) -> dict[str, Any]:
        """What was found on the way, by name: limits and counts, and "keys" and "ranges" by what has them."""
        facts: dict[str, Any] = {}
        for step, outcome in self.steps:
            for name, fact in step.facts(outcome).items():
                facts[name] = {**facts.get(name, {}), **fact} if isinstance(fact, dict) else fact
        return facts

    @property
    def told(self) -> tuple[str, ...]:
        """All that is said of the answer: first what was found for it, or will be."""
        if isinstance(self.next, Step):
            ahead = (note for step, _ in next(self.examples()).steps for note in step.ahead())
            return (*ahead, *self.notes, *self.question.remarks)
        if not self.taken:
            return (*self.notes, *self.question.remarks)
        of_steps = (note for step, outcome in self.steps for note in step.notes(outcome))
        return (*self.decided.notes, *of_steps, *self.notes, *self.question.remarks)

    def chosen(self, outcome: Outcome) -> "Plan":
        """The plan after its next step had this outcome."""
        _after(self.next, outcome)
        return replace(self, taken=(*self.taken, outcome))

    def again(self, outcomes: Sequence[Any]) -> "Plan":
        """The plan with the outcomes that an answer was kept with, as JSON has them."""
        plan = replace(self, taken=())
        for stored in outcomes:
            step = plan.next
            if not isinstance(step, Step):
                raise no_such_outcome()
            plan = plan.chosen(step.again(stored))
        return plan

    def decisions(self) -> Iterator["Plan"]:
        """The plan as it may be decided, for every way that its steps can go from here."""
        stage = self.next
        if isinstance(stage, Stage):
            yield self
        else:
            for outcome in stage.ways:
                yield from self.chosen(outcome).decisions()

    def examples(self) -> Iterator["Plan"]:
        """The plan as it may be decided, for a few of these ways: several of the first step that has several, and one of those after."""
        stage = self.next
        if isinstance(stage, Stage):
            yield self
        elif len(stage.examples) == 1:
            yield from self.chosen(stage.examples[0]).examples()
        else:
            for outcome in stage.examples:
                yield from islice(self.chosen(outcome).examples(), 1)

    # What a decided plan has.

    @property
    def decided(self) -> Stage:
        """The last stage; before that is decided a Fault."""
        stage = self.next
        if isinstance(stage, Step):
            raise Fault("a plan is not decided before its choices are made", code="plan")
        return stage

    @property
    def query(self) -> Totals:
        return self.decided.query

    @property
    def domain(self) -> tuple[tuple[Value, ...], ...]:
        return self.decided.domain

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        return self.decided.measurements

    @property
    def releases(self) -> tuple["Release", ...]:
        return self.decided.releases

    @property
    def terms(self) -> tuple[Term, ...]:
        """The terms of the query, in the order of the totals that an engine returns."""
        return terms_of(self.query)

    def most_rows(self, cells: int = 1) -> int:
        """How many rows may count in a group, or in several of them, by the number of people that was declared; 0 where none was."""
        parts = list(walk(self.query))
        cells = min([cells, *(part.most for part in parts if isinstance(part, CapGroups))])
        caps = [part.most for part in parts if isinstance(part, CapTotal)]
        caps += [part.most * cells for part in parts if isinstance(part, CapRows)]
        return (self.people or 0) * min(caps, default=1)


def finds_groups(plan: Plan) -> bool:
    """Whether a plan finds the groups of its answer: its first step reads groups, whichever there are."""
    return isinstance(plan.stage, Step) and bool(keys_of(plan.stage.reads))


def _after(stage: Stage | Step, outcome: Outcome) -> Stage | Step:
    if not isinstance(stage, Step):
        raise no_such_outcome()
    return stage.after(outcome)
