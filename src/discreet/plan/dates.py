"""The functions of dates: more rows of the table in `functions`, each with its meaning, its SQL and its facts.

What is known of a date is its number of days, so that facts of dates are those of whole numbers. A year, the day that a month began
and the days up to a date never fall where the date grows: their facts are what they make of the ends. No function fails on any day
of the years 1 to 9999, and what would lie outside of them is NULL.
"""

from collections.abc import Callable
from datetime import date
from fractions import Fraction

from discreet.plan.calendar import (
    FIRST,
    FIRST_MONTH,
    LAST,
    LAST_MONTH,
    MONTHS,
    Grain,
    day_of,
    number_of,
    plus_days,
    plus_months,
    whole_years,
)
from discreet.plan.facts import Facts
from discreet.plan.functions import E, FunctionRow, FunctionWords, Written, add, between
from discreet.plan.types import Type, Value

INTEGER, NUMBER, TEXT, DATE = Type.INTEGER, Type.NUMBER, Type.TEXT, Type.DATE
MOST_DAYS, MOST_MONTHS = (
    10**7,
    10**6 // 5,
)  # that a date is moved by in SQL: more leave the years anyway, and might overflow


# Parts of a date.


def part(unit: str) -> Callable[[FunctionWords, E], E]:
    """The SQL of a part of a date, by the name that PostgreSQL has for it."""
    return lambda words, day: words.as_type(words.part(unit, day), INTEGER)


def of_years(rule: Callable[[date], int]) -> Callable[[Facts], Facts]:
    """The facts of a year: what it is of the ends of a date, and without them one of all years."""
    return lambda x: Facts(
        Fraction(1) if x.low is None else Fraction(rule(day_of(x.low))),
        Fraction(9999) if x.high is None else Fraction(rule(day_of(x.high))),
        True,
        x.nullable,
    )


def _part(
    name: str,
    says: str,
    meaning: Callable[[date], int],
    ends: tuple[int, int],
    *synonyms: str,
    grain: Grain = Grain.DAY,
) -> FunctionRow:
    return FunctionRow(
        name,
        (DATE,),
        INTEGER,
        f"{says}, {ends[0]} to {ends[1]}",
        meaning=meaning,
        write=part(name),
        facts=between(*ends),
        synonyms=synonyms,
        counted=True,
        extracted=True,
        grain=grain,
    )


def _year(day: date) -> int:
    return day.year


def _iso_year(day: date) -> int:
    return day.isocalendar().year


