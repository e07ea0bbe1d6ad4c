"""Planted bugs of `discreet.plan.sql`: clauses that are dropped, and words that are read as others."""

from tests.mutants import Law, Mutant
from tests.plan import test_distinct, test_functions
from tests.plan import test_malformed as malformed
from tests.plan import test_sql as means
from tests.plan import test_sql_refusals as refused

AGGREGATES = "discreet.plan.sql.aggregates:"
CALLS = "discreet.plan.sql.calls:"
CLAUSES = "discreet.plan.sql.clauses:"
EXPRESSIONS = "discreet.plan.sql.expressions:"
FUNCTIONS = "discreet.plan.sql.functions:"
OPERATORS = "discreet.plan.sql.operators:"
PARAMETERS = "discreet.plan.sql.parameters:"
PATTERNS = "discreet.plan.sql.patterns:"
TEXT = "discreet.plan.sql.text:"
TOTAL = "discreet.plan.releases.total:"


MEANT, MET = dict(means.AGGREGATES), dict(means.CONDITIONS)


def aggregate(sql: str) -> Law:
    return lambda: means.test_an_aggregate_means(sql, MEANT[sql])


def condition(sql: str) -> Law:
    return lambda: means.test_a_condition_means(sql, MET[sql])


def refusal(text: str) -> Law:
    code = next(code for code, each in refused.TABLES if each == text)
    return lambda: refused.test_refused(code, text)


def bound(i: int) -> Law:
    return lambda: means.test_parameters_are_typed_constants(*means.PARAMETERS[i])


def no_word_is_forgotten() -> None:
    (mark,) = malformed.test_a_word_that_the_parser_forgets_is_refused.pytestmark  # type: ignore[attr-defined]
    for text in mark.args[1]:
        malformed.test_a_word_that_the_parser_forgets_is_refused(text)


