"""Cells of a histogram: every value has a cell of its own or of others, and marginals are the sums that they say they are."""

from datetime import date, datetime
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.cells import Binned, Categorical, CellCounts
from discreet.errors import Invalid


@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=4).flatmap(
        lambda shape: st.tuples(
            st.just(tuple(shape)),
            st.lists(
                st.tuples(st.tuples(*(st.integers(0, size - 1) for size in shape)), st.integers(0, 10**12)), max_size=12
            ),
            st.permutations(range(len(shape))).flatmap(
                lambda axes: st.integers(0, len(axes)).map(lambda n: tuple(axes[:n]))
            ),
        )
    )
)
def test_a_marginal_is_the_sum_over_all_other_attributes(
    example: tuple[tuple[int, ...], list[tuple[tuple[int, ...], int]], tuple[int, ...]],
) -> None:
    """Over shapes, counts with cells that are listed twice, and attributes in any order; against a sum in plain Python."""
    marginals_are_sums(*example)


def marginals_are_sums(shape: tuple[int, ...], cells: list[tuple[tuple[int, ...], int]], axes: tuple[int, ...]) -> None:
    codes = np.array([code for code, _ in cells], np.int64).reshape(-1, len(shape))
    counts = CellCounts(shape, codes, np.array([count for _, count in cells], np.int64))
    marginal = counts.marginal(axes)
    assert marginal.dtype == np.int64 and marginal.shape == tuple(shape[axis] for axis in axes)
    for place in product(*(range(shape[axis]) for axis in axes)):
        exact = sum(count for code, count in cells if tuple(code[axis] for axis in axes) == place)
        assert marginal[place] == exact
    assert counts.total == sum(count for _, count in cells) == marginal.sum()


def marginals_in_order() -> None:
    marginals_are_sums((2, 3, 4), [((1, 2, 3), 5), ((0, 2, 3), 2**53), ((1, 2, 3), 1)], (2, 0))


def test_counts_beyond_doubles_are_exact() -> None:
    marginals_in_order()


def shapes_are_checked() -> None:
    for codes, counts in (
        (np.zeros((2, 2)), np.ones(2)),
        (np.zeros((2, 1)), np.ones(3)),
        (np.zeros((1, 1)), np.ones((1, 1))),
    ):
        with pytest.raises(Invalid):
            CellCounts((4,), codes.astype(np.int64), counts.astype(np.int64))


def test_codes_and_counts_belong_together() -> None:
    shapes_are_checked()


def cells_are_labelled() -> None:
    """There are as many labels as cells, in the order of the cells."""
    for other, missing in product((False, True), repeat=2):
        found = Categorical("ward", ["A", "B"], other=other, missing=missing)  # type: ignore[arg-type]
        assert found.labels == ("A", "B", *["other"] * other, *["missing"] * missing)
        assert found.size == len(found.labels) and found.values == ("A", "B")
        bins = Binned("age", [0, 18, 65], missing=missing)  # type: ignore[arg-type]
        assert bins.labels == ("0 to 18", "18 to 65", *["missing"] * missing) and bins.size == len(bins.labels)


def test_cells_are_labelled() -> None:
    cells_are_labelled()


UNUSABLE: tuple[tuple[tuple[Any, ...], str], ...] = (
    ((), "at least two edges"),
    ((1,), "at least two edges"),
    ((1, 1), "rise"),
    ((2, 1), "rise"),
    ((0, float("nan")), "rise"),
    ((0, date(2024, 1, 1)), "of one kind"),
    ((date(2024, 1, 1), datetime(2024, 1, 2)), "of one kind"),
)


def edges_rise() -> None:
    for edges, words in UNUSABLE:
        with pytest.raises(Invalid, match=words):
            Binned("age", edges)


def test_edges_are_of_one_kind_and_rise() -> None:
    edges_rise()


def categories_differ() -> None:
    with pytest.raises(Invalid, match="differ"):
        Categorical("ward", ("A", "A"))
    with pytest.raises(Invalid, match="at least one cell"):
        Categorical("ward", (), other=False, missing=False)
    assert Categorical("x", (1, 1.0)).size == 4  # an integer and a number are told apart


def test_categories_differ() -> None:
    categories_differ()
