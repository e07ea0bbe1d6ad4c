"""The contract of every store: what a session may rely on, whatever keeps the rows."""

import copy
import json
import os
import pickle
import sqlite3
import threading
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from discreet.curator import acts, durable, sqlite
from discreet.curator import replay as replaying
from discreet.curator import store as stores
from discreet.curator.acts import Accepted, Creation, Resumed
from discreet.curator.amounts import UNIT, Amounts
from discreet.curator.ledger import MOST_FAILURES, MOST_OF_ONE
from discreet.curator.looking import look
from discreet.curator.mark import SLOT, Mark
from discreet.curator.money import cap_of, price_of
from discreet.curator.replay import replay
from discreet.curator.request import Reservation, Stored
from discreet.curator.sqlite import SQLite, SQLiteStore
from discreet.curator.store import Store
from discreet.errors import Fault, Invalid
from discreet.privacy import events
from tests.curator.cases import Place, cap, code_of, creation, granted, place, request, spent

TENTH = UNIT // 10


def answers_are_kept_and_free(spot: Place) -> None:
    store = spot.open(creation(1))
    first = granted(store.reserve(request("k")))
    assert not first.again and store.stored("k") is None and spent(store) == TENTH
    assert store.settle(first, b"42") == b"42"
    for _ in range(3):
        again = store.reserve(request("k"))
        assert isinstance(again, Stored) and again.answer == b"42"
    assert store.stored("k") == b"42" and spent(store) == TENTH
    assert store.stored("other") is None
    store.close()
    assert spot.open().stored("k") == b"42"


def test_an_answer_is_charged_once_and_free_ever_after(spot: Place) -> None:
    answers_are_kept_and_free(spot)


def ten_of_eleven(spot: Place) -> None:
    store = spot.open(creation(1))
    for i in range(10):
        granted(store.reserve(request(f"k{i}")))
    before = store.export()
    assert code_of(lambda: store.reserve(request("k10"))) == "budget"
    assert store.export() == before and spent(store) == UNIT and store.standing().remaining.epsilon == 0


def test_ten_tenths_of_one_are_granted_and_the_eleventh_refused(spot: Place) -> None:
    ten_of_eleven(spot)


def unsettled_is_computed_again(spot: Place) -> None:
    store = spot.open(creation(1))
    lost = granted(store.reserve(request("k")))
    again = granted(store.reserve(request("k")))
    assert again.again and again.sequence == lost.sequence and spent(store) == TENTH
    assert store.settle(again, b"fresh noise") == b"fresh noise"
    assert store.settle(lost, b"other noise") == b"fresh noise"
    assert store.stored("k") == b"fresh noise"
    store.verify()


def test_a_retry_computes_again_at_the_same_charge_and_the_first_settlement_wins(spot: Place) -> None:
    unsettled_is_computed_again(spot)


def test_a_key_names_one_request_of_one_analyst(spot: Place) -> None:
    store = spot.open(creation(5))
    store.add_analyst("ana", cap(1))
    store.add_analyst("bo", cap(1))
    first = granted(store.reserve(request("k", "1/10", "ana")))
    before = store.export()
    others = [request("k", "2/10", "ana"), request("k", "1/10", "ana", question="another")]
    for other in others:
        assert code_of(lambda other=other: store.reserve(other)) == "key-reused"
    store.settle(first, b"42")
    for other in others:
        assert code_of(lambda other=other: store.reserve(other)) == "key-reused"
    assert store.stored("k", "ana") == b"42" and store.stored("k", "bo") is None and store.stored("k") is None
    assert len(store.export()["rows"]) == len(before["rows"]) + 1


