"""Planted bugs of a rehearsal: what it leaves behind, what it says of the data, what it proposes, and to whom it is shown."""

from tests.cli import test_rehearse as command
from tests.curator import test_rehearse as rehearse
from tests.mutants import Mutant, by_itself

REHEARSAL = "discreet.curator.rehearsal."
COLUMNS = REHEARSAL + "columns:"
LADDER = REHEARSAL + "ladder:"
LOSSES = REHEARSAL + "losses:"
OWNER = "discreet.curator.owner:"
PEOPLE = REHEARSAL + "people:"

MUTANTS = (
    Mutant(
        "rehearsal-charged",
        OWNER + "Owner.rehearse",
        "self.load()",
        'self.load(), self.sql("SELECT COUNT(*) AS n FROM visits", epsilon=Fraction(1, 10))',
        "who looks at the data of their own pays for it, and an answer is kept",
        by_itself(rehearse.test_a_rehearsal_charges_nothing_keeps_nothing_and_leaves_every_byte_of_a_ledger),
    ),
    Mutant(
        "rehearsal-makes-a-ledger",
        OWNER + "Owner.rehearse",
        "self.load()",
        "self.load(), self.remaining",
        "a budget begins by looking, and who is protected is fixed by it",
        by_itself(rehearse.test_a_rehearsal_makes_no_ledger),
    ),
    Mutant(
        "proposal-rounded-inward",
        LADDER + "bounds_for",
        "max(lows, default=ladder[0])",
        "min(set(ladder) - set(lows), default=ladder[0])",
        "a proposal cuts off more than it says, and is nearer to the data",
        by_itself(rehearse.test_proposed_bounds_are_round_and_hold_all_but_one_value_in_two_hundred_at_each_end),
    ),
    Mutant(
        "limit-rounded-down",
        LADDER + "limit_for",
        "while rung < most:",
        "while rung * 5 // 4 < most:",
        "a proposed limit cuts people that it is said to hold",
        rehearse.test_proposed_limits_are_on_the_ladder_and_not_below_what_they_are_for,
    ),
    Mutant(
        "rehearsed-without-limits",
        LOSSES + "_numbers",
        "limited = counting.engine.run(plan.query, salt)",
        "limited = counting.engine.run(unlimited(plan.query), salt)",
        "limits are said to take nothing away",
        rehearse.test_limits_take_away_what_plain_python_says,
    ),
    Mutant(
        "rehearsed-without-noise",
        LOSSES + "_numbers",
        "Answer.make(plan, released,",
        "Answer.make(plan, exact_totals(plan, limited),",
        "the private draw is no draw, and the owner trusts it",
        rehearse.test_a_draw_has_the_noise_that_a_question_of_its_price_would_have,
    ),
    Mutant(
        "exact-of-people-alone",
        LOSSES + "unlimited",
        "Totals(all_of_each.source, all_of_each.keys, all_of_each.terms)",
        "Totals(all_of_each)",
        "rows of nobody are missing from the exact number, and nothing says so",
        rehearse.test_exact_numbers_and_what_clamping_takes_are_those_of_plain_python,
    ),
    Mutant(
        "clamped-from-below-unseen",
        REHEARSAL + "excess:_beyond",
        "outside - below * low - above * high",
        "outside - above * high",
        "what a lower bound takes away is wrong wherever it is not 0",
        rehearse.test_exact_numbers_and_what_clamping_takes_are_those_of_plain_python,
    ),
    Mutant(
        "rows-beyond-the-limit-kept",
        PEOPLE + "_profile",
        "min(rows, caps.rows)",
        "rows",
        "a limit is said to leave nothing out",
        rehearse.test_rows_and_groups_of_people_and_what_limits_leave_out_are_those_of_plain_python,
    ),
    Mutant(
        "nobody-counted-as-somebody",
        PEOPLE + "people_of",
        "counts.pop((None,), 0)",
        "counts.get((None,), 0)",
        "rows without a person are those of one who has very many",
        rehearse.test_rows_and_groups_of_people_and_what_limits_leave_out_are_those_of_plain_python,
    ),
    Mutant(
        "lost-is-missing",
        COLUMNS + "ColumnProfile.missing",
        " - self.lost",
        "",
        "cells that cannot be read are said to be empty",
        rehearse.test_values_of_a_column_are_counted_as_plain_python_counts_them,
    ),
    Mutant(
        "above-counted-as-below",
        COLUMNS + "profile_of",
        "above[-1] if bounded",
        "below[-1] if bounded",
        "an owner widens the wrong bound",
        rehearse.test_values_of_a_column_are_counted_as_plain_python_counts_them,
    ),
    Mutant(
        "groups-mixed-up",
        REHEARSAL + "counting:Counting.totals",
        "enumerate(sums.keys)",
        "enumerate(reversed(sums.keys))",
        "what one person has is told of another",
        rehearse.test_rows_and_groups_of_people_and_what_limits_leave_out_are_those_of_plain_python,
    ),
    Mutant(
        "nothing-was-lost",
        REHEARSAL + "look:_table",
        "counting.engine.lost)",
        "())",
        "an owner is not told that half of a column cannot be read",
        rehearse.test_a_rehearsal_is_made_of_its_parts,
    ),
    Mutant(
        "called-private",
        REHEARSAL + "record:Rehearsal.as_data",
        '"private": False',
        '"private": True',
        "a program publishes exact numbers as private ones",
        rehearse.test_every_line_says_that_it_must_not_be_published_and_the_data_say_it_first,
    ),
    Mutant(
        "lines-without-a-mark",
        REHEARSAL + "record:Rehearsal.lines",
        "text.marked(line)",
        "line",
        "a line that is copied out of it does not say what it is",
        rehearse.test_every_line_says_that_it_must_not_be_published_and_the_data_say_it_first,
    ),
    Mutant(
        "fewer-numbers-proposed",
        REHEARSAL + "spelling:_signs",
        "if then > now:",
        "if then < now:",
        "a decimal comma is not noticed",
        by_itself(rehearse.test_signs_that_read_more_numbers_are_named, ",", "", ("1,5", "2,25", "30")),
    ),
    Mutant(
        "no-question-with-a-filter",
        REHEARSAL + "standard:questions_of",
        "*filtered, ",
        "",
        "nobody rehearses what a filter does",
        rehearse.test_ten_questions_are_asked_with_some_of_each_kind,
    ),
    Mutant(
        "rehearsed-into-a-file",
        "discreet.cli.rehearse:check_alone",
        "if not terminal and not yes:",
        "if False:",
        "exact numbers are piped into a report by accident",
        command.test_who_may_look,
    ),
    Mutant(
        "rehearsed-for-an-analyst",
        "discreet.cli.rehearse:check_alone",
        "if analyst is not None:",
        "if analyst:",
        "an analyst without a name looks at the data",
        command.test_who_may_look,
    ),
)
