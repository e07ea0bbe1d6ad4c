"""Planted bugs of accuracies, quotes, confidences and citations: what is promised, at which price, and in which words."""

from fractions import Fraction
from typing import Any

from tests import test_citation as citation
from tests.curator import test_confidence as confidence
from tests.curator import test_within as doors
from tests.golden import plans as golden
from tests.mutants import Mutant, by_itself
from tests.plan import test_within as within

WITHIN = "discreet.plan.within:"
ACCURACY = "discreet.plan.accuracy:"
SIZES = "discreet.plan.sizes:"
QUOTING = "discreet.curator.quoting:"
PLANNING = "discreet.curator.planning:Planning."
RECORD = "discreet.answer.record:"
PACKED = "discreet.answer.packed:"
CITATION = "discreet.answer.citation:"
F = Fraction


def prices_are_least() -> None:
    within.price_is_least(within.MIXED, within.PERSON, {"n": F(50), "s": F(10_000)}, F(0), 0.95)
    within.price_is_least(within.TOTALS, within.PERSON, {"n": F(5), "p": F(50)}, within.DELTA, 0.99)


def a_price_is_never_below_the_least() -> None:
    within.test_a_price_is_never_below_the_least(0.95)


def promises_are_kept() -> None:
    within.test_what_is_promised_is_kept_by_the_noise(0.99, 0)


def wrong_accuracies_are_refused() -> None:
    for wrong in within.WRONG:
        within.test_what_is_no_accuracy_is_refused(wrong)


def unknown_sizes_are_refused() -> None:
    for case in within.UNSIZED:
        within.test_without_a_size_a_part_of_it_is_refused_with_what_to_do(case)


def words_are_true() -> None:
    for name, unit in (
        ("avg-by-ward", "person, add-remove"),
        ("count-by-ward", "row, replace"),
        ("number-by-bins", "person, add-remove"),
    ):
        if name in golden.questions():
            for epsilon, delta in ((F(1), golden.DELTA), (F(1, 3), F(0))):
                plan: Any = golden.made(name, unit, epsilon, delta)
                citation.is_true_to_its_plan(plan, golden.questions()[name])


