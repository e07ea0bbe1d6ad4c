"""Planted bugs of quantiles: noise for fewer rows or gentler neighbours, ends at wrong ranks, cells that are lost, and words unread."""

from tests.mechanisms import test_quantile_ends as ends
from tests.mutants import Law, Mutant
from tests.plan import test_quantiles as law

ENDS = "discreet.mechanisms.quantile_ends:"
KIND = "discreet.plan.releases.quantile:"
READING = "discreet.plan.quantile_reading:"
SHARES = "discreet.plan.sql.shares:"


def refused(text: str) -> Law:
    row = next(each for each in law.REFUSED if each[0] == text)
    return lambda: law.test_what_is_refused(*row)


MUTANTS = (
    Mutant(
        "half-a-score-too-sharp",
        ENDS + "QuantileEnds.rate",
        "self.each / (2 * self.rows * self.moved(q))",
        "self.each / (self.rows * self.moved(q))",
        "scores move in both directions, and a choice loses twice what they move by",
        ends.nobody_is_told_apart_among_empty_cells,
    ),
    Mutant(
        "the-rows-of-a-unit-are-one",
        ENDS + "QuantileEnds.rate",
        "2 * self.rows * self.moved(q)",
        "2 * self.moved(q)",
        "a unit with several rows moves scores by several",
        ends.nobody_is_told_apart,
    ),
    Mutant(
        "the-smaller-side-counts",
        ENDS + "QuantileEnds.moved",
        "most = max(q, 1 - q)",
        "most = Fraction(1, 2)",
        "rows on the other side move a score by more",
        ends.nobody_is_told_apart_among_empty_cells,
    ),
    Mutant(
        "replaced-is-added-or-removed",
        ENDS + "QuantileEnds.moved",
        "Exchange.WITHIN: Fraction(1)",
        "Exchange.WITHIN: most",
        "who is replaced leaves one side and comes to the other",
        ends.nobody_is_told_apart_among_empty_cells,
    ),
    Mutant(
        "nobody-changes-groups",
        ENDS + "QuantileEnds.moved",
        "Exchange.ACROSS: 2 * most",
        "Exchange.ACROSS: most",
        "who is replaced leaves one group and comes to another",
        ends.nobody_is_told_apart_among_empty_cells,
    ),
    Mutant(
        "what-is-learnt-first-costs-nothing",
        ENDS + "QuantileEnds.each",
        "self.epsilon * (1 - TENTH) / self.ends",
        "self.epsilon / self.ends",
        "all ends together cost more than is said",
        ends.parts_cost_what_the_whole_costs,
    ),
    Mutant(
        "a-quantile-of-no-ranks",
        ENDS + "QuantileEnds.gaps",
        "target = q.numerator * n + by * shift[:, None]",
        "target = q.numerator * n + shift[:, None]",
        "a share of the rows is asked for, and ends lie too near",
        ends.ends_enclose_quantiles,
    ),
    Mutant(
        "both-ends-at-the-quantile",
        ENDS + "QuantileEnds.__call__",
        "sign * margin",
        "0 * margin",
        "the ends do not enclose it",
        ends.draws_follow_the_law,
    ),
    Mutant(
        "cells-of-a-unit-are-one",
        ENDS + "QuantileEnds.noise",
        "moved = self.rows * (2 if",
        "moved = 1 * (2 if",
        "a unit with several rows is in several cells",
        ends.occupied_cells_move_as_far_as_is_said,
    ),
    Mutant(
        "cells-of-other-groups",
        ENDS + "QuantileEnds.noise",
        "(2 if self.exchange is Exchange.ACROSS else 1)",
        "1",
        "who is replaced leaves the cells of one group and comes to those of another",
        ends.occupied_cells_move_as_far_as_is_said,
    ),
    Mutant(
        "everything-is-smooth",
        ENDS + "QuantileEnds.margin",
        "np.maximum(1.0, empty) / float(MISS)",
        "np.ones_like(empty) / float(MISS)",
        "of few values far apart an interval holds the truth in half of all answers",
        ends.few_values_far_apart_are_enclosed,
    ),
    Mutant(
        "rows-below-a-cell-are-rows-in-it",
        ENDS + "QuantileEnds.gaps",
        "by * (upto - counts) - target",
        "by * upto - target",
        "a cell that holds the rank is as far as its last row",
        ends.ends_enclose_quantiles,
    ),
    Mutant(
        "limits-do-not-count",
        READING + "rows_by_value",
        "if caps.rows is not None:",
        "if caps.rows is None:",
        "a person has as many rows as they like",
        law.plans_hold_and_cost_what_they_say,
    ),
    Mutant(
        "groups-are-not-capped",
        READING + "rows_by_value",
        "if caps.groups is not None and draft.known > caps.groups:",
        "if caps.groups is None:",
        "a person is in more groups than others",
        law.people_in_many_groups_count_in_few,
    ),
    Mutant(
        "a-reading-is-not-checked-for-rows",
        READING + "QuantileReading.check",
        "if self.mechanism.rows < mass_of(self.query, relation, number, self.mechanism.cells):",
        "if False:",
        "noise that is made for fewer rows is not found",
        law.false_readings_are_found,
    ),
    Mutant(
        "a-reading-is-not-checked-for-neighbours",
        READING + "QuantileReading.check",
        "if needed is not Exchange.NONE and self.mechanism.exchange not in (needed, Exchange.ACROSS):",
        "if False:",
        "noise that is made for other neighbours is not found",
        law.false_readings_are_found,
    ),
    Mutant(
        "a-reading-is-not-checked-for-cells",
        READING + "QuantileReading.check",
        "if self.mechanism.cells != cells_of(self.value):",
        "if False:",
        "a row in a cell that there is none of would be an error that tells of it",
        law.false_readings_are_found,
    ),
    Mutant(
        "the-mass-of-one-group",
        READING + "mass_of",
        "combined(WHOLE, Totals(query.source.source), alone, groups).l1",
        "combined(WHOLE, Totals(query.source.source), alone, 1).l1",
        "a person in two groups counts in both",
        law.no_neighbour_moves_more,
    ),
    Mutant(
        "replaced-in-one-group-of-many",
        READING + "exchange_of",
        "if groups == 1 else Exchange.ACROSS",
        "if groups else Exchange.ACROSS",
        "who is replaced may come to another group",
        law.neighbours_of_many_groups_are_exchanged_across,
    ),
    Mutant(
        "rows-are-whole",
        READING + "rows_by_value",
        "ones_of(condition, FINE)",
        "ones_of(condition, 1)",
        "the share of a value that is less than a row is nothing",
        law.people_share_their_rows,
    ),
    Mutant(
        "people-with-one-row-are-limited",
        READING + "rows_by_value",
        "if draft.alone:",
        "if False:",
        "who has one row is gathered and shared for nothing",
        law.people_with_one_row_need_no_limit,
    ),
    Mutant(
        "an-order-that-falls-is-not-read",
        KIND + "Quantile.read",
        "1 - share if call.descending else share",
        "share",
        "the 90th of values that fall is the 10th of values that rise",
        law.quantiles_of_one_argument_are_one_reading,
    ),
    Mutant(
        "shares-beyond-all",
        KIND + "_share",
        "if not 0 <= share <= 1 or",
        "if",
        "a share above 1 is no quantile",
        refused("SELECT QUANTILE(y, 1.5) FROM t"),
    ),
    Mutant(
        "every-quantile-is-read-by-itself",
        KIND + "Quantile.planned",
        "probabilities = tuple(sorted(shares))",
        "probabilities = tuple(sorted({self.share} & shares))",
        "quantiles of one argument are paid for as if they were of several",
        law.quantiles_of_one_argument_are_one_reading,
    ),
    Mutant(
        "filters-are-alike",
        KIND + "Quantile.planned",
        "(each.argument, each.condition) == (aggregate.argument, aggregate.condition)",
        "each.argument == aggregate.argument",
        "quantiles of other rows are paid for, and not shown",
        law.quantiles_of_one_argument_are_one_reading,
    ),
    Mutant(
        "a-list-inside-an-expression",
        SHARES + "_name",
        "return after[0] if len(after) == 1 and after[0].token_type in (T.VAR, T.IDENTIFIER) else None",
        "return after[0]",
        "a part of the text is taken for the name of an output",
        refused("SELECT QUANTILE(y, [0.1, 0.2]) + 1 FROM t"),
    ),
)
