"""Quantiles: how often their intervals hold the truth and how wide these are, and what four of them take beside DuckDB's exact ones.

    python bench/quantiles.py                four quantiles of 10,000,000 rows: of rows, of people, and of people with one row each
    python bench/quantiles.py --simulate     coverage and width, by the mechanism itself; the figures of `plan/releases/quantile.py`

CPU seconds of this process, both in one run, in turns; the least of three is taken.
"""

import argparse
import random
import tempfile
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from time import process_time

import duckdb
import numpy as np

from discreet.curator.session import Curator
from discreet.mechanisms.quantile_ends import QuantileEnds

ROWS, CELLS, RUNS, SIZE = 10_000_000, 1024, 1000, 800
QUANTILES = (0.1, 0.25, 0.5, 0.9)
ASKED = f"SELECT {', '.join(f'QUANTILE(x, {q}) AS q{i}' for i, q in enumerate(QUANTILES))} FROM t"

KINDS: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    "even": lambda draw: draw.random(SIZE),
    "lognormal": lambda draw: np.minimum(draw.lognormal(0, 1, SIZE) / 20, 0.9999),
    "40 % at one": lambda draw: np.where(draw.random(SIZE) < 0.4, 0.3, draw.random(SIZE)),
    "five values": lambda draw: draw.integers(0, 5, SIZE) / 5 + 0.1,
    "even, 50 rows": lambda draw: draw.random(50),
}


def simulated() -> Iterator[str]:
    """For each kind of values how often an interval holds the quantile, and its width over what the number varies by."""
    shares, draw = (Fraction(1, 4), Fraction(1, 2), Fraction(9, 10)), np.random.default_rng(1)
    for name, kind in KINDS.items():
        for epsilon in (Fraction(1), Fraction(1, 4)):
            told = []
            for q in shares:
                figures = [held(QuantileEnds(epsilon, (q,), CELLS), q, kind(draw)) for _ in range(4)]
                cover, ratio = np.mean(figures, axis=0)
                told.append(f"{100 * cover:5.1f} % {ratio:5.2f}")
            yield f"{name:16} ε = {epsilon!s:4} {'     '.join(told)}"


def held(mechanism: QuantileEnds, q: Fraction, values: np.ndarray) -> tuple[float, float]:
    counts = np.bincount((values * CELLS).astype(np.int64), minlength=CELLS)
    low, high = mechanism(np.tile(counts, (RUNS, 1))).T
    upto, rank = np.cumsum(counts), float(q) * counts.sum()
    cells = np.flatnonzero((upto - counts <= rank) & (upto >= rank))
    covered = (low <= cells[-1]) & (high >= cells[0])
    middle = (low + high) / 2
    return float(covered.mean()), float(np.median(high - low) + 1) / float(
        np.ptp(np.quantile(middle, (0.025, 0.975))) + 1
    )


def seconds(act: Callable[[], object]) -> float:
    begin = process_time()
    act()
    return process_time() - begin


def timed() -> Iterator[str]:
    """The ratio of CPU times for each unit."""
    units: dict[str, tuple[int, dict[str, object]]] = {
        "rows": (1_000_000, {"row": True}),
        "people, 3 rows": (1_000_000, {"unit": "who", "max_rows": 3, "max_groups": 1}),
        "one row each": (ROWS, {"unit": "who", "max_rows": 1, "max_groups": 1}),
    }
    for name, (people, unit) in units.items():
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "t.parquet"
            random.seed(1)
            duckdb.sql(
                f"COPY (SELECT (hash(i) % {people})::BIGINT AS who, (hash(i + 7) % 1000003) / 10000.0 AS x FROM range({ROWS}) r(i))"
                f" TO '{source}'"
            )
            connection = duckdb.connect()
            connection.execute(f"CREATE TABLE t AS SELECT * FROM '{source}'")
            columns = {"x": {"bounds": (0, 100)}}
            with Curator({"t": source}, columns=columns, **unit, epsilon=10**6, ledger=Path(folder) / "l") as curator:  # type: ignore[arg-type]
                curator.sql("SELECT COUNT(*) FROM t", epsilon=1)
                exact, private = [], []
                for i in range(3):
                    exact.append(seconds(lambda at=connection: at.execute(ASKED).fetchall()))  # type: ignore[misc]
                    private.append(seconds(lambda at=curator, i=i: at.sql(ASKED, epsilon=1 + i / 100)))  # type: ignore[misc]
            yield f"{name:16} {min(private):6.2f} s beside {min(exact):6.2f} s exactly: {min(private) / min(exact):5.2f} times"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulate", action="store_true", help="coverage and width, by simulation")
    for line in simulated() if parser.parse_args().simulate else timed():
        print(line, flush=True)
