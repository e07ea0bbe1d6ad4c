"""Private gradient descent, and models whose weights keep secrets.

Whatever looks at data here is a draw of a grant: this package receives `measure`, which spends and measures in one act, and knows
neither curators nor engines.
"""

from typing import TYPE_CHECKING

from discreet.lazy import lazy

if TYPE_CHECKING:
    from discreet.learn.checkpoint import CheckpointFile
    from discreet.learn.descent import Descent, Trained, descend
    from discreet.learn.linear_model import LinearModel
    from discreet.learn.linear_regression import LinearDescent, linear
    from discreet.learn.logistic_regression import LogisticModel, logistic
    from discreet.learn.people import RowsOfPeople
    from discreet.learn.private_scaling import FeatureScale, feature_scale
    from discreet.learn.problems import LeastSquares, Logistic
    from discreet.learn.rows import FeatureRows
    from discreet.learn.table_fit import fit
    from discreet.learn.table_model import TableModel, load
    from discreet.learn.training_plan import Person, TrainingPlan

__all__ = [
    "CheckpointFile",
    "Descent",
    "FeatureRows",
    "FeatureScale",
    "LeastSquares",
    "LinearDescent",
    "LinearModel",
    "Logistic",
    "LogisticModel",
    "Person",
    "RowsOfPeople",
    "TableModel",
    "Trained",
    "TrainingPlan",
    "descend",
    "feature_scale",
    "fit",
    "linear",
    "load",
    "logistic",
]

# The module of each public name.
_HOME = {
    "CheckpointFile": "checkpoint",
    "Descent": "descent",
    "FeatureRows": "rows",
    "FeatureScale": "private_scaling",
    "LeastSquares": "problems",
    "LinearDescent": "linear_regression",
    "LinearModel": "linear_model",
    "Logistic": "problems",
    "LogisticModel": "logistic_regression",
    "Person": "training_plan",
    "RowsOfPeople": "people",
    "TableModel": "table_model",
    "Trained": "descent",
    "TrainingPlan": "training_plan",
    "descend": "descent",
    "feature_scale": "private_scaling",
    "fit": "table_fit",
    "linear": "linear_regression",
    "load": "table_model",
    "logistic": "logistic_regression",
}

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(__name__, __all__, _HOME)
