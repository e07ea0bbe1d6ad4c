"""Where rows are kept: durably, in one order, for many threads, processes and machines at once.

`Store` is all that a session uses. It runs the pure steps of `ledger.py` inside transactions that exclude every other writer, and moves the
high-water mark before it returns. `SQLiteStore` keeps rows in one file; `postgres.py` keeps them in a database server. What is
correct here never rests on there being one process: threads of one process only save work by committing together.
"""

import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn, Protocol, TypeVar

from discreet.curator.accounts import SHARES, Account, Totals
from discreet.curator.acts import (
    FORMAT,
    Accepted,
    Act,
    AnalystAdded,
    AnalystRemoved,
    Capped,
    Creation,
    DataChanged,
    Divided,
    Failed,
    Reserved,
    Resumed,
    Settled,
    Shared,
)
from discreet.curator.amounts import Cap
from discreet.curator.forks import FORKS
from discreet.curator.hold import FileHold, Hold
from discreet.curator.ledger import advance, check_lower, ended_by_accept, reserve, set_aside, settle
from discreet.curator.mark import NO_MARK, Mark, make_folders, mark_lost, rolled_back, seen, sync_folder
from discreet.curator.mark import PATIENCE as PATIENCE
from discreet.curator.money import check_act, check_price, check_relation
from discreet.curator.names import check_analyst, check_name
from discreet.curator.replay import Replay, newer
from discreet.curator.request import LONGEST_ANSWER, Entry, Request, Reservation, Stored, filed
from discreet.curator.rows import Head, Row, broken, canonical, hash_of
from discreet.curator.turns import Job, Turns
from discreet.curator.verified import Record, Verified, replay_after
from discreet.errors import DiscreetError, Fault, Invalid, Refused
from discreet.exact import shown
from discreet.mechanisms.record import Drawn, inside, settled

T = TypeVar("T")
CHUNK = 500
"""Rows that are read at a time."""

COLUMNS = "sequence, hash, body, key, analyst, about, topic"

MOST_KEPT = 64 << 20
"""Bytes of released values of one measurement."""

DRAWS = """
CREATE TABLE IF NOT EXISTS draws (
    reservation BIGINT NOT NULL, number BIGINT NOT NULL, what TEXT NOT NULL, hash TEXT NOT NULL, value BYTEA,
    PRIMARY KEY (reservation, number)
)
"""
"""Made when it is first needed, in the words that SQLite (which keeps bytes as they are in any column) and Postgres both read."""

PLACE = "CREATE TABLE IF NOT EXISTS place (mark BYTEA NOT NULL)"
ACTS = "CREATE INDEX IF NOT EXISTS rows_acts ON rows (sequence) WHERE key IS NULL AND about IS NULL"
"""Of release 0.2 on: a ledger of 0.1 gets it with its new format."""

EVERY = 1000
"""Rows after which a store that stays open notes how far the ledger was looked through."""


