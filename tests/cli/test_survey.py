"""`discreet survey`: a preview without a trace, a survey that is charged once, a page beside it, and what is made of it afterwards."""

import json
import tomllib
from pathlib import Path

import pytest

from discreet.cli.hospital import hospital
from discreet.curator.catalog import catalog_of
from discreet.curator.policy import Policy
from discreet.curator.survey.record import SurveyFacts
from discreet.plan.scalar import Type
from tests.cli.conftest import Run, data, error

SURVEY = ("survey", "visits.csv", "--unit", "patient_id", "--budget", "900", "--epsilon", "200", "--delta", "1e-7")


@pytest.fixture
def many(place: Path) -> Path:
    path = place / "visits.csv"
    hospital(300).write(path)
    return path


def test_a_preview_leaves_no_trace(run: Run, many: Path, place: Path) -> None:
    before = sorted(place.rglob("*"))
    result = run(*SURVEY, "--preview")
    assert result.exit_code == 0 and "Nothing was read or spent" in result.stdout
    found = data(run(*SURVEY, "--preview", "--json"))
    assert found["epsilon"] == 200 and found["people_to_find_a_key"] > 0 and "patient_id" not in found["columns"]
    assert sorted(place.rglob("*")) == before


def test_a_survey_is_charged_once_and_kept(run: Run, many: Path) -> None:
    first = data(run(*SURVEY, "--json"))
    facts = SurveyFacts.read(first)
    assert abs(facts.people.value - 300) < 20 and facts.column("ward") is not None
    assert data(run(*SURVEY, "--json")) == first
    assert data(run("budget", "visits.csv", "--json"))["spent"]["epsilon"] == 200
    text = run(*SURVEY)
    assert text.exit_code == 0 and "survey of visits, data version 1" in text.stdout and "left: ε = 700" in text.stdout


def test_a_page_is_written_where_there_is_none_and_looked_at_before(run: Run, many: Path, place: Path) -> None:
    assert run(*SURVEY, "--out", "profile.html").exit_code == 0
    page = Path("profile.html").read_text("utf-8")
    assert page.startswith("<!doctype html>") and "<svg" in page and "http" not in page
    for out in ("profile.html", "profile.txt", "nowhere/profile.html"):
        refused = run(*SURVEY[:-4], "--epsilon", "3", "--out", out, "--json")
        assert (refused.exit_code, error(refused)["code"]) == (2, "out")
    assert data(run("budget", "visits.csv", "--json"))["spent"]["epsilon"] == 200


def test_what_is_missing_or_wrong_is_said_before_anything_is_spent(run: Run, many: Path, place: Path) -> None:
    wrong = [
        (("survey", "visits.csv", "--unit", "patient_id"), "usage"),
        ((*SURVEY, "--columns", "nothing"), "unknown-column"),
        ((*SURVEY, "--bounds", "age=0:120", "--columns", "age"), "survey"),
        ((*SURVEY, "--of", "others"), "unknown-table"),
        ((*SURVEY[:4], "--epsilon", "0"), "invalid"),
    ]
    for words, code in wrong:
        result = run(*words, "--json")
        assert (result.exit_code, error(result)["code"]) == (2, code), words
    assert not (place / "visits.csv.ledger").exists()


def test_an_analyst_pays_for_what_is_theirs(run: Run, policy: Path) -> None:
    policy.write_text(policy.read_text("utf-8").replace("age = {", "# age = {"), "utf-8")
    own = data(
        run("survey", "hospital.toml", "--epsilon", "0.5", "--delta", "0", "--columns", "age", "--as", "ana", "--json")
    )
    assert own["analyst"] == "ana" and own["delta"] == 0
    assert data(run("describe", "hospital.toml", "--json"))["surveys"] == []
    assert data(run("describe", "hospital.toml", "--as", "ana", "--json"))["surveys"] == [own]
    assert run("survey", "hospital.toml", "--epsilon", "0.6", "--as", "nobody").exit_code == 3
    assert (
        run("survey", "hospital.toml", "--epsilon", "0.6", "--delta", "0", "--columns", "age", "--as", "ana").exit_code
        == 3
    )


def test_a_policy_is_written_from_what_was_surveyed(run: Run, many: Path) -> None:
    missing = run("init", "visits.csv", "--from-survey", "--json")
    assert (missing.exit_code, error(missing)["code"]) == (2, "survey")
    facts = SurveyFacts.read(data(run(*SURVEY, "--json")))
    assert run("init", "visits.csv", "--from-survey", "--out", "hospital.toml").exit_code == 0
    written = tomllib.loads(Path("hospital.toml").read_text("utf-8"))
    assert written["unit"]["column"] == "patient_id" and abs(written["unit"]["people"] - 300) < 20
    catalog, _ = catalog_of(Policy.read(Path("hospital.toml")))
    (table,) = catalog.tables
    for column in facts.columns:
        declared = table.column(column.name)
        assert declared.type is column.type
        assert (declared.low, declared.high) == (column.bounds or (None, None))
        if column.type is Type.TEXT:
            assert declared.keys == column.keys
    asked = run("ask", "hospital.toml", "SELECT COUNT(*) AS n FROM visits", "--epsilon", "0.5", "--json")
    assert asked.exit_code == 0, asked.stderr
    described = run("describe", "hospital.toml").stdout
    assert "surveyed on version 1" in described
    assert json.loads(run("describe", "hospital.toml", "--json").stdout)["surveys"] == [facts.as_data()]
