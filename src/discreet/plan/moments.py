"""Moments of the years 1 to 9999 on the clock of one place: numbers of microseconds, and steps of them.

Between its bounds a moment is known by its number: the microseconds from the beginning of 1970 to it, as that clock shows them. A
microsecond is the unit of PostgreSQL, of DuckDB, of Arrow and of Python, so that what is equal there is equal here, and all numbers fit
64 bits. Nothing here knows a zone: a moment is brought to the clock of its table when it is loaded (`engines.zones`), and on that
clock every day has 24 hours, also one on which it was turned.
"""

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from fractions import Fraction
from itertools import islice

from discreet.plan import calendar
from discreet.plan.calendar import EPOCH, Grain, number_of

SECOND = 10**6
MINUTE, HOUR = 60 * SECOND, 3600 * SECOND
DAY = 24 * HOUR
"""The microseconds of each."""

FIRST, LAST = calendar.FIRST * DAY, (calendar.LAST + 1) * DAY - 1
"""The numbers of the first and of the last microsecond of the years."""

STEPS = {Grain.INSTANT: 1, Grain.SECOND: SECOND, Grain.MINUTE: MINUTE, Grain.HOUR: HOUR}
"""The microseconds of each grain that is shorter than a day."""

_ZERO = datetime.combine(EPOCH, time())
_MICROSECOND = timedelta(microseconds=1)


def micros_of(moment: datetime) -> int:
    """
    >>> micros_of(datetime(1970, 1, 1, 0, 0, 1)), micros_of(datetime(1969, 12, 31, 23, 59, 59, 999999))
    (1000000, -1)
    """
    return (moment - _ZERO) // _MICROSECOND


def moment_of(number: Fraction | int) -> datetime:
    """The moment of a number from FIRST to LAST, to which all others are taken.

    >>> moment_of(-1), moment_of(10**20)
    (datetime.datetime(1969, 12, 31, 23, 59, 59, 999999), datetime.datetime(9999, 12, 31, 23, 59, 59, 999999))
    """
    return _ZERO + timedelta(microseconds=min(max(int(number), FIRST), LAST))


def midnight(day: date) -> datetime:
    """The moment at which a day begins."""
    return datetime.combine(day, time())


def last_of(day: date) -> datetime:
    """The last microsecond of a day."""
    return datetime.combine(day, time.max)


def in_years(number: int) -> bool:
    """Whether a number of microseconds lies in the years 1 to 9999."""
    return FIRST <= number <= LAST


def plus_micros(moment: datetime, micros: int) -> datetime | None:
    """The moment so many microseconds later; None beyond the years.

    >>> plus_micros(datetime(2024, 2, 28, 23), 2 * HOUR), plus_micros(datetime.max, 1)
    (datetime.datetime(2024, 2, 29, 1, 0), None)
    """
    number = micros_of(moment) + micros
    return moment_of(number) if in_years(number) else None


def plus_months(moment: datetime, months: int) -> datetime | None:
    """This time of this day so many months later, or of the last day of that month; None beyond the years.

    >>> plus_months(datetime(2024, 1, 31, 8, 30), 1)
    datetime.datetime(2024, 2, 29, 8, 30)
    """
    day = calendar.plus_months(moment.date(), months)
    return None if day is None else datetime.combine(day, moment.time())


def whole_years(later: datetime, earlier: datetime) -> int:
    """How many birthdays have come, each at the time of day of the birth; that of the 29th of February comes on the first of March.

    >>> born = datetime(2000, 6, 1, 12)
    >>> whole_years(datetime(2024, 6, 1, 11), born), whole_years(datetime(2024, 6, 1, 12), born), whole_years(born, datetime(2001, 7, 1))
    (23, 24, -1)
    """
    if later < earlier:
        return -whole_years(earlier, later)
    parts = [(each.month, each.day, each.time()) for each in (later, earlier)]
    return later.year - earlier.year - (parts[0] < parts[1])


def began(grain: Grain, moment: datetime) -> datetime:
    """The moment at which the stretch began that a moment is in.

    >>> moment = datetime(1969, 12, 31, 23, 59, 59, 5)
    >>> [str(began(grain, moment)) for grain in (Grain.INSTANT, Grain.SECOND, Grain.MINUTE, Grain.HOUR)]
    ['1969-12-31 23:59:59.000005', '1969-12-31 23:59:59', '1969-12-31 23:59:00', '1969-12-31 23:00:00']
    """
    if grain in STEPS:
        number = micros_of(moment)
        return moment_of(number - number % STEPS[grain])
    return midnight(grain.start(moment.date()))


def stretches(first: datetime, last: datetime, grain: Grain, most: int) -> list[datetime] | None:
    """One moment of every stretch of a range, in order; None where there are more than so many.

    >>> [str(each) for each in stretches(datetime(2023, 12, 31, 22, 30), datetime(2024, 1, 1), Grain.HOUR, 10)]
    ['2023-12-31 22:30:00', '2023-12-31 23:00:00', '2024-01-01 00:00:00']
    """
    if grain not in STEPS or first > last:
        moments = list(islice(_starts(first, last, grain), most + 1))
        return moments if len(moments) <= most else None
    others = range(micros_of(began(grain, first)) + STEPS[grain], micros_of(last) + 1, STEPS[grain])
    few = len(others[:most]) < most
    return [first, *(_ZERO + timedelta(microseconds=each) for each in others)] if few else None


def _starts(first: datetime, last: datetime, grain: Grain) -> Iterator[datetime]:
    moment: datetime | None = first
    while moment is not None and moment <= last:
        yield moment
        after = grain.after(began(grain, moment).date())
        moment = None if after is None else midnight(after)


def number(value: object) -> int | None:
    """The number by which a date or a moment is known; None for all else.

    >>> number(date(1970, 1, 2)), number(datetime(1970, 1, 1, 0, 0, 0, 7)), number("1970")
    (1, 7, None)
    """
    if isinstance(value, datetime):
        return micros_of(value)
    return number_of(value) if isinstance(value, date) else None
