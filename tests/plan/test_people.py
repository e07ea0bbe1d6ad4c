"""Rows of people: a sub-query that groups by the person, and AVG_BY_PERSON. Nobody moves what is measured by more than is stated, and
nobody's row depends on anybody else.
"""

import random
from dataclasses import replace
from fractions import Fraction as F
from itertools import chain, permutations
from typing import Any

import duckdb
import pandas as pd
import pytest

from discreet.curator.session import Curator
from discreet.engines.memory import RunData, rows_in
from discreet.errors import DiscreetError, QueryError
from discreet.plan import scalar as s
from discreet.plan.catalog import Catalog, Protected
from discreet.plan.check import check, digest
from discreet.plan.computed import Computed
from discreet.plan.explain import explain
from discreet.plan.features import NAMES
from discreet.plan.plan import Stage
from discreet.plan.relation import (
    CapGroups,
    CapRows,
    CapTotal,
    Contributions,
    How,
    PerPerson,
    PersonFeature,
    Rows,
    Scan,
    Summary,
    Term,
    Totals,
    walk,
)
from discreet.plan.rules.relations import Reach, combined, reach_into
from discreet.plan.rules.scopes import scope_of
from discreet.plan.scalar import Type
from discreet.plan.sql import question
from discreet.plan.sql.people import AGGREGATES
from discreet.privacy import Unit
from tests.engines.twins import arranged
from tests.plan.laws import (
    CLIPPED,
    COLUMNS,
    FIRST,
    PERSON,
    ROW,
    TABLE,
    Row,
    any_row,
    decided_by,
    is_a_fault,
    planned,
    searched,
    top_rungs,
    turned,
)
from tests.scale import repeats

SCAN = Scan("t", COLUMNS)
WHO, X, Y, G = (
    s.Column("who", Type.INTEGER),
    s.Column("x", Type.INTEGER),
    s.Column("y", Type.NUMBER),
    s.Column("g", Type.TEXT),
)
ONE = s.Literal(1, Type.INTEGER)
ROWS_OF = PersonFeature(s.Column("n", Type.INTEGER), Summary.SUM, ONE)
UNLIMITED = Protected("who")
PROTECTED = [PERSON, turned(PERSON), CLIPPED, turned(CLIPPED), UNLIMITED, turned(UNLIMITED)]

INNER = (
    "SELECT who, COUNT(*) AS n, COUNT(DISTINCT g) AS d, AVG(y) AS m, MAX(x) AS top, BOOL_OR(x > 4) AS high, MIN(g) AS g"
    " FROM t GROUP BY who"
)
ALONE = [
    "SELECT COUNT(*) FROM (SELECT who FROM t GROUP BY who)",
    "SELECT COUNT(*) FROM (SELECT who FROM t GROUP BY who HAVING COUNT(*) > 2)",
    "SELECT COUNT(*) FROM (SELECT who FROM t WHERE x > 2 GROUP BY who HAVING BOOL_AND(y > 0))",
    "SELECT AVG(LEAST(n, 5)) FROM (SELECT who, COUNT(*) AS n FROM t GROUP BY who)",
    "SELECT SUM(m), AVG(m), COUNT(m) FROM (SELECT who, AVG(y) AS m FROM t GROUP BY who)",
    "SELECT VARIANCE(m) FROM (SELECT who, AVG(x) AS m FROM t GROUP BY who) WHERE m < 4",
    "SELECT AVG(LEAST(GREATEST(v, -9), 9)) FROM (SELECT who, SUM(y) AS v FROM t GROUP BY who)",
    "SELECT AVG(v), SUM(d) FROM (SELECT who, VAR_POP(y) AS v, STDDEV(x) AS d FROM t GROUP BY who)",
    "SELECT g, COUNT(*), SUM(top) FROM (SELECT who, MIN(g) AS g, MAX(x) AS top FROM t GROUP BY who) GROUP BY g",
    "SELECT LEAST(n, 3) AS k, COUNT(*), AVG(m) FROM (SELECT who, COUNT(*) AS n, AVG(y) AS m FROM t GROUP BY who) GROUP BY 1",
    f"SELECT high, COUNT(*), AVG(d) FROM ({INNER}) GROUP BY high",
    f"SELECT CASE WHEN n > 2 THEN 'many' ELSE 'few' END AS k, COUNT(DISTINCT who), SUM(m) FROM ({INNER}) WHERE top > 2 GROUP BY k",
    "SELECT AVG(m) FROM (SELECT who, AVG(a) AS m FROM (SELECT who, g, AVG(y) AS a FROM t GROUP BY who, g) GROUP BY who)",
    "SELECT AVG(n) FROM (SELECT who, COUNT(*) AS n FROM t GROUP BY who)",
]
"""Questions in which a person has one row."""

