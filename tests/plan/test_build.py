"""Questions that are built: their text is the question that was meant, whatever is in it, and their plans are those of SQL."""

import operator
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
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
from discreet.plan.catalog import Catalog, Column, Protected
from discreet.plan.check import digest
from discreet.plan.functions import FUNCTIONS
from discreet.plan.plan import Plan
from discreet.plan.private import plan_for
from discreet.plan.question import Question
from discreet.plan.relation import Filter
from discreet.plan.scalar import (
    And,
    Arithmetic,
    Coalesce,
    Comparison,
    Function,
    IsNull,
    Literal,
    Not,
    Operator,
    Or,
    Order,
    Scalar,
    Type,
)
from discreet.plan.scalar import Column as Field
from discreet.plan.sql import question
from discreet.plan.sql.parameters import bound_literal
from discreet.plan.sql.spelling import RESERVED, constant, name
from discreet.plan.sql.text import DUCKDB, check_characters
from tests.golden.plans import DELTA, EPSILON, VISITS, asked, catalogs, kept, questions
from tests.plan.built import Unsaid, built
from tests.scale import repeats

MOST_UNSAID = 90
"""Golden questions that the builder has no words for, at most: those with names of relations, sets of keys, or no SQL at all."""

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
    """The same question under every catalog, and under the first the same plan, by the digest that names it in ledgers."""
    built_ones = said()
    assert len(questions()) - len(built_ones) <= MOST_UNSAID
    for called, text in built_ones.items():
        for unit, catalog in catalogs(called).items():
            assert read(text, catalog) == read(questions()[called], catalog), (called, unit)
        unit, catalog = next(iter(catalogs(called).items()))
        assert _planned(called, text, catalog) == _named(kept(called, unit, EPSILON, DELTA)), called
    answered = [
        called
        for called, text in built_ones.items()
        if not isinstance(read(text, next(iter(catalogs(called).values()))), str)
    ]
    print(f"{len(built_ones)} of {len(questions())} golden questions are built, {len(answered)} of them answered")
    assert len(answered) >= 200


def _planned(called: str, text: str, catalog: Catalog) -> str:
    try:
        return _named(plan_for(asked(called, text, catalog), catalog, EPSILON, DELTA))
    except DiscreetError as error:
        return _named(error)


def _named(plan: Plan | DiscreetError) -> str:
    return f"refused: {plan.code}" if isinstance(plan, DiscreetError) else digest(plan)


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
@example(np.float64(1e300))
def test_a_value_is_one_constant_and_the_one_that_a_parameter_is(value: object) -> None:
    """Refused is what cannot be bound either, and a text that no question can hold."""
    try:
        constant(value)
    except Invalid:
        with pytest.raises(QueryError):
            bound_literal(value, "x", moments=True)
            check_characters(str(value))
        return
    meant = bound_literal(value, "x", moments=True)
    found = condition_of(fn.coalesce(col("age").is_null(), lit(value).is_null()))
    assert isinstance(found, Coalesce) and found.parts[1] == IsNull(meant)


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), Decimal("NaN"), 1 << 63, -(1 << 63) - 1, 10**400, "a\0b", "\ud800", "a\u202eb", b"x", [1], object(),
     datetime(2024, 1, 1, tzinfo=UTC), np.datetime64("NaT"), timedelta(microseconds=1), np.array([1, 2]), complex(1)],
    ids=lambda each: type(each).__name__,
)  # fmt: skip
def test_what_is_no_constant_is_refused_and_says_what_to_write(value: object) -> None:
    with pytest.raises(Invalid) as error:
        lit(value)
    assert error.value.hint and len(str(error.value)) < 300


@given(st.one_of(HOSTILE, QUOTES))
@example("it's")
@example('"')
@example("`")
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


WORDS = sorted(
    {word.lower() for word in DUCKDB.tokenizer_class.KEYWORDS if word.isidentifier() and word.isascii()}
    | {each for row in FUNCTIONS.values() for each in (row.name.lower(),) if each.isidentifier()}
    | RESERVED
)