def test_two_caps_are_checked_in_one_step(spot: Place) -> None:
    store = spot.open(creation(1))
    store.add_analyst("ana", cap("1/2"))
    store.add_analyst("bo", cap(1))
    granted(store.reserve(request("a", "1/2", "ana")))
    assert code_of(lambda: store.reserve(request("b", "1/10", "ana"))) == "analyst-budget"
    assert code_of(lambda: store.reserve(request("c", "6/10", "bo"))) == "budget"
    assert spent(store, "bo") == 0 and spent(store) == UNIT // 2
    granted(store.reserve(request("d", "1/2")))
    assert code_of(lambda: store.reserve(request("e", "1/10", "bo"))) == "budget"
    assert spent(store, "ana") == UNIT // 2 and spent(store, "bo") == 0 and spent(store) == UNIT


def test_analysts_come_and_go_and_have_still_spent(spot: Place) -> None:
    store = spot.open(creation(5))
    assert code_of(lambda: store.reserve(request("a", analyst="ana"))) == "analyst-unknown"
    assert code_of(lambda: store.standing("ana")) == "analyst-unknown"
    assert code_of(lambda: store.remove_analyst("ana")) == "analyst-unknown"
    store.add_analyst("ana", cap("1/2"))
    assert code_of(lambda: store.add_analyst("ana", cap("1/2"))) == "invalid"
    open_one = granted(store.reserve(request("a", "3/10", "ana")))
    store.remove_analyst("ana")
    assert code_of(lambda: store.reserve(request("b", analyst="ana"))) == "analyst-unknown"
    assert store.settle(open_one, b"42") == b"42"  # what runs may end
    assert store.stored("a", "ana") is None
    assert code_of(lambda: store.add_analyst("ana", cap(1))) == "cap-higher"
    store.add_analyst("ana", cap("1/2"))
    assert spent(store, "ana") == 3 * TENTH and store.stored("a", "ana") == b"42"
    assert code_of(lambda: store.reserve(request("b", "3/10", "ana"))) == "analyst-budget"
    assert [*store.analysts()] == ["ana"]


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 300, 7, None, "\ud800", "a\0"])
def test_names_and_caps_are_checked_before_anything_changes(name: Any) -> None:
    with_store = SQLiteStore.__new__(SQLiteStore)
    for act in (
        lambda: Store.add_analyst(with_store, name, cap(1)),
        lambda: Store.add_analyst(with_store, "ana", 1),  # type: ignore[arg-type]
        lambda: Store.set_cap(with_store, 1),  # type: ignore[arg-type]
        lambda: Store.change_data(with_store, name),
    ):
        with pytest.raises(Invalid):
            act()


def test_caps_go_down_at_once_and_up_only_on_purpose(spot: Place) -> None:
    store = spot.open(creation(1))
    granted(store.reserve(request("a", "1/2")))
    store.set_cap(cap("3/10"))
    totals = store.standing()
    assert totals.spent.epsilon > totals.cap.epsilon and totals.remaining == Amounts(0, 10**9)
    assert code_of(lambda: store.reserve(request("b", "1/100"))) == "budget"
    assert code_of(lambda: store.set_cap(cap(2))) == "cap-higher"
    rows = len(store.export()["rows"])
    store.set_cap(cap("3/10"))  # the same again is no act
    assert len(store.export()["rows"]) == rows
    store.set_cap(cap(2), higher=True)
    granted(store.reserve(request("b", "3/2")))
    store.add_analyst("ana", cap(1))
    store.set_cap(cap("1/2"), "ana")
    assert code_of(lambda: store.set_cap(cap(1), "ana")) == "cap-higher"
    assert code_of(lambda: store.set_cap(cap(1), "bo")) == "analyst-unknown"


def test_failures_keep_the_charge_and_stop_the_data_set(spot: Place) -> None:
    store = spot.open(creation(100))
    for i in range(MOST_FAILURES):
        store.fail(granted(store.reserve(request(f"k{i}"))))
        assert code_of(lambda i=i: store.reserve(request(f"k{i}"))) == "failed"
    assert spent(store) == MOST_FAILURES * TENTH and store.standing().failures == MOST_FAILURES
    assert code_of(lambda: store.reserve(request("another"))) == "stopped"
    store.resume("the disk was full")
    granted(store.reserve(request("another")))
    assert store.standing().failures == 0 and code_of(lambda: store.resume("again")) == "usage"
    store.verify()


