"""The second wall: what is sent straight to the engine's connection, past every check of ours, reaches nothing outside of it."""

import copy
import hashlib
import pickle
from pathlib import Path
from typing import Any

import pytest

import discreet.engines.duckdb as module
from discreet.engines.base import Data
from discreet.engines.duckdb import DuckDB
from discreet.errors import Fault
from discreet.plan import relation as r
from discreet.plan import scalar as s
from discreet.plan.scalar import Column, Type

CANARY = "canary-5f3a"
COLUMNS = (Column("name", Type.TEXT), Column("age", Type.INTEGER))
QUERY = r.Totals(r.Scan("t", COLUMNS), (), (r.Term(r.How.SUM, s.Literal(1, Type.INTEGER)),))

PROBES = [
    "SELECT * FROM '{data}'",
    "SELECT * FROM read_csv('{data}')",
    "SELECT * FROM read_csv_auto('{data}')",
    "SELECT * FROM sniff_csv('{data}')",
    "SELECT * FROM read_text('{data}')",
    "SELECT * FROM read_blob('{data}')",
    "SELECT * FROM read_parquet('{data}')",
    "SELECT * FROM parquet_metadata('{data}')",
    "SELECT * FROM parquet_schema('{data}')",
    "SELECT * FROM read_json('{data}')",
    "SELECT * FROM glob('{folder}/*')",
    "SELECT * FROM query('SELECT * FROM read_csv(''{data}'')')",
    "SELECT * FROM query_table('{data}')",
    "SELECT * FROM 'https://example.com/x.csv'",
    "SELECT * FROM read_csv('https://example.com/x.csv')",
    "SELECT * FROM read_parquet('s3://bucket/x.parquet')",
    "COPY t TO '{folder}/out.csv'",
    "COPY t TO '{data}'",
    "COPY (SELECT 1) TO '{folder}/out.parquet' (FORMAT parquet)",
    "COPY t FROM '{data}'",
    "COPY t TO '/dev/stdout'",
    "EXPORT DATABASE '{folder}/out'",
    "IMPORT DATABASE '{folder}'",
    "ATTACH '{folder}/out.duckdb'",
    "ATTACH '{folder}/out.duckdb' AS other (READ_ONLY)",
    "INSTALL httpfs",
    "LOAD httpfs",
    "LOAD '{folder}/x.duckdb_extension'",
    "INSTALL spatial FROM community",
    "FORCE INSTALL httpfs FROM 'https://example.com'",
    "CREATE SECRET (TYPE s3, KEY_ID 'a', SECRET 'b')",
    "CREATE PERSISTENT SECRET p (TYPE s3, KEY_ID 'a', SECRET 'b')",
    "SET enable_external_access = true",
    "RESET enable_external_access",
    "SET GLOBAL enable_external_access = true",
    "SET lock_configuration = false",
    "SET python_enable_replacements = true",
    "SET temp_directory = '{folder}'",
    "SET memory_limit = '1TB'",
    "SET threads = 64",
    "SET home_directory = '{folder}'",
    "SET extension_directory = '{folder}'",
    "SET autoload_known_extensions = true",
    "SET allow_unsigned_extensions = true",
    "SET custom_extension_repository = 'https://example.com'",
    "SET allowed_paths = ['{data}']",
    "SET allowed_directories = ['{folder}']",
    "SET log_query_path = '{folder}/log'",
    "SET profiling_output = '{folder}/profile'",
    "PRAGMA enable_profiling = 'json'",
    "PRAGMA enable_logging",
    "SELECT * FROM host_list",
    "SELECT * FROM host_frame",
]


@pytest.fixture
def engine(tmp_path: Path) -> Any:
    path = tmp_path / "t.csv"
    path.write_text(f"name,age\n{CANARY},40\nb,50\n", "utf-8")
    with DuckDB([Data("t", path, COLUMNS)], threads=1) as engine:
        yield engine


@pytest.mark.parametrize("probe", PROBES)
def test_a_probe_past_our_checks_reaches_nothing(engine: DuckDB, tmp_path: Path, probe: str) -> None:
    import pandas

    host_list, host_frame = [1, 2, 3], pandas.DataFrame({"a": [1]})
    assert host_list and len(host_frame)
    data = tmp_path / "t.csv"
    before = hashlib.sha256(data.read_bytes()).hexdigest()
    with pytest.raises(module.duckdb.Error) as caught:
        engine._connection.execute(probe.format(data=data, folder=tmp_path)).fetchall()
    assert CANARY not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]
    assert hashlib.sha256(data.read_bytes()).hexdigest() == before
    assert list(Path(engine._folder).iterdir()) == []


