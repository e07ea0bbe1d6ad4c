"""Groups that conditions leave: of declared values, of values that a survey found, and of none that anybody knows.

What is declared is all there is. What a survey found is a fact, and need not be all: no value that is named is impossible for it.
"""

from dataclasses import replace
from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import QueryError
from discreet.plan.catalog import Catalog, Column, Protected, Table
from discreet.plan.private import plan_for
from discreet.plan.scalar import Type
from discreet.plan.sql import question
from tests.plan.test_shapes import MANY

EVERY = ("a", "b", "c", "d", "e")
"""All values that there are, whoever knows of which."""

LISTS = [f"k IN ({', '.join(map(repr, values))})" for values in (("a", "b"), ("d", "e"), ("b", "c", "e"))]
EQUALS = [f"k = {value!r}" for value in EVERY]
OTHERS = ["k <> 'b'", "k > 'b'", "k < 'e'", "k NOT IN ('a', 'c')", "k LIKE '%d%'", "LENGTH(k) > 1", "x > 3"]
SURVEY = "surveyed on version 7"
ONE_BUG = settings(MANY, report_multiple_bugs=False)


@cache
def catalog(known: tuple[str, ...], kind: str) -> Catalog:
    key = Column("k", Type.TEXT, keys=known if kind != "unknown" else None)
    key = replace(key, surveyed=SURVEY) if kind == "surveyed" else key
    return Catalog(
        (Table("t", (Column("who", Type.TEXT), key, Column("x", Type.INTEGER))),),
        Protected("who", max_groups=1, max_rows=1),
    )


def meets(value: str, condition: str) -> bool:
    """Python's word for a condition; of another column it says nothing of the key."""
    return condition == "x > 3" or bool(
        eval(
            condition.replace("NOT IN", "not in").replace("IN", "in").replace("<>", "!=").replace(" = ", " == ")
            .replace("k LIKE '%d%'", "'d' in k").replace("LENGTH(k)", "len(k)").replace("('", "['").replace("')", "']"),
            {"k": value, "len": len},
        )
    )  # fmt: skip


def groups_of(known: tuple[str, ...], kind: str, conditions: list[str]) -> set[str] | QueryError:
    told = catalog(known, kind)
    text = f"SELECT k, COUNT(*) AS n FROM t WHERE {' AND '.join(conditions)} GROUP BY k"
    try:
        return {str(value) for (value,) in plan_for(question(text, told), told, 1).domain}
    except QueryError as error:
        return error


known_values = st.lists(st.sampled_from(EVERY), min_size=1, max_size=3, unique=True).map(tuple)
conditions = st.lists(st.sampled_from([*LISTS, *EQUALS, *OTHERS]), min_size=1, max_size=3, unique=True)


@ONE_BUG
@given(known_values, conditions)
def test_a_survey_makes_nothing_impossible(known: tuple[str, ...], asked: list[str]) -> None:
    """Values that a condition names are groups, whether a survey found them or not; else those of the survey that meet it."""
    found = groups_of(known, "surveyed", asked)
    listed = next((each for each in asked if each in LISTS or each in EQUALS), None)
    possible = {value for value in (EVERY if listed else known) if all(meets(value, each) for each in asked)}
    if not isinstance(found, QueryError):
        assert found == possible
        return
    assert not possible and found.code == "no-groups" and "declared" not in found.message
    if "contradict" in found.message:
        assert not any(all(meets(value, each) for each in asked) for value in EVERY)
    else:
        assert SURVEY in found.message and "there may be others" in found.message
        assert "k IN (…)" in (found.hint or "")


@ONE_BUG
@given(known_values, conditions)
def test_what_is_declared_is_all_there_is(known: tuple[str, ...], asked: list[str]) -> None:
    found = groups_of(known, "declared", asked)
    possible = {value for value in known if all(meets(value, each) for each in asked)}
    if isinstance(found, QueryError):
        assert found.code == "unknown-key" or (not possible and found.code == "no-groups")
    else:
        assert found == possible


@ONE_BUG
@given(conditions)
def test_named_values_are_groups_where_nobody_knows_any(asked: list[str]) -> None:
    found = groups_of(("a",), "unknown", asked)
    if not any(each in LISTS or each in EQUALS for each in asked):
        assert isinstance(found, QueryError) and found.code == "missing-keys"
        return
    possible = {value for value in EVERY if all(meets(value, each) for each in asked)}
    assert found == possible or (isinstance(found, QueryError) and "declared" not in found.message and not possible)


def test_a_key_that_no_surveyed_value_falls_into_says_so() -> None:
    told = catalog(("a", "b"), "surveyed")
    try:
        question("SELECT CAST(k AS INTEGER) AS i, COUNT(*) AS n FROM t GROUP BY i", told)
    except QueryError as error:
        assert SURVEY in error.message and "declared" not in error.message
    else:
        raise AssertionError("no group")
