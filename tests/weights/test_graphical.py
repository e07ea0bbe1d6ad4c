"""Laws of models of cliques: every marginal is that of the whole joint, listed; rows follow it; what is impossible has no mass.

False alarms: ALPHA = 1e-6 for each statistical test. Power: with n rows a cell of probability p that is off by a relative r adds
n p r² to the statistic, and about 60 of them are seen at 24 cells; so at 20,000 rows a relative error of 10 % in half of the mass.
"""

from collections.abc import Sequence
from itertools import permutations
from math import inf, log
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import chdtrc

from discreet.cells import Categorical
from discreet.errors import Invalid
from discreet.noise import Tape
from discreet.weights import Domain, Factored
from discreet.weights.factors import Factor, aligned, log_sums, product_onto, summed
from discreet.weights.graphical import _on_grid
from discreet.weights.junction import junction_tree
from discreet.weights.model import Floats
from discreet.weights.propagation import Cliques, propagated
from tests.scale import SCALE, repeats

ALPHA = 1e-6
EXAMPLES = settings(max_examples=40 * SCALE)
SCOPES = (
    [(0, 1), (1, 2)],
    [(0, 1), (1, 2), (2, 3), (0, 3)],
    [(0, 1, 2), (2, 3), (3, 4)],
    [(0, 1), (2, 3), (3, 4)],
    [],
)


def domain_of(shape: Sequence[int]) -> Domain:
    """A domain with attributes of so many cells."""
    return Domain(tuple(Categorical(f"a{i}", tuple(range(n)), other=False, missing=False) for i, n in enumerate(shape)))


def modelled(
    shape: tuple[int, ...], scopes: Sequence[tuple[int, ...]], seed: int, *, spread: float = 1.0, barred: float = 0.0
) -> tuple[Factored, Floats, float]:
    """A model of random potentials, and the logarithms of the whole joint, listed; some potentials are −∞."""
    rng = np.random.default_rng(seed)
    cliques = Cliques(junction_tree(scopes, shape), shape)
    potentials = [spread * rng.standard_normal(cliques.lengths(axes)) for axes in cliques.axes]
    for each in potentials:
        each[rng.random(each.shape) < barred] = -inf
        each.flat[0] = 0.0  # so that something is possible
    log_total, shares = propagated(cliques, potentials)
    every = tuple(range(len(shape)))
    joint = np.zeros(shape)
    for axes, values in zip(cliques.axes, potentials, strict=True):
        joint = joint + aligned(values, axes, every)
    return Factored(domain_of(shape), 100.0, shares), joint, log_total


def shares_of(joint: Floats) -> Floats:
    shares = np.exp(joint - joint.max())
    return np.asarray(shares / shares.sum())


def marginals_are_those_of_the_joint(model: Factored, joint: Floats, log_total: float) -> None:
    """Of all attributes in every order, up to three at a time: inside of cliques and outside."""
    shares = shares_of(joint)
    every = tuple(range(joint.ndim))
    assert abs(log_total - (joint.max() + log(np.exp(joint - joint.max()).sum()))) < 1e-8 * max(1.0, abs(log_total))
    for size in range(min(3, joint.ndim) + 1):
        for axes in permutations(every, size):
            found = model.marginal(axes)
            np.testing.assert_allclose(found, 100 * summed(shares, every, axes), rtol=1e-9, atol=1e-9)
            assert abs(found.sum() - model.total) < 1e-9


@EXAMPLES
@given(st.lists(st.integers(1, 3), min_size=5, max_size=5).map(tuple), st.sampled_from(SCOPES), st.integers(0, 10**6))
def test_marginals_are_those_of_the_joint(shape: tuple[int, ...], scopes: list[tuple[int, ...]], seed: int) -> None:
    marginals_are_those_of_the_joint(*modelled(shape, scopes, seed, barred=0.2 * (seed % 2)))


def fixed_marginals_agree() -> None:
    """A few models, some with impossible cells."""
    for seed, scopes in enumerate(SCOPES):
        marginals_are_those_of_the_joint(*modelled((2, 3, 2, 2, 3), scopes, seed, barred=0.2))


def test_fixed_marginals_agree() -> None:
    fixed_marginals_agree()


def vast_ratios_are_kept() -> None:
    """A clique whose rows differ by e^±2000 does not lose the smaller row, where its parent makes that one count."""
    tree = Cliques(junction_tree([(0, 1), (1, 2)], (2, 2, 2)), (2, 2, 2))
    root, child = (np.zeros(tree.lengths(axes)) for axes in tree.axes)
    shared = tree.shared[1]
    child += aligned(np.array([0.0, -2000.0]), shared, tree.axes[1])
    root += aligned(np.array([-2000.0, 0.0]), shared, tree.axes[0])
    _, shares = propagated(tree, [root, child])
    model = Factored(domain_of((2, 2, 2)), 1.0, shares)
    np.testing.assert_allclose(model.marginal(shared), [0.5, 0.5])
    np.testing.assert_allclose(model.marginal((0, 2)), np.full((2, 2), 0.25))


