"""Least squares, and logistic regression with any number of classes, as sums of clipped gradients."""

import numpy as np

from discreet.errors import Invalid
from discreet.learn.rows import FeatureRows, clipped_sum
from discreet.learn.training_plan import TrainingPlan
from discreet.mechanisms.additive import Floats, Ints


class LinearProblem:
    """Rows of features with targets, one row a unit; heirs say what the residuals of a batch are."""

    def __init__(self, rows: FeatureRows, plan: TrainingPlan, outputs: int) -> None:
        if plan.person is not None and plan.person.rows > 1:
            raise Invalid("rows must be one a person here", hint="keep one row of each person")
        self.rows, self.plan = rows, plan
        self.shape = (outputs, rows.width)

    @property
    def units(self) -> int:
        """How many rows there are."""
        return len(self.rows)

    def clipped(self, weights: Floats, batch: "Ints | slice") -> Ints:
        """The sum of clipped gradients over a batch."""
        return clipped_sum(self.rows, batch, self.residuals(self.rows.values[batch] @ weights.T, batch), self.plan)

    def residuals(self, scores: Floats, batch: "Ints | slice") -> Floats:
        """The derivative of the loss by each score."""
        raise TypeError("a problem says what its residuals are")


class LeastSquares(LinearProblem):
    """Targets are numbers; the loss is (score − target)²/2. A target that is no finite number makes a row of zeros."""

    def __init__(self, rows: FeatureRows, targets: Floats, plan: TrainingPlan) -> None:
        super().__init__(rows, plan, 1)
        self._targets = targets.reshape(-1, 1)

    def residuals(self, scores: Floats, batch: "Ints | slice") -> Floats:
        """How far each score is above its target."""
        return scores - self._targets[batch]


class Logistic(LinearProblem):
    """Targets are numbers of classes, −1 for a row that is in none of the declared ones: its gradient is 0."""

    def __init__(self, rows: FeatureRows, codes: Ints, classes: int, plan: TrainingPlan) -> None:
        super().__init__(rows, plan, 1 if classes == 2 else classes)
        self._codes = codes

    def residuals(self, scores: Floats, batch: "Ints | slice") -> Floats:
        """The probability of each class, less 1 for the one that it is."""
        codes = self._codes[batch]
        if self.shape[0] == 1:
            found: Floats = sigmoid(scores)
            found[codes == 1] -= 1
        else:
            found = softmax(scores)
            known = np.flatnonzero(codes >= 0)
            found[known, codes[known]] -= 1
        found[codes < 0] = 0
        return found


def sigmoid(scores: Floats) -> Floats:
    """1/(1 + e^−s)."""
    return np.asarray(0.5 * (1 + np.tanh(scores / 2)))


def softmax(scores: Floats) -> Floats:
    """e^s over its sum, for each row."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))
