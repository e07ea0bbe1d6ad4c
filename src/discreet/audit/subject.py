"""A subject of an audit: something with a claim, on neighbours; and what was drawn of two runs, as a mechanism to try."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.audit.neighbours import Pair
from discreet.audit.sampling import LowerBound, Progress, lower_bound
from discreet.audit.twins.report import Report
from discreet.mechanisms.above_threshold import AboveThreshold
from discreet.mechanisms.additive import IntegerNoise
from discreet.mechanisms.base import Mechanism
from discreet.mechanisms.keys import KeysByName

# A sound subject fails this often at most.
FALSE_ALARM = 1e-6
# What a release is asked for.
PRICE = 1


@dataclass(frozen=True, slots=True)
class Finding:
    """What an audit of one subject found. It tells of made-up data only."""

    part: str
    name: str
    epsilon: float
    delta: float
    bound: LowerBound
    differences: tuple[str, ...] = ()

    @property
    def fails(self) -> bool:
        """Whether the claim was shown not to hold."""
        return bool(self.differences) or self.bound > self.epsilon

    @property
    def verdict(self) -> str:
        """In words: what was shown, or that nothing was."""
        if self.differences:
            return f"FAILS: {self.differences[0]}"
        if self.fails:
            return f"FAILS: {self.bound.event}, {self.bound.hits:,} and {self.bound.misses:,} times"
        return "holds out"

    def as_data(self) -> dict[str, Any]:
        """The finding as JSON can hold it."""
        return {
            "part": self.part,
            "name": self.name,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "certified": float(self.bound),
            "samples": self.bound.samples,
            "fails": self.fails,
            "verdict": self.verdict,
        }


@dataclass(frozen=True, slots=True)
class Subject:
    """Something with a claim, on neighbours; what twins have told apart on them already counts against it."""

    part: str
    kind: str  # the class of a mechanism, the SQL function of a release
    name: str
    epsilon: float
    delta: float
    mechanism: Callable[..., Any]
    neighbours: tuple[Pair, ...]
    many: bool = False
    differences: tuple[str, ...] = ()

    def audit(
        self, samples: int = 10_000, *, seconds: float | None = None, progress: Progress | None = None
    ) -> Finding:
        """Try the claim with so many outputs a side, for so long."""
        bound = lower_bound(
            self.mechanism,
            neighbours=self.neighbours,
            delta=self.delta,
            samples=samples,
            confidence=1 - FALSE_ALARM,
            seconds=seconds,
            many=self.many,
            progress=progress,
        )
        return Finding(self.part, self.name, self.epsilon, self.delta, bound, self.differences)


@dataclass(frozen=True, slots=True)
class FlatKeys:
    """A rule for keys, whose mask and counts are one list of numbers."""

    mechanism: Mechanism

    def __call__(self, exact: Any) -> list[int]:
        kept = self.mechanism(exact)
        return [*kept.counts.tolist(), *map(int, kept.mask.tolist())]


def given_in(report: Report) -> Pair:
    """What each mechanism of a question was given, on one side and on the other."""
    inputs = [_unnamed(*each) for each in report.inputs]
    return tuple((kind, first) for kind, first, _ in inputs), tuple((kind, second) for kind, _, second in inputs)


def _unnamed(kind: Any, first: Any, second: Any) -> tuple[Any, Any, Any]:
    """A rule on counts by name as one on two lists of counts, of the names that either side has."""
    if not isinstance(kind, KeysByName):
        return kind, first, second
    names = sorted({*first, *second})
    counts, others = ([each.get(name, 0) for name in names] for each in (first, second))
    return FlatKeys(kind.rule), counts, others


def noisy(given: Sequence[tuple[Mechanism, Any]], size: int) -> Any:
    """What mechanisms release of what they were given, many times over: one row of numbers for each time."""
    columns = list(_columns(given, size))
    if not columns:
        return [()] * size
    table = np.concatenate(columns, axis=1)
    return table[:, 0] if table.shape[1] == 1 else table.tolist()


def _columns(given: Sequence[tuple[Mechanism, Any]], size: int) -> Iterator[Any]:
    for mechanism, value in given:
        if isinstance(mechanism, IntegerNoise):
            yield mechanism(np.tile(np.atleast_1d(value), (size, 1)))
        elif isinstance(mechanism, AboveThreshold):
            yield np.array([_padded(mechanism(value), len(value)) for _ in range(size)])
        else:
            yield np.array([np.ravel(mechanism(value)) for _ in range(size)])


def _padded(answers: Any, size: int) -> list[int]:
    """Answers of a search, which ends with its last hit: as many as there are scores, where -1 is none."""
    return [*map(int, answers), *[-1] * (size - len(answers))]
