"""MODE from text to answer: what it reads and costs, how far a neighbour moves that, which values there are, and what is refused."""

import random
from collections import Counter
from dataclasses import replace
from datetime import date
from fractions import Fraction as F
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.answer import Answer
from discreet.audit.enumeration import exact
from discreet.audit.joint import planned as joint
from discreet.audit.twins import Draws, compare
from discreet.curator.session import Curator
from discreet.engines.base import Data
from discreet.errors import Fault, QueryError
from discreet.mechanisms import Grant
from discreet.noise import Tape
from discreet.plan.apportioned import Apportioned
from discreet.plan.catalog import Catalog, Column, Protected, Table
from discreet.plan.check import check, digest, event_of
from discreet.plan.explain import explain
from discreet.plan.intervals import predicted
from discreet.plan.mode_reading import ModeReading
from discreet.plan.plan import Plan
from discreet.plan.release import decided, release
from discreet.plan.scalar import Type
from discreet.plan.sql import question
from discreet.plan.within import plan_within
from discreet.privacy import Adjacency, loss
from tests.engines.twins import agree, arranged
from tests.plan.laws import (
    COLUMNS,
    PERSON,
    ROW,
    TABLE,
    UNITS,
    Row,
    decided_by,
    engine,
    low_rungs,
    neighbours,
    planned,
    top_rungs,
    turned,
)
from tests.scale import repeats

EMPTY = {column.name: None for column in TABLE.columns}
FREE = replace(PERSON, max_rows=None, max_groups=None)
TEXTS = [
    "SELECT MODE(g) AS m FROM t",
    "SELECT g, MODE(x) AS m FROM t GROUP BY g",
    "SELECT g, MODE(CASE WHEN y > 1 THEN 'high' ELSE 'low' END) AS m, COUNT(*) AS n FROM t WHERE y > 0 GROUP BY g",
    "SELECT MODE() WITHIN GROUP (ORDER BY x > 3) FILTER (WHERE g = 'A') AS m, AVG(y) AS a FROM t",
]
PROTECTED = [*UNITS, FREE, turned(FREE), replace(PERSON, max_total=3)]


def people(size: int = 300, seed: int = 1) -> list[Row]:
    draw = random.Random(seed)
    return [
        {**EMPTY, "who": who, "x": draw.choice([2, 3, 3, 3, 5]), "g": "ABC"[who % 3], "y": draw.uniform(-1, 3)}
        for who in range(size)
        for _ in range(1 + who % 3)
    ]


def plan_of(text: str, protected: Protected, epsilon: F = F(1)) -> Plan:
    return planned(text, protected, epsilon, F(1, 10**6) if protected.clip == "l2" else F(0))


def plans(epsilon: F = F(1)) -> list[tuple[str, Protected, Plan]]:
    return [(text, each, plan_of(text, each, epsilon)) for text, each in product(TEXTS, PROTECTED)]


def readings_of(plan: Plan) -> list[ModeReading]:
    return [each for each in plan.decided.readings if isinstance(each, ModeReading)]


def answered(plan: Plan, rows: list[Row], seed: int = 1) -> Answer:
    grant = Grant(plan.event, Tape(seed))
    one = decided(plan, engine(rows).run, grant, seed)
    return Answer.make(one, release(one, engine(rows).run, grant, seed), text="?")


def plans_hold_and_cost_what_they_say() -> None:
    for text, protected, plan in plans():
        check(plan)
        assert loss(plan.event).certifies(plan.epsilon, plan.delta), (text, protected)
        assert not loss(plan.event).certifies(plan.epsilon * F(9, 10), plan.delta), (text, protected)


def test_plans_hold_and_cost_what_they_say() -> None:
    plans_hold_and_cost_what_they_say()


def false_readings_are_found() -> None:
    """A choice for fewer rows, for other neighbours, of other values or other rows is a fault, however the event is made."""
    for _, protected, plan in plans():
        stage = decided_by(plan, top_rungs).decided
        (reading,) = [each for each in stage.readings if isinstance(each, ModeReading)]
        made = reading.mechanism
        wrong = [
            replace(reading, mechanism=replace(made, values=made.values + 1)),
            replace(reading, values=reading.values[1:]),
            replace(reading, value=reading.operand),
        ]
        if made.rows > 1:
            wrong.append(replace(reading, mechanism=replace(made, rows=made.rows - 1)))
        if protected.adjacency is Adjacency.REPLACE:
            wrong.append(replace(reading, mechanism=replace(made, replaced=False)))
        for each in wrong:
            false = replace(plan, stage=replace(stage, readings=(each,)))
            with pytest.raises(Fault, match="does not hold"):
                check(replace(false, event=event_of(false.stage, false.relation)))
        for other in (replace(stage, readings=()), replace(stage, readings=(reading, reading))):
            with pytest.raises(Fault, match="does not hold"):
                check(replace(plan, stage=other))


