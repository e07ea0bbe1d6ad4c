"""Tiny tables, their neighbours, and surveys of them by the slow engine: what several tests of surveys share."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

from discreet.curator.survey.prices import Prices, prices_for
from discreet.curator.survey.reading import Surveyed
from discreet.curator.survey.taking import Taken, Taking
from discreet.engines.base import Data
from discreet.engines.memory import MemoryEngine
from discreet.mechanisms.hand import FRESH, Hand
from discreet.mechanisms.measure import Grant
from discreet.noise import Tape
from discreet.plan.scalar import Column, Type
from discreet.privacy import Adjacency, Relation, Unit

Row = tuple[str | None, ...]
NAMES = ("who", "size", "day", "word", "flag")
CELLS: tuple[tuple[str | None, ...], ...] = (
    ("0", "1", "-3.5", "7", "1e6", "12", "130", "200", "word", None),
    ("2023-01-05", "2023-05-06", "2021-02-03", "1999-12-31", "1850-01-01", "soon", None),
    ("a", "b", "c", "d", "e", "f", "g", "x" * 65, None),
    ("yes", "no", "maybe", None),
)
"""What the columns after the first may hold; a column of dates is hardly ever all dates."""

RELATIONS = [Relation(adjacency, unit) for adjacency in Adjacency for unit in Unit]
WHO = Column("who", Type.TEXT)
COLUMNS = tuple(Column(name, Type.TEXT) for name in NAMES[1:])


class Hashed(Mapping[Any, int]):
    """A priority for whoever and whatever: fixed, and of nothing else."""

    def __getitem__(self, key: Any) -> int:
        return int.from_bytes(hashlib.sha256(repr(key).encode()).digest()[:8], "big")

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __len__(self) -> int:
        return 0


def rows_of(rng: Random, who: str, *, tidy: bool) -> list[Row]:
    """The rows of a person; `tidy` ones hold what most of their column holds."""
    cells = [each[:4] if tidy else each for each in CELLS]
    return [(who, *(rng.choice(each) for each in cells)) for _ in range(rng.choice([1, 1, 2, 3, 6, 9]))]


def table(seed: int, people: int = 5) -> list[Row]:
    """A few people with a few rows each; in every other table almost all cells are of one type a column."""
    rng = Random(seed)
    return [row for i in range(people) for row in rows_of(rng, f"p{i}", tidy=seed % 2 == 0 and i > 0)]


def neighbours(rows: list[Row], relation: Relation, seed: int) -> list[list[Row]]:
    """The table without each of three units, or with each of them replaced by another."""
    rng = Random(seed + 1)
    found = []
    if relation.unit is Unit.ROW:
        for at in range(min(len(rows), 3)):
            others = rows[:at] + rows[at + 1 :]
            instead = rows_of(rng, "other", tidy=seed % 2 == 0)[:1]
            found.append(others if relation.adjacency is Adjacency.ADD_REMOVE else others + instead)
        return found
    for who in sorted({row[0] or "" for row in rows})[:3]:
        others = [row for row in rows if row[0] != who]
        instead = rows_of(rng, who, tidy=seed % 3 == 0)
        found.append(others if relation.adjacency is Adjacency.ADD_REMOVE else others + instead)
    return found


def fine(relation: Relation, columns: int = len(COLUMNS), delta: Fraction = Fraction(1, 100)) -> Prices:
    """Prices so high that noise hides little of a tiny table: then surveys go all ways that there are."""
    return prices_for(relation, columns, Fraction(3000), delta, several=relation.unit is Unit.PERSON)


@dataclass(frozen=True, slots=True)
class TinySurvey:
    """A survey of tiny tables."""

    relation: Relation
    prices: Prices
    columns: tuple[Column, ...] = COLUMNS

    @property
    def surveyed(self) -> Surveyed:
        return Surveyed("t", WHO if self.relation.unit is Unit.PERSON else None, self.columns)

    def engine(self, rows: list[Row]) -> MemoryEngine:
        return MemoryEngine([data_of(rows)], Hashed())

    def taken(self, rows: list[Row], hand: Hand = FRESH, seed: int = 0) -> Taken:
        grant = Grant(self.prices.event, Tape(seed), hand=hand)
        return Taking(self.surveyed, self.prices, self.engine(rows).run, grant, 1).taken()


def data_of(rows: list[Row]) -> Data:
    columns = {name: [row[i] for row in rows] for i, name in enumerate(NAMES)}
    return Data("t", columns, (WHO, *COLUMNS), person="who")
