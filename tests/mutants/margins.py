"""Planted bugs of models of margins: noise for gentler neighbours, weights beyond their norm, messages that are lost, choices by noise."""

from tests.mutants import Mutant
from tests.weights import test_estimation as fits
from tests.weights import test_graphical as models
from tests.weights import test_junction as trees
from tests.weights import test_large_domain as learning
from tests.weights import test_pairs as pairs
from tests.weights import test_stages as stages

FACTORS = "discreet.weights.factors:"
JUNCTION = "discreet.weights.junction:"
PROPAGATION = "discreet.weights.propagation:"
GRAPHICAL = "discreet.weights.graphical:"
ESTIMATION = "discreet.weights.estimation:"
STAGES = "discreet.weights.stages:"
PAIRS = "discreet.weights.pairs:"
LEARNING = "discreet.weights.large_domain:"


def too_few_cells() -> None:
    learning.bad_is_refused_before_anything_is_spent("too few cells for a condition")


def nothing_possible() -> None:
    learning.bad_is_refused_before_anything_is_spent("nothing possible")


def another_shape() -> None:
    learning.bad_is_refused_before_anything_is_spent("numbers")


MUTANTS = (
    Mutant(
        "margins-are-replaced-for-nothing",
        STAGES + "_stages",
        "sqrt_up(Fraction(cells_moved(relation))) * NORM",
        "Fraction(NORM)",
        "who is replaced leaves one cell and comes to another",
        stages.no_neighbour_moves_more,
    ),
    Mutant(
        "each-draw-has-all-of-the-price",
        STAGES + "_stages",
        "moves * sigma * sqrt_up(1 / share)",
        "moves * sigma",
        "four draws cost more than one",
        stages.draws_cost_what_was_promised,
    ),
    Mutant(
        "weights-of-a-norm-each",
        STAGES + "weighed_by",
        "floor(NORM * sqrt(size / sizes.sum()))",
        "floor(NORM * sqrt(size / sizes.max()))",
        "a unit is in a cell of every marginal",
        stages.no_neighbour_moves_more,
    ),
    Mutant(
        "heavy-weights-are-drawn",
        STAGES + "drawn",
        "if sum(each * each for each in weighed.weights) > NORM * NORM:",
        "if False:",
        "what was granted is for a norm, and nobody looks at it",
        stages.heavy_weights_are_a_fault,
    ),
    Mutant(
        "counts-are-not-weighed",
        STAGES + "Weighed.exact",
        "weight * cells.marginal(scope).reshape(-1)",
        "cells.marginal(scope).reshape(-1)",
        "noise that is made for weighted counts drowns others",
        stages.no_neighbour_moves_more,
    ),
    Mutant(
        "deviations-of-weighed-counts",
        STAGES + "VectorStage.deviation",
        "sqrt(self.mechanism.variance) / weight",
        "sqrt(self.mechanism.variance)",
        "noise is thought to be larger than it is",
        stages.deviations_are_true,
    ),
    Mutant(
        "every-refusal-is-a-lost-draw",
        STAGES + "_kept",
        'refusal.code != "draw-lost"',
        "False",
        "what a policy refuses is passed over in silence",
        stages.lost_draws_are_left_out,
    ),
    Mutant(
        "what-was-noted-is-forgotten",
        STAGES + "noted",
        "return tuple(int(each) for each in note)",
        "return tuple(choice)",
        "whoever enters again reads a draw as another one's",
        stages.notes_come_back,
    ),
    Mutant(
        "fill-is-not-filled",
        JUNCTION + "_eliminated",
        "left[one] |= near - {one}",
        "left[one] |= set()",
        "a cycle has no junction tree",
        trees.fixed_trees_are_valid,
    ),
    Mutant(
        "any-tree-will-do",
        JUNCTION + "_spanned",
        "if common > most:",
        "if False:",
        "what cliques share is not along the tree",
        trees.fixed_trees_are_valid,
    ),
    Mutant(
        "the-largest-goes-first",
        JUNCTION + "_eliminated",
        "axis = min(left, key",
        "axis = max(left, key",
        "cliques are larger than they need be",
        trees.cycles_get_the_least_fill,
    ),
    Mutant(
        "cliques-inside-of-others",
        JUNCTION + "_maximal",
        "if not any(clique <= other for other in found):",
        "if True:",
        "a clique is there twice",
        trees.fixed_trees_are_valid,
    ),
    Mutant(
        "axes-in-another-order",
        FACTORS + "aligned",
        "values.transpose(order).reshape(shape)",
        "values.reshape(shape)",
        "potentials are added to the wrong cells",
        models.fixed_marginals_agree,
    ),
    Mutant(
        "sums-in-the-order-they-had",
        FACTORS + "summed",
        "np.asarray(total).transpose([left.index(axis) for axis in kept])",
        "np.asarray(total)",
        "a marginal is turned around",
        models.fixed_marginals_agree,
    ),
    Mutant(
        "one-maximum-for-all-rows",
        FACTORS + "log_sums",
        "logs.max(axis=1, keepdims=True)",
        "np.full((len(logs), 1), logs.max())",
        "rows of little mass are lost, though a parent makes them count",
        models.vast_ratios_are_kept,
    ),
    Mutant(
        "messages-are-not-told",
        PROPAGATION + "propagated",
        "logs[parent] = logs[parent] + told",
        "logs[parent] = logs[parent] + 0 * told",
        "a clique knows nothing of those below it",
        models.vast_ratios_are_kept,
    ),
    Mutant(
        "beliefs-without-their-parents",
        PROPAGATION + "CliqueShares.beliefs",
        "found.append(shares * aligned(weight, shared, self.cliques.axes[number]))",
        "found.append(shares)",
        "shares that are given the separator are taken for those of all",
        fits.fixed_slopes_are_level,
    ),
    Mutant(
        "subtrees-end-at-what-is-wanted",
        GRAPHICAL + "Factored._needed",
        "at = cliques.tree.parents[at]",
        "at = 0",
        "what lies between two cliques is passed over",
        models.fixed_marginals_agree,
    ),
    Mutant(
        "any-size-of-marginal",
        GRAPHICAL + "Factored._checked",
        "if cells > MOST_MARGINAL:",
        "if False:",
        "an array larger than memory is asked for",
        models.huge_marginals_are_invalid,
    ),
    Mutant(
        "rows-of-one-table-row",
        GRAPHICAL + "_places",
        "place = place * shape[axis] + codes[:, axis]",
        "place = place * shape[axis]",
        "what was drawn before does not count",
        models.rows_follow_the_model,
    ),
    Mutant(
        "what-is-left-goes-to-the-first",
        GRAPHICAL + "_on_grid",
        "largest = shares.argmax(axis=1)",
        "largest = np.zeros(len(shares), np.int64)",
        "an impossible cell is drawn now and then",
        lambda: models.whole_numbers_add_up(models.np.array([[0.0, 1 / 3, 2 / 3], [0.0, 0.3, 0.7]])),
    ),
    Mutant(
        "pools-of-equal-weight",
        ESTIMATION + "pooled",
        "weight += before",
        "weight = before",
        "two measurements are as noisy as one",
        fits.pools_have_the_least_variance,
    ),
    Mutant(
        "totals-of-equal-weight",
        ESTIMATION + "total_of",
        "1 / (each.values.size * each.deviation**2)",
        "1.0",
        "the number of units is as noisy as the worst marginal",
        fits.pools_have_the_least_variance,
    ),
    Mutant(
        "parts-without-the-noise-of-others",
        ESTIMATION + "parted",
        "measured.deviation * sqrt(measured.values.size / values.size)",
        "measured.deviation",
        "a sum of cells has the noise of all of them",
        fits.parts_have_the_noise_of_their_cells,
    ),
    Mutant(
        "barred-cells-are-likely",
        ESTIMATION + "barriers",
        "np.where(each.cells, -np.inf, 0.0)",
        "np.where(each.cells, -9.0, 0.0)",
        "what is impossible is only rare",
        learning.impossible_cells_have_no_mass,
    ),
    Mutant(
        "fits-follow-all-noise",
        ESTIMATION + "_Dual.at",
        "found - self._wanted + self._penalty * theta",
        "found - self._wanted",
        "the slope is that of another function",
        fits.fixed_slopes_are_level,
    ),
    Mutant(
        "a-fit-forgets-its-start",
        ESTIMATION + "_Dual.stretched",
        "return _flat(known) / self._stretch",
        "return 0 * _flat(known)",
        "every fit begins anew",
        fits.starts_are_used,
    ),
    Mutant(
        "a-fit-ends-early",
        ESTIMATION + "_minimised",
        "if gain < TOLERANCE:",
        "if gain < 1:",
        "what is left between the fit and its minimum is taken for noise",
        fits.fixed_slopes_are_level,
    ),
    Mutant(
        "noise-is-a-distance",
        PAIRS + "evidence",
        "distance - MEAN * seen.deviation * float(followed.sum())",
        "distance",
        "pairs are chosen for the noise on them",
        pairs.noise_shows_nothing,
    ),
    Mutant(
        "a-few-deviations-are-none",
        PAIRS + "Chooser._worth",
        "each.sureness > SURE and",
        "each.sureness > -SURE and",
        "pairs are chosen that have nothing to do with one another",
        pairs.strangers_are_not_chosen,
    ),
    Mutant(
        "noise-that-is-left-does-not-count",
        PAIRS + "PairEvidence.surplus",
        "self.gain - WORTH * self.left",
        "self.gain",
        "a pair is measured whose noise is larger than what it tells",
        pairs.pairs_below_their_noise_are_not_chosen,
    ),
    Mutant(
        "trees-of-any-size",
        PAIRS + "Chooser._fits",
        "tree.cells(self.shape) <= self.most_cells",
        "True",
        "a model is larger than memory",
        pairs.limits_hold,
    ),
    Mutant(
        "one-pair-alone-never-shows",
        PAIRS + "anything_shows",
        "max(found) > SOME or sum(found) / sqrt(len(found)) > TOGETHER",
        "False",
        "nothing is ever looked at twice, and nothing chosen",
        pairs.a_second_look_is_for_what_shows,
    ),
    Mutant(
        "choices-of-this-machine",
        LEARNING + "_Learning._choice",
        "tuple(pairs[each] for each in flat[::2])",
        "tuple(found)[: len(flat) // 2]",
        "a draw of an earlier entry is read as if other pairs had been measured",
        learning.notes_decide,
    ),
    Mutant(
        "the-last-draw-of-attributes-alone",
        LEARNING + "_Learning._last",
        "(*alone.scopes, *inside)",
        "alone.scopes",
        "what was chosen is not measured",
        learning.what_was_chosen_is_measured,
    ),
    Mutant(
        "conditions-of-any-size",
        LEARNING + "_possible",
        "if tree.cells(domain.shape) > most_cells:",
        "if False:",
        "a condition makes a clique larger than is allowed",
        too_few_cells,
    ),
    Mutant(
        "nobody-at-all",
        LEARNING + "_possible",
        "if log_total == -np.inf:",
        "if False:",
        "a model without any cell is paid for",
        nothing_possible,
    ),
    Mutant(
        "masks-of-numbers",
        LEARNING + "_barred",
        "mask.dtype != bool or",
        "",
        "numbers are taken for True and False",
        another_shape,
    ),
    Mutant(
        "pairs-of-any-size-are-looked-at",
        LEARNING + "_pairs",
        "if prod(domain.shape[axis] for axis in pair) <= most_cells",
        "if pair",
        "noise is spent on pairs that cannot be in the model",
        learning.limits_bind,
    ),
    Mutant(
        "the-receipt-is-of-another-price",
        LEARNING + "factored",
        "stages_for(table.relation, epsilon, delta)",
        "stages_for(table.relation, 2 * epsilon, delta)",
        "twice of what was asked is spent",
        learning.spending_is_what_was_promised,
    ),
)
