"""Reconstruction: from counts of enough random subsets everybody's secret bit can be computed, even if each count is a little off.

Dinur and Nissim 2003: noise of less than about √n on each of many counts hides nobody. The attack solves for all bits by least squares
and rounds. What protects is a budget: noise that grows with the number of counts, since they cost their sum.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import discreet as dp
from discreet.attacks.game import Attack, Publication, exact, private
from discreet.attacks.report import AttackReport, compare
from discreet.exact import Number, whole

__all__ = [
    "Reconstruction",
    "run",
]

QUESTION = "what is the secret bit of somebody, from 256 counts of random subsets of 64 people?"
EPSILONS = (1.0, 10.0, 100.0)
PEOPLE, COUNTS = 64, 256
OFF = 2  # by which a count is off where somebody takes a little noise for enough


def _subsets() -> NDArray[np.int64]:
    return dp.noise.uniform(2, (COUNTS, PEOPLE))


@dataclass(frozen=True, slots=True)
class Reconstruction:
    """Counts of subsets, a row for each with 1 for whoever is in it. The secret is the bit of somebody drawn at random."""

    subsets: NDArray[np.int64] = field(default_factory=_subsets)
    inverse: NDArray[np.float64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.subsets.ndim != 2 or not self.subsets.size or not np.isin(self.subsets, (0, 1)).all():
            raise dp.Invalid("subsets must be a table of zeros and ones, a row for each count")
        object.__setattr__(self, "inverse", np.linalg.pinv(self.subsets.astype(np.float64)))

    @property
    def choices(self) -> int:
        """Two choices: the bit is 1, or 0."""
        return 2

    @property
    def sensitivity(self) -> int:
        """The most subsets that anybody is in: so many counts change by one."""
        return max(1, int(self.subsets.sum(axis=0).max()))

    def world(self, secret: int) -> tuple[NDArray[np.int64], int]:
        """A bit for everybody, and who the target is."""
        people = int(self.subsets.shape[1])
        bits, target = dp.noise.uniform(2, people), dp.noise.uniform(people)
        bits[target] = secret
        return bits, target

    def query(self, bits: NDArray[np.int64]) -> NDArray[np.int64]:
        """The counts of all subsets."""
        return self.subsets @ bits

    def bits(self, seen: Any) -> NDArray[np.int64]:
        """Everybody's bit, as far as the counts tell: least squares, rounded."""
        return (self.inverse @ np.asarray(seen, np.float64) > 0.5).astype(np.int64)

    def guess(self, seen: Any, known: int) -> int:
        """The target's bit."""
        return int(self.bits(seen)[known])

    def releases(self, epsilon: Number) -> Publication:
        """All counts with geometric noise, at ε for all of them together."""
        noise = dp.Geometric.for_epsilon(epsilon, self.sensitivity)
        return private(self.query, noise, noise.event(self.sensitivity), name=f"ε = {float(epsilon):g}")

    def blurred(self, off: int = OFF) -> Publication:
        """Each count, off by a whole number up to `off` that is drawn uniformly: noise, and no promise."""
        width = 2 * whole(off, "off") + 1
        name = f"each count off by up to {off}"
        return exact(lambda bits: self.query(bits) + dp.noise.uniform(width, len(self.subsets)) - off, name)


def run(epsilons: Sequence[Number] = EPSILONS, trials: int = 500) -> AttackReport:
    """The attack on 64 made-up people: exact counts, counts with a little noise, and noise for each total ε."""
    attack = Reconstruction()
    rounds: list[tuple[Attack, Publication]] = [(attack, exact(attack.query)), (attack, attack.blurred())]
    rounds += [(attack, attack.releases(epsilon)) for epsilon in epsilons]
    return compare("reconstruction", QUESTION, rounds, trials)


def __dir__() -> list[str]:
    return sorted(__all__)
