"""Planted bugs of questions that are built, and of statistical queries: words that values add, brackets that are lost, rows in two bins."""

from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from discreet.curator.session import Curator
from discreet.errors import Invalid, Refused
from discreet.plan.build.functions import col, count, interval
from tests.curator import test_statistical as statistical
from tests.mutants import Mutant
from tests.plan import test_build as build
from tests.plan import test_disjoint as disjoint

DISJOINT = "discreet.plan.disjoint:"
EXPRESSION = "discreet.plan.build.expression:"
FUNCTIONS = "discreet.plan.build.functions:"
QUERY = "discreet.curator.table.query:"
SELECT = "discreet.plan.build.select:"
SPELLING = "discreet.plan.sql.spelling:"
STATISTICAL = "discreet.curator.table.statistical:"


def texts_end_where_they_end() -> None:
    build.test_a_value_is_one_constant_and_the_one_that_a_parameter_is.hypothesis.inner_test("it's")


def names_end_where_they_end() -> None:
    build.test_a_name_is_one_name.hypothesis.inner_test('a"b')


def days_are_days() -> None:
    build.test_a_value_is_one_constant_and_the_one_that_a_parameter_is.hypothesis.inner_test(date(2024, 2, 29))


def units_are_words() -> None:
    with pytest.raises(Invalid):
        interval(1, "day' OR '")


def an_analyst_is_charged() -> None:
    with TemporaryDirectory() as folder:
        data = {"who": [1, 2], "age": ["3", "70"]}
        place = Path(folder) / "l"
        with (
            Curator({"v": data}, "who", max_rows=1, epsilon=9, ledger=place, analysts={"ana": {"epsilon": 5}}) as it,
            pytest.raises(Refused),  # of the budget of the data set it is not too much
        ):
            it.table("v", analyst="ana").agg(n=count()).ask(epsilon=6)


def brackets_stay_on_the_right() -> None:
    age = col("age")
    assert build.condition_of(age + (age + 1) == 1) != build.condition_of((age + age) + 1 == 1)


def one_row_changes(at: int) -> None:
    statistical.test_one_row_changes_what_is_charged_for_and_no_more(*statistical.VECTORS[at])


def one_aggregate_has_its_rows() -> None:
    with pytest.raises(Invalid):
        (col("cost") / count()).where(col("age") > 3)


def truths_of_python_are_no_conditions() -> None:
    with pytest.raises(Invalid):
        (col("age") > 3) & ("visits" == "Ann")  # type: ignore[comparison-overlap]


MUTANTS = (
    Mutant(
        "rows-of-the-last-aggregate-alone",
        EXPRESSION + "Expression._check_called",
        "if self.operator or",
        "if False and",
        "a condition on a ratio is one on what it is divided by",
        one_aggregate_has_its_rows,
    ),
    Mutant(
        "false-where-a-name-was-compared",
        EXPRESSION + "condition",
        "if isinstance(value, bool):",
        "if isinstance(value, bool):\n        return operand(value)\n    if False:",
        "visits.name == 'Ann' is False, and nobody is counted, at the price of all",
        truths_of_python_are_no_conditions,
    ),
    Mutant(
        "quotes-of-texts-as-they-are",
        SPELLING + "constant",
        """plain.replace("'", "''")""",
        "plain",
        "a text ends where its first quote is, and what follows is SQL",
        texts_end_where_they_end,
    ),
    Mutant(
        "quotes-of-names-as-they-are",
        SPELLING + "name",
        """text.replace('"', '""')""",
        "text",
        "a name ends where its first quote is, and what follows is SQL",
        names_end_where_they_end,
    ),
    Mutant(
        "days-as-texts",
        SPELLING + "constant",
        "DATE '{plain",
        "'{plain",
        "a day is a text, and means another thing where texts are compared",
        days_are_days,
    ),
    Mutant(
        "right-operands-bare",
        EXPRESSION + "joined",
        "if other.operator != operator else",
        "if True else",
        "a chain goes on from the right: a - (b - c) loses its brackets",
        brackets_stay_on_the_right,
    ),
    Mutant(
        "and-as-or",
        EXPRESSION + "Expression.__and__",
        '"AND"',
        '"OR"',
        "rows are counted that meet one condition of two",
        build.test_the_text_of_each_clause,
    ),
    Mutant(
        "units-as-they-are",
        FUNCTIONS + "interval",
        "unit.isascii() and unit.isalpha()",
        "True",
        "what stands in the place of a unit ends the text, and goes on as SQL",
        units_are_words,
    ),
    Mutant(
        "condition-forgotten",
        SELECT + "_all_of",
        "conditions[1:]",
        "conditions[2:]",
        "the second condition is forgotten",
        build.test_the_text_of_each_clause,
    ),
    Mutant(
        "keys-by-a-name-of-two",
        SELECT + "Select._key",
        "plain and key.called not in others",
        "plain",
        "an output of the name of a key is taken for it",
        build.test_the_text_of_each_clause,
    ),
    Mutant(
        "analyst-of-a-table-not-charged",
        QUERY + "Query._terms",
        'return {**terms, "analyst": self.analyst}',
        "return terms",
        "what an analyst builds is charged to the owner, and sees what the owner sees",
        an_analyst_is_charged,
    ),
    Mutant(
        "overlapping-taken-as-disjoint",
        DISJOINT + "_is_below",
        "high[0] == low[0] and not (high[1] and low[1])",
        "high[0] == low[0]",
        "x <= 18 and x >= 18 are said to be apart: the row at 18 counts for one of them alone",
        disjoint.test_no_row_meets_two_conditions_that_are_said_to_be_disjoint,
    ),
    Mutant(
        "one-pair-suffices",
        DISJOINT + "are_disjoint",
        "return all(",
        "return any(",
        "three conditions are disjoint if two of them are",
        disjoint.test_what_is_plainly_disjoint_is_proven,
    ),
    Mutant(
        "large-integers-as-doubles",
        DISJOINT + "_comparable",
        "if abs(value) <= MOST_EXACT else None",
        "",
        "integers that no double tells apart are taken for apart, or for one",
        disjoint.test_no_row_meets_two_conditions_that_are_said_to_be_disjoint,
    ),
    Mutant(
        "people-in-several-bins",
        STATISTICAL + "asked",
        "_moves(histogram, catalog) <= _moves(sums, catalog)",
        "True",
        "of people disjoint queries are answered with more noise than others",
        statistical.disjoint_queries_move_no_more_than_others,
    ),
    Mutant(
        "people-left-out-of-bins",
        STATISTICAL + "asked",
        "_holds_everybody(histogram, catalog) and ",
        "",
        "whoever is in two bins is left out of one, where limits are on groups",
        statistical.an_answer_is_the_same_whatever_is_asked_beside_it,
    ),
    Mutant(
        "disjoint-unasked",
        STATISTICAL + "asked",
        "and are_disjoint([each.scalar for each in found])",
        "",
        "overlapping conditions are a histogram: a row that meets two counts for the first alone",
        lambda: one_row_changes(2),
    ),
    Mutant(
        "numbers-not-clamped",
        STATISTICAL + "Statistic.value",
        "fn.least(fn.greatest(self.written, 0), 1)",
        "self.written",
        "a query is whatever number stands in a row",
        lambda: one_row_changes(1),
    ),
    Mutant(
        "texts-that-say-more",
        STATISTICAL + "_read",
        "if not sums or",
        "if False and",
        "a condition brings a filter of its own",
        lambda: statistical.test_a_text_that_is_no_query_is_refused("age > 3))) FILTER (WHERE ((TRUE"),
    ),
)
