"""How far a unit reaches into rows that are joined, and which columns are in scope over them."""

from math import prod

from discreet.errors import Fault, QueryError
from discreet.plan.catalog import Catalog, Table
from discreet.plan.evaluate import evaluate
from discreet.plan.joins import KeepRows, PersonJoin, PublicJoin
from discreet.plan.public import Contents
from discreet.plan.relation import MOST_ROWS, Filter, Rows, base_of, own_rows, walk
from discreet.plan.rules.relations import Reach, reach_into
from discreet.plan.rules.scopes import scope_of
from discreet.plan.scalar import Column
from discreet.plan.scope import Scope
from discreet.privacy import Unit

HINT_UNIQUE = (
    "join on a column, or on several, that tell its rows apart; or keep one row of each in the file of the public table"
)


@reach_into.register
def _public_join(relation: PublicJoin, unit: Unit) -> Reach:
    """A unit reaches as far as into the source: a row becomes at most one row.

    The public table is the same for all neighbours, and no two of its rows have the same values in the columns that are joined on:
    `scope_of` sees to it, for the very rows that an engine joins. So what a row becomes is a function of that row alone, as with a
    filter and with computed columns: a unit adds, removes or changes no more rows of the join than of the source, and in no more
    groups. With `outer` a row is there whatever it holds; without, it may be left out.
    """
    below = _rows_below(relation.source, unit)
    if not relation.on:
        raise Fault("a public table is joined on columns", code="rule")
    return below if relation.outer else Reach(below.rows, below.groups)


@reach_into.register
def _keep_rows(relation: KeepRows, unit: Unit) -> Reach:
    """A person's rows that are kept depend on their own rows and the salt alone, and are a part of them.

    So neighbours, who differ in the rows of one person, differ in the kept rows of that person alone, and by no more in any group. That
    there are at most `most` of them bounds the size of a join; noise is made for the caps that come after it.
    """
    below = _rows_below(relation.source, unit)
    if unit is not Unit.PERSON or relation.most < 1:
        raise Fault(
            "the rows of a person are kept where persons are protected, and at least one of them is", code="rule"
        )
    return Reach(below.rows, below.groups)


@reach_into.register
def _person_join(relation: PersonJoin, unit: Unit) -> Reach:
    """A person reaches without limit, in rows and in groups, until what people have is capped; and nobody has anything of another.

    A row of the join is made of two rows of one person, or with `outer` of one. Neighbours differ in all rows of one person, in all
    tables at once; so they differ in rows of the join that are about that person alone, however many these are. The caps after it,
    which see the whole of a person, bound them as they bound the rows of a table.
    """
    for side in (relation.source, relation.other):
        _rows_below(side, unit)
        if not any(isinstance(each, KeepRows) for each in own_rows(side)):
            raise Fault("of each side of a join so many rows of a person are kept first", code="rule")
    if unit is not Unit.PERSON:
        raise Fault("tables about persons are joined where persons are protected", code="rule")
    return Reach(rows=None, groups=None)


def _rows_below(source: Rows, unit: Unit) -> Reach:
    below = reach_into(source, unit)
    if below.gathered:
        raise Fault("what was gathered is joined", code="rule")
    return below


# What is in scope.


@scope_of.register
def _scope_of_a_public_join(relation: PublicJoin, catalog: Catalog) -> Scope:
    table = catalog.table(base_of(relation.public).table)
    if table.public is None or table.public.digest != relation.digest:
        raise Fault("a table is joined that is not public, or not the one that was looked at", code="rule")
    check_unique(table, relation.public, [column for _, column in relation.on])
    source, public = scope_of(relation.source, catalog), scope_of(relation.public, catalog)
    return joined_scope(source, public.called(relation.called), relation.on, relation.outer)


@scope_of.register
def _scope_of_kept_rows(relation: KeepRows, catalog: Catalog) -> Scope:
    return scope_of(relation.source, catalog)


@scope_of.register
def _scope_of_a_person_join(relation: PersonJoin, catalog: Catalog) -> Scope:
    person = (catalog.protected.person or "").casefold()
    if any(column.table or column.name.casefold() != person for column in relation.persons):
        raise Fault("tables are joined on who a person is", code="rule")
    check_size(relation, catalog.protected.people)
    source, other = scope_of(relation.source, catalog), scope_of(relation.other, catalog)
    return joined_scope(source, other.called(relation.called), (relation.persons,), relation.outer)


def joined_scope(source: Scope, other: Scope, on: tuple[tuple[Column, Column], ...], outer: bool) -> Scope:
    """The columns of both sides: what was equal is there; with `outer` the other side may be missing altogether."""
    both = source.extended(other.unfiltered if outer else other)
    if outer:
        return both.known(nullable=True, of=(both.field(both.column(each)) for each in other.fields))
    equal = [(column, both.column(other.field(there))) for column, there in on]
    return both.known(nullable=False, of=(both.field(each) for pair in equal for each in pair))


def check_unique(table: Table, public: Rows, columns: list[Column]) -> None:
    """Whether no two rows of a public relation are alike in these columns, as an engine will have it; else raises QueryError."""
    held = table.public
    if held is None:
        raise Fault(f"table {table.name!r} is not public", code="rule")
    names = [column.name for column in columns]
    conditions = [each.condition for each in walk(public) if isinstance(each, Filter)]
    if held.unique(names) or (conditions and _filtered(held, public).unique(names)):
        return
    words = " and ".join(map(repr, names))
    raise QueryError(
        f"several rows of the public table {table.name!r} have the same {words}: a row would be joined with all of them",
        code="join",
        hint=HINT_UNIQUE,
    )


def _filtered(held: Contents, public: Rows) -> Contents:
    """What conditions leave of a public table."""
    conditions = [each.condition for each in walk(public) if isinstance(each, Filter)]
    names = list(held.columns)
    rows = (dict(zip(names, row, strict=True)) for row in zip(*held.columns.values(), strict=True))
    left = [row for row in rows if all(evaluate(each, row) is True for each in conditions)]
    return Contents(held.digest, {name: [row[name] for row in left] for name in names})


def check_size(relation: Rows, people: int | None) -> None:
    """Whether a join of people can surely be added up: so many people, each with so many rows; else raises QueryError."""
    sides = [each for each in walk(relation) if isinstance(each, KeepRows)]
    if people is None:
        raise QueryError(
            "how large a join of two tables about people can be depends on how many people there are, which nobody declared",
            code="join",
            hint="add --people 50000, or people = 50000 under [unit]: a public estimate",
        )
    numbers = [each.most for each in sides]
    if people * prod(numbers) > MOST_ROWS:
        tables = ", ".join(f"{base_of(each).table} has {each.most:,}" for each in sides)
        raise QueryError(
            f"a join of {people:,} people, each with {' × '.join(f'{each:,}' for each in numbers)} rows, may have"
            f" {people * prod(numbers):,} rows, and at most {MOST_ROWS:,} are added up",
            code="join",
            hint=f"lower join_rows of a table in the policy, such as join_rows = 1 where a person has one row ({tables})",
        )
