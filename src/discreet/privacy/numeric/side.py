"""One direction of the dominating pair of a leaf: the function K, and what else is known of the loss.

`sides(leaf)` gives both directions. Which leaf has which is written in `mgf.py`, and in `sampled.py` for sampled ones.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, singledispatch
from math import ceil, inf, log, sqrt
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.privacy import events
from discreet.privacy.numeric.unresolved import Unresolved

Complex: TypeAlias = NDArray[np.complex128]
Reals: TypeAlias = NDArray[np.float64]
LogMgf: TypeAlias = Callable[[Complex], Complex]

MARKOV_STEPS: Reals = np.exp2(np.arange(-2.0, 7.0))
MOST_STEP = 2.0**15
UNSEEN = -700.0  # ln of what is no float
AT_ONCE = 1 << 20  # terms summed at once
FEW_POINTS = 4
MANY_NODES = 16
# times the last node: where a density is looked at again
BEYOND: Reals = np.array([1.7, 3.1, 9.7, 31.3])


@dataclass(frozen=True, slots=True, eq=False)
class Atoms:
    """All of the loss on a lattice: P(L = offset + step·i) = e^log_p[i]."""

    offset: Fraction
    step: Fraction
    log_p: Reals
    one_hump: bool = False  # then |E e^(tL)| falls until half-way round, and does not come back before

    def __post_init__(self) -> None:
        if self.log_p.size <= 2:
            object.__setattr__(self, "one_hump", True)


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Single losses with their probabilities under P; together they may have less than probability 1."""

    losses: Reals
    log_p: Reals

    def k(self, t: Complex) -> Complex:
        """ln Σ p e^(t·loss)."""
        return log_sum_of(self.log_p, self.losses, t)


