"""Questions that are built: their text is the question that was meant, whatever names and values are in it, and their plans are those of SQL."""

import operator
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.errors import DiscreetError, Invalid, QueryError
from discreet.plan.build.expression import Expression, operand
from discreet.plan.build.functions import (
    col,
    count,
    count_distinct,
    fn,
    interval,
    lit,
    mean,
    median,
    mode,
    param,
    quantile,
    stddev,
    sum,
    variance,
    when,
)
from discreet.plan.build.select import Select
from discreet.plan.catalog import Catalog, Column, Protected, Table
from discreet.plan.check import digest
from discreet.plan.functions import FUNCTIONS
from discreet.plan.plan import Plan
from discreet.plan.private import plan_for
from discreet.plan.question import Question
from discreet.plan.relation import Filter
from discreet.plan.scalar import And, Arithmetic, Comparison, Literal, Not, Operator, Or, Order, Scalar, Type
from discreet.plan.scalar import Column as Field
from discreet.plan.sql import question
from discreet.plan.sql.parameters import bound_literal
from discreet.plan.sql.spelling import constant, name
from discreet.plan.sql.text import DUCKDB
from tests.golden.plans import DELTA, EPSILON, VISITS, catalogs, kept_digests, questions
from tests.plan.built import Unsaid, built
from tests.scale import repeats

MOST_UNSAID = 90
"""Golden questions that the builder has no words for, at most; what it lacks are names of relations, sets of keys and texts that are no SQL."""

CATALOG = Catalog((VISITS,), Protected("patient_id", max_groups=3, max_rows=5))
VISITS_ROWS = Select(source="visits")


def said() -> dict[str, str]:
    """The golden questions that the builder can say, as it says them."""
    found = {}
    for called, text in questions().items():
        try:
            found[called] = built(text).sql()
        except (Unsaid, Invalid, ValueError, AttributeError):
            continue
    return found


def read(text: str, catalog: Catalog) -> Question | str:
    """A question, or the code of its refusal."""
    try:
        return question(text, catalog)
    except DiscreetError as error:
        return error.code


def test_what_is_built_is_what_is_written_for_all_golden_questions_that_both_can_say() -> None:
    """The same question under every catalog, and under the first the same plan, by the name that ledgers keep for good."""
    built_ones, kept = said(), kept_digests()
    assert len(questions()) - len(built_ones) <= MOST_UNSAID
    for called, text in built_ones.items():
        for unit, catalog in catalogs(called).items():
            assert read(text, catalog) == read(questions()[called], catalog), (called, unit)
        unit, catalog = next(iter(catalogs(called).items()))
        assert _planned(text, catalog) == kept[f"{called} [{unit}] {EPSILON} {DELTA}"], called
    answered = [called for called, text in built_ones.items() if not isinstance(read(text, next(iter(catalogs(called).values()))), str)]
    print(f"{len(built_ones)} of {len(questions())} golden questions are built, {len(answered)} of them answered")
    assert len(answered) >= 200


def _planned(text: str, catalog: Catalog) -> str:
    try:
        return digest(plan_for(question(text, catalog), catalog, EPSILON, DELTA))
    except DiscreetError as error:
        return f"refused: {error.code}"


# names and constants


HOSTILE = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1, max_size=40)
QUOTES = st.text(st.sampled_from("'\"\\;-/*()[]?:$`\n,= aA1é"), min_size=1, max_size=20)
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(1 << 63), (1 << 63) - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.decimals(allow_nan=False, allow_infinity=False, places=3),
    st.fractions(),
    st.dates(),
    st.datetimes(),
    HOSTILE,
    QUOTES,
    st.integers(-128, 127).map(np.int8),
    st.floats(width=32, allow_nan=False, allow_infinity=False).map(np.float32),
    st.dates(date(1700, 1, 1)).map(lambda day: np.datetime64(day, "D")),
)


def condition_of(expression: Expression, catalog: Catalog = CATALOG) -> Scalar:
    """The condition that an expression becomes, in a question that is otherwise what it was."""
    plain = question(VISITS_ROWS.agg(n=count()).sql(), catalog)
    found = question(VISITS_ROWS.where(expression).agg(n=count()).sql(), catalog)
    assert isinstance(found.source, Filter) and replace(found, source=plain.source) == plain
    return found.source.condition


@given(VALUES)
@example(-(1 << 63))
@example("'; DROP TABLE visits; --")
@example(Decimal("0.1"))
def test_a_value_is_one_constant_and_the_one_that_a_parameter_is(value: object) -> None:
    try:
        text = constant(value)
    except Invalid:
        with pytest.raises(QueryError):
            bound_literal(value, "x", moments=True)  # nothing is refused here that could be bound, but what cannot be seen
            question("SELECT COUNT(*) AS n FROM visits WHERE note = 'x' AND note = " + repr(value), CATALOG)
        return
    meant = bound_literal(value, "x", moments=True)
    (found,) = condition_of(fn.coalesce(lit(value), lit(value)).is_null()).operand.parts[:1] if value is not None else (meant,)  # type: ignore[attr-defined]
    assert (found.value, found.type) == (meant.value, meant.type), text


@given(st.one_of(HOSTILE, QUOTES))
@example("it's")
@example('"')
def test_a_name_is_one_name(called: str) -> None:
    """A column of this name is read as that column, and an output of it has it."""
    try:
        name(called)
    except Invalid:
        with pytest.raises(QueryError):
            question(f'SELECT COUNT(*) AS "{called}" FROM visits', CATALOG)
        return
    if called.casefold() in {each.name for each in VISITS.columns}:
        return
    catalog = _with_column(called)
    if catalog is None:
        return
    found = condition_of(col(called) == "x", catalog)
    assert found == Comparison(Order.EQUAL, Field(called, Type.TEXT), Literal("x", Type.TEXT))
    assert [each.name for each in question(VISITS_ROWS.agg(**{called: count()}).sql(), catalog).outputs] == [called]


def _with_column(called: str) -> Catalog | None:
    """The catalog with one more column; None for a name that no column has."""
    try:
        return replace(CATALOG, tables=(replace(VISITS, columns=(*VISITS.columns, Column(called, Type.TEXT))),))
    except DiscreetError:
        return None
