"""A command that is asked to end leaves nothing behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

# Tests that are run in the background may have been told to pass over some; the command is started by someone who was not.
HEARD = (
    "import signal; [signal.signal(each, how) for each, how in ((signal.SIGHUP, signal.SIG_DFL), (signal.SIGTERM, signal.SIG_DFL), "
    "(signal.SIGINT, signal.default_int_handler))]; "
)
ROWS = "pid,x\n" + "".join(f"{i},{i % 7}\n" for i in range(50))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_command_that_is_asked_to_end_removes_its_folder(tmp_path: Path, number: int) -> None:
    (tmp_path / "v.csv").write_text(ROWS, "utf-8")
    (tmp_path / "tmp").mkdir()
    environment = os.environ | {"TMPDIR": str(tmp_path / "tmp"), "XDG_STATE_HOME": str(tmp_path / "state")}
    words = ["shell", "v.csv", "--unit", "pid", "--epsilon", "1", "--json"]
    with subprocess.Popen(
        [sys.executable, "-c", HEARD + "from discreet.cli import main; main()", *words],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as command:
        assert command.stdin is not None and command.stdout is not None
        command.stdin.write("SELECT COUNT(*) AS n FROM v;\n")
        command.stdin.flush()
        assert '"rows"' in command.stdout.readline()
        assert list((tmp_path / "tmp").glob("discreet-*"))  # the engine's, while it is open
        command.send_signal(number)
        command.wait(60)
    assert command.returncode != 0
    assert list((tmp_path / "tmp").iterdir()) == []
