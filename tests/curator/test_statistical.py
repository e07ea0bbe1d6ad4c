"""Statistical queries: the answers are Σq, one row changes one answer by 1 at most, and several by what the plan is charged for."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import pytest

from discreet.curator.session import Curator
from discreet.curator.table.statistical import asked
from discreet.errors import DiscreetError, Invalid, QueryError
from discreet.plan.build.expression import Expression
from discreet.plan.build.functions import col, count, mean
from discreet.plan.build.select import Select
from discreet.plan.catalog import Catalog, Column, Protected, Table
from discreet.plan.evaluate import evaluate
from discreet.plan.plan import Plan
from discreet.plan.private import plan_for
from discreet.plan.rules.relations import combined
from discreet.plan.scalar import Scalar, Type
from discreet.plan.sql import question

TABLE = Table(
    "visits", (Column("who", Type.TEXT, nullable=False), Column("age", Type.INTEGER), Column("share", Type.NUMBER))
)
ROWS = Catalog((TABLE,), Protected())
PEOPLE = Catalog((TABLE,), Protected("who", max_rows=2, max_groups=2))
VISITS = Select(source="visits")
CELLS = [
    dict(zip(("who", "age", "share"), row, strict=True))
    for row in product("ab", (None, 10, 65), (None, -1.0, 0.25, 7.0))
]
VECTORS: list[tuple[Sequence[str | Expression], int]] = [
    (["age >= 65"], 1),
    (["share"], 1),
    (["age >= 65", "age >= 10"], 2),
    (["age >= 65", "age < 65"], 1),
    (["age >= 65", "age < 65", "age IS NULL"], 3),  # not proven: each is a term of its own
    (["age = 10", col("age").is_in([65, 70])], 1),
    (["share", "age >= 65"], 2),
    (["share", "1 - share", "share > 0"], 3),
]
"""Queries, and what one row more changes of all their answers together."""


def planned(queries: Sequence[str | Expression], catalog: Catalog = ROWS, **more: Any) -> Plan:
    built = asked(VISITS, catalog, queries, more.get("mean", False), more.get("per", "row"))
    return plan_for(question(built.sql(), catalog), catalog, Fraction(1), Fraction(0))


def charged(plan: Plan) -> Fraction:
    """What a unit changes of all that is released together, as the rules compute it."""
    stage = plan.decided
    sensitivities = [combined(each.made, stage.query, plan.relation, len(stage.domain)) for each in stage.measurements]
    steps = [each.step for each in stage.measurements]
    return sum((each.l1 * step for each, step in zip(sensitivities, steps, strict=True)), Fraction(0))


def exact(plan: Plan, rows: Sequence[dict[str, Any]]) -> list[float]:
    """The answers without noise, as the question means them."""
    asked_for = plan.question
    if asked_for.keys:
        keys = [evaluate(asked_for.keys[0], row) for row in rows]
        return [keys.count(i) for i in (1, 2, 3)]
    return [sum(_value(each.argument, each.condition, row) for row in rows) for each in asked_for.aggregates]


def _value(argument: Scalar | None, condition: Scalar | None, row: dict[str, Any]) -> float:
    counted = condition is None or evaluate(condition, row) is True
    return float(counted if argument is None else evaluate(argument, row)) if counted else 0.0  # type: ignore[arg-type]


@pytest.mark.parametrize(("queries", "changes"), VECTORS, ids=str)
def test_one_row_changes_what_is_charged_for_and_no_more(queries: Sequence[str | Expression], changes: int) -> None:
    """By all tables of up to two rows, and each row that may come to them."""
    plan = planned(queries)
    assert charged(plan) == changes
    most = 0.0
    for size in range(3):
        for rows in combinations_with_replacement(CELLS[:12], size):
            before = exact(plan, rows)
            for row in CELLS[:12]:
                after = exact(plan, [*rows, row])
                moved = [abs(one - other) for one, other in zip(after, before, strict=True)]
                assert max(moved) <= 1 and sum(moved) <= changes
                most = max(most, sum(moved))
    assert most >= min(changes, 2) * 0.5


@pytest.mark.parametrize(
    "query",
    ["age >= 65", "share", "share / 0", "1e300 * share", "CAST(who AS DOUBLE)", "age", "age > 3 OR who IS NULL"],
)
def test_a_query_is_a_number_from_0_to_1_on_every_row(query: str) -> None:
    """The argument that is summed, on each row; a condition is a count of rows."""
    (one,) = planned([query]).question.aggregates
    for row in CELLS:
        assert 0 <= _value(one.argument, one.condition, row) <= 1


def test_of_people_a_query_changes_by_their_rows_or_by_one() -> None:
    assert charged(planned(["age >= 65"], PEOPLE)) == 2
    assert charged(planned(["share"], PEOPLE)) == 2
    assert charged(planned(["age >= 65"], PEOPLE, per="person")) == 1
    assert charged(planned(["share", "age >= 65"], PEOPLE, per="person")) == 2


def disjoint_queries_move_no_more_than_others() -> None:
    """Of people a histogram is taken only where limits make it move less: with rows limited in each bin, it would move more."""
    two, three = ["age >= 65", "age < 65"], ["age >= 65", "age = 10", "age = 11"]
    limits: list[tuple[dict[str, int], list[str], int, bool]] = [
        ({"max_rows": 2, "max_groups": 3}, two, 4, False),
        ({"max_rows": 2, "max_groups": 1}, two, 4, False),  # whoever is in both bins would be left out of one
        ({"max_rows": 1, "max_groups": 3}, two, 2, False),
        ({"max_total": 5}, two, 5, True),
        ({"max_rows": 2, "max_groups": 2}, three, 6, False),
        ({"max_rows": 2, "max_total": 3}, two, 3, True),
        ({"max_groups": 3, "max_total": 3}, two, 3, True),
        ({"max_groups": 2, "max_total": 3}, two, 6, False),
    ]
    for declared, queries, changes, is_histogram in limits:
        plan = planned(queries, Catalog((TABLE,), Protected("who", **declared)))  # type: ignore[arg-type]
        assert (charged(plan), bool(plan.question.keys)) == (changes, is_histogram), declared


def test_disjoint_queries_move_no_more_than_others() -> None:
    disjoint_queries_move_no_more_than_others()


def an_answer_is_the_same_whatever_is_asked_beside_it() -> None:
    """Of people who are in several bins nothing is left out of one of them, wherever limits come from."""
    data = {"who": [i // 2 for i in range(80)], "age": [[10, 70, 10, 10][i % 4] for i in range(80)]}
    columns = {"age": {"bounds": (0, 100)}}
    declared = {"max_rows": 2, "max_groups": 1}
    for of_policy, said in ((declared, {}), ({"max_rows": 2}, {"max_groups": 1}), ({}, declared)):
        with Curator({"visits": data}, "who", columns, epsilon=9000, ledger=":memory:", **of_policy) as it:
            both = it.statistical("age >= 65", "age < 65", epsilon=4000, **said)
            (old,) = it.statistical("age >= 65", epsilon=2000, **said).values
            assert both.values == (20, 60) and old == 20, (of_policy, said)


def test_an_answer_is_the_same_whatever_is_asked_beside_it() -> None:
    an_answer_is_the_same_whatever_is_asked_beside_it()


def test_of_constants_there_is_no_histogram() -> None:
    assert charged(planned(["1 = 0", "1 = 1"])) == 2


def test_where_limits_are_found_disjoint_queries_are_a_histogram() -> None:
    built = asked(VISITS, Catalog((TABLE,), Protected("who")), ["age >= 65", "age < 65"], False, "row")
    assert "GROUP BY" in built.sql()


BAD = [
    "age > 3) AS a, SUM(age",
    "age > 3) FILTER (WHERE TRUE",
    "age > 3))) FILTER (WHERE ((TRUE",
    "age > 3)) AS q FROM visits WHERE ((TRUE",
    "COUNT(*) > 1",
    "age > 3 GROUP BY who",
    "age > 3, share",
    "DISTINCT age",
    "agee > 3",
    "",
    "age > 3); --",
    "age > 3))--",
    "admitted",
]


@pytest.mark.parametrize("text", BAD)
def test_a_text_that_is_no_query_is_refused(text: str) -> None:
    with pytest.raises(DiscreetError):
        asked(VISITS, ROWS, [text], False, "row")


@pytest.fixture
def curator(tmp_path: Any) -> Any:
    data = {"who": [1, 1, 2, 3] * 25, "age": [10, 65, 70, 20] * 25, "share": [0.5, 2, -1, ""] * 25, "name": ["x"] * 100}
    columns = {"age": {"bounds": (0, 100)}, "share": {"type": "number"}, "name": {"keys": ["x", "y"]}}
    with Curator(
        {"visits": data},
        columns=columns,
        row=True,
        epsilon=10_000,
        ledger=tmp_path / "l",
        analysts={"ana": {"epsilon": 500}},
    ) as it:
        yield it


def test_answers_are_sums_in_the_order_of_the_queries(curator: Curator) -> None:
    visits = curator.table("visits")
    found = curator.statistical("age >= 65", visits.age == 10, epsilon=300)
    assert found.values == (50, 25) and len(found.answer) == 3  # a histogram: two, and none of them
    assert curator.statistical("age >= 65", "age >= 10", epsilon=300).values == (50, 100)
    shares = curator.statistical("share", visits.share / 2, epsilon=500)
    assert shares.values == pytest.approx((37.5, 31.25), abs=0.5) and all(
        error and error < 1 for error in shares.errors
    )
    assert curator.statistical("share", mean=True, epsilon=500).values == pytest.approx((0.375,), abs=0.01)  # NULL is 0


def test_what_is_built_is_asked_as_its_text_and_free_where_that_was_asked(curator: Curator) -> None:
    visits = curator.table("visits")
    query = visits.where(visits.age >= 18).group_by(visits["name"]).agg(n=count())
    assert query.preview(epsilon=1).text == query.sql()
    first, spent = query.ask(epsilon=1), curator.spent
    second = curator.sql("select name, count(*) as n from visits where age >= 18 group by name", epsilon=1)
    assert (second.rows, curator.spent) == (first.rows, spent)
    for act in (lambda: visits.agee, lambda: visits["agee"], lambda: visits.agg(n=mean("agee")).ask(epsilon=1)):
        with pytest.raises(QueryError, match="did you mean 'age'"):
            act()
    assert (
        not hasattr(visits, "agee") and visits.name == "visits" and "visits" in repr(query) and curator.spent == spent
    )
    assert "geometric noise" in query.explain(epsilon=1)


def test_a_table_of_an_analyst_is_asked_as_that_analyst(curator: Curator) -> None:
    theirs = curator.table("visits", analyst="ana").agg(n=count())
    theirs.ask(epsilon=1)
    assert curator.sql(theirs.sql(), epsilon=1, analyst="ana").rows == theirs.ask(epsilon=1, analyst="ana").rows
    with pytest.raises(Invalid, match="leave analyst out"):
        theirs.ask(epsilon=1, analyst="bo")


def test_of_several_tables_one_is_named(tmp_path: Any) -> None:
    data = {"who": [1, 2], "age": ["3", "70"]}
    with Curator({"a": data, "b": data}, "who", max_rows=1, max_groups=1, epsilon=900, ledger=tmp_path / "l") as it:
        with pytest.raises(Invalid, match="table="):
            it.statistical("CAST(age AS INTEGER) > 65", epsilon=1)
        assert it.statistical("CAST(age AS INTEGER) > 65", table="b", epsilon=400).values == (1,)


@pytest.mark.parametrize(
    "slip", [{"queries": []}, {"per": "group"}, {"per": "person"}, {"queries": [3]}, {"mean": "age"}]
)
def test_slips_are_refused(slip: dict[str, Any]) -> None:
    with pytest.raises(Invalid) as error:
        planned(slip.get("queries", ["age > 3"]), per=slip.get("per", "row"), mean=slip.get("mean", False))
    assert error.value.hint
