"""How often a survey finds what many people have: 5,000 people, 20 columns, ε = 2, δ = 1e-7. `python bench/survey.py [SURVEYS]`.

Tables are made up, of one to a few rows a person: eight columns of words whose rarest has 8 % of the people, eight of numbers of several
shapes, two of dates, two of yes and no. Exact counts are the engine's, once; the noise is fresh for each survey.
"""

import sys
from collections import Counter, defaultdict
from fractions import Fraction
from functools import lru_cache

import numpy as np

from discreet.curator.survey.prices import prices_for
from discreet.curator.survey.reading import Surveyed
from discreet.curator.survey.taking import Taking
from discreet.engines.base import Data
from discreet.engines.duckdb import DuckDB
from discreet.mechanisms.measure import Grant
from discreet.plan.scalar import Column, Type
from discreet.privacy import Adjacency, Relation, Unit

PEOPLE, EPSILON, DELTA = 5_000, Fraction(2), Fraction(1, 10**7)
SHARES = (0.08, 0.12, 0.2, 0.25, 0.35)
SHAPES = {
    "ages": lambda rng, n: rng.normal(50, 18, n).clip(0, 99).round(),
    "costs": lambda rng, n: rng.lognormal(7, 1, n),
    "wide costs": lambda rng, n: rng.lognormal(3, 2, n),
    "uniform": lambda rng, n: rng.uniform(0, 1000, n),
    "degrees": lambda rng, n: rng.normal(5, 10, n),
    "small counts": lambda rng, n: rng.poisson(1.2, n),
    "far from 0": lambda rng, n: rng.normal(10_000, 500, n),
    "both signs": lambda rng, n: rng.standard_t(3, n) * 100,
}


def table(seed: int) -> tuple[dict[str, list[str]], dict[str, np.ndarray]]:
    """A table as its cells are written, and its numbers."""
    rng = np.random.default_rng(seed)
    rows = np.maximum(1, rng.lognormal(0.5, 0.7, PEOPLE).astype(int))
    who = np.repeat(np.arange(PEOPLE), rows)
    data = {"who": [f"p{i}" for i in who]}
    numbers = {}
    for i in range(8):
        words = rng.permutation(np.repeat([f"w{j}" for j in range(5)], [round(PEOPLE * share) for share in SHARES]))
        data[f"word {i}"] = words[who].tolist()
    for name, shape in SHAPES.items():
        numbers[name] = shape(rng, PEOPLE)
        data[name] = [repr(float(each)) for each in numbers[name][who]]
    for year in (2021, 2023):
        days = np.datetime64(f"{year}-01-01") + rng.integers(0, 700, PEOPLE)
        data[f"days of {year}"] = [str(each) for each in days[who]]
    for share in (0.1, 0.5):
        data[f"flag {share}"] = [("no", "yes")[each] for each in (rng.random(PEOPLE) < share).astype(int)[who]]
    return data, numbers


def main(surveys: int) -> None:
    for adjacency in Adjacency:
        found: Counter[str] = Counter()
        cut: dict[str, list[float]] = defaultdict(list)
        wide: dict[str, list[float]] = defaultdict(list)
        for seed in range(2):
            data, numbers = table(seed)
            columns = tuple(Column(name, Type.TEXT) for name in list(data)[1:])
            prices = prices_for(Relation(adjacency, Unit.PERSON), len(columns), EPSILON, DELTA, several=True)
            surveyed = Surveyed("t", Column("who", Type.TEXT), columns)
            with DuckDB([Data("t", data, (Column("who", Type.TEXT), *columns), person="who")]) as engine:
                run = lru_cache(maxsize=None)(engine.run)
                for _ in range(surveys):
                    facts = Taking(surveyed, prices, run, Grant(prices.event), 1).taken()
                    for column in facts.columns:
                        if column.name.startswith("word"):
                            found["words"] += 1
                            found["rarest"] += "w0" in (column.keys or ())
                            found["all"] += len(column.keys or ()) == 5
                        elif column.name in numbers:
                            values = numbers[column.name]
                            low, high = (
                                (-np.inf, -np.inf) if column.range is None else (column.range.low, column.range.high)
                            )
                            cut[column.name].append(max((values < low).mean(), (values > high).mean()))
                            span = np.quantile(values, 0.99) - np.quantile(values, 0.01)
                            wide[column.name].append((high - low) / span)
                        else:
                            found["others"] += 1
                            expected = Type.DATE if column.name.startswith("days") else Type.BOOLEAN
                            found["of their type"] += column.type is expected and bool(column.range or column.keys)
        print(
            f"{adjacency.value}: key of 8 % found {found['rarest']} of {found['words']} times, all five {found['all']};"
        )
        print(f"  dates and booleans {found['of their type']} of {found['others']}")
        print(f"  a key is found above {prices.keys.threshold}, a count has noise of {float(prices.keys.scale):.1f}")
        for name, shares in cut.items():
            most = np.quantile(shares, 0.95)
            over = np.mean([each > 0.05 for each in shares])
            print(
                f"  {name:<13} cut on the worse side: {100 * np.mean(shares):.1f} % on average, {100 * most:.1f} % in 19 of 20,"
                f" above 5 % in {100 * over:.1f} %; width {np.median(wide[name]):.2f} of the inner 98 %"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
