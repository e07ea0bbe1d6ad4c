"""MWEM on binary attributes, beside what else one would do with the same budget: errors of all 3-way marginals, CPU seconds, memory.

`python -m bench.parts.weights_binary [runs]` prints the tables of docs/weights.md. Errors are L1/N, averaged over all marginals of three
attributes and over runs, each with a table and noise of its own.
"""

import importlib.util
import resource
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.cells import Categorical
from discreet.mechanisms import RoundedGaussian
from discreet.weights.arrays import ArrayTable
from discreet.weights.domain import Domain
from discreet.weights.histogram_learning import mwem
from discreet.weights.workload import Workload

from .table import Table

ATTRIBUTES, ROWS, DELTA = 16, 50_000, 1e-6
EPSILONS = (0.1, 1, 10)
RUNS = 5
Rows = NDArray[np.int64]
Random = np.random.Generator
OFF: dict[str, Any] = {"start": False, "replay": False, "adaptive": False, "whole": False}


def tree(random: Random, rows: int, attributes: int) -> Rows:
    """A random tree-shaped Bayes net: each attribute has a random earlier one for parent, and its chances are uniform in [0, 1]."""
    out = np.zeros((rows, attributes), np.int64)
    out[:, 0] = random.random(rows) < random.random()
    for i in range(1, attributes):
        chances, parent = random.random(2), out[:, random.integers(i)]
        out[:, i] = random.random(rows) < chances[parent]
    return out[:, random.permutation(attributes)]


def mixture(random: Random, rows: int, attributes: int) -> Rows:
    """Eight kinds of units, in each of which attributes are independent: triples say much that pairs do not."""
    chances = random.beta(0.5, 0.5, size=(8, attributes))
    return (random.random((rows, attributes)) < chances[random.integers(8, size=rows)]).astype(np.int64)


def parities(random: Random, rows: int, attributes: int) -> Rows:
    """Coins, of which every third is the parity of the two before, nine times in ten: pairs say nothing."""
    out = random.integers(0, 2, size=(rows, attributes))
    for i in range(2, attributes, 3):
        out[:, i] = out[:, i - 1] ^ out[:, i - 2] ^ (random.random(rows) < 0.1)
    return out


KINDS: dict[str, Callable[[Random, int, int], Rows]] = {"tree": tree, "mixture": mixture, "parities": parities}


@dataclass(frozen=True)
class Trial:
    """Rows, and the exact answers to the workload."""

    rows: Rows
    workload: Workload
    cells: Rows

    @classmethod
    def of(cls, kind: str, seed: int, attributes: int = ATTRIBUTES, rows: int = ROWS) -> "Trial":
        drawn = KINDS[kind](np.random.default_rng(seed), rows, attributes)
        domain = binary(attributes)
        cells = np.bincount(drawn @ (1 << np.arange(attributes)[::-1]), minlength=domain.size)
        return cls(drawn, Workload.margins(domain, 3), cells.reshape(domain.shape))

    def error(self, answers: NDArray[Any]) -> float:
        """L1/N, averaged over marginals."""
        gap = np.abs(self.workload.steps(self.cells) - answers).sum()
        return float(gap / len(self.workload.groups) / len(self.rows))

    def learned(self, epsilon: float, **ways: Any) -> float:
        """The error of what was learned, in one of the ways of MWEM."""
        table = ArrayTable(self.workload.domain, self.rows)
        return self.error(self.workload.answers(mwem(table, epsilon=epsilon, workload=self.workload, **ways).model))

    def direct(self, epsilon: float) -> float:
        """The error of answering each marginal by itself, with Gaussian noise for all of them together."""
        count = len(self.workload.groups)
        noise = RoundedGaussian.for_budget(epsilon, DELTA, sensitivity=sqrt(count))
        return self.error(noise(self.workload.steps(self.cells).astype(np.int64)))


def binary(attributes: int) -> Domain:
    return Domain(tuple(Categorical(f"a{i}", (0, 1), other=False, missing=False) for i in range(attributes)))


