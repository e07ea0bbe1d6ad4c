"""The sparse vector technique: of a stream of questions, which ones have answers above a threshold; only those above are paid for.

What is promised rests on three noises that are easily left out (Lyu, Su and Li 2017 list the published mistakes): the threshold is noisy,
each score gets fresh noise of its own, and the threshold's noise is drawn anew after each hit. A hit tells that a score is above, never the
noisy score itself.
"""

import os
from fractions import Fraction
from math import ceil, exp, expm1
from threading import Lock
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Invalid, Refused
from discreet.exact import Number, positive, probability, shown, whole
from discreet.fields import Exact, Held, frozen, otherwise
from discreet.mechanisms.additive import integer_sensitivity, repeated
from discreet.mechanisms.base import Example, confidence_level, half_width, registry
from discreet.mechanisms.noisy_max import LEAST_SCALE, MOST_SCALE, MOST_SUMMED, at_most, difference_tail, exactly
from discreet.mechanisms.scores import MOST_SCORE, integer_scores_of, one_list
from discreet.mechanisms.selection import ForSensitivity
from discreet.noise import Source, discrete_laplace
from discreet.noise.source import chosen
from discreet.privacy import events


def _examples() -> list[Example]:
    return [
        Example(AboveThreshold(Fraction(1), 5), 1, [3, 6, 4, 9], [4, 5, 5, 8]),
        Example(AboveThreshold(Fraction(1, 2), 0, hits=2, sensitivity=3), 3, [-5, 4, 0, 2], [-2, 1, 3, 5]),
        Example(AboveThreshold(Fraction(2), 3, hits=3, monotone=True), 1, [3, 2, 4], [4, 2, 5]),
        Example(AboveThreshold(Fraction(3, 2), 2, share=Fraction(2, 3)), 1, [1, 3, 2], [2, 2, 1]),
        Example(AboveThreshold(Fraction(1), 2, monotone=True, share=Fraction(3, 4)), 1, [3, 2, 4], [2, 2, 3]),
    ]


