"""A ledger in a Postgres server, for curators on several machines. The steps are those of `store.py`; only the way to the rows differs.

Writers take turns by locking one row FOR UPDATE, and read only after they have it. At the server's default isolation an increment without
that lock lets two machines spend the same budget.

Nothing here rests on a session of the server: a pooler may give each transaction another one, with settings that some other client left.
So every table is named with its schema, every setting is made inside the transaction that needs it, no statement is prepared, and each
transaction looks whether the ledger begins with the row that it began with when it was opened.
"""

import os
import re
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from discreet.curator.acts import FORMAT, Creation
from discreet.curator.connection import unavailable
from discreet.curator.hold import no_more, not_for_children
from discreet.curator.mark import PATIENCE, Mark, rolled_back
from discreet.curator.names import check_reason
from discreet.curator.page import Page
from discreet.curator.platforms import check_platform
from discreet.curator.replay import newer
from discreet.curator.rows import broken
from discreet.curator.schema import ACTS, POSTGRES, TABLES, TURN, statements
from discreet.curator.store import Store
from discreet.errors import Fault, Invalid, Refused
from discreet.exact import shown
from discreet.mechanisms.record import inside

NOTICED = 1.0
"""Seconds within which a server notices that a connection has ended, and its locks with it."""

SETTING_UP = 0x64697363
"""The number of the lock under which tables are made."""

DAMAGED = (
    psycopg.IntegrityError,
    psycopg.DataError,
    psycopg.errors.DataCorrupted,
    psycopg.errors.IndexCorrupted,
    psycopg.errors.UndefinedTable,
    psycopg.errors.UndefinedColumn,
)
"""What the server says of tables that are not as they were made. All else it says is about itself."""

UNREACHED = "the server cannot be reached, or does not let us in"
ABOUT_THE_ADDRESS = ("08", "28", "3D")
"""The first letters of the server's codes for connections, passwords and databases: such messages may quote the address."""


@dataclass(slots=True)
class _Opening:
    """The hash of the row that a ledger begins with, once one was seen. All connections of a store share it."""

    hash: str | None = None


class PostgresStore(Store):
    """A ledger in a schema of a database. The address may be that of a pooler, in any of its modes."""

    @classmethod
    def open(
        cls,
        address: str,
        *,
        creation: Creation | None,
        name: str = "discreet",
        mark: Path | None = None,
        accept: str | None = None,
        share_answers: bool = False,
    ) -> "PostgresStore":
        """The ledger in the schema `name` of the database at a libpq address, looked through from the last row that was.

        `creation` makes it where there is none; None: it must exist, and nothing is made. One that went back in time, or is missing though
        it has a mark, is Refused ("rollback") until it is opened with `accept`, the reason. An address that cannot be used is
        Invalid; no error quotes it.
        """
        check_platform()
        if not re.fullmatch(r"[a-z_][a-z0-9_]{0,40}", name):
            raise Invalid(f"name must be lower-case letters, digits and _, got {shown(name)}")
        _check_address(address)
        if accept is not None:
            check_reason(accept)
        placed = Mark(Path(mark)) if mark is not None else Mark.of(_called(address, name))
        # Before anything else is looked at: whoever makes the ledger at this moment writes a mark after it.
        marked = placed.read()
        opening = _Opening()
        with closing(_Postgres(address, name, opening)) as first:
            if not first.exists():
                if accept is None and marked is not None:
                    raise rolled_back("it is missing, and its high-water mark is there")
                if creation is None:
                    raise Refused(
                        "there is no ledger here", code="ledger-missing", hint="open it with a budget to make it"
                    )
                first.make()
        store = cls(lambda: _Postgres(address, name, opening), placed, share_answers=share_answers)
        store._holder = lambda sequence: _ServerHold(address, name, sequence)
        store.begin(creation, accept)
        return store


class _ServerHold:
    """A lock of the server that ends with the connection, and so with the process or the machine that holds it.

    It is held by a transaction that stays open, since behind a pooler a session of the server belongs to nobody.
    """

    def __init__(self, address: str, name: str, sequence: int) -> None:
        number = int.from_bytes(sha256(f"{name} {sequence}".encode()).digest()[:8], "big", signed=True)
        with _as_faults():
            self._process = os.getpid()
            self._psycopg = psycopg.connect(address, prepare_threshold=None, connect_timeout=int(PATIENCE))
            self._file = self._psycopg.fileno()
            not_for_children(self._file)
            try:
                until = time.monotonic() + NOTICED
                while self._psycopg.execute("SELECT pg_try_advisory_xact_lock(%s)", (number,)).fetchone() != (True,):
                    self._psycopg.rollback()
                    if time.monotonic() > until:
                        raise inside()
                    time.sleep(0.05)
            except BaseException:
                self.release()
                raise

    def release(self) -> None:
        if self._process == os.getpid():
            no_more(self._file)
            with suppress(psycopg.Error):
                self._psycopg.close()


def _check_address(address: str) -> None:
    try:
        usable = b"\0" not in address.encode("utf-8")
    except (AttributeError, UnicodeError):
        usable = False
    if not usable:
        raise _unusable()


def _called(address: str, name: str) -> str:
    """A name of the ledger that is its own, without the password."""
    with _as_faults():
        parts = conninfo_to_dict(address)
    return f"postgres {parts.get('host')} {parts.get('port')} {parts.get('dbname')} {name}"