def test_false_readings_are_found() -> None:
    false_readings_are_found()


def no_neighbour_moves_more(tries: int = 12) -> None:
    """Rows by group and value: added or removed together by no more than the choice is made for, replaced by as much out as in."""
    reached = 0
    for text, protected in product(TEXTS, PROTECTED):
        draw = random.Random(text)
        plan = decided_by(plan_of(text, protected), low_rungs(draw))
        (reading,) = readings_of(plan)
        for salt in range(repeats(tries)):
            first, second = (
                reading._counted(engine(rows).run, salt, plan.domain) for rows in neighbours(draw, protected)
            )
            gone, come = (int(np.maximum(0, sign * (second - first)).sum()) for sign in (-1, 1))
            if protected.adjacency is Adjacency.ADD_REMOVE:
                assert not gone or not come, "scores move in one direction"
            assert max(gone, come) <= reading.mechanism.rows, (text, protected, gone, come)
            reached += max(gone, come) == reading.mechanism.rows
    assert reached > 20, "the bound is reached, so that no smaller one would do"


def test_no_neighbour_moves_more() -> None:
    no_neighbour_moves_more()


def limits_mean_what_they_mean_elsewhere() -> None:
    """Somebody in three groups counts in as many as the limit says, with as many rows in each; values share these, whatever the salt."""
    rows = [{**EMPTY, "who": 1, "g": g, "x": x} for g in "ABC" for x in (2, 3, 3, 3)]
    plan = planned(TEXTS[1], PERSON, F(1))
    (reading,) = readings_of(plan)
    for salt in range(4):
        counts = reading._counted(engine(rows).run, salt, plan.domain)
        assert sorted(counts.tolist()) == [[0] * 4, [128, 384, 0, 0], [128, 384, 0, 0]]
    assert isinstance(reading.query.source, Apportioned) and reading.mechanism.rows == 1024


def test_limits_mean_what_they_mean_elsewhere() -> None:
    limits_mean_what_they_mean_elsewhere()


def rows_of_no_value_count_nowhere() -> None:
    """NULL, values that are not on the list, and rows that FILTER leaves out count nowhere, and lend no other value their weight."""
    rows = [{**EMPTY, "who": 1, "g": "A", "x": x} for x in (2, 2, None, 9, 9, 9)]
    limited = replace(PERSON, max_rows=7)
    plan = planned("SELECT MODE(x) AS m FROM t", limited, F(1))
    assert readings_of(plan)[0]._counted(engine(rows).run, 1, plan.domain).tolist() == [[512, 0, 0, 0]]
    plan = planned("SELECT MODE(x) FILTER (WHERE g = 'B') AS m FROM t", limited, F(1))
    more = [*rows, {**EMPTY, "who": 1, "g": "B", "x": 4}]
    assert readings_of(plan)[0]._counted(engine(more).run, 1, plan.domain).tolist() == [[0, 0, 256, 0]]


def test_rows_of_no_value_count_nowhere() -> None:
    rows_of_no_value_count_nowhere()


def answers_are_right() -> None:
    """At a high price the most frequent value of each group, for rows and people, declared limits and found ones."""
    rows = people()
    for protected in (ROW, turned(ROW), replace(PERSON, max_groups=1, max_rows=3), FREE):
        answer = answered(planned(TEXTS[1] + " ORDER BY g", protected, F(3000)), rows)
        assert [(column.name, column.type) for column in answer.columns] == [("g", Type.TEXT), ("m", Type.INTEGER)]
        for g, mode in answer.rows:
            assert Counter(row["x"] for row in rows if row["g"] == g).most_common(1)[0][0] == mode
        assert all(span is None for spans in answer.intervals for span in spans)
        assert Answer.from_bytes(answer.to_bytes()).rows == answer.rows
    (row,) = answered(planned(TEXTS[3], ROW, F(3000)), rows).rows
    assert row[0] is False  # of values it is the value, and no place


