"""K(t) = ln E_P[e^(tL)], L = ln dP/dQ: the one function per mechanism, from which all accounting is derived.

(P, Q) is a dominating pair of the leaf. Each leaf has two sides, the pair for removing a unit and the pair for adding one;
they are the same for noise that is symmetric. t is complex with Re t > 0; everything is vectorised over t.

Each kind of leaf has one class here, which says everything that is known of it (`cost.py`); nothing else needs to know the kind.
"""

from dataclasses import replace
from fractions import Fraction
from math import ceil, log
from typing import TypeAlias

import numpy as np

from discreet.errors import Invalid
from discreet.exact import exp_up, rational
from discreet.privacy import events
from discreet.privacy.cost import Cost, costs, sides
from discreet.privacy.filters import SpentConcentrated
from discreet.privacy.numeric.finite import beyond_of_table, dominating_atoms
from discreet.privacy.numeric.kinds import (
    NOTHING,
    AtPoints,
    EndlessLattice,
    LaplaceLoss,
    Nothing,
    OnLattice,
    gaussian_loss,
)
from discreet.privacy.numeric.side import Atoms, ManyK, Points, Sides, symmetric
from discreet.privacy.numeric.sums import Complex, Reals, log_sum
from discreet.privacy.theorems import group_delta

# Steps of sensitivity of a discrete Laplace, whose loss has as many points. On a finer grid it is priced as continuous noise, which
# costs at most 1 + a²/3 as much for a rate a of at most 1e-4: below 1e-8.
MOST_STEPS = 10_000
# From this scale on a discrete Gaussian is priced as a continuous one, whose Δ is larger by 1/(12σ²) < 4e-9 of it. Its points
# would be more than 1e5.
FINE_SCALE = 5_000
# Standard deviations of a discrete Gaussian that are kept: beyond 14 lies less than CUT_OFF. Where it is sampled it may be tilted
# far, and 40 reach to where a float holds no probability.
REACH, FAR_REACH = 14, 40
# More than the probability beyond REACH, 2Φ(−14) = 1.6e-44; it counts as open failure in every certificate.
CUT_OFF = 1e-42
# Terms of a theta function by Poisson's formula; where there would be more, the direct sum is shorter.
MOST_WAVES = 1 << 20
# No ratio of probabilities that anyone writes down is above e to this.
MOST_EXPONENT = Fraction(10_000)

WithSensitivity: TypeAlias = events.Laplace | events.Gaussian | events.DiscreteLaplace | events.DiscreteGaussian


def _of_group(leaf: WithSensitivity, k: int) -> events.Leaf:
    """k units move a result k times as far."""
    return replace(leaf, sensitivity=k * leaf.sensitivity)  # type: ignore[arg-type]


def _same_noise(leaf: WithSensitivity, other: events.Leaf) -> bool:
    """Whether the other is this noise on no larger a sensitivity, which never costs more."""
    if not isinstance(other, type(leaf)):
        return False
    return leaf.scale == other.scale and leaf.sensitivity >= other.sensitivity


@costs(events.Gaussian)
class GaussianCost(Cost[events.Gaussian]):
    """Gaussian noise."""

    def sides(self) -> Sides:
        return symmetric(gaussian_loss((self.leaf.sensitivity / self.leaf.scale) ** 2))

    def group(self, k: int) -> events.Leaf:
        return _of_group(self.leaf, k)

    def zcdp(self) -> SpentConcentrated:
        return SpentConcentrated.by_gaussian(self.leaf.sensitivity / self.leaf.scale)

    def covers(self, other: events.Leaf) -> bool:
        """Its loss depends on sensitivity over scale alone, and more of that dominates less: noise is added to the observation."""
        if not isinstance(other, events.Gaussian):
            return False
        return self.leaf.sensitivity * other.scale >= other.sensitivity * self.leaf.scale


