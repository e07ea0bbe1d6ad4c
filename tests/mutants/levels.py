"""Bugs in the levels of an answer: subtotals, what cannot be summed, and which row is of which level."""

from tests.mutants import Mutant
from tests.plan import test_levels

LEVELS = "discreet.plan.levels:"
CHECK = "discreet.plan.check:"
DRAFTS = "discreet.plan.level_drafts:"

MUTANTS = (
    Mutant(
        "people-summed-over-cells",
        LEVELS + "summable",
        "terms[place].how is How.SUM for",
        "True for",
        "somebody in several groups is several people in their total",
        test_levels.people_are_counted_at_each_level,
    ),
    Mutant(
        "levels-not-charged",
        CHECK + "_drawn",
        "[] if level is None else _leaves(_drawn(level))",
        "[]",
        "what is measured for each level is drawn and not paid for",
        test_levels.levels_are_a_part_of_what_a_plan_costs,
    ),
    Mutant(
        "readings-of-levels-not-priced",
        "discreet.plan.stages:readings_wanted",
        "(1 + sum(each is not None for each in level_drafts(draft)))",
        "1",
        "each level reads at the price of all of them",
        test_levels.readings_are_read_at_each_level,
    ),
    Mutant(
        "levels-not-checked",
        CHECK + "_check_levels",
        "_check_stage(level, relation, sound)",
        "pass",
        "what is measured for a level has noise for less than a neighbour can do",
        test_levels.levels_are_a_part_of_what_a_plan_costs,
    ),
    Mutant(
        "levels-of-other-groups",
        CHECK + "_check_levels",
        "level.domain != groups",
        "False",
        "numbers of one level stand beside the groups of another",
        test_levels.levels_are_a_part_of_what_a_plan_costs,
    ),
    Mutant(
        "levels-left-out",
        CHECK + "_check_levels",
        "if apart or stage.readings:",
        "if False:",
        "a level shows what nobody measured",
        test_levels.levels_are_a_part_of_what_a_plan_costs,
    ),
    Mutant(
        "subtotals-with-the-noise-of-one-cell",
        LEVELS + "_view",
        "replace(measurement, cells=each)",
        "measurement",
        "the ± of a subtotal is that of one of its groups",
        test_levels.the_noise_of_a_subtotal_is_the_sum_of_noises,
    ),
    Mutant(
        "noise-of-sums-that-grows-with-the-number",
        "discreet.plan.draws:noise_points",
        "sqrt(noise.times)",
        "noise.times",
        "the noises of a sum are taken for one and the same",
        test_levels.the_noise_of_a_subtotal_is_the_sum_of_noises,
    ),
    Mutant(
        "laplace-sums-of-one",
        "discreet.plan.draws:_laplace_sums",
        "(1 + frequencies**2) ** -float(times)",
        "(1 + frequencies**2) ** -1.0",
        "the draws of a sum of noises are those of one",
        test_levels.the_noise_of_a_subtotal_is_the_sum_of_noises,
    ),
    Mutant(
        "sums-of-noise-are-one-noise",
        "discreet.plan.spread:summed",
        "if times == 1:",
        "if times >= 1:",
        "a sum of noises is taken for one of them",
        test_levels.the_noise_of_a_subtotal_is_the_sum_of_noises,
    ),
    Mutant(
        "grouping-bits-swapped",
        "discreet.plan.sql.grouping:_grouping",
        "Arithmetic(Operator.ADD, twice, bit)",
        "Arithmetic(Operator.ADD, value, Arithmetic(Operator.MULTIPLY, Literal(2, Type.INTEGER), bit))",
        "the first key of GROUPING is worth 1, and not the last",
        test_levels.subtotals_are_sums_of_released_cells,
    ),
    Mutant(
        "grouping-turned",
        "discreet.plan.numbers:columns",
        "int(key.index not in places)",
        "int(key.index in places)",
        "a subtotal says that it is of one group",
        test_levels.subtotals_are_sums_of_released_cells,
    ),
    Mutant(
        "rollup-without-its-total",
        "discreet.plan.sql.grouping:_sets",
        "[places[:size] for size in reversed(range(len(each) + 1))]",
        "[places[:size] for size in reversed(range(1, len(each) + 1))]",
        "ROLLUP has no row for everything",
        test_levels.subtotals_are_sums_of_released_cells,
    ),
    Mutant(
        "sums-of-shared-noise",
        "discreet.plan.windows:mixes_levels",
        "if reader.apart is None:",
        "if True:",
        "a sum over groups and their subtotals takes their noises for independent",
        test_levels.clauses_see_all_levels,
    ),
    Mutant(
        "having-of-the-finest-level",
        "discreet.plan.post:_left",
        "if having is None:",
        "if having is None or len(level.kept or ()) < len(level.plan.question.keys):",
        "HAVING leaves all subtotals",
        test_levels.clauses_see_all_levels,
    ),
    Mutant(
        "terms-of-levels-in-other-places",
        DRAFTS + "_at",
        "places[at], weight",
        "0, weight",
        "all that is measured for a level is its first term",
        test_levels.people_are_counted_at_each_level,
    ),
)
