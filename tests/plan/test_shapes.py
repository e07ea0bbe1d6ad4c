"""Shapes of questions: sub-queries and WITH, however deep, mean what the same question means when it is written flat."""

from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.curator.session import Curator
from discreet.errors import QueryError
from discreet.noise import Tape
from discreet.plan.catalog import Catalog, Protected, Table
from discreet.plan.catalog import Column as Declared
from discreet.plan.check import digest
from discreet.plan.explain import explain, said
from discreet.plan.intervals import intervals
from discreet.plan.plan import Plan
from discreet.plan.post import released_rows
from discreet.plan.private import plan_for
from discreet.plan.release import release
from discreet.plan.scalar import Type
from discreet.plan.sql import question
from tests.golden.plans import CATALOGS
from tests.scale import repeats

CATALOG = CATALOGS["person, add-remove"]
NAMES = ("age", "cost", "ward", "smoker", "patient_id")
Level = tuple[dict[str, str], list[str]]
"""What each name of a level is, and its conditions, both in the names of the level below, as {name}."""


def numbers(names: list[str]) -> list[str]:
    """Expressions that are numbers, where age and cost are."""
    return [each for name in names for each in (f"{{{name}}}", f"{{{name}}} * 2", f"LEAST({{{name}}}, 50)")]


@st.composite
def levels(draw: st.DrawFn) -> list[Level]:
    """Sub-queries from the innermost on: each names anew what it passes on, and may call one column like another."""
    made: list[Level] = []
    for _ in range(draw(st.integers(1, 4))):
        first, second = draw(st.permutations(["age", "cost"]))
        columns = {
            "age": draw(st.sampled_from(numbers([first]))),
            "cost": draw(st.sampled_from(numbers([first, second]))),
            "ward": draw(
                st.sampled_from(["{ward}", "COALESCE({ward}, 'A')", "CASE WHEN {smoker} THEN {ward} ELSE 'B' END"])
            ),
            "smoker": draw(st.sampled_from(["{smoker}", "NOT {smoker}", "{age} > 30"])),
            "patient_id": "{patient_id}",
        }
        conditions = [
            "{age} < 90",
            "{smoker}",
            "{cost} BETWEEN 3 AND 80",
            "{ward} IS NOT NULL",
            "{age} > 1 AND {cost} > 2",
        ]
        made.append((columns, draw(st.lists(st.sampled_from(conditions), max_size=2))))
    return made


ASKED = [
    "SELECT {ward} AS w, COUNT(*) AS n FROM {source} GROUP BY w ORDER BY w",
    "SELECT SUM({age}) AS a, AVG({cost}) AS b FROM {source}",
    "SELECT COUNT(DISTINCT {patient_id}) AS n FROM {source}",
    "SELECT COUNT({ward}) FILTER (WHERE {smoker}) AS n FROM {source}",
]


def nested(asked: str, made: list[Level], style: int) -> str:
    """The question over its levels: in brackets behind FROM, or each a name of WITH, or one a name and the others in brackets."""
    source, names = "visits", []
    for i, (columns, conditions) in enumerate(made):
        items = ", ".join(f"{each.format_map(PLAIN)} AS {name}" for name, each in columns.items())
        where = f" WHERE {' AND '.join(f'({each.format_map(PLAIN)})' for each in conditions)}" if conditions else ""
        inner = f"SELECT {items} FROM {source}{where}"
        if (style >> i) & 1:
            names.append(f"v{i} AS ({inner})")
            source = f"v{i}"
        else:
            source = f"({inner}) AS v{i}"
    return (f"WITH {', '.join(names)} " if names else "") + asked.format_map({**PLAIN, "source": source})


def flat(asked: str, made: list[Level]) -> str:
    """The same question about the table itself."""
    names, where = dict(PLAIN), []
    for columns, conditions in made:
        where += [f"({each.format_map(names)})" for each in conditions]
        names = {name: f"({each.format_map(names)})" for name, each in columns.items()}
    source = "visits" + (f" WHERE {' AND '.join(where)}" if where else "")
    return asked.format_map({**names, "source": source})


PLAIN = {name: name for name in NAMES}
MANY = settings(
    max_examples=repeats(60), deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None
)


@MANY
@given(st.sampled_from(ASKED), levels(), st.integers(0, 15))
def test_a_question_over_sub_queries_is_the_question_written_flat(asked: str, made: list[Level], style: int) -> None:
    assert question(nested(asked, made, style), CATALOG) == question(flat(asked, made), CATALOG)


