"""One direction of a composition: K of all its parts, and the route by which δ(ε) is had from it.

In this order: all-Gaussian in closed form; all losses on one lattice, where the integral is finite; the contour, when the integrand
decays for good; few Laplace releases of one scale, as splines; few releases of any kinds, point by point (`points.py`).
"""

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cached_property, reduce
from math import exp, gcd, inf, log, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from discreet.privacy.closed import FewLaplace, gaussian_log_delta
from discreet.privacy.contour import Curve, Lattice, Less, RealAxis, chernoff_term
from discreet.privacy.mgf import Points, Side
from discreet.privacy.points import composed, delta_with_density
from discreet.privacy.points import log_delta as points_log_delta
from discreet.privacy.unresolved import Unresolved

FAR, NO_FLOAT = 30.0, -700.0  # so far out δ may be below all floats, and then its Chernoff bound is as good
LARGE_DELTA = 1e-3  # above it ε may well be 0; below it the root is looked for at once, and may come out negative
AGREE = 1e-9  # of ln δ, between the root found and a second look
GONE = -40.0  # ln of what may come back of the integrand after it was cut off
TINY = 1e-10
"""Two losses of densities at most 1/4 both fall within `gap` of their largest with probability at most gap²/16, and then add at most
gap to δ. Where that is less than this share of δ it is added, and not computed."""
FEW = 400  # Laplace releases that splines are quick for


