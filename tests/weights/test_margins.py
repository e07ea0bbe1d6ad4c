"""Marginals that are held: they are those of the cells, and exact ones are read by draws only."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import Invalid, Refused
from discreet.mechanisms.guarded import under_way
from discreet.weights import margins
from discreet.weights.margins import HeldCounts, Margins, checked_cells
from tests.weights.online_tables import masks, table_of

SHAPE = (2, 3, 1, 2)
ROWS = np.random.default_rng(3).integers(0, SHAPE, (50, len(SHAPE)))


def held_sums_are_those_of_the_cells() -> None:
    """Over all cells of all sets of attributes, asked twice; also where nothing can be held for long."""
    full = np.zeros(SHAPE, np.int64)
    np.add.at(full, tuple(ROWS.T), 1)
    for most in (1 << 24, 4):
        with mock.patch.object(margins, "MOST_HELD", most):
            found = Margins(lambda axes: full.sum(axis=tuple(axis for axis in range(len(SHAPE)) if axis not in axes)))
            held = HeldCounts(table_of(SHAPE, ROWS).counts(table_of(SHAPE, ROWS).domain.attributes))
            for mask in [*masks(SHAPE), *masks(SHAPE)]:
                truth = full[np.broadcast_to(mask, SHAPE)].sum()
                assert found.sum(mask) == truth
                with under_way():
                    assert held.count(mask)() == truth


def test_held_sums_are_those_of_the_cells() -> None:
    held_sums_are_those_of_the_cells()


def exact_counts_are_read_by_draws_only() -> None:
    """Before a draw has read them, and afterwards."""
    table = table_of(SHAPE, ROWS)
    held = HeldCounts(table.counts(table.domain.attributes))
    mask = np.ones((1,) * len(SHAPE), np.bool_)
    reads = (lambda: held.count(mask)(), lambda: held.total(), lambda: held.marginal((0,))())
    for _ in range(2):
        for read in reads:
            with pytest.raises(Refused) as refused:
                read()
            assert refused.value.code == "exact"
        with under_way():
            assert held.count(mask)() == held.total() == held.marginal((0,))().sum() == len(ROWS)


def test_exact_counts_are_read_by_draws_only() -> None:
    exact_counts_are_read_by_draws_only()


@given(st.lists(st.integers(0, 4), min_size=0, max_size=5))
def test_masks_fit_the_domain_or_are_refused(lengths: list[int]) -> None:
    fits = len(lengths) == len(SHAPE) and all(length in (1, size) for length, size in zip(lengths, SHAPE, strict=True))
    mask = np.ones(lengths, np.bool_)
    if fits:
        assert checked_cells(mask, SHAPE) is mask
    else:
        with pytest.raises(Invalid) as refused:
            checked_cells(mask, SHAPE)
        assert refused.value.code == "cells"


@pytest.mark.parametrize(
    "cells", [np.ones(SHAPE), np.ones(SHAPE, int), [1, 2], [[True], [True, False]], None, "x", object()]
)
def test_cells_are_true_or_false(cells: object) -> None:
    with pytest.raises(Invalid, match="True and False"):
        checked_cells(cells, SHAPE)