SEVERAL = [
    "SELECT COUNT(*) FROM (SELECT who, g FROM t GROUP BY who, g)",
    "SELECT g, COUNT(*), AVG(m) FROM (SELECT who, g, AVG(y) AS m FROM t GROUP BY who, g) GROUP BY g",
    "SELECT SUM(LEAST(n, 3)) FROM (SELECT who, x > 3 AS k, COUNT(*) AS n FROM t GROUP BY 1, 2 HAVING COUNT(y) > 0) WHERE k",
]
"""Those in which they may have several."""

BY_PERSON = [
    "SELECT AVG_BY_PERSON(y) FROM t",
    "SELECT AVG_BY_PERSON(x), COUNT(*), AVG(x) FROM t",
    "SELECT g, AVG_BY_PERSON(y) FROM t WHERE x > 2 GROUP BY g",
    "SELECT g, AVG_BY_PERSON(far) FILTER (WHERE x > 2), COUNT(DISTINCT who) FROM t GROUP BY g",
]


def delta_of(protected: Protected) -> F:
    return F(1, 10**6) if protected.clip == "l2" else F(0)


def no_neighbour_moves_more(texts: list[str], tries: int = 25) -> None:
    """Whoever is added, removed or replaced: the L1 or L2 distance of all totals is no more than noise is made for, whatever the salt."""
    for protected in PROTECTED:
        for text in texts:
            moved = searched(text, protected, tries, delta_of(protected))
            for far, allowed in zip(moved.farthest, moved.allowed, strict=True):
                assert far <= allowed, (text, protected, far, allowed)


@pytest.mark.parametrize("texts", [ALONE, SEVERAL, BY_PERSON], ids=["alone", "several", "by-person"])
def test_no_neighbour_moves_more_than_stated(texts: list[str]) -> None:
    no_neighbour_moves_more(texts, repeats(25))


def test_the_sensitivity_is_reached() -> None:
    for text in (ALONE[0], ALONE[4].replace("SUM(m), ", ""), BY_PERSON[0]):
        for protected in (PERSON, turned(PERSON)):
            moved = searched(text, protected, 400)
            assert moved.farthest == moved.allowed, (text, protected)


# Nobody's row depends on anybody else, nor on where rows lie.


def people_of(text: str) -> Rows:
    """The rows of people that a question is of."""
    return question(text, Catalog((TABLE,), PERSON)).source


def found(relation: Rows, rows: list[Row]) -> dict[Any, Row]:
    return {row["who"]: row for row in rows_in(relation, RunData({"t": rows}, {}))}


def rows_of_people_are_their_own(tries: int = 60) -> None:
    """With others or without them, in whatever order: the row of a person is the same, to the last bit."""
    draw = random.Random(4)
    everything = "COUNT(n), COUNT(d), COUNT(m), COUNT(top), COUNT(high), COUNT(g), COUNT(v), COUNT(w)"
    inner = INNER.replace(" FROM t", ", SUM(y) AS v, STDDEV(y) AS w FROM t")
    relation = people_of(f"SELECT {everything} FROM ({inner})")
    for _ in range(tries):
        rows = [any_row(draw, draw.choice([1, 2, 3, None])) for _ in range(9)]
        together = found(relation, rows)
        mixed = found(relation, draw.sample(rows, len(rows)))
        alone = [found(relation, [row for row in rows if row["who"] == who]) for who in (1, 2, 3)]
        apart = {who: row for each in alone for who, row in each.items()}
        assert len({repr(sorted(each.items(), key=repr)) for each in (together, mixed, apart)}) == 1


def test_a_row_of_a_person_is_theirs_alone() -> None:
    rows_of_people_are_their_own(repeats(60))


ULP = [0.1, 0.2, 0.3, -0.1, 1e-3, 2.7]


