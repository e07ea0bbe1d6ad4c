"""What a text says as a value of another type: every form that is read, written once for the engines and for plain Python.

A text that says none is NULL, and none raises. The patterns are in the common language of Python's `re` and of RE2, and an engine checks
them before it converts, so that no engine's own taste decides.

    number      31, -0.5, .5, 5., 2.7e-07, of at most 400 characters, to the nearest double; beyond the doubles an infinity
    integer     the same, where the value is whole and fits 64 bits
    date        2024-12-31, or an ISO timestamp, 2024-12-31T23:30:00+02:00, of which the day in UTC counts
    timestamp   the same, to the microsecond: what has no zone as it stands, at midnight where there is no time; with a zone in UTC
    boolean     true false t f yes no y n on off 1 0, in any case

Blanks, tabs and line ends around a value are passed over.
"""

import re
from collections.abc import Callable
from datetime import date, datetime, timedelta

from discreet.plan.moments import MINUTE, SECOND, in_years, micros_of, midnight, moment_of

LONGEST = 400  # characters of a number
BLANKS = " \t\r\n"
LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
TRUE = frozenset({"true", "t", "yes", "y", "on", "1", "1.0"})
FALSE = frozenset({"false", "f", "no", "n", "off", "0", "0.0"})

_AROUND = r"[ \t\r\n]*"
_YEAR = "(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
_TIME = r"([01][0-9]|2[0-3]):([0-5][0-9])(?::[0-5][0-9](?:\.[0-9]+)?)?"
_ZONE = "(?: ?(?:Z|([+-])([01][0-9]|2[0-3])(?::?([0-5][0-9]))?))?"


def number_form(decimal: str = ".", thousands: str = "") -> str:
    """The pattern of a number, with a sign before its decimals, and one, or none, between thousands."""
    point, mark = re.escape(decimal), re.escape(thousands)
    grouped = f"[0-9]{{1,3}}(?:{mark}[0-9]{{3}})+(?:{point}[0-9]*)?|" if thousands else ""
    return rf"{_AROUND}[+-]?(?:{grouped}[0-9]+{point}?[0-9]*|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?{_AROUND}"


NUMBER = number_form()
WHOLE = rf"{_AROUND}[+-]?(?:[0-9]+\.?0*|\.0+){_AROUND}"  # without an exponent: exact, whatever its size
DAY = rf"{_YEAR}-[0-9]{{2}}-[0-9]{{2}}"
MOMENT = rf"({DAY})[T ]{_TIME}{_ZONE}"
"""Its groups: the day, the hour, the minute; the sign, the hours and the minutes of the zone."""

STAMP = (
    rf"({DAY})(?:[T ]([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9])(?:\.([0-9]+))?)?"
    "(?: ?(Z|([+-])([01][0-9]|2[0-3])(?::?([0-5][0-9]))?))?)?"
)
"""A day or a moment. Its groups: the day, the hour, the minute, the second, its fraction; the zone, its sign, its hours and its minutes."""

INT64 = range(-(1 << 63), 1 << 63)

_number, _whole, _day, _moment, _stamp = (re.compile(each) for each in (NUMBER, WHOLE, DAY, MOMENT, STAMP))


def number_in(text: str) -> float | None:
    """
    >>> number_in("0.23796462709189137"), number_in(" 2.7e-07 "), number_in(".5"), number_in("1e999"), number_in("nan")
    (0.23796462709189137, 2.7e-07, 0.5, inf, None)
    """
    return float(text) if len(text) <= LONGEST and _number.fullmatch(text) else None


def integer_in(text: str) -> int | None:
    """The whole number of a text without an exponent is exact; with one it is that of the nearest double.

    >>> integer_in("9007199254740993"), integer_in("2004.0"), integer_in("1e3"), integer_in("2.5"), integer_in("1e19")
    (9007199254740993, 2004, 1000, None, None)
    """
    if len(text) > LONGEST:
        return None
    if _whole.fullmatch(text):
        return fitting(int(text.strip(BLANKS).partition(".")[0] or "0"))
    value = number_in(text)
    return integer_of(value) if value is not None and "e" in text.lower() else None


