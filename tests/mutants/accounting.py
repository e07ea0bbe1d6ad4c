"""Planted bugs of the rest of the accounting: filters, calibration, events, the certified ends, the routes, and the theorems."""

from fractions import Fraction as F
from functools import cache
from math import exp, log

import numpy as np
from mpmath import mp

from discreet.privacy import calibrate as scales
from discreet.privacy import events, loss
from discreet.privacy.adjacency import Adjacency, Relation, Unit
from discreet.privacy.advice import Verdict
from discreet.privacy.events import DiscreteGaussian, Gaussian, Pure, Under
from discreet.privacy.numeric.axis import RealAxis
from discreet.privacy.numeric.points import composed
from discreet.privacy.numeric.quadrature import normal_pieces
from discreet.privacy.numeric.search import minimum, root
from discreet.privacy.numeric.side import Points
from discreet.privacy.numeric.special import log_ndtr
from discreet.privacy.numeric.sums import log_sum
from discreet.privacy.theorems.search import first_met
from tests.mutants import Law, Mutant, by_itself
from tests.privacy import cases, oracle
from tests.privacy import test_advice as advice
from tests.privacy import test_calibrate as calibrate
from tests.privacy import test_events as written
from tests.privacy import test_filters as filters
from tests.privacy import test_finite as finite
from tests.privacy import test_interval as interval
from tests.privacy import test_laws as laws
from tests.privacy import test_loss as losses
from tests.privacy import test_mixed as mixed
from tests.privacy import test_theorems as theorems

PRIVACY = "discreet.privacy."
ADJACENCY = PRIVACY + "adjacency:"
ADVICE = PRIVACY + "advice:"
CALIBRATE = PRIVACY + "calibrate:"
EVENTS = PRIVACY + "events:"
FILTERS = PRIVACY + "filters:"
NUMERIC = PRIVACY + "numeric."
THEOREMS = PRIVACY + "theorems."


@cache
def exactly(law: Law) -> Law:
    """A law of theorems, with the digits that their tests have."""

    def check() -> None:
        with mp.workdps(60):
            law()

    return check


def one_costs(event: events.Event, truth: oracle.Curve, epsilon: F = F(1, 3)) -> Law:
    """δ(ε) of an event is what the oracle says."""

    def law() -> None:
        assert oracle.relative_error(loss(event).delta(epsilon), truth(epsilon)) < 1e-8

    return law


def poor_guesses_are_mended() -> None:
    """Whatever scale a search begins with, the noise that it ends with is certified."""
    for guess in (F(1, 10), F(1, 100)):
        target = scales.Target.of(1, F(1, 100))
        found = scales._from_above(target, lambda scale: DiscreteGaussian(scale, 1), guess)
        assert found.certificate.holds()


def close_losses_are_the_largest() -> None:
    """Losses that are taken for one are never taken for less: rounding hides no loss."""
    for apart in (1e-15, 1e-14, 5e-14):
        close = Points(np.array([1.0, 1.0 + apart]), np.log(np.array([0.5, 0.5])))
        assert composed([(close, 1)]).losses[-1] == 1.0 + apart


def pieces_are_the_whole() -> None:
    """However its cuts lie, the pieces of a normal density add up to 1."""
    for cuts in ([-9.0, 9.0], [-9.0, -1.0, 0.5, 9.0], [-9.0, 0.0, 1e-3, 2.0, 9.0]):
        _, log_w = normal_pieces(np.array(cuts), 0.25)
        assert abs(np.exp(log_w).sum() - 1) < 1e-13


def roots_are_met() -> None:
    """A root is from above: where a bound is searched for, the function is at most 0 at what was found."""
    for c in (F(1, 3), F(2), F(7, 5), F(10)):

        def falling(x: float, c: float = float(c)) -> float:
            return c - x * x

        assert falling(root(falling, 0.0, 4.0, falling(0.0), falling(4.0))) <= 0


