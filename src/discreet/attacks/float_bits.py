"""Floating-point bits: textbook Laplace noise in doubles tells by its last bits what it was added to.

Mironov 2012: −scale·ln(u) for a u of 53 random bits takes few of all doubles, and adding it to another number leaves other doubles. So
most outputs can come from one of two data sets only, whatever ε is. Noise on a public grid has no such bits: every multiple of the grid
can come from both.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fmod

import numpy as np

import discreet as dp
from discreet.attacks.game import Attack, Publication, exact, number_of_trials, private
from discreet.attacks.report import AttackReport, compare, percent
from discreet.exact import Number, positive

__all__ = [
    "FloatBits",
    "run",
]

QUESTION = "is the count 0 or 1, from the bits of one noisy answer?"
EPSILONS = (0.1, 1.0)
UNIT = 1 << 53
NEAR = 16  # neighbours of the uniform number that are tried, for the rounding on the way back


@dataclass(frozen=True, slots=True)
class FloatBits:
    """The secret is a count, 0 or 1, to which noise of this scale was added: textbook noise in doubles, or noise on a grid of this step."""

    scale: float
    step: float = 0.0

    @property
    def choices(self) -> int:
        """Two choices: 0, or 1."""
        return 2

    def world(self, secret: int) -> tuple[float, None]:
        """The count."""
        return float(secret), None

    def textbook(self, count: float) -> float:
        """The count plus ∓scale·ln(u), in doubles: do not use it."""
        u = np.float64(1 + dp.noise.uniform(UNIT)) / UNIT
        sign = 1.0 if dp.noise.bernoulli(0.5) else -1.0
        return float(count + sign * (-self.scale * np.log(u)))

    def possible(self, seen: float, count: float) -> bool:
        """Whether the count can give this output: any multiple of the grid, and else what some u near e^(−|seen − count|/scale) gives."""
        if self.step and fmod(seen, self.step) == 0:
            return True
        sign = 1.0 if seen >= count else -1.0
        middle = np.rint(np.exp(-abs(seen - count) / self.scale) * UNIT)
        near = np.clip(middle + np.arange(-NEAR, NEAR + 1), 1, UNIT) / UNIT
        return bool((count + sign * (-self.scale * np.log(near)) == seen).any())

    def reveals(self, seen: float) -> bool:
        """Whether one of the two counts is impossible, and the other is not."""
        return self.possible(seen, 0.0) != self.possible(seen, 1.0)

    def guess(self, seen: float, known: None = None) -> int:
        """The only possible count, or else the nearer one."""
        if self.reveals(seen):
            return int(self.possible(seen, 1.0))
        return int(seen > 0.5)

    def share(self, release: Publication, trials: int) -> float:
        """The share of outputs that reveal the count for certain."""
        return sum(self.reveals(release.publish(float(dp.noise.uniform(2)))) for _ in range(trials)) / trials


def run(epsilons: Sequence[Number] = EPSILONS, trials: int = 1_000) -> AttackReport:
    """The attack on a count of 0 or 1: textbook noise in doubles at each ε that it is said to have, and noise on a grid."""
    number = number_of_trials(trials)
    rounds: list[tuple[Attack, Publication]] = [(FloatBits(1.0), exact(lambda count: count))]
    notes = [""]
    for epsilon in epsilons:
        noise = dp.Laplace.for_epsilon(epsilon)
        price = positive(epsilon, "epsilon")
        textbook = FloatBits(float(1 / price))
        ours = FloatBits(float(1 / price), float(noise.grid.step))
        label = f"ε = {float(price):g}"
        for attack, release in (
            (textbook, Publication(f"textbook, said to be {label}", textbook.textbook, float(price))),
            (ours, private(lambda count: count, noise, noise.event(), name=f"on a grid, {label}")),
        ):
            rounds.append((attack, release))
            notes.append(f"{percent(attack.share(release, number))} of all outputs are possible for one count alone")
    return compare("float-bits", QUESTION, rounds, number, notes)


def __dir__() -> list[str]:
    return sorted(__all__)
