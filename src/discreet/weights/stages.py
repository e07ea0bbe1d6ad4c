"""The draws that a model of margins is learned from, and their price: fixed before any data is read.

There are four, and each is one Gaussian vector: several marginals, each times a whole number, its *weight*. A unit is in one cell of each
marginal, so it moves the vector by the root of the sum of squared weights; whichever marginals a draw is of, the weights have a norm
of NORM at most, and the price of the draw does not depend on the choice. So what is measured may be chosen by what earlier draws
have released, while all four compose as Gaussians do: exactly, for the price of one whose μ² is the sum of theirs (Dong, Roth
and Su 2022, corollary 3.3).

A *note* is of what follows from released values alone, and costs nothing. It is kept like every draw, so that whoever enters again goes on
with the choice that was made before, whatever machine it was made on.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, prod, sqrt

import numpy as np

from discreet.cells import CellCounts, Ints
from discreet.errors import Fault, Invalid, Refused
from discreet.exact import Number, positive, probability, round_up, shown, sqrt_up
from discreet.mechanisms import RoundedGaussian
from discreet.mechanisms.measure import Grant, Promise
from discreet.privacy import Relation, events, loss
from discreet.privacy.adjacency import cells_moved
from discreet.weights.factors import Axes
from discreet.weights.model import NoisyMarginal

NORM = 1 << 16
"""The L2 norm of the weights of a draw, at most."""

MARGINS, LOOK, SECOND_LOOK, LAST = Fraction(10, 100), Fraction(7, 100), Fraction(13, 100), Fraction(70, 100)
"""Of μ²: for the attributes alone, a first look at all pairs, a second one, and what is chosen. Simulated: see docs/weights.md."""

EACH = 4
"""How often a note is tried that was lost."""

TRIES = 32


@dataclass(frozen=True, slots=True)
class VectorStage:
    """One draw: noise of a scale on a weighted vector, which a unit moves by this much at most."""

    mechanism: RoundedGaussian
    sensitivity: Fraction

    @property
    def event(self) -> events.Event:
        return self.mechanism.event(self.sensitivity)

    def deviation(self, weight: int) -> float:
        """Of a count of this weight."""
        return sqrt(self.mechanism.variance) / weight


@dataclass(frozen=True, slots=True)
class Stages:
    """All draws, and the (ε, δ) that they keep together."""

    margins: VectorStage
    look: VectorStage
    second: VectorStage
    last: VectorStage
    relation: Relation
    promise: Promise

    @property
    def event(self) -> events.Event:
        """Whatever is drawn, composed: what is charged, and what the grant is for."""
        drawn = (each.event for each in (self.margins, self.look, self.second, self.last))
        return events.Under(events.Composed(tuple(drawn)), self.relation)


def stages_for(relation: Relation, epsilon: Number, delta: Number) -> Stages:
    """The draws that are (ε, δ)-DP together, for a δ above 0."""
    price = Promise(positive(epsilon, "epsilon"), probability(delta, "delta"))
    if not price.delta:
        raise Invalid(
            f"delta must be above 0 for Gaussian noise, got {shown(delta)}",
            hint="a delta far below one over the number of units, such as 1e-9",
        )
    sigma = RoundedGaussian.for_budget(price.epsilon, price.delta, sensitivity=1).scale
    for tries in range(TRIES):
        found = _stages(relation, price, sigma)
        if loss(found.event).certifies(*price):
            return found
        sigma *= 1 + Fraction(1 << tries, 10**9)  # bounds are rounded up
    raise Fault("no noise was found for this price", code="weights")


def _stages(relation: Relation, price: Promise, sigma: Fraction) -> Stages:
    moves = sqrt_up(Fraction(cells_moved(relation))) * NORM

    def stage(share: Fraction) -> VectorStage:
        return VectorStage(RoundedGaussian(round_up(moves * sigma * sqrt_up(1 / share))), moves)

    return Stages(stage(MARGINS), stage(LOOK), stage(SECOND_LOOK), stage(LAST), relation, price)


def weighed_by(scopes: Sequence[Axes], shape: Sequence[int], power: float) -> "Weighed":
    """A weight for each scope, its square about in proportion to the number of cells to this power; their norm is at most NORM.

    The error of c cells of deviation σ is about c·σ. Its sum over scopes is least where 1/σ² is as c^(2/3).
    """
    sizes = np.array([float(prod(shape[axis] for axis in scope)) for scope in scopes]) ** power
    weights = [max(1, floor(NORM * sqrt(size / sizes.sum()))) for size in sizes.tolist()]
    if sum(each * each for each in weights) > NORM * NORM:
        raise Invalid(
            f"{len(scopes):,} marginals are more than one draw can weigh",
            hint="give fewer attributes, or attributes with fewer cells",
        )
    return Weighed(tuple(shape), tuple(scopes), tuple(weights))


@dataclass(frozen=True, slots=True)
class Weighed:
    """Marginals of a domain of some shape, by their axes, with a weight each."""

    shape: tuple[int, ...]
    scopes: tuple[Axes, ...]
    weights: tuple[int, ...]

    def exact(self, cells: CellCounts) -> Ints:
        """The vector of all weighted counts, which one unit moves by the norm of the weights for each cell that it moves."""
        pairs = zip(self.scopes, self.weights, strict=True)
        return np.concatenate([weight * cells.marginal(scope).reshape(-1) for scope, weight in pairs])

    def read(self, released: Ints, stage: VectorStage) -> list[NoisyMarginal]:
        """Such a vector with its noise, as noisy marginals."""
        shapes = [tuple(self.shape[axis] for axis in scope) for scope in self.scopes]
        parts = np.split(released, np.cumsum([prod(each) for each in shapes])[:-1])
        return [
            NoisyMarginal(scope, part.reshape(shape) / weight, stage.deviation(weight))
            for scope, part, shape, weight in zip(self.scopes, parts, shapes, self.weights, strict=True)
        ]


def drawn(grant: Grant, stage: VectorStage, counts: Callable[[], CellCounts], weighed: Weighed) -> list[NoisyMarginal]:
    """Marginals with the noise of a stage; none where the draw was lost, which stays spent."""
    if sum(each * each for each in weighed.weights) > NORM * NORM:
        raise Fault("the weights of a draw are larger than what was granted", code="grant")
    released = _kept(lambda: grant(stage.mechanism, stage.sensitivity, lambda: weighed.exact(counts())))
    return [] if released is None else weighed.read(released, stage)


def noted(grant: Grant, choice: Sequence[int]) -> tuple[int, ...]:
    """A choice that was made by released values alone: this one, or the one that an earlier entry has noted."""
    for _ in range(EACH):
        note = _kept(lambda: grant.note(np.array(choice, np.int64)))
        if note is not None:
            return tuple(int(each) for each in note)
    return tuple(choice)


def _kept(draw: Callable[[], Ints]) -> Ints | None:
    """What a draw released; None where it was lost."""
    try:
        return draw()
    except Refused as refusal:
        if refusal.code != "draw-lost":
            raise
        return None
