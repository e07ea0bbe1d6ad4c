"""What is computed for all groups of an answer at once is what the slow and obvious way gives for each of them, to the last bit."""

import pickle
from fractions import Fraction as F
from itertools import product
from math import inf, nan

import numpy as np
import pytest

from discreet.mechanisms import Geometric, RoundedGaussian
from discreet.plan import draws, outward, spread
from discreet.plan.affine import Reals, Span
from discreet.plan.evaluate import evaluate
from discreet.plan.interval import Interval, Intervals
from discreet.plan.intervals import intervals
from discreet.plan.numbers import columns
from discreet.plan.post import Shown, released_rows
from discreet.plan.scalar import Case, Comparison, IsNull, Key, Order, Released, Type, Value
from discreet.plan.scalar import Function as Call
from tests.plan.made import COUNT, FINE, LAPLACE, MEAN, SUM, add, number, over, plan_of, times
from tests.scale import repeats

KEY = Key(0, Type.INTEGER)

ROWS = 40
SIGNS = [(x, y) for x in (-1.0, 1.0) for y in (-1.0, 1.0)]


def same(found: Reals, by_hand: Reals) -> bool:
    return np.array_equal(np.asarray(found), np.asarray(by_hand), equal_nan=True)


def drawn_numbers(draw: np.random.Generator, turn: int) -> Reals:
    """Draws of a statistic: some alike, some in order, some no numbers, some without an end."""
    numbers = draw.normal(0, 10.0 ** draw.integers(-3, 4), (ROWS, draws.DRAWS))
    if turn % 2:
        numbers = np.rint(numbers)
    if turn % 3 == 0:
        numbers = np.sort(numbers, axis=1)
    if turn % 7 == 0:
        numbers[:, :: draws.EIGHTH] -= 1e9
    if turn % 4 < 2:
        numbers[draw.random(numbers.shape) < 10.0 ** draw.uniform(-4, -1, (ROWS, 1))] = np.nan
    if turn % 5 == 0:
        numbers[draw.random(numbers.shape) < 1e-3] = draw.choice([-np.inf, np.inf])
    return numbers


def ends_of_draws_are_those_in_order() -> None:
    draw = np.random.default_rng(1)
    for turn in range(repeats(60)):
        numbers, miss = drawn_numbers(draw, turn), float(draw.uniform(0, 0.2))
        most = int(miss * draws.DRAWS)
        low = np.sort(np.where(np.isnan(numbers), -np.inf, numbers), axis=1)[:, most]
        high = np.sort(np.where(np.isnan(numbers), np.inf, numbers), axis=1)[:, draws.DRAWS - 1 - most]
        found = draws._quantiles(numbers, miss)
        assert same(found[0], low) and same(found[1], high), turn


def test_ends_of_draws_are_those_in_order() -> None:
    ends_of_draws_are_those_in_order()


def slopes_by_hand(top: float, bottom: float, corners: Reals, off: Reals) -> tuple[float, float] | None:
    """The least and the largest slope of all corners, each moved to every side; None where they are on both sides of 0."""
    moved = [(top + u + x * off[0], bottom + v + y * off[1]) for u, v in corners.tolist() for x, y in SIGNS]
    if not (all(v > 0 for _, v in moved) or all(v < 0 for _, v in moved)):
        return None
    slopes = [u / v for u, v in moved]
    return min(slopes), max(slopes)


def slopes_are_those_of_every_corner() -> None:
    draw, free = np.random.default_rng(2), np.full(ROWS, np.inf)
    for turn in range(repeats(20)):
        corners = draw.normal(0, 1, (9, 2)) * 10.0 ** draw.integers(-2, 3, 2)
        corners = np.concatenate([corners, -corners])
        top, bottom = draw.normal(0, 100, ROWS), draw.normal(0, 300, ROWS)
        off = np.abs(draw.normal(0, 1, (2, ROWS))) * np.array([[turn % 3], [turn % 2]])
        first, last, crosses = spread.slopes(top, bottom, corners, -free, free, off)
        for i in range(ROWS):
            ends = slopes_by_hand(float(top[i]), float(bottom[i]), corners, off[:, i])
            assert crosses[i] == (ends is None)
            assert ends is None or (first[i], last[i]) == ends, (turn, i)


def test_slopes_are_those_of_every_corner() -> None:
    slopes_are_those_of_every_corner()


@pytest.mark.parametrize("noises", [(Geometric(F(3)), Geometric(F(50))), (RoundedGaussian(F(7)), Geometric(F(2)))])
def test_widths_of_many_groups_are_those_of_each(noises: tuple[spread.Noise, ...]) -> None:
    draw = np.random.default_rng(3)
    sizes = draw.choice([0.0, 1.0, 1.0, 2.5, 1e-3], (repeats(60), 2)) * draw.choice([-1.0, 1.0], (repeats(60), 2))
    each = [spread.half_widths(row[None, :], noises, 0.95)[0] for row in sizes]
    assert same(spread.half_widths(sizes, noises, 0.95), np.array(each))


def hard_numbers(draw: np.random.Generator, size: int) -> Reals:
    """Numbers of all sizes: whole ones, those of few digits, neighbours of such, and any."""
    numbers = draw.normal(0, 1, size) * 10.0 ** draw.integers(-30, 30, size)
    short = np.array(
        [float(f"{each:.{int(digits)}g}") for each, digits in zip(numbers, draw.integers(1, 7, size), strict=True)]
    )
    kind = draw.integers(0, 6, size)
    chosen = [short, np.nextafter(short, np.inf), np.nextafter(short, -np.inf), np.rint(short), numbers]
    return np.asarray(np.select([kind == i for i in range(len(chosen))], chosen, 0.0), np.float64)