@registry.add(_examples)
@frozen
class AboveThreshold(ForSensitivity):
    """Is score + noise of scale 4Δ/ε at least threshold + noise of scale 2Δ/ε? Up to `hits` times yes; costs hits · ε.

    For integer scores that change by at most Δ each between neighbours; each may be chosen after seeing the answers before it.
    Where all change in one direction they are `monotone`, and 2Δ/ε is enough on the scores (Lyu, Su and Li 2017, theorem 5).
    The threshold has half of ε, or another `share` s of it: then the scales are Δ/(sε), and 2Δ/((1 − s)ε) on scores, half that for
    monotone ones. The more it has, the rarer a threshold that nothing reaches.

    From one hit to the next: let the threshold's noise be larger by Δ under the neighbour, and that of the score that hits by 2Δ.
    Then each score before it stays below, and that one above. Both are integers, so this maps noise to noise one to one, and costs a
    factor of e^(sε) · e^((1 − s)ε) = e^ε. Monotone scores that rise: both by Δ; that fall: only the score's, by Δ.

    >>> found = AboveThreshold(epsilon=0.1, threshold=100, hits=3)
    >>> found.threshold_scale, found.query_scale, found.loss().epsilon()
    (Fraction(20, 1), Fraction(40, 1), 0.3)
    """

    epsilon: Exact  # of each hit
    threshold: int
    hits: int = 1
    sensitivity: Held[Number, int] = otherwise(1)
    monotone: bool = False
    share: Held[Number, Fraction] = otherwise(Fraction(1, 2))

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        object.__setattr__(self, "threshold", _integer(self.threshold, "threshold"))
        object.__setattr__(self, "hits", whole(self.hits, "hits", least=1))
        object.__setattr__(self, "sensitivity", integer_sensitivity(positive(self.sensitivity, "sensitivity")))
        if not isinstance(self.monotone, bool):
            raise Invalid(f"monotone must be True or False, got {shown(self.monotone)}")
        object.__setattr__(self, "share", positive(self.share, "share"))
        if self.share >= 1:
            raise Invalid(f"share must be below 1, got {shown(self.share)}")
        if max(self.query_scale, self.threshold_scale) > MOST_SCALE:
            raise Invalid(f"epsilon must be at least about sensitivity/2^48, got {shown(self.epsilon)}")

    @classmethod
    def for_epsilon(
        cls,
        epsilon: Number,
        sensitivity: Number = 1,
        *,
        threshold: int = 0,
        hits: int = 1,
        monotone: bool = False,
        share: Number = Fraction(1, 2),
    ) -> "AboveThreshold":
        """The least noise with which all hits together are epsilon-DP."""
        each = positive(epsilon, "epsilon") / whole(hits, "hits", least=1)
        return cls(each, threshold, hits, integer_sensitivity(positive(sensitivity, "sensitivity")), monotone, share)

    @classmethod
    def for_budget(
        cls,
        epsilon: Number,
        delta: Number = 0,
        *,
        sensitivity: Number = 1,
        threshold: int = 0,
        hits: int = 1,
        monotone: bool = False,
        share: Number = Fraction(1, 2),
    ) -> "AboveThreshold":
        """Noise with which all hits together are (epsilon, delta)-DP; epsilon-DP in fact, delta is not made use of."""
        probability(delta, "delta")
        return cls.for_epsilon(epsilon, sensitivity, threshold=threshold, hits=hits, monotone=monotone, share=share)

    @property
    def threshold_scale(self) -> Fraction:
        """The scale of the noise on the threshold."""
        return self.sensitivity / (self.share * self.epsilon)

    @property
    def query_scale(self) -> Fraction:
        """The scale of the noise on each score."""
        return (1 if self.monotone else 2) * self.sensitivity / ((1 - self.share) * self.epsilon)

    def event(self, sensitivity: Number | None = None) -> events.Event:
        """What all hits cost together, whether or not they come."""
        changed = self.sensitivity if sensitivity is None else integer_sensitivity(sensitivity)
        return repeated(events.Pure(self.epsilon * changed / self.sensitivity), self.hits)

    def session(self, source: Source | None = None) -> "ThresholdSession":
        """A session, for scores that come one by one."""
        return ThresholdSession(self, chosen(source))

    def __call__(self, exact: Any, source: Source | None = None) -> NDArray[np.bool_]:
        """Whether each of a list of integer scores is above; the answers end with the last hit that is allowed.

        All noise is drawn first, and how much does not depend on the scores.
        """
        scores, bits = one_list(integer_scores_of(exact)), chosen(source)
        noisy = scores + discrete_laplace(self.query_scale, scores.size, source=bits)
        most = min(self.hits, scores.size)
        levels = np.atleast_1d(self.threshold + discrete_laplace(self.threshold_scale, most, source=bits))
        above, start = np.zeros(scores.size, np.bool_), 0
        for level in levels:
            hits = np.flatnonzero(noisy[start:] >= level)
            if not hits.size:
                return above
            start += int(hits[0]) + 1
            above[start - 1] = True
        return above[:start] if most == self.hits else above

    def probability(self, output: Any, exact: Any) -> float:
        """Pr[output], a list of answers, given the scores: a product over hits of sums over the threshold's noise."""
        scores, answers = one_list(integer_scores_of(exact)), [bool(answer) for answer in output]
        if not self._ends(answers, scores.size):
            return 0.0
        a, b = (1 / max(float(scale), LEAST_SCALE) for scale in (self.threshold_scale, self.query_scale))
        reach = ceil(45 / a) + 2
        if reach > MOST_SUMMED:
            raise Invalid("epsilon is too small to sum over all noise of the threshold")
        noise = np.arange(-reach, reach + 1)
        chance, total = exactly(noise, a), 1.0
        for score, answer in zip(scores, answers, strict=False):
            short = noise + (self.threshold - int(score))  # the score's noise must reach this
            chance = chance * (at_most(-short, b) if answer else at_most(short - 1, b))
            if answer:
                chance, total = exactly(noise, a), total * float(chance.sum())
        return total * float(chance.sum()) if not answers or not answers[-1] else total

    def _ends(self, answers: list[bool], size: int) -> bool:
        """Whether a release of this many scores can be this list of answers."""
        hits = sum(answers)
        if hits == self.hits:
            return answers[-1] and len(answers) <= size
        return hits < self.hits and len(answers) == size

    def error(self, confidence: Number = 0.95) -> float:
        """How far the exact score is on the wrong side of the threshold at most, for one answer, with this confidence."""
        level = confidence_level(confidence)
        a, b = (1 / max(float(scale), LEAST_SCALE) for scale in (self.threshold_scale, self.query_scale))
        return float(half_width(lambda w: _sum_tail(a, b, w), level))


