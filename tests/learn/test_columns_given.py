"""Columns of every library are the same lists: nothing is rounded on the way, and nothing passes for a column that is none."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet.errors import Invalid
from discreet.learn.columns_given import is_nothing, listed, one_column, plain

LARGE = 2**53 + 1
"""No floating-point number: a way by floats would make it another one, and two people one."""


def columns_keep_their_values() -> None:
    values = [LARGE, None, LARGE - 1]
    for column in (
        values,
        tuple(values),
        iter(values),
        pl.Series(values),
        pa.array(values),
        pa.chunked_array([values]),
        pd.Series(values, dtype=object),
        np.array(values, object),
    ):
        assert listed(column, "ids") == values
    found = listed(pd.Series(values, dtype="Int64"), "ids")
    assert [None if is_nothing(each) else each for each in found] == values
    assert listed(np.array([LARGE, 1]), "ids") == [LARGE, 1] and listed(range(3), "ids") == [0, 1, 2]
    assert listed(pa.array(["a", None]), "ids") == ["a", None] == listed(pl.Series(["a", None]), "ids")


def test_columns_keep_their_values() -> None:
    columns_keep_their_values()


@pytest.mark.parametrize(
    "given",
    [None, "abc", b"abc", 5, np.array(5), np.zeros((2, 2)), pd.DataFrame({"a": [1]}), pa.table({"a": [1]})],
    ids=["None", "text", "bytes", "number", "scalar", "table", "pandas", "arrow"],
)
def test_what_is_no_column_is_refused(given: Any) -> None:
    with pytest.raises(Invalid, match="ids must be a column"):
        listed(given, "ids")


def test_a_table_of_one_column_is_a_column() -> None:
    for given in (
        np.array([["a"], ["b"]]),
        [["a"], ["b"]],
        pd.DataFrame({"x": ["a", "b"]}),
        pl.DataFrame({"x": ["a", "b"]}),
        pa.table({"x": ["a", "b"]}),
    ):
        assert one_column(given, "targets") == ["a", "b"]
    for several in (np.zeros((3, 2)), [[1, 2], [3, 4]], pd.DataFrame({"x": [1], "y": [2]}), np.zeros((2, 1, 1))):
        with pytest.raises(Invalid, match="targets must be one column"):
            one_column(several, "targets")


def test_no_cell_decides_whether_there_is_a_column() -> None:
    for cells in ([[1], 2, None], [None, [1, 2]], [[1], [1, 2]], [np.zeros(2), np.zeros((2, 3))], []):
        assert len(one_column(cells, "targets")) == len(cells)


@pytest.mark.parametrize("nothing", [None, float("nan"), np.nan, pd.NA, pd.NaT, np.datetime64("NaT")])
def test_nothing_is_nothing(nothing: Any) -> None:
    assert is_nothing(nothing)


def test_values_are_something() -> None:
    assert not any(is_nothing(each) for each in (0, "", False, "nan", [1], np.zeros(2), ()))
    assert type(plain(np.int64(3))) is int and type(plain(np.str_("a"))) is str and plain("a") == "a"
