"""Laws of estimation: the potentials are where the slope of the dual is 0, found on the whole joint, listed; from wherever a fit starts."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.weights.estimation import RELAXED, RELAXED_ALONE, Barred, TreeFit, estimated, parted, pooled, total_of
from discreet.weights.factors import aligned, summed
from discreet.weights.junction import junction_tree
from discreet.weights.model import Floats, NoisyMarginal
from discreet.weights.propagation import Cliques
from tests.scale import SCALE
from tests.weights.test_graphical import shares_of

SHAPE = (2, 3, 2, 4)
EVERY = tuple(range(len(SHAPE)))
SCOPES = ([(0, 1), (1, 2)], [(0, 1), (1, 2), (0, 2), (2, 3)], [(0, 1, 2), (3,)], [(0,), (1,), (2,), (3,)])


def noisy(scopes: list[tuple[int, ...]], seed: int, deviation: float, units: int = 1000) -> list[NoisyMarginal]:
    """Noisy marginals of random units."""
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(units, rng.dirichlet(np.ones(48))).reshape(SHAPE).astype(float)
    return [
        NoisyMarginal(each, exact + rng.normal(0, deviation, exact.shape), deviation)
        for each in scopes
        for exact in (summed(counts, EVERY, each),)
    ]


def joint_of(fit: TreeFit, barred: tuple[Barred, ...]) -> Floats:
    """The whole joint that potentials give."""
    logs = np.zeros(SHAPE)
    for axes, values in fit.potentials.items():
        logs = logs + aligned(values, axes, EVERY)
    for each in barred:
        logs = logs + aligned(np.where(each.cells, -np.inf, 0.0), each.axes, EVERY)
    return shares_of(logs)


def slopes_are_level(
    measured: list[NoisyMarginal], barred: tuple[Barred, ...] = (), start: dict[tuple[int, ...], Floats] | None = None
) -> Floats:
    """p_m = y_m/n − κσθ_m/n for every measured marginal: since the dual is strictly convex, there is no other minimum."""
    scopes = [each.axes for each in (*measured, *barred)]
    cliques, total = Cliques(junction_tree(scopes, SHAPE), SHAPE), total_of(measured)
    fit = estimated(cliques, measured, total, barred, start=start, steps=2000)
    joint = joint_of(fit, barred)
    for each in pooled(measured):
        kappa = RELAXED_ALONE if len(each.axes) == 1 else RELAXED
        wanted = each.values / total - kappa * each.deviation / total * fit.potentials[each.axes]
        np.testing.assert_allclose(summed(joint, EVERY, each.axes), wanted, atol=3e-4)
    return joint


@settings(max_examples=15 * SCALE)
@given(st.sampled_from(SCOPES), st.integers(0, 10**6), st.sampled_from([2.0, 20.0, 100.0]))
def test_slopes_are_level(scopes: list[tuple[int, ...]], seed: int, deviation: float) -> None:
    slopes_are_level(noisy(scopes, seed, deviation))


def fixed_slopes_are_level() -> None:
    """A few fits, with marginals that were measured twice, in another order, and with impossible cells."""
    barred = (Barred((1, 3), np.eye(3, 4, dtype=bool)),)
    for seed, scopes in enumerate(SCOPES):
        measured = noisy(scopes, seed, 20.0)
        first = measured[0]
        order = tuple(reversed(first.axes))
        turned = NoisyMarginal(order, aligned(first.values + 5, first.axes, order), 10.0)
        slopes_are_level([*measured, turned])
        joint = slopes_are_level(measured, barred)
        assert not joint[:, np.eye(3, 4, dtype=bool)[:, None, :].repeat(2, 1)].any()


def test_fixed_slopes_are_level() -> None:
    fixed_slopes_are_level()


def fits_do_not_depend_on_their_start() -> None:
    """From far away a fit ends at the same distribution."""
    measured = noisy(SCOPES[1], 5, 20.0)
    rng = np.random.default_rng(1)
    start = {each.axes: rng.normal(0, 3, each.values.shape) for each in measured}
    np.testing.assert_allclose(slopes_are_level(measured), slopes_are_level(measured, start=start), atol=2e-3)


def test_fits_do_not_depend_on_their_start() -> None:
    fits_do_not_depend_on_their_start()


def starts_are_used() -> None:
    """A fit that starts where one ended takes next to no passes."""
    measured = noisy(SCOPES[1], 5, 20.0)
    cliques = Cliques(junction_tree(SCOPES[1], SHAPE), SHAPE)
    first = estimated(cliques, measured, total_of(measured))
    again = estimated(cliques, measured, total_of(measured), start=first.potentials)
    assert again.passes < first.passes / 4


def test_starts_are_used() -> None:
    starts_are_used()


def exact_counts_are_met() -> None:
    """With next to no noise a fit has the marginals that were measured."""
    measured = noisy(SCOPES[1], 8, 1e-3)
    cliques = Cliques(junction_tree(SCOPES[1], SHAPE), SHAPE)
    fit = estimated(cliques, measured, 1000.0, steps=3000)
    for each in measured:
        np.testing.assert_allclose(summed(joint_of(fit, ()), EVERY, each.axes), each.values / 1000, atol=3e-4)


def test_exact_counts_are_met() -> None:
    exact_counts_are_met()


def small_counts_are_left_alone() -> None:
    """A cell far below the noise stays about where independence puts it, and one far above it follows."""
    values = np.array([[500.0, 480.0], [480.0, 500.0]])
    for deviation, follows in ((1.0, 0.9), (1000.0, 0.4)):
        alone = [NoisyMarginal((axis,), values.sum(axis=1 - axis), 0.01) for axis in (0, 1)]
        shifted = NoisyMarginal((0, 1), values + np.array([[200.0, -200.0], [-200.0, 200.0]]), deviation)
        cliques = Cliques(junction_tree([(0, 1)], (2, 2)), (2, 2))
        fit = estimated(cliques, [*alone, shifted], values.sum(), steps=1000)
        moved = (fit.shares.beliefs()[0] * values.sum() - 490)[0, 0] / 210
        assert (moved > follows) == (deviation == 1.0)


def test_small_counts_are_left_alone() -> None:
    small_counts_are_left_alone()


def pools_have_the_least_variance() -> None:
    """Two measurements are averaged by their precision, and the sum of cells by that of each marginal."""
    one, other = NoisyMarginal((0,), np.array([10.0, 20.0]), 1.0), NoisyMarginal((0,), np.array([13.0, 26.0]), 2.0)
    (pool,) = pooled([one, other])
    np.testing.assert_allclose(pool.values, [10.6, 21.2])
    assert abs(pool.deviation - 0.8**0.5) < 1e-12
    np.testing.assert_allclose(total_of([one, other]), (30 * 0.5 + 39 * 0.125) / 0.625)
    assert total_of([NoisyMarginal((0,), np.array([-5.0]), 1.0)]) == 1.0


def test_pools_have_the_least_variance() -> None:
    pools_have_the_least_variance()


def parts_have_the_noise_of_their_cells() -> None:
    """A pair tells of each of its attributes alone, with the noise of all cells that are added up."""
    first, second = parted(NoisyMarginal((2, 0), np.arange(12.0).reshape(3, 4), 5.0))
    assert (first.axes, second.axes) == ((2,), (0,))
    np.testing.assert_allclose(first.values, [6.0, 22.0, 38.0])
    np.testing.assert_allclose(second.values, [12.0, 15.0, 18.0, 21.0])
    assert first.deviation == 10.0 and abs(second.deviation - 5 * 3**0.5) < 1e-12


def test_parts_have_the_noise_of_their_cells() -> None:
    parts_have_the_noise_of_their_cells()


def test_nothing_measured_is_uniform() -> None:
    cliques = Cliques(junction_tree([], SHAPE), SHAPE)
    for axes, belief in zip(cliques.axes, estimated(cliques, [], 1.0).shares.beliefs(), strict=True):
        np.testing.assert_allclose(belief, 1 / SHAPE[axes[0]])
