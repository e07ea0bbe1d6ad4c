"""Conversions of texts as SQL: what `plan.texts` says, form by form. A pattern is checked before a cast, which never fails."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlglot import exp

from discreet.engines.render.nodes import E, T, bare_integer, binary, call, cast, double, in_years, integer, text, when
from discreet.engines.zones import Zone
from discreet.plan.moments import DAY as MICROS_OF_A_DAY
from discreet.plan.moments import MINUTE, SECOND
from discreet.plan.scalar import Type
from discreet.plan.texts import DAY, FALSE, LONGEST, MOMENT, NUMBER, STAMP, TRUE, WHOLE

if TYPE_CHECKING:
    from discreet.engines.render.words import Words

TWO_63 = 2.0**63


def number_of_text(sql: E, words: "Words") -> E:
    return when([(_says(sql, NUMBER, words), words.try_number(sql))])


def integer_of_double(sql: E, words: "Words") -> E:
    """A double as the integer of 64 bits that it is, or NULL."""
    small = binary(exp.LT, call("abs", sql), double(TWO_63))
    return when([(exp.And(this=words.is_whole(sql), expression=small), words.try_integer(sql))])


def _integer(sql: E, words: "Words") -> E:
    exponent = words.contains(words.lower_ascii(sql), "e")
    scientific = exp.And(this=_says(sql, NUMBER, words), expression=exponent)
    return when(
        [
            (_says(sql, WHOLE, words), words.try_integer(words.trimmed(sql))),
            (scientific, integer_of_double(words.try_number(sql), words)),
        ]
    )


def _says(sql: E, pattern: str, words: "Words") -> E:
    short = binary(exp.LTE, words.length(sql), bare_integer(LONGEST))
    return exp.And(this=short, expression=words.matches(sql, pattern))


def date(sql: E, words: "Words") -> E:
    """A timestamp is the day that its minutes in UTC fall on."""
    bare = words.trimmed(sql)
    hour, minute, zone_hour, zone_minute = (_count(bare, MOMENT, place, words) for place in (2, 3, 5, 6))
    away = binary(exp.Add, binary(exp.Mul, zone_hour, bare_integer(60)), zone_minute)
    west = binary(exp.EQ, words.group(bare, MOMENT, 4), text("-"))
    utc = when([(west, away)], exp.Neg(this=exp.Paren(this=away)))
    minutes = binary(exp.Add, binary(exp.Add, binary(exp.Mul, hour, bare_integer(60)), minute), utc)
    days = call("floor", binary(exp.Div, cast(minutes, T.DOUBLE), double(1440.0)))
    day = words.try_date(words.group(bare, MOMENT, 1))
    return when(
        [
            (words.matches(bare, DAY), words.try_date(bare)),
            (words.matches(bare, MOMENT), within_years(words.plus_days(day, days), words)),
        ]
    )


def _count(sql: E, pattern: str, place: int, words: "Words") -> E:
    return call("coalesce", words.try_small(words.group(sql, pattern, place)), bare_integer(0))


def timestamp(sql: E, words: "Words", zone: Zone | None = None) -> E:
    """A moment to the microsecond; one that says where it was is brought to the clock of UTC, or of a zone."""
    bare = words.trimmed(sql)
    hour, minute, second, zone_hour, zone_minute = (_count(bare, STAMP, place, words) for place in (2, 3, 4, 8, 9))
    away = binary(exp.Add, binary(exp.Mul, zone_hour, bare_integer(60)), zone_minute)
    west = binary(exp.EQ, words.group(bare, STAMP, 7), text("-"))
    utc = when([(west, away)], exp.Neg(this=exp.Paren(this=away)))
    minutes = binary(exp.Add, binary(exp.Add, binary(exp.Mul, hour, bare_integer(60)), minute), utc)
    digits = call("rpad", words.group(bare, STAMP, 5), bare_integer(6), text("0"))  # which cuts off what is longer
    seconds = binary(exp.Add, _times(minutes, MINUTE), _times(second, SECOND))
    day = words.try_date(words.group(bare, STAMP, 1))
    clock = binary(
        exp.Add, binary(exp.Add, _times(words.days(day), MICROS_OF_A_DAY), seconds), words.try_integer(digits)
    )
    there = when([(words.matches(bare, STAMP), clock)])
    if zone is None:
        return moment_within(there, words)
    zoned = binary(exp.NEQ, words.group(bare, STAMP, 6), text(""))
    return when([(zoned, words.on_clock(there, zone.starts, zone.offsets))], moment_within(there, words))


def _times(sql: E, count: int) -> E:
    return binary(exp.Mul, cast(sql, T.BIGINT), integer(count))


def moment_within(sql: E, words: "Words") -> E:
    """The moment of so many microseconds, if it is one of the years 1 to 9999, or NULL."""
    return when([(in_years(sql), words.moment(sql))])


def within_years(sql: E, words: "Words") -> E:
    """A date of the years 1 to 9999, or NULL."""
    within = exp.Between(this=words.part("year", sql), low=bare_integer(1), high=bare_integer(9999))
    return when([(within, sql)])


def _boolean(sql: E, words: "Words") -> E:
    word = words.lower_ascii(words.trimmed(sql))
    return when(
        [
            (exp.In(this=word, expressions=[text(each) for each in sorted(some)]), exp.Boolean(this=truth))
            for some, truth in ((TRUE, True), (FALSE, False))
        ]
    )


FROM_TEXT: dict[Type, Callable[[E, "Words"], E]] = {
    Type.NUMBER: number_of_text,
    Type.INTEGER: _integer,
    Type.DATE: date,
    Type.TIMESTAMP: timestamp,
    Type.BOOLEAN: _boolean,
}
"""From a text to an expression of the type."""