def an_analyst_who_fails_stops_nobody_else(spot: Place) -> None:
    """Whoever makes questions fail is suspended long before the data set stops, until the owner resumes them by name."""
    store = spot.open(creation(100))
    for name in ("ana", "bo"):
        store.add_analyst(name, cap(10))
    for turn in range(2):
        for i in range(MOST_OF_ONE):
            store.fail(granted(store.reserve(request(f"{turn} {i}", analyst="ana"))))
        assert code_of(lambda turn=turn: store.reserve(request(f"{turn}", analyst="ana"))) == "suspended"
        granted(store.reserve(request(f"{turn}", analyst="bo")))
        granted(store.reserve(request(f"{turn}")))
        assert store.standing().failures == (turn + 1) * MOST_OF_ONE
        assert code_of(lambda: store.resume("why", "eve")) == "analyst-unknown"
        store.resume("looked into it", "ana")
    granted(store.reserve(request("after", analyst="ana")))
    assert [row.act.reason for row in store.history() if isinstance(row.act, Resumed)] == ["looked into it"] * 2
    store.verify()


def test_an_analyst_who_fails_is_suspended_and_stops_nobody_else(spot: Place) -> None:
    an_analyst_who_fails_stops_nobody_else(spot)


def test_a_failure_after_the_settlement_changes_no_answer(spot: Place) -> None:
    store = spot.open(creation(1))
    one = granted(store.reserve(request("k")))
    store.settle(one, b"42")
    store.fail(one)
    assert store.stored("k") == b"42" and store.standing().failures == 1
    two = granted(store.reserve(request("l")))
    store.fail(two)
    assert code_of(lambda: store.settle(two, b"43")) == "failed" and store.stored("l") is None
    store.verify()


def test_the_budget_goes_on_across_versions_of_the_data(spot: Place) -> None:
    store = spot.open(creation(1))
    store.settle(granted(store.reserve(request("k"))), b"42")
    store.change_data("2")
    store.change_data("2")
    assert code_of(lambda: store.reserve(request("l"))) == "data-version"
    granted(store.reserve(request("l", data_version="2")))
    assert store.stored("k") == b"42" and spent(store) == 2 * TENTH and store.standing().version == "2"


def test_shared_answers_cost_the_data_set_nothing(spot: Place) -> None:
    store = spot.open(creation(1), share_answers=True)
    for name in ("ana", "bo", "cy"):
        store.add_analyst(name, cap("7/10"))
    first = granted(store.reserve(request("a", "7/10", "ana", question="q")))
    asked = request("b", "7/10", "bo", question="q")
    assert code_of(lambda: store.reserve(asked)) == "budget"  # not settled yet
    store.settle(first, b"42")
    for _ in range(2):
        shared = store.reserve(asked)
        assert isinstance(shared, Stored) and shared.answer == b"42"
    assert store.stored("b", "bo") == b"42"
    assert spent(store) == spent(store, "ana") == spent(store, "bo") == 7 * TENTH
    assert code_of(lambda: store.reserve(request("c", "7/10", "cy", question="other"))) == "budget"
    assert code_of(lambda: store.reserve(request("d", "3/10", "bo", question="q"))) == "analyst-budget"
    store.verify()
    store.close()
    alone = spot.open()
    assert code_of(lambda: alone.reserve(request("c", "7/10", "cy", question="q"))) == "budget"


HOSTILE: list[Any] = [-1, 0.1, None, "0.1", True, Fraction(1, 10)]


