"""The groups of a question by brute force: those that declared values fall into and no others, and every row in one of them or left out."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from discreet.engines.base import Data
from discreet.engines.duckdb import DuckDB
from discreet.engines.memory import MemoryEngine
from discreet.errors import Invalid, QueryError
from discreet.plan import scalar as s
from discreet.plan.catalog import MOST_LISTED, Catalog, Column, Protected, Table
from discreet.plan.domain import MOST_GROUPS, complete, values_of, whole_key
from discreet.plan.evaluate import evaluate
from discreet.plan.plan import Plan
from discreet.plan.private import plan_for
from discreet.plan.question import Aggregate, Output, Question
from discreet.plan.relation import Scan
from discreet.plan.release import exact_totals
from discreet.plan.releases.total import COUNT
from discreet.plan.scalar import Released, Type
from discreet.plan.scope import Scope
from discreet.plan.sql import question
from tests.plan.laws import Priorities
from tests.plan.strategies import scalars
from tests.scale import repeats

F = Fraction
TABLE = Table(
    "t",
    (
        Column("who", Type.INTEGER),
        Column("g", Type.INTEGER, F(-3), F(3)),
        Column("p", Type.INTEGER, F(1), F(3), nullable=False),
        Column("w", Type.TEXT, keys=("1", "2", "x")),
        Column("b", Type.BOOLEAN),
    ),
)
SCOPE = Scope.of(TABLE)
LISTS: dict[str, tuple[Any, ...]] = {
    "g": tuple(range(-3, 4)),
    "p": (1, 2, 3),
    "w": ("1", "2", "x"),
    "b": (False, True),
}
OUTSIDE: dict[str, tuple[Any, ...]] = {"g": (-9, 7, None), "p": (-1, 0, 9, None), "w": ("3", "", None), "b": (None,)}
COLUMNS = tuple(s.Column(column.name, column.type) for column in TABLE.columns)
NAMED = {column.name: column for column in COLUMNS}
KEYS = (Type.TEXT, Type.INTEGER, Type.BOOLEAN)
SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]


def asked(scalar: s.Scalar) -> bool:
    return not isinstance(scalar, s.Steps | s.Indicator) and all(map(asked, s.children(scalar)))


def of_one_column(name: str) -> st.SearchStrategy[s.Scalar]:
    """Keys that read this column, or none."""
    return st.one_of(*(scalars(kind, (NAMED[name],), 2) for kind in KEYS))


ONE_COLUMN = st.sampled_from(sorted(LISTS)).flatmap(lambda name: st.tuples(st.just(name), of_one_column(name)))


@settings(max_examples=repeats(300), suppress_health_check=SLOW)
@given(ONE_COLUMN)
def test_the_groups_of_a_function_of_one_column_are_its_values_on_declared_rows(made: tuple[str, s.Scalar]) -> None:
    name, key = made
    if not asked(key) or {each.name for each in s.columns_in(key)} != {name} or not s.children(key) or complete(key):
        return
    listed = values_of(key, SCOPE)
    assert listed is not None and len(listed) == len(set(listed))
    there = [evaluate(key, {name: value}) for value in LISTS[name]]
    missing = [evaluate(key, {name: None})] if TABLE.column(name).nullable else []
    assert set(listed) - {None} == set(there + missing) - {None}
    if None in there:
        assert listed[-1] is None
    elif None in listed:
        assert None in missing, "a group that no declared row is in"


def planned(keys: tuple[s.Scalar, ...], protected: Protected) -> Plan:
    counted = Question(
        Scan("t", COLUMNS), keys, (Aggregate(COUNT),), (Output("n", Released(0)),)
    )  # every key is made, also such as no text would make
    return plan_for(counted, Catalog((TABLE,), protected), 1)


def both(plan: Plan, rows: list[dict[str, Any]]) -> list[dict[Any, int]]:
    """The exact counts by group, from each engine."""
    data = [Data("t", {column.name: [row[column.name] for row in rows] for column in COLUMNS}, COLUMNS)]
    found = []
    with DuckDB(data, threads=1) as duckdb:
        for engine in (MemoryEngine(data, lambda query, salt: Priorities(salt)), duckdb):
            (counts,) = exact_totals(plan, engine.run(plan.query, 1))  # type: ignore[attr-defined]
            found.append(dict(zip(plan.domain, counts.tolist(), strict=True)))
    return found


rows = st.fixed_dictionaries(
    {"who": st.integers(1, 4), **{name: st.sampled_from(LISTS[name] + OUTSIDE[name]) for name in LISTS}}
)


@settings(max_examples=repeats(60), suppress_health_check=SLOW, deadline=None)
@given(
    keys=st.lists(
        st.one_of(ONE_COLUMN.map(lambda made: made[1]), *(scalars(kind, COLUMNS[1:], 1) for kind in KEYS)),
        min_size=1,
        max_size=2,
    ).map(tuple),
    some=st.lists(rows, max_size=12),
)
def test_every_row_is_counted_in_its_group_or_left_out(keys: tuple[s.Scalar, ...], some: list[dict[str, Any]]) -> None:
    assume(all(asked(key) and s.columns_in(key) for key in keys))
    try:
        plan = planned(keys, Protected())
    except QueryError:
        return
    found = Counter(tuple(evaluate(whole_key(key, SCOPE), row) for key in keys) for row in some)
    expected = {group: found[group] for group in plan.domain}
    assert both(plan, some) == [expected] * 2, (keys, some)


TEXTS = {
    "CASE WHEN g > 0 THEN g END": (1, 2, 3, None),
    "CASE WHEN g > 0 THEN g + 0 END": (1, 2, 3, None),
    "CASE WHEN p > 0 THEN p END": (1, 2, 3),
    "CASE WHEN g = 2 THEN 9 ELSE g END": (-3, -2, -1, 0, 1, 9, 3),
    "CASE WHEN g IS NULL THEN 0 ELSE g END": (-3, -2, -1, 0, 1, 2, 3),
    "COALESCE(g, 7)": (-3, -2, -1, 0, 1, 2, 3, 7),
    "COALESCE(p, 7)": (1, 2, 3),
    "NULLIF(w, 'x')": ("1", "2", None),
    "NULLIF(w, 'y')": ("1", "2", "x", None),
    "CAST(w AS INTEGER)": (1, 2, None),
    "p > 0": (True,),
    "NOT b": (False, True),
    "b": (False, True),
    "g": (-3, -2, -1, 0, 1, 2, 3),
    "ABS(g)": (3, 2, 1, 0),
    "w LIKE 'x%'": (False, True),
    "w IS NULL": (False, True),
    "CASE WHEN g > 10 THEN 'large' ELSE 'small' END": ("large", "small"),
}


@pytest.mark.parametrize(("text", "expected"), TEXTS.items(), ids=list(TEXTS))
def test_groups_that_cannot_occur_are_not_listed(text: str, expected: tuple[Any, ...]) -> None:
    catalog = Catalog((TABLE,), Protected())
    plan = plan_for(question(f"SELECT COUNT(*) FROM t GROUP BY {text}", catalog), catalog, 1)
    assert tuple(group[0] for group in plan.domain) == expected


@pytest.mark.parametrize("text", TEXTS, ids=list(TEXTS))
def test_a_row_in_no_group_takes_no_place(text: str) -> None:
    """With one group a person, whoever has a row in a listed group is counted in one, whatever else they have."""
    catalog = Catalog((TABLE,), Protected("who", max_groups=1, max_rows=1))
    plan = plan_for(question(f"SELECT COUNT(DISTINCT who) FROM t GROUP BY {text}", catalog), catalog, 1)
    inside = {name: LISTS[name][-1] for name in LISTS}
    some = [{"who": who, **inside} for who in range(1, 5)]
    some += [
        {"who": who, **{name: values[i % len(values)] for name, values in OUTSIDE.items()}}
        for who in range(1, 5)
        for i in range(4)
    ]
    for counts in both(plan, some):
        assert sum(counts.values()) == 4, counts


def test_a_column_that_may_be_missing_adds_what_the_key_makes_of_it() -> None:
    """And one that may not adds nothing."""
    key = s.Coalesce((NAMED["g"], s.Literal(7, Type.INTEGER)))
    sure = replace(TABLE, columns=tuple(replace(each, nullable=False) for each in TABLE.columns))
    assert values_of(key, SCOPE) == (*LISTS["g"], 7) and values_of(key, Scope.of(sure)) == LISTS["g"]


def test_as_many_keys_are_declared_as_there_are_groups_and_no_more() -> None:
    keys = tuple(map(str, range(MOST_LISTED)))
    table = Table("t", (Column("who", Type.INTEGER), Column("w", Type.TEXT, keys=keys)))
    catalog = Catalog((table,), Protected("who", max_groups=1, max_rows=1))
    plan = plan_for(question("SELECT w, COUNT(*) AS n FROM t GROUP BY w", catalog), catalog, 1)
    assert len(plan.domain) == MOST_LISTED == MOST_GROUPS
    with pytest.raises(Invalid, match="needs between 1 and 100,000 keys"):
        Column("w", Type.TEXT, keys=(*keys, "one more"))
