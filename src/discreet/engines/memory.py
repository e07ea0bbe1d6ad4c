"""The slow and obvious engine: plain Python over lists of rows. What it says is what every other engine must say.

It shares nothing with the rendering of SQL. The priorities, which each engine makes in its own way, are handed to it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import singledispatch
from math import floor, sqrt, trunc
from pathlib import Path
from time import monotonic
from typing import Any, TypeAlias

import numpy as np

from discreet.engines.base import Data, Lost, kind_of
from discreet.engines.cells import of_python
from discreet.engines.framing import Framing, header, records
from discreet.errors import Fault, Invalid
from discreet.plan.apportioned import Apportioned
from discreet.plan.computed import Computed
from discreet.plan.evaluate import evaluate
from discreet.plan.joins import KeepRows, PersonJoin, PublicJoin
from discreet.plan.parts import InPart
from discreet.plan.relation import (
    CapGroups,
    CapRows,
    CapTotal,
    ClipNorm,
    Contributions,
    Exceeding,
    Extent,
    Filled,
    Filter,
    Found,
    Gathered,
    How,
    KeepKeys,
    Occurring,
    PerPerson,
    PersonFeature,
    Rows,
    Scan,
    SecondMoments,
    Summary,
    Term,
    Totals,
    Typed,
    base_of,
    contributions_of,
    days,
    keys_of,
    terms_of,
)
from discreet.plan.scalar import Cast, Scalar, Type, Value

Row: TypeAlias = dict[str | tuple[str, str], Value]
Group: TypeAlias = tuple[Value, ...]
Priorities: TypeAlias = Mapping[tuple[Value, tuple[Any, ...]], int]
"""Of a person in a group; and of a row of a person, by KeepRows and what the row holds."""


@dataclass(slots=True)
class Contribution:
    """What one person has in one group, and as how many rows it counts."""

    person: Value
    group: Group
    rows: int
    terms: list[int]


@dataclass(frozen=True, slots=True)
class RunData:
    """What a query is run on: the rows of every table, and the priorities of people in groups."""

    tables: Mapping[str, list[Row]]
    priorities: Priorities


class MemoryEngine:
    """`priorities` are those of one salt, or a function of the query and the salt that makes them."""

    def __init__(
        self, data: Sequence[Data], priorities: Priorities | Callable[[Totals, int], Priorities] | None = None
    ) -> None:
        self._tables = {each.name: python_rows(each) for each in data}
        self._priorities = {} if priorities is None else priorities

    lost: tuple[Lost, ...] = ()

    def run(self, query: Totals, salt: int, *, deadline: float | None = None) -> Found:
        """The totals; what was not found by the deadline is not looked at."""
        totals: dict[Group, list[int]] = {}
        terms, keys = terms_of(query), keys_of(query)
        for group, values in self._parts(query, salt):
            before = totals.setdefault(group, [0] * len(terms))
            totals[group] = [a + b for a, b in zip(before, values, strict=True)]
        if not keys:
            totals.setdefault((), [0] * len(terms))
        if deadline is not None and monotonic() >= deadline:
            raise Fault("the question could not be computed", code="engine")
        columns = [[sums[i] for sums in totals.values()] for i in range(len(terms))]
        return Found(tuple(totals), tuple(np.array(column, dtype=np.int64) for column in columns))

    def priorities(self, query: Totals, salt: int) -> Priorities:
        return self._priorities(query, salt) if callable(self._priorities) else self._priorities

    @staticmethod
    def columns(source: Any, table: str | None = None) -> Mapping[str, Type]:
        raise Invalid("CSV files and lists, which this engine reads, have no stored types")

    def close(self) -> None:
        self._tables = {}

    def _parts(self, query: Totals, salt: int) -> Iterable[tuple[Group, list[int]]]:
        if isinstance(query.source, Occurring):
            yield from ((pair[:-1], [1]) for pair in self._pairs(query.source, query, salt))
        elif isinstance(query.source, Rows):
            for row in rows_in(query.source, RunData(self._tables, {})):
                yield _group(query.keys, row), [_term(term, row) for term in query.terms]
        else:
            for each in people_in(query.source, RunData(self._tables, self.priorities(query, salt))):
                yield each.group, each.terms

    def _pairs(self, relation: Occurring, query: Totals, salt: int) -> set[Group]:
        """The keys of groups, with a value behind them, that occur."""
        if isinstance(relation.source, Rows):
            return {_group(relation.keys, row) for row in rows_in(relation.source, RunData(self._tables, {}))}
        return {each.group for each in people_in(relation.source, RunData(self._tables, self.priorities(query, salt)))}


@singledispatch
def rows_in(relation: Rows, reading: RunData) -> list[Row]:
    """The rows of a relation of rows."""
    raise Fault(f"{type(relation).__name__} has no meaning", code="relation")


@rows_in.register
def _scan(relation: Scan, reading: RunData) -> list[Row]:
    return reading.tables[relation.table]


@rows_in.register
def _typed(relation: Typed, reading: RunData) -> list[Row]:
    casts = {each.name: Cast(replace(each, type=Type.TEXT), each.type) for each in relation.columns}
    rows = rows_in(relation.source, reading)
    return [row | {name: evaluate(cast, row) for name, cast in casts.items()} for row in rows]


@rows_in.register
def _filled(relation: Filled, reading: RunData) -> list[Row]:
    values = {column.name: value.value for column, value in relation.values}
    rows = rows_in(relation.source, reading)
    return [row | {name: value for name, value in values.items() if row[name] is None} for row in rows]


@rows_in.register
def _filter(relation: Filter, reading: RunData) -> list[Row]:
    return [row for row in rows_in(relation.source, reading) if evaluate(relation.condition, row) is True]


@rows_in.register
def _computed(relation: Computed, reading: RunData) -> list[Row]:
    rows = rows_in(relation.source, reading)
    return [row | {relation.column.place: evaluate(relation.value, row)} for row in rows]


@rows_in.register
def _in_part(relation: InPart, reading: RunData) -> list[Row]:
    rows = rows_in(relation.source, reading)
    if relation.person is None:
        return [row for row in rows if row[relation.column.place] == relation.key.value]
    values: dict[Value, set[Value]] = {}
    person = relation.members.columns[0]
    for row in rows_in(relation.members, reading):
        values.setdefault(evaluate(person, row), set()).add(evaluate(relation.column, row))
    there = [(evaluate(relation.person, row), row) for row in rows]
    return [row for who, row in there if who is not None and values.get(who) == {relation.key.value}]


@rows_in.register
def _public_join(relation: PublicJoin, reading: RunData) -> list[Row]:
    others: dict[Group, Row] = {}
    for row in rows_in(relation.public, reading):
        key = tuple(evaluate(there, row) for _, there in relation.on)
        if None not in key and key in others:
            raise Fault("several rows of a public table are alike in what is joined on", code="relation")
        others[key] = row
    nothing = _nothing(relation.public)
    joined = []
    for row in rows_in(relation.source, reading):
        key = tuple(evaluate(own, row) for own, _ in relation.on)
        match = None if None in key else others.get(key)
        if match is not None or relation.outer:
            joined.append(row | _beside(relation.called, nothing if match is None else match))
    return joined


@rows_in.register
def _keep_rows(relation: KeepRows, reading: RunData) -> list[Row]:
    people: dict[Value, list[tuple[tuple[object, ...], Row]]] = {}
    for row in rows_in(relation.source, reading):
        person, values = evaluate(relation.person, row), [evaluate(column, row) for column in relation.columns]
        if person is not None:
            order = (reading.priorities[person, (KeepRows, *values)], *map(_last_if_null, values))
            people.setdefault(person, []).append((order, row))
    return [row for mine in people.values() for _, row in sorted(mine, key=lambda each: each[0])[: relation.most]]


@rows_in.register
def _person_join(relation: PersonJoin, reading: RunData) -> list[Row]:
    own, there = relation.persons
    others: dict[Value, list[Row]] = {}
    for row in rows_in(relation.other, reading):
        others.setdefault(evaluate(there, row), []).append(row)
    joined = []
    for row in rows_in(relation.source, reading):
        matches = others.get(evaluate(own, row), [])
        if relation.outer and not matches:
            matches = [_nothing(relation.other)]
        joined += [row | _beside(relation.called, match) for match in matches]
    return joined


def _beside(called: str, row: Row) -> Row:
    """The columns of the other side of a join."""
    return {(called, str(name)): value for name, value in row.items()}


def _nothing(relation: Rows) -> Row:
    """What stands beside a row that matches none."""
    columns = relation.columns if isinstance(relation, KeepRows) else base_of(relation).columns
    return {column.name: None for column in columns}


@rows_in.register
def _per_person(relation: PerPerson, reading: RunData) -> list[Row]:
    gathered: dict[Group, list[Row]] = {}
    for row in rows_in(relation.source, reading):
        values = [evaluate(each, row) for each in (relation.person, *(key for _, key in relation.keys))]
        if values[0] is not None:
            gathered.setdefault(tuple(values), []).append(row)
    places = [relation.person.place, *(column.place for column, _ in relation.keys)]
    return [
        dict(zip(places, values, strict=True))
        | {each.column.place: _gathered(each, rows) for each in relation.features}
        for values, rows in gathered.items()
    ]


def _gathered(feature: PersonFeature, rows: list[Row]) -> Value:
    """What all rows of a person give. Of numbers there is one zero, whichever row it stood in."""
    there = [value for row in rows if (value := evaluate(feature.value, row)) is not None]
    values: list[Any] = [value + 0.0 if isinstance(value, float) else value for value in there]
    match feature.how:
        case Summary.SUM:
            return sum(map(int, values))
        case Summary.DISTINCT:
            return len(set(values))
        case Summary.LEAST:
            return min(values, default=None)
        case Summary.LARGEST:
            return max(values, default=None)


@singledispatch
def people_in(relation: Gathered, reading: RunData) -> list[Contribution]:
    """What each person has in each group."""
    raise Fault(f"{type(relation).__name__} has no meaning", code="relation")


@people_in.register
def _contributions(relation: Contributions, reading: RunData) -> list[Contribution]:
    gathered: dict[tuple[Value, Group], list[Row]] = {}
    for row in rows_in(relation.source, reading):
        person = evaluate(relation.person, row)
        if person is not None:
            gathered.setdefault((person, _group(relation.keys, row)), []).append(row)
    return [
        Contribution(person, group, len(rows), [_of_a_person(term, rows) for term in relation.terms])
        for (person, group), rows in gathered.items()
    ]


def _of_a_person(term: Term, rows: list[Row]) -> int:
    match term.how:
        case How.SUM:
            return sum(_term(term, row) for row in rows)
        case How.ANY:
            return max(0, *(_term(term, row) for row in rows))
        case How.MEAN:
            values = [_term(term, row) for row in rows if evaluate(term.value, row) is not None]
            return floor(Fraction(sum(values), len(values)) + Fraction(1, 2)) if values else 0


@people_in.register
def _cap_rows(relation: CapRows, reading: RunData) -> list[Contribution]:
    kinds = [term.how for term in contributions_of(relation).terms]
    people = people_in(relation.source, reading)
    return [_capped(each, kinds, relation.most, reading.priorities) for each in people]


@people_in.register
def _cap_groups(relation: CapGroups, reading: RunData) -> list[Contribution]:
    people, rank = _by_person(people_in(relation.source, reading)), _rank(reading.priorities)
    return [each for mine in people for each in sorted(mine, key=rank)[: relation.most]]


@people_in.register
def _keep_keys(relation: KeepKeys, reading: RunData) -> list[Contribution]:
    rest = []
    for mine in _by_person(people_in(relation.source, reading)):
        places: dict[Group, set[Group]] = {}
        for each in mine:
            places.setdefault(each.group[: relation.within], set()).add(each.group[: relation.of])
        person, chosen = mine[0].person, set[Group]()
        for some in places.values():
            ranked = sorted(some, key=lambda keys: (reading.priorities[person, keys], *map(_last_if_null, keys)))
            chosen.update(ranked[: relation.most])
        rest += [each for each in mine if each.group[: relation.of] in chosen]
    return rest


@people_in.register
def _cap_total(relation: CapTotal, reading: RunData) -> list[Contribution]:
    kinds = [term.how for term in contributions_of(relation).terms]
    people = _by_person(people_in(relation.source, reading))
    return [each for mine in people for each in _scaled(mine, kinds, relation.most)]


@people_in.register
def _apportioned(relation: Apportioned, reading: RunData) -> list[Contribution]:
    contributions = contributions_of(relation)
    values: dict[tuple[Value, Group], dict[Group, int]] = {}
    for row in rows_in(contributions.source, reading):
        person, value = evaluate(contributions.person, row), _group((relation.value,), row)
        if person is not None and value != (None,):
            counts = values.setdefault((person, _group(contributions.keys, row)), {})
            counts[value] = counts.get(value, 0) + 1
    return [
        Contribution(each.person, each.group + value, n, [term * n // sum(counts.values()) for term in each.terms])
        for each in people_in(relation.source, reading)
        for counts in (values.get((each.person, each.group), {}),)
        for value, n in counts.items()
    ]


@people_in.register
def _exceeding(relation: Exceeding, reading: RunData) -> list[Contribution]:
    people = _by_person(people_in(relation.source, reading))
    return [Contribution(mine[0].person, (), 0, _more(mine, relation)) for mine in people]


@people_in.register
def _second_moments(relation: SecondMoments, reading: RunData) -> list[Contribution]:
    def steps(each: Contribution, place: int) -> int:
        shift = relation.shifts[place]
        return (each.terms[place] + (1 << shift >> 1)) >> shift

    return [
        Contribution(each.person, each.group, each.rows, [steps(each, a) * steps(each, b) for a, b in relation.pairs])
        for each in people_in(relation.source, reading)
    ]


@people_in.register
def _clip_norm(relation: ClipNorm, reading: RunData) -> list[Contribution]:
    people = _by_person(people_in(relation.source, reading))
    return [each for mine in people for each in _clipped(mine, relation.limits)]


def _term(term: Term, row: Row) -> int:
    value = evaluate(term.value, row)
    return 0 if value is None else int(value)  # type: ignore[arg-type]


def _group(keys: Iterable[Scalar], row: Row) -> Group:
    return tuple(days(evaluate(key, row)) for key in keys)


def _by_person(contributions: Iterable[Contribution]) -> list[list[Contribution]]:
    people: dict[Value, list[Contribution]] = {}
    for each in contributions:
        people.setdefault(each.person, []).append(each)
    return list(people.values())


def _rank(priorities: Priorities) -> Callable[[Contribution], tuple[object, ...]]:
    """The order of contributions: by priority, then by the keys, where NULL comes last."""
    return lambda each: (
        priorities[each.person, each.group],
        *map(_last_if_null, each.group),
    )


def _last_if_null(key: Value) -> tuple[object, ...]:
    return (1,) if key is None else (0, key)


def _capped(each: Contribution, kinds: list[How], most: int, priorities: Priorities) -> Contribution:
    n = each.rows
    if n <= most:
        return each
    u = priorities[each.person, each.group] % n
    terms = [(s * most + u) // n if how is How.SUM else s for s, how in zip(each.terms, kinds, strict=True)]
    return Contribution(each.person, each.group, most, terms)


def _scaled(mine: list[Contribution], kinds: list[How], most: int) -> list[Contribution]:
    """What one person adds, scaled in integers to so many rows over all groups, and truncated toward 0."""
    n = sum(each.rows for each in mine)
    if n <= most:
        return mine
    scaled = [
        [
            (abs(s) * most // n) * (1 if s >= 0 else -1) if how is How.SUM else s
            for s, how in zip(each.terms, kinds, strict=True)
        ]
        for each in mine
    ]
    return [Contribution(c.person, c.group, c.rows, terms) for c, terms in zip(mine, scaled, strict=True)]


def _more(mine: list[Contribution], relation: Exceeding) -> list[int]:
    """For each rung whether one person has more."""
    rows = [each.rows for each in mine]
    has = {Extent.ROWS: sum(rows), Extent.ROWS_IN_A_GROUP: max(rows), Extent.GROUPS: len(mine)}[relation.extent]
    return [int(has > rung) for rung in relation.rungs]


def _clipped(mine: list[Contribution], limits: tuple[int, ...]) -> list[Contribution]:
    """What one person adds, clipped in doubles to a norm that is surely not below the true one: 2^-40 is more than all roundings."""
    squares = [sum(each.terms[i] ** 2 for each in mine) for i in range(len(limits))]
    if all(square <= limit**2 for square, limit in zip(squares, limits, strict=True)):
        return mine
    norms = [sqrt(_double(square)) * (1 + 2.0**-40) for square in squares]
    factor = min(limit / norm for norm, limit in zip(norms, limits, strict=True) if norm)
    return [Contribution(c.person, c.group, c.rows, [trunc(float(s) * factor) for s in c.terms]) for c in mine]


def _double(value: int) -> float:
    """A wide integer as a double, by its two halves of 64 bits, as engines do it."""
    high, low = divmod(value, 1 << 64)
    return float(high) * 2.0**64 + float(low)


def python_rows(data: Data) -> list[Row]:
    """The rows of a CSV file, a dict of lists or a list of dicts, with the declared columns, converted as they are declared."""
    source = data.source
    types = {column.name: column.type for column in data.columns}
    rows: Iterable[Mapping[str, object]]
    if isinstance(source, str | Path):
        if kind_of(source) != "csv":
            raise Invalid("only CSV files and lists are read by this engine")
        rows = _csv_rows(Path(source), data.framing)
    elif isinstance(source, dict):
        rows = [dict(zip(source, values, strict=True)) for values in zip(*source.values(), strict=True)]
    else:
        rows = source
    return [
        {name: of_python(row[name], type, name, data.reading, name == data.person) for name, type in types.items()}
        for row in rows
    ]


def _csv_rows(path: Path, framing: Framing) -> Iterable[dict[str, object]]:
    names = header(path, framing)
    return (dict(zip(names, cells, strict=True)) for cells in records(path, framing))
