"""Rows of people in a part as SQL: those of whoever is found in the part by all of their rows, in the same statement as the question.

Where an engine has numbered the people of the table that says so, and the rows are of that table, people are told apart by their numbers,
and of a slice of them only these are looked at: all rows of a person are in one.
"""

from sqlglot import exp

from discreet.engines.render.nodes import E, T, binary, call, is_null, named, select
from discreet.engines.render.relations import Writer, rows_of, sum_of
from discreet.engines.render.scalars import ScalarWriter
from discreet.plan.parts import InPart
from discreet.plan.relation import base_of
from discreet.plan.scalar import Indicator


@rows_of.register
def _in_part(relation: InPart, writer: Writer) -> tuple[ScalarWriter, E, list[E]]:
    over, base, where = rows_of(relation.source, writer)
    if relation.person is None:
        return over, base, [*where, over.clean(relation.all_in).sql]
    number = _number(relation, writer)
    person = over.clean(relation.person).sql if number is None else named(number)
    members = exp.Subquery(this=_members(relation, writer, number))
    return over, base, [*where, exp.Paren(this=exp.In(this=person, query=members))]


def _number(relation: InPart, writer: Writer) -> str | None:
    """The column that numbers the people of both the rows and the members; None where there is no such one."""
    stored, member = writer.stored[relation.members.table], relation.members.columns[0]
    same = base_of(relation.source).table == relation.members.table
    return stored.number if same and stored.person == member.name else None


def _members(relation: InPart, writer: Writer, number: str | None) -> E:
    """Who is in the part: as many of their rows name it as they have. Told apart by their values they are read whole, in every slice."""
    whole = Writer(writer.stored, writer.words, parameters=writer.parameters, lists=writer.lists)
    over, base, where = rows_of(relation.members, whole)
    person = over.clean(relation.members.columns[0]).sql if number is None else named(number)
    if number is not None and writer.sliced:
        where += writer.slice(person, T.INT)
    there = exp.Paren(this=exp.Not(this=is_null(person.copy())))
    all_in = binary(exp.EQ, call("count", exp.Star()), sum_of(Indicator(relation.all_in), over))
    return select([person], over.over(base), where=[*where, there], group=[person.copy()], having=all_in)
