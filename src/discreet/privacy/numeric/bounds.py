"""Bounds of δ(ε) and of ε(δ) of one direction: by Chernoff on the real axis, and certified, by lattices above and below."""

from collections.abc import Callable
from functools import cached_property
from math import exp, expm1, floor, inf, log

import numpy as np

from discreet.privacy.numeric.axis import BETWEEN, Tilt, chernoff_term
from discreet.privacy.numeric.certified import (
    Certified,
    Composition,
    epsilon_above,
    epsilon_below,
    log_delta_above,
    log_delta_below,
    steps_for,
)
from discreet.privacy.numeric.closed import gaussian_log_delta
from discreet.privacy.numeric.parts import Parts
from discreet.privacy.numeric.points import NO_POINTS
from discreet.privacy.numeric.points import log_delta as points_log_delta
from discreet.privacy.numeric.search import minimum, root
from discreet.privacy.numeric.unresolved import Unresolved

# ln of what is hardly a float: there the Chernoff bound is as good as anything.
NO_FLOAT = -700.0
# Relative, of a bound from the real axis: a few thousand units in the last place, for sums of K of up to a thousand kinds.
ROUNDING = 1e-12
# Of ln δ in closed form: a few roundings of erfcx, each below 1e-14, a thousandfold.
CLOSED_ROUNDING = 1e-10
# A certified lattice is never tilted by more: e^(c·loss) of a cell of a thousandth would then change too much over it.
MOST_TILT = 500.0
# Where K explodes just above a tilt, the tilted loss has a tail that no window holds; at four fifths of the tilt it has not,
# and the bound is worse by a few per cent of ln δ only.
AWAY = 0.8
# Relative, of certified ends: of an interval, a little below the 1e-4 that is promised, and where they stand for a value.
PRECISION, FINE = 7e-5, 1e-9
# Beyond this ε nothing is computed that could overflow: products of tilt and ε stay floats.
MOST_EPSILON = 1e100
# ln of what a Chernoff bound may be above δ: for δ from 1e-1 to 1e-30 of a Gaussian it is between 1 and 5. A lattice for a δ that is
# too small costs a few cells; for one that is too large, it leaves out too much.
SLACK = 7.0
# A δ below it is no float that anything is counted in: 1e-11 of a 1e-9th of it is still one.
LEAST_DELTA = 1e-290
# So few uses of points on a lattice are composed one by one, which is exact; more take longer than a certified lattice.
FEW_USES = 64
# What points leave out may be so much of δ, to be no matter.
LEFT_OUT = 1e-12
# Relative, below the largest loss: an ε so near to it is it, but for a tenth of what near-exact means.
NEAR_TOP = 1e-10
# Certified intervals that are kept, and pairs of lattices, of a few megabytes each.
MOST_KEPT, LATTICES = 64, 4
# Lattices that values are compared with are made for a δ of e^-8, e^-16, …: what they cut off is 1e-11·e^8 = 3e-8 of δ at most.
OCTAVE = 8
# How exactly the minimum of a Chernoff bound is found, in ln c: where it is the value itself, and where it only bounds another.
EXACT_TILT, ROUGH_TILT = 1e-9, 1e-3
# Of ln δ, where a search for ε stops; and the least ln δ that a search looks at.
SAME_DELTA, LEAST_LOG = 1e-11, -1e6
# By how much a bound is first raised that rounding has spoiled, and how fast more.
FIRST_MORE, MORE = 1e-12, 16


