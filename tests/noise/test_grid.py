"""Real-valued noise stays on its grid, and the grid tells nothing: neither a value off it, nor how fine a value happens to be.

The precision attack is the one that breaks noise made of floats: how many trailing zeros a release has depends on the data behind it.
"""

from collections.abc import Callable
from fractions import Fraction
from math import floor
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import betaincinv

from discreet.errors import Invalid
from discreet.noise import Grid, Tape, discrete_gaussian, discrete_laplace, grid_gaussian, grid_laplace
from tests.scale import repeats

ALPHA = 1e-6
FINEST, COARSEST = -1074, 970  # 2^53 steps of 2^970 are the largest power of two that float64 holds
SEEDS = st.integers(0, 2**64 - 1)


def some_scale(random: Random) -> Fraction:
    """A rational between 2^-1034 and 2^1009, now and then a power of two or next to one."""
    power = Fraction(2) ** random.randint(FINEST + 40, COARSEST + 38)
    kind = random.randrange(4)
    if kind == 0:
        return power
    if kind == 1:
        return power * (1 + Fraction(random.choice([-1, 1]), 1 << random.randrange(2, 900)))
    return power * Fraction(random.getrandbits(60) + (1 << 60), 1 << 60)


@settings(max_examples=repeats(300))
@given(SEEDS)
def test_a_scale_is_2_to_the_39_up_to_2_to_the_40_steps_of_its_grid(seed: int) -> None:
    scale = some_scale(Random(seed))
    steps = scale / Grid.of(scale).step
    assert 1 << 39 <= steps < 1 << 40


def test_the_grid_of_a_scale_is_known() -> None:
    for power in (*range(-5, 6), -1000, 1000):
        assert Grid.of(Fraction(2) ** power) == Grid(power - 39)
        assert Grid.of(Fraction(2) ** power * Fraction(1 << 60, (1 << 60) + 1)) == Grid(power - 40)
    assert Grid.of(0.1) == Grid.of(Fraction(1, 10)) == Grid(-43)


def test_scales_at_the_ends_of_float64_have_a_grid_or_are_refused() -> None:
    assert Grid.of(Fraction(2) ** (FINEST + 39)).exponent == FINEST
    assert Grid.of(Fraction(2) ** (COARSEST + 39)).exponent == COARSEST


@settings(max_examples=repeats(200))
@given(SEEDS)
def test_a_value_goes_to_the_nearest_point_and_up_from_half_way(seed: int) -> None:
    random = Random(seed)
    grid = Grid(random.randint(-60, 60))
    value = Fraction(random.randint(-(1 << 70), 1 << 70), random.choice([1, 3, 1 << 20, 10**9, 1 << 61]))
    for given_value in (value, floor(value), (floor(value) + Fraction(1, 2)) * grid.step):
        assert grid.index(given_value) == floor(given_value / grid.step + Fraction(1, 2))
    for decimal in (0.1, -2.5, 1e10):
        assert grid.index(decimal) == floor(Fraction(repr(decimal)) / grid.step + Fraction(1, 2))


@pytest.mark.parametrize("exponent", [FINEST, FINEST + 1, -1022, -60, -1, 0, 1, 60, COARSEST])
def test_points_become_floats_exactly(exponent: int) -> None:
    grid = Grid(exponent)
    points = [0, 1, -1, 3, (1 << 52) + 1, (1 << 53) - 1, 1 << 53, -(1 << 53) + 1, -(1 << 53)]
    for point in points:
        single = grid.to_float(point)
        assert type(single) is float and Fraction(single) == point * grid.step
    array = grid.to_float(np.array(points).reshape(3, 3))
    assert isinstance(array, np.ndarray) and array.dtype == np.float64 and array.shape == (3, 3)
    assert [Fraction(value) for value in array.ravel().tolist()] == [point * grid.step for point in points]


@pytest.mark.parametrize("exponent", [COARSEST + 1, COARSEST + 2, 2000])
def test_a_grid_whose_points_float64_cannot_hold_is_refused(exponent: int) -> None:
    """As a grid, or at the latest where a point becomes a float."""
    for points in (1 << 53, np.array([1, 1 << 53])):
        with pytest.raises(Invalid, match=r"exponent|index"):
            Grid(exponent).to_float(points)


