"""What an owner does: analysts, versions of the data, the history, how budgets went down, and how much noise a target needs."""

import io
import json
import re
import sys
import time
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.cli import waiting as waiting_module
from discreet.cli.history import printable
from discreet.curator.rows import Row
from discreet.curator.session import Curator
from discreet.curator.sqlite import SQLiteStore
from discreet.curator.store import Store
from discreet.curator.versions import following_version as following
from discreet.privacy import calibrate
from discreet.privacy.calibrate import Certificate
from discreet.privacy.events import Laplace, from_json
from tests.cli.conftest import POLICY, Run, data, error, ledger_bytes

COUNT = "SELECT COUNT(*) AS n FROM visits"
FIRST = ["--unit", "patient_id"]


def asked(run: Run, source: str, text: str, *more: str) -> int:
    return run("ask", source, text, *more).exit_code


def rows_of(source: Path) -> list[Row]:
    with SQLiteStore.open(source.with_name(source.name + ".ledger"), creation=None) as opened:
        return list(opened.history())


# Analysts.


def test_an_analyst_is_added_charged_and_removed(run: Run, visits: Path) -> None:
    assert asked(run, "visits.csv", COUNT, *FIRST, "--epsilon", "1") == 0
    assert asked(run, "visits.csv", COUNT, "--epsilon", "1", "--as", "bo") == 3
    made = data(run("analyst", "add", "visits.csv", "bo", "--epsilon", "0.5", "--json"))
    assert (made["analyst"], made["active"], made["remaining"]) == ("bo", True, {"epsilon": 0.5, "delta": 0.0})
    hidden = run("ask", "visits.csv", f"{COUNT} WHERE sex = 'F'", "--epsilon", "0.4", "--as", "bo", "--json")
    assert (hidden.exit_code, error(hidden)["code"]) == (
        2,
        "unknown-column",
    )  # what nobody declared is not there for bo
    sex = ["--types", "sex=text", "--epsilon", "0.4", "--as", "bo"]
    assert asked(run, "visits.csv", f"{COUNT} WHERE sex = 'F'", *sex) == 0
    refused = run("ask", "visits.csv", f"{COUNT} WHERE sex = 'M'", *sex, "--json")
    assert (refused.exit_code, error(refused)["code"]) == (3, "analyst-budget")
    gone = data(run("analyst", "remove", "visits.csv", "bo", "--json"))
    assert (gone["active"], gone["spent"]["epsilon"]) == (False, 0.4)
    refused = run("ask", "visits.csv", f"{COUNT} WHERE sex = 'F'", *sex, "--json")
    assert (refused.exit_code, error(refused)["code"]) == (3, "analyst-unknown")


def test_who_comes_back_has_spent_what_was_spent(run: Run, policy: Path) -> None:
    assert asked(run, "hospital.toml", COUNT, "--epsilon", "0.5", "--as", "ana") == 0
    assert run("analyst", "remove", "hospital.toml", "ana").exit_code == 0
    assert asked(run, "hospital.toml", COUNT, "--epsilon", "0.5", "--as", "ana") == 3  # though the policy names her
    refused = run("analyst", "add", "hospital.toml", "ana", "--epsilon", "2", "--json")
    assert (refused.exit_code, error(refused)["code"]) == (3, "cap-higher") and "--yes" in refused.stderr
    back = data(run("analyst", "add", "hospital.toml", "ana", "--epsilon", "2", "--yes", "--json"))
    assert (back["spent"]["epsilon"], back["remaining"]["epsilon"]) == (0.5, 1.5)


def test_a_policy_without_a_ledger_gets_one(run: Run, policy: Path) -> None:
    said = run("analyst", "add", "hospital.toml", "bo", "--epsilon", "1").stdout
    assert "bo may ask" in said and "1 left of 1, 0 spent" in said
    assert set(data(run("budget", "hospital.toml", "--json"))["analysts"]) == {"ana", "bo"}


