"""A linear model of released numbers alone: what it predicts, how sure it is of its coefficients, and how it is kept as text."""

import json
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np

from discreet.errors import Invalid, Refused
from discreet.exact import Number
from discreet.learn.scaling import of_width, table
from discreet.mechanisms.additive import Floats
from discreet.mechanisms.base import confidence_level


@dataclass(frozen=True, slots=True)
class LinearModel:
    """Coefficients in the units of the data.

    `covariance`, of the coefficients and last of the intercept, holds sampling and privacy noise; it is empty for a model of gradient
    descent. `ridge` is 0 where none was needed. `clip` is where residuals were clipped at last, in the units of the target: the model
    treats those beyond as if they were there. Where `told` is false what was released does not show that the line is not far worse than the
    mean of the targets. `path` holds the coefficients after each step of descent, the intercept last.
    """

    coefficients: Floats
    intercept: float
    covariance: Floats
    ridge: float
    epsilon: Fraction
    delta: Fraction
    clip: float = float("inf")
    path: tuple[Floats, ...] = ()
    told: bool = True

    def predict(self, features: Any) -> Floats:
        """The target that is expected for each row."""
        return np.asarray(of_width(table(features), self.coefficients.size) @ self.coefficients + self.intercept)

    def interval(self, confidence: Number = 0.95) -> Floats:
        """Ends of an interval for each coefficient and, last, the intercept: sampling and privacy noise, without the bias of clipping.

        They cover where the model is linear with errors of one variance, and where bounds and `clip` leave nearly all rows as they are.
        Where a ridge was needed the noise is about as large as what the rows say, and no interval is given.
        """
        if not self.covariance.size:
            raise Refused(
                "there are no intervals for a model of gradient descent: how far it is from its end is not known",
                code="interval",
                hint="fit by sufficient statistics, which is the default",
            )
        if self.ridge:
            raise Refused(
                "there are no intervals: the noise called for a ridge, whose bias they would not cover",
                code="interval",
                hint="spend a larger epsilon, or use fewer features or tighter bounds",
            )
        reach = NormalDist().inv_cdf((1 + confidence_level(confidence)) / 2) * np.sqrt(np.diag(self.covariance))
        middle = np.append(self.coefficients, self.intercept)
        return np.stack([middle - reach, middle + reach], axis=1)

    def to_json(self) -> str:
        """The model as text; floats are exact. The path of descent is left out."""
        return json.dumps(
            {
                "format": 1,
                "model": "linear",
                "coefficients": self.coefficients.tolist(),
                "intercept": self.intercept,
                "covariance": self.covariance.tolist(),
                "ridge": self.ridge,
                "told": self.told,
                "clip": None if np.isinf(self.clip) else self.clip,
                "epsilon": str(self.epsilon),
                "delta": str(self.delta),
            }
        )

    @classmethod
    def from_json(cls, text: str) -> "LinearModel":
        """The model of a text; Invalid for any other text."""
        try:
            data = json.loads(text)
            if data["format"] != 1 or data["model"] != "linear":
                raise Invalid("this is a model of another kind or of a later release")
            found = cls(
                np.array(data["coefficients"], np.float64),
                float(data["intercept"]),
                np.array(data["covariance"], np.float64),
                float(data["ridge"]),
                Fraction(data["epsilon"]),
                Fraction(data["delta"]),
                float("inf") if data["clip"] is None else float(data["clip"]),
                told=bool(data["told"]),
            )
        except Invalid:
            raise
        except (KeyError, TypeError, ValueError, ZeroDivisionError, RecursionError) as error:
            raise Invalid("this is not a model in JSON") from error
        found._check()
        return found

    def _check(self) -> None:
        wide = self.coefficients.size + 1
        fits = self.coefficients.ndim == 1 and self.covariance.shape in ((wide, wide), (0,))
        numbers = np.concatenate([self.coefficients.flat, self.covariance.flat, [self.intercept, self.ridge]])
        if not fits or not np.isfinite(numbers).all():
            raise Invalid("the numbers of this model do not fit together")
