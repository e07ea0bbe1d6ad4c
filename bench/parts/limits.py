"""Limits on the rows of a person: what each cuts off, what noise it needs, and how the sparse-vector test finds one. NumPy noise, for
simulation alone: nothing here is private.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import ceil, erf, exp, pi, sqrt
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from discreet.plan.finding import FEW
from discreet.plan.steps.search import SHARE
from parts.people import Generator, Whole

Real = npt.NDArray[np.float64]
TOP = 2**20
WEIGHT = float(SHARE)  # of the share that finds a limit, for the noise of the threshold
_erf = np.vectorize(erf, otypes=[float])


@lru_cache
def ladder(step: float = 1.25, top: int = TOP) -> Whole:
    """The public rungs: 1, 2, 3, …, each larger than the last by this factor, and by 1 at least."""
    rungs = [1]
    while rungs[-1] < top:
        rungs.append(min(top, max(rungs[-1] + 1, ceil(rungs[-1] * step))))
    return np.array(rungs)


@lru_cache
def gaussian_scale(epsilon: float, delta: float) -> float:
    """The least σ of Gaussian noise for sensitivity 1 (Balle and Wang 2018, theorem 8), by bisection."""
    below = NormalDist().cdf
    low, high = 1e-3, 1e4
    for _ in range(100):
        sigma = sqrt(low * high)
        spent = below(1 / (2 * sigma) - epsilon * sigma) - exp(epsilon) * below(-1 / (2 * sigma) - epsilon * sigma)
        low, high = (sigma, high) if spent > delta else (low, sigma)
    return high


def laplace_error(bias: Real, scale: float) -> float:
    """The mean over groups of E|bias + noise|."""
    size = np.abs(bias)
    return float((size + scale * np.exp(-size / scale)).mean())


def gaussian_error(bias: Real, sigma: float) -> float:
    """The mean over groups of E|bias + noise|."""
    size = np.abs(bias)
    return float(
        (sigma * sqrt(2 / pi) * np.exp(-((size / sigma) ** 2) / 2) + size * _erf(size / sigma / sqrt(2))).mean()
    )


def median_errors(bias: Real, scales: Real) -> Real:
    """The median of |bias + noise| for each of these biases and scales of Laplace noise."""
    levels = (np.arange(999) + 0.5) / 999
    noise = np.where(levels < 0.5, np.log(2 * levels), -np.log(2 * (1 - levels)))
    return np.asarray(np.median(np.abs(bias[:, None] + scales[:, None] * noise), axis=1), float)


def first_below(
    beyond: Whole, share: float, threshold: float, runs: int, bits: Generator, weight: float = WEIGHT
) -> Whole:
    """In each run the place of the first rung with so few people beyond it that the test passes; the last if none does.

    The threshold is in people; its noise takes `weight` of the share, and that of the counts the rest.
    """
    levels = threshold + bits.laplace(0, 1 / (weight * share), (runs, 1))
    passed = beyond + bits.laplace(0, 1 / ((1 - weight) * share), (runs, len(beyond))) <= levels
    return np.where(passed.any(axis=1), passed.argmax(axis=1), len(beyond) - 1)


@dataclass(frozen=True)
class Rule:
    """How ε is shared between finding a limit, the two counts and the answer; and when a rung is high enough."""

    finding: float = 0.25
    counts: float = 0.1
    constant: float = float(FEW)  # over the share that finds the limit
    by_groups: float = 0.25  # this many groups over the share of the answer, if that is more
    step: float = 1.25
    weight: float = WEIGHT

    def answer(self, epsilon: float) -> float:
        return epsilon * (1 - self.finding - self.counts)

    def threshold(self, epsilon: float, groups: int, part: float = 1.0) -> float:
        return max(self.constant / (self.finding * part * epsilon), self.by_groups * groups / self.answer(epsilon))


@dataclass(frozen=True)
class Totals:
    """An ungrouped question: the rows of each person, and what each adds to the answer (their rows, or a sum of values)."""

    rows: Whole
    values: Real

    def cut(self, rungs: Whole) -> Real:
        """What a limit at each rung takes away: a person with n > C rows counts as C/n of each."""
        return np.array([float((self.values * np.maximum(0, 1 - rung / self.rows)).sum()) for rung in rungs])

    def best(self, epsilon: float) -> float:
        """The least median error of a fixed limit at the whole ε, chosen with knowledge of the data."""
        rungs = ladder(1.05)
        rungs = rungs[: np.searchsorted(rungs, self.rows.max()) + 1]
        return float(median_errors(self.cut(rungs), rungs / epsilon).min())

    def _places(self, rungs: Whole, epsilon: float, rule: Rule, runs: int, bits: Generator) -> Whole:
        """The place of the limit that is found, in each run."""
        beyond = np.array([int((self.rows > rung).sum()) for rung in rungs])
        return first_below(beyond, rule.finding * epsilon, rule.threshold(epsilon, 1), runs, bits, rule.weight)

    def found(self, epsilon: float, rule: Rule, runs: int, bits: Generator) -> float:
        """The median error where the limit is found and paid for by the rule."""
        rungs = ladder(rule.step)
        at = self._places(rungs, epsilon, rule, runs, bits)
        noise = bits.laplace(0, rungs[at] / rule.answer(epsilon))
        return float(np.median(np.abs(noise - self.cut(rungs)[at])))

    def too_far(self, epsilon: float, rule: Rule, runs: int, bits: Generator) -> float:
        """How often the limit that is found is more than eight times what anybody has."""
        rungs = ladder(rule.step)
        at = self._places(rungs, epsilon, rule, runs, bits)
        return float((rungs[at] > 8 * self.rows.max()).mean())


@dataclass(frozen=True)
class Grouped:
    """A count by groups: the rows of each person in each group. Errors are means over the groups."""

    rows: Whole
    step: float = 1.25  # of the ladder of r

    @cached_property
    def totals(self) -> Whole:
        rungs = ladder()
        return rungs[: np.searchsorted(rungs, self.rows.sum(axis=1).max()) + 8]

    @cached_property
    def caps(self) -> Whole:
        """The rungs of r; the last is beyond all rows, and means that r is not limited."""
        rungs = ladder(self.step)
        return np.append(rungs[: np.searchsorted(rungs, self.rows.max()) + 4], TOP)

    @cached_property
    def _kept(self) -> dict[int, tuple[Real, Real]]:
        """For each r: the kept rows of each person, and their sums."""
        kept = (np.minimum(self.rows, cap).astype(float) for cap in self.caps)
        return {i: (rows, rows.sum(axis=1)) for i, rows in enumerate(kept)}

    @cached_property
    def _cuts(self) -> dict[tuple[int, int], Real]:
        return {}

    def cut(self, cap: int, total: int) -> Real:
        """What is missing in each group, for places on the two ladders."""
        if (cap, total) not in self._cuts:
            rows, sums = self._kept[cap]
            factor = np.minimum(1, self.totals[total] / np.maximum(sums, 1))
            self._cuts[cap, total] = self.rows.sum(axis=0) - factor @ rows
        return self._cuts[cap, total]

    def beyond(self, cap: int) -> Whole:
        return np.array([int((self._kept[cap][1] > total).sum()) for total in self.totals])

    def geometric(self, cap: int, total: int, epsilon: float) -> float:
        return laplace_error(self.cut(cap, total), self.totals[total] / epsilon)

    def gaussian(self, cap: int, total: int, sigma: float) -> float:
        most = self.totals[total]
        return gaussian_error(self.cut(cap, total), sigma * sqrt(min(self.caps[cap], most) * most))

    def best(self, epsilon: float) -> float:
        """The least error of geometric noise with a fixed C at the whole ε, chosen with knowledge."""
        return min(self.geometric(len(self.caps) - 1, total, epsilon) for total in range(len(self.totals)))

    def found_total(self, epsilon: float, rule: Rule, runs: int, bits: Generator) -> float:
        """The median error of geometric noise where C is found."""
        last, groups = len(self.caps) - 1, self.rows.shape[1]
        share, threshold = rule.finding * epsilon, rule.threshold(epsilon, groups)
        at = first_below(self.beyond(last), share, threshold, runs, bits)
        return _median(self.geometric(last, int(total), rule.answer(epsilon)) for total in at)

    def found_pairs(
        self, epsilon: float, rule: Rule, part: float, runs: int, bits: Generator
    ) -> Iterable[tuple[int, int]]:
        """Places of (r, C) in each run: r by a part of what finds limits, then C over the rows that r leaves."""
        share, groups = rule.finding * epsilon, self.rows.shape[1]
        over = np.array([int((self.rows.max(axis=1) > cap).sum()) for cap in self.caps])
        caps = first_below(over, share * part, rule.constant / (share * part), runs, bits)
        beyond = {int(cap): self.beyond(int(cap)) for cap in set(caps)}
        threshold = rule.threshold(epsilon, groups, 1 - part)
        for cap in map(int, caps):
            yield cap, int(first_below(beyond[cap], share * (1 - part), threshold, 1, bits)[0])

    def found_both(self, epsilon: float, delta: float, rule: Rule, part: float, runs: int, bits: Generator) -> float:
        """The median error of Gaussian noise where r and C are found."""
        sigma = gaussian_scale(rule.answer(epsilon), delta)
        pairs = self.found_pairs(epsilon, rule, part, runs, bits)
        return _median(self.gaussian(cap, total, sigma) for cap, total in pairs)

    def chosen_after(self, epsilon: float, delta: float, rule: Rule, part: float, runs: int, bits: Generator) -> float:
        """The median error where r and C are found, and the noise that promises less is taken then."""
        rest = rule.answer(epsilon)
        sigma = gaussian_scale(rest, delta)

        def error(cap: int, total: int) -> float:
            r, most = min(self.caps[cap], self.totals[total]), self.totals[total]
            if sigma * sqrt(2 / pi) * sqrt(r * most) < most / rest:
                return self.gaussian(cap, total, sigma)
            return self.geometric(cap, total, rest)

        return _median(error(*pair) for pair in self.found_pairs(epsilon, rule, part, runs, bits))


def _median(errors: Iterable[float]) -> float:
    return float(np.median(list(errors)))
