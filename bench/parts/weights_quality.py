"""What reports on quality say beside the truth, and how long rows take: `python -m bench.parts.weights_quality [RUNS]`.

Tables are made up: people with two hidden traits, which age, ward, sex, smoking, days in hospital and costs hang on. Of each margin of one
or two attributes there is the true error of the learned model, the free bound, and the interval that was paid for. Rows have ten columns of
all types.
"""

import sys
import tempfile
from pathlib import Path
from time import process_time

import numpy as np

from discreet.cells import Binned, Categorical, CellCounts
from discreet.mechanisms.guarded import under_way
from discreet.weights import ArrayTable, Domain, Learned, independent, learn, quality, report, synthetic
from discreet.weights.reporting import margins_of
from tests.weights.synthesis import KINDS, table

DOMAIN = Domain(
    (
        Binned("age", tuple(range(0, 101, 10)), whole=True, missing=False),
        Categorical("ward", ("Emergency", "Surgery", "Cardiology", "Burns", "Maternity"), missing=False),
        Categorical("sex", ("f", "m"), other=False),
        Categorical("smoker", (True, False), other=False),
        Binned("days", tuple(range(0, 13, 2)), whole=True),
        Binned("cost", tuple(range(0, 10_001, 1_000))),
    )
)
DELTA = 1e-9
CHECKS = (0.05, 0.2)
ROWS = 1_000_000


def people(count: int, seed: int) -> ArrayTable:
    """Made-up people."""
    rng = np.random.default_rng(seed)
    traits = rng.normal(size=(count, 2))
    columns = []
    for axis, size in enumerate(DOMAIN.shape):
        score = traits @ np.array([np.cos(axis), np.sin(axis)]) + rng.normal(0, 0.7, count)
        columns.append(np.clip((size * (score + 2.5) / 5).astype(int), 0, size - 1))
    return ArrayTable(DOMAIN, np.stack(columns, axis=1))


def errors(learned: Learned, counts: CellCounts) -> np.ndarray:
    """The true error in each margin of one or two attributes, as a share of the model's people."""
    model = learned.model
    return np.array(
        [np.abs(model.marginal(axes) - counts.marginal(axes)).sum() / model.total for axes in margins_of(DOMAIN)]
    )


def reports(runs: int) -> None:
    """A line for each size and price: means over margins and runs, in per cent of all people."""
    print(f"{'people':>7} {'ε':>4}  {'independent':>11} {'learned':>8} {'free bound':>11}", end="")
    print("".join(f"  ± for ε = {each:g}" for each in CHECKS), "  held")
    for count in (5_000, 50_000):
        for epsilon in (0.1, 1, 10):
            lines, held = [], []
            for run in range(runs):
                source = people(count, run)
                with under_way():
                    counts = source.counts(DOMAIN.attributes)()
                learned = learn(source, DOMAIN.names, epsilon=epsilon, delta=DELTA, workload=2)
                base = independent(source, epsilon=epsilon, delta=DELTA)
                true, bounds = errors(learned, counts), [each.high for each in report(learned).margins]
                paid = [quality(source, learned, epsilon=each, delta=DELTA).margins for each in CHECKS]
                held += [low.low <= t <= low.high for each in paid for low, t in zip(each, true, strict=True)]
                widths = [np.mean([margin.high - margin.error for margin in each]) for each in paid]
                known = np.mean([each for each in bounds if each is not None])
                lines.append([errors(base, counts).mean(), true.mean(), known, *widths])
            base_error, true_error, bound, *widths = 100 * np.mean(lines, axis=0)
            print(f"{count:>7,} {epsilon:>4g}  {base_error:>11.2f} {true_error:>8.2f} {bound:>11.2f}", end="")
            print("".join(f"{width:>15.2f}" for width in widths), f"{100 * np.mean(held):>6.1f} %")


def speed() -> None:
    """CPU seconds for rows of ten columns, drawn and written."""
    model = independent(table(5_000, Domain(KINDS)), epsilon=1).model
    with tempfile.TemporaryDirectory() as folder:
        times = [process_time()]
        data = synthetic(model, ROWS)
        times.append(process_time())
        data.to_csv(Path(folder) / "rows.csv")
        times.append(process_time())
        data.to_parquet(Path(folder) / "rows.parquet")
        times.append(process_time())
        sizes = [(Path(folder) / name).stat().st_size / 1e6 for name in ("rows.csv", "rows.parquet")]
    drawn, text, packed = np.diff(times)
    print(f"{ROWS:,} rows of {len(KINDS)} columns: drawn in {drawn:.1f} s,", end=" ")
    print(f"CSV {text:.1f} s ({sizes[0]:.0f} MB), Parquet {packed:.2f} s ({sizes[1]:.0f} MB)")


def main(runs: int = 5) -> None:
    reports(runs)
    speed()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
