"""Windows over the rows of an answer: a sum of released numbers over all of them, or over those with equal keys, and places in an order.

The rows are those that HAVING leaves, as in SQL; nothing is looked at but what was released. A sum of released totals has the sum of their
noises, which are independent from group to group. A row's own total is in it as it is beside it, so that a share of a whole has an
interval as any other ratio has; all others are as one total, with a noise of its own. Places have no interval: how a released
order differs from the true one is not told by any number.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.plan.affine import Affine, AffineForm, Reals
from discreet.plan.evaluate import evaluate
from discreet.plan.numbers import Columns, Row
from discreet.plan.scalar import Over, Scalar, Value, WindowFunction, windows_in
from discreet.plan.spread import Noise, SummedNoise, summed

if TYPE_CHECKING:
    from discreet.plan.forms import Reader

Evaluation = Callable[[Row], Value]


def with_windows(
    asked: Sequence[Scalar],
    safe: Sequence[Scalar],
    rows: Columns,
    exactly: Callable[[Scalar, Scalar], Evaluation],
) -> Columns:
    """The rows, each with the value of every window in some expressions, as they were asked for and as they were made safe."""
    values: dict[Scalar, list[Value]] = {}
    for scalar, guard in zip(asked, safe, strict=True):
        for node, guarded in zip(windows_in(scalar), windows_in(guard), strict=True):
            if node not in values:
                values[node] = _values(node, guarded, rows, exactly)
            values[guarded] = values[node]
    return rows.beside(values)


def _values(
    node: Over, guarded: Over, rows: Sequence[Row], exactly: Callable[[Scalar, Scalar], Evaluation]
) -> list[Value]:
    parts: dict[tuple[Value, ...], list[int]] = {}
    for i, row in enumerate(rows):
        parts.setdefault(partition_of(node, row), []).append(i)
    column: list[Value] = [None] * len(rows)
    for members in parts.values():
        rule = _total if node.function is WindowFunction.SUM else _places
        for i, value in zip(members, rule(node, guarded, [rows[i] for i in members], exactly), strict=True):
            column[i] = value
    return column


def partition_of(node: Over, row: Row) -> tuple[Value, ...]:
    """The keys by which a row is told apart from those of other parts."""
    return tuple(evaluate(key, row) for key in node.partition)


def _total(
    node: Over, guarded: Over, rows: Sequence[Row], exactly: Callable[[Scalar, Scalar], Evaluation]
) -> list[Value]:
    """The sum of what is not NULL, for each row the same; NULL where there is none."""
    value = exactly(node.operands[0], guarded.operands[0])
    there = [each for each in map(value, rows) if isinstance(each, int | float)]
    return [sum(there) if there else None] * len(rows)


def _places(
    node: Over, guarded: Over, rows: Sequence[Row], exactly: Callable[[Scalar, Scalar], Evaluation]
) -> list[Value]:
    """The place of each row in the order; rows without a difference have one place, or for ROW_NUMBER follow the order of the groups."""
    places, keys = list(range(len(rows))), []
    for (asked, _, _), (safe, _, _) in zip(node.order, guarded.order, strict=True):
        value = exactly(asked, safe)
        keys.append([value(row) for row in rows])
    for column, (_, descending, nulls_first) in reversed(list(zip(keys, node.order, strict=True))):
        nulls = [i for i in places if column[i] is None]
        rest = sorted((i for i in places if column[i] is not None), key=column.__getitem__, reverse=descending)  # type: ignore[arg-type]
        places = nulls + rest if nulls_first else rest + nulls
    ranks: list[Value] = [None] * len(rows)
    rank = dense = 0
    for place, i in enumerate(places, 1):
        if place == 1 or any(column[i] != column[places[place - 2]] for column in keys):
            rank, dense = place, dense + 1
        ranks[i] = {WindowFunction.RANK: rank, WindowFunction.DENSE_RANK: dense}.get(node.function, place)
    return ranks


# Where the truth of a sum lies.


def mixes_levels(node: Over, reader: "Reader") -> bool:
    """Whether a part that some of these rows are in has rows of another level of the answer."""
    if reader.apart is None:
        return False
    others = {partition_of(node, row) for row in reader.apart}
    return any(partition_of(node, row) in others for row in reader.seen)


def _several(noise: Noise, times: int) -> SummedNoise:
    """The sum of so many noises; of one it is a sum, too, as that of other rows is no noise of the row's own."""
    several = summed(noise, times)
    return several if isinstance(several, SummedNoise) else SummedNoise(several, 1)


def sum_form(node: Over, reader: "Reader") -> AffineForm | None:
    """A sum over rows as an affine function of the row's own measurements and of all others as one; None where it is no such.

    Rows of different levels of an answer share their noises: a sum over such has no interval.
    """
    if node.function is not WindowFunction.SUM or mixes_levels(node, reader):
        return None
    whole = reader.everything()
    form = whole.form(node.operands[0])
    own = reader.form(node.operands[0])
    if form is None or own is None or form.bottom is not None or own.bottom is not None:
        return None
    if any(i < 0 or np.unique(slope).size > 1 for i, slope in form.top.slopes.items()):
        return None  # rows that count differently
    parts = {part: k for k, part in enumerate(dict.fromkeys(partition_of(node, row) for row in whole.seen))}
    at = np.array([parts[partition_of(node, row)] for row in whole.seen], np.int64)
    here = np.array([parts[partition_of(node, row)] for row in reader.seen], np.int64)

    def in_all(values: Reals | float) -> Reals:
        full = np.broadcast_to(np.asarray(values, np.float64), (whole.size,))
        each: Reals = np.bincount(at, full, len(parts)).astype(np.float64)
        return each[here]

    others = in_all(1.0) - 1
    slopes = dict(own.top.slopes)
    for i, slope in own.top.slopes.items():
        noise = reader.plan.decided.noise_of(i)
        for times in np.unique(others[others > 0]):
            if noise is None:
                return None
            rows = others == times
            place = reader.virtual(_several(noise, int(times)), (i, node.partition))
            reader.totals[place] = np.where(rows, in_all(whole.totals[i]) - reader.totals[i], 0.0)
            slopes[place] = np.where(rows, slope, 0.0)
    return AffineForm(Affine(in_all(form.top.constant), slopes, in_all(form.top.off)), None, *reader.unbounded())
