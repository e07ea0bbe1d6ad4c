"""Two counts beside an answer whose limits were found: how many people are in the question, and how many of them the limit cuts."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.mechanisms.measure import Grant
from discreet.plan.digits import six_digits
from discreet.plan.measurement import CONFIDENCE, Measurement, covers, drawn_event
from discreet.plan.relation import Exceeding, Totals
from discreet.plan.rules.relations import combined
from discreet.plan.steps.base import Outcome, Step, broken, no_such_outcome
from discreet.plan.totals import ALL_ROWS, Run, combined_totals
from discreet.privacy import Relation, events

if TYPE_CHECKING:
    from discreet.plan.plan import Stage

NAMES = ("people", "beyond")
"""What the counts are called, in their order."""


@dataclass(frozen=True, slots=True)
class Tally(Step):
    """Noisy counts of all people in a question, and of those beyond a limit; what comes next does not depend on them."""

    query: Totals
    measurements: tuple[Measurement, ...]
    more: str
    """What those beyond the limit have, for people: 'more than 12 rows in all'."""

    reliable: int
    """Of fewer people a found limit is poor."""

    then: "Stage | Step"

    @property
    def reads(self) -> Totals:
        return self.query

    @property
    def ways(self) -> tuple[tuple[int, ...], ...]:
        return ((0,) * len(NAMES),)

    def after(self, outcome: Outcome) -> "Stage | Step":
        self._counts(outcome)
        return self.then

    def _counts(self, outcome: Outcome) -> tuple[int, int]:
        if not isinstance(outcome, tuple) or len(outcome) != len(NAMES):
            raise no_such_outcome()
        people, beyond = outcome
        return people, beyond

    def event(self) -> events.Event:
        return drawn_event(self.measurements)

    def check(self, relation: Relation) -> None:
        if not isinstance(self.query.source, Exceeding) or len(self.measurements) != len(NAMES):
            raise broken("people are counted who are beyond nothing, and beyond a limit")
        for each in self.measurements:
            covers(each, combined(each.made, self.query, relation, 1))

    def drawn(self, run: Run, grant: Grant, salt: int) -> tuple[int, ...]:
        adders = [grant.prepare(each.mechanism, each.sensitivity, 1) for each in self.measurements if each.mechanism]
        combinations = [each.made for each in self.measurements]
        exact = combined_totals(combinations, self.query, ALL_ROWS, run(self.query, salt))
        return tuple(int(add(total)[0]) for add, total in zip(adders, exact, strict=True))

    def explained(self) -> str:
        each, price = self.measurements[0], self._price()
        return (
            f"how many people there are, and how many have {self.more}:"
            f" ± {each.error(CONFIDENCE):,} at 95 % each, costs ε = {price}"
        )

    def _price(self) -> str:
        losses = (each.mechanism.loss(each.sensitivity).pure_epsilon() for each in self.measurements if each.mechanism)
        return six_digits(sum(price for price in losses if price is not None))  # type: ignore[arg-type]

    def named(self, outcome: Outcome) -> str:
        people, beyond = self._counts(outcome)
        return f"{people:,} people, {beyond:,} of them with {self.more}"

    def facts(self, outcome: Outcome) -> dict[str, int]:
        return dict(zip(NAMES, self._counts(outcome), strict=True))

    def notes(self, outcome: Outcome) -> tuple[str, ...]:
        people, beyond = self._counts(outcome)
        error = self.measurements[0].error(CONFIDENCE)
        cut = (
            f"about {max(beyond, 0):,} of {max(people, 0):,} people (± {error:,} each) have {self.more}: what is left out of"
            " them is not in the ±"
        )
        if people >= self.reliable:
            return (cut,)
        poor = (
            f"the limit was found with few people for this price, and may be far from the best: declare one, or ask at a higher"
            f" price; from about {self.reliable:,} people on it is good"
        )
        return cut, poor
