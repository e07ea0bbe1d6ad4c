"""Many outputs of a mechanism on one data set, as fast as the mechanism allows; an exception is an output like any other."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.audit.features import Outputs, Raised, as_outputs
from discreet.errors import Invalid
from discreet.exact import shown
from discreet.mechanisms.additive import Additive
from discreet.mechanisms.base import Mechanism
from discreet.mechanisms.randomized_response import Response
from discreet.mechanisms.selection import Selection

# Outputs that are drawn at once by one call of a mechanism on an array: memory stays small, and a bar can move.
BLOCK = 1 << 18


@dataclass(frozen=True, slots=True)
class OutputSampler:
    """A mechanism of anybody's, run as often as one likes: independent outputs for one data set.

    `mechanism(data)` gives one output. With `many` it is called as `mechanism(data, size)` and gives an array, or a sequence, of `size`
    outputs that must be independent of each other.
    """

    mechanism: Callable[..., Any]
    many: bool = False

    def __post_init__(self) -> None:
        if not callable(self.mechanism):
            raise Invalid(f"mechanism must be a function of the data, got {shown(self.mechanism)}")

    def __call__(self, data: Any, size: int) -> Outputs:
        """So many outputs on these data."""
        if self.many:
            outputs = as_outputs(self.mechanism(data, size))
            if len(outputs) != size:
                raise Invalid(f"mechanism must give {size} outputs when it is asked for them, got {len(outputs)}")
            return outputs
        copies = _copies(self.mechanism, data)
        if copies is None:
            return [self._one(data) for _ in range(size)]
        sizes = [BLOCK] * (size // BLOCK) + [size % BLOCK]
        outputs = np.concatenate([self.mechanism(copies(each)) for each in sizes if each or size == 0])
        return outputs if outputs.ndim == 1 else as_outputs(outputs.tolist())

    def _one(self, data: Any) -> Any:
        try:
            return self.mechanism(data)
        except Exception as error:
            return Raised.of(error)


def _copies(mechanism: Callable[..., Any], data: Any) -> Callable[[int], Any] | None:
    """How a mechanism of ours takes one value many times over, with noise of its own for each; None where it cannot."""
    if not isinstance(mechanism, Mechanism):
        return None
    exact = np.asarray(data)
    if isinstance(mechanism, Additive | Response) and exact.ndim <= 1 and exact.dtype.kind in "iuf":
        return lambda size: np.full(size, data) if not exact.ndim else np.tile(exact, (size, 1))
    if isinstance(mechanism, Selection) and exact.ndim == 1 and exact.dtype.kind in "iu":
        return lambda size: np.tile(exact, (size, 1))
    return None
