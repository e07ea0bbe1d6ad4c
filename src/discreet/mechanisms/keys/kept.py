"""The keys that are kept, and the counts of people that they are chosen by."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.exact import Number, nonnegative, shown
from discreet.mechanisms.additive import MOST_INTEGER, Ints


class Kept(NamedTuple):
    """Whether the key of each count that went in is kept, and its noisy count, 0 where the key is not kept.

    Only keys that are kept, and their noisy counts, may be shown: how many keys there were, and which, is not private.
    """

    mask: NDArray[np.bool_]
    counts: Ints


def counts_of(values: object) -> Ints:
    counts = np.asarray(values)
    if counts.ndim != 1 or (counts.size and counts.dtype.kind not in "iu"):
        raise Invalid("counts must be integers in a list or an array of one dimension")
    if counts.size and not (int(counts.min()) >= 0 and int(counts.max()) <= MOST_INTEGER):
        raise Invalid("counts must lie between 0 and 2^62")
    return counts.astype(np.int64)


def at_stake(sensitivity: Number) -> bool:
    """Whether anything is at stake; keys are selected by counts of people, which one person changes by one."""
    exact = nonnegative(sensitivity, "sensitivity")
    if exact > 1:
        raise Invalid(
            f"sensitivity must be at most 1: keys are selected by counts of people, got {shown(sensitivity)}",
            hint="count people, not rows; in how many groups a person may be is `groups`",
        )
    return exact > 0
