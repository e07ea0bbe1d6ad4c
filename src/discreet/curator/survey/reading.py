"""What a survey has an engine count, exactly: relations that there are for questions too. None of it is released as it is.

A person with several rows is in a count once, and in a histogram of values with one cell, or with a few keys, which priorities choose.
Where each row is a unit of its own, it is in one cell as it stands.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.curator.survey.ladder import cell_of
from discreet.curator.survey.prices import KEYS
from discreet.errors import Fault
from discreet.mechanisms.additive import Ints
from discreet.plan.combination import Combination
from discreet.plan.computed import Computed
from discreet.plan.relation import (
    CapGroups,
    Contributions,
    Filter,
    Found,
    How,
    Rows,
    Scan,
    Term,
    Totals,
    terms_of,
)
from discreet.plan.scalar import (
    And,
    Cast,
    Column,
    Comparison,
    Function,
    In,
    Indicator,
    IsNull,
    Literal,
    Not,
    Order,
    Scalar,
    Type,
)
from discreet.plan.totals import ALL_ROWS, Run, combined_totals

ONE = Literal(1, Type.INTEGER)
COMPUTED = "computed"
"""The table of columns that are computed, which is none."""

LONGEST_KEY = 64
"""Code points of a text that may be a key; a longer one is none."""

LOOKS = (Type.NUMBER, Type.DATE, Type.BOOLEAN)
"""What the values of a column may look like, in the order of the counts of those that do not."""


@dataclass(frozen=True, slots=True)
class Surveyed:
    """A table, who its rows are about (None: each row is a unit), and the columns that are asked about; none of these is declared."""

    table: str
    person: Column | None
    columns: tuple[Column, ...]

    def scan(self, *columns: Column) -> Scan:
        """The rows, with the person."""
        read = columns if self.person is None else (self.person, *columns)
        return Scan(self.table, tuple(dict.fromkeys(read)))

    def totals(self, rows: Rows, keys: Sequence[Scalar], values: Sequence[Scalar], most: int | None = None) -> Totals:
        """Of each group how many people have a row there on which each value is 1, in at most so many groups; or how many rows."""
        if self.person is None:
            return Totals(rows, tuple(keys), tuple(Term(How.SUM, value) for value in values))
        terms = tuple(Term(How.ANY, value) for value in values)
        gathered = Contributions(rows, self.person, tuple(keys), terms)
        return Totals(gathered if most is None else CapGroups(gathered, most))


def looks(surveyed: Surveyed) -> Totals:
    """How many people there are; and for each column how many have a value, and one that is no number, no date, no boolean."""
    values: list[Scalar] = [ONE]
    for column in surveyed.columns:
        there = Not(IsNull(column))
        values.append(Indicator(there))
        values += [Indicator(And((there, IsNull(Cast(column, kind))))) for kind in LOOKS]
    return surveyed.totals(surveyed.scan(*surveyed.columns), (), values)


def looked(run: Run, surveyed: Surveyed, salt: int) -> Ints:
    """These counts, in their order."""
    query = looks(surveyed)
    plain = [Combination.plain(place) for place in range(len(terms_of(query)))]
    return np.array([int(each[0]) for each in combined_totals(plain, query, ALL_ROWS, run(query, salt))], np.int64)


def by_cell(surveyed: Surveyed, column: Column, kind: Type, edges: Sequence[float]) -> Totals:
    """How many people have a value in each cell between edges; a person is in one of theirs, by priority."""
    value, cell = Column("value", kind, COMPUTED), Column("cell", Type.INTEGER, COMPUTED)
    rows = Filter(Computed(surveyed.scan(column), value, Cast(column, kind)), Not(IsNull(value)))
    return surveyed.totals(Computed(rows, cell, cell_of(value, edges, kind)), (cell,), (ONE,), most=1)


def in_cells(run: Run, query: Totals, cells: int, salt: int) -> Ints:
    """The counts of cells 0, 1, …"""
    found = _groups(run(query, salt))
    return np.array([found.get(cell, 0) for cell in range(cells)], np.int64)


def by_key(surveyed: Surveyed, column: Column, kind: Type) -> Totals:
    """How many people have each value; a person is in KEYS of theirs at most, by priority."""
    rows, key = _keyed(surveyed, column, kind)
    return surveyed.totals(Filter(rows, _short(key)), (key,), (ONE,), most=KEYS)


def among(surveyed: Surveyed, column: Column, kind: Type, names: Sequence[Any]) -> tuple[Rows, Column]:
    """The rows with one of these keys, which were released; and what has the key."""
    rows, key = _keyed(surveyed, column, kind)
    return Filter(rows, In(key, tuple(Literal(name, kind) for name in names))), key


def _keyed(surveyed: Surveyed, column: Column, kind: Type) -> tuple[Rows, Column]:
    if kind is Type.TEXT:
        return surveyed.scan(column), column
    key = Column("key", kind, COMPUTED)
    return Computed(surveyed.scan(column), key, Cast(column, kind)), key


def _short(key: Column) -> Scalar:
    """Whether a value may be a key."""
    if key.type is not Type.TEXT:
        return Not(IsNull(key))
    return Comparison(Order.LESS_OR_EQUAL, Function("length", (key,)), Literal(LONGEST_KEY, Type.INTEGER))


def by_name(run: Run, query: Totals, salt: int) -> dict[Any, int]:
    """The counts of keys, by name."""
    return _groups(run(query, salt))


def _groups(found: Found) -> dict[Any, int]:
    if len(found.totals) != 1 or found.totals[0].dtype != np.int64:
        raise Fault("an engine returned totals that are not 64-bit integers", code="engine")
    return {keys[0]: int(count) for keys, count in zip(found.keys, found.totals[0], strict=True)}
