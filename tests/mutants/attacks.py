"""Planted bugs of `discreet.attacks`: an attack that flatters us, or accuses us, is worse than none."""

from functools import partial

from tests.attacks import laws
from tests.mutants import Mutant

ATTACKS = "discreet.attacks."

within_differencing = partial(laws.private_answers_stay_within, "differencing")
within_averaging = partial(laws.private_answers_stay_within, "averaging")
within_float_bits = partial(laws.private_answers_stay_within, "float-bits")
priced_differencing = partial(laws.permitted_is_of_the_price_that_was_asked, "differencing")
priced_averaging = partial(laws.permitted_is_of_the_price_that_was_asked, "averaging")
revealing_membership = partial(laws.exact_answers_reveal, "membership")
priced_changes = partial(laws.permitted_is_of_the_price_that_was_asked, "changes")
revealing_changes = partial(laws.exact_answers_reveal, "changes")
revealing_linkage = partial(laws.exact_answers_reveal, "linkage")
revealing_patients = partial(laws.exact_answers_reveal, "patient")

MUTANTS = (
    Mutant(
        "wrong-guesses-counted",
        ATTACKS + "game:play",
        "== secret",
        ">= secret",
        "some wrong guesses count as right ones",
        laws.right_guesses_are_counted,
    ),
    Mutant(
        "secrets-lean",
        ATTACKS + "game:play",
        "dp.noise.uniform(attack.choices)",
        "min(dp.noise.uniform(attack.choices), dp.noise.uniform(attack.choices))",
        "some secrets are likelier than others, and a blind guess is better than it is said to be",
        laws.right_guesses_are_counted,
    ),
    Mutant(
        "delta-not-permitted",
        ATTACKS + "game:permitted",
        "to_float_up(share + d * (1 - share))",
        "to_float_up(share)",
        "what δ permits is left out: a sound release may be accused",
        laws.responses_do_as_well_as_is_permitted,
    ),
    Mutant(
        "every-secret-a-bit",
        ATTACKS + "game:permitted",
        "Fraction(1, number)",
        "Fraction(1, 2)",
        "a secret of many values may be guessed as often as a bit",
        laws.responses_do_as_well_as_is_permitted,
    ),
    Mutant(
        "exact-answers-for-ours",
        ATTACKS + "game:private",
        "mechanism(query(data))",
        "dp.attacks.differencing.answers(query(data))",
        "what is attacked as ours has no noise",
        within_differencing,
    ),
    Mutant(
        "half-of-the-noise",
        ATTACKS + "differencing:private_counts",
        "for_epsilon(epsilon, SENSITIVITY)",
        "for_epsilon(epsilon, 1)",
        "both questions cost twice what was asked",
        priced_differencing,
    ),
    Mutant(
        "one-question-charged",
        ATTACKS + "differencing:private_counts",
        "noise.event(SENSITIVITY)",
        "noise.event(1)",
        "two questions are charged as one, and permit less than they tell",
        priced_differencing,
    ),
    Mutant(
        "repeats-charged-once",
        ATTACKS + "averaging:fresh",
        "dp.privacy.events.Repeated(each.event(), number)",
        "each.event()",
        "a thousand fresh answers are charged as one",
        priced_averaging,
    ),
    Mutant(
        "kept-answers-are-fresh",
        ATTACKS + "averaging:kept",
        "np.full(number, noise(count))",
        "noise(np.full(number, count))",
        "every repeat of a kept answer has noise of its own, free",
        within_averaging,
    ),
    Mutant(
        "rounds-without-permanent-answers",
        ATTACKS + "averaging:memoised",
        "np.full(number, protocol.lasting(bit))",
        "np.full(number, bit)",
        "what is attacked as memoised tells the bit itself in the end",
        within_averaging,
    ),
    Mutant(
        "diaries-that-allow-everything",
        ATTACKS + "averaging:until_refused",
        "dp.local.Diary(price)",
        "dp.local.Diary(9 * price)",
        "what is attacked as stopped goes on",
        laws.rounds_of_a_bit_are_those_of_one_permanent_answer,
    ),
    Mutant(
        "periods-at-the-whole-price",
        ATTACKS + "changes:per_period",
        'positive(epsilon, "epsilon") / attack.periods',
        'positive(epsilon, "epsilon")',
        "what is attacked as a budget for all periods is one for each",
        priced_changes,
    ),
    Mutant(
        "changes-that-stay",
        ATTACKS + "changes:Changes.world",
        "secret * step * later",
        "step * later",
        "both secrets have the same data",
        laws.answers_change_half_way_or_stay,
    ),
    Mutant(
        "halves-of-one-kind",
        ATTACKS + "changes:Changes.guess",
        "seen[middle:]",
        "seen[:middle]",
        "the attack sees no change at all, and flatters us",
        revealing_changes,
    ),
    Mutant(
        "both-sides-of-the-interval-missed",
        "discreet.binomial:interval",
        "(1 - confidence) / 2",
        "1 - confidence",
        "an interval misses twice as often as is said",
        laws.intervals_are_those_of_clopper_and_pearson,
    ),
    Mutant(
        "one-guess-too-few",
        ATTACKS + "game:Outcome.exceeds",
        "tail(self.right, ",
        "tail(self.right + 1, ",
        "a sound release is accused more often than once in a million runs",
        laws.an_outcome_exceeds_a_bound_where_a_binomial_test_says_so,
    ),
    Mutant(
        "fraction-not-mirrored",
        "discreet.binomial:tail",
        "return 1 - _beta(b, a, 1 - rate)",
        "return _beta(b, a, 1 - rate)",
        "a tail is taken for the rest",
        laws.tails_are_binomial,
    ),
    Mutant(
        "members-are-others",
        ATTACKS + "membership:Membership.world",
        "if secret:",
        "if not secret:",
        "the target is in the data when they are said to be out of it",
        revealing_membership,
    ),
    Mutant(
        "means-move-by-one-attribute",
        ATTACKS + "membership:Means.sensitivity",
        "isqrt(len(self.sixteenths) - 1) + 1",
        "1",
        "one person is said to move one mean alone",
        laws.nobody_changes_a_query_by_more_than_is_declared,
    ),
    Mutant(
        "least-subsets-for-most",
        ATTACKS + "reconstruction:Reconstruction.sensitivity",
        ".max()",
        ".min()",
        "whoever is in the most subsets is protected less than is said",
        laws.nobody_changes_a_query_by_more_than_is_declared,
    ),
    Mutant(
        "one-table-changes",
        ATTACKS + "linkage:Linkage.sensitivity",
        "2 * self.tables",
        "2",
        "somebody who is in two tables is said to be in one",
        laws.nobody_changes_a_query_by_more_than_is_declared,
    ),
    Mutant(
        "tables-not-joined",
        ATTACKS + "linkage:Linkage.guess",
        ".prod(axis=0)",
        "[0]",
        "the second table is not looked at",
        revealing_linkage,
    ),
    Mutant(
        "others-counted-with-the-patient",
        ATTACKS + "patient:PatientAverage.guess",
        "(n - 1) * seen[1]",
        "n * seen[1]",
        "the attack on averages forgets that the others are one fewer",
        revealing_patients,
    ),
    Mutant(
        "bits-compared-without-rounding",
        ATTACKS + "float_bits:FloatBits.possible",
        "np.arange(-NEAR, NEAR + 1)",
        "np.arange(1)",
        "outputs are called impossible for the count that they came from",
        laws.every_textbook_output_is_possible_for_its_own_count,
    ),
    Mutant(
        "grid-taken-for-doubles",
        ATTACKS + "float_bits:FloatBits.possible",
        "if self.step and fmod(seen, self.step) == 0:",
        "if self.step < 0:",
        "noise on a grid is said to reveal",
        laws.outputs_on_a_grid_are_possible_for_both_counts,
    ),
    Mutant(
        "textbook-noise-for-ours",
        ATTACKS + "float_bits:run",
        "private(lambda count: count, noise, ",
        "private(lambda count: count, textbook.textbook, ",
        "what is attacked as noise on a grid is noise in doubles",
        within_float_bits,
    ),
    Mutant(
        "line-drawn-at-the-bar",
        ATTACKS + "picture:_blocks",
        "cells * bar.permitted",
        "cells * bar.rate",
        "the drawing in a terminal shows every attack at its bound",
        laws.a_drawing_shows_success_and_what_is_permitted,
    ),
    Mutant(
        "others-accused-for-us",
        ATTACKS + "report:AttackReport.broken",
        "score.ours and score.exceeds",
        "score.exceeds and not score.ours",
        "a broken promise of ours is not told",
        laws.a_report_names_what_is_above_its_promise,
    ),
    Mutant(
        "bound-drawn-at-the-bar",
        ATTACKS + "picture:_row",
        "_at(bar.permitted, left)",
        "_at(bar.rate, left)",
        "the picture shows every attack at its bound",
        laws.a_picture_shows_success_interval_and_what_is_permitted,
    ),
)