def test_hostile_requests_change_nothing(spot: Place) -> None:
    store = spot.open(creation(1))
    before = store.export()
    for price in HOSTILE:
        with pytest.raises(Invalid):
            store.reserve(request("k", price=price))
    for event, price in (
        (events.Pure(1), Amounts()),
        (events.Pure(1), Amounts(UNIT - 1)),
        (events.Pure(0), Amounts(0, 0, 1)),
        (events.Under(events.Pure(0), ADD_ROW), Amounts(1)),
    ):
        with pytest.raises(Invalid):
            store.reserve(request("k", price=price, event=event.to_json()))
    for wrong in ({"event": "nonesuch"}, {}, {"event": "pure", "epsilon": 1}):
        with pytest.raises(Invalid):
            store.reserve(request("k", event=wrong))
    with pytest.raises(Invalid):
        store.reserve("k")  # type: ignore[arg-type]
    one = Reservation(99, "k", None, Amounts(1))
    for act in (lambda: store.settle(one, b""), lambda: store.fail(one)):
        assert code_of(act) == "reservation"
    with pytest.raises(Invalid):
        store.settle(one, "42")  # type: ignore[arg-type]
    assert store.export() == before


ADD_ROW = events.from_json(
    {
        "event": "under",
        "part": {"event": "pure", "epsilon": "0"},
        "relation": {"adjacency": "add-remove", "unit": "row"},
    }
).relation  # type: ignore[attr-defined]


def test_what_costs_nothing_is_charged_nothing(spot: Place) -> None:
    store = spot.open(creation(1))
    granted(store.reserve(request("k", 0)))
    assert spent(store) == 0
    store.verify()


