"""Disks that are full, read-only or busy: nothing is released, a clear message, and it goes on by itself afterwards."""

import os
import random
import resource
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from discreet.curator import sqlite
from discreet.curator.acts import Reserved
from discreet.curator.amounts import UNIT
from discreet.curator.request import Stored
from discreet.curator.store import Store
from discreet.errors import Fault
from tests.curator.cases import Place, code_of, creation, granted, place, request, spent
from tests.curator.test_store import in_a_fork
from tests.scale import repeats

TENTH = UNIT // 10


def sqlite_of(store: Store) -> sqlite3.Connection:
    writer: Any = store._writer
    found = writer._sqlite
    assert isinstance(found, sqlite3.Connection)
    return found


def nothing_is_released(store: Store) -> None:
    """A charge fails, says why, and changes nothing."""
    before = store.export()
    with pytest.raises(Fault, match="cannot be read or written") as fault:
        store.reserve(request("new"))
    assert fault.value.code == "ledger-unavailable" and "nothing was released" in str(fault.value)
    assert store.export() == before and store.stored("new") is None


def full(spot: Place) -> None:
    store = spot.open(creation(100))
    one = granted(store.reserve(request("old")))
    limit = sqlite_of(store).execute("PRAGMA page_count").fetchone()[0]
    sqlite_of(store).execute(f"PRAGMA max_page_count = {limit}")
    big = b"x" * 100_000
    assert code_of(lambda: store.settle(one, big)) == "ledger-unavailable"
    assert store.stored("old") is None
    assert store.settle(one, big) == big  # over a new connection, which has no limit
    store.verify()


def test_a_full_database_releases_nothing() -> None:
    with place() as spot:
        full(spot)


def test_a_read_only_database_releases_nothing() -> None:
    with place() as spot:
        store = spot.open(creation(100))
        one = granted(store.reserve(request("old")))
        sqlite_of(store).execute("PRAGMA query_only = 1")
        nothing_is_released(store)
        granted(store.reserve(request("new")))
        assert store.settle(one, b"42") == b"42" and spent(store) == 2 * TENTH


def test_a_locked_database_releases_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "PATIENCE", 0.05)
    with place() as spot:
        store = spot.open(creation(100))
        granted(store.reserve(request("old")))
        with closing(sqlite3.connect(spot.ledger / "ledger.sqlite", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            nothing_is_released(store)
            assert store.standing().spent.epsilon == TENTH  # who only looks does not wait
        granted(store.reserve(request("new")))
        store.verify()


def test_a_mark_that_cannot_be_written_releases_nothing() -> None:
    with place() as spot:
        store = spot.open(creation(100))
        away = spot.mark.rename(spot.folder / "away")
        spot.mark.mkdir()
        assert code_of(lambda: store.reserve(request("k"))) == "ledger-unavailable"
        assert code_of(spot.open) == "ledger-unavailable"
        spot.mark.rmdir()
        away.rename(spot.mark)
        granted(store.reserve(request("k")))


def test_a_folder_that_cannot_be_made_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    spot = Place(tmp_path / "file")
    assert code_of(lambda: spot.open(creation(1))) == "ledger-unavailable"
    (tmp_path / "ledger").mkdir()
    (tmp_path / "ledger" / "ledger.sqlite").write_bytes(b"not a database at all, but long enough to look at" * 100)
    assert code_of(lambda: Place(tmp_path).open(creation(1))) == "ledger-broken"


def writes_fail_anywhere(spot: Place, tries: int) -> None:
    """The system refuses to let files grow beyond a limit that lies somewhere in the next few writes."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    store, chance, told = spot.open(creation(10**5)), random.Random(), dict[str, bytes]()
    failures = 0
    for i in range(tries):
        files = [path.stat().st_size for path in spot.ledger.iterdir()]
        resource.setrlimit(resource.RLIMIT_FSIZE, (max(files) + chance.randrange(60_000), most))
        for j in range(6):
            key = f"{i}-{j}"
            try:
                outcome = store.reserve(request(key))
                if not isinstance(outcome, Stored):
                    told[key] = store.settle(outcome, os.urandom(30))
            except Fault as fault:
                if fault.code != "ledger-unavailable":
                    raise
                failures += 1
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    if not all(store.stored(key) == answer for key, answer in told.items()):
        raise AssertionError("an answer was lost")
    reserved = [row for row in store.history() if isinstance(row.act, Reserved)]
    if store.verify().spent.epsilon != len(reserved) * TENTH or not failures:
        raise AssertionError("the sum is wrong, or nothing failed")


def test_no_answer_without_its_charge_when_writes_fail() -> None:
    with place() as spot:
        assert in_a_fork(lambda: writes_fail_anywhere(spot, repeats(25))) == 0
        spot.open().verify()


# The same on Postgres.


@pytest.fixture
def remote(server: str) -> Iterator[tuple[Store, Place]]:
    with place() as spot:
        spot.server = server
        yield spot.open(creation(100)), spot


@pytest.mark.postgres
def test_a_lost_connection_releases_nothing(remote: tuple[Store, Place]) -> None:
    import psycopg

    store, spot = remote
    one = granted(store.reserve(request("old")))
    with psycopg.connect(spot.server, autocommit=True) as admin:
        admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
    for act in (lambda: store.reserve(request("new")), store.standing):
        assert code_of(act) == "ledger-unavailable"
    granted(store.reserve(request("new")))
    assert store.settle(one, b"42") == b"42" and spent(store) == 2 * TENTH
    store.verify()


@pytest.mark.postgres
def test_a_locked_or_read_only_server_releases_nothing(
    remote: tuple[Store, Place], monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    from discreet.curator import postgres

    store, spot = remote
    one = granted(store.reserve(request("old")))
    monkeypatch.setattr(postgres, "PATIENCE", 0.05)
    with psycopg.connect(spot.server, autocommit=True) as other, other.transaction():
        other.execute(f"SELECT * FROM {spot.name}.turn FOR UPDATE")
        nothing_is_released(store)
    monkeypatch.undo()
    granted(store.reserve(request("new")))
    writer: Any = store._writer
    writer._psycopg.execute("SET default_transaction_read_only = on")
    assert code_of(lambda: store.settle(one, b"42")) == "ledger-unavailable"
    assert store.settle(one, b"42") == b"42"
    store.verify()


@pytest.mark.postgres
def test_a_server_that_is_not_there_is_unavailable(server: str) -> None:
    with place() as spot:
        spot.server = f"host={spot.folder} user=owner dbname=postgres password=hunter2"
        with pytest.raises(Fault) as fault:
            spot.open(creation(1))
        assert fault.value.code == "ledger-unavailable" and "hunter2" not in str(fault.value)
