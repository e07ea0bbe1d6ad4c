"""One direction of a composition: K of all its parts, and the route by which δ(ε) is had from it.

In this order: all-Gaussian in closed form; all losses on one lattice, where the integral is finite; the contour, when a cover of the
integrand says where it ends; few Laplace releases of one scale, as splines; points beside one density, term by term; few releases
of any kinds, by a transform. Where none leads there, or certified ends disagree, the certified upper end is the value.
"""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cached_property, reduce
from math import exp, expm1, gcd, inf, log, sqrt

import numpy as np
from numpy.typing import NDArray

from discreet.exact import round_down, to_float_up
from discreet.privacy.mgf import gaussian_side
from discreet.privacy.numeric.certified import (
    Certified,
    Composition,
    epsilon_above,
    epsilon_below,
    log_delta_above,
    log_delta_below,
    steps_for,
)
from discreet.privacy.numeric.closed import FewLaplace, gaussian_log_delta, gaussian_log_tail, gaussian_tails
from discreet.privacy.numeric.contour import BETWEEN, Curve, Lattice, RealAxis, chernoff_term, lopsided, period
from discreet.privacy.numeric.convolved import Convolved, near, points_on
from discreet.privacy.numeric.points import NO_POINTS, composed
from discreet.privacy.numeric.points import log_delta as points_log_delta
from discreet.privacy.numeric.search import least, root
from discreet.privacy.numeric.side import Atoms, Complex, ManyK, Points, Reals, Side
from discreet.privacy.numeric.transform import TransformLine
from discreet.privacy.numeric.unresolved import Unresolved

FAR, NO_FLOAT = 30.0, -700.0  # so far out δ may be below all floats, and then its Chernoff bound is as good
LARGE_DELTA = 1e-3  # above it ε may well be 0; below it the root is looked for at once, and may come out negative
AGREE = 1e-9  # of ln δ, between the root found and a second look
NO_DIFFERENCE = -40.0  # ln of what 1 is no different without
ROUNDING = 1e-12  # of a bound from the real axis, relative
CLOSED_ROUNDING = 1e-10  # of ln δ in closed form: a few roundings of erfcx, a thousandfold
MOST_TILT = 500.0
AWAY = 0.8
PRECISION, FINE = 7e-5, 1e-9  # of certified ends, relative: of an interval, and where they stand for a value
MOST_EPSILON = 1e100  # beyond it nothing is computed that could overflow
SLACK = 7.0  # ln of what Chernoff may be off
GONE = -40.0  # ln of what may come back of the integrand after it was cut off
NEAR, KEPT = 0.3, 3  # how far in ln c a fine line serves, and how many are kept
EXACT_BITS = 4096  # of the probability that nothing fails openly; beyond, it is rounded down
FEW_USES = 64  # so few that points on a lattice are composed one by one
MOST_CHECKED = 100  # kinds of which certified ends are had in a fraction of a second
MOST_KEPT = 64  # certified intervals
SAME_DELTA = 1e-11  # of ln δ, where a search for ε stops
LEAST_DELTA = 1e-290  # a δ below it is no float that anything is counted in
FEW = 400  # Laplace releases that splines are quick for


