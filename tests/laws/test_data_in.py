"""What broke when the door was attacked, each as it was found: the law behind it is held by the other tests of this folder."""

import csv
import datetime as dt
import io
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from uuid import UUID

import duckdb
import numpy
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

from discreet.curator.session import Curator
from discreet.errors import Fault, Invalid, QueryError
from tests.rehearsed import without_noise

# the laws open one file again and again, each time with a budget of its own
pytestmark = pytest.mark.filterwarnings("ignore:a new budget begins")

COUNT = "SELECT COUNT(*) AS n FROM t"
BASE = "pid,age,smoker,dept\n" + "".join(f"{i},{20 + i % 50},{i % 3 > 0},{i % 3}\n" for i in range(200))
VICTIM = "900,,,\n"


EARLY = dt.datetime(1, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=14)))
WIDE_IDS: tuple[Any, int] = (pyarrow.array([2**63 + i for i in range(1000)], pyarrow.uint64()), 1000)


def counted(source: Any, text: str = COUNT, **said: Any) -> Any:
    """The exact number that an answer is about, or of each group its number."""
    unit, columns = said.pop("unit", "pid"), said.pop("columns", None)
    with without_noise(
        Curator({"t": source}, unit, columns, epsilon=10**5, ledger=":memory:", max_rows=1000, max_groups=50, **said)
    ) as curator:
        rows = curator.sql(text, epsilon=10**5).rows
    return rows[0][-1] if len(rows) == 1 else {row[0]: row[-1] for row in rows}


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("SELECT SUM(age) AS s FROM t", {"age": {"bounds": (0, 120)}}),
        ("SELECT dept, COUNT(*) AS n FROM t GROUP BY dept", {"dept": {"keys": [0, 1, 2]}}),
        ("SELECT COUNT(*) AS n FROM t WHERE smoker", {"smoker": {"type": "boolean"}}),
        ("SELECT COUNT(*) AS n FROM t WHERE smoker", {}),
    ],
)
def test_a_missing_value_of_one_person_changes_no_type(tmp_path: Path, text: str, columns: Any) -> None:
    """Through `read_csv` one row of gaps made integers floats and booleans objects: another grid, other refusals, free of charge."""
    seen = []
    for name, rows in (("one", BASE), ("two", BASE + VICTIM)):
        frame = pandas.read_csv(io.StringIO(rows))
        limits = {"max_rows": 5, "max_groups": 3}
        with Curator({"t": frame}, "pid", columns, epsilon=10, ledger=tmp_path / name, **limits) as curator:  # type: ignore[arg-type]
            try:
                answer = curator.sql(text, epsilon=1)
                seen.append((answer.receipt["plan"], answer.columns, answer.explain(), answer.receipt["measurements"]))
            except QueryError as error:
                seen.append((error.code, error.message, error.hint))
    assert seen[0] == seen[1]


def test_a_decimal_of_one_person_is_not_seen_in_a_preview(tmp_path: Path) -> None:
    seen = []
    for name, last in (("one", 41), ("two", 41.5)):
        frame = polars.DataFrame({"pid": list(range(51)), "age": [30] * 50 + [last]}, strict=False)
        frame.write_parquet(tmp_path / f"{name}.parquet")
        for source in (frame, tmp_path / f"{name}.parquet"):
            with Curator(
                {"t": source}, "pid", {"age": {"bounds": (0, 120)}}, epsilon=1, ledger=tmp_path / "l"
            ) as curator:
                seen.append(str(curator.preview("SELECT SUM(age) AS s FROM t", epsilon=1)))
    assert len(set(seen)) == 1


@pytest.mark.parametrize(
    "cell",
    [
        EARLY, 10**400, Decimal("sNaN"), "\ud800", b"x", [1], 1j, Fraction(1, 3),
        pandas.Period("2024-01"), numpy.longdouble(1), {"a": 1}, object(),
    ],
)  # fmt: skip
@pytest.mark.parametrize("type", ["date", "number", "integer", "text", "boolean"])
def test_no_object_in_a_cell_keeps_data_from_loading(tmp_path: Path, cell: Any, type: str) -> None:
    values = [None] * 50 + [cell]
    for i, source in enumerate(
        (
            {"pid": list(range(51)), "x": values},
            pandas.DataFrame({"pid": range(51), "x": pandas.Series(values, dtype=object)}),
        )
    ):
        with Curator({"t": source}, "pid", {"x": {"type": type}}, epsilon=1, ledger=tmp_path / str(i)) as curator:
            assert curator.sql(COUNT, epsilon=1).columns[0].name == "n"


