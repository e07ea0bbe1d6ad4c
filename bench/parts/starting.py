"""CPU seconds of whole processes, from their start to their end; see `beside.py`."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

MAIN = "import sys; from discreet.cli import main; sys.argv[0] = 'discreet'; main()"
ASK = ["ask", "small.csv", "SELECT COUNT(*) AS n FROM small", "--unit", "person", "--epsilon"]
TIMES = 5


def children(folder: Path, *arguments: str) -> float:
    before = os.times()
    environment = os.environ | {"XDG_STATE_HOME": str(folder)}
    subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, check=True, capture_output=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    (folder / "small.csv").write_text("person,ward\n" + "".join(f"{i},A\n" for i in range(10)), "utf-8")
    children(folder, "-c", MAIN, *ASK, "0.2")  # after which everything is compiled
    asked = [children(folder, "-c", MAIN, *ASK, f"0.1{i}") for i in range(TIMES)]
    print(
        json.dumps(
            {
                "python -c pass": median(children(folder, "-c", "pass") for _ in range(TIMES)),
                "import discreet": median(children(folder, "-c", "import discreet") for _ in range(TIMES)),
                "discreet --version": median(children(folder, "-c", MAIN, "--version") for _ in range(TIMES)),
                "discreet --help": median(children(folder, "-c", MAIN, "--help") for _ in range(TIMES)),
                "discreet ask": median(asked),
            }
        )
    )
