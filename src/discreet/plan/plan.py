"""A finished plan: what will be counted exactly, with which noise, at which price, and how the answer is made of it.

A plan depends on the question and on what is declared, never on the data: two data sets with one catalog have byte-equal plans.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.errors import Fault
from discreet.mechanisms.additive import IntegerNoise
from discreet.mechanisms.selection import Selection
from discreet.plan.combination import Combination
from discreet.plan.question import Question
from discreet.plan.relation import CapRows, CapTotal, Term, Totals, terms_of, walk
from discreet.plan.scalar import Value
from discreet.privacy import Relation, events

if TYPE_CHECKING:
    from discreet.plan.releases.base import Release

CONFIDENCE = 0.95
"""Of every ± that is told."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """What is released with noise for every group at once: a combination of the query's terms.

    `sensitivity` is of the vector over all groups, in steps: L1 for geometric noise, L2 for Gaussian noise. `step` is what one step
    is worth. No mechanism: the sensitivity is 0, and the combination is public. `rounding` is how far one row may be off its value,
    for having been put on a grid.
    """

    mechanism: IntegerNoise | None
    sensitivity: Fraction
    step: Fraction
    said: str
    """What is measured, for people."""

    made: Combination
    rounding: Fraction = Fraction(0)

    def error(self, confidence: float) -> int:
        """The ± of its noise alone, in steps."""
        return 0 if self.mechanism is None else int(self.mechanism.error(confidence))

    @property
    def few(self) -> int:
        """A released count of no more steps cannot be told from 0."""
        return self.error(CONFIDENCE)

    @property
    def half_step(self) -> Fraction:
        """How far the total may be off for having been rounded as a whole."""
        return self.step / 2 if self.made.divisor > 1 else Fraction(0)


@dataclass(frozen=True, slots=True)
class Stage:
    """One reading of the data: what an engine runs, what is measured of it, and what is made of that."""

    query: Totals
    domain: tuple[tuple[Value, ...], ...]
    """The groups of the answer, all public; one empty tuple where there are no keys."""

    measurements: tuple[Measurement, ...]
    releases: tuple["Release", ...]
    """One for each aggregate of the question, in its order."""


@dataclass(frozen=True, slots=True)
class Branching:
    """A noisy choice of what comes next: the outcome is released, and picks one of finitely many stages that are all known before.

    Each outcome has a score, a combination of the totals of the query over all rows, which a neighbour moves by at most `sensitivity`.
    Whichever is chosen, what follows draws the same event, or costs the same pure ε: so the price is known before any data is read.
    """

    query: Totals
    scores: tuple[Combination, ...]
    mechanism: Selection
    sensitivity: Fraction
    said: str
    """What is chosen, for people."""

    outcomes: tuple[str, ...]
    """What each outcome is, for people."""

    stages: tuple["Stage | Branching", ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that is decided before data is touched.

    Stages follow one another. A later one may depend on what an earlier one released, and on nothing exact: it is picked from a public
    table by a released outcome. Once every choice has an outcome the plan is *decided*, and has one query, one domain, its measurements
    and releases.
    """

    question: Question
    stage: Stage | Branching
    relation: Relation
    people: int | None
    """How many there are, as declared."""

    event: events.Event
    epsilon: Fraction
    delta: Fraction
    notes: tuple[str, ...]
    """Caps, bounds and rules that applied: properties of the question."""

    assumed: tuple[str, ...] = ()
    """What limits leave out that nobody declared, what a missing δ or a second count costs: said first, and no part of the plan's name."""

    taken: tuple[int, ...] = ()
    """The outcomes of the choices that were made, in their order: released, and no part of the plan's name."""

    @property
    def next(self) -> Stage | Branching:
        """What is to be run next."""
        stage = self.stage
        for outcome in self.taken:
            stage = _after(stage, outcome)
        return stage

    @property
    def choices(self) -> tuple[tuple[Branching, int], ...]:
        """The choices that were made, each with its outcome."""
        past, stage = [], self.stage
        for outcome in self.taken:
            if isinstance(stage, Branching):
                past.append((stage, outcome))
            stage = _after(stage, outcome)
        return tuple(past)

    def chosen(self, outcome: int) -> "Plan":
        """The plan after its next choice had this outcome."""
        _after(self.next, outcome)
        return replace(self, taken=(*self.taken, outcome))

    def decisions(self) -> Iterator["Plan"]:
        """The plan as it may be decided, for every outcome that its choices can have from here."""
        stage = self.next
        if isinstance(stage, Stage):
            yield self
        else:
            for outcome in range(len(stage.stages)):
                yield from self.chosen(outcome).decisions()

    # What a decided plan has.

    @property
    def decided(self) -> Stage:
        """The last stage; before that is decided a Fault."""
        stage = self.next
        if isinstance(stage, Branching):
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

    @property
    def most_rows(self) -> int:
        """How many rows may count in a group, by the number of people that was declared; 0 where none was."""
        caps = [part.most for part in walk(self.query) if isinstance(part, CapRows | CapTotal)]
        return (self.people or 0) * min(caps, default=1)


def _after(stage: Stage | Branching, outcome: int) -> Stage | Branching:
    if not isinstance(stage, Branching) or not 0 <= outcome < len(stage.stages):
        raise Fault("an outcome is one of a choice that there is", code="plan")
    return stage.stages[outcome]
