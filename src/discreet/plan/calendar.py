"""Days of the years 1 to 9999 in the calendar of today, carried back (proleptic Gregorian): numbers of days, and steps of them.

Between its bounds a date is known by its number, the days since the first of 1970. Times of day are in `moments`.
"""

from collections.abc import Iterator
from datetime import date
from enum import Enum
from fractions import Fraction
from itertools import islice

EPOCH = date(1970, 1, 1)
MONTHS = 12
_ZERO = EPOCH.toordinal()
FIRST, LAST = date.min.toordinal() - _ZERO, date.max.toordinal() - _ZERO
"""The numbers of the first day of the year 1, and of the last of the year 9999."""

FIRST_MONTH, LAST_MONTH = MONTHS, MONTHS * date.max.year + MONTHS - 1
"""Their months, counted from January of the year 0."""


def number_of(day: date) -> int:
    """
    >>> number_of(date(1970, 1, 2)), number_of(date(1969, 12, 31))
    (1, -1)
    """
    return day.toordinal() - _ZERO


def day_of(number: Fraction | int) -> date:
    """The day of a number from FIRST to LAST, down to which all others are taken.

    >>> day_of(-1), day_of(10**9)
    (datetime.date(1969, 12, 31), datetime.date(9999, 12, 31))
    """
    return date.fromordinal(min(max(int(number), FIRST), LAST) + _ZERO)


def plus_days(day: date, days: int) -> date | None:
    """The day so many days later; None beyond the years.

    >>> plus_days(date(2024, 2, 28), 2), plus_days(date(9999, 12, 31), 1)
    (datetime.date(2024, 3, 1), None)
    """
    number = number_of(day) + days
    return day_of(number) if FIRST <= number <= LAST else None


def plus_months(day: date, months: int) -> date | None:
    """This day so many months later, or the last one of that month; None beyond the years.

    >>> plus_months(date(2024, 1, 31), 1), plus_months(date(2024, 2, 29), -12), plus_months(date(1, 1, 31), -1)
    (datetime.date(2024, 2, 29), datetime.date(2023, 2, 28), None)
    """
    month = _month(day) + months
    if not FIRST_MONTH <= month <= LAST_MONTH:
        return None
    return date(month // MONTHS, month % MONTHS + 1, min(day.day, _length(month)))


def whole_years(later: date, earlier: date) -> int:
    """How many birthdays of whoever was born on the earlier day have come; that of the 29th of February comes on the first of March.

    >>> whole_years(date(2024, 2, 28), date(2000, 2, 29)), whole_years(date(2024, 2, 29), date(2000, 2, 29))
    (23, 24)
    >>> whole_years(date(2023, 3, 1), date(2000, 2, 29)), whole_years(date(2000, 1, 1), date(2001, 6, 1))
    (23, -1)
    """
    if later < earlier:
        return -whole_years(earlier, later)
    return later.year - earlier.year - ((later.month, later.day) < (earlier.month, earlier.day))


def _month(day: date) -> int:
    return MONTHS * day.year + day.month - 1


def _length(month: int) -> int:
    """The days of a month."""
    if month == LAST_MONTH:
        return date.max.day
    after = month + 1
    return date.fromordinal(date(after // MONTHS, after % MONTHS + 1, 1).toordinal() - 1).day


class Grain(Enum):
    """How long something that is made of a date, or of a moment, stays what it is; of a date at least for a day."""

    INSTANT = "microsecond"
    SECOND = "second"
    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"

    def start(self, day: date) -> date:
        """The first day of the stretch that a day is in; weeks begin on Mondays, as the year 1 did.

        >>> [str(grain.start(date(2024, 5, 16))) for grain in (Grain.DAY, Grain.WEEK, Grain.MONTH, Grain.YEAR)]
        ['2024-05-16', '2024-05-13', '2024-05-01', '2024-01-01']
        """
        match self:
            case Grain.WEEK:
                return date.fromordinal(day.toordinal() - day.weekday())
            case Grain.MONTH:
                return day.replace(day=1)
            case Grain.YEAR:
                return day.replace(month=1, day=1)
        return day

    def after(self, start: date) -> date | None:
        """The first day of the next stretch; None beyond the years."""
        match self:
            case Grain.MONTH | Grain.YEAR:
                return plus_months(start, 1 if self is Grain.MONTH else MONTHS)
        return plus_days(start, 7 if self is Grain.WEEK else 1)

    def finest(self, other: "Grain") -> "Grain":
        """The grain of what is made of both; weeks are no part of months."""
        if self is other:
            return self
        both = {self, other}
        for fine in (Grain.INSTANT, Grain.SECOND, Grain.MINUTE, Grain.HOUR):
            if fine in both:
                return fine
        return Grain.MONTH if both == {Grain.MONTH, Grain.YEAR} else Grain.DAY


def stretches(first: date, last: date, grain: Grain, most: int) -> list[date] | None:
    """One day of every stretch of a range, in order; None where there are more than so many.

    >>> [str(day) for day in stretches(date(2023, 12, 30), date(2024, 2, 1), Grain.MONTH, 10)]
    ['2023-12-30', '2024-01-01', '2024-02-01']
    >>> stretches(date(2023, 12, 30), date(2024, 2, 1), Grain.DAY, 10)
    """
    if grain in (Grain.MONTH, Grain.YEAR) or first > last:
        days = list(islice(_starts(first, last, grain), most + 1))
        return days if len(days) <= most else None
    step = 7 if grain is Grain.WEEK else 1
    others = range(grain.start(first).toordinal() + step, last.toordinal() + 1, step)
    return [first, *map(date.fromordinal, others)] if len(others) < most else None


def _starts(first: date, last: date, grain: Grain) -> Iterator[date]:
    day: date | None = first
    while day is not None and day <= last:
        yield day
        day = grain.after(grain.start(day))
