"""δ(ε) from K(t) by a sum along a vertical line in the complex plane: near-exact, at any δ.

    δ(ε) = (1/2πi) ∫ e^(K(t) − tε) / (t(t+1)) dt,  Re t = c > 0.

c is near the saddle point, where the integrand is steepest. The trapezoid rule with step h equals, by Poisson
summation, Σ_m δ(ε + mA) e^(mAc) with A = 2π/h: the wanted term and aliases, all of them >= 0 and bounded by Chernoff on
the real axis. So h follows from the tolerance. Losses on a lattice of step g have a periodic integrand: there the same
line ends after A/g nodes, and nothing is cut off. The tilt by c keeps every number near 1, so δ = 1e-30 is no harder
than 1e-3. Where the integrand is cut off, the caller makes sure that it does not come back (`Side.log_atomic`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, inf, log, pi
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.privacy.unresolved import Unresolved

Complex: TypeAlias = NDArray[np.complex128]
Reals: TypeAlias = NDArray[np.float64]
LogMgf: TypeAlias = Callable[[Complex], Complex]

LOG_TOLERANCE = log(1e-13)  # of the aliases, relative to δ
NODES_AT_ONCE = 48
MOST_NODES, MOST_ON_LATTICE = 768, 40_000
NEGLIGIBLE = 1e-16
LARGE_TILT, MOST_TILT = 1e3, 1e9
FIRST_TILTS: Reals = np.exp2(np.arange(-6, 8, dtype=np.float64))


@dataclass(frozen=True, slots=True)
class Lattice:
    """Every possible loss is offset + step·i."""

    offset: Fraction
    step: Fraction
    uniform: bool = True  # every part lies on this step itself, so the integrand decays until half-way round

    def first_above(self, epsilon: float) -> float:
        """How far the first possible loss that is at least ε lies above ε, exactly until the end."""
        exact = Fraction(epsilon)
        steps = (exact - self.offset) / self.step
        return float(self.offset + self.step * ceil(steps) - exact)


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
        values = np.array([self.at(c) for c in new]) if new.max() > LARGE_TILT else self._real(new)
        order = np.argsort(np.concatenate([self.c, new]))
        self.c, self.k = np.concatenate([self.c, new])[order], np.concatenate([self.k, values])[order]

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
        """The index of the point that minimises a convex goal(c, K), looked for more and more closely."""
        for _ in range(12):
            at = int(np.argmin(goal(self.c, self.k)))
            if at == 0 and self.c[0] > 1e-12:
                self.look(self.c[0] * 2.0 ** -np.arange(1, 5))
            elif at == self.c.size - 1 and self.c[-1] < MOST_TILT:
                self.look(self.c[-1] * 2.0 ** np.arange(1, 3))
            else:
                break
        for _ in range(2):
            at = int(np.argmin(goal(self.c, self.k)))
            low, high = self.c[max(at - 1, 0)], self.c[min(at + 1, self.c.size - 1)]
            if high / low < 1.1:
                break
            self.look(np.geomspace(low, high, 8)[1:-1])
        return int(np.argmin(goal(self.c, self.k)))


class Line:
    """K along Re t = c: serves every ε whose saddle point is near c."""

    def __init__(self, k: LogMgf, axis: RealAxis, at: int, lattice: Lattice | None) -> None:
        self._k, self._axis, self._lattice = k, axis, lattice
        self.c, self.k_c = float(axis.c[at]), float(axis.k[at])
        self.spacing = 0.0
        self.t = np.empty(0, np.complex128)
        self.values = np.empty(0, np.complex128)  # e^(K(t) − K(c))

    def log_delta(self, epsilon: float) -> float:
        """ln δ(ε)."""
        least = period(self._axis, int(np.searchsorted(self._axis.c, self.c)), epsilon)
        if not self.spacing or 2 * pi / self.spacing < least:
            self._choose(least)
        total, scale, done = 0.0, 0.0, 0
        while True:
            if done == self.t.size:
                self._extend()
            block = slice(done, self.t.size)
            terms = self._kernel(self.t[block], epsilon) * self.values[block]
            weights = self._weights(block)
            total += float((terms.real * weights).sum())
            scale = max(scale, float(np.abs(terms).max()))
            done = self.t.size if block.stop is None else block.stop
            last = float(np.abs(terms[-NODES_AT_ONCE // 2 :]).max())
            if self._complete() or (self._may_stop() and last <= NEGLIGIBLE * max(total, scale * 1e-3)):
                break
        if not total > 0:
            raise Unresolved
        return log(total) + self.k_c - self.c * epsilon

    def _kernel(self, t: Complex, epsilon: float) -> Complex:
        """What multiplies e^(K(t) − K(c)), divided by e^(−cε)."""
        turn = t.imag * 1j * epsilon
        if self._lattice is None:
            smooth: Complex = np.exp(-turn) / (t * (t + 1)) * (self.spacing / (2 * pi))
            return smooth
        step, ahead = float(self._lattice.step), self._lattice.first_above(epsilon)
        first = np.exp(-turn - t * ahead)
        both = 1 / -np.expm1(-t * step) - np.exp(-ahead) / -np.expm1(-(t + 1) * step)
        kernel: Complex = first * both / self._nodes
        return kernel

    def _weights(self, block: slice) -> Reals:
        """Each node counts for its mirror image too, except the real one and, on a lattice, the one half-way round."""
        index = np.arange(block.start, block.stop)
        weights = np.where(index == 0, 1.0, 2.0)
        if self._lattice is not None and self._nodes % 2 == 0:
            weights[index == self._nodes // 2] = 1.0
        return weights

    def _may_stop(self) -> bool:
        return self._lattice is None or self._lattice.uniform

    def _complete(self) -> bool:
        return self._lattice is not None and self.t.size >= self._nodes // 2 + 1

    def _choose(self, least: float) -> None:
        """Nodes anew, so close that the period is at least this; where that cannot be, those that were stay as they were."""
        spacing = 2 * pi / least
        if self._lattice is not None:
            self._nodes = max(2, ceil(least / float(self._lattice.step)))
            spacing = 2 * pi / (self._nodes * float(self._lattice.step))
        elif not self._falls(spacing):
            raise Unresolved
        self.spacing = spacing
        self.t = np.empty(0, np.complex128)
        self.values = np.empty(0, np.complex128)
        self._extend()

    def _falls(self, spacing: float) -> bool:
        """Whether the integrand is small at the last node that we would look at."""
        last = np.array([self.c + 1j * spacing * MOST_NODES])
        fall = float(self._k(last)[0].real) - self.k_c - 2 * log(abs(last[0]) / self.c)
        return fall < log(NEGLIGIBLE)

    def _extend(self) -> None:
        if self.t.size >= (MOST_NODES if self._lattice is None else MOST_ON_LATTICE):
            raise Unresolved
        more = max(NODES_AT_ONCE, self.t.size // 2)
        index = np.arange(self.t.size, self.t.size + more)
        if self._lattice is not None:
            index = index[index <= self._nodes // 2]
        t = (self.c + 1j * self.spacing * index).astype(np.complex128)
        values = np.exp(self._k(t) - self.k_c)
        self.t = np.concatenate([self.t, t])
        self.values = np.concatenate([self.values, values])


def period(axis: RealAxis, at: int, epsilon: float) -> float:
    """The least A on a coarse grid with all aliases of the line through the point `at` below the tolerance."""
    c, k = axis.c, axis.k
    here = float(c[at])
    chernoff = k + chernoff_term(c)
    allowed = _estimate(axis, at, epsilon) + LOG_TOLERANCE
    above, below = c > here, c < here
    length = 1.0 / (1.0 + here)
    while True:
        right = float((chernoff[above] - c[above] * (epsilon + length)).min(initial=0.0)) + here * length
        left = float((chernoff[below] - c[below] * (epsilon - length)).min(initial=0.0)) - here * length
        if right <= allowed and left <= allowed:
            return length
        length *= 1.15
        if length > 1e12:
            raise Unresolved


def _estimate(axis: RealAxis, at: int, epsilon: float) -> float:
    """ln δ(ε) to within a few units, from below: the saddle-point formula with the curvature of K."""
    c, k = axis.c, axis.k
    low, high = max(at - 1, 0), min(at + 1, c.size - 1)
    bend = 0.0
    if low < at < high and np.isfinite(k[[low, at, high]]).all():
        slopes = np.diff(k[[low, at, high]]) / np.diff(c[[low, at, high]])
        bend = float(2 * (slopes[1] - slopes[0]) / (c[high] - c[low]))
    spread = 1 + 2 * pi * max(bend, 0.0) * (c[at] + 1) ** 2
    return float(k[at] - c[at] * epsilon - log(c[at] * (c[at] + 1)) - 0.5 * log(spread) - 3)


class Curve:
    """δ(ε) of one direction of a composition, and its inverse, from its K."""

    def __init__(self, k: LogMgf, lattice: Lattice | None = None) -> None:
        self._k, self._lattice = k, lattice
        self.axis = RealAxis(k)
        self._lines: dict[float, Line] = {}

    def log_delta(self, epsilon: float) -> float:
        at = self.axis.least(lambda c, k: k - c * epsilon - np.log(c) - np.log1p(c))
        return self._line(at).log_delta(epsilon)

    def delta(self, epsilon: float) -> float:
        return min(1.0, exp(self.log_delta(epsilon)))

    def epsilon(self, delta: float) -> float:
        """The ε with δ(ε) = delta, perhaps negative: secant on ln δ(ε), whose slope is about −c; Unresolved if it strays."""
        target = log(delta)
        at = self.axis.least(lambda c, k: (k + chernoff_term(c) - target) / c)
        line = self._line(at)
        c, k = self.axis.c[at], self.axis.k[at]
        x1 = float((k + chernoff_term(np.array([c]))[0] - target) / c)
        y1 = line.log_delta(x1) - target
        x2 = x1 + y1 / line.c
        for _ in range(60):
            y2 = line.log_delta(x2) - target
            if abs(y2) < 1e-13 or (abs(x2 - x1) <= 1e-15 * abs(x2) and abs(y2) < 1e-6):
                return x2
            if y2 == y1:
                break
            x1, y1, x2 = x2, y2, x2 - y2 * (x2 - x1) / (y2 - y1)
        raise Unresolved

    def _line(self, at: int) -> Line:
        c = float(self.axis.c[at])
        near = min(self._lines, key=lambda other: abs(log(other / c)), default=None)
        if near is not None and abs(log(near / c)) < 0.08:
            return self._lines[near]
        line = self._lines[c] = Line(self._k, self.axis, at, self._lattice)
        return line