def test_equal_questions_have_one_plan() -> None:
    for inner, outer in PAIRS:
        plans = [plan_for(question(text, CATALOG), CATALOG, 1) for text in (inner, outer)]
        assert digest(plans[0]) == digest(plans[1])


@MANY
@given(st.sampled_from(ASKED), levels(), st.integers(0, 15))
def test_writing_a_question_flat_is_right_sql(asked: str, made: list[Level], style: int) -> None:
    """What `flat` does to a text is no invention of ours: on exact data another engine gives the same answer."""
    assert exact(nested(asked, made, style)) == exact(flat(asked, made))


def exact(text: str) -> list[Any]:
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE visits AS SELECT i % 7 AS patient_id, (i * 37) % 100 AS age, (i * 13) % 90 AS cost,"
            " CASE i % 4 WHEN 0 THEN 'A' WHEN 1 THEN 'B' WHEN 2 THEN 'C' END AS ward, i % 3 = 0 AS smoker FROM range(60) t(i)"
        )
        return connection.execute(text).fetchall()


PAIRS = [
    ("SELECT COUNT(*) AS n FROM (SELECT * FROM visits)", "SELECT COUNT(*) AS n FROM visits"),
    ("SELECT COUNT(*) AS n FROM ((SELECT v.* FROM visits AS v)) AS w", "SELECT COUNT(*) AS n FROM visits"),
    (
        "WITH a AS (SELECT weight FROM visits), v AS (SELECT * FROM visits) SELECT COUNT(*) AS n FROM v",
        "SELECT COUNT(*) AS n FROM visits",
    ),
    (
        "WITH visits AS (SELECT * FROM visits WHERE smoker) SELECT COUNT(*) AS n FROM visits",
        "SELECT COUNT(*) AS n FROM visits WHERE smoker",
    ),
    (
        "WITH v AS (SELECT * FROM visits WHERE smoker) SELECT COUNT(*) AS n FROM (WITH v AS (SELECT * FROM v WHERE age>3) SELECT * FROM v)",
        "SELECT COUNT(*) AS n FROM visits WHERE smoker AND age > 3",
    ),
    ("SELECT AVG(v.age) AS a FROM (SELECT cost AS age FROM visits) AS v", "SELECT AVG(cost) AS a FROM visits"),
    (
        "SELECT COUNT(DISTINCT who) AS n FROM (SELECT patient_id AS who FROM visits)",
        "SELECT COUNT(DISTINCT patient_id) AS n FROM visits",
    ),
    (
        "SELECT w, COUNT(*) AS n FROM (SELECT ward AS w FROM visits) GROUP BY w",
        "SELECT ward AS w, COUNT(*) AS n FROM visits GROUP BY w",
    ),
    (
        "SELECT patient_id, COUNT(*) AS n FROM (SELECT ward AS patient_id FROM visits) GROUP BY patient_id",
        "SELECT ward AS patient_id, COUNT(*) AS n FROM visits GROUP BY ward",
    ),
    (
        "SELECT decade, AVG(cost) AS c FROM (SELECT *, FLOOR(age / 10) AS decade, weight + 1 AS unread FROM visits) GROUP BY decade",
        "SELECT FLOOR(age / 10) AS decade, AVG(cost) AS c FROM visits GROUP BY decade",
    ),
]


@pytest.mark.parametrize(("text", "plain"), PAIRS, ids=[text for text, _ in PAIRS])
def test_names_of_sub_queries_mean_what_sql_says(text: str, plain: str) -> None:
    assert question(text, CATALOG) == question(plain, CATALOG)


def test_bounds_are_of_expressions_and_never_of_names() -> None:
    """A column that is called like a bounded one has the bounds of its own meaning, or none."""
    unbounded = question("SELECT SUM(age) FROM (SELECT weight AS age FROM visits)", CATALOG)
    with pytest.raises(QueryError) as caught:
        plan_for(unbounded, CATALOG, 1)
    assert caught.value.code == "missing-bounds" and "'weight'" in caught.value.message
    for factor in (2, 1000):
        wide = question(f"SELECT SUM(age) FROM (SELECT age * {factor} AS age FROM visits)", CATALOG)
        once = question("SELECT SUM(age) FROM visits", CATALOG)
        scales = [plan_for(each, CATALOG, 1).measurements[0] for each in (wide, once)]
        worth = [each.mechanism.scale * each.step for each in scales if each.mechanism is not None]
        assert worth[0] >= factor * worth[1] * 99 / 100


