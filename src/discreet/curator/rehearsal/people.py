"""How many rows and groups each person has, beside the limits, and what these leave out."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from discreet.curator.rehearsal.counting import Counting
from discreet.curator.rehearsal.ladder import limit_for
from discreet.plan.caps import Caps, caps_of
from discreet.plan.catalog import Catalog, Table
from discreet.plan.draft import Draft
from discreet.plan.relation import Scan
from discreet.plan.scalar import Column

USUAL = Fraction(95, 100)
"""Of the people, who a proposed limit holds whole."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The least, the middle, the 95th of a hundred and the most of some counts; all 0 where there are none."""

    least: int = 0
    median: int = 0
    usual: int = 0
    most: int = 0

    @classmethod
    def of(cls, counts: Iterable[int]) -> "Spread":
        """The spread of counts: each number is one of them, the first that so large a share of them is not above."""
        ordered = sorted(counts)
        if not ordered:
            return cls()
        middle, usual = (ordered[-(-share * len(ordered) // 1) - 1] for share in (Fraction(1, 2), USUAL))
        return cls(ordered[0], middle, usual, ordered[-1])

    def as_data(self) -> dict[str, int]:
        """As JSON has it."""
        return {"least": self.least, "median": self.median, "95%": self.usual, "most": self.most}


@dataclass(frozen=True, slots=True)
class PeopleProfile:
    """What people have in questions by one column, or in questions without groups."""

    column: str | None
    people: int
    rows: int
    rows_each: Spread
    """Rows of a person in a group."""

    groups_each: Spread
    """Groups of a person."""

    max_rows: int | None
    """None where a limit on all rows takes its place."""

    max_groups: int | None
    """None where the limit is not on the number of groups."""

    max_total: int | None
    """None where rows and groups are limited, and not all rows."""

    rows_left_out: Fraction
    """The share of the rows that the limits leave out, on average over which groups are kept."""

    people_cut: int
    """How many people the limits leave anything out of."""

    @property
    def proposed_rows(self) -> int:
        """A limit that at most one person in twenty has more rows than, in a group."""
        return limit_for(self.rows_each.usual)

    @property
    def proposed_groups(self) -> int:
        """A limit that at most one person in twenty has more groups than."""
        return limit_for(self.groups_each.usual)

    def as_data(self) -> dict[str, Any]:
        """As JSON has it."""
        grouped = self.column is not None
        return {
            "by": self.column,
            "people": self.people,
            "rows": self.rows,
            "rows_of_a_person": self.rows_each.as_data(),
            "groups_of_a_person": self.groups_each.as_data() if grouped else None,
            "max_rows": self.max_rows,
            "max_groups": self.max_groups if grouped else None,
            "max_total": self.max_total,
            "share_of_rows_left_out": float(self.rows_left_out),
            "share_of_people_cut": self.people_cut / self.people if self.people else 0.0,
            "proposed_max_rows": self.proposed_rows,
            "proposed_max_groups": self.proposed_groups if grouped else None,
        }


def people_of(counting: Counting, catalog: Catalog, table: Table) -> tuple[PeopleProfile, int]:
    """What people have in questions without groups, and how many rows are of nobody."""
    person = _person(catalog, table)
    counts = counting.rows_of_each(Scan(table.name, (person,)), [person])
    nobody = counts.pop((None,), 0)
    caps = replace(caps_of(catalog.protected, 1), groups=None)
    return _profile(None, caps, {(who, ()): rows for (who,), rows in counts.items()}), nobody


def people_by(counting: Counting, catalog: Catalog, table: Table, column: str, draft: Draft) -> PeopleProfile:
    """What people have in questions by a column, whose groups the draft of such a question has."""
    counts = counting.rows_of_each(draft.source, [_person(catalog, table), *draft.keys])
    pairs = {(group[0], group[1:]): rows for group, rows in counts.items() if group[0] is not None}
    by_number = catalog.protected.clip == "groups"
    return _profile(column, draft.caps if by_number else replace(draft.caps, groups=None), pairs)


@dataclass(frozen=True, slots=True)
class SeveralRows:
    """How many values of a column are in several rows."""

    column: str
    values: int
    several: int
    most: int

    def as_data(self) -> dict[str, Any]:
        """As JSON has it."""
        return {"column": self.column, "values": self.values, "in_several_rows": self.several, "most_rows": self.most}


NAMING = re.compile(r"(^|[^a-z])(id|person|patient|user|customer|client|member|name|e?mail|ssn)([^a-z]|$)|id$")
"""The names of columns that may say who a row is about."""


def repeated_people(counting: Counting, catalog: Catalog, table: Table) -> SeveralRows:
    """Whether somebody has several rows."""
    return _repeated(counting, table, _person(catalog, table))


def repeated_in(counting: Counting, table: Table) -> tuple[SeveralRows, ...]:
    """Each column that may say who a row is about, by its name, and has a value in several rows."""
    nodes = [Column(each.name, each.type) for each in table.columns if NAMING.search(each.name.casefold())]
    return tuple(each for each in (_repeated(counting, table, node) for node in nodes) if each.several)


def _repeated(counting: Counting, table: Table, node: Column) -> SeveralRows:
    counts = counting.rows_of_each(Scan(table.name, (node,)), [node])
    counts.pop((None,), None)
    several = sum(rows > 1 for rows in counts.values())
    return SeveralRows(node.name, len(counts), several, max(counts.values(), default=0))


def _person(catalog: Catalog, table: Table) -> Column:
    column = table.column(catalog.protected.person or "")
    return Column(column.name, column.type)


def _profile(column: str | None, caps: Caps, pairs: dict[tuple[Any, Any], int]) -> PeopleProfile:
    """What limits leave out: rows of a person in a group, groups of a person, as drawn, and what is left beyond all rows of one."""
    groups: Counter[Any] = Counter()
    within: Counter[Any] = Counter()
    cut = set()
    for (person, _), rows in pairs.items():
        groups[person] += 1
        within[person] += rows if caps.rows is None else min(rows, caps.rows)
        if caps.rows is not None and rows > caps.rows:
            cut.add(person)
    # By how many groups and rows a person has: so few fractions are added up.
    alike = Counter((groups[person], rows) for person, rows in within.items())
    remaining = sum((people * _remaining(count, rows, caps) for (count, rows), people in alike.items()), Fraction(0))
    cut |= {person for person, count in groups.items() if _remaining(count, within[person], caps) < within[person]}
    total = sum(pairs.values())
    return PeopleProfile(
        column,
        len(groups),
        total,
        Spread.of(pairs.values()),
        Spread.of(groups.values()),
        caps.rows,
        caps.groups,
        caps.total,
        1 - remaining / total if total else Fraction(0),
        len(cut),
    )


def _remaining(groups: int, rows: int, caps: Caps) -> Fraction:
    """The rows that a person with so many groups and rows counts with, on average over which groups are kept."""
    kept = Fraction(rows * min(groups, caps.groups or groups), groups)
    return kept if caps.total is None else min(kept, Fraction(caps.total))
