"""A histogram of all cells: it learns one answer and forgets no total, and units are drawn as it says."""

import numpy as np
import pytest

from discreet.noise import Tape
from discreet.weights.dense import DenseModel, even
from discreet.weights.model import count
from tests.scale import repeats
from tests.weights.online_tables import domain_of, masks

SHAPE = (2, 3, 2)
RNG = np.random.default_rng(1)
CELLS = RNG.gamma(0.5, 10, SHAPE)


def model() -> DenseModel:
    return DenseModel(domain_of(SHAPE), CELLS.copy())


def what_is_learned_is_the_nearest_in_relative_entropy() -> None:
    """Over all masks and many values: the value is met, the total kept, and every other histogram that meets it is farther."""
    for mask in masks(SHAPE):
        before = model()
        if mask.all():
            assert before.learned(mask, 1.0) is before
            continue
        for value in (0.0, 1.0, before.total / 3, before.total, 2 * before.total, -5.0):
            after = before.learned(mask, value)
            met = min(max(value, 0), before.total)
            assert abs(after.count(mask) - met) <= 1e-6 * before.total
            assert abs(after.total - before.total) <= 1e-9 * before.total
            ratio = after.cells / before.cells
            inside = np.broadcast_to(mask, SHAPE)
            assert np.ptp(ratio[inside]) < 1e-9 and np.ptp(ratio[~inside]) < 1e-9 and (after.cells > 0).all()


def test_what_is_learned_is_the_nearest_in_relative_entropy() -> None:
    what_is_learned_is_the_nearest_in_relative_entropy()


def entropy(truth: np.ndarray, found: DenseModel) -> float:
    """The relative entropy from the data to a model, in units."""
    some = truth > 0
    return float((truth[some] * np.log(truth[some] / found.cells[some])).sum())


def learning_the_truth_comes_nearer_to_it() -> None:
    """The potential of multiplicative weights: whatever is learned exactly, in any order, relative entropy to the data only falls."""
    truth = np.zeros(SHAPE)
    np.add.at(truth, tuple(RNG.integers(0, SHAPE, (40, 3)).T), 1.0)
    found = even(domain_of(SHAPE), float(truth.sum()))
    every = [mask for mask in masks(SHAPE) if mask.size > 1]
    first = entropy(truth, found)
    for at in RNG.permutation(len(every) * 3):
        mask = every[at % len(every)]
        after = found.learned(mask, float(truth[np.broadcast_to(mask, SHAPE)].sum()))
        assert abs(after.total - found.total) < 1e-6 and entropy(truth, after) <= entropy(truth, found) + 1e-5
        found = after
    assert entropy(truth, found) < 0.05 * first


def test_learning_the_truth_comes_nearer_to_it() -> None:
    learning_the_truth_comes_nearer_to_it()


def marginals_are_sums_of_cells_in_any_order() -> None:
    found = model()
    for axes in ((), (0,), (2, 0), (1, 2), (2, 1, 0)):
        expected = CELLS.sum(axis=tuple({0, 1, 2} - set(axes)))
        rising = sorted(axes)
        assert np.allclose(found.marginal(axes), expected.transpose([rising.index(axis) for axis in axes]))
    for mask in masks(SHAPE):
        truth = CELLS[np.broadcast_to(mask, SHAPE)].sum()
        assert found.count(mask) == pytest.approx(truth)
        assert count(found, mask) == pytest.approx(truth)


def test_marginals_are_sums_of_cells_in_any_order() -> None:
    marginals_are_sums_of_cells_in_any_order()


def units_are_drawn_in_proportion() -> None:
    """χ² of 12 cells with α = 1e-6 (56.0 at 11 degrees); weights that are exchanged for equal ones give hundreds."""
    rows = repeats(4000)
    weights = np.maximum(CELLS - 2, 0)
    codes = DenseModel(domain_of(SHAPE), CELLS - 2).draw(rows, Tape(5))
    seen = np.zeros(SHAPE)
    np.add.at(seen, tuple(codes.T), 1)
    expected = rows * weights / weights.sum()
    assert not seen[expected == 0].any(), "a negative weight is none"
    some = expected > 0
    assert ((seen[some] - expected[some]) ** 2 / expected[some]).sum() < 56


def test_units_are_drawn_in_proportion() -> None:
    units_are_drawn_in_proportion()


def test_who_knows_nothing_draws_all_cells_alike() -> None:
    assert np.ptp(even(domain_of(SHAPE), 24.0).cells) == 0 and even(domain_of(SHAPE), 24.0).total == 24
    assert DenseModel(domain_of(SHAPE), np.zeros(SHAPE)).draw(3, Tape(1)).shape == (3, 3)
