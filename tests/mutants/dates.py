"""Planted bugs of dates: calendars that slip, facts that are too narrow, groups that are forgotten, words that are read as others."""

from tests.curator import test_date_bounds as declared
from tests.mutants import Law, Mutant
from tests.plan import test_dates as dates

CALENDAR = "discreet.plan.calendar:"
DATES = "discreet.plan.dates:"
DOMAIN = "discreet.plan.domain:"
READ = "discreet.plan.sql.dates:"
WORDS = "discreet.engines.render.duckdb:DuckDBWords."


def read(text: str) -> Law:
    return lambda: dates.each_is_read(text)


def refused(text: str) -> Law:
    return lambda: dates.each_is_refused(text)


READS = {text: read(text) for text in ("d - e", "d - 7", "d - INTERVAL '1' MONTH", "d + INTERVAL 2 WEEKS")}

MUTANTS = (
    Mutant(
        "months-without-an-end",
        CALENDAR + "plus_months",
        "min(day.day, _length(month))",
        "min(day.day, 28)",
        "a month after the 31st is the 28th, also of long months",
        dates.months_are_added_and_taken_away,
    ),
    Mutant(
        "years-by-their-numbers",
        CALENDAR + "whole_years",
        "((later.month, later.day) < (earlier.month, earlier.day))",
        "(later.month < earlier.month)",
        "people are a year older from the first day of the month of their birthday",
        dates.a_birthday_comes_once_a_year,
    ),
    Mutant(
        "days-of-a-grain-forgotten",
        CALENDAR + "Grain.finest",
        "Grain.MONTH if both == {Grain.MONTH, Grain.YEAR} else Grain.DAY",
        "Grain.MONTH",
        "weeks in keys of weeks and months are left out",
        dates.groups_are_the_image,
    ),
    Mutant(
        "the-first-stretch-forgotten",
        CALENDAR + "_starts",
        "day: date | None = first",
        "day: date | None = grain.after(grain.start(first))",
        "the month that the bounds begin in is no group",
        dates.grains_hold,
    ),
    Mutant(
        "too-many-days-are-listed",
        CALENDAR + "stretches",
        "if len(days) <= most else None",
        "",
        "a plan of ten thousand days and one forgets all days that come after",
        dates.grains_hold,
    ),
    Mutant(
        "a-difference-of-equal-ends",
        DATES + "_between",
        "Fraction(rule(day_of(x.high), day_of(y.low)))",
        "Fraction(rule(day_of(x.low), day_of(y.low)))",
        "days between two dates are thought never to be negative",
        dates.facts_hold,
    ),
    Mutant(
        "a-moved-date-is-surely-there",
        DATES + "_moved",
        " or outside)",
        ")",
        "COUNT of a date that is moved counts those beyond the year 9999",
        dates.facts_hold,
    ),
    Mutant(
        "a-moved-date-stays-where-it-was",
        DATES + "_moved",
        "rule(day_of(day.high), int(by.high))",
        "rule(day_of(day.high), int(by.low))",
        "a date is clamped to days that it has left",
        dates.facts_hold,
    ),
    Mutant(
        "sql-beyond-the-years",
        DATES + "_write_plus_days",
        "FIRST, LAST,",
        "FIRST, LAST + 366,",
        "the engine has days of the year 10000, and plain Python has none",
        dates.engines_agree,
    ),
    Mutant(
        "whole-weeks-backwards",
        DATES + "_weeks",
        "days // 7 if days >= 0 else -(-days // 7)",
        "days // 7",
        "a day before is a week before",
        dates.duckdb_means_the_same,
    ),
    Mutant(
        "an-age-of-months",
        DATES + "_write_age",
        "words.whole(10_000)",
        "words.whole(10_001)",
        "the engine has people a year younger than they are on some days",
        dates.engines_agree,
    ),
    Mutant(
        "sunday-is-monday",
        WORDS + "part",
        "PARTS.get(unit, unit)",
        '"isodow" if unit == "dow" else PARTS.get(unit, unit)',
        "the engine counts Sundays as the seventh day, and the groups begin at 0",
        dates.engines_agree,
    ),
    Mutant(
        "groups-as-they-come",
        DOMAIN + "_in_order",
        "sorted(values)",
        "values",
        "months come in the order of the bounds, from November on",
        dates.groups_are_the_image,
    ),
    Mutant(
        "a-date-for-a-month",
        DOMAIN + "_within",
        "_grain(child, column) if moves is None else",
        "outer if moves is None else",
        "what is in a function is thought to change as seldom as the function",
        dates.groups_are_the_image,
    ),
    Mutant(
        "an-interval-is-always-added",
        READ + "with_interval",
        "-1 if isinstance(node, exp.Sub) else 1",
        "1",
        "a month before is a month after",
        READS["d - INTERVAL '1' MONTH"],
    ),
    Mutant(
        "an-interval-that-is-multiplied",
        READ + "with_interval",
        "if not isinstance(node, exp.Add | exp.Sub):",
        "if False:",
        "a date times an interval is read as a sum",
        refused("d * INTERVAL '1 day'"),
    ),
    Mutant(
        "a-week-of-one-day",
        READ + "Move.plus",
        "times * other.days",
        "times * bool(other.days)",
        "two weeks are two days",
        READS["d + INTERVAL 2 WEEKS"],
    ),
    Mutant(
        "days-the-other-way",
        READ + "with_days",
        'Function("date_diff_day", (right, left))',
        'Function("date_diff_day", (left, right))',
        "a - b is b - a",
        READS["d - e"],
    ),
    Mutant(
        "days-are-always-added",
        READ + "with_days",
        "right.value if operator is Operator.ADD else -right.value",
        "right.value",
        "a week before is a week after",
        READS["d - 7"],
    ),
    Mutant(
        "bounds-of-days-turned",
        "discreet.plan.catalog:Column._check_days",
        "if first > last:",
        "if False:",
        "bounds whose first day is after the last are taken",
        dates.bounds_are_days,
    ),
    Mutant(
        "numbers-for-days",
        "discreet.curator.declaration:declaration",
        "if kind is Type.DATE and low is not None and not days:",
        "if False:",
        "0 to 120 are taken for days of 1970",
        lambda: declared.test_what_are_no_two_days_is_refused(declared.WRONG[3]),
    ),
)
