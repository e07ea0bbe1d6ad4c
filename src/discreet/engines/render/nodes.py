"""The plain nodes of SQL that every dialect writes alike; what they do not, `words` has. sqlglot's generator makes text of them."""

from collections.abc import Sequence
from typing import TypeAlias

from sqlglot import exp

from discreet.plan.moments import FIRST, LAST
from discreet.plan.scalar import Type

E: TypeAlias = exp.Expression
T = exp.DType
TYPES = {
    Type.INTEGER: T.BIGINT,
    Type.NUMBER: T.DOUBLE,
    Type.TEXT: T.TEXT,
    Type.DATE: T.DATE,
    Type.TIMESTAMP: T.TIMESTAMP,
    Type.BOOLEAN: T.BOOLEAN,
}


def call(function: str, *arguments: E) -> E:
    return exp.Anonymous(this=function, expressions=list(arguments))


def text(value: str) -> E:
    return exp.Literal(this=value, is_string=True)


def bare_integer(value: int) -> E:
    return exp.Literal(this=str(value), is_string=False)


def named(identifier: str) -> E:
    return exp.Column(this=exp.Identifier(this=identifier, quoted=True))


def alias(sql: E, identifier: str) -> E:
    return exp.Alias(this=sql, alias=exp.Identifier(this=identifier, quoted=True))


def cast(sql: E, type: T) -> E:
    return exp.Cast(this=sql, to=exp.DataType(this=type))


def binary(operator: type[exp.Binary], left: E, right: E) -> E:
    return exp.Paren(this=operator(this=left, expression=right))


def chain(operator: type[exp.Binary], parts: list[E]) -> E:
    """A chain of any number of parts, which does not nest as deep: (a AND b) AND (c AND d)."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return binary(operator, chain(operator, parts[:half]), chain(operator, parts[half:]))


def when(branches: Sequence[tuple[E, E]], otherwise: E | None = None) -> E:
    return exp.Case(ifs=[exp.If(this=condition, true=value) for condition, value in branches], default=otherwise)


def integer(value: int) -> E:
    return cast(bare_integer(value), T.BIGINT)


def in_years(sql: E) -> E:
    """Whether a number of microseconds is that of a moment of the years 1 to 9999."""
    return exp.Between(this=sql, low=integer(FIRST), high=integer(LAST))


def double(value: float) -> E:
    return cast(text(repr(value)), T.DOUBLE)  # read digit by digit: a bare 0.1 would be a decimal first


def null(type: Type) -> E:
    return cast(exp.Null(), TYPES[type])


def is_null(sql: E) -> E:
    return exp.Paren(this=exp.Is(this=sql, expression=exp.Null()))


def table(identifier: str) -> E:
    return exp.Table(this=exp.Identifier(this=identifier, quoted=True))


def subquery(sql: E, identifier: str) -> E:
    return exp.Subquery(this=sql, alias=exp.TableAlias(this=exp.Identifier(this=identifier)))


def select(
    expressions: list[E],
    source: E,
    *,
    where: Sequence[E] = (),
    group: Sequence[E] = (),
    having: E | None = None,
    join: E | None = None,
) -> exp.Select:
    selection = exp.Select(expressions=expressions, from_=exp.From(this=source))
    if join is not None:
        selection.set("joins", [join])
    if where:
        selection.set("where", exp.Where(this=chain(exp.And, list(where))))
    if group:
        selection.set("group", exp.Group(expressions=list(group)))
    if having is not None:
        selection.set("having", exp.Having(this=having))
    return selection
