"""Durable means synced: what the operating system is asked to do before a charge is acknowledged."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from discreet.curator.sqlite import SQLite
from tests.curator.cases import Place, creation, granted, place, request

FULL = 2  # of PRAGMA synchronous


@contextmanager
def traced() -> Iterator[list[tuple[str, str]]]:
    """Each call of the system that matters here, with the name of its file, in order."""
    calls: list[tuple[str, str]] = []

    def noting(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(file: int, *more: Any) -> Any:
            calls.append((name, os.path.basename(os.readlink(f"/proc/self/fd/{file}"))))
            return real(file, *more)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in ("fdatasync", "pwrite", "fsync"):
            patch.setattr(os, name, noting(name, getattr(os, name)))
        patch.setattr(fcntl, "flock", noting("flock", fcntl.flock))
        yield calls


def commits_are_synced(spot: Place) -> None:
    """Every connection syncs its log at every commit: a charge that was acknowledged survives a power cut."""
    made: list[SQLite] = []
    real = SQLite._open

    def noting(self: SQLite) -> Any:
        made.append(self)
        return real(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SQLite, "_open", noting)
        store = spot.open(creation(1))
        granted(store.reserve(request("a")))
        store.standing()
        open_now = [each for each in made if each._opened is not None]
        assert len(open_now) == 2  # who writes, and who reads
        for each in open_now:
            assert each._run("PRAGMA synchronous", ()) == [(FULL,)]
            assert each._run("PRAGMA journal_mode", ()) == [("wal",)]


def test_commits_are_synced() -> None:
    with place() as spot:
        commits_are_synced(spot)


def marks_are_locked_then_written_then_synced(spot: Place) -> None:
    """Before a charge is acknowledged its mark is on disk, and nobody else wrote to the mark meanwhile."""
    store = spot.open(creation(1))
    for i in range(3):
        with traced() as calls:
            one = granted(store.reserve(request(f"{i}")))
            assert [name for name, file in calls if file == "mark"] == ["flock", "pwrite", "fdatasync"]
        with traced() as calls:
            store.settle(one, b"42")
            assert [name for name, file in calls if file == "mark"] == ["flock", "pwrite", "fdatasync"]


def test_a_mark_is_locked_then_written_then_synced() -> None:
    with place() as spot:
        marks_are_locked_then_written_then_synced(spot)


def resets_are_synced(spot: Place) -> None:
    store = spot.open(creation(1))
    with traced() as calls:
        store.mark.reset(7, "0" * 64)
    assert [name for name, _ in calls] == ["flock", "pwrite", "fdatasync"]


def test_an_accepted_mark_is_synced() -> None:
    with place() as spot:
        resets_are_synced(spot)


def new_names_are_synced(spot: Place) -> None:
    """A file that is there after a power cut needs its name there too."""
    with traced() as calls:
        spot.open(creation(1))
    assert ("fsync", spot.folder.name) in calls  # of the ledger's folder, and of the mark


def test_the_names_of_a_new_ledger_and_its_mark_are_synced() -> None:
    with place() as spot:
        new_names_are_synced(spot)
