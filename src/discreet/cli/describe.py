"""`discreet describe SOURCE`: what an analyst may know. All of it is declared; nothing comes from the data."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.budget import amounts_said, money_of
from discreet.cli.flags import Flags, with_flags
from discreet.cli.source import located, policy_of
from discreet.plan.visible import visible

if TYPE_CHECKING:
    from discreet.plan.catalog import Catalog, Column

MOST_KEYS_SAID = 12


@with_flags
def describe(
    flags: Flags,
    source: Annotated[str | None, typer.Argument(help="A data file or a policy; ./discreet.toml if left out.")] = None,
    analyst: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Show what is left for this analyst.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """What may be asked about: tables, columns, bounds, keys, who is protected, and the budget that is left."""
    from discreet.curator.policy import catalog_of

    path = located(source)
    policy = policy_of(path, flags)
    catalog = told(catalog_of(policy)[0], analyst)
    money = money_of(path, flags, policy, analyst)
    if as_json:
        print(json.dumps({**as_data(catalog), "budget": money.amounts}, ensure_ascii=False, indent=2))
        return
    for line in lines(catalog):
        print(line)
    left, cap = (amounts_said(money.amounts[which]) for which in ("remaining", "cap"))
    print(f"budget: {left} left of {cap}")


def told(catalog: "Catalog", analyst: str | None) -> "Catalog":
    """What an analyst is told of; the owner sees also what nobody declared."""
    return catalog if analyst is None else catalog.declared()


def as_data(catalog: "Catalog") -> dict[str, Any]:
    protected = catalog.protected
    return {
        "unit": {
            "column": protected.person,
            "row": protected.person is None,
            "adjacency": protected.adjacency.value,
            "max_groups": None if protected.person is None else protected.max_groups,
            "max_rows": None if protected.person is None else protected.max_rows,
            "people": protected.people,
            "clip": protected.clip,
        },
        "tables": [
            {"name": table.name, "columns": [_column(column) for column in table.columns]} for table in catalog.tables
        ],
    }


def _column(column: "Column") -> dict[str, Any]:
    bounds = None if column.low is None or column.high is None else [_plain(column.low), _plain(column.high)]
    keys = None if column.keys is None else [_key(key) for key in column.keys]
    return {
        "name": column.name,
        "type": column.type.value,
        "bounds": bounds,
        "keys": keys,
        "nullable": column.nullable,
    }


def _plain(bound: Any) -> int | float:
    return int(bound) if bound.denominator == 1 else float(bound)


def _key(key: Any) -> Any:
    return key if isinstance(key, str | int) else key.isoformat()


def lines(catalog: "Catalog") -> list[str]:
    protected = catalog.protected
    found = []
    for table in catalog.tables:
        found.append(f"table {table.name}")
        width = max(len(column.name) for column in table.columns)
        for column in table.columns:
            found.append(
                f"  {column.name:<{width}}  {column.type.value:<7}  {_said(column, protected.person)}".rstrip()
            )
        found.append("")
    if protected.person is None:
        found.append("protected: each row by itself")
    else:
        found.append(f"protected: each {protected.person}, with all of their rows")
        found.append(
            f"    at most {protected.max_rows} rows of each count in a group, and at most {protected.max_groups} groups"
        )
    replaced = protected.adjacency.value == "replace"
    found.append(
        "    neighbouring data: one of them "
        + ("replaced by another; how many there are is no secret" if replaced else "more, or one less")
    )
    if protected.people is not None:
        found.append(f"people, as declared: {protected.people:,}")
    return [visible(line) for line in found]


def _said(column: "Column", person: str | None) -> str:
    """What can be done with a column."""
    if person is not None and column.name.casefold() == person.casefold():
        return "who a row is about: COUNT(DISTINCT …)"
    if column.keys is not None:
        shown = ", ".join(str(_key(key)) for key in column.keys[:MOST_KEYS_SAID])
        more = f", … {len(column.keys):,} keys" if len(column.keys) > MOST_KEYS_SAID else ""
        return f"GROUP BY: {shown}{more}"
    if column.low is not None and column.high is not None:
        return f"SUM, AVG: clamped to {_plain(column.low):,} … {_plain(column.high):,}"
    return "filter and count"
