"""δ(ε) from K(t) by a sum along a vertical line in the complex plane: near-exact, at any δ.

    δ(ε) = (1/2πi) ∫ e^(K(t) − tε) / (t(t+1)) dt,  Re t = c > 0.

c is near the saddle point, where the integrand is steepest. The trapezoid rule with step h equals, by Poisson
summation, Σ_m δ(ε + mA) e^(mAc) with A = 2π/h: the wanted term and aliases, all of them >= 0 and bounded by Chernoff on
the real axis. So h follows from the tolerance. Losses on a lattice of step g have a periodic integrand: there the same
line ends after A/g nodes, and nothing is cut off. The tilt by c keeps every number near 1, so δ = 1e-30 is no harder
than 1e-3. The integrand is cut off only where a cover of all later nodes allows it (`Side.log_cover`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, expm1, inf, log, pi
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.privacy.numeric.unresolved import Unresolved

Complex: TypeAlias = NDArray[np.complex128]
Reals: TypeAlias = NDArray[np.float64]
LogMgf: TypeAlias = Callable[[Complex], Complex]
Cover: TypeAlias = Callable[[float, Reals, float], Reals]
"""(c, Im t, enough) -> a bound of Re K − K(c) there, and at all larger Im t; where it is below `enough` it need not be a tight one."""

LOG_TOLERANCE = log(1e-13)  # of the aliases, relative to δ
NODES_AT_ONCE = 48
LEAST_SHARE = 1e-3  # of the largest term that the sum must be, or another line is better
MOST_NODES, MOST_ON_LATTICE = 768, 40_000
FEW_TIMES = 1e3  # NEGLIGIBLE is so much less than what matters: a cover need not be as tight as the integrand
NEGLIGIBLE = 1e-19  # of the largest term: where the sum may be cut off
MOST_EXPONENT = 3e6  # beyond it rounding shows in ln δ
SAME = Fraction(1, 10**14)  # of a loss: closer ones are one
CLOSE = 2.1  # ratio of the neighbours of a tilt that is good enough
BETWEEN: Reals = 1 + np.array([0.01, 0.02, 0.03, 0.045, 0.06, 0.075, 0.09, 0.12, 0.16])  # finer, above a tilt
ROOM = 1.1  # of a period, for ε near by
MOST_TURNS = 40
LARGE_TILT, MOST_TILT = 1e3, 1e9
FIRST_TILTS: Reals = np.exp2(np.arange(-4, 5.5, 0.5))


def never_falls(c: float, heights: Reals, enough: float) -> Reals:
    """The cover of an integrand of which nothing is known."""
    return np.zeros_like(heights)


@dataclass(frozen=True, slots=True)
class Lattice:
    """Every possible loss is offset + step·i."""

    offset: Fraction
    step: Fraction
    uniform: bool = True  # every part lies on this step itself, so the integrand decays until half-way round

    def first_above(self, epsilon: float) -> float:
        """How far the first possible loss that is at least ε lies above ε; 0 where ε is that loss, but for rounding to a float."""
        exact = Fraction(epsilon)
        steps = (exact - self.offset) / self.step
        ahead = self.offset + self.step * ceil(steps) - exact
        behind = self.step - ahead
        near = SAME * max(abs(exact), self.step)
        return 0.0 if ahead <= near or 0 <= behind <= near else float(ahead)


def chernoff_term(c: Reals) -> Reals:
    """C(c) in δ(ε) <= e^(K(c) + C(c) − cε): c ln c − (c+1) ln(c+1), with nothing large in between."""
    term: Reals = -c * np.log1p(1 / c) - np.log1p(c)
    return term


class RealAxis:
    """K at the real points looked at so far; all bounds and saddle points are found here."""

    def __init__(self, k: LogMgf) -> None:
        self._k = k
        self.c = np.empty(0)
        self.k = np.empty(0)
        self.look(FIRST_TILTS)

    def look(self, c: Reals) -> None:
        new = np.setdiff1d(c, self.c)
        if not new.size:
            return
        values = self._several(new)
        order = np.argsort(np.concatenate([self.c, new]))
        self.c, self.k = np.concatenate([self.c, new])[order], np.concatenate([self.k, values])[order]

    def _several(self, c: Reals) -> Reals:
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

    def least(self, goal: Callable[[Reals, Reals], Reals]) -> int:
        """The index of the point that minimises a convex goal(c, K), to within √2."""
        for _ in range(12):
            at = int(np.argmin(goal(self.c, self.k)))
            if at == 0 and self.c[0] > 1e-12:
                self.look(self.c[0] * 2.0 ** (-0.5 * np.arange(1, 9)))
            elif at == self.c.size - 1 and self.c[-1] < MOST_TILT:
                self.look(self.c[-1] * 2.0 ** (0.5 * np.arange(1, 5)))
            else:
                break
        at = int(np.argmin(goal(self.c, self.k)))
        low, high = self.c[max(at - 1, 0)], self.c[min(at + 1, self.c.size - 1)]
        if high / low > CLOSE:
            self.look(np.geomspace(low, high, 8)[1:-1])
        return int(np.argmin(goal(self.c, self.k)))


class Line:
    """K along Re t = c: serves every ε whose saddle point is near c.

    The nodes are chosen for a first ε; `low` and `high` bound the ε for which all aliases are below the tolerance.
    """

    def __init__(self, k: LogMgf, axis: RealAxis, at: int, lattice: Lattice | None, cover: Cover) -> None:
        self._k, self._lattice, self._cover = k, lattice, cover
        self.c, self.k_c = float(axis.c[at]), float(axis.k[at])
        self._aliases = _Aliases(axis, at)
        self.low, self.high = inf, -inf

    def log_delta(self, epsilon: float, tail: bool = False) -> float:
        """ln δ(ε), or of P(L > ε)."""
        return self.value(epsilon, tail)[0]

    def value(self, epsilon: float, tail: bool = False) -> tuple[float, float]:
        """ln δ(ε) and about its slope. Unresolved where this line is not the right one."""
        if abs(self.k_c) + abs(self.c * epsilon) > MOST_EXPONENT:
            raise Unresolved
        if not self.low <= epsilon <= self.high:
            self._choose(self._aliases.period(epsilon))
        terms, slopes, scale = (
            self._on_lattice(epsilon, tail) if self._lattice is not None else self._smooth(epsilon, tail)
        )
        total = float(terms.sum())
        if not total > LEAST_SHARE * max(scale, self._aliases.share):
            raise Unresolved
        return log(total) + self.k_c - self.c * epsilon, float(slopes.sum()) / total

    def _smooth(self, epsilon: float, tail: bool) -> tuple[Reals, Reals, float]:
        weights, slopes = self._tail_weights if tail else self._weights
        turn = np.exp(self._turns * epsilon)
        terms = (weights * turn).real
        return terms, (slopes * turn).real, float(np.abs(terms).max())

    def _on_lattice(self, epsilon: float, tail: bool) -> tuple[Reals, Reals, float]:
        """Σ over losses from the first above ε on, in closed form for each node.

        What the first one gains stands apart: where it is next to nothing the others may still be less than its rounding.
        """
        assert self._lattice is not None
        step, ahead = float(self._lattice.step), self._lattice.first_above(epsilon)
        if tail and ahead == 0:  # the loss ε itself does not count
            ahead = step
        turned = self.values * np.exp(self._turns * epsilon - self.t * ahead)
        all_above, all_below, later = self._geometric
        if tail:
            terms = (turned * all_above).real
            return terms, -self.c * terms, float(np.abs(terms).max())
        first, others = -expm1(-ahead) * step, later * all_above
        terms = (turned * (first + others - exp(-ahead - step) * later * all_below)).real
        slopes = -(turned * (exp(-ahead) * all_below)).real
        return terms, slopes, float((np.abs(turned) * (first + np.abs(others))).max())

    def _choose(self, least: float) -> None:
        """Nodes anew, so close that the period is at least this."""
        spacing, nodes = 2 * pi / least, MOST_NODES
        if self._lattice is not None:
            round_trip = max(2, ceil(least / float(self._lattice.step)))
            spacing = 2 * pi / (round_trip * float(self._lattice.step))
            nodes = round_trip // 2 + 1
            if nodes > MOST_ON_LATTICE and not self._lattice.uniform:  # then none may be left out
                raise Unresolved
        elif not self._falls(spacing):
            raise Unresolved
        t, values = self._nodes(spacing, nodes)
        counts = np.full(t.size, 2.0)  # each node stands for its mirror image too
        counts[0] = 1.0
        if self._lattice is not None and round_trip % 2 == 0 and t.size == nodes:
            counts[-1] = 1.0  # half-way round
        self.t, self.values = t, values * counts * (spacing / (2 * pi))
        self._turns = -1j * t.imag
        self.low, self.high = self._aliases.served(2 * pi / spacing)
        self._prepare()

    def _prepare(self) -> None:
        """What all ε have in common."""
        if self._lattice is None:
            self._weights = self.values / (self.t * (self.t + 1)), -self.values / (self.t + 1)
            self._tail_weights = self.values / self.t, -self.values
            return
        step = float(self._lattice.step)
        all_above, all_below = step / -np.expm1(-self.t * step), step / -np.expm1(-(self.t + 1) * step)
        self._geometric = all_above, all_below, np.exp(-self.t * step)

    def _nodes(self, spacing: float, most: int) -> tuple[Complex, Complex]:
        """Nodes and e^(K − K(c)) there, until the integrand is nothing or, on a lattice, until all are there."""
        t, values = np.empty(0, np.complex128), np.empty(0, np.complex128)
        while t.size < most:
            index = np.arange(t.size, min(most, t.size + max(NODES_AT_ONCE, t.size // 2)))
            if index[-1] > (MOST_NODES if self._lattice is None else MOST_ON_LATTICE):
                raise Unresolved
            new = (self.c + 1j * spacing * index).astype(np.complex128)
            t, values = np.concatenate([t, new]), np.concatenate([values, np.exp(self._k(new) - self.k_c)])
            sizes = np.abs(values / (t * (t + 1)))
            may_stop = self._lattice is None or self._lattice.uniform
            if may_stop and self._ended(t, sizes):
                return t, values
        if self._lattice is None:
            raise Unresolved
        return t, values

    def _ended(self, t: Complex, sizes: Reals) -> bool:
        """Whether the last nodes are negligible, and all that may come after them."""
        last, largest = slice(-NODES_AT_ONCE // 2, None), float(sizes.max())
        if float(sizes[last].max()) > NEGLIGIBLE * largest:
            return False
        return self._lattice is not None or self._stays_below(t[last][::4], largest)

    def _stays_below(self, t: Complex, largest: float) -> bool:
        """Whether all that may come after these nodes is negligible, by what covers the modulus of the integrand from there on."""
        allowed = log(NEGLIGIBLE * largest) + log(FEW_TIMES) + np.log(np.abs(t * (t + 1)))
        return bool((self._cover(self.c, t.imag, float(allowed.min())) <= allowed).all())

    def _falls(self, spacing: float) -> bool:
        """Whether the integrand is covered by something small at the last node that we would look at."""
        for nodes in (MOST_NODES, MOST_NODES // 8):  # K may not be known at the first
            last = spacing * nodes
            enough = log(NEGLIGIBLE) + 2 * log(last / self.c)
            try:
                covered = float(self._cover(self.c, np.array([last]), enough)[0])
            except Unresolved:
                continue
            return covered < enough or nodes < MOST_NODES
        return False


class _Aliases:
    """Bounds of δ(ε + mA) e^(mAc) for m = 1 and −1 by Chernoff, relative to an estimate of δ(ε) from below.

    Both are e^(a line in ε and A): the right one falls as ε + A grows, the left one as A − ε grows.
    """

    def __init__(self, axis: RealAxis, at: int) -> None:
        c, k, here = axis.c, axis.k, float(axis.c[at])
        estimate = _estimate(axis, at)
        self.share = exp(estimate - float(k[at]))  # of e^(K − cε) that δ(ε) is, where the line is right for ε
        floor = estimate + LOG_TOLERANCE
        chernoff = k + chernoff_term(c) - floor
        above, below = c > here, c < here
        self.right = float((chernoff[above] / (c[above] - here)).min(initial=inf))
        self.left = min(float((chernoff[below] / (here - c[below])).min(initial=inf)), -floor / here)

    def period(self, epsilon: float) -> float:
        """The least A with both below the tolerance at this ε, and a little more, so that it serves ε near by too."""
        least = max(self.right - epsilon, self.left + epsilon)
        if not least < 1e12:
            raise Unresolved
        return ROOM * max(least, 1e-9)

    def served(self, period: float) -> tuple[float, float]:
        return self.right - period, period - self.left


def lopsided(axis: RealAxis, at: int) -> bool:
    """Whether the aliases on the right need a far longer period than those on the left."""
    aliases = _Aliases(axis, at)
    return aliases.right > 3 * abs(aliases.left) + 10


def period(axis: RealAxis, at: int, epsilon: float) -> float:
    """A period that keeps all aliases of the line through the point `at` below the tolerance."""
    return _Aliases(axis, at).period(epsilon)


def _estimate(axis: RealAxis, at: int) -> float:
    """ln δ(ε) + cε to within a few units, from below: the saddle-point formula with the curvature of K."""
    c, k = axis.c, axis.k
    low, high = max(at - 1, 0), min(at + 1, c.size - 1)
    bend = 0.0
    if low < at < high and np.isfinite(k[[low, at, high]]).all():
        slopes = np.diff(k[[low, at, high]]) / np.diff(c[[low, at, high]])
        bend = float(2 * (slopes[1] - slopes[0]) / (c[high] - c[low]))
    spread = 1 + 2 * pi * max(bend, 0.0) * (c[at] + 1) ** 2
    return float(k[at] - log(c[at] * (c[at] + 1)) - 0.5 * log(spread) - 3)


class Curve:
    """δ(ε) of one direction of a composition, and its inverse, from its K."""

    def __init__(self, k: LogMgf, lattice: Lattice | None = None, cover: Cover = never_falls) -> None:
        self._k, self._lattice, self._cover = k, lattice, cover
        self.axis = RealAxis(k)
        self._lines: dict[float, Line] = {}
        self._last: Line | None = None

    def log_delta(self, epsilon: float, tail: bool = False) -> float:
        """ln δ(ε), or of P(L > ε)."""
        if (quick := self.quickly(epsilon, tail)) is not None:
            return quick
        at = self.axis.least(lambda c, k: k - c * epsilon - np.log(c) - np.log1p(c))
        return self._line(at).log_delta(epsilon, tail)

    def quickly(self, epsilon: float, tail: bool = False) -> float | None:
        """The same by the line that served last, if it serves this ε too."""
        line = self._last
        if line is None or not line.low <= epsilon <= line.high:
            return None
        try:
            return line.log_delta(epsilon, tail)
        except Unresolved:
            return None

    def epsilon(self, delta: float) -> float:
        """The ε with δ(ε) = delta, perhaps negative: Newton on ln δ(ε); Unresolved if it strays."""
        target = log(delta)
        at = self.axis.least(lambda c, k: (k + chernoff_term(c) - target) / c)
        c, k = self.axis.c[at], self.axis.k[at]
        start = float((k + chernoff_term(np.array([c]))[0] - target) / c)
        return _newton(self._line(at), target, start)

    def epsilon_quickly(self, target: float) -> float | None:
        """The ε with ln δ(ε) = target by the line that served last, if it serves here too."""
        line = self._last
        if line is None:
            return None
        try:
            near = 0.5 * (max(line.low, -1e9) + min(line.high, 1e9))
            found = _newton(line, target, near, within=True)
        except Unresolved:
            return None
        return found

    def _look_closely(self, at: int) -> None:
        """Where K grows so fast above a tilt that its neighbours say little, look at tilts in between."""
        if lopsided(self.axis, at):
            self.axis.look(float(self.axis.c[at]) * BETWEEN)

    def _line(self, at: int) -> Line:
        c = float(self.axis.c[at])
        near = min(self._lines, key=lambda other: abs(log(other / c)), default=None)
        if near is None or abs(log(near / c)) >= 0.08:
            near = c
            self._look_closely(at)
            at = int(np.searchsorted(self.axis.c, c))
            self._lines[c] = Line(self._k, self.axis, at, self._lattice, self._cover)
        self._last = self._lines[near]
        return self._last


def _newton(line: Line, target: float, start: float, within: bool = False) -> float:
    """The root of ln δ(ε) = target on one line; `within` the ε that it serves already, else Unresolved."""
    x = start
    for _ in range(MOST_TURNS):
        if within and not line.low <= x <= line.high:
            raise Unresolved
        value, slope = line.value(x)
        gap = value - target
        if not slope < 0:
            break
        step = gap / slope
        if abs(gap) < 1e-13 or abs(step) <= 4e-16 * abs(x):
            return x
        x -= step
    raise Unresolved
