"""Data as they come: odd CSV files, frames of objects, files that are not what they say. No message shows a cell."""

import gzip
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import discreet.engines.duckdb as module
from discreet.engines.base import Data, Lost
from discreet.engines.columns import names_of, stored_types
from discreet.engines.duckdb import DuckDB
from discreet.engines.framing import PLAIN, Framing
from discreet.engines.memory import python_rows
from discreet.errors import Invalid
from discreet.plan.scalar import Column, Type

A, B = Column("a", Type.TEXT), Column("b", Type.TEXT)
CANARY = "canary-77"


def loaded(source: Any, *columns: Column, framing: Framing = PLAIN) -> list[tuple[Any, ...]]:
    with DuckDB([Data("t", source, columns or (A, B), framing)], threads=1) as engine:
        return sorted(engine._connection.execute("SELECT * FROM t").fetchall(), key=str)


def csv_file(folder: Path, content: bytes | str, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


GOOD: dict[str, tuple[bytes, list[tuple[str | None, str | None]]]] = {
    "plain": (b"a,b\n1,2\n3,4\n", [("1", "2"), ("3", "4")]),
    "line ends of Windows": (b"a,b\r\n1,2\r\n3,4\r\n", [("1", "2"), ("3", "4")]),
    "line ends of old": (b"a,b\r1,2\r3,4\r", [("1", "2"), ("3", "4")]),
    "no end of the last line": (b"a,b\n1,2", [("1", "2")]),
    "byte-order mark": (b"\xef\xbb\xbfa,b\n1,2\n", [("1", "2")]),
    "quotes": (b'"a","b"\n"x,y","q""r"\n', [("x,y", 'q"r')]),
    "quotes within": (b'a,b\n5" pipe,2\n "x",4\n', [('5" pipe', "2"), (' "x"', "4")]),
    "empty fields": (b'a,b\n,2\n"",4\n', [(None, "2"), (None, "4")]),
    "empty lines": (b"a,b\n\n1,2\n\n", [("1", "2")]),
    "words that mean nothing": (b"a,b\nNULL,nan\nNA,None\n", [("NA", "None"), ("NULL", "nan")]),
    "no rows": (b"a,b\n", []),
    "other bytes": (b"a,b\nM\xfcller,2\n3,4\n", [("M\ufffdller", "2"), ("3", "4")]),
    "beyond ASCII": ("a,b\né,🏥\n".encode(), [("é", "🏥")]),
    "a comment": (b"a,b\n#1,2\n", [("#1", "2")]),
    "spaces": (b"a,b\n 1 ,2 \n", [(" 1 ", "2 ")]),
    "more columns than are declared": (b"c,b,a\n0,2,1\n", [("1", "2")]),
}


@pytest.mark.parametrize("case", GOOD)
def test_odd_files_are_read_alike_by_both_engines(tmp_path: Path, case: str) -> None:
    content, rows = GOOD[case]
    path = csv_file(tmp_path, content)
    assert loaded(path) == sorted(rows, key=str)
    slow = [(row["a"], row["b"]) for row in python_rows(Data("t", path, (A, B)))]
    assert sorted(slow, key=str) == sorted(rows, key=str)


def test_an_odd_row_changes_no_other(tmp_path: Path) -> None:
    """Types are declared: a text among numbers is NULL, and the others stay."""
    rows = ["1", "x", "2.5", '""', "nan", "1e3", "12345678901234567890", " 7 "]
    path = csv_file(tmp_path, "a\n" + "\n".join(rows) + "\n")
    found = loaded(path, Column("a", Type.NUMBER))
    assert sorted(value for (value,) in found if value is not None) == [1.0, 2.5, 7.0, 1000.0, 12345678901234567890.0]
    assert len(found) == len(rows)
    assert len(python_rows(Data("t", path, (Column("a", Type.NUMBER),)))) == len(rows)


def test_many_rows_with_quotes_and_short_ones_are_all_read(tmp_path: Path) -> None:
    """More than one buffer of the reader."""
    lines = [f'"line\n{i}",{i}' if i % 7 else f"{i}" for i in range(60_000)]
    path = csv_file(tmp_path, "a,b\n" + "\n".join(lines) + "\n" + f'"{"x" * 3_000_000}",last\n')
    found = loaded(path, framing=Framing(multiline=True, ragged=True))
    assert len(found) == 60_001
    assert sum(b is None for _, b in found) == len(range(0, 60_000, 7))


def test_other_delimiters_packed_files_and_names_that_look_like_patterns(tmp_path: Path) -> None:
    assert loaded(csv_file(tmp_path, "a;b\n1;2,5\n"), framing=Framing(";")) == [("1", "2,5")]
    assert loaded(csv_file(tmp_path, "a\tb\n1\t2\n", "t.tsv"), framing=Framing("\t")) == [("1", "2")]
    assert loaded(csv_file(tmp_path, gzip.compress(b"a,b\n1,2\n"), "t.csv.gz")) == [("1", "2")]
    csv_file(tmp_path, "a,b\nwrong,file\n", "x1.csv")
    for name in ("x[1].csv", "x*.csv", "x?.csv", "it's.csv"):
        assert loaded(csv_file(tmp_path, "a,b\n1,2\n", name)) == [("1", "2")]
    with pytest.raises(Invalid, match="delimiter must be one character"):
        Framing(";;")


BAD: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "is empty"),
    "no name": (b"a,,c\n1,2,3\n", "column 2 of file 't.csv' has no name"),
    "two names": (f"{CANARY},b,{CANARY}\n".encode(), "columns 1 and 3 of file 't.csv' have the same name"),
    "two names in other case": (b"a,A\n1,2\n", "columns 1 and 2"),
    "other bytes in the header": (b"a,\xe9\n1,2\n", "not UTF-8"),
    "no header": (f"{CANARY},2\n3,4\n".encode(), "column 'a' is declared but not in the source"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_file_that_cannot_be_read_is_refused_without_a_cell(tmp_path: Path, case: str) -> None:
    content, message = BAD[case]
    with pytest.raises(Invalid, match=message) as caught:
        loaded(csv_file(tmp_path, content))
    assert CANARY not in str(caught.value) and caught.value.__cause__ is None


def test_files_that_are_not_there_or_not_what_they_say(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="there is no file"):
        loaded(tmp_path / "none.csv")
    with pytest.raises(Invalid, match="there is no file"):
        loaded("https://example.com/t.csv")
    with pytest.raises(Invalid, match=r"format of file .* is not known"):
        names_of(csv_file(tmp_path, "a,b\n", "t.xlsx"))
    for name in ("t.parquet", "t.duckdb"):
        path = csv_file(tmp_path, f"a,b\n{CANARY},2\n", name)
        for attempt in (names_of, loaded):
            with pytest.raises(Invalid) as caught:
                attempt(path)
            assert CANARY not in str(caught.value) and caught.value.__cause__ is None


def test_names_of_a_csv_come_without_types(tmp_path: Path) -> None:
    path = csv_file(tmp_path, b'\xef\xbb\xbfage,"the ward, ""A"""\n1,2\n')
    assert names_of(path) == ("age", 'the ward, "A"')
    assert names_of({"x": [1], "y": ["a"]}) == ("x", "y")
    for source in (path, {"x": [1]}):
        with pytest.raises(Invalid, match="has no stored types"):
            stored_types(source)


def test_a_database_of_several_tables_needs_a_name(tmp_path: Path) -> None:
    path = tmp_path / "t.duckdb"
    with module.duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE one AS SELECT 1 AS a, [1] AS list; CREATE TABLE two AS SELECT 'x' AS a")
    before = path.read_bytes()
    assert stored_types(path, table="two") == {"a": Type.TEXT}
    with pytest.raises(Invalid, match="holds 2 tables"):
        names_of(path)
    assert stored_types(path, table="one") == {"a": Type.INTEGER, "list": Type.TEXT}
    with DuckDB([Data("t", path, (Column("a", Type.INTEGER), Column("list", Type.TEXT)), table="one")]) as engine:
        assert engine._connection.execute("SELECT * FROM t").fetchall() == [(1, None)]
        assert engine.lost == (Lost("t", "list", Type.TEXT, 1),)
    assert path.read_bytes() == before


OBJECTS: list[Any] = [1, 2.5, Decimal("nan"), None, "7", "x", True, date(2024, 2, 29), Decimal("3.5"), 10**30]
LATE = datetime(2024, 2, 29, 23, 30, tzinfo=UTC)
CONVERTED: dict[Type, list[Any]] = {
    Type.INTEGER: [1, None, None, None, 7, None, 1, None, None, None],
    Type.NUMBER: [1.0, 2.5, None, None, 7.0, None, 1.0, None, 3.5, 1e30],
    Type.TEXT: ["1", "2.5", None, None, "7", "x", "true", "2024-02-29", "3.5", str(10**30)],
    Type.DATE: [None] * 7 + [date(2024, 2, 29), None, None],
    Type.TIMESTAMP: [None] * 7 + [datetime(2024, 2, 29), None, None],
    Type.BOOLEAN: [True] + [None] * 5 + [True, None, None, None],
}


@pytest.mark.parametrize("type", Type)
def test_objects_are_converted_one_by_one(type: Type) -> None:
    import pandas

    column = Column("x", type)
    wanted = sorted(((value,) for value in CONVERTED[type]), key=str)
    assert loaded({"x": OBJECTS}, column) == wanted
    assert loaded(pandas.DataFrame({"x": pandas.Series(OBJECTS, dtype=object)}), column) == wanted
    assert sorted(((row["x"],) for row in python_rows(Data("t", {"x": OBJECTS}, (column,)))), key=str) == wanted


def test_a_moment_is_the_day_in_utc() -> None:
    import pandas

    moments = [LATE, datetime(1969, 12, 31, 23, 59), None]
    assert loaded({"x": moments}, Column("x", Type.DATE)) == [(None,), (date(1969, 12, 31),), (date(2024, 2, 29),)]
    frame = pandas.DataFrame({"x": pandas.Series([LATE]).dt.tz_convert("Asia/Tokyo")})
    assert loaded(frame, Column("x", Type.DATE)) == [(date(2024, 2, 29),)]


def test_dates_outside_of_the_calendar_are_null(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    days = ("DATE '0001-01-01'", "DATE '9999-12-31'", "DATE '0001-01-01' - 1", "DATE '9999-12-31' + 1")
    with module.duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT unnest([{', '.join(days)}]) AS x) TO '{path}'")
    assert loaded(path, Column("x", Type.DATE)) == [(None,), (None,), (date(1, 1, 1),), (date(9999, 12, 31),)]


def test_frames_of_categories_codes_and_gaps() -> None:
    import pandas
    import polars

    frame = pandas.DataFrame({"a": pandas.Categorical(["x", None]), "b": pandas.array([1, None], dtype="Int64")})
    assert loaded(frame, A, Column("b", Type.INTEGER)) == [("x", 1), (None, None)]
    assert stored_types(frame) == {"a": Type.TEXT, "b": Type.INTEGER}
    other = polars.DataFrame({"a": polars.Series(["x", None], dtype=polars.Categorical), "b": [float("nan"), 2.0]})
    assert loaded(other, A, Column("b", Type.NUMBER)) == [("x", None), (None, 2.0)]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_columns_that_cannot_be_loaded_are_missing_everywhere_and_block_nothing(library: str) -> None:
    source = __import__(library)
    table = {"lists": [[1], [2]], "A": [1, 2], "a": [1, 2]}
    frame = source.table(table) if library == "pyarrow" else source.DataFrame(table)
    if library != "pandas":
        with pytest.raises(Invalid, match="two columns of the frame have the same name"):
            names_of(frame)
    some = frame.select(["lists", "A"]) if library != "pandas" else frame[["lists", "A"]]
    assert stored_types(some) == {"lists": Type.TEXT, "A": Type.INTEGER}
    for kind in Type:
        with DuckDB([Data("t", some, (Column("lists", kind), Column("A", Type.INTEGER)))]) as engine:
            assert sorted(engine._connection.execute("SELECT * FROM t").fetchall()) == [(None, 1), (None, 2)]
            assert engine.lost == (Lost("t", "lists", kind, 2),)


def test_what_is_no_source_is_refused() -> None:
    with pytest.raises(Invalid, match="cannot be loaded from a set"):
        loaded({1, 2})
    with pytest.raises(Invalid, match="not of one length"):
        loaded({"a": ["1"], "b": []})
    with pytest.raises(Invalid, match="declared but not in the source"):
        loaded({"a": ["1"]})
    with pytest.raises(Invalid, match="two columns of one name"):
        Data("t", {}, (A, Column("A", Type.TEXT)))


def test_too_many_rows_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ROWS", 2)
    assert len(loaded({"a": ["1", "2"], "b": ["1", "2"]})) == 2
    with pytest.raises(Invalid, match="too many rows"):
        loaded({"a": ["1", "2", "3"], "b": ["1", "2", "3"]})


def test_a_refused_table_leaves_no_folder_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module.tempfile, "tempdir", str(tmp_path))
    with pytest.raises(Invalid):
        loaded({"a": ["1"]})
    assert list(tmp_path.iterdir()) == []
