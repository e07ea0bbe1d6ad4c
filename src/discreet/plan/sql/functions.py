"""Readers of CASE and its relatives, of conversions and of functions of one row."""

import re
from collections.abc import Sequence

from sqlglot import exp

from discreet.plan.number_functions import MOST_BUCKETS
from discreet.plan.scalar import (
    Arithmetic,
    Case,
    Cast,
    Coalesce,
    Function,
    Literal,
    Operator,
    Order,
    Scalar,
    Type,
)
from discreet.plan.sql.expressions import Expressions, TextSpan, reads, span_of
from discreet.plan.sql.operators import asked, compared
from discreet.plan.sql.refusals import Code, type_refusal
from discreet.plan.sql.values import TIMES, alike, as_day, as_type, checked_cast, kind
from discreet.plan.texts import plain_day, plain_moment

MOST_DIGITS = 9  # of ROUND(x, digits), to either side of the point


# choices


@reads(exp.Case, args="this ifs default")
def _case(read: Expressions, node: exp.Case) -> Scalar:
    operand = node.args.get("this")
    subject = None if operand is None else read.scalar(operand)
    branches = []
    for each in node.args["ifs"]:
        read.take(each, "this", "true")
        if subject is None:
            condition = read.condition(each.this)
        else:
            condition = asked(read, each.this, Order.EQUAL, subject, read.scalar(each.this))
        branches.append((condition, read.scalar(each.args["true"])))
    default = node.args.get("default")
    return case_of(branches, None if default is None else read.scalar(default))


def case_of(branches: Sequence[tuple[Scalar, Scalar]], otherwise: Scalar | None) -> Scalar:
    otherwise = Literal(None, Type.TEXT) if otherwise is None else otherwise
    *values, otherwise = alike([*(value for _, value in branches), otherwise])
    return Case(tuple((when, value) for (when, _), value in zip(branches, values, strict=True)), otherwise)


@reads(exp.If, args="this true false")
def _if(read: Expressions, node: exp.If) -> Scalar:
    otherwise = node.args.get("false")
    branch = (read.condition(node.this), read.scalar(node.args["true"]))
    return case_of([branch], None if otherwise is None else read.scalar(otherwise))


@reads(exp.Coalesce, args="this expressions")
def _coalesce(read: Expressions, node: exp.Coalesce) -> Scalar:
    parts = alike([read.scalar(each) for each in (node.this, *node.expressions)])
    return parts[0] if len(parts) == 1 else Coalesce(tuple(parts))


@reads(exp.Nullif, args="this expression")
def _nullif(read: Expressions, node: exp.Nullif) -> Scalar:
    left = read.scalar(node.this)
    return case_of([(compared(Order.EQUAL, left, read.scalar(node.expression)), Literal(None, Type.TEXT))], left)


# conversions

TYPES = {
    **dict.fromkeys((exp.DType.TINYINT, exp.DType.SMALLINT, exp.DType.INT, exp.DType.BIGINT), Type.INTEGER),
    **dict.fromkeys((exp.DType.FLOAT, exp.DType.DOUBLE, exp.DType.DECIMAL), Type.NUMBER),
    **dict.fromkeys((exp.DType.TEXT, exp.DType.VARCHAR, exp.DType.CHAR), Type.TEXT),
    exp.DType.DATE: Type.DATE,
    **dict.fromkeys((exp.DType.TIMESTAMP, exp.DType.TIMESTAMPNTZ), Type.TIMESTAMP),
    exp.DType.BOOLEAN: Type.BOOLEAN,
}


def _place(text: str, name: str, cast: exp.Cast) -> TextSpan | None:
    """The place where a cast names its type, which the parser does not keep; the whole cast where it is spelt otherwise."""
    operand = span_of(cast.this)
    for word in re.finditer(r"(?:\bAS\b|::)\s*(\w+)", text[operand.end + 1 :] if operand else "", re.IGNORECASE):
        if operand is not None and word.group(1).upper() == name.partition("(")[0].upper():
            return TextSpan(operand.end + 1 + word.start(1), operand.end + word.end(1))
    return span_of(cast)


@reads(exp.Cast, exp.TryCast, args="this to safe")
def _cast(read: Expressions, node: exp.Cast) -> Scalar:
    to = node.args["to"]
    target = TYPES.get(to.this) if isinstance(to, exp.DataType) else None
    if target is None:
        name = to.sql("duckdb")
        raise type_refusal(name, read.text, _place(read.text, name, node))
    read.take(to, "this", "expressions", "nested")  # DECIMAL comes with its default digits; written ones were refused
    operand = read.scalar(node.this)
    got = kind(operand)
    if target is Type.DATE and isinstance(operand, Literal) and isinstance(operand.value, str):
        day = plain_day(operand.value)
        if day is None:
            raise read.refusal(
                Code.LITERAL, "the date must be a day of the form YYYY-MM-DD", "write DATE '2024-12-31'", node
            )
        return Literal(day, Type.DATE)
    if target is Type.TIMESTAMP and isinstance(operand, Literal) and isinstance(operand.value, str):
        moment = plain_moment(operand.value)
        if moment is None:
            message = "the timestamp must be a moment of the form YYYY-MM-DD HH:MM:SS, without a zone"
            raise read.refusal(Code.LITERAL, message, "write TIMESTAMP '2024-12-31 23:59:00'", node)
        return Literal(moment, Type.TIMESTAMP)
    if isinstance(operand, Literal) and {got, target} == TIMES:
        return as_day(operand) if target is Type.DATE else as_type(operand, target)
    if got is None:
        return Cast(Literal(None, target), target)
    checked_cast(got, target)
    return operand if got is target else Cast(operand, target)


