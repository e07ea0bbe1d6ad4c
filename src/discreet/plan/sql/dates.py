"""Readers of what is written of dates: units in quotes, intervals, patterns, and sums and differences of days.

The parser keeps the unit of DATE_TRUNC and DATEDIFF as a word of its own. So the text that it was counts as read here, and `text` sees
to it that one stands there.
"""

import re
from dataclasses import dataclass

from sqlglot import exp

from discreet.plan.dates import PATTERNS, TRUNCATED
from discreet.plan.functions import FUNCTIONS, spelt
from discreet.plan.scalar import Arithmetic, Cast, Function, Literal, Operator, Scalar, Type
from discreet.plan.sql.expressions import Expressions, reads, reads_call
from discreet.plan.sql.refusals import Code
from discreet.plan.sql.values import NO_HOURS, Mismatch, as_type, kind, type_in_words
from discreet.plan.times import CLOCK_PATTERNS
from discreet.plan.times import UNITS as OF_THE_CLOCK

DAY, WEEK, MONTH = "day", "week", "month"


@dataclass(frozen=True, slots=True)
class Move:
    """How far an interval moves: by months first, then by days, then by seconds."""

    months: int = 0
    days: int = 0
    seconds: int = 0

    def plus(self, other: "Move", times: int) -> "Move":
        return Move(
            self.months + times * other.months, self.days + times * other.days, self.seconds + times * other.seconds
        )


MOVES = {
    DAY: Move(days=1),
    WEEK: Move(days=7),
    MONTH: Move(months=1),
    "quarter": Move(months=3),
    "year": Move(months=12),
    "hour": Move(seconds=3600),
    "minute": Move(seconds=60),
    "second": Move(seconds=1),
}
"""How far each unit of an interval moves."""

UNITS = {spelling.upper() for unit in MOVES for spelling in (unit, f"{unit}s")}
"""How units are spelt behind the number of an interval."""

HOURS = {"HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND", "EPOCH"}
FORM = re.compile(r"\s*([+-]?[0-9]{1,6})\s+([a-z]+?)s?(?=\s|$)", re.IGNORECASE)
WHOLE = re.compile(r"\s*[+-]?[0-9]{1,6}\s*")
INTERVALS = (
    "write INTERVAL '30 days', INTERVAL 1 MONTH, INTERVAL '1 year 6 months' or, beside a timestamp, INTERVAL '2 hours',"
    " with whole numbers of at most six digits"
)
# PostgreSQL's words for what a pattern has, the longest first.
TO_CHAR = {
    "HH24": "%H",
    "MI": "%M",
    "SS": "%S",
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
            Code.FUNCTION, "the unit must be a text", "write 'hour', 'day', 'week', 'month', 'quarter' or 'year'", node
        )
    name = unit.name.strip().lower()
    return name.removesuffix("s") if name.upper() in UNITS else name


def part_refusal(read: Expressions, node: exp.Expr, unit: str) -> Exception:
    """What to say of a part of a date that there is not."""
    names = [each.name for each in FUNCTIONS.values() if each.extracted]
    if spelt(unit) is not None and unit.upper() in HOURS:
        return read.refusal(Code.FUNCTION, "this is no part of a date", NO_HOURS, node)
    hint = f"write EXTRACT({names[0].upper()} FROM …), or {', '.join(each.upper() for each in names[1:])}"
    return read.refusal(Code.FUNCTION, "this part of a date is not available", hint, node)


def part_of(read: Expressions, node: exp.Expr, unit: str, operand: exp.Expr) -> Scalar:
    """A part of a date; the years of AGE(a, b) are that itself, as it is in years already."""
    row = spelt(unit)
    if row is None or not row.extracted:
        raise part_refusal(read, node, unit)
    if row.name == "year" and isinstance(operand, exp.Anonymous) and operand.name.upper() == "AGE":
        return read.scalar(operand)
    value = read.scalar(operand)
    if row.takes == (Type.TIMESTAMP,):
        if kind(value) is Type.DATE:
            raise part_refusal(read, node, unit)
        return Function(row.name, (read.typed(value, Type.TIMESTAMP),))
    return Function(row.name, (read.typed(value, Type.DATE),))


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
    value = read.scalar(node.this)
    moment = kind(value) is Type.TIMESTAMP
    if moment and unit in OF_THE_CLOCK:
        return Function(f"date_trunc_{unit}", (value,))
    operand = read.typed(value, Type.DATE)
    if unit != DAY and unit not in TRUNCATED:
        if unit in OF_THE_CLOCK:
            raise read.refusal(Code.FUNCTION, "DATE_TRUNC of a date has no such unit", NO_HOURS, node)
        units = (*TRUNCATED, DAY, *(OF_THE_CLOCK if moment else ()))
        hint = f"write DATE_TRUNC('month', …), or {', '.join(each for each in units if each != MONTH)}"
        raise read.refusal(Code.FUNCTION, "DATE_TRUNC has no such unit", hint, node)
    first = operand if unit == DAY else Function(f"date_trunc_{unit}", (operand,))
    # the first day of a timestamp's month is one at midnight, as in PostgreSQL
    return as_type(first, Type.TIMESTAMP) if moment else first


