"""How far noise reaches: what a noisy marginal tells of the error of a model, whatever the model was made of.

Let y = x + Z be a marginal with its noise, and m the counts of a model, which may well have been fitted to y. Then x is within y ± the
reach of Z with its confidence, whatever m is, and Σ|m − x| is within Σ|m − y| ± Σ|Z|. So these bounds hold for measurements that were
chosen by earlier ones, too, as long as their noise was fresh.
"""

from dataclasses import dataclass
from math import erf, exp2, inf, log, sqrt
from statistics import NormalDist

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class NoiseReach:
    """Noise of a standard deviation on each of some cells: Gaussian, or geometric, which is Laplace's where steps are small."""

    deviation: float
    cells: int
    gaussian: bool

    @property
    def of_one(self) -> float:
        """The noise on one cell is within ± this with probability 95 %."""
        if self.gaussian:
            return NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * self.deviation
        return -log(1 - CONFIDENCE) / sqrt(2) * self.deviation

    @property
    def of_all(self) -> float:
        """The absolute noise on all cells adds up to no more than this, with probability at least 95 %.

        By Chernoff's bound: Pr[Σ|Z| > t] ≤ e^(−λt) · E[e^(λ|Z|)]^cells for every λ. Of one cell the reach is known better.
        """
        if self.cells == 1:
            return self.of_one
        rates = [exp2(k / 16) for k in range(-192, 65)]
        return self.deviation * min((self.cells * self._growth(rate) - log(1 - CONFIDENCE)) / rate for rate in rates)

    def _growth(self, rate: float) -> float:
        """ln E[e^(λ|Z|)], of noise of deviation 1."""
        if self.gaussian:
            return rate * rate / 2 + log(1 + erf(rate / sqrt(2)))
        return -log(1 - rate / sqrt(2)) if rate < sqrt(2) else inf
