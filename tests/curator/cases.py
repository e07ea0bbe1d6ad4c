"""What the tests of the curator's ledger share: a budget, a question, and stores of every kind."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from discreet.curator.acts import Creation, Parted, PartPaid
from discreet.curator.amounts import Amounts, Cap, Price
from discreet.curator.money import cap_of
from discreet.curator.request import Request, Reservation, Stored
from discreet.curator.sqlite import SQLiteStore
from discreet.curator.store import Store
from discreet.privacy import events
from tests.extras import program

RELATION = "add-remove one person"


def creation(epsilon: Any = 1, delta: Any = Fraction(1, 10**6), accountant: str = "pure") -> Creation:
    return Creation(accountant, cap_of(accountant, epsilon, delta), RELATION)


def cap(epsilon: Any, delta: Any = Fraction(1, 10**6)) -> Cap:
    return cap_of("pure", Fraction(epsilon), Fraction(delta))


def request(key: str, epsilon: Any = Fraction(1, 10), analyst: str | None = None, **more: Any) -> Request:
    """A question whose event costs exactly its price."""
    exact = Fraction(epsilon)
    price: Price = more.pop("price", Amounts.up(exact))
    event = more.pop("event", events.Pure(exact).to_json())
    given = {"label": "SELECT COUNT(*) FROM visits", "data_version": "1", **more}
    return Request(key, analyst, price, event, **given)


SAID_BY = ("visits", "region", "")
"""What says in which part of the people somebody is."""


def set_parts(store: Store, *names: str, each: Any = 1) -> None:
    """Give parts of the people budgets."""
    store.set_parts(Parted(*SAID_BY, tuple((name, cap(each)) for name in sorted(names))))


def paid(name: str | None) -> PartPaid | None:
    """Where a question about a part is charged."""
    return None if name is None else PartPaid(*SAID_BY, name)


def granted(outcome: Reservation | Stored) -> Reservation:
    assert isinstance(outcome, Reservation)
    return outcome


def spent(store: Store, analyst: str | None = None) -> int:
    return store.standing(analyst).spent.epsilon


def code_of(act: Callable[[], object]) -> str:
    """The code of the error that an act raises."""
    try:
        act()
    except Exception as error:
        return str(getattr(error, "code", repr(error)))
    return "no error"


@dataclass
class Place:
    """Where a ledger lies, so that tests can open it again and again."""

    folder: Path
    server: str = ""
    open_stores: list[Store] = field(default_factory=list)

    @property
    def mark(self) -> Path:
        return self.folder / "mark"

    @property
    def ledger(self) -> Path:
        return self.folder / "ledger"

    def open(self, made: Creation | None = None, **more: Any) -> Store:
        store: Store
        if self.server:
            from discreet.curator.postgres import PostgresStore

            store = PostgresStore.open(self.server, creation=made, mark=self.mark, name=self.name, **more)
        else:
            store = SQLiteStore.open(self.ledger, creation=made, mark=self.mark, **more)
        self.open_stores.append(store)
        return store

    @property
    def name(self) -> str:
        return "ledger_" + "".join(c if c.isalnum() else "_" for c in self.folder.name.lower())[-30:]

    def close(self) -> None:
        for store in self.open_stores:
            store.close()


@contextmanager
def place() -> Iterator[Place]:
    """A folder for one ledger on SQLite, on a file system without a disk where there is one."""
    memory = Path("/dev/shm")
    with TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        found = Place(Path(folder))
        try:
            yield found
        finally:
            found.close()


@contextmanager
def store(made: Creation | None = None, **more: Any) -> Iterator[Store]:
    with place() as found:
        yield found.open(made or creation(), **more)


@contextmanager
def _unprivileged() -> Iterator[tuple[Path, dict[str, Any]]]:
    """A folder for the sockets and files of a server, and the words with which a program runs there as a user who is not root."""
    with TemporaryDirectory(prefix="discreet-pg-", dir="/tmp") as folder:
        words: dict[str, Any] = {"cwd": folder}
        if os.geteuid() == 0:
            words |= {"user": "nobody", "group": "nogroup", "extra_groups": []}
            shutil.chown(folder, "nobody", "nogroup")
        yield Path(folder), words


def _command(name: str, *arguments: str) -> list[str]:
    found = program(name)
    assert found is not None, f"{name} is not installed: `make extras PART=postgres` says what to do"
    return [found, *arguments]


@contextmanager
def postgres_server() -> Iterator[str]:
    """The address of a fresh server that listens on a socket only."""
    with _unprivileged() as (folder, words):
        data = f"{folder}/data"

        def run(*arguments: str) -> None:
            done = subprocess.run(_command(*arguments), capture_output=True, text=True, timeout=120, **words)
            assert done.returncode == 0, done.stderr

        run("initdb", "-D", data, "-A", "trust", "-U", "owner", "-E", "UTF8", "--locale=C", "-N")
        settings = f"-c listen_addresses= -c fsync=off -c max_connections=200 -k {folder}"
        run("pg_ctl", "-D", data, "-w", "-l", f"{folder}/log", "-o", settings, "start")
        try:
            yield f"host={folder} user=owner dbname=postgres"
        finally:
            run("pg_ctl", "-D", data, "-m", "immediate", "stop")


POOLED = 3
"""Connections of the pooler to the server, fewer than there are clients."""


@contextmanager
def pooler(server: str) -> Iterator[str]:
    """The address of a pooler before a server, which gives a client a connection for one transaction at a time."""
    with _unprivileged() as (folder, words):
        settings = folder / "pgbouncer.ini"
        behind = server.partition(" ")[0]
        settings.write_text(
            f"""[databases]
postgres = {behind} user=owner dbname=postgres
[pgbouncer]
listen_addr =
unix_socket_dir = {folder}
auth_type = any
pool_mode = transaction
default_pool_size = {POOLED}
max_client_conn = 200
logfile = {folder}/log
""",
            "utf-8",
        )
        with subprocess.Popen(_command("pgbouncer", "-q", str(settings)), **words) as process:
            try:
                until = time.monotonic() + 60
                while not (folder / ".s.PGSQL.6432").exists():
                    assert process.poll() is None and time.monotonic() < until, "the pooler does not start"
                    time.sleep(0.02)
                yield f"host={folder} port=6432 user=owner dbname=postgres"
            finally:
                process.kill()
