"""How far noise reaches: what a noisy marginal tells of the error of a model, whatever the model was made of.

Let y = x + Z be a marginal with its noise, and m the counts of a model, which may well have been fitted to y. Then x is within y ± the
reach of Z with its confidence, whatever m is, and Σ|m − x| is within Σ|m − y| ± Σ|Z|. So these bounds hold for measurements that were
chosen by earlier ones, too, as long as their noise was fresh.
"""

from dataclasses import dataclass
from math import erf, exp, exp2, fsum, inf, lgamma, log, pi, sqrt
from statistics import NormalDist

CONFIDENCE = 0.95
FEW = 200


@dataclass(frozen=True, slots=True)
class NoiseReach:
    """Noise of a standard deviation on each of some cells: Gaussian, or geometric, which is Laplace's where steps are small.

    With a `spread` the noise of cells may go together: it is the largest deviation of any sum of cells with weights of norm 1.
    """

    deviation: float
    cells: int
    gaussian: bool
    spread: float | None = None

    @property
    def of_one(self) -> float:
        """The noise on one cell is within ± this with probability 95 %."""
        if self.gaussian:
            return NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * self.deviation
        return -log(1 - CONFIDENCE) / sqrt(2) * self.deviation

    @property
    def of_all(self) -> float:
        """The absolute noise on all cells adds up to no more than this, with probability at least 95 %.

        By Chernoff's bound: Pr[Σ|Z| > t] ≤ e^(−λt) · E[e^(λ|Z|)]^cells for every λ. Of one cell the reach is known better, and of a
        few cells with Laplace noise: a sum of exponential variables has a gamma distribution.
        """
        if self.cells == 1:
            return self.of_one
        if self.spread is not None:
            return self._together(self.spread)
        if not self.gaussian and self.cells <= FEW:
            return self.deviation / sqrt(2) * _gamma_quantile(self.cells)
        rates = [exp2(k / 16) for k in range(-192, 65)]
        return self.deviation * min((self.cells * self._growth(rate) - log(1 - CONFIDENCE)) / rate for rate in rates)

    def _together(self, spread: float) -> float:
        """The same where the noise of cells goes together.

        Σ|Z| changes by no more than √cells · spread when the independent noise behind it changes by 1. So Gaussian noise exceeds its
        mean by t times that with probability e^(−t²/2) (Borell; Tsirelson, Ibragimov and Sudakov 1976); for Laplace's the variance is
        at most twice the square of it (Poincaré's inequality, whose constant is 4b²), and Cantelli's inequality bounds the rest.
        """
        rare, slope = 1 - CONFIDENCE, sqrt(self.cells) * spread
        if self.gaussian:
            return self.cells * self.deviation * sqrt(2 / pi) + slope * sqrt(-2 * log(rare))
        return self.cells * self.deviation + slope * sqrt(2 * CONFIDENCE / rare)

    def _growth(self, rate: float) -> float:
        """ln E[e^(λ|Z|)], of noise of deviation 1."""
        if self.gaussian:
            return rate * rate / 2 + log(1 + erf(rate / sqrt(2)))
        return -log(1 - rate / sqrt(2)) if rate < sqrt(2) else inf


def _gamma_quantile(shape: int) -> float:
    """The least t, to 1e-9 of it, with Pr[Gamma(shape) > t] = Σ_{i < shape} e^(−t) tⁱ/i! below 5 %."""
    low, high = 0.0, 3.0 * shape + 10
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        terms = [exp(place * log(middle) - middle - lgamma(place + 1)) for place in range(shape)]
        low, high = (low, middle) if fsum(terms) < 1 - CONFIDENCE else (middle, high)
    return high