def minima_are_the_least() -> None:
    for at in (0.1, 1.0, 2.5):
        assert abs(minimum(lambda x, at=at: (x - at) ** 2 + 3, -5.0, 4.0) - 3) < 1e-12  # type: ignore[misc]


def large_exponents_are_added() -> None:
    with np.errstate(all="ignore"):
        for x in (-1e5, 0.0, 700.0, 1e5):
            assert abs(float(log_sum(np.array([[x], [x]]))[0]) - x - log(2)) < 1e-9


def far_tails_fall() -> None:
    for x in (1.0, -3.0, -10.0, -30.0, -100.0):
        assert abs(log_ndtr(x) / float(mp.log(mp.ncdf(x))) - 1) < 1e-12


def what_is_found_is_met() -> None:
    """A search for the least that meets something ends where it is met."""
    for least in (1e-9, 1 / 3, 0.7, 1.0, 5.5):
        assert first_met(lambda x, least=least: x >= least, 8.0) >= least  # type: ignore[misc]


RESPONSE = cases.response("1", 1)
NORMAL = cases.gaussian("1", 1)
SIXTY = tuple(theorems.COUNTS["sixty, spread"])


def chernoff_is_above_delta() -> None:
    """The bound of a Gaussian's δ at every tilt that is looked at is above δ itself."""
    for distance, epsilon in ((0.1, 0.1), (0.1, 1.0), (1.0, 1.0), (1.0, 5.0), (3.0, 1.0), (3.0, 5.0)):
        axis = RealAxis.of(lambda t, square=distance**2: square * t * (t + 1) / 2)  # type: ignore[misc]
        assert axis.best_for_epsilon(epsilon).bound(epsilon) >= log(_gaussian_delta(distance, epsilon))


def _gaussian_delta(distance: float, epsilon: float) -> float:
    near, far = log_ndtr(distance / 2 - epsilon / distance), log_ndtr(-distance / 2 - epsilon / distance)
    return exp(near) - exp(epsilon + far)


