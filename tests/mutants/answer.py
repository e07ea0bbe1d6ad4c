"""Planted bugs of answers: post-processing, intervals, and how they are shown and exported."""

from fractions import Fraction

import numpy as np

from discreet.answer import Column, Preview
from discreet.answer.digits import with_error
from discreet.answer.receipt import receipt_for
from discreet.mechanisms import Geometric
from discreet.plan.forms import Reader
from discreet.plan.intervals import Interval
from discreet.plan.post import released_rows
from discreet.plan.question import Sort, unique
from discreet.plan.scalar import Comparison, Order, Type
from discreet.privacy import loss
from discreet.privacy.events import from_json
from tests import test_answer as answers
from tests.mutants import Law, Mutant
from tests.plan import test_intervals as intervals
from tests.plan import test_post as post
from tests.plan import test_vectors as vectors
from tests.plan.laws import PERSON, planned
from tests.plan.made import COUNT, FINE, LAPLACE, MEAN, SUM, add, number, over, plan_of
from tests.scale import repeats

RECORD = "discreet.answer.record:"
FORMS = "discreet.plan.forms:"
INTERVALS = "discreet.plan.intervals:"
OUTWARD = "discreet.plan.outward:"
FEW = "discreet.plan.few:"
AFFINE = "discreet.plan.affine:"
MEANS = "discreet.plan.releases.mean:"
TOTAL = "discreet.plan.releases.total:"
POST = "discreet.plan.post:"
SPREAD = "discreet.plan.spread:"


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
    assert with_error(43.8271, Interval(42.0, 45.0, 1.12), column) == ("43.8", "± 1.2")


def names_are_told_apart() -> None:
    for names in (["n", "n"], ["n", "n", "n_2"], ["a", "n_2", "n", "n"], ["n"] * 5):
        assert len(set(unique(names))) == len(names)


def keys_have_no_error() -> None:
    assert not Column("year", Type.INTEGER, True).measured and Column("n", Type.INTEGER, False).measured


def previews_say_no_less() -> None:
    """What a preview says of a price, by the decimal that it prints, is never less than the price."""
    for epsilon in (Fraction(1, 3), Fraction(2, 3), Fraction(1, 7), Fraction(10, 3)):
        plan = planned("SELECT COUNT(*) FROM t", PERSON, epsilon)
        assert Fraction(repr(Preview.make(plan, text="").epsilon)) >= plan.epsilon


def receipts_prove_the_price() -> None:
    """From the event of a receipt alone the price can be certified again, under the relation of the plan."""
    plan = planned("SELECT g, SUM(y), COUNT(*) FROM t GROUP BY g", PERSON)
    told = receipt_for(plan, "")
    spent = loss(from_json(told["event"]))
    assert spent.certifies(Fraction(told["epsilon"]), Fraction(told["delta"])) and spent.relation == plan.relation