def test_vast_ratios_are_kept() -> None:
    vast_ratios_are_kept()


def test_rows_without_mass_have_no_shares() -> None:
    sums, shares = log_sums(np.array([[-inf, -inf], [0.0, -inf]]))
    assert sums.tolist() == [-inf, 0.0] and shares.tolist() == [[0.0, 0.0], [1.0, 0.0]]


def rows_follow_the_model(rows: int = 20_000) -> None:
    """Chi-square over all cells of the joint; cells that nobody can be in stay empty."""
    for seed, scopes in ((3, SCOPES[0]), (4, [(0, 1), (0, 2)]), (5, [])):
        model, joint, _ = modelled((2, 3, 4), scopes, seed, barred=0.15)
        shares = shares_of(joint)
        codes = model.draw(rows)
        counts = np.zeros(shares.shape)
        np.add.at(counts, tuple(codes.T), 1)
        assert codes.shape == (rows, 3) and not counts[shares == 0].any()
        likely = shares > 0
        statistic = float(((counts - rows * shares)[likely] ** 2 / (rows * shares[likely])).sum())
        assert chdtrc(int(likely.sum()) - 1, statistic) > ALPHA


def test_rows_follow_the_model() -> None:
    rows_follow_the_model(repeats(20_000))


def test_rows_are_drawn_from_the_source_alone() -> None:
    model, _, _ = modelled((2, 3, 2), SCOPES[0], 1)
    assert (model.draw(50, Tape(7)) == model.draw(50, Tape(7))).all()
    assert model.draw(0).shape == (0, 3)


def whole_numbers_add_up(shares: Floats) -> None:
    """Of each row exactly 2^bits, none below 0, none where the probability is 0, and none off by more than a step but the largest."""
    for bits in (4, 20, 40):
        found = _on_grid(shares, bits)
        assert (found.sum(axis=1) == 1 << bits).all() and (found >= 0).all() and not found[shares == 0].any()
        assert (
            np.abs(found - shares * 2.0**bits) <= np.where(shares == shares.max(1, keepdims=True), shares.shape[1], 1)
        ).all()


@EXAMPLES
@given(st.integers(1, 5), st.integers(1, 6), st.integers(0, 10**6))
def test_whole_numbers_add_up(rows: int, columns: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.random((rows, columns)) * (rng.random((rows, columns)) < 0.7)
    weights[:, 0] += 0.01
    whole_numbers_add_up(weights / weights.sum(axis=1, keepdims=True))


def test_bad_axes_are_invalid() -> None:
    model, _, _ = modelled((2, 3, 2), SCOPES[0], 1)
    for axes in ((0, 0), (3,), (-1,)):
        with pytest.raises(Invalid, match="different places"):
            model.marginal(axes)


def huge_marginals_are_invalid() -> None:
    shape = (2,) * 30
    _, shares = propagated(cliques := Cliques(junction_tree([], shape), shape), cliques.empty())
    model = Factored(domain_of(shape), 1.0, shares)
    assert len(model.cliques) == 30 and model.marginal((0, 29)).shape == (2, 2)
    with (
        mock.patch("discreet.weights.graphical.MOST_MARGINAL", 7),
        pytest.raises(Invalid, match="8 cells was asked for"),
    ):
        model.marginal(range(3))


def test_huge_marginals_are_invalid() -> None:
    huge_marginals_are_invalid()


def factors_multiply_where_names_agree() -> None:
    """f(a, b)·g(b, c) summed over b is a product of matrices."""
    f, g = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    factors = [Factor((5, 2), f), Factor((2, 7), g)]
    np.testing.assert_allclose(product_onto(factors, (7, 5)).values, (f @ g).T)
    assert product_onto(factors, (5, 2, 7)).values.shape == (2, 3, 4)
    assert product_onto(factors, (5, 9)).axes == (5,)
    np.testing.assert_allclose(Factor((5, 2), f).onto((2, 5, 3)).values, f.T)


def test_factors_multiply_where_names_agree() -> None:
    factors_multiply_where_names_agree()


def test_factors_have_one_name_for_each_axis() -> None:
    for axes in ((0,), (0, 0), (0, 1, 2)):
        with pytest.raises(Invalid, match="one name"):
            Factor(axes, np.zeros((2, 2)))