def sums_are_the_same_in_any_order() -> None:
    """Of doubles they are not: those of one person move by a bit when another one's rows lie between them."""
    assert len({sum(order) for order in permutations(ULP)}) > 1
    inner = "SELECT who, AVG(y) AS m, SUM(y) AS v, VARIANCE(y) AS w FROM t GROUP BY who"
    relation = people_of(f"SELECT COUNT(m), COUNT(v), COUNT(w) FROM ({inner})")
    empty = any_row(random.Random(1), 1)
    seen = {repr(found(relation, [empty | {"y": value} for value in order])) for order in permutations(ULP)}
    assert len(seen) == 1


def test_sums_are_the_same_in_any_order() -> None:
    sums_are_the_same_in_any_order()


def there_is_one_zero() -> None:
    """Whichever of two zeros lies first."""
    relation = people_of("SELECT COUNT(a), COUNT(b) FROM (SELECT who, MIN(y) AS a, MAX(y) AS b FROM t GROUP BY who)")
    empty = any_row(random.Random(1), 1)
    seen = {repr(found(relation, [empty | {"y": value} for value in order])) for order in permutations([0.0, -0.0])}
    assert len(seen) == 1


def test_there_is_one_zero() -> None:
    there_is_one_zero()


def only_whole_numbers_are_summed() -> None:
    """A feature that sums doubles, or integers without bounds, has no rule."""
    for value in (Y, X, s.Cast(Y, Type.INTEGER), s.Literal(0.5, Type.NUMBER)):
        wrong = PerPerson(SCAN, WHO, (), (PersonFeature(s.Column("v", Type.NUMBER), Summary.SUM, value),))
        assert is_a_fault(lambda wrong=wrong: reach_into(wrong, Unit.PERSON)), value  # type: ignore[misc]


def test_only_whole_numbers_are_summed() -> None:
    only_whole_numbers_are_summed()


def people_are_gathered_by_who_they_are() -> None:
    """By the one column on all levels, which no other is called like; and where persons are protected alone."""
    people, by_note = PerPerson(SCAN, WHO, (), (ROWS_OF,)), PerPerson(SCAN, s.Column("note", Type.TEXT), (), (ROWS_OF,))
    term = Term(How.SUM, ONE)
    assert combined(FIRST, Totals(Contributions(people, WHO, (), (term,))), PERSON.relation, 1).l1 == 1
    wrong = [
        Contributions(by_note, WHO, (), (term,)),
        Contributions(PerPerson(by_note, WHO, (), (ROWS_OF,)), WHO, (), (term,)),
        Contributions(people, s.Column("n", Type.INTEGER), (), (term,)),
    ]
    for each in wrong:
        assert is_a_fault(lambda each=each: combined(FIRST, Totals(each), PERSON.relation, 1)), each  # type: ignore[misc]
    assert is_a_fault(lambda: reach_into(PerPerson(by_note, WHO, (), (ROWS_OF,)), Unit.PERSON))
    assert is_a_fault(lambda: combined(FIRST, Totals(people, (), (term,)), ROW.relation, 1))
    catalog = Catalog((TABLE,), PERSON)
    named_alike = replace(ROWS_OF, column=WHO)
    for rows in (
        PerPerson(SCAN, WHO, (), (named_alike,)),
        PerPerson(SCAN, WHO, (), (ROWS_OF, ROWS_OF)),
        Computed(people, WHO, ONE),
    ):
        assert is_a_fault(lambda rows=rows: scope_of(rows, catalog)), rows  # type: ignore[misc]


def test_people_are_gathered_by_who_they_are() -> None:
    people_are_gathered_by_who_they_are()


def reaches_are_those_of_rows() -> None:
    """One row without keys; with keys as many as there are below."""
    keyed = PerPerson(SCAN, WHO, ((G, G),), (ROWS_OF,))
    alone = PerPerson(SCAN, WHO, (), (ROWS_OF,))
    assert (
        reach_into(alone, Unit.PERSON) == reach_into(PerPerson(keyed, WHO, (), (ROWS_OF,)), Unit.PERSON) == Reach(1, 1)
    )
    assert reach_into(keyed, Unit.PERSON) == Reach(None, None)
    assert reach_into(PerPerson(alone, WHO, ((G, G),), ()), Unit.PERSON) == Reach(1, 1)


def test_reaches_are_those_of_rows() -> None:
    reaches_are_those_of_rows()


# What is planned.