def ends_are_told_one_by_one() -> None:
    draw, size = np.random.default_rng(4), repeats(3000)
    for turn in range(6):
        values = hard_numbers(draw, size)
        narrow = np.abs(values) * 10.0 ** draw.integers(-14, 2, size)
        low, high = (
            values - (hard_numbers(draw, size), narrow)[turn % 2],
            values + (hard_numbers(draw, size), narrow)[turn % 2],
        )
        if turn > 1:
            low, high = np.where(draw.random(size) < 0.1, draw.choice([-np.inf, np.nan], size), low), high + 0.1
        if turn > 3:  # as where intervals end at bounds
            low, high = np.floor(low), np.ceil(high)
            assert (np.abs(low[np.isfinite(low)]) < 2**52).mean() > 0.3
        given = [None if draw.random() < 0.05 else each for each in values.tolist()]
        span = Span(low, high, draw.random(size) < 0.3)
        found = outward.told(given, span, "unknown", whole=False)
        rows = zip(given, low.tolist(), high.tolist(), span.open.tolist(), strict=True)
        by_hand = [outward.told_of(v, a, b, "unknown" if open_ else None, "unknown", False) for v, a, b, open_ in rows]
        assert list(map(repr, found.cells())) == list(map(repr, by_hand))


def test_ends_are_told_one_by_one() -> None:
    ends_are_told_one_by_one()


def test_what_lies_around_a_number_is_told_one_by_one() -> None:
    draw = np.random.default_rng(5)
    for most in (10.0, 1.79e308):
        values: list[Value] = [*(draw.uniform(-1, 1, 50) * most).tolist(), *draw.integers(-(2**62), 2**62, 50).tolist()]
        for given in (values, [*values, None], values[50:]):
            errors = [7 if i % 2 else 0.3 * most for i in range(len(given))]
            by_hand = [outward._around(value, error) for value, error in zip(given, errors, strict=True)]
            assert list(map(repr, outward.around(given, errors).cells())) == list(map(repr, by_hand))


OUTPUTS = (
    (KEY, COUNT, SUM, FINE, MEAN),
    (MEAN, over(SUM, COUNT), add(COUNT, times(number(2), SUM)), over(MEAN, number(3))),
    (FINE, Call("abs", (MEAN,)), Case(((IsNull(MEAN), COUNT),), SUM)),
)


def rows_and_intervals_are_those_of_each_group() -> None:
    """An answer about many groups has the rows, and the intervals, of answers about one group each."""
    draw, groups = np.random.default_rng(6), repeats(80)
    for outputs, size in product(OUTPUTS, (30, 10**4, 10**12)):
        released = [np.rint(draw.normal(size / 2, size, groups)).astype(np.int64) for _ in LAPLACE]
        released[2][::7] = 0
        plan = plan_of(*outputs, groups=groups)
        shown = released_rows(plan, released)
        spans = intervals(plan, released, shown)
        for i, group in enumerate(plan.domain):
            one, of_one = plan_of(*outputs, groups=[group]), [each[i : i + 1] for each in released]
            alone = released_rows(one, of_one)
            assert repr(shown.rows[i]) == repr(alone.rows[0])
            assert repr(spans[i]) == repr(intervals(one, of_one, Shown(alone.groups, alone.rows))[0])
        assert repr(spans) == repr(intervals(plan, released, Shown(shown.groups, shown.rows)))


def test_rows_and_intervals_are_those_of_each_group() -> None:
    rows_and_intervals_are_those_of_each_group()


def columns_have_the_values_of_their_rows() -> None:
    rows = columns(plan_of(KEY, groups=9), [np.arange(9) * 300] * 5)
    numbers = [None, nan, inf, -0.0, 1.5, 7, True, 2**60, -3.25]
    more = rows.beside({Released(0): numbers, "few0": numbers})
    hidden = Case(((Comparison(Order.LESS, KEY, number(3)), COUNT),), SUM)
    for table in (more, more.only([8, 0, 0, 3]), rows.only([])):
        for scalar in (KEY, COUNT, MEAN, over(SUM, COUNT), hidden):
            assert repr(table.values(scalar)) == repr([evaluate(scalar, row) for row in table])
    assert [row[KEY] for row in more.only([8, 0, 0, 3])] == [8, 0, 0, 3] and len(more[2:4]) == 2


def test_columns_have_the_values_of_their_rows() -> None:
    columns_have_the_values_of_their_rows()


def test_intervals_are_the_rows_that_they_were_made_of() -> None:
    cells = [Interval(1, 2.5, 0.5, "few"), None, Interval(None, None, None), Interval(0, 0, 0)]
    rows = [(None, a, b) for a in cells for b in cells]
    made = Intervals.of(rows)
    assert made == rows and made[3] == rows[3] and made[-1] == rows[-1] and made[2:9:3] == tuple(rows[2:9:3])
    assert Intervals.of(made) is made and pickle.loads(pickle.dumps(made)) == made and repr(made) == repr(tuple(rows))
    assert made != rows[:-1] and made != [*rows[:-1], rows[0]] and hash(made) == hash(Intervals.of(list(rows)))
    with pytest.raises(IndexError):
        made[len(rows)]
