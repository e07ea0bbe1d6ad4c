"""Distributions of numbers: `python bench/local.py numbers`, the square wave beside histograms of cells that are told by other protocols.

Errors are of the share of people below each of 1024 edges: on average (the Wasserstein distance, in percent of the range) and at most
(the Kolmogorov–Smirnov distance). Histograms of 32 cells are spread evenly within each cell.
"""

from collections.abc import Callable

import numpy as np

from discreet.local import DistributionEstimate, KaryResponse, LocalHashing, SquareWave
from discreet.local.estimates import projected
from discreet.noise.source import chosen

from .table import Table

STEPS, COARSE, PEOPLE, RUNS, CONFIDENCE = 1024, 32, 100_000, 10, 0.95
EPSILONS = (1, 4)


def skewed(draw: np.random.Generator) -> np.ndarray:
    return draw.beta(5, 2, PEOPLE)


def two_humps(draw: np.random.Generator) -> np.ndarray:
    return np.where(draw.random(PEOPLE) < 0.6, draw.normal(0.3, 0.06, PEOPLE), draw.normal(0.75, 0.04, PEOPLE))


def incomes(draw: np.random.Generator) -> np.ndarray:
    return draw.lognormal(0, 0.7, PEOPLE) / 8


def spikes(draw: np.random.Generator) -> np.ndarray:
    return np.where(draw.random(PEOPLE) < 0.5, draw.choice([0.1, 0.25, 0.5], PEOPLE), draw.random(PEOPLE))


DATA: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    "skewed": skewed,
    "two humps": two_humps,
    "incomes": incomes,
    "spikes": spikes,
}
WAYS = ("smoothed", "likeliest", "hashing, 32", "k-ary, 32", "hashing, 1024")


def main() -> None:
    errors, intervals = [], []
    for epsilon in EPSILONS:
        for name, make in DATA.items():
            found = [run(epsilon, make(np.random.default_rng(each))) for each in range(RUNS)]
            means = np.mean([each[0] for each in found], axis=0)
            errors.append([f"{epsilon:g}", name, *(f"{100 * a:.2f} / {100 * b:.1f}" for a, b in means)])
            intervals.append(
                [f"{epsilon:g}", name, *(f"{each:.4f}" for each in np.mean([e[1] for e in found], axis=0))]
            )
    text = f"{PEOPLE:,} people, {RUNS} runs: Wasserstein / Kolmogorov–Smirnov distance in percent"
    print(Table("Errors of distributions", text, ["ε", "", *WAYS], errors).plain())
    head = ["ε", "", "edges missed", "± of intervals", "1.96 σ of values", "mean missed", "± of the mean"]
    print(Table("Intervals of shares below 1024 edges", f"at {CONFIDENCE:.0%}", head, intervals).plain())


def run(epsilon: float, numbers: np.ndarray) -> tuple[list[tuple[float, float]], list[float]]:
    """Both errors of each way, and how often intervals miss, with how wide they are."""
    values = np.clip(numbers, 0, 1)
    cells = np.minimum((values * STEPS).astype(np.int64), STEPS - 1)
    truth = np.cumsum(np.bincount(cells, minlength=STEPS)) / PEOPLE
    wave = SquareWave(0, 1, epsilon, STEPS)
    found = DistributionEstimate.of(wave, wave.accumulate(wave._randomised(cells, chosen(None))), CONFIDENCE)
    sums = [found.smoothed.cdf[1:], found.likeliest.cdf[1:]]
    for kind, k in ((LocalHashing, COARSE), (KaryResponse, COARSE), (LocalHashing, STEPS)):
        protocol = kind(k, epsilon)
        counts = protocol.support(protocol.accumulate(protocol.randomise(cells * k // STEPS)), PEOPLE)
        shares = (counts / PEOPLE - float(protocol.q)) / float(protocol.p - protocol.q)
        sums.append(np.cumsum(np.repeat(projected(shares) * k / STEPS, STEPS // k)))
    distances = [abs(each - truth) for each in sums]
    missed = float(((truth < found.low) | (truth > found.high)).mean())
    raw = float((1.96 * np.maximum(found.variances, 0) ** 0.5).mean())
    mean = values.mean()
    widths = [(found.high - found.low).mean() / 2, raw, not found.mean.low <= mean <= found.mean.high]
    return (
        [(float(each.mean()), float(each.max())) for each in distances],
        [missed, *map(float, widths), (found.mean.high - found.mean.low) / 2],
    )


if __name__ == "__main__":
    main()
