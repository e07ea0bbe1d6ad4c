"""Private gradient descent, and models whose weights keep secrets.

Whatever looks at data here is a draw of a grant: this package receives `measure`, which spends and measures in one act, and knows
neither curators nor engines.
"""

from typing import TYPE_CHECKING

from discreet.lazy import lazy

if TYPE_CHECKING:
    from discreet.learn.checkpoint import CheckpointFile
    from discreet.learn.descent import Descent, Trained, descend
    from discreet.learn.linear_regression import LinearModel, linear
    from discreet.learn.logistic_regression import LogisticModel, logistic
    from discreet.learn.problems import LeastSquares, Logistic
    from discreet.learn.rows import FeatureRows
    from discreet.learn.table_fit import fit
    from discreet.learn.table_model import TableModel, load
    from discreet.learn.training_plan import Person, TrainingPlan

__all__ = [
    "CheckpointFile",
    "Descent",
    "FeatureRows",
    "LeastSquares",
    "LinearModel",
    "Logistic",
    "LogisticModel",
    "Person",
    "TableModel",
    "Trained",
    "TrainingPlan",
    "descend",
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
    "LeastSquares": "problems",
    "LinearModel": "linear_regression",
    "Logistic": "problems",
    "LogisticModel": "logistic_regression",
    "Person": "training_plan",
    "TableModel": "table_model",
    "Trained": "descent",
    "TrainingPlan": "training_plan",
    "descend": "descent",
    "fit": "table_fit",
    "linear": "linear_regression",
    "load": "table_model",
    "logistic": "logistic_regression",
}

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(__name__, __all__, _HOME)
