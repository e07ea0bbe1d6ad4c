"""The loss of sampled leaves: the unit, or each of a group of units, is seen with probability q only, anew at each use.

With r the density of the mixture against Q, as a function of the loss l of the part: the mixture against Q has K = ln E_Q[r^(t+1)],
and Q against the mixture has K = ln E_Q[r^-t] (Zhu, Dong and Wang 2022, theorem 11). Add/remove only.
"""

from collections.abc import Callable
from functools import lru_cache
from math import ceil, comb, inf, log, log1p, sqrt

import numpy as np

from discreet.errors import Invalid
from discreet.privacy import events
from discreet.privacy.adjacency import Adjacency, Relation
from discreet.privacy.cost import Cost, cost_of, costs, sides
from discreet.privacy.numeric.kinds import NOTHING, GaussianLoss, LaplaceLoss, Mixed
from discreet.privacy.numeric.quadrature import legendre
from discreet.privacy.numeric.side import Density, Points, Side, Sides, symmetric
from discreet.privacy.numeric.sums import Complex, Reals, log_sum_of
from discreet.privacy.numeric.unresolved import Unresolved

# Below this loss e^l is nothing beside any rate: e^-1000 is no float.
LOWEST = -1e3
# Losses beyond stand for unbounded ones, and r of them is still a float.
FARTHEST_LOSS = 1e9
# Above this loss q e^l is so much more than 1 − q that ln r may be had without expm1: e^-30 is 1e-13.
FAR_LOSS = 30.0
# Trapezoid nodes under a Gaussian: 11 standard deviations leave out 4e-28, and at 12 nodes to each the rule is off by e^(−2π²·144).
SIGMAS, PER_SIGMA = 11.0, 12
# The axis is looked at in cells of this width, so that those without weight are left out; a quarter is 3 nodes.
CELL = 0.25
# ln of what is left out of an integrand, relative to its peak: e^-50 is 2e-22, far below a unit in the last place.
NEGLIGIBLE = 50.0
# Of the peak under a Gaussian, in standard deviations: beyond it the square of the shift loses the digits that matter.
MOST_SHIFT = 20_000.0
# Turns of the integrand over a standard deviation, or between the points of a Laplace loss: more would take more than 1e5 nodes.
MOST_TURNS = 1_000.0
# Newton's method from above doubles its digits at each turn; 12 is twice what was ever needed.
NEWTON_TURNS = 12
# The exponent from which e^z is no float, and the least positive float that is safe to divide by.
NO_FLOAT, LEAST_FLOAT = 700.0, 1e-300
# Nodes in each part of a Laplace density, over which the integrand turns by 10 at most: then 24 are exact to 1e-16.
LAPLACE_NODES, LAPLACE_TURN = 24, 10


class Mixture:
    """r(l) = Σ_j B_j e^(jl − j(j−1)μ²/2), B binomial(k, q): j of k units are seen. For one unit 1 − q + q e^l, whatever the part."""

    def __init__(self, q: float, k: int = 1, squared: float = 0.0) -> None:
        self.k, self._q = k, q
        if k == 1:
            self.log_share: Reals = np.array([log1p(-q), log(q)])
            return
        seen = np.arange(k + 1)
        choices = np.log([float(comb(k, j)) for j in range(k + 1)])
        self.log_share = choices + seen * np.log(q) + (k - seen) * np.log1p(-q) - seen * (seen - 1) * squared / 2

    def log_r(self, losses: Reals) -> Reals:
        if self.k == 1:
            near: Reals = np.log1p(self._q * np.expm1(np.minimum(losses, FAR_LOSS)))  # keeps its digits near 0
            return np.where(losses < FAR_LOSS, near, np.logaddexp(self.log_share[0], self.log_share[1] + losses))
        exponents = self.log_share[:, None] + np.arange(self.k + 1)[:, None] * losses[None, :]
        many: Reals = np.logaddexp.reduce(exponents, axis=0)
        return many

    def inverse(self, log_r: Reals) -> Reals:
        """The l with this ln r, for the increasing values above ln B_0; where some are not, one l below all others instead."""
        if self.k == 1:
            near = log_r < FAR_LOSS
            ratio = np.expm1(log_r[near]) / self._q
            far = log_r[~near] + np.log1p(-(1 - self._q) * np.exp(-log_r[~near])) - log(self._q)
            inside = np.concatenate([np.log1p(ratio[ratio > -1]), far])
        else:
            inside = self._newton(log_r[log_r > self.log_share[0]])
        if inside.size == log_r.size:
            return inside
        return np.concatenate([[min(LOWEST, float(inside[0]) - 1) if inside.size else LOWEST], inside])

    def _newton(self, log_r: Reals) -> Reals:
        """ln r is convex and increasing, and r >= B_0 + B_j e^(jl): from there Newton only goes down."""
        seen = np.arange(1, self.k + 1)[:, None]
        over = log_r + np.log(-np.expm1(self.log_share[0] - log_r))
        losses: Reals = ((over[None, :] - self.log_share[1:, None]) / seen).min(axis=0)
        for _ in range(NEWTON_TURNS):
            exponents = self.log_share[1:, None] + seen * losses[None, :]
            log_seen = np.logaddexp.reduce(exponents, axis=0)
            mean = (seen * np.exp(exponents - log_seen)).sum(axis=0)
            losses = losses - (log_seen - over) / mean
        return losses


