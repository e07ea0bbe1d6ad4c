"""Bounds that are "auto": declared in every way, found by a question, kept with its answer, and known to nobody else."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from discreet.answer import Answer
from discreet.curator.found import FOUND, fact_of, is_fact, limits_in, range_in
from discreet.curator.policy import Policy
from discreet.curator.session import Curator
from discreet.errors import Fault, Invalid, QueryError
from discreet.plan.catalog import Column
from discreet.plan.range import FoundRange
from discreet.plan.scalar import Column as Node
from discreet.plan.scalar import Type

ROWS = {
    "who": [str(who) for who in range(80)],
    "x": [str(who % 40) for who in range(80)],
    "y": [f"{who}.5" for who in range(80)],
    "g": ["AB"[who % 2] for who in range(80)],
}
COLUMNS: dict[str, Any] = {
    "x": {"type": "integer", "bounds": "auto"},
    "y": {"bounds": "auto"},
    "g": {"keys": ["A", "B"]},
}
ANALYSTS = {"ana": {"epsilon": 500}, "bob": {"epsilon": 500}}
SUM = "SELECT SUM(x) AS s FROM t WHERE y > 1"
MEAN = "SELECT AVG(x) AS m FROM t WHERE y > 1"


def curator(folder: Path, **more: Any) -> Curator:
    arguments: dict[str, Any] = {"epsilon": 2000, "analysts": ANALYSTS, "max_rows": 1, "max_groups": 1, **more}
    return Curator({"t": ROWS}, "who", COLUMNS, ledger=folder / "ledger", **arguments)


@pytest.fixture
def hospital(tmp_path: Path) -> Iterator[Curator]:
    with curator(tmp_path) as opened:
        yield opened


def finds(answer: Answer) -> dict[str, list[float]]:
    """The ranges that an answer found, none where it used what was known."""
    return dict(answer.receipt.get("found", {}).get("ranges", {}))


def a_range_is_used_by_whom_it_belongs_to(folder: Path) -> None:
    """By the same analyst, about the same argument of the same rows, under any aggregate and any price: at no price."""
    with curator(folder) as hospital:
        first = hospital.sql(SUM, epsilon=1, analyst="ana")
        ((low, high),) = finds(first).values()
        assert low < high and any("found for this question" in note for note in first.notes)
        for text, price in ((MEAN, {"epsilon": 1}), (SUM, {"epsilon": 2}), (SUM, {"within": 100 * max(high, -low)})):
            again = hospital.sql(text, analyst="ana", **price)
            assert not finds(again) and "found by an earlier question" in again.notes[0], again.notes
            assert hospital.preview(text, analyst="ana", **price).notes[0] == again.notes[0]
        others = [
            (MEAN, "bob"),
            (MEAN, None),
            (MEAN.replace("> 1", "> 2"), "ana"),
            (MEAN.replace("(x)", "(y)"), "ana"),
            (MEAN.replace("(x)", "(x + 1)"), "ana"),
        ]
        for text, analyst in others:
            assert finds(hospital.sql(text, epsilon=0.5, analyst=analyst)), (text, analyst)


def test_a_range_is_used_by_whom_it_belongs_to(tmp_path: Path) -> None:
    a_range_is_used_by_whom_it_belongs_to(tmp_path)


def the_same_question_is_free(folder: Path) -> None:
    with curator(folder) as hospital:
        first = hospital.sql(SUM, epsilon=1)
        hospital.sql(MEAN, epsilon=1)
        spent = hospital.spent
        assert hospital.sql(SUM, epsilon=1).rows == first.rows and hospital.spent == spent
    with curator(folder) as hospital:
        again = hospital.sql(SUM, epsilon=1)
        assert (again.rows, again.notes, again.explain(), hospital.spent) == (
            first.rows,
            first.notes,
            first.explain(),
            spent,
        )


def test_the_same_question_is_free(tmp_path: Path) -> None:
    the_same_question_is_free(tmp_path)


def ranges_are_of_a_version(folder: Path) -> None:
    with curator(folder) as hospital:
        assert finds(hospital.sql(SUM, epsilon=1)) and not finds(hospital.sql(MEAN, epsilon=1))
        hospital.data_changed("2")
    with curator(folder, version="2") as hospital:
        assert finds(hospital.sql(MEAN, epsilon=1)), "of other data nothing is known"


def test_ranges_are_of_a_version(tmp_path: Path) -> None:
    ranges_are_of_a_version(tmp_path)


def test_ranges_and_limits_are_facts_of_their_own(tmp_path: Path) -> None:
    """A range that was found beside a limit is known where the limit is declared, and the limit where no range is asked for."""
    with curator(tmp_path, max_rows=None, max_groups=None) as hospital:
        first = hospital.sql("SELECT SUM(x) AS s FROM t", epsilon=1)
        assert set(first.receipt["found"]) == {"max_total", "people", "beyond", "ranges"}
        limited = hospital.sql("SELECT AVG(x) AS m FROM t", epsilon=1, max_total=3)
        assert "found" not in limited.receipt and "is clamped to" in limited.notes[0]
        counted = hospital.sql("SELECT COUNT(*) AS n FROM t", epsilon=1)
        assert "found" not in counted.receipt and "max_total" in counted.notes[0]
        kept = [row for row in hospital._store.history() if is_fact(row.key or "")]
        assert len(kept) == 2 and hospital.verify() and hospital.spent.epsilon == 3


def what_was_known_in_part_is_free(folder: Path) -> None:
    """The same question is free where it found its range beside a limit that was known, or its limit beside a range."""
    for name, before in (("limit", "SELECT COUNT(*) AS n FROM t"), ("range", "SELECT AVG(x) AS m FROM t")):
        with curator(folder / name, max_rows=None, max_groups=None) as hospital:
            hospital.sql(before, epsilon=1, **({} if name == "limit" else {"max_total": 3}))
            first = hospital.sql("SELECT SUM(x) AS s FROM t", epsilon=1)
            assert set(first.receipt["found"]) & {"max_total", "ranges"} == {
                "ranges" if name == "limit" else "max_total"
            }
            for more in ({}, {"confidence": 0.5}):
                again = hospital.sql("SELECT SUM(x) AS s FROM t", epsilon=1, **more)
                assert again.rows == first.rows and hospital.spent.epsilon == 2, (name, more)


def test_what_was_known_in_part_is_free(tmp_path: Path) -> None:
    what_was_known_in_part_is_free(tmp_path)


def test_an_accuracy_can_be_asked_for_once_the_range_is_known(hospital: Curator) -> None:
    with pytest.raises(QueryError, match="within needs the range of x"):
        hospital.preview(SUM, within=5000)
    (ends,) = finds(hospital.sql(SUM, epsilon=1)).values()
    within = 100 * max(map(abs, ends))
    assert hospital.preview(SUM, within=within).to_json()["error"]["s"] <= within


def test_conditions_and_counts_need_no_range(hospital: Curator) -> None:
    for text in (
        "SELECT COUNT(*) AS n FROM t WHERE x > 3",
        "SELECT COUNT(x) AS n FROM t",
        "SELECT SUM(LEAST(GREATEST(x, 0), 9)) AS s FROM t",
    ):
        assert not finds(hospital.sql(text, epsilon=1)), text
    for text in ("SELECT x, COUNT(*) AS n FROM t GROUP BY x",):
        with pytest.raises(QueryError):
            hospital.sql(text, epsilon=1, delta=0)


def test_what_is_no_fact_is_none() -> None:
    widest = FoundRange(Node("x", Type.INTEGER), -8, 8)  # type: ignore[arg-type]
    request, stored = fact_of(f"{FOUND}1", None, {"ranges": {"x": [0, 4]}}, "1")
    assert range_in(stored, widest) == FoundRange(widest.argument, 0, 4) and request.label == "-- found: x from 0 … 4"  # type: ignore[arg-type]
    assert limits_in(stored) == {}
    for broken in (
        b"[]",
        b"{",
        b"{}",
        *(json.dumps({"ranges": {"x": ends}}).encode() for ends in ([4, 0], [0, 99], [1], "a")),
    ):
        with pytest.raises(Fault):
            range_in(broken, widest)


# What is declared.


def test_auto_is_written_down_and_read_again(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("who,x,y\n1,2,3\n", encoding="utf-8")
    columns = {"x": {"type": "integer", "bounds": "auto"}, "y": {"bounds": "auto"}}
    policy = Policy.declare({"t": tmp_path / "t.csv"}, "who", columns, epsilon=1)
    policy.save(tmp_path / "p.toml")
    assert 'bounds = "auto"' in (tmp_path / "p.toml").read_text(encoding="utf-8")
    with Curator.open(tmp_path / "p.toml") as opened:
        (table,) = opened.catalog.tables
        assert [(each.type, each.auto, each.low) for each in table.columns[1:]] == [
            (Type.INTEGER, True, None),
            (Type.NUMBER, True, None),
        ]
        told = opened.describe()
        assert "a range that each question finds" in str(told)
        assert [each["bounds"] for each in told.as_data()["tables"][0]["columns"]] == [None, "auto", "auto"]


@pytest.mark.parametrize("bounds", ["automatic", "AUTO", "", [0], ["auto", 3], 5])
def test_what_are_no_bounds_are_refused(bounds: Any) -> None:
    with pytest.raises(Invalid, match="must be two numbers") as refusal:
        Policy.declare({"t": ROWS}, "who", {"x": {"bounds": bounds}}, epsilon=1, ledger=":memory:")
    assert "bounds = " in (refusal.value.hint or "")


@pytest.mark.parametrize("kind", ["text", "date", "boolean"])
def test_only_numbers_have_a_range(kind: str) -> None:
    with pytest.raises(Invalid, match="a range is found of numbers alone"):
        Policy.declare({"t": ROWS}, "who", {"x": {"type": kind, "bounds": "auto"}}, epsilon=1, ledger=":memory:")
    with pytest.raises(Invalid, match="a range is found of numbers alone"):
        Column("x", Type(kind), auto=True)
    with pytest.raises(Invalid, match="and not both"):
        Column("x", Type.NUMBER, 0, 1, auto=True)  # type: ignore[arg-type]