def test_who_a_person_is_is_the_row_s_own() -> None:
    """Whatever a sub-query passes on or calls so: people are gathered by the column that is declared."""
    for text in (
        "SELECT COUNT(*) FROM (SELECT age FROM visits)",
        "SELECT COUNT(*) FROM (SELECT age AS patient_id FROM visits) WHERE patient_id > 3",
        "SELECT SUM(patient_id) FROM (SELECT age AS patient_id, patient_id AS age FROM visits)",
    ):
        assert "gathered by patient_id" in explained(text)


def explained(text: str) -> str:
    return explain(plan_for(question(text, CATALOG), CATALOG, 1))


def test_sub_queries_that_grow_are_refused_at_once() -> None:
    """Each level doubles its column: forty of them would be a million million parts."""
    source = "visits"
    for _ in range(40):
        source = f"(SELECT age + age AS age FROM {source})"
    with pytest.raises(QueryError) as caught:
        question(f"SELECT SUM(age) FROM {source}", CATALOG)
    assert caught.value.code in ("too-many-items", "too-deep")
    wide = f"LEAST({', '.join(['age'] * 90)})"
    source = f"(SELECT {wide} AS age FROM (SELECT {wide} AS age FROM visits))"
    with pytest.raises(QueryError) as caught:
        question(f"SELECT {', '.join(f'SUM(age) AS s{i}' for i in range(300))} FROM {source}", CATALOG)
    assert caught.value.code == "too-many-items"


REWRITES = [
    (
        "SELECT ward, SUM(age) OVER (PARTITION BY ward) FROM visits",
        "SUM(COUNT(*)) OVER ()",
        "SELECT ward, SUM(SUM(age)) OVER () FROM visits GROUP BY ward",
    ),
    (
        "SELECT COUNT(*) FROM (SELECT * FROM visits LIMIT 10)",
        "limit the outermost SELECT",
        "SELECT COUNT(*) FROM visits LIMIT 10",
    ),
    (
        "SELECT AVG(n) FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) WHERE n > 10",
        "HAVING",
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING n > 10",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE smoker UNION ALL SELECT COUNT(*) FROM visits WHERE age > 65",
        "COUNT(*) FILTER (WHERE …) for each part",
        "SELECT COUNT(*) FILTER (WHERE smoker), COUNT(*) FILTER (WHERE age > 65) FROM visits",
    ),
    (
        "SELECT 'A', COUNT(*) FROM visits WHERE ward = 'A' UNION ALL SELECT 'B', COUNT(*) FROM visits WHERE ward = 'B'",
        "GROUP BY a column",
        "SELECT ward, COUNT(*) FROM visits WHERE ward IN ('A', 'B') GROUP BY ward",
    ),
    (
        "SELECT COUNT(DISTINCT patient_id) FROM (SELECT age FROM visits)",
        "its columns are age",
        "SELECT COUNT(DISTINCT patient_id) FROM (SELECT age, patient_id FROM visits)",
    ),
]


@pytest.mark.parametrize(("text", "hint", "instead"), REWRITES, ids=[text for text, _, _ in REWRITES])
def test_a_refusal_says_what_is_answered(text: str, hint: str, instead: str) -> None:
    with pytest.raises(QueryError) as caught:
        question(text, CATALOG)
    assert hint in (caught.value.hint or "")
    assert plan_for(question(instead, CATALOG), CATALOG, 1).measurements


# Groups.

GROUPED = [
    ("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ALL", "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"),
    (
        "SELECT FLOOR(age / 10) AS d, smoker, 1 AS one, AVG(cost) AS c FROM visits GROUP BY ALL HAVING COUNT(*) > 3",
        "SELECT FLOOR(age / 10) AS d, smoker, 1 AS one, AVG(cost) AS c FROM visits GROUP BY 1, 2 HAVING COUNT(*) > 3",
    ),
    ("SELECT COUNT(*) AS n FROM visits GROUP BY ALL", "SELECT COUNT(*) AS n FROM visits"),
    ("SELECT DISTINCT ward FROM visits", "SELECT ward FROM visits GROUP BY ward"),
    (
        "SELECT DISTINCT ward, smoker FROM visits ORDER BY ward LIMIT 3",
        "SELECT ward, smoker FROM visits GROUP BY ALL ORDER BY 1 LIMIT 3",
    ),
    (
        "SELECT DISTINCT ward, COUNT(*) AS n FROM visits GROUP BY ward",
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward",
    ),
]


