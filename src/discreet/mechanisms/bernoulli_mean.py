"""The mean of bits, and the p behind it: estimates, limits and tests that know of sampling and of noise.

n people have a bit each, n is public, and one of them may be replaced: the number of ones changes by one at most, whatever p is.
`BernoulliMean` is the textbook's estimator, with Laplace noise. `BernoulliCount` releases the noisy number of ones, with geometric
noise; its estimate adapts to p near 0 or 1, and `Inference` from it has the most powerful private tests there are. All but the release
itself is post-processing, and costs nothing.

Probabilities here are sums over the binomial distribution, in floats, to about 1e-12; none of them decides what is released.
"""

from abc import abstractmethod
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from math import ceil, exp, expm1, log1p, sqrt
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.exact import Number, positive, probability, rational, shown, whole
from discreet.fields import Exact, frozen
from discreet.mechanisms.base import Example, Mechanism, confidence_level, registry
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.laplace import Laplace
from discreet.noise import Source, uniform
from discreet.privacy import events
from discreet.privacy.numeric.search import root

__all__ = [
    "Alternative",
    "BernoulliCount",
    "BernoulliMean",
    "Inference",
    "LaplaceNoise",
    "Noise",
    "Tulap",
    "Variance",
    "least_error",
    "mean_widths",
    "picture_of_widths",
]

Floats = NDArray[np.float64]

MOST = 1 << 32  # bits
SPREAD, FEW = 9, 40  # standard deviations of a binomial, and counts more, that hold all but 1e-16 of it
TIE_BITS = 64
# Noisy counts, over the scale of the noise: up to the first they become 0, from the second on they stay as they are.
SHRUNK, UNCHANGED = 0.5, 1.75
POINTS, MOST_DRAWN = 401, 10_000  # of p in a picture, and bits
COLOURS = ("#888888", "#4c78a8", "#f58518")
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"


class Variance(NamedTuple):
    """The variance of an estimate of p: what comes of drawing n people, and what of the noise."""

    sampling: float
    privacy: float

    @property
    def total(self) -> float:
        """The variance from both together."""
        return self.sampling + self.privacy


class Alternative(Enum):
    """What a test looks for: that p is greater or less than the p of the hypothesis, or either."""

    GREATER = "greater"
    LESS = "less"
    DIFFERENT = "different"


# The noise, as a distribution on the line, symmetric about 0.


class Noise(Protocol):
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


def _binomial(n: int, p: float) -> tuple[Floats, Floats]:
    """Numbers of ones, and their probabilities: all but about 1e-16 of them. From the mode outwards, by their ratios."""
    if p <= 0 or p >= 1:
        return np.array([n * float(p > 0)]), np.ones(1)
    mode, width = min(n, int((n + 1) * p)), ceil(SPREAD * sqrt(n * p * (1 - p))) + FEW
    s = np.arange(max(0, mode - width), min(n, mode + width) + 1, dtype=np.float64)
    logs = np.concatenate(([0.0], np.cumsum(np.log((n - s[:-1]) / (s[:-1] + 1)) + np.log(p) - log1p(-p))))
    weights = np.exp(logs - logs.max())
    return s, weights / weights.sum()


def _chance(value: object, name: str) -> float:
    return float(probability(value, name))


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
        exact = _chance(p, "p")
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
        s, weights = _binomial(self.n, p)
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


# The mechanisms.


@frozen
class OnBits(Mechanism):
    """Noise of a scale on the number of ones among n bits, n public."""

    n: int
    scale: Exact

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", whole(self.n, "n", least=1))
        if self.n > MOST:
            raise Invalid(f"n must be at most 2^32, got {shown(self.n)}")
        object.__setattr__(self, "scale", positive(self.scale, "scale"))

    @property
    @abstractmethod
    def _mechanism(self) -> Laplace | Geometric:
        """The noise."""

    def event(self, sensitivity: Number = 1) -> events.Event:
        """The event of the noise; `sensitivity` is in ones."""
        return self._mechanism.event(sensitivity)

    def _ones(self, exact: object) -> int:
        """Their number, from the bits or from the number itself."""
        found = np.asarray(exact)
        if (
            found.ndim == 1
            and found.size == self.n
            and found.dtype.kind in "biu"
            and bool(np.isin(found, (0, 1)).all())
        ):
            return int(found.sum())
        if found.ndim == 0 and found.dtype.kind in "iu" and 0 <= int(found) <= self.n:
            return int(found)
        raise Invalid(f"exact must be {self.n} bits, each 0 or 1, or how many of them are 1")

    def variance(self, p: Number) -> Variance:
        """The variance of the noisy number of ones over n, apart: p(1 − p)/n from sampling, and that of the noise over n² for privacy."""
        exact = _chance(p, "p")
        return Variance(exact * (1 - exact) / self.n, self._mechanism.variance / self.n**2)

    def error(self, confidence: Number = 0.95) -> float:
        """± of the noise alone, around the mean of the bits; for p see `interval`, which covers sampling too."""
        return self._mechanism.error(confidence) / self.n


