"""Planted bugs of joins: rows that are multiplied, kept by chance of their order, or joined with what nobody looked at."""

from tests.curator import test_public as tables
from tests.engines import test_joins as engines
from tests.mutants import Law, Mutant
from tests.plan import joined
from tests.plan import test_joins as names
from tests.plan.joined import OF_PEOPLE, PERSON, WITH_PUBLIC

JOINS = "discreet.plan.rules.joins:"
SQL = "discreet.plan.sql.joins:"
RENDER = "discreet.engines.render.joins:"
PUBLIC = "discreet.curator.public:"


def refusal(part: str) -> Law:
    """A text with this part is refused, with the code in its row."""
    code, text = next(row for row in names.REFUSED if part in row[1])
    return lambda: names.test_everything_else_is_refused_with_what_to_do(code, text)


def same(part: str) -> Law:
    """A pair of texts, of which the first has this part, is one question."""
    (pair,) = (each for each in names.SAME if part in each[0])
    return lambda: names.test_names_of_tables_mean_nothing_to_a_plan(*pair)


def people_agree() -> None:
    engines.engines_agree(OF_PEOPLE[:3], [PERSON], kept=False)


def public_agrees() -> None:
    engines.engines_agree(WITH_PUBLIC[:4], [PERSON], kept=True)


def computed_there() -> None:
    """Of what a sub-query computes that is joined."""
    joined.joins_are_those_of_duckdb(2, joined.AS_DUCKDB[-1:])


