"""What must not cross a fork: open SQLite files, and the lock of a mark.

SQLite keeps its locks in the memory of a process. A child inherits that memory without the locks, and from then on two processes write to
one file as if each were alone; a lock by `flock` is shared by both sides. So whoever forks waits until no file is in use, and closes all;
both sides open them anew. Where a fork did not go through Python's hooks, or came in the midst of a use, the child is refused.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol
from weakref import WeakSet

from discreet.errors import Fault


class Closable(Protocol):
    """Something open that can be opened again later."""

    def let_go(self) -> None:
        """Close it; the next use opens it again."""


class Forks:
    """Counts who uses what must not cross a fork, and lets no fork happen meanwhile."""

    def __init__(self) -> None:
        self._start(spoiled=False)

    def _start(self, *, spoiled: bool) -> None:
        self._process = os.getpid()
        self._change = threading.Condition()
        # Threads, and how deep each is inside.
        self._users: dict[int, int] = {}
        self._forking = 0
        self._open: WeakSet[Closable] = WeakSet()
        self._spoiled = spoiled

    def opened(self, what: Closable) -> None:
        self._open.add(what)

    def closed(self, what: Closable) -> None:
        self._open.discard(what)

    @property
    def foreign(self) -> bool:
        """Whether this process inherited what was open in another: that may be neither used nor closed."""
        if self._process != os.getpid():
            # It was forked by something that ran no hooks.
            self._arrive()
        return self._spoiled

    @contextmanager
    def inside(self) -> Iterator[None]:
        """No fork happens inside of this block; one that has begun is waited for."""
        if self.foreign:
            raise Fault(
                "the ledger was opened before a fork of this process",
                code="ledger-forked",
                hint="nothing was released; open it here, in a process that is started and not forked",
            )
        me = threading.get_ident()
        with self._change:
            while self._forking and me not in self._users:
                self._change.wait()
            self._users[me] = self._users.get(me, 0) + 1
        try:
            yield
        finally:
            with self._change:
                self._users[me] -= 1
                if not self._users[me]:
                    del self._users[me]
                self._change.notify_all()

    def before(self) -> None:
        """About to fork: wait for every use of other threads to end, then close what is open."""
        me = threading.get_ident()
        with self._change:
            self._forking += 1
            while self._users.keys() - {me}:
                self._change.wait()
        if me not in self._users:
            for each in list(self._open):
                each.let_go()

    def in_parent(self) -> None:
        with self._change:
            self._forking -= 1
            self._change.notify_all()

    def in_child(self) -> None:
        self._arrive()

    def _arrive(self) -> None:
        self._start(spoiled=self._spoiled or bool(self._users) or bool(self._open))


FORKS = Forks()
os.register_at_fork(before=FORKS.before, after_in_parent=FORKS.in_parent, after_in_child=FORKS.in_child)
