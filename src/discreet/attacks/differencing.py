"""Differencing: two questions that differ in one person only; what they differ by is about that person alone.

Against exact answers this never fails, however many people are counted. Against private ones its success is bounded by the sum of
what both questions cost: whoever guesses which of two equally likely neighbouring data sets was asked is right with probability
`theorems.bayes_success(ε)` = e^ε/(1 + e^ε) at most, whatever the questions are (Bayes, with the ratio of both likelihoods at most e^ε).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import discreet as dp
from discreet.attacks.game import Publication, exact, private
from discreet.attacks.report import AttackReport, compare
from discreet.exact import Number

__all__ = [
    "Ask",
    "Differencing",
    "run",
]

Ask: TypeAlias = Callable[[str], float]
"""From the text of a question with one number to that number, exact or private."""

QUESTION = "is she in the data? Two counts, with and without whoever is 101 years old"
EPSILONS = (0.1, 1.0, 4.0)
PEOPLE, TARGET_AGE = 1_000, 101
SENSITIVITY = 2  # of both counts together, since one person changes each by one


@dataclass(frozen=True, slots=True)
class Differencing:
    """A question that counts the target if they are there, and the same question without whoever looks like the target.

    What is released is an `Ask`: the attack asks it both questions. `present` and `absent` are the data with the target and without.

    >>> attack = Differencing("SELECT COUNT(*) FROM visits", "SELECT COUNT(*) FROM visits WHERE age <> 101")
    >>> [attack.guess({attack.everyone: count, attack.others: 1233}.get) for count in (1234, 1233)]
    [1, 0]
    """

    everyone: str
    others: str
    present: Any = True
    absent: Any = False

    @property
    def choices(self) -> int:
        """Two choices: the target is in the data, or is not."""
        return 2

    def world(self, secret: int) -> tuple[Any, None]:
        """The data with the target, or without; the attacker knows nothing else."""
        return (self.present if secret else self.absent), None

    def difference(self, ask: Ask) -> float:
        """What the two answers differ by."""
        return ask(self.everyone) - ask(self.others)

    def guess(self, seen: Ask, known: None = None) -> int:
        """Whether the target is in the data, as far as the two answers tell."""
        return int(self.difference(seen) > 0.5)


def run(epsilons: Sequence[Number] = EPSILONS, trials: int = 1_000) -> AttackReport:
    """The attack on counts of 1,000 made-up people with the target and without: exact, and with geometric noise at each total ε."""
    ages = [20 + i % 80 for i in range(PEOPLE)]
    attack = Differencing("everyone", "others", present=[*ages, TARGET_AGE], absent=ages)
    rounds = [(attack, exact(asking(counts)))]
    rounds += [(attack, private_counts(epsilon)) for epsilon in epsilons]
    return compare("differencing", QUESTION, rounds, trials)


def private_counts(epsilon: Number) -> Publication:
    """Both counts with geometric noise, at ε for both together."""
    noise = dp.Geometric.for_epsilon(epsilon, SENSITIVITY)
    return private(counts, lambda both: answers(noise(both)), noise.event(SENSITIVITY))


def counts(ages: Sequence[int]) -> list[int]:
    """How many there are, and how many without those of the target's age."""
    return [len(ages), sum(age != TARGET_AGE for age in ages)]


def asking(query: Callable[[Any], Sequence[float]]) -> Callable[[Any], Ask]:
    """The query's two values, as answers to questions."""
    return lambda data: answers(query(data))


def answers(values: Sequence[float]) -> Ask:
    """Two values, as answers to the two questions."""
    return {"everyone": float(values[0]), "others": float(values[1])}.__getitem__


def __dir__() -> list[str]:
    return sorted(__all__)
