"""A window of reports that moves with the person's place: each report in it is likelier than any outside of it."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.exact import exp_neg_bounds
from discreet.local.protocol import DIGITS
from discreet.noise import Source, bernoulli, uniform
from discreet.noise.size import Ints


@dataclass(frozen=True, slots=True)
class ReportWindow:
    """One of places + width − 1 reports: the window of the place j is j … j + width − 1, and is told of with probability `inside`.

    Every window has `width` reports in it and places − 1 outside. So any report has one of two chances, `likely` and `rare`, and
    likely/rare <= e^ε where inside <= w e^ε/(w e^ε + places − 1). The expectation of a report is linear in j, exactly.

    >>> ReportWindow.of(9, 3, Fraction(2)).codes
    11
    """

    places: int
    width: int
    inside: Fraction

    @classmethod
    def of(cls, places: int, width: int, epsilon: Fraction) -> "ReportWindow":
        """The window with the largest `inside` of 64 binary digits, or nearly so, of which at most ε is told."""
        precision = 2 * DIGITS
        above = exp_neg_bounds(epsilon, precision)[1]
        least = (width << (precision + DIGITS)) // ((width << precision) + (places - 1) * above)
        return cls(places, width, Fraction(least, 1 << DIGITS))

    @property
    def codes(self) -> int:
        """The number of reports."""
        return self.places + self.width - 1

    @property
    def likely(self) -> Fraction:
        """The chance of each report in the window."""
        return self.inside / self.width

    @property
    def rare(self) -> Fraction:
        """The chance of each report outside of the window."""
        return (1 - self.inside) / (self.places - 1)

    @property
    def excess(self) -> Fraction:
        """How much likelier the window is than as many reports outside of it."""
        return self.inside - self.width * self.rare

    def chance(self, report: int, place: int) -> Fraction:
        """The exact probability of a report, given the place."""
        return self.likely if 0 <= report - place < self.width else self.rare

    def unbiased(self, report: int) -> Fraction:
        """Linear in the report; the expectation is how far the place is above the middle one."""
        return (report - Fraction(self.codes - 1, 2)) / self.excess

    def moment(self, place: int | Fraction) -> Fraction:
        """The exact expectation of `unbiased`²: ((1 − t) (M² − 1)/12 + t ((w² − 1)/12 + d²))/t², M being the number of reports.

        With t = `excess` a report is uniform in the window, else uniform among all; d is how far the middles of both are apart.
        """
        away = place - Fraction(self.places - 1, 2)
        everywhere, near = Fraction(self.codes**2 - 1, 12), Fraction(self.width**2 - 1, 12)
        return ((1 - self.excess) * everywhere + self.excess * (near + away**2)) / self.excess**2

    def randomised(self, places: Ints, source: Source) -> Ints:
        """Both a report of the window and one outside are drawn, whichever is told."""
        near = places + uniform(self.width, len(places), source=source)
        far = uniform(self.places - 1, len(places), source=source)
        far += np.where(far >= places, self.width, 0)
        told = bernoulli(self.inside, len(places), source=source)
        return np.where(told, near, far)
