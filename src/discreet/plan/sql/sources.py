"""The rows that a SELECT is about: those of a declared table, a name of WITH, or a sub-query, however deep.

A sub-query filters rows and computes columns of each row by itself. So it is no relation of its own: what a name of it means is an
expression over the row of the origin below, and is put in the place of the name; its conditions are joined to those of whoever reads
from it. Facts are of expressions, and so a name that is given anew has what is known of its new meaning, and nothing of the old one; who a
person is is a property of the row, whatever is called like that column. The same question written flat has the same plan.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

from sqlglot import exp

from discreet.errors import QueryError
from discreet.plan.catalog import Catalog
from discreet.plan.scalar import And, Column, Literal, Scalar
from discreet.plan.sql.expressions import Clause, Expressions, SharedReading, placed
from discreet.plan.sql.joins import joined as joined_with
from discreet.plan.sql.joins import public_table
from discreet.plan.sql.origins import DeclaredTable, Origin
from discreet.plan.sql.refusals import Code, quoted
from discreet.plan.sql.values import is_null_literal
from discreet.plan.sql.views import Item, View

UNNAMED = "unnamed_subquery"
OTHERS = {  # clauses that the words alone did not give away
    "joins": (
        Code.JOIN,
        "joins in brackets are not available",
        "join one table after the other: a JOIN b ON … JOIN c ON …",
    ),
    "laterals": (Code.JOIN, "LATERAL is not available", "join tables on equal columns"),
    "pivots": (Code.PIVOT, "PIVOT is not available", "use GROUP BY"),
    "sample": (Code.SAMPLE, "samples are not available", "remove the clause"),
    "windows": (Code.WINDOW, "named windows are not available", "write the window behind OVER"),
    "qualify": (Code.WINDOW, "QUALIFY is not available", "use HAVING"),
    "db": (Code.SCHEMA, "tables of other schemas are not available", "write the table's name alone"),
    "catalog": (Code.SCHEMA, "tables of other databases are not available", "write the table's name alone"),
}
OUTSIDE = {  # clauses of the outermost SELECT alone: inside, what becomes of a row would depend on other rows
    "having": ("HAVING", "write the condition behind WHERE, or HAVING in the outermost SELECT"),
    "distinct": ("DISTINCT", "use GROUP BY in the outermost SELECT"),
    "order": ("ORDER BY", "order the outermost SELECT: rows of a table are in no order"),
    "limit": ("LIMIT", "limit the outermost SELECT: which rows are the first of a table depends on all others"),
    "offset": ("OFFSET", "write it in the outermost SELECT: which rows are the first of a table depends on all others"),
}


@dataclass(frozen=True, slots=True)
class RowSource:
    """What FROM gives: the rows of an origin on which all conditions are true; and of a sub-query its names."""

    origin: Origin
    called: str
    view: View | None = None
    """None for the origin itself."""

    conditions: tuple[Scalar, ...] = ()
    columns: tuple[Column, ...] = ()
    """Those that the conditions read."""


Reader = TypeVar("Reader", bound=Expressions)


class GroupedReader(Protocol):
    """Reads a SELECT inside of another one that has GROUP BY."""

    def __call__(self, sources: "Sources", select: exp.Select, source: RowSource, called: str, /) -> RowSource: ...


Known = Mapping[str, RowSource]
"""What the names of WITH mean where a SELECT stands, casefolded."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Reads WITH and FROM of one text."""

    text: str
    catalog: Catalog
    parameters: dict[str, Literal]
    grouped: "GroupedReader"
    shared: SharedReading = field(default_factory=SharedReading)

    def expressions(self, source: RowSource) -> Expressions:
        """The reader of expressions over a source."""
        return self.reader(source, Expressions)

    def reader(self, source: RowSource, kind: type[Reader]) -> Reader:
        """A reader, of this kind, of expressions over a source."""
        scope = source.origin.scope(source.called)
        person = None if public_table(source.origin) is not None else self.catalog.protected.person
        read = kind(self.text, scope, person, self.parameters, source.view, self.shared)
        read.columns.update(dict.fromkeys(source.columns))
        return read

    def source(self, select: exp.Expr, known: Known | None = None) -> RowSource:
        """The rows that a SELECT is about; or raises QueryError."""
        if not isinstance(select, exp.Select):
            raise self.refusal(Code.NOT_A_SELECT, "this is not one SELECT", "write SELECT COUNT(*) FROM …", select)
        source = select.args.get("from_")
        if source is None:
            raise self.refusal(Code.CLAUSE, "FROM is missing", "write SELECT COUNT(*) FROM …", select)
        joins = select.args.get("joins") or []
        for node in (select, source, source.this, *(join.this for join in joins)):
            for name, (code, message, hint) in OTHERS.items():
                part = None if node is select and name == "joins" else node.args.get(name)
                if part:
                    raise self.refusal(code, message, hint, part[0] if isinstance(part, list) else part)
        names = self._with(select.args.get("with_"), known or {})
        self.take(source, "this")
        rows = self._from(source.this, names)
        for join in joins:
            rows = joined_with(self, rows, join, self._from(join.this, names))
        return rows

    def check_private(self, source: RowSource, select: exp.Expr) -> None:
        """A question is about rows that are somebody's; for others raises QueryError."""
        table = public_table(source.origin)
        if table is not None:
            message = f"table {quoted(table.name)} is public and about nobody: there is nothing to protect in it, and nothing to ask"
            raise self.refusal(
                Code.JOIN, message, "look at it where it lies, or join it to a table about somebody", select
            )

    def _with(self, clause: exp.Expr | None, known: Known) -> Known:
        """What names mean behind WITH: each sees those before it, and hides a table, or a name further out, of its own name."""
        if clause is None:
            return known
        self.take(clause, "expressions")
        names, here = dict(known), set[str]()
        for node in clause.expressions:
            self.take(node, "this", "alias")
            name = self._alias(node)
            if name.casefold() in here:
                message = f"two sub-queries are called {quoted(name)}"
                raise self.refusal(Code.DUPLICATE_NAME, message, "give each another name", node.args["alias"])
            here.add(name.casefold())
            names[name.casefold()] = self._derived(node.this, names, name)
        return names

    def _from(self, node: exp.Expr, known: Known) -> RowSource:
        if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Subquery | exp.Select):
            self.take(node, "this", "alias")
            nested = isinstance(node.this, exp.Subquery)
            inner = self._from(node.this, known) if nested else self._derived(node.this, known, UNNAMED)
            return self._called(inner, node)
        if isinstance(node, exp.Subquery | exp.Values | exp.Paren):
            raise self.refusal(Code.SUBQUERY, "FROM needs a table", "write the name of one table, or (SELECT …)", node)
        if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
            hint = "write the name of one table"
            raise self.refusal(Code.TABLE_FUNCTION, "FROM needs a declared table", hint, node)
        self.take(node, "this", "alias")
        source = known.get(node.this.name.casefold()) or self._declared(node.this)
        self.identifier(node.this)
        return self._called(source, node)

    def _called(self, source: RowSource, node: exp.Expr) -> RowSource:
        """A source under the name that it is given behind it, if any."""
        if not node.args.get("alias"):
            return source
        name = self._alias(node)
        return replace(source, called=name, view=source.view and replace(source.view, called=name))

    def _declared(self, node: exp.Identifier) -> RowSource:
        try:
            table = self.catalog.table(node.name)
        except QueryError as error:
            message = f"table {quoted(node.name)} not found"
            raise self.refusal(Code.UNKNOWN_TABLE, message, error.hint, node) from None
        return RowSource(DeclaredTable(table), table.name)

    def _derived(self, select: exp.Expr, known: Known, called: str) -> RowSource:
        """What a sub-query gives."""
        source = self.source(select, known)
        if isinstance(select, exp.Select) and select.args.get("group"):
            self.check_private(source, select)
            return self.grouped(self, select, source, called)
        for name, (words, hint) in OUTSIDE.items():
            if part := select.args.get(name):
                message = f"{words} inside a sub-query is not available"
                raise self.refusal(Code.SUBQUERY, message, hint, part)
        read = self.expressions(source)
        read.take(select, "from_", "joins", "where", "expressions", "with_")
        conditions = (*source.conditions, *conditions_of(read, select.args.get("where")))
        columns = tuple(read.columns)
        items = [item for node in select.expressions for item in _items(read, node)]
        return RowSource(source.origin, called, View(called, tuple(items)), conditions, columns)

    def _alias(self, node: exp.Expr) -> str:
        alias = node.args["alias"]
        if alias.args.get("columns"):
            hint = "name the columns inside: SELECT age AS years"
            raise self.refusal(Code.CLAUSE, "columns cannot be renamed here", hint, alias)
        self.take(alias, "this")
        return self.identifier(alias.this)

    def refusal(self, code: Code, message: str, hint: str, node: exp.Expr) -> QueryError:
        """The error to raise, with a caret under the node."""
        return placed(self.text, code, message, hint, node)

    def take(self, node: exp.Expr, *args: str) -> None:
        self.shared.take(self.text, node, *args)

    def identifier(self, node: object) -> str:
        return self.shared.identifier(self.text, node)


