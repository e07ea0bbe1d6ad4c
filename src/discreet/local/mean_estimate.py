"""What reports say of the mean of numbers: an unbiased value with its variance, and an interval that always holds."""

from dataclasses import dataclass
from fractions import Fraction
from math import log
from typing import Any

import numpy as np

from discreet.exact import Number, to_float_down, to_float_up
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
    def of(cls, protocol: NumberProtocol, totals: Ints, confidence: Number = 0.95) -> "MeanEstimate":
        """The mean that totals of reports say, with an interval by Hoeffding's or Bernstein's inequality, whichever is narrower.

        Which one depends on n and the protocol alone. Both hold for independent reports of any numbers, with the `worst` variance.
        """
        n = int(totals.sum())
        level = checked_confidence(confidence, n)
        told = [(int(totals[code]), protocol.stands_for(int(code))) for code in np.flatnonzero(totals)]
        mean = sum((count * each for count, each in told), Fraction(0)) / n
        squares = sum((count * (each - mean) ** 2 for count, each in told), Fraction(0))
        variance = squares / (n * (n - 1)) if n > 1 else protocol.worst
        half = Fraction(half_of_mean(protocol, n, level)) + protocol.blur
        ends = to_float_down(mean - half), to_float_up(mean + half)
        return cls(n, float(level), float(mean), float(variance), *ends)


def half_of_mean(protocol: NumberProtocol, n: int, level: Fraction) -> float:
    """How far the mean of what n reports stand for is from the mean of the points of their places, at most, with this confidence."""
    return float(half_width(n, log(2 / float(1 - level)), float(protocol.worst), float(protocol.span)))


def half_width(n: int, nats: float, variance: Any, span: Any) -> Any:
    """How far the mean of n independent numbers is above its expectation, or below it, but for a chance of e^−nats.

    No number has a larger variance, and all lie in an interval of this span (Hoeffding 1963, theorem 2; Boucheron, Lugosi and Massart
    2013, corollary 2.11). Variances and spans are floats, or arrays of them.
    """
    bernstein = (2 * variance * nats / n) ** 0.5 + span * nats / (3 * n)
    return np.minimum(span * (nats / (2 * n)) ** 0.5, bernstein)
