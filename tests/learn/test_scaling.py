"""Scaling by declared bounds, and by means and deviations that were released."""

import warnings
from decimal import Decimal
from fractions import Fraction as F
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from discreet.errors import Invalid, Refused
from discreet.learn.moments import MOST_ROWS
from discreet.learn.private_scaling import FeatureScale, SpreadSum, feature_scale, feature_scale_of
from discreet.learn.scaling import FeatureBounds, column, matched, table
from discreet.learn.training_plan import GradientNoise
from discreet.mechanisms.measure import Unmetered
from discreet.noise import Tape
from discreet.privacy import loss
from tests.learn.cases import NO_NUMBERS, Telling, features, nothing_told
from tests.learn.test_descent import Watched

SMALL = F(1, 10**5)
NUMBERS = st.floats(allow_nan=True, allow_infinity=True, allow_subnormal=True)


@example(np.inf, (0.0, 1.0))
@example(np.nan, (0.0, 1.0))
@given(NUMBERS, st.tuples(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6)))
def scaled_values_stay_within(value: float, ends: tuple[float, float]) -> None:
    """For any number and any bounds: in [−1, 1], and none where it is no finite number."""
    bounds = FeatureBounds.of((ends[0], ends[0] + ends[1]), 1)
    for scaled in (bounds.scaled, bounds.scaled_from_zero):
        found = scaled(np.array([[value]]))[0, 0]
        assert (np.isfinite(value) and -1 <= found <= 1) or (not np.isfinite(value) and np.isnan(found))


def test_scaled_values_stay_within() -> None:
    scaled_values_stay_within()


def ends_are_the_ends() -> None:
    bounds = FeatureBounds.of([(0, 10), (-4, 2)], 2)
    assert bounds.scaled(np.array([[0, 2], [10, -4], [5, -1], [99, -99]])).tolist() == [
        [-1, 1],
        [1, -1],
        [0, 0],
        [1, -1],
    ]
    assert bounds.scaled_from_zero(np.array([[5.0, -4], [0, 2]])).tolist() == [[0.5, -1], [0, 0.5]]


def test_ends_are_the_ends() -> None:
    ends_are_the_ends()


@pytest.mark.parametrize(
    "declared",
    [None, "ab", (1,), (1, 1), (2, 1), (0, np.inf), (np.nan, 1), [(0, 1)], [(0, 1)] * 3, (0, 5e-324), (-1e308, 1e308)],
)
def test_other_bounds_are_refused(declared: Any) -> None:
    with pytest.raises(Invalid, match="bounds"):
        FeatureBounds.of(declared, 2)


def no_cell_raises() -> None:
    """A cell that is no number is none, each alone among numbers and beside others; a table that is none is refused."""
    with nothing_told():
        for each in NO_NUMBERS:
            for kind in (list, partial(np.array, dtype=object), partial(pd.DataFrame, dtype=object)):
                found = table(kind([[1, 2.5], [3, each]]))
                assert np.array_equal(found, [[1, 2.5], [3, np.nan]], equal_nan=True), each
            assert np.array_equal(column([1, each, 2]), [1, np.nan, 2], equal_nan=True), each
    found = table([[1, "2"], [None, "x"], [Decimal(3), {}], [True, 10**400]])
    assert np.array_equal(found, [[1, 2], [np.nan, np.nan], [3, np.nan], [1, np.nan]], equal_nan=True)
    assert np.array_equal(column(["1", None, [2], 4.5]), [1, np.nan, np.nan, 4.5], equal_nan=True)
    for other in ([1, 2], [[1], [2, 3]], 5, Telling()):
        with pytest.raises(Invalid):
            table(other)
    with pytest.raises(Invalid, match="sparse"):
        table(csr_matrix(np.eye(2)))
    with pytest.raises(Invalid, match="one target"):
        matched([1], found)


def test_no_cell_raises() -> None:
    no_cell_raises()


CELLS: list[Any] = [
    *NO_NUMBERS,
    3,
    True,
    "1_000",
    " 2 ",
    b"1",
    2**60 + 1,
    Decimal("1e999"),
    np.longdouble("1e4000"),
    np.float16(2),
    np.str_("4"),
]
CELLS += [
    np.complex128(1 + 1j),
    np.datetime64("2020-01-01"),
    np.timedelta64(5, "s"),
    np.ma.masked,
    pd.NA,
    pd.NaT,
    float("nan"),
]


