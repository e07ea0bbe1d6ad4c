"""A copy of a ledger that was brought back and accepted revives nothing: what was open in it can be answered or drawn by nobody again."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

import pytest

from discreet.curator.replay import replay
from discreet.curator.session import Curator
from discreet.curator.sqlite import SQLiteStore
from discreet.curator.store import Store
from discreet.mechanisms.measure import Grant
from tests.curator.cases import Place, code_of, creation, granted, place, request
from tests.curator.test_measure import EVENT, curator, draw

COUNT = "SELECT COUNT(*) AS n FROM visits"


class Left(Exception):
    """Somebody left in the midst of a measurement."""


@contextmanager
def brought_back(folder: Path) -> Iterator[None]:
    """The ledger is afterwards what it was before."""
    shutil.copytree(folder / "ledger", folder / "backup")
    yield
    shutil.rmtree(folder / "ledger")
    shutil.copytree(folder / "backup", folder / "ledger")


def accept(folder: Path) -> None:
    SQLiteStore.open(folder / "ledger", creation=None, accept="the disk was replaced").close()


Enter = Callable[[Curator], AbstractContextManager[Grant]]
WAYS: dict[str, Enter] = {
    "kept": lambda found: found.measure(EVENT, key="k"),
    "counted": lambda found: found.measure(EVENT, key="k", kept=False),
}


def no_grant_is_revived(way: str, before: int) -> None:
    """So many draws were made when the copy was taken; a question that is asked afterwards moves the mark."""
    enter = WAYS[way]
    with place() as spot:
        with curator(spot.folder) as found:
            left_after(before, enter(found))
            with brought_back(spot.folder):
                left_after(1 - before, enter(found))
                found.sql(COUNT, epsilon=0.1)
        with curator(spot.folder) as again:
            assert code_of(lambda: again.spent) == "rollback"
            assert code_of(lambda: enter(again).__enter__()) == "rollback"
        accept(spot.folder)
        with curator(spot.folder) as again:
            assert code_of(lambda: enter(again).__enter__()) == "restored"
            with again.measure(EVENT, key="another") as grant:
                draw(grant)


def left_after(draws: int, entered: AbstractContextManager[Grant]) -> None:
    with suppress(Left), entered as grant:
        for _ in range(draws):
            draw(grant)
        raise Left


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("before", [0, 1])
def test_no_grant_of_a_restored_copy_is_entered_again(way: str, before: int) -> None:
    no_grant_is_revived(way, before)


@pytest.mark.parametrize("way", WAYS)
def test_a_draw_after_the_copy_is_missed_though_no_row_was_written(way: str) -> None:
    enter = WAYS[way]
    with place() as spot:
        with curator(spot.folder) as found:
            left_after(0, enter(found))
            with brought_back(spot.folder):
                left_after(1, enter(found))
        for _ in range(2):
            with curator(spot.folder) as again:
                assert code_of(lambda again=again: enter(again).__enter__()) == "rollback"  # type: ignore[misc]
            accept(spot.folder)  # by rows it is the newest: there is nothing to accept


def accepted_with_something_open(spot: Place) -> Store:
    """Two reservations are open in a copy; one is answered afterwards; the copy is brought back and accepted."""
    store = spot.open(creation(1))
    one, _ = (granted(store.reserve(request(key))) for key in "ab")
    with brought_back(spot.folder):
        store.settle(one, b"released")
        store.close()
    assert code_of(spot.open) == "rollback"
    return spot.open(accept="the disk was replaced")


def what_was_open_is_ended(spot: Place) -> None:
    """Not computed again, not settled, not drawn from; the charge stays, and what is asked anew is charged."""
    store = accepted_with_something_open(spot)
    for key, sequence in (("a", 2), ("b", 3)):
        assert code_of(lambda key=key: store.reserve(request(key))) == "restored"  # type: ignore[misc]
        assert code_of(lambda sequence=sequence: store.begin_draw(sequence, 1, "noise")) == "restored"  # type: ignore[misc]
    waiting = granted(store.reserve(request("c")))
    assert code_of(lambda: store.settle(waiting, b"")) == "no error"
    assert store.standing().spent.exact[0] * 10 == 3
    store.verify()
    replay(store.export())


def test_no_question_that_was_open_in_a_restored_copy_is_computed_again() -> None:
    with place() as spot:
        what_was_open_is_ended(spot)


def test_who_computed_it_meanwhile_cannot_settle_it() -> None:
    with place() as spot:
        store = spot.open(creation(1))
        waiting = granted(store.reserve(request("a")))
        with brought_back(spot.folder):
            granted(store.reserve(request("b")))
            store.close()
        store = spot.open(accept="the disk was replaced")
        assert code_of(lambda: store.settle(waiting, b"")) == "restored"
        store.fail(waiting)
        store.verify()


def test_answers_that_were_kept_in_the_copy_are_still_given() -> None:
    with place() as spot:
        store = spot.open(creation(1))
        store.settle(granted(store.reserve(request("a"))), b"kept")
        with brought_back(spot.folder):
            granted(store.reserve(request("b")))
            store.close()
        store = spot.open(accept="the disk was replaced")
        assert store.stored("a") == b"kept"
        assert code_of(lambda: store.reserve(request("b"))) == "no error"  # it is not in this ledger
