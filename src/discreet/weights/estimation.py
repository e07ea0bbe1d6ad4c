"""Estimation: the distribution over a junction tree that fits noisy marginals, and says no more than they do.

Of all distributions p over the domain it is the one of least

    Σ_x p(x) ln p(x) + Σ_m n/(2 κ_m σ_m) ‖p_m − y_m/n‖²

where y_m is a noisy marginal of deviation σ_m and n the number of units: maximum entropy with relaxed constraints (Dudík, Phillips and
Schapire 2007). The minimum has one potential for each measured cell, p ∝ exp Σ_m θ_m, and these minimise

    ln Z(θ) − Σ_m ⟨θ_m, y_m/n⟩ + Σ_m κ_m σ_m/(2n) ‖θ_m‖²

which is smooth and strictly convex. Its gradient, p_m − y_m/n + κ_m σ_m θ_m/n, is one pass of belief propagation (McKenna, Sheldon and
Miklau 2019), and L-BFGS finds the minimum. A cell that would have c units by all else moves by c/(c + κσ) of what its noisy count
says: counts far above the noise are followed, and small ones are left where independence puts them. Plain least squares
follows noise into empty cells, and is off by up to a quarter more where noise is large (docs/weights.md). All of it is
post-processing of released values.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from discreet.weights.domain import Mask
from discreet.weights.factors import Axes, aligned, summed
from discreet.weights.model import Floats, NoisyMarginal
from discreet.weights.propagation import Cliques, CliqueShares, propagated

Potentials = Mapping[Axes, Floats]

RELAXED, RELAXED_ALONE = 1.0, 0.3
"""κ of marginals of several attributes, and of one alone, which has more units in each cell. Simulated: see docs/weights.md."""

REMEMBERED = 10
"""Steps that a quasi-Newton direction is made of."""

TOLERANCE = 1e-9
"""In nats: a step that gains less is the last one."""

ARMIJO, SHORTEST = 1e-4, 1e-10


@dataclass(frozen=True, slots=True)
class Barred:
    """Cells of some attributes that nobody can be in."""

    axes: Axes
    cells: Mask


@dataclass(frozen=True, slots=True)
class TreeFit:
    """What was estimated: a distribution, and the potentials that give it, from which a later fit may start."""

    shares: CliqueShares
    potentials: Potentials
    passes: int


def pooled(measured: Sequence[NoisyMarginal]) -> tuple[NoisyMarginal, ...]:
    """Marginals that were measured several times as one each, of least variance; axes in ascending order."""
    found: dict[Axes, NoisyMarginal] = {}
    for each in measured:
        axes = tuple(sorted(each.axes))
        values, weight = aligned(each.values, each.axes, axes), each.deviation**-2
        if axes in found:
            before = found[axes].deviation ** -2
            values = (before * found[axes].values + weight * values) / (before + weight)
            weight += before
        found[axes] = NoisyMarginal(axes, values, weight**-0.5)
    return tuple(found.values())


def parted(measured: NoisyMarginal) -> list[NoisyMarginal]:
    """What a noisy marginal says of each of its attributes alone: sums over the others, with the noise of as many cells."""
    found = []
    for axis in measured.axes:
        values = summed(measured.values, measured.axes, (axis,))
        found.append(NoisyMarginal((axis,), values, measured.deviation * sqrt(measured.values.size / values.size)))
    return found


def total_of(measured: Sequence[NoisyMarginal]) -> float:
    """About how many units there are: the sums of all marginals, weighted by their precision, and at least 1."""
    weights = [1 / (each.values.size * each.deviation**2) for each in measured]
    return max(1.0, float(np.average([each.values.sum() for each in measured], weights=weights)))


def estimated(
    cliques: Cliques,
    measured: Sequence[NoisyMarginal],
    total: float,
    barred: Sequence[Barred] = (),
    *,
    start: Potentials | None = None,
    steps: int = 250,
) -> TreeFit:
    """The fit to all marginals, each of which lies in a clique, after so many steps at most."""
    dual = _Dual(cliques, pooled(measured), total, tuple(barred))
    at = _minimised(dual, dual.stretched(start or {}), steps)
    return TreeFit(at.shares, dual.potentials(at.place), dual.passes)


@dataclass(frozen=True, slots=True)
class _Point:
    """Where the dual was looked at: its value and gradient there, and the distribution of these potentials."""

    place: Floats
    value: float
    slope: Floats
    shares: CliqueShares


class _Dual:
    """The convex function of all potentials, as one vector, each stretched so that curvatures are about 1.

    Along one potential the curvature is p(1 − p) + κσ/n, of which a bound by the noisy marginal is known beforehand.
    """

    def __init__(
        self, cliques: Cliques, measured: Sequence[NoisyMarginal], total: float, barred: tuple[Barred, ...]
    ) -> None:
        self._cliques, self._measured = cliques, measured
        self._homes = [cliques.home(each.axes) for each in measured]
        self._cuts = np.cumsum([each.values.size for each in measured])[:-1]
        self._wanted = _flat([each.values / total for each in measured])
        relaxed = [RELAXED_ALONE if len(each.axes) == 1 else RELAXED for each in measured]
        self._penalty = _flat(
            [
                np.full(each.values.shape, kappa * each.deviation / total)
                for each, kappa in zip(measured, relaxed, strict=True)
            ]
        )
        self._stretch = 1 / np.sqrt(np.maximum(self._wanted, 0.0) + self._penalty + 1 / total)
        self._ground = barriers(cliques, barred)
        self.passes = 0

    def stretched(self, potentials: Potentials) -> Floats:
        """Where potentials are; those that are not known are 0."""
        known = [potentials.get(each.axes, np.zeros(each.values.shape)) for each in self._measured]
        return _flat(known) / self._stretch

    def potentials(self, place: Floats) -> dict[Axes, Floats]:
        """The potentials at a place, by what they are of."""
        parts = np.split(place * self._stretch, self._cuts) if self._measured else []
        return {each.axes: part.reshape(each.values.shape) for each, part in zip(self._measured, parts, strict=True)}

    def at(self, place: Floats) -> _Point:
        """One pass of belief propagation."""
        self.passes += 1
        logs = [each.copy() for each in self._ground]
        for home, (axes, values) in zip(self._homes, self.potentials(place).items(), strict=True):
            logs[home] += aligned(values, axes, self._cliques.axes[home])
        log_total, shares = propagated(self._cliques, logs)
        beliefs = shares.beliefs()
        found = _flat(
            [
                summed(beliefs[home], self._cliques.axes[home], each.axes)
                for home, each in zip(self._homes, self._measured, strict=True)
            ]
        )
        theta = place * self._stretch
        value = log_total - _dot(theta, self._wanted) + _dot(self._penalty * theta, theta) / 2
        return _Point(place, value, (found - self._wanted + self._penalty * theta) * self._stretch, shares)


def barriers(cliques: Cliques, barred: Sequence[Barred]) -> list[Floats]:
    """Potentials of −∞ on cells that nobody can be in, and of 0 on all others."""
    logs = cliques.empty()
    for each in barred:
        home = cliques.home(each.axes)
        logs[home] += aligned(np.where(each.cells, -np.inf, 0.0), each.axes, cliques.axes[home])
    return logs


def _flat(parts: Sequence[Floats]) -> Floats:
    return np.concatenate([each.reshape(-1) for each in parts]) if parts else np.zeros(0)


def _dot(one: Floats, other: Floats) -> float:
    return float((one * other).sum())


def _minimised(dual: _Dual, start: Floats, steps: int) -> _Point:
    """L-BFGS (Nocedal and Wright 2006, algorithm 7.5), each step halved until it gains enough."""
    at = dual.at(start)
    moves: list[tuple[Floats, Floats]] = []
    for _ in range(steps):
        ahead = -_newton(at.slope, moves)
        length = 1.0 if moves else min(1.0, 1 / max(float(np.abs(at.slope).sum()), SHORTEST))
        then = _searched(dual.at, at, ahead, length)
        if then is None:
            break
        move = (then.place - at.place, then.slope - at.slope)
        gain, at = at.value - then.value, then
        if gain < TOLERANCE:
            break
        if _dot(*move) > 0:
            moves = [*moves, move][-REMEMBERED:]
    return at


def _newton(slope: Floats, moves: Sequence[tuple[Floats, Floats]]) -> Floats:
    """About the inverse curvature times a slope, by how slopes have changed along the last moves (algorithm 7.4, ibid.)."""
    ahead, shares = slope.copy(), []
    for step, change in reversed(moves):
        share = _dot(step, ahead) / _dot(change, step)
        shares.append(share)
        ahead -= share * change
    if moves:
        step, change = moves[-1]
        ahead *= _dot(step, change) / _dot(change, change)
    for (step, change), share in zip(moves, reversed(shares), strict=True):
        ahead += step * (share - _dot(change, ahead) / _dot(change, step))
    return ahead


def _searched(look: Callable[[Floats], _Point], at: _Point, ahead: Floats, length: float) -> _Point | None:
    """The first point along a direction, in halves, that gains a part of what the slope promises; None where there is none."""
    promised = _dot(at.slope, ahead)
    while length > SHORTEST:
        then = look(at.place + length * ahead)
        if then.value <= at.value + ARMIJO * length * promised:
            return then
        length /= 2
    return None
