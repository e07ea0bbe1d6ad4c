"""Laws of proportional fitting, of the squares of a basis, and of what low orders have of a price."""

from itertools import combinations
from math import prod
from unittest import mock

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discreet.weights import fit
from discreet.weights.evidence import Evidence
from discreet.weights.histogram import Histogram
from discreet.weights.proportional import scaled
from discreet.weights.residual import Residual, closure, importance, weighed
from discreet.weights.residual_start import FLOORS, fitted_by_order, raised
from discreet.weights.transform import Basis, marginals
from tests.weights.tables import dense, domain

SHAPE = (3, 4, 2)


def marginals_are_met() -> None:
    """Of targets that a table has, all are met in the end; what the cells said beyond them, and zeros, stays."""
    random = np.random.default_rng(1)
    cells, truth = random.random(SHAPE) + 0.1, random.random(SHAPE) + 0.1
    cells[1, 2, 1] = truth[1, 2, 1] = 0
    targets = [*marginals(truth, [(0, 1), (1, 2), (0, 2)])]
    found = scaled(cells.copy(), targets, 200)
    for axes, target in targets:
        assert np.allclose(dict(marginals(found, [axes]))[axes], target, rtol=1e-6)
    assert found[1, 2, 1] == 0

    def interaction(x: np.ndarray) -> float:
        corner = x[:2, :2, :2]
        signs = np.array([1.0, -1.0])
        return float(np.einsum("ijk,i,j,k", np.log(corner), signs, signs, signs))

    assert np.isclose(interaction(found), interaction(cells), rtol=1e-6)


def test_marginals_are_met_and_what_they_do_not_say_stays() -> None:
    marginals_are_met()


def cells_without_weight_stay_so() -> None:
    found = scaled(np.array([[0.0, 0.0], [1.0, 2.0]]), [((0,), np.array([5.0, 5.0]))], 2)
    assert found.tolist() == [[0.0, 0.0], [5 / 3, 10 / 3]]


def test_cells_without_weight_stay_so() -> None:
    cells_without_weight_stay_so()


@given(st.lists(st.integers(1, 5), min_size=1, max_size=3), st.integers(0, 100))
def test_squares_are_those_of_the_vectors(lengths: list[int], seed: int) -> None:
    squares_are_those_of_the_vectors(tuple(lengths), seed)


def squares_are_those_of_the_vectors(shape: tuple[int, ...] = (2, 3, 4), seed: int = 0) -> None:
    """Against each vector of the basis, made by itself."""
    cells, basis = np.random.default_rng(seed).random(shape), Basis(shape)
    found = basis.squares(cells)
    for place in np.ndindex(shape):
        one = np.zeros(shape)
        one[place] = 1
        assert np.isclose(found[place], (basis.cells(one) ** 2 * cells).sum())


def prices(residuals: tuple[Residual, ...], worth: np.ndarray) -> dict[int, float]:
    """What the residuals of each order have of a price of 1, at the optimum."""
    precisions = weighed(residuals, worth, np.zeros(len(residuals)), 1.0)
    found: dict[int, float] = {}
    for each, precision in zip(residuals, precisions, strict=True):
        price = precision * prod(1 - 1 / m for m in each.lengths)
        found[len(each.axes)] = found.get(len(each.axes), 0.0) + price
    return found


def low_orders_have_their_floor() -> None:
    """Over shapes: pairs and single attributes have their floor, as shares of what is at and above them."""
    for shape in ((11, 12, 4, 7, 11), (2,) * 8, (40, 3, 3, 20)):
        targets = list(combinations(range(len(shape)), 3))
        residuals = tuple(each for each in closure(domain(shape), targets) if each.axes)
        before = importance(residuals, targets)
        shares = prices(residuals, raised(residuals, before))
        for order, floor in FLOORS.items():
            above = sum(share for each, share in shares.items() if each >= order)
            assert shares[order] >= floor * above * (1 - 1e-6), (shape, shares)
        assert np.isclose(sum(shares.values()), 1)


def test_low_orders_have_their_floor() -> None:
    low_orders_have_their_floor()


def lower_marginals_stay() -> None:
    """Where a fit to pairs is stopped early, the marginals of single attributes are still what was measured of them."""
    random = np.random.default_rng(3)
    shape = (8, 9)
    first = random.integers(0, 3, 2000)
    rows = [(int(a), int(b)) for a, b in zip(first, (first + random.integers(0, 2, 2000)) % 4, strict=True)]
    cells = dense(tuple(rows), shape).astype(float)
    known = Evidence(domain(shape))
    known.learn((), (), np.array([cells.sum()]), 1.0)
    known.learn_marginal((0, 1), cells + random.normal(0, 0.5, shape), 0.5)
    with mock.patch.multiple(fit, LEAST_STEPS=2, MOST_STEPS=2):
        found = fitted_by_order(known, Histogram.even(known.domain, 1.0))
    for axis in (0, 1):
        assert np.abs(found.marginal((axis,)) - cells.sum(axis=1 - axis)).sum() < 0.01 * cells.sum()


def test_lower_marginals_stay() -> None:
    lower_marginals_stay()
