"""One attribute of several: a person draws one of them, says which, and reports their cell of it alone."""

from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import Invalid
from discreet.local.attributes import AttributesProtocol
from discreet.local.protocol import Reports, packed_code, unpacked_code
from discreet.noise import Source, uniform
from discreet.noise.size import Ints

SAMPLED = "sampled"
"""The field of the attribute that a report is about; those of the others are zero, and mean nothing."""


class OneAttribute(AttributesProtocol):
    """A uniform attribute j of d, and the report of the person's cell of j by the protocol of j, at the whole ε.

    (Nguyên et al. 2016; Wang et al. 2019.) j is drawn apart from the cells. Given j the report depends on one cell alone, and its chance
    changes by a factor of at most e^ε when that cell is replaced, whatever becomes of the others: so the loss of all cells together is at
    most ε. It is ε for who replaces all of them, and no less for who replaces one: their attribute may be the one that is drawn.

    A report about j is one of n_j, which depends on no cell. Given n_j those who report on j are any n_j people of all n, alike; so shares
    among all n are estimated from n_j reports, with what the drawing of people adds to the variance: see `variance`.

    >>> from discreet.local.kary import KaryResponse
    >>> OneAttribute((KaryResponse(2, 1), KaryResponse(300, 1))).size
    3
    """

    __slots__ = ()
    name, code = "one-attribute", 9

    def _fields(self) -> list[tuple[Any, ...]]:
        return [(SAMPLED, np.int64), *AttributesProtocol._fields(self)]

    @property
    def bits(self) -> int:
        """A byte that names the attribute, and the longest report about one."""
        return 8 * (1 + max(each.size for each in self.parts))

    @property
    def width(self) -> int:
        """How many reports there are about each attribute, and the totals of each."""
        return len(self.parts) + sum(each.width for each in self.parts)

    @property
    def reach(self) -> Fraction:
        """How far the only report can move the shares of the attribute that it is about."""
        return max(1 / (each.p - each.q) for each in self.parts)

    def influence(self, liars: int, totals: Ints, n: int) -> Fraction:
        """How far so many of the n reports could have moved any share.

        They may all be about the attribute with the fewest reports: of n_j of them k liars move told/n_j by at most k/n_j, also where they
        left it or came from another attribute.
        """
        by_part = zip(self.parts, self.by_attribute(totals, n), strict=True)
        return max(Fraction(min(liars, about), about) / (part.p - part.q) for part, (_, about) in by_part if about)

    def chances(self, place: int) -> tuple[Fraction, Fraction]:
        """Those of the attribute's own protocol: its reports are true ones of it."""
        return self.parts[place].p, self.parts[place].q

    def variance(self, place: int, share: Fraction, reports: int, people: int) -> Fraction:
        """The exact variance of the estimated share among all people, of an attribute that so many of them reported on.

        (f p(1−p) + (1−f) q(1−q))/(n_j (p−q)²) for the noise, and f(1−f)/n_j · (n − n_j)/(n − 1) for who was drawn, without replacement.
        """
        return self.parts[place].variance(share, reports) + share * (1 - share) * left_out(reports, people) / reports

    def by_attribute(self, totals: Ints, n: int) -> list[tuple[Ints, int]]:
        """The totals of each attribute, and how many of the reports are about it."""
        d = len(self.parts)
        return [(own, int(about)) for own, about in zip(self._split(totals[d:]), totals[:d], strict=True)]

    def possible(self, totals: Ints, n: int) -> bool:
        """Whether n reports could have such totals: each is about one attribute."""
        about = [int(each) for each in totals[: len(self.parts)]]
        return sum(about) == n and AttributesProtocol.possible(self, totals, n)

    def _randomised(self, cells: Ints, source: Source) -> Reports:
        reports = np.zeros(len(cells), self.row)
        reports[SAMPLED] = uniform(len(self.parts), len(cells), source=source)
        for place, part in enumerate(self.parts):
            about = np.flatnonzero(reports[SAMPLED] == place)
            reports[str(place)][about] = part.randomise(cells[about, place], source)
        return reports

    def accumulate(self, reports: Reports) -> Ints:
        """How many reports are about each attribute, and the totals of each, one after the other."""
        array = self._checked(reports)
        sampled, d = array[SAMPLED], len(self.parts)
        if len(array) and not (int(sampled.min()) >= 0 and int(sampled.max()) < d):
            raise Invalid("a report is not of this domain")
        own = [part.accumulate(array[str(place)][sampled == place]) for place, part in enumerate(self.parts)]
        return np.concatenate([np.bincount(sampled, minlength=d).astype(np.int64), *own])

    def pack(self, report: Any) -> bytes:
        """The attribute in a byte, the report about it, and zeros up to the length of the longest: length tells no attribute."""
        place = int(report[SAMPLED])
        told = packed_code(place, 1) + self.parts[place].pack(report[str(place)])
        return told.ljust(self.size, b"\0")

    def unpack(self, data: bytes) -> Any:
        """The attribute and the report about it; Invalid where there is none, and where anything but zeros follows."""
        if len(data) != self.size:
            raise Invalid("a report has the wrong length")
        place = unpacked_code(data[:1], 1, len(self.parts))
        end = 1 + self.parts[place].size
        if any(data[end:]):
            raise Invalid("a report is not of this domain")
        return self._about(place, self.parts[place].unpack(data[1:end]))

    def outcomes(self) -> Reports:
        """Every attribute with every report about it."""
        told = [part.outcomes() for part in self.parts]
        self._few(sum(map(len, told)))
        rows = [self._about(place, each) for place, reports in enumerate(told) for each in reports]
        return np.array(rows, self.row)

    def chance(self, report: Any, record: tuple[int, ...]) -> Fraction:
        """The probability of the attribute, by that of the report about it."""
        place = int(report[SAMPLED])
        return self.parts[place].chance(report[str(place)], record[place]) / len(self.parts)

    def _about(self, place: int, told: Any) -> Any:
        report = np.zeros((), self.row)
        report[SAMPLED], report[str(place)] = place, told
        return report[()]


def left_out(reports: int, people: int) -> Fraction:
    """The part (n − m)/(n − 1) of the variance of n draws with replacement that m of n people drawn without it have.

    >>> left_out(5, 9)
    Fraction(1, 2)
    """
    return Fraction(people - reports, people - 1) if people > 1 else Fraction(0)
