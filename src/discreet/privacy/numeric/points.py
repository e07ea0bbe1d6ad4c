"""Compositions whose losses are, in part, single points that no integral along a line can resolve: few releases, of different kinds.

All points are put together explicitly, which is exact: δ of them is a sum of positive terms. What is left, where at least one
Laplace release fell between its two points, is smooth enough for the contour.
"""

from collections.abc import Iterable
from math import inf

import numpy as np
from numpy.typing import NDArray

from discreet.privacy.numeric.side import Points
from discreet.privacy.numeric.unresolved import Unresolved

NO_POINTS = Points(np.empty(0), np.empty(0))
MOST_POINTS, MOST_PAIRS = 1 << 17, 1 << 21
# Losses closer than this, relative to the largest, are one: a sum of a thousand is rounded by as much.
SAME = 1e-13


def composed(parts: Iterable[tuple[Points, int]]) -> Points:
    """The points of independent parts, each some number of times: losses add, probabilities multiply."""
    total = Points(np.zeros(1), np.zeros(1))
    for points, n in parts:
        if n * (points.losses.size - 1) >= MOST_POINTS:  # on the best of lattices there are as many
            raise Unresolved
        total = _sum(total, _times(points, n))
    return total


def _times(points: Points, n: int) -> Points:
    """n times the same, by doubling."""
    result, power = Points(np.zeros(1), np.zeros(1)), points
    while n:
        if n & 1:
            result = _sum(result, power)
        n >>= 1
        if n:
            power = _sum(power, power)
    return result


def _sum(a: Points, b: Points) -> Points:
    if a.losses.size * b.losses.size > MOST_PAIRS:
        raise Unresolved
    losses = (a.losses[:, None] + b.losses[None, :]).ravel()
    log_p = (a.log_p[:, None] + b.log_p[None, :]).ravel()
    order = np.argsort(losses, kind="stable")
    losses, log_p = losses[order], log_p[order]
    width = SAME * max(1e-300, float(np.abs(losses).max()))
    starts = np.flatnonzero(np.concatenate([[True], np.diff(losses) > width]))
    if starts.size > MOST_POINTS:
        raise Unresolved
    return Points(_last_of_each(losses, starts), np.logaddexp.reduceat(log_p, starts))


def _last_of_each(losses: NDArray[np.float64], starts: NDArray[np.intp]) -> NDArray[np.float64]:
    """The largest of losses that are taken for one stands for all: rounding up never hides a loss."""
    ends = np.concatenate([starts[1:], [losses.size]]) - 1
    last: NDArray[np.float64] = losses[ends]
    return last


def log_delta(points: Points, epsilon: float, tail: bool = False) -> float:
    """ln Σ p (1 − e^(ε − loss)) over losses above ε, or of Σ p."""
    above = points.losses > (epsilon + SAME * abs(epsilon) if tail else epsilon)  # the loss ε itself does not exceed it
    if not above.any():
        return -inf
    gain = 0.0 if tail else np.log(-np.expm1(epsilon - points.losses[above]))
    return float(np.logaddexp.reduce(points.log_p[above] + gain))
