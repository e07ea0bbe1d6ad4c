"""Private linear regression: by sufficient statistics with looks at residuals, or by gradient descent on the squared loss.

The first is the default and the more accurate one (`least_squares`). The second is that of the lecture notes: each coordinate of a mean
gradient is a statistical query, and the sequence of weights is the release.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.errors import Invalid
from discreet.exact import Number
from discreet.learn.descent import Descent, descend
from discreet.learn.labels import label_of
from discreet.learn.least_squares import LeastSquaresFit, checked_norm
from discreet.learn.linear_model import LinearModel as LinearModel
from discreet.learn.moments import RowView, ScaledExamples, longest
from discreet.learn.problems import LeastSquares
from discreet.learn.rows import FEATURE_STEPS
from discreet.learn.scaling import FeatureBounds, column, matched, table
from discreet.learn.shares import ROWS, one_row_each
from discreet.learn.training_plan import Person, TrainingPlan
from discreet.mechanisms.additive import Floats
from discreet.mechanisms.measure import Measure, measure_of
from discreet.privacy import Adjacency, Relation, Unit

LABEL = "linear regression"
MOVES = Descent(rate=1.3, momentum=0.95)
"""No row in the unit ball has a longer curvature than 1, for which Nesterov's steps are stable below 2(1 + 0.95)/(1 + 1.9) = 1.34."""


@dataclass(frozen=True, slots=True)
class LinearDescent:
    """Gradient descent in place of sufficient statistics: `people` is the declared number of rows, by which gradients are divided.

    `clip` bounds the gradient of a row, for features in the unit ball and targets in [−1, 1]: in L1 with Laplace noise for pure epsilon,
    in L2 with Gaussian noise where delta is above 0. `rate` is the chance of a row to be in the batch of a step.
    """

    people: int
    steps: int = 100
    clip: Number = 0.2
    rate: Number = 1
    moves: Descent = MOVES

    def plan(self, epsilon: Number, delta: Number, relation: Relation) -> TrainingPlan:
        """What is drawn."""
        return TrainingPlan(
            epsilon=epsilon,
            delta=delta,
            steps=self.steps,
            people=self.people,
            clip=self.clip,
            rate=self.rate,
            adjacency=relation.adjacency,
            person=Person() if relation.unit is Unit.PERSON else None,
        )


@dataclass(frozen=True, slots=True)
class LinearUnits:
    """The units of the data: what is declared of features and target, and how coefficients for scaled rows read in them."""

    features: FeatureBounds
    target: FeatureBounds
    intercept: bool

    @classmethod
    def of(cls, bounds: Any, target_bounds: Any, width: int, intercept: bool) -> "LinearUnits":
        return cls(FeatureBounds.of(bounds, width), FeatureBounds.of(target_bounds, 1, "target_bounds"), intercept)

    @property
    def height(self) -> float:
        """What a target in [−1, 1] is multiplied with."""
        return float((self.target.half if self.intercept else self.target.farthest)[0])

    def examples(self, features: Floats, targets: Floats) -> ScaledExamples:
        """Rows scaled by declared bounds; without an intercept about 0, where a line through it still goes through it."""
        if self.intercept:
            return ScaledExamples.of(self.features.scaled(features), self.target.scaled(targets[:, None])[:, 0])
        return ScaledExamples.of(
            self.features.scaled_from_zero(features), self.target.scaled_from_zero(targets[:, None])[:, 0]
        )

    def change(self, view: RowView) -> tuple[Floats, float]:
        """The matrix that takes weights for rows of a view to coefficients and intercept, and what is added to the intercept."""
        width = len(self.features.low)
        half = self.features.half if self.intercept else self.features.farthest
        slopes = self.height * view.factor / view.norm / half
        matrix = np.zeros((width + 1, width + 1))
        matrix[:width, :width] = np.diag(slopes)
        if not self.intercept:
            return matrix, 0.0
        matrix[width, :width] = -slopes * (self.features.middle + self.features.half * view.middle)
        matrix[width, width] = self.height * view.constant / FEATURE_STEPS
        return matrix, float(self.target.middle[0])


