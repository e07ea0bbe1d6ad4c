"""Planted bugs of variances, covariances, correlations and lines: what is summed, of which rows, and where the truth may lie."""

from fractions import Fraction

from tests.mutants import Mutant
from tests.plan import test_moments as moments
from tests.plan import test_moments_found as moments_found
from tests.plan import test_vectors as vectors

TERMS = "discreet.plan.releases.terms:"
VARIANCE = "discreet.plan.releases.variance:"
COVARIANCE = "discreet.plan.releases.covariance:"
REGRESSION = "discreet.plan.releases.regression:"
EVALUATE = "discreet.plan.evaluate:"
DRAWS = "discreet.plan.draws:"
RULES = "discreet.plan.rules.relations:"


def a_variance_holds() -> None:
    moments.intervals_hold("VAR_POP", "even", 2000)
    moments.intervals_hold("VAR_POP", "even", 300, Fraction(1, 10**6))


def a_correlation_holds() -> None:
    moments.intervals_hold("CORR", "even", 2000)


MUTANTS = (
    Mutant(
        "squares-not-centred",
        TERMS + "MeasuredTerms.products",
        "sum(product_ends(Product(*factors, shift, 0))) // 2",
        "0 * shift",
        "a row moves a sum of squares by twice as much as it has to",
        moments.squares_are_centred,
    ),
    Mutant(
        "squares-of-one-sign",
        EVALUATE + "product_ends",
        "(0, 0) if first[0] <= 0 <= first[1] else (sizes[0], sizes[0])",
        "(sizes[0], sizes[0])",
        "the square of what lies around 0 is taken to be never 0",
        moments.ends_of_products_are_reached_and_not_passed,
    ),
    Mutant(
        "products-of-two-corners",
        EVALUATE + "product_ends",
        "for left in first for right in second]",
        "for left, right in zip(first, second)]",
        "a product of a low and a high value is left out of its bounds",
        moments.ends_of_products_are_reached_and_not_passed,
    ),
    Mutant(
        "products-rounded-down",
        EVALUATE + "product_of",
        "2 * left * right + (1 << product.shift)",
        "2 * left * right",
        "a product on its grid is off by more than half a step, always in one direction",
        moments.ends_of_products_are_reached_and_not_passed,
    ),
    Mutant(
        "too-many-steps-of-a-product",
        RULES + "term_bounds",
        "if max(abs(low), abs(high)) > MOST_STEPS:",
        "if False:",
        "the sum of products does not fit 64 bits",
        moments.test_only_steps_are_factors,
    ),
    Mutant(
        "pairs-of-different-rows",
        TERMS + "MeasuredTerms._conditions",
        "parts_of(aggregate.argument) if part != beside",
        "parts_of(aggregate.argument) if beside is None",
        "the sums of a pair are of rows that lack the other number, and the count is not",
        moments.values_are_those_of_plain_python,
    ),
    Mutant(
        "pairs-counted-by-one-number",
        TERMS + "MeasuredTerms._conditions",
        "parts_of(aggregate.argument) if part",
        "parts_of(aggregate.argument)[:1] if part",
        "rows that lack x are counted as pairs",
        moments.values_are_those_of_plain_python,
    ),
    Mutant(
        "factors-of-products-taken-as-exact",
        TERMS + "Centred.off_beside",
        "self.half * two + other.half * one + one * two",
        "one * two",
        "the ± of a variance leaves out what its values were rounded by",
        moments.products_are_off_by_what_they_say,
    ),
    Mutant(
        "sample-over-n",
        VARIANCE + "corrected",
        "(n / (n - 1))",
        "1.0",
        "the variance of a sample is that of a population",
        moments.values_are_those_of_plain_python,
    ),
    Mutant(
        "mean-not-squared-away",
        VARIANCE + "Dispersion.rule",
        "- (total / n) ** 2",
        "",
        "what a variance is around is the middle of the bounds, and not the mean",
        moments.values_are_those_of_plain_python,
    ),
    Mutant(
        "variance-below-0",
        VARIANCE + "Dispersion.values",
        "0.0, most)",
        "-most, most)",
        "a variance is negative",
        moments.numbers_stay_within_what_is_possible,
    ),
    Mutant(
        "interval-below-0",
        VARIANCE + "Dispersion.span",
        "(reader.full(0), self._most(reader,",
        "(reader.full(-1), self._most(reader,",
        "the interval of a variance begins below 0",
        moments.numbers_stay_within_what_is_possible,
    ),
    Mutant(
        "nobody-has-a-variance",
        VARIANCE + "known_totals",
        "> few",
        "> 0",
        "a variance is told of a count that cannot be told from 0",
        moments.nobody_has_a_spread,
    ),
    Mutant(
        "covariance-around-the-middle",
        COVARIANCE + "Covariance.rule",
        "- (first / n) * (second / n)",
        "",
        "a covariance is around the middles of the bounds, and not around the means",
        moments.values_are_those_of_plain_python,
    ),
    Mutant(
        "correlation-beyond-1",
        COVARIANCE + "Correlation.values",
        "-1.0, 1.0)",
        "-9.0, 9.0)",
        "a correlation is larger than 1",
        moments.numbers_stay_within_what_is_possible,
    ),
    Mutant(
        "determination-across-0",
        COVARIANCE + "Correlation.span",
        "np.where(across, 0.0, sizes.min(axis=0))",
        "sizes.min(axis=0)",
        "the square of a correlation that may be 0 is taken to be more",
        lambda: moments.intervals_hold("REGR_R2", "apart", 2000),
    ),
    Mutant(
        "line-of-x-on-y",
        REGRESSION + "_line",
        "terms.products(x, x)",
        "terms.products(y, y)",
        "the slope is over the variance of y",
        moments.values_are_those_of_plain_python,
    ),
    Mutant(
        "intercept-at-the-middle",
        REGRESSION + "Line.rule",
        "(float(self.x_middle) + mean_x)",
        "mean_x",
        "the intercept is at the middle of the bounds of x, and not at 0",
        moments.values_are_those_of_plain_python,
    ),
    Mutant(
        "draws-of-half-the-noise",
        DRAWS + "likely",
        "total[at, None] - noise",
        "total[at, None] - noise / 2",
        "intervals are half as wide as the noise is",
        a_variance_holds,
    ),
    Mutant(
        "one-end-missed-as-often-as-both",
        DRAWS + "likely",
        "CAREFUL * (1 - confidence) / 2",
        "4 * CAREFUL * (1 - confidence)",
        "intervals miss the truth eight times as often as they say",
        a_correlation_holds,
    ),
    Mutant(
        "what-is-no-number-not-counted",
        DRAWS + "_quantiles",
        "np.full(len(drawn), -np.inf), np.full(len(drawn), np.inf)",
        "np.zeros(len(drawn)), np.full(len(drawn), np.inf)",
        "a slope of values that may be all alike has a lower end",
        moments.a_line_through_one_point_has_no_ends,
    ),
    Mutant(
        "another-range-is-not-granted",
        "discreet.plan.check:_whatever_follows",
        "if len(ways) > 1 and len(leaves[0]) > 1 else priced[0]",
        "if False else priced[0]",
        "the noise of a range between those that were looked at goes beyond its grant, after it was charged",
        moments_found.one_range_for_each_number,
    ),
    Mutant(
        "squares-of-what-is-not-clamped",
        TERMS + "MeasuredTerms._found",
        "return known[0].low, known[0].high",
        "return known[0].low * 2, known[0].high * 2",
        "values are clamped to another range than the one that was found",
        moments_found.values_are_of_what_is_clamped,
    ),
    Mutant(
        "totals-that-cannot-be-tell-nothing",
        COVARIANCE + "Correlation.drawn",
        "np.copysign(np.inf, covariance)",
        "np.nan",
        "of a draw with a variance below 0 the sign of the covariance is forgotten, and the interval is far too wide",
        moments.a_draw_that_cannot_be_tells_a_direction,
    ),
    Mutant(
        "a-sample-may-be-twice-as-far",
        VARIANCE + "Dispersion._most",
        "np.maximum(float(count.step) * (reader.totals[self.count] - far), 2.0)",
        "reader.full(2.0)",
        "the interval of a deviation ends beyond what so many values can have",
        lambda: moments.intervals_hold("STDDEV", "ends", 2000),
    ),
    Mutant(
        "least-of-too-few-draws",
        DRAWS + "_least",
        "counts.min() <= most",
        "counts.max() <= most",
        "where few draws are small, the end of an interval is looked for among fewer than are before it",
        vectors.ends_of_draws_are_those_in_order,
    ),
    Mutant(
        "off-to-one-side",
        "discreet.plan.spread:_own_slopes",
        "np.where(least < 0, v - across, v + across)",
        "(v + across)",
        "what is divided by is taken to be off to one side alone",
        vectors.slopes_are_those_of_every_corner,
    ),
)
