"""Mechanisms of other libraries under `discreet.audit`: what outputs alone show of them. This file, or `make bench` after `make peers`.

Options: --samples N (outputs on each side; 20,000 if left out). A library that is not installed is said to be absent; pure-ldp also needs
`pip install pure-ldp statsmodels`. Each row is a claim, what is certified at a confidence of 1 − 1e-6, and the event that shows it.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from discreet.audit import lower_bound

CONFIDENCE = 1 - 1e-6


@dataclass(frozen=True, slots=True)
class Case:
    """A mechanism with its claim, on two neighbours; `share` of the outputs are enough, where it is slow."""

    name: str
    mechanism: Callable[[Any], Any]
    x: Any
    y: Any
    epsilon: float = 1.0
    delta: float = 0.0
    share: float = 1.0


def diffprivlib() -> Iterator[Case]:
    from diffprivlib import mechanisms, tools

    yield Case("Laplace", mechanisms.Laplace(epsilon=1, sensitivity=1).randomise, 0.0, 1.0)
    gaussian = mechanisms.Gaussian(epsilon=0.999, delta=1e-5, sensitivity=1)
    yield Case("Gaussian", gaussian.randomise, 0.0, 1.0, delta=1e-5)
    analytic = mechanisms.GaussianAnalytic(epsilon=1, delta=1e-5, sensitivity=1)
    yield Case("GaussianAnalytic", analytic.randomise, 0.0, 1.0, delta=1e-5)
    yield Case("Geometric", mechanisms.Geometric(epsilon=1, sensitivity=1).randomise, 0, 1)
    snapping = mechanisms.Snapping(epsilon=1, sensitivity=1, lower=-1000, upper=1000)
    yield Case("Snapping", snapping.randomise, 0.0, 1.0)
    whole = (0, 2**30)
    yield Case(
        "sum(dtype=int32)",
        lambda rows: tools.sum(np.array(rows), epsilon=1, bounds=whole, dtype=np.int32),
        [2**30, 0],
        [2**30, 2**30],
        share=0.2,
    )
    yield Case(
        "mean, a value is nan",
        lambda rows: tools.mean(rows, epsilon=1, bounds=(0, 1)),
        [0.5, 0.5],
        [0.5, float("nan")],
        share=0.05,
    )
    last = _last_answered(lambda rows: tools.quantile(np.zeros(rows), 0.5, epsilon=1, bounds=(0, 1)))
    yield Case(
        f"quantile of {last:,} and {last + 1:,} rows",
        lambda rows: tools.quantile(np.zeros(rows), 0.5, epsilon=1, bounds=(0, 1)),
        last,
        last + 1,
        share=0.02,
    )


def _last_answered(quantile: Callable[[int], Any]) -> int:
    """The most rows that are answered, by bisection: beyond them weights overflow, and it raises."""
    low, high = 1, 10_000
    while high - low > 1:
        middle = (low + high) // 2
        try:
            quantile(middle)
            low = middle
        except (RuntimeError, ValueError, OverflowError):
            high = middle
    return low


def opendp() -> Iterator[Case]:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    reals = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    yield Case("make_laplace", dp.m.make_laplace(*reals, scale=1.0), 0.0, 1.0)
    yield Case("make_gaussian", dp.m.make_gaussian(*reals, scale=4.0), 0.0, 1.0, delta=1e-5)
    counts = dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int))
    metric = dp.l01inf_distance(dp.absolute_distance(T=int))
    keys = dp.m.make_laplace_threshold(counts, metric, scale=1.0, threshold=5)
    epsilon, delta = keys.map((1, 1, 1))
    yield Case(
        "make_laplace_threshold",
        lambda rows: sorted(keys(rows).items()),
        {"a": 30},
        {"a": 30, "b": 1},
        epsilon,
        delta,
    )


def pure_ldp() -> Iterator[Case]:
    from pure_ldp.frequency_oracles import DEClient, HEClient, UEClient

    yield Case("DEClient", DEClient(epsilon=1, d=4).privatise, 1, 2)
    unary = UEClient(epsilon=1, d=4, use_oue=True)
    yield Case("UEClient", lambda item: unary.privatise(item).tolist(), 1, 2)
    histogram = HEClient(epsilon=1, d=4)
    yield Case("HEClient, its first number", lambda item: float(histogram.privatise(item)[0]), 1, 2)


LIBRARIES = {"diffprivlib": diffprivlib, "opendp": opendp, "pure-ldp": pure_ldp}


def row(case: Case, samples: int) -> str:
    bound = lower_bound(
        case.mechanism,
        case.x,
        case.y,
        delta=case.delta,
        samples=max(200, int(samples * case.share)),
        confidence=CONFIDENCE,
    )
    verdict = "BROKEN" if bound > case.epsilon else "holds out"
    event = f"{bound.event}: {bound.hits:,} and {bound.misses:,} of {bound.samples:,}" if bound > case.epsilon else ""
    return f"| {case.name} | {case.epsilon:g} | {case.delta:.3g} | {bound:.2f} | {verdict} | {event} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=20_000)
    samples = parser.parse_args().samples
    warnings.filterwarnings("ignore")
    for name, cases in LIBRARIES.items():
        try:
            print(
                f"\n{name} {version(name)}\n\n| mechanism | ε | δ | certified ε | | event |\n|---|---|---|---|---|---|"
            )
            for case in cases():
                print(row(case, samples), flush=True)
        except (ImportError, PackageNotFoundError):
            print(f"\n{name} is absent, or does not import")


if __name__ == "__main__":
    main()
