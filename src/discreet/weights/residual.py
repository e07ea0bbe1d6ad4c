"""Residuals: what the marginal of some attributes says beyond the marginals of fewer of them, as integers.

All residuals of the sets inside of a workload tell all of its marginals, and each is measured once: that is the least that Gaussian noise
costs (Barak et al. 2007 for binary attributes; Xiao, He, Zhang and Kifer 2023, ResidualPlanner, for any).

Along an attribute of m cells a residual is m times the counts, less their sum; along a binary one it is one number, the first count less
the second. Added or removed, a unit moves it by a vector whose squared norm is the product of m·(m − 1), of 1 for two cells. A unit that is
replaced moves it by the difference of two such vectors. Their inner product is the product of the same numbers, each times −1/(m − 1) where
both units differ in the attribute.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import gcd, prod, sqrt

import numpy as np

from discreet.cells import Ints
from discreet.exact import sqrt_up
from discreet.privacy import Relation
from discreet.privacy.adjacency import cells_moved
from discreet.weights.domain import Domain
from discreet.weights.model import Floats
from discreet.weights.transform import Axes, Basis, marginals

FINE = 1 << 12
"""Steps of the least weight of a residual in a draw, where there is room: weights are integers, and wrong by less than this part."""

MOST_STEPS = 1 << 24
"""What one unit adds to a number of a vector, at most: so that of 2^38 units, as many as a table has at most, every sum is below 2^62."""


@dataclass(frozen=True, slots=True)
class Residual:
    """The residual of a set of attributes, none of which has one cell only; of no attributes it is the number of units."""

    axes: Axes
    lengths: tuple[int, ...]

    @property
    def square(self) -> int:
        """The squared L2 norm of what one unit adds."""
        return prod(1 if m == 2 else m * (m - 1) for m in self.lengths)

    @property
    def sum(self) -> int:
        """The L1 norm of what one unit adds."""
        return prod(1 if m == 2 else 2 * (m - 1) for m in self.lengths)

    @property
    def divisor(self) -> float:
        """A coefficient of the marginal, in its orthonormal basis, is a coefficient of the residual divided by this."""
        return prod(sqrt(2) if m == 2 else m for m in self.lengths)

    @property
    def freedom(self) -> int:
        """How many coefficients there are."""
        return prod(m - 1 for m in self.lengths)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(1 if m == 2 else m for m in self.lengths)

    def of(self, marginal: Ints) -> Ints:
        """The residual of a marginal of exact counts, exactly."""
        for axis, m in enumerate(self.lengths):
            if m == 2:
                marginal = -np.diff(marginal, axis=axis)
            else:
                marginal = m * marginal - marginal.sum(axis=axis, keepdims=True)
        return marginal

    def coefficients(self, residual: Floats) -> Floats:
        """What a noisy residual says of the marginal's coefficients, in its orthonormal basis: the noise on each is divided alike."""
        basis = Basis(self.shape)
        inside = tuple(slice(0, 1) if m == 2 else slice(1, None) for m in self.lengths)
        out: Floats = basis.coefficients(residual.reshape(self.shape))[inside] / self.divisor
        return out


def closure(domain: Domain, targets: Sequence[Axes]) -> tuple[Residual, ...]:
    """The residuals of all sets inside of the targets, fewer attributes first; none of attributes with one cell only."""
    sets = {
        inside
        for axes in targets
        for count in range(len(axes) + 1)
        for inside in combinations([axis for axis in axes if domain.shape[axis] > 1], count)
    }
    return tuple(
        Residual(axes, tuple(domain.shape[axis] for axis in axes))
        for axes in sorted(sets, key=lambda each: (len(each), each))
    )


