"""An event that tells two neighbours apart, chosen from outputs that are not counted afterwards.

For each feature of the outputs the candidates are thresholds, from above and from below, and sets of values or of bins in the order of how
much likelier they look on one side. The candidate is taken whose bound is predicted to be the largest at the size of the test, after some
standard errors of the test and of the choice itself were taken off: without that, the rarest event always looks best. Tried at 1e6
outputs a side, a fifth of them to choose, 14 runs each, least and median bound:

    standard errors (test, choice)   Laplace, ε = 1   Gaussian, ε = 1, δ = 1e-5
    1.7, 1.5                         0.870, 0.993     0.66, 0.80
    1.7, 2.5                         0.855, 0.995     0.70, 0.73
    2.5, 1.5                         0.894, 0.991     0.60, 0.75
    2.5, 2.0                         0.973, 0.992     0.71, 0.80
    2.5, 2.5                         0.989, 0.993     0.65, 0.73
    3.5, 2.0                         0.980, 0.994     0.68, 0.74
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.audit.features import Feature, Outputs, features_of

Reals: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]

# Standard errors taken off a predicted bound: for the test that follows, and for the choice.
OF_TEST, OF_CHOICE = 2.5, 2.0
# Thresholds that are tried for each feature, evenly in rank and evenly in the logarithm of the rank from each end.
THRESHOLDS = 400
# Distinct values up to which each is a cell of its own, and bins of equal share beyond.
MOST_CELLS = 2_000
BINS = 200


@dataclass(frozen=True, slots=True)
class Above:
    """A feature is at least, or at most, so large."""

    threshold: float
    below: bool = False

    def holds(self, values: NDArray[Any]) -> Mask:
        with np.errstate(invalid="ignore"):
            answer: Mask = values <= self.threshold if self.below else values >= self.threshold
        return answer

    def __str__(self) -> str:
        return f"{'≤' if self.below else '≥'} {self.threshold:.6g}"


@dataclass(frozen=True, slots=True)
class Among:
    """A feature has one of these values."""

    values: tuple[Any, ...]

    def holds(self, values: NDArray[Any]) -> Mask:
        if values.dtype == object:
            chosen = frozenset(self.values)
            return np.fromiter((each in chosen for each in values), np.bool_, len(values))
        return np.isin(values, np.array(self.values, np.float64))

    def __str__(self) -> str:
        shown = [each if isinstance(each, str) else f"{each:g}" for each in self.values[:4]]
        return f"is one of {', '.join(shown)}{f' and {len(self.values) - 4} more' if len(self.values) > 4 else ''}"


@dataclass(frozen=True, slots=True)
class Within:
    """A feature lies in some of the bins between edges; what is below the first edge is the first bin."""

    edges: tuple[float, ...]
    chosen: tuple[int, ...]

    def holds(self, values: NDArray[Any]) -> Mask:
        answer: Mask = np.isin(np.searchsorted(np.array(self.edges), values, side="right"), self.chosen) & ~np.isnan(
            values
        )
        return answer

    def __str__(self) -> str:
        return f"lies in {len(self.chosen)} of {len(self.edges) + 1} intervals"


@dataclass(frozen=True, slots=True)
class NoNumber:
    """A feature is not there: the output is no number."""

    def holds(self, values: NDArray[Any]) -> Mask:
        answer: Mask = np.isnan(values)
        return answer

    def __str__(self) -> str:
        return "is no number"


Test: TypeAlias = Above | Among | Within | NoNumber


@dataclass(frozen=True, slots=True)
class Distinguisher:
    """An event, and on which neighbour it is the likelier one."""

    feature: Feature
    test: Test
    swapped: bool = False

    def hits(self, outputs: Outputs) -> int:
        """How many of these outputs lie in the event."""
        return int(self.test.holds(self.feature(outputs)).sum())

    def __str__(self) -> str:
        return f"the {self.feature.name} {self.test}"


@dataclass(frozen=True, slots=True)
class _Scores:
    """Predicted bounds of candidates, by the counts of each among the outputs that choose."""

    outputs: int
    size: int
    delta: float

    def __call__(self, hits: Reals, misses: Reals) -> Reals:
        """The bound at a test of `size` outputs a side, less the standard errors of test and choice."""
        likely, rare = (hits + 0.5) / (self.outputs + 1), (misses + 0.5) / (self.outputs + 1)
        gain = np.maximum(likely - 1.5 * self.delta, 1e-300)
        test = np.sqrt(1 / (self.size * likely) + 1 / (self.size * rare))
        choice = np.sqrt(1 / (hits + 1) + 1 / (misses + 1))
        score: Reals = np.log(gain / rare) - OF_TEST * test - OF_CHOICE * choice
        return score


def choose(first: Outputs, second: Outputs, *, size: int, delta: float) -> Distinguisher:
    """The event with the best predicted bound at a test of `size` outputs a side, by as many outputs on each neighbour."""
    scores = _Scores(len(first), size, delta)
    candidates = [
        (score, Distinguisher(feature, test, swapped))
        for feature in features_of(first)
        for score, test, swapped in _candidates(_Column(feature(first)), _Column(feature(second)), scores)
    ]
    return max(candidates, key=lambda candidate: candidate[0])[1]


class _Column:
    """One feature of the outputs on one neighbour, in order and not."""

    def __init__(self, values: NDArray[Any]) -> None:
        self.numeric = values.dtype != object
        self.values = values[~np.isnan(values)] if self.numeric else values
        self.missing = len(values) - len(self.values)
        self.sorted = np.sort(self.values)

    def counts(self, thresholds: Reals, *, below: bool) -> Reals:
        """How many values are at least, or at most, as large as each threshold."""
        if below:
            return np.searchsorted(self.sorted, thresholds, side="right").astype(np.float64)
        return (len(self.sorted) - np.searchsorted(self.sorted, thresholds)).astype(np.float64)


def _candidates(first: _Column, second: _Column, scores: _Scores) -> Iterator[tuple[float, Test, bool]]:
    for swapped in (False, True):
        likely, rare = (second, first) if swapped else (first, second)
        if first.numeric:
            yield float(scores(np.array([likely.missing]), np.array([rare.missing]))[0]), NoNumber(), swapped
        if len(likely.values) and len(rare.values):
            if first.numeric:
                yield *_threshold(likely, rare, scores, below=False), swapped
                yield *_threshold(likely, rare, scores, below=True), swapped
            yield *_cells(likely, rare, scores), swapped


def _threshold(likely: _Column, rare: _Column, scores: _Scores, *, below: bool) -> tuple[float, Above]:
    thresholds = np.concatenate([_quantiles(likely.sorted, below), _quantiles(rare.sorted, below)])
    predicted = scores(likely.counts(thresholds, below=below), rare.counts(thresholds, below=below))
    at = int(np.argmax(predicted))
    return float(predicted[at]), Above(float(thresholds[at]), below)


def _quantiles(values: Reals, below: bool) -> Reals:
    """Some of the values, evenly in rank and evenly in the logarithm of the rank from the end that is looked at."""
    from_end = np.geomspace(1, len(values), THRESHOLDS).astype(np.int64)
    evenly = np.linspace(0, len(values) - 1, THRESHOLDS).astype(np.int64)
    chosen: Reals = values[np.concatenate([evenly, from_end - 1 if below else len(values) - from_end])]
    return chosen


def _cells(likely: _Column, rare: _Column, scores: _Scores) -> tuple[float, Among | Within]:
    """The best set of values, or of bins: ordered by one half of the outputs, and cut by what the other half says."""
    values = np.unique(np.concatenate([_distinct(likely.sorted), _distinct(rare.sorted)]))
    edges = () if len(values) <= MOST_CELLS or not likely.numeric else _edges(likely.sorted, rare.sorted)
    halves = [each for start in (0, 1) for each in (likely.values[start::2], rare.values[start::2])]
    places = [
        np.searchsorted(np.array(edges), each, side="right") if edges else np.searchsorted(values, each)
        for each in halves
    ]
    count = len(edges) + 1 if edges else len(values)
    order_hits, order_misses, hits, misses = (np.bincount(each, minlength=count).astype(np.float64) for each in places)
    order = np.argsort(np.log(order_misses + 0.5) - np.log(order_hits + 0.5), kind="stable")
    predicted = replace(scores, outputs=scores.outputs // 2)(np.cumsum(hits[order]), np.cumsum(misses[order]))
    # what the first half did not see to be likelier says nothing of outputs to come, such as texts that are never the same twice
    likelier = max(1, int((order_hits > order_misses).sum()))
    at = int(np.argmax(predicted[:likelier]))
    chosen = np.sort(order[: at + 1])
    if edges:
        return float(predicted[at]), Within(edges, tuple(int(each) for each in chosen))
    return float(predicted[at]), Among(tuple(values[chosen]))


def _distinct(values: NDArray[Any]) -> NDArray[Any]:
    """The distinct ones of sorted values."""
    if not len(values):
        return values
    distinct: NDArray[Any] = values[np.concatenate([[True], values[1:] != values[:-1]])]
    return distinct


def _edges(first: Reals, second: Reals) -> tuple[float, ...]:
    """Edges of bins that hold about as many of these sorted values each."""
    places = [each[np.linspace(0, len(each) - 1, BINS // 2 + 1).astype(np.int64)[1:-1]] for each in (first, second)]
    return tuple(float(edge) for edge in np.unique(np.concatenate(places)))