def nothing_of_one_row_is_limited() -> None:
    """Whoever has one row needs no limit, found or declared, and no delta for an L2 clip; whoever may have several does."""
    for protected in (*PROTECTED, replace(UNLIMITED, max_total=1)):
        for text in ALONE[:-1]:
            plan = planned(text, protected)
            assert isinstance(plan.next, Stage), text
            assert not any(isinstance(part, CapRows | CapGroups | CapTotal) for part in walk(plan.query)), text
            assert any("counts once" in note for note in plan.told)
            check(plan)
    plan = planned(ALONE[0], UNLIMITED)
    assert [each.sensitivity for each in plan.measurements] == [1]
    assert not isinstance(planned(SEVERAL[0], UNLIMITED).next, Stage)


def test_nothing_of_one_row_is_limited() -> None:
    nothing_of_one_row_is_limited()


def test_a_range_that_has_no_end_is_found_or_clamped() -> None:
    finds = planned("SELECT AVG(n) FROM (SELECT who, COUNT(*) AS n FROM t GROUP BY who)", UNLIMITED)
    assert [name for name, _ in finds.range_topics] == ["n"]
    clamps = planned("SELECT AVG(LEAST(n, 20)) FROM (SELECT who, COUNT(*) AS n FROM t GROUP BY who)", UNLIMITED)
    assert not clamps.range_topics and any("clamped to 1 … 20" in note for note in clamps.told)


FACTS = {
    "COUNT(*)": (1, None, False),
    "COUNT(y)": (0, None, False),
    "COUNT(DISTINCT g)": (0, 3, False),
    "COUNT(DISTINCT note)": (0, None, False),
    "SUM(x)": (0, None, True),
    "SUM(y)": (None, None, True),
    "SUM(far)": (0, None, True),
    "SUM(deep)": (None, 0, True),
    "AVG(y)": (-1, 3, True),
    "MIN(x)": (2, 5, True),
    "MAX(y)": (-1, 3, True),
    "VAR_POP(y)": (0, 4, True),
    "VARIANCE(y)": (0, 8, True),
    "STDDEV_POP(y)": (0, 2, True),
    "AVG(COALESCE(x, 2))": (2, 5, False),
}


@pytest.mark.parametrize("text", FACTS)
def test_what_is_known_of_a_feature(text: str) -> None:
    catalog = Catalog((TABLE,), PERSON)
    source = question(
        f"SELECT COUNT(*) FROM (SELECT who, {text} AS v FROM t GROUP BY who) WHERE v IS DISTINCT FROM NULL", catalog
    ).source
    facts = scope_of(source, catalog).named("v").facts
    ends = tuple(None if end is None else float(end) for end in (facts.low, facts.high))
    assert (*ends, facts.nullable) == FACTS[text]


def test_equal_questions_are_one() -> None:
    """What is not read outside is not gathered; names, and where a condition stands, change nothing."""
    same = [
        "SELECT COUNT(*) AS c FROM (SELECT who FROM t GROUP BY who HAVING COUNT(*) > 2)",
        "SELECT COUNT(*) AS c FROM (SELECT who, MAX(x), STDDEV(y) FROM t GROUP BY 1 HAVING COUNT(*) > 2) AS v",
        "WITH v AS (SELECT who, AVG(x) AS m FROM t AS u GROUP BY u.who HAVING COUNT(*) > 2) SELECT COUNT(*) AS c FROM v",
        "SELECT COUNT(*) AS c FROM (SELECT * FROM (SELECT COUNT(*) AS count, who FROM t GROUP BY who)) WHERE count > 2",
    ]
    assert len({digest(planned(text, PERSON)) for text in same}) == 1


def test_inner_aggregates_are_a_closed_list() -> None:
    assert set(AGGREGATES) == NAMES


# What is refused.