def off_grid(values: NDArray[np.float64], step: Fraction) -> int:
    """How many are no exact multiple of the step; fmod of floats is exact."""
    finite = values[np.isfinite(values)]
    return values.size - finite.size + int(np.count_nonzero(np.fmod(finite, float(step))))


SCALES: list[tuple[Fraction | float | int, Grid | None]] = [
    (1, None),
    (0.1, None),
    (Fraction(1, 3), None),
    (1e-6, None),
    (12345.678, None),
    (1e290, None),
    (Fraction(10) ** -300, None),
    (7, Grid(0)),
    (Fraction(5, 2), Grid(-20)),
    (1e12, Grid(5)),
]
SAMPLERS: dict[str, Callable[..., NDArray[np.float64]]] = {"laplace": grid_laplace, "gaussian": grid_gaussian}


@pytest.mark.parametrize(("scale", "grid"), SCALES, ids=[f"{scale!s:.12}" for scale, _ in SCALES])
@pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS)
def test_every_release_is_a_multiple_of_its_step(
    sampler: Callable[..., NDArray[np.float64]], scale: float, grid: Grid | None
) -> None:
    """20 settings; and no coarser grid would do, so that the noise has as many digits as it should."""
    step = (grid or Grid.of(scale)).step
    values = sampler(scale, repeats(50_000), grid=grid)
    assert off_grid(values, step) == 0
    assert off_grid(values, 2 * step) > 0.4 * values.size  # half of them, but for a chance below 1e-300
    for _ in range(repeats(20)):
        assert (Fraction(sampler(scale, grid=grid)) / step).denominator == 1


def test_a_release_off_the_grid_is_found() -> None:
    """The planted bug: Laplace noise made of floats."""
    noise = np.random.default_rng().laplace(0, 1, 1000)
    assert off_grid(noise, Grid.of(1).step) > 900
    assert off_grid(np.array([np.inf, 1.0]), Fraction(1)) == 1


def test_grid_noise_is_integer_noise_times_the_step() -> None:
    for scale, grid in SCALES:
        on = grid or Grid.of(scale)
        steps = Fraction(repr(scale) if isinstance(scale, float) else scale) / on.step
        for sampler, whole in ((grid_laplace, discrete_laplace), (grid_gaussian, discrete_gaussian)):
            real = sampler(scale, 50, grid=grid, source=Tape(8))
            integers = whole(steps, 50, source=Tape(8))
            assert [Fraction(value) for value in real] == [int(value) * on.step for value in integers]


# --- the precision attack ---

EPSILON = 0.1
SCALE = 10  # of noise for sensitivity 1 at EPSILON
FINENESS = range(81)  # events "a multiple of 2^-k", and their opposites
THIRD = Fraction(1, 3)
PAIRS = [(0, 1), (1, 2), (THIRD, THIRD + 1), (1 << 40, (1 << 40) + 1), (0, THIRD), (THIRD, 1)]
ALWAYS = -(1 << 20)  # zero is a multiple of everything
EVENTS = 2 * 2 * len(FINENESS)  # in both directions


def fineness_of_points(points: NDArray[np.int64], exponent: int) -> NDArray[np.int64]:
    """The least k such that point·2^exponent is a multiple of 2^-k."""
    lowest = np.frexp((points & -points).astype(np.float64))[1].astype(np.int64) - 1  # of a power of two, so exact
    return np.where(points == 0, ALWAYS, -(lowest + exponent))


def fineness_of_floats(values: NDArray[np.float64]) -> NDArray[np.int64]:
    mantissa, exponent = np.frexp(values)
    return fineness_of_points(np.ldexp(mantissa, 53).astype(np.int64), 0) - (exponent - 53)


