"""Sensitivities, computed: how much an exact answer can differ between neighbours, for queries whose form is known.

Each function takes the neighbour relation and what one unit can contribute, and returns the largest change, exactly: no smaller
number is true for all data. A unit is one row, or one person with all their rows (Unit). What a function is told is declared and
public; nothing is ever read from data.

>>> from discreet.privacy import Adjacency, Relation
>>> mean(Relation(Adjacency.REPLACE), 0, 150, least=100).l1, mean(Relation(Adjacency.ADD_REMOVE), 0, 150, least=100).l1
(Fraction(3, 2), Fraction(150, 101))
"""

from collections.abc import Sequence
from enum import Enum
from fractions import Fraction

from discreet.errors import Invalid
from discreet.exact import Number, nonnegative, rational, remembered, shown, sqrt_up, whole
from discreet.fields import Exact, frozen
from discreet.privacy import Adjacency, Relation

__all__ = [
    "Norm",
    "Sensitivity",
    "bounded_sum",
    "count",
    "grouped_count",
    "grouped_sum",
    "histogram",
    "mean",
    "statistical",
    "total_mean",
]


class Norm(Enum):
    """How the distance of two vectors is measured that a mechanism hides."""

    L1 = "L1"
    L2 = "L2"


@frozen
class Sensitivity:
    """The largest L1 and L2 distance of two exact answers, and the relation of the neighbours that they were computed on."""

    l1: Exact
    l2_squared: Exact
    relation: Relation

    def __post_init__(self) -> None:
        object.__setattr__(self, "l1", nonnegative(self.l1, "l1"))
        object.__setattr__(self, "l2_squared", nonnegative(self.l2_squared, "l2_squared"))
        if not isinstance(self.relation, Relation):
            raise Invalid(f"relation must be a Relation, got {shown(self.relation)}")

    @property
    def l2(self) -> Fraction:
        """The L2 sensitivity, rounded up: exact where it is rational, else above it by less than 2^-63 of it."""
        return sqrt_up(self.l2_squared)

    def of(self, norm: Norm) -> Fraction:
        """The sensitivity in this norm."""
        return self.l1 if norm is Norm.L1 else self.l2


def count(relation: Relation, *, rows: int = 1) -> Sensitivity:
    """The sensitivity of how many rows pass a condition; a unit has at most this many.

    >>> [count(Relation(adjacency), rows=5).l1 for adjacency in Adjacency]
    [Fraction(5, 1), Fraction(5, 1)]
    """
    return bounded_sum(relation, 1, 1, rows=rows)


def bounded_sum(relation: Relation, low: Number, high: Number, *, rows: int = 1, surely: bool = False) -> Sensitivity:
    """The sensitivity of a sum of values between `low` and `high`; a unit has at most this many rows.

    With `surely` it has exactly so many, and each of them surely contributes. Then replacing it moves the sum by
    high − low a row; as soon as a filter, a NULL, a group, a join or a cap can drop a row, by max(high, 0) − min(low, 0).

    >>> replaced = Relation(Adjacency.REPLACE)
    >>> bounded_sum(replaced, 20, 60).l1, bounded_sum(replaced, 20, 60, surely=True).l1
    (Fraction(60, 1), Fraction(40, 1))
    """
    if not isinstance(surely, bool):
        raise Invalid(f"surely must be True or False, got {shown(surely)}")
    if not surely or _adjacency(relation) is Adjacency.ADD_REMOVE:
        return grouped_sum(relation, low, high, rows=rows, cells=1)
    least, most = _bounds(low, high)
    return _of_number(whole(rows, "rows", least=1) * (most - least), relation)


