"""Questions and measurements in flight: whoever closes a curator waits for them, and none takes off after that."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from discreet.errors import Invalid


class Flight:
    """Any number of them at once, until it is closed."""

    def __init__(self, *, closed: bool = False) -> None:
        self.closed = closed
        self._change = threading.Condition()
        self._questions: list[int] = []  # the threads that are in each of them

    def check(self) -> None:
        """For a curator whose resources were given back: raises Invalid. Questions in flight may go on while it is closing."""
        if self.closed and not self._questions:
            raise Invalid("the curator was closed", code="closed", hint="open it anew")

    @contextmanager
    def question(self) -> Iterator[None]:
        thread = threading.get_ident()
        with self._change:
            if self.closed:
                raise Invalid("the curator was closed", code="closed", hint="open it anew")
            self._questions.append(thread)
        try:
            yield
        finally:
            with self._change:
                self._questions.remove(thread)
                self._change.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Wait for those that are being answered, and let none take off until this ends. Inside of one of them: raises Invalid."""
        with self._change:
            self._check_outside("this cannot be done inside of a measurement")
            while self._questions:
                self._change.wait()
            yield

    def _check_outside(self, message: str) -> None:
        """Whoever is inside of one would wait for themselves."""
        if threading.get_ident() in self._questions:
            raise Invalid(message, code="in-flight", hint="leave its block first")

    def close(self) -> None:
        """Take no more, and wait for those that are being answered. Whoever is inside of one would wait for themselves: raises Invalid."""
        with self._change:
            self._check_outside("the curator cannot be closed inside of a measurement")
            self.closed = True
            while self._questions:
                self._change.wait()
