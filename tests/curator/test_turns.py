"""Turns: each job is done exactly once, by one thread at a time, and a turn that ends badly is handed on all the same."""

import threading
import time
from typing import Any

import pytest

from discreet.curator.turns import Job, Turns
from tests.scale import repeats


class Place:
    """Where one thread at a time may work; it notices two."""

    def __init__(self) -> None:
        self.inside = 0
        self.most = 0
        self.done: list[Any] = []
        self.shared: list[int] = []

    def work(self, jobs: list[Job[Any]]) -> None:
        self.inside += 1
        self.most = max(self.most, self.inside)
        time.sleep(0.0001)
        for job in jobs:
            job.value = job.step(self)
        self.shared.append(len(jobs))
        self.inside -= 1


def run_all(turns: Turns, jobs: list[Job[Any]], place: Place) -> list[Any]:
    found: list[Any] = [None] * len(jobs)

    def client(i: int) -> None:
        found[i] = turns.run(jobs[i], place.work)

    threads = [threading.Thread(target=client, args=(i,)) for i in range(len(jobs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads), "somebody waits for ever"
    return found


def step(i: int) -> Any:
    def work(place: Place) -> int:
        place.done.append(i)
        return i

    return work


def test_each_job_is_done_once_by_one_thread_at_a_time() -> None:
    turns, place, n = Turns(), Place(), 40
    for _ in range(repeats(10)):
        place.done.clear()
        assert run_all(turns, [Job(step(i)) for i in range(n)], place) == list(range(n))
        assert sorted(place.done) == list(range(n))
    assert place.most == 1
    assert max(place.shared) > 1, "nobody ever wrote for another"


def test_who_wants_a_turn_alone_has_it_alone() -> None:
    turns, place = Turns(), Place()
    alone: list[int] = []

    def watched(jobs: list[Job[Any]]) -> None:
        alone.extend(len(jobs) for job in jobs if job.alone)
        place.work(jobs)

    threads = [
        threading.Thread(target=lambda i=i: turns.run(Job(step(i), alone=i % 5 == 0), watched))
        for i in range(repeats(40))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(place.done) == list(range(repeats(40)))
    assert set(alone) == {1}


def test_a_turn_that_ends_badly_is_handed_on() -> None:
    turns, place = Turns(), Place()

    def breaks(jobs: list[Job[Any]]) -> None:
        time.sleep(0.01)
        raise KeyboardInterrupt

    def broken() -> None:
        with pytest.raises(KeyboardInterrupt):
            turns.run(Job(step(0), alone=True), breaks)

    first = threading.Thread(target=broken)
    first.start()
    assert run_all(turns, [Job(step(i)) for i in range(8)], place) == list(range(8))
    first.join(60)
    assert turns.run(Job(step(9)), place.work) == 9


def test_who_leaves_while_waiting_does_not_keep_the_turn() -> None:
    """As an interrupt does: the job is taken out, and a turn that was handed to it goes on."""
    turns, place = Turns(), Place()
    holder: Job[Any] = Job(step(1))
    assert turns._wait(holder)
    gone: Job[Any] = Job(step(2))
    turns._waiting.append(gone)
    turns._end(holder, turns._waiting[:1])
    assert gone.leads
    turns._leave(gone)
    assert turns.run(Job(step(3)), place.work) == 3
    assert place.done == [3]
