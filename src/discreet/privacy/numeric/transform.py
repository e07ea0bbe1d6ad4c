"""e^K at very many points of a vertical line at once, by one fast Fourier transform per leaf.

Where few releases compose, e^K(t) decays so slowly along the line that some 10^5 nodes are needed. Then every loss is
spread over the nearest points of a fine grid, such that polynomials of degree 5 keep their mean, and one transform of the
tilted weights gives e^K at all nodes. Losses with a probability of their own never decay: those that compose to points are
taken out and counted exactly (`points.py`); what is left falls at least like Im(t)^-3.
"""

from collections.abc import Sequence
from math import exp, log, pi

import numpy as np

from discreet.privacy.numeric.axis import Tilt
from discreet.privacy.numeric.contour import MOST_EXPONENT
from discreet.privacy.numeric.side import Points, Side
from discreet.privacy.numeric.sums import Complex, Reals
from discreet.privacy.numeric.unresolved import Unresolved

# Two grids: a value counts when both agree. The transforms of the finer one take some 10 ms for each part.
NODES, COARSE = 1 << 17, 1 << 16
# Points of the grid that share one loss: degree 5 leaves an error of the sixth power of a cell, 1e-30 of a loss of one standard deviation.
ORDER = 6
# ln of the tilted probability left out at either end: e^-50 is 2e-22.
NEGLIGIBLE = -50.0
# Of ln δ: the finer grid is then better by another factor of 4 at least, most often of 20, and so near-exact to 1e-9.
AGREE = 4e-9
# Uses of all parts: the transform of one is rounded to about 2^-53, and its n-th power to n times as much. From here on rounding alone
# is more than what two grids may differ by.
MOST_USES = int(AGREE * 2**53)
# A window is so much longer than the period that ε needs, and serves every ε that is a quarter of it away: one CELLS-th to each side.
LONGER, CELLS = 1.5, 8
# Quadrature cells of a density: as fine as the grid, and no fewer than this many.
LEAST_CELLS = 64
# NumPy multiplies for smaller powers, and takes a logarithm of each number for larger ones, which is slower than squaring all.
MANY = 100
# Above this exponent e^x is no float.
MOST_LOG = 700.0


class TransformLine:
    """K along Re t = c, at very many nodes: serves every ε near the one that it was made for."""

    def __init__(self, parts: Sequence[tuple[Side, int]], tilt: Tilt, epsilon: float, points: bool) -> None:
        self.c, self._k_c = tilt.c, tilt.k
        reach = LONGER * tilt.aliases.period(epsilon)
        self._grids = [_Grid(parts, self.c, reach, nodes, points) for nodes in (NODES, COARSE)]

    def log_delta(self, epsilon: float, log_known: float, tail: bool = False) -> float:
        """ln δ(ε), or of P(L > ε), where e^log_known of it comes from points alone."""
        if abs(self._k_c) + abs(self.c * epsilon) > MOST_EXPONENT:
            raise Unresolved
        known = exp(min(MOST_LOG, log_known - self._k_c + self.c * epsilon))
        fine, coarse = (known + max(0.0, grid.rest(epsilon, tail)) for grid in self._grids)
        if not (fine > 0 and abs(fine - coarse) <= AGREE * coarse):
            raise Unresolved
        return log(fine) + self._k_c - self.c * epsilon


def middle_of_cell(tilt: Tilt, epsilon: float) -> float:
    """The middle of the cell in which ε lies: a line that is made for it serves all of the cell.

    Cells are a quarter of the shortest window wide: so all questions at one tilt share few lines, whoever asks first.
    """
    width = 2 * LONGER * tilt.aliases.shortest / CELLS
    return round(epsilon / width) * width


class _Grid:
    """The transform of every part on one grid, composed; without what is composed of points alone, if `points`."""

    def __init__(self, parts: Sequence[tuple[Side, int]], c: float, reach: float, nodes: int, points: bool) -> None:
        self.c, self.nodes, self.grid = c, nodes, reach / nodes
        self.t = c + 1j * (2 * pi / reach) * np.arange(nodes // 2)
        everything, of_all_points = np.ones_like(self.t), np.ones_like(self.t)
        for side, n in parts:
            log_one = float(side.k(np.array([c], np.complex128))[0].real)
            of_points = self._transform(side.points, log_one)
            everything *= _power(of_points + self._transform(self._dense(side), log_one), n)
            of_all_points *= _power(of_points, n)
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
        if side.density is None:
            return None
        low, high = side.low_end(self.c, NEGLIGIBLE), side.high_end(self.c, NEGLIGIBLE)
        cells = min(self.nodes // 2, max(LEAST_CELLS, int((high - low) / self.grid)))
        return side.density(np.linspace(low, high, cells + 1))

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


def _power(x: Complex, n: int) -> Complex:
    """x^n; of many by squaring."""
    if n < MANY:
        return x**n
    power, square = np.ones_like(x), x
    while n:
        if n & 1:
            power = power * square
        n >>= 1
        if n:
            square = square * square
    return power


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
