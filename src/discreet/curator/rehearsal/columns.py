"""What each declared column holds, beside what is declared of it."""

from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

from discreet.curator.rehearsal.counting import Counting
from discreet.curator.rehearsal.ladder import bounds_for, rungs
from discreet.engines.base import Lost
from discreet.exact import to_float_down, to_float_up
from discreet.plan import catalog
from discreet.plan.domain import constant_of
from discreet.plan.scalar import Column, Comparison, In, IsNull, Literal, Not, Order, Type

TIMES = (Type.DATE, Type.TIMESTAMP)


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """How many of the values of a column are what was declared of them."""

    name: str
    type: Type
    rows: int
    values: int
    """Those that are of the type."""

    lost: int
    """Those that are there, and not of the type: they count as missing."""

    below: int | None = None
    above: int | None = None
    """How many values lie outside of the bounds; None without bounds."""

    keyed: int | None = None
    """How many rows have a declared key; None without keys."""

    bounds: tuple[Fraction, Fraction] | None = None
    proposed: tuple[Fraction, Fraction] | None = None

    @property
    def missing(self) -> int:
        """How many cells hold nothing."""
        return self.rows - self.values - self.lost

    def as_data(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "column": self.name,
            "type": self.type.value,
            "rows": self.rows,
            "values": self.values,
            "lost": self.lost,
            "missing": self.missing,
            "below": self.below,
            "above": self.above,
            "with_a_declared_key": self.keyed,
            "bounds": _plain(self.bounds, self.type),
            "proposed_bounds": _plain(self.proposed, self.type),
        }


def _plain(bounds: tuple[Fraction, Fraction] | None, kind: Type) -> list[float] | list[str] | None:
    if bounds is None:
        return None
    if kind in TIMES:
        return [_isoformat(kind, end) for end in bounds]
    return [float(end) for end in bounds]


def _isoformat(kind: Type, end: Fraction) -> str:
    value = catalog.value_of(kind, end)
    return value.isoformat() if isinstance(value, date) else str(value)


def profile_of(
    counting: Counting, table: str, column: catalog.Column, rows: int, lost: tuple[Lost, ...]
) -> ColumnProfile:
    """The profile of a column of a table that has so many rows."""
    node = Column(column.name, column.type)
    ladder = rungs(column.type is Type.INTEGER) if column.type.numeric and column.keys is None else ()
    ends = [(end, end) for end in ladder]
    if column.low is not None and column.high is not None:
        ends.append((column.low, column.high))
    conditions = [
        Not(IsNull(node)),
        *(Comparison(Order.LESS, node, _literal(low, column.type, up=False)) for low, _ in ends),
        *(Comparison(Order.GREATER, node, _literal(high, column.type, up=True)) for _, high in ends),
    ]
    if column.keys is not None:
        conditions.append(In(node, tuple(constant_of(key, column.type) for key in column.keys)))
    values, *counts = counting.counts(table, conditions)
    below, above = counts[: len(ends)], counts[len(ends) : 2 * len(ends)]
    bounded = column.low is not None
    return ColumnProfile(
        column.name,
        column.type,
        rows,
        values,
        sum(each.values for each in lost if (each.table, each.column) == (table, column.name)),
        below[-1] if bounded else None,
        above[-1] if bounded else None,
        counts[-1] if column.keys is not None else None,
        None if column.low is None or column.high is None else (column.low, column.high),
        bounds_for(ladder, below[: len(ladder)], above[: len(ladder)], values) if ladder else None,
    )


def _literal(end: Fraction, kind: Type, *, up: bool) -> Literal:
    """An end of bounds as a value of the column: as a clamp takes it, outward."""
    if kind in TIMES:
        return Literal(catalog.value_of(kind, end), kind)
    if kind is Type.INTEGER:
        return Literal(int(end), Type.INTEGER)
    return Literal(to_float_up(end) if up else to_float_down(end), Type.NUMBER)
