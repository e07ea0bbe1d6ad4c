"""What all private estimators share: data are read without being judged, and who is charged is never copied.

`fit` never raises because of a value: a row with one that is no finite number is left out, for an error would tell of it. So scikit-learn's
checks that ask for such errors are expected to fail. A `measure` charges a ledger in this process, and a `key` names one measurement:
clones share the measure and have no key, and an estimator that has a measure cannot be pickled, for its copy would charge nobody.
"""

from collections.abc import Callable
from copy import deepcopy
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import column_or_1d, validate_data

from discreet.errors import Invalid, Refused
from discreet.learn.columns_given import unmasked
from discreet.learn.scaling import table
from discreet.mechanisms.measure import Unmetered

OF_ITSELF = {"_metadata_request", "_sklearn_output_config"}
"""What scikit-learn keeps beside parameters: which of `ids` and the like are handed on, and which frames come out."""

Columns = Any  # whatever scikit-learn reads as a table


class Charged(BaseEstimator):  # type: ignore[misc]
    """An estimator that is charged for: `epsilon` must be set, and whoever gives a curator's `measure` spends its budget."""

    epsilon: Any
    measure: Any
    key: str | None

    def _table(self, features: Columns, *, reset: bool) -> Any:
        """Rows and columns of numbers, whatever the cells are, and as few as they may be. No cell is judged, or told in an error."""
        given = _cells(features)
        if len(getattr(given, "shape", (0, 0))) < 2:
            kind = "1D" if getattr(given, "shape", ()) else "scalar"
            raise Invalid(
                f"Expected 2D array, got {kind} array instead", hint="Reshape your data: features have rows and columns"
            )
        _refuse_complex(given, "features")
        found = validate_data(self, given, reset=reset, dtype=None, ensure_all_finite=False, ensure_min_samples=0)
        return table(found)

    def _price(self) -> Any:
        if self.epsilon is None:
            raise Invalid("epsilon must be set: there is no usual price of privacy", hint="epsilon=1")
        return self.epsilon

    def __sklearn_clone__(self) -> Self:
        named = self.get_params(deep=False)
        measure, _ = named.pop("measure"), named.pop("key")
        other = type(self)(**{name: clone(value, safe=False) for name, value in named.items()}, measure=measure)
        for name in OF_ITSELF & vars(self).keys():
            setattr(other, name, deepcopy(vars(self)[name]))
        return other

    def _scored(self, score: Callable[..., float]) -> Callable[..., float]:
        """Refused where a ledger is charged, and before a search among models has charged it for fits."""
        if self.measure is not None and not isinstance(self.measure, Unmetered):
            raise Refused(
                "a score tells of the labels that it counts, and nobody is charged for it",
                code="score",
                hint="for rows that are nobody's secret: sklearn.metrics.accuracy_score or r2_score, of y and predict(X)",
            )
        return score

    def __getstate__(self) -> Any:
        self._charges_nobody()
        return super().__getstate__()

    def _charges_nobody(self) -> None:
        if self.measure is not None:
            raise Invalid(
                "an estimator that charges a ledger cannot be pickled: its copy would charge nobody",
                hint="set_params(measure=None) after fitting, or keep model_.to_json()",
            )

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        shared = {"measure": self.measure, "key": None}
        other = type(self)()
        for name, value in vars(self).items():
            setattr(other, name, shared[name] if name in shared else deepcopy(value, memo))
        return other

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True  # the noise is anew in each fit, and there is no seed
        tags.input_tags.allow_nan = True  # such rows are left out
        tags.input_tags.string = True  # and so are those with texts that are no numbers
        return tags


def _cells(given: Any) -> Any:
    """Lists as an array of cells, as far as they are one: scikit-learn would take numbers of them, and show those that it refuses."""
    if hasattr(given, "shape") or given is None:
        return unmasked(given)
    try:
        return np.asarray(given, object)
    except ValueError:
        return given


def _refuse_complex(given: Any, name: str) -> None:
    """By the types of columns, which are no cells; Invalid says no value, as scikit-learn's error would."""
    kinds: Any = getattr(given, "dtypes", getattr(given, "dtype", None))
    if any(getattr(each, "kind", "") == "c" for each in (kinds if hasattr(kinds, "__iter__") else [kinds])):
        raise Invalid(f"Complex data not supported: {name} are real numbers")


def told(name: str, targets: Any, features: Any) -> Any:
    """One target for each row, as scikit-learn asks for it."""
    if targets is None:
        raise Invalid(f"{name} requires y to be passed, but the target y is None")
    given = _cells(targets)
    if not hasattr(given, "shape"):  # of lists beside numbers: each is a cell
        given = np.fromiter(given, object)
    _refuse_complex(given, "targets")
    found = column_or_1d(given, warn=True)
    check_consistent_length(features, found)
    return found
