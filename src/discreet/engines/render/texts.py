"""Conversions of texts as SQL: what `plan.texts` says, form by form. A pattern is checked before a cast, which never fails."""

from collections.abc import Callable

from sqlglot import exp

from discreet.engines.render.nodes import (
    E,
    T,
    binary,
    call,
    cast,
    double,
    group,
    lower,
    matches,
    plain,
    text,
    trimmed,
    try_cast,
    when,
)
from discreet.plan.scalar import Type
from discreet.plan.texts import DAY, FALSE, LONGEST, MOMENT, NUMBER, TRUE, WHOLE

TWO_63 = 2.0**63


def number(made: E) -> E:
    """DuckDB reads a decimal as the nearest double, and an infinity beyond them."""
    return when([(_says(made, NUMBER), try_cast(made.copy(), T.DOUBLE))])


def whole(made: E) -> E:
    """A double as the integer of 64 bits that it is, or NULL."""
    integral = binary(exp.EQ, made, call("trunc", made.copy()))
    small = binary(exp.LT, call("abs", made.copy()), double(TWO_63))
    return when([(exp.And(this=integral, expression=small), try_cast(made.copy(), T.BIGINT))])


def _integer(made: E) -> E:
    exponent = call("contains", lower(made.copy()), text("e"))
    scientific = exp.And(this=_says(made, NUMBER), expression=exponent)
    return when(
        [
            (_says(made, WHOLE), try_cast(trimmed(made.copy()), T.BIGINT)),
            (scientific, whole(try_cast(made.copy(), T.DOUBLE))),
        ]
    )


def _says(made: E, pattern: str) -> E:
    short = binary(exp.LTE, call("length", made.copy()), plain(LONGEST))
    return exp.And(this=short, expression=matches(made.copy(), pattern))


def date(made: E) -> E:
    """A timestamp is the day that its minutes in UTC fall on."""
    bare = trimmed(made)
    hour, minute, zone_hour, zone_minute = (_count(bare, place) for place in (2, 3, 5, 6))
    away = binary(exp.Add, binary(exp.Mul, zone_hour, plain(60)), zone_minute)
    west = binary(exp.EQ, group(bare.copy(), MOMENT, 4), text("-"))
    utc = when([(west, away)], exp.Neg(this=exp.Paren(this=away.copy())))
    minutes = binary(exp.Add, binary(exp.Add, binary(exp.Mul, hour, plain(60)), minute), utc)
    days = cast(call("floor", binary(exp.Div, cast(minutes, T.DOUBLE), double(1440.0))), T.INT)
    day = try_cast(group(bare.copy(), MOMENT, 1), T.DATE)
    return when(
        [
            (matches(bare.copy(), DAY), try_cast(bare.copy(), T.DATE)),
            (matches(bare.copy(), MOMENT), within_years(binary(exp.Add, day, days))),
        ]
    )


def _count(made: E, place: int) -> E:
    return call("coalesce", try_cast(group(made.copy(), MOMENT, place), T.INT), plain(0))


def within_years(made: E) -> E:
    """A date of the years 1 to 9999, or NULL."""
    within = exp.Between(this=call("year", made), low=plain(1), high=plain(9999))
    return when([(within, made.copy())])


def _boolean(made: E) -> E:
    word = lower(trimmed(made))
    return when(
        [
            (
                exp.In(this=word.copy(), expressions=[text(each) for each in sorted(some)]),
                exp.Boolean(this=found),
            )
            for some, found in ((TRUE, True), (FALSE, False))
        ]
    )


FROM_TEXT: dict[Type, Callable[[E], E]] = {
    Type.NUMBER: number,
    Type.INTEGER: _integer,
    Type.DATE: date,
    Type.BOOLEAN: _boolean,
}
"""From a text, which may be copied, to an expression of the type."""
