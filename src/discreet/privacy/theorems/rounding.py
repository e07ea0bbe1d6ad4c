"""Brackets that keep their digits where numbers cancel, and how many digits that takes."""

from fractions import Fraction

from discreet.exact import exp_down, exp_up


def enough(x: Fraction, bits: int = 64) -> int:
    """Digits after the point that leave `bits` of them when numbers of the size of x, or 1/x, cancel."""
    return bits + 2 * abs(x.numerator.bit_length() - x.denominator.bit_length())


def expm1_up(x: Fraction) -> Fraction:
    """e^x − 1, from above."""
    return exp_up(x, enough(x)) - 1


def expm1_down(x: Fraction) -> Fraction:
    """e^x − 1, from below."""
    return exp_down(x, enough(x)) - 1


def fall_up(x: Fraction) -> Fraction:
    """1 − e^-x, from above."""
    return 1 - exp_down(-x, enough(x))