class Direction:
    """The composition of (side, times), all in one direction."""

    def __init__(self, parts: Iterable[tuple[Side, int]], rho: Fraction = Fraction(0)) -> None:
        self.parts = [(side, n) for side, n in parts if n]
        self.rho = float(rho)  # of zCDP-only parts, which have no K off the real axis

    def k(self, t: NDArray[np.complex128]) -> NDArray[np.complex128]:
        total = np.zeros_like(t) if not self.rho else self.rho * t * (t + 1)
        for side, n in self.parts:
            total = total + n * side.k(t)
        return total

    @cached_property
    def largest(self) -> float:
        """The supremum of the loss; pure ε."""
        return inf if self.rho else float(sum(n * side.largest for side, n in self.parts))

    @cached_property
    def failure(self) -> Fraction:
        """1 − Π(1 − failure): the chance that some part fails openly, exactly."""
        return 1 - reduce(lambda kept, part: kept * (1 - part[0].failure) ** part[1], self.parts, Fraction(1))

    @cached_property
    def axis(self) -> RealAxis:
        return RealAxis(self.k)

    def log_delta(self, epsilon: float) -> float:
        """ln δ(ε) apart from open failure."""
        if epsilon >= self.largest:
            return -inf
        if self._single is not None:
            return _log(float(self._single(np.array([epsilon]))[0]))
        if (bound := self.axis_chernoff(epsilon) if epsilon > FAR else 0.0) < NO_FLOAT:
            return bound
        return min(0.0, self._route(epsilon)(epsilon))

    def epsilon(self, delta: float) -> float:
        """The least ε >= 0 with δ(ε) <= delta, apart from open failure; delta > 0."""
        if self.largest == 0 or (delta > LARGE_DELTA and self._log_delta_at_zero <= log(delta)):
            return 0.0
        if (found := self._by_secant(delta)) is not None:
            return found
        if self._log_delta_at_zero <= log(delta):
            return 0.0
        return _bisect(self.log_delta, log(delta), self._bound(delta))

    def _by_secant(self, delta: float) -> float | None:
        """ε by the curve that serves the neighbourhood of delta, when a second look from the right line agrees."""
        if self._route_of_delta(delta) is None:
            return None
        try:
            found = min(self.largest, self._curve.epsilon(delta))
            if found <= 0:
                return 0.0 if self._log_delta_at_zero <= log(delta) else None
            return found if abs(self.log_delta(found) - log(delta)) < AGREE else None
        except Unresolved:
            return None

    @cached_property
    def _log_delta_at_zero(self) -> float:
        return self.log_delta(0.0)

    @property
    def _single(self) -> Callable[[NDArray[np.float64]], NDArray[np.float64]] | None:
        """δ of a single use with a closed form, when that is all there is."""
        alone = not self.rho and len(self.parts) == 1 and self.parts[0][1] == 1
        return self.parts[0][0].one if alone else None

    def _bound(self, delta: float) -> float:
        """An ε that is surely large enough: Chernoff."""
        at = self.axis.least(lambda c, k: (k + chernoff_term(c) - log(delta)) / c)
        c, k = self.axis.c[at : at + 1], self.axis.k[at]
        return min(self.largest, float((k + chernoff_term(c)[0] - log(delta)) / c[0]))

    def _route(self, epsilon: float) -> Callable[[float], float]:
        if self.rho:
            return self.axis_chernoff
        if self._mu is not None:
            return lambda e: gaussian_log_delta(self._mu or 0.0, e)
        if self._lattice is not None:
            return self._on_lattice
        at = self._curve.axis.least(lambda c, k: k - c * epsilon - np.log(c) - np.log1p(c))
        if self._decays(float(self._curve.axis.c[at])):
            return self._curve.log_delta
        return self._few_laplace.log_delta if self._few_laplace is not None else self._with_points

    def _on_lattice(self, epsilon: float) -> float:
        """The finite integral; where the common lattice is too fine for it, point by point."""
        try:
            return self._curve.log_delta(epsilon)
        except Unresolved:
            return points_log_delta(self._points, epsilon)

    def _with_points(self, epsilon: float) -> float:
        """All points by themselves, points with one loss where a part has its density, and the contour for what is left."""
        if any(side.dense and side.laplace is None for side, _ in self.parts):
            raise Unresolved
        known = exp(points_log_delta(self._points, epsilon))
        known += sum(n * delta_with_density(others, one, epsilon) for one, n, others in self._one_dense)
        pairs = sum(n for _, n, _ in self._one_dense) ** 2 / 2
        if len(self._one_dense) == 0 or pairs < 1:
            return _log(known)
        if (more := pairs * (self.largest - epsilon) ** 3 / 16) <= TINY * known:
            return _log(known + more)
        return self._rest.log_delta(epsilon, _log(known))

    @cached_property
    def _points(self) -> Points:
        return composed((side.points, n) for side, n in self.parts if side.points is not None)

    @cached_property
    def _one_dense(self) -> list[tuple[Side, int, Points]]:
        """For each kind of part with a density: how many there are, and the points of all parts but one of these."""
        found = []
        for one, n in self.parts:
            if one.dense:
                others = [(side, m - (side is one)) for side, m in self.parts]
                found.append((one, n, composed((side.points, m) for side, m in others if side.points is not None)))
        return found

    @cached_property
    def _rest(self) -> Curve:
        """What is left of e^K without all points, and without all points but one."""

        def less(t: NDArray[np.complex128], shift: float) -> NDArray[np.complex128]:
            log_all = np.full_like(t, -shift)
            factor = np.ones_like(t)
            for side, n in self.parts:
                if side.points is not None:
                    log_points = side.points.k(t)
                    log_all += n * log_points
                    if side.dense:
                        factor += n * np.expm1(side.k(t) - log_points)
            taken: NDArray[np.complex128] = factor * np.exp(log_all)
            return taken

        gaps = [
            float(np.diff(np.sort(side.points.losses)).min())
            for side, _ in self.parts
            if _several(side) and side.points
        ]
        return Curve(self.k, less=Less(less, until=4 * pi / min(gaps)))

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
        from scipy.optimize import minimize_scalar

        def bound(log_c: float) -> float:
            c = np.exp([log_c])
            return float((self.k(c.astype(np.complex128)).real + chernoff_term(c) - c * epsilon)[0])

        at = self.axis.least(lambda c, k: k + chernoff_term(c) - c * epsilon)
        near = np.log(self.axis.c[[max(at - 1, 0), min(at + 1, self.axis.c.size - 1)]])
        found = minimize_scalar(bound, bounds=tuple(near), method="bounded", options={"xatol": 1e-9})
        return min(0.0, float(found.fun))

    @cached_property
    def _curve(self) -> Curve:
        return Curve(self.k, self._lattice)

    def _decays(self, c: float) -> bool:
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
        atoms = [(side.atoms, n) for side, n in self.parts]
        if any(part is None for part, _ in atoms):
            return None
        steps = {part.step for part, _ in atoms if part is not None and part.log_p.size > 1}
        step = reduce(_common_step, steps, Fraction(0)) or Fraction(1)
        offset = sum((n * part.offset for part, n in atoms if part is not None), Fraction(0))
        return Lattice(offset, step, uniform=len(steps) <= 1 and all(part.one_hump for part, _ in atoms if part))


def _several(side: Side) -> bool:
    return side.points is not None and side.points.losses.size > 1


def _log(x: float) -> float:
    return log(x) if x > 0 else -inf


def _common_step(a: Fraction, b: Fraction) -> Fraction:
    """The largest rational of which both are whole multiples."""
    top = gcd(a.numerator * b.denominator, b.numerator * a.denominator)
    return Fraction(top, a.denominator * b.denominator)


def _bisect(log_delta: Callable[[float], float], target: float, high: float) -> float:
    """The root of a decreasing function between 0 and `high`, by Brent's method."""
    from scipy.optimize import brentq

    def gap(epsilon: float) -> float:
        return max(log_delta(epsilon), -1e6) - target

    if gap(high) > 0:  # a bound that is none: no value rather than one that is too small
        raise Unresolved
    root: float = brentq(gap, 0.0, high, xtol=1e-300, rtol=1e-14)
    return root


def with_failure(log_delta: float, failure: Fraction) -> float:
    """All of δ: what fails openly, and δ(ε) of the rest."""
    return min(1.0, float(failure) + exp(log_delta))


def without_failure(delta: Fraction, failure: Fraction) -> float:
    """What is left of a total δ for the rest; below 0 where even failure alone is more."""
    return float(delta - failure)
