"""How near to the whole table answers come where nobody declared a limit: `make bench`, or this file.

Made-up tables of 4,000 people, with four kinds of rows a person; ten questions of each at ε = 0.5, through a curator that was told the
unit, and the keys and bounds that a question needs. An error is that against the *whole* table, cut and noise together, beside the error of
the best fixed limit at the whole ε, which was chosen with knowledge of the data. A ratio of 1 would be as good as knowing.
Where a curator can survey, the same after one survey at ε = 2; and then with questions so cheap that the whole costs what it does without.
Options: --quick (few tables and turns), --markdown (also write the sections of docs/limits.md), --simulate (instead: the tables by which
the way to find a limit was chosen, and that to find a range, which docs/ranges.md has, by NumPy's noise).
"""

import argparse
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from functools import cached_property
from itertools import count
from math import sqrt
from pathlib import Path
from statistics import median
from typing import Any

import duckdb
import numpy as np
from parts import ranges
from parts.limits import Real, Totals, ladder, laplace_error, median_errors
from parts.page import LIMITS, RANGES, renew
from parts.people import ONE, ROWS, SIGMA_1, SIGMA_2, UNIFORM, Generator, Whole
from parts.simulation import tables as simulated
from parts.table import Table, figure, machine

import discreet as dp

PEOPLE, REGIONS, MONTHS, WIDTH = 4_000, 10, 12, 1_000
EPSILON, SURVEY = Fraction(1, 2), 2
GOALS = {UNIFORM: 2.0, ONE: 2.0, SIGMA_1: 3.5, SIGMA_2: 5.0}
COLUMNS = {
    "region": {"type": "integer", "keys": list(range(REGIONS))},
    "month": {"type": "integer", "keys": list(range(1, MONTHS + 1))},
    "cost": {"type": "integer", "bounds": (0, WIDTH), "nullable": False},
}
MEASURED = """
Written by `bench/usefulness.py --markdown`. {tables} made-up tables of each kind, {people:,} people, ε = {epsilon}; each question is asked
{turns} times of each table, by another analyst each time, so that nobody is given what was found before. The figures are medians of the
error against the whole table, beside the error of the best fixed `max_total` at the whole ε, chosen with knowledge of the data. A region is
a matter of the person, a month of the row; costs are 0 … 1,000, mostly 50 to 150, and higher for people with more rows. For means and
shares a low limit is the best: it weighs people more alike, and changes a mean little. A limit is found for sums and counts, so means are
farther from their best. The goals are for the counts together; of single ones those about few people, such as a region with a tenth of
them, are farther. A figure of one question is a median of {answers} answers, and by chance alone off by a sixth or so.
"""
SIMULATED = """
Written by `bench/usefulness.py --simulate --markdown`, by NumPy's noise. Unless a table says otherwise, figures are median errors against
the whole table, beside those of the best fixed C at the whole ε, chosen with knowledge: 1 would be as good as knowing.
"""


@dataclass(frozen=True)
class Made:
    """A made-up table: one entry a row."""

    person: Whole
    region: Whole
    month: Whole
    cost: Whole

    @classmethod
    def of(cls, kind: str, bits: Generator) -> "Made":
        rows = ROWS[kind](PEOPLE, bits)
        person = np.repeat(np.arange(PEOPLE), rows)
        size = len(person)
        rank = np.empty(PEOPLE)
        rank[np.argsort(rows, kind="stable")] = np.arange(PEOPLE) / PEOPLE
        mean = WIDTH * (0.05 + 0.1 * rank[person])  # who comes more often costs more, so that a limit draws means down
        cost = np.minimum(WIDTH, np.rint(bits.exponential(mean))).astype(np.int64)
        return cls(person, (person * 7) % REGIONS, bits.integers(1, MONTHS + 1, size), cost)

    def write(self, path: Path) -> None:
        frame = {"person": self.person, "region": self.region, "month": self.month, "cost": self.cost}
        with duckdb.connect() as connection:
            connection.register("frame", frame)
            connection.execute(f"COPY (SELECT * FROM frame) TO '{path}' (FORMAT parquet)")

    def each(self, weights: Real) -> Real:
        """The sum of weights over the rows of each person."""
        return np.bincount(self.person, weights, minlength=PEOPLE)

    @cached_property
    def all_rows(self) -> Real:
        return np.ones(len(self.person))


def fixed_total(made: Made, weights: Real, within: Real) -> float:
    """The median error of COUNT or SUM with the best C: `weights`, at most 1, are added up over the rows that `within` marks."""
    rows = made.each(within)
    counted = rows > 0
    return Totals(rows[counted].astype(np.int64), made.each(weights * within)[counted]).best(float(EPSILON))


def fixed_by_group(made: Made, groups: Whole, most: int) -> float:
    """The error of a count by group with the best C: the mean over the groups."""
    rows = np.bincount(made.person * most + groups, minlength=PEOPLE * most).reshape(PEOPLE, most)
    totals = np.maximum(rows.sum(axis=1), 1)
    rungs = ladder(1.1)
    cut = (
        rows.sum(axis=0) - np.minimum(1, rung / totals) @ rows
        for rung in rungs[: np.searchsorted(rungs, totals.max()) + 1]
    )
    return min(laplace_error(bias, rung / float(EPSILON)) for bias, rung in zip(cut, rungs, strict=False))


