"""Which casts there are, and what each means: a table with one row for each pair of types; all other casts are refused.

A cast is total: what cannot be converted is NULL. Which texts say a number, an integer, a date or a boolean is written in `texts`.
Numbers become no text, since every engine writes them differently, and integers no boolean.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from typing import Any

from discreet.errors import Fault
from discreet.plan.facts import Facts, as_doubles, each
from discreet.plan.functions import E, Ends, FunctionWords, Written, ends, rounded_half_away
from discreet.plan.moments import DAY, midnight
from discreet.plan.rounding import half_away
from discreet.plan.texts import day_in, integer_in, moment_in, moment_text, number_in, truth_in
from discreet.plan.types import LARGEST, Type, Value


@dataclass(frozen=True, slots=True, eq=False)
class Conversion:
    """Everything that is known of one cast."""

    # The value in plain Python, of one that is not NULL.
    meaning: Callable[[Any], Value]
    # Its SQL, of words and of the SQL of the operand.
    write: Callable[[FunctionWords, E], E]
    # What is known of it, given what is known of the operand.
    facts: Callable[[Facts], Facts]
    # Where it lies, given NumPy and where the operand lies.
    interval: Callable[[Any, Ends], Ends] | None = None
    written: Written = Written.ONCE


INTEGER, NUMBER, TEXT, DATE, BOOLEAN = Type.INTEGER, Type.NUMBER, Type.TEXT, Type.DATE, Type.BOOLEAN
TIMESTAMP = Type.TIMESTAMP


def _same(type: Type) -> Conversion:
    """A value as one of its own type."""
    return Conversion(
        meaning=lambda value: value,
        write=lambda words, operand: operand,
        facts=lambda x: replace(as_doubles(x) if type is NUMBER else x, integral=x.integral or type is INTEGER),
        interval=lambda np, x: x,
    )


def _said(meaning: Callable[[str], Value], type: Type) -> Conversion:
    """What a text says."""
    return Conversion(
        meaning=meaning,
        write=lambda words, text: words.from_text(text, type),
        facts=lambda x: Facts(integral=type is INTEGER),
        written=Written.OFTEN,
    )


def _plain(meaning: Callable[[Any], Value], type: Type, facts: Callable[[Facts], Facts]) -> Conversion:
    """What every engine casts alike."""
    return Conversion(meaning=meaning, write=lambda words, operand: words.as_type(operand, type), facts=facts)


def _as_text(x: Facts) -> Facts:
    return Facts()


def _as_flag(x: Facts) -> Facts:
    return Facts(Fraction(0), Fraction(1), True, x.nullable)


def _as_day(x: Facts) -> Facts:
    """A day has the number of its first moment, in days: a quotient that is rounded down never falls."""
    return Facts(each(lambda end: end // DAY, x.low), each(lambda end: end // DAY, x.high), True, x.nullable)


def _as_moment(x: Facts) -> Facts:
    return Facts(each(lambda end: end * DAY, x.low), each(lambda end: end * DAY, x.high), True, x.nullable)


def _whole(x: float) -> int | None:
    return int(half_away(x)) if abs(x) < LARGEST else None


def _as_whole(x: Facts) -> Facts:
    x = as_doubles(x)
    small = x.low is not None and x.high is not None and x.low > -LARGEST and x.high < LARGEST
    return Facts(each(half_away, x.low), each(half_away, x.high), True, x.nullable or not small)


def _write_whole(words: FunctionWords, x: E) -> E:
    small = words.infix(words.call("abs", x), "<", words.number(float(LARGEST)))
    return words.when([(small, words.round_to_int(x))])


CASTS: dict[tuple[Type, Type], Conversion] = {
    **{(type, type): _same(type) for type in Type},
    (TEXT, NUMBER): _said(number_in, NUMBER),
    (TEXT, INTEGER): _said(integer_in, INTEGER),
    (TEXT, DATE): _said(day_in, DATE),
    (TEXT, TIMESTAMP): _said(moment_in, TIMESTAMP),
    (TEXT, BOOLEAN): _said(truth_in, BOOLEAN),
    (INTEGER, TEXT): _plain(str, TEXT, _as_text),
    (DATE, TEXT): _plain(lambda day: str(day.isoformat()), TEXT, _as_text),
    (TIMESTAMP, TEXT): _plain(moment_text, TEXT, _as_text),
    (TIMESTAMP, DATE): _plain(datetime.date, DATE, _as_day),
    (DATE, TIMESTAMP): _plain(midnight, TIMESTAMP, _as_moment),
    (BOOLEAN, TEXT): _plain(lambda flag: "true" if flag else "false", TEXT, _as_text),
    (INTEGER, NUMBER): replace(_plain(float, NUMBER, as_doubles), interval=lambda np, x: x),
    (BOOLEAN, INTEGER): _plain(int, INTEGER, _as_flag),
    (BOOLEAN, NUMBER): _plain(float, NUMBER, _as_flag),
    (NUMBER, INTEGER): Conversion(
        meaning=_whole,
        write=_write_whole,
        facts=_as_whole,
        interval=ends(rounded_half_away),
        written=Written.TWICE,
    ),
}
"""The casts that have a meaning, as (from, to)."""


def conversion(source: Type, target: Type) -> Conversion:
    """The row of a cast, or raises Fault."""
    if (source, target) not in CASTS:
        raise Fault(f"a cast from {source.value} to {target.value} has no meaning", code="scalar")
    return CASTS[source, target]


def convert(value: Value, source: Type, target: Type) -> Value:
    """A value of the type `source` as one of the type `target`; NULL where it has none."""
    row = conversion(source, target)
    return None if value is None else row.meaning(value)