class Direction:
    """The composition of (side, times), all in one direction."""

    def __init__(self, parts: Iterable[tuple[Side, int]], rho: Fraction = Fraction(0)) -> None:
        self.parts = [(side, n) for side, n in parts if n]
        self._transform_lines: list[TransformLine] = []
        self._intervals: dict[tuple[float, float], tuple[float, float]] = {}
        self._convolutions: list[tuple[float, Points]] = []
        self._transformed = False  # whether some value came from a transform
        self._kept_ends: list[tuple[float, tuple[Composition, Composition]]] = []
        self.rho = float(rho)  # of zCDP-only parts, which have no K off the real axis

    def k(self, t: NDArray[np.complex128]) -> NDArray[np.complex128]:
        total = np.zeros_like(t) if not self.rho else self.rho * t * (t + 1)
        for side, n in self._singly:
            total += n * side.k(t)
        for of, parameters, counts in self._together:
            total += of(parameters, counts, t)
        return total

    @cached_property
    def _together(self) -> list[tuple[Callable[[Reals, Reals, Complex], Complex], Reals, Reals]]:
        """Parts of one kind, as a table of what they differ by, and how many there are of each."""
        kinds: dict[object, list[tuple[ManyK, int]]] = {}
        for side, n in self.parts:
            if side.many is not None:
                kinds.setdefault((side.many.of, len(side.many.parameters)), []).append((side.many, n))
        return [
            (
                group[0][0].of,
                np.array([many.parameters for many, _ in group], np.float64),
                np.array([n for _, n in group], np.float64),
            )
            for group in kinds.values()
        ]

    @cached_property
    def _singly(self) -> list[tuple[Side, int]]:
        return [(side, n) for side, n in self.parts if side.many is None]

    @cached_property
    def largest(self) -> float:
        """The supremum of the loss, rounded up; pure ε."""
        return to_float_up(self.pure) if self.pure is not None else inf

    @cached_property
    def pure(self) -> Fraction | None:
        """The same exactly where that is known, else a bound; None where the loss is unbounded."""
        if self.rho or any(side.pure is None for side, _ in self.parts):
            return None
        return sum((n * side.pure for side, n in self.parts if side.pure is not None), Fraction(0))

    @cached_property
    def failure(self) -> Fraction:
        """1 − Π(1 − failure): the chance that some part fails openly; rounded up, if at all."""
        kept = Fraction(1)
        for side, n in self.parts:
            if side.failure:
                kept = _short(kept * _power_down(1 - side.failure, n))
        return 1 - kept

    @cached_property
    def axis(self) -> RealAxis:
        return self._curve.axis

    def log_delta(self, epsilon: float) -> float:
        """ln δ(ε) apart from open failure: near-exact, or where no route leads there a certified bound from above."""
        try:
            value = self._log_delta(epsilon)
        except Unresolved:
            return self._least_above(epsilon)
        if not self._doubtful or value == -inf:
            return value
        low, high = self._log_delta_ends(epsilon)
        return value if low - AGREE <= value <= high + AGREE else self._least_above(epsilon)

    def _least_above(self, epsilon: float) -> float:
        """The better of two certified bounds: a finer lattice is not always the better one."""
        return min(self.log_delta_above(epsilon, precision) for precision in (FINE, PRECISION))

    @property
    def _doubtful(self) -> bool:
        """Whether a value rests on how fast a sum of several kinds was seen to fall: then certified ends must agree with it."""
        if self.rho or self._mu is not None:
            return False
        return self._transformed or (self._lattice is None and 1 < len(self._merged) <= MOST_CHECKED)

    def _log_delta_ends(self, epsilon: float) -> tuple[float, float]:
        """ln of certified bounds of δ(ε), from below and above, by the lattices that served an ε near by."""
        at = self.axis.least(lambda c, k: k + chernoff_term(c) - c * epsilon)
        c, bound = float(self.axis.c[at]), min(0.0, self.axis_chernoff(epsilon) + ROUNDING)
        if bound < NO_FLOAT:
            return -inf, bound
        try:
            below, above = self._ends(c, lambda: self._certified(exp(bound - SLACK), PRECISION, at))
            return log_delta_below(below, epsilon), min(bound, log_delta_above(above, epsilon))
        except Unresolved:
            return -inf, bound

    def _ends(self, c: float, make: Callable[[], Certified]) -> tuple[Composition, Composition]:
        """Both lattices at about this tilt, made once."""
        for tilt, ends in self._kept_ends:
            if abs(log(tilt / c)) < NEAR:
                return ends
        certified = make()
        ends = certified.below(), certified.above()
        self._kept_ends = [(c, ends), *self._kept_ends[:KEPT]]
        return ends

    def _log_delta(self, epsilon: float) -> float:
        if epsilon >= self.largest:
            return -inf
        if self._single is not None:
            return _log(float(self._single(np.array([epsilon]))[0]))
        if not self.rho and len(self.parts) == 1 and self.parts[0][1] == 1:
            return min(0.0, self.parts[0][0].log_delta(epsilon))
        if self._used_curve is not None and (quick := self._used_curve.quickly(epsilon)) is not None:
            return min(0.0, quick)
        if self._surely_one(epsilon):
            return 0.0
        if (bound := self.axis_chernoff(epsilon) if epsilon > FAR else 0.0) < NO_FLOAT:
            return bound
        return min(0.0, self._route(epsilon)(epsilon))

    def epsilon(self, delta: float) -> float:
        """The least ε >= 0 with δ(ε) <= delta, apart from open failure; delta > 0."""
        value = self._epsilon(delta)
        if not self._doubtful or delta < LEAST_DELTA:
            return value
        low, high = self.interval(delta, PRECISION)
        if low * (1 - AGREE) <= value <= high * (1 + AGREE):
            return value
        return min(high, self.epsilon_above(delta, FINE))

    def _epsilon(self, delta: float) -> float:
        if self.largest == 0 or (delta > LARGE_DELTA and self._log_delta_at_zero <= log(delta)):
            return 0.0
        if self._log_delta_near_top >= log(delta):
            return self.largest
        if (found := self._by_secant(delta)) is not None:
            return found
        if self._log_delta_at_zero <= log(delta):
            return 0.0
        try:
            return _bisect(self._log_delta, log(delta), self._bound(delta), self.largest)
        except Unresolved:
            return min(self.epsilon_above(delta, precision) for precision in (FINE, PRECISION))

    @cached_property
    def _log_delta_near_top(self) -> float:
        """A lower bound of ln δ at 1e-10 below the largest loss, relative to it: that all parts have their largest losses."""
        if self.rho or self.largest == inf:
            return -inf
        return sum(n * side.log_top for side, n in self.parts) + log(-expm1(-1e-10 * self.largest))

    def log_delta_above(self, epsilon: float, precision: float = PRECISION) -> float:
        """ln of a certified upper bound on δ(ε), apart from open failure."""
        if epsilon >= self.largest:
            return -inf
        bound = min(0.0, self.axis_chernoff(epsilon) + ROUNDING)
        if self.rho or bound < NO_FLOAT:
            return bound
        if self._mu is not None:
            return min(0.0, gaussian_log_delta(self._mu, epsilon) + CLOSED_ROUNDING)
        try:
            at = self.axis.least(lambda c, k: k + chernoff_term(c) - c * epsilon)
            return min(bound, log_delta_above(self._certified(exp(bound - SLACK), precision, at).above(), epsilon))
        except Unresolved:
            return bound

    def interval(self, delta: float, precision: float) -> tuple[float, float]:
        """Certified ends of ε(delta), apart from open failure, about precision·ε from each other; asked again, the same."""
        if (delta, precision) not in self._intervals:
            if len(self._intervals) >= MOST_KEPT:
                self._intervals.clear()
            self._intervals[delta, precision] = self._interval(delta, precision)
        return self._intervals[delta, precision]

    def _interval(self, delta: float, precision: float) -> tuple[float, float]:
        if delta < LEAST_DELTA:
            return self.interval(LEAST_DELTA, precision)[0], self._at_most(delta, inf)
        if self._mu is not None:
            return self.epsilon(delta * (1 + CLOSED_ROUNDING)), self.epsilon(delta * (1 - CLOSED_ROUNDING))
        few = sum(n for _, n in self.parts) <= FEW_USES
        if (few or self._lattice is None) and self._only_points(delta):
            low, high = (self._epsilon_of_points(delta * (1 + sign * CLOSED_ROUNDING)) for sign in (1, -1))
            return low * (1 - ROUNDING), min(high, self.largest) * (1 + ROUNDING)
        try:
            ends = self._certified(delta, precision)
            return epsilon_below(ends.below(), delta), self._at_most(delta, epsilon_above(ends.above(), delta))
        except Unresolved:
            return 0.0, self._at_most(delta, inf)

    def _only_points(self, delta: float) -> bool:
        """Whether all losses are points that can be told apart, but for less than matters."""
        return (
            all(side.within is None for side, _ in self.parts) and bool(self._points) and self._cut_off < 1e-12 * delta
        )

    def _epsilon_of_points(self, delta: float) -> float:
        points = self._points or NO_POINTS
        if points_log_delta(points, 0.0) <= log(delta):
            return 0.0
        highest = float(points.losses[-1])
        return _bisect(lambda epsilon: points_log_delta(points, epsilon), log(delta), highest, highest)

    def epsilon_above(self, delta: float, precision: float) -> float:
        """The upper end alone."""
        if delta < LEAST_DELTA:
            return self._at_most(delta, inf)
        try:
            return self._at_most(delta, epsilon_above(self._certified(delta, precision).above(), delta))
        except Unresolved:
            return self._at_most(delta, inf)

    def _certified(self, delta: float, precision: float, at: int | None = None) -> Certified:
        """Lattices for about this δ, at the tilt that is best for it, or at another."""
        if at is None:
            at = self.axis.least(lambda c, k: (k + chernoff_term(c) - log(delta)) / c)
        c, about = min(float(self.axis.c[at]), MOST_TILT), self._bound(delta)
        if lopsided(self.axis, at):  # close to where K explodes the tilted loss has a tail that no window holds
            c *= AWAY
            self.axis.look(np.array([c]))
            at = int(np.searchsorted(self.axis.c, c))
        exact = self._lattice is not None and self._mu is None  # all losses lie on it
        parts = self.parts if exact else self._merged
        steps = steps_for(parts, c, about, self._spread(at, about), precision)
        return Certified(parts, c, delta, [float(self._lattice.step), *steps] if self._lattice and exact else steps)

    def _spread(self, at: int, epsilon: float) -> float:
        c = float(self.axis.c[at])
        self.axis.look(c * BETWEEN)
        try:
            return period(self.axis, int(np.searchsorted(self.axis.c, c)), epsilon)
        except Unresolved:
            return 0.0

    def _at_most(self, delta: float, found: float) -> float:
        """The least of all bounds, with room for the rounding of the sums."""
        return max(0.0, min(found, self._bound(delta) * (1 + ROUNDING) + ROUNDING, self.largest * (1 + ROUNDING)))

    @cached_property
    def _merged(self) -> list[tuple[Side, int]]:
        """All Gaussians as one."""
        squares = [side.gaussian * n for side, n in self.parts if side.gaussian is not None]
        others = [(side, n) for side, n in self.parts if side.gaussian is None]
        return [*others, (gaussian_side(sum(squares, Fraction(0))), 1)] if squares else others

    def _by_secant(self, delta: float) -> float | None:
        """ε by the curve that serves the neighbourhood of delta, when a second look from the right line agrees."""
        quick = self._used_curve.epsilon_quickly(log(delta)) if self._used_curve is not None else None
        if quick is not None and 0 < quick <= self.largest:
            return quick
        if self._route_of_delta(delta) is None:
            return None
        try:
            found = min(self.largest, self._curve.epsilon(delta))
            if found <= 0:
                return 0.0 if self._log_delta_at_zero <= log(delta) else None
            return found if abs(self._log_delta(found) - log(delta)) < AGREE else None
        except Unresolved:
            return None

    @cached_property
    def _log_delta_at_zero(self) -> float:
        return self.log_delta(0.0)

    def _surely_one(self, epsilon: float) -> bool:
        """Whether 1 − δ(ε) = E min(1, e^(ε−L)) <= e^(K(−t) + tε), 0 < t < 1, is below the precision of δ."""
        if (
            self.rho
            or epsilon > MOST_EPSILON
            or float((self.axis.k + chernoff_term(self.axis.c) - self.axis.c * epsilon).min()) < 0
        ):
            return False  # Chernoff says that it is less than 1
        return self._k_before_zero + 0.4 * epsilon < NO_DIFFERENCE

    @cached_property
    def _k_before_zero(self) -> float:
        return float(self.k(np.array([-0.4 + 0j]))[0].real)

    @property
    def _single(self) -> Callable[[NDArray[np.float64]], NDArray[np.float64]] | None:
        """δ of a single use with a closed form, when that is all there is."""
        alone = not self.rho and len(self.parts) == 1 and self.parts[0][1] == 1
        return self.parts[0][0].one if alone else None

    def _bound(self, delta: float) -> float:
        """An ε that is surely large enough: Chernoff."""
        at = self.axis.least(lambda c, k: (k + self._k_error + chernoff_term(c) - log(delta)) / c)
        c, k = self.axis.c[at : at + 1], self.axis.k[at]
        return min(self.largest, float((k + self._k_error + chernoff_term(c)[0] - log(delta)) / c[0]))

    @cached_property
    def _k_error(self) -> float:
        """What rounding may do to K on the real axis; it matters only for very many uses."""
        return 1e-15 * float(sum(n for _, n in self.parts))

    def log_tail(self, epsilon: float) -> float:
        """ln P(L > ε) apart from open failure: near-exact, or else min over h of δ(ε − h)/(1 − e^-h), which is never less."""
        if epsilon >= self.largest:
            return -inf
        if self._mu is not None:
            return gaussian_log_tail(self._mu, epsilon)
        if len(self.parts) == 1 and self.parts[0][1] == 1:
            return self.parts[0][0].log_tail(epsilon)
        try:
            return min(0.0, self._route(epsilon)(epsilon, True))
        except Unresolved:
            return min(0.0, least(lambda h: self.log_delta(epsilon - h) - log(-expm1(-h)), 1e-3, 2.0, 1e-3))

    def _route(self, epsilon: float) -> Callable[..., float]:
        if self.rho:
            return self.axis_chernoff
        if self._mu is not None:
            return lambda e: gaussian_log_delta(self._mu or 0.0, e)
        if self._lattice is not None:
            return self._on_lattice
        at = self._curve.axis.least(lambda c, k: k - c * epsilon - np.log(c) - np.log1p(c))
        if self._decays(float(self._curve.axis.c[at])):
            return self._by_contour
        return self._few_laplace.log_delta if self._few_laplace is not None else self._by_points

    def _by_contour(self, epsilon: float, tail: bool = False) -> float:
        """Few nodes where the integrand falls fast; else point by point, or by a transform."""
        try:
            return self._curve.log_delta(epsilon, tail)
        except Unresolved:
            return self._by_points(epsilon, tail)

    def _by_points(self, epsilon: float, tail: bool = False) -> float:
        """All points one by one with the one density beside them; where there are several, by a transform."""
        curve = self._dense_curve(tail)
        if curve is None:
            return self._by_transform(epsilon, tail)
        try:
            return Convolved(self._points_beside(epsilon), self._cut_off, curve).log_delta(epsilon)
        except Unresolved:
            return self._by_transform(epsilon, tail)

    @cached_property
    def _dense(self) -> Side | None:
        """The only part with a density, when it is used once and its δ is known, and all others are points."""
        dense = [(side, n) for side, n in self._merged if side.points is None or side.within is not None]
        return dense[0][0] if len(dense) == 1 and dense[0][1] == 1 and dense[0][0].one is not None else None

    def _dense_curve(self, tail: bool) -> Callable[[Reals], Reals] | None:
        if self._dense is None or not tail:
            return self._dense.one if self._dense is not None else None
        if self._dense.gaussian is None:
            return None
        mu = sqrt(self._dense.gaussian)
        return lambda epsilon: gaussian_tails(mu, epsilon)

    @cached_property
    def _beside(self) -> list[tuple[Side, int]]:
        return [(side, n) for side, n in self._merged if side is not self._dense]

    @cached_property
    def _cut_off(self) -> float:
        return sum(n * side.cut_off for side, n in self.parts)

    def _points_beside(self, epsilon: float) -> Points:
        """The points of all parts but the one with a density: one by one, or on their lattice, near the tilt of this ε."""
        if self._few_beside is not None:
            return self._few_beside
        atoms = [(side.atoms, n) for side, n in self._beside if side.atoms is not None]
        lattice = lattice_of(atoms)
        if len(atoms) < len(self._beside):
            raise Unresolved
        at = self._curve.axis.least(lambda c, k: k - c * epsilon - np.log(c) - np.log1p(c))
        c = float(self._curve.axis.c[at])
        for tilt, points in self._convolutions:
            if near(tilt, c):
                return points
        points = points_on(lattice, atoms, c)
        self._convolutions = [(c, points), *self._convolutions[:KEPT]]
        return points

    @cached_property
    def _few_beside(self) -> Points | None:
        if sum(n for _, n in self._beside) > FEW_USES:
            return None
        try:
            return composed((side.points, n) for side, n in self._beside if side.points is not None)
        except Unresolved:
            return None

    def _on_lattice(self, epsilon: float, tail: bool = False) -> float:
        """The finite integral; where the common lattice is too fine for it, point by point, or by a transform."""
        try:
            return self._curve.log_delta(epsilon, tail)
        except Unresolved:
            if self._points is not None:
                return points_log_delta(self._points, epsilon, tail)
            return self._by_transform(epsilon, tail)

    def _by_transform(self, epsilon: float, tail: bool = False) -> float:
        """All points by themselves, exactly, and a fine transform for what is left; of very many points too."""
        self._transformed = True
        known = points_log_delta(self._points or NO_POINTS, epsilon, tail)
        at = self._curve.axis.least(lambda c, k: k - c * epsilon - np.log(c) - np.log1p(c))
        return self._transform_line(at, epsilon).log_delta(epsilon, known, tail)

    def _transform_line(self, at: int, epsilon: float) -> TransformLine:
        c = float(self._curve.axis.c[at])
        for line in self._transform_lines:
            if abs(log(line.c / c)) < NEAR and line.serves(epsilon):
                return line
        line = TransformLine(self.parts, self._curve.axis, at, epsilon, self._points is not None)
        self._transform_lines = [line, *self._transform_lines[:KEPT]]
        return line

    @cached_property
    def _points(self) -> Points | None:
        """The losses that compose of points only; None where there are too many to tell apart."""
        if any(side.points is None for side, _ in self.parts):
            return NO_POINTS
        try:
            return composed((side.points, n) for side, n in self.parts if side.points is not None)
        except Unresolved:
            return None

    def _route_of_delta(self, delta: float) -> object:
        """The Curve, where it serves the whole neighbourhood of delta."""
        if self.rho or self._mu is not None:
            return None
        if self._lattice is not None:
            return self._curve
        at = self._curve.axis.least(lambda c, k: (k + chernoff_term(c) - log(delta)) / c)
        return self._curve if self._decays(float(self._curve.axis.c[at])) else None

    def axis_chernoff(self, epsilon: float) -> float:
        """The least Chernoff bound, which needs the real axis only."""

        def bound(log_c: float) -> float:
            c = exp(log_c)
            return self.axis.at(c) + self._k_error + float(chernoff_term(np.array([c]))[0]) - c * epsilon

        if epsilon > MOST_EPSILON and self.largest == inf:
            return self.axis_chernoff(MOST_EPSILON)
        at = self.axis.least(lambda c, k: k + chernoff_term(c) - c * epsilon)
        low, high = np.log(self.axis.c[[max(at - 1, 0), min(at + 1, self.axis.c.size - 1)]])
        return min(0.0, least(bound, float(low), float(high), 1e-9 if self.rho else 1e-3))

    @cached_property
    def _curve(self) -> Curve:
        return Curve(self.k, self._lattice, self._log_cover)

    def _log_cover(self, c: float, heights: Reals, enough: float) -> Reals:
        """A bound of Re K − K(c) at these heights above c, and at all larger ones: as many parts as it takes, each has its own."""
        proven, seen = self._falling
        total = np.zeros_like(heights)
        for side, n in proven:
            if float(total.max()) < enough:
                break
            total = total + n * side.log_cover(c, heights)
        for first in (True, False):  # most often a look at the first height shows that there is no cover yet
            looked = heights[:1] if first else heights
            covered = total[: looked.size]
            for side, n in seen:
                if float(covered.max()) < enough:  # none is above 0
                    break
                covered = covered + n * (side.log_size(c, looked) if first else side.log_cover(c, looked))
            if not float(covered.max()) < enough:
                return np.zeros_like(heights) if first else covered
        return covered

    @cached_property
    def _falling(self) -> tuple[list[tuple[Side, int]], list[tuple[Side, int]]]:
        """The parts whose losses have a density: those with a proven cover, which is had at once, and the others."""
        dense = [(side, n) for side, n in self._merged if side.gaussian is not None or side.within is not None]
        proven = [(side, n) for side, n in dense if side.gaussian is not None or side.laplace is not None]
        others = [(side, n) for side, n in dense if side.gaussian is None and side.laplace is None]
        proven.sort(key=lambda part: part[0].gaussian is None)
        return proven, sorted(others, key=lambda part: -part[1])

    @property
    def _used_curve(self) -> Curve | None:
        """The curve, if it was found to serve this composition before."""
        return self.__dict__.get("_curve")

    def _decays(self, c: float) -> bool:
        """Whether the losses that are points have no part in the tilted loss; a loss with a density may then decide."""
        if any(side.points is None for side, _ in self.parts):
            return True  # the cover of the line says whether it falls soon enough
        return sum(n * side.log_atomic(c) for side, n in self.parts) < GONE

    @cached_property
    def _mu(self) -> float | None:
        """√Σμ², where every part is Gaussian."""
        squares = [side.gaussian * n if side.gaussian is not None else None for side, n in self.parts]
        if any(square is None for square in squares):
            return None
        return sqrt(sum((square for square in squares if square is not None), Fraction(0)))

    @cached_property
    def _few_laplace(self) -> FewLaplace | None:
        kinds = {side.laplace for side, _ in self.parts}
        total = sum(n for _, n in self.parts)
        (kind,) = kinds if len(kinds) == 1 else (None,)
        return FewLaplace(float(kind), total) if kind is not None and total <= FEW else None

    @cached_property
    def _lattice(self) -> Lattice | None:
        """The common lattice of all parts, where each has one."""
        atoms = [(side.atoms, n) for side, n in self.parts if side.atoms is not None]
        return lattice_of(atoms) if len(atoms) == len(self.parts) else None


