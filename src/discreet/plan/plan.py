"""A finished plan: what will be counted exactly, with which noise, at which price, and how the answer is made of it.

A plan depends on the question and on what is declared, never on the data: two data sets with one catalog have byte-equal plans.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from discreet.mechanisms.additive import IntegerNoise
from discreet.plan.question import Question
from discreet.plan.relation import Totals
from discreet.plan.scalar import Value
from discreet.privacy import Relation, events


@dataclass(frozen=True, slots=True)
class Measurement:
    """One term of the query, released with noise for every group at once.

    `sensitivity` is of the vector over all groups, in steps: L1 for geometric noise, L2 for Gaussian noise. `step` is what one step
    is worth. No mechanism: the sensitivity is 0, and the term is public.
    """

    mechanism: IntegerNoise | None
    sensitivity: Fraction
    step: Fraction
    said: str  # what is measured, for people


@dataclass(frozen=True, slots=True)
class Total:
    """A count or a sum: step · released."""

    measurement: int


@dataclass(frozen=True, slots=True)
class Mean:
    """middle + step · released sum/released count, clamped to [low, high]; the middle where the count is not positive."""

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
    measurements: tuple[Measurement, ...]  # one for each term of the query, in its order
    statistics: tuple[Statistic, ...]  # one for each aggregate of the question, in its order
    relation: Relation
    people: int | None  # declared
    event: events.Event
    epsilon: Fraction
    delta: Fraction
    notes: tuple[str, ...]  # caps, bounds and rules that applied: properties of the question