@costs(events.Sampled)
class SampledCost(Cost[events.Sampled]):
    """A leaf that sees each unit with a probability only."""

    relation = Relation(Adjacency.ADD_REMOVE)

    def sides(self) -> Sides:
        leaf = self.leaf
        part = sides(leaf.part)[0]
        if leaf.rate == 1:
            return sides(leaf.part)
        if part.failure:
            raise Invalid("a part that may fail openly cannot be sampled", hint="compose it without sampling")
        if part is NOTHING:
            return symmetric(NOTHING)
        q = float(leaf.rate)
        one = _one(part.one, q) if part.one is not None else (None, None)
        return _mixed_sides(part, Mixture(q), one)

    def group(self, k: int) -> events.Leaf:
        """For Gaussian noise a mixture; for anything else k times its pure ε."""
        if isinstance(self.leaf.part, events.Gaussian):
            return events.SampledGroup(self.leaf.rate, self.leaf.part, k)
        return super().group(k)

    def covers(self, other: events.Leaf) -> bool:
        """At one rate: whatever dominates a pair of distributions dominates it sampled too.

        One channel takes both of one pair to both of the other, and so their mixtures.
        """
        if not isinstance(other, events.Sampled):
            return False
        return self.leaf.rate == other.rate and cost_of(self.leaf.part).covers(other.part)


@costs(events.SampledGroup)
class SampledGroupCost(Cost[events.SampledGroup]):
    """Gaussian noise that sees each of several units with a probability only."""

    relation = Relation(Adjacency.ADD_REMOVE)

    def sides(self) -> Sides:
        """All units pull the same way in the worst case: a mixture of Gaussians (Ganesh 2024)."""
        leaf = self.leaf
        part = sides(leaf.part)[0]
        if part is NOTHING or part.gaussian is None:
            return symmetric(NOTHING)
        if leaf.rate == 1:
            return sides(events.Gaussian(leaf.part.scale, leaf.size * leaf.part.sensitivity))
        return _mixed_sides(part, Mixture(float(leaf.rate), leaf.size, float(part.gaussian)), (None, None))

    def group(self, k: int) -> events.Leaf:
        return events.SampledGroup(self.leaf.rate, self.leaf.part, k * self.leaf.size)


Curve = Callable[[Reals], Reals]


def _mixed_sides(part: Side, mixture: Mixture, one: tuple[Curve | None, Curve | None]) -> Sides:
    measure = _measure_under_q(part, mixture)

    def k(s: Complex) -> Complex:
        log_w, losses = measure(s)
        return log_sum_of(log_w, mixture.log_r(losses), s)

    ends = mixture.log_r(np.clip([part.least, part.largest], -FARTHEST_LOSS, FARTHEST_LOSS))
    low, high = float(ends[0]), float(ends[1]) if part.largest < inf else inf
    atoms = part.far_points or part.points
    points = _mixed(atoms, mixture) if atoms is not None else (None, None)
    density = _mixed_density(part.density, mixture) if part.density is not None else (None, None)
    rho = part.rho * mixture.k**2
    return (
        Mixed(lambda t: k(t + 1), (low, high), points[0], density[0], one[0], rho),
        Mixed(lambda t: k(-t), (-high, -low), points[1], density[1], one[1]),
    )


def _one(part: Curve, q: float) -> tuple[Curve, Curve]:
    """δ of one sampled use from δ of the part, γ = e^z.

    (1−q)Q + qP − γQ = q (P − ((γ−1+q)/q) Q), and Q − γ((1−q)Q + qP) = (1−γ(1−q)) (Q − (γq/(1−γ(1−q))) P).
    """

    def with_unit(z: Reals) -> Reals:
        inner = np.exp(np.minimum(z, NO_FLOAT)) - (1 - q)
        known = q * part(np.log(np.maximum(inner, LEAST_FLOAT)) - np.log(q))
        return np.where(inner > 0, known, -np.expm1(np.minimum(z, 0.0)))

    def without(z: Reals) -> Reals:
        left = 1 - np.exp(np.minimum(z, NO_FLOAT)) * (1 - q)
        safe = np.maximum(left, LEAST_FLOAT)
        return np.where(left > 0, left * part(z + np.log(q) - np.log(safe)), 0.0)

    return with_unit, without


