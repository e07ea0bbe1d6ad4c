"""Keys that are handed in by name, each with its count of people, and come out by name: whatever else there was is not seen."""

from collections.abc import Mapping
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np

from discreet.exact import Number, exp_bounds, positive, round_up, sqrt_up, whole
from discreet.fields import Exact, frozen
from discreet.mechanisms.base import Mechanism
from discreet.mechanisms.gaussian import RoundedGaussian
from discreet.mechanisms.keys.chance import PRECISION, any_of, open_probability
from discreet.mechanisms.keys.kept import at_stake, counts_of
from discreet.mechanisms.keys.threshold import LEAST_DELTA, least_threshold
from discreet.noise import Source
from discreet.privacy import events

DENSITY = Fraction(39894228041, 10**11)
"""Above 1/√(2π)."""


@frozen
class NamedKeys(Mechanism):
    """A key with count n >= 1 is kept where n + noise > threshold, with that noisy count; the noise is Gaussian, rounded to integers.

    A person is in at most `groups` of the counts, so that they move by √groups in L2; all of them together are one Gaussian
    vector, which is priced as continuous noise is, and adds up with other vectors in closed form.
    """

    scale: Exact
    threshold: int
    groups: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive(self.scale, "scale"))
        object.__setattr__(self, "threshold", whole(self.threshold, "threshold"))
        object.__setattr__(self, "groups", whole(self.groups, "groups", least=1))

    @classmethod
    def for_noise(cls, scale: Number, delta: Number, *, groups: int = 1) -> "NamedKeys":
        """The lowest threshold whose δ_keys is at most delta, for noise of this scale."""
        size, allowed = positive(scale, "scale"), open_probability(delta, "delta")
        each = allowed / whole(groups, "groups", least=1)
        near = -NormalDist().inv_cdf(max(float(each), 1e-300)) * float(size)
        return cls(size, least_threshold(lambda t: cls(size, t, groups).delta_keys <= allowed, int(near)), groups)

    @property
    def noise(self) -> RoundedGaussian:
        """The noise that each count gets."""
        return RoundedGaussian(self.scale)

    @property
    def alone(self) -> Fraction:
        """An upper bound of Pr[1 + noise > threshold]: that a key is seen which one person has.

        Rounded noise is τ or more where the noise on its grid is s = τ − 1/2 or more, in steps. A sum over the grid from s on is at most
        the integral from s − 1 on, and the sum over all of it at least σ√(2π); and beyond t a normal has at most φ(t)/t (Mill's ratio).
        """
        bits = self.noise.bits
        start = (self.threshold << bits) - (1 << bits >> 1) - 1
        t = Fraction(start) / (self.scale * (1 << bits))
        if t <= 0:
            return Fraction(1)
        return min(Fraction(1), DENSITY * exp_bounds(-t * t / 2, PRECISION)[1] / t)

    @property
    def delta_keys(self) -> Fraction:
        """1 − (1 − p)^groups: that a person is seen by a key that nobody else has; rounded up."""
        return max(LEAST_DELTA, min(Fraction(1), round_up(any_of(self.alone, self.groups)[1], PRECISION)))

    def event(self, sensitivity: Number = 1) -> events.Event:
        """The noise on a vector that moves by √groups, and (0, δ_keys) for the keys that nobody else has, as of any threshold."""
        if not at_stake(sensitivity):
            return events.Composed(())
        noise = self.noise.event(sqrt_up(Fraction(self.groups)))
        return events.Composed((noise, events.Approximate(Fraction(0), self.delta_keys)))

    def __call__(self, exact: Mapping[Any, int], source: Source | None = None) -> dict[Any, int]:
        """The keys that are kept, with their noisy counts, the largest first."""
        names = sorted(exact)
        counts = counts_of(np.array([exact[name] for name in names], np.int64))
        noisy = self.noise(counts, source)
        pairs = [
            (int(many), name)
            for name, many, count in zip(names, noisy, counts, strict=True)
            if count > 0 and many > self.threshold
        ]
        return {name: many for many, name in sorted(pairs, key=lambda each: (-each[0], each[1]))}

    def error(self, confidence: Number = 0.95) -> float:
        """± of a noisy count. Those that are kept are the larger ones: near the threshold they are too high more often."""
        return self.noise.error(confidence)
