"""The columns that an expression can name: whose each is, its type, and what is known of its values before any data is read.

A scan has the columns of its table, as they are declared; a filter tells more of them; two scopes can be joined. Rules ask a scope, and
never a table. A name is looked up together with the relation that it is said to be of; a name alone must be that of one column.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from discreet.errors import QueryError
from discreet.plan.catalog import Key, Table, suggestion
from discreet.plan.facts import Facts, narrower
from discreet.plan.scalar import Column, Scalar, Type


class Field(NamedTuple):
    """A column in scope. `table` is what its relation is called there.

    It is a tuple because every question makes one for each column of its table.
    """

    table: str
    name: str
    type: Type
    facts: Facts
    keys: tuple[Key, ...] | None = None
    declared: bool = True  # by the owner; if not, it is a text
    stored: Type | None = None  # as it is stored, where a survey tells another type
    surveyed: str = ""  # where a survey, and no declaration, tells its keys: which, in words
    typed: bool = False  # its source has a stored type, which the owner may choose to take over
    max_groups: int | None = None  # values of it that a person counts in
    auto: bool = False  # its bounds are found for each question that needs them
    public: bool = False  # of a table that is about nobody


@dataclass(frozen=True, slots=True)
class Scope:
    """All columns in scope. Names of relations and columns are told apart without regard to case."""

    tables: tuple[str, ...]
    fields: tuple[Field, ...]
    present: frozenset[Column] = frozenset()  # surely not NULL, as the rows were filtered
    ranges: tuple[tuple[Scalar, Facts], ...] = ()  # between what expressions lie, as the rows were filtered
    own: str = ""  # of several relations the one whose rows these are, if it is one: its columns are named alone
    _named: dict[str, list[Field]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        named: dict[str, list[Field]] = {}
        for each in self.fields:
            named.setdefault(each.name.casefold(), []).append(each)
        object.__setattr__(self, "_named", named)

    @classmethod
    def of(cls, table: Table, called: str | None = None) -> "Scope":
        """The columns of a declared table, under another name where it is called so."""
        name = table.name if called is None else called
        fields = (
            Field(
                name,
                each.name,
                each.type,
                each.facts,
                each.keys,
                each.declared,
                typed=table.typed,
                max_groups=each.max_groups,
                stored=each.stored,
                surveyed=each.surveyed,
                auto=each.auto,
                public=table.public is not None,
            )
            for each in table.columns
        )
        return cls((name,), tuple(fields))

    def joined(self, other: "Scope") -> "Scope":
        """The columns of both; raises QueryError where two relations are called the same."""
        called = {each.casefold() for each in self.tables}
        for name in other.tables:
            if name.casefold() in called:
                raise QueryError(
                    f"two tables are called {name!r} here",
                    code="duplicate-name",
                    hint=f"give one of them another name: {name} AS other",
                )
        both = Scope((*self.tables, *other.tables), (*self.fields, *other.fields))
        present = (both.column(scope.field(each)) for scope in (self, other) for each in scope.present)
        ranges = (each for scope in (self, other) for each in scope.ranges_as(both))
        return replace(both, present=frozenset(present), ranges=tuple(ranges))

    def extended(self, other: "Scope") -> "Scope":
        """The columns of both, where the rows of this one have columns more: its own are named as they were."""
        both = self.joined(other.unfiltered)
        both = replace(both, own=self.own or self.tables[0], present=frozenset())
        present = self.present.union(both.column(other.field(each)) for each in other.present)
        return replace(both, present=present, ranges=(*self.ranges, *other.ranges_as(both)))

    def ranges_as(self, both: "Scope") -> Iterator[tuple[Scalar, Facts]]:
        """What is known of columns, as another scope names them; of what is computed of them nothing is taken over."""
        for scalar, facts in self.ranges:
            if isinstance(scalar, Column):
                yield both.column(self.field(scalar)), facts

    def called(self, name: str) -> "Scope":
        """The columns of one relation, under another name."""
        return replace(self, tables=(name,), fields=tuple(each._replace(table=name) for each in self.fields))

    def where(self, present: Iterable[Column], ranges: Iterable[tuple[Scalar, Facts]] = ()) -> "Scope":
        """This scope on rows where these columns are not NULL, and these expressions lie between these bounds."""
        return replace(self, present=self.present.union(present), ranges=(*self.ranges, *ranges))

    def known(self, *, nullable: bool, of: Iterable[Field]) -> "Scope":
        """This scope where these columns may be NULL, or are not, whatever rows are filtered."""
        changed = {(each.table, each.name) for each in of}
        if not changed:
            return self
        fields = (
            each._replace(facts=replace(each.facts, nullable=nullable)) if (each.table, each.name) in changed else each
            for each in self.fields
        )
        return replace(self, fields=tuple(fields))

    @property
    def unfiltered(self) -> "Scope":
        """The columns as they are before rows were filtered: the groups of a question do not depend on its conditions."""
        return replace(self, present=frozenset(), ranges=()) if self.present or self.ranges else self

    def named(self, name: str, table: str = "") -> Field:
        """The column of this name, of this relation if one is named; raises QueryError where there is none, or more than one."""
        matches = self.matches(name, table)
        if not matches:
            raise self._unknown(name, table)
        if len(matches) > 1:
            tables = " and ".join(repr(each.table) for each in matches)
            raise QueryError(
                f"column {name!r} is in tables {tables}",
                code="ambiguous-name",
                hint=f"say which is meant: {matches[0].table}.{matches[0].name}",
            )
        return matches[0]

    def matches(self, name: str, table: str = "") -> list[Field]:
        """All columns that a name can mean."""
        alike = self._named.get(name.casefold(), [])
        return [each for each in alike if each.table.casefold() == table.casefold()] if table else alike

    def field(self, column: Column) -> Field:
        """What is in scope of the column that a node names."""
        return self.named(column.name, column.table or self.own)

    def own_named(self, name: str) -> Field:
        """The column of this name that the rows have of their own, whatever was joined to them."""
        return self.named(name, self.own)

    def column(self, known: Field) -> Column:
        """The node that names a column in scope: together with its relation where there are several, and alone where there is one, or
        where it is that of the rows themselves."""
        alone = len(self.tables) == 1 or known.table == self.own
        return Column(known.name, known.type, "" if alone else known.table)

    def facts(self, column: Column) -> Facts:
        """What is known of a column."""
        facts = self.within(column, self.field(column).facts)
        return replace(facts, nullable=False) if column in self.present else facts

    def within(self, scalar: Scalar, facts: Facts) -> Facts:
        """What is known of an expression, and by the conditions on the rows: these narrow its bounds, as far as they leave a width."""
        for each, told in self.ranges:
            if each == scalar:
                facts = narrower(facts, told)
        return facts

    def _unknown(self, name: str, table: str) -> QueryError:
        tables = [each for each in self.tables if not table or each.casefold() == table.casefold()]
        if not tables:
            hint = suggestion(table, self.tables, "the tables are")
            return QueryError(f"table {table!r} not found", code="unknown-table", hint=hint)
        known = [each.name for each in self.fields if each.table in tables]
        where = f"table{'s' if len(tables) > 1 else ''} {' and '.join(map(repr, tables))}"
        return QueryError(
            f"column {name!r} not found in {where}",
            code="unknown-column",
            hint=suggestion(name, known, "the columns are"),
        )


def fillable(scope: Scope, person: str | None) -> list[Field]:
    """The columns that are declared never to be missing, and have a middle that stands for what is. Nobody is made up: rows without
    a person are left out. What is never missing in a public table is not.
    """
    owner = (person or "").casefold()
    return [
        each
        for each in scope.fields
        if each.type.numeric
        and not each.facts.nullable
        and each.facts.middle is not None
        and each.name.casefold() != owner
        and not each.public
    ]
