"""What an analyst may know: tables, columns, bounds, keys, who is protected, and the budget. All of it is declared."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.curator.budgets import Balance
from discreet.plan.catalog import Catalog, Column, Key
from discreet.plan.visible import visible

MOST_KEYS_SHOWN = 12


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
                "people": unit.people,
                "clip": unit.clip,
            },
            "tables": [
                {"name": table.name, "columns": [_column(column) for column in table.columns]}
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
        if unit.person is None:
            lines.append("protected: each row by itself")
        else:
            lines.append(f"protected: each {unit.person}, with all of their rows")
            lines.append(
                f"    at most {unit.max_rows} rows of each count in a group, and at most {unit.max_groups} groups"
            )
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


def described(catalog: Catalog, analyst: str | None, balance: Balance | None = None) -> Description:
    """What an analyst is told of; the owner, who is None, sees also what nobody declared."""
    return Description(catalog if analyst is None else catalog.declared(), balance)


def _column(column: Column) -> dict[str, Any]:
    bounds = None if column.low is None or column.high is None else [_plain(column.low), _plain(column.high)]
    keys = None if column.keys is None else [_key(key) for key in column.keys]
    return {
        "name": column.name,
        "type": column.type.value,
        "bounds": bounds,
        "keys": keys,
        "nullable": column.nullable,
    }


def _plain(bound: Fraction) -> int | float:
    return int(bound) if bound.denominator == 1 else float(bound)


def _key(key: Key) -> str | int:
    return key if isinstance(key, str | int) else key.isoformat()


def use_of(column: Column, person: str | None) -> str:
    """What can be done with a column."""
    if person is not None and column.name.casefold() == person.casefold():
        return "who a row is about: COUNT(DISTINCT …)"
    if column.keys is not None:
        shown = ", ".join(str(_key(key)) for key in column.keys[:MOST_KEYS_SHOWN])
        more = f", … {len(column.keys):,} keys" if len(column.keys) > MOST_KEYS_SHOWN else ""
        return f"GROUP BY: {shown}{more}"
    if column.low is not None and column.high is not None:
        return f"SUM, AVG: clamped to {_plain(column.low):,} … {_plain(column.high):,}"
    return "filter and count"
