"""Losses that are points, beside one loss with a density whose δ has a closed form: δ(ε) = Σ p δ₁(ε − loss), term by term.

Nothing is cut off and every term is positive, so neither a narrow density nor a fine lattice costs precision. The points are composed
one by one where they are few; on one lattice by a transform of each part tilted by e^(cL), which serves every ε near that tilt.
"""

from collections.abc import Callable, Sequence
from math import exp, log

import numpy as np
from numpy.typing import NDArray

from discreet.privacy.numeric.certified import MOST_CELLS, Composition, Part
from discreet.privacy.numeric.contour import Lattice
from discreet.privacy.numeric.side import Atoms, Points
from discreet.privacy.numeric.unresolved import Unresolved

Reals = NDArray[np.float64]
NEGLIGIBLE = -60.0  # ln of a tilted probability that no sum is different without


class Convolved:
    """Points, and δ or P(L > ·) of the one density beside them."""

    def __init__(self, points: Points, cut_off: float, delta: Callable[[Reals], Reals]) -> None:
        self._points, self._cut_off, self._delta = points, cut_off, delta

    def log_delta(self, epsilon: float) -> float:
        """ln δ(ε); Unresolved where what the points leave out matters."""
        one = np.maximum(self._delta(epsilon - self._points.losses), 0.0)
        seen = one > 0
        if not seen.any():
            raise Unresolved
        found = float(np.logaddexp.reduce(self._points.log_p[seen] + np.log(one[seen])))
        if self._cut_off > 1e-12 * exp(max(found, -700.0)):
            raise Unresolved
        return found


def points_on(lattice: Lattice, parts: Sequence[tuple[Atoms, int]], c: float) -> Points:
    """The points of many parts on one lattice, those that matter at tilt c: by Fourier transforms, to about 1e-12 of their sum."""
    step = float(lattice.step)
    made = [(_part(atoms, lattice), n) for atoms, n in parts]
    found = Composition(made, step, c)
    p = np.maximum(found.p, 0.0)
    losses: Reals = found.start + step * np.arange(found.size, dtype=np.float64)
    kept = p > exp(NEGLIGIBLE)
    if not kept.any():
        raise Unresolved
    return Points(losses[kept], np.log(p[kept]) + found.log_scale - c * losses[kept])


def _part(atoms: Atoms, lattice: Lattice) -> Part:
    apart = int(atoms.step / lattice.step) if atoms.log_p.size > 1 else 1
    size = (atoms.log_p.size - 1) * apart + 1
    if size > MOST_CELLS:
        raise Unresolved
    p = np.zeros(size)
    p[::apart] = np.exp(atoms.log_p)
    return Part(float(atoms.offset), 0, p)


def near(c: float, other: float) -> bool:
    """Whether what was made at one tilt serves the other."""
    return abs(log(c / other)) < 0.1
