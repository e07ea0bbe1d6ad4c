"""DuckDB says what plain Python says: for every kind of expression and of query, on hostile values, however a table is kept."""

import random
from itertools import product
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.engines.base import Data
from discreet.engines.duckdb import DuckDB
from discreet.engines.render.duckdb import DUCKDB
from discreet.engines.render.nodes import named, select, table
from discreet.engines.render.scalars import Made, ScalarWriter
from discreet.plan import relation as r
from discreet.plan import scalar as s
from discreet.plan.casts import CASTS
from discreet.plan.evaluate import evaluate, evaluate_each
from discreet.plan.functions import FUNCTIONS
from discreet.plan.scalar import Column, Scalar, Type
from tests.engines.twins import agree, arranged, rendered, said
from tests.plan import strategies as made
from tests.scale import repeats

ROWS = 60
BATCH = 6  # expressions, or queries, on one table: a table costs more than they do
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
ONE = s.Literal(1, Type.INTEGER)
COUNT = r.Term(r.How.SUM, ONE)


def hostile_table() -> dict[str, list[Any]]:
    """Every hostile value beside others, and NULL in every column. Always the same."""
    chance = random.Random(7)
    pools: dict[Type, tuple[Any, ...]] = {
        Type.INTEGER: made.INTEGERS,
        Type.NUMBER: made.NUMBERS,
        Type.TEXT: made.TEXTS,
        Type.DATE: made.DAYS,
        Type.TIMESTAMP: made.MOMENTS,
        Type.BOOLEAN: (True, False),
    }
    table: dict[str, list[Any]] = {"row": list(range(ROWS))}
    for column in made.COLUMNS:
        pool = [*pools[column.type], None]
        values = [pool[i % len(pool)] for i in range(ROWS)]
        table[column.name] = chance.sample(values, ROWS)
    return table


HOSTILE = hostile_table()
WITH_ROW = (Column("row", Type.INTEGER), *made.COLUMNS)


@pytest.fixture(scope="module")
def engine() -> Any:
    with DuckDB([Data("hostile", HOSTILE, WITH_ROW)], threads=1) as engine:
        yield engine


def agrees_on(engine: DuckDB, scalars: list[Scalar]) -> None:
    rows = [dict(zip(HOSTILE, values, strict=True)) for values in zip(*HOSTILE.values(), strict=True)]
    found = rendered(engine, "hostile", WITH_ROW, scalars)
    for row, values in zip(rows, found, strict=True):
        for scalar, value in zip(scalars, values, strict=True):
            assert said(value, scalar) == said(evaluate(scalar, row), scalar), (scalar, row)


any_scalar = st.sampled_from(Type).flatmap(lambda type: made.scalars(type))


@settings(max_examples=repeats(300), suppress_health_check=SLOW)
@given(scalars=st.lists(any_scalar, min_size=BATCH, max_size=BATCH))
def test_every_expression_means_what_evaluate_says(engine: DuckDB, scalars: list[Scalar]) -> None:
    agrees_on(engine, scalars)


def each_kind() -> list[Scalar]:
    """Every operator, order, function and cast on plain columns of every fitting type."""
    of = {type: [column for column in made.COLUMNS if column.type is type] for type in Type}
    numeric = [*of[Type.INTEGER], *of[Type.NUMBER]]
    found: list[Scalar] = [s.Arithmetic(o, a, b) for o, a, b in product(s.Operator, numeric, numeric)]
    pairs = [*product(numeric, numeric), *(pair for type in Type for pair in product(of[type], of[type]))]
    found += [s.Comparison(order, a, b) for order, (a, b) in product(s.Order, pairs)]
    near = s.Literal(2**53, Type.INTEGER)  # which a double does not tell from the next
    found += [s.Comparison(order, of[Type.INTEGER][0], near) for order in s.Order]
    found += [s.Cast(of[given][0], wanted) for given, wanted in sorted(CASTS, key=str)]
    found += [s.Like(of[Type.TEXT][0], pattern, fold) for pattern, fold in product(made.PATTERNS, (False, True))]
    of_type = {**of, Type.NUMBER: numeric}
    for row in FUNCTIONS.values():
        found += [s.Function(row.name, operands) for operands in product(*(of_type[each] for each in row.takes))]
    grids = (
        (-3.0, 3.0, 0, 0.0),
        (0.0, 120.0, 3, 60.0),
        (-0.3, 0.7, 10, 0.2001953125),
        (0.0, float(2**24), 0, 2.0**23),
        (0.0, 1e9, -8, 0.0),
        (1.7e9, 1.7e9 + 3600, 12, 1.7e9 + 1800),
        (2.0**53, 2.0**53 + 1000, 0, 2.0**53 + 500),
        (-1e15, 1.0 - 1e15, 24, 0.5 - 1e15),
    )
    found += [s.Steps(column, *grid) for column, grid in product(numeric, grids)]
    factors = [s.Steps(column, *grid) for column, grid in product(numeric[:2], grids)]
    found += [s.Product(one, other, shift, 3) for one, other, shift in product(factors, factors[::5], (0, 24))]
    return found


