"""Choosing among candidates by private scores: what such a choice is made for, and what it costs.

Scores are integers or Fractions, and each changes by at most the sensitivity between neighbours.
"""

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from math import inf, log, log1p
from typing import Any, Self, overload

from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.exact import Number, nonnegative, positive, probability, shown, whole
from discreet.fields import Exact, frozen, otherwise
from discreet.mechanisms.base import Mechanism, confidence_level
from discreet.mechanisms.wheel import Ints
from discreet.noise import Source
from discreet.noise.source import chosen
from discreet.privacy import PrivacyLoss, events, loss


class ForSensitivity(Mechanism):
    """A mechanism that was made for a sensitivity, which counts where no other one is said."""

    __slots__ = ()

    @abstractmethod
    def event(self, sensitivity: Number | None = None) -> events.Event:
        """What is drawn, for units that change exact values by at most this, or by what was declared."""

    def loss(self, sensitivity: Number | None = None) -> PrivacyLoss:
        """What that costs."""
        return loss(self.event(sensitivity))


@frozen
class Selection(ForSensitivity):
    """The number of one candidate of a list, chosen by their scores; for rows of scores one of each row.

    Scores change by at most `sensitivity` each between neighbours; where all of them change in one direction, as counts do when
    a row is added, they are `monotone`, and the choice may be twice as sharp. Costs `epsilon`.
    """

    epsilon: Exact
    sensitivity: Exact = otherwise(Fraction(1))
    monotone: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        object.__setattr__(self, "sensitivity", positive(self.sensitivity, "sensitivity"))
        if not isinstance(self.monotone, bool):
            raise Invalid(f"monotone must be True or False, got {shown(self.monotone)}")

    @classmethod
    def for_epsilon(cls, epsilon: Number, sensitivity: Number = 1, *, monotone: bool = False) -> Self:
        """The sharpest choice that is epsilon-DP."""
        return cls(positive(epsilon, "epsilon"), positive(sensitivity, "sensitivity"), monotone)

    @classmethod
    def for_budget(cls, epsilon: Number, delta: Number = 0, *, sensitivity: Number = 1, monotone: bool = False) -> Self:
        """A choice that is (epsilon, delta)-DP; it is epsilon-DP, and makes no use of delta."""
        probability(delta, "delta")
        return cls.for_epsilon(epsilon, sensitivity, monotone=monotone)

    @property
    def rate(self) -> Fraction:
        """What a score is multiplied with: ε/2Δ, or ε/Δ for monotone scores."""
        return self.epsilon / (self.sensitivity if self.monotone else 2 * self.sensitivity)

    def cost(self, sensitivity: Number | None = None) -> Fraction:
        """The ε of one choice, where scores change by at most this; by what they were declared to, if it is not said."""
        changed = self.sensitivity if sensitivity is None else nonnegative(sensitivity, "sensitivity")
        return self.epsilon * changed / self.sensitivity

    def event(self, sensitivity: Number | None = None) -> events.Pure:
        """The choice, for scores that change by at most this, or by what was declared."""
        return events.Pure(self.cost(sensitivity))

    @overload
    def __call__(self, exact: Sequence[int | Fraction], source: Source | None = None) -> int: ...
    @overload
    def __call__(self, exact: Sequence[Sequence[int | Fraction]], source: Source | None = None) -> Ints: ...
    @overload
    def __call__(self, exact: NDArray[Any], source: Source | None = None) -> Any: ...
    def __call__(self, exact: object, source: Source | None = None) -> Any:
        """The number of a candidate for a list of scores; an int64 array of them for rows of scores. Anything else is Invalid."""
        return self._released(exact, chosen(source))

    @abstractmethod
    def _released(self, exact: object, source: Source) -> "int | Ints":
        """The number of the candidate that is chosen, or one for each row of scores."""


def released(place: Ints, scores: NDArray[Any]) -> "int | Ints":
    """An int for a list of scores, an int64 array for rows of them."""
    return int(place[0]) if scores.ndim == 1 else place


def worst_gap(confidence: Number, candidates: int, rate: Fraction) -> float:
    """The least t >= 0 with (n − 1) e^(−rate·t) <= (1 − confidence)/confidence."""
    level, others = confidence_level(confidence), whole(candidates, "candidates", least=1) - 1
    if not others:
        return 0.0
    return float_of(Fraction(max(0.0, log(others) + log(level) - log1p(-level))) / rate)


def float_of(x: Fraction) -> float:
    """About x, and infinity where no float is as large."""
    try:
        return float(x)
    except OverflowError:
        return inf
