"""Which columns are in scope over a relation of rows, and what is known of them: one rule a relation, from the scans up."""

from functools import singledispatch

from discreet.errors import Fault
from discreet.plan.catalog import Catalog
from discreet.plan.relation import Filled, Filter, Rows, Scan, Typed
from discreet.plan.rules.conditions import where
from discreet.plan.scalar import Type
from discreet.plan.scope import Scope, fillable


@singledispatch
def scope_of(relation: Rows, catalog: Catalog) -> Scope:
    """The columns that an expression over the rows of a relation can name."""
    raise Fault(f"{type(relation).__name__} has no rule for its scope", code="rule")


@scope_of.register
def _scan(relation: Scan, catalog: Catalog) -> Scope:
    """Whatever is declared never to be missing may be: a declaration is not believed where `Filled` can see to it."""
    scope = Scope.of(catalog.table(relation.table))
    return scope.known(nullable=True, of=fillable(scope, catalog.protected.person))


@scope_of.register
def _typed(relation: Typed, catalog: Catalog) -> Scope:
    scope = scope_of(relation.source, catalog)
    for column in relation.columns:
        field = scope.field(column)
        if field.type is not column.type or field.stored is not Type.TEXT:
            raise Fault("a text is read as what a survey told", code="rule")
    return scope


@scope_of.register
def _filled(relation: Filled, catalog: Catalog) -> Scope:
    scope, person = scope_of(relation.source, catalog), (catalog.protected.person or "").casefold()
    for column, value in relation.values:
        if value.value is None or value.type is not column.type or not column.type.numeric:
            raise Fault("a column of numbers is filled with a number of its own type", code="rule")
        if column.name.casefold() == person:
            raise Fault("nobody is made up: rows without a person are left out", code="rule")
    return scope.known(nullable=False, of=(scope.field(column) for column, _ in relation.values))


@scope_of.register
def _filter(relation: Filter, catalog: Catalog) -> Scope:
    return where(scope_of(relation.source, catalog), relation.condition)
