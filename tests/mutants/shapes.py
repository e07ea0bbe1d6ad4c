"""Planted bugs of the shapes of questions: sub-queries whose conditions are dropped, and names that keep what they meant before."""

import numpy as np

from discreet.plan.affine import Span
from discreet.plan.images import ARITHMETIC
from discreet.plan.scalar import Operator
from tests.mutants import Law, Mutant
from tests.plan import test_narrowing as narrowing
from tests.plan import test_shapes as shapes
from tests.plan import test_sql_refusals as refused

CLAUSES = "discreet.plan.sql.clauses:"
EXPRESSIONS = "discreet.plan.sql.expressions:"
NARROWING = "discreet.plan.narrowing:"
SOURCES = "discreet.plan.sql.sources:"
SQL_WINDOWS = "discreet.plan.sql.windows:"
TEXT = "discreet.plan.sql.text:"
VIEWS = "discreet.plan.sql.views:"
WINDOWS = "discreet.plan.windows:"


def same(part: str) -> Law:
    """A pair of `PAIRS` is one question: that whose nested text has this part."""
    (pair,) = (each for each in shapes.PAIRS if part in each[0])
    return lambda: shapes.test_names_of_sub_queries_mean_what_sql_says(*pair)


def refusal(part: str) -> Law:
    """A text with this part is refused, with the code in its row."""
    code, text = next(row for row in refused.TABLES if part in row[1])
    return lambda: refused.test_refused(code, text)


def narrowed(condition: str) -> Law:
    (row,) = (each for each in shapes.NARROWED if each[1] == condition)
    return lambda: shapes.test_a_condition_on_a_key_narrows_its_groups(*row)


def not_public() -> None:
    (mark,) = shapes.test_which_groups_have_rows_is_not_public.pytestmark  # type: ignore[attr-defined]
    for text in mark.args[1]:
        shapes.test_which_groups_have_rows_is_not_public(text)


def over_rows() -> None:
    for text in shapes.OVER_ROWS:
        shapes.test_windows_over_rows_are_refused(text)


def every_window() -> None:
    for text in shapes.WINDOWS:
        shapes.test_windows_are_those_of_another_engine(text)


def images_across_zero() -> None:
    """A quotient has no ends where its divisor may be 0."""
    one, across = (
        Span(np.array([low]), np.array([high]), np.array([False])) for low, high in ((1.0, 2.0), (-1.0, 1.0))
    )
    low, high = ARITHMETIC[Operator.DIVIDE](one, across)
    assert low[0] == -np.inf and high[0] == np.inf


