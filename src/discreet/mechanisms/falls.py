"""How far scores fall short of the best: weights e^-x, as floats near them and as integer brackets."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.exact import exp_neg_bounds
from discreet.mechanisms.wheel import Floats, Ints, Wheel

REACH = 90  # e^-90 < 2^-129: exponents beyond are cut off in floats
DIGIT = 10  # binary digits of one look-up
PRECISION = 192  # binary digits of what is tabled
FINE = 50  # binary digits after the point of an exponent that is not an integer times the rate


@dataclass(frozen=True, slots=True)
class Falls:
    """How far each score falls short of the best of its row, as an exponent x >= 0: floats near e^-x, and x itself."""

    near: Floats
    exponent: Callable[[int, int], Fraction]

    @classmethod
    def of(cls, exact: "Ints | NDArray[np.object_]", rate: Fraction) -> "Falls":
        """x = rate · (best − score), for one list of scores or for rows of them."""
        scores: NDArray[Any] = np.atleast_2d(exact)
        if scores.dtype != np.object_:
            gaps = scores.max(axis=1, keepdims=True) - scores
            return cls(_near(gaps, rate), lambda row, at: rate * int(gaps[row, at]))
        best = [max(row) for row in scores]
        exponents = [[rate * (top - score) for score in row] for top, row in zip(best, scores, strict=True)]
        fixed = [[min(int(x * (1 << FINE)), REACH << FINE) for x in row] for row in exponents]
        return cls(
            _near(np.array(fixed, np.int64).reshape(scores.shape), Fraction(1, 1 << FINE)),
            lambda row, at: exponents[row][at],
        )

    @property
    def wheel(self) -> Wheel:
        return Wheel(self.near, lambda row, at, bits: exp_neg_bounds(self.exponent(row, at), bits))


def _near(gaps: Ints, rate: Fraction) -> Floats:
    """e^(−rate·gap), wrong by at most 2^-48 of itself and 2^-128: a product of look-ups, one for DIGIT binary digits each.

    No libm is used: each factor is an exact value rounded once, and each product rounds once more.
    """
    reach, tables = _powers_of(rate)
    left = np.minimum(gaps, reach)
    mask = (1 << DIGIT) - 1
    out: Floats = tables[0][left & mask]
    for table in tables[1:]:
        left >>= DIGIT
        out *= table[left & mask]
    return out


@lru_cache(maxsize=64)
def _powers_of(rate: Fraction) -> tuple[int, tuple[Floats, ...]]:
    """The gap at which gaps may be cut off, and the tables for gaps up to there."""
    reach = min(ceil(REACH / rate), (1 << 63) - 1)
    shifts = range(0, reach.bit_length(), DIGIT)
    return reach, tuple(_powers(rate * (1 << shift), min(1 << DIGIT, (reach >> shift) + 1)) for shift in shifts)


def _powers(step: Fraction, count: int) -> Floats:
    """1, e^-step, e^(−2·step), …: each the one before times a lower bound, off by less than 2^-170."""
    ratio, value, powers = exp_neg_bounds(step, PRECISION)[0], 1 << PRECISION, []
    for _ in range(count):
        powers.append(value / (1 << PRECISION))
        value = value * ratio >> PRECISION
    return np.array(powers)
