"""Rounding to whole numbers, half away from zero: written once, for doubles, for exact fractions and for arrays."""

from typing import Any


def half_away(x: Any) -> Any:
    """A finite number, or each of an array of them, rounded half away from zero.

    The part after the point is exact, so that the double below one half is rounded down; zero has one sign.

    >>> from fractions import Fraction
    >>> half_away(2.5), half_away(-2.5), half_away(0.49999999999999994), half_away(-0.25), half_away(Fraction(-7, 2))
    (3.0, -3.0, 0.0, 0.0, -4)
    """
    size = abs(x)
    whole = size // 1
    rounded = whole + (size - whole >= 0.5)
    return rounded * (1 - 2 * (x < 0)) + 0
