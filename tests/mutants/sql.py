"""Planted bugs of `discreet.plan.sql`: clauses that are dropped, and words that are read as others."""

from tests.mutants import Mutant, register

PART = "plan/sql"
AGGREGATES = "discreet.plan.sql.aggregates:"
CLAUSES = "discreet.plan.sql.clauses:"
EXPRESSIONS = "discreet.plan.sql.expressions:"
FUNCTIONS = "discreet.plan.sql.functions:"
OPERATORS = "discreet.plan.sql.operators:"
PARAMETERS = "discreet.plan.sql.parameters:"
PATTERNS = "discreet.plan.sql.patterns:"
TEXT = "discreet.plan.sql.text:"
TOTAL = "discreet.plan.releases.total:"

register(
    Mutant(
        "having-dropped",
        PART,
        CLAUSES + "Clauses._having",
        "if having is None:",
        "if True:",
        "groups that were to be left out are shown",
    ),
    Mutant(
        "where-dropped",
        PART,
        CLAUSES + "Clauses._rows",
        "scan if condition is None else Filter(scan, condition)",
        "scan",
        "all rows are counted",
    ),
    Mutant(
        "filter-dropped",
        PART,
        AGGREGATES + "aggregate_of",
        "if where is not None:",
        "if False:",
        "FILTER is forgotten, and all rows are counted",
    ),
    Mutant(
        "count-of-a-column-is-of-rows",
        PART,
        TOTAL + "Count.read",
        "None if isinstance(argument, Literal) else argument",
        "None",
        "NULL is counted",
    ),
    Mutant(
        "distinct-ignored",
        PART,
        TOTAL + "Count.read",
        "Aggregate(PEOPLE,",
        "Aggregate(COUNT,",
        "rows are counted for people",
    ),
    Mutant(
        "distinct-of-anything",
        PART,
        TOTAL + "Count.read",
        " or argument.name != call.person",
        "",
        "distinct values are counted as if they were people",
    ),
    Mutant(
        "not-like-as-like",
        PART,
        OPERATORS + "matched",
        'Not(found) if node.args.get("negate") else found',
        "found",
        "NOT LIKE is read as LIKE",
    ),
    Mutant(
        "not-dropped",
        PART,
        OPERATORS + "_not",
        "Not(read.condition(node.this))",
        "read.condition(node.this)",
        "NOT IN is read as IN",
    ),
    Mutant(
        "between-half-open",
        PART,
        OPERATORS + "_between",
        "Order.LESS_OR_EQUAL",
        "Order.LESS",
        "the upper end is left out",
    ),
    Mutant(
        "comparison-not-turned",
        PART,
        OPERATORS + "compared",
        "TURNED.get(order, order)",
        "order",
        "3 < age is read as age < 3",
    ),
    Mutant(
        "or-as-and",
        PART,
        OPERATORS + "_connected",
        "else Or(tuple(parts))",
        "else And(tuple(parts))",
        "any of is read as all of",
    ),
    Mutant(
        "backslash-escapes",
        PART,
        PATTERNS + "plain_pattern",
        'character == "\\\\" != escape',
        "False",
        "a backslash of a pattern hides the sign after it",
    ),
    Mutant(
        "offset-dropped",
        PART,
        CLAUSES + "Clauses.question",
        'self._count("offset") or 0',
        "0",
        "the first rows are shown",
    ),
    Mutant(
        "nulls-first-dropped",
        PART,
        CLAUSES + "Clauses._order",
        'bool(node.args.get("nulls_first"))',
        "False",
        "NULLS FIRST is forgotten",
    ),
    Mutant(
        "person-as-key",
        PART,
        CLAUSES + "Clauses._check_key",
        "if read.person in used:",
        "if False:",
        "people are grouped by who they are",
    ),
    Mutant(
        "rows-released",
        PART,
        CLAUSES + "Clauses._released",
        "raise self._not_grouped(scalar.name)",
        "return scalar",
        "a row's own value is an output",
    ),
    Mutant(
        "alias-for-column",
        PART,
        EXPRESSIONS + "Expressions.column",
        "alias is not None and alias != found",
        "False",
        "a name with two meanings is read as one of them",
    ),
    Mutant(
        "unread-arguments",
        PART,
        EXPRESSIONS + "Expressions.take",
        "name not in args",
        "False",
        "what a node says besides is forgotten",
    ),
    Mutant(
        "case-default-dropped",
        PART,
        FUNCTIONS + "_case",
        "None if default is None else read.scalar(default)",
        "None",
        "ELSE is forgotten",
    ),
    Mutant(
        "nullif-turned",
        PART,
        FUNCTIONS + "_nullif",
        "Order.EQUAL",
        "Order.NOT_EQUAL",
        "all other values become NULL",
    ),
    Mutant(
        "parameters-turned",
        PART,
        PARAMETERS + "bound",
        "zip(map(str, range(len(values))), values, strict=True)",
        "zip(map(str, range(len(values))), reversed(values), strict=True)",
        "values are bound in another order",
    ),
    Mutant(
        "true-bound-as-one",
        PART,
        PARAMETERS + "literal",
        "TYPES[type(found)]",
        "TYPES[int if isinstance(found, float) else type(found)]",
        "a number is bound as an integer",
    ),
    Mutant(
        "depth-unbounded",
        PART,
        TEXT + "check_depth",
        "max(len(items) + cases, prefixes, chains[-1]) > MOST_DEPTH",
        "prefixes > MOST_DEPTH",
        "deep brackets reach the recursive parser",
    ),
)
