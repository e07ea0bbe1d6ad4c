"""The mean of bits, and the p behind it: estimates, limits and tests that know of sampling and of noise.

n people have a bit each, n is public, and one of them may be replaced: the number of ones changes by one at most, whatever p is.
`BernoulliMean` is the textbook's estimator, with Laplace noise. `BernoulliCount` releases the noisy number of ones, with geometric
noise; its estimate adapts to p near 0 or 1, and `Inference` from it has the most powerful private tests there are. All but the release
itself is post-processing, and costs nothing.

Probabilities here are sums over the binomial distribution, in floats, to about 1e-12; none of them decides what is released.
"""

from abc import abstractmethod
from fractions import Fraction
from math import ceil, exp, expm1
from typing import Any, NamedTuple

import numpy as np

from discreet.errors import Invalid
from discreet.exact import Number, positive, probability, rational, shown, whole
from discreet.fields import Exact, frozen
from discreet.mechanisms.base import Example, Mechanism, registry
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.inference import Alternative, Floats, Inference, LaplaceNoise, Noise, Tulap, binomial
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.widths import mean_widths, picture_of_widths
from discreet.noise import Source, uniform
from discreet.privacy import events

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

MOST = 1 << 32  # bits
TIE_BITS = 64
# Noisy counts, over the scale of the noise: up to the first they become 0, from the second on they stay as they are.
SHRUNK, UNCHANGED = 0.5, 1.75


class Variance(NamedTuple):
    """The variance of an estimate of p: what comes of drawing n people, and what of the noise."""

    sampling: float
    privacy: float

    @property
    def total(self) -> float:
        """The variance from both together."""
        return self.sampling + self.privacy


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
        array = np.asarray(exact)
        if (
            array.ndim == 1
            and array.size == self.n
            and array.dtype.kind in "biu"
            and bool(np.isin(array, (0, 1)).all())
        ):
            return int(array.sum())
        if array.ndim == 0 and array.dtype.kind in "iu" and 0 <= int(array) <= self.n:
            return int(array)
        raise Invalid(f"exact must be {self.n} bits, each 0 or 1, or how many of them are 1")

    def variance(self, p: Number) -> Variance:
        """The variance of the noisy number of ones over n, apart: p(1 − p)/n from sampling, and that of the noise over n² for privacy."""
        exact = float(probability(p, "p"))
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
        exact = float(probability(p, "p"))
        return self.variance(p).total + self._change(exact) + self._change(1 - exact)

    def _change(self, p: float) -> float:
        """Σ Pr[z] ((shrunk/n − p)² − (z/n − p)²) over noisy counts z below the least that stays as it is.

        Below 0 that is −Σ_j Pr[z = −j] (j²/n² + 2jp/n), and Pr[z = −j] = (1 − α)/(1 + α) α^j E[α^X].
        """
        s, weights = binomial(self.n, p)
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
        ratio = np.exp(size * np.log1p(-q * gap))
    return float(np.max((q / 2) ** 2 * ratio / (1 + ratio)))


def __dir__() -> list[str]:
    return sorted(__all__)
