"""Histograms: a model that has a weight for every cell of a domain."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.cells import Ints
from discreet.errors import Invalid
from discreet.exact import whole
from discreet.noise import Source, uniform
from discreet.weights.domain import Domain, Mask
from discreet.weights.model import Floats

MOST_CELLS = 1 << 22
"""Cells of a histogram. Beyond, a model of margins has room where no weight for each cell has."""

GRID = 1 << 40
"""Weights are rounded down to this part of their sum before rows are drawn: integers, so that each row has exactly its probability."""


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """A weight for each cell: a distribution, and about how many units it stands for. A cell of weight 0 is impossible, and stays so."""

    domain: Domain
    weights: Floats
    total: float

    def __post_init__(self) -> None:
        check_size(self.domain)
        weights = np.asarray(self.weights, np.float64)
        if weights.shape != self.domain.shape:
            raise Invalid(f"weights must have the shape of the domain, {self.domain.shape}, got {weights.shape}")
        mass = float(weights.sum())
        if not (np.isfinite(mass) and mass > 0 and float(weights.min()) >= 0):
            raise Invalid("weights must be finite, not negative, and not all 0")
        if not (np.isfinite(self.total) and self.total >= 0):
            raise Invalid("the total of a histogram must be finite and not negative")
        object.__setattr__(self, "weights", weights / mass)

    @classmethod
    def even(cls, domain: Domain, total: float, impossible: Sequence[Mask] = ()) -> "Histogram":
        """The same weight for each cell that is possible: what is known before anything is learned."""
        check_size(domain)
        return cls(domain, possible(domain, impossible).astype(np.float64), total)

    def marginal(self, axes: Sequence[int]) -> Floats:
        """The counts that the model expects by these attributes, in their order."""
        kept = sorted(axes)
        sums = self.weights.sum(axis=tuple(axis for axis in range(self.weights.ndim) if axis not in kept))
        out: Floats = np.transpose(sums, [kept.index(axis) for axis in axes]) * self.total
        return out

    def updated(self, query: Floats, change: float) -> "Histogram":
        """The weights times e^(change · query): multiplicative weights. A query has a number for each cell, or broadcasts to that."""
        exponent = np.broadcast_to(change * np.asarray(query, np.float64), self.weights.shape)
        top = exponent.max(where=self.weights > 0, initial=-np.inf)
        return Histogram(self.domain, self.weights * np.exp(np.minimum(exponent - top, 0.0)), self.total)

    def draw(self, rows: int, source: Source | None = None) -> Ints:
        """The cells of so many units, each with probability exactly its weight, on the grid; impossible cells never."""
        return drawn_cells(self.weights, rows, source)


def drawn_cells(weights: Floats, rows: int, source: Source | None = None) -> Ints:
    """Cells of an array of weights, which add up to 1 and are not negative: each with probability exactly its weight, on the grid."""
    steps = np.floor(weights.reshape(-1) * GRID).astype(np.int64)
    upto = np.cumsum(steps)
    point = uniform(int(upto[-1]), whole(rows, "rows", least=0), source=source)
    cell = np.searchsorted(upto, point, side="right")
    return np.stack(np.unravel_index(cell, weights.shape), axis=1).astype(np.int64)


def check_size(domain: Domain) -> None:
    """Invalid for a domain with more cells than a histogram has room for."""
    if domain.size > MOST_CELLS:
        raise Invalid(
            f"a histogram has room for {MOST_CELLS:,} cells, and this domain has {domain.size:,}",
            code="domain-size",
            hint="take fewer attributes or wider bins, or learn a model of margins",
        )


def possible(domain: Domain, impossible: Sequence[Mask]) -> Mask:
    """The cells that no mask calls impossible; each mask has an axis for each attribute, of length 1 where it does not depend on it."""
    out = np.ones(domain.shape, np.bool_)
    for mask in impossible:
        out &= ~checked_mask(domain, mask)
    if not out.any():
        raise Invalid("all cells of the domain are impossible", code="impossible", hint="leave a constraint out")
    return out


def checked_mask(domain: Domain, mask: object) -> Mask:
    """A mask over the cells of a domain; Invalid for anything else."""
    array = np.asarray(mask)
    fits = array.ndim == len(domain.shape) and all(
        length in (1, whole_axis) for length, whole_axis in zip(array.shape, domain.shape, strict=True)
    )
    if array.dtype != np.bool_ or not fits:
        raise Invalid(
            f"a mask must hold True and False, with an axis for each of {', '.join(domain.names)}, of its length or 1",
            code="mask",
        )
    return array
