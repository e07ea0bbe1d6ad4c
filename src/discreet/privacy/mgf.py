"""K(t) = ln E_P[e^(tL)], L = ln dP/dQ: the one function per mechanism, from which all accounting is derived.

(P, Q) is a dominating pair of the leaf. Each leaf has two sides, the pair for removing a unit and the pair for adding one;
they are the same for noise that is symmetric. t is complex with Re t > 0; everything is vectorised over t.

A side whose losses lie on a lattice offset + step·Z tells its atoms, exactly placed, so that compositions of such leaves are finite
sums. A new kind of leaf registers its sides here, in one function, and nothing else needs to know it.
"""

from dataclasses import replace
from fractions import Fraction
from math import ceil, inf, log, sqrt

import numpy as np

from discreet.privacy import events
from discreet.privacy.numeric.closed import gaussian_deltas
from discreet.privacy.numeric.finite import dominating_atoms
from discreet.privacy.numeric.quadrature import normal_pieces, pieces
from discreet.privacy.numeric.side import (
    NOTHING,
    Atoms,
    Complex,
    ManyK,
    Points,
    Reals,
    Side,
    lattice_points,
    log_sum,
    of_points,
    on_lattice,
    sides,
    sides_of,
    symmetric,
)

MOST_STEPS = 10_000  # of a discrete Laplace, whose loss has as many points; on a finer grid it is as good as continuous
FINE_SCALE = 5_000  # and so is a discrete Gaussian of a larger scale
REACH, FAR_REACH = (
    14,
    40,
)  # standard deviations kept of a discrete Gaussian; and where it is sampled, and may be tilted far
LEAST_SQUARE = Fraction(1, 10**300)  # (Δ/σ)² of less costs no less
MOST_WAVES = 1 << 20
CUT_OFF = 1e-42  # more than the probability of what is farther out


@sides_of.register
def _gaussian_sides(leaf: events.Gaussian) -> tuple[Side, Side]:
    return symmetric(gaussian_side((leaf.sensitivity / leaf.scale) ** 2))


def gaussian_side(squared: Fraction) -> Side:
    """L ~ N(μ²/2, μ²), μ = Δ/σ: K = μ² t(t+1)/2."""
    if not squared:
        return NOTHING
    squared = max(squared, LEAST_SQUARE)
    half, mu = float(squared) / 2, sqrt(squared)

    def one(z: Reals) -> Reals:
        return gaussian_deltas(mu, z)

    def within(cuts: Reals) -> Points:
        z, log_p = normal_pieces((cuts - half) / mu, 0.5 / mu)
        return Points(half + mu * z, log_p)

    many = ManyK(_gaussian_k, (half,))
    return Side(k=many.one, largest=inf, gaussian=squared, rho=half, within=within, many=many, one=one)


def _gaussian_k(parameters: Reals, n: Reals, t: Complex) -> Complex:
    total: Complex = float(n @ parameters[:, 0]) * t * (t + 1)
    return total


@sides_of.register
def _laplace_sides(leaf: events.Laplace) -> tuple[Side, Side]:
    """K = tε + ln ½(1 + (1 − e^(−εu))/u + e^(−εu)), u = 1 + 2t, ε = Δ/b."""
    exact = leaf.sensitivity / leaf.scale
    if not exact:
        return symmetric(NOTHING)
    epsilon = float(exact)

    many = ManyK(_laplace_k, (epsilon,))
    points = Points(np.array([-epsilon, epsilon]), np.log(0.5) + np.array([-epsilon, 0.0]))

    def one(z: Reals) -> Reals:
        """1 − e^((z − ε)/2) between −ε and ε (Balle, Barthe and Gaboardi 2018)."""
        inside = -np.expm1((np.clip(z, -epsilon, epsilon) - epsilon) / 2)
        return np.where(z < -epsilon, -np.expm1(np.minimum(z, 0.0)), inside)

    def within(cuts: Reals) -> Points:
        losses, log_w = pieces(np.clip(cuts, -epsilon, epsilon), 0.25)
        return Points(losses, log_w + (losses - epsilon) / 2 - np.log(4))

    return symmetric(
        Side(
            k=many.one,
            largest=epsilon,
            pure=exact,
            least=-epsilon,
            laplace=exact,
            points=points,
            within=within,
            many=many,
            one=one,
        )
    )


def _laplace_k(parameters: Reals, n: Reals, t: Complex) -> Complex:
    epsilon, u = parameters[:, :1], 1 + 2 * t[None, :]
    decay = np.exp(-epsilon * u)
    total: Complex = n @ (t[None, :] * epsilon + np.log(0.5 * (1 + (1 - decay) / u + decay)))
    return total