def test_the_concentrated_accountant_adds_up_rho(spot: Place) -> None:
    made = creation(1, Fraction(2, 10**7), "zcdp")
    store = spot.open(made)
    event = events.DiscreteGaussian(10, 1)
    price = price_of(event, 1, 0, "zcdp")
    assert price == Amounts(0, 0, UNIT // 200)
    for i in range(4):
        granted(store.reserve(request(f"{i}", price=price, event=event.to_json())))
    assert code_of(lambda: store.reserve(request("4", price=price, event=event.to_json()))) == "budget"
    totals = store.standing()
    assert totals.spent.rho == UNIT // 50 and totals.spent.epsilon == 0 and totals.budget == Amounts.up(1, 2e-7)
    store.set_cap(cap_of("zcdp", 1, Fraction(1, 10**7)))
    store.verify()


def test_the_export_is_replayed_by_a_third_party(spot: Place) -> None:
    store = spot.open(creation(1))
    store.add_analyst("ana", cap(1))
    store.settle(granted(store.reserve(request("k", analyst="ana"))), b"secret answer")
    text = json.dumps(store.export())
    totals = replay(json.loads(text))
    assert totals[None] == store.standing() and totals["ana"] == store.standing("ana")
    assert "secret" not in text
    kinds = [row.act.kind for row in store.history()]
    assert kinds == ["created", "analyst-added", "reserved", "settled"]


def test_a_ledger_is_not_copied(spot: Place) -> None:
    store = spot.open(creation(1))
    for act in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot be copied"):
            act(store)


def test_a_closed_ledger_says_so(spot: Place) -> None:
    with spot.open(creation(1)) as store:
        store.standing()
    assert code_of(lambda: store.reserve(request("k"))) == "ledger-closed"
    assert code_of(store.standing) == "ledger-closed"
    store.close()


def test_several_stores_see_one_ledger(spot: Place) -> None:
    one = spot.open(creation(1))
    two = spot.open(creation(7))  # a creation is for who comes first
    for i in range(10):
        granted((one, two)[i % 2].reserve(request(f"{i}")))
    assert code_of(lambda: one.reserve(request("x"))) == code_of(lambda: two.reserve(request("x"))) == "budget"
    assert spent(one) == spent(two) == UNIT


def test_threads_share_commits_and_lose_nothing(spot: Place) -> None:
    store = spot.open(creation(100))
    outcomes: list[str] = []

    def client(name: int) -> None:
        for i in range(10):
            one = granted(store.reserve(request(f"{name}-{i}", 1)))
            outcomes.append(store.settle(one, f"{name}-{i}".encode()).decode())

    threads = [threading.Thread(target=client, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(outcomes)) == 80 and spent(store) == 80 * UNIT
    assert all(store.stored(key) == key.encode() for key in outcomes)
    store.verify()


def in_a_fork(act: Any) -> int:
    """The exit status of an act in a forked process: 0 if it returned."""
    child = os.fork()
    if child == 0:
        try:
            act()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def forked_processes_connect_anew(spot: Place) -> None:
    store = spot.open(creation(1))
    granted(store.reserve(request("before")))
    mine = store._writer
    assert in_a_fork(lambda: granted(store.reserve(request("child"))) and None) == 0

    def other_connection() -> None:
        store.standing()
        store.reserve(request("child"))
        if store._writer is mine:
            raise AssertionError

    assert in_a_fork(other_connection) == 0
    granted(store.reserve(request("after")))
    assert spent(store) == 3 * TENTH and store._writer is mine
    store.verify()


def test_a_forked_process_connects_anew(spot: Place) -> None:
    forked_processes_connect_anew(spot)


# The mark.


def rollback_is_refused(spot: Place) -> None:
    """For a store in a file: the file goes back to an older copy."""
    store = spot.open(creation(1))
    granted(store.reserve(request("a")))
    store.close()
    old = {path.name: path.read_bytes() for path in spot.ledger.iterdir()}
    store = spot.open()
    granted(store.reserve(request("b")))
    store.close()
    for path in spot.ledger.iterdir():
        path.unlink()
    for name, data in old.items():
        (spot.ledger / name).write_bytes(data)
    assert code_of(spot.open) == code_of(lambda: spot.open(creation(1))) == "rollback"
    store = spot.open(accept="the disk was replaced")
    assert spent(store) == TENTH
    last = [*store.history()][-1].act
    assert isinstance(last, Accepted) and last.reason == "the disk was replaced"
    granted(store.reserve(request("c")))
    store.close()
    spot.open().verify()


def test_an_old_backup_is_refused_until_it_is_accepted() -> None:
    with place() as spot:
        rollback_is_refused(spot)


def test_a_deleted_ledger_is_refused_until_it_is_accepted() -> None:
    with place() as spot:
        store = spot.open(creation(1))
        granted(store.reserve(request("a")))
        store.close()
        for path in spot.ledger.iterdir():
            path.unlink()
        for made in (None, creation(1)):
            assert code_of(lambda made=made: spot.open(made)) == "rollback"
        assert not list(spot.ledger.iterdir())
        store = spot.open(creation(1), accept="the disk was replaced")
        assert [row.act.kind for row in store.history()] == ["created", "accepted"]
        store.close()
        granted(spot.open().reserve(request("a")))


@pytest.mark.parametrize("reason", ["", "a\nb", "x" * 1001, "\ud800", 3])
def test_a_reason_that_cannot_be_kept_accepts_nothing(reason: Any) -> None:
    with place() as spot:
        store = spot.open(creation(1))
        granted(store.reserve(request("a")))
        store.close()
        for path in spot.ledger.iterdir():
            path.unlink()
        with pytest.raises(Invalid, match="reason"):
            spot.open(creation(1), accept=reason)
        assert not list(spot.ledger.iterdir()) and code_of(spot.open) == "rollback"


def test_a_ledger_that_goes_back_while_it_is_used_grants_nothing(spot: Place) -> None:
    store = spot.open(creation(1))
    granted(store.reserve(request("a")))
    Mark(spot.mark).reset(40, "f" * 64)
    assert code_of(lambda: store.reserve(request("b"))) == "rollback"
    Mark(spot.mark).reset(2, "f" * 64)  # the same length, another history
    assert code_of(lambda: store.reserve(request("b"))) == "rollback"
    assert spent(store) == TENTH
    store.accept("the disk was replaced")
    granted(store.reserve(request("b")))
    assert [row.act.kind for row in store.history()] == ["created", "reserved", "accepted", "reserved"]
    store.accept("the disk was replaced")  # nothing to accept
    assert len([*store.history()]) == 4


def mark_is_at_the_head(spot: Place) -> None:
    store = spot.open(creation(1))
    for i in range(4):
        one = granted(store.reserve(request(f"{i}")))
        assert Mark(spot.mark).read() == (2 * i + 2, store.export()["rows"][-1]["hash"])
        store.settle(one, b"")
        assert Mark(spot.mark).read() == (2 * i + 3, store.export()["rows"][-1]["hash"])


def test_the_mark_is_there_before_anything_is_released(spot: Place) -> None:
    mark_is_at_the_head(spot)


def test_a_mark_behind_the_ledger_is_moved_forward(spot: Place) -> None:
    store = spot.open(creation(1))
    old = spot.mark.read_bytes()
    granted(store.reserve(request("a")))
    store.close()
    spot.mark.write_bytes(old)
    spot.open().close()
    assert (Mark(spot.mark).read() or (0, ""))[0] == 2


@pytest.mark.parametrize("left", [None, b""])
def test_a_mark_that_was_taken_away_is_missed_where_the_ledger_has_a_place(spot: Place, left: bytes | None) -> None:
    """A ledger on a server has a mark on each machine, and remembers none of them."""
    store = spot.open(creation(1))
    granted(store.reserve(request("a")))
    store.close()
    spot.mark.unlink()
    if left is not None:
        spot.mark.write_bytes(left)
    assert code_of(spot.open) == ("no error" if spot.server else "mark-lost")
    spot.open(accept="the disk was replaced").close()
    assert (Mark(spot.mark).read() or (0, ""))[0] == (2 if spot.server else 3)
    spot.open().verify()


def test_a_mark_never_goes_back_by_itself(tmp_path: Path) -> None:
    mark = Mark(tmp_path / "a" / "b" / "mark")
    assert mark.read() is None
    for sequence in (3, 7):
        mark.advance(sequence, f"{sequence:064d}")
    newest = mark.path.read_bytes()
    for sequence in (2, 6, 5, 7):
        mark.advance(sequence, f"{sequence:064d}")
        assert mark.read() == (7, f"{7:064d}") and mark.path.read_bytes() == newest
    mark.reset(2, "0" * 64)
    assert mark.read() == (2, "0" * 64)


def test_a_torn_mark_leaves_the_one_before(tmp_path: Path) -> None:
    """However many rows a commit has: a mark is never written over the newest one."""
    for before, after in ((6, 7), (6, 8), (7, 9), (5, 10)):
        mark = Mark(tmp_path / f"{before} {after}")
        for sequence in (before - 1, before, after):
            mark.advance(sequence, "a" * 64)
        data = mark.path.read_bytes()
        newest = data.index(b"%d aaa" % after)
        assert len(data) == 2 * SLOT
        for cut in range(2, 80):
            mark.path.write_bytes(data[:newest] + b"9" * cut + data[newest + cut :])
            assert mark.read() == (before, "a" * 64)
    mark.path.write_bytes(b"x" * 256)
    assert code_of(mark.read) == "rollback"


@pytest.mark.parametrize("content", [b"patient_id,age\n1,30\n", b"x" * 256, b"0" * 257, "é".encode()])
def test_a_file_that_is_no_mark_is_not_written_over(tmp_path: Path, content: bytes) -> None:
    """The data, say, which a policy names as its mark: neither opening nor accepting changes a byte of it."""
    (tmp_path / "visits.csv").write_bytes(content)
    for accept in (None, "the disk was replaced"):
        code = code_of(
            lambda accept=accept: SQLiteStore.open(
                tmp_path / "ledger", creation=creation(1), mark=tmp_path / "visits.csv", accept=accept
            )
        )
        assert code in ("rollback", "mark") and (tmp_path / "visits.csv").read_bytes() == content


@pytest.mark.parametrize("way", [partial(SQLiteStore.open, creation=None), look], ids=["open", "look"])
def test_a_ledger_that_may_not_be_entered_is_unavailable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: Callable[[Path], SQLiteStore]
) -> None:
    def closed(self: Path, **_: Any) -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "exists", closed)
    with pytest.raises(Fault, match="Permission denied") as fault:
        way(tmp_path / "ledger")
    assert fault.value.code == "ledger-unavailable"


