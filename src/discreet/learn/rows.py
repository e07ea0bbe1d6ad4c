"""Sums of clipped gradients of linear models, in exact integers.

The gradient of a row is the outer product of its residuals and its features, r ⊗ x, whose norm is ‖r‖·‖x‖. Features are scaled into the
unit ball and truncated to a grid once; residuals are scaled so that the product stays within the clip, and truncated to a grid as well. So
the gradient of a row is a vector of integers of at most STEPS_OF_CLIP in norm.

What a row adds depends on the row and on the weights alone, bit for bit, and never on who else is in the batch: sums are of integers below
2^53, which floating-point numbers add exactly in any order, and all else is done to each number by itself, by operations that IEEE 754
rounds in one way only (+, −, ×, ÷, √, truncation, a look into a table). So one unit more or less moves the sum by exactly what that unit
adds, whatever the machine, its threads and the place of a row in memory. A row with a value that is no finite number is a row of zeros.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.learn.training_plan import ROOM, STEPS_OF_CLIP, GradientNoise, TrainingPlan
from discreet.mechanisms.additive import Floats, Ints

FEATURE_STEPS = 1 << 16
RESIDUAL_STEPS = STEPS_OF_CLIP // FEATURE_STEPS
WEIGHT_STEPS = 1 << 20
SCORE_STEPS = FEATURE_STEPS * WEIGHT_STEPS
MOST_WEIGHT = 1 << 16
"""The longest weights of one score: so a product with a row in the unit ball, in whole steps, is at most 2^52."""

FARTHEST = 2.0**100
"""A single weight is at most this, so that its square is a number."""

CHUNK = 1 << 20
"""Rows of one product: 2^20 products of at most 2^32 stay within 2^52."""

MOST_ROWS = 1 << 29
"""So that all sums are below 2^61: a public constant."""

MOST_FEATURES = 1 << 16
FIRST_STEPS = 1 << 18  # features in these are squared and added exactly: 2^16 · 2^36

Batch = Ints | slice


def lengths(vectors: Floats, shape: GradientNoise) -> Floats:
    """The norm of each row that the noise is made for: L2 for Gaussian noise, L1 for Laplace noise. Columns are added in their order."""
    total = np.zeros(len(vectors))
    for column in vectors.T:
        total += np.abs(column) if shape is GradientNoise.LAPLACE else column * column
    return total if shape is GradientNoise.LAPLACE else np.sqrt(total)


def whole_lengths(vectors: Floats, shape: GradientNoise) -> Floats:
    """The same for whole numbers whose squares add up to less than 2^53, and so to the same in any order."""
    if shape is GradientNoise.LAPLACE:
        return np.asarray(np.abs(vectors).sum(axis=1))
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", vectors, vectors)))


class FeatureRows:
    """Features of rows in the unit ball, as integers of 1/FEATURE_STEPS."""

    def __init__(self, features: NDArray[np.floating], shape: GradientNoise) -> None:
        if features.ndim != 2:
            raise Invalid(f"features must be a table of rows and columns, got {features.ndim} dimensions")
        if len(features) > MOST_ROWS or features.shape[1] > MOST_FEATURES:
            raise Invalid(f"there may be at most {MOST_ROWS:,} rows and {MOST_FEATURES:,} features")
        self.shape = shape
        self.steps = _in_ball(features, shape).astype(np.float32)  # whole numbers of at most 2^16: half of the memory
        self.norms = whole_lengths(self.steps.astype(np.float64), shape) / FEATURE_STEPS

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def width(self) -> int:
        """How many features a row has."""
        return int(self.steps.shape[1])

    @property
    def values(self) -> Floats:
        """The features as numbers."""
        return self.steps.astype(np.float64) / FEATURE_STEPS

    def of(self, batch: Batch) -> "RowBatch":
        """The rows of a batch."""
        if isinstance(batch, slice):
            return RowBatch(self.steps[batch].astype(np.float64), self.norms[batch], self.shape)
        return RowBatch(self.steps.take(batch, axis=0).astype(np.float64), self.norms.take(batch), self.shape)


def _in_ball(features: NDArray[np.floating], shape: GradientNoise) -> Floats:
    """Each row in the unit ball, in whole steps; where it lies outside it is scaled down."""
    values = np.array(features, np.float64)
    values[~np.isfinite(values).all(axis=1)] = 0
    largest = np.maximum(np.abs(values).max(axis=1, initial=0), 1)
    values = np.trunc(values / largest[:, None] * FIRST_STEPS)
    norms = whole_lengths(values, shape) / FIRST_STEPS
    factor = 1 / np.maximum(norms * float(1 + ROOM), 1 / largest)
    return np.asarray(np.trunc(values * (factor * (FEATURE_STEPS / FIRST_STEPS))[:, None]))


@dataclass(frozen=True, slots=True, repr=False)  # a traceback may show it, and it holds rows
class RowBatch:
    """Rows of a batch: features in whole steps, and their norms."""

    steps: Floats
    norms: Floats
    shape: GradientNoise

    def scores(self, weights: Floats) -> Floats:
        """⟨w, x⟩ for the weights of each score, exactly, where these are rounded to a grid, and scaled down if they are very long."""
        return np.asarray(self.steps @ whole_weights(weights).T) / SCORE_STEPS

    def residual_steps(self, residuals: Floats, plan: TrainingPlan, most: float) -> Floats:
        """Residuals in whole steps of clip/RESIDUAL_STEPS, scaled down so that each row's gradient is at most `most` clips long."""
        with np.errstate(all="ignore"):  # what is no number is put to 0 below
            scaled = residuals / float(plan.clip)
            sizes = np.abs(scaled[:, 0]) if scaled.shape[1] == 1 else lengths(scaled, self.shape)
            norms = sizes * self.norms
            factor = np.minimum(1.0, most / norms)
            steps: Floats = np.trunc(scaled * (factor * RESIDUAL_STEPS)[:, None])
        usable = np.isfinite(norms) & (norms > 0)
        if not usable.all():
            steps[~usable] = 0
        return steps


def whole_weights(weights: Floats) -> Floats:
    """Weights of each score in whole steps of 1/WEIGHT_STEPS. They are public."""
    if np.abs(weights).max(initial=0) * len(weights.T) <= MOST_WEIGHT / 2:  # short by far, as they nearly always are
        return np.asarray(np.trunc(weights * WEIGHT_STEPS))
    near = np.clip(weights, -FARTHEST, FARTHEST)
    longer = np.linalg.norm(near, axis=1, keepdims=True) / (MOST_WEIGHT * (1 - 2.0**-20))
    return np.asarray(np.trunc(near / np.maximum(longer, 1) * WEIGHT_STEPS))


def clipped_sum(rows: RowBatch, residuals: Floats, plan: TrainingPlan, share: int = 1) -> Ints:
    """Σ r ⊗ x over a batch, each clipped to clip/share, in steps of the plan's grid: one row of the result for each kind of residual.

    For any residuals, whatever they are, each row adds a vector of integers of norm at most STEPS_OF_CLIP/share, and what it adds
    depends on its own features and residuals alone.
    """
    steps = rows.residual_steps(residuals, plan, float(1 / (1 + ROOM)) / share)
    total = np.zeros((residuals.shape[1], rows.steps.shape[1]), np.int64)
    for begin in range(0, len(steps), CHUNK):
        piece = slice(begin, begin + CHUNK)
        total += (steps[piece].T @ rows.steps[piece]).astype(np.int64)
    return total