@pytest.mark.parametrize(("text", "plain"), GROUPED, ids=[text for text, _ in GROUPED])
def test_groups_written_shortly_are_the_groups_written_out(text: str, plain: str) -> None:
    assert question(text, CATALOG) == question(plain, CATALOG)


@pytest.mark.parametrize("text", ["SELECT DISTINCT ward FROM visits", "SELECT ward FROM visits GROUP BY ward"])
@pytest.mark.parametrize("unit", CATALOGS)
def test_declared_keys_are_public_and_free(text: str, unit: str) -> None:
    catalog = CATALOGS[unit]
    plan = plan_for(question(text, catalog), catalog, 1)
    assert (plan.epsilon, plan.delta, plan.measurements) == (0, 0, ())
    assert plan.domain == (("A",), ("B",), ("C",), ("D",), ("E",))

    def never(*_: object) -> Any:
        raise AssertionError("nothing is read")

    assert release(plan, never, never, 0) == ()  # type: ignore[arg-type]
    assert released_rows(plan, ()).rows == plan.domain


@pytest.mark.parametrize(
    "text",
    [
        "SELECT DISTINCT ward FROM visits WHERE age > 90",
        "SELECT DISTINCT ward FROM visits WHERE ward = 'A' OR smoker",
        "SELECT ward FROM (SELECT * FROM visits WHERE smoker) GROUP BY ward",
        "SELECT DISTINCT note FROM visits",
        "SELECT DISTINCT ward, note FROM visits",
        "SELECT DISTINCT COALESCE(ward, 'A') FROM visits WHERE ward = 'A'",
    ],
)
def test_which_groups_have_rows_is_not_public(text: str) -> None:
    with pytest.raises(QueryError) as caught:
        plan_for(question(text, CATALOG), CATALOG, 1)
    assert caught.value.code == "no-aggregate" and "COUNT(*)" in (caught.value.hint or "")


NARROWED = [
    ("ward", "ward IN ('C', 'A')", ("A", "C")),
    ("ward", "ward = 'B'", ("B",)),
    ("ward", "ward <> 'B' AND age > 3", ("A", "C", "D", "E")),
    ("ward", "ward IN ('A', 'B') AND ward NOT IN ('B', 'C')", ("A",)),
    ("ward", "ward = 'A' OR age > 3", ("A", "B", "C", "D", "E")),
    ("note", "note IN ('y', 'x')", ("x", "y")),
    ("note", "note = 'x' AND age > 3", ("x",)),
    ("note", "note IN ('x', 'y', 'z') AND note >= 'y'", ("y", "z")),
    ("smoker", "smoker", (True,)),
    ("age", "age IN (7, 200)", (7,)),
    ("weight", "weight IN (0.5, -0.0, 0.0)", (0.0, 0.5)),
]


@pytest.mark.parametrize(("key", "condition", "groups"), NARROWED, ids=[each[1] for each in NARROWED])
def test_a_condition_on_a_key_narrows_its_groups(key: str, condition: str, groups: tuple[Any, ...]) -> None:
    """The groups are values that meet the condition; and no row is counted that flat SQL would leave out."""
    for text in (
        f"SELECT {key}, COUNT(*) AS n FROM visits WHERE {condition} GROUP BY {key}",
        f"SELECT {key}, COUNT(*) AS n FROM (SELECT * FROM visits WHERE {condition}) GROUP BY {key}",
    ):
        plan = plan_for(question(text, CATALOG), CATALOG, 1)
        assert sorted(value for (value,) in plan.domain) == sorted(groups)


def test_conditions_that_leave_no_group_are_refused() -> None:
    for condition in ("ward = 'A' AND ward = 'B'", "note = 'x' AND note IN ('y')", "age = 7 AND age > 9"):
        key = condition.partition(" ")[0]
        with pytest.raises(QueryError) as caught:
            plan_for(question(f"SELECT COUNT(*) FROM visits WHERE {condition} GROUP BY {key}", CATALOG), CATALOG, 1)
        assert caught.value.code == "no-groups"


