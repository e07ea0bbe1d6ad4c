"""Private linear regression for scikit-learn."""

from collections.abc import Callable
from typing import Any, Self
from warnings import warn

from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from discreet.errors import Invalid
from discreet.exact import Number, shown
from discreet.learn.estimators.charged import Charged, Columns, told
from discreet.learn.linear_regression import LinearDescent, linear
from discreet.mechanisms.additive import Floats
from discreet.mechanisms.measure import Measure

UNTOLD = (
    "the noise is as large as what the targets differ by: this line may be far worse than their mean. "
    "Spend a larger epsilon, declare tighter bounds or a norm, or use fewer features"
)


class PrivateLinearRegression(RegressorMixin, Charged):  # type: ignore[misc]
    """Least squares that are (epsilon, delta)-DP; see `discreet.learn.linear`.

    `bounds`, one pair or a pair for each feature, `target_bounds` and `epsilon` must be declared. `method` is "statistics", or "descent",
    which needs `people`, about how many rows there are. There is no seed. Without a `measure` nothing is charged: whoever fits keeps
    count. A score is made of the model and of the rows that it is asked about: what is computed on private rows, as `score` on those that
    the model was fitted to, or the choice of a grid search, is not private, and is not charged; with a curator's `measure`
    there is no `score`.
    """

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number = 0,
        bounds: Any = None,
        target_bounds: Any = None,
        norm: float | None = None,
        fit_intercept: bool = True,
        method: str = "statistics",
        people: int | None = None,
        adjacency: str = "add-remove",
        measure: Measure | None = None,
        key: str | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.target_bounds = target_bounds
        self.norm = norm
        self.fit_intercept = fit_intercept
        self.method = method
        self.people = people
        self.adjacency = adjacency
        self.measure = measure
        self.key = key

    def fit(self, X: Columns, y: Any, *, ids: Any = None) -> Self:
        """Fit to rows, and charge for it. `ids` says whom each row is about: then people are protected, and one row of each is used."""
        features = self._table(X, reset=True)
        self.model_ = linear(
            features,
            told(type(self).__name__, y, features),
            bounds=self.bounds,
            target_bounds=self.target_bounds,
            epsilon=self._price(),
            delta=self.delta,
            norm=self.norm,
            intercept=self.fit_intercept,
            ids=ids,
            adjacency=self.adjacency,
            descent=self._descent(),
            measure=self.measure,
            key=self.key,
        )
        self.coef_, self.intercept_ = self.model_.coefficients, self.model_.intercept
        self.epsilon_, self.delta_ = self.model_.epsilon, self.model_.delta
        if not self.model_.told:  # which was released, and is no news of anybody
            warn(UNTOLD, UserWarning, stacklevel=2)
        return self

    def _descent(self) -> LinearDescent | None:
        if self.method == "statistics":
            return None
        if self.method != "descent":
            raise Invalid(f"method must be 'statistics' or 'descent', got {shown(self.method)}")
        if self.people is None:
            raise Invalid("people must be declared for descent: about how many rows there are", hint="people=10_000")
        return LinearDescent(people=self.people)

    def predict(self, X: Columns) -> Floats:
        """The target that is expected for each row."""
        check_is_fitted(self)
        return self.model_.predict(self._table(X, reset=False))

    @property
    def score(self) -> Callable[..., float]:
        """R², as scikit-learn has it: a function of X and y, for whoever may see them. Refused where a ledger is charged."""
        return self._scored(super().score)

    def conf_int(self, confidence: Number = 0.95) -> Floats:
        """Ends of an interval for each coefficient and, last, the intercept: sampling and privacy noise, without the bias of clipping."""
        check_is_fitted(self)
        return self.model_.interval(confidence)
