"""The three streams of a process, made usable: whoever starts a command may have closed any of them, or have another encoding."""

import io
import os
import sys


def open_descriptors() -> None:
    """What is closed leads nowhere. Else the next file that is opened takes its place, and what is printed is written into a ledger."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free, which is this one


def usable_streams() -> bool:
    """Streams that can be printed to, and read from; whether stdout was closed."""
    unheard = sys.stdout is None
    if unheard:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - for as long as the process lives
    if sys.stderr is None:  # nobody can be told why, and the exit code tells that
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without Unicode gets "?", not a traceback
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(
            errors="surrogateescape"
        )  # bytes that are no text are refused where they stand, as in an argument
    return unheard
