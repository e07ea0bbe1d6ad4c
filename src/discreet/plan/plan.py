"""A finished plan: what will be counted exactly, with which noise, at which price, and how the answer is made of it.

A plan depends on the question and on what is declared, never on the data: two data sets with one catalog have byte-equal plans.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.mechanisms.additive import IntegerNoise
from discreet.plan.combination import Combination
from discreet.plan.question import Question
from discreet.plan.relation import CapRows, Contributions, Term, Totals, parts
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


def terms_of(query: Totals) -> tuple[Term, ...]:
    """The terms of a query, in the order of the totals that an engine returns."""
    gathered = [part for part in parts(query) if isinstance(part, Contributions)]
    return gathered[0].terms if gathered else query.terms


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that is decided before data is touched."""

    question: Question
    query: Totals
    domain: tuple[tuple[Value, ...], ...]
    """The groups of the answer, all public; one empty tuple where there are no keys."""

    measurements: tuple[Measurement, ...]
    releases: tuple["Release", ...]
    """One for each aggregate of the question, in its order."""

    relation: Relation
    people: int | None
    """How many there are, as declared."""

    event: events.Event
    epsilon: Fraction
    delta: Fraction
    notes: tuple[str, ...]
    """Caps, bounds and rules that applied: properties of the question."""

    assumed: tuple[str, ...] = ()
    """What limits leave out that nobody declared: said first, and no part of the plan's name."""

    @property
    def terms(self) -> tuple[Term, ...]:
        """The terms of the query, in the order of the totals that an engine returns."""
        return terms_of(self.query)

    @property
    def most_rows(self) -> int:
        """How many rows may count in a group, by the number of people that was declared; 0 where none was."""
        caps = [part.most for part in parts(self.query) if isinstance(part, CapRows)]
        return (self.people or 0) * (caps[0] if caps else 1)