@pytest.mark.parametrize("words", [WORDS[i::4] for i in range(4)])
def test_a_column_may_have_the_name_of_any_word_of_sql(words: list[str]) -> None:
    for word in words:
        catalog = _with_column(word)
        if catalog is None:
            continue
        column = Field(word, Type.TEXT)
        is_x = Comparison(Order.EQUAL, column, Literal("x", Type.TEXT))
        assert condition_of((col(word) == "x") & ~col(word).is_null(), catalog) == And((is_x, Not(IsNull(column))))
        grouped = VISITS_ROWS.group_by(word).agg(**{f"{word}_": count_distinct(word)})
        if word != "all":  # which the parser takes for ORDER BY ALL, in quotes too
            grouped = grouped.order_by(col(word).desc())
        assert question(grouped.sql(), catalog).keys == (column,)


# trees

Pair = tuple[Any, Scalar]
"""An expression of the builder, and the node that it is to become."""

OPERATORS = {
    Operator.ADD: operator.add,
    Operator.SUBTRACT: operator.sub,
    Operator.MULTIPLY: operator.mul,
    Operator.DIVIDE: operator.truediv,
}
ORDERS = {
    Order.EQUAL: operator.eq,
    Order.LESS: operator.lt,
}
LEAVES: list[Pair] = [
    (col("age"), Field("age", Type.INTEGER)),
    (col("cost"), Field("cost", Type.NUMBER)),
    (fn.abs(col("weight")), Function("abs", (Field("weight", Type.NUMBER),))),
]


