"""Private logistic regression for scikit-learn."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from discreet.errors import Invalid, Refused
from discreet.exact import Number
from discreet.learn.estimators.charged import Charged, Columns, told
from discreet.learn.logistic_regression import STEPS, logistic
from discreet.learn.table_model import log_odds
from discreet.mechanisms.additive import Floats
from discreet.mechanisms.measure import Measure


class PrivateLogisticRegression(ClassifierMixin, Charged):  # type: ignore[misc]
    """Logistic regression of two classes, or one joint model of several, that is (epsilon, delta)-DP; see `discreet.learn.logistic`.

    `classes`, `bounds`, `people`, `epsilon` and `delta` must be declared; a row whose label is not among the classes is left out. There
    is no seed. Without a `measure` nothing is charged: whoever fits keeps count. A score is made of the model and of the rows that it is
    asked about: what is computed on private rows, as `score` on those that the model was fitted to, or the choice of a grid search, is
    not private, and is not charged; with a curator's `measure` there is no `score`. `coef_` holds for rows inside of the ball that
    features are clipped to (`table_model.log_odds`).
    """

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        classes: Any = None,
        bounds: Any = None,
        people: int | None = None,
        steps: int = STEPS,
        rate: Number = 1,
        adjacency: str = "add-remove",
        measure: Measure | None = None,
        key: str | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.classes = classes
        self.bounds = bounds
        self.people = people
        self.steps = steps
        self.rate = rate
        self.adjacency = adjacency
        self.measure = measure
        self.key = key

    def fit(self, X: Columns, y: Any, *, ids: Any = None) -> Self:
        """Fit to rows, and charge for it. `ids` says whom each row is about: then people are protected, and one row of each is used."""
        features = self._table(X, reset=True)
        labels = told(type(self).__name__, y, features)
        price, delta, people = self._price(), self._declared("delta", "1e-6"), self._declared("people", "10_000")
        self.model_ = logistic(
            features,
            labels,
            classes=self._declared("classes", "['no', 'yes']"),
            bounds=self.bounds,
            people=people,
            epsilon=price,
            delta=delta,
            steps=self.steps,
            rate=self.rate,
            ids=ids,
            adjacency=self.adjacency,
            measure=self.measure,
            key=self.key,
        )
        declared = self.model_.classes
        self.classes_ = np.array(declared, None if len({type(each) for each in declared}) == 1 else object)
        found = log_odds(self.model_)
        self.coef_, self.intercept_ = found[:, :-1], found[:, -1]
        self.epsilon_, self.delta_ = self.model_.epsilon, self.model_.delta
        return self

    def _declared(self, name: str, hint: str) -> Any:
        found = getattr(self, name)
        if found is None:
            raise Invalid(f"{name} must be declared: the data may not be looked at for it", hint=f"{name}={hint}")
        return found

    def decision_function(self, X: Columns) -> Floats:
        """The log-odds of the second of two classes, or a score of each of several."""
        check_is_fitted(self)
        scores = self.model_.scores(self._table(X, reset=False))
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_proba(self, X: Columns) -> Floats:
        """Of each class, for each row."""
        check_is_fitted(self)
        return self.model_.probabilities(self._table(X, reset=False))

    def predict(self, X: Columns) -> Any:
        """The class of each row that is the most probable."""
        check_is_fitted(self)
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    @property
    def score(self) -> Callable[..., float]:
        """The accuracy, as scikit-learn has it: a function of X and y, for whoever may see them. Refused where a ledger is charged."""
        return self._scored(super().score)

    def conf_int(self, confidence: Number = 0.95) -> Floats:
        """Refused: descent stops early and clips, and how far it is from where it goes to is not known."""
        check_is_fitted(self)
        raise Refused(
            "there are no intervals for logistic coefficients: clipping and early stopping bias them by what is not known",
            code="interval",
            hint="a linear model of the label, coded 0 and 1, has intervals (PrivateLinearRegression)",
        )
