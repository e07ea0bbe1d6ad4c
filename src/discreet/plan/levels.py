"""The levels of an answer: ROLLUP, CUBE and GROUPING SETS, each of whose grouping sets is a level.

What is a sum over rows is measured once, in the finest groups, and a total of a coarser group is the sum of what was released of its cells:
post-processing, which costs nothing more. Its noise is the sum of theirs, which are independent and alike, and everything that is made of
totals is made of these sums: a mean of a coarser group is a ratio of sums, and no mean of means. Whoever is in several cells is one person
in their sum: people, means over people and readings cannot be summed, and are measured for the groups of each level (`Stage.levels`), at a
price of their own.

Each level is read as a plan of its own (`LevelView`), whose measurements are sums of cells or its own; values, intervals and words are
those of any plan.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.errors import Fault
from discreet.plan.combination import Combination
from discreet.plan.plan import Plan, Stage
from discreet.plan.relation import How, Term
from discreet.plan.scalar import Value

Groups = tuple[tuple[Value, ...], ...]


@dataclass(frozen=True, slots=True)
class LevelView:
    """One level of an answer: what it is read by, what was released of it, and which keys its rows have a value of."""

    plan: Plan
    released: tuple[Any, ...]
    key_places: tuple[int, ...] | None
    """None: all, as a question has that asks for no levels."""

    first: int
    """The number of its first row, among the rows of all levels."""

    shown_at: tuple[int, ...] | None = None
    """Where each of its rows stands among all, as far as no order was asked for; None: one after the other, from its first on."""

    @property
    def size(self) -> int:
        return len(self.plan.domain)

    def own(self, rows: Sequence[int]) -> list[int]:
        """Those of some rows of the answer that are of this level, as places among its groups."""
        return [rows[i] - self.first for i in self.among(rows)]

    def among(self, rows: Sequence[int]) -> list[int]:
        """The places of these among some rows of the answer."""
        return [i for i, row in enumerate(rows) if self.first <= row < self.first + self.size]


def coarser(domain: Groups, key_places: Sequence[int]) -> Groups:
    """The groups of a level, in the order of the finest ones; over all keys there is one, whether or not there is a cell."""
    if not key_places:
        return ((),)
    return tuple(dict.fromkeys(tuple(group[key] for key in key_places) for group in domain))


def summable(combination: Combination, terms: Sequence[Term]) -> bool:
    """Whether a total of several groups is the sum of theirs: of what sums over rows, and not of what is one number for each person."""
    return all(terms[place].how is How.SUM for place, _ in combination.parts)


def rows_of(plan: Plan) -> int:
    """How many rows the answer of a decided plan has, before any are left out."""
    levels = plan.question.levels
    return sum(len(coarser(plan.domain, key_places)) for key_places in levels) if levels else len(plan.domain)


def views(plan: Plan, released: Sequence[Any] | None = None) -> list[LevelView]:
    """The levels of a decided plan; without what was released as they are before that, with zeros."""
    stage, levels = plan.decided, plan.question.levels
    stages = [stage, *(each for each in stage.levels if each is not None)]
    if released is None:
        released = [np.zeros(len(each.domain), np.int64) for each in stages for _ in range(each.width)]
    if len(released) != sum(each.width for each in stages):
        raise Fault("what was released is not what the plan measures", code="answer")
    if not levels:
        return _by_cells(plan, released) if stage.cells else [LevelView(plan, tuple(released), None, 0)]
    behind, first, levels_read = stage.width, 0, []
    for key_places, own in zip(levels, stage.levels, strict=True):
        width = 0 if own is None else own.width
        each = _view(plan, key_places, own, released[: stage.width], released[behind : behind + width], first)
        behind, first = behind + width, first + each.size
        levels_read.append(each)
    return levels_read


def _by_cells(plan: Plan, released: Sequence[Any]) -> list[LevelView]:
    """The groups of what follows from another answer, by how many of its groups each is the sum of: noise is alike in each view."""
    stage, first, views_read = plan.decided, 0, []
    for cells in dict.fromkeys(stage.cells):
        there = tuple(i for i, each in enumerate(stage.cells) if each == cells)
        part = Stage(
            stage.query,
            tuple(stage.domain[i] for i in there),
            tuple(replace(each, cells=cells) for each in stage.measurements),
            stage.releases,
        )
        own = tuple(np.asarray(each, np.int64)[list(there)] for each in released)
        views_read.append(LevelView(_read_by(plan, part), own, None, first, there))
        first += len(there)
    return views_read


def _view(
    plan: Plan,
    key_places: tuple[int, ...],
    own: Stage | None,
    cells: Sequence[Any],
    released: Sequence[Any],
    first: int,
) -> LevelView:
    """One level: the sums of what was released of its cells, and in the place of what is its own that."""
    stage = plan.decided
    if len(key_places) == len(plan.question.keys):
        return LevelView(_read_by(plan, replace(stage, levels=())), tuple(cells), key_places, first)
    groups = coarser(stage.domain, key_places)
    place = {group: i for i, group in enumerate(groups)}
    at = np.array([place[tuple(group[key] for key in key_places)] for group in stage.domain], np.int64)
    each = len(stage.domain) // len(groups) if groups else 0
    measurements, totals = [], []
    owned, terms = 0, plan.terms
    for i, measurement in enumerate(stage.measurements):
        if summable(measurement.made, terms):
            measurements.append(replace(measurement, cells=each))
            totals.append(_summed(cells[i], at, len(groups)))
        else:
            if own is None:
                raise Fault("a level lacks what cannot be summed", code="plan")
            # it is of the same terms, which stand in other places there
            measurements.append(replace(own.measurements[owned], made=measurement.made))
            totals.append(released[owned])
            owned += 1
    readings = () if own is None else own.readings
    totals += list(released[owned:])
    coarse = Stage(stage.query, groups, tuple(measurements), stage.releases, readings=readings)
    return LevelView(_read_by(plan, coarse), tuple(totals), key_places, first)


def _read_by(plan: Plan, stage: Stage) -> Plan:
    return replace(plan, stage=stage, taken=())


def _summed(cells: Any, at: Any, groups: int) -> Any:
    """Exact sums of integers."""
    totals = np.zeros(groups, np.int64)
    np.add.at(totals, at, np.asarray(cells, np.int64))
    return totals
