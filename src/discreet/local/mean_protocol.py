"""What every protocol for a mean is: how a person's number becomes a report, and what reports say of the mean of all numbers.

A number in a declared range is rounded to a public grid, up or down at random and without bias; what is on the grid is randomised with
probabilities that are exact rationals. Each report stands for a number whose expectation is the person's own, exactly.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import log, sqrt
from typing import Any, ClassVar

import numpy as np

from discreet.errors import Invalid
from discreet.exact import Number, rational, shown
from discreet.fields import Exact, frozen
from discreet.local.domain import Numbers
from discreet.local.protocol import Reports, checked_codes, checked_epsilon
from discreet.noise import Source
from discreet.noise.bernoulli import decide
from discreet.noise.size import Ints
from discreet.noise.source import chosen

MOST_CHANCES = 1 << 20  # that a channel is written down for


@dataclass(frozen=True, slots=True)
class MeanEstimate:
    """The mean of the numbers of all who reported.

    `value` is unbiased, and may lie outside of the range. `variance` is unbiased where people were drawn at random, and otherwise at least
    the variance for the noise, on average. From `low` to `high` the mean of the people who reported lies with at least the confidence.
    """

    n: int
    confidence: float
    value: float
    variance: float
    low: float
    high: float


@frozen
class MeanProtocol(ABC):
    """How each person's number between `low` and `high` is randomised at a loss of at most ε, and how their mean is estimated.

    For any two numbers and any report, its chance given the one is at most e^ε times that given the other: on the grid that is what
    `chance` says, and numbers between are mixtures of two points of the grid, of which the same holds.
    """

    name: ClassVar[str]

    low: Exact
    high: Exact
    epsilon: Exact
    steps: int = 1024

    def __post_init__(self) -> None:
        for field in ("low", "high", "steps"):  # whatever is wrong with them is said by the domain
            object.__setattr__(self, field, getattr(Numbers(self.low, self.high, self.steps), field))
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon))

    @property
    def step(self) -> Fraction:
        """The distance of two points of the grid."""
        return (self.high - self.low) / self.steps

    def point(self, index: int | Fraction) -> Fraction:
        """The number at a place of the grid, 0 … steps."""
        return self.low + self.step * index

    @property
    @abstractmethod
    def codes(self) -> int:
        """The number of different reports: 0 … codes − 1."""

    @abstractmethod
    def chance(self, report: int, index: int) -> Fraction:
        """The exact probability of a report, given the place of the person's number on the grid."""

    @abstractmethod
    def stands_for(self, report: int) -> Fraction:
        """The number that a report stands for: its expectation is the person's own number."""

    @abstractmethod
    def moment(self, index: int | Fraction) -> Fraction:
        """The exact expectation of (`stands_for` − midpoint)² at a place of the grid: a polynomial of degree 2 or less."""

    @abstractmethod
    def _randomised(self, places: Ints, source: Source) -> Ints: ...

    @property
    def span(self) -> Fraction:
        """How far apart the numbers are that two reports can stand for, at most."""
        return self.stands_for(self.codes - 1) - self.stands_for(0)

    @property
    def midpoint(self) -> Fraction:
        """The middle of the range."""
        return (self.low + self.high) / 2

    def randomise(self, values: Any, source: Source | None = None) -> Any:
        """The report of one number, or an array of reports of several, each drawn independently; the loss of each is at most ε.

        Invalid, which says no value, where something is no number from `low` to `high`.
        """
        bits = chosen(source)
        several = isinstance(values, list | tuple) or (isinstance(values, np.ndarray) and values.ndim == 1)
        numbers = values.tolist() if isinstance(values, np.ndarray) else values
        exact = self._exact(numbers if several else [numbers])
        places = np.array([self._place(each, bits) for each in exact], np.int64)
        reports = self._randomised(places, bits)
        return reports if several else int(reports[0])

    def _exact(self, values: Iterable[Any]) -> list[Fraction]:
        """The numbers, all looked at before anything is drawn."""
        try:
            exact = [rational(each, "value") for each in values]
        except Invalid:
            raise Invalid("values must be finite numbers") from None  # the message of the first says the value
        if not all(self.low <= each <= self.high for each in exact):
            raise Invalid(f"values must lie between {shown(self.low)} and {shown(self.high)}", hint="clip them first")
        return exact

    def _place(self, value: Fraction, source: Source) -> int:
        """One of the two places next to a number, such that the expectation is the number; 64 random bits whatever it is."""
        exact = (value - self.low) / self.step
        below, rest = divmod(exact.numerator, exact.denominator)

        def bounds(bits: int) -> tuple[int, int]:
            least = (rest << bits) // exact.denominator
            return least, least + 1

        return below + decide(bounds, source)

    def channel(self) -> tuple[tuple[Fraction, ...], ...]:
        """The exact probabilities of all reports, a row for each place of the grid: what an auditor enumerates."""
        if self.codes * (self.steps + 1) > MOST_CHANCES:
            raise Invalid("there are too many chances to write them down", hint="enumerate a grid of fewer steps")
        return tuple(tuple(self.chance(each, at) for each in range(self.codes)) for at in range(self.steps + 1))

    def variance(self, value: Number) -> Fraction:
        """The exact variance of what the report of this number stands for, with the rounding to the grid."""
        (number,) = self._exact([value])
        below, rest = divmod((number - self.low) / self.step, 1)
        second = (1 - rest) * self.moment(below) + rest * self.moment(min(below + 1, self.steps))
        return second - (number - self.midpoint) ** 2

    @property
    def worst(self) -> Fraction:
        """A bound of `variance` for any number, which is off by at most a quarter of a squared step.

        On the grid it is a polynomial of degree 2 that is the same from both ends, so it is largest at an end or in the middle.
        Rounding adds w(1 − w) squared steps, w being how far a number is from the next place.
        """
        middle = self.moment(Fraction(self.steps, 2))
        return max(self.variance(self.low), middle) + self.step**2 / 4

    def estimate(self, reports: Reports, confidence: Number = 0.95) -> MeanEstimate:
        """The mean that reports say, with an interval by Hoeffding's or Bernstein's inequality, whichever is narrower.

        Which one depends on n and the protocol alone. Both hold for independent reports of any numbers, with the `worst` variance.
        """
        level = rational(confidence, "confidence")
        if not 0 < level < 1:
            raise Invalid(f"confidence must lie between 0 and 1, got {shown(confidence)}")
        counts = np.bincount(checked_codes(reports, self.codes))
        n = int(counts.sum())
        if n < 1:
            raise Invalid("there are no reports to estimate from")
        told = [(int(counts[code]), self.stands_for(int(code))) for code in np.flatnonzero(counts)]
        mean = sum((count * each for count, each in told), Fraction(0)) / n
        spread = sum((count * (each - mean) ** 2 for count, each in told), Fraction(0))
        variance = spread / (n * (n - 1)) if n > 1 else self.worst
        value, half = float(mean), self._half(n, float(1 - level))
        return MeanEstimate(n, float(level), value, float(variance), value - half, value + half)

    def _half(self, n: int, miss: float) -> float:
        """Half the width of an interval that misses with at most this chance (Boucheron, Lugosi and Massart 2013, corollary 2.11)."""
        nats, span = log(2 / miss), float(self.span)
        bernstein = sqrt(2 * float(self.worst) * nats / n) + span * nats / (3 * n)
        return min(span * sqrt(nats / (2 * n)), bernstein)
