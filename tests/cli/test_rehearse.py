"""`discreet rehearse`: for the owner at a terminal, or who says yes; for nobody else, and without a trace."""

import json
import sys
from pathlib import Path

import pytest

from discreet.cli.rehearse import check_alone
from discreet.curator.rehearsal.text import MARK
from discreet.errors import Refused
from tests.cli.conftest import Run, data, error

COUNT = "SELECT COUNT(*) AS n FROM visits"
DECLARED = ("--unit", "patient_id", "--bounds", "cost=0:10000", "--keys", "ward=Surgery,Burns", "--max-rows", "4")


def everything(folder: Path) -> dict[str, bytes | None]:
    return {str(each): each.read_bytes() if each.is_file() else None for each in sorted(folder.rglob("*"))}


@pytest.mark.parametrize("as_json", [False, True])
def test_where_stdout_is_no_terminal_it_is_refused_without_a_yes(run: Run, policy: Path, as_json: bool) -> None:
    result = run("rehearse", "hospital.toml", *(["--json"] if as_json else []))
    assert result.exit_code == 3 and result.stdout == ""
    assert "not a terminal" in result.stderr and "--yes" in result.stderr
    if as_json:
        assert error(result)["code"] == "not-a-terminal"


def test_a_named_analyst_is_refused_whatever_they_say(run: Run, policy: Path) -> None:
    for words in ([], ["--yes"]):
        result = run("rehearse", "hospital.toml", "--as", "ana", *words, "--json")
        assert (result.exit_code, error(result)["code"]) == (3, "owner-alone")


def test_who_may_look() -> None:
    check_alone(None, yes=True, terminal=False)
    check_alone(None, yes=False, terminal=True)
    refused = [(None, False, False), ("ana", True, True), ("ana", True, False), ("ana", False, True), ("", True, True)]
    for analyst, yes, terminal in refused:
        with pytest.raises(Refused):
            check_alone(analyst, yes, terminal)


def test_every_line_says_that_it_must_not_be_published(run: Run, policy: Path) -> None:
    result = run("rehearse", "hospital.toml", "--yes")
    lines = result.stdout.splitlines()
    assert result.exit_code == 0 and len(lines) > 30
    assert all(line.startswith(MARK) for line in lines)
    assert "given the declarations" in lines[-1] and "round numbers that you would have guessed are better" in lines[-1]


def test_json_says_first_that_it_is_not_private(run: Run, policy: Path) -> None:
    found = data(run("rehearse", "hospital.toml", "--yes", "--json"))
    (first, private), (_, notice), *_ = found.items()
    assert (first, private) == ("private", False) and "must not be published" in notice
    (table,) = found["tables"]
    with Path("visits.csv").open(encoding="utf-8") as file:
        rows = len(file.readlines()) - 1
    assert table["rows"] == rows and table["questions"][0]["rows"][0]["exact"] == rows


def test_a_data_file_is_rehearsed_with_flags_and_nothing_is_written(run: Run, visits: Path) -> None:
    before = everything(visits.parent)
    found = data(run("rehearse", "visits.csv", *DECLARED, "--epsilon", "0.1", "--yes", "--json"))
    assert found["epsilon"] == 0.1 and found["tables"][0]["people"][0]["max_rows"] == 4
    assert everything(visits.parent) == before


def test_no_byte_of_a_ledger_changes_and_nothing_is_spent(run: Run, policy: Path) -> None:
    for source in ("hospital.toml", "visits.csv"):
        more = () if source.endswith(".toml") else ("--unit", "patient_id", "--ledger", "other.ledger")
        assert run("ask", source, COUNT, "--epsilon", "0.5", *more).exit_code == 0
    before = everything(policy.parent)
    assert run("rehearse", "hospital.toml", "--yes").exit_code == 0
    assert run("rehearse", "visits.csv", "--ledger", "other.ledger", "--yes").exit_code == 0
    assert everything(policy.parent) == before
    assert data(run("budget", "hospital.toml", "--json"))["spent"]["epsilon"] == 0.5


def test_a_policy_is_rehearsed_as_it_is(run: Run, policy: Path) -> None:
    refused = error(run("rehearse", "hospital.toml", "--bounds", "cost=0:1", "--yes", "--json"))
    assert refused["code"] == "usage" and "the policy 'hospital.toml' says it" in refused["message"]


def test_limits_are_tried_beside_a_policy(run: Run, policy: Path) -> None:
    found = data(run("rehearse", "hospital.toml", "--max-rows", "7", "--max-groups", "2", "--yes", "--json"))
    by_column = [(each["max_rows"], each["max_groups"]) for each in found["tables"][0]["people"] if each["by"]]
    assert by_column and {*by_column} == {(7, 2)}


def test_a_shell_has_no_rehearsal(run: Run, policy: Path) -> None:
    """Whoever is let ask, by words that reach `Curator.sql`, is shown nothing exact."""
    for words in ("REHEARSE visits", "rehearse", "EXPLAIN ANALYZE SELECT COUNT(*) FROM visits"):
        assert run("ask", "hospital.toml", words, "--epsilon", "0.1").exit_code == 2


def test_a_terminal_needs_no_yes(run: Run, policy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.cli.rehearse.sys", Terminal())
    result = run("rehearse", "hospital.toml", "--json")
    assert result.exit_code == 0 and json.loads(result.stdout)["private"] is False


class Terminal:
    """`sys` whose stdout is a terminal."""

    class stdout:
        @staticmethod
        def isatty() -> bool:
            return True

    stderr = sys.stderr
