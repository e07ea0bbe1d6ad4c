"""From the text of a question to its checked plan, for every golden question, with every cache empty."""

import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time

from discreet.errors import DiscreetError
from discreet.plan.plan import Plan
from discreet.plan.private import plan_for
from discreet.plan.sql import question
from discreet.plan.steps.base import Step
from parts.table import Table

sys.path.insert(0, str(Path(__file__).parents[2]))

MOST = 15.0
"""Milliseconds that are the goal."""


def planning(repeats: int) -> Table:
    """Milliseconds of CPU time, the least of a few turns for each plan."""
    from tests.golden.plans import PRICES, catalogs, questions

    kinds: dict[str, list[tuple[float, str]]] = {}
    for name, text in questions().items():
        for unit, catalog in catalogs(name).items():
            for epsilon, delta in PRICES:

                def plan(text=text, catalog=catalog, epsilon=epsilon, delta=delta) -> Plan:  # type: ignore[no-untyped-def]
                    return plan_for(question(text, catalog), catalog, epsilon, delta)

                try:
                    made = plan()
                except DiscreetError:
                    continue
                spent = 1000 * min(_cold(plan) for _ in range(repeats))
                for kind in ("all", _kind(made)):
                    kinds.setdefault(kind, []).append((spent, f"{name}, {unit}"))
    lines = []
    for kind in sorted(kinds):
        found = sorted(kinds[kind])
        times = [spent for spent, _ in found]
        figures = [median(times), times[int(0.95 * len(times))], times[-1]]
        over = sum(each > MOST for each in times)
        lines.append([kind, f"{len(times):,}", *(f"{each:.1f}" for each in figures), f"{over:,}", found[-1][1]])
    head = ["plans", "number", "median", "95 %", "worst", f"above {MOST:g}", "the worst"]
    return Table("Planning, ms", "", head, lines)


def _kind(plan: Plan) -> str:
    steps = 0
    while isinstance(step := plan.next, Step):
        steps, plan = steps + 1, plan.chosen(step.examples[0])
    return "with something found" if steps else "of what is declared"


def _cold(plan: Callable[[], Plan]) -> float:
    for clear in _caches():
        clear()
    start = process_time()
    plan()
    return process_time() - start


def _caches() -> list[Callable[[], None]]:
    modules = [module for name, module in list(sys.modules.items()) if name.partition(".")[0] == "discreet"]
    found = {id(value): getattr(value, "cache_clear", None) for module in modules for value in vars(module).values()}
    return [clear for clear in found.values() if callable(clear)]
