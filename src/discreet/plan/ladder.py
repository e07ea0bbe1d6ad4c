"""The public ladder that limits are on: 1, 2, 3, 4, 5, 7, 9, … each about a quarter larger than the one before."""

from bisect import bisect_left
from functools import cache

TOP = 1 << 20
"""The last rung: what a limit on rows can be at most."""


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


def nearest(rungs: tuple[int, ...], least: int) -> int:
    """The place of the first rung that is not below a number, or of the last.

    >>> nearest((1, 2, 4), 3), nearest((1, 2, 4), 9)
    (2, 2)
    """
    return min(bisect_left(rungs, least), len(rungs) - 1)
