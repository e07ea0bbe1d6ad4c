"""Time of a private step on a GPU against a plain one: `python bench/learn.py gpu`.

Kinds of steps are timed in turns. *Alone* is the median of steps each of which is waited for; *in a row* is the mean of steps that
are waited for together, as in training, where the next step is prepared while the GPU computes. Of all turns the least counts.
"""

from contextlib import ExitStack
from dataclasses import replace
from random import Random
from statistics import median
from time import perf_counter

import numpy as np
import torch

from discreet.learn.torch.batches import TensorRows, UnitRows
from discreet.learn.torch.checks import sums_for, trained_parameters

from .learn_steps import Step, Task, convolution, has_opacus, opacus, ours, perceptron, plain

TURNS = 5
TIMED = 200
BATCH = 4096
WARM = 20
"""Steps before the first turn: kernels are chosen and memory is taken when a size is seen first."""


def main() -> None:
    if not torch.cuda.is_available():
        print("no GPU here: nothing is timed")
        return
    print(f"torch {torch.__version__}, {torch.cuda.get_device_name()}; {TURNS} turns of {TIMED} steps")
    print(f"products of matrices in {torch.get_float32_matmul_precision()!r} precision, for all alike")
    compared([perceptron(2048, BATCH, "cuda", noise) for noise in ("float", "grid")])
    compared([convolution(BATCH, "cuda", noise) for noise in ("float", "grid")])


def compared(tasks: list[Task]) -> None:
    """Prints the times of each kind of step, and their ratios to the plain one. The tasks differ in their noise."""
    task = tasks[0]
    print(f"{task.name}, batch {task.batch:,} of {len(task.rows):,}")
    print(f"  sums that are replayed differ from others by {difference(task):.1e} of their norm at most")
    with ExitStack() as stack:
        kinds: dict[str, tuple[Step, int]] = {"plain torch": (plain(task, stack), TIMED)}
        for each in tasks:
            kinds[f"discreet, {each.noise} noise"] = ours(each, stack), TIMED
            kinds[f"discreet, {each.noise} noise, replay"] = ours(replace(each, replay=True), stack), TIMED
        if has_opacus():
            kinds["Opacus, ghost"] = opacus(task, stack, ghost=True), TIMED
            kinds["Opacus, hooks"] = opacus(task, stack), TIMED // 10
        else:
            print("Opacus is not installed")
        for step, count in kinds.values():
            for _ in range(min(WARM, count)):
                step()
        turns = [{name: (alone(*kind), in_a_row(*kind)) for name, kind in kinds.items()} for _ in range(TURNS)]
    least = {name: [min(turn[name][which] for turn in turns) for which in (0, 1)] for name in kinds}
    base = least["plain torch"]
    print(f"  {'':<34}{'alone':>10}{'':>11}{'in a row':>12}")
    for name, seconds in least.items():
        shown = (f"{each * 1e6:>10.0f} µs{each / own:>6.2f} x" for each, own in zip(seconds, base, strict=True))
        print(f"  {name:<34}" + " ".join(shown))


def difference(task: Task, batches: int = 50) -> float:
    """By how much sums that are replayed differ from others, over batches of several sizes and weights that move."""
    model = task.model()
    parameters = trained_parameters(model)
    rows = TensorRows((task.rows, task.targets), task.rows.device)
    usual, replayed = (sums_for(model, task.loss, rows, parameters, replay=replay) for replay in (False, True))
    units, draw, worst = UnitRows(rows, task.plan, None, None, even=True), Random(1), 0.0
    for _ in range(batches):
        chosen = sorted(draw.sample(range(len(rows)), draw.randint(task.batch * 9 // 10, task.batch)))
        (piece,) = units.pieces(np.array(chosen), task.batch)
        one, other = (torch.cat([part.flatten() for part in way.clipped(piece, 0.1)]) for way in (replayed, usual))
        worst = max(worst, float((one - other).norm() / other.norm()))
        with torch.no_grad():
            for each in parameters:
                each.add_(torch.randn_like(each), alpha=1e-3)
    assert worst < 1e-5
    return worst


def alone(step: Step, count: int) -> float:
    """Seconds of a step that begins when the one before has ended: the median."""
    spent = []
    for _ in range(count):
        torch.cuda.synchronize()
        begin = perf_counter()
        step()
        torch.cuda.synchronize()
        spent.append(perf_counter() - begin)
    return median(spent)


def in_a_row(step: Step, count: int) -> float:
    """Seconds of a step among others: the mean."""
    torch.cuda.synchronize()
    begin = perf_counter()
    for _ in range(count):
        step()
    torch.cuda.synchronize()
    return (perf_counter() - begin) / count


if __name__ == "__main__":
    main()
