"""Files of reports, and the state that they are added to."""

import fcntl
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from discreet.errors import Invalid

if TYPE_CHECKING:
    from discreet.local.campaign import Campaign

STDIN = "-"
BYTES = ".bin"


class Arrival:
    """The clock of a collector that reads files: a report came no later than its file was last written to; one of a pipe comes now."""

    def __init__(self) -> None:
        self._file: float | None = None

    def of(self, path: str) -> None:
        """From now on reports are of this file."""
        self._file = None if path == STDIN or Path(path).is_fifo() else Path(path).stat().st_mtime

    def __call__(self) -> float:
        return time.time() if self._file is None else self._file


def readable(path: str) -> str:
    """A file of reports that is there, or a pipe; else Invalid."""
    if path != STDIN and (not is_readable(Path(path)) or not os.access(path, os.R_OK)):
        raise Invalid(f"there is no file {path!r} that can be read", code="no-file")
    return path


def is_readable(path: Path) -> bool:
    """Whether this is a file, or a pipe, such as a shell makes of <(another command)."""
    return path.is_file() or path.is_fifo()


def reports_in(path: str, campaign: "Campaign", arrival: Arrival) -> Iterator[bytes | str]:
    """The reports of a file, one by one: lines of JSON, or bytes behind each other, which are all of one length.

    What is no report comes as it is, for the collector to count; of a line that is too long its beginning alone.
    """
    arrival.of(path)
    if path == STDIN:
        yield from _lines(sys.stdin.buffer)
        return
    with open(path, "rb") as file:
        yield from _pieces(file, campaign) if Path(path).suffix.lower() == BYTES else _lines(file)


def _lines(file: BinaryIO) -> Iterator[str]:
    from discreet.local.report import MOST_TEXT

    while line := file.readline(MOST_TEXT + 2):
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        whole = line.endswith(b"\n")
        while not whole and (rest := file.readline(1 << 20)):
            text, whole = text[:1], rest.endswith(b"\n")  # which is no report
        if text.strip():
            yield text


def _pieces(file: BinaryIO, campaign: "Campaign") -> Iterator[bytes]:
    from discreet.local.report import HEAD

    while piece := file.read(HEAD + campaign.randomiser.size):
        yield piece


def linked(state: str) -> str:
    """The file that a link leads to, which stays a link; any other name is as it was."""
    return str(Path(state).resolve()) if Path(state).is_symlink() else state


@contextmanager
def alone(state: str) -> Iterator[None]:
    """Nobody else adds to a state in this folder meanwhile: what two commands add at once is not lost."""
    try:
        folder = os.open(Path(state).absolute().parent, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise Invalid(f"{state!r} cannot be used: {error.strerror}", code="out") from None
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)
