"""Durable steps: what is read from a ledger and written to it, in one order, by many threads, processes and machines at once.

Each step runs inside a transaction that excludes every other writer, and the high-water mark is moved before it returns. What is correct
here never rests on there being one process: threads of one process only save work by committing together.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn, Self, TypeVar

from discreet.accountant import Accountant
from discreet.curator.accounts import Account
from discreet.curator.acts import FORMAT, Accepted, Act, Creation
from discreet.curator.connection import Connection
from discreet.curator.ledger import advance
from discreet.curator.mark import NO_MARK, Mark, rolled_back, seen
from discreet.curator.money import check_act
from discreet.curator.page import Page, check_answer, check_filed, octets
from discreet.curator.replay import Replay
from discreet.curator.rows import Head, broken
from discreet.curator.turns import Job, Turns
from discreet.curator.verified import Record, Verified, replay_after
from discreet.errors import DiscreetError, Fault, Invalid, Refused
from discreet.exact import shown

T = TypeVar("T")

EVERY = 1000
"""Rows after which a ledger that stays open is looked through, and how far is noted."""

_AFTER_FORK: list[Connection] = []
"""Connections of a parent process to a server: not to be used here, and not to be closed here either."""

_arriving = threading.Lock()
"""Held by the thread of a forked process that makes a ledger its own."""


def _forget_arriving() -> None:
    """A lock that was held at the fork is held by nobody in the child."""
    global _arriving
    _arriving = threading.Lock()


os.register_at_fork(after_in_child=_forget_arriving)


class Durable:
    """A ledger that is kept somewhere, and the steps that can be made in it."""

    def __init__(self, connect: Callable[[], Connection], mark: Mark) -> None:
        self._connect = connect
        self.mark = mark
        # The accountant and the relation are those of the ledger once it is begun, and never change.
        self._accountant, self._relation = Accountant.PURE, ""
        self._last: Head | None = None
        self._noted: Verified | None = None
        # Where the ledger remembers its mark to be.
        self._place: Path | None = None
        # Another mark that is looked at when it is opened.
        self._also: Mark | None = None
        # The mark that the ledger remembers is nowhere.
        self._lost = False
        self._closed = False
        self._start()

    def _start(self) -> None:
        self._writer: Connection | None = None
        self._reader: Connection | None = None
        self._turns = Turns()
        self._reading = threading.Lock()
        self._noting = threading.Lock()
        # Last: whoever sees it uses all of the above.
        self._process = os.getpid()

    def begin(self, creation: Creation | None, accept: str | None, *, whole: bool = True) -> None:
        """Make the ledger if it is to be made, look through it, and set the mark beside it; or close it and raise.

        `accept` is why the ledger is accepted as it is, where it is to be.
        With whole=False nothing is looked through: whoever opens it does that next, by `verify`.
        """
        try:
            if self._read(lambda page: page.head() is None):
                self._create(creation, accept)
            self._find_mark()
            if accept is not None:
                self.accept(accept)
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

    def accept(self, reason: str) -> None:
        """Go on with this ledger although a mark says that it went back in time, or is lost: the owner's act, and a row says why.

        Whatever was open in this ledger cannot be gone on with: in the one that was lost it may have been answered.
        """

        def step(page: Page) -> None:
            marks = [marked for mark in (self.mark, self._also) if mark is not None and (marked := seen(mark))]
            missed = [marked for marked in marks if page.hash_at(marked[0]) != marked[1]]
            if missed or self._lost:
                self._add(page, Accepted(*max(missed, default=NO_MARK), reason))
                self._remember(page)
                accepted.append(page.newest())

        accepted: list[Head] = []
        self._write_alone(step)
        for head in accepted:
            self.mark.reset(head.sequence, head.hash)
            self._also, self._lost, self._place = None, False, self.mark.path

    def _add(self, page: Page, act: Act, analyst: str | None = None, account: Account | None = None) -> None:
        row = advance(page.newest(), act, self._now(), analyst, account)
        check_act(row.book, act)
        page.add(row)

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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce_ex__(self, _: object) -> NoReturn:
        raise TypeError("a ledger cannot be copied or pickled: open it where it is needed")

    def _find_mark(self) -> None:
        """Look where the ledger remembers its mark to be, where it remembers that."""

    def _choose_mark(self) -> None:
        """Settle which mark is moved from now on."""

    @staticmethod
    def _now() -> int:
        return int(time.time())

    def _know(self, head: Head | None) -> None:
        if head is not None:
            self._accountant, self._relation = head.book.accountant, head.book.relation

    def _create(self, creation: Creation | None, accept: str | None) -> None:
        if creation is None:
            raise Refused("there is no ledger here", code="ledger-missing", hint="open it with a budget to make it")
        if creation.format != FORMAT:
            raise Invalid(f"format must be {FORMAT}, got {shown(creation.format)}")

        def step(page: Page) -> None:
            if page.head() is None:
                row = advance(None, creation, self._now())
                check_act(row.book, creation)
                page.add(row)

        self._write(step) if accept is None else self._write_alone(step)

    def _looked_through(self, page: Page) -> Replay:
        """All rows after the last that was verified, computed again; where none is known to be, all rows."""
        known, again = self._record.read(), Replay(check_act)
        if known is None or not replay_after(again, known, page):
            again = Replay(check_act)
        return self._replayed(page, again)

    def _replayed(self, page: Page, again: Replay) -> Replay:
        at = 0 if again.head is None else again.head.sequence
        while rows := page.after(at):
            for at, hash, body, *columns, answer in rows:
                row = again.add(octets(body), hash)
                check_filed(row, at, *columns)
                check_answer(row, answer)
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
            # Whether it was remembered is not known.
            self._place = None
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
            with _arriving:
                self._arrive()

    def _arrive(self) -> None:
        """Start anew, once, however many threads come in at once."""
        if self._process == os.getpid():
            return
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


def _attempt(job: Job[Any], page: Page) -> None:
    """Run a step in a transaction that it may share with the steps of others."""
    added = page.added
    try:
        job.value = job.step(page)
    except DiscreetError as error:
        if page.added != added:
            # Half a step must not be committed.
            raise
        job.error = error


def _told(error: BaseException) -> DiscreetError:
    """What each thread is told whose step was in a transaction that failed: an error object of its own."""
    if isinstance(error, DiscreetError):
        copy = type(error)(error.message, code=error.code, hint=error.hint)
    else:
        copy = Fault("the ledger was interrupted; nothing was released", code="ledger-unavailable")
    copy.__cause__ = error
    return copy
