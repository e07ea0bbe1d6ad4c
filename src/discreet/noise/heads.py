"""Which of many coins show heads, exactly, in time that grows with the heads and not with the coins.

The tails before the next head are G with P(G <= k) = F(k) = 1 − (1−p)^(k+1): G is the first k with V < F(k), for a uniform V. A table says
which k the first 16 binary digits of V settle; else 48 more digits are compared with brackets of F, and what still ties is decided
digit by digit. A V beyond the table says that there are `reach` tails and nothing more: coins have no memory, so a new V goes on there.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.exact import Number, divide_up, rational, remembered, shift_up, shown, whole
from discreet.noise.bernoulli import Bounds, Coin, coin_of, decide, tosses
from discreet.noise.size import Ints
from discreet.noise.source import Source, chosen, words

FEW = Fraction(1, 8)
"""Up to this probability of heads the gaps between them are drawn, above it each coin by itself."""

FEWEST = Fraction(1, 1 << 40)
"""And below this one too: the chances F of gaps in a table differ by p·e^-12 at least, which 64 digits of a V must tell apart."""

REACHES = 12
"""A table has this many times 1/p gaps, of which e^-12 are beyond; at most MOST_GAPS."""

MOST_GAPS = (1 << 15) - 2
UNDECIDED = -1


@dataclass(frozen=True, slots=True, eq=False)
class GapTable:
    """The gap that 16 digits mean, and brackets of F in units of 2^-64: V < low[k] is at most k, V >= high[k + 1] is above k."""

    p: Fraction
    gap: NDArray[np.int16]
    low: NDArray[np.uint64]
    high: NDArray[np.uint64]
    often: float  # about how often a gap ends, for each coin: by a head, or by the end of the table

    @property
    def reach(self) -> int:
        """The number that means: so many tails, and no head yet."""
        return len(self.low)

    def settled(self, word: NDArray[np.uint64], source: Source) -> Ints:
        """The gap of each V whose first 64 digits are given."""
        k = self.low.searchsorted(word, "right")  # the first k that V is below for sure
        ties = word < self.high.take(k)  # V is perhaps below k − 1 too
        if ties.any():
            for tie in np.flatnonzero(ties):
                k[tie] -= decide(_chance(self.p, int(k[tie]) - 1), source, int(word[tie]), 64)
        return k


def _chance(p: Fraction, k: int) -> Bounds:
    """Brackets of F(k), from the exact rational."""
    tails, all = (p.denominator - p.numerator) ** (k + 1), p.denominator ** (k + 1)

    def bounds(bits: int) -> tuple[int, int]:
        scaled = (all - tails) << bits
        return scaled // all, divide_up(scaled, all)

    return bounds


@lru_cache(maxsize=64)
def gap_table(p: Fraction) -> GapTable:
    """The table of a probability FEWEST <= p <= FEW."""
    reach = min(ceil(REACHES / p), MOST_GAPS)
    low, high = _brackets(p, reach)
    first = np.arange(1 << 16, dtype=np.uint64) << np.uint64(48)
    last = first + np.uint64((1 << 48) - 1)
    gap = low.searchsorted(last, "right")  # the first k with last < low[k]: all such V are below F(k)
    settled = np.where(high[gap] <= first, gap, UNDECIDED).astype(np.int16)  # and none of them is below F(k − 1)
    return GapTable(p, settled, low, high, max(float(p), 1 / reach))


def _brackets(p: Fraction, reach: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """No more than F(0) … F(reach − 1), and no less than F(−1) = 0 … F(reach − 1), in units of 2^-64.

    Powers of 1 − p are rounded outward to 192 binary digits.
    """
    digits = 192
    one = 1 << digits
    tail = one * (p.denominator - p.numerator)
    each = tail // p.denominator, divide_up(tail, p.denominator)
    least, most = one, one
    low, high = [], [0]
    for _ in range(reach):
        least, most = least * each[0] >> digits, shift_up(most * each[1], digits)
        low.append((one - most) >> (digits - 64))
        high.append(shift_up(one - least, digits - 64))
    return np.array(low, np.uint64), np.array(high, np.uint64)


def heads(p: Number, among: int, *, source: Source | None = None) -> Ints:
    """The numbers, rising, of those of the coins 0, 1, … `among` − 1 that show heads, each with probability exactly p, independently."""
    way, count, bits = _way(p), whole(among, "among"), chosen(source)
    if isinstance(way, GapTable):
        return _by_gaps(way, count, bits) if count else np.zeros(0, np.int64)
    pieces = [np.flatnonzero(flag) + where.start for where, flag in tosses(way, count, bits)]
    return np.concatenate(pieces) if pieces else np.zeros(0, np.int64)


@remembered
def _way(p: Number) -> GapTable | Coin:
    """How heads of a caller's probability are found."""
    exact = rational(p, "p")
    if not 0 <= exact <= 1:
        raise Invalid(f"p must lie between 0 and 1, got {shown(p)}")
    return gap_table(exact) if FEWEST <= exact <= FEW else coin_of(exact)


def _by_gaps(table: GapTable, count: int, source: Source) -> Ints:
    """Gaps until they are beyond the last coin."""
    pieces: list[Ints] = []
    at = 0  # the next coin
    while at < count:
        expected = (count - at) * table.often
        gaps = _gaps(table, ceil(expected + 4 * sqrt(expected)) + 4, source)
        head = gaps < table.reach
        places = gaps + head  # a head is one coin more than the tails before it
        np.cumsum(places, out=places)
        places += at
        at = int(places[-1])
        if not head.all():
            places = places[head]
        places -= 1
        pieces.append(places[: int(places.searchsorted(count))] if at > count else places)
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def _gaps(table: GapTable, size: int, source: Source) -> Ints:
    """Independent gaps; `table.reach` for so many tails and no head."""
    first = np.empty(size, np.uint16)
    source.fill(first.view(np.uint8))
    gaps = table.gap.take(first).astype(np.int64)
    ties = (gaps < 0).nonzero()[0]
    if ties.size:
        more = words(source, ties.size) >> np.uint64(16)
        gaps[ties] = table.settled((first[ties].astype(np.uint64) << np.uint64(48)) | more, source)
    return gaps
