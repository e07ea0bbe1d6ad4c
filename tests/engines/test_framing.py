"""One record of a CSV file changes nobody else's, and a malformed file is refused with the number of its malformed lines."""

import csv
import gzip
import io
import os
import stat
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.engines import framing as slow
from discreet.engines.base import Data
from discreet.engines.duckdb import DuckDB, connect, opened
from discreet.engines.framing import MARK, PLAIN, Framing, first_line, header, records
from discreet.engines.lines import CHUNK, FileShape, judged, readable
from discreet.engines.memory import python_rows
from discreet.errors import Invalid
from discreet.plan.scalar import Column, Type
from tests.scale import repeats

CANARY = "canary-77"
MULTILINE, RAGGED, BOTH = Framing(multiline=True), Framing(ragged=True), Framing(multiline=True, ragged=True)
SIZES = (1, 2, 3, 7, CHUNK)

PIECES = [
    b"a",
    b",",
    b'"',
    b"\r",
    b"\n",
    b"\r\n",
    b"\0",
    b"\xe9",
    "é".encode(),
    b" ",
    b"\\",
    b"#",
    MARK,
    b"\xed\xa0\x80",
]
TAME = [each for each in PIECES if each not in (b",", b'"', b"\r", b"\n", b"\r\n")]
SOME = st.lists(st.sampled_from(PIECES), max_size=4).map(b"".join)
QUOTED = SOME.map(lambda cell: quoted(cell))
IN_A_LINE = st.lists(st.sampled_from([*TAME, b",", b'"']), max_size=4).map(lambda cell: quoted(b"".join(cell)))
CELLS = {
    "tame": st.lists(st.sampled_from(TAME), max_size=3).map(b"".join),
    "in a line": st.one_of(st.lists(st.sampled_from(TAME), max_size=3).map(b"".join), IN_A_LINE),
    "quoted": st.one_of(st.just(b"1"), QUOTED),
    "bare": st.sampled_from([b'5" pipe', b' "x"', b'a""', b"1", b'"x"']),
    "any": st.one_of(SOME, QUOTED),
}


def quoted(cell: bytes) -> bytes:
    return b'"' + cell.replace(b'"', b'""') + b'"'


@dataclass(frozen=True)
class File:
    """Bytes, and how they are to be read."""

    content: bytes
    framing: Framing


@st.composite
def files(draw: st.DrawFn) -> File:
    fields, end = draw(st.integers(1, 3)), draw(st.sampled_from([b"\n", b"\r\n", b"\r"]))
    cells = CELLS[draw(st.sampled_from(sorted(CELLS)))]
    names = [draw(st.sampled_from([b"x%d", b'"x,%d"', b'"x""%d"', b' "x%d'])) % i for i in range(fields)]
    lines = [b",".join(names)]
    uneven = draw(st.booleans())
    for _ in range(draw(st.integers(0, 6))):
        count = draw(st.integers(0, 4)) if uneven else fields
        lines.append(b",".join(draw(cells) for _ in range(count)))
    content = draw(st.sampled_from([b"", b"", MARK])) + end.join(lines) + draw(st.sampled_from([b"", end, end]))
    return File(content, draw(st.sampled_from([PLAIN, PLAIN, MULTILINE, RAGGED, BOTH])))


