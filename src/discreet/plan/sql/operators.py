"""Readers of constants, names, arithmetic, comparisons and conditions."""

from collections.abc import Iterable
from math import isfinite

from sqlglot import exp

from discreet.plan.catalog import suggestion
from discreet.plan.evaluate import evaluate
from discreet.plan.plain import MOST_INTEGER
from discreet.plan.scalar import (
    And,
    Arithmetic,
    Case,
    Column,
    Comparison,
    Function,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Operator,
    Or,
    Order,
    Scalar,
    Type,
)
from discreet.plan.sql.dates import with_days, with_interval
from discreet.plan.sql.expressions import Expressions, reads
from discreet.plan.sql.patterns import plain_pattern
from discreet.plan.sql.refusals import Code, quoted
from discreet.plan.sql.text import MOST_ITEMS
from discreet.plan.sql.values import alike, checked_number, is_null_literal

# constants and names


@reads(exp.Literal, args="this is_string")
def _literal(read: Expressions, node: exp.Literal) -> Scalar:
    if node.is_string:
        return Literal(node.name, Type.TEXT)
    return number_literal(read, node)


def number_literal(read: Expressions, node: exp.Literal, most: int = MOST_INTEGER) -> Literal:
    text = node.name
    if text.isdigit() and text.isascii():
        value = int(text) if len(text) <= 100 else most + 1
        if value > most:
            raise read.refusal(
                Code.LITERAL, f"the integer {quoted(text)} has more than 64 bits", "write it as 1e20", node
            )
        return Literal(value, Type.INTEGER)
    try:
        double = float(text)
    except ValueError:
        raise read.refusal(Code.LITERAL, f"{quoted(text)} is not a number", "write 31, 0.5 or 2e3", node) from None
    if not isfinite(double):
        raise read.refusal(Code.LITERAL, f"the number {quoted(text)} is too large", "write a smaller one", node)
    return Literal(double, Type.NUMBER)


@reads(exp.Boolean, args="this")
def _boolean(read: Expressions, node: exp.Boolean) -> Scalar:
    return Literal(bool(node.this), Type.BOOLEAN)


@reads(exp.Null, args="")
def _null(read: Expressions, node: exp.Null) -> Scalar:
    return Literal(None, Type.TEXT)


@reads(exp.Placeholder, args="this")
def _placeholder(read: Expressions, node: exp.Placeholder) -> Scalar:
    name = node.this
    if not isinstance(name, str) or name not in read.parameters:
        raise read.refusal(Code.PARAMETER, "a parameter has no value", "write ?, :name or $name, and bind a value")
    return read.parameters[name]


@reads(exp.Column, args="this table db catalog")
def _column(read: Expressions, node: exp.Column) -> Scalar:
    if node.args.get("db") is not None or node.args.get("catalog") is not None:
        raise read.refusal(
            Code.SCHEMA, "columns of other schemas are not available", "write the column's name alone", node
        )
    if isinstance(node.this, exp.Star):
        raise read.unknown(node.this)
    table = read.qualifier(node.args.get("table"))
    return read.column(read.identifier(node.this), node, table)


# arithmetic and comparisons

OPERATORS = {
    exp.Add: Operator.ADD,
    exp.Sub: Operator.SUBTRACT,
    exp.Mul: Operator.MULTIPLY,
    exp.Div: Operator.DIVIDE,
    exp.Mod: Operator.REMAINDER,
}
ORDERS = {
    exp.EQ: Order.EQUAL,
    exp.NEQ: Order.NOT_EQUAL,
    exp.LT: Order.LESS,
    exp.LTE: Order.LESS_OR_EQUAL,
    exp.GT: Order.GREATER,
    exp.GTE: Order.GREATER_OR_EQUAL,
}
TURNED = {
    Order.LESS: Order.GREATER,
    Order.GREATER: Order.LESS,
    Order.LESS_OR_EQUAL: Order.GREATER_OR_EQUAL,
    Order.GREATER_OR_EQUAL: Order.LESS_OR_EQUAL,
}
# Engines nest these differently.
LOOSE = (
    *ORDERS,
    exp.Is,
    exp.In,
    exp.Between,
    exp.Like,
    exp.ILike,
    exp.Escape,
    exp.Not,
    exp.NullSafeEQ,
    exp.NullSafeNEQ,
)


@reads(*OPERATORS, args="this expression typed safe")
def _arithmetic(read: Expressions, node: exp.Binary) -> Scalar:
    operator = OPERATORS[type(node)]
    dated = with_interval(read, node)
    if dated is not None:
        return dated
    left, right = read.scalar(node.this), read.scalar(node.expression)
    return with_days(operator, left, right) or Arithmetic(operator, checked_number(left), checked_number(right))


@reads(exp.Neg, args="this")
def _negative(read: Expressions, node: exp.Neg) -> Scalar:
    inner = node.this
    if type(inner) is exp.Literal and not inner.is_string:
        read.take(inner, "this", "is_string")
        literal = number_literal(read, inner, most=MOST_INTEGER + 1)  # the least integer has no positive twin
        return negated(literal)
    operand = read.number(inner)
    if isinstance(operand, Literal):
        return negated(operand)
    return Arithmetic(Operator.SUBTRACT, Literal(0, Type.INTEGER), operand)


