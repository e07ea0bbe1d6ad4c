"""What every protocol for numbers is: a person's number gets a place on a public grid, and the place becomes one of a few reports."""

from abc import abstractmethod
from fractions import Fraction
from typing import Any, Self

import numpy as np

from discreet.errors import Invalid
from discreet.exact import Number
from discreet.fields import Exact, frozen
from discreet.local.domain import AnswerDomain
from discreet.local.numbers import Numbers
from discreet.local.protocol import (
    LocalProtocol,
    Reports,
    checked_codes,
    checked_epsilon,
    packed_code,
    unpacked_code,
)
from discreet.noise import Source
from discreet.noise.size import Ints
from discreet.noise.source import chosen

MOST_CHANCES = 1 << 20  # that a channel is written down for


@frozen
class NumberProtocol(LocalProtocol):
    """How each person's number between `low` and `high` is randomised at a loss of at most ε.

    For any two places of the grid and any report, `chance` of the one is at most e^ε times that of the other. Whatever chance there is in
    the way from a number to its place, what is reported is a mixture of places, of which the same holds.
    """

    low: Exact
    high: Exact
    epsilon: Exact
    steps: int = 1024

    def __post_init__(self) -> None:
        domain = Numbers(self.low, self.high, self.steps)  # which says whatever is wrong with them
        for field in ("low", "high", "steps"):
            object.__setattr__(self, field, getattr(domain, field))
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon))

    @classmethod
    def of(cls, domain: AnswerDomain, epsilon: Number) -> Self:
        """The protocol for numbers of a declared range."""
        if not isinstance(domain, Numbers):
            raise Invalid(f"{cls.name} is for numbers", hint="declare their range: Numbers(low, high)")
        return cls(domain.low, domain.high, epsilon, domain.steps)

    @property
    def domain(self) -> Numbers:
        """The numbers that can be randomised."""
        return Numbers(self.low, self.high, self.steps)

    @property
    def step(self) -> Fraction:
        """The distance of two places of the grid."""
        return (self.high - self.low) / self.steps

    @property
    def midpoint(self) -> Fraction:
        """The middle of the range."""
        return (self.low + self.high) / 2

    @property
    @abstractmethod
    def places(self) -> int:
        """The number of places: 0 … places − 1."""

    @abstractmethod
    def point(self, place: int | Fraction) -> Fraction:
        """The number that a place is for."""

    @property
    def blur(self) -> Fraction:
        """How far a number may be from the expected point of its place."""
        return Fraction(0)

    @abstractmethod
    def place(self, value: Fraction, source: Source) -> int:
        """The place of a number of the range."""

    @property
    @abstractmethod
    def codes(self) -> int:
        """The number of different reports: 0 … codes − 1."""

    @abstractmethod
    def chance(self, report: int, place: int) -> Fraction:
        """The exact probability of a report, given the place of the person's number."""

    @abstractmethod
    def stands_for(self, report: int) -> Fraction:
        """The number that a report stands for: its expectation is the `point` of the person's place."""

    @property
    @abstractmethod
    def worst(self) -> Fraction:
        """A bound of the variance of what the report of one number stands for, whatever the number is."""

    @abstractmethod
    def _randomised(self, places: Ints, source: Source) -> Ints: ...

    @property
    def span(self) -> Fraction:
        """How far apart the numbers are that two reports can stand for, at most."""
        return self.stands_for(self.codes - 1) - self.stands_for(0)

    def randomise(self, values: Any, source: Source | None = None) -> Any:
        """The report of one number, or an array of reports of several, each drawn independently; the loss of each is at most ε.

        Invalid, which says no value, where something is no number of the domain: all are looked at before anything is drawn.
        """
        bits, domain = chosen(source), self.domain
        several = isinstance(values, list | tuple) or (isinstance(values, np.ndarray) and values.ndim == 1)
        numbers = values.tolist() if isinstance(values, np.ndarray) else values
        exact = [domain.encoded(each) for each in (numbers if several else [numbers])]
        places = np.array([self.place(each, bits) for each in exact], np.int64)
        reports = self._randomised(places, bits)
        return reports if several else int(reports[0])

    def channel(self) -> tuple[tuple[Fraction, ...], ...]:
        """The exact probabilities of all reports, a row for each place of the grid: what an auditor enumerates."""
        if self.codes * self.places > MOST_CHANCES:
            raise Invalid("there are too many chances to write them down", hint="enumerate a grid of fewer steps")
        return tuple(tuple(self.chance(each, at) for each in range(self.codes)) for at in range(self.places))

    @property
    def bits(self) -> int:
        """The bits of a code."""
        return (self.codes - 1).bit_length()

    @property
    def width(self) -> int:
        """One total for each code."""
        return self.codes

    def accumulate(self, reports: Reports) -> Ints:
        """How often each code was told."""
        return np.bincount(checked_codes(reports, self.codes), minlength=self.codes).astype(np.int64)

    def possible(self, totals: Ints, n: int) -> bool:
        """Whether n reports could have such totals: each tells one code."""
        return int(totals.min()) >= 0 and int(totals.sum()) == n

    def pack(self, report: Any) -> bytes:
        """The code that is told, the least byte first."""
        return packed_code(report, self.size)

    def unpack(self, data: bytes) -> Any:
        """The code that is told; Invalid where there is none."""
        return unpacked_code(data, self.size, self.codes)
