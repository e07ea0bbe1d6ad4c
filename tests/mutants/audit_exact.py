"""Planted bugs of the exact audit, and bugs of mechanisms that it finds without a sample."""

from discreet.mechanisms import NoisyMax
from tests.audit import test_bayes as bayes
from tests.audit import test_enumeration as enumeration
from tests.audit import test_joint as joint
from tests.audit import test_law as law
from tests.audit import test_tree as tree
from tests.mutants import Mutant

LAW = "discreet.audit.law:"
WALK = "discreet.audit.walk:"
TREE = "discreet.audit.tree:"
CHANCES = "discreet.audit.chances:"
ENUMERATION = "discreet.audit.enumeration:"
JOINT = "discreet.audit.joint:"
BAYES = "discreet.audit.bayes:"
MECHANISMS = "discreet.mechanisms."

MUTANTS = (
    Mutant(
        "rest-is-nothing",
        LAW + "_above",
        "p.rest + lumped",
        "lumped",
        "outputs that are not listed are taken for harmless",
        law.what_is_unknown_never_excludes_the_truth,
    ),
    Mutant(
        "lumps-are-outputs",
        LAW + "_above",
        "if outcome not in lumps]",
        "]",
        "many outputs at once are taken for one, which hides the worst of them",
        law.what_is_unknown_never_excludes_the_truth,
    ),
    Mutant(
        "lower-bound-from-the-lower-end",
        LAW + "_below",
        "_high(q, outcome, elsewhere)",
        "_low(q, outcome)",
        "a loss is said to be certain that is only possible",
        law.what_is_unknown_never_excludes_the_truth,
    ),
    Mutant(
        "not-listed-is-impossible",
        LAW + "_elsewhere",
        "q.lumps - p.lumps",
        "frozenset()",
        "an output that may be in a lump is said to be impossible",
        law.what_is_unknown_never_excludes_the_truth,
    ),
    Mutant(
        "delta-not-taken-off",
        LAW + "_Excess.least",
        "(top - most) / slope",
        "top / slope",
        "ε at a δ is that at another one",
        law.epsilon_is_where_delta_is_reached,
    ),
    Mutant(
        "negative-parts-count",
        LAW + "_Excess.at",
        " if a > t * b",
        "",
        "δ is that of all outputs together, which is 1 − e^ε",
        law.delta_is_that_of_the_worst_set,
    ),
    Mutant(
        "unwalked-is-nothing",
        WALK + "walked",
        "min(ONE, each.high + rest)",
        "each.high",
        "ways that were not followed are taken for impossible",
        tree.what_is_not_followed_may_be_any_outcome,
    ),
    Mutant(
        "any-choice-will-do",
        WALK + "Walk._again",
        "[0] != label",
        "[0] is None",
        "a program that does not depend on its coins alone is believed",
        tree.undetermined_programs_are_refused,
    ),
    Mutant(
        "cut-rounded-down",
        TREE + "Word.__lt__",
        "divide_up(int(other) - self._more, self._times)",
        "(int(other) - self._more) // self._times",
        "a comparison of a multiple is off by one",
        tree.words_are_uniform_however_they_are_looked_at,
    ),
    Mutant(
        "word-forgets-what-was-seen",
        TREE + "Word._split",
        "bounds.low = cut",
        "bounds.low += 0",
        "a second look at the same bits gives other bits",
        tree.words_are_uniform_however_they_are_looked_at,
    ),
    Mutant(
        "overlapping-bits-are-added",
        TREE + "Word._below",
        "return int(upper) | int(self)",
        "return int(upper) + int(self)",
        "words that do not fit together are put together all the same",
        tree.bits_are_put_together_as_integers_are,
    ),
    Mutant(
        "one-direction",
        ENUMERATION + "exact",
        ", Compared(y, x, (second, first))]",
        "]",
        "who is added is looked for, and who is removed is not",
        enumeration.both_directions_are_compared,
    ),
    Mutant(
        "ties-to-everyone",
        CHANCES + "_largest",
        "low // (k + 1), -(-high // (k + 1))",
        "low, high",
        "each of those that tie is taken for the winner",
        lambda: enumeration.selections_cost_epsilon_at_most(NoisyMax),
    ),
    Mutant(
        "kills-are-harmless",
        JOINT + "Joint._again",
        "list(first.drawn) if self.kept else []",
        "list(first.drawn)",
        "a system that forgets what it released is audited as one that does not",
        joint.a_kill_after_which_draws_are_made_anew_is_found,
    ),
    Mutant(
        "outside-of-windows-all-is-well",
        JOINT + "Joint._law",
        "isinstance(each, Sight) and each.lump",
        "not isinstance(each, Sight)",
        "what follows large noise is claimed to be private, unseen",
        joint.what_follows_a_value_outside_of_its_window_is_not_claimed,
    ),
    Mutant(
        "windows-of-their-own",
        JOINT + "Joint.laws",
        "self._law(y, windows)",
        "self._law(y, {})",
        "each data set has its window, and the edge of one is taken for a difference",
        joint.wider_windows_only_narrow,
    ),
    Mutant(
        "drawn-values-unseen",
        JOINT + "Joint._through",
        "walker.released, result",
        "(), result",
        "only the last answer counts, and what was released on the way does not",
        joint.independent_draws_multiply,
    ),
    Mutant(
        "prior-forgotten",
        BAYES + "_belief",
        "known.low + p * chance.low, known.high + p * chance.high",
        "known.low + chance.low, known.high + chance.high",
        "beliefs after the output do not begin at those before it",
        bayes.a_belief_is_bayes_rule_by_hand,
    ),
    Mutant(
        "others-forgotten",
        BAYES + "learned",
        "others is None or _others(data, person) == others",
        "True",
        "who knows all others is taken for someone who knows nobody",
        bayes.a_uniform_prior_hides_that_xor_is_not_private,
    ),
    Mutant(
        "less-likely-is-not-learned",
        BAYES + "_far",
        "low, over(Fraction(1), high)",
        "low",
        "only what becomes likelier counts, and what is ruled out does not",
        bayes.a_uniform_prior_hides_that_xor_is_not_private,
    ),
    Mutant(
        "joint-selection-not-halved",
        MECHANISMS + "exponential:Selection.rate",
        "self.sensitivity if self.monotone else 2 * self.sensitivity",
        "self.sensitivity / 4",
        "a choice inside of a plan is sharper than its price, which twins do not see",
        joint.plans_of_stages_cost_their_price,
    ),
    Mutant(
        "entered-again-and-drawn-anew",
        MECHANISMS + "measure:Grant._released",
        "if before is not None:",
        "if before is not None and not before:",
        "after a kill the same draw is made again, for one price",
        joint.real_grants_cost_once_with_a_kill_in_between,
    ),
    Mutant(
        "exact-threshold-noise-quartered",
        MECHANISMS + "above_threshold:AboveThreshold.query_scale",
        "(1 if self.monotone else 2) * self.sensitivity",
        "Fraction(1, 4) * self.sensitivity",
        "too little noise on each score",
        enumeration.thresholds_cost_epsilon_at_most,
    ),
    Mutant(
        "coin-tossed-once-more",
        MECHANISMS + "randomized_response:CoinToss._chances",
        "Fraction(3, 4)",
        "Fraction(7, 8)",
        "the truth is told more often than two coins allow: ln 7",
        enumeration.the_coin_toss_is_ln_3,
    ),
    Mutant(
        "signed-response-at-half-its-eta",
        MECHANISMS + "randomized_response:SignedResponse._chances",
        "HALF + self.eta",
        "HALF + self.eta / 2",
        "the ±1 form with the loss that is often claimed for it",
        enumeration.the_signed_response_is_four_eta_and_not_two,
    ),
    Mutant(
        "other-answer-may-be-the-truth",
        "discreet.noise.response:keep_or_replace",
        "other + (other >= value)",
        "other",
        "a lie may be the truth, and the last answer is never a lie",
        tree.responses_are_drawn_as_they_say,
    ),
)