add(
    FunctionRow(
        "year",
        (DATE,),
        INTEGER,
        "the year of a date, 1 to 9999",
        meaning=_year,
        write=part("year"),
        facts=of_years(_year),
        extracted=True,
        grain=Grain.YEAR,
    ),
    _part("month", "the month of a date", lambda day: day.month, (1, 12), grain=Grain.MONTH),
    _part("day", "the day of the month of a date", lambda day: day.day, (1, 31), "DAYOFMONTH"),
    _part("quarter", "the quarter of a date", lambda day: (day.month + 2) // 3, (1, 4), grain=Grain.MONTH),
    _part(
        "week",
        "the week of a date by ISO 8601",
        lambda day: day.isocalendar().week,
        (1, 53),
        "WEEKOFYEAR",
        grain=Grain.WEEK,
    ),
    FunctionRow(
        "isoyear",
        (DATE,),
        INTEGER,
        "the year that the ISO week of a date belongs to, 1 to 9999",
        meaning=_iso_year,
        write=part("isoyear"),
        facts=of_years(_iso_year),
        extracted=True,
        grain=Grain.WEEK,
    ),
    _part("dow", "the day of the week, Sunday is 0", lambda day: day.isoweekday() % 7, (0, 6), "DAYOFWEEK", "WEEKDAY"),
    _part("isodow", "the day of the week, Monday is 1", lambda day: day.isoweekday(), (1, 7)),
    _part("doy", "the day of the year", lambda day: day.timetuple().tm_yday, (1, 366), "DAYOFYEAR"),
)


# The first day of what a date lies in.

TRUNCATED = {
    "year": (Grain.YEAR, "January"),
    "quarter": (Grain.MONTH, "the quarter"),
    "month": (Grain.MONTH, "the month"),
    "week": (Grain.WEEK, "the week, a Monday"),
}
"""What DATE_TRUNC may have for a unit, besides the day, which is the date itself."""


def began(unit: str, day: date) -> date:
    """
    >>> [str(began(unit, date(2024, 5, 16))) for unit in TRUNCATED]
    ['2024-01-01', '2024-04-01', '2024-05-01', '2024-05-13']
    """
    if unit == "quarter":
        return day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
    return TRUNCATED[unit][0].start(day)


def _truncated(unit: str) -> FunctionRow:
    def meaning(day: date) -> date:
        return began(unit, day)

    def end(bound: Fraction | None) -> Fraction | None:
        return None if bound is None else Fraction(number_of(meaning(day_of(bound))))

    grain, what = TRUNCATED[unit]
    return FunctionRow(
        f"date_trunc_{unit}",
        (DATE,),
        DATE,
        f"the first day of {what}" + (", of the year of a date" if unit == "year" else " that a date lies in"),
        meaning=meaning,
        write=lambda words, day: words.date_trunc(unit, day),
        facts=lambda x: Facts(end(x.low), end(x.high), True, x.nullable),
        form=f"DATE_TRUNC('{unit}', {{}})",
        grain=grain,
    )


add(*map(_truncated, TRUNCATED))


# From one date to another.


def _between(rule: Callable[[date, date], int], x: Facts, y: Facts) -> Facts:
    """The facts of a number that falls with the first date and rises with the second."""
    low = None if x.high is None or y.low is None else Fraction(rule(day_of(x.high), day_of(y.low)))
    high = None if x.low is None or y.high is None else Fraction(rule(day_of(x.low), day_of(y.high)))
    return Facts(low, high, True, x.nullable or y.nullable)


def month_number(words: FunctionWords, day: E) -> E:
    """The month of a date, counted from the year 0, of which the first has the number 1."""
    years = words.infix(words.as_type(words.part("year", day), INTEGER), "*", words.whole(MONTHS))
    return words.infix(years, "+", words.as_type(words.part("month", day), INTEGER))


def _quarters(words: FunctionWords, day: E) -> E:
    years = words.infix(words.as_type(words.part("year", day), INTEGER), "*", words.whole(4))
    return words.infix(years, "+", words.as_type(words.part("quarter", day), INTEGER))


def _days(words: FunctionWords, day: E) -> E:
    return words.as_type(words.days(day), INTEGER)


def _difference(count: Callable[[FunctionWords, E], E]) -> Callable[[FunctionWords, E, E], E]:
    return lambda words, first, second: words.infix(count(words, second), "-", count(words, first))


def _weeks(first: date, second: date) -> int:
    """Whole weeks, also backwards."""
    days = (second - first).days
    return days // 7 if days >= 0 else -(-days // 7)


def _quarter(day: date) -> int:
    return 4 * day.year + (day.month + 2) // 3


def _diff(
    unit: str,
    says: str,
    meaning: Callable[[date, date], int],
    write: Callable[[FunctionWords, E, E], E],
    grain: Grain = Grain.DAY,
    written: Written = Written.ONCE,
) -> FunctionRow:
    return FunctionRow(
        f"date_diff_{unit}",
        (DATE, DATE),
        INTEGER,
        says,
        meaning=meaning,
        write=write,
        facts=lambda x, y: _between(meaning, x, y),
        form=f"DATEDIFF('{unit}', {{}}, {{}})",
        counted=True,
        grain=grain,
        written=written,
    )


def _days_between(first: date, second: date) -> int:
    return (second - first).days


def calendar_day(words: FunctionWords, day: E) -> E:
    """A date as the number that its digits are: 20240229."""
    year, month, of_month = (words.as_type(words.part(unit, day), INTEGER) for unit in ("year", "month", "day"))
    hundreds = words.infix(words.infix(year, "*", words.whole(100)), "+", month)
    return words.infix(words.infix(hundreds, "*", words.whole(100)), "+", of_month)


def _write_age(words: FunctionWords, later: E, earlier: E) -> E:
    """The difference of 20240229 and 20000301 has 23 whole ten-thousands: the years, less one before the birthday."""
    return words.int_div(
        words.infix(calendar_day(words, later), "-", calendar_day(words, earlier)), words.whole(10_000)
    )


add(
    _diff(
        "day",
        "the days from the first date to the second; `second - first` is the same",
        _days_between,
        _difference(_days),
    ),
    _diff(
        "week",
        "whole weeks from the first date to the second",
        _weeks,
        lambda words, first, second: words.int_div(_difference(_days)(words, first, second), words.whole(7)),
    ),
    _diff(
        "month",
        "how many months begin after the first date and up to the second",
        lambda first, second: MONTHS * (second.year - first.year) + second.month - first.month,
        _difference(month_number),
        Grain.MONTH,
        Written.TWICE,
    ),
    _diff(
        "quarter",
        "how many quarters begin after the first date and up to the second",
        lambda first, second: _quarter(second) - _quarter(first),
        _difference(_quarters),
        Grain.MONTH,
        Written.TWICE,
    ),
    _diff(
        "year",
        "how many years begin after the first date and up to the second",
        lambda first, second: second.year - first.year,
        _difference(part("year")),
        Grain.YEAR,
    ),
    FunctionRow(
        "age",
        (DATE, DATE),
        INTEGER,
        "whole years from the second date to the first: the birthdays that have come, that of 29 February on 1 March; below 0 where"
        " the first is the earlier one",
        meaning=whole_years,
        write=_write_age,
        facts=lambda later, earlier: _between(lambda first, second: whole_years(second, first), earlier, later),
        counted=True,
        written=Written.OFTEN,
    ),
)


# Dates that are moved.


def _moved(rule: Callable[[date, int], date | None], day: Facts, by: Facts) -> Facts:
    """The facts of a date that rises with both of its operands."""
    if day.low is None or day.high is None or by.low is None or by.high is None:
        return Facts(integral=True)
    first, last = rule(day_of(day.low), int(by.low)), rule(day_of(day.high), int(by.high))
    low, high = (FIRST if first is None else number_of(first)), (LAST if last is None else number_of(last))
    outside = first is None or last is None
    return Facts(Fraction(low), Fraction(high), True, day.nullable or by.nullable or outside)


def within(words: FunctionWords, number: E, least: int, most: int, moved: E) -> E:
    """A date that was moved, where a number of doubles says that it stays within the years."""
    inside = words.when([(words.infix(number, "<=", words.number(float(most))), moved)])
    return words.when([(words.infix(number, ">=", words.number(float(least))), inside)])


def few(words: FunctionWords, count: E, most: int) -> E:
    """A count that surely fits, and is the same where it matters."""
    return words.call("greatest", words.call("least", count, words.whole(most)), words.whole(-most))


def _write_plus_days(words: FunctionWords, day: E, count: E) -> E:
    number = words.infix(words.as_type(words.days(day), NUMBER), "+", words.as_type(count, NUMBER))
    return within(words, number, FIRST, LAST, words.plus_days(day, words.as_type(few(words, count, MOST_DAYS), NUMBER)))


def _write_plus_months(words: FunctionWords, day: E, count: E) -> E:
    number = words.infix(words.as_type(month_number(words, day), NUMBER), "+", words.as_type(count, NUMBER))
    moved = words.plus_months(day, few(words, count, MOST_MONTHS))
    return within(words, number, FIRST_MONTH + 1, LAST_MONTH + 1, moved)


add(
    FunctionRow(
        "plus_days",
        (DATE, INTEGER),
        DATE,
        "the date so many days later; NULL outside of the years 1 to 9999",
        meaning=plus_days,
        write=_write_plus_days,
        facts=lambda day, by: _moved(plus_days, day, by),
        form="{} + INTERVAL ({}) DAY",
        written=Written.OFTEN,
    ),
    FunctionRow(
        "plus_months",
        (DATE, INTEGER),
        DATE,
        "the same day so many months later, or the last one of that month; NULL outside of the years 1 to 9999",
        meaning=plus_months,
        write=_write_plus_months,
        facts=lambda day, by: _moved(plus_months, day, by),
        form="{} + INTERVAL ({}) MONTH",
        written=Written.OFTEN,
    ),
)


# Dates as texts.

MONTH_NAMES = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
DAY_NAMES = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
LETTERS: dict[str, Callable[[date], str]] = {
    "%Y": lambda day: f"{day.year:04}",
    "%m": lambda day: f"{day.month:02}",
    "%d": lambda day: f"{day.day:02}",
    "%j": lambda day: f"{day.timetuple().tm_yday:03}",
    "%u": lambda day: str(day.isoweekday()),
    "%w": lambda day: str(day.isoweekday() % 7),
    "%V": lambda day: f"{day.isocalendar().week:02}",
    "%G": lambda day: f"{day.isocalendar().year:04}",
    "%B": lambda day: MONTH_NAMES[day.month - 1],
    "%b": lambda day: MONTH_NAMES[day.month - 1][:3],
    "%A": lambda day: DAY_NAMES[day.weekday()],
    "%a": lambda day: DAY_NAMES[day.weekday()][:3],
}
"""What each letter of a pattern is; names are English everywhere."""

MONTHLY = {"%Y", "%m", "%B", "%b"}


def _digits(width: int, first: int, last: int) -> tuple[str, ...]:
    return tuple(f"{number:0{width}}" for number in range(first, last + 1))


PATTERNS: dict[str, tuple[str, tuple[str, ...]]] = {
    "%Y": ("year", ()),
    "%Y-%m": ("year_month", ()),
    "%Y%m": ("year_month_digits", ()),
    "%Y/%m": ("year_month_slash", ()),
    "%m/%Y": ("month_year", ()),
    "%b %Y": ("month_short_year", ()),
    "%B %Y": ("month_name_year", ()),
    "%Y%m%d": ("day_digits", ()),
    "%d.%m.%Y": ("day_dots", ()),
    "%d/%m/%Y": ("day_slashes", ()),
    "%m/%d/%Y": ("month_day_year", ()),
    "%G-W%V": ("iso_week", ()),
    "%m": ("month", _digits(2, 1, 12)),
    "%d": ("day", _digits(2, 1, 31)),
    "%j": ("doy", _digits(3, 1, 366)),
    "%V": ("week", _digits(2, 1, 53)),
    "%u": ("isodow", _digits(1, 1, 7)),
    "%w": ("dow", _digits(1, 0, 6)),
    "%B": ("month_name", tuple(MONTH_NAMES)),
    "%b": ("month_short", tuple(name[:3] for name in MONTH_NAMES)),
    "%A": ("day_name", tuple(DAY_NAMES)),
    "%a": ("day_short", tuple(name[:3] for name in DAY_NAMES)),
}
"""The patterns of STRFTIME, but for %Y-%m-%d, which is a cast: the name of each, and its texts in their order, where they come back
every year."""

SYNONYMS = {"%B": ("MONTHNAME",), "%A": ("DAYNAME",)}


def in_letters(pattern: str) -> list[str]:
    """
    >>> in_letters("%G-W%V")
    ['%G', '-', 'W', '%V']
    """
    letters, rest = [], pattern
    while rest:
        width = 2 if rest[0] == "%" else 1
        letters.append(rest[:width])
        rest = rest[width:]
    return letters


def _text(pattern: str) -> FunctionRow:
    name, cycle = PATTERNS[pattern]
    letters = in_letters(pattern)
    used = {each for each in letters if each in LETTERS}

    def meaning(day: date) -> Value:
        return "".join(LETTERS[each](day) if each in LETTERS else each for each in letters)

    grain = (
        Grain.YEAR
        if used == {"%Y"}
        else Grain.MONTH
        if used <= MONTHLY
        else Grain.WEEK
        if used <= {"%G", "%V"}
        else Grain.DAY
    )
    return FunctionRow(
        f"strftime_{name}",
        (DATE,),
        TEXT,
        f"a date as text, such as '{meaning(date(2024, 2, 29))}'",
        meaning=meaning,
        write=lambda words, day: words.date_text(pattern, day),
        facts=lambda x: Facts(nullable=x.nullable),
        synonyms=SYNONYMS.get(pattern, ()),
        form=f"STRFTIME({{}}, '{pattern}')",
        grain=grain,
        values=cycle,
    )


add(*map(_text, PATTERNS))
