"""Permute-and-flip: the first candidate in random order whose coin shows heads."""

from fractions import Fraction
from math import exp, expm1, log1p
from typing import Any

import numpy as np

from discreet.exact import Number, whole
from discreet.mechanisms.base import Example, confidence_level, registry
from discreet.mechanisms.falls import Falls
from discreet.mechanisms.scores import candidate, one_list, scores_of
from discreet.mechanisms.selection import Selection, float_of, released, worst_gap
from discreet.mechanisms.wheel import Flags, Floats, Ints, among
from discreet.noise import Source
from discreet.noise.bernoulli import decide, exp_brackets
from discreet.noise.source import words
from discreet.privacy.numeric.quadrature import legendre

COIN_BAND = 2.0**-45


def _examples() -> list[Example]:
    return [
        Example(PermuteAndFlip(Fraction(1)), 1, [3, 5, 4, 0], [4, 4, 4, 1]),
        Example(PermuteAndFlip(Fraction(3), Fraction(2), monotone=True), 2, [6, 6, 1], [8, 6, 2]),
    ]


@registry.add(_examples)
class PermuteAndFlip(Selection):
    """The first candidate, in random order, whose coin e^(−ε(best − u_i)/2Δ) shows heads; without the 2 for monotone scores.

    ε-DP, and in expectation nowhere a worse choice than the exponential mechanism (McKenna and Sheldon 2020). All coins are
    tossed, and one of the heads is chosen uniformly: in a random order each of them is equally likely to be the first. Its loss may
    fill all of (−ε, ε), so it has no bounded range, and no `concentrated`.
    """

    __slots__ = ()

    def _released(self, exact: object, source: Source) -> "int | Ints":
        scores = scores_of(exact)
        heads = _tosses(Falls.of(scores, self.rate), source)
        return released(among(heads, source), scores)

    def probability(self, output: int, exact: Any) -> float:
        """Pr[output], given the scores of all candidates: w_i ∫ Π(1 − w_j s) ds over s in (0, 1), over all j but i.

        That is the mean of 1/(1 + other heads). The integral is taken piece by piece, each twice as long as the one before.
        """
        near = Falls.of(one_list(scores_of(exact)), self.rate).near[0]
        at = candidate(output, near.size)
        return float(near[at]) * _mean_share(np.delete(near, at))

    def error(self, confidence: Number = 0.95, candidates: int = 2) -> float:
        """How far below the best score the chosen one is at most, with this confidence, whatever the scores are.

        Worst is one best candidate with all others equal: it is chosen with probability (1 − (1 − w)^n)/(nw).
        """
        level, n = confidence_level(confidence), whole(candidates, "candidates", least=1)
        low, high = 0.0, worst_gap(confidence, n, Fraction(1))  # permute-and-flip is nowhere worse
        for _ in range(100):
            middle = (low + high) / 2
            low, high = (low, middle) if _best_of(n, middle) >= level else (middle, high)
        return float_of(Fraction(high) / self.rate)


def _tosses(falls: Falls, source: Source) -> Flags:
    """Heads with probability exactly e^-x each; the few that 53 binary digits cannot tell are decided by integers."""
    word = words(source, falls.near.size).reshape(falls.near.shape)
    over = word * 2.0**-64 - falls.near
    heads: Flags = over < 0
    for row, at in np.argwhere(np.abs(over) < COIN_BAND):
        heads[row, at] = decide(exp_brackets(falls.exponent(int(row), int(at))), source, int(word[row, at]), 64)
    return heads


def _mean_share(others: Floats) -> float:
    points, weights = legendre(24)
    start, width, total = 0.0, 1 / (1 + float(others.sum())), 0.0
    while start < 1:
        width = min(width, 1 - start)
        s = start + width * points
        total += width * float(weights @ np.prod(1 - others[None, :] * s[:, None], axis=1))
        start, width = start + width, max(start + width, width)
    return total


def _best_of(n: int, x: float) -> float:
    """(1 − (1 − w)^n)/(nw), w = e^-x: how often the best of n is chosen, where all others fall short of it by x."""
    w = exp(-x)
    if w == 0:
        return 1.0
    return -expm1(n * log1p(-w)) / (n * w) if w < 1 else 1 / n
