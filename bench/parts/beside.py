"""This checkout of the project beside another one: the same work in processes of both, in turns, and the ratio of their CPU times.

A work is a script of this folder. It uses only what both checkouts have, and prints the CPU seconds of each thing that it did, by name,
as JSON.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from parts.table import Table, figure

PARTS = Path(__file__).parent
HERE = PARTS.parent.parent
GOAL = 1.10


@dataclass(frozen=True)
class Work:
    """A script of this folder and its arguments; `what` stands behind the names that it prints."""

    script: str
    arguments: Sequence[str] = ()
    what: str = ""

    def seconds(self, checkout: Path, compiled: Path) -> dict[str, float]:
        """What a process with this checkout printed; its modules are kept as bytecode in a folder, as those of an installed package are."""
        command = [str(installed("python")), str(PARTS / self.script), *self.arguments]
        paths = {"PYTHONPATH": f"{checkout / 'src'}:{PARTS.parent}", "PYTHONPYCACHEPREFIX": str(compiled)}
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | paths
        done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
        spent: dict[str, float] = json.loads(done.stdout)
        return {f"{name}{self.what}": each for name, each in spent.items()}


def installed(name: str) -> Path:
    """A program of the project's own environment, as users have it: that of the peers holds older versions of libraries."""
    own = HERE / ".venv" / "bin" / name
    return own if own.exists() else Path(sys.executable).with_name(name)


def add_option(parser: argparse.ArgumentParser) -> None:
    text = "instead: beside another checkout of this project, in turns; the goal is a ratio of 1.10"
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help=text)


def beside(title: str, other: Path, turns: int, works: Sequence[Work]) -> Table:
    """CPU milliseconds of each thing in another checkout and in this one: medians over the turns, and their ratio."""
    checkouts = (other.resolve(), HERE)
    lines = []
    with TemporaryDirectory() as compiled:
        for work in works:
            spent: dict[Path, list[dict[str, float]]] = {checkout: [] for checkout in checkouts}
            for turn in range(turns):
                for checkout in checkouts if turn % 2 else reversed(checkouts):
                    spent[checkout].append(work.seconds(checkout, Path(compiled)))
            for name in spent[HERE][0]:
                before, now = (1000 * median(each[name] for each in spent[checkout]) for checkout in checkouts)
                lines.append([name, precise(before), precise(now), figure(now / before), f"≤ {GOAL:.2f}"])
    return Table(title, f"Medians of {turns} turns.", ["CPU ms", "before", "now", "ratio", "goal"], lines)


def precise(milliseconds: float) -> str:
    return figure(milliseconds) if milliseconds >= 1 else f"{milliseconds:.4f}"
