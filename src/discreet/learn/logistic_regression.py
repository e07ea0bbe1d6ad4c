"""Private logistic regression, of two classes or of one joint model of many, by noisy descent on the full batch or on sampled ones.

What ships was chosen on four tables, none of which its figures are measured on: wine, and three of made classes (docs/learn.md).
"""

import json
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import Invalid
from discreet.exact import Number
from discreet.learn.centring import CentredLogistic, Examples, centred
from discreet.learn.columns_given import listed, one_column, plain
from discreet.learn.descent import Descent, Keeper, descend
from discreet.learn.labels import label_of
from discreet.learn.people import unit_of, used_rows
from discreet.learn.problems import sigmoid, softmax
from discreet.learn.rows import FeatureRows
from discreet.learn.scaling import FeatureBounds, matched, of_width, table
from discreet.learn.training_plan import GradientNoise, Person, TrainingPlan
from discreet.mechanisms.additive import Floats, Ints
from discreet.mechanisms.measure import Measure
from discreet.privacy import Adjacency

STEPS = 60
CLIP = Fraction(3, 10)
RATE = 10.0

Label = str | int | float | bool


@dataclass(frozen=True, slots=True)
class LogisticModel:
    """Weights for features scaled by declared bounds, about a middle; `classes` in the order that they were declared."""

    weights: Floats
    bounds: FeatureBounds
    middle: Floats
    classes: tuple[Label, ...]
    epsilon: Fraction
    delta: Fraction

    def scores(self, features: Any) -> Floats:
        """One column for two classes, else one for each."""
        values = of_width(table(features), len(self.middle))
        rows = FeatureRows(centred(values, self.bounds, self.middle), GradientNoise.GAUSSIAN)
        return np.asarray(rows.values @ self.weights.T)

    def probabilities(self, features: Any) -> Floats:
        """Of each class, for each row."""
        found = self.scores(features)
        if len(self.classes) > 2:
            return softmax(found)
        second = sigmoid(found)
        return np.hstack([1 - second, second])

    def predict(self, features: Any) -> list[Label]:
        """The class of each row that is the most probable; the first one for a row with what is no finite number, which tells nothing."""
        return [self.classes[i] for i in self.probabilities(features).argmax(axis=1)]

    def to_json(self) -> str:
        """The model as text; floats are exact."""
        return json.dumps(
            {
                "format": 1,
                "model": "logistic",
                "classes": list(self.classes),
                "low": list(self.bounds.low),
                "high": list(self.bounds.high),
                "middle": self.middle.tolist(),
                "weights": self.weights.tolist(),
                "epsilon": str(self.epsilon),
                "delta": str(self.delta),
            }
        )

    @classmethod
    def from_json(cls, text: str) -> "LogisticModel":
        """The model of a text; Invalid for any other text."""
        try:
            data = json.loads(text)
            if data["format"] != 1 or data["model"] != "logistic":
                raise Invalid("this is a model of another kind or of a later release")
            weights = np.array(data["weights"], np.float64)
            bounds = FeatureBounds.of(list(zip(data["low"], data["high"], strict=True)), len(data["low"]))
            price = Fraction(data["epsilon"]), Fraction(data["delta"])
            found = cls(weights, bounds, np.array(data["middle"], np.float64), tuple(data["classes"]), *price)
        except (KeyError, TypeError, ValueError, ZeroDivisionError, RecursionError) as error:
            if isinstance(error, Invalid):
                raise
            raise Invalid("this is not a model in JSON") from error
        outputs = 1 if len(found.classes) == 2 else len(found.classes)
        width = len(bounds.low)
        fitting = weights.shape == (outputs, width + 1) and found.middle.shape == (width,)
        if not fitting or not np.isfinite(weights).all() or not np.isfinite(found.middle).all():
            raise Invalid("the weights of this model do not fit its classes and features")
        return found


def logistic(
    features: Any,
    targets: Any,
    *,
    classes: Sequence[Label],
    bounds: Any,
    people: int,
    epsilon: Number,
    delta: Number,
    steps: int = STEPS,
    rate: Number = 1,
    clip: Number = CLIP,
    descent: Descent | None = None,
    ids: Any = None,
    person: Person | None = None,
    adjacency: Adjacency | str = Adjacency.ADD_REMOVE,
    measure: Measure | None = None,
    key: str | None = None,
    keeper: Keeper | None = None,
    progress: Callable[[int], None] | None = None,
) -> LogisticModel:
    """A model that is (epsilon, delta)-DP for rows that come or go; with `ids`, which say whom each row is about, for people.

    `classes` and `bounds` are declared, and `people` is a public estimate of the number of rows, or of people; a row of no declared
    class, or with a value that is no finite number, adds nothing. Of each person one row is used, or as many as `person` says. With a
    curator's `measure` its ledger is charged.
    """
    values = table(features)
    labels = one_column(targets, "targets")
    matched(labels, values)
    declared = _classes(classes)
    limits = FeatureBounds.of(bounds, values.shape[1])
    people_of = None if ids is None else listed(ids, "ids")
    unit = unit_of(people_of, person, len(values))
    plan = TrainingPlan(
        epsilon=epsilon,
        delta=delta,
        steps=steps,
        people=people,
        rate=rate,
        clip=clip,
        shape="gaussian",
        person=unit,
        adjacency=adjacency,
    )
    rows, kept = used_rows(people_of, unit)
    examples = Examples(values[rows], codes(labels, declared)[rows], kept)
    problem = CentredLogistic(lambda: examples, values.shape[1], limits, len(declared), plan)
    trained = descend(
        problem,
        plan,
        Descent(RATE) if descent is None else descent,
        measure=measure,
        key=key,
        label=label_of("logistic regression", declared, limits),
        keeper=keeper,
        progress=progress,
        first=problem,
    )
    return LogisticModel(trained.weights, limits, trained.middle, declared, plan.epsilon, plan.delta)


def codes(targets: Sequence[Any], classes: tuple[Label, ...]) -> Ints:
    """The number of the class of each target; −1 for one that was not declared."""
    places = {each: i for i, each in enumerate(classes)}

    def code(target: Any) -> int:
        try:
            return places.get(plain(target), -1)
        except Exception:  # what has no hash, or cannot be compared, is no class
            return -1

    return np.array([code(target) for target in targets], np.int64)


def _classes(classes: Any) -> tuple[Label, ...]:
    """Declared classes: texts, numbers or truth values that models are saved with."""
    try:
        found = () if isinstance(classes, str | Set) else tuple(plain(each) for each in classes)
    except TypeError:
        found = ()
    usable = all(isinstance(each, str | int | float) and each == each for each in found)
    if not usable or len(found) < 2 or len(set(found)) < len(found):
        raise Invalid(
            "classes must be declared in an order, two or more texts or numbers, each once",
            hint="classes=('no', 'yes'): what the data hold may not be looked at for them",
        )
    return found
