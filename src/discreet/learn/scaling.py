"""Features scaled by bounds that are declared, never by what the data hold."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.errors import Invalid
from discreet.mechanisms.additive import Floats


@dataclass(frozen=True, slots=True)
class Bounds:
    """The declared least and largest value of each feature; values beyond count as the bound."""

    low: tuple[float, ...]
    high: tuple[float, ...]

    @classmethod
    def of(cls, declared: Any, width: int, name: str = "bounds") -> "Bounds":
        """Of one pair for all features, or of a pair for each; Invalid for anything else, and where it is missing."""
        if declared is None:
            raise Invalid(
                f"{name} must be declared: what the data hold may not be looked at for them",
                hint=f"{name}=(0, 100) for all features, or a pair for each: {name}=[(0, 120), (0, 1)]",
            )
        try:
            pairs = np.array(declared, np.float64)
        except (TypeError, ValueError):
            raise Invalid(f"{name} must be pairs of numbers") from None
        if pairs.shape == (2,):
            pairs = np.tile(pairs, (width, 1))
        if pairs.shape != (width, 2):
            raise Invalid(f"{name} must be one pair, or a pair for each of the {width} features")
        if not np.isfinite(pairs).all() or (pairs[:, 0] >= pairs[:, 1]).any():
            raise Invalid(f"{name} must be finite, the lower one below the upper one")
        return cls(tuple(pairs[:, 0].tolist()), tuple(pairs[:, 1].tolist()))

    @property
    def middle(self) -> Floats:
        return (np.array(self.low) + np.array(self.high)) / 2

    @property
    def half(self) -> Floats:
        return (np.array(self.high) - np.array(self.low)) / 2

    def scaled(self, values: Floats) -> Floats:
        """Into [−1, 1]; what is no number stays none."""
        clamped = np.clip(values, self.low, self.high)
        return np.asarray(np.where(np.isinf(values), np.nan, (clamped - self.middle) / self.half))


def table(values: Any, name: str = "features") -> Floats:
    """Numbers in rows and columns; what cannot be read as a number is refused."""
    try:
        found = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise Invalid(f"{name} must be numbers in rows and columns") from None
    if found.ndim != 2:
        raise Invalid(f"{name} must have rows and columns, got {found.ndim} dimensions")
    return found


def matched(targets: Sequence[Any], features: Floats) -> None:
    if len(targets) != len(features):
        raise Invalid("there must be one target for each row of features")
