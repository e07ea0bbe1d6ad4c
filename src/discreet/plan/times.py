"""The functions of moments: more rows of the table in `functions`, each with its meaning, its SQL and its facts.

What is known of a moment is its number of microseconds (`moments`), and SQL computes in these integers: nothing is rounded, and what would
lie outside of the years 1 to 9999 is NULL. What depends on the day alone (years, months, weeks, their first days) is a function of the
moment as a date: `dates` has it, and a cast stands before.
"""

from collections.abc import Callable
from datetime import datetime
from fractions import Fraction

from discreet.plan.calendar import FIRST_MONTH, LAST_MONTH, Grain
from discreet.plan.dates import LETTERS, MOST_MONTHS, calendar_day, few, in_letters, month_number, within
from discreet.plan.facts import Facts
from discreet.plan.functions import E, FunctionRow, FunctionWords, Written, add, between
from discreet.plan.moments import (
    DAY,
    FIRST,
    HOUR,
    LAST,
    MINUTE,
    SECOND,
    began,
    micros_of,
    moment_of,
    plus_micros,
    plus_months,
    whole_years,
)
from discreet.plan.types import Type, Value

INTEGER, NUMBER, TEXT, DATE, TIMESTAMP = Type.INTEGER, Type.NUMBER, Type.TEXT, Type.DATE, Type.TIMESTAMP
UNITS = {"hour": (Grain.HOUR, HOUR), "minute": (Grain.MINUTE, MINUTE), "second": (Grain.SECOND, SECOND)}
"""The units that are shorter than a day: how long each lasts, as a grain and in microseconds."""

OF_MOMENTS = {"age": "timestamp_age"}
"""Functions of dates that mean something else of moments: the row of each."""


# Parts.


def _part(unit: str, most: int) -> FunctionRow:
    return FunctionRow(
        unit,
        (TIMESTAMP,),
        INTEGER,
        f"the {unit} of a timestamp, 0 to {most}" + ("; without its fraction" if unit == "second" else ""),
        meaning=lambda moment: int(getattr(moment, unit)),
        write=lambda words, moment: words.as_type(words.part(unit, moment), INTEGER),
        facts=between(0, most),
        counted=True,
        extracted=True,
        grain=UNITS[unit][0],
    )


def _seconds(moment: datetime) -> float:
    return float(micros_of(moment)) / SECOND  # rounded twice, as in SQL


def _epoch_facts(x: Facts) -> Facts:
    """A quotient that is rounded never falls."""
    low, high = (None if end is None else Fraction(_seconds(moment_of(end))) for end in (x.low, x.high))
    return Facts(low, high, False, x.nullable)


add(
    _part("hour", 23),
    _part("minute", 59),
    _part("second", 59),
    FunctionRow(
        "epoch",
        (TIMESTAMP,),
        NUMBER,
        "the seconds from the beginning of 1970 to a timestamp, on its own clock",
        meaning=_seconds,
        write=lambda words, moment: words.infix(
            words.as_type(words.micros(moment), NUMBER), "/", words.number(float(SECOND))
        ),
        facts=_epoch_facts,
        extracted=True,
        grain=Grain.INSTANT,
        makes_nan=False,
    ),
)


# The beginning of what a moment lies in.


def _truncated(unit: str) -> FunctionRow:
    grain, _ = UNITS[unit]

    def end(bound: Fraction | None) -> Fraction | None:
        return None if bound is None else Fraction(micros_of(began(grain, moment_of(bound))))

    return FunctionRow(
        f"date_trunc_{unit}",
        (TIMESTAMP,),
        TIMESTAMP,
        f"the beginning of the {unit} that a timestamp lies in",
        meaning=lambda moment: began(grain, moment),
        write=lambda words, moment: words.moment_trunc(unit, moment),
        facts=lambda x: Facts(end(x.low), end(x.high), True, x.nullable),
        form=f"DATE_TRUNC('{unit}', {{}})",
        grain=grain,
    )


add(*map(_truncated, UNITS))


# From one moment to another.


