"""A ledger in a Postgres server, for curators on several machines. The steps are those of `store.py`; only the way to the rows differs.

Writers take turns by locking one row FOR UPDATE, and read only after they have it. At the server's default isolation an increment without
that lock lets two machines spend the same budget.
"""

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from discreet.curator.hold import no_more, not_for_children
from discreet.curator.ledger import FORMAT, Creation, broken
from discreet.curator.mark import Mark
from discreet.curator.replay import newer
from discreet.curator.store import PATIENCE, Page, Store, unavailable
from discreet.errors import Invalid
from discreet.exact import shown
from discreet.mechanisms.record import inside

SCHEMA = """
CREATE TABLE rows (
    sequence BIGINT PRIMARY KEY, hash TEXT NOT NULL, body BYTEA NOT NULL,
    key TEXT, analyst TEXT, about BIGINT, topic TEXT, answer BYTEA
);
CREATE UNIQUE INDEX rows_key ON rows (key) WHERE key IS NOT NULL;
CREATE INDEX rows_analyst ON rows (analyst, sequence) WHERE analyst IS NOT NULL;
CREATE INDEX rows_about ON rows (about, sequence) WHERE about IS NOT NULL;
CREATE INDEX rows_topic ON rows (topic, sequence) WHERE topic IS NOT NULL;
CREATE TABLE turn (format INTEGER NOT NULL);
"""
NOTICED = 1.0
"""Seconds within which a server notices that a connection has ended, and its locks with it."""

SETTING_UP = 0x64697363
"""The number of the lock under which tables are made."""


class PostgresStore(Store):
    """A ledger in a schema of a database."""

    @classmethod
    def open(
        cls,
        address: str,
        *,
        creation: Creation | None,
        name: str = "discreet",
        mark: Path | None = None,
        accept: bool = False,
        share_answers: bool = False,
    ) -> "PostgresStore":
        """The ledger in the schema `name` of the database at a libpq address, looked through from its first row.

        `creation` makes it where there is none. One that went back in time is Refused ("rollback") until it is opened with `accept`.
        """
        if not re.fullmatch(r"[a-z_][a-z0-9_]{0,40}", name):
            raise Invalid(f"name must be lower-case letters, digits and _, got {shown(name)}")
        placed = Mark(Path(mark)) if mark is not None else Mark.of(_called(address, name))
        store = cls(lambda: _Postgres(address, name), placed, share_answers=share_answers)
        store._holder = lambda sequence: _ServerHold(address, name, sequence)
        store.begin(creation, accept)
        return store


class _ServerHold:
    """A lock of the server that ends with the connection, and so with the process or the machine that holds it."""

    def __init__(self, address: str, name: str, sequence: int) -> None:
        number = int.from_bytes(sha256(f"{name} {sequence}".encode()).digest()[:8], "big", signed=True)
        with _as_faults():
            self._process = os.getpid()
            self._psycopg = psycopg.connect(address, autocommit=True, connect_timeout=int(PATIENCE))
            self._file = self._psycopg.fileno()
            not_for_children(self._file)
            try:
                until = time.monotonic() + NOTICED
                while self._psycopg.execute("SELECT pg_try_advisory_lock(%s)", (number,)).fetchone() != (True,):
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


def _called(address: str, name: str) -> str:
    """A name of the ledger that is its own, without the password."""
    with _as_faults():
        parts = conninfo_to_dict(address)
    return f"postgres {parts.get('host')} {parts.get('port')} {parts.get('dbname')} {name}"


class _Postgres:
    """A connection whose commits are on disk when they return."""

    def __init__(self, address: str, name: str) -> None:
        with _as_faults():
            self._psycopg = psycopg.connect(address, autocommit=True, connect_timeout=int(PATIENCE))
            try:
                self._prepare(name)
            except BaseException:
                self._psycopg.close()
                raise

    def _prepare(self, name: str) -> None:
        run = self._psycopg.execute
        run("SET synchronous_commit = on")
        run(f"SET lock_timeout = '{int(PATIENCE)}s'")
        run(f"SET search_path = {name}")
        with self._psycopg.transaction():
            run(f"SELECT pg_advisory_xact_lock({SETTING_UP})")
            if run("SELECT to_regclass('turn')").fetchone() == (None,):
                run(f"CREATE SCHEMA IF NOT EXISTS {name}")
                run(SCHEMA)
                run("INSERT INTO turn VALUES (%s)", (FORMAT,))
        found = run("SELECT format FROM turn").fetchone()
        if found is None or found[0] > FORMAT:
            raise newer(found and found[0])

    def _run(self, sql: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        done = self._psycopg.execute(sql.replace("?", "%s"), values)
        return done.fetchall() if done.description else []

    @contextmanager
    def writing(self) -> Iterator[Page]:
        with self._transaction("BEGIN ISOLATION LEVEL READ COMMITTED") as page:
            self._psycopg.execute("SELECT format FROM turn FOR UPDATE")  # what is read from here on is the latest
            yield page

    @contextmanager
    def reading(self) -> Iterator[Page]:
        with self._transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") as page:
            yield page

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Page]:
        with _as_faults():
            self._psycopg.execute(begin)
            try:
                page = Page(self._run, "SELECT 1 WHERE to_regclass(?) IS NOT NULL")
                yield page
                self._psycopg.execute("COMMIT" if page.added else "ROLLBACK")
            except BaseException:
                with suppress(psycopg.Error):
                    self._psycopg.execute("ROLLBACK")
                raise

    def check(self) -> None:
        """The server checks its own pages; rows are checked one by one."""

    def close(self) -> None:
        with suppress(psycopg.Error):
            self._psycopg.close()


@contextmanager
def _as_faults() -> Iterator[None]:
    try:
        yield
    except (psycopg.OperationalError, psycopg.errors.ReadOnlySqlTransaction) as error:
        raise unavailable(str(error).strip().partition("\n")[0]) from error
    except psycopg.Error as error:
        raise broken(str(error).strip().partition("\n")[0]) from error
