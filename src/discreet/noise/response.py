"""Keep or replace: the random part of k-ary randomized response.

Each value among 0 … k−1 is kept with a given probability, and otherwise replaced by one of the k−1 others, uniformly. How many random
bits are used, and when, does not depend on the values.
"""

from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.exact import Number, shown, whole
from discreet.noise.bernoulli import Coin, Odds, coin_of, tosses
from discreet.noise.size import PIECE, Ints
from discreet.noise.source import Source, chosen
from discreet.noise.uniform import below, fill_below


@overload
def keep_or_replace(
    values: int | np.integer[Any], k: int, keep: "Number | Odds", *, source: Source | None = None
) -> int: ...
@overload
def keep_or_replace(
    values: NDArray[np.integer[Any]], k: int, keep: "Number | Odds", *, source: Source | None = None
) -> Ints: ...
def keep_or_replace(
    values: "int | np.integer[Any] | NDArray[np.integer[Any]]",
    k: int,
    keep: "Number | Odds",
    *,
    source: Source | None = None,
) -> "int | Ints":
    """Each value kept with probability exactly `keep`, else one of the other k−1, uniformly.

    `values` is an integer in 0 … k−1 or an array of them; the result is an int or an int64 array of the same shape.
    For randomized response at epsilon, keep = odds(epsilon, k).
    """
    k = whole(k, "k", least=2)
    if k > 1 << 62:
        raise Invalid(f"k must be at most 2^62, got {shown(k)}")
    coin, bits = coin_of(keep, "keep"), chosen(source)
    if isinstance(values, np.ndarray):
        return _many(_checked(values, k), k, coin, bits)
    if isinstance(values, list | tuple):
        raise Invalid("values must be an integer or a NumPy array of integers, got a sequence")
    value = int(_checked(np.asarray(values), k))
    other = below(k - 1, bits)  # drawn whether or not it is used
    return value if coin.settle(bits.bits(64), bits) else other + (other >= value)


def _checked(values: "np.ndarray[tuple[int, ...], np.dtype[np.generic]]", k: int) -> Ints:
    if not np.issubdtype(values.dtype, np.integer):
        raise Invalid(f"values must be integers below k, got an array of {values.dtype}")
    if values.size and (values.dtype == np.uint64 and values.max() >= k):
        raise Invalid(f"values must lie in 0 … {k - 1}")
    exact = values.astype(np.int64, copy=False)
    if values.size and exact.view(np.uint64).max() >= k:  # a negative one reads as larger than any k
        raise Invalid(f"values must lie in 0 … {k - 1}")
    return exact


def _many(values: Ints, k: int, coin: Coin, source: Source) -> Ints:
    out = np.empty(values.shape, np.int64)
    flat, truth, moves = out.reshape(-1), values.reshape(-1), coin.other_side()
    for where, moved in tosses(moves, flat.size, source):
        part, true = flat[where], truth[where]
        if k == 2:
            part[:] = moved
            part ^= true  # the other one is 1 − x
            continue
        for begin in range(0, part.size, PIECE):
            piece = slice(begin, begin + PIECE)
            _replace(part[piece], true[piece], moved[piece], k, source)
    return out


def _replace(out: Ints, true: Ints, moved: NDArray[np.bool_], k: int, source: Source) -> None:
    """The truth, and in places that moved one of the others: a uniform integer below k − 1, past the truth."""
    places = np.flatnonzero(moved)
    other = np.empty(places.size, np.int64)
    fill_below(k - 1, other, source)
    other += other >= true[places]
    out[:] = true
    out[places] = other