def _mean_examples() -> list[Example]:
    return [
        Example(BernoulliMean(100, Fraction(2)), 1, 40, 41),
        Example(BernoulliMean(3, Fraction(1, 2)), 1, [0, 1, 1], [0, 0, 1]),
    ]


@registry.add(_mean_examples)
class BernoulliMean(OnBits):
    """The mean of n bits with Laplace noise of scale/n: E(p − p̃)² = p(1 − p)/n + 2/(ε²n²), ε = 1/scale.

    >>> BernoulliMean.for_epsilon(0.5, 100).variance(0.1)
    Variance(sampling=0.0009..., privacy=0.0008...)
    """

    __slots__ = ()

    @classmethod
    def for_epsilon(cls, epsilon: Number, n: int) -> "BernoulliMean":
        """The least noise that is epsilon-DP, its rounding included."""
        return cls(n, Laplace.for_epsilon(epsilon).scale)

    @classmethod
    def for_budget(cls, epsilon: Number, delta: Number = 0, *, n: int) -> "BernoulliMean":
        """The least noise that is (epsilon, delta)-DP, its rounding included."""
        return cls(n, Laplace.for_budget(epsilon, delta).scale)

    @property
    def _mechanism(self) -> Laplace:
        return Laplace(self.scale)

    def __call__(self, exact: Any, source: Source | None = None) -> float:
        """An unbiased estimate of p; it may lie outside of 0 to 1."""
        return float(self._mechanism(self._ones(exact), source)) / self.n

    def infer(self, estimate: float) -> Inference:
        """What a release says about p."""
        return Inference(self.n, float(rational(estimate, "estimate")) * self.n, LaplaceNoise(float(self.scale)))

    def interval(self, estimate: float, confidence: Number = 0.95) -> tuple[float, float]:
        """An interval for p, from a release: it covers sampling and noise, with at least this probability at every p."""
        return self.infer(estimate).interval(confidence)


def _count_examples() -> list[Example]:
    return [
        Example(BernoulliCount(100, Fraction(2)), 1, 40, 41),
        Example(BernoulliCount(3, Fraction(1, 2)), 1, [0, 1, 1], [0, 0, 1]),
    ]


@registry.add(_count_examples)
class BernoulliCount(OnBits):
    """The number of ones among n bits with geometric noise; an estimate of p that adapts to the ends, and inference.

    A one more or less changes the count by one at every p, so that no private estimator gains more than a constant factor where p is
    near 0 or 1 (`least_error`). The factor is had here by noise on integers, by clamping, and by shrinking what the noise might have
    made of nothing.
    """

    __slots__ = ()

    @classmethod
    def for_epsilon(cls, epsilon: Number, n: int) -> "BernoulliCount":
        """The least noise that is epsilon-DP."""
        return cls(n, Geometric.for_epsilon(epsilon).scale)

    @classmethod
    def for_budget(cls, epsilon: Number, delta: Number = 0, *, n: int) -> "BernoulliCount":
        """The least geometric noise that is (epsilon, delta)-DP; with delta there may be better tests than those of `infer`."""
        return cls(n, Geometric.for_budget(epsilon, delta).scale)

    @property
    def _mechanism(self) -> Geometric:
        return Geometric(self.scale)

    def __call__(self, exact: Any, source: Source | None = None) -> int:
        """The noisy number of ones; it may lie outside of 0 to n."""
        return int(self._mechanism(self._ones(exact), source))

    def estimate(self, noisy: int) -> float:
        """The estimate of p, from a release: clamped, and shrunk to 0 or 1 where it lies within half a scale of the noise.

        From 1.75 scales on (or from n/2) it is noisy/n, and in between it is linear. With these two numbers what noise adds below a
        threshold and what shrinking takes off cancel, seen from far away: Σ α^−z (estimate − z) over all z below is about 0.
        Its mean square error is at most 0.451·2/(ε²n²) at p = 0 and p = 1, and at no p above that of noisy/n.

        >>> [BernoulliCount(100, 10).estimate(noisy) for noisy in (-7, 5, 11, 18, 99)]
        [0.0, 0.0, 0.084, 0.18, 1.0]
        """
        exact = whole(noisy, "noisy", least=-(1 << 63))
        if 2 * exact > self.n:
            return 1 - float(self._shrunk(np.array([float(self.n - exact)]))[0]) / self.n
        return float(self._shrunk(np.array([float(exact)]))[0]) / self.n

    def _shrunk(self, count: Floats) -> Floats:
        """Counts up to n/2, with those that noise might have made of nothing taken towards 0."""
        first, last = (min(scales * float(self.scale), self.n / 2) for scales in (SHRUNK, UNCHANGED))
        between = (count - first) * last / (last - first) if last > first else np.zeros_like(count)
        return np.where(count >= last, count, np.where(count <= first, 0.0, between))

    def mean_square_error(self, p: Number) -> float:
        """E(p − estimate)², added up exactly: that of noisy/n, and what clamping and shrinking change at either end."""
        exact = _chance(p, "p")
        return self.variance(p).total + self._change(exact) + self._change(1 - exact)

    def _change(self, p: float) -> float:
        """Σ Pr[z] ((shrunk/n − p)² − (z/n − p)²) over noisy counts z below the least that stays as it is.

        Below 0 that is −Σ_j Pr[z = −j] (j²/n² + 2jp/n), and Pr[z = −j] = (1 − α)/(1 + α) α^j E[α^X].
        """
        s, weights = _binomial(self.n, p)
        alpha, left = exp(-1 / float(self.scale)), -expm1(-1 / float(self.scale))
        z = np.arange(ceil(min(UNCHANGED * float(self.scale), self.n / 2)), dtype=np.float64)
        chance = left / (1 + alpha) * _spread(s, weights, z.size, float(self.scale))
        inside = chance @ ((self._shrunk(z) / self.n - p) ** 2 - (z / self.n - p) ** 2)
        moved = float(np.exp(-s / float(self.scale)) @ weights) * alpha / (1 + alpha)
        return float(inside) - moved * ((1 + alpha) / (left * self.n) ** 2 + 2 * p / (left * self.n))

    def infer(self, noisy: int, source: Source | None = None) -> Inference:
        """What a release says about p. Draws the uniform number that makes tests exact: one for each release, not for each test."""
        exact = whole(noisy, "noisy", least=-(1 << 63))
        tie = Fraction(2 * int(uniform(1 << TIE_BITS, source=source)) + 1, 1 << TIE_BITS + 1) - Fraction(1, 2)
        return Inference(self.n, float(exact + tie), Tulap(float(self.scale)))