def test_the_cap_of_an_analyst_is_set(run: Run, policy: Path) -> None:
    assert run("analyst", "add", "hospital.toml", "bo", "--epsilon", "1").exit_code == 0
    line = ["budget", "set", "hospital.toml", "--analyst", "bo", "--epsilon", "2", "--json"]
    assert error(run(*line))["code"] == "cap-higher"
    assert data(run(*line, "--yes"))["cap"]["epsilon"] == 2
    assert asked(run, "hospital.toml", COUNT, "--epsilon", "1.5", "--as", "bo") == 0
    declared = run("budget", "set", "hospital.toml", "--analyst", "ana", "--epsilon", "2", "--yes", "--json")
    assert (declared.exit_code, error(declared)["code"]) == (3, "cap-higher")  # the policy would lower it again
    unknown = run("budget", "set", "hospital.toml", "--analyst", "cy", "--epsilon", "1", "--json")
    assert (unknown.exit_code, error(unknown)["code"]) == (3, "analyst-unknown")


@pytest.mark.parametrize(
    ("words", "exit_code", "code"),
    [
        (["add", "hospital.toml", "bo"], 2, "usage"),
        (["add", "hospital.toml"], 2, "usage"),
        (["add", "hospital.toml", "bo", "cy", "--epsilon", "1"], 2, "usage"),
        (["add", "hospital.toml", "ana", "--epsilon", "1"], 2, "invalid"),
        (["add", "hospital.toml", "bo", "--epsilon", "nan"], 2, "invalid"),
        (["add", "hospital.toml", "bo", "--epsilon", "-1"], 2, "invalid"),
        (["add", "hospital.toml", "bo", "--epsilon", "1", "--delta", "1"], 2, "invalid"),
        (["add", "hospital.toml", "b\to", "--epsilon", "1"], 2, "invalid"),
        (["add", "visits.csv", "bo", "--epsilon", "1"], 2, "unit"),
        (["add", "bo", "--epsilon", "1"], 2, "no-file"),
        (["remove", "hospital.toml", "bo"], 3, "analyst-unknown"),
        (["rename", "hospital.toml", "bo"], 2, "usage"),
        ([], 2, "usage"),
    ],
)
def test_a_mistake_about_an_analyst_is_named(
    run: Run, policy: Path, words: list[str], exit_code: int, code: str
) -> None:
    result = run("analyst", *words, "--json")
    assert (result.exit_code, error(result)["code"]) == (exit_code, code)


def test_a_refusal_tells_an_analyst_nothing_of_others(run: Run, policy: Path) -> None:
    said = []
    for price in ("2.2", "2.9"):
        Path("others.toml").write_text(POLICY + f'[ledger]\npath = "after-{price}.ledger"\n', "utf-8")
        assert asked(run, "others.toml", COUNT, "--epsilon", price) == 0
        said.append(
            run("ask", "others.toml", f"{COUNT} WHERE age > 3", "--epsilon", "0.9", "--as", "ana", "--json").stderr
        )
        assert json.loads(said[-1])["error"]["code"] == "budget"
    assert said[0] == said[1]