def test_folders_are_for_their_owner_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        path = tmp_path / "a" / "b" / "c"
        SQLiteStore.open(path / "ledger", creation=creation(1), mark=tmp_path / "d" / "e" / "mark").close()
    finally:
        os.umask(before)
    made = list(tmp_path.rglob("*"))
    assert {each.stat().st_mode & 0o777 for each in made if each.is_dir()} == {0o700}
    assert {each.stat().st_mode & 0o077 for each in made} == {0}


@pytest.mark.parametrize("name", ["owner", "Owner", "OWNER"])
def test_nobody_is_called_like_the_owner(spot: Place, name: str) -> None:
    store = spot.open(creation(1))
    assert code_of(lambda: store.add_analyst(name, cap(1))) == "analyst"


def test_the_mark_lies_in_the_state_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    store = SQLiteStore.open(tmp_path / "ledger", creation=creation(1))
    only, verified = sorted((tmp_path / "state" / "discreet" / "marks").iterdir())
    assert verified.name == f"{only.name}-verified" and verified.stat().st_mode & 0o077 == 0
    assert only == store.mark.path == Mark.of(str(tmp_path / "ledger")).path and len(only.name) == 64
    store.close()
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    assert Mark.of("x").path.is_relative_to(Path.home() / ".local" / "state")


