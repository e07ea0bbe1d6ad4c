"""Planted bugs of shuffling: too many clones, blocks and bulks from below, terms that are lost."""

from tests.mutants import Mutant
from tests.privacy import test_shuffling as shuffling

S = "discreet.privacy.theorems.shuffling:"

MUTANTS = (
    Mutant(
        "everyone-is-a-clone-more-often",
        S + "_Clones.of",
        "others * exp(-local), -others * expm1(-local)",
        "others * exp(-local / 2), -others * expm1(-local / 2)",
        "a person who reports the truth with high probability is counted as one who hides others",
        shuffling.binary_responses_lose_no_more,
    ),
    Mutant(
        "clones-of-one-who-is-not-there",
        S + "shuffled_delta",
        "min(people, MOST_PEOPLE) - 1",
        "min(people, MOST_PEOPLE)",
        "the person who is protected is counted as their own clone",
        shuffling.values_are_those_of_clones,
    ),
    Mutant(
        "blocks-as-their-most",
        S + "_Pair._parts",
        "self.given(clones.low + int(start) + 1)",
        "self.given(clones.low + int(start) + 1 + size // len(starts))",
        "every number of clones of a block is taken for a larger one",
        shuffling.blocks_are_from_above_and_fine,
    ),
    Mutant(
        "nobody-else-is-a-clone",
        S + "_Pair._parts",
        "clones.below * self.given(1) + ",
        "",
        "that there are few clones is left out",
        shuffling.what_is_left_out_is_added,
    ),
    Mutant(
        "more-clones-than-the-bulk-are-forgotten",
        S + "_Pair._parts",
        " + clones.above * self.given(clones.high + 1)",
        "",
        "that there are many clones is left out",
        shuffling.what_is_left_out_is_added,
    ),
    Mutant(
        "half-the-loss",
        S + "_Pair._threshold",
        "tanh(self.central / 2) / tanh(self.local / 2)",
        "tanh(self.central) / tanh(self.local)",
        "losses just above ε are not counted",
        shuffling.values_are_those_of_clones,
    ),
    Mutant(
        "the-other-case-is-not-weighed",
        S + "_Pair.given",
        "self.central + log1p(exp(-self.central))",
        "log1p(exp(-self.central))",
        "δ is too small by e^ε",
        shuffling.values_are_those_of_clones,
    ),
    Mutant(
        "the-first-term-is-skipped",
        S + "_Pair.given",
        "floor(edge) + 1",
        "floor(edge) + 2",
        "the most likely report beyond ε is not counted",
        shuffling.values_are_those_of_clones,
    ),
    Mutant(
        "the-rest-of-a-sum-is-dropped",
        S + "_Pair.given",
        " + float(weights[-1]) * left",
        "",
        "what was not summed counts as nothing",
        shuffling.sums_that_are_cut_short_are_bounded,
    ),
    Mutant(
        "half-of-stirling",
        S + "_log_binomial",
        "- _stirling(numbers) - _stirling(trials - numbers)",
        "- _stirling(numbers)",
        "probabilities of binomials are not those",
        shuffling.binomials_are_those_of_sixty_digits,
    ),
    Mutant(
        "logarithms-of-another-mean",
        S + "_times_log",
        "np.maximum(numbers, 1) / mean",
        "np.maximum(numbers, 1) / (mean + 1)",
        "the divergence is that of another binomial",
        shuffling.many_reports_are_gaussian,
    ),
    Mutant(
        "an-epsilon-that-is-nearly-enough",
        S + "_least",
        "return root(gap, low, high, at_low, at_high, CLOSE)",
        "return low",
        "δ is exceeded at the ε that is given",
        shuffling.epsilons_meet_their_delta,
    ),
    Mutant(
        "more-than-alone",
        S + "shuffled_delta",
        "return min(alone, ",
        "return max(alone, ",
        "shuffling is said to gain nothing",
        shuffling.values_are_those_of_clones,
    ),
)