def negated(constant: Literal) -> Literal:
    value = constant.value
    return Literal(-value, constant.type) if isinstance(value, int | float) else constant


@reads(*ORDERS, args="this expression")
def _comparison(read: Expressions, node: exp.Binary) -> Scalar:
    _bracketed(read, node.this, node.expression)
    return asked(read, node, ORDERS[type(node)], read.scalar(node.this), read.scalar(node.expression))


def asked(read: Expressions, node: exp.Expr, order: Order, left: Scalar, right: Scalar) -> Scalar:
    """A comparison as somebody wrote it; refused where what is declared tells already how it ends, since the answer would be paid for."""
    comparison = compared(order, left, right)
    if is_null_literal(left) or is_null_literal(right):
        message = "a comparison with NULL is neither true nor false, whatever stands there"
        raise read.refusal(Code.IMPOSSIBLE, message, "write IS NULL or IS NOT NULL", node)
    if isinstance(comparison, Comparison) and order in (Order.EQUAL, Order.NOT_EQUAL):
        _check_keys(read, node, comparison.left, (comparison.right,))
    return comparison


def _check_keys(read: Expressions, node: exp.Expr, operand: Scalar, values: Iterable[Scalar]) -> None:
    """Constants beside a column that has declared keys are some of these."""
    if not isinstance(operand, Column):
        return
    field = read.scope.field(operand)
    # what a survey found need not be all there is
    keys = None if field.surveyed else field.keys
    for value in values:
        if keys is not None and isinstance(value, Literal) and value.value not in keys:
            message = f"{quoted(str(value.value))} is none of the declared keys of {quoted(operand.name)}"
            hint = suggestion(str(value.value)[:100], map(str, keys), "the keys are")
            raise read.refusal(Code.UNKNOWN_KEY, message, hint, node)


def compared(order: Order, left: Scalar, right: Scalar) -> Scalar:
    """A comparison, with a constant on its right."""
    left, right = alike([left, right])
    if isinstance(left, Literal) and not isinstance(right, Literal):
        return Comparison(TURNED.get(order, order), right, left)
    return Comparison(order, left, right)


def _bracketed(read: Expressions, *nodes: exp.Expr) -> None:
    for node in nodes:
        if isinstance(node, LOOSE):
            message = "comparisons that follow each other can be read in two ways"
            raise read.refusal(Code.BRACKETS, message, "put one of them in brackets, or join them with AND", node)


@reads(exp.Between, args="this low high")
def _between(read: Expressions, node: exp.Between) -> Scalar:
    low, high = node.args["low"], node.args["high"]
    _bracketed(read, node.this, low, high)
    operand = read.scalar(node.this)
    return And(
        (
            asked(read, node, Order.GREATER_OR_EQUAL, operand, read.scalar(low)),
            asked(read, node, Order.LESS_OR_EQUAL, operand, read.scalar(high)),
        )
    )


@reads(exp.And, exp.Or, args="this expression")
def _connected(read: Expressions, node: exp.Connector) -> Scalar:
    """Flattened, without recursion along a chain, also through brackets."""
    waiting: list[exp.Expr] = [node]
    parts: list[Scalar] = []
    while waiting:
        each = waiting.pop()
        while type(each) is exp.Paren:
            read.take(each, "this")
            each = each.this
        if type(each) is type(node):
            read.take(each, "this", "expression")
            waiting += [each.expression, each.this]
        else:
            part = read.condition(each)
            parts += part.parts if isinstance(part, And if isinstance(node, exp.And) else Or) else (part,)
        if len(parts) > MOST_ITEMS:
            raise read.refusal(
                Code.TOO_MANY_ITEMS, f"more than {MOST_ITEMS:,} conditions are joined", "use IN or BETWEEN"
            )
    return And(tuple(parts)) if isinstance(node, exp.And) else Or(tuple(parts))


@reads(exp.Not, args="this")
def _not(read: Expressions, node: exp.Not) -> Scalar:
    return Not(read.condition(node.this))


@reads(exp.Is, args="this expression")
def _is(read: Expressions, node: exp.Is) -> Scalar:
    _bracketed(read, node.this)
    right = node.expression
    if isinstance(right, exp.Null):
        read.take(right)
        return IsNull(read.scalar(node.this))
    if isinstance(right, exp.Boolean):
        read.take(right, "this")
        operand = read.condition(node.this)
        asked = operand if right.this else Not(operand)
        return Case(((asked, Literal(True, Type.BOOLEAN)),), Literal(False, Type.BOOLEAN))
    raise read.refusal(Code.OPERATOR, "IS is for NULL, TRUE and FALSE", "write = to compare", node)


