"""The routes to ln δ(ε) and to ln P(L > ε) of one direction of a composition. The first that serves, and gets there, wins:

    Nowhere         ε is at least the largest loss: δ is 0
    InClosedForm    one use of noise whose δ has a closed form
    Alone           one use of anything: a sum over its points, and a quadrature of its density
    Certain         δ is 1, to all digits
    Vanishing       δ is below all floats: its Chernoff bound is as good
    Concentrated    a part of which only zCDP is known: the Chernoff bound, which is all there is
    AllGaussian     Gaussians alone: one Gaussian, in closed form
    AroundLattice   all losses on one lattice: a finite integral
    PointByPoint    the same, where that lattice is too fine for it: the points that can be told apart
    BySplines       few Laplace releases of one scale: Irwin–Hall splines
    AlongContour    losses with a density: an integral along a line, where a cover of the integrand says where it ends
    Beside          points beside one density whose δ is known: term by term
    ByTransform     few releases of any kinds: 130,000 nodes by Fourier transforms
    Bounded         whatever is left: a certified bound from above, which is not near-exact

Nothing else decides by which route a value is had. A route that cannot reach its precision raises Unresolved, and the next one that
serves is asked. No route remembers anything that changes a value: what it keeps, it would make again.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from math import inf, log, sqrt
from typing import ClassVar, TypeAlias, TypeVar

import numpy as np

from discreet.privacy.numeric.axis import Tilt
from discreet.privacy.numeric.bounds import FEW_USES, MOST_EPSILON, NO_FLOAT, Bounds
from discreet.privacy.numeric.closed import FewLaplace, gaussian_log_delta, gaussian_log_tail, gaussian_tails
from discreet.privacy.numeric.convolved import Convolved, points_on
from discreet.privacy.numeric.parts import Parts, lattice_of
from discreet.privacy.numeric.points import NO_POINTS, composed
from discreet.privacy.numeric.points import log_delta as points_log_delta
from discreet.privacy.numeric.side import Points, Side
from discreet.privacy.numeric.sums import Reals
from discreet.privacy.numeric.transform import MOST_USES, TransformLine, middle_of_cell
from discreet.privacy.numeric.unresolved import Unresolved

# Only so far out may δ be below all floats; nearer, nobody looks.
FAR = 30.0
# ln of what 1 is no different without: e^-40 is 4e-18, a fiftieth of a unit in the last place.
NO_DIFFERENCE = -40.0
# A tilt between −1 and 0, at which 1 − δ(ε) <= e^(K(−t) + tε): any is right, and one near the middle is best.
BEFORE_ZERO = 0.4
# ln of the share of points in the tilted loss: with less, they have no part in any digit of a sum.
GONE = -40.0
# Laplace releases that splines are quick for: their table has n²/2 pieces of 24 nodes, and takes 0.1 s to make for 400.
FEW_LAPLACE = 400
# Transforms, and sets of points on a lattice, that are kept of one composition: of 5 MB each.
KEPT = 4
# Kinds of which certified ends are had in a fraction of a second; with more, values are not compared with them.
MOST_CHECKED = 100


K = TypeVar("K")
V = TypeVar("V")


Inverse: TypeAlias = Callable[[], tuple[float, float]]
"""A quick way to the ε with δ(ε) = delta, perhaps negative, and to what ln δ is there; or to Unresolved."""


class DeltaQuestion:
    """ln δ(ε), or ln P(L > ε) where `tail`: what the routes are asked in turn. What one of them finds of ε the next one need not."""

    def __init__(self, parts: Parts, epsilon: float, tail: bool) -> None:
        self._parts, self.epsilon, self.tail = parts, epsilon, tail

    @cached_property
    def saddle(self) -> Tilt:
        """The tilt at which the integrand of δ(ε) is steepest."""
        return self._parts.axis.saddle(self.epsilon)

    @cached_property
    def decays(self) -> bool:
        """Whether the integrand of δ(ε) may fall along its line; a cover of it says whether it falls soon enough."""
        return not self._parts.points_everywhere or points_are_gone(self._parts, self.saddle.c)


class Route(ABC):
    """One way to ln δ(ε), and to ln P(L > ε)."""

    # Whether a value is a bound from above, and not near-exact.
    bound: ClassVar[bool] = False

    def __init__(self, parts: Parts, bounds: Bounds) -> None:
        self.parts, self.bounds = parts, bounds

    @property
    def possible(self) -> bool:
        """Whether it may be asked of this composition at all."""
        return True

    def serves(self, question: DeltaQuestion) -> bool:
        """Whether it may be asked this."""
        return True

    @abstractmethod
    def value(self, question: DeltaQuestion) -> float:
        """The answer, or Unresolved."""

    def inverse(self, delta: float) -> Inverse | None:
        """A quicker way to ε(delta) than a search, where this route has one."""
        return None

    @cached_property
    def doubtful(self) -> bool:
        """Whether a value rests on how fast a sum of several kinds was seen to fall: then certified ends must agree with it."""
        if self.parts.rho or self.parts.mu is not None or self.parts.lattice is not None:
            return False
        return 1 < len(self.parts.merged) <= MOST_CHECKED


class Nowhere(Route):
    @property
    def possible(self) -> bool:
        return self.parts.largest < inf

    def serves(self, question: DeltaQuestion) -> bool:
        return question.epsilon >= self.parts.largest

    def value(self, question: DeltaQuestion) -> float:
        return -inf


class InClosedForm(Route):
    @property
    def possible(self) -> bool:
        return self.parts.single is not None and self.parts.single.one is not None

    def serves(self, question: DeltaQuestion) -> bool:
        return not question.tail

    def value(self, question: DeltaQuestion) -> float:
        assert self.parts.single is not None and self.parts.single.one is not None
        delta = float(self.parts.single.one(np.array([question.epsilon]))[0])
        return log(delta) if delta > 0 else -inf


class Alone(Route):
    @property
    def possible(self) -> bool:
        return self.parts.single is not None

    def serves(self, question: DeltaQuestion) -> bool:
        return not (question.tail and self.parts.mu is not None)

    def value(self, question: DeltaQuestion) -> float:
        assert self.parts.single is not None
        single = self.parts.single
        return single.log_tail(question.epsilon) if question.tail else single.log_delta(question.epsilon)


class Certain(Route):
    @property
    def possible(self) -> bool:
        return not self.parts.rho

    def serves(self, question: DeltaQuestion) -> bool:
        """Whether 1 − δ(ε) = E min(1, e^(ε−L)) <= e^(K(−t) + tε), 0 < t < 1, is below the precision of δ."""
        if question.tail or question.epsilon > MOST_EPSILON:
            return False
        if question.saddle.bound(question.epsilon) < 0 or self.parts.axis.best_seen(question.epsilon) < 0:
            return False  # Chernoff says that it is less than 1
        return self._k_before_zero + BEFORE_ZERO * question.epsilon < NO_DIFFERENCE

    @cached_property
    def _k_before_zero(self) -> float:
        return float(self.parts.k(np.array([-BEFORE_ZERO + 0j]))[0].real)

    def value(self, question: DeltaQuestion) -> float:
        return 0.0


class Vanishing(Route):
    def serves(self, question: DeltaQuestion) -> bool:
        """Whether a Chernoff bound is below all floats: that at a tilt which is nearly the best one is enough to tell."""
        if question.tail or not question.epsilon > FAR:
            return False
        return self.parts.axis.best_for_epsilon(min(question.epsilon, MOST_EPSILON)).bound(question.epsilon) < NO_FLOAT

    def value(self, question: DeltaQuestion) -> float:
        return self.bounds.chernoff(question.epsilon)


class Concentrated(Route):
    @property
    def possible(self) -> bool:
        return self.parts.rho > 0

    def serves(self, question: DeltaQuestion) -> bool:
        return not question.tail

    def value(self, question: DeltaQuestion) -> float:
        return self.bounds.chernoff(question.epsilon)


class AllGaussian(Route):
    @property
    def possible(self) -> bool:
        return not self.parts.rho and self.parts.mu is not None

    def value(self, question: DeltaQuestion) -> float:
        mu = self.parts.mu or 0.0
        return gaussian_log_tail(mu, question.epsilon) if question.tail else gaussian_log_delta(mu, question.epsilon)


class AroundLattice(Route):
    @property
    def possible(self) -> bool:
        return self.parts.lattice is not None

    def value(self, question: DeltaQuestion) -> float:
        return self.parts.curve.log_delta(question.epsilon, question.saddle, question.tail)

    def inverse(self, delta: float) -> Inverse | None:
        if self.parts.rho or self.parts.mu is not None:
            return None
        return partial(self.parts.curve.epsilon, delta, self.parts.axis.best_for_delta(log(delta)))


class PointByPoint(Route):
    @property
    def possible(self) -> bool:
        return self.parts.lattice is not None

    def serves(self, question: DeltaQuestion) -> bool:
        return self.parts.points is not None

    def value(self, question: DeltaQuestion) -> float:
        return points_log_delta(self.parts.points or NO_POINTS, question.epsilon, question.tail)


class BySplines(Route):
    @property
    def possible(self) -> bool:
        return self.splines is not None

    def serves(self, question: DeltaQuestion) -> bool:
        return not question.decays

    def value(self, question: DeltaQuestion) -> float:
        assert self.splines is not None
        return self.splines.log_delta(question.epsilon, question.tail)

    @cached_property
    def splines(self) -> FewLaplace | None:
        ratios = {side.laplace for side, _ in self.parts.each}
        ratio = ratios.pop() if len(ratios) == 1 and not self.parts.rho else None
        return (
            FewLaplace(float(ratio), self.parts.uses) if ratio is not None and self.parts.uses <= FEW_LAPLACE else None
        )


class AlongContour(Route):
    @property
    def possible(self) -> bool:
        return self.parts.lattice is None

    def serves(self, question: DeltaQuestion) -> bool:
        return question.decays

    def value(self, question: DeltaQuestion) -> float:
        return self.parts.curve.log_delta(question.epsilon, question.saddle, question.tail)

    def inverse(self, delta: float) -> Inverse | None:
        if self.parts.rho or self.parts.mu is not None:
            return None
        best = self.parts.axis.best_for_delta(log(delta))
        if self.parts.points_everywhere and not points_are_gone(self.parts, best.c):
            return None
        return partial(self.parts.curve.epsilon, delta, best)


class Beside(Route):
    @property
    def possible(self) -> bool:
        return self.parts.lattice is None and self._dense is not None

    def serves(self, question: DeltaQuestion) -> bool:
        return self._curve(question.tail) is not None

    def value(self, question: DeltaQuestion) -> float:
        curve = self._curve(question.tail)
        assert curve is not None
        return Convolved(self._points(question), self.parts.cut_off, curve).log_delta(question.epsilon)

    @cached_property
    def _dense(self) -> Side | None:
        """The only part with a density, when it is used once and its δ is known, and all others are points."""
        dense = [(side, n) for side, n in self.parts.merged if side.dense]
        return dense[0][0] if len(dense) == 1 and dense[0][1] == 1 and dense[0][0].one is not None else None

    def _curve(self, tail: bool) -> Callable[[Reals], Reals] | None:
        """δ of the one density, or its tail, where that has a closed form."""
        if self._dense is None or not tail:
            return self._dense.one if self._dense is not None else None
        if self._dense.gaussian is None:
            return None
        mu = sqrt(self._dense.gaussian)
        return lambda epsilon: gaussian_tails(mu, epsilon)

    @cached_property
    def _others(self) -> list[tuple[Side, int]]:
        return [(side, n) for side, n in self.parts.merged if side is not self._dense]

    def _points(self, question: DeltaQuestion) -> Points:
        """The points of all other parts: one by one, or on their lattice, near the tilt of this ε."""
        if self._few_points is not None:
            return self._few_points
        atoms = [(side.atoms, n) for side, n in self._others if side.atoms is not None]
        if len(atoms) < len(self._others):
            raise Unresolved
        c = question.saddle.c
        if c not in self._on_lattice:
            drop_oldest(self._on_lattice)
            self._on_lattice[c] = points_on(lattice_of(atoms), atoms, c)
        return self._on_lattice[c]

    @cached_property
    def _on_lattice(self) -> dict[float, Points]:
        return {}

    @cached_property
    def _few_points(self) -> Points | None:
        if sum(n for _, n in self._others) > FEW_USES:
            return None
        try:
            return composed((side.points, n) for side, n in self._others if side.points is not None)
        except Unresolved:
            return None


class ByTransform(Route):
    doubtful = True

    @property
    def possible(self) -> bool:
        """Whether the rounding of so many powers leaves two grids a chance to agree."""
        return self.parts.uses <= MOST_USES

    def value(self, question: DeltaQuestion) -> float:
        """All points by themselves, exactly, and a fine transform for what is left; of very many points too."""
        epsilon, tail = question.epsilon, question.tail
        known = points_log_delta(self.parts.points or NO_POINTS, epsilon, tail)
        tilt = question.saddle.looked_closely().axis.saddle(epsilon)
        try:
            return self._line(tilt, middle_of_cell(tilt, epsilon)).log_delta(epsilon, known, tail)
        except Unresolved:  # a window around ε itself may do
            return self._line(tilt, epsilon).log_delta(epsilon, known, tail)

    def _line(self, tilt: Tilt, middle: float) -> TransformLine:
        key = tilt.c, tilt.k, middle
        if key not in self._lines:
            drop_oldest(self._lines)
            self._lines[key] = TransformLine(self.parts.each, tilt, middle, self.parts.points is not None)
        return self._lines[key]

    @cached_property
    def _lines(self) -> dict[tuple[float, float, float], TransformLine]:
        return {}


class Bounded(Route):
    bound = True
    doubtful = False

    def serves(self, question: DeltaQuestion) -> bool:
        return not question.tail

    def value(self, question: DeltaQuestion) -> float:
        return self.bounds.least_above(question.epsilon)


ROUTES: tuple[type[Route], ...] = (
    Nowhere,
    InClosedForm,
    Alone,
    Certain,
    Vanishing,
    Concentrated,
    AllGaussian,
    AroundLattice,
    PointByPoint,
    BySplines,
    AlongContour,
    Beside,
    ByTransform,
    Bounded,
)


class Routes:
    """All routes of one direction of a composition, in their order."""

    def __init__(self, parts: Parts, bounds: Bounds) -> None:
        self._parts, self._bounds = parts, bounds

    @cached_property
    def _routes(self) -> list[Route]:
        return [route for route in (kind(self._parts, self._bounds) for kind in ROUTES) if route.possible]

    def value(self, epsilon: float, tail: bool = False, near_exact: bool = False) -> tuple[float, Route]:
        """ln δ(ε), or of P(L > ε), and the route by which it was had; Unresolved where no route, or no near-exact one, leads there."""
        question = DeltaQuestion(self._parts, epsilon, tail)
        for route in self._routes:
            if (near_exact and route.bound) or not route.serves(question):
                continue
            try:
                return min(0.0, route.value(question)), route
            except Unresolved:
                continue
        raise Unresolved

    def inverses(self, delta: float) -> Iterator[tuple[Route, Inverse]]:
        """The routes with a quick way to ε(delta), and that way."""
        for route in self._routes:
            if (inverse := route.inverse(delta)) is not None:
                yield route, inverse


def points_are_gone(parts: Parts, c: float) -> bool:
    """Whether losses that are points have no part in the loss tilted by c; a loss with a density may then decide."""
    return parts.log_atomic(c) < GONE


def drop_oldest(kept: dict[K, V]) -> None:
    """Makes room for one more."""
    while len(kept) >= KEPT:
        del kept[next(iter(kept))]
