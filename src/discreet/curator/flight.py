"""Questions in flight: whoever closes a curator waits for them, and none takes off after that."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from discreet.errors import Invalid


class Flight:
    """Any number of questions at once, until it is closed."""

    def __init__(self, *, closed: bool = False) -> None:
        self.closed = closed
        self._change = threading.Condition()
        self._questions = 0

    def check(self) -> None:
        """For a curator whose resources were given back: raises Invalid. Questions in flight may go on while it is closing."""
        if self.closed and not self._questions:
            raise Invalid("the curator was closed", code="closed", hint="open it anew")

    @contextmanager
    def question(self) -> Iterator[None]:
        with self._change:
            if self.closed:
                raise Invalid("the curator was closed", code="closed", hint="open it anew")
            self._questions += 1
        try:
            yield
        finally:
            with self._change:
                self._questions -= 1
                self._change.notify_all()

    def close(self) -> None:
        """Take no more, and wait for those that are being answered."""
        with self._change:
            self.closed = True
            while self._questions:
                self._change.wait()