def lattice_of(atoms: Sequence[tuple[Atoms, int]]) -> Lattice:
    """The lattice on which all sums of these atoms lie."""
    steps = {part.step for part, _ in atoms if part.log_p.size > 1}
    step = reduce(_common_step, steps, Fraction(0)) or Fraction(1)
    offset = sum((n * part.offset for part, n in atoms), Fraction(0))
    return Lattice(offset, step, uniform=len(steps) <= 1 and all(part.one_hump for part, _ in atoms))


def _power_down(base: Fraction, n: int) -> Fraction:
    """base^n, or a little less where it has more digits than anyone needs."""
    power = Fraction(1)
    while n:
        if n & 1:
            power = _short(power * base)
        base, n = _short(base * base) if n > 1 else base, n >> 1
    return power


def _short(x: Fraction) -> Fraction:
    return x if x.denominator.bit_length() <= EXACT_BITS else round_down(x, EXACT_BITS)


def _log(x: float) -> float:
    return log(x) if x > 0 else -inf


def _common_step(a: Fraction, b: Fraction) -> Fraction:
    """The largest rational of which both are whole multiples."""
    top = gcd(a.numerator * b.denominator, b.numerator * a.denominator)
    return Fraction(top, a.denominator * b.denominator)


def _bisect(log_delta: Callable[[float], float], target: float, start: float, largest: float) -> float:
    """The root of ln δ(ε) = target, between 0 and about `start`, at most `largest`."""

    def gap(epsilon: float) -> float:
        return max(log_delta(epsilon), -1e6) - target

    high, more = start, 1e-12
    while (at_high := gap(high)) > 0:  # a bound that rounding has spoiled
        if more > 1:
            raise Unresolved
        high, more = min(largest, start * (1 + more)), more * 16
    return root(gap, 0.0, high, gap(0.0), at_high, SAME_DELTA)


def with_failure(log_delta: float, failure: Fraction) -> float:
    """All of δ: what fails openly, and δ(ε) of the rest."""
    return min(1.0, float(failure) + exp(log_delta))


def without_failure(delta: Fraction, failure: Fraction) -> float:
    """What is left of a total δ for the rest; below 0 where even failure alone is more."""
    return float(delta - failure)
