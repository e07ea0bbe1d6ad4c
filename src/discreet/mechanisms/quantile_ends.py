"""Two places for each quantile of each group, one below and one above it, from which a number and its interval are made.

Rows are counted by group and by cell of a public grid, in whole numbers of which one row may be many, so that shares of rows count.
For a quantile q of n rows the lower end is a cell near rank q·n − t, and the upper one near q·n + t. Each is chosen by the exponential
mechanism, with exact probabilities, among all cells, a place below all rows and one above them. The score of a cell is minus the
distance of the rank from the ranks that it holds.

**How far scores move.** With b rows below a cell and n in all, distances are of b − q·n and of (b + rows in it) − q·n, of which a row
moves each by q or by 1 − q. So rows that come or go move each score by m = max(q, 1−q) each. Where a unit is replaced, in one group, r of
its rows may leave one side and r others come to the other: by (1−q)·r + q·r = r, a row by 1. Over several groups all rows may leave one
group and come to another: by 2m a row. A choice with rate λ loses at most 2·λ times what its scores move by, and groups that a unit has
no rows in lose nothing: over all groups at most 2·λ·(m, 1 or 2m)·rows, for all rows of a unit together. So λ = ε/(2·that), for each end.

**How far ends lie.** Where rows lie smoothly, the rank of a choice is off by more than t, to one side, with probability e^(−λt)/2. With
t = ln(1/miss)/λ both ends enclose the quantile but for `miss`. Where rows have few values, far apart, the G empty cells between two of
them may outweigh a value: t must be larger by ln(G)/λ. So it is learnt first, at a tenth of the price, how many cells have rows at all:
Σ min(rows in a cell, 1), which a unit moves by no more than its rows, or by twice as much where it is replaced in any group; with
geometric noise, less what that may have added. All cells over these are G, on average, and t = ln(max(1, G/4)/miss)/λ. What lies around
one quantile may still be emptier than all the rest.
"""

from enum import Enum
from fractions import Fraction
from math import log
from typing import Any

import numpy as np

from discreet.errors import Invalid
from discreet.exact import Number, nonnegative, positive, shown, whole
from discreet.fields import Exact, Held, frozen
from discreet.mechanisms.additive import repeated
from discreet.mechanisms.base import Example, confidence_level, registry
from discreet.mechanisms.falls import Falls
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.quantile import MOST_CELLS, Shares, probabilities_of
from discreet.mechanisms.selection import ForSensitivity, float_of
from discreet.mechanisms.wheel import Ints
from discreet.noise import Source
from discreet.noise.source import chosen
from discreet.privacy import events

MOST_MASS = 1 << 47
"""All rows of a table of 2^38, in steps of 1/256 and room for as much again; times a denominator it fits 63 bits."""

MOST_DENOMINATOR = 10_000
MISS = Fraction(1, 20)
"""How often ends may not enclose a quantile: those of 95 %."""

TENTH = Fraction(1, 10)
"""What it costs to learn how many cells have rows."""

CAUTION = 1.25
"""In scales of that noise, how much less is taken for what was learnt: with 1 intervals of 50 rows hold the truth in 92.7 % at worst, with
2.3, which noise adds in one answer of 20, those of a hundred whole numbers are twice as wide as need be."""

BESIDE = 64
"""So many cells weigh as much as a place beyond all rows."""

FEW_EMPTY = 4
"""So many cells for each that has rows do no harm: by simulation, with figures in bench/quantiles.py."""


class Exchange(Enum):
    """What a neighbour does to the rows of a unit."""

    NONE = "added or removed"
    WITHIN = "replaced in one group"
    ACROSS = "replaced in any group"


def _examples() -> list[Example]:
    half = (Fraction(1, 2),)
    return [
        Example(QuantileEnds(Fraction(2), half, 4), 1, [[1, 0, 4, 2]], [[1, 0, 4, 3]]),
        Example(QuantileEnds(Fraction(1), (Fraction(1, 4),), 3, 2), 2, [[3, 0, 1], [0, 2, 0]], [[2, 0, 1], [0, 1, 0]]),
    ]


