"""Planted bugs of linear models and of scaling: sums that a row moves too far, noise that is not paid for, errors that intervals forget."""

from tests.learn import test_intervals as intervals
from tests.learn import test_linear_regression as linear
from tests.learn import test_scaling as scaling
from tests.mutants import Mutant

M = "discreet.learn.moments:"
S = "discreet.learn.shares:"
R = "discreet.learn.refinement:"
F = "discreet.learn.least_squares:"
L = "discreet.learn.linear_regression:"
P = "discreet.learn.private_scaling:"
B = "discreet.learn.scaling:"


def looks_are_used() -> None:
    """R² of 0.998 is seen with looks at residuals, and 0.96 without them."""
    linear.fits_are_good(0.1, 0.99, norm=1.0)


MUTANTS = (
    Mutant(
        "products-count-twice",
        M + "Weights.of",
        "cls(5, 7)",
        "cls(5, 10)",
        "a row adds a longer vector of products than its noise is made for",
        linear.weighted_squares_are_as_long_as_the_square_of_a_row,
    ),
    Mutant(
        "norms-side-by-side-are-the-longest",
        M + "joined",
        "isqrt(sum(each * each for each in norms) - 1) + 1",
        "max(norms)",
        "a vector of several parts moves by more than one of them",
        linear.worst_rows_reach_what_is_declared,
    ),
    Mutant(
        "rows-that-are-no-numbers-are-known",
        M + "ScaledExamples.of",
        "np.isfinite(features).all(axis=1) & np.isfinite(targets)",
        "np.isfinite(features).all(axis=1)",
        "a target that is no number reaches the sums",
        linear.rows_that_are_no_numbers_add_nothing,
    ),
    Mutant(
        "lines-of-any-bounds",
        L + "linear_of",
        "label_of(LABEL, units, norm)",
        "LABEL",
        "sums that were drawn for some bounds are read by others",
        linear.a_key_belongs_to_what_is_declared,
    ),
    Mutant(
        "targets-are-not-scaled-down",
        M + "RowView.rows",
        "rows.targets * shrunk",
        "rows.targets",
        "a long row is scaled down and its target is not: the line is another",
        linear.long_rows_keep_the_line,
    ),
    Mutant(
        "residuals-are-not-clipped",
        M + "ResidualsSum.exact",
        "np.clip((seen.targets - scores) / self.clip, -1, 1)",
        "np.clip((seen.targets - scores) / self.clip, -2, 2)",
        "a row moves the sum of residuals by any length",
        linear.worst_rows_reach_what_is_declared,
    ),
    Mutant(
        "means-without-their-count",
        M + "MeansSum.most",
        "joined([self.all_features] * 2, self.shape)",
        "self.all_features",
        "the count of rows is released for nothing",
        linear.worst_rows_reach_what_is_declared,
    ),
    Mutant(
        "sizes-in-the-wrong-order",
        M + "SizesSum.exact",
        "-self.ends[1:], -lengths",
        "-self.ends[:-1], -lengths",
        "the norm that is found is too short by √2",
        linear.the_norm_is_found,
    ),
    Mutant(
        "sums-lose-their-last-rows",
        M + "summed",
        "range(0, len(rows), CHUNK)",
        "range(0, len(rows) - 1, CHUNK)",
        "a table of one row is summed as if it were empty",
        linear.no_row_moves_a_sum_farther,
    ),
    Mutant(
        "parts-have-all-of-the-budget",
        S + "_noise",
        "scale * sensitivity * sqrt_up(1 / share)",
        "scale * sensitivity",
        "each draw spends the whole promise: nothing certifies them, and a larger noise for all is drawn",
        linear.shares_keep_their_promise,
    ),
    Mutant(
        "replaced-units-move-once",
        S + "DrawShares.of",
        "2 if relation.adjacency is Adjacency.REPLACE else 1",
        "1",
        "who is replaced is charged as one who comes",
        linear.neighbours_differ_by_the_sensitivity,
    ),
    Mutant(
        "people-fitted-as-rows",
        S + "one_row_each",
        "used_rows(people, unit)[0]",
        "slice(None)",
        "all rows of a person are used, and one is paid for",
        linear.people_have_one_row,
    ),
    Mutant(
        "looks-read-outside-of-draws",
        F + "_Draws.means",
        "return of.read(self._drawn(lambda: of.exact(self._read()))[0])",
        "found = of.exact(self._read())\n    return of.read(self._drawn(lambda: found)[0])",
        "rows are read outside of a draw",
        linear.rows_are_read_in_draws_alone,
    ),
    Mutant(
        "a-draw-is-looked-at-before-it-is-made",
        F + "_Draws.norm",
        "of.read(released, variance**0.5)",
        "of.read(of.exact(self._read()), variance**0.5)",
        "the norm comes from exact counts",
        linear.rows_are_read_in_draws_alone,
    ),
    Mutant(
        "the-first-fit-is-the-last",
        F + "LeastSquaresFit.fitted",
        "state = draws.look(state, view, reach)",
        "draws.look(state, view, reach)",
        "looks are paid for and not used",
        looks_are_used,
    ),
    Mutant(
        "noise-of-the-look-is-forgotten",
        R + "Refined.covariance",
        "self.variance * of.inner + self.of_cross * np.eye(len(self.weights))",
        "self.variance * of.inner",
        "intervals hold sampling alone",
        intervals.noise_is_in_intervals,
    ),
    Mutant(
        "noise-of-the-matrix-passes-for-data",
        R + "NoisyMatrix.of",
        "np.maximum(values, floor)",
        "values",
        "eigenvalues that are noise are inverted, and no ridge is told",
        linear.noise_is_not_inverted,
    ),
    Mutant(
        "a-ridge-is-not-told",
        R + "NoisyMatrix.of",
        "max(0.0, floor - float(values[0]))",
        "0.0",
        "intervals are given whose bias they do not cover",
        intervals.where_a_ridge_was_needed_there_are_none,
    ),
    Mutant(
        "clips-collapse",
        R + "Refined.next_clip",
        "max(self.left, 0.0) + self.doubt",
        "max(self.left - self.doubt, 0.0)",
        "residuals are clipped to nothing where noise hides them",
        intervals.noise_is_in_intervals,
    ),
    Mutant(
        "the-middle-is-forgotten",
        L + "LinearUnits.change",
        "self.features.middle + self.features.half * view.middle",
        "self.features.middle",
        "the intercept is that of features that were not centred",
        linear.centred_rows_fit_better,
    ),
    Mutant(
        "the-path-is-of-scaled-rows",
        L + "_descended",
        "tuple(matrix @ each[0] + shift for each in trained.path)",
        "tuple(each[0] for each in trained.path)",
        "the weights of the path are not in the units of the data",
        linear.descents_fit,
    ),
    Mutant(
        "texts-forget-the-clip",
        "discreet.learn.linear_model:LinearModel.from_json",
        'float("inf") if data["clip"] is None else float(data["clip"])',
        'float("inf")',
        "a model that was kept is another",
        linear.texts_give_the_model_back,
    ),
    Mutant(
        "counts-of-rows-for-nothing",
        P + "SpreadSum.most",
        "[self.of_count] * 3",
        "[self.of_count] * 2",
        "the count of rows is released for nothing",
        linear.worst_rows_reach_what_is_declared,
    ),
    Mutant(
        "unknown-rows-are-counted",
        P + "SpreadSum.exact",
        "len(known) * self.of_count",
        "len(features) * self.of_count",
        "rows that are no numbers count",
        scaling.without_noise_means_are_means,
    ),
    Mutant(
        "means-without-their-noise",
        P + "_read",
        "(noise**2 + (mean * of_count) ** 2) / count**2 + square / count",
        "square / count",
        "intervals hold sampling alone",
        intervals.means_are_covered,
    ),
    Mutant(
        "scaled-rows-go-anywhere",
        P + "FeatureScale.scaled",
        "np.clip(values, -reach, reach)",
        "values",
        "what comes after has no public bounds",
        scaling.scaled_rows_have_public_bounds,
    ),
    Mutant(
        "infinite-values-are-bounds",
        B + "FeatureBounds.clamped",
        "np.isfinite(values)",
        "~np.isnan(values)",
        "a value that is no finite number counts as a bound",
        scaling.scaled_values_stay_within,
    ),
    Mutant(
        "numbers-too-large-are-told",
        B + "_number",
        "except Exception:",
        "except (TypeError, ValueError):",
        "a whole number beyond all doubles is an error, alone among numbers",
        scaling.no_cell_raises,
    ),
    Mutant(
        "cells-that-are-no-numbers-are-0",
        B + "_number",
        'raises\n        return float("nan")',
        "raises\n        return 0.0",
        "a row with a cell that is no number adds what nobody said",
        scaling.no_cell_raises,
    ),
    Mutant(
        "parts-of-complex-numbers-are-numbers",
        B + "_number",
        "isinstance(cell, NO_NUMBER)",
        "False",
        "a warning tells of a cell, and a moment counts where all others are numbers",
        scaling.a_cell_is_read_by_itself,
    ),
)
