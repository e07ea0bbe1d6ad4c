"""Forks, and files that are taken away: what was acknowledged is in the ledger, or it was not acknowledged."""

import fcntl
import os
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from discreet.curator import mark as marks
from discreet.curator.acts import DataChanged
from discreet.curator.amounts import UNIT
from discreet.curator.durable import Durable
from discreet.curator.forks import FORKS
from discreet.curator.ledger import advance
from discreet.curator.mark import Mark
from discreet.curator.page import Page
from discreet.curator.session import Curator
from discreet.curator.store import Store
from discreet.errors import DiscreetError, Fault
from tests.curator.cases import Place, code_of, creation, granted, place, request, spent
from tests.scale import repeats

PEOPLE = {"patient_id": list(range(100))}
QUESTION = "SELECT COUNT(*) AS n FROM visits WHERE patient_id <> "
TENTH = UNIT // 10


class Child:
    """A forked process that acts when it is told to, and says when it has."""

    def __init__(self, *acts: Callable[[], object]) -> None:
        self._said, said = os.pipe()
        told, self._told = os.pipe()
        self.id = os.fork()
        if self.id == 0:
            try:
                for act in acts:
                    os.read(told, 1)
                    act()
                    os.write(said, b"x")
            except BaseException:
                os._exit(1)
            os._exit(0)
        os.close(said)
        os.close(told)

    def go_on(self) -> bool:
        """Let it do its next act; whether it did."""
        os.write(self._told, b"x")
        return os.read(self._said, 1) == b"x"

    def ended(self, within: float = 60) -> int | None:
        """Its exit status; None where it hangs, and is killed."""
        until = time.monotonic() + within
        while time.monotonic() < until:
            child, status = os.waitpid(self.id, os.WNOHANG)
            if child:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.01)
        os.kill(self.id, 9)
        os.waitpid(self.id, 0)
        return None


def charges_of_both_sides_are_kept(spot: Place) -> None:
    """Whoever closes first: every charge that was acknowledged is found by the next process."""
    for first in ("parent", "child"):
        store = spot.open(creation(100))
        before = spent(store)
        granted(store.reserve(request(f"{first} before")))
        child = Child(
            lambda store=store, first=first: store.reserve(request(f"{first} child")),
            *([store.close] if first == "child" else []),
            lambda store=store, first=first: (
                [store.reserve(request(f"{first} later {i}")) for i in range(3)] if first == "parent" else None
            ),
        )
        assert child.go_on()
        if first == "child":
            assert child.go_on()
            granted(store.reserve(request("parent after")))
        else:
            store.close()
        assert child.go_on() and child.ended() == 0
        store.close()
        with spot.open() as anew:
            assert spent(anew) == before + (5 if first == "parent" else 3) * TENTH
            anew.verify()


def test_charges_of_both_sides_of_a_fork_are_kept(spot: Place) -> None:
    charges_of_both_sides_are_kept(spot)


def test_a_curator_that_was_forked_gives_no_more_answers_than_its_budget_has(tmp_path: Path) -> None:
    def curator() -> Curator:
        columns = {"patient_id": {"type": "integer"}}
        return Curator({"visits": PEOPLE}, "patient_id", columns, epsilon=5, ledger=tmp_path / "ledger")

    one = curator()
    one.sql(QUESTION + "0", epsilon=1)
    child = Child(
        lambda: one.sql(QUESTION + "1", epsilon=1),
        lambda: [one.sql(QUESTION + str(i), epsilon=1) for i in (2, 3, 4)],
    )
    assert child.go_on()
    one.close()
    assert child.go_on() and child.ended() == 0
    with curator() as anew:
        assert anew.spent.epsilon == 5
        assert code_of(lambda: anew.sql(QUESTION + "9", epsilon=1)) == "budget"


def children_of_busy_parents_end(spot: Place) -> None:
    """Threads charge while the process forks: each child charges too, and none waits for a lock that nobody will open."""
    store = spot.open(creation(1000))
    stop, done = threading.Event(), []

    def client(name: int) -> None:
        while not stop.is_set():
            granted(store.reserve(request(f"{name}-{len(done)}-{time.monotonic_ns()}")))
            done.append(name)

    threads = [threading.Thread(target=client, args=(n,)) for n in range(2)]
    for thread in threads:
        thread.start()
    try:
        children = []
        for i in range(repeats(12)):
            children.append(Child(lambda i=i: store.reserve(request(f"child {i}"))))
            assert children[-1].go_on()
        assert [child.ended(20) for child in children] == [0] * len(children)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert spent(store) == (len(done) + len(children)) * TENTH
    store.verify()


def test_a_child_that_is_forked_while_threads_charge_does_not_hang() -> None:
    with place() as spot:
        children_of_busy_parents_end(spot)


def test_a_fork_in_the_midst_of_a_use_leaves_a_child_that_is_refused_by_name() -> None:
    with place() as spot:
        store = spot.open(creation(1))

        def refused() -> None:
            codes = {code_of(store.standing), code_of(lambda: store.reserve(request("x"))), code_of(spot.open)}
            store.close()
            if codes != {"ledger-forked"}:
                raise AssertionError(codes)

        with FORKS.inside():
            child = Child(refused)
        assert child.go_on() and child.ended() == 0
        granted(store.reserve(request("parent")))


