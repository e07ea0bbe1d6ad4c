"""The same rows give the same totals, bit by bit: in any order, on any number of threads, in any width, from any format."""

import random
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import discreet.engines.duckdb as module
from discreet.engines.base import Data
from discreet.engines.columns import stored_types
from discreet.engines.duckdb import DuckDB
from discreet.engines.render import relations
from discreet.engines.render.nodes import call
from discreet.plan import relation as r
from discreet.plan import scalar as s
from discreet.plan.evaluate import evaluate
from discreet.plan.scalar import Column, Type
from tests.engines.twins import SALT, agree, by_group, computed
from tests.scale import repeats

COLUMNS = (
    Column("person", Type.INTEGER),
    Column("ward", Type.TEXT),
    Column("cost", Type.NUMBER),
    Column("age", Type.INTEGER),
    Column("day", Type.DATE),
    Column("well", Type.BOOLEAN),
)
PERSON, WARD, COST, AGE, DAY, WELL = COLUMNS
SCAN = r.Scan("t", COLUMNS)
TERMS = (
    r.Term(r.How.SUM, s.Literal(1, Type.INTEGER)),
    r.Term(r.How.SUM, s.Steps(COST, 0.0, 1000.0, 10, 500.0)),
    r.Term(r.How.SUM, s.Steps(AGE, 0.0, 120.0, 0, 60.0)),
    r.Term(r.How.ANY, s.Indicator(WELL)),
)
PEOPLE = r.Contributions(SCAN, PERSON, (WARD, DAY), TERMS)
QUERIES = (
    r.Totals(SCAN, (WARD, WELL), TERMS),
    r.Totals(r.CapGroups(r.CapRows(PEOPLE, 2), 3)),
    r.Totals(r.ClipNorm(r.CapRows(PEOPLE, 2), (3, 10**6, 60, 2))),
    r.Totals(r.CapTotal(r.CapGroups(r.CapRows(PEOPLE, 2), 3), 4)),
    r.Totals(r.CapTotal(PEOPLE, 3)),
    r.Totals(r.ClipNorm(PEOPLE, (3, 10**6, 60, 2))),
    *(r.Totals(r.Exceeding(r.CapGroups(r.CapRows(PEOPLE, 2), 3), extent, (0, 1, 2, 4))) for extent in r.Extent),
)


