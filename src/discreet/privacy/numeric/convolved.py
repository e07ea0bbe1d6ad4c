"""Losses that are points, beside one loss with a density whose δ has a closed form: δ(ε) = Σ p δ₁(ε − loss), term by term.

Nothing is cut off and every term is positive, so neither a narrow density nor a fine lattice costs precision. The points are composed
one by one where they are few; on one lattice by a transform of each part tilted by e^(cL), which serves every ε near that tilt.
"""

from collections.abc import Callable, Sequence
from math import exp

import numpy as np

from discreet.privacy.numeric.certified import MOST_CELLS, Composition, Part
from discreet.privacy.numeric.contour import Lattice
from discreet.privacy.numeric.side import Atoms, Points
from discreet.privacy.numeric.sums import Reals
from discreet.privacy.numeric.unresolved import Unresolved

# ln of a tilted probability that no sum is different without: e^-60 is 1e-26.
NEGLIGIBLE = -60.0
# Of δ: what the points leave out may be so much of it, a thousandth of what near-exact means.
LEFT_OUT = 1e-12
# ln of what is no float.
NO_FLOAT = -700.0


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
        log_delta = float(np.logaddexp.reduce(self._points.log_p[seen] + np.log(one[seen])))
        if self._cut_off > LEFT_OUT * exp(max(log_delta, NO_FLOAT)):
            raise Unresolved
        return log_delta


def points_on(lattice: Lattice, parts: Sequence[tuple[Atoms, int]], c: float) -> Points:
    """The points of many parts on one lattice, those that matter at tilt c: by Fourier transforms, to about 1e-12 of their sum."""
    step = float(lattice.step)
    together = Composition([(_part(atoms, lattice), n) for atoms, n in parts], step, c)
    p = np.maximum(together.p, 0.0)
    losses: Reals = together.start + step * np.arange(together.size, dtype=np.float64)
    seen = p > exp(NEGLIGIBLE)
    if not seen.any():
        raise Unresolved
    return Points(losses[seen], np.log(p[seen]) + together.log_scale - c * losses[seen])


def _part(atoms: Atoms, lattice: Lattice) -> Part:
    apart = int(atoms.step / lattice.step) if atoms.log_p.size > 1 else 1
    size = (atoms.log_p.size - 1) * apart + 1
    if size > MOST_CELLS:
        raise Unresolved
    p = np.zeros(size)
    p[::apart] = np.exp(atoms.log_p)
    return Part(float(atoms.offset), 0, p)
