"""Names in scope: which column each means, and what is known of it; in one relation, and in two that are joined."""

from fractions import Fraction as F
from itertools import product

import pytest

from discreet.errors import QueryError
from discreet.plan.catalog import Catalog, Column, Protected, Table
from discreet.plan.evaluate import evaluate
from discreet.plan.facts import Facts
from discreet.plan.rules.scalars import facts_of
from discreet.plan.scalar import Arithmetic, IsNull, Not, Operator, Type, columns_in
from discreet.plan.scalar import Column as Node
from discreet.plan.scope import Scope
from discreet.plan.sql import question
from discreet.plan.written import notation

VISITS = Table(
    "visits",
    (
        Column("who", Type.INTEGER),
        Column("age", Type.INTEGER, F(0), F(120)),
        Column("ward", Type.TEXT, keys=("A", "B"), nullable=False),
    ),
)
TESTS = Table(
    "Tests",
    (Column("WHO", Type.INTEGER), Column("Age", Type.NUMBER, F(1), F(2)), Column("result", Type.TEXT, keys=("x",))),
)
ONE, OTHER = Scope.of(VISITS), Scope.of(TESTS)
JOINED = ONE.joined(OTHER)
SCOPES = [ONE, OTHER, JOINED, OTHER.joined(ONE), JOINED.joined(Scope.of(VISITS, "again"))]


def spelt(name: str) -> set[str]:
    return {name, name.upper(), name.lower(), name.title()}


@pytest.mark.parametrize("scope", SCOPES, ids=lambda scope: " ".join(scope.tables))
def test_a_name_with_its_relation_means_one_column(scope: Scope) -> None:
    """However either is spelt; and its node finds it again."""
    for known in scope.fields:
        for name, table in product(spelt(known.name), spelt(known.table)):
            assert scope.named(name, table) is known
        assert scope.field(scope.column(known)) is known
        assert scope.facts(scope.column(known)) == known.facts


def names_alone_mean_one_column() -> None:
    for scope in SCOPES:
        for known in scope.fields:
            alike = [each for each in scope.fields if each.name.casefold() == known.name.casefold()]
            for name in spelt(known.name):
                if len(alike) == 1:
                    assert scope.named(name) is known
                    continue
                with pytest.raises(QueryError, match="is in tables") as refused:
                    scope.named(name)
                assert refused.value.code == "ambiguous-name"
                assert all(each.table in refused.value.message for each in alike)
        assert len({scope.column(each) for each in scope.fields}) == len(scope.fields)


def test_a_name_alone_means_one_column_or_is_refused() -> None:
    names_alone_mean_one_column()


def test_columns_of_one_relation_are_named_alone_and_those_of_several_are_not() -> None:
    assert {each.table for each in map(ONE.column, ONE.fields)} == {""}
    assert {each.table for each in map(JOINED.column, JOINED.fields)} == {"visits", "Tests"}
    assert JOINED.column(JOINED.named("age", "visits")) != JOINED.column(JOINED.named("age", "tests"))


def test_facts_are_those_of_the_relation_that_is_named() -> None:
    ages = [JOINED.column(JOINED.named("age", table)) for table in ("visits", "tests")]
    assert [facts_of(age, JOINED) for age in ages] == [Facts(F(0), F(120), True), Facts(F(1), F(2))]
    both = Arithmetic(Operator.ADD, *ages)
    assert (facts_of(both, JOINED).low, facts_of(both, JOINED).high) == (1, 122) and columns_in(both) == {*ages}
    assert evaluate(both, {("visits", "age"): 40, ("Tests", "Age"): 1.5, "age": 7}) == 41.5


@pytest.mark.parametrize("side", [0, 1])
def test_what_is_present_on_one_side_is_present_in_the_join_on_that_side_alone(side: int) -> None:
    scopes = [ONE, OTHER]
    filtered = scopes[side].named("age")
    scopes[side] = scopes[side].where({scopes[side].column(filtered)})
    joined = scopes[0].joined(scopes[1])
    nullable = {each.table: joined.facts(joined.column(each)).nullable for each in joined.matches("age")}
    assert nullable == {each: each != filtered.table for each in ("visits", "Tests")}
    assert all(joined.unfiltered.facts(joined.column(each)).nullable for each in joined.matches("age"))


@pytest.mark.parametrize("called", ["visits", "VISITS"])
def test_two_relations_of_one_name_are_refused(called: str) -> None:
    with pytest.raises(QueryError, match="two tables are called") as refused:
        JOINED.joined(Scope.of(TESTS, called))
    assert refused.value.code == "duplicate-name"
    assert len(JOINED.joined(Scope.of(VISITS, "again")).matches("age")) == 3


@pytest.mark.parametrize("scope", SCOPES, ids=lambda scope: " ".join(scope.tables))
def test_unknown_names_are_refused(scope: Scope) -> None:
    for name, table, code in [
        ("agee", "", "unknown-column"),
        ("agee", scope.tables[0], "unknown-column"),
        ("age", "nothing", "unknown-table"),
    ]:
        with pytest.raises(QueryError) as refused:
            scope.named(name, table)
        assert refused.value.code == code and refused.value.hint


def test_columns_of_two_relations_have_names_of_their_own_in_plans() -> None:
    """And one without a relation has the name that it always had."""
    names = [notation(Node("age", Type.INTEGER, table)) for table in ("", "visits", "tests")]
    assert len(set(names)) == 3
    assert names[0] == "Column(name='age', type=<Type.INTEGER: 'integer'>)"


@pytest.mark.parametrize("source", ["visits", "visits AS v", "visits v"])
def test_a_qualified_name_asks_the_same_as_the_name_alone(source: str) -> None:
    catalog = Catalog((VISITS, TESTS), Protected("who"))
    called = source.split()[-1]
    for form in (
        "SELECT COUNT({0}age) AS n FROM {1}",
        "SELECT {0}ward AS w, AVG({0}age) AS a FROM {1} WHERE {0}age > 3 GROUP BY {0}ward ORDER BY {0}ward",
    ):
        plain = question(form.format("", "visits"), catalog)
        for table in spelt(called):
            assert question(form.format(f"{table}.", source), catalog) == plain
        with pytest.raises(QueryError) as refused:
            question(form.format("tests.", source), catalog)
        assert refused.value.code == "unknown-table"


def test_what_a_filter_tells_is_kept_apart_from_what_is_declared() -> None:
    age = Node("age", Type.INTEGER)
    filtered = ONE.where({age})
    assert not facts_of(age, filtered).nullable and facts_of(age, filtered.unfiltered).nullable
    assert not facts_of(Not(IsNull(age)), filtered).nullable and filtered.unfiltered == ONE