def _numbers(inner: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
    def made(sign: Operator, left: Pair, right: Pair) -> Pair:
        return OPERATORS[sign](left[0], right[0]), Arithmetic(sign, left[1], right[1])

    def constants(number: int, sign: Operator, left: Pair) -> Pair:
        return OPERATORS[sign](number, left[0]), Arithmetic(sign, Literal(number, Type.INTEGER), left[1])

    signs = st.sampled_from(list(OPERATORS))
    return st.builds(made, signs, inner, inner) | st.builds(constants, st.integers(-9, 9), signs, inner)


def _conditions(inner: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
    def both(left: Pair, right: Pair) -> Pair:
        return left[0] & right[0], And((*_parts(And, left[1]), *_parts(And, right[1])))

    def either(left: Pair, right: Pair) -> Pair:
        return left[0] | right[0], Or((*_parts(Or, left[1]), *_parts(Or, right[1])))

    return (
        st.builds(both, inner, inner)
        | st.builds(either, inner, inner)
        | inner.map(lambda pair: (~pair[0], Not(pair[1])))
    )


def _parts(kind: type, scalar: Scalar) -> tuple[Scalar, ...]:
    return scalar.parts if isinstance(scalar, kind) else (scalar,)  # type: ignore[attr-defined]


NUMBERS = st.recursive(st.sampled_from(LEAVES), _numbers, max_leaves=6)
COMPARED = st.builds(
    lambda order, left, right: (ORDERS[order](left[0], right[0]), Comparison(order, left[1], right[1])),
    st.sampled_from(list(ORDERS)),
    NUMBERS,
    NUMBERS,
)
CONDITIONS = st.recursive(COMPARED, _conditions, max_leaves=6)


@settings(max_examples=repeats(300))
@given(CONDITIONS)
def test_a_tree_of_operators_is_read_as_the_tree_that_it_is(pair: Pair) -> None:
    expression, meant = pair
    assert condition_of(expression) == meant


# clauses


def test_the_text_of_each_clause() -> None:
    for built_one, text in TEXTS:
        assert built_one.sql() == text == str(built_one)


age, ward, admitted = col("age"), col("ward"), col("admitted")
TEXTS = [
    (VISITS_ROWS.agg(count()), "SELECT COUNT(*) FROM visits"),
    (
        VISITS_ROWS.where(age >= 18, col("note") == "it's").group_by("ward").agg(n=count(), cost=mean("cost")),
        "SELECT ward, COUNT(*) AS n, AVG(cost) AS cost FROM visits WHERE age >= 18 AND note = 'it''s' GROUP BY ward",
    ),
    (
        VISITS_ROWS.group_by(decade=age // 10).agg(n=count()).having(col("n") > 10).order_by(col("n").desc()).limit(2, 1),
        "SELECT age // 10 AS decade, COUNT(*) AS n FROM visits GROUP BY 1 HAVING n > 10 ORDER BY n DESC LIMIT 2 OFFSET 1",
    ),
    (VISITS_ROWS.group_by("ward").agg(ward=count()), "SELECT ward, COUNT(*) AS ward FROM visits GROUP BY 1"),
    (VISITS_ROWS.group_by("Ward").agg(ward=count()), 'SELECT "Ward", COUNT(*) AS ward FROM visits GROUP BY 1'),
    (
        VISITS_ROWS.where(lit(True), abs(age - 40) < 5).group_by("ward").agg(n=count()).limit(np.int64(2), np.int8(1)),
        "SELECT ward, COUNT(*) AS n FROM visits WHERE TRUE AND ABS(age - 40) < 5 GROUP BY ward LIMIT 2 OFFSET 1",
    ),
    (
        VISITS_ROWS.agg(quantile("age", np.array([0.25, 0.75])), count().where(admitted + interval(np.int64(1), "day") > admitted)),
        "SELECT QUANTILE(age, [0.25, 0.75]), COUNT(*) FILTER (WHERE admitted + INTERVAL '1 day' > admitted) FROM visits",
    ),
    (
        VISITS_ROWS.group_by("ward", "smoker", form="rollup").agg(n=count()),
        "SELECT ward, smoker, COUNT(*) AS n FROM visits GROUP BY ROLLUP (ward, smoker)",
    ),
    (
        VISITS_ROWS.group_by("patient_id").agg(n=count()).agg(mean=mean("n")),
        "SELECT AVG(n) AS mean FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id)",
    ),
    (VISITS_ROWS.select("ward").distinct(), "SELECT DISTINCT ward FROM visits"),
    (
        VISITS_ROWS.with_columns(old=age >= param("least")).agg(n=count().where(col("old"))),
        "SELECT COUNT(*) FILTER (WHERE old) AS n FROM (SELECT *, age >= :least AS old FROM visits)",
    ),
    (
        VISITS_ROWS.join("wards", "ward", how="left").where(col("beds").is_not_null()).agg(n=count("beds")),
        "SELECT COUNT(beds) AS n FROM visits LEFT JOIN wards USING (ward) WHERE beds IS NOT NULL",
    ),
    (
        VISITS_ROWS.agg(q=quantile("age", [0.1, 0.9]), m=median("age"), v=variance("age"), s=stddev("age"), k=mode("ward")),
        "SELECT QUANTILE(age, [0.1, 0.9]) AS q, MEDIAN(age) AS m, VARIANCE(age) AS v, STDDEV(age) AS s, MODE(ward) AS k FROM visits",
    ),
    (
        VISITS_ROWS.group_by("ward").agg(share=count() / fn.sum(count()).over(), place=fn.rank().over(order_by=[count().desc()])),
        "SELECT ward, COUNT(*) / SUM(COUNT(*)) OVER () AS share, RANK() OVER (ORDER BY COUNT(*) DESC) AS place FROM visits GROUP BY ward",
    ),
    (
        VISITS_ROWS.where(admitted + timedelta(days=30) > date(2024, 2, 1), admitted + interval(1, "month") > admitted).agg(count()),
        "SELECT COUNT(*) FROM visits WHERE admitted + INTERVAL '30 days' > DATE '2024-02-01' AND admitted + INTERVAL '1 month' > admitted",
    ),
    (
        VISITS_ROWS.agg(s=sum(when(age < 18).then(1).when(age.between(18, 64)).then(-2).otherwise(0))),
        "SELECT SUM(CASE WHEN age < 18 THEN 1 WHEN age BETWEEN 18 AND 64 THEN -2 ELSE 0 END) AS s FROM visits",
    ),
    (VISITS_ROWS.agg(sum(when(age > 1).then(1).end())), "SELECT SUM(CASE WHEN age > 1 THEN 1 END) FROM visits"),
    (
        VISITS_ROWS.where(2 - (3 - age) == -(age * -1), np.float64(0.5) < (age * 2) ** 2).agg(count()),
        "SELECT COUNT(*) FROM visits WHERE 2 - (3 - age) = -(age * (-1)) AND ((age * 2) ^ 2) > 0.5",
    ),
    (
        VISITS_ROWS.where(age.cast(str).concat("x").like("%1_x")).agg(count()),
        "SELECT COUNT(*) FROM visits WHERE (CAST(age AS VARCHAR) || 'x') LIKE '%1_x'",
    ),
]  # fmt: skip


def test_each_of_these_texts_is_a_question() -> None:
    several = catalogs("join-group")["person, add-remove, several tables"]
    for each, text in TEXTS:
        question(each.sql(), several if "wards" in text else CATALOG, {"least": 65} if ":least" in text else None)


SLIPS: list[tuple[Callable[[], object], str]] = [
    (lambda: bool(age > 3), "use & | ~"),
    (lambda: age > 3 and ward == "A", "use & | ~"),
    (lambda: 18 <= age <= 65, "between"),
    (lambda: 18 & ward.is_null() <= age, "brackets"),
    (lambda: age == None, "is_null"),  # noqa: E711 (what is refused)
    (lambda: age.is_in("AB"), "list"),
    (lambda: age.is_in([]), "list"),
    (lambda: age.cast("INT); DROP"), "int, float"),
    (lambda: getattr(fn, "sum(1); --"), "no function"),
    (lambda: param("a b"), "param("),
    (lambda: interval(1, "day' OR '"), "months"),
    (lambda: age.like(3), "like("),  # type: ignore[arg-type]
    (lambda: mean(3), "its name"),  # type: ignore[arg-type]
    (lambda: operand(age.desc()), "order_by"),
    (lambda: col(""), "at least one"),
    (lambda: col("a\0"), "cannot be seen"),
    (lambda: VISITS_ROWS.group_by("ward").where(age > 3), "before group_by"),
    (lambda: VISITS_ROWS.limit(3), "after agg"),
    (lambda: VISITS_ROWS.agg(), "agg(n="),
    (lambda: VISITS_ROWS.group_by(), "its name"),
    (lambda: VISITS_ROWS.group_by("ward", form="sets"), "rollup"),
    (lambda: VISITS_ROWS.agg(count()).limit(-1), "limit(5)"),
    (lambda: VISITS_ROWS.join("wards", "ward", how="outer"), "left"),
    (lambda: VISITS_ROWS.where(3), "brackets"),  # type: ignore[arg-type]
    (lambda: VISITS_ROWS.where("visits" == "Ann"), "visits['name']"),  # type: ignore[arg-type, comparison-overlap]
    (lambda: (age > 3) & ("visits" == "Ann"), "visits['name']"),  # type: ignore[comparison-overlap]
    (lambda: when(True), "dp.lit(True)"),  # type: ignore[arg-type]
    (lambda: (sum("cost") / count()).where(age > 3), "dp.sum(x).where(c) / dp.count().where(c)"),
    (lambda: (sum("cost") / count()).over(), "fn.sum(dp.count()).over()"),
    (lambda: age.where(age > 3), "one aggregate"),
    (lambda: age.is_in(5), "list"),  # type: ignore[arg-type]
    (lambda: count().over(partition_by=5), "its name"),  # type: ignore[arg-type]
    (lambda: VISITS_ROWS.join("wards", []), "column that both tables have"),
    (lambda: VISITS_ROWS.join("wards", None), "at least one"),  # type: ignore[arg-type]
    (lambda: VISITS_ROWS.agg(count()).limit(np.float64(2)), "limit(5)"),  # type: ignore[arg-type]
    (lambda: VISITS_ROWS.agg(count()).limit(True), "limit(5)"),
]


@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: slip[1])
def test_a_slip_is_refused_and_says_what_to_write(slip: tuple[Callable[[], object], str]) -> None:
    act, says = slip
    with pytest.raises((TypeError, Invalid, AttributeError)) as error:
        act()
    assert says in str(error.value)