def integer_of(value: float) -> int | None:
    """The integer that a double is, if it is one of 64 bits."""
    return fitting(int(value)) if value.is_integer() else None


def fitting(value: int) -> int | None:
    return value if value in INT64 else None


def day_in(text: str) -> date | None:
    """
    >>> day_in("2024-02-29"), day_in("2024-12-31T23:30:00-02:00"), day_in("2023-02-29"), day_in("2024-1-5")
    (datetime.date(2024, 2, 29), datetime.date(2025, 1, 1), None, None)
    """
    text = text.strip(BLANKS)
    match = _moment.fullmatch(text)
    if match is None:
        return plain_day(text)
    day, hour, minute, sign, zone_hours, zone_minutes = match.groups()
    away = int(zone_hours or 0) * 60 + int(zone_minutes or 0)
    minutes = int(hour) * 60 + int(minute) - (-away if sign == "-" else away)
    start = plain_day(day)
    try:
        return None if start is None else start + timedelta(days=minutes // 1440)
    except OverflowError:  # the day before the first, or after the last
        return None


def moment_in(text: str, local: Callable[[int], int | None] | None = None) -> datetime | None:
    """`local` makes of microseconds in UTC those on a clock, for texts that say where they were; else the clock is that of UTC.

    >>> moment_in("2024-02-29"), moment_in("2024-12-31T23:30:00-02:00"), moment_in("2024-01-01 08:30:00.1234567")
    (datetime.datetime(2024, 2, 29, 0, 0), datetime.datetime(2025, 1, 1, 1, 30), datetime.datetime(2024, 1, 1, 8, 30, 0, 123456))
    """
    match = _stamp.fullmatch(text.strip(BLANKS))
    day = None if match is None else plain_day(match[1])
    if match is None or day is None:
        return None
    hour, minute, second, zone_hours, zone_minutes = (int(match[place] or 0) for place in (2, 3, 4, 8, 9))
    away = zone_hours * 60 + zone_minutes
    minutes = hour * 60 + minute - (-away if match[7] == "-" else away)
    fraction = int((match[5] or "")[:6].ljust(6, "0"))
    there = micros_of(midnight(day)) + minutes * MINUTE + second * SECOND + fraction
    if not in_years(there):
        return None
    number = local(there) if match[6] and local is not None else there
    return None if number is None else moment_of(number)


def plain_moment(text: str) -> datetime | None:
    """The moment that a constant says: a day, or YYYY-MM-DD HH:MM:SS with a fraction or without seconds, and no zone."""
    match = _stamp.fullmatch(text)
    return None if match is None or match[6] else moment_in(text)


def moment_text(moment: datetime) -> str:
    """A moment as text, with a fraction of a second only where there is one.

    >>> moment_text(datetime(2024, 1, 1)), moment_text(datetime(2024, 1, 1, 8, 30, 0, 500000))
    ('2024-01-01 00:00:00', '2024-01-01 08:30:00.5')
    """
    text = moment.isoformat(sep=" ")
    return text.rstrip("0") if moment.microsecond else text


def plain_day(text: str) -> date | None:
    """The date that a text says in the one form YYYY-MM-DD, with nothing around it."""
    try:
        return date.fromisoformat(text) if _day.fullmatch(text) else None
    except ValueError:  # no month has such a day
        return None


def truth_in(text: str) -> bool | None:
    """
    >>> truth_in("Yes"), truth_in(" n "), truth_in("maybe")
    (True, False, None)
    """
    lower = text.strip(BLANKS).translate(LOWER)
    return True if lower in TRUE else False if lower in FALSE else None


def number_text(value: float) -> str:
    """A number as text: its shortest decimal, an integral one without '.0', so that 7.0 and 7 are the same text.

    >>> number_text(7.0), number_text(-0.0), number_text(0.1), number_text(2.7e-07), number_text(1e16)
    ('7', '0', '0.1', '2.7e-07', '1e+16')
    """
    return repr(value + 0.0).removesuffix(".0")
