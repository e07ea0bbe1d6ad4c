"""Ten questions that anybody would ask of a declared table, made of declarations alone."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from itertools import islice

from discreet.plan.catalog import Catalog, Column, Key, Table, listed

QUESTIONS = 10
MOST_GROUPS = 50
"""Declared values of a column that is grouped by, where nobody listed them as keys."""


@dataclass(frozen=True, slots=True)
class Standard:
    """A question, and the column that it sums, if it sums one."""

    text: str
    summed: str | None = None


def questions_of(catalog: Catalog, table: Table) -> tuple[Standard, ...]:
    """At most ten questions of a table: counts, counts by each key, sums and averages, and some with a filter."""
    first = [Standard(f"SELECT COUNT(*) AS n{_from(table)}")]
    if catalog.protected.person is not None:
        person = table.column(catalog.protected.person).name
        first.append(Standard(f"SELECT COUNT(DISTINCT {quoted(person)}) AS n{_from(table)}"))
    by_key = [Standard(grouped_by(table, column)) for column in keyed(catalog, table)]
    sums = [
        Standard(f"SELECT {call}({quoted(column.name)}) AS x{_from(table)}", column.name)
        for column in summable(catalog, table)
        for call in ("SUM", "AVG")
    ]
    filtered = list(_filtered(catalog, table))
    chosen = [*first, *by_key[:3], *sums[:4], *filtered, *by_key[3:], *sums[4:]]
    return tuple(islice(chosen, QUESTIONS))


def grouped_by(table: Table, column: Column) -> str:
    """The question that counts rows by a column."""
    return f"SELECT {quoted(column.name)}, COUNT(*) AS n{_from(table)} GROUP BY {quoted(column.name)}"


def keyed(catalog: Catalog, table: Table) -> list[Column]:
    """The columns that can be grouped by, into groups that can be looked through."""
    chosen = []
    for column in _declared(catalog, table):
        values = listed(column.type, column.facts, column.keys)
        if values is not None and (column.keys is not None or len(values) <= MOST_GROUPS):
            chosen.append(column)
    return chosen


def summable(catalog: Catalog, table: Table) -> list[Column]:
    """The columns that can be summed."""
    return [column for column in _declared(catalog, table) if column.low is not None and column.type.numeric]


def _filtered(catalog: Catalog, table: Table) -> Iterator[Standard]:
    first_keys = [
        f" WHERE {quoted(each.name)} = {_literal(each.keys[0])}" for each in keyed(catalog, table) if each.keys
    ]
    for column in summable(catalog, table):
        if column.low is not None and column.high is not None:
            middle = float((column.low + column.high) / 2)
            yield Standard(f"SELECT COUNT(*) AS n{_from(table)} WHERE {quoted(column.name)} >= {middle!r}")
            for where in first_keys[:1]:
                yield Standard(f"SELECT AVG({quoted(column.name)}) AS x{_from(table)}{where}", column.name)
    for where in first_keys:
        yield Standard(f"SELECT COUNT(*) AS n{_from(table)}{where}")


def _declared(catalog: Catalog, table: Table) -> list[Column]:
    person = (catalog.protected.person or "").casefold()
    return [column for column in table.columns if column.declared and column.name.casefold() != person]


def _from(table: Table) -> str:
    return f" FROM {quoted(table.name)}"


def quoted(name: str) -> str:
    """A name in a question: in quotes no name is a word of SQL."""
    return '"' + name.replace('"', '""') + '"'


def _literal(key: Key) -> str:
    match key:
        case bool():
            return "TRUE" if key else "FALSE"
        case datetime():
            return f"TIMESTAMP '{key.isoformat(sep=' ')}'"
        case date():
            return f"DATE '{key.isoformat()}'"
        case str():
            return "'" + key.replace("'", "''") + "'"
    return repr(key)