MUTANTS = (
    Mutant(
        "an-or-narrows",
        NARROWING + "conditions_on",
        "isinstance(part.condition, And)",
        'hasattr(part.condition, "parts")',
        "of two conditions of which one must be true the first is taken for both",
        narrowed("ward = 'A' OR age > 3"),
    ),
    Mutant(
        "one-condition-narrows",
        NARROWING + "_left",
        "all(evaluate",
        "any(evaluate",
        "groups are shown that a second condition leaves out",
        narrowed("ward IN ('A', 'B') AND ward NOT IN ('B', 'C')"),
    ),
    Mutant(
        "a-survey-makes-a-name-impossible",
        NARROWING + "_left",
        "and (values is None or survey)",
        "and values is None",
        "a value that a question names is refused, since a survey did not find it",
        narrowing.test_a_survey_makes_nothing_impossible,
    ),
    Mutant(
        "a-survey-is-said-to-be-all",
        NARROWING + "_no_group",
        "if survey:",
        "if False:",
        "what no surveyed value meets is called a contradiction",
        narrowing.test_a_survey_makes_nothing_impossible,
    ),
    Mutant(
        "groups-with-such-rows-for-nothing",
        NARROWING + "undecided",
        "if columns_in(condition) not in columns",
        "if False",
        "declared keys are shown as if they were the groups in which a condition is met",
        not_public,
    ),
    Mutant(
        "keys-for-nothing",
        "discreet.plan.draft:_check_public",
        "None in domains or ",
        "",
        "keys that nobody declared are found without a price",
        not_public,
    ),
    Mutant(
        "all-keys-but-the-last",
        CLAUSES + "Clauses._group_by",
        "for item in self.items if",
        "for item in self.items[:1] if",
        "GROUP BY ALL groups by the first column alone",
        lambda: shapes.test_groups_written_shortly_are_the_groups_written_out(*shapes.GROUPED[1]),
    ),
    Mutant(
        "a-window-over-rows",
        SQL_WINDOWS + "_window",
        "if not released_in(operand):",
        "if False:",
        "a sum over rows of the table is read as one over released numbers",
        over_rows,
    ),
    Mutant(
        "a-window-in-a-sub-query",
        SQL_WINDOWS + "_window",
        "read.place not in (Clause.SELECT, Clause.ORDER_BY)",
        "read.place not in (Clause.SELECT, Clause.ORDER_BY, Clause.INNER)",
        "places among all rows of the table are columns of a sub-query",
        over_rows,
    ),
    Mutant(
        "rank-counts-equals",
        WINDOWS + "_places",
        "if place == 1 or any(column[i] != column[places[place - 2]] for column in keys):",
        "if True:",
        "groups with equal numbers have different ranks",
        every_window,
    ),
    Mutant(
        "partitions-forgotten",
        WINDOWS + "partition_of",
        "for key in node.partition",
        "for key in ()",
        "a share is one of everything",
        every_window,
    ),
    Mutant(
        "windows-over-rows-that-having-leaves-out",
        "discreet.plan.post:released_rows",
        "with_windows(scalars, guards, seen, partial(_exactly, plan))",
        "with_windows(scalars, guards, seen.only([0] * len(seen)), partial(_exactly, plan))",
        "a total is one row, again and again",
        every_window,
    ),
    Mutant(
        "the-noise-of-others-forgotten",
        WINDOWS + "sum_form",
        "_several(noise, int(times))",
        "_several(noise, 1)",
        "the ± of a total is that of two groups",
        lambda: shapes.test_the_interval_of_a_share_covers(*shapes.SHARES[1]),
    ),
    Mutant(
        "the-noise-of-others-added-up",
        "discreet.plan.spread:smooth_widths",
        "np.where(gaussian | many, 0, times)",
        "np.where(gaussian | many, 0, 1)",
        "a sum of noises is taken for one of them",
        lambda: shapes.test_the_interval_of_a_share_covers(*shapes.SHARES[1]),
    ),
    Mutant(
        "a-quotient-across-zero-is-bounded",
        "discreet.plan.images:_divided",
        "across = (right.low <= 0) & (right.high >= 0)",
        "across = (right.low < 0) & (right.high < 0)",
        "what is divided by may be 0, and the interval has ends",
        images_across_zero,
    ),
    Mutant(
        "an-inner-filter-dropped",
        SOURCES + "Sources._derived",
        '(*source.conditions, *conditions_of(read, select.args.get("where")))',
        "source.conditions",
        "a sub-query gives all rows",
        shapes.test_a_question_over_sub_queries_is_the_question_written_flat,
    ),
    Mutant(
        "an-inner-filter-of-two-levels-dropped",
        SOURCES + "Sources._derived",
        "(*source.conditions, ",
        "(*(), ",
        "only the outermost sub-query filters",
        shapes.test_a_question_over_sub_queries_is_the_question_written_flat,
    ),
    Mutant(
        "a-name-keeps-its-old-meaning",
        EXPRESSIONS + "Expressions._named",
        "if self.view is not None:",
        "if self.view is not None and not self.scope.matches(name):",
        "a redefined column has the bounds of the one that it is called like",
        shapes.test_bounds_are_of_expressions_and_never_of_names,
    ),
    Mutant(
        "a-limit-inside-is-read-over",
        SOURCES + "Sources._derived",
        "if part := select.args.get(name):",
        'if (part := select.args.get(name)) and name != "limit":',
        "LIMIT inside a sub-query, which depends on all rows, is passed over",
        refusal("FROM visits LIMIT 3)"),
    ),
    Mutant(
        "a-name-of-with-is-the-table",
        SOURCES + "Sources._from",
        "known.get(node.this.name.casefold()) or self._declared(node.this)",
        "self._declared(node.this)",
        "the conditions of WITH are forgotten where its name is that of the table",
        same("WITH visits AS"),
    ),
    Mutant(
        "with-sees-itself",
        SOURCES + "Sources._with",
        "names[name.casefold()] = self._derived(node.this, names, name)",
        "names[name.casefold()] = names.get(name.casefold()) or self._derived(node.this, names, name)",
        "an inner name of WITH means that of further out",
        same("(WITH v AS"),
    ),
    Mutant(
        "the-first-of-two-columns-is-taken",
        VIEWS + "View.named",
        "if len(matches) == 1:",
        "if matches:",
        "of two columns of one name one is read, and engines differ on which",
        refusal("SELECT *, cost AS age FROM visits"),
    ),
    Mutant(
        "an-alias-shadows-the-person",
        EXPRESSIONS + "Expressions._named",
        "return self.view.named(name, table)",
        "return Item(name, Column(self.person, Type.TEXT), ()) if name == self.person else self.view.named(name, table)",
        "whatever is called like the person column is taken for people",
        same("SELECT ward AS patient_id"),
    ),
    Mutant(
        "what-a-condition-reads-is-not-scanned",
        SOURCES + "Sources._derived",
        "columns = tuple(read.columns)",
        "columns = ()",
        "the columns of an inner condition are not read from the table",
        shapes.test_a_question_over_sub_queries_is_the_question_written_flat,
    ),
    Mutant(
        "sub-queries-grow-without-end",
        EXPRESSIONS + "Expressions._replaced",
        "if self.shared.replaced > MOST_PARTS:",
        "if False:",
        "a short text is a question of millions of parts",
        shapes.test_sub_queries_that_grow_are_refused_at_once,
    ),
    Mutant(
        "a-select-anywhere",
        "discreet.plan.sql.places:begins_a_select",
        "in (T.FROM, T.ALIAS, T.JOIN)",
        "in (T.FROM, T.ALIAS, T.JOIN, T.IN)",
        "a list of another table is read as a sub-query",
        refusal("WHERE age IN (SELECT age FROM visits)"),
    ),
)
