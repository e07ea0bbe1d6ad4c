"""Exact counts and sums of rows, by an engine. They never leave the rehearsal that they are made for."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.engines.base import Engine
from discreet.plan.relation import How, Rows, Scan, Term, Totals
from discreet.plan.scalar import Column, Indicator, Literal, Scalar, Type, by_name, columns_in

ONE = Term(How.SUM, Literal(1, Type.INTEGER))
NO_SALT = 0
"""Rows are counted without priorities, which alone need a salt."""


@dataclass(frozen=True, slots=True)
class Counting:
    """An engine that has loaded the tables."""

    engine: Engine

    def totals(self, source: Rows, keys: Sequence[Scalar], terms: Sequence[Term]) -> dict[tuple[Any, ...], list[int]]:
        """The sum of each term over the rows of each group that there is; without keys over all rows."""
        sums = self.engine.run(Totals(source, tuple(keys), tuple(terms)), NO_SALT)
        columns = [column.tolist() for column in sums.totals]
        return {group: [column[i] for column in columns] for i, group in enumerate(sums.keys)}

    def counts(self, table: str, conditions: Iterable[Scalar]) -> list[int]:
        """How many rows of a table meet each condition; at least one condition reads a column."""
        terms = [Term(How.SUM, Indicator(condition)) for condition in conditions]
        used = set[Column]().union(*(columns_in(term.value) for term in terms))
        return self.totals(Scan(table, tuple(sorted(used, key=by_name))), (), terms)[()]

    def rows_of_each(self, source: Rows, keys: Sequence[Scalar]) -> dict[tuple[Any, ...], int]:
        """How many rows each group has."""
        return {group: rows for group, (rows,) in self.totals(source, keys, [ONE]).items()}
