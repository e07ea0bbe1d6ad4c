"""A word on stderr while something takes longer than a second. It tells what is done and for how long, never how much of it."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from discreet.cli.steady import below, steady

PATIENCE = 1.0


@contextmanager
def waiting(what: str, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Where stderr is a terminal, "what … 3 s" from the first second on; the line is gone afterwards.

    The block is given what tells a step of it: "what: step … 3 s".
    """
    if quiet or not sys.stderr.isatty():
        yield lambda step: None
        return
    what, terminal = steady(what), below(sys.stderr)
    done, began, steps = threading.Event(), time.monotonic(), [what]

    def tell() -> None:
        while not done.wait(PATIENCE):
            line = f"{steps[-1]} … {time.monotonic() - began:.0f} s"
            print(f"\r{line.ljust(max(told, default=0))}", end="", file=terminal, flush=True)
            told.append(len(line))

    told: list[int] = []
    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield lambda step: steps.append(f"{what}: {steady(step)}")
    finally:
        done.set()
        teller.join()
        if told:
            print("\r" + " " * max(told) + "\r", end="", file=terminal, flush=True)
