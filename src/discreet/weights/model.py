"""Models: what was learned of a table, public once it is released. Whatever is computed from one is post-processing, and free."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.cells import Ints
from discreet.mechanisms.measure import Promise
from discreet.noise import Source
from discreet.privacy import Relation, events
from discreet.weights.domain import Domain, Mask

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class NoisyMarginal:
    """A noisy marginal that was released: the counts by some attributes, and the standard deviation of the noise on each."""

    axes: tuple[int, ...]
    values: Floats
    deviation: float


class Model(Protocol):
    """A distribution over the cells of a domain, and about how many units it stands for."""

    @property
    def domain(self) -> Domain: ...

    @property
    def total(self) -> float:
        """About how many units there are."""

    def marginal(self, axes: Sequence[int]) -> Floats:
        """The counts that the model expects by these attributes, in their order; they add up to `total`."""

    def draw(self, rows: int, source: Source | None = None) -> Ints:
        """The cells of so many units, drawn independently: a row of codes each."""


@dataclass(frozen=True, slots=True)
class Round:
    """One choice of what to measure: the attributes, the deviation of the noise on each count, and the error that the choice was made by.

    The error is an L1 distance as a share of all units: how far the model was off by what noise had shown so far.
    """

    chosen: tuple[int, ...]
    deviation: float
    error: float


@dataclass(frozen=True, slots=True)
class Learned:
    """What was learned of a table, and what it cost: the model, all noisy marginals behind it, and the rounds in which they were chosen."""

    model: Model
    measured: tuple[NoisyMarginal, ...]
    event: events.Event
    promise: Promise
    relation: Relation
    rounds: tuple[Round, ...]


def count(model: Model, cells: Mask) -> float:
    """How many units a model expects in cells."""
    axes = tuple(axis for axis, length in enumerate(cells.shape) if length > 1)
    if not axes:
        return model.total if bool(cells.reshape(-1)[0]) else 0.0
    return float(model.marginal(axes)[np.squeeze(cells, tuple(set(range(cells.ndim)) - set(axes)))].sum())
