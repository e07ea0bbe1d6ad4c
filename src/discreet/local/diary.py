"""The diary: what a person's own machine remembers of what was told, over all campaigns, restarts and processes."""

import fcntl
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn, Protocol, TypeAlias

from discreet.errors import Fault, Invalid, Refused
from discreet.exact import Number, positive, shown
from discreet.local.canonical import ratio_text
from discreet.local.diary_record import DiaryRecord
from discreet.whole_file import write_whole

PATIENCE = 30  # seconds for which a diary that is in use elsewhere is waited for

Draw: TypeAlias = Callable[[bytes | None, list[bytes]], tuple[bytes, bytes | None]]
"""From the permanent answer for a value, and those for other ones, to a report, and to the permanent answer if that is new."""


class Diary:
    """The total ε that a person allows, what was spent of it, each report that was sent, and permanent answers that go on.

    All reports that are handed out under one diary tell at most its ε together (basic composition; of series of rounds see `Memoised`).
    A charge is durable before anything is drawn, and a report is kept before it is handed out; so whoever is killed at any moment, and
    asks again, gets the report that was kept, or a new one in the place of one that nobody has seen, at the same charge. Threads,
    processes and forked children that share a file spend one total. A diary in memory is for the process that made it alone.

    >>> diary = Diary(epsilon=5)
    >>> diary.spent, diary.remaining
    (Fraction(0, 1), Fraction(5, 1))
    """

    __slots__ = ("_place",)

    def __init__(self, epsilon: Number) -> None:
        self._place: _Place = _Memory(DiaryRecord(_total(epsilon)))

    @classmethod
    def open(cls, path: str | Path, epsilon: Number | None = None) -> "Diary":
        """The diary in this file, which is for its owner alone; with a total ε it is begun where there is none yet.

        Refused where it allows another total; Invalid where the file is no diary, is damaged, or is of another version.
        """
        total = None if epsilon is None else _total(epsilon)
        diary = cls.__new__(cls)
        place = diary._place = _File(_resolved(path))
        if total is None and not place.path.exists():
            raise Invalid(f"there is no diary {shown(str(path))}", code="no-file", hint="say epsilon=… to begin one")
        with place.held():
            if total is not None and not place.path.exists():
                place.write(DiaryRecord(total))
            allowed = place.read().epsilon
        if total is not None and total != allowed:
            raise Refused(
                f"this diary allows ε = {shown(allowed)} in all, not {shown(total)}",
                code="budget",
                hint="open it without epsilon",
            )
        return diary

    @property
    def epsilon(self) -> Fraction:
        """The total that is allowed."""
        return self._now().epsilon

    @property
    def spent(self) -> Fraction:
        """What all campaigns have cost together."""
        return self._now().spent

    @property
    def remaining(self) -> Fraction:
        """What is left of the total."""
        now = self._now()
        return now.epsilon - now.spent

    @property
    def campaigns(self) -> frozenset[str]:
        """The identities of all campaigns that were charged."""
        return frozenset(self._now().answers)

    def _now(self) -> DiaryRecord:
        with self._place.held():
            return self._place.read()

    def report(self, campaign: str, price: Fraction, draw: Draw, holds: tuple[str, int] | None = None) -> bytes:
        """The report of a campaign: the one that was kept, or else a new one at this price; Refused where the total does not allow it.

        `holds` are a series and the person's value in it: then a value that has a permanent answer costs nothing more. `draw` takes
        that answer, or None, and those for other values; it gives a report, and the permanent answer where it is new.
        """
        with self._place.held():
            record = self._place.read()
            kept = record.report(campaign)
            if kept is not None:
                return kept
            lasting = {} if holds is None else record.lasting.get(holds[0], {})
            known = None if holds is None else lasting.get(holds[1])
            record = record.charged(campaign, price if known is None else Fraction(0))
            self._place.write(record)  # before anything is drawn
            report, new = draw(known, list(lasting.values()))
            if holds is not None and new is not None:
                record = record.lasts(*holds, new)
            self._place.write(record.reported(campaign, report))  # before it is handed out
            return report

    def _refuse(self, *_: Any) -> NoReturn:
        raise TypeError("a diary cannot be copied or pickled: two copies would spend one total twice; open its file")

    __copy__ = __deepcopy__ = __reduce__ = __reduce_ex__ = __getstate__ = _refuse


