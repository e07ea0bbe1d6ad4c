"""Readers of what is written of dates: units in quotes, intervals, patterns, and sums and differences of days.

The parser keeps the unit of DATE_TRUNC and DATEDIFF as a word of its own. So the text that it was counts as read here, and `text` sees
to it that one stands there.
"""

import re

from sqlglot import exp

from discreet.plan.dates import PATTERNS, TRUNCATED
from discreet.plan.functions import FUNCTIONS, spelt
from discreet.plan.scalar import Arithmetic, Cast, Function, Literal, Operator, Scalar, Type
from discreet.plan.sql.expressions import Expressions, reads, reads_call
from discreet.plan.sql.refusals import Code
from discreet.plan.sql.values import Mismatch, as_type, kind, type_in_words

DAY, WEEK, MONTH = "day", "week", "month"
MOVES = {DAY: (1, 0), WEEK: (7, 0), MONTH: (0, 1), "quarter": (0, 3), "year": (0, 12)}
"""The days and the months of each unit of an interval."""

UNITS = {spelling.upper() for unit in MOVES for spelling in (unit, f"{unit}s")}
"""How units are spelt behind the number of an interval."""

HOURS = {"HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND", "EPOCH"}
FORM = re.compile(r"\s*([+-]?[0-9]{1,6})\s+([a-z]+?)s?(?=\s|$)", re.IGNORECASE)
WHOLE = re.compile(r"\s*[+-]?[0-9]{1,6}\s*")
INTERVALS = (
    "write INTERVAL '30 days', INTERVAL 1 MONTH or INTERVAL '1 year 6 months', with whole numbers of at most six digits"
)
# PostgreSQL's words for what a pattern has, the longest first.
TO_CHAR = {
    "YYYY": "%Y",
    "Month": "",
    "MM": "%m",
    "DD": "%d",
    "Mon": "%b",
    "FMMonth": "%B",
    "FMDay": "%A",
    "Dy": "%a",
    "IYYY": "%G",
}
TO_CHAR |= {"IW": "%V", "ID": "%u", "DDD": "%j"}
_TO_CHAR = re.compile("|".join(sorted(TO_CHAR, key=len, reverse=True)))


def unit_of(read: Expressions, node: exp.Expr, unit: exp.Expr | None) -> str:
    """The unit that a call names by a text, in small letters."""
    if isinstance(unit, exp.Literal) and unit.is_string:
        read.take(unit, "this", "is_string")
    elif isinstance(unit, exp.Var):
        read.take(unit, "this")
        read.take(exp.Literal.string(unit.name), "this", "is_string")
    else:
        raise read.refusal(
            Code.FUNCTION, "the unit must be a text", "write 'day', 'week', 'month', 'quarter' or 'year'", node
        )
    name = unit.name.strip().lower()
    return name.removesuffix("s") if name.upper() in UNITS else name


def part_refusal(read: Expressions, node: exp.Expr, unit: str) -> Exception:
    """What to say of a part of a date that there is not."""
    names = [each.name for each in FUNCTIONS.values() if each.extracted]
    if unit.upper() in HOURS:
        return read.refusal(
            Code.FUNCTION, "a date is a day and has no hours here", f"parts are {', '.join(names)}", node
        )
    hint = f"write EXTRACT({names[0].upper()} FROM …), or {', '.join(each.upper() for each in names[1:])}"
    return read.refusal(Code.FUNCTION, "this part of a date is not available", hint, node)


def part_of(read: Expressions, node: exp.Expr, unit: str, operand: exp.Expr) -> Scalar:
    """A part of a date; the years of AGE(a, b) are that itself, as it is in years already."""
    row = spelt(unit)
    if row is None or not row.extracted:
        raise part_refusal(read, node, unit)
    if row.name == "year" and isinstance(operand, exp.Anonymous) and operand.name.upper() == "AGE":
        return read.scalar(operand)
    return Function(row.name, (read.of_type(operand, Type.DATE),))


