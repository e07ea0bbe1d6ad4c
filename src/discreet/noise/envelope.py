"""Drawing from a table (`table.py`): 16 bits name the block of 97 % and more of all samples, and one word accepts.

One round proposes a value for every place of an array and returns the places where the proposal was rejected; those begin anew, which
leaves the distribution proportional to f. Almost every acceptance is decided by comparing integers, a few per cent by a float filter
whose error is bounded (`table._filter`), and what falls inside its band by integers again.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.noise.bernoulli import decide
from discreet.noise.size import CHUNK, PIECE, Ints
from discreet.noise.source import Source, words
from discreet.noise.table import BUCKET_BITS, CELL_BITS, SamplerTable
from discreet.noise.walk import bernoulli_exp_by_walk, geometric_by_walk

Firsts: TypeAlias = NDArray[np.uint16]
Flags: TypeAlias = NDArray[np.bool_]
Places: TypeAlias = NDArray[np.intp]
Words: TypeAlias = NDArray[np.uint64]

SETTLE = 32_768  # proposals that wait before they are settled together
NO_WORDS = np.empty(0, np.uint64)
NOWHERE = np.empty(0, np.intp)


def fill(table: SamplerTable, out: Ints, source: Source) -> None:
    """Overwrite `out` with independent samples, each exactly proportional to the table's f."""
    if table.block_bits and out.size <= SETTLE:
        return fill_from_more(table, out, source)
    rejected = propose_all(table, out, source)
    if rejected.size:
        again = np.empty(rejected.size, np.int64)
        fill(table, again, source)
        out[rejected] = again