def _falling(rule: Callable[[datetime, datetime], int], x: Facts, y: Facts) -> Facts:
    """The facts of a number that falls with the first moment and rises with the second."""
    low = None if x.high is None or y.low is None else Fraction(rule(moment_of(x.high), moment_of(y.low)))
    high = None if x.low is None or y.high is None else Fraction(rule(moment_of(x.low), moment_of(y.high)))
    return Facts(low, high, True, x.nullable or y.nullable)


def _whole(words: FunctionWords, moment: E, unit: int) -> E:
    """The units from the first year on, which are no less than none: so a quotient that is truncated is rounded down."""
    since = words.infix(words.micros(moment), "-", words.whole(FIRST))
    return words.int_div(since, words.whole(unit))


def _diff(unit: str) -> FunctionRow:
    grain, micros = UNITS[unit]

    def meaning(first: datetime, second: datetime) -> int:
        return micros_of(second) // micros - micros_of(first) // micros

    return FunctionRow(
        f"date_diff_{unit}",
        (TIMESTAMP, TIMESTAMP),
        INTEGER,
        f"how many {unit}s begin after the first timestamp and up to the second",
        meaning=meaning,
        write=lambda words, first, second: words.infix(
            _whole(words, second, micros), "-", _whole(words, first, micros)
        ),
        facts=lambda x, y: _falling(meaning, x, y),
        form=f"DATEDIFF('{unit}', {{}}, {{}})",
        counted=True,
        grain=grain,
    )


def _clock(words: FunctionWords, moment: E) -> E:
    """The microseconds since midnight."""
    midnight = words.infix(words.as_type(words.days(words.as_type(moment, DATE)), INTEGER), "*", words.whole(DAY))
    return words.infix(words.micros(moment), "-", midnight)


def _calendar_moment(words: FunctionWords, moment: E) -> E:
    """The digits of the day, 20240229, times the microseconds of a day, and those since midnight: below 2^63."""
    day = calendar_day(words, words.as_type(moment, DATE))
    return words.infix(words.infix(day, "*", words.whole(DAY)), "+", _clock(words, moment))


def _write_age(words: FunctionWords, later: E, earlier: E) -> E:
    """The years are the whole ten-thousands of days, less one before the birthday, as of dates."""
    difference = words.infix(_calendar_moment(words, later), "-", _calendar_moment(words, earlier))
    return words.int_div(difference, words.whole(10_000 * DAY))


add(
    *map(_diff, UNITS),
    FunctionRow(
        "timestamp_age",
        (TIMESTAMP, TIMESTAMP),
        INTEGER,
        "whole years from the second timestamp to the first, as of dates; a birthday comes at the time of day of the birth",
        meaning=whole_years,
        write=_write_age,
        facts=lambda later, earlier: _falling(lambda first, second: whole_years(second, first), earlier, later),
        form="AGE({}, {})",
        counted=True,
        grain=Grain.INSTANT,
        written=Written.OFTEN,
    ),
)


# Moments that are moved.


def _moved(rule: Callable[[datetime, int], datetime | None], moment: Facts, by: Facts) -> Facts:
    """The facts of a moment that rises with both of its operands."""
    if moment.low is None or moment.high is None or by.low is None or by.high is None:
        return Facts(integral=True)
    first, last = rule(moment_of(moment.low), int(by.low)), rule(moment_of(moment.high), int(by.high))
    low, high = (FIRST if first is None else micros_of(first)), (LAST if last is None else micros_of(last))
    outside = first is None or last is None
    return Facts(Fraction(low), Fraction(high), True, moment.nullable or by.nullable or outside)


def _inside(words: FunctionWords, number: E) -> E:
    """The moment of a number of microseconds, where that is one of the years."""
    there = words.when([(words.infix(number, "<=", words.whole(LAST)), words.moment(number))])
    return words.when([(words.infix(number, ">=", words.whole(FIRST)), there)])


