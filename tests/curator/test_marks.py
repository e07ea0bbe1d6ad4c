"""A ledger remembers where its mark is: an old copy is noticed also by who has another home, and a mark that is lost is missed."""

import os
import pwd
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import pytest

from discreet.curator.acts import Accepted
from discreet.curator.looking import declared
from discreet.curator.mark import Mark
from discreet.curator.sqlite import SQLiteStore
from discreet.errors import Refused
from tests.curator.cases import code_of, creation, granted, request, spent

Home = Callable[[str], None]


@contextmanager
def homes(folder: Path) -> Iterator[Home]:
    """Be somebody whose state directory is another one."""
    with pytest.MonkeyPatch.context() as patch:

        def be(name: str) -> None:
            patch.setenv("XDG_STATE_HOME", str(folder / name))

        be("shell")
        yield be


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with homes(tmp_path) as be:
        yield be


def opened(folder: Path, **more: object) -> SQLiteStore:
    return SQLiteStore.open(folder, creation=creation(1), **more)  # type: ignore[arg-type]


def charge(folder: Path, key: str, **more: object) -> None:
    with opened(folder, **more) as store:
        granted(store.reserve(request(key)))


def count_of(folder: Path) -> int:
    with opened(folder) as store:
        return sum(isinstance(row.act, Accepted) for row in store.history())


def marks(tmp_path: Path, name: str) -> list[Path]:
    return [path for path in (tmp_path / name).rglob("*") if path.is_file() and len(path.name) == 64]


def old_copy_is_noticed(tmp_path: Path, home: Home, later: str, restorer: str) -> None:
    """Charged by one, charged again by another, brought back by a third: refused, wherever marks are looked for."""
    ledger = tmp_path / "ledger"
    charge(ledger, "a")
    shutil.copytree(ledger, tmp_path / "backup")
    home(later)
    charge(ledger, "b")
    shutil.rmtree(ledger)
    shutil.copytree(tmp_path / "backup", ledger)
    home(restorer)
    assert code_of(lambda: opened(ledger)) == "rollback"


def noticed_by_cron(folder: Path) -> None:
    with homes(folder) as home:
        old_copy_is_noticed(folder, home, "shell", "cron")


@pytest.mark.parametrize("later", ["shell", "cron"])
@pytest.mark.parametrize("restorer", ["shell", "cron", "sudo"])
def test_an_old_copy_is_noticed_from_every_home(tmp_path: Path, home: Home, later: str, restorer: str) -> None:
    old_copy_is_noticed(tmp_path, home, later, restorer)


def test_from_another_home_the_mark_that_is_remembered_is_moved(tmp_path: Path, home: Home) -> None:
    charge(tmp_path / "ledger", "a")
    home("cron")
    charge(tmp_path / "ledger", "b")
    assert len(marks(tmp_path, "shell")) == 1 and not marks(tmp_path, "cron")
    with opened(tmp_path / "ledger") as store:
        assert store.mark.read() == (store.head().sequence, store.head().hash)


def lost_marks_are_missed(folder: Path) -> None:
    with homes(folder) as home:
        lost_mark_is_missed(folder, home)


def test_a_mark_that_is_not_to_be_found_is_missed_until_the_owner_accepts(tmp_path: Path, home: Home) -> None:
    lost_mark_is_missed(tmp_path, home)


def lost_mark_is_missed(tmp_path: Path, home: Home) -> None:
    """A container with a home of its own, another machine, a state directory that was cleaned."""
    ledger = tmp_path / "ledger"
    charge(ledger, "a")
    (only,) = marks(tmp_path, "shell")
    only.unlink()
    for name in ("shell", "container"):
        home(name)
        assert code_of(lambda: opened(ledger)) == "mark-lost"
        with pytest.raises(Refused, match="cannot be told whether this is an old copy") as refused:
            opened(ledger)
        here = Mark.of(str(ledger)).path
        assert str(only) in str(refused.value) and (name == "shell" or str(here) in str(refused.value))
        assert "ledger accept" in str(refused.value) and not here.exists()
    opened(ledger, accept="the disk was replaced").close()
    assert Mark.of(str(ledger)).path.exists() and count_of(ledger) == 1
    charge(ledger, "b")
    opened(ledger, accept="the disk was replaced").close()  # there is nothing left to accept
    assert count_of(ledger) == 1
    home("shell")  # the place that was accepted is the one that is remembered
    charge(ledger, "c")
    assert not marks(tmp_path, "shell")


def test_a_mark_that_may_not_be_read_is_missed(tmp_path: Path, home: Home) -> None:
    charge(tmp_path / "ledger", "a")
    (only,) = marks(tmp_path, "shell")
    home("sudo")
    real = os.open

    def denied(path: object, *more: object, **words: object) -> int:
        if path == only:
            raise PermissionError(13, "Permission denied")
        return real(path, *more, **words)  # type: ignore[arg-type]

    with mock.patch.object(os, "open", denied):
        assert code_of(lambda: opened(tmp_path / "ledger")) == "mark-lost"


