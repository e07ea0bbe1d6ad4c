"""Changes: a person reports in every period; did their answer change half way?

Rounds that repeat permanent answers hide which answers they were, and not that there are two: the reports of both halves differ as soon
as their permanent answers do. It is not promised that they hide it. A budget that is shared by all periods promises it: whatever the two
sequences of answers are, all reports together differ by its ε.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import discreet as dp
from discreet.attacks.game import Attack, Publication, exact
from discreet.attacks.report import AttackReport, compare
from discreet.exact import Number, positive, whole

__all__ = [
    "Changes",
    "memoised",
    "per_period",
    "run",
]

QUESTION = "did a person's answer change half way through 200 reports?"
EPSILONS = (1.0, 200.0)
PERIODS, ANSWERS = 200, 10
LASTING, FIRST = 1, 0.5  # what all rounds of one answer tell, and what one report does
DEVIATIONS = 3  # by which two halves of one kind are seldom apart


@dataclass(frozen=True, slots=True)
class Changes:
    """The answer is one of so many, and is the same in all periods, or another one from the middle on.

    >>> attack = Changes(periods=100)
    >>> [attack.guess(attack.world(secret)[0]) for secret in (0, 1)]
    [0, 1]
    """

    periods: int = PERIODS
    answers: int = ANSWERS

    def __post_init__(self) -> None:
        whole(self.periods, "periods", least=2)
        whole(self.answers, "answers", least=2)

    @property
    def choices(self) -> int:
        """Two choices: the answer stays, or changes."""
        return 2

    def world(self, secret: int) -> tuple[NDArray[np.int64], None]:
        """One person's answers, period by period."""
        first, step = dp.noise.uniform(self.answers), 1 + dp.noise.uniform(self.answers - 1)
        later = np.arange(self.periods) >= self.periods // 2
        return (first + secret * step * later) % self.answers, None

    def guess(self, seen: Any, known: None = None) -> int:
        """Whether the reports of both halves are farther apart than those of one answer are, by their chi-squared distance."""
        middle = self.periods // 2
        before, after = (np.bincount(half, minlength=self.answers) for half in (seen[:middle], seen[middle:]))
        apart = float(((before - after) ** 2 / np.maximum(before + after, 1)).sum())
        free = self.answers - 1
        return int(apart > free + DEVIATIONS * np.sqrt(2 * free))


def memoised(attack: Changes, epsilon: Number = LASTING, first: Number = FIRST) -> Publication:
    """A report in each period, made of the permanent answer for the answer of then. Nothing is promised of changes."""
    protocol = dp.local.MemoKary(attack.answers, epsilon, first=first)

    def publish(held: NDArray[np.int64]) -> NDArray[np.int64]:
        lasting = {value: protocol.lasting(value) for value in np.unique(held).tolist()}
        told: NDArray[np.int64] = protocol.again(np.array([lasting[value] for value in held.tolist()]))
        return told

    return Publication(f"memoised, ε = {float(protocol.epsilon):g} for each answer", publish)


def per_period(attack: Changes, epsilon: Number) -> Publication:
    """A report in each period, drawn afresh, at an equal share of ε."""
    protocol = dp.local.KaryResponse(attack.answers, positive(epsilon, "epsilon") / attack.periods)
    total = float(protocol.epsilon * attack.periods)
    return Publication(f"ε = {total:g} for all periods", protocol.randomise, total, ours=True)


def run(epsilons: Sequence[Number] = EPSILONS, trials: int = 1_000) -> AttackReport:
    """The attack on one made-up person: on true answers, on memoised ones, and on a budget for all periods at each ε."""
    attack = Changes()
    rounds: list[tuple[Attack, Publication]] = [(attack, exact(lambda held: held, "true answers"))]
    rounds += [(attack, memoised(attack)), *((attack, per_period(attack, epsilon)) for epsilon in epsilons)]
    notes = ["", "which answers they were is protected; that they changed is not"]
    return compare("changes", QUESTION, rounds, trials, notes)


def __dir__() -> list[str]:
    return sorted(__all__)
