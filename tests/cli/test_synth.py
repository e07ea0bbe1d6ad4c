"""`discreet synth`: a preview without a trace, a model that is charged once, rows of it as often as one likes, and a page beside them."""

import csv
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import pytest

from discreet.mechanisms.measure import Grant
from tests.cli.conftest import Run, data, error, ledger_bytes
from tests.cli.started import started

ATTRIBUTES = ("--attribute", "age=0,15,65,120", "--attribute", "ward")
SYNTH = ("synth", "hospital.toml", *ATTRIBUTES, "--epsilon", "0.5")


def spent(run: Run) -> float:
    found: float = data(run("budget", "hospital.toml", "--json"))["spent"]["epsilon"]
    return found


def rows_of(path: str) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_preview_leaves_no_trace(run: Run, policy: Path, place: Path) -> None:
    before = sorted(place.rglob("*"))
    result = run(*SYNTH, "--preview")
    assert result.exit_code == 0, result.stderr
    assert "visits by age (4), ward (5): 20 cells" in result.stdout and "Nothing was read or spent" in result.stdout
    found = data(run(*SYNTH, "--preview", "--json", "--out", "rows.csv"))
    assert (found["cells"], found["epsilon"], found["delta"]) == (20, 0.5, 1e-9)
    assert found["attributes"] == [{"name": "age", "cells": 4}, {"name": "ward", "cells": 5}]
    assert sorted(place.rglob("*")) == before


def test_a_model_is_charged_once_and_drawn_from_again_for_free(run: Run, policy: Path) -> None:
    first = data(run(*SYNTH, "--out", "rows.csv", "--json"))
    assert first["charged"] and spent(run) == 0.5 and first["remaining"]["epsilon"] == 2.5
    assert first["rows"] == len(rows_of("rows.csv"))
    assert {row["ward"] for row in rows_of("rows.csv")} <= {"Surgery", "Emergency", "Burns", "other", ""}
    assert all(row["age"] == "" or 0 <= int(row["age"]) < 120 for row in rows_of("rows.csv"))
    again = data(run(*SYNTH, "--out", "more.parquet", "--rows", "1000", "--json"))
    assert not again["charged"] and again["rows"] == 1000 and again["quality"] == first["quality"]
    types = duckdb.sql("SELECT * FROM 'more.parquet'")
    assert types.columns == ["age", "ward"] and [str(each) for each in types.types] == ["BIGINT", "VARCHAR"]
    assert len(types.fetchall()) == 1000
    text = run(*SYNTH, "--out", "third.csv")
    assert "nothing was charged" in text.stdout and "left: ε = 2.5" in text.stdout and "wrote third.csv" in text.stderr
    assert spent(run) == 0.5


def test_another_key_learns_another_model(run: Run, policy: Path) -> None:
    for key, total in (("a", 0.5), ("b", 1.0), ("a", 1.0)):
        assert run(*SYNTH, "--out", "rows.csv", "--force", "--key", key).exit_code == 0
        assert spent(run) == total


def test_files_are_looked_at_before_anything_is_spent(run: Run, policy: Path, place: Path) -> None:
    (place / "there.csv").write_text("old", "utf-8")
    wrong = [
        ("--out", "there.csv"),
        ("--out", "rows.txt"),
        ("--out", "nowhere/rows.csv"),
        ("--out", "visits.csv", "--force"),
        ("--out", "rows.csv", "--report", "quality.txt"),
        ("--out", "rows.csv", "--report", "there.csv"),
    ]
    for words in wrong:
        refused = run(*SYNTH, *words, "--json")
        assert (refused.exit_code, error(refused)["code"]) == (2, "out"), words
    assert not (place / "hospital.toml.ledger").exists() and (place / "there.csv").read_text("utf-8") == "old"
    assert run(*SYNTH, "--out", "there.csv", "--force").exit_code == 0
    assert rows_of("there.csv")


def test_what_is_missing_or_wrong_is_said_before_anything_is_spent(run: Run, policy: Path, place: Path) -> None:
    out = ("--out", "rows.csv")
    wrong: list[tuple[tuple[str, ...], str | None]] = [
        (("synth", "hospital.toml", *ATTRIBUTES, *out), "usage"),
        (SYNTH, "usage"),
        ((*SYNTH, *out, "--rows", "-1"), "usage"),
        ((*SYNTH, *out, "--rows", "1000000000000"), "usage"),
        ((*SYNTH, *out, "--of", "others"), "unknown-table"),
        ((*SYNTH, *out, "--attribute", "nothing"), "unknown-column"),
        ((*SYNTH[:-1], "0", *out), "invalid"),
        ((*SYNTH[:-1], "much", *out), "invalid"),
        ((*SYNTH, *out, "--impossible", "age < 12"), None),
        ((*SYNTH, *out, "--impossible", "age <"), None),
        ((*SYNTH, *out, "--attribute", "patient_id"), None),
    ]
    for words, code in wrong:
        result = run(*words, "--json")
        assert result.exit_code == 2, (words, result.stderr)
        assert code in (None, error(result)["code"]), words
    assert not (place / "hospital.toml.ledger").exists() and not (place / "rows.csv").exists()


def test_a_price_beyond_the_budget_is_refused(run: Run, policy: Path, place: Path) -> None:
    refused = run(*SYNTH[:-1], "50", "--out", "rows.csv")
    assert refused.exit_code == 3 and not (place / "rows.csv").exists()
    assert run(*SYNTH, "--out", "rows.csv", "--as", "nobody").exit_code == 3
    assert spent(run) == 0