@sides_of.register
def _discrete_laplace_sides(leaf: events.DiscreteLaplace) -> tuple[Side, Side]:
    """L = (Δ − 2x)/b at x = 0 … Δ; all x <= 0 count at 0 and all x >= Δ at Δ. α = e^(−1/b).

    With γ = e^ε its δ is 1 − √(γ/e^(Δ/b)) at these losses, that of continuous noise, joined by straight lines in γ.
    """
    delta, rate = leaf.sensitivity, 1 / leaf.scale
    if not delta:
        return symmetric(NOTHING)
    if delta > MOST_STEPS:
        first, second = sides(events.Laplace(Fraction(1), _fine_laplace(delta * rate, rate)))
        return replace(first, pure=delta * rate), replace(
            second, pure=delta * rate
        )  # the largest loss is that of the grid
    a = float(rate)
    log_p = np.log(-np.expm1(-a)) - np.log1p(np.exp(-a)) - a * np.arange(delta + 1)
    log_p[0] = -np.log1p(np.exp(-a))
    log_p[-1] = -a * delta - np.log1p(np.exp(-a))

    many = ManyK(_geometric_k, (a, float(delta)))
    return symmetric(replace(on_lattice(-delta * rate, 2 * rate, log_p[::-1].copy()), k=many.one, many=many))


def _geometric_k(parameters: Reals, n: Reals, t: Complex) -> Complex:
    """A geometric series between the two ends, as for continuous noise."""
    a, delta = parameters[:, :1], parameters[:, 1:]
    au = a * (1 + 2 * t[None, :])
    inner = -np.expm1(-a) * np.exp(-au) * np.expm1(-au * (delta - 1)) / np.expm1(-au)
    total: Complex = n @ (t * (a * delta) + np.log((1 + inner + np.exp(-au * delta)) / (1 + np.exp(-a))))
    return total


def _fine_laplace(epsilon: Fraction, rate: Fraction) -> Fraction:
    """The Δ/b of continuous noise that dominates noise on a fine grid, a = 1/b steps apart.

    A line of √γ over a cell from A to A e^(2a) is below by at most √A (e^a − 1)²/(4(1 + e^a)); continuous noise with κ more has
    √γ(1 − e^(−κ/2)) more. So κ = −2 ln(1 − (e^a − 1)²/(4(1 + e^a))) is enough, about a²/4: a²/3 for a <= 1/4.
    """
    return epsilon + (rate * rate / 3 if rate <= Fraction(1, 4) else rate)


@sides_of.register
def _discrete_gaussian_sides(leaf: events.DiscreteGaussian) -> tuple[Side, Side]:
    """L(x) = Δ(Δ − 2x)/(2σ²), P(x) ∝ e^(−x²/(2σ²)): K is a ratio of theta functions.

    For large σ the sums in δ are integrals, but for the corner where the loss is ε: by Euler and Maclaurin they differ by at most
    TV(h')/12, h(x) = p(x) − e^ε q(x) above 0, about 1/(24σ²) of δ, and half of what raising Δ by the factor 1 + 1/(12σ²) adds.
    """
    if not leaf.sensitivity:
        return symmetric(NOTHING)
    if leaf.scale > FINE_SCALE:
        return sides(events.Gaussian(leaf.scale, leaf.sensitivity * (1 + 1 / (12 * leaf.scale**2))))
    sigma, delta = float(leaf.scale), leaf.sensitivity
    reach = int(REACH * sigma) + 2
    window = np.arange(-reach, reach + 1)
    inverse = 1 / (2 * sigma * sigma)
    log_total = np.log(np.exp(-(window**2) * inverse).sum())
    many = ManyK(_theta_k, (sigma, float(delta), float(log_total)))
    step = delta / leaf.scale**2

    def atoms(farthest: int) -> Atoms:
        x = np.arange(farthest, -farthest - 1, -1)
        offset = Fraction(delta) * (delta - 2 * farthest) / (2 * leaf.scale**2)
        return Atoms(offset, step, -(x**2) * inverse - log_total, one_hump=True)

    def far() -> Points:
        found = atoms(int(FAR_REACH * sigma) + 2)
        return lattice_points(found.offset, step, found.log_p)

    near = atoms(reach)
    points = lattice_points(near.offset, step, near.log_p)
    return symmetric(
        Side(
            k=many.one,
            largest=inf,
            atoms=near,
            rho=delta**2 * inverse,
            points=points,
            far=far,
            cut_off=CUT_OFF,
            many=many,
        )
    )