def linear(
    features: Any,
    targets: Any,
    *,
    bounds: Any,
    target_bounds: Any,
    epsilon: Number,
    delta: Number = 0,
    norm: Number | None = None,
    intercept: bool = True,
    ids: Any = None,
    adjacency: Adjacency | str = Adjacency.ADD_REMOVE,
    descent: LinearDescent | None = None,
    measure: Measure | None = None,
    key: str | None = None,
) -> LinearModel:
    """Least squares that are (epsilon, delta)-DP for rows, or with `ids`, which say whom each row is about, for people.

    `bounds` and `target_bounds` are declared; values beyond count as the bound. `norm` is the declared length of a row of features, each
    scaled by its bounds into [−1, 1]: Euclidean, for pure epsilon (delta 0) the sum of sizes. Without it features are centred at noisy
    means and the norm is found, out of the same budget; descent takes the longest that bounds allow. A longer row is scaled down as a
    whole, with its target. A row with a value that is no finite number adds nothing. Of each person one row is used. With a curator's
    `measure` its ledger is charged.
    """
    values = table(features)
    marks = column(targets)
    matched(marks, values)
    relation, used = one_row_each(ids, adjacency, len(values))
    if descent is None:
        return linear_of(
            lambda: (values[used], marks[used]),
            values.shape[1],
            bounds=bounds,
            target_bounds=target_bounds,
            epsilon=epsilon,
            delta=delta,
            norm=norm,
            intercept=intercept,
            relation=relation,
            measure=measure,
            key=key,
        )
    units = LinearUnits.of(bounds, target_bounds, values.shape[1], intercept)
    plan = descent.plan(epsilon, delta, relation)
    return _descended(units.examples(values[used], marks[used]), units, plan, descent.moves, norm, measure, key)


def linear_of(
    read: Callable[[], tuple[Floats, Floats]],
    width: int,
    *,
    bounds: Any,
    target_bounds: Any,
    epsilon: Number,
    delta: Number = 0,
    norm: Number | None = None,
    intercept: bool = True,
    relation: Relation = ROWS,
    measure: Measure | None = None,
    key: str | None = None,
) -> LinearModel:
    """The same for rows that are read inside of draws alone: `read` gives features of this width, and targets; one row a unit."""
    units = LinearUnits.of(bounds, target_bounds, width, intercept)
    kept: list[ScaledExamples] = []

    def examples() -> ScaledExamples:
        found = read()  # each time, for it may refuse whoever is outside of a draw
        if not kept:
            kept.append(units.examples(*found))
        return kept[0]

    label = label_of(LABEL, units, norm)
    fit = LeastSquaresFit.of(width, epsilon=epsilon, delta=delta, norm=norm, intercept=intercept, relation=relation)
    state, view = fit.fitted(examples, measure_of(measure), label, key)
    matrix, more = units.change(view)
    found = matrix @ state.weights
    return LinearModel(
        found[:-1],
        float(found[-1]) + more,
        matrix @ state.covariance @ matrix.T,
        state.matrix.ridge,
        fit.shares.epsilon,
        fit.shares.delta,
        state.clip * units.height,
    )


def _descended(
    examples: ScaledExamples,
    units: LinearUnits,
    plan: TrainingPlan,
    moves: Descent,
    norm: Number | None,
    measure: Measure | None,
    key: str | None,
) -> LinearModel:
    """Weights by noisy descent, in the units of the data; and those of each step."""
    if not units.intercept:
        raise Invalid("gradient descent has an intercept here", hint="leave intercept=True, or fit by statistics")
    width = len(units.features.low)
    if width < 1:
        raise Invalid("there must be at least one feature")
    view = RowView(np.zeros(width), checked_norm(norm, width, plan.shape) or longest(width, plan.shape), plan.shape)
    seen = view.rows(examples)
    problem = LeastSquares(seen.rows, seen.targets, plan)
    trained = descend(problem, plan, moves, measure=measure, key=key, label=label_of(LABEL, units, norm))
    matrix, more = units.change(view)
    shift = np.append(np.zeros(width), more)
    found = matrix @ trained.weights[0] + shift
    path = tuple(matrix @ each[0] + shift for each in trained.path)
    return LinearModel(found[:-1], float(found[-1]), np.zeros(0), 0.0, plan.epsilon, plan.delta, path=path)
