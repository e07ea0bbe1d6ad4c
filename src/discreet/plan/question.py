"""A question, as it was asked: whose rows, by which keys, which aggregates, and what is made of the released numbers.

Everything after the aggregates is post-processing: expressions over released values only. There a key is `Key(i)` and an aggregate
`Released(i)`, numbered in the order of `keys` and `aggregates`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from discreet.plan.relation import Rows
from discreet.plan.scalar import Scalar

if TYPE_CHECKING:
    from discreet.plan.releases.base import Kind


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One aggregate: what is released, its argument (None: the whole row), and the condition of FILTER (None: none)."""

    kind: "Kind"
    argument: Scalar | None = None
    condition: Scalar | None = None


@dataclass(frozen=True, slots=True)
class Output:
    """A column of the answer: its name, and its value as an expression over keys and aggregates.

    `heading` is what stands above it where nobody named it: the words of the question. It is no part of what the question means.
    """

    name: str
    value: Scalar
    heading: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Sort:
    """A key of ORDER BY, over released values."""

    value: Scalar
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """Frozen and canonical: equal questions are equal values, however they were written."""

    source: Rows
    keys: tuple[Scalar, ...]
    aggregates: tuple[Aggregate, ...]
    outputs: tuple[Output, ...]
    having: Scalar | None = None
    order: tuple[Sort, ...] = ()
    limit: int | None = None
    offset: int = 0
    levels: tuple[tuple[int, ...], ...] = ()
    """The grouping sets of ROLLUP and its like: for each the places of the keys that its rows have a value of, in order. None of them is
    asked for twice, and each key is in one at least. Empty where there is one, of all keys."""

    population: bool = False
    """Whether intervals are for the people who were sampled, too, and not for the noise alone."""

    simultaneous: bool = False
    """Whether intervals hold for all numbers of the answer at once, and not each by itself."""

    remarks: tuple[str, ...] = field(default=(), compare=False)
    """What is said of the answer for how it was asked; no part of what the question means."""

    @property
    def names(self) -> list[str]:
        """The name of each output in an answer: told apart, where two are called alike."""
        return unique([output.name for output in self.outputs])


def unique(names: Sequence[str]) -> list[str]:
    """These names, with a number behind those that were taken.

    >>> unique(["n", "n", "n_2"])
    ['n', 'n_2', 'n_2_2']
    """
    distinct: list[str] = []
    for name in names:
        candidate, number = name, 1
        while candidate in distinct:
            number += 1
            candidate = f"{name}_{number}"
        distinct.append(candidate)
    return distinct
