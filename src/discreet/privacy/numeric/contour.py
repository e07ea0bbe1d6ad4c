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
from math import ceil, exp, expm1, inf, log, log2, pi
from typing import TypeAlias

import numpy as np

from discreet.privacy.numeric.sums import Complex, LogMgf, Reals
from discreet.privacy.numeric.unresolved import Unresolved

Cover: TypeAlias = Callable[[float, Reals, float], Reals]
"""(c, Im t, enough) -> a bound of Re K − K(c) there, and at all larger Im t; where it is below `enough` it need not be a tight one."""

# Of the aliases, relative to δ: a tenth of what the rounding of a sum of a hundred terms is.
LOG_TOLERANCE = log(1e-13)
# Nodes taken at once: most lines end within as many, and K of fewer is not much quicker.
NODES_AT_ONCE = 48
# Of the largest term that the sum must be: with less, three digits are lost to cancellation, and another line is better.
LEAST_SHARE = 1e-3
# Nodes of one line. Where an integrand falls so slowly that more are needed other routes are quicker; on a lattice all nodes of one
# round may be needed, and 40,000 take a few milliseconds.
MOST_NODES, MOST_ON_LATTICE = 768, 40_000
# Of the largest term: where the sum may be cut off. All that comes after is less than a unit in the last place, even if a
# cover is not as tight as the integrand itself but a thousand times larger.
NEGLIGIBLE, FEW_TIMES = 1e-19, 1e3
# K and cε are sums of about so much, rounded to 1e-16 each: beyond it rounding shows in the tenth digit of ln δ.
MOST_EXPONENT = 3e6
# Of a loss: closer ones are one, since the ε that was asked for may be a loss, rounded to a float.
SAME = Fraction(1, 10**14)
# Ratio of the neighbours of a tilt that is good enough: those of the first tilts are 2 apart. A tilt off by √2 costs a line
# some nodes, and no precision.
CLOSE = 2.1
# Tilts just above one where K explodes, in units of it.
BETWEEN: Reals = 1 + np.array([0.01, 0.02, 0.03, 0.045, 0.06, 0.075, 0.09, 0.12, 0.16])
# A period is a little more than is needed, so that it serves ε near by too.
ROOM = 1.1
# Nodes have one of PERIODS periods to the octave, so that questions share them, whoever asked first: from SPARE less than the
# period that is asked for, which has room for it, to a little more.
PERIODS, SPARE = 4, 1.07
# Newton's method needs four to eight; one that strays is given up.
MOST_TURNS = 40
# Newton's method ends where ln δ is off by less, or ε by two units in the last place.
SAME_LOG, SAME_EPSILON = 1e-13, 4e-16
# Above this tilt K may overflow at one point and not at another: each is looked at alone. Beyond the second nobody looks.
LARGE_TILT, MOST_TILT = 1e3, 1e9
# No loss has a saddle point below this tilt at a δ that is a float.
LEAST_TILT = 1e-12
# A tilt for every δ from about a half to 1e-30 of most compositions, √2 apart; others are looked at where they are needed.
FIRST_TILTS: Reals = np.exp2(np.arange(-4, 5.5, 0.5))
# Where the aliases on the right need a period so much longer than those on the left, K explodes just above the tilt.
LOPSIDED, AT_LEAST = 3, 10
# ln of what the saddle-point formula is lowered by: it has to be an estimate from below.
BELOW = 3
# A longer period has no nodes that are floats apart from each other; one of 0 has none at all.
MOST_PERIOD, LEAST_PERIOD = 1e12, 1e-9
# Sets of nodes, and looks at the real axis, that are kept of one composition; others are made again, and are the same.
MOST_KEPT = 256


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


FIRST_TERMS = chernoff_term(FIRST_TILTS)


class Looks:
    """K at real points, as often as it is asked for: what is asked again, together with the same others, is the same."""

    def __init__(self, k: LogMgf) -> None:
        self._k = k
        self._kept: dict[bytes, Reals] = {}
        self._aliases: dict[tuple[tuple[bytes, ...], int], _Aliases] = {}
        self.after: dict[tuple[bytes, ...], tuple[Reals, Reals]] = {}

    def aliases(self, axis: "RealAxis", seen: tuple[bytes, ...], at: int) -> "_Aliases":
        if (seen, at) not in self._aliases:
            if len(self._aliases) >= MOST_KEPT:
                self._aliases.clear()
                self.after.clear()
            self._aliases[seen, at] = _Aliases(axis, at)
        return self._aliases[seen, at]

    def several(self, c: Reals) -> Reals:
        key = c.tobytes()
        if key not in self._kept:
            if len(self._kept) >= MOST_KEPT:
                self._kept.clear()
            self._kept[key] = self._several(c)
        return self._kept[key]

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