def fill_from_more(table: SamplerTable, out: Ints, source: Source) -> None:
    """`fill` for short arrays: a few proposals too many take the places of those rejected, in one round.

    Accepted proposals are independent, so the first of them that are needed are as good as any.
    """
    more = np.empty(out.size + out.size // 12 + 16, np.int64)
    accepted = np.delete(more, propose_all(table, more, source))[: out.size]
    out[: accepted.size] = accepted
    if accepted.size < out.size:
        fill_from_more(table, out[accepted.size :], source)


def propose_all(table: SamplerTable, out: Ints, source: Source) -> Places:
    """Propose a value for every place of `out`; return the places where it was rejected."""
    room = Room(out.size, table)
    rejected = [NOWHERE]
    for begin in range(0, out.size, room.size):
        propose(table, out, begin, source, room)
        if room.waiting >= SETTLE or begin + room.size >= out.size:
            rejected.append(settle(table, out, room.collected(), source))
    room.wipe()
    return np.concatenate(rejected)


@dataclass(frozen=True, slots=True)
class Open:
    """Proposals not decided yet: their places, the 16 bits that named the bucket, the acceptance words (w > 1)."""

    places: Places
    first: Firsts
    word: Words


class Room:
    """Scratch memory of one call, overwritten when the call ends, and the proposals that wait to be settled."""

    def __init__(self, count: int, table: SamplerTable) -> None:
        self.size = size = min(2 * PIECE if table.block_bits else CHUNK, count)
        self.bits = np.empty(size * (10 if table.block_bits else 2), np.uint8)
        self.index = np.empty(min(PIECE, size), np.intp)
        self.block = np.empty(self.index.size, np.int16)
        self.flag = np.empty(size, np.bool_)
        self.low = np.empty(size if table.block_bits else 0, np.int64)
        self.over = np.empty(self.low.size, np.bool_)
        self._open: list[Open] = []
        self.waiting = 0

    def draw(self, n: int, source: Source) -> tuple[Words, Firsts]:
        """Fresh bits for n proposals: an acceptance word each (w > 1), and 16 bits that name the bucket."""
        word_bytes = 8 * n if self.low.size else 0
        bits = self.bits[: word_bytes + 2 * n]
        source.fill(bits)
        return bits[:word_bytes].view(np.uint64), bits[word_bytes:].view(np.uint16)

    def look_up(self, table: SamplerTable, first: Firsts, out: Ints) -> None:
        """The block that each bucket belongs to."""
        for begin in range(0, first.size, PIECE):
            piece = first[begin : begin + PIECE]
            index, block = self.index[: piece.size], self.block[: piece.size]
            index[:] = piece
            table.bucket.take(index, out=block, mode="clip")
            out[begin : begin + PIECE] = block

    def wait(self, more: Open) -> None:
        self._open.append(more)
        self.waiting += more.places.size

    def collected(self) -> Open:
        """All that waits, as one; nothing waits afterwards."""
        parts, self._open, self.waiting = self._open, [], 0
        if len(parts) == 1:
            return parts[0]
        return Open(
            np.concatenate([part.places for part in parts]),
            np.concatenate([part.first for part in parts]),
            np.concatenate([part.word for part in parts]),
        )

    def wipe(self) -> None:
        for array in (self.bits, self.index, self.block, self.low):
            array[:] = 0


def propose(table: SamplerTable, out: Ints, begin: int, source: Source, room: Room) -> None:
    """Propose values for the next piece of `out`; those not accepted at once wait in the room."""
    part = out[begin : begin + room.size]
    n = part.size
    flag, low, over = room.flag[:n], room.low[:n], room.over[:n]
    word, first = room.draw(n, source)
    room.look_up(table, first, part)
    np.greater_equal(first, table.cut, out=flag)
    if table.block_bits:
        np.bitwise_and(word.view(np.int64), table.width - 1, out=low)
        np.left_shift(part, table.block_bits, out=part)
        np.add(part, low, out=part)
        np.greater_equal(word, table.filter.limit, out=over)
        np.logical_or(flag, over, out=flag)
    places = np.flatnonzero(flag)
    room.wait(Open(begin + places, first[places], word[places] if table.block_bits else NO_WORDS))


def settle(table: SamplerTable, out: Ints, undecided: Open, source: Source) -> Places:
    """Decide every proposal that waits; return the places where it was rejected."""
    if table.block_bits:
        rejected = settle_points(table, out, undecided, source)
    else:
        rejected = settle_units(table, out, undecided, source)
    return undecided.places[rejected]


def settle_units(table: SamplerTable, out: Ints, undecided: Open, source: Source) -> Flags:
    """w = 1: look the left-over units up; accept all but the last unit of a block, and that by its coin."""
    units, owners = look_up(table, undecided.first, source)
    out[undecided.places] = table.block_of[owners]
    rejected = np.zeros(owners.size, np.bool_)
    last = (units + np.uint64(1) == table.ends[owners]) & (owners < table.block_owners)
    for at in np.flatnonzero(last):
        rejected[at] = not decide(table.accept_last(int(owners[at])), source)
    enter_tails(table, out, undecided.places, owners, rejected, source)
    return rejected


def settle_points(table: SamplerTable, out: Ints, undecided: Open, source: Source) -> Flags:
    """w > 1: look left-over units up, then accept each point with probability S f(x)/B."""
    places, word = undecided.places, undecided.word
    late = np.flatnonzero(undecided.first >= table.cut)
    _, owners = look_up(table, undecided.first[late], source)
    low = word[late].view(np.int64) & (table.width - 1)
    out[places[late]] = (table.block_of[owners] << table.block_bits) + low
    gap = closeness(table, out[places], word)
    gap[late[owners >= table.block_owners]] = 1  # tails and REJECT have their own rule, below
    rejected = gap < 0
    for at in np.flatnonzero(np.abs(gap) < table.filter.band):
        rejected[at] = not accept(table, int(out[places[at]]), int(word[at]), source)
    late_rejected = rejected[late]
    enter_tails(table, out, places[late], owners, late_rejected, source)
    rejected[late] = late_rejected
    return rejected


def look_up(table: SamplerTable, buckets: Firsts, source: Source) -> tuple[Words, Places]:
    """The left-over unit that each bucket number and fresh low bits name, and who owns it."""
    rest = table.unit_bits - BUCKET_BITS
    units = (buckets.astype(np.uint64) - np.uint64(table.cut)) << np.uint64(rest)
    units |= words(source, buckets.size) >> np.uint64(64 - rest)
    owners = table.cell[units >> np.uint64(max(0, rest - CELL_BITS))].astype(np.intp)
    shared = np.flatnonzero(owners < 0)
    owners[shared] = table.ends.searchsorted(units[shared], "right")
    return units, owners


def closeness(table: SamplerTable, x: Ints, word: Words) -> NDArray[np.float64]:
    """A float estimate of S f(x)/B − V, off by less than the filter's band (`table._filter`)."""
    inside = table.width - 1
    # |x| − |top| is r in blocks from 0 on, and w − 1 − r below, where a block's top is its last point.
    drop = (word.view(np.int64) & inside) ^ (x >> 63 & inside)
    steps = drop.astype(np.float64)
    if table.filter.square:
        steps *= 2 * np.abs(x) - drop
        steps *= table.filter.square
    else:
        steps *= table.filter.linear
    chance = np.full(x.size, table.filter.series[0])
    for coefficient in table.filter.series[1:]:
        chance *= steps
        chance += coefficient
    chance -= word * 2.0**-64
    return chance


def accept(table: SamplerTable, x: int, word: int, source: Source) -> bool:
    """V < S f(x)/B in integers; V begins with the digits of `word` above its b low bits."""
    b = table.block_bits
    return decide(table.accept_point(x, x >> b), source, word >> b, 64 - b)


def enter_tails(
    table: SamplerTable, out: Ints, places: Places, owners: Places, rejected: Flags, source: Source
) -> None:
    """Draw the tail values, one by one, and reject what REJECT owns."""
    for at in np.flatnonzero(owners >= table.block_owners):
        owner = int(owners[at])
        value = None if owner == table.reject else tail(table, owner, source)
        rejected[at] = value is None
        if value is not None:
            out[places[at]] = value


def tail(table: SamplerTable, owner: int, source: Source) -> int | None:
    """A point beyond the blocks, or None when it is rejected.

    Accepting S H/B, then y with probability (1 − e^-lam) e^(−lam·y), then e^(−c y²), makes the chance of start + y equal to
    S f(start + y) / w units, since g(start + y) = g(start) + lam·y + c y².
    """
    start = table.tail_start(owner)
    if not decide(table.accept_tail(owner), source):
        return None
    y = geometric_by_walk(table.shape.tail_rate(start), source)
    curve = table.shape.c * y * y
    if not bernoulli_exp_by_walk(curve.numerator, curve.denominator, source):
        return None
    x = start + y
    return x if owner == table.block_owners else -x
