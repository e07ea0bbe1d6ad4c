"""K on the real axis: Chernoff bounds, saddle points, and how far away the aliases of a line are. Nothing here changes once it is made."""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, inf, log, pi
from typing import TypeAlias

import numpy as np

from discreet.privacy.numeric.sums import LogMgf, Reals
from discreet.privacy.numeric.unresolved import Unresolved

# Of the aliases, relative to δ: a tenth of what the rounding of a sum of a hundred terms is.
LOG_TOLERANCE = log(1e-13)
# Ratio of the neighbours of a tilt that is good enough: those of the first tilts are 2 apart. A tilt off by √2 costs a line
# some nodes, and no precision.
CLOSE = 2.1
# Tilts just above one where K explodes, in units of it.
BETWEEN: Reals = 1 + np.array([0.01, 0.02, 0.03, 0.045, 0.06, 0.075, 0.09, 0.12, 0.16])
# A period is a little more than is needed, so that it serves ε near by too.
ROOM = 1.1
# Above this tilt K may overflow at one point and not at another: each is looked at alone. Beyond the second nobody looks.
LARGE_TILT, MOST_TILT = 1e3, 1e9
# No loss has a saddle point below this tilt at a δ that is a float.
LEAST_TILT = 1e-12
# A tilt for every δ from about a half to 1e-30 of most compositions, √2 apart; others are looked at where they are needed.
FIRST_TILTS: Reals = np.exp2(np.arange(-4, 5.5, 0.5))
# Looks at smaller tilts go down by 2⁴ each, at larger ones up by 2²: twelve go from the first tilts below LEAST_TILT, or up to 5e8.
FARTHER_DOWN: Reals = np.exp2(-0.5 * np.arange(1, 9))
FARTHER_UP: Reals = np.exp2(0.5 * np.arange(1, 5))
MOST_LOOKS = 12
# Where the aliases on the right need a period so much longer than those on the left, K explodes just above the tilt.
LOPSIDED, AT_LEAST = 3, 10
# ln of what the saddle-point formula is lowered by: it has to be an estimate from below.
BELOW = 3
# A longer period has no nodes that are floats apart from each other; one of 0 has none at all.
MOST_PERIOD, LEAST_PERIOD = 1e12, 1e-9
# Looks at the real axis that are kept of one composition; others are made again, and are the same.
MOST_KEPT = 256


def chernoff_term(c: Reals) -> Reals:
    """C(c) in δ(ε) <= e^(K(c) + C(c) − cε): c ln c − (c+1) ln(c+1), with nothing large in between."""
    term: Reals = -c * np.log1p(1 / c) - np.log1p(c)
    return term


class Looks:
    """K at real points, as often as it is asked for: what is asked again, after the same looks, is the same."""

    def __init__(self, k: LogMgf) -> None:
        self._k = k
        self._kept: dict[tuple[bytes, ...], RealAxis] = {}

    def after(self, seen: tuple[bytes, ...], axis: Callable[[], "RealAxis"]) -> "RealAxis":
        """The axis after these looks, made by the first who looks."""
        if seen not in self._kept:
            if len(self._kept) >= MOST_KEPT:
                self._kept.clear()
            self._kept[seen] = axis()
        return self._kept[seen]

    def several(self, c: Reals) -> Reals:
        """K at several points together, or where that cannot be, at each."""
        if c.max() > LARGE_TILT:
            return np.array([self.at(each) for each in c])
        try:
            return self._real(c)
        except Unresolved:
            return np.array([self.at(each) for each in c])

    def _real(self, c: Reals) -> Reals:
        with np.errstate(over="ignore", invalid="ignore"):
            values = self._k(c.astype(np.complex128)).real
        return np.where(np.isfinite(values), values, inf)

    def at(self, c: float) -> float:
        """K at one point, or infinity where it cannot be had: then no bound rests on it."""
        try:
            return float(self._real(np.array([c]))[0])
        except Unresolved:
            return inf


