"""A long list of values is handed to an engine, and not written out: what is found is the same."""

from collections import deque
from collections.abc import Iterator
from datetime import date
from itertools import islice

import pytest

from discreet.engines.base import Data
from discreet.engines.duckdb import DuckDB
from discreet.engines.render import StoredTable, lists, text_of
from discreet.engines.render.duckdb import DUCKDB
from discreet.engines.render.words import Words
from discreet.plan import relation as r
from discreet.plan import scalar as s
from discreet.plan.scalar import Column, Type
from tests.engines.test_same import AGE, COLUMNS, COST, DAY, PERSON, SCAN, TERMS, WARD, WELL, rows
from tests.engines.twins import SALT, agree, arranged, by_group

SOME: tuple[tuple[Column, tuple[s.Value, ...]], ...] = (
    (WARD, ("A", "o'n", "", "nobody's", 'a "quoted" one', "Ä")),
    (AGE, (0, 64, 2**62, -5, 7)),
    (DAY, (date(1, 1, 1), date(9999, 12, 31), date(2020, 2, 29))),
    (WELL, (True,)),
    (COST, (0.1, 0.0, 1e308)),
)
"""Values of each type, some of which no row has; each leaves out some that rows have."""

HANDED = (Type.TEXT, Type.INTEGER, Type.DATE)


@pytest.fixture(autouse=True)
def short_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every list is a long one."""
    monkeypatch.setattr(lists, "LONG", 1)


def among(column: Column, values: tuple[s.Value, ...]) -> s.In:
    return s.In(column, tuple(s.Literal(value, column.type) for value in values))


def conditions() -> Iterator[s.Scalar]:
    """One list, one beside a missing value, two of them, and lists where they are no condition by themselves."""
    for column, values in SOME:
        known = among(column, values)
        yield known
        yield s.Or((s.IsNull(column), known))
        yield s.Not(known)
    ward, age = (among(*each) for each in SOME[:2])
    yield s.Or((ward, age))
    yield s.And((ward, age))
    yield s.Comparison(s.Order.EQUAL, ward, s.Literal(False, Type.BOOLEAN))
    # integers that meet numbers, and a list with a missing value, which is true of nothing else
    yield s.In(AGE, (s.Literal(64, Type.INTEGER), s.Literal(0.0, Type.NUMBER)))
    yield s.In(WARD, (s.Literal("A", Type.TEXT), s.Literal(None, Type.TEXT)))


def queries() -> Iterator[r.Totals]:
    for condition in conditions():
        source = r.Filter(SCAN, condition)
        yield r.Totals(source, (WARD,), TERMS[:3])
        people = r.Contributions(source, PERSON, (WARD, DAY), TERMS)
        yield r.Totals(r.CapGroups(r.CapRows(people, 2), 1))
    twice = r.Filter(r.Filter(SCAN, among(*SOME[0])), among(*SOME[1]))
    yield r.Totals(r.CapGroups(r.Contributions(twice, PERSON, (WARD,), TERMS), 1))
    yield r.Totals(twice, (WARD,), TERMS[:3])


def short_lists_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists, "LONG", 1)
    agree([Data("t", rows(100), COLUMNS, person="person")], [*islice(queries(), 4), *deque(queries(), 1)])


def test_a_list_that_is_handed_over_finds_what_the_slow_engine_finds() -> None:
    data = [Data("t", rows(300), COLUMNS, person="person")]
    agree(data, list(queries()))
    with arranged():
        agree(data, list(queries())[::3], threads=2)


def test_a_list_that_is_handed_over_finds_what_one_finds_that_is_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    with DuckDB([Data("t", rows(300, seed=2), COLUMNS, person="person")]) as engine:
        handed = [by_group(engine._run(query, SALT)) for query in queries()]
        monkeypatch.setattr(lists, "LONG", 10**9)
        assert handed == [by_group(engine._run(query, SALT)) for query in queries()]


def test_lists_are_handed_over_by_type_and_written_out_where_a_dialect_has_none() -> None:
    class Others(type(DUCKDB)):  # type: ignore[misc]
        in_list = Words.in_list

    for column, values in SOME:
        query = r.Totals(r.Filter(SCAN, among(column, values)), (WARD,), TERMS[:1])
        text = text_of(query, {"t": StoredTable("t")}, DUCKDB)
        assert list(map(list, text.lists.values())) == ([list(values)] if column.type in HANDED else [])
        assert text_of(query, {"t": StoredTable("t")}, Others()).lists == {}
