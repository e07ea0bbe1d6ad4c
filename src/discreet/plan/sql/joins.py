"""Reads JOIN: which rows of another table stand beside a row, and what names mean over both.

A public table is joined on columns that tell its rows apart, with a table about people or rows; two tables about people are joined on who a
person is. All else is refused, and says what to write.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from discreet.errors import QueryError
from discreet.plan.catalog import JOIN_ROWS, Protected, Table
from discreet.plan.joins import KeepRows, PersonJoin, PublicJoin
from discreet.plan.relation import Filter, Rows, own_rows
from discreet.plan.rules.joins import check_size, check_unique, joined_scope
from discreet.plan.scalar import And, Column, Scalar, by_name
from discreet.plan.scope import Scope
from discreet.plan.sql.expressions import Expressions
from discreet.plan.sql.origins import DeclaredTable, Origin
from discreet.plan.sql.rebuilding import rebuilt
from discreet.plan.sql.refusals import Code, quoted
from discreet.plan.sql.views import Item, View

if TYPE_CHECKING:
    from discreet.plan.sql.sources import RowSource, Sources

EQUAL = "write ON b.dest = a.faa, or USING (dest); other conditions stand behind WHERE"
KINDS = {
    "CROSS": ("a CROSS JOIN puts every row beside every other", EQUAL),
    "SEMI": ("SEMI JOIN is not available", "write JOIN with a public table"),
    "ANTI": ("ANTI JOIN is not available", "write LEFT JOIN with a public table, and WHERE a.faa IS NULL"),
}
SIDES = {
    "RIGHT": ("RIGHT JOIN is not available", "begin with the other table, and write LEFT JOIN"),
    "FULL": (
        "FULL JOIN would show rows that are about nobody",
        "write LEFT JOIN, with the table about people first",
    ),
}


@dataclass(frozen=True, slots=True)
class Joined:
    """The rows of an origin, with those of another beside them. `on` has own columns, and columns of the other origin."""

    left: Origin
    right: Origin
    called: str
    protected: Protected
    conditions: tuple[Scalar, ...] = ()
    columns: tuple[Column, ...] = ()
    on: tuple[tuple[Column, Column], ...] = ()
    outer: bool = False

    @property
    def name(self) -> str:
        return self.left.name

    @property
    def public(self) -> Table | None:
        """The public table that is joined; None where it is about people."""
        return public_table(self.right)

    def scope(self, called: str) -> Scope:
        return joined_scope(self.left.scope(self.left.name), self.right.scope(self.called), self.on, self.outer)

    def rows(self, read: Iterable[Column], person: str | None) -> Rows:
        read = list(read)
        own = {column for column in read if column.table != self.called} | {column for column, _ in self.on}
        there = {replace(column, table="") for column in read if column.table == self.called}
        there |= {column for _, column in self.on} | set(self.columns)
        table = self.public
        other = self.right.rows(there, None if table is not None else person)
        if self.conditions:
            other = Filter(other, And(self.conditions) if len(self.conditions) > 1 else self.conditions[0])
        source = self.left.rows(own, person)
        if table is not None and table.public is not None:
            return PublicJoin(source, other, self.called, self.on, self.outer, table.public.digest)
        (persons,) = self.on
        if not any(isinstance(each, KeepRows) for each in own_rows(source)):
            source = KeepRows(source, persons[0], tuple(sorted(own, key=by_name)), limit_of(self.left))
        beside = KeepRows(other, persons[1], tuple(sorted(there, key=by_name)), limit_of(self.right))
        return PersonJoin(source, beside, self.called, persons, self.outer)


def public_table(origin: Origin) -> Table | None:
    """The public table that an origin is; None for any other."""
    return origin.table if isinstance(origin, DeclaredTable) and origin.table.public is not None else None


def limit_of(origin: Origin) -> int:
    """How many rows of a person are joined of an origin."""
    while isinstance(origin, Joined):
        origin = origin.left
    return origin.table.join_rows if isinstance(origin, DeclaredTable) else JOIN_ROWS


def joined(sources: "Sources", left: "RowSource", node: exp.Join, right: "RowSource") -> "RowSource":
    """The rows that a JOIN gives, or raises QueryError."""
    outer = _is_outer(sources, node)
    if public_table(left.origin) is not None and public_table(right.origin) is None and not outer:
        left, right = right, left  # which of the two is written first is nothing to an inner join
    if public_table(left.origin) is not None:
        what = "a public table has rows that are about nobody, and is joined to a table about somebody"
        raise sources.refusal(
            Code.JOIN, what, "begin with the other table: FROM bookings LEFT JOIN airports ON …", node
        )
    if isinstance(right.origin, Joined):
        raise sources.refusal(
            Code.JOIN, "what is joined is one table", "join one table after the other: a JOIN b ON … JOIN c ON …", node
        )
    origin = Joined(
        left.origin,
        right.origin,
        _free(right.origin.name, left.origin.scope(left.origin.name)),
        sources.catalog.protected,
        right.conditions,
        right.columns,
        outer=outer,
    )
    items = (*_own(left), *_others(sources, right, origin, node))
    view = View(left.called, items)
    _check_called(sources, left, right, node)
    both = replace(left, origin=origin, view=view)
    on, merged = _on(sources, both, origin, node)
    origin = replace(origin, on=on)
    _check(sources, origin, node)
    if origin.public is None and not outer:
        # who a row is about is the same on both sides
        view = View(left.called, tuple(_one_person(item, origin) for item in items))
    hidden = (
        replace(item, hidden=True) if item.table == right.called and item.name.casefold() in merged else item
        for item in view.items
    )
    return replace(both, origin=origin, view=View(left.called, tuple(hidden)))


def _is_outer(sources: "Sources", node: exp.Join) -> bool:
    """Whether rows without a match stay; what else a JOIN can be is refused."""
    sources.take(node, "this", "on", "using", "side", "kind", "method")
    side, kind, method = (str(node.args.get(name) or "").upper() for name in ("side", "kind", "method"))
    if method:
        raise sources.refusal(Code.JOIN, f"{method} JOIN is not available", EQUAL, node)
    for word, known in ((side, SIDES), (kind, KINDS)):
        if word in known:
            message, hint = known[word]
            raise sources.refusal(Code.JOIN, message, hint, node)
    if side not in ("", "LEFT") or kind not in ("", "INNER", "OUTER"):
        raise sources.refusal(Code.JOIN, f"{side} {kind} JOIN is not available".strip(), EQUAL, node)
    if not node.args.get("on") and not node.args.get("using"):
        raise sources.refusal(Code.JOIN, "a join needs the columns that must be equal", EQUAL, node)
    return side == "LEFT"


def _free(name: str, scope: Scope) -> str:
    """What the other side is called in plans: as its table, or with the first free number behind it."""
    taken = {each.casefold() for each in scope.tables}
    candidate, i = name, 1
    while candidate.casefold() in taken:
        i += 1
        candidate = f"{name} {i}"
    return candidate


def _own(source: "RowSource") -> Iterator[Item]:
    if source.view is not None:
        yield from (item if item.table else replace(item, table=source.called) for item in source.view.items)
        return
    scope = source.origin.scope(source.called)
    for each in scope.fields:
        column = scope.column(each)
        yield Item(each.name, column, (column,), source.called)


def _others(sources: "Sources", source: "RowSource", origin: Joined, node: exp.Join) -> Iterator[Item]:
    """What names of the other side mean over a row of the join."""
    for item in _own(source):
        meaning = _elsewhere(item.meaning, origin.called)
        if origin.outer and not isinstance(meaning, Column):
            message = f"{quoted(item.name)} is computed in a sub-query that is joined by LEFT JOIN"
            raise sources.refusal(
                Code.JOIN, message, "compute it outside: a row without a match has no columns there", node
            )
        columns = tuple(replace(column, table=origin.called) for column in item.columns)
        yield Item(item.name, meaning, columns, item.table)


def _elsewhere(scalar: Scalar, called: str) -> Scalar:
    """An expression over the other side, where its columns stand beside those of a row."""
    if isinstance(scalar, Column):
        return replace(scalar, table=called)
    return rebuilt(scalar, lambda inside: _elsewhere(inside, called))


def _check_called(sources: "Sources", left: "RowSource", right: "RowSource", node: exp.Join) -> None:
    names = {left.called} if left.view is None else set(left.view.tables)
    if right.called.casefold() in {name.casefold() for name in names}:
        raise sources.refusal(
            Code.DUPLICATE_NAME,
            f"two tables are called {quoted(right.called)} here",
            f"give one of them another name: {right.called} AS other",
            node,
        )


def _on(
    sources: "Sources", source: "RowSource", origin: Joined, node: exp.Join
) -> tuple[tuple[tuple[Column, Column], ...], set[str]]:
    """The columns that must be equal, own ones and those of the other side; and the names that USING makes one of."""
    read, merged = sources.expressions(source), set[str]()
    pairs: list[tuple[Scalar, Scalar]] = []
    if node.args.get("using"):
        view = source.view or View("", ())
        for identifier in node.args["using"]:
            name = sources.identifier(identifier)
            merged.add(name.casefold())
            sides = [
                [item for item in view.matches(name) if _beside(item, origin) is beside] for beside in (False, True)
            ]
            for side, where in zip(sides, ("on the left", "on the right"), strict=True):
                if len(side) != 1:
                    message = f"column {quoted(name)} is {'not' if not side else 'more than once'} {where} of this join"
                    raise sources.refusal(Code.UNKNOWN_COLUMN, message, EQUAL, identifier)
            pairs.append((sides[0][0].meaning, sides[1][0].meaning))
    if node.args.get("on"):
        pairs += _equal(sources, read, node.args["on"], node)
    return tuple(_pair(sources, origin, pair, node) for pair in pairs), merged


def _equal(sources: "Sources", read: Expressions, node: exp.Expr, join: exp.Join) -> Iterator[tuple[Scalar, Scalar]]:
    """The pairs of what a condition says to be equal."""
    while type(node) is exp.Paren:
        sources.take(node, "this")
        node = node.this
    if type(node) is exp.And:
        sources.take(node, "this", "expression")
        yield from _equal(sources, read, node.this, join)
        yield from _equal(sources, read, node.expression, join)
        return
    sides = [node.args.get("this"), node.args.get("expression")] if type(node) is exp.EQ else []
    if not sides or not all(isinstance(each, exp.Column) for each in sides):
        raise sources.refusal(Code.JOIN, "tables are joined on equal columns, as they are", EQUAL, join)
    sources.take(node, "this", "expression")
    yield read.scalar(node.this), read.scalar(node.expression)


def _pair(sources: "Sources", origin: Joined, pair: tuple[Scalar, Scalar], node: exp.Join) -> tuple[Column, Column]:
    """An own column, and one of the other side."""
    first, second = pair
    if not isinstance(first, Column) or not isinstance(second, Column):
        hint = "join on columns of the tables themselves"
        raise sources.refusal(Code.JOIN, "tables are joined on columns, and this one is computed", hint, node)
    if (first.table == origin.called) is (second.table == origin.called):
        message = "a join is on columns of both sides, and these are of one"
        raise sources.refusal(Code.JOIN, message, EQUAL, node)
    own, there = (second, first) if first.table == origin.called else (first, second)
    if own.type is not there.type:
        raise sources.refusal(
            Code.TYPES,
            f"{quoted(own.name)} is {own.type.value}, and {quoted(there.name)}, which it is joined on, is {there.type.value}",
            f'declare the same type for both: {own.name} = {{ type = "{there.type.value}" }}, or --types'
            f" {own.name}={there.type.value}; what nobody declares is text",
            node,
        )
    return own, replace(there, table="")


def _beside(item: Item, origin: Joined) -> bool:
    return isinstance(item.meaning, Column) and item.meaning.table == origin.called


def _check(sources: "Sources", origin: Joined, node: exp.Join) -> None:
    """Whether rows may be joined so: a public table where its rows are told apart, people on who they are."""
    table = origin.public
    try:
        if table is not None:
            other = origin.rows((), sources.catalog.protected.person)
            check_unique(table, _public_side(other), [there for _, there in origin.on])
            return
        _check_people(sources, origin, node)
        check_size(origin.rows((), origin.protected.person), origin.protected.people)
    except QueryError as error:
        if error.code != Code.JOIN or getattr(error, "__notes__", None):
            raise
        raise sources.refusal(Code.JOIN, error.message, error.hint, node) from None


def _public_side(relation: Rows) -> Rows:
    return relation.public if isinstance(relation, PublicJoin) else relation


def _check_people(sources: "Sources", origin: Joined, node: exp.Join) -> None:
    person = origin.protected.person
    if person is None:
        raise sources.refusal(
            Code.JOIN,
            "here every row is about another person, and a row is joined with public tables alone",
            "declare the table as public, if it is about nobody: public = true, or --public NAME=FILE",
            node,
        )
    both = [(own.name.casefold(), own.table, there.name.casefold()) for own, there in origin.on]
    if both != [(person.casefold(), "", person.casefold())]:
        raise sources.refusal(
            Code.JOIN,
            "two tables about people are joined on who a person is, and on nothing else",
            f"write ON a.{person} = b.{person}, or USING ({person}), and other conditions behind WHERE;"
            " a table about nobody is declared: public = true, or --public NAME=FILE",
            node,
        )


def _one_person(item: Item, origin: Joined) -> Item:
    (own, there), meaning = origin.on[0], item.meaning
    if isinstance(meaning, Column) and meaning == replace(there, table=origin.called):
        return replace(item, meaning=own, columns=(own,))
    return item