class RealAxis:
    """The real points that one question has looked at, and K there; bounds and saddle points are found here.

    Every question begins with the same tilts, so that nothing hangs on the questions before it.
    """

    def __init__(self, looks: Looks) -> None:
        self._looks = looks
        self.c, self.k = FIRST_TILTS, looks.several(FIRST_TILTS)
        self._seen: tuple[bytes, ...] = ()

    def look(self, c: Reals) -> None:
        """Looks at these points too; whoever has looked at the same before finds what was found then."""
        seen = (*self._seen, c.tobytes())
        if seen not in self._looks.after:
            self._looks.after[seen] = self._with(c)
        self._seen, (self.c, self.k) = seen, self._looks.after[seen]

    def _with(self, c: Reals) -> tuple[Reals, Reals]:
        """All points with some more, in order, and K there."""
        new = np.setdiff1d(c, self.c)
        if not new.size:
            return self.c, self.k
        both, values = np.concatenate([self.c, new]), np.concatenate([self.k, self._looks.several(new)])
        order = np.argsort(both)
        return both[order], values[order]

    def at(self, c: float) -> float:
        """K at one point, or infinity where it cannot be had: then no bound rests on it."""
        return self._looks.at(c)

    def saddle(self, epsilon: float) -> int:
        """The index of the tilt where the integrand of δ(ε) is steepest."""
        return self.least(lambda c, k: k - c * epsilon - np.log(c) - np.log1p(c))

    def best_for_epsilon(self, epsilon: float) -> int:
        """The index of the tilt with the least Chernoff bound of δ(ε)."""
        return self.least(lambda c, k: k + chernoff_term(c) - c * epsilon)

    def best_for_delta(self, log_delta: float, error: float = 0.0) -> int:
        """The index of the tilt with the least Chernoff bound of ε(δ), where K may be off by an error."""
        return self.least(lambda c, k: (k + error + chernoff_term(c) - log_delta) / c)

    def aliases(self, at: int) -> "_Aliases":
        """Bounds of the aliases on the line through one tilt, by all tilts that were looked at; made once for the same looks."""
        return self._looks.aliases(self, self._seen, at)

    def best_seen(self, epsilon: float) -> float:
        """The least Chernoff bound of ln δ(ε) at the points that were looked at."""
        return float((self.k + self._chernoff_terms() - self.c * epsilon).min())

    def _chernoff_terms(self) -> Reals:
        return FIRST_TERMS if self.c is FIRST_TILTS else chernoff_term(self.c)

    def index(self, c: float) -> int:
        """The index of a tilt that was looked at."""
        return int(np.searchsorted(self.c, c))

    def least(self, goal: Callable[[Reals, Reals], Reals]) -> int:
        """The index of the point that minimises a convex goal(c, K), to within √2."""
        for _ in range(12):
            at = int(np.argmin(goal(self.c, self.k)))
            if at == 0 and self.c[0] > LEAST_TILT:
                self.look(self.c[0] * 2.0 ** (-0.5 * np.arange(1, 9)))
            elif at == self.c.size - 1 and self.c[-1] < MOST_TILT:
                self.look(self.c[-1] * 2.0 ** (0.5 * np.arange(1, 5)))
            else:
                break
        else:
            at = int(np.argmin(goal(self.c, self.k)))
        low, high = self.c[max(at - 1, 0)], self.c[min(at + 1, self.c.size - 1)]
        if high / low > CLOSE:
            self.look(np.geomspace(low, high, 8)[1:-1])
            at = int(np.argmin(goal(self.c, self.k)))
        return at


class Nodes:
    """Nodes of a trapezoid rule along Re t = c, with weights, for one period; whoever needs the same ones has these."""

    def __init__(self, t: Complex, weights: Complex, lattice: Lattice | None, period: float) -> None:
        self.t, self.period, self._lattice, self._weights = t, period, lattice, weights
        self._turns = -1j * t.imag
        if lattice is None:
            self._of_delta = weights / (t * (t + 1)), -weights / (t + 1)
            self._of_tail = weights / t, -weights
        else:
            step = float(lattice.step)
            all_above, all_below = step / -np.expm1(-t * step), step / -np.expm1(-(t + 1) * step)
            self._geometric = all_above, all_below, np.exp(-t * step)

    def terms(self, epsilon: float, tail: bool) -> tuple[Reals, Reals, float]:
        """The terms of δ(ε), or of P(L > ε), those of its slope, and the largest."""
        if self._lattice is not None:
            return self._on_lattice(self._lattice, epsilon, tail)
        weights, slopes = self._of_tail if tail else self._of_delta
        turn = np.exp(self._turns * epsilon)
        terms = (weights * turn).real
        return terms, (slopes * turn).real, float(np.abs(terms).max())

    def _on_lattice(self, lattice: Lattice, epsilon: float, tail: bool) -> tuple[Reals, Reals, float]:
        """Σ over losses from the first above ε on, in closed form for each node.

        What the first one gains stands apart: where it is next to nothing the others may still be less than its rounding.
        """
        step, ahead = float(lattice.step), lattice.first_above(epsilon)
        if tail and ahead == 0:  # the loss ε itself does not count
            ahead = step
        turned = self._weights * np.exp(self._turns * epsilon - self.t * ahead)
        all_above, all_below, later = self._geometric
        if tail:
            terms = (turned * all_above).real
            return terms, -float(self.t[0].real) * terms, float(np.abs(terms).max())
        first, others = -expm1(-ahead) * step, later * all_above
        terms = (turned * (first + others - exp(-ahead - step) * later * all_below)).real
        slopes = -(turned * (exp(-ahead) * all_below)).real
        return terms, slopes, float((np.abs(turned) * (first + np.abs(others))).max())


