"""How many samples a caller wants: None for one, an integer or a tuple of integers for an array."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.exact import shown, whole

Ints: TypeAlias = NDArray[np.int64]
Size: TypeAlias = int | tuple[int, ...] | None

CHUNK = 131_072
"""Arrays are drawn in pieces of this many samples, so that scratch memory stays in the cache."""


def allocate(size: "int | tuple[int, ...]") -> Ints:
    """An uninitialised int64 array of shape `size`, or Invalid naming it."""
    parts = size if isinstance(size, tuple) else (size,)
    shape = tuple(whole(part, "size") for part in parts)
    try:
        return np.empty(shape, np.int64)
    except (MemoryError, ValueError) as error:
        raise Invalid(f"size must fit into memory, got {shown(size)}", hint="draw in several pieces") from error
