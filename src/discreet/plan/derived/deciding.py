"""What the groups of an answer say of an expression of a row: its value, where all rows of each group have the same one.

Three rules. What is made of the keys alone has the value that it has of them. What is made of a day has that of the days of a group, where
it is the same on each of them: a month says which year it is in, and whether it is before the first of July. And what is made of
conditions by AND, OR and NOT follows from these. Nothing rests on what is declared of a column: a rule holds for every row there can be.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date, datetime, timedelta
from typing import Any

from discreet.plan.calendar import MONTHS, plus_days, plus_months
from discreet.plan.evaluate import evaluate
from discreet.plan.scalar import (
    And,
    Cast,
    Column,
    Function,
    Literal,
    Not,
    Or,
    Scalar,
    Type,
    Value,
    children,
    columns_in,
    type_of,
)
from discreet.plan.written import notation

MOST_DAYS = 200_000
"""So many days are looked at for one expression."""

DAY = "\x00day"
"""The place of a day, which is none of a column."""

LENGTHS = {"year": MONTHS, "quarter": 3, "month": 1}
"""The months that a truncated date stands for."""

Group = tuple[Value, ...]


def decided(scalar: Scalar, keys: Sequence[Scalar], groups: Sequence[Group]) -> list[Value] | None:
    """The value of an expression on all rows of each group; None where rows of one group may differ in it."""
    for rule in (_of_keys, _of_days, _of_parts):
        values = rule(scalar, keys, groups)
        if values is not None:
            return values
    return None


def _of_keys(scalar: Scalar, keys: Sequence[Scalar], groups: Sequence[Group]) -> list[Value] | None:
    places = [Column(f"\x00{i}", type_of(key)) for i, key in enumerate(keys)]
    rewritten = _with(scalar, dict(zip(keys, places, strict=True)))
    used = [i for i, place in enumerate(places) if place in columns_in(rewritten)]
    if columns_in(rewritten) - set(places):
        return None
    seen: dict[Group, Value] = {}
    for group in groups:
        own = tuple(group[i] for i in used)
        if own not in seen:
            row = {places[i].place: _typed(value, places[i].type) for i, value in zip(used, own, strict=True)}
            seen[own] = evaluate(rewritten, row)
    return [seen[tuple(group[i] for i in used)] for group in groups]


def _typed(value: Value, type: Type) -> Value:
    """The value of a key as rows have it: a whole number that is one of numbers is a number."""
    return float(value) if type is Type.NUMBER and isinstance(value, int) and not isinstance(value, bool) else value


def _with(scalar: Any, places: Mapping[Scalar, Scalar]) -> Any:
    """The expression in which each of these parts stands for something else."""
    if isinstance(scalar, tuple):
        return tuple(_with(each, places) for each in scalar)
    if not isinstance(scalar, Scalar):
        return scalar
    if scalar in places and any(notation(each) == notation(scalar) for each in places):  # which tells −0 from 0
        return places[scalar]
    parts = {each.name: getattr(scalar, each.name) for each in fields(scalar)}
    return replace(scalar, **{name: _with(part, places) for name, part in parts.items()})


# Days.


@dataclass(frozen=True, slots=True)
class Days:
    """The day that some keys are made of, as an expression of a row, and what each group says of it."""

    day: Scalar
    stretches: tuple[tuple[date, date] | None, ...]
    """For each group the first day and the last; None where the day is missing."""


def days_of(keys: Sequence[Scalar], groups: Sequence[Group]) -> list[Days]:
    """The days of which groups say in which stretch they lie."""
    told = []
    for i, key in enumerate(keys):
        day = _day_in(key)
        if day is not None:
            stretches = [_stretch(key, day, i, keys, group) for group in groups]
            if not any(each == () for each in stretches):
                told.append(Days(day, tuple(each or None for each in stretches)))
    return told


def of_date(key: Scalar) -> Scalar:
    """A key; of the beginning of a stretch that is told as a timestamp, as it is of timestamps, that day."""
    match key:
        case Cast(operand=Function() as inner, type=Type.TIMESTAMP) if type_of(inner) is Type.DATE:
            return inner
    return key


def _day_in(key: Scalar) -> Scalar | None:
    """The day that a key is, or is the beginning of a stretch of, or the year of."""
    key = of_date(key)
    match key:
        case Function(name=name, operands=(operand,)) if name == "year" or name.startswith("date_trunc_"):
            return operand if type_of(operand) is Type.DATE else None
        case Column(type=Type.DATE) | Cast(type=Type.DATE):
            return key
    return None


def _stretch(
    key: Scalar, day: Scalar, at: int, keys: Sequence[Scalar], group: Group
) -> tuple[date, date] | tuple[()] | None:
    """The days that the key of a group stands for, None for a missing one; () where it cannot be told."""
    key, value = of_date(key), group[at]
    if value is None:
        return None
    if isinstance(value, datetime):
        value = value.date()
    if isinstance(value, date) and key == day:
        return value, value
    unit = key.name.removeprefix("date_trunc_") if isinstance(key, Function) else ""
    if unit == "week" and isinstance(value, date):
        return _from(value, plus_days(value, 7))
    if unit in LENGTHS and isinstance(value, date):
        return _from(value, plus_months(value, LENGTHS[unit]))
    if unit != "year" or not isinstance(value, int) or not date.min.year <= value <= date.max.year:
        return ()
    months = {
        each.name: group[i] for i, each in enumerate(keys) if isinstance(each, Function) and each.operands == (day,)
    }
    for part in ("month", "quarter"):
        number = months.get(part)
        if isinstance(number, int):
            first = date(value, LENGTHS[part] * (number - 1) + 1, 1)
            return _from(first, plus_months(first, LENGTHS[part]))
    return date(value, 1, 1), date(value, 12, 31)


def _from(first: date, after: date | None) -> tuple[date, date]:
    """The days from one to that before another; None is what comes after the years."""
    return first, date.max if after is None else after - timedelta(days=1)


def _of_days(scalar: Scalar, keys: Sequence[Scalar], groups: Sequence[Group]) -> list[Value] | None:
    for days in days_of(keys, groups):
        rewritten = _with(scalar, {days.day: Column(DAY, Type.DATE)})
        if {each.name for each in columns_in(rewritten)} <= {DAY}:
            return _on_all(rewritten, days.stretches)
    return None


def _on_all(scalar: Scalar, stretches: Sequence[tuple[date, date] | None]) -> list[Value] | None:
    """The value of an expression of a day on each stretch, if it has the same on all of its days."""
    apart = dict.fromkeys(stretches)
    if sum((each[1] - each[0]).days + 1 for each in apart if each is not None) > MOST_DAYS:
        return None
    seen: dict[tuple[date, date] | None, Value] = {}
    for each in apart:
        first = evaluate(scalar, {DAY: None if each is None else each[0]})
        if each is not None:
            others = (each[0] + timedelta(days=i) for i in range(1, (each[1] - each[0]).days + 1))
            if any(evaluate(scalar, {DAY: day}) != first for day in others):
                return None
        seen[each] = first
    return [seen[each] for each in stretches]


def values_on(scalar: Scalar, day: Scalar, stretches: Sequence[tuple[date, date]]) -> set[Value] | None:
    """All values that an expression of a day has on the days of these stretches; None where that is none of a day, or they are too many."""
    rewritten = _with(scalar, {day: Column(DAY, Type.DATE)})
    sizes = [(last - first).days + 1 for first, last in stretches]
    if {each.name for each in columns_in(rewritten)} - {DAY} or sum(sizes) > MOST_DAYS:
        return None
    days = (first + timedelta(days=i) for (first, _), size in zip(stretches, sizes, strict=True) for i in range(size))
    return {evaluate(rewritten, {DAY: each}) for each in days}


def _of_parts(scalar: Scalar, keys: Sequence[Scalar], groups: Sequence[Group]) -> list[Value] | None:
    if not isinstance(scalar, And | Or | Not):
        return None
    parts = [decided(each, keys, groups) for each in children(scalar)]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    return [_combined(scalar, [Literal(value, Type.BOOLEAN) for value in row]) for row in zip(*known, strict=True)]


def _combined(scalar: And | Or | Not, parts: Sequence[Literal]) -> Value:
    return evaluate(Not(parts[0]) if isinstance(scalar, Not) else type(scalar)(tuple(parts)), {})
