"""Every line of the tables of docs/sql.md holds: what an expression is here, by both engines, and what DuckDB says by itself."""

import math
import re
from datetime import date, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from discreet.engines.base import Data
from discreet.engines.duckdb import DuckDB
from discreet.errors import QueryError
from discreet.plan import relation as r
from discreet.plan import scalar as s
from discreet.plan.catalog import Catalog, Column, Protected, Table
from discreet.plan.evaluate import evaluate
from discreet.plan.scalar import Scalar, Type
from discreet.plan.sql import question

PAGE = (Path(__file__).parent.parent.parent / "docs" / "sql.md").read_text("utf-8")
WORDS: dict[str, Any] = {"NULL": None, "true": True, "false": False, "inf": math.inf}


def cells(header: str) -> list[list[str]]:
    """The lines of all tables with this header."""
    found, inside = [], False
    for line in PAGE.splitlines():
        if not line.startswith("|"):
            inside = False
        elif line.startswith(f"| {header} |"):
            inside = True
        elif inside and not line.startswith("|---"):
            found.append([cell.strip().strip("`") for cell in line.strip("|").split("|")])
    return found


def value(said: str) -> Any:
    if said in WORDS:
        return WORDS[said]
    if day := re.fullmatch(r"DATE '(.*)'", said):
        return date.fromisoformat(day[1])
    if moment := re.fullmatch(r"TIMESTAMP '(.*)'", said):
        return datetime.fromisoformat(moment[1])
    if said.startswith("'"):
        return said[1:-1]
    return float(said) if re.search(r"[.e]", said) else int(said)


COLUMNS = [(name, Type(kind), native, value(said)) for name, kind, native, said in cells("column")]
LINES = [(line[0], line[1], line[2]) for line in cells("expression")]
ROW = {name: found for name, _, _, found in COLUMNS}
NODES = tuple(s.Column(name, kind) for name, kind, _, _ in COLUMNS)
CATALOG = Catalog((Table("t", tuple(Column(name, kind) for name, kind, _, _ in COLUMNS)),), Protected())


def scalar(text: str) -> Scalar:
    (counted,) = question(f"SELECT COUNT(*) FILTER (WHERE ({text}) IS NULL) FROM t", CATALOG).aggregates
    assert isinstance(counted.condition, s.IsNull)
    return counted.condition.operand


def same(found: Any, said: str) -> bool:
    expected = value(said)
    if expected is None or found is None:
        return found is expected
    return isinstance(found, bool) is isinstance(expected, bool) and found == expected


def test_the_page_has_its_tables() -> None:
    assert len(COLUMNS) == 13 and len(LINES) > 40


@pytest.fixture(scope="module")
def plain() -> Any:
    """DuckDB by itself, with its own types."""
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t ({', '.join(f'{name} {native}' for name, _, native, _ in COLUMNS)})")
        connection.execute(f"INSERT INTO t VALUES ({', '.join('?' for _ in COLUMNS)})", list(ROW.values()))
        yield connection


@pytest.fixture(scope="module")
def engine() -> Any:
    with DuckDB([Data("t", {name: [found] for name, found in ROW.items()}, NODES)], threads=1) as made:
        yield made


@pytest.mark.parametrize(("text", "here"), [line[:2] for line in LINES], ids=[line[0] for line in LINES])
def test_an_expression_is_here_what_the_page_says(engine: DuckDB, text: str, here: str) -> None:
    if here == "refused":
        with pytest.raises(QueryError):
            scalar(text)
        return
    found = scalar(text)
    assert same(evaluate(found, ROW), here)
    equal = s.IsNull(found) if here == "NULL" else s.Comparison(s.Order.EQUAL, found, constant(here, found))
    one = r.Term(r.How.SUM, s.Indicator(equal))
    (total,) = engine.run(r.Totals(r.Scan("t", NODES), (), (one,)), 1).totals[0]
    assert total == 1, "the engine disagrees"


def constant(said: str, beside: Scalar) -> s.Literal:
    kind, found = s.type_of(beside), value(said)
    return s.Literal(float(found) if kind is Type.NUMBER else found, kind)


@pytest.mark.parametrize(("text", "there"), [(line[0], line[2]) for line in LINES], ids=[line[0] for line in LINES])
def test_an_expression_is_in_duckdb_what_the_page_says(plain: Any, text: str, there: str) -> None:
    if there == "error":
        with pytest.raises(duckdb.Error):
            plain.execute(f"SELECT {text} FROM t").fetchall()
        return
    found = plain.execute(f"SELECT {text} FROM t").fetchone()[0]
    assert math.isnan(found) if there == "nan" else same(found, there)
