"""Bugs in what follows from stored answers: whose they are, of which data, which groups are summed, and what is said of limits."""

from tests.curator import test_derived_doors as doors
from tests.mutants import Mutant

DERIVED = "discreet.plan.derived."
DERIVING = "discreet.curator.deriving:Deriving."

MUTANTS = (
    Mutant(
        "people-of-groups-summed",
        DERIVED + "statistics:TakenOver.told",
        "not summable(plan.measurements[place].made, plan.terms)",
        "False",
        "somebody in two groups is two people in their sum",
        doors.nothing_follows_over_people_or_from_hidden_numbers,
    ),
    Mutant(
        "cut-groups-summed-in-silence",
        DERIVED + "limits:_over_groups",
        "any(kind != CapRows.__name__ for kind, _ in caps)",
        "False",
        "a sum over groups, in only some of which anybody counts, is told as if it were of all",
        doors.cut_groups_are_never_summed_in_silence,
    ),
    Mutant(
        "cut-rows-summed-in-silence",
        DERIVED + "limits:differences",
        "(cells.merged and own)",
        "False",
        "rows that were limited in each group are told as if they were limited in their sum",
        doors.sums_add_up,
    ),
    Mutant(
        "answers-of-an-older-version",
        DERIVING + "_kept_answers",
        "act.version != self.policy.version",
        "False",
        "what was answered of older data is told of these",
        doors.other_data_have_other_answers,
    ),
    Mutant(
        "answers-of-another-file",
        DERIVING + "_planned_again",
        "or self._name_of(plan, asked)[1] != act.question",
        "",
        "what was answered of one file is told of another",
        doors.other_data_have_other_answers,
    ),
    Mutant(
        "answers-of-anybody",
        DERIVING + "_kept_answers",
        "store.charges(asked.analyst, MOST_SOURCES):",
        "[each for who in (None, *store.analysts()) for each in store.charges(who, MOST_SOURCES)]:\n"
        "        asked = replace(asked, analyst=row.analyst)",
        "an analyst is told what others asked, and paid for",
        doors.others_see_nothing,
    ),
    Mutant(
        "a-condition-on-no-key-left-out",
        DERIVED + "cells:cells_of",
        "None if undecided else _sorted_into",
        "_sorted_into",
        "a sum is of rows that were not asked about",
        doors.nothing_follows_over_people_or_from_hidden_numbers,
    ),
    Mutant(
        "undeclared-rows-forgotten",
        DERIVED + "cells:_confined",
        "any(",
        "True or any(",
        "rows of no group are missing in the sum of all groups, and nobody is told",
        doors.undeclared_keys_are_said,
    ),
    Mutant(
        "half-a-month-taken-for-a-month",
        DERIVED + "deciding:_on_all",
        "any(evaluate(scalar, {DAY: day}) != first for day in others)",
        "False",
        "what is true of the first day of a month is taken for true of all of them",
        doors.nothing_follows_over_people_or_from_hidden_numbers,
    ),
    Mutant(
        "a-sum-shifted-once",
        "discreet.plan.releases.total:Shifted.read_back",
        "_steps(value, each * n, step, whole)",
        "_steps(value, each, step, whole)",
        "a sum beside its mean is read as if it had one row",
        doors.sums_add_up,
    ),
    Mutant(
        "a-subtotal-for-a-group",
        DERIVED + "kept:_groups",
        "(question.levels and any(None in group for group in known))",
        "False",
        "the total of all groups is taken for that of the group without a key",
        doors.a_missing_key_is_no_subtotal,
    ),
    Mutant(
        "the-first-group-for-all",
        DERIVED + "following:_summed",
        "sum(told[cell] for cell in each)",
        "told[each[0]]",
        "one group is told for the sum of several",
        doors.sums_add_up,
    ),
    Mutant(
        "noise-of-one-group",
        "discreet.plan.levels:_by_cells",
        "tuple(replace(each, cells=cells) for each in stage.measurements)",
        "stage.measurements",
        "the ± of one group is told of a sum of several",
        doors.intervals_of_sums_cover,
    ),
    Mutant(
        "computed-of-a-mean",
        DERIVED + "shown:stands_alone",
        "not any(aggregate in released_in(each) for each in computed)",
        "True",
        "a number is computed of what is told again, and has no ±",
        doors.nothing_follows_over_people_or_from_hidden_numbers,
    ),
    Mutant(
        "another-statistic-within-a-bound",
        "discreet.answer.free:Free.meets",
        "if self.differs:",
        "if False:",
        "what the question would not have estimated is handed out in its place",
        doors.test_what_differs_is_said_and_not_taken_instead,
    ),
    Mutant(
        "the-farthest-is-taken",
        DERIVING + "_free",
        "min(found",
        "max(found",
        "of two answers the one with more noise is told",
        doors.the_nearest_is_taken,
    ),
)
