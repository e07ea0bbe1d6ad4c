"""`discreet ledger verify|export|accept`: for the owner, for anyone, and after a restore."""

import json
import shutil
import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.curator.ledger import MOST_FAILURES, MOST_OF_ONE
from discreet.curator.replay import replay
from discreet.curator.sqlite import SQLiteStore
from tests.cli.conftest import POLICY, Run, data, error, ledger_bytes
from tests.curator.cases import cap, granted, request

COUNT = "SELECT COUNT(*) AS n FROM visits"
YES = ["--reason", "the disk was replaced", "--yes"]
FIRST = ["--unit", "patient_id", "--epsilon", "1", "--max-rows", "5"]


def asked(run: Run, *numbers: int) -> None:
    for i in numbers:
        assert run("ask", "visits.csv", f"{COUNT} WHERE patient_id <> '{i}'", *FIRST).exit_code == 0


def folder_of(visits: Path) -> Path:
    return visits.with_name("visits.csv.ledger")


@pytest.mark.parametrize(("limits", "rows"), [(["--max-rows", "5"], 5), ([], 9)], ids=["declared", "found"])
def test_every_row_is_computed_again(run: Run, visits: Path, limits: list[str], rows: int) -> None:
    """A question is charged and settled; a limit that it found is kept in two more rows, which cost nothing and are no question."""
    for i in (1, 2):
        line = ("ask", "visits.csv", f"{COUNT} WHERE patient_id <> '{i}'", "--unit", "patient_id", "--epsilon", "1")
        assert run(*line, *limits).exit_code == 0
    found = data(run("ledger", "verify", "visits.csv", "--json"))
    assert (found["rows"], found["spent"]["epsilon"], found["failures"]) == (rows, 2.0, 0)
    said = run("ledger", "verify", "visits.csv").stdout
    assert said.startswith(f"{rows} rows") and "spent: ε = 2 of ε = 5, δ = 1e-06" in said
    assert data(run("budget", "visits.csv", "--json"))["questions"] == 2
    assert [line["what"].startswith("--") for line in data(run("history", "visits.csv", "--json"))] == [
        True,
        False,
        False,
    ]


def test_a_changed_row_is_found(run: Run, visits: Path) -> None:
    asked(run, 1)
    with closing(sqlite3.connect(folder_of(visits) / "ledger.sqlite")) as base:
        less = "CAST(replace(CAST(body AS TEXT), '[1000000000000000,', '[100000000000000,') AS BLOB)"
        base.execute(f"UPDATE rows SET body = {less} WHERE sequence = 2")
        base.commit()
    for words in (["ledger", "verify"], ["ledger", "export"], ["budget"], ["history"]):
        result = run(*words, "visits.csv", "--json")
        assert (result.exit_code, error(result)["code"]) == (1, "ledger-broken"), words


def test_an_export_is_verified_by_anyone(run: Run, visits: Path) -> None:
    asked(run, 1, 2)
    answer = data(run("ask", "visits.csv", f"{COUNT} WHERE patient_id <> '1'", *FIRST, "--json"))
    assert run("ledger", "export", "visits.csv", "--out", "export.json").exit_code == 0
    text = Path("export.json").read_text("utf-8")
    assert json.loads(text) == json.loads(run("ledger", "export", "visits.csv").stdout)
    assert str(answer["rows"][0]["n"]) not in [row["body"] for row in json.loads(text)["rows"]]
    shutil.rmtree(folder_of(visits))
    visits.unlink()
    found = data(run("ledger", "verify", "export.json", "--json"))
    assert (found["rows"], found["spent"]["epsilon"]) == (5, 2.0)
    assert replay(json.loads(text))[None].spent.exact[0] == 2
    refused = run("ledger", "export", "visits.csv", "--out", "export.json", "--json")
    assert refused.exit_code == 2


