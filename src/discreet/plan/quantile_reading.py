"""Quantiles of groups: rows counted by cell of a public grid, and for each quantile two cells around it, chosen with noise.

What a person counts with is what all limits leave of them, in 256 steps a row, in proportion to their rows with each value
(`apportioned`): nothing is left out by lot. A table of rows, or of people with one row each, is counted as it is.

**The grid.** Whole numbers of up to 4,096 values have a cell each. Anything else has between 512 and 1,024 cells of equal width, a power
of two wide; fewer where there are more than 1,024 groups, so that groups times cells are at most 2^20. By simulation finer cells are not
closer: the noise of 800 rows at ε = 1 moves a median by some 6 rows, which are 8 cells of 1,024.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.mechanisms.additive import Ints
from discreet.mechanisms.measure import Grant
from discreet.mechanisms.quantile_ends import Exchange, QuantileEnds
from discreet.plan.apportioned import Apportioned
from discreet.plan.combination import Combination
from discreet.plan.digits import six_digits
from discreet.plan.evaluate import steps_of
from discreet.plan.reading import Groups, Reading, ReadingAsked
from discreet.plan.relation import (
    ONE,
    CapGroups,
    CapRows,
    CapTotal,
    Contributions,
    How,
    Rows,
    Term,
    Totals,
    days,
    keys_of,
    terms_of,
)
from discreet.plan.rules.relations import combined
from discreet.plan.scalar import Column, Scalar, Steps
from discreet.plan.steps.base import broken
from discreet.plan.totals import Run
from discreet.privacy import Adjacency, Relation, events

if TYPE_CHECKING:
    from discreet.plan.caps import Caps
    from discreet.plan.draft import Draft

WHOLE = Combination.plain(0)
FINE = 1 << 8
"""The steps of a row that may be shared by values."""

MOST_CELLS = 1024
MOST_WHOLE = 4096
"""So many whole numbers have a cell each."""

MOST_PLACES = 1 << 20
"""Of all groups together."""

LEAST_SHIFT, MOST_SHIFT = -1000, 500


@dataclass(frozen=True, slots=True)
class QuantileAsked(ReadingAsked):
    """Quantiles of one argument, on the rows of one condition, before they have a price, or limits."""

    operand: Scalar
    low: float
    high: float
    whole: bool
    condition: Scalar | None
    probabilities: tuple[Fraction, ...]

    @property
    def weight(self) -> int:
        return len(self.probabilities)

    def priced(self, draft: "Draft", caps: "Caps", epsilon: Fraction) -> "QuantileReading":
        value = cell_steps(self, draft.cells)
        query = rows_by_value(draft, caps, value, self.condition)
        relation = draft.protected.relation
        mass = mass_of(query, relation, draft.known, cells_of(value))
        exchange = exchange_of(relation, draft.known)
        unit = FINE if isinstance(query.source, Apportioned) else 1
        mechanism = QuantileEnds(epsilon, self.probabilities, cells_of(value), mass, exchange, unit)
        return QuantileReading(query, mechanism, value, self.whole)


def rows_by_value(draft: "Draft", caps: "Caps", value: Scalar, condition: Scalar | None) -> Totals:
    """What an engine runs for rows on which a condition is true, by group and by a value of each, such as its cell.

    Of people it is what is within all limits, whether or not norms are limited elsewhere.
    """
    from discreet.plan.releases.terms import ones_of

    keys, plain = (*draft.keys, value), (Term(How.SUM, ONE),)
    if draft.protected.person is None:
        return Totals(draft.source, keys, plain)
    named = draft.scope.own_named(draft.protected.person)
    person = Column(named.name, named.type)
    if draft.alone:
        return Totals(Contributions(draft.source, person, keys, plain))
    term = Term(How.SUM, ones_of(condition, FINE))
    everything = Contributions(draft.source, person, draft.keys, (term,))
    people: Contributions | CapRows | CapGroups | CapTotal = everything
    if caps.rows is not None:
        people = CapRows(everything, caps.rows)
    if caps.groups is not None and draft.known > caps.groups:
        people = CapGroups(people, caps.groups)  # type: ignore[arg-type]
    if caps.total is not None:
        people = CapTotal(people, caps.total)  # type: ignore[arg-type]
    return Totals(Apportioned(people, value))


def cell_steps(asked: QuantileAsked, groups: int) -> Steps:
    """The cell of a row, counted from near the lower bound on; NULL where the row is none of the aggregate's."""
    low, high = Fraction(asked.low), Fraction(asked.high)
    most = max(2, min(MOST_CELLS, MOST_PLACES // max(1, groups)))
    if asked.whole and high - low < min(MOST_WHOLE, MOST_PLACES // max(1, groups)):
        shift = 0
    else:
        shift = _finest(high - low, most - 1)
        shift = min(shift, 0) if asked.whole else shift
    step = Fraction(2) ** -shift
    return Steps(asked.operand, asked.low, asked.high, shift, float(floor(low / step) * step))


def _finest(width: Fraction, most: int) -> int:
    """The largest shift with width · 2^shift <= most."""
    shift = (
        MOST_SHIFT if not width else most.bit_length() + width.denominator.bit_length() - width.numerator.bit_length()
    )
    while shift > LEAST_SHIFT and width * Fraction(2) ** shift > most:
        shift -= 1
    return min(shift, MOST_SHIFT)


def _ends(value: Steps) -> tuple[int, int]:
    return steps_of(value.low, value), steps_of(value.high, value)


def cells_of(value: Steps) -> int:
    """How many cells there are."""
    low, high = _ends(value)
    return high - low + 1


def mass_of(query: Totals, relation: Relation, groups: int, cells: int) -> int:
    """The most that one unit counts with in all groups together, in steps of a count.

    Where people's values share what they count with, they never have more than before they did.
    """
    alone = Relation(Adjacency.ADD_REMOVE, relation.unit)
    if isinstance(query.source, Apportioned):
        return floor(combined(WHOLE, Totals(query.source.source), alone, groups).l1)
    return floor(combined(WHOLE, query, alone, groups * cells).l1)


def exchange_of(relation: Relation, groups: int) -> Exchange:
    """What a neighbour does to the rows of a unit."""
    if relation.adjacency is Adjacency.ADD_REMOVE:
        return Exchange.NONE
    return Exchange.WITHIN if groups == 1 else Exchange.ACROSS


@dataclass(frozen=True, slots=True)
class QuantileReading(Reading):
    """For each group, and each quantile, a cell below it and one above it."""

    notation = "QuantileReading query mechanism value whole"

    query: Totals
    mechanism: QuantileEnds
    value: Steps
    whole: bool

    @property
    def columns(self) -> int:
        return self.mechanism.ends

    @property
    def step(self) -> Fraction:
        """The width of a cell."""
        return Fraction(2) ** -self.value.shift

    @property
    def exact(self) -> bool:
        """Whether every value is a point of the grid."""
        return self.whole and self.value.shift == 0

    def point(self, cell: Fraction) -> Fraction:
        """The value of a cell, or of a place between two."""
        return Fraction(self.value.middle) + (cell + _ends(self.value)[0]) * self.step

    def event(self) -> events.Event:
        return self.mechanism.event(self.mechanism.rows)

    def check(self, relation: Relation, groups: Groups) -> None:
        """Its noise is made for all that a unit counts with, and for what a neighbour does; its cells are those of its query."""
        number, needed = max(1, len(groups)), exchange_of(relation, max(1, len(groups)))
        if keys_of(self.query)[-1:] != (self.value,) or terms_of(self.query)[1:]:
            raise broken("a quantile is not of the cells of its query")
        if isinstance(self.query.source, Rows | Contributions) and terms_of(self.query) != (Term(How.SUM, ONE),):
            raise broken("a quantile is not of rows")
        if self.mechanism.cells != cells_of(self.value):
            raise broken("a quantile has another number of cells")
        if self.mechanism.rows < mass_of(self.query, relation, number, self.mechanism.cells):
            raise broken("a unit has more rows than the noise of a quantile is made for")
        if needed is not Exchange.NONE and self.mechanism.exchange not in (needed, Exchange.ACROSS):
            raise broken("a neighbour moves a quantile by more than its noise is made for")

    def drawn(self, run: Run, grant: Grant, salt: int, groups: Groups) -> Sequence[Ints]:
        ends = grant(self.mechanism, self.mechanism.rows, lambda: self._counted(run, salt, groups))
        return tuple(np.ascontiguousarray(column) for column in np.asarray(ends).T)

    def exactly(self, run: Run, salt: int, groups: Groups) -> Sequence[Ints]:
        """The first and the last cell that hold the rank of each quantile."""
        counts = self._counted(run, salt, groups)
        upto, columns = np.cumsum(counts, axis=1), []
        for q in self.mechanism.probabilities:
            rank = q.numerator * upto[:, -1:]
            holds = ((upto - counts) * q.denominator <= rank) & (upto * q.denominator >= rank)
            columns += [holds.argmax(axis=1), self.mechanism.cells - 1 - holds[:, ::-1].argmax(axis=1)]
        return tuple(each.astype(np.int64) for each in columns)

    def _counted(self, run: Run, salt: int, groups: Groups) -> Ints:
        """The rows of each group in each cell; those in no group, or without a value, are left out."""
        cells = run(self.query, salt)
        place = {tuple(map(days, group)): i for i, group in enumerate(groups)}
        first = _ends(self.value)[0]
        counts = np.zeros((len(groups), self.mechanism.cells), np.int64)
        for keys, total in zip(cells.keys, cells.totals[0].tolist(), strict=True):
            row = place.get(keys[:-1])
            if row is not None and keys[-1] is not None:
                counts[row, keys[-1] - first] += total
        return counts

    def explained(self) -> str:
        shares = ", ".join(six_digits(q) for q in self.mechanism.probabilities)
        return (
            f"ends around the quantiles {shares}: chosen among {self.mechanism.cells:,} cells of width {six_digits(self.step)}"
            f" by the exponential mechanism, costs ε = {six_digits(self.mechanism.epsilon)}"
        )

    def receipt(self) -> dict[str, Any]:
        return {
            "said": "ends of quantiles",
            "mechanism": type(self.mechanism).__name__,
            "quantiles": [str(q) for q in self.mechanism.probabilities],
            "cells": self.mechanism.cells,
            "rows": str(Fraction(self.mechanism.rows, self.mechanism.unit)),
            "epsilon": str(self.mechanism.epsilon),
        }