def test_an_analyst_pays(run: Run, policy: Path) -> None:
    found = data(run(*SYNTH, "--out", "rows.csv", "--as", "ana", "--json"))
    assert found["delta"] == 0 and found["remaining"]["epsilon"] == 0.5
    assert run(*SYNTH[:-1], "0.6", "--out", "more.csv", "--as", "ana").exit_code == 3
    assert spent(run) == 0.5


def test_nobody_impossible_is_drawn(run: Run, policy: Path) -> None:
    words = ("--impossible", "age < 15 AND ward = 'Burns'", "--impossible", "ward IS NULL", "--rows", "3000")
    assert run(*SYNTH, *words, "--out", "rows.csv").exit_code == 0
    rows = rows_of("rows.csv")
    assert len(rows) == 3000 and all(row["ward"] for row in rows)
    assert not [row for row in rows if row["ward"] == "Burns" and row["age"] and int(row["age"]) < 15]


def test_a_page_tells_of_quality_and_a_check_is_paid_for(run: Run, policy: Path) -> None:
    assert run(*SYNTH, "--out", "rows.csv", "--report", "free.html").exit_code == 0
    page = Path("free.html").read_text("utf-8")
    assert page.startswith("<!doctype html>") and "<svg" in page and "http" not in page and spent(run) == 0.5
    for _ in range(2):
        found = data(
            run(*SYNTH, "--out", "rows.csv", "--force", "--report", "paid.html", "--force", "--check", "0.25", "--json")
        )
        assert found["quality"]["paid"] == {"epsilon": 0.25, "delta": 1e-9}
        assert all(
            margin["paid"] and margin["low"] <= margin["error"] <= margin["high"]
            for margin in found["quality"]["margins"]
        )
        assert spent(run) == 0.75
    assert "price of this report" in Path("paid.html").read_text("utf-8")


class Killed(BaseException):
    """The end of a process, as far as a test can have it."""


@contextmanager
def killed(at: int, before: bool) -> Iterator[None]:
    """Draws end with the process: the one of this number before it is made, or after it was made and kept."""
    whole: Callable[..., Any] = Grant.__call__
    made = [0]

    def draw(grant: Grant, *words: Any, **named: Any) -> Any:
        made[0] += 1
        if made[0] == at and before:
            raise Killed
        value = whole(grant, *words, **named)
        if made[0] == at:
            raise Killed
        return value

    with mock.patch.object(Grant, "__call__", draw), pytest.raises(Killed):
        yield


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_who_was_killed_goes_on_at_no_new_charge(run: Run, policy: Path, place: Path, before: bool) -> None:
    words = (*SYNTH, "--out", "rows.csv")
    with killed(1, before):
        result = run(*words)
        raise result.exception or AssertionError(result.stdout)
    assert spent(run) == 0.5 and not (place / "rows.csv").exists()
    assert sorted(each.name for each in place.iterdir() if each.is_file()) == ["hospital.toml", "visits.csv"]
    found = data(run(*words, "--json"))
    assert not found["charged"] and spent(run) == 0.5 and len(rows_of("rows.csv")) == found["rows"]


@pytest.mark.parametrize("attributes", [ATTRIBUTES, ATTRIBUTES[:2]], ids=["two", "one"])
def test_who_was_killed_inside_of_a_draw_pays_once(run: Run, policy: Path, attributes: tuple[str, ...]) -> None:
    """That draw is lost: what else was measured makes a model, or it is said that nothing did; it stays charged once either way."""
    words = ("synth", "hospital.toml", *attributes, "--epsilon", "0.5", "--out", "rows.csv")
    table = "discreet.curator.table.table.ProtectedTable._counts"
    with mock.patch(table, side_effect=lambda *_: os._exit(9)):
        assert started(words).code == 9
    again = run(*words, "--json")
    assert spent(run) == 0.5
    if again.exit_code:
        assert (again.exit_code, error(again)["code"]) == (3, "draw-lost")
        assert run(*words, "--key", "another").exit_code == 0 and spent(run) == 1
    else:
        assert not data(again)["charged"]
    assert rows_of("rows.csv") is not None


def test_rows_that_cannot_be_written_leave_the_model_paid_and_kept(run: Run, policy: Path) -> None:
    with mock.patch("os.replace", side_effect=OSError(28, "No space left on device")):
        full = run(*SYNTH, "--out", "rows.csv", "--json")
    assert full.exit_code == 1 and error(full)["code"] == "out" and "again is free" in error(full)["hint"]
    assert not data(run(*SYNTH, "--out", "rows.csv", "--json"))["charged"] and spent(run) == 0.5


def test_drawing_again_changes_nothing_in_the_ledger(run: Run, policy: Path) -> None:
    assert run(*SYNTH, "--out", "rows.csv").exit_code == 0
    before = ledger_bytes(policy)
    assert run(*SYNTH, "--out", "more.csv").exit_code == 0
    assert before and ledger_bytes(policy) == before


def test_a_data_file_is_a_source_too(run: Run, visits: Path) -> None:
    words = ("--unit", "patient_id", "--keys", "ward=Surgery,Burns", "--bounds", "age=0:120", "--budget", "2")
    found = data(run("synth", "visits.csv", *words, "--epsilon", "1", "--out", "rows.csv", "--json"))
    assert {each["name"] for each in found["attributes"]} == {"ward", "age"}
    assert found["remaining"]["epsilon"] == 1


def test_one_of_several_tables_must_be_named(run: Run, policy: Path) -> None:
    text = policy.read_text("utf-8")
    policy.write_text(text + '[tables.again]\nsource = "visits.csv"\n', "utf-8")
    refused = run(*SYNTH, "--out", "rows.csv", "--json")
    assert (refused.exit_code, error(refused)["code"]) == (2, "usage") and "--of" in error(refused)["hint"]
    assert run(*SYNTH, "--of", "visits", "--out", "rows.csv").exit_code == 0