def test_a_byte_of_another_encoding_in_a_row_is_not_seen(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for place in (3, 3000):
        lines = [f"p{i},x{i}".encode() for i in range(4000)]
        lines[place] = b"p,M\xfcller"
        path.write_bytes(b"pid,x\n" + b"\n".join(lines) + b"\n")
        with Curator({"t": path}, "pid", {"x": {"keys": ["M\ufffdller"]}}, epsilon=9, ledger=tmp_path / "l") as curator:
            curator.preview(COUNT, epsilon=1)
            assert curator.load().lost == ()
        assert counted(path, "SELECT COUNT(*) AS n FROM t WHERE x = 'M\ufffdller'") == 1


def test_a_source_that_does_not_load_is_one_constant_fault_at_no_charge(tmp_path: Path) -> None:
    said = set()
    for name, row in (("quote", 'canary,"6\n'), ("fields", "canary,1,2\n"), ("end", "canary,1\r2\n")):
        path = tmp_path / f"{name}.csv"
        path.write_text("pid,x\na,1\n" + row, "utf-8", newline="")
        with Curator({"t": path}, "pid", epsilon=1, ledger=tmp_path / f"{name}.ledger") as curator:
            curator.preview(COUNT, epsilon=1), curator.explain(COUNT, epsilon=1)
            with pytest.raises(Fault) as failure:
                curator.sql(COUNT, epsilon=1)
            error = failure.value
            assert error.__cause__ is None and error.__context__ is None and error.code == "source"
            frames, trace = [], error.__traceback__
            while trace is not None:
                frames += [value for key, value in trace.tb_frame.f_locals.items() if key != "row"]
                trace = trace.tb_next
            assert not any("canary" in value for value in frames if isinstance(value, str | bytes))
            said.add((error.code, error.message, error.hint))
            assert curator.spent.epsilon == 0
            with pytest.raises(Invalid, match=r"1 line of file") as refusal:
                curator.load()
            assert "canary" not in str(refusal.value) and refusal.value.__cause__ is None
            assert "--multiline" in str(refusal.value) and "--ragged" in str(refusal.value)
    assert len(said) == 1


def test_one_stray_quote_deletes_nobody(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("pid,x\n" + 'V,"6\n' + "".join(f"p{i},{i % 90}\n" for i in range(5000)), "utf-8")
    with pytest.raises(Invalid, match=r"1 line of file 't.csv' is not one record of 2 fields"):
        Curator({"t": path}, "pid", epsilon=1).load()
    path.write_text("pid,x\n" + 'V,6"\n' + "".join(f"p{i},{i % 90}\n" for i in range(5000)), "utf-8")
    assert counted(path) == 5001  # in a cell that is not in quotes it is a sign like any other


def test_a_lone_carriage_return_makes_no_people(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["pid", "x"])
        writer.writerows([f"p{i}", "a"] for i in range(100))
        writer.writerow(["V", "hi" + "".join(f"\rfake{i}" for i in range(1000))])
    with pytest.raises(Invalid, match=r"1 line of file 't.csv'"):
        Curator({"t": path}, "pid", epsilon=1).load()


def test_a_first_line_that_is_somebodys_record_is_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "v.csv"
    path.write_text("4711,Anna Musterfrau,HIV positive,1961-03-02\n4712,Bo,,\n", "utf-8")
    with pytest.raises(Invalid, match=r"column 1 of file 'v.csv' is named like a number or a date") as refusal:
        Curator({"v": path}, row=True, epsilon=1)
    assert "Anna" not in str(refusal.value) + refusal.value.hint and "4711" not in str(refusal.value)
    for line in ("Anna,02.03.1961", "Anna,+49 (30) 123-45", "Anna,-7.5e3", "Anna,2024-01-05T12:00:00Z", "Anna,12%"):
        (tmp_path / "w.csv").write_text(f"{line}\nBo,\n", "utf-8")
        with pytest.raises(Invalid, match=r"column 2 of file 'w.csv'"):
            Curator({"w": tmp_path / "w.csv"}, row=True, epsilon=1)
    columns = {"4711": {"type": "integer"}, "1961-03-02": {"type": "date"}}
    Curator({"v": path}, row=True, columns=columns, epsilon=1)  # whoever declares such a name says that it is one


def test_a_column_that_nobody_declared_is_not_there_for_an_analyst(tmp_path: Path) -> None:
    rows = {"pid": ["a"], "diagnosis": ["x"], "ward": ["A"]}
    analysts = {"ana": {"epsilon": 1}}
    with Curator(
        {"t": rows}, "pid", {"ward": {"keys": ["A"]}}, epsilon=3, ledger=tmp_path / "l", analysts=analysts
    ) as curator:
        curator.sql("SELECT COUNT(*) AS n FROM t WHERE diagnosis = 'x'", epsilon=1)
        for ask in (curator.sql, curator.preview, curator.explain):
            with pytest.raises(QueryError) as refusal:
                ask("SELECT COUNT(*) AS n FROM t WHERE diagnosys = 'x'", epsilon=0.1, analyst="ana")
            assert refusal.value.code == "unknown-column" and "diagnosis" not in str(refusal.value) + refusal.value.hint


def test_ids_that_are_floats_are_somebody() -> None:
    assert counted({"pid": [1.0, 2.0, 3.0] * 20}) == 60
    assert counted({"pid": [1, 2.0, 3] * 20}, "SELECT COUNT(DISTINCT pid) AS n FROM t") == 3
    frame = pandas.DataFrame({"pid": [1.0, 2.0, 3.0] * 20})
    assert counted(frame, "SELECT COUNT(DISTINCT pid) AS n FROM t WHERE pid = '2'") == 1
    assert counted({"pid": [2.0**53, 2.0**53 + 2, 1.0]}) == 1  # what may have been rounded is nobody


def test_rounded_ids_of_a_frame_are_nobody() -> None:
    frame = pandas.DataFrame({"pid": [2.0**53, 2.0**53 + 2, 1.0, None]})
    for source in (frame, polars.from_pandas(frame), pyarrow.Table.from_pandas(frame)):
        assert counted(source) == 1


@pytest.mark.parametrize(
    ("ids", "people"),
    [
        WIDE_IDS,
        (pyarrow.array([Decimal(10**37 + i) for i in range(200)], pyarrow.decimal128(38, 0)), 200),
        (pyarrow.array([dt.datetime(2024, 1, 1, 12), dt.datetime(2024, 1, 1, 13)]), 2),
        (pyarrow.array([1, 2], pyarrow.timestamp("ns")), 2),
        ([UUID(int=i) for i in range(50)], 50),
        ([2**70 + i for i in range(9)], 9),
    ],
)
def test_ids_of_every_type_stay_apart(tmp_path: Path, ids: Any, people: int) -> None:
    """As text, which every id has."""
    text = "SELECT COUNT(DISTINCT pid) AS n FROM t"
    if isinstance(ids, list):
        assert counted({"pid": ids}, text) == people
        return
    arrow = pyarrow.table({"pid": ids})
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT * FROM arrow")
    for source in (arrow, polars.from_arrow(arrow), path):
        assert counted(source, text) == people


def test_nothing_is_taken_from_the_names_of_folders(tmp_path: Path) -> None:
    for folder in ("plain", "patient_id=7", "ward=Z", "c0=5"):
        (tmp_path / folder).mkdir()
        with duckdb.connect() as connection:
            rows = "SELECT i AS patient_id, i % 2 AS x FROM range(1000) t(i)"
            connection.execute(f"COPY ({rows}) TO '{tmp_path / folder / 'visits.parquet'}'")
            connection.execute(f"COPY ({rows}) TO '{tmp_path / folder / 'visits.csv'}' (HEADER)")
        for name in ("visits.parquet", "visits.csv"):
            source = tmp_path / folder / name
            assert counted(source, unit="patient_id") == 1000
            with pytest.raises(QueryError, match="column 'ward' not found"):
                counted(source, f"{COUNT} WHERE ward = 'Z'", unit="patient_id")


def test_a_table_that_is_named_must_be_there(tmp_path: Path) -> None:
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE visits AS SELECT 1 AS pid; CREATE VIEW v AS SELECT * FROM visits")
    assert counted(path) == 1  # there is one, and none was named
    assert counted(path, reading={"table": "VISITS"}) == 1
    for name in ("v", "none"):
        with pytest.raises(Invalid, match=f"holds 1 tables?, none of them '{name}'"):
            Curator({"t": path}, "pid", epsilon=1, reading={"table": name})
    with pytest.raises(Invalid, match="table must be a text"):
        Curator({"t": path}, "pid", epsilon=1, reading={"table": 5})


def test_what_python_writes_is_counted(tmp_path: Path) -> None:
    """16 or 17 digits and exponents: of 2,000 doubles 152 were counted."""
    chance = numpy.random.default_rng(5)
    values = [*chance.random(1000).tolist(), *(chance.random(1000) * 1e-7).tolist()]
    path = tmp_path / "t.csv"
    pandas.DataFrame({"pid": range(2000), "x": values}).to_csv(path, index=False)
    assert counted(path, "SELECT COUNT(x) AS n FROM t", columns={"x": {"bounds": (0, 1)}}) == 2000
    mean = counted(path, "SELECT AVG(x) AS a FROM t", columns={"x": {"bounds": (0, 1)}})
    assert mean == pytest.approx(sum(values) / 2000, abs=1e-7)


def test_words_for_yes_and_no_are_truth_values(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("pid,smoker\n" + "".join(f"{i},{'Y' if i % 4 else 'N'}\n" for i in range(100)), "utf-8")
    text = "SELECT smoker, COUNT(*) AS n FROM t GROUP BY smoker"
    assert counted(path, text, columns={"smoker": {"type": "boolean"}}) == {False: 25, True: 75}


def test_declared_forms_are_read(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("pid;x;d\n1;1.234,5;05/01/2024\n2;NA;31/02/2024\n3;-;1/2/2024\n4;0,5;2024-01-05\n", "utf-8")
    columns = {"x": {"bounds": (0, 10_000)}, "d": {"format": "%d/%m/%Y"}}
    reading = {"delimiter": ";", "decimal": ",", "thousands": ".", "null": ["NA", "-"]}
    for text, wanted in (
        ("SELECT SUM(x) AS s FROM t", 1235.0),
        ("SELECT COUNT(x) AS n FROM t", 2),
        ("SELECT COUNT(d) AS n FROM t", 2),
        ("SELECT COUNT(*) AS n FROM t WHERE d = DATE '2024-02-01'", 1),
    ):
        assert counted(path, text, columns=columns, reading=reading) == pytest.approx(wanted, abs=0.01)
    with Curator({"t": path}, "pid", columns, epsilon=1, ledger=tmp_path / "l", reading=reading) as curator:
        assert [(each.column, each.values) for each in curator.load().lost] == [("d", 2)]


def test_narrow_floats_are_the_decimals_that_they_print(tmp_path: Path) -> None:
    frame = pandas.DataFrame({"pid": range(3), "x": numpy.array([0.1, 0.2, 0.3], numpy.float32)})
    columns = {"x": {"type": "number"}}
    for condition, n in (("x = 0.1", 1), ("x <= 0.1", 1), ("x IN (0.1, 0.2)", 2)):
        assert counted(frame, f"{COUNT} WHERE {condition}", columns=columns) == n


def test_a_column_that_cannot_be_loaded_does_not_block_its_table(tmp_path: Path) -> None:
    table = pyarrow.table(
        {"pid": [1, 2], "lists": [[1], [2]], "at": [dt.time(1), dt.time(2)], "blob": [b"a", b"b"], "x": [1.0, 2.0]}
    )
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    for source in (table, polars.from_arrow(table), table.to_pandas(), tmp_path / "t.parquet"):
        assert counted(source, "SELECT COUNT(x) AS n FROM t") == 2
        assert counted(source, "SELECT COUNT(lists) AS n FROM t") == 0


def test_the_ids_of_several_tables_are_of_one_type(tmp_path: Path) -> None:
    one, two = {"pid": ["1"]}, {"pid": [1]}
    Curator({"a": one, "b": two}, "pid", epsilon=1, ledger=tmp_path / "l")
    with pytest.raises(Invalid, match="must be of one type in all tables"):
        Curator({"a": one, "b": two}, "pid", {"a": {"pid": {"type": "integer"}}}, epsilon=1, ledger=tmp_path / "l")
    with pytest.raises(Invalid, match="cannot be a unit of its own"):
        Curator({"a": one, "b": two}, row=True, epsilon=1, ledger=tmp_path / "l")


def test_an_undeclared_column_is_refused_with_the_two_ways_out(tmp_path: Path) -> None:
    frame = pandas.DataFrame({"pid": [1, 2], "age": [30, 40]})
    with Curator({"t": frame}, "pid", epsilon=1, ledger=tmp_path / "l") as curator:
        for text in ("SELECT SUM(age) AS s FROM t", f"{COUNT} WHERE age > 30", f"{COUNT} WHERE age + 1 = 2"):
            with pytest.raises(QueryError) as refusal:
                curator.preview(text, epsilon=1)
            assert "--types age=integer" in refusal.value.hint and "--types stored" in refusal.value.hint
    with Curator({"t": frame}, "pid", epsilon=1, ledger=tmp_path / "l", reading={"types": "stored"}) as curator:
        curator.preview(f"{COUNT} WHERE age > 30", epsilon=1)


def test_a_header_of_another_delimiter_asks_for_it(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("pid;age\n1;30\n", "utf-8")
    for unit in ({"unit": "pid"}, {"row": True}):
        with pytest.raises(Invalid) as refusal:
            Curator({"t": path}, epsilon=1, **unit)
        assert "--delimiter ';'" in refusal.value.hint
