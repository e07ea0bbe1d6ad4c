"""The mean of bounded numbers from reports near them: a window of reports moves with the number, and each in it is likelier."""

from fractions import Fraction

import numpy as np

from discreet.exact import exp_neg_bounds
from discreet.local.mean_protocol import MeanProtocol
from discreet.local.protocol import DIGITS
from discreet.noise import Source, bernoulli, uniform
from discreet.noise.size import Ints


class PiecewiseMean(MeanProtocol):
    """One of steps + w reports: each of the w in the person's window is e^ε times as likely as any other.

    (Wang et al. 2019, the piecewise mechanism, on a grid.) The window of the place j is j … j + w − 1, so the expectation of a report is
    linear in j, exactly. The width w is near steps · e^(−ε/2), as in the continuous mechanism, where the window has the width C − 1 and
    moves by C + 1 in all. Any report has one of two chances, whose ratio is at most e^ε with `inside` rounded down.

    >>> PiecewiseMean(-1, 1, 2, steps=8).width
    3
    """

    __slots__ = ()
    name = "piecewise"

    @property
    def width(self) -> int:
        """The number of reports in a window: steps · e^(−ε/2), rounded, and at least one; which it is tells nothing."""
        return max(1, (exp_neg_bounds(self.epsilon / 2, DIGITS)[0] * self.steps + (1 << DIGITS - 1)) >> DIGITS)

    @property
    def codes(self) -> int:
        """The reports of all windows."""
        return self.steps + self.width

    @property
    def inside(self) -> Fraction:
        """The probability w e^ε/(w e^ε + steps) of the window, rounded down to 64 binary digits: at most ε is told."""
        precision = 2 * DIGITS
        above = exp_neg_bounds(self.epsilon, precision)[1]
        least = (self.width << (precision + DIGITS)) // ((self.width << precision) + self.steps * above)
        return Fraction(least, 1 << DIGITS)

    @property
    def excess(self) -> Fraction:
        """How much likelier the window is than as many reports outside of it."""
        return self.inside - (1 - self.inside) * self.width / self.steps

    def chance(self, report: int, index: int) -> Fraction:
        """The same for all reports in the window, and for all outside."""
        if 0 <= report - index < self.width:
            return self.inside / self.width
        return (1 - self.inside) / self.steps

    def stands_for(self, report: int) -> Fraction:
        """Linear in the report; the middle one stands for the midpoint."""
        return self.midpoint + self.step * (report - Fraction(self.codes - 1, 2)) / self.excess

    def moment(self, index: int | Fraction) -> Fraction:
        """(1 − t) (M² − 1)/12 + t ((w² − 1)/12 + d²) in squared units of a report, of which there are M.

        With t = `excess` a report is uniform in the window, else uniform among all; d is how far the middles of both are apart.
        """
        away = index - Fraction(self.steps, 2)
        everywhere, window = Fraction(self.codes**2 - 1, 12), Fraction(self.width**2 - 1, 12)
        squares = (1 - self.excess) * everywhere + self.excess * (window + away**2)
        return squares * (self.step / self.excess) ** 2

    def _randomised(self, places: Ints, source: Source) -> Ints:
        """Both a report of the window and one outside are drawn, whichever is told."""
        near = places + uniform(self.width, len(places), source=source)
        far = uniform(self.steps, len(places), source=source)
        far += np.where(far >= places, self.width, 0)
        told = bernoulli(self.inside, len(places), source=source)
        return np.where(told, near, far)
