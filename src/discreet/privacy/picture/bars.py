"""The distribution of a privacy loss, as bars: all of it but for what nobody would see."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, exp, floor, inf, log, log10
from typing import TYPE_CHECKING

import numpy as np

from discreet.privacy.numeric.contour import Lattice
from discreet.privacy.numeric.direction import Direction
from discreet.privacy.picture.curve import least_delta
from discreet.privacy.picture.words import concentrated

if TYPE_CHECKING:
    from discreet.privacy.loss import PrivacyLoss

# What the bars may leave out at either end.
TAIL = 1e-4
# At most so many bars, on a page and in a terminal, and one or two more at the ends.
BARS, LINES = 40, 20
# Of all finite losses: no picture shows a bar of less, and rounding may be all of it.
UNSEEN = 1e-7
# Of where the losses might lie: within it they are one.
ONE_POINT = 1e-9
# Bisections of a range: 30 reach ONE_POINT at each end, and both ends take turns.
TURNS = 64


@dataclass(frozen=True, slots=True)
class Bar:
    """P(loss − half < L <= loss + half), or where half is 0 P(L = loss)."""

    loss: float
    half: float
    probability: float


def bars_of(loss: "PrivacyLoss", most: int) -> list[list[Bar]]:
    """The bars of each direction, over one range; none where no loss is finite, or none is known."""
    directions = loss._directions
    if concentrated(loss) or any(not float(1 - direction.failure) for direction in directions):
        return []
    reach = max(_reach(direction) for direction in directions)
    spans = [_span(direction, reach) for direction in directions]
    low, high = min(low for low, _ in spans), max(high for _, high in spans)
    return [_bars_between(direction, low, high, most) for direction in directions]


def _reach(direction: Direction) -> float:
    """A loss that is hardly ever exceeded. The losses of the other direction are hardly ever below its negative."""
    return abs(direction.largest) if direction.largest < inf else direction.epsilon(least_delta(direction))


def _span(direction: Direction, reach: float) -> tuple[float, float]:
    """(low, high] with all finite losses but TAIL at either end, by bisection; both ends together, since each look tells of both."""
    finite = float(1 - direction.failure)
    least = sum(n * side.least for side, n in direction.parts)

    def exceeding(x: float) -> float:
        return 1.0 if x < least else exp(direction.log_tail(x)) / finite

    low, high = -1.05 * reach, reach
    if exceeding(low) < 1 - TAIL:
        low = min(low, log(TAIL * finite)) - 1  # P(L <= x) <= e^x, whatever the mechanism
    while exceeding(high) > TAIL:
        high += high or 1.0
    whole_range, above_low, below_high = high - low, high, low
    for _ in range(TURNS):
        widest = max(above_low - low, high - below_high)
        if widest <= max((high - low) / LINES, ONE_POINT / 2 * whole_range):
            break
        middle = (low + above_low) / 2 if above_low - low == widest else (below_high + high) / 2
        more = exceeding(middle)
        low, above_low = (max(low, middle), above_low) if more >= 1 - TAIL else (low, min(above_low, middle))
        below_high, high = (max(below_high, middle), high) if more > TAIL else (below_high, min(high, middle))
    return (high, high) if high - low <= ONE_POINT * whole_range else (low, high)


def _bars_between(direction: Direction, low: float, high: float, most: int) -> list[Bar]:
    if low == high:
        return [Bar(high, 0.0, float(1 - direction.failure))]
    lattice = direction.lattice
    if lattice is not None:
        return _lattice_bars(direction, lattice, low, high, most)
    step = _round_step((high - low) / most)
    first, last = floor(Fraction(low) / step + Fraction(1, 2)), ceil(Fraction(high) / step - Fraction(1, 2))
    return _counted(direction, step * first, step, last - first + 1, float(step) / 2)


def _lattice_bars(direction: Direction, lattice: Lattice, low: float, high: float, most: int) -> list[Bar]:
    """Every possible loss by itself, or where they are too many equally many in each bar, so that no bar stands out by chance."""
    first = floor((Fraction(low) - lattice.offset) / lattice.step)
    last = ceil((Fraction(high) - lattice.offset) / lattice.step)
    together = max(1, ceil(Fraction(last - first - 1, most)))
    count = ceil(Fraction(last - first + 1, together))
    middle = lattice.offset + lattice.step * (first + Fraction(together - 1, 2))
    width = lattice.step * together
    if together > 1:
        return _counted(direction, middle, width, count, float(width) / 2)
    return [bar for bar in _counted(direction, middle, width, count, 0.0) if bar.probability]


def _counted(direction: Direction, first: Fraction, step: Fraction, count: int, half: float) -> list[Bar]:
    """`count` bars around first, first + step, …: what exceeds their left edge and not their right one."""
    edges = [float(first + step * (i - Fraction(1, 2))) for i in range(count + 1)]
    beyond = np.minimum.accumulate([exp(direction.log_tail(edge)) for edge in edges])
    between = beyond[:-1] - beyond[1:]
    between[between < UNSEEN * float(1 - direction.failure)] = 0.0
    return [Bar(float(first + step * i), half, float(between[i])) for i in range(count)]


def _round_step(least: float) -> Fraction:
    """The first of … 0.1, 0.2, 0.5, 1, 2, 5, … that is not less.

    >>> _round_step(0.03), _round_step(11.0)
    (Fraction(1, 20), Fraction(20, 1))
    """
    power = Fraction(10) ** floor(log10(least))
    return next(power * digit for digit in (1, 2, 5, 10, 20) if power * digit >= least)


def labels(bars: Sequence[Bar], offset: float = 0.0) -> list[str]:
    """The losses, `offset` halves away, with as many digits as tell neighbours apart."""
    losses = [bar.loss for bar in bars]
    least = min((after - before for before, after in pairwise(losses)), default=inf)
    digits = 3 if least == inf else max(3, ceil(log10(max(abs(x) for x in losses) / least)) + 2)
    return [f"{bar.loss + offset * bar.half:.{min(digits, 12)}g}" for bar in bars]
