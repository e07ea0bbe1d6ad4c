"""How a limit is found that nobody declared: the first rung of a public ladder that few people are beyond.

For each rung it is known how many people have more than that many rows (or groups) in the question. The sparse vector technique goes up
the ladder, and stops at the first rung whose noisy number is at most a few.

**Its price.** A person who is added or removed raises, or lowers, the numbers of the rungs that they are beyond by one; whoever is
replaced by somebody with more raises those in between by one. So under either relation all numbers move by at most one, and in one
direction: the scores are monotone, and noise of 1/(sε) on the threshold and of 1/((1 − s)ε) on each score is ε-DP for any s (Lyu, Su and
Li 2017, theorem 5). That is so for `Exceeding` alone, and `check` asks for it.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.mechanisms import AboveThreshold
from discreet.mechanisms.measure import Grant
from discreet.plan.combination import Combination
from discreet.plan.digits import six_digits
from discreet.plan.ladder import TOP, nearest
from discreet.plan.relation import Exceeding, Extent, Totals, terms_of
from discreet.plan.rules.relations import combined
from discreet.plan.steps.base import Outcome, Step, broken, no_such_outcome
from discreet.plan.totals import Run, one_group
from discreet.privacy import Relation, events

if TYPE_CHECKING:
    from discreet.plan.plan import Stage

EXAMPLES = (10, 1, 100, 1000)
"""The limits that are given as examples, or the rungs next to them; the first one alone where one is enough."""

ONE = Fraction(1)
"""How far a neighbour moves each of the numbers."""


SHARE = Fraction(2, 3)
"""Of the price, for the threshold's noise: with a half five times as many searches run far beyond what anybody has. Figures are in
docs/limits.md."""


def searching(epsilon: Fraction, few: int) -> AboveThreshold:
    """The search for the first number that is `few` at most: numbers are turned, so that it is the first one *above* −few."""
    return AboveThreshold(epsilon, -few, hits=1, sensitivity=1, monotone=True, share=SHARE)


@dataclass(frozen=True, slots=True)
class Search(Step):
    """A limit that is found on a ladder from below. `stages` has what comes next for each rung; the last one is not tested."""

    query: Totals
    limit: str
    """The name of the limit."""

    rungs: tuple[int, ...]
    mechanism: AboveThreshold
    stages: "tuple[Stage | Step, ...]"

    @property
    def reads(self) -> Totals:
        return self.query

    @property
    def ways(self) -> range:
        return range(len(self.rungs))

    @property
    def examples(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(nearest(self.rungs, each) for each in EXAMPLES))

    def after(self, outcome: Outcome) -> "Stage | Step":
        return self.stages[self._place(outcome)]

    def _place(self, outcome: Outcome) -> int:
        if not isinstance(outcome, int) or not 0 <= outcome < len(self.rungs):
            raise no_such_outcome()
        return outcome

    def event(self) -> events.Event:
        return self.mechanism.event(ONE)

    def check(self, relation: Relation) -> None:
        counted = self.query.source
        if not isinstance(counted, Exceeding) or counted.rungs != self.rungs[:-1] or not counted.rungs:
            raise broken("a limit is found by how many people are beyond each rung but the last")
        if list(self.rungs) != sorted(set(self.rungs)) or len(self.stages) != len(self.rungs):
            raise broken("a ladder goes up, and each rung leads somewhere")
        if not isinstance(self.mechanism, AboveThreshold) or self.mechanism.hits != 1:
            raise broken("a search ends with the first rung that is found")
        # all terms of such a query are alike
        if combined(Combination.plain(0), self.query, relation, 1).l1 > self.mechanism.sensitivity:
            raise broken("a neighbour can change a score by more than its search is made for")

    @property
    def _scores(self) -> list[Combination]:
        return [Combination.plain(i) for i in range(len(terms_of(self.query)))]

    def drawn(self, run: Run, grant: Grant, salt: int) -> int:
        above = grant(
            self.mechanism,
            ONE,
            lambda: [-beyond for beyond in one_group(self._scores, self.query, run(self.query, salt))],
        )
        hits = np.flatnonzero(above)
        return int(hits[0]) if hits.size else len(self.rungs) - 1

    def explained(self) -> str:
        what = {Extent.ROWS: "rows", Extent.ROWS_IN_A_GROUP: "rows in a group", Extent.GROUPS: "groups"}
        extent = self.query.source.extent if isinstance(self.query.source, Exceeding) else Extent.ROWS
        return (
            f"{self.limit}: the first of {len(self.rungs)} limits, from {self.rungs[0]:,} to {self.rungs[-1]:,} {what[extent]},"
            f" that few people are beyond, costs ε = {six_digits(self.mechanism.epsilon)}"
        )

    def named(self, outcome: Outcome) -> str:
        return f"{self.rungs[self._place(outcome)]:,}"

    def notes(self, outcome: Outcome) -> tuple[str, ...]:
        """What is to be known where no rung was found below a top that is far beyond what people usually have."""
        if self._place(outcome) < len(self.rungs) - 1 or self.rungs[-1] < TOP:
            return ()
        return (
            f"no limit was found below {TOP:,}, the top of the ladder, which happens now and then by chance: the noise is"
            f" far larger than it need be; declare {self.limit}, or ask at another price",
        )

    def facts(self, outcome: Outcome) -> dict[str, int]:
        return {self.limit: self.rungs[self._place(outcome)]}
