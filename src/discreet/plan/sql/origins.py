"""What a SELECT stands on below all of its sub-queries: a relation of rows, and the columns that are in scope over it.

A sub-query that filters rows and computes columns of each is put in the place of its name, and is no relation of its own. What is one has
an origin: a declared table, and whatever makes rows of other rows. Which columns are read of it is known at the end, when all of the
text that stands on it was read; only then is the relation made.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from discreet.plan.catalog import Table
from discreet.plan.relation import Filled, Rows, Scan, Typed
from discreet.plan.scalar import Column, Literal, by_name
from discreet.plan.scope import Scope, fillable


class Origin(Protocol):
    """Rows that can be selected from."""

    @property
    def name(self) -> str:
        """What it is called where nobody calls it otherwise."""

    def scope(self, called: str) -> Scope:
        """The columns that can be named over it, where it is called so."""

    def rows(self, read: Iterable[Column], person: str | None) -> Rows:
        """The relation of its rows, of which these columns are read, and the one that says who a person is."""


@dataclass(frozen=True, slots=True)
class DeclaredTable:
    """The rows of a declared table. What is stored as a text is read as what a survey told, and what is declared never to be missing is
    not.
    """

    table: Table

    @property
    def name(self) -> str:
        return self.table.name

    def scope(self, called: str) -> Scope:
        return Scope.of(self.table, called)

    def rows(self, read: Iterable[Column], person: str | None) -> Rows:
        scope, used = self.scope(self.name), set(read)
        if person is not None:
            used.add(scope.column(scope.named(person)))
        columns = tuple(sorted(used, key=by_name))
        stored = {each: scope.field(each).stored for each in columns}
        scan = Scan(self.name, tuple(Column(each.name, kind or each.type, each.table) for each, kind in stored.items()))
        typed = tuple(each for each, kind in stored.items() if kind)
        rows: Rows = Typed(scan, typed) if typed else scan
        middles = {scope.column(each): each.facts.middle for each in fillable(scope, person)}
        values = tuple((each, Literal(middles[each], each.type)) for each in columns if each in middles)
        return Filled(rows, values) if values else rows
