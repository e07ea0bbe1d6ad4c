"""Private estimators for scikit-learn: its pipelines, clones and checks, with bounds, classes and a price that are declared.

This package alone imports scikit-learn, which is an optional part.
"""

from discreet.learn.estimators.classifier import PrivateLogisticRegression
from discreet.learn.estimators.regressor import PrivateLinearRegression
from discreet.learn.estimators.scalers import PrivateMean, PrivateScaler

__all__ = ["PrivateLinearRegression", "PrivateLogisticRegression", "PrivateMean", "PrivateScaler"]