def rows(n: int, seed: int = 1) -> dict[str, list[Any]]:
    chance = random.Random(seed)
    made: dict[str, list[Any]] = {
        "person": [chance.choice([None, *range(n // 8 + 1)]) for _ in range(n)],
        "ward": chance.choices(["A", "B", "Ä", "o'n", "", None], k=n),
        "cost": [chance.choice([chance.uniform(-10, 2000), 0.1, 1e308, -0.0, None]) for _ in range(n)],
        "age": chance.choices([0, 17, 64, 121, 2**62, -5, None], k=n),
        "day": chance.choices([date(1, 1, 1), date(1969, 12, 31), date(9999, 12, 31), None], k=n),
        "well": chance.choices([True, False, None], k=n),
    }
    return made


def shuffled(table: dict[str, list[Any]], seed: int) -> dict[str, list[Any]]:
    order = list(range(len(next(iter(table.values())))))
    random.Random(seed).shuffle(order)
    return {name: [values[i] for i in order] for name, values in table.items()}


def all_of(data: Data, threads: int = 1) -> list[dict[Any, Any]]:
    with DuckDB([data], threads=threads) as engine:
        return [by_group(engine._run(query, SALT)) for query in QUERIES]


def test_the_order_of_rows_and_the_number_of_threads_do_not_matter() -> None:
    """Enough rows for several threads; arranged and not."""
    import pyarrow

    def data(table: dict[str, list[Any]], person: str | None) -> Data:
        return Data("t", pyarrow.table(table), COLUMNS, person=person)

    n = 300_000
    table = {name: values * (n // 3000) for name, values in rows(3000).items()}
    table["person"] = [None if person is None else person + i // 30 for i, person in enumerate(table["person"])]
    first = all_of(data(table, "person"), 1)
    assert all_of(data(shuffled(table, 1), "person"), 2) == first
    assert all_of(data(shuffled(table, 2), None), 2) == first


def test_a_table_agrees_with_plain_python() -> None:
    agree([Data("t", rows(400), COLUMNS)], QUERIES)


def test_the_width_of_floats_and_integers_does_not_matter() -> None:
    import numpy as np
    import pandas

    chance = random.Random(5)
    values = [chance.choice([0.1, 3.25, -7.0, 1e30, float("inf"), float("nan")]) for _ in range(300)]
    narrow = np.array(values, dtype="float32")
    ages = np.array(chance.choices(range(-100, 100), k=300), dtype="int8")
    query = r.Totals(r.Scan("t", (COST, AGE)), (), TERMS[1:3])
    found = [
        computed([Data("t", pandas.DataFrame({"cost": cost, "age": age}), (COST, AGE))], query)
        for cost in (narrow, narrow.astype("float64"))
        for age in (ages, ages.astype("int64"), ages.astype("float32"))
    ]
    assert all(each == found[0] for each in found)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, dict[str, list[Any]]]]:
    yield tmp_path_factory.mktemp("formats"), rows(200, 9)


def as_dict(table: dict[str, list[Any]], folder: Path) -> Any:
    return table


def as_csv(table: dict[str, list[Any]], folder: Path) -> Any:
    import csv

    path = folder / "t.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
    return path


def as_pandas(table: dict[str, list[Any]], folder: Path) -> Any:
    import pandas

    return pandas.DataFrame(table)


def as_polars(table: dict[str, list[Any]], folder: Path) -> Any:
    import polars

    return polars.DataFrame(table)


def as_arrow(table: dict[str, list[Any]], folder: Path) -> Any:
    import pyarrow

    return pyarrow.table(table)


def as_parquet(table: dict[str, list[Any]], folder: Path) -> Any:
    import pyarrow.parquet

    pyarrow.parquet.write_table(as_arrow(table, folder), folder / "t.parquet")
    return str(folder / "t.parquet")


def as_database(table: dict[str, list[Any]], folder: Path) -> Any:
    import duckdb

    frame = as_arrow(table, folder)
    path = folder / "t.duckdb"
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as connection:
        connection.register("frame", frame)
        connection.execute("CREATE TABLE t AS SELECT * FROM frame")
        connection.execute("CREATE TABLE other AS SELECT 1 AS one")
    return path


@pytest.mark.parametrize("form", [as_csv, as_pandas, as_polars, as_arrow, as_parquet, as_database])
def test_the_format_does_not_matter(written: Any, form: Callable[[Any, Path], Any]) -> None:
    folder, table = written
    plain = {**table, "cost": [cost if cost != 1e308 else 1e8 for cost in table["cost"]]}
    plain["ward"] = [ward or None for ward in plain["ward"]]  # a CSV file has no empty text
    plain["cost"] = [None if cost is None else round(cost, 3) for cost in plain["cost"]]
    plain["age"] = [10**15 if age == 2**62 else age for age in plain["age"]]  # within 18 digits, and within a float
    assert all_of(Data("t", form(plain, folder), COLUMNS, table="t")) == all_of(Data("t", plain, COLUMNS))


@pytest.mark.parametrize("form", [as_pandas, as_polars, as_arrow, as_parquet, as_database])
def test_types_are_told_without_reading_rows(written: Any, form: Callable[[Any, Path], Any]) -> None:
    folder, table = written
    found = stored_types(form(table, folder), table="t")
    wanted = {column.name: column.type for column in COLUMNS}
    if form is as_pandas:  # where integers with gaps are floats, and the rest are objects
        wanted |= {"person": Type.NUMBER, "age": Type.NUMBER, "day": Type.TEXT, "well": Type.TEXT}
    assert found == wanted


INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
EXTREMES = {
    **{name: 2 ** (8 * 2**i - 1) - 1 for i, name in enumerate(INTEGERS)},
    **{f"U{name}": 2 ** (8 * 2**i) - 1 for i, name in enumerate(INTEGERS)},
    "DECIMAL(4,1)": "999.9",
    "DECIMAL(9,2)": "9999999.99",
    "DECIMAL(18,3)": "999999999999999.999",
    "DECIMAL(38,5)": "9" * 33 + "." + "9" * 5,
    "FLOAT": "3.4028235e38",
    "DOUBLE": "1.7976931348623157e308",
}


@pytest.mark.parametrize(("type", "largest"), EXTREMES.items())
@pytest.mark.parametrize("declared", [Type.INTEGER, Type.NUMBER])
def test_no_sum_of_the_largest_values_of_any_type_overflows(
    tmp_path: Path, type: str, largest: Any, declared: Type
) -> None:
    """Exact, or no value at all where 64 bits do not hold it; never an error of the engine."""
    import duckdb

    n = repeats(20_000)
    path = tmp_path / "t.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT CAST('{largest}' AS {type}) AS x FROM range({n})) TO '{path}'")
    column = Column("x", declared)
    with DuckDB([Data("t", path, (column,))]) as engine:
        held = engine._connection.execute("SELECT any_value(x) FROM t").fetchone()[0]
        terms = [
            s.Steps(column, low, high, shift, 0.0)
            for low, high, shift in ((0.0, 2.0**24, 0), (-1.0, 1.0, 24), (0.0, 1e15, -26))
        ]
        query = r.Totals(r.Scan("t", (column,)), (), tuple(r.Term(r.How.SUM, term) for term in terms))
        found = by_group(engine.run(query, SALT))[()]
    wanted = tuple(n * (evaluate(term, {"x": held}) or 0) for term in terms)
    assert found == wanted
    assert declared is Type.INTEGER or held is not None


def test_what_is_not_64_bit_integers_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relations, "_total", lambda made, how="sum": call(how, made))
    query = r.Totals(r.Scan("t", (AGE,)), (), (TERMS[2],))
    with DuckDB([Data("t", {"age": [2**40]}, (AGE,))]) as engine, pytest.raises(module.Fault) as caught:
        engine.run(query, SALT)
    assert caught.value.code == "engine" and caught.value.__cause__ is None
