"""What people count with, by value, as SQL: their rows are counted by value, beside what the caps left of them."""

from sqlglot import exp

from discreet.engines.render.masks import PERSON
from discreet.engines.render.nodes import (
    E,
    T,
    alias,
    binary,
    call,
    cast,
    chain,
    is_null,
    named,
    select,
    subquery,
    table,
    when,
)
from discreet.engines.render.relations import HASH, ROWS, Writer, grouped_key, key, people_of, total
from discreet.plan.apportioned import Apportioned
from discreet.plan.evaluate import largest
from discreet.plan.relation import MOST_ROWS, CapRows, CapTotal, Contributions, contributions_of, walk

PART, SOME, ALL = "part ", "some rows", "all rows"
MOST = 1 << 62


@people_of.register
def _apportioned(relation: Apportioned, writer: Writer, rows: bool = False) -> E:
    """Within a cap on rows alone all that a person counts with is told by their own rows in the group, and nothing need be joined."""
    if isinstance(relation.source, Contributions | CapRows):
        return _together(relation, relation.source, writer)
    return _joined(relation, writer)


def _together(relation: Apportioned, source: Contributions | CapRows, writer: Writer) -> E:
    contributions = contributions_of(relation)
    last, people = len(contributions.keys), writer.of_people(contributions)
    columns, group = writer.columns(contributions, people, caps=True)
    value = grouped_key(relation.value, people.over).grouped
    columns += [alias(value, key(last)), alias(cast(call("count", exp.Star()), T.BIGINT), SOME)]
    counted = select(columns, people.over.over(people.base), where=people.where, group=[*group, value.copy()])
    there = exp.Paren(this=exp.Not(this=is_null(named(key(last)))))
    names = [PERSON, *(key(i) for i in range(last))]
    totals = {name: named(name) for name in (ROWS, *(total(i) for i in range(len(contributions.terms))))}
    totals |= {ALL: when([(there.copy(), named(SOME))])}
    sums = [
        alias(cast(exp.Window(this=call("sum", each), partition_by=[*map(named, names)]), T.BIGINT), name)
        for name, each in totals.items()
    ]
    beside = [key(last), SOME, *([HASH] if people.hash is not None else [])]
    whole: E = select([*map(named, (*names, *beside)), *sums], subquery(counted, "counted"))
    if isinstance(source, CapRows):
        whole = writer.capped(contributions, whole, source.most, beside=(*beside[:2], ALL))
    shares = [alias(_share(relation, i, writer), total(i)) for i in range(len(contributions.terms))]
    return select([*map(named, names), named(key(last)), *shares], subquery(whole, "parts"), where=[there])


def _joined(relation: Apportioned, writer: Writer) -> E:
    contributions = contributions_of(relation)
    last = len(contributions.keys)
    names = [PERSON, *(key(i) for i in range(last))]
    counted = _counted(relation, writer)
    together = exp.Window(this=call("sum", named(SOME)), partition_by=[named(PART + name) for name in names])
    columns = [*(named(PART + name) for name in names), named(key(last)), named(SOME)]
    there = exp.Paren(this=exp.Not(this=is_null(named(key(last)))))
    parts = select([*columns, alias(cast(together, T.BIGINT), ALL)], subquery(counted, "counted"), where=[there])
    same = [binary(exp.NullSafeEQ, named(name), named(PART + name)) for name in names[1:]]
    on = chain(exp.And, [binary(exp.EQ, named(PERSON), named(PART + PERSON)), *same])
    shares = [alias(_share(relation, i, writer), total(i)) for i in range(len(contributions.terms))]
    joined = select(
        [*map(named, names), named(key(last)), *shares],
        table("parts"),
        join=exp.Join(this=subquery(people_of(relation.source, writer), "kept"), on=on),
    )
    return writer.words.with_tables(joined, parts=parts)


def _counted(relation: Apportioned, writer: Writer) -> E:
    """How many rows each person has with each value in each group, rows without one apart."""
    contributions = contributions_of(relation)
    people = writer.of_people(contributions)
    keys = [grouped_key(each, people.over).grouped for each in contributions.keys]
    value = grouped_key(relation.value, people.over).grouped
    columns = [alias(people.person, PART + PERSON)]
    columns += [alias(each, PART + key(i)) for i, each in enumerate(keys)]
    columns += [alias(value, key(len(keys))), alias(cast(call("count", exp.Star()), T.BIGINT), SOME)]
    group = [people.person.copy(), *(each.copy() for each in keys), value.copy()]
    return select(columns, people.over.over(people.base), where=people.where, group=group)


def _share(relation: Apportioned, place: int, writer: Writer) -> E:
    """floor(t·n_v/n), in wide integers where the product might not fit 64 bits."""
    t, part, whole = named(total(place)), named(SOME), named(ALL)
    if _narrow(relation, place):
        return writer.words.int_div(binary(exp.Mul, t, part), whole)
    wide = writer.words.wide
    return cast(writer.words.int_div(binary(exp.Mul, wide(t), wide(part)), wide(whole)), T.BIGINT)


def _narrow(relation: Apportioned, place: int) -> bool:
    """Whether what a person counts with, times any number of rows, surely fits 64 bits."""
    caps = [part.most for part in walk(relation.source) if isinstance(part, CapRows | CapTotal)]
    steps = largest(contributions_of(relation).terms[place].value)
    return bool(caps) and min(caps) * steps * MOST_ROWS <= MOST