def test_the_rows_of_narrowed_groups_are_those_that_sql_counts() -> None:
    """Through the whole path, on data with other values and NULL."""
    notes = ["x"] * 50 + ["y"] * 30 + ["z"] * 20 + [None] * 7
    data = {"id": list(range(len(notes))), "note": notes, "ward": ["A", "B", "?"] * 35 + ["A", "B"]}
    columns = {"ward": {"keys": ["A", "B", "C"]}}
    with Curator({"t": data}, "id", columns, epsilon=10**4, ledger=":memory:", max_rows=1) as curator:
        answer = curator.sql("SELECT note, COUNT(*) AS n FROM t WHERE note IN ('x', 'y') GROUP BY note", epsilon=1000)
        assert answer.to_dicts() == [{"note": "x", "n": 50}, {"note": "y", "n": 30}]
        before = curator.spent
        free = curator.sql("SELECT DISTINCT ward FROM t WHERE ward <> 'B'", epsilon=1)
        assert free.to_dicts() == [{"ward": "A"}, {"ward": "C"}] and curator.spent == before and free.epsilon == 0


# Windows over released numbers.

WINDOWS = [
    "SELECT ward, COUNT(*) * 100.0 / SUM(COUNT(*)) OVER () AS share FROM visits GROUP BY ward ORDER BY ward",
    "SELECT ward, smoker, COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY ward) AS share FROM visits GROUP BY 1, 2 ORDER BY 1, 2",
    "SELECT ward, COUNT(*) AS n, RANK() OVER (ORDER BY n DESC) AS place FROM visits GROUP BY ward ORDER BY place, ward",
    "SELECT age % 3 AS a, DENSE_RANK() OVER (ORDER BY COUNT(*)) AS d FROM visits GROUP BY 1 ORDER BY 1",
    "SELECT ward, smoker, ROW_NUMBER() OVER (PARTITION BY smoker ORDER BY COUNT(*) DESC, ward) r FROM visits GROUP BY 1, 2 ORDER BY 1, 2",
    "SELECT ward, SUM(SUM(cost)) OVER () AS whole FROM visits GROUP BY ward HAVING COUNT(*) > 14 ORDER BY ward LIMIT 1",
    "SELECT ward, SUM(COUNT(*) * 2 + 1) OVER () - COUNT(*) AS rest FROM visits GROUP BY ward ORDER BY rest, ward LIMIT 2",
    "SELECT ward FROM visits GROUP BY ward ORDER BY RANK() OVER (ORDER BY COUNT(*) DESC), ward",
    "SELECT w, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM (SELECT ward AS w FROM visits) AS v GROUP BY w ORDER BY w",
]
EXACT_CATALOG = Catalog(
    (
        Table(
            "visits",
            (
                Declared("patient_id", Type.INTEGER),
                Declared("age", Type.INTEGER, Fraction(0), Fraction(120), nullable=False),
                Declared("cost", Type.INTEGER, Fraction(0), Fraction(100), nullable=False),
                Declared("ward", Type.TEXT, keys=("A", "B", "C")),
                Declared("smoker", Type.BOOLEAN),
            ),
        ),
    ),
    Protected(),
)


def by_groups(text: str) -> tuple[Plan, list[Any]]:
    """The plan of a question, and its measurements without noise, by another engine."""
    plan = plan_for(question(text, EXACT_CATALOG), EXACT_CATALOG, 1000)
    keys = [said(key) for key in plan.question.keys]
    sums = {"count": "COUNT(*)", "sum": "SUM(cost)"}
    rows = exact(
        f"SELECT {', '.join([*keys, *(sums[each.said] for each in plan.measurements)])} FROM visits GROUP BY ALL"
    )
    found = {row[: len(keys)]: row[len(keys) :] for row in rows}
    totals = [found.get(group, (0,) * len(plan.measurements)) for group in plan.domain]
    return plan, [np.array(each, np.int64) for each in zip(*totals, strict=True)]


@pytest.mark.parametrize("text", WINDOWS)
def test_windows_are_those_of_another_engine(text: str) -> None:
    plan, totals = by_groups(text)
    shown = released_rows(plan, totals).rows
    whole = "FROM (SELECT * FROM visits WHERE ward IS NOT NULL) AS visits"
    expected = exact(text.replace("FROM visits", whole, 1) if "ward" in text else text)
    assert [
        tuple(pytest.approx(value) if isinstance(value, float) else value for value in row) for row in expected
    ] == list(shown)


