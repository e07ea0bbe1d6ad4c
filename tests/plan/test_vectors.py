"""What is computed for all groups of an answer at once is what the slow and obvious way gives for each of them, to the last bit."""

from fractions import Fraction as F

import numpy as np
import pytest

from discreet.mechanisms import Geometric, RoundedGaussian
from discreet.plan import draws, spread
from discreet.plan.affine import Reals
from tests.scale import repeats

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
