"""Differential privacy with exact discrete noise: the public names, and nothing else.

Names are resolved on first use (PEP 562), so that ``import discreet`` loads no third-party module.
Everything listed in ``__all__`` is public; everything else may change between releases.

>>> import discreet as dp
>>> "noise" in dir(dp)
True
>>> issubclass(dp.Invalid, dp.DiscreetError)
True
"""

from typing import TYPE_CHECKING

from discreet.lazy import lazy

if TYPE_CHECKING:
    from discreet import attacks, audit, learn, local, mechanisms, noise, privacy, weights
    from discreet.answer import Answer, Preview, Quote
    from discreet.curator.declaration import Budget
    from discreet.curator.policy import Policy
    from discreet.curator.session import Curator
    from discreet.errors import DiscreetError, Fault, Invalid, QueryError, Refused
    from discreet.mechanisms import (
        AboveThreshold,
        CoinToss,
        DiscreteGaussian,
        Exponential,
        Gaussian,
        Geometric,
        Laplace,
        NoisyMax,
        PermuteAndFlip,
        Quantiles,
        RandomizedResponse,
        SignedResponse,
        unmetered,
    )
    from discreet.plan.build.functions import (
        col,
        count,
        count_distinct,
        fn,
        interval,
        lit,
        mean,
        median,
        mode,
        param,
        quantile,
        stddev,
        sum,
        variance,
        when,
    )
    from discreet.privacy import PrivacyLoss, Relation, theorems

__version__ = "0.2.0"

__all__ = [
    "AboveThreshold",
    "Answer",
    "Budget",
    "CoinToss",
    "Curator",
    "DiscreetError",
    "DiscreteGaussian",
    "Exponential",
    "Fault",
    "Gaussian",
    "Geometric",
    "Invalid",
    "Laplace",
    "NoisyMax",
    "PermuteAndFlip",
    "Policy",
    "Preview",
    "PrivacyLoss",
    "Quantiles",
    "QueryError",
    "Quote",
    "RandomizedResponse",
    "Refused",
    "Relation",
    "SignedResponse",
    "__version__",
    "attacks",
    "audit",
    "col",
    "count",
    "count_distinct",
    "fn",
    "interval",
    "learn",
    "lit",
    "local",
    "mean",
    "mechanisms",
    "median",
    "mode",
    "noise",
    "param",
    "privacy",
    "quantile",
    "stddev",
    "sum",
    "theorems",
    "unmetered",
    "variance",
    "weights",
    "when",
]

# The module of each public name that is not itself a module of this package.
_HOME = dict.fromkeys(["DiscreetError", "Fault", "Invalid", "QueryError", "Refused"], "errors")
_HOME |= {"Curator": "curator.session", "Budget": "curator.declaration", "Policy": "curator.policy"}
_HOME |= dict.fromkeys(["Answer", "Preview", "Quote"], "answer")
_HOME |= dict.fromkeys(["PrivacyLoss", "Relation", "theorems"], "privacy")
_HOME |= dict.fromkeys(
    [
        "AboveThreshold",
        "CoinToss",
        "DiscreteGaussian",
        "Exponential",
        "Gaussian",
        "Geometric",
        "Laplace",
        "NoisyMax",
        "PermuteAndFlip",
        "Quantiles",
        "RandomizedResponse",
        "SignedResponse",
        "unmetered",
    ],
    "mechanisms",
)

_HOME |= dict.fromkeys(
    [
        "col",
        "count",
        "count_distinct",
        "fn",
        "interval",
        "lit",
        "mean",
        "median",
        "mode",
        "param",
        "quantile",
        "stddev",
        "sum",
        "variance",
        "when",
    ],
    "plan.build.functions",
)

# Type checkers read the imports above instead; with this in view they would accept any name at all.
if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(__name__, __all__, _HOME)
