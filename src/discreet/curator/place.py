"""Where a ledger lies: in a folder, on a server, or in memory for an experiment. `place_of` alone decides which.

A place opens its ledger, tells whether there is one, and knows how the owner names it: in a command, and in a refusal that asks for one.
"""

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Protocol

from discreet.curator.acts import Creation
from discreet.curator.address import SCHEMA, Address
from discreet.curator.looking import look
from discreet.curator.mark import ACCEPT
from discreet.curator.places import is_ledger, is_made, ledger_beside
from discreet.curator.policy_text import MEMORY
from discreet.curator.sqlite import SQLiteStore
from discreet.curator.store import Store
from discreet.errors import Invalid, Refused

if TYPE_CHECKING:
    from discreet.curator.policy import Policy

NOT_KEPT = (
    "the budget is kept in memory only (ledger=':memory:') and ends with this curator: for experiments,"
    " since whoever asks again elsewhere learns more than it allows"
)
SHARED_MEMORY = "/dev/shm"  # a folder of the system that is in memory


class Place(Protocol):
    """What a ledger is opened by."""

    @property
    def word(self) -> str:
        """How a command names it."""

    @property
    def folder(self) -> Path | None:
        """The folder that it lies in, where it lies in one that stays."""

    @property
    def note(self) -> str:
        """What every answer says of it; nothing of a ledger that is kept."""

    def is_made(self) -> bool:
        """Whether there is a ledger by now; nothing is made."""

    def open(self, creation: Creation | None, *, share_answers: bool = False, accept: str | None = None) -> Store:
        """The ledger, made by `creation` where there is none; None: it must exist. `accept` is why one that went back is taken as it is."""

    def look(self, *, whole: bool = True) -> Store | None:
        """The ledger, to be read; None where none was made yet. One that may only be read is read; whole=False: to be verified next."""

    def origin(self, file: Path) -> str:
        """A file as it is seen from the ledger, so that both may be moved together."""


