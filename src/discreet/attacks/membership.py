"""Membership inference: was this record among those that a release was made from?

Against means of many attributes it is tracing (Homer and others 2008; Dwork, Smith, Steinke, Ullman and Vadhan 2015): whoever was in
the data pulls each mean a little towards them, and over thousands of attributes that adds up. The same attack is played against a model
that was trained on the data: `Membership` takes any score of a record by what was released.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

import discreet as dp
from discreet.attacks.game import Publication, exact, private
from discreet.attacks.report import AttackReport, compare
from discreet.exact import Number, whole

__all__ = [
    "Means",
    "Membership",
    "run",
]

QUESTION = "was she among the 20 people whose 1,024 means were published?"
EPSILONS = (1.0, 4.0, 16.0)
DELTA = 1e-6
PEOPLE, ATTRIBUTES = 20, 1_024
PARTS = 16  # of which an attribute's share in the population is a whole number


@dataclass(frozen=True, slots=True)
class Membership:
    """The secret is whether the target was in the data, or somebody else drawn from the same population in their place.

    `draw(size)` draws an array of so many records; `score(seen, record)` is above 0 where a record looks like a member. What is released
    can be anything: means, or a model, scored by how well it fits the record.
    """

    draw: Callable[[int], NDArray[Any]]
    score: Callable[[Any, Any], float]
    people: int

    @property
    def choices(self) -> int:
        """Two choices: a member, or not."""
        return 2

    def world(self, secret: int) -> tuple[NDArray[Any], Any]:
        """The records of all members, the target's or somebody else's first; the attacker knows the target's record."""
        drawn = self.draw(whole(self.people, "people", least=1) + 1)
        target, members = drawn[0], drawn[1:].copy()
        if secret:
            members[0] = target
        return members, target

    def guess(self, seen: Any, known: Any) -> int:
        """Whether the target looks like a member."""
        return int(self.score(seen, known) > 0)


@dataclass(frozen=True, slots=True)
class Means:
    """A population of people with bits that are 1 with known probabilities, in sixteenths; what is published are the means of some."""

    sixteenths: NDArray[np.int64]
    people: int = PEOPLE

    def __post_init__(self) -> None:
        if (
            self.sixteenths.ndim != 1
            or not self.sixteenths.size
            or not np.isin(self.sixteenths, range(PARTS + 1)).all()
        ):
            raise dp.Invalid("sixteenths must be whole numbers from 0 to 16, one for each attribute")
        whole(self.people, "people", least=1)

    @classmethod
    def made_up(cls, attributes: int = ATTRIBUTES, people: int = PEOPLE) -> "Means":
        """A population whose probabilities are drawn from a quarter to three quarters."""
        return cls(4 + dp.noise.uniform(9, whole(attributes, "attributes", least=1)), people)

    @property
    def attack(self) -> Membership:
        """The attack on these means."""
        return Membership(self.draw, self.score, self.people)

    def draw(self, size: int) -> NDArray[np.int64]:
        """The bits of people of this population, a row for each."""
        return (dp.noise.uniform(PARTS, (size, len(self.sixteenths))) < self.sixteenths).astype(np.int64)

    def query(self, members: NDArray[np.int64]) -> NDArray[np.float64]:
        """The mean of each attribute."""
        means: NDArray[np.float64] = members.mean(axis=0)
        return means

    def score(self, means: Any, record: NDArray[np.int64]) -> float:
        """How much nearer to the record the means are than the population: Σ(mean − p)(bit − p), less half of what a member adds to it."""
        p = self.sixteenths / PARTS
        return float((means - p) @ (record - p) - (p * (1 - p)).sum() / self.people / 2)

    @property
    def sensitivity(self) -> Fraction:
        """The L2 distance of means that differ in one person: √attributes/people, rounded up."""
        return Fraction(isqrt(len(self.sixteenths) - 1) + 1, self.people)

    def releases(self, epsilon: Number, delta: Number = DELTA) -> Publication:
        """All means with Gaussian noise, at (ε, δ) for all of them together."""
        size = len(self.sixteenths)
        noise = dp.Gaussian.for_budget(epsilon, delta, sensitivity=self.sensitivity + Fraction(1, 10**6))
        event = noise.event(self.sensitivity, size)
        return private(self.query, noise, event, delta, name=f"ε = {float(epsilon):g}, δ = {float(delta):g}")


def run(epsilons: Sequence[Number] = EPSILONS, trials: int = 500) -> AttackReport:
    """The attack on the means of 20 made-up people: exact, and with Gaussian noise at each ε, δ = 1e-6."""
    means = Means.made_up()
    rounds = [(means.attack, exact(means.query, "exact means"))]
    rounds += [(means.attack, means.releases(epsilon)) for epsilon in epsilons]
    return compare("membership", QUESTION, rounds, trials)


def __dir__() -> list[str]:
    return sorted(__all__)