WAYS: dict[str, dict[str, Any]] = {
    "independence (one-way margins only)": {"delta": DELTA, "workload": 1},
    "textbook, 10 rounds": {"delta": DELTA, "rounds": 10, **OFF},
    "textbook, 100 rounds": {"delta": DELTA, "rounds": 100, **OFF},
    "+ whole marginals": {"delta": DELTA, "rounds": 16, **OFF, "whole": True},
    "+ replay": {"delta": DELTA, "rounds": 16, **OFF, "whole": True, "replay": True},
    "+ adaptive": {"delta": DELTA, "rounds": 16, "start": False},
    "+ start": {"delta": DELTA, "rounds": 16},
    "residuals only (the default)": {"delta": DELTA},
    "residuals only, pure ε": {},
}


def by_way(kind: str, trials: list[Trial]) -> Table:
    """The error of each way, at each ε."""
    rows = [["direct Gaussian", *(f"{mean(each.direct(e) for each in trials):.4f}" for e in EPSILONS)]]
    for name, ways in WAYS.items():
        errors = []
        for epsilon in EPSILONS:
            if ways.get("workload"):
                errors.append(mean(independent(each, epsilon) for each in trials))
            else:
                errors.append(mean(each.learned(epsilon, **ways) for each in trials))
        rows.append([name, *(f"{error:.4f}" for error in errors)])
    text = f"{ATTRIBUTES} binary attributes, {ROWS:,} units, δ = {DELTA:g}; L1/N of all 3-way marginals, mean of {len(trials)} runs."
    return Table(f"Errors: {kind}", text, ["", *(f"ε = {epsilon:g}" for epsilon in EPSILONS)], rows)


def independent(trial: Trial, epsilon: float) -> float:
    """All of the budget on one-way margins, and their product."""
    table = ArrayTable(trial.workload.domain, trial.rows)
    return trial.error(trial.workload.answers(mwem(table, epsilon=epsilon, delta=DELTA, workload=1).model))


def mean(values: Iterator[float]) -> float:
    return float(np.mean(list(values)))


def speed() -> Table:
    """CPU seconds and the most memory, by the number of cells; each in the same process, the largest last."""
    rows = []
    for attributes in (12, 16, 20, 22):
        trial = Trial.of("tree", 0, attributes)
        begin = time.process_time()
        error = trial.learned(1, delta=DELTA)
        cpu = time.process_time() - begin
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        rows.append([f"2^{attributes}", f"{len(trial.workload.groups):,}", f"{cpu:.1f}", f"{peak:.2f}", f"{error:.4f}"])
    head = ["cells", "3-way marginals", "CPU s", "peak GiB", "error at ε = 1"]
    return Table("Time and memory", "The default, on trees; the peak is of the process so far.", head, rows)


def main(runs: int = RUNS) -> None:
    """Print all tables."""
    for kind in KINDS:
        print(by_way(kind, [Trial.of(kind, seed) for seed in range(runs)]).plain(), flush=True)
    if importlib.util.find_spec("snsynth") is None:
        print("\nSmartNoise's MWEM is not installed, and left out.")
    else:
        print(smartnoise(runs).plain())
    print(speed().plain())


def smartnoise(runs: int) -> Table:
    """SmartNoise's MWEM on ten of the attributes, as it comes: more cells took all memory there was."""
    import pandas as pd
    from snsynth import Synthesizer

    rows = []
    for epsilon in EPSILONS:
        errors = []
        for seed in range(runs):
            trial = Trial.of("tree", seed, 10)
            frame = pd.DataFrame(trial.rows, columns=trial.workload.domain.names)
            synth = Synthesizer.create("mwem", epsilon=epsilon)
            made = synth.fit_sample(frame, preprocessor_eps=0.0).to_numpy()
            cells = np.bincount(made.astype(int) @ (1 << np.arange(10)[::-1]), minlength=1 << 10)
            errors.append(trial.error(trial.workload.steps(cells.reshape((2,) * 10))))
        rows.append([f"ε = {epsilon:g}", f"{np.mean(errors):.4f}"])
    return Table("SmartNoise's MWEM", "Ten binary attributes.", ["", "L1/N"], rows)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else RUNS)
