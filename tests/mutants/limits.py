"""Planted bugs of limits on what of a person counts.

Of one on all rows: what is scaled, how, by how much noise it is hidden, and where the limit applies. Of one on the groups in a column:
which number is the limit of a question.
"""

from discreet.plan import relation as r
from tests.engines import test_caps
from tests.engines.twins import agree
from tests.mutants import Mutant, by_itself
from tests.plan import test_column_limits, test_totals

RULES = "discreet.plan.rules.relations:"
MEMORY = "discreet.engines.memory:"
RENDER = "discreet.engines.render.relations:"
CAPS = "discreet.plan.caps:"
COLUMNS = "discreet.plan.column_limits:"
DRAFT = "discreet.plan.draft:"

all_rows = by_itself(test_caps.test_nobody_counts_with_more_rows_in_all, None, None)
capped_rows = by_itself(test_caps.test_nobody_counts_with_more_rows_in_all, 1, None)
rows_in_groups = by_itself(test_caps.test_nobody_counts_with_more_rows_in_all, 3, 2)
full_tables = by_itself(test_caps.test_the_rows_of_a_full_table_are_scaled_without_overflow)


def scaled_sums_agree() -> None:
    data = test_caps.table((n, "w0", n % 5 - 2) for n in range(1, 60) for _ in range(n))
    agree(data, [r.Totals(r.CapTotal(test_caps.BY_PERSON, most)) for most in (1, 3, 7)])


