"""A curator without noise and plain DuckDB beside it, over the same table: both are asked, and whole answers are compared."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import duckdb
import numpy as np

import discreet.engines.duckdb as engine
from discreet.curator.session import Curator
from discreet.errors import DiscreetError
from discreet.plan import forms
from discreet.plan.draft import draft
from discreet.plan.evaluate import evaluate
from discreet.plan.measurement import Measurement
from discreet.plan.sql import question as read
from tests.laws import messy
from tests.laws.messy import DOORS, TABLE, Table
from tests.laws.questions import Question
from tests.rehearsed import without_noise

RELATIVE = 1e-9  # of numbers that were computed from aggregates
PLAIN = 1e-12  # of aggregates themselves, beside the grid
PRICE = 80_000  # of a question: the noise would be so small that every mean and every ratio can be told
BUDGET = 10**6  # the most there is
MOST_QUESTIONS = BUDGET // PRICE  # of one world
WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]*|<=|>=|<>|[-+*/%=<>]")


@dataclass(frozen=True, slots=True)
class World:
    """A table, the door that it comes through, and who is protected."""

    door: str
    unit: str  # a kind of person, or "row"
    size: str
    adjacency: str
    clip: str
    arranged: bool  # in the layout of large tables
    seed: str

    @classmethod
    def of(cls, door: str, number: int) -> "World":
        """The worlds of a door go through units, sizes and adjacencies in turn; some hundred rows are the most usual."""
        turn = number + list(DOORS).index(door)
        unit = ("row", "text", "integer", "uuid")[turn % 4]
        size = ("hundreds", "few", "hundreds", "one", "hundreds", "none")[(turn // 4 + number) % 6]
        clip = "l2" if unit != "row" and turn % 5 == 0 else "groups"
        return cls(door, unit, size, ("add-remove", "replace")[turn // 2 % 2], clip, turn % 3 == 0, f"{door} {number}")

    def table(self) -> Table:
        return messy.table(Random(f"table {self.seed}"), self.unit, self.size)

    def curator(self, source: Any, folder: Path) -> Curator:
        """With limits that nobody is beyond, and no noise."""
        return without_noise(self._declared(source, folder))

    def _declared(self, source: Any, folder: Path) -> Curator:
        columns = {name: each.declared for name, each in messy.fields(self.unit).items()}
        caps: dict[str, Any] = {
            "adjacency": self.adjacency, "max_groups": messy.MOST_ROWS, "max_rows": messy.MOST_ROWS, "clip": self.clip, "people": 1000,
        }  # fmt: skip
        unit: dict[str, Any] = {"row": True} if self.unit == "row" else {"column": "person"}
        delimiter = DOORS[self.door].delimiter
        if delimiter == ",":
            who = {"row": True} if self.unit == "row" else {"unit": "person"}
            return Curator(
                {TABLE: source},
                columns=columns,
                epsilon=BUDGET,
                delta=1e-4,
                ledger=":memory:",
                reading={"multiline": True},  # cells of a CSV hold line ends
                **who,
                **caps,
            )
        policy = folder / "policy.toml"
        sections = {
            "budget": {"epsilon": BUDGET, "delta": 1e-4}, "unit": unit | caps, "ledger": {"path": ":memory:"},
            f"tables.{TABLE}": {"source": source.name, "delimiter": delimiter, "multiline": True}, f"tables.{TABLE}.columns": columns,
        }  # fmt: skip
        policy.write_text("\n".join(f"[{name}]\n{_lines(said)}" for name, said in sections.items()), "utf-8")
        return Curator.open(policy)


@contextmanager
def nothing_is_few() -> Iterator[None]:
    """There is none, so everything but 0 itself is told from 0."""

    def few(reader: forms.Reader, divisor: Any) -> Any:
        return np.array([not evaluate(divisor, row) for row in reader.seen], np.bool_)

    with patch.object(Measurement, "few", 0), patch.object(forms.Reader, "few", few):
        yield


def _lines(said: dict[str, Any]) -> str:
    return "".join(f"{name} = {_toml(value)}\n" for name, value in said.items())


def _toml(value: Any) -> str:
    match value:
        case dict():
            return "{ " + ", ".join(f"{name} = {_toml(each)}" for name, each in value.items()) + " }"
        case list() | tuple():
            return f"[{', '.join(map(_toml, value))}]"
        case date():
            return value.isoformat()
    return json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Pair:
    """Both that are asked."""

    world: World
    curator: Curator
    reference: Any

    def difference(self, question: Question) -> str:
        """What differs, or ""."""
        try:
            with nothing_is_few():
                ours = [list(row.values()) for row in self.curator.sql(question.text, epsilon=PRICE).to_dicts()]
            question = self.narrowed(question)
        except DiscreetError as error:
            nobody = error.code == "no-groups" and not self.with_rows(question)
            return "" if nobody else f"{type(error).__name__} {error.code}: {error}"
        if question.groups is not None and not self.with_rows(question) >= self.with_rows(
            replace(question, groups=None)
        ):
            return "rows are in groups that are not shown"
        theirs = [list(row) for row in self.reference.execute(question.reference(self.world.unit)).fetchall()]
        shown, count = len(question.keys) + len(question.outputs), len(question.keys)
        if len(ours) != len(theirs):
            return f"{len(ours)} rows, and {len(theirs)} of DuckDB"
        if not question.order:
            ours, theirs = (
                sorted(rows, key=lambda row: list(map(str, map(_plain, row[:count])))) for rows in (ours, theirs)
            )
        for mine, row in zip(ours, theirs, strict=True):
            errors = [0.0] * count + row[shown:]
            for place, (x, y, error) in enumerate(zip(mine, row[:shown], errors, strict=True)):
                computed = place >= count + len(question.aggregates)
                if not same(x, y, error or 0.0, RELATIVE if computed else PLAIN):
                    return f"column {place}: {x!r}, and {y!r} of DuckDB, in {mine} and {row}"
        return ""

    def narrowed(self, question: Question) -> Question:
        """The question with the groups that are shown, where conditions on keys leave only some."""
        left = draft(read(question.text, self.curator.catalog), self.curator.catalog).groups
        groups = tuple(group for group in question.listed if group in left)
        return question if len(groups) == len(question.listed) else replace(question, groups=groups)

    def with_rows(self, question: Question) -> set[tuple[Any, ...]]:
        """The groups in which rows are counted."""
        names = ", ".join(f"k{i}" for i in range(len(question.keys)))
        rows = self.reference.execute(f"{question.filled(self.world.unit)} SELECT {names} FROM filled WHERE n > 0")
        return {tuple(map(str, row)) for row in rows.fetchall()}

    def clear(self, question: Question) -> bool:
        """Whether what is kept and how it is sorted is the same for all numbers that are as near as the grid promises."""
        if not question.limits and not question.sorted:
            return True
        rows = self.reference.execute(question.deciding(self.world.unit)).fetchall()
        for place, (_, level) in enumerate(question.limits):
            if any(error and abs(value - level) <= 2 * error for value, error in _numbers(rows, place)):
                return False
        for place in range(len(question.limits), len(question.limits) + len(question.sorted)):
            found = sorted(_numbers(rows, place))
            for (x, first), (y, second) in pairwise(found):
                if first + second and y - x <= 2 * (first + second):
                    return False
        return True

    def seen(self, question: Question) -> Iterator[str]:
        """The deciding cases that occur in this question."""
        if not question.keys:
            return
        names = [f"k{i}" for i in range(len(question.keys))]
        filled = question.filled(self.world.unit)
        empty, kept = self.reference.execute(
            f"{filled} SELECT count(*) FILTER (WHERE n = 0), count(*) FROM filled"
        ).fetchone()
        same_keys = " AND ".join(f"groups.{name} IS NOT DISTINCT FROM found.{name}" for name in names)
        null = " OR ".join(f"found.{name} IS NULL" for name in names)
        nulls, others = self.reference.execute(
            f"{filled} SELECT count(*) FILTER (WHERE {null}), count(*) FROM found ANTI JOIN groups ON {same_keys}"
        ).fetchone()
        if empty:
            yield "a declared group without rows"
        if kept > empty:
            yield "a declared group with rows"
        if nulls:
            yield "a key that is NULL"
        if others > nulls:
            yield "a key that is not declared"


def _numbers(rows: list[tuple[Any, ...]], place: int) -> list[tuple[float, float]]:
    found = ((row[2 * place], row[2 * place + 1]) for row in rows)
    return [(float(value), float(error or 0)) for value, error in found if value is not None]


def _plain(value: Any) -> Any:
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def same(x: Any, y: Any, error: float, relative: float) -> bool:
    """Two cells: numbers up to an error, all else exactly."""
    if (
        isinstance(x, int | float)
        and isinstance(y, int | float)
        and not isinstance(x, bool)
        and not isinstance(y, bool)
    ):
        return abs(x - y) <= error + relative * abs(y)
    return type(x) is type(y) and bool(x == y)


@contextmanager
def opened(world: World, folder: Path) -> Iterator[Pair]:
    """The pair of a world; the reference is filled from the Python values, not through any of our loading."""
    data, door = world.table(), DOORS[world.door]
    folder.mkdir(parents=True)
    source = door.open(data, world.unit, folder)
    with duckdb.connect(config={"threads": 1}) as reference, world.curator(source, folder) as curator:
        messy.stored(reference, door.carried(data), world.unit)
        with patch.multiple(engine, ROWS_TO_ARRANGE=1, ROWS_OF_A_SLICE=100) if world.arranged else nullcontext():
            curator.load()  # now, in the layout that is asked for
        yield Pair(world, curator, reference)


def words(texts: list[str]) -> Counter[str]:
    """How often each word or sign of SQL occurs."""
    return Counter(word for text in texts for word in WORD.findall(text))
