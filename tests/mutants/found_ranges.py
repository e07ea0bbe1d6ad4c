"""Planted bugs of ranges that are found: who is counted beyond an end, what it costs, what follows, and whose facts they are."""

from pathlib import Path
from tempfile import TemporaryDirectory

from tests.curator import test_found_ranges as kept
from tests.mutants import Law, Mutant, by_itself
from tests.plan import test_found_ranges as ranges

STEP = "discreet.plan.steps.range:"
FINDING = "discreet.plan.finding:"
TERMS = "discreet.plan.releases.terms:MeasuredTerms."


def within(law):  # type: ignore[no-untyped-def]
    """A law about a ledger, in a folder of its own."""

    def held() -> None:
        with TemporaryDirectory() as folder:
            law(Path(folder))

    return held


belongs: Law = within(kept.a_range_is_used_by_whom_it_belongs_to)
free: Law = within(kept.the_same_question_is_free)
free_in_part: Law = within(kept.what_was_known_in_part_is_free)

MUTANTS = (
    Mutant(
        "range-without-noise",
        STEP + "FindRange._first",
        "grant(self.mechanism, ONE, lambda: [-score for score in scores])",
        "[-score >= self.mechanism.threshold for score in scores]",
        "the ends are those of the data, as they are",
        ranges.ranges_cost_their_price,
    ),
    Mutant(
        "one-end-without-noise",
        STEP + "FindRange.drawn",
        "low = last - self._first(grant, scores[last:])",
        "low = last - sum(score > 0 for score in scores[last:])",
        "the lower end is that of the data, as it is",
        ranges.ranges_cost_their_price,
    ),
    Mutant(
        "range-by-who-is-at-a-rung",
        STEP + "beyond",
        "(Order.GREATER, rung)",
        "(Order.NOT_EQUAL, rung)",
        "conditions are not nested, and scores move in both directions",
        ranges.scores_move_one_way,
    ),
    Mutant(
        "range-on-a-ladder-from-the-wrong-side",
        STEP + "beyond",
        "reversed(rungs[1:])",
        "rungs[1:]",
        "the lower end is sought where nobody is, and found at once",
        ranges.the_first_rungs_that_few_are_beyond_are_found,
    ),
    Mutant(
        "range-with-one-end",
        STEP + "FindRange.range_of",
        "Fraction(self.rungs[low])",
        "Fraction(self.rungs[0])",
        "values are clamped from above alone",
        ranges.values_beyond_are_clamped,
    ),
    Mutant(
        "range-of-no-width",
        STEP + "FindRange.range_of",
        "if low == high:",
        "if False:",
        "a sum between equal ends is public, and its noise has no place",
        ranges.ranges_have_a_width,
    ),
    Mutant(
        "range-whose-ends-have-passed-each-other",
        STEP + "FindRange.range_of",
        "if low > high:",
        "if False:",
        "an outcome leads nowhere, after it was drawn",
        ranges.ranges_have_a_width,
    ),
    Mutant(
        "noise-of-the-widest-range-is-granted",
        "discreet.plan.check:_less",
        "leaf.scale * (1 - ROUNDED)",
        "leaf.scale * (1 + ROUNDED)",
        "another range is rounded otherwise, and the question fails for what it found",
        ranges.outcomes_cost_the_same,
    ),
    Mutant(
        "price-of-one-end",
        STEP + "FindRange.event",
        "(self.mechanism.event(ONE), self.mechanism.event(ONE))",
        "(self.mechanism.event(ONE),)",
        "one of two searches is not paid for",
        ranges.the_price_is_split_as_it_is_said,
    ),
    Mutant(
        "epsilon-of-one-range-for-each",
        FINDING + "_range",
        "/ (2 * budget.ranges)",
        "/ 2",
        "two ranges spend the part of all ranges each",
        ranges.the_price_is_split_as_it_is_said,
    ),
    Mutant(
        "ranges-besides-the-price",
        "discreet.plan.price:Shares.answer",
        " - self.ranges",
        "",
        "the answer spends what ranges have spent already",
        ranges.the_price_is_split_as_it_is_said,
    ),
    Mutant(
        "range-that-few-searches-end-at",
        FINDING + "_range",
        "FEW_BEYOND / price",
        "FEW / price",
        "one search in 3,000 runs to the end of the ladder, where noise is all there is",
        ranges.searches_rarely_run_to_the_end,
    ),
    Mutant(
        "range-by-rows",
        FINDING + "_range",
        "beyond(argument, rungs, How.ANY)",
        "beyond(argument, rungs, How.SUM)",
        "someone with many rows counts with all of them",
        ranges.scores_move_one_way,
    ),
    Mutant(
        "a-range-takes-a-null-test-away",
        TERMS + "_conditions",
        "facts_of(part, self.scope).nullable",
        "facts_of(part, self.scope).nullable and not self.ranges",
        "what was found drops a test for NULL",
        ranges.only_clamps_know_of_a_range,
    ),
    Mutant(
        "a-found-range-is-not-used",
        "discreet.plan.draft:with_range",
        "draft.question, ranges",
        "draft.question, (FoundRange(span.argument, 2 * span.low, 2 * span.high),)",
        "values are clamped to another range than the answer tells",
        ranges.values_beyond_are_clamped,
    ),
    Mutant(
        "conditions-of-a-range-unseen",
        STEP + "FindRange.check",
        "terms_of(self.query) != beyond(self.argument, self.rungs, how)",
        "False",
        "a plan whose conditions are not nested is taken for one whose are",
        ranges.false_plans_are_found,
    ),
    Mutant(
        "a-search-for-several-ends",
        STEP + "FindRange.check",
        "self.mechanism.hits != 1",
        "False",
        "a search that goes on after its end is not seen",
        ranges.false_plans_are_found,
    ),
    Mutant(
        "a-ladder-that-goes-down",
        STEP + "FindRange.check",
        "any(low >= high for low, high in zip(self.rungs, self.rungs[1:], strict=False))",
        "False",
        "rungs out of order are not seen",
        ranges.false_plans_are_found,
    ),
    Mutant(
        "ranges-of-any-rows",
        FINDING + "range_topic",
        "notation((rows, ",
        "notation((0, ",
        "a range that was found of other rows is used",
        belongs,
    ),
    Mutant(
        "ranges-of-any-argument",
        FINDING + "range_topic",
        "sought.argument))",
        "0))",
        "the range of one column is used for another",
        belongs,
    ),
    Mutant(
        "a-range-makes-another-question",
        "discreet.curator.planning:Planning._found_before",
        "if plan is not None and self._asked_before(plan, asked):",
        "if False:",
        "whoever asks again pays again",
        free,
    ),
    Mutant(
        "a-kept-range-is-believed",
        "discreet.curator.found:range_in",
        "if not sought.low <= found.low < found.high <= sought.high:",
        "if False:",
        "ends that no question finds are taken from a ledger",
        kept.test_what_is_no_fact_is_none,
    ),
    Mutant(
        "a-range-is-known-before-it-is-found",
        "discreet.plan.within:_check_limits_known",
        "for each in draft.sought:",
        "for each in ():",
        "what an accuracy costs is told of the widest range",
        by_itself(ranges.test_an_accuracy_needs_a_known_range),
    ),
    Mutant(
        "what-was-known-in-part-is-another-question",
        "discreet.curator.planning:Planning._asked_with_less",
        "if self._asked_before(plan, asked)",
        "if False",
        "a question that found one thing beside another that was known is charged again",
        free_in_part,
    ),
)
