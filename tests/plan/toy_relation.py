"""A relation as a newcomer would write it, in one file: the rows of two relations one after the other, as UNION ALL has it.

It has two children, so that whoever takes a query for a chain is found out.
"""

from dataclasses import dataclass

from discreet.engines.memory import Row, RunData, rows_in
from discreet.plan.catalog import Catalog
from discreet.plan.explain import told
from discreet.plan.relation import Relation, Rows, children
from discreet.plan.rules.relations import Reach, reach_into
from discreet.plan.rules.scopes import scope_of
from discreet.plan.scope import Scope
from discreet.plan.written import RECORDS
from discreet.privacy import Unit


@dataclass(frozen=True, slots=True)
class Both(Rows):
    """The rows of either, of the same columns; a row of both is there twice."""

    first: Rows
    second: Rows


RECORDS[Both] = "Both first second"


@children.register
def _children(relation: Both) -> tuple[Relation, ...]:
    return relation.first, relation.second


@scope_of.register
def _scope(relation: Both, catalog: Catalog) -> Scope:
    first, second = scope_of(relation.first, catalog), scope_of(relation.second, catalog)
    return first.unfiltered.where(first.present & second.present)


@reach_into.register
def _reach(relation: Both, unit: Unit) -> Reach:
    first, second = reach_into(relation.first, unit), reach_into(relation.second, unit)
    if first.rows is None or second.rows is None:
        return Reach(None, None)
    return Reach(rows=first.rows + second.rows, groups=1)


@told.register
def _told(relation: Both) -> str:
    return "both of"


@rows_in.register
def _rows(relation: Both, reading: RunData) -> list[Row]:
    return rows_in(relation.first, reading) + rows_in(relation.second, reading)
