"""What is made of released numbers: outputs, windows, HAVING, ORDER BY, OFFSET and LIMIT. Nothing here sees anything but what was released.

Whole numbers are computed in integers. Other results of arithmetic are rounded to 12 digits, so that no number has a tail of digits
that mean nothing; constants are as they were written. A ratio is NULL where what it is divided by cannot be told from 0, as a mean is
where its count cannot. HAVING and ORDER BY see the same means, ratios and whole numbers as whoever reads the answer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import isfinite
from sys import float_info
from typing import Any

from discreet.plan.domain import copied
from discreet.plan.evaluate import evaluate
from discreet.plan.few import guarded
from discreet.plan.forms import Reader
from discreet.plan.levels import LevelView, views
from discreet.plan.numbers import Columns, Row, integral
from discreet.plan.plan import Plan
from discreet.plan.question import Sort
from discreet.plan.scalar import Arithmetic, Grouping, Key, Operator, Over, Released, Scalar, Value, released_in
from discreet.plan.windows import with_windows

DIGITS = 12  # of results of arithmetic that are not whole
WHOLE = 2**53  # beyond it doubles skip integers


@dataclass(frozen=True, slots=True)
class Shown:
    """The rows of an answer: of which group of the plan's domain each is, or of all levels one after the other, and its values, one for
    each output."""

    groups: tuple[int, ...]
    rows: tuple[tuple[Value, ...], ...]
    among: tuple[int, ...] | None = field(default=None, compare=False)
    """The groups of all rows before OFFSET and LIMIT, over which windows are; None where there are no others."""

    seen: Columns | None = field(default=None, compare=False, repr=False)
    """What was released for these rows, by its nodes; None where that is to be made anew."""

    everything: Columns | None = field(default=None, compare=False, repr=False)
    """The same for all rows before OFFSET and LIMIT, where there are several levels."""

    def others(self, level: LevelView) -> Columns | None:
        """The rows of other levels, before OFFSET and LIMIT."""
        if self.everything is None or self.among is None:
            return None
        own = set(level.among(self.among))
        return self.everything.only([i for i in range(len(self.among)) if i not in own])


def released_rows(plan: Plan, released: Sequence[Any]) -> Shown:
    """The rows, from one int64 array over the plan's domain for each of its measurements, and behind them those of its levels."""
    question = plan.question
    levels = views(plan, released)
    scalars = [*(output.value for output in question.outputs), *(sort.value for sort in question.order)]
    places, before, parts, guards = list[int](), list[int](), [], scalars
    for level in levels:
        there = _left(question.having, level)
        guards, seen = guarded(scalars, _reader(level, there))
        places += [level.first + i for i in there]
        before += [level.first + i if level.shown_at is None else level.shown_at[i] for i in there]
        parts.append(seen)
    seen = Columns.joined(parts)
    table = with_windows(scalars, guards, seen, partial(_exactly, plan))
    pairs = list(zip(scalars, guards, strict=True))
    shown, outputs = sorted(range(len(places)), key=before.__getitem__), len(question.outputs)
    orders = [(sort, _column(plan, *pair, table)) for sort, pair in zip(question.order, pairs[outputs:], strict=True)]
    for sort, column in reversed(orders):  # each sort keeps the order of those after it where it finds no difference
        shown = _sorted(shown, sort, column)
    shown = shown[question.offset :]
    if question.limit is not None:
        shown = shown[: question.limit]
    everything = table if len(levels) > 1 else None
    table = table if shown == list(range(len(places))) else table.only(shown)
    columns = [_finished_column(scalar, _column(plan, scalar, guard, table)) for scalar, guard in pairs[:outputs]]
    return Shown(tuple(places[i] for i in shown), tuple(zip(*columns, strict=True)), tuple(places), table, everything)


def _reader(level: LevelView, groups: Sequence[int]) -> Reader:
    return Reader.of(level.plan, level.released, groups, key_places=level.key_places)


def _left(having: Scalar | None, level: LevelView) -> list[int]:
    """The groups of a level that HAVING leaves."""
    groups = list(range(level.size))
    if having is None:
        return groups
    (safe,), seen = guarded([having], _reader(level, groups))
    return [i for i, truth in zip(groups, seen.values(safe), strict=True) if truth is True]


def _column(plan: Plan, scalar: Scalar, guard: Scalar, table: Columns) -> list[Value]:
    """The values of an expression in all rows: what `_exactly` says for each."""
    if isinstance(scalar, Key | Grouping | Released | Over):
        values = table.values(scalar)
        if not integral(scalar, plan) or set(map(type, values)) <= {int, type(None)}:
            return values
    return list(map(_exactly(plan, scalar, guard), table))


def _finished_column(scalar: Scalar, values: list[Value]) -> list[Value]:
    """The values as they are released: what `_finished` says for each."""
    kinds = set(map(type, values))
    if float not in kinds:
        return values
    if kinds == {float} and isinstance(scalar, Key | Released) and all(map(isfinite, values)):  # type: ignore[arg-type]
        return [value + 0.0 for value in values]  # type: ignore[operator]
    return [_finished(value, scalar) for value in values]


def _exactly(plan: Plan, scalar: Scalar, guard: Scalar) -> Callable[[Row], Value]:
    """How an expression is evaluated: what is surely a whole number in integers, anything else as it was made safe."""
    return (lambda row: _whole(scalar, row)) if integral(scalar, plan) else (lambda row: evaluate(guard, row))


def _whole(scalar: Scalar, row: Row) -> int | None:
    """An expression of whole numbers, in integers; NULL beyond the largest double, where there is no ± either."""
    if not isinstance(scalar, Arithmetic):
        value = evaluate(scalar, row)
        return int(value) if isinstance(value, int | float) and isfinite(value) else None
    left, right = _whole(scalar.left, row), _whole(scalar.right, row)
    if left is None or right is None:
        return None
    if scalar.operator is Operator.MULTIPLY:
        product = left * right
    else:
        product = left + right if scalar.operator is Operator.ADD else left - right
    return product if abs(product) <= float_info.max else None


def _finished(value: Value, scalar: Scalar) -> Value:
    """A value as it is released: never an infinity, no digits that mean nothing."""
    if not isinstance(value, float):
        return value
    if not isfinite(value):
        return None
    if isinstance(scalar, Key | Released) or copied(scalar) or (value.is_integer() and abs(value) < WHOLE):
        return value + 0.0  # no negative zero
    return float(f"{value:.{DIGITS}g}")


def _sorted(places: list[int], sort: Sort, keys: Sequence[Any]) -> list[int]:
    nulls = [i for i in places if keys[i] is None]
    rest = sorted((i for i in places if keys[i] is not None), key=keys.__getitem__, reverse=sort.descending)
    return nulls + rest if sort.nulls_first else rest + nulls


def optimistic(plan: Plan) -> bool:
    """Whether rows are selected by released numbers, and each interval holds by itself: those that are shown may be off more."""
    return selects(plan) and not plan.question.simultaneous


def selects(plan: Plan) -> bool:
    """Whether which rows are shown depends on released numbers; what is selected for being large is, on average, too large."""
    question = plan.question
    released = [question.having] if question.having is not None else []
    if question.limit is not None or question.offset:
        released += [sort.value for sort in question.order]
    return any(map(released_in, released))
