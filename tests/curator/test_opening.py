"""Opening computes the rows again that came after the last one that was verified; and knows what it would know from the first row on."""

import random
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from fractions import Fraction
from typing import Any
from unittest import mock

import pytest

from discreet.curator.acts import Failed, Reserved, Settled, Shared
from discreet.curator.mark import Mark
from discreet.curator.money import check_act
from discreet.curator.page import Page
from discreet.curator.replay import Replay
from discreet.curator.request import Reservation
from discreet.curator.store import Store
from discreet.curator.verified import Earlier, Record, Verified, replay_after
from discreet.errors import DiscreetError
from tests.curator.cases import Place, cap, code_of, creation, granted, place, request
from tests.scale import repeats

NAMES = (None, "ana", "bo", "cy")
WEIGHTS = {
    "reserve": 12,
    "again": 4,
    "settle": 12,
    "fail": 1,
    "draw": 2,
    "resume": 4,
    "add": 3,
    "remove": 1,
    "cap": 1,
    "shares": 2,
    "version": 1,
    "accept": 1,
}


def step(store: Store, spot: Place, chance: random.Random, open_: list[Reservation], did: Counter[str]) -> None:
    """One act of somebody, whether it is allowed or not."""
    act, who, number = chance.choices([*WEIGHTS], [*WEIGHTS.values()])[0], chance.choice(NAMES), chance.randrange(10**6)
    version = store.standing().version
    match act:
        case "reserve" | "again":
            key = f"k{number % 20}" if act == "again" else f"k{number}"
            price = Fraction(1, 100)
            given = store.reserve(request(key, price, who, question=f"q{number % 3}", data_version=version))
            if isinstance(given, Reservation):
                open_.append(given)
        case "settle":
            store.settle(chance.choice(open_), f"answer {number}".encode())
        case "fail":
            store.fail(chance.choice(open_))
        case "draw":
            one = chance.choice(open_)
            store.begin_draw(one.sequence, len(store.drawn(one.sequence)) + 1, "noise")
        case "resume":
            store.resume("looked into it", who)
        case "add":
            store.add_analyst(who or "dan", cap(chance.choice((1, 2))), higher=True)
        case "remove":
            store.remove_analyst(who or "dan")
        case "cap":
            store.set_cap(cap(chance.choice((50, 60))), higher=True)
        case "shares":
            store.share(chance.choice(("common", "reserved")), common=True)
        case "version":
            store.change_data(str(number % 3))
        case "accept":
            Mark(spot.mark).reset(10**6, "f" * 64)
            store.accept("the disk was replaced")
    did[act] += 1


def history(spot: Place, chance: random.Random, steps: int) -> tuple[Store, Counter[str]]:
    """A ledger of random acts; and what was done how often."""
    store, open_, did = spot.open(creation(60), share_answers=True), list[Reservation](), Counter[str]()
    for _ in range(steps):
        try:
            step(store, spot, chance, open_, did)
        except (DiscreetError, IndexError):
            did["refused"] += 1
    return store, did


def replayed(store: Store, until: int | None = None, known: Verified | None = None) -> Replay:
    """From the first row, or after one that was verified, to a row."""
    again = Replay(check_act)
    with store._apart() as (_, page):
        if known is not None:
            assert replay_after(again, known, page)
            again._past = known_past(store, known)
        rows = page.bodies_after(0 if again.head is None else again.head.sequence)
        while rows:
            for sequence, hash, body in rows:
                if until is not None and sequence > until:
                    return again
                again.add(bytes(body), hash)
            rows = page.bodies_after(rows[-1][0])
    return again


def known_past(store: Store, known: Verified) -> Any:
    """The past of a replay, over a connection that outlives it."""

    class Kept:
        def __getattr__(self, name: str) -> Any:
            return lambda what: store._read(lambda page: getattr(Earlier(page, known.sequence), name)(what))

    return Kept()


def what_it_knows(again: Replay, rows: list[Any]) -> list[Any]:
    """Of every key and every row that there is."""
    keys = [row.act.key for row in rows if isinstance(row.act, Reserved | Shared)]
    numbers = range(1, len(rows) + 2)
    return [
        again.head,
        again.accounts,
        again.standings(),
        (again.most, again.strict, again.accepted),
        [again.used(key) for key in [*keys, "nobody's"]],
        [again.asked(number) for number in numbers],
        [again.ended(number) for number in numbers],
    ]