class RealAxis:
    """Real points that were looked at, and K there; bounds and saddle points are found here.

    Every question begins with the same tilts. A look at others gives another axis, the same one to whoever looks there: so nothing
    hangs on the questions before.
    """

    def __init__(self, looks: Looks, c: Reals, k: Reals, seen: tuple[bytes, ...] = ()) -> None:
        self._looks, self.c, self.k, self._seen = looks, c, k, seen
        # The Chernoff bound of ln δ(ε) and the logarithm of the integrand of δ(ε) are these, each less cε.
        self.chernoff: Reals = k + chernoff_term(c)
        self.steep: Reals = k - np.log(c) - np.log1p(c)
        self._aliases: dict[int, Aliases] = {}
        self._closely: dict[int, Tilt] = {}

    @classmethod
    def of(cls, k: LogMgf) -> "RealAxis":
        """The axis with which every question begins."""
        looks = Looks(k)
        return cls(looks, FIRST_TILTS, looks.several(FIRST_TILTS))

    def look(self, c: Reals) -> "RealAxis":
        """The axis with these points too."""
        seen = (*self._seen, c.tobytes())
        return self._looks.after(seen, lambda: self._with(c, seen))

    def _with(self, c: Reals, seen: tuple[bytes, ...]) -> "RealAxis":
        """All points with some more, in order, and K there."""
        new = np.setdiff1d(c, self.c)
        if not new.size:
            return self
        both, values = np.concatenate([self.c, new]), np.concatenate([self.k, self._looks.several(new)])
        order = np.argsort(both)
        return RealAxis(self._looks, both[order], values[order], seen)

    def at(self, c: float) -> float:
        """K at one point, or infinity where it cannot be had: then no bound rests on it."""
        return self._looks.at(c)

    def saddle(self, epsilon: float) -> "Tilt":
        """The tilt where the integrand of δ(ε) is steepest."""
        return self.least(lambda axis: axis.steep - axis.c * epsilon)

    def best_for_epsilon(self, epsilon: float) -> "Tilt":
        """The tilt with the least Chernoff bound of δ(ε)."""
        return self.least(lambda axis: axis.chernoff - axis.c * epsilon)

    def best_for_delta(self, log_delta: float, error: float = 0.0) -> "Tilt":
        """The tilt with the least Chernoff bound of ε(δ), where K may be off by an error."""
        return self.least(lambda axis: (axis.chernoff + (error - log_delta)) / axis.c)

    def best_seen(self, epsilon: float) -> float:
        """The least Chernoff bound of ln δ(ε) at the points that were looked at."""
        return float((self.chernoff - self.c * epsilon).min())

    def tilt(self, c: float) -> "Tilt":
        """A tilt that was looked at."""
        return Tilt(self, int(np.searchsorted(self.c, c)))

    def least(self, goal: "Goal") -> "Tilt":
        """The point that minimises a convex goal, to within √2."""
        axis = self
        for _ in range(MOST_LOOKS):
            at = int(goal(axis).argmin())
            if at == 0 and axis.c[0] > LEAST_TILT:
                axis = axis.look(axis.c[0] * FARTHER_DOWN)
            elif at == axis.c.size - 1 and axis.c[-1] < MOST_TILT:
                axis = axis.look(axis.c[-1] * FARTHER_UP)
            else:
                break
        else:
            at = int(goal(axis).argmin())
        low, high = axis.c[max(at - 1, 0)], axis.c[min(at + 1, axis.c.size - 1)]
        if high / low > CLOSE:
            axis = axis.look(np.geomspace(low, high, 8)[1:-1])
            at = int(goal(axis).argmin())
        return Tilt(axis, at)

    def aliases(self, at: int) -> "Aliases":
        """Bounds of the aliases on the line through one tilt, by all tilts that were looked at."""
        if at not in self._aliases:
            self._aliases[at] = Aliases(self, at)
        return self._aliases[at]

    def closely(self, at: int) -> "Tilt":
        """One tilt, after a look at tilts just above it where K grows so fast there that its neighbours say little."""
        if at not in self._closely:
            tilt = Tilt(self, at)
            self._closely[at] = self.look(tilt.c * BETWEEN).tilt(tilt.c) if tilt.lopsided else tilt
        return self._closely[at]


