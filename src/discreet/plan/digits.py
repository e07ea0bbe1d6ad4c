"""Numbers in a few digits, for people."""

from fractions import Fraction


def six_digits(value: Fraction) -> str:
    """A number in at most six digits."""
    return f"{int(value):,}" if value.denominator == 1 and abs(value) < 10**15 else f"{float(value):.6g}"


def counted(most: int, what: str) -> str:
    """So many of something.

    >>> counted(1, "row"), counted(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{most:,} {what}{'s' if most != 1 else ''}"
