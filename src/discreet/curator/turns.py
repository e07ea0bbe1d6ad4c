"""Turns of threads that want to write to one place: who is first writes for all who wait, and hands the turn on.

A thread waits on a lock of its own, so that ending a turn wakes those whose work is done and the next to write, and nobody else.
"""

import threading
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")

GATHER = 0.001
"""Seconds that a thread lets others come in before it writes for all, where the last turn served several."""


class Job(Generic[T]):
    """A piece of work of one thread. `alone`: it shares its turn with no other."""

    def __init__(self, step: Callable[[Any], T], *, alone: bool = False) -> None:
        self.step = step
        self.alone = alone
        self.error: BaseException | None = None
        self.value: T
        self.done = False
        self.leads = False
        self.turn = threading.Lock()
        self.turn.acquire()

    def result(self) -> T:
        if self.error is not None:
            raise self.error
        return self.value


class Turns:
    """Any number of threads, one at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._busy = False
        self._together = 1
        self._waiting: list[Job[Any]] = []

    def run(self, job: Job[T], work: Callable[[list[Job[Any]]], None]) -> T:
        """Have a job done: by another thread's turn, or by a turn of its own, in which `work` does all that wait."""
        if self._wait(job):
            taken: list[Job[Any]] = []
            try:
                if self._together > 1 and not job.alone:
                    # Those who were answered together ask again together: worth a sync to wait for them.
                    time.sleep(GATHER)
                taken = self._take(job)
                work(taken)
            finally:
                self._end(job, taken)
        return job.result()

    def _wait(self, job: Job[Any]) -> bool:
        """Until the job is done, which is False, or has the turn."""
        with self._lock:
            self._waiting.append(job)
            if not self._busy:
                self._busy = True
                return True
        try:
            job.turn.acquire()
        except BaseException:
            self._leave(job)
            raise
        return not job.done

    def _leave(self, job: Job[Any]) -> None:
        """Interrupted while waiting: whoever has the turn must not have it for ever."""
        with self._lock:
            if job in self._waiting:
                self._waiting.remove(job)
            if job.leads:
                self._hand_on()

    def _take(self, job: Job[Any]) -> list[Job[Any]]:
        with self._lock:
            taken = [job] if job.alone else [each for each in self._waiting if not each.alone]
            self._waiting = [each for each in self._waiting if each not in taken]
        self._together = len(taken)
        return taken

    def _end(self, job: Job[Any], taken: list[Job[Any]]) -> None:
        with self._lock:
            # It may have been interrupted before it was taken.
            if job in self._waiting:
                self._waiting.remove(job)
            self._hand_on()
        for each in taken:
            if each is not job:
                each.done = True
                each.turn.release()

    def _hand_on(self) -> None:
        """To the one who waits longest; the lock is held."""
        self._busy = bool(self._waiting)
        if self._waiting:
            self._waiting[0].leads = True
            self._waiting[0].turn.release()