class _Postgres:
    """A connection whose commits are on disk when they return."""

    def __init__(self, address: str, name: str, opening: _Opening) -> None:
        self._name = name
        self._opening = opening
        with _as_faults():
            self._psycopg = psycopg.connect(
                address, autocommit=True, connect_timeout=int(PATIENCE), prepare_threshold=None
            )

    def exists(self) -> bool:
        """Whether the tables are there; they are of a format that is known here, or this raises."""
        with self._transaction("READ COMMITTED READ ONLY"):
            if not self._is_made():
                return False
            self._checked_format(self._run("SELECT format FROM turn", ()))
            return True

    def make(self) -> None:
        """Make the tables, unless somebody else did so meanwhile."""
        with self._transaction("READ COMMITTED"):
            self._run("SELECT pg_advisory_xact_lock(?)", (SETTING_UP,))
            if not self._is_made():
                tables = self._qualified("; ".join((*statements(POSTGRES), TURN)))
                self._psycopg.execute(f"CREATE SCHEMA IF NOT EXISTS {self._name}; {tables}")
                self._run("INSERT INTO turn VALUES (?)", (FORMAT,))
            self._end("COMMIT")

    def _is_made(self) -> bool:
        """By a query of its tables: functions such as to_regclass answer from a cache that may be older than the lock."""
        return bool(self._run("SELECT 1 FROM pg_tables WHERE schemaname = ? AND tablename = 'turn'", (self._name,)))

    @contextmanager
    def writing(self) -> Iterator[Page]:
        with self._transaction("READ COMMITTED"):
            ((format,),) = self._checked_format(self._run("SELECT format FROM turn FOR UPDATE", ()))
            # What is read from here on is the latest.
            self._check_opening()
            page = Page(self._run, self._tables)
            yield page
            if page.added and format < FORMAT:
                # An older release must not read what it cannot.
                self._run(ACTS, ())
                self._run("UPDATE turn SET format = ?", (FORMAT,))
            self._end("COMMIT" if page.added else "ROLLBACK")

    @contextmanager
    def reading(self) -> Iterator[Page]:
        looked = False

        def run(sql: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
            nonlocal looked
            if not looked:
                # Not before: the first query is what the whole look sees, and a mark must be read before it.
                self._check_opening()
                looked = True
            return self._run(sql, values)

        with self._transaction("REPEATABLE READ READ ONLY"):
            yield Page(run, self._tables)
            self._end("ROLLBACK")

    @contextmanager
    def _transaction(self, how: str) -> Iterator[None]:
        """One transaction with settings of its own, undone unless it was ended. A name without its schema finds nothing."""
        with _as_faults():
            self._psycopg.execute(
                f"BEGIN ISOLATION LEVEL {how}; SET LOCAL synchronous_commit = on; SET LOCAL search_path = pg_catalog;"
                f" SET LOCAL lock_timeout = '{int(PATIENCE * 1000)}ms'"
            )
            try:
                yield
            finally:
                if not self._psycopg.closed and self._psycopg.info.transaction_status != IDLE:
                    with suppress(psycopg.Error):
                        self._psycopg.execute("ROLLBACK")

    def _end(self, how: str) -> None:
        """A transaction in which something failed answers COMMIT with ROLLBACK, and no error."""
        if self._psycopg.execute(how).statusmessage != how:
            raise unavailable("the server did not commit")

    def _check_opening(self) -> None:
        first = self._run("SELECT hash FROM rows WHERE sequence = 1", ())
        if self._opening.hash is None:
            self._opening.hash = first[0][0] if first else None
        elif first != [(self._opening.hash,)]:
            raise Fault(
                "the ledger is not the one that was opened: it begins with another row",
                code="ledger-exchanged",
                hint="nothing was released; open it anew",
            )

    def _checked_format(self, formats: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        if not formats or formats[0][0] > FORMAT:
            raise newer(formats[0][0] if formats else None)
        return formats

    def _run(self, sql: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        cursor = self._psycopg.execute(self._qualified(sql).replace("?", "%s"), values)
        return cursor.fetchall() if cursor.description else []

    @property
    def _tables(self) -> str:
        """The query that tells whether there is a table of a name."""
        return f"SELECT 1 WHERE to_regclass('{self._name}.' || ?) IS NOT NULL"

    def _qualified(self, sql: str) -> str:
        return re.sub(rf"\b(FROM|INTO|TABLE|ON|UPDATE|EXISTS) ({'|'.join(TABLES)})\b", rf"\1 {self._name}.\2", sql)

    def check(self) -> None:
        """The server checks its own pages; rows are checked one by one."""

    def close(self) -> None:
        with suppress(psycopg.Error):
            self._psycopg.close()


IDLE = psycopg.pq.TransactionStatus.IDLE


@contextmanager
def _as_faults() -> Iterator[None]:
    """What goes wrong with the server, in words that quote no address: neither theirs nor ours, nor in what is printed as the cause."""
    try:
        yield
    except psycopg.Error as error:
        raise _told(error) from None
    except UnicodeError:
        raise Invalid("a text cannot be sent to the ledger: it is not Unicode") from None


def _told(error: psycopg.Error) -> Fault | Invalid:
    code = error.sqlstate
    if code is None and isinstance(error, psycopg.ProgrammingError):
        # It is libpq's, before anything was sent.
        return _unusable()
    if code is None or code.startswith(ABOUT_THE_ADDRESS):
        return unavailable(UNREACHED)
    why = error.diag.message_primary or "no reason is given"
    return broken(why) if isinstance(error, DAMAGED) else unavailable(why)


def _unusable() -> Invalid:
    return Invalid(
        "the address of the ledger cannot be used",
        hint="write host=… port=… dbname=… user=…, or postgresql://user@host:port/dbname; percent signs are %25",
    )
