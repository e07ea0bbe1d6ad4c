"""Quadrature points of Gauss and Legendre; cell by cell for densities that are put on a lattice, where no piece may cross."""

from functools import lru_cache
from math import ceil

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]
# Standard deviations: e^(−38²/2) is 3e-314, below the least float that has all its digits.
FARTHEST = 38.0


@lru_cache(maxsize=64)
def legendre(nodes: int) -> tuple[Reals, Reals]:
    """Nodes and weights of Gauss and Legendre on (0, 1)."""
    points, weights = np.polynomial.legendre.leggauss(nodes)
    return (points + 1) / 2, weights / 2


def normal_pieces(cuts: Reals, width: float) -> tuple[Reals, Reals]:
    """Quadrature points under the standard normal density, with ln of their weights; far-out pieces are left out."""
    ends = np.clip(cuts, -FARTHEST, FARTHEST)
    farthest = max(2.0, float(np.abs(ends).max()))
    z, log_w = pieces(ends, min(0.25, 0.5 / farthest, width))
    return z, log_w - 0.5 * z * z - 0.5 * np.log(2 * np.pi)


def pieces(cuts: Reals, width: float) -> tuple[Reals, Reals]:
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
    found = [_in_pieces(cuts[:-1][kinds == kind], lengths[kinds == kind], kind) for kind in (1, 2, 3)]
    return np.concatenate([x for x, _ in found]), np.concatenate([log_w for _, log_w in found])


def _in_pieces(starts: Reals, lengths: Reals, kind: int) -> tuple[Reals, Reals]:
    points, weights = legendre((2, 3, 5)[kind - 1])
    x = starts[:, None] + lengths[:, None] * points
    return x.ravel(), np.add.outer(np.log(lengths), np.log(weights)).ravel()
