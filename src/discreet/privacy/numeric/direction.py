"""One direction of a composition: near-exact answers by the routes, compared with certified ends where they are in doubt."""

from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from math import exp, expm1, log

from discreet.privacy.numeric.axis import RealAxis
from discreet.privacy.numeric.bounds import (
    CLOSED_ROUNDING,
    FINE,
    LEAST_DELTA,
    NO_FLOAT,
    PRECISION,
    Bounds,
    root_of,
)
from discreet.privacy.numeric.contour import Lattice
from discreet.privacy.numeric.parts import Parts
from discreet.privacy.numeric.routes import Inverse, Routes
from discreet.privacy.numeric.search import minimum
from discreet.privacy.numeric.side import Side
from discreet.privacy.numeric.sums import Complex
from discreet.privacy.numeric.unresolved import Unresolved

# Above it ε may well be 0; below it the root is looked for at once, and may come out negative.
LARGE_DELTA = 1e-3
# What near-exact means: of ln δ, between a root and a second look, and between a value and the certified ends around it.
AGREE = 1e-9
# How far below ε a tail is bounded by δ: min over h of δ(ε − h)/(1 − e^-h), found to a thousandth, is never less.
LEAST_H, MOST_H, PRECISION_OF_H = 1e-3, 2.0, 1e-3


