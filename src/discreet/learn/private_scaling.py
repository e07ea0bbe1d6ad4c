"""Means and standard deviations of features within declared bounds, by one noisy vector: Σ v, Σ v² and the number of rows.

v is a feature less the middle of its bounds, over half of their width. Scaled features are clipped at a public number of deviations, so
that whatever comes after them has public bounds.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np

from discreet.errors import Invalid, Refused
from discreet.exact import Number, nonnegative
from discreet.learn.labels import label_of
from discreet.learn.moments import MOST_ROWS, joined
from discreet.learn.rows import FEATURE_STEPS
from discreet.learn.scaling import FeatureBounds, of_width, table
from discreet.learn.shares import ROWS, DrawShares, Part, one_row_each
from discreet.learn.training_plan import GradientNoise
from discreet.mechanisms.additive import Floats, Ints
from discreet.mechanisms.base import confidence_level
from discreet.mechanisms.measure import Measure, measure_of
from discreet.privacy import Adjacency, Relation

FEW = 6.0
"""Deviations of the noise on the number of rows that it must be above 0, for intervals."""


@dataclass(frozen=True, slots=True)
class SpreadSum:
    """Σ v, Σ v² and the number of rows, each in steps, each in equal parts of what a row may add."""

    width: int
    shape: GradientNoise

    @property
    def of_count(self) -> int:
        """The largest norm of the features of a row, in steps, rounded up; a row counts as much."""
        return joined([FEATURE_STEPS] * self.width, self.shape)

    @property
    def most(self) -> int:
        return joined([self.of_count] * 3, self.shape)

    def exact(self, features: Floats) -> Ints:
        """For any rows of [−1, 1], or of what is no number, whose rows are left out."""
        if len(features) > MOST_ROWS:
            raise Invalid(f"there may be at most {MOST_ROWS:,} rows")
        known = features[np.isfinite(features).all(axis=1)]
        sums = np.rint(known * FEATURE_STEPS).sum(axis=0), np.rint(known * known * FEATURE_STEPS).sum(axis=0)
        return np.concatenate([*sums, [len(known) * self.of_count]]).astype(np.int64)


@dataclass(frozen=True, slots=True)
class FeatureScale:
    """The released mean and deviation of each feature, in the units of the data, and how far the means may be off.

    `spread` is the standard deviation of a mean: that of sampling and that of the noise.
    """

    bounds: FeatureBounds
    mean: Floats
    deviation: Floats
    spread: Floats
    few: bool
    epsilon: Fraction
    delta: Fraction

    def scaled(self, features: Any, reach: float) -> Floats:
        """Features within their bounds, less the mean, over the deviation, clipped to [−reach, reach]; what is no number stays none."""
        given = of_width(table(features), len(self.bounds.low))
        values = (self.bounds.clamped(given) - self.mean) / self.deviation
        return np.asarray(np.clip(values, -reach, reach))

    def interval(self, confidence: Number = 0.95) -> Floats:
        """Ends of an interval for the mean of each feature: sampling and privacy noise, without the bias of clamping to bounds."""
        if self.few:
            raise Refused(
                "there are no intervals: how many rows there are cannot be told from none",
                code="interval",
                hint="spend a larger epsilon",
            )
        reach = NormalDist().inv_cdf((1 + confidence_level(confidence)) / 2) * self.spread
        return np.stack([self.mean - reach, self.mean + reach], axis=1)

    def to_json(self) -> str:
        """The numbers as text; floats are exact."""
        numbers = {name: getattr(self, name).tolist() for name in ("mean", "deviation", "spread")}
        ends = {"low": list(self.bounds.low), "high": list(self.bounds.high)}
        price = {"epsilon": str(self.epsilon), "delta": str(self.delta)}
        return json.dumps({"format": 1, "model": "scale", **ends, **numbers, "few": self.few, **price})

    @classmethod
    def from_json(cls, text: str) -> "FeatureScale":
        """What a text says; Invalid for any other text."""
        try:
            data = json.loads(text)
            if data["format"] != 1 or data["model"] != "scale":
                raise Invalid("this is a model of another kind or of a later release")
            bounds = FeatureBounds.of(list(zip(data["low"], data["high"], strict=True)), len(data["low"]))
            mean, deviation, spread = (np.array(data[name], np.float64) for name in ("mean", "deviation", "spread"))
            price = Fraction(data["epsilon"]), Fraction(data["delta"])
            found = cls(bounds, mean, deviation, spread, bool(data["few"]), *price)
        except Invalid:
            raise
        except (KeyError, TypeError, ValueError, ZeroDivisionError, RecursionError) as error:
            raise Invalid("this is not a scale in JSON") from error
        if not all(each.shape == (len(bounds.low),) and np.isfinite(each).all() for each in (mean, deviation, spread)):
            raise Invalid("the numbers of this scale do not fit together")
        return found


def feature_scale(
    features: Any,
    *,
    bounds: Any,
    epsilon: Number,
    delta: Number = 0,
    ids: Any = None,
    adjacency: Adjacency | str = Adjacency.ADD_REMOVE,
    measure: Measure | None = None,
    key: str | None = None,
) -> FeatureScale:
    """Means and deviations that are (epsilon, delta)-DP for rows, or with `ids`, which say whom each row is about, for people.

    For any rows one more or less moves the released vector by at most `SpreadSum.most`, in L2 where delta is above 0, else in L1. A row
    with a value that is no finite number adds nothing, and of each person one row is used.
    """
    values = table(features)
    relation, used = one_row_each(ids, adjacency, len(values))
    return feature_scale_of(
        lambda: values[used],
        values.shape[1],
        bounds=bounds,
        epsilon=epsilon,
        delta=delta,
        relation=relation,
        measure=measure,
        key=key,
    )


def feature_scale_of(
    read: Callable[[], Floats],
    width: int,
    *,
    bounds: Any,
    epsilon: Number,
    delta: Number = 0,
    relation: Relation = ROWS,
    measure: Measure | None = None,
    key: str | None = None,
) -> FeatureScale:
    """The same for rows that are read inside of the draw alone."""
    limits = FeatureBounds.of(bounds, width)
    if width < 1:
        raise Invalid("there must be at least one feature")
    sums = SpreadSum(width, GradientNoise.GAUSSIAN if nonnegative(delta, "delta") else GradientNoise.LAPLACE)
    shares = DrawShares.of(epsilon, delta, [Part(Fraction(1), sums.most)], relation)
    charged = measure_of(measure)
    with charged(shares.event, label=label_of("scale", limits), key=key, promise=shares.promise) as grant:
        noise, sensitivity = shares.draws[0]
        released = grant(noise, sensitivity, lambda: sums.exact(limits.scaled(read())))
    return _read(released, sums, noise.variance, limits, shares)


def _read(released: Ints, sums: SpreadSum, variance: float, limits: FeatureBounds, shares: DrawShares) -> FeatureScale:
    """What the noisy vector says: nothing here sees data."""
    noise, of_count = variance**0.5 / FEATURE_STEPS, variance**0.5 / sums.of_count
    count = max(float(released[-1]) / sums.of_count, 1.0)
    mean = np.clip(released[: sums.width] / (FEATURE_STEPS * count), -1, 1)
    second = np.clip(released[sums.width : -1] / (FEATURE_STEPS * count), 0, 1)
    # no less than the noise could hide, and no more than values between −1 and 1 can have
    square = np.clip(second - mean**2, min(noise / count, 1.0), 1.0)
    spread = np.sqrt((noise**2 + (mean * of_count) ** 2) / count**2 + square / count)
    return FeatureScale(
        limits,
        np.asarray(limits.middle + limits.half * mean),
        np.asarray(limits.half * np.sqrt(square)),
        np.asarray(limits.half * spread),
        bool(count < FEW * of_count + 1),
        shares.epsilon,
        shares.delta,
    )
