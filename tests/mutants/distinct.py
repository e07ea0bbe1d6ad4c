"""Planted bugs of counts of values: what is kept of a person, how far it is said to reach, and what is counted."""

from tests.engines import test_occurring as engines
from tests.mutants import Mutant
from tests.plan import test_distinct as laws
from tests.plan.laws import PERSON, ROW, turned

RULES = "discreet.plan.rules.occurring:"
RELEASE = "discreet.plan.releases.distinct:"
RENDER = "discreet.engines.render.occurring:"
MEMORY = "discreet.engines.memory:"
KEPT = "discreet.plan.releases.distinct:DistinctAsked._kept"


def moves_no_more() -> None:
    laws.no_neighbour_moves_more(12, [laws.ALL, PERSON, laws.TOTAL, laws.BOTH, laws.UNKNOWN])


def moves_no_more_for_rows() -> None:
    laws.no_neighbour_moves_more(25, [ROW, turned(ROW), turned(PERSON)])


def agree() -> None:
    """On tables where limits keep some of what people have."""
    for limits in ((1, None, None), (None, 1, None), (None, None, 2), (1, 2, 2)):
        engines.agree(engines.table(engines.ROWS), [engines.everybody(limits)])


MUTANTS = (
    Mutant(
        "no-cap-on-pairs-is-a-cap",
        RULES + "_occurring",
        "total=_least(None, caps, (0, size)),",
        "total=1,",
        "noise is made for one value of a person, who has several",
        moves_no_more,
    ),
    Mutant(
        "a-cap-on-groups-is-one-on-values",
        RULES + "_occurring",
        "rows=_least(below.rows, caps, (size - 1, size)),",
        "rows=_least(below.rows, caps, (0, size - 1)),",
        "so many groups are taken for so many values in each",
        laws.a_reading_holds_or_is_a_fault,
    ),
    Mutant(
        "the-cap-is-forgotten-in-groups",
        RULES + "_occurring",
        "groups=_least(below.groups, caps, (0, size - 1)),",
        "groups=1,",
        "a person is in one group, and counts in several",
        moves_no_more,
    ),
    Mutant(
        "replaced-counts-once",
        "discreet.mechanisms.sensitivity:grouped_sum",
        "moves = 2 * (k - stays)",
        "moves = k - stays",
        "over several groups one value leaves and another comes, and one of them is counted",
        moves_no_more_for_rows,
    ),
    Mutant(
        "any-keys-are-kept",
        RULES + "_keep_keys",
        "relation.most < 1 or not 0 <= relation.within < relation.of <= len(contributions_of(relation).keys)",
        "False",
        "a cap on keys that there are not is taken for one",
        laws.a_reading_holds_or_is_a_fault,
    ),
    Mutant(
        "values-are-not-capped",
        KEPT,
        "rest = KeepKeys(rest, size - 1, size, values)",
        "rest = rest",
        "a person counts with all values of a group",
        moves_no_more,
    ),
    Mutant(
        "groups-of-values-are-not-capped",
        KEPT,
        "rest = KeepKeys(rest, 0, size - 1, groups)",
        "rest = rest",
        "noise is made for all groups, where people are limited to few",
        laws.some_neighbour_moves_as_much,
    ),
    Mutant(
        "pairs-are-not-capped",
        KEPT,
        "return rest if total is None else KeepKeys(rest, 0, size, total)",
        "return rest",
        "a person counts with more values than a limit on all of them allows",
        moves_no_more,
    ),
    Mutant(
        "null-is-a-value-that-counts",
        RELEASE + "DistinctAsked._occurring",
        "present: Scalar = Not(IsNull(self.argument))",
        "present: Scalar = Literal(True, Type.BOOLEAN)",
        "whether somebody's value is missing is counted",
        laws.values_are_counted,
    ),
    Mutant(
        "filter-is-forgotten",
        RELEASE + "DistinctAsked._occurring",
        "present if self.condition is None else And((self.condition, present))",
        "present",
        "rows are counted that FILTER leaves out",
        laws.values_are_counted,
    ),
    Mutant(
        "few-values-are-many",
        RELEASE + "DistinctAsked.of_rows",
        "self.possible is None or self.possible > FEW_GROUPS",
        "True",
        "a limit is found, and paid for, that changes nothing",
        laws.few_values_need_no_limit,
    ),
    Mutant(
        "a-limit-for-whoever-has-one-row",
        RELEASE + "DistinctAsked._occurring",
        "everything if draft.alone else",
        "",
        "what is of one row each is read within a limit that nobody set",
        laws.one_row_each_needs_no_limit,
    ),
    Mutant(
        "values-are-not-checked",
        RELEASE + "DistinctValues.check",
        "if self.sensitivity < combined(",
        "if 0 and self.sensitivity < combined(",
        "a count of values has noise for less than a neighbour can change",
        laws.a_reading_holds_or_is_a_fault,
    ),
    Mutant(
        "values-kept-by-the-order-of-rows",
        RENDER + "_keep_keys",
        'this=call("dense_rank"),',
        'this=call("row_number"),',
        "what has the same first keys is kept in part, by the order of rows",
        agree,
    ),
    Mutant(
        "one-rank-for-all-groups",
        RENDER + "_keep_keys",
        "for i in range(relation.within))",
        "for i in range(0))",
        "values in a group are kept for having small priorities among all groups",
        agree,
    ),
    Mutant(
        "one-rank-for-everybody",
        RENDER + "_keep_keys",
        "partition_by=[named(PERSON), *",
        "partition_by=[*",
        "whose values are kept depends on everybody else",
        engines.what_is_kept_depends_on_nobody_else,
    ),
    Mutant(
        "a-value-for-each-person",
        RENDER + "_occurring",
        "group=keys)",
        "group=None)",
        "a value counts as often as there are people who have it",
        engines.each_value_counts_once,
    ),
    Mutant(
        "values-of-slices-are-added",
        "discreet.engines.duckdb:DuckDB._run",
        "PersonJoin | Occurring",
        "PersonJoin",
        "a value that occurs in two slices of people counts twice",
        engines.each_value_counts_once,
    ),
    Mutant(
        "other-groups-for-values",
        RENDER + "_keep_keys",
        "writer.priority_of_group(contributions, relation.of)",
        "writer.priority_of_group(contributions)",
        "a person's groups are kept by what values they have there",
        engines.groups_are_kept_as_for_rows,
    ),
    Mutant(
        "noise-of-a-reading-is-forgotten",
        "discreet.plan.plan:Stage.noise_of",
        "return noises[place - len(self.measurements)]",
        "return None",
        "a ratio of values has the ± of its divisor alone",
        laws.an_answer_has_its_error,
    ),
)
