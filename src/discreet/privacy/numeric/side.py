"""One direction of the dominating pair of a leaf: the function K, and what else may be asked of its loss L.

Each kind of loss is a class of its own (`kinds.py`); here is what routes ask of any of them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import TypeAlias

import numpy as np

from discreet.privacy.numeric.sums import Complex, Reals, log_sum_of
from discreet.privacy.numeric.unresolved import Unresolved

# Steps away from a tilt at which Markov's inequality is tried together: each twice the one before, so that the best of them is
# within a few per cent of the best of all.
MARKOV_STEPS: Reals = np.exp2(np.arange(-2.0, 7.0))
# The last step that is tried alone: beyond it K·step of any loss that matters is rounded away.
MOST_STEP = 2.0**15
# ln of what is no float: a loss of less probability changes no sum.
UNSEEN = -700.0
# Relative: a loss that is ε but for its own rounding, some 50 units in the last place, does not exceed ε.
SAME = 1e-14


@dataclass(frozen=True, slots=True, eq=False)
class Atoms:
    """All of the loss on a lattice: P(L = offset + step·i) = e^log_p[i]."""

    offset: Fraction
    step: Fraction
    log_p: Reals
    # Then |E e^(tL)| falls until half-way round, and does not come back before.
    one_hump: bool = False

    def __post_init__(self) -> None:
        if self.log_p.size <= 2:
            object.__setattr__(self, "one_hump", True)

    def points(self) -> "Points":
        losses: Reals = np.asarray(float(self.offset) + float(self.step) * np.arange(self.log_p.size), np.float64)
        return Points(losses, self.log_p)


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Single losses with their probabilities under P; together they may have less than probability 1."""

    losses: Reals
    log_p: Reals

    def k(self, t: Complex) -> Complex:
        """ln Σ p e^(t·loss)."""
        return log_sum_of(self.log_p, self.losses, t)


Density: TypeAlias = Callable[[Reals], Points]
"""Cuts -> quadrature points of a density between the first cut and the last, for each piece its own."""


@dataclass(frozen=True, slots=True)
class ManyK:
    """Σ n K over sides of one kind, in one go: `of`(parameters, n, t), the parameters a row for each side."""

    of: Callable[[Reals, Reals, Complex], Complex]
    parameters: tuple[float, ...]

    def one(self, t: Complex) -> Complex:
        """K of this side alone."""
        return self.of(np.array([self.parameters], np.float64), np.ones(1), t)


