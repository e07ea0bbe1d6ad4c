"""Two engines on one query: what each found, in a form that can be compared; and the values of expressions, row by row."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from discreet.engines import duckdb as module
from discreet.engines.base import Data
from discreet.engines.duckdb import DuckDB
from discreet.engines.memory import MemoryEngine
from discreet.engines.render.duckdb import DUCKDB
from discreet.engines.render.nodes import alias, named, select, table
from discreet.engines.render.scalars import Made, ScalarWriter
from discreet.plan.relation import Found, Totals
from discreet.plan.scalar import Column, Scalar, Type, type_of

SALT = 0x9E3779B97F4A7C15

Group = tuple[Any, ...]


def by_group(found: Found) -> dict[Group, tuple[int, ...]]:
    """The totals of each group, each group once."""
    made = {group: tuple(int(total[i]) for total in found.totals) for i, group in enumerate(found.keys)}
    assert len(made) == len(found.keys)
    assert all(len(total) == len(found.keys) for total in found.totals)
    return made


def computed(
    data: Sequence[Data], query: Totals, salt: int = SALT, threads: int | None = 1
) -> dict[Group, tuple[int, ...]]:
    with DuckDB(data, threads=threads) as engine:
        return by_group(engine._run(query, salt))


@contextmanager
def arranged() -> Iterator[None]:
    """Small tables are arranged by person too, with codes for texts, and cut in slices of a few rows."""
    with patch.object(module, "ROWS_TO_ARRANGE", 1), patch.object(module, "ROWS_OF_A_SLICE", 2):
        yield


def agree(data: Sequence[Data], queries: Sequence[Totals], salt: int = SALT, threads: int | None = 1) -> None:
    """DuckDB and the slow engine find the same."""
    with DuckDB(data, threads=threads) as engine:
        slow = MemoryEngine(data, engine.priorities)
        for query in queries:
            assert by_group(engine._run(query, salt)) == by_group(slow.run(query, salt)), query


def rendered(engine: DuckDB, name: str, columns: Sequence[Column], scalars: Sequence[Scalar]) -> list[tuple[Any, ...]]:
    """The values of expressions on each row, in the order of the column `row`, as DuckDB computes them."""
    over = ScalarWriter({column.name: Made(named(column.name)) for column in columns}, DUCKDB)
    made = [alias(over.clean(scalar).sql, f"v{i}") for i, scalar in enumerate(scalars)]
    source = over.over(table(name))
    text = DUCKDB.text(select([named("row"), *made], source))
    rows = sorted(engine._connection.execute(text).fetchall())
    return [row[1:] for row in rows]


def said(value: Any, scalar: Scalar) -> Any:
    """A value with its type, in which both zeros are one."""
    if value is not None and type_of(scalar) is Type.NUMBER:
        assert isinstance(value, float) and not math.isnan(value)
    return (type(value).__name__, value)