def _mixed(part: Points, mixture: Mixture) -> tuple[Points, Points]:
    """The points of the mixture against Q, and of Q against the mixture."""
    log_q = part.log_p - part.losses
    losses = mixture.log_r(part.losses)
    return Points(losses, log_q + losses), Points(-losses, log_q)


def _mixed_density(part: Density, mixture: Mixture) -> tuple[Density, Density]:
    """The quadrature points of both mixtures; cuts are moved to where the part has them."""
    return (
        lambda cuts: _mixed(part(mixture.inverse(cuts)), mixture)[0],
        lambda cuts: _mixed(part(mixture.inverse(-cuts[::-1])), mixture)[1],
    )


def _measure_under_q(part: Side, mixture: Mixture) -> Callable[[Complex], tuple[Reals, Reals]]:
    """s -> (log weights, losses): nodes that integrate r^s under Q for every s of that size."""
    if isinstance(part, GaussianLoss):
        mu = float(part.gaussian) ** 0.5
        return lambda s: _gaussian_nodes(mu, mixture, s)
    if isinstance(part, LaplaceLoss):
        epsilon = float(part.laplace)
        return lambda s: _laplace_nodes(epsilon, float(np.abs(s).max()))
    if (points := part.far_points) is not None:
        log_w: Reals = points.log_p - points.losses
        return lambda s: (log_w, points.losses)
    raise Invalid("this event cannot be sampled: its loss is not known point by point")


def _gaussian_nodes(mu: float, mixture: Mixture, s: Complex) -> tuple[Reals, Reals]:
    """z ~ N(0, 1), l = μz − μ²/2: the trapezoid rule, exponentially accurate, wherever the integrand of r^s matters.

    r^s moves the peak by at most kμ Re s. Cells of the axis where the integrand is below e^-NEGLIGIBLE of its peak, for every s,
    are left out. A trapezoid of step h resolves the turns of r^s while h kμ |Im s| stays below about 2. For Re s < 0, ln r^s is
    concave, with a curvature of at most (kμ)² |Re s|/4: so much narrower may the integrand be.
    """
    reals = np.sort(s.real) if s.real[0] != s.real[-1] else s.real[:1]
    most = mu * mixture.k
    turns = most * float(np.abs(s.imag).max())
    narrow = sqrt(1 + most * most * max(0.0, -float(reals[0])) / 4)  # r^s may be so much narrower than the Gaussian
    if most * float(reals[-1]) > MOST_SHIFT or max(turns, narrow) > MOST_TURNS:
        raise Unresolved
    cells = np.arange(-SIGMAS, SIGMAS + most * max(0.0, float(reals[-1])), CELL)
    height = -0.5 * (cells**2)[:, None] + mixture.log_r(mu * cells - mu * mu / 2)[:, None] * reals[None, :]
    kept = cells[(height > height.max(axis=0) - NEGLIGIBLE).any(axis=1)]
    per_cell = ceil(CELL * max(PER_SIGMA * narrow, turns / 2))
    z = (kept[:, None] + CELL / per_cell * np.arange(per_cell)[None, :]).ravel()
    return np.log(CELL / per_cell) - 0.5 * z * z - 0.5 * np.log(2 * np.pi), mu * z - mu * mu / 2


@lru_cache(maxsize=64)
def _laplace_nodes(epsilon: float, turns: float) -> tuple[Reals, Reals]:
    """Atoms of Q at ±ε (e^-ε/2 and 1/2), and between them the density e^(−(ε + l)/2)/4, by Gauss and Legendre in parts."""
    if epsilon * turns > 10 * MOST_TURNS:
        raise Unresolved
    points, weights = legendre(LAPLACE_NODES)
    parts = ceil(2 * epsilon * (1 + turns) / LAPLACE_TURN)
    inner = (2 * epsilon * (np.arange(parts)[:, None] + points[None, :]) / parts - epsilon).ravel()
    log_w = np.log(np.tile(weights, parts) * epsilon / (2 * parts)) - (epsilon + inner) / 2
    return (
        np.concatenate([log_w, [np.log(0.5), np.log(0.5) - epsilon]]),
        np.concatenate([inner, [-epsilon, epsilon]]),
    )
