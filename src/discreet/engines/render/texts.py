"""Conversions of texts as SQL: what `plan.texts` says, form by form. A pattern is checked before a cast, which never fails."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlglot import exp

from discreet.engines.render.nodes import E, T, binary, call, cast, double, plain, text, when
from discreet.plan.scalar import Type
from discreet.plan.texts import DAY, FALSE, LONGEST, MOMENT, NUMBER, TRUE, WHOLE

if TYPE_CHECKING:
    from discreet.engines.render.words import Words

TWO_63 = 2.0**63


def number(made: E, words: "Words") -> E:
    return when([(_says(made, NUMBER, words), words.try_number(made))])


def whole(made: E, words: "Words") -> E:
    """A double as the integer of 64 bits that it is, or NULL."""
    small = binary(exp.LT, call("abs", made), double(TWO_63))
    return when([(exp.And(this=words.is_whole(made), expression=small), words.try_integer(made))])


def _integer(made: E, words: "Words") -> E:
    exponent = words.contains(words.lower_ascii(made), "e")
    scientific = exp.And(this=_says(made, NUMBER, words), expression=exponent)
    return when(
        [
            (_says(made, WHOLE, words), words.try_integer(words.trimmed(made))),
            (scientific, whole(words.try_number(made), words)),
        ]
    )


def _says(made: E, pattern: str, words: "Words") -> E:
    short = binary(exp.LTE, words.length(made), plain(LONGEST))
    return exp.And(this=short, expression=words.matches(made, pattern))


def date(made: E, words: "Words") -> E:
    """A timestamp is the day that its minutes in UTC fall on."""
    bare = words.trimmed(made)
    hour, minute, zone_hour, zone_minute = (_count(bare, place, words) for place in (2, 3, 5, 6))
    away = binary(exp.Add, binary(exp.Mul, zone_hour, plain(60)), zone_minute)
    west = binary(exp.EQ, words.group(bare, MOMENT, 4), text("-"))
    utc = when([(west, away)], exp.Neg(this=exp.Paren(this=away)))
    minutes = binary(exp.Add, binary(exp.Add, binary(exp.Mul, hour, plain(60)), minute), utc)
    days = call("floor", binary(exp.Div, cast(minutes, T.DOUBLE), double(1440.0)))
    day = words.try_date(words.group(bare, MOMENT, 1))
    return when(
        [
            (words.matches(bare, DAY), words.try_date(bare)),
            (words.matches(bare, MOMENT), within_years(words.plus_days(day, days), words)),
        ]
    )


def _count(made: E, place: int, words: "Words") -> E:
    return call("coalesce", words.try_small(words.group(made, MOMENT, place)), plain(0))


def within_years(made: E, words: "Words") -> E:
    """A date of the years 1 to 9999, or NULL."""
    within = exp.Between(this=words.part("year", made), low=plain(1), high=plain(9999))
    return when([(within, made)])


def _boolean(made: E, words: "Words") -> E:
    word = words.lower_ascii(words.trimmed(made))
    return when(
        [
            (exp.In(this=word, expressions=[text(each) for each in sorted(some)]), exp.Boolean(this=truth))
            for some, truth in ((TRUE, True), (FALSE, False))
        ]
    )


FROM_TEXT: dict[Type, Callable[[E, "Words"], E]] = {
    Type.NUMBER: number,
    Type.INTEGER: _integer,
    Type.DATE: date,
    Type.BOOLEAN: _boolean,
}
"""From a text to an expression of the type."""