def test_answers_are_right() -> None:
    answers_are_right()


def test_of_rare_and_frequent_values_the_frequent_ones_are_chosen() -> None:
    """Not each time, and as often as is said: the choice has noise."""
    rows = [{**EMPTY, "who": i, "x": 2 if i % 5 else 4} for i in range(20)]
    plan = planned("SELECT MODE(x) AS m FROM t", ROW, F(1, 4))
    seen = Counter(answered(plan, rows, seed).rows[0][0] for seed in range(repeats(60)))
    assert seen[2] > repeats(60) / 2 and len(seen) > 1


DECLARED = Table(
    "t",
    (
        Column("who", Type.INTEGER),
        Column("kind", Type.TEXT, keys=("b", "a")),
        Column("day", Type.DATE, F(19723), F(19723 + 60)),
        Column("open", Type.BOOLEAN),
        Column("half", Type.NUMBER, keys=(0.5, 1, -0.0)),
        Column("n", Type.INTEGER, F(0), F(3)),
        Column("many", Type.INTEGER, F(0), F(5000)),
        Column("free", Type.TEXT),
        Column("number", Type.NUMBER, F(0), F(9)),
    ),
)
KNOWN: list[tuple[str, Type, tuple[Any, ...]]] = [
    ("kind", Type.TEXT, ("b", "a")),
    ("UPPER(kind)", Type.TEXT, ("B", "A")),
    ("DATE_TRUNC('month', day)", Type.DATE, (date(2024, 1, 1), date(2024, 2, 1), date(2024, 3, 1))),
    ("MONTH(day)", Type.INTEGER, (1, 2, 3)),
    ("open", Type.BOOLEAN, (False, True)),
    ("n > 1", Type.BOOLEAN, (False, True)),
    ("half", Type.NUMBER, (0.5, 1.0, 0.0)),
    ("n", Type.INTEGER, (0, 1, 2, 3)),
    ("n + 1", Type.NUMBER, (1, 2, 3, 4)),
    ("COALESCE(kind, 'c')", Type.TEXT, ("b", "a", "c")),
    ("CASE WHEN number > 3 THEN 'x' WHEN number > 1 THEN NULL ELSE 'y' END", Type.TEXT, ("x", "y")),
]


def values_are_those_of_keys() -> None:
    """Declared, computed, counted; each once; NULL is none of them; of the type that the argument has."""
    for argument, kind, values in KNOWN:
        plan = planned(f"SELECT MODE({argument}) AS m FROM t", ROW, F(1), table=DECLARED)
        (reading,) = readings_of(plan)
        assert reading.values == values, argument
        shown = plan.releases[0].values(plan, [list(range(len(values)))])
        assert list(shown) == list(values)
        (column,) = Answer.make(plan, [np.zeros(1, np.int64)], text="?").columns
        assert column.type is kind or (kind.numeric and column.type.numeric), argument


def test_values_are_those_of_keys() -> None:
    values_are_those_of_keys()