def opened_from_any_row_it_knows_the_same(histories: int, steps: int = 120) -> Counter[str]:
    """Whatever was verified first, and whatever came after: the same as from the first row. Returns which cases occurred."""
    chance, seen = random.Random(7), Counter[str]()
    for _ in range(histories):
        with place() as spot:
            store, did = history(spot, chance, steps)
            seen += did
            rows = list(store.history())
            expected = what_it_knows(replayed(store), rows)
            for cut in {1, len(rows), *(chance.randrange(1, len(rows) + 1) for _ in range(6))}:
                known = Verified.by(replayed(store, cut))
                assert known is not None and known.sequence == cut
                assert what_it_knows(replayed(store, known=known), rows) == expected
                seen += Counter(looked_back(rows, cut))
    return seen


def looked_back(rows: list[Any], cut: int) -> Iterator[str]:
    """Rows after a cut whose check needs one before it."""
    for row in rows[cut:]:
        match row.act:
            case Settled(reservation=at) | Failed(reservation=at) | Shared(source=at) if at <= cut:
                yield f"{row.act.kind} across the cut"
        if row.analyst is not None and any(each.analyst == row.analyst for each in rows[:cut]):
            yield "account across the cut"


def test_opened_after_any_row_a_ledger_is_known_as_from_its_first() -> None:
    seen = opened_from_any_row_it_knows_the_same(repeats(10))
    kinds = {"settled across the cut", "failed across the cut", "shared across the cut", "account across the cut"}
    assert kinds | set(WEIGHTS) | {"refused"} <= set(seen), seen


@contextmanager
def rows_computed() -> Iterator[list[int]]:
    """The rows that are computed again inside of the block."""
    found: list[int] = []
    add = Replay.add

    def counted(self: Replay, body: bytes, hash: str) -> Any:
        row = add(self, body, hash)
        found.append(row.sequence)
        return row

    with mock.patch.object(Replay, "add", counted):
        yield found


def charged(store: Store, keys: str) -> None:
    for key in keys:
        store.settle(granted(store.reserve(request(key, "1/100"))), key.encode())


def test_opening_computes_later_rows_only_and_verify_all(spot: Place) -> None:
    store = spot.open(creation(1))
    charged(store, "abc")
    store.close()
    with rows_computed() as found:
        store = spot.open()
    assert found == []  # closing went through them
    with rows_computed() as found:
        store.verify()
    assert found == [1, 2, 3, 4, 5, 6, 7]
    other = spot.open()
    charged(other, "de")
    with mock.patch.object(Store, "_keep_up"):  # as if it was killed
        other.close()
    with rows_computed() as found:
        spot.open()
    assert found == [8, 9, 10, 11]
    with rows_computed() as found:
        spot.open()
    assert found == []


def test_a_store_that_stays_open_notes_how_far_it_came(spot: Place) -> None:
    with mock.patch("discreet.curator.durable.EVERY", 4):
        store = spot.open(creation(1))
        charged(store, "abcdef")
        known = Record(spot.mark).read()
        assert known is not None and known.sequence >= 10
        with rows_computed() as found:
            spot.open()
        assert found == list(range(known.sequence + 1, 14))


def torn_records_are_none(spot: Place) -> None:
    """Whatever a crash or a disk leaves of it: all rows are computed again, and nothing fails."""
    store = spot.open(creation(1))
    charged(store, "abc")
    store.close()
    record, chance = Record(spot.mark), random.Random()
    whole = record.path.read_bytes()
    torn = [whole[: chance.randrange(len(whole))] for _ in range(repeats(10))]
    flips = []
    for _ in range(repeats(10)):
        data = bytearray(whole)
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        flips.append(bytes(data))
    for data in (whole[:-64] + b"0" * 64, b"", b"\n", b"\0" * 300, b"x" * 5000, *torn, *flips):
        record.path.write_bytes(data)
        assert record.read() is None
        with rows_computed() as found:
            spot.open()
        assert found == [1, 2, 3, 4, 5, 6, 7]
        assert record.path.read_bytes() == whole
    record.path.unlink()
    record.path.mkdir()  # it cannot be written either
    spot.open().close()


def test_a_record_that_is_not_whole_is_none(spot: Place) -> None:
    torn_records_are_none(spot)


def changed(spot: Place, *statements: str) -> None:
    with closing(sqlite3.connect(spot.ledger / "ledger.sqlite", isolation_level=None)) as file:
        for each in statements:
            file.execute(each)


