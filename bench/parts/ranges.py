"""The tables that settled how a range is found: which share of ε, how many people may be beyond an end, which ladder."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.plan.finding import FEW_BEYOND
from discreet.plan.ladder import signed
from discreet.plan.price import TOGETHER
from parts.limits import WEIGHT, Real
from parts.people import Generator, Whole
from parts.table import Table, figure

HEAD = """
Written by `bench/usefulness.py --simulate --markdown`, by NumPy's noise. One value a person; errors are against the values as they are,
cut and noise together. A search came from below for the upper end, since one that comes from far beyond all values has a chance to stop
too early at each rung. Half of ε was kept for ranges alone, since with a quarter those of 200 people are next to never found. 5/ε₁ was
kept: of it one search in about 17,000 runs to the end, and larger thresholds cut off more. A finer ladder has an error smaller by a tenth
to a sixth, and twice the conditions; powers of two are those of the survey.
"""
PEOPLE, PRICES = (200, 1_000, 4_000), (0.5, 1.0)
KEPT, SHARE = float(FEW_BEYOND), float(TOGETHER)


def _outliers(people: int, bits: Generator) -> Real:
    """Money: one in 500 has a hundred times as much, and more."""
    values = np.round(np.exp(bits.normal(4, 0.8, people)), 2)
    values[: max(1, people // 500)] = bits.uniform(1e5, 1e6, max(1, people // 500))
    return values


VALUES: dict[str, Callable[[int, Generator], Real]] = {
    "uniform, 0 … 100": lambda people, bits: bits.uniform(0, 100, people),
    "log-normal, σ = 1": lambda people, bits: np.exp(bits.normal(3, 1, people)),
    "log-normal, σ = 2": lambda people, bits: np.exp(bits.normal(3, 2, people)),
    "normal, of either sign": lambda people, bits: bits.normal(10, 50, people),
    "ages": lambda people, bits: np.clip(bits.normal(45, 15, people), 18, 95).round(),
    "all 37": lambda people, bits: np.full(people, 37.0),
    "money with outliers": _outliers,
}


def ladder(step: float = 2) -> Real:
    """The ladder of ranges, or a finer one with a rung in the middle of two."""
    rungs = np.array(signed(whole=False))
    if step == 2:
        return rungs
    return np.unique(np.concatenate([rungs, rungs[rungs > 2.0**-10] * 0.75, rungs[rungs < -(2.0**-10)] * 0.75]))


@dataclass(frozen=True)
class Rule:
    """How a range is found: the share of ε of both ends, how many people over the ε of one may be beyond it, and the ladder."""

    share: float = SHARE
    few: float = KEPT
    step: float = 2


@dataclass(frozen=True)
class Sample:
    """Values of people, one each."""

    values: Real

    @cached_property
    def ordered(self) -> Real:
        return np.sort(self.values)

    @cached_property
    def running(self) -> Real:
        return np.concatenate([[0.0], np.cumsum(self.ordered)])

    def clamped(self, low: Real, high: Real) -> Real:
        """The sum of all values within ranges."""
        first = np.searchsorted(self.ordered, low)
        last = np.maximum(first, np.searchsorted(self.ordered, high))
        return first * low + self.running[last] - self.running[first] + (len(self.values) - last) * high

    def errors(self, low: Real, high: Real, epsilon: float, bits: Generator) -> tuple[Real, Real]:
        """How far a sum and a mean within ranges are off those of the values as they are; a mean has half of ε for its count."""
        people, sums, half = len(self.values), self.clamped(low, high), (high - low) / 2
        noise = bits.laplace(0, 1, (3, len(low))) / epsilon
        middle = low + half
        centred = sums - middle * people + noise[1] * 2 * half
        mean = np.clip(middle + centred / np.maximum(people + 2 * noise[2], 1), low, high)
        size = np.maximum(abs(low), abs(high))
        return abs(sums + noise[0] * size - self.values.sum()), abs(mean - self.values.mean())

    def best(self, epsilon: float, bits: Generator, tries: int = 200) -> tuple[float, float]:
        """The least median errors of a sum and of a mean with a fixed range at the whole ε, chosen with knowledge."""
        rungs = ladder()
        rungs = rungs[((abs(rungs) >= 1) | (rungs == 0)) & (abs(rungs) <= 2.0**21)]
        low, high = np.array([(a, b) for i, a in enumerate(rungs) for b in rungs[i + 1 :]]).T
        drawn = [self.errors(low, high, epsilon, bits) for _ in range(tries)]
        of_sum, of_mean = (np.median([each[i] for each in drawn], axis=0).min() for i in range(2))
        return float(of_sum), float(of_mean)

    def found(self, epsilon: float, rule: Rule, runs: int, bits: Generator) -> tuple[Real, Real, float]:
        """Ends that are found, so often, and how often a search ran to the end of the ladder."""
        rungs, price = ladder(rule.step), epsilon * rule.share / 2
        above = len(self.values) - np.searchsorted(self.ordered, rungs[:-1], side="right")
        below = np.searchsorted(self.ordered, rungs[1:], side="left")[::-1]
        last = len(rungs) - 1
        high = _first(above, price, rule.few, runs, bits)
        low = last - _first(below, price, rule.few, runs, bits)
        ran = float(np.mean(np.concatenate([high == last, low == 0])))
        crossed, zero = low > high, int(np.flatnonzero(rungs == 0)[0])
        low, high = np.where(crossed, zero, low), np.where(crossed, zero, high)
        high = np.where(low == high, np.minimum(high + 1, last), high)
        return rungs[low], rungs[high], ran


def _first(counts: Whole, price: float, few: float, runs: int, bits: Generator) -> Whole:
    """The first rung whose noisy count is few at most, or the last one."""
    threshold = round(few / price) + bits.laplace(0, 1 / (WEIGHT * price), (runs, 1))
    hits = counts + bits.laplace(0, 1 / ((1 - WEIGHT) * price), (runs, len(counts))) <= threshold
    return np.where(hits.any(axis=1), hits.argmax(axis=1), len(counts))


def tables(runs: int, seed: int = 0) -> Iterator[Table]:
    """All of them; `runs` is how often each way of finding a range is tried on each of the made-up tables."""
    bits = np.random.default_rng(seed)
    samples = {(kind, people): Sample(VALUES[kind](people, bits)) for kind in VALUES for people in PEOPLE}
    best = {(*key, price): sample.best(price, bits) for key, sample in samples.items() for price in PRICES}
    yield _rules(samples, best, runs, bits)
    yield _kinds(samples, best, runs, bits)


Samples = dict[tuple[str, int], Sample]
Best = dict[tuple[str, int, float], tuple[float, float]]


def _rules(samples: Samples, best: Best, runs: int, bits: Generator) -> Table:
    rules = {
        f"{100 * share:g} %, {few:g}/ε₁{', finer' if step < 2 else ''}": Rule(share, few, step)
        for share, few, step in (
            (0.25, 2.5, 2),
            (0.25, 5, 2),
            (0.375, 5, 2),
            (0.5, 2.5, 2),
            (0.5, 5, 2),
            (0.5, 6, 2),
            (0.5, 8, 2),
            (0.5, 12, 2),
            (0.5, 5, 1.5),
        )
    }
    lines = []
    for name, rule in rules.items():
        cells, ran = [], []
        for people in PEOPLE:
            sums, means = [], []
            for kind in VALUES:
                for price in PRICES:
                    sample = samples[kind, people]
                    low, high, ends = sample.found(price, rule, runs, bits)
                    errors = sample.errors(low, high, price * (1 - rule.share), bits)
                    for found, least, kept in zip(errors, best[kind, people, price], (sums, means), strict=True):
                        kept.append(np.log(max(float(np.median(found)), 1e-9) / max(least, 1e-9)))
                    ran.append(ends)
            cells += [figure(float(np.exp(np.mean(each)))) for each in (sums, means)]
        lines.append([name, f"{1e4 * np.mean(ran):.2g}", *cells])
    head = ["share of ε, people beyond", "to the end, in 10,000"]
    head += [f"{what}, {people:,} people" for people in PEOPLE for what in ("SUM", "AVG")]
    text = "Median errors beside the best fixed range at the whole ε, on average over seven kinds of values and ε = 0.5 and 1."
    return Table("How a range is found", text, head, lines)


def _kinds(samples: Samples, best: Best, runs: int, bits: Generator) -> Table:
    lines = []
    for kind in VALUES:
        cells = []
        for people in PEOPLE:
            sample = samples[kind, people]
            low, high, _ = sample.found(1.0, Rule(), runs, bits)
            of_sum, of_mean = sample.errors(low, high, 1 - SHARE, bits)
            whole = (abs(sample.values).sum(), abs(sample.values).mean())
            cells += [
                f"{100 * np.median(each) / size:.2g} %" for each, size in zip((of_sum, of_mean), whole, strict=True)
            ]
            ends, often = np.unique(np.stack([low, high]), axis=1, return_counts=True)
            usual = ends[:, often.argmax()]
            cells.append(f"{usual[0]:g} … {usual[1]:,.0f}")
        lines.append([kind, *cells])
    head = ["values", *(f"{what}, {people:,}" for people in PEOPLE for what in ("SUM", "AVG", "usual range"))]
    text = "Median errors at ε = 1 as a part of the sum, or the mean, of all sizes; cut and noise together."
    return Table("What is found", text, head, lines)
