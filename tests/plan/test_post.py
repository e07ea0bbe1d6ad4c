"""Outputs, HAVING, ORDER BY and LIMIT act on released values, and on nothing else."""

from fractions import Fraction as F
from math import isfinite

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import Fault
from discreet.plan.numbers import columns, integral, output_type
from discreet.plan.post import Shown, released_rows, selects
from discreet.plan.question import Output, Sort
from discreet.plan.releases.mean import Mean
from discreet.plan.scalar import Case, Comparison, Key, Literal, Order, Scalar, Type
from discreet.plan.scalar import Function as Call
from tests.plan import laws
from tests.plan.made import COUNT, FINE, LAPLACE, MEAN, SOME, SUM, add, less, number, over, plan_of, restaged, times

KEY = Key(0, Type.INTEGER)
NONE = Literal(None, Type.NUMBER)
FEW = int(LAPLACE[0].error())  # a count of no more cannot be told from 0


def released(*totals: list[int]) -> list[np.ndarray]:
    """Counts, and whatever else is given; the rest is 0."""
    given_ = [np.array(each, np.int64) for each in totals]
    return given_ + [np.zeros(len(totals[0]), np.int64)] * (5 - len(given_))


def test_counts_and_whole_sums_are_ints_and_fine_sums_exact_multiples_of_their_step() -> None:
    plan = plan_of(COUNT, SUM, FINE, add(COUNT, times(number(2), SUM)))
    row = released_rows(plan, released([7], [300], [0], [0], [1025])).rows[0]
    assert row == (7, 300, 1025 / 1024, 607)
    assert [type(value) for value in row] == [int, int, float, int]
    assert [output_type(output.value, plan) for output in plan.question.outputs][1:] == [
        Type.INTEGER,
        Type.NUMBER,
        Type.INTEGER,
    ]
    assert not integral(over(SUM, COUNT), plan)


@given(st.integers(-(2**62), 2**62))
def test_a_total_is_the_multiple_of_its_step_that_it_was_released_as(total: int) -> None:
    value = released_rows(plan_of(FINE), released([0], [0], [0], [0], [total])).rows[0][0]
    assert isinstance(value, float)
    assert value == float(F(total, 1024))
    assert float(repr(value)) == value


MEANS = [
    (0, 1000, 60.0),
    (10_000, 1000, 70.0),
    (1, 300, 60.0033333),
    (-(10**9), 500, 0.0),
    (10**9, 500, 120.0),
    (50, FEW + 1, 60.8196721),
    (50, FEW, None),
    (50, 0, None),
    (50, -300, None),
]


@pytest.mark.parametrize(("total", "count", "mean"), MEANS)
def test_a_mean_is_clamped_rounded_and_null_where_the_count_cannot_be_told_from_0(
    total: int, count: int, mean: float | None
) -> None:
    assert released_rows(plan_of(MEAN), released([count], [0], [total])).rows[0] == (mean,)


def nobody_wins(descending: bool, nulls_first: bool) -> None:
    """Of nobody there is no mean: it is last in any order, unless NULLS FIRST is written, and no HAVING holds for it."""
    counts, totals = [1000, 2, 3000], [0, 10**6, 3000]
    order = (Sort(MEAN, descending=descending, nulls_first=nulls_first),)
    made = released_rows(plan_of(KEY, MEAN, groups=3, order=order), released(counts, [0] * 3, totals))
    told = [2, 0] if descending else [0, 2]
    assert [row[0] for row in made.rows] == ([1, *told] if nulls_first else [*told, 1])
    for sign in (Order.GREATER, Order.LESS, Order.NOT_EQUAL):
        for scalar in (MEAN, over(SUM, COUNT), over(SOME, COUNT)):
            having = Comparison(sign, scalar, number(10.5))
            made = released_rows(plan_of(KEY, groups=3, having=having), released(counts, [0] * 3, totals))
            assert 1 not in made.groups


@pytest.mark.parametrize("nulls_first", [False, True])
@pytest.mark.parametrize("descending", [False, True])
def test_a_mean_of_nobody_wins_nothing(descending: bool, nulls_first: bool) -> None:
    nobody_wins(descending, nulls_first)


@pytest.mark.parametrize(
    ("order", "keys"),
    [
        ("a DESC", "CAB"),
        ("a", "ACB"),
        ("a DESC NULLS LAST", "CAB"),
        ("a NULLS FIRST", "BAC"),
        ("a DESC NULLS FIRST", "BCA"),
        ("COALESCE(a, 100) DESC", "BCA"),
    ],
)
def test_sql_orders_too_few_as_null(order: str, keys: str) -> None:
    plan = laws.planned(f"SELECT g, AVG(x) AS a FROM t GROUP BY g ORDER BY {order}", laws.PERSON)
    found = released_rows(plan, [np.array([0, 10**6, 3000]), np.array([3000, 2, 3000])]).rows
    assert "".join(str(row[0]) for row in found) == keys


def whole_numbers_are_exact(count: int, total: int, factor: int) -> None:
    """As Python computes them, however large; beyond the largest double there is nothing."""
    plan = plan_of(times(times(COUNT, number(factor)), number(factor)), less(times(SUM, SUM), COUNT), groups=1)
    found = released_rows(plan, released([count], [total])).rows[0]
    assert found == (count * factor * factor, total * total - count)
    assert {type(value) for value in found} == {int}
    huge: Scalar = SUM
    for _ in range(20):
        huge = times(huge, SUM)
    value = released_rows(plan_of(huge), released([count], [total])).rows[0][0]
    assert value == (total**21 if abs(total) ** 21 < 1.7e308 else None)


