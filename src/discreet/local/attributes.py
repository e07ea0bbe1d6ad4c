"""What protocols for several attributes of one person share: cells, one of each attribute, become one report, and totals by attribute.

Each attribute has a frequency protocol of its own, which has the whole ε. A person's cells are a row of integers, in the order of the
domain; reports in arrays have a field for each attribute, by its place.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import field
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any, Self

import numpy as np

from discreet.errors import Invalid
from discreet.exact import Number, shown
from discreet.fields import Exact, frozen
from discreet.local.domain import AnswerDomain
from discreet.local.frequency import ALL
from discreet.local.frequency_protocol import MOST_OUTCOMES, FrequencyProtocol
from discreet.local.named_attributes import MOST_ATTRIBUTES, Attribute, Attributes
from discreet.local.protocol import LocalProtocol, Reports
from discreet.noise import Source
from discreet.noise.size import Ints
from discreet.noise.source import chosen

PARTS: Mapping[str, type[FrequencyProtocol]] = {kind.name: kind for kind in ALL}


@frozen
class AttributesProtocol(LocalProtocol):
    """How each person's cells, one of each attribute, are randomised at a loss of at most ε for the whole row of them.

    For any two rows, which may differ in all attributes, and any report, `chance` of the one is at most e^ε times that of the other.
    """

    parts: tuple[FrequencyProtocol, ...]
    epsilon: Exact = field(init=False)
    row: "np.dtype[Any]" = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        parts = tuple(self.parts) if isinstance(self.parts, list | tuple) else ()
        if not 2 <= len(parts) <= MOST_ATTRIBUTES or not all(isinstance(each, FrequencyProtocol) for each in parts):
            raise Invalid(f"parts must be the protocols of 2 to {MOST_ATTRIBUTES} attributes")
        if len({each.epsilon for each in parts}) > 1:
            raise Invalid("the protocols of all attributes must have the same epsilon")
        object.__setattr__(self, "parts", parts)
        object.__setattr__(self, "epsilon", parts[0].epsilon)
        object.__setattr__(self, "row", np.dtype(self._fields()))

    def _fields(self) -> list[tuple[Any, ...]]:
        reports = [
            np.asarray(each.unpack(bytes(each.size))) for each in self.parts
        ]  # any report has its type and shape
        return [(str(place), each.dtype, each.shape) for place, each in enumerate(reports)]

    @classmethod
    def of(cls, domain: AnswerDomain, epsilon: Number) -> Self:
        """The protocol for attributes that were declared, each with the protocol that was declared for it."""
        if not isinstance(domain, Attributes):
            raise Invalid(f"{cls.name} is for several attributes", hint="declare Attributes, as choose_attributes does")
        return cls(tuple(_part(each, epsilon) for each in domain.attributes))

    @abstractmethod
    def chances(self, place: int) -> tuple[Fraction, Fraction]:
        """The probability that a report about this attribute supports the person's own cell of it, and that it supports any one other."""

    @abstractmethod
    def by_attribute(self, totals: Ints, n: int) -> list[tuple[Ints, int]]:
        """The totals of each attribute, as its own protocol has them, and of how many reports they are."""

    def support(self, place: int, totals: Ints, n: int) -> Ints:
        """How many of the reports about this attribute support each of its cells."""
        return self.parts[place].support(*self.by_attribute(totals, n)[place])

    def _split(self, totals: Ints) -> list[Ints]:
        return np.split(totals, np.cumsum([each.width for each in self.parts])[:-1])

    def possible(self, totals: Ints, n: int) -> bool:
        """Whether n reports could have such totals: whether those about each attribute could."""
        by_part = zip(self.parts, self.by_attribute(totals, n), strict=True)
        return all(about >= 0 and part.possible(own, about) for part, (own, about) in by_part)

    def randomise(self, values: Any, source: Source | None = None) -> Any:
        """The report of one row of cells, or reports of an array of rows, each drawn independently; the loss of each is at most ε.

        Invalid, which says no value, where a cell is not an integer in 0 … k−1 of its attribute.
        """
        try:
            cells = np.asarray(values)
        except ValueError:  # rows of several lengths
            cells = np.empty(0)
        if cells.ndim not in (1, 2) or cells.shape[-1] != len(self.parts) or cells.dtype.kind not in "iu":
            raise Invalid(f"values must be rows of {len(self.parts)} integers, one for each attribute")
        if not (cells >= 0).all() or not (cells < [each.k for each in self.parts]).all():
            raise Invalid("values must lie in 0 … k − 1 of each attribute")
        reports = self._randomised(np.atleast_2d(cells).astype(np.int64), chosen(source))
        return reports if cells.ndim == 2 else reports[0]

    @abstractmethod
    def _randomised(self, cells: Ints, source: Source) -> Reports: ...

    def _checked(self, reports: Reports) -> Reports:
        array = np.asarray(reports)
        if array.ndim != 1 or array.dtype != self.row:
            raise Invalid("reports must be an array with a field for each attribute")
        return array

    @abstractmethod
    def outcomes(self) -> Reports:
        """Every report that there is."""

    @abstractmethod
    def chance(self, report: Any, record: tuple[int, ...]) -> Fraction:
        """The exact probability of a report, given the person's cells."""

    def records(self) -> Iterator[tuple[int, ...]]:
        """Every row of cells that a person may have."""
        self._few(prod(each.k for each in self.parts))
        return product(*(range(each.k) for each in self.parts))

    def channel(self) -> tuple[tuple[Fraction, ...], ...]:
        """The exact probabilities of all reports, a row for each row of cells: what an auditor enumerates."""
        reports = self.outcomes()
        return tuple(tuple(self.chance(each, record) for each in reports) for record in self.records())

    def _few(self, count: int) -> None:
        if count > MOST_OUTCOMES:
            raise Invalid("there are too many reports to write them down", hint="enumerate a smaller domain")


def _part(attribute: Attribute, epsilon: Number) -> FrequencyProtocol:
    """The protocol of one attribute; Invalid where there is none of its name."""
    kind = PARTS.get(attribute.protocol)
    if kind is None:
        raise Invalid(
            f"the protocol of an attribute must be one of {', '.join(sorted(PARTS))}, got {shown(attribute.protocol)}"
        )
    return kind.of(attribute.answers, epsilon)
