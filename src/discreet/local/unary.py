"""Optimised unary encoding: a person sends a bit for each cell, and each bit may lie."""

from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import numpy as np

from discreet.errors import Invalid
from discreet.local.frequency_protocol import FrequencyProtocol
from discreet.local.protocol import Reports, array_of, truth_down
from discreet.noise import Source, bernoulli
from discreet.noise.bernoulli import coin_of, tosses
from discreet.noise.size import Ints

HALF = Fraction(1, 2)


class UnaryEncoding(FrequencyProtocol):
    """The bit of the own cell is 1 with probability ½, each other with q = 1/(e^ε + 1), independently: k bits a report.

    (Wang, Blocki, Li and Jha 2017, OUE.) Two cells differ in two bits, so the loss is ln(½(1 − q)/(½q)) = ln((1 − q)/q) <= ε
    with q rounded up.

    >>> UnaryEncoding(1000, 1).size
    125
    """

    __slots__ = ()
    name, code = "unary", 2

    @property
    def p(self) -> Fraction:
        """The probability that the bit of the own cell is 1."""
        return HALF

    @property
    def q(self) -> Fraction:
        """The probability that the bit of another cell is 1, rounded up."""
        return 1 - truth_down(self.epsilon, 2)

    @property
    def bits(self) -> int:
        """One bit for each cell."""
        return self.k

    @property
    def width(self) -> int:
        """One total for each cell."""
        return self.k

    @property
    def work(self) -> int:
        """Every cell has a bit."""
        return self.k

    def _randomised(self, cells: Ints, source: Source) -> Reports:
        reports = np.empty((len(cells), self.k), np.bool_)
        flat = reports.reshape(-1)
        for where, heads in tosses(coin_of(self.q), flat.size, source):
            flat[where] = heads
        reports[np.arange(len(cells)), cells] = bernoulli(HALF, len(cells), source=source)
        return reports

    def accumulate(self, reports: Reports) -> Ints:
        """How often the bit of each cell was 1."""
        array = array_of(reports, "reports")
        if array.ndim != 2 or array.shape[1] != self.k or array.dtype != np.bool_:
            raise Invalid("reports must be rows of k truth values")
        totals: Ints = array.sum(axis=0, dtype=np.int64)
        return totals

    def support(self, totals: Ints, n: int) -> Ints:
        """How often the bit of each cell was 1, which is what the totals are."""
        return totals

    def pack(self, report: Any) -> bytes:
        """Eight bits in a byte, the first cell in the lowest bit of the first."""
        return np.packbits(np.asarray(report, np.bool_), bitorder="little").tobytes()

    def unpack(self, data: bytes) -> Any:
        """The bits; Invalid for another length, or where a bit behind the last cell is set."""
        if len(data) != self.size:
            raise Invalid("a report has the wrong length")
        bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little").astype(np.bool_)
        if bits[self.k :].any():
            raise Invalid("a report is not of this domain")
        return bits[: self.k]

    def outcomes(self) -> Reports:
        """Every row of k bits."""
        self._few(1 << self.k)
        return np.array(list(product((False, True), repeat=self.k)))

    def chance(self, report: Any, value: int) -> Fraction:
        """The product over the bits, which are independent."""
        heads = [self.p if cell == value else self.q for cell in range(self.k)]
        return Fraction(prod(each if bit else 1 - each for each, bit in zip(heads, report, strict=True)))