REFUSED = [
    ("subquery", "SELECT COUNT(*) FROM (SELECT g, COUNT(*) AS n FROM t GROUP BY g)", "group by who"),
    ("subquery", "SELECT SUM(n) FROM (SELECT who + 1 AS w, COUNT(*) AS n FROM t GROUP BY w)", "group by who"),
    ("subquery", "SELECT COUNT(*) FROM (SELECT who FROM t GROUP BY who ORDER BY COUNT(*))", "outermost"),
    ("subquery", "SELECT COUNT(*) FROM (SELECT who FROM t GROUP BY who LIMIT 3)", "outermost"),
    ("subquery", "SELECT COUNT(*) FROM (SELECT who FROM t GROUP BY who OFFSET 3)", "outermost"),
    ("subquery", "SELECT COUNT(*) FROM (SELECT DISTINCT who FROM t GROUP BY who)", "one row"),
    (
        "missing-bounds",
        "SELECT AVG(v) FROM (SELECT who, SUM(CAST(note AS DOUBLE)) AS v FROM t GROUP BY who)",
        "LEAST(GREATEST(",
    ),
    (
        "missing-bounds",
        "SELECT COUNT(*) FROM (SELECT who FROM t GROUP BY who HAVING AVG(LENGTH(note)) > 2)",
        "LEAST(GREATEST(",
    ),
    (
        "missing-bounds",
        "SELECT SUM(v) FROM (SELECT who, MAX(LENGTH(note)) AS v FROM t GROUP BY who)",
        "LEAST(GREATEST(",
    ),
    ("function", "SELECT AVG(v) FROM (SELECT who, CORR(x, y) AS v FROM t GROUP BY who)", "MAX"),
    ("function", "SELECT AVG(v) FROM (SELECT who, AVG_BY_PERSON(x) AS v FROM t GROUP BY who)", "MAX"),
    ("not-grouped", "SELECT COUNT(*) FROM (SELECT who, x FROM t GROUP BY who) WHERE x > 3", "GROUP BY"),
    ("not-grouped", "SELECT COUNT(*) FROM (SELECT who FROM t GROUP BY who HAVING x > 3)", "GROUP BY"),
    ("aggregate-place", "SELECT COUNT(*) FROM (SELECT who FROM t GROUP BY who, COUNT(*))", "SELECT"),
    ("aggregate-place", "SELECT COUNT(*) FROM (SELECT who, SUM(COUNT(*)) FROM t GROUP BY who)", "not inside"),
    ("constant", "SELECT COUNT(*) FROM (SELECT who, 1 AS k FROM t GROUP BY who, k)", "person"),
    ("window", "SELECT COUNT(*) FROM (SELECT who, RANK() OVER (ORDER BY COUNT(*)) AS r FROM t GROUP BY who)", ""),
    ("window", "SELECT COUNT(*) FROM (SELECT who, SUM(COUNT(*)) OVER () AS r FROM t GROUP BY who)", ""),
    (
        "person",
        "SELECT who, COUNT(*) FROM (SELECT who, COUNT(*) AS n FROM t GROUP BY who) GROUP BY who",
        "COUNT(DISTINCT who)",
    ),
    ("extreme", "SELECT MAX(n) FROM (SELECT who, COUNT(*) AS n FROM t GROUP BY who)", ""),
    ("extreme", "SELECT COUNT(*) FROM (SELECT who, MAX(x) AS n FROM t)", ""),
    ("duplicate-name", "SELECT SUM(n) FROM (SELECT who, COUNT(*) AS n, MAX(x) AS n FROM t GROUP BY who)", ""),
    ("unknown-column", "SELECT SUM(x) FROM (SELECT who, COUNT(*) AS n FROM t GROUP BY who)", "its columns are"),
    ("no-aggregate", "SELECT DISTINCT g FROM (SELECT who, MIN(g) AS g FROM t WHERE x > 3 GROUP BY who)", "COUNT(*)"),
]


@pytest.mark.parametrize(("code", "text", "hint"), REFUSED)
def test_what_is_refused(code: str, text: str, hint: str) -> None:
    with pytest.raises(DiscreetError) as caught:
        planned(text, PERSON)
    assert caught.value.code == code and hint in (caught.value.hint or ""), (caught.value, caught.value.hint)


@pytest.mark.parametrize("text", [ALONE[0], SEVERAL[0]])
def test_rows_of_people_need_people(text: str) -> None:
    """Where each row is about somebody else there is nobody to gather."""
    with pytest.raises(QueryError) as caught:
        planned(text, ROW)
    assert caught.value.code == "subquery" and caught.value.hint


def test_where_each_row_is_a_person_the_mean_of_means_is_the_mean() -> None:
    assert digest(planned("SELECT AVG_BY_PERSON(y) AS m FROM t", ROW)) == digest(
        planned("SELECT AVG(y) AS m FROM t", ROW)
    )


