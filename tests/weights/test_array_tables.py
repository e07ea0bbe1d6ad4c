"""Tables of units in arrays, their domains, and counts of a model: each law over all small shapes."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest

from discreet.cells import Categorical, CellCounts, Ints
from discreet.errors import Invalid, Refused
from discreet.mechanisms import Geometric, unmetered
from discreet.noise import Source
from discreet.privacy import Adjacency, Relation, Unit
from discreet.weights import ArrayTable, Domain
from discreet.weights.model import Floats, count

SHAPE = (2, 3, 2)
DOMAIN = Domain(
    tuple(
        Categorical(name, tuple(range(size)), other=False, missing=False)
        for name, size in zip("abc", SHAPE, strict=True)
    )
)
CELLS = list(product(*map(range, SHAPE)))
CODES = np.array([cell for i, cell in enumerate(CELLS) for _ in range(i % 4)])


class Histogram:
    """The slowest model: all cells, one by one."""

    domain = DOMAIN

    def __init__(self, cells: Floats) -> None:
        self.cells = cells

    @property
    def total(self) -> float:
        return float(self.cells.sum())

    def marginal(self, axes: Sequence[int]) -> Floats:
        others = tuple(axis for axis in range(3) if axis not in axes)
        kept = sorted(axes)
        return self.cells.sum(axis=others).transpose([kept.index(axis) for axis in axes])

    def draw(self, rows: int, source: Source | None = None) -> Ints:
        raise NotImplementedError


def looked_at(names: Sequence[str]) -> CellCounts:
    """What a draw sees."""
    table, noise, seen = ArrayTable(DOMAIN, CODES, unmetered()), Geometric(1), []
    exact = table.counts(table.attributes(names))
    with pytest.raises(Refused):
        exact()
    with table.measure(noise.event(1)) as grant:
        grant(noise, 1, lambda: len(seen.append(exact()) or ()))
    return seen[0]


def arrays_are_counted_as_they_are() -> None:
    """By any attributes, in any order."""
    for names in (("a",), ("c", "a"), ("a", "b", "c"), ("b", "c", "a")):
        axes, found = DOMAIN.axes(names), looked_at(names)
        for cell in product(*(range(SHAPE[axis]) for axis in axes)):
            exact = sum(tuple(row[axis] for axis in axes) == cell for row in CODES)
            assert found.marginal(range(len(axes)))[cell] == exact
        assert found.total == len(CODES)


def test_arrays_are_counted_as_they_are() -> None:
    arrays_are_counted_as_they_are()


def codes_are_those_of_cells() -> None:
    for codes in ([[0, 0]], [0, 0, 0], [[0.0, 0.0, 0.0]], [[2, 0, 0]], [[0, 3, 0]], [[0, 0, -1]]):
        with pytest.raises(Invalid):
            ArrayTable(DOMAIN, codes)
    assert ArrayTable(DOMAIN, np.zeros((0, 3), int)).relation == Relation(Adjacency.ADD_REMOVE, Unit.ROW)
    given = np.zeros((1, 3), int)
    table = ArrayTable(DOMAIN, given)
    given[0, 0] = 1  # what is done to the caller's array later is no matter
    assert table._codes[0, 0] == 0


def test_codes_are_those_of_cells() -> None:
    codes_are_those_of_cells()


def domains_are_checked() -> None:
    with pytest.raises(Invalid, match="at least one"):
        Domain(())
    with pytest.raises(Invalid, match="different names"):
        Domain((DOMAIN.attributes[0], DOMAIN.attributes[0]))
    with pytest.raises(Invalid, match="it has a, b, c"):
        DOMAIN.axes(["a", "d"])
    assert (DOMAIN.names, DOMAIN.shape, DOMAIN.size) == (("a", "b", "c"), SHAPE, 12)
    assert DOMAIN.axes(["c", "a"]) == (2, 0)


def test_domains_are_checked() -> None:
    domains_are_checked()


def counts_of_a_model_are_sums() -> None:
    """Over masks of every shape that a condition can have, and all masks of the smallest ones."""
    chosen = np.random.default_rng(0)
    model = Histogram(chosen.uniform(0, 9, SHAPE))
    for lengths in product(*((1, size) for size in SHAPE)):
        for _ in range(4):
            mask = chosen.integers(0, 2, lengths).astype(bool)
            assert count(model, mask) == pytest.approx(model.cells[np.broadcast_to(mask, SHAPE)].sum())


def test_counts_of_a_model_are_sums() -> None:
    counts_of_a_model_are_sums()


def test_conditions_are_for_tables_of_a_curator() -> None:
    with pytest.raises(Invalid) as error:
        ArrayTable(DOMAIN, CODES).cells("a = 1", DOMAIN.attributes)
    assert error.value.code == "condition"
