"""A histogram of all cells, held as one array: what it expects of questions, and how it learns the answer to one."""

from collections.abc import Sequence
from math import prod

import numpy as np

from discreet.cells import Ints
from discreet.noise import Source
from discreet.weights.domain import Domain, Mask
from discreet.weights.histogram import drawn_cells
from discreet.weights.margins import Axes, Margins
from discreet.weights.model import Floats

LEAST_SHARE = 1e-9
"""Of all units, on either side of a question that was measured: no cell that had any weight is ever without."""


class DenseModel:
    """Expected counts of all cells of a domain; it is never changed, only replaced by one that has learned."""

    def __init__(self, domain: Domain, cells: Floats) -> None:
        self.domain = domain
        self.cells = cells
        self.total = float(cells.sum())
        self._margins = Margins(self._marginal)

    def marginal(self, axes: Sequence[int]) -> Floats:
        """The counts that the model expects by these attributes, in their order."""
        rising = tuple(sorted(axes))
        found: Floats = self._margins(rising)
        return found.transpose([rising.index(axis) for axis in axes])

    def _marginal(self, axes: Axes) -> Floats:
        found: Floats = self.cells.sum(axis=tuple(set(range(self.cells.ndim)) - set(axes)))
        return found

    def count(self, cells: Mask) -> float:
        """How many units the model expects in these cells."""
        return float(self._margins.sum(cells))

    def learned(self, cells: Mask, value: float) -> "DenseModel":
        """The model nearest in relative entropy that expects `value` units in these cells: their weights are all multiplied by one
        number, and those of all others by another.

        It is the multiplicative update of Hardt and Rothblum 2010 with the step that lowers their potential, the relative entropy
        from the data to the model, the most where the value is exact (Csiszár 1975, theorem 3.1).
        """
        inside = self.count(cells)
        outside = self.total - inside
        edge = LEAST_SHARE * self.total
        if min(inside, outside) <= edge:
            return self  # all cells or none, as far as the model can tell: a factor has nothing to hold on to
        target = min(max(value, edge), self.total - edge)
        factors = np.where(cells, target / inside, (self.total - target) / outside)
        return DenseModel(self.domain, self.cells * factors)

    def draw(self, rows: int, source: Source | None = None) -> Ints:
        """The cells of so many units, drawn independently in proportion to the weights; a negative weight is none."""
        weights = np.maximum(self.cells, 0)
        total = float(weights.sum())
        return drawn_cells(weights / total if total else np.full_like(weights, 1 / weights.size), rows, source)


def even(domain: Domain, total: float) -> DenseModel:
    """The model of somebody who knows nothing but how many units there are."""
    return DenseModel(domain, np.full(domain.shape, total / prod(domain.shape)))
