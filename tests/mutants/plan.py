"""Planted bugs of the planner: what is clamped, capped, charged and released. The tests of `plan` must catch each of them."""

from datetime import date
from fractions import Fraction

import pytest

from discreet.errors import Fault
from discreet.plan.catalog import Catalog
from discreet.plan.numbers import integral
from discreet.plan.relation import Scan
from discreet.plan.releases.base import registry
from discreet.plan.releases.total import Count
from discreet.plan.rules.scopes import scope_of
from discreet.plan.scalar import Arithmetic, Literal, Operator, Type
from tests.curator import test_limits
from tests.curator import test_number_keys as number_keys
from tests.engines import test_evaluate
from tests.mutants import Mutant, by_itself
from tests.plan import (
    laws,
    test_combination,
    test_facts,
    test_filled,
    test_functions,
    test_once,
    test_plain,
    test_plan,
    test_relations,
    test_scope,
    test_stages,
)
from tests.plan.made import COUNT, plan_of

SCALARS = "discreet.plan.rules.scalars:"
RELATIONS = "discreet.plan.rules.relations:"
FUNCTIONS = "discreet.plan.functions:"
CASTS = "discreet.plan.casts:"
TERMS = "discreet.plan.releases.terms:"
MEAN = "discreet.plan.releases.mean:"
TOTAL = "discreet.plan.releases.total:"
NOISE = "discreet.plan.noise:"
PRIVATE = "discreet.plan.private:"
DRAFT = "discreet.plan.draft:"
BRANCHING = "discreet.plan.steps.branching:Branching."
RELATION = "discreet.plan.relation:"
SCOPE = "discreet.plan.scope:"
CHECK = "discreet.plan.check:"
ONCE = "discreet.plan.once:"
DOMAIN = "discreet.plan.domain:"
RELEASE = "discreet.plan.release:"
CATALOG = "discreet.plan.catalog:"


a_grid = test_combination.test_a_grid_has_at_most_2_24_steps_around_a_middle_of_its_own.hypothesis.inner_test  # type: ignore[attr-defined]


def names_ask_for_one_kind() -> None:
    """A kind that takes the name of another is refused."""

    class Other(Count):
        __slots__ = ()

    try:
        with pytest.raises(Fault):
            registry.add(Other)
    finally:
        registry.remove(Other)


def only_totals_are_whole() -> None:
    """Sums, differences and products of counts are whole numbers; quotients and remainders are not."""
    plan, whole = plan_of(COUNT), {Operator.ADD, Operator.SUBTRACT, Operator.MULTIPLY}
    two = Literal(2, Type.INTEGER)
    assert {each for each in Operator if integral(Arithmetic(each, COUNT, two), plan)} == whole


def scopes_are_of_relations_with_a_rule() -> None:
    with pytest.raises(Fault):
        scope_of(test_relations.BareRows(Scan("t", ())), Catalog((laws.TABLE,), laws.PERSON))


