"""Planted bugs of the audit of training: δ that is forgotten, rounding to the wrong side, coins that are known, batches of the others."""

from tests.audit import test_one_run as one_run
from tests.audit import test_trained as trained
from tests.learn import test_descent_joint as joint
from tests.mutants import Mutant

G = "discreet.audit.guesses:"
C = "discreet.audit.canaries:"
J = "discreet.audit.joint:"
T = "discreet.audit.trained:"


def sampled_descents_cost_what_their_plan_says() -> None:
    joint.descents_cost_what_their_plan_says("one step, sampled")


MUTANTS = (
    Mutant(
        "guesses-without-delta",
        G + "most_likely",
        " * (1 + excess * Fraction(below, right << BITS))",
        "",
        "what is published once in a while counts as if it were always",
        one_run.bounds_hold_where_delta_is_used,
    ),
    Mutant(
        "delta-of-the-guesses-alone",
        G + "one_run_bound",
        "among * probability",
        "said * probability",
        "canaries that were abstained on have a δ as well, and it may be spent on the others",
        one_run.bounds_hold_where_delta_is_used,
    ),
    Mutant(
        "delta-is-halved",
        G + "most_likely",
        "Fraction(below, right << BITS)",
        "Fraction(below, right << (BITS + 1))",
        "the bound is below what some mechanism has",
        one_run.bounds_are_attained,
    ),
    Mutant(
        "delta-without-the-right-guesses",
        G + "most_likely",
        "right << BITS",
        "guesses << BITS",
        "the term is divided by all guesses, and is too small",
        one_run.no_mechanism_has_more_right_guesses,
    ),
    Mutant(
        "tails-rounded-down",
        G + "_above",
        "divide_up(term * ((guesses - w) * up), (w + 1) * down)",
        "term * ((guesses - w) * up) // ((w + 1) * down)",
        "a bound may be larger than is shown",
        one_run.rounding_is_upward,
    ),
    Mutant(
        "the-rest-rounded-up",
        G + "_below",
        "term = term * (w * up) // ((guesses - w + 1) * down)",
        "term = -(-term * (w * up) // ((guesses - w + 1) * down))",
        "a bound may be larger than is shown",
        one_run.rounding_is_upward,
    ),
    Mutant(
        "one-right-guess-more",
        G + "_above",
        "for w in range(right, guesses):",
        "for w in range(right, guesses - 1):",
        "that all guesses are right is left out of the tail",
        one_run.rounding_is_upward,
    ),
    Mutant(
        "the-least-that-is-not-rejected",
        G + "_largest_rejected",
        "(middle, high) if rejected(middle) else (low, middle)",
        "(low, middle) if rejected(middle) else (middle, high)",
        "the search ends far from the bound",
        one_run.many_guesses_are_those_of_clopper_and_pearson,
    ),
    Mutant(
        "any-claim-is-rejected",
        G + "_largest_rejected",
        "<= alpha",
        "<= 2 * alpha",
        "bounds are above the truth twice as often as is said",
        one_run.bounds_hold_on_randomized_response,
    ),
    Mutant(
        "more-guesses-than-canaries",
        G + "one_run_bound",
        "if not right <= said <= among:",
        "if not right <= said:",
        "counts that cannot be have a bound",
        one_run.counts_that_cannot_be_are_refused,
    ),
    Mutant(
        "the-best-rule-alone",
        C + "OneRun._best",
        "(1 - sure(confidence)) / len(self.tried)",
        "(1 - sure(confidence))",
        "whoever tries many rules has a bound above the truth more often than is said",
        one_run.rules_share_what_may_fail,
    ),
    Mutant(
        "canaries-that-are-guessed-alone",
        C + "OneRun._best",
        "one_run_bound(right, said, self.canaries,",
        "one_run_bound(right, said, said,",
        "canaries that were abstained on do not count for δ",
        one_run.rules_share_what_may_fail,
    ),
    Mutant(
        "coins-that-are-not-fair",
        C + "one_run",
        "Fraction(1, 2)",
        "Fraction(3, 4)",
        "whoever always says in is right more often than not",
        one_run.coins_are_fair_and_each_its_own,
    ),
    Mutant(
        "coins-that-training-can-write",
        C + "one_run",
        "train(mask.copy())",
        "train(mask)",
        "whoever changes the mask is right about all",
        one_run.who_trains_cannot_change_the_coins,
    ),
    Mutant(
        "ties-by-the-coins",
        C + "_tried",
        'order = np.argsort(-scores, kind="stable")',
        "order = np.lexsort((~mask, -scores))",
        "among equal scores those who are in come first: guesses are made from the coins",
        one_run.guesses_are_counted_against_the_coins,
    ),
    Mutant(
        "the-lowest-are-the-highest",
        C + "_tried",
        "order[len(order) - rule[1] :]",
        "order[: rule[1]]",
        "out is said of those who look most like members",
        one_run.guesses_are_counted_against_the_coins,
    ),
    Mutant(
        "the-clearest-are-the-highest",
        C + "_tried",
        "np.argsort(-np.abs(scores)",
        "np.argsort(-(scores)",
        "nobody is said to be out with confidence",
        one_run.guesses_are_counted_against_the_coins,
    ),
    Mutant(
        "batches-of-the-others",
        J + "Walker.batch",
        "[Bracket.of(1 - rate), Bracket.of(rate)]",
        "[Bracket.of(rate), Bracket.of(1 - rate)]",
        "who is in a batch is enumerated as out of it",
        joint.batches_are_enumerated_and_not_seen,
    ),
    Mutant(
        "sampling-at-a-lower-rate",
        "discreet.learn.training_plan:TrainingPlan._event_of",
        "events.Sampled(self.rate, leaf)",
        "events.Sampled(self.rate / 2, leaf)",
        "batches are paid for as if they were half as large",
        sampled_descents_cost_what_their_plan_says,
    ),
    Mutant(
        "differences-of-descents-that-nobody-counts",
        T + "_subject",
        "*report.differences",
        "*()",
        "twins that are told apart do not count against a descent",
        trained.what_is_told_beside_the_noise_counts,
    ),
    Mutant(
        "descents-that-end-with-an-error",
        T + "_subject",
        "if report.first.answered else",
        "if True else",
        "a descent that fails alike on both sides holds out",
        trained.errors_are_told,
    ),
    Mutant(
        "replaced-by-themselves",
        T + "of_training",
        "Adjacency.REPLACE: [*ROWS[:-1], LAST]",
        "Adjacency.REPLACE: ROWS",
        "gradients twice as long as is paid for are not seen",
        trained.gradients_beyond_the_clip_are_told,
    ),
)
