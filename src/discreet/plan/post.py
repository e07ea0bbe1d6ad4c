"""What is made of released numbers: outputs, HAVING, ORDER BY, OFFSET and LIMIT. Nothing here sees anything but what was released.

Totals are exact multiples of their step, and whole numbers are ints. Means are rounded to a billionth of the width of their
declared bounds, and other results of arithmetic to 12 digits, so that no number has a tail of digits that mean nothing. HAVING and
ORDER BY see the same rounded numbers as whoever reads the answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, inf, isfinite, log10
from typing import Any

import numpy as np

from discreet.errors import Fault
from discreet.plan.evaluate import evaluate
from discreet.plan.plan import Mean, Plan, Shifted, Total, measurements_of
from discreet.plan.question import Sort
from discreet.plan.scalar import Arithmetic, Column, Literal, Operator, Scalar, Type, Value, columns_in, type_of

MEAN_DIGITS = 9  # of a mean, in decimal places of the width of its bounds
DIGITS = 12  # of other results of arithmetic
WHOLE = 2**53  # beyond it doubles skip integers


@dataclass(frozen=True, slots=True)
class Released:
    """The rows of an answer: of which group of the plan's domain each is, and its values, one for each output."""

    groups: tuple[int, ...]
    rows: tuple[tuple[Value, ...], ...]


def released_rows(plan: Plan, released: Sequence[Any]) -> Released:
    """The rows, from one int64 array over the plan's domain for each of its measurements."""
    seen = columns(plan, released)
    kept = list(range(len(plan.domain)))
    question = plan.question
    if question.having is not None:
        kept = [i for i in kept if evaluate(question.having, seen[i]) is True]
    for sort in reversed(question.order):  # each sort keeps the order of those after it where it finds no difference
        kept = _sorted(kept, sort, seen)
    kept = kept[question.offset :]
    if question.limit is not None:
        kept = kept[: question.limit]
    finishers = [(output.value, integral(output.value, plan)) for output in question.outputs]
    rows = tuple(tuple(_finished(evaluate(value, seen[i]), value, whole) for value, whole in finishers) for i in kept)
    return Released(tuple(kept), rows)


def columns(plan: Plan, released: Sequence[Any], groups: Sequence[int] | None = None) -> list[Mapping[str, Value]]:
    """For each group of the domain, or for some, its keys and its aggregates, by the names that post-processing knows them by."""
    if len(released) != len(plan.measurements) or any(len(each) != len(plan.domain) for each in released):
        raise Fault("what was released is not what the plan measures", code="answer")
    chosen = range(len(plan.domain)) if groups is None else groups
    numbers = [np.asarray(each, np.int64)[list(chosen)].tolist() for each in released]
    aggregates = [aggregate_values(plan, i, numbers) for i in range(len(plan.statistics))]
    return [
        {f"key{j}": value for j, value in enumerate(plan.domain[group])}
        | {f"aggregate{j}": values[i] for j, values in enumerate(aggregates)}
        for i, group in enumerate(chosen)
    ]


def aggregate_values(plan: Plan, index: int, released: Sequence[Sequence[int]]) -> list[int | float]:
    """One aggregate, for each group."""
    statistic = plan.statistics[index]
    match statistic:
        case Total():
            step = plan.measurements[statistic.measurement].step
            return [number(step.numerator * total, step.denominator) for total in released[statistic.measurement]]
        case Shifted():
            step = plan.measurements[statistic.total].step
            shift = statistic.middle * plan.measurements[statistic.count].step
            whole = step.denominator * shift.denominator
            each, count = int(step * whole), int(shift * whole)
            pairs = zip(released[statistic.total], released[statistic.count], strict=True)
            exact = (Fraction(each * int(total) + count * int(n), whole) for total, n in pairs)
            return [number(value.numerator, value.denominator) for value in exact]
        case Mean():
            step = plan.measurements[statistic.total].step / plan.measurements[statistic.count].step
            return _means(statistic, step, released[statistic.total], released[statistic.count])


def number(top: int, bottom: int) -> int | float:
    """top/bottom: an int over 1, else the nearest float; an infinity beyond the largest, which is not released."""
    try:
        near = top / bottom
    except OverflowError:
        return inf if top > 0 else -inf
    return top if bottom == 1 else near


def _means(mean: Mean, step: Fraction, totals: Sequence[int], counts: Sequence[int]) -> list[int | float]:
    """The middle where the count is not positive: any value would do, and this one is never far off."""
    places = _places(mean.high - mean.low)
    middle, low, high = (round(float(each), places) for each in (mean.middle, mean.low, mean.high))
    whole = mean.middle.denominator * step.denominator  # middle + step · total/count as a quotient of two integers
    per_count, per_total = (int(each * whole) for each in (mean.middle, step))
    return [
        min(max(round((per_count * count + per_total * total) / (whole * count), places), low), high)
        if count > 0
        else middle
        for total, count in zip(totals, counts, strict=True)
    ]


def _places(width: Fraction) -> int:
    """Decimal places; bounds of no width leave nothing to round."""
    return MEAN_DIGITS - floor(log10(width)) if width else 17


def integral(scalar: Scalar, plan: Plan) -> bool:
    """Whether an expression is a whole number whatever is released: sums, differences and products of whole totals."""
    match scalar:
        case Literal():
            return scalar.type is Type.INTEGER and scalar.value is not None
        case Column() if (index := aggregate_index(scalar)) is not None:
            statistic = plan.statistics[index]
            steps = [plan.measurements[i].step for i in measurements_of(statistic)]
            parts = [*steps, statistic.middle] if isinstance(statistic, Shifted) else steps
            return not isinstance(statistic, Mean) and all(part.denominator == 1 for part in parts)
        case Column():
            return scalar.type is Type.INTEGER
        case Arithmetic():
            whole = scalar.operator in (Operator.ADD, Operator.SUBTRACT, Operator.MULTIPLY)
            return whole and integral(scalar.left, plan) and integral(scalar.right, plan)
        case _:
            return False


def aggregate_index(scalar: Scalar) -> int | None:
    """Which aggregate a column of post-processing is."""
    if isinstance(scalar, Column) and scalar.name.startswith("aggregate"):
        return int(scalar.name.removeprefix("aggregate"))
    return None


def output_type(scalar: Scalar, plan: Plan) -> Type:
    """The type of an output."""
    return Type.INTEGER if integral(scalar, plan) else type_of(scalar)


def _finished(value: Value, scalar: Scalar, whole: bool) -> Value:
    """A value as it is released: never an infinity, no digits that mean nothing."""
    if not isinstance(value, float):
        return value
    if not isfinite(value):
        return None
    if whole or (value.is_integer() and abs(value) < WHOLE):
        return int(value) if whole else value + 0.0  # no negative zero
    return value if isinstance(scalar, Column) else float(f"{value:.{DIGITS}g}")


def _sorted(kept: list[int], sort: Sort, seen: Sequence[Mapping[str, Value]]) -> list[int]:
    keys: dict[int, Any] = {i: evaluate(sort.value, seen[i]) for i in kept}
    nulls = [i for i in kept if keys[i] is None]
    rest = sorted((i for i in kept if keys[i] is not None), key=keys.__getitem__, reverse=sort.descending)
    return nulls + rest if sort.nulls_first else rest + nulls


def selects(plan: Plan) -> bool:
    """Whether which rows are shown depends on released numbers; what is selected for being large is, on average, too large."""
    question = plan.question
    released = [question.having] if question.having is not None else []
    if question.limit is not None or question.offset:
        released += [sort.value for sort in question.order]
    return any(name.startswith("aggregate") for scalar in released for name in columns_in(scalar))
