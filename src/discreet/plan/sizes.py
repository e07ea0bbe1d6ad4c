"""How large the numbers of an answer are, as far as that is public: for an accuracy that is a part of their size.

A size is told by the people who are declared, or whom a survey counted, or by an answer that was released before; by nothing of the data.
By people it is told of a count of all rows or of all people, spread evenly over the groups, each person with one row; and of what does
not depend on how many there are, as the mean of a number with bounds above 0: then it is the least that the bounds allow.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite

import numpy as np

from discreet.plan.computed import Computed
from discreet.plan.digits import six_digits
from discreet.plan.intervals import corners, evenly_spread, in_a_group, values_of
from discreet.plan.levels import views
from discreet.plan.plan import Plan
from discreet.plan.question import Output
from discreet.plan.relation import Filled, Scan, Typed, walk
from discreet.plan.scalar import has_key, released_in, windows_in

HALF, ALIKE = 2, 1e-9
"""With half as many in a group, what does not depend on how many there are is the same."""


@dataclass(frozen=True, slots=True)
class Size:
    """How large the numbers of a column are, and by what that is known."""

    most: Fraction
    known_by: str

    def __str__(self) -> str:
        return f"{six_digits(self.most)} ({self.known_by})"


def sizes_by_people(plan: Plan) -> tuple[Size | None, ...]:
    """The size of each output of a plan, by the people who are known; None where these do not tell. Its noise is next to none."""
    nothing: list[Size | None] = [None] * len(plan.question.outputs)
    if plan.people is None or len(views(plan)) > 1:
        return tuple(nothing)
    with np.errstate(all="ignore"):
        return tuple(_by_people(plan, output) for output in plan.question.outputs)


def _by_people(plan: Plan, output: Output) -> Size | None:
    releases = [plan.releases[i] for i in released_in(output.value)]
    if not releases or any(each.ahead or each.evenly(plan) for each in releases) or windows_in(output.value):
        return None
    each = evenly_spread(plan)
    least = _least_of(plan, output, each)
    if least is None:
        return None
    if not _counts_everybody(plan, output):
        other = _least_of(plan, output, max(1, each // HALF))
        if other is None or abs(least - other) > ALIKE * least:
            return None
        return Size(Fraction(str(least)), "the least that its bounds allow")
    return Size(Fraction(str(least)), in_a_group(plan))


def _counts_everybody(plan: Plan, output: Output) -> bool:
    """Whether an output is made of counts of all rows, or of all people, and of nothing else."""
    aggregates = [plan.question.aggregates[i] for i in released_in(output.value)]
    plain = all(isinstance(each, Scan | Typed | Filled | Computed) for each in walk(plan.question.source))
    return plain and all(each.kind.of_all and each.argument is each.condition is None for each in aggregates)


def _least_of(plan: Plan, output: Output, each: int) -> float | None:
    """The least that an output may be with so many in a group, in any of the groups; None where it may be 0, or nothing."""
    (level,) = views(plan)
    groups = range(len(plan.domain)) if has_key(output.value) else range(1)
    values = [value for reader in corners(level, output, groups, each) for value in values_of(output.value, reader)]
    numbers = [float(value) for value in values if isinstance(value, int | float)]
    if len(numbers) < len(values) or not numbers or not all(map(isfinite, numbers)):
        return None
    same_sign = min(numbers) > 0 or max(numbers) < 0
    return min(map(abs, numbers)) if same_sign else None


def middle_size(values: Sequence[object], errors: Sequence[object], known_by: str) -> Size | None:
    """The size of a column of an answer that was released: the middle one of its numbers that can be told from 0."""
    told = sorted(
        abs(value)
        for value, error in zip(values, errors, strict=True)
        if isinstance(value, int | float) and isinstance(error, int | float) and abs(value) > error
    )
    if not told:
        return None
    what = f"{known_by} told" if len(values) == 1 else f"the middle one of {len(told):,} that {known_by} told"
    return Size(Fraction(str(told[(len(told) - 1) // 2])), what)
