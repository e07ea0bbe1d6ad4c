"""The kinds of loss, a class each.

    Nothing         the loss is 0
    GaussianLoss    that of Gaussian noise: a normal variable
    LaplaceLoss     that of Laplace noise: two points, and a density between them
    OnLattice       points offset + step·i, finitely many
    EndlessLattice  such points without end: the discrete Gaussian
    AtPoints        points anywhere
    Mixed           whatever sampling makes of one of these: points, a density, or both

Each says what only it knows; what is derived from that is in `side.py`.
"""

from collections.abc import Callable
from fractions import Fraction
from math import log, sqrt

import numpy as np

from discreet.privacy.numeric.closed import gaussian_deltas
from discreet.privacy.numeric.quadrature import normal_pieces, pieces
from discreet.privacy.numeric.side import Atoms, Density, ManyK, Points, Side, rounded_up
from discreet.privacy.numeric.sums import Complex, LogMgf, Reals, log_sum
from discreet.privacy.numeric.unresolved import Unresolved

# A (Δ/σ)² below this costs no less: its root is still a float far from the least one, and δ of it is below all floats.
LEAST_SQUARE = Fraction(1, 10**300)
# Losses of so few points are summed for all sides of a composition together; for more, one side at a time is as quick.
FEW_POINTS = 4
# Pieces of quadrature between two losses of a Laplace: e^(l/2) grows by e^(1/8) over one, and five nodes are exact to 1e-15 there.
LAPLACE_PIECE = 0.25
# Where a density is looked at again, in heights of the last node: no two of them in a ratio of whole numbers, so that a
# function with a period cannot be small at all of them.
BEYOND: Reals = np.array([1.7, 3.1, 9.7, 31.3])


class Nothing(Side):
    """No loss at all, but for what fails openly."""

    largest = least = 0.0
    pure = Fraction(0)
    atoms = Atoms(Fraction(0), Fraction(1), np.zeros(1))
    points = atoms.points()

    def __init__(self, failure: Fraction = Fraction(0)) -> None:
        self.failure = failure
        self.gaussian = None if failure else Fraction(0)

    def k(self, t: Complex) -> Complex:
        return np.zeros_like(t)


NOTHING = Nothing()


class GaussianLoss(Side):
    """L ~ N(μ²/2, μ²), μ = Δ/σ: K = μ² t(t+1)/2."""

    proven_cover = True
    gaussian: Fraction

    def __init__(self, squared: Fraction) -> None:
        self.gaussian = max(squared, LEAST_SQUARE)
        self.rho, self._mu = float(self.gaussian) / 2, sqrt(self.gaussian)
        self.many = ManyK(_gaussian_k, (self.rho,))
        self.one, self.density = self._deltas, self._within

    def k(self, t: Complex) -> Complex:
        return _gaussian_k(np.array([[self.rho]]), np.ones(1), t)

    def _deltas(self, epsilon: Reals) -> Reals:
        return gaussian_deltas(self._mu, epsilon)

    def _within(self, cuts: Reals) -> Points:
        z, log_p = normal_pieces((cuts - self.rho) / self._mu, 0.5 / self._mu)
        return Points(self.rho + self._mu * z, log_p)

    def log_cover(self, c: float, heights: Reals) -> Reals:
        """|E e^((c + is)L)| is E e^(cL) e^(−μ²s²/2)."""
        return -float(self.gaussian) * heights**2 / 2


def _gaussian_k(parameters: Reals, n: Reals, t: Complex) -> Complex:
    total: Complex = float(n @ parameters[:, 0]) * t * (t + 1)
    return total


def gaussian_loss(squared: Fraction) -> Side:
    """The loss of Gaussian noise with (Δ/σ)² = squared."""
    return GaussianLoss(squared) if squared else NOTHING


