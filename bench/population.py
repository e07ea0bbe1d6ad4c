"""How often intervals for a population hold its value, and how wide they are, over simulated samples of people.

`python -m bench.population --samples 5000`. Every group of a table is a sample of its own: people who were drawn out of one population,
each with their rows. So one answer is as many samples as there are groups, through the whole pipeline: text, plan, engine, noise, answer.
The value of the population is known: what a sample gives on average. Beside each coverage stands how wide the intervals are, as a multiple of
what they would be if it were known how much people differ: of the span that 95 % of the numbers lie in that are released with the whole
price on their own noise. `--shares` compares shares of the price for second moments. `--rows`, `--people`, `--epsilon` choose the cases.
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from discreet.curator.session import Curator
from discreet.plan import population

HIGH = 100
ASKED = {
    "count": "COUNT(*)",
    "sum": "SUM(x)",
    "mean": "AVG(x)",
    "share": "COUNT(*) FILTER (WHERE x > 40) / COUNT(*)",
    "people": "COUNT(DISTINCT who)",
    "mean by person": "AVG_BY_PERSON(x)",
}
MOST = {"1": 1, "5": 5, "50": 50, "1 to 50": 50, "heavy": 50}
VALUES = ("even", "skewed", "alike")
DRAWN = np.random.default_rng


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

    def each(self, size: int, draw: np.random.Generator) -> Any:
        """How many rows each of so many people has."""
        if self.rows == "1 to 50":
            return draw.integers(1, 51, size)
        if self.rows == "heavy":
            return np.minimum(1 + draw.pareto(1.2, size), 200).astype(np.int64)
        return np.full(size, self.most)

    def drawn(self, each: Any, draw: np.random.Generator) -> Any:
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
    wide: float
    alone: float
    """How often intervals for the noise alone held it."""


def sampled(case: Case, samples: int, draw: np.random.Generator, fixed: bool) -> dict[str, Any]:
    """A table of so many samples, each in a group of its own."""
    sizes = np.full(samples, case.people) if fixed else draw.poisson(case.people, samples)
    each = case.each(int(sizes.sum()), draw)
    group, who = np.repeat(np.arange(samples), sizes), np.arange(each.size)
    return {"g": np.repeat(group, each), "who": np.repeat(who, each), "x": case.drawn(each, draw)}


def truths(case: Case, draw: np.random.Generator) -> dict[str, float]:
    """The values of the population: by a sample that is as large as can be held."""
    size = 1_000_000 if case.most == 1 else 200_000
    each = case.each(size, draw)
    x = case.drawn(each, draw)
    first = np.cumsum(each) - each
    kept = np.minimum(each, case.most) if case.unit == "who" else each
    scale = kept / each  # whoever has more rows counts with as many as the limit leaves

    def total(values: Any) -> float:
        return float((np.add.reduceat(values.astype(np.float64), first) * scale).mean())

    rows = float(kept.mean())
    return {
        "count": case.people * rows,
        "sum": case.people * total(x),
        "mean": total(x) / rows,
        "share": total(x > 40) / rows,
        "people": case.people,
        "mean by person": float((np.add.reduceat(x, first) / each).mean()),
    }


def results(
    case: Case, samples: int, seed: int, fixed: bool = False, names: Sequence[str] = tuple(ASKED)
) -> Iterator[Result]:
    """What is seen of one case."""
    draw = DRAWN(seed)
    table, truth = sampled(case, samples, draw, fixed), truths(case, draw)
    unit: dict[str, Any] = {"row": True} if case.unit == "row" else {"unit": "who", "max_rows": case.most, "max_groups": 1}
    columns = {"g": {"type": "integer", "bounds": (0, samples - 1)}, "x": {"type": "integer", "bounds": (0, HIGH)}}
    with (
        tempfile.TemporaryDirectory() as folder,
        Curator(
            {"t": {name: column.tolist() for name, column in table.items()}},
            columns=columns,
            **unit,
            epsilon=10**6,
            ledger=Path(folder) / "ledger",
        ) as curator,
    ):
        for name, asked in ASKED.items():
            if name not in names:
                continue
            if case.unit == "row" and name in ("people", "mean by person"):
                continue
            told = [
                curator.sql(f"SELECT g, {asked} AS value FROM t GROUP BY g", epsilon=case.epsilon, population=each)
                for each in (True, False)
            ]
            sampling, noise = ([row for row in answer.to_dicts(errors=True)] for answer in told)
            values = np.array([row["value"] for row in noise if row["value"] is not None], np.float64)
            span = np.quantile(values, 0.975) - np.quantile(values, 0.025) if values.size else np.nan
            widths = [end(row, "high") - end(row, "low") for row in sampling if row["value"] is not None]
            wide = float(np.median(widths) / span) if widths else np.nan
            yield Result(case, name, covered(sampling, truth[name]), wide, covered(noise, truth[name]))


def end(row: dict[str, Any], which: str) -> float:
    """An end of an interval; infinity where it has none."""
    found = row[f"value_{which}"]
    return (np.inf if which == "high" else -np.inf) if found is None else float(found)


def covered(rows: list[dict[str, Any]], truth: float) -> float:
    """How often an interval holds the truth, of those that were told."""
    told = [row for row in rows if row["value"] is not None]
    return float(np.mean([end(row, "low") <= truth <= end(row, "high") for row in told])) if told else np.nan


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--samples", type=int, default=1000)
    asked.add_argument("--people", type=int, nargs="*", default=[50, 500])
    asked.add_argument("--epsilon", type=float, nargs="*", default=[0.5, 2])
    asked.add_argument("--rows", nargs="*", default=list(MOST))
    asked.add_argument("--values", nargs="*", default=list(VALUES))
    asked.add_argument("--units", nargs="*", default=["row", "who"])
    asked.add_argument("--shares", nargs="*", default=[str(population.SHARE)])
    asked.add_argument("--fixed", action="store_true", help="each sample has as many people")
    asked.add_argument("--asked", nargs="*", default=list(ASKED))
    asked.add_argument("--seed", type=int, default=1)
    given = asked.parse_args()
    for share in given.shares:
        population.SHARE = Fraction(share)
        print(f"share {share}\n{'unit':4} {'rows':8} {'values':8} {'people':>6} {'ε':>4}  {'asked':14} held  (noise alone)  wide")
        seen = []
        for unit, rows, values, people, epsilon in product(
            given.units, given.rows, given.values, given.people, given.epsilon
        ):
            if unit == "row" and rows != "1":
                continue  # a row is a person
            for each in results(Case(unit, rows, values, people, epsilon), given.samples, given.seed, given.fixed, given.asked):
                seen.append(each)
                print(
                    f"{unit:4} {rows:8} {values:8} {people:6} {epsilon:4}  {each.name:14} {100 * each.covered:5.1f}"
                    f" {100 * each.alone:5.1f} {each.wide:15.2f}",
                    flush=True,
                )
        worst = min(seen, key=lambda each: each.covered)
        print(f"least {100 * worst.covered:.1f}; wide: median {np.median([each.wide for each in seen]):.2f}, most {max(each.wide for each in seen):.2f}")


if __name__ == "__main__":
    main()
