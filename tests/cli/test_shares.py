"""Who has how much of the total: caps that are more than it are said, reserved ones are kept, and small or large amounts get a word."""

from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import POLICY, Run, data, error

COUNT = "SELECT COUNT(*) AS n FROM visits WHERE age > {}"
FIRST = "who asks first"


def ask(run: Run, number: int, epsilon: str, who: str | None = None, source: str = "hospital.toml") -> Any:
    name = [] if who is None else ["--as", who]
    return run("ask", source, COUNT.format(number), "--epsilon", epsilon, *name, "--json")


def test_caps_that_are_more_than_the_total_are_said_by_add_and_by_check(run: Run, policy: Path) -> None:
    assert all(FIRST not in note for note in data(run("check", "hospital.toml", "--json"))["notes"])
    added = data(run("analyst", "add", "hospital.toml", "bob", "--epsilon", "2.5", "--json"))
    assert any("ana and bob add up to ε = 3.5 of 3" in note and FIRST in note for note in added["notes"])
    assert FIRST in run("analyst", "add", "hospital.toml", "cy", "--epsilon", "1").stdout
    checked = data(run("check", "hospital.toml", "--json"))
    assert checked["analysts"]["bob"] == {"epsilon": 2.5, "delta": 0.0} and checked["added"] == ["bob", "cy"]
    assert any("ana, bob and cy add up to ε = 4.5 of 3" in note for note in checked["notes"])
    assert "analyst bob: ε = 2.5, added by command" in run("check", "hospital.toml").stdout
    run("analyst", "remove", "hospital.toml", "bob")
    checked = data(run("check", "hospital.toml", "--json"))
    assert checked["added"] == ["cy"] and all(FIRST not in note for note in checked["notes"])


def test_caps_of_a_policy_that_are_more_than_the_total_are_said_before_any_ledger(run: Run, policy: Path) -> None:
    policy.write_text(POLICY + "[analysts.bob]\nepsilon = 2.5\n", "utf-8")
    assert any(
        "ana and bob add up to ε = 3.5 of 3" in note for note in data(run("check", "--json", "hospital.toml"))["notes"]
    )
    assert not Path("hospital.toml.ledger").exists()


def test_reserved_shares_are_kept_for_analysts(run: Run, policy: Path) -> None:
    policy.write_text(POLICY.replace("epsilon = 3\n", 'epsilon = 3\nshares = "reserved"\n', 1), "utf-8")
    assert data(run("check", "hospital.toml", "--json"))["shares"] == "reserved"
    assert data(ask(run, 1, "2"))["remaining"]["epsilon"] == 0
    assert "reserved for analysts" in error(ask(run, 2, "0.1"))["message"]
    refused = error(run("analyst", "add", "hospital.toml", "bob", "--epsilon", "0.5", "--json"))
    assert refused["code"] == "shares" and "epsilon 0" in refused["message"]
    assert data(ask(run, 3, "1", "ana"))["remaining"]["epsilon"] == 0
    shown = run("budget", "hospital.toml").stdout
    assert "shares are reserved: ε = 0" in shown
    assert "shares are reserved" in run("history", "hospital.toml").stdout
    assert error(run("budget", "set", "hospital.toml", "--shares", "common", "--yes", "--json"))["code"] == "shares"
    policy.write_text(POLICY.replace("epsilon = 3\n", 'epsilon = 3\nshares = "common"\n', 1), "utf-8")
    assert error(ask(run, 4, "0.1", "ana"))["code"] == "shares"
    assert any("every question is refused" in note for note in data(run("check", "hospital.toml", "--json"))["notes"])
    assert error(run("budget", "set", "hospital.toml", "--shares", "common", "--json"))["code"] == "shares"
    assert data(run("budget", "set", "hospital.toml", "--shares", "common", "--yes", "--json"))["shares"] == "common"


def test_a_data_file_may_have_reserved_shares(run: Run, visits: Path) -> None:
    data(
        run("ask", "visits.csv", "SELECT COUNT(*) AS n FROM visits", "--unit", "patient_id", "--epsilon", "1", "--json")
    )
    run("analyst", "add", "visits.csv", "ana", "--epsilon", "3")
    found = data(run("budget", "set", "visits.csv", "--shares", "reserved", "--json"))
    assert found["shares"] == "reserved" and found["free"]["epsilon"] == 1
    assert error(run("budget", "set", "visits.csv", "--epsilon", "3.5", "--json"))["code"] == "shares"