@remembered
def grouped_sum(
    relation: Relation, low: Number, high: Number, *, rows: int = 1, groups: int = 1, cells: int | None = None
) -> Sensitivity:
    """The sensitivity of a vector of sums, one for each group, of values between `low` and `high`.

    A unit is in at most this many groups, with at most this many rows in each. `cells` is how many groups there are, in all;
    None for any number. In one group a unit adds between A = rows·min(low, 0) and B = rows·max(high, 0), M at most in size.
    Added or removed, it moves `groups` sums by M. Replaced, it leaves groups, which moves M each, and enters others, M each; or
    stays, which moves B − A.

    >>> replaced, k, c = Relation(Adjacency.REPLACE), 3, 5
    >>> found = grouped_sum(replaced, 0, 1, rows=c, groups=k)
    >>> found.l1 == 2 * k * c, found.l2_squared == 2 * k * c**2
    (True, True)
    >>> grouped_sum(replaced, -1, 1, rows=c, groups=k).l2_squared == 4 * k * c**2
    True
    """
    least, most = _bounds(low, high)
    c, k = whole(rows, "rows", least=1), whole(groups, "groups", least=1)
    in_all = 2 * k if cells is None else whole(cells, "cells", least=1)
    k = min(k, in_all)
    across, size = c * (max(most, Fraction(0)) - min(least, Fraction(0))), c * max(abs(least), abs(most))
    if _adjacency(relation) is Adjacency.ADD_REMOVE:
        return Sensitivity(k * size, k * size**2, relation)
    stays = max(0, 2 * k - in_all)  # in so many groups at least, for lack of others
    moves = 2 * (k - stays)
    return Sensitivity(
        stays * across + moves * size,
        max(k * across**2, stays * across**2 + moves * size**2),
        relation,
    )


def grouped_count(relation: Relation, *, rows: int = 1, groups: int = 1, cells: int | None = None) -> Sensitivity:
    """The sensitivity of how many rows each group has; a unit is in at most this many groups, with at most this many rows in each."""
    return grouped_sum(relation, 1, 1, rows=rows, groups=groups, cells=cells)


def histogram(relation: Relation, *, rows: int = 1) -> Sensitivity:
    """The sensitivity of how many rows each of two or more cells has; a unit has at most this many rows in all, in any cells.

    >>> [(found.l1, found.l2_squared) for found in map(histogram, map(Relation, Adjacency))]
    [(Fraction(1, 1), Fraction(1, 1)), (Fraction(2, 1), Fraction(2, 1))]
    """
    return grouped_count(relation, rows=rows)  # all rows in one cell, which moves the most


def statistical(relation: Relation, *, queries: int = 1, rows: int = 1) -> Sensitivity:
    """The sensitivity of a vector of statistical queries Σ q(x), each q from rows to [0, 1]; a unit has at most this many rows.

    Replacing a unit moves each by as much as adding one.
    """
    _adjacency(relation)
    m, c = whole(queries, "queries", least=1), Fraction(whole(rows, "rows", least=1))
    return Sensitivity(m * c, m * c**2, relation)


def mean(relation: Relation, low: Number, high: Number, *, least: int, rows: int = 1) -> Sensitivity:
    """The sensitivity of `total_mean`, which is the average of values between `low` and `high` where there are `least` of them or more.

    A unit has at most c rows. Replaced, it moves the mean by (high − low)·min(c, least)/least: all its rows go from one bound to
    the other, among `least` in all. Added to n >= least rows on the one bound, it moves the mean by (high − low)·c/(n + c),
    and added to fewer by no more.
    """
    bottom, top = _bounds(low, high)
    m, c = whole(least, "least", least=1), whole(rows, "rows", least=1)
    if _adjacency(relation) is Adjacency.REPLACE:
        return _of_number((top - bottom) * Fraction(min(c, m), m), relation)
    return _of_number((top - bottom) * Fraction(c, m + c), relation)


def total_mean(values: Sequence[int | Fraction], low: Number, high: Number, *, least: int) -> Fraction:
    """mid + Σ(x − mid)/max(n, least), mid = (low + high)/2: a mean that is defined for any number of values, none too.

    >>> total_mean([150] * 50, 0, 150, least=100)
    Fraction(225, 2)
    """
    bottom, top = _bounds(low, high)
    m, middle = whole(least, "least", least=1), (bottom + top) / 2
    if not all(isinstance(value, int | Fraction) and bottom <= value <= top for value in values):
        raise Invalid("values must be integers or fractions between low and high", hint="clamp them first")
    return middle + sum((value - middle for value in values), Fraction(0)) / max(len(values), m)


def _of_number(size: Fraction, relation: Relation) -> Sensitivity:
    return Sensitivity(size, size**2, relation)


def _bounds(low: Number, high: Number) -> tuple[Fraction, Fraction]:
    least, most = rational(low, "low"), rational(high, "high")
    if least > most:
        raise Invalid(f"low must not be above high, got {shown(low)} and {shown(high)}")
    return least, most


def _adjacency(relation: Relation) -> Adjacency:
    if not isinstance(relation, Relation):
        raise Invalid(f"relation must be a Relation, got {shown(relation)}")
    return relation.adjacency


def __dir__() -> list[str]:
    return sorted(__all__)
