"""Real-valued noise: integer noise times a public power of two.

A float release can only leak through the values it is able to take, so every release lies on a grid 2^k that depends on
public parameters alone. Noise of scale s on the grid is integer noise of scale s/2^k, times 2^k: exact in float64
while the integer stays below 2^53. Data must be rounded to the same grid first, and the sensitivity must count that rounding.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.exact import Number, positive, rational, shown, whole
from discreet.noise.gaussian import discrete_gaussian
from discreet.noise.laplace import discrete_laplace
from discreet.noise.size import CHUNK, Ints, Many, Size
from discreet.noise.source import Source

Floats: TypeAlias = NDArray[np.float64]

STEPS_BITS = 40  # a scale is between 2^39 and 2^40 steps of its default grid
FLOAT_INTEGERS = 1 << 53  # all integers up to here are float64 numbers
FLOAT_EXPONENTS = range(-1074, 971)  # 2^k and 2^53 · 2^k are float64 numbers


@dataclass(frozen=True, slots=True)
class Grid:
    """All multiples of 2^exponent."""

    exponent: int

    def __post_init__(self) -> None:
        exponent = whole(self.exponent, "exponent", least=FLOAT_EXPONENTS.start)
        if exponent not in FLOAT_EXPONENTS:
            raise Invalid(f"exponent must be below {FLOAT_EXPONENTS.stop}, got {shown(exponent)}")
        object.__setattr__(self, "exponent", exponent)

    @classmethod
    def of(cls, scale: Number) -> "Grid":
        """The default grid of a noise scale: the power of two with scale/grid in [2^39, 2^40).

        >>> Grid.of(1).exponent, Grid.of(0.75).exponent
        (-39, -40)
        """
        exact = positive(scale, "scale")
        exponent = exact.numerator.bit_length() - exact.denominator.bit_length() - STEPS_BITS
        while exact >= cls._power(exponent + STEPS_BITS):
            exponent += 1
        if exponent not in FLOAT_EXPONENTS:
            raise Invalid(f"scale must lie between about 2^-1034 and 2^1010 for a grid of floats, got {shown(scale)}")
        return cls(exponent)

    @staticmethod
    def _power(exponent: int) -> Fraction:
        return Fraction(2) ** exponent

    @property
    def step(self) -> Fraction:
        """The distance from one multiple to the next, 2^exponent."""
        return self._power(self.exponent)

    def index(self, value: Number) -> int:
        """The number of the grid point nearest to `value`; a value half-way goes up."""
        steps = rational(value, "value") / self.step
        return (2 * steps.numerator + steps.denominator) // (2 * steps.denominator)

    @overload
    def to_float(self, index: int) -> float: ...
    @overload
    def to_float(self, index: Ints) -> Floats: ...
    def to_float(self, index: "int | Ints") -> "float | Floats":
        """Grid points as float64, exactly; refused where float64 cannot hold them.

        An integer of at most 2^53 times a power of two from 2^-1074 on is a float64, so the product is not rounded.
        """
        least, most = (index, index) if isinstance(index, int) else _range(index)
        if least < -FLOAT_INTEGERS or most > FLOAT_INTEGERS:
            raise Invalid("index must be at most 2^53 in size, for a float64 to hold it", hint="use a coarser grid")
        step = float(self.step)
        return index * step if isinstance(index, int) else index.astype(np.float64) * step


def _range(index: Ints) -> tuple[int, int]:
    return (int(index.min()), int(index.max())) if index.size else (0, 0)


def _to_float_in_place(grid: Grid, index: Ints) -> Floats:
    """`grid.to_float`, written over the memory of `index`."""
    points = index.view(np.float64)
    whole_numbers, flat = index.reshape(-1), points.reshape(-1)
    for begin in range(0, flat.size, CHUNK):
        flat[begin : begin + CHUNK] = grid.to_float(whole_numbers[begin : begin + CHUNK])
    return points


@overload
def grid_laplace(
    scale: Number, size: None = None, *, grid: Grid | None = None, source: Source | None = None
) -> float: ...
@overload
def grid_laplace(scale: Number, size: Many, *, grid: Grid | None = None, source: Source | None = None) -> Floats: ...
def grid_laplace(
    scale: Number, size: Size = None, *, grid: Grid | None = None, source: Source | None = None
) -> "float | Floats":
    """Laplace noise of the given scale on a grid: a float, or a float64 array, of exact multiples of the grid's step."""
    on = _chosen(grid, scale)
    return _release(on, discrete_laplace(_steps(scale, on), size, source=source))


@overload
def grid_gaussian(
    scale: Number, size: None = None, *, grid: Grid | None = None, source: Source | None = None
) -> float: ...
@overload
def grid_gaussian(scale: Number, size: Many, *, grid: Grid | None = None, source: Source | None = None) -> Floats: ...
def grid_gaussian(
    scale: Number, size: Size = None, *, grid: Grid | None = None, source: Source | None = None
) -> "float | Floats":
    """Gaussian noise of the given scale on a grid: a float, or a float64 array, of exact multiples of the grid's step."""
    on = _chosen(grid, scale)
    return _release(on, discrete_gaussian(_steps(scale, on), size, source=source))


def _chosen(grid: Grid | None, scale: Number) -> Grid:
    if grid is None:
        return Grid.of(scale)
    if not isinstance(grid, Grid):
        raise Invalid(f"grid must be a Grid, got {shown(grid)}")
    return grid


def _release(grid: Grid, index: "int | Ints") -> "float | Floats":
    return grid.to_float(index) if isinstance(index, int) else _to_float_in_place(grid, index)


def _steps(scale: Number, grid: Grid) -> Fraction:
    steps = positive(scale, "scale") / grid.step
    if steps >= 1 << 46:
        raise Invalid(
            f"scale must be less than 2^46 steps of its grid, got {shown(scale)} on steps of 2^{grid.exponent}"
        )
    return steps
