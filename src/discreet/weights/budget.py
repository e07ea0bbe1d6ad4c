"""What learning a model costs, fixed before any data is read, and the noise that a share of it buys.

Prices add up, whatever is drawn: ε where there is no δ, and 1/σ² of noise for one unit, which is 2ρ, where there is one. What is drawn in
rounds is granted as ε or ρ, of which each draw takes its part; noise that is fixed up front is granted as Gaussian noise, which is
composed exactly, and costs less.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import NamedTuple

from discreet.errors import Fault
from discreet.exact import Number, positive, probability, sqrt_up
from discreet.mechanisms import Exponential, Geometric, RoundedGaussian
from discreet.mechanisms.additive import IntegerNoise
from discreet.mechanisms.concentrated import ConcentratedExponential
from discreet.mechanisms.measure import Promise
from discreet.privacy import Relation, events, loss
from discreet.privacy.theorems import zcdp_rho

ROOM = Fraction(1_000_000_002, 1_000_000_000)
"""Rounding Gaussian noise to integers costs up to 1 + 1.3e-9 times the sensitivity (`RoundedGaussian`)."""

TRIES = 32

LEAST_DEVIATION = 2.0**-10


class UnitMove(NamedTuple):
    """How far one unit may move a vector: the square of its L2 norm, and its L1 norm."""

    squared: Fraction
    mass: Fraction


class VectorNoise(NamedTuple):
    """VectorNoise on a vector of integers, and the sensitivity that it is drawn for."""

    mechanism: IntegerNoise
    sensitivity: Fraction

    @property
    def deviation(self) -> float:
        """At least what floats can divide by: noise at a huge price is so small that its variance is 0 to them."""
        return max(sqrt(self.mechanism.variance), LEAST_DEVIATION)


@dataclass(frozen=True, slots=True)
class LearningBudget:
    """A price, what is charged for it, and what shares of it buy."""

    promise: Promise
    relation: Relation
    worth: Fraction
    """ε, or 1/σ²."""

    event: events.Event

    @classmethod
    def in_parts(cls, relation: Relation, epsilon: Number, delta: Number) -> "LearningBudget":
        """A price that is drawn in parts of any size, each chosen by what was released before."""
        promise = _promise(epsilon, delta)
        if not promise.delta:
            return cls(promise, relation, promise.epsilon, _under(relation, events.Pure(promise.epsilon)))
        rho = zcdp_rho(promise.epsilon, promise.delta)
        for tries in range(TRIES):
            less = rho * (1 - Fraction(1 << tries, 10**12))  # a certificate is rounded up
            event = _under(relation, events.ZeroConcentrated(less))
            if loss(event).certifies(*promise):
                return cls(promise, relation, 2 * less, event)
        raise Fault("no rho was found for this price", code="weights")

    @classmethod
    def in_shares(
        cls, relation: Relation, epsilon: Number, delta: Number, shares: Sequence[Fraction]
    ) -> "LearningBudget":
        """A price of Gaussian draws of these shares, whose sum is at most 1; each may be of any vector."""
        promise = _promise(epsilon, delta)
        sigma = RoundedGaussian.for_budget(promise.epsilon, promise.delta).scale
        for tries in range(TRIES):
            worth = 1 / sigma**2
            leaves = tuple(events.Gaussian(_scale(share * worth), 1) for share in shares)
            event = _under(relation, events.Composed(leaves))
            if loss(event).certifies(*promise):
                return cls(promise, relation, worth, event)
            sigma *= 1 + Fraction(1 << tries, 10**9)  # bounds are rounded up
        raise Fault("no noise was found for this price", code="weights")

    @property
    def pure(self) -> bool:
        return not self.promise.delta

    def noise(self, share: Fraction, move: UnitMove) -> VectorNoise:
        """The noise that a share buys, for a vector that one unit moves so far."""
        if self.pure:
            return VectorNoise(Geometric(move.mass / (share * self.worth)), move.mass)
        sensitivity = sqrt_up(move.squared)
        return VectorNoise(RoundedGaussian(sensitivity * _scale(share * self.worth) * ROOM), sensitivity)

    def selection(self, share: Fraction, sensitivity: Fraction) -> Exponential:
        """The choice that a share buys, by scores of this sensitivity."""
        if self.pure:
            return Exponential(share * self.worth, sensitivity)
        return ConcentratedExponential.for_rho(share * self.worth / 2, sensitivity)


def _promise(epsilon: Number, delta: Number) -> Promise:
    return Promise(positive(epsilon, "epsilon"), probability(delta, "delta"))


def _under(relation: Relation, event: events.Event) -> events.Under:
    return events.Under(event, relation)


def _scale(worth: Fraction) -> Fraction:
    """The standard deviation for a price of so much, rounded up."""
    return sqrt_up(1 / worth)
