"""How many samples a caller wants: None for one, an integer or a tuple of integers for an array."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.exact import shown, whole

Ints: TypeAlias = NDArray[np.int64]
Many: TypeAlias = int | tuple[int, ...]
Size: TypeAlias = Many | None

CHUNK = 262_144
"""Random bits for this many samples of two bytes are drawn at once: as many as a new key is worth."""

PIECE = 32_768
"""What needs more memory for a sample works on this many at a time, so that it stays in the cache."""


def empty_array(size: Many) -> Ints:
    """An uninitialised int64 array of shape `size`, or Invalid naming it."""
    parts = size if isinstance(size, tuple) else (size,)
    shape = tuple(whole(part, "size") for part in parts)
    try:
        return np.empty(shape, np.int64)
    except (MemoryError, ValueError) as error:
        raise Invalid(f"size must fit into memory, got {shown(size)}", hint="draw in several pieces") from error
