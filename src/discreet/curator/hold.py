"""Who is inside a measurement holds it: a lock of the operating system that ends with its process, however that ends.

It decides who is refused at the door. That no draw is made twice does not rest on it, but on the ledger's transactions.
"""

import fcntl
import os
from pathlib import Path
from typing import Protocol

from discreet.curator.connection import unavailable
from discreet.mechanisms.record import inside


class Hold(Protocol):
    """A measurement that is held until it is released."""

    def release(self) -> None: ...


class FileHold:
    """A locked file beside the ledger, which is there only while a measurement is held, or after its process was killed."""

    def __init__(self, path: Path) -> None:
        self._path, self._process = path, os.getpid()
        try:
            self._file = _locked(path)
        except BlockingIOError:
            raise inside() from None
        except OSError as error:
            raise unavailable(str(error.strerror)) from error
        not_for_children(self._file)

    def release(self) -> None:
        if self._process == os.getpid() and self._file >= 0:
            file, self._file = self._file, -1
            no_more(file)
            self._path.unlink(missing_ok=True)
            os.close(file)


def _locked(path: Path) -> int:
    """The open file, locked, and still the one at this path: who released it took it away."""
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.exists() and os.path.samestat(os.fstat(file), path.stat()):
                return file
        except BaseException:
            os.close(file)
            raise
        os.close(file)


_HELD: set[int] = set()
"""Open files by which this process holds something."""


def not_for_children(file: int) -> None:
    """A forked child has a share in each lock of an open file, and would hold it after its parent was killed: it closes it at once."""
    _HELD.add(file)


def no_more(file: int) -> None:
    _HELD.discard(file)


def _let_go() -> None:
    while _HELD:
        os.close(_HELD.pop())


os.register_at_fork(after_in_child=_let_go)