# Formats and files.


def test_only_the_owner_can_look_in() -> None:
    with place() as spot:
        store = spot.open(creation(1))
        assert spot.ledger.stat().st_mode & 0o777 == 0o700
        assert all(path.stat().st_mode & 0o077 == 0 for path in [*spot.ledger.iterdir(), spot.mark])
        store.close()


def test_a_ledger_that_is_not_there_is_refused() -> None:
    with place() as spot:
        assert code_of(spot.open) == "ledger-missing"
        assert not spot.ledger.exists()


def test_an_older_format_opens_and_a_newer_one_is_refused(spot: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    store = spot.open(creation(1))
    granted(store.reserve(request("a")))
    store.close()
    modules: list[Any] = [stores, durable, sqlite, replaying, acts]
    newest = acts.FORMAT + 1
    if spot.server:
        from discreet.curator import postgres

        modules.append(postgres)
    for module in modules:
        monkeypatch.setattr(module, "FORMAT", newest)
    assert spent(spot.open()) == TENTH
    other = Place(spot.folder / "newer", spot.server)
    other.folder.mkdir()
    made = Creation("pure", cap(1), "add-remove one person", format=newest)
    other.open(made).close()
    monkeypatch.undo()
    assert code_of(other.open) == "ledger-newer"
    assert spent(spot.open()) == TENTH


def who_writes_is_alone(folder: Path) -> None:
    """From the moment a turn to write begins nobody else can begin one, before anything is read: no total is read twice and added to."""
    SQLiteStore.open(folder / "ledger", creation=creation(), mark=folder / "mark").close()
    file = folder / "ledger" / "ledger.sqlite"
    connection = SQLite(file)
    other = sqlite3.connect(file, timeout=0, isolation_level=None)
    try:
        with connection.writing():
            try:
                other.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                return
            raise AssertionError("two write at once")
    finally:
        other.close()
        connection.close()


def test_who_writes_is_alone(tmp_path: Path) -> None:
    who_writes_is_alone(tmp_path)
