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
from functools import cached_property
from math import ceil, exp, expm1, inf, log, log2, pi
from typing import TypeAlias

import numpy as np

from discreet.privacy.numeric.axis import RealAxis, Tilt
from discreet.privacy.numeric.sums import Complex, LogMgf, Reals
from discreet.privacy.numeric.unresolved import Unresolved

Cover: TypeAlias = Callable[[float, Reals, float], Reals]
"""(c, Im t, enough) -> a bound of Re K − K(c) there, and at all larger Im t; where it is below `enough` it need not be a tight one."""

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
# Nodes have one of PERIODS periods to the octave, so that questions share them, whoever asked first: from SPARE less than the one that is
# asked for, which has room for it, to a third more. Fewer periods make fewer lines, and each of them longer.
PERIODS, SPARE = 2, 1.07
# Newton's method needs four to eight; one that strays is given up.
MOST_TURNS = 40
# Newton's method ends where ln δ is off by less, or ε by two units in the last place.
SAME_LOG, SAME_EPSILON = 1e-13, 4e-16
# Each step about squares what ln δ is off by: after one more from here, where δ(ε) has no corners, nobody need look again.
NEXT_IS_LAST = 1e-8
# Sets of nodes that are kept of one composition; others are made again, and are the same.
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

    def sums(self, epsilon: float, tail: bool) -> tuple[float, float, Callable[[], float]]:
        """δ(ε), or P(L > ε), in units of e^(K(c) − cε); the largest of its terms; and its slope, for whoever needs it."""
        if self._lattice is not None:
            return self._on_lattice(self._lattice, epsilon, tail)
        weights, slopes = self._of_tail if tail else self._of_delta
        turn = np.exp(self._turns * epsilon)
        terms = (weights * turn).real
        return float(terms.sum()), float(np.abs(terms).max()), lambda: float((slopes * turn).real.sum())

    def _on_lattice(self, lattice: Lattice, epsilon: float, tail: bool) -> tuple[float, float, Callable[[], float]]:
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
            total = float(terms.sum())
            return total, float(np.abs(terms).max()), lambda: -float(self.t[0].real) * total
        first, others = -expm1(-ahead) * step, later * all_above
        terms = (turned * (first + others - exp(-ahead - step) * later * all_below)).real
        largest = float((np.abs(turned) * (first + np.abs(others))).max())
        return float(terms.sum()), largest, lambda: -float((turned * (exp(-ahead) * all_below)).real.sum())


class Sampler:
    """Makes the nodes of one composition, and keeps them."""

    def __init__(self, k: LogMgf, lattice: Lattice | None, cover: Cover) -> None:
        self._k, self._lattice, self._cover = k, lattice, cover
        self._kept: dict[tuple[float, float, float], Nodes | None] = {}

    @property
    def smooth(self) -> bool:
        """Whether δ(ε) has no corners: on a lattice it has one at every loss."""
        return self._lattice is None

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
            if self._lattice is None and t.size == NODES_AT_ONCE and not self._falls(c, spacing):
                raise Unresolved
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

    def __init__(self, sampler: Sampler, tilt: Tilt) -> None:
        self._sampler = sampler
        self.c, self.k_c, self._aliases = tilt.c, tilt.k, tilt.aliases
        self._nodes: Nodes | None = None
        self.low, self.high = inf, -inf

    def log_delta(self, epsilon: float, tail: bool = False) -> float:
        """ln δ(ε), or of P(L > ε). Unresolved where this line is not the right one."""
        return self._value(epsilon, tail)[0]

    def _value(self, epsilon: float, tail: bool = False) -> tuple[float, Callable[[], float]]:
        """ln δ(ε), or of P(L > ε), and about its slope."""
        if abs(self.k_c) + abs(self.c * epsilon) > MOST_EXPONENT:
            raise Unresolved
        if self._nodes is None or not self.low <= epsilon <= self.high:
            self._nodes = self._sampler.nodes(self.c, self.k_c, self._aliases.period(epsilon))
            self.low, self.high = self._aliases.served(self._nodes.period)
        total, largest, slope = self._nodes.sums(epsilon, tail)
        if not total > LEAST_SHARE * max(largest, self._aliases.share):
            raise Unresolved
        return log(total) + self.k_c - self.c * epsilon, lambda: slope() / total

    def root(self, target: float, start: float) -> tuple[float, float]:
        """The ε with ln δ(ε) = target, and what ln δ is there: Newton on one line; Unresolved if it strays."""
        x = start
        for _ in range(MOST_TURNS):
            value, slope_there = self._value(x)
            gap, slope = value - target, slope_there()
            if not slope < 0:
                break
            step = gap / slope
            if abs(gap) < SAME_LOG or abs(step) <= SAME_EPSILON * abs(x):
                return x, value
            x -= step
            if abs(gap) < NEXT_IS_LAST and self._sampler.smooth:
                return x, target
        raise Unresolved


class Curve:
    """δ(ε) of one direction of a composition, and its inverse, from its K. No answer hangs on the questions before it."""

    def __init__(self, k: LogMgf, lattice: Lattice | None = None, cover: Cover = never_falls) -> None:
        self._k = k
        self._sampler = Sampler(k, lattice, cover)

    @cached_property
    def axis(self) -> RealAxis:
        """The real axis as every question finds it."""
        return RealAxis.of(self._k)

    def log_delta(self, epsilon: float, tilt: Tilt, tail: bool = False) -> float:
        """ln δ(ε), or of P(L > ε), where ε has its saddle point at this tilt."""
        return self._line(tilt).log_delta(epsilon, tail)

    def epsilon(self, delta: float, tilt: Tilt) -> tuple[float, float]:
        """The ε with δ(ε) = delta, perhaps negative, and what ln δ is there, but for rounding ln delta; the tilt is best for delta."""
        target = log(delta)
        return self._line(tilt).root(target, (tilt.estimate - target) / tilt.c)

    def _line(self, tilt: Tilt) -> Line:
        return Line(self._sampler, tilt.looked_closely())
