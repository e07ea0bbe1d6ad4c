"""`discreet demo`: what a newcomer sees first, and that it leaves nothing behind."""

from pathlib import Path

import pytest

from discreet.cli import demo
from tests.cli.conftest import Run, data


@pytest.fixture(autouse=True)
def few_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "TRIALS", 20)


def test_it_tells_the_whole_story(run: Run, place: Path) -> None:
    result = run("demo")
    assert result.exit_code == 0, result.stderr
    said = result.stdout
    assert "20,000 patients" in said and "patient_id,age,sex,region,ward,cost,admitted" in said
    for title, text, _ in demo.QUESTIONS:
        assert title in said and text in said
    assert said.count("± is for the noise alone, at 95 %") == 3
    assert "same answer, free of charge" in said
    assert "differ by 1: she was there" in said
    assert "100 % of the time from exact answers" in said
    assert "than 73 %, which is e^ε/(1 + e^ε) for ε = 1" in said
    assert "1.5 left of 5, 3.5 spent" in said
    assert all(len(line) <= 100 for line in said.splitlines())
    assert list(place.iterdir()) == []  # no ledger and no mark outside of its own folder


def test_the_same_as_json(run: Run) -> None:
    found = data(run("demo", "--json"))
    assert found["hospital"]["patients"] == 20_000
    assert [answer["columns"] for answer in found["answers"]] == [["ward", "visits"], ["ward", "average"], ["percent"]]
    attack = found["attack"]
    assert attack["exact"][0] - attack["exact"][1] == 1
    assert (attack["success_on_exact"], attack["trials"]) == (1.0, 20)
    assert attack["bound"] == pytest.approx(0.7311, abs=1e-4)
    assert found["budget"]["spent"]["epsilon"] == 3.5 and found["budget"]["remaining"]["epsilon"] == 1.5
    for answer in found["answers"]:
        assert all(error for error in answer["error"])
