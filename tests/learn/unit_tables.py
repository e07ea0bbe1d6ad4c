"""A table of units that is held in lists, for laws: slow and obvious. And a made-up one with a known relation."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.cells import Attribute, Binned, Categorical, CellCounts
from discreet.errors import Invalid
from discreet.mechanisms.guarded import Guarded
from discreet.mechanisms.measure import Measure, unmetered
from discreet.privacy import Adjacency, Relation, Unit

Row = tuple[Any, ...]
RELATIONS = tuple(Relation(adjacency, unit) for adjacency in Adjacency for unit in Unit)
ADDED = Relation(Adjacency.ADD_REMOVE, Unit.PERSON)

AGE = Binned("age", tuple(range(0, 101)), whole=True)
WEIGHT = Binned("weight", (0.0, 40.0, 80.0, 120.0, 160.0))
WARD = Categorical("ward", ("A", "B", "C"))
SEX = Categorical("sex", ("f", "m"))
SMOKER = Categorical("smoker", (False, True), other=False)
READMITTED = Categorical("readmitted", ("no", "yes"))
DECLARED = (AGE, WEIGHT, WARD, SEX, SMOKER, READMITTED)


@dataclass
class ListedTable:
    """One row a unit, with a value for each attribute that is declared."""

    rows: Sequence[Row]
    measure: Measure = field(default_factory=unmetered)
    relation: Relation = ADDED
    declared: tuple[Attribute, ...] = DECLARED
    people: int | None = 50
    reads: int = 0

    def attributes(self, asked: Any) -> tuple[Attribute, ...]:
        if asked is None:
            return self.declared
        pairs = asked.items() if isinstance(asked, Mapping) else [(each, None) for each in asked]
        return tuple(self._one(name, said) for name, said in pairs)

    def _one(self, name: Any, said: Any) -> Attribute:
        if isinstance(name, Categorical | Binned):
            return name
        found = next((each for each in self.declared if each.name == name), None)
        if found is None:
            raise Invalid(f"there is no column {name!r}", code="cells")
        return found

    def counts(self, attributes: Sequence[Attribute]) -> Callable[[], CellCounts]:
        names = [each.name for each in self.declared]

        def counted() -> CellCounts:
            self.reads += 1
            found: Counter[tuple[int, ...]] = Counter()
            for row in self.rows:
                codes = [cell(each, row[names.index(each.name)]) for each in attributes]
                if None not in codes:
                    found[tuple(codes)] += 1  # type: ignore[arg-type]
            cells = np.array(list(found), np.int64).reshape(len(found), len(attributes))
            return CellCounts(tuple(each.size for each in attributes), cells, np.array(list(found.values()), np.int64))

        return Guarded(counted)


def cell(attribute: Attribute, value: Any) -> int | None:
    """The number of the cell of a value; None where there is none."""
    if value is None:
        return attribute.size - 1 if attribute.missing else None
    if isinstance(attribute, Binned):
        return min(max(bisect_right(attribute.edges, value) - 1, 0), len(attribute.edges) - 2)
    if value in attribute.values:
        return attribute.values.index(value)
    return len(attribute.values) if attribute.other else None


def patients(count: int, seed: int = 1) -> list[Row]:
    """Whoever is old, or in ward C, is readmitted; the rest of the columns say nothing."""
    random = np.random.default_rng(seed)
    ages, weights = random.integers(0, 101, count), random.uniform(0, 160, count)
    wards, others = random.integers(3, size=count), random.integers(2, size=(2, count))
    return [
        (
            int(ages[i]),
            float(weights[i]),
            "ABC"[wards[i]],
            "fm"[others[0, i]],
            bool(others[1, i]),
            "yes" if ages[i] + 25 * (wards[i] == 2) > 58 else "no",
        )
        for i in range(count)
    ]


def columns(rows: Sequence[Row], names: Sequence[str] = tuple(each.name for each in DECLARED)) -> dict[str, list[Any]]:
    """The same by columns."""
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}
