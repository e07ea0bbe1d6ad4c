"""Twins: one question on two neighbouring data sets, where the second run is handed what the first one released.

Noise makes two runs differ by chance, and hides what else differs. So outputs are replayed, not noise: on the neighbour each mechanism is
given the value that it released on the first data set. Then everything that an analyst can see must be equal, byte for byte, and what
the mechanisms were given may differ by no more than the sensitivity that they were made for. Whatever else depends on the data shows up
as a difference: a refusal, a price, a shape, a message. (The method is that of Re:cord-play, PETS 2026.)
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.mechanisms.additive import IntegerNoise, Ints
from discreet.mechanisms.measure import Grant
from discreet.mechanisms.selection import Selection
from discreet.mechanisms.sensitivity import Norm
from discreet.noise import Source
from discreet.privacy import events

__all__ = [
    "Drawn",
    "Recorder",
    "Replayer",
    "Seen",
    "differences",
]


@dataclass(frozen=True, slots=True)
class Drawn:
    """One use of a mechanism: what it was made for, what it was given, what it released."""

    mechanism: IntegerNoise | Selection
    sensitivity: Fraction
    exact: Ints
    released: Any


@dataclass
class Recorder:
    """Draws as a grant does, and remembers."""

    grant: Grant
    drawn: list[Drawn] = field(default_factory=list)

    @classmethod
    def of(cls, event: events.Event, source: Source | None = None) -> "Recorder":
        return cls(Grant(event, source))

    def prepare(self, mechanism: IntegerNoise, sensitivity: Any, size: int) -> Callable[[Ints], Ints]:
        add = self.grant.prepare(mechanism, sensitivity, size)

        def release(exact: Ints) -> Ints:
            released = add(exact)
            self.drawn.append(Drawn(mechanism, Fraction(sensitivity), exact.copy(), released))
            return released

        return release

    def __call__(self, mechanism: Selection, sensitivity: Any, exact: Callable[[], list[int]]) -> int:
        scores = exact()
        outcome = int(self.grant(mechanism, sensitivity, lambda: scores))
        self.drawn.append(Drawn(mechanism, Fraction(sensitivity), np.array(scores), outcome))
        return outcome

    def close(self) -> None:
        self.grant.close()


@dataclass
class Replayer:
    """Releases what was released before, and notes where it was given more than a neighbour may give."""

    record: list[Drawn]
    problems: list[str] = field(default_factory=list)
    used: int = 0

    def prepare(self, mechanism: IntegerNoise, sensitivity: Any, size: int) -> Callable[[Ints], Ints]:
        number = self.used
        self.used += 1

        def release(exact: Ints) -> Ints:
            before = self._before(number, mechanism, sensitivity, size, exact)
            return exact if before is None else before.released.copy()

        return release

    def __call__(self, mechanism: Selection, sensitivity: Any, exact: Callable[[], list[int]]) -> int:
        scores = np.array(exact())
        self.used += 1
        before = self._before(self.used - 1, mechanism, sensitivity, len(scores), scores)
        return 0 if before is None else int(before.released)

    def _before(
        self, number: int, mechanism: IntegerNoise | Selection, sensitivity: Any, size: int, exact: Ints
    ) -> Drawn | None:
        """The use of a mechanism that this one is the twin of; what tells them apart is noted."""
        if number >= len(self.record):
            self.problems.append("the neighbour draws more often")
            return None
        before = self.record[number]
        if (mechanism, Fraction(sensitivity), size) != (before.mechanism, before.sensitivity, len(before.exact)):
            self.problems.append("the neighbour has another mechanism, sensitivity or number of groups")
        else:
            self._compare(before, exact)
        return before

    def _compare(self, before: Drawn, exact: Ints) -> None:
        moved = [abs(int(x) - int(y)) for x, y in zip(before.exact, exact, strict=True)]
        if isinstance(before.mechanism, Selection):
            if max(moved) > before.sensitivity:
                self.problems.append(
                    f"a score differs by {max(moved)}, and the choice is made for {before.sensitivity}"
                )
            return
        far, squared = sum(moved), sum(d * d for d in moved)
        match before.mechanism.norm:
            case Norm.L1 if far > before.sensitivity:
                self.problems.append(f"totals differ by {far} in L1, and the noise is made for {before.sensitivity}")
            case Norm.L2 if squared > before.sensitivity**2:
                self.problems.append(
                    f"totals differ by √{squared} in L2, and the noise is made for {before.sensitivity}"
                )
            case None:
                self.problems.append("the noise is made for single integers, and serves a vector")

    def close(self) -> None:
        if self.used != len(self.record):
            self.problems.append("the neighbour draws another number of times")


@dataclass(frozen=True, slots=True)
class Seen:
    """Everything that can be seen of one run."""

    status: str  # "answer", or the name of an error
    body: str  # the answer's bytes, or the error's code, message and hint
    price: str
    log: tuple[str, ...]


def differences(first: Seen, second: Seen, replayer: Replayer) -> list[str]:
    """What tells the neighbours apart, in words; empty where nothing does."""
    found = list(replayer.problems)
    for name in ("status", "body", "price", "log"):
        if getattr(first, name) != getattr(second, name):
            found.append(f"{name} differs between neighbours")
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
