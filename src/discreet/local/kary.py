"""k-ary randomized response: a person tells their own cell, or any other one."""

from fractions import Fraction
from typing import Any

import numpy as np

from discreet.local.frequency_protocol import FrequencyProtocol
from discreet.local.protocol import (
    Reports,
    checked_codes,
    packed_code,
    truth_down,
    unpacked_code,
)
from discreet.noise import Source, keep_or_replace
from discreet.noise.size import Ints


class KaryResponse(FrequencyProtocol):
    """The own cell with probability p = e^ε/(e^ε + k − 1), each other with q = (1 − p)/(k − 1): best for few cells.

    (Warner 1965; Kairouz, Oh and Viswanath 2016.) With p rounded down p/q <= e^ε. A report is a cell.

    >>> KaryResponse(4, 1).bits
    2
    """

    __slots__ = ()
    name, code = "k-ary", 1

    @property
    def p(self) -> Fraction:
        """The probability of the truth."""
        return truth_down(self.epsilon, self.k)

    @property
    def q(self) -> Fraction:
        """The probability of any one other cell."""
        return (1 - self.p) / (self.k - 1)

    @property
    def bits(self) -> int:
        """The bits of a cell."""
        return (self.k - 1).bit_length()

    @property
    def width(self) -> int:
        """One total for each cell."""
        return self.k

    @property
    def work(self) -> int:
        """A report is of one cell."""
        return 1

    def _randomised(self, cells: Ints, source: Source) -> Reports:
        return keep_or_replace(cells, self.k, self.p, source=source)

    def accumulate(self, reports: Reports) -> Ints:
        """How often each cell was told."""
        return np.bincount(checked_codes(reports, self.k), minlength=self.k).astype(np.int64)

    def support(self, totals: Ints, n: int) -> Ints:
        """How often each cell was told, which is what the totals are."""
        return totals

    def possible(self, totals: Ints, n: int) -> bool:
        """Whether n reports could have such totals: each tells one cell."""
        return int(totals.min()) >= 0 and int(totals.sum()) == n

    def pack(self, report: Any) -> bytes:
        """The cell that is told, the least byte first."""
        return packed_code(report, self.size)

    def unpack(self, data: bytes) -> Any:
        """The cell that is told; Invalid where there is none."""
        return unpacked_code(data, self.size, self.k)

    def outcomes(self) -> Reports:
        """Every cell."""
        self._few(self.k)
        return np.arange(self.k)

    def chance(self, report: Any, value: int) -> Fraction:
        """The probability p for the own cell, q for any other."""
        return self.p if int(report) == value else self.q
