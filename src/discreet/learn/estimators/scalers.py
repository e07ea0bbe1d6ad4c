"""Private means, and private standardising, for scikit-learn."""

from typing import Any, Self

from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from discreet.exact import Number, positive
from discreet.learn.estimators.charged import Charged, Columns
from discreet.learn.private_scaling import FeatureScale, feature_scale
from discreet.mechanisms.additive import Floats
from discreet.mechanisms.measure import Measure


class PrivateMean(Charged):
    """The mean of each feature within declared `bounds`, (epsilon, delta)-DP, with intervals; see `discreet.learn.feature_scale`."""

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number = 0,
        bounds: Any = None,
        adjacency: str = "add-remove",
        measure: Measure | None = None,
        key: str | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.adjacency = adjacency
        self.measure = measure
        self.key = key

    model_: FeatureScale

    def fit(self, X: Columns, y: Any = None, *, ids: Any = None) -> Self:
        """Release the means, and charge for it. `ids` says whom each row is about: then people are protected."""
        _release(self, self._table(X, reset=True), ids)
        return self

    def conf_int(self, confidence: Number = 0.95) -> Floats:
        """Ends of an interval for each mean: sampling and privacy noise, without the bias of clamping to bounds."""
        check_is_fitted(self)
        return self.model_.interval(confidence)


class PrivateScaler(OneToOneFeatureMixin, TransformerMixin, Charged):  # type: ignore[misc]
    """Features less a private mean, over a private deviation, clipped to [−reach, reach]: public bounds for what comes after.

    The release is charged once, in `fit`; what is transformed is private as before, and goes on to a private estimator.
    """

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number = 0,
        bounds: Any = None,
        reach: float = 4.0,
        adjacency: str = "add-remove",
        measure: Measure | None = None,
        key: str | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.reach = reach
        self.adjacency = adjacency
        self.measure = measure
        self.key = key

    model_: FeatureScale

    def fit(self, X: Columns, y: Any = None, *, ids: Any = None) -> Self:
        """Release means and deviations, and charge for it. `ids` says whom each row is about: then people are protected."""
        features = self._table(X, reset=True)
        positive(self.reach, "reach")
        _release(self, features, ids)
        return self

    def transform(self, X: Columns) -> Floats:
        """Scaled features; what is no number stays none."""
        check_is_fitted(self)
        return self.model_.scaled(self._table(X, reset=False), self.reach)


def _release(estimator: PrivateMean | PrivateScaler, features: Floats, ids: Any) -> None:
    found = feature_scale(
        features,
        bounds=estimator.bounds,
        epsilon=estimator._price(),
        delta=estimator.delta,
        ids=ids,
        adjacency=estimator.adjacency,
        measure=estimator.measure,
        key=estimator.key,
    )
    estimator.model_, estimator.mean_, estimator.scale_ = found, found.mean, found.deviation
    estimator.epsilon_, estimator.delta_ = found.epsilon, found.delta
