"""A command looks through the ledger once at most, and no row of it twice."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from discreet.curator.replay import Replay
from discreet.curator.store import Store
from tests.cli.conftest import Run

COUNT = "SELECT COUNT(*) AS n FROM visits"
OTHER = f"{COUNT} WHERE ward = 'Surgery'"

COMMANDS: dict[str, tuple[str, ...]] = {
    "ask": ("ask", "SOURCE", OTHER, "--epsilon", "0.5"),
    "ask again": ("ask", "SOURCE", COUNT, "--epsilon", "0.5"),
    "explain": ("explain", "SOURCE", OTHER, "--epsilon", "0.5"),
    "describe": ("describe", "SOURCE"),
    "budget": ("budget", "SOURCE"),
    "history": ("history", "SOURCE"),
    "verify": ("ledger", "verify", "SOURCE"),
    "export": ("ledger", "export", "SOURCE"),
    "add": ("analyst", "add", "SOURCE", "bo", "--epsilon", "0.5"),
    "doctor": ("doctor", "SOURCE"),
}


@contextmanager
def counted() -> Iterator[tuple[list[Any], Counter[int]]]:
    """The stores that are opened inside of the block, and how often each row is computed again."""
    opened: list[Any] = []
    rows: Counter[int] = Counter()
    begin, add = Store.begin, Replay.add

    def beginning(self: Store, *arguments: Any, **words: Any) -> None:
        opened.append(self)
        begin(self, *arguments, **words)

    def adding(self: Replay, body: bytes, hash: str) -> Any:
        row = add(self, body, hash)
        rows[row.sequence] += 1
        return row

    with mock.patch.object(Store, "begin", beginning), mock.patch.object(Replay, "add", adding):
        yield opened, rows


@pytest.mark.parametrize("known", [True, False], ids=["verified before", "not verified before"])
@pytest.mark.parametrize("name", [*COMMANDS, "check"])
@pytest.mark.parametrize("source", ["visits.csv", "hospital.toml"])
def test_a_command_opens_the_ledger_once(run: Run, policy: Path, name: str, source: str, known: bool) -> None:
    first = ["--unit", "patient_id"] if source == "visits.csv" else []
    assert run("ask", source, COUNT, "--epsilon", "0.5", *first).exit_code == 0
    if not known:
        for each in Path("state").rglob("*-verified"):
            each.unlink()
    if name == "check":
        words: tuple[str, ...] = ("check", "hospital.toml")
    else:
        words = tuple(source if word == "SOURCE" else word for word in COMMANDS[name])
    with counted() as (opened, rows):
        result = run(*words)
    assert result.exit_code == 0, result.stderr
    assert len(opened) <= 1 and all(times == 1 for times in rows.values()), (len(opened), rows)
    if known and name not in ("verify", "doctor"):
        assert all(row > 3 for row in rows), rows  # what was verified before is not computed again


def test_the_first_question_opens_the_ledger_once(run: Run, visits: Path) -> None:
    with counted() as (opened, rows):
        assert run("ask", "visits.csv", COUNT, "--epsilon", "0.5", "--unit", "patient_id").exit_code == 0
    assert len(opened) == 1 and all(times == 1 for times in rows.values())
