"""Who is protected against what: the neighbour relation and the unit of privacy.

A guarantee without its relation means nothing: replacing a person costs what removing one and adding another
costs. Leaves of the accounting carry no relation, they hold for the one under which their sensitivity was computed;
what was computed under a relation is tagged with it, and two different tags never compose.
"""

from dataclasses import dataclass
from enum import Enum

from discreet.errors import Invalid
from discreet.exact import shown


class Adjacency(Enum):
    """What turns one data set into its neighbour."""

    ADD_REMOVE = "add-remove"
    REPLACE = "replace"


class Unit(Enum):
    """Whose presence is hidden: one row, or one person with all their rows."""

    ROW = "row"
    PERSON = "person"


@dataclass(frozen=True, slots=True)
class Relation:
    """A tag. `unit` is None where it was not said, as for sampling, which is about whatever is sampled."""

    adjacency: Adjacency
    unit: Unit | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.adjacency, Adjacency):
            raise Invalid(f"adjacency must be an Adjacency, got {shown(self.adjacency)}")
        if not isinstance(self.unit, Unit | None):
            raise Invalid(f"unit must be a Unit or None, got {shown(self.unit)}")

    def __str__(self) -> str:
        return self.adjacency.value if self.unit is None else f"{self.adjacency.value} one {self.unit.value}"


def cells_moved(relation: Relation) -> int:
    """How many cells of a histogram a unit moves that is in one: whoever is replaced leaves one and enters another."""
    return 2 if relation.adjacency is Adjacency.REPLACE else 1


def joined(first: Relation | None, second: Relation | None) -> Relation | None:
    """The tag of a composition: untagged goes with anything, two different tags raise."""
    if first is None or second is None:
        return first or second
    if first.adjacency is not second.adjacency or (first.unit and second.unit and first.unit is not second.unit):
        raise Invalid(
            f"a guarantee under '{first}' cannot be composed with one under '{second}'",
            code="relation",
            hint="compute both under the same neighbour relation and unit",
        )
    return Relation(first.adjacency, first.unit or second.unit)
