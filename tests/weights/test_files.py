"""Files of synthetic data: what is written reads back as it was, and a file is there whole or not at all."""

import csv
import io
import os
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import duckdb
import numpy as np
import polars
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.cells import Attribute, Categorical
from discreet.errors import Invalid
from discreet.noise import Tape
from discreet.weights import comma_separated, parquet
from discreet.weights.columns import column_of
from discreet.weights.synthetic_data import SyntheticData
from discreet.whole_file import whole_file
from tests.weights.synthesis import KINDS, attributes

Row = dict[str, Any]


def drawn(kinds: "tuple[Attribute, ...] | list[Attribute]", rows: int) -> SyntheticData:
    """Rows that are in all cells, in turn."""
    codes = [(np.arange(rows) * (axis + 1)) % each.size for axis, each in enumerate(kinds)]
    return SyntheticData(tuple(column_of(each, code, Tape(1)) for each, code in zip(kinds, codes, strict=True)), rows)


def named(kinds: list[Attribute]) -> list[Attribute]:
    """The attributes, each with a name of its own."""
    return [replace(each, name=f"{place}, x") for place, each in enumerate(kinds)]


def read_csv(text: str) -> list[list[str | None]]:
    """The records of a CSV in the plainest way, with None for an empty field without quotes."""
    records: list[list[str | None]] = [[]]
    at = 0
    while at < len(text):
        if text[at] == '"':
            end = at + 1
            while text[end] != '"' or text[end : end + 2] == '""':
                end += 2 if text[end] == '"' else 1
            records[-1].append(text[at + 1 : end].replace('""', '"'))
            at = end + 1
        else:
            end = min(place for sign in (",", "\r\n") if (place := text.find(sign, at)) >= 0)
            records[-1].append(text[at:end] or None)
            at = end
        if text[at] == ",":
            at += 1
            if text[at : at + 2] == "\r\n":
                records[-1].append(None)
        if text[at : at + 2] == "\r\n":
            at += 2
            records.append([])
    return records[:-1]


def written(value: Any) -> str | None:
    """A value as text has it."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, int | float) else value.isoformat()  # type: ignore[no-any-return]


def csv_reads_back(data: SyntheticData) -> None:
    """Every field is the value that it was; of one column alone nothing and an empty text are both an empty field in quotes."""
    head, *records = read_csv(data.to_csv())
    assert head == [column.name for column in data.columns]
    rows = [list(map(written, row.values())) for row in data.to_dicts()]
    assert records == ([[each or "" for each in row] for row in rows] if len(data.columns) == 1 else rows)
    fields = [[each or "" for each in row] for row in rows]
    assert list(csv.reader(io.StringIO(data.to_csv(), newline=""), strict=True)) == [head, *fields]


@given(st.lists(attributes(), min_size=1, max_size=3), st.integers(0, 12))
@settings(max_examples=60)
def test_any_csv_reads_back_as_it_was(kinds: list[Attribute], rows: int) -> None:
    csv_reads_back(drawn(named(kinds), rows))


def every_kind_reads_back_from_csv() -> None:
    with mock.patch.object(comma_separated, "ROWS", 7):
        csv_reads_back(drawn(KINDS, 40))
        csv_reads_back(drawn(KINDS[:1], 10))


def test_every_kind_reads_back_from_csv() -> None:
    every_kind_reads_back_from_csv()


def read_parquet(path: Path) -> list[list[Row]]:
    """The rows as each of three readers has them; what one of them cannot read fails."""
    try:
        found = duckdb.sql(f"SELECT * FROM '{path}'")
        by_name = [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]
        return [by_name, pyarrow.parquet.read_table(path).to_pylist(), polars.read_parquet(path).to_dicts()]
    except (duckdb.Error, OSError, polars.exceptions.PolarsError) as error:
        pytest.fail(f"{type(error).__name__}: {error}")


def every_kind_reads_back_from_parquet() -> None:
    """Values and their types, in one group of rows and in several, where the last is short; and of nobody."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        for rows, group in ((0, 8), (40, 1 << 18), (40, 7)):
            data = drawn(KINDS, rows)
            with mock.patch.object(parquet, "ROWS", group):
                data.to_parquet(path)
            for found in read_parquet(path):
                assert found == data.to_dicts()
                assert [list(map(type, row.values())) for row in found] == [
                    list(map(type, row.values())) for row in data.to_dicts()
                ]


def test_every_kind_reads_back_from_parquet() -> None:
    every_kind_reads_back_from_parquet()


@given(st.lists(attributes(), min_size=1, max_size=3), st.integers(0, 20))
@settings(max_examples=25)
def test_any_parquet_file_reads_back_as_it_was(kinds: list[Attribute], rows: int) -> None:
    data = drawn(named(kinds), rows)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        data.to_parquet(path)
        for found in read_parquet(path)[1:]:
            assert found == data.to_dicts()


def test_many_columns_and_many_words_are_written(tmp_path: Path) -> None:
    """Lists of fifteen and more are written in another way, and places of more bits."""
    kinds = tuple(Categorical(f"c{i}", tuple(f"w{j}" for j in range(i * i + 1))) for i in range(20))
    data = drawn(kinds, 500)
    data.to_parquet(tmp_path / "wide.parquet")
    for found in read_parquet(tmp_path / "wide.parquet"):
        assert found == data.to_dicts()


def every_length_of_list_reads_back() -> None:
    """Fourteen columns, fifteen and sixteen: the root of a schema is one more."""
    with TemporaryDirectory() as folder:
        for count in (13, 14, 15, 16):
            data = drawn(tuple(replace(KINDS[1], name=f"c{i}") for i in range(count)), 3)
            data.to_parquet(Path(folder) / "rows.parquet")
            for found in read_parquet(Path(folder) / "rows.parquet"):
                assert found == data.to_dicts()


def test_every_length_of_list_reads_back() -> None:
    every_length_of_list_reads_back()


def a_file_is_whole_or_not_there(folder: Path) -> None:
    path = folder / "rows.csv"
    with pytest.raises(KeyError), whole_file(path) as file:
        file.write(b"half")
        raise KeyError
    assert list(folder.iterdir()) == []
    with whole_file(path) as file:
        file.write(b"old")
        assert not path.exists()
    with pytest.raises(KeyError), whole_file(path) as file:
        file.write(b"half")
        raise KeyError
    assert path.read_bytes() == b"old" and list(folder.iterdir()) == [path]


def test_a_file_is_whole_or_not_there(tmp_path: Path) -> None:
    a_file_is_whole_or_not_there(tmp_path)


def test_a_file_is_for_whom_new_files_are(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        drawn(KINDS, 3).to_csv(tmp_path / "rows.csv")
    finally:
        os.umask(before)
    assert (tmp_path / "rows.csv").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("name", ["nowhere/rows.csv", "."])
def test_what_cannot_be_written_is_said(name: str, tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="cannot be written") as caught:
        drawn(KINDS, 3).to_csv(tmp_path / name)
    assert caught.value.code == "out" and not [each for each in tmp_path.iterdir() if each.is_file()]
