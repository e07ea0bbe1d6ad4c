"""Every planted bug of answers makes the law named here fail; without the bug the same law holds."""

from collections.abc import Callable

import numpy as np
import pytest

from discreet.answer import Column, written
from discreet.mechanisms import Geometric
from discreet.plan.forms import Reader
from discreet.plan.intervals import Interval
from discreet.plan.post import released_rows
from discreet.plan.question import Sort
from discreet.plan.scalar import Comparison, Order, Type
from tests import test_answer as answers
from tests.mutants import Mutant, of_part
from tests.plan import test_intervals as intervals
from tests.plan import test_post as post
from tests.plan.made import COUNT, FINE, LAPLACE, MEAN, SUM, add, number, over, plan_of
from tests.scale import repeats

Law = Callable[[], object]
RUNS = 1500


def covered(name: str) -> Law:
    return lambda: intervals.covers_and_no_more(intervals.EXACT[name], runs=repeats(RUNS))


def rows_are_those_by_hand(limit: int) -> None:
    counts = [2, 0, 3, 1, 3]
    having = Comparison(Order.GREATER, COUNT, number(1))
    plan = plan_of(post.KEY, COUNT, groups=5, having=having, order=(Sort(COUNT, descending=True),), limit=limit)
    assert list(released_rows(plan, post.released(counts)).rows) == post.rows_by_hand(counts, 1, True, 0, limit)


def small_counts_leave_their_set() -> None:
    """Sum far above what its count allows for: the set leaves out low means, and no others."""
    released = [np.array([each]) for each in (40, 0, 5_000, 0, 0)]
    span = Reader.of(plan_of(MEAN), released, [0]).span(MEAN, 0.95)
    assert span is not None
    assert 80 < span.low[0] < 95 < span.high[0] == 120


def shown_errors_are_rounded_up() -> None:
    column = Column("x", Type.NUMBER, False)
    assert written(43.8271, Interval(42.0, 45.0, 1.12), column) == ("43.8", "± 1.2")


CAUGHT_BY: dict[str, Law] = {
    "noise-of-the-numerator-only": covered("inverse"),
    "interval-halved": covered("count"),
    "one-noise-taken-for-two": lambda: intervals.covers_and_no_more(add(SUM, SUM), runs=repeats(RUNS)),
    "correlation-ignored": lambda: intervals.region_reaches(1.0, 2.0, 1.0, 2.0),
    "mean-beyond-its-bounds": lambda: intervals.every_pair_is_finite(300, 0),
    "one-sided-quantile": lambda: intervals.test_the_sum_of_two_laplace_noises_has_its_closed_form(0.5, 0.95),
    "half-steps-forgotten": lambda: intervals.test_sums_of_noises_of_few_steps_are_covered_by_enumeration(
        (Geometric, Geometric)
    ),
    "worth-of-a-step-forgotten": lambda: intervals.covers_and_no_more(FINE, runs=repeats(RUNS)),
    "anything-a-share": intervals.test_a_share_is_known_to_be_at_most_one,
    "left-out-taken-for-found": small_counts_leave_their_set,
    "small-count-not-told": intervals.test_a_count_too_small_to_tell_is_flagged_and_a_large_one_is_not,
    "negative-count-divided-by": lambda: (
        post.test_a_mean_is_clamped_rounded_and_null_where_the_count_cannot_be_told_from_0(50, -300, None)
    ),
    "nobody-has-a-mean": lambda: intervals.nobody_has_no_mean(MEAN, LAPLACE),
    "nobody-has-a-ratio": lambda: intervals.nobody_has_no_mean(over(SUM, COUNT), LAPLACE),
    "rounding-of-rows-not-in-the-error": intervals.rounding_is_in_the_error,
    "rounding-of-a-sum-not-in-the-error": intervals.rounding_is_in_the_error,
    "whole-numbers-in-doubles": lambda: post.whole_numbers_are_exact(10**4, 3, 1_000_000_007),
    "having-ignored": lambda: rows_are_those_by_hand(4),
    "limit-before-order": lambda: rows_are_those_by_hand(2),
    "order-turned-around": post.test_a_later_key_of_the_order_decides_between_equals_and_null_goes_where_it_is_told,
    "csv-unescaped": lambda: answers.csv_is_harmless("=cmd|' /C calc'!A0"),
    "html-unescaped": lambda: answers.html_is_harmless("<script>alert(1)</script>"),
    "controls-reach-the-terminal": lambda: answers.test_no_text_becomes_markup_in_a_terminal("a\x1b[31mred"),
    "error-rounded-down": shown_errors_are_rounded_up,
    "touched-bytes-accepted": answers.test_a_stored_answer_that_was_touched_is_refused,
}


def test_every_planted_bug_has_its_law() -> None:
    assert {mutant.name for mutant in of_part("answer")} == set(CAUGHT_BY)
    assert len(CAUGHT_BY) >= 8


@pytest.mark.parametrize("mutant", of_part("answer"), ids=lambda mutant: mutant.name)
def test_the_planted_bug_is_caught(mutant: Mutant) -> None:
    law = CAUGHT_BY[mutant.name]
    law()
    with mutant.planted(), pytest.raises((AssertionError, pytest.fail.Exception)):
        law()
    law()