def test_conditions_inside_are_not_those_outside() -> None:
    """A condition on a column of the table says nothing of what is called like it outside."""
    text = (
        "SELECT x, COUNT(*) AS c FROM (SELECT who, COUNT(DISTINCT g) AS x FROM t WHERE x = 3 GROUP BY who) GROUP BY x"
    )
    assert [group for (group,) in planned(text, PERSON).domain] == [0, 1, 2, 3]


# What it means: the same as in another engine, at a price where noise is nothing.


def school(draw: random.Random, n: int = 60) -> dict[str, list[Any]]:
    """Exams of a few kids, some without a value, and some of nobody."""
    return {
        "kid": [draw.choice(["a", "b", "c", "d", "e", None]) for _ in range(n)],
        "room": [draw.choice(["r1", "r2", "r3"]) for _ in range(n)],
        "points": [draw.choice([0, 7, 50, 51, 100, None]) for _ in range(n)],
        "passed": [draw.choice([True, True, True, False, None]) for _ in range(n)],
    }


MEANS = [
    "SELECT COUNT(*) AS v FROM (SELECT kid FROM exams GROUP BY kid)",
    "SELECT COUNT(*) AS v, AVG(n) AS m, SUM(n) AS t FROM (SELECT kid, COUNT(*) AS n FROM exams GROUP BY kid)",
    "SELECT SUM(n) AS v FROM (SELECT kid, COUNT(points) AS n FROM exams GROUP BY kid)",
    "SELECT SUM(n) AS v FROM (SELECT kid, COUNT(DISTINCT points) AS n FROM exams GROUP BY kid)",
    "SELECT SUM(n) AS v FROM (SELECT kid, COUNT(DISTINCT room) FILTER (WHERE passed) AS n FROM exams GROUP BY kid)",
    "SELECT AVG(v) AS v FROM (SELECT kid, AVG(points) AS v FROM exams GROUP BY kid)",
    "SELECT AVG(v) AS v FROM (SELECT kid, SUM(points) AS v FROM exams GROUP BY kid)",
    "SELECT AVG(v) AS v FROM (SELECT kid, VAR_POP(points) AS v FROM exams GROUP BY kid)",
    "SELECT AVG(v) AS v FROM (SELECT kid, STDDEV(points) AS v FROM exams GROUP BY kid)",
    "SELECT SUM(a) AS v, AVG(b) AS w FROM (SELECT kid, MIN(points) AS a, MAX(points) AS b FROM exams GROUP BY kid)",
    "SELECT COUNT(*) AS v FROM (SELECT kid FROM exams GROUP BY kid HAVING BOOL_AND(passed))",
    "SELECT COUNT(*) AS v FROM (SELECT kid, BOOL_OR(points < 7) AS low FROM exams GROUP BY kid) WHERE low",
    "SELECT COUNT(*) AS v FROM (SELECT kid, AVG(points) AS m FROM exams WHERE passed GROUP BY kid HAVING COUNT(*) > 3) WHERE m > 40",
    "SELECT SUM(s) AS v FROM (SELECT kid, SUM(points) / COUNT(*) AS s FROM exams GROUP BY kid)",
    "SELECT SUM(s) AS v FROM (SELECT kid, MAX(points) - MIN(points) AS s FROM exams GROUP BY kid HAVING COUNT_IF(passed) > 1)",
    "SELECT room, COUNT(*) AS v, AVG(m) AS m FROM (SELECT kid, room, AVG(points) AS m FROM exams GROUP BY 1, 2) GROUP BY room ORDER BY 1",
    "SELECT room, COUNT(*) AS v FROM (SELECT kid, MAX(room) AS room FROM exams GROUP BY kid) GROUP BY room HAVING v > 0 ORDER BY room",
    "SELECT LEAST(n, 4) AS k, COUNT(*) AS v FROM (SELECT kid, COUNT(*) AS n FROM exams GROUP BY kid) GROUP BY k HAVING v > 0 ORDER BY k",
    "SELECT AVG(m) AS v FROM (SELECT kid, AVG(a) AS m FROM (SELECT kid, room, AVG(points) AS a FROM exams GROUP BY 1, 2) GROUP BY kid)",
    "WITH a AS (SELECT kid, COUNT(*) AS n FROM exams GROUP BY ALL), b AS (SELECT n + 1 AS m FROM a WHERE n > 2) SELECT SUM(m) AS v FROM b",
    "SELECT AVG(v) AS v FROM (SELECT kid, SUM(points) FILTER (WHERE passed) AS v FROM exams GROUP BY kid)",
    "SELECT COUNT(v) AS v FROM (SELECT kid, SUM(points) FILTER (WHERE points > 100) AS v FROM exams GROUP BY kid)",
    "SELECT COUNT(DISTINCT kid) AS v FROM (SELECT kid, room, COUNT(*) AS n FROM exams GROUP BY kid, room) WHERE n > 1",
]


