"""Above ε = 10 in all, or 5 for one question, every door says what an attacker may then know; below, none does."""

import json
from collections.abc import Callable, Iterable
from fractions import Fraction
from math import exp
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from discreet.cli import app
from discreet.curator.policy import Policy
from discreet.curator.session import Curator
from discreet.privacy.advice import note_on_epsilon
from discreet.privacy.theorems import posterior_bounds

COUNT = "SELECT COUNT(*) AS n FROM visits"
FRAME = {"who": ["1", "2"]}
SAID = "even odds of something about one person"
SMALL, LARGE = (Fraction(1), Fraction(10)), (Fraction(101, 10), Fraction(50))


def said(lines: Iterable[str]) -> bool:
    return any(SAID in line for line in lines)


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    Path("visits.csv").write_text("who\n1\n2\n", "utf-8")
    return tmp_path


def run(*words: str) -> Result:
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code == 0, result.stderr
    return result


def policy(epsilon: Fraction) -> Policy:
    return Policy.declare({"visits": Path("visits.csv")}, "who", epsilon=epsilon)


def checked(epsilon: Fraction) -> bool:
    policy(epsilon).save(Path("p.toml"))
    notes = json.loads(run("check", "p.toml", "--json").stdout)["notes"]
    assert said(notes) is said(policy(epsilon).check(Path("p.toml")).notes) is (SAID in run("check", "p.toml").stdout)
    return said(notes)


def begun(epsilon: Fraction) -> bool:
    words = ("init", "visits.csv", "--unit", "who", "--epsilon", str(float(epsilon)))
    notes = json.loads(run(*words, "--json", "--out", "a.toml").stdout)["notes"]
    assert said(notes) is (SAID in run(*words, "--out", "b.toml").stdout)
    return said(notes)


def held(epsilon: Fraction) -> bool:
    return said(Curator({"visits": FRAME}, "who", epsilon=epsilon, ledger=":memory:").notes)


def first_asked(epsilon: Fraction) -> bool:
    """Once: when its budget begins."""
    words = ("ask", "visits.csv", COUNT, "--unit", "who", "--epsilon", "0.1")
    first = SAID in run(*words, "--budget", str(float(epsilon))).stderr
    assert SAID not in run(*words).stderr
    return first


def changed(epsilon: Fraction) -> bool:
    run("ask", "visits.csv", COUNT, "--unit", "who", "--epsilon", "0.1")
    words = ("budget", "set", "visits.csv", "--epsilon", str(float(epsilon)), "--yes")
    by_command = SAID in run(*words).stdout
    with Curator({"visits": FRAME}, "who", epsilon=1000, ledger=Path("l")) as curator:
        curator.sql(COUNT, epsilon=0.1)
        assert said(curator.set_budget(epsilon).notes) is by_command
    return by_command


@pytest.mark.parametrize("door", [checked, begun, held, first_asked, changed])
@pytest.mark.parametrize("epsilon", [*SMALL, *LARGE], ids=str)
def test_a_large_total_is_told_at_every_door(door: Callable[[Fraction], bool], epsilon: Fraction) -> None:
    assert door(epsilon) is (epsilon > 10)


def a_dear_question_says_so() -> None:
    """Asked, asked again for nothing, previewed and explained."""
    for epsilon in (1, 5, Fraction(51, 10), 40):
        with Curator({"visits": FRAME}, "who", epsilon=100, ledger=":memory:") as curator:
            told = epsilon > 5
            assert said(curator.preview(COUNT, epsilon=epsilon).notes) is told
            assert (SAID in curator.explain(COUNT, epsilon=epsilon)) is told
            assert said(curator.sql(COUNT, epsilon=epsilon).notes) is told
            assert said(curator.sql(COUNT, epsilon=epsilon).notes) is told


def test_a_dear_question_says_so() -> None:
    a_dear_question_says_so()


def test_what_a_question_costs_by_its_error_is_told_too() -> None:
    with Curator({"visits": FRAME}, "who", epsilon=100, max_rows=5, ledger=":memory:") as curator:
        preview = curator.preview(COUNT, within=0.1)
        assert preview.epsilon > 5 and said(preview.notes)


@given(st.fractions(Fraction(1, 10), 19))
def test_the_odds_are_those_of_the_theorem(epsilon: Fraction) -> None:
    notes = note_on_epsilon(epsilon, in_all=False)
    assert bool(notes) is (epsilon > 5)
    for note in notes:
        odds = float(note.rpartition("about ")[2].removesuffix(" to 1").replace(",", ""))
        most = posterior_bounds(Fraction(1, 2), epsilon)[1]
        assert odds == pytest.approx(exp(epsilon), rel=0.05) and odds / (1 + odds) == pytest.approx(most, rel=0.01)


def test_above_what_can_be_told_apart_the_odds_are_a_bound() -> None:
    assert "more than 400,000,000 to 1" in note_on_epsilon(10**6, in_all=True)[0] and exp(20) > 4e8


def large_totals_are_told() -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", f"{folder}/state")
        assert held(Fraction(11)) and not held(Fraction(10))
