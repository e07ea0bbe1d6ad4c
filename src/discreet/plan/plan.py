"""A finished plan: what will be counted exactly, with which noise, at which price, and how the answer is made of it.

A plan depends on the question and on what is declared, never on the data: two data sets with one catalog have byte-equal plans.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from discreet.mechanisms.additive import IntegerNoise
from discreet.plan.combination import Combination
from discreet.plan.question import Question
from discreet.plan.relation import Contributions, Term, Totals, parts
from discreet.plan.scalar import Value
from discreet.privacy import Relation, events


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
    said: str  # what is measured, for people
    made: Combination
    rounding: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class Total:
    """A count or a sum: step · released."""

    measurement: int


@dataclass(frozen=True, slots=True)
class Mean:
    """middle + step · released sum/released count, clamped to [low, high]; NULL where the count cannot be told from 0."""

    total: int
    count: int
    middle: Fraction
    low: Fraction
    high: Fraction


@dataclass(frozen=True, slots=True)
class Shifted:
    """A sum that is asked for beside its mean: step · released sum + middle · released count, at no price of its own."""

    total: int
    count: int
    middle: Fraction


Statistic: TypeAlias = Total | Mean | Shifted


def terms_of(query: Totals) -> tuple[Term, ...]:
    """The terms of a query, in the order of the totals that an engine returns."""
    gathered = [part for part in parts(query) if isinstance(part, Contributions)]
    return gathered[0].terms if gathered else query.terms


def measurements_of(statistic: Statistic) -> tuple[int, ...]:
    """The places of the measurements that a statistic is made of."""
    return (statistic.measurement,) if isinstance(statistic, Total) else (statistic.total, statistic.count)


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that is decided before data is touched."""

    question: Question
    query: Totals
    domain: tuple[
        tuple[Value, ...], ...
    ]  # the groups of the answer, all public; one empty tuple where there are no keys
    measurements: tuple[Measurement, ...]
    statistics: tuple[Statistic, ...]  # one for each aggregate of the question, in its order
    relation: Relation
    people: int | None  # declared
    event: events.Event
    epsilon: Fraction
    delta: Fraction
    notes: tuple[str, ...]  # caps, bounds and rules that applied: properties of the question
    assumed: tuple[
        str, ...
    ] = ()  # what limits leave out that nobody declared, and what a missing δ costs: said first, and no part of the plan's name