def a_cell_is_read_by_itself() -> None:
    """The same beside any others, without a warning: neither may tell of what other rows hold."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for each in CELLS:
            alone, beside = np.empty((2, 1), object), np.empty((3, 1), object)
            alone[0, 0], beside[0, 0], beside[2, 0] = 1.0, 1.0, "x"
            alone[1, 0] = beside[1, 0] = each
            found = [table(alone)[1, 0], table(beside)[1, 0], table(alone.tolist())[1, 0], column([1.0, each])[1]]
            assert np.array_equal(found, [found[0]] * 4, equal_nan=True), each
    assert not said


def test_a_cell_is_read_by_itself() -> None:
    a_cell_is_read_by_itself()


@pytest.mark.parametrize("kind", ["datetime64[D]", "datetime64[ns]", "timedelta64[ns]", "complex128"])
def test_no_type_makes_numbers_of_moments(kind: str) -> None:
    found = np.array([5, 7]).astype(np.dtype(kind))
    for table_of in (found.reshape(-1, 1), pd.DataFrame({"a": found}), pd.DataFrame({"a": found}, dtype=object)):
        assert np.isnan(table(table_of)).all()
    assert np.isnan(column(found)).all()


def test_masked_cells_are_none() -> None:
    masked: Any = np.ma.masked_array([[1.0, 2.0], [3.0, 4.0]], [[False, True], [False, False]])
    assert np.array_equal(table(masked), [[1.0, np.nan], [3.0, 4.0]], equal_nan=True)
    assert np.array_equal(column(masked[:, 1]), [np.nan, 4], equal_nan=True)


SAID: dict[str, Any] = {"bounds": (-2, 3), "epsilon": 1, "delta": SMALL}
PATHS: dict[str, dict[str, Any]] = {"as it ships": {}, "pure": {"delta": 0}, "replaced": {"adjacency": "replace"}}


def drawn_is_charged() -> None:
    """What was used is what was granted, the same on n, n + 1 and no rows; and it keeps the promise and no more."""
    for said in PATHS.values():
        seen = []
        for rows in (30, 31, 0):
            watched = Watched()
            measure = Unmetered(hand=watched)
            named = {**SAID, **said}
            found = feature_scale(features(1, rows, 3), **named, measure=measure)
            assert loss(watched.event).terms == measure.spent.terms
            assert measure.spent.certifies(1, named["delta"]) and not measure.spent.certifies(F(9, 10), named["delta"])
            assert (found.deviation > 0).all() and np.isfinite(found.mean).all()
            seen.append(watched.uses)
        assert seen[0] == seen[1] == seen[2] and len(seen[0]) == 1


def test_what_is_drawn_is_what_was_charged() -> None:
    drawn_is_charged()


def without_noise_means_are_means() -> None:
    random = np.random.default_rng(2)
    values = random.normal([3, -1], [1, 2], (3000, 2))
    values[::3, 0] = np.nan
    rest = values[~np.isnan(values[:, 0])]
    for said in PATHS.values():
        found = feature_scale(values, **{**SAID, "bounds": (-20, 20), "epsilon": 10**15, **said})
        assert np.allclose(found.mean, rest.mean(axis=0), atol=1e-3)
        assert np.allclose(found.deviation, rest.std(axis=0), rtol=1e-2)


def test_without_noise_means_are_means() -> None:
    without_noise_means_are_means()


def scaled_rows_have_public_bounds() -> None:
    values = features(3, 200, 2)
    found = feature_scale(values, **{**SAID, "epsilon": 10})
    scaled = found.scaled(values, 0.25)
    known = np.isfinite(values)
    assert (np.abs(scaled[known]) <= 0.25).all() and np.isnan(scaled[~known]).all()
    inside = np.array([[0.5, -0.25]])
    assert np.allclose(found.scaled(inside, 1e9), (inside - found.mean) / found.deviation)


def test_scaled_rows_have_public_bounds() -> None:
    scaled_rows_have_public_bounds()


def test_texts_give_the_scale_back() -> None:
    found = feature_scale(features(4, 50, 2), **SAID, measure=Unmetered(Tape(1)))
    again = FeatureScale.from_json(found.to_json())
    assert again.to_json() == found.to_json() and again.bounds == found.bounds
    for text in (
        "",
        "{}",
        '{"format": 2}',
        found.to_json().replace('"mean": [', '"mean": [0.0, '),
        found.to_json().replace("scale", "x"),
    ):
        with pytest.raises(Invalid):
            FeatureScale.from_json(text)


@pytest.mark.parametrize(
    "said", [{"bounds": None}, {"bounds": (0, 10**400)}, {"epsilon": 0}, {"delta": 2}, {"adjacency": "x"}, {"ids": [1]}]
)
def test_bad_requests_are_refused_before_anything_is_spent(said: dict[str, Any]) -> None:
    measure = Unmetered()
    with pytest.raises(Invalid, match=next(iter(said)).removesuffix("s")):
        feature_scale(features(1, 5, 2), **{**SAID, **said}, measure=measure)
    assert not measure._spent
    feature_scale(features(1, 5, 2), **SAID, measure=measure, key="k")
    with pytest.raises(Refused, match="another request"):  # a key belongs to its bounds
        feature_scale(features(1, 5, 2), **{**SAID, "bounds": (-2, 4)}, measure=measure, key="k")
    many = np.broadcast_to(np.zeros(1), (MOST_ROWS + 1, 1))  # takes no memory
    with pytest.raises(Invalid, match="67,108,864 rows"):
        SpreadSum(1, GradientNoise.GAUSSIAN).exact(many)
    with pytest.raises(Invalid, match="at least one"):
        feature_scale_of(lambda: np.zeros((0, 0)), 0, **SAID)