@given(st.integers(-(2**62), 2**62), st.integers(-(2**62), 2**62), st.integers(-(2**40), 2**40))
def test_whole_numbers_are_computed_in_integers(count: int, total: int, factor: int) -> None:
    whole_numbers_are_exact(count, total, factor)


def test_whole_numbers_beyond_the_doubles_are_ordered_as_they_are() -> None:
    square = times(SUM, SUM)
    made = released_rows(
        plan_of(KEY, groups=3, order=(Sort(square),)), released([1, 1, 1], [2**60 + 1, 2**60, 2**60 + 2])
    )
    assert made.groups == (1, 0, 2)


@given(st.integers(-(2**62), 2**62), st.integers(-(2**62), 2**62))
def test_no_number_has_a_tail_of_digits_or_is_infinite(total: int, count: int) -> None:
    plan = plan_of(MEAN, over(SUM, COUNT), over(SUM, SOME), times(times(SUM, SUM), number(1e300)))
    for value in released_rows(plan, released([count], [total], [total])).rows[0]:
        assert value is None or (isinstance(value, int | float) and isfinite(value))
        digits = repr(value).partition("e")[0].replace(".", "").lstrip("-0").rstrip("0")
        assert value is None or len(digits) <= 12 or float(value).is_integer()


def rows_by_hand(counts: list[int], least: int, descending: bool, offset: int, limit: int) -> list[tuple[int, int]]:
    """What anyone could do with the whole answer."""
    found = [(i, count) for i, count in enumerate(counts) if count > least]
    found.sort(key=lambda row: (-row[1], row[0]) if descending else row[::-1])
    return found[offset : offset + limit]


@given(
    st.lists(st.integers(-3, 3), min_size=1, max_size=12),
    st.integers(-4, 3),
    st.booleans(),
    st.integers(0, 3),
    st.integers(0, 5),
)
def test_having_order_and_limit_are_what_anyone_could_do_with_the_whole_answer(
    counts: list[int], least: int, descending: bool, offset: int, limit: int
) -> None:
    plan = plan_of(
        KEY,
        COUNT,
        groups=len(counts),
        having=Comparison(Order.GREATER, COUNT, number(least)),
        order=(Sort(COUNT, descending),),
        limit=limit,
        offset=offset,
    )
    made = released_rows(plan, released(counts))
    assert list(made.rows) == rows_by_hand(counts, least, descending, offset, limit)
    assert [plan.domain[i][0] for i in made.groups] == [row[0] for row in made.rows]


def test_a_later_key_of_the_order_decides_between_equals_and_null_goes_where_it_is_told() -> None:
    small = Case(((Comparison(Order.LESS, COUNT, number(2)), NONE),), COUNT)
    counts = [3, 1, 2, 3, 0]
    for nulls_first, expected in ((False, [3, 0, 2, 4, 1]), (True, [4, 1, 3, 0, 2])):
        order = (Sort(small, descending=True, nulls_first=nulls_first), Sort(KEY, descending=True))
        made = released_rows(plan_of(KEY, groups=5, order=order), released(counts))
        assert [row[0] for row in made.rows] == expected


def test_a_condition_that_is_null_keeps_no_row() -> None:
    having = Comparison(Order.GREATER, over(SUM, COUNT), number(0))
    made = released_rows(plan_of(KEY, groups=3, having=having), released([0, 1000, 1000], [5, 5, -5]))
    assert made == Shown((1,), ((1,),))


def test_the_order_sees_the_rounded_mean_that_the_answer_shows() -> None:
    totals = [10**9, 10**9 + 1]
    plan = plan_of(Output("m", MEAN), KEY, groups=2, order=(Sort(MEAN, descending=True),))
    rows = released_rows(plan, released([10**12, 10**12], [0, 0], totals)).rows
    assert rows[0][0] == rows[1][0]
    assert [row[1] for row in rows] == [0, 1]


def test_selection_by_released_values_is_told_from_selection_by_keys() -> None:
    by_key, by_count = (Sort(KEY),), (Sort(COUNT),)
    assert selects(plan_of(KEY, having=Comparison(Order.GREATER, COUNT, number(1))))
    assert selects(plan_of(KEY, order=by_count, limit=1))
    assert not selects(plan_of(KEY, order=by_count))
    assert not selects(plan_of(KEY, order=by_key, limit=1))
    assert not selects(plan_of(KEY, having=Comparison(Order.GREATER, KEY, number(1))))


def test_what_was_not_measured_is_a_fault() -> None:
    plan = plan_of(COUNT, groups=2)
    for wrong in ([], released([1]), released([1, 2])[:4]):
        with pytest.raises(Fault):
            columns(plan, wrong)


def test_a_mean_of_any_bounds_stays_within_them() -> None:
    for low, high in ((F(0), F(1, 10**9)), (F(-1), F(10**15)), (F(3), F(3)), (F(-1, 3), F(1, 3))):
        plan = plan_of(MEAN)
        mean = Mean(2, 0, (low + high) / 2, low, high)
        plan = restaged(plan, releases=(*plan.releases[:2], mean, *plan.releases[3:]))
        for total, count in ((10**18, 100), (-(10**18), 100), (5, 700), (0, 1000)):
            value = released_rows(plan, released([count], [0], [total])).rows[0][0]
            assert isinstance(value, float)
            assert low - F(1, 10**9) * (high - low) <= F(value) <= high + F(1, 10**9) * (high - low) or low == high


def test_functions_of_released_values_are_evaluated() -> None:
    plan = plan_of(Call("sqrt", (COUNT,)), Call("round", (over(SUM, COUNT),)), less(COUNT, COUNT))
    assert released_rows(plan, released([900], [2200])).rows == ((30.0, 2.0, 0),)
