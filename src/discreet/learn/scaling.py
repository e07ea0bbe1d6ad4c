"""Features scaled by bounds that are declared, never by what the data hold."""

from collections.abc import Sized
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.errors import Invalid
from discreet.learn.columns_given import one_column, unmasked
from discreet.mechanisms.additive import Floats


@dataclass(frozen=True, slots=True)
class FeatureBounds:
    """The declared least and largest value of each feature; values beyond count as the bound."""

    low: tuple[float, ...]
    high: tuple[float, ...]

    @classmethod
    def of(cls, declared: Any, width: int, name: str = "bounds") -> "FeatureBounds":
        """Of one pair for all features, or of a pair for each; Invalid for anything else, and where it is missing."""
        if declared is None:
            raise Invalid(
                f"{name} must be declared: what the data hold may not be looked at for them",
                hint=f"{name}=(0, 100) for all features, or a pair for each: {name}=[(0, 120), (0, 1)]",
            )
        try:
            pairs = np.array(declared, np.float64)
        except (TypeError, ValueError, OverflowError):
            raise Invalid(f"{name} must be pairs of numbers") from None
        if pairs.shape == (2,):
            pairs = np.tile(pairs, (width, 1))
        if pairs.shape != (width, 2):
            raise Invalid(f"{name} must be one pair, or a pair for each of the {width} features")
        with np.errstate(over="ignore"):
            halves = (pairs[:, 1] - pairs[:, 0]) / 2
        if not np.isfinite(pairs).all() or not (np.isfinite(halves) & (halves > 0)).all():
            raise Invalid(f"{name} must be finite, the lower one below the upper one")
        return cls(tuple(pairs[:, 0].tolist()), tuple(pairs[:, 1].tolist()))

    @property
    def middle(self) -> Floats:
        return np.asarray(np.array(self.low) / 2 + np.array(self.high) / 2)

    @property
    def half(self) -> Floats:
        return np.asarray((np.array(self.high) - np.array(self.low)) / 2)

    @property
    def farthest(self) -> Floats:
        """The largest size of each feature."""
        return np.asarray(np.maximum(np.abs(self.low), np.abs(self.high)))

    def clamped(self, values: Floats) -> Floats:
        """Within the bounds; what is no finite number is none."""
        return np.asarray(np.where(np.isfinite(values), np.clip(values, self.low, self.high), np.nan))

    def scaled(self, values: Floats) -> Floats:
        """Into [−1, 1]; what is no finite number is none."""
        return np.asarray(np.clip((self.clamped(values) - self.middle) / self.half, -1, 1))

    def scaled_from_zero(self, values: Floats) -> Floats:
        """Into [−1, 1], with 0 where it was; what is no finite number is none."""
        return np.asarray(np.clip(self.clamped(values) / self.farthest, -1, 1))


def table(values: Any, name: str = "features") -> Floats:
    """Numbers in rows and columns. A cell that cannot be read as a number is none, whatever it is: no cell raises."""
    if hasattr(values, "toarray"):
        raise Invalid(f"{name} must not be a sparse matrix", hint=f"{name}.toarray() has its rows and columns")
    values = unmasked(values)
    found = _by_type(values) if hasattr(values, "shape") else None
    if found is None:
        found = _cell_by_cell(values, name)
    if found.ndim != 2:
        dimensions = f"{found.ndim} dimension{'s' * (found.ndim != 1)}"
        raise Invalid(
            f"{name} must have rows and columns, got {dimensions}",
            hint="a single feature is a table of one column: [[1], [2]]",
        )
    return found


def _by_type(values: Any) -> Floats | None:
    """An array or a frame whose types say that each cell is a number, or none for all of a moment's; None for any other.

    A type is no cell: it is that of whoever made the array. A moment would be so many nanoseconds in some arrays, and none in others.
    """
    with np.errstate(all="ignore"):  # a warning would tell of a cell
        try:
            found = np.asarray(values)
        except Exception:  # whatever a cell raises
            return None
        if found.dtype.kind in "mM":
            return np.full(found.shape, np.nan)
        return np.asarray(found, np.float64) if found.dtype.kind in "biuf" else None


def _cell_by_cell(values: Any, name: str) -> Floats:
    """Each cell by itself: how one is read hangs on no other."""
    try:
        cells = np.asarray(values, object)
    except Exception:  # whatever there is instead of a table
        raise Invalid(f"{name} must be numbers in rows and columns") from None
    with np.errstate(all="ignore"):
        return np.array([_number(each) for each in cells.flat], np.float64).reshape(cells.shape)


NO_NUMBER = np.complexfloating, np.datetime64, np.timedelta64, type(np.ma.masked)
"""What NumPy would make a number of, with a warning or in some arrays alone."""


def _number(cell: Any) -> float:
    try:
        return float("nan") if isinstance(cell, NO_NUMBER) else float(cell)
    except Exception:  # whatever a cell raises
        return float("nan")


def column(values: Any, name: str = "targets") -> Floats:
    """Numbers, one a row; a cell that cannot be read as a number is none."""
    if isinstance(values, np.ndarray) and values.ndim == 1:
        return table(values.reshape(-1, 1), name)[:, 0]
    with np.errstate(all="ignore"):
        return np.array([_number(each) for each in one_column(values, name)], np.float64)


def matched(targets: Sized, features: Floats) -> None:
    if len(targets) != len(features):
        raise Invalid("there must be one target for each row of features")


def of_width(values: Floats, width: int) -> Floats:
    """The table, where it has so many features; Invalid for any other."""
    if values.shape[1] != width:
        raise Invalid(f"there must be {width} features, as the model was fitted to, got {values.shape[1]}")
    return values
