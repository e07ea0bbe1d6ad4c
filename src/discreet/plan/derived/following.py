"""An answer that follows from another one: its plan, which measures nothing, and what is released of it, which was released before."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import QueryError
from discreet.plan.catalog import Protected
from discreet.plan.derived.cells import Group, GroupCells, cells_of
from discreet.plan.derived.kept import KeptAnswer
from discreet.plan.derived.limits import alike, differences
from discreet.plan.derived.shown import NUMBERED
from discreet.plan.derived.statistics import TakenOver
from discreet.plan.draft import Draft
from discreet.plan.plan import Plan, Stage
from discreet.plan.post import selects
from discreet.plan.private import DECLARED
from discreet.plan.scalar import windows_in
from discreet.privacy import events

SELECTED = "the answer that it follows from shows groups that were selected by released values, which makes their intervals optimistic"
MOST = 1 << 62
"""No released sum is larger, as none that is measured is."""


@dataclass(frozen=True, slots=True)
class Derivation:
    """What follows from an answer for a question."""

    plan: Plan
    """It has the question, the groups and the noise of what was summed; it draws nothing, and costs nothing."""

    released: tuple[Any, ...]
    differs: tuple[str, ...]
    """In which respects it is not what the question by itself would have estimated; empty where it is."""


def following(draft: Draft, protected: Protected, stored: KeptAnswer) -> Derivation | None:
    """What follows from an answer for a question, by its draft and the limits that were declared for it; None where nothing does.

    For any data set, of which the answer was given, the released integers are sums of those of the answer: a function of the answer
    alone, so that it costs nothing to tell them (post-processing: Dwork and Roth 2014, Proposition 2.1).
    """
    question = draft.question
    if not question.aggregates or question.levels or draft.sought or not alike(protected, stored.protected):
        return None
    try:
        cells = cells_of(draft, stored.plan.question.source, stored.plan.question.keys, stored.plan.domain)
    except QueryError:  # of groups that take too many steps to find
        return None
    if cells is None:
        return None
    statistics = TakenOver(draft, stored, cells)
    releases = statistics.releases()
    differs = differences(draft, stored, cells, reads=statistics.reads)
    if releases is None or differs is None or _mixes(draft, cells):
        return None
    if selects(stored.plan):  # what is shown for being large is, on average, too large, whatever is made of it
        differs = (*differs, SELECTED)
    sums = [
        np.arange(len(cells.groups)) if place is None else _summed(cells, stored.cells[place])
        for place in statistics.used
    ]
    if any(each is None for each in sums):
        return None
    plan = stored.plan
    stage = Stage(
        plan.query,
        tuple(group for group, _ in cells.groups),
        tuple(NUMBERED if place is None else plan.measurements[place] for place in statistics.used),
        releases,
        cells=tuple(len(each) for _, each in cells.groups),
    )
    free = events.Under(events.Composed(()), plan.relation)
    notes = tuple(note for note in plan.told if note not in (DECLARED, *plan.question.remarks))
    free_plan = replace(
        plan,
        question=question,
        stage=stage,
        event=free,
        epsilon=Fraction(0),
        delta=Fraction(0),
        notes=(*differs, *notes),
        assumed=(),
        topic="",
        range_topics=(),
        taken=(),
    )
    return Derivation(free_plan, tuple(sums), differs)


def _mixes(draft: Draft, cells: GroupCells) -> bool:
    """Whether a window is over groups whose noises are unlike: then no ± is known of it."""
    outputs = [*(each.value for each in draft.question.outputs), *(each.value for each in draft.question.order)]
    return len({len(each) for _, each in cells.groups}) > 1 and any(map(windows_in, outputs))


def _summed(cells: GroupCells, told: Mapping[Group, int]) -> Any:
    """What was released of each group, from what was of its own; None where one is not told, or a sum is too large."""
    if not all(cell in told for _, each in cells.groups for cell in each):
        return None
    sums = [sum(told[cell] for cell in each) for _, each in cells.groups]
    return np.array(sums, np.int64) if all(abs(each) <= MOST for each in sums) else None
