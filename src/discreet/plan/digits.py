"""Numbers in a few digits, for people."""

from fractions import Fraction


def six_digits(value: Fraction) -> str:
    """A number in at most six digits."""
    return f"{int(value):,}" if value.denominator == 1 and abs(value) < 10**15 else f"{float(value):.6g}"
