"""Numbers of an answer, from released integers: exact until the last rounding.

Totals are exact multiples of their step, and whole numbers are ints. Means are rounded to a billionth of the width of their
declared bounds. A mean is NULL where the released count cannot be told from 0: where it is no more than its own ± at 95 %. By
simulation, 100,000 draws each, so often it is NULL for this many people, in units of that ±:

    people        0     1/2      1     3/2      2      3      5
    geometric    98 %   90 %   53 %   12 %   2.6 %   0.1 %   0
    Gaussian     98 %   85 %   52 %   17 %   2.6 %   0.01 %  0

At 99 % it would be 99.5 % of nobody, but also 13 % (geometric) and 9 % (Gaussian) of twice the ±.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import floor, inf, lcm, log10
from typing import Any, TypeAlias

import numpy as np

from discreet.errors import Fault
from discreet.plan.plan import Mean, Plan, Shifted, Statistic, Total, measurements_of
from discreet.plan.scalar import Arithmetic, Key, Literal, Operator, Released, Scalar, Type, Value, type_of

Row: TypeAlias = Mapping[Any, Value]
"""Released values by their nodes."""

CONFIDENCE = 0.95
MEAN_DIGITS = 9  # of a mean, in decimal places of the width of its bounds


def columns(plan: Plan, released: Sequence[Any], groups: Sequence[int] | None = None) -> list[Row]:
    """For each group of the domain, or for some, its keys and its aggregates, by the nodes that post-processing has for them."""
    if len(released) != len(plan.measurements) or any(len(each) != len(plan.domain) for each in released):
        raise Fault("what was released is not what the plan measures", code="answer")
    chosen = range(len(plan.domain)) if groups is None else groups
    numbers = [np.asarray(each, np.int64)[list(chosen)].tolist() for each in released]
    aggregates = [aggregate_values(plan, i, numbers) for i in range(len(plan.statistics))]
    keys = [Key(j, type_of(key)) for j, key in enumerate(plan.question.keys)]
    nodes = [Released(j) for j in range(len(aggregates))]
    return [
        {
            **dict(zip(keys, plan.domain[group], strict=True)),
            **{node: values[i] for node, values in zip(nodes, aggregates, strict=True)},
        }
        for i, group in enumerate(chosen)
    ]


def aggregate_values(plan: Plan, index: int, released: Sequence[Sequence[int]]) -> list[int | float | None]:
    """One aggregate, for each group."""
    statistic = plan.statistics[index]
    if isinstance(statistic, Mean):
        step = plan.measurements[statistic.total].step / plan.measurements[statistic.count].step
        few = noise_of(plan, statistic.count)
        return _means(statistic, step, few, released[statistic.total], released[statistic.count])
    tops, bottom = _sums(plan, statistic, released)
    found = [number(top, bottom) for top in tops]
    return [*found] if is_whole(plan, statistic) else [float(value) for value in found]


def _sums(plan: Plan, statistic: Total | Shifted, released: Sequence[Sequence[int]]) -> tuple[list[int], int]:
    """Exact quotients of integers, which have one divisor."""
    if isinstance(statistic, Total):
        step = plan.measurements[statistic.measurement].step
        return [step.numerator * total for total in released[statistic.measurement]], step.denominator
    step = plan.measurements[statistic.total].step
    shift = statistic.middle * plan.measurements[statistic.count].step
    bottom = lcm(step.denominator, shift.denominator)
    per_total, per_count = int(step * bottom), int(shift * bottom)
    pairs = zip(released[statistic.total], released[statistic.count], strict=True)
    return [per_total * total + per_count * count for total, count in pairs], bottom


def is_whole(plan: Plan, statistic: Statistic) -> bool:
    """Whether a statistic is of whole numbers, none of which was rounded."""
    if isinstance(statistic, Mean):
        return False
    made = [plan.measurements[i] for i in measurements_of(statistic)]
    steps = [each.step for each in made] + ([statistic.middle] if isinstance(statistic, Shifted) else [])
    return not any(each.rounding for each in made) and all(step.denominator == 1 for step in steps)


def noise_of(plan: Plan, measurement: int) -> int:
    """The ± of a measurement at 95 %, for its noise alone, in steps: a released count that is no more cannot be told from 0."""
    mechanism = plan.measurements[measurement].mechanism
    return 0 if mechanism is None else int(mechanism.error(CONFIDENCE))  # noise on integers


def number(top: int, bottom: int) -> int | float:
    """top/bottom: an int over 1, else the nearest float; an infinity beyond the largest, which is not released."""
    try:
        near = top / bottom
    except OverflowError:
        return inf if top > 0 else -inf
    return top if bottom == 1 else near


def _means(
    mean: Mean, step: Fraction, few: int, totals: Sequence[int], counts: Sequence[int]
) -> list[int | float | None]:
    places = _places(mean.high - mean.low)
    low, high = (round(float(each), places) for each in (mean.low, mean.high))
    whole = mean.middle.denominator * step.denominator  # middle + step · total/count as a quotient of two integers
    per_count, per_total = (int(each * whole) for each in (mean.middle, step))
    return [
        min(max(round((per_count * count + per_total * total) / (whole * count), places), low), high)
        if count > few
        else None
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
        case Released():
            return is_whole(plan, plan.statistics[scalar.index])
        case Key():
            return scalar.type is Type.INTEGER
        case Arithmetic():
            whole = scalar.operator in (Operator.ADD, Operator.SUBTRACT, Operator.MULTIPLY)
            return whole and integral(scalar.left, plan) and integral(scalar.right, plan)
        case _:
            return False


def output_type(scalar: Scalar, plan: Plan) -> Type:
    """The type of an output."""
    return Type.INTEGER if integral(scalar, plan) else type_of(scalar)
