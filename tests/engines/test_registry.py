"""An engine is chosen in one place, imported when it is needed, stopped when its time is over, and has one pool of threads."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from time import monotonic, sleep
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import discreet.engines.duckdb as module
from discreet.engines import registry
from discreet.engines.base import Data
from discreet.engines.duckdb import DuckDB
from discreet.engines.memory import MemoryEngine
from discreet.engines.render import Text
from discreet.engines.watch import Watch
from discreet.errors import Fault, Invalid
from discreet.plan import relation as r
from discreet.plan import scalar as s
from discreet.plan.relation import Found
from discreet.plan.scalar import Column, Type
from tests.engines.twins import arranged, by_group

COLUMNS = (Column("name", Type.TEXT), Column("age", Type.INTEGER))
DATA = [Data("t", {"name": [f"p{i % 7}" for i in range(60)], "age": list(range(60))}, COLUMNS, person="name")]
SUM = r.Term(r.How.SUM, s.Steps(COLUMNS[1], 0.0, 64.0, 0, 0.0))
QUERY = r.Totals(r.CapRows(r.Contributions(r.Scan("t", COLUMNS), COLUMNS[0], (), (SUM,)), 3))
ENDLESS = "SELECT CAST(count(*) AS BIGINT) AS total0 FROM range(1000000000000) AS a, range(1000000) AS b"
FAULT = ("the question could not be computed", "engine")


@pytest.mark.parametrize("kind", registry.KINDS)
def test_every_kind_is_an_engine_of_our_own(kind: str) -> None:
    found = registry.engine(kind)
    assert found.__module__.startswith("discreet.engines.")
    with found(DATA) as engine:  # type: ignore[attr-defined]
        assert engine.lost == () and by_group(engine.run(QUERY, 1, deadline=monotonic() + 600))


def test_another_kind_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(Invalid, match="'mysql'") as refused:
        registry.engine("mysql")
    assert "duckdb" in refused.value.hint


def test_nothing_is_loaded_of_an_engine_before_data_are() -> None:
    code = """if True:
        import sys, tempfile
        import discreet as dp
        columns = {"age": {"type": "integer", "bounds": (0, 120)}}
        with dp.Curator({"t": {"age": [1, 2]}}, row=True, columns=columns, epsilon=9, ledger=tempfile.mkdtemp()) as curator:
            curator.preview("SELECT SUM(age) FROM t", epsilon=1)
            curator.explain("SELECT SUM(age) FROM t", epsilon=1)
            assert "duckdb" not in sys.modules
            curator.sql("SELECT SUM(age) FROM t", epsilon=1)
            assert "duckdb" in sys.modules"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


# Deadlines


class Statement:
    """Something that runs until it is interrupted as often as it needs."""

    def __init__(self, times: int) -> None:
        self.left = times
        self.stopped = threading.Event()

    def interrupt(self) -> None:
        self.left -= 1
        if self.left <= 0:
            self.stopped.set()


def test_a_statement_that_misses_an_interrupt_gets_another() -> None:
    statement = Statement(times=3)
    with Watch(monotonic()) as watch:
        watch._running.add(statement)
        assert statement.stopped.wait(60)


def test_what_begins_after_the_deadline_does_not_begin() -> None:
    statement = Statement(times=1)
    with Watch(monotonic() - 1) as watch, pytest.raises(TimeoutError), watch.over(statement):
        pytest.fail("it began")


def test_without_a_deadline_nothing_watches() -> None:
    before = threading.active_count()
    with Watch(None) as watch, watch.over(Statement(times=1)):
        assert threading.active_count() == before


@pytest.mark.parametrize("sliced", [False, True])
def test_a_question_beyond_its_deadline_is_the_constant_fault_and_the_next_one_is_answered(
    monkeypatch: pytest.MonkeyPatch, sliced: bool
) -> None:
    def endless(*arguments: Any, **options: Any) -> Text:
        return Text(ENDLESS, frozenset())

    with arranged() if sliced else pytest.MonkeyPatch.context(), DuckDB(DATA, threads=2) as engine:
        expected = by_group(engine.run(QUERY, 1))
        with monkeypatch.context() as patched:
            patched.setattr(module.render, "text_of", endless)
            with pytest.raises(Fault) as caught:
                engine.run(QUERY, 1, deadline=monotonic() + 0.2)
        assert (str(caught.value), caught.value.code) == FAULT
        assert caught.value.__cause__ is None and caught.value.__suppress_context__
        assert by_group(engine.run(QUERY, 1, deadline=monotonic() + 600)) == expected


def test_a_question_whose_time_is_over_is_the_same_fault_on_every_engine() -> None:
    with DuckDB(DATA) as engine:
        for each in (engine, MemoryEngine(DATA, engine.priorities)):
            with pytest.raises(Fault) as caught:
                each.run(QUERY, 1, deadline=monotonic() - 1)
            assert (str(caught.value), caught.value.code) == FAULT


# Threads


def no_part_outlives_its_question() -> None:
    """One of two parts fails while the other is at work: when the error comes, neither is."""
    begun, failed = threading.Event(), threading.Event()
    at_work: set[int] = set()

    def part(self: DuckDB, text: Text, salt: int, low: int, *rest: Any) -> Any:
        if low == 0:
            begun.wait(60)
            failed.set()
            raise ValueError
        at_work.add(low)
        begun.set()
        failed.wait(60)
        sleep(0.2)
        at_work.discard(low)
        return Found(((),), (np.zeros(1, np.int64),))

    with patch.object(DuckDB, "_part", part), arranged(), DuckDB(DATA, threads=2) as engine:
        with pytest.raises(Fault):
            engine.run(QUERY, 1)
        assert at_work == set()


def test_no_part_outlives_its_question() -> None:
    no_part_outlives_its_question()


def test_questions_at_a_time_share_the_threads_of_their_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: set[str] = set()
    part = DuckDB._part

    def seeing(self: DuckDB, *arguments: Any) -> Any:
        seen.add(threading.current_thread().name)
        return part(self, *arguments)

    monkeypatch.setattr(DuckDB, "_part", seeing)
    with arranged(), DuckDB(DATA, threads=2) as engine, ThreadPoolExecutor(4) as asking:
        found = [by_group(each) for each in asking.map(lambda _: engine.run(QUERY, 7), range(12))]
        assert all(each == found[0] for each in found)
    assert 1 <= len(seen) <= 2 and all(name.startswith("discreet") for name in seen)
    assert not any(thread.name in seen for thread in threading.enumerate())