@reads(exp.NullSafeEQ, exp.NullSafeNEQ, args="this expression")
def _distinct_from(read: Expressions, node: exp.Binary) -> Scalar:
    """IS [NOT] DISTINCT FROM: a comparison that is never NULL, in which NULL is one more value.

    The parser puts brackets around comparisons beside it where nobody wrote any, so that none can be told from those that somebody wrote.
    """
    if any(isinstance(each.unnest(), LOOSE) for each in (node.this, node.expression)):
        message = "a comparison beside IS DISTINCT FROM can be read in two ways"
        raise read.refusal(Code.BRACKETS, message, "write COALESCE(a = b, FALSE) for it, and compare that", node)
    left, right = read.scalar(node.this), read.scalar(node.expression)
    if is_null_literal(left) or is_null_literal(right):
        same: Scalar = IsNull(left if is_null_literal(right) else right)
    else:
        equal = asked(read, node, Order.EQUAL, left, right)
        yes, no = Literal(True, Type.BOOLEAN), Literal(False, Type.BOOLEAN)
        both = And((IsNull(left), IsNull(right)))
        constant = isinstance(left, Literal) or isinstance(right, Literal)
        same = Case(((equal, yes),) if constant else ((equal, yes), (both, yes)), no)
    return same if isinstance(node, exp.NullSafeEQ) else Not(same)


def _row_in(read: Expressions, node: exp.In) -> Scalar:
    """(a, b) IN ((1, 'x'), (2, 'y')): one of these rows."""
    read.take(node.this, "expressions")
    operands = [read.scalar(each) for each in node.this.expressions]
    rows = []
    for each in node.expressions:
        values = each.expressions if isinstance(each, exp.Tuple) else []
        if len(values) != len(operands):
            hint = "write as many constants in each: (a, b) IN ((1, 'x'), (2, 'y'))"
            raise read.refusal(Code.OPERATOR, f"IN needs rows of {len(operands)} constants", hint, node)
        read.take(each, "expressions")
        constants = [read.constant(value) for value in values]
        rows.append(And(tuple(_one_of_row(read, node, *pair) for pair in zip(operands, constants, strict=True))))
    return rows[0] if len(rows) == 1 else Or(tuple(dict.fromkeys(rows)))


def _one_of_row(read: Expressions, node: exp.In, operand: Scalar, value: Literal | None) -> Scalar:
    if value is None or is_null_literal(value):
        hint = "write constants, such as (a, b) IN ((1, 'x')); for NULL write OR a IS NULL"
        raise read.refusal(Code.OPERATOR, "IN needs rows of constants without NULL", hint, node)
    return asked(read, node, Order.EQUAL, operand, value)


@reads(exp.In, args="this expressions")
def _in(read: Expressions, node: exp.In) -> Scalar:
    if isinstance(node.this, exp.Tuple) and node.expressions:
        return _row_in(read, node)
    _bracketed(read, node.this)
    operand = read.scalar(node.this)
    values = [read.constant(each) for each in node.expressions]
    if not values or any(value is None or is_null_literal(value) for value in values):
        hint = "write constants, such as IN (1, 2); for NULL write OR x IS NULL"
        raise read.refusal(Code.OPERATOR, "IN needs a list of constants without NULL", hint, node)
    operand, *constants = alike([operand, *(value for value in values if value is not None)])
    distinct = {value for value in constants if isinstance(value, Literal)}
    _check_keys(read, node, operand, constants)
    return In(operand, tuple(sorted(distinct, key=lambda value: (value.type.value, value.value))))


@reads(exp.Like, exp.ILike, args="this expression negate")
def _like(read: Expressions, node: exp.Like | exp.ILike) -> Scalar:
    return matched(read, node, None)


@reads(exp.Escape, args="this expression")
def _escape(read: Expressions, node: exp.Escape) -> Scalar:
    inner = node.this
    character = read.constant(node.expression)
    if type(inner) not in (exp.Like, exp.ILike) or character is None or not isinstance(character.value, str):
        raise read.refusal(
            Code.PATTERN, "ESCAPE needs one character as a constant", "write LIKE '10!%' ESCAPE '!'", node
        )
    read.take(inner, "this", "expression", "negate")
    return matched(read, inner, character.value)


def matched(read: Expressions, node: exp.Expr, escape: str | None) -> Scalar:
    _bracketed(read, node.this, node.expression)
    operand = read.of_type(node.this, Type.TEXT)
    pattern = read.constant(node.expression)
    if pattern is None or not isinstance(pattern.value, str):
        raise read.refusal(Code.PATTERN, "the pattern must be a constant text", "write LIKE 'A%'", node)
    plain = plain_pattern(pattern.value, escape)
    if plain is None:
        hint = "ESCAPE is one character, and stands before another one: LIKE '10!%' ESCAPE '!'"
        raise read.refusal(Code.PATTERN, "the pattern is not complete", hint, node)
    like = _folded(operand, plain) if isinstance(node, exp.ILike) else Like(operand, plain, False)
    return Not(like) if node.args.get("negate") else like


def _folded(operand: Scalar, pattern: str) -> Like:
    """A pattern, whatever the case: engines fold A to Z alike; where it has other letters both sides are put in small ones."""
    small = evaluate(Function("lower", (Literal(pattern, Type.TEXT),)), {})
    if pattern.isascii() or not isinstance(small, str):
        return Like(operand, pattern, True)
    return Like(Function("lower", (operand,)), small, False)
