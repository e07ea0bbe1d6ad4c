"""Every planted bug of the planner makes the law named here fail; without the bug the same law holds (test_plan.py)."""

from collections.abc import Callable

import pytest

from discreet.errors import Fault
from tests.mutants import Mutant, of_part
from tests.plan import laws, test_combination, test_stages

CAUGHT_BY: dict[str, Callable[[], object]] = {
    "clamp-on-the-column": laws.answers_are_right,
    "bound-survives-redefinition": laws.differences_are_right,
    "divisor-may-be-zero": laws.missing_declarations_are_refused,
    "no-clamp": laws.no_neighbour_moves_more,
    "filter-of-a-sum-dropped": laws.answers_are_right,
    "null-is-counted": laws.answers_are_right,
    "mean-without-its-middle": laws.answers_are_right,
    "half-of-what-a-person-changes": laws.no_neighbour_moves_more,
    "cap-on-rows-forgotten": laws.no_neighbour_moves_more,
    "cap-on-groups-forgotten": laws.no_neighbour_moves_more,
    "rows-not-capped": laws.no_neighbour_moves_more,
    "filtered-row-is-surely-there": laws.no_neighbour_moves_more,
    "null-is-within-bounds": laws.no_neighbour_moves_more,
    "centre-not-in-the-bounds": laws.no_neighbour_moves_more,
    "middle-not-in-the-combination": laws.far_sums_are_close,
    "rounding-not-in-the-sensitivity": test_combination.nobody_moves_more,
    "rounding-of-one-group-only": test_combination.rounding_moves_every_group,
    "no-sum-below-0-without-a-count": test_combination.someone_without_a_count_has_a_sum_below_0,
    "any-count-is-the-count": test_combination.other_counts_are_taken_for_what_they_are,
    "replaced-norm-counts-once": laws.no_neighbour_moves_more,
    "each-gets-the-whole-budget": laws.prices_add_up,
    "each-gets-the-whole-gaussian-budget": laws.gaussian_noise_is_split,
    "delta-not-charged": laws.many_groups_take_gaussian_noise,
    "plan-price-not-checked": laws.false_plans_are_found,
    "event-not-checked": laws.false_plans_are_found,
    "sensitivity-not-checked": laws.false_plans_are_found,
    "first-outcome-checked-only": test_stages.every_outcome_is_checked,
    "scores-not-checked": test_stages.scores_are_checked,
    "dearest-outcome-not-charged": test_stages.what_is_chosen_does_not_change_the_price,
    "chosen-by-exact-scores": test_stages.stages_run_in_order,
    "totals-without-noise": laws.false_plans_are_found,
    "l2-for-geometric-noise": laws.no_neighbour_moves_more,
    "hidden-group-takes-a-place": laws.groups_are_those_declared,
    "groups-from-the-data": laws.groups_are_those_declared,
    "data-before-noise": laws.noise_is_of_its_own,
    "same-noise-for-all-groups": laws.noise_is_of_its_own,
    "within-of-the-first-column": laws.least_price_is_least,
    "name-without-the-price": laws.plans_have_names_of_their_own,
    "keys-from-nowhere": laws.missing_declarations_are_refused,
    "gaussian-never-chosen": laws.many_groups_take_gaussian_noise,
}


def test_every_bug_has_a_law() -> None:
    assert {mutant.name for mutant in of_part("plan")} == set(CAUGHT_BY)


@pytest.mark.parametrize("mutant", of_part("plan"), ids=lambda mutant: mutant.name)
def test_every_planted_bug_is_caught(mutant: Mutant) -> None:
    with mutant.planted(), pytest.raises((AssertionError, Fault, IndexError, TypeError, pytest.fail.Exception)):
        CAUGHT_BY[mutant.name]()
