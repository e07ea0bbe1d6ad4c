"""What a row counts for does not hang on other rows: an engine that plans by what a column holds must not change an answer by it."""

from itertools import product
from typing import Any

import pytest

from discreet.engines.base import Data
from discreet.engines.duckdb import DuckDB
from discreet.plan import relation as r
from discreet.plan import scalar as s
from discreet.plan.evaluate import evaluate
from discreet.plan.scalar import Type

X, Y, W = s.Column("x", Type.INTEGER), s.Column("y", Type.BOOLEAN), s.Column("w", Type.TEXT)
FIVE, NONE = s.Literal(5, Type.INTEGER), s.Literal(None, Type.INTEGER)
ONE = r.Term(r.How.SUM, s.Literal(1, Type.INTEGER))
FALSE = s.Literal(False, Type.BOOLEAN)


def order(sign: str, left: s.Scalar, value: int) -> s.Scalar:
    return s.Comparison(s.Order(sign), left, s.Literal(value, Type.INTEGER))


NUMBERS: dict[str, s.Scalar] = {
    "positive or 5": s.Case(((order(">", X, 0), X),), FIVE),
    "present or 5": s.Case(((s.IsNull(X), FIVE),), X),
    "coalesced": s.Coalesce((X, FIVE)),
    "5 if true": s.Case(((Y, X),), FIVE),
    "NULL if 5": s.Case(((order("=", X, 5), NONE),), X),
    "plain": X,
    "absolute": s.Cast(s.Function("abs", (X,)), Type.INTEGER),
    "largest": s.Cast(s.Function("greatest", (X, FIVE)), Type.INTEGER),
}


def among(operand: s.Scalar, *values: int) -> s.Scalar:
    return s.In(operand, tuple(s.Literal(value, Type.INTEGER) for value in values))


def conditions(number: s.Scalar) -> list[s.Scalar]:
    lists = [among(number, 5), among(number, 5, 6), among(number, 4, 5, 6), among(number, 7, 8)]
    orders = [order(sign, number, value) for sign, value in product(("=", "<>", "<", ">="), (5, 6))]
    plain = [*lists, *orders]
    return [*plain, *map(s.Not, plain), *(s.Or((s.IsNull(number), each)) for each in lists), *map(s.IsNull, plain)]


TABLES = [[None], [None, 5], [None, 5, 6], [5], [None, None], [None, 4, 5, 6], [5, 5], [None, 1], [None, 5, 9], []]


@pytest.mark.parametrize("values", TABLES, ids=str)
def test_a_filter_keeps_the_same_rows_whatever_the_others_hold(values: list[int | None]) -> None:
    for flags in ([None], [None, True, False]):
        rows: list[dict[str, Any]] = [{"x": x, "y": flags[i % len(flags)]} for i, x in enumerate(values)]
        lists = {name: [row[name] for row in rows] for name in ("x", "y")}
        with DuckDB([Data("t", lists, (X, Y))], threads=1) as engine:
            for condition in [each for number in NUMBERS.values() for each in conditions(number)]:
                found = engine.run(r.Totals(r.Filter(r.Scan("t", (X, Y)), condition), (), (ONE,)), 1)
                kept = sum(evaluate(condition, row) is True for row in rows)
                assert sum(found.totals[0].tolist()) == kept, (condition, rows)


@pytest.mark.parametrize("flags", [[None], [None, True], [None, False], [None, True, False]], ids=str)
def test_a_group_of_missing_flags_stays_whatever_the_others_hold(flags: list[bool | None]) -> None:
    key = s.Case(((Y, Y),), FALSE)
    condition = s.In(key, (FALSE, s.Literal(True, Type.BOOLEAN)))
    with DuckDB([Data("t", {"y": flags}, (Y,))], threads=1) as engine:
        found = engine.run(r.Totals(r.Filter(r.Scan("t", (Y,)), condition), (key,), (ONE,)), 1)
    counts = dict(zip(found.keys, found.totals[0].tolist(), strict=True))
    assert counts.get((False,), 0) == sum(not flag for flag in flags)
    assert counts.get((True,), 0) == sum(flag is True for flag in flags)


@pytest.mark.parametrize("texts", [[None], [None, "a"], [None, "a", "b"], [None, "z"]], ids=str)
def test_a_text_for_what_is_missing_is_a_group_of_its_own(texts: list[str | None]) -> None:
    key = s.Case(((s.IsNull(W), s.Literal("?", Type.TEXT)),), W)
    condition = s.In(key, tuple(s.Literal(each, Type.TEXT) for each in ("a", "b", "?")))
    with DuckDB([Data("t", {"w": texts}, (W,))], threads=1) as engine:
        found = engine.run(r.Totals(r.Filter(r.Scan("t", (W,)), condition), (key,), (ONE,)), 1)
    assert dict(zip(found.keys, found.totals[0].tolist(), strict=True))[("?",)] == 1