@dataclass(frozen=True, slots=True)
class ResidualDraw:
    """Several residuals, each times a weight, as one vector of integers."""

    residuals: tuple[Residual, ...]
    weights: tuple[int, ...]

    @classmethod
    def of_precisions(cls, residuals: Sequence[Residual], precisions: Floats) -> "ResidualDraw":
        """Weights such that the coefficients of each residual are about as precise as asked, relative to others; 0: it is left out."""
        taken = [
            (each, sqrt(want) / each.divisor) for each, want in zip(residuals, precisions, strict=True) if want > 0
        ]
        least = min(weight for _, weight in taken)
        most = max(weight * prod(each.shape) for each, weight in taken) / least
        fine = min(FINE, MOST_STEPS / most)
        steps = [max(1, int(fine * weight / least)) for _, weight in taken]
        common = gcd(*steps)  # of one residual, or several alike, the weight is 1
        return cls(tuple(each for each, _ in taken), tuple(step // common for step in steps))

    def squared(self, relation: Relation) -> Fraction:
        """A bound of the squared L2 norm by which one unit moves the vector; exact where units are added and removed."""
        alone = sum(weight**2 * each.square for each, weight in zip(self.residuals, self.weights, strict=True))
        if cells_moved(relation) == 1:
            return Fraction(alone)
        return 2 * alone - 2 * _least_product(self)

    def norm(self, relation: Relation) -> Fraction:
        """A bound of the L2 norm by which one unit moves the vector."""
        return sqrt_up(self.squared(relation))

    def mass(self, relation: Relation) -> Fraction:
        """A bound of the L1 norm by which one unit moves the vector."""
        alone = sum(weight * each.sum for each, weight in zip(self.residuals, self.weights, strict=True))
        return Fraction(cells_moved(relation) * alone)

    def exact(self, cells: Ints) -> Ints:
        """The vector, from the exact counts of all cells."""
        sums = dict(marginals(cells, [each.axes for each in self.residuals]))
        pairs = zip(self.residuals, self.weights, strict=True)
        return np.concatenate([weight * each.of(sums[each.axes]).reshape(-1) for each, weight in pairs])

    def deviations(self, deviation: float) -> Iterator[tuple[Residual, float]]:
        """What noise of a deviation on the vector does to the coefficients of each residual, in the basis of its marginal."""
        for each, weight in zip(self.residuals, self.weights, strict=True):
            yield each, deviation / (weight * each.divisor)

    def parts(self, vector: Ints, deviation: float) -> Iterator[tuple[Residual, Floats, float]]:
        """The coefficients of each residual in the basis of its marginal, and their deviation."""
        begin = 0
        for (each, spread), weight in zip(self.deviations(deviation), self.weights, strict=True):
            end = begin + prod(each.shape)
            yield each, each.coefficients(vector[begin:end] / weight), spread
            begin = end


def _least_product(draw: ResidualDraw) -> Fraction:
    """A lower bound of the inner product of what two units add, over all sets of attributes in which they differ.

    For every such set S it is Σ weight²·square·Π_{i in S} −1/(m_i − 1), a transform along each attribute. Each of at most 22
    steps in floats is wrong by less than 2^-50 of the sum of sizes; 2^-40 of it is taken off.
    """
    axes = sorted({axis for each in draw.residuals for axis in each.axes})
    length = {axis: m for each in draw.residuals for axis, m in zip(each.axes, each.lengths, strict=True)}
    sums = np.zeros((2,) * len(axes))
    for each, weight in zip(draw.residuals, draw.weights, strict=True):
        sums[tuple(int(axis in each.axes) for axis in axes)] = weight**2 * each.square
    size = float(sums.sum())
    for place, axis in enumerate(axes):
        without, inside = np.moveaxis(sums, place, 0)
        sums = np.stack([without + inside, without - inside / (length[axis] - 1)], axis=place)
    return Fraction(float(sums.min())) - Fraction(size) / 2**40


def importance(residuals: Sequence[Residual], targets: Sequence[Axes]) -> Floats:
    """What the variance of a residual's coefficients weighs in the squared L1 errors of all target marginals together."""
    sets = [frozenset(axes) for axes in targets]
    return np.array(
        [sum(set(each.axes) <= axes for axes in sets) * prod(m * (m - 1) for m in each.lengths) for each in residuals],
        np.float64,
    )


def weighed(residuals: Sequence[Residual], worth: Floats, known: Floats, budget: float) -> Floats:
    """The precisions x >= 0 that minimise Σ worth/(known + x), where Σ x·Π(1 − 1/m) is the budget.

    The least is where x = √(worth/price)·t − known, or 0 where that is negative, for one t: with nothing known, the optimum of
    ResidualPlanner.
    """
    price = np.array([prod(1 - 1 / m for m in each.lengths) for each in residuals])
    slope = np.sqrt(worth / price)

    def precisions(t: float) -> Floats:
        above: Floats = np.maximum(0.0, slope * t - known)
        return above

    return precisions(_solved(lambda t: float((precisions(t) * price).sum()), budget))


def weighed_by_sums(residuals: Sequence[Residual], worth: Floats) -> Floats:
    """The precisions, up to a factor, that minimise Σ worth/x, where noise is paid for by L1 norms.

    A weight w costs w·sum and makes x = (w·divisor)²; the least is where w³ is in proportion to worth/(divisor²·sum).
    """
    sums = np.array([each.sum for each in residuals], np.float64)
    squares = np.array([each.divisor**2 for each in residuals])
    return np.asarray(squares * np.cbrt(worth / (squares * sums)) ** 2)


def _solved(rising: Callable[[float], float], value: float) -> float:
    """Where a rising function that begins at 0 has a value; a little above, so that something is bought."""
    low, high = 0.0, 1e-12
    while rising(high) < value:
        high *= 4
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < value else (low, middle)
    return high
