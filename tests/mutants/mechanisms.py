"""Planted bugs of `discreet.mechanisms`."""

from collections.abc import Callable
from fractions import Fraction as F
from itertools import product
from typing import Any

import pytest

from discreet.errors import Invalid
from discreet.mechanisms import (
    CoinToss,
    Exponential,
    Laplace,
    NoisyMax,
    PermuteAndFlip,
    RandomizedResponse,
    SignedResponse,
    registry,
)
from discreet.mechanisms.keys import GaussianThreshold, LaplaceThreshold
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
from tests.mutants import Law, Mutant, by_itself

ABOVE_THRESHOLD = "discreet.mechanisms.above_threshold:"
ADDITIVE = "discreet.mechanisms.additive:"
ALLOWANCE = "discreet.mechanisms.allowance:"
BERNOULLI_MEAN = "discreet.mechanisms.bernoulli_mean:"
CHANCE = "discreet.mechanisms.keys.chance:"
EXPONENTIAL = "discreet.mechanisms.exponential:"
FALLS = "discreet.mechanisms.falls:"
GAUSSIAN = "discreet.mechanisms.gaussian:"
GEOMETRIC = "discreet.mechanisms.geometric:"
INFERENCE = "discreet.mechanisms.inference:"
LAPLACE = "discreet.mechanisms.laplace:"
MEASURE = "discreet.mechanisms.measure:"
NOISY_MAX = "discreet.mechanisms.noisy_max:"
OPTIMAL = "discreet.mechanisms.keys.optimal:"
PERMUTE_AND_FLIP = "discreet.mechanisms.permute_and_flip:"
QUANTILE = "discreet.mechanisms.quantile:"
RANDOMIZED_RESPONSE = "discreet.mechanisms.randomized_response:"
RECORD = "discreet.mechanisms.record:"
SELECTION = "discreet.mechanisms.selection:"
SENSITIVITY = "discreet.mechanisms.sensitivity:"
THRESHOLD = "discreet.mechanisms.keys.threshold:"
UNSAFE = "discreet.mechanisms.unsafe:"
VECTOR = "discreet.mechanisms.vector:"
WHEEL = "discreet.mechanisms.wheel:"


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


def patched(law: Callable[..., object], *arguments: Any) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        law(*arguments, monkeypatch)


def chosen_noise_is_certified() -> None:
    choice = choose(1, F(1, 10**6), l1=100, l2=10, size=100)
    assert loss(choice.mechanism.event(10, 100)).certifies(1, F(1, 10**6))


def keys_are_selected_by_people() -> None:
    for rule in (LaplaceThreshold.for_budget(1, 1e-6), GaussianThreshold.for_budget(1, 1e-6)):
        with pytest.raises(Invalid):
            rule.event(2)


def large_scores_are_exact_or_refused() -> None:
    """Scores whose difference no int64 holds are told apart as they are, or refused."""
    scores = [2**62 + 2**61, 0]
    with pytest.raises(Invalid):
        NoisyMax(1)(scores)
    assert {Exponential(1)(scores) for _ in range(50)} == {0}


