"""The exponential mechanism: a candidate with a probability that grows with its score."""

from fractions import Fraction
from typing import Any

from discreet.exact import Number
from discreet.mechanisms.base import Example, registry
from discreet.mechanisms.falls import Falls
from discreet.mechanisms.scores import candidate, one_list, scores_of
from discreet.mechanisms.selection import Selection, released, worst_gap
from discreet.mechanisms.wheel import Ints
from discreet.noise import Source
from discreet.privacy import events


def _examples() -> list[Example]:
    return [
        Example(Exponential(Fraction(1)), 1, [3, 5, 4, 0], [4, 4, 4, 1]),
        Example(Exponential(Fraction(2), Fraction(3), monotone=True), 3, [7, 0, 2], [10, 0, 4]),
        Example(Exponential(Fraction(1, 2), Fraction(1, 3)), Fraction(1, 3), [Fraction(1, 2), 0], [Fraction(1, 6), 0]),
    ]


@registry.add(_examples)
class Exponential(Selection):
    """Candidate i with probability ∝ e^(ε u_i/2Δ), or e^(ε u_i/Δ) for monotone scores (McSherry and Talwar 2007): ε-DP.

    >>> third = Exponential(1).probability(0, [0, 0, 0])
    >>> round(third, 9), Exponential(1).loss().epsilon()
    (0.333333333, 1.0)
    """

    __slots__ = ()

    def _released(self, exact: object, source: Source) -> "int | Ints":
        scores = scores_of(exact)
        falls = Falls.of(scores, self.rate)
        return released(falls.wheel.spin(source), scores)

    def concentrated(self, sensitivity: Number | None = None) -> events.ZeroConcentrated:
        """The release is ε²/8-zCDP: its loss lies in an interval of length ε (Cesar and Rogers 2021, bounded range).

        Instead of `event`, where all is counted in zCDP; never both.

        >>> Exponential(2).concentrated()
        ZeroConcentrated(rho=Fraction(1, 2))
        """
        return events.ZeroConcentrated(self.cost(sensitivity) ** 2 / 8)

    def probability(self, output: int, exact: Any) -> float:
        """Pr[output], given the scores of all candidates."""
        near = Falls.of(one_list(scores_of(exact)), self.rate).near[0]
        return float(near[candidate(output, near.size)] / near.sum())

    def error(self, confidence: Number = 0.95, candidates: int = 2) -> float:
        """How far below the best score the chosen one is at most, with this confidence, whatever the scores are.

        Worst is one best candidate with all others equal: 1/(1 + (n−1)w) >= confidence for w = e^(−rate·error).
        """
        return worst_gap(confidence, candidates, self.rate)
