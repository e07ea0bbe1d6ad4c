"""The names that a sub-query gives, and what each means over the row of the table below."""

from dataclasses import dataclass

from discreet.errors import QueryError
from discreet.plan.catalog import suggestion
from discreet.plan.scalar import Column, Scalar


@dataclass(frozen=True, slots=True)
class Item:
    """A column of a sub-query: its name, empty where it has none; its meaning, and the columns that are read for it.

    Of a join it has the name of its table too, and may be hidden: then it is meant where that is named alone.
    """

    name: str
    meaning: Scalar
    columns: tuple[Column, ...]
    table: str = ""
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """All columns of a sub-query, or of a join, as it is called where it was written. Names are told apart without regard to case."""

    called: str
    items: tuple[Item, ...]

    @property
    def tables(self) -> tuple[str, ...]:
        """What may stand before the dot of a name."""
        return tuple(dict.fromkeys(each.table or self.called for each in self.items)) or (self.called,)

    def matches(self, name: str, table: str = "") -> list[Item]:
        """All columns that a name can mean, of a table where one is named."""
        alike = (each for each in self.items if each.name and each.name.casefold() == name.casefold())
        return [each for each in alike if self.has(each, table)]

    def has(self, item: Item, table: str) -> bool:
        """Whether a column is meant by names of a table, or where none is named."""
        return (item.table or self.called).casefold() == table.casefold() if table else not item.hidden

    def named(self, name: str, table: str = "") -> Item:
        """The column of a name; raises QueryError where there is none, or more than one."""
        matches = self.matches(name, table)
        if len(matches) == 1:
            return matches[0]
        if len({each.table for each in matches}) > 1:
            raise QueryError(
                f"column {name!r} is in tables {' and '.join(repr(each.table) for each in matches)}",
                code="ambiguous-name",
                hint=f"say which is meant: {matches[0].table}.{matches[0].name}",
            )
        if matches:
            raise QueryError(
                f"column {name!r} is twice in {self.called!r}",
                code="ambiguous-name",
                hint="give each column of the sub-query a name of its own",
            )
        names = [each.name for each in self.items if each.name and (not table or each.table in ("", table))]
        joined = any(each.table for each in self.items)
        where = f"tables {' and '.join(map(repr, self.tables))}" if joined else repr(self.called)
        raise QueryError(
            f"column {name!r} not found in {where}{'' if joined else ', which has what its SELECT names'}",
            code="unknown-column",
            hint=suggestion(name, names, "its columns are") if names else "name columns there: SELECT age AS years",
        )
