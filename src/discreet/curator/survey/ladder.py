"""The public ladders of a survey: whatever it releases lies between two rungs that everybody knows before any data is read."""

from collections.abc import Sequence
from datetime import date
from itertools import pairwise

from discreet.curator.halves import by_halves
from discreet.plan.ladder import ladder, signed
from discreet.plan.relation import EPOCH
from discreet.plan.scalar import Literal, Scalar, Type

FIRST_YEAR, LAST_YEAR = 1900, 2100
"""The years between which outer ranges of dates lie."""

BINS = 64
"""Of the histogram within an outer range."""

MOST_ROWS_OF_ONE, MOST_GROUPS_OF_ONE = 1 << 20, 64


ROWS = ladder(MOST_ROWS_OF_ONE)
NUMBERS = signed(whole=False)
"""Where the cells of the outer range of a number meet."""

YEARS = tuple(float(date(year, 1, 1).toordinal() - EPOCH.toordinal()) for year in range(FIRST_YEAR, LAST_YEAR + 1))
"""Where those of a date meet, in days since the first of 1970."""


def outer(kind: Type) -> tuple[float, ...]:
    """Where the cells of an outer range meet."""
    return YEARS if kind is Type.DATE else NUMBERS


def inner(low: float, high: float, kind: Type) -> tuple[float, ...]:
    """Where the bins meet within an outer range, its ends among them; of dates whole days.

    >>> inner(0.0, 128.0, Type.NUMBER)[:3], len(inner(0.0, 128.0, Type.NUMBER))
    ((0.0, 2.0, 4.0), 65)
    >>> inner(0.0, 10.0, Type.DATE)
    (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0)
    """
    bins = BINS if kind is not Type.DATE else min(BINS, round(high - low))
    edges = [low + (high - low) * i / bins for i in range(bins + 1)]
    return tuple(map(float, map(round, edges))) if kind is Type.DATE else tuple(edges)


def cell_of(value: Scalar, edges: Sequence[float], kind: Type) -> Scalar:
    """The number of edges at or below a value: 0 below all of them."""
    return by_halves(value, [_literal(edge, kind) for edge in edges], lambda place: Literal(place, Type.INTEGER))


def _literal(edge: float, kind: Type) -> Literal:
    if kind is Type.DATE:
        return Literal(date.fromordinal(EPOCH.toordinal() + round(edge)), Type.DATE)
    return Literal(edge, Type.NUMBER)


def in_rungs(beyond: Sequence[int], people: int) -> list[int]:
    """How many people lie from each rung of a ladder to the next, from how many lie beyond each; the last are beyond all rungs.

    >>> in_rungs([7, 2, 0], 10)
    [3, 5, 2, 0]
    """
    return [before - after for before, after in pairwise((people, *beyond, 0))]
