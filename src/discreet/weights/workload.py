"""Workloads: the linear queries that a model shall answer well. A query has a weight from 0 to 1 for each cell, and its answer is the
sum of the weights of all units.

Queries over the same attributes are one *group*: the answers of a group are those of a matrix on one marginal, on which whole marginals
are the matrix 1. Weights are whole steps of a public grid, so that exact answers are integers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.cells import CellCounts, Ints
from discreet.errors import Invalid
from discreet.exact import shown, whole
from discreet.noise import Source, uniform
from discreet.weights.domain import Domain
from discreet.weights.histogram import checked_mask
from discreet.weights.model import Floats, Model
from discreet.weights.transform import Axes, marginals

STEPS = 1 << 10
"""Steps of the grid of weights that are not just 0 and 1."""

MOST_QUERIES = 1 << 20
"""Queries of a workload."""

MOST_STEPS = 1 << 25
"""Weights of the queries of a group: 256 MiB."""


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Queries over some attributes, whose axes rise: a row of `steps` for each, over the cells of the marginal; None: just that."""

    axes: Axes
    steps: Ints | None = None

    def size(self, domain: Domain) -> int:
        """How many queries there are."""
        return cells_of(domain, self.axes) if self.steps is None else len(self.steps)

    def of(self, marginal: NDArray[Any], unit: int) -> NDArray[Any]:
        """The answers in steps, from the marginal."""
        flat = marginal.reshape(-1)
        return flat * unit if self.steps is None else self.steps @ flat

    def row(self, domain: Domain, number: int) -> Ints:
        """The steps of one query, as an array over the domain with length 1 along other attributes."""
        shape = tuple(length if axis in self.axes else 1 for axis, length in enumerate(domain.shape))
        if self.steps is not None:
            one: Ints = self.steps[number]
            return one.reshape(shape)
        cell: Ints = np.zeros(cells_of(domain, self.axes), np.int64)
        cell[number] = 1
        return cell.reshape(shape)


