"""How often intervals for a population hold its value, and how wide they are, over simulated samples of people: `make bench`, or this file.

Every group of a table is a sample of its own: people who were drawn out of one population, each with their rows. So one answer is as many
samples as there are groups, through the whole pipeline: text, plan, engine, noise, answer. The value of the population is what a sample
gives on average, of rows as limits leave them. Beside each coverage stand that of intervals for the noise alone, and how wide those for
the population are, as a multiple of the span that 95 % of the numbers lie in which are released with the whole price on their own noise: 1
would be as good as knowing how much people differ.
Options: --samples (1,000; docs/asking.md has 5,000), --people, --epsilon, --rows, --values, --units and --asked choose the cases; --fixed
(each sample has as many people, instead of a Poisson number), --shares (instead: the table by which the share of the price for second
moments was chosen, by formula).
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow

from discreet.curator.session import Curator
from discreet.plan.sampling import margin

HIGH = 100
ASKED = {
    "count": "COUNT(*)",
    "sum": "SUM(x)",
    "mean": "AVG(x)",
    "share": "COUNT(*) FILTER (WHERE x > 40) / COUNT(*)",
    "people": "COUNT(DISTINCT who)",
    "by person": "AVG_BY_PERSON(x)",
}
MOST = {"1": 1, "5": 5, "50": 50, "1 to 50": 50, "heavy": 50}
VALUES = ("even", "skewed", "alike")
SHARES = (0.1, 0.125, 0.167, 0.2, 0.25, 0.3, 0.333, 0.4, 0.5)
Whole, Real = Any, Any
Generator = np.random.Generator


@dataclass(frozen=True)
class Case:
    """One kind of people: how many rows they have, how their values lie, how many of them are in a sample, at which price."""

    unit: str
    rows: str
    values: str
    people: int
    epsilon: float

    @property
    def most(self) -> int:
        """The limit on the rows of a person."""
        return MOST[self.rows]

    def each(self, size: int, draw: Generator) -> Whole:
        """How many rows each of so many people has."""
        if self.rows == "1 to 50":
            return draw.integers(1, 51, size)
        if self.rows == "heavy":
            return np.minimum(1 + draw.pareto(1.2, size), 200).astype(np.int64)
        return np.full(size, self.most)

    def drawn(self, each: Whole, draw: Generator) -> Whole:
        """The values of all rows of people with so many."""
        if self.values == "even":
            return draw.integers(0, HIGH + 1, int(each.sum()))
        if self.values == "skewed":
            return np.minimum(HIGH, draw.lognormal(2.5, 0.8, int(each.sum()))).astype(np.int64)
        # all rows of a person near each other
        own = np.repeat(draw.uniform(10, 90, len(each)), each)
        return np.clip(np.rint(own + draw.normal(0, 5, own.size)), 0, HIGH).astype(np.int64)


@dataclass(frozen=True)
class Result:
    """What was seen of one case: how often intervals held the value, and how wide they were beside the ideal."""

    case: Case
    name: str
    covered: float
    alone: float
    """How often intervals for the noise alone held it."""

    wide: float

    def __str__(self) -> str:
        case = self.case
        return (
            f"{case.unit:4} {case.rows:8} {case.values:7} {case.people:6} {case.epsilon:4} {self.name:10}"
            f" {100 * self.covered:6.1f} {100 * self.alone:6.1f} {self.wide:6.2f}"
        )


def sampled(case: Case, samples: int, draw: Generator, fixed: bool) -> pyarrow.Table:
    """A table of so many samples, each in a group of its own."""
    sizes = np.full(samples, case.people) if fixed else draw.poisson(case.people, samples)
    each = case.each(int(sizes.sum()), draw)
    group, who = np.repeat(np.arange(samples), sizes), np.arange(each.size)
    columns = {"g": np.repeat(group, each), "who": np.repeat(who, each), "x": case.drawn(each, draw)}
    return pyarrow.table(columns)


def truths(case: Case, draw: Generator) -> dict[str, float]:
    """The values of the population: by a sample that is as large as can be held."""
    each = case.each(2_000_000 // case.most, draw)
    x = case.drawn(each, draw)
    first = np.cumsum(each) - each
    kept = np.minimum(each, case.most)
    scale = kept / each  # whoever has more rows counts with as many as the limit leaves

    def total(values: Real) -> float:
        return float((np.add.reduceat(values.astype(np.float64), first) * scale).mean())

    rows = float(kept.mean())
    return {
        "count": case.people * rows,
        "sum": case.people * total(x),
        "mean": total(x) / rows,
        "share": total(x > 40) / rows,
        "people": case.people,
        "by person": float((np.add.reduceat(x, first) / each).mean()),
    }


def results(case: Case, samples: int, seed: int, fixed: bool, names: Sequence[str]) -> Iterator[Result]:
    """What is seen of one case."""
    draw = np.random.default_rng(seed)
    table, truth = sampled(case, samples, draw, fixed), truths(case, draw)
    limits = {"unit": "who", "max_rows": case.most, "max_groups": 1}
    unit: dict[str, Any] = {"row": True} if case.unit == "row" else limits
    columns = {"g": {"type": "integer", "bounds": (0, samples - 1)}, "x": {"type": "integer", "bounds": (0, HIGH)}}
    with (
        tempfile.TemporaryDirectory() as folder,
        Curator({"t": table}, columns=columns, **unit, epsilon=10**6, ledger=Path(folder) / "ledger") as curator,
    ):
        for name, asked in ASKED.items():
            if name not in names or (case.unit == "row" and name in ("people", "by person")):
                continue
            text = f"SELECT g, {asked} AS value FROM t GROUP BY g"
            answers = [curator.sql(text, epsilon=case.epsilon, population=each) for each in (True, None)]
            people, noise = (
                [row for row in each.to_dicts(errors=True) if row["value"] is not None] for each in answers
            )
            values = np.array([row["value"] for row in noise], np.float64)
            span = np.quantile(values, 0.975) - np.quantile(values, 0.025)
            wide = float(np.median([end(row, "high") - end(row, "low") for row in people]) / span)
            yield Result(case, name, held(people, truth[name]), held(noise, truth[name]), wide)


def end(row: dict[str, Any], which: str) -> float:
    """An end of an interval; infinity where it has none."""
    found = row[f"value_{which}"]
    return (np.inf if which == "high" else -np.inf) if found is None else float(found)


def held(rows: list[dict[str, Any]], truth: float) -> float:
    """How often an interval holds the truth."""
    return float(np.mean([end(row, "low") <= truth <= end(row, "high") for row in rows]))


# The share of the price.


def widths(case: Case, people: Real, rows: Real) -> Iterator[tuple[str, Real]]:
    """How wide intervals are at each share, beside the ideal: by the variances of noise and of people whose sums and rows are these."""
    rest, shares, epsilon, most = 1 - np.array(SHARES), np.array(SHARES), case.epsilon, case.most
    slope = people.sum() / rows.sum() - HIGH / 2
    statistics = {
        "count": (rows, 2 * (most / epsilon) ** 2, most**2),
        "sum": (people, 2 * (HIGH * most / epsilon) ** 2, (HIGH * most) ** 2),
    }
    half, parts = HIGH / 2 * most, 1 if most == 1 else 3
    squares = half**2 if parts == 1 else parts * sqrt(half**4 + (2 * slope * half * most) ** 2 + (slope * most) ** 4)
    of_mean = 2 * (2 / epsilon) ** 2 * (half**2 + (slope * most) ** 2)
    statistics["mean"] = (people - (slope + HIGH / 2) * rows, of_mean, squares)
    for name, (gives, noise, moment) in statistics.items():
        variance = case.people * float(np.mean(np.asarray(gives, np.float64) ** 2))
        added = margin(0.95) * sqrt(2) * moment / (epsilon * shares)
        yield name, np.sqrt((noise / rest**2 + variance + added) / (noise + variance))


def compared_shares(seed: int) -> None:
    """Widths at each share, over kinds of people, sizes of samples and prices."""
    found: dict[str, list[Real]] = {}
    for rows, values, people, epsilon in product(MOST, VALUES, (50, 200, 1000, 10_000), (0.1, 0.5, 2, 8)):
        case, draw = Case("who", rows, values, people, epsilon), np.random.default_rng(seed)
        each = np.minimum(case.each(4000, draw), case.most)
        sums = np.add.reduceat(case.drawn(each, draw), np.cumsum(each) - each)
        for name, wide in widths(case, sums, each):
            for heading in ("all", f"{name}, {case.most} rows", f"ε = {epsilon}"):
                found.setdefault(heading, []).append(wide)
    print(f"{'share':16}", *(f"{share:6.3f}" for share in SHARES))
    for heading, all_widths in sorted(found.items()):
        for what, figures in (("mean", np.mean(all_widths, 0)), ("90 %", np.quantile(all_widths, 0.9, axis=0))):
            print(f"{heading:16} {what}", *(f"{figure:6.2f}" for figure in figures))


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--samples", type=int, default=1000)
    asked.add_argument("--people", type=int, nargs="*", default=[40])
    asked.add_argument("--epsilon", type=float, nargs="*", default=[0.5, 4])
    asked.add_argument("--rows", nargs="*", default=list(MOST))
    asked.add_argument("--values", nargs="*", default=["skewed", "alike"])
    asked.add_argument("--units", nargs="*", default=["row", "who"])
    asked.add_argument("--asked", nargs="*", default=list(ASKED))
    asked.add_argument("--fixed", action="store_true")
    asked.add_argument("--shares", action="store_true")
    asked.add_argument("--seed", type=int, default=1)
    given = asked.parse_args()
    if given.shares:
        compared_shares(given.seed)
        return
    print(
        f"{'unit':4} {'rows':8} {'values':7} {'people':>6} {'ε':>4} {'asked':10} {'held':>6} {'noise':>6} {'wide':>6}"
    )
    seen = []
    for unit, rows, values, people, epsilon in product(
        given.units, given.rows, given.values, given.people, given.epsilon
    ):
        if unit == "row" and rows != "1":
            continue  # a row is a person
        case = Case(unit, rows, values, people, epsilon)
        for each in results(case, given.samples, given.seed, given.fixed, given.asked):
            seen.append(each)
            print(each, flush=True)
    wide = [each.wide for each in seen]
    print(
        f"held in {100 * min(each.covered for each in seen):.1f} % at least;"
        f" wide: median {np.median(wide):.2f}, at most {max(wide):.2f}"
    )


if __name__ == "__main__":
    main()