def _theta_k(parameters: Reals, n: Reals, t: Complex) -> Complex:
    """Σ e^(−x²/2σ² + tΔ(Δ−2x)/2σ²) = e^(t(t+1)Δ²/2σ²) Σ e^(−(x + tΔ)²/2σ²)."""
    sigma, delta, log_total = (parameters[:, i : i + 1] for i in range(3))
    shift = t[None, :] * delta
    inner = t * (t + 1) * (delta / sigma) ** 2 / 2 - log_total
    wide = sigma[:, 0] >= 1
    log_theta = np.empty_like(shift)
    if wide.any():
        log_theta[wide] = _log_waves(sigma[wide], shift[wide])
    for i in np.flatnonzero(~wide):
        log_theta[i] = _log_theta(float(sigma[i, 0]), shift[i])
    total: Complex = n @ (inner + log_theta)
    return total


def _log_theta(sigma: float, shift: Complex) -> Complex:
    """ln Σ_x e^(−(x + shift)²/2σ²) over all integers."""
    off = shift - np.rint(shift.real)
    x = np.arange(-int(REACH * sigma) - 2, int(REACH * sigma) + 3)
    direct: Complex = log_sum(-((x[:, None] + off[None, :]) ** 2) / (2 * sigma * sigma))
    return direct


def _log_waves(sigma: Reals, shift: Complex) -> Complex:
    """The same by Poisson's formula, a row for each σ >= 1: σ√(2π) Σ_m e^(−2π²σ²m² + 2πi·m·shift).

    It needs m up to about |Im shift|/(πσ²) + 3/σ.
    """
    off = shift - np.rint(shift.real)
    most = ceil(float((np.abs(off.imag) / (np.pi * sigma**2) + 3 / sigma).max()))
    if most * off.size > MOST_WAVES:
        return np.array([_log_theta(float(each), row) for each, row in zip(sigma[:, 0], off, strict=True)])
    m = np.arange(-most, most + 1)[:, None, None]
    waves = -2 * (np.pi * sigma[None] * m) ** 2 + 2j * np.pi * m * off[None]
    total: Complex = log_sum(waves) + np.log(sigma * np.sqrt(2 * np.pi))
    return total


@sides_of.register
def _randomized_response_sides(leaf: events.RandomizedResponse) -> tuple[Side, Side]:
    """L = ε with probability p, −ε with p e^-ε, 0 for the k − 2 answers that are neither's truth."""
    if not leaf.epsilon:
        return symmetric(NOTHING)
    return symmetric(_response(leaf.epsilon, leaf.k))


def _response(epsilon: Fraction, k: int, log_kept: float = 0.0) -> Side:
    """The same where something happens at all with probability e^log_kept only."""
    e = float(epsilon)
    log_p = log_kept - np.log1p((k - 1) * np.exp(-e))
    if k == 2:
        return on_lattice(-epsilon, 2 * epsilon, np.array([log_p - e, log_p]))
    return on_lattice(-epsilon, epsilon, np.array([log_p - e, np.log(k - 2) + log_p - e, log_p]))


@sides_of.register
def _pure_sides(leaf: events.Pure) -> tuple[Side, Side]:
    """Dominated by randomized response (Kairouz, Oh and Viswanath 2015, theorem 3.1)."""
    return sides(events.RandomizedResponse(leaf.epsilon))


@sides_of.register
def _approximate_sides(leaf: events.Approximate) -> tuple[Side, Side]:
    """Dominated by randomized response that fails openly with probability delta (KOV 2015)."""
    kept = float(1 - leaf.delta)
    if not kept:
        return symmetric(replace(NOTHING, gaussian=None, failure=Fraction(1)))
    if not leaf.epsilon:
        return symmetric(replace(of_points(Points(np.zeros(1), np.full(1, log(kept)))), failure=leaf.delta))
    return symmetric(replace(_response(leaf.epsilon, 2, log(kept)), failure=leaf.delta))


def _log(p: Fraction) -> float:
    """ln p of a probability that may be too small for a float."""
    return log(p.numerator) - log(p.denominator)


@sides_of.register
def _finite_table_sides(leaf: events.FiniteTable) -> tuple[Side, Side]:
    """The atoms of the least curve that dominates every ordered pair of rows, exactly (`finite.py`)."""
    found = dominating_atoms(leaf.rows)
    if not found.atoms:  # no output is possible for both inputs
        return symmetric(replace(NOTHING, failure=found.infinite))
    points = Points(np.array([loss for loss, _ in found.atoms]), np.array([_log(p) for _, p in found.atoms]))
    return symmetric(replace(of_points(points), failure=found.infinite))
