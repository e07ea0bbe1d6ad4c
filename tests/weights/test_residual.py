"""Laws of residuals: no neighbour moves them farther than is charged, and together they tell every marginal."""

from fractions import Fraction
from itertools import combinations, product
from math import prod

import numpy as np
import pytest

from discreet.privacy import Relation
from discreet.weights.evidence import Evidence
from discreet.weights.residual import ResidualDraw, closure, importance, weighed, weighed_by_sums
from discreet.weights.transform import Basis
from tests.weights.tables import ADDED, RELATIONS, REPLACED, Rows, dense, domain

SHAPES = [(2, 2), (2, 3), (3, 4), (2, 3, 2), (2, 2, 2, 2), (5,), (1, 3)]


def draws(shape: tuple[int, ...]) -> list[ResidualDraw]:
    """All residuals with equal weights, with unequal ones, and some of them."""
    every = closure(domain(shape), [tuple(range(len(shape)))])
    unequal = tuple(1 + 3 * i for i in range(len(every)))
    return [ResidualDraw(every, (1,) * len(every)), ResidualDraw(every, unequal), ResidualDraw(every[1:], unequal[1:])]


def farthest(draw: ResidualDraw, shape: tuple[int, ...], relation: Relation) -> tuple[int, int]:
    """The most that a neighbour moves the vector: its squared L2 norm, and its L1 norm. It is linear, so one unit's move is all."""
    cells = list(product(*map(range, shape)))
    one: list[tuple[Rows, Rows]] = [((), (cell,)) for cell in cells]
    if relation is REPLACED:
        one = [((a,), (b,)) for a, b in combinations(cells, 2)]
    moves = [draw.exact(dense(y, shape)) - draw.exact(dense(x, shape)) for x, y in one]
    return max(int((each**2).sum()) for each in moves), max(int(np.abs(each).sum()) for each in moves)


def no_neighbour_moves_residuals_farther(relation: Relation) -> None:
    for shape in SHAPES:
        for draw in draws(shape):
            square, mass = farthest(draw, shape, relation)
            assert square <= draw.squared(relation) <= square * (1 + Fraction(1, 10**9)), shape
            assert draw.norm(relation) ** 2 >= square
            assert mass <= draw.mass(relation)
            assert relation is REPLACED or mass == draw.mass(relation)


@pytest.mark.parametrize("relation", RELATIONS, ids=str)
def test_no_neighbour_moves_residuals_farther(relation: Relation) -> None:
    """And for L2 norms some neighbour moves them as far: the bound is attained."""
    no_neighbour_moves_residuals_farther(relation)


def sums_of_all_units_fit() -> None:
    """Whatever the lengths and precisions: no number of a vector of 2^38 units, all in one cell, is 2^62 or more."""
    for shape in ((2,) * 5, (16, 16, 16, 8), (1000, 2, 2), (1 << 20, 2), (2048, 2048)):
        several = list(combinations(range(len(shape)), min(3, len(shape))))
        residuals = closure(domain(shape), several)
        best = weighed(residuals, importance(residuals, several), np.zeros(len(residuals)), 1.0)
        for precisions in (best, np.geomspace(1, 1e9, len(residuals))):
            draw = ResidualDraw.of_precisions(residuals, precisions)
            for each, weight in zip(draw.residuals, draw.weights, strict=True):
                assert weight >= 1 and weight * prod(each.shape) << 38 <= 1 << 62


def test_sums_of_all_units_fit() -> None:
    sums_of_all_units_fit()


def weights_are_as_precise_as_asked() -> None:
    """Relative to one another, within a thousandth, where there is room."""
    residuals = closure(domain((2, 3, 2)), [(0, 1, 2)])
    precisions = np.linspace(1, 40, len(residuals))
    draw = ResidualDraw.of_precisions(residuals, precisions)
    reached = np.array([1 / deviation**2 for _, deviation in draw.deviations(1.0)])
    assert np.allclose(reached / reached[0], precisions / precisions[0], rtol=1e-3)
    some = ResidualDraw.of_precisions(residuals, np.where(precisions > 20, precisions, 0))
    assert 0 < len(some.residuals) < len(residuals)


def test_weights_are_as_precise_as_asked() -> None:
    weights_are_as_precise_as_asked()


def the_size_is_not_moved_by_a_replacement() -> None:
    (size,) = closure(domain((2, 2)), [()])
    assert size.axes == ()
    assert ResidualDraw((size,), (3,)).squared(ADDED) == 9
    assert ResidualDraw((size,), (3,)).squared(REPLACED) < Fraction(1, 10**9)


def test_the_size_is_not_moved_by_a_replacement() -> None:
    the_size_is_not_moved_by_a_replacement()


