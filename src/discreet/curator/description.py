"""What an analyst may know: tables, columns, bounds, keys, who is protected, and the budget. All of it is declared."""

from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

from discreet.curator.budgets import Balance
from discreet.plan.catalog import Catalog, Column, Key, Protected, Table, listed
from discreet.plan.scalar import Type
from discreet.plan.visible import visible

MOST_KEYS_SHOWN = 12
EXAMPLE = {
    Type.TEXT: '"A", "B"',
    Type.INTEGER: "1, 2, 3",
    Type.NUMBER: "0.5, 1, 2.5",
    Type.DATE: "2024-01-01, 2024-01-02",
    Type.BOOLEAN: "true, false",
}
"""Keys of each type, as a policy writes them."""


@dataclass(frozen=True, slots=True)
class Description:
    """What may be asked about, and what is left for it."""

    catalog: Catalog
    balance: Balance | None = None

    def as_data(self) -> dict[str, Any]:
        """As JSON has it."""
        unit = self.catalog.protected
        described: dict[str, Any] = {
            "unit": {
                "column": unit.person,
                "row": unit.person is None,
                "adjacency": unit.adjacency.value,
                "max_groups": None if unit.person is None else unit.max_groups,
                "max_rows": None if unit.person is None else unit.max_rows,
                "max_total": None if unit.person is None else unit.max_total,
                "people": unit.people,
                "clip": unit.clip,
            },
            "tables": [
                {"name": table.name, "columns": [_column(column, unit.person) for column in table.columns]}
                for table in self.catalog.tables
            ],
        }
        return described if self.balance is None else described | {"budget": self.balance.as_data()}

    def lines(self) -> list[str]:
        """As it is read."""
        unit = self.catalog.protected
        lines = []
        for table in self.catalog.tables:
            lines.append(f"table {table.name}")
            width = max(len(column.name) for column in table.columns)
            for column in table.columns:
                use = use_of(column, unit.person)
                lines.append(f"  {column.name:<{width}}  {column.type.value:<7}  {use}".rstrip())
            lines.append("")
            lines[-1:] = [*_without_groups(table, unit.person), ""]
        if unit.person is None:
            lines.append("protected: each row by itself")
        else:
            lines.append(f"protected: each {unit.person}, with all of their rows")
            lines.append(f"    {_limits(unit)}")
        replaced = unit.adjacency.value == "replace"
        lines.append(
            "    neighbouring data: one of them "
            + ("replaced by another; how many there are is no secret" if replaced else "more, or one less")
        )
        if unit.people is not None:
            lines.append(f"people, as declared: {unit.people:,}")
        if self.balance is not None:
            lines.append(f"budget: {self.balance.remaining} left of {self.balance.cap}")
        return [visible(line) for line in lines]

    def __str__(self) -> str:
        return "\n".join(self.lines())


def _limits(unit: Protected) -> str:
    """What of each person counts."""
    limits = [
        f"{limit:,} {what}"
        for limit, what in (
            (unit.max_total, "rows in a question"),
            (unit.max_rows, "rows in a group"),
            (unit.max_groups, "groups"),
        )
        if limit is not None
    ]
    if not limits:
        return "how much of each counts is found for each question, unless whoever asks sets a limit"
    return f"each counts with at most {', and at most '.join(limits)}"


def described(catalog: Catalog, analyst: str | None, balance: Balance | None = None) -> Description:
    """What an analyst is told of; the owner, who is None, sees also what nobody declared."""
    return Description(catalog if analyst is None else catalog.declared(), balance)


def _column(column: Column, person: str | None) -> dict[str, Any]:
    bounds = None if column.low is None or column.high is None else [_plain(column.low), _plain(column.high)]
    keys = None if column.keys is None else [_key(key) for key in column.keys]
    return {
        "name": column.name,
        "type": column.type.value,
        "bounds": bounds,
        "keys": keys,
        "nullable": column.nullable,
        "max_groups": column.max_groups,
        "group_by": not _is(column, person) and values_of(column) is not None,
    }


def values_of(column: Column) -> tuple[Key, ...] | None:
    """The values by which a column can be grouped; None where none are declared."""
    return listed(column.type, column.facts, column.keys)


def _is(column: Column, person: str | None) -> bool:
    return person is not None and column.name.casefold() == person.casefold()


def _without_groups(table: Table, person: str | None) -> list[str]:
    """What is to be declared before the other columns can be grouped by."""
    others = [each for each in table.columns if not _is(each, person) and values_of(each) is None]
    if not others:
        return []
    names = ", ".join(column.name for column in others[:MOST_KEYS_SHOWN])
    more = ", …" if len(others) > MOST_KEYS_SHOWN else ""
    return [
        f"  to group by {names}{more}: declare keys (keys = [{EXAMPLE[others[0].type]}], or --keys);"
        " or ask with a delta, and keys that enough people share are found; or group by CASE bins",
    ]


def _plain(bound: Fraction) -> int | float:
    return int(bound) if bound.denominator == 1 else float(bound)


def _key(key: Key) -> str | int | float:
    return key.isoformat() if isinstance(key, date) else key


def _said(key: Key) -> str:
    return str(key).lower() if isinstance(key, bool) else str(_key(key))


def use_of(column: Column, person: str | None) -> str:
    """What can be done with a column."""
    if _is(column, person):
        return "who a row is about: COUNT(DISTINCT …)"
    uses, values = [], values_of(column)
    span = "" if column.low is None or column.high is None else f"{_plain(column.low):,} … {_plain(column.high):,}"
    if span:
        uses.append(f"SUM, AVG: clamped to {span}")
    if values is not None and column.keys is None and span:
        uses.append(f"GROUP BY: {span}")
    elif values is not None:
        shown = ", ".join(_said(key) for key in values[:MOST_KEYS_SHOWN])
        uses.append(f"GROUP BY: {shown}{f', … {len(values):,} keys' if len(values) > MOST_KEYS_SHOWN else ''}")
    if not column.nullable and column.facts.middle is not None:
        uses.append(f"missing counts as {column.facts.middle:,}")
    if column.max_groups is not None:
        most = f"{column.max_groups:,} group{'s' if column.max_groups > 1 else ''}"
        uses = [*(uses or ["filter and count"]), f"at most {most} of each {person}"]
    return "; ".join(uses) or "filter and count"
