"""What is declared about the data: tables, columns, bounds, keys, and who is protected. Public, and never read from the data."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from difflib import get_close_matches
from fractions import Fraction
from math import isfinite
from typing import TypeAlias

from discreet.errors import Invalid, QueryError
from discreet.exact import rational, shown, whole
from discreet.plan.calendar import FIRST, LAST, day_of, number_of
from discreet.plan.facts import Facts
from discreet.plan.ladder import TOP
from discreet.plan.moments import in_years, last_of, micros_of, midnight, moment_of
from discreet.plan.partition import Partition
from discreet.plan.public import Contents
from discreet.plan.range import FoundRange
from discreet.plan.scalar import KINDS, Type
from discreet.plan.visible import visible
from discreet.privacy import Adjacency, Relation, Unit

Key: TypeAlias = str | int | float | date | datetime | bool

MOST_KEYS = 10_000
"""So many values of a column are listed at most where they follow from something else, such as its bounds."""

MOST_LISTED = 100_000
"""So many keys of a column are declared at most: as many as there are groups."""

MOST_LIMITS = {"max_groups": MOST_KEYS, "max_rows": 10**6, "max_total": TOP}
"""The limits on what of a person counts, each with the most that it can be."""

JOIN_ROWS = 1_000
"""So many rows of a person are joined of each table, unless it is declared otherwise."""
MOST_JOINED = 10**6

DAYS_HINT = "write bounds = [2020-01-01, 2024-12-31]"
MOMENTS_HINT = "write bounds = [2020-01-01, 2024-12-31], days, or moments: [2020-01-01T08:00:00, 2024-12-31T18:00:00]"
MOST_BOUND = Fraction(10**15)  # so that sums of bounds stay exact in doubles

WHOLE = (Type.INTEGER, Type.DATE, Type.TIMESTAMP)
"""The types whose values are known by whole numbers."""


@dataclass(frozen=True, slots=True)
class Column:
    """A declared column. Without bounds it can be filtered and counted, and summed only if these are to be found; without keys not
    grouped by."""

    name: str
    type: Type
    low: Fraction | None = None  # of a date the days since the first of 1970, of a timestamp the microseconds
    high: Fraction | None = None
    keys: tuple[Key, ...] | None = None
    nullable: bool = True
    declared: bool = True  # by the owner; if not, it is a text, and there for the owner alone
    max_groups: int | None = None  # values of this column that a person counts in, a missing one among them
    surveyed: str = ""  # by which survey its keys or bounds are known, in words; empty where they were declared
    stored: Type | None = None  # as it is stored, where a survey tells another type than text
    auto: bool = False  # a number whose bounds are found for each question that needs them
    facts: Facts = field(init=False, repr=False, compare=False)  # the same, as it is known of any expression

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise Invalid(f"a column's name must be a text, got {shown(self.name)}")
        if not isinstance(self.type, Type):
            raise Invalid(f"the type of column {self.name!r} must be a Type, got {shown(self.type)}")
        self._check_bounds()
        if self.keys is not None:
            object.__setattr__(self, "keys", self._checked_keys(tuple(self.keys)))
        if self.max_groups is not None:
            object.__setattr__(self, "max_groups", groups_of_column(self.name, self.max_groups))
        facts = Facts(self.low, self.high, self.type in WHOLE, self.nullable)
        object.__setattr__(self, "facts", facts)

    def _check_bounds(self) -> None:
        if self.auto:
            self._check_auto()
        if self.low is None and self.high is None:
            return
        if self.low is None or self.high is None:
            raise Invalid(f"column {self.name!r} needs both bounds or none", hint="write bounds = [0, 120]")
        if self.type is Type.DATE:
            self._check_days(self.low, self.high)
            return
        if self.type is Type.TIMESTAMP:
            self._check_moments(self.low, self.high)
            return
        if not self.type.numeric:
            raise Invalid(
                f"column {self.name!r} is {self.type.value} and cannot have bounds",
                hint="give it type 'integer', 'number', 'date' or 'timestamp', or remove the bounds",
            )
        low, high = rational(self.low, "bounds"), rational(self.high, "bounds")
        # Equal bounds are those of a constant.
        if low > high:
            raise Invalid(
                f"of the bounds of column {self.name!r} the first must be below the second, "
                f"got {shown(self.low)} and {shown(self.high)}",
                hint=f"write bounds = [{shown(self.high)}, {shown(self.low)}]",
            )
        if max(abs(low), abs(high)) > MOST_BOUND:
            raise Invalid(f"the bounds of column {self.name!r} must be at most 10^15 in size")
        if self.type is Type.INTEGER and (low.denominator > 1 or high.denominator > 1):
            raise Invalid(f"the bounds of the integer column {self.name!r} must be integers")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    def _check_auto(self) -> None:
        if not self.type.numeric:
            raise Invalid(
                f"column {self.name!r} is {self.type.value}, and a range is found of numbers alone",
                hint="give it type 'integer' or 'number', or remove bounds = \"auto\"",
            )
        if self.low is not None or self.high is not None:
            raise Invalid(f"column {self.name!r} has bounds that are declared, or that are found, and not both")

    def _check_days(self, low: object, high: object) -> None:
        """The bounds of a date are days, or their numbers."""
        first, last = (number_of(end) if type(end) is date else end for end in (low, high))
        if not isinstance(first, int | Fraction) or not isinstance(last, int | Fraction):
            raise Invalid(
                f"bounds of column {self.name!r} must be two days, got {shown(low)} and {shown(high)}", hint=DAYS_HINT
            )
        first, last = rational(first, "bounds"), rational(last, "bounds")
        if first.denominator > 1 or last.denominator > 1 or not FIRST <= min(first, last) <= max(first, last) <= LAST:
            raise Invalid(f"bounds of column {self.name!r} must be days of the years 1 to 9999", hint=DAYS_HINT)
        if first > last:
            raise Invalid(
                f"of the bounds of column {self.name!r} the first must not be after the second, "
                f"got {day_of(first)} and {day_of(last)}",
                hint=f"write bounds = [{day_of(last)}, {day_of(first)}]",
            )
        object.__setattr__(self, "low", first)
        object.__setattr__(self, "high", last)

    def _check_moments(self, low: object, high: object) -> None:
        """The bounds of a timestamp are moments, or their numbers, or days: the first from its beginning, the second until its end."""
        days = (midnight(low) if type(low) is date else low, last_of(high) if type(high) is date else high)
        first, last = (micros_of(end) if type(end) is datetime and end.tzinfo is None else end for end in days)
        whole = [end for end in (first, last) if isinstance(end, int | Fraction) and not isinstance(end, bool)]
        if len(whole) < 2 or not all(end == int(end) and in_years(int(end)) for end in whole):
            raise Invalid(
                f"bounds of column {self.name!r} must be two days or two moments of the years 1 to 9999, without a zone",
                hint=MOMENTS_HINT,
            )
        if whole[0] > whole[1]:
            raise Invalid(
                f"of the bounds of column {self.name!r} the first must not be after the second, "
                f"got {moment_of(whole[0])} and {moment_of(whole[1])}",
                hint=f"write bounds = [{moment_of(whole[1]).isoformat()}, {moment_of(whole[0]).isoformat()}]",
            )
        object.__setattr__(self, "low", Fraction(whole[0]))
        object.__setattr__(self, "high", Fraction(whole[1]))

    def end(self, bound: Fraction) -> Key:
        """A bound as its column holds it: a day, a moment, a whole number or a number."""
        return value_of(self.type, bound)

    def _checked_keys(self, keys: tuple[Key, ...]) -> tuple[Key, ...]:
        if self.type is Type.NUMBER:
            keys = tuple(map(one_number, keys))
        if not keys or len(keys) > MOST_LISTED:
            raise Invalid(f"column {self.name!r} needs between 1 and {MOST_LISTED:,} keys, got {len(keys):,}")
        for key in keys:
            if type(key) is not KINDS[self.type] or (isinstance(key, float) and not isfinite(key)):
                raise Invalid(f"the keys of column {self.name!r} must be {self.type.value} values, got {shown(key)}")
        if len(set(keys)) < len(keys):
            raise Invalid(f"the keys of column {self.name!r} must differ from each other")
        return keys


def groups_of_column(name: str, limit: object) -> int:
    """A limit on the groups of a person in one column, or raises Invalid."""
    checked = whole(limit, f"max_groups of column {name!r}", least=1)
    if checked > MOST_KEYS:
        raise Invalid(f"max_groups of column {name!r} must be at most {MOST_KEYS:,}, got {shown(limit)}")
    return checked


def value_of(type: Type, number: Fraction | int) -> Key:
    """What a column of a type holds that is known by a number."""
    if type is Type.DATE:
        return day_of(number)
    if type is Type.TIMESTAMP:
        return moment_of(number)
    return int(number) if number == int(number) else float(number)


def checked_join_rows(limit: object) -> int:
    """A limit on the rows of a person that are joined, or raises Invalid."""
    checked = whole(limit, "join_rows", least=1)
    if checked > MOST_JOINED:
        raise Invalid(f"join_rows must be at most {MOST_JOINED:,}, got {shown(limit)}")
    return checked


def listed(type: Type, facts: Facts, keys: tuple[Key, ...] | None) -> tuple[Key, ...] | None:
    """The values by which a column can be grouped, from what is declared of it; None where that lists none."""
    if keys is not None:
        return keys
    if type is Type.BOOLEAN:
        return (False, True)
    if type in WHOLE and facts.low is not None and facts.high is not None:
        low, high = int(facts.low), int(facts.high)
        if high - low >= MOST_KEYS:
            return None
        return tuple(value_of(type, number) for number in range(low, high + 1))
    return None


def one_number(key: Key) -> Key:
    """A key of numbers as the one double that it stands for: 1 is 1.0, and there is one zero. What is no number stays what it is.

    >>> one_number(1), one_number(-0.0), one_number(True)
    (1.0, 0.0, True)
    """
    if type(key) is int:
        try:
            return float(key)
        except OverflowError:
            return key
    return key + 0.0 if isinstance(key, float) else key


@dataclass(frozen=True, slots=True)
class Table:
    """A declared table. Names of tables and columns are told apart without regard to case."""

    name: str
    columns: tuple[Column, ...]
    typed: bool = False  # its source has stored types, which the owner may choose to take over
    public: Contents | None = None  # what it holds, where it is about nobody
    join_rows: int = JOIN_ROWS  # of a person that are joined with those of another table

    def __post_init__(self) -> None:
        folded = [column.name.casefold() for column in self.columns]
        for name in folded:
            if folded.count(name) > 1:
                raise Invalid(f"table {self.name!r} has two columns named {name!r}", hint="rename one of them")

    def column(self, name: str) -> Column:
        """The column of this name, or raises QueryError with the nearest name."""
        for column in self.columns:
            if column.name.casefold() == name.casefold():
                return column
        raise QueryError(
            f"column {name!r} not found in table {self.name!r}",
            code="unknown-column",
            hint=suggestion(name, [column.name for column in self.columns], "the columns are"),
        )


@dataclass(frozen=True, slots=True)
class Protected:
    """Who is protected, and how much of anyone counts in one question."""

    person: str | None = None  # the column that says who a row is about; None: each row is a unit of its own
    adjacency: Adjacency = Adjacency.ADD_REMOVE
    max_groups: int | None = None  # limits that are None are found for each question that needs them
    max_rows: int | None = None  # of a person in a group
    people: int | None = None  # a public estimate, for advice on δ and for previews
    clip: str = "groups"  # or "l2": with Gaussian noise no groups are dropped, the whole of a person is shortened
    max_total: int | None = None  # rows of a person over all groups of a question
    top_total: int | None = None  # what a survey tells that nearly nobody has more rows than, in all of the table
    asked: frozenset[str] = frozenset()  # which of the limits whoever asks set for this question

    def __post_init__(self) -> None:
        if not isinstance(self.adjacency, Adjacency):
            raise Invalid(f"adjacency must be an Adjacency, got {shown(self.adjacency)}")
        for name, most in MOST_LIMITS.items():
            limit = getattr(self, name)
            if limit is not None and whole(limit, name, least=1) > most:
                raise Invalid(f"{name} must be at most {most:,}, got {shown(limit)}")
        if self.people is not None:
            whole(self.people, "people", least=1)
        if self.clip not in ("groups", "l2"):
            raise Invalid(f"clip must be 'groups' or 'l2', got {shown(self.clip)}")

    def limited(self, **limits: int) -> "Protected":
        """This table with limits that whoever asks declares, for one question."""
        if limits and self.person is None:
            raise Invalid(
                f"{min(limits)} limits what of a person counts, and here every row is about another person",
                hint="leave it out",
            )
        return replace(self, **limits, asked=self.asked.union(limits)) if limits else self  # type: ignore[arg-type]

    @property
    def relation(self) -> Relation:
        return Relation(self.adjacency, Unit.ROW if self.person is None else Unit.PERSON)


@dataclass(frozen=True, slots=True)
class Catalog:
    """All tables, and who is protected in all of them."""

    tables: tuple[Table, ...]
    protected: Protected
    ranges: tuple[FoundRange, ...] = ()
    """What earlier questions found of the rows that are asked about, of what has bounds = "auto"."""

    parts: Partition | None = None
    """The parts of the people that have budgets of their own, if any."""

    def __post_init__(self) -> None:
        folded = [table.name.casefold() for table in self.tables]
        if len(set(folded)) < len(folded):
            raise Invalid("two tables have the same name", hint="rename one of them")
        if self.protected.person is not None:
            for table in self.private:
                table.column(self.protected.person)
            return
        limited = [each for table in self.private for each in table.columns if each.max_groups is not None]
        if limited:
            raise Invalid(
                f"max_groups of column {limited[0].name!r} limits what of a person counts, and here every row is about another person",
                hint="leave it out",
            )

    @property
    def private(self) -> tuple[Table, ...]:
        """The tables that are about somebody."""
        return tuple(table for table in self.tables if table.public is None)

    def declared(self) -> "Catalog":
        """What an analyst is told of: for them a column that nobody declared does not exist."""
        person = (self.protected.person or "").casefold()
        tables = (
            replace(
                table, columns=tuple(each for each in table.columns if each.declared or each.name.casefold() == person)
            )
            for table in self.tables
        )
        return replace(self, tables=tuple(tables))

    def table(self, name: str) -> Table:
        """The table of this name, or raises QueryError with the nearest name."""
        for table in self.tables:
            if table.name.casefold() == name.casefold():
                return table
        raise QueryError(
            f"table {name!r} not found",
            code="unknown-table",
            hint=suggestion(name, [table.name for table in self.tables], "the tables are"),
        )


def suggestion(name: str, known: Iterable[str], otherwise: str) -> str:
    """What might have been meant, or what there is."""
    names = {each.casefold(): each for each in known}
    close = get_close_matches(name.casefold(), names, n=1)
    if close:
        return f"did you mean {names[close[0]]!r}?"
    return f"{otherwise} {', '.join(map(visible, sorted(names.values())[:20]))}"
