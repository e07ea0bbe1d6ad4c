"""What a stored answer tells: the released integers of its finest groups, read off the numbers that it shows.

Counts and sums are shown to the last digit, so that the integers behind them can be read off. What is shown rounded, such as a mean, does
not tell its total, and what HAVING or LIMIT left out is not told at all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.plan.caps import Limit
from discreet.plan.catalog import Protected
from discreet.plan.derived.shown import Told
from discreet.plan.interval import Cells
from discreet.plan.plan import Plan
from discreet.plan.releases.base import Number
from discreet.plan.releases.total import Shifted, Total, quotients
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
            _read_totals(plan, there, finest, cells)
            _read_shifted(plan, there, finest, cells)
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


def _read_totals(
    plan: Plan, groups: Sequence[Group], rows: Sequence[Sequence[Value]], cells: dict[int, dict[Group, int]]
) -> None:
    for i, release in enumerate(plan.releases):
        if isinstance(release, Total):
            step = plan.measurements[release.measurement].step
            whole = release.whole(plan)
            for group, value in zip(groups, _shown(plan, i, rows), strict=False):
                steps = None if value is None else _steps(value, Fraction(0), step, whole)
                if steps is not None:
                    cells.setdefault(release.measurement, {})[group] = steps


def _read_shifted(
    plan: Plan, groups: Sequence[Group], rows: Sequence[Sequence[Value]], cells: dict[int, dict[Group, int]]
) -> None:
    """A sum that was asked for beside its mean tells its total where the count is told too."""
    for i, release in enumerate(plan.releases):
        if isinstance(release, Shifted):
            step, counts = plan.measurements[release.total].step, cells.get(release.count, {})
            one, whole = plan.measurements[release.count].step, release.whole(plan)
            for group, value in zip(groups, _shown(plan, i, rows), strict=False):
                if value is not None and group in counts:
                    steps = _steps(value, release.middle * one * counts[group], step, whole)
                    if steps is not None:
                        cells.setdefault(release.total, {})[group] = steps


def _shown(plan: Plan, index: int, rows: Sequence[Sequence[Value]]) -> list[Number | None]:
    """What the rows show of an aggregate as it is; nothing where no column does."""
    for j, output in enumerate(plan.question.outputs):
        if isinstance(output.value, Released) and output.value.index == index:
            values = [row[j] for row in rows]
            return [value if isinstance(value, int | float) else None for value in values]
    return []


def _steps(value: Number, shift: Fraction, step: Fraction, whole: bool) -> int | None:
    """The one integer that is shown as this value, shift + step · integer; None where several are, which doubles do not tell apart."""
    nearest = round((Fraction(value) - shift) / step)

    def shown(steps: int) -> Number | None:
        exact = shift + step * steps
        (number,) = quotients([exact.numerator], exact.denominator, whole)
        return number

    alone = shown(nearest) == value and value not in (shown(nearest - 1), shown(nearest + 1))
    return nearest if alone else None
