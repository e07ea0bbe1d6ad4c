"""`discreet attack`: it plays what the library plays, tells it as it is, and says what is wrong with a command line."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from discreet.attacks import AttackReport, Outcome, Publication, Score, names
from discreet.cli.out import writable_picture
from tests.cli.conftest import Run, data, error

NAMES = sorted(names())


def test_without_a_name_the_attacks_are_listed(run: Run) -> None:
    result = run("attack")
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.stdout.splitlines()[: len(NAMES)]] == list(names())
    assert data(run("attack", "--json")) == {
        "attacks": [{"name": name, "shows": shows} for name, shows in names().items()]
    }


def test_help_names_every_attack(run: Run) -> None:
    said = run("attack", "--help").stdout
    assert all(name in said for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_success_stands_beside_what_is_permitted(run: Run, name: str) -> None:
    result = run("attack", name, "--epsilon", "1/2", "--trials", "20")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith(f"{name}: ") and "20 trials each" in result.stdout
    assert "█" in result.stdout and "│" in result.stdout
    assert "permitted" in result.stdout and "ε = 0.5" in result.stdout
    assert all(len(line) <= 110 for line in result.stdout.splitlines())


@pytest.mark.parametrize("name", NAMES)
def test_the_same_as_json_and_as_a_picture(run: Run, place: Path, name: str) -> None:
    report = data(
        run("attack", name, "--epsilon", "0.1", "--epsilon", "2", "--trials", "20", "--json", "--out", "a.svg")
    )
    assert report["attack"] == name
    assert len([score for score in report["scores"] if score["ours"]]) >= 2
    for score in report["scores"]:
        assert score["trials"] == 20 and score["success"] == score["right"] / 20
        low, high = score["interval"]
        assert low <= score["success"] <= high
        assert (score["epsilon"] is None) <= (score["permitted"] == 1 and not score["ours"])
    words = "".join(ElementTree.parse(place / "a.svg").getroot().itertext())
    assert all(score["name"] in words for score in report["scores"])


def test_what_is_above_its_promise_ends_with_an_exit_code(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build whose noise is broken is told by the command, in words and by its exit code; somebody else's noise is only told."""
    scores = {
        ours: Score("ε = 0.1", Outcome(400, 400), 0.5, 0.525, 0.1, ours=ours)  # what no sound release lets anybody do
        for ours in (True, False)
    }
    for ours, code in ((True, 1), (False, 0)):
        report = AttackReport("patient", "has the patient disease d?", (scores[ours],))
        monkeypatch.setattr("discreet.attacks.patient.run", lambda report=report, **_: report)
        result = run("attack", "patient")
        assert result.exit_code == code and "above what is promised" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["patent"], "did you mean 'patient'"),
        (["nothing"], "there are averaging, changes, differencing"),
        (["--epsilon", "1"], "no attack is named"),
        (["--trials", "5"], "no attack is named"),
        (["--out", "a.svg"], "no attack is named"),
        (["patient", "--epsilon", "0"], "epsilon must be positive"),
        (["patient", "--epsilon", "-1"], "epsilon must be positive"),
        (["patient", "--epsilon", "one"], "epsilon must be a finite number"),
        (["patient", "--epsilon", "nan"], "epsilon must be a finite number"),
        (["patient", "--epsilon", "1e-9"], "epsilon must be from 0.001 to 1000"),
        (["patient", "--epsilon", "1", "--epsilon", "1e9"], "epsilon must be from 0.001 to 1000"),
        (["patient", "--trials", "0"], "trials must be"),
        (["patient", "--trials", "-5"], "trials must be"),
        (["patient", "--trials", "1e3"], "--trials"),
        (["patient", "--trials", "100000000"], "trials must be at most"),
        (["patient", "--out", "a.png"], "must end in .svg"),
        (["patient", "--out", "nowhere/a.svg"], "cannot be written"),
        (["patient", "--out", "folder.svg"], "cannot be written"),
        (["patient", "more"], "more"),
        (["patient", "--epsilom", "1"], "--epsilom"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_command_line_is_told_in_one_line(run: Run, place: Path, arguments: list[str], said: str) -> None:
    (place / "folder.svg").mkdir()
    result = run("attack", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr and result.stderr.count("\n") == 1
    assert said.rstrip("'") in " ".join(map(str, error(run("attack", "--json", *arguments)).values()))
    assert sorted(each.name for each in place.iterdir()) == ["folder.svg"]


def test_nothing_is_played_where_the_picture_cannot_be_written(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.attacks.run", lambda *_: pytest.fail("it was played"))
    assert run("attack", "patient", "--out", "nowhere/a.svg").exit_code == 2
    assert writable_picture("a.SVG") == Path("a.SVG")


def test_a_release_without_a_promise_permits_everything() -> None:
    assert Publication("exact", abs).permitted() == 1.0
