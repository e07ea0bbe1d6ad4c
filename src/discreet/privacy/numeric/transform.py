"""e^K at very many points of a vertical line at once, by one fast Fourier transform per leaf.

Where few releases compose, e^K(t) decays so slowly along the line that some 10^5 nodes are needed. Then every loss is
spread over the nearest points of a fine grid, such that polynomials of degree 5 keep their mean, and one transform of the
tilted weights gives e^K at all nodes. Losses with a probability of their own never decay: those that compose to points are
taken out and counted exactly (`points.py`); what is left falls at least like Im(t)^-3.
"""

from collections.abc import Sequence
from math import exp, log, pi

import numpy as np
from numpy.typing import NDArray

from discreet.privacy.numeric.contour import MOST_EXPONENT, RealAxis, period
from discreet.privacy.numeric.side import Points, Side
from discreet.privacy.numeric.unresolved import Unresolved

Reals = NDArray[np.float64]
Complex = NDArray[np.complex128]

NODES, COARSE = 1 << 17, 1 << 16  # two grids: a value counts when both agree
ORDER = 6  # points of the grid that share one loss
NEGLIGIBLE = -50.0  # ln of the tilted probability left out at either end
AGREE = 4e-9  # of ln δ; the finer grid is then better by another factor of 4 at least, most often of 20


class TransformLine:
    """K along Re t = c, at very many nodes: serves every ε whose saddle point is near c."""

    def __init__(
        self, parts: Sequence[tuple[Side, int]], axis: RealAxis, at: int, epsilon: float, points: bool
    ) -> None:
        self.c, self._k_c, self._epsilon = float(axis.c[at]), float(axis.k[at]), epsilon
        self._reach = 1.5 * period(axis, at, epsilon)
        self._grids = [_Grid(parts, self.c, self._reach, nodes, points) for nodes in (NODES, COARSE)]

    def serves(self, epsilon: float) -> bool:
        """Whether all aliases are small at this ε too."""
        return abs(epsilon - self._epsilon) <= self._reach / 8

    def log_delta(self, epsilon: float, log_known: float, tail: bool = False) -> float:
        """ln δ(ε), or of P(L > ε), where e^log_known of it comes from points alone."""
        if abs(self._k_c) + abs(self.c * epsilon) > MOST_EXPONENT:
            raise Unresolved
        known = exp(min(700.0, log_known - self._k_c + self.c * epsilon))
        fine, coarse = (known + max(0.0, grid.rest(epsilon, tail)) for grid in self._grids)
        if not (fine > 0 and abs(fine - coarse) <= AGREE * coarse):
            raise Unresolved
        return log(fine) + self._k_c - self.c * epsilon


class _Grid:
    """The transform of every part on one grid, composed; without what is composed of points alone, if `points`."""

    def __init__(self, parts: Sequence[tuple[Side, int]], c: float, reach: float, nodes: int, points: bool) -> None:
        self.c, self.nodes, self.grid = c, nodes, reach / nodes
        self.t = c + 1j * (2 * pi / reach) * np.arange(nodes // 2)
        everything, of_all_points = np.ones_like(self.t), np.ones_like(self.t)
        for side, n in parts:
            log_one = float(side.k(np.array([c], np.complex128))[0].real)
            of_points = self._transform(side.points, log_one)
            everything *= (of_points + self._transform(self._dense(side), log_one)) ** n
            of_all_points *= of_points**n
        self._rest = (everything - of_all_points * points) / (self.t * (self.t + 1)) * (2 / reach)
        self._rest[0] /= 2

    def rest(self, epsilon: float, tail: bool) -> float:
        terms = self._rest * self._turns(epsilon)
        return float((terms * (self.t + 1) if tail else terms).real.sum())

    def _turns(self, epsilon: float) -> Complex:
        """e^(−iε Im t) at all nodes, which are evenly spaced: products of few exponentials."""
        turn = -1j * epsilon * float(self.t[1].imag)
        few = 1 << (self.t.size.bit_length() - 1) // 2
        turns: Complex = np.outer(
            np.exp(turn * few * np.arange(self.t.size // few)), np.exp(turn * np.arange(few))
        ).ravel()
        return turns

    def _dense(self, side: Side) -> Points | None:
        if side.within is None:
            return None
        low, high = side.low_end(self.c, NEGLIGIBLE), side.high_end(self.c, NEGLIGIBLE)
        cells = min(self.nodes // 2, max(64, int((high - low) / self.grid)))
        return side.within(np.linspace(low, high, cells + 1))

    def _transform(self, points: Points | None, log_one: float) -> Complex:
        """Σ p e^(tL − K(c)) at every node."""
        if points is None:
            return np.zeros_like(self.t)
        weights = np.exp(points.log_p + self.c * points.losses - log_one)
        spread = np.zeros(self.nodes)
        place = points.losses / self.grid
        first = np.floor(place)
        for shift, share in zip(range(1 - ORDER // 2, ORDER // 2 + 1), _lagrange(place - first), strict=True):
            index = (first.astype(np.int64) + shift) % self.nodes
            spread += np.bincount(index, weights * share, self.nodes)
        transformed: Complex = np.conj(np.fft.rfft(spread))[: self.nodes // 2]
        return transformed


def _lagrange(x: Reals) -> list[Reals]:
    """The shares of the points −2 … 3 in a loss at 0 <= x < 1."""
    places = range(1 - ORDER // 2, ORDER // 2 + 1)
    shares = []
    for i in places:
        share = np.ones_like(x)
        for j in places:
            if j != i:
                share = share * (x - j) / (i - j)
        shares.append(share)
    return shares
