"""Planted bugs of what everything stands on: exact numbers with outward rounding, and the rule by which budgets end."""

from fractions import Fraction

from tests import test_exact as exact
from tests import test_outward as outward
from tests.curator import test_ledger as ledger
from tests.mutants import Mutant, by_itself

ACCOUNTANT = "discreet.accountant:"
EXACT = "discreet.exact:"


def brackets() -> None:
    exact.test_brackets_hold_at_extremes(64)


MUTANTS = (
    Mutant(
        "one-amount-within-its-limit",
        ACCOUNTANT + "within",
        "all(part <= most",
        "any(part <= most",
        "as long as one amount is left the other may be overspent",
        ledger.amounts_are_capped_apart,
    ),
    Mutant(
        "limit-exceeded-by-the-last",
        ACCOUNTANT + "within",
        "part <= most",
        "part <= most + 1",
        "the last charge may take one unit more than there is",
        ledger.amounts_are_capped_apart,
    ),
    Mutant(
        "rounded-to-nearest",
        EXACT + "divide_up",
        "return -((-value) // by)",
        "return (2 * value + by) // (2 * by)",
        "a price below half a unit is nothing",
        ledger.test_prices_are_rounded_up_and_caps_down,
    ),
    Mutant(
        "brackets-without-slack",
        EXACT + "_exp_neg_series",
        "slack = 3 * n + 8",
        "slack = 0",
        "what every floor loses is not in the brackets of a probability",
        brackets,
    ),
    Mutant(
        "ends-of-a-negative-multiple",
        EXACT + "log_bounds",
        "    if n < 0:\n        lo2, hi2 = hi2, lo2\n",
        "",
        "the ends of a logarithm are swapped below 1",
        by_itself(outward.test_logarithms_are_between_their_bounds, 64),
    ),
    Mutant(
        "series-cut-off",
        EXACT + "_twice_artanh",
        "2 * (total + 2 * n + 4)",
        "2 * total",
        "what a series leaves out is not in its upper bound",
        by_itself(outward.test_logarithms_are_between_their_bounds, 64),
    ),
    Mutant(
        "exponential-between-one-end",
        EXACT + "exp_bounds",
        "exp_neg_bounds(n * lo2 - x, p)[1]",
        "exp_neg_bounds(n * hi2 - x, p)[0]",
        "the lower end of an exponential stands for the upper one",
        by_itself(outward.test_exponentials_are_between_their_bounds, 64),
    ),
    Mutant(
        "square-root-from-below",
        EXACT + "sqrt_up",
        "isqrt(scaled - 1) + 1",
        "isqrt(scaled - 1)",
        "the noise of many parts is a little too small",
        outward.test_square_roots_are_from_above_and_close,
    ),
    Mutant(
        "nearest-float-is-enough",
        EXACT + "to_float_up",
        "while isfinite(value) and Fraction(repr(value)) < x:",
        "while False:",
        "an amount is shown as less than it is",
        outward.test_floats_mean_at_least_what_they_round_up,
    ),
    Mutant(
        "short-fraction-of-the-nearest",
        EXACT + "round_up",
        "divide_up(scaled.numerator, scaled.denominator)",
        "round(scaled)",
        "a price is rounded down half of the time",
        outward.test_short_fractions_are_outward_short_and_close,
    ),
    Mutant(
        "float-by-its-bits",
        EXACT + "ratio",
        "return Decimal(float.__repr__(value)).as_integer_ratio()",
        "return value.as_integer_ratio()",
        "ten tenths are more than one",
        by_itself(exact.test_a_number_means_what_it_prints, 0.1, Fraction(1, 10)),
    ),
    Mutant(
        "more-than-certain",
        EXACT + "probability",
        "0 <= number.numerator <= number.denominator",
        "0 <= number.numerator",
        "a delta above 1 is taken",
        outward.test_probabilities_end_at_one,
    ),
    Mutant(
        "prices-below-nothing",
        EXACT + "nonnegative",
        "if number.numerator < 0:",
        "if False:",
        "a price below 0 gives budget back",
        by_itself(outward.test_negative_numbers_are_refused_by_name, -1),
    ),
)
