"""A noisy choice by scores."""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.mechanisms.measure import Grant
from discreet.mechanisms.selection import Selection
from discreet.plan.combination import Combination
from discreet.plan.digits import six_digits
from discreet.plan.relation import Totals, keys_of
from discreet.plan.rules.relations import combined
from discreet.plan.steps.base import Outcome, Step, broken, no_such_outcome
from discreet.plan.totals import Run, one_group
from discreet.privacy import Relation, events

if TYPE_CHECKING:
    from discreet.plan.plan import Stage


@dataclass(frozen=True, slots=True)
class Branching(Step):
    """A noisy choice of what comes next: the outcome is released, and picks one of finitely many stages that are all known before.

    Each outcome has a score, a combination of the totals of the query over all rows, which a neighbour moves by at most `sensitivity`.
    """

    query: Totals
    scores: tuple[Combination, ...]
    mechanism: Selection
    sensitivity: Fraction
    said: str
    """What is chosen, for people."""

    outcomes: tuple[str, ...]
    """What each outcome is, for people."""

    stages: "tuple[Stage | Step, ...]"

    @property
    def reads(self) -> Totals:
        return self.query

    @property
    def ways(self) -> range:
        return range(len(self.stages))

    def after(self, outcome: Outcome) -> "Stage | Step":
        if not isinstance(outcome, int) or not 0 <= outcome < len(self.stages):
            raise no_such_outcome()
        return self.stages[outcome]

    def event(self) -> events.Event:
        return self.mechanism.event(self.sensitivity)

    def check(self, relation: Relation) -> None:
        """The scores are numbers that a neighbour moves by no more than the choice is made for; in which direction is not known."""
        if not isinstance(self.mechanism, Selection) or self.mechanism.monotone:
            raise broken("a choice is by scores that may move in either direction")
        if not len(self.scores) == len(self.outcomes) == len(self.stages) > 0 or keys_of(self.query):
            raise broken("a choice has a score, a name and a stage for each outcome")
        if any(self.sensitivity < combined(score, self.query, relation, 1).l1 for score in self.scores):
            raise broken("a neighbour can change a score by more than its choice is made for")

    def drawn(self, run: Run, grant: Grant, salt: int) -> int:
        return int(
            grant(self.mechanism, self.sensitivity, lambda: one_group(self.scores, self.query, run(self.query, salt)))
        )

    def explained(self) -> str:
        price = self.mechanism.loss(self.sensitivity).pure_epsilon()
        cost = f", costs ε = {six_digits(price)}" if price is not None else ""
        scores = f"by noisy scores, sensitivity {six_digits(self.sensitivity)} each"
        return f"{self.said}: one of {len(self.stages):,} {scores}{cost}"

    def named(self, outcome: Outcome) -> str:
        if not isinstance(outcome, int):
            raise no_such_outcome()
        return self.outcomes[outcome]