def fixed_people(made: Made) -> float:
    """The error of people by month with the best g."""
    pairs = np.unique(made.person * MONTHS + made.month - 1)
    has = np.bincount(pairs // MONTHS, minlength=PEOPLE)
    cut = [np.bincount(pairs % MONTHS, np.maximum(0, 1 - g / has[pairs // MONTHS])) for g in range(1, MONTHS + 1)]
    return min(laplace_error(bias, g / float(EPSILON)) for g, bias in enumerate(cut, 1))


def fixed_mean(made: Made, values: Real, high: int) -> float:
    """The median error of a mean of whole numbers 0 … high with the best C: a sum around the middle over a count, ε shared as in plans."""
    bits = np.random.default_rng(0)
    middle = high // 2
    half = high - middle
    share = sqrt(half / high) / (sqrt(half / high) + 1)
    rows, sums = made.each(made.all_rows), made.each(values - middle)
    truth = float(values.mean())
    noise = bits.laplace(0, 1 / float(EPSILON), (2, 2_000))

    def error(rung: int) -> float:
        factor = np.minimum(1, rung / rows)
        below = (factor * rows).sum() + rung * noise[0] / (1 - share)
        mean = middle + ((factor * sums).sum() + half * rung * noise[1] / share) / np.maximum(below, 1)
        return float(np.median(np.abs(np.clip(mean, 0, high) - truth)))

    rungs = ladder(1.25)
    return min(error(int(rung)) for rung in rungs[: np.searchsorted(rungs, rows.max()) + 1])


def by_group(groups: Whole, weights: Real, most: int) -> list[float]:
    return [float(each) for each in np.bincount(groups, weights, minlength=most)]


@dataclass(frozen=True)
class Question:
    """A question, its exact answer, and the error of the best fixed limit; `counts` are held to the goals."""

    name: str
    text: str
    truth: Callable[[Made], Sequence[float]]
    fixed: Callable[[Made], float]
    counts: bool = True


def first_months(made: Made) -> Real:
    return np.asarray(made.month <= MONTHS // 2, float)


def third_region(made: Made) -> Real:
    return np.asarray(made.region == 3, float)


def dear(made: Made) -> Real:
    return np.asarray(made.cost > WIDTH / 10, float)


def people_by_month(made: Made) -> list[float]:
    pairs = np.unique(made.person * MONTHS + made.month - 1)
    return by_group(pairs % MONTHS, np.ones(len(pairs)), MONTHS)


QUESTIONS = [
    Question(
        "rows",
        "SELECT COUNT(*) AS n FROM visits",
        lambda made: [len(made.person)],
        lambda made: fixed_total(made, made.all_rows, made.all_rows),
    ),
    Question(
        "rows of half the months",
        f"SELECT COUNT(*) AS n FROM visits WHERE month <= {MONTHS // 2}",
        lambda made: [float(first_months(made).sum())],
        lambda made: fixed_total(made, made.all_rows, first_months(made)),
    ),
    Question(
        "rows of one region",
        "SELECT COUNT(*) AS n FROM visits WHERE region = 3",
        lambda made: [float(third_region(made).sum())],
        lambda made: fixed_total(made, made.all_rows, third_region(made)),
    ),
    Question(
        "rows by region",
        "SELECT region, COUNT(*) AS n FROM visits GROUP BY region ORDER BY region",
        lambda made: by_group(made.region, made.all_rows, REGIONS),
        lambda made: fixed_by_group(made, made.region, REGIONS),
    ),
    Question(
        "rows by month",
        "SELECT month, COUNT(*) AS n FROM visits GROUP BY month ORDER BY month",
        lambda made: by_group(made.month - 1, made.all_rows, MONTHS),
        lambda made: fixed_by_group(made, made.month - 1, MONTHS),
    ),
    Question(
        "people of half the months",
        f"SELECT COUNT(DISTINCT person) AS n FROM visits WHERE month <= {MONTHS // 2}",
        lambda made: [len(np.unique(made.person[made.month <= MONTHS // 2]))],
        lambda made: float(median_errors(np.zeros(1), np.array([1 / float(EPSILON)]))[0]),
    ),
    Question(
        "people by month",
        "SELECT month, COUNT(DISTINCT person) AS n FROM visits GROUP BY month ORDER BY month",
        people_by_month,
        fixed_people,
    ),
    Question(
        "sum of costs",
        "SELECT SUM(cost) AS n FROM visits",
        lambda made: [float(made.cost.sum())],
        lambda made: WIDTH * fixed_total(made, made.cost / WIDTH, made.all_rows),
        counts=False,
    ),
    Question(
        "mean cost",
        "SELECT AVG(cost) AS n FROM visits",
        lambda made: [float(made.cost.mean())],
        lambda made: fixed_mean(made, made.cost.astype(float), WIDTH),
        counts=False,
    ),
    Question(
        "share of dear rows",
        f"SELECT AVG(CASE WHEN cost > {WIDTH // 10} THEN 1 ELSE 0 END) AS n FROM visits",
        lambda made: [float(dear(made).mean())],
        lambda made: fixed_mean(made, dear(made), 1),
        counts=False,
    ),
]

COUNTS = [each.name for each in QUESTIONS if each.counts]
ROW_COUNTS = [each.name for each in QUESTIONS if each.counts and "DISTINCT" not in each.text]


@dataclass(frozen=True)
class Way:
    """A way to ask: what each question is paid, after a survey or without."""

    name: str
    price: Fraction
    survey: Fraction = Fraction(0)


ALONE = Way("found for each question", EPSILON)
WAYS = [
    ALONE,
    Way(f"after a survey at ε = {SURVEY}", EPSILON, Fraction(SURVEY)),
    Way("after a survey, at the same price in all", EPSILON - Fraction(SURVEY, len(QUESTIONS)), Fraction(SURVEY)),
]


def errors(path: Path, made: Made, way: Way, turns: int) -> dict[str, list[float]]:
    """The errors of each question, asked once by each of so many analysts, beside the best fixed limit."""
    names = [f"analyst {i}" for i in range(turns)]
    curator = dp.Curator(
        {"visits": path},
        "person",
        COLUMNS,
        epsilon=10**6,
        delta=Fraction(1, 10**4),
        people=PEOPLE,
        analysts={name: {"epsilon": 10**3, "delta": Fraction(1, 10**5)} for name in names},
        ledger=":memory:",
    )
    keys = count()
    found: dict[str, list[float]] = {}
    with curator as hospital:
        if way.survey:
            hospital.survey(epsilon=way.survey)
        for question in QUESTIONS:
            truth, fixed = question.truth(made), question.fixed(made)
            answers = (
                hospital.sql(question.text, epsilon=way.price, key=f"{next(keys)}", analyst=name) for name in names
            )
            found[question.name] = [error(answer, truth) / fixed for answer in answers]
    return found


def error(answer: Any, truth: Sequence[float]) -> float:
    """The mean over groups of the difference to the whole table; a mean that cannot be told counts as infinitely wrong."""
    values = [float("inf") if row[-1] is None else float(row[-1]) for row in answer.rows]
    return float(np.mean([abs(value - exact) for value, exact in zip(values, truth, strict=True)]))


def measured(kinds: Sequence[str], size: int, turns: int, ways: Sequence[Way], folder: Path) -> list[Table]:
    ratios: dict[tuple[str, str, str], list[float]] = {}
    bits = np.random.default_rng(1)
    for kind in kinds:
        for i in range(size):
            made = Made.of(kind, bits)
            path = folder / f"{i}.parquet"
            made.write(path)
            for way in ways:
                for name, each in errors(path, made, way, turns).items():
                    ratios.setdefault((way.name, kind, name), []).extend(each)
    return [table_of(way, kinds, ratios) for way in ways]


def table_of(way: Way, kinds: Sequence[str], ratios: dict[tuple[str, str, str], list[float]]) -> Table:
    lines = [[each.name, *(figure(median(ratios[way.name, kind, each.name])) for kind in kinds)] for each in QUESTIONS]
    for title, chosen in (("all counts of rows", ROW_COUNTS), ("all counts", COUNTS)):
        pooled = [median(ratio for name in chosen for ratio in ratios[way.name, kind, name]) for kind in kinds]
        lines.append([title, *map(figure, pooled)])
    if way is ALONE:
        lines.append(["goal", *(f"≤ {GOALS[kind]:g}" for kind in kinds)])
    return Table(way.name.capitalize(), "", ["error beside the best fixed limit", *kinds], lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--simulate", action="store_true")
    options = parser.parse_args()
    size, turns, runs = (2, 3, 200) if options.quick else (10, 10, 2_000)
    if options.simulate:
        name, head, tables = "Simulated", SIMULATED, list(simulated(runs))
    else:
        ways = WAYS if hasattr(dp.Curator, "survey") else [ALONE]
        with tempfile.TemporaryDirectory() as folder:
            tables = measured(list(GOALS), size, turns, ways, Path(folder))
        name, head = (
            "Measured",
            MEASURED.format(tables=size, people=PEOPLE, epsilon=float(EPSILON), turns=turns, answers=size * turns),
        )
    of_ranges = list(ranges.tables(5 * runs)) if options.simulate else []
    for table in (*tables, *of_ranges):
        print(table.plain(), flush=True)
    if options.markdown and of_ranges:
        renew("Simulated", ranges.HEAD + "\n".join(table.markdown(3) for table in of_ranges), RANGES)
    if options.markdown:
        section = head + "\n".join(table.markdown(3) for table in tables)
        renew(name, f"{section}\n\nMeasured {datetime.now(UTC).date().isoformat()} on {machine()}.", LIMITS)


if __name__ == "__main__":
    main()
