"""The most frequent of some values that are known, in each of many groups at once.

Rows are counted by group and value, in whole numbers of which one row may be many, so that shares of rows count. In each group one value
is chosen by permute-and-flip (McKenna and Sheldon 2020), with exact probabilities, and its counts as scores; λ is the rate of its coins.

**What it loses.** A choice depends on the differences of its scores alone. Between neighbours let the scores of a group g move by between
−a_g and +b_g. With a_g added to all of them they move in one direction, by at most a_g + b_g, and a choice with such scores loses at most
λ·(a_g + b_g). Groups are chosen in independently, so that their losses add up.

    a unit is added or removed     of a_g and b_g one is 0, and of the other the sum over all groups is at most its rows: λ·rows
    a unit is replaced             Σ a_g is at most the rows of one, Σ b_g at most the rows of the other: λ·2·rows

The second is reached in one group, too: all rows leave one value and come to another. So λ = ε/rows, or ε/(2·rows).
"""

from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import Invalid
from discreet.exact import Number, nonnegative, positive, shown, whole
from discreet.fields import Exact, frozen
from discreet.mechanisms.base import Example, registry
from discreet.mechanisms.permute_and_flip import PermuteAndFlip
from discreet.mechanisms.selection import ForSensitivity
from discreet.mechanisms.wheel import Ints
from discreet.noise import Source
from discreet.noise.source import chosen
from discreet.privacy import events

MOST_VALUES = 1 << 12
"""So many values one may be chosen of."""

MOST_MASS = 1 << 47
"""All rows of a table of 2^38, in steps of 1/256 and room for as much again."""


def _examples() -> list[Example]:
    return [
        Example(MostFrequent(Fraction(1), 4), 1, [[3, 5, 4, 0]], [[3, 5, 5, 0]]),
        Example(MostFrequent(Fraction(2), 3, 2), 2, [[3, 0, 1], [0, 2, 0]], [[2, 0, 1], [0, 1, 0]]),
        Example(MostFrequent(Fraction(1), 2, replaced=True), 1, [[2, 0], [4, 5]], [[1, 0], [4, 6]]),
    ]


@registry.add(_examples)
@frozen
class MostFrequent(ForSensitivity):
    """The place of a value for each group, for units that have at most `rows` in all groups together. Costs `epsilon`.

    Units are added or removed, or `replaced` by others.
    """

    epsilon: Exact
    values: int
    rows: int = 1
    replaced: bool = False
    unit: int = 1
    """How many of what is counted are one row."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        object.__setattr__(self, "values", whole(self.values, "values", least=1))
        object.__setattr__(self, "rows", whole(self.rows, "rows", least=1))
        object.__setattr__(self, "unit", whole(self.unit, "unit", least=1))
        if self.values > MOST_VALUES:
            raise Invalid(f"values must be at most {MOST_VALUES}, got {shown(self.values)}")
        if not isinstance(self.replaced, bool):
            raise Invalid(f"replaced must be True or False, got {shown(self.replaced)}")

    @property
    def choice(self) -> PermuteAndFlip:
        """The choice in one group, as if all rows of a unit were there."""
        return PermuteAndFlip(self.epsilon, Fraction(self.rows), monotone=not self.replaced)

    def event(self, sensitivity: Number | None = None) -> events.Event:
        """What is drawn, for units of this many rows in all groups together, or of as many as were declared."""
        times = Fraction(1) if sensitivity is None else nonnegative(sensitivity, "sensitivity") / self.rows
        return events.Pure(self.epsilon * times)

    def __call__(self, exact: Any, source: Source | None = None) -> Ints:
        """The place of a value for each group, from the number of rows that have each of them there."""
        counts, bits = self.counts(exact), chosen(source)
        return np.asarray(self.choice(counts, bits), np.int64) if len(counts) else np.zeros(0, np.int64)

    def counts(self, exact: Any) -> Ints:
        """Exact values, if they are counts; else raises Invalid."""
        array = np.asarray(exact)
        if array.ndim != 2 or array.shape[1] != self.values:
            raise Invalid(f"exact must hold the number of rows with each of {self.values} values, for each group")
        if array.dtype.kind not in "iu":
            raise Invalid(f"exact must hold integers, got {array.dtype} values")
        if array.size and (array.min() < 0 or array.max() > MOST_MASS):
            raise Invalid("exact must hold counts, which are not negative, of at most 2^47 each")
        return array.astype(np.int64)

    def error(self, confidence: Number = 0.95) -> float:
        """How many rows the value of a group is behind its most frequent one at most, with this confidence, whatever the counts are.

        That is at most ln(values / (1 − confidence))/λ.
        """
        return self.choice.error(confidence, self.values) / self.unit