def opened(rows: dict[str, list[Any]]) -> Curator:
    columns = {
        "room": {"keys": ["r1", "r2", "r3"]},
        "points": {"type": "integer", "bounds": (0, 100)},
        "passed": {"type": "boolean"},
    }
    limits = {"max_rows": 50, "max_groups": 3}
    return Curator({"exams": rows}, "kid", columns, epsilon=10**6, delta=1e-3, ledger=":memory:", **limits)  # type: ignore[arg-type]


def means_what_sql_says(texts: dict[str, str], rows: dict[str, list[Any]]) -> None:
    """What is answered to each question is what DuckDB says to another, of the rows that are of somebody."""
    exams = pd.DataFrame(rows)
    exams = exams[exams["kid"].notna()].astype({"points": "Int64", "passed": "boolean"})
    with duckdb.connect() as connection:
        connection.register("exams", exams)
        for text, other in texts.items():
            with opened(rows) as curator:
                got = [tuple(row.values()) for row in curator.sql(text, epsilon=10**6).to_dicts()]
            wanted = connection.execute(other).fetchall()
            assert len(got) == len(wanted), (text, got, wanted)
            for one, value in zip(chain(*got), chain(*wanted), strict=True):
                assert one == value if isinstance(value, str) else abs(one - float(value)) < 0.05, (text, got, wanted)


def every_meaning() -> None:
    means_what_sql_says(dict(zip(MEANS, MEANS, strict=True)), school(random.Random(11)))


def test_rows_of_people_mean_what_sql_says() -> None:
    every_meaning()


def test_in_slices_of_numbered_people_too() -> None:
    with arranged():
        every_meaning()


def avg_by_person_is_the_mean_of_means() -> None:
    """The short way to write it, in one group and in several, with FILTER and beside others."""
    pairs = {
        "SELECT AVG_BY_PERSON(points) AS v FROM exams": MEANS[5],
        "SELECT AVG_BY_PERSON(points) FILTER (WHERE passed) AS v, COUNT(*) AS n FROM exams": (
            "SELECT (SELECT AVG(v) FROM (SELECT kid, AVG(points) AS v FROM exams WHERE passed GROUP BY kid)), COUNT(*) FROM exams"
        ),
        "SELECT room, AVG_BY_PERSON(points / 3) AS m FROM exams GROUP BY room ORDER BY room": (
            "SELECT room, AVG(m) FROM (SELECT kid, room, AVG(points / 3) AS m FROM exams GROUP BY kid, room) GROUP BY room ORDER BY room"
        ),
    }
    means_what_sql_says(pairs, school(random.Random(12)))


def test_avg_by_person_is_the_mean_of_means() -> None:
    avg_by_person_is_the_mean_of_means()


def test_a_mean_of_a_person_needs_no_limit_on_rows() -> None:
    """In one group none is found; over many groups one on these is, and none on rows."""
    plan = planned(BY_PERSON[0], UNLIMITED)
    assert isinstance(plan.next, Stage)
    assert [each.sensitivity * each.step for each in plan.measurements] == [2, 1]
    assert [each.sensitivity * each.step for each in planned(BY_PERSON[0], turned(UNLIMITED)).measurements] == [4, 1]
    by_group = decided_by(planned(BY_PERSON[2], UNLIMITED), top_rungs)
    assert set(by_group.found) <= {"max_groups", "people", "people_beyond", "beyond"} | set(by_group.found) - {
        "max_total",
        "max_rows",
    }
    assert "max_total" not in by_group.found and "max_groups" in by_group.found