def test_windows_are_free() -> None:
    plain = plan_for(question("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", CATALOG), CATALOG, 1)
    more = "SELECT ward, COUNT(*) AS n, COUNT(*) / SUM(n) OVER () AS share, RANK() OVER (ORDER BY n) AS r FROM visits GROUP BY ward"
    with_more = plan_for(question(more, CATALOG), CATALOG, 1)
    assert (plain.measurements, plain.event, plain.epsilon) == (
        with_more.measurements,
        with_more.event,
        with_more.epsilon,
    )


OVER_ROWS = [
    "SELECT age, COUNT(*), SUM(age) OVER () FROM visits GROUP BY age",
    "SELECT ward, SUM(age) OVER () FROM visits GROUP BY ward",
    "SELECT ward, RANK() OVER (ORDER BY age) FROM visits GROUP BY ward",
    "SELECT ward, COUNT(*), ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY age) FROM visits GROUP BY ward",
    "SELECT COUNT(*), SUM(COUNT(*)) OVER (PARTITION BY age) FROM visits GROUP BY ward",
    "SELECT COUNT(*) FROM visits WHERE ROW_NUMBER() OVER (ORDER BY age) < 10",
    "SELECT ward, COUNT(*) FROM visits GROUP BY ward HAVING RANK() OVER (ORDER BY COUNT(*)) < 3",
    "SELECT SUM(ROW_NUMBER() OVER (ORDER BY age)) FROM visits",
    "SELECT COUNT(*) FILTER (WHERE RANK() OVER (ORDER BY age) < 3) FROM visits",
    "SELECT ward, COUNT(*) FROM visits GROUP BY ward, RANK() OVER (ORDER BY age)",
    "SELECT COUNT(*) FROM (SELECT RANK() OVER (ORDER BY age) AS r FROM visits) WHERE r < 10",
    "SELECT SUM(COUNT(*)) OVER (ORDER BY ward) FROM visits GROUP BY ward",
    "SELECT RANK() OVER () , COUNT(*) FROM visits GROUP BY ward",
    "SELECT SUM(SUM(COUNT(*)) OVER ()) OVER () FROM visits GROUP BY ward",
    "SELECT LAG(COUNT(*)) OVER (ORDER BY ward) FROM visits GROUP BY ward",
    "SELECT SUM(COUNT(*)) OVER (ROWS UNBOUNDED PRECEDING) FROM visits GROUP BY ward",
]


@pytest.mark.parametrize("text", OVER_ROWS)
def test_windows_over_rows_are_refused(text: str) -> None:
    with pytest.raises(QueryError) as caught:
        question(text, CATALOG)
    assert caught.value.code in ("window", "person") and (
        caught.value.code == "person" or "released" in (caught.value.hint or "")
    )


SHARES = [
    ("SELECT ward, COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM visits GROUP BY ward", 0),
    ("SELECT ward, SUM(COUNT(*)) OVER () AS whole FROM visits GROUP BY ward", 0),
    (
        "SELECT age, smoker, 100.0 * COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY smoker) AS share FROM visits GROUP BY ALL",
        0,
    ),
    ("SELECT ward, SUM(COUNT(*)) OVER () AS whole FROM visits GROUP BY ward", Fraction(1, 10**6)),
    ("SELECT ward, COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM visits GROUP BY ward", Fraction(1, 10**6)),
]


@pytest.mark.parametrize(("text", "delta"), SHARES)
def test_the_interval_of_a_share_covers(text: str, delta: Any) -> None:
    """At 95 %: of 300 runs between 91 and 98.5 in a hundred; the draws are the same in every run."""
    plan = plan_for(question(text, CATALOG), CATALOG, Fraction(1, 4), delta)
    truth = np.arange(len(plan.domain)) * 10 + 400
    (true,) = zip(*(row[-1:] for row in released_rows(plan, [truth]).rows), strict=True)
    source, runs, hits = Tape(7), repeats(300), 0
    noise = plan.measurements[0].mechanism
    assert noise is not None
    for run in range(runs):
        released = [noise(truth, source)]
        i = run % len(plan.domain)
        span = intervals(plan, released, released_rows(plan, released))[i][-1]
        assert span is not None and span.low is not None and span.high is not None
        hits += span.low <= true[i] <= span.high
    assert 0.91 <= hits / runs <= 0.985