def put(folder: Path, content: bytes | str, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read(path: Path, framing: Framing = PLAIN) -> tuple[list[list[str | None]], str]:
    """The records, and the refusal at the end of them."""
    found: list[list[str | None]] = []
    try:
        for each in records(path, framing):
            found.append(each)
    except Invalid as error:
        assert error.code == "load"
        return found, str(error)
    return found, ""


def read_fast(path: Path, framing: Framing, size: int) -> tuple[int, str]:
    """The same of the fast reading: how many records, and the refusal."""
    fields, (first, end) = len(header(path, framing)), first_line(path, framing)
    rows = path.read_bytes().removeprefix(MARK)[len(first) + len(end) :]
    found = judged(io.BytesIO(rows), FileShape(framing, end, fields), size)
    return found.records, str(found.malformed.refusal(path, framing, fields)) if found.malformed else ""


def read_by_the_engine(path: Path, framing: Framing) -> list[list[str | None]]:
    with tempfile.TemporaryDirectory() as folder, connect(folder) as connection:
        with opened(connection, path, None, folder, framing) as found:
            columns = ", ".join(name for name, _ in found.columns.values())
            rows = [list(row) for row in connection.execute(f"SELECT {columns} FROM {found.relation}").fetchall()]
            assert len(rows) == found.rows
        assert os.listdir(folder) == []
    return rows


def each_file(examples: int, law: Callable[[Path, File], str]) -> None:
    """Runs a law over generated files, and checks that every kind that the law names has occurred."""
    seen: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:

        @settings(max_examples=examples, suppress_health_check=[HealthCheck.too_slow])
        @given(files())
        def run(file: File) -> None:
            path = put(Path(folder), file.content)
            try:
                header(path, file.framing)
            except Invalid:
                seen["names"] += 1
                return
            seen[law(path, file)] += 1

        run()
    for kind in ("names", "sound", "refused"):
        assert seen[kind] > examples // 40, seen


# What decides: a file, how it is read, how many records are found, and how many are malformed.
DECIDING: dict[str, tuple[bytes, Framing, int, int]] = {
    "an open quote": (b'a,b\n1,2\nV,"6\n3,4\n', PLAIN, 2, 1),
    "two open quotes": (b'a,b\n1,"2\n3,"4\n5,6\n', PLAIN, 1, 2),
    "two open quotes, closed": (b'a,b\n"1\n3",4\n5,6\n', PLAIN, 2, 1),
    "two open quotes, multiline": (b'a,b\n1,"2\n3,4"\n5,6\n', MULTILINE, 2, 0),
    "an open quote, multiline": (b'a,b\n1,2\nV,"6\n3,4\n', MULTILINE, 1, 1),
    "text after a quote": (b'a,b\n"1"x,2\n3,4\n', PLAIN, 1, 1),
    "a blank after a quote": (b'a,b\n"1" ,2\n3,4\n', PLAIN, 1, 1),
    "text after a quote, multiline": (b'a,b\n"1"x,2\n3,4\n', MULTILINE, 1, 1),
    "a bare quote": (b'a,b\n5" pipe,2\n3,"4"\n', PLAIN, 2, 0),
    "a bare quote, multiline": (b'a,b\n5" pipe,2\n3,"4"\n', MULTILINE, 1, 1),
    "a quote after a blank": (b'a,b\n "x,y",2\n3,4\n', PLAIN, 1, 1),
    "bare quotes of two lines": (b'a,b\nx",1\na","b\n"c",d\n', PLAIN, 2, 1),
    "a lone CR": (b"a,b\n1,2\rV,3\n4,5\n", PLAIN, 1, 1),
    "a lone CR in quotes": (b'a,b\n1,"2\r"\n4,5\n', PLAIN, 1, 1),
    "a lone CR in quotes, multiline": (b'a,b\n1,"2\r"\n4,5\n', MULTILINE, 2, 0),
    "a lone CR, multiline": (b"a,b\n1,2\rV\n4,5\n", MULTILINE, 1, 1),
    "a lone LF": (b"a,b\r\n1,2\n3,4\r\n5,6\r\n", PLAIN, 1, 1),
    "CR and LF apart": (b"a,b\r\n1,2\rx\n3,4\r\n5,6\r\n", PLAIN, 1, 1),
    "CR and LF apart at the end": (b"a,b\r\n1,2\rx\n", PLAIN, 0, 1),
    "CR and LF apart, multiline": (b"a\r\n1\rx\n", MULTILINE, 0, 1),
    "LF after CR": (b"a,b\r1,2\r\n3,4\r", PLAIN, 1, 1),
    "short and long": (b"a,b\n1\n2,3,4\n5,6\n", PLAIN, 1, 2),
    "short and long, in turns": (b"a,b\n1\n2,3,4\n1\n2,3,4\n", PLAIN, 0, 4),
    "short and long, ragged": (b"a,b\n1\n2,3,4\n5,6\n", RAGGED, 3, 0),
    "an open quote, ragged": (b'a,b\n1\n"2,3\n5,6\n', RAGGED, 2, 1),
    "a delimiter in quotes": (b'a,b\n"1,2",3\n"4"",",5\n', PLAIN, 2, 0),
    "blank lines": (b"a,b\n\n1,2\n\n\n3,4\n\n", PLAIN, 2, 0),
    "blank lines of one column": (b'a\n\n1\n\n""\n', PLAIN, 2, 0),
    "blank lines in quotes": (b'a\n"1\n\n2"\n3\n', MULTILINE, 2, 0),
    "a line end in every cell": (b'a\n"\n"\n"\n"\n', MULTILINE, 2, 0),
    "a line end in a name": (b'"a\nb",c\n1,2\n', MULTILINE, 1, 0),
    "no rows": (b"a,b", PLAIN, 0, 0),
    "only the quote": (b'a\n"', PLAIN, 0, 1),
    "bad bytes": (b"a,b\n\xe9,\xe2\x82\n1,2\n", PLAIN, 2, 0),
}


@pytest.mark.parametrize("case", DECIDING)
def test_what_is_a_record_and_what_is_malformed(tmp_path: Path, case: str) -> None:
    content, framing, sound, malformed = DECIDING[case]
    path = put(tmp_path, content)
    found, refusal = read(path, framing)
    assert len(found) == sound
    assert bool(refusal) == (malformed > 0) and refusal.startswith(str(malformed or ""))
    for size in SIZES:
        count, message = read_fast(path, framing, size)
        assert message == refusal, size
        assert refusal or count == sound, size
    if not refusal:
        assert read_by_the_engine(path, framing) == found


def fast_is_slow(path: Path, file: File) -> str:
    found, refusal = read(path, file.framing)
    for size in SIZES:
        count, message = read_fast(path, file.framing, size)
        assert message == refusal
        assert refusal or count == len(found)
    return "refused" if refusal else "sound"


def engine_is_slow(path: Path, file: File) -> str:
    found, refusal = read(path, file.framing)
    if not refusal:
        assert read_by_the_engine(path, file.framing) == found
        return "sound"
    with pytest.raises(Invalid) as caught:
        read_by_the_engine(path, file.framing)
    assert str(caught.value) == refusal
    return "refused"


def test_the_fast_reading_judges_as_the_slow_one() -> None:
    each_file(repeats(1500), fast_is_slow)


def test_the_fast_reading_judges_as_the_slow_one_where_lines_are_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slow, "LONGEST_LINE", 11)
    each_file(repeats(500), fast_is_slow)


