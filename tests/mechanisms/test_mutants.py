"""Every planted bug of the mechanisms makes the law named here fail; without the bug the same law holds."""

from collections.abc import Callable
from fractions import Fraction as F
from itertools import product
from typing import Any

import pytest

from discreet.mechanisms import (
    CoinToss,
    Exponential,
    Laplace,
    PermuteAndFlip,
    RandomizedResponse,
    SignedResponse,
    registry,
)
from discreet.mechanisms.vector import choose
from discreet.privacy import loss
from tests.mechanisms import contract, test_additive, test_measure
from tests.mechanisms import test_above_threshold as above
from tests.mechanisms import test_bernoulli_mean as bits
from tests.mechanisms import test_exponential as exponential
from tests.mechanisms import test_keys as keys
from tests.mechanisms import test_noisy_max as noisy_max
from tests.mechanisms import test_quantile as quantile
from tests.mechanisms import test_randomized_response as rr
from tests.mechanisms import test_sensitivity as se
from tests.mechanisms import test_small_epsilon as small
from tests.mechanisms import test_unsafe as un
from tests.mutants import Mutant, of_part

Law = Callable[[], object]


def example(name: str, i: int, law: Callable[..., object], *more: int) -> Law:
    return lambda: law(registry.examples(name)[i], *more)


def cost(name: str, i: int) -> Law:
    return lambda: rr.cost_is_that_of_its_own_probabilities(registry.examples(name)[i])


def case(test: Callable[..., object], i: int) -> Law:
    """The i-th of all combinations of a test's parameters."""
    axes = [mark.args for mark in getattr(test, "pytestmark", []) if mark.name == "parametrize"]
    choices = [[_named(names, value) for value in values] for names, values in axes]
    chosen = list(product(*choices))[i]
    return lambda: test(**{name: value for part in chosen for name, value in part.items()})


def _named(names: str | tuple[str, ...], value: Any) -> dict[str, Any]:
    return {names: value} if isinstance(names, str) else dict(zip(names, value, strict=True))


def chosen_noise_is_certified() -> None:
    choice = choose(1, F(1, 10**6), l1=100, l2=10, size=100)
    assert loss(choice.mechanism.event(10, 100)).certifies(1, F(1, 10**6))


