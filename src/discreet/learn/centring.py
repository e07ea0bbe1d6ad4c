"""Logistic regression about a middle that the first draws of the run find.

Declared bounds are often far wider than the data, and far from their middle. Then all rows point in nearly the same direction, and descent
is slow. So the first LOOKS draws of a run are of the sum of rows itself, clipped to the same norm, with the same noise: they are steps
like all others for whoever counts what is drawn. The rest descends on rows less that noisy mean. docs/learn.md has the figures.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np

from discreet.learn.people import RowsOfPeople
from discreet.learn.problems import Logistic
from discreet.learn.rows import FEATURE_STEPS, Batch, FeatureRows
from discreet.learn.scaling import FeatureBounds
from discreet.learn.training_plan import STEPS_OF_CLIP, TrainingPlan
from discreet.mechanisms.additive import Floats, Ints

LOOKS = 3
"""Draws of the sum of rows, out of the steps of the plan; a plan of few steps has one for each twenty."""

REACH = 0.7
"""Of the ball that rows are clipped to for their sum, as a share of the corner of the cube that they are declared in."""

RADIUS = 0.25
"""The same for the gradients, about the middle that was found."""

INTERCEPT = 0.5
"""The constant feature beside features in the unit ball."""


@dataclass(frozen=True, slots=True, repr=False)
class Examples:
    """Rows of features, the number of the class or cell of each target (−1: of none), and the people who have several rows.

    They are exact, and belong inside of a draw."""

    features: Floats
    codes: Ints
    people: RowsOfPeople | None = None

    def __repr__(self) -> str:
        return "Examples(…)"


def centred(values: Floats, bounds: FeatureBounds, middle: Floats) -> Floats:
    """Features by their bounds, about a middle, so that most are in the unit ball; and the constant one."""
    inner = (bounds.scaled(values) - middle) / (RADIUS * sqrt(max(values.shape[1], 1)))
    return np.hstack([inner, np.full((len(values), 1), INTERCEPT)])


class CentredLogistic:
    """A problem whose rows are read inside of draws, and whose first draws find their middle."""

    def __init__(
        self, read: Callable[[], Examples], width: int, bounds: FeatureBounds, classes: int, plan: TrainingPlan
    ) -> None:
        self.shape = (1 if classes == 2 else classes, width + 1)
        self.width = width
        self.looks = min(LOOKS, -(-plan.steps // 20)) if plan.steps > 1 else 0
        self._read, self._bounds, self._classes, self.plan = read, bounds, classes, plan
        self._middle = np.zeros(width)
        self._rows: FeatureRows | None = None
        self._problem: Logistic | None = None

    @property
    def units(self) -> int:
        """How many rows or people there are: for the sampler of a draw alone."""
        examples = self._read()
        return len(examples.codes) if examples.people is None else len(examples.people)

    def look(self, batch: Batch) -> Ints:
        """The sum of rows of a batch of units, each within the unit ball; of a person, one row. A row of no class adds nothing.

        Each unit adds a vector of integers of at most STEPS_OF_CLIP in norm, which depends on that unit alone.
        """
        examples = self._read()
        if self._rows is None:
            inner = self._bounds.scaled(examples.features) / (REACH * sqrt(max(self.width, 1)))
            inner[examples.codes < 0] = 0
            self._rows = FeatureRows(inner, self.plan.shape)
        if examples.people is not None:
            batch = examples.people.rows[examples.people.begins[batch]]
        summed = self._rows.of(batch).steps.sum(
            axis=0
        )  # whole numbers of at most 2^16, of which there are at most 2^29
        return np.asarray(summed).astype(np.int64) * (STEPS_OF_CLIP // FEATURE_STEPS)

    def centre(self, mean: Floats) -> Floats:
        """Rows are about this mean of looks from now on; it is public. The middle in units of scaled features."""
        self._middle = np.clip(mean * (REACH * sqrt(max(self.width, 1))), -1, 1)
        self._rows = None
        return self._middle

    def clipped(self, weights: Floats, batch: Batch) -> Ints:
        """The sum of clipped gradients over a batch of units."""
        examples = self._read()
        if self._problem is None:
            rows = FeatureRows(centred(examples.features, self._bounds, self._middle), self.plan.shape)
            self._problem = Logistic(rows, examples.codes, self._classes, self.plan, examples.people)
        return self._problem.clipped(weights, batch)