@reads(exp.Extract, args="this expression")
def _extract(read: Expressions, node: exp.Extract) -> Scalar:
    unit = node.this
    if isinstance(unit, exp.Var):
        read.take(unit, "this")
    elif isinstance(unit, exp.Literal):
        read.take(unit, "this", "is_string")
    else:
        raise part_refusal(read, node, "")
    return part_of(read, node, unit.name, node.expression)


@reads_call("DATE_PART", "DATEPART")
def _date_part(read: Expressions, node: exp.Anonymous) -> Scalar:
    if len(node.expressions) != 2:
        raise read.refusal(Code.FUNCTION, "DATE_PART takes 2 values", "write DATE_PART('year', …)", node)
    unit, operand = node.expressions
    return part_of(read, node, unit_of(read, node, unit), operand)


@reads(exp.TimestampTrunc, exp.DateTrunc, args="this unit")
def _date_trunc(read: Expressions, node: exp.Expr) -> Scalar:
    unit = unit_of(read, node, node.args.get("unit"))
    operand = read.of_type(node.this, Type.DATE)
    if unit == DAY:
        return operand
    if unit not in TRUNCATED:
        hint = f"write DATE_TRUNC('month', …), or {', '.join(each for each in (*TRUNCATED, DAY) if each != MONTH)}"
        raise read.refusal(Code.FUNCTION, "DATE_TRUNC has no such unit", hint, node)
    return Function(f"date_trunc_{unit}", (operand,))


@reads(exp.DateDiff, args="this expression unit date_part_boundary")
def _date_diff(read: Expressions, node: exp.DateDiff) -> Scalar:
    unit = unit_of(read, node, node.args.get("unit"))
    name = f"date_diff_{unit}"
    if name not in FUNCTIONS:
        hint = f"write DATEDIFF('day', first, second), or {', '.join(each for each in MOVES if each != DAY)}"
        raise read.refusal(Code.FUNCTION, "DATEDIFF has no such unit", hint, node)
    return Function(name, (read.of_type(node.expression, Type.DATE), read.of_type(node.this, Type.DATE)))


@reads(exp.TimeToStr, exp.ToChar, args="this format")
def _strftime(read: Expressions, node: exp.Expr) -> Scalar:
    """STRFTIME(date, pattern), the other way round as SQLite has it, and TO_CHAR in PostgreSQL's words."""
    operand, form = node.this, node.args.get("format")
    if isinstance(node, exp.TimeToStr) and isinstance(operand, exp.Literal) and not isinstance(form, exp.Literal):
        operand, form = form, operand
    constant = None if form is None else read.constant(form)
    pattern = constant.value if constant is not None and isinstance(constant.value, str) else ""
    if isinstance(node, exp.ToChar):
        pattern = _TO_CHAR.sub(lambda word: TO_CHAR[word[0]] or "?", pattern)
    day = read.of_type(operand, Type.DATE)
    if pattern == "%Y-%m-%d":
        return Cast(day, Type.TEXT)
    if pattern not in PATTERNS:
        patterns = ", ".join(("%Y-%m-%d", *PATTERNS))
        raise read.refusal(Code.PATTERN, "dates are not written so here", f"patterns of STRFTIME are {patterns}", node)
    return Function(f"strftime_{PATTERNS[pattern][0]}", (day,))


@reads(exp.DateAdd, args="this expression")
def _date_add(read: Expressions, node: exp.DateAdd) -> Scalar:
    """DATE_ADD(date, INTERVAL …)."""
    if not isinstance(node.expression, exp.Interval):
        raise read.refusal(Code.OPERATOR, "DATE_ADD needs an interval", INTERVALS, node)
    return moved(read.of_type(node.this, Type.DATE), *interval(read, node.expression))


@reads(exp.Interval, args="this unit fraction_in_string")
def _interval(read: Expressions, node: exp.Interval) -> Scalar:
    message = "an interval stands beside a date, with + or -"
    raise read.refusal(Code.OPERATOR, message, "write admitted + INTERVAL '30 days'", node)


