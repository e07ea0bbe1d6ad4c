"""Affine functions of measurements, ratios of two such, and where their truth lies: in each of some rows, as arrays."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Reals: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Affine:
    """constant + Σ slopes[i] · total of measurement i, in each row; each total in its own steps. Rounding may have moved it by `off`."""

    constant: Reals
    slopes: Mapping[int, Reals]
    off: Reals | float = 0.0

    def plus(self, other: "Affine") -> "Affine":
        zero = np.zeros_like(self.constant)
        both = {i: self.slopes.get(i, zero) + other.slopes.get(i, zero) for i in {*self.slopes, *other.slopes}}
        return Affine(self.constant + other.constant, both, self.off + other.off)

    def times(self, factor: Reals) -> "Affine":
        off = self.off * np.abs(factor)
        return Affine(self.constant * factor, {i: slope * factor for i, slope in self.slopes.items()}, off)

    def along(self, factors: Reals) -> "Affine":
        """This function times several factors in each row: of rows and columns."""
        slopes = {i: slope[:, None] * factors for i, slope in self.slopes.items()}
        return Affine(self.constant[:, None] * factors, slopes, 0.0)

    def at(self, totals: Mapping[int, Reals]) -> Reals:
        return self.constant + sum(
            (slope * totals[i] for i, slope in self.slopes.items()), np.zeros_like(self.constant)
        )

    def same(self, other: "Affine") -> bool:
        return self.slopes.keys() == other.slopes.keys() and all(
            np.array_equal(a, b)
            for a, b in [(self.constant, other.constant), *((self.slopes[i], other.slopes[i]) for i in self.slopes)]
        )


@dataclass(frozen=True, slots=True)
class AffineForm:
    """base + top/bottom, which is known to lie between low and high. No bottom: it is 1, and there is no base.

    The base keeps a mean that is far from 0 apart from its deviation, which would be lost among the digits of the sum.
    """

    top: Affine
    bottom: Affine | None
    low: Reals
    high: Reals
    base: Reals | float = 0.0

    @property
    def constant(self) -> bool:
        return self.bottom is None and not self.top.slopes

    @property
    def whole_top(self) -> Affine:
        """What is divided by the bottom, the base included."""
        return self.top if self.bottom is None else self.top.plus(self.bottom.times(np.asarray(self.base)))

    def times(self, factor: Reals) -> "AffineForm":
        ends = np.stack([self.low * factor, self.high * factor])
        ends = np.where(np.isnan(ends), 0.0, ends)  # 0 times anything
        return AffineForm(self.top.times(factor), self.bottom, ends.min(axis=0), ends.max(axis=0), self.base * factor)


@dataclass(frozen=True, slots=True)
class Span:
    """Between low and high, in each row; `open` where noise alone would not end it. `half` of an affine form: its ±, whatever the value."""

    low: Reals
    high: Reals
    open: Bools
    half: Reals | None = None


def inside(low: Reals, high: Reals, form: AffineForm) -> tuple[Reals, Reals]:
    """The part within what is known, or the nearest end where there is none."""
    return np.minimum(np.maximum(low, form.low), form.high), np.maximum(np.minimum(high, form.high), form.low)
