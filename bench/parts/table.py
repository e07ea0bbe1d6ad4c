"""A table of results, as plain text and as Markdown; and the machine that it was made on."""

import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path


def figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


@dataclass(frozen=True)
class Table:
    title: str
    text: str
    head: list[str]
    rows: list[list[str]]

    def plain(self) -> str:
        widths = [max(map(len, column)) for column in zip(self.head, *self.rows, strict=True)]
        lines = [
            cells[0].ljust(widths[0])
            + "".join(cell.rjust(width + 2) for cell, width in zip(cells[1:], widths[1:], strict=True))
            for cells in (self.head, *self.rows)
        ]
        return "\n".join([f"\n{self.title}. {self.text}".rstrip(), *lines])

    def markdown(self, level: int = 2) -> str:
        rule = ["---", *("---:" for _ in self.head[1:])]
        lines = [f"| {' | '.join(cells)} |" for cells in (self.head, rule, *self.rows)]
        return "\n".join([f"\n{'#' * level} {self.title}\n", *([f"{self.text}\n"] if self.text else []), *lines])


def machine() -> str:
    """The machine in general words."""
    try:
        found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    except OSError:
        found = None
    return f"{os.cpu_count()} virtual cores ({found[1] if found else platform.machine()})"