def test_clocks_decide_nothing(run: Run, visits: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([2 * 10**9, 0, 10**10, *[5] * 50])
    monkeypatch.setattr(Store, "_now", lambda _: next(times))
    for i in range(3):
        assert asked(run, "visits.csv", f"{COUNT} WHERE patient_id <> '{i}'", *FIRST, "--epsilon", "0.1") == 0
    assert data(run("ledger", "verify", "visits.csv", "--json"))["spent"]["epsilon"] == 0.3
    assert [line["total"]["epsilon"] for line in data(run("history", "visits.csv", "--json"))] == [0, 0.1, 0.2, 0.3]


# The history.


def test_the_history_tells_charges_and_acts_and_no_answer(run: Run, policy: Path) -> None:
    answers = []
    for price, who in (("0.5", []), ("0.25", ["--as", "ana"])):
        found = data(run("ask", "hospital.toml", COUNT, "--epsilon", price, *who, "--json"))
        answers.append(str(found["rows"][0]["n"]))
    assert run("analyst", "remove", "hospital.toml", "ana").exit_code == 0
    result = run("history", "hospital.toml", "--json")
    lines = data(result)
    assert [line["what"] for line in lines] == [
        "-- ledger made: epsilon 3, delta 0.000001; protects add-remove one person by patient_id",
        "-- analyst ana added, with epsilon 1",
        COUNT,
        COUNT,
        "-- analyst ana removed",
    ]
    assert [line["who"] for line in lines] == [None, None, None, "ana", None]
    assert [line["price"] and line["price"]["epsilon"] for line in lines] == [None, None, 0.5, 0.25, None]
    assert [line["total"]["epsilon"] for line in lines] == [0, 0, 0.5, 0.75, 0.75]
    assert [line["state"] for line in lines] == [None, None, "answered", "answered", None]
    said = run("history", "hospital.toml").stdout
    assert "ε = 0.25" in said and "ε = 0.75" in said and "owner" in said
    assert all(line["at"].endswith("Z") for line in lines)
    kept = [*result.stdout.split('"'), *said.split()]
    assert not [answer for answer in answers if len(answer) > 2 and answer in kept]


def test_the_history_of_one_analyst_has_their_own_total(run: Run, policy: Path) -> None:
    assert asked(run, "hospital.toml", COUNT, "--epsilon", "0.5") == 0
    assert asked(run, "hospital.toml", COUNT, "--epsilon", "0.25", "--as", "ana") == 0
    lines = data(run("history", "hospital.toml", "--as", "ana", "--json"))
    assert [line["total"]["epsilon"] for line in lines] == [0, 0.25]
    assert error(run("history", "hospital.toml", "--as", "bo", "--json"))["code"] == "analyst-unknown"


def test_the_last_lines_are_shown(run: Run, visits: Path) -> None:
    for i in range(4):
        assert asked(run, "visits.csv", f"{COUNT} WHERE patient_id <> '{i}'", *FIRST, "--epsilon", "0.1") == 0
    said = run("history", "visits.csv", "--limit", "2").stdout.splitlines()
    assert len(said) == 4 and said[-1] == "3 earlier ones; --limit 0 shows all" and "<> '3'" in said[-2]
    assert len(data(run("history", "visits.csv", "--limit", "0", "--json"))) == 5
    assert error(run("history", "visits.csv", "--limit", "-1", "--json"))["code"] == "usage"


def test_a_history_needs_a_ledger_and_makes_none(run: Run, visits: Path) -> None:
    result = run("history", "visits.csv", "--json")
    assert (result.exit_code, error(result)["code"]) == (3, "ledger-missing") and ledger_bytes(visits) == {}


def test_a_label_steers_no_terminal(run: Run, visits: Path) -> None:
    label = "count\x1b[2J\x9b31m\u202e\x07\nit"
    with Curator({"visits": visits}, "patient_id", epsilon=10) as curator, curator.measure(Laplace(1), label=label):
        pass
    for more in ([], ["--json"]):
        said = run("history", "visits.csv", *more).stdout
        assert "count" in said and not [each for each in said if not each.isprintable() and each != "\n"]
    assert printable("a\u202eb\x00") == "a b"


# Versions of the data.


def test_a_data_file_changes_in_its_ledger(run: Run, visits: Path) -> None:
    line = ["ask", "visits.csv", COUNT, *FIRST, "--epsilon", "1", "--json"]
    first = data(run(*line))
    assert data(run("data", "changed", "visits.csv", "--json")) == {
        "version": "2",
        "previous": "1",
        "done": True,
        "line": None,
    }
    again = data(run(*line))
    assert (first["remaining"]["epsilon"], again["remaining"]["epsilon"]) == (
        4,
        3,
    )  # a new answer, and the budget goes on
    assert again["receipt"]["data_version"] == "2"
    assert "version 2024-10 now" in run("data", "changed", "visits.csv", "--version", "2024-10").stdout
    refused = run("data", "changed", "visits.csv", "--version", "2", "--json")
    assert (refused.exit_code, error(refused)["code"]) == (3, "data-version")


def test_a_policy_is_changed_by_its_owner(run: Run, policy: Path) -> None:
    assert asked(run, "hospital.toml", COUNT, "--epsilon", "1") == 0
    before = policy.read_bytes()
    assert '  version = "2"\n' in run("data", "changed", "hospital.toml").stdout
    assert data(run("data", "changed", "hospital.toml", "--json"))["done"] is False
    assert policy.read_bytes() == before
    policy.write_text('version = "2"\n' + POLICY, "utf-8")
    assert data(run("ask", "hospital.toml", COUNT, "--epsilon", "1", "--json"))["remaining"]["epsilon"] == 1
    assert data(run("data", "changed", "hospital.toml", "--json"))["version"] == "3"


def test_asking_for_the_line_changes_nothing(run: Run, policy: Path) -> None:
    assert data(run("data", "changed", "hospital.toml", "--json"))["version"] == "2"
    assert ledger_bytes(policy) == {}
    assert asked(run, "hospital.toml", COUNT, "--epsilon", "1") == 0
    kept = ledger_bytes(policy)
    policy.write_text('version = "2"\n' + POLICY, "utf-8")
    assert data(run("data", "changed", "hospital.toml", "--json"))["version"] == "3"
    assert {each.act.kind for each in rows_of(policy)} == {"created", "analyst-added", "reserved", "settled"}
    assert ledger_bytes(policy).keys() == kept.keys()


def test_a_version_is_never_used_twice() -> None:
    used = ["1"]
    for _ in range(30):
        used.append(following(used))
    assert used == [str(i) for i in range(1, 32)]


# How budgets went down.


def test_the_budget_is_drawn_as_it_went_down(run: Run, policy: Path) -> None:
    assert asked(run, "hospital.toml", COUNT, "--epsilon", "1.5") == 0
    assert asked(run, "hospital.toml", COUNT, "--epsilon", "0.75", "--as", "ana") == 0
    lines = run("budget", "hospital.toml").stdout.splitlines()
    curves = [line for line in lines if "left after each question" in line]
    assert [curve.split()[0] for curve in curves] == ["▄▂", "▂"]
    before = run("budget", "hospital.toml", "--as", "ana").stdout
    assert "0.25 left of 1" in before and "▂" in before


def test_a_declared_analyst_has_a_budget_before_the_first_question(run: Run, policy: Path) -> None:
    assert data(run("budget", "hospital.toml", "--as", "ana", "--json"))["remaining"]["epsilon"] == 1
    assert error(run("budget", "hospital.toml", "--as", "bo", "--json"))["code"] == "analyst-unknown"


# Calibration.


@pytest.mark.parametrize(
    ("words", "same"),
    [
        (["gaussian", "--delta", "1e-6"], lambda: calibrate.gaussian(1, Fraction(1, 10**6))),
        (
            ["gaussian", "--delta", "1e-6", "--times", "100"],
            lambda: calibrate.gaussian(1, Fraction(1, 10**6), times=100),
        ),
        (["laplace", "--sensitivity", "2.5"], lambda: calibrate.laplace(1, 0, 2.5)),
        (["geometric", "--sensitivity", "3", "--times", "4"], lambda: calibrate.discrete_laplace(1, 0, 3, times=4)),
        (["response", "--answers", "4", "--times", "2"], lambda: calibrate.randomized_response(1, 0, 4, times=2)),
        (
            ["gaussian", "--delta", "1e-6", "--times", "10", "--rate", "1/10"],
            lambda: calibrate.gaussian(1, Fraction(1, 10**6), times=10, rate=Fraction(1, 10)),
        ),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, list) else "",
)
def test_the_calculator_is_the_library(run: Run, words: list[str], same: "calibrate.Calibrated") -> None:
    found = data(run("calibrate", *words, "--epsilon", "1", "--json"))
    expected = same()  # type: ignore[operator]
    assert Fraction(found["exact"]) == expected.scale
    certificate = found["certificate"]
    assert certificate["holds"] and certificate["epsilon"] == 1
    again = Certificate(from_json(certificate["event"]), Fraction(1), Fraction(repr(certificate["delta"])))
    assert again.holds()
    said = run("calibrate", *words, "--epsilon", "1").stdout
    assert "certificate: holds" in said and ("scale =" in said) == (words[0] != "response")


def test_more_releases_need_more_noise_and_sampling_less(run: Run) -> None:
    def scale(*more: str) -> float:
        found = data(run("calibrate", "gaussian", "--epsilon", "1", "--delta", "1e-6", *more, "--json"))
        return float(found["scale"])

    assert scale("--times", "10") > 3 * scale() and scale("--times", "10", "--rate", "0.1") < scale("--times", "10")


@pytest.mark.parametrize(
    "words",
    [
        ["gausian", "--epsilon", "1"],
        ["gaussian"],
        ["gaussian", "--epsilon", "1"],
        ["gaussian", "--epsilon", "0", "--delta", "0"],
        ["laplace", "--epsilon", "-1"],
        ["laplace", "--epsilon", "1", "--times", "0"],
        ["laplace", "--epsilon", "1", "--answers", "3"],
        ["geometric", "--epsilon", "1", "--sensitivity", "1.5"],
        ["response", "--epsilon", "1", "--rate", "0.5"],
        ["response", "--epsilon", "1", "--sensitivity", "2"],
    ],
    ids=" ".join,
)
def test_an_impossible_target_is_refused(run: Run, words: list[str]) -> None:
    result = run("calibrate", *words, "--json")
    assert result.exit_code == 2 and error(result)["message"]


# While something takes long.


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("quiet", "terminal"), [(False, True), (True, True), (False, False)])
def test_progress_tells_seconds_and_nothing_else(monkeypatch: pytest.MonkeyPatch, quiet: bool, terminal: bool) -> None:
    monkeypatch.setattr(waiting_module, "PATIENCE", 0.01)
    stream = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with waiting_module.waiting("reading", quiet):
        time.sleep(0.05)
    assert bool(stream.getvalue()) is (terminal and not quiet)
    assert re.fullmatch(r"((\rreading … 0 s)+\r *\r)?", stream.getvalue())