@costs(events.Laplace)
class LaplaceCost(Cost[events.Laplace]):
    """Laplace noise."""

    def sides(self) -> Sides:
        ratio = self.leaf.sensitivity / self.leaf.scale
        return symmetric(LaplaceLoss(ratio, ratio) if ratio else NOTHING)

    def group(self, k: int) -> events.Leaf:
        return _of_group(self.leaf, k)

    def zcdp(self) -> SpentConcentrated:
        return SpentConcentrated.by_laplace(self.leaf.sensitivity / self.leaf.scale)

    def covers(self, other: events.Leaf) -> bool:
        return _same_noise(self.leaf, other)


@costs(events.DiscreteLaplace)
class DiscreteLaplaceCost(Cost[events.DiscreteLaplace]):
    """Discrete Laplace noise."""

    @property
    def pure(self) -> Fraction:
        """Δ/b, the largest loss."""
        return self.leaf.sensitivity / self.leaf.scale

    def sides(self) -> Sides:
        """L = (Δ − 2x)/b at x = 0 … Δ; all x <= 0 count at 0 and all x >= Δ at Δ. α = e^(−1/b).

        With γ = e^ε its δ is 1 − √(γ/e^(Δ/b)) at these losses, that of continuous noise, joined by straight lines in γ.
        """
        delta, rate = self.leaf.sensitivity, 1 / self.leaf.scale
        if not delta:
            return symmetric(NOTHING)
        if delta > MOST_STEPS:  # the largest loss is still that of the grid
            return symmetric(LaplaceLoss(_fine_laplace(self.pure, rate), self.pure))
        a = float(rate)
        log_p = np.log(-np.expm1(-a)) - np.log1p(np.exp(-a)) - a * np.arange(delta + 1)
        log_p[0] = -np.log1p(np.exp(-a))
        log_p[-1] = -a * delta - np.log1p(np.exp(-a))
        many = ManyK(_geometric_k, (a, float(delta)))
        return symmetric(OnLattice(Atoms(-self.pure, 2 * rate, log_p[::-1].copy()), many))

    def group(self, k: int) -> events.Leaf:
        return _of_group(self.leaf, k)

    def covers(self, other: events.Leaf) -> bool:
        return _same_noise(self.leaf, other)


def _geometric_k(parameters: Reals, n: Reals, t: Complex) -> Complex:
    """A geometric series between the two ends, as for continuous noise."""
    a, delta = parameters[:, :1], parameters[:, 1:]
    au = a * (1 + 2 * t[None, :])
    inner = -np.expm1(-a) * np.exp(-au) * np.expm1(-au * (delta - 1)) / np.expm1(-au)
    total: Complex = n @ (t * (a * delta) + np.log((1 + inner + np.exp(-au * delta)) / (1 + np.exp(-a))))
    return total


def _fine_laplace(epsilon: Fraction, rate: Fraction) -> Fraction:
    """The Δ/b of continuous noise that dominates noise on a fine grid, a = 1/b steps apart.

    A line of √γ over a cell from A to A e^(2a) is below by at most √A (e^a − 1)²/(4(1 + e^a)); continuous noise with κ more has
    √γ(1 − e^(−κ/2)) more. So κ = −2 ln(1 − (e^a − 1)²/(4(1 + e^a))) is enough, about a²/4: a²/3 for a <= 1/4.
    """
    return epsilon + (rate * rate / 3 if rate <= Fraction(1, 4) else rate)


