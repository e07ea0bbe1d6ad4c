"""Rows of people in a part as SQL: those of whoever is found in the part by all of their rows, in the same statement as the question."""

from sqlglot import exp

from discreet.engines.render.nodes import E, binary, call, is_null, select
from discreet.engines.render.relations import Writer, rows_of, sum_of
from discreet.engines.render.scalars import ScalarWriter
from discreet.plan.parts import InPart
from discreet.plan.scalar import Indicator


@rows_of.register
def _in_part(relation: InPart, writer: Writer) -> tuple[ScalarWriter, E, list[E]]:
    over, base, where = rows_of(relation.source, writer)
    if relation.person is None:
        return over, base, [*where, over.clean(relation.all_in).sql]
    person = over.clean(relation.person).sql
    return (
        over,
        base,
        [*where, exp.Paren(this=exp.In(this=person, query=exp.Subquery(this=_members(relation, writer))))],
    )


def _members(relation: InPart, writer: Writer) -> E:
    """Who is in the part: as many of their rows name it as they have. These are read whole, whatever slice is asked about."""
    whole = Writer(writer.stored, writer.words, parameters=writer.parameters, lists=writer.lists)
    over, base, where = rows_of(relation.members, whole)
    person = over.clean(relation.members.columns[0]).sql
    there = exp.Paren(this=exp.Not(this=is_null(person.copy())))
    all_in = binary(exp.EQ, call("count", exp.Star()), sum_of(Indicator(relation.all_in), over))
    return select([person], over.over(base), where=[*where, there], group=[person.copy()], having=all_in)
