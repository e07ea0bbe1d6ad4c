"""Mechanisms given by a table Pr[y | x]: exact privacy loss, exact epsilon, exact delta, in rationals.

The hockey-stick curve of one pair of rows, D(γ) = Σ_y max(P_y − γ Q_y, 0) with γ = e^ε, is convex and piecewise linear in γ with
rational corners. The least curve above all pairs is again such a curve, and belongs to a pair of distributions on its corners.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, permutations
from typing import TypeAlias

from discreet.exact import log_up

Row: TypeAlias = Sequence[Fraction]

# Bits after the point, of a loss: of a ratio as close to 1 as 1 + 2^-139 they still hold the 53 of a float.
LOG_BITS = 192


def hockey_stick(p: Row, q: Row, gamma: Fraction) -> Fraction:
    """sup_A P(A) − γ Q(A) = Σ max(P − γQ, 0), for γ = e^ε.

    >>> half = Fraction(1, 2)
    >>> hockey_stick([Fraction(3, 4), Fraction(1, 4)], [half, half], Fraction(1))
    Fraction(1, 4)
    """
    return sum((max(a - gamma * b, Fraction(0)) for a, b in zip(p, q, strict=True)), Fraction(0))


def delta_of_table(rows: Sequence[Row], gamma: Fraction) -> Fraction:
    """The exact δ at ε = ln γ, over all ordered pairs of rows."""
    return max(hockey_stick(p, q, gamma) for p, q in permutations(rows, 2))


def ratio_of_table(rows: Sequence[Row]) -> Fraction | None:
    """The exact e^ε of pure differential privacy; None where some output is impossible for one input only.

    >>> ratio_of_table([[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]])
    Fraction(3, 1)
    """
    largest = Fraction(1)
    for p, q in permutations(rows, 2):
        for a, b in zip(p, q, strict=True):
            if a and not b:
                return None
            if b:
                largest = max(largest, a / b)
    return largest


def beyond_of_table(rows: Sequence[Row], gamma: Fraction) -> Fraction:
    """Pr[|L| > ln γ] exactly, the largest over all ordered pairs of rows.

    >>> half = Fraction(1, 2)
    >>> beyond_of_table([[half, half], [Fraction(1, 4), Fraction(3, 4)]], Fraction(3, 2))
    Fraction(1, 2)
    """
    return max(
        sum((a for a, b in zip(p, q, strict=True) if a > gamma * b or b > gamma * a), Fraction(0))
        for p, q in permutations(rows, 2)
    )


@dataclass(frozen=True, slots=True)
class Dominating:
    """The distribution of the loss of a dominating pair: (loss, probability under P), and the mass at infinity."""

    atoms: tuple[tuple[float, Fraction], ...]
    ratios: tuple[Fraction, ...]  # e^loss of each atom, exactly
    infinite: Fraction


def dominating_atoms(rows: Sequence[Row]) -> Dominating:
    """The least dominating pair of all ordered pairs of rows.

    Where the slope of the curve rises by q at the corner γ, Q has mass q and P has mass γq there; what is left of P at
    γ = ∞ is infinite loss.
    """
    corners = _corners(rows)
    values = [delta_of_table(rows, gamma) for gamma in corners]
    beyond = corners[-1] + 1
    values.append(delta_of_table(rows, beyond))
    points = [*corners, beyond]
    slopes = [(v2 - v1) / (g2 - g1) for (g1, v1), (g2, v2) in pairwise(zip(points, values, strict=True))]
    atoms = []
    for gamma, before, after in zip(corners[1:], slopes, slopes[1:], strict=False):
        if after > before:
            atoms.append((gamma, gamma * (after - before)))
    return Dominating(
        atoms=tuple((float(log_up(gamma, LOG_BITS)), p) for gamma, p in atoms),
        ratios=tuple(gamma for gamma, _ in atoms),
        infinite=values[-1],
    )


def _corners(rows: Sequence[Row]) -> list[Fraction]:
    """All γ where the upper curve may bend: corners of each pair's curve, and crossings of two curves between them."""
    bends = {Fraction(0)}
    for p, q in permutations(rows, 2):
        bends.update(a / b for a, b in zip(p, q, strict=True) if b)
    found = sorted(bends)
    pairs = list(permutations(rows, 2))
    crossings: set[Fraction] = set()
    for left, right in pairwise([*found, found[-1] + 2]):
        lines = set()
        for p, q in pairs:
            a, b = hockey_stick(p, q, left), hockey_stick(p, q, right)
            lines.add((a, (b - a) / (right - left)))
        crossings.update(_meetings(lines, left, right))
    return sorted(bends | crossings)


def _meetings(lines: set[tuple[Fraction, Fraction]], left: Fraction, right: Fraction) -> set[Fraction]:
    """Where two of the lines (value at `left`, slope) meet strictly between left and right."""
    met = set()
    for a1, s1 in lines:
        for a2, s2 in lines:
            if s1 > s2 and a1 < a2:
                gamma = left + (a2 - a1) / (s1 - s2)
                if gamma < right:
                    met.add(gamma)
    return met
