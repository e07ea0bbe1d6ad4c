"""Sums of clipped gradients of linear models, in exact integers.

The gradient of a row is the outer product of its features and its residuals, r ⊗ x, whose norm is ‖r‖·‖x‖. Features are scaled into the
unit ball and truncated to a grid once; residuals are scaled so that the product stays within the clip, and truncated to a grid as well. So
the gradient of a row is a vector of integers of at most 2^32 steps in norm, and a batch of them is summed by a product of matrices of
floating-point numbers that hold integers below 2^53: exactly, whatever the order, the threads and the machine. A row with a value that is
no finite number is a row of zeros, whose gradient is 0.
"""

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.learn.training_plan import ROOM, STEPS_OF_CLIP, Shape, TrainingPlan
from discreet.mechanisms.additive import Floats, Ints

FEATURE_STEPS = 1 << 16
RESIDUAL_STEPS = STEPS_OF_CLIP // FEATURE_STEPS
CHUNK = 1 << 20
"""Rows of one product: 2^20 products of at most 2^32 stay within 2^52."""

MOST_ROWS = 1 << 29
"""So that all sums are below 2^61: a public constant."""


def lengths(vectors: Floats, shape: Shape) -> Floats:
    """The norm of each row that the noise is made for: L2 for Gaussian noise, L1 for Laplace noise."""
    if shape is Shape.LAPLACE:
        return np.abs(vectors).sum(axis=1)  # type: ignore[no-any-return]
    return np.sqrt(np.einsum("ij,ij->i", vectors, vectors))  # type: ignore[no-any-return]


class FeatureRows:
    """Features of rows in the unit ball, as integers of 1/FEATURE_STEPS; with an intercept, the last feature of each row is constant."""

    def __init__(self, features: NDArray[np.floating], shape: Shape) -> None:
        if features.ndim != 2:
            raise Invalid(f"features must be a table of rows and columns, got {features.ndim} dimensions")
        if len(features) > MOST_ROWS:
            raise Invalid(f"there may be at most {MOST_ROWS:,} rows")
        values = np.array(features, np.float64)
        values[~np.isfinite(values).all(axis=1)] = 0
        largest = np.abs(values).max(axis=1, initial=0)
        huge = largest > 1  # divided first, so that no square overflows
        values[huge] /= largest[huge, None]
        most = 1 / float(1 + ROOM)
        norms = lengths(values, shape)
        beyond = (norms > most) | huge
        values[beyond] *= np.where(norms[beyond] > most, most / norms[beyond], 1)[:, None]
        self.shape = shape
        self.steps: Floats = np.trunc(values * FEATURE_STEPS)
        self.norms = lengths(self.steps, shape) / FEATURE_STEPS
        self.values = self.steps / FEATURE_STEPS

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def width(self) -> int:
        """How many features a row has."""
        return int(self.steps.shape[1])


def clipped_sum(
    rows: FeatureRows, batch: "Ints | slice", residuals: Floats, plan: TrainingPlan, share: int = 1
) -> Ints:
    """Σ r ⊗ x over a batch, each clipped to clip/share, in steps of the plan's grid: one row of the result for each kind of residual.

    For any residuals, whatever they are, each row adds a vector of integers of norm at most STEPS_OF_CLIP/share.
    """
    scaled = residuals / float(plan.clip)
    with np.errstate(all="ignore"):  # what is no number is put to 0 below
        norms = lengths(scaled, rows.shape) * rows.norms[batch]
        factor = np.minimum(1.0, float(1 / (1 + ROOM)) / share / norms)
        steps = np.trunc(scaled * (factor * RESIDUAL_STEPS)[:, None])
    steps[~(np.isfinite(steps).all(axis=1) & (norms > 0) & np.isfinite(norms))] = 0
    features = rows.steps[batch]
    total = np.zeros((residuals.shape[1], rows.width), np.int64)
    for begin in range(0, len(features), CHUNK):
        piece = slice(begin, begin + CHUNK)
        total += (steps[piece].T @ features[piece]).astype(np.int64)
    return total
