"""Hadamard response: a person draws one coefficient of their cell's Hadamard transform, and tells its sign by randomized response."""

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
from discreet.noise import Source, keep_or_replace, uniform
from discreet.noise.size import Ints


class HadamardResponse(FrequencyProtocol):
    """A uniform coefficient j of K = 2^m >= k, and the parity of j & x, kept with probability e^ε/(e^ε + 1).

    (Acharya, Sun and Zhang 2019; Cormode, Kulkarni and Srivastava 2019.) j says nothing of the person; given j the report is
    randomized response on one bit, so the loss is at most ε. Parities of two cells agree for half of all j, so q = ½ exactly.
    A report is the integer 2j + bit. Reports are short and totals are quick; the variance is least for ε up to 1.

    >>> HadamardResponse(1000, 1).bits
    11
    """

    __slots__ = ()
    name, code = "hadamard", 4

    @property
    def p(self) -> Fraction:
        """The probability of the true sign."""
        return truth_down(self.epsilon, 2)

    @property
    def q(self) -> Fraction:
        """The probability that the sign is that of another cell."""
        return Fraction(1, 2)

    @property
    def width(self) -> int:
        """One total for each of the K coefficients."""
        return 1 << (self.k - 1).bit_length()

    @property
    def bits(self) -> int:
        """A coefficient and a sign."""
        return self.width.bit_length()

    @property
    def work(self) -> int:
        """A report is of one coefficient."""
        return 1

    def _randomised(self, cells: Ints, source: Source) -> Reports:
        places = uniform(self.width, len(cells), source=source)
        return 2 * places + keep_or_replace(parity(places & cells), 2, self.p, source=source)

    def accumulate(self, reports: Reports) -> Ints:
        """The sum of the signs, 1 or −1, that were told of each coefficient."""
        told = np.bincount(checked_codes(reports, 2 * self.width), minlength=2 * self.width)
        return (told[::2] - told[1::2]).astype(np.int64)

    def support(self, totals: Ints, n: int) -> Ints:
        """How many signs are those of each cell: (n + transform)/2, in integers."""
        return (n + transform(totals)[: self.k]) // 2

    def possible(self, totals: Ints, n: int) -> bool:
        """Whether n reports could have such totals: each adds 1 or −1 to one of them."""
        size = int(np.abs(totals).sum())
        return size <= n and (n - size) % 2 == 0

    def pack(self, report: Any) -> bytes:
        """The integer 2j + bit, the least byte first."""
        return packed_code(report, self.size)

    def unpack(self, data: bytes) -> Any:
        """The integer 2j + bit; Invalid where there is no such coefficient."""
        return unpacked_code(data, self.size, 2 * self.width)

    def outcomes(self) -> Reports:
        """Every coefficient with either sign."""
        self._few(2 * self.width)
        return np.arange(2 * self.width)

    def chance(self, report: Any, value: int) -> Fraction:
        """The probability of the coefficient, by that of the sign given it."""
        place, bit = divmod(int(report), 2)
        told = bit == (place & value).bit_count() % 2
        return (self.p if told else 1 - self.p) / self.width


def parity(values: Ints) -> Ints:
    """Whether the number of ones among the binary digits is odd, for integers from 0 to 2^32 − 1."""
    folded = values.copy()
    for shift in (16, 8, 4, 2, 1):
        folded ^= folded >> shift
    return folded & 1


def transform(totals: Ints) -> Ints:
    """The Walsh–Hadamard transform of 2^m integers: entry x is the sum over j of (−1)^popcount(j & x) times entry j."""
    out, half = totals.copy(), 1
    while half < len(out):
        pairs = out.reshape(-1, 2, half)
        out = np.stack((pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]), axis=1).reshape(-1)
        half *= 2
    return out