def test_progress_tells_the_step_and_leaves_nothing_of_a_longer_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting_module, "PATIENCE", 0.01)
    monkeypatch.setattr(sys, "stderr", stream := Terminal())
    with waiting_module.waiting("learning") as tell:
        for step in ("measured the first of many\x1b[2J", "fit"):
            tell(step)
            until = time.monotonic() + 10
            while step[:8] not in stream.getvalue() and time.monotonic() < until:
                time.sleep(0.01)
    lines = stream.getvalue().split("\r")
    assert "\x1b" not in stream.getvalue() and len(set(map(len, lines[2:-1]))) <= 2
    assert any(line.startswith("learning: measured the first") for line in lines)
    assert any(line.startswith("learning: fit … 0 s  ") for line in lines) and lines[-2].strip() == lines[-1] == ""


def test_json_is_json_everywhere(run: Run, policy: Path) -> None:
    assert asked(run, "hospital.toml", COUNT, "--epsilon", "0.1") == 0
    for words in (
        ["check", "hospital.toml"],
        ["history", "hospital.toml"],
        ["budget", "hospital.toml"],
        ["ledger", "verify", "hospital.toml"],
        ["ledger", "export", "hospital.toml"],
        ["data", "changed", "hospital.toml"],
        ["analyst", "add", "hospital.toml", "bo", "--epsilon", "1"],
    ):
        result = run(*words, "--json")
        assert (result.exit_code, result.stderr) == (0, ""), words
        json.loads(result.stdout)
        assert "\x1b" not in run(*words).stdout