MUTANTS = (
    Mutant(
        "noise-of-the-numerator-only",
        FORMS + "Reader.ends",
        "region(a, b,",
        "region(a, b * 1e-9,",
        "what a ratio is divided by is taken as exact",
        covered("inverse"),
    ),
    Mutant(
        "interval-halved",
        OUTWARD + "around",
        "[value - error for value, error in pairs], [value + error for value, error in pairs]",
        "[value - error / 2 for value, error in pairs], [value + error / 2 for value, error in pairs]",
        "the whole width of an interval is taken for half of it",
        covered("count"),
    ),
    Mutant(
        "one-noise-taken-for-two",
        AFFINE + "Affine.plus",
        "self.slopes.get(i, zero) + other.slopes.get(i, zero)",
        "np.hypot(self.slopes.get(i, zero), other.slopes.get(i, zero))",
        "what two terms share is taken as independent",
        lambda: intervals.covers_and_no_more(add(SUM, SUM), runs=repeats(RUNS)),
    ),
    Mutant(
        "correlation-ignored",
        SPREAD + "_region",
        "a1 = (a - shared * b1) / own",
        "a1 = a / own",
        "what numerator and denominator share is counted twice",
        lambda: intervals.region_reaches(1.0, 2.0, 1.0, 2.0),
    ),
    Mutant(
        "mean-beyond-its-bounds",
        FORMS + "Reader.ratio",
        "return AffineForm(total, count, self.full(low), self.full(high), self.full(base))",
        "return AffineForm(total, count, *self.unbounded(), self.full(base))",
        "the interval of a mean reaches beyond the declared bounds",
        lambda: intervals.every_pair_is_finite(300, 0),
    ),
    Mutant(
        "one-sided-quantile",
        SPREAD + "smooth_widths",
        "1 - confidence",
        "2 - 2 * confidence",
        "an interval at 95 % covers 90 %",
        lambda: intervals.test_the_sum_of_two_laplace_noises_has_its_closed_form(0.5, 0.95),
    ),
    Mutant(
        "half-steps-forgotten",
        SPREAD + "smooth_widths",
        " + sizes.sum(axis=1) / 2",
        "",
        "noise of few steps is taken as continuous",
        lambda: intervals.test_sums_of_noises_of_few_steps_are_covered_by_enumeration((Geometric, Geometric)),
    ),
    Mutant(
        "worth-of-a-step-forgotten",
        TOTAL + "Total.error",
        "steps * measurement.step + measurement.half_step",
        "steps + measurement.half_step",
        "the error of a sum is told in steps",
        lambda: intervals.covers_and_no_more(FINE, runs=repeats(RUNS)),
    ),
    Mutant(
        "anything-a-share",
        TOTAL + "is_part",
        "conditions(whole) <= conditions(some)",
        "isinstance(conditions(whole), set)",
        "a ratio of any two counts is taken to be at most 1",
        intervals.test_a_share_is_known_to_be_at_most_one,
    ),
    Mutant(
        "left-out-taken-for-found",
        SPREAD + "_next",
        "((over, above), (under, below))",
        "((over, below), (under, above))",
        "Fieller's set begins where it ends",
        small_counts_leave_their_set,
    ),
    Mutant(
        "small-count-not-told",
        OUTWARD + "told",
        "unknown if is_open else None",
        "None",
        "a mean of too few is not flagged",
        intervals.test_a_count_too_small_to_tell_is_flagged_and_a_large_one_is_not,
    ),
    Mutant(
        "negative-count-divided-by",
        MEANS + "Mean.values",
        "if count > few",
        "if abs(count) > few",
        "a mean is divided by a count below zero",
        lambda: post.test_a_mean_is_clamped_rounded_and_null_where_the_count_cannot_be_told_from_0(50, -300, None),
    ),
    Mutant(
        "nobody-has-a-mean",
        MEANS + "Mean.values",
        "if count > few",
        "if count > 0",
        "a mean is told of a count that cannot be told from 0",
        lambda: intervals.nobody_has_no_mean(MEAN, LAPLACE),
    ),
    Mutant(
        "nobody-has-a-ratio",
        FEW + "guarded",
        "reader.few(divisor).tolist()",
        "[False] * reader.size",
        "a ratio is told whose divisor cannot be told from 0",
        lambda: intervals.nobody_has_no_mean(over(SUM, COUNT), LAPLACE),
    ),
    Mutant(
        "rounding-of-rows-not-in-the-error",
        FORMS + "Reader._rounding",
        "each * float(count.step) * np.maximum",
        "0 * float(count.step) * np.maximum",
        "the ± of a mean leaves out what its values were rounded by",
        intervals.rounding_is_in_the_error,
    ),
    Mutant(
        "rounding-of-a-sum-not-in-the-error",
        "discreet.plan.plan:Measurement.half_step",
        "self.step / 2 if",
        "Fraction(0) if",
        "the ± of a sum leaves out what it was rounded by as a whole",
        intervals.rounding_is_in_the_error,
    ),
    Mutant(
        "whole-numbers-in-doubles",
        POST + "_exactly",
        "if integral(scalar, plan)",
        "if False",
        "beyond 2^53 a product of counts is wrong in its last digits",
        lambda: post.whole_numbers_are_exact(10**4, 3, 1_000_000_007),
    ),
    Mutant(
        "having-ignored",
        POST + "_left",
        "if truth is True",
        "if truth is not None",
        "rows that HAVING leaves out are shown",
        lambda: rows_are_those_by_hand(4),
    ),
    Mutant(
        "limit-before-order",
        POST + "released_rows",
        "for sort, column in reversed(orders):",
        "shown = shown[: question.limit]\n    for sort, column in reversed(orders):",
        "the first rows are ordered, instead of the first in order shown",
        lambda: rows_are_those_by_hand(2),
    ),
    Mutant(
        "order-turned-around",
        POST + "released_rows",
        "reversed(orders)",
        "orders",
        "the last key of ORDER BY decides first",
        post.test_a_later_key_of_the_order_decides_between_equals_and_null_goes_where_it_is_told,
    ),
    Mutant(
        "csv-unescaped",
        "discreet.answer.exports:harmless",
        'return f"\'{value}"',
        "return value",
        "a spreadsheet runs a key",
        lambda: answers.csv_is_harmless("=cmd|' /C calc'!A0"),
    ),
    Mutant(
        "html-unescaped",
        "discreet.answer.html:page",
        "escape(cell)",
        "cell",
        "a notebook runs a key",
        lambda: answers.html_is_harmless("<script>alert(1)</script>"),
    ),
    Mutant(
        "svg-unescaped",
        "discreet.answer.svg:svg_of",
        "escape(visible(heading))",
        "visible(heading)",
        "a drawing runs the name of a column",
        lambda: answers.svg_is_harmless("<math><mtext></mtext></math>"),
    ),
    Mutant(
        "svg-label-without-room",
        "discreet.answer.svg:_below_each_other",
        "default=0) + 16",
        "default=0) + 10",
        "a wide letter is cut off at the edge of a drawing",
        answers.test_a_label_of_one_wide_letter_has_room,
    ),
    Mutant(
        "controls-reach-the-terminal",
        "discreet.plan.visible:visible",
        "text if text.isprintable()",
        "text if text",
        "a terminal runs a key",
        lambda: answers.test_no_text_becomes_markup_in_a_terminal("a\x1b[31mred"),
    ),
    Mutant(
        "error-rounded-down",
        "discreet.answer.digits:with_error",
        "rounded_up(span.error, 2)",
        'float(f"{span.error:.1g}")',
        "an error is shown smaller than it is",
        shown_errors_are_rounded_up,
    ),
    Mutant(
        "ends-near-whole-steps-in-doubles",
        OUTWARD + "_downs",
        "(exact | _far(steps, NEAR))",
        "True",
        "an end that is a step, but for the rounding of a product, is told a step too far inside or outside",
        vectors.ends_are_told_one_by_one,
    ),
    Mutant(
        "intervals-of-other-rows",
        INTERVALS + "_among",
        "for place, low, high, error, word in zip(places,",
        "for place, low, high, error, word in zip(range(len(places)),",
        "beside rows of too few the intervals are those of other rows",
        vectors.rows_and_intervals_are_those_of_each_group,
    ),
    Mutant(
        "rows-out-of-order",
        "discreet.plan.numbers:Columns.only",
        "[each[i] for i in at]",
        "list(each[: len(at)])",
        "the first rows are shown, whichever are asked for",
        vectors.columns_have_the_values_of_their_rows,
    ),
    Mutant(
        "absent-intervals-are-there",
        "discreet.plan.interval:IntervalColumn.cell",
        "None if at in self.absent else",
        "None if not self else",
        "what has no interval has one without ends",
        vectors.test_intervals_are_the_rows_that_they_were_made_of,
    ),
    Mutant(
        "members-not-in-order",
        "discreet.answer.encoded:objects",
        "sorted(columns)",
        "list(columns)",
        "equal answers are kept as other bytes than they were before",
        answers.test_stored_answers_come_back_as_they_were,
    ),
    Mutant(
        "touched-bytes-accepted",
        RECORD + "Answer.from_bytes",
        "if answer.to_bytes() != stored:",
        "if answer.to_bytes() is None:",
        "stored bytes that were changed are read as an answer",
        answers.test_a_stored_answer_that_was_touched_is_refused,
    ),
    Mutant(
        "what-is-left-rounded-to-nearest",
        "discreet.answer.left:amounts",
        "to_float_down(part)",
        "float(part)",
        "more is shown to be left than is",
        answers.test_what_is_left_is_never_shown_as_more,
    ),
    Mutant(
        "keys-that-are-measured",
        "discreet.answer.columns:Column.measured",
        "not self.key and self.type.numeric",
        "self.type.numeric",
        "a public key is shown with an error",
        keys_have_no_error,
    ),
    Mutant(
        "one-name-for-two-columns",
        "discreet.plan.question:unique",
        "while candidate in distinct:",
        "while False:",
        "of two columns of one name one is lost",
        names_are_told_apart,
    ),
    Mutant(
        "preview-below-the-price",
        "discreet.answer.preview:Preview.make",
        "epsilon=to_float_up(plan.epsilon)",
        "epsilon=float(plan.epsilon)",
        "a question costs more than its preview says",
        previews_say_no_less,
    ),
    Mutant(
        "receipt-without-the-relation",
        "discreet.answer.receipt:receipt_for",
        "plan.event.to_json()",
        "plan.event.part.to_json()",
        "a receipt proves a price under any relation",
        receipts_prove_the_price,
    ),
)
