"""The names that a sub-query gives, and what each means over the row of the table below."""

from dataclasses import dataclass

from discreet.errors import QueryError
from discreet.plan.catalog import suggestion
from discreet.plan.scalar import Column, Scalar


@dataclass(frozen=True, slots=True)
class Item:
    """A column of a sub-query: its name, empty where it has none; its meaning, and the columns that are read for it."""

    name: str
    meaning: Scalar
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class View:
    """All columns of a sub-query, as it is called where it was written. Names are told apart without regard to case."""

    called: str
    items: tuple[Item, ...]

    def matches(self, name: str) -> list[Item]:
        """All columns that a name can mean."""
        return [each for each in self.items if each.name and each.name.casefold() == name.casefold()]

    def named(self, name: str) -> Item:
        """The column of a name; raises QueryError where there is none, or more than one."""
        matches = self.matches(name)
        if len(matches) == 1:
            return matches[0]
        if matches:
            raise QueryError(
                f"column {name!r} is twice in {self.called!r}",
                code="ambiguous-name",
                hint="give each column of the sub-query a name of its own",
            )
        names = [each.name for each in self.items if each.name]
        raise QueryError(
            f"column {name!r} not found in {self.called!r}, which has what its SELECT names",
            code="unknown-column",
            hint=suggestion(name, names, "its columns are") if names else "name columns there: SELECT age AS years",
        )
