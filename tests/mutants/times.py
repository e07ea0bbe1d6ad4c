"""Planted bugs of timestamps: clocks that slip, hours that are forgotten, facts that are too narrow, words that are read as others."""

from pathlib import Path
from tempfile import TemporaryDirectory

from tests.curator import test_timestamps as declared
from tests.engines import test_zones as zones
from tests.mutants import Law, Mutant
from tests.plan import test_times as times

MOMENTS = "discreet.plan.moments:"
TIMES = "discreet.plan.times:"
DOMAIN = "discreet.plan.domain:"
READ = "discreet.plan.sql.dates:"
VALUES = "discreet.plan.sql.values:"
WORDS = "discreet.engines.render.duckdb:DuckDBWords."
ZONES = "discreet.engines.zones:"


def read(text: str) -> Law:
    return lambda: times.each_is_read(text)


def refused(text: str) -> Law:
    return lambda: times.each_is_refused(text)


def in_a_folder(law: str) -> Law:
    def held() -> None:
        with TemporaryDirectory() as folder:
            (zones.stored_types_are_loaded if law == "stored" else declared.policies_come_back)(Path(folder))

    return held


STORED, POLICIES = in_a_folder("stored"), in_a_folder("policies")

MUTANTS = (
    Mutant(
        "a-moment-toward-zero",
        MOMENTS + "began",
        "number - number % STEPS[grain]",
        "int(number / STEPS[grain]) * STEPS[grain]",
        "before 1970 an hour begins when it ends",
        times.python_means_the_same,
    ),
    Mutant(
        "the-last-stretch-forgotten",
        MOMENTS + "stretches",
        "micros_of(last) + 1",
        "micros_of(last)",
        "the hour that begins with the last moment of the bounds is no group",
        times.groups_are_the_image,
    ),
    Mutant(
        "a-birthday-at-midnight",
        MOMENTS + "whole_years",
        "(each.month, each.day, each.time())",
        "(each.month, each.day)",
        "people are a year older before the time of their birth",
        times.python_means_the_same,
    ),
    Mutant(
        "hours-in-doubles",
        "discreet.plan.rules.scalars:_function",
        "type_of(operand) is Type.TIMESTAMP",
        "False",
        "bounds of far years are rounded to doubles, and moments lie outside of them",
        times.facts_hold,
    ),
    Mutant(
        "a-difference-of-equal-moments",
        TIMES + "_falling",
        "Fraction(rule(moment_of(x.high), moment_of(y.low)))",
        "Fraction(rule(moment_of(x.low), moment_of(y.low)))",
        "hours between two timestamps are thought never to be negative",
        times.facts_hold,
    ),
    Mutant(
        "units-toward-zero",
        TIMES + "_whole",
        'words.infix(words.micros(moment), "-", words.whole(FIRST))',
        "words.micros(moment)",
        "the engine counts two hours around 1970 as one",
        times.engines_agree,
    ),
    Mutant(
        "moments-beyond-the-years",
        TIMES + "_inside",
        "words.whole(LAST)",
        "words.whole(LAST + 1)",
        "the engine has a moment of the year 10000, and plain Python has none",
        times.engines_agree,
    ),
    Mutant(
        "a-moved-moment-is-surely-there",
        TIMES + "_moved",
        " or outside)",
        ")",
        "COUNT of a timestamp that is moved counts those beyond the year 9999",
        times.facts_hold,
    ),
    Mutant(
        "an-hour-of-half-hours",
        DOMAIN + "_moved_by",
        "if unit * count % step == 0",
        "if True",
        "an hour of moments that are moved by half an hour is thought to be an hour",
        times.groups_are_the_image,
    ),
    Mutant(
        "a-day-of-moments-is-a-moment",
        DOMAIN + "_grain",
        "outer = Grain.DAY",
        "outer = Grain.WEEK",
        "days of a week are forgotten",
        times.groups_are_the_image,
    ),
    Mutant(
        "a-day-in-its-last-moment",
        "discreet.plan.catalog:Column._check_moments",
        "last_of(high)",
        "midnight(high)",
        "bounds end when their last day begins",
        times.bounds_are_moments,
    ),
    Mutant(
        "a-zone-passed-over",
        "discreet.plan.texts:plain_moment",
        "match is None or match[6]",
        "match is None",
        "a constant in UTC is taken for one on the clock of the table",
        refused("m > '2024-01-31T10:00:00Z'"),
    ),
    Mutant(
        "a-date-at-noon",
        VALUES + "as_type",
        "Literal(midnight(scalar.value), kind)",
        "Literal(midnight(scalar.value).replace(hour=12), kind)",
        "a date beside a timestamp is not its midnight",
        read("m < DATE '2024-01-31'"),
    ),
    Mutant(
        "hours-of-a-date",
        READ + "moved",
        "if move.seconds:",
        "if False:",
        "three hours later a date is what it was",
        refused("d + INTERVAL '3 hours'"),
    ),
    Mutant(
        "an-interval-without-its-days",
        READ + "moved_moment",
        '("months", "days", "seconds")',
        '("months", "seconds")',
        "a week later it is the same day",
        read("m - INTERVAL '1 year 1 week 2 hours'"),
    ),
    Mutant(
        "dates-within-dates",
        "discreet.plan.sql.text:check_dates",
        "if within:",
        "if False:",
        "DATE(DATE(…)) reaches the parser, which reads what is inside once more for each",
        refused("DATE(DATE(m))"),
    ),
    Mutant(
        "clocks-turned-late",
        ZONES + "Zone.offset",
        "bisect_right(self.starts, utc)",
        "bisect_right(self.starts, utc - 1)",
        "the first microsecond of summer time is one of winter time",
        zones.clocks_are_right,
    ),
    Mutant(
        "the-clock-of-engines-turned-late",
        WORDS + "on_clock",
        "binary(exp.LT,",
        "binary(exp.LTE,",
        "the engine turns its clock a microsecond later than plain Python",
        zones.frames_are_loaded_alike,
    ),
    Mutant(
        "naive-moments-moved",
        "discreet.engines.render.cells:CellReader.timestamp",
        "self.reading.zone if self.native.zoned else None",
        "self.reading.zone",
        "a moment that says nothing of a zone is taken for one in UTC",
        zones.frames_are_loaded_alike,
    ),
    Mutant(
        "texts-left-in-utc",
        "discreet.engines.cells:_from_text",
        "moment_in(standard, reading.zone.on_clock)",
        "moment_in(standard)",
        "plain Python leaves texts with a zone on the clock of UTC",
        zones.texts_are_loaded_alike,
    ),
    Mutant(
        "nanoseconds-rounded-up",
        WORDS + "whole_micros",
        "binary(exp.LT, binary(exp.Mod, nanos, thousand), bare_integer(0))",
        "binary(exp.GT, binary(exp.Mod, nanos, thousand), bare_integer(0))",
        "a moment before 1970 in nanoseconds is rounded up, into the next hour",
        STORED,
    ),
    Mutant(
        "moments-as-days",
        "discreet.plan.sql.parameters:bound_literal",
        "plain_moment(value) if moments else plain(value)",
        "plain(value)",
        "a bound moment is compared as its day",
        times.moments_are_bound,
    ),
    Mutant(
        "a-zone-that-is-not-written",
        "discreet.curator.policy_text:_table",
        "None if reading.zone is None else reading.zone.name",
        "None",
        "a policy that is saved forgets the zone of its table",
        POLICIES,
    ),
    Mutant(
        "moments-kept-as-days",
        "discreet.answer.record:_stored",
        "datetime.fromisoformat(value)",
        "date.fromisoformat(value[:10])",
        "an answer that is given again has days for its hours",
        declared.answers_have_moments,
    ),
)
