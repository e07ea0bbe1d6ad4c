"""A tape that remembers how many bits each request took."""

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.noise import Tape


class Counting:
    """Repeatable bits, with the size of every request in bits, in order."""

    private = False

    def __init__(self, seed: int) -> None:
        self._tape = Tape(seed)
        self.stock: dict[Hashable, Any] = {}
        self.requests: list[int] = []

    @property
    def used(self) -> int:
        return sum(self.requests)

    def fill(self, out: NDArray[np.uint8]) -> None:
        self.requests.append(8 * out.size)
        self._tape.fill(out)

    def bits(self, count: int) -> int:
        self.requests.append(count)
        return self._tape.bits(count)
