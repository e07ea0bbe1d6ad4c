"""The mean of bounded numbers from one bit each: a person says high or low, and the chance of high is linear in the number."""

from fractions import Fraction

import numpy as np

from discreet.local.mean_protocol import MeanProtocol
from discreet.local.protocol import truth_down
from discreet.noise import Source, keep_or_replace, uniform
from discreet.noise.size import Ints


class MeanResponse(MeanProtocol):
    """One of two reports, which stand for the midpoint ± (high − low)/2 · (e^ε + 1)/(e^ε − 1).

    (Duchi, Jordan and Wainwright 2018, in one dimension.) The number is rounded to an end of the range without bias, and the end is
    told the truth of with probability p = e^ε/(e^ε + 1), rounded down: p/(1 − p) <= e^ε.

    >>> MeanResponse(-1, 1, 1).codes
    2
    """

    __slots__ = ()
    name = "mean-response"

    @property
    def p(self) -> Fraction:
        """The probability of the truth."""
        return truth_down(self.epsilon, 2)

    @property
    def codes(self) -> int:
        """Low is 0, high is 1."""
        return 2

    def chance(self, report: int, index: int) -> Fraction:
        """High has 1 − p at the lower end, p at the upper, and is linear between."""
        high = 1 - self.p + (2 * self.p - 1) * Fraction(index, self.steps)
        return high if report else 1 - high

    def stands_for(self, report: int) -> Fraction:
        """The two ends, as far outside of the range as makes up for the lies."""
        return self.midpoint + (report - Fraction(1, 2)) * (self.high - self.low) / (2 * self.p - 1)

    def moment(self, index: int | Fraction) -> Fraction:
        """The same everywhere, as both reports are as far from the midpoint."""
        return (self.span / 2) ** 2

    @property
    def worst(self) -> Fraction:
        """The variance at the midpoint; the grid adds nothing, since two reports have no more than their mean to differ in."""
        return self.moment(0)

    def _randomised(self, places: Ints, source: Source) -> Ints:
        ends = (uniform(self.steps, len(places), source=source) < places).astype(np.int64)
        return keep_or_replace(ends, 2, self.p, source=source)