@costs(events.DiscreteGaussian)
class DiscreteGaussianCost(Cost[events.DiscreteGaussian]):
    """Discrete Gaussian noise on one integer."""

    def sides(self) -> Sides:
        """L(x) = Δ(Δ − 2x)/(2σ²), P(x) ∝ e^(−x²/(2σ²)): K is a ratio of theta functions.

        For large σ the sums in δ are integrals, but for the corner where the loss is ε: by Euler and Maclaurin they differ by at
        most TV(h')/12, h(x) = p(x) − e^ε q(x) above 0, about 1/(24σ²) of δ, and half of what raising Δ by the factor
        1 + 1/(12σ²) adds.
        """
        leaf, delta = self.leaf, self.leaf.sensitivity
        if not delta:
            return symmetric(NOTHING)
        if leaf.scale > FINE_SCALE:
            return sides(events.Gaussian(leaf.scale, delta * (1 + 1 / (12 * leaf.scale**2))))
        sigma = float(leaf.scale)
        reach = int(REACH * sigma) + 2
        window = np.arange(-reach, reach + 1)
        inverse = 1 / (2 * sigma * sigma)
        log_total = np.log(np.exp(-(window**2) * inverse).sum())
        many = ManyK(_theta_k, (sigma, float(delta), float(log_total)))

        def atoms(farthest: int) -> Atoms:
            x = np.arange(farthest, -farthest - 1, -1)
            offset = Fraction(delta) * (delta - 2 * farthest) / (2 * leaf.scale**2)
            return Atoms(offset, delta / leaf.scale**2, -(x**2) * inverse - log_total, one_hump=True)

        def far() -> Atoms:
            return atoms(int(FAR_REACH * sigma) + 2)

        return symmetric(EndlessLattice(atoms(reach), far, many, delta**2 * inverse, CUT_OFF))

    def group(self, k: int) -> events.Leaf:
        return _of_group(self.leaf, k)

    def zcdp(self) -> SpentConcentrated:
        return SpentConcentrated.by_gaussian(self.leaf.sensitivity / self.leaf.scale)

    def covers(self, other: events.Leaf) -> bool:
        """A larger sensitivity is not known to cost more at a coarse scale, where more noise may cost more."""
        return self.leaf == other or (self.leaf.scale > FINE_SCALE and _same_noise(self.leaf, other))


def _theta_k(parameters: Reals, n: Reals, t: Complex) -> Complex:
    """Σ e^(−x²/2σ² + tΔ(Δ−2x)/2σ²) = e^(t(t+1)Δ²/2σ²) Σ e^(−(x + tΔ)²/2σ²)."""
    sigma, delta, log_total = (parameters[:, i : i + 1] for i in range(3))
    shift = t[None, :] * delta
    inner = t * (t + 1) * (delta / sigma) ** 2 / 2 - log_total
    wide = sigma[:, 0] >= 1
    log_theta = np.empty_like(shift)
    if wide.any():
        log_theta[wide] = _log_waves(sigma[wide], shift[wide])
    for i in np.flatnonzero(~wide):
        log_theta[i] = _log_theta(float(sigma[i, 0]), shift[i])
    total: Complex = n @ (inner + log_theta)
    return total


def _log_theta(sigma: float, shift: Complex) -> Complex:
    """ln Σ_x e^(−(x + shift)²/2σ²) over all integers."""
    off = shift - np.rint(shift.real)
    x = np.arange(-int(REACH * sigma) - 2, int(REACH * sigma) + 3)
    direct: Complex = log_sum(-((x[:, None] + off[None, :]) ** 2) / (2 * sigma * sigma))
    return direct


def _log_waves(sigma: Reals, shift: Complex) -> Complex:
    """The sum of `_log_theta` is, by Poisson's formula, a row for each σ >= 1: σ√(2π) Σ_m e^(−2π²σ²m² + 2πi·m·shift).

    It needs m up to about |Im shift|/(πσ²) + 3/σ.
    """
    off = shift - np.rint(shift.real)
    most = ceil(float((np.abs(off.imag) / (np.pi * sigma**2) + 3 / sigma).max()))
    if most * off.size > MOST_WAVES:
        return np.array([_log_theta(float(each), row) for each, row in zip(sigma[:, 0], off, strict=True)])
    m = np.arange(-most, most + 1)[:, None, None]
    waves = -2 * (np.pi * sigma[None] * m) ** 2 + 2j * np.pi * m * off[None]
    total: Complex = log_sum(waves) + np.log(sigma * np.sqrt(2 * np.pi))
    return total