class Bounds:
    """What is certain of one direction of a composition, apart from open failure. No answer hangs on the questions before it."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self._intervals: dict[tuple[float, float], tuple[float, float]] = {}
        self._lattices: dict[tuple[float, int], tuple[Composition, Composition]] = {}

    def chernoff(self, epsilon: float) -> float:
        """The least Chernoff bound of ln δ(ε), which needs the real axis only."""
        if epsilon > MOST_EPSILON and self.parts.largest == inf:
            return self.chernoff(MOST_EPSILON)
        return self._chernoff(epsilon, self.parts.axis.best_for_epsilon(epsilon))

    def _chernoff(self, epsilon: float, tilt: Tilt) -> float:
        """The least Chernoff bound of ln δ(ε) next to the tilt that is best for it."""

        def bound(log_c: float) -> float:
            c = exp(log_c)
            return tilt.axis.at(c) + self.parts.k_error + float(chernoff_term(np.array([c]))[0]) - c * epsilon

        low, high = map(log, tilt.neighbours)
        return min(0.0, minimum(bound, low, high, EXACT_TILT if self.parts.rho else ROUGH_TILT))

    def epsilon_by_chernoff(self, delta: float) -> float:
        """An ε that is surely large enough."""
        error, target = self.parts.k_error, log(delta)
        tilt = self.parts.axis.best_for_delta(target, error)
        return min(self.parts.largest, (tilt.chernoff + error - target) / tilt.c)

    def log_delta_above(self, epsilon: float, precision: float = PRECISION) -> float:
        """ln of a certified upper bound on δ(ε)."""
        if epsilon >= self.parts.largest:
            return -inf
        bound = min(0.0, self.chernoff(epsilon) + ROUNDING)
        if self.parts.rho or bound < NO_FLOAT:
            return bound
        if self.parts.mu is not None:
            return min(0.0, gaussian_log_delta(self.parts.mu, epsilon) + CLOSED_ROUNDING)
        try:
            tilt = self.parts.axis.best_for_epsilon(epsilon)
            above = self._certified(tilt, exp(bound - SLACK), precision).above()
            return min(bound, log_delta_above(above, epsilon))
        except Unresolved:
            return bound

    def least_above(self, epsilon: float) -> float:
        """The better of two certified bounds of ln δ(ε): a finer lattice is not always the better one."""
        return min(self.log_delta_above(epsilon, precision) for precision in (FINE, PRECISION))

    def log_delta_ends(self, epsilon: float) -> tuple[float, float]:
        """ln of certified bounds of δ(ε), from below and above, by lattices that serve every ε near by."""
        tilt = self.parts.axis.best_for_epsilon(epsilon)
        bound = min(0.0, self._chernoff(epsilon, tilt) + ROUNDING)
        if bound < NO_FLOAT:
            return -inf, bound
        octave = floor((bound - SLACK) / OCTAVE)
        try:
            if (tilt.c, octave) not in self._lattices:
                certified = self._certified(tilt, max(LEAST_DELTA, exp(OCTAVE * octave)), PRECISION)
                kept = list(self._lattices.items())[1 - LATTICES :]
                self._lattices = dict([*kept, ((tilt.c, octave), (certified.below(), certified.above()))])
            below, above = self._lattices[tilt.c, octave]
            return log_delta_below(below, epsilon), min(bound, log_delta_above(above, epsilon))
        except Unresolved:
            return -inf, bound

    def interval(self, delta: float, precision: float) -> tuple[float, float]:
        """Certified ends of ε(delta), about precision·ε from each other; delta > 0."""
        if (delta, precision) not in self._intervals:
            if len(self._intervals) >= MOST_KEPT:
                self._intervals.clear()
            self._intervals[delta, precision] = self._interval(delta, precision)
        return self._intervals[delta, precision]

    def _interval(self, delta: float, precision: float) -> tuple[float, float]:
        if delta < LEAST_DELTA:
            return self.interval(LEAST_DELTA, precision)[0], self._at_most(delta, inf)
        if (self.parts.uses <= FEW_USES or self.parts.lattice is None) and self._only_points(delta):
            low, high = (self._epsilon_of_points(delta * (1 + sign * CLOSED_ROUNDING)) for sign in (1, -1))
            return low * (1 - ROUNDING), min(high, self.parts.largest) * (1 + ROUNDING)
        try:
            ends = self._certified(self._best_for(delta), delta, precision)
            return epsilon_below(ends.below(), delta), self._at_most(delta, epsilon_above(ends.above(), delta))
        except Unresolved:
            return 0.0, self._at_most(delta, inf)

    def epsilon_above(self, delta: float, precision: float) -> float:
        """The upper end alone."""
        if delta < LEAST_DELTA:
            return self._at_most(delta, inf)
        try:
            above = self._certified(self._best_for(delta), delta, precision).above()
            return self._at_most(delta, epsilon_above(above, delta))
        except Unresolved:
            return self._at_most(delta, inf)

    def _best_for(self, delta: float) -> Tilt:
        return self.parts.axis.best_for_delta(log(delta))

    def _only_points(self, delta: float) -> bool:
        """Whether all losses are points that can be told apart, but for less than matters."""
        return (
            not any(side.dense for side, _ in self.parts.each)
            and bool(self.parts.points)
            and self.parts.cut_off < LEFT_OUT * delta
        )

    def _epsilon_of_points(self, delta: float) -> float:
        points = self.parts.points or NO_POINTS
        if points_log_delta(points, 0.0) <= log(delta):
            return 0.0
        highest = float(points.losses[-1])
        return root_of(lambda epsilon: points_log_delta(points, epsilon), log(delta), highest, highest)

    def _certified(self, tilt: Tilt, delta: float, precision: float) -> Certified:
        """Lattices for about this δ, at this tilt or at one next to it."""
        c, about = min(tilt.c, MOST_TILT), self.epsilon_by_chernoff(delta)
        if tilt.lopsided:
            c *= AWAY
            tilt = tilt.axis.look(np.array([c])).tilt(c)
        exact = self.parts.lattice is not None and self.parts.mu is None  # all losses lie on it
        parts = self.parts.each if exact else self.parts.merged
        steps = steps_for(parts, c, about, self._spread(tilt, about), precision)
        if self.parts.lattice is not None and exact:
            steps = [float(self.parts.lattice.step), *steps]
        return Certified(parts, c, delta, steps)

    def _spread(self, tilt: Tilt, epsilon: float) -> float:
        """How far the loss of the composition spreads around ε; 0 where that is not known."""
        try:
            return tilt.axis.look(tilt.c * BETWEEN).tilt(tilt.c).aliases.period(epsilon)
        except Unresolved:
            return 0.0

    def _at_most(self, delta: float, epsilon: float) -> float:
        """The least of all bounds, with room for the rounding of the sums."""
        by_chernoff = self.epsilon_by_chernoff(delta) * (1 + ROUNDING) + ROUNDING
        return max(0.0, min(epsilon, by_chernoff, self.parts.largest * (1 + ROUNDING)))

    @cached_property
    def log_delta_near_top(self) -> float:
        """A lower bound of ln δ just below the largest loss, relative to it: that all parts have their largest losses."""
        if self.parts.rho or self.parts.largest == inf:
            return -inf
        return sum(n * side.log_top for side, n in self.parts.each) + log(-expm1(-NEAR_TOP * self.parts.largest))


def root_of(log_delta: Callable[[float], float], target: float, start: float, largest: float) -> float:
    """The ε with ln δ(ε) = target, between 0 and about `start`, at most `largest`."""

    def gap(epsilon: float) -> float:
        return max(log_delta(epsilon), LEAST_LOG) - target

    high, more = start, FIRST_MORE
    while (at_high := gap(high)) > 0:  # a bound that rounding has spoiled
        if more > 1:
            raise Unresolved
        high, more = min(largest, start * (1 + more)), more * MORE
    return root(gap, 0.0, high, gap(0.0), at_high, SAME_DELTA)