def test_each_kind_of_expression_on_plain_columns(engine: DuckDB) -> None:
    agrees_on(engine, each_kind())


def values_of_a_list_are_those_of_each_row() -> None:
    kinds = [each for each in each_kind() if len(s.columns_in(each)) == 1]
    functions = [each for each in kinds if isinstance(each, s.Function)]
    nested = [s.Function("abs", (each,)) for each in functions if s.type_of(each).numeric]
    nested += [
        s.Function("append", (each, s.Literal("x", Type.TEXT))) for each in functions if s.type_of(each) is Type.TEXT
    ]
    assert len(functions) > 50 and len(nested) > 50
    for scalar in [*kinds, *nested]:
        (column,) = s.columns_in(scalar)
        values = HOSTILE[column.name]
        by_row = [evaluate(scalar, {column.place: value}) for value in values]
        assert list(map(repr, evaluate_each(scalar, column.place, values))) == list(map(repr, by_row)), scalar


def test_values_of_a_list_are_those_of_each_row() -> None:
    values_of_a_list_are_those_of_each_row()


def nested(depth: int) -> Scalar:
    """Each level is written once here, and needs the one below twice or more often in SQL."""
    found: Scalar = Column("x", Type.NUMBER)
    for level in range(depth):
        part = s.Arithmetic(s.Operator.DIVIDE, s.Literal(float(level + 1), Type.NUMBER), found)
        found = s.Coalesce((s.Cast(part, Type.INTEGER) if level % 9 == 8 else part, s.Literal(2.5, Type.NUMBER)))
    return found


def length(depth: int) -> int:
    over = ScalarWriter({"x": Made(named("x"))}, DUCKDB)
    value = over.clean(nested(depth))
    return len(DUCKDB.text(select([value.sql], over.over(table("hostile")))))


def test_deep_nesting_makes_no_long_text(engine: DuckDB) -> None:
    agrees_on(engine, [nested(10), nested(45)])
    assert length(40) < 2.2 * length(20) < 5 * length(10)


def agree_on_queries(data: st.DataObject) -> None:
    """Three queries to a table: 252 in all, and as many to tables that are arranged by person and cut in slices."""
    columns = data.draw(made.catalogs())
    table = data.draw(made.tables(columns))
    queries = data.draw(st.lists(made.queries("t", columns), min_size=3, max_size=3))
    agree([Data("t", table, columns, person=data.draw(st.sampled_from([None, "person"])))], queries)


@settings(max_examples=repeats(84), suppress_health_check=SLOW)
@given(data=st.data())
def test_every_query_finds_what_plain_python_finds(data: st.DataObject) -> None:
    agree_on_queries(data)


@settings(max_examples=repeats(84), suppress_health_check=SLOW)
@given(data=st.data())
def test_every_query_finds_the_same_in_an_arranged_table(data: st.DataObject) -> None:
    with arranged():
        agree_on_queries(data)


def test_names_of_columns_are_never_taken_for_our_own() -> None:
    """Columns that are named as what we compute, each used as another."""
    names = (
        "key0",
        "total0",
        "person",
        "rows",
        "priority",
        "mask",
        "last",
        "factor",
        "in_all",
        "number",
        "hash",
        "#0",
        "#priority",
        "#person",
    )
    chance = random.Random(3)
    types = dict.fromkeys(names, Type.INTEGER) | {"total0": Type.TEXT, "rows": Type.TEXT}
    columns = tuple(Column(name, type) for name, type in types.items())
    pool = {Type.INTEGER: (1, 2, 3, None), Type.TEXT: ("a", "b", 'c"d', None)}
    table = {name: chance.choices(pool[type], k=40) for name, type in types.items()}
    of = {column.name: column for column in columns}
    deep: Scalar = of["key0"]
    for _ in range(12):  # so that derived tables are needed
        deep = s.Coalesce((s.Arithmetic(s.Operator.DIVIDE, s.Literal(2.0, Type.NUMBER), deep), of["#0"]))
    source = r.Filter(
        r.Scan("t", columns), s.Not(s.Comparison(s.Order.EQUAL, of["person"], s.Literal(3, Type.INTEGER)))
    )
    terms = (
        COUNT,
        r.Term(r.How.SUM, s.Steps(deep, -8.0, 8.0, 2, 0.25)),
        r.Term(r.How.SUM, s.Steps(of["last"], 0.0, 3.0, 0, 0.0)),
    )
    for person in ("key0", "total0", "rows", "number"):
        people = r.Contributions(source, of[person], (of["total0"], of["person"]), terms)
        queries = [
            r.Totals(r.CapGroups(r.CapRows(people, 1), 2)),
            r.Totals(r.ClipNorm(r.CapRows(people, 2), (3, 9, 4))),
            r.Totals(r.CapTotal(r.CapGroups(r.CapRows(people, 2), 2), 3)),
            *(r.Totals(r.Exceeding(r.CapGroups(people, 2), extent, (0, 1, 2, 3))) for extent in r.Extent),
        ]
        queries.append(r.Totals(source, (of["rows"], of["priority"], of["hash"]), terms))
        agree([Data("t", table, columns, person=person)], queries)
        with arranged():
            agree([Data("t", table, columns, person=person)], queries)
