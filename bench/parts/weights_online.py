"""Questions one by one: how many are answered within a given error, in each of three ways. `python -m bench.parts.weights_online`.

The stream is of 100,000 distinct questions on 2^20 cells, 20,000 people, ε = 1, δ = 1e-7; then the three ways side by side over smaller
and larger tables, as numbers and as a picture (`--picture FILE`). People are made up; noise is that of the package.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import numpy as np

from discreet.mechanisms.guarded import under_way
from discreet.weights import ArrayTable, online
from discreet.weights.margins import Margins

from .crowd import Truths, domain_of, people, questions, tangled
from .weights_picture import picture

EPSILON, DELTA = 1, 1e-7
STREAM, FEW = 100_000, 3_000
PEOPLE = (20_000, 100_000, 500_000)
WIDTHS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05)
"""Errors, as shares of all people."""


@dataclass(frozen=True)
class Outcome:
    """A stream that was answered: the error of each answer as a share of all people, and what it took."""

    errors: np.ndarray
    free: float
    unchecked: float
    updates: int
    marginals: int
    seconds: float

    def within(self, share: float) -> float:
        return float((self.errors <= share).mean())

    def __str__(self) -> str:
        middle, most = (np.quantile(self.errors, level) for level in (0.5, 0.95))
        return (
            f"within 2 %: {self.within(0.02):7.2%}   median {middle:.3%}, p95 {most:.3%}, largest {self.errors.max():.2%} of n;"
            f" free {self.free:.3%}, unchecked {self.unchecked:.1%}, {self.updates} updates, {self.seconds:.0f} CPU s"
        )


def answered(codes: np.ndarray, bits: int, stream: Sequence[Truths], share: float, **options: object) -> Outcome:
    """The stream, asked of a session that promises an error of this share of all people."""
    domain, begin = domain_of(bits), process_time()
    table = ArrayTable(domain, codes)
    exact = truth(table)
    errors, free, unchecked = [], 0, 0
    settings = {"queries": STREAM, "method": "weights", **options}
    with online(table, epsilon=EPSILON, delta=DELTA, error=share * len(codes), **settings) as session:
        before = session.updates_left
        spent = 0.0
        for cells in stream:
            answer = session.count(cells)
            start = process_time()
            errors.append(abs(answer.value - exact.sum(cells)) / len(codes))
            spent += process_time() - start
            free += answer.free
            unchecked += not answer.checked
    count = len(stream)
    marginals = len(getattr(session.terms, "marginals", ()))
    updates = before - session.updates_left
    seconds = process_time() - begin - spent
    return Outcome(np.array(errors), free / count, unchecked / count, updates, marginals, seconds)


def truth(table: ArrayTable) -> Margins:
    """Exact counts, to compare with: a bench may look."""
    with under_way():
        cells = table.counts(table.domain.attributes)()
    return Margins(cells.marginal)


def stream() -> None:
    """The stream of 100,000 questions, with and without a start."""
    codes, asked = people(20, 20_000, 1), list(questions(20, STREAM, 2))
    print(f"{STREAM:,} questions, 2^20 cells, 20,000 people, ε = {EPSILON}, δ = {DELTA:g}, error 2 % of n")
    for name, options in {
        "two-way start": {},
        "no start": {"start": False},
        "no start, no tests": {"start": False, "updates": 0},
        "no tests": {"updates": 0},
        "histogram": {"method": "histogram"},
    }.items():
        print(f"{name:<20}{answered(codes, 20, asked, 0.02, **options)}", flush=True)


def hard() -> None:
    """People whom pairs of attributes do not tell: updates are used up, and on few cells a noisy histogram is better."""
    print("people that pairs of attributes do not tell, error 2 % of n")
    for bits, n in ((12, 20_000), (12, 100_000), (20, 20_000), (20, 500_000)):
        codes, asked = tangled(bits, n, 3), list(questions(bits, 2000 if bits == 12 else FEW, 5))
        for name, options in {"weights": {}, "histogram": {"method": "histogram"}}.items():
            outcome = answered(codes, bits, asked, 0.02, **options)
            print(f"2^{bits} cells, {n:>7,} people, {name:<10}{outcome}", flush=True)


def small() -> None:
    """Few cells: a noisy histogram is better."""
    print("few cells, 20,000 people, error 2 % of n")
    for bits in (6, 8):
        asked = list(questions(bits, 250, 5))
        for name, options in {"weights": {}, "histogram": {"method": "histogram"}}.items():
            errors = [answered(people(bits, 20_000, run), bits, asked, 0.02, **options).errors for run in range(8)]
            middle, most = (np.quantile(errors, level) for level in (0.5, 0.95))
            print(f"2^{bits} cells, {name:<10} median {middle:.3%}, p95 {most:.3%} of n", flush=True)


def side_by_side(runs: int) -> dict[tuple[int, int], dict[str, list[float]]]:
    """Of 100,000 questions, how many each way answers within each error: measured on a sample, direct answers by their noise."""
    found: dict[tuple[int, int], dict[str, list[float]]] = {}
    for bits in (12, 16, 20):
        asked = list(questions(bits, 2000 if bits == 12 else FEW, 5))
        for n in PEOPLE:
            shares: dict[str, list[float]] = {name: [] for name in ("weights", "no start", "histogram", "direct")}
            for run in range(runs):
                codes = people(bits, n, run)
                for name, options in {
                    "weights": {},
                    "no start": {"start": False},
                    "histogram": {"method": "histogram"},
                }.items():
                    outcome = answered(codes, bits, asked, 0.02, **options)
                    shares[name].append([outcome.within(width) for width in WIDTHS])
            rows = {name: np.mean(each, axis=0) * STREAM for name, each in shares.items() if each}
            rows["direct"] = np.array([min(STREAM, direct(width * n)) for width in WIDTHS])
            found[bits, n] = {name: each.tolist() for name, each in rows.items()}
            print(f"2^{bits} cells, {n:,} people")
            for name, each in rows.items():
                print(f"  {name:<10}" + "".join(f"{value:>10,.0f}" for value in each), flush=True)
    return found


def direct(error: float) -> int:
    """How many questions direct answers with Gaussian noise can have, if 95 % are to be within an error."""
    from discreet.mechanisms import RoundedGaussian

    return int((error / (1.96 * float(RoundedGaussian.for_budget(EPSILON, DELTA).scale))) ** 2)


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--picture", type=Path)
    parser.add_argument("--only", choices=("stream", "hard", "ways"))
    options = parser.parse_args(list(arguments))
    if options.only in (None, "stream"):
        stream()
    if options.only in (None, "hard"):
        hard()
        small()
    if options.only in (None, "ways"):
        found = side_by_side(options.runs)
        if options.picture:
            options.picture.write_text(picture(found, WIDTHS), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
