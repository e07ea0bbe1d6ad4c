"""Parts of the people on the command line: asked about, paid for there, shown, and changed by the owner."""

from pathlib import Path

import pytest

from tests.cli.conftest import POLICY, Run, data, error
from tests.cli.test_shell import typed

PARTS = """
[parts]
table = "visits"
column = "ward"
[parts.budgets]
Surgery = { epsilon = 1 }
Burns = { epsilon = 0.5 }
"""
COUNT = "SELECT COUNT(*) AS n FROM visits"


@pytest.fixture
def parted(visits: Path) -> Path:
    path = visits.with_name("parts.toml")
    path.write_text(POLICY + PARTS)
    return path


def test_a_question_about_a_part_pays_there_and_all_commands_say_so(run: Run, parted: Path) -> None:
    surgery = run("ask", "parts.toml", f"{COUNT} WHERE ward = 'Surgery'", "--epsilon", "0.5")
    assert surgery.exit_code == 0 and "the part visits.ward = 'Surgery' alone" in surgery.stdout
    assert run("ask", "parts.toml", COUNT, "--part", "Burns", "--epsilon", "0.25").exit_code == 0
    budget = data(run("budget", "parts.toml", "--json"))
    assert budget["spent"]["epsilon"] == 0.5
    assert {name: each["spent"]["epsilon"] for name, each in budget["parts"].items()} == {"Burns": 0.25, "Surgery": 0.5}
    assert "budget of the part Burns" in run("budget", "parts.toml").stdout
    lines = data(run("history", "parts.toml", "--json"))
    assert [line.get("part") for line in lines][-2:] == ["Surgery", "Burns"]
    assert "[part Burns] SELECT" in run("history", "parts.toml").stdout
    assert "part Burns: ε = 0.5" in run("check", "parts.toml").stdout
    assert data(run("check", "parts.toml", "--json"))["parts"]["budgets"]["Burns"]["epsilon"] == 0.5
    assert "parts of the people, by ward of visits: Surgery, Burns" in run("describe", "parts.toml").stdout
    explained = run("explain", "parts.toml", COUNT, "--part", "Burns").stdout
    assert "all of whose rows in visits have ward = 'Burns'" in explained
    preview = run("ask", "parts.toml", COUNT, "--part", "Burns", "--epsilon", "0.1", "--preview")
    assert "the part visits.ward = 'Burns' alone" in preview.stdout
    assert run("ledger", "verify", "parts.toml").exit_code == 0


def test_a_budget_of_a_part_is_changed_by_the_owner(run: Run, parted: Path) -> None:
    assert run("ask", "parts.toml", COUNT, "--part", "Burns", "--epsilon", "0.25").exit_code == 0
    found = data(run("budget", "set", "parts.toml", "--part", "Burns", "--epsilon", "0.3", "--json"))
    assert found["parts"]["Burns"]["cap"]["epsilon"] == 0.3
    refused = run("budget", "set", "parts.toml", "--part", "Burns", "--epsilon", "0.4")
    assert refused.exit_code == 3
    again = run("budget", "set", "parts.toml", "--part", "Burns", "--epsilon", "0.4", "--yes", "--json")
    assert data(again)["parts"]["Burns"]["cap"]["epsilon"] == 0.4
    assert error(run("ask", "parts.toml", COUNT + " WHERE age > 1", "--part", "Burns", "--epsilon", "0.2", "--json"))[
        "code"
    ] == ("part-budget")
    assert run("budget", "parts.toml", "--part", "Burns").exit_code == 2
    assert error(run("ask", "parts.toml", COUNT, "--part", "Ward", "--epsilon", "0.2", "--json"))["code"] == "part"


def test_a_shell_asks_about_the_part_that_was_said_until_another_is(run: Run, parted: Path) -> None:
    lines = ("\\epsilon 0.25", "\\part Burns", f"{COUNT};", "\\part Surgery", f"{COUNT};", "\\part", f"{COUNT};")
    result = typed("\n".join(lines), "parts.toml", "--json")
    assert result.exit_code == 0, result.stderr
    assert [line.get("part") for line in data(run("history", "parts.toml", "--json"))][-3:] == [
        "Burns",
        "Surgery",
        None,
    ]
    assert data(run("budget", "parts.toml", "--json"))["spent"]["epsilon"] == 0.5
    wrong = typed(f"\\epsilon 0.1\n\\part burns\n{COUNT};", "parts.toml")
    assert wrong.exit_code == 2 and "'Burns'" in wrong.stderr
    parted.write_text(POLICY)
    assert "nobody declared parts" in typed("\\part Burns", "parts.toml").stderr
