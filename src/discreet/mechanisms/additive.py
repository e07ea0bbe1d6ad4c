"""Noise that is added: to integers as they are, and to reals after they are rounded to a public grid.

The noise is drawn as integers with exact probabilities. Reals are rounded to multiples of a power of two that depends on the scale
alone; rounding moves each coordinate by half a step at most, so neighbours differ by up to one step more in each, and the
sensitivity counts that.
"""

from abc import abstractmethod
from enum import Enum
from fractions import Fraction
from math import ceil
from typing import Any, ClassVar, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.exact import Number, nonnegative, positive, shown, whole
from discreet.fields import Exact, Held, frozen, otherwise
from discreet.mechanisms.base import Mechanism
from discreet.mechanisms.sensitivity import Norm
from discreet.noise import Grid, Source
from discreet.privacy import events

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Array: TypeAlias = NDArray[Any] | list[Any] | tuple[Any, ...]
MOST_INTEGER = 1 << 62  # so that a sum with noise is still an int64
MOST_STEPS = 1 << 52  # of a real value on its grid, so that a sum with noise is still a float64


@frozen
class Additive(Mechanism):
    """Noise of a scale that is added to an exact value."""

    scale: Exact

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive(self.scale, "scale"))

    @abstractmethod
    def _noise(self, size: Any, source: Source | None) -> Any:
        """Integers: noise on integers, or steps of the grid."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """The variance of the noise in one coordinate."""


class NoiseShape(Enum):
    """The distribution that noise on integers is like, where its steps are small."""

    GEOMETRIC = "geometric"
    GAUSSIAN = "Gaussian"


class IntegerNoise(Additive):
    """Noise on integers: for an int an int, for an array of integers an int64 array.

    `norm` is that of the sensitivity of a vector for which `event` says what is drawn; None where it says so for single integers only.
    """

    norm: ClassVar[Norm | None]
    shape: ClassVar[NoiseShape]

    __slots__ = ()

    @overload
    def __call__(self, exact: int | np.integer[Any], source: Source | None = None) -> int: ...
    @overload
    def __call__(self, exact: Array, source: Source | None = None) -> Ints: ...
    def __call__(self, exact: Any, source: Source | None = None) -> Any:
        """The integer, or each integer of the array, plus noise of its own."""
        if not isinstance(exact, np.ndarray | list | tuple):
            return _integer(exact) + self._noise(None, source)
        values = _integers(exact)
        noise = self._noise(values.shape, source)
        return np.add(values, noise, out=noise if np.ndim(noise) else None)


@frozen
class GridNoise(Additive):
    """Noise on reals: for a number a float, for an array a float64 array, all of them multiples of `grid`."""

    scale: Exact  # anew: a frozen heir of a `Held` field is read as what it takes
    grid: Held[Grid | None, Grid] = otherwise(None)

    def __post_init__(self) -> None:
        Additive.__post_init__(self)
        grid = Grid.of(self.scale) if self.grid is None else self.grid
        if not isinstance(grid, Grid):
            raise Invalid(f"grid must be a Grid, got {shown(grid)}")
        object.__setattr__(self, "grid", grid)

    def _arguments(self) -> dict[str, object]:
        arguments = Additive._arguments(self)
        if self.grid == Grid.of(self.scale):
            del arguments["grid"]
        return arguments

    @overload
    def __call__(self, exact: Number | np.number[Any], source: Source | None = None) -> float: ...
    @overload
    def __call__(self, exact: Array, source: Source | None = None) -> Floats: ...
    def __call__(self, exact: Any, source: Source | None = None) -> Any:
        """The number, or each number of the array, rounded to the grid, plus noise of its own."""
        if not isinstance(exact, np.ndarray | list | tuple):
            index = self.grid.index(exact)
            if abs(index) > MOST_STEPS:
                raise _too_far()
            return self.grid.to_float(index + self._noise(None, source))
        steps = self._on_grid(as_array(exact))
        return self.grid.to_float(steps + self._noise(steps.shape, source))

    def _on_grid(self, values: NDArray[Any]) -> Ints:
        """Multiples of the grid, half a step up; a product with a power of two is exact."""
        if values.dtype.kind not in "iuf":
            raise Invalid(f"exact must hold real numbers, got {values.dtype} values")
        with np.errstate(over="ignore"):
            steps = np.floor(values.astype(np.float64) / float(self.grid.step) + 0.5)
        if not bool((np.abs(steps) <= MOST_STEPS).all()):  # not a number is refused here too
            raise _too_far()
        return steps.astype(np.int64)

    @abstractmethod
    def event(self, sensitivity: Number = 1, size: int = 1) -> events.Event:
        """What is drawn for a vector of `size` coordinates; rounding moves each by up to a step."""

    @property
    def steps(self) -> Fraction:
        """The scale, in steps of the grid."""
        return self.scale / self.grid.step


def _too_far() -> Invalid:
    return Invalid(
        "exact must be finite, and at most 2^52 steps of the grid in size",
        hint="clamp the values, or use a coarser grid",
    )


def _integer(value: object) -> int:
    exact = int(value) if isinstance(value, np.integer) else value
    if not isinstance(exact, int) or isinstance(exact, bool):
        raise Invalid(
            f"exact must be an integer, got a {type(value).__name__}", hint="use noise for reals, or round first"
        )
    return exact


def as_array(values: Any) -> NDArray[Any]:
    try:
        return np.asarray(values)
    except ValueError as error:
        raise Invalid("exact must hold numbers, in rows of equal length") from error


def _integers(values: Any) -> Ints:
    array = as_array(values)
    if array.dtype.kind not in "iu" and array.size:
        raise Invalid(f"exact must hold integers, got {array.dtype} values", hint="use noise for reals, or round first")
    if array.size and not (int(array.min()) >= -MOST_INTEGER and int(array.max()) <= MOST_INTEGER):
        raise Invalid("exact must be at most 2^62 in size")
    return array.astype(np.int64, copy=False)


def integer_sensitivity(value: object) -> int:
    """The sensitivity of an integer: a whole number, where a fraction is rounded up."""
    return ceil(nonnegative(value, "sensitivity"))


def steps_up(sensitivity: Number, grid: Grid, size: int) -> int:
    """An L1 sensitivity in steps of the grid, with one step more for the rounding of each coordinate; 0 stays 0."""
    exact = nonnegative(sensitivity, "sensitivity")
    return ceil(exact / grid.step) + whole(size, "size", least=1) if exact else 0


def repeated(leaf: events.Leaf, times: int) -> events.Event:
    return leaf if times == 1 else events.Repeated(leaf, times)
