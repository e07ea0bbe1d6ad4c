"""One run that is audited as it is: canaries are in or out of the data by coins, and are guessed from what was released.

Where a run takes hours, it cannot be repeated a hundred thousand times on two neighbours. Here each of many canaries makes two neighbours
of its own, so that one run is as many trials. `guesses` holds the theorem behind the bound.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.audit.guesses import one_run_bound, sure
from discreet.errors import Invalid
from discreet.exact import Number, probability, shown, whole
from discreet.noise import Source, bernoulli

Mask: TypeAlias = NDArray[np.bool_]
Scores: TypeAlias = NDArray[np.float64]
Released = TypeVar("Released")

USUAL = (Fraction(1), Fraction(1, 4))
"""The shares of all canaries that are guessed, where nobody says how many: each, and the quarter with the clearest scores."""


class Extremes(NamedTuple):
    """Guess "in" for so many canaries with the highest scores, "out" for so many with the lowest, and abstain on the others."""

    highest: int
    lowest: int


Rule: TypeAlias = int | Extremes
"""How many are guessed: by the ends of the order, or so many of the scores that are farthest from 0, "in" where they are above it."""


@dataclass(frozen=True, slots=True)
class OneRun:
    """What one run has shown: of how many guesses by each rule how many were right, and the ε that follows."""

    canaries: int
    delta: float
    confidence: float
    tried: tuple[tuple[int, int], ...]  # for each rule: right, of so many

    @property
    def epsilon_lower(self) -> float:
        """The run is above this ε at its δ, but with probability 1 − confidence."""
        return self.at(self.confidence)

    @property
    def correct(self) -> int:
        """How many guesses were right by the rule that shows most."""
        return self._best(self.confidence)[1]

    @property
    def guesses(self) -> int:
        """How many guesses there were by that rule."""
        return self._best(self.confidence)[2]

    def at(self, confidence: Number) -> float:
        """The lower bound at another confidence. Several rules share what may fail, evenly; so the best of them holds."""
        return self._best(confidence)[0]

    def _best(self, confidence: Number) -> tuple[float, int, int]:
        level = 1 - (1 - sure(confidence)) / len(self.tried)
        found = (
            (one_run_bound(right, said, self.canaries, delta=self.delta, confidence=level), right, said)
            for right, said in self.tried
        )
        return max(found, key=lambda each: each[0])

    def __str__(self) -> str:
        epsilon, right, said = self._best(self.confidence)
        return (
            f"ε ≥ {epsilon:.4g} at δ = {self.delta:g}, with confidence {self.confidence:.7g}: {right:,} of {said:,} guesses about "
            f"{self.canaries:,} canaries were right"
        )


def one_run(
    train: Callable[[Mask], Released],
    score: Callable[[Released], Any],
    *,
    canaries: int,
    delta: Number,
    guesses: Sequence[Rule] | None = None,
    confidence: Number = 0.95,
    source: Source | None = None,
) -> OneRun:
    """A lower bound on ε at this δ of `train`, which is run once.

    For any `train` that is (ε, δ)-private for each canary that comes or goes, the bound is above ε with probability 1 − `confidence` at
    most. It lies with the caller that whoever scores knows of the coins through what was released alone.

    train: called with a mask that says for each canary whether it is in; gives what is released.
    score: how much each canary looks like a member in what was released, one number each; above 0 for those that seem to be in.
    guesses: rules that are fixed before anything is seen; without them all canaries are guessed, and the quarter with the clearest scores.
    source: of the coins.

    >>> from discreet import RandomizedResponse
    >>> told = one_run(lambda mask: RandomizedResponse(2)(mask.astype(int)), lambda bits: bits - 0.5, canaries=1000, delta=0)
    >>> told.canaries, told.guesses >= 250
    (1000, True)
    """
    if not callable(train) or not callable(score):
        raise Invalid("train and score must be functions", hint="one_run(train, score, canaries=1000, delta=1e-5)")
    among = whole(canaries, "canaries", least=1)
    rules = _rules(guesses, among)
    small, level = float(probability(delta, "delta")), float(sure(confidence))
    mask = bernoulli(Fraction(1, 2), among, source=source).astype(bool)
    scores = _scores(score(train(mask.copy())), among)
    return OneRun(among, small, level, tuple(_tried(rule, scores, mask) for rule in rules))


def _rules(guesses: Sequence[Rule] | None, among: int) -> list[Rule]:
    if guesses is None:
        return sorted({max(1, int(share * among)) for share in USUAL}, reverse=True)
    if isinstance(guesses, Extremes) or not isinstance(guesses, Sequence) or isinstance(guesses, str):
        raise Invalid(
            f"guesses must be a list of rules, got {shown(guesses)}", hint="guesses=[100], or [audit.Extremes(50, 50)]"
        )
    if not guesses:
        raise Invalid("guesses must hold at least one rule", hint="guesses=[100], or [audit.Extremes(50, 50)]")
    for rule in guesses:
        if isinstance(rule, tuple) and len(rule) != 2:
            raise Invalid(f"a rule is a number, or a pair of them, got {shown(rule)}", hint="audit.Extremes(50, 50)")
        parts = rule if isinstance(rule, tuple) else (rule,)
        said = sum(whole(part, "guesses") for part in parts)
        if not 1 <= said <= among:
            raise Invalid(f"guesses must be at least 1 and at most the {among:,} canaries, got {shown(rule)}")
    return list(guesses)


def _scores(found: Any, among: int) -> Scores:
    try:
        scores = np.asarray(found, np.float64)
    except (TypeError, ValueError):
        scores = np.zeros(0)
    if scores.shape != (among,) or np.isnan(scores).any():
        raise Invalid(f"score must give one number for each of the {among:,} canaries")
    return scores


def _tried(rule: Rule, scores: Scores, mask: Mask) -> tuple[int, int]:
    """How many guesses were right, and how many there were. Canaries with equal scores are taken in their order."""
    if isinstance(rule, tuple):
        order = np.argsort(-scores, kind="stable")
        inside, outside = order[: rule[0]], order[len(order) - rule[1] :]
    else:
        clearest = np.argsort(-np.abs(scores), kind="stable")[:rule]
        inside, outside = clearest[scores[clearest] > 0], clearest[scores[clearest] <= 0]
    return int(mask[inside].sum() + (~mask[outside]).sum()), len(inside) + len(outside)
