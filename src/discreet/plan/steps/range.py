"""How a range is found that nobody declared: between the first rungs of a public ladder, from either side, that few people are beyond.

For each rung it is known how many people have a value above it. The sparse vector technique goes up the ladder from below, and stops at the
first rung whose noisy number is at most a few: that is the upper end. The lower end is found from above, by how many people have a value
below a rung. A search that goes *towards* where nobody is passes the end only if it misses rung after rung; one that came from there would
have a chance to stop too early at each of them.

The range is of an argument as it is asked for, such as cost or cost / days, and not of its columns: so it is as narrow as the argument is,
and what is divided by need not be known to be other than 0. It is what aggregates clamp the argument to, and nothing else knows of it.

**Its price.** Whoever has a value above a rung has one above all lower rungs. So a person's numbers are ones up to the last rung that they
have a value above, and zeros from there on: whoever is added or removed moves all numbers in one direction, by one at most, and so does
whoever is replaced, since of two such rows of ones one is the longer. The scores of each search are monotone, and noise of 1/(sε) on the
threshold and of 1/((1 − s)ε) on each score is ε-DP (Lyu, Su and Li 2017, theorem 5); the two searches add up. That is so where all
conditions compare one and the same scalar with rungs in their order, and `check` asks for it.

Too many pairs of ends are there to be listed: what follows is checked for the widest and for a narrow one, and checked again once the ends
are known, before it is run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from discreet.mechanisms import AboveThreshold
from discreet.mechanisms.measure import Grant
from discreet.plan.combination import Combination
from discreet.plan.digits import six_digits
from discreet.plan.range import FoundRange, between
from discreet.plan.relation import Contributions, How, Rows, Term, Totals, keys_of, terms_of
from discreet.plan.rules.relations import combined
from discreet.plan.scalar import Comparison, Indicator, Literal, Order, Scalar, Type
from discreet.plan.steps.base import Outcome, Step, broken, no_such_outcome
from discreet.plan.totals import Run, one_group
from discreet.privacy import Relation, events

if TYPE_CHECKING:
    from discreet.plan.plan import Stage

EXAMPLES = (1_024, 16, 65_536, 1_048_576)
"""Upper ends whose ± is told before a range is found, from 0; the first one alone where one is enough."""

ONE = Fraction(1)
"""How far a neighbour moves each of the numbers."""

REMEMBERED = 4
"""Of so many outcomes it is remembered what follows."""


class AfterEnds(Protocol):
    """What comes after a range was found, for any of them."""

    def filled(self, span: FoundRange) -> "Stage | Step":
        """The rest of the plan, for this range."""


def beyond(argument: Scalar, rungs: Sequence[float], how: How) -> tuple[Term, ...]:
    """The terms that count who is above each rung but the last, from below, and who is below each but the first, from above."""
    above = [(Order.GREATER, rung) for rung in rungs[:-1]]
    below = [(Order.LESS, rung) for rung in reversed(rungs[1:])]
    return tuple(Term(how, Indicator(Comparison(order, argument, _literal(rung)))) for order, rung in (*above, *below))


def _literal(rung: float) -> Literal:
    return Literal(rung, Type.INTEGER if isinstance(rung, int) else Type.NUMBER)


@dataclass(frozen=True, slots=True)
class FindRange(Step):
    """The two ends of the range of one argument. An outcome is the places of the lower and of the upper end on the ladder."""

    query: Totals
    argument: Scalar
    name: str
    """What it is that has a range, as it was asked."""

    rungs: tuple[float, ...]
    mechanism: AboveThreshold
    """Of each of the two searches."""

    people: str
    """Who may be beyond an end, for people."""

    then: AfterEnds
    made: list[tuple[Outcome, "Stage | Step"]] = field(default_factory=list, compare=False, repr=False)
    """What was made for outcomes: a plan asks for its next stage again and again."""

    @property
    def reads(self) -> Totals:
        return self.query

    @property
    def ways(self) -> tuple[Outcome, ...]:
        """The widest range, of which sums have most steps, and the one that stands for none."""
        last = len(self.rungs) - 1
        return (0, last), (last, 0)

    @property
    def examples(self) -> tuple[Outcome, ...]:
        ends = [self.rungs.index(end) for end in EXAMPLES if end in self.rungs] or [len(self.rungs) - 1]
        return tuple((self._zero, end) for end in ends)

    @property
    def listed(self) -> bool:
        return False

    @property
    def _zero(self) -> int:
        """The place of 0, or of the lowest rung where that is not one."""
        return self.rungs.index(0) if 0 in self.rungs else 0

    def after(self, outcome: Outcome) -> "Stage | Step":
        for known, following in self.made:
            if known == outcome:
                return following
        following = self.then.filled(self.range_of(outcome))
        self.made.append((outcome, following))
        del self.made[:-REMEMBERED]
        return following

    def _places(self, outcome: Outcome) -> tuple[int, int]:
        if not isinstance(outcome, tuple) or len(outcome) != 2:
            raise no_such_outcome()
        for each in outcome:
            if type(each) is not int or not 0 <= each < len(self.rungs):
                raise no_such_outcome()
        low, high = outcome
        return low, high

    def range_of(self, outcome: Outcome) -> FoundRange:
        """The range between two ends. Where both are one rung it goes on to the next one, so that it has a width; where they have passed
        each other, as they do of hardly anybody, it is from 0 to the next rung: a small one, for what has noise alone."""
        low, high = self._places(outcome)
        if low > high:
            low = high = self._zero
        if low == high:
            low, high = (low, high + 1) if high + 1 < len(self.rungs) else (low - 1, high)
        return FoundRange(self.argument, Fraction(self.rungs[low]), Fraction(self.rungs[high]))

    def event(self) -> events.Event:
        return events.Composed((self.mechanism.event(ONE), self.mechanism.event(ONE)))

    def check(self, relation: Relation) -> None:
        if not isinstance(self.mechanism, AboveThreshold) or self.mechanism.hits != 1:
            raise broken("a search ends with the first rung that is found")
        if len(self.rungs) < 2 or any(low >= high for low, high in zip(self.rungs, self.rungs[1:], strict=False)):
            raise broken("a ladder goes up")
        source = self.query.source
        how = How.SUM if isinstance(source, Rows) else How.ANY
        if not isinstance(source, Rows | Contributions) or keys_of(self.query):
            raise broken("the ends of a range are found of rows, or of all rows of people, without groups")
        if terms_of(self.query) != beyond(self.argument, self.rungs, how):
            raise broken(
                "a range is found by how many are beyond each rung, in the order of the ladder, of one and the same argument"
            )
        moved = (combined(each, self.query, relation, 1).l1 for each in self._scores)
        if max(moved) > self.mechanism.sensitivity:
            raise broken("a neighbour can change a score by more than its search is made for")

    @property
    def _scores(self) -> list[Combination]:
        return [Combination.plain(i) for i in range(len(terms_of(self.query)))]

    def drawn(self, run: Run, grant: Grant, salt: int) -> tuple[int, int]:
        last, scores = len(self.rungs) - 1, one_group(self._scores, self.query, run(self.query, salt))
        high = self._first(grant, scores[:last])
        low = last - self._first(grant, scores[last:])
        return low, high

    def _first(self, grant: Grant, scores: Sequence[int]) -> int:
        """The place of the first score that is few at most, behind the last one where none is; scores are turned for that."""
        hits = np.flatnonzero(grant(self.mechanism, ONE, lambda: [-score for score in scores]))
        return int(hits[0]) if hits.size else len(scores)

    @property
    def few(self) -> int:
        """About so many people are beyond an end."""
        return -self.mechanism.threshold

    def explained(self) -> str:
        return (
            f"{self.name}: its range, each end on a ladder of {len(self.rungs)} rungs from {between(self.rungs[0], self.rungs[-1])},"
            f" beyond which about {self.few:,} {self.people} may be, costs ε = {six_digits(2 * self.mechanism.epsilon)}"
        )

    def supposed(self, outcome: Outcome) -> str:
        return f"if it is {self.named(outcome)}, for example"

    def named(self, outcome: Outcome) -> str:
        span = self.range_of(outcome)
        return f"{self.name} from {between(span.low, span.high)}"

    def facts(self, outcome: Outcome) -> Mapping[str, Any]:
        span = self.range_of(outcome)
        return {"ranges": {self.name: [_plain(span.low), _plain(span.high)]}}

    def ahead(self) -> tuple[str, ...]:
        return (
            f"{self.name}: it is clamped to a range beyond which about {self.few:,} {self.people} may be at each end",
        )

    def notes(self, outcome: Outcome) -> tuple[str, ...]:
        span, (low, high) = self.range_of(outcome), self._places(outcome)
        clamped = f"{self.name} is clamped to {between(span.low, span.high)}: found for this question"
        if low > high:
            poor = f"; that stands for none: more than about {2 * self.few:,} {self.people} with a value are needed for a range"
            return (f"{clamped}{poor} at this price, declare bounds, or ask at a higher one",)
        told = f"{clamped}, about {self.few:,} {self.people} may be beyond each end, and what is cut of them is not in the ±"
        if low == 0 or high == len(self.rungs) - 1:
            told += "; an end is that of the ladder, which happens now and then by chance: declare bounds, or ask at another price"
        return (told,)


def _plain(end: Fraction) -> int | float:
    return int(end) if end.denominator == 1 else float(end)