MUTANTS = (
    Mutant(
        "an-inner-join-loses-nobody",
        JOINS + "_public_join",
        "return below if relation.outer else Reach(below.rows, below.groups)",
        "return below",
        "how many rows match is told exactly, where replacing a row leaves their number as it is",
        joined.no_answer_is_exact,
    ),
    Mutant(
        "a-fan-out",
        JOINS + "check_unique",
        "if held.unique(names) or",
        "if True or",
        "a row is joined with every row of a public table that has its key",
        joined.a_public_key_is_unique_or_refused,
    ),
    Mutant(
        "a-filter-is-not-looked-at",
        JOINS + "_filtered",
        "if all(evaluate(each, row) is True for each in conditions)",
        "if row",
        "a key that a condition makes unique is refused",
        joined.a_filter_may_make_a_key_unique,
    ),
    Mutant(
        "another-table",
        JOINS + "_scope_of_a_public_join",
        "table.public.digest != relation.digest",
        "False",
        "a plan is run on a public table that was not looked at",
        joined.a_plan_is_of_the_table_that_was_looked_at,
    ),
    Mutant(
        "nothing-is-missing-beside-a-row",
        JOINS + "joined_scope",
        "if outer:",
        "if False:",
        "columns of a row without a match are taken to be there",
        lambda: joined.joins_are_those_of_duckdb(1, tuple(WITH_PUBLIC[6:])),
    ),
    Mutant(
        "a-side-without-end",
        JOINS + "_person_join",
        "if not any(isinstance(each, KeepRows) for each in own_rows(side)):",
        "if False:",
        "all rows of a person are joined with all of their rows",
        joined.rules_refuse_what_is_not_bounded,
    ),
    Mutant(
        "rows-about-people",
        JOINS + "_keep_rows",
        "unit is not Unit.PERSON or ",
        "",
        "rows of a person are kept where each row is a unit of its own, so that one row takes the place of another",
        joined.rules_refuse_what_is_not_bounded,
    ),
    Mutant(
        "any-size",
        JOINS + "check_size",
        "if people * prod(numbers) > MOST_ROWS:",
        "if people > MOST_ROWS:",
        "a join is run that is too large to be added up",
        joined.size_is_bounded,
    ),
    Mutant(
        "two-of-nothing-are-alike",
        "discreet.plan.public:Contents.unique",
        "if None not in key",
        "if True",
        "rows without a key, which match nothing, are taken for the same",
        joined.a_public_key_is_unique_or_refused,
    ),
    Mutant(
        "a-digest-of-names",
        "discreet.plan.public:Contents.of",
        "text = repr((tuple(columns), rows))",
        "text = repr(tuple(columns))",
        "an answer that was kept is given for another public table",
        joined.a_plan_is_of_the_table_that_was_looked_at,
    ),
    Mutant(
        "the-rows-of-nobody",
        "discreet.plan.joins:_rows_of_a_join",
        "return relation.source",
        "return None",
        "it is not known whose rows a join has",
        public_agrees,
    ),
    Mutant(
        "the-first-rows-are-kept",
        "discreet.engines.memory:_keep_rows",
        "sorted(mine, key=lambda each: each[0])[: relation.most]",
        "mine[: relation.most]",
        "which rows are kept depends on their order",
        joined.what_is_kept_is_a_persons_own,
    ),
    Mutant(
        "as-many-rows-of-each-kind",
        RENDER + "_keep_rows",
        "partition_by=[person],",
        "partition_by=[person, *values],",
        "rows of a person are kept that differ from each other, however many they are",
        people_agree,
    ),
    Mutant(
        "more-rows-than-are-kept",
        RENDER + "_keep_rows",
        "bare_integer(relation.most)",
        "bare_integer(relation.most + 1)",
        "one row more is joined than is declared",
        people_agree,
    ),
    Mutant(
        "left-is-inner",
        RENDER + "_joined",
        'side="left" if outer else None',
        "side=None",
        "rows without a match are left out of a LEFT JOIN",
        public_agrees,
    ),
    Mutant(
        "conditions-of-the-other-side",
        RENDER + "_joined",
        "there.over(beside), where=conditions",
        "there.over(beside)",
        "rows are joined that a sub-query leaves out",
        lambda: engines.engines_agree(WITH_PUBLIC[6:], [PERSON], kept=False),
    ),
    Mutant(
        "people-on-anything",
        SQL + "_check_people",
        'if both != [(person.casefold(), "", person.casefold())]:',
        "if False:",
        "rows of different people are joined",
        refusal("a.port = b.port"),
    ),
    Mutant(
        "on-half-of-a-condition",
        SQL + "_equal",
        "yield from _equal(sources, read, node.expression, join)",
        "sources.take(node.expression, 'this', 'expression')",
        "of two conditions of a join one is forgotten",
        refusal("v.who = t.who AND v.port = t.lab"),
    ),
    Mutant(
        "a-match-is-computed-of-nothing",
        SQL + "_others",
        "origin.outer and not isinstance(meaning, Column)",
        "False",
        "what is computed in a sub-query is there for rows without a match, too",
        refusal("size + 1 AS s"),
    ),
    Mutant(
        "a-public-table-is-preserved",
        SQL + "joined",
        "public_table(right.origin) is None and not outer",
        "public_table(right.origin) is None",
        "a LEFT JOIN from a public table is read as one to it",
        refusal("ports p LEFT JOIN visits"),
    ),
    Mutant(
        "columns-of-the-wrong-side",
        SQL + "_elsewhere",
        "rebuilt(scalar, lambda inside: _elsewhere(inside, called))",
        "scalar",
        "what a sub-query computes of its own columns is computed of those of the other side",
        computed_there,
    ),
    Mutant(
        "a-rebuilt-function-loses-operands",
        "discreet.plan.sql.rebuilding:rebuilt",
        "Arithmetic(scalar.operator, change(scalar.left), change(scalar.right))",
        "Arithmetic(scalar.operator, change(scalar.left), change(scalar.left))",
        "an expression over changed parts has one of them twice",
        computed_there,
    ),
    Mutant(
        "whoever-is-joined-is-shown",
        "discreet.plan.sql.expressions:Expressions.is_person",
        "return not column.table or not self.scope.field(column).public",
        "return not column.table",
        "groups are made of people, by the name of the other table",
        refusal("LEFT JOIN tests t USING (who) GROUP BY t.who"),
    ),
    Mutant(
        "anybody-is-a-person",
        "discreet.plan.releases.total:_distinct",
        "and not argument.table and",
        "and",
        "people are counted by a column of another table that is called like theirs",
        names.test_a_public_column_that_is_called_like_the_person_is_a_column,
    ),
    Mutant(
        "nothing-is-missing-in-public",
        PUBLIC + "_column",
        "nullable=None in values",
        "nullable=False",
        "a public column is taken to have a value in every row",
        tables.test_a_column_is_what_its_values_are,
    ),
    Mutant(
        "a-code-is-a-number",
        PUBLIC + "_kind",
        "(Type.INTEGER, WHOLE.fullmatch),",
        "(Type.INTEGER, str.isdigit),",
        "codes that begin with 0 lose it",
        tables.test_a_column_is_what_its_values_are,
    ),
    Mutant(
        "a-row-less",
        "discreet.engines.snapshot:snapshot",
        "for row in rows]",
        "for row in rows[1:]]",
        "the first row of a public table is not read",
        tables.test_a_column_is_what_its_values_are,
    ),
)