REFUSED = [
    ("SELECT MODE(free) FROM t", "missing-keys"),
    ("SELECT MODE(free || kind) FROM t", "missing-keys"),
    ("SELECT MODE(number) FROM t", "missing-keys"),
    ("SELECT MODE(number / 3) FROM t", "number-key"),
    ("SELECT MODE(many) FROM t", "too-many-groups"),
    ("SELECT many, MODE(n * 1000 + many % 1000) FROM t GROUP BY many", "too-many-groups"),
    ("SELECT many, MODE(day) FROM t GROUP BY many, kind, open, n", "too-many-groups"),
    ("SELECT MODE(CASE WHEN n > 1 THEN NULL ELSE NULL END) FROM t", "types"),
    ("SELECT MODE(NULLIF(kind, kind)) FROM t", "no-groups"),
    ("SELECT MODE(who) FROM t", "person"),
    ("SELECT MODE(WHO % 2) FROM t", "person"),
    ("SELECT MODE(DISTINCT kind) FROM t", "distinct"),
    ("SELECT MODE(NULL) FROM t", "types"),
    ("SELECT MODE(*) FROM t", "star"),
    ("SELECT MODE() FROM t", "function"),
    ("SELECT MODE(kind, n) FROM t", "function"),
    ("SELECT MODE(kind) WITHIN GROUP (ORDER BY n) FROM t", "function"),
    ("SELECT MODE(kind) OVER () FROM t", "window"),
    ("SELECT MODE(COUNT(*)) FROM t", "aggregate-place"),
    ("SELECT MODE(n) + 1 FROM t", "aggregate-place"),
    ("SELECT CAST(MODE(n) AS VARCHAR) FROM t", "aggregate-place"),
    ("SELECT CASE WHEN MODE(open) THEN 1 ELSE 0 END FROM t", "aggregate-place"),
    ("SELECT COUNT(*) FROM t HAVING MODE(kind) = 'a'", "aggregate-place"),
    ("SELECT MODE(kind) AS m, COUNT(*) FROM t HAVING m = 'a'", "aggregate-place"),
    ("SELECT kind, COUNT(*) FROM t GROUP BY kind ORDER BY MODE(n) + 1", "aggregate-place"),
    ("SELECT kind, RANK() OVER (ORDER BY MODE(n)) FROM t GROUP BY kind", "aggregate-place"),
    ("SELECT m FROM (SELECT kind, MODE(n) AS m FROM t GROUP BY kind) WHERE m > 1", "aggregate-place"),
    ("SELECT m + 1 FROM (SELECT kind, MODE(n) AS m FROM t GROUP BY kind)", "aggregate-place"),
    ("SELECT AVG(m) FROM (SELECT who, MODE(n) AS m FROM t GROUP BY who)", "function"),
]


@pytest.mark.parametrize(("text", "code"), REFUSED)
def test_what_is_refused(text: str, code: str) -> None:
    with pytest.raises(QueryError) as caught:
        planned(text, PERSON, F(1), F(1, 10**6), table=DECLARED)
    assert caught.value.code == code and caught.value.hint


def test_what_is_missing_is_counted_by_value_instead() -> None:
    with pytest.raises(QueryError, match="GROUP BY x ORDER BY n DESC LIMIT 1"):
        planned("SELECT MODE(free) FROM t", PERSON, F(1), table=DECLARED)
    instead = "SELECT free, COUNT(*) AS n FROM t GROUP BY free ORDER BY n DESC LIMIT 1"
    check(planned(instead, PERSON, F(1), F(1, 10**6), table=DECLARED))


def it_is_ordered_by_and_read_by_others() -> None:
    """As an output, by its name, its place or itself; and over groups of a sub-query."""
    texts = [
        "SELECT g, MODE(x) AS m FROM t GROUP BY g ORDER BY m DESC, g",
        "SELECT g, MODE(x) AS m FROM t GROUP BY g ORDER BY 2 DESC, 1",
        "SELECT g, MODE(x) AS m FROM t GROUP BY g ORDER BY MODE(x) DESC, g",
        "SELECT g, m FROM (SELECT g, COUNT(*) AS n, MODE(x) AS m FROM t GROUP BY g) ORDER BY m DESC, g",
    ]
    rows = [{**EMPTY, "who": 9, "g": g, "x": x} for g, x in (("A", 2), ("B", 5), ("C", 3))]
    for text in texts:
        assert answered(planned(text, ROW, F(1000)), rows).rows == (("B", 5), ("C", 3), ("A", 2)), text


def test_it_is_ordered_by_and_read_by_others() -> None:
    it_is_ordered_by_and_read_by_others()


def equal_modes_are_one_reading() -> None:
    def count(text: str) -> int:
        return len(readings_of(planned(text, PERSON, F(1))))

    assert count("SELECT MODE(x) AS a, MODE(x) AS b, MODE() WITHIN GROUP (ORDER BY x DESC) AS c FROM t") == 1
    assert count("SELECT MODE(x), MODE(g) FROM t") == 2
    assert count("SELECT MODE(x), MODE(x) FILTER (WHERE y > 0) FROM t") == 2
    names = {digest(planned(f"SELECT {each} AS m FROM t", PERSON, F(1))) for each in ("MODE(x)", "MODE(g)", "SUM(x)")}
    assert len(names) == 3


def test_equal_modes_are_one_reading() -> None:
    equal_modes_are_one_reading()


