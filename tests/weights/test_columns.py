"""Columns of synthetic data: every value is of its attribute's type and lies in the cell that was drawn, evenly."""

from datetime import date, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from discreet.cells import OTHER, Attribute, Binned, Categorical
from discreet.errors import Invalid
from discreet.noise import Tape
from discreet.weights.columns import ColumnType, column_of
from tests.scale import repeats
from tests.weights.synthesis import ALPHA, KINDS, NOON, attributes

TYPES = {
    ColumnType.TEXT: str,
    ColumnType.INTEGER: int,
    ColumnType.NUMBER: float,
    ColumnType.BOOLEAN: bool,
    ColumnType.DATE: date,
    ColumnType.TIMESTAMP: datetime,
}


def fits(attribute: Attribute, code: int, value: Any) -> bool:
    """Whether a value may stand for a cell, said in the plainest way."""
    if value is None:
        last = isinstance(attribute, Categorical) and attribute.other and code == len(attribute.values)
        return (attribute.missing and code == attribute.size - 1) or last
    if isinstance(attribute, Categorical):
        if code == len(attribute.values):
            return bool(value == OTHER)
        return bool(value == attribute.values[code] or value == str(attribute.values[code]))
    low, high = attribute.edges[code : code + 2]
    between = low <= value < high  # type: ignore[operator]
    # no whole number may be there
    return bool(between or (attribute.whole and low <= value < value + 1 and value - 1 < low))  # type: ignore[operator]


@given(attributes(), st.data())
@settings(max_examples=150)
def test_every_value_lies_in_its_cell(attribute: Attribute, data: st.DataObject) -> None:
    codes = np.array(data.draw(st.lists(st.integers(0, attribute.size - 1), max_size=20)), np.int64)
    column = column_of(attribute, codes, Tape(1))
    values = column.values()
    assert len(values) == codes.size
    assert all(fits(attribute, int(code), value) for code, value in zip(codes, values, strict=True))
    assert {type(value) for value in values if value is not None} <= {TYPES[column.type]}


def values_of_every_kind() -> None:
    """All cells of all kinds of attributes, many times."""
    for attribute in KINDS:
        codes = np.repeat(np.arange(attribute.size), 30)
        column = column_of(attribute, codes, Tape(2))
        values = column.values()
        assert all(fits(attribute, int(code), value) for code, value in zip(codes, values, strict=True)), attribute
        assert {type(value) for value in values if value is not None} == {TYPES[column.type]}
        assert values[3:5] == column.values(slice(3, 5))


def test_values_of_every_kind_lie_in_their_cells() -> None:
    values_of_every_kind()


def others_are_words_or_nothing() -> None:
    """Among words the word "other"; among anything else nothing, since no value is known to be another one."""
    words = column_of(Categorical("ward", ("A",)), np.array([0, 1, 2]))
    assert words.values() == ["A", OTHER, None]
    numbers = column_of(Categorical("children", (3,)), np.array([0, 1, 2]))
    assert numbers.values() == [3, None, None]


def test_others_are_words_or_nothing() -> None:
    others_are_words_or_nothing()


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (("a", "b"), ColumnType.TEXT),
        ((), ColumnType.TEXT),
        ((1, "a"), ColumnType.TEXT),
        ((True, 1), ColumnType.TEXT),
        ((1, 2), ColumnType.INTEGER),
        ((1, 2**70), ColumnType.TEXT),
        ((1, 2.5), ColumnType.NUMBER),
        ((True, False), ColumnType.BOOLEAN),
        ((date(2020, 1, 1),), ColumnType.DATE),
        ((NOON,), ColumnType.TIMESTAMP),
        ((NOON, date(2020, 1, 1)), ColumnType.TEXT),
    ],
)
def test_a_column_has_the_type_that_all_categories_have(values: tuple[Any, ...], kind: ColumnType) -> None:
    assert column_of(Categorical("x", values), np.array([0], np.int64)).type is kind


def bins_are_even() -> None:
    """Whole numbers, days and seconds of a bin are drawn alike often; of real numbers so are tenths of a bin."""
    count = repeats(3_000)
    trials = [
        (Binned("x", (3, 10), whole=True), lambda value: value - 3, 7),
        (Binned("x", (date(2020, 1, 1), date(2020, 1, 6))), lambda value: value.day - 1, 5),
        (Binned("x", (datetime(2020, 1, 1), datetime(2020, 1, 1, 0, 0, 9))), lambda value: value.second, 9),
        (Binned("x", (-1.0, 1.0)), lambda value: int((value + 1) * 5), 10),
    ]
    for attribute, place, places in trials:
        values = column_of(attribute, np.zeros(count, np.int64)).values()
        seen = np.bincount([place(value) for value in values], minlength=places)
        assert seen.size == places and chisquare(seen).pvalue > ALPHA


def test_bins_are_even() -> None:
    bins_are_even()


def test_numbers_have_no_digits_without_use() -> None:
    values = column_of(Binned("x", (0.0, 10.0, 1e9)), np.repeat([0, 1], 50)).values()
    assert all(round(value, 2) == value for value in values[:50])  # type: ignore[arg-type, call-overload]
    assert all(value % 1e5 == 0 for value in values[50:] if value != 10)  # type: ignore[operator]


@pytest.mark.parametrize("edges", [(0.0, float("inf")), (True, 2), (float("-inf"), 0.0)])
def test_bins_without_two_finite_ends_are_refused(edges: tuple[Any, ...]) -> None:
    with pytest.raises(Invalid, match="must lie between finite numbers"):
        column_of(Binned("x", edges), np.array([0]))


def test_bins_too_narrow_for_a_float_are_one_value() -> None:
    assert column_of(Binned("x", (2**60, 2**60 + 1)), np.zeros(3, np.int64)).values() == [2.0**60] * 3
    assert column_of(Binned("x", (2**60, 2**60 + 1), whole=True), np.zeros(3, np.int64)).values() == [2**60] * 3
