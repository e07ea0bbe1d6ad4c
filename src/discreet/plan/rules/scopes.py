"""Which columns are in scope over a relation of rows, and what is known of them: one rule a relation, from the scans up."""

from functools import singledispatch

from discreet.errors import Fault
from discreet.plan.catalog import Catalog
from discreet.plan.relation import Filter, Rows, Scan
from discreet.plan.rules.scalars import there
from discreet.plan.scope import Scope


@singledispatch
def scope_of(relation: Rows, catalog: Catalog) -> Scope:
    """The columns that an expression over the rows of a relation can name."""
    raise Fault(f"{type(relation).__name__} has no rule for its scope", code="rule")


@scope_of.register
def _scan(relation: Scan, catalog: Catalog) -> Scope:
    return Scope.of(catalog.table(relation.table))


@scope_of.register
def _filter(relation: Filter, catalog: Catalog) -> Scope:
    return scope_of(relation.source, catalog).where(there(relation.condition))