MUTANTS = (
    Mutant(
        "price-of-twice-the-error",
        WITHIN + "LeastPrice._meets",
        "off <= 1",
        "off <= 2",
        "twice the ± that was asked for",
        prices_are_least,
    ),
    Mutant(
        "rounding-is-not-promised",
        "discreet.plan.intervals:_predicted",
        "most_told(half)",
        "rounded_up(half, DIGITS)",
        "ends are rounded outward, past the ± that was asked for",
        within.what_is_told_is_within_what_was_demanded,
    ),
    Mutant(
        "a-step-too-dear",
        WITHIN + "least_price",
        "(below, middle) if meets(middle * unit) else (middle, above)",
        "(below, middle) if meets(middle * unit * Fraction(9, 10)) else (middle, above)",
        "more is paid than the ± needs",
        by_itself(within.test_the_search_finds_the_least_price_of_four_digits.hypothesis.inner_test, F(5, 7)),  # type: ignore[attr-defined]
    ),
    Mutant(
        "below-the-least-price",
        WITHIN + "least_price",
        "if high <= LEAST_EPSILON:",
        "if high <= 0:",
        "rows are added to a ledger next to free",
        a_price_is_never_below_the_least,
    ),
    Mutant(
        "nothing-at-the-least-price",
        WITHIN + "plan_within",
        "if start.releases and not any(demands):",
        "if False:",
        "what has no ± is measured at the least price",
        lambda: within.test_what_has_no_number_with_an_error_has_no_accuracy(within.NOTHING_MEASURED[1]),
    ),
    Mutant(
        "confidence-forgotten",
        WITHIN + "LeastPrice._off",
        "predicted(plan, self.confidence)",
        "predicted(plan)",
        "the ± that was asked for at 99 % is one at 95 %",
        promises_are_kept,
    ),
    Mutant(
        "the-split-stays",
        WITHIN + "LeastPrice.moved",
        "max(ratio, FAR) ** 2",
        "1",
        "several demands pay for one another",
        within.several_share_the_price_well,
    ),
    Mutant(
        "what-is-hardest-gets-less",
        WITHIN + "_best",
        "min(plain, search.least(weights), key=lambda plan: plan.epsilon)",
        "max(plain, search.least(weights), key=lambda plan: plan.epsilon)",
        "the dearer of two plans is charged",
        prices_are_least,
    ),
    Mutant(
        "more-than-all-of-it",
        ACCURACY + "Demand.read",
        "if not 0 < share <= 1:",
        "if not 0 < share:",
        "a ± of more than the number is an accuracy",
        within.test_a_part_is_more_than_nothing_and_at_most_all,
    ),
    Mutant(
        "a-column-named-twice",
        ACCURACY + "Demands.of",
        "if place in taken:",
        "if False:",
        "of two demands on a column one is dropped",
        wrong_accuracies_are_refused,
    ),
    Mutant(
        "everybody-is-counted",
        SIZES + "_counts_everybody",
        "return plain and all(each",
        "return all(each",
        "a condition is taken to leave everybody",
        unknown_sizes_are_refused,
    ),
    Mutant(
        "what-may-be-nothing-has-a-size",
        SIZES + "_least_of",
        "if same_sign else None",
        "if same_sign else 1.0",
        "a part of what may be 0 is promised",
        unknown_sizes_are_refused,
    ),
    Mutant(
        "a-size-of-noise",
        SIZES + "middle_size",
        "and abs(value) > error",
        "and True",
        "a price follows noise",
        doors.sizes_are_of_what_can_be_told_from_0,
    ),
    Mutant(
        "sizes-of-other-questions",
        PLANNING + "_released_sizes",
        "_bare(act.label) != text",
        "False",
        "the answer to another question decides a price",
        by_itself(doors.test_a_size_may_come_from_an_answer_that_was_released),
    ),
    Mutant(
        "everything-fits",
        QUOTING + "Quoting.quote",
        "price.within(left)",
        "True",
        "a quote says that what is refused fits",
        lambda: doors.test_what_fits_is_charged_and_what_does_not_is_refused("zcdp"),
    ),
    Mutant(
        "quotes-of-one-price",
        QUOTING + "Quoting.quote",
        "replace(asked, epsilon=epsilon)",
        "replace(asked, epsilon=_distinct(epsilons)[0])",
        "every row of a quote is of the first price",
        by_itself(doors.test_a_quote_is_the_previews_of_its_prices),
    ),
    Mutant(
        "intervals-at-their-own-confidence",
        RECORD + "Answer.at",
        "intervals(plan, released, table, confidence)",
        "intervals(plan, released, table)",
        "a kept answer says 99 % and means 95 %",
        confidence.a_confidence_is_told_of_the_same_release,
    ),
    Mutant(
        "kept-before-told-anyhow",
        RECORD + "Answer.at",
        "if again is None:",
        "if False:",
        "an answer without what it is made of has no intervals",
        confidence.kept_before_is_told_or_refused,
    ),
    Mutant(
        "certain-where-it-is-not",
        "discreet.plan.intervals:certain_intervals",
        "if error is None:\n            return None",
        "if error is None:\n            error = 0",
        "a mean of an earlier release has ± 0",
        confidence.kept_before_is_told_or_refused,
    ),
    Mutant(
        "packed-too-narrow",
        PACKED + "_packed",
        "high <= np.iinfo(each).max",
        "high <= np.iinfo(each).max + 1",
        "the largest released numbers come back negative",
        lambda: confidence.test_what_is_packed_is_unpacked.hypothesis.inner_test([[128], [2**15], [2**31]]),  # type: ignore[attr-defined]
    ),
    Mutant(
        "a-price-rounded-down",
        CITATION + "_kept",
        "rounded_up(price, DIGITS), rounded_up",
        "float(f'{price:.2g}'), rounded_up",
        "less is published than was paid",
        words_are_true,
    ),
    Mutant(
        "no-delta-in-the-words",
        CITATION + "_kept",
        '(f", δ = {delta:.6g}" if delta else "")',
        '""',
        "a δ is not published",
        words_are_true,
    ),
    Mutant(
        "limits-left-out",
        CITATION + "_limits",
        "if LIMITING.search(note)",
        "if False",
        "what of a person counts is not published",
        words_are_true,
    ),
    Mutant(
        "cited-though-not-private",
        CITATION + "cited",
        'if not answer.receipt.get("private"):',
        "if False:",
        "known noise is published as private",
        citation.test_an_answer_that_is_not_private_has_none,
    ),
    Mutant(
        "draws-as-for-95",
        "discreet.plan.draws:draws_for",
        "max(DRAWS, round(2 * BEYOND / (CAREFUL * (1 - confidence))))",
        "DRAWS // 16",
        "the tails of a statistic are those of a few draws",
        within.draws_reach_as_far_as_the_noise,
    ),
    Mutant(
        "tails-of-a-normal",
        "discreet.plan.spread:smooth_widths",
        "MOST_COPIES if confidence <= USUAL else FAR_COPIES",
        "MOST_COPIES",
        "sums of noises are taken to have the tails of a normal law",
        within.test_sums_of_many_noises_have_the_tails_that_they_have,
    ),
    Mutant(
        "what-is-counted-without-its-tables",
        "discreet.plan.counted:counted",
        "scan.table for scan in scans(question.source)",
        "'' for scan in scans(question.source)",
        "it is not said of what numbers are",
        words_are_true,
    ),
    Mutant(
        "more-left-than-there-is",
        "discreet.answer.quote:Quote.of",
        "amounts(left)",
        "{'epsilon': 10.0}",
        "a quote shows another budget",
        doors.what_is_left_is_told,
    ),
)
