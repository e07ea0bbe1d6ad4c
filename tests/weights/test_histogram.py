"""Laws of histograms: what they expect, what they learn, and rows that are drawn with exactly their weights."""

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import chisquare

from discreet.errors import Invalid
from discreet.noise import Tape
from discreet.weights.histogram import GRID, MOST_CELLS, Histogram
from discreet.weights.model import count
from tests.scale import repeats
from tests.weights.tables import domain

SHAPE = (2, 3, 2)
ALPHA = 1e-6


def some(seed: int = 0, total: float = 100.0) -> Histogram:
    return Histogram(domain(SHAPE), np.random.default_rng(seed).random(SHAPE), total)


def marginals_are_sums_in_the_order_of_their_attributes() -> None:
    model = some()
    cells = model.weights * model.total
    assert np.isclose(cells.sum(), model.total)
    for size in range(4):
        for axes in permutations(range(3), size):
            slow = np.einsum(cells, [0, 1, 2], list(axes))
            assert model.marginal(axes).shape == slow.shape
            assert np.allclose(model.marginal(axes), slow)


def test_marginals_are_sums_in_the_order_of_their_attributes() -> None:
    marginals_are_sums_in_the_order_of_their_attributes()


def updates_multiply() -> None:
    """The weights of a query's cells grow by e^change against the others, and impossible cells stay so."""
    base = Histogram.even(domain(SHAPE), 10, [np.arange(2).reshape(2, 1, 1) == 1])
    query = (np.arange(3) == 1).reshape(1, 3, 1).astype(float)
    after = base.updated(query, 0.7)
    assert np.isclose(after.weights[0, 1, 0] / after.weights[0, 0, 0], np.exp(0.7))
    assert not after.weights[1].any() and np.isclose(after.weights.sum(), 1)
    assert np.isfinite(base.updated(query, 5_000.0).weights).all()
    only = (
        (np.arange(2) == 1).reshape(2, 1, 1).astype(float)
    )  # of impossible cells alone: nothing changes, however much that is
    assert np.allclose(base.updated(only, 5_000.0).weights, base.weights)


def test_updates_multiply() -> None:
    updates_multiply()


def rows_are_drawn_with_their_weights() -> None:
    """χ² over all cells at α = 1e-6; a weight that is off by a tenth is found with power above 0.99 at this many rows."""
    model = Histogram(domain(SHAPE), np.arange(12.0).reshape(SHAPE), 7)
    rows = model.draw(repeats(60_000), Tape(1))
    assert rows.shape == (repeats(60_000), 3) and rows.dtype == np.int64
    times = np.zeros(SHAPE, np.int64)
    np.add.at(times, tuple(rows.T), 1)
    assert times[0, 0, 0] == 0, "an impossible cell was drawn"
    assert chisquare(times.reshape(-1)[1:], len(rows) * model.weights.reshape(-1)[1:]).pvalue > ALPHA


def test_rows_are_drawn_with_their_weights() -> None:
    rows_are_drawn_with_their_weights()


def test_a_row_of_each_point_of_the_grid_is_the_cell_that_it_lies_in() -> None:
    """With few cells whose weights are whole on the grid, the edges between them are where they should be."""
    model = Histogram(domain((4,)), np.array([1.0, 0.0, 2.0, 1.0]), 1)
    edges = np.cumsum(np.floor(model.weights * GRID))
    assert edges.tolist() == [GRID / 4, GRID / 4, 3 * GRID / 4, GRID]
    assert set(model.draw(200, Tape(3)).reshape(-1).tolist()) == {0, 2, 3}


def the_first_point_is_in_the_first_possible_cell() -> None:
    model = Histogram(domain((3,)), np.array([0.0, 1.0, 1.0]), 1)
    assert model.draw(1, Tape.of(bytes(8))).item() == 1


def test_the_first_point_is_in_the_first_possible_cell() -> None:
    the_first_point_is_in_the_first_possible_cell()


def test_no_rows_are_no_rows() -> None:
    assert some().draw(0, Tape(0)).shape == (0, 3)
    with pytest.raises(Invalid):
        some().draw(-1)


def test_counts_of_cells_are_what_the_model_expects() -> None:
    model = some(5)
    mask = np.random.default_rng(1).random((2, 1, 2)) < 0.5
    slow = (model.weights * mask).sum() * model.total
    assert np.isclose(count(model, mask), slow)


@pytest.mark.parametrize(
    "weights",
    [np.ones((2, 3)), np.zeros(SHAPE), -np.ones(SHAPE), np.full(SHAPE, np.nan), np.full(SHAPE, np.inf)],
)
def test_what_is_no_distribution_is_refused(weights: np.ndarray) -> None:
    with pytest.raises(Invalid):
        Histogram(domain(SHAPE), weights, 1)


def what_has_no_room_is_refused() -> None:
    too_many = domain((2,) * 23)
    assert too_many.size > MOST_CELLS
    with pytest.raises(Invalid, match="room for"):
        Histogram.even(too_many, 1)


def test_what_has_no_room_is_refused() -> None:
    what_has_no_room_is_refused()


@pytest.mark.parametrize("mask", [np.ones((2, 3)), np.ones((2, 3, 3), bool), np.ones(SHAPE, bool), np.ones(SHAPE)])
def test_constraints_that_make_no_sense_are_refused(mask: np.ndarray) -> None:
    with pytest.raises(Invalid):
        Histogram.even(domain(SHAPE), 1, [mask])
