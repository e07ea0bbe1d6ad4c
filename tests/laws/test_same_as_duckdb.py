"""The law: with no noise and limits that do not bind, every question through every door has DuckDB's answer, but for DIFFERENCES."""

import math
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from random import Random
from unittest.mock import patch

import duckdb
import pytest
from sqlglot import exp

from discreet.curator.session import Curator
from discreet.engines.render import scalars
from discreet.plan.scalar import Operator, Order
from tests.laws.asking import MOST_QUESTIONS, Pair, World, opened, words
from tests.laws.differences import DIFFERENCES, FAILS
from tests.laws.expressions import Translation
from tests.laws.messy import DOORS, FIELDS, SIZES, UNITS, Table, fields
from tests.laws.questions import Question, question
from tests.rehearsed import Exactly, without_noise
from tests.scale import repeats

ASKED = 34  # questions of a door
FEWEST = 3  # occurrences of whatever is to be seen
ASKABLE = """COUNT DISTINCT SUM AVG FILTER WHERE GROUP HAVING ORDER LIMIT OFFSET DESC NULLS AND OR NOT IN BETWEEN LIKE ILIKE ESCAPE IS
NULL TRUE FALSE CASE ELSE COALESCE NULLIF CAST INTEGER BIGINT DOUBLE VARCHAR DATE BOOLEAN ABS FLOOR CEIL ROUND SIGN SQRT GREATEST LEAST
LENGTH YEAR MONTH DAY EXTRACT + - * / % = <> < <= > >="""


def worlds(door: str) -> list[tuple[World, int]]:
    """The worlds of a door, each with how many questions are asked there; about few rows fewer."""
    left, found = repeats(ASKED), list[tuple[World, int]]()
    while left > 0:
        world = World.of(door, len(found))
        count = min(left, MOST_QUESTIONS if world.size == "hundreds" else MOST_QUESTIONS // 3)
        found.append((world, count))
        left -= count
    return found


def asked(world: World, count: int) -> list[Question]:
    """A vector that is shortened has Gaussian noise, by which means of few people cannot be told at any price: none is asked for."""
    random = Random(f"questions {world.seed}")
    return [question(random, world.unit, means=world.clip != "l2") for _ in range(count)]


@pytest.mark.parametrize("door", DOORS)
def test_the_same_as_duckdb(door: str, tmp_path: Path) -> None:
    """Where rounding may decide which groups are kept, or their order, the question is asked without that."""
    wrong, all, unclear = [], 0, 0
    seen: Counter[str] = Counter()
    for number, (world, count) in enumerate(worlds(door)):
        with opened(world, tmp_path / str(number)) as pair:
            for made in asked(world, count):
                clear = pair.clear(made)
                made = made if clear else made.plain
                all, unclear = all + 1, unclear + (not clear)
                seen.update(pair.seen(made))
                difference = pair.difference(made)
                if difference:
                    wrong.append(f"{world}\n  {made.text}\n  {made.reference(world.unit)}\n  {difference}")
    assert not wrong, f"{len(wrong)} of {all} questions:\n" + "\n".join(wrong[:3])
    assert unclear < all / 4
    assert len(seen) == 4, seen  # NULL keys, undeclared keys, groups with rows, groups without


def test_the_questions_use_all_that_can_be_asked() -> None:
    everywhere = [(world, made) for door in DOORS for world, count in worlds(door) for made in asked(world, count)]
    assert len(everywhere) >= repeats(500)
    found = words([made.text for _, made in everywhere])
    assert {word: found[word] for word in (*ASKABLE.split(), *FIELDS) if found[word] < FEWEST} == {}
    by_keys = Counter(len(made.keys) for _, made in everywhere)
    assert min(by_keys[number] for number in (0, 1, 2)) > len(everywhere) / 20
    computed = sum(len(made.outputs) > len(made.aggregates) for _, made in everywhere)
    assert computed > len(everywhere) / 10
    assert len({made.text for _, made in everywhere}) > 0.9 * len(everywhere)


def test_the_worlds_are_of_every_kind_and_their_tables_are_messy() -> None:
    found = [world for door in DOORS for world, _ in worlds(door)]
    for name, kinds in {
        "unit": ("row", *UNITS), "size": SIZES, "adjacency": ("add-remove", "replace"), "clip": ("groups", "l2"), "arranged": (False, True),
    }.items():  # fmt: skip
        counts = Counter(getattr(world, name) for world in found)
        assert all(counts[kind] >= FEWEST for kind in kinds), counts
    tables = [world.table() for world in found]
    for name in fields("row"):
        values = [value for table in tables for value in table[name]]
        assert None in values and len(set(values)) > 2
    odd = [value for table in tables for value in table["odd"] if value is not None]
    assert any(map(math.isnan, odd)) and {math.inf, -math.inf} <= set(odd)
    assert max(map(most_rows, tables)) == 30


def most_rows(table: Table) -> int:
    """Of a person."""
    return max(Counter(person for person in table["person"] if person is not None).values(), default=0)


@pytest.mark.parametrize("name", DIFFERENCES)
def test_each_difference_is_there(name: str, tmp_path: Path) -> None:
    """The list does not outlive what it says: each of its questions is answered as it says, here and there, and not alike."""
    each = DIFFERENCES[name]
    path = tmp_path / "visits.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE visits (person VARCHAR, ward VARCHAR, x {each.stored})")
        connection.execute(f"INSERT INTO visits VALUES {each.rows}")
        try:
            theirs: object = connection.execute(each.question).fetchall()
        except duckdb.Error:
            theirs = FAILS
    declared = {"person": {"type": "text"}, "ward": {"type": "text", "keys": ["A", "B"]}, "x": {"type": each.declared}}
    declared["x"] |= {"bounds": each.bounds} if each.bounds else {}
    with without_noise(Curator({"visits": path}, "person", declared, epsilon=1, ledger=":memory:")) as curator:
        ours = [tuple(row.values()) for row in curator.sql(each.question, epsilon=1).to_dicts()]
    assert (ours, theirs) == (each.ours, each.theirs) and ours != theirs, each.said


