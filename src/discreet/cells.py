"""Cells of a histogram: attributes of people, each with cells that are known before any data is read, and counts over these.

What a value of the data belongs to follows from what is declared. An attribute is *categories* or *bins*. Whatever no category names is in
the cell of all others, and what is missing has a cell of its own; so every unit is in exactly one cell of each attribute.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import reduce
from itertools import pairwise
from math import prod
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.exact import shown
from discreet.mechanisms.measure import Measure
from discreet.privacy import Relation

Ints: TypeAlias = NDArray[np.int64]
Category: TypeAlias = str | int | float | bool | date | datetime
Edge: TypeAlias = int | float | date | datetime

OTHER, MISSING = "other", "missing"
"""What the cells are called that no declared value belongs to."""


@dataclass(frozen=True, slots=True)
class Categorical:
    """An attribute with one cell for each value that is named; then one for all other values, and one for missing ones, where it has
    these."""

    name: str
    values: tuple[Category, ...]
    other: bool = True
    missing: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(self.values))
        if len({(type(value), value) for value in self.values}) < len(self.values):
            raise Invalid(f"the categories of {self.name!r} must differ from each other")
        if not self.size:
            raise Invalid(f"attribute {self.name!r} needs at least one cell")

    @property
    def size(self) -> int:
        return len(self.values) + self.other + self.missing

    @property
    def labels(self) -> tuple[str, ...]:
        """What each cell is called."""
        return (*map(str, self.values), *_labels(self.other, self.missing))


@dataclass(frozen=True, slots=True)
class Binned:
    """An attribute with one cell from each edge to the next one, that excluded; then one for missing values, where it has one.

    What is below the first edge is in the first bin, and what is at the last edge or above it in the last. With `whole` values are
    whole numbers; edges that are days or moments are of values that are these.
    """

    name: str
    edges: tuple[Edge, ...]
    whole: bool = False
    missing: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "edges", tuple(self.edges))
        if len(self.edges) < 2:
            raise Invalid(f"attribute {self.name!r} needs at least two edges, got {len(self.edges)}")
        if not _rise(self.edges):
            raise Invalid(f"the edges of {self.name!r} must be of one kind, and rise, got {shown(self.edges)}")

    @property
    def size(self) -> int:
        return len(self.edges) - 1 + self.missing

    @property
    def labels(self) -> tuple[str, ...]:
        """What each cell is called."""
        ends = [f"{low} to {high}" for low, high in pairwise(self.edges)]
        return (*ends, *_labels(False, self.missing))

    def _has_one_value(self, low: Edge, high: Edge) -> bool:
        return self.whole and isinstance(low, int) and isinstance(high, int) and high == low + 1


Attribute: TypeAlias = Categorical | Binned


def _rise(edges: Sequence[Edge]) -> bool:
    try:
        return all(low < high for low, high in pairwise(edges))  # type: ignore[operator]
    except TypeError:  # a day and a number are in no order
        return False


def _labels(other: bool, missing: bool) -> tuple[str, ...]:
    return (OTHER,) * other + (MISSING,) * missing


@dataclass(frozen=True, slots=True)
class CellCounts:
    """How many units are in each cell, exactly; cells that nobody is in need not be listed.

    Row i of `codes` has the number of a cell in each attribute, and `counts` how many units are there. It is an exact value: it
    belongs inside of a draw.
    """

    shape: tuple[int, ...]
    codes: Ints
    counts: Ints

    def __post_init__(self) -> None:
        if self.codes.shape != (self.counts.size, len(self.shape)) or self.counts.ndim != 1:
            raise Invalid("codes must have a row for each count, and a column for each attribute")

    @property
    def total(self) -> int:
        """How many units there are."""
        return int(self.counts.sum())

    def marginal(self, axes: Sequence[int]) -> Ints:
        """The counts by these attributes alone, in their order; every cell has one."""
        shape = tuple(self.shape[axis] for axis in axes)
        place = reduce(
            lambda before, axis: before * self.shape[axis] + self.codes[:, axis],
            axes,
            np.zeros(self.counts.size, np.int64),
        )
        flat = np.zeros(prod(shape), np.int64)
        np.add.at(flat, place, self.counts)
        return flat.reshape(shape)


class CellTable(Protocol):
    """One table of units, each of which is in one cell of each attribute: what is known of data by who learns from them, wherever they
    are."""

    @property
    def relation(self) -> Relation:
        """What turns a table into its neighbour."""

    @property
    def measure(self) -> Measure:
        """What is charged, and lets noise be drawn."""

    def attributes(self, asked: Any) -> tuple[Attribute, ...]:
        """The attributes that are asked for, by names or with their cells, as they are declared; never as the data have them."""

    def counts(self, attributes: Sequence[Attribute]) -> Callable[[], CellCounts]:
        """The exact counts by these attributes, for a draw to look at."""