MUTANTS = (
    Mutant(
        "rows-times-total-without-its-root",
        RULES + "_of_total",
        "most * total * size**2",
        "(most * total * size) ** 2",
        "noise over many groups is as if the rows of one group were those of all",
        test_totals.sensitivities_are_the_least_of_what_is_known,
    ),
    Mutant(
        "total-is-of-one-group",
        RULES + "_of_total",
        "most * total * size**2",
        "most * most * size**2",
        "a person with a row in each of many groups moves one of them",
        test_totals.nobody_moves_more,
    ),
    Mutant(
        "replaced-total-counts-once",
        RULES + "_of_total",
        "Sensitivity(2 * l1,",
        "Sensitivity(l1,",
        "replacing a person is priced as removing one",
        test_totals.nobody_moves_more,
    ),
    Mutant(
        "both-signs-as-one",
        RULES + "_of_total",
        "(4 if low < 0 < high else 2)",
        "2",
        "someone below 0 replaced by someone above it moves more than is said",
        test_totals.nobody_moves_more,
    ),
    Mutant(
        "people-counted-within-a-total",
        RULES + "_of_term",
        "reach.total is not None and term.how is How.SUM",
        "reach.total is not None",
        "a limit on rows is taken for one on the groups that a person counts in",
        test_totals.nobody_moves_more,
    ),
    Mutant(
        "far-sums-without-a-total",
        RULES + "combined",
        " and reach.total is None",
        "",
        "a bound is used whose proof is of rows in one group alone, and a sum far from 0 has no other",
        test_totals.far_sums_move_by_all_rows,
    ),
    Mutant(
        "parts-of-a-step-are-moved",
        RULES + "combined",
        "if reach.limits is None:\n",
        "if False:\n",
        "geometric noise is made for a part of a whole number, and costs more than it says",
        test_totals.far_sums_move_by_all_rows,
    ),
    Mutant(
        "total-wider-than-64-bits",
        RULES + "_cap_total",
        "relation.most > MOST_TOTAL",
        "False",
        "an engine overflows after the charge",
        test_totals.what_was_scaled_is_not_capped_again,
    ),
    Mutant(
        "scaled-rows-are-rows-again",
        RULES + "_of_people",
        "below.total is not None",
        "False",
        "what was scaled is capped by a number of rows that it has no more",
        test_totals.what_was_scaled_is_not_capped_again,
    ),
    Mutant(
        "total-rounded-up",
        MEMORY + "_scaled",
        "abs(s) * most // n",
        "-(-abs(s) * most // n)",
        "each group is rounded up, and all of them are more than the limit",
        test_totals.nobody_moves_more,
    ),
    Mutant(
        "total-rounded-down-below-0",
        MEMORY + "_scaled",
        "(abs(s) * most // n) * (1 if s >= 0 else -1)",
        "s * most // n",
        "what is below 0 is rounded away from it, and all of it is more than the limit",
        test_totals.nobody_moves_more,
    ),
    Mutant(
        "total-by-a-factor-in-doubles",
        MEMORY + "_scaled",
        "abs(s) * most // n",
        "int(abs(s) * (most / n))",
        "49 rows that count as one count as none",
        scaled_sums_agree,
    ),
    Mutant(
        "people-scaled-like-rows",
        MEMORY + "_scaled",
        "if how is How.SUM else s",
        "if how is not None else s",
        "a person with many rows is no person",
        test_totals.nobody_counts_with_more,
    ),
    Mutant(
        "each-group-scaled-by-itself",
        MEMORY + "_scaled",
        "n = sum(each.rows for each in mine)",
        "n = max(each.rows for each in mine)",
        "the limit is one on the rows of a group",
        test_totals.nobody_moves_more,
    ),
    Mutant(
        "capped-rows-counted-whole",
        MEMORY + "_capped",
        "Contribution(each.person, each.group, most, terms)",
        "Contribution(each.person, each.group, n, terms)",
        "whoever has many rows in one group counts with fewer than the limit",
        by_itself(test_totals.test_the_rows_that_count_are_scaled),
    ),
    Mutant(
        "sql-factor-in-doubles",
        RENDER + "Writer.scaled",
        "binary(exp.Add, whole, rest)",
        "words.truncated(binary(exp.Mul, s, binary(exp.Div, cast(limit, T.DOUBLE), n)))",
        "some people count with a row less than the limit",
        test_caps.test_one_group_counts_with_exactly_the_limit,
    ),
    Mutant(
        "sql-multiplied-before-it-is-divided",
        RENDER + "Writer.scaled",
        "binary(exp.Add, whole, rest)",
        "words.int_div(binary(exp.Mul, s, limit), n)",
        "the rows of a large table overflow, after the charge",
        full_tables,
    ),
    Mutant(
        "sql-people-scaled-like-rows",
        RENDER + "Writer.scaled",
        "if term.how is not How.SUM:",
        "if False:",
        "a person with many rows is no person",
        all_rows,
    ),
    Mutant(
        "sql-capped-rows-counted-whole",
        RENDER + "Writer.capped",
        "if rows:",
        "if False:",
        "whoever has many rows in one group counts with fewer than the limit",
        capped_rows,
    ),
    Mutant(
        "sql-capped-rows-counted-whole-among-groups",
        RENDER + "Writer.chosen",
        "self.capped(contributions, candidates, relation.source.most, rows)",
        "self.capped(contributions, candidates, relation.source.most)",
        "where groups are capped, whoever has many rows counts with fewer than the limit",
        rows_in_groups,
    ),
    Mutant(
        "total-within-the-rows-of-one-group",
        CAPS + "caps_of",
        "rows * most_groups <= total",
        "rows <= total",
        "a limit is dropped that leaves something out",
        test_totals.nobody_counts_with_more,
    ),
    Mutant(
        "shortened-people-are-in-few-groups",
        CAPS + "caps_of",
        'groups is None or protected.clip == "l2"',
        "groups is None",
        "a limit is dropped that someone in all groups is beyond",
        test_totals.nobody_counts_with_more,
    ),
    Mutant(
        "norm-without-the-total",
        CAPS + "Caps.norm",
        "min(norms)",
        "norms[0]",
        "where people are shortened, noise is for more than the limit on all rows",
        by_itself(test_totals.test_a_norm_is_no_longer_than_all_rows_make_it),
    ),
    Mutant(
        "total-not-in-the-query",
        "discreet.plan.gathering:query_of",
        "CapTotal(capped, caps.total) if of_rows",
        "CapTotal(capped, 10**6) if of_rows",
        "a person counts with any number of rows",
        test_totals.nobody_counts_with_more,
    ),
    Mutant(
        "scaled-in-whole-steps",
        DRAFT + "_scales",
        "return cells > 1 or",
        "return False and",
        "what is left of each group is cut to whole rows, and most of a person is lost",
        test_totals.nobody_counts_with_more,
    ),
    Mutant(
        "limits-of-columns-are-added",
        COLUMNS + "groups_limit",
        "prod(declared)",
        "sum(declared)",
        "people count in fewer groups than their columns allow: of 2 wards in each of 3 years 5 are kept",
        test_column_limits.questions_have_their_limit,
    ),
    Mutant(
        "a-column-without-a-limit-has-none-to-add",
        COLUMNS + "groups_limit",
        "if len(declared) == len(limits) else None",
        "if declared else None",
        "people in 2 wards and all regions are kept in 2 groups, as if somebody had said that they are in one region",
        test_column_limits.questions_have_their_limit,
    ),
    Mutant(
        "a-column-counts-as-often-as-it-is-named",
        COLUMNS + "groups_limit",
        "prod(declared)",
        "prod(declared) ** len(keys)",
        "noise is for groups that nobody can be in",
        by_itself(test_column_limits.test_of_plain_columns_the_limit_is_reached),
    ),
    Mutant(
        "a-limit-of-the-column-of-another-table",
        COLUMNS + "groups_limit",
        "(field.table, field.name)",
        "field.name",
        "of two columns of one name the limit of one is that of both",
        by_itself(test_column_limits.test_of_plain_columns_the_limit_is_reached),
    ),
    Mutant(
        "a-limit-of-another-column",
        COLUMNS + "groups_limit",
        "scope.field(column) for column in set().union(*map(columns_in, keys))",
        "scope.fields[len(scope.field(column).name) % len(scope.fields)] for column in set().union(*map(columns_in, keys))",
        "a limit is that of a column which the question does not name",
        test_column_limits.questions_have_their_limit,
    ),
    Mutant(
        "the-larger-limit-applies",
        COLUMNS + "within_columns",
        "min(limit, protected.max_groups or MOST_KEYS)",
        "max(limit, protected.max_groups or 0)",
        "noise is for more groups than somebody declared, and what was declared of a column is not kept to",
        test_column_limits.questions_have_their_limit,
    ),
    Mutant(
        "columns-before-whoever-asks",
        COLUMNS + "within_columns",
        ' or "max_groups" in protected.asked',
        "",
        "whoever asks for more groups than a column allows gets fewer, and is not told",
        test_column_limits.questions_have_their_limit,
    ),
    Mutant(
        "limits-of-a-question-are-the-unit-s",
        "discreet.plan.catalog:Protected.limited",
        "self.asked.union(limits)",
        "self.asked",
        "a limit that was asked for gives way to one of a column",
        test_column_limits.questions_have_their_limit,
    ),
    Mutant(
        "the-largest-limit-of-all-columns",
        COLUMNS + "groups_limit",
        "prod(declared)",
        "max(declared, default=1)",
        "groups of two columns are limited as if they were those of one",
        by_itself(test_column_limits.test_nobody_is_in_more_groups_than_the_product_of_what_their_columns_allow),
    ),
    Mutant(
        "rows-by-themselves-have-columns-with-limits",
        "discreet.plan.catalog:Catalog.__post_init__",
        "if limited:",
        "if False:",
        "a limit is declared that nothing keeps to",
        by_itself(test_column_limits.test_where_each_row_is_another_person_no_column_has_a_limit),
    ),
    Mutant(
        "a-column-with-any-limit",
        "discreet.plan.catalog:groups_of_column",
        "checked > MOST_KEYS",
        "False",
        "a limit is declared that is beyond all limits",
        by_itself(test_column_limits.test_a_limit_that_is_none_is_refused, 10_001),
    ),
)
