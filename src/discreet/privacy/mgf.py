"""K(t) = ln E_P[e^(tL)], L = ln dP/dQ: the one function per mechanism, from which all accounting is derived.

(P, Q) is a dominating pair of the leaf. Each leaf has two sides, the pair for removing a unit and the pair for adding one;
they are the same for noise that is symmetric. t is complex with Re t > 0; everything is vectorised over t.

A side whose losses lie on a lattice offset + step·Z tells its atoms, exactly placed, so that compositions of such leaves are finite
sums (`lattice.py`). A new kind of leaf registers its sides here, in one function, and nothing else needs to know it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, singledispatch
from math import ceil, inf, log1p, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.privacy import events
from discreet.privacy.closed import gaussian_log_delta
from discreet.privacy.finite import dominating_atoms
from discreet.privacy.unresolved import Unresolved

Complex: TypeAlias = NDArray[np.complex128]
Reals: TypeAlias = NDArray[np.float64]
LogMgf: TypeAlias = Callable[[Complex], Complex]

MOST_STEPS = 10_000  # of a discrete Laplace, whose loss has as many points; on a finer grid it is as good as continuous
FINE_SCALE = 5_000  # and so is a discrete Gaussian of a larger scale
REACH = 14  # standard deviations kept of a discrete Gaussian
UNSEEN = -700.0  # ln of what is no float
CUT_OFF = 1e-42  # more than the probability of what is farther out


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
        return _log_sum_of(self.log_p, self.losses, t)


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
    within: "Callable[[Reals], Points] | None" = None
    """For losses that have a density: cuts -> quadrature points between the first cut and the last, for each piece its own."""
    one: Callable[[Reals], Reals] | None = None  # δ(ε) of a single use, at every real ε, where it has a closed form

    def range(self, c: float, log_tiny: float) -> tuple[float, float]:
        """Losses between which all but e^log_tiny of the probability tilted by c lies, on either side: Markov's inequality."""
        k_c = self.real(c)

        def end(sign: int) -> float:
            best = sign * inf
            for step in np.exp2(np.arange(-2, 15)):
                bound = (self.real(c + sign * step) - k_c - log_tiny) / (sign * step)
                if not sign * bound < sign * best:
                    break
                best = bound
            return best

        return end(-1), min(end(1), self.largest)

    def real(self, c: float) -> float:
        """K at one real point, infinity where it cannot be had."""
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                value = float(self.k(np.array([c], np.complex128))[0].real)
        except Unresolved:
            return inf
        return value if value == value else inf

    def log_tail(self, epsilon: float) -> float:
        """ln P(L > ε)."""
        found = [self.points] if self.points is not None else []
        if self.within is not None:
            found.append(self.within(np.array([epsilon, max(epsilon, self.range(0.0, UNSEEN)[1])])))
        log_p = np.concatenate([part.log_p[part.losses > epsilon] for part in found])
        return float(np.logaddexp.reduce(log_p)) if log_p.size else -inf

    @property
    def middle(self) -> float:
        """One of the losses, if they are points, else 0."""
        return float(self.points.losses[self.points.losses.size // 2]) if self.points is not None else 0.0

    @property
    def log_top(self) -> float:
        """ln of the probability of the largest loss."""
        at_top = self.points is not None and self.points.losses >= self.largest
        return float(np.max(self.points.log_p, where=at_top, initial=-inf)) if self.points is not None else -inf

    def log_atomic(self, c: float) -> float:
        """ln of the share of points in the loss tilted by c: |E e^(tL)|/E e^(cL) comes back to it as Im t grows."""
        if self.points is None:
            return -inf
        t = np.array([c], np.complex128)
        return min(0.0, float((self.points.k(t) - self.k(t))[0].real))


@lru_cache(maxsize=4096)
def sides(leaf: events.Leaf) -> tuple[Side, Side]:
    """The pairs (with the unit, without it) and (without it, with it)."""
    return _sides(leaf)


@singledispatch
def _sides(leaf: events.Leaf) -> tuple[Side, Side]:
    raise Invalid(f"no privacy loss is known for the event {type(leaf).__name__}", code="event")


def _symmetric(side: Side) -> tuple[Side, Side]:
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


@_sides.register
def _(leaf: events.Gaussian) -> tuple[Side, Side]:
    return _symmetric(gaussian_side((leaf.sensitivity / leaf.scale) ** 2))


def gaussian_side(squared: Fraction) -> Side:
    """L ~ N(μ²/2, μ²), μ = Δ/σ: K = μ² t(t+1)/2."""
    if not squared:
        return NOTHING
    half, mu = float(squared) / 2, sqrt(squared)

    def one(z: Reals) -> Reals:
        return np.exp([gaussian_log_delta(mu, float(each)) for each in z])

    def within(cuts: Reals) -> Points:
        z, log_p = _normal_pieces((cuts - half) / mu, 0.5 / mu)
        return Points(half + mu * z, log_p)

    return Side(k=lambda t: half * t * (t + 1), largest=inf, gaussian=squared, rho=half, within=within, one=one)


@_sides.register
def _(leaf: events.Laplace) -> tuple[Side, Side]:
    """K = tε + ln ½(1 + (1 − e^(−εu))/u + e^(−εu)), u = 1 + 2t, ε = Δ/b."""
    exact = leaf.sensitivity / leaf.scale
    if not exact:
        return _symmetric(NOTHING)
    epsilon = float(exact)

    def k(t: Complex) -> Complex:
        u = 1 + 2 * t
        decay = np.exp(-epsilon * u)
        return t * epsilon + np.log(0.5 * (1 + (1 - decay) / u + decay))

    points = Points(np.array([-epsilon, epsilon]), np.log(0.5) + np.array([-epsilon, 0.0]))

    def one(z: Reals) -> Reals:
        """1 − e^((z − ε)/2) between −ε and ε (Balle, Barthe and Gaboardi 2018)."""
        inside = -np.expm1((np.clip(z, -epsilon, epsilon) - epsilon) / 2)
        return np.where(z < -epsilon, -np.expm1(np.minimum(z, 0.0)), inside)

    def within(cuts: Reals) -> Points:
        losses, log_w = _pieces(np.clip(cuts, -epsilon, epsilon), 0.25)
        return Points(losses, log_w + (losses - epsilon) / 2 - np.log(4))

    return _symmetric(
        Side(k=k, largest=epsilon, pure=exact, least=-epsilon, laplace=exact, points=points, within=within, one=one)
    )


@_sides.register
def _(leaf: events.DiscreteLaplace) -> tuple[Side, Side]:
    """L = (Δ − 2x)/b at x = 0 … Δ; all x <= 0 count at 0 and all x >= Δ at Δ. α = e^(−1/b).

    With γ = e^ε its δ is 1 − √(γ/e^(Δ/b)) at these losses, that of continuous noise, joined by straight lines in γ.
    """
    delta, rate = leaf.sensitivity, 1 / leaf.scale
    if not delta:
        return _symmetric(NOTHING)
    if delta > MOST_STEPS:
        return sides(events.Laplace(Fraction(1), _fine_laplace(delta * rate, rate)))
    a = float(rate)
    log_p = np.log(-np.expm1(-a)) - np.log1p(np.exp(-a)) - a * np.arange(delta + 1)
    log_p[0] = -np.log1p(np.exp(-a))
    log_p[-1] = -a * delta - np.log1p(np.exp(-a))

    def k(t: Complex) -> Complex:
        """A geometric series between the two ends, as for continuous noise."""
        au = a * (1 + 2 * t)
        inner = -np.expm1(-a) * np.exp(-au) * np.expm1(-au * (delta - 1)) / np.expm1(-au)
        total: Complex = t * (a * delta) + np.log((1 + inner + np.exp(-au * delta)) / (1 + np.exp(-a)))
        return total

    return _symmetric(replace(_atomic(-delta * rate, 2 * rate, log_p[::-1].copy()), k=k))


def _fine_laplace(epsilon: Fraction, rate: Fraction) -> Fraction:
    """The Δ/b of continuous noise that dominates noise on a fine grid, a = 1/b steps apart.

    A line of √γ over a cell from A to A e^(2a) is below by at most √A (e^a − 1)²/(4(1 + e^a)); continuous noise with κ more has
    √γ(1 − e^(−κ/2)) more. So κ = −2 ln(1 − (e^a − 1)²/(4(1 + e^a))) is enough, about a²/4: a²/3 for a <= 1/4.
    """
    return epsilon + (rate * rate / 3 if rate <= Fraction(1, 4) else rate)


@_sides.register
def _(leaf: events.DiscreteGaussian) -> tuple[Side, Side]:
    """L(x) = Δ(Δ − 2x)/(2σ²), P(x) ∝ e^(−x²/(2σ²)): K is a ratio of theta functions.

    For large σ the sums in δ are integrals, but for the corner where the loss is ε: by Euler and Maclaurin they differ by at most
    TV(h')/12, h(x) = p(x) − e^ε q(x) above 0, about 1/(24σ²) of δ, and half of what raising Δ by the factor 1 + 1/(12σ²) adds.
    """
    if not leaf.sensitivity:
        return _symmetric(NOTHING)
    if leaf.scale > FINE_SCALE:
        return sides(events.Gaussian(leaf.scale, leaf.sensitivity * (1 + 1 / (12 * leaf.scale**2))))
    sigma, delta = float(leaf.scale), leaf.sensitivity
    reach = int(REACH * sigma) + 2
    window = np.arange(-reach, reach + 1)
    inverse = 1 / (2 * sigma * sigma)
    log_total = np.log(np.exp(-(window**2) * inverse).sum())

    def k(t: Complex) -> Complex:
        """Σ e^(−x²/2σ² + tΔ(Δ−2x)/2σ²) = e^(t(t+1)Δ²/2σ²) Σ e^(−(x + tΔ)²/2σ²)."""
        total: Complex = t * (t + 1) * delta**2 * inverse + _log_theta(sigma, t * delta) - log_total
        return total

    step = delta / leaf.scale**2
    x = window[::-1]
    log_p = -(x**2) * inverse - log_total
    offset = Fraction(delta) * (delta - 2 * int(x[0])) / (2 * leaf.scale**2)
    points = _lattice_points(offset, step, log_p)
    atoms = Atoms(offset, step, log_p, one_hump=True)
    return _symmetric(Side(k=k, largest=np.inf, atoms=atoms, rho=delta**2 * inverse, points=points, cut_off=CUT_OFF))


def _log_theta(sigma: float, shift: Complex) -> Complex:
    """ln Σ_x e^(−(x + shift)²/2σ²) over all integers, from whichever side of Poisson's formula has fewer terms.

    The other side is σ√(2π) Σ_m e^(−2π²σ²m² + 2πi·m·shift), which for σ >= 1 needs m up to about |Im shift|/(πσ²) + 3/σ.
    """
    off = shift - np.rint(shift.real)
    reach = int(REACH * sigma) + 2
    most = ceil(float(np.abs(off.imag).max()) / (np.pi * sigma**2) + 3 / sigma)
    if sigma < 1 or reach <= most:
        x = np.arange(-reach, reach + 1)
        return _log_sum(-((x[:, None] + off[None, :]) ** 2) / (2 * sigma * sigma))
    m = np.arange(-most, most + 1)
    waves = -2 * (np.pi * sigma * m[:, None]) ** 2 + 2j * np.pi * m[:, None] * off[None, :]
    total: Complex = _log_sum(waves) + np.log(sigma * np.sqrt(2 * np.pi))
    return total


@_sides.register
def _(leaf: events.RandomizedResponse) -> tuple[Side, Side]:
    """L = ε with probability p, −ε with p e^-ε, 0 for the k − 2 answers that are neither's truth."""
    if not leaf.epsilon:
        return _symmetric(NOTHING)
    epsilon = float(leaf.epsilon)
    log_p = -np.log1p((leaf.k - 1) * np.exp(-epsilon))
    if leaf.k == 2:
        return _symmetric(_atomic(-leaf.epsilon, 2 * leaf.epsilon, np.array([log_p - epsilon, log_p])))
    middle = np.log(leaf.k - 2) + log_p - epsilon
    return _symmetric(_atomic(-leaf.epsilon, leaf.epsilon, np.array([log_p - epsilon, middle, log_p])))


@_sides.register
def _(leaf: events.Pure) -> tuple[Side, Side]:
    """Dominated by randomized response (Kairouz, Oh and Viswanath 2015, theorem 3.1)."""
    return sides(events.RandomizedResponse(leaf.epsilon))


@_sides.register
def _(leaf: events.Approximate) -> tuple[Side, Side]:
    """Dominated by randomized response that fails openly with probability delta (KOV 2015)."""
    if leaf.delta == 1:
        return _symmetric(replace(NOTHING, gaussian=None, failure=Fraction(1)))
    response = sides(events.RandomizedResponse(leaf.epsilon))[0]
    kept = log1p(-float(leaf.delta))
    atoms = replace(response.atoms, log_p=response.atoms.log_p + kept) if response.atoms else None
    points = replace(response.points, log_p=response.points.log_p + kept) if response.points else None
    failing = replace(
        response, k=lambda t: response.k(t) + kept, atoms=atoms, points=points, gaussian=None, failure=leaf.delta
    )
    return _symmetric(failing)


@_sides.register
def _(leaf: events.FiniteTable) -> tuple[Side, Side]:
    """The atoms of the least curve that dominates every ordered pair of rows, exactly (`finite.py`)."""
    found = dominating_atoms(leaf.rows)
    if not found.atoms:  # no output is possible for both inputs
        return _symmetric(replace(NOTHING, failure=found.infinite))
    points = Points(np.array([loss for loss, _ in found.atoms]), np.log(np.array([float(p) for _, p in found.atoms])))
    return _symmetric(replace(_of_points(points), failure=found.infinite))


def _lattice_points(offset: Fraction, step: Fraction, log_p: Reals) -> Points:
    losses: Reals = np.asarray(float(offset) + float(step) * np.arange(log_p.size), np.float64)
    return Points(losses, log_p)


def _atomic(offset: Fraction, step: Fraction, log_p: Reals) -> Side:
    points = _lattice_points(offset, step, log_p)
    pure = offset + step * (log_p.size - 1)
    return replace(_of_points(points), pure=pure, atoms=Atoms(offset, step, log_p))


def _of_points(points: Points) -> Side:
    """The side whose losses are these points and no others."""
    most = float(points.losses.max())
    return Side(k=points.k, largest=most, pure=_above(most), least=float(points.losses.min()), points=points)


def _above(loss: float) -> Fraction | None:
    """A bound of a loss that was computed with rounding."""
    return Fraction(loss) + Fraction(abs(loss)) / 10**14 if loss < inf else None


def _log_sum_of(log_w: Reals, losses: Reals, t: Complex) -> Complex:
    """ln Σ e^(log_w + t·loss) for each t, a bounded number of terms at once."""
    pieces = np.array_split(t, max(1, ceil(t.size * log_w.size / AT_ONCE)))
    sums = [_log_sum(log_w[:, None] + losses[:, None] * piece[None, :]) for piece in pieces]
    return np.concatenate(sums)


def _log_sum(exponents: Complex) -> Complex:
    """ln Σ e^x over the first axis, shifted so that nothing overflows."""
    top = exponents.real.max(axis=0)
    total: Complex = np.log(np.exp(exponents - top).sum(axis=0)) + top
    return total


FARTHEST = 38.0  # standard deviations: beyond them a float holds no probability
LOWEST = -1e3  # below it e^l is nothing
SIGMAS, PER_SIGMA = 11.0, 12  # trapezoid nodes under a Gaussian: reach and density
CELL = 0.25
NEGLIGIBLE = 50.0
MOST_SHIFT = 20_000.0  # of the peak under a Gaussian, in standard deviations
MOST_TURNS = 1_000.0  # of the integrand over a standard deviation, or between the points of a Laplace loss
AT_ONCE = 1 << 20  # terms summed at once


@_sides.register
def _(leaf: events.Sampled) -> tuple[Side, Side]:
    """Poisson sampling at rate q, under add/remove (Zhu, Dong and Wang 2022, theorem 11).

    With r = 1 − q + q e^l, l the loss of the part under Q: the mixture (1−q)Q + qP against Q has K = ln E_Q[r^(t+1)], and
    Q against the mixture has K = ln E_Q[r^-t].
    """
    part = sides(leaf.part)[0]
    if leaf.rate == 1:
        return sides(leaf.part)
    if part.failure:
        raise Invalid("a part that may fail openly cannot be sampled", hint="compose it without sampling")
    q = float(leaf.rate)
    if part is NOTHING:
        return _symmetric(NOTHING)
    measure = _measure_under_q(part, q)

    def k(t: Complex, power: Callable[[Complex], Complex]) -> Complex:
        s = power(t)
        log_w, losses = measure(s)
        log_r = _log_mixture(q, losses)
        return _log_sum_of(log_w, log_r, s)

    most = float(np.logaddexp(np.log1p(-q), np.log(q) + part.largest))
    least = float(-np.log1p(-q + q * np.exp(-part.largest)))
    points = _mixed(part.points, q) if part.points is not None else (None, None)
    within = _mixed_within(part.within, q) if part.within is not None else (None, None)
    one = _sampled_one(part.one, q) if part.one is not None else (None, None)
    return (
        Side(
            k=lambda t: k(t, lambda t: t + 1),
            largest=most,
            pure=_above(most),
            least=float(_log_mixture(q, np.array([part.least]))[0]),
            rho=part.rho,
            cut_off=part.cut_off,
            points=points[0],
            within=within[0],
            one=one[0],
        ),
        Side(
            k=lambda t: k(t, lambda t: -t),
            largest=least,
            pure=_above(least),
            least=-most,
            cut_off=part.cut_off,
            points=points[1],
            within=within[1],
            one=one[1],
        ),
    )


def _sampled_one(part: Callable[[Reals], Reals], q: float) -> tuple[Callable[[Reals], Reals], Callable[[Reals], Reals]]:
    """δ of one sampled use from δ of the part, γ = e^z.

    (1−q)Q + qP − γQ = q (P − ((γ−1+q)/q) Q), and Q − γ((1−q)Q + qP) = (1−γ(1−q)) (Q − (γq/(1−γ(1−q))) P).
    """

    def with_unit(z: Reals) -> Reals:
        inner = np.exp(np.minimum(z, 700.0)) - (1 - q)
        known = q * part(np.log(np.maximum(inner, 1e-300) / q))
        return np.where(inner > 0, known, -np.expm1(np.minimum(z, 0.0)))

    def without(z: Reals) -> Reals:
        left = 1 - np.exp(np.minimum(z, 700.0)) * (1 - q)
        safe = np.maximum(left, 1e-300)
        return np.where(left > 0, left * part(z + np.log(q) - np.log(safe)), 0.0)

    return with_unit, without


def _mixed(part: Points, q: float) -> tuple[Points, Points]:
    """The points of the mixture against Q, and of Q against the mixture."""
    log_q = part.log_p - part.losses
    losses = _log_mixture(q, part.losses)
    return Points(losses, log_q + losses), Points(-losses, log_q)


def _mixed_within(part: Callable[[Reals], Points], q: float) -> tuple[Callable[[Reals], Points], ...]:
    """The same for quadrature points; cuts are moved to where the part has them."""

    def moved(cuts: Reals) -> Reals:
        """The loss l of the part with ln(1 − q + q e^l) at the cut; cuts below all losses are dropped but one."""
        inner = np.expm1(cuts) / q
        inside = np.log1p(inner[inner > -1])
        return np.concatenate([[min(LOWEST, inside[0] - 1)], inside]) if inside.size < cuts.size else inside

    return (
        lambda cuts: _mixed(part(moved(cuts)), q)[0],
        lambda cuts: _mixed(part(moved(-cuts[::-1])), q)[1],
    )


def _measure_under_q(part: Side, q: float) -> Callable[[Complex], tuple[Reals, Reals]]:
    """s -> (log weights, losses): nodes that integrate r^s under Q for every s of that size."""
    if part.gaussian is not None:
        mu = float(part.gaussian) ** 0.5
        return lambda s: _gaussian_nodes(mu, q, s)
    if part.laplace is not None:
        epsilon = float(part.laplace)
        return lambda s: _laplace_nodes(epsilon, float(np.abs(s.imag).max()))
    if (atoms := part.atoms) is not None:
        losses: Reals = float(atoms.offset) + float(atoms.step) * np.arange(atoms.log_p.size, dtype=np.float64)
        log_w: Reals = atoms.log_p - losses
        return lambda s: (log_w, losses)
    raise Invalid("this event cannot be sampled: its loss is not known point by point")


def _gaussian_nodes(mu: float, q: float, s: Complex) -> tuple[Reals, Reals]:
    """z ~ N(0, 1), l = μz − μ²/2: the trapezoid rule, exponentially accurate, wherever the integrand of r^s matters.

    r^s moves the peak by at most μ Re s. Cells of the axis where the integrand is below e^-NEGLIGIBLE of its peak, for every s,
    are left out. A trapezoid of step h resolves the turns of r^s while h μ |Im s| stays below about 2.
    """
    reals = np.unique(s.real)
    if mu * float(reals[-1]) > MOST_SHIFT or mu * float(np.abs(s.imag).max()) > MOST_TURNS:
        raise Unresolved
    cells = np.arange(-SIGMAS, SIGMAS + mu * max(0.0, float(reals[-1])), CELL)
    height = -0.5 * (cells**2)[:, None] + _log_mixture(q, mu * cells - mu * mu / 2)[:, None] * reals[None, :]
    kept = cells[(height > height.max(axis=0) - NEGLIGIBLE).any(axis=1)]
    per_cell = ceil(CELL * max(PER_SIGMA, mu * float(np.abs(s.imag).max()) / 2))
    z = (kept[:, None] + CELL / per_cell * np.arange(per_cell)[None, :]).ravel()
    return np.log(CELL / per_cell) - 0.5 * z * z - 0.5 * np.log(2 * np.pi), mu * z - mu * mu / 2


def _normal_pieces(cuts: Reals, width: float) -> tuple[Reals, Reals]:
    """Quadrature points under the standard normal density, with ln of their weights; far-out pieces are left out."""
    ends = np.clip(cuts, -FARTHEST, FARTHEST)
    farthest = max(2.0, float(np.abs(ends).max()))
    z, log_w = _pieces(ends, min(0.25, 0.5 / farthest, width))
    return z, log_w - 0.5 * z * z - 0.5 * np.log(2 * np.pi)


def _pieces(cuts: Reals, width: float) -> tuple[Reals, Reals]:
    """Points of Gauss and Legendre in every piece between cuts, no piece wider than `width`; ln of their weights.

    The integrands change on a scale of at least twice `width`: on such pieces five points are exact to 1e-15, and three on pieces
    that are shorter by 20, two by 1000.
    """
    low, high = float(cuts[0]), float(cuts[-1])
    if not high > low:
        return np.empty(0), np.empty(0)
    lengths = np.diff(cuts)
    if lengths.max() > width:
        wide = np.flatnonzero(lengths > width)
        inner = [np.linspace(cuts[i], cuts[i + 1], ceil(lengths[i] / width) + 1)[1:-1] for i in wide]
        cuts = np.sort(np.concatenate([cuts, *inner]))
        lengths = np.diff(cuts)
    kinds = np.digitize(lengths, [0.0, width / 1000, width / 20], right=True)
    found = [_legendre(cuts[:-1][kinds == kind], lengths[kinds == kind], kind) for kind in (1, 2, 3)]
    return np.concatenate([x for x, _ in found]), np.concatenate([log_w for _, log_w in found])


def _legendre(starts: Reals, lengths: Reals, kind: int) -> tuple[Reals, Reals]:
    points, weights = np.polynomial.legendre.leggauss((2, 3, 5)[kind - 1])
    x = starts[:, None] + lengths[:, None] * ((points + 1) / 2)
    return x.ravel(), np.add.outer(np.log(lengths), np.log(weights / 2)).ravel()


def _log_mixture(q: float, losses: Reals) -> Reals:
    """ln(1 − q + q e^l)."""
    mixed: Reals = np.logaddexp(np.log1p(-q), np.log(q) + losses)
    return mixed


@lru_cache(maxsize=64)
def _laplace_nodes(epsilon: float, turns: float) -> tuple[Reals, Reals]:
    """Atoms of Q at ±ε (e^-ε/2 and 1/2), and between them the density e^(−(ε + l)/2)/4, by Gauss and Legendre."""
    if epsilon * turns > MOST_TURNS:
        raise Unresolved
    points, weights = np.polynomial.legendre.leggauss(32 + int(4 * epsilon + epsilon * turns))
    inner = epsilon * points
    log_w = np.log(weights * epsilon / 4) - (epsilon + inner) / 2
    return (
        np.concatenate([log_w, [np.log(0.5), np.log(0.5) - epsilon]]),
        np.concatenate([inner, [-epsilon, epsilon]]),
    )