Goal: TypeAlias = Callable[[RealAxis], Reals]


@dataclass(frozen=True, slots=True, eq=False)
class Tilt:
    """One point of a real axis."""

    axis: RealAxis
    at: int

    @property
    def c(self) -> float:
        return float(self.axis.c[self.at])

    @property
    def k(self) -> float:
        return float(self.axis.k[self.at])

    @property
    def chernoff(self) -> float:
        """What bounds ln δ(ε) + cε, by Chernoff."""
        return float(self.axis.chernoff[self.at])

    def bound(self, epsilon: float) -> float:
        """The Chernoff bound of ln δ(ε) at this tilt."""
        return self.chernoff - self.c * epsilon

    @property
    def estimate(self) -> float:
        """About ln δ(ε) + cε, by the saddle-point formula, and never more than the bound."""
        return min(self.aliases.floor - LOG_TOLERANCE + BELOW, self.chernoff)

    @property
    def neighbours(self) -> tuple[float, float]:
        """The points on both sides."""
        c = self.axis.c
        return float(c[max(self.at - 1, 0)]), float(c[min(self.at + 1, c.size - 1)])

    @property
    def aliases(self) -> "Aliases":
        return self.axis.aliases(self.at)

    @property
    def lopsided(self) -> bool:
        """Whether the aliases on the right need a far longer period than those on the left."""
        return self.aliases.right > LOPSIDED * abs(self.aliases.left) + AT_LEAST

    def looked_closely(self) -> "Tilt":
        """The tilt after a look at those just above it, where that is needed."""
        return self.axis.closely(self.at)


class Aliases:
    """Bounds of δ(ε + mA) e^(mAc) for m = 1 and −1 by Chernoff, relative to an estimate of δ(ε) from below.

    Both are e^(a line in ε and A): the right one falls as ε + A grows, the left one as A − ε grows.
    """

    def __init__(self, axis: RealAxis, at: int) -> None:
        c, here = axis.c, float(axis.c[at])
        estimate = _estimate(axis, at)
        self.share = exp(estimate - float(axis.k[at]))  # of e^(K − cε) that δ(ε) is, where the line is right for ε
        self.floor = estimate + LOG_TOLERANCE  # of ln δ(ε) + cε: an alias below it is no matter
        chernoff = axis.chernoff - self.floor
        above, below = c > here, c < here
        self.right = float((chernoff[above] / (c[above] - here)).min(initial=inf))
        self.left = min(float((chernoff[below] / (here - c[below])).min(initial=inf)), -self.floor / here)

    def period(self, epsilon: float) -> float:
        """The least A with both below the tolerance at this ε, and a little more, so that it serves ε near by too."""
        least = max(self.right - epsilon, self.left + epsilon)
        if not least < MOST_PERIOD:
            raise Unresolved
        return ROOM * max(least, LEAST_PERIOD)

    @property
    def shortest(self) -> float:
        """What the period is at least, whatever ε is."""
        return self.period((self.right - self.left) / 2)

    def served(self, period: float) -> tuple[float, float]:
        """The ε between which this period keeps all aliases below the tolerance."""
        return self.right - period, period - self.left


def _estimate(axis: RealAxis, at: int) -> float:
    """ln δ(ε) + cε to within a few units, from below: the saddle-point formula with the curvature of K."""
    c, k = axis.c, axis.k
    low, high = max(at - 1, 0), min(at + 1, c.size - 1)
    bend = 0.0
    if low < at < high and np.isfinite(k[[low, at, high]]).all():
        slopes = np.diff(k[[low, at, high]]) / np.diff(c[[low, at, high]])
        bend = float(2 * (slopes[1] - slopes[0]) / (c[high] - c[low]))
    spread = 1 + 2 * pi * max(bend, 0.0) * (c[at] + 1) ** 2
    return float(k[at] - log(c[at] * (c[at] + 1)) - 0.5 * log(spread) - BELOW)