MUTANTS = (
    Mutant(
        "adjacencies-mixed",
        ADJACENCY + "joined",
        "first.adjacency is not second.adjacency or ",
        "",
        "the price of adding or removing a person is added to that of replacing one",
        losses.test_two_different_relations_never_compose,
    ),
    Mutant(
        "units-mixed",
        ADJACENCY + "joined",
        "first.unit is not second.unit",
        "False",
        "the price of a row is added to that of a person",
        laws.test_two_different_relations_never_compose,
    ),
    Mutant(
        "delta-of-one-in-all",
        ADVICE + "judge_delta",
        "if n * d >= 1:",
        "if d >= 1:",
        "a delta passes at which the row of somebody may be published",
        by_itself(advice.test_verdicts_change_exactly_at_their_thresholds, 1e-6, 10**6, Verdict.REFUSAL),
    ),
    Mutant(
        "noise-for-one-release",
        CALIBRATE + "Target.event",
        "events.Repeated(one, self.times)",
        "one",
        "many releases get the noise of one",
        calibrate.test_gaussian_noise_grows_with_the_sensitivity_and_with_the_root_of_the_number_of_releases,
    ),
    Mutant(
        "noise-by-a-guess",
        CALIBRATE + "_from_above",
        "while not enough(good):",
        "while False:",
        "the scale that a search begins with is believed",
        poor_guesses_are_mended,
    ),
    Mutant(
        "classical-formula-everywhere",
        CALIBRATE + "classical_gaussian",
        "if not 0 < target.epsilon <= 1:",
        "if not 0 < target.epsilon:",
        "a formula is used where it promises too much",
        by_itself(calibrate.test_the_classical_gaussian_is_refused_where_its_proof_ends, 10),
    ),
    Mutant(
        "certificate-not-computed-again",
        CALIBRATE + "Certificate.holds",
        "loss(self.event).certifies(self.epsilon, self.delta)",
        "self.epsilon > 0",
        "a certificate holds whatever it claims",
        calibrate.test_a_certificate_that_claims_too_much_does_not_hold,
    ),
    Mutant(
        "rows-need-not-add-up",
        EVENTS + "_table",
        "_total(row, name) != 1",
        "_total(row, name) > 1",
        "of a table a part is left out, and with it what it costs",
        by_itself(
            finite.test_what_is_no_table_of_probabilities_is_refused_by_name, ((F(1, 2), F(1, 3)), (F(1, 2),) * 2)
        ),
    ),
    Mutant(
        "sampled-twice",
        EVENTS + "_plain_leaf",
        " or isinstance(value, Sampled)",
        "",
        "a sample of a sample is priced by a theorem that does not know it",
        by_itself(written.test_only_a_leaf_is_sampled, events.Sampled(F(1, 2), Pure(1))),
    ),
    Mutant(
        "unit-not-read",
        EVENTS + "_read_relation",
        'Relation(Adjacency(value["adjacency"]), unit)',
        'Relation(Adjacency(value["adjacency"]), None)',
        "what was computed for rows is charged for persons when it is read again",
        by_itself(
            losses.test_an_event_is_the_same_after_json, Under(Pure(1), Relation(Adjacency.REPLACE, Unit.PERSON))
        ),
    ),
    Mutant(
        "delta-kept-and-spent",
        FILTERS + "ConcentratedFilter.__post_init__",
        "self.delta - self.delta_spent)",
        "self.delta)",
        "the same delta is kept for the conversion and spent by releases",
        filters.test_a_cap_that_its_budget_does_not_allow_is_refused,
    ),
    Mutant(
        "delta-of-releases-not-counted",
        FILTERS + "ConcentratedFilter.admits",
        "(total.rho, total.delta), (self.rho, self.delta_spent)",
        "(total.rho,), (self.rho,)",
        "releases spend any delta",
        filters.test_the_concentrated_filter_of_a_budget,
    ),
    Mutant(
        "squares-against-the-root",
        FILTERS + "GaussianFilter.admits",
        "(self.mu**2,)",
        "(self.mu,)",
        "squares of mu are added up to mu itself",
        filters.test_the_gaussian_filter_adds_squares,
    ),
    Mutant(
        "ends-of-points-turned",
        NUMERIC + "bounds:Bounds._interval",
        "for sign in (1, -1))",
        "for sign in (-1, 1))",
        "the upper end is that of a larger delta",
        by_itself(interval.test_the_truth_lies_between_the_ends, RESPONSE),
    ),
    Mutant(
        "closed-form-from-below",
        NUMERIC + "bounds:Bounds.log_delta_above",
        "+ CLOSED_ROUNDING",
        "- CLOSED_ROUNDING",
        "a certified delta is less than the truth by what floats are off",
        by_itself(interval.test_a_certified_delta_is_never_below_the_truth_nor_far_above, NORMAL),
    ),
    Mutant(
        "far-side-of-the-loss",
        NUMERIC + "closed:gaussian_log_delta",
        "(epsilon / mu - mu / 2)",
        "(epsilon / mu + mu / 2)",
        "Gaussian losses are centred on the other side of 0",
        one_costs(events.Repeated(Gaussian(2), 3), oracle.gaussian(F(3, 4))),
    ),
    Mutant(
        "points-lower-the-loss",
        NUMERIC + "convolved:Convolved.log_delta",
        "self._delta(epsilon - self._points.losses)",
        "self._delta(epsilon + self._points.losses)",
        "losses of points are taken off those of a density",
        by_itself(mixed.test_points_beside_a_gaussian_are_exact, "50", 7),
    ),
    Mutant(
        "failure-beside-delta",
        NUMERIC + "direction:with_failure",
        "float(failure) + exp(log_delta)",
        "max(float(failure), exp(log_delta))",
        "what fails openly is not added to delta",
        losses.test_the_attacker_is_right_as_often_as_bayes_allows,
    ),
    Mutant(
        "failure-not-taken-off",
        NUMERIC + "direction:without_failure",
        "float(delta - failure)",
        "float(delta)",
        "what fails openly may be spent again by the losses",
        losses.test_a_failure_that_is_kept_apart_is_added_up_exactly,
    ),
    Mutant(
        "first-pair-of-rows",
        NUMERIC + "finite:delta_of_table",
        "permutations(rows, 2)",
        "[rows[:2]]",
        "a table costs what its first two inputs cost",
        finite.test_delta_of_a_table_is_the_largest_over_all_sets_of_outputs,
    ),
    Mutant(
        "impossible-outputs-passed-over",
        NUMERIC + "finite:ratio_of_table",
        "return None",
        "continue",
        "an output that only one input has costs nothing",
        finite.test_the_ratio_of_a_table_is_the_largest_over_all_outputs,
    ),
    Mutant(
        "close-losses-are-the-least",
        NUMERIC + "points:_sum",
        "_last_of_each(losses, starts)",
        "losses[starts]",
        "losses that are taken for one are taken for the least of them",
        close_losses_are_the_largest,
    ),
    Mutant(
        "wide-pieces-of-few-points",
        NUMERIC + "quadrature:pieces",
        "if lengths.max() > width:",
        "if lengths.max() > 1000 * width:",
        "five points stand for a whole density",
        pieces_are_the_whole,
    ),
    Mutant(
        "different-scales-are-one",
        NUMERIC + "routes:BySplines.splines",
        "if len(ratios) == 1 and not self.parts.rho",
        "if not self.parts.rho",
        "Laplace releases of different scales cost as if all had that of one",
        losses.test_two_laplace_releases_of_different_scales,
    ),
    Mutant(
        "root-from-below",
        NUMERIC + "search:root",
        "if high - low <= ONE_PLACE * abs(high):\n            return high",
        "if high - low <= ONE_PLACE * abs(high):\n            return low",
        "an epsilon is told at which delta is still above what is wanted",
        roots_are_met,
    ),
    Mutant(
        "valley-not-reached",
        NUMERIC + "search:minimum",
        "best = min(best, at_a, at_b)",
        "best = max(best, at_a, at_b)",
        "a bound is taken from where the search was last",
        minima_are_the_least,
    ),
    Mutant(
        "far-tails-are-none",
        NUMERIC + "special:log_ndtr",
        "-z * z + log",
        "-2 * z * z + log",
        "large losses are rarer than they are",
        far_tails_fall,
    ),
    Mutant(
        "sums-overflow",
        NUMERIC + "sums:log_sum",
        "np.log(np.exp(exponents - top).sum(axis=0)) + top",
        "np.log(np.exp(exponents).sum(axis=0))",
        "the moments of large losses are infinite, or nothing",
        large_exponents_are_added,
    ),
    Mutant(
        "delta-below-its-own",
        THEOREMS + "approximate:approximate_epsilon",
        "if to < d:",
        "if to < 0:",
        "an (epsilon, delta) is said to hold at a smaller delta",
        exactly(by_itself(theorems.test_conversions_of_approximate_privacy_are_one_randomised_response, 0.1)),
    ),
    Mutant(
        "guess-without-delta",
        THEOREMS + "bayes:bayes_success",
        "(1 + d * fall) / (1 + fall)",
        "1 / (1 + fall)",
        "an attacker is said to be right less often than they are",
        exactly(by_itself(theorems.test_bayes_success_is_its_formula_and_one_guess_at_an_even_prior, 1)),
    ),
    Mutant(
        "rho-from-above",
        THEOREMS + "concentrated:zcdp_rho",
        "round_down(rho * (1 - Fraction(1, 1 << 59)), 59)",
        "round_up(rho * (1 + Fraction(1, 1 << 50)), 59)",
        "a budget has a little more rho than it allows",
        exactly(theorems.test_the_largest_rho_of_a_budget),
    ),
    Mutant(
        "pure-price-from-below",
        THEOREMS + "concentrated:pure_rho",
        "return round_up(",
        "return round_down(",
        "a price in rho is rounded down",
        exactly(by_itself(theorems.test_concentrated_prices_are_suprema_over_all_orders, 0.1)),
    ),
    Mutant(
        "a-level-left-out",
        THEOREMS + "equal:equal_delta",
        "// 2) + 1",
        "// 2) + 2",
        "of all losses above epsilon the least is not counted",
        exactly(theorems.test_optimal_composition_is_what_all_subsets_give),
    ),
    Mutant(
        "gaussian-floats-believed",
        THEOREMS + "gaussian:_gaussian_delta_up",
        "delta * (1 + GAUSSIAN_SLACK)",
        "delta * (1 - GAUSSIAN_SLACK)",
        "what floats lose is not added to a delta",
        exactly(by_itself(theorems.test_gaussian_delta_is_the_difference_of_two_tails, 0.1)),
    ),
    Mutant(
        "group-delta-is-k-times",
        THEOREMS + "groups:group_delta",
        "expm1_up(k * e) / expm1_down(e) if e else k",
        "k",
        "the delta of a group grows no faster than the group",
        exactly(by_itself(theorems.test_group_privacy_in_its_three_forms, 1, 7)),
    ),
    Mutant(
        "group-rho-is-k-times",
        THEOREMS + "groups:group_rho",
        "** 2",
        "** 1",
        "rho grows no faster than the group",
        by_itself(theorems.test_groups_under_concentrated_and_gaussian_privacy_are_noise_on_k_times_the_sensitivity, 3),
    ),
    Mutant(
        "losses-of-floats-believed",
        THEOREMS + "mixed:Mixed.delta",
        "(epsilon - self.shift)",
        "epsilon",
        "a loss that floats put just below epsilon is not counted",
        exactly(theorems.test_mixed_composition_does_not_under_report_next_to_a_loss),
    ),
    Mutant(
        "failures-of-one-part",
        THEOREMS + "optimal:_survival",
        "_power_down(1 - d, n)",
        "_power_down(1 - d, 1)",
        "parts that may fail are counted once for all that are alike",
        exactly(theorems.test_mixed_composition_is_what_all_subsets_give),
    ),
    Mutant(
        "split-without-its-tilt",
        THEOREMS + "parts:_shares",
        "(1, high * exp(-rest)),",
        "(1, high),",
        "what is put on a grid does not keep its mass",
        exactly(by_itself(theorems.test_mixed_composition_on_the_grid_is_from_above_and_close, SIXTY, 0.1)),
    ),
    Mutant(
        "divided-by-the-order",
        THEOREMS + "renyi:renyi_epsilon_up",
        "/ beta",
        "/ alpha",
        "an epsilon of Rényi privacy is divided by the order, and not by one less",
        exactly(by_itself(theorems.test_renyi_conversions_are_their_formulas, 2)),
    ),
    Mutant(
        "fall-from-below",
        THEOREMS + "rounding:fall_up",
        "1 - exp_down(-x, enough(x))",
        "1 - exp_up(-x, 16)",
        "a delta is rounded down where numbers cancel",
        exactly(by_itself(theorems.test_conversions_of_approximate_privacy_are_one_randomised_response, 1e-9)),
    ),
    Mutant(
        "first-that-is-not-met",
        THEOREMS + "search:first_met",
        "low, high = (low, middle) if met(middle) else (middle, high)\n    return high",
        "low, high = (low, middle) if met(middle) else (middle, high)\n    return low",
        "an epsilon is told at which the delta is not met",
        what_is_found_is_met,
    ),
    Mutant(
        "bound-below-the-truth",
        PRIVACY + "numeric.axis:chernoff_term",
        "- np.log1p(c)",
        "- 2 * np.log1p(c)",
        "a bound of delta by Chernoff is below it",
        chernoff_is_above_delta,
    ),
)