def _plus(unit: str, micros: int) -> FunctionRow:
    most = (LAST - FIRST) // micros + 1  # more leave the years anyway, and might overflow

    def meaning(moment: datetime, count: int) -> datetime | None:
        return plus_micros(moment, count * micros)

    def write(words: FunctionWords, moment: E, count: E) -> E:
        by = words.infix(few(words, count, most), "*", words.whole(micros))
        return _inside(words, words.infix(words.micros(moment), "+", by))

    return FunctionRow(
        f"timestamp_plus_{unit}s",
        (TIMESTAMP, INTEGER),
        TIMESTAMP,
        f"the timestamp so many {unit}s later; NULL outside of the years 1 to 9999",
        meaning=meaning,
        write=write,
        facts=lambda moment, by: _moved(meaning, moment, by),
        form=f"{{}} + INTERVAL ({{}}) {unit.upper()}",
        grain=Grain.INSTANT,
        written=Written.OFTEN,
    )


def _write_plus_months(words: FunctionWords, moment: E, count: E) -> E:
    day = words.as_type(moment, DATE)
    number = words.infix(words.as_type(month_number(words, day), NUMBER), "+", words.as_type(count, NUMBER))
    later = words.as_type(words.days(words.plus_months(day, few(words, count, MOST_MONTHS))), INTEGER)
    moved = words.moment(words.infix(words.infix(later, "*", words.whole(DAY)), "+", _clock(words, moment)))
    return within(words, number, FIRST_MONTH + 1, LAST_MONTH + 1, moved)


add(
    _plus("second", SECOND),
    _plus("day", DAY),
    FunctionRow(
        "timestamp_plus_months",
        (TIMESTAMP, INTEGER),
        TIMESTAMP,
        "the same time of the same day so many months later, or of the last day of that month; NULL outside of the years 1 to 9999",
        meaning=plus_months,
        write=_write_plus_months,
        facts=lambda moment, by: _moved(plus_months, moment, by),
        form="{} + INTERVAL ({}) MONTH",
        grain=Grain.INSTANT,
        written=Written.OFTEN,
    ),
)


# Moments as texts.

CLOCK_LETTERS: dict[str, Callable[[datetime], str]] = {
    **LETTERS,
    "%H": lambda moment: f"{moment.hour:02}",
    "%M": lambda moment: f"{moment.minute:02}",
    "%S": lambda moment: f"{moment.second:02}",
}
HOURS = tuple(f"{hour:02}" for hour in range(24))
CLOCK_PATTERNS: dict[str, tuple[str, tuple[str, ...]]] = {
    "%H": ("hour", HOURS),
    "%H:00": ("full_hour", tuple(f"{hour}:00" for hour in HOURS)),
    "%H:%M": ("hour_minute", tuple(f"{hour}:{minute:02}" for hour in HOURS for minute in range(60))),
    "%Y-%m-%d %H": ("day_hour", ()),
    "%Y-%m-%d %H:00": ("day_full_hour", ()),
    "%Y-%m-%d %H:%M": ("day_hour_minute", ()),
    "%Y-%m-%d %H:%M:%S": ("day_time", ()),
    "%Y-%m-%dT%H:%M:%S": ("day_time_iso", ()),
    "%d.%m.%Y %H:%M": ("day_dots_hour_minute", ()),
}
"""The patterns of STRFTIME with hours: the name of each, and its texts in their order, where they come back every day."""


def _text(pattern: str) -> FunctionRow:
    name, cycle = CLOCK_PATTERNS[pattern]
    letters = in_letters(pattern)

    def meaning(moment: datetime) -> Value:
        return "".join(CLOCK_LETTERS[each](moment) if each in CLOCK_LETTERS else each for each in letters)

    return FunctionRow(
        f"strftime_{name}",
        (TIMESTAMP,),
        TEXT,
        f"a timestamp as text, such as '{meaning(datetime(2024, 2, 29, 8, 30))}'",
        meaning=meaning,
        write=lambda words, moment: words.date_text(pattern, moment),
        facts=lambda x: Facts(nullable=x.nullable),
        form=f"STRFTIME({{}}, '{pattern}')",
        grain=Grain.SECOND if "%S" in letters else Grain.MINUTE if "%M" in letters else Grain.HOUR,
        values=cycle,
    )


add(*map(_text, CLOCK_PATTERNS))
