"""The integer envelope of a shape: who owns which of 2^64 equally likely units.

Integers x = j·w + r, w = 2^b, 0 <= r < w, form blocks j. Block j owns B_j = ceil(S f(top_j)) units, top_j its point
of largest f; each of the two tails owns ceil(S H) for an exponential envelope of mass H; the few units left over are
REJECT. A uniform unit picks the owner, r is uniform, and x is accepted with probability S f(x) / B_j. Then

    P(x) per round = (B_j / 2^64) (1/w) (S f(x) / B_j) = S f(x) / (w 2^64),

exactly proportional to f for any integers S, B_j with B_j >= S f(top_j). With w = 1 nothing is drawn for acceptance:
all units of j but the last are accepted, and the last with probability S f(j) − (B_j − 1). So the proposal is a ratio
of integers, and all that is transcendental is one coin, decided by brackets (`bernoulli.decide`). The layout in 2^16
buckets follows Marsaglia, Tsang and Wang, "Fast generation of discrete random variables" (2004).

Tables hold no secret: they are functions of the public parameters.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import factorial

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Fault
from discreet.exact import divide_up, exp_neg_bounds, shift_up
from discreet.noise.bernoulli import Bounds, exp_brackets
from discreet.noise.shape import Shape

UNIT_BITS = 64
BUCKET_BITS = 16
CELL_BITS = 6
COARSE, FINE = 8, 64  # blocks per scale: a table quick to make, and one quick to draw from
MAX_BLOCK_BITS = 40
MAX_REACH = 1 << 53  # all |x| of blocks are exact float64 integers
FLOAT_SLACK = 2.0**-35  # series remainder 2^-36 and all roundings of the float filter, see `_filter`


@dataclass(frozen=True, slots=True)
class FloatFilter:
    """What the float look at V < S f(x)/B needs; `envelope.accept` says why it is safe."""

    linear: float
    square: float
    series: tuple[float, ...]  # of e^-d, highest power first
    band: float  # differences below this are left to integers
    limit: np.uint64  # acceptance words below this accept in every block that has a bucket


NO_FILTER = FloatFilter(linear=0.0, square=0.0, series=(1.0,), band=2.0, limit=np.uint64(0))
"""Of a table with w = 1, which never asks."""


@dataclass(frozen=True, slots=True, eq=False)
class SamplerTable:
    shape: Shape
    block_bits: int
    unit_bits: int
    blocks: int  # on each side
    multiplier: int  # S
    owned: tuple[int, ...]  # B: blocks 0 … J−1, then −1 … −J, then the tails, then REJECT
    bucket: NDArray[np.int16]  # block of each of the first `cut` buckets
    cut: int
    ends: NDArray[np.uint64]  # running sums of the left-over units of every owner
    cell: NDArray[np.int16]  # the owner of each CELL_BITS-th part of a left-over bucket, or −1 where several share it
    block_of: NDArray[np.int64]  # block of each owner (0 for tails and REJECT)
    filter: FloatFilter  # for w > 1

    @property
    def width(self) -> int:
        return 1 << self.block_bits

    @property
    def sides(self) -> int:
        return 2 if self.shape.two_sided else 1

    @property
    def block_owners(self) -> int:
        """Owners below this number are blocks; then come the tails; the last one is REJECT."""
        return self.blocks * self.sides

    @property
    def reject(self) -> int:
        return len(self.owned) - 1

    def tail_start(self, owner: int) -> int:
        return _tail_start(self.blocks, self.width, owner - self.block_owners)

    def accept_last(self, owner: int) -> Bounds:
        """w = 1: the chance of accepting the last unit of block `owner`, S f(j) − (B − 1)."""
        exponent = self.shape.exponent(int(self.block_of[owner]))
        return exp_brackets(exponent, times=self.multiplier, minus=self.owned[owner] - 1)

    def accept_point(self, x: int, block: int) -> Bounds:
        """w > 1: the chance of accepting x in its block, S f(x)/B."""
        owner = block if block >= 0 else self.blocks - 1 - block
        return exp_brackets(self.shape.exponent(x), times=self.multiplier, over=self.owned[owner])

    def accept_tail(self, owner: int) -> Bounds:
        """The chance of entering a tail, S H/B."""
        start, owned = self.tail_start(owner), self.owned[owner]

        def bounds(bits: int) -> tuple[int, int]:
            precision = bits + 2 * self.unit_bits + self.block_bits
            lo, hi = _tail_mass(self.shape, start, self.width, precision)
            per = owned << (precision - bits)
            return self.multiplier * lo // per, divide_up(self.multiplier * hi, per)

        return bounds


@lru_cache(maxsize=256)
def fits(shape: Shape) -> bool:
    """Whether a table can hold this shape: scales up to 2^46."""
    bits = shape.block_bits(FINE)
    return bits <= MAX_BLOCK_BITS and shape.reach(1 << bits) << bits < MAX_REACH


@lru_cache(maxsize=32)
def sampler_table(shape: Shape, per_scale: int = FINE, unit_bits: int = UNIT_BITS) -> SamplerTable:
    """The table of a shape with `per_scale` blocks a scale (any number is correct) over 2^unit_bits units."""
    b = shape.block_bits(per_scale)
    blocks = min(shape.reach(1 << b), 1 << 13)  # block and owner numbers fit into 16 bits
    precision = unit_bits + 96 + b
    while (shares := _shares(shape, b, blocks, unit_bits, precision)) is None:
        precision += 64
    multiplier, owned = shares
    numbers = list(range(blocks)) + ([-1 - m for m in range(blocks)] if shape.two_sided else [])
    block_of = np.array(numbers + [0] * (len(owned) - len(numbers)), np.int64)
    bucket, cut, ends = _layout(owned, len(numbers), unit_bits, block_of)
    return SamplerTable(
        shape=shape,
        block_bits=b,
        unit_bits=unit_bits,
        blocks=blocks,
        multiplier=multiplier,
        owned=owned,
        bucket=bucket,
        cut=cut,
        ends=ends,
        cell=_cells(ends, unit_bits),
        block_of=block_of,
        filter=_filter(shape, b, blocks, owned[: len(numbers)], unit_bits) if b else NO_FILTER,
    )


def _shares(shape: Shape, b: int, blocks: int, unit_bits: int, p: int) -> tuple[int, tuple[int, ...]] | None:
    """S and all B for p-bit brackets of f, or None when p bits do not tell every B from its neighbour."""
    width = 1 << b
    brackets = _tops(shape, 0, width, blocks, p)
    if shape.two_sided:
        brackets += _tops(shape, 1, width, blocks, p)  # block −1−m has its top at |x| = m·w + 1
    sides = 2 if shape.two_sided else 1
    brackets += [_tail_mass(shape, _tail_start(blocks, width, side), width, p) for side in range(sides)]
    units, owners = 1 << unit_bits, len(brackets)
    multiplier = ((units - owners - 1) << p) // sum(hi for _, hi in brackets)
    owned = [shift_up(multiplier * hi, p) for _, hi in brackets]
    if any((multiplier * lo) >> p < own - 1 for (lo, _), own in zip(brackets, owned, strict=True)):
        return None
    return multiplier, (*owned, units - sum(owned))


def _tops(shape: Shape, start: int, width: int, count: int, p: int) -> list[tuple[int, int]]:
    """Brackets of 2^p f at start, start + width, …: each the one before times a ratio that shrinks by a constant factor."""
    lo, hi = exp_neg_bounds(shape.exponent(start), p)
    ratio_lo, ratio_hi = exp_neg_bounds(shape.step(start, width), p)
    shrink_lo, shrink_hi = exp_neg_bounds(2 * shape.c * width * width, p)
    tops = []
    for _ in range(count):
        tops.append((lo, hi))
        lo, hi = lo * ratio_lo >> p, shift_up(hi * ratio_hi, p)
        if shape.square:
            ratio_lo, ratio_hi = ratio_lo * shrink_lo >> p, shift_up(ratio_hi * shrink_hi, p)
    return tops


def _tail_start(blocks: int, width: int, side: int) -> int:
    """|x| of the first point beyond the blocks: J·w to the right (0); to the left (1), where block −1 ends at −1, one more."""
    return blocks * width + side


def _tail_mass(shape: Shape, start: int, width: int, p: int) -> tuple[int, int]:
    """Brackets of 2^p H, H = f(start) / ((1 − e^-lam) w)."""
    lo, hi = exp_neg_bounds(shape.exponent(start), p)
    rate_lo, rate_hi = exp_neg_bounds(shape.tail_rate(start), p)
    one = 1 << p
    return (lo << p) // ((one - rate_lo) * width), divide_up(hi << p, (one - rate_hi) * width)


def _layout(
    owned: tuple[int, ...], block_owners: int, unit_bits: int, block_of: NDArray[np.int64]
) -> tuple[NDArray[np.int16], int, NDArray[np.uint64]]:
    """Whole buckets of 2^(unit_bits−16) units first, then the left-over units of every owner.

    Every block keeps at least one unit left over, so that its last unit is found there.
    """
    rest_bits = unit_bits - BUCKET_BITS
    whole, rest = [], []
    for owner, units in enumerate(owned):
        buckets = (units - 1) >> rest_bits if owner < block_owners else 0
        whole.append(buckets)
        rest.append(units - (buckets << rest_bits))
    cut = sum(whole)
    bucket = np.zeros(1 << BUCKET_BITS, np.int16)
    bucket[:cut] = np.repeat(block_of, whole)
    ends, total = [], 0
    for units in rest:
        total += units
        ends.append(total)
    if total != ((1 << BUCKET_BITS) - cut) << rest_bits or total >= 1 << 64:
        raise Fault("a noise table does not add up; no noise can be drawn", code="noise_table")
    return bucket, cut, np.array(ends, np.uint64)


def _cells(ends: NDArray[np.uint64], unit_bits: int) -> NDArray[np.int16]:
    """Left-over units in cells of equal size: who owns all of a cell, and its last unit is not here; −1 for the rest."""
    bits = max(0, unit_bits - BUCKET_BITS - CELL_BITS)
    count = int(ends[-1]) >> bits
    first = np.arange(count, dtype=np.uint64) << np.uint64(bits)
    last = first + np.uint64((1 << bits) - 1)
    owner = ends.searchsorted(first, "right")
    alone = last + np.uint64(1) < ends[owner]
    return np.where(alone, owner, -1).astype(np.int16)


def _filter(shape: Shape, b: int, blocks: int, owned: tuple[int, ...], unit_bits: int) -> FloatFilter:
    """Constants of the float filter, for w > 1.

    d = |x| − |top| and 2|x| − d are integers below 2^53, so exact. Three roundings make the drop in g wrong by at most 4u of itself
    (u = 2^-53), Horner's scheme adds at most 8Du for degree D, the series ends where its remainder is at most 2^-36: together below
    FLOAT_SLACK. S f(top)/B lies in (1 − 1/B, 1]; the acceptance word differs from V by its b low bits. Only IEEE +, −, × are used.
    """
    width = 1 << b
    furthest = shape.step((blocks - 1) * width + 1, width)  # the largest drop inside any block
    least = min(owned)
    degree, term = 0, furthest
    while term > Fraction(1, 1 << 36):
        degree += 1
        term = furthest ** (degree + 1) / factorial(degree + 1)
    series = tuple((-1) ** i / factorial(i) for i in range(degree, -1, -1))
    band = 2.0 ** (b - 64) + 1.0 / least + FLOAT_SLACK
    return FloatFilter(
        linear=float(shape.a),
        square=float(shape.c),
        series=series,
        band=float(np.nextafter(band * (1 + 2.0**-50), np.inf)),
        limit=np.uint64(_limit(shape, b, blocks, owned, unit_bits)),
    )


def _limit(shape: Shape, b: int, blocks: int, owned: tuple[int, ...], unit_bits: int) -> int:
    """2^b floor(2^(64−b) A) for a lower bound A of S f(x)/B over the blocks that own a bucket.

    f falls faster the further out, so the outermost such block of each side is the worst.
    """
    width = 1 << b
    bound = 1 << 128
    for side in range(len(owned) // blocks):
        mine = owned[side * blocks : (side + 1) * blocks]
        bucketed = [m for m, units in enumerate(mine) if (units - 1) >> (unit_bits - BUCKET_BITS)]
        if not bucketed:
            continue
        outermost = max(bucketed)
        lo, _ = exp_neg_bounds(shape.step(outermost * width + side, width - 1), 128)
        least = min(mine[m] for m in bucketed)
        bound = min(bound, lo * (least - 1) // least)
    return min(bound >> (64 + b), (1 << (64 - b)) - 1) << b
