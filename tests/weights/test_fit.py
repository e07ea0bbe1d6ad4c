"""Laws of fits: the histogram is the one nearest to its base that agrees with what was measured, as far as noise lets it."""

import numpy as np
import pytest
from scipy.optimize import minimize

from discreet.weights.evidence import AskedQuery, Evidence
from discreet.weights.fit import LEAST_STRENGTH, Fit, strength, strengths
from discreet.weights.histogram import Histogram
from discreet.weights.residual_start import fitted_by_order
from tests.weights.tables import chain, dense, domain

SHAPE = (2, 3, 2)


def evidence(noise: float, seed: int = 0, queries: bool = True) -> tuple[Evidence, np.ndarray]:
    """Some marginals of a table, and some queries, with noise of a deviation."""
    random = np.random.default_rng(seed)
    cells = random.integers(5, 60, SHAPE).astype(float)
    known = Evidence(domain(SHAPE))
    known.learn((), (), np.array([cells.sum()]), 1.0)
    for axes in ((0, 1), (1, 2)):
        marginal = cells.sum(axis=tuple(set(range(3)) - set(axes)))
        known.learn_marginal(axes, marginal + random.normal(0, noise, marginal.shape), max(noise, 0.05))
    if queries:
        query = (random.random((2, 1, 2)) < 0.5).astype(float)
        value = (cells * query).sum() + random.normal(0, noise)
        known.asked.append(AskedQuery(query, float(value), max(noise, 0.05)))
    return known, cells


def objective(known: Evidence, base: Histogram, weight: float, cells: np.ndarray) -> float:
    """Σ (measured − answered)²/2σ² + λ·n·KL(h ‖ base), in the slow obvious way."""
    from discreet.weights.transform import Basis

    basis, total = Basis(SHAPE), known.total
    coefficients = basis.coefficients(cells)
    out = 0.0
    for axes, block in known.blocks.items():
        if axes:
            out += block.precision * ((block.values - coefficients[basis.block(axes)]) ** 2).sum() / 2
    for each in known.asked:
        out += (each.value - (each.query * cells).sum()) ** 2 / (2 * each.deviation**2)
    share = cells / total
    return float(out + weight * total * (share * np.log(share / base.weights)).sum())


def fits_are_the_minimum() -> None:
    """No general minimiser finds anything better, from the fit on or from the base."""
    for noise, weight in ((3.0, 1.0), (10.0, 0.1), (0.5, 0.01)):
        known, _ = evidence(noise)
        base = Histogram(domain(SHAPE), np.random.default_rng(3).random(SHAPE) + 0.2, 1.0)
        found = Fit(known, base, weight).histogram(400)
        best = objective(known, base, weight, found.weights * found.total)

        def value(logs: np.ndarray, known: Evidence = known, base: Histogram = base, weight: float = weight) -> float:
            e = np.exp(logs - logs.max())
            return objective(known, base, weight, (e / e.sum()).reshape(SHAPE) * known.total)

        for begin in (found.weights, base.weights):
            other = minimize(value, np.log(begin).reshape(-1), method="L-BFGS-B", options={"maxiter": 500})
            assert best <= other.fun + 1e-4 * max(1.0, abs(best))


def test_fits_are_the_minimum() -> None:
    fits_are_the_minimum()


def exact_measurements_are_met() -> None:
    known, cells = evidence(0.0)
    found = Fit(known, Histogram.even(domain(SHAPE), 1), LEAST_STRENGTH).histogram(400)
    for axes in ((0, 1), (1, 2)):
        assert np.allclose(found.marginal(axes), cells.sum(axis=tuple(set(range(3)) - set(axes))), atol=0.1)
    (asked,) = known.asked
    assert abs((found.weights * asked.query).sum() * found.total - asked.value) < 0.1


def test_exact_measurements_are_met() -> None:
    exact_measurements_are_met()


def impossible_cells_stay_so() -> None:
    known, _ = evidence(2.0)
    mask = np.zeros(SHAPE, bool)
    mask[1, 2, 0] = mask[0, 1, 1] = True
    found = fitted_by_order(known, Histogram.even(domain(SHAPE), 1, [mask]))
    assert not found.weights[mask].any() and np.isclose(found.weights.sum(), 1)


def impossible_cells_cannot_be_pulled_up() -> None:
    """Evidence for what is impossible alone, however strong, leaves the others as they were, and a distribution."""
    known = Evidence(domain((2, 2)))
    known.learn((), (), np.array([1000.0]), 1.0)
    mask = np.array([[True, False], [False, False]])
    known.asked.append(AskedQuery(mask.astype(float), 900.0, 1e-3))
    found = Fit(known, Histogram.even(domain((2, 2)), 1, [mask]), LEAST_STRENGTH).histogram()
    assert np.allclose(found.weights, [[0, 1 / 3], [1 / 3, 1 / 3]])


def test_impossible_cells_cannot_be_pulled_up() -> None:
    impossible_cells_cannot_be_pulled_up()


def test_impossible_cells_stay_so() -> None:
    impossible_cells_stay_so()