class Page:
    """The rows of a ledger as one transaction sees them. Each look-up reads a few rows, however many there are."""

    def __init__(
        self,
        run: Callable[[str, tuple[Any, ...]], list[tuple[Any, ...]]],
        tables: str = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?",
    ) -> None:
        self._run = run
        self._tables = tables  # whether there is a table of a name
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
                self._head = Head(sequence, hash, Row.parse(_stored(body)).book)
        return self._head

    def account(self, analyst: str | None, until: int | None = None) -> Account | None:
        """Of an analyst, active or removed, after a row or now; None for the owner and for a name that was never added."""
        if analyst is None:
            return None
        if until is None:
            found = self.found("analyst = ? ORDER BY sequence DESC LIMIT 1", analyst)
        else:
            found = self.found("analyst = ? AND sequence <= ? ORDER BY sequence DESC LIMIT 1", analyst, until)
        return None if found is None else found.account

    def accounts(self, until: int | None = None) -> dict[str, Account]:
        """Of every analyst there ever was, after a row or now."""
        found, name = dict[str, Account](), ""
        while following := self._run("SELECT MIN(analyst) FROM rows WHERE analyst > ?", (name,))[0][0]:
            name = following
            if (account := self.account(name, until)) is not None:
                found[name] = account
        return dict(sorted(found.items()))

    def acts(self, after: int = 0) -> list[Row]:
        """The rows that are neither a charge nor its end: what the owner did. They are few, and have an index of their own."""
        rows = self._run(
            "SELECT body FROM rows WHERE key IS NULL AND about IS NULL AND sequence > ? ORDER BY sequence", (after,)
        )
        return [Row.parse(_stored(body)) for (body,) in rows]

    def entry(self, analyst: str | None, key: str) -> Entry | None:
        """What a key of an analyst names."""
        return self.former(analyst, key) or self._entry(self.found("key = ?", filed(analyst, key)))

    def former(self, analyst: str | None, key: str) -> Entry | None:
        """What it names by release 0.1, which filed requests by their keys alone."""
        row = self.found("key = ?", key)
        return self._entry(row) if row is not None and row.analyst == analyst else None

    def reservation(self, sequence: int) -> Entry | None:
        return self._entry(self.found("sequence = ?", sequence))

    def _entry(self, row: Row | None) -> Entry | None:
        if row is None:
            return None
        opened = row.act.source if isinstance(row.act, Shared) else row.sequence
        ended = self.found("about = ? ORDER BY sequence LIMIT 1", opened)
        if ended is not None and isinstance(ended.act, Settled | Failed):
            return Entry(row, ended.act)
        return Entry(row, next((each.act for each in self.acts(opened) if isinstance(each.act, Accepted)), None))

    def known(self, topic: str) -> Row | None:
        """The first reservation of this topic that was settled."""
        settled = self.found("topic = ? ORDER BY sequence LIMIT 1", topic)
        return None if settled is None else self.found("sequence = ?", settled.about)

    def answer(self, settled: Settled) -> bytes:
        """The bytes of a settlement, as its digest says; or a Fault."""
        found = self._run("SELECT answer FROM rows WHERE about = ? ORDER BY sequence LIMIT 1", (settled.reservation,))
        if not found or found[0][0] is None or hash_of(bytes(found[0][0])) != settled.digest:
            raise broken("an answer is not the one that was settled")
        return bytes(found[0][0])

    def hash_at(self, sequence: int) -> str | None:
        found = self._run("SELECT hash FROM rows WHERE sequence = ?", (sequence,))
        return found[0][0] if found else None

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
        drawn = [Drawn(what, None if value is None else _stored(value)) for _, what, value, _ in rows]
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
        found = self._run(
            "SELECT what FROM draws WHERE reservation = ? AND number = ? AND value IS NULL", (reservation, number)
        )
        if not found:
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
        hash = _hash_of_draw(reservation, number, Drawn(found[0][0], value))
        self._run(
            "UPDATE draws SET value = ?, hash = ? WHERE reservation = ? AND number = ?",
            (value, hash, reservation, number),
        )
        self.added += 1

    def measured(self) -> list[int]:
        """The reservations that have draws."""
        if not self._run(self._tables, ("draws",)):
            return []
        return [found for (found,) in self._run("SELECT DISTINCT reservation FROM draws ORDER BY reservation", ())]

    def mark_place(self) -> Path | None:
        """Where the mark was when a row was last written; None in a ledger that does not remember it."""
        if not self._run(self._tables, ("place",)):
            return None
        return next((Path(os.fsdecode(_stored(path))) for (path,) in self._run("SELECT mark FROM place", ())), None)

    def keep_mark_place(self, path: Path) -> None:
        """Remember where the mark is. Nothing is decided by it but where to look."""
        self._run(PLACE, ())
        self._run("DELETE FROM place", ())
        self._run("INSERT INTO place (mark) VALUES (?)", (os.fsencode(path),))

    def found(self, where: str, *values: object) -> Row | None:
        """The row, which is as its own hash says and filed as it should be; or a Fault. Earlier rows may not have been looked at here."""
        rows = self._run(f"SELECT {COLUMNS} FROM rows WHERE {where}", values)
        return _whole(*rows[0]) if rows else None


class Connection(Protocol):
    """One way to the rows. What goes wrong with it is raised as a Fault, after which it is closed and another one made."""

    def writing(self) -> AbstractContextManager[Page]:
        """A transaction in which nobody else writes; durable once the block has ended, undone if it raises or adds nothing."""

    def reading(self) -> AbstractContextManager[Page]:
        """One consistent look, which no writer waits for."""

    def check(self) -> None:
        """A Fault where the storage says of itself that it is damaged."""

    def close(self) -> None: ...


def _attempt(job: Job[Any], page: Page) -> None:
    """Run a step in a transaction that it may share with the steps of others."""
    added = page.added
    try:
        job.value = job.step(page)
    except DiscreetError as error:
        if page.added != added:
            raise  # half a step must not be committed
        job.error = error


_AFTER_FORK: list[Connection] = []
"""Connections of a parent process to a server: not to be used here, and not to be closed here either."""


