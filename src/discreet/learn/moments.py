"""Moments of rows in exact integers: means, sizes, products of features, and products of features with targets or residuals.

What a row adds to any of these sums depends on that row and on what was released alone, bit for bit, and its norm is at most `most` of the
sum: each number is scaled and rounded by itself, and integers below 2^53 are added exactly in any order (`learn/rows.py`). A row with a
value that is no finite number is left out of all of them. Nothing here is for release but through a draw.
"""

from dataclasses import dataclass
from math import isqrt

import numpy as np

from discreet.errors import Invalid
from discreet.learn.rows import FEATURE_STEPS, FeatureRows, lengths
from discreet.learn.training_plan import GradientNoise
from discreet.mechanisms.additive import Floats, Ints

SIZES = 14
"""Kinds of rows by their length: the longest that bounds allow, and each kind shorter by a factor of √2."""

CONSTANT = 0.5
"""The constant beside features in a ball of radius 1."""

CROSS, SQUARE = 0.7, 0.25
"""The largest products of features and target, and the largest square of the target, in units of the largest square of a row."""

MOST_ROWS = 1 << 26
"""So that all sums are below 2^62: a public constant."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Of the squares of features and of their products in a sum, whole numbers, so that what a row adds is as long as its square.

    In L2, Σ 25 xᵢ⁴ + Σ_{i<j} 49 xᵢ²xⱼ² ≤ 25 ‖x‖⁴, since 49 ≤ 2 · 25; in L1, Σ xᵢ² + Σ_{i<j} 2|xᵢxⱼ| = ‖x‖².
    """

    square: int
    product: int

    @classmethod
    def of(cls, shape: GradientNoise) -> "Weights":
        return cls(5, 7) if shape is GradientNoise.GAUSSIAN else cls(1, 2)

    def table(self, width: int) -> Ints:
        """Of each entry of a matrix."""
        return np.where(np.eye(width, dtype=bool), self.square, self.product)


def joined(norms: list[int], shape: GradientNoise) -> int:
    """The norm of vectors side by side, rounded up."""
    return sum(norms) if shape is GradientNoise.LAPLACE else isqrt(sum(each * each for each in norms) - 1) + 1


@dataclass(frozen=True, slots=True, repr=False)  # a traceback may show it, and it holds rows
class ScaledExamples:
    """Rows of features and their targets, both scaled by declared bounds into [−1, 1], without those that are no numbers."""

    features: Floats
    targets: Floats

    @classmethod
    def of(cls, features: Floats, targets: Floats) -> "ScaledExamples":
        if len(features) > MOST_ROWS:
            raise Invalid(f"there may be at most {MOST_ROWS:,} rows")
        known = np.isfinite(features).all(axis=1) & np.isfinite(targets)
        return cls(features[known], targets[known])


@dataclass(frozen=True, slots=True)
class MeansSum:
    """The sum of features, and last how many rows there are, in equal parts."""

    width: int
    shape: GradientNoise

    @property
    def all_features(self) -> int:
        """The largest norm of the features of a row, in steps, rounded up."""
        return joined([FEATURE_STEPS] * self.width, self.shape)

    @property
    def most(self) -> int:
        return joined([self.all_features] * 2, self.shape)

    def exact(self, rows: ScaledExamples) -> Ints:
        steps = np.rint(rows.features * FEATURE_STEPS)
        return np.append(steps.sum(axis=0), len(rows.features) * self.all_features).astype(np.int64)

    def read(self, released: Ints) -> Floats:
        """The mean of each feature, within its bounds."""
        count = max(float(released[-1]) / self.all_features, 1.0)
        return np.clip(released[:-1] / (FEATURE_STEPS * count), -1, 1)


@dataclass(frozen=True, slots=True)
class SizesSum:
    """How many rows there are of each length, seen from a middle that was released."""

    width: int
    shape: GradientNoise
    middle: Floats

    @property
    def most(self) -> int:
        return FEATURE_STEPS

    @property
    def ends(self) -> Floats:
        """The longest of each kind, beginning with the longest that bounds allow."""
        return longest(self.width, self.shape) * 2.0 ** (-np.arange(SIZES) / 2)

    def exact(self, rows: ScaledExamples) -> Ints:
        kinds = np.searchsorted(-self.ends[1:], -lengths(rows.features - self.middle, self.shape), side="right")
        return np.bincount(kinds, minlength=SIZES).astype(np.int64) * FEATURE_STEPS

    def read(self, released: Ints, deviation: float) -> float:
        """The shortest length that all but about a tenth of the rows stay within; of too few rows, the longest."""
        counts = np.cumsum(released) / FEATURE_STEPS
        enough = np.flatnonzero(counts > max(counts[-1] / 10, 6 * deviation / FEATURE_STEPS))
        return float(self.ends[enough[0]] if len(enough) else self.ends[0])


def longest(width: int, shape: GradientNoise) -> float:
    """The longest row of so many features in [−1, 1]."""
    return float(width if shape is GradientNoise.LAPLACE else np.sqrt(width))