CAUGHT_BY: dict[str, Law] = {
    "half-the-noise": example("Geometric", 0, contract.drawn_as_it_says, 20_000, 1),
    "gaussian-of-half-the-scale": example("DiscreteGaussian", 0, contract.drawn_as_it_says, 20_000, 1),
    "half-the-sensitivity": example("Geometric", 1, contract.cost_is_that_of_its_own_probabilities),
    "rounding-forgotten": test_additive.test_rounding_is_part_of_the_sensitivity,
    "rounding-of-one-coordinate": test_additive.test_gaussian_vectors_are_priced_by_their_norm_and_rounding,
    "one-noise-for-all": example("Geometric", 0, contract.drawn_as_it_says, 20_000, 1),
    "noise-in-floats": example("Laplace", 0, contract.outputs_lie_on_the_grid, 2_000, 4),
    "least-noise-not-certified": lambda: small.test_a_promised_epsilon_is_kept_or_refused("Laplace", F(1, 1 << 40)),
    "least-noise-without-rounding": lambda: test_additive.test_noise_for_an_epsilon_meets_it_and_is_least(
        Laplace, F(1)
    ),
    "error-of-one-side": example("Laplace", 0, contract.error_covers, 5_000, 2),
    "granted-twice": test_measure.test_the_second_draw_of_one_grant_is_a_fault,
    "more-sensitivity-than-granted": lambda: test_measure.test_a_draw_beyond_the_grant_is_a_fault_and_sees_nothing(
        test_measure.NOISE, 2
    ),
    "looked-before-granted": test_measure.test_the_second_draw_of_one_grant_is_a_fault,
    "grant-never-ends": test_measure.test_a_grant_ends_with_its_block,
    "one-noise-twice": test_measure.prepared_noise_serves_once,
    "grant-of-another-process": test_measure.a_forked_child_draws_nothing,
    "grant-copied": lambda: test_measure.test_a_grant_cannot_be_copied("deepcopy"),
    "sampled-at-any-rate": test_measure.sampled_beyond_is_a_fault,
    "batch-of-all": test_measure.batches_are_of_their_rate,
    "one-batch-for-all": test_measure.batches_are_of_their_rate,
    "block-given-again": test_measure.blocks_are_taken_once,
    "lost-draw-drawn-again": test_measure.test_a_draw_that_was_begun_and_has_no_value_is_used,
    "entered-twice": test_measure.test_a_key_names_one_measurement,
    "norms-mixed-up": chosen_noise_is_certified,
    "toss-truer": rr.test_the_coin_toss_costs_ln_3_exactly,
    "odds-of-two": lambda: rr.drawn_as_it_says(RandomizedResponse(F(3, 2), 5), 2, 30_000),
    "others-counted-once": lambda: rr.drawn_as_it_says(RandomizedResponse(F(3, 2), 5), 2, 30_000),
    "response-charged-half": cost("RandomizedResponse", 0),
    "answers-charged-once": cost("CoinToss", 1),
    "signs-swapped": lambda: rr.estimates_the_sum(SignedResponse(F(1, 4)), 2),
    "zero-taken-for-a-sign": lambda: rr.test_what_is_no_sign_is_refused([1, 0]),
    "loss-taken-for-two-eta": lambda: rr.test_responses_for_an_epsilon_meet_it_and_are_the_truest(F(1, 2)),
    "lie-rounded-down": lambda: rr.test_responses_for_an_epsilon_meet_it_and_are_the_truest(3),
    "coin-toss-for-one-answer": rr.test_the_coin_toss_is_given_where_it_fits_only,
    "sum-not-centred": lambda: rr.estimates_the_sum(SignedResponse(F(1, 4)), 2),
    "variance-of-fair-coins": lambda: rr.estimates_the_sum(SignedResponse(F(1, 4)), 2),
    "share-not-corrected": lambda: rr.estimates_the_shares(CoinToss(), [1, 1, 0, 1]),
    "variance-of-the-truth-alone": rr.test_the_variance_stated_is_that_at_the_estimated_share,
    "one-tail": lambda: rr.test_errors_cover_whatever_the_data_are(0.75, 0.25, F(19, 20)),
    "steps-of-a-count-forgotten": lambda: rr.test_errors_cover_whatever_the_data_are(0.51, 0.49, F(19, 20)),
    "dropped-rows-forgotten": se.test_the_difference_of_bounds_needs_that_every_row_surely_contributes,
    "replaced-as-removed": lambda: se.grouped_sums_are(se.REPLACE, 0, 1, 1, 2, 4),
    "stays-forgotten": lambda: se.grouped_sums_are(se.REPLACE, -1, 1, 1, 1, 2),
    "negative-bound-forgotten": lambda: se.sums_are(se.ADD_REMOVE, -3, 1, 1),
    "rows-of-a-person-forgotten": lambda: se.grouped_sums_are(se.ADD_REMOVE, 0, 1, 2, 2, 4),
    "squares-of-rows-forgotten": lambda: se.test_statistical_queries(se.REPLACE),
    "others-at-the-middle": lambda: se.means_are(se.ADD_REMOVE, 0, 150, 3, 1),
    "replaced-as-added": lambda: se.means_are(se.REPLACE, 0, 150, 3, 1),
    "mean-not-total": lambda: se.means_are(se.REPLACE, 0, 150, 3, 1),
    "rows-replaced-as-one": un.test_more_rows_cost_more,
    "exposure-of-one": un.test_somebody_is_exposed_as_often_as_is_said,
    "the-others-named": un.test_rows_come_as_they_are_and_as_often_as_is_said,
    "key-at-threshold": case(keys.test_a_key_is_kept_where_its_noisy_count_is_above_the_threshold, 5),
    "empty-group-kept": case(keys.test_a_count_of_zero_is_never_kept, 1),
    "hidden-counts-shown": case(keys.test_a_key_is_kept_where_its_noisy_count_is_above_the_threshold, 5),
    "keys-of-one-group": case(keys.test_gaussian_thresholds_cost_no_more_than_the_noise_and_the_keys, 1),
    "threshold-tail-late": case(keys.test_reaching_the_threshold_is_not_passing_it, 0),
    "keys-noise-of-one-group": case(keys.test_a_person_who_is_replaced_is_in_twice_as_many_groups, 0),
    "keys-not-charged": case(keys.test_a_budget_is_met_by_the_lowest_threshold, 0),
    "keys-budget-of-one-group": case(keys.test_a_budget_is_met_by_the_lowest_threshold, 5),
    "any-of-rounded-inward": case(keys.test_any_of_many_and_the_share_of_each, 0),
    "share-rounded-up": case(keys.test_a_budget_is_met_by_the_lowest_threshold, 5),
    "optimal-delta-twice": case(keys.test_errors_cover_the_noise, 9),
    "optimal-epsilon-twice": case(keys.test_bounds_hold_the_probability_of_the_optimal_rule, 3),
    "optimal-key-early": case(keys.test_a_count_of_zero_is_never_kept, 2),
    "optimal-delta-not-shared": case(keys.test_a_budget_is_met_by_the_lowest_threshold, 5),
    "optimal-epsilon-not-shared": case(keys.test_a_budget_is_met_by_the_lowest_threshold, 5),
    "optimal-one-group-charged": case(keys.test_a_person_who_is_replaced_is_in_twice_as_many_groups, 2),
    "tie-not-centred": case(bits.test_releases_have_uniform_p_values, 0),
    "tulap-in-steps": case(bits.test_noise_lies_below_as_often_as_it_should, 2),
    "limits-swapped": case(bits.test_limits_are_where_tests_turn, 0),
    "sampling-forgotten": case(bits.test_no_private_test_is_more_powerful, 0),
    "two-sides-for-one": case(bits.test_tests_have_exactly_their_size, 11),
    "interval-of-one-side": case(bits.test_limits_are_where_tests_turn, 0),
    "shrunk-everywhere": case(bits.test_estimates_grow_and_are_the_same_from_both_ends, 0),
    "privacy-over-n": case(bits.test_clamping_alone_would_be_half_and_no_better, 0),
    "lower-bound-too-high": case(bits.test_the_lower_bound_is_below_the_best_of_all_estimators_of_one_bit, 0),
    "any-number-of-bits": case(bits.test_what_is_not_so_many_bits_is_refused, 0),
    "ones-of-any-size": case(bits.test_what_is_not_so_many_bits_is_refused, 0),
    "selection-not-halved": lambda: exponential.epsilon_is_kept(Exponential, exponential.shares_of, False),
    "wheel-band-forgotten": lambda: exponential.words_fall_on_exact_shares([3, 5, 4, 0]),
    "wheel-digits-forgotten": lambda: exponential.words_fall_on_exact_shares([3, 5, 4, 0]),
    "groups-by-their-size": exponential.groups_are_chosen_by_their_sums,
    "group-forgotten": exponential.groups_are_chosen_by_their_sums,
    "weight-tables-off": lambda: exponential.test_weights_are_near("1/1000"),
    "weights-cut-off-early": lambda: exponential.test_weights_are_near("1/1000"),
    "flip-tie-is-heads": exponential.coins_have_their_chance,
    "flip-without-permutation": lambda: exponential.drawn_as_they_say(PermuteAndFlip, 20000),
    "bounded-range-halved": exponential.test_cost_follows_from_the_parameters,
    "noisy-max-half-noise": lambda: noisy_max.epsilon_is_kept(F(10), 1, False, count=2),
    "noisy-max-ties-to-the-first": lambda: noisy_max.drawn_as_they_say(20000),
    "noisy-max-ties-to-the-larger": lambda: noisy_max.epsilon_is_kept(F(10), 1, False, count=2),
    "noisy-max-one-noise": lambda: noisy_max.drawn_as_they_say(20000),
    "noisy-max-sensitivity-fractional": noisy_max.test_cost_follows_from_the_parameters,
    "sparse-vector-without-query-noise": lambda: above.runs_as_the_textbook_says("session"),
    "sparse-vector-same-noise": lambda: above.runs_as_the_textbook_says("session"),
    "threshold-not-redrawn": lambda: above.runs_as_the_textbook_says("session"),
    "hits-not-counted": lambda: above.runs_as_the_textbook_says("session"),
    "sparse-vector-noiseless-threshold": lambda: above.runs_as_the_textbook_says("session"),
    "sparse-vector-query-noise-halved": lambda: above.runs_as_the_textbook_says("session"),
    "sparse-vector-batch-shares-a-threshold": lambda: above.runs_as_the_textbook_says("batch"),
    "sparse-vector-batch-goes-on": lambda: above.runs_as_the_textbook_says("batch"),
    "hits-at-one-price": above.test_cost_follows_from_the_parameters,
    "quantile-rows-of-a-unit-forgotten": quantile.test_a_unit_of_two_rows_keeps_epsilon,
    "quantile-sensitivity-the-smaller": lambda: quantile.test_one_quantile_keeps_epsilon(F(1, 10), F(4)),
    "quantile-level-unpaid": quantile.several_keep_epsilon,
    "quantile-rows-on-both-sides": quantile.cuts_are_stable,
    "quantile-cut-follows-the-data": quantile.cuts_are_stable,
    "quantile-ranks-below-only": quantile.test_the_utility_is_the_distance_by_definition,
    "interval-without-margin": quantile.intervals_cover_few_rows,
    "interval-places-beside-forgotten": quantile.intervals_cover_few_rows,
}


def test_every_planted_bug_has_its_law() -> None:
    assert {mutant.name for mutant in of_part("mechanisms")} == set(CAUGHT_BY)
    assert len(CAUGHT_BY) >= 15


@pytest.mark.parametrize("mutant", of_part("mechanisms"), ids=lambda mutant: mutant.name)
def test_the_planted_bug_is_caught(mutant: Mutant) -> None:
    law = CAUGHT_BY[mutant.name]
    law()
    with mutant.planted(), pytest.raises((AssertionError, pytest.fail.Exception)):
        law()
    law()
