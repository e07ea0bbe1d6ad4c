"""The released integers of an answer, as they are kept with it: from them every interval can be told at another confidence.

They are what left the noise, so they tell of the data what was paid for, and nothing more: rows that HAVING or LIMIT left out among them.
"""

from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.errors import Invalid

WIDTHS = ("<i1", "<i2", "<i4", "<i8")
Packed = tuple[str, ...]
"""For each array of integers its width, a colon, and its bytes in base 64: the narrowest that holds all of them."""


def packed(released: Sequence[Any]) -> Packed:
    """
    >>> packed([np.array([1, -2, 3]), np.array([300])])
    ('<i1:Af4D', '<i2:LAE=')
    """
    return tuple(map(_packed, released))


def _packed(numbers: Any) -> str:
    array = np.asarray(numbers, np.int64)
    low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
    width = next(each for each in WIDTHS if np.iinfo(each).min <= low and high <= np.iinfo(each).max)
    return f"{width}:{b64encode(array.astype(width).tobytes()).decode('ascii')}"


def checked(texts: Sequence[str]) -> Packed:
    """Texts that were kept, which can be unpacked; anything else is Invalid, or a ValueError."""
    unpacked(tuple(texts))
    return tuple(texts)


def unpacked(texts: Packed) -> list[Any]:
    """The arrays again; what is none of these is Invalid."""
    return list(map(_unpacked, texts))


def _unpacked(text: str) -> Any:
    width, colon, encoded = text.partition(":")
    if width not in WIDTHS or not colon:
        raise Invalid("these are not kept integers")
    return np.frombuffer(b64decode(encoded, validate=True), width).astype(np.int64)