@pytest.mark.parametrize(
    ("text", "exit_code", "code"),
    [
        ("{", 2, "format"),
        ("[]", 2, "format"),
        ("{}", 1, "ledger-broken"),
        ('{"format": 99, "rows": [1]}', 3, "ledger-newer"),
        ('{"format": 1, "rows": [{"body": "{}", "hash": ""}]}', 1, "ledger-broken"),
        ("[" * 100_000, 2, "format"),
    ],
)
def test_what_is_no_export_is_refused(run: Run, place: Path, text: str, exit_code: int, code: str) -> None:
    Path("x.json").write_text(text, "utf-8")
    result = run("ledger", "verify", "x.json", "--json")
    assert (result.exit_code, error(result)["code"]) == (exit_code, code)


def test_an_export_that_was_changed_is_found(run: Run, visits: Path) -> None:
    asked(run, 1, 2)
    document = json.loads(run("ledger", "export", "visits.csv").stdout)
    for change in (lambda rows: rows.pop(), lambda rows: rows.pop(1), lambda rows: rows.reverse()):
        again = json.loads(json.dumps(document))
        change(again["rows"])
        Path("x.json").write_text(json.dumps(again), "utf-8")
        result = run("ledger", "verify", "x.json", "--json")
        whole = again["rows"] == document["rows"][:-1]  # a chain that ends earlier is sound; only the mark knows better
        assert result.exit_code == (0 if whole else 1)


def restored(run: Run, visits: Path) -> None:
    """A ledger of two questions, of which the folder was then brought back to the first."""
    asked(run, 1)
    shutil.copytree(folder_of(visits), "backup")
    asked(run, 2)
    shutil.rmtree(folder_of(visits))
    shutil.copytree("backup", folder_of(visits))


def test_a_restored_ledger_is_accepted_by_its_owner_only(run: Run, visits: Path) -> None:
    restored(run, visits)
    for words in (["budget"], ["history"], ["ledger", "verify"], ["ledger", "export"]):
        result = run(*words, "visits.csv", "--json")
        assert (result.exit_code, error(result)["code"]) == (3, "rollback")
    kept = ledger_bytes(visits)
    refused = run("ledger", "accept", "visits.csv", "--json")
    assert (refused.exit_code, error(refused)["code"]) == (3, "rollback") and "--yes" in refused.stderr
    assert {name: content for name, content in ledger_bytes(visits).items() if "sqlite-" not in name} == {
        name: content for name, content in kept.items() if "sqlite-" not in name
    }
    found = data(run("ledger", "accept", "visits.csv", *YES, "--json"))
    assert (found["spent"]["epsilon"], found["rows"]) == (1, 4)
    assert (
        "an older ledger was accepted; the mark was at row 5: the disk was replaced"
        in run("history", "visits.csv").stdout
    )
    asked(run, 3)
    assert data(run("ledger", "verify", "visits.csv", "--json"))["spent"]["epsilon"] == 2