def test_the_engine_reads_what_the_slow_reading_reads() -> None:
    each_file(repeats(150), engine_is_slow)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
TEXTS_OF_A_LINE = TEXTS.map(lambda text: text.replace("\r", "").replace("\n", ""))


def written(rows: list[list[str]], end: str) -> bytes:
    """As RFC 4180 writes records, with quotes where they are needed."""
    cells = [
        [f'"{each.replace(chr(34), chr(34) * 2)}"' if set(each) & set(',"\r\n') or not each else each for each in row]
        for row in rows
    ]
    return end.join(["a,b,c", *map(",".join, cells), ""]).encode()


@pytest.mark.parametrize(
    ("framing", "cells"), [(PLAIN, TEXTS_OF_A_LINE), (MULTILINE, TEXTS)], ids=["lines", "multiline"]
)
def test_one_record_changes_no_other(tmp_path: Path, framing: Framing, cells: st.SearchStrategy[str]) -> None:
    record = st.lists(cells, min_size=3, max_size=3)
    ends = st.sampled_from(["\n", "\r\n", "\r"])

    @settings(max_examples=repeats(200), suppress_health_check=[HealthCheck.too_slow])
    @given(st.lists(record, min_size=1, max_size=4), record, st.data(), ends)
    def run(rows: list[list[str]], other: list[str], data: st.DataObject, end: str) -> None:
        place = data.draw(st.integers(0, len(rows) - 1))
        neighbour = [*rows[:place], other, *rows[place + 1 :]]
        for each in (rows, neighbour):
            path = put(tmp_path, written(each, end))
            assert read(path, framing) == ([[cell or None for cell in row] for row in each], "")
            assert read_fast(path, framing, 5) == (len(each), "")

    run()


def test_a_stray_quote_deletes_nobody(tmp_path: Path) -> None:
    people = "".join(f"p{i},{i % 90}\n" for i in range(5000))
    assert len(read_by_the_engine(put(tmp_path, f"pid,x\n{people}"), PLAIN)) == 5000
    path = put(tmp_path, f'pid,x\nV,"6\n{people}')
    assert len(read(path)[0]) == 5000
    for framing, message in (
        (PLAIN, "1 line of file 't.csv' is not one record of 2 fields"),
        (MULTILINE, "1 record of"),
    ):
        with pytest.raises(Invalid, match=message):
            read_by_the_engine(path, framing)
    assert len(read_by_the_engine(put(tmp_path, f'pid,x\nV,6"\n{people}'), PLAIN)) == 5001


@pytest.mark.parametrize("row", ['500,"Big Joe,1', '500,"5\\" pipe",1'])
def test_an_unbalanced_quote_is_refused(tmp_path: Path, row: str) -> None:
    rows = [f"{i},name {i},1" for i in range(1000)]
    path = put(tmp_path, "\n".join(["id,name,x", *rows[:500], row, *rows[501:]]) + "\n")
    with pytest.raises(Invalid, match=r"1 line of file 't.csv' is not one record of 3 fields; add multiline = true"):
        read_by_the_engine(path, PLAIN)


