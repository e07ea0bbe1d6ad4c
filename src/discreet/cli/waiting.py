"""A word on stderr while something takes longer than a second. It tells what is done and for how long, never how much of it."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from discreet.cli.steady import below, steady

PATIENCE = 1.0


@contextmanager
def waiting(what: str, quiet: bool = False) -> Iterator[None]:
    """Where stderr is a terminal, "what … 3 s" from the first second on; the line is gone afterwards."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    what, terminal = steady(what), below(sys.stderr)
    done, began = threading.Event(), time.monotonic()

    def tell() -> None:
        while not done.wait(PATIENCE):
            print(f"\r{what} … {time.monotonic() - began:.0f} s", end="", file=terminal, flush=True)
            told.append(what)

    told: list[str] = []
    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()
        if told:
            print("\r" + " " * (len(what) + 20) + "\r", end="", file=terminal, flush=True)