MUTANTS = (
    Mutant(
        "half-the-noise",
        GEOMETRIC + "Geometric._noise",
        "discrete_laplace(self.scale,",
        "discrete_laplace(self.scale / 2,",
        "half of the noise that is charged for is drawn",
        example("Geometric", 0, contract.drawn_as_it_says, 20_000, 1),
    ),
    Mutant(
        "gaussian-of-half-the-scale",
        GAUSSIAN + "DiscreteGaussian._noise",
        "discrete_gaussian(self.scale,",
        "discrete_gaussian(self.scale / 2,",
        "half of the noise that is charged for is drawn",
        example("DiscreteGaussian", 0, contract.drawn_as_it_says, 20_000, 1),
    ),
    Mutant(
        "half-the-sensitivity",
        GEOMETRIC + "Geometric.event",
        "integer_sensitivity(sensitivity)",
        "integer_sensitivity(sensitivity) // 2",
        "half of the sensitivity is charged",
        example("Geometric", 1, contract.cost_is_that_of_its_own_probabilities),
    ),
    Mutant(
        "rounding-forgotten",
        ADDITIVE + "steps_up",
        'ceil(exact / grid.step) + whole(size, "size", least=1)',
        "ceil(exact / grid.step)",
        "rounding to the grid moves neighbours farther apart than is charged",
        test_additive.test_rounding_is_part_of_the_sensitivity,
    ),
    Mutant(
        "rounding-of-one-coordinate",
        GAUSSIAN + "Gaussian.event",
        "sqrt_up(Fraction(count))",
        "1",
        "of a vector the rounding of one coordinate is charged",
        test_additive.test_gaussian_vectors_are_priced_by_their_norm_and_rounding,
    ),
    Mutant(
        "one-noise-for-all",
        ADDITIVE + "IntegerNoise.__call__",
        "self._noise(values.shape, source)",
        "self._noise(None, source)",
        "all coordinates get the same noise, and their differences are exact",
        example("Geometric", 0, contract.drawn_as_it_says, 20_000, 1),
    ),
    Mutant(
        "noise-in-floats",
        ADDITIVE + "GridNoise.__call__",
        "return self.grid.to_float(steps + self._noise(steps.shape, source))",
        "return as_array(exact) + self.grid.to_float(self._noise(steps.shape, source))",
        "noise is added to the float itself, whose low bits come through",
        example("Laplace", 0, contract.outputs_lie_on_the_grid, 2_000, 4),
    ),
    Mutant(
        "least-noise-without-rounding",
        LAPLACE + "Laplace.for_epsilon",
        "_for_rounding(budget))\n    if not noise.loss(sensitivity).certifies(budget, 0):\n",
        "budget)\n    if False:\n",
        "noise for an epsilon costs a little more than it, by the rounding",
        lambda: test_additive.test_noise_for_an_epsilon_meets_it_and_is_least(Laplace, F(1)),
    ),
    Mutant(
        "least-noise-not-certified",
        LAPLACE + "Laplace.for_epsilon",
        "if not noise.loss(sensitivity).certifies(budget, 0):",
        "if False:",
        "an epsilon that rounding alone exceeds is promised",
        lambda: small.test_a_promised_epsilon_is_kept_or_refused("Laplace", F(1, 1 << 40)),
    ),
    Mutant(
        "error-of-one-side",
        LAPLACE + "Laplace.error",
        "-log(1 - confidence_level(confidence))",
        "-log(2 - 2 * confidence_level(confidence))",
        "an error at 95 % covers 90 %",
        example("Laplace", 0, contract.error_covers, 5_000, 2),
    ),
    Mutant(
        "granted-twice",
        ALLOWANCE + "_fewer",
        "count - n",
        "count - 0",
        "what was granted once can be drawn for ever",
        test_measure.test_the_second_draw_of_one_grant_is_a_fault,
    ),
    Mutant(
        "more-sensitivity-than-granted",
        "discreet.privacy.mgf:_same_noise",
        "leaf.sensitivity >= other.sensitivity",
        "leaf.sensitivity <= other.sensitivity",
        "a draw of a larger sensitivity passes",
        lambda: test_measure.test_a_draw_beyond_the_grant_is_a_fault_and_sees_nothing(test_measure.NOISE, 2),
    ),
    Mutant(
        "looked-before-granted",
        MEASURE + "Grant._released",
        "        number, before = course.begin(event)\n",
        "        draw(self._hand.begin(use))\n        number, before = course.begin(event)\n",
        "the exact value is computed before the draw is known to be granted",
        test_measure.test_the_second_draw_of_one_grant_is_a_fault,
    ),
    Mutant(
        "grant-never-ends",
        MEASURE + "Grant.close",
        "self._open = False",
        "self._open = True",
        "a grant can be used after its block",
        test_measure.test_a_grant_ends_with_its_block,
    ),
    Mutant(
        "one-noise-twice",
        MEASURE + "Grant.prepare",
        "noise.pop()",
        "noise[0]",
        "one vector of noise serves twice, and the difference is exact",
        test_measure.prepared_noise_serves_once,
    ),
    Mutant(
        "grant-of-another-process",
        MEASURE + "Grant.alone",
        "self._process != os.getpid()",
        "False",
        "every forked process draws what was charged for once",
        test_measure.a_forked_child_draws_nothing,
    ),
    Mutant(
        "grant-copied",
        MEASURE + "Grant._refuse",
        'raise TypeError("a grant cannot be copied or pickled: each copy would draw what was charged for once")',
        "return self",
        "a grant can be copied",
        lambda: test_measure.test_a_grant_cannot_be_copied("deepcopy"),
    ),
    Mutant(
        "sampled-at-any-rate",
        "discreet.privacy.sampled:SampledCost.covers",
        "self.leaf.rate == other.rate and ",
        "",
        "more of the people are sampled than was paid for",
        test_measure.sampled_beyond_is_a_fault,
    ),
    Mutant(
        "batch-of-all",
        MEASURE + "Grant.sampled",
        "heads(event.rate, count, source=self._source)",
        "np.arange(count)",
        "everybody is in each batch, at the price of a few",
        test_measure.batches_are_of_their_rate,
    ),
    Mutant(
        "one-batch-for-all",
        MEASURE + "Grant.sampled",
        "heads(event.rate, count, source=self._source)",
        "np.arange(count * event.rate.numerator // event.rate.denominator)",
        "the same people are in each batch",
        test_measure.batches_are_of_their_rate,
    ),
    Mutant(
        "block-given-again",
        RECORD + "Counted.__init__",
        "self.taken = len(record.drawn)",
        "self.taken = 0; record._drawn = []",
        "who enters again has the blocks that were taken before",
        test_measure.blocks_are_taken_once,
    ),
    Mutant(
        "lost-draw-drawn-again",
        RECORD + "KeptDraws.__init__",
        "self._before = record.drawn",
        "record._drawn = self._before = [each for each in record.drawn if each.value is not None]",
        "a draw that was begun and not kept is drawn again",
        test_measure.test_a_draw_that_was_begun_and_has_no_value_is_used,
    ),
    Mutant(
        "entered-twice",
        RECORD + "MemoryRecord.__init__",
        "os.getpid(), Lock()",
        "os.getpid(), __import__('threading').RLock()",
        "two draw on one charge at once",
        test_measure.test_a_key_names_one_measurement,
    ),
    Mutant(
        "norms-mixed-up",
        VECTOR + "choose",
        "_gaussian_for(epsilon, delta, second, count)",
        "_gaussian_for(epsilon, delta, second / 2, count)",
        "Gaussian noise for half of the L2 sensitivity is promised",
        chosen_noise_is_certified,
    ),
    Mutant(
        "toss-truer",
        RANDOMIZED_RESPONSE + "CoinToss._chances",
        "Fraction(3, 4)",
        "Fraction(4, 5)",
        "the truth is told four times in five, and costs ln 4",
        rr.test_the_coin_toss_costs_ln_3_exactly,
    ),
    Mutant(
        "odds-of-two",
        RANDOMIZED_RESPONSE + "RandomizedResponse._chances",
        "odds(self.epsilon, self.k)",
        "odds(self.epsilon)",
        "among many answers the truth is told as often as among two",
        lambda: rr.drawn_as_it_says(RandomizedResponse(F(3, 2), 5), 2, 30_000),
    ),
    Mutant(
        "others-counted-once",
        RANDOMIZED_RESPONSE + "RandomizedResponse._chances",
        "others * exp(-e)",
        "exp(-e)",
        "what is said of the probabilities is true of two answers only",
        lambda: rr.drawn_as_it_says(RandomizedResponse(F(3, 2), 5), 2, 30_000),
    ),
    Mutant(
        "response-charged-half",
        RANDOMIZED_RESPONSE + "RandomizedResponse._leaf",
        "(self.epsilon, self.k)",
        "(self.epsilon / 2, self.k)",
        "half of the loss is charged",
        cost("RandomizedResponse", 0),
    ),
    Mutant(
        "answers-charged-once",
        RANDOMIZED_RESPONSE + "Response.event",
        "integer_sensitivity(sensitivity)",
        "min(1, integer_sensitivity(sensitivity))",
        "a unit that gives many answers is charged for one",
        cost("CoinToss", 1),
    ),
    Mutant(
        "signs-swapped",
        RANDOMIZED_RESPONSE + "SignedResponse._codes",
        "(signs + 1) // 2",
        "(1 - signs) // 2",
        "a bit of 1 comes out as 0",
        lambda: rr.estimates_the_sum(SignedResponse(F(1, 4)), 2),
    ),
    Mutant(
        "zero-taken-for-a-sign",
        RANDOMIZED_RESPONSE + "SignedResponse._codes",
        "if not np.all(signs):",
        "if signs is None:",
        "a bit that is neither −1 nor 1 is answered for",
        lambda: rr.test_what_is_no_sign_is_refused([1, 0]),
    ),
    Mutant(
        "loss-taken-for-two-eta",
        RANDOMIZED_RESPONSE + "SignedResponse.for_epsilon",
        '_eta_down(positive(epsilon, "epsilon") / _times(sensitivity))',
        'min(positive(epsilon, "epsilon") / _times(sensitivity) / 2, QUARTER)',
        "eta is ε/2, for which the loss is about 2ε",
        lambda: rr.test_responses_for_an_epsilon_meet_it_and_are_the_truest(F(1, 2)),
    ),
    Mutant(
        "lie-rounded-down",
        RANDOMIZED_RESPONSE + "_eta_down",
        "_digits(lie, ROUND_CEILING)",
        "_digits(lie, ROUND_FLOOR)",
        "eta is a little too large for its epsilon",
        lambda: rr.test_responses_for_an_epsilon_meet_it_and_are_the_truest(3),
    ),
    Mutant(
        "coin-toss-for-one-answer",
        RANDOMIZED_RESPONSE + "CoinToss.for_epsilon",
        "_times(sensitivity) * log_up",
        "log_up",
        "a unit that tosses twice is promised the loss of one toss",
        rr.test_the_coin_toss_is_given_where_it_fits_only,
    ),
    Mutant(
        "sum-not-centred",
        RANDOMIZED_RESPONSE + "SignedResponse.estimate",
        "(total - Fraction(bits, 2)) / self.eta",
        "total / self.eta",
        "the sum is estimated too high by n/2η",
        lambda: rr.estimates_the_sum(SignedResponse(F(1, 4)), 2),
    ),
    Mutant(
        "variance-of-fair-coins",
        RANDOMIZED_RESPONSE + "SignedResponse.estimate",
        "QUARTER - self.eta**2",
        "QUARTER",
        "the variance stated is n/4η²",
        lambda: rr.estimates_the_sum(SignedResponse(F(1, 4)), 2),
    ),
    Mutant(
        "share-not-corrected",
        RANDOMIZED_RESPONSE + "CategoryResponse.frequency",
        "(Fraction(count, people) - chances.other) / chances.gap",
        "Fraction(count, people) + 0 * chances.gap",
        "the share of released answers is taken for that of exact ones",
        lambda: rr.estimates_the_shares(CoinToss(), [1, 1, 0, 1]),
    ),
    Mutant(
        "variance-of-the-truth-alone",
        RANDOMIZED_RESPONSE + "CategoryResponse.frequency",
        "share * told + (1 - share) * other",
        "told + 0 * share * other",
        "rare answers are said to be as uncertain as frequent ones",
        rr.test_the_variance_stated_is_that_at_the_estimated_share,
    ),
    Mutant(
        "one-tail",
        RANDOMIZED_RESPONSE + "deviation",
        "float(miss / 2)",
        "float(miss)",
        "an error at 95 % covers 90 %",
        lambda: rr.test_errors_cover_whatever_the_data_are(0.75, 0.25, F(19, 20)),
    ),
    Mutant(
        "steps-of-a-count-forgotten",
        RANDOMIZED_RESPONSE + "deviation",
        " + skew + 0.5",
        "",
        "the error of a count of few answers covers too little",
        lambda: rr.test_errors_cover_whatever_the_data_are(0.51, 0.49, F(19, 20)),
    ),
    Mutant(
        "dropped-rows-forgotten",
        SENSITIVITY + "bounded_sum",
        "if not surely or ",
        "if ",
        "the difference of the bounds, also where a filter may drop the row",
        se.test_the_difference_of_bounds_needs_that_every_row_surely_contributes,
    ),
    Mutant(
        "replaced-as-removed",
        SENSITIVITY + "grouped_sum",
        "moves = 2 * (k - stays)",
        "moves = k - stays",
        "a unit that is replaced leaves its groups and enters no others",
        lambda: se.grouped_sums_are(se.REPLACE, 0, 1, 1, 2, 4),
    ),
    Mutant(
        "stays-forgotten",
        SENSITIVITY + "grouped_sum",
        "max(k * across**2, stays * across**2 + moves * size**2)",
        "stays * across**2 + moves * size**2",
        "a unit that stays in a group and goes from one bound to the other is forgotten",
        lambda: se.grouped_sums_are(se.REPLACE, -1, 1, 1, 1, 2),
    ),
    Mutant(
        "negative-bound-forgotten",
        SENSITIVITY + "grouped_sum",
        "max(abs(least), abs(most))",
        "abs(most)",
        "a large negative value moves a sum by more than is said",
        lambda: se.sums_are(se.ADD_REMOVE, -3, 1, 1),
    ),
    Mutant(
        "rows-of-a-person-forgotten",
        SENSITIVITY + "grouped_sum",
        "c * max(abs(least), abs(most))",
        "max(abs(least), abs(most))",
        "a person with many rows counts as one row",
        lambda: se.grouped_sums_are(se.ADD_REMOVE, 0, 1, 2, 2, 4),
    ),
    Mutant(
        "squares-of-rows-forgotten",
        SENSITIVITY + "statistical",
        "m * c**2",
        "m * c",
        "Δ₂ grows with the root of a person's rows",
        lambda: se.test_statistical_queries(se.REPLACE),
    ),
    Mutant(
        "others-at-the-middle",
        SENSITIVITY + "mean",
        "Fraction(c, m + c)",
        "Fraction(c, 2 * m)",
        "adding a unit is thought to move a mean from the middle only",
        lambda: se.means_are(se.ADD_REMOVE, 0, 150, 3, 1),
    ),
    Mutant(
        "replaced-as-added",
        SENSITIVITY + "mean",
        "Fraction(min(c, m), m)",
        "Fraction(c, m + c)",
        "replacing a unit is charged like adding one",
        lambda: se.means_are(se.REPLACE, 0, 150, 3, 1),
    ),
    Mutant(
        "mean-not-total",
        SENSITIVITY + "total_mean",
        "max(len(values), m)",
        "max(len(values), 1)",
        "the mean of fewer people than declared moves by more",
        lambda: se.means_are(se.REPLACE, 0, 150, 3, 1),
    ),
    Mutant(
        "rows-replaced-as-one",
        UNSAFE + "RandomRow.event",
        "Fraction(integer_sensitivity(sensitivity), self.rows)",
        "Fraction(1, self.rows)",
        "many rows are charged like one",
        un.test_more_rows_cost_more,
    ),
    Mutant(
        "exposure-of-one",
        UNSAFE + "NameAndShame.exposure",
        "people * _log_of_rest",
        "_log_of_rest",
        "the chance that one person is exposed is told as that of anybody",
        un.test_somebody_is_exposed_as_often_as_is_said,
    ),
    Mutant(
        "the-others-named",
        UNSAFE + "NameAndShame.__call__",
        "bernoulli(self.delta,",
        "bernoulli(1 - self.delta,",
        "all but those that are drawn are named",
        un.test_rows_come_as_they_are_and_as_often_as_is_said,
    ),
    Mutant(
        "key-at-threshold",
        THRESHOLD + "Threshold.__call__",
        "(noisy > self.threshold)",
        "(noisy >= self.threshold)",
        "a key that reaches the threshold is kept: δ is e^(1/scale) times what is charged",
        case(keys.test_a_key_is_kept_where_its_noisy_count_is_above_the_threshold, 5),
    ),
    Mutant(
        "empty-group-kept",
        THRESHOLD + "Threshold.__call__",
        "(counts > 0) & (noisy",
        "(counts >= 0) & (noisy",
        "a key that nobody has is named",
        case(keys.test_a_count_of_zero_is_never_kept, 1),
    ),
    Mutant(
        "hidden-counts-shown",
        THRESHOLD + "Threshold.__call__",
        "np.where(mask, noisy, 0)",
        "noisy",
        "noisy counts of keys that are not kept are released",
        case(keys.test_a_key_is_kept_where_its_noisy_count_is_above_the_threshold, 5),
    ),
    Mutant(
        "keys-of-one-group",
        THRESHOLD + "Threshold.delta_keys",
        "self.groups)[1]",
        "1)[1]",
        "δ of the keys is that of one group",
        case(keys.test_gaussian_thresholds_cost_no_more_than_the_noise_and_the_keys, 1),
    ),
    Mutant(
        "threshold-tail-late",
        THRESHOLD + "Threshold.keeps",
        "self.threshold - n + 1",
        "self.threshold - n + 2",
        "δ is that of a threshold one higher",
        case(keys.test_reaching_the_threshold_is_not_passing_it, 0),
    ),
    Mutant(
        "keys-noise-of-one-group",
        THRESHOLD + "Threshold.event",
        "repeated(self._leaf(), self.groups)",
        "self._leaf()",
        "the noise of one group is charged for all",
        case(keys.test_a_person_who_is_replaced_is_in_twice_as_many_groups, 0),
    ),
    Mutant(
        "keys-not-charged",
        THRESHOLD + "Threshold.event",
        "events.Approximate(Fraction(0), self.delta_keys)",
        "events.Approximate(Fraction(0), Fraction(0))",
        "keys of one person are free",
        case(keys.test_a_budget_is_met_by_the_lowest_threshold, 0),
    ),
    Mutant(
        "keys-budget-of-one-group",
        THRESHOLD + "LaplaceThreshold.for_budget",
        "k / positive",
        "1 / positive",
        "noise for one group, however many the person is in",
        case(keys.test_a_budget_is_met_by_the_lowest_threshold, 5),
    ),
    Mutant(
        "any-of-rounded-inward",
        CHANCE + "any_of",
        "(round_up, round_down)",
        "(round_down, round_up)",
        "δ of many groups is rounded down",
        case(keys.test_any_of_many_and_the_share_of_each, 0),
    ),
    Mutant(
        "share-rounded-up",
        CHANCE + "share",
        "Fraction(low, scale)",
        "Fraction(high, scale)",
        "all groups together take more than δ",
        case(keys.test_a_budget_is_met_by_the_lowest_threshold, 5),
    ),
    Mutant(
        "optimal-delta-twice",
        OPTIMAL + "_rule",
        "int(delta * one), ceil(delta * one)",
        "int(2 * delta * one), ceil(2 * delta * one)",
        "the rule spends twice its δ",
        case(keys.test_errors_cover_the_noise, 9),
    ),
    Mutant(
        "optimal-epsilon-twice",
        OPTIMAL + "_rule",
        "exp_bracket(epsilon, wide)",
        "exp_bracket(2 * epsilon, wide)",
        "the rule spends twice its ε",
        case(keys.test_bounds_hold_the_probability_of_the_optimal_rule, 3),
    ),
    Mutant(
        "optimal-key-early",
        OPTIMAL + "OptimalKeys.__call__",
        "fallen < counts",
        "fallen <= counts",
        "keys are kept as if one person more had them, empty ones too",
        case(keys.test_a_count_of_zero_is_never_kept, 2),
    ),
    Mutant(
        "optimal-delta-not-shared",
        OPTIMAL + "OptimalKeys.for_budget",
        'share(open_probability(delta, "delta"), k)',
        'open_probability(delta, "delta")',
        "each group takes all of δ",
        case(keys.test_a_budget_is_met_by_the_lowest_threshold, 5),
    ),
    Mutant(
        "optimal-epsilon-not-shared",
        OPTIMAL + "OptimalKeys.for_budget",
        'positive(epsilon, "epsilon") / k',
        'positive(epsilon, "epsilon")',
        "each group takes all of ε",
        case(keys.test_a_budget_is_met_by_the_lowest_threshold, 5),
    ),
    Mutant(
        "optimal-one-group-charged",
        OPTIMAL + "OptimalKeys.event",
        "self.groups)",
        "1)",
        "one group is charged for all of them",
        case(keys.test_a_person_who_is_replaced_is_in_twice_as_many_groups, 2),
    ),
    Mutant(
        "tie-not-centred",
        BERNOULLI_MEAN + "BernoulliCount.infer",
        " - Fraction(1, 2)",
        "",
        "the number that breaks ties lies in 0 to 1: tests lose their size",
        case(bits.test_releases_have_uniform_p_values, 0),
    ),
    Mutant(
        "tulap-in-steps",
        INFERENCE + "Tulap.below",
        "(m - np.abs(x) + 0.5)",
        "0.5",
        "tests forget the number that breaks ties",
        case(bits.test_noise_lies_below_as_often_as_it_should, 2),
    ),
    Mutant(
        "limits-swapped",
        INFERENCE + "Inference._above",
        "s - self.at",
        "self.at - s",
        "p-values of the other side",
        case(bits.test_limits_are_where_tests_turn, 0),
    ),
    Mutant(
        "sampling-forgotten",
        INFERENCE + "Inference._above",
        "binomial(self.n, p)",
        "(np.array([self.n * p]), np.ones(1))",
        "intervals cover the noise only",
        case(bits.test_no_private_test_is_more_powerful, 0),
    ),
    Mutant(
        "two-sides-for-one",
        INFERENCE + "Inference.p_value",
        "2 * min(",
        "min(",
        "a two-sided test has twice its size",
        case(bits.test_tests_have_exactly_their_size, 11),
    ),
    Mutant(
        "interval-of-one-side",
        INFERENCE + "Inference.interval",
        "(1 - confidence_level(confidence)) / 2",
        "1 - confidence_level(confidence)",
        "an interval misses p twice as often as it says",
        case(bits.test_limits_are_where_tests_turn, 0),
    ),
    Mutant(
        "shrunk-everywhere",
        BERNOULLI_MEAN + "BernoulliCount._shrunk",
        "count >= last, count",
        "count >= last, count - first",
        "estimates are biased at every p",
        case(bits.test_estimates_grow_and_are_the_same_from_both_ends, 0),
    ),
    Mutant(
        "privacy-over-n",
        BERNOULLI_MEAN + "OnBits.variance",
        "/ self.n**2",
        "/ self.n",
        "the privacy term is n times too large",
        case(bits.test_clamping_alone_would_be_half_and_no_better, 0),
    ),
    Mutant(
        "lower-bound-too-high",
        BERNOULLI_MEAN + "least_error",
        "(q / 2) ** 2",
        "4 * q ** 2",
        "a bound that estimators beat",
        case(bits.test_the_lower_bound_is_below_the_best_of_all_estimators_of_one_bit, 0),
    ),
    Mutant(
        "any-number-of-bits",
        BERNOULLI_MEAN + "OnBits._ones",
        "array.size == self.n",
        "array.size",
        "n is not what is public",
        case(bits.test_what_is_not_so_many_bits_is_refused, 0),
    ),
    Mutant(
        "ones-of-any-size",
        BERNOULLI_MEAN + "OnBits._ones",
        "bool(np.isin(array, (0, 1)).all())",
        "bool((array >= 0).all())",
        "one person counts for many: sensitivity is not 1",
        case(bits.test_what_is_not_so_many_bits_is_refused, 0),
    ),
    Mutant(
        "selection-not-halved",
        SELECTION + "Selection.rate",
        "self.sensitivity if self.monotone else 2 * self.sensitivity",
        "self.sensitivity",
        "scores that move both ways are weighed as if they moved one way: 2ε",
        lambda: exponential.epsilon_is_kept(Exponential, exponential.shares_of, False),
    ),
    Mutant(
        "wheel-band-forgotten",
        WHEEL + "_choose",
        "room = BAND * total",
        "room = 0.0 * total",
        "close calls between candidates are decided by rounding errors",
        lambda: exponential.words_fall_on_exact_shares([3, 5, 4, 0]),
    ),
    Mutant(
        "wheel-digits-forgotten",
        WHEEL + "_settle",
        "(known << width) | source.bits(width)",
        "known << width",
        "close calls are decided as if all further random digits were 0",
        lambda: exponential.words_fall_on_exact_shares([3, 5, 4, 0]),
    ),
    Mutant(
        "groups-by-their-size",
        WHEEL + "Wheel._descend",
        "np.add.reduceat(levels[-1],",
        "np.add.reduceat(np.ones_like(levels[-1]),",
        "a group of candidates is chosen by their number, not by their weights",
        exponential.groups_are_chosen_by_their_sums,
    ),
    Mutant(
        "group-forgotten",
        WHEEL + "Wheel._descend",
        "node = begin + int(",
        "node = int(",
        "the place inside a group is released as that of the candidate",
        exponential.groups_are_chosen_by_their_sums,
    ),
    Mutant(
        "weight-tables-off",
        FALLS + "_powers",
        "exp_neg_bounds(step, PRECISION)[0]",
        "exp_neg_bounds(step, PRECISION)[0] - (1 << PRECISION - 42)",
        "floats are farther from the weights than the band allows",
        lambda: exponential.test_weights_are_near("1/1000"),
    ),
    Mutant(
        "weights-cut-off-early",
        FALLS + "_powers_of",
        "ceil(REACH / rate)",
        "ceil(20 / rate)",
        "all candidates beyond e^-20 weigh the same",
        lambda: exponential.test_weights_are_near("1/1000"),
    ),
    Mutant(
        "flip-tie-is-heads",
        PERMUTE_AND_FLIP + "_tosses",
        "heads[row, at] = decide(",
        "heads[row, at] = True or decide(",
        "coins that floats cannot tell are heads",
        exponential.coins_have_their_chance,
    ),
    Mutant(
        "flip-without-permutation",
        PERMUTE_AND_FLIP + "PermuteAndFlip._released",
        "among(heads, source)",
        "heads.argmax(axis=1)",
        "the first of the list whose coin shows heads is chosen",
        lambda: exponential.drawn_as_they_say(PermuteAndFlip, 20000),
    ),
    Mutant(
        "bounded-range-halved",
        EXPONENTIAL + "Exponential.concentrated",
        "** 2 / 8",
        "** 2 / 16",
        "half of the cost in zCDP",
        exponential.test_cost_follows_from_the_parameters,
    ),
    Mutant(
        "noisy-max-half-noise",
        NOISY_MAX + "NoisyMax.scale",
        "1 / self.rate",
        "1 / (2 * self.rate)",
        "noise for scores that move one way only",
        lambda: noisy_max.epsilon_is_kept(F(10), 1, False, count=2),
    ),
    Mutant(
        "noisy-max-ties-to-the-first",
        NOISY_MAX + "NoisyMax._released",
        "among(tied, source)",
        "tied.argmax(axis=1)",
        "a tie is won by who stands first in the list",
        lambda: noisy_max.drawn_as_they_say(20000),
    ),
    Mutant(
        "noisy-max-ties-to-the-larger",
        NOISY_MAX + "NoisyMax._released",
        "tied = noisy == noisy.max(axis=1, keepdims=True)",
        "tied = 4 * noisy + np.atleast_2d(scores) % 4 == (4 * noisy + np.atleast_2d(scores) % 4).max(axis=1, keepdims=True)",
        "a tie is won by the larger exact score, which costs more than ε",
        lambda: noisy_max.epsilon_is_kept(F(10), 1, False, count=2),
    ),
    Mutant(
        "noisy-max-one-noise",
        NOISY_MAX + "NoisyMax._released",
        "discrete_laplace(self.scale, scores.shape, source=source)",
        "discrete_laplace(self.scale, source=source)",
        "one noise for all scores, which cancels",
        lambda: noisy_max.drawn_as_they_say(20000),
    ),
    Mutant(
        "noisy-max-sensitivity-fractional",
        NOISY_MAX + "NoisyMax.__post_init__",
        "Fraction(integer_sensitivity(self.sensitivity))",
        "Fraction(self.sensitivity)",
        "integers that move by 1.5 are said to move by less than 2",
        noisy_max.test_cost_follows_from_the_parameters,
    ),
    Mutant(
        "sparse-vector-without-query-noise",
        ABOVE_THRESHOLD + "ThresholdSession.ask",
        "discrete_laplace(self._query_scale, source=self._source)",
        "0",
        "only the threshold is noisy, and two scores tell which is larger",
        above.session_keeps_epsilon,
    ),
    Mutant(
        "sparse-vector-same-noise",
        ABOVE_THRESHOLD + "ThresholdSession.ask",
        "discrete_laplace(self._query_scale, source=self._source)",
        "self._level - self._mechanism.threshold",
        "the score is compared with the threshold under one noise, which cancels",
        above.session_keeps_epsilon,
    ),
    Mutant(
        "threshold-not-redrawn",
        ABOVE_THRESHOLD + "ThresholdSession.ask",
        "self._level = self._draw_level()",
        "self._level += 0",
        "all hits share the noise of one threshold",
        lambda: above.runs_as_the_textbook_says("session"),
    ),
    Mutant(
        "hits-not-counted",
        ABOVE_THRESHOLD + "ThresholdSession.ask",
        "self._left -= 1",
        "self._left -= 0",
        "a session never ends",
        lambda: above.runs_as_the_textbook_says("session"),
    ),
    Mutant(
        "sparse-vector-noiseless-threshold",
        ABOVE_THRESHOLD + "ThresholdSession._draw_level",
        "noise = discrete_laplace(self._mechanism.threshold_scale, source=self._source)",
        "noise = 0",
        "every answer costs, not only the hits",
        lambda: above.runs_as_the_textbook_says("session"),
    ),
    Mutant(
        "sparse-vector-query-noise-halved",
        ABOVE_THRESHOLD + "AboveThreshold.query_scale",
        "(1 if self.monotone else 2)",
        "1",
        "noise for scores that move one way only",
        lambda: above.runs_as_the_textbook_says("session"),
    ),
    Mutant(
        "sparse-vector-batch-shares-a-threshold",
        ABOVE_THRESHOLD + "AboveThreshold.__call__",
        "discrete_laplace(self.threshold_scale, most, source=bits)",
        "np.repeat(discrete_laplace(self.threshold_scale, source=bits), most)",
        "all hits of a batch share the noise of one threshold",
        lambda: above.runs_as_the_textbook_says("batch"),
    ),
    Mutant(
        "sparse-vector-batch-goes-on",
        ABOVE_THRESHOLD + "AboveThreshold.__call__",
        "return above[:start] if most == self.hits else above",
        "return above",
        "answers go on after the last hit",
        lambda: above.runs_as_the_textbook_says("batch"),
    ),
    Mutant(
        "hits-at-one-price",
        ABOVE_THRESHOLD + "AboveThreshold.event",
        "self.hits)",
        "1)",
        "many hits for the price of one",
        above.test_cost_follows_from_the_parameters,
    ),
    Mutant(
        "quantile-rows-of-a-unit-forgotten",
        QUANTILE + "_rate",
        "2 * rows * max",
        "2 * max",
        "units of many rows are priced as units of one",
        quantile.test_a_unit_of_two_rows_keeps_epsilon,
    ),
    Mutant(
        "quantile-sensitivity-the-smaller",
        QUANTILE + "_rate",
        "max(share, 1 - share)",
        "min(share, 1 - share)",
        "the sensitivity is that of the harmless neighbour",
        lambda: quantile.test_one_quantile_keeps_epsilon(F(1, 10), F(4)),
    ),
    Mutant(
        "quantile-level-unpaid",
        QUANTILE + "Quantiles.levels",
        ".bit_length()",
        ".bit_length() - 1 or 1",
        "one level of cuts is not paid for",
        quantile.several_keep_epsilon,
    ),
    Mutant(
        "quantile-rows-on-both-sides",
        QUANTILE + "_cut",
        "right[0] -= left[cell]",
        "right[0] -= 0",
        "rows of the cell that is cut count on both sides",
        quantile.cuts_are_stable,
    ),
    Mutant(
        "quantile-cut-follows-the-data",
        QUANTILE + "_cut",
        "share.numerator // share.denominator",
        "share.numerator // share.denominator ^ int(counts.sum()) & 1",
        "where the cut falls depends on rows elsewhere",
        quantile.cuts_are_stable,
    ),
    Mutant(
        "quantile-ranks-below-only",
        QUANTILE + "_ranks",
        "edges[:, 1:].ravel()",
        "edges[:, :-1].ravel()",
        "rows in a cell are not counted as reached: equal rows hide the quantile",
        quantile.test_the_utility_is_the_distance_by_definition,
    ),
    Mutant(
        "interval-without-margin",
        QUANTILE + "QuantileIntervals.__call__",
        "sign * self.margin(q)",
        "0 * self.margin(q)",
        "the ends are two guesses of the quantile itself",
        quantile.intervals_cover_few_rows,
    ),
    Mutant(
        "interval-places-beside-forgotten",
        QUANTILE + "QuantileIntervals._gaps",
        "[[max(0, target)], inside, [max(0, by * n - target)]]",
        "[[4 * by * n + 4], inside, [4 * by * n + 4]]",
        "with few rows no place is far enough out, and ends are anywhere",
        quantile.intervals_cover_few_rows,
    ),
    Mutant(
        "arrays-cut-to-the-grid",
        ADDITIVE + "GridNoise._on_grid",
        "np.floor(values.astype(np.float64) / float(self.grid.step) + 0.5)",
        "np.trunc(values.astype(np.float64) / float(self.grid.step))",
        "neighbours on the two sides of 0 are two steps apart, and one is charged",
        test_additive.test_numbers_and_arrays_are_rounded_alike,
    ),
    Mutant(
        "discrete-noise-as-continuous",
        GAUSSIAN + "RoundedGaussian.event",
        " * (1 + 1 / (12 * steps**2))",
        "",
        "noise in steps is charged like noise without, which costs less",
        lambda: patched(test_additive.test_integer_noise_of_few_steps_costs_what_it_draws, 1, 1),
    ),
    Mutant(
        "vector-at-the-price-of-one-integer",
        MEASURE + "_release",
        "isinstance(mechanism, SIZED)",
        "isinstance(mechanism, GridNoise)",
        "many integers with discrete Gaussian noise are drawn where one was granted",
        test_measure.vectors_are_not_drawn_for_one_integer,
    ),
    Mutant(
        "vector-prepared-at-the-price-of-one-integer",
        MEASURE + "Grant.prepare",
        "_event_of(mechanism, sensitivity, size)",
        "mechanism.event(sensitivity)",
        "many integers with discrete Gaussian noise are prepared where one was granted",
        test_measure.vectors_are_not_drawn_for_one_integer,
    ),
    Mutant(
        "error-one-short",
        "discreet.mechanisms.base:half_width",
        "return high",
        "return max(low, 0)",
        "an error at 95 % covers less",
        example("DiscreteGaussian", 1, contract.error_covers, 5_000, 2),
    ),
    Mutant(
        "certain-of-an-error",
        "discreet.mechanisms.base:confidence_level",
        "if not 0 < exact < 1:",
        "if not 0 < exact <= 1:",
        "an error is said to be certain",
        by_itself(test_additive.test_a_bad_confidence_is_refused_by_name, 1),
    ),
    Mutant(
        "packed-one-too-narrow",
        "discreet.mechanisms.packed:_narrowest",
        "high <= np.iinfo(name).max",
        "high <= np.iinfo(name).max + 1",
        "a draw that comes back is another one, and the two together tell the noise",
        test_measure.test_integers_of_every_width_are_the_same_after_packing,
    ),
    Mutant(
        "rounds-not-counted",
        "discreet.mechanisms.rounds:Rounds._begin",
        "    self._left -= 1\n",
        "",
        "scores are compared for ever at the price of a few hits",
        test_measure.test_rounds_come_back_and_one_that_was_lost_is_a_hit,
    ),
    Mutant(
        "threshold-of-two-hits",
        "discreet.mechanisms.rounds:Rounds.ask",
        "fresh, self._round, self._hit = self._round is not None, None, None",
        "fresh = self._round is not None",
        "one noisy threshold serves two hits",
        test_measure.test_rounds_come_back_and_one_that_was_lost_is_a_hit,
    ),
    Mutant(
        "lost-round-for-nothing",
        "discreet.mechanisms.rounds:Rounds._begin",
        'self._left -= refusal.code == "draw-lost"',
        "pass",
        "whoever is killed before a hit asks on for nothing",
        test_measure.test_rounds_come_back_and_one_that_was_lost_is_a_hit,
    ),
    Mutant(
        "counted-on-after-the-end",
        MEASURE + "Unmetered.__call__",
        "if record.ended and not kept:",
        "if False:",
        "a measurement that has ended goes on with the blocks that it did not take",
        test_measure.what_has_ended_is_not_counted_on,
    ),
    Mutant(
        "keys-by-counts-of-rows",
        "discreet.mechanisms.keys.kept:at_stake",
        "if exact > 1:",
        "if exact > 1000:",
        "keys are selected by counts that one person moves by more than one, at the price of one",
        keys_are_selected_by_people,
    ),
    Mutant(
        "scores-beyond-their-integers",
        "discreet.mechanisms.scores:_fits",
        "<= MOST_SCORE",
        "<= 1 << 63",
        "differences of scores wrap around",
        large_scores_are_exact_or_refused,
    ),
)
