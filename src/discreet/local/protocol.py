"""What every protocol for frequencies is: how a person's cell becomes a report, and what reports say of cells.

A protocol is *pure* (Wang, Blocki, Li and Jha 2017): a report supports the person's own cell with probability p, and each other cell
with probability q, whatever the other cells are. Then the number of reports that support a cell says what share of people it has,
without bias, and with a variance that depends on that share alone. Probabilities are exact rationals, rounded so that less is told.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.exact import rational, shown, whole
from discreet.fields import Exact, frozen
from discreet.noise import Source, odds
from discreet.noise.size import Ints
from discreet.noise.source import chosen

Reports: TypeAlias = NDArray[Any]
"""One report for each row, of a shape that is the protocol's own."""

MOST_CELLS = 1 << 20
LEAST_EPSILON, MOST_EPSILON = Fraction(1, 10**6), Fraction(20)  # between them 64 binary digits lose less than 1e-9 of ε
MOST_OUTCOMES = 1 << 16  # that a channel is written down for
DIGITS = 64  # of a probability: a client compares 64 random bits with an integer

PROTOCOLS: dict[str, type["FrequencyProtocol"]] = {}


@lru_cache(maxsize=256)
def truth_down(epsilon: Fraction, k: int) -> Fraction:
    """The probability e^ε/(e^ε + k − 1) of the truth among k answers, rounded down to 64 binary digits: at most ε is told.

    >>> truth_down(Fraction(1), 2) * (1 << 64)
    Fraction(13485650502877570762, 1)
    """
    return Fraction(odds(epsilon, k).bounds(DIGITS)[0], 1 << DIGITS)


@frozen
class FrequencyProtocol(ABC):
    """How each person's cell, one of k, is randomised at a loss of at most ε, and how frequencies are estimated from all reports.

    For any two cells and any report, `chance` of the one is at most e^ε times that of the other: ε-DP for who replaces
    a value by another, with nobody to be trusted.
    """

    name: ClassVar[str]
    code: ClassVar[int]  # in the bytes of a report

    k: int
    epsilon: Exact

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", whole(self.k, "k", least=2))
        object.__setattr__(self, "epsilon", rational(self.epsilon, "epsilon"))
        if self.k > MOST_CELLS:
            raise Invalid(f"k must be at most 2^20, got {shown(self.k)}")
        if not LEAST_EPSILON <= self.epsilon <= MOST_EPSILON:
            raise Invalid(f"epsilon must lie between 1/1000000 and 20, got {shown(self.epsilon)}")

    @property
    @abstractmethod
    def p(self) -> Fraction:
        """The probability that a report supports the person's own cell."""

    @property
    @abstractmethod
    def q(self) -> Fraction:
        """The probability that a report supports any one other cell."""

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

    @property
    @abstractmethod
    def work(self) -> int:
        """The number of cells that a collector looks at for one report."""

    def randomise(self, values: Any, source: Source | None = None) -> Any:
        """The report of one cell, or reports of an array of cells, each drawn independently; the loss of each is at most ε.

        Invalid, which says no value, where a cell is not an integer in 0 … k−1.
        """
        cells = np.asarray(values)
        if cells.ndim > 1 or cells.dtype.kind not in "iu":
            raise Invalid("values must be an integer or an array of integers in one dimension")
        if cells.size and not (int(cells.min()) >= 0 and int(cells.max()) < self.k):
            raise Invalid(f"values must lie in 0 … {self.k - 1}")
        reports = self._randomised(np.atleast_1d(cells).astype(np.int64), chosen(source))
        return reports if cells.ndim else reports[0]

    @abstractmethod
    def _randomised(self, cells: Ints, source: Source) -> Reports: ...

    @abstractmethod
    def accumulate(self, reports: Reports) -> Ints:
        """The totals of reports: those of two batches add up to those of both."""

    @abstractmethod
    def support(self, totals: Ints, n: int) -> Ints:
        """How many of the n reports with these totals support each cell."""

    def possible(self, totals: Ints, n: int) -> bool:
        """Whether n reports could have such totals: no cell has more support than there are reports, or less than none."""
        support = self.support(totals, n)
        return int(support.min()) >= 0 and int(support.max()) <= n

    @abstractmethod
    def pack(self, report: Any) -> bytes:
        """A report as `size` bytes."""

    @abstractmethod
    def unpack(self, data: bytes) -> Any:
        """The report that was packed; Invalid for anything that no client would send."""

    @abstractmethod
    def outcomes(self) -> Reports:
        """Every report that there is."""

    @abstractmethod
    def chance(self, report: Any, value: int) -> Fraction:
        """The exact probability of a report, given the person's cell."""

    def channel(self) -> tuple[tuple[Fraction, ...], ...]:
        """The exact probabilities of all reports, a row for each cell: what an auditor enumerates."""
        reports = self.outcomes()
        return tuple(tuple(self.chance(each, value) for each in reports) for value in range(self.k))

    def estimate(self, count: int, n: int) -> Fraction:
        """An unbiased estimate of the share of people whose cell `count` of n reports support: (count/n − q)/(p − q).

        It may be below 0 or above 1; whoever cuts it off makes it biased.
        """
        people = whole(n, "n", least=1)
        if whole(count, "count") > people:
            raise Invalid("count must be at most n")
        return (Fraction(count, people) - self.q) / (self.p - self.q)

    def variance(self, share: Fraction, n: int) -> Fraction:
        """The exact variance of the estimate, for the noise alone, of a cell that this share of n people has.

        (f p(1−p) + (1−f) q(1−q))/(n (p−q)²). It is linear in f: with an unbiased estimate in place of f it is unbiased itself.
        """
        p, q = self.p, self.q
        spread = share * p * (1 - p) + (1 - share) * q * (1 - q)
        return spread / (whole(n, "n", least=1) * (p - q) ** 2)

    def _few(self, outcomes: int) -> None:
        if outcomes > MOST_OUTCOMES:
            raise Invalid("there are too many reports to write them down", hint="enumerate a smaller domain")


Kind = TypeVar("Kind", bound=type[FrequencyProtocol])


def register(kind: Kind) -> Kind:
    """The protocol, which is from now on found by its name."""
    PROTOCOLS[kind.name] = kind
    return kind


def checked_codes(reports: Reports, codes: int) -> Ints:
    """Reports that are integers below `codes`; else Invalid."""
    array = np.asarray(reports)
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