@reads(exp.Date, args="this")
def _date(read: Expressions, node: exp.Date) -> Scalar:
    """DATE(x): the day of a timestamp, and what a text says; the same as a cast."""
    operand = as_type(as_day(read.scalar(node.this)), Type.DATE)
    got = kind(operand)
    if got is None:
        return Cast(operand, Type.DATE)
    checked_cast(got, Type.DATE)
    return operand if got is Type.DATE else Cast(operand, Type.DATE)


# functions that are not written as a call with operands alone; all others `calls` reads


@reads(exp.Round, exp.Trunc, args="this decimals")
def _round(read: Expressions, node: exp.Round | exp.Trunc) -> Scalar:
    """The rounding is done on larger numbers for decimals, and on smaller ones for whole tens and hundreds."""
    name = "round" if isinstance(node, exp.Round) else "trunc"
    operand = read.number(node.this)
    decimals = node.args.get("decimals")
    digits = Literal(0, Type.INTEGER) if decimals is None else read.constant(decimals)
    if digits is None or type(digits.value) is not int or abs(digits.value) > MOST_DIGITS:
        word = name.upper()
        hint = f"write {word}(x), or {word}(x, 2) with a constant from -{MOST_DIGITS} to {MOST_DIGITS}"
        raise read.refusal(Code.FUNCTION, f"{word} needs a constant number of digits", hint, node)
    if digits.value == 0:
        return Function(name, (operand,))
    steps = Literal(10 ** abs(digits.value), Type.INTEGER)
    there, back = Operator.MULTIPLY, Operator.DIVIDE
    if digits.value < 0:
        there, back = back, there
    return Arithmetic(back, Function(name, (Arithmetic(there, operand, steps),)), steps)


@reads(exp.IntDiv, args="this expression")
def _whole_quotient(read: Expressions, node: exp.IntDiv) -> Scalar:
    """x // y: the quotient without its decimals; of integers below 2^53 it is exact, and an integer."""
    left, right = read.number(node.this), read.number(node.expression)
    quotient = Function("trunc", (Arithmetic(Operator.DIVIDE, left, right),))
    return Cast(quotient, Type.INTEGER) if kind(left) is kind(right) is Type.INTEGER else quotient


@reads(exp.Pow, args="this expression")
def _power(read: Expressions, node: exp.Pow) -> Scalar:
    called = "start" in node.meta
    if not called and isinstance(node.this, exp.Pow | exp.Neg):
        message = "a power of a power, and of a number with a sign, can be read in two ways"
        raise read.refusal(Code.BRACKETS, message, "put one of them in brackets: (-x) ^ 2, or x ^ (y ^ z)", node)
    return Function("power", (read.number(node.this), read.number(node.expression)))


LOGARITHMS = {2: "log2", 10: "log10"}


@reads(exp.Log, args="this expression")
def _logarithm(read: Expressions, node: exp.Log) -> Scalar:
    """LOG(x) is to the base 10; LOG(b, x) to any other. LOG2 and LOG10 come with a base that nobody wrote."""
    name = read.written(node).lower()
    if name in LOGARITHMS.values():
        return Function(name, (read.number(node.expression),))
    operand = node.args.get("expression")
    if operand is None:
        return Function("log10", (read.number(node.this),))
    base, value = read.number(node.this), read.number(operand)
    if isinstance(base, Literal) and base.value in LOGARITHMS:
        return Function(LOGARITHMS[int(base.value)], (value,))  # type: ignore[arg-type]
    return Arithmetic(Operator.DIVIDE, Function("log10", (value,)), Function("log10", (base,)))


@reads(exp.WidthBucket, args="this min_value max_value num_buckets")
def _width_bucket(read: Expressions, node: exp.WidthBucket) -> Scalar:
    operand = read.number(node.this)
    low, high, count = (read.constant(node.args[each]) for each in ("min_value", "max_value", "num_buckets"))
    values = [None if each is None else each.value for each in (low, high, count)]
    numbers = [each for each in values if isinstance(each, int | float) and not isinstance(each, bool)]
    whole = len(numbers) == 3 and type(numbers[2]) is int and 1 <= numbers[2] <= MOST_BUCKETS
    if low is None or high is None or count is None or not whole or not numbers[0] < numbers[1]:
        hint = f"write WIDTH_BUCKET(x, 0, 100, 10): two constants, the lower one first, and 1 to {MOST_BUCKETS:,} bins"
        raise read.refusal(Code.FUNCTION, "WIDTH_BUCKET needs constant ends and a constant number of bins", hint, node)
    return Function("width_bucket", (operand, low, high, count))