@reads(exp.DateDiff, args="this expression unit date_part_boundary")
def _date_diff(read: Expressions, node: exp.DateDiff) -> Scalar:
    unit = unit_of(read, node, node.args.get("unit"))
    name = f"date_diff_{unit}"
    if name not in FUNCTIONS:
        hint = f"write DATEDIFF('day', first, second), or {', '.join(each for each in MOVES if each != DAY)}"
        raise read.refusal(Code.FUNCTION, "DATEDIFF has no such unit", hint, node)
    first, second = read.scalar(node.expression), read.scalar(node.this)
    if unit in OF_THE_CLOCK:
        if Type.TIMESTAMP not in (kind(first), kind(second)):
            raise read.refusal(Code.FUNCTION, "DATEDIFF of two dates has no such unit", NO_HOURS, node)
        first, second = (as_type(each, Type.TIMESTAMP) for each in (first, second))
        return Function(name, (read.typed(first, Type.TIMESTAMP), read.typed(second, Type.TIMESTAMP)))
    return Function(name, (read.typed(first, Type.DATE), read.typed(second, Type.DATE)))


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
    value = read.scalar(operand)
    if kind(value) is Type.TIMESTAMP and pattern in CLOCK_PATTERNS:
        return Function(f"strftime_{CLOCK_PATTERNS[pattern][0]}", (value,))
    day = read.typed(value, Type.DATE)
    if pattern == "%Y-%m-%d":
        return Cast(day, Type.TEXT)
    if pattern not in PATTERNS:
        if pattern in CLOCK_PATTERNS:
            raise read.refusal(Code.PATTERN, "dates have no hours to write", NO_HOURS, node)
        patterns = ", ".join(("%Y-%m-%d", *PATTERNS, *(CLOCK_PATTERNS if kind(value) is Type.TIMESTAMP else ())))
        raise read.refusal(Code.PATTERN, "dates are not written so here", f"patterns of STRFTIME are {patterns}", node)
    return Function(f"strftime_{PATTERNS[pattern][0]}", (day,))


@reads(exp.DateAdd, args="this expression")
def _date_add(read: Expressions, node: exp.DateAdd) -> Scalar:
    """DATE_ADD(date, INTERVAL …)."""
    if not isinstance(node.expression, exp.Interval):
        raise read.refusal(Code.OPERATOR, "DATE_ADD needs an interval", INTERVALS, node)
    return moved(read, node, read.scalar(node.this), interval(read, node.expression))


@reads(exp.Interval, args="this unit fraction_in_string")
def _interval(read: Expressions, node: exp.Interval) -> Scalar:
    message = "an interval stands beside a date or a timestamp, with + or -"
    raise read.refusal(Code.OPERATOR, message, "write admitted + INTERVAL '30 days'", node)


def interval(read: Expressions, node: exp.Expr, sign: int = 1) -> Move:
    """How far an interval moves."""
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
    move = Move()
    for count, name in parts:
        one = MOVES.get(name.lower().removesuffix("s"))
        if one is None:
            raise read.refusal(
                Code.OPERATOR,
                "an interval is of years, quarters, months, weeks, days, hours, minutes or seconds",
                INTERVALS,
                node,
            )
        move = move.plus(one, sign * int(count))
    return move


def moved(read: Expressions, node: exp.Expr, value: Scalar, move: Move) -> Scalar:
    """A date or a timestamp that is moved."""
    if kind(value) is Type.TIMESTAMP:
        return moved_moment(value, move)
    if move.seconds:
        raise read.refusal(Code.OPERATOR, "a date is moved by days, weeks, months, quarters or years", NO_HOURS, node)
    return moved_day(read.typed(value, Type.DATE), move)


def moved_day(day: Scalar, move: Move) -> Scalar:
    """A date that is moved by months, then by days."""
    if move.months:
        day = Function("plus_months", (day, Literal(move.months, Type.INTEGER)))
    return Function("plus_days", (day, Literal(move.days, Type.INTEGER))) if move.days or not move.months else day


def moved_moment(moment: Scalar, move: Move) -> Scalar:
    """A timestamp that is moved by months, by days, then by seconds; a day of its clock has 24 hours."""
    for unit in ("months", "days", "seconds"):
        if count := getattr(move, unit):
            moment = Function(f"timestamp_plus_{unit}", (moment, Literal(count, Type.INTEGER)))
    return moment


def with_interval(read: Expressions, node: exp.Binary) -> Scalar | None:
    """A date and an interval, added or subtracted; None where there is no interval."""
    if not isinstance(node, exp.Add | exp.Sub):
        return None
    left, right = bare(read, node.this), bare(read, node.expression)
    if isinstance(right, exp.Interval):
        return moved(read, node, read.scalar(left), interval(read, right, -1 if isinstance(node, exp.Sub) else 1))
    if isinstance(left, exp.Interval) and isinstance(node, exp.Add):
        return moved(read, node, read.scalar(right), interval(read, left))
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
    if Type.TIMESTAMP in (kind(left), kind(right)):
        raise Mismatch(
            "timestamps are not added to or subtracted from anything but intervals",
            "write DATEDIFF('second', first, second) or DATEDIFF('hour', first, second) for the time between them,"
            " departs + INTERVAL '2 hours', or DATE(departs) - booked for days",
        )
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
        return moved_day(left, Move(days=right.value if operator is Operator.ADD else -right.value))
    if operator is Operator.SUBTRACT:
        # a count that no double tells from the next leaves the years, and is NULL here as there
        right = Cast(Arithmetic(Operator.SUBTRACT, Literal(0, Type.INTEGER), right), Type.INTEGER)
    return Function("plus_days", (left, right))
