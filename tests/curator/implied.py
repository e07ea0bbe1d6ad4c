"""Random pairs of questions, one answered and one that may follow from it; and, from the rows of the answer alone, what is implied.

It is slow and obvious, and knows no plan: a question is a record of names, each with its SQL and with what it means of a shown row.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

Row = Mapping[str, Any]

WARDS = ("A", "B", "C")
FROM = {"table": "v", "join": "v JOIN places USING (ward)"}


def quarter(day: date) -> date:
    return day.replace(month=(day.month - 1) // 3 * 3 + 1)


KEYS: dict[str, tuple[str, dict[str, Callable[[Any], Any]]]] = {
    "ward": ("ward", {"ward": lambda ward: ward}),
    "east": (
        "CASE WHEN ward IN ('A', 'B') THEN 'east' ELSE 'west' END",
        {"ward": lambda w: "east" if w in "AB" else "west"},
    ),
    "smoker": ("smoker", {"smoker": lambda smoker: smoker}),
    "month": ("DATE_TRUNC('month', day)", {"month": lambda day: day}),
    "quarter": ("DATE_TRUNC('quarter', day)", {"month": quarter}),
    "year": ("YEAR(day)", {"month": lambda day: day.year, "year": lambda year: year}),
    "decade": ("CAST(FLOOR(age / 10) * 10 AS INTEGER)", {"decade": lambda age: age}),
    "old": ("CAST(FLOOR(age / 10) * 10 AS INTEGER) >= 50", {"decade": lambda age: age >= 50}),
}
"""Each key: its SQL, and what it is of a row that has another one."""

FINEST = ("ward", "smoker", "month", "year", "decade")
FILTERS: dict[str, tuple[str, dict[str, Callable[[Any], bool | None]]]] = {
    "some wards": ("ward IN ('A', 'B')", {"ward": lambda ward: ward in "AB"}),
    "one ward": ("ward = 'A'", {"ward": lambda ward: ward == "A"}),
    "no third ward": ("ward <> 'C'", {"ward": lambda ward: ward != "C"}),
    "smokers": ("smoker", {"smoker": bool}),
    "second year": ("day >= '2024-01-01'", {"month": lambda day: day.year >= 2024, "year": lambda year: year >= 2024}),
    "from July": (
        "day >= '2023-07-01'",
        {"month": lambda day: day >= date(2023, 7, 1), "year": lambda year: True if year > 2023 else None},
    ),
    "mid July": (
        "day >= '2023-07-15'",
        {
            "month": lambda day: None if day == date(2023, 7, 1) else day > date(2023, 7, 1),
            "year": lambda year: True if year > 2023 else None,
        },
    ),
    "young": ("CAST(FLOOR(age / 10) * 10 AS INTEGER) < 50", {"decade": lambda age: age < 50}),
    "cheap": ("cost < 50", {}),
}
"""Each condition: its SQL, and what it says of a row that has one key: None where that decides nothing; and nothing where none does."""

NUMBERS = {
    "n": "COUNT(*)",
    "m": "COUNT(cost)",
    "s": "SUM(cost)",
    "a": "AVG(cost)",
    "p": "COUNT(DISTINCT person)",
    "d": "MEDIAN(cost)",
}
LIMITS: dict[str, dict[str, int]] = {
    "rows": {"max_rows": 2, "max_groups": 10_000},
    "groups": {"max_rows": 2, "max_groups": 2},
    "total": {"max_total": 4},
    "found": {},
}


@dataclass(frozen=True)
class Pair:
    """A question, and what may follow for another."""

    source: str
    base: str | None
    """A condition on the rows of the answer that follows; None: all."""

    keys: tuple[str, ...]
    numbers: tuple[str, ...]
    ends: str
    """What stands behind: HAVING, ORDER BY, LIMIT."""

    conditions: tuple[str, ...] = ()
    limits: str = "rows"

    def sql(self) -> str:
        keys = [f"{KEYS[key][0]} AS {key}" for key in self.keys]
        numbers = [f"{NUMBERS[each]} AS {each}" for each in self.numbers if each != "r"]
        numbers += ["SUM(cost) / COUNT(cost) AS r"] if "r" in self.numbers else []
        where = [FILTERS[each][0] for each in (*([self.base] if self.base else []), *self.conditions)]
        words = [f"SELECT {', '.join([*keys, *numbers])} FROM {FROM[self.source]}"]
        words += [f"WHERE {' AND '.join(where)}"] if where else []
        words += [f"GROUP BY {', '.join(map(str, range(1, len(keys) + 1)))}"] if keys else []
        return " ".join([*words, self.ends]).strip()


def pair(random: Random) -> tuple[Pair, Pair]:
    """A question that is answered, and another one near it."""
    keys = tuple(random.sample(FINEST, random.randint(1, 2)))
    if {"month", "year"} <= set(keys):
        keys = keys[:1]
    numbers = [each for each in NUMBERS if random.random() < (0.75 if each in "nms" else 0.3)] or ["n"]
    ends = random.choice(["", "", "", "HAVING COUNT(*) > 3", "LIMIT 2"])
    first = Pair(
        random.choice(["table", "table", "join"]),
        random.choice([None, None, *FILTERS]),
        keys,
        tuple(numbers),
        ends,
        limits=random.choice(list(LIMITS)),
    )
    near = [key for key, (_, of) in KEYS.items() if set(of) & set(keys)]
    coarser = tuple(dict.fromkeys(random.choice(near) for _ in range(random.randint(0, 2))))
    if random.random() < 0.3:
        coarser = keys
    if random.random() < 0.05:
        coarser = (random.choice(list(KEYS)),)
    deciding = [name for name, (_, of) in FILTERS.items() if set(of) & set(keys)]
    conditions = tuple(dict.fromkeys(random.choice(deciding) for _ in range(random.randint(0, 2))) if deciding else ())
    if random.random() < 0.1:
        conditions = (random.choice(list(FILTERS)),)
    asked = [*random.sample(numbers, random.randint(1, len(numbers)))]
    asked += ["r"] * (random.random() < 0.3) + ["a"] * (random.random() < 0.2 and "a" not in asked)
    second = replace(
        first,
        keys=coarser,
        numbers=tuple(asked),
        ends=random.choice(["", "", "ORDER BY 1 DESC LIMIT 2"]),
        conditions=tuple(each for each in conditions if each != first.base),
    )
    twist = random.random()
    if twist < 0.06:
        second = replace(second, base=random.choice([None, *FILTERS]))
    elif twist < 0.1:
        second = replace(second, limits=random.choice(list(LIMITS)))
    elif twist < 0.13:
        second = replace(second, source="join" if first.source == "table" else "table")
    return first, second


def _of(means: Mapping[str, Callable[[Any], Any]], row: Row) -> Any:
    return next(mean(row[key]) for key, mean in means.items() if key in row)


VALUES: dict[str, tuple[Any, ...]] = {
    "ward": WARDS,
    "smoker": (False, True),
    "month": tuple(date(year, month, 1) for year in (2023, 2024) for month in range(1, 13)),
    "year": (2023, 2024),
    "decade": tuple(range(0, 100, 10)),
    "east": ("east", "west"),
    "quarter": tuple(date(year, month, 1) for year in (2023, 2024) for month in (1, 4, 7, 10)),
    "old": (False, True),
}
"""All that is declared of each key."""


def _needed(first: Pair, second: Pair, *, listed: bool = True) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    """The groups of the second question, and the groups of the first one that each is made of: those that it has, where `listed`."""
    columns = [
        name for name in (second.base, *second.conditions) if name and set(FILTERS[name][1]) & {"ward", "smoker"}
    ]
    lists = [
        [
            each
            for each in VALUES[key]
            if all(key not in FILTERS[name][1] or FILTERS[name][1][key](each) for name in columns)
        ]
        for key in second.keys
    ]
    asked = {second.base, *second.conditions} - {None}
    groups = _sorted_into(first, second, list(product(*lists)), asked - {first.base}, listed)
    if any(len(inside) > 1 for inside in groups.values()):
        # what both leave out by their keys is noise alone
        rows = [row for inside in groups.values() for row in inside]
        told = asked - _undecided(first, asked, rows)
        groups = _sorted_into(first, second, [*groups], told, listed)
    return groups


def _decides(name: str, first: Pair, rows: list[dict[str, Any]]) -> bool:
    return bool(set(FILTERS[name][1]) & set(first.keys)) and not any(_of(FILTERS[name][1], row) is None for row in rows)


def _sorted_into(
    first: Pair, second: Pair, names: list[tuple[Any, ...]], conditions: set[Any], listed: bool
) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {group: [] for group in names}
    for values in product(*(VALUES[key] for key in first.keys)):
        row = dict(zip(first.keys, values, strict=True))
        group = tuple(_of(KEYS[key][1], row) for key in second.keys)
        there = group in groups and (not listed or _in_domain(first, row))
        if there and all(_of(FILTERS[each][1], row) for each in conditions):
            groups[group].append(row)
    return groups


def _undecided(first: Pair, names: set[Any], rows: list[dict[str, Any]]) -> set[Any]:
    """The conditions that are not decided, even on the rows that those leave which are."""
    sure = {name for name in names if _decides(name, first, rows)}
    left = [row for row in rows if all(_of(FILTERS[name][1], row) for name in sure)]
    return _undecided(first, names - sure, left) if sure else names


def follows(first: Pair, second: Pair, unit: str, rows: list[dict[str, Any]]) -> str:
    """Why one does not follow from the rows of the answer to the other; empty where it does."""
    few = {first.limits, second.limits} == {"rows", "groups"} and len(list(_all_of(first))) <= 2  # which no limit cuts
    if first.source != second.source or (unit == "person" and first.limits != second.limits and not few):
        return "other rows"
    base, asked = {first.base} - {None}, {second.base, *second.conditions} - {None}
    everything = [dict(zip(first.keys, each, strict=True)) for each in product(*(VALUES[key] for key in first.keys))]
    if _undecided(first, asked - base, everything) or not all(_decides(str(each), first, []) for each in base - asked):
        return "a condition on no key"
    if not all(set(KEYS[key][1]) & set(first.keys) for key in second.keys):
        return "a key of no key"
    groups = _needed(first, second, listed=False)
    needed = [row for inside in groups.values() for row in inside]
    if not all(_of(FILTERS[str(each)][1], row) for row in needed for each in base - asked):
        return "rows that were left out"
    shown = [tuple(row[key] for key in first.keys) for row in rows]
    needed = [row for row in needed if not base <= asked or _in_domain(first, row)]
    if not needed or not all(tuple(row.values()) in shown for row in needed):
        return "groups that were left out"
    sizes = {len(inside) for inside in groups.values()}
    if unit == "person" and "d" in second.numbers and len(needed) < len(list(_all_of(first))):
        return "limits on what is no sum"
    return _numbers_follow(replace(first, numbers=told(first, first.numbers)), second, sizes)


def _all_of(first: Pair) -> Iterator[Row]:
    """The groups of an answer, before any are left out by its own numbers."""
    for values in product(*(VALUES[key] for key in first.keys)):
        row = dict(zip(first.keys, values, strict=True))
        if _in_domain(first, row):
            yield row


def told(first: Pair, numbers: tuple[str, ...]) -> tuple[str, ...]:
    """The numbers that are told: of rows whose cost is known COUNT(cost) counts all."""
    both = first.base == "cheap" and {"n", "m"} & set(numbers)
    return tuple({*numbers, "n", "m"}) if both else numbers


def _in_domain(first: Pair, row: Row) -> bool:
    """Whether a group is one of an answer: a condition on a column that is a key leaves those of which it is true."""
    plain = first.base is not None and set(FILTERS[first.base][1]) & {"ward", "smoker"} & set(first.keys)
    return not plain or bool(_of(FILTERS[str(first.base)][1], row))


def _numbers_follow(first: Pair, second: Pair, sizes: set[int]) -> str:
    told = set(first.numbers)
    sums = {"s", "m"} <= told
    for each in second.numbers:
        if each == "s" and "a" in told and "m" not in told and sizes != {1}:
            return "a sum whose rows are not told"
        if each == "r" and not sums:
            return "a ratio of what was not asked"
        if each == "a" and not sums and ("a" not in told or sizes != {1}):
            return "a mean of means"
        if each == "p" and (each not in told or max(sizes) > 1):
            return "people over groups"
        if each == "d" and (each not in told or sizes != {1}):
            return "people over groups"
    return ""


def implied(first: Pair, second: Pair, rows: list[dict[str, Any]]) -> dict[tuple[Any, ...], dict[str, Any]]:
    """For each group of the second question what the rows of the answer to the first one say."""
    if first.base == "cheap":
        rows = [{"n": row.get("m"), "m": row.get("n"), **row} for row in rows]
    shown = {tuple(row[key] for key in first.keys): row for row in rows}
    places = 8 if first.base == "cheap" else 7  # of a mean between 0 and 49, or 100
    return {
        group: {each: _number(each, [shown[tuple(row.values())] for row in inside], places) for each in second.numbers}
        for group, inside in _needed(first, second).items()
    }


def _number(name: str, rows: list[dict[str, Any]], places: int) -> Any:
    if name in ("n", "m", "s", "p"):
        return sum((Fraction(row[name]) for row in rows), Fraction(0))
    if len(rows) == 1 and name in rows[0]:
        return rows[0][name]
    total, count = _number("s", rows, places), _number("m", rows, places)
    if not count:
        return None
    ratio = float(total / count)
    return min(max(round(ratio, places), 0.0), 100.0) if name == "a" else float(f"{ratio:.12g}")