def _spread(s: Floats, weights: Floats, size: int, scale: float) -> Floats:
    """Σ weight·α^|z − s| for z below `size`: what comes from the left is carried to the right, and the other way round."""
    alpha, here = exp(-1 / scale), np.zeros(size)
    near = s < size
    here[s[near].astype(np.int64)] = weights[near]
    total, carried = here.copy(), 0.0
    for z in range(1, size):
        carried = alpha * (carried + here[z - 1])
        total[z] += carried
    carried = float(weights[~near] @ np.exp(-(s[~near] - size + 1) / scale))
    for z in range(size - 1, -1, -1):
        total[z] += carried
        carried = alpha * (carried + here[z])
    return total


def least_error(epsilon: Number, n: int) -> float:
    """What no epsilon-DP estimator of p from n bits goes below: the greater of its mean square errors at p = 0 and at some p nearby.

    Le Cam's two points (under privacy: Barber and Duchi 2014; Acharya, Sun and Zhang 2021). At p = q there are X ones, and what has
    probability a at p = 0 has at least a E[e^−εX] = a c there, c = (1 − q(1 − e^−ε))^n. So the estimate is on the wrong side of q/2 with
    probability c/(1 + c) at least, at 0 or at q: the error is at least (q/2)² c/(1 + c). The best q is near 2.2/(n(1 − e^−ε)), so
    that no estimator does better at p near 0 than 0.12/(n(1 − e^−ε))², while noise alone costs 2/(εn)².

    >>> round(least_error(0.01, 10**6) * (0.01 * 10**6) ** 2, 3)
    0.122
    """
    gap, size = -expm1(-float(positive(epsilon, "epsilon"))), whole(n, "n", least=1)
    q = np.linspace(0.0, min(1.0, 8 / (size * gap)), 4001)
    with np.errstate(divide="ignore"):  # where one bit tells everything
        kept = np.exp(size * np.log1p(-q * gap))
    return float(np.max((q / 2) ** 2 * kept / (1 + kept)))


# How wide intervals are.


