"""The game that every attack plays: a secret is drawn, data that hold it are released, and the attacker guesses it from the release.

An attack is anything with the three names of `Attack`. What is attacked is a function from data to what is published: exact answers, a
mechanism, a curator that answers questions, a model that was trained on the data.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import isinf
from typing import Any, Protocol

import discreet as dp
from discreet.binomial import interval, tail
from discreet.exact import Number, probability, shown, to_float_up, whole

ALPHA = 1e-6
"""How often a sound release may be accused, at most."""

MOST_TRIALS = 10_000_000


class Attack(Protocol):
    """A secret with so many equally likely values, data that hold it, and a guess."""

    @property
    def choices(self) -> int:
        """How many values the secret has; it is one of 0 … choices − 1."""

    def world(self, secret: int) -> tuple[Any, Any]:
        """Data in which the secret is this, and what the attacker knows beforehand. Data of two secrets differ in one person at most."""

    def guess(self, seen: Any, known: Any) -> int:
        """The secret, as far as what was released tells."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How often a guess was right; each trial has a secret and a release of its own.

    >>> Outcome(75, 100).rate, [round(end, 4) for end in Outcome(75, 100).interval()]
    (0.75, [0.6534, 0.8312])
    """

    right: int
    trials: int

    def __post_init__(self) -> None:
        trials, right = whole(self.trials, "trials", least=1), whole(self.right, "right")
        if right > trials:
            raise dp.Invalid(f"right must be at most the number of trials, {trials}, got {right}")

    @property
    def rate(self) -> float:
        """The share of guesses that were right."""
        return self.right / self.trials

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """The rates that are possible after this outcome, by Clopper and Pearson: they miss the true one at most as often as is said."""
        if not 0 < confidence < 1:
            raise dp.Invalid(f"confidence must lie between 0 and 1, got {confidence!r}")
        return interval(self.right, self.trials, confidence)

    def exceeds(self, bound: float, alpha: float = ALPHA) -> bool:
        """Whether so many right guesses come with probability below `alpha` from whoever is right with at most this probability."""
        return tail(self.right, self.trials, bound) < alpha


@dataclass(frozen=True, slots=True)
class Publication:
    """A function from data to what is published of them, and what it promises: (ε, δ), or nothing where ε is None."""

    name: str
    publish: Callable[[Any], Any]
    epsilon: float | None = None
    delta: float = 0.0
    ours: bool = False

    def permitted(self, choices: int = 2) -> float:
        """The success that the promise permits; 1 where there is none."""
        return 1.0 if self.epsilon is None else permitted(self.epsilon, self.delta, choices)


def exact(query: Callable[[Any], Any], name: str = "exact answers") -> Publication:
    """The release of a query's value as it is."""
    return Publication(name, query)


def private(
    query: Callable[[Any], Any],
    mechanism: Callable[[Any], Any],
    event: dp.privacy.events.Event,
    delta: Number = 0,
    *,
    name: str = "",
) -> Publication:
    """The release of a query's value through a mechanism of ours; what it promises is what its event costs at this δ."""
    epsilon = dp.privacy.loss(event).epsilon(delta)
    return Publication(
        name or f"ε = {epsilon:.4g}", lambda data: mechanism(query(data)), epsilon, float(delta), ours=True
    )


def permitted(epsilon: Number, delta: Number = 0, choices: int = 2) -> float:
    """The largest probability to guess a secret of so many equally likely values from an (ε, δ)-private release.

    It is p + δ(1 − p) with p = e^ε/(e^ε + choices − 1). For Pᵢ(Aᵢ) ≤ e^ε Pⱼ(Aᵢ) + δ for all i ≠ j, where Aᵢ is what makes the attacker say
    i, and these add up to a bound on the sum of Pᵢ(Aᵢ). With two choices it is `theorems.bayes_success`.

    >>> round(permitted(1), 4), round(permitted(1, choices=100), 4), permitted(0, 0.01)
    (0.7311, 0.0267, 0.505)
    """
    number, d = whole(choices, "choices", least=2), probability(delta, "delta")
    if isinstance(epsilon, float) and isinf(epsilon):
        return 1.0
    share = Fraction(dp.theorems.posterior_bounds(Fraction(1, number), epsilon)[1])
    return min(1.0, to_float_up(share + d * (1 - share)))


def play(attack: Attack, release: Callable[[Any], Any], trials: int) -> Outcome:
    """Each trial draws a secret, and guesses it from a release of data that hold it; it calls `release` anew, once."""
    number, right = number_of_trials(trials), 0
    for _ in range(number):
        secret = dp.noise.uniform(attack.choices)
        data, known = attack.world(secret)
        right += int(attack.guess(release(data), known)) == secret
    return Outcome(right, number)


def number_of_trials(trials: object) -> int:
    """A whole number that ends in a lifetime; anything else raises Invalid."""
    number = whole(trials, "trials", least=1)
    if number > MOST_TRIALS:
        raise dp.Invalid(f"trials must be at most {MOST_TRIALS:,}, got {shown(number)}")
    return number
