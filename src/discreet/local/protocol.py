"""What every local protocol is: how a person's value becomes a report of a fixed size, and what the totals of many reports say.

A protocol knows nothing of clients, collectors and campaigns. Probabilities are exact rationals, rounded so that less is told.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.exact import Number, rational, shown
from discreet.fields import Exact
from discreet.local.domain import AnswerDomain
from discreet.noise import Source, odds
from discreet.noise.size import Ints

Reports: TypeAlias = NDArray[Any]
"""One report for each row, of a shape that is the protocol's own."""

TOO_FEW = "too-few"  # the code where there is nothing to estimate from yet
LEAST_MISS = Fraction(1, 10**100)  # of a confidence: one minus it
LEAST_EPSILON, MOST_EPSILON = Fraction(1, 10**6), Fraction(20)  # between them 64 binary digits lose less than 1e-9 of ε
DIGITS = 64  # of a probability: a client compares 64 random bits with an integer


@lru_cache(maxsize=256)
def truth_down(epsilon: Fraction, k: int) -> Fraction:
    """The probability e^ε/(e^ε + k − 1) of the truth among k answers, rounded down to 64 binary digits: at most ε is told.

    >>> truth_down(Fraction(1), 2) * (1 << 64)
    Fraction(13485650502877570762, 1)
    """
    return Fraction(odds(epsilon, k).bounds(DIGITS)[0], 1 << DIGITS)


class LocalProtocol(ABC):
    """How each person's value is randomised at a loss of at most ε, and what is estimated from the reports of all.

    For any two values of the domain and any report, its chance given the one is at most e^ε times that given the other: ε-DP for who
    replaces their value by another, with nobody to be trusted. Whoever hands a value to `randomise` has checked it against the domain.
    """

    __slots__ = ()
    name: ClassVar[str]
    code: ClassVar[int]  # in the bytes of a report

    epsilon: Exact

    @classmethod
    @abstractmethod
    def of(cls, domain: AnswerDomain, epsilon: Number) -> Self:
        """The protocol for the values of a domain; Invalid for a domain of another kind."""

    @classmethod
    def small(cls, domain: AnswerDomain, epsilon: Number) -> Self:
        """The protocol for the values of a small domain, such that all of its reports can be written down."""
        return cls.of(domain, epsilon)

    @property
    def once(self) -> Fraction:
        """What one report by itself tells: ε, or less where a person goes on to report."""
        return Fraction(self.epsilon)

    @property
    def notice(self) -> str:
        """What taking part costs, and what is not protected: for people to read before they answer."""
        return f"A report tells at most ε = {shown(self.epsilon)} of the answer. What is told in several campaigns adds up."

    @property
    @abstractmethod
    def bits(self) -> int:
        """The bits of a report."""

    @property
    def size(self) -> int:
        """The bytes of a packed report."""
        return (self.bits + 7) // 8

    @property
    @abstractmethod
    def width(self) -> int:
        """The number of integers in a collector's totals, however many reports there are."""

    @abstractmethod
    def randomise(self, values: Any, source: Source | None = None) -> Any:
        """The report of one value, or the reports of an array of them, each drawn independently; the loss of each is at most ε."""

    @abstractmethod
    def accumulate(self, reports: Reports) -> Ints:
        """The totals of reports: those of two batches add up to those of both."""

    @abstractmethod
    def possible(self, totals: Ints, n: int) -> bool:
        """Whether n reports could have such totals."""

    @abstractmethod
    def pack(self, report: Any) -> bytes:
        """A report as `size` bytes."""

    @abstractmethod
    def unpack(self, data: bytes) -> Any:
        """The report that was packed; Invalid for anything that no client would send."""

    @property
    @abstractmethod
    def reach(self) -> Fraction:
        """How far the report of the only person can move an estimate: one of n moves it by an n-th of this."""

    def influence(self, liars: int, totals: Ints, n: int) -> Fraction:
        """How far so many of the n reports with these totals could have moved an estimate, by saying whatever they like."""
        return Fraction(liars, n) * self.reach


def checked_epsilon(epsilon: Number) -> Fraction:
    """An ε for which the rounding of probabilities is proven to lose next to nothing; else Invalid."""
    exact = rational(epsilon, "epsilon")
    if not LEAST_EPSILON <= exact <= MOST_EPSILON:
        raise Invalid(f"epsilon must lie between 1/1000000 and 20, got {shown(exact)}")
    return exact


def checked_confidence(confidence: Number, n: int) -> Fraction:
    """A confidence between 0 and 1, and somebody who reported; else Invalid."""
    level = rational(confidence, "confidence")
    if not 0 < level < 1:
        raise Invalid(f"confidence must lie between 0 and 1, got {shown(confidence)}")
    if 1 - level < LEAST_MISS:
        raise Invalid("confidence must be at most 1 - 10^-100")
    if n < 1:
        raise Invalid("there are no reports to estimate from", code=TOO_FEW)
    return level


def array_of(values: Any, name: str) -> NDArray[Any]:
    """What a caller passed as an array of NumPy; Invalid for rows of several lengths, which are none."""
    try:
        return np.asarray(values)
    except ValueError:
        raise Invalid(f"{name} must be an array, whose rows are all as long") from None


def checked_codes(reports: Reports, codes: int) -> Ints:
    """Reports that are integers below `codes`; else Invalid."""
    array = array_of(reports, "reports")
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise Invalid("reports must be an array of integers in one dimension")
    if array.size and not (int(array.min()) >= 0 and int(array.max()) < codes):
        raise Invalid("a report is not of this domain")
    return array.astype(np.int64)


def packed_code(code: int, size: int) -> bytes:
    """The bytes of an integer, the least first."""
    return int(code).to_bytes(size, "little")


def unpacked_code(data: bytes, size: int, codes: int) -> int:
    """The integer below `codes` that these bytes are; Invalid for any other length or number."""
    if len(data) != size:
        raise Invalid("a report has the wrong length")
    code = int.from_bytes(data, "little")
    if code >= codes:
        raise Invalid("a report is not of this domain")
    return code


def pieces(reports: Reports, width: int) -> Sequence[Reports]:
    """Reports in pieces, such that a table of a piece by `width` cells stays in the cache."""
    rows = max(1, (1 << 17) // width)
    return [reports[begin : begin + rows] for begin in range(0, len(reports), rows)]
