"""Killed at any step of making a ledger, accepting one, or taking one over from an earlier release: nothing is lost, and it goes on."""

import os
import shutil
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from discreet.curator.acts import FORMAT
from discreet.curator.mark import Mark
from discreet.curator.request import Request, Reservation
from discreet.curator.sqlite import SQLite, SQLiteStore
from tests.curator.cases import Place, code_of, creation, place, request
from tests.curator.test_formats import FOLDERS, Kept, kept  # noqa: F401

PRICE = Fraction(1, 8)
CALLS = ("pwrite", "fdatasync", "fsync", "replace", "open", "unlink")


def question(store: SQLiteStore) -> Request:
    return request("after the upgrade", PRICE, data_version=store.standing().version)


def taken_over(at: Kept, name: str) -> None:
    """Open a ledger of an earlier release, charge, and settle."""
    with at.store(name) as store:
        outcome = store.reserve(question(store))
        if isinstance(outcome, Reservation):
            store.settle(outcome, b"42")


@contextmanager
def stepped(step: Callable[[], None]) -> Iterator[None]:
    """Call this before every statement of SQLite and every call of the system that changes a file."""
    real = SQLite._prepare

    def traced(self: SQLite) -> None:
        self._sqlite.set_trace_callback(lambda _: step())
        real(self)

    def noted(call: Callable[..., Any]) -> Callable[..., Any]:
        def noting(*arguments: Any, **words: Any) -> Any:
            step()
            return call(*arguments, **words)

        return noting

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SQLite, "_prepare", traced)
        for name in CALLS:
            patch.setattr(os, name, noted(getattr(os, name)))
        yield


def steps_of(act: Callable[[], None]) -> int:
    count = 0

    def step() -> None:
        nonlocal count
        count += 1

    with stepped(step):
        act()
    return count


def killed_at(number: int, act: Callable[[], None]) -> None:
    """Do it in a forked child, which is killed before step `number`."""
    child = os.fork()
    if child == 0:
        left = number

        def step() -> None:
            nonlocal left
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)

        try:
            with stepped(step):
                act()
        finally:
            os._exit(7)
    status = os.waitpid(child, 0)[1]
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL, number


def form_and_rows(at: Kept, name: str) -> tuple[int, int]:
    """By SQLite alone, as an earlier release would look."""
    with closing(sqlite3.connect(at.place / FOLDERS[name] / "ledger.sqlite")) as file:
        return file.execute("PRAGMA user_version").fetchone()[0], file.execute("SELECT COUNT(*) FROM rows").fetchone()[
            0
        ]


def survives_at(number: int, at: Kept, name: str) -> str:
    """Killed before step `number`, then opened: nothing is lost. Returns how far it had come."""
    before, rows = form_and_rows(at, name)
    spent = Fraction(at.expected[name]["totals"][""]["spent"]["epsilon"])
    killed_at(number, lambda: taken_over(at, name))
    form, now = form_and_rows(at, name)
    assert form == (before if now == rows else FORMAT), "an earlier release would read what it cannot"
    with at.store(name) as store:
        assert store.verify().spent.exact[0] == spent + (PRICE if now > rows else 0)
        for asked in at.questions(name):
            assert store.stored(asked["kept_as"], asked["analyst"]) == asked["answer"].encode()
    taken_over(at, name)
    with at.store(name) as store:
        assert store.verify().spent.exact[0] == spent + PRICE
        assert store.stored("after the upgrade") == b"42"
    assert form_and_rows(at, name) == (FORMAT, rows + 2)
    return ("as it was", "charged", "settled")[now - rows]


@contextmanager
def copied(at: Kept, name: str) -> Iterator[Kept]:
    """As it was, once more, on a file system without a disk where there is one; with a mark of its own where it is looked for."""
    with place() as spot, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(spot.folder / "state"))
        shutil.copytree(at.place, spot.folder / "kept")
        if name == "flags":
            mark = Mark.of(str((spot.folder / "kept" / "flags").resolve())).path
            mark.parent.mkdir(mode=0o700, parents=True)
            shutil.copy(at.place / "flags.mark", mark)
        yield Kept(spot.folder / "kept", at.expected)


