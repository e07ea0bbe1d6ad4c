"""Seconds of a private step against a plain one: `python bench/learn.py speed`.

All kinds of steps are timed in turns, some hundred in a row; of each turn the median counts, and of all turns the least median.
"""

from collections.abc import Callable
from contextlib import ExitStack
from fractions import Fraction
from functools import partial
from statistics import median
from time import perf_counter

import torch

from discreet.noise.heads import heads

from .learn_steps import TIMED, Exactly, Step, Task, has_opacus, logistic, opacus, ours, perceptron, plain

TURNS = 5
Timer = Callable[[], list[float]]


def main() -> None:
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads; {TURNS} turns, medians of {TIMED} steps")
    task = logistic()
    exactly = Exactly(task)
    compared(task, {"discreet, exact integers": exactly.times}, TIMED)
    compared(perceptron(), {}, 20)


def timed(step: Step, count: int) -> list[float]:
    """Seconds of each of so many steps."""
    spent = []
    for _ in range(count):
        begin = perf_counter()
        step()
        spent.append(perf_counter() - begin)
    return spent


def compared(task: Task, more: dict[str, Timer], count: int) -> None:
    """Prints the ratio of each kind of step to the plain one."""
    with ExitStack() as stack:
        kinds: dict[str, Timer] = {"plain torch": partial(timed, plain(task, stack), count), **more}
        kinds[f"discreet.learn.torch, {task.noise} noise"] = partial(timed, ours(task, stack), count)
        if has_opacus():
            kinds["Opacus, hooks"] = partial(timed, opacus(task, stack), max(3, count // 20))
            kinds["Opacus, ghost"] = partial(timed, opacus(task, stack, ghost=True), max(3, count // 4))
        else:
            print("Opacus is not installed")
        rate = Fraction(task.batch, len(task.rows))
        kinds["the Poisson sampler alone"] = partial(timed, lambda: heads(rate, len(task.rows)), count)
        least = dict.fromkeys(kinds, float("inf"))
        for _ in range(TURNS):
            for name, timer in kinds.items():
                least[name] = min(least[name], median(timer()))
    base = least["plain torch"]
    print(f"{task.name}, batch {task.batch} of {len(task.rows):,}, {task.rows.device}")
    for name, seconds in least.items():
        print(f"  {name:<42}{seconds * 1e6:>10.0f} µs{seconds / base:>8.2f} x")


if __name__ == "__main__":
    main()
