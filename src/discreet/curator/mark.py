"""The high-water mark: a small file apart from the ledger that says how far the ledger has come, so that an old copy is noticed.

It is moved forward after every commit and before anything is released, and never moves back by itself. It lies outside of the ledger's
folder, in the user's state directory, since whoever restores a folder from a backup restores all of it.
"""

import fcntl
import os
import pwd
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

from discreet.curator.forks import FORKS
from discreet.errors import Fault, Refused

PATIENCE = 30.0
"""Seconds to wait for another process that writes."""

SLOT = 128
"""Two places are written in turn, so that one always holds a whole mark, also after a crash in the middle of writing."""


ACCEPT = "`discreet ledger accept SOURCE --reason TEXT --yes`"
"""How an owner accepts a ledger; whoever knows which ledger it is says its name instead."""

NO_MARK = (0, "")
"""Stands for a mark that cannot be read: a row that no ledger has."""

MARKED = b"0123456789abcdef \n\0"
"""The bytes that marks are made of."""


Slots: TypeAlias = tuple[tuple[int, str] | None, tuple[int, str] | None]
"""What the two places hold; None for no whole mark."""


class Mark:
    """A sequence number and the hash of its row, in a file of their own."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read: tuple[bytes, Slots] = (b"", (None, None))

    @classmethod
    def of(cls, ledger: str) -> "Mark":
        """The mark of a ledger, by its absolute path or another name that is its own."""
        return cls(_state() / "discreet" / "marks" / sha256(ledger.encode("utf-8", "surrogateescape")).hexdigest())

    def read(self) -> tuple[int, str] | None:
        """The mark, or None where there is none yet. For a file that holds no whole mark raises Refused."""
        try:
            file = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                data = os.read(file, 2 * SLOT)
            finally:
                os.close(file)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unavailable(error) from error
        return _newest(self._slots(data))

    def _slots(self, data: bytes) -> Slots:
        """The marks in both places; bytes that were read before are not read again."""
        # One object: another thread may put its own there meanwhile.
        before, slots = self._read
        if data != before:
            slots = _parse(data[:SLOT]), _parse(data[SLOT : 2 * SLOT])
            if data and slots == (None, None):
                raise rolled_back(f"the high-water mark {self.path} cannot be read")
            self._read = (data, slots)
        return slots

    def advance(self, sequence: int, hash: str) -> None:
        """Move forward to a row that is durable; durable itself when this returns. A mark that is farther already stays."""
        with self._locked() as file:
            slots = self._slots(os.pread(file, 2 * SLOT, 0))
            now = _newest(slots)
            if now is None or now[0] < sequence:
                os.pwrite(file, _slot(sequence, hash), _older(slots))
                os.fdatasync(file)

    def reset(self, sequence: int, hash: str) -> None:
        """Set the mark to a row whatever it was: the owner accepted a ledger that had gone back."""
        with self._locked() as file:
            self._check_form(os.pread(file, 2 * SLOT + 1, 0))
            os.pwrite(file, _slot(sequence, hash) * 2, 0)
            os.fdatasync(file)

    def remove(self) -> None:
        """Take the file away, for a mark of what has ended; one that cannot be taken away says nothing that is not so."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)

    def _check_form(self, data: bytes) -> None:
        """What is written over must be a mark, whole or torn: another file may have been named by mistake."""
        if len(data) > 2 * SLOT or data.strip(MARKED):
            raise Refused(
                f"the file {self.path} is no high-water mark, and is not written over",
                code="mark",
                hint="name another file for the mark, or remove this one",
            )

    @contextmanager
    def _locked(self) -> Iterator[int]:
        """The open file, which no other thread or process writes meanwhile. No fork happens, since it would share the lock."""
        try:
            with FORKS.inside():
                file = self._open()
                try:
                    self._lock(file)
                    yield file
                finally:
                    os.close(file)
        except OSError as error:
            raise self._unavailable(error) from error

    def _lock(self, file: int) -> None:
        """Wait for the lock as long as for a ledger, and no longer: who holds it may have been stopped."""
        until, pause = time.monotonic() + PATIENCE, 0.0005
        while True:
            try:
                return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                if time.monotonic() > until:
                    raise OSError(error.errno, "another process keeps it locked") from error
            time.sleep(pause)
            pause = min(2 * pause, 0.01)

    def _open(self) -> int:
        try:
            return os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            make_folders(self.path.parent)
            file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            sync_folder(self.path.parent)
            return file

    def _unavailable(self, error: OSError) -> Fault:
        return Fault(
            f"the high-water mark {self.path} cannot be read or written ({error.strerror})",
            code="ledger-unavailable",
            hint="nothing was released; give it a writable place and try again",
        )


def _state() -> Path:
    """Where a user keeps what programs remember. Names that depend on the current folder are passed over: a mark must have one place."""
    state, home = os.environ.get("XDG_STATE_HOME", ""), os.environ.get("HOME", "")
    if state.startswith("/"):
        return Path(state)
    if not home.startswith("/"):
        try:
            home = pwd.getpwuid(os.getuid()).pw_dir
        except KeyError:
            home = ""
    if not home.startswith("/"):
        raise Refused(
            "there is no place for the high-water mark: neither XDG_STATE_HOME nor HOME is an absolute path",
            code="mark",
            hint="set one of them, or name a file by `mark` under [ledger] in the policy",
        )
    return Path(home) / ".local" / "state"


def seen(mark: Mark) -> tuple[int, str] | None:
    """What a mark says; None for one that is not there, or may not be read by us; for one that is damaged, a row that no ledger has."""
    try:
        return mark.read()
    except Refused:
        return NO_MARK
    except Fault:
        return None


def mark_lost(remembered: Path, here: Path) -> Refused:
    where = "and it is not there" if remembered == here else f"which cannot be read, and there is none at {here}"
    return Refused(
        f"the ledger has its high-water mark at {remembered}, {where}; so it cannot be told whether this is an old copy",
        code="mark-lost",
        hint="run this as the user, and with the settings, that it was run with before; or let `mark` under [ledger] in the policy name "
        f"the file; or, if this is the newest ledger, {ACCEPT}",
    )


def make_folders(path: Path) -> None:
    """A folder and those above it that are not there yet, each for its owner alone."""
    for each in reversed([path, *path.parents]):
        if not each.is_dir():
            each.mkdir(mode=0o700, exist_ok=True)


def _newest(slots: Slots) -> tuple[int, str] | None:
    return max((mark for mark in slots if mark is not None), default=None)


def _older(slots: Slots) -> int:
    """Where to write: over the older mark or over none, never over the newest, which is the one to fall back on."""
    first, second = slots
    return SLOT if first is not None and (second is None or second < first) else 0


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable."""
    folder = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def rolled_back(what: str) -> Refused:
    return Refused(
        f"the ledger may have gone back in time: {what}",
        code="rollback",
        hint="bring the newest ledger back, or accept this one as the owner",
    )


def _slot(sequence: int, hash: str) -> bytes:
    line = f"{sequence} {hash}"
    return f"{line} {_checksum(line)}\n".encode("ascii").ljust(SLOT, b" ")


def _parse(slot: bytes) -> tuple[int, str] | None:
    line, _, checksum = slot.decode("ascii", "replace").strip().rpartition(" ")
    if not line or _checksum(line) != checksum:
        return None
    sequence, _, hash = line.partition(" ")
    return int(sequence), hash


def _checksum(line: str) -> str:
    return sha256(line.encode("utf-8")).hexdigest()[:16]
