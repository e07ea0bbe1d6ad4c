"""One attribute of several, hidden among fakes: a report has all attributes, and does not say which one of them is the person's."""

from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import numpy as np

from discreet.errors import Invalid
from discreet.local.attributes import AttributesProtocol
from discreet.local.protocol import Reports
from discreet.noise import Source, uniform
from discreet.noise.size import Ints


class HiddenAttribute(AttributesProtocol):
    """The report of a uniform attribute j of d by the protocol of j, and reports of fake, uniform cells of all others by theirs.

    (Arcolezi, Couchot, Al Bouna and Xiao 2021, RS+FD.) The chance of a report is the average over j of products: of its chance about j,
    given the person's cell of j, and of its chances about all others, given fakes, which depend on nobody's cells. When the person's
    cells are replaced, any or all of them, one factor of each product changes, by at most e^ε: so does the average. The loss is at most
    ε, and it is the whole ε for who replaces all cells: the fakes amplify nothing. The paper runs protocols at ln(d(e^ε − 1) + 1), which is
    more than ε. Where all attributes have the same k cells, that has a loss of ε for who replaces a single one, and of all that is more
    than ε for who replaces them all.

    >>> from discreet.local.kary import KaryResponse
    >>> [round(float(each), 4) for each in HiddenAttribute((KaryResponse(2, 1), KaryResponse(3, 1))).chances(0)]
    [0.6155, 0.3845]
    """

    __slots__ = ()
    name, code = "hidden-attribute", 10

    @property
    def bits(self) -> int:
        """A report about each attribute, in whole bytes."""
        return 8 * sum(each.size for each in self.parts)

    @property
    def width(self) -> int:
        """The totals of each attribute."""
        return sum(each.width for each in self.parts)

    @property
    def reach(self) -> Fraction:
        """How far the only report can move any share."""
        return max(1 / (own - other) for own, other in map(self.chances, range(len(self.parts))))

    def chances(self, place: int) -> tuple[Fraction, Fraction]:
        """Those of the attribute's own protocol once in d reports; else a fake supports any cell with the chance (p + (k − 1) q)/k."""
        part, d = self.parts[place], len(self.parts)
        fake = Fraction(d - 1, d) * (part.p + (part.k - 1) * part.q) / part.k
        return part.p / d + fake, part.q / d + fake

    def variance(self, place: int, share: Fraction, people: int) -> Fraction:
        """The exact variance of the estimated share, for the noise, the fakes and the choice of the attribute together.

        (f a(1−a) + (1−f) b(1−b))/(n (a−b)²) with a and b of `chances`: each report about the attribute is a coin.
        """
        own, other = self.chances(place)
        spread = share * own * (1 - own) + (1 - share) * other * (1 - other)
        return spread / (people * (own - other) ** 2)

    def by_attribute(self, totals: Ints, n: int) -> list[tuple[Ints, int]]:
        """The totals of each attribute: every report is about all."""
        return [(own, n) for own in self._split(totals)]

    def _randomised(self, cells: Ints, source: Source) -> Reports:
        sampled = uniform(len(self.parts), len(cells), source=source)
        reports = np.empty(len(cells), self.row)
        for place, part in enumerate(self.parts):
            fakes = uniform(part.k, len(cells), source=source)
            reports[str(place)] = part.randomise(np.where(sampled == place, cells[:, place], fakes), source)
        return reports

    def accumulate(self, reports: Reports) -> Ints:
        """The totals of each attribute, one after the other."""
        array = self._checked(reports)
        return np.concatenate([part.accumulate(array[str(place)]) for place, part in enumerate(self.parts)])

    def pack(self, report: Any) -> bytes:
        """The reports about all attributes, one after the other."""
        return b"".join(part.pack(report[str(place)]) for place, part in enumerate(self.parts))

    def unpack(self, data: bytes) -> Any:
        """The reports about all attributes; Invalid where one of them is none, and for another length."""
        if len(data) != self.size:
            raise Invalid("a report has the wrong length")
        report, begin = np.zeros((), self.row), 0
        for place, part in enumerate(self.parts):
            report[str(place)] = part.unpack(data[begin : begin + part.size])
            begin += part.size
        return report[()]

    def outcomes(self) -> Reports:
        """Every report about each attribute, with every one about the others."""
        told = [part.outcomes() for part in self.parts]
        self._few(prod(map(len, told)))
        return np.array([tuple(each) for each in product(*told)], self.row)

    def chance(self, report: Any, record: tuple[int, ...]) -> Fraction:
        """The average over the attribute that was drawn, of the product over all attributes."""
        told = [report[str(place)] for place in range(len(self.parts))]
        true = [part.chance(each, cell) for part, each, cell in zip(self.parts, told, record, strict=True)]
        fakes = [
            sum((part.chance(each, cell) for cell in range(part.k)), Fraction(0)) / part.k
            for part, each in zip(self.parts, told, strict=True)
        ]
        d = len(fakes)
        terms = (true[drawn] * prod(fakes[:drawn] + fakes[drawn + 1 :]) for drawn in range(d))
        return sum(terms, Fraction(0)) / d
