"""Joins as SQL. Rows that are joined are selected from a derived table, in which the columns of the other side have names of their own."""

from dataclasses import replace

from sqlglot import exp

from discreet.engines.render.nodes import E, alias, bare_integer, binary, chain, is_null, named, select, subquery
from discreet.engines.render.relations import Writer, rows_of
from discreet.engines.render.scalars import Made, ScalarWriter
from discreet.engines.render.stored import StoredTable, Text
from discreet.engines.render.words import Words
from discreet.plan.joins import KeepRows, PersonJoin, PublicJoin
from discreet.plan.relation import Rows
from discreet.plan.scalar import Column

RANK = "rank"


@rows_of.register
def _public_join(relation: PublicJoin, writer: Writer) -> tuple[ScalarWriter, E, list[E]]:
    return _joined(relation.source, relation.public, relation.called, relation.on, relation.outer, writer)


@rows_of.register
def _person_join(relation: PersonJoin, writer: Writer) -> tuple[ScalarWriter, E, list[E]]:
    return _joined(relation.source, relation.other, relation.called, (relation.persons,), relation.outer, writer)


def _joined(
    source: Rows, other: Rows, called: str, on: tuple[tuple[Column, Column], ...], outer: bool, writer: Writer
) -> tuple[ScalarWriter, E, list[E]]:
    over, base, where = rows_of(source, writer)
    own = [over.clean(column).sql for column, _ in on]
    left = subquery(select([exp.Star()], over.over(base), where=where), "source")
    # the other side is read whole, whatever slice the rows of this one are of
    there, beside, conditions = rows_of(
        other, Writer(writer.stored, writer.words, parameters=writer.parameters, lists=writer.lists)
    )
    names = {place: f"{over.prefix}{called}.{place}" for place in there.columns}
    columns = [alias(there.columns[place].sql.copy(), name) for place, name in names.items()]
    right = subquery(select(columns, there.over(beside), where=conditions), "other")
    equal = [binary(exp.EQ, sql, named(names[column.place])) for sql, (_, column) in zip(own, on, strict=True)]
    join = exp.Join(this=right, on=chain(exp.And, equal), side="left" if outer else None)
    joined: dict[str | tuple[str, str], Made] = {
        (called, str(place)): Made(named(name)) for place, name in names.items()
    }
    return _anew(over, joined), subquery(select([exp.Star()], left, join=join), "joined"), []


@rows_of.register
def _keep_rows(relation: KeepRows, writer: Writer) -> tuple[ScalarWriter, E, list[E]]:
    over, base, where = rows_of(relation.source, writer)
    person, values, priority = _prioritised(relation, over, writer)
    ranked = exp.Window(
        this=exp.Anonymous(this="row_number"),
        partition_by=[person],
        order=exp.Order(expressions=[exp.Ordered(this=each, nulls_first=False) for each in (priority, *values)]),
    )
    rank = over.prefix + RANK
    there = exp.Paren(this=exp.Not(this=is_null(person.copy())))
    rows = select([exp.Star(), alias(ranked, rank)], over.over(base), where=[*where, there])
    return _anew(over, {}), subquery(rows, "kept"), [binary(exp.LTE, named(rank), bare_integer(relation.most))]


def row_priorities(relation: KeepRows, stored: dict[str, StoredTable], words: Words) -> Text:
    """The text that lists the rows of each person, what each holds, and its priority."""
    writer = Writer(stored, words)
    over, base, where = rows_of(relation.source, writer)
    person, values, priority = _prioritised(relation, over, writer)
    columns = [alias(each, f"c{i}") for i, each in enumerate((person, *values, priority))]
    return writer.written(select(columns, over.over(base), where=where))


def _prioritised(relation: KeepRows, over: ScalarWriter, writer: Writer) -> tuple[E, list[E], E]:
    """The person of a row, what it holds, and its priority."""
    person = over.clean(relation.person).sql
    values = [over.clean(column).sql for column in relation.columns]
    return person, values, writer.priority(writer.words.hash64(person.copy()), values)


def _anew(over: ScalarWriter, joined: dict[str | tuple[str, str], Made]) -> ScalarWriter:
    """Expressions over a derived table that has all columns, those among them that others were computed in."""
    columns = {place: replace(cell, level=0) for place, cell in over.columns.items()}
    return ScalarWriter({**columns, **joined}, over.words, prefix=over.prefix + over.prefix)
