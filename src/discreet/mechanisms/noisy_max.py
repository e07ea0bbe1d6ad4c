"""Report noisy max: the candidate whose score is largest after noise, and not the score.

**Ties.** Integer noise ties, and who wins a tie is part of the release. Here it is one of the tied, uniformly: the first of them in a
random order of all candidates that is drawn without a look at the data. Given that order and the noise of all others, candidate i
wins if and only if its own noise z_i is at least some integer t: the best of those behind it in the order, or one more than the best of
those before it, less its own score. Between neighbours t moves by at most 2Δ, and by at most Δ where all scores move in one
direction; and Pr[z >= t + k] >= e^(−k/scale) Pr[z >= t] for discrete Laplace noise and integers k >= 0. So it is ε-DP given the order,
and so is the mixture over orders. A rule that looks at exact scores, or says that there was a tie, would not be.
"""

from fractions import Fraction
from math import ceil, exp, expm1
from typing import Any

import numpy as np

from discreet.errors import Invalid
from discreet.exact import Number, shown, whole
from discreet.mechanisms.additive import integer_sensitivity
from discreet.mechanisms.base import Example, confidence_level, half_width, registry
from discreet.mechanisms.scores import candidate, integer_scores_of, one_list
from discreet.mechanisms.selection import Selection, released
from discreet.mechanisms.wheel import Floats, Ints, among
from discreet.noise import Source, discrete_laplace
from discreet.privacy.numeric.quadrature import legendre

MOST_SCALE = 1 << 50  # noise beyond 2^61, which with a score might leave int64, has a chance below e^-2048
MOST_SUMMED = 1 << 20  # values that a probability is summed over
LEAST_SCALE = 1 / 500  # below, all noise is 0 but for a chance of e^-500


def _examples() -> list[Example]:
    return [
        Example(NoisyMax(Fraction(1)), 1, [3, 5, 4, 0], [4, 4, 4, 1]),
        Example(NoisyMax(Fraction(2), Fraction(3), monotone=True), 3, [7, 0, 2], [10, 0, 4]),
    ]


@registry.add(_examples)
class NoisyMax(Selection):
    """The largest of integer scores with discrete Laplace noise of scale 2Δ/ε, or Δ/ε for monotone scores; ties uniformly.

    ε-DP (Dwork and Roth 2014, claim 3.9; for ties see above). A sensitivity that is no integer is rounded up.

    >>> NoisyMax(0.1).scale, NoisyMax(0.1, monotone=True).scale
    (Fraction(20, 1), Fraction(10, 1))
    """

    __slots__ = ()

    def __post_init__(self) -> None:
        Selection.__post_init__(self)
        object.__setattr__(self, "sensitivity", Fraction(integer_sensitivity(self.sensitivity)))
        if self.scale > MOST_SCALE:
            raise Invalid(f"epsilon must be at least about sensitivity/2^49, got {shown(self.epsilon)}")

    @property
    def scale(self) -> Fraction:
        """The scale of the noise on each score."""
        return 1 / self.rate

    def cost(self, sensitivity: Number | None = None) -> Fraction:
        """The ε of one choice, where integer scores change by at most this; by what they were declared to, if it is not said."""
        changed = self.sensitivity if sensitivity is None else integer_sensitivity(sensitivity)
        return self.epsilon * changed / self.sensitivity

    def _released(self, exact: object, source: Source) -> "int | Ints":
        scores = integer_scores_of(exact)
        noisy = np.atleast_2d(scores + discrete_laplace(self.scale, scores.shape, source=source))
        tied = noisy == noisy.max(axis=1, keepdims=True)
        return released(among(tied, source), scores)

    def probability(self, output: int, exact: Any) -> float:
        """Pr[output], given the scores of all candidates.

        Over all values v of its own noisy score, and over s in (0, 1), the mean of Π(F_j(v − 1) + s p_j(v)) over all others j.
        """
        scores = one_list(integer_scores_of(exact))
        at, a = candidate(output, scores.size), 1 / max(float(self.scale), LEAST_SCALE)
        reach = ceil(45 / a) + 2
        first, last = int(scores.max()) - reach, int(scores[at]) + reach
        if last - first > MOST_SUMMED:
            raise Invalid("epsilon is too small, or scores are too far apart, to sum over all noise")
        values = np.arange(first, last + 1)[:, None] - scores[None, :]
        below, here = at_most(values - 1, a), exactly(values, a)
        others = np.arange(scores.size) != at
        points, weights = legendre(min(32, scores.size // 2 + 1))
        shares = [np.prod(below[:, others] + s * here[:, others], axis=1) for s in points]
        return float(here[:, at] @ (weights @ np.array(shares)))

    def error(self, confidence: Number = 0.95, candidates: int = 2) -> float:
        """How far below the best score the chosen one is at most, with this confidence, whatever the scores are.

        Each of the others, were it farther below, would win only if the difference of two noises made up for it.
        """
        level, others = confidence_level(confidence), whole(candidates, "candidates", least=1) - 1
        a = 1 / max(float(self.scale), LEAST_SCALE)
        return float(half_width(lambda w: others * difference_tail(a, w), level))


def exactly(z: Any, a: float) -> Floats:
    """Pr[noise = z], α = e^-a."""
    chances: Floats = -expm1(-a) / (1 + exp(-a)) * np.exp(-a * np.abs(z))
    return chances


def at_most(z: Any, a: float) -> Floats:
    """Pr[noise <= z]: α^−z/(1 + α) below 0, else 1 − α^(z+1)/(1 + α)."""
    tail: Floats = np.exp(-a * np.where(z < 0, -z, z + 1)) / (1 + exp(-a))
    return np.where(z < 0, tail, 1 - tail)


def difference_tail(a: float, w: int) -> float:
    """Pr[difference of two noises > w]: the difference is k with probability ((1−α)/(1+α))² α^|k| (|k| + (1+α²)/(1−α²))."""
    if w < 0:
        return 1.0
    alpha, gap = exp(-a), -expm1(-a)
    start = alpha ** (w + 1)
    sums = start * ((w + 1) / gap + alpha / gap**2) + (1 + alpha**2) / (gap * (1 + alpha)) * start / gap
    return (gap / (1 + alpha)) ** 2 * sums
