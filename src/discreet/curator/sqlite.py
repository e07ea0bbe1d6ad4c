"""A ledger in one file of SQLite, `ledger.sqlite`, in a folder that only its owner can enter."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from discreet.curator.acts import FORMAT, Creation
from discreet.curator.connection import unavailable
from discreet.curator.forks import FORKS
from discreet.curator.hold import FileHold
from discreet.curator.mark import PATIENCE, Mark, make_folders, mark_lost, rolled_back, seen, sync_folder
from discreet.curator.names import check_reason
from discreet.curator.page import Page
from discreet.curator.platforms import check_platform
from discreet.curator.replay import newer
from discreet.curator.rows import broken
from discreet.curator.schema import ACTS, SQLITE, statements
from discreet.curator.store import Store
from discreet.errors import Fault, Refused


class SQLiteStore(Store):
    """A ledger in one file, `ledger.sqlite` in a folder that only its owner can enter."""

    @classmethod
    def open(
        cls,
        folder: Path,
        *,
        creation: Creation | None,
        mark: Path | None = None,
        accept: str | None = None,
        share_answers: bool = False,
        whole: bool = True,
    ) -> "SQLiteStore":
        """The ledger in a folder, looked through from the last row that was. `creation` makes it where there is none; None: it must exist.

        A ledger that went back in time, or is missing though it has a mark, is Refused ("rollback") until it is opened with `accept`, the
        reason; so is one whose mark is neither where it remembers it nor where it is looked for ("mark-lost").
        """
        check_platform()
        if accept is not None:
            check_reason(accept)
        folder = Path(os.path.realpath(folder))
        file = folder / "ledger.sqlite"
        placed = mark_of(folder, mark)
        # Before the file is looked for: whoever makes it now writes a mark after it.
        marked = has_mark(placed, accept is not None)
        with as_faults():
            missing = not file.exists()
        if missing and marked and accept is None:
            raise rolled_back("it is missing, and its high-water mark is there")
        if creation is None and missing:
            raise Refused("there is no ledger here", code="ledger-missing", hint="open it with a budget to make it")
        _make_folder(folder)
        store = cls(lambda: SQLite(file), placed, share_answers=share_answers)
        store._chosen = mark is not None
        store._holder = lambda sequence: FileHold(folder / f"measure-{sequence}.lock")
        store.begin(creation, accept, whole=whole)
        # One that was taken away is not made anew.
        store._connect = lambda: SQLite(file, make=False)
        return store

    _chosen = False
    """Whether somebody said where the mark is; else it follows from who runs this, and with which settings."""

    def _find_mark(self) -> None:
        self._place = self._read(lambda page: page.mark_place())
        if self._place is None:
            return
        there, here = seen(Mark(self._place)), seen(self.mark)
        self._lost = there is None and here is None
        if there is not None and self._place != self.mark.path:
            self._also = Mark(self._place)

    def _choose_mark(self) -> None:
        if self._lost and self._place is not None:
            raise mark_lost(self._place, self.mark.path)
        if self._also is not None and not self._chosen:
            self.mark, self._also = self._also, self.mark

    def _remember(self, page: Page) -> None:
        if self._place != self.mark.path:
            page.keep_mark_place(self.mark.path)
            self._place = self.mark.path


def mark_of(folder: Path, mark: Path | None) -> Mark:
    """The mark that somebody named, or the one that belongs to a folder."""
    return Mark(Path(os.path.abspath(mark))) if mark is not None else Mark.of(str(folder))


def has_mark(mark: Mark, accept: bool) -> bool:
    """Whether there is a mark; one that cannot be read is Refused, unless the ledger is to be accepted whatever it says."""
    return (seen(mark) if accept else mark.read()) is not None


def _make_folder(folder: Path) -> None:
    try:
        if not folder.is_dir():
            make_folders(folder)
            sync_folder(folder.parent)
    except OSError as error:
        raise unavailable(error.strerror or "it cannot be made") from error


class SQLite:
    """A connection that keeps its promises: write-ahead log, synced at every commit, to the file that is at its path.

    It is closed before a fork, and opened again by its next use.
    """

    def __init__(self, file: Path, *, make: bool = True) -> None:
        self._file = file
        self._log = file.with_name(file.name + "-wal")
        self._opened: sqlite3.Connection | None = None
        with as_faults(), FORKS.inside():
            if make and not file.exists():
                os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            self._open()

    @property
    def _sqlite(self) -> sqlite3.Connection:
        return self._opened or self._open()

    def _open(self) -> sqlite3.Connection:
        before = _identity(self._file)
        if before is None:
            raise _moved()
        self._opened = sqlite3.connect(self._file, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
        FORKS.opened(self)
        try:
            self._prepare()
            # This opens the log.
            self._run("SELECT COUNT(*) FROM sqlite_master", ())
            self._places = (before, _identity(self._log))
            self._check_place()
        except BaseException:
            self.let_go()
            raise
        return self._opened

    def let_go(self) -> None:
        """Close the file; the next use opens it again."""
        if self._opened is not None:
            with suppress(sqlite3.Error):
                self._opened.close()
            self._opened = None
            FORKS.closed(self)

    def _check_place(self) -> None:
        """What is open must be what is at the path: rows in a file that was removed or exchanged are found by nobody."""
        if (_identity(self._file), _identity(self._log)) != self._places:
            raise _moved()

    def _prepare(self) -> None:
        run = self._sqlite.execute
        (form,) = run("PRAGMA user_version").fetchone()
        if form > FORMAT:
            raise newer(form)
        self._format = form or FORMAT
        if run("PRAGMA journal_mode").fetchone() != ("wal",):
            self._use_log()
        run("PRAGMA synchronous = FULL")
        if not form:
            run("BEGIN IMMEDIATE")
            for statement in statements(SQLITE):
                run(statement)
            run(f"PRAGMA user_version = {FORMAT}")
            run("COMMIT")

    def _use_log(self) -> None:
        """Once in the life of a file. SQLite does not wait here when another process does the same, so this does."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                self._sqlite.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
                time.sleep(0.01)

    def _run(self, sql: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        return self._sqlite.execute(sql, values).fetchall()

    @contextmanager
    def writing(self) -> Iterator[Page]:
        with as_faults(), FORKS.inside():
            with self._transaction("BEGIN IMMEDIATE") as page:
                yield page
            self._check_place()

    @contextmanager
    def reading(self) -> Iterator[Page]:
        with as_faults(), FORKS.inside(), self._transaction("BEGIN") as page:
            yield page

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Page]:
        self._sqlite.execute(begin)
        try:
            self._check_place()
            page = Page(self._run)
            yield page
            if page.added and self._format < FORMAT:
                self._sqlite.execute(ACTS)
                # An older release must not read what it cannot.
                self._sqlite.execute(f"PRAGMA user_version = {FORMAT}")
                self._format = FORMAT
            self._sqlite.execute("COMMIT" if page.added else "ROLLBACK")
        except BaseException:
            with suppress(sqlite3.Error):
                # Of nothing, where SQLite has undone it already.
                self._sqlite.execute("ROLLBACK")
            raise

    def check(self) -> None:
        with as_faults(), FORKS.inside():
            if self._run("PRAGMA integrity_check(1)", ()) != [("ok",)]:
                raise broken("SQLite finds its file malformed")

    def close(self) -> None:
        if not FORKS.foreign:
            with FORKS.inside():
                self.let_go()


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file is at a path; None for none."""
    try:
        state = os.stat(path)
    except FileNotFoundError:
        return None
    return state.st_dev, state.st_ino


def _moved() -> Fault:
    return Fault(
        "the ledger was moved, removed or exchanged while it was open",
        code="ledger-moved",
        hint="nothing was released; bring it back to its place, and open it anew",
    )


@contextmanager
def as_faults() -> Iterator[None]:
    """What goes wrong with a file or in SQLite, as a Fault."""
    try:
        yield
    except OSError as error:
        raise unavailable(error.strerror or "it cannot be opened") from error
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) == sqlite3.SQLITE_ERROR:
            # No such table, or text that is none.
            raise broken(str(error)) from error
        raise unavailable(str(error)) from error
    except (sqlite3.Error, UnicodeError) as error:
        raise broken(str(error)) from error
