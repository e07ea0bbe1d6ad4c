"""Edges of bins: equal ones between bounds, and those that somebody gave, as the column holds such values."""

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from discreet.cells import Edge
from discreet.errors import Invalid
from discreet.exact import rational, shown, whole
from discreet.plan.calendar import LAST
from discreet.plan.catalog import MOST_KEYS, WHOLE, Column, value_of
from discreet.plan.moments import micros_of, midnight
from discreet.plan.scalar import Type
from discreet.plan.texts import plain_day

USUAL = 10
"""So many bins where nobody says how many."""


def equal_edges(column: Column, bins: int) -> tuple[Edge, ...]:
    """The edges of so many bins between the bounds of a column, equal as far as whole numbers allow; one for each value where there are
    no more of these than bins.

    Whole numbers from 0 to 120 in ten bins are of 12 each, and 120 is in the last.
    """
    count = whole(bins, f"the number of bins of {column.name!r}", least=1)
    if count > MOST_KEYS:
        raise Invalid(f"at most {MOST_KEYS:,} bins are made of {column.name!r}, got {count:,}", code="cells")
    if column.low is None or column.high is None:
        raise unbounded(column)
    low, high = column.low, column.high
    if column.type in WHOLE:
        end = _end(column.type, low, high, count)
        count = max(1, min(count, int(end - low)))
        places = [low + round((end - low) * i / count) for i in range(count + 1)]
        return tuple(value_of(column.type, place) for place in places)  # type: ignore[misc]
    if low == high:
        raise Invalid(f"the bounds of {column.name!r} are one value", code="cells", hint="leave this attribute out")
    return tuple(float(low + (high - low) * i / count) for i in range(count + 1))


def _end(type: Type, low: Fraction, high: Fraction, bins: int) -> Fraction:
    """The last edge for whole numbers from low to high, which are one more than their distance; unless that divides without a rest."""
    if type is not Type.TIMESTAMP and high > low and (high - low) % bins == 0:
        return high
    most = {Type.DATE: Fraction(LAST), Type.TIMESTAMP: Fraction(micros_of(datetime.max))}.get(type)
    return high if most is not None and high >= most else high + 1


def unbounded(column: Column) -> Invalid:
    """What is said of a column that has no bounds."""
    return Invalid(
        f"column {column.name!r} has no bounds that bins could be made between",
        code="cells",
        hint=f"declare bounds, take a survey (`discreet survey`), or give edges: attributes={{{column.name!r}: [0, 10, 20]}}",
    )


def given_edges(column: Column, edges: Sequence[Any]) -> tuple[Edge, ...]:
    """Edges that somebody gave, as values of the column."""
    return tuple(_edge(column, edge) for edge in edges)


def _edge(column: Column, edge: Any) -> Edge:
    found = edge
    if column.type in (Type.DATE, Type.TIMESTAMP):
        found = _moment(column.type, edge)
    elif column.type.numeric:
        found = _number(column, edge)
    else:
        raise Invalid(
            f"column {column.name!r} is {column.type.value} and has no bins", code="cells", hint="give its categories"
        )
    if found is None:
        raise Invalid(f"edges of {column.name!r} must be {column.type.value} values, got {shown(edge)}", code="cells")
    return found


def _number(column: Column, edge: Any) -> Edge | None:
    try:
        place = rational(Decimal(edge) if isinstance(edge, str) else edge, "edge")
    except (Invalid, InvalidOperation):
        return None
    if column.type is Type.NUMBER:
        return float(place)
    return int(place) if place.denominator == 1 and abs(place) < 1 << 53 else None


def _moment(type: Type, edge: Any) -> Edge | None:
    """A day, or a moment; a text of either as they are written."""
    if isinstance(edge, str):
        day = plain_day(edge)
        try:
            edge = day if day is not None else datetime.fromisoformat(edge)
        except ValueError:
            return None
    if isinstance(edge, datetime):
        return edge if type is Type.TIMESTAMP and edge.tzinfo is None else None
    if isinstance(edge, date):
        return edge if type is Type.DATE else midnight(edge)
    return None
