"""The public hash functions of prefixes: a column of a table for each row of symbols, the same in every client and collector.

The hash of symbols x₁ … x_l is the upper log₂(columns) digits of (b + a₁x₁ + … + a_l x_l) mod 2^32. Where a and b are uniform and
symbols lie below 2^16, the hashes of any two rows of symbols are independent and uniform in up to 2^17 columns (Dietzfelbinger 1996;
Thorup 2015): where they differ, the difference of two symbols is an odd number times 2^s, s <= 15, so that its product with the factor is
uniform among the multiples of 2^s, and the upper 17 digits of the difference of the sums are uniform, whatever b and the other factors are.

Factors are SHA-256 of a salt, the level, the row and a counter. That these are as good as uniform is a model; privacy needs none of it.
"""

import hashlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

WORD = 32
DOMAIN = b"discreet.local.prefixes"


@lru_cache(maxsize=64)
def factors(salt: bytes, place: int, rows: int, letters: int) -> NDArray[np.uint32]:
    """b, a₁, a₂, … of each row of the level at this place, from 0.

    They are words of 32 bits, the least byte first, of SHA-256(DOMAIN, salt, place, row, 0), SHA-256(DOMAIN, salt, place, row, 1), …, in
    which place, row and counter are of 32 bits, the least byte first.
    """
    return factors_of(salt, place, range(rows), letters)


def factors_of(salt: bytes, place: int, rows: Sequence[int], letters: int) -> NDArray[np.uint32]:
    """The factors of these rows alone, in their order."""
    drawn = b"".join(_stream(salt, place, row, 4 * (letters + 1)) for row in rows)
    return np.frombuffer(drawn, "<u4").astype(np.uint32).reshape(len(rows), letters + 1)


def _stream(salt: bytes, place: int, row: int, size: int) -> bytes:
    head = DOMAIN + salt + place.to_bytes(4, "little") + row.to_bytes(4, "little")
    blocks = -(-size // hashlib.sha256().digest_size)
    return b"".join(hashlib.sha256(head + block.to_bytes(4, "little")).digest() for block in range(blocks))[:size]


@lru_cache(maxsize=64)
def places_of(base: int, letters: int) -> NDArray[np.uint32]:
    """What stands for factors where each row of symbols has a column of its own: the powers of the base."""
    return np.array([[0, *(base**each for each in reversed(range(letters)))]], np.uint32)