MUTANTS = (
    Mutant(
        "computed-number-is-a-key",
        DOMAIN + "copied",
        "return False",
        "return True",
        "groups depend on the last bit of what an engine computes, and rows fall out of all of them",
        number_keys.computed_numbers_are_no_keys,
    ),
    Mutant(
        "any-double-is-a-key",
        CATALOG + "Column._checked_keys",
        "or (isinstance(key, float) and not isfinite(key))",
        "",
        "a group is declared that no value can be told to be in",
        number_keys.only_finite_numbers_are_keys,
    ),
    Mutant(
        "two-zeros-among-keys",
        CATALOG + "one_number",
        "key + 0.0 if",
        "key if",
        "an answer calls a group -0.0",
        number_keys.there_is_one_zero,
    ),
    Mutant(
        "clamp-on-the-column",
        SCALARS + "_multiply",
        "    return min(corners), max(corners)\n",
        "    return left.low, left.high\n",
        "an argument is clamped to the bounds of a column in it",
        laws.answers_are_right,
    ),
    Mutant(
        "bound-survives-redefinition",
        SCALARS + "_subtract",
        "    return _add(left, turned(right))\n",
        "    return left.low, left.high\n",
        "x - 3 keeps the bounds of x",
        laws.differences_are_right,
    ),
    Mutant(
        "divisor-may-be-zero",
        SCALARS + "_divide",
        "or right.low <= 0 <= right.high",
        "or right.low == right.high == 0",
        "a quotient by a number around zero has bounds",
        laws.missing_declarations_are_refused,
    ),
    Mutant(
        "a-missing-value-bounds-the-greatest",
        FUNCTIONS + "_greatest",
        "if not part.nullable and part.low is not None",
        "if part.low is not None",
        "GREATEST is thought to be at least what may be missing",
        test_functions.facts_of_functions_hold,
    ),
    Mutant(
        "nothing-is-near-zero",
        FUNCTIONS + "_absolute_ends",
        "np.where((low <= 0) & (high >= 0), 0.0, np.minimum(np.abs(low), np.abs(high)))",
        "np.minimum(np.abs(low), np.abs(high))",
        "the interval of an ABS leaves out what lies between the signs",
        test_functions.intervals_hold,
    ),
    Mutant(
        "too-large-for-an-integer-is-there",
        CASTS + "_as_whole",
        "x.nullable or not small",
        "x.nullable",
        "COUNT of a cast counts rows whose number is no integer",
        test_functions.facts_of_casts_hold,
    ),
    Mutant(
        "no-clamp",
        TERMS + "MeasuredTerms._grid",
        "grid = grid_for(low, high, facts.integral)",
        "grid = ValueGrid(-1e300, 1e300, 0, 0.0, False)",
        "nothing is clamped",
        laws.no_neighbour_moves_more,
    ),
    Mutant(
        "filter-of-a-sum-dropped",
        TERMS + "MeasuredTerms.where",
        "return operand if condition is None else",
        "return operand if True else",
        "SUM … FILTER sums all rows",
        laws.answers_are_right,
    ),
    Mutant(
        "null-is-counted",
        TERMS + "MeasuredTerms._conditions",
        "facts_of(part, self.scope).nullable",
        "False",
        "COUNT(x) counts rows where x is NULL",
        laws.answers_are_right,
    ),
    Mutant(
        "mean-without-its-middle",
        MEAN + "mean_of",
        "(centred.grid.middle, centred.grid.low",
        "(0.0, centred.grid.low",
        "the middle is not added back",
        laws.answers_are_right,
    ),
    Mutant(
        "half-of-what-a-person-changes",
        RELATIONS + "_of_term",
        "return sensitivity.grouped_sum(relation, low, high, rows=rows",
        "return sensitivity.grouped_sum(relation, Fraction(low, 2), Fraction(high, 2), rows=rows",
        "noise is made for half of what a person can change",
        laws.no_neighbour_moves_more,
    ),
    Mutant(
        "cap-on-rows-forgotten",
        RELATIONS + "_of_term",
        "rows = reach.rows if term.how is How.SUM else 1",
        "rows = 1",
        "a person is taken to have one row",
        laws.no_neighbour_moves_more,
    ),
    Mutant(
        "cap-on-groups-forgotten",
        RELATIONS + "_of_term",
        "groups = cells if reach.groups is None else min(reach.groups, cells)",
        "groups = 1",
        "a person is taken to be in one group",
        laws.no_neighbour_moves_more,
    ),
    Mutant(
        "rows-not-capped",
        "discreet.plan.gathering:gathered",
        "if rows is None else CapRows(everything, rows)",
        "",
        "the cap on rows is left out of the query",
        laws.no_neighbour_moves_more,
    ),
    Mutant(
        "filtered-row-is-surely-there",
        RELATIONS + "_filter",
        "return Reach(below.rows, below.groups)\n",
        "return Reach(below.rows, below.groups, below.surely)\n",
        "replaced, a row that a filter may drop moves a sum by high - low",
        laws.no_neighbour_moves_more,
    ),
    Mutant(
        "null-is-within-bounds",
        RELATIONS + "_within_bounds_always",
        "low <= 0 <= high",
        "True",
        "replaced by NULL, a value moves a sum by no more than high - low",
        laws.no_neighbour_moves_more,
    ),
    Mutant(
        "centre-not-in-the-bounds",
        RELATIONS + "term_bounds",
        "(steps_of(bound, steps) for bound in (steps.low, steps.high))",
        "(steps_of(bound, steps) // 4 for bound in (steps.low, steps.high))",
        "the bounds of a centred value are not those of the value",
        laws.no_neighbour_moves_more,
    ),
    Mutant(
        "middle-not-in-the-combination",
        TOTAL + "Sum._far",
        "(terms.count(aggregate), grid.whole_middle)",
        "(terms.count(aggregate), 0)",
        "a sum far from 0 is that of the deviations from the middle",
        laws.far_sums_are_close,
    ),
    Mutant(
        "rounding-not-in-the-sensitivity",
        RELATIONS + "_shifted",
        "ends = -_up(-least, combination.divisor), _up(most, combination.divisor)",
        "ends = _up(least, combination.divisor), most // combination.divisor",
        "a total that was rounded is thought to move by less than a step more",
        test_combination.nobody_moves_more,
    ),
    Mutant(
        "rounding-of-one-group-only",
        RELATIONS + "combined",
        "more * cells",
        "more",
        "of all the groups that are rounded one is thought to move farther for it",
        test_combination.rounding_moves_every_group,
    ),
    Mutant(
        "no-sum-below-0-without-a-count",
        RELATIONS + "_shifted",
        "min(0, rows * least, low + min(0, (rows - 1) * least))",
        "min(0, rows * least)",
        "whoever has no count is thought to have no sum, when they are replaced",
        test_combination.someone_without_a_count_has_a_sum_below_0,
    ),
    Mutant(
        "any-count-is-the-count",
        RELATIONS + "counts_all",
        "    if count == ONE:\n",
        "    if True:\n",
        "a count of other rows is taken for that of the rows that are summed",
        test_combination.other_counts_are_taken_for_what_they_are,
    ),
    Mutant(
        "replaced-norm-counts-once",
        RELATIONS + "_of_norm",
        "square *= 2 if low >= 0 else 4",
        "square *= 1",
        "replacing a person is priced as removing one",
        laws.no_neighbour_moves_more,
    ),
    Mutant(
        "each-gets-the-whole-budget",
        NOISE + "Split.noises",
        "/ (self.size * share)",
        "/ self.size",
        "the budget is not split over the parts of a question",
        laws.prices_add_up,
    ),
    Mutant(
        "each-gets-the-whole-gaussian-budget",
        NOISE + "Split.noises",
        "_deviation(self.size, share)",
        "self.size",
        "Gaussian noise is not split over the parts of a question",
        laws.gaussian_noise_is_split,
    ),
    Mutant(
        "delta-not-charged",
        PRIVATE + "_of_one_stage",
        "delta=delta if uses_delta else Fraction(0),",
        "delta=Fraction(0),",
        "Gaussian noise is sold without its delta",
        laws.many_groups_take_gaussian_noise,
    ),
    Mutant(
        "plan-price-not-checked",
        CHECK + "check",
        "if not loss(plan.event).certifies(plan.epsilon, plan.delta):",
        "if False:",
        "a plan that costs more than it says passes",
        laws.false_plans_are_found,
    ),
    Mutant(
        "event-not-checked",
        CHECK + "check",
        "if plan.event != event_of(plan.stage, plan.relation):",
        "if False:",
        "a plan whose event is not what it draws passes",
        laws.false_plans_are_found,
    ),
    Mutant(
        "sensitivity-not-checked",
        "discreet.plan.measurement:covers",
        "if measurement.sensitivity < needed:",
        "if False:",
        "a plan with noise for less than a neighbour can change passes",
        laws.false_plans_are_found,
    ),
    Mutant(
        "first-outcome-checked-only",
        CHECK + "_check_stage",
        "for outcome in stage.ways:",
        "for outcome in stage.ways[:1]:",
        "a choice may lead to a stage with noise for less than a neighbour can change",
        test_stages.every_outcome_is_checked,
    ),
    Mutant(
        "scores-not-checked",
        BRANCHING + "check",
        "if any(self.sensitivity < ",
        "if any(0 * self.sensitivity > ",
        "a choice is made for less than a neighbour can change",
        test_stages.scores_are_checked,
    ),
    Mutant(
        "once-for-all-arguments",
        ONCE + "once",
        "(id(tree), *args, *kwargs.items())",
        "id(tree)",
        "how far a person reaches is taken for how far a row does",
        test_once.results_are_those_of_their_tree,
    ),
    Mutant(
        "remembered-trees-are-not-held",
        ONCE + "once",
        "pair = tree, function(tree, *args, **kwargs)",
        "pair = None, function(tree, *args, **kwargs)",
        "the result of a tree that is gone is that of another in its place",
        test_once.results_are_those_of_their_tree,
    ),
    Mutant(
        "all-trees-are-held",
        ONCE + "once",
        "if len(results) >= MOST:",
        "if False:",
        "a curator's memory grows with every question",
        test_once.few_trees_are_held,
    ),
    Mutant(
        "dearest-outcome-not-charged",
        CHECK + "_alike",
        "if drawn and all(each == drawn[0] for each in drawn):",
        "if drawn:",
        "what the first outcome leads to is charged, whatever is chosen",
        test_stages.what_is_chosen_does_not_change_the_price,
    ),
    Mutant(
        "chosen-by-exact-scores",
        BRANCHING + "drawn",
        "grant(self.mechanism, self.sensitivity, lambda: one_group(self.scores, self.query, run(self.query, salt)))",
        "max(range(len(self.scores)), key=one_group(self.scores, self.query, run(self.query, salt)).__getitem__)",
        "a stage is chosen by exact scores",
        test_stages.stages_run_in_order,
    ),
    Mutant(
        "totals-without-noise",
        "discreet.plan.measurement:covers",
        "(measurement.mechanism is None and needed > Fraction(0))",
        "needed < Fraction(0)",
        "a plan that releases an exact total passes",
        laws.false_plans_are_found,
    ),
    Mutant(
        "l2-for-geometric-noise",
        NOISE + "Split.noises",
        "PricedNoise(Geometric(each.sensitivity.l1 / (self.size * share)), each.sensitivity.l1)",
        "PricedNoise(Geometric(each.sensitivity.l2 / (self.size * share)), each.sensitivity.l2)",
        "geometric noise for an L2 sensitivity",
        laws.no_neighbour_moves_more,
    ),
    Mutant(
        "hidden-group-takes-a-place",
        DRAFT + "_within_groups",
        "if values is None or complete(key):",
        "if True:",
        "groups that are not shown take the place of those that are",
        laws.groups_are_those_declared,
    ),
    Mutant(
        "groups-from-the-data",
        RELEASE + "combined_totals",
        "vector = np.zeros(len(domain), np.int64)",
        "vector = np.zeros(len(sums.keys), np.int64)",
        "how many groups are released depends on the data",
        laws.groups_are_those_declared,
    ),
    Mutant(
        "data-before-noise",
        RELEASE + "release",
        "    prepared = [",
        "    run(plan.query, salt)\n    prepared = [",
        "data is read before the noise is drawn",
        laws.noise_is_of_its_own,
    ),
    Mutant(
        "same-noise-for-all-groups",
        "discreet.mechanisms.measure:Grant.prepare",
        "mechanism(np.zeros(size, np.int64), self._source)",
        "np.full(size, mechanism(0, self._source))",
        "one draw serves every group",
        laws.noise_is_of_its_own,
    ),
    Mutant(
        "within-of-the-first-column",
        "discreet.plan.within:LeastPrice._meets",
        "all(off is None or off <= 1",
        "any(off is not None and off <= 1",
        "an accuracy is promised for all columns and kept for one",
        laws.least_price_is_least,
    ),
    Mutant(
        "name-without-the-price",
        CHECK + "digest",
        "written(plan)",
        "repr(plan.query)",
        "a question at another price is taken for the same",
        laws.plans_have_names_of_their_own,
    ),
    Mutant(
        "keys-from-nowhere",
        DOMAIN + "_values",
        "    if values is None:\n",
        "    if False:\n",
        "a column without declared keys is grouped by",
        laws.missing_declarations_are_refused,
    ),
    Mutant(
        "gaussian-never-chosen",
        NOISE + "gaussian_is_closer",
        "< delta",
        "< 0",
        "the closer noise is not taken",
        laws.many_groups_take_gaussian_noise,
    ),
    Mutant(
        "rows-of-persons-need-not-be-gathered",
        RELATIONS + "reach_of",
        "if reach.gathered is not (relation.unit is Unit.PERSON):",
        "if False:",
        "a person counts as one row",
        laws.ungathered_rows_have_no_sensitivity,
    ),
    Mutant(
        "what-has-no-rule-is-a-row",
        RELATIONS + "reach_into",
        'raise Fault(f"{type(relation).__name__} has no rule", code="rule")',
        "return Reach(rows=1, groups=1, gathered=unit is Unit.PERSON)",
        "a relation that nobody wrote a rule for is taken for one row of each unit",
        test_relations.queries_with_a_relation_without_a_rule_are_refused,
    ),
    Mutant(
        "what-has-no-children-is-a-leaf",
        RELATION + "children",
        'raise Fault(f"{type(relation).__name__} has no rule for its children", code="relation")',
        "return ()",
        "what a relation reads that nobody wrote a rule for is not seen",
        test_relations.queries_with_a_relation_without_a_rule_are_refused,
    ),
    Mutant(
        "a-query-is-a-chain",
        RELATION + "walk",
        "for child in children(relation):",
        "for child in children(relation)[:1]:",
        "one side of a relation is looked at, and the other is not",
        test_relations.trees_are_walked_whole,
    ),
    Mutant(
        "rows-are-capped-before-they-are-gathered",
        RELATIONS + "_check_gathered",
        "not below.gathered or below.limits is not None",
        "False",
        "a cap stands where it caps nothing, and is counted",
        test_relations.caps_are_on_people,
    ),
    Mutant(
        "people-are-rows-again",
        RELATIONS + "_of_rows",
        "if below.gathered:",
        "if False:",
        "what a person has in a group is filtered, and counts as one row of nobody",
        test_relations.caps_are_on_people,
    ),
    Mutant(
        "a-unit-has-one-row",
        RELATIONS + "_shifted",
        "least, most = rows * least, rows * most",
        "pass",
        "where a row comes out of a relation twice, its sum is thought to move once",
        test_relations.units_reach_into_both,
    ),
    Mutant(
        "ambiguous-name-is-the-first",
        SCOPE + "Scope.named",
        "if len(matches) > 1:",
        "if False:",
        "of two columns of one name the first is taken, whichever is meant",
        test_scope.names_alone_mean_one_column,
    ),
    Mutant(
        "largest-value-may-be-negative",
        RELATIONS + "term_bounds",
        "if term.how is How.ANY and low < 0:",
        "if False:",
        "the largest value of a person may be below that of nobody",
        laws.largest_values_are_not_negative,
    ),
    Mutant(
        "totals-of-any-type",
        "discreet.plan.totals:checked_totals",
        "totals.dtype != np.int64 or ",
        "",
        "an engine may hand over floats, which are not exact",
        laws.totals_are_64_bit_integers,
    ),
    Mutant(
        "weight-of-a-single-term",
        "discreet.plan.combination:Combination.only",
        "len(self.parts) == weight == self.divisor == 1",
        "len(self.parts) == self.divisor == 1",
        "a total that is to be multiplied is taken as it is",
        test_combination.test_one_term_keeps_its_weight,
    ),
    Mutant(
        "facts-of-the-first",
        "discreet.plan.facts:either",
        "min(first.low, second.low)",
        "first.low",
        "a value that may be another one is thought to be bounded by the first",
        test_facts.test_what_is_one_of_two_is_within_both,
    ),
    Mutant(
        "missing-where-both-are",
        "discreet.plan.facts:either",
        "first.nullable or second.nullable",
        "first.nullable and second.nullable",
        "a value that may be missing is counted as if it were there",
        test_facts.test_what_is_one_of_two_is_within_both,
    ),
    Mutant(
        "bounds-rounded-inward",
        "discreet.plan.grid:grid_for",
        "to_float_down(least), to_float_up(most)",
        "to_float_up(least), to_float_down(most)",
        "values at a declared bound are clamped",
        lambda: a_grid(Fraction(1, 3), Fraction(1, 7), 0, False),
    ),
    Mutant(
        "whole-numbers-of-any-width",
        "discreet.plan.grid:grid_for",
        "if integral and half < MOST_STEPS:",
        "if integral:",
        "sums of wide integers overflow",
        lambda: a_grid(Fraction(0), Fraction(10**9), 0, True),
    ),
    Mutant(
        "noise-of-any-size",
        "discreet.plan.limits:_check_noise",
        "noise.scale * cells > MOST_SCALE",
        "False",
        "noise that cannot be drawn is a failure after the charge, which tells of the data",
        by_itself(test_limits.test_noise_that_cannot_be_drawn_is_refused_at_planning),
    ),
    Mutant(
        "quotients-are-whole",
        "discreet.plan.numbers:integral",
        "Operator.MULTIPLY)",
        "Operator.MULTIPLY, Operator.DIVIDE)",
        "a quotient of counts is shown as the whole number that it is not",
        only_totals_are_whole,
    ),
    Mutant(
        "day-of-another-zone",
        "discreet.plan.plain:_day",
        "value.astimezone(UTC) if value.tzinfo else value",
        "value",
        "a key means another day than the rows that it is compared with",
        by_itself(
            test_plain.test_an_object_is_the_value_it_stands_for,
            test_plain.EVENING.replace(tzinfo=test_plain.NEW_YORK),
            date(2024, 5, 7),
        ),
    ),
    Mutant(
        "two-kinds-of-one-name",
        "discreet.plan.releases.base:KindRegistry.add",
        "is not kind:",
        "is None:",
        "which release a question asks for depends on what was imported first",
        names_ask_for_one_kind,
    ),
    Mutant(
        "columns-of-any-table",
        "discreet.plan.rules.scopes:scope_of",
        'raise Fault(f"{type(relation).__name__} has no rule for its scope", code="rule")',
        "return Scope.of(catalog.tables[0])",
        "a relation that nobody wrote a rule for has the columns, and bounds, of the first table",
        scopes_are_of_relations_with_a_rule,
    ),
    Mutant(
        "never-missing-is-believed",
        "discreet.plan.rules.scopes:_scan",
        "nullable=True",
        "nullable=False",
        "a column that nobody saw to is taken to be there",
        test_filled.declarations_are_not_believed,
    ),
    Mutant(
        "never-missing-is-not-seen-to",
        "discreet.plan.sql.origins:DeclaredTable.rows",
        "if values else rows",
        "if not values else rows",
        "a row without a value counts with 0, or not at all, though it is declared to count with the middle",
        test_filled.rows_count_with_the_middle,
    ),
    Mutant(
        "two-counts-of-the-same-rows",
        "discreet.plan.rules.scopes:_filled",
        "nullable=False",
        "nullable=True",
        "AVG and COUNT share a price that one of them would cost",
        test_filled.one_count_serves_all,
    ),
    Mutant(
        "whole-middle-is-a-double",
        "discreet.plan.facts:Facts.middle",
        "floor(middle) if self.integral else float(middle)",
        "float(middle)",
        "an integer is missing as 2.5, which engines round as they like",
        test_filled.rows_count_with_the_middle,
    ),
    Mutant(
        "middle-of-doubles",
        "discreet.plan.facts:Facts.middle",
        "(self.low + self.high) / 2",
        "Fraction((float(self.low) + float(self.high)) / 2)",
        "the middle of 0.1 and 0.2 is not that of the declared bounds",
        test_filled.middles_are_of_their_type,
    ),
    Mutant(
        "somebody-is-made-up",
        SCOPE + "fillable",
        " and each.name.casefold() != owner",
        "",
        "all rows without a person become those of one",
        test_filled.nobody_is_made_up,
    ),
    Mutant(
        "filled-rows-are-one",
        RELATIONS + "_filled",
        "return _of_rows(relation.source, unit)",
        "return replace(_of_rows(relation.source, unit), rows=1, groups=1)",
        "a person with many rows is taken to have one where something is never missing",
        test_filled.no_neighbour_moves_more,
    ),
    Mutant(
        "a-count-that-is-not-free",
        TOTAL + "Count.advice",
        "place not in release.places and ",
        "",
        "somebody is told to save a count that costs nothing",
        test_filled.two_counts_are_told_of,
    ),
    Mutant(
        "type-of-the-first",
        "discreet.plan.scalar:common_type",
        "return Type.NUMBER",
        "return types[0]",
        "a number among integers is cut off, here and not in the engine",
        test_evaluate.test_a_case_of_integers_and_numbers_is_a_number,
    ),
    Mutant(
        "name-without-the-sensitivity",
        "discreet.plan.written:_measurements",
        "        sensitivity=notation(each.sensitivity),\n",
        "",
        "two plans have one name, and the answer of one is given for the other",
        test_plan.test_every_field_is_in_the_name,
    ),
    Mutant(
        "a-clamped-value-of-any-size",
        RELATIONS + "term_bounds",
        "max(abs(low), abs(high)) > MOST_STEPS or ",
        "",
        "a sum overflows, and is another number than its noise is made for",
        test_combination.test_a_clamped_value_has_few_steps,
    ),
    Mutant(
        "groups-twice",
        CHECK + "_check_groups",
        " or len(set(groups)) != len(groups)",
        "",
        "a group stands twice in an answer, with noise of its own each time",
        laws.false_plans_are_found,
    ),
    Mutant(
        "total-without-a-step",
        "discreet.plan.measurement:covers",
        "measurement.step <= 0 or ",
        "",
        "a total is released in steps of nothing",
        laws.false_plans_are_found,
    ),
    Mutant(
        "release-of-what-is-not-there",
        CHECK + "_check_stage",
        "0 <= place < len(stage.measurements)",
        "place < len(stage.measurements)",
        "an answer is made of another measurement than is meant",
        laws.false_plans_are_found,
    ),
    Mutant(
        "scores-that-rise-only",
        BRANCHING + "check",
        " or self.mechanism.monotone",
        "",
        "a choice costs half where scores move in both directions",
        test_stages.test_a_choice_has_a_score_a_name_and_a_stage_for_each_outcome,
    ),
    Mutant(
        "cap-of-nothing",
        RELATIONS + "_least",
        "if second < 1:",
        "if False:",
        "nobody is said to count, and totals are released as they are",
        test_relations.caps_are_on_people,
    ),
    Mutant(
        "norm-of-nothing",
        RELATIONS + "_of_norm",
        "if limit < 1:",
        "if False:",
        "nobody is said to move anything, and totals are released as they are",
        test_relations.caps_are_on_people,
    ),
    Mutant(
        "steps-beside-0-are-shifted",
        RELATIONS + "shift_of",
        "weight if low <= 0 <= high and ",
        "weight if ",
        "a bound is used where its proof does not hold",
        test_combination.test_only_sums_of_steps_around_0_are_shifted,
    ),
    Mutant(
        "limits-of-the-first-outcome",
        "discreet.plan.limits:check_limits",
        "for each in plan.decisions():",
        "for each in [*plan.decisions()][:1]:",
        "a choice leads to noise that cannot be drawn, which is a failure after the charge",
        test_stages.noise_of_every_outcome_can_be_drawn,
    ),
    Mutant(
        "people-are-summed-like-rows",
        RELATIONS + "shift_of",
        " or (steps.how, counted.how) != (How.SUM, How.SUM)",
        "",
        "a count of people is taken for one of rows, and moves by less than is said",
        test_combination.test_only_sums_of_steps_around_0_are_shifted,
    ),
    Mutant(
        "one-group-where-none-is-capped",
        RELATIONS + "_shifted",
        "groups = cells if reach.groups is None",
        "groups = 1 if reach.groups is None",
        "whoever may be in all groups is taken to be in one",
        test_combination.test_without_a_cap_on_groups_a_person_is_in_all,
    ),
)
