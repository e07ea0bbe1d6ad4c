"""A large table, put in an order that makes every question about it faster; what is found in it is the same.

Nothing here sees a question, and no condition but that a person is there.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from discreet.engines.base import Data
from discreet.engines.render import StoredTable
from discreet.engines.render.cells import TextForm, text_of_form
from discreet.engines.render.duckdb import DUCKDB
from discreet.engines.render.nodes import named
from discreet.plan.scalar import Type

BY_STATISTICS = "statistics_propagation"  # an optimizer of DuckDB that questions are kept from
identifier = DUCKDB.identifier
MOST_CODES = 4_000  # values of a text column that is kept as codes
LOOKED_AT = 50_000  # rows in which a column of many values shows many


@contextmanager
def _planned_by_statistics(connection: Any) -> Iterator[None]:
    """While a table is put in order, which has no condition but that a person is there: to sort it takes less then."""
    connection.execute("SET disabled_optimizers = ''")
    try:
        yield
    finally:
        connection.execute(f"SET disabled_optimizers = {DUCKDB.quoted(BY_STATISTICS)}")


def arranged(connection: Any, data: Data, rows: int, forms: dict[str, TextForm]) -> StoredTable:
    """How a table is kept that was put in order."""
    with _planned_by_statistics(connection):
        return _arranged(connection, data, rows, forms)


def _arranged(connection: Any, data: Data, rows: int, forms: dict[str, TextForm]) -> StoredTable:
    """The table with short texts as codes, and with the rows of each person together: what is found is the same, and found sooner.

    People are numbered by their value, never by a hash of it.
    """
    old, new = identifier(data.name), identifier(f"{data.name} arranged")
    names = {column.name for column in data.columns}
    number, hash = unused("number", names), unused("hash", names)
    coded = _coded(connection, data, forms)
    forms = forms | dict.fromkeys(coded, TextForm.CODE)
    read = {each.name: f"t.{identifier(each.name)}" for each in data.columns}
    read |= {name: f"CAST({read[name]} AS {identifier(codes)})" for name, codes in coded.items()}
    columns = ", ".join(f"{each} AS {identifier(name)}" for name, each in read.items())
    people = 0
    if data.person is None:
        connection.execute(f"CREATE TABLE {new} AS SELECT {columns} FROM {old} AS t")
    else:
        person = identifier(data.person)
        connection.execute(
            f"CREATE TEMP TABLE people AS SELECT value, CAST(row_number() OVER (ORDER BY value) - 1 AS INTEGER) AS number,"
            f" hash({_as_text(data.person, 'value', forms)}) AS hash"
            f" FROM (SELECT DISTINCT {person} AS value FROM {old} WHERE {person} IS NOT NULL)"
        )
        people = connection.execute("SELECT count(*) FROM people").fetchone()[0]
        connection.execute(
            f"CREATE TABLE {new} AS SELECT {columns}, people.number AS {identifier(number)}, people.hash AS {identifier(hash)}"
            f" FROM {old} AS t LEFT JOIN people ON t.{person} = people.value ORDER BY people.number"
        )
        connection.execute("DROP TABLE people")
    connection.execute(f"DROP TABLE {old}")
    connection.execute(f"ALTER TABLE {new} RENAME TO {old}")
    if data.person is None:
        return StoredTable(data.name, forms, rows=rows)
    return StoredTable(data.name, forms, data.person, number, hash, people, rows)


def _as_text(column: str, name: str, forms: Mapping[str, TextForm]) -> str:
    """A column as the value that it stands for: what is hashed of a person does not depend on how the source stored it."""
    sql = named(name)
    return DUCKDB.text(text_of_form(forms[column], sql, DUCKDB) if column in forms else sql)


def unused(name: str, taken: set[str]) -> str:
    while name.casefold() in {each.casefold() for each in taken}:
        name += "_"
    return name


def _coded(connection: Any, data: Data, forms: Mapping[str, TextForm]) -> dict[str, str]:
    """The text columns with few values, each with a type of those values."""
    texts = {}
    for i, column in enumerate(data.columns):
        if column.type is not Type.TEXT or column.name == data.person or column.name in forms:
            continue
        name, table = identifier(column.name), identifier(data.name)
        some = f"SELECT {name} FROM {table} LIMIT {LOOKED_AT}"  # a column of many values has many in some rows
        if connection.execute(f"SELECT approx_count_distinct({name}) > {MOST_CODES} FROM ({some})").fetchone()[0]:
            continue
        values = f"SELECT DISTINCT {name} FROM {table} WHERE {name} IS NOT NULL"
        codes = identifier(f"codes {data.name} {i}")
        connection.execute(f"CREATE TEMP TABLE codes AS {values}")
        if 1 <= connection.execute("SELECT count(*) FROM codes").fetchone()[0] <= MOST_CODES:
            texts[column.name] = f"codes {data.name} {i}"
            connection.execute(f"CREATE TYPE {codes} AS ENUM (FROM codes)")
        connection.execute("DROP TABLE codes")
    return texts
