"""Looking at a ledger in a folder without writing to it; where it may only be read, at a copy.

SQLite writes beside a file that it reads, so it is given a copy of its own.
"""

import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from discreet.curator.accounts import Standing
from discreet.curator.acts import Creation
from discreet.curator.connection import unavailable
from discreet.curator.mark import Mark, rolled_back
from discreet.curator.page import Page
from discreet.curator.platforms import check_platform
from discreet.curator.replay import Replay
from discreet.curator.rows import broken
from discreet.curator.sqlite import SQLite, SQLiteStore, as_faults, has_mark, mark_of
from discreet.curator.turns import Job

COPIES = 10
"""Tries to copy a ledger that somebody writes to."""


def look(folder: Path, *, mark: Path | None = None, whole: bool = True) -> SQLiteStore:
    """The ledger in a folder, to be read only. Where it cannot be written to, a copy is read, and its mark is left as it is."""
    check_platform()
    folder = Path(os.path.realpath(folder))
    with as_faults():
        missing = not (folder / "ledger.sqlite").exists()
    if missing or _writable(folder):
        return SQLiteStore.open(folder, creation=None, mark=mark, whole=whole)
    return Copy.of(folder, mark_of(folder, mark), whole=whole)


def declared(folder: Path) -> tuple[Creation, Standing] | None:
    """What a ledger was made with and holds, by two rows of it, before it is opened and looked through; None where there is none."""
    folder = Path(os.path.realpath(folder))
    file = folder / "ledger.sqlite"
    marked = has_mark(mark_of(folder, None), False)
    with as_faults():
        if not file.exists():
            if marked:
                raise rolled_back("it is missing, and its high-water mark is there")
            return None
    if not _writable(folder):
        with look(folder) as store:
            return store._read(_declared)
    connection = SQLite(file, make=False)
    try:
        with connection.reading() as page:
            return _declared(page)
    finally:
        connection.close()


def _declared(page: Page) -> tuple[Creation, Standing] | None:
    head, first = page.head(), page.find("sequence = 1")
    if head is None or first is None:
        return None
    if not isinstance(first.act, Creation):
        raise broken("it does not start with its creation")
    return first.act, Standing.of(head.book.account, head.book)


class Copy(SQLiteStore):
    """A copy of a ledger that may only be read, such as one of another user or on a medium that is not written to."""

    _copy: TemporaryDirectory[str]

    @classmethod
    def of(cls, folder: Path, mark: Mark, *, whole: bool) -> "Copy":
        # For this user alone.
        copy = TemporaryDirectory(prefix="discreet-")
        try:
            with as_faults():
                _copy_whole(folder, Path(copy.name))
            store = cls(lambda: SQLite(Path(copy.name) / "ledger.sqlite", make=False), mark)
            store._copy = copy
            store._find_mark()
            # It may be a mark of somebody else's, which cannot be seen from here.
            store._lost = False
            store._choose_mark()
            with store._apart() as (_, page):
                store._check_marks(page)
                store._know(store._looked_through(page).head if whole else page.head())
        except BaseException:
            copy.cleanup()
            raise
        return store

    def _commit(self, jobs: list[Job[Any]], marked: bool = True) -> None:
        for job in jobs:
            job.error = unavailable("it may only be read")

    def _note(self, again: Replay) -> None:
        """What is beside the mark is left as it is."""

    def close(self) -> None:
        super().close()
        self._copy.cleanup()


def _writable(folder: Path) -> bool:
    return os.access(folder, os.W_OK | os.X_OK) and os.access(folder / "ledger.sqlite", os.W_OK)


def _copy_whole(folder: Path, to: Path) -> None:
    """The file and its log, as they are at one moment: copied again where somebody wrote meanwhile."""
    files = [folder / name for name in ("ledger.sqlite", "ledger.sqlite-wal")]
    for _ in range(COPIES):
        before = [_state(file) for file in files]
        for file in files:
            if file.exists():
                shutil.copyfile(file, to / file.name)
        if [_state(file) for file in files] == before:
            return
    raise unavailable("it is being written to all the time")


def _state(file: Path) -> tuple[int, ...] | None:
    try:
        state = file.stat()
    except FileNotFoundError:
        return None
    return state.st_ino, state.st_size, state.st_mtime_ns