def test_an_old_copy_is_noticed_by_who_has_another_home(
    run: Run, visits: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As cron, sudo and containers have."""
    restored(run, visits)
    monkeypatch.setenv("XDG_STATE_HOME", str(visits.parent / "elsewhere"))
    for words in (["budget"], ["history"], ["ledger", "verify"]):
        assert error(run(*words, "visits.csv", "--json"))["code"] == "rollback", words
    assert error(run("ask", "visits.csv", COUNT, *FIRST, "--json"))["code"] == "rollback"
    assert not Path("elsewhere").exists()


def test_a_ledger_whose_mark_is_nowhere_is_accepted_by_its_owner_only(run: Run, visits: Path) -> None:
    asked(run, 1)
    shutil.rmtree("state")
    for words in (["budget", "visits.csv"], ["ledger", "verify", "visits.csv"], ["ask", "visits.csv", COUNT, *FIRST]):
        refused = run(*words, "--json")
        assert (refused.exit_code, error(refused)["code"]) == (3, "mark-lost")
        assert "ledger accept" in error(refused)["hint"] and str(visits.parent / "state") in error(refused)["message"]
    asking = run("ledger", "accept", "visits.csv", "--json")
    assert (asking.exit_code, error(asking)["code"]) == (3, "rollback") and not Path("state").exists()
    found = data(run("ledger", "accept", "visits.csv", *YES, "--json"))
    assert (found["spent"]["epsilon"], found["rows"]) == (1, 4)
    assert "its mark was lost: the disk was replaced" in run("history", "visits.csv").stdout
    asked(run, 2)
    assert data(run("ledger", "verify", "visits.csv", "--json"))["spent"]["epsilon"] == 2


def test_a_lost_ledger_of_a_file_needs_to_know_who_is_protected(run: Run, visits: Path) -> None:
    asked(run, 1)
    shutil.rmtree(folder_of(visits))
    assert error(run("ask", "visits.csv", COUNT, *FIRST, "--json"))["code"] == "rollback"
    line = ["ledger", "accept", "visits.csv", *YES]
    assert error(run(*line, "--json"))["code"] == "unit"
    assert "all that was ever spent is forgotten" in run(*line[:3], "--unit", "patient_id").stderr
    assert not folder_of(visits).exists()
    found = data(run(*line, "--unit", "patient_id", "--budget", "2", "--json"))
    assert (found["cap"]["epsilon"], found["spent"]["epsilon"]) == (2, 0)
    assert run("ask", "visits.csv", COUNT, *FIRST).exit_code == 0
    assert run("ask", "visits.csv", f"{COUNT} WHERE sex = 'F'", "--epsilon", "1.5").exit_code == 3


def test_a_lost_ledger_of_a_policy_is_made_by_the_policy(run: Run, policy: Path) -> None:
    assert run("ask", "hospital.toml", COUNT, "--epsilon", "1").exit_code == 0
    shutil.rmtree("hospital.toml.ledger")
    assert error(run("ledger", "accept", "hospital.toml", *YES, "--row", "--json"))["code"] == "usage"
    assert "accepted, and a row says why" in run("ledger", "accept", "hospital.toml", *YES).stdout
    assert data(run("ask", "hospital.toml", COUNT, "--epsilon", "1", "--json"))["remaining"]["epsilon"] == 2


def test_there_must_be_something_to_accept(run: Run, visits: Path) -> None:
    assert error(run("ledger", "accept", "visits.csv", *YES, "--json"))["code"] == "ledger-missing"
    asked(run, 1)
    kept = data(run("ledger", "verify", "visits.csv", "--json"))
    result = run("ledger", "accept", "visits.csv", *YES, "--json")
    assert (result.exit_code, error(result)["code"]) == (2, "usage")
    assert data(run("ledger", "verify", "visits.csv", "--json")) == kept


def test_a_mark_may_lie_where_the_policy_says(run: Run, policy: Path) -> None:
    policy.write_text(POLICY + '[ledger]\npath = "kept"\nmark = "away/mark"\n', "utf-8")
    assert run("ask", "hospital.toml", COUNT, "--epsilon", "1").exit_code == 0
    assert Path("away/mark").is_file() and Path("kept/ledger.sqlite").is_file() and not Path("state").exists()
    shutil.rmtree("kept")
    assert error(run("budget", "hospital.toml", "--json"))["code"] == "rollback"
    assert run("ledger", "accept", "hospital.toml", *YES).exit_code == 0
    assert data(run("ledger", "verify", "hospital.toml", "--json"))["rows"] == 2


def test_the_owner_lets_a_data_set_and_an_analyst_go_on_after_failures(run: Run, visits: Path) -> None:
    asked(run, 1)
    with SQLiteStore.open(folder_of(visits), creation=None) as store:
        store.add_analyst("ana", cap(5))
        for i in range(MOST_FAILURES):
            analyst = "ana" if i < MOST_OF_ONE else None
            store.fail(granted(store.reserve(request(f"k{i}", Fraction(1, 100), analyst))))
    question = [f"{COUNT} WHERE patient_id <> '2'", *FIRST, "--json"]
    refused = run("ask", "visits.csv", *question)
    assert (refused.exit_code, error(refused)["code"]) == (3, "stopped") and "ledger resume" in error(refused)["hint"]
    for words, status in (([], 2), (["--reason", "why"], 3), (["--reason", "a\nb", "--yes"], 2)):
        assert run("ledger", "resume", "visits.csv", *words).exit_code == status, words
    done = run("ledger", "resume", "visits.csv", "--reason", "the disk was full", "--yes")
    assert done.exit_code == 0 and "the data set goes on" in done.stdout
    assert run("ask", "visits.csv", *question).exit_code == 0
    suspended = run("ask", "visits.csv", *question, "--as", "ana")
    assert (suspended.exit_code, error(suspended)["code"]) == (3, "suspended")
    named = data(run("ledger", "resume", "visits.csv", "--analyst", "ana", "--reason", "so be it", "--yes", "--json"))
    assert named == {"resumed": "ana", "reason": "so be it"}
    assert run("ask", "visits.csv", *question, "--as", "ana").exit_code == 0
    assert run("ledger", "resume", "visits.csv", "--reason", "again", "--yes").exit_code == 2
    said = run("history", "visits.csv").stdout
    assert "the data set goes on after failures: the disk was full" in said
    assert "analyst ana goes on after failures: so be it" in said
    assert run("ledger", "verify", "visits.csv").exit_code == 0


@pytest.mark.parametrize("words", [["budget"], ["history"], ["ledger", "verify"], ["ledger", "export"]])
def test_a_ledger_that_may_only_be_read_is_looked_at(
    run: Run, visits: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    asked(run, 1)
    expected = run(*words, "visits.csv", "--json").stdout
    monkeypatch.setattr("discreet.curator.looking._writable", lambda _: False)
    before = {path.name: path.read_bytes() for path in folder_of(visits).iterdir()}
    looked = run(*words, "visits.csv", "--json")
    assert (looked.exit_code, looked.stdout) == (0, expected), looked.stderr
    assert {path.name: path.read_bytes() for path in folder_of(visits).iterdir()} == before


def test_an_export_that_was_cut_off_ends_with_another_row(run: Run, visits: Path) -> None:
    asked(run, 1, 2)
    assert run("ledger", "export", "visits.csv", "--out", "export.json").exit_code == 0
    assert Path("export.json").stat().st_mode & 0o077 == 0
    whole = data(run("ledger", "verify", "export.json", "--json"))
    assert whole["last"] == data(run("ledger", "verify", "visits.csv", "--json"))["last"]
    document = json.loads(Path("export.json").read_text("utf-8"))
    Path("cut.json").write_text(json.dumps({**document, "rows": document["rows"][:-1]}), "utf-8")
    cut = data(run("ledger", "verify", "cut.json", "--json"))
    assert cut["last"] != whole["last"] and cut["last"] in run("ledger", "verify", "cut.json").stdout


def test_nothing_that_others_wrote_steers_a_terminal(run: Run, place: Path) -> None:
    Path("evil.csv").write_text("patient_id,a\x1b]0;title\x07b\x9b2J\n1,2\n", "utf-8")
    for words in (
        ["describe", "evil.csv", "--unit", "patient_id"],
        ["explain", "evil.csv", "SELECT COUNT(*) FROM evil WHERE nonesuch = 1", *FIRST],
        ["ask", "evil.csv", "SELECT COUNT(*) AS n FROM evil WHERE nonesuch = 1", *FIRST],
    ):
        result = run(*words)
        assert not {each for each in result.stdout + result.stderr if each in "\x1b\x07\x9b"}, words
