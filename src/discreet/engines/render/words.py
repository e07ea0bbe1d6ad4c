"""What differs between dialects of SQL: one object for each, which spells these words, and everything else is written with them.

A word must be total: whatever it is given, it is a value or NULL, and never an error, since an error would tell of a cell. Where an
engine's own function raises (a cast of a text, the root of a negative number) its spelling looks before.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from sqlglot import exp

from discreet.engines.render import texts
from discreet.engines.render.native import Native
from discreet.engines.render.nodes import (
    TYPES,
    E,
    T,
    alias,
    bare_integer,
    binary,
    call,
    cast,
    double,
    integer,
    named,
    null,
    select,
    subquery,
    text,
    when,
)
from discreet.plan import functions
from discreet.plan.scalar import Type

INFIX: dict[str, type[exp.Binary]] = {
    "+": exp.Add,
    "-": exp.Sub,
    "*": exp.Mul,
    "/": exp.Div,
    "=": exp.EQ,
    "<>": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
}


RANK = "rank"


class Words(functions.FunctionWords, Protocol):
    """The words of one dialect. The first part is alike in all of them; the second each dialect spells for itself."""

    # What sqlglot's generator calls the dialect: it writes literals, names and types by it.
    dialect: str
    # Of a priority: it is one of 0, 1, … 2^bits - 1.
    bits: int

    def text(self, operand: E) -> str:
        """An expression or a query as the engine is given it."""
        return operand.sql(self.dialect)

    def identifier(self, name: str) -> str:
        """A name, as text."""
        return self.text(named(name))

    def quoted(self, value: str) -> str:
        """A constant text, as text."""
        return self.text(text(value))

    def call(self, function: str, *operands: E) -> E:
        """A function that every dialect calls so."""
        return call(function, *operands)

    def number(self, value: float) -> E:
        return double(value)

    def whole(self, value: int) -> E:
        return integer(value)

    def constant(self, value: str) -> E:
        return text(value)

    def null(self, type: Type) -> E:
        return null(type)

    def infix(self, left: E, operator: str, right: E) -> E:
        """An operator of arithmetic, or a comparison, on what may not fail: `INFIX` has them."""
        return binary(INFIX[operator], left, right)

    def when(self, branches: Sequence[tuple[E, E]], otherwise: E | None = None) -> E:
        """The value of the first condition that is true, else the other one, or NULL."""
        return when(branches, otherwise)

    def as_type(self, operand: E, type: Type) -> E:
        """A cast that cannot fail."""
        return cast(operand, TYPES[type])

    def from_text(self, operand: E, type: Type) -> E:
        """What a text says as a value of another type, form by form, as `plan.texts` has it."""
        return texts.FROM_TEXT[type](operand, self)

    # What every dialect has, and some have better.

    def in_list(self, operand: E, identifier: str, type: Type) -> E | None:
        """Whether a value is one of a list of such values, which is a parameter, NULL for NULL; None where lists are written out."""
        return None

    def bit_or(self, operand: E) -> E | None:
        """The aggregate of integers by their bits; None where there is none, and then all groups of a person are ranked."""
        return None

    def replaced(self, names: Sequence[str], columns: Mapping[str, E]) -> list[E]:
        """All the columns of these names, some of them computed anew."""
        return [alias(columns.get(name, named(name)), name) for name in names]

    def first(self, columns: Sequence[str], source: E, join: E, rank: E, most: int) -> E:
        """These columns of the rows whose rank is at most so much."""
        ranked = select([*map(named, columns), alias(rank, RANK)], source, join=join)
        few = binary(exp.LTE, named(RANK), bare_integer(most))
        return select([*map(named, columns)], subquery(ranked, "ranked"), where=[few])

    # Numbers

    def is_nan(self, operand: E) -> E:
        """Whether a double is not a number."""
        ...

    def remainder(self, left: E, right: E) -> E:
        """The remainder of two integers, or of two doubles, with the sign of the dividend; NULL or not a number where the divisor is 0."""
        ...

    def int_div(self, left: E, right: E) -> E:
        """The quotient of two integers, truncated; the divisor is not 0."""
        ...

    def rounded(self, operand: E) -> E:
        """A double rounded half away from zero, as a double; infinities, and what is not a number, stay."""
        ...

    def floor_to_int(self, operand: E) -> E:
        """A double rounded down, as an integer; NULL where it has no place in 64 bits."""
        ...

    def round_to_int(self, operand: E) -> E:
        """A double below 2^53 in size rounded half away from zero, as an integer."""
        ...

    def truncated(self, operand: E) -> E:
        """A double below 2^63 in size without its decimals, as an integer."""
        ...

    def is_whole(self, operand: E) -> E:
        """Whether a number, a decimal or a double, has no decimals."""
        ...

    def ln(self, operand: E) -> E:
        """The natural logarithm of a positive number, of infinity too."""
        ...

    def log10(self, operand: E) -> E:
        """The logarithm to the base 10, of the same."""
        ...

    def log2(self, operand: E) -> E:
        """The logarithm to the base 2, of the same."""
        ...

    def exp(self, operand: E) -> E:
        """e to this power: an infinity, or 0, beyond the doubles."""
        ...

    def power(self, left: E, right: E) -> E:
        """A power, as C's `pow`: an infinity, or 0, beyond the doubles, and not a number, or NULL, where there is none."""
        ...

    def wide(self, operand: E) -> E:
        """An integer of so many bits that no sum of squares overflows."""
        ...

    def sum_of_squares(self, operand: E, narrow: bool) -> E:
        """The sum of squares of integers; `narrow`: each square surely fits 64 bits."""
        ...

    # Texts and dates

    def try_number(self, operand: E) -> E:
        """A text that is known to be of the form of a number as the nearest double, and an infinity beyond them."""
        ...

    def try_integer(self, operand: E) -> E:
        """A text of digits, a double or a wide integer as an integer of 64 bits, or NULL where it does not fit."""
        ...

    def try_small(self, operand: E) -> E:
        """A text of a few digits as an integer, or NULL where it is empty."""
        ...

    def try_date(self, operand: E) -> E:
        """A text of the form YYYY-MM-DD, or a moment, as a date, or NULL where there is no such day."""
        ...

    def number_text(self, operand: E) -> E:
        """A double as text: what `plan.texts.number_text` says."""
        ...

    def days(self, operand: E) -> E:
        """A date as an integer: the days since the first of 1970."""
        ...

    def micros(self, operand: E) -> E:
        """A moment as an integer: the microseconds since the first of 1970 began; NULL where there is no such number."""
        ...

    def whole_micros(self, operand: E) -> E:
        """A moment in nanoseconds as such an integer, rounded down."""
        ...

    def moment(self, operand: E) -> E:
        """The moment of so many microseconds, of the years 1 to 9999."""
        ...

    def moment_trunc(self, unit: str, operand: E) -> E:
        """The beginning of the hour, the minute or the second of a moment, as a moment."""
        ...

    def on_clock(self, operand: E, starts: Sequence[int], offsets: Sequence[int]) -> E:
        """Microseconds in UTC as the moment that a clock shows, which is ahead by the first offset, and from each start on by the next one;
        NULL where either is outside of the years 1 to 9999."""
        ...

    def plus_days(self, operand: E, days: E) -> E:
        """A date so many days later; `days` is a double without decimals."""
        ...

    def plus_months(self, operand: E, months: E) -> E:
        """A date so many months later, a small integer: the same day, or the last one of that month."""
        ...

    def part(self, unit: str, operand: E) -> E:
        """A part of a date, as a number: year, quarter, month, week, day, isoyear, dow, isodow, doy, as PostgreSQL means them; of a moment
        hour, minute, and second without its fraction."""
        ...

    def date_trunc(self, unit: str, operand: E) -> E:
        """The first day of the year, the quarter, the month or the week of a date, as a date."""
        ...

    def date_text(self, pattern: str, operand: E) -> E:
        """A date, or a moment, by a pattern of `plan.dates` and `plan.times`, as text, with English names."""
        ...

    def utc(self, operand: E) -> E:
        """A moment with a zone as a moment in UTC, whatever the zone of this machine."""
        ...

    def length(self, operand: E) -> E:
        """The length of a text, in code points."""
        ...

    def lower_ascii(self, operand: E) -> E:
        """A text with small letters for A to Z, and no others."""
        ...

    def lowered(self, operand: E) -> E:
        """A text in the small letters of `plan.letters`."""
        ...

    def uppered(self, operand: E) -> E:
        """A text in the capitals of `plan.letters`."""
        ...

    def slice(self, operand: E, first: E, count: E) -> E:
        """The part of a text from a place on, of at most so many code points: integers from 1, and from 0, to 2^30 + 1."""
        ...

    def place(self, operand: E, part: E) -> E:
        """The place of the first code point of one text in another, from 1; 0 where it is not there; what is empty is at 1."""
        ...

    def trimmed_left(self, operand: E, characters: E) -> E:
        """A text without any of these code points at its beginning."""
        ...

    def trimmed_right(self, operand: E, characters: E) -> E:
        """A text without any of these code points at its end."""
        ...

    def contains(self, operand: E, part: str) -> E:
        """Whether a text holds another one."""
        ...

    def like(self, operand: E, pattern: str) -> E:
        """Whether a text is of a pattern in which a backslash stands before %, _ and itself only."""
        ...

    def matches(self, operand: E, pattern: str) -> E:
        """Whether all of a text is of a regular expression."""
        ...

    def group(self, operand: E, pattern: str, number: int) -> E:
        """A group of a regular expression that all of a text is of; empty where it is not there."""
        ...

    def without(self, operand: E, pattern: str) -> E:
        """A text without the first place that is of a regular expression."""
        ...

    def trimmed(self, operand: E) -> E:
        """A text without the blanks of `plan.texts` around it."""
        ...

    # Queries

    def hash64(self, operand: E) -> E:
        """A hash of one value, which a priority is made of."""
        ...

    def priority(self, hashed: E, keys: Sequence[E], salt: E) -> E:
        """The priority of a person, by their hash, in a group: spread evenly over `bits` bits, and in another order for every salt."""
        ...

    def modulo(self, priority: E, count: E) -> E:
        """A priority modulo a positive integer, as an integer."""
        ...

    def parameter(self, identifier: str, type: T | None = None) -> E:
        """A parameter of a type; without one it is a salt, of `bits` bits."""
        ...

    def row_number(self) -> E:
        """The place of a row in its table, where tables are cut in slices."""
        ...

    def with_tables(self, query: E, **tables: E) -> E:
        """A query over named ones, each computed once."""
        ...

    def native(self, type: str) -> Native:
        """What a type of a source is."""
        ...
