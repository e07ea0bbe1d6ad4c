"""Expressions of the parse tree to our own: one reader for each class of node, and no reader means refused.

Each reader names the arguments of the node that it reads. An argument that is set and that nobody reads is refused, so a newer parser
that understands more cannot change what a question means.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeAlias

from sqlglot import exp

from discreet.errors import Fault, QueryError
from discreet.plan.catalog import suggestion
from discreet.plan.question import Aggregate
from discreet.plan.releases.base import Call, registry
from discreet.plan.scalar import Column, Literal, Released, Scalar, Type, children
from discreet.plan.scope import Scope
from discreet.plan.sql import calls
from discreet.plan.sql.refusals import LONGEST_NAME, Code, function_refusal, quoted, refusal
from discreet.plan.sql.text import MOST_DEPTH
from discreet.plan.sql.values import NO_HOURS, Mismatch, as_day, as_type, checked_number, kind, type_in_words
from discreet.plan.sql.views import Item, View

MOST_PARTS = 50_000  # of a whole question, written out
MOST_NODES = 10_000  # of one expression, written out: some forms repeat their operands

Reader: TypeAlias = Callable[["Expressions", Any], Scalar]
READERS: dict[type[exp.Expr], tuple[frozenset[str], Reader]] = {}
CALLS: dict[str, tuple[frozenset[str], Reader]] = {}


class Clause(Enum):
    """The clause in which an expression stands."""

    WHERE = "WHERE"
    GROUP_BY = "GROUP BY"
    ARGUMENT = "an aggregate"
    FILTER = "FILTER"
    SELECT = "SELECT"
    HAVING = "HAVING"
    ORDER_BY = "ORDER BY"
    OVER = "a window"
    INNER = "the SELECT of a sub-query"


RELEASED = {Clause.SELECT, Clause.HAVING, Clause.ORDER_BY, Clause.OVER}  # where aggregates can stand
ALIASED = {Clause.GROUP_BY, Clause.HAVING, Clause.ORDER_BY, Clause.OVER}  # where a name can be that of an output


@dataclass(frozen=True, slots=True)
class TextSpan:
    """A place in the text."""

    start: int
    end: int


def span_of(node: exp.Expr | None) -> TextSpan | None:
    """The span from the first to the last place that is known of a node."""
    if node is None:
        return None
    known = [each.meta for each in node.walk() if "start" in each.meta]
    return TextSpan(min(meta["start"] for meta in known), max(meta["end"] for meta in known)) if known else None


def placed(text: str, code: Code, message: str, hint: str, node: exp.Expr | None) -> QueryError:
    """The error to raise, with a caret under the node."""
    return refusal(code, message, hint, text, span_of(node))


_NAMES: dict[type[exp.Func], tuple[str, ...]] = {}


def _known_as(function: type[exp.Func]) -> tuple[str, ...]:
    """The names, in capitals, by which the parser knows a function; it makes them anew at each call, so they are kept."""
    if function not in _NAMES:
        _NAMES[function] = tuple(name.upper() for name in function.sql_names())
    return _NAMES[function]


def reads(*classes: type[exp.Expr], args: str) -> Callable[[Reader], Reader]:
    """Registers the reader of these classes, and the arguments that it reads."""

    def register(reader: Reader) -> Reader:
        for each in classes:
            READERS[each] = (frozenset(args.split()), reader)
        return reader

    return register


def reads_call(*names: str) -> Callable[[Reader], Reader]:
    """Registers the reader of a call that the parser has no class for."""

    def register(reader: Reader) -> Reader:
        for name in names:
            CALLS[name] = (frozenset({"this", "expressions"}), reader)
        return reader

    return register


@dataclass(slots=True)
class SharedReading:
    """What the readers of all SELECTs of one text share: which nodes were read, and how large what was put in place of names is."""

    read: dict[int, exp.Expr] = field(default_factory=dict)
    sizes: dict[int, tuple[int, int, Scalar]] = field(default_factory=dict)
    replaced: int = 0

    def take(self, text: str, node: exp.Expr, *args: str) -> None:
        """Refuses a node with an argument that is set and is not read. False counts as set."""
        self.read[id(node)] = node
        for name, value in node.args.items():
            if name not in args and value is not None and value != []:
                what = f"{name.strip('_').replace('_', ' ')} of {node.key.upper()}"
                raise placed(text, Code.CLAUSE, f"{what} is not available", "remove it", node)

    def identifier(self, text: str, node: object) -> str:
        """The name that an identifier says; a text in single quotes is no name."""
        if not isinstance(node, exp.Identifier):
            raise refusal(Code.NAME, "a name is needed here", "write a plain name, or one in double quotes")
        self.take(text, node, "this", "quoted")
        start = node.meta.get("start")
        if start is None or text[start] == "'":
            hint = "names are plain words, or in double quotes; texts are in single quotes"
            raise placed(text, Code.NAME, f"the text {quoted(node.name)} stands where a name is needed", hint, node)
        return node.name


class Expressions:
    """Reads the expressions of one SELECT, and keeps what they use."""

    def __init__(
        self,
        text: str,
        scope: Scope,
        person: str | None,
        parameters: dict[str, Literal],
        view: View | None = None,
        shared: SharedReading | None = None,
    ) -> None:
        self.text = text
        self.scope = scope
        self.view = view  # of a sub-query; None: names are columns of the table
        self.shared = shared or SharedReading()
        self.person = person and scope.own_named(person).name
        self.parameters = parameters
        self.outputs: dict[str, Scalar] = {}  # by alias, casefolded
        self.aggregates: list[Aggregate] = []
        self.columns: dict[Column, TextSpan | None] = {}  # all that are read, and where first
        self.place = Clause.WHERE
        self._depth = 0

    # what readers use

    def scalar(self, node: exp.Expr) -> Scalar:
        """The expression of a node, or raises QueryError."""
        while type(node) is exp.Paren:
            self.take(node, "this")
            node = node.this
        release = self.release_name(node) is not None
        known = READERS.get(exp.AggFunc if release else type(node)) or self._call(node)
        if known is None:
            raise self.unknown(node)
        args, reader = known
        if not release:
            self.take(node, *args)
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise self.refusal(
                Code.TOO_DEEP, f"the expression is nested more than {MOST_DEPTH} deep", "write it flatter"
            )
        try:
            scalar = reader(self, node)
        except Mismatch as error:
            raise self.refusal(
                Code.TYPES, str(error), self._undeclared(node, error.needed) or error.hint, node
            ) from None
        self._depth -= 1
        self.measure(scalar)
        return scalar

    def numeric(self, node: exp.Expr) -> Scalar:
        """The number that an item is; anything else is refused there."""
        try:
            return self.number(node)
        except Mismatch as error:
            raise self.refusal(
                Code.TYPES, str(error), self._undeclared(node, error.needed) or error.hint, node
            ) from None

    def _call(self, node: exp.Expr) -> tuple[frozenset[str], Reader] | None:
        """The reader of a call by name."""
        return (CALLS.get(node.name.upper()) if isinstance(node, exp.Anonymous) else None) or calls.called(node)

    def _undeclared(self, node: exp.Expr, needed: Type | None) -> str:
        """What to declare, where a column is a text only because nobody said what it is."""
        asked = {each.name.casefold() for each in node.find_all(exp.Column)}
        meant = asked if self.view is None else {name for each in asked for name in self._columns_of(each)}
        names = {name.casefold() for name in meant}
        for column in self.scope.fields:
            if not column.declared and column.name.casefold() in names:
                ranged = f"--bounds {column.name}=LOW:HIGH or {column.name}=auto"
                one = f"{ranged}, or --types {column.name}=integer (bounds = or type = in the policy)"
                if needed in (Type.DATE, Type.TIMESTAMP):
                    one = f'--types {column.name}={needed.value} (type = "{needed.value}" in the policy)'
                all_ = '; --types stored (types = "stored") if the schema does not come from the data'
                # of texts a survey makes dates, and no timestamps
                survey = "" if needed is Type.TIMESTAMP else "; or survey the data first: discreet survey"
                return f"column {quoted(column.name)} is a text, as nobody declared it: {one}{all_ if column.typed else ''}{survey}"
        return ""

    def _columns_of(self, name: str) -> list[str]:
        """The columns of the table that a name of a sub-query stands for as they are."""
        meanings = [each.meaning for each in self.view.matches(name)] if self.view is not None else []
        return [each.name for each in meanings if isinstance(each, Column)]

    def within(self, place: Clause, node: exp.Expr) -> Scalar:
        """The expression of a node that stands at another place."""
        with self.at(place):
            return self.scalar(node)

    def take(self, node: exp.Expr, *args: str) -> None:
        """Refuses a node with an argument that is set and is not read. False counts as set."""
        self.shared.take(self.text, node, *args)

    def asserted(self, place: Clause, clause: exp.Expr) -> Scalar:
        """The condition of a clause."""
        self.take(clause, "this")
        with self.at(place):
            try:
                return self.condition(clause.this)
            except Mismatch as error:
                hint = "write a comparison, such as age > 65"
                raise self.refusal(Code.TYPES, str(error), hint, clause) from None

    def condition(self, node: exp.Expr) -> Scalar:
        scalar = as_type(self.scalar(node), Type.BOOLEAN)
        if kind(scalar) not in (Type.BOOLEAN, None):
            raise Mismatch(f"a condition must be true or false, not {type_in_words(kind(scalar))}")
        return scalar

    def number(self, node: exp.Expr) -> Scalar:
        return checked_number(self.scalar(node))

    def of_type(self, node: exp.Expr, target: Type) -> Scalar:
        """The expression of a node that must be of a type; a function of dates takes the day of a timestamp."""
        return self.typed(self.scalar(node), target)

    def typed(self, read: Scalar, target: Type) -> Scalar:
        """An expression that must be of a type, likewise."""
        if target is Type.TIMESTAMP and kind(read) is Type.DATE:
            raise Mismatch("a timestamp is needed, not a date", NO_HOURS)
        scalar = as_type(as_day(read) if target is Type.DATE else read, target)
        if kind(scalar) not in (target, None):
            raise Mismatch(f"{type_in_words(target)} is needed, not {type_in_words(kind(scalar))}", needed=target)
        return scalar

    def constant(self, node: exp.Expr) -> Literal | None:
        """The constant of a node; None if it is not one."""
        scalar = self.scalar(node)
        return scalar if isinstance(scalar, Literal) else None

    def refusal(self, code: Code, message: str, hint: str, node: exp.Expr | None = None) -> QueryError:
        return placed(self.text, code, message, hint, node)

    def unknown(self, node: exp.Expr) -> QueryError:
        """What to say of a node without a reader."""
        span = span_of(node)
        if isinstance(node, exp.Star) or (isinstance(node, exp.Dot) and node.find(exp.Star)):
            return self.refusal(Code.STAR, "* is not released", "name keys and aggregates: ward, COUNT(*)", node)
        if isinstance(node, exp.Distinct):
            return self.refusal(Code.DISTINCT, "DISTINCT is not available here", "use GROUP BY", node)
        if isinstance(node, exp.Window):
            return self.refusal(Code.WINDOW, "windows are not available", "use GROUP BY", node)
        if isinstance(node, exp.Tuple):
            return self.refusal(Code.OPERATOR, "a list of values cannot stand here", "name one value at a time", node)
        if isinstance(node, exp.Anonymous):
            return function_refusal(node.name, self.text, span)
        if isinstance(node, exp.Func) and not isinstance(node, exp.Binary | exp.Connector):
            if "start" in node.meta:
                span = TextSpan(node.meta["start"], node.meta["end"])
            return function_refusal(self.written(node) or node.sql_name(), self.text, span)
        hint = "expressions are made of columns, constants, + - * / // % ^ ||, comparisons, AND, OR, NOT, IN, BETWEEN, LIKE, IS, CASE"
        return self.refusal(Code.OPERATOR, f"{node.key.upper()} is not available", hint, node)

    def measure(self, scalar: Scalar) -> tuple[int, int]:
        """How many nodes an expression has when written out, and how deep it is; refuses what is too large."""
        if id(scalar) in self.shared.sizes:
            return self.shared.sizes[id(scalar)][:2]
        inner = [self.measure(child) for child in children(scalar)]
        nodes = 1 + sum(size for size, _ in inner)
        depth = 1 + max((deep for _, deep in inner), default=0)
        if nodes > MOST_NODES:
            raise self.refusal(
                Code.TOO_MANY_ITEMS, f"an expression has more than {MOST_NODES:,} parts", "write it shorter"
            )
        if depth > MOST_DEPTH:
            raise self.refusal(Code.TOO_DEEP, f"an expression is more than {MOST_DEPTH} deep", "write it flatter")
        self.shared.sizes[id(scalar)] = (nodes, depth, scalar)
        return nodes, depth

    def identifier(self, node: object) -> str:
        """The name that an identifier says; a text in single quotes is no name."""
        return self.shared.identifier(self.text, node)

    @contextmanager
    def at(self, place: Clause) -> Iterator[None]:
        before, self.place = self.place, place
        try:
            yield
        finally:
            self.place = before

    # columns and aggregates

    def release_name(self, node: exp.Expr) -> str | None:
        """The name, in capitals, by which a node calls a release: as it is written, or as the parser knows it; None for any other."""
        return next(filter(registry.named, self.names(node)), None)

    def names(self, node: exp.Expr) -> list[str]:
        """The names, in capitals, by which a node calls a function."""
        if not isinstance(node, exp.Func):
            return []
        return (
            [node.name.upper()]
            if isinstance(node, exp.Anonymous)
            else [self.written(node).upper(), *_known_as(type(node))]
        )

    def written(self, node: exp.Expr) -> str:
        """The name of a function as it stands in the text, if the parser kept its place."""
        return self.text[node.meta["start"] : node.meta["end"] + 1] if "start" in node.meta else ""

    def column(self, name: str, node: exp.Expr, table: str = "") -> Scalar:
        """The column of a name, and of a relation if one is named; or the output that an alias names."""
        declared = bool(self.scope.matches(name, table) if self.view is None else self.view.matches(name, table))
        alias = None if table or self.place not in ALIASED else self.outputs.get(name.casefold())
        if alias is not None and (not declared or self.place is Clause.ORDER_BY):
            return alias  # what is sorted are outputs: there their names come first, as the standard has it
        if not declared and (misquoted := self._misquoted(name, node)) is not None:
            raise misquoted
        if not declared and (name.casefold() in self.outputs or len(name) > 100):
            hint = "here names are columns of the table, not outputs"
            raise self.refusal(Code.UNKNOWN_COLUMN, f"column {quoted(name)} not found", hint, node)
        try:
            item = self._named(name, table)
        except QueryError as error:
            raise self.refusal(Code(error.code), error.message, error.hint, node) from None
        inside = self.place is Clause.GROUP_BY and not isinstance(node.parent, exp.Group)
        # inside of a key that is computed a name is a column in every dialect: GROUP BY UPPER(ward), with UPPER(ward) AS ward
        if alias is not None and alias != item.meaning and not inside:
            raise self.refusal(
                Code.AMBIGUOUS_NAME,
                f"{quoted(name)} is both a column and an output of another meaning",
                "give the output another name",
                node,
            )
        for column in item.columns:
            self.columns[column] = self.columns.get(column) or span_of(node)
        return self._replaced(item)

    def _named(self, name: str, table: str) -> Item:
        """What a name means; raises QueryError where it means nothing, or several things."""
        if self.view is not None:
            return self.view.named(name, table)
        known = self.scope.named(name, table)
        column = self.scope.column(known)
        return Item(known.name, column, (column,))

    def _replaced(self, item: Item) -> Scalar:
        """The meaning of a name, put in its place; refused where all that stands in places of names is too large."""
        if self.view is not None:
            self.shared.replaced += self.measure(item.meaning)[0]
            if self.shared.replaced > MOST_PARTS:
                message = f"with its sub-queries written out the question has more than {MOST_PARTS:,} parts"
                raise self.refusal(Code.TOO_MANY_ITEMS, message, "compute less in sub-queries, or ask less at once")
        return item.meaning

    def everything(self, table: str = "") -> list[Item]:
        """All columns, in their order: what * means in a sub-query, and behind a dot those of one table."""
        if self.view is not None:
            of_table = (each for each in self.view.items if self.view.has(each, table))
            return [Item(each.name, each.meaning, each.columns) for each in of_table]
        columns = [(each.name, self.scope.column(each)) for each in self.scope.fields]
        return [Item(name, column, (column,)) for name, column in columns]

    def star(self, node: exp.Expr) -> list[Item]:
        """Reads * or name.* of a sub-query."""
        table = ""
        if isinstance(node, exp.Column):
            self.take(node, "this", "table")
            table = self.qualifier(node.args.get("table"))
            node = node.this
        self.take(node)
        return self.everything(table)

    def qualifier(self, node: exp.Expr | None) -> str:
        """The name before a dot, which must be that of what is read from; empty where there is none."""
        if node is None:
            return ""
        table = self.identifier(node)
        tables = self.scope.tables if self.view is None else self.view.tables
        if table.casefold() not in map(str.casefold, tables):
            hint = f"the table is called {' or '.join(map(quoted, tables))} here"
            raise self.refusal(Code.UNKNOWN_TABLE, f"table {quoted(table)} not found", hint, node)
        return table

    def counting_people(self) -> str:
        """How people are counted here: the column that says who they are may have another name in a sub-query, or none."""
        if self.view is None:
            return f"COUNT(DISTINCT {self.person})"
        people = [each for each in self.view.items if each.name and self._counts_people(each.meaning)]
        names = [f"{each.table}.{each.name}" if each.table else each.name for each in people]
        passed = "" if names else f", with {self.person} in the SELECT of {self.view.called}"
        return f"COUNT(DISTINCT {names[0] if names else self.person}){passed}"

    def _counts_people(self, meaning: Scalar) -> bool:
        return isinstance(meaning, Column) and not meaning.table and self.is_person(meaning)

    def is_person(self, column: Column) -> bool:
        """Whether a column says who a person is: that of the rows themselves, or of others about people that are joined to them."""
        if self.person is None or column.name.casefold() != self.person.casefold():
            return False
        return not column.table or not self.scope.field(column).public

    def means_person(self, name: str) -> bool:
        """Whether a name is that of who a person is."""
        if self.view is not None:
            return any(self._counts_people(each.meaning) for each in self.view.matches(name))
        return any(each.name == self.person for each in self.scope.matches(name))

    def heading(self, node: exp.Expr) -> str | None:
        """The name of the column that a node is, as it was given; None for any other node."""
        if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Identifier):
            return None
        known = self.scope if self.view is None else self.view
        matches = known.matches(node.name, node.text("table"))
        return matches[0].name if matches else None

    def _misquoted(self, name: str, node: exp.Expr) -> QueryError | None:
        """What to say of a text in double quotes, which are for names."""
        span = span_of(node)
        if span is None or self.text[span.start] != '"' or len(name) > LONGEST_NAME:
            return None
        text = "'" + name.replace("'", "''") + "'"
        hint = suggestion(name, [each.name for each in self.everything()], "the columns are")
        return self.refusal(
            Code.UNKNOWN_COLUMN,
            f"column {quoted(name)} not found: double quotes are for names",
            f"if a text is meant, write {text} in single quotes; {hint}",
            node,
        )

    def called(self, name: str, call: Call) -> Scalar:
        """The released number of an aggregate that is called by its name; equal ones are one."""
        kind = registry.named(name)
        if kind is None:
            raise Fault(f"{name} is no aggregate", code="release")
        asked = kind.read(call)
        if asked not in self.aggregates:
            self.aggregates.append(asked)
        return Released(self.aggregates.index(asked), asked.kind.type_of(asked))
