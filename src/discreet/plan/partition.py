"""Parts of the people, as they are declared: a table, a column of it, and the values that name a part each.

A part has those people all of whose rows in the table have its value. Whoever has several values, or a row without one, or no row there,
is in no part.
"""

from dataclasses import dataclass
from typing import NamedTuple

from discreet.errors import Invalid, QueryError
from discreet.exact import shown
from discreet.plan.scalar import Literal, Type

TYPES = (Type.TEXT, Type.INTEGER)
"""The types of a column that can name parts: those whose values a policy writes as names."""


@dataclass(frozen=True, slots=True)
class Partition:
    """The column that says in which part a person is, as its table spells it, and the names of the parts."""

    table: str
    column: str
    kind: Type
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.kind not in TYPES:
            raise Invalid(
                f"column {self.column!r} is {self.kind.value}, and parts are named by a column of texts or integers",
                code="parts",
                hint="name another column under [parts]",
            )
        if not self.names:
            raise Invalid("parts have budgets, and none is named", code="parts", hint="add [parts.budgets]")

    def key(self, name: object) -> Literal:
        """The value that a part is named by; QueryError where there is no such part."""
        if not isinstance(name, str) or name not in self.names:
            raise QueryError(
                f"there is no part {shown(name)}",
                code="part",
                hint=f"the parts of {self.table} by {self.column} are {', '.join(map(repr, self.names))}",
            )
        return Literal(int(name) if self.kind is Type.INTEGER else name, self.kind)


class Part(NamedTuple):
    """One part of the people."""

    table: str
    column: str
    name: str

    def __str__(self) -> str:
        return f"{self.table}.{self.column} = {self.name!r}"