@costs(events.RandomizedResponse)
class RandomizedResponseCost(Cost[events.RandomizedResponse]):
    """Randomized response."""

    def sides(self) -> Sides:
        if not self.leaf.epsilon:
            return symmetric(NOTHING)
        return symmetric(_response(self.leaf.epsilon, self.leaf.k))


def _response(epsilon: Fraction, k: int, failure: Fraction = Fraction(0)) -> OnLattice:
    """L = ε with probability p, −ε with p e^-ε, 0 for the k − 2 answers that are neither's truth; where it does not fail."""
    e = float(epsilon)
    log_p = log(float(1 - failure)) - np.log1p((k - 1) * np.exp(-e))
    if k == 2:
        return OnLattice(Atoms(-epsilon, 2 * epsilon, np.array([log_p - e, log_p])), failure=failure)
    return OnLattice(Atoms(-epsilon, epsilon, np.array([log_p - e, np.log(k - 2) + log_p - e, log_p])), failure=failure)


@costs(events.Pure)
class PureCost(Cost[events.Pure]):
    """Whatever is ε-DP: dominated by randomized response (Kairouz, Oh and Viswanath 2015, theorem 3.1)."""

    def sides(self) -> Sides:
        return sides(events.RandomizedResponse(self.leaf.epsilon))

    @property
    def divisible(self) -> Fraction:
        return self.leaf.epsilon


@costs(events.Approximate)
class ApproximateCost(Cost[events.Approximate]):
    """Whatever is (ε, δ)-DP: dominated by randomized response that fails openly with probability δ (KOV 2015)."""

    def sides(self) -> Sides:
        epsilon, delta = self.leaf.epsilon, self.leaf.delta
        kept = float(1 - delta)
        if not kept:
            return symmetric(Nothing(Fraction(1)))
        if not epsilon:
            return symmetric(AtPoints(Points(np.zeros(1), np.full(1, log(kept))), delta))
        return symmetric(_response(epsilon, 2, delta))

    def group(self, k: int) -> events.Leaf:
        epsilon, delta = self.leaf.epsilon, self.leaf.delta
        return events.Approximate(k * epsilon, rational(group_delta(epsilon, delta, k), "delta"))

    def zcdp(self) -> SpentConcentrated:
        return SpentConcentrated.by_approximate(self.leaf.epsilon, self.leaf.delta)


@costs(events.ZeroConcentrated)
class ZeroConcentratedCost(Cost[events.ZeroConcentrated]):
    """Whatever is ρ-zCDP: K <= ρ t(t+1) on the real axis, and no pair dominates it."""

    def sides(self) -> Sides:
        raise Invalid(f"no privacy loss is known for the event {type(self.leaf).__name__}", code="event")

    @property
    def concentrated(self) -> Fraction:
        return self.leaf.rho

    def group(self, k: int) -> events.Leaf:
        return events.ZeroConcentrated(k * k * self.leaf.rho)

    def zcdp(self) -> SpentConcentrated:
        return SpentConcentrated(self.leaf.rho)


def _log(p: Fraction) -> float:
    """ln p of a probability that may be too small for a float."""
    return log(p.numerator) - log(p.denominator)


@costs(events.FiniteTable)
class FiniteTableCost(Cost[events.FiniteTable]):
    """A mechanism given by a table: the atoms of the least curve that dominates every ordered pair of rows, exactly."""

    def sides(self) -> Sides:
        dominating = dominating_atoms(self.leaf.rows)
        if not dominating.atoms:  # no output is possible for both inputs
            return symmetric(Nothing(dominating.infinite))
        losses, masses = zip(*dominating.atoms, strict=True)
        points = Points(np.array(losses), np.array([_log(p) for p in masses]))
        return symmetric(AtPoints(points, dominating.infinite))

    def beyond(self, epsilon: Fraction) -> float:
        return float(beyond_of_table(self.leaf.rows, exp_up(min(epsilon, MOST_EXPONENT))))
