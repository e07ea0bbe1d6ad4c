"""Laws of fast sums: they are those of the slow obvious way, for every shape."""

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.weights.transform import SIDE, Basis, helmert, marginals

SHAPES = st.lists(st.integers(1, 4), min_size=1, max_size=5).map(tuple)


def sets(count: int) -> list[tuple[int, ...]]:
    return list(chain.from_iterable(combinations(range(count), k) for k in range(count + 1)))


def shared_sums_are_the_sums(shape: tuple[int, ...] = (2, 3, 1, 2)) -> None:
    cells = np.random.default_rng(0).integers(0, 1 << 40, shape)
    for some in (sets(len(shape)), sets(len(shape))[::2], sets(len(shape))[1::3], []):
        sums = dict(marginals(cells, some))
        assert sums.keys() == set(some)
        for axes, each in sums.items():
            slow = cells.sum(axis=tuple(set(range(len(shape))) - set(axes)))
            assert each.shape == slow.shape and (each == slow).all()


@settings(max_examples=30)
@given(SHAPES)
def test_shared_sums_are_the_sums(shape: tuple[int, ...]) -> None:
    shared_sums_are_the_sums(shape)


def slow(shape: tuple[int, ...]) -> np.ndarray:
    """The matrix of the whole basis: Kronecker's product of those of attributes."""
    matrix = np.ones((1, 1))
    for size in shape:
        matrix = np.kron(matrix, helmert(size))
    return matrix


def the_basis_is_that_of_every_attribute(shape: tuple[int, ...] = (2, 3, 2)) -> None:
    cells = np.random.default_rng(1).normal(size=shape)
    basis, matrix = Basis(shape), slow(shape)
    assert np.allclose(matrix @ matrix.T, np.eye(cells.size))
    assert np.allclose(basis.coefficients(cells).reshape(-1), matrix @ cells.reshape(-1))
    assert np.allclose(basis.cells(cells).reshape(-1), matrix.T @ cells.reshape(-1))


@settings(max_examples=30)
@given(SHAPES)
def test_the_basis_is_that_of_every_attribute(shape: tuple[int, ...]) -> None:
    the_basis_is_that_of_every_attribute(shape)


@pytest.mark.parametrize("shape", [(SIDE + 3,), (2, SIDE + 1, 3), (SIDE, 2), (2,) * 11])
def test_long_attributes_and_many_go_back_and_forth(shape: tuple[int, ...]) -> None:
    cells = np.random.default_rng(2).normal(size=shape)
    basis = Basis(shape)
    there = basis.coefficients(cells)
    assert np.allclose(basis.cells(there), cells)
    assert np.isclose((there**2).sum(), (cells**2).sum())


def test_running_sums_are_the_matrix() -> None:
    size = SIDE + 5
    cells = np.random.default_rng(3).normal(size=size)
    assert np.allclose(Basis((size,)).coefficients(cells), helmert(size) @ cells)
    assert np.allclose(Basis((size,)).cells(cells), helmert(size).T @ cells)


def test_binary_cubes_are_transformed_as_walsh_and_hadamard_have_it() -> None:
    cells = np.random.default_rng(4).normal(size=(2,) * 5)
    for axes in sets(5):
        sign = np.ones((2,) * 5)
        for axis in axes:
            sign = sign * np.array([1.0, -1.0]).reshape([2 if i == axis else 1 for i in range(5)])
        one = Basis((2,) * 5).coefficients(cells)[Basis((2,) * 5).block(axes)]
        assert one.size == 1 and np.isclose(one.item(), (sign * cells).sum() / np.sqrt(32))


@settings(max_examples=30)
@given(SHAPES)
def test_blocks_are_all_coefficients_once(shape: tuple[int, ...]) -> None:
    times = np.zeros(shape, np.int64)
    for axes in sets(len(shape)):
        times[Basis(shape).block(axes)] += 1
    assert (times == 1).all()
