"""`discreet audit`: the table, the exit code, the picture; and that neither data nor ledger are touched."""

import json
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest

from discreet.audit import subjects
from discreet.cli.audit import progress
from tests.cli.conftest import POLICY, Run, data, error

pytestmark = pytest.mark.usefixtures("few_subjects")

BROKEN = [
    replace(each, epsilon=0.01, name="a broken\x1b[31m one")
    for each in subjects.of_mechanisms()
    if each.kind == "CoinToss"
][:1]


def test_a_build_that_holds_out_is_told_in_a_table(run: Run, few_subjects: list[subjects.Subject]) -> None:
    result = run("audit", "--samples", "500", "--strict")
    assert result.exit_code == 0 and result.stderr == ""
    head, line, _, summary = result.stdout.splitlines()
    assert head.startswith("part") and few_subjects[0].name in line and line.endswith("holds out")
    assert summary.startswith("1 claims were tried") and "none fails" in summary


def test_strict_exits_with_1_where_a_claim_fails(run: Run) -> None:
    with mock.patch.object(subjects, "_PROVIDERS", [lambda: BROKEN]):
        assert run("audit", "--samples", "5000").exit_code == 0
        result = run("audit", "--samples", "5000", "--strict")
        assert result.exit_code == 1 and "FAILS" in result.stdout and "\x1b" not in result.stdout
        (found,) = json.loads(run("audit", "--samples", "5000", "--strict", "--json").stdout)
    assert found["fails"] and found["certified"] > found["epsilon"] == 0.01


def test_the_questions_of_a_policy_are_audited_without_its_data(run: Run, place: Path) -> None:
    """There is no visits.csv at all, and afterwards no ledger and no mark."""
    (place / "hospital.toml").write_text(POLICY, "utf-8")
    found = data(run("audit", "hospital.toml", "--samples", "300", "--json", "--strict"))
    asked = [each["name"] for each in found if each["part"] == "question"]
    assert 'SELECT COUNT(DISTINCT "patient_id") AS n FROM "visits"' in asked
    assert 'SELECT SUM("age") AS s FROM "visits"' in asked
    assert 'SELECT "ward", COUNT(*) AS n FROM "visits" GROUP BY "ward"' in asked
    assert sorted(each.name for each in place.iterdir()) == ["hospital.toml"]


def test_a_picture_is_written_once(run: Run, place: Path) -> None:
    result = run("audit", "--samples", "300", "--out", "audit.svg")
    assert result.stdout.splitlines()[-1] == "wrote audit.svg"
    assert (place / "audit.svg").read_text("utf-8").startswith("<svg ")
    assert error(run("audit", "--samples", "300", "--out", "audit.svg", "--json"))["code"] == "out"
    assert error(run("audit", "--out", "audit.png", "--json"))["message"] == "the picture 'audit.png' must end in .svg"
    assert error(run("audit", "--samples", "300", "--out", "no/where.svg", "--json"))["code"] == "out"


def test_what_is_no_policy_is_refused(run: Run, visits: Path) -> None:
    said = error(run("audit", "visits.csv", "--json"))
    assert said["code"] == "usage" and "is a data file, not a policy" in said["message"]
    assert error(run("audit", "nothing.toml", "--json"))["code"] == "no-file"
    assert "samples" in error(run("audit", "--samples", "0", "--json"))["message"]
    assert "seconds" in error(run("audit", "--seconds", "0", "--json"))["message"]


def test_a_bar_is_for_terminals_alone(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with progress(False) as step:
        assert step is None
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with progress(True) as step:
        assert step is None
    with progress(False) as step:
        assert step is not None
        step(5, 10, "a name\x1b[2J")
    drawn = capsys.readouterr().err
    assert "████████████░░░░░░░░░░░░   5 of 10  a name�[2J" in drawn and drawn.endswith("\r")
