"""Keys by their names: what is released is a name for each key that is kept, and of all others nothing, not even how many there were."""

from collections.abc import Hashable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import Invalid
from discreet.exact import Number, shown
from discreet.fields import frozen
from discreet.mechanisms.base import Mechanism
from discreet.mechanisms.keys.optimal import OptimalKeys
from discreet.mechanisms.keys.threshold import LaplaceThreshold
from discreet.noise import Source
from discreet.privacy import events


@frozen
class KeysByName(Mechanism):
    """A rule for keys on counts of people by name: names in, and the names that are kept with their noisy counts out.

    It draws what the rule draws, for names in their order, which is their own and not that of the data.
    """

    rule: LaplaceThreshold | OptimalKeys

    def __post_init__(self) -> None:
        if not isinstance(self.rule, LaplaceThreshold | OptimalKeys):
            raise Invalid(f"rule must be a rule for keys, got {shown(self.rule)}")

    @property
    def groups(self) -> int:
        """The number of keys whose counts a neighbour may change."""
        return self.rule.groups

    def event(self, sensitivity: Number = 1) -> events.Event:
        """What the rule draws: names that nobody sees cost nothing."""
        return self.rule.event(sensitivity)

    @property
    def price(self) -> tuple[Fraction, Fraction]:
        """(ε, δ) for all groups of a person together, as the rule was made for them."""
        rule = self.rule
        if isinstance(rule, OptimalKeys):
            return rule.groups * rule.epsilon, 1 - (1 - rule.delta) ** rule.groups
        return rule.groups / rule.scale, rule.delta_keys

    def __call__(self, exact: Any, source: Source | None = None) -> dict[Hashable, int]:
        """The names that are kept, in their order, each with its noisy count."""
        if not isinstance(exact, Mapping):
            raise Invalid("counts by name must be a mapping from each key to its number of people")
        names = sorted(exact)
        selection = self.rule(np.fromiter(map(exact.__getitem__, names), np.int64, len(names)), source)
        return {names[at]: int(selection.counts[at]) for at in np.flatnonzero(selection.mask).tolist()}

    def shared_by(self, chance: float) -> int:
        """The least number of people whose key is found with at least this probability."""
        high = 1
        while self.rule.keeps(high)[0] < chance:
            high *= 2
        low = 0
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.rule.keeps(middle)[0] >= chance else (middle, high)
        return high

    def error(self, confidence: Number = 0.95) -> float:
        """± of a noisy count, as the rule tells it."""
        return self.rule.error(confidence)