@dataclass(frozen=True, slots=True)
class RowView:
    """How rows are looked at: features less their middle, over a norm, and the constant. All of it is declared or was released."""

    middle: Floats
    norm: float
    shape: GradientNoise

    @property
    def factor(self) -> float:
        """What features in a ball of radius 1, beside the constant, are multiplied with, so that rows are in the unit ball."""
        whole = 1 + CONSTANT if self.shape is GradientNoise.LAPLACE else float(np.sqrt(1 + CONSTANT**2))
        return (1 - 2.0**-12) / whole  # a little less, so that rows of the norm itself are not scaled down

    def _placed(self, features: Floats) -> FeatureRows:
        constant = np.full((len(features), 1), CONSTANT)
        return FeatureRows(np.hstack([(features - self.middle) / self.norm, constant]) * self.factor, self.shape)

    @property
    def constant(self) -> float:
        """The last feature of a row that is not scaled down, in steps."""
        return float(self._placed(self.middle[None, :]).steps[0, -1])

    def rows(self, rows: ScaledExamples) -> "ViewedRows":
        """Rows within the unit ball. One that is longer is scaled down as a whole, with its target, which keeps what is linear so."""
        placed = self._placed(rows.features)
        shrunk = placed.steps[:, -1].astype(np.float64) / self.constant
        return ViewedRows(placed, rows.targets * shrunk)


@dataclass(frozen=True, slots=True, repr=False)  # a traceback may show it, and it holds rows
class ViewedRows:
    """Rows in the unit ball, the constant last, and targets in [−1, 1]."""

    rows: FeatureRows
    targets: Floats


@dataclass(frozen=True, slots=True)
class ProductsSum:
    """The upper triangle of Σ x xᵀ, then Σ x y, then Σ y²: one vector, in which a row's x is in the unit ball and its y in [−1, 1]."""

    width: int
    shape: GradientNoise

    @property
    def weights(self) -> Weights:
        return Weights.of(self.shape)

    @property
    def target_steps(self) -> int:
        return int(CROSS * self.weights.square * FEATURE_STEPS)

    @property
    def divisor(self) -> int:
        """What squares of targets are divided by."""
        return round(self.target_steps**2 / (SQUARE * self._square))

    @property
    def _square(self) -> int:
        return self.weights.square * FEATURE_STEPS**2

    @property
    def most(self) -> int:
        cross, square = FEATURE_STEPS * self.target_steps, self.target_steps**2 // self.divisor
        return joined([self._square, cross, square], self.shape)

    def exact(self, seen: ViewedRows) -> Ints:
        targets = np.rint(seen.targets * self.target_steps)
        upper = np.triu_indices(self.width)
        squares = summed(seen.rows, None)[upper] * self.weights.table(self.width)[upper]
        return np.concatenate([squares, summed(seen.rows, targets), _squares(targets, self.divisor)])

    def read(self, released: Ints, variance: float) -> "Products":
        upper = np.triu_indices(self.width)
        count, units = len(upper[0]), self.weights.table(self.width) * float(FEATURE_STEPS) ** 2
        inner = np.zeros((self.width, self.width))
        inner[upper] = released[:count] / units[upper]
        cross, square = FEATURE_STEPS * self.target_steps, self.target_steps**2 / self.divisor
        return Products(
            inner + np.triu(inner, 1).T,
            released[count:-1] / cross,
            float(released[-1] / square),
            variance / self._square**2,
            variance / (self.weights.product * float(FEATURE_STEPS) ** 2) ** 2,
            variance / cross**2,
            variance / square**2,
        )


@dataclass(frozen=True, slots=True)
class Products:
    """Noisy products, and the variance of the noise on each kind."""

    inner: Floats
    cross: Floats
    square: float
    of_diagonal: float
    of_inner: float
    of_cross: float
    of_square: float


@dataclass(frozen=True, slots=True)
class ResidualsSum:
    """Σ x r and Σ r², where r is what weights leave of a target, clipped to [−clip, clip]. Weights and clip were released."""

    shape: GradientNoise
    weights: Floats
    clip: float

    DIVISOR = 4

    @property
    def most(self) -> int:
        return joined([FEATURE_STEPS**2, FEATURE_STEPS**2 // self.DIVISOR], self.shape)

    def exact(self, seen: ViewedRows) -> Ints:
        scores = seen.rows.of(slice(None)).scores(self.weights[None, :])[:, 0]
        left = np.rint(np.clip((seen.targets - scores) / self.clip, -1, 1) * FEATURE_STEPS)
        return np.concatenate([summed(seen.rows, left), _squares(left, self.DIVISOR)])

    def read(self, released: Ints, variance: float) -> "Residuals":
        cross = FEATURE_STEPS**2 / self.clip
        square = FEATURE_STEPS**2 / self.DIVISOR / self.clip**2
        return Residuals(released[:-1] / cross, float(released[-1] / square), variance / cross**2, variance / square**2)


@dataclass(frozen=True, slots=True)
class Residuals:
    """Noisy products with residuals, and the variance of the noise on each kind."""

    cross: Floats
    square: float
    of_cross: float
    of_square: float


CHUNK = 1 << 17
"""Rows of one product: 2^17 products of less than 2^35 stay within 2^52."""


def summed(rows: FeatureRows, other: Floats | None) -> Ints:
    """Σ x xᵀ, or Σ x t with whole numbers t of less than 2^19, in steps."""
    total = np.zeros((rows.width, rows.width) if other is None else rows.width, np.int64)
    for begin in range(0, len(rows), CHUNK):
        piece = rows.of(slice(begin, begin + CHUNK)).steps
        total += (piece.T @ (piece if other is None else other[begin : begin + CHUNK])).astype(np.int64)
    return total


def _squares(values: Floats, divisor: int) -> Ints:
    return np.array([np.floor(values * values / divisor).astype(np.int64).sum()], np.int64)
