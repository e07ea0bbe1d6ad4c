"""Completion: a shell is told the commands that begin as what was typed."""

import os
import subprocess
import sys

import pytest
from typer.main import get_command

from discreet.cli import app
from tests.cli.conftest import Run

COMMANDS = sorted(get_command(app).commands)  # type: ignore[attr-defined]


def completed(*words: str) -> list[str]:
    asked = {"_DISCREET_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    command = [sys.executable, "-c", "from discreet.cli import main; main()"]
    result = subprocess.run(command, env=os.environ | asked, capture_output=True, text=True, check=True)
    return sorted(result.stdout.split())


@pytest.mark.parametrize("begun", ["", "de", "le"])
def test_a_shell_is_told_the_commands_that_begin_so(begun: str) -> None:
    assert completed("discreet", begun) == [name for name in COMMANDS if name.startswith(begun)]


def test_commands_below_a_command_are_completed_too() -> None:
    assert completed("discreet", "ledger", "") == ["accept", "export", "resume", "verify"]


def test_help_tells_how_to_install_it(run: Run) -> None:
    assert "--install-completion" in run("--help").stdout
