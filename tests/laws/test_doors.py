"""Twins through every door: one cell of one person is anything at all, and nothing that an analyst can see tells it.

300 whole twins in `make test`, 6,000 in `make soak`; 20,000 hostile cells through the conversion alone.
"""

import logging
import tempfile
from collections import Counter
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from discreet.curator.session import Curator
from discreet.engines.cells import of_python
from discreet.errors import DiscreetError
from discreet.plan.scalar import Type
from tests.laws import hostile
from tests.plan.pipeline import logged
from tests.scale import repeats

PEOPLE = 6
PLAIN: dict[str, list[Any]] = {  # what others have in the column x
    "integers": [3, 7, 0, 7, 120, 5],
    "decimals": [1.5, 2.0, 0.25, 100.0, 3.0, 7.0],
    "texts": ["a", "b", "a", "é", "7", "B"],
    "codes": ["1", "2", "3", "1", "2", "3"],
    "days": [date(2024, 1, d) for d in (1, 2, 3, 1, 2, 3)],
    "truths": [True, False, True, True, False, True],
    "nothing": [None] * PEOPLE,
}
DECLARED: list[dict[str, Any]] = [
    {},
    {"x": {"bounds": (0, 120)}},
    {"x": {"type": "integer", "bounds": (0, 120)}},
    {"x": {"type": "integer"}},
    {"x": {"type": "text", "keys": ["a", "b", "7"]}},
    {"x": {"keys": [1, 2, 3]}},
    {"x": {"type": "date"}},
    {"x": {"type": "boolean"}, "id": {"type": "integer"}},
]
QUESTIONS = [
    "SELECT COUNT(*) AS n FROM t",
    "SELECT COUNT(x) AS n, COUNT(DISTINCT id) AS people FROM t",
    "SELECT SUM(x) AS s, AVG(x) AS a FROM t",
    "SELECT x, COUNT(*) AS n FROM t GROUP BY x",
    "SELECT COUNT(*) AS n FROM t WHERE x = 'a'",
    "SELECT COUNT(*) AS n FROM t WHERE x > 3",
    "SELECT COUNT(*) AS n FROM t WHERE x",
    "SELECT COUNT(*) AS n FROM t WHERE YEAR(x) = 2024 OR id = '5'",
]
SEEN: Counter[str] = Counter()


@pytest.fixture(autouse=True)
def _quiet() -> None:
    logging.getLogger("hypothesis").setLevel(logging.ERROR)


@st.composite
def twins(draw: st.DrawFn):  # type: ignore[no-untyped-def]
    door = draw(st.sampled_from(list(hostile.DOORS)))
    others = draw(st.sampled_from(list(PLAIN)))
    columns = {"id": list(range(1, PEOPLE + 1)), "x": PLAIN[others], "y": ["u"] * PEOPLE}
    cells = hostile.texts if door in hostile.OF_TEXTS else hostile.objects
    where, cell = draw(st.sampled_from(["x", "x", "x", "id", "y"])), draw(cells)
    twin = {**columns, where: [*columns[where][:-1], cell]}
    return door, columns, twin, draw(st.sampled_from(DECLARED)), draw(st.sampled_from(QUESTIONS)), draw(st.booleans())


def visible(
    door: str, columns: dict[str, list[Any]], declared: dict[str, Any], text: str, folder: Path, named: bool
) -> Any:
    """Everything that an analyst can see of one question but the released numbers themselves."""
    multiline = {"multiline": True} if door == "csv" else {}
    folder.mkdir()
    source = hostile.DOORS[door](columns, folder)
    with logged() as lines:
        try:
            with Curator(
                {"t": source},
                "id",
                declared,
                epsilon=9,
                ledger=folder / "ledger",
                reading=multiline,
                analysts={"ana": {"epsilon": 5}},
            ) as curator:
                analyst = "ana" if named else None
                try:
                    before = (
                        str(curator.preview(text, epsilon=1, analyst=analyst)),
                        curator.explain(text, epsilon=1, analyst=analyst),
                    )
                    answer = curator.sql(text, epsilon=1, analyst=analyst)
                    groups = [
                        [value for value, key in zip(row, answer.columns, strict=True) if key.key]
                        for row in answer.rows
                    ]
                    receipt = {name: part for name, part in answer.receipt.items() if name != "ledger"}
                    outcome: Any = (before, answer.columns, groups, answer.notes, answer.explain(), receipt)
                except DiscreetError as error:
                    assert (error.__cause__ is None and error.__context__ is None) or error.code != "source"
                    outcome = (type(error).__name__, error.code, error.message, error.hint)
                return outcome, repr(curator.catalog), str(curator.spent), lines.lines
        except DiscreetError as error:
            return type(error).__name__, error.code, error.message, error.hint, lines.lines


def compare(case: Any) -> None:
    door, columns, twin, declared, text, named = case
    with tempfile.TemporaryDirectory() as folder:
        first = visible(door, columns, declared, text, Path(folder) / "first", named)
        second = visible(door, twin, declared, text, Path(folder) / "second", named)
    assert first == second, (door, twin, declared, text)
    assert "source" not in first[0] and "load" not in first[0], first  # no value keeps a source from loading
    SEEN[door] += 1
    SEEN["answer" if len(first[0]) == 6 else "refusal"] += 1


@settings(
    max_examples=repeats(300),
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(case=twins())
def test_one_cell_of_one_person_changes_nothing_that_is_seen(case: Any) -> None:
    compare(case)


@pytest.mark.parametrize("door", [door for door in hostile.DOORS if door not in hostile.OF_TEXTS])
def test_every_object_comes_through_every_door(door: str) -> None:
    """All hostile objects at once, in a column of objects of their own: it loads, and every one is a value or NULL."""
    columns = {"id": list(range(len(hostile.OBJECTS))), "x": list(hostile.OBJECTS)}
    with tempfile.TemporaryDirectory() as folder:
        source = hostile.DOORS[door](columns, Path(folder))
        for said in ({}, *DECLARED):
            with Curator({"t": source}, "id", said, epsilon=9, ledger=Path(folder) / "ledger") as curator:
                assert {each.column for each in curator.load().lost} <= {"x", "id"}


def test_every_door_was_used_and_most_questions_were_answered() -> None:
    if not SEEN:
        pytest.skip("the twins ran in another process")
    assert all(SEEN[door] >= SEEN["answer"] // 40 for door in hostile.DOORS), SEEN
    assert SEEN["answer"] >= (SEEN["answer"] + SEEN["refusal"]) // 3, SEEN


TYPES = {Type.TEXT: str, Type.INTEGER: int, Type.NUMBER: float, Type.DATE: date, Type.BOOLEAN: bool}


def test_converting_a_cell_never_fails() -> None:
    """20,000 cells, each to all five types: a value of exactly that type, or nothing."""
    chance = Random(20_000)
    for _ in range(repeats(20_000)):
        cell, person = hostile.cell(chance), chance.random() < 0.5
        for wanted in Type:
            value = of_python(cell, wanted, person=person)
            assert value is None or type(value) is TYPES[wanted]
            assert wanted is not Type.NUMBER or value == value
