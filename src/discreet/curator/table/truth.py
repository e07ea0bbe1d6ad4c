"""What a condition may be on a part of a cell: false, NULL or true, or one of several, as sets; and AND, OR, NOT and CASE of such sets.

A set is a number with a bit for each of the three. Where nothing is known of a condition it may be anything, and what is
made of it is whatever some choice gives: so a set that comes out never lacks what is possible.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Sets = NDArray[np.uint8]
"""For each part of the cells of some attributes what a condition may be there."""

FALSE, NULL, TRUE = 1, 2, 4
ANY = FALSE | NULL | TRUE
IN_ORDER = (FALSE, NULL, TRUE)
"""So AND is the least, and OR the largest, in three values."""


def one(value: object) -> int:
    """The set of one value."""
    return NULL if value is None else TRUE if value else FALSE


def _table(combine: Callable[[int, int], int]) -> Sets:
    """What comes of any two sets, by what comes of any two values."""
    table = np.zeros((ANY + 1, ANY + 1), np.uint8)
    for left in range(ANY + 1):
        for right in range(ANY + 1):
            for i, first in enumerate(IN_ORDER):
                for j, second in enumerate(IN_ORDER):
                    if left & first and right & second:
                        table[left, right] |= IN_ORDER[combine(i, j)]
    return table


_AND, _OR = _table(min), _table(max)
_NOT = np.array([sum(IN_ORDER[2 - i] for i, each in enumerate(IN_ORDER) if s & each) for s in range(ANY + 1)], np.uint8)


def both(left: Sets, right: Sets) -> Sets:
    """AND."""
    return _AND[left, right]


def either(left: Sets, right: Sets) -> Sets:
    """OR."""
    return _OR[left, right]


def opposite(sets: Sets) -> Sets:
    """NOT: NULL stays NULL."""
    return _NOT[sets]


def chosen(condition: Sets, then: Sets, otherwise: Sets) -> Sets:
    """CASE: what holds where a condition is true, and what holds where it is not."""
    true, not_true = (condition & TRUE) > 0, (condition & (FALSE | NULL)) > 0
    return np.bitwise_or(then * true, otherwise * not_true)


def over_cells(sets: Sets, starts: NDArray[np.int64], axis: int) -> Sets:
    """What a condition may be on a cell, whose parts lie one behind the other along an axis from each start on."""
    found: Sets = np.bitwise_or.reduceat(sets, starts, axis=axis)
    return found


def is_undecided(sets: Sets) -> NDArray[np.bool_]:
    """Where a condition is true of some, and not of others."""
    found: NDArray[np.bool_] = ((sets & TRUE) > 0) & ((sets & (FALSE | NULL)) > 0)
    return found


def is_true(sets: Sets) -> NDArray[np.bool_]:
    """Where a condition is true, and nothing else."""
    found: NDArray[np.bool_] = np.equal(sets, TRUE)
    return found
