"""Mean squared errors against the formula: `python bench/local.py accuracy`, 200 runs of 1000 cells and 20,000 runs of means."""

from fractions import Fraction

import numpy as np

from discreet.local import HybridMean, MeanResponse, PiecewiseMean
from discreet.noise.source import chosen

from .local_people import CELLS, KINDS, people
from .table import Table

RUNS = 200
PEOPLE = {"k-ary": 20_000, "unary": 1_000, "hashing": 2_000, "hadamard": 20_000}
MEANS, MEAN_RUNS, MEAN_PEOPLE, BATCH = (MeanResponse, PiecewiseMean, HybridMean), 20_000, 1_000, 1_000


def main() -> None:
    frequencies()
    means()


def frequencies() -> None:
    rows = []
    for name, protocol in KINDS.items():
        n = PEOPLE[name]
        cells = people(n)
        true, p, q = np.bincount(cells, minlength=CELLS) / n, float(protocol.p), float(protocol.q)
        errors = []
        for _ in range(RUNS):
            support = protocol.support(protocol.accumulate(protocol.randomise(cells)), n)
            errors.append(float((((support / n - q) / (p - q) - true) ** 2).mean()))
        # The variance is linear in the share, and shares add up to 1.
        ratio = np.array(errors) / float(protocol.variance(1 / protocol.k, n))
        rows.append([name, f"{n:,}", f"{ratio.mean():.4f}", f"{ratio.std() / RUNS**0.5:.4f}"])
    print(
        Table(
            "Mean squared error to theory", f"{RUNS} runs; goal 0.97 to 1.03", ["", "people", "ratio", "±"], rows
        ).plain()
    )


def means() -> None:
    """The mean of 1000 numbers on the grid, which are skewed; each report is drawn as a client draws it."""
    rows = []
    places = (np.random.default_rng(3).beta(2, 5, MEAN_PEOPLE) * 1024).astype(np.int64)
    for kind in MEANS:
        for epsilon in ("0.5", "1", "4"):
            protocol = kind(0, 1, Fraction(epsilon))
            numbers = np.array([float(protocol.stands_for(code)) for code in range(protocol.codes)])
            found = []
            for _ in range(MEAN_RUNS // BATCH):
                reports = protocol._randomised(np.tile(places, BATCH), chosen(None))
                found += numbers[reports].reshape(BATCH, MEAN_PEOPLE).mean(axis=1).tolist()
            squares = (np.array(found) - places.mean() / 1024) ** 2
            said = sum(float(protocol.variance(protocol.point(int(each)))) for each in places) / MEAN_PEOPLE**2
            ratio = squares / said
            rows.append([protocol.name, epsilon, f"{ratio.mean():.4f}", f"{ratio.std() / MEAN_RUNS**0.5:.4f}"])
    text = f"{MEAN_RUNS:,} runs of {MEAN_PEOPLE:,} people; goal 0.97 to 1.03"
    print(Table("Mean squared error of means to theory", text, ["", "ε", "ratio", "±"], rows).plain())


if __name__ == "__main__":
    main()
