"""How far each number of an answer may be off: intervals that hold the truth with a stated confidence, for the noise alone.

The truth is the same expression of the clamped and capped data. The noises of the measurements of a row are independent, and everything
is traced back to them: what two aggregates share they share here too. What the rounding to public grids may do is added: half a step to
a mean, and to a sum half a step of its own and of each row, as far as it is public how many rows there are.

    a total, or an affine function of one       the exact quantile of its noise
    an affine function of several               the quantile of the sum of their noises
    a ratio of two of these, and so a mean      Fieller's set: all t with |top − t·bottom| within the quantile of that noise
    anything else                               interval arithmetic on the above, each with its share of what may be missed
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from math import floor, isfinite, isnan
from typing import Any

import numpy as np

from discreet.plan import numbers, post
from discreet.plan.evaluate import evaluate
from discreet.plan.few import guarded
from discreet.plan.forms import Reader
from discreet.plan.interval import End, Interval, IntervalColumn, Intervals
from discreet.plan.levels import LevelView, views
from discreet.plan.measurement import CONFIDENCE
from discreet.plan.outward import DIGITS, TOUCH, around, most_told, rounded_up, told, told_of
from discreet.plan.plan import Plan
from discreet.plan.question import Output
from discreet.plan.rules.relations import row_bounds
from discreet.plan.sampling import Sampling
from discreet.plan.scalar import Released, Scalar, Type, Value, has_key, is_key, released_in, type_of, windows_in
from discreet.plan.simultaneous import confidence_of_each
from discreet.plan.windows import mixes_levels, with_windows

MOST_CORNERS = 32
TOO_FEW = "too few to tell from none"
SMALL_BOTTOM = "what it is divided by is too small to tell"


@dataclass(frozen=True, slots=True)
class Predicted:
    """The ± that an output will have, before anything is measured. Without one: the reason, or for keys and texts nothing."""

    name: str
    error: float | None
    reason: str | None = None
    assumes: str | None = None


def intervals(plan: Plan, released: Sequence[Any], rows: post.Shown, confidence: float = CONFIDENCE) -> Intervals:
    """For each row and output its interval; None for keys, and for what is not a number."""
    columns: list[IntervalColumn | None] = [None] * len(plan.question.outputs)
    levels = views(plan, released)
    confidence = confidence_of_each(plan.question, sum(level.size for level in levels), confidence)
    with np.errstate(all="ignore"):  # what is not a number, or too large, is told apart in the end
        for level in levels:
            reader, there = _reader(level, rows, alone=len(levels) == 1)
            for j, output in enumerate(plan.question.outputs):
                values = [rows.rows[i][j] for i in there]
                column = _column(reader, output.value, values, confidence)
                columns[j] = column if len(levels) == 1 else _beside(columns[j], column, there, len(rows.rows))
    return Intervals(columns, len(rows.rows))


def certain_intervals(plan: Plan, rows: Sequence[Sequence[Value]], confidence: float) -> Intervals | None:
    """The intervals of rows whose ± is the same whatever was released; None where that of a column is not."""
    if plan.question.levels or plan.question.population or plan.question.simultaneous:
        return None
    columns: list[IntervalColumn | None] = []
    for j, output in enumerate(plan.question.outputs):
        if is_key(output.value) or not type_of(output.value).numeric or not rows:
            columns.append(None)
            continue
        release = plan.releases[output.value.index] if isinstance(output.value, Released) else None
        error = None if release is None else release.error(plan, confidence)
        if error is None:
            return None
        columns.append(around([row[j] for row in rows], [error] * len(rows)))
    return Intervals(columns, len(rows))


def _reader(level: LevelView, rows: post.Shown, alone: bool) -> tuple[Reader, Sequence[int]]:
    """What reads the rows of one level, and where they stand among all that are shown; `alone` where there are no others."""
    there: Sequence[int] = range(len(rows.groups)) if alone else level.among(rows.groups)
    reader = Reader.of(
        level.plan,
        level.released,
        level.own(rows.groups),
        sampling=Sampling.of(level.plan) if level.plan.question.population else None,
        among=None if rows.among is None else level.own(rows.among),
        seen=rows.seen if alone or rows.seen is None else rows.seen.only(there),
        key_places=level.key_places,
        apart=rows.others(level),
    )
    return reader, there


def _beside(
    known: IntervalColumn | None, more: IntervalColumn | None, places: Sequence[int], size: int
) -> IntervalColumn | None:
    """The intervals of the rows of one level, beside those of others."""
    if more is None:
        return known
    cells: list[Interval | None] = [None] * size if known is None else list(known.cells())
    for place, cell in zip(places, more.cells(), strict=True):
        cells[place] = cell
    return IntervalColumn.of(cells)


# From arrays to what is told.


def _column(reader: Reader, scalar: Scalar, values: Sequence[Value], confidence: float) -> IntervalColumn | None:
    if is_key(scalar) or not type_of(scalar).numeric or not values:
        return None
    release = reader.plan.releases[scalar.index] if isinstance(scalar, Released) else None
    before = None if release is None else release.told_before(reader)
    if before is not None:
        return before
    sampled = reader.sampling is not None
    error = None if release is None or sampled else release.error(reader.plan, confidence)
    if error is not None:
        return around(values, [error] * len(values))
    words = (release and release.unknown) or SMALL_BOTTOM, (release and release.few) or TOO_FEW
    # a number of people who might have come is no whole one
    whole = not sampled and numbers.output_type(scalar, reader.plan) is Type.INTEGER
    known = [i for i, value in enumerate(values) if value is not None]
    if release is None or whole or len(known) in (0, len(values)):
        return _spans(reader, scalar, values, confidence, words, whole)
    # of what is of too few nothing is told, and nothing is looked for
    column = _spans(reader.only(known), scalar, [values[i] for i in known], confidence, words, whole)
    return None if column is None else _among(column, known, len(values), words[1])


def _among(column: IntervalColumn, places: Sequence[int], size: int, flag: str) -> IntervalColumn:
    """Intervals of some rows among all; the others have none, and say why."""
    nothing: list[End] = [None] * size
    all_rows = IntervalColumn(
        nothing, nothing.copy(), nothing.copy(), [flag] * size, frozenset(map(places.__getitem__, column.absent))
    )
    for place, low, high, error, word in zip(places, column.low, column.high, column.error, column.flag, strict=True):
        all_rows.low[place], all_rows.high[place] = low, high
        all_rows.error[place], all_rows.flag[place] = error, word
    return all_rows


def _spans(
    reader: Reader, scalar: Scalar, values: Sequence[Value], confidence: float, words: tuple[str, str], whole: bool
) -> IntervalColumn | None:
    """The intervals by which an expression is read. The words are for those that have no end, and for what is of too few."""
    span, (unknown, of_few) = reader.span(scalar, confidence), words
    if span is None:
        return None
    if whole and span.half is not None:  # which doubles may not hold, but for their ±
        halves = span.half.tolist()
        errors = {half: _whole_up(half) for half in set(halves)}
        return around(values, [errors[half] for half in halves])
    column = told(values, span, unknown, whole)
    if None not in values:
        return column
    nothing = Interval(None, None, None, of_few)
    cells = zip(values, reader.of_too_few(scalar).tolist(), column.cells(), strict=True)
    return IntervalColumn.of([nothing if value is None and is_few else cell for value, is_few, cell in cells])


def _whole_up(half: float) -> int | float:
    """The most that a whole number is off; a little above what doubles say, for their rounding."""
    return floor(half * (1 + TOUCH) + TOUCH) if isfinite(half) else half


# Before anything is measured.


def predicted(plan: Plan, confidence: float = CONFIDENCE) -> tuple[Predicted, ...]:
    """The ± of each output. Of counts and sums and what is affine in them it is exact: the noise decides. Of ratios it is what it
    would be, at worst, if the declared `people` were spread evenly over the groups. It is the worst of what a plan gives as examples."""
    with np.errstate(all="ignore"):
        decisions = [
            [_predicted(level, output, each, levels) for output in plan.question.outputs]
            for levels in map(views, plan.examples())
            for each in [confidence_of_each(plan.question, sum(level.size for level in levels), confidence)]
            for level in levels
        ]
    foreseen = tuple(map(_worst, zip(*decisions, strict=True)))
    return tuple(map(_of_noise, foreseen)) if plan.question.population else foreseen


def _of_noise(each: Predicted) -> Predicted:
    """What is foreseen of a ± that will hold the people who were sampled, too: the noise alone."""
    if each.error is None:
        return each
    of_noise = "the noise alone: how much people differ is measured with the answer"
    return replace(each, assumes=of_noise if each.assumes is None else f"{each.assumes}; {of_noise}")


def _worst(each: Sequence[Predicted]) -> Predicted:
    """One without a ± before any other."""
    return max(each, key=lambda one: (one.error is None, one.error or 0.0))


def _predicted(level: LevelView, output: Output, confidence: float, levels: Sequence[LevelView]) -> Predicted:
    plan, scalar = level.plan, output.value
    if is_key(scalar) or not type_of(scalar).numeric:
        return Predicted(output.name, None)
    error = plan.releases[scalar.index].error(plan, confidence) if isinstance(scalar, Released) else None
    if error is not None:
        return Predicted(output.name, float(error), None, _summed(plan))
    unforeseen = next((why for i in released_in(scalar) if (why := plan.releases[i].ahead)), None)
    if unforeseen is not None:
        return Predicted(output.name, None, unforeseen)
    groups = range(len(plan.domain)) if has_key(scalar) or windows_in(scalar) else range(1)
    public = any(plan.decided.noise_of(i) is None for i in used_by(plan, scalar))
    apart = [numbers.columns(each.plan, each.released, None, each.key_places) for each in levels if each is not level]
    others = numbers.Columns.joined(apart) if apart else None
    reader = Reader.of(plan, level.released, groups, ahead=True, key_places=level.key_places, apart=others)
    if any(mixes_levels(window, reader) for window in windows_in(scalar)):
        return Predicted(output.name, None)
    form = reader.form(scalar)
    if form is not None and form.bottom is None and not public:
        span = reader.ends(form, confidence)
        half = float(np.fmax.reduce(span.high - span.low)) / 2
        whole = span.half is not None and numbers.output_type(scalar, plan) is Type.INTEGER
        error = rounded_up(half, DIGITS) if whole else most_told(half)
        return Predicted(output.name, None if isnan(half) else error, None, _summed(plan))
    if plan.people is None:
        reason = (
            "its ± depends on how many are counted, which nothing declares; add --people N, or people = N under [unit]"
        )
        return Predicted(output.name, None, reason)
    return _at_worst(level, output, groups, confidence)


def _summed(plan: Plan) -> str | None:
    """The sums that a level of an answer has, in words; nothing where it has none."""
    cells = max((each.cells for each in plan.measurements), default=1)
    return f"sums of {cells:,} groups" if cells > 1 else None


def _at_worst(level: LevelView, output: Output, groups: Sequence[int], confidence: float) -> Predicted:
    """The widest of the intervals at the corners of what each row may hold."""
    plan, worst = level.plan, 0.0
    each = evenly_spread(plan)
    for reader in corners(level, output, groups, each):
        span = reader.span(output.value, confidence)
        if span is None:
            return Predicted(output.name, None)
        for value, low, high in zip(values_of(output.value, reader), span.low, span.high, strict=True):
            interval = told_of(value, float(low), float(high), None, SMALL_BOTTOM, False)
            if interval is None or interval.error is None:
                reason = f"there may be too few to tell from none, with about {each:,} in a group, and then it is NULL"
                return Predicted(output.name, None, reason)
            worst = max(worst, interval.error)
    evenly = any(plan.releases[i].evenly(plan) for i in released_in(output.value))
    spread = ", and values spread evenly between their bounds" if evenly else ""
    return Predicted(output.name, worst, None, in_a_group(plan) + spread)


def evenly_spread(plan: Plan) -> int:
    """How many there are in a group, if all people are spread evenly."""
    return max(1, (plan.people or 1) // max(1, len(plan.domain)))


def in_a_group(plan: Plan) -> str:
    """How many there are in a group, in words."""
    if len(plan.domain) == 1:
        return f"{plan.people:,} people, as declared"
    each = evenly_spread(plan)
    return f"about {each:,} in a group: {plan.people:,} people declared, over {len(plan.domain):,} groups"


def corners(level: LevelView, output: Output, groups: Sequence[int], each: int) -> Iterator[Reader]:
    """Readers of what an output may be made of, with so many in a group: the ends of what each row may hold."""
    plan = level.plan
    counted, terms = _counts(plan), plan.terms
    releases = [plan.releases[i] for i in released_in(output.value)]
    evenly = {place: gives for release in releases for place, gives in release.evenly(plan).items()}
    ends = [
        (int(each / measured.step),)
        if i in counted
        else (round(each * evenly[i]),)
        if i in evenly
        else tuple(each * end for end in row_bounds(measured.made, terms))
        for i, measured in enumerate(plan.measurements)
    ]
    # what is read besides is of at most so many, and of few of them or of all
    ends += [(0, each)] * (plan.decided.width - len(ends))
    used = used_by(plan, output.value)
    places = list(product(*(end if i in used else end[:1] for i, end in enumerate(ends))))
    for corner in {*places[:MOST_CORNERS], places[-1]}:
        totals = [np.full(len(plan.domain), number, np.int64) for number in corner]
        yield Reader.of(plan, totals, groups, key_places=level.key_places)


def values_of(scalar: Scalar, reader: Reader) -> list[Value]:
    """The values of an expression in the rows of a reader, NULL where it is of too few."""
    (safe,), seen = guarded([scalar], reader)
    rows = with_windows([scalar], [safe], seen, lambda _, guard: partial(evaluate, guard))
    return [evaluate(safe, row) for row in rows]


def _counts(plan: Plan) -> set[int]:
    """The measurements that count."""
    aggregates = zip(plan.question.aggregates, plan.releases, strict=True)
    return {
        place
        for aggregate, release in aggregates
        for place in (release.places if aggregate.kind.counting else release.counted.values())
    }


def used_by(plan: Plan, scalar: Scalar) -> set[int]:
    """The measurements that an expression is made of."""
    releases = [plan.releases[i] for i in released_in(scalar)]
    read = {place for release in releases for i in release.readings for place in plan.decided.columns_of(i)}
    return read.union(*(release.places for release in releases))