@pytest.mark.parametrize("delta", ["0.9999999999999999999", "0.5", "0.01", "2e-5"])
def test_a_large_delta_gets_a_word(run: Run, visits: Path, delta: str) -> None:
    question = ("SELECT COUNT(*) AS n FROM visits", "--unit", "patient_id", "--epsilon", "1")
    data(run("ask", "visits.csv", *question, "--json"))
    found = data(run("budget", "set", "visits.csv", "--epsilon", "10", "--delta", delta, "--yes", "--json"))
    assert any("people outright" in note for note in found["notes"])
    assert "people outright" in run("budget", "set", "visits.csv", "--epsilon", "9", "--delta", delta, "--yes").stdout
    assert "people outright" in run("analyst", "add", "visits.csv", "ana", "--epsilon", "1", "--delta", delta).stdout
    Path("d.toml").write_text(POLICY.replace("1e-6", delta).replace("people = 300\n", ""), "utf-8")
    assert any("people outright" in note for note in data(run("check", "d.toml", "--json"))["notes"])


def test_a_cap_of_0_is_in_the_picture(run: Run, policy: Path) -> None:
    data(ask(run, 1, "0.1", "ana"))
    assert run("budget", "set", "hospital.toml", "--epsilon", "0", "--analyst", "ana").exit_code == 0
    shown = run("budget", "hospital.toml").stdout.partition("budget of ana")[2]
    assert "ε" in shown and "0 left of 0, 0.1 spent" in shown
    assert run("analyst", "add", "hospital.toml", "bob", "--epsilon", "0").stdout.count("0 left of 0, 0 spent") == 1


@pytest.mark.parametrize("field", ["epsilon", "delta"])
@pytest.mark.parametrize("small", ["1e-16", "9.99e-16", "1e-30"])
def test_what_is_too_small_to_count_is_refused_by_name(run: Run, policy: Path, small: str, field: str) -> None:
    budget = POLICY.replace({"epsilon": "epsilon = 3", "delta": "delta = 1e-6"}[field], f"{field} = {small}", 1)
    analyst = POLICY.replace(
        "epsilon = 1", {"epsilon": f"epsilon = {small}", "delta": f"epsilon = 1\ndelta = {small}"}[field]
    )
    for text, whose in ((budget, "the budget"), (analyst, "'ana'")):
        policy.write_text(text, "utf-8")
        for command in (("check", "hospital.toml"), ("ask", "hospital.toml", COUNT.format(1), "--epsilon", "1")):
            found = error(run(*command, "--json"))
            assert whose in found["message"] and field in found["message"] and "10^-15" in found["message"]
    assert not Path("hospital.toml.ledger").exists()
    policy.write_text(POLICY, "utf-8")
    data(ask(run, 1, "0.1"))
    amounts = ["--epsilon", small] if field == "epsilon" else ["--epsilon", "1", "--delta", small]
    for command in (("analyst", "add", "hospital.toml", "bob"), ("budget", "set", "hospital.toml")):
        assert f"{field} of a budget must be" in error(run(*command, *amounts, "--json"))["message"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("[analysts.owner]\nepsilon = 1\n", "owner"),
        ('[analysts."a\\u0007"]\nepsilon = 1\n', "printable"),
        (f'[analysts."{"n" * 300}"]\nepsilon = 1\n', "200"),
        ("[analysts.zoe]\nepsilon = 1\ndelta = 1\n", "analyst 'zoe'"),
        ("[analysts.zoe]\nepsilon = 1\ndelta = 2\n", "analyst 'zoe'"),
    ],
)
def test_what_the_first_question_would_refuse_of_an_analyst_is_refused_by_check_and_leaves_no_ledger(
    run: Run, policy: Path, more: str, said: str
) -> None:
    policy.write_text(POLICY + more, "utf-8")
    for command in (("check", "hospital.toml"), ("ask", "hospital.toml", COUNT.format(1), "--epsilon", "1")):
        assert said in error(run(*command, "--json"))["message"]
    assert not Path("hospital.toml.ledger").exists()


@pytest.mark.parametrize("pair", [("age", "AGE"), ("Ward", "ward"), ("straße", "STRASSE")])
def test_a_column_that_is_declared_twice_in_other_case_is_refused(
    run: Run, policy: Path, pair: tuple[str, str]
) -> None:
    lines = "\n".join(f'"{name}" = {{ type = "integer" }}' for name in pair)
    head, _, tail = POLICY.partition("[tables.visits.columns]\n")
    policy.write_text(f"{head}[tables.visits.columns]\n{lines}\n[analysts.ana]\nepsilon = 1\n", "utf-8")
    found = error(run("check", "hospital.toml", "--json"))
    assert "twice" in found["message"] and tail
