"""Sources that play a script, and a walk over all coin strings."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.audit.law import Bracket
from discreet.audit.tree import Coins, outcome_of
from discreet.audit.walk import walked
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


class Branch(Coins):
    """Coins that can also be asked to choose."""

    def choose(self, chances: Sequence[Fraction]) -> int:
        """One of alternatives of these probabilities, which may add up to less than 1."""
        return self.walk.choose("chances", [Bracket.of(chance) for chance in chances])


def walk_all(draw: Callable[[Any], Hashable], runs: int) -> tuple[dict[Hashable, Fraction], Fraction]:
    """Run `draw` on coin strings, likeliest first: exact probability reached for each result, and what is undecided.

    So for every result r: reached[r] <= P(r) <= reached[r] + undecided.
    """
    law = walked(lambda walk: outcome_of(draw(Branch(walk))), runs)
    return {outcome: each.low for outcome, each in law.chances.items()}, law.rest
