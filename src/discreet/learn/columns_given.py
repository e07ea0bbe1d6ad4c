"""Columns that callers give, as lists of plain values: of lists, arrays, and columns of pandas, Polars or Arrow."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Invalid


def listed(values: Any, name: str) -> list[Any]:
    """What a column holds, one value a row, with exact integers; Invalid for what has no rows or several columns."""
    dimensions = len(getattr(values, "shape", (0,)))
    if values is None or isinstance(values, str | bytes) or dimensions != 1:
        raise Invalid(f"{name} must be a column: one value for each row", hint=f"{name}=[…], or a column of a frame")
    for way in ("to_pylist", "to_list", "tolist"):  # of Arrow, of Polars and pandas, of NumPy
        if hasattr(values, way):
            return list(getattr(values, way)())
    try:
        return list(values)
    except TypeError:
        raise Invalid(f"{name} must be a column: one value for each row") from None


def one_column(values: Any, name: str) -> list[Any]:
    """The same, also of a table that has one column alone."""
    cells = _cells(values)
    if cells is None or cells.ndim == 1:
        return listed(values, name)
    if cells.ndim != 2 or cells.shape[1] != 1:
        raise Invalid(f"{name} must be one column, got several", hint=f"fit a model for each of the {name}")
    return list(cells[:, 0])


def _cells(values: Any) -> NDArray[Any] | None:
    """An array or a frame by its cells, and so a list that begins with a row; None for any other."""
    first = values[0] if isinstance(values, list | tuple) and values else None
    if not hasattr(values, "shape") and not isinstance(first, list | tuple | np.ndarray):
        return None
    try:
        return np.asarray(values, object)
    except ValueError:  # lists that make no table: each is a cell
        return None


def unmasked(values: Any) -> Any:
    """A masked array as one of cells, None for those that are masked; anything else as it is."""
    is_masked: bool = isinstance(values, np.ma.MaskedArray)
    return values.astype(object).filled(None) if is_masked else values


def plain(value: Any) -> Any:
    """A scalar of NumPy as Python has it; anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def is_nothing(value: Any) -> bool:
    """Whether there is no value: None, NaN and the like, of which pandas.NA cannot be compared."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ArithmeticError):  # of a signaling NaN
        return True
    except ValueError:  # of an array, which is something
        return False
