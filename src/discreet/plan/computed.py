"""Rows with a column more, which is computed of the others: once for each row, however often it is looked at."""

from dataclasses import dataclass

from discreet.plan.relation import Relation, Rows, children
from discreet.plan.scalar import Column, Scalar


@dataclass(frozen=True, slots=True)
class Computed(Rows):
    """All rows, each with the value of an expression in a column of its own.

    The column is of a table that is none, so that no other has its name.
    """

    source: Rows
    column: Column
    value: Scalar


@children.register
def _children_of_computed(relation: Computed) -> tuple[Relation, ...]:
    return (relation.source,)
