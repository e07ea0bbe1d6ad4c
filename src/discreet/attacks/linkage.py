"""Linkage: two tables, each anonymous by itself, are joined on what is known of somebody.

Two hospitals publish whom they treated for what, by coarse classes: one by decade of age, one by district, five people in each class. A
patient of both is hidden among five in either table; but only their own diagnosis is likely to stand in both classes (the composition
attack of Ganta, Kasiviswanathan and Smith 2008). Noisy counts compose: what both tables reveal is bounded by the sum of their ε.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import discreet as dp
from discreet.attacks.game import Attack, Publication, exact, private
from discreet.attacks.report import AttackReport, compare
from discreet.exact import Number, whole

__all__ = [
    "Linkage",
    "run",
]

QUESTION = "which of 100 diagnoses has a patient of two hospitals, each of which published its table?"
EPSILONS = (1.0, 4.0, 16.0)
DIAGNOSES, CLASSES, TOGETHER = 100, 8, 5


@dataclass(frozen=True, slots=True)
class Linkage:
    """Tables of classes by diagnoses, with as many people in each class; the secret is the diagnosis of somebody who is in all tables."""

    tables: int = 2
    diagnoses: int = DIAGNOSES
    classes: int = CLASSES
    together: int = TOGETHER

    def __post_init__(self) -> None:
        for name, least in (("tables", 1), ("diagnoses", 2), ("classes", 1), ("together", 1)):
            whole(getattr(self, name), name, least=least)

    @property
    def choices(self) -> int:
        """One choice for each diagnosis, all as likely."""
        return self.diagnoses

    @property
    def sensitivity(self) -> int:
        """Somebody else in the target's place changes two counts of each table by one."""
        return 2 * self.tables

    def world(self, secret: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The diagnoses of all people, by table and class, the target's among them; the attacker knows the target's class in each table."""
        people = dp.noise.uniform(self.diagnoses, (self.tables, self.classes, self.together))
        places = dp.noise.uniform(self.classes, self.tables)
        people[np.arange(self.tables), places, 0] = secret
        return people, places

    def query(self, people: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many of each class have each diagnosis, for each table: the published table, without names."""
        counts: NDArray[np.int64] = (people[..., np.newaxis] == np.arange(self.diagnoses)).sum(axis=2)
        return counts

    def guess(self, seen: Any, known: NDArray[np.int64]) -> int:
        """The diagnosis that is most frequent in the target's classes of all tables together, by the product of its counts."""
        rows = np.asarray(seen)[np.arange(self.tables), known]
        likely = np.maximum(rows, 0).astype(np.float64).prod(axis=0)
        best = np.flatnonzero(likely == likely.max())
        return int(best[dp.noise.uniform(len(best))])

    def releases(self, epsilon: Number) -> Publication:
        """All counts of all tables with geometric noise, at ε for the tables together."""
        noise = dp.Geometric.for_epsilon(epsilon, self.sensitivity)
        return private(self.query, noise, noise.event(self.sensitivity), name=f"joined, ε = {float(epsilon):g}")


def run(epsilons: Sequence[Number] = EPSILONS, trials: int = 500) -> AttackReport:
    """The attack on tables of 40 made-up people each: one by itself, both joined, and both with noise at each total ε."""
    alone, joined = Linkage(tables=1), Linkage()
    rounds: list[tuple[Attack, Publication]] = [
        (alone, exact(alone.query, "one exact table")),
        (joined, exact(joined.query, "two exact tables, joined")),
    ]
    rounds += [(joined, joined.releases(epsilon)) for epsilon in epsilons]
    return compare("linkage", QUESTION, rounds, trials)


def __dir__() -> list[str]:
    return sorted(__all__)