def test_a_lone_carriage_return_makes_nobody_up(tmp_path: Path) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([["pid", "x"], *([f"p{i}", str(i)] for i in range(100))])
    writer.writerow(["V", "hi" + "".join(f"\rfake{i}" for i in range(1000))])
    path = put(tmp_path, text.getvalue())
    assert read(path)[1].startswith("1 line of file 't.csv' is not one record of 2 fields")
    with pytest.raises(Invalid, match="1 line of file"):
        read_by_the_engine(path, PLAIN)


def test_the_name_of_a_folder_is_no_column(tmp_path: Path) -> None:
    for name in ("c0=5", "pid=7"):
        folder = tmp_path / name
        folder.mkdir()
        path = put(folder, "pid,x\n" + "".join(f"{i},{i}\n" for i in range(10)), "visits.csv")
        assert read_by_the_engine(path, PLAIN) == [[str(i), str(i)] for i in range(10)]


@pytest.mark.parametrize("row", [3, 3000])
def test_no_byte_of_a_row_fails_a_load(tmp_path: Path, row: int) -> None:
    lines = [b"pid,name", *(b"%d,Mueller" % i for i in range(5000))]
    lines[row] = b"7,M\xfcller"
    path = put(tmp_path, b"\n".join(lines))
    assert header(path) == ["pid", "name"]
    found = read_by_the_engine(path, PLAIN)
    assert found == read(path)[0] and found[row - 1] == ["7", "M\ufffdller"] and len(found) == 5000


def test_a_line_that_is_too_long_is_malformed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slow, "LONGEST_LINE", 1 << 20)
    for framing in (PLAIN, MULTILINE, RAGGED):
        for cell in ("x" * (1 << 20), '"' + "x" * (1 << 20) + '"'):
            path = put(tmp_path, f"a,b\n1,2\n{cell},2\n3,4\n")
            assert read(path, framing)[0] == [["1", "2"], ["3", "4"]]
            with pytest.raises(Invalid, match=r"^1 "):
                read_by_the_engine(path, framing)


def test_long_lines_are_read(tmp_path: Path) -> None:
    path = put(tmp_path, f'a,b\n{"x" * 5_000_000},"{"y" * 5_000_000}"\n1,2\n')
    assert read_by_the_engine(path, PLAIN) == read(path)[0] == [["x" * 5_000_000, "y" * 5_000_000], ["1", "2"]]


@pytest.mark.parametrize(
    "encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le", "UTF8", "utf-8-sig", "shift_jis", "cp037"]
)
def test_other_encodings_are_declared(tmp_path: Path, encoding: str) -> None:
    name = "ＮＡＭＥ" if encoding == "shift_jis" else "größe"
    rows = [[name, "5|0"], ['say "x"', "\\|"]]
    text = f'{name}|b\r\n{name}|"5|0"\r\n"say ""x"""|\\\r\n'.replace("|\\", '|"\\|"')
    path, framing = put(tmp_path, text.encode(encoding)), Framing("|", encoding=encoding)
    assert header(path, framing) == [name, "b"]
    assert read(path, framing) == (rows, "")
    assert read_by_the_engine(path, framing) == rows
    packed = put(tmp_path, gzip.compress(text.encode(encoding)), "t.csv.gz")
    assert read_by_the_engine(packed, framing) == rows


def test_bytes_that_are_not_of_the_encoding_are_marked(tmp_path: Path) -> None:
    path, framing = put(tmp_path, b"a,b\n1,\x81\n3,4\n"), Framing(encoding="cp1252")
    assert read(path, framing)[0] == read_by_the_engine(path, framing) == [["1", "\ufffd"], ["3", "4"]]
    with pytest.raises(Invalid, match="not cp1252 text"):
        header(put(tmp_path, b"a,\x81\n1,2\n"), framing)


@pytest.mark.parametrize(
    "encoding", ["klingon", "base64", "hex", "undefined", "idna", "unicode_escape", "", "a\0b", None, 5]
)
def test_what_is_no_encoding_of_files_is_refused_by_name(encoding: object) -> None:
    with pytest.raises(Invalid, match="encoding must be one that text files have, got") as caught:
        Framing(encoding=encoding)  # type: ignore[arg-type]
    assert "latin-1" in caught.value.hint


def test_framings_are_checked() -> None:
    for delimiter in (";;", "", '"', "\n", "\0", "é", None):
        with pytest.raises(Invalid, match="delimiter must be one character"):
            Framing(delimiter)  # type: ignore[arg-type]
    with pytest.raises(Invalid, match="ragged must be true or false"):
        Framing(ragged="yes")  # type: ignore[arg-type]


