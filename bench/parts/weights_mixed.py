"""Ten mixed attributes, 290 million cells, 48,842 rows, δ = 1e-9: the mean L1/N error of all 120 three-way marginals, over several runs.

`factored` beside MST on mbi (where it is installed), a product of independent attributes, and Gaussian noise on every marginal: the same
data, budget and workload. Each run is a process of its own: its CPU seconds, compilation included and imports not, and its peak memory.
"""

import resource
from collections.abc import Callable
from fractions import Fraction
from importlib.util import find_spec
from math import sqrt
from multiprocessing import get_context
from statistics import mean
from time import process_time

import numpy as np

from discreet.cells import Categorical
from discreet.mechanisms import RoundedGaussian
from discreet.privacy import events, loss
from discreet.weights import ArrayTable, Domain, factored

from .made_up import KINDS, SIZES, TRIPLES, Codes, Counts, error, marginal
from .spanning import spanning

DELTA = 1e-9
RUNS = 5
TRIALS = (
    ("census", (0.01, 0.03, 0.1, 0.3, 1, 3, 10)),
    ("mixture", (0.1, 1, 10)),
    ("tree", (0.1, 1, 10)),
    ("strangers", (0.01, 0.03, 0.1, 0.3, 1, 10)),
)
MST_AT = {"census": (0.1, 1, 10), "mixture": (1,), "tree": (1,)}
"""Where MST is run, which takes a while."""
Answer = Callable[[tuple[int, ...]], Counts]


def domain() -> Domain:
    return Domain(
        tuple(Categorical(f"a{i}", tuple(range(size)), other=False, missing=False) for i, size in enumerate(SIZES))
    )


def ours(codes: Codes, epsilon: float, seed: int) -> Answer:
    return factored(ArrayTable(domain(), codes), None, epsilon=epsilon, delta=DELTA).model.marginal


def mst(codes: Codes, epsilon: float, seed: int) -> Answer:
    """The same (ε, δ), by the largest ρ that certifies it."""
    low, high = Fraction(0), Fraction(epsilon) + 1
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if loss(events.ZeroConcentrated(middle)).certifies(epsilon, DELTA) else (low, middle)
    return spanning(codes, float(low), seed)


def independent(codes: Codes, epsilon: float, seed: int) -> Answer:
    """All of the budget on attributes alone, each projected onto the simplex."""
    sigma = float(RoundedGaussian.for_budget(epsilon, DELTA).scale) * sqrt(len(SIZES))
    rng = np.random.default_rng(seed)
    noisy = [marginal(codes, (axis,)) + rng.normal(0, sigma, size) for axis, size in enumerate(SIZES)]
    total = max(1.0, float(np.average([each.sum() for each in noisy], weights=[1 / size for size in SIZES])))
    shares = [_projected(each / total) for each in noisy]
    return lambda axes: total * np.einsum("a,b,c->abc", *(shares[axis] for axis in axes))


def _projected(values: Counts) -> Counts:
    """The nearest point of the simplex (Duchi et al. 2008)."""
    falling = np.sort(values)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, values.size + 1)
    return np.maximum(values - excess[np.flatnonzero(falling > excess)[-1]], 0)


def direct(codes: Codes, epsilon: float, seed: int) -> Answer:
    """Noise on every marginal, and what is below 0 taken for 0."""
    sigma = float(RoundedGaussian.for_budget(epsilon, DELTA).scale) * sqrt(len(TRIPLES))
    rng = np.random.default_rng(seed)
    return lambda axes: np.maximum(marginal(codes, axes) + rng.normal(0, sigma, [SIZES[axis] for axis in axes]), 0)


WAYS = {"factored": ours, "MST": mst, "independent": independent, "direct": direct}


def one(way: str, kind: str, epsilon: float, seed: int) -> tuple[float, float, float]:
    """The error of one run, its CPU seconds, and the peak memory of the process in MiB."""
    codes = KINDS[kind](seed)
    if way == "MST":
        import mbi  # noqa: F401  (what importing takes is no part of a run)
    begin = process_time()
    answer = WAYS[way](codes, epsilon, seed)
    spent = process_time() - begin
    return error(codes, answer), spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Print a row for each kind of data and each ε."""
    ways = [way for way in WAYS if way != "MST" or find_spec("mbi")]
    if "MST" not in ways:
        print("mbi is absent: MST is left out")
    print(f"mean of {RUNS} runs: error, CPU seconds and MiB of factored and of MST")
    print("| data | ε | " + " | ".join(ways) + " | to MST | to independent | CPU s | MiB |")
    print("|---|---|" + "---|" * (len(ways) + 4))
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        for kind, epsilons in TRIALS:
            for epsilon in epsilons:
                asked = [way for way in ways if way != "MST" or epsilon in MST_AT.get(kind, ())]
                found = {
                    way: pool.starmap(one, [(way, kind, epsilon, seed) for seed in range(RUNS)], 1) for way in asked
                }
                print(row(kind, epsilon, ways, found), flush=True)


def row(kind: str, epsilon: float, ways: list[str], found: dict[str, list[tuple[float, float, float]]]) -> str:
    """A line of the table."""
    errors = {way: mean(each[0] for each in runs) for way, runs in found.items()}
    ratios = [f"{errors['factored'] / errors[way]:.2f}" if way in errors else "" for way in ("MST", "independent")]
    spent = [
        " and ".join(f"{mean(run[i] for run in found[w]):.0f}" for w in ("factored", "MST") if w in found)
        for i in (1, 2)
    ]
    cells = [kind, f"{epsilon:g}", *(f"{errors[way]:.4f}" if way in errors else "" for way in ways), *ratios, *spent]
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
