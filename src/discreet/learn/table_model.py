"""A model of a table, with what it was trained on: the columns, their encoding, and the price. It is saved as JSON, never pickled."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from discreet.cells import Category
from discreet.errors import Invalid, Refused
from discreet.exact import Number
from discreet.learn.centring import centred
from discreet.learn.encoding import Encoding, key_data, key_of
from discreet.learn.linear_regression import LinearModel
from discreet.learn.logistic_regression import LogisticModel
from discreet.mechanisms.additive import Floats
from discreet.whole_file import write_whole

FORMAT = 1
KIND = "discreet model of a table"


@dataclass(frozen=True, slots=True)
class Training:
    """How a model was trained: all of it public. `made` of the steps were made; whoever was killed lost the others."""

    table: str
    relation: str
    epsilon: Fraction
    delta: Fraction
    people: int | None = None
    steps: int | None = None
    made: int | None = None
    clip: Fraction | None = None
    rate: Fraction | None = None

    def to_data(self) -> dict[str, Any]:
        exact = ("epsilon", "delta", "clip", "rate")
        found = {name: getattr(self, name) for name in self.__slots__}
        return {name: str(value) if name in exact and value is not None else value for name, value in found.items()}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> "Training":
        exact = {name: Fraction(data[name]) for name in ("epsilon", "delta")}
        shares = {name: None if data[name] is None else Fraction(data[name]) for name in ("clip", "rate")}
        counts = {name: None if data[name] is None else int(data[name]) for name in ("people", "steps", "made")}
        return cls(str(data["table"]), str(data["relation"]), **exact, **counts, **shares)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Coefficient:
    """What one more of a feature adds: to a linear target, with an interval where there is one, or to the log-odds of a class."""

    feature: str  # empty for the intercept
    value: float
    low: float | None = None
    high: float | None = None
    of_class: Category | None = None


@dataclass(frozen=True, slots=True)
class TableModel:
    """A model that was trained on a curator's table; it tells the target of people whose columns are public.

    Whoever has it, or sees what it tells, learns no more of anybody in the table than the price says.
    """

    target: str
    encoding: Encoding
    fitted: LogisticModel | LinearModel
    training: Training

    @property
    def kind(self) -> str:
        return "logistic" if isinstance(self.fitted, LogisticModel) else "linear"

    @property
    def classes(self) -> tuple[Category, ...] | None:
        """Those that were declared, in their order; None of a linear model."""
        return self.fitted.classes if isinstance(self.fitted, LogisticModel) else None

    def predict(self, data: Any) -> "list[Category] | Floats":
        """The target of each row: its most probable class, or the number that is expected.

        `data` is a dict of columns, a frame, or rows with the columns of the features in their order. What is missing stands in the
        middle of the bounds, and numbers beyond them count as the bound.
        """
        found = self.fitted.predict(self.encoding.values(data))
        return list(found) if isinstance(self.fitted, LogisticModel) else found  # type: ignore[return-value]

    def probabilities(self, data: Any) -> Floats:
        """Of each class, for each row; Refused of a linear model."""
        if not isinstance(self.fitted, LogisticModel):
            raise Refused("a linear model has no classes", code="classes", hint="predict() tells numbers")
        return self.fitted.probabilities(self.encoding.values(data))

    def coefficients(self, confidence: Number = 0.95) -> tuple[Coefficient, ...]:
        """In the units of the data, the intercept last; intervals hold sampling and privacy noise, for linear models without a ridge."""
        names = (*self.encoding.labels, "")
        if isinstance(self.fitted, LogisticModel):
            each = log_odds(self.fitted)
            of = self.fitted.classes[1:] if len(each) == 1 else self.fitted.classes
            return tuple(
                Coefficient(name, float(value), of_class=label)
                for label, row in zip(of, each, strict=True)
                for name, value in zip(names, row, strict=True)
            )
        middle = np.append(self.fitted.coefficients, self.fitted.intercept)
        if self.fitted.ridge:
            return tuple(Coefficient(name, float(x)) for name, x in zip(names, middle, strict=True))
        ends = self.fitted.interval(confidence)
        return tuple(
            Coefficient(name, float(x), float(low), float(high))
            for name, x, (low, high) in zip(names, middle, ends, strict=True)
        )

    def to_json(self) -> str:
        """The model as text; numbers are exact."""
        return json.dumps(
            {
                "kind": KIND,
                "format": FORMAT,
                "model": self.kind,
                "target": self.target,
                "features": self.encoding.to_data(),
                "fitted": _fitted_data(self.fitted),
                "training": self.training.to_data(),
            },
            ensure_ascii=False,
            indent=1,
        )

    @classmethod
    def from_json(cls, text: str) -> "TableModel":
        """The model of a text; Invalid for any other text."""
        try:
            data = json.loads(text)
            if data["kind"] != KIND or data["format"] != FORMAT:
                raise Invalid("this is a model of another kind, or of a later release", code="model")
            encoding = Encoding.from_data(data["features"])
            training = Training.from_data(data["training"])
            fitted = _fitted_of(data["model"], data["fitted"], encoding, training)
            return cls(str(data["target"]), encoding, fitted, training)
        except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError, RecursionError) as error:
            if isinstance(error, Invalid):
                raise
            raise Invalid(
                "this is not a model in JSON", code="model", hint="name what `discreet train` wrote"
            ) from None

    def save(self, path: str | Path) -> None:
        """Write the model to a file, which is there whole or not at all."""
        write_whole(path, self.to_json().encode())


def load(path: str | Path) -> TableModel:
    """The model that `save` or `discreet train` wrote; Invalid for any other file."""
    try:
        text = Path(path).read_text("utf-8")
    except OSError as error:
        raise Invalid(f"{str(path)!r} cannot be read: {error.strerror}", code="no-file") from None
    except UnicodeDecodeError:
        raise Invalid(f"{str(path)!r} is not a model in JSON", code="model") from None
    return TableModel.from_json(text)


def log_odds(model: LogisticModel) -> Floats:
    """The weights for features as they are in the data, the intercept last; a row for each score.

    They hold inside of the ball that scaled features are clipped to; rows beyond it count as the nearest row of it in their direction.
    """
    middle, half = model.bounds.middle, model.bounds.half
    steps = np.vstack([np.zeros(len(half)), np.diag(half)])
    # at the middle, then one half-width away in each feature
    scores = centred(middle + steps, model.bounds, model.middle) @ model.weights.T
    slopes = (scores[1:] - scores[0]) / half[:, None]
    return np.vstack([slopes, scores[0] - middle @ slopes]).T


def _fitted_data(model: LogisticModel | LinearModel) -> dict[str, Any]:
    if isinstance(model, LogisticModel):
        classes = [key_data(each) for each in model.classes]
        return {"classes": classes, "middle": model.middle.tolist(), "weights": model.weights.tolist()}
    found: dict[str, Any] = json.loads(model.to_json())
    return found


def _fitted_of(kind: str, data: Any, encoding: Encoding, training: Training) -> LogisticModel | LinearModel:
    width, price = len(encoding.labels), (training.epsilon, training.delta)
    if kind == "logistic":
        classes = tuple(key_of(each) for each in data["classes"])
        weights = _array(data["weights"], (1 if len(classes) == 2 else len(classes), width + 1))
        middle = _array(data["middle"], (width,))
        return LogisticModel(weights, encoding.bounds, middle, classes, *price)  # type: ignore[arg-type]
    if kind != "linear":
        raise Invalid("this is a model of another kind, or of a later release", code="model")
    model = LinearModel.from_json(json.dumps(data))
    if model.coefficients.size != width:
        raise _unfitting()
    return model


def _array(data: Any, shape: Sequence[int]) -> Floats:
    found = np.array(data, np.float64)
    if found.shape != tuple(shape) or not np.isfinite(found).all():
        raise _unfitting()
    return found


def _unfitting() -> Invalid:
    return Invalid("the weights of this model do not fit its features", code="model")
