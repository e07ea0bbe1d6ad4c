"""Python objects as plain values: what NumPy, pandas, `decimal` and `fractions` make is taken for the number or the day that it is.

Neither NumPy nor pandas is imported for it; their objects are known by what they can do.
"""

from datetime import UTC, date, datetime
from decimal import Decimal
from math import isfinite
from numbers import Integral, Rational, Real
from typing import Any

from discreet.plan.scalar import Value

LEAST_INTEGER, MOST_INTEGER = -(1 << 63), (1 << 63) - 1
FINITE = "is not a finite number"
MISSING = "write None for a missing value"
USABLE = "use an int, a float, a text, a date, a bool or None"
ON_THE_CLOCK = "use a datetime without a zone, on the clock of the table: value.astimezone(zone).replace(tzinfo=None)"
YEARS = "use a date between the years 1 and 9999"


class Unusable(Exception):
    """An object that is no value of a question: what it is, to go on after its name, and what to write instead."""

    def __init__(self, what: str, hint: str) -> None:
        super().__init__(what)
        self.what, self.hint = what, hint


def plain_moment(thing: Any) -> Value:
    """What `plain` makes of an object, but that a moment is itself. One with a zone is Unusable: nobody can tell on which clock it is.

    >>> plain_moment(datetime(2024, 5, 6, 23, 59)), plain_moment(date(2024, 5, 6)), plain_moment(7)
    (datetime.datetime(2024, 5, 6, 23, 59), datetime.date(2024, 5, 6), 7)
    """
    value = _unwrapped(thing, to="us")
    if not isinstance(value, datetime):
        return plain(value)
    if value.tzinfo is not None:
        raise Unusable("has a zone, and timestamps of a question have none", ON_THE_CLOCK)
    return datetime.combine(value.date(), value.time().replace(fold=0))


def plain(thing: Any) -> Value:
    """The int, float, text, day, bool or None that an object stands for; for any other object raises Unusable.

    Exact numbers are integers where they are whole, else the nearest double. A moment is its day, in UTC where it has a zone.

    >>> plain(Decimal("2004.0")), plain(Decimal("0.1")), plain(datetime(2024, 5, 6, 23, 59))
    (2004, 0.1, datetime.date(2024, 5, 6))
    """
    value = _unwrapped(thing)
    match value:
        case None | bool():
            return value
        case _ if type(value) is str:
            return value
        case datetime() | date():
            return _day(value)
        case Integral():
            return int(value)
        case Decimal() | Rational():
            return _exact(value)
        case Real():
            return _finite(float(value))
    raise Unusable(f"is a {type(thing).__name__!r}", USABLE)


def _unwrapped(value: Any, to: str = "D") -> Any:
    """What a scalar of NumPy holds, as an object of Python's own; missing moments are none."""
    if type(value).__name__ in ("NaTType", "NAType"):
        raise Unusable("is a missing value of pandas", MISSING)
    if not any((each.__module__, each.__name__) == ("numpy", "generic") for each in type(value).__mro__):
        return value
    if type(value).__name__ not in ("datetime64", "timedelta64"):  # of which nanoseconds would be integers
        return value.item()
    if value != value:
        raise Unusable("is a missing time", MISSING)
    if type(value).__name__ == "timedelta64":
        raise Unusable("is a 'timedelta64'", USABLE)
    day = value.astype(f"datetime64[{to}]").item()
    if not isinstance(day, date):  # a number of days, where the year has no date
        raise Unusable("is no day of the calendar", YEARS)
    return day


def _day(value: date) -> date:
    if not isinstance(value, datetime):
        return date.fromordinal(value.toordinal())
    try:
        return (value.astimezone(UTC) if value.tzinfo else value).date()
    except (OverflowError, ValueError):  # at the ends of time
        raise Unusable("has no day in UTC", YEARS) from None


def _exact(value: Any) -> int | float:
    if isinstance(value, Decimal) and not value.is_finite():
        raise Unusable(FINITE, MISSING)
    if LEAST_INTEGER <= value <= MOST_INTEGER and value == int(value):
        return int(value)
    try:
        return _finite(float(value))
    except OverflowError:
        raise Unusable(FINITE, MISSING) from None


def _finite(value: float) -> float:
    if not isfinite(value):
        raise Unusable(FINITE, MISSING)
    return value