@dataclass(frozen=True)
class Workload:
    """Linear queries over a domain, in steps of 1/`unit`. Workloads of one domain add up: `ranges + prefixes`.

    >>> from discreet.cells import Binned, Categorical
    >>> domain = Domain((Binned("age", (0, 20, 40, 60, 80), missing=False), Categorical("sex", ("f", "m"), False, False)))
    >>> len(Workload.margins(domain, 2)), len(Workload.ranges(domain, "age") + Workload.prefixes(domain, "age"))
    (8, 14)
    """

    domain: Domain
    groups: tuple[Group, ...]
    unit: int = 1

    def __post_init__(self) -> None:
        if not self.groups:
            raise Invalid("a workload needs at least one query")
        if len(self) > MOST_QUERIES:
            raise Invalid(f"a workload has room for {MOST_QUERIES:,} queries, got {len(self):,}", code="workload")

    def __len__(self) -> int:
        return sum(group.size(self.domain) for group in self.groups)

    def __add__(self, other: "Workload") -> "Workload":
        if self.domain != other.domain:
            raise Invalid("workloads of different domains do not add up", code="workload")
        unit = max(self.unit, other.unit)
        return Workload(self.domain, (*_finer(self, unit), *_finer(other, unit)), unit)

    @classmethod
    def margins(cls, domain: Domain, order: int) -> "Workload":
        """All marginals of so many attributes; of all attributes where there are fewer."""
        count = min(whole(order, "workload", least=1), len(domain.shape))
        return cls(domain, tuple(map(Group, combinations(range(len(domain.shape)), count))))

    @classmethod
    def named(cls, domain: Domain, sets: Sequence[Sequence[str]]) -> "Workload":
        """The marginals of these sets of attributes, each once."""
        axes = dict.fromkeys(
            tuple(sorted(set(domain.axes([names] if isinstance(names, str) else names)))) for names in sets
        )
        return cls(domain, tuple(map(Group, axes)))

    @classmethod
    def ranges(cls, domain: Domain, name: str) -> "Workload":
        """All ranges of the cells of an attribute, from each cell to each at or after it."""
        (axis,) = domain.axes([name])
        cells = np.arange(domain.shape[axis])
        check_room(cells.size * (cells.size + 1) // 2, cells.size)
        first, last = np.triu_indices(cells.size)
        return cls(domain, (Group((axis,), ((first[:, None] <= cells) & (cells <= last[:, None])).astype(np.int64)),))

    @classmethod
    def prefixes(cls, domain: Domain, name: str) -> "Workload":
        """All ranges from the first cell of an attribute on."""
        (axis,) = domain.axes([name])
        check_room(domain.shape[axis], domain.shape[axis])
        return cls(domain, (Group((axis,), np.tri(domain.shape[axis], dtype=np.int64)),))

    @classmethod
    def predicates(cls, domain: Domain, count: int, order: int = 2, source: Source | None = None) -> "Workload":
        """So many random predicates: each on `order` attributes taken at random, true on each of their cells with probability 1/2."""
        axes = list(combinations(range(len(domain.shape)), min(whole(order, "order", least=1), len(domain.shape))))
        taken = uniform(len(axes), whole(count, "count", least=1), source=source)
        groups = []
        for place in np.unique(taken):
            cells, some = cells_of(domain, axes[place]), int((taken == place).sum())
            check_room(some, cells)
            groups.append(Group(axes[place], uniform(2, (some, cells), source=source)))
        return cls(domain, tuple(groups))

    @classmethod
    def listed(cls, domain: Domain, queries: Sequence[Any]) -> "Workload":
        """A user's own queries, each an array with an axis for each attribute, of length 1 where it does not depend on it.

        Masks count the units in cells. Weights from 0 to 1 are rounded to steps of 1/1024.
        """
        arrays = [np.asarray(query) for query in queries]
        if all(array.dtype == np.bool_ for array in arrays):
            unit, steps = 1, [checked_mask(domain, array).astype(np.int64) for array in arrays]
        else:
            unit, steps = STEPS, [_steps(domain, array) for array in arrays]
        groups: dict[Axes, list[Ints]] = {}
        for array in steps:
            axes = tuple(axis for axis, length in enumerate(array.shape) if length > 1)
            groups.setdefault(axes, []).append(array.reshape(-1))
        return cls(domain, tuple(Group(axes, np.stack(rows)) for axes, rows in groups.items()), unit)

    @cached_property
    def whole(self) -> bool:
        """Whether it is made of whole marginals."""
        return all(group.steps is None for group in self.groups)

    @cached_property
    def axes(self) -> tuple[Axes, ...]:
        """The attributes of each group."""
        return tuple(group.axes for group in self.groups)

    def at(self, number: int) -> tuple[Group, int]:
        """The group of a query, by its number, and its number there."""
        for group in self.groups:
            if number < group.size(self.domain):
                return group, number
            number -= group.size(self.domain)
        raise Invalid(f"a workload of {len(self)} queries has no such query")

    def answers(self, model: Model) -> Floats:
        """The answers that a model expects, in units."""
        weights = getattr(model, "weights", None)
        if weights is not None:
            return np.concatenate(list(self._answers(np.asarray(weights) * model.total))) / self.unit
        return np.concatenate([group.of(model.marginal(group.axes), self.unit) for group in self.groups]) / self.unit

    def exact(self, counts: CellCounts) -> Ints:
        """The exact answers, in steps; for a draw alone."""
        return np.concatenate([group.of(counts.marginal(group.axes), self.unit) for group in self.groups])

    def steps(self, cells: NDArray[Any]) -> NDArray[Any]:
        """The answers in steps, from an array of all cells, of whose sums many are shared; of integers exactly."""
        return np.concatenate(list(self._answers(cells)))

    def _answers(self, cells: NDArray[Any]) -> Iterator[NDArray[Any]]:
        sums = dict(marginals(cells, self.axes))
        return (group.of(sums[group.axes], self.unit) for group in self.groups)


def check_room(queries: int, cells: int) -> None:
    """Invalid for a group of queries that takes too much room."""
    if queries * cells > MOST_STEPS:
        raise Invalid(
            f"a workload has room for {MOST_STEPS:,} weights, and {queries:,} queries over {cells:,} cells have more",
            code="workload",
            hint="take wider bins, fewer attributes or fewer queries",
        )


def cells_of(domain: Domain, axes: Sequence[int]) -> int:
    """How many cells the marginal of some attributes has."""
    return int(np.prod([domain.shape[axis] for axis in axes], dtype=np.int64))


def _finer(workload: Workload, unit: int) -> tuple[Group, ...]:
    """The same queries in finer steps; whole marginals take any."""
    factor = unit // workload.unit
    return tuple(each if each.steps is None else Group(each.axes, each.steps * factor) for each in workload.groups)


def _steps(domain: Domain, weights: NDArray[Any]) -> Ints:
    """Weights from 0 to 1 in whole steps."""
    if weights.dtype.kind not in "biuf" or not ((weights >= 0) & (weights <= 1)).all():
        raise Invalid(f"a query must have weights from 0 to 1, got {shown(weights.dtype)} values", code="workload")
    checked_mask(domain, np.zeros(weights.shape, np.bool_))
    return np.rint(weights.astype(np.float64) * STEPS).astype(np.int64)
