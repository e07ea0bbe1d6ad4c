"""Intervals hold the truth as often as they say, over the noise of the real mechanisms, and are no wider than they need be.

Each statistical law is run on its own draws. A sound build fails one of them with probability at most ALPHA: it fails only where
a coverage below 94 % (or above 96 %, where the noise is at least ten steps wide) is the only likely explanation. Halving an
interval, or forgetting one of two noises, makes it fail almost surely (tests/mutants/answer.py).
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction as F
from math import exp, inf, log
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from discreet.curator.session import Curator
from discreet.mechanisms import Geometric, RoundedGaussian
from discreet.mechanisms.additive import IntegerNoise
from discreet.plan import catalog, numbers, post, spread
from discreet.plan.combination import Combination
from discreet.plan.evaluate import evaluate
from discreet.plan.intervals import SMALL_BOTTOM, TOO_FEW, Interval, intervals, predicted
from discreet.plan.plan import Plan
from discreet.plan.private import plan_for
from discreet.plan.question import Output, Sort
from discreet.plan.relation import terms_of
from discreet.plan.scalar import (
    And,
    Arithmetic,
    Case,
    Cast,
    Coalesce,
    Comparison,
    Key,
    Literal,
    Not,
    Operator,
    Or,
    Order,
    Scalar,
    Steps,
    Type,
)
from discreet.plan.scalar import Function as Call
from discreet.plan.sql import question
from discreet.privacy import Adjacency
from tests.plan import laws
from tests.plan.made import (
    COUNT,
    FINE,
    GAUSSIAN,
    LAPLACE,
    MEAN,
    MIXED,
    PUBLIC_COUNT,
    SOME,
    SUM,
    TINY,
    add,
    draw,
    exact_totals,
    less,
    number,
    over,
    plan_of,
    restaged,
    times,
)
from tests.scale import repeats

ALPHA = 1e-6
"""False-alarm rate of every statistical law, each time it is run."""

RUNS = 4000
LEAST, MOST = 0.94, 0.96
KEY = Key(0, Type.INTEGER)
NULL = Literal(None, Type.NUMBER)
EXACTLY = (None,) * 5
Noises = Sequence[IntegerNoise | None]


def spans(plan: Plan, released: Sequence[np.ndarray]) -> list[Interval | None]:
    return [row[0] for row in intervals(plan, released, post.released_rows(plan, released))]


def held(scalar: Scalar, noises: Noises, count: int, mean: float = 45.0, runs: int | None = None) -> tuple[int, int]:
    """In how many of so many runs the truth lies in its interval; each group is a run."""
    n = repeats(RUNS) if runs is None else runs
    plan = plan_of(scalar, noises=noises, groups=n)
    exact = exact_totals(plan, count, mean)
    truths = [evaluate(scalar, row) for row in numbers.columns(plan_of(scalar, noises=EXACTLY, groups=n), exact)]
    inside = [within(truth, span) for truth, span in zip(truths, spans(plan, draw(plan, exact)), strict=True)]
    return sum(inside), n


def within(truth: object, span: Interval | None, slack: float = 1e-9) -> bool:
    if span is None or span.flag == TOO_FEW:
        return True  # the root of a count below zero, or a mean of too few: nothing was said
    assert isinstance(truth, int | float)
    slack *= max(1.0, abs(truth))  # the truth is rounded to its digits, too
    return (span.low is None or span.low <= truth + slack) and (span.high is None or truth - slack <= span.high)


def covers(
    scalar: Scalar, noises: Noises = LAPLACE, count: int = 1000, mean: float = 45.0, runs: int | None = None
) -> None:
    """Coverage is at least 94 %."""
    hits, n = held(scalar, noises, count, mean, runs)
    assert binom.cdf(hits, n, LEAST) > ALPHA, f"{hits} of {n} intervals hold the truth"


def covers_and_no_more(
    scalar: Scalar, noises: Noises = LAPLACE, count: int = 1000, mean: float = 45.0, runs: int | None = None
) -> None:
    """Coverage is between 94 % and 96 %."""
    hits, n = held(scalar, noises, count, mean, runs)
    assert binom.cdf(hits, n, LEAST) > ALPHA, f"{hits} of {n} intervals hold the truth"
    assert binom.sf(hits - 1, n, MOST) > ALPHA, f"{hits} of {n} intervals hold the truth"


EXACT: dict[str, Scalar] = {
    "count": COUNT,
    "sum": SUM,
    "fine sum": FINE,
    "affine": add(number(3), times(number(-2.5), SUM)),
    "of a key": over(SUM, add(KEY, number(2))),
    "difference of counts": less(COUNT, SOME),
    "sum of three": add(add(SUM, times(number(120), COUNT)), over(FINE, number(0.04))),
    "mean": MEAN,
    "ratio of counts": over(SOME, COUNT),
    "ratio of sums": over(SUM, FINE),
    "sum over count": over(SUM, COUNT),
    "ratio in percent": times(number(100.0), over(SOME, COUNT)),
    "inverse": over(number(1.0), COUNT),
    "mean and its own count": add(MEAN, over(SOME, COUNT)),
    "mean times its count": times(MEAN, COUNT),
    "share of the rest": over(less(COUNT, SOME), COUNT),
    "odds": over(SOME, less(COUNT, SOME)),
    "nullif": over(SUM, Case(((Comparison(Order.EQUAL, COUNT, number(0)), NULL),), COUNT)),
    "coalesce": Coalesce((over(SUM, COUNT), number(0.0))),
}


@pytest.mark.parametrize("noises", [LAPLACE, GAUSSIAN, MIXED], ids=["laplace", "gaussian", "mixed"])
@pytest.mark.parametrize("name", ["count", "sum", "mean", "ratio of counts"])
def test_counts_sums_means_and_ratios_are_covered_as_often_as_they_say(name: str, noises: Noises) -> None:
    covers_and_no_more(EXACT[name], noises)


@pytest.mark.parametrize("name", [name for name in EXACT if name not in {"count", "sum", "mean", "ratio of counts"}])
def test_forms_are_covered_as_often_as_they_say(name: str) -> None:
    covers_and_no_more(EXACT[name], runs=repeats(RUNS // 2))


@pytest.mark.parametrize("count", [3, 30, 90])
@pytest.mark.parametrize("name", ["mean", "ratio of counts", "ratio of sums", "mean and its own count"])
def test_small_counts_are_covered(name: str, count: int) -> None:
    covers(EXACT[name], count=count, runs=repeats(RUNS // 4))


def number_of_nulls(scalar: Scalar, noises: Noises, count: int, runs: int) -> int:
    plan = plan_of(scalar, noises=noises, groups=runs)
    rows = post.released_rows(plan, draw(plan, exact_totals(plan, count, 45.0))).rows
    return sum(row[0] is None for row in rows)


def nobody_has_no_mean(scalar: Scalar, noises: Noises) -> None:
    """Of nobody a number is told 2.5 times in 100, of as many as the ± of the count half the time, of three times as many always."""
    runs, most = repeats(RUNS // 2), int(noises[0].error())  # type: ignore[union-attr]
    for count, least, highest in ((0, 0.965, 0.985), (most, 0.46, 0.58), (2 * most, 0.01, 0.04), (3 * most, 0, 0.003)):
        nulls = number_of_nulls(scalar, noises, count, runs)
        assert binom.cdf(nulls, runs, least) > ALPHA, (count, nulls / runs)
        assert binom.sf(nulls - 1, runs, highest) > ALPHA, (count, nulls / runs)


@pytest.mark.parametrize("noises", [LAPLACE, GAUSSIAN], ids=["laplace", "gaussian"])
@pytest.mark.parametrize("scalar", [MEAN, over(SUM, COUNT), over(SOME, COUNT)], ids=["mean", "ratio", "share"])
def test_a_mean_or_ratio_of_nobody_is_no_number(scalar: Scalar, noises: Noises) -> None:
    nobody_has_no_mean(scalar, noises)


def test_an_exact_count_of_nobody_has_no_mean_and_any_other_has_one() -> None:
    for scalar in (MEAN, over(SUM, COUNT), over(SOME, COUNT)):
        assert number_of_nulls(scalar, PUBLIC_COUNT, 0, 50) == 50
        assert number_of_nulls(scalar, PUBLIC_COUNT, 1, 50) == 0
    covers(MEAN, PUBLIC_COUNT, count=1, runs=repeats(RUNS // 4))


def test_too_few_are_told_by_their_flag_and_nothing_else() -> None:
    few = [np.array([5]), *exact_totals(plan_of(MEAN), 1000, 45.0)[1:]]
    hidden = Case(((Comparison(Order.GREATER, COUNT, number(2000)), MEAN),), NULL)
    told = (MEAN, over(SUM, COUNT), over(number(1.0), MEAN), times(number(2), MEAN), Cast(MEAN, Type.INTEGER), hidden)
    for scalar in told:
        plan = plan_of(scalar)
        made = post.released_rows(plan, few)
        assert made.rows == ((None,),)
        assert intervals(plan, few, made) == ((Interval(None, None, None, TOO_FEW),),)
    plan = plan_of(Coalesce((MEAN, number(0.0))), Coalesce((over(SUM, COUNT), number(0.0))), COUNT)
    made = post.released_rows(plan, few)
    assert made.rows == ((0.0, 0.0, 5),)
    mean, ratio, count = intervals(plan, few, made)[0]
    assert mean is not None and (mean.low, mean.high, mean.flag) == (0.0, 120.0, SMALL_BOTTOM)
    assert ratio == Interval(None, None, None, SMALL_BOTTOM)
    assert count is not None and count.flag is None


def test_a_divisor_is_told_from_0_by_its_interval_on_the_side_where_it_may_be() -> None:
    """A difference may be below 0; a count may not; what is made at least 1 is told in any case."""
    exact = exact_totals(plan_of(MEAN), 1000, 45.0)
    negative = [np.array([-500]), *exact[1:]]
    difference, clamped = over(SUM, less(COUNT, SOME)), over(SUM, Call("greatest", (COUNT, number(1))))
    nullif = over(SUM, Case(((Comparison(Order.EQUAL, COUNT, number(0)), NULL),), COUNT))
    twice = over(SUM, add(COUNT, COUNT))
    plan = plan_of(over(SUM, COUNT), difference, clamped, nullif, twice, over(SUM, FINE))
    found = post.released_rows(plan, negative).rows[0]
    assert [value is None for value in found] == [True, False, False, True, True, False]


@pytest.mark.parametrize("mean", [0.0, 1.0, 119.0, 120.0])
def test_means_at_their_bounds_are_covered(mean: float) -> None:
    covers(MEAN, mean=mean, runs=repeats(RUNS // 4))


@pytest.mark.parametrize(
    "name", ["count", "sum", "fine sum", "difference of counts", "mean", "ratio of counts", "ratio of sums"]
)
def test_noise_of_less_than_a_step_is_covered(name: str) -> None:
    covers(EXACT[name], TINY, count=20, runs=repeats(RUNS // 4))


def test_an_exact_count_leaves_the_noise_of_the_sum() -> None:
    covers_and_no_more(MEAN, PUBLIC_COUNT)
    covers_and_no_more(over(SUM, COUNT), PUBLIC_COUNT)
    plan = plan_of(COUNT, times(number(2), COUNT), noises=PUBLIC_COUNT)
    exact = exact_totals(plan, 0, 45.0)
    for span in intervals(plan, exact, post.released_rows(plan, exact))[0]:
        assert span == Interval(0, 0, 0)


OTHERS: dict[str, Scalar] = {
    "root": Call("sqrt", (COUNT,)),
    "root of a small count": Call("sqrt", (less(COUNT, number(1000)),)),
    "product": times(COUNT, MEAN),
    "product of sums": times(SUM, FINE),
    "square": times(MEAN, MEAN),
    "whole": Cast(MEAN, Type.INTEGER),
    "rounded": Call("round", (over(SUM, COUNT),)),
    "down": Call("floor", (MEAN,)),
    "up": Call("ceil", (MEAN,)),
    "size": Call("abs", (less(COUNT, number(1000)),)),
    "sign": Call("sign", (less(COUNT, number(1000)),)),
    "at least none": Call("greatest", (COUNT, number(0))),
    "the less of two": Call("least", (COUNT, SOME, number(1000))),
    "mean over sum": over(MEAN, FINE),
    "means of two kinds": add(MEAN, over(FINE, SOME)),
    "remainder": Arithmetic(Operator.REMAINDER, COUNT, number(7)),
    "case": Case(((Comparison(Order.GREATER, COUNT, number(990)), MEAN),), over(FINE, COUNT)),
    "case of keys": Case(((Comparison(Order.LESS, KEY, number(5)), MEAN),), over(FINE, COUNT)),
    "hidden or else": Coalesce((Case(((Comparison(Order.GREATER, COUNT, number(1000)), MEAN),), NULL), number(0.0))),
    "many or few": Case(((Comparison(Order.GREATER, COUNT, number(1000)), number(1)),), number(0)),
    "both": Case(
        ((And((Comparison(Order.GREATER, COUNT, number(1)), Comparison(Order.LESS, SOME, number(10**6)))), COUNT),), SUM
    ),
    "either": Case(
        (
            (Or((Comparison(Order.LESS_OR_EQUAL, COUNT, number(1)), Comparison(Order.EQUAL, SOME, COUNT))), COUNT),
            (Not(Comparison(Order.NOT_EQUAL, COUNT, COUNT)), SUM),
        ),
        SOME,
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_functions_are_covered_at_least(name: str) -> None:
    covers(OTHERS[name], runs=repeats(500))


def test_a_case_of_keys_has_the_interval_of_the_branch_that_is_taken() -> None:
    plan = plan_of(OTHERS["case of keys"], MEAN, over(FINE, COUNT), groups=10)
    released = draw(plan, exact_totals(plan, 1000, 45.0))
    for i, row in enumerate(intervals(plan, released, post.released_rows(plan, released))):
        chosen = row[1 if i < 5 else 2]
        assert row[0] is not None
        assert chosen is not None
        assert (row[0].low, row[0].high) == (chosen.low, chosen.high)


def test_keys_and_texts_have_no_interval() -> None:
    small = Comparison(Order.LESS, COUNT, number(10))
    text = Case(((small, Literal("few", Type.TEXT)),), Literal("many", Type.TEXT))
    plan = plan_of(KEY, text, small, add(KEY, number(1)), number(7))
    released = draw(plan, exact_totals(plan, 5, 45.0))
    assert intervals(plan, released, post.released_rows(plan, released)) == ((None,) * 5,)


def test_a_number_that_the_question_hides_has_no_interval_and_one_over_nothing_a_flag() -> None:
    hidden = Case(((Comparison(Order.GREATER, COUNT, number(2000)), MEAN),), NULL)
    plan = plan_of(hidden, over(SUM, COUNT))
    exact = exact_totals(plan, 1000, 45.0)
    assert intervals(plan, exact, post.released_rows(plan, exact))[0][0] is None
    nobody = [np.array([0]), *exact[1:]]
    made = post.released_rows(plan, nobody)
    assert made.rows[0] == (None, None)
    assert intervals(plan, nobody, made)[0][1] == Interval(None, None, None, TOO_FEW)


def test_selection_leaves_each_interval_as_it_is() -> None:
    having = Comparison(Order.GREATER, COUNT, number(1000))
    whole = plan_of(KEY, COUNT, MEAN, groups=40)
    part = plan_of(KEY, COUNT, MEAN, groups=40, having=having, order=(Sort(MEAN, descending=True),), limit=5)
    released = draw(whole, exact_totals(whole, 1000, 45.0))
    every = intervals(whole, released, post.released_rows(whole, released))
    some = post.released_rows(part, released)
    assert len(some.rows) == 5
    for i, row in zip(some.groups, intervals(part, released, some), strict=True):
        assert row == every[i]


def finite(span: Interval | None) -> bool:
    ends = [] if span is None else [span.low, span.high, span.error]
    return all(end is None or -inf < end < inf for end in ends)


def every_pair_is_finite(groups: int, seed: int) -> None:
    """Whatever sum and count are released, also no count or less: every cell is finite, and holds its own value."""
    rng = np.random.default_rng(seed)
    sizes = 2.0 ** rng.uniform(0, 40, (5, groups)) * rng.choice([-1, 0, 1], (5, groups))
    released = list(sizes.astype(np.int64))
    plan = plan_of(MEAN, over(SUM, COUNT), groups=groups)
    made = post.released_rows(plan, released)
    for values, row in zip(made.rows, intervals(plan, released, made), strict=True):
        mean, ratio = row
        assert mean is not None
        assert (values[0] is None) == (mean.flag == TOO_FEW)
        if values[0] is not None:
            assert 0 <= mean.low <= values[0] <= mean.high <= 120
        assert finite(ratio)
        if ratio.error is not None:
            assert ratio.low <= values[1] <= ratio.high
            assert max(values[1] - ratio.low, ratio.high - values[1]) <= ratio.error * (1 + 1e-9)


def test_no_sum_and_count_gives_nan_or_an_infinity() -> None:
    for i in range(repeats(10)):
        every_pair_is_finite(10_000, i)


def test_a_count_too_small_to_tell_is_flagged_and_a_large_one_is_not() -> None:
    plan = plan_of(MEAN, over(SUM, COUNT), over(SOME, COUNT), groups=3)
    exact = exact_totals(plan, 1000, 45.0)
    for count, flagged in ((1000, False), (10, True), (-500, True), (0, True)):
        released = [np.full(3, count), *exact[1:]]
        mean, ratio, share = intervals(plan, released, post.released_rows(plan, released))[0]
        assert mean is not None
        assert ratio is not None
        assert share is not None
        if flagged:
            assert mean == ratio == share == Interval(None, None, None, TOO_FEW)
        else:
            assert (mean.flag, ratio.flag, share.flag) == (None, None, None)
    kept = plan_of(*(Coalesce((scalar, number(0.0))) for scalar in (MEAN, over(SOME, COUNT))))
    released = [np.full(1, 10), *(each[:1] for each in exact[1:])]
    for span in intervals(kept, released, post.released_rows(kept, released))[0]:
        assert span is not None and span.flag == SMALL_BOTTOM


def test_sums_near_the_largest_double_are_finite_or_nothing() -> None:
    """A column may have bounds of 1e300; more of it than a double holds is NULL, and nothing raises."""
    plan = plan_of(FINE, SUM, over(FINE, COUNT), times(FINE, SUM), times(FINE, number(-3.5)), groups=2)
    huge = replace(plan.measurements[4], step=F(2) ** 970)
    plan = restaged(plan, measurements=(*plan.measurements[:4], huge))
    released = [np.array([1000, 5]), *[np.array([2**20, 7])] * 3, np.array([2**60, -3])]
    made = post.released_rows(plan, released)
    assert made.rows[0][0] is None
    for row in intervals(plan, released, made):
        assert all(finite(span) for span in row)


def test_a_share_is_known_to_be_at_most_one() -> None:
    plan = plan_of(over(SOME, COUNT), over(COUNT, SOME))
    released = exact_totals(plan, 1000, 45.0, some=0.99)
    share, inverse = intervals(plan, released, post.released_rows(plan, released))[0]
    assert share is not None
    assert share.high == 1.0
    assert inverse is not None
    assert inverse.high is not None
    assert inverse.high > 1.05


def test_whole_numbers_have_whole_intervals() -> None:
    plan = plan_of(COUNT, add(COUNT, SUM))
    released = exact_totals(plan, 1000, 45.0)
    for span in intervals(plan, released, post.released_rows(plan, released))[0]:
        assert span is not None
        assert {type(end) for end in (span.low, span.high, span.error)} == {int}


def test_whole_numbers_beyond_the_doubles_have_the_interval_of_their_noise() -> None:
    """Added to, a count keeps its ±; multiplied, it has that times as large; and what is exact has none."""
    large, factor = number(10**18), number(1_000_000_007)
    scalars = (add(COUNT, times(large, large)), times(times(COUNT, factor), factor))
    for noises, error in ((LAPLACE, int(LAPLACE[0].error())), (PUBLIC_COUNT, 0)):
        plan = plan_of(*scalars, noises=noises)
        released = exact_totals(plan, 10_000, 45.0)
        made = post.released_rows(plan, released)
        assert made.rows == ((10**36 + 10_000, 10_000 * 1_000_000_007**2),)
        first, second = intervals(plan, released, made)[0]
        assert first == Interval(10**36 + 10_000 - error, 10**36 + 10_000 + error, error)
        assert second is not None and second.error is not None
        assert second.error == pytest.approx(error * 1_000_000_007**2, rel=1e-8)


# The quantiles themselves.


@pytest.mark.parametrize("ratio", [1e-6, 0.1, 0.5, 0.99, 1.0])
@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.999])
def test_the_sum_of_two_laplace_noises_has_its_closed_form(ratio: float, confidence: float) -> None:
    a, b = 1e6, 1e6 * ratio
    noises = (Geometric(F(10**6)), Geometric(F(10**6)))
    x = float(spread.smooth_widths(np.array([[1.0, ratio]]), noises, confidence)[0]) - (1 + ratio) / 2
    if ratio == 1:
        tail = (1 + x / (2 * a)) * exp(-x / a)
    else:
        tail = (a * a * exp(-x / a) - b * b * exp(-x / b)) / (a * a - b * b)
    assert tail == pytest.approx(1 - confidence, rel=2e-5)


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=6))
def test_sums_of_gaussian_noises_are_gaussian(sizes: list[float]) -> None:
    noises = tuple(RoundedGaussian(F(10**6)) for _ in sizes)
    found = float(spread.smooth_widths(np.array([sizes]), noises, 0.95)[0])
    expected = NormalDist().inv_cdf(0.975) * 1e6 * sum(size**2 for size in sizes) ** 0.5
    assert found == pytest.approx(expected, rel=2e-5)


def test_many_equal_noises_and_one_alone() -> None:
    many = float(spread.smooth_widths(np.ones((1, 12)), (Geometric(F(10**6)),) * 12, 0.95)[0])
    assert 1.9 < many / (24**0.5 * 1e6) < 1.98  # nearly normal
    one = float(spread.smooth_widths(np.ones((1, 1)), (Geometric(F(10**6)),), 0.95)[0])
    assert one == pytest.approx(1e6 * log(20), rel=2e-5)


def probabilities(noise: IntegerNoise) -> tuple[np.ndarray, np.ndarray]:
    reach = int(40 * float(noise.scale)) + 5
    z = np.arange(-reach, reach + 1)
    if isinstance(noise, Geometric):
        return z, np.array([noise.probability(int(each), 0) for each in z])
    normal = NormalDist(0, float(noise.scale))
    return z, np.array([normal.cdf(each + 0.5) - normal.cdf(each - 0.5) for each in z])


@pytest.mark.parametrize(
    "kinds", [(Geometric, Geometric), (Geometric, RoundedGaussian), (RoundedGaussian, RoundedGaussian)]
)
def test_sums_of_noises_of_few_steps_are_covered_by_enumeration(kinds: tuple[type, type]) -> None:
    for first in (F(1, 5), F(1, 2), F(1), F(3, 2), F(5)):
        for second in (F(1, 2), F(1), F(5)):
            noises = (kinds[0](first), kinds[1](second))
            (z1, p1), (z2, p2) = map(probabilities, noises)
            joint = np.outer(p1, p2)
            for slope in (1.0, 0.5, 0.3, 3.1, 10.0):
                width = spread.half_widths(np.array([[1.0, slope]]), noises, 0.95)[0]
                inside = np.abs(z1[:, None] + slope * z2[None, :]) <= width * (1 + 1e-12)
                assert joint[inside].sum() >= 0.95, (first, second, slope)


@given(st.floats(-3, 3), st.floats(-3, 3), st.floats(0.1, 3), st.floats(-50, 50))
def test_the_region_reaches_as_far_as_the_quantile_in_every_direction(a: float, b: float, c: float, t: float) -> None:
    region_reaches(a, b, c, t)


def region_reaches(a: float, b: float, c: float, t: float) -> None:
    """The noise of top − t·bottom, where top = a z₁ + b z₂ and bottom = c z₂, and not much farther."""
    noises = (Geometric(F(1000)), RoundedGaussian(F(700)))
    top, bottom = np.array([a, b]), np.array([0.0, c])
    corners = spread.region(top, bottom, noises, 0.95)
    reach = float((corners[:, 0] - t * corners[:, 1]).max())
    needed = float(spread.smooth_widths(np.abs(top - t * bottom)[None, :], noises, 0.95)[0])
    across = float(spread.smooth_widths(np.abs(bottom)[None, :], noises, 0.95)[0])
    assert reach >= needed * (1 - 1e-6) - 1e-6 * across
    if abs(a) > 0.1:
        assert reach <= needed * 1.002 + 1e-6 * across


# Values that are rounded, and bounds that are far from 0.


def rounding_is_in_the_error() -> None:
    """Every value lies half a step above its step, and every sum half a step of its own: the truth is as far off as it may be."""
    n, step = 1000, F(1, 2)
    plan = plan_of(
        MEAN, SUM, over(SUM, COUNT), add(SUM, COUNT), times(MEAN, COUNT), noises=[Geometric(F(1, 100))] * 5, people=n
    )
    mean, total = (replace(plan.measurements[i], rounding=step) for i in (2, 1))
    total = replace(total, rounding=F(0), made=Combination(((1, 2),), 2), step=F(200))
    plan = restaged(plan, measurements=(plan.measurements[0], total, mean, *plan.measurements[3:]))
    released = [np.array([each]) for each in (n, 45 * n // 200, (45 - 60) * n, 0, 0)]
    truths = [45.5, 45_100, 45.1, 46_100, 45_500]
    for truth, span in zip(truths, intervals(plan, released, post.released_rows(plan, released))[0], strict=True):
        assert span is not None and span.low is not None and span.high is not None
        assert span.low <= truth <= span.high, (truth, span)
    promised = predicted(plan)
    assert promised[1].error is not None and promised[1].error >= 100
    assert promised[0].error is not None and promised[0].error >= 0.5


def test_what_is_rounded_is_in_the_error() -> None:
    rounding_is_in_the_error()


def totals_of(plan: Plan, values: np.ndarray) -> list[np.ndarray]:
    """The terms of a plan over these values of x, the same in every group."""
    found = []
    for term in terms_of(plan.query):
        steps = term.value
        if isinstance(steps, Steps):
            inside = np.clip(values, steps.low, steps.high)
            total = int(np.floor((inside - steps.middle) * 2.0**steps.shift + 0.5).astype(np.int64).sum())
        else:
            total = values.size
        found.append(np.full(len(plan.domain), total, np.int64))
    return [each.made.of(found) for each in plan.measurements]


def spread_over(low: float, high: float, n: int) -> np.ndarray:
    return low + (high - low) * np.random.default_rng(n).random(n)


FAR: dict[str, tuple[tuple[float, float], np.ndarray, bool]] = {
    "an hour of unix time, clustered": ((1.7e9, 1.7e9 + 3600), spread_over(1.7e9 + 52, 1.7e9 + 54, 100_000), False),
    "an hour of unix time": ((1.7e9, 1.7e9 + 3600), spread_over(1.7e9, 1.7e9 + 3600, 100_000), False),
    "ten at a milliard": ((1e9, 1e9 + 10), np.full(1000, 1e9 + 3.5), False),
    "a hundredth at 1e5": ((100_000, 100_000.01), np.full(100_000, 100_000.0075), False),
    "julian days, constant": ((2459000.5, 2460000.5), np.full(100_000, 2459500.6), False),
    "below 0": ((-1e6 - 7, -1e6), spread_over(-1e6 - 7, -1e6, 1000), False),
    "whole, from 0": ((0, 2**24 + 1), np.arange(1000) % 10.0, True),
    "whole, far": ((10**12, 10**12 + 500), 10.0**12 + np.arange(1000) % 500, True),
    "a milliard from 0": ((0, 1e9), np.full(1000, 30_001.0), False),
    "next to nothing": ((1.0, 1.0 + 2**-50), np.full(1000, 1.0 + 2**-51), False),
}


@pytest.mark.parametrize("delta", [0, 1e-6], ids=["laplace", "gaussian"])
@pytest.mark.parametrize("name", FAR)
def test_bounds_far_from_0_are_covered(name: str, delta: float) -> None:
    """AVG, SUM alone, SUM beside AVG, and SUM over COUNT, of rows and of people with replacement."""
    (low, high), values, whole = FAR[name]
    runs, type_ = repeats(400), Type.INTEGER if whole else Type.NUMBER
    columns = (
        catalog.Column("who", Type.INTEGER),
        catalog.Column("g", Type.INTEGER, F(0), F(runs - 1)),
        catalog.Column("x", type_, F(low), F(high), nullable=False),
    )
    total = sum(map(F, values.tolist()))
    truth = {"a": float(total / values.size), "s": float(total), "r": float(total / values.size)}
    people = catalog.Protected("who", Adjacency.REPLACE, 1, 1, people=values.size)
    for protected in (catalog.Protected(people=values.size), people):
        declared = catalog.Catalog((catalog.Table("t", columns),), protected)
        for text in ("AVG(x) AS a", "SUM(x) AS s", "SUM(x) AS s, AVG(x) AS a", "SUM(x) / COUNT(*) AS r"):
            plan = plan_for(question(f"SELECT {text} FROM t GROUP BY g", declared), declared, 1, delta)
            released = draw(plan, totals_of(plan, values))
            rows = post.released_rows(plan, released)
            for j, output in enumerate(plan.question.outputs):
                found = [row[j] for row in intervals(plan, released, rows)]
                hits = sum(within(truth[output.name], span, slack=0.0) for span in found)
                assert binom.cdf(hits, runs, LEAST) > ALPHA, f"{text}: {hits} of {runs} hold {output.name}"


def test_one_sum_may_have_two_counts() -> None:
    """A mean with a filter and one of a CASE are one sum, and two ways to count its rows."""
    text = "SELECT AVG(y) FILTER (WHERE g = 'A') AS a, AVG(CASE WHEN g = 'A' THEN y END) AS b FROM t"
    plan = laws.planned(text, laws.PERSON)
    released = draw(plan, [np.array([each]) for each in (2**22 * 1000, 1000, 1000)[: len(plan.measurements)]])
    for span in intervals(plan, released, post.released_rows(plan, released))[0]:
        assert span is not None and span.error is not None and span.flag is None


# Before anything is measured.


def test_predicted_errors_of_totals_are_the_errors_of_answers() -> None:
    plan = plan_of(KEY, COUNT, SUM, FINE, less(COUNT, SOME), times(number(-3), SUM))
    exact = draw(plan, exact_totals(plan, 1000, 45.0))
    spans_ = intervals(plan, exact, post.released_rows(plan, exact))[0]
    for promised, span in zip(predicted(plan), spans_, strict=True):
        if span is None:
            assert promised.error is None
            assert promised.reason is None
        else:
            assert promised.error is not None
            assert span.error is not None
            assert promised.error == pytest.approx(span.error, rel=1e-2)


def test_predicted_errors_of_means_need_people_and_say_so() -> None:
    names = (Output("m", MEAN), Output("r", over(SUM, COUNT)), Output("n", COUNT))
    without = predicted(plan_of(*names))
    assert [each.error is None for each in without] == [True, True, False]
    assert all("people" in (each.reason or "") for each in without[:2])
    declared = predicted(plan_of(*names, people=4000, groups=4))
    assert all("1,000" in (each.assumes or "") for each in declared[:2])
    plan = plan_of(*names, groups=repeats(50))
    exact = draw(plan, exact_totals(plan, 1000, 45.0))
    for row in intervals(plan, exact, post.released_rows(plan, exact)):
        for promised, span in zip(declared, row, strict=True):
            assert promised.error is not None
            assert span is not None
            assert span.error is not None
            assert span.error <= promised.error * 1.35
            assert span.error >= promised.error / 4


def test_a_ratio_that_cannot_be_predicted_has_a_reason() -> None:
    (found,) = predicted(plan_of(over(COUNT, SUM), people=1000))
    assert found.error is None
    assert found.reason
    (share,) = predicted(plan_of(over(SOME, COUNT), people=3, groups=3))
    assert share.error is None  # of so few there will be no number
    assert share.reason


# Through the whole pipeline: text, plan, engine, noise, answer.

QUESTION = (
    "SELECT g, COUNT(*) AS n, SUM(x) AS total, AVG(x) AS mean, COUNT(*) FILTER (WHERE x > 65) / COUNT(*) AS share, "
    "SUM(y) / COUNT(*) AS each FROM t GROUP BY g"
)


@pytest.mark.parametrize("delta", [0, 1e-3], ids=["laplace", "gaussian"])
def test_answers_of_the_whole_pipeline_are_covered(delta: float, tmp_path: Path) -> None:
    groups, people = repeats(250), 60
    rng = np.random.default_rng(5)
    g = np.repeat(np.arange(groups), people)
    x, y = rng.integers(-20, 150, g.size), rng.uniform(0, 3, g.size)
    columns = {"g": {"type": "integer", "bounds": (0, groups - 1)}, "x": {"type": "integer", "bounds": (0, 120)}}
    columns |= {"y": {"type": "number", "bounds": (0, 2)}}
    data = {"g": g.tolist(), "x": x.tolist(), "y": y.tolist()}
    with Curator({"t": data}, None, columns, row=True, epsilon=3, delta=delta, ledger=tmp_path / "ledger") as curator:
        answer = curator.sql(QUESTION, epsilon=1, delta=delta)
    clamped, low = np.clip(x, 0, 120).reshape(groups, people), np.clip(y, 0, 2).reshape(groups, people)
    truths = {
        "n": np.full(groups, people),
        "total": clamped.sum(axis=1),
        "mean": clamped.mean(axis=1),
        "share": (x.reshape(groups, people) > 65).mean(axis=1),
        "each": low.mean(axis=1),
    }
    assert [row["g"] for row in answer.to_dicts()] == list(range(groups))
    for name, truth in truths.items():
        ends = [(row[f"{name}_low"], row[f"{name}_high"]) for row in answer.to_dicts(errors=True)]
        slack = 1e-3 if name == "each" else 1e-9  # of the grid
        hits = sum(
            (a is None or a <= each + slack) and (b is None or each - slack <= b)
            for (a, b), each in zip(ends, truth.tolist(), strict=True)
        )
        assert binom.cdf(hits, groups, LEAST) > ALPHA, f"{name}: {hits} of {groups}"
