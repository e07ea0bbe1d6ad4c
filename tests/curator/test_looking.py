"""A ledger that may only be read is read and verified, and looking at it changes nothing."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from discreet.curator import looking
from discreet.curator.amounts import UNIT
from discreet.curator.looking import look
from discreet.curator.mark import Mark
from tests.curator.cases import Place, code_of, creation, granted, place, request, spent

TENTH = UNIT // 10


def everything(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in sorted(folder.iterdir())}


@pytest.fixture
def closed_to_us(monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """A ledger in a folder that may not be written to; also for a user who may write anywhere."""
    with place() as spot:
        with spot.open(creation(1)) as store:
            store.settle(granted(store.reserve(request("a"))), b"42")
        monkeypatch.setattr(looking, "_writable", lambda _: False)
        (spot.ledger / "ledger.sqlite").chmod(0o400)
        spot.ledger.chmod(0o500)
        yield spot
        spot.ledger.chmod(0o700)


@pytest.mark.parametrize("marked", [True, False])
def test_a_ledger_that_may_only_be_read_is_read_and_verified(closed_to_us: Place, marked: bool) -> None:
    spot = closed_to_us
    mark = spot.mark if marked else spot.folder / "no mark"
    before = everything(spot.ledger)
    with look(spot.ledger, mark=mark) as store:
        assert spent(store) == TENTH and store.verify().spent.epsilon == TENTH
        assert store.stored("a") == b"42" and len(store.export()["rows"]) == len(list(store.history())) == 3
        for act in (lambda: store.reserve(request("b")), lambda: store.change_data("2")):
            assert code_of(act) == "ledger-unavailable"
    assert everything(spot.ledger) == before and mark.exists() == marked


def test_the_log_of_who_writes_is_read_too() -> None:
    with place() as spot, pytest.MonkeyPatch.context() as patch:
        writer = spot.open(creation(1))
        granted(writer.reserve(request("a")))
        patch.setattr(looking, "_writable", lambda _: False)
        with look(spot.ledger, mark=spot.mark) as store:
            assert spent(store) == TENTH
        granted(writer.reserve(request("b")))


def test_an_old_copy_is_refused_when_it_is_looked_at(closed_to_us: Place) -> None:
    spot = closed_to_us
    spot.mark.unlink()
    Mark(spot.mark).advance(99, "0" * 64)
    assert code_of(lambda: look(spot.ledger, mark=spot.mark).close()) == "rollback"


def test_copies_are_removed(closed_to_us: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    look(closed_to_us.ledger, mark=closed_to_us.mark).close()
    with (closed_to_us.folder / "mark").open("r+b") as mark:
        mark.write(b"x" * 256)
    assert code_of(lambda: look(closed_to_us.ledger, mark=closed_to_us.mark)) == "rollback"
    assert os.listdir(tmp_path) == []
