"""Mean squared errors against the formula: `python bench/local.py accuracy`, 200 runs of 1000 cells and 20,000 runs of means.

Of rounds of a series it is one round, whose permanent answers are drawn anew in each run.
"""

from fractions import Fraction

import numpy as np

from discreet.local import HybridMean, MeanResponse, MemoHashing, MemoKary, PiecewiseMean, SquareWave
from discreet.local.distribution import Sides
from discreet.local.frequency_protocol import FrequencyProtocol
from discreet.local.memoised import Memoised
from discreet.local.number_protocol import NumberProtocol
from discreet.noise.source import chosen

from .local_people import CELLS, KINDS, people
from .table import Table

RUNS = 200
MEMOS: tuple[FrequencyProtocol, ...] = (MemoKary(CELLS, 1, first=0.5), MemoHashing(CELLS, 1, first=0.5))
FREQUENCIES = KINDS | {each.name: each for each in MEMOS}
PEOPLE = {
    "k-ary": 20_000,
    "unary": 1_000,
    "hashing": 2_000,
    "hadamard": 20_000,
    "memo-k-ary": 4_000,
    "memo-hashing": 1_000,
}
MEANS = (MeanResponse, PiecewiseMean, HybridMean, SquareWave)
MEAN_RUNS, MEAN_PEOPLE, BATCH = 20_000, 1_000, 1_000
STEPS, SHARED = 1024, 2_000  # cells of a square wave, and people whose shares up to each edge are estimated


def main() -> None:
    frequencies()
    distributions()
    means()


def frequencies() -> None:
    rows = []
    for name, protocol in FREQUENCIES.items():
        n = PEOPLE[name]
        cells = people(n)
        true, p, q = np.bincount(cells, minlength=CELLS) / n, float(protocol.p), float(protocol.q)
        errors = []
        for _ in range(RUNS):
            support = protocol.support(protocol.accumulate(told(protocol, cells)), n)
            errors.append(float((((support / n - q) / (p - q) - true) ** 2).mean()))
        # The variance is linear in the share, and shares add up to 1.
        ratio = np.array(errors) / float(protocol.variance(1 / protocol.k, n))
        rows.append([name, f"{n:,}", f"{ratio.mean():.4f}", f"{ratio.std() / RUNS**0.5:.4f}"])
    print(
        Table(
            "Mean squared error to theory", f"{RUNS} runs; goal 0.97 to 1.03", ["", "people", "ratio", "±"], rows
        ).plain()
    )


def told(protocol: FrequencyProtocol, cells: np.ndarray) -> np.ndarray:
    """A report of each person."""
    if isinstance(protocol, Memoised):
        return np.asarray(protocol.again(np.array([protocol.lasting(int(cell)) for cell in cells])))
    return np.asarray(protocol.randomise(cells))


def distributions() -> None:
    """Shares of people up to each edge of a square wave; those of neighbours are alike, so that runs differ more."""
    rows = []
    places = (np.random.default_rng(3).beta(2, 5, SHARED) * STEPS).astype(np.int64)
    true = np.cumsum(np.bincount(places, minlength=STEPS)) / SHARED
    for epsilon in ("0.5", "1", "4"):
        protocol = SquareWave(0, 1, Fraction(epsilon), STEPS)
        said = np.mean(
            [float(protocol.variance(cell, Fraction(float(share)), SHARED)) for cell, share in enumerate(true)]
        )
        errors = []
        for _ in range(RUNS):
            totals = protocol.accumulate(protocol._randomised(places, chosen(None)))
            errors.append(float(((Sides.of(protocol, totals).values - true) ** 2).mean()))
        ratio = np.array(errors) / said
        rows.append([epsilon, f"{ratio.mean():.4f}", f"{ratio.std() / RUNS**0.5:.4f}"])
    text = f"{RUNS} runs of {SHARED:,} people and {STEPS} edges; goal 0.97 to 1.03"
    print(Table("Mean squared error of a square wave to theory", text, ["ε", "ratio", "±"], rows).plain())


def variance(protocol: NumberProtocol, place: int) -> float:
    """That of what the report of a place stands for."""
    if isinstance(protocol, SquareWave):
        away = place - Fraction(protocol.steps - 1, 2)
        return float(protocol.step**2 * (protocol.window.moment(place) - away**2))
    return float(protocol.variance(protocol.point(place)))


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
            squares = (np.array(found) - np.mean([float(protocol.point(int(each))) for each in places])) ** 2
            said = sum(variance(protocol, int(each)) for each in places) / MEAN_PEOPLE**2
            ratio = squares / said
            rows.append([protocol.name, epsilon, f"{ratio.mean():.4f}", f"{ratio.std() / MEAN_RUNS**0.5:.4f}"])
    text = f"{MEAN_RUNS:,} runs of {MEAN_PEOPLE:,} people; goal 0.97 to 1.03"
    print(Table("Mean squared error of means to theory", text, ["", "ε", "ratio", "±"], rows).plain())


if __name__ == "__main__":
    main()
