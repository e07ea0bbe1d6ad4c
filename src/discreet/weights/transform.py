"""Fast sums over arrays of cells: many marginals at once, and an orthonormal basis in which each set of attributes has a block of its own.

In the basis of an attribute the first vector is constant and the others add up to 0 (Helmert's; for two cells Hadamard's). Their products
split what is known of a table by sets of attributes: the *block* of a set tells what its marginal says beyond the marginals of
its subsets. For binary attributes the transform is that of Walsh and Hadamard.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from math import prod
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.weights.model import Floats

SIDE = 256
"""Attributes are transformed together, by one matrix, while it has at most so many rows; a longer attribute goes by running sums."""

Numbers = TypeVar("Numbers", bound=NDArray[Any])
Axes = tuple[int, ...]


def marginals(cells: Numbers, targets: Sequence[Axes]) -> Iterator[tuple[Axes, Numbers]]:
    """The sums of an array over all axes but those of each target, which rise; each target once, in their order.

    Partial sums are shared: an axis that several marginals do without is summed once. Sums of integers are exact.
    """
    yield from _marginals(cells, 0, (), sorted(set(targets)))


def _marginals(cells: Numbers, axis: int, kept: Axes, targets: Sequence[Axes]) -> Iterator[tuple[Axes, Numbers]]:
    """`cells` has the kept axes first, then those from `axis` on."""
    if not targets:
        return
    place = len(kept)
    if cells.ndim == place:
        yield kept, cells
        return
    for needed, some in groupby(sorted(targets, key=lambda axes: axis not in axes), key=lambda axes: axis in axes):
        if needed:
            yield from _marginals(cells, axis + 1, (*kept, axis), list(some))
        else:
            yield from _marginals(cells.sum(axis=place), axis + 1, kept, list(some))


@dataclass(frozen=True, slots=True)
class Basis:
    """The orthonormal basis of arrays of a shape."""

    shape: tuple[int, ...]

    def coefficients(self, cells: Floats) -> Floats:
        """An array of cells in the basis."""
        return self._through(np.asarray(cells, np.float64), inverse=False)

    def cells(self, coefficients: Floats) -> Floats:
        """An array that has these coefficients."""
        return self._through(np.asarray(coefficients, np.float64), inverse=True)

    def squares(self, cells: Floats) -> Floats:
        """The sum over all cells of each, times the square of what a vector of the basis has there: for every vector."""
        array = np.asarray(cells, np.float64)
        for axis, length in enumerate(self.shape):
            before, after = prod(self.shape[:axis]), prod(self.shape[axis + 1 :])
            array = _squares(array.reshape(before, length, after))
        return array.reshape(self.shape)

    def block(self, axes: Sequence[int]) -> tuple[slice, ...]:
        """Where the coefficients of a set of attributes are: along these all but the first, along others the first."""
        return tuple(slice(1, None) if axis in axes else slice(0, 1) for axis in range(len(self.shape)))

    def _through(self, array: Floats, *, inverse: bool) -> Floats:
        for first, last in _groups(self.shape):
            length = prod(self.shape[first:last])
            before, after = prod(self.shape[:first]), prod(self.shape[last:])
            inside = array.reshape(before, length, after)
            if length > SIDE:
                array = (_summed if inverse else _differences)(inside)
            else:
                matrix = _matrix(self.shape[first:last])
                array = np.matmul(matrix.T if inverse else matrix, inside)
        return array.reshape(self.shape)


@lru_cache(maxsize=64)
def _groups(shape: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    """Neighbouring axes that are transformed together."""
    ends = [0]
    for axis, length in enumerate(shape):
        if axis and prod(shape[ends[-1] : axis]) * length > SIDE:
            ends.append(axis)
    return tuple(zip(ends, [*ends[1:], len(shape)], strict=True))


@lru_cache(maxsize=64)
def _matrix(lengths: tuple[int, ...]) -> Floats:
    """The basis of some attributes together, a vector a row."""
    one: Floats = np.ones((1, 1))
    for length in lengths:
        one = np.asarray(np.kron(one, helmert(length)), np.float64)
    return one


def helmert(length: int) -> Floats:
    """Row 0 is constant; row k has k equal entries, then −k times as much, then zeros. The rows are orthonormal.

    >>> helmert(2).round(3).tolist()
    [[0.707, 0.707], [0.707, -0.707]]
    """
    rows: Floats = _differences(np.eye(length)[None])[0]
    return rows


def _differences(inside: Floats) -> Floats:
    """Helmert's rows times the middle axis, by running sums."""
    length = inside.shape[1]
    k = np.arange(1, length)[:, None]
    upto = np.cumsum(inside, axis=1)
    rows = (upto[:, :-1] - k * inside[:, 1:]) / np.sqrt(k * (k + 1.0))
    out: Floats = np.concatenate([upto[:, -1:] / np.sqrt(length), rows], axis=1)
    return out


def _summed(inside: Floats) -> Floats:
    """The transposed of `_differences`, which is its inverse."""
    length = inside.shape[1]
    k = np.arange(1, length)[:, None]
    rows = inside[:, 1:] / np.sqrt(k * (k + 1.0))
    after = np.cumsum(rows[:, ::-1], axis=1)[:, ::-1]
    out: Floats = np.repeat(inside[:, :1] / np.sqrt(length), length, axis=1)
    out[:, :-1] += after
    out[:, 1:] -= k * rows
    return out


def _squares(inside: Floats) -> Floats:
    """The squares of Helmert's rows times the middle axis, by running sums."""
    length = inside.shape[1]
    k = np.arange(1, length)[:, None]
    upto = np.cumsum(inside, axis=1)
    rows = (upto[:, :-1] + k * k * inside[:, 1:]) / (k * (k + 1.0))
    out: Floats = np.concatenate([upto[:, -1:] / length, rows], axis=1)
    return out
