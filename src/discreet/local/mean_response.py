"""The mean of bounded numbers from one bit each: a person says high or low, and the chance of high is linear in the number."""

from fractions import Fraction

import numpy as np

from discreet.errors import Invalid
from discreet.exact import Number, log_up, rational, shown
from discreet.local.mean_protocol import MeanProtocol
from discreet.local.protocol import DIGITS, truth_down
from discreet.noise import Source, keep_or_replace, uniform
from discreet.noise.size import Ints

HALF = Fraction(1, 2)


class MeanResponse(MeanProtocol):
    """One of two reports, which stand for the midpoint ± (high − low)/2 · (e^ε + 1)/(e^ε − 1).

    (Duchi, Jordan and Wainwright 2018, in one dimension.) The number is rounded to an end of the range without bias, and the end is
    told the truth of with probability p = e^ε/(e^ε + 1), rounded down: p/(1 − p) <= e^ε.

    On [−1, 1] it is the ±1 form of randomized response: 1 is told with probability ½ + ηb of a person who has b.

    >>> MeanResponse(-1, 1, 1).codes
    2
    """

    __slots__ = ()
    name, code = "mean-response", 5

    @classmethod
    def for_eta(cls, eta: Number) -> "MeanResponse":
        """The response to −1 and 1 that tells the truth with probability ½ + η, rounded down to 64 binary digits.

        Its ε is the loss ln((½ + η)/(½ − η)) = 2 artanh(2η), or above it by about half of what the last digit is worth.

        >>> MeanResponse.for_eta(0.25).eta, round(float(MeanResponse.for_eta(0.25).epsilon), 6)
        (Fraction(1, 4), 1.098612)
        """
        exact = rational(eta, "eta")
        if not 0 < exact < HALF:
            raise Invalid(f"eta must lie between 0 and 1/2, got {shown(exact)}")
        truth = HALF + exact
        p = Fraction((truth.numerator << DIGITS) // truth.denominator, 1 << DIGITS)
        if not HALF < p < 1:
            raise Invalid(f"eta must differ from 0 and 1/2 in its first {DIGITS} binary digits, got {shown(exact)}")
        loss = log_up(p / (1 - p), 2 * DIGITS)
        return cls(-1, 1, loss + 1 / (p * (1 - p) * (1 << DIGITS + 1)), 1)  # half a digit up, rounded down to p again

    @property
    def eta(self) -> Fraction:
        """By how much the truth is likelier than a coin."""
        return self.p - HALF

    @property
    def p(self) -> Fraction:
        """The probability of the truth."""
        return truth_down(self.epsilon, 2)

    @property
    def codes(self) -> int:
        """Low is 0, high is 1."""
        return 2

    def chance(self, report: int, place: int) -> Fraction:
        """High has 1 − p at the lower end, p at the upper, and is linear between."""
        high = 1 - self.p + (2 * self.p - 1) * Fraction(place, self.steps)
        return high if report else 1 - high

    def stands_for(self, report: int) -> Fraction:
        """The two ends, as far outside of the range as makes up for the lies."""
        return self.midpoint + (report - HALF) * (self.high - self.low) / (2 * self.p - 1)

    def moment(self, place: int | Fraction) -> Fraction:
        """The same everywhere, as both reports are as far from the midpoint."""
        return (self.span / 2) ** 2

    @property
    def worst(self) -> Fraction:
        """The variance at the midpoint; the grid adds nothing, since two reports have no more than their mean to differ in."""
        return self.moment(0)

    def _randomised(self, places: Ints, source: Source) -> Ints:
        ends = (uniform(self.steps, len(places), source=source) < places).astype(np.int64)
        return keep_or_replace(ends, 2, self.p, source=source)
