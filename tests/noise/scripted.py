"""Sources that play a script, and a walk over all coin strings."""

import heapq
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.noise import Tape


@dataclass
class Scripted:
    """Hands out the given arrays for `fill`, one a call, and the given integers for `bits`; then reads a Tape."""

    fills: list[NDArray[Any]] = field(default_factory=list)
    integers: list[int] = field(default_factory=list)
    after: Tape = field(default_factory=lambda: Tape(0))
    stock: dict[Hashable, Any] = field(default_factory=dict)
    private: bool = False

    def fill(self, out: NDArray[np.uint8]) -> None:
        if not self.fills:
            return self.after.fill(out)
        out[:] = self.fills.pop(0).view(np.uint8)

    def bits(self, count: int) -> int:
        return self.integers.pop(0) & ((1 << count) - 1) if self.integers else self.after.bits(count)


class NeedsMore(Exception):
    """A draw asks for one more choice, among alternatives of these probabilities (they may add up to less than 1)."""

    def __init__(self, chances: Sequence[Fraction]) -> None:
        super().__init__()
        self.chances = chances


class Branch:
    """Answers by a list of choices, and asks for one more when the list is used up."""

    def __init__(self, choices: tuple[int, ...]) -> None:
        self.choices = list(choices)

    def bits(self, count: int) -> int:
        return self.choose([Fraction(1, 1 << count)] * (1 << count)) if count else 0

    def choose(self, chances: Sequence[Fraction]) -> int:
        if not self.choices:
            raise NeedsMore(chances)
        return self.choices.pop(0)


def walk_all(draw: Callable[[Any], Hashable], runs: int) -> tuple[dict[Hashable, Fraction], Fraction]:
    """Run `draw` on coin strings, likeliest first: exact probability reached for each result, and what is undecided.

    So for every result r: reached[r] <= P(r) <= reached[r] + undecided.
    """
    reached: dict[Hashable, Fraction] = {}
    open_: list[tuple[Fraction, tuple[int, ...]]] = [(Fraction(-1), ())]
    for _ in range(runs):
        if not open_:
            break
        mass, choices = heapq.heappop(open_)
        try:
            result = draw(Branch(choices))
        except NeedsMore as need:
            for choice, chance in enumerate(need.chances):
                heapq.heappush(open_, (mass * chance, (*choices, choice)))
        else:
            reached[result] = reached.get(result, Fraction(0)) - mass
    return reached, 1 - sum(reached.values(), Fraction(0))