class Side(ABC):
    """One direction of a leaf's dominating pair. What a kind of loss does not say of itself is as follows; nothing changes later."""

    # The supremum of L, infinity where it is unbounded; and its infimum.
    largest: float = inf
    least: float = -inf
    # The supremum exactly where that is known, else a bound; None where it is unbounded.
    pure: Fraction | None = None
    # lim K(c)/(c(c+1)) as c grows; 0 where the loss is bounded.
    rho: float = 0.0
    # P(L = ∞), kept apart; K is of the rest, so that E e^(0·L) = 1 − failure.
    failure: Fraction = Fraction(0)
    # All of L on a lattice, where it lies on one.
    atoms: Atoms | None = None
    # (Δ/σ)², where L is that of Gaussian noise, and Δ/b, where it is that of Laplace noise.
    gaussian: Fraction | None = None
    laplace: Fraction | None = None
    # The losses that have a probability of their own, where there are some, and what they leave out.
    points: Points | None = None
    cut_off: float = 0.0
    # Where other losses have a density: quadrature points of it between cuts.
    density: Density | None = None
    # K of several sides of this kind at once, and what this one differs by.
    many: ManyK | None = None
    # δ(ε) of a single use, at every real ε, where it has a closed form.
    one: Callable[[Reals], Reals] | None = None
    # Whether `log_cover` is a theorem, which is had at once.
    proven_cover: bool = False

    @abstractmethod
    def k(self, t: Complex) -> Complex:
        """K(t) = ln E e^(tL)."""

    @property
    def dense(self) -> bool:
        """Whether losses have a density, beside points or alone."""
        return self.density is not None

    @property
    def far_points(self) -> Points | None:
        """All losses, where they are points, as far out as they are known."""
        return None if self.dense else self.points

    def low_end(self, c: float, log_tiny: float) -> float:
        """A loss below which at most e^log_tiny of the probability tilted by c lies: Markov's inequality."""
        return max(self._end(c, log_tiny, -1), self.least)

    def high_end(self, c: float, log_tiny: float) -> float:
        """A loss above which at most e^log_tiny of the probability tilted by c lies."""
        return min(self._end(c, log_tiny, 1), self.largest)

    def _end(self, c: float, log_tiny: float, sign: int) -> float:
        """The best bound over several steps away from c, those up to 64 looked at together, farther ones while they help."""
        k_c = self.real(c)
        near = self._reals(c + sign * MARKOV_STEPS)
        best = sign * float(((near - k_c - log_tiny) / MARKOV_STEPS).min())
        step = 2 * float(MARKOV_STEPS[-1])
        while step < MOST_STEP:
            bound = (self.real(c + sign * step) - k_c - log_tiny) / (sign * step)
            if not sign * bound < sign * best:
                break
            best, step = bound, 2 * step
        return best

    def _reals(self, c: Reals) -> Reals:
        """K at several real points, infinity where it cannot be had."""
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                values = self.k(c.astype(np.complex128)).real
        except Unresolved:
            return np.array([self.real(float(each)) for each in c])
        return np.where(np.isnan(values), inf, values)

    def real(self, c: float) -> float:
        """K at one real point, infinity where it cannot be had."""
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                value = float(self.k(np.array([c], np.complex128))[0].real)
        except Unresolved:
            return inf
        return value if value == value else inf

    def log_tail(self, epsilon: float) -> float:
        """ln P(L > ε) of a single use."""
        _, log_p = self._above(epsilon)
        return float(np.logaddexp.reduce(log_p)) if log_p.size else -inf

    def log_delta(self, epsilon: float) -> float:
        """ln δ(ε) of a single use: E(1 − e^(ε − L)) over losses above ε, by quadrature where they have a density."""
        losses, log_p = self._above(epsilon)
        return float(np.logaddexp.reduce(log_p + np.log(-np.expm1(epsilon - losses)))) if log_p.size else -inf

    def _above(self, epsilon: float) -> tuple[Reals, Reals]:
        """Losses above ε, and ln of their weights."""
        points = self.far_points or self.points
        parts = [] if points is None else [points]
        if self.density is not None:
            parts.append(self.density(np.array([epsilon, max(epsilon, self.high_end(0.0, UNSEEN))])))
        losses = np.concatenate([part.losses for part in parts])
        log_p = np.concatenate([part.log_p for part in parts])
        above = losses > epsilon + SAME * abs(epsilon)
        return losses[above], log_p[above]

    @property
    def middle(self) -> float:
        """One of the losses, if they are points, else 0."""
        return float(self.points.losses[self.points.losses.size // 2]) if self.points is not None else 0.0

    @property
    def log_top(self) -> float:
        """ln of the probability of the largest loss."""
        if self.points is None:
            return -inf
        return float(np.max(self.points.log_p, where=self.points.losses >= self.largest, initial=-inf))

    def log_cover(self, c: float, heights: Reals) -> Reals:
        """A bound of ln |E e^((c + is)L)|/E e^(cL) at these s, which holds at all larger s too.

        What is points alone comes back, again and again: nothing is said of it.
        """
        return np.zeros_like(heights)

    def log_size(self, c: float, heights: Reals) -> Reals:
        """What `log_cover` is at least: the same at these heights alone."""
        return self._beside_points(c, self._log_dense(c, self.real(c), heights))

    def _beside_points(self, c: float, log_dense: Reals) -> Reals:
        """A cover of the density, with the share to which points come back."""
        covered: Reals = np.minimum(0.0, np.logaddexp(log_dense, self.log_atomic(c)))
        return covered

    def _log_dense(self, c: float, k_c: float, heights: Reals) -> Reals:
        """ln of the modulus of what the density has of E e^(tL)/E e^(cL), where K(c) is k_c."""
        t: Complex = np.asarray(c + 1j * heights, np.complex128)
        k = self.k(t)
        if self.points is None:
            return k.real - k_c
        with np.errstate(divide="ignore"):
            dense: Reals = np.log(np.abs(np.exp(k - k_c) - np.exp(self.points.k(t) - k_c)))
        return dense

    def log_atomic(self, c: float) -> float:
        """ln of the share of points in the loss tilted by c: |E e^(tL)|/E e^(cL) comes back to it as Im t grows."""
        if self.points is None:
            return -inf
        t = np.array([c], np.complex128)
        return min(0.0, float((self.points.k(t) - self.k(t))[0].real))


Sides = tuple[Side, Side]


def symmetric(side: Side) -> Sides:
    return side, side


def rounded_up(loss: float) -> Fraction | None:
    """A bound of a loss that was computed with rounding."""
    return Fraction(loss) + Fraction(abs(loss)) / 10**14 if loss < inf else None