def test_the_lock_holds_for_every_cursor(engine: DuckDB, tmp_path: Path) -> None:
    with engine._cursor() as cursor, pytest.raises(module.duckdb.Error):
        cursor.execute(f"SELECT * FROM read_text('{tmp_path / 't.csv'}')")


@pytest.mark.parametrize(
    "locked", ["enable_external_access", "python_enable_replacements", "autoload_known_extensions"]
)
def test_what_must_be_off_is_off(engine: DuckDB, locked: str) -> None:
    assert engine._connection.execute(f"SELECT current_setting('{locked}')").fetchone() == (False,)


def test_what_does_not_fit_in_memory_goes_to_a_folder_of_ours_alone_and_is_gone_at_the_end() -> None:
    engine = DuckDB([Data("t", {"name": ["a"], "age": [1]}, COLUMNS)])
    folder = Path(engine._folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert engine._connection.execute("SELECT current_setting('temp_directory')").fetchone() == (str(folder),)
    engine.close()
    engine.close()
    assert not folder.exists()


def test_memory_is_limited() -> None:
    total = module.memory()
    with DuckDB([Data("t", {"name": ["a"], "age": [1]}, COLUMNS)]) as engine:
        said = engine._connection.execute("SELECT current_setting('memory_limit')").fetchone()[0]
    amount, unit = said.split()
    assert float(amount) * 1024 ** ("KiB", "MiB", "GiB", "TiB").index(unit) * 1024 == pytest.approx(
        0.6 * total, rel=0.01
    )


@pytest.mark.parametrize(
    "cause",
    [RuntimeError(CANARY), MemoryError(CANARY), RecursionError(CANARY), module.duckdb.Error(CANARY), KeyError(CANARY)],
)
def test_whatever_goes_wrong_is_one_constant_fault(
    engine: DuckDB, monkeypatch: pytest.MonkeyPatch, cause: Exception
) -> None:
    def fail(*arguments: object) -> None:
        raise cause

    monkeypatch.setattr(engine, "_run", fail)
    with pytest.raises(Fault) as caught:
        engine.run(QUERY, 1)
    assert (str(caught.value), caught.value.code) == ("the question could not be computed", "engine")
    assert caught.value.__cause__ is None and caught.value.__suppress_context__


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_is_no_fault(engine: DuckDB, monkeypatch: pytest.MonkeyPatch, stop: type[BaseException]) -> None:
    def fail(*arguments: object) -> None:
        raise stop

    monkeypatch.setattr(engine, "_run", fail)
    with pytest.raises(stop):
        engine.run(QUERY, 1)


def test_a_question_to_a_table_that_is_not_there_is_the_same_fault(engine: DuckDB) -> None:
    with pytest.raises(Fault, match="could not be computed"):
        engine.run(r.Totals(r.Scan("other", COLUMNS), (), QUERY.terms), 1)


def test_an_engine_is_neither_copied_nor_pickled(engine: DuckDB) -> None:
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot be copied"):
            attempt(engine)


def test_the_text_that_is_shown_holds_no_salt_and_no_cell(engine: DuckDB) -> None:
    people = r.Contributions(r.Scan("t", COLUMNS), COLUMNS[1], (COLUMNS[0],), QUERY.terms)
    text = engine.sql(r.Totals(r.CapGroups(r.CapRows(people, 2), 3)))
    assert "$salt" in text and CANARY not in text


def test_text_of_an_analyst_stays_within_its_literal(engine: DuckDB) -> None:
    """However it is written, it is compared as a value."""
    for evil in (
        "'; DROP TABLE t; --",
        "\\'; DROP TABLE t; --",
        "$salt",
        "x' OR '1'='1",
        "\x00'",
        "/*",
        "''",
        "é\\",
        "{}",
    ):
        same = s.Comparison(s.Order.EQUAL, COLUMNS[0], s.Literal(evil, Type.TEXT))
        query = r.Totals(r.Filter(r.Scan("t", COLUMNS), s.Or((same, s.Like(COLUMNS[0], evil)))), (), QUERY.terms)
        assert engine.run(query, 1).totals[0].tolist() == [0]
    assert engine.run(QUERY, 1).totals[0].tolist() == [2]
