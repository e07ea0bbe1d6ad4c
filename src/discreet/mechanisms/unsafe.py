"""Mechanisms that must not be used: they meet (0, δ)-differential privacy and publish people's rows as they are.

They stand here for teaching and for the audit: they show why δ must be far below one in the number of people. No registry holds
them, and no public name leads here.
"""

from fractions import Fraction
from math import expm1, inf, log, log1p
from typing import Any

import numpy as np

from discreet.errors import Invalid
from discreet.exact import Number, probability, whole
from discreet.fields import Exact, frozen
from discreet.mechanisms.additive import integer_sensitivity, repeated
from discreet.mechanisms.base import Mechanism, confidence_level
from discreet.noise import Source, bernoulli, uniform
from discreet.privacy import events

MOST_PEOPLE = 10**300  # that a float can count


@frozen
class RandomRow(Mechanism):
    """One row of n, drawn uniformly, as it is: (0, 1/n)-DP where one row is replaced. Somebody is exposed, always.

    >>> RandomRow(1000).loss().delta(0)
    0.001
    """

    rows: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", whole(self.rows, "rows", least=1))

    def event(self, sensitivity: Number = 1) -> events.Event:
        """The release, where at most this many rows are replaced."""
        return events.Approximate(Fraction(0), min(Fraction(integer_sensitivity(sensitivity), self.rows), Fraction(1)))

    def __call__(self, exact: Any, source: Source | None = None) -> Any:
        rows = _rows(exact)
        if len(rows) != self.rows:
            raise Invalid("exact must hold as many rows as are declared")
        return rows[int(uniform(self.rows, source=source))]

    def probability(self, output: Any, exact: Any) -> Fraction:
        """Pr[output], given all rows."""
        return Fraction(sum(_same(row, output) for row in _rows(exact)), self.rows)

    def error(self, confidence: Number = 0.95) -> float:
        """No error: the row is as it is."""
        confidence_level(confidence)
        return 0.0


@frozen
class NameAndShame(Mechanism):
    """Each row as it is, with probability δ, independently: (0, δ)-DP where one row is replaced."""

    delta: Exact

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", probability(self.delta, "delta"))

    def event(self, sensitivity: Number = 1) -> events.Event:
        """The release, where at most this many rows are replaced."""
        return repeated(events.Approximate(Fraction(0), self.delta), integer_sensitivity(sensitivity))

    def __call__(self, exact: Any, source: Source | None = None) -> list[Any]:
        rows = _rows(exact)
        shown = bernoulli(self.delta, len(rows), source=source)
        return [rows[i] for i in np.flatnonzero(shown)]

    def probability(self, output: Any, exact: Any) -> Fraction:
        """Pr[output], given all rows: as often as the rows of the output stand in this order among them."""
        rows, shown = _rows(exact), _rows(output, "output")
        ways = [1] + [0] * len(shown)  # to choose the first i rows of the output from the rows so far
        for row in rows:
            for i in range(len(shown), 0, -1):
                ways[i] += ways[i - 1] * _same(row, shown[i - 1])
        return ways[-1] * self.delta ** len(shown) * (1 - self.delta) ** max(0, len(rows) - len(shown))

    def exposure(self, n: int) -> float:
        """Pr[someone of n people is exposed] = 1 − (1 − δ)^n.

        >>> round(NameAndShame(1e-6).exposure(10**6), 9)
        0.632120743
        """
        people = min(whole(n, "n"), MOST_PEOPLE)
        return -expm1(people * _log_of_rest(self.delta)) if people else 0.0

    def error(self, confidence: Number = 0.95) -> float:
        """No error: the rows are as they are."""
        confidence_level(confidence)
        return 0.0


def _rows(value: Any, name: str = "exact") -> list[Any]:
    if isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim):
        return list(value)
    raise Invalid(f"{name} must be a list, a tuple or an array of rows")


def _same(first: Any, second: Any) -> bool:
    return bool(np.all(first == second))


def _log_of_rest(delta: Fraction) -> float:
    """ln(1 − δ)."""
    if 2 * delta < 1:
        return log1p(-float(delta))
    rest = 1 - delta
    return log(rest.numerator) - log(rest.denominator) if rest else -inf