def mean_widths(n: int, epsilon: Number, p: Floats, confidence: Number = 0.95) -> dict[str, Floats]:
    """The expected width of intervals for p, at each p: of the plain one, that of `BernoulliMean`, that of `BernoulliCount`.

    The plain one is the Laplace estimate, clamped, ± what covers p = ½, where sampling spreads most, cut off at 0 and 1. The expected
    width is ∫ Pr_p[q in the interval] dq (Pratt 1961), a sum over a grid of q.
    """
    size, tail = whole(n, "n", least=1), (1 - confidence_level(confidence)) / 2
    if size > MOST_DRAWN:
        raise Invalid(f"n must be at most {MOST_DRAWN} for a picture, got {shown(n)}")
    scale = float(1 / positive(epsilon, "epsilon"))
    laplace, tulap = LaplaceNoise(scale), Tulap(scale)
    q = np.sin(np.linspace(0.0, np.pi / 2, POINTS)) ** 2  # denser at the ends, where intervals are narrow
    half = float(_quantiles(size, laplace, np.array([0.5]), 1 - tail)[0]) - size / 2
    found = {"plain": _mean_width(size, laplace, p, q, (size * q - half, size * q + half))}
    for name, noise in (("laplace", laplace), ("geometric", tulap)):
        first, last = (_quantiles(size, noise, q, level) for level in (tail, 1 - tail))
        found[name] = _mean_width(size, noise, p, q, (first, last))
    return found


def _binomials(n: int, p: Floats) -> Floats:
    """A row of n + 1 probabilities for each p."""
    table = np.zeros((p.size, n + 1))
    for row, each in zip(table, p, strict=True):
        s, weights = _binomial(n, float(each))
        row[s.astype(np.int64)] = weights
    return table


def _quantiles(n: int, noise: Noise, p: Floats, level: float) -> Floats:
    """The number that ones plus noise do not exceed with this probability, at each p."""
    spread = 1.0
    while float(noise.below(np.array([-spread]))[0]) > min(level, 1 - level):
        spread *= 2
    found = np.empty(p.size)
    for i, each in enumerate(p):
        s, weights = _binomial(n, float(each))

        def short(t: float, s: Floats = s, weights: Floats = weights) -> float:
            return level - float(weights @ noise.below(t - s))

        low, high = float(s[0]) - spread, float(s[-1]) + spread
        found[i] = root(short, low, high, short(low), short(high), close=1e-12)
    return found


def _mean_width(n: int, noise: Noise, p: Floats, q: Floats, ends: tuple[Floats, Floats]) -> Floats:
    """∫ Pr_p[q in the interval] dq, where that is X + N, taken into 0 to n, between two ends at each q."""
    ones = np.arange(n + 1.0)[:, None]
    first, last = (noise.below(end - ones) for end in ends)
    inside = _binomials(n, p) @ (np.where(ends[1] >= n, 1.0, last) - np.where(ends[0] <= 0, 0.0, first))
    return np.asarray((inside[:, 1:] + inside[:, :-1]) @ np.diff(q) / 2)


def picture_of_widths(n: int, epsilon: Number, confidence: Number = 0.95) -> dict[str, Any]:
    """A Vega-Lite picture of what better intervals gain: their expected width over p, with its data inside."""
    p = np.concatenate((np.linspace(0.0, 0.1, 11), np.linspace(0.15, 0.85, 15), np.linspace(0.9, 1.0, 11)))
    widths = mean_widths(n, epsilon, p, confidence)
    names = {
        "plain": "the same ± at every p",
        "laplace": "exact limits, Laplace noise",
        "geometric": "most powerful tests, geometric noise",
    }
    rows = [
        {"p": round(float(x), 6), "width": float(width), "interval": names[kind]}
        for kind in names
        for x, width in zip(p, widths[kind], strict=True)
    ]
    gain = 1 - widths["geometric"] / widths["plain"]
    said = f"Narrower by {gain[0]:.0%} at p = 0, and by {float(gain[18]):.0%} at p = 1/2, than the plain interval."
    return {
        "$schema": SCHEMA,
        "description": f"The expected width of {confidence_level(confidence):.0%} intervals for p, over p. {said}",
        "title": {
            "text": f"Intervals for p from {n} bits at ε = {float(positive(epsilon, 'epsilon')):g}",
            "subtitle": said,
        },
        "data": {"values": rows},
        "mark": {"type": "line", "point": "transparent", "strokeWidth": 2},
        "encoding": {
            "x": {"field": "p", "type": "quantitative", "scale": {"domain": [0, 1]}, "title": "p"},
            "y": {"field": "width", "type": "quantitative", "scale": {"zero": True}, "title": "expected width"},
            "color": {
                "field": "interval",
                "type": "nominal",
                "scale": {"domain": list(names.values()), "range": list(COLOURS)},
                "legend": {"orient": "bottom", "title": None},
            },
            "tooltip": [
                {"field": "interval", "type": "nominal"},
                {"field": "p", "type": "quantitative", "format": ".3~g"},
                {"field": "width", "type": "quantitative", "format": ".3~g"},
            ],
        },
        "width": 360,
        "height": 240,
    }


def __dir__() -> list[str]:
    return sorted(__all__)
