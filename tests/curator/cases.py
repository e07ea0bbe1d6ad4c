"""What the tests of the curator's ledger share: a budget, a question, and stores of every kind."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from discreet.curator.ledger import Amounts, Cap, Creation, Price, Request, Reservation, Stored
from discreet.curator.money import cap_of
from discreet.curator.store import SQLiteStore, Store
from discreet.privacy import events

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


def granted(outcome: Reservation | Stored) -> Reservation:
    assert isinstance(outcome, Reservation)
    return outcome


def spent(store: Store, analyst: str | None = None) -> int:
    return store.totals(analyst).spent.epsilon


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


def postgres_missing() -> str:
    """Why no Postgres server can be started here; "" if one can."""
    if find_spec("psycopg") is None:
        return "psycopg is not installed (the extra `postgres`)"
    if _binary("initdb") is None or _binary("pg_ctl") is None:
        return "no Postgres server is installed"
    return ""


def _binary(name: str) -> str | None:
    places = [str(path) for path in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]
    return shutil.which(name, path=os.pathsep.join([*places, os.environ.get("PATH", "")]))


@contextmanager
def postgres_server() -> Iterator[str]:
    """The address of a fresh server that listens on a socket only, run by a user who is not root."""
    with TemporaryDirectory(prefix="discreet-pg-", dir="/tmp") as folder:
        user: dict[str, Any] = {}
        if os.geteuid() == 0:
            user = {"user": "nobody", "group": "nogroup", "extra_groups": []}
            shutil.chown(folder, "nobody", "nogroup")
        data = f"{folder}/data"

        def run(program: str, *arguments: str) -> None:
            done = subprocess.run(
                [str(_binary(program)), *arguments], cwd=folder, capture_output=True, text=True, timeout=120, **user
            )
            assert done.returncode == 0, done.stderr

        run("initdb", "-D", data, "-A", "trust", "-U", "owner", "-E", "UTF8", "--locale=C", "-N")
        run("pg_ctl", "-D", data, "-w", "-l", f"{folder}/log", "-o", f"-c listen_addresses= -k {folder}", "start")
        try:
            yield f"host={folder} user=owner dbname=postgres"
        finally:
            run("pg_ctl", "-D", data, "-m", "immediate", "stop")