class LaplaceLoss(Side):
    """ε = Δ/b: L = ε with probability 1/2, −ε with probability e^-ε/2, between them the density e^((l − ε)/2)/4.

    K = tε + ln ½(1 + (1 − e^(−εu))/u + e^(−εu)), u = 1 + 2t.
    """

    proven_cover = True
    laplace: Fraction
    points: Points

    def __init__(self, ratio: Fraction, pure: Fraction) -> None:
        """`pure` is the largest loss of the noise that this stands for, which may be a little less."""
        epsilon = float(ratio)
        self.laplace, self.pure = ratio, pure
        self.largest, self.least = epsilon, -epsilon
        self.points = Points(np.array([-epsilon, epsilon]), np.log(0.5) + np.array([-epsilon, 0.0]))
        self.many = ManyK(_laplace_k, (epsilon,))
        self.one, self.density = self._deltas, self._within

    def k(self, t: Complex) -> Complex:
        return _laplace_k(np.array([[self.largest]]), np.ones(1), t)

    def _deltas(self, z: Reals) -> Reals:
        """1 − e^((z − ε)/2) between −ε and ε (Balle, Barthe and Gaboardi 2018)."""
        epsilon = self.largest
        inside = -np.expm1((np.clip(z, -epsilon, epsilon) - epsilon) / 2)
        return np.where(z < -epsilon, -np.expm1(np.minimum(z, 0.0)), inside)

    def _within(self, cuts: Reals) -> Points:
        losses, log_w = pieces(np.clip(cuts, self.least, self.largest), LAPLACE_PIECE)
        return Points(losses, log_w + (losses - self.largest) / 2 - np.log(4))

    def log_cover(self, c: float, heights: Reals) -> Reals:
        """Points come back to their share, and what the density g has of E e^((c + is)L) is at most its variation over s.

        That is an integration by parts. e^(cl) g(l) = e^((c + 1/2)l − ε/2)/4 rises from 0 at −ε to e^(cε)/4 and falls back to 0
        at ε: its variation is e^(cε)/2.
        """
        varies = c * float(self.laplace) - log(2.0) - self.real(c) - np.log(heights)
        return self._beside_points(c, varies)


def _laplace_k(parameters: Reals, n: Reals, t: Complex) -> Complex:
    epsilon, u = parameters[:, :1], 1 + 2 * t[None, :]
    decay = np.exp(-epsilon * u)
    total: Complex = n @ (t[None, :] * epsilon + np.log(0.5 * (1 + (1 - decay) / u + decay)))
    return total


class AtPoints(Side):
    """The losses are these points and no others."""

    points: Points

    def __init__(self, points: Points, failure: Fraction = Fraction(0)) -> None:
        self.points, self.failure = points, failure
        self.largest, self.least = float(points.losses.max()), float(points.losses.min())
        self.pure = rounded_up(self.largest)

    def k(self, t: Complex) -> Complex:
        return self.points.k(t)


class OnLattice(Side):
    """The losses are finitely many points of a lattice. K may have a quicker form than their sum."""

    atoms: Atoms
    points: Points

    def __init__(self, atoms: Atoms, many: ManyK | None = None, failure: Fraction = Fraction(0)) -> None:
        self.atoms, self.points, self.failure = atoms, atoms.points(), failure
        self.pure = atoms.offset + atoms.step * (atoms.log_p.size - 1)
        self.largest, self.least = float(self.points.losses.max()), float(self.points.losses.min())
        if many is None and atoms.log_p.size <= FEW_POINTS:
            many = ManyK(_few_points_k, (*self.points.losses, *self.points.log_p))
        self.many = many

    def k(self, t: Complex) -> Complex:
        return self.points.k(t) if self.many is None else self.many.one(t)


def _few_points_k(parameters: Reals, n: Reals, t: Complex) -> Complex:
    losses, log_p = np.split(parameters, 2, axis=1)
    total: Complex = n @ log_sum(log_p.T[:, :, None] + losses.T[:, :, None] * t[None, None, :])
    return total


class EndlessLattice(Side):
    """The losses are points of a lattice without end; `near` and `far` hold those that matter, of ordinary and of large tilts."""

    atoms: Atoms
    points: Points
    many: ManyK

    def __init__(self, near: Atoms, far: Callable[[], Atoms], many: ManyK, rho: float, cut_off: float) -> None:
        self.atoms, self.points, self._far = near, near.points(), far
        self.many, self.rho, self.cut_off = many, rho, cut_off

    def k(self, t: Complex) -> Complex:
        return self.many.one(t)

    @property
    def far_points(self) -> Points:
        return self._far().points()


class Mixed(Side):
    """Points, a density, or both, with a K of their own."""

    def __init__(
        self,
        k: LogMgf,
        ends: tuple[float, float],
        points: Points | None,
        density: Density | None,
        one: Callable[[Reals], Reals] | None,
        rho: float = 0.0,
    ) -> None:
        self._k = k
        self.least, self.largest = ends
        self.pure = rounded_up(self.largest)
        self.points, self.density, self.one, self.rho = points, density, one, rho

    def k(self, t: Complex) -> Complex:
        return self._k(t)

    def log_cover(self, c: float, heights: Reals) -> Reals:
        """A density is seen to fall, at the heights and at some far beyond; that is not proven. Points come back to their share."""
        if not self.dense:
            return np.zeros_like(heights)
        beyond = float(heights[-1]) * BEYOND
        k_c = self.real(c)
        log_sizes = [self._log_dense(c, k_c, heights)]
        for each in np.array_split(beyond, beyond.size):
            try:
                log_sizes.append(self._log_dense(c, k_c, each))
            except Unresolved:  # K is not known that far
                break
        later = np.maximum.accumulate(np.concatenate(log_sizes)[::-1])[::-1][: heights.size]
        return self._beside_points(c, later)