PLAIN: dict[str, Callable[..., str]] = {
    "divided": lambda left, right: f"({left} / {right})",
    "remainder": lambda left, right: f"({left} % {right})",
    "root": lambda operand: f"sqrt({operand})",
    "number": lambda text: text,
    "double": lambda text: text,
    "whole": lambda text: f"CAST({text} AS BIGINT)",
    "cast": lambda text, type: f"CAST({text} AS {type})",
}
"""DuckDB's own for each rule of the reference."""
PLANTED = World("lists", "text", "hundreds", "add-remove", "groups", False, "planted")


def found_by(folder: Path, plant: Callable[[], AbstractContextManager[object]], most: int = 400) -> bool:
    """Whether one of so many questions differs while something is planted; those are asked whose reference it changes, or all."""
    chosen: list[Question] = []
    for number in range(most):
        sound = question(Random(f"planted {number}"), PLANTED.unit).plain
        with plant():
            made = question(Random(f"planted {number}"), PLANTED.unit).plain
        if plant not in RULES or made.reference(PLANTED.unit) != sound.reference(PLANTED.unit):
            chosen.append(made)
    for start in range(0, len(chosen), MOST_QUESTIONS):
        with opened(PLANTED, folder / str(start)) as pair, plant():
            if any(map(partial(differs, pair), chosen[start : start + MOST_QUESTIONS])):
                return True
    return False


def differs(pair: Pair, made: Question) -> bool:
    try:
        return bool(pair.difference(made))
    except duckdb.Error:
        return True


def without(rule: str) -> Callable[[], AbstractContextManager[object]]:
    return lambda: patch.object(Translation, rule, staticmethod(PLAIN[rule]))


RULES = {without(rule): rule for rule in PLAIN}
BUGS: dict[str, Callable[[], AbstractContextManager[object]]] = {
    "below is at most": lambda: patch.dict(scalars.ORDERS, {Order.LESS: exp.LTE}),
    "a difference is a sum": lambda: patch.dict(scalars.OPERATORS, {Operator.SUBTRACT: exp.Add}),
    "one too many": lambda: patch.object(Exactly, "release", lambda self, exact, draw: exact() + 1),
}


@pytest.mark.parametrize("plant", RULES, ids=RULES.values())
def test_each_rule_of_the_reference_decides_something(
    plant: Callable[[], AbstractContextManager[object]], tmp_path: Path
) -> None:
    """Without it some question differs, so the cases that it is about are asked."""
    assert found_by(tmp_path, plant)


@pytest.mark.parametrize("name", BUGS)
def test_planted_bugs_are_noticed(name: str, tmp_path: Path) -> None:
    assert found_by(tmp_path, BUGS[name])


def test_nothing_differs_where_nothing_is_planted(tmp_path: Path) -> None:
    assert not found_by(tmp_path, nullcontext, most=2 * MOST_QUESTIONS)


def test_each_rule_of_the_reference_is_a_difference() -> None:
    rules = {name for name in vars(Translation) if not name.startswith("_")}
    assert rules == set(PLAIN) == {each.rule for each in DIFFERENCES.values()} - {""}
