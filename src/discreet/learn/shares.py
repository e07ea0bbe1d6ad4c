"""Several draws within one promise: the noise of each comes from its share of the whole, and what they cost together from their noise."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from discreet.exact import Number, nonnegative, positive, sqrt_up
from discreet.learn.columns_given import listed
from discreet.learn.people import unit_of, used_rows
from discreet.learn.rows import Batch
from discreet.learn.training_plan import GradientNoise, TrainingPlan, drawable
from discreet.mechanisms.additive import IntegerNoise
from discreet.mechanisms.gaussian import RoundedGaussian
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.measure import Promise
from discreet.privacy import Adjacency, Relation, Unit, calibrate, events, loss

ROWS = Relation(Adjacency.ADD_REMOVE, Unit.ROW)
"""Rows that come or go."""


def one_row_each(ids: Any, adjacency: Adjacency | str, rows: int) -> tuple[Relation, Batch]:
    """Who is protected, each row or with ids each person, and the rows that are used: of a person one, by a priority."""
    people = None if ids is None else listed(ids, "ids")
    unit = unit_of(people, None, rows)
    plan = TrainingPlan(epsilon=1, steps=1, people=1, person=unit, adjacency=adjacency)
    return plan.relation, used_rows(people, unit)[0]


class Part(NamedTuple):
    """A draw before its noise is known: its share of the whole, and the largest norm of what one unit adds to its integers."""

    share: Fraction
    most: int


class Draw(NamedTuple):
    """A draw: its noise, and how far one unit moves its integers."""

    noise: IntegerNoise
    sensitivity: int


@dataclass(frozen=True, slots=True)
class DrawShares:
    """The draws of a promise. With a delta above 0 norms are L2 and the noise is Gaussian, else L1 and geometric.

    For any parts the draws together are (epsilon, delta)-DP under the relation: of Gaussian noise the squares of sensitivity over scale
    add up (Dong, Roth and Su 2022, corollary 3.3), of geometric noise sensitivity over scale does; the sum is that of one draw which
    keeps the promise. A unit that is replaced takes away what it added and adds as much, which moves a sum by twice the norm.

    >>> shares = DrawShares.of(1, 1e-5, [Part(Fraction(1, 4), 10), Part(Fraction(3, 4), 1)])
    >>> [round(float(each.noise.scale / each.sensitivity), 4) for each in shares.draws], loss(shares.event).certifies(1, 1e-5)
    ([7.4613, 4.3078], True)
    """

    epsilon: Fraction
    delta: Fraction
    relation: Relation
    draws: tuple[Draw, ...]

    @classmethod
    def of(cls, epsilon: Number, delta: Number, parts: Sequence[Part], relation: Relation = ROWS) -> "DrawShares":
        """The least noise for parts in proportion to their shares."""
        price, small = positive(epsilon, "epsilon"), nonnegative(delta, "delta")
        total = sum((each.share for each in parts), Fraction(0))
        times = 2 if relation.adjacency is Adjacency.REPLACE else 1
        scale = calibrate.gaussian(price, small).scale if small else 1 / price
        while True:
            draws = tuple(
                Draw(drawable(_noise(scale, each.share / total, times * each.most, bool(small))), times * each.most)
                for each in parts
            )
            found = cls(price, small, relation, draws)
            if loss(found.event).certifies(price, small):
                return found
            scale *= 1 + Fraction(1, 10**9)  # for roots that were rounded, and for noise that was: some parts in 10^18

    @property
    def shape(self) -> GradientNoise:
        """The noise, and so the norm of what is summed."""
        return GradientNoise.GAUSSIAN if self.delta else GradientNoise.LAPLACE

    @property
    def event(self) -> events.Event:
        """What is drawn in all, computed from the noise itself."""
        return events.Under(
            events.Composed(tuple(each.noise.event(each.sensitivity) for each in self.draws)), self.relation
        )

    @property
    def promise(self) -> Promise:
        """What the event is certified to keep, and what is charged."""
        return Promise(self.epsilon, self.delta)


def _noise(scale: Fraction, share: Fraction, sensitivity: int, gaussian: bool) -> IntegerNoise:
    if gaussian:
        return RoundedGaussian(scale * sensitivity * sqrt_up(1 / share))
    return Geometric(scale * sensitivity / share)