def the_record_is_compared(spot: Place) -> None:
    """A record that names a row which the ledger does not have in that form is believed in nothing."""
    store = spot.open(creation(1), share_answers=True)
    store.add_analyst("ana", cap(1))
    store.reserve(request("a", "1/10", "ana"))
    charged(store, "bcd")
    store.close()
    known = Record(spot.mark).read()
    assert known is not None
    # an earlier row was changed that is nobody's last one; the last row is what it was
    changed(
        spot, "UPDATE rows SET body = CAST(REPLACE(CAST(body AS TEXT), 'visits', 'VISITS') AS BLOB) WHERE sequence = 4"
    )
    assert code_of(spot.open) == "no error"
    assert code_of(lambda: spot.open().verify()) == "ledger-broken"
    for wrong in (
        Verified(known.sequence, "f" * 64, known.accounts),
        Verified(known.sequence - 1, known.hash, known.accounts),
        Verified(known.sequence + 5, known.hash, known.accounts),
        Verified(known.sequence, known.hash, "f" * 64),
    ):
        Record(spot.mark).write(wrong)
        assert code_of(spot.open) == "ledger-broken", wrong


def test_a_changed_row_is_found_by_verify_and_by_opening_where_the_record_does_not_match() -> None:
    with place() as spot:
        the_record_is_compared(spot)


def old_accounts_are_compared(spot: Place) -> None:
    """The head stands for the data set; the last row of an analyst may be any row."""
    store = spot.open(creation(1))
    store.add_analyst("ana", cap(1))
    store.reserve(request("a", "1/10", "ana"))
    charged(store, "bcd")
    store.close()
    changed(spot, "UPDATE rows SET analyst = NULL WHERE sequence = 3")
    assert code_of(spot.open) == "ledger-broken"


def test_what_an_analyst_spent_is_compared_though_its_row_is_old() -> None:
    with place() as spot:
        old_accounts_are_compared(spot)


def test_an_exchanged_ledger_does_not_vouch_for_itself() -> None:
    """One that has the same length and other rows is refused by its mark; and without a mark looked through from its first row."""
    with place() as spot, place() as other:
        for each, keys in ((spot, "abc"), (other, "xyz")):
            store = each.open(creation(1))
            charged(store, keys)
            store.close()
        (spot.ledger / "ledger.sqlite").write_bytes((other.ledger / "ledger.sqlite").read_bytes())
        assert code_of(spot.open) == "rollback"
        with rows_computed() as found:
            spot.open(accept="the disk was replaced")
        assert found == [1, 2, 3, 4, 5, 6, 7, 8]


def test_rows_are_read_by_index_however_many_there_are() -> None:
    """Opening, and a retry, read no row but those that they need."""
    with place() as spot:
        store = spot.open(creation(1))
        store.add_analyst("ana", cap(1))
        charged(store, "abcdefghij")
        store.close()
        run, plans = Page.__init__, list[str]()

        def explained(self: Page, run_: Any, *rest: Any) -> None:
            def both(sql: str, values: tuple[Any, ...]) -> Any:
                if sql.startswith("SELECT") and "rows" in sql:
                    plans.extend(f"{row[3]} by {sql}" for row in run_(f"EXPLAIN QUERY PLAN {sql}", values))
                return run_(sql, values)

            run(self, both, *rest)

        with mock.patch.object(Page, "__init__", explained):
            store = spot.open()
            store.reserve(request("k", "1/100", "ana"))
            store.reserve(request("k", "1/100", "ana"))
            store.analysts()
            store.acts()
            store.close()
        scans = [plan for plan in plans if plan.startswith("SCAN")]
        assert len(plans) > 20 and all("ORDER BY sequence DESC LIMIT 1" in plan for plan in scans), scans


@pytest.mark.parametrize("share", [True, False])
def test_a_key_and_a_settlement_before_the_record_are_found(spot: Place, share: bool) -> None:
    store = spot.open(creation(1))
    charged(store, "a")
    waiting = granted(store.reserve(request("b", "1/100")))
    store.close()
    store = spot.open(share_answers=share)
    assert store.stored("a") == b"a"
    assert granted(store.reserve(request("b", "1/100"))).sequence == waiting.sequence
    assert code_of(lambda: store.reserve(request("a", "1/50"))) == "key-reused"
    store.settle(waiting, b"b")
    store.close()
    assert spot.open().stored("b") == b"b"
