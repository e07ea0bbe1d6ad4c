"""Rows of people in a part: how far a unit reaches into them, and which columns are in scope.

**What a neighbour can change.** Whether somebody is in the part is a function of their own rows in one table. So whoever is added,
removed or replaced changes nothing of anybody else's rows; their own are all there or all left out, and are no more than they were, in any
group. As with a filter, a row that is replaced may be there before and not after: nothing is surely there, and how many there are is
not public, under either relation.

**Whom it does not depend on.** Whoever is not in the part, before and after, has no row here before or after. So a question all of whose
tables about people are read so has, for neighbours who differ in such a person, one distribution of answers, not two that are near each
other. That is what lets a ledger charge it to the part alone.
"""

from discreet.errors import Fault
from discreet.plan.catalog import Catalog
from discreet.plan.parts import InPart
from discreet.plan.rules.relations import Reach, reach_into
from discreet.plan.rules.scopes import scope_of
from discreet.plan.scope import Scope
from discreet.privacy import Unit


@reach_into.register
def _in_part(relation: InPart, unit: Unit) -> Reach:
    below = reach_into(relation.source, unit)
    if below.gathered:
        raise Fault("what was gathered is of a part again", code="rule")
    if (unit is Unit.PERSON) is (relation.person is None):
        raise Fault("a part is one of people exactly where persons are protected", code="rule")
    return Reach(below.rows, below.groups)


@scope_of.register
def _scope_of_a_part(relation: InPart, catalog: Catalog) -> Scope:
    """Who is in a part is told by the column that is declared for it, of the person that is protected; else a Fault."""
    partition, person = catalog.parts, catalog.protected.person
    part = relation.part
    if partition is None or part[:2] != (partition.table, partition.column) or part.name not in partition.names:
        raise Fault("a part is one of those that are declared", code="rule")
    if relation.key != partition.key(part.name):
        raise Fault("a part is one of those that are declared", code="rule")
    scope = scope_of(relation.source, catalog)
    if person is None and relation.person is None:
        if {each.casefold() for each in scope.tables} != {partition.table.casefold()}:
            raise Fault("a row is in the part that it names itself", code="rule")
        return scope
    asked = () if relation.person is None else (relation.person, relation.members.columns[0])
    if {each.name.casefold() for each in asked} != {(person or "").casefold()}:
        raise Fault("people are in a part, and told apart by who they are", code="rule")
    return scope
