"""A table of a curator whose units are in cells: what `discreet.weights` learns histograms of, without knowing a curator."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from discreet.cells import Attribute, CellCounts
from discreet.curator.table.attributes import Attributes
from discreet.curator.table.condition import Conditions
from discreet.curator.table.counting import Units, counted
from discreet.curator.table.query import Asker, Built, Query
from discreet.curator.table.statistical import asked
from discreet.errors import Fault, Invalid
from discreet.mechanisms.guarded import Guarded
from discreet.mechanisms.measure import Measure
from discreet.plan.build.expression import Expression
from discreet.plan.catalog import Catalog
from discreet.plan.sql.parameters import Parameters
from discreet.plan.totals import Run
from discreet.plan.visible import visible

REMEMBERED = 8
"""So many lists of attributes have their counts remembered, in the memory of this process alone."""


class ProtectedTable(Built):
    """Units in cells, and columns that questions are built from: `visits.where(visits.age >= 18).agg(n=dp.count())`.

    The unit of cells is the person, with one row each, which a priority chooses; or each row, where rows are protected. It is in one
    cell of each attribute, or in none where it has no cell for its value. So one that comes or goes moves one count by 1, and one that
    is replaced moves two at most. A column is `visits.age`, or `visits["age"]` where the table has something else of that name.
    """

    def __init__(
        self,
        name: str,
        catalog: Catalog,
        measure: Measure,
        run: Run,
        salt: int,
        asker: Asker | None = None,
        analyst: str | None = None,
    ) -> None:
        found = catalog.table(name)
        if found.public is not None:
            names = ", ".join(each.name for each in catalog.private)
            raise Invalid(
                f"table {found.name!r} is public and about nobody: there is nothing to protect in it",
                code="cells",
                hint=f"look at it where it lies, or name one of {names}",
            )
        self.name, self.relation, self.measure = found.name, catalog.protected.relation, measure
        self.people = catalog.protected.people  # about how many, as it is declared or surveyed; None where nobody did
        self._run, self._salt = run, salt
        self._columns, self._asker, self._analyst = tuple(each.name for each in found.columns), asker, analyst
        self._catalog = catalog
        self._conditions = Conditions(found.name, catalog)
        self._attributes = Attributes(found, catalog.protected.person)
        self._units = Units(found, catalog.protected.person)
        self._last: tuple[Attribute, ...] | None = None
        self._remembered: dict[tuple[Attribute, ...], CellCounts] = {}

    def attributes(self, asked: Any = None) -> tuple[Attribute, ...]:
        """The attributes that are asked for, by names or with their cells, as they are declared or surveyed; never as the data have them.

        {"ward": None, "age": 10, "bmi": [0, 18.5, 25, 60]}: as it is declared; ten equal bins between the bounds; bins between edges.
        A text "age=10" says both. What nobody declared or surveyed is refused, unless it is given. Without names all that is known.
        """
        found = self._last = self._attributes.read(asked)
        return found

    def statistical(
        self,
        *queries: str | Expression,
        mean: bool = False,
        per: str = "row",
        limits: Mapping[str, int] | None = None,
    ) -> Query:
        """Statistical queries of the rows, to be previewed or asked; `Curator.statistical` says what they are.

        `limits` are those that they will be asked with, {"max_rows": 2}, beside what the policy declares: how several queries are
        answered at once goes by them.
        """
        limited = replace(self._catalog, protected=self._catalog.protected.limited(**limits or {}))
        return asked(self._query(), limited, queries, mean, per)

    def _checked(self, attributes: Sequence[Attribute]) -> tuple[Attribute, ...]:
        """Attributes of this table; those that it gave last are, and need not be looked at again for each of many conditions."""
        last = self._last
        return last if last is not None and attributes is last else self.attributes(attributes)

    def counts(self, attributes: Sequence[Attribute]) -> Callable[[], CellCounts]:
        """The exact counts by these attributes, for a draw to look at, and for nobody else."""
        return Guarded(partial(self._counts, self._checked(attributes)))

    def cells(self, condition: str, attributes: Sequence[Attribute], params: Parameters = None) -> NDArray[np.bool_]:
        """The cells on which a condition of SQL is true: an axis for each attribute, of length 1 where the condition does not name it.

        What is true for a part of a cell only is refused, and says which edge is lacking. No data is read.
        """
        return self._conditions.mask(condition, self._checked(attributes), params)

    def _counts(self, attributes: tuple[Attribute, ...]) -> CellCounts:
        """Read once for each list. Whatever goes wrong, after something was charged, is one constant error."""
        found = self._remembered.get(attributes)
        if found is None:
            try:
                found = counted(self._run(self._units.by_cell(attributes), self._salt), attributes)
            except Exception:  # raised anew below, outside of this block, so that nothing of it can be reached
                found = None
        if found is None:
            raise Fault(
                "the counts could not be computed; what was charged stays charged",
                code="failed",
                hint="ask the owner to look at the data and the machine",
            )
        while len(self._remembered) >= REMEMBERED:
            self._remembered.pop(next(iter(self._remembered)))
        self._remembered[attributes] = found
        return found

    def __repr__(self) -> str:
        columns = ", ".join(visible(each.name) for each in self._units.table.columns)
        return f"ProtectedTable({visible(self.name)}: {columns}; {self.relation})"

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError(
            "a table of a curator cannot be copied or pickled: its data and its budget are kept in one place"
        )

    __copy__ = __deepcopy__ = __reduce__ = __reduce_ex__ = _refuse
