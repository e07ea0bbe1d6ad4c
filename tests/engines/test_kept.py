"""Texts that are kept in another form, as the source stored numbers: every question finds what it finds of the texts."""

import random
from contextlib import nullcontext
from typing import Any

import pyarrow
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.engines.base import Data
from discreet.engines.duckdb import DuckDB
from discreet.engines.memory import MemoryEngine
from discreet.engines.render.cells import TextForm
from discreet.plan.scalar import Column, Type
from tests.engines.twins import SALT, arranged, by_group
from tests.plan import strategies as made
from tests.scale import repeats

COLUMNS = (Column("person", Type.TEXT), Column("ward", Type.TEXT), Column("code", Type.TEXT))
POOLS: dict[str, tuple[list[Any], Any]] = {
    "integers": ([0, 1, 7, -3, 2**53 + 1, -(2**63), 2**63 - 1, None], pyarrow.int64()),
    "small integers": ([0, 1, 7, 255, None], pyarrow.uint8()),
    "doubles": ([0.0, -0.0, 7.0, 0.1, -2.5, 1e-7, 1e15, 2.0**52, float("nan"), None], pyarrow.float64()),
}


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("pool", POOLS)
@settings(max_examples=repeats(6), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_a_question_finds_the_same_whatever_form_texts_are_kept_in(pool: str, large: bool, data: st.DataObject) -> None:
    values, kind = POOLS[pool]
    chance = random.Random(data.draw(st.integers(0, 2**32)))
    table = {column.name: chance.choices(values, k=chance.randint(0, 14)) for column in COLUMNS}
    rows = min(map(len, table.values()))
    table = {name: cells[:rows] for name, cells in table.items()}
    stored = pyarrow.table({name: pyarrow.array(cells, kind) for name, cells in table.items()})
    queries = data.draw(st.lists(made.queries("t", COLUMNS), min_size=3, max_size=3))
    with arranged() if large else nullcontext():
        engine = DuckDB([Data("t", stored, COLUMNS, person="person")], threads=1)
    with engine:
        if rows:
            assert set(engine._stored["t"].kept.values()) <= {TextForm.INTEGER, TextForm.DOUBLE}
            assert set(engine._stored["t"].kept) == {column.name for column in COLUMNS}
        slow = MemoryEngine([Data("t", table, COLUMNS, person="person")], engine.priorities)
        for query in queries:
            assert by_group(engine._run(query, SALT)) == by_group(slow.run(query, SALT)), (query, table)
