"""How calls are timed and weighed: several in turns, one by one beside their values, and their memory."""

import math
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter_ns, process_time, thread_time_ns
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Contender:
    """Something to time: a call that makes n samples, in every so many turns of the loop."""

    call: Callable[[], object]
    n: int = 1
    every: int = 1


def race(contenders: dict[str, Contender], repeats: int) -> dict[str, float]:
    """The least nanoseconds a sample of each, measured in turns; the first call of each is not counted."""
    best = dict.fromkeys(contenders, math.inf)
    for each in contenders.values():
        each.call()
    for turn in range(repeats):
        for name, each in contenders.items():
            if turn % each.every == 0:
                start = thread_time_ns()
                each.call()
                best[name] = min(best[name], (thread_time_ns() - start) / each.n)
    return best


@dataclass(frozen=True)
class Result:
    """The median CPU seconds of a call, over all threads of the process, and what it returned last."""

    seconds: float
    value: Any


def medians(contenders: dict[str, Contender], repeats: int, before: Callable[[], object]) -> dict[str, Result]:
    """The result of each, measured in turns, `before` being called ahead of each call; the first of several is not counted."""
    spent: dict[str, list[float]] = {name: [] for name in contenders}
    values = {}
    for turn in range(repeats):
        for name, each in contenders.items():
            if turn % each.every == 0:
                before()
                start = process_time()
                values[name] = each.call()
                spent[name].append(process_time() - start)
    return {name: Result(median(times[1:] or times), values[name]) for name, times in spent.items()}


def repeated(call: Callable[[], object], times: int) -> Callable[[], None]:
    def calls() -> None:
        for _ in range(times):
            call()

    return calls


def memory(draw: Callable[[], Any]) -> float:
    """Megabytes at the peak of a call beyond its result, by tracemalloc (NumPy reports its arrays there)."""
    draw()
    tracemalloc.start()
    held = draw().nbytes
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return (peak - held) / 1e6


def timed(draw: Callable[[], Any], times: int, size: Callable[[Any], float] = abs) -> list[tuple[int, float]]:
    """The wall time of each call, and the size of its value."""
    pairs = []
    for _ in range(times):
        start = perf_counter_ns()
        value = draw()
        pairs.append((perf_counter_ns() - start, size(value)))
    return pairs


def auc(pairs: list[tuple[int, float]]) -> str:
    """The chance that a call with a value among the top 5 % by size takes longer than one of the bottom 5 %."""
    order = np.random.default_rng().permutation(len(pairs))  # so that equal sizes stand in no order
    shuffled = [pairs[at] for at in order]
    ordered = [spent for spent, _ in sorted(shuffled, key=lambda pair: pair[1])]
    few = len(ordered) // 20
    low, high = np.sort(ordered[:few]), np.array(ordered[-few:])
    area = (low.searchsorted(high, "left") + low.searchsorted(high, "right")).mean() / (2 * few)
    return f"{area:.3f} ± {math.sqrt((2 * few + 1) / (12 * few * few)):.3f}"
