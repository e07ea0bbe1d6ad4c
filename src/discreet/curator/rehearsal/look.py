"""Looking at everything once, for the owner: the way from loaded tables to a rehearsal."""

from collections.abc import Sequence
from fractions import Fraction

from discreet.curator.rehearsal.columns import profile_of
from discreet.curator.rehearsal.counting import Counting
from discreet.curator.rehearsal.losses import losses_of
from discreet.curator.rehearsal.people import PeopleProfile, people_by, people_of, repeated_in, repeated_people
from discreet.curator.rehearsal.record import Rehearsal, TableRehearsal
from discreet.curator.rehearsal.spelling import spellings_of
from discreet.curator.rehearsal.standard import grouped_by, keyed, questions_of
from discreet.engines.base import Data, Engine
from discreet.plan.catalog import Catalog, Table
from discreet.plan.draft import draft
from discreet.plan.relation import Scan
from discreet.plan.scalar import Column
from discreet.plan.sql import question


def look(catalog: Catalog, loads: Sequence[Data], engine: Engine, epsilon: Fraction, delta: Fraction) -> Rehearsal:
    """The rehearsal of tables that an engine has loaded."""
    counting = Counting(engine)
    sources = {data.name: data for data in loads}
    tables = (_table(counting, catalog, table, sources[table.name], epsilon, delta) for table in catalog.private)
    return Rehearsal(tuple(tables), epsilon)


def _table(
    counting: Counting, catalog: Catalog, table: Table, data: Data, epsilon: Fraction, delta: Fraction
) -> TableRehearsal:
    node = Column(table.columns[0].name, table.columns[0].type)
    rows = counting.rows_of_each(Scan(table.name, (node,)), ())[()]
    person = catalog.protected.person
    declared = [each for each in table.columns if each.declared or each.name.casefold() == (person or "").casefold()]
    people: list[PeopleProfile] = []
    nobody = 0
    if person is None:
        repeated = repeated_in(counting, table)
    else:
        everybody, nobody = people_of(counting, catalog, table)
        people.append(everybody)
        for column in keyed(catalog, table):
            asked = draft(question(grouped_by(table, column), catalog), catalog)
            people.append(people_by(counting, catalog, table, column.name, asked))
        repeated = (repeated_people(counting, catalog, table),)
    return TableRehearsal(
        table.name,
        rows,
        person,
        nobody,
        tuple(profile_of(counting, table.name, each, rows, counting.engine.lost) for each in declared),
        tuple(people),
        repeated,
        spellings_of(data),
        tuple(losses_of(counting, catalog, table.name, each, epsilon, delta) for each in questions_of(catalog, table)),
    )
