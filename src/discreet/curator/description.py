"""What an analyst may know: tables, columns, bounds, keys, who is protected, and the budget. All of it is declared."""

from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.curator.budgets import Balance, budgets_of, untouched
from discreet.curator.declaration import AUTO
from discreet.curator.facts import Known, known_in
from discreet.curator.place import Place
from discreet.plan.catalog import Catalog, Column, Key, Protected, Table, listed
from discreet.plan.explain import said
from discreet.plan.partition import Partition
from discreet.plan.scalar import Type
from discreet.plan.visible import visible

if TYPE_CHECKING:
    from discreet.curator.policy import Policy

MOST_KEYS_SHOWN = 12
EXAMPLE = {
    Type.TEXT: '"A", "B"',
    Type.INTEGER: "1, 2, 3",
    Type.NUMBER: "0.5, 1, 2.5",
    Type.DATE: "2024-01-01, 2024-01-02",
    Type.TIMESTAMP: "2024-01-01T08:00:00, 2024-01-01T09:00:00",
    Type.BOOLEAN: "true, false",
}
"""Keys of each type, as a policy writes them."""


@dataclass(frozen=True, slots=True)
class Description:
    """What may be asked about, and what is left for it."""

    catalog: Catalog
    balance: Balance | None = None
    known: Known | None = None
    """What surveys have released, to whoever this is for."""

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
                {
                    "name": table.name,
                    "columns": [_column(column, unit.person) for column in table.columns],
                    **({} if table.public is None else {"public": True}),
                }
                for table in self.catalog.tables
            ],
        }
        if self.catalog.parts is not None:
            parts = self.catalog.parts
            described["parts"] = {"table": parts.table, "column": parts.column, "names": list(parts.names)}
        described["surveys"] = [] if self.known is None else [each.as_data() for each in self.known.surveys]
        return described if self.balance is None else described | {"budget": self.balance.as_data()}

    def lines(self) -> list[str]:
        """As it is read."""
        unit = self.catalog.protected
        lines = []
        for table in self.catalog.tables:
            about = "" if table.public is None else ", public: about nobody, to be joined"
            lines.append(f"table {table.name}{about}")
            width = max(len(column.name) for column in table.columns)
            kinds = max(7, *(len(column.type.value) for column in table.columns))
            for column in table.columns:
                use = use_of(column, unit.person) + self._surveyed(table, column)
                lines.append(f"  {column.name:<{width}}  {column.type.value:<{kinds}}  {use}".rstrip())
            lines.append("")
            lines[-1:] = [*([] if table.public else _without_groups(table, unit.person)), *self._people(table), ""]
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
        if self.catalog.parts is not None:
            lines += _parts(self.catalog.parts, unit.person)
        if self.balance is not None:
            lines.append(f"budget: {self.balance.remaining} left of {self.balance.cap}")
        return [visible(line) for line in lines]

    def _surveyed(self, table: Table, column: Column) -> str:
        """What the newest survey tells of a column, and of which version of the data that is."""
        fact = None if self.known is None else self.known.column(table.name, column.name)
        if fact is None:
            return ""
        from discreet.curator.survey.text import about, kind_of

        return f"; surveyed on version {fact.survey.version}: {kind_of(fact.column)}, {about(fact.column)}"

    def _people(self, table: Table) -> list[str]:
        facts = None if self.known is None else self.known.table(table.name)
        if facts is None:
            return []
        from discreet.curator.survey.text import number

        unit = "people" if facts.person else "rows"
        rows = "" if facts.rows is None else f", rows {number(facts.rows)}"
        changed = (
            ""
            if self.known is None or facts.version == self.known.version
            else "; the data have changed since: survey them again"
        )
        return [f"  surveyed on version {facts.version}: {unit} {number(facts.people)}{rows}{changed}"]

    def __str__(self) -> str:
        return "\n".join(self.lines())


def _parts(parts: Partition, person: str | None) -> list[str]:
    """Which parts of the people have budgets of their own, and how a question is asked about one."""
    whose = "each row by what it names" if person is None else f"each {person} all of whose rows there name one"
    return [
        f"parts of the people, by {parts.column} of {parts.table}: {', '.join(parts.names)}; {whose}",
        f"    a question about one alone pays there: WHERE {parts.column} = {said(parts.key(parts.names[0]))}, or --part {parts.names[0]}",
    ]


