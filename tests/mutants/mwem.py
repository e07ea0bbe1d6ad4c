"""Planted bugs of MWEM: sensitivities of gentler neighbours, prices that are not kept, scores of other tables, fits that forget."""

from dataclasses import replace
from fractions import Fraction as F
from typing import Any
from unittest import mock

import numpy as np

from discreet.audit import learned
from discreet.mechanisms.guarded import under_way
from discreet.privacy import events, loss
from discreet.weights.arrays import ArrayTable
from discreet.weights.budget import LearningBudget, UnitMove
from discreet.weights.domain import Domain
from discreet.weights.histogram_learning import mwem
from discreet.weights.workload import Workload
from tests.audit import test_tails as tails
from tests.mechanisms import test_allowance as allowance
from tests.mechanisms import test_concentrated as concentrated
from tests.mutants import Mutant
from tests.weights import test_fit as fit
from tests.weights import test_histogram as histogram
from tests.weights import test_labels as labels
from tests.weights import test_learning as learning
from tests.weights import test_learning_laws as joint
from tests.weights import test_proportional as proportional
from tests.weights import test_residual as residual
from tests.weights import test_transform as transform
from tests.weights import test_workload as workload
from tests.weights.tables import ADDED, REPLACED, dense, domain

W = "discreet.weights."
POOL = "discreet.mechanisms.allowance:"
CHOICE = "discreet.mechanisms.concentrated:ConcentratedExponential."


def added_units_move_residuals_no_farther() -> None:
    residual.no_neighbour_moves_residuals_farther(ADDED)


def replaced_units_move_residuals_no_farther() -> None:
    residual.no_neighbour_moves_residuals_farther(REPLACED)


def exact_histograms_are_told_apart() -> None:
    """A histogram that is released as it is counts against the subject that learned it."""

    class Exact:
        def __init__(self, table: Any, **_: Any) -> None:
            self.model, self.cells = self, table.counts(table.attributes())

        def marginal(self, axes: tuple[int, ...]) -> Any:
            with under_way():
                return self.cells().marginal(axes)

    with mock.patch.object(learned, "mwem", Exact), mock.patch.object(learned, "LEARNING", {"of residuals": {}}):
        assert all(each.differences for each in learned.of_histograms())


def budgets_are_kept() -> None:
    """What the noise of each share costs, composed, keeps the promise, with and without a δ."""
    move = UnitMove(F(7), F(5))
    for delta in (F(0), F(1, 10**6)):
        budget = LearningBudget.in_parts(ADDED, 1, delta)
        parts = [budget.noise(F(1, 2), move), budget.noise(F(1, 4), move)]
        drawn = [each.mechanism.event(each.sensitivity) for each in parts]
        drawn.append(budget.selection(F(1, 4), F(2)).event(2))
        assert all(each.sensitivity**2 >= 7 or each.sensitivity == 5 for each in parts)
        if not delta:
            assert loss(events.Composed(tuple(drawn))).epsilon(0) <= 1
        else:
            assert loss(events.Composed(tuple(drawn))).zcdp() <= loss(budget.event).zcdp()
    fixed = LearningBudget.in_shares(ADDED, 1, F(1, 10**6), (F(1, 3), F(2, 3)))
    gaussian = [fixed.noise(share, move) for share in (F(1, 3), F(2, 3))]
    events_of = tuple(each.mechanism.event(each.sensitivity) for each in gaussian)
    assert loss(events.Composed(events_of)).certifies(1, F(1, 10**6))


def choices_follow_scores() -> None:
    """With a price that leaves no noise the marginal is chosen that is farthest off, and the query."""
    rows = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 1], [1, 1, 1]] * 100)  # the first and the last are alike
    table = ArrayTable(domain((2, 2, 2)), rows)
    for _ in range(8):
        found = mwem(table, epsilon=2000, delta=F(1, 10**6), workload=2, rounds=1, start=False)
        assert [each.chosen for each in found.rounds] == [(0, 2)] and found.rounds[0].error > 0.9
    rows[:, 1] = 0
    table = ArrayTable(domain((2, 2, 2)), rows)
    cells = Workload.listed(table.domain, [np.array([[[True]], [[False]]]), np.array([[[True], [False]]])])
    single = mwem(table, epsilon=2000, workload=cells, rounds=1, start=False)
    assert [each.chosen for each in single.rounds] == [1]
    assert np.allclose(single.model.marginal((1,)), [400, 0], atol=4)