class Direction:
    """The composition of (side, times), all in one direction. No answer hangs on the questions before it."""

    def __init__(self, parts: Iterable[tuple[Side, int]], rho: Fraction = Fraction(0)) -> None:
        self._parts = Parts(parts, rho)
        self.bounds = Bounds(self._parts)
        self.routes = Routes(self._parts, self.bounds)

    @property
    def parts(self) -> list[tuple[Side, int]]:
        return self._parts.each

    @property
    def rho(self) -> float:
        """That of zCDP-only parts, which have no K off the real axis."""
        return self._parts.rho

    @property
    def largest(self) -> float:
        """The supremum of the loss, rounded up; pure ε."""
        return self._parts.largest

    @property
    def pure(self) -> Fraction | None:
        """The supremum exactly where that is known, else a bound; None where the loss is unbounded."""
        return self._parts.pure

    @property
    def failure(self) -> Fraction:
        """The chance that some part fails openly."""
        return self._parts.failure

    @property
    def lattice(self) -> Lattice | None:
        """The common lattice of all parts, where each has one."""
        return self._parts.lattice

    def k(self, t: Complex) -> Complex:
        return self._parts.k(t)

    @property
    def axis(self) -> RealAxis:
        """The real axis as every question finds it."""
        return self._parts.axis

    def log_delta(self, epsilon: float) -> float:
        """ln δ(ε) apart from open failure: near-exact, or where no route leads there a certified bound from above."""
        value, route = self.routes.value(epsilon)
        if not route.doubtful or value == float("-inf"):
            return value
        low, high = self.bounds.log_delta_ends(epsilon)
        return value if low - AGREE <= value <= high + AGREE else self.bounds.least_above(epsilon)

    def near_exact(self, epsilon: float) -> float:
        """ln δ(ε) by a near-exact route alone, compared with nothing; or Unresolved."""
        return self.routes.value(epsilon, near_exact=True)[0]

    def epsilon(self, delta: float) -> float:
        """The least ε >= 0 with δ(ε) <= delta, apart from open failure; delta > 0."""
        value, doubtful = self._epsilon(delta)
        if not doubtful or delta < LEAST_DELTA:
            return value
        low, high = self.interval(delta, PRECISION)
        if low * (1 - AGREE) <= value <= high * (1 + AGREE):
            return value
        return min(high, self.bounds.epsilon_above(delta, FINE))

    def _epsilon(self, delta: float) -> tuple[float, bool]:
        """ε(delta), and whether it is in doubt."""
        target = log(delta)
        if self.largest == 0 or (delta > LARGE_DELTA and self._zero_is_enough(target)):
            return 0.0, False
        if self.bounds.log_delta_near_top >= target:
            return self.largest, False
        for route, inverse in self.routes.inverses(delta):
            if (epsilon := self._inverted(inverse, delta)) is not None:
                return epsilon, route.doubtful
        return (0.0, False) if self._zero_is_enough(target) else self._searched(delta)

    def _inverted(self, inverse: Inverse, delta: float) -> float | None:
        """ε by a route's own way, where a second look agrees."""
        try:
            epsilon, log_delta = inverse()
        except Unresolved:
            return None
        if epsilon <= 0:
            return 0.0 if self._zero_is_enough(log(delta)) else None
        if epsilon >= self.largest:
            return None
        if self._parts.single is not None:  # whose δ is had without the contour
            log_delta = self.near_exact(epsilon)
        return epsilon if abs(log_delta - log(delta)) < AGREE else None

    def _searched(self, delta: float) -> tuple[float, bool]:
        """ε by a search along the near-exact routes, or else its certified bound."""
        doubts: set[bool] = set()

        def log_delta(epsilon: float) -> float:
            value, route = self.routes.value(epsilon, near_exact=True)
            doubts.add(route.doubtful)
            return value

        try:
            start = self.bounds.epsilon_by_chernoff(delta)
            return root_of(log_delta, log(delta), start, self.largest), True in doubts
        except Unresolved:
            return min(self.bounds.epsilon_above(delta, precision) for precision in (FINE, PRECISION)), False

    def _zero_is_enough(self, target: float) -> bool:
        """Whether ln δ(0) is no more; a value that says so, and is in doubt, is compared with certified ends."""
        return self._first_log_delta_at_zero <= target and self._log_delta_at_zero <= target

    @cached_property
    def _first_log_delta_at_zero(self) -> float:
        return self.routes.value(0.0)[0]

    @cached_property
    def _log_delta_at_zero(self) -> float:
        return self.log_delta(0.0)

    def log_tail(self, epsilon: float) -> float:
        """ln P(L > ε) apart from open failure: near-exact, or else min over h of δ(ε − h)/(1 − e^-h), which is never less."""
        try:
            return self.routes.value(epsilon, tail=True)[0]
        except Unresolved:
            return self._tail_above(epsilon)

    def _tail_above(self, epsilon: float) -> float:
        """The best of those bounds; where one is below all floats the best of them is no different."""
        if (bound := self._bound_of_tail(epsilon, MOST_H)) < NO_FLOAT:
            return bound
        return min(0.0, minimum(lambda h: self._bound_of_tail(epsilon, h), LEAST_H, MOST_H, PRECISION_OF_H))

    def _bound_of_tail(self, epsilon: float, h: float) -> float:
        return self.log_delta(epsilon - h) - log(-expm1(-h))

    def log_delta_above(self, epsilon: float, precision: float = PRECISION) -> float:
        """ln of a certified upper bound on δ(ε), apart from open failure."""
        return self.bounds.log_delta_above(epsilon, precision)

    def interval(self, delta: float, precision: float) -> tuple[float, float]:
        """Certified ends of ε(delta), apart from open failure, about precision·ε from each other."""
        if self._parts.mu is not None and delta >= LEAST_DELTA:
            return self.epsilon(delta * (1 + CLOSED_ROUNDING)), self.epsilon(delta * (1 - CLOSED_ROUNDING))
        return self.bounds.interval(delta, precision)

    def epsilon_above(self, delta: float, precision: float) -> float:
        """The upper end alone."""
        return self.bounds.epsilon_above(delta, precision)


def with_failure(log_delta: float, failure: Fraction) -> float:
    """All of δ: what fails openly, and δ(ε) of the rest."""
    return min(1.0, float(failure) + exp(log_delta))


def without_failure(delta: Fraction, failure: Fraction) -> float:
    """What is left of a total δ for the rest; below 0 where even failure alone is more."""
    return float(delta - failure)