MUTANTS = (
    Mutant(
        "bare-keys-are-columns",
        EXPRESSIONS + "Expressions.column",
        "not isinstance(node.parent, exp.Group)",
        "True",
        "a key is a column where the output of that name was meant",
        means.names_inside_keys_are_columns,
    ),
    Mutant(
        "having-dropped",
        CLAUSES + "Clauses._having",
        "if having is None:",
        "if True:",
        "groups that were to be left out are shown",
        means.test_every_clause_is_in_the_question,
    ),
    Mutant(
        "where-dropped",
        CLAUSES + "Clauses._rows",
        "rows if condition is None else Filter(rows, condition)",
        "rows",
        "all rows are counted",
        means.test_every_clause_is_in_the_question,
    ),
    Mutant(
        "filter-dropped",
        AGGREGATES + "aggregate_of",
        "if where is not None:",
        "if False:",
        "FILTER is forgotten, and all rows are counted",
        aggregate("COUNT(age) FILTER (WHERE insured)"),
    ),
    Mutant(
        "count-of-a-column-is-of-rows",
        TOTAL + "Count.read",
        "None if isinstance(argument, Literal) else argument",
        "None",
        "NULL is counted",
        aggregate("COUNT(age)"),
    ),
    Mutant(
        "distinct-ignored",
        TOTAL + "_distinct",
        "Aggregate(PEOPLE,",
        "Aggregate(COUNT,",
        "rows are counted for people",
        aggregate("COUNT(DISTINCT patient_id)"),
    ),
    Mutant(
        "distinct-of-anything",
        TOTAL + "_distinct",
        " and argument.name == call.person",
        "",
        "distinct values are counted as if they were people",
        test_distinct.test_the_person_is_counted_as_before,
    ),
    Mutant(
        "not-like-as-like",
        OPERATORS + "matched",
        'Not(like) if node.args.get("negate") else like',
        "like",
        "NOT LIKE is read as LIKE",
        condition("ward NOT LIKE 'A_'"),
    ),
    Mutant(
        "not-dropped",
        OPERATORS + "_not",
        "Not(read.condition(node.this))",
        "read.condition(node.this)",
        "NOT IN is read as IN",
        condition("age NOT IN (1)"),
    ),
    Mutant(
        "between-half-open",
        OPERATORS + "_between",
        "Order.LESS_OR_EQUAL",
        "Order.LESS",
        "the upper end is left out",
        condition("age BETWEEN 1 AND 2"),
    ),
    Mutant(
        "comparison-not-turned",
        OPERATORS + "compared",
        "TURNED.get(order, order)",
        "order",
        "3 < age is read as age < 3",
        condition("3 < age"),
    ),
    Mutant(
        "or-as-and",
        OPERATORS + "_connected",
        "else Or(tuple(parts))",
        "else And(tuple(parts))",
        "any of is read as all of",
        condition("insured AND age = 1 OR ward = 'A'"),
    ),
    Mutant(
        "backslash-escapes",
        PATTERNS + "plain_pattern",
        'character == "\\\\" != escape',
        "False",
        "a backslash of a pattern hides the sign after it",
        condition("ward LIKE 'a\\%'"),
    ),
    Mutant(
        "offset-dropped",
        CLAUSES + "Clauses.question",
        'self._count("offset") or 0',
        "0",
        "the first rows are shown",
        means.test_every_clause_is_in_the_question,
    ),
    Mutant(
        "nulls-first-dropped",
        CLAUSES + "Clauses._order",
        'bool(node.args.get("nulls_first"))',
        "False",
        "NULLS FIRST is forgotten",
        means.test_every_clause_is_in_the_question,
    ),
    Mutant(
        "person-as-key",
        CLAUSES + "Clauses._check_key",
        "if any(map(read.is_person, used)):",
        "if False:",
        "people are grouped by who they are",
        refusal("SELECT patient_id, COUNT(*) FROM visits GROUP BY patient_id"),
    ),
    Mutant(
        "rows-released",
        CLAUSES + "Clauses._released",
        "raise self._not_grouped(scalar)",
        "return scalar",
        "a row's own value is an output",
        refusal("SELECT age, COUNT(*) FROM visits GROUP BY ward"),
    ),
    Mutant(
        "alias-for-column",
        EXPRESSIONS + "Expressions.column",
        "alias is not None and alias != item.meaning",
        "False",
        "a name with two meanings is read as one of them",
        refusal("SELECT AVG(age) AS age FROM visits HAVING age > 3"),
    ),
    Mutant(
        "unread-arguments",
        EXPRESSIONS + "SharedReading.take",
        "name not in args",
        "False",
        "what a node says besides is forgotten",
        refusal("SELECT COUNT(*) FROM visits WHERE age BETWEEN SYMMETRIC 1 AND 2"),
    ),
    Mutant(
        "case-default-dropped",
        FUNCTIONS + "_case",
        "None if default is None else read.scalar(default)",
        "None",
        "ELSE is forgotten",
        condition("CASE WHEN age > 1 THEN insured ELSE FALSE END"),
    ),
    Mutant(
        "nullif-turned",
        FUNCTIONS + "_nullif",
        "Order.EQUAL",
        "Order.NOT_EQUAL",
        "all other values become NULL",
        condition("NULLIF(age, 0) > 1"),
    ),
    Mutant(
        "constants-of-a-call-forgotten",
        CALLS + "CallShape.fits",
        "_folded(node.args.get(name)) == value",
        "True",
        "a logarithm to one base is read as one to another",
        test_functions.calls_are_told_apart,
    ),
    Mutant(
        "operands-of-a-call-turned",
        CALLS + "_shape",
        "key=lambda key: names.index(held[key][0])",
        "key=lambda key: -names.index(held[key][0])",
        "the operands of a function are read in another order",
        test_functions.calls_are_told_apart,
    ),
    Mutant(
        "parameters-turned",
        PARAMETERS + "bound",
        "zip(map(str, range(len(values))), values, strict=True)",
        "zip(map(str, range(len(values))), reversed(values), strict=True)",
        "values are bound in another order",
        means.test_parameters_are_bound_in_the_order_of_the_text,
    ),
    Mutant(
        "true-bound-as-one",
        PARAMETERS + "bound_literal",
        "TYPES[type(constant)]",
        "TYPES[int if isinstance(constant, float) else type(constant)]",
        "a number is bound as an integer",
        bound(3),
    ),
    Mutant(
        "depth-unbounded",
        TEXT + "check_depth",
        "max(len(items) + cases, prefixes, chains[-1]) > MOST_DEPTH",
        "prefixes > MOST_DEPTH",
        "deep brackets reach the recursive parser",
        lambda: refused.test_pathological_text_is_refused_at_once("101 brackets"),
    ),
    Mutant(
        "limit-of-two-numbers",
        "discreet.plan.sql:check_unread",
        "if have[exp.Offset] and ",
        "if False and ",
        "the numbers of LIMIT are read in another order than they are meant",
        refusal("SELECT COUNT(*) FROM visits LIMIT 5, 6"),
    ),
    Mutant(
        "items-that-are-not-there",
        "discreet.plan.sql.text:check_gaps",
        "if missing or (token.token_type is T.PLUS and (after is None or after in AFTER_AN_ITEM)):",
        "if missing:",
        "a sign before nothing is passed over, and the item with it",
        refusal("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward, +"),
    ),
    Mutant(
        "forgotten-words-passed-over",
        "discreet.plan.sql:check_unread",
        "unread = counts[kind] > sum(have[each] for each in classes)",
        "unread = False",
        "a word that the parser forgets is no part of the question",
        no_word_is_forgotten,
    ),
    Mutant(
        "any-types-beside-each-other",
        "discreet.plan.sql.values:alike",
        "if len(set(types)) > 1 and not all(each.numeric for each in types):",
        "if False:",
        "values of different types are compared, each engine in its own way",
        refusal("SELECT COUNT(*) FROM visits WHERE ward = 1"),
    ),
    Mutant(
        "no-day-is-a-day",
        "discreet.plan.sql.values:_said",
        "if value is None or (",
        "if (",
        "a text that says no day is NULL, and the condition leaves everybody out",
        refusal("SELECT COUNT(*) FROM visits WHERE admitted > '2024-02-30'"),
    ),
    Mutant(
        "null-is-summed",
        "discreet.plan.releases.base:_number",
        "if isinstance(argument, Literal) and argument.value is None:",
        "if False:",
        "a sum of nothing is measured, and charged",
        refusal("SELECT SUM(NULL) FROM visits"),
    ),
)
