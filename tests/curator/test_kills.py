"""kill -9 at any moment: nothing acknowledged is lost, nothing is charged twice, and a retry gets the same bytes."""

import os
import random
import signal
import time
from collections import Counter
from dataclasses import dataclass, field

import pytest

from discreet.curator.acts import Reserved
from discreet.curator.amounts import UNIT
from discreet.curator.request import Stored, filed, key_in
from discreet.curator.store import Store
from tests.curator.cases import Place, creation, paid, place, request, set_parts
from tests.scale import repeats


@dataclass
class Acknowledged:
    """What workers were told before they died."""

    reserved: set[str] = field(default_factory=set)
    settled: dict[str, bytes] = field(default_factory=dict)
    last: str = ""

    def hear(self, lines: bytes) -> list[str]:
        """Take down what a worker said; the keys that it said were settled."""
        heard = []
        for line in lines.decode().splitlines():
            what, key, answer = line.split(" ")
            self.last = key
            if what == "reserved":
                self.reserved.add(key)
            elif what == "settled":
                assert self.settled.setdefault(key, answer.encode()) == answer.encode()
                heard.append(key)
        return heard


def part_of(key: str) -> str | None:
    """The part that the question of a key is about; of some keys it is about all."""
    return ("north", "south", None)[sum(key.encode()) % 3]


def work(store: Store, worker: int, retry: str, to: int) -> None:
    """Ask and settle for ever, first the question that the worker before died over, and say each step once it is done."""
    store._write(lambda _: None)  # connected, so that it is killed at its work
    for i in range(10**6):
        key = retry if i == 0 and retry else f"{worker}-{i}"
        os.write(to, f"begun {key} -\n".encode())
        outcome = store.reserve(request(key, part=paid(part_of(key))))
        if isinstance(outcome, Stored):
            answer = outcome.answer
        else:
            os.write(to, f"reserved {key} -\n".encode())
            answer = store.settle(outcome, f"{os.getpid()}-{i}".encode())
        os.write(to, f"settled {key} {answer.decode()}\n".encode())


def killed(store: Store, worker: int, retry: str, chance: random.Random) -> bytes:
    """What a forked worker said until it was killed, a little after its first word."""
    ear, mouth = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            work(store, worker, retry, mouth)
        finally:
            os._exit(7)
    os.close(mouth)
    heard = os.read(ear, 1 << 16)
    time.sleep(chance.random() * 0.004)
    os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    while more := os.read(ear, 1 << 16):
        heard += more
    os.close(ear)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL, "a worker ended by itself"
    return heard[: heard.rfind(b"\n") + 1]


def survives(spot: Place, kills: int) -> None:
    store = spot.open(creation(10**5))
    set_parts(store, "north", "south", each=10**5)
    told, chance = Acknowledged(), random.Random()
    for worker in range(kills):
        for key in told.hear(killed(store, worker, told.last, chance)):
            assert store.stored(key) == told.settled[key]
    store.close()
    store = spot.open()  # which computes everything again
    keys = [row.act.key for row in store.history() if isinstance(row.act, Reserved)]
    said = {filed(None, key) for key in told.reserved | told.settled.keys()}
    assert len(keys) == len(set(keys)) and said <= set(keys)
    assert all(store.stored(key) == answer for key, answer in told.settled.items())
    parts = Counter(part_of(key_in(key)) for key in keys)
    assert store.standing().spent.epsilon == (parts[None] + max(parts["north"], parts["south"])) * UNIT // 10


def test_nothing_acknowledged_is_lost_and_nothing_is_charged_twice() -> None:
    with place() as spot:
        survives(spot, repeats(500))


@pytest.mark.postgres
def test_the_same_on_postgres(server: str) -> None:
    with place() as spot:
        spot.server = server
        survives(spot, repeats(25))
