"""Neighbours that a policy allows, made up from what it declares: no source is opened, and no ledger touched.

Values lie at the edges of what is declared and beyond: the bounds and more than that, every key and none of them, nothing at all, one
person with many rows. Twins of questions on such tables show how far a policy's plans may be told apart.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction
from itertools import chain
from typing import Any

from discreet.curator.declaration import Budget, Declared, Source
from discreet.curator.policy import Policy
from discreet.noise import Tape, uniform
from discreet.plan.catalog import value_of
from discreet.plan.scalar import KINDS, Type
from discreet.privacy.adjacency import Adjacency

# People of a made-up table, and rows of each at most.
PEOPLE, ROWS = 5, 3
# Rows of whoever is on one side only, in turn: more than any limit, so that limits count, some, and one.
LENGTHS = (40, ROWS, 1)
# What questions of an audit are paid from, whatever the policy has left.
PLENTY = Fraction(10**4)
TIMES = (Type.DATE, Type.TIMESTAMP)
DAYS = (date(1969, 12, 31), date(2000, 2, 29), date(2024, 12, 31))
PLAIN: dict[Type, tuple[Any, ...]] = {
    Type.TEXT: ("a", "b", ""),
    Type.INTEGER: (0, 1, -7, 10**6),
    Type.NUMBER: (0.0, 0.5, -7.25, 1e6),
    Type.DATE: DAYS,
    Type.TIMESTAMP: (datetime(1969, 12, 31, 23, 59, 59), datetime(2000, 2, 29, 12), datetime(2024, 12, 31)),
    Type.BOOLEAN: (True, False),
}


def neighbours(policy: Policy, seed: int) -> tuple[Policy, Policy]:
    """Two policies with the same declarations on made-up tables that differ in one person; the second has the person."""
    coins = Tape(seed)
    most = LENGTHS[seed % len(LENGTHS)]
    tables = {name: _tables(policy, source, most, coins) for name, source in _private(policy)}
    return _with(policy, {name: each[0] for name, each in tables.items()}), _with(
        policy, {name: each[1] for name, each in tables.items()}
    )


def questions(policy: Policy) -> list[str]:
    """Questions that each table of a policy can be asked, over all of its columns: counts, sums, means, groups, conditions."""
    return list(chain.from_iterable(_questions(policy, name, source) for name, source in _private(policy)))


def _private(policy: Policy) -> list[tuple[str, Source]]:
    """The tables about somebody: neighbours have the same public ones."""
    return [(name, source) for name, source in policy.tables.items() if not source.public]


def _questions(policy: Policy, name: str, source: Source) -> Iterator[str]:
    table = _quoted(name)
    keyed = [_quoted(each) for each, said in source.columns.items() if said.keys is not None]
    keyed += [
        f"YEAR({_quoted(each)})" for each, said in source.columns.items() if said.low is not None and said.type in TIMES
    ]
    found = [
        _quoted(each) for each, said in source.columns.items() if _unlisted(said) and each != policy.protected.person
    ]
    summed = [
        _quoted(each)
        for each, said in source.columns.items()
        if said.auto or (said.low is not None and said.type not in TIMES)
    ]
    yield f"SELECT COUNT(*) AS n FROM {table}"
    if policy.protected.person is not None:
        person = _quoted(policy.protected.person)
        yield f"SELECT COUNT(DISTINCT {person}) AS n FROM {table}"
        yield f"SELECT COUNT(*) AS n FROM (SELECT {person}, COUNT(*) AS k FROM {table} GROUP BY {person}) AS people WHERE k > 1"
    for column in found:
        yield f"SELECT COUNT(DISTINCT {column}) AS d FROM {table}"
    for column in summed:
        yield f"SELECT SUM({column}) AS s FROM {table}"
        yield f"SELECT AVG({column}) AS m, COUNT({column}) AS n FROM {table}"
        yield f"SELECT COUNT(*) FILTER (WHERE {column} > 1) AS n, SUM(2 * {column} + 1) AS s FROM {table}"
    if policy.budget.delta:
        for column in found:
            yield f"SELECT {column}, COUNT(*) AS n FROM {table} GROUP BY {column}"
    for column in keyed:
        yield f"SELECT {column}, COUNT(*) AS n FROM {table} GROUP BY {column}"
        for other in summed:
            yield f"SELECT {column}, AVG({other}) AS m FROM {table} WHERE {other} IS NOT NULL GROUP BY {column} ORDER BY m"


def _unlisted(said: Declared) -> bool:
    """Whether a column has values that nobody declared, and that are found where it is grouped by."""
    return said.keys is None and said.low is None and said.type in (Type.TEXT, *TIMES)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _with(policy: Policy, tables: dict[str, dict[str, list[Any]]]) -> Policy:
    """The policy on these tables, with plenty to spend from and nobody who is told of it."""
    sources = {
        name: source if source.public else Source(tables[name], _types(policy, source), join_rows=source.join_rows)
        for name, source in policy.tables.items()
    }
    budget = Budget(PLENTY, policy.budget.delta)
    return replace(
        policy, tables=sources, budget=budget, analysts={}, shares=None, ledger=None, address=None, mark=None
    )


def _types(policy: Policy, source: Source) -> dict[str, Declared]:
    """What is declared, without how dates are written: made-up ones are dates. Who is protected is spelt as the policy has it."""
    person = policy.protected.person or ""
    return {
        person if name.casefold() == person.casefold() else name: replace(said, format=None)
        for name, said in source.columns.items()
    }


def _tables(
    policy: Policy, source: Source, most: int, coins: Tape
) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    """Rows without somebody and rows with them, as columns; of very many rows of theirs all are alike."""
    person, columns = policy.protected.person, _types(policy, source)
    names = list(columns)
    if person is not None and person not in columns:
        names.append(person)
    if not names:
        # a table has a column at least
        names.append("row")
    ids = _ids(columns.get(person or "", Declared()), PEOPLE + 2)

    def rows(who: Any, count: int) -> list[list[Any]]:
        return [
            [who if name == person else _pick(_values(columns.get(name, Declared())), coins) for name in names]
            for _ in range(count)
        ]

    others = [row for who in ids[:PEOPLE] for row in rows(who, int(uniform(ROWS + 1, source=coins)))]
    theirs = rows(ids[PEOPLE + 1], 1) * most if most > ROWS else rows(ids[PEOPLE + 1], most)
    theirs = theirs if person is not None else theirs[:1]
    replaced = rows(ids[PEOPLE], 1 if person is None else ROWS)
    first = [*others, *replaced] if policy.protected.adjacency is Adjacency.REPLACE else others
    return _columns(names, first), _columns(names, [*others, *theirs])


def _columns(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, list[Any]]:
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}


def _pick(values: Sequence[Any], coins: Tape) -> Any:
    return values[int(uniform(len(values), source=coins))]


def _ids(declared: Declared, count: int) -> list[Any]:
    if declared.type in (Type.INTEGER, Type.NUMBER):
        return list(range(1, count + 1))
    if declared.type is Type.TIMESTAMP:
        return [datetime(2000, 1, 1, number) for number in range(1, count + 1)]
    if declared.type is Type.DATE:
        return [date(2000, 1, day) for day in range(1, count + 1)]
    return [f"p{number}" for number in range(1, count + 1)]


def _values(declared: Declared) -> list[Any]:
    """What a cell may hold: the edges of what is declared, what lies beyond them, and nothing."""
    empty = [None] if declared.nullable else []
    if declared.keys is not None:
        kind = next(each for each, python in KINDS.items() if type(declared.keys[0]) is python)
        return [*declared.keys[:3], *PLAIN[kind][:2], *empty]
    if declared.low is not None and declared.high is not None:
        low, high = declared.low, declared.high
        if declared.type is not None and declared.type in TIMES:
            days = low, high, low - 1, high + 1, Fraction((low + high) // 2)
            return [*(value_of(declared.type, day) for day in days), *empty]
        edges = [low, high, low - 1 - abs(low), 10 * abs(high) + 10, (low + high) / 2]
        number = int if declared.type is Type.INTEGER else float
        return [*map(number, edges), *empty]
    return [*PLAIN[declared.type or Type.TEXT], *empty]
