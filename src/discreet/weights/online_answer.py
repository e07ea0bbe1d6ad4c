"""Answers of an online session: a count, what it cost, and what is known of its error."""

from dataclasses import dataclass

import numpy as np

from discreet.weights.domain import Mask


@dataclass(frozen=True, slots=True)
class OnlineAnswer:
    """A count of units. `free`: it used up none of the updates or draws of the session. `checked`: its error is known, or was tested.

    >>> print(OnlineAnswer(412.0, free=True, checked=True, error=400.0, said="the histogram passed the test"))
    412 ± 400: the histogram passed the test
    """

    value: float
    free: bool
    checked: bool
    error: float | None
    """± at 95 %, or what the test promises: a larger error would have been noticed in 95 of 100 cases. None: nothing is known."""

    said: str

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        width = "" if self.error is None else f" ± {self.error:,.0f}"
        return f"{self.value:,.0f}{width}: {self.said}"


def written(cells: Mask) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    """A mask as bits: which axes it depends on, then its cells."""
    depends = np.array([length > 1 for length in cells.shape], np.bool_)
    return np.packbits(np.concatenate([depends, cells.ravel()]))


def read(bits: "np.ndarray[tuple[int], np.dtype[np.uint8]]", shape: tuple[int, ...]) -> Mask | None:
    """The mask of these bits; None where there are none."""
    if not bits.size:
        return None
    flags = np.unpackbits(bits).astype(np.bool_)
    lengths = [size if depends else 1 for size, depends in zip(shape, flags, strict=False)]
    return flags[len(shape) : len(shape) + int(np.prod(lengths))].reshape(lengths)
