"""Exact uniform integers below n.

Arrays use Lemire's multiply-and-shift with its exact rejection (ACM TOMACS 2019) for n up to 2^32, and mask-and-reject above.
A single integer may have any length. A rejected candidate says nothing about the one accepted later.
"""

from typing import overload

import numpy as np

from discreet.errors import Invalid
from discreet.exact import shown, whole
from discreet.noise.size import PIECE, Ints, Many, Size, empty_array
from discreet.noise.source import Bits, Source, chosen, half_words, words

MAX_BITS = 1 << 16


def below(n: int, source: Bits) -> int:
    """A uniform integer in 0 … n−1, for any n >= 1."""
    if n == 1:
        return 0
    width = (n - 1).bit_length()
    while True:
        value = source.bits(width)
        if value < n:
            return value


def fill_below(n: int, out: Ints, source: Source) -> None:
    """Fill `out` with uniform integers in 0 … n−1, for 1 <= n <= 2^63."""
    propose = _multiply if n <= 1 << 32 else _mask
    for begin in range(0, out.size, PIECE):
        part = out[begin : begin + PIECE]
        todo = propose(n, part, source)
        while todo.size:
            again = np.empty(todo.size, np.int64)
            rejected = propose(n, again, source)
            part[todo] = again
            todo = todo[rejected]


def _multiply(n: int, out: Ints, source: Source) -> "np.ndarray[tuple[int], np.dtype[np.intp]]":
    """w·n = value·2^32 + low; keeping low >= 2^32 mod n leaves floor(2^32/n) words for each value."""
    product = half_words(source, out.size).astype(np.uint64)
    product *= np.uint64(n)
    out[:] = product >> np.uint64(32)
    product &= np.uint64(0xFFFFFFFF)
    return np.flatnonzero(product < np.uint64((1 << 32) % n))


def _mask(n: int, out: Ints, source: Source) -> "np.ndarray[tuple[int], np.dtype[np.intp]]":
    candidate = words(source, out.size)
    candidate &= np.uint64((1 << (n - 1).bit_length()) - 1)
    out[:] = candidate.view(np.int64)
    return np.flatnonzero(candidate >= np.uint64(n))


@overload
def uniform(n: int, size: None = None, *, source: Source | None = None) -> int: ...
@overload
def uniform(n: int, size: Many, *, source: Source | None = None) -> Ints: ...
def uniform(n: int, size: Size = None, *, source: Source | None = None) -> "int | Ints":
    """A uniform integer in 0 … n−1, or an int64 array of them (n up to 2^63)."""
    limit = whole(n, "n", least=1)
    if limit.bit_length() > (MAX_BITS if size is None else 64) or (size is not None and limit > 1 << 63):
        most = f"2^{MAX_BITS}" if size is None else "2^63 for an array"
        raise Invalid(f"n must be at most {most}, got {shown(n)}")
    if size is None:
        return below(limit, chosen(source))
    out = empty_array(size)
    fill_below(limit, out.reshape(-1), chosen(source))
    return out