def how_far_behind_is_said() -> None:
    """For rows and people, once for all levels, and it is the bound of the mechanism; no ± is told, and none promised."""
    for protected, price in product((ROW, turned(ROW), PERSON), (F(1), F(1, 10))):
        (reading,) = readings_of(plan := planned("SELECT MODE(x) AS m FROM t", protected, price))
        (said,) = [note for note in plan.told if note.startswith("MODE(x) is one of 4 known values")]
        behind = int(said.partition("at most ")[2].split()[0])
        assert reading.mechanism.error() <= behind < reading.mechanism.error() + 1
        assert "the most frequent of 4 values" in explain(plan)
    levels = planned("SELECT g, MODE(x) AS m FROM t GROUP BY ROLLUP (g)", PERSON, F(1))
    (said,) = [note for note in levels.told if note.startswith("MODE(x) is one of")]
    rest = [each for level in levels.decided.levels if level is not None for each in level.readings]
    most = max(each.mechanism.error() for each in (*readings_of(levels), *rest) if isinstance(each, ModeReading))
    assert most <= int(said.partition("at most ")[2].split()[0]) < most + 1
    told = predicted(planned("SELECT MODE(x) AS m, MODE(g) AS k, COUNT(*) AS n FROM t", PERSON, F(1)))
    assert [each.error is None for each in told] == [True, True, False] and "no ±" in (told[0].reason or "")
    catalog = Catalog((TABLE,), replace(PERSON, people=1000))
    with pytest.raises(QueryError, match="within cannot be promised for MODE"):
        plan_within(question("SELECT MODE(x) AS m, COUNT(*) AS n FROM t", catalog), catalog, 10)


def test_how_far_behind_is_said() -> None:
    how_far_behind_is_said()


def levels_have_modes_of_their_own() -> None:
    """Of subtotals and of all rows the most frequent value there, which none of the groups need have; all share the price."""
    rows = [
        {**EMPTY, "who": 100 * "ABC".index(g) + i, "g": g, "x": x}
        for g, counts in {"A": {2: 30, 5: 20}, "B": {3: 30, 5: 20}, "C": {4: 30, 5: 20}}.items()
        for i, x in enumerate(x for x, n in counts.items() for _ in range(n))
    ]
    for protected in (ROW, replace(PERSON, max_groups=1)):
        plan = planned("SELECT g, MODE(x) AS m FROM t GROUP BY ROLLUP (g)", protected, F(200))
        check(plan)
        assert loss(plan.event).certifies(plan.epsilon, 0)
        assert answered(plan, rows).rows == (("A", 2), ("B", 3), ("C", 4), (None, 5))


def test_levels_have_modes_of_their_own() -> None:
    levels_have_modes_of_their_own()


def test_engines_read_the_same_values() -> None:
    rows = people(40)
    lists = {column.name: [row[column.name] for row in rows] for column in COLUMNS}
    data = [Data("t", lists, COLUMNS, person="who")]
    queries = [
        reading.query
        for text, protected in product(TEXTS, (PERSON, turned(ROW), FREE, replace(PERSON, max_total=3)))
        for reading in readings_of(decided_by(plan_of(text, protected), low_rungs(random.Random(3))))
    ]
    agree(data, queries)
    with arranged():
        agree(data, queries)


def whole_plans_cost_what_they_say() -> None:
    """By enumeration of all that a plan may release, of all tables of two people, each with up to two rows; added, removed and replaced."""
    table = Table(
        "t",
        (Column("who", Type.INTEGER), Column("x", Type.INTEGER, F(2), F(3)), Column("g", Type.TEXT, keys=("A", "B"))),
    )
    rows = [{**EMPTY, "g": g, "x": x} for g, x in product("AB", (2, 3))]
    sets = [[], *([row] for row in rows), *([one, other] for one, other in product(rows, rows))]
    for text, adjacency in product((TEXTS[1], "SELECT MODE(x) AS m FROM t"), Adjacency):
        protected = replace(PERSON, max_groups=2, max_rows=1, adjacency=adjacency)
        plan = planned(text, protected, F(3, 2), table=table)
        others = [{**row, "who": 2} for row in sets[5]]
        mine = [[*others, *({**row, "who": 1} for row in each)] for each in sets]
        pairs = [(mine[0], each) for each in mine[1:]] if adjacency is Adjacency.ADD_REMOVE else [*product(mine, mine)]
        found = exact(
            joint(plan, lambda rows: engine(rows).run), random.Random(1).sample(pairs, min(len(pairs), repeats(40)))
        )
        assert found.epsilon().high <= 1.5 + 1e-9, (text, adjacency)
        assert found.epsilon().low > 0.5, "somebody is seen at all"