def starts_are_of_all_residuals() -> None:
    """At a price that leaves no noise every marginal of the workload is met."""
    shape = (2, 3, 2)
    rows = np.random.default_rng(1).integers(0, shape, size=(3000, 3))
    asked = Workload.margins(domain(shape), 3)
    exact = asked.steps(dense(tuple(map(tuple, rows.tolist())), shape))
    for more in ({"delta": F(1, 10**6)}, {}):
        found = mwem(ArrayTable(domain(shape), rows), epsilon=3000, workload=asked, **more)
        assert np.abs(asked.answers(found.model) - exact).max() < 3


def elsewhere() -> Domain:
    """A domain of the same shape, with other attributes."""
    return Domain(tuple(replace(each, name=f"b{i}") for i, each in enumerate(domain(learning.SHAPE).attributes)))


MUTANTS = (
    Mutant(
        "sums-of-the-next-axis",
        W + "transform:_marginals",
        "cells.sum(axis=place)",
        "cells.sum(axis=-1)",
        "another attribute is summed out than was meant",
        transform.shared_sums_are_the_sums,
    ),
    Mutant(
        "the-way-there-is-the-way-back",
        W + "transform:Basis._through",
        "matrix.T if inverse else matrix",
        "matrix",
        "cells are not those of their coefficients",
        transform.the_basis_is_that_of_every_attribute,
    ),
    Mutant(
        "running-sums-that-begin-late",
        W + "transform:_differences",
        "(upto[:, :-1] - k * inside[:, 1:])",
        "(upto[:, 1:] - k * inside[:, 1:])",
        "the basis is not orthonormal",
        transform.the_basis_is_that_of_every_attribute,
    ),
    Mutant(
        "marginals-in-their-own-order",
        W + "histogram:Histogram.marginal",
        "[kept.index(axis) for axis in axes]",
        "[kept.index(axis) for axis in kept]",
        "the axes of a marginal are not in the order that was asked for",
        histogram.marginals_are_sums_in_the_order_of_their_attributes,
    ),
    Mutant(
        "rows-from-the-cell-before",
        W + "histogram:drawn_cells",
        'side="right"',
        'side="left"',
        "cells without weight are drawn",
        histogram.the_first_point_is_in_the_first_possible_cell,
    ),
    Mutant(
        "impossible-cells-set-the-scale",
        W + "histogram:Histogram.updated",
        "where=self.weights > 0, initial=-np.inf",
        "initial=-np.inf",
        "evidence for what is impossible leaves no weight at all",
        histogram.updates_multiply,
    ),
    Mutant(
        "histograms-of-any-size",
        W + "histogram:check_size",
        "if domain.size > MOST_CELLS:",
        "if False:",
        "a large domain takes all memory there is",
        histogram.what_has_no_room_is_refused,
    ),
    Mutant(
        "constraints-are-not-kept",
        W + "histogram:possible",
        "out &= ~checked_mask(domain, mask)",
        "checked_mask(domain, mask)",
        "impossible combinations have weight",
        fit.impossible_cells_stay_so,
    ),
    Mutant(
        "weights-above-one",
        W + "workload:_finer",
        "each.steps * factor",
        "each.steps * factor * 2",
        "one unit moves a query by two",
        workload.one_unit_moves_a_query_by_at_most_its_unit,
    ),
    Mutant(
        "ranges-without-their-last-cell",
        W + "workload:Workload.ranges",
        "(cells <= last[:, None])",
        "(cells < last[:, None])",
        "a range of one cell counts nobody",
        workload.workloads_have_the_queries_that_they_are_named_for,
    ),
    Mutant(
        "the-first-query-of-a-group",
        W + "workload:Workload.at",
        "return group, number",
        "return group, 0",
        "another query of the group is meant",
        workload.answers_are_sums_of_weights,
    ),
    Mutant(
        "residuals-move-as-one-cell",
        W + "residual:Residual.square",
        "m * (m - 1)",
        "m - 1",
        "one unit moves a residual farther than its noise is made for",
        added_units_move_residuals_no_farther,
    ),
    Mutant(
        "sums-of-residuals-are-half",
        W + "residual:Residual.sum",
        "2 * (m - 1)",
        "(m - 1)",
        "geometric noise is made for half of what one unit moves",
        added_units_move_residuals_no_farther,
    ),
    Mutant(
        "replaced-units-are-alike",
        W + "residual:ResidualDraw.squared",
        "2 * alone - 2 * _least_product(self)",
        "Fraction(alone)",
        "who is replaced is charged as one who comes",
        replaced_units_move_residuals_no_farther,
    ),
    Mutant(
        "replaced-units-differ-in-one-way",
        W + "residual:_least_product",
        "without - inside / (length[axis] - 1)",
        "without + inside / (length[axis] - 1)",
        "two units that differ are taken to be nearly alike",
        replaced_units_move_residuals_no_farther,
    ),
    Mutant(
        "weights-are-not-squared",
        W + "residual:ResidualDraw.squared",
        "weight**2 * each.square",
        "weight * each.square",
        "a residual with a large weight moves farther than is charged",
        added_units_move_residuals_no_farther,
    ),
    Mutant(
        "sums-that-do-not-fit",
        W + "residual:ResidualDraw.of_precisions",
        "fine = min(FINE, MOST_STEPS / most)",
        "fine = FINE",
        "a sum of many units is beyond 64 bits, and turns negative",
        residual.sums_of_all_units_fit,
    ),
    Mutant(
        "every-residual-alike",
        W + "residual:ResidualDraw.of_precisions",
        "int(fine * weight / least)",
        "int(fine)",
        "what matters most is no more precise than the rest",
        residual.weights_are_as_precise_as_asked,
    ),
    Mutant(
        "noise-of-residuals-is-larger-than-said",
        W + "residual:ResidualDraw.deviations",
        "deviation / (weight * each.divisor)",
        "deviation / (weight * each.divisor**2)",
        "what is said to be precise is not",
        residual.noise_of_residuals_is_what_is_said,
    ),
    Mutant(
        "known-precision-does-not-count",
        W + "residual:weighed",
        "slope * t - known",
        "slope * t",
        "what is known is measured as if it were not",
        residual.no_other_precisions_do_better,
    ),
    Mutant(
        "square-roots-for-cube-roots",
        W + "residual:weighed_by_sums",
        "np.cbrt(",
        "np.sqrt(",
        "weights that are best for Gaussian noise are used for geometric noise",
        residual.no_other_weights_do_better_for_l1,
    ),
    Mutant(
        "the-last-measurement-counts",
        W + "evidence:_both",
        "(old.values * old.precision + new.values * new.precision) / precision",
        "new.values",
        "what was measured before is forgotten",
        fit.two_measurements_are_one_of_both_precisions,
    ),
    Mutant(
        "blocks-of-the-marginal",
        W + "evidence:Evidence.learn",
        "coefficients.reshape(shape) / sqrt(others)",
        "coefficients.reshape(shape)",
        "coefficients of a marginal are taken for those of the domain",
        residual.residuals_tell_all_marginals,
    ),
    Mutant(
        "marginals-seem-more-precise",
        W + "evidence:Evidence._marginal",
        "known.values.size * others / known.precision",
        "others / known.precision",
        "the deviation of a noisy marginal is too small",
        residual.deviations_of_noisy_marginals_are_what_is_said,
    ),
    Mutant(
        "gradients-without-the-base",
        W + "fit:_Problem.at",
        "- self.target + self.slack * dual",
        "- self.target",
        "the base counts for nothing where the fit ends",
        fit.fits_are_the_minimum,
    ),
    Mutant(
        "curvature-with-the-wrong-sign",
        W + "fit:_direction",
        "out += moved * (share - ",
        "out -= moved * (share - ",
        "steps go uphill, and the fit ends where it began",
        fit.exact_measurements_are_met,
    ),
    Mutant(
        "what-is-near-is-far",
        W + "fit:strengths",
        "second = odds / (1 + odds)",
        "second = 1 / (1 + odds)",
        "what a base predicts is taken for what it does not, and noise is learned",
        fit.what_is_off_is_told_apart,
    ),
    Mutant(
        "each-order-begins-anew",
        W + "residual_start:fitted_by_order",
        "Fit(Evidence(evidence.domain, upto), model",
        "Fit(Evidence(evidence.domain, {}), model",
        "nothing that was measured is learned",
        fit.trees_are_told_by_pairs,
    ),
    Mutant(
        "lower-marginals-wander",
        W + "residual_start:fitted_by_order",
        "scaled(fitted.weights.copy(), before, PASSES)",
        "fitted.weights",
        "the noise of many empty cells moves the marginals of single attributes",
        proportional.lower_marginals_stay,
    ),
    Mutant(
        "floors-by-half",
        W + "residual_start:raised",
        "factor**2",
        "factor",
        "single attributes have less of the price than they should",
        proportional.low_orders_have_their_floor,
    ),
    Mutant(
        "one-pass-over-all-marginals",
        W + "proportional:scaled",
        "range(passes)",
        "range(1)",
        "the marginal that came last is met, and those before it are not",
        proportional.marginals_are_met,
    ),
    Mutant(
        "squares-of-other-rows",
        W + "transform:_squares",
        "k * k * inside",
        "k * inside",
        "the curvature is that of another basis",
        proportional.squares_are_those_of_the_vectors,
    ),
    Mutant(
        "labels-of-the-domain-alone",
        W + "labels:label",
        "        mark.update(each)\n",
        "        pass\n",
        "a key gives what was released for other arguments",
        labels.a_key_names_one_request,
    ),
    Mutant(
        "differences-that-nobody-counts",
        "discreet.audit.learned:of_histograms",
        "*report.differences",
        "*()",
        "twins that are told apart do not count against what was learned",
        exact_histograms_are_told_apart,
    ),
    Mutant(
        "gaussian-noise-of-half-the-scale",
        W + "budget:LearningBudget.noise",
        "RoundedGaussian(sensitivity * _scale(share * self.worth) * ROOM)",
        "RoundedGaussian(sensitivity * _scale(share * self.worth) / 2)",
        "noise costs four times its share",
        budgets_are_kept,
    ),
    Mutant(
        "norms-are-taken-for-squares",
        W + "budget:LearningBudget.noise",
        "sensitivity = sqrt_up(move.squared)",
        "sensitivity = sqrt_up(sqrt_up(move.squared))",
        "noise is made for less than one unit moves",
        budgets_are_kept,
    ),
    Mutant(
        "choices-of-all-the-price",
        W + "budget:LearningBudget.selection",
        "ConcentratedExponential.for_rho(share * self.worth / 2, sensitivity)",
        "ConcentratedExponential.for_rho(share * self.worth, sensitivity)",
        "ρ is half of 1/σ², and a choice takes twice its share",
        budgets_are_kept,
    ),
    Mutant(
        "a-choice-for-one-cell",
        W + "worst:LearningRounds._marginal",
        "moved = Fraction(cells_moved(self.budget.relation))",
        "moved = Fraction(1)",
        "who is replaced moves two cells",
        learning.twins_see_the_same,
    ),
    Mutant(
        "scores-of-the-model-alone",
        W + "worst:LearningRounds._marginal",
        "np.abs(sums[axes] - rounded[axes])",
        "np.abs(rounded[axes])",
        "what is large is chosen, and not what is wrong",
        choices_follow_scores,
    ),
    Mutant(
        "queries-that-are-answered-well",
        W + "worst:LearningRounds._query",
        "np.abs(self.workload.steps(self.exact()) - rounded)",
        "-np.abs(self.workload.steps(self.exact()) - rounded)",
        "the best query is measured, and nothing is learned",
        choices_follow_scores,
    ),
    Mutant(
        "twice-the-share-of-each-round",
        W + "worst:LearningRounds.run",
        "left -= share",
        "left -= share / 2",
        "rounds draw more than was granted",
        learning.spending_is_the_composition_of_what_was_drawn,
    ),
    Mutant(
        "lost-rounds-end-all",
        W + "worst:LearningRounds._round",
        'if refusal.code != "draw-lost":',
        "if True:",
        "whoever was stopped inside of a draw cannot go on",
        learning.whoever_was_stopped_goes_on,
    ),
    Mutant(
        "lost-starts-end-all",
        W + "residual_start:measure",
        'if refusal.code != "draw-lost":',
        "if True:",
        "whoever was stopped inside of the start cannot go on",
        learning.whoever_was_stopped_goes_on,
    ),
    Mutant(
        "the-size-is-free",
        W + "residual_start:Start._in_parts",
        "return 1 - SIZE_SHARE - share",
        "return 1 - share",
        "rounds have a price that was spent on the size",
        learning.spending_is_the_composition_of_what_was_drawn,
    ),
    Mutant(
        "the-highest-order-is-left-out",
        W + "residual_start:Start._in_shares",
        "ResidualDraw.of_precisions(self.residuals, precisions)",
        "ResidualDraw.of_precisions(lower, precisions[: len(lower)] + 1.0)",
        "what pairs do not tell is never measured",
        starts_are_of_all_residuals,
    ),
    Mutant(
        "the-size-is-exact",
        W + "residual_start:Start.learned",
        "size = grant(noise.mechanism, noise.sensitivity, lambda: int(exact().sum()))",
        "size = grant(noise.mechanism, noise.sensitivity, lambda: 2 * int(exact().sum()))",
        "one unit moves the size by two",
        learning.twins_see_the_same,
    ),
    Mutant(
        "all-residuals-as-one-unit",
        W + "residual_start:move_of",
        "draw.mass(relation)",
        "draw.mass(relation) / 2",
        "geometric noise is made for half of what one unit moves",
        lambda: joint.pure_promises_are_kept([("start", ADDED, None)]),
    ),
    Mutant(
        "rounds-without-end",
        W + "histogram_learning:_rounds",
        "if most > MOST_ROUNDS:",
        "if False:",
        "a price is cut into parts that buy nothing",
        lambda: learning.test_bad_requests_are_refused_before_anything_is_spent({"rounds": 5000}, "at most"),
    ),
    Mutant(
        "workloads-of-other-domains",
        W + "histogram_learning:_workload",
        "if workload.domain != domain:",
        "if False:",
        "queries are answered over other attributes",
        lambda: learning.test_bad_requests_are_refused_before_anything_is_spent(
            {"workload": Workload.margins(elsewhere(), 2)}, "another domain"
        ),
    ),
    Mutant(
        "choices-cost-half",
        CHOICE + "event",
        "return self.concentrated(sensitivity)",
        "return self.concentrated(None)",
        "scores that move farther cost no more",
        concentrated.the_price_is_an_eighth_of_the_square,
    ),
    Mutant(
        "choices-for-more-than-rho",
        CHOICE + "for_rho",
        "1 / sqrt_up(1 / (8 * exact))",
        "1 / sqrt_up(1 / (9 * exact))",
        "a choice costs more than it was made for",
        concentrated.rho_is_kept_and_used,
    ),
    Mutant(
        "rounded-down-for-the-audit",
        "discreet.audit.tails:_rounded_tail",
        "z * fine - fine // 2",
        "z * fine",
        "noise that is rounded is enumerated as if it were cut off",
        tails.rounded_noise_has_the_tails_of_a_gaussian,
    ),
    Mutant(
        "rho-is-not-taken",
        POOL + "_less",
        "replace(left, rho=left.rho - rho)",
        "left",
        "a grant of ρ is drawn without end",
        allowance.parts_add_up,
    ),
    Mutant(
        "the-last-part-may-be-larger",
        POOL + "_less",
        "rho <= left.rho",
        "rho <= 2 * left.rho",
        "the last part goes beyond what was granted",
        allowance.what_was_refused_takes_nothing,
    ),
    Mutant(
        "repeated-rho-is-granted-once",
        POOL + "Allowance.__init__",
        "rho += n * cost.concentrated",
        "rho += cost.concentrated",
        "what was granted three times may be drawn once",
        allowance.repeated_leaves_cost_each,
    ),
    Mutant(
        "many-parts-for-the-price-of-one",
        POOL + "_rho_price",
        "n * spent.rho",
        "spent.rho",
        "several draws at once are taken for one",
        allowance.repeated_leaves_cost_each,
    ),
    Mutant(
        "delta-is-overlooked",
        POOL + "_rho_price",
        "return None if spent.delta else n * spent.rho",
        "return n * spent.rho",
        "what has a δ of its own is drawn of ρ",
        allowance.what_needs_a_delta_or_was_sampled_is_not_drawn_of_rho,
    ),
)
