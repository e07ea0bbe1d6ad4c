"""Public round numbers: whatever is proposed is one of them, rounded outward, so that it tells less of the data than what it is made of."""

from collections.abc import Sequence
from fractions import Fraction

from discreet.plan.catalog import MOST_BOUND
from discreet.plan.ladder import next_rung

SMALLEST = -3
"""The power of ten that the rungs of bounds begin with."""

TOP = 15
"""The power of ten that they end with."""

SPARED = 200
"""One value in so many may lie beyond a proposed bound, at each end."""


def limit_for(most: int) -> int:
    """The first of 1, 2, 3, 4, 5, 7, 9, … that is not below a number; each is about a quarter larger than the one before.

    >>> [limit_for(most) for most in (0, 1, 5, 6, 8, 100)]
    [1, 1, 5, 7, 9, 118]
    """
    rung = 1
    while rung < most:
        rung = next_rung(rung)
    return rung


def rungs(whole: bool) -> tuple[Fraction, ...]:
    """Every number that may be a proposed bound: 0, and 1, 2 and 5 times powers of ten, of either sign; `whole` ones alone, or all."""
    sizes = [Fraction(10) ** power * digit for power in range(0 if whole else SMALLEST, TOP) for digit in (1, 2, 5)]
    sizes.append(MOST_BOUND)
    return (*(-size for size in reversed(sizes)), Fraction(0), *sizes)


def bounds_for(
    ladder: Sequence[Fraction], below: Sequence[int], above: Sequence[int], values: int
) -> tuple[Fraction, Fraction] | None:
    """The narrowest bounds on a ladder beyond which there is at most one value in 200 at each end; None where there is no value.

    `below` and `above` say how many values lie below and above each rung. Where values lie beyond the ladder, its ends are proposed.
    """
    if not values:
        return None
    lows = [rung for rung, count in zip(ladder, below, strict=True) if count * SPARED <= values]
    highs = [rung for rung, count in zip(ladder, above, strict=True) if count * SPARED <= values]
    return _from_zero(*sorted((max(lows, default=ladder[0]), min(highs, default=ladder[-1]))))


def _from_zero(low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds that begin or end at 0, where they come near it for their width: that tells less, and is what anybody would guess.

    So do the bounds of values that are all one number, since bounds of no width would tell it.
    """
    if low == high == 0:
        return low, Fraction(1)
    if low > 0 and (10 * low <= high or low == high):
        return Fraction(0), high
    if high < 0 and (10 * high >= low or low == high):
        return low, Fraction(0)
    return low, high
