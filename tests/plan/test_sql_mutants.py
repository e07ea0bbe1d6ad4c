"""Every planted bug of the reading of SQL makes the law named here fail; without the bug the same law holds."""

from collections.abc import Callable

import pytest

from tests.mutants import Mutant, of_part
from tests.plan import test_functions as functions
from tests.plan import test_sql as means
from tests.plan import test_sql_refusals as refused

Law = Callable[[], object]
AGGREGATES, CONDITIONS = dict(means.AGGREGATES), dict(means.CONDITIONS)


def aggregate(sql: str) -> Law:
    return lambda: means.test_an_aggregate_means(sql, AGGREGATES[sql])


def condition(sql: str) -> Law:
    return lambda: means.test_a_condition_means(sql, CONDITIONS[sql])


def refusal(text: str) -> Law:
    code = next(code for code, each in refused.TABLES if each == text)
    return lambda: refused.test_refused(code, text)


def bound(i: int) -> Law:
    return lambda: means.test_parameters_are_typed_constants(*means.PARAMETERS[i])


CAUGHT_BY: dict[str, Law] = {
    "having-dropped": means.test_every_clause_is_in_the_question,
    "where-dropped": means.test_every_clause_is_in_the_question,
    "offset-dropped": means.test_every_clause_is_in_the_question,
    "nulls-first-dropped": means.test_every_clause_is_in_the_question,
    "filter-dropped": aggregate("COUNT(age) FILTER (WHERE insured)"),
    "count-of-a-column-is-of-rows": aggregate("COUNT(age)"),
    "distinct-ignored": aggregate("COUNT(DISTINCT patient_id)"),
    "distinct-of-anything": refusal("SELECT COUNT(DISTINCT ward) FROM visits"),
    "not-like-as-like": condition("ward NOT LIKE 'A_'"),
    "not-dropped": condition("age NOT IN (1)"),
    "between-half-open": condition("age BETWEEN 1 AND 2"),
    "comparison-not-turned": condition("3 < age"),
    "or-as-and": condition("insured AND age = 1 OR ward = 'A'"),
    "backslash-escapes": condition("ward LIKE 'a\\%'"),
    "case-default-dropped": condition("CASE WHEN age > 1 THEN insured ELSE FALSE END"),
    "nullif-turned": condition("NULLIF(age, 0) > 1"),
    "person-as-key": refusal("SELECT patient_id, COUNT(*) FROM visits GROUP BY patient_id"),
    "rows-released": refusal("SELECT age, COUNT(*) FROM visits GROUP BY ward"),
    "alias-for-column": refusal("SELECT AVG(age) AS age FROM visits HAVING age > 3"),
    "unread-arguments": refusal("SELECT COUNT(*) FROM visits WHERE age BETWEEN SYMMETRIC 1 AND 2"),
    "constants-of-a-call-forgotten": functions.calls_are_told_apart,
    "operands-of-a-call-turned": functions.calls_are_told_apart,
    "parameters-turned": means.test_parameters_are_bound_in_the_order_of_the_text,
    "true-bound-as-one": bound(3),
    "depth-unbounded": lambda: refused.test_pathological_text_is_refused_at_once("101 brackets"),
}


def test_every_planted_bug_has_its_law() -> None:
    assert {mutant.name for mutant in of_part("plan/sql")} == set(CAUGHT_BY)


@pytest.mark.parametrize("mutant", of_part("plan/sql"), ids=lambda mutant: mutant.name)
def test_the_planted_bug_is_caught(mutant: Mutant) -> None:
    law = CAUGHT_BY[mutant.name]
    law()
    with mutant.planted(), pytest.raises((AssertionError, ValueError, pytest.fail.Exception)):
        law()
    law()