def interval(read: Expressions, node: exp.Expr, sign: int = 1) -> tuple[int, int]:
    """The days and the months of an interval."""
    read.take(node, "this", "unit", "fraction_in_string")
    value, unit = node.this, node.args.get("unit")
    while isinstance(value, exp.Paren | exp.Neg):
        read.take(value, "this")
        sign = -sign if isinstance(value, exp.Neg) else sign
        value = value.this
    if not isinstance(value, exp.Literal):
        raise read.refusal(Code.OPERATOR, "an interval must be a constant", INTERVALS, node)
    read.take(value, "this", "is_string")
    if unit is not None:
        if not isinstance(unit, exp.Var):
            raise read.refusal(Code.OPERATOR, "an interval has one unit", INTERVALS, node)
        read.take(unit, "this")
        parts = [(value.name, unit.name)] if WHOLE.fullmatch(value.name) else []
    else:
        parts = FORM.findall(value.name) if FORM.sub("", value.name).strip() == "" else []
    if not parts:
        raise read.refusal(Code.OPERATOR, "the interval cannot be read", INTERVALS, node)
    days = months = 0
    for count, name in parts:
        one = MOVES.get(name.lower().removesuffix("s"))
        if one is None:
            raise read.refusal(
                Code.OPERATOR, "an interval is of days, weeks, months, quarters or years", INTERVALS, node
            )
        days, months = days + sign * int(count) * one[0], months + sign * int(count) * one[1]
    return days, months


def moved(day: Scalar, days: int, months: int) -> Scalar:
    """A date that is moved by months, then by days."""
    if months:
        day = Function("plus_months", (day, Literal(months, Type.INTEGER)))
    return Function("plus_days", (day, Literal(days, Type.INTEGER))) if days or not months else day


def with_interval(read: Expressions, node: exp.Binary) -> Scalar | None:
    """A date and an interval, added or subtracted; None where there is no interval."""
    if not isinstance(node, exp.Add | exp.Sub):
        return None
    left, right = bare(read, node.this), bare(read, node.expression)
    if isinstance(right, exp.Interval):
        return moved(read.of_type(left, Type.DATE), *interval(read, right, -1 if isinstance(node, exp.Sub) else 1))
    if isinstance(left, exp.Interval) and isinstance(node, exp.Add):
        return moved(read.of_type(right, Type.DATE), *interval(read, left))
    return None


def bare(read: Expressions, node: exp.Expr) -> exp.Expr:
    """A node without the brackets around it, if it is an interval."""
    inner = node.unnest()
    if isinstance(inner, exp.Interval):
        while node is not inner:
            read.take(node, "this")
            node = node.this
    return node


def with_days(operator: Operator, left: Scalar, right: Scalar) -> Scalar | None:
    """A sum or a difference in which a date is; None where there is none."""
    if Type.DATE not in (kind(left), kind(right)) or operator not in (Operator.ADD, Operator.SUBTRACT):
        return None
    if (
        operator is Operator.SUBTRACT
        and kind(left) is not Type.INTEGER
        and kind(right) not in (Type.INTEGER, Type.NUMBER)
    ):
        left, right = as_type(left, Type.DATE), as_type(right, Type.DATE)
        if {kind(left), kind(right)} <= {Type.DATE, None}:
            return Function("date_diff_day", (right, left))
    if kind(right) is Type.DATE and operator is Operator.ADD:
        left, right = right, left
    if kind(left) is not Type.DATE or kind(right) is not Type.INTEGER:
        raise Mismatch(
            f"{type_in_words(kind(left))} and {type_in_words(kind(right))} cannot be added or subtracted",
            "dates are subtracted from each other, and moved by whole days or by INTERVAL '1 month'",
        )
    if isinstance(right, Literal) and isinstance(right.value, int):
        return moved(left, right.value if operator is Operator.ADD else -right.value, 0)
    if operator is Operator.SUBTRACT:
        # a count that no double tells from the next leaves the years, and is NULL here as there
        right = Cast(Arithmetic(Operator.SUBTRACT, Literal(0, Type.INTEGER), right), Type.INTEGER)
    return Function("plus_days", (left, right))
