"""The parts of a cell on which comparisons with some constants do not change, and a value of each.

    age in bins 20 to 60 to 100, bounds from 0 to 120, and the constant 65:    0 │ 1 … 19 │ 20 │ 21 … 59 ‖ 60 │ 61 … 64 │ 65 │ 66 … 99 │ …

Each constant, each bound and each edge, and whatever lies between two of them, is a piece. A condition that compares with these constants
alone is the same on all of a piece, and so known from any one value of it. What is below the first edge is in the first bin, and what is
above the last in the last. A value outside of the declared bounds of its column counts as the nearest bound, as it does in sums; where no
bounds are declared there is no end.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, inf, isfinite
from typing import TypeAlias

from discreet.cells import Attribute, Binned, Categorical
from discreet.errors import Fault
from discreet.plan.calendar import FIRST, LAST
from discreet.plan.catalog import WHOLE, value_of
from discreet.plan.moments import in_years, number
from discreet.plan.scalar import Type, Value

Bounds: TypeAlias = tuple[Fraction, Fraction]
"""The least value of a column and the largest, by the numbers that they are known by."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a cell by one of its values; `alone` where there is no other value in it."""

    cell: int
    value: Value
    alone: bool


def place_of(value: Value) -> Fraction | None:
    """The number by which a value is known that has a place among others; None for what has none."""
    moment = number(value)
    if moment is not None:
        return Fraction(moment)
    if isinstance(value, bool | str) or not isinstance(value, int | float) or not isfinite(value):
        return None
    return Fraction(value)


def pieces(attribute: Attribute, type: Type, constants: Iterable[Value], bounds: Bounds | None = None) -> list[Piece]:
    """The pieces of all cells of an attribute, those of each cell one behind the other; every cell has one at least.

    Bins have values within `bounds` alone.
    """
    found = [*_there(attribute, type, constants, bounds if isinstance(attribute, Binned) else None)]
    if attribute.missing:
        found.append(Piece(attribute.size - 1, None, True))
    # What no value can be in holds nobody: nothing is true there.
    lacking = set(range(attribute.size)) - {piece.cell for piece in found}
    found += [Piece(cell, None, True) for cell in lacking]
    return sorted(found, key=lambda piece: piece.cell)


def _there(attribute: Attribute, type: Type, constants: Iterable[Value], bounds: Bounds | None) -> Iterator[Piece]:
    if type in (Type.TEXT, Type.BOOLEAN):
        yield from _named(attribute, type, constants)
        return
    ends = attribute.edges if isinstance(attribute, Binned) else attribute.values
    cuts = {place for each in (*ends, *constants) if (place := place_of(each)) is not None}
    places = sorted(cuts.union(bounds or ()))
    cell_at = _bins(attribute) if isinstance(attribute, Binned) else _categories(attribute)
    for place, value, alone in _parts(type, places):
        cell = cell_at(place)
        inside = bounds is None or bounds[0] <= place <= bounds[1]
        if cell is not None and inside:
            yield Piece(cell, value, alone)


def _named(attribute: Attribute, type: Type, constants: Iterable[Value]) -> Iterator[Piece]:
    """Of what has no places: each category, each constant that is none, and anything else."""
    if isinstance(attribute, Binned):
        raise Fault("a text has no bins", code="cells")
    for cell, value in enumerate(attribute.values):
        yield Piece(cell, value, True)
    if not attribute.other:
        return
    others = [each for each in dict.fromkeys(constants) if each not in attribute.values and each is not None]
    for value in others:
        yield Piece(len(attribute.values), value, True)
    if type is Type.TEXT:
        known = [each for each in (*attribute.values, *others) if isinstance(each, str)]
        yield Piece(len(attribute.values), max(known, default="") + "…", False)
    else:
        yield from (Piece(len(attribute.values), each, True) for each in (False, True) if each not in attribute.values)


def _parts(type: Type, places: list[Fraction]) -> Iterator[tuple[Fraction, Value, bool]]:
    """A place, a value there, and whether there is no other, of each place and of what lies between."""
    within = _whole_between if type in WHOLE else _between
    ends: list[Fraction | None] = [None, *places, None]
    for low, high in pairwise(ends):
        if low is not None and (type not in WHOLE or low.denominator == 1):
            yield low, value_of(type, low) if type in WHOLE else float(low), True
        between = within(type, low, high)
        if between is not None:
            yield between


def _between(type: Type, low: Fraction | None, high: Fraction | None) -> tuple[Fraction, Value, bool] | None:
    """A number between two others; None where there is no double."""
    if low is None:
        return (Fraction(0) if high is None else high - 1), -inf, False
    if high is None:
        return low + 1, inf, False
    middle = float((low + high) / 2)
    return (Fraction(middle), middle, False) if low < middle < high else None


def _whole_between(type: Type, low: Fraction | None, high: Fraction | None) -> tuple[Fraction, Value, bool] | None:
    """A whole number between two places; None where there is none."""
    first = floor(low) + 1 if low is not None else ceil(high) - 1 if high is not None else 0
    last = ceil(high) - 1 if high is not None else first
    if first > last or not _exists(type, first):
        return None
    return Fraction(first), value_of(type, first), low is not None and high is not None and first == last


def _exists(type: Type, place: int) -> bool:
    if type is Type.DATE:
        return FIRST <= place <= LAST
    return type is not Type.TIMESTAMP or in_years(place)


def _bins(attribute: Binned) -> Callable[[Fraction], int | None]:
    """The bin that a place is in."""
    inner = [place for edge in attribute.edges[1:-1] if (place := place_of(edge)) is not None]
    return lambda place: bisect_right(inner, place)


def _categories(attribute: Categorical) -> Callable[[Fraction], int | None]:
    """The cell of a category by its place, or of all others; None where there is none."""
    cells = {place_of(value): cell for cell, value in enumerate(attribute.values)}
    other = len(attribute.values) if attribute.other else None
    return lambda place: cells.get(place, other)
