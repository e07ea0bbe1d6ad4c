"""The patient with disease d: what two questions that differ in one patient tell about that patient, by a count and by an average.

The count: how many have disease d, and how many of all others have it? The difference is 1 if the patient has it. The average: how old
are the patients on average, and how old all others? n times the first less n − 1 times the second is the patient's age, to the year.
Both hold for exact answers, whatever n is.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import discreet as dp
from discreet.attacks.game import Attack, Publication, exact, private
from discreet.attacks.report import AttackReport, compare
from discreet.exact import Number

__all__ = [
    "PatientAverage",
    "PatientCount",
    "run",
]

QUESTION = "has the patient disease d, and how old is the patient?"
EPSILONS = (0.1, 1.0, 4.0)
OTHERS = 100
OLDEST = 150


def _diagnoses() -> NDArray[np.int64]:
    return dp.noise.uniform(2, OTHERS)


def _ages() -> NDArray[np.int64]:
    return dp.noise.uniform(OLDEST + 1, OTHERS)


@dataclass(frozen=True, slots=True)
class PatientCount:
    """The secret is whether the patient has disease d. All others have it or not as `others` says, 1 or 0 for each.

    >>> attack = PatientCount(np.array([1, 0, 1]))
    >>> [attack.guess(attack.query(attack.world(secret)[0])) for secret in (0, 1)]
    [0, 1]
    """

    others: NDArray[np.int64] = field(default_factory=_diagnoses)

    sensitivity = 2
    """One patient changes each of the two counts by one at most."""

    @property
    def choices(self) -> int:
        """Two choices: with the disease, or without."""
        return 2

    def world(self, secret: int) -> tuple[NDArray[np.int64], None]:
        """The diagnoses of all, the patient's at the end."""
        return np.append(self.others, secret), None

    def query(self, data: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many have the disease, and how many of all others."""
        return np.array([data.sum(), data[:-1].sum()])

    def guess(self, seen: Any, known: None = None) -> int:
        """Whether the patient has the disease, as far as the two counts tell."""
        return int(seen[0] - seen[1] > 0.5)

    def releases(self, epsilon: Number) -> Publication:
        """Both counts with geometric noise, at ε for both together."""
        noise = dp.Geometric.for_epsilon(epsilon, self.sensitivity)
        return private(self.query, noise, noise.event(self.sensitivity), name=f"count, ε = {float(epsilon):g}")


@dataclass(frozen=True, slots=True)
class PatientAverage:
    """The secret is the patient's age, 0 to 150. All others are as old as `others` says; how many they are is public.

    >>> attack = PatientAverage(np.array([30, 50, 70]))
    >>> [attack.guess(attack.query(attack.world(age)[0])) for age in (0, 41, 150)]
    [0, 41, 150]
    """

    others: NDArray[np.int64] = field(default_factory=_ages)

    sensitivity = 2 * OLDEST
    """One patient changes each of the two sums by 150 at most, if somebody of another age is in their place."""

    @property
    def choices(self) -> int:
        """There are 151 ages, all as likely."""
        return OLDEST + 1

    def world(self, secret: int) -> tuple[NDArray[np.int64], None]:
        """The ages of all, the patient's at the end."""
        return np.append(self.others, secret), None

    def sums(self, data: NDArray[np.int64]) -> NDArray[np.int64]:
        """The sum of all ages, and of all others."""
        return np.array([data.sum(), data[:-1].sum()])

    def averages(self, sums: Any) -> NDArray[np.float64]:
        """The averages of such sums; how many there are is public."""
        n = len(self.others) + 1
        return np.array([sums[0] / n, sums[1] / (n - 1)])

    def query(self, data: NDArray[np.int64]) -> NDArray[np.float64]:
        """The average age of all, and of all others."""
        return self.averages(self.sums(data))

    def guess(self, seen: Any, known: None = None) -> int:
        """The age that the two averages leave for the patient."""
        n = len(self.others) + 1
        age = round(n * seen[0] - (n - 1) * seen[1])
        return int(min(max(age, 0), OLDEST))

    def releases(self, epsilon: Number) -> Publication:
        """Both averages, of sums with geometric noise, at ε for both together."""
        noise = dp.Geometric.for_epsilon(epsilon, self.sensitivity)
        event = noise.event(self.sensitivity)
        return private(
            self.sums, lambda sums: self.averages(noise(sums)), event, name=f"average, ε = {float(epsilon):g}"
        )


def run(epsilons: Sequence[Number] = EPSILONS, trials: int = 1_000) -> AttackReport:
    """Both attacks on 101 made-up patients, the one in question among them: exact, and with noise at each total ε."""
    rounds: list[tuple[Attack, Publication]] = []
    for attack, name in ((PatientCount(), "count"), (PatientAverage(), "average")):
        rounds.append((attack, exact(attack.query, f"{name}, exact")))
        rounds += [(attack, attack.releases(epsilon)) for epsilon in epsilons]
    return compare("patient", QUESTION, rounds, trials)


def __dir__() -> list[str]:
    return sorted(__all__)