def test_whole_plans_cost_what_they_say() -> None:
    whole_plans_cost_what_they_say()


def people_with_one_row_need_no_limit() -> None:
    """A row is a person, and what is gathered of them a value."""
    text = "SELECT MODE(LEAST(n, 3) > 1) AS m FROM (SELECT who, COUNT(*) AS n FROM t GROUP BY who)"
    plan = planned(text, FREE, F(1000))
    (reading,) = readings_of(plan)
    assert not isinstance(reading.query.source, Apportioned) and reading.mechanism.rows == 1
    check(plan)
    assert answered(plan, people(31)).rows == ((True,),)


def test_people_with_one_row_need_no_limit() -> None:
    people_with_one_row_need_no_limit()


def conditions_tell_values() -> None:
    """What WHERE and FILTER leave of bounds is chosen among, and nothing else."""
    for text, values in (
        ("SELECT MODE(x) AS m FROM t WHERE x > 3", (4, 5)),
        ("SELECT MODE(x) FILTER (WHERE x BETWEEN 3 AND 4) AS m FROM t", (3, 4)),
        ("SELECT MODE(wide) AS m FROM t WHERE wide BETWEEN 10 AND 12", (10, 11, 12)),
    ):
        assert readings_of(planned(text, PERSON, F(1)))[0].values == values, text


def test_conditions_tell_values() -> None:
    conditions_tell_values()


def neighbours_are_not_told_apart() -> None:
    for protected in (PERSON, ROW):
        plan = planned(TEXTS[2], protected, F(1))
        rows = people(30)
        for who in range(4):
            others = [row for row in rows if row["who"] != who] if protected.person else rows[:who] + rows[who + 1 :]

            def run(rows: Any, draws: Draws, plan: Plan = plan) -> Any:
                return release(plan, engine(rows).run, draws, 7)

            report = compare(rows, others, run, seed=who)
            assert report.same and report.first.answered and report.draws == 2, report


def test_neighbours_are_not_told_apart() -> None:
    neighbours_are_not_told_apart()


def test_nobody_and_anything_is_answered() -> None:
    """Of no rows, and of hostile ones: a value that is known."""
    draw = random.Random(2)
    for text, protected in product(TEXTS, (ROW, PERSON, FREE)):
        plan = planned(text, protected, F(1))
        for rows in ([], neighbours(draw, protected)[0]):
            assert all(
                row[-2 if "AVG" in text or "n FROM" in text else -1] is not None for row in answered(plan, rows).rows
            )


def test_keys_and_limits_are_found(tmp_path: Path) -> None:
    """Through a curator: groups that nobody declared, limits that nobody declared, and every form of an answer."""
    rows: dict[str, list[Any]] = {
        "who": [i // 2 for i in range(2000)],
        "town": ["NSW"[i % 3] for i in range(2000)],
        "day": [date(2024, 1 + (i % 7 == 0), 3) for i in range(2000)],
        "cabin": [("eco", "eco", "biz")[i // 3 % 3] for i in range(2000)],
    }
    columns = {
        "cabin": {"keys": ["first", "biz", "eco"]},
        "day": {"type": "date", "bounds": ("2024-01-01", "2024-12-31")},
    }
    with Curator({"t": rows}, "who", columns, epsilon=1000, delta=1e-5, ledger=tmp_path / "l") as curator:
        text = "SELECT town, MODE(cabin) AS c, MODE(MONTH(day)) AS m, MODE(day) AS d, COUNT(*) AS n FROM t GROUP BY town ORDER BY 1"
        answer = curator.sql(text, epsilon=100, delta=1e-6)
        assert [row[:4] for row in answer.rows] == [(town, "eco", 1, date(2024, 1, 3)) for town in "NSW"]
        assert curator.sql(text, epsilon=100, delta=1e-6).to_bytes() == answer.to_bytes()
        assert answer.to_dicts()[0]["d"] == date(2024, 1, 3) and answer.to_json()["rows"][0]["c"] == "eco"
        assert list(answer.to_pandas()["c"]) == ["eco"] * 3 and "eco" in str(answer) and "±" in str(answer)
        assert "MODE(cabin)" in curator.explain(text, epsilon=1, delta=1e-6)
        assert "no ±" in str(curator.preview("SELECT MODE(MONTH(day)) FROM t", epsilon=1))
