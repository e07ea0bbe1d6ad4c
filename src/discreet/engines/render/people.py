"""Rows of people as SQL: a derived table of one row for each person, and each combination of keys.

Where an engine has numbered the people, these are told apart by their numbers, and a slice of them is a slice of the rows below: all
rows of a person are in one. The number and the hash go on, so that whatever is above gathers by them, too.
"""

from sqlglot import exp

from discreet.engines.render.nodes import (
    TYPES,
    E,
    T,
    alias,
    binary,
    call,
    cast,
    double,
    integer,
    is_null,
    named,
    null,
    select,
    subquery,
    when,
)
from discreet.engines.render.relations import Writer, rows_of, sum_of
from discreet.engines.render.scalars import Made, ScalarWriter
from discreet.plan.relation import PerPerson, PersonFeature, Summary, base_of
from discreet.plan.scalar import Literal, Scalar, Type, type_of

PERSON, KEY, FEATURE = "of person", "of key", "of feature"  # as columns of the derived table


@rows_of.register
def _per_person(relation: PerPerson, writer: Writer) -> tuple[ScalarWriter, E, list[E]]:
    people, stored = writer.of_people(relation), writer.stored[base_of(relation).table]
    over = people.over
    keys = [_key(value, over) for _, value in relation.keys]
    columns = [alias(each, f"{KEY}{i}") for i, each in enumerate(keys)]
    columns += [alias(_gathered(each, over), f"{FEATURE}{i}") for i, each in enumerate(relation.features)]
    group = [people.person.copy(), *(each.copy() for each in keys)]
    if people.hash is None or stored.number is None:
        columns.append(alias(people.person, PERSON))
    else:  # one value each, whichever row it is of
        columns += [alias(people.person, stored.number), alias(people.hash, stored.hash)]
        columns.append(alias(call("min", over.clean(relation.person).sql), PERSON))
        group.append(people.hash.copy())
    places = {relation.person.place: Made(named(PERSON))}
    places |= {column.place: Made(named(f"{KEY}{i}")) for i, (column, _) in enumerate(relation.keys)}
    places |= {each.column.place: Made(named(f"{FEATURE}{i}")) for i, each in enumerate(relation.features)}
    rows = select(columns, over.over(people.base), where=people.where, group=group)
    return ScalarWriter(places, writer.words), subquery(rows, "of_people"), []


def _gathered(feature: PersonFeature, over: ScalarWriter) -> E:
    """What all rows of a person give. Of numbers there is one zero, whichever row it stood in."""
    match feature.how:
        case Summary.SUM:
            return sum_of(feature.value, over)
        case Summary.DISTINCT:
            distinct = exp.Distinct(expressions=[_one_zero(feature, over)])
            return cast(call("count", distinct), T.BIGINT)
        case Summary.LEAST:
            return _extreme("min", feature, over)
        case Summary.LARGEST:
            return _extreme("max", feature, over)


def _extreme(function: str, feature: PersonFeature, over: ScalarWriter) -> E:
    """The least or the largest value; of flags, which not every dialect puts in order, by 0 and 1."""
    if type_of(feature.value) is not Type.BOOLEAN:
        return call(function, _one_zero(feature, over))
    flag = over.shared(over.clean(feature.value)).sql
    number = when([(flag, integer(1)), (is_null(flag.copy()), null(Type.INTEGER))], integer(0))
    return binary(exp.EQ, call(function, number), integer(1))


def _key(value: Scalar, over: ScalarWriter) -> E:
    sql = over.clean(value).sql
    return cast(sql, TYPES[value.type]) if isinstance(value, Literal) else sql  # which could be taken for a position


def _one_zero(feature: PersonFeature, over: ScalarWriter) -> E:
    sql = over.clean(feature.value).sql
    return binary(exp.Add, sql, double(0.0)) if type_of(feature.value) is Type.NUMBER else sql
