"""The public ladders: of limits, 1, 2, 3, 4, 5, 7, 9, … each about a quarter larger than the one before; of ranges, powers of two."""

from bisect import bisect_left
from functools import cache

TOP = 1 << 20
"""The last rung: what a limit on rows can be at most."""

SMALLEST, LARGEST = -10, 49
"""The powers of two between which ranges of numbers lie; the largest is the last one that bounds may have."""


def next_rung(rung: int) -> int:
    """The rung after one.

    >>> [next_rung(rung) for rung in (1, 5, 9, 100)]
    [2, 7, 12, 125]
    """
    return max(rung + 1, -(-rung * 5 // 4))


@cache
def ladder(top: int = TOP, least: int = 1) -> tuple[int, ...]:
    """The rungs from one on that are below the top, and the top.

    >>> ladder(12), ladder(12, least=5), ladder(1)
    ((1, 2, 3, 4, 5, 7, 9, 12), (5, 7, 9, 12), (1,))
    """
    rungs = [least]
    while rungs[-1] < top:
        rungs.append(min(top, next_rung(rungs[-1])))
    return tuple(rungs)


@cache
def doublings(top: int = TOP) -> tuple[int, ...]:
    """The powers of two that are below the top, and the top.

    >>> doublings(12)
    (1, 2, 4, 8, 12)
    """
    return (*(1 << i for i in range((top - 1).bit_length())), top)


def nearest(rungs: tuple[int, ...], limit: int) -> int:
    """The place of the first rung that is not below a number, or of the last.

    >>> nearest((1, 2, 4), 3), nearest((1, 2, 4), 9)
    (2, 2)
    """
    return min(bisect_left(rungs, limit), len(rungs) - 1)


@cache
def signed(*, whole: bool) -> tuple[float, ...]:
    """The ladder that the ends of a range are on, from below: powers of two, 0 between them, and their negatives; or whole ones alone.

    >>> [rung for rung in signed(whole=True) if abs(rung) <= 4], signed(whole=False)[60:63]
    ([-4, -2, -1, 0, 1, 2, 4], (0.0, 0.0009765625, 0.001953125))
    """
    sizes = [1 << power if whole else 2.0**power for power in range(0 if whole else SMALLEST, LARGEST + 1)]
    nothing = 0 if whole else 0.0
    return (*(-size for size in reversed(sizes)), nothing, *sizes)
