"""What reports say of the mean of numbers: an unbiased value with its variance, and an interval that always holds."""

from dataclasses import dataclass
from fractions import Fraction
from math import log
from typing import Any

import numpy as np

from discreet.exact import Number
from discreet.local.number_protocol import NumberProtocol
from discreet.local.protocol import checked_confidence
from discreet.noise.size import Ints


@dataclass(frozen=True, slots=True)
class MeanEstimate:
    """The mean of the numbers of all who reported.

    `value` is unbiased, and may lie outside of the range. `variance` is unbiased where people were drawn at random, and otherwise at least
    the variance for the noise, on average. From `low` to `high` the mean of the people who reported lies with at least the confidence.
    """

    n: int
    confidence: float
    value: float
    variance: float
    low: float
    high: float

    @classmethod
    def of(
        cls, protocol: NumberProtocol, totals: Ints, confidence: Number = 0.95, blur: Fraction = Fraction(0)
    ) -> "MeanEstimate":
        """The mean that totals of reports say, with an interval by Hoeffding's or Bernstein's inequality, whichever is narrower.

        Which one depends on n and the protocol alone. Both hold for independent reports of any numbers, with the `worst` variance.
        `blur` is how far the point of a place may be from the number that has it.
        """
        n = int(totals.sum())
        level = checked_confidence(confidence, n)
        told = [(int(totals[code]), protocol.stands_for(int(code))) for code in np.flatnonzero(totals)]
        mean = sum((count * each for count, each in told), Fraction(0)) / n
        squares = sum((count * (each - mean) ** 2 for count, each in told), Fraction(0))
        variance = squares / (n * (n - 1)) if n > 1 else protocol.worst
        nats = log(2 / float(1 - level))
        half = float(half_width(n, nats, float(protocol.worst), float(protocol.span))) + float(blur)
        value = float(mean)
        return cls(n, float(level), value, float(variance), value - half, value + half)


def half_width(n: int, nats: float, variance: Any, span: Any) -> Any:
    """How far the mean of n independent numbers is above its expectation, or below it, but for a chance of e^−nats.

    No number has a larger variance, and all lie in an interval of this span (Hoeffding 1963, theorem 2; Boucheron, Lugosi and Massart
    2013, corollary 2.11). Variances and spans are floats, or arrays of them.
    """
    bernstein = (2 * variance * nats / n) ** 0.5 + span * nats / (3 * n)
    return np.minimum(span * (nats / (2 * n)) ** 0.5, bernstein)
