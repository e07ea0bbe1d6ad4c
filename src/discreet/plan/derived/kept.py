"""What a stored answer tells: the released integers of its finest groups, read off the numbers that it shows.

Counts and sums are shown to the last digit, so that the integers behind them can be read off. What is shown rounded, such as a mean, does
not tell its total, and what HAVING or LIMIT left out is not told at all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from discreet.plan.caps import Limit
from discreet.plan.catalog import Protected
from discreet.plan.derived.shown import Told
from discreet.plan.interval import Cells
from discreet.plan.plan import Plan
from discreet.plan.scalar import Key, Released, Value, type_of

Group = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """A stored answer, as far as others may follow from it."""

    plan: Plan
    """The decided one by which it was given."""

    protected: Protected
    """Who is protected in it, and the limits that were declared for it."""

    missing: tuple[Limit, ...]
    """The limits that it had to find."""

    cells: Mapping[int, Mapping[Group, int]]
    """What was released for a measurement, by its place: an integer for each group that is shown."""

    shown: Mapping[int, Mapping[Group, Told]]
    """What is shown of an aggregate, by its place in the question."""

    @classmethod
    def of(
        cls,
        plan: Plan,
        protected: Protected,
        missing: tuple[Limit, ...],
        rows: Sequence[Sequence[Value]],
        intervals: Sequence[Cells],
    ) -> "KeptAnswer":
        """What the rows of an answer tell, with their intervals; of an answer that does not show by all its keys nothing."""
        groups = _groups(plan, rows)
        cells: dict[int, dict[Group, int]] = {}
        shown: dict[int, dict[Group, Told]] = {}
        if groups is not None:
            finest = [row for row, group in zip(rows, groups, strict=True) if group is not None]
            there = [group for group in groups if group is not None]
            for place, integers in _integers(plan, finest).items():
                told_here = {g: integer for g, integer in zip(there, integers, strict=False) if integer is not None}
                if told_here:
                    cells[place] = told_here
            for j, output in enumerate(plan.question.outputs):
                if isinstance(output.value, Released):
                    told = [(row[j], spans[j]) for row, spans in zip(rows, intervals, strict=True)]
                    pairs = zip(groups, told, strict=True)
                    shown[output.value.index] = {group: each for group, each in pairs if group is not None}
        return cls(plan, protected, missing, cells, shown)


def _groups(plan: Plan, rows: Sequence[Sequence[Value]]) -> list[Group | None] | None:
    """The finest group of each row, None for a subtotal; None where rows do not tell their groups."""
    question = plan.question
    places = [
        next((j for j, output in enumerate(question.outputs) if output.value == Key(i, type_of(key))), None)
        for i, key in enumerate(question.keys)
    ]
    known = set(plan.domain)
    if None in places or (question.levels and any(None in group for group in known)):
        return None  # a missing key would be told as a subtotal is
    groups = [tuple(row[place] for place in places if place is not None) for row in rows]
    return [group if group in known else None for group in groups]


def _integers(plan: Plan, rows: Sequence[Sequence[Value]]) -> dict[int, Sequence[int | None]]:
    """What rows tell of each measurement; what some tell only beside others is read once these are."""
    known: dict[int, Sequence[int | None]] = {}
    columns = {
        output.value.index: j for j, output in enumerate(plan.question.outputs) if isinstance(output.value, Released)
    }
    for _ in range(2):
        for index, j in columns.items():
            release = plan.releases[index]
            if any(len(known.get(place, ())) < len(rows) for place in release.places):
                known |= release.read_back(plan, [row[j] for row in rows], known)
    return known