class Sampler:
    """Makes the nodes of one composition, and keeps them."""

    def __init__(self, k: LogMgf, lattice: Lattice | None, cover: Cover) -> None:
        self._k, self._lattice, self._cover = k, lattice, cover
        self._kept: dict[tuple[float, float, float], Nodes | None] = {}

    def nodes(self, c: float, k_c: float, period: float) -> Nodes:
        """Nodes on the line through c, where K is k_c, so close that their period is about this; or Unresolved."""
        key = c, k_c, 2.0 ** (ceil(PERIODS * log2(period / SPARE)) / PERIODS)
        if key not in self._kept:
            if len(self._kept) >= MOST_KEPT:
                self._kept.clear()
            try:
                self._kept[key] = self._made(*key)
            except Unresolved:
                self._kept[key] = None
        nodes = self._kept[key]
        if nodes is None:
            raise Unresolved
        return nodes

    def _made(self, c: float, k_c: float, period: float) -> Nodes:
        spacing, most = 2 * pi / period, MOST_NODES
        if self._lattice is not None:
            round_trip = max(2, ceil(period / float(self._lattice.step)))
            spacing = 2 * pi / (round_trip * float(self._lattice.step))
            most = round_trip // 2 + 1
            if most > MOST_ON_LATTICE and not self._lattice.uniform:  # then none may be left out
                raise Unresolved
        elif not self._falls(c, spacing):
            raise Unresolved
        t, values = self._values(c, k_c, spacing, most)
        counts = np.full(t.size, 2.0)  # each node stands for its mirror image too
        counts[0] = 1.0
        if self._lattice is not None and round_trip % 2 == 0 and t.size == most:
            counts[-1] = 1.0  # half-way round
        return Nodes(t, values * counts * (spacing / (2 * pi)), self._lattice, 2 * pi / spacing)

    def _values(self, c: float, k_c: float, spacing: float, most: int) -> tuple[Complex, Complex]:
        """Nodes and e^(K − K(c)) there, until the integrand is nothing or, on a lattice, until all are there."""
        t, values = np.empty(0, np.complex128), np.empty(0, np.complex128)
        while t.size < most:
            index = np.arange(t.size, min(most, t.size + max(NODES_AT_ONCE, t.size // 2)))
            if index[-1] > (MOST_NODES if self._lattice is None else MOST_ON_LATTICE):
                raise Unresolved
            new = (c + 1j * spacing * index).astype(np.complex128)
            t, values = np.concatenate([t, new]), np.concatenate([values, np.exp(self._k(new) - k_c)])
            sizes = np.abs(values / (t * (t + 1)))
            may_stop = self._lattice is None or self._lattice.uniform
            if may_stop and self._ended(c, t, sizes):
                return t, values
        if self._lattice is None:
            raise Unresolved
        return t, values

    def _ended(self, c: float, t: Complex, sizes: Reals) -> bool:
        """Whether the last nodes are negligible, and all that may come after them."""
        last, largest = slice(-NODES_AT_ONCE // 2, None), float(sizes.max())
        if float(sizes[last].max()) > NEGLIGIBLE * largest:
            return False
        return self._lattice is not None or self._stays_below(c, t[last][::4], largest)

    def _stays_below(self, c: float, t: Complex, largest: float) -> bool:
        """Whether all that may come after these nodes is negligible, by what covers the modulus of the integrand from there on."""
        allowed = log(NEGLIGIBLE * largest) + log(FEW_TIMES) + np.log(np.abs(t * (t + 1)))
        return bool((self._cover(c, t.imag, float(allowed.min())) <= allowed).all())

    def _falls(self, c: float, spacing: float) -> bool:
        """Whether the integrand is covered by something small at the last node that we would look at."""
        for nodes in (MOST_NODES, MOST_NODES // 8):  # K may not be known at the first
            last = spacing * nodes
            enough = log(NEGLIGIBLE) + 2 * log(last / c)
            try:
                covered = float(self._cover(c, np.array([last]), enough)[0])
            except Unresolved:
                continue
            return covered < enough or nodes < MOST_NODES
        return False


class Line:
    """δ(ε) along Re t = c, for every ε whose saddle point is near c; it lives as long as one question.

    `low` and `high` bound the ε for which all aliases of the nodes in hand are below the tolerance.
    """

    def __init__(self, sampler: Sampler, axis: RealAxis, at: int) -> None:
        self._sampler = sampler
        self.c, self.k_c = float(axis.c[at]), float(axis.k[at])
        self._aliases = axis.aliases(at)
        self._nodes: Nodes | None = None
        self.low, self.high = inf, -inf

    def log_delta(self, epsilon: float, tail: bool = False) -> float:
        """ln δ(ε), or of P(L > ε)."""
        return self.value(epsilon, tail)[0]

    def value(self, epsilon: float, tail: bool = False) -> tuple[float, float]:
        """ln δ(ε) and about its slope. Unresolved where this line is not the right one."""
        if abs(self.k_c) + abs(self.c * epsilon) > MOST_EXPONENT:
            raise Unresolved
        if self._nodes is None or not self.low <= epsilon <= self.high:
            self._nodes = self._sampler.nodes(self.c, self.k_c, self._aliases.period(epsilon))
            self.low, self.high = self._aliases.served(self._nodes.period)
        terms, slopes, scale = self._nodes.terms(epsilon, tail)
        total = float(terms.sum())
        if not total > LEAST_SHARE * max(scale, self._aliases.share):
            raise Unresolved
        return log(total) + self.k_c - self.c * epsilon, float(slopes.sum()) / total

    def root(self, target: float, start: float) -> tuple[float, float]:
        """The ε with ln δ(ε) = target, and what ln δ is there: Newton on one line; Unresolved if it strays."""
        x = start
        for _ in range(MOST_TURNS):
            value, slope = self.value(x)
            gap = value - target
            if not slope < 0:
                break
            step = gap / slope
            if abs(gap) < SAME_LOG or abs(step) <= SAME_EPSILON * abs(x):
                return x, value
            x -= step
        raise Unresolved


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
        if not least < MOST_PERIOD:
            raise Unresolved
        return ROOM * max(least, LEAST_PERIOD)

    @property
    def shortest(self) -> float:
        """What the period is at least, whatever ε is."""
        return self.period((self.right - self.left) / 2)

    def served(self, period: float) -> tuple[float, float]:
        return self.right - period, period - self.left


def lopsided(axis: RealAxis, at: int) -> bool:
    """Whether the aliases on the right need a far longer period than those on the left."""
    aliases = axis.aliases(at)
    return aliases.right > LOPSIDED * abs(aliases.left) + AT_LEAST


def looked_closely(axis: RealAxis, at: int) -> int:
    """The index of the same tilt, after a look at tilts just above it where K grows so fast there that its neighbours say little."""
    if not lopsided(axis, at):
        return at
    c = float(axis.c[at])
    axis.look(c * BETWEEN)
    return axis.index(c)


def period(axis: RealAxis, at: int, epsilon: float) -> float:
    """A period that keeps all aliases of the line through the point `at` below the tolerance."""
    return axis.aliases(at).period(epsilon)


def shortest_period(axis: RealAxis, at: int) -> float:
    """The least such period, for the ε that is easiest; or Unresolved."""
    return axis.aliases(at).shortest


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


class Curve:
    """δ(ε) of one direction of a composition, and its inverse, from its K. No answer hangs on the questions before it."""

    def __init__(self, k: LogMgf, lattice: Lattice | None = None, cover: Cover = never_falls) -> None:
        self._looks = Looks(k)
        self._sampler = Sampler(k, lattice, cover)

    def axis(self) -> RealAxis:
        """The real axis as every question finds it."""
        return RealAxis(self._looks)

    def log_delta(self, epsilon: float, tail: bool = False) -> float:
        """ln δ(ε), or of P(L > ε)."""
        axis = self.axis()
        return self._line(axis, axis.saddle(epsilon)).log_delta(epsilon, tail)

    def epsilon(self, delta: float) -> tuple[float, float]:
        """The ε with δ(ε) = delta, perhaps negative, and what ln δ is there, but for rounding ln delta."""
        axis, target = self.axis(), log(delta)
        at = axis.best_for_delta(target)
        c, k = axis.c[at], axis.k[at]
        start = float((k + chernoff_term(np.array([c]))[0] - target) / c)
        return self._line(axis, at).root(target, start)

    def _line(self, axis: RealAxis, at: int) -> Line:
        return Line(self._sampler, axis, looked_closely(axis, at))
