"""What an engine counts: how many units are in each cell. It is exact, and only a draw looks at it.

A person counts with one of their rows, the one with the smallest priority, which is made of the person, of all that the row holds and of a
salt; where each row is a unit, each counts. Which row that is does not depend on what is asked about, so that the counts by some
attributes are the sums of those by more of them. It depends on nobody else: a unit that comes or goes moves one count, by one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.cells import Attribute, CellCounts
from discreet.curator.table.codes import code_of
from discreet.errors import Fault
from discreet.plan.catalog import Table
from discreet.plan.computed import Computed
from discreet.plan.joins import KeepRows
from discreet.plan.relation import ONE, Contributions, Filter, Found, How, Rows, Term, Totals
from discreet.plan.scalar import And, Column, IsNull, Not, Type, by_name
from discreet.plan.scope import Scope
from discreet.plan.sql.origins import DeclaredTable

COMPUTED = "computed"
"""The table of columns that are computed, which is none."""


@dataclass(frozen=True, slots=True)
class Units:
    """The rows of a table, of which each unit has one; `person` says who a row is about (None: each row is a unit)."""

    table: Table
    person: str | None

    def rows(self) -> Rows:
        """One row of each unit."""
        scope = Scope.of(self.table)
        columns = tuple(sorted((scope.column(each) for each in scope.fields), key=by_name))
        rows = DeclaredTable(self.table).rows(columns, self.person)
        if self.person is None:
            return rows
        return KeepRows(rows, scope.column(scope.named(self.person)), columns, 1)

    def column(self, name: str) -> Column:
        """The column of an attribute."""
        scope = Scope.of(self.table)
        return scope.column(scope.named(name))

    def by_cell(self, attributes: Sequence[Attribute]) -> Totals:
        """How many units are in each cell; who is in none is left out."""
        rows = self.rows()
        cells = tuple(Column(f"cell {i}", Type.INTEGER, COMPUTED) for i in range(len(attributes)))
        for cell, attribute in zip(cells, attributes, strict=True):
            rows = Computed(rows, cell, code_of(attribute, self.column(attribute.name)))
        there = tuple(Not(IsNull(cell)) for cell in cells)
        rows = Filter(rows, there[0] if len(there) == 1 else And(there))
        if self.person is None:
            return Totals(rows, cells, (Term(How.SUM, ONE),))
        return Totals(Contributions(rows, self.column(self.person), cells, (Term(How.ANY, ONE),)))


def counted(found: Found, attributes: Sequence[Attribute]) -> CellCounts:
    """The counts that an engine found."""
    shape = tuple(each.size for each in attributes)
    if len(found.totals) != 1 or found.totals[0].dtype != np.int64:
        raise Fault("an engine returned totals that are not 64-bit integers", code="engine")
    codes = np.array(found.keys, np.int64).reshape(-1, len(shape))
    if ((codes < 0) | (codes >= np.array(shape))).any():
        raise Fault("an engine returned the number of a cell that there is not", code="engine")
    return CellCounts(shape, codes, found.totals[0])
