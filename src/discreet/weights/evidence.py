"""Evidence: all that was released of a table, as noisy values of linear functions of its cells, put together.

What marginals and residuals say is kept by blocks of the orthonormal basis, where noise is independent; what is said twice of a block is
one value with the precision of both. Other queries are kept one by one.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from math import prod, sqrt

import numpy as np

from discreet.weights.domain import Domain
from discreet.weights.model import Floats, NoisyMarginal
from discreet.weights.transform import Axes, Basis


@dataclass(frozen=True, slots=True, eq=False)
class KnownBlock:
    """The noisy coefficients of a block, in the basis of the whole domain, and their precision: one over the variance of the noise."""

    values: Floats
    precision: float


@dataclass(frozen=True, slots=True, eq=False)
class AskedQuery:
    """The noisy answer of a query, which has a weight for each cell, or broadcasts to that."""

    query: Floats
    value: float
    deviation: float


@dataclass(slots=True)
class Evidence:
    """What is known of a table over a domain."""

    domain: Domain
    blocks: dict[Axes, KnownBlock] = field(default_factory=dict)
    asked: list[AskedQuery] = field(default_factory=list)

    @property
    def total(self) -> float:
        """About how many units there are; at least 1."""
        known = self.blocks.get(())
        return 1.0 if known is None else max(1.0, float(known.values.reshape(-1)[0]) * sqrt(self.domain.size))

    def learn(self, axes: Axes, inside: Axes, coefficients: Floats, deviation: float) -> None:
        """Take in the block of attributes `inside`, as it is in the basis of the marginal of `axes`, with noise of a deviation on each."""
        others = self.domain.size / prod(self.domain.shape[axis] for axis in axes)
        shape = tuple(self.domain.shape[axis] - 1 if axis in inside else 1 for axis in range(len(self.domain.shape)))
        new = KnownBlock(coefficients.reshape(shape) / sqrt(others), others / deviation**2)
        old = self.blocks.get(inside)
        self.blocks[inside] = new if old is None else _both(old, new)

    def learn_marginal(self, axes: Axes, values: Floats, deviation: float) -> None:
        """Take in a whole marginal, whose axes rise."""
        basis = Basis(tuple(self.domain.shape[axis] for axis in axes))
        coefficients = basis.coefficients(values)
        several = [place for place, axis in enumerate(axes) if self.domain.shape[axis] > 1]
        for count in range(len(several) + 1):
            for places in combinations(several, count):
                self.learn(axes, tuple(axes[place] for place in places), coefficients[basis.block(places)], deviation)

    def marginals(self, targets: list[Axes]) -> Iterator[NoisyMarginal]:
        """The noisy counts of those marginals of which every block is known, about the deviation of each count, and of sums."""
        for axes in targets:
            lengths = tuple(self.domain.shape[axis] for axis in axes)
            several = [place for place, length in enumerate(lengths) if length > 1]
            sets = [places for count in range(len(several) + 1) for places in combinations(several, count)]
            if all(tuple(axes[place] for place in places) in self.blocks for places in sets):
                yield self._marginal(axes, lengths, sets)

    def _marginal(self, axes: Axes, lengths: tuple[int, ...], sets: list[tuple[int, ...]]) -> NoisyMarginal:
        basis, others = Basis(lengths), self.domain.size / prod(lengths)
        coefficients, variance, most = np.zeros(lengths), 0.0, 0.0
        for places in sets:
            known = self.blocks[tuple(axes[place] for place in places)]
            inside = basis.block(places)
            coefficients[inside] = known.values.reshape(coefficients[inside].shape) * sqrt(others)
            variance += known.values.size * others / known.precision
            most = max(most, others / known.precision)
        # in the basis coefficients have noise of their own, so no sum of squares 1 has more than the noisiest of them
        return NoisyMarginal(axes, basis.cells(coefficients), sqrt(variance / prod(lengths)), sqrt(most))


def _both(old: KnownBlock, new: KnownBlock) -> KnownBlock:
    """Two measurements as one, each as important as it is precise: the least variance."""
    precision = old.precision + new.precision
    return KnownBlock((old.values * old.precision + new.values * new.precision) / precision, precision)
