"""Take a survey: the noise of each draw before the data that it is for, and the next draw by what was released. Here exact meets noise."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.curator.survey import choosing, ladder, per_person, reading
from discreet.curator.survey.prices import FINE, OF_PEOPLE, OF_TOTAL, TERMS, PricedDraw, Prices
from discreet.curator.survey.reading import Surveyed
from discreet.curator.survey.record import ColumnFacts, KeyCounts, Ladder, NoisyNumber, Range
from discreet.mechanisms.additive import Ints
from discreet.mechanisms.measure import Grant
from discreet.plan.scalar import Column, Type
from discreet.plan.totals import Run

MOST_KEYS = 1_000
"""Of a column that are kept, those with most people first."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What was released of a table."""

    people: NoisyNumber
    rows: NoisyNumber | None
    rows_limit: int | None
    per_person: Ladder | None
    columns: tuple[ColumnFacts, ...]


@dataclass(frozen=True, slots=True)
class Taking:
    """A survey that is under way: the table, its prices, the engine, the right to draw, and a fresh salt."""

    surveyed: Surveyed
    prices: Prices
    run: Run
    grant: Grant
    salt: int

    def taken(self) -> Taken:
        """Both stages, in their order."""
        counts = self._drawn(self.prices.first, 1 + TERMS * len(self.surveyed.columns), self._looks)
        people = NoisyNumber(max(0.0, counts[0] / OF_PEOPLE), self.prices.first.error / OF_PEOPLE)
        per_person, rows, most = self._rows(people) if self.prices.several else (None, None, None)
        columns = tuple(
            self._column(column, counts[1 + TERMS * i : 1 + TERMS * (i + 1)])
            for i, column in enumerate(self.surveyed.columns)
        )
        return Taken(people, rows, most, per_person, columns)

    def _drawn(self, drawn: PricedDraw, size: int, exact: Callable[[], Ints]) -> list[float]:
        """A vector with its noise, which is drawn first; in counts."""
        add = self.grant.prepare(drawn.mechanism, drawn.sensitivity, size)
        return [int(each) / drawn.weight for each in add(exact() * drawn.weight)]

    def _looks(self) -> Ints:
        counts = reading.looked(self.run, self.surveyed, self.salt)
        counts[0] *= OF_PEOPLE
        return counts

    def _rows(self, people: NoisyNumber) -> tuple[Ladder, NoisyNumber, int]:
        """How many rows people have, and then how many rows there are, of which a person counts with as many as about everybody has."""
        drawn = self.prices.rows
        counts = self._drawn(
            drawn, len(ladder.ROWS) + 1, lambda: per_person.rows_per_person(self.run, self.surveyed, self.salt)
        )
        found = Ladder(ladder.ROWS, tuple(counts), drawn.deviation, people)
        most, total = found.limit(), self.prices.total
        add = self.grant.prepare(total.mechanism, total.sensitivity, 1)
        exact = per_person.rows_within(self.run, self.surveyed, most, self.salt)
        (steps,) = add(np.array([exact * OF_TOTAL * FINE // most], np.int64))
        return found, NoisyNumber(max(0.0, int(steps) * most / total.weight), total.error * most), most

    def _column(self, column: Column, counts: Sequence[float]) -> ColumnFacts:
        """What stage 2 asks of a column, by what stage 1 released of it."""
        present, *others = counts
        kind = choosing.type_of(present, others, self.prices.first.deviation)
        there = NoisyNumber(max(0.0, present), self.prices.first.error)
        if kind in (Type.NUMBER, Type.DATE):
            return ColumnFacts(column.name, kind, there, range=self._range(column, kind))
        counted = self._keys(column, kind)
        groups = self._groups(column, kind, counted)
        return ColumnFacts(column.name, kind, there, counted=counted, groups=groups)

    def _range(self, column: Column, kind: Type) -> Range | None:
        edges = ladder.outer(kind)
        rough = self._in_cells(self.prices.small, column, kind, edges)
        ends = choosing.outer_range(rough, edges, self.prices.small.deviation)
        if ends is None:
            return None
        edges = ladder.inner(*(ends if kind is Type.DATE else choosing.from_zero(*ends)), kind)
        # Who is outside of the outer range is in its first or its last bin.
        fine = self._in_cells(self.prices.large, column, kind, edges[1:-1])
        deviation = self.prices.large.deviation
        low, high = choosing.bounds(fine, edges, deviation)
        quantiles = choosing.quantiles(fine, edges, deviation)
        return Range(low, high, edges, tuple(fine), self.prices.large.error, quantiles)

    def _in_cells(self, drawn: PricedDraw, column: Column, kind: Type, edges: Sequence[float]) -> list[float]:
        cells, query = len(edges) + 1, reading.by_cell(self.surveyed, column, kind, edges)
        return self._drawn(drawn, cells, lambda: reading.in_cells(self.run, query, cells, self.salt))

    def _keys(self, column: Column, kind: Type) -> KeyCounts | None:
        rule, query = self.prices.keys, reading.by_key(self.surveyed, column, kind)
        if rule is None:
            return None
        kept: dict[Any, int] = self.grant(rule, 1, lambda: reading.by_name(self.run, query, self.salt))
        found = list(kept.items())[:MOST_KEYS]
        return KeyCounts(tuple((key, float(count)) for key, count in found), rule.error(), rule.threshold)

    def _groups(self, column: Column, kind: Type, counted: KeyCounts | None) -> Ladder | None:
        if counted is None or not counted.people or self.surveyed.person is None:
            return None
        names, drawn = [key for key, _ in counted.people], self.prices.small
        rungs = per_person.rungs_of(names)
        counts = self._drawn(
            drawn,
            len(rungs) + 1,
            lambda: per_person.groups_per_person(self.run, self.surveyed, column, kind, names, self.salt),
        )
        return Ladder(rungs, tuple(counts), drawn.deviation)
