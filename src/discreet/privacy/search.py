"""Roots and minima of functions of one variable, without scipy's optimisers, whose import takes longer than most answers."""

from collections.abc import Callable
from math import sqrt

TURNS = 200
GOLDEN = (3 - sqrt(5)) / 2


def root(
    falling: Callable[[float], float],
    low: float,
    high: float,
    at_low: float,
    at_high: float,
    close: float = 0.0,
    turns: int = TURNS,
) -> float:
    """Where a decreasing function is 0, between low and high, or at most 0 and at least −close.

    After so many turns, the best known place where it is at most 0.

    Regula falsi with the weight of an end halved when it stays (Illinois), and bisection whenever that is slow.

    >>> round(root(lambda x: 2 - x * x, 0.0, 2.0, 2.0, -2.0), 12)
    1.414213562373
    """
    side, width = 0, high - low
    for turn in range(turns):
        middle = (low * at_high - high * at_low) / (at_high - at_low)
        if not low < middle < high or (turn % 4 == 3 and high - low > width / 8):
            middle = low + (high - low) / 2
        if turn % 4 == 3:
            width = high - low
        if not low < middle < high:
            return high
        value = falling(middle)
        if -close <= value <= 0:
            return middle
        if value > 0:
            low, at_low = middle, value
            at_high = at_high / 2 if side > 0 else at_high
            side = 1
        else:
            high, at_high = middle, value
            at_low = at_low / 2 if side < 0 else at_low
            side = -1
        if high - low <= 4e-16 * abs(high):
            return high
    return high


def least(function: Callable[[float], float], low: float, high: float, precision: float = 1e-9) -> float:
    """The least value of a function with one valley between low and high: golden section.

    >>> round(least(lambda x: (x - 1) ** 2 + 3, -5.0, 4.0), 12)
    3.0
    """
    a, b = low + GOLDEN * (high - low), high - GOLDEN * (high - low)
    at_a, at_b = function(a), function(b)
    best = min(at_a, at_b, function(low), function(high))
    while high - low > precision * (1 + abs(low) + abs(high)):
        if at_a <= at_b:
            high, b, at_b = b, a, at_a
            a = low + GOLDEN * (high - low)
            at_a = function(a)
        else:
            low, a, at_a = a, b, at_b
            b = high - GOLDEN * (high - low)
            at_b = function(b)
        best = min(best, at_a, at_b)
    return best
