"""Least squares, and logistic regression with any number of classes, as sums of clipped gradients."""

from abc import ABC, abstractmethod
from functools import cache

import numpy as np

from discreet.errors import Invalid
from discreet.learn.people import RowsOfPeople, clipped_people
from discreet.learn.rows import Batch, FeatureRows, clipped_sum
from discreet.learn.training_plan import TrainingPlan
from discreet.mechanisms.additive import Floats, Ints

TABLE_STEPS = 1 << 12
"""Of a score that e^s is looked up for; a sum of these changes a residual by less than 2^-13."""

TABLE_REACH = 32
POWER_STEPS = float(1 << 40)
"""Of the powers that softmax adds up, exactly for up to 2^12 classes."""

MOST_CLASSES = 1 << 12


class LinearProblem(ABC):
    """Rows of features with targets; heirs say what the residuals of a batch are. With `people` a unit is a person, else a row."""

    def __init__(self, rows: FeatureRows, plan: TrainingPlan, outputs: int, people: RowsOfPeople | None = None) -> None:
        if (people is None) != (plan.person is None or plan.person.rows == 1):
            raise Invalid(
                "people are told apart where a plan uses several rows of each, and only there",
                hint="give `people`, and a plan with person=Person(rows=…)",
            )
        if people is not None and people.most != plan.rows_each:
            raise Invalid(
                f"the plan is for another number of rows of each person: {plan.rows_each}, got {people.most}",
                hint="RowsOfPeople(ids, plan.rows_each)",
            )
        if rows.shape is not plan.shape:
            raise Invalid(
                "rows are within the unit ball of one norm, and the plan's noise is for another one",
                hint="FeatureRows(features, plan.shape)",
            )
        self.rows, self.plan, self.people = rows, plan, people
        self.shape = (outputs, rows.width)

    @property
    def units(self) -> int:
        """How many rows or people there are: for the sampler alone."""
        return len(self.rows) if self.people is None else len(self.people)

    def clipped(self, weights: Floats, batch: Batch) -> Ints:
        """The sum of clipped gradients over a batch of units."""
        person = self.plan.person
        if self.people is None or person is None:
            rows = self.rows.of(batch)
            return clipped_sum(rows, self.residuals(rows.scores(weights), batch), self.plan)
        places, firsts = self.people.of(batch)
        rows = self.rows.of(places)
        residuals = self.residuals(rows.scores(weights), places)
        if person.each_row:
            return clipped_sum(rows, residuals, self.plan, share=person.rows)
        return clipped_people(rows, firsts, residuals, self.plan)

    @abstractmethod
    def residuals(self, scores: Floats, batch: Batch) -> Floats:
        """The derivative of the loss by each score of the rows of a batch."""


class LeastSquares(LinearProblem):
    """Targets are numbers; the loss is (score − target)²/2. A target that is no finite number makes a row of zeros."""

    def __init__(
        self, rows: FeatureRows, targets: Floats, plan: TrainingPlan, people: RowsOfPeople | None = None
    ) -> None:
        super().__init__(rows, plan, 1, people)
        _check_one_each(targets, rows)
        self._targets = targets.reshape(-1, 1)

    def residuals(self, scores: Floats, batch: Batch) -> Floats:
        """How far each score is above its target."""
        return scores - self._targets[batch]


class Logistic(LinearProblem):
    """Targets are numbers of classes, any other number for a row that is in none of the declared ones: its gradient is 0."""

    def __init__(
        self, rows: FeatureRows, codes: Ints, classes: int, plan: TrainingPlan, people: RowsOfPeople | None = None
    ) -> None:
        if classes > MOST_CLASSES:
            raise Invalid(f"there may be at most {MOST_CLASSES:,} classes, got {classes:,}")
        super().__init__(rows, plan, 1 if classes == 2 else classes, people)
        _check_one_each(codes, rows)
        self._codes = np.where(codes < classes, codes, -1)

    def residuals(self, scores: Floats, batch: Batch) -> Floats:
        """The probability of each class, less 1 for the one that it is."""
        codes = self._codes[batch]
        if self.shape[0] == 1:
            found = looked_up_sigmoid(scores)
            found[:, 0] -= codes == 1
        else:
            found = looked_up_softmax(scores)
            known = np.flatnonzero(codes >= 0)
            found[known, codes[known]] -= 1
        unknown = codes < 0
        if unknown.any():
            found[unknown] = 0
        return found


def _check_one_each(targets: Floats | Ints, rows: FeatureRows) -> None:
    if targets.shape != (len(rows),):
        raise Invalid("there must be one target for each row of features")


@cache
def _powers() -> Floats:
    """e^−s for s = 0, 1, … steps, in whole parts of POWER_STEPS."""
    return np.rint(np.exp(-np.arange(TABLE_REACH * TABLE_STEPS + 1) / TABLE_STEPS) * POWER_STEPS)


@cache
def _sigmoids() -> Floats:
    """1/(1 + e^−s) from −TABLE_REACH to TABLE_REACH."""
    return sigmoid(np.arange(-TABLE_REACH * TABLE_STEPS, TABLE_REACH * TABLE_STEPS + 1) / TABLE_STEPS)


def looked_up_sigmoid(scores: Floats) -> Floats:
    """1/(1 + e^−s) out of a table: the same for the same score, wherever it lies in an array."""
    reach = TABLE_REACH * TABLE_STEPS
    places = np.clip(np.rint(scores * TABLE_STEPS), -reach, reach).astype(np.int64)
    return _sigmoids()[places + reach]


def looked_up_softmax(scores: Floats) -> Floats:
    """e^s over its sum for each row, out of a table whose whole numbers add up to the same in any order."""
    below = (scores.max(axis=1, keepdims=True) - scores) * TABLE_STEPS
    powers = _powers()[np.minimum(np.rint(below), TABLE_REACH * TABLE_STEPS).astype(np.int64)]
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def sigmoid(scores: Floats) -> Floats:
    """1/(1 + e^−s)."""
    return np.asarray(0.5 * (1 + np.tanh(scores / 2)))


def softmax(scores: Floats) -> Floats:
    """e^s over its sum, for each row."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))
