"""A pytest plugin: the CPU seconds of each test, added up by folder and set beside the folder's budget.

The run ends with the table and names a folder over its budget; it does not fail. CPU time includes set-up,
teardown and finished child processes. Each worker of pytest-xdist measures its own tests and sends the
figure with the test's report. With DISCREET_SCALE above 1 a run over whole folders also renews their rows in
docs/soak.md.
"""

import datetime
import resource
from collections import defaultdict
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import hypothesis
import pytest

from tests.extras import PARTS
from tests.scale import SCALE

# CPU seconds in `make test`, times the scale elsewhere. Tests directly under tests/ and doctests of top-level modules are the checks.
BUDGETS = {
    "noise": 50,
    "privacy": 90,
    "mechanisms": 50,
    "plan + engines + laws + answer": 260,
    "curator + cli": 170,
    "audit + attacks": 90,
    "mutants": 60,
    "local": 40,
    "weights": 60,
    "learn": 40,
    "checks": 70,
}
BUDGETS |= {part.title: part.cpu_seconds for part in PARTS.values()}
GROUPS = {folder: group for group in BUDGETS for folder in group.split(" + ")}

SOAK = """\
# Soak runs

`make soak` runs the tests with every repeat count multiplied by 20; `make soak PART=noise` runs one folder.
It renews the row of each folder that it ran. Draws of the samplers under test come from fresh entropy of the
operating system; the seed is that of the generated test inputs.

"""
COLUMNS = ("part", "tests", "failures", "CPU s", "scale", "seed of inputs", "date")

# Examples of a hypothesis test are repeats like any other; time is watched by folder, not by example.
# `make test` draws the same inputs in every run; a soak draws new ones, and prints their seed.
hypothesis.settings.register_profile("discreet", max_examples=100 * SCALE, deadline=None, derandomize=SCALE == 1)
hypothesis.settings.load_profile("discreet")


@dataclass
class Folder:
    tests: int = 0
    failures: int = 0
    cpu: float = 0.0


def folder_of(nodeid: str) -> str:
    """The folder that a test counts for: tests/X/… and src/discreet/X/… count for X, the rest for checks."""
    parts = PurePosixPath(nodeid.partition("::")[0]).parts[:-1]
    within = parts[2:] if parts[:2] == ("src", "discreet") else parts[1:]
    return within[0] if within else "checks"


def cpu_seconds() -> float:
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def budget_table(folders: dict[str, Folder]) -> tuple[list[str], list[str]]:
    """The lines of the table, and the groups over their budget."""
    groups: defaultdict[str, list[Folder]] = defaultdict(list)
    for name, folder in folders.items():
        groups[GROUPS.get(name, name)].append(folder)
    lines, over = [f"{'folder':<18}{'tests':>8}{'CPU s':>10}{'budget':>9}"], []
    for group in sorted(groups, key=lambda group: (list({**BUDGETS, group: 0}).index(group), group)):
        tests = sum(folder.tests for folder in groups[group])
        cpu = sum(folder.cpu for folder in groups[group])
        budget = BUDGETS[group] * SCALE if group in BUDGETS else None
        if budget is not None and cpu > budget:
            over.append(group)
        mark = "  over budget" if group in over else ""
        lines.append(f"{group:<18}{tests:>8}{cpu:>10.1f}{budget or '-':>9}{mark}")
    return lines, over


def soak_page(old: str, rows: Iterable[tuple[str, ...]]) -> str:
    """The soak page with these rows, and with the rows of all other parts as they were."""
    kept = {}
    for line in old.splitlines():
        cells = tuple(cell.strip() for cell in line.strip("|").split("|"))
        if line.startswith("|") and len(cells) == len(COLUMNS) and cells != COLUMNS and set(line) - set("|- :"):
            kept[cells[0]] = cells
    kept.update((row[0], row) for row in rows)
    table = [COLUMNS, ("---",) * len(COLUMNS), *(kept[part] for part in sorted(kept))]
    return SOAK + "".join(f"| {' | '.join(row)} |\n" for row in table)


class Budget:
    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.part = PARTS.get(config.getoption("markexpr"))
        self.folders: defaultdict[str, Folder] = defaultdict(Folder)
        self.failed: set[str] = set()
        self.start = 0.0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self) -> None:
        self.start = cpu_seconds()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if call.when == "teardown":
            report.user_properties.append(("cpu_seconds", cpu_seconds() - self.start))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        folder = self.folders[self.part.title if self.part else folder_of(report.nodeid)]
        if report.failed and report.nodeid not in self.failed:
            self.failed.add(report.nodeid)
            folder.failures += 1
        if report.when == "teardown":
            folder.tests += 1
            folder.cpu += float(dict(report.user_properties).get("cpu_seconds", 0.0))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self.folders:
            return
        lines, over = budget_table(self.folders)
        terminalreporter.section(f"CPU seconds by folder (scale {SCALE})")
        for line in lines:
            terminalreporter.line(line)
        if over:
            terminalreporter.line(f"over budget: {', '.join(over)}", yellow=True)
        if SCALE > 1 and self.whole_folders():
            self.write_soak(self.config.rootpath / "docs" / "soak.md")

    def whole_folders(self) -> bool:
        chosen = self.config.getoption("keyword") or self.config.getoption("markexpr")
        return not chosen and all(Path(argument).is_dir() for argument in self.config.args)

    def write_soak(self, page: Path) -> None:
        seed = self.config.getoption("hypothesis_seed", None)
        said = "fresh OS entropy" if seed is None else str(seed)
        today = datetime.datetime.now(datetime.UTC).date().isoformat()
        rows = [
            (name, str(folder.tests), str(folder.failures), f"{folder.cpu:.0f}", str(SCALE), said, today)
            for name, folder in self.folders.items()
        ]
        page.write_text(soak_page(page.read_text("utf-8") if page.exists() else "", rows), "utf-8")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Budget(config), "discreet-budget")
