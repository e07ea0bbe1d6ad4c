"""Roots and minima of functions of one variable, without scipy's optimisers, whose import takes longer than most answers."""

from collections.abc import Callable, Sequence
from math import sqrt

# Bisection alone needs 60 for every digit of a float, and Illinois hardly ever more than 20.
TURNS = 200
# The golden section of an interval: each place that was looked at serves again.
GOLDEN = (3 - sqrt(5)) / 2
# Of a convex function: no value may be less than the best by more. The values are probabilities, near-exact to 1e-9.
SAME = 1e-11
# Relative, of an interval whose ends are one float, or two.
ONE_PLACE = 4e-16


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

    After so many turns it is the best known place where the function is at most 0.

    The method is regula falsi with the weight of an end halved when it stays (Illinois), and bisection whenever that is slow.

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
        if high - low <= ONE_PLACE * abs(high):
            return high
    return high


def minimum(
    function: Callable[[float], float],
    low: float,
    high: float,
    precision: float = 1e-9,
    along: Callable[[float], float] | None = None,
) -> float:
    """The least value of a function with one valley between low and high: golden section.

    Where the function is convex in `along`(x), which increases, the search stops as soon as no value can be less by more than SAME.

    >>> round(minimum(lambda x: (x - 1) ** 2 + 3, -5.0, 4.0), 12)
    3.0
    """
    a, b = low + GOLDEN * (high - low), high - GOLDEN * (high - low)
    at_a, at_b = function(a), function(b)
    at_low, at_high = function(low), function(high)
    best = min(at_a, at_b, at_low, at_high)
    while high - low > precision * (1 + abs(low) + abs(high)):
        if (
            along is not None
            and best - _floor([along(x) for x in (low, a, b, high)], (at_low, at_a, at_b, at_high)) < SAME
        ):
            break
        if at_a <= at_b:
            high, at_high, b, at_b = b, at_b, a, at_a
            a = low + GOLDEN * (high - low)
            at_a = function(a)
        else:
            low, at_low, a, at_a = a, at_a, b, at_b
            b = high - GOLDEN * (high - low)
            at_b = function(b)
        best = min(best, at_a, at_b)
    return best


def _floor(x: Sequence[float], y: Sequence[float]) -> float:
    """What a convex function with these values at four points is at least between the outer ones.

    A line through two neighbours lies nowhere above it outside of them.
    """
    slopes = [(y[i + 1] - y[i]) / (x[i + 1] - x[i]) for i in range(3)]
    left = y[1] - max(0.0, slopes[1]) * (x[1] - x[0])
    middle = max(y[1] + min(0.0, slopes[0]) * (x[2] - x[1]), y[2] - max(0.0, slopes[2]) * (x[2] - x[1]))
    right = y[2] + min(0.0, slopes[1]) * (x[3] - x[2])
    return min(y[0], y[3], left, middle, right)
