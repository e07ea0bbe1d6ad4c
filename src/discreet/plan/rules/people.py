"""Rows of people: how far a person reaches into them, and what is known of their columns.

**What a neighbour can change.** Every row of `PerPerson` has one person, and is a function of the *multiset* of that person's rows below,
with one key: how many there are, sums of whole numbers, how many distinct values, the least and the largest of them. None of that
depends on the order of rows, nor on anybody else's. So whoever is added, removed or replaced adds, removes or replaces their own rows of
it, and all others stay what they are, bit by bit. Without keys a person has one row at most: the sensitivity of whatever is counted or
summed over these is that of one row, and no limit need be set or found. With keys they may have as many rows as below, and are limited as
everybody is.

**Why whole numbers.** A sum of doubles depends on the order in which they are added, and an engine adds in the order in which rows
happen to lie. Another person's rows may change that, and with it the last bit of somebody's mean: what is rounded, compared or grouped by
then differs for people who did not change. So values are clamped, put on a public grid and summed as integers of 64 bits, which is exact
in any order; what is made of those sums is computed of each row by itself.
"""

from dataclasses import replace
from fractions import Fraction

from discreet.errors import Fault, QueryError
from discreet.plan.catalog import Catalog, Key, listed
from discreet.plan.computed import Computed
from discreet.plan.domain import values_of
from discreet.plan.facts import Facts
from discreet.plan.relation import How, PerPerson, PersonFeature, Summary, Term, per_person_in
from discreet.plan.rules import computed  # noqa: F401 (its rule registers itself)
from discreet.plan.rules.relations import Reach, reach_into, term_bounds
from discreet.plan.rules.scalars import facts_of
from discreet.plan.rules.scopes import scope_of
from discreet.plan.scalar import Column, Literal, Scalar, columns_in
from discreet.plan.scope import Field, Scope
from discreet.privacy import Unit


@reach_into.register
def _per_person(relation: PerPerson, unit: Unit) -> Reach:
    """One row at most for each person without keys; with keys as many as below, each in one combination of them."""
    below = reach_into(relation.source, unit)
    if unit is not Unit.PERSON:
        raise Fault("rows are gathered by person where persons are protected", code="rule")
    if below.gathered:
        raise Fault("what was gathered is gathered again", code="rule")
    if any(each.person != relation.person for each in per_person_in(relation)):
        # a row of one person would be gathered as one of another
        raise Fault("rows of people are gathered by who these are", code="rule")
    for each in relation.features:
        if each.how is Summary.SUM:
            term_bounds(Term(How.SUM, each.value))  # which is a whole number of few steps, or a fault
    return Reach(below.rows, below.groups) if relation.keys else Reach(rows=1, groups=1)


@scope_of.register
def _scope_of_people(relation: PerPerson, catalog: Catalog) -> Scope:
    return people_scope(scope_of(relation.source, catalog), relation)


@scope_of.register
def _scope_of_computed(relation: Computed, catalog: Catalog) -> Scope:
    return with_column(scope_of(relation.source, catalog), relation.column, relation.value)


def people_scope(below: Scope, relation: PerPerson, called: str = "people") -> Scope:
    """The columns of rows of people, from what is in scope below, under this name."""
    who = below.field(relation.person)
    fields = [Field(called, who.name, who.type, replace(who.facts, nullable=False), who.keys, who.declared)]
    fields += [_key(below, column, value)._replace(table=called) for column, value in relation.keys]
    fields += [_feature(below, each)._replace(table=called) for each in relation.features]
    return _named_apart(Scope((called,), tuple(fields)))


def with_column(scope: Scope, column: Column, value: Scalar) -> Scope:
    """A scope with one column more, which is computed of the others."""
    facts = facts_of(value, scope)
    auto = column.type.numeric and not facts.bounded and _found(value, scope)
    field = Field(scope.tables[0], column.name, column.type, facts, auto=auto)
    return _named_apart(replace(scope, fields=(*scope.fields, field)))


def _named_apart(scope: Scope) -> Scope:
    """What is called like another column, or like the one that says who a person is, would be taken for it."""
    names = [each.name.casefold() for each in scope.fields]
    if len(set(names)) < len(names):
        raise Fault("two columns of people have one name", code="rule")
    return scope


def _key(below: Scope, column: Column, value: Scalar) -> Field:
    """A key of people is what it is below, under its own name."""
    if isinstance(value, Column):
        return below.field(value)._replace(name=column.name, facts=below.facts(value), stored=None)
    return Field("", column.name, column.type, facts_of(value, below), _listed(value, below))


def _listed(value: Scalar, below: Scope) -> tuple[Key, ...] | None:
    """The values that an expression can take; None where there is no list of them, or it takes too long to make it."""
    try:
        values = values_of(value, below)
    except QueryError:
        return None
    return None if values is None else tuple(each for each in values if each is not None) or None


def _feature(below: Scope, feature: PersonFeature) -> Field:
    name, type, value = feature.column.name, feature.column.type, feature.value
    match feature.how:
        case Summary.SUM:
            facts = _of_sum(value)
            return Field("", name, type, facts, auto=not facts.bounded)
        case Summary.DISTINCT:
            most = None
            if isinstance(value, Column):
                field = below.field(value)
                most = listed(field.type, field.facts, field.keys)
            facts = Facts(Fraction(0), None if most is None else Fraction(len(most)), True, False)
            return Field("", name, type, facts, auto=not facts.bounded)
    facts = facts_of(value, below)
    keys = below.field(value).keys if isinstance(value, Column) else None
    auto = type.numeric and not facts.bounded and _found(value, below)
    return Field("", name, type, facts, keys, auto=auto)


def _of_sum(value: Scalar) -> Facts:
    """A sum has the sign of what is summed, and no end of its own; where every row gives one number it is at least that."""
    low, high = term_bounds(Term(How.SUM, value))
    least = low if isinstance(value, Literal) and low > 0 else 0
    return Facts(Fraction(least) if low >= 0 else None, Fraction(0) if high <= 0 else None, True, False)


def _found(value: Scalar, scope: Scope) -> bool:
    """Whether all numbers that have no bounds are such whose range may be found."""
    numbers = [scope.field(each) for each in columns_in(value) if each.type.numeric]
    unbounded = [each for each in numbers if not each.facts.bounded]
    return bool(unbounded) and all(each.auto for each in unbounded)