def killed_anywhere_it_survives(at: Kept, name: str) -> set[str]:
    with copied(at, name) as one:
        steps, found = steps_of(lambda: taken_over(one, name)), set()
    assert steps > 50
    for number in range(steps):
        with copied(at, name) as one:
            found.add(survives_at(number, one, name))
    return found


@pytest.mark.parametrize("name", ["hospital", "flags"])
def test_killed_at_any_step_of_the_upgrade_nothing_is_lost(kept: Kept, name: str) -> None:  # noqa: F811
    assert killed_anywhere_it_survives(kept, name) == {"as it was", "charged", "settled"}


# A release that wrote another format than this one.
@pytest.mark.parametrize("kept", ["0.1"], indirect=True)
def test_an_upgrade_in_two_transactions_is_noticed(kept: Kept) -> None:  # noqa: F811
    """The test above sees it when the new format is written after the row that needs it, and not with it."""
    real = SQLite._transaction

    @contextmanager
    def apart(self: SQLite, begin: str) -> Iterator[Any]:
        before, self._format = self._format, FORMAT
        with real(self, begin) as page:
            yield page
        if page.added and before < FORMAT:
            self._sqlite.execute(f"PRAGMA user_version = {FORMAT}")
        else:
            self._format = before

    with (
        mock.patch.object(SQLite, "_transaction", apart),
        pytest.raises(AssertionError, match="an earlier release would read what it cannot"),
    ):
        killed_anywhere_it_survives(kept, "hospital")


def made(spot: Place) -> None:
    """Make a ledger, and charge: its mark comes after it, and then the memory of that."""
    with spot.open(creation(1)) as store:
        for key in "ab":
            outcome = store.reserve(request(key, PRICE))
            if isinstance(outcome, Reservation):
                store.settle(outcome, key.encode())


def test_killed_at_any_step_of_making_a_ledger_it_is_made_by_the_next_try() -> None:
    """In particular no mark is missed that was never there."""
    with place() as spot:
        steps = steps_of(lambda: made(spot))
    for number in range(steps):
        with place() as spot:
            killed_at(number, lambda spot=spot: made(spot))  # type: ignore[misc]
            made(spot)
            with spot.open() as store:
                assert store.verify().spent.exact[0] == 2 * PRICE and store.head().sequence == 5
                assert [store.stored(key) for key in "ab"] == [b"a", b"b"]


@pytest.mark.parametrize("lost", ["mark", "rows"])
def test_killed_at_any_step_of_accepting_it_is_accepted_by_the_next_try(lost: str) -> None:
    """Refused until it was accepted, and never half: a row that says so, and a mark of it."""

    def accept(spot: Place) -> None:
        spot.open(accept="the disk was replaced").close()

    def before(spot: Place) -> None:
        made(spot)
        if lost == "mark":
            spot.mark.unlink()
        else:
            Mark(spot.mark).reset(99, "f" * 64)

    with place() as spot:
        before(spot)
        steps = steps_of(lambda: accept(spot))
    for number in range(steps):
        with place() as spot:
            before(spot)
            killed_at(number, lambda spot=spot: accept(spot))  # type: ignore[misc]
            code, rows = code_of(spot.open), rows_of_file(spot)
            assert code in (("mark-lost", "rollback") if rows == 5 else ("mark-lost", "rollback", "no error"))
            accept(spot)
            with spot.open() as store:
                store.verify()
                assert store.head().sequence >= 6 and Mark(spot.mark).read() == (
                    store.head().sequence,
                    store.head().hash,
                )


def rows_of_file(spot: Place) -> int:
    with closing(sqlite3.connect(spot.ledger / "ledger.sqlite")) as file:
        return int(file.execute("SELECT COUNT(*) FROM rows").fetchone()[0])


def test_nothing_is_changed_by_looking_at_a_ledger_of_an_earlier_release(kept: Kept) -> None:  # noqa: F811
    file = kept.place / "ledger" / "ledger.sqlite"
    before = file.read_bytes()
    with kept.store("hospital") as store:
        store.verify()
        assert store.acts() and store.analysts()
    assert file.read_bytes() == before and Path(f"{kept.place}/mark-verified").is_file()
