"""The law: what programs write for a value, and files that they make, come back as that value where the column is declared."""

from pathlib import Path
from random import Random
from typing import Any

import pytest

from discreet.engines.base import Data
from discreet.engines.duckdb import DuckDB
from discreet.engines.memory import python_rows
from discreet.plan.casts import convert
from discreet.plan.scalar import Column, Type
from tests.laws.written import COLUMNS, FORMS, NOTHING, WRITERS, differing, rows, says, wanted, with_csv
from tests.scale import repeats

VALUES = 5_000  # of each type
ROWS = 150  # of each file
DECLARED = (Column("row", Type.INTEGER), *(Column(name, type) for name, type in COLUMNS.items()))


def loaded(path: Path, *columns: Column) -> list[tuple[Any, ...]]:
    """The rows of a file in the order of their first column, by the engine."""
    with DuckDB([Data("t", path, columns)], threads=1) as engine:
        return list(engine._connection.execute("SELECT * FROM t ORDER BY 1").fetchall())


def read(path: Path, *columns: Column) -> list[tuple[Any, ...]]:
    """The same by plain Python."""
    found = [tuple(row[column.name] for column in columns) for row in python_rows(Data("t", path, columns))]
    return sorted(found, key=lambda row: row[0])


def written(type: Type, count: int) -> list[tuple[str, str]]:
    """Values of a type in all their forms, in turn: the name of the form, and the text."""
    make, forms = FORMS[type]
    random, names = Random(f"written {type.value}"), list(forms)
    return [(name, forms[name](make(random), random)) for name in (names[i % len(names)] for i in range(count))]


@pytest.mark.parametrize("type", FORMS)
def test_a_text_says_its_value(type: Type) -> None:
    wrong = []
    for name, text in written(type, repeats(VALUES)):
        found, expected = convert(text, Type.TEXT, type), says(text, type)
        if found != expected or (found is None) is not (expected is None):
            wrong.append(f"{name}: {text!r} is {found!r} instead of {expected!r}")
    assert not wrong, f"{len(wrong)} of {repeats(VALUES)}: " + "\n".join(wrong[:10])


@pytest.mark.parametrize("type", FORMS)
def test_what_says_no_value_is_null(type: Type) -> None:
    found = {text: convert(text, Type.TEXT, type) for text in NOTHING[type]}
    assert {text: value for text, value in found.items() if value is not None} == {}


@pytest.mark.parametrize("type", FORMS)
def test_the_engine_reads_texts_as_plain_python_does(type: Type, tmp_path: Path) -> None:
    """Of those that say a value, and of those that say none."""
    nothing = [text for text in NOTHING[type] if "\0" not in text and "\x0b" not in text and "\x0c" not in text]
    texts = [text for _, text in written(type, repeats(600))] + nothing
    expected = [(i, convert(text, Type.TEXT, type)) for i, text in enumerate(texts)]
    path, columns = tmp_path / "t.csv", (Column("row", Type.INTEGER), Column("x", type))
    with_csv({"row": list(range(len(texts))), "x": texts}, path)
    assert differing(loaded(path, *columns), expected) == []
    assert differing(read(path, *columns), expected) == []
    assert (
        differing([(i, says(text, type)) for i, text in enumerate(texts[: -len(nothing)])], expected[: -len(nothing)])
        == []
    )


@pytest.mark.parametrize("name", WRITERS)
def test_a_written_file_comes_back(name: str, tmp_path: Path) -> None:
    writer, path = WRITERS[name], tmp_path / "t.csv"
    for turn in range(repeats(1)):
        given = writer.given(rows(Random(f"rows {name} {turn}"), ROWS))
        writer.write(given, path)
        expected = wanted(writer, given)
        assert differing(loaded(path, *DECLARED), expected) == []
        assert differing(read(path, *DECLARED), expected) == []


def test_every_writer_writes_what_is_missing() -> None:
    """And cells of every type, so that none passes by writing nothing."""
    for name, writer in WRITERS.items():
        given = writer.given(rows(Random(f"rows {name} 0"), ROWS))
        for column in COLUMNS:
            there = sum(value is not None for value in given[column])
            assert there > ROWS / 2, (name, column)
            assert there < ROWS or (column == "words" and name in ("R", "pandas, na_rep")), (name, column)