def test_a_mean_with_much_noise_names_the_other_one() -> None:
    """From declared limits alone."""
    for rows, told in ((2, False), (50, True)):
        for limits in ({"max_rows": rows}, {"max_total": rows}):
            plan = planned("SELECT AVG(y) AS m FROM t", replace(UNLIMITED, **limits))
            assert any("AVG_BY_PERSON(y)" in note for note in plan.assumed) is told
    assert not any("AVG_BY_PERSON" in note for note in planned("SELECT AVG(y) AS m FROM t", UNLIMITED).assumed)


def plans_are_told() -> None:
    plan = planned(f"SELECT AVG(m) FROM ({INNER}) WHERE n > 2", PERSON)
    lines = explain(plan)
    assert "one row for each who: n = COUNT(*)" in lines and "where n > 2" in lines and "m = " in lines


def test_plans_are_told() -> None:
    plans_are_told()


# Groups inside: what is outside is made of their released numbers.

FLAT = [
    ("SELECT g, n FROM (SELECT g, COUNT(*) AS n FROM t GROUP BY g)", "SELECT g, COUNT(*) AS n FROM t GROUP BY g"),
    (
        "SELECT * FROM (SELECT COUNT(*) AS n, g AS k FROM t GROUP BY g) AS v WHERE n > 10 ORDER BY k",
        "SELECT COUNT(*) AS n, g AS k FROM t GROUP BY g HAVING COUNT(*) > 10 ORDER BY k",
    ),
    (
        "SELECT v.g, n, RANK() OVER (ORDER BY n DESC) AS p FROM (SELECT g, COUNT(*) AS n, AVG(x) FROM t WHERE y > 0 GROUP BY 1) AS v",
        "SELECT g, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS p FROM t WHERE y > 0 GROUP BY g",
    ),
    (
        "WITH v AS (SELECT g, SUM(x) AS s, COUNT(*) AS n FROM t GROUP BY g HAVING COUNT(*) > 1) SELECT g, s / n AS m FROM v WHERE s > 3",
        "SELECT g, SUM(x) / COUNT(*) AS m FROM t GROUP BY g HAVING COUNT(*) > 1 AND SUM(x) > 3",
    ),
    (
        "SELECT m FROM (SELECT g AS k, AVG(x) AS m FROM (SELECT * FROM t WHERE x > 2) GROUP BY k) WHERE k <> 'A' ORDER BY m DESC LIMIT 1",
        "SELECT AVG(x) AS m FROM t WHERE x > 2 GROUP BY g HAVING g <> 'A' ORDER BY m DESC LIMIT 1",
    ),
]


@pytest.mark.parametrize(("text", "flat"), FLAT)
@pytest.mark.parametrize("protected", [PERSON, ROW])
def test_a_question_over_groups_is_the_question_written_flat(text: str, flat: str, protected: Protected) -> None:
    assert digest(planned(text, protected)) == digest(planned(flat, protected))


AGAIN = [
    ("subquery", "SELECT AVG(n) FROM (SELECT g, COUNT(*) AS n FROM t GROUP BY g)"),
    ("subquery", "SELECT g FROM (SELECT g, n FROM (SELECT g, COUNT(*) AS n FROM t GROUP BY g)) AS b"),
    ("subquery", "SELECT n FROM (SELECT g, COUNT(*) AS n FROM t GROUP BY g) GROUP BY n"),
    ("subquery", "SELECT n FROM (SELECT g, COUNT(*) AS n FROM t GROUP BY g) HAVING n > 3"),
    ("subquery", "SELECT DISTINCT n FROM (SELECT g, COUNT(*) AS n FROM t GROUP BY g)"),
    ("subquery", "SELECT n FROM (SELECT g, COUNT(*) AS n FROM t GROUP BY g ORDER BY n LIMIT 1)"),
    ("window", "SELECT p FROM (SELECT g, RANK() OVER (ORDER BY COUNT(*)) AS p FROM t GROUP BY g) WHERE p > 1"),
    ("unknown-column", "SELECT x FROM (SELECT g, COUNT(*) AS n FROM t GROUP BY g)"),
    ("not-grouped", "SELECT x FROM (SELECT g, x, COUNT(*) AS n FROM t GROUP BY g)"),
]


@pytest.mark.parametrize(("code", "text"), AGAIN)
@pytest.mark.parametrize("protected", [PERSON, ROW])
def test_groups_are_not_aggregated_again(code: str, text: str, protected: Protected) -> None:
    with pytest.raises(QueryError) as caught:
        planned(text, protected)
    assert caught.value.code == code and caught.value.hint
