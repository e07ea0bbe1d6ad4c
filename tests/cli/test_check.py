"""`discreet check`: what a policy declares and what it lacks, from the policy and the names of columns alone."""

import tomllib
from pathlib import Path

import pytest

from tests.cli.conftest import POLICY, Run, data, error


def test_it_tells_what_is_declared_and_what_is_missing(run: Run, policy: Path) -> None:
    said = run("check", "hospital.toml").stdout
    assert "hospital.toml loads" in said
    assert "SUM, AVG: clamped to 0 … 120" in said and "GROUP BY: Surgery, Emergency, Burns" in said
    assert "budget: ε = 3, δ = 1e-06, accountant pure" in said
    assert "analyst ana: ε = 1" in said and "people, as declared: 300" in said
    assert 'region = { type = "text", keys = ["A", "B"] }' in said
    assert "made by the first question" in said and "people =" not in said


def test_the_same_as_json(run: Run, policy: Path) -> None:
    found = data(run("check", "hospital.toml", "--json"))
    assert (found["budget"], found["accountant"], found["version"]) == ({"epsilon": 3.0, "delta": 1e-6}, "pure", "1")
    assert found["unit"]["column"] == "patient_id" and found["analysts"] == {"ana": {"epsilon": 1.0, "delta": 0.0}}
    assert [each["allows"] for each in found["missing"]] == ["GROUP BY sex", "GROUP BY region", "GROUP BY admitted"]
    assert [table["name"] for table in found["tables"]] == ["visits"]


def test_every_missing_line_may_be_added_as_it_is(run: Run, visits: Path) -> None:
    assert run("init", "visits.csv", "--unit", "patient_id").exit_code == 0
    path = Path("discreet.toml")
    text = "\n".join(line for line in path.read_text("utf-8").splitlines() if "{ type" not in line)
    for each in data(run("check", "--json"))["missing"]:
        text = text.replace(f"[{each['section']}]", f"[{each['section']}]\n{each['line']} #")
    path.write_text(text, "utf-8")
    assert set(tomllib.loads(text)["tables"]["visits"]["columns"]) == {
        "age",
        "sex",
        "region",
        "ward",
        "cost",
        "admitted",
    }
    assert data(run("check", "--json"))["missing"] == []


def test_nothing_but_names_comes_from_the_data(run: Run, policy: Path, visits: Path) -> None:
    said = [run("check", "hospital.toml", *more).stdout for more in ([], ["--json"])]
    header = visits.read_text("utf-8").splitlines()[0]
    visits.write_text(header + "\n", "utf-8")
    assert [run("check", "hospital.toml", *more).stdout for more in ([], ["--json"])] == said
    assert not list(policy.parent.glob("*.ledger"))


@pytest.mark.parametrize(
    ("people", "exit_code", "said"),
    [
        (10, 0, "note: delta 1e-06 is small enough for 10 people"),
        (400_000, 0, "note: delta 1e-06 is more than is customary"),
        (500_000, 0, "warning: delta 1e-06 is close to one in 500,000"),
        (1_000_000, 3, "it promises nothing"),
    ],
)
def test_delta_is_judged_by_the_declared_people(run: Run, policy: Path, people: int, exit_code: int, said: str) -> None:
    policy.write_text(POLICY.replace("people = 300", f"people = {people}"), "utf-8")
    result = run("check", "hospital.toml")
    assert (result.exit_code, said in result.stdout + result.stderr) == (exit_code, True), result.stdout


def test_a_ledger_apart_is_noticed(run: Run, policy: Path) -> None:
    asked = ["ask", "visits.csv", "SELECT COUNT(*) AS n FROM visits", "--unit", "patient_id", "--epsilon", "1"]
    assert run(*asked).exit_code == 0
    said = run("check", "hospital.toml").stdout
    assert f"warning: {Path('visits.csv.ledger').resolve()} counts questions about the same people apart" in said
    policy.write_text(POLICY + '[ledger]\npath = "visits.csv.ledger"\n', "utf-8")
    assert "warning" not in run("check", "hospital.toml").stdout


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("epsilon = 3", "epsilon = -3"), "epsilon"),
        (("epsilon = 3", "epsilon = 1e400"), "epsilon"),
        (("[unit]", "[analysts.owner]\nepsilon = 1\n[unit]"), "cannot be called 'owner'"),
        (("[unit]", '[analysts."a\\nb"]\nepsilon = 1\n[unit]'), "analyst must be a text"),
        (("[unit]", "[analysts.zoe]\nepsilon = 1\ndelta = 2\n[unit]"), "delta of analyst 'zoe'"),
        (("age = {", 'AGE = { type = "integer" }\nage = {'), "twice"),
        (("delta = 1e-6", 'accountant = "zcdp"'), "delta above 0"),
        (("[budget]", "[budgets]"), "did you mean"),
        (('column = "patient_id"', 'column = "patient"'), "unit"),
        (("age = {", "agee = {"), "did you mean 'age'"),
        (("bounds = [0, 120]", "bounds = [120, 0]"), "the first must be below the second"),
        (('source = "visits.csv"', 'source = "gone.csv"'), "there is no file"),
        (("[unit]", "[unit"), "is not TOML"),
        (('"integer"', '"int"'), "must be one of"),
    ],
)
def test_a_policy_that_does_not_load_says_what_to_change(
    run: Run, policy: Path, change: tuple[str, str], said: str
) -> None:
    assert change[0] in POLICY
    policy.write_text(POLICY.replace(*change, 1), "utf-8")
    result = run("check", "hospital.toml", "--json")
    found = error(result)
    assert result.exit_code == 2 and said in found["message"] + found["hint"]


def test_a_data_file_is_no_policy(run: Run, visits: Path) -> None:
    result = run("check", "visits.csv", "--json")
    assert (result.exit_code, error(result)["code"]) == (2, "usage") and "discreet init visits.csv" in result.stderr
    assert error(run("check", "--json"))["code"] == "no-file"
