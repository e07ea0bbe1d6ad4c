"""Numbers and names that can be read off an output: what an event may speak of.

Any function of an output alone may be looked at: what tells the neighbours apart after it tells them apart before it. An output may be a
number, a text, nothing, an exception that was raised (`Raised`), or a sequence of such; for each kind there are a few features that bugs
are known to show in: the value, its lowest bit (floating-point noise leaves holes that depend on the exact value: Mironov 2012), the
length, each of the first items, their total, and the output as a whole.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite, nan
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Reals: TypeAlias = NDArray[np.float64]
Outputs: TypeAlias = NDArray[Any] | Sequence[Any]

# Items of a sequence that are looked at one by one.
MOST_ITEMS = 8


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception, as an output: its kind and what it said."""

    kind: str
    message: str

    @classmethod
    def of(cls, error: BaseException) -> "Raised":
        return cls(type(error).__name__, str(error))


@dataclass(frozen=True, slots=True)
class Feature:
    """One number, or one name, for each output."""

    name: str
    read: Callable[[Outputs], NDArray[Any]]

    def __call__(self, outputs: Outputs) -> NDArray[Any]:
        """Its value for each output: floats, where NaN says that there is none, or texts."""
        return self.read(outputs)


def as_outputs(outputs: Any) -> Outputs:
    """Outputs in one of two forms: an array of plain numbers, or a list of anything."""
    if isinstance(outputs, np.ndarray) and outputs.ndim == 1 and outputs.dtype.kind in "biuf":
        return outputs
    return list(outputs)


def features_of(outputs: Outputs) -> list[Feature]:
    """The features worth looking at for outputs like these."""
    if isinstance(outputs, np.ndarray):
        return [Feature("output", _values), *([_LOWEST_BIT] if outputs.dtype.kind == "f" else [])]
    features = [Feature("output", _names), Feature("kind of the output", _kinds)]
    if any(isinstance(output, Real) for output in outputs):
        features += [Feature("output", _values), _LOWEST_BIT]
    lengths = _lengths(outputs)
    if np.isfinite(lengths).any():
        most = min(MOST_ITEMS, int(np.nanmax(lengths)))
        features += [Feature("length of the output", _lengths), Feature("total of the output", _totals)]
        features += [_item(position) for position in range(most)]
    return features


def _lowest_bits(outputs: Outputs) -> Reals:
    """The exponent of the lowest bit that is 1: 0 for 3, −2 for 0.25; NaN for 0 and what is not finite."""
    values = _values(outputs)
    usable = np.isfinite(values) & (values != 0)
    mantissas, exponents = np.frexp(np.where(usable, values, 1.0))
    whole = (np.abs(mantissas) * 2.0**53).astype(np.int64)
    lowest: Reals = np.where(usable, exponents - 53 + np.log2((whole & -whole).astype(np.float64)), nan)
    return lowest


_LOWEST_BIT = Feature("lowest bit of the output", _lowest_bits)


def _number(value: object) -> float:
    """The value as a float; NaN where it is no finite real number. Integers too long for a float keep their sign only."""
    if not isinstance(value, Real):
        return nan
    try:
        near = float(value)
    except OverflowError:
        return 1e300 if value == abs(value) else -1e300
    return near if isfinite(near) else nan


def _values(outputs: Outputs) -> Reals:
    if isinstance(outputs, np.ndarray):
        return outputs.astype(np.float64)
    return np.array([_number(output) for output in outputs], np.float64)


def _items(output: object) -> Sequence[Any] | None:
    if isinstance(output, np.ndarray):
        items: list[Any] = output.ravel().tolist()
        return items
    return output if isinstance(output, list | tuple) else None


def _lengths(outputs: Outputs) -> Reals:
    items = [_items(output) for output in outputs]
    return np.array([nan if each is None else len(each) for each in items], np.float64)


def _totals(outputs: Outputs) -> Reals:
    items = [_items(output) for output in outputs]
    return np.array([nan if each is None else sum(map(_number, each)) for each in items], np.float64)


def _number_at(items: Sequence[Any] | None, position: int) -> float:
    return nan if items is None or len(items) <= position else _number(items[position])


def _item(position: int) -> Feature:
    def read(outputs: Outputs) -> Reals:
        return np.array([_number_at(_items(output), position) for output in outputs], np.float64)

    return Feature(f"item {position + 1} of the output", read)


def _name(output: object) -> str:
    items = _items(output)
    if isinstance(output, np.generic):
        return repr(output.item())
    return repr(output) if items is None else repr([_name(each) for each in items])


def _names(outputs: Outputs) -> NDArray[Any]:
    return np.array([_name(output) for output in outputs], object)


def _kinds(outputs: Outputs) -> NDArray[Any]:
    return np.array(
        [output.kind if isinstance(output, Raised) else type(output).__name__ for output in outputs], object
    )