@registry.add(_examples)
@frozen
class QuantileEnds(ForSensitivity):
    """Cells around the quantiles of each group, for units that have at most `rows` in all groups together. Costs `epsilon`."""

    epsilon: Exact
    probabilities: Held[Shares, tuple[Fraction, ...]]
    cells: int
    rows: int = 1
    exchange: Exchange = Exchange.NONE
    unit: int = 1
    """How many of what is counted are one row."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        object.__setattr__(self, "probabilities", probabilities_of(self.probabilities, MOST_DENOMINATOR))
        object.__setattr__(self, "cells", whole(self.cells, "cells", least=1))
        object.__setattr__(self, "rows", whole(self.rows, "rows", least=1))
        object.__setattr__(self, "unit", whole(self.unit, "unit", least=1))
        if self.cells > MOST_CELLS:
            raise Invalid(f"cells must be at most {MOST_CELLS}, got {shown(self.cells)}")
        if not isinstance(self.exchange, Exchange):
            raise Invalid(f"exchange must be an Exchange, got {shown(self.exchange)}")

    @property
    def ends(self) -> int:
        """How many places are released for each group."""
        return 2 * len(self.probabilities)

    @property
    def each(self) -> Fraction:
        """The ε of one end."""
        return self.epsilon * (1 - TENTH) / self.ends

    @property
    def noise(self) -> Geometric:
        """The noise on how many cells have rows."""
        moved = self.rows * (2 if self.exchange is Exchange.ACROSS else 1)
        return Geometric(moved / (self.epsilon * TENTH))

    def moved(self, q: Fraction) -> Fraction:
        """How far one row moves a score."""
        most = max(q, 1 - q)
        return {Exchange.NONE: most, Exchange.WITHIN: Fraction(1), Exchange.ACROSS: 2 * most}[self.exchange]

    def rate(self, q: Fraction) -> Fraction:
        """λ, for a distance of one row."""
        return self.each / (2 * self.rows * self.moved(q))

    def margin(self, q: Fraction, occupied: Ints) -> Ints:
        """t, for each group: how far an end lies from the quantile, but no farther than there may be rows."""
        surely = (occupied - CAUTION * float(self.noise.scale)) / self.unit
        empty = self.cells / np.maximum(1.0, surely) / FEW_EMPTY
        t = np.ceil(np.log(np.maximum(1.0, empty) / float(MISS)) / float(self.rate(q)))
        return np.minimum(t, float(MOST_MASS)).astype(np.int64)

    def occupied(self, counts: Ints) -> Ints:
        """How many cells of each group have rows, exactly: a cell of less than a row counts as what it has."""
        occupied: Ints = np.minimum(counts, self.unit).sum(axis=1)
        return occupied

    def event(self, sensitivity: Number | None = None) -> events.Event:
        """What is drawn, for units of this many rows in all groups together, or of as many as were declared."""
        times = Fraction(1) if sensitivity is None else nonnegative(sensitivity, "sensitivity") / self.rows
        return events.Composed(
            (events.Pure(self.epsilon * TENTH * times), repeated(events.Pure(self.each * times), self.ends))
        )

    def __call__(self, exact: Any, source: Source | None = None) -> Ints:
        """For each group a lower and an upper cell for each probability, from the number of rows in each of its cells."""
        counts, bits = self._counts(exact), chosen(source)
        occupied = self.noise(self.occupied(counts), bits) if len(counts) else np.zeros(0, np.int64)
        columns = []
        for q in self.probabilities:
            margin = self.margin(q, occupied)
            ends = [self._end(counts, q, sign * margin, bits) for sign in (-1, 1)]
            columns += [np.minimum(*ends), np.maximum(*ends)]
        return np.stack(columns, axis=1)

    def _end(self, counts: Ints, q: Fraction, shift: Ints, source: Source) -> Ints:
        if not len(counts):
            return np.zeros(0, np.int64)
        places = Falls.of(-self.gaps(counts, q, shift), self.rate(q) / q.denominator).wheel.spin(source)
        return np.clip(places - 1, 0, self.cells - 1).astype(np.int64)

    def gaps(self, counts: Ints, q: Fraction, shift: Ints) -> Ints:
        """How far each place of each group is from a rank, times the denominator of q: one below all rows, the cells, one above.

        Of those two there are as good as many, one for each 64 cells: they are nearer by ln(cells/64)/λ. The rank of an end may be beyond
        all rows, and then the cells, of which there are many, must not outweigh them.
        """
        by, upto = q.denominator, np.cumsum(counts, axis=1)
        n = upto[:, -1:]
        target = q.numerator * n + by * shift[:, None]
        inside = np.maximum(0, np.maximum(by * (upto - counts) - target, target - by * upto))
        nearer = min(int(log(max(1.0, self.cells / BESIDE)) / float(self.rate(q)) * by), by * MOST_MASS)
        return np.concatenate([np.maximum(0, target) - nearer, inside, np.maximum(0, by * n - target) - nearer], axis=1)

    def _counts(self, exact: Any) -> Ints:
        array = np.asarray(exact)
        if array.ndim != 2 or array.shape[1] != self.cells:
            raise Invalid(f"exact must hold the number of rows in each of {self.cells} cells, for each group")
        if array.dtype.kind not in "iu":
            raise Invalid(f"exact must hold integers, got {array.dtype} values")
        if array.size and (array.min() < 0 or array.max() > MOST_MASS or array.sum(axis=1).max() > MOST_MASS):
            raise Invalid("exact must hold counts, which are not negative, of at most 2^47 in a group")
        return array.astype(np.int64)

    def error(self, confidence: Number = 0.95) -> float:
        """How far an end is from the quantile at most, with this confidence, where rows lie smoothly; the widest of all."""
        reach = log(1 / float(MISS)) - log(1 - confidence_level(confidence))
        return max(float_of(Fraction(reach) / self.rate(q)) for q in self.probabilities)
