"""Marginals that are asked for again and again: each is computed once, for questions that depend on the same attributes.

A question is a mask with an axis for each attribute, of length 1 where it does not depend on it. So a hundred thousand questions on a
million cells look at a few hundred small tables.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from discreet.cells import CellCounts
from discreet.errors import Invalid
from discreet.exact import shown
from discreet.mechanisms.guarded import Guarded
from discreet.weights.domain import Mask

Axes: TypeAlias = tuple[int, ...]

MOST_HELD = 1 << 24
"""Cells of all tables together; when there would be more, they are computed anew."""


class Margins:
    """Marginals by the axes that they are of; `table` computes one."""

    def __init__(self, table: Callable[[Axes], Any]) -> None:
        self._table = table
        self._known: dict[Axes, Any] = {}
        self._held = 0

    def __call__(self, axes: Axes) -> Any:
        """The marginal of these axes, in rising order."""
        found = self._known.get(axes)
        if found is None:
            found = self._table(axes)
            if self._held + found.size > MOST_HELD:
                self._known.clear()
                self._held = 0
            self._known[axes] = found
            self._held += found.size
        return found

    def sum(self, cells: Mask) -> Any:
        """What is in these cells together."""
        axes = involved(cells)
        return self(axes)[cells.reshape([cells.shape[axis] for axis in axes])].sum()


class HeldCounts:
    """Exact counts that only draws read, and their marginals, which are held for the next draw and as guarded as they are."""

    def __init__(self, counts: Callable[[], CellCounts]) -> None:
        self._counts = counts
        self._read: CellCounts | None = None
        self._margins = Margins(lambda axes: self._cells().marginal(axes))

    def count(self, cells: Mask) -> Guarded[int]:
        """How many units are in these cells, for a draw."""
        return Guarded(lambda: int(self._margins.sum(cells)))

    def marginal(self, axes: Axes) -> Guarded[Any]:
        """The counts by these attributes, for a draw."""
        return Guarded(lambda: self._cells().marginal(axes).ravel())

    @property
    def total(self) -> Guarded[int]:
        """How many units there are, for a draw."""
        return Guarded(lambda: self._cells().total)

    def _cells(self) -> CellCounts:
        if self._read is None:
            self._read = self._counts()
        return self._read

    def __repr__(self) -> str:
        return "HeldCounts(…)"


def involved(cells: Mask) -> Axes:
    """The axes that a mask depends on."""
    return tuple(axis for axis, length in enumerate(cells.shape) if length > 1)


def checked_cells(cells: Any, shape: Sequence[int]) -> Mask:
    """A mask that fits a domain: an axis for each attribute, as long as it has cells, or 1 where it does not matter."""
    try:
        mask = np.asarray(cells)
    except ValueError:  # lists of several lengths are no array
        mask = np.zeros(0)
    if mask.dtype != np.bool_:
        raise Invalid(
            f"cells must be an array of True and False, got {shown(type(cells).__name__)}",
            code="cells",
            hint="compare codes to get one, or give a condition as text",
        )
    if mask.ndim != len(shape) or any(length not in (1, size) for length, size in zip(mask.shape, shape, strict=True)):
        raise Invalid(
            f"cells must have the shape {tuple(shape)}, or 1 in the place of an attribute that does not matter,"
            f" got {mask.shape}",
            code="cells",
        )
    return mask