def multiples(fineness: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many are multiples of 2^-k, for each k."""
    return np.array([np.count_nonzero(fineness <= k) for k in FINENESS])


def loss_shown(left: NDArray[np.int64], right: NDArray[np.int64], count: int, alpha: float) -> float:
    """A lower bound of the largest log ratio of the chances of an event; wrong with probability at most alpha.

    Clopper-Pearson bounds, each at alpha/(2·EVENTS).
    """
    each = alpha / (2 * EVENTS)
    worst = 0.0
    for one, other in ((left, right), (count - left, count - right)):
        for a, b in ((one, other), (other, one)):
            least = np.where(a > 0, betaincinv(np.maximum(a, 1), count - np.maximum(a, 1) + 1, each), 0.0)
            most = np.where(b < count, betaincinv(b + 1, np.maximum(count - b, 1), 1 - each), 1.0)
            with np.errstate(divide="ignore"):
                worst = max(worst, float(np.max(np.log(least) - np.log(most))))
    return worst


def released(value: Fraction | int, grid: Grid, count: int) -> NDArray[np.int64]:
    """Fineness of value + noise, rounded to the grid first; exact also where float64 could not hold the sum."""
    low = grid.index(value) & ((1 << 60) - 1)  # whole multiples of 2^60 steps are finer than no event here
    noise = discrete_laplace(SCALE / grid.step, count)
    return fineness_of_points(noise + low, grid.exponent)


@pytest.mark.parametrize("exponent", [Grid.of(SCALE).exponent, -12, 0])
@pytest.mark.parametrize(("left", "right"), PAIRS, ids=str)
def test_how_fine_a_release_is_tells_no_more_than_epsilon(
    left: Fraction | int, right: Fraction | int, exponent: int
) -> None:
    """10,000 draws a side. Found with 99 %: an event of chance 0.8 % on one side that never happens on the other."""
    grid, count = Grid(exponent), repeats(10_000)
    sides = [multiples(released(value, grid, count)) for value in (left, right)]
    assert abs(grid.index(left) - grid.index(right)) * grid.step <= 1  # rounding has not made the pair more distant
    assert loss_shown(*sides, count, ALPHA) <= EPSILON + 1e-9


def test_how_fine_a_float_release_is_tells_no_more_than_epsilon() -> None:
    """The same of the floats that are handed out, where they hold the sum."""
    grid, count = Grid.of(SCALE), repeats(10_000)
    for left, right in ((0, 1), (1, 2), (THIRD, THIRD + 1)):
        sides = []
        for value in (left, right):
            points = discrete_laplace(SCALE / grid.step, count) + grid.index(value)
            floats = grid.to_float(points)
            assert (fineness_of_floats(floats) == fineness_of_points(points, grid.exponent)).all()
            sides.append(multiples(fineness_of_floats(floats)))
        assert loss_shown(*sides, count, ALPHA) <= EPSILON + 1e-9


def naive(value: float, count: int) -> NDArray[np.float64]:
    """The textbook in floats: value ± scale·log(u)."""
    random = np.random.default_rng()
    sign = random.choice([-1.0, 1.0], count)
    return value + sign * SCALE * np.log(1 - random.random(count))


def test_the_attack_breaks_noise_made_of_floats() -> None:
    """Values near 0 have digits below 2^-53 that values near 1 never have: about 2 % of all releases give themselves away."""
    count = repeats(10_000)
    sides = [multiples(fineness_of_floats(naive(value, count))) for value in (0.0, 1.0)]
    assert loss_shown(*sides, count, ALPHA) > 5 * EPSILON


def test_fineness_is_counted_as_it_should() -> None:
    values = np.array([1.0, -1.0, 3.0, 0.5, -0.75, 6.0, 2.0**-60, 2.0**40, 1 / 3])
    assert fineness_of_floats(values).tolist() == [0, 0, 0, 1, 2, -1, 60, -40, 54]
    assert (fineness_of_floats(np.zeros(1)) < -1000).all()
    assert fineness_of_points(np.array([1, -12, 1 << 40]), -39).tolist() == [39, 37, -1]
    for value in values.tolist():
        k = int(fineness_of_floats(np.array([value]))[0])
        assert (Fraction(value) * Fraction(2) ** k).denominator == 1
        assert (Fraction(value) * Fraction(2) ** (k - 1)).denominator == 2
