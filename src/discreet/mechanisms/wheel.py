"""Draws with exact probabilities, from weights that are known as floats with a bounded error and as integer brackets to any precision.

Floats decide only what they can decide for certain, and brackets the rest. How many random bits are drawn depends on how many weights
there are, not on what they are (but for fewer than one choice in a million, where a float cannot tell).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.exact import shift_up
from discreet.noise import Source
from discreet.noise.source import words

Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]
Ints: TypeAlias = NDArray[np.int64]
Bracket: TypeAlias = tuple[int, int]

FAN = 1024  # candidates, or groups of them, that one random word decides among
BAND = 2.0**-39  # of a total: nearer to an edge than this, floats do not decide (see `Wheel`)
LEAST = 2.0**-40  # totals below this are left to integers


@dataclass(frozen=True, slots=True)
class Wheel:
    """Rows of weights, the largest of each row about 1: floats near them, and brackets of 2^bits times each of them.

    `near` may be wrong by 2^-48 of itself and by 2^-128. A sum of FAN floats adds at most 2^-43 of itself, and there are at most four
    such sums on the way from a candidate to a running total, so both a running total and the point V·total are off by less
    than 2^-40 of the total: BAND is twice that. Totals below LEAST, where the 2^-128 might count, are not trusted at all.
    """

    near: Floats
    bounds: Callable[[int, int, int], Bracket]  # of a row, a candidate, a number of bits

    def spin(self, source: Source) -> Ints:
        """A candidate for each row, with probability exactly its weight over the sum of the row."""
        rows, count = self.near.shape
        if count <= FAN:
            return _choose(self.near, self.bounds, source)
        return np.array([self._descend(row, source) for row in range(rows)], np.int64)

    def _descend(self, row: int, source: Source) -> int:
        """A group of candidates by the sum of its weights, then one of the group, and so on."""
        levels = [self.near[row]]
        while levels[-1].size > FAN:
            levels.append(np.add.reduceat(levels[-1], np.arange(0, levels[-1].size, FAN)))
        node = 0
        for depth in reversed(range(len(levels))):
            begin = node * FAN
            inside = levels[depth][None, begin : begin + FAN]
            node = begin + int(_choose(inside, self._sums(row, begin, FAN**depth), source)[0])
        return node

    def _sums(self, row: int, begin: int, span: int) -> Callable[[int, int, int], Bracket]:
        """Brackets of the sums of `span` weights each; as many bits more as the sum loses."""

        def bounds(_: int, at: int, bits: int) -> Bracket:
            first, extra = (begin + at) * span, span.bit_length()
            last = min(first + span, self.near.shape[1])
            parts = [self.bounds(row, i, bits + extra) for i in range(first, last)]
            return sum(lo for lo, _ in parts) >> extra, shift_up(sum(hi for _, hi in parts), extra)

        return bounds


def _choose(near: Floats, bounds: Callable[[int, int, int], Bracket], source: Source) -> Ints:
    """The first place in each row whose running total exceeds V times the whole, V uniform in [0, 1)."""
    word = words(source, near.shape[0])
    upto = np.cumsum(near, axis=1)
    total, last = upto[:, -1], near.shape[1] - 1
    at = word * 2.0**-64 * total
    place: Ints = np.minimum((upto <= at[:, None]).sum(axis=1, dtype=np.int64), last)
    row = np.arange(place.size)
    room = BAND * total
    above = (place == 0) | (upto[row, place - 1] + room <= at)
    below = (place == last) | (at <= upto[row, place] - room)
    for r in np.flatnonzero(~(above & below & (total >= LEAST))):
        place[r] = _settle(int(word[r]), last + 1, partial(bounds, int(r)), source)
    return place


def _settle(known: int, count: int, bounds: Callable[[int, int], Bracket], source: Source) -> int:
    """One row of `_choose`, in integers; `known` is the first 64 binary digits of V, and more are drawn until they tell."""
    width = 64
    while True:
        low, high = [0], [0]
        for i in range(count):
            lo, hi = bounds(i, width + 64)
            low.append(low[-1] + lo)
            high.append(high[-1] + hi)
        for i in range(count):
            after = i == 0 or high[i] << width <= known * low[-1]
            if after and (i == count - 1 or (known + 1) * high[-1] <= low[i + 1] << width):
                return i
        known, width = (known << width) | source.bits(width), 2 * width


def among(flags: Flags, source: Source) -> Ints:
    """One of the flagged places for each row, each with the same probability."""
    whole_numbers = Wheel(flags.astype(np.float64), lambda row, at, bits: (int(flags[row, at]) << bits,) * 2)
    return whole_numbers.spin(source)
