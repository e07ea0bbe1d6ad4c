"""Which part of the people a question is about.

It is about a part where its conditions name that part and no other: `WHERE region = 'north'`, one of the conditions that must all be true
of a row. Then all that is read of tables about people is read of those in the part. Nothing else names one: not IN, not OR, not a condition
on what is joined or released, nor a column that is only called so. What names none is about everybody. Where no condition can name it,
whoever asks does, and then it is that one whatever the conditions are.
"""

from collections.abc import Iterator
from dataclasses import replace

from discreet.errors import Fault, QueryError
from discreet.exact import shown
from discreet.plan.catalog import Catalog
from discreet.plan.computed import Computed
from discreet.plan.joins import KeepRows, PersonJoin, PublicJoin
from discreet.plan.partition import Part, Partition
from discreet.plan.parts import InPart, of_a_table, part_of
from discreet.plan.question import Question
from discreet.plan.relation import Filled, Filter, PerPerson, Relation, Rows, Scan, Typed, own_rows, scans, walk
from discreet.plan.scalar import And, Column, Comparison, Literal, Order


def in_part(question: Question, catalog: Catalog, name: str | None = None) -> Question:
    """The question about the people of the part of this name, or of the one that its conditions name; else the question as it is."""
    partition = catalog.parts
    if name is not None and partition is None:
        raise QueryError(
            f"there is no part {shown(name)}: nobody declared parts", code="part", hint="add [parts] to the policy"
        )
    if partition is None:
        return question
    name = name if name is not None else _named(question.source, partition)
    if name is None:
        return question
    source = _within(question.source, catalog, partition, partition.key(name))
    return replace(question, source=source, remarks=(*question.remarks, _about(part_of(source), catalog)))


def _about(part: Part | None, catalog: Catalog) -> str:
    if part is None:
        raise Fault("a question about a part reads others, too", code="relation")
    person = catalog.protected.person
    if person is None:
        return f"this is about the part {part} alone, and is paid for there"
    return (
        f"this is about the part {part} alone, and is paid for there: each {person} counts whose rows in {part.table} all have it;"
        " people of several parts, or of none, are left out, and how many they are is not told"
    )


def _within(relation: Rows, catalog: Catalog, partition: Partition, key: Literal) -> Rows:
    """The relation of the rows of people in a part alone."""
    if of_a_table(relation):
        return _placed(relation, catalog, partition, key)
    match relation:
        case PublicJoin() | Filter() | Computed() | PerPerson() | KeepRows():
            return replace(relation, source=_within(relation.source, catalog, partition, key))
        case PersonJoin():
            source = _within(relation.source, catalog, partition, key)
            return replace(relation, source=source, other=_within(relation.other, catalog, partition, key))
    raise Fault(f"{type(relation).__name__} has no people of a part", code="relation")


def _placed(relation: Rows, catalog: Catalog, partition: Partition, key: Literal) -> InPart:
    person = catalog.protected.person
    column = Column(partition.column, partition.kind)
    (scan,) = scans(relation)
    if person is None:
        # the row itself tells in which part it is
        known = tuple(sorted({*scan.columns, column}, key=lambda each: each.name))
        relation = _scanning(relation, replace(scan, columns=known))
        return InPart(relation, None, Scan(partition.table, (column,)), column, key)
    there, here = (catalog.table(table).column(person) for table in (partition.table, scan.table))
    members = Scan(partition.table, (Column(there.name, there.type), column))
    return InPart(relation, Column(here.name, here.type), members, column, key)


def _scanning(relation: Rows, scan: Scan) -> Rows:
    if isinstance(relation, Typed):
        return replace(relation, source=scan)
    return replace(relation, source=_scanning(relation.source, scan)) if isinstance(relation, Filled) else scan


def _named(source: Rows, partition: Partition) -> str | None:
    """The one part that the conditions of a question name."""
    own = {name for part in own_rows(source) if isinstance(part, Filter) for name in _names(part, partition)}
    anywhere = {name for part in walk(source) if isinstance(part, Filter) for name in _names(part, partition)}
    return own.pop() if len(own) == 1 and own == anywhere else None


def _names(filter: Filter, partition: Partition) -> Iterator[str]:
    """The parts that a condition names: of those conditions that must all be true of a row."""
    for each in filter.condition.parts if isinstance(filter.condition, And) else (filter.condition,):
        match each:
            case Comparison(order=Order.EQUAL, left=Column() as column, right=Literal() as value):
                meant = _column_of(column, filter.source) == (partition.table, partition.column)
                if meant and value.type is partition.kind and str(value.value) in partition.names:
                    yield str(value.value)


def _column_of(column: Column, relation: Relation) -> tuple[str, str] | None:
    """The table and the column of it that a name over a relation means; None where it is computed, public, or not known."""
    match relation:
        case Scan():
            return (relation.table, column.name) if column in relation.columns else None
        case Typed(source=source) | Filled(source=source) | Filter(source=source) | KeepRows(source=source):
            return _column_of(column, source)
        case Computed(source=source):
            return None if column == relation.column else _column_of(column, source)
        case PersonJoin(other=other, called=called) if column.table == called:
            return _column_of(replace(column, table=""), other)
        case PublicJoin(called=called) if column.table == called:
            return None
        case PersonJoin(source=source) | PublicJoin(source=source):
            return _column_of(column, source)
        case PerPerson(source=source, keys=keys):
            meant = dict(keys).get(column)
            return _column_of(meant, source) if isinstance(meant, Column) else None
    return None
