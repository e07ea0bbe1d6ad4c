"""From a policy to the catalog that questions are planned against, and to what an engine is to load."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.curator.declaration import Declared, Source
from discreet.curator.parted import partition_of
from discreet.curator.public import data_of, keys_in, public_table
from discreet.engines.base import Data
from discreet.engines.columns import has_header, has_types, names_of, stored_types
from discreet.errors import Invalid, QueryError
from discreet.exact import shown
from discreet.plan.catalog import JOIN_ROWS, Catalog, Column, Table, suggestion
from discreet.plan.moments import midnight
from discreet.plan.plain import LEAST_INTEGER, MOST_INTEGER
from discreet.plan.scalar import KINDS, Type
from discreet.plan.scalar import Column as NodeColumn
from discreet.plan.texts import day_in, number_in, plain_moment

WHOLE_TAIL = re.compile(r"\.0+$")
"""A whole number may be spelt 1.0, and is the integer 1."""

if TYPE_CHECKING:
    from discreet.curator.policy import Policy


def catalog_of(policy: "Policy") -> tuple[Catalog, tuple[Data, ...]]:
    """The catalog, and what an engine is to load. Of data about somebody only the names of columns are looked at."""
    _check_unit(policy)
    public = {name: public_table(name, source) for name, source in policy.tables.items() if source.public}
    tables, loads = [], []
    for name, source in policy.tables.items():
        if name in public:
            tables.append(public[name])
            loads.append(data_of(public[name]))
            continue
        table = _table(name, _with_keys(source, tuple(public.values())), policy.protected.person)
        tables.append(table)
        columns = tuple(NodeColumn(column.name, column.type) for column in table.columns)
        spelt = {column.name.casefold(): column.name for column in table.columns}
        formats = {spelt[column.casefold()]: form for column, form in source.reading.formats.items()}
        loads.append(
            Data(
                name,
                source.data,
                columns,
                framing=source.framing,
                person=_spelt(policy.protected.person, table),
                table=source.table,
                reading=replace(source.reading, formats=formats),
            )
        )
    try:
        catalog = Catalog(tuple(tables), policy.protected, parts=partition_of(policy, tables))
    except QueryError as error:
        raise Invalid(f"the unit of privacy: {error.message}", code="unit", hint=error.hint) from None
    _check_ids(catalog)
    return catalog, tuple(loads)


def _check_unit(policy: "Policy") -> None:
    if policy.protected.person is None and sum(not source.public for source in policy.tables.values()) > 1:
        raise Invalid(
            "each row of several tables cannot be a unit of its own: rows of two tables may be about one person",
            code="unit",
            hint="name the column that says who a row is about, or keep one table",
        )


def _check_ids(catalog: Catalog) -> None:
    """Neighbours differ in all rows of one person in all tables, so an id must mean the same in all of them."""
    person = catalog.protected.person
    if person is None:
        return
    kinds = {table.name: table.column(person).type for table in catalog.private}
    if len(set(kinds.values())) > 1:
        said = ", ".join(f"{kind.value} in {name!r}" for name, kind in kinds.items())
        raise Invalid(
            f"the unit {person!r} must be of one type in all tables, and is {said}",
            code="unit",
            hint="declare the same type for it in each, or none",
        )


def _with_keys(source: Source, public: Sequence[Table]) -> Source:
    """A source whose columns have the keys that they take from public tables."""
    columns = {
        column: said if said.keys_of is None else replace(said, keys=keys_in(public, said.keys_of, column))
        for column, said in source.columns.items()
    }
    return replace(source, columns=columns)


def _spelt(person: str | None, table: Table) -> str | None:
    """The person column as the data spell it."""
    names = [column.name for column in table.columns if person and column.name.casefold() == person.casefold()]
    return names[0] if names else None


def _table(name: str, source: Source, person: str | None) -> Table:
    found = names_of(source.data, framing=source.framing, table=source.table)
    if isinstance(source.data, str | Path) and has_header(source.data):
        _check_header(Path(source.data), found, {*map(str.casefold, source.columns), (person or "").casefold()})
    folded = {each.casefold(): each for each in found}
    declared = {}
    for column, said in source.columns.items():
        if column.casefold() not in folded:
            raise Invalid(
                f"column {column!r} is declared, and table {name!r} does not have it",
                code="policy",
                hint=suggestion(column, found, "its columns are"),
            )
        declared[folded[column.casefold()]] = said
    stored = stored_types(source.data, source.table) if source.stored else {}
    columns = (_column(each, declared.get(each), stored.get(each)) for each in found)
    return Table(
        name,
        tuple(columns),
        typed=not source.stored and has_types(source.data),
        join_rows=source.join_rows or JOIN_ROWS,
    )


def _check_header(path: Path, names: Sequence[str], declared: set[str]) -> None:
    """A first line that may be a record, or that holds one name made of many, is refused without showing it.

    Whoever declares a column by such a name says that it is one.
    """
    if len(names) == 1 and names[0].casefold() not in declared:
        for delimiter in ";\t|":
            if delimiter in names[0]:
                raise Invalid(
                    f"the first line of file {path.name!r} has one name, with {delimiter!r} in it",
                    code="delimiter",
                    hint=f"add --delimiter {delimiter!r} (delimiter = in a policy)",
                )
    for place, name in enumerate(names, 1):
        if name.casefold() not in declared and _like_a_value(name):
            what = "has no name" if not name.strip() else "is named like a number or a date"
            raise Invalid(
                f"column {place} of file {path.name!r} {what}; the first line must name the columns",
                code="header",
                hint="write a line of names above the data, or declare each such column by the name it has there",
            )


def _like_a_value(name: str) -> bool:
    """Whether a name may be a cell: nothing, or digits with signs around and between them, or a moment."""
    letters = any(character.isalpha() for character in name)
    digits = any(character.isdigit() for character in name)
    return not name.strip() or (digits and not letters) or number_in(name) is not None or day_in(name) is not None


def _column(name: str, said: Declared | None, stored: Type | None) -> Column:
    """A declared type wins over a stored one that is taken over; else bounds make a number, keys what they are; all else is text."""
    if said is None:
        return Column(name, stored or Type.TEXT, declared=stored is not None)
    kind = said.type or stored
    if kind is None and said.keys is not None:
        keys = [_whole(key) for key in said.keys]
        kind = next((each for each, python in KINDS.items() if all(type(key) is python for key in keys)), None)
        if kind is None and all(type(key) in (int, float) for key in keys):
            kind = Type.NUMBER
    if kind is None and (said.low is not None or said.auto):
        kind = Type.NUMBER
    kind = kind or Type.TEXT
    declared = None if said.keys is None else tuple(_key(name, key, kind) for key in said.keys)
    return Column(name, kind, said.low, said.high, declared, said.nullable, max_groups=said.max_groups, auto=said.auto)


def _whole(key: Any) -> Any:
    """A key that is a whole number as an integer, however it is spelt: 1 and 1.0 are one number. A float is the decimal that it prints."""
    if not isinstance(key, float) or not key.is_integer():
        return key
    whole = int(Decimal(repr(key)))
    return whole if LEAST_INTEGER <= whole <= MOST_INTEGER else key


def _finite(number: float | None) -> float:
    if number is None or not isfinite(number):
        raise ValueError
    return number


def _there(moment: datetime | None) -> datetime:
    if moment is None:
        raise ValueError
    return moment


def _key(name: str, key: Any, kind: Type) -> Any:
    """A key written as text or as an integer, as on a command line, as what its column holds."""
    try:
        if type(key) is int and kind is Type.TEXT:
            return str(key)
        if isinstance(key, str) and kind is Type.INTEGER:
            return int(WHOLE_TAIL.sub("", key))
        if kind is Type.INTEGER:
            return _whole(key)
        if isinstance(key, str) and kind is Type.NUMBER:
            return _finite(number_in(key))
        if isinstance(key, str) and kind is Type.DATE:
            return date.fromisoformat(key)
        if kind is Type.TIMESTAMP and isinstance(key, str):
            return _there(plain_moment(key.strip()))
        if kind is Type.TIMESTAMP and type(key) is date:
            return midnight(key)
        if isinstance(key, str) and kind is Type.BOOLEAN:
            return {"true": True, "false": False}[key.lower()]
    except (ValueError, KeyError):
        raise Invalid(f"keys of column {name!r} must be {kind.value} values, got {shown(key)}") from None
    return key