@contextmanager
def named(place: Place) -> Iterator[None]:
    """A refusal that asks the owner to accept a ledger says by which command, and by which call."""
    try:
        yield
    except Refused as refused:
        if refused.code not in ("rollback", "mark-lost"):
            raise
        how = f"`discreet ledger accept {place.word} --reason TEXT --yes` or `accept(reason)` of its curator"
        if refused.code == "rollback":
            refused.hint = f"bring the newest ledger back; or, if this is the newest there is, {how}"
        else:
            refused.hint = refused.hint.replace(ACCEPT, how)
        raise


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that only its owner can enter, with one file."""

    folder: Path
    mark: Path | None = None
    source: str = ""  # the words that lead to it, such as the name of a policy; without any it goes by its own name

    @property
    def word(self) -> str:
        return self.source or quote(str(self.folder))

    @property
    def note(self) -> str:
        return ""

    def is_made(self) -> bool:
        return is_made(self.folder)

    def open(self, creation: Creation | None, *, share_answers: bool = False, accept: str | None = None) -> Store:
        with named(self):
            return SQLiteStore.open(
                self.folder, creation=creation, mark=self.mark, share_answers=share_answers, accept=accept
            )

    def look(self, *, whole: bool = True) -> Store | None:
        with named(self), _none_if_missing() as looked:
            looked.append(look(self.folder, mark=self.mark, whole=whole))
        return looked[0] if looked else None

    def origin(self, file: Path) -> str:
        return os.path.relpath(os.path.realpath(file), os.path.realpath(self.folder))

    def __str__(self) -> str:
        return str(self.folder)


@dataclass(frozen=True, slots=True)
class Server:
    """A schema of a database on a server, for curators on several machines."""

    address: Address
    schema: str = SCHEMA
    mark: Path | None = None
    source: Path | None = None  # the policy

    @property
    def word(self) -> str:
        return "SOURCE" if self.source is None else quote(str(self.source))

    @property
    def folder(self) -> Path | None:
        return None

    @property
    def note(self) -> str:
        return ""

    def is_made(self) -> bool:
        store = self.look(whole=False)
        if store is not None:
            store.close()
        return store is not None

    def open(self, creation: Creation | None, *, share_answers: bool = False, accept: str | None = None) -> Store:
        try:
            from discreet.curator.postgres import PostgresStore
        except ImportError:
            raise Invalid(
                "a ledger on a server needs the package psycopg", code="address", hint="install discreet[postgres]"
            ) from None
        with named(self):
            return PostgresStore.open(
                self.address.read(),
                creation=creation,
                name=self.schema,
                mark=self.mark,
                share_answers=share_answers,
                accept=accept,
            )

    def look(self, *, whole: bool = True) -> Store | None:
        with _none_if_missing() as looked:
            looked.append(self.open(None))
        return looked[0] if looked else None

    def origin(self, file: Path) -> str:
        """From the policy, which lies beside the data on each machine alike."""
        whole = os.path.realpath(file)
        return whole if self.source is None else os.path.relpath(whole, os.path.realpath(self.source.parent))

    def __str__(self) -> str:
        return f"the schema {self.schema} of the server in {self.address}"


@dataclass(frozen=True, slots=True)
class Memory:
    """Nowhere: a budget for an experiment, which ends with the curator. Its file lies in a folder of the system that is in memory."""

    @property
    def word(self) -> str:
        return MEMORY

    @property
    def folder(self) -> Path | None:
        return None

    @property
    def note(self) -> str:
        return NOT_KEPT

    def is_made(self) -> bool:
        return False

    def open(self, creation: Creation | None, *, share_answers: bool = False, accept: str | None = None) -> Store:
        if creation is None:
            raise Refused("nothing is kept in memory", code="ledger-missing", hint="the first question makes a ledger")
        folder = Path(tempfile.mkdtemp(prefix="discreet-", dir=SHARED_MEMORY if _in_memory() else None))
        try:
            store = SQLiteStore.open(folder, creation=creation, mark=folder / "mark", share_answers=share_answers)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        weakref.finalize(store, _forget, folder, os.getpid())
        return store

    def look(self, *, whole: bool = True) -> Store | None:
        return None

    def origin(self, file: Path) -> str:
        return os.path.realpath(file)

    def __str__(self) -> str:
        return "memory"


@contextmanager
def _none_if_missing() -> Iterator[list[Store]]:
    """What was looked at; nothing where there is no ledger, and all else that is refused is."""
    looked: list[Store] = []
    try:
        yield looked
    except Refused as refused:
        if refused.code != "ledger-missing":
            raise


def _in_memory() -> bool:
    return os.path.isdir(SHARED_MEMORY) and os.access(SHARED_MEMORY, os.W_OK | os.X_OK)


def _forget(folder: Path, process: int) -> None:
    """The folder of an experiment goes with the process that made it, not with one that was forked from it."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def place_of(policy: "Policy | None" = None, path: Path | None = None, ledger: str | Path | None = None) -> Place:
    """Where the ledger lies of a policy, whose file is `path`; or of the data file `path`, or of the folder `path`, without one.

    What is said by `ledger` wins, then what the policy says, then <source>.ledger beside the source; a folder is the ledger itself.
    """
    mark = None if policy is None else policy.mark
    if ledger is None and policy is not None and policy.address is not None:
        return Server(policy.address, policy.schema, mark, path)
    folder = policy.ledger if ledger is None and policy is not None else ledger
    if str(folder) == MEMORY:
        return Memory()
    if folder is not None:
        return Folder(Path(folder), mark, _words(path, ledger))
    if path is None:
        files = () if policy is None else policy.files
        if policy is None or len(files) != 1 or sum(not each.public for each in policy.tables.values()) != 1:
            raise Invalid("the budget needs a place to be kept", code="ledger", hint='add ledger="my.ledger", a folder')
        path = files[0]
    if policy is None and is_ledger(path):
        return Folder(path)
    return Folder(ledger_beside(path), mark, quote(str(path)))


def _words(path: Path | None, ledger: str | Path | None) -> str:
    """What leads to a folder that was named: the policy that names it, and what was said beside; else nothing but itself."""
    if path is None or not is_policy(path):
        return ""
    return quote(str(path)) if ledger is None else f"{quote(str(path))} --ledger {quote(str(ledger))}"


def is_policy(path: Path) -> bool:
    """Whether a file is a policy, by its name; else it is a data file."""
    return path.suffix.casefold() == ".toml"
