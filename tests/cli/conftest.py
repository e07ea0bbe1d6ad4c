"""Every test of the command line runs in a folder of its own, with its marks in there too."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from typer.testing import CliRunner, Result

from discreet.audit import subjects
from discreet.cli import app
from discreet.cli.hospital import hospital

Run = Callable[..., Result]

POLICY = """
[budget]
epsilon = 3
delta = 1e-6
[unit]
column = "patient_id"
people = 300
[tables.visits]
source = "visits.csv"
[tables.visits.columns]
age = { type = "integer", bounds = [0, 120] }
ward = { keys = ["Surgery", "Emergency", "Burns"] }
cost = { bounds = [0, 10000] }
[analysts.ana]
epsilon = 1
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("DISCREET_TRACEBACK", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def visits(place: Path) -> Path:
    """visits.csv of a small hospital."""
    path = place / "visits.csv"
    hospital(300).write(path)
    return path


@pytest.fixture
def policy(visits: Path) -> Path:
    path = visits.with_name("hospital.toml")
    path.write_text(POLICY, "utf-8")
    return path


@pytest.fixture
def few_subjects() -> Iterator[list[subjects.Subject]]:
    """`discreet audit` tries one subject of the build, and all questions of a policy; tests/audit tries all subjects."""
    few = subjects.of_mechanisms()[:1]
    with mock.patch.object(subjects, "_PROVIDERS", [lambda: few]):
        yield few


@pytest.fixture
def few_questions(few_subjects: object) -> Iterator[None]:
    """`discreet audit` tries two questions of a policy as well."""
    asked = subjects.questions
    with mock.patch.object(subjects, "questions", lambda policy: asked(policy)[:2]):
        yield


@pytest.fixture
def run() -> Run:
    """Run a command in this process."""

    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "100"})

    return invoke


def data(result: Result) -> Any:
    """What a command printed as JSON."""
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    return json.loads(result.stdout)


def error(result: Result) -> Any:
    """What a failed command said as JSON; stdout is empty."""
    assert result.exit_code != 0 and result.stdout == ""
    found = json.loads(result.stderr)
    assert found.keys() == {"error"} and found["error"].keys() == {"code", "message", "hint"}
    return found["error"]


def ledger_bytes(source: Path) -> dict[str, bytes]:
    """Every file of a source's ledger, and of the marks."""
    folders = (source.with_name(source.name + ".ledger"), source.parent / "state")
    return {str(file): file.read_bytes() for folder in folders for file in folder.rglob("*") if file.is_file()}