def test_the_lock_of_a_mark_is_held_by_no_child(tmp_path: Path) -> None:
    mark = Mark(tmp_path / "mark")
    inside, go = threading.Event(), threading.Event()

    def holder() -> None:
        with mark._locked():
            inside.set()
            go.wait(60)

    thread = threading.Thread(target=holder)
    thread.start()
    inside.wait(60)
    threading.Timer(0.2, go.set).start()
    child = Child(lambda: None)  # the fork waits until the lock is free
    mark.advance(1, "0" * 64)
    thread.join()
    assert child.go_on() and child.ended() == 0


@pytest.mark.parametrize("act", ["advance", "reset"])
def test_waiting_for_a_mark_ends_with_a_clear_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: str) -> None:
    monkeypatch.setattr(marks, "PATIENCE", 0.05)
    mark = Mark(tmp_path / "mark")
    mark.advance(1, "0" * 64)
    with (tmp_path / "mark").open() as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(Fault, match="another process keeps it locked") as caught:
            getattr(mark, act)(2, "1" * 64)
    assert caught.value.code == "ledger-unavailable"
    mark.advance(2, "1" * 64)
    assert mark.read() == (2, "1" * 64)


# Files that are taken away under an open ledger.


def _removed(ledger: Path) -> None:
    shutil.rmtree(ledger)


def _file_removed(ledger: Path) -> None:
    (ledger / "ledger.sqlite").unlink()


def _log_removed(ledger: Path) -> None:
    (ledger / "ledger.sqlite-wal").unlink()


def _moved(ledger: Path) -> None:
    ledger.rename(ledger.with_name("elsewhere"))


def _exchanged(ledger: Path) -> None:
    shutil.copytree(ledger, ledger.with_name("copy"))
    _moved(ledger)
    ledger.with_name("copy").rename(ledger)


TAKEN: dict[str, Callable[[Path], Any]] = {
    "removed": _removed,
    "file removed": _file_removed,
    "log removed": _log_removed,
    "moved": _moved,
    "exchanged": _exchanged,
}


@pytest.mark.parametrize("how", TAKEN)
@pytest.mark.parametrize("act", ["reserve", "stored", "standing"])
def test_a_ledger_that_was_taken_away_acknowledges_nothing_and_gives_nothing(how: str, act: str) -> None:
    with place() as spot:
        store = spot.open(creation(1))
        store.settle(granted(store.reserve(request("a"))), b"kept")
        TAKEN[how](spot.ledger)
        given = {"reserve": [request("b")], "stored": ["a"], "standing": []}[act]
        assert code_of(lambda: getattr(store, act)(*given)) == "ledger-moved"


def a_commit_into_nothing_is_told(spot: Place) -> None:
    """A file that is taken away in the midst of a transaction: the charge is not acknowledged."""
    store = spot.open(creation(1))

    def step(page: Page) -> None:
        page.add(advance(page.head(), DataChanged("2"), 0))
        _moved(spot.ledger)

    assert code_of(lambda: store._write(step)) == "ledger-moved"


def test_a_commit_into_a_file_that_is_gone_is_told() -> None:
    with place() as spot:
        a_commit_into_nothing_is_told(spot)


def test_a_ledger_that_comes_back_goes_on() -> None:
    with place() as spot:
        store = spot.open(creation(1))
        _moved(spot.ledger)
        with pytest.raises(DiscreetError):
            store.reserve(request("a"))
        spot.ledger.with_name("elsewhere").rename(spot.ledger)
        granted(store.reserve(request("b")))
        assert spent(store) == TENTH


class OfTheParent:
    """A connection that a forked process must neither use nor close."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} of a connection of the parent")


def threads_of_a_child_start_anew_once(spot: Place) -> None:
    """Threads that come in together after a fork share one turn and one connection, none of them the parent's."""
    store = spot.open(creation(1))
    started: list[str] = []

    def slowly(self: Store, name: str, value: object) -> None:
        time.sleep(0.002)
        object.__setattr__(self, name, value)
        if name == "_turns":
            started.append(name)

    # As after a fork: the process is another one, and what was open is the parent's.
    store._writer = store._reader = OfTheParent()
    store._process = 0
    codes: list[str] = []

    def come(number: int) -> None:
        # Some come while nobody has begun, some in the midst of it.
        time.sleep(0.001 * number)
        store._here()

    def write(number: int) -> None:
        codes.append(code_of(lambda: store.reserve(request(f"k{number}"))))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Durable, "__setattr__", slowly)
        together(come)
    # Before anything is written: two threads in one connection end the process.
    assert len(started) == 1
    together(write)
    assert codes == ["no error"] * 8


def together(work: Callable[[int], None]) -> None:
    """Eight threads, at once."""
    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_threads_of_a_forked_process_start_anew_once() -> None:
    with place() as spot:
        threads_of_a_child_start_anew_once(spot)
