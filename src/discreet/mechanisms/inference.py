"""Limits and tests for the p behind a noisy number of ones: they know of sampling and of noise, and cost nothing.

Probabilities here are sums over the binomial distribution, in floats, to about 1e-12; none of them decides what is released.
"""

from dataclasses import dataclass
from enum import Enum
from math import ceil, exp, expm1, log1p, sqrt
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.exact import Number, probability, shown
from discreet.mechanisms.base import confidence_level
from discreet.privacy.numeric.search import root

Floats = NDArray[np.float64]

SPREAD, FEW = 9, 40  # standard deviations of a binomial, and counts more, that hold all but 1e-16 of it


class Alternative(Enum):
    """What a test looks for: that p is greater or less than the p of the hypothesis, or either."""

    GREATER = "greater"
    LESS = "less"
    DIFFERENT = "different"


class Noise(Protocol):
    """Noise as a distribution on the line, symmetric about 0."""

    def below(self, x: Floats) -> Floats:
        """Pr[noise <= x]."""


@dataclass(frozen=True, slots=True)
class LaplaceNoise:
    """Density e^(−|x|/scale)/(2·scale)."""

    scale: float

    def below(self, x: Floats) -> Floats:
        """Pr[noise <= x]."""
        tail = np.exp(-np.abs(x) / self.scale) / 2
        return np.where(x > 0, 1 - tail, tail)


@dataclass(frozen=True, slots=True)
class Tulap:
    """Geometric noise and a uniform number from −½ to ½ (Awan and Slavković 2018, there with q = 0)."""

    scale: float

    def below(self, x: Floats) -> Floats:
        """Pr[noise <= x]: at −|x| = −m + u, |u| <= ½, it is α^m (α + (u + ½)(1 − α))/(1 + α), α = e^(−1/scale)."""
        alpha = exp(-1 / self.scale)
        m = np.rint(np.abs(x))
        tail = np.exp(-m / self.scale) * (alpha + (m - np.abs(x) + 0.5) * -expm1(-1 / self.scale)) / (1 + alpha)
        return np.where(x > 0, 1 - tail, tail)


def binomial(n: int, p: float) -> tuple[Floats, Floats]:
    """Numbers of ones, and their probabilities: all but about 1e-16 of them. From the mode outwards, by their ratios."""
    if p <= 0 or p >= 1:
        return np.array([n * float(p > 0)]), np.ones(1)
    mode, width = min(n, int((n + 1) * p)), ceil(SPREAD * sqrt(n * p * (1 - p))) + FEW
    s = np.arange(max(0, mode - width), min(n, mode + width) + 1, dtype=np.float64)
    logs = np.concatenate(([0.0], np.cumsum(np.log((n - s[:-1]) / (s[:-1] + 1)) + np.log(p) - log1p(-p))))
    weights = np.exp(logs - logs.max())
    return s, weights / weights.sum()


@dataclass(frozen=True, slots=True)
class Inference:
    """What a noisy number of ones says about p: `at` is the number of ones among n, each 1 with probability p, plus noise.

    The distribution of `at` is continuous, and grows with p. So a p-value is uniform where p is that of the hypothesis: a test at level α
    rejects with probability exactly α, and limits at confidence c are wrong with probability exactly 1 − c, at every p, sampling and noise
    together. From a `BernoulliCount` at ε the one-sided tests are uniformly most powerful among all ε-DP tests of n bits, and the
    one-sided limits uniformly most accurate (Awan and Slavković 2018, 2020). What is two-sided here has equal tails.
    """

    n: int
    at: float
    noise: Noise

    def p_value(self, p: Number, alternative: Alternative) -> float:
        """The p-value of the hypothesis that the probability of a one is p (or on the other side of p than the alternative)."""
        exact = float(probability(p, "p"))
        match alternative:
            case Alternative.GREATER:
                return self._above(exact)
            case Alternative.LESS:
                return 1 - self._above(exact)
            case Alternative.DIFFERENT:
                above = self._above(exact)
                return 2 * min(above, 1 - above)
        raise Invalid(f"alternative must be an Alternative, got {shown(alternative)}")

    def _above(self, p: float) -> float:
        """Pr_p[X + N >= at], for a number of ones X and noise N."""
        s, weights = binomial(self.n, p)
        return min(1.0, float(weights @ self.noise.below(s - self.at)))

    def lower(self, confidence: Number = 0.95) -> float:
        """The least p that a test against greater ones does not reject; 1 where it rejects all."""
        return self._where(1 - confidence_level(confidence))

    def upper(self, confidence: Number = 0.95) -> float:
        """The greatest p that a test against smaller ones does not reject; 0 where it rejects all."""
        return self._where(confidence_level(confidence))

    def _where(self, level: float) -> float:
        """The p with Pr_p[X + N >= at] = level, which grows with p; or the end that is nearest to it."""

        def short(p: float) -> float:
            return level - self._above(p)

        at_0, at_1 = short(0.0), short(1.0)
        if at_0 <= 0:
            return 0.0
        return 1.0 if at_1 >= 0 else root(short, 0.0, 1.0, at_0, at_1, close=1e-13)

    def interval(self, confidence: Number = 0.95) -> tuple[float, float]:
        """Both limits, each wrong with at most half of 1 − confidence.

        What lies beyond 0 or n is taken as 0 or n: there the limits alone might leave no p at all, and this can only widen them.
        """
        inside = Inference(self.n, min(max(self.at, 0.0), float(self.n)), self.noise)
        tail = (1 - confidence_level(confidence)) / 2
        return inside._where(tail), inside._where(1 - tail)