def _limits(unit: Protected) -> str:
    """What of each person counts."""
    limits = [
        f"{preposition} at most {limit:,} {noun}{'s' if limit > 1 else ''}{where}"
        for limit, preposition, noun, where in (
            (unit.max_total, "with", "row", " in a question"),
            (unit.max_rows, "with", "row", " in a group"),
            (unit.max_groups, "in", "group", ""),
        )
        if limit is not None
    ]
    if not limits:
        return "how much of each counts is found for each question, unless whoever asks sets a limit"
    whole = unit.max_total is not None or (unit.max_rows is not None and unit.max_groups is not None)
    rest = "" if whole else "; what else limits a question is found for it, unless whoever asks sets it"
    return f"each counts {', and '.join(limits)}{rest}"


def described(
    catalog: Catalog, analyst: str | None, balance: Balance | None = None, known: Known | None = None
) -> Description:
    """What an analyst is told of; the owner, who is None, sees also what nobody declared and no survey has told of."""
    if known is not None and known.surveys:
        from discreet.curator.surveyed import overlaid

        people = catalog.protected.people  # those that are declared
        catalog = overlaid(catalog, known)
        catalog = replace(catalog, protected=replace(catalog.protected, people=people))
    if analyst is None or known is None:
        return Description(catalog if analyst is None else catalog.declared(), balance, known)
    tables = (_told_of(table, catalog.protected.person, known) for table in catalog.tables)
    return Description(replace(catalog, tables=tuple(tables)), balance, known)


def described_at(place: Place, policy: "Policy", catalog: Catalog, analyst: str | None) -> Description:
    """What an analyst is told of, with what is left and what surveys released: the ledger at a place is opened once, where there is one."""
    store = place.look()
    if store is None:
        return described(catalog, analyst, untouched(place, policy, analyst).whole, Known((), policy.version))
    with store:
        balance = budgets_of(store, place, analyst).whole
        return described(catalog, analyst, balance, known_in(store, policy.version, analyst))


def _told_of(table: Table, person: str | None, known: Known) -> Table:
    columns = (
        each
        for each in table.columns
        if each.declared or _is(each, person) or known.column(table.name, each.name) is not None
    )
    return replace(table, columns=tuple(columns))


def _column(column: Column, person: str | None) -> dict[str, Any]:
    known = (
        None
        if column.low is None or column.high is None
        else [_key(column.end(column.low)), _key(column.end(column.high))]
    )
    bounds = AUTO if column.auto else known
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
    others = [each for each in table.columns if not _is(each, person) and values_of(each) is None and each.low is None]
    if not others:
        return []
    names = ", ".join(column.name for column in others[:MOST_KEYS_SHOWN])
    more = ", …" if len(others) > MOST_KEYS_SHOWN else ""
    return [
        f"  to group by {names}{more}: declare keys (keys = [{EXAMPLE[others[0].type]}], or --keys);"
        " or ask with a delta, and keys that enough people share are found; or group by CASE bins",
    ]


def _end(column: Column, bound: Fraction) -> str:
    end = column.end(bound)
    return f"{end:,}" if isinstance(end, int | float) else str(end)


def _key(key: Key) -> str | int | float:
    return key.isoformat() if isinstance(key, date) else key


def _said(key: Key) -> str:
    return str(key).lower() if isinstance(key, bool) else str(_key(key))


def use_of(column: Column, person: str | None) -> str:
    """What can be done with a column."""
    if _is(column, person):
        return "who a row is about: COUNT(DISTINCT …)"
    uses, values = [], values_of(column)
    span = (
        "" if column.low is None or column.high is None else f"{_end(column, column.low)} … {_end(column, column.high)}"
    )
    if span and column.type.numeric:
        uses.append(f"SUM, AVG: clamped to {span}")
    elif column.auto:
        uses.append("SUM, AVG: clamped to a range that each question finds, with a part of its price")
    if values is not None and column.keys is None and span:
        uses.append(f"GROUP BY: {span}")
    elif values is not None:
        shown = ", ".join(_said(key) for key in values[:MOST_KEYS_SHOWN])
        uses.append(f"GROUP BY: {shown}{f', … {len(values):,} keys' if len(values) > MOST_KEYS_SHOWN else ''}")
    if span and values is None and column.type is Type.DATE:
        uses.append(f"{span}: GROUP BY of its years, months or weeks")
    if span and values is None and column.type is Type.TIMESTAMP:
        uses.append(f"{span}: GROUP BY of its years, months, days or hours")
    if column.type.numeric and not column.nullable and column.facts.middle is not None:
        uses.append(f"missing counts as {column.facts.middle:,}")
    if column.max_groups is not None:
        most = f"{column.max_groups:,} group{'s' if column.max_groups > 1 else ''}"
        uses = [*(uses or ["filter and count"]), f"at most {most} of each {person}"]
    return "; ".join(uses) or "filter and count"
