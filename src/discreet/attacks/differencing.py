"""Differencing: two questions that differ in one person only; what they differ by is about that person alone.

Against exact answers this never fails, however many people are counted. Against private ones its success is bounded by the sum of
what both questions cost: whoever guesses which of two equally likely neighbouring data sets was asked is right with probability
`theorems.bayes_success(ε)` = e^ε/(1 + e^ε) at most, whatever the questions are (Bayes, with the ratio of both likelihoods at most e^ε).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import discreet as dp

__all__ = [
    "Ask",
    "Differencing",
    "Outcome",
    "play",
]

Ask: TypeAlias = Callable[[str], float]
"""From the SQL text of a question with one number to that number, exact or private."""


@dataclass(frozen=True, slots=True)
class Differencing:
    """A question that counts the target if they are there, and the same question without whoever looks like the target.

    >>> attack = Differencing("SELECT COUNT(*) FROM visits", "SELECT COUNT(*) FROM visits WHERE age <> 101")
    >>> attack({attack.everyone: 1234, attack.others: 1233}.get), attack({attack.everyone: 1233, attack.others: 1233}.get)
    (True, False)
    """

    everyone: str
    others: str

    def difference(self, ask: Ask) -> float:
        """What the two answers differ by."""
        return ask(self.everyone) - ask(self.others)

    def __call__(self, ask: Ask) -> bool:
        """Whether the target is in the data, as far as the two answers tell."""
        return self.difference(ask) > 0.5


@dataclass(frozen=True, slots=True)
class Outcome:
    """How often a guess was right."""

    right: int
    trials: int

    @property
    def rate(self) -> float:
        """The share of guesses that were right."""
        return self.right / self.trials


def play(attack: Differencing, present: Ask, absent: Ask, trials: int) -> Outcome:
    """A coin decides for each trial whether the target is in the data that is asked; the attack guesses which it was.

    Each trial asks anew: `present` and `absent` must draw fresh noise for each of their calls, at its full price.
    """
    if isinstance(trials, bool) or not isinstance(trials, int) or trials < 1:
        raise dp.Invalid(f"trials must be an integer of at least 1, got {trials!r}")
    right = 0
    for _ in range(trials):
        there = bool(dp.noise.bernoulli(0.5))
        right += attack(present if there else absent) is there
    return Outcome(right, trials)


def __dir__() -> list[str]:
    return sorted(__all__)
