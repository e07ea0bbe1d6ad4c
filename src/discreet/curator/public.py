"""Tables that are about nobody: read whole when a policy is opened, and what is known of their columns is what they hold.

What an engine loads of such a table is what was read here, and no file is opened a second time: so a key that is unique in what was read is
unique in what is joined.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from fractions import Fraction
from math import isfinite
from typing import Any

from discreet.curator.declaration import Declared, Source
from discreet.engines.base import Data
from discreet.engines.cells import of_python
from discreet.engines.columns import has_types, names_of, stored_types
from discreet.errors import Invalid
from discreet.plan.calendar import number_of
from discreet.plan.catalog import MOST_BOUND, MOST_KEYS, MOST_LISTED, Column, Key, Table, one_number, suggestion
from discreet.plan.public import MOST_PUBLIC, Contents
from discreet.plan.scalar import Column as NodeColumn
from discreet.plan.scalar import Type, Value
from discreet.plan.texts import plain_day

WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")  # 0123 may be a code
NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,15})?")
TRUTHS = {"true", "false"}


def public_table(name: str, source: Source) -> Table:
    """A public table with what it holds; raises Invalid where it does not load."""
    found = names_of(source.data, framing=source.framing, table=source.table)
    declared = _declared(name, source.columns, found)
    kept = stored_types(source.data, source.table) if has_types(source.data) else {}
    types = {each: _said_type(declared.get(each)) or kept.get(each) for each in found}
    columns = tuple(NodeColumn(each, kind or Type.TEXT) for each, kind in types.items())
    spelt = {each.casefold(): each for each in found}
    formats = {spelt[column.casefold()]: form for column, form in source.reading.formats.items()}
    # an engine is imported for whoever has public tables alone
    from discreet.engines.snapshot import snapshot

    reading = replace(source.reading, formats=formats)
    read = snapshot(Data(name, source.data, columns, framing=source.framing, table=source.table, reading=reading))
    rows = len(next(iter(read.values())))
    if rows > MOST_PUBLIC:
        raise Invalid(
            f"the public table {name!r} has {rows:,} rows, and at most {MOST_PUBLIC:,} are read",
            code="policy",
            hint="keep the rows and columns that questions need",
        )
    typed = {each: _typed(read[each], types[each]) for each in found}
    known = tuple(_column(each, kind, values, declared.get(each)) for each, (kind, values) in typed.items())
    return Table(name, known, public=Contents.of({each: values for each, (_, values) in typed.items()}))


def data_of(table: Table) -> Data:
    """What an engine loads of a public table: what was read."""
    if table.public is None:
        raise Invalid(f"table {table.name!r} is not public", code="policy")
    columns = tuple(NodeColumn(each.name, each.type) for each in table.columns)
    return Data(table.name, {name: list(values) for name, values in table.public.columns.items()}, columns)


def keys_in(tables: Sequence[Table], of: tuple[str, str], column: str) -> tuple[Key, ...]:
    """The values of a column of a public table, for the keys of another column; raises Invalid where there are none, or too many."""
    name, inside = of
    table = next((each for each in tables if each.name.casefold() == name.casefold()), None)
    if table is None or table.public is None:
        raise Invalid(
            f"the keys of column {column!r} are those of a public table, and {name!r} is none",
            code="policy",
            hint=f"add public = true to [tables.{name}], or --public {name}={name}.csv",
        )
    spelt = {each.name.casefold(): each.name for each in table.columns}
    if inside.casefold() not in spelt:
        raise Invalid(
            f"the keys of column {column!r} are those of {inside!r}, and table {name!r} does not have it",
            code="policy",
            hint=suggestion(inside, spelt.values(), "its columns are"),
        )
    keys = distinct(table.public.columns[spelt[inside.casefold()]])
    if not 1 <= len(keys) <= MOST_LISTED:
        raise Invalid(
            f"column {inside!r} of table {name!r} has {len(keys):,} values, and a column has between 1 and {MOST_LISTED:,} keys",
            code="policy",
            hint="name a column with fewer values",
        )
    return keys


def distinct(values: Sequence[Value]) -> tuple[Key, ...]:
    """The values that there are, in order.

    >>> distinct(["b", None, "a", "b"])
    ('a', 'b')
    """
    return tuple(sorted({value for value in values if value is not None}))


def _declared(name: str, said: Mapping[str, Declared], found: Sequence[str]) -> dict[str, Declared]:
    folded = {each.casefold(): each for each in found}
    for column in said:
        if column.casefold() not in folded:
            raise Invalid(
                f"column {column!r} is declared, and table {name!r} does not have it",
                code="policy",
                hint=suggestion(column, found, "its columns are"),
            )
        if said[column].auto or said[column].keys_of is not None:
            raise Invalid(
                f"column {column!r} of the public table {name!r} has the bounds and keys that it has",
                code="policy",
                hint="say nothing of it, or its type alone",
            )
    return {folded[column.casefold()]: each for column, each in said.items()}


def _said_type(said: Declared | None) -> Type | None:
    """The type that is declared of a column."""
    if said is None:
        return None
    return said.type or (Type.NUMBER if said.low is not None else None)


def _typed(values: Sequence[Any], kind: Type | None) -> tuple[Type, tuple[Value, ...]]:
    """A column as what it is declared or stored as; else what all of its texts say, which is public as they are."""
    if kind is None:
        kind = _kind(values)
        values = [None if value is None else of_python(value, kind) for value in values]
    if kind is Type.NUMBER:
        values = [None if value is None else one_number(value) for value in values]
    return kind, tuple(values)


def _kind(texts: Sequence[str | None]) -> Type:
    """
    >>> [_kind(each).value for each in (["1", "-20", None], ["0.5", "1"], ["01", "2"], ["2024-02-29"], ["true"], [None])]
    ['integer', 'number', 'text', 'date', 'boolean', 'text']
    """
    there = [text for text in texts if text is not None]
    for kind, says in (
        (Type.INTEGER, WHOLE.fullmatch),
        (Type.NUMBER, NUMBER.fullmatch),
        (Type.DATE, plain_day),
        (Type.BOOLEAN, lambda text: text in TRUTHS),
    ):
        if there and all(map(says, there)):
            return kind
    return Type.TEXT


def _column(name: str, kind: Type, values: Sequence[Value], said: Declared | None) -> Column:
    """A column with what it holds: its values for keys, its least and largest for bounds; what is declared goes before that."""
    said = said or Declared()
    keys = distinct(values)
    low, high = said.low, said.high
    if low is None and keys and kind in (Type.INTEGER, Type.NUMBER, Type.DATE):
        ends = [number_of(end) if isinstance(end, date) else float(end) for end in (keys[0], keys[-1])]
        if all(isfinite(end) and abs(end) <= MOST_BOUND for end in ends):
            low, high = (Fraction(end) for end in ends)
    listed = said.keys if said.keys is not None else keys if 1 <= len(keys) <= MOST_KEYS else None
    if listed is not None and any(isinstance(key, float) and not isfinite(key) for key in listed):
        listed = None
    return Column(name, kind, low, high, listed, nullable=None in values, max_groups=said.max_groups)
