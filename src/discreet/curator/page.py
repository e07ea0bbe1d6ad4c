"""The rows of a ledger as one transaction sees them, and the draws beside them."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from discreet.curator.accounts import Account
from discreet.curator.acts import Accepted, Failed, Settled, Shared
from discreet.curator.request import Entry, filed
from discreet.curator.rows import Head, Row, broken, canonical, hash_of
from discreet.curator.schema import COLUMNS, DRAWS, PLACE
from discreet.errors import Refused
from discreet.mechanisms.record import Drawn, inside

CHUNK = 500
"""Rows that are read at a time."""

MOST_KEPT = 64 << 20
"""Bytes of released values of one measurement."""


class Page:
    """The rows of a ledger as one transaction sees them. Each look-up reads a few rows, however many there are."""

    def __init__(
        self,
        run: Callable[[str, tuple[Any, ...]], list[tuple[Any, ...]]],
        tables: str = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?",
    ) -> None:
        self._run = run
        # Whether there is a table of a name.
        self._tables = tables
        self.added = 0
        self._head: Head | None = None

    def remember(self, head: Head | None) -> None:
        """Take a head that was read earlier, if it is the head still."""
        if head is not None and self._run("SELECT hash FROM rows ORDER BY sequence DESC LIMIT 1", ()) == [(head.hash,)]:
            self._head = head

    def head(self) -> Head | None:
        """What the next row builds on; None for a ledger without rows."""
        if self._head is None:
            for sequence, hash, body in self._run(
                "SELECT sequence, hash, body FROM rows ORDER BY sequence DESC LIMIT 1", ()
            ):
                self._head = Head(sequence, hash, Row.parse(octets(body)).book)
        return self._head

    def newest(self) -> Head:
        """The last row; a Fault for a ledger without rows."""
        head = self.head()
        if head is None:
            raise broken("it has no rows")
        return head

    def account(self, analyst: str | None, until: int | None = None) -> Account | None:
        """The account of an analyst, active or removed, after a row or now; None for the owner and for a name that was never added."""
        if analyst is None:
            return None
        if until is None:
            row = self.find("analyst = ? ORDER BY sequence DESC LIMIT 1", analyst)
        else:
            row = self.find("analyst = ? AND sequence <= ? ORDER BY sequence DESC LIMIT 1", analyst, until)
        return None if row is None else row.account

    def accounts(self, until: int | None = None) -> dict[str, Account]:
        """The accounts of all analysts there ever were, after a row or now."""
        accounts, name = dict[str, Account](), ""
        while following := self._run("SELECT MIN(analyst) FROM rows WHERE analyst > ?", (name,))[0][0]:
            name = following
            if (account := self.account(name, until)) is not None:
                accounts[name] = account
        return dict(sorted(accounts.items()))

    def acts(self, after: int = 0) -> list[Row]:
        """The rows that are neither a charge nor its end: what the owner did. They are few, and have an index of their own."""
        rows = self._run(
            "SELECT body FROM rows WHERE key IS NULL AND about IS NULL AND sequence > ? ORDER BY sequence", (after,)
        )
        return [Row.parse(octets(body)) for (body,) in rows]

    def entry(self, analyst: str | None, key: str) -> Entry | None:
        """What a key of an analyst names."""
        return self.former(analyst, key) or self._entry(self.find("key = ?", filed(analyst, key)))

    def former(self, analyst: str | None, key: str) -> Entry | None:
        """What a key of an analyst names by release 0.1, which filed requests by their keys alone."""
        row = self.find("key = ?", key)
        return self._entry(row) if row is not None and row.analyst == analyst else None

    def charges(self, analyst: str | None, most: int) -> list[Row]:
        """The newest rows with a key of an analyst, or of the owner, the newest first."""
        whose, values = ("analyst IS NULL", ()) if analyst is None else ("analyst = ?", (analyst,))
        rows = self._run(
            f"SELECT {COLUMNS} FROM rows WHERE {whose} AND key IS NOT NULL ORDER BY sequence DESC LIMIT ?",
            (*values, most),
        )
        return [_whole(*row) for row in rows]

    def reservation(self, sequence: int) -> Entry | None:
        return self._entry(self.find("sequence = ?", sequence))

    def _entry(self, row: Row | None) -> Entry | None:
        if row is None:
            return None
        opened = row.act.source if isinstance(row.act, Shared) else row.sequence
        ended = self.find("about = ? ORDER BY sequence LIMIT 1", opened)
        if ended is not None and isinstance(ended.act, Settled | Failed):
            return Entry(row, ended.act)
        return Entry(row, next((each.act for each in self.acts(opened) if isinstance(each.act, Accepted)), None))

    def known(self, topic: str) -> Row | None:
        """The first reservation of this topic that was settled."""
        settled = self.find("topic = ? ORDER BY sequence LIMIT 1", topic)
        return None if settled is None else self.find("sequence = ?", settled.about)

    def answer(self, settled: Settled) -> bytes:
        """The bytes of a settlement, as its digest says; or a Fault."""
        rows = self._run("SELECT answer FROM rows WHERE about = ? ORDER BY sequence LIMIT 1", (settled.reservation,))
        if not rows or rows[0][0] is None or hash_of(bytes(rows[0][0])) != settled.digest:
            raise broken("an answer is not the one that was settled")
        return bytes(rows[0][0])

    def hash_at(self, sequence: int) -> str | None:
        rows = self._run("SELECT hash FROM rows WHERE sequence = ?", (sequence,))
        return rows[0][0] if rows else None

    def add(self, row: Row, answer: bytes | None = None) -> None:
        """Append a row; it is durable once the transaction has ended well."""
        body = row.body()
        hash = hash_of(body)
        values = (row.sequence, hash, body, row.key, row.analyst, row.about, row.topic, answer)
        self._run(f"INSERT INTO rows ({COLUMNS}, answer) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)
        self.added += 1
        self._head = Head(row.sequence, hash, row.book)

    def after(self, sequence: int) -> list[tuple[Any, ...]]:
        """The next rows, as they are kept."""
        return self._run(
            f"SELECT {COLUMNS}, answer FROM rows WHERE sequence > ? ORDER BY sequence LIMIT ?", (sequence, CHUNK)
        )

    def bodies_after(self, sequence: int) -> list[tuple[Any, ...]]:
        return self._run(
            "SELECT sequence, hash, body FROM rows WHERE sequence > ? ORDER BY sequence LIMIT ?", (sequence, CHUNK)
        )

    def drawn(self, reservation: int) -> list[Drawn]:
        """The draws of a measurement that were begun, in their order, as their hashes say; or a Fault."""
        if not self._run(self._tables, ("draws",)):
            return []
        rows = self._run(
            "SELECT number, what, value, hash FROM draws WHERE reservation = ? ORDER BY number", (reservation,)
        )
        drawn = [Drawn(what, None if value is None else octets(value)) for _, what, value, _ in rows]
        for at, (row, each) in enumerate(zip(rows, drawn, strict=True), 1):
            if row[0] != at or row[3] != _hash_of_draw(reservation, at, each):
                raise broken(f"draw {at} of reservation {reservation} is not the one that was kept")
        return drawn

    def begin_draw(self, reservation: int, number: int, what: str) -> None:
        """Add the next draw of a measurement; Refused where it is not the next one."""
        self._run(DRAWS, ())
        ((last,),) = self._run("SELECT COALESCE(MAX(number), 0) FROM draws WHERE reservation = ?", (reservation,))
        if number != last + 1:
            raise inside()
        values = (reservation, number, what, _hash_of_draw(reservation, number, Drawn(what)))
        self._run("INSERT INTO draws (reservation, number, what, hash) VALUES (?, ?, ?, ?)", values)
        self.added += 1

    def keep_draw(self, reservation: int, number: int, value: bytes) -> None:
        """Put the released value beside a draw that was begun and has none."""
        begun = self._run(
            "SELECT what FROM draws WHERE reservation = ? AND number = ? AND value IS NULL", (reservation, number)
        )
        if not begun:
            raise broken(f"draw {number} of reservation {reservation} was not begun, or has a value")
        ((size,),) = self._run(
            "SELECT COALESCE(SUM(LENGTH(value)), 0) FROM draws WHERE reservation = ?", (reservation,)
        )
        if int(size) + len(value) > MOST_KEPT:
            raise Refused(
                f"the values of a measurement take more than {MOST_KEPT >> 20} MiB; this draw is lost",
                code="draw-size",
                hint="measure with kept=False, which counts draws and keeps none",
            )
        hash = _hash_of_draw(reservation, number, Drawn(begun[0][0], value))
        self._run(
            "UPDATE draws SET value = ?, hash = ? WHERE reservation = ? AND number = ?",
            (value, hash, reservation, number),
        )
        self.added += 1

    def measured(self) -> list[int]:
        """The reservations that have draws."""
        if not self._run(self._tables, ("draws",)):
            return []
        return [
            reservation
            for (reservation,) in self._run("SELECT DISTINCT reservation FROM draws ORDER BY reservation", ())
        ]

    def mark_place(self) -> Path | None:
        """Where the mark was when a row was last written; None in a ledger that does not remember it."""
        if not self._run(self._tables, ("place",)):
            return None
        return next((Path(os.fsdecode(octets(path))) for (path,) in self._run("SELECT mark FROM place", ())), None)

    def keep_mark_place(self, path: Path) -> None:
        """Remember where the mark is. Nothing is decided by it but where to look."""
        self._run(PLACE, ())
        self._run("DELETE FROM place", ())
        self._run("INSERT INTO place (mark) VALUES (?)", (os.fsencode(path),))

    def find(self, where: str, *values: object) -> Row | None:
        """The row, which is as its own hash says and filed as it should be; or a Fault. Earlier rows may not have been looked at here."""
        rows = self._run(f"SELECT {COLUMNS} FROM rows WHERE {where}", values)
        return _whole(*rows[0]) if rows else None


def octets(body: object) -> bytes:
    """What a row holds; a row that was changed by hand may hold something else than bytes."""
    if not isinstance(body, bytes | bytearray | memoryview):
        raise broken("a row holds something else than was written")
    return bytes(body)


def hashed(sequence: int, hash: str, body: object) -> bytes:
    """What a row holds, as its own hash says. That the hash is the right one is shown by the rows after it, when they are verified."""
    stored = octets(body)
    if hash_of(stored) != hash:
        raise broken(f"the hash of row {sequence} is not that of its contents")
    return stored


def _whole(sequence: int, hash: str, body: object, *columns: object) -> Row:
    row = Row.parse(hashed(sequence, hash, body))
    check_filed(row, sequence, *columns)
    return row


def check_filed(row: Row, *columns: object) -> None:
    if columns != (row.sequence, row.key, row.analyst, row.about, row.topic):
        raise broken(f"row {row.sequence} is filed under something else")


def check_answer(row: Row, answer: Any) -> None:
    if not isinstance(row.act, Settled):
        if answer is not None:
            raise broken(f"row {row.sequence} holds an answer and settles nothing")
    elif answer is None or len(answer) != row.act.size or hash_of(bytes(answer)) != row.act.digest:
        raise broken(f"row {row.sequence} holds another answer than was settled")


def summary(drawn: Sequence[Drawn]) -> bytes:
    """What the chain of rows holds of the draws of a measurement: how many they are, and a digest of them."""
    digests = [[each.what, None if each.value is None else hash_of(each.value)] for each in drawn]
    return canonical({"draws": len(drawn), "digest": hash_of(canonical(digests))})


def _hash_of_draw(reservation: int, number: int, drawn: Drawn) -> str:
    what = canonical([reservation, number, drawn.what])
    return hash_of(what if drawn.value is None else what + b"\n" + drawn.value)
