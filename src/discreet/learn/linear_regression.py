"""Private linear regression by sufficient statistics: one noisy matrix of moments, and all else follows from it at no cost.

A row is z = (x, 1, y), scaled into the unit ball; the upper triangle of z zᵀ has norm at most ‖z‖² ≤ 1, in L2 and for ‖z‖₁ ≤ 1 in L1.
So the matrix Σ z zᵀ is one release of sensitivity 1 (Vu and Slavković 2009). A ridge is added where the noise could leave the matrix
without an inverse; it comes from the noisy matrix alone (after Wang 2018, who pays for it). Intervals add the variance of the noise to
that of sampling, by the delta method.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np

from discreet.errors import Invalid, Refused
from discreet.exact import Number
from discreet.learn.rows import FeatureRows, clipped_sum
from discreet.learn.scaling import Bounds, matched, table
from discreet.learn.training_plan import STEPS_OF_CLIP, TrainingPlan
from discreet.mechanisms.additive import Floats
from discreet.mechanisms.base import confidence_level
from discreet.mechanisms.measure import Measure, unmetered

PART = 0.5
"""Of the constant and of the target in a row of the unit ball; features have the rest, √½."""

FLOOR = 2.0
"""The least eigenvalue that is left, in units of the noise times the root of the width: noise alone reaches 2 of them (Wigner)."""


@dataclass(frozen=True, slots=True)
class LinearModel:
    """Coefficients in the units of the data. `covariance` holds sampling and privacy noise; `ridge` is 0 where none was needed."""

    coefficients: Floats
    intercept: float
    covariance: Floats  # of the coefficients and of the intercept, last
    ridge: float
    epsilon: Fraction
    delta: Fraction

    def predict(self, features: Any) -> Floats:
        """The target that is expected for each row."""
        return np.asarray(table(features) @ self.coefficients + self.intercept)

    def interval(self, confidence: Number = 0.95) -> Floats:
        """Ends of an interval for each coefficient and, last, the intercept: sampling and privacy noise, without the bias of clipping.

        Where a ridge was needed the noise is about as large as the signal, and no interval is given.
        """
        if self.ridge:
            raise Refused(
                "there are no intervals: the noise called for a ridge, whose bias they would not cover",
                code="interval",
                hint="spend a larger epsilon, or use fewer features or tighter bounds",
            )
        reach = NormalDist().inv_cdf((1 + confidence_level(confidence)) / 2) * np.sqrt(np.diag(self.covariance))
        middle = np.append(self.coefficients, self.intercept)
        return np.stack([middle - reach, middle + reach], axis=1)


def linear(
    features: Any,
    targets: Sequence[Any],
    *,
    bounds: Any,
    target_bounds: Any,
    epsilon: Number,
    delta: Number = 0,
    norm: float | None = None,
    measure: Measure | None = None,
    key: str | None = None,
) -> LinearModel:
    """Least squares that are (epsilon, delta)-DP for rows that come or go; pure where delta is 0.

    `bounds` and `target_bounds` are declared. `norm` is the declared length of a row of features, each scaled by its bounds into
    [−1, 1]; without it, the root of their number, which no row exceeds. Beyond it rows are scaled down.
    """
    values = table(features)
    matched(targets, values)
    limits = Bounds.of(bounds, values.shape[1])
    ends = Bounds.of(target_bounds, 1, "target_bounds")
    plan = TrainingPlan(epsilon=epsilon, delta=delta, steps=1, people=1)
    lengths = Lengths.of(values.shape[1], plan, norm)
    rows = FeatureRows(
        lengths.rows(limits.scaled(values), ends.scaled(table(np.reshape(targets, (-1, 1))))), plan.shape
    )
    width = rows.width
    upper = np.triu_indices(width)

    def moments() -> Any:
        return clipped_sum(rows, slice(None), rows.values, plan)[upper]

    charged = unmetered() if measure is None else measure
    with charged(plan.event, label="linear regression", key=key, promise=plan.promise) as grant:
        released = grant(plan.noise, plan.sensitivity, moments)
    matrix = np.zeros((width, width))
    matrix[upper] = released / STEPS_OF_CLIP
    whole = matrix + np.triu(matrix, 1).T
    return _solved(whole, plan, lengths, limits, ends)


@dataclass(frozen=True, slots=True)
class Lengths:
    """What features, the constant and the target are multiplied with, so that a row is in the unit ball."""

    feature: float
    part: float

    @classmethod
    def of(cls, width: int, plan: TrainingPlan, norm: float | None) -> "Lengths":
        pure = plan.delta == 0
        most = float(width) if pure else float(np.sqrt(width))
        if norm is not None and not 0 < norm <= most:
            raise Invalid(f"norm must be above 0 and at most {most:g}, got {norm:g}")
        part = 0.25 if pure else PART
        room = 0.5 if pure else float(np.sqrt(0.5))
        # a little less than the ball, so that rows within the declared norm are not scaled again
        return cls(room * (1 - 2.0**-12) / (most if norm is None else norm), part * (1 - 2.0**-12))

    def rows(self, features: Floats, targets: Floats) -> Floats:
        """Rows z; features beyond the declared norm make a row that is scaled down as a whole."""
        constant = np.full((len(features), 1), self.part)
        return np.hstack([features * self.feature, constant, targets * self.part])


def _solved(whole: Floats, plan: TrainingPlan, lengths: Lengths, limits: Bounds, ends: Bounds) -> LinearModel:
    """The model of a noisy matrix of moments: nothing here sees data."""
    noise = plan.noise.variance / float(STEPS_OF_CLIP) ** 2
    inner, cross, square = whole[:-1, :-1], whole[:-1, -1], whole[-1, -1]
    least = float(np.linalg.eigvalsh(inner)[0])
    ridge = max(0.0, FLOOR * np.sqrt(noise * len(inner)) - least)
    inverse = np.linalg.inv(inner + ridge * np.eye(len(inner)))
    beta = inverse @ cross
    count = max(whole[-2, -2] / lengths.part**2, len(inner) + 1.0)
    rest = max((square - 2 * beta @ cross + beta @ inner @ beta) / max(count - len(inner), 1.0), 0.0)
    by_noise = noise * ((1 + beta @ beta) * np.eye(len(inner)) + np.outer(beta, beta) - np.diag(beta**2))
    covariance = inverse @ (rest * inner + by_noise) @ inverse
    return _unscaled(beta, covariance, ridge, plan, lengths, limits, ends)


def _unscaled(
    beta: Floats, covariance: Floats, ridge: float, plan: TrainingPlan, lengths: Lengths, limits: Bounds, ends: Bounds
) -> LinearModel:
    """From scaled rows to the units of the data: a linear map of the coefficients."""
    width = len(beta) - 1
    slopes = lengths.feature / lengths.part * ends.half[0] / limits.half
    change = np.zeros((width + 1, width + 1))
    change[:width, :width] = np.diag(slopes)
    change[width, :width] = -slopes * limits.middle
    change[width, width] = ends.half[0]
    found = change @ beta
    spread = change @ covariance @ change.T
    return LinearModel(
        found[:-1], float(found[-1] + ends.middle[0]), np.asarray(spread), ridge, plan.epsilon, plan.delta
    )
