"""Serving integer noise: whole blocks of 4,096 samples are drawn, what is not asked for yet waits.

A single sample, and the last n mod 4,096 of an array, come from a block drawn earlier. So the time a call takes says nothing about
the values it returns, and the random bits used depend on how many samples were asked for only in whole blocks. Waiting samples belong
to one thread of one process (`Source.stock`), are dropped when the process forks, and are overwritten when served.

The first single sample of a new scale is not worth a table, nor is any sample of a scale too large for one: those are made of exponential
deviates that wait in the same way (`deviate.py`).
"""

from collections.abc import Hashable
from typing import Any

import numpy as np

from discreet.errors import Invalid
from discreet.noise import deviate, envelope
from discreet.noise.deviate import DIGITS, UNIT_EXPONENTIAL, ExponentialDeviate
from discreet.noise.shape import Shape
from discreet.noise.size import Ints, Size, empty_array
from discreet.noise.source import Source, chosen
from discreet.noise.table import COARSE, FINE, fits, sampler_table

BLOCK = 4_096
WORTH_FINE = 30_000  # samples after which the slower-to-make table has paid for itself
SHAPES = 64  # blocks kept waiting in one thread
INT64_BITS = 57  # noise of a scale below 2^57 leaves 64-bit integers with a chance below e^-64
INT64_MAX = (1 << 63) - 1
NOTHING = np.empty(0, np.int64)


class Stock:
    """Samples of one shape that wait in one thread. A stock that has drawn nothing yet marks a shape asked for once."""

    __slots__ = ("block", "drawn", "next")

    def __init__(self) -> None:
        self.block: Ints = NOTHING
        self.next = BLOCK
        self.drawn = 0

    def fill(self, shape: Shape, out: Ints, source: Source) -> None:
        """Draw whole blocks into `out`."""
        self.drawn += out.size
        if fits(shape):
            envelope.fill(sampler_table(shape, FINE if self.drawn > WORTH_FINE else COARSE), out, source)
        else:
            for at in range(out.size):
                # A value past 64 bits, a chance below e^-64, is clamped: post-processing of exact noise.
                out[at] = max(-INT64_MAX, min(INT64_MAX, _without_table(shape, source, source.stock)))

    def take(self, shape: Shape, out: Ints, source: Source) -> None:
        """Fill `out`, at most a block long, from the block that waits, and then from a new one."""
        ready = min(out.size, BLOCK - self.next)
        self._serve(out[:ready])
        if ready < out.size:
            self._refill(shape, source)
            self._serve(out[ready:])

    def one(self, shape: Shape, source: Source) -> int:
        if self.next == BLOCK:
            self._refill(shape, source)
        at = self.next
        self.next = at + 1
        value: int = self.block.item(at)
        self.block[at] = 0
        return value

    def wipe(self) -> None:
        self.block[:] = 0
        self.next = BLOCK

    def _refill(self, shape: Shape, source: Source) -> None:
        if not self.block.size:
            self.block = np.empty(BLOCK, np.int64)
        self.fill(shape, self.block, source)
        self.next = 0

    def _serve(self, out: Ints) -> None:
        begin, self.next = self.next, self.next + out.size
        served = self.block[begin : self.next]
        out[:] = served
        served[:] = 0


def draw(shape: Shape, size: Size, source: Source | None) -> "int | Ints":
    """One sample as an int, or an int64 array of shape `size`."""
    bits = chosen(source)
    if size is None:
        return _one(shape, bits)
    out = empty_array(size)
    if shape.scale_bits > INT64_BITS:
        raise Invalid(
            "scale must be at most 2^56, and variance at most 2^112, for an array",
            hint="draw single values, or use a coarser grid",
        )
    flat = out.reshape(-1)
    blocks = flat.size - flat.size % BLOCK
    stock = _stock(shape, bits.stock)
    if blocks:
        stock.fill(shape, flat[:blocks], bits)
    if blocks < flat.size:
        stock.take(shape, flat[blocks:], bits)
    return out


def _one(shape: Shape, source: Source) -> int:
    held = source.stock
    stock = held.get(shape)
    if stock is not None:
        return stock.one(shape, source)  # type: ignore[no-any-return]
    if shape.scale_bits <= INT64_BITS:
        _stock(shape, held)  # the next one will find it
    return _without_table(shape, source, held)


def _without_table(shape: Shape, source: Source, held: dict[Hashable, Any]) -> int:
    digits = _stock(UNIT_EXPONENTIAL, held)
    return deviate.draw_one(
        shape, lambda: ExponentialDeviate(digits.one(UNIT_EXPONENTIAL, source), DIGITS, source), source
    )


def _stock(shape: Shape, held: dict[Hashable, Any]) -> Stock:
    """The stock of a shape, made if absent; when there are too many the oldest goes, but never the deviates."""
    stock: Stock | None = held.get(shape)
    if stock is None:
        if len(held) >= SHAPES:
            oldest = next(key for key in held if key != UNIT_EXPONENTIAL)
            held.pop(oldest).wipe()
        stock = held[shape] = Stock()
    return stock
