"""Rows that are joined with others: with those of a public table, or of another table about the same people.

The rows of a join are those of its source, with columns more: its own are named as they were, the others together with what their
relation is called. So whose rows they are, and who a person is, is what it was in the source.
"""

from dataclasses import dataclass

from discreet.plan.relation import Relation, Rows, children, rows_from
from discreet.plan.scalar import Column


@dataclass(frozen=True, slots=True)
class PublicJoin(Rows):
    """Rows, each with the columns of the one row of a public table that has its values in `on`: pairs of own columns and columns there.

    NULL is equal to nothing. A row that matches none is left out, or with `outer` has NULL in the columns of the other table. `digest` is
    that of the public table in which no two rows are alike in these columns.
    """

    source: Rows
    public: Rows
    called: str
    on: tuple[tuple[Column, Column], ...]
    outer: bool
    digest: str


@dataclass(frozen=True, slots=True)
class KeepRows(Rows):
    """The rows of which each person has at most so many: those with the smallest priorities, of the person and what `columns` hold.

    Ties are broken by the values themselves, so that rows of which one is kept and the other is not differ in what is read of them, or
    are the same. Rows without a person are left out.
    """

    source: Rows
    person: Column
    columns: tuple[Column, ...]
    most: int


@dataclass(frozen=True, slots=True)
class PersonJoin(Rows):
    """Each row together with each row of the same person in another relation; with `outer` also alone, where the person has none there.

    `persons` are the columns that say who a row is about, of the source and of the other relation.
    """

    source: Rows
    other: Rows
    called: str
    persons: tuple[Column, Column]
    outer: bool


@children.register
def _children_of_a_public_join(relation: PublicJoin) -> tuple[Relation, ...]:
    return (relation.source, relation.public)


@children.register
def _children_of_kept_rows(relation: KeepRows) -> tuple[Relation, ...]:
    return (relation.source,)


@children.register
def _children_of_a_person_join(relation: PersonJoin) -> tuple[Relation, ...]:
    return (relation.source, relation.other)


@rows_from.register
def _rows_of_a_join(relation: PublicJoin | PersonJoin) -> Relation | None:
    return relation.source
