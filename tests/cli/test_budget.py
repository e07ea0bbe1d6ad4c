"""`discreet budget`: what was spent, what is left, by whom; and the owner's change of it."""

from pathlib import Path

import pytest

from discreet.cli.budget import picture
from tests.cli.conftest import Run, data, error, ledger_bytes

COUNT = "SELECT COUNT(*) AS n FROM visits"


def asked(run: Run, *prices: str) -> None:
    for i, price in enumerate(prices):
        words = ["ask", "visits.csv", f"{COUNT} WHERE patient_id <> '{i}'", "--unit", "patient_id", "--epsilon", price]
        assert run(*words).exit_code == 0


def test_it_is_the_sum_of_what_was_asked(run: Run, visits: Path) -> None:
    asked(run, "0.1", "0.1", "0.1")
    found = data(run("budget", "visits.csv", "--json"))
    assert found == {
        "spent": {"epsilon": 0.3, "delta": 0.0},
        "cap": {"epsilon": 5.0, "delta": 1e-6},
        "remaining": {"epsilon": 4.7, "delta": 1e-6},
        "questions": 3,
        "failures": 0,
        "analysts": {},
        "shares": "common",
        "free": {"epsilon": 4.7, "delta": 1e-6},
        "ledger": "visits.csv.ledger",
        "notes": [],
    }
    said = run("budget", "visits.csv").stdout
    assert "4.7 left of 5, 0.3 spent" in said and "3 questions charged" in said


def test_before_the_first_question_nothing_is_spent(run: Run, visits: Path) -> None:
    found = data(run("budget", "visits.csv", "--json"))
    assert (found["spent"]["epsilon"], found["remaining"]["epsilon"], found["ledger"]) == (0, 5, None)
    assert "nothing was asked yet" in run("budget", "visits.csv").stdout


def test_each_analyst_has_a_bar(run: Run, policy: Path) -> None:
    assert run("ask", "hospital.toml", COUNT, "--epsilon", "0.5", "--as", "ana").exit_code == 0
    assert run("ask", "hospital.toml", f"{COUNT} WHERE age > 1", "--epsilon", "0.25").exit_code == 0
    found = data(run("budget", "hospital.toml", "--json"))
    assert (found["spent"]["epsilon"], found["questions"]) == (0.75, 2)
    assert found["analysts"]["ana"]["remaining"]["epsilon"] == 0.5
    said = run("budget", "hospital.toml").stdout
    assert "budget of ana" in said and "0.5 left of 1, 0.5 spent" in said
    alone = data(run("budget", "hospital.toml", "--as", "ana", "--json"))
    assert (alone["spent"]["epsilon"], alone["questions"], alone["analysts"]) == (0.5, 1, {})


def test_the_picture_is_full_of_what_is_left() -> None:
    def bar(left: float, cap: float) -> int:
        amounts = {"spent": {"epsilon": cap - left}, "cap": {"epsilon": cap}, "remaining": {"epsilon": left}}
        line = picture("x", amounts)[1]
        assert line.count("█") + line.count("░") == 40
        return line.count("█")

    assert [bar(left, 1) for left in (1, 0.5, 0.001, 0)] == [40, 20, 1, 0]


def test_only_the_owner_raises_the_total(run: Run, visits: Path) -> None:
    asked(run, "1")
    kept = ledger_bytes(visits)
    refused = run("budget", "set", "visits.csv", "--epsilon", "20", "--json")
    assert (refused.exit_code, error(refused)["code"]) == (3, "cap-higher")
    assert "--yes" in refused.stderr and ledger_bytes(visits) == kept
    assert data(run("budget", "set", "visits.csv", "--epsilon", "20", "--yes", "--json"))["cap"]["epsilon"] == 20
    assert data(run("budget", "set", "visits.csv", "--epsilon", "2", "--delta", "0", "--json"))["cap"] == {
        "epsilon": 2,
        "delta": 0,
    }
    found = data(run("ask", "visits.csv", COUNT, "--epsilon", "1", "--json"))  # the ledger's own cap is used
    assert found["remaining"] == {"epsilon": 0, "delta": 0}


def test_a_policy_says_its_total_itself(run: Run, policy: Path) -> None:
    assert run("ask", "hospital.toml", COUNT, "--epsilon", "1").exit_code == 0
    refused = run("budget", "set", "hospital.toml", "--epsilon", "5", "--yes", "--json")
    assert refused.exit_code == 3 and "policy" in error(refused)["message"]
    policy.write_text(policy.read_text().replace("epsilon = 3", "epsilon = 5"))
    assert data(run("budget", "hospital.toml", "--json"))["cap"]["epsilon"] == 3  # a higher one takes the explicit act
    assert data(run("budget", "set", "hospital.toml", "--epsilon", "5", "--yes", "--json"))["cap"]["epsilon"] == 5
    policy.write_text(policy.read_text().replace("epsilon = 5", "epsilon = 2"))
    found = data(run("ask", "hospital.toml", COUNT, "--epsilon", "1", "--json"))
    assert found["remaining"]["epsilon"] == 1  # a lower one takes effect at once, and the repeat is free


@pytest.mark.parametrize(
    ("words", "exit_code", "code"),
    [
        (["none.csv"], 2, "no-file"),
        (["."], 2, "no-file"),
        ([], 2, "no-file"),
        (["visits.csv", "other.csv"], 2, "usage"),
        (["visits.csv", "--epsilon", "5"], 2, "usage"),
        (["visits.csv", "--yes"], 2, "usage"),
        (["set", "visits.csv"], 2, "usage"),
        (["set", "visits.csv", "--epsilon", "5"], 3, "ledger-missing"),
        (["set", "visits.csv", "--epsilon", "five"], 2, "invalid"),
        (["visits.csv", "--as", "ana"], 3, "analyst-unknown"),
    ],
)
def test_a_mistake_is_named(run: Run, visits: Path, words: list[str], exit_code: int, code: str) -> None:
    result = run("budget", *words, "--json")
    assert (result.exit_code, error(result)["code"]) == (exit_code, code)
    assert not visits.with_name("visits.csv.ledger").exists()


def test_a_ledger_that_went_back_in_time_is_refused(run: Run, visits: Path) -> None:
    asked(run, "1")
    old = ledger_bytes(visits)
    asked(run, "1", "1")
    for name, content in old.items():
        if ".ledger" in name:
            Path(name).write_bytes(content)
    for words in (["budget", "visits.csv"], ["ask", "visits.csv", COUNT, "--epsilon", "1"]):
        result = run(*words, "--json")
        assert (result.exit_code, error(result)["code"]) == (3, "rollback")
