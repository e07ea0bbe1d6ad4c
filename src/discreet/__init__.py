"""Differential privacy with exact discrete noise: the public names, and nothing else.

Names are resolved on first use (PEP 562), so that ``import discreet`` loads no third-party module.
Everything listed in ``__all__`` is public; everything else may change between releases.

>>> import discreet as dp
>>> "noise" in dir(dp)
True
>>> issubclass(dp.Invalid, dp.DiscreetError)
True
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet import attacks, audit, mechanisms, noise, privacy
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
    from discreet.privacy.loss import PrivacyLoss

__version__ = "0.1.0"

__all__ = [
    "AboveThreshold",
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
    "PrivacyLoss",
    "Quantiles",
    "QueryError",
    "RandomizedResponse",
    "Refused",
    "SignedResponse",
    "__version__",
    "attacks",
    "audit",
    "mechanisms",
    "noise",
    "privacy",
    "unmetered",
]

# The module of each public name that is not itself a module of this package.
_HOME = dict.fromkeys(["DiscreetError", "Fault", "Invalid", "QueryError", "Refused"], "errors")
_HOME |= {"Curator": "curator.session", "Policy": "curator.policy", "PrivacyLoss": "privacy.loss"}
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

# Type checkers read the imports above instead; with this in view they would accept any name at all.
if not TYPE_CHECKING:

    def __getattr__(name):
        if name not in __all__:
            raise AttributeError(
                f"module {__name__!r} has no attribute {name!r}", name=name, obj=import_module(__name__)
            )
        if name in _HOME:
            value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
        else:
            value = import_module(f"{__name__}.{name}")
        globals()[name] = value
        return value

    def __dir__():
        return sorted(__all__)
