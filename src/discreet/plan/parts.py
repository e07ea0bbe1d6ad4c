"""Rows of the people in one part, and what a relation that is made of them depends on."""

from dataclasses import dataclass

from discreet.plan.joins import PublicJoin
from discreet.plan.partition import Part
from discreet.plan.relation import Filled, Relation, Rows, Scan, Typed, children, rows_from, walk
from discreet.plan.scalar import Column, Comparison, Literal, Order, Scalar


@dataclass(frozen=True, slots=True)
class InPart(Rows):
    """The rows of people all of whose rows in `members` have the value `key` in `column`, and who have a row there.

    `members` is of the table whose column names parts, read in the same snapshot as `source`, which is of a declared table. Rows without
    a person are nobody's, and left out. Where each row is a unit of its own, `person` is None, and a row is in the part that it names.
    """

    source: Rows
    person: Column | None
    members: Scan
    column: Column
    key: Literal

    @property
    def part(self) -> Part:
        return Part(self.members.table, self.column.name, str(self.key.value))

    @property
    def all_in(self) -> Scalar:
        """What is true of a row of somebody in the part."""
        return Comparison(Order.EQUAL, self.column, self.key)


@children.register
def _children(relation: InPart) -> tuple[Relation, ...]:
    return (relation.source, relation.members)


@rows_from.register
def _rows(relation: InPart) -> Relation | None:
    return relation.source


def part_of(relation: Relation) -> Part | None:
    """The part outside of which nobody changes the relation; None where there is no such part.

    For any data, adding, removing or changing whoever is not in the part, before and after, leaves the relation what it is: all that it
    reads of tables about people stands below `InPart`.
    """
    match relation:
        case InPart(source=source):
            return relation.part if of_a_table(source) else None
        case PublicJoin(source=source):
            return part_of(source)
    parts = {part_of(child) for child in children(relation)}
    return parts.pop() if len(parts) == 1 else None


def memberships(relation: Relation) -> frozenset[tuple[object, ...]]:
    """How it is decided who is in the part, wherever a relation asks for that."""
    asked = (each for each in walk(relation) if isinstance(each, InPart))
    return frozenset((each.person, each.members, each.column, each.key) for each in asked)


def of_a_table(source: Rows) -> bool:
    return isinstance(source, Scan) or (isinstance(source, Typed | Filled) and of_a_table(source.source))
