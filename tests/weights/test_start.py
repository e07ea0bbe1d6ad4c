"""The start of a session: what is measured is chosen by public numbers, and what is fitted has the measured marginals."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.weights.model import NoisyMarginal
from discreet.weights.proportional import nearest_counts
from discreet.weights.start import ITERATIONS, WORTH, chosen, fitted, size_of

SHAPE = (3, 2, 4)


def noise(scale: float) -> object:
    return lambda k: scale * k**0.5


def pairs_are_chosen_and_triples_where_noise_is_small() -> None:
    every = {order: tuple(combinations(range(5), order)) for order in (1, 2, 3)}
    shape = (4,) * 5
    assert chosen(shape, 400, noise(8)) == every[2]
    assert chosen(shape, 10_000, noise(8)) == every[3]
    assert chosen(shape, 1, noise(8)) == every[1]
    assert chosen((6,), 10, noise(1)) == ((0,),)
    # one attribute that is too large for pairs: it is measured by itself, and all others in pairs
    found = chosen((4, 4, 4, 1 << 16), 400, noise(8))
    assert found == (*combinations(range(3), 2), (3,))
    # the ± of half of the cells of the largest pair is what is worth it
    at = 1.96 * 8 * 10**0.5 * 8**0.5 / WORTH[2]
    assert chosen(shape, at * 1.001, noise(8)) == every[2] and len(chosen(shape, at * 0.999, noise(8))) < 10


def test_pairs_are_chosen_and_triples_where_noise_is_small() -> None:
    pairs_are_chosen_and_triples_where_noise_is_small()


def what_is_fitted_has_the_marginals_that_were_measured() -> None:
    """Without noise all are met; whatever was measured, no cell is without weight, and the total is kept."""
    rng = np.random.default_rng(2)
    cells = rng.gamma(1, 10, SHAPE)
    every = [
        NoisyMarginal(axes, cells.sum(axis=tuple({0, 1, 2} - set(axes))), 1.0) for axes in combinations(range(3), 2)
    ]
    found = fitted(SHAPE, every, float(cells.sum()), 200)
    for each in every:
        now = found.sum(axis=tuple({0, 1, 2} - set(each.axes)))
        assert np.allclose(now, each.values, atol=1e-3 * cells.sum())
    for scale in (1, 100, 10_000):
        rough = [
            NoisyMarginal(each.axes, each.values + rng.normal(0, scale, each.values.shape), scale) for each in every
        ]
        found = fitted(SHAPE, rough, 500.0, ITERATIONS)
        assert found.sum() == pytest.approx(500) and (found > 0).all() and np.isfinite(found).all()
    assert np.allclose(fitted(SHAPE, [], 24.0, 5), 1)


def test_what_is_fitted_has_the_marginals_that_were_measured() -> None:
    what_is_fitted_has_the_marginals_that_were_measured()


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=8), st.floats(1, 100))
def test_counts_are_the_nearest_that_could_be(values: list[float], total: float) -> None:
    """No point of the simplex is nearer: the projection p of v has (v − p)·(q − p) <= 0 for each corner q."""
    found = nearest_counts(np.array(values), total)
    assert (found >= 0).all() and found.sum() == pytest.approx(total)
    corners = np.eye(len(values)) * total
    assert ((np.array(values) - found) @ (corners - found).T <= 1e-6 * (1 + abs(total)) * 100).all()


def sizes_are_weighed_by_their_precision() -> None:
    marginal = NoisyMarginal((0,), np.array([30.0, 30.0]), 5.0)
    assert size_of(100.0, 5.0, [marginal]) == pytest.approx((100 / 25 + 60 / 50) / (1 / 25 + 1 / 50))
    assert size_of(None, 5.0, [marginal]) == pytest.approx(60)
    assert size_of(-7.0, 5.0, []) == 1


def test_sizes_are_weighed_by_their_precision() -> None:
    sizes_are_weighed_by_their_precision()
