"""What a condition may be on a part of a cell: false, NULL or true, or one of several, as sets; and AND, OR, NOT and CASE of such sets.

A set is a number with a bit for each of the three. Where nothing is known of a condition it may be anything, and what is
made of it is whatever some choice gives: so a set that comes out never lacks what is possible.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Sets = NDArray[np.uint8]
"""For each part of the cells of some attributes what a condition may be there."""

FALSE, NULL, TRUE = 1, 2, 4
ANY = FALSE | NULL | TRUE


def one(value: object) -> int:
    """The set of one value."""
    return NULL if value is None else TRUE if value else FALSE


def both(left: Sets, right: Sets) -> Sets:
    """AND: false where either is, true where both are, and NULL where one is and the other is not false."""
    null = (left & (right | right >> 1)) | (left >> 1 & right)
    return _sets((left | right) & FALSE | null & NULL | left & right & TRUE)


def either(left: Sets, right: Sets) -> Sets:
    """OR: what is not (not one AND not the other)."""
    return opposite(both(opposite(left), opposite(right)))


def opposite(sets: Sets) -> Sets:
    """NOT: NULL stays NULL."""
    return _sets((sets & FALSE) << 2 | sets & NULL | (sets & TRUE) >> 2)


def _sets(bits: NDArray[Any]) -> Sets:
    return np.asarray(bits, np.uint8)


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