def residuals_tell_all_marginals() -> None:
    """What is taken in without noise gives every marginal back, exactly but for floats; and each block is that of the basis."""
    for shape in SHAPES:
        cells = np.random.default_rng(0).integers(0, 30, shape)
        several = tuple(axis for axis, size in enumerate(shape) if size > 1)
        evidence = Evidence(domain(shape))
        for draw in draws(shape)[:2]:
            for each, coefficients, deviation in draw.parts(draw.exact(cells), 1.0):
                evidence.learn(each.axes, each.axes, coefficients, deviation)
        basis = Basis(shape)
        for axes, block in evidence.blocks.items():
            assert np.allclose(block.values, basis.coefficients(cells.astype(float))[basis.block(axes)])
        sets = [axes for k in range(1, len(several) + 1) for axes in combinations(several, k)]
        for each in evidence.marginals(sets):
            others = tuple(set(range(len(shape))) - set(each.axes))
            assert np.allclose(each.values, cells.sum(axis=others))
        assert np.isclose(evidence.total, cells.sum())


def test_residuals_tell_all_marginals() -> None:
    residuals_tell_all_marginals()


def noise_of_residuals_is_what_is_said() -> None:
    """Coefficients of pure noise have the deviation that is said: the mean square over many is within 5 deviations of it."""
    random = np.random.default_rng(1)
    for shape in ((2, 2), (2, 3), (3, 4)):
        draw = draws(shape)[1]
        size = draw.exact(dense((), shape)).size
        sums: dict[tuple[int, ...], list[float]] = {}
        for _ in range(400):
            for each, coefficients, deviation in draw.parts(np.rint(random.normal(0, 900, size)).astype(int), 900.0):
                sums.setdefault(each.axes, []).extend((coefficients.reshape(-1) / deviation) ** 2)
        for squares in sums.values():
            assert abs(np.mean(squares) - 1) < 5 * np.sqrt(2 / len(squares))


def test_noise_of_residuals_is_what_is_said() -> None:
    noise_of_residuals_is_what_is_said()


def deviations_of_noisy_marginals_are_what_is_said() -> None:
    """Over many draws of noise the mean square of a marginal's error is the square of its deviation, within 5 deviations of that."""
    random = np.random.default_rng(2)
    shape = (2, 3)
    draw = ResidualDraw(
        draws(shape)[0].residuals, (50, 40, 9, 2)
    )  # the block with two coefficients has most of the noise
    exact, cells = draw.exact(dense(((0, 1),), shape)), dense(((0, 1),), shape)
    squares = []
    for _ in range(600):
        evidence = Evidence(domain(shape))
        for each, coefficients, deviation in draw.parts(exact + random.normal(0, 50, exact.size), 50.0):
            evidence.learn(each.axes, each.axes, coefficients, deviation)
        (found,) = evidence.marginals([(0, 1)])
        squares.append(((found.values - cells) ** 2).mean() / found.deviation**2)
    assert abs(np.mean(squares) - 1) < 5 * np.std(squares) / np.sqrt(len(squares))


def test_deviations_of_noisy_marginals_are_what_is_said() -> None:
    deviations_of_noisy_marginals_are_what_is_said()


def no_other_precisions_do_better() -> None:
    """Shifting a hundredth of the price from any residual to any other makes the sum of variances larger, or leaves it."""
    targets = [(0, 1), (1, 2)]
    residuals = closure(domain((2, 3, 4)), targets)
    worth = importance(residuals, targets)
    price = np.array([prod(1 - 1 / m for m in each.lengths) for each in residuals])
    for known in (np.zeros(len(residuals)), np.linspace(0, 3, len(residuals))):
        best = weighed(residuals, worth, known, 2.0)
        assert np.isclose((best * price).sum(), 2.0) and (best >= 0).all()
        least = (worth / (known + best)).sum()
        for i, j in product(range(len(residuals)), repeat=2):
            shift = best.copy()
            part = 0.01 * best[i] * price[i]
            shift[i] -= part / price[i]
            shift[j] += part / price[j]
            assert (worth / (known + shift)).sum() >= least * (1 - 1e-9)


def test_no_other_precisions_do_better() -> None:
    no_other_precisions_do_better()


def no_other_weights_do_better_for_l1() -> None:
    targets = [(0, 1), (1, 2)]
    residuals = closure(domain((2, 3, 4)), targets)
    worth = importance(residuals, targets)
    divisor = np.array([each.divisor for each in residuals])
    sums = np.array([each.sum for each in residuals])
    weights = np.sqrt(weighed_by_sums(residuals, worth)) / divisor

    def error(w: np.ndarray) -> float:
        return float((worth / (w * divisor / (w * sums).sum()) ** 2).sum())

    for i in range(len(residuals)):
        for factor in (0.9, 1.1):
            other = weights.copy()
            other[i] *= factor
            assert error(other) > error(weights)


def test_no_other_weights_do_better_for_l1() -> None:
    no_other_weights_do_better_for_l1()


def test_importance_is_what_a_variance_weighs_in_squared_l1_errors() -> None:
    """For each target: cells × squared error of all cells, as the basis has it."""
    targets = [(0, 1), (0, 2), (2,)]
    shape = (2, 3, 4)
    for each, worth in zip(*(lambda r: (r, importance(r, targets)))(closure(domain(shape), targets)), strict=True):
        slow = 0.0
        for axes in targets:
            if set(each.axes) <= set(axes):
                cells = prod(shape[axis] for axis in axes)
                others = cells / prod(each.lengths)
                slow += cells * each.freedom / others
        assert np.isclose(worth, slow)
