"""Averaging: ask the same question again and again, and the mean of the answers loses its noise.

It works wherever repeats draw fresh noise for nothing. Here there are two ways to answer a repeat. Fresh noise is charged each time, so
k answers cost kε, which permits what it gives. Or the answer that was kept is given back, free: then a thousand repeats are one answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import discreet as dp
from discreet.attacks.game import Attack, Publication, exact, private
from discreet.attacks.report import AttackReport, compare
from discreet.exact import Number, positive, whole

__all__ = [
    "Averaging",
    "fresh",
    "kept",
    "run",
]

QUESTION = "is the target counted? One count, asked again and again"
EPSILONS = (0.1,)
OTHERS, TIMES = 1_000, 1_024


@dataclass(frozen=True, slots=True)
class Averaging:
    """The attacker knows how many others are counted, and whether the target is too from the mean of all answers.

    >>> Averaging(others=10).guess([10, 12, 11, 11]), Averaging(others=10).guess([10, 12, 9, 9])
    (1, 0)
    """

    others: int = OTHERS

    @property
    def choices(self) -> int:
        """Two choices: the target is counted, or is not."""
        return 2

    def world(self, secret: int) -> tuple[int, None]:
        """The count, with the target or without."""
        return self.others + secret, None

    def guess(self, seen: Any, known: None = None) -> int:
        """Whether the mean of all answers is nearer to the count with the target."""
        return int(np.mean(seen) > self.others + 0.5)


def fresh(epsilon: Number, times: int) -> Publication:
    """So many answers, each with noise of its own and at its full price."""
    number, price = whole(times, "times", least=1), positive(epsilon, "epsilon")
    noise = dp.Geometric.for_epsilon(price)
    event = dp.privacy.events.Repeated(noise.event(), number)
    name = f"ε = {float(price):g}" if number == 1 else f"ε = {float(price):g}, {number:,} fresh answers"
    return private(lambda count: np.full(number, count), noise, event, name=name)


def kept(epsilon: Number, times: int) -> Publication:
    """One answer, given back as often as it is asked for."""
    number, price = whole(times, "times", least=1), positive(epsilon, "epsilon")
    noise = dp.Geometric.for_epsilon(price)
    name = f"ε = {float(price):g}, {number:,} × one kept answer"
    return private(lambda count: count, lambda count: np.full(number, noise(count)), noise.event(), name=name)


def run(epsilons: Sequence[Number] = EPSILONS, trials: int = 1_000) -> AttackReport:
    """The attack on a count of 1,000 made-up people: exact, asked once at each ε, asked 1,024 times afresh, and with the answer kept."""
    attack: Attack = Averaging()
    rounds = [(attack, exact(lambda count: [count]))]
    for epsilon in epsilons:
        rounds += [(attack, fresh(epsilon, 1)), (attack, fresh(epsilon, TIMES)), (attack, kept(epsilon, TIMES))]
    return compare("averaging", QUESTION, rounds, trials)


def __dir__() -> list[str]:
    return sorted(__all__)