def test_a_moved_ledger_keeps_its_mark_and_of_two_copies_one_goes_on(tmp_path: Path, home: Home) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    charge(tmp_path / "ledger", "a")
    (tmp_path / "ledger").rename(first)
    charge(first, "b")
    assert len(marks(tmp_path, "shell")) == 1
    shutil.copytree(first, second)
    charge(second, "c")
    assert code_of(lambda: opened(first)) == "rollback"  # one budget is not spent twice
    opened(first, accept="the disk was replaced").close()
    charge(first, "c")
    charge(second, "d")  # the mark that both had stays with the second; the first has one of its own
    charge(first, "d")
    assert len(marks(tmp_path, "shell")) == 2
    for each in (first, second):
        with opened(each) as store:
            store.verify()


def test_a_mark_that_was_said_is_begun_after_the_one_before_was_compared(tmp_path: Path, home: Home) -> None:
    ledger, said = tmp_path / "ledger", tmp_path / "said" / "mark"
    charge(ledger, "a")
    shutil.copytree(ledger, tmp_path / "backup")
    charge(ledger, "b", mark=said)
    assert said.is_file()
    home("cron")
    charge(ledger, "c", mark=said)
    charge(ledger, "d")  # without being said: it is remembered
    shutil.rmtree(ledger)
    shutil.copytree(tmp_path / "backup", ledger)
    assert code_of(lambda: opened(ledger, mark=said)) == "rollback"
    home("shell")
    said.unlink()
    charge(ledger, "e", mark=said)  # where the newest mark was taken away, the one before does not know


def test_of_two_marks_both_are_compared(tmp_path: Path, home: Home) -> None:
    """Where there are two marks of a ledger, neither may be ahead of it."""
    ledger, backup = tmp_path / "ledger", tmp_path / "backup"
    charge(ledger, "a")
    shutil.copytree(ledger, backup)
    charge(ledger, "b")
    (only,) = marks(tmp_path, "shell")
    shutil.rmtree(ledger)
    shutil.copytree(backup, ledger)
    assert code_of(lambda: opened(ledger, mark=tmp_path / "new" / "mark")) == "rollback"  # begun after the one before
    only.unlink()
    home("cron")
    opened(ledger, accept="the disk was replaced").close()
    charge(ledger, "c")
    shutil.rmtree(ledger)
    shutil.copytree(backup, ledger)  # it remembers the first mark, which is behind; the second knows more
    Mark(only).reset(*first_row(ledger))
    assert code_of(lambda: opened(ledger)) == "rollback"


def first_row(ledger: Path) -> tuple[int, str]:
    with closing(sqlite3.connect(ledger / "ledger.sqlite")) as file:
        sequence, hash = file.execute("SELECT sequence, hash FROM rows ORDER BY sequence LIMIT 1").fetchone()
    return int(sequence), str(hash)


def test_a_ledger_that_remembers_nothing_is_opened_and_remembers_from_its_next_row_on(
    tmp_path: Path, home: Home
) -> None:
    """As those of release 0.1: nobody can say where their marks are."""
    ledger = tmp_path / "ledger"
    opened(ledger).close()  # no row was written since its mark is there
    home("cron")
    opened(ledger).close()
    home("sudo")
    charge(ledger, "a")
    home("shell")
    with opened(ledger) as store:
        assert store.mark.path.is_relative_to(tmp_path / "sudo") and spent(store) > 0


@pytest.mark.parametrize("relative", ["", ".", "home", "./x"])
def test_no_mark_lies_in_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, relative: str) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", relative)
    monkeypatch.setenv("HOME", relative)
    monkeypatch.chdir(tmp_path)
    own = tmp_path / "own"
    monkeypatch.setattr(pwd, "getpwuid", lambda _: SimpleNamespace(pw_dir=str(own)))
    assert Mark.of("x").path.is_relative_to(own)
    monkeypatch.setattr(pwd, "getpwuid", lambda _: SimpleNamespace(pw_dir="own"))
    assert code_of(lambda: Mark.of("x")) == "mark"
    monkeypatch.setattr(pwd, "getpwuid", mock.Mock(side_effect=KeyError("no such user")))
    assert code_of(lambda: Mark.of("x")) == "mark"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("look", ["open", "declared"])
def test_a_ledger_that_is_made_at_this_moment_has_not_gone_back(tmp_path: Path, home: Home, look: str) -> None:
    """Whoever makes it writes its mark after it: so the mark is looked at first, and then whether there is a ledger."""
    ledger, made = tmp_path / "ledger", list[bool]()
    exists = Path.exists

    def meanwhile(self: Path, **words: bool) -> bool:
        found = exists(self, **words)
        if self.name == "ledger.sqlite" and not made:
            made.append(found)
            charge(ledger, "other")  # between this look and whatever follows it
        return found

    with mock.patch.object(Path, "exists", meanwhile):
        act = (lambda: opened(ledger)) if look == "open" else (lambda: declared(ledger))
        assert code_of(act) == "no error"
    assert made == [False]
