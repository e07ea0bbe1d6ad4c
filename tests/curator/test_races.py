"""Many processes and threads race for one budget: exactly as much is granted as there is."""

import os
import threading
from collections.abc import Callable

import pytest

from discreet.curator.amounts import UNIT
from discreet.curator.store import Store
from discreet.errors import Refused
from tests.curator.cases import Place, cap, creation, paid, place, request, set_parts, spent

PROCESSES, ASKS, BUDGET = 8, 64, 100


def in_processes(act: Callable[[int], int]) -> list[int]:
    """What an act returned (below 256) in each of the processes, all at once; they start together."""
    ready, go = os.pipe()
    children = []
    for n in range(PROCESSES):
        child = os.fork()
        if child == 0:
            status = 255
            try:
                os.close(go)
                os.read(ready, 1)
                status = act(n)
            finally:
                os._exit(status)
        children.append(child)
    os.close(ready)
    os.close(go)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


def ask(store: Store, name: str, times: int, analyst: str | None, grants: list[str], part: str | None = None) -> None:
    for i in range(times):
        try:
            store.reserve(request(f"{name}-{i}", 1, analyst, part=paid(part)))
        except Refused as refusal:
            if refusal.code not in ("budget", "analyst-budget", "part-budget"):
                raise
        else:
            grants.append(name)


def race(
    spot: Place, threads: int = 1, analysts: tuple[str | None, ...] = (None,), parts: tuple[str | None, ...] = (None,)
) -> list[int]:
    """The grants of each process; each opens the ledger for itself, and may be the one to make it."""

    def act(n: int) -> int:
        store, grants = spot.open(creation(BUDGET)), list[str]()
        who, part = analysts[n % len(analysts)], parts[n % len(parts)]
        crowd = [
            threading.Thread(target=ask, args=(store, f"{n}-{t}", ASKS // threads, who, grants, part))
            for t in range(threads)
        ]
        for each in crowd:
            each.start()
        for each in crowd:
            each.join()
        return len(grants)

    return in_processes(act)


def exactly_the_budget_is_granted(spot: Place, threads: int) -> None:
    assert sum(race(spot, threads)) == BUDGET
    store = spot.open()
    assert spent(store) == BUDGET * UNIT
    store.verify()


@pytest.mark.parametrize("threads", [1, 8])
def test_exactly_the_budget_is_granted(spot: Place, threads: int) -> None:
    exactly_the_budget_is_granted(spot, threads)


def test_no_analyst_passes_their_cap_and_all_together_not_that_of_the_data_set(spot: Place) -> None:
    store = spot.open(creation(BUDGET))
    store.add_analyst("ana", cap(30))
    store.add_analyst("bo", cap(90))
    grants = race(spot, 2, ("ana", "bo"))
    assert sum(grants[0::2]) == spent(store, "ana") // UNIT <= 30
    assert sum(grants[1::2]) == spent(store, "bo") // UNIT <= 90
    assert sum(grants) == spent(store) // UNIT == BUDGET


def test_each_part_is_granted_its_budget_and_all_together_the_larger(spot: Place) -> None:
    store = spot.open(creation(BUDGET))
    set_parts(store, "north", "south", each=30)
    grants = race(spot, 2, parts=("north", "south"))
    assert sum(grants[0::2]) == sum(grants[1::2]) == 30
    assert spent(store) == 30 * UNIT
    store.verify()


def threads_are_granted_the_budget() -> None:
    """The race inside of one process, where threads commit together."""
    with place() as spot:
        store, grants = spot.open(creation(10)), list[str]()
        crowd = [threading.Thread(target=ask, args=(store, f"{t}", 8, None, grants)) for t in range(4)]
        for each in crowd:
            each.start()
        for each in crowd:
            each.join()
        assert len(grants) == 10 and spent(store) == 10 * UNIT
        store.verify()


def test_threads_are_granted_exactly_the_budget() -> None:
    threads_are_granted_the_budget()
