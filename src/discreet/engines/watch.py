"""Time that is over: what still runs then is interrupted."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread
from time import monotonic
from types import TracebackType
from typing import Protocol

AGAIN = 0.02  # seconds until the next interrupt: one that comes between two statements is lost


class Interruptible(Protocol):
    """What runs a statement, and can be told from another thread to stop it."""

    def interrupt(self) -> None: ...


class Watch:
    """Watches over the statements of one question until it has ended. Without a deadline it does nothing."""

    def __init__(self, deadline: float | None) -> None:
        self._deadline = deadline
        self._running: set[Interruptible] = set()
        self._lock = Lock()
        self._ended = Event()
        self._thread: Thread | None = None

    def __enter__(self) -> "Watch":
        if self._deadline is not None:
            self._thread = Thread(target=self._watch, args=(self._deadline,), daemon=True)
            self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    @contextmanager
    def over(self, statement: Interruptible) -> Iterator[None]:
        """While it runs it is interrupted once the time is over; if it was over before, raises TimeoutError."""
        if self._deadline is not None and monotonic() >= self._deadline:
            raise TimeoutError
        with self._lock:
            self._running.add(statement)
        try:
            yield
        finally:
            with self._lock:
                self._running.discard(statement)

    def _watch(self, deadline: float) -> None:
        wait = max(0.0, deadline - monotonic())
        while not self._ended.wait(wait):
            with self._lock:
                for statement in self._running:
                    statement.interrupt()
            wait = AGAIN