def fits_go_on_from_where_they_were() -> None:
    """What is measured later is fitted with all before, wherever the fit begins."""
    known, cells = evidence(2.0, queries=False)
    going = Fit(known, Histogram.even(domain(SHAPE), 1), 0.1)
    going.histogram(200)
    query = np.arange(2.0).reshape(2, 1, 1)
    known.asked.append(AskedQuery(query, float((cells * query).sum()), 1.0))
    known.learn_marginal((0, 2), cells.sum(axis=1), 1.0)
    fresh = Fit(known, Histogram.even(domain(SHAPE), 1), 0.1)
    assert np.allclose(going.histogram(400).weights, fresh.histogram(400).weights, atol=2e-4)


def test_fits_go_on_from_where_they_were() -> None:
    fits_go_on_from_where_they_were()


def two_measurements_are_one_of_both_precisions() -> None:
    known = Evidence(domain((2,)))
    known.learn((0,), (0,), np.array([10.0]), 1.0)
    known.learn((0,), (0,), np.array([40.0]), 2.0)
    block = known.blocks[(0,)]
    assert np.isclose(block.values.item(), (10 + 40 / 4) / (1 + 1 / 4)) and np.isclose(block.precision, 1.25)


def test_two_measurements_are_one_of_both_precisions() -> None:
    two_measurements_are_one_of_both_precisions()


def strength_tells_samples_from_others() -> None:
    """A table drawn from the base is worth about 1; one that has nothing to do with it next to nothing; noise by itself does not count."""
    shape = (2,) * 6
    random = np.random.default_rng(0)
    base = Histogram(domain(shape), random.random(shape) + 0.5, 1)
    for drawn, noise, low, high in ((True, 1.0, 0.6, 1.0), (True, 200.0, 0.3, 1.0), (False, 1.0, 0.0, 0.05)):
        weights = base.weights if drawn else np.random.default_rng(7).random(shape) ** 3
        cells = random.multinomial(20_000, (weights / weights.sum()).reshape(-1)).reshape(shape).astype(float)
        known = Evidence(base.domain)
        known.learn((), (), np.array([20_000.0]), 1.0)
        for axes in ((0, 1, 2), (2, 3, 4), (1, 4, 5), (0, 3, 5)):
            marginal = cells.sum(axis=tuple(set(range(6)) - set(axes)))
            known.learn_marginal(axes, marginal + random.normal(0, noise, marginal.shape), noise)
        found = np.mean(list(strengths(known, base, [axes for axes in known.blocks if axes]).values()))
        assert low <= found <= high, (drawn, noise, found)
        query = np.arange(2.0).reshape(2, 1, 1, 1, 1, 1)
        known.asked.append(AskedQuery(query, float((cells * query).sum()), 0.1))
        assert (strength(known, base) > 0.05) == drawn


def test_strength_tells_samples_from_others() -> None:
    strength_tells_samples_from_others()


def what_is_off_is_told_apart() -> None:
    """Of ten blocks one is far from the base: it is learned, and the noise of the others is not."""
    base = Histogram.even(domain((2,) * 5), 1)
    known = Evidence(base.domain)
    known.learn((), (), np.array([10_000.0]), 1.0)
    random = np.random.default_rng(4)
    for i in range(5):
        for j in range(i + 1, 5):
            known.learn((i, j), (i, j), np.array([4_000.0 * ((i, j) == (1, 3)) + random.normal(0, 100)]), 100.0)
    worth = strengths(known, base, [axes for axes in known.blocks if axes])
    assert worth.pop((1, 3)) < 0.01 and min(worth.values()) > 0.3


def test_what_is_off_is_told_apart() -> None:
    what_is_off_is_told_apart()


def trees_are_told_by_pairs() -> None:
    """Of a chain the pairs tell all triples but for sampling: fitted to exact pairs, no triple is off by more than that."""
    rows = chain(20_000, 5, 0)
    cells = dense(tuple(map(tuple, rows.tolist())), (2,) * 5).astype(float)
    known = Evidence(domain((2,) * 5))
    known.learn((), (), np.array([cells.sum()]), 1.0)
    for i in range(5):
        for j in range(i + 1, 5):
            known.learn_marginal((i, j), cells.sum(axis=tuple(set(range(5)) - {i, j})), 1.0)
    found = fitted_by_order(known, Histogram.even(domain((2,) * 5), 1))
    gap = found.marginal((0, 2, 4)) - cells.sum(axis=(1, 3))
    assert np.abs(gap).max() < 5 * np.sqrt(cells.sum()) / 2


def test_trees_are_told_by_pairs() -> None:
    trees_are_told_by_pairs()


@pytest.mark.parametrize("value", [-50.0, 0.0, 0.4])
def test_there_is_at_least_one_unit(value: float) -> None:
    known = Evidence(domain(SHAPE))
    known.learn((), (), np.array([value]), 10.0)
    assert known.total == 1.0
    assert fitted_by_order(known, Histogram.even(domain(SHAPE), 1)).total == 1.0
