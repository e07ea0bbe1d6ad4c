r"""`discreet shell`: questions from a pipe and at a prompt, one start-up, and nothing of what was typed kept on disk."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from discreet.cli import app
from discreet.cli.shell import spoken
from discreet.errors import Invalid
from tests.cli.conftest import Run, data, ledger_bytes

COUNT = "SELECT COUNT(*) AS n FROM visits"
COMMAND = Path(sys.executable).parent / "discreet"


def typed(text: str, *words: str) -> Result:
    return CliRunner().invoke(app, ["shell", *words], input=text, env={"COLUMNS": "100"})


def test_questions_come_from_a_pipe(run: Run, policy: Path) -> None:
    result = typed(
        f"\\epsilon 0.5\n{COUNT};\n\nSELECT COUNT(*) AS old\n  FROM visits\n WHERE age > 60;\n\\budget\n",
        "hospital.toml",
    )
    assert (result.exit_code, result.stderr) == (0, ""), result.stderr
    assert result.stdout.count("± is for the noise alone, at 95 %") == 2 and "2 left of 3, 1 spent" in result.stdout
    assert "discreet>" not in result.stdout
    assert data(run("budget", "hospital.toml", "--json"))["questions"] == 2


def test_an_answer_is_that_of_ask(run: Run, policy: Path) -> None:
    asked = data(run("ask", "hospital.toml", COUNT, "--epsilon", "1", "--json"))
    result = typed(f"{COUNT};", "hospital.toml", "--epsilon", "1", "--json")
    (line,) = result.stdout.splitlines()
    assert json.loads(line) == asked  # the same key: free, and the same bytes


def test_looking_costs_nothing(run: Run, policy: Path) -> None:
    text = f"\\preview {COUNT};\n\\explain\n\\describe\n\\budget\n\\help\n\\within 20\n\\preview\n\\quit\nrubbish"
    result = typed(text, "hospital.toml", "--epsilon", "1", "--max-total", "5")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.count("nothing was read or spent") == 2 and "table visits" in result.stdout
    assert ledger_bytes(policy) == {}


def test_accuracies_and_confidences_hold_until_they_are_set_anew(run: Run, policy: Path) -> None:
    """And a quote needs no price."""
    lines = (
        f"\\quote {COUNT};",
        "\\within n=20",
        "\\confidence 0.9",
        "\\preview",
        "\\within",
        "\\confidence",
        "\\quit",
    )
    result = typed("\n".join(lines), "hospital.toml", "--max-total", "5", "--json")
    assert result.exit_code == 0, result.stderr
    quote, within, confidence, preview, *again = map(json.loads, result.stdout.splitlines())
    assert [each["epsilon"] for each in quote["quotes"]] == [0.1, 0.3, 1, 3]
    assert [within, confidence] == again == [{"within": {"n": "± 20"}}, {"confidence": 0.9}]
    assert preview["confidence"] == 0.9 and preview["error"]["n"] <= 20
    assert ledger_bytes(policy) == {}


def test_a_script_stops_at_its_first_error(run: Run, policy: Path) -> None:
    result = typed(f"SELECT MAX(age) FROM visits;\n{COUNT};\n", "hospital.toml", "--epsilon", "1", "--json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert json.loads(result.stderr)["error"]["code"] == "extreme"
    assert ledger_bytes(policy) == {}


@pytest.mark.parametrize(
    ("text", "exit_code", "said"),
    [
        (f"{COUNT};", 2, "the price is not set"),
        ("\\epsilon", 2, "the price is missing"),
        ("\\epsilon -1", 2, "epsilon"),
        (f"\\preview {COUNT};", 2, "the price is not set"),
        ("\\epsilon 1\n\\preview", 2, "no question yet"),
        ("\\within 5 6", 2, "names no column"),
        ("\\within 0%", 2, "above 0 %"),
        ("\\within n=", 2, "finite number"),
        ("\\confidence 2", 2, "confidence"),
        ("\\bugdet", 2, "did you mean 'budget'?"),
        (f"\\epsilon 1\n{COUNT}", 2, "ended before the ;"),
        ("\\epsilon 1\n;", 2, ""),
        (f"\\epsilon 100\n{COUNT};", 3, "is left for the data set"),
    ],
)
def test_a_mistake_is_named(policy: Path, text: str, exit_code: int, said: str) -> None:
    result = typed(text, "hospital.toml")
    assert (result.exit_code, said in result.stderr) == (exit_code, True), result.stderr


def test_an_undeclared_name_is_refused(policy: Path) -> None:
    result = typed(f"{COUNT};", "hospital.toml", "--epsilon", "0.5", "--as", "bo")
    assert result.exit_code == 3 and "not known here" in result.stderr
    assert typed(f"{COUNT};", "hospital.toml", "--epsilon", "0.5", "--as", "ana").exit_code == 0


def test_a_file_needs_its_flags(run: Run, visits: Path) -> None:
    line = ["visits.csv", "--epsilon", "1"]
    assert typed(f"{COUNT};", *line).exit_code == 2
    assert typed(f"{COUNT};", *line, "--unit", "patient_id").exit_code == 0
    assert data(run("budget", "visits.csv", "--json"))["spent"]["epsilon"] == 1


def test_what_is_said_ends_with_a_semicolon() -> None:
    def heard(*lines: str) -> list[tuple[str, str]]:
        more = iter(lines)
        return list(spoken(lambda _: next(more, None)))

    assert heard("SELECT 1 ; ") == [("", "SELECT 1")]
    assert heard("SELECT ';'", "FROM t;") == [("", "SELECT ';'\nFROM t")]
    assert heard("", "  ", "\\q;", "\\preview a", "b;") == [("q", ""), ("preview", "a\nb")]
    with pytest.raises(Invalid, match="ended"):
        heard("SELECT 1")


def test_a_live_shell_goes_on_after_errors_and_leaves_no_history(policy: Path) -> None:
    ours, theirs = os.openpty()
    environment = os.environ | {"TERM": "dumb", "COLUMNS": "100", "HOME": str(policy.parent), "PYTHONSTARTUP": ""}
    child = subprocess.Popen(
        [COMMAND, "shell", "hospital.toml", "--epsilon", "0.5"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
    )
    os.close(theirs)
    seen = b""

    def until(what: bytes) -> None:
        nonlocal seen
        end = time.monotonic() + 60
        while what not in seen:
            assert time.monotonic() < end, seen
            seen += os.read(ours, 65536)

    def say(text: bytes) -> None:
        nonlocal seen
        seen = b""
        os.write(ours, text + b"\n")

    until(b"discreet> ")
    say(b"SELECT MAX(age) FROM visits;")
    until(b"is the value of one person")
    until(b"discreet> ")
    say(b"SELECT COUNT(*) AS n")
    until(b"...> ")
    say(b"FROM visits;")
    until(b"2.5")
    until(b"discreet> ")
    say(b"\\quit")
    assert child.wait(30) == 0
    os.close(ours)
    kept = [file for file in policy.parent.rglob("*") if file.is_file() and b"MAX(age)" in file.read_bytes()]
    assert kept == []  # a refused question is nowhere; an asked one is the ledger's label
