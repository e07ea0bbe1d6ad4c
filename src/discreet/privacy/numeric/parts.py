"""The parts of one direction of a composition, and what is known of all of them together: K adds, and so do losses."""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cached_property, reduce
from math import gcd, inf, sqrt

import numpy as np

from discreet.exact import round_down, to_float_up
from discreet.privacy.numeric.axis import RealAxis
from discreet.privacy.numeric.contour import Curve, Lattice
from discreet.privacy.numeric.kinds import gaussian_loss
from discreet.privacy.numeric.points import NO_POINTS, composed
from discreet.privacy.numeric.side import Atoms, ManyK, Points, Side
from discreet.privacy.numeric.sums import Complex, Reals
from discreet.privacy.numeric.unresolved import Unresolved

# Of the probability that nothing fails openly: longer ones are rounded down to 4096 bits, far beyond any δ.
EXACT_BITS = 4096
# What rounding may do to K of one use, relative to 1: a few units in the last place.
ROUNDING_OF_K = 1e-15


# Tilts of which the share of points is kept; it would be the same again.
MOST_KEPT = 256


class Parts:
    """(side, times) for each part, all in one direction; `rho` is that of parts of which only zCDP is known."""

    def __init__(self, parts: Iterable[tuple[Side, int]], rho: Fraction = Fraction(0)) -> None:
        self.each = [(side, n) for side, n in parts if n]
        self.rho = float(rho)

    def k(self, t: Complex) -> Complex:
        """K of the composition."""
        total = np.zeros_like(t) if not self.rho else self.rho * t * (t + 1)
        for side, n in self._singly:
            total += n * side.k(t)
        for of, parameters, counts in self._together:
            total += of(parameters, counts, t)
        return total

    @cached_property
    def _together(self) -> list[tuple[Callable[[Reals, Reals, Complex], Complex], Reals, Reals]]:
        """Parts of one kind, as a table of what they differ by, and how many there are of each."""
        kinds: dict[object, list[tuple[ManyK, int]]] = {}
        for side, n in self.each:
            if side.many is not None:
                kinds.setdefault((side.many.of, len(side.many.parameters)), []).append((side.many, n))
        return [
            (
                group[0][0].of,
                np.array([many.parameters for many, _ in group], np.float64),
                np.array([n for _, n in group], np.float64),
            )
            for group in kinds.values()
        ]

    @cached_property
    def _singly(self) -> list[tuple[Side, int]]:
        return [(side, n) for side, n in self.each if side.many is None]

    @cached_property
    def uses(self) -> int:
        return sum(n for _, n in self.each)

    @property
    def single(self) -> Side | None:
        """The only part, where it is used once."""
        return self.each[0][0] if self.uses == 1 and not self.rho else None

    @cached_property
    def pure(self) -> Fraction | None:
        """The supremum of the loss exactly where that is known, else a bound; None where the loss is unbounded."""
        if self.rho or any(side.pure is None for side, _ in self.each):
            return None
        return sum((n * side.pure for side, n in self.each if side.pure is not None), Fraction(0))

    @cached_property
    def largest(self) -> float:
        """The supremum of the loss, rounded up; pure ε."""
        return to_float_up(self.pure) if self.pure is not None else inf

    @cached_property
    def failure(self) -> Fraction:
        """1 − Π(1 − failure): the chance that some part fails openly; rounded up, if at all."""
        nothing_fails = Fraction(1)
        for side, n in self.each:
            if side.failure:
                nothing_fails = _short(nothing_fails * _power_down(1 - side.failure, n))
        return 1 - nothing_fails

    @cached_property
    def merged(self) -> list[tuple[Side, int]]:
        """The parts, all Gaussians as one."""
        squares = [side.gaussian * n for side, n in self.each if side.gaussian is not None]
        others = [(side, n) for side, n in self.each if side.gaussian is None]
        return [*others, (gaussian_loss(sum(squares, Fraction(0))), 1)] if squares else others

    @cached_property
    def mu(self) -> float | None:
        """√Σμ², where every part is Gaussian."""
        if any(side.gaussian is None for side, _ in self.each):
            return None
        return sqrt(sum((side.gaussian * n for side, n in self.each if side.gaussian is not None), Fraction(0)))

    @cached_property
    def lattice(self) -> Lattice | None:
        """The common lattice of all parts, where each has one."""
        atoms = [(side.atoms, n) for side, n in self.each if side.atoms is not None]
        return lattice_of(atoms) if len(atoms) == len(self.each) else None

    @cached_property
    def points(self) -> Points | None:
        """The losses that compose of points only; None where there are too many to tell apart."""
        if not self.points_everywhere:
            return NO_POINTS
        try:
            return composed((side.points, n) for side, n in self.each if side.points is not None)
        except Unresolved:
            return None

    @cached_property
    def points_everywhere(self) -> bool:
        """Whether every part has losses that are points: then so has the composition."""
        return all(side.points is not None for side, _ in self.each)

    def log_atomic(self, c: float) -> float:
        """ln of the share of points in the loss tilted by c."""
        if c not in self._log_atomic:
            if len(self._log_atomic) >= MOST_KEPT:
                self._log_atomic.clear()
            self._log_atomic[c] = sum(n * side.log_atomic(c) for side, n in self.each)
        return self._log_atomic[c]

    @cached_property
    def _log_atomic(self) -> dict[float, float]:
        return {}

    @cached_property
    def cut_off(self) -> float:
        """What the points of all parts leave out."""
        return sum(n * side.cut_off for side, n in self.each)

    @cached_property
    def curve(self) -> Curve:
        return Curve(self.k, self.lattice, self._log_cover)

    @property
    def axis(self) -> RealAxis:
        """The real axis as every question finds it."""
        return self.curve.axis

    @cached_property
    def k_error(self) -> float:
        """What rounding may do to K on the real axis; it matters only for very many uses."""
        return ROUNDING_OF_K * float(self.uses)

    def _log_cover(self, c: float, heights: Reals, enough: float) -> Reals:
        """A bound of Re K − K(c) at these heights above c, and at all larger ones: as many parts as it takes, each has its own."""
        proven, seen = self._falling
        total = np.zeros_like(heights)
        for side, n in proven:
            if float(total.max()) < enough:
                break
            total = total + n * side.log_cover(c, heights)
        # A look at the first height most often shows that there is no cover yet; one part alone is looked at once.
        for first in (True, False) if len(seen) > 1 else (False,):
            looked = heights[:1] if first else heights
            covered = total[: looked.size]
            for side, n in seen:
                if float(covered.max()) < enough:  # none is above 0
                    break
                covered = covered + n * (side.log_size(c, looked) if first else side.log_cover(c, looked))
            if not float(covered.max()) < enough:
                return np.zeros_like(heights) if first else covered
        return covered

    @cached_property
    def _falling(self) -> tuple[list[tuple[Side, int]], list[tuple[Side, int]]]:
        """The parts whose losses have a density: those with a proven cover, Gaussians first, and the others, most used first."""
        dense = [(side, n) for side, n in self.merged if side.dense]
        proven = [(side, n) for side, n in dense if side.proven_cover]
        others = [(side, n) for side, n in dense if not side.proven_cover]
        proven.sort(key=lambda part: part[0].gaussian is None)
        return proven, sorted(others, key=lambda part: -part[1])


def lattice_of(atoms: Sequence[tuple[Atoms, int]]) -> Lattice:
    """The lattice on which all sums of these atoms lie."""
    steps = {part.step for part, _ in atoms if part.log_p.size > 1}
    step = reduce(_common_step, steps, Fraction(0)) or Fraction(1)
    offset = sum((n * part.offset for part, n in atoms), Fraction(0))
    return Lattice(offset, step, uniform=len(steps) <= 1 and all(part.one_hump for part, _ in atoms))


def _common_step(a: Fraction, b: Fraction) -> Fraction:
    """The largest rational of which both are whole multiples."""
    top = gcd(a.numerator * b.denominator, b.numerator * a.denominator)
    return Fraction(top, a.denominator * b.denominator)


def _power_down(base: Fraction, n: int) -> Fraction:
    """base^n, or a little less where it has more digits than anyone needs."""
    power = Fraction(1)
    while n:
        if n & 1:
            power = _short(power * base)
        base, n = _short(base * base) if n > 1 else base, n >> 1
    return power


def _short(x: Fraction) -> Fraction:
    return x if x.denominator.bit_length() <= EXACT_BITS else round_down(x, EXACT_BITS)