def test_a_broken_gzip_is_refused(tmp_path: Path) -> None:
    whole = gzip.compress(b"a,b\n" + b"".join(b"%d,%s\n" % (i * i, CANARY.encode()) for i in range(100_000)))
    for content in (
        whole[:-9],
        whole[: len(whole) // 2],
        whole[:-6] + b"\0\0" + whole[-4:],
        b"a,b\n1,2\n",
        whole + b"x",
    ):
        path = put(tmp_path, content, "t.csv.gz")
        with pytest.raises(Invalid, match="is not whole as gzip") as caught:
            read_by_the_engine(path, PLAIN)
        assert caught.value.__context__ is None and CANARY not in variables(caught.value)


def test_names_come_from_the_first_record_alone(tmp_path: Path) -> None:
    for rest in (b"\xff\xfe\n", b'"\n', b"\r", b"\0" * 70_000, b""):
        assert header(put(tmp_path, b"a,b\n" + rest)) == ["a", "b"]
    for name, framing in ((b'"a,b\n1,2"\n', PLAIN), (b'"a"x,b\n', PLAIN), (b'a"x,b\n', MULTILINE)):
        with pytest.raises(Invalid, match=r"first line of file 't.csv' is not one record"):
            header(put(tmp_path, name), framing)


def variables(error: BaseException) -> str:
    """All that can be seen of our own functions from an error."""
    found, trace = [], error.__traceback__
    while trace is not None:
        if "discreet" in trace.tb_frame.f_globals["__name__"]:
            found.append(repr(trace.tb_frame.f_locals))
        trace = trace.tb_next
    return " ".join(found)


def test_a_refusal_holds_no_cell_and_both_ways_out(tmp_path: Path) -> None:
    bad = [f'{CANARY},"{CANARY}', f'"{CANARY}"{CANARY},1', f"{CANARY}", f"{CANARY}\r,2", f"{CANARY},2,3"]
    path = put(tmp_path, "\n".join(["a,b", *bad, "1,2"]) + "\n")
    for framing in (PLAIN, MULTILINE, RAGGED, BOTH):
        for attempt in (lambda each: list(records(path, each)), lambda each: read_by_the_engine(path, each)):
            with pytest.raises(Invalid) as caught:
                attempt(framing)
            assert CANARY not in str(caught.value) and caught.value.__context__ is None
            assert CANARY not in variables(caught.value)
            assert ("multiline = true (--multiline)" in caught.value.hint) == (not framing.multiline)
            assert ("ragged = true (--ragged)" in caught.value.hint) == (not framing.ragged)
    assert read(path)[1].startswith("5 lines of file 't.csv' are not one record of 2 fields each; add multiline")
    assert read(put(tmp_path, "a,b\n1\n"))[1].startswith(
        "1 line of file 't.csv' is not one record of 2 fields; add ragged"
    )


def test_copies_are_private_and_do_not_stay(tmp_path: Path) -> None:
    path = put(tmp_path, b'a,b\n5" pipe,\xe9\n')
    folder = tmp_path / "private"
    folder.mkdir()
    for framing, source in ((PLAIN, path), (Framing(encoding="latin-1"), path)):
        with readable(source, framing, str(folder)) as found:
            assert found.path != path and found.path.is_relative_to(folder)
            for each in found.path.parent.iterdir():
                assert stat.S_IMODE(each.stat().st_mode) == 0o600
        assert list(folder.iterdir()) == []
    with readable(put(tmp_path, b"a,b\n1,2\n"), PLAIN, str(folder)) as found:
        assert found.path == path


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import discreet.engines.duckdb as module

    path = put(tmp_path, "a,b\n1,2\n")
    sound = module._csv

    def changed(*arguments: object) -> object:
        put(tmp_path, "a,b\n1,2\n3,4\n")
        return sound(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "_csv", changed)
    with pytest.raises(Invalid, match="changed while it was read"):
        DuckDB([Data("t", path, (Column("a", Type.TEXT),))])


def test_both_engines_load_the_declared_framing(tmp_path: Path) -> None:
    path = put(tmp_path, 'a;b\n"1\n2"\n3;4;5\n')
    data = Data("t", path, (Column("a", Type.TEXT), Column("b", Type.TEXT)), Framing(";", multiline=True, ragged=True))
    assert [tuple(row.values()) for row in python_rows(data)] == [("1\n2", None), ("3", "4")]
    with DuckDB([data]) as engine:
        found = engine._connection.execute("SELECT a, b FROM t").fetchall()
    assert sorted(found) == [("1\n2", None), ("3", "4")]