class Store:
    """A ledger that is kept somewhere. It cannot be copied or pickled; after a fork each process connects anew.

    Nothing that was open before a fork is used after it, see `forks.py`.
    """

    def __init__(self, connect: Callable[[], Connection], mark: Mark, *, share_answers: bool = False) -> None:
        self._connect = connect
        self.mark = mark
        self.share_answers = share_answers
        self._holder: Callable[[int], Hold] = _no_holder
        self._accountant = self._relation = ""  # as the ledger was created; they never change
        self._last: Head | None = None
        self._noted: Verified | None = None
        self._place: Path | None = None  # where the ledger remembers its mark to be
        self._also: Mark | None = None  # another mark that is looked at when it is opened
        self._lost = False  # the mark that the ledger remembers is nowhere
        self._closed = False
        self._start()

    def _start(self) -> None:
        self._process = os.getpid()
        self._writer: Connection | None = None
        self._reader: Connection | None = None
        self._turns = Turns()
        self._reading = threading.Lock()
        self._noting = threading.Lock()

    # What a session does.

    def reserve(self, request: Request) -> Reservation | Stored:
        """Charge a request, durably, or find what its key names already. Only after this may data be touched.

        Returns a Reservation to be computed and settled, fresh or made by an earlier try; or the answer that was given before. Raises
        Refused where a budget, a key or a name does not allow it, and then nothing has changed.
        """

        def step(page: Page) -> Reservation | Stored:
            head = _head(page)
            entry = page.entry(request.analyst, request.key)
            known = page.known(request.topic) if self.share_answers and entry is None else None
            found = reserve(head, page.account(request.analyst), entry, known, request, _now())
            if isinstance(found, Row):
                page.add(found)
                again, found = False, Entry(found, _source_of(page, found))
            else:
                again = True
            if isinstance(found.ended, Settled):
                return Stored(page.answer(found.ended), found.row.sequence)
            return Reservation(found.row.sequence, found.row.key or "", request.analyst, request.price, again)

        if not isinstance(request, Request):
            raise Invalid(f"request must be a Request, got {shown(request)}")
        tag = check_price(canonical(request.event), request.price, self._accountant)
        check_relation(tag, self._relation)
        return self._write(step)

    def settle(self, reservation: Reservation, answer: bytes) -> bytes:
        """Keep the answer, durably, and return the bytes to be released: these, or those of a settlement that came first."""
        if not isinstance(answer, bytes) or len(answer) > LONGEST_ANSWER:
            raise Invalid(f"answer must be at most {LONGEST_ANSWER} bytes")

        def step(page: Page) -> bytes:
            found = settle(_head(page), _reserved(page, reservation), answer, _now())
            if isinstance(found, Settled):
                return page.answer(found)
            page.add(found, answer)
            return answer

        return self._write(step)

    def fail(self, reservation: Reservation) -> None:
        """Note a failure after data was touched: the charge stays; too many suspend their analyst, and stop the data set."""

        def step(page: Page) -> None:
            row = _reserved(page, reservation).row
            self._add(page, Failed(row.sequence), row.analyst, page.account(row.analyst))

        self._write(step)

    def stored(self, key: str, analyst: str | None = None) -> bytes | None:
        """The answer that this key of this analyst was given, free of charge; None where there is none."""
        check_name(key, "key")
        _check_analyst_name(analyst)

        def look(page: Page) -> bytes | None:
            entry = page.entry(analyst, key)
            if entry is None or not isinstance(entry.ended, Settled):
                return None
            account = page.account(analyst)
            return page.answer(entry.ended) if account is None or account.active else None

        return self._read(look)

    def named_before(self, key: str, analyst: str | None = None) -> bool:
        """Whether release 0.1 filed a request of this analyst under this key."""
        check_name(key, "key")
        _check_analyst_name(analyst)
        return self._read(lambda page: page.former(analyst, key) is not None)

    def totals(self, analyst: str | None = None) -> Totals:
        """What the data set, or an analyst, has spent and may spend."""
        _check_analyst_name(analyst)

        def look(page: Page) -> Totals:
            book = _head(page).book
            account = book.account if analyst is None else page.account(analyst)
            if account is None:
                raise unknown_analyst(analyst)
            return Totals.of(account, book)

        return self._read(look)

    def analysts(self) -> dict[str, Account]:
        """Every analyst there ever was, removed ones too."""
        return self._read(lambda page: page.accounts())

    # What a measurement does.

    def hold(self, sequence: int) -> Hold:
        """Let nobody else enter a measurement until it is released, or this process has ended; or Refused."""
        return self._holder(sequence)

    def drawn(self, sequence: int) -> list[Drawn]:
        """The draws of a measurement that were begun, with the values that they released; Refused where some are missing."""
        found, row = self._read(lambda page: (page.drawn(sequence), page.hash_at(sequence)))
        marked = self._draws_mark(row).read()
        if marked is not None and marked[0] > len(found):
            raise Refused(
                "the ledger may have gone back in time: draws that were made are not in it",
                code="rollback",
                hint="bring the newest ledger back, or measure under a new key",
            )
        return found

    def _draws_mark(self, row: str | None) -> Mark:
        """How many draws of a measurement were begun, apart from the ledger: its own mark moves with rows only, and a draw is none.

        It is named by the hash of the reservation: a ledger that went back and was accepted gives its numbers to other rows.
        """
        return Mark(self.mark.path.with_name(f"{self.mark.path.name}-{row}"))

    def begin_draw(self, sequence: int, number: int, what: str) -> None:
        """Mark the next draw of a measurement as begun, durably. Only after this may the exact value be read."""

        def step(page: Page) -> str | None:
            _measuring(page, sequence)
            page.begin_draw(sequence, number, what)
            return page.hash_at(sequence)

        self._draws_mark(self._write(step)).advance(number, hash_of(what.encode()))

    def keep_draw(self, sequence: int, number: int, value: bytes) -> None:
        """Keep the value that a draw released, durably. Only after this may it be handed out."""

        def step(page: Page) -> None:
            _measuring(page, sequence)
            page.keep_draw(sequence, number, value)

        self._write(step)

    def end_draws(self, reservation: Reservation) -> None:
        """Settle a measurement with a digest of its draws: what was drawn can be had again, and nothing more drawn."""

        def step(page: Page) -> str | None:
            answer = summary(page.drawn(reservation.sequence))
            found = settle(_head(page), _reserved(page, reservation), answer, _now())
            if isinstance(found, Row):
                page.add(found, answer)
            return page.hash_at(reservation.sequence)

        self._draws_mark(self._write(step)).remove()

    # What an owner does.

    def set_cap(self, cap: Cap, analyst: str | None = None, *, higher: bool = False) -> None:
        """Change the cap of the data set or of an analyst. A higher one only where `higher` says that the owner means it."""
        act = Capped(cap)
        _check_analyst_name(analyst)

        def step(page: Page) -> None:
            head, account = _head(page), page.account(analyst)
            now = head.book.account if analyst is None else account
            if now is None:
                raise unknown_analyst(analyst)
            if cap != now.cap:
                check_lower(cap, now.cap, higher)
                self._add(page, act, analyst, account)

        self._write(step)

    def add_analyst(self, name: str, cap: Cap, *, higher: bool = False) -> None:
        """Let an analyst ask. Who was removed before has still spent what they spent, and gets a higher cap only if `higher`."""
        check_analyst(name)
        act = AnalystAdded(cap)

        def step(page: Page) -> None:
            account = page.account(name)
            if account is not None and not account.active:
                check_lower(cap, account.cap, higher)
            self._add(page, act, name, account)

        self._write(step)

    def remove_analyst(self, name: str) -> None:
        """No new charge from now on; what is reserved may still be settled."""
        _check_analyst_name(name)
        self._write(lambda page: self._add(page, AnalystRemoved(), name, page.account(name)))

    def share(self, shares: str, *, common: bool = False) -> None:
        """Reserve the caps of analysts for them, or let all spend from one pot again, only where `common` says that the owner means it."""
        if shares not in SHARES:
            raise Invalid(f"shares must be 'common' or 'reserved', got {shown(shares)}")

        def step(page: Page) -> None:
            if _head(page).book.shares == shares:
                return
            if shares == "common" and not common:
                raise still_reserved()
            self._add(page, Divided(set_aside(page.accounts().values()) if shares == "reserved" else None))

        self._write(step)

    def resume(self, reason: str, analyst: str | None = None) -> None:
        """Let the data set, or an analyst, go on after failures: the count begins anew, and a row says why."""
        act = Resumed(reason)
        _check_analyst_name(analyst)

        def step(page: Page) -> None:
            account = page.account(analyst)
            if analyst is not None and account is None:
                raise unknown_analyst(analyst)
            if not (_head(page).book.failures if account is None else account.failures):
                raise Invalid(
                    "there is nothing to resume: no question failed since",
                    code="usage",
                    hint="an analyst is resumed by name, the data set without one",
                )
            self._add(page, act, analyst, account)

        self._write(step)

    def change_data(self, version: str) -> None:
        """The owner's counter of the data moves; the budget goes on."""
        act = DataChanged(version)

        def step(page: Page) -> None:
            if _head(page).book.version != version:
                self._add(page, act)

        self._write(step)

    def accept(self) -> None:
        """Go on with this ledger although a mark says that it went back in time, or is lost: the owner's act, and a row says so.

        Whatever was open in this ledger cannot be gone on with: in the one that was lost it may have been answered.
        """

        def step(page: Page) -> None:
            marks = [marked for mark in (self.mark, self._also) if mark is not None and (marked := seen(mark))]
            missed = [marked for marked in marks if page.hash_at(marked[0]) != marked[1]]
            if missed or self._lost:
                self._add(page, Accepted(*max(missed, default=NO_MARK)))
                self._remember(page)
                accepted.append(_head(page))

        accepted: list[Head] = []
        self._write_alone(step)
        for head in accepted:
            self.mark.reset(head.sequence, head.hash)
            self._also, self._lost, self._place = None, False, self.mark.path

    def _add(self, page: Page, act: Act, analyst: str | None = None, account: Account | None = None) -> None:
        row = advance(_head(page), act, _now(), analyst, account)
        check_act(row.book, act)
        page.add(row)

    # What anyone may look at.

    def history(self) -> Iterator[Row]:
        """All rows, oldest first; those that come while it is read are included."""
        at = 0
        while found := self._bodies_after(at):
            yield from (Row.parse(_hashed(sequence, hash, body)) for sequence, hash, body in found)
            at = found[-1][0]

    def _bodies_after(self, at: int) -> list[tuple[Any, ...]]:
        return self._read(lambda page: page.bodies_after(at))

    def acts(self) -> list[Row]:
        """What the owner did, oldest first: every row that is neither a charge nor its end."""
        return self._read(lambda page: page.acts())

    def head(self) -> Head:
        """The last row."""
        return self._read(_head)

    def verify(self) -> Totals:
        """Compute every hash, price and total again. For a ledger that was changed in any byte raises a Fault."""
        with self._apart() as (connection, page):
            connection.check()
            again = self._replayed(page, Replay(check_act))
            for reservation in page.measured():
                _check_draws(page, reservation)
            self._note(again)
            return again.totals()[None]

    def export(self) -> dict[str, Any]:
        """A JSON document that `replay` checks without the data. It holds no answers, only their digests."""
        with self._apart() as (_, page):
            rows, at = [], 0
            while found := page.bodies_after(at):
                rows += [{"body": _hashed(at, hash, body).decode("ascii"), "hash": hash} for at, hash, body in found]
                at = found[-1][0]
        return {"format": FORMAT, "rows": rows}

    def close(self) -> None:
        """Let go of the connections. What was acknowledged is durable already."""
        self._here()
        if not self._closed:
            self._keep_up()
        self._turns.run(Job(lambda _: None, alone=True), self._shut)
        with self._reading:
            self._drop_reader()

    def _shut(self, jobs: list[Job[Any]]) -> None:
        self._closed = True
        self._drop_writer()
        jobs[0].value = None

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce_ex__(self, _: object) -> NoReturn:
        raise TypeError("a ledger cannot be copied or pickled: open it where it is needed")

    # How it is done.

    def begin(self, creation: Creation | None, accept: bool, *, whole: bool = True) -> None:
        """Make the ledger if it is to be made, look through it, and set the mark beside it; or close it and raise.

        With whole=False nothing is looked through: whoever opens it does that next, by `verify`.
        """
        try:
            if self._read(lambda page: page.head() is None):
                self._create(creation, accept)
            self._find_mark()
            if accept:
                self.accept()
            self._choose_mark()
            with self._apart() as (_, page):
                self._check_marks(page)
                again = self._looked_through(page) if whole else None
                head = page.head() if again is None else again.head
            if again is not None:
                self._note(again)
            if head is not None:
                self._know(head)
                self.mark.advance(head.sequence, head.hash)
        except BaseException:
            self.close()
            raise

    def _find_mark(self) -> None:
        """Look where the ledger remembers its mark to be, where it remembers that."""

    def _choose_mark(self) -> None:
        """Settle which mark is moved from now on."""

    def _know(self, head: Head | None) -> None:
        if head is not None:
            self._accountant, self._relation = head.book.accountant, head.book.relation

    def _create(self, creation: Creation | None, accept: bool) -> None:
        if creation is None:
            raise Refused("there is no ledger here", code="ledger-missing", hint="open it with a budget to make it")
        if creation.format != FORMAT:
            raise Invalid(f"format must be {FORMAT}, got {shown(creation.format)}")

        def step(page: Page) -> None:
            if page.head() is None:
                row = advance(None, creation, _now())
                check_act(row.book, creation)
                page.add(row)

        self._write_alone(step) if accept else self._write(step)

    def _looked_through(self, page: Page) -> Replay:
        """All rows after the last that was verified, computed again; where none is known to be, all rows."""
        known, again = self._record.read(), Replay(check_act)
        if known is None or not replay_after(again, known, page):
            again = Replay(check_act)
        return self._replayed(page, again)

    def _replayed(self, page: Page, again: Replay) -> Replay:
        at = 0 if again.head is None else again.head.sequence
        while found := page.after(at):
            for at, hash, body, *columns, answer in found:
                row = again.add(_stored(body), hash)
                _check_filed(row, at, *columns)
                _check_answer(row, answer)
        if again.head is None:
            raise broken("it has no rows")
        return again

    @property
    def _record(self) -> Record:
        return Record(self.mark.path)

    def _note(self, again: Replay) -> None:
        """Keep how far the ledger was looked through."""
        verified = Verified.by(again)
        if verified is not None:
            if self._noted != verified:
                self._record.write(verified)
            self._noted = verified

    def _keep_up(self) -> None:
        """Look through what was written since. What is found wrong here is found again by the next opening, which tells it."""
        if self._noted is None or not self._noting.acquire(blocking=False):
            return
        try:
            with suppress(DiscreetError), self._apart() as (_, page):
                self._check_mark(page)
                head = page.head()
                if head is not None and head.hash != self._noted.hash:
                    self._note(self._looked_through(page))
        finally:
            self._noting.release()

    def _check_mark(self, page: Page) -> bool:
        """Whatever the mark says was committed must be there: marks are written after commits only. Whether there is one."""
        marked = self.mark.read()
        if marked is not None and page.hash_at(marked[0]) != marked[1]:
            raise rolled_back("its high-water mark is of a row that it does not have")
        return marked is not None

    def _check_marks(self, page: Page) -> None:
        also = None if self._also is None else seen(self._also)
        self._check_mark(page)
        if also is not None and self._also is not None and page.hash_at(also[0]) != also[1]:
            raise rolled_back(f"its other high-water mark, {self._also.path}, is of a row that it does not have")

    def _write(self, step: Callable[[Page], T]) -> T:
        """Run a step in a transaction, together with the steps of other threads that wait; durable when this returns."""
        self._here()
        value = self._turns.run(Job(step), self._commit)
        if self._noted is not None and self._last is not None and self._last.sequence >= self._noted.sequence + EVERY:
            self._keep_up()
        return value

    def _write_alone(self, step: Callable[[Page], T]) -> T:
        """Run a step in a transaction of its own, whatever the mark says; the mark is not moved."""
        self._here()
        return self._turns.run(Job(step, alone=True), lambda jobs: self._commit(jobs, marked=False))

    def _commit(self, jobs: list[Job[Any]], marked: bool = True) -> None:
        """One transaction for all steps. Where it fails, none of them has happened, or none is told that it has."""
        try:
            with self._writing().writing() as page:
                page.remember(self._last)
                placed = marked and self._check_mark(page)
                for job in jobs:
                    _attempt(job, page)
                head, added = page.head(), page.added
                if placed and added:
                    self._remember(page)
            self._last = head
            if marked and added and head is not None:
                self.mark.advance(head.sequence, head.hash)
        except BaseException as error:
            self._place = None  # whether it was remembered is not known
            if not isinstance(error, Refused):
                self._drop_writer()
            for job in jobs:
                job.error = job.error or _told(error)
            if not isinstance(error, Exception):
                raise

    def _remember(self, page: Page) -> None:
        """Let the ledger remember where its mark is, once there is one: its next copy knows where to look."""

    def _read(self, look: Callable[[Page], T]) -> T:
        """A short look, over a connection that is kept open for it."""
        self._here()
        with self._reading:
            try:
                if self._reader is None:
                    self._reader = self._opened()
                with self._reader.reading() as page:
                    return look(page)
            except (Refused, Invalid):
                raise
            except BaseException:
                self._drop_reader()
                raise

    @contextmanager
    def _apart(self) -> Iterator[tuple[Connection, Page]]:
        """A long look, over a connection of its own, so that nobody waits for it."""
        connection = self._opened()
        try:
            with connection.reading() as page:
                yield connection, page
        finally:
            connection.close()

    def _writing(self) -> Connection:
        if self._writer is None:
            self._writer = self._opened()
        return self._writer

    def _opened(self) -> Connection:
        if self._closed:
            raise Fault("the ledger was closed", code="ledger-closed")
        return self._connect()

    def _here(self) -> None:
        """In a forked process: leave the parent's connections and locks alone, and start anew."""
        if self._process != os.getpid():
            _AFTER_FORK.extend(each for each in (self._writer, self._reader) if each is not None)
            self._start()

    def _drop_writer(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _drop_reader(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None


def _no_holder(sequence: int) -> NoReturn:
    raise Fault("this ledger has no place to hold measurements", code="reservation")


def _told(error: BaseException) -> DiscreetError:
    """What each thread is told whose step was in a transaction that failed: an error object of its own."""
    if isinstance(error, DiscreetError):
        told = type(error)(error.message, code=error.code, hint=error.hint)
    else:
        told = Fault("the ledger was interrupted; nothing was released", code="ledger-unavailable")
    told.__cause__ = error
    return told


def _stored(body: object) -> bytes:
    """What a row holds; a row that was changed by hand may hold something else than bytes."""
    if not isinstance(body, bytes | bytearray | memoryview):
        raise broken("a row holds something else than was written")
    return bytes(body)


def _hashed(sequence: int, hash: str, body: object) -> bytes:
    """What a row holds, as its own hash says. That the hash is the right one is shown by the rows after it, when they are verified."""
    stored = _stored(body)
    if hash_of(stored) != hash:
        raise broken(f"the hash of row {sequence} is not that of its contents")
    return stored


def _whole(sequence: int, hash: str, body: object, *columns: object) -> Row:
    row = Row.parse(_hashed(sequence, hash, body))
    _check_filed(row, sequence, *columns)
    return row


def _check_filed(row: Row, *columns: object) -> None:
    if columns != (row.sequence, row.key, row.analyst, row.about, row.topic):
        raise broken(f"row {row.sequence} is filed under something else")


def _measuring(page: Page, sequence: int) -> None:
    """A Fault or Refused unless this is a reservation that nobody ended."""
    entry = page.reservation(sequence)
    if entry is None or not isinstance(entry.row.act, Reserved):
        raise Fault("the ledger has no such reservation", code="reservation")
    if isinstance(entry.ended, Accepted):
        raise ended_by_accept()
    if entry.ended is not None:
        raise settled()


def _check_draws(page: Page, sequence: int) -> None:
    entry, drawn = page.reservation(sequence), page.drawn(sequence)
    if entry is None or not isinstance(entry.row.act, Reserved):
        raise broken(f"draws belong to row {sequence}, which is no reservation")
    if isinstance(entry.ended, Settled) and page.answer(entry.ended) != summary(drawn):
        raise broken(f"the draws of row {sequence} are not those that were settled")


def summary(drawn: Sequence[Drawn]) -> bytes:
    """What the chain of rows holds of the draws of a measurement: how many they are, and a digest of them."""
    digests = [[each.what, None if each.value is None else hash_of(each.value)] for each in drawn]
    return canonical({"draws": len(drawn), "digest": hash_of(canonical(digests))})


def _hash_of_draw(reservation: int, number: int, drawn: Drawn) -> str:
    what = canonical([reservation, number, drawn.what])
    return hash_of(what if drawn.value is None else what + b"\n" + drawn.value)


def _now() -> int:
    return int(time.time())


def _head(page: Page) -> Head:
    head = page.head()
    if head is None:
        raise broken("it has no rows")
    return head


def _reserved(page: Page, reservation: Reservation) -> Entry:
    entry = page.reservation(reservation.sequence)
    if entry is None or not isinstance(entry.row.act, Reserved) or entry.row.act.key != reservation.key:
        raise Fault("the ledger has no such reservation", code="reservation")
    return entry


def _source_of(page: Page, row: Row) -> Settled | None:
    if not isinstance(row.act, Shared):
        return None
    entry = page.reservation(row.act.source)
    return entry.ended if entry is not None and isinstance(entry.ended, Settled) else None


def _check_answer(row: Row, answer: Any) -> None:
    if not isinstance(row.act, Settled):
        if answer is not None:
            raise broken(f"row {row.sequence} holds an answer and settles nothing")
    elif answer is None or len(answer) != row.act.size or hash_of(bytes(answer)) != row.act.digest:
        raise broken(f"row {row.sequence} holds another answer than was settled")


def _check_analyst_name(analyst: str | None) -> None:
    """Before it is looked up: a name that no database can hold is the caller's mistake, and no damage."""
    if analyst is not None:
        check_name(analyst, "analyst")


def still_reserved() -> Refused:
    return Refused(
        "shares are reserved, and analysts rely on it",
        code="shares",
        hint="the owner ends it by `discreet budget set SOURCE --shares common --yes`",
    )


def unknown_analyst(analyst: str | None) -> Refused:
    return Refused(f"analyst {shown(analyst)} is not known here", code="analyst-unknown")


SCHEMA = """
CREATE TABLE IF NOT EXISTS rows (
    sequence INTEGER PRIMARY KEY, hash TEXT NOT NULL, body BLOB NOT NULL,
    key TEXT, analyst TEXT, about INTEGER, topic TEXT, answer BLOB
);
CREATE UNIQUE INDEX IF NOT EXISTS rows_key ON rows (key) WHERE key IS NOT NULL;
CREATE INDEX IF NOT EXISTS rows_analyst ON rows (analyst, sequence) WHERE analyst IS NOT NULL;
CREATE INDEX IF NOT EXISTS rows_about ON rows (about, sequence) WHERE about IS NOT NULL;
CREATE INDEX IF NOT EXISTS rows_topic ON rows (topic, sequence) WHERE topic IS NOT NULL;
"""


COPIES = 10
"""Tries to copy a ledger that somebody writes to."""


class SQLiteStore(Store):
    """A ledger in one file, `ledger.sqlite` in a folder that only its owner can enter."""

    @classmethod
    def open(
        cls,
        folder: Path,
        *,
        creation: Creation | None,
        mark: Path | None = None,
        accept: bool = False,
        share_answers: bool = False,
        whole: bool = True,
    ) -> "SQLiteStore":
        """The ledger in a folder, looked through from the last row that was. `creation` makes it where there is none; None: it must exist.

        A ledger that went back in time, or is missing though it has a mark, is Refused ("rollback") until it is opened with `accept`; so
        is one whose mark is neither where it remembers it nor where it is looked for ("mark-lost").
        """
        folder = Path(os.path.realpath(folder))
        file = folder / "ledger.sqlite"
        placed = _mark_of(folder, mark)
        marked = _has_mark(placed, accept)  # before the file is looked for: whoever makes it now writes a mark after it
        with _as_faults():
            missing = not file.exists()
        if missing and marked and not accept:
            raise rolled_back("it is missing, and its high-water mark is there")
        if creation is None and missing:
            raise Refused("there is no ledger here", code="ledger-missing", hint="open it with a budget to make it")
        _make_folder(folder)
        store = cls(lambda: _SQLite(file), placed, share_answers=share_answers)
        store._chosen = mark is not None
        store._holder = lambda sequence: FileHold(folder / f"measure-{sequence}.lock")
        store.begin(creation, accept, whole=whole)
        store._connect = lambda: _SQLite(file, make=False)  # one that was taken away is not made anew
        return store

    @classmethod
    def look(cls, folder: Path, *, mark: Path | None = None, whole: bool = True) -> "SQLiteStore":
        """The ledger in a folder, to be read only. Where it cannot be written to, a copy is read, and its mark is left as it is."""
        folder = Path(os.path.realpath(folder))
        with _as_faults():
            missing = not (folder / "ledger.sqlite").exists()
        if missing or _writable(folder):
            return cls.open(folder, creation=None, mark=mark, whole=whole)
        return _Copied.of(folder, _mark_of(folder, mark), whole=whole)

    @classmethod
    def declared(cls, folder: Path) -> tuple[Creation, Totals] | None:
        """What a ledger was made with and holds, by two rows of it, before it is opened and looked through; None where there is none."""
        folder = Path(os.path.realpath(folder))
        file = folder / "ledger.sqlite"
        marked = _has_mark(_mark_of(folder, None), False)
        with _as_faults():
            if not file.exists():
                if marked:
                    raise rolled_back("it is missing, and its high-water mark is there")
                return None
        if not _writable(folder):
            with cls.look(folder) as store:
                return store._read(_declared)
        connection = _SQLite(file, make=False)
        try:
            with connection.reading() as page:
                return _declared(page)
        finally:
            connection.close()

    _chosen = False
    """Whether somebody said where the mark is; else it follows from who runs this, and with which settings."""

    def _find_mark(self) -> None:
        self._place = self._read(lambda page: page.mark_place())
        if self._place is None:
            return
        there, here = seen(Mark(self._place)), seen(self.mark)
        self._lost = there is None and here is None
        if there is not None and self._place != self.mark.path:
            self._also = Mark(self._place)

    def _choose_mark(self) -> None:
        if self._lost and self._place is not None:
            raise mark_lost(self._place, self.mark.path)
        if self._also is not None and not self._chosen:
            self.mark, self._also = self._also, self.mark

    def _remember(self, page: Page) -> None:
        if self._place != self.mark.path:
            page.keep_mark_place(self.mark.path)
            self._place = self.mark.path


def _mark_of(folder: Path, mark: Path | None) -> Mark:
    return Mark(Path(os.path.abspath(mark))) if mark is not None else Mark.of(str(folder))


def _has_mark(mark: Mark, accept: bool) -> bool:
    return (seen(mark) if accept else mark.read()) is not None


def _declared(page: Page) -> tuple[Creation, Totals] | None:
    head, made = page.head(), page.found("sequence = 1")
    if head is None or made is None:
        return None
    if not isinstance(made.act, Creation):
        raise broken("it does not start with its creation")
    return made.act, Totals.of(head.book.account, head.book)


class _Copied(SQLiteStore):
    """A copy of a ledger that may only be read, such as one of another user or on a medium that is not written to.

    SQLite writes beside a file that it reads, so it is given a copy of its own.
    """

    _copy: TemporaryDirectory[str]

    @classmethod
    def of(cls, folder: Path, mark: Mark, *, whole: bool) -> "_Copied":
        copy = TemporaryDirectory(prefix="discreet-")  # for this user alone
        try:
            with _as_faults():
                _copy_whole(folder, Path(copy.name))
            store = cls(lambda: _SQLite(Path(copy.name) / "ledger.sqlite", make=False), mark)
            store._copy = copy
            store._find_mark()
            store._lost = False  # a mark of somebody else's, which cannot be seen from here
            store._choose_mark()
            with store._apart() as (_, page):
                store._check_marks(page)
                store._know(store._looked_through(page).head if whole else page.head())
        except BaseException:
            copy.cleanup()
            raise
        return store

    def _commit(self, jobs: list[Job[Any]], marked: bool = True) -> None:
        for job in jobs:
            job.error = unavailable("it may only be read")

    def _note(self, again: Replay) -> None:
        """What is beside the mark is left as it is."""

    def close(self) -> None:
        super().close()
        self._copy.cleanup()


def _writable(folder: Path) -> bool:
    return os.access(folder, os.W_OK | os.X_OK) and os.access(folder / "ledger.sqlite", os.W_OK)


def _copy_whole(folder: Path, to: Path) -> None:
    """The file and its log, as they are at one moment: copied again where somebody wrote meanwhile."""
    files = [folder / name for name in ("ledger.sqlite", "ledger.sqlite-wal")]
    for _ in range(COPIES):
        before = [_state(file) for file in files]
        for file in files:
            if file.exists():
                shutil.copyfile(file, to / file.name)
        if [_state(file) for file in files] == before:
            return
    raise unavailable("it is being written to all the time")


def _state(file: Path) -> tuple[int, ...] | None:
    try:
        found = file.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _make_folder(folder: Path) -> None:
    try:
        if not folder.is_dir():
            make_folders(folder)
            sync_folder(folder.parent)
    except OSError as error:
        raise unavailable(error.strerror or "it cannot be made") from error


class _SQLite:
    """A connection that keeps its promises: write-ahead log, synced at every commit, to the file that is at its path.

    It is closed before a fork, and opened again by its next use.
    """

    def __init__(self, file: Path, *, make: bool = True) -> None:
        self._file = file
        self._log = file.with_name(file.name + "-wal")
        self._opened: sqlite3.Connection | None = None
        with _as_faults(), FORKS.inside():
            if make and not file.exists():
                os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            self._open()

    @property
    def _sqlite(self) -> sqlite3.Connection:
        return self._opened or self._open()

    def _open(self) -> sqlite3.Connection:
        before = _identity(self._file)
        if before is None:
            raise _moved()
        self._opened = sqlite3.connect(self._file, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
        FORKS.opened(self)
        try:
            self._prepare()
            self._run("SELECT COUNT(*) FROM sqlite_master", ())  # opens the log
            self._places = (before, _identity(self._log))
            self._check_place()
        except BaseException:
            self.let_go()
            raise
        return self._opened

    def let_go(self) -> None:
        """Close the file; the next use opens it again."""
        if self._opened is not None:
            with suppress(sqlite3.Error):
                self._opened.close()
            self._opened = None
            FORKS.closed(self)

    def _check_place(self) -> None:
        """What is open must be what is at the path: rows in a file that was removed or exchanged are found by nobody."""
        if (_identity(self._file), _identity(self._log)) != self._places:
            raise _moved()

    def _prepare(self) -> None:
        run = self._sqlite.execute
        (found,) = run("PRAGMA user_version").fetchone()
        if found > FORMAT:
            raise newer(found)
        self._format = found or FORMAT
        if run("PRAGMA journal_mode").fetchone() != ("wal",):
            self._use_log()
        run("PRAGMA synchronous = FULL")
        if not found:
            run("BEGIN IMMEDIATE")
            for statement in (*SCHEMA.split(";"), ACTS):
                run(statement)
            run(f"PRAGMA user_version = {FORMAT}")
            run("COMMIT")

    def _use_log(self) -> None:
        """Once in the life of a file. SQLite does not wait here when another process does the same, so this does."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                self._sqlite.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
                time.sleep(0.01)

    def _run(self, sql: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        return self._sqlite.execute(sql, values).fetchall()

    @contextmanager
    def writing(self) -> Iterator[Page]:
        with _as_faults(), FORKS.inside():
            with self._transaction("BEGIN IMMEDIATE") as page:
                yield page
            self._check_place()

    @contextmanager
    def reading(self) -> Iterator[Page]:
        with _as_faults(), FORKS.inside(), self._transaction("BEGIN") as page:
            yield page

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Page]:
        self._sqlite.execute(begin)
        try:
            self._check_place()
            page = Page(self._run)
            yield page
            if page.added and self._format < FORMAT:
                self._sqlite.execute(ACTS)
                self._sqlite.execute(f"PRAGMA user_version = {FORMAT}")  # an older release must not read what it cannot
                self._format = FORMAT
            self._sqlite.execute("COMMIT" if page.added else "ROLLBACK")
        except BaseException:
            with suppress(sqlite3.Error):
                self._sqlite.execute("ROLLBACK")  # of nothing, where SQLite has undone it already
            raise

    def check(self) -> None:
        with _as_faults(), FORKS.inside():
            if self._run("PRAGMA integrity_check(1)", ()) != [("ok",)]:
                raise broken("SQLite finds its file malformed")

    def close(self) -> None:
        if not FORKS.foreign:
            with FORKS.inside():
                self.let_go()


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file is at a path; None for none."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _moved() -> Fault:
    return Fault(
        "the ledger was moved, removed or exchanged while it was open",
        code="ledger-moved",
        hint="nothing was released; bring it back to its place, and open it anew",
    )


@contextmanager
def _as_faults() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise unavailable(error.strerror or "it cannot be opened") from error
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) == sqlite3.SQLITE_ERROR:
            raise broken(str(error)) from error  # no such table, or text that is none
        raise unavailable(str(error)) from error
    except (sqlite3.Error, UnicodeError) as error:
        raise broken(str(error)) from error


def unavailable(why: str) -> Fault:
    return Fault(
        f"the ledger cannot be read or written ({why})",
        code="ledger-unavailable",
        hint="nothing was released; it goes on by itself once this is mended",
    )
