"""Any flipped byte of any row is found; so is a ledger that lost its end."""

import random
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from discreet.curator.store import Store
from discreet.errors import DiscreetError, Fault
from tests.curator.cases import Place, cap, code_of, creation, granted, place, request
from tests.scale import repeats

COLUMNS = ("sequence", "hash", "body", "key", "analyst", "about", "topic", "answer")


def filled(spot: Place) -> Store:
    """A ledger with a row of most kinds."""
    store = spot.open(creation(3), share_answers=True)
    for name in ("ana", "bo"):
        store.add_analyst(name, cap(1))
    for i in range(3):
        one = granted(store.reserve(request(f"k{i}", "1/10", "ana", question=f"q{i}")))
        store.settle(one, f"answer {i}".encode())
    store.reserve(request("shared", "1/10", "bo", question="q0"))
    store.fail(granted(store.reserve(request("k4"))))
    store.set_cap(cap(2))
    store.remove_analyst("ana")
    store.change_data("2")
    return store


def flipped(value: Any, chance: random.Random) -> Any:
    """The value with one byte changed; nothing becomes something."""
    if value is None:
        return "x"
    if isinstance(value, int):
        return value ^ 1 << chance.randrange(8)
    data = bytearray(value.encode() if isinstance(value, str) else value)
    at = chance.randrange(len(data))
    data[at] ^= 1 << chance.randrange(7)
    return data.decode() if isinstance(value, str) else bytes(data)


@contextmanager
def flip(file: sqlite3.Connection, sequence: int, column: str, chance: random.Random) -> Iterator[None]:
    """One byte of one column of one row is another inside of the block."""
    (old,) = file.execute(f"SELECT {column} FROM rows WHERE sequence = ?", (sequence,)).fetchone()
    new = flipped(old, chance)
    where = new if column == "sequence" else sequence
    try:
        file.execute(f"UPDATE rows SET {column} = ? WHERE sequence = ?", (new, sequence))
    except sqlite3.IntegrityError:  # a number or a key that another row has
        file.execute(f"UPDATE rows SET {column} = ? WHERE sequence = ?", (where := 99, sequence))
    yield
    file.execute(f"UPDATE rows SET {column} = ? WHERE sequence = ?", (old, where if column == "sequence" else sequence))


def every_flip_is_found(tries: int) -> None:
    chance = random.Random()
    with place() as spot:
        store = filled(spot)
        rows = len([*store.history()])
        with closing(sqlite3.connect(spot.ledger / "ledger.sqlite", isolation_level=None)) as file:
            file.execute("PRAGMA synchronous = OFF")
            for n in range(tries):
                column = COLUMNS[n % len(COLUMNS)]
                with flip(file, chance.randrange(rows) + 1, column, chance):
                    assert code_of(store.verify) == "ledger-broken", column
        store.verify()


def test_any_flipped_byte_of_any_row_is_found() -> None:
    every_flip_is_found(repeats(50) * 20)


def test_a_flipped_byte_of_the_file_is_found_or_means_nothing() -> None:
    chance = random.Random()
    with place() as spot:
        store = filled(spot)
        exported = store.export()
        store.close()
        sound = (spot.ledger / "ledger.sqlite").read_bytes()
        for _ in range(repeats(100)):
            data = bytearray(sound)
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            (spot.ledger / "ledger.sqlite").write_bytes(data)
            try:
                again = spot.open()
            except DiscreetError as error:
                assert error.code in (
                    "ledger-broken",
                    "ledger-unavailable",
                    "ledger-newer",
                    "ledger-missing",
                    "rollback",
                )
            else:  # a row that was verified before is not computed again by opening
                if code_of(again.verify) != "ledger-broken":
                    assert again.export() == exported
                again.close()
            for left in spot.ledger.glob("*-*"):
                left.unlink()


def test_a_ledger_without_its_last_rows_is_refused() -> None:
    with place() as spot:
        store = filled(spot)
        store.close()
        with closing(sqlite3.connect(spot.ledger / "ledger.sqlite", isolation_level=None)) as file:
            file.execute("DELETE FROM rows WHERE sequence > 5")
        assert code_of(spot.open) == "rollback"
        spot.mark.unlink()
        assert code_of(spot.open) == "mark-lost"
        with closing(sqlite3.connect(spot.ledger / "ledger.sqlite", isolation_level=None)) as file:
            file.execute("DROP TABLE place")
        spot.open().verify()  # without the mark, and without a memory of it, nobody can tell


def test_a_copy_of_the_folder_is_a_ledger_of_its_own_name() -> None:
    with place() as spot:
        filled(spot).close()
        other = Place(spot.folder / "copy")
        other.folder.mkdir()
        shutil.copytree(spot.ledger, other.ledger)
        assert code_of(lambda: other.open().verify()) == "no error"
        other.close()


def test_an_answer_that_was_changed_is_not_given_out() -> None:
    with place() as spot:
        store = filled(spot)
        store.add_analyst("cy", cap(1))
        store.settle(granted(store.reserve(request("c", "1/10", "cy", data_version="2"))), b"42")
        with closing(sqlite3.connect(spot.ledger / "ledger.sqlite", isolation_level=None)) as file:
            file.execute("UPDATE rows SET answer = ? WHERE answer = ?", (b"43", b"42"))
        for act in (
            lambda: store.stored("c", "cy"),
            lambda: store.reserve(request("c", "1/10", "cy", data_version="2")),
            store.verify,
        ):
            with pytest.raises(Fault):
                act()
