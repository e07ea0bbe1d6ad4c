"""Tables, masks and kills for the tests of sessions."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any
from unittest import mock

import numpy as np

from discreet.cells import Categorical
from discreet.mechanisms.record import KeptDraws
from discreet.weights import ArrayTable, Domain


def domain_of(shape: tuple[int, ...]) -> Domain:
    """A domain of this shape."""
    return Domain(
        tuple(
            Categorical(f"a{axis}", tuple(range(size)), other=False, missing=False) for axis, size in enumerate(shape)
        )
    )


def table_of(shape: tuple[int, ...], codes: Any, *args: Any, **options: Any) -> ArrayTable:
    return ArrayTable(domain_of(shape), np.asarray(codes, np.int64).reshape(-1, len(shape)), *args, **options)


def masks(shape: tuple[int, ...]) -> Iterator[Any]:
    """A mask for each cell of each set of attributes."""
    for depends in product((False, True), repeat=len(shape)):
        lengths = [size if one else 1 for size, one in zip(shape, depends, strict=True)]
        for place in np.ndindex(*lengths):
            mask = np.zeros(lengths, np.bool_)
            mask[place] = True
            yield mask


class Kill(BaseException):
    """Whoever runs is gone: no `except Exception` may keep it."""


@contextmanager
def killed_at(step: int) -> Iterator[Callable[[], bool]]:
    """Killed at a step of the draws: before one is marked, before its value is kept, or after; tells whether it came to that."""
    steps = [0]
    begin, keep = KeptDraws.begin, KeptDraws.keep

    def passes() -> None:
        steps[0] += 1
        if steps[0] == step:
            raise Kill

    def begins(self: KeptDraws, event: Any) -> Any:
        passes()
        found = begin(self, event)
        passes()
        return found

    def keeps(self: KeptDraws, number: int, value: Any) -> Any:
        found = keep(self, number, value)
        passes()
        return found

    with mock.patch.object(KeptDraws, "begin", begins), mock.patch.object(KeptDraws, "keep", keeps):
        yield lambda: steps[0] >= step