class ThresholdSession:
    """Scores one by one, until the hits are used up; then it refuses.

    It holds the noisy threshold, so it can be neither copied nor pickled, and belongs to the process that began it: two of them
    would have twice the hits for one price.
    """

    __slots__ = ("_left", "_level", "_lock", "_mechanism", "_process", "_query_scale", "_source")

    def __init__(self, mechanism: AboveThreshold, source: Source) -> None:
        self._mechanism, self._source = mechanism, source
        self._process, self._lock = os.getpid(), Lock()
        self._left, self._query_scale = mechanism.hits, mechanism.query_scale
        self._level = self._draw_level()

    @property
    def left(self) -> int:
        """How many hits are left."""
        return self._left

    def ask(self, exact: int) -> bool:
        """Whether this score is above the threshold, with fresh noise. Anything but an integer is Invalid, and costs nothing."""
        score = _integer(exact, "exact")
        if self._process != os.getpid():
            raise Refused("this session belongs to another process", hint="begin a new one, and charge for it")
        with self._lock:
            if not self._left:
                raise Refused("this session has used up its hits", hint="begin a new one, and charge for it")
            noise = discrete_laplace(self._query_scale, source=self._source)
            above = score + int(noise) >= self._level
            if above:
                self._left -= 1
                if self._left:
                    self._level = self._draw_level()
            return above

    def _draw_level(self) -> int:
        noise = discrete_laplace(self._mechanism.threshold_scale, source=self._source)
        return self._mechanism.threshold + int(noise)

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError("a Session cannot be copied or pickled: two of them would have twice the hits for one price")

    __copy__ = __deepcopy__ = __reduce__ = __reduce_ex__ = __getstate__ = _refuse


def _integer(value: object, name: str) -> int:
    exact = int(value) if isinstance(value, np.integer) else value
    if not isinstance(exact, int) or isinstance(exact, bool):
        raise Invalid(f"{name} must be an integer, got a {type(value).__name__}", hint="round to integers first")
    if abs(exact) > MOST_SCORE:
        raise Invalid(f"{name} must be at most 2^61 in size")
    return exact


def _sum_tail(a: float, b: float, w: int) -> float:
    """Pr[|sum of two noises| > w], of scales 1/a and 1/b.

    With x = cos θ each has the characteristic function c/(1 + c − x), c = cosh(a) − 1; so the product for c ≠ d is the mixture
    of both with weights d/(d − c) and −c/(d − c).
    """
    if w < 0:
        return 1.0
    if a == b:
        return 2 * difference_tail(a, w)
    c, d = (expm1(-rate) ** 2 / (2 * exp(-rate)) for rate in (a, b))
    return (d * _tail(a, w) - c * _tail(b, w)) / (d - c)


def _tail(a: float, w: int) -> float:
    """Pr[|noise| > w]."""
    return 2 * exp(-a * (w + 1)) / (1 + exp(-a))