@dataclass(frozen=True, slots=True)
class ManyK:
    """Σ n K over sides of one kind, in one go: `of`(parameters, n, t), the parameters a row for each side."""

    of: Callable[[Reals, Reals, Complex], Complex]
    parameters: tuple[float, ...]

    def one(self, t: Complex) -> Complex:
        """K of this side alone."""
        return self.of(np.array([self.parameters], np.float64), np.ones(1), t)


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One direction of a leaf's dominating pair."""

    k: LogMgf
    largest: float  # the supremum of L, infinity where it is unbounded
    pure: Fraction | None = None  # the same exactly where that is known, else a bound; None where it is unbounded
    atoms: Atoms | None = None
    gaussian: Fraction | None = None  # (Δ/σ)², where L is that of a Gaussian
    laplace: Fraction | None = None  # Δ/b, where L is that of a Laplace
    rho: float = 0.0  # lim K(c)/(c(c+1)) as c grows; 0 where the loss is bounded
    failure: Fraction = Fraction(0)  # P(L = ∞), kept apart; K is of the rest, so that E e^(0·L) = 1 − failure
    least: float = -inf  # the infimum of L
    cut_off: float = 0.0  # what the points leave out
    points: "Points | None" = None  # the losses that have a probability of their own; None where there are none
    far: "Callable[[], Points] | None" = None  # the same farther out, where losses that are points go on for ever
    within: "Callable[[Reals], Points] | None" = None
    """For losses that have a density: cuts -> quadrature points between the first cut and the last, for each piece its own."""
    many: "ManyK | None" = None  # K of several sides of this kind at once, and what this one differs by
    one: Callable[[Reals], Reals] | None = None  # δ(ε) of a single use, at every real ε, where it has a closed form

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
        found = [self.far_points or self.points] if self.points is not None else []
        if self.within is not None:
            found.append(self.within(np.array([epsilon, max(epsilon, self.high_end(0.0, UNSEEN))])))
        losses = np.concatenate([part.losses for part in found if part is not None])
        log_p = np.concatenate([part.log_p for part in found if part is not None])
        kept = losses > epsilon + 1e-14 * abs(epsilon)  # a loss that is ε but for rounding does not exceed it
        return losses[kept], log_p[kept]

    @property
    def far_points(self) -> "Points | None":
        """All losses, where they are points, as far out as they are known."""
        if self.far is not None:
            return self.far()
        return self.points if self.within is None else None

    @property
    def middle(self) -> float:
        """One of the losses, if they are points, else 0."""
        return float(self.points.losses[self.points.losses.size // 2]) if self.points is not None else 0.0

    @property
    def log_top(self) -> float:
        """ln of the probability of the largest loss."""
        at_top = self.points is not None and self.points.losses >= self.largest
        return float(np.max(self.points.log_p, where=at_top, initial=-inf)) if self.points is not None else -inf

    def log_cover(self, c: float, heights: Reals) -> Reals:
        """A bound of ln |E e^((c + is)L)|/E e^(cL) at these s, which holds at all larger s too.

        For a Gaussian e^(−μ²s²/2). What is points alone comes back, again and again. Points beside a density come back to
        their share, and what the density g has of E e^((c + is)L) is at most its variation over s: an integration by parts. For
        Laplace noise e^(cl) g(l) = e^((c + 1/2)l − ε/2)/4 rises from 0 at −ε to e^(cε)/4 and falls back to 0 at ε, so that
        its variation is e^(cε)/2. Of other densities it is seen to fall, at the heights and at some far beyond, and not proven.
        """
        if self.gaussian is not None:
            return -float(self.gaussian) * heights**2 / 2
        if self.laplace is not None:
            varies = c * float(self.laplace) - log(2.0) - self.real(c) - np.log(heights)
            return self._beside_points(c, varies)
        if self.within is None:
            return np.zeros_like(heights)
        beyond = float(heights[-1]) * BEYOND
        log_sizes = [self._log_dense(c, heights)]
        for each in np.array_split(beyond, beyond.size):
            try:
                log_sizes.append(self._log_dense(c, each))
            except Unresolved:  # K is not known that far
                break
        later = np.maximum.accumulate(np.concatenate(log_sizes)[::-1])[::-1][: heights.size]
        return self._beside_points(c, later)

    def log_size(self, c: float, heights: Reals) -> Reals:
        """What `log_cover` is at least: the same at these heights alone."""
        return self._beside_points(c, self._log_dense(c, heights))

    def _beside_points(self, c: float, log_dense: Reals) -> Reals:
        """With the share to which points come back."""
        covered: Reals = np.minimum(0.0, np.logaddexp(log_dense, self.log_atomic(c)))
        return covered

    def _log_dense(self, c: float, heights: Reals) -> Reals:
        """ln of the modulus of what the density has of E e^(tL)/E e^(cL)."""
        t: Complex = np.asarray(c + 1j * heights, np.complex128)
        k, k_c = self.k(t), self.real(c)
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


@lru_cache(maxsize=4096)
def sides(leaf: events.Leaf) -> tuple[Side, Side]:
    """The pairs (with the unit, without it) and (without it, with it)."""
    return sides_of(leaf)


@singledispatch
def sides_of(leaf: events.Leaf) -> tuple[Side, Side]:
    """Each kind of leaf registers its own here."""
    raise Invalid(f"no privacy loss is known for the event {type(leaf).__name__}", code="event")


def symmetric(side: Side) -> tuple[Side, Side]:
    return side, side


NOTHING = Side(
    k=np.zeros_like,
    largest=0.0,
    pure=Fraction(0),
    least=0.0,
    atoms=Atoms(Fraction(0), Fraction(1), np.zeros(1)),
    gaussian=Fraction(0),
    points=Points(np.zeros(1), np.zeros(1)),
)


def lattice_points(offset: Fraction, step: Fraction, log_p: Reals) -> Points:
    losses: Reals = np.asarray(float(offset) + float(step) * np.arange(log_p.size), np.float64)
    return Points(losses, log_p)


def on_lattice(offset: Fraction, step: Fraction, log_p: Reals) -> Side:
    points = lattice_points(offset, step, log_p)
    pure = offset + step * (log_p.size - 1)
    side = replace(of_points(points), pure=pure, atoms=Atoms(offset, step, log_p))
    if log_p.size > FEW_POINTS:
        return side
    many = ManyK(_many_points, (*points.losses, *points.log_p))
    return replace(side, k=many.one, many=many)


def _many_points(parameters: Reals, n: Reals, t: Complex) -> Complex:
    losses, log_p = np.split(parameters, 2, axis=1)
    total: Complex = n @ log_sum(log_p.T[:, :, None] + losses.T[:, :, None] * t[None, None, :])
    return total


def of_points(points: Points) -> Side:
    """The side whose losses are these points and no others."""
    most = float(points.losses.max())
    return Side(k=points.k, largest=most, pure=rounded_up(most), least=float(points.losses.min()), points=points)


def rounded_up(loss: float) -> Fraction | None:
    """A bound of a loss that was computed with rounding."""
    return Fraction(loss) + Fraction(abs(loss)) / 10**14 if loss < inf else None


def log_sum_of(log_w: Reals, losses: Reals, t: Complex) -> Complex:
    """ln Σ e^(log_w + t·loss) for each t, a bounded number of terms at once; in real numbers where t is real."""
    if not t.imag.any():
        return log_sum(log_w[:, None] + losses[:, None] * t.real[None, :]).astype(np.complex128)
    if t.size >= MANY_NODES and _evenly_up(t):
        return _log_sum_along_line(log_w, losses, t)
    pieces = np.array_split(t, ceil(t.size * log_w.size / AT_ONCE))
    return np.concatenate([log_sum(log_w[:, None] + losses[:, None] * piece[None, :]) for piece in pieces])


def _evenly_up(t: Complex) -> bool:
    """Whether the points lie one above the other, evenly spaced."""
    steps = np.diff(t.imag)
    return bool(np.ptp(t.real) == 0 and np.ptp(steps) <= 1e-9 * abs(steps[0]))


def _log_sum_along_line(log_w: Reals, losses: Reals, t: Complex) -> Complex:
    """The same for evenly spaced t, with few exponentials: e^((ma + b)·i·h·loss) is a product of two."""
    m = ceil(sqrt(t.size))
    turns = 1j * ((t[-1].imag - t[0].imag) / (t.size - 1)) * losses
    log_base = log_w + t[0] * losses
    top = float(log_base.real.max())
    fine = _powers(np.ones_like(turns), np.exp(turns), m)
    coarse = _powers(np.exp(log_base - top), np.exp(m * turns), m)
    sums: Complex = (coarse @ fine.T).ravel()[: t.size]
    return np.asarray(np.log(sums) + top, np.complex128)


def _powers(first: Complex, ratio: Complex, count: int) -> Complex:
    """first · ratio^i, i = 0 … count − 1, a row each."""
    rows = np.empty((count, first.size), np.complex128)
    rows[0] = first
    for i in range(1, count):
        np.multiply(rows[i - 1], ratio, out=rows[i])
    return rows


def log_sum(exponents: NDArray[Any]) -> NDArray[Any]:
    """ln Σ e^x over the first axis, shifted so that nothing overflows."""
    top = exponents.real.max(axis=0)
    total: NDArray[Any] = np.log(np.exp(exponents - top).sum(axis=0)) + top
    return total