class _Place(Protocol):
    """Where a record is; it is read and written while it is held, by one thread of one process at a time."""

    def held(self) -> AbstractContextManager[None]: ...
    def read(self) -> DiaryRecord: ...
    def write(self, record: DiaryRecord) -> None: ...


_AT_WORK = (
    threading.RLock()
)  # held by whoever uses a diary: no fork happens meanwhile, since a child would share the lock of a file
_forks = 0  # between this process and the one that imported the module


def _in_child() -> None:
    global _forks
    _forks += 1
    _AT_WORK.release()


os.register_at_fork(before=_AT_WORK.acquire, after_in_parent=_AT_WORK.release, after_in_child=_in_child)


def _process() -> tuple[int, int]:
    return os.getpid(), _forks  # the first tells forks that ran no hooks, the second a number that was used again


class _Memory:
    """A record in the memory of one process: what a forked child has is a copy, which may not be spent too."""

    __slots__ = ("_holder", "_owner", "_record")

    def __init__(self, record: DiaryRecord) -> None:
        self._record, self._owner = record, _process()
        self._holder: int | None = None

    @contextmanager
    def held(self) -> Iterator[None]:
        with _AT_WORK:
            if self._owner != _process():
                raise Refused(
                    "a diary in memory is for the process that made it",
                    code="forked",
                    hint="use Diary.open(path, epsilon=…)",
                )
            if self._holder == threading.get_ident():  # which was interrupted: what it charged would be written over
                raise Fault("this diary is in use already", code="diary", hint="nothing was told; try again later")
            self._holder = threading.get_ident()
            try:
                yield
            finally:
                self._holder = None

    def read(self) -> DiaryRecord:
        return self._record

    def write(self, record: DiaryRecord) -> None:
        self._record = record


class _File:
    """A record in a file, with a lock beside it; both are for their owner alone."""

    __slots__ = ("path",)

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def held(self) -> Iterator[None]:
        with _AT_WORK:
            try:
                file = os.open(f"{self.path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            except OSError as error:
                raise self._unusable(error) from None
            try:
                self._lock(file)
                yield
            finally:
                os.close(file)

    def _lock(self, file: int) -> None:
        until, pause = time.monotonic() + PATIENCE, 0.0005
        while True:
            try:
                return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                if not isinstance(error, BlockingIOError) or time.monotonic() > until:
                    raise self._unusable(error) from None
            time.sleep(pause)
            pause = min(2 * pause, 0.01)

    def read(self) -> DiaryRecord:
        try:
            text = self.path.read_text("ascii")
        except UnicodeDecodeError:
            raise self._none() from None
        except OSError as error:
            raise self._unusable(error) from None
        try:
            return DiaryRecord.from_json(text)
        except Invalid as error:
            if error.code != "malformed":
                raise
            raise self._none() from None

    def _none(self) -> Invalid:
        return Invalid(
            f"{shown(str(self.path))} is not a diary, or is damaged",
            code="malformed",
            hint="name the file that it was kept in, unchanged",
        )

    def write(self, record: DiaryRecord) -> None:
        write_whole(self.path, record.to_json().encode("ascii"), secret=True)

    def _unusable(self, error: OSError) -> Fault:
        return Fault(
            f"the diary {shown(str(self.path))} cannot be used ({error.strerror})",
            code="diary",
            hint="nothing was told; give it a place that may be written to, and try again",
        )


def _resolved(path: object) -> Path:
    """Where a path leads: a link would be replaced by a file, and what it leads to stay as it is. Invalid for what no file can have."""
    try:
        return Path(path).resolve()  # type: ignore[arg-type]
    except (TypeError, ValueError, RuntimeError, OSError):
        raise Invalid(f"a diary must be the path of a file, got {shown(path)}") from None


def _total(epsilon: Number) -> Fraction:
    """A total that can be written down; else Invalid."""
    total = positive(epsilon, "epsilon")
    ratio_text(total, "epsilon")
    return total