def conditions_of(read: Expressions, where: exp.Expr | None) -> tuple[Scalar, ...]:
    """What WHERE says must all be true of a row."""
    if where is None:
        return ()
    condition = read.asserted(Clause.WHERE, where)
    return condition.parts if isinstance(condition, And) else (condition,)


def joined(conditions: tuple[Scalar, ...]) -> Scalar | None:
    """One condition that is true where all of these are; None where there are none."""
    if not conditions:
        return None
    return And(conditions) if len(conditions) > 1 else conditions[0]


def _items(read: Expressions, node: exp.Expr) -> Iterator[Item]:
    """The columns that an item of the SELECT of a sub-query gives: one, or for * all that it reads from."""
    if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star)):
        yield from read.star(node)
        return
    name = None
    if type(node) is exp.Alias:
        read.take(node, "this", "alias")
        name, node = read.identifier(node.args["alias"]), node.this
    before, read.columns = read.columns, {}
    meaning = read.within(Clause.INNER, node)
    if is_null_literal(meaning):
        message = "NULL alone has no type"
        raise read.refusal(Code.TYPES, message, "write CAST(NULL AS INTEGER), or remove it", node)
    yield Item(name if name is not None else read.heading(node) or "", meaning, tuple(read.columns))
    read.columns = before
