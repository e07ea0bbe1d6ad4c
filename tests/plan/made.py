"""Plans made by hand: which measurements, with which noise, and what is asked of them. No planner has a say in these tests."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction as F
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms import Geometric, RoundedGaussian
from discreet.mechanisms.additive import IntegerNoise
from discreet.plan.combination import Combination
from discreet.plan.measurement import Measurement
from discreet.plan.plan import Plan, Stage
from discreet.plan.question import Aggregate, Output, Question, Sort
from discreet.plan.relation import How, Scan, Term, Totals
from discreet.plan.releases.base import Release
from discreet.plan.releases.mean import AVERAGE, Mean
from discreet.plan.releases.total import COUNT as COUNTS
from discreet.plan.releases.total import SUM as SUMS
from discreet.plan.releases.total import Total
from discreet.plan.scalar import (
    Arithmetic,
    Column,
    Comparison,
    Literal,
    Operator,
    Order,
    Released,
    Scalar,
    Steps,
    Type,
    Value,
)
from discreet.privacy import Adjacency, Relation, Unit, events

Ints = NDArray[np.int64]
RELATION = Relation(Adjacency.ADD_REMOVE, Unit.PERSON)
X, Y = Column("x", Type.NUMBER), Column("y", Type.NUMBER)
OLD = Comparison(Order.GREATER, X, Literal(65, Type.INTEGER))
ONE = Literal(1, Type.INTEGER)

# Each plan measures the same: a count, Σx and Σ(x − 60) with x in 0 … 120, a count of some, Σy in steps of 1/1024.
COUNT, SUM, MEAN, SOME, FINE = (Released(i) for i in range(5))
AGGREGATES = (
    Aggregate(COUNTS, X),
    Aggregate(SUMS, X),
    Aggregate(AVERAGE, X),
    Aggregate(COUNTS, X, OLD),
    Aggregate(SUMS, Y),
)
TERMS = (
    Term(How.SUM, ONE),
    Term(How.SUM, Steps(X, 0.0, 120.0, 0, 0.0)),
    Term(How.SUM, Steps(X, 0.0, 120.0, 0, 60.0)),
    Term(How.SUM, ONE),
    Term(How.SUM, Steps(Y, 0.0, 10.0, 10, 0.0)),
)
STEPS = (F(1), F(1), F(1), F(1), F(1, 1024))
SAID = ("count", "sum", "centred sum", "count", "sum")
RELEASES: tuple[Release, ...] = (Total(0), Total(1), Mean(2, 0, F(60), F(0), F(120)), Total(3), Total(4))

LAPLACE = (Geometric(F(20)), Geometric(F(2400)), Geometric(F(1200)), Geometric(F(20)), Geometric(F(40960)))
GAUSSIAN = tuple(RoundedGaussian(noise.scale) for noise in LAPLACE)
MIXED = (LAPLACE[0], GAUSSIAN[1], GAUSSIAN[2], LAPLACE[3], LAPLACE[4])
TINY = (Geometric(F(1, 2)), Geometric(F(60)), Geometric(F(30)), Geometric(F(1, 2)), Geometric(F(1024)))
PUBLIC_COUNT = (None, *LAPLACE[1:])


def plan_of(
    *outputs: Scalar | Output,
    noises: Sequence[IntegerNoise | None] = LAPLACE,
    groups: int | Sequence[tuple[Value, ...]] = 1,
    key: Type = Type.INTEGER,
    having: Scalar | None = None,
    order: tuple[Sort, ...] = (),
    limit: int | None = None,
    offset: int = 0,
    people: int | None = None,
    notes: tuple[str, ...] = (),
) -> Plan:
    """A plan over groups 0, 1, … with the measurements above."""
    domain = tuple((i,) for i in range(groups)) if isinstance(groups, int) else tuple(groups)
    named = [each if isinstance(each, Output) else Output(f"out{i}", each) for i, each in enumerate(outputs)]
    keys = tuple(Column(f"k{i}", key) for i in range(len(domain[0])))
    measurements = tuple(
        Measurement(noise, F(1) if noise else F(0), step, said, Combination.plain(i))
        for i, (noise, step, said) in enumerate(zip(noises, STEPS, SAID, strict=True))
    )
    drawn = tuple(noise.event(1) for noise in noises if noise is not None)
    scan = Scan("t", (X, Y, *keys))
    return Plan(
        question=Question(scan, keys, AGGREGATES, tuple(named), having, order, limit, offset),
        stage=Stage(Totals(scan, keys, TERMS), domain, measurements, RELEASES),
        relation=RELATION,
        people=people,
        event=events.Under(events.Composed(drawn), RELATION),
        epsilon=F(1),
        delta=F(0),
        notes=notes,
    )


def restaged(plan: Plan, **changes: Any) -> Plan:
    """A plan of one stage, with changes to that."""
    return replace(plan, stage=replace(plan.decided, **changes))


def exact_totals(plan: Plan, count: int, mean: float, some: float = 0.25, fine: float = 2.0) -> tuple[Ints, ...]:
    """The totals of `count` people whose x is `mean` on average, in every group."""
    total = round(count * mean)
    totals = (count, total, total - 60 * count, round(some * count), round(1024 * fine * count))
    return tuple(np.full(len(plan.domain), each, np.int64) for each in totals)


def draw(plan: Plan, exact: Sequence[Ints]) -> tuple[Ints, ...]:
    """What the real mechanisms release."""
    pairs = zip(plan.measurements, exact, strict=True)
    return tuple(totals if each.mechanism is None else each.mechanism(totals) for each, totals in pairs)


def number(value: Any) -> Literal:
    return Literal(value, Type.INTEGER if isinstance(value, int) else Type.NUMBER)


def add(a: Scalar, b: Scalar) -> Scalar:
    return Arithmetic(Operator.ADD, a, b)


def less(a: Scalar, b: Scalar) -> Scalar:
    return Arithmetic(Operator.SUBTRACT, a, b)


def times(a: Scalar, b: Scalar) -> Scalar:
    return Arithmetic(Operator.MULTIPLY, a, b)


def over(a: Scalar, b: Scalar) -> Scalar:
    return Arithmetic(Operator.DIVIDE, a, b)
