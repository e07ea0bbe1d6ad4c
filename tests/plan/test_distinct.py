"""COUNT(DISTINCT x): how far a neighbour moves how many values occur, what is counted, and what is said of it.

Neighbours are searched on tables of a few rows with the slow engine, and every vector of counts is compared, exactly, with the sensitivity
that its noise is made for.
"""

import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction as F
from typing import Any

import pytest

from discreet.answer import Answer
from discreet.audit.twins import Draws, compare
from discreet.errors import Fault, QueryError
from discreet.mechanisms import Geometric, Grant
from discreet.noise import Tape
from discreet.plan import relation as r
from discreet.plan.catalog import Catalog, Protected
from discreet.plan.check import check, digest, event_of
from discreet.plan.intervals import predicted
from discreet.plan.plan import Plan
from discreet.plan.release import decided, release
from discreet.plan.releases.distinct import DistinctValues
from discreet.plan.rules.relations import reach_of
from discreet.plan.sql import question
from discreet.privacy import Relation, Unit
from tests.plan.laws import COLUMNS, PERSON, ROW, TABLE, decided_by, engine, low_rungs, planned, top_rungs, turned

Row = dict[str, Any]
EMPTY: Row = {column.name: None for column in TABLE.columns}
TOTAL = Protected("who", max_total=3)
BOTH = Protected("who", max_rows=2, max_total=3)
ALL = Protected("who", max_rows=2, max_groups=2, max_total=3)
UNKNOWN = Protected("who")
LIMITED = [PERSON, TOTAL, BOTH, ALL, UNKNOWN]
WIDE = replace(PERSON, max_rows=99, max_groups=9)
UNITS = [*LIMITED, *map(turned, LIMITED), ROW, turned(ROW)]
TEXTS = [
    "SELECT COUNT(DISTINCT note) AS d FROM t",
    "SELECT COUNT(DISTINCT note) FILTER (WHERE x > 2) AS d FROM t",
    "SELECT COUNT(DISTINCT y) AS d FROM t WHERE x > 2",
    "SELECT COUNT(DISTINCT g) AS d FROM t",
    "SELECT COUNT(DISTINCT x > 3) AS d FROM t",
    "SELECT g, COUNT(DISTINCT note) AS d, COUNT(*) AS n FROM t GROUP BY g",
    "SELECT g, COUNT(DISTINCT x > 3) AS d FROM t GROUP BY g",
    "SELECT x > 3 AS k, COUNT(DISTINCT UPPER(note)) AS d, COUNT(DISTINCT y) AS e FROM t GROUP BY k",
]


def any_row(draw: random.Random, who: int | None, values: int) -> Row:
    """A row of somebody, with one of so many values."""
    return EMPTY | {
        "who": who,
        "x": draw.choice([2, 3, 4, 5, None]),
        "y": draw.choice([*map(float, range(values)), 0.0, -0.0, None]),
        "g": draw.choice(["A", "B", "C", "Z", None]),
        "note": draw.choice([*(f"v{i}" for i in range(values)), None]),
    }


def neighbours(draw: random.Random, protected: Protected) -> tuple[list[Row], list[Row]]:
    """Some have few values, others many; whoever differs may share them or not."""
    others = [any_row(draw, draw.choice([1, 2, None]), 3) for _ in range(draw.randrange(6))]
    count = 1 if protected.person is None else draw.randrange(1, 9)
    more, instead = ([any_row(draw, who, 12) for _ in range(count)] for who in (8, 9))
    place = draw.randrange(len(others) + 1)
    with_them = [*others[:place], *more, *others[place:]]
    return with_them, [*instead, *others] if protected.adjacency is turned(ROW).adjacency else others


def readings(plan: Plan) -> list[DistinctValues]:
    return [each for each in plan.decided.readings if isinstance(each, DistinctValues)]


def counts(plan: Plan, rows: list[Row], salt: int = 1) -> list[list[int]]:
    run = engine(rows).run
    return [each.exactly(run, salt, plan.domain)[0].tolist() for each in readings(plan)]


def searched(text: str, protected: Protected, tries: int) -> Iterator[tuple[DistinctValues, int]]:
    """The readings of a plan, each with the farthest that any neighbours were apart, in L1."""
    draw = random.Random(f"{text} {protected}")
    plan = decided_by(planned(text, protected), low_rungs(draw))
    farthest = [0] * len(readings(plan))
    for salt in range(tries):
        first, second = (counts(plan, rows, salt) for rows in neighbours(draw, protected))
        moved = [sum(abs(a - b) for a, b in zip(*pair, strict=True)) for pair in zip(first, second, strict=True)]
        farthest = list(map(max, farthest, moved))
    yield from zip(readings(plan), farthest, strict=True)


def no_neighbour_moves_more(tries: int = 25, units: list[Protected] = UNITS) -> None:
    """No count of values moves by more than the sensitivity that its noise is made for, for any salt."""
    for protected in units:
        for text in TEXTS:
            for reading, farthest in searched(text, protected, tries):
                assert farthest <= reading.sensitivity, (text, protected, farthest, reading.sensitivity)


def test_no_neighbour_moves_more() -> None:
    no_neighbour_moves_more()


REACHED = [
    (ROW, "", 1),
    (turned(ROW), "", 1),
    (ROW, "g", 1),
    (turned(ROW), "g", 2),
    (PERSON, "", 2),
    (turned(PERSON), "", 2),
    (PERSON, "g", 4),
    (turned(PERSON), "g", 6),
    (TOTAL, "", 3),
    (TOTAL, "g", 3),
    (turned(TOTAL), "g", 6),
    (BOTH, "g", 3),
    (ALL, "g", 3),
]


def some_neighbour_moves_as_much(tries: int = 150) -> None:
    """The sensitivity is what it is said to be, and is reached: no smaller one would do."""
    for protected, key, expected in REACHED:
        text = (
            f"SELECT {key}, COUNT(DISTINCT note) FROM t GROUP BY {key}" if key else "SELECT COUNT(DISTINCT note) FROM t"
        )
        ((reading, farthest),) = searched(text, protected, tries)
        assert reading.sensitivity == expected, (protected, key, reading.sensitivity)
        assert farthest >= expected - (expected > 4), (protected, key, farthest)


def test_some_neighbour_moves_as_much() -> None:
    some_neighbour_moves_as_much()


def values_are_counted(unit: Protected = WIDE) -> None:
    """Where no limit touches anyone the counts are those of plain sets: no NULL, one zero, what FILTER and WHERE leave, by group."""
    draw = random.Random(3)
    for _ in range(4):
        rows = [any_row(draw, draw.randrange(5), 6) for _ in range(40)]
        if unit.person is not None:
            rows += [any_row(draw, None, 90) for _ in range(9)]
        known = [row for row in rows if row["who"] is not None]
        old = [row for row in known if row["x"] is not None and row["x"] > 2]

        def distinct(some: list[Row], name: str) -> int:
            return len({row[name] for row in some} - {None})

        groups = [[row for row in known if row["g"] == g] for g in "ABC"]
        bins = [[row for row in known if row["x"] is not None and (row["x"] > 3) is flag] for flag in (False, True)]
        expected = [
            [[distinct(known, "note")]],
            [[distinct(old, "note")]],
            [[distinct(old, "y")]],
            [[distinct(known, "g")]],
            [[len({row["x"] > 3 for row in known if row["x"] is not None})]],
            [[distinct(each, "note") for each in groups]],
            [[len({row["x"] > 3 for row in each if row["x"] is not None}) for each in groups]],
            [[distinct(each, "note") for each in bins], [distinct(each, "y") for each in bins]],
        ]
        for text, wanted in zip(TEXTS, expected, strict=True):
            assert counts(planned(text, unit), rows) == wanted, text


def test_values_are_counted() -> None:
    values_are_counted()
    values_are_counted(ROW)


def a_reading_holds_or_is_a_fault() -> None:
    """Less noise, no cap, a cap on something else, or a count of something else than values is found by the check of the plan."""
    plan = planned("SELECT g, COUNT(DISTINCT note) AS d FROM t GROUP BY g", ALL)
    (reading,), stage = readings(plan), plan.decided
    kept = reading.query.source
    assert isinstance(kept, r.Occurring) and isinstance(kept.source, r.KeepKeys)
    people = r.contributions_of(kept)
    for false in (
        replace(reading, sensitivity=F(2), mechanism=Geometric(reading.mechanism.scale * F(2, 3))),
        replace(reading, query=r.Totals(r.Occurring(people))),
        replace(reading, query=r.Totals(r.Occurring(r.KeepKeys(people, 0, 1, 1)))),
        replace(reading, query=r.Totals(r.Occurring(r.KeepKeys(people, 1, 2, 2)))),
        replace(reading, query=r.Totals(r.KeepKeys(people, 0, 2, 3))),
        replace(reading, query=r.Totals(r.Occurring(r.KeepKeys(people, 0, 2, 0)))),
    ):
        forged = replace(plan, stage=replace(stage, readings=(false,)))
        with pytest.raises(Fault):
            check(replace(forged, event=event_of(forged.stage, plan.relation)))
    person, row = (Relation(PERSON.adjacency, unit) for unit in (Unit.PERSON, Unit.ROW))
    scan = r.Scan("t", COLUMNS)
    for query, relation in (
        (r.Occurring(scan, ()), row),
        (r.Occurring(scan, (COLUMNS[0],)), person),
        (r.Occurring(r.Contributions(scan, COLUMNS[0], (), ())), person),
        (r.Occurring(r.KeepKeys(people, 0, 3, 1)), person),
        (r.Occurring(r.KeepKeys(people, 1, 1, 1)), person),
        (kept, row),
    ):
        with pytest.raises(Fault):
            reach_of(r.Totals(query), relation)


def test_a_reading_holds_or_is_a_fault() -> None:
    a_reading_holds_or_is_a_fault()


def test_neighbours_are_not_told_apart() -> None:
    """Through every step, whatever is found; and answers are of the plan, with a ± for every number."""
    draw = random.Random(11)
    for protected in (PERSON, ALL, UNKNOWN, turned(TOTAL), ROW, turned(ROW)):
        for text in TEXTS[::2]:
            plan = planned(text, protected)
            first, second = neighbours(draw, protected)

            def run(rows: Any, draws: Draws, plan: Plan = plan) -> Any:
                one = decided(plan, engine(rows).run, draws, 7)
                return release(one, engine(rows).run, draws, 7)

            report = compare(first, second, run, seed=5)
            assert report.same and report.first.answered, (text, protected, report)


def an_answer_has_its_error() -> None:
    """Exactly that of its noise; in sums, ratios and windows the noise is counted once."""
    rows = [EMPTY | {"who": i, "x": 2 + i % 4, "g": "ABC"[i % 3], "note": f"v{i % 50}"} for i in range(900)]
    text = (
        "SELECT g, COUNT(DISTINCT note) AS d, COUNT(DISTINCT note) * 2 AS two, COUNT(DISTINCT note) / COUNT(*) AS share,"
        " COUNT(DISTINCT note) - COUNT(DISTINCT note) AS nothing, SUM(COUNT(DISTINCT note)) OVER () AS whole FROM t GROUP BY g"
    )
    for protected in (ROW, PERSON, replace(PERSON, people=900)):
        plan = planned(text, protected, 2)
        (reading,) = readings(plan)
        grant = Grant(plan.event, Tape(3))
        answer = Answer.make(plan, release(plan, engine(rows).run, grant, 1), text=text)
        error = reading.mechanism.error(0.95)
        for row, spans in zip(answer.rows, answer.intervals, strict=True):
            assert isinstance(row[1], int) and row[4] == 0
            found = [span.error for span in spans[1:] if span is not None]
            assert found[0] == error and found[1] == 2 * error and found[3] == 0
            assert found[2] is not None and 0 < found[2] < 1 and found[4] is not None and error < found[4] < 3 * error
        ahead = {each.name: each.error for each in predicted(plan)}
        assert ahead["d"] == error and (ahead["share"] is None) is (protected.people is None)


def test_an_answer_has_its_error() -> None:
    an_answer_has_its_error()


def test_a_count_beside_values_is_whole() -> None:
    for text in ("SELECT COUNT(*) AS n, COUNT(DISTINCT note) AS d FROM t",):
        assert planned(text, TOTAL).measurements[0].step == 1


def few_values_need_no_limit() -> None:
    """Of two values nobody has more than two: nothing is found, and nothing paid for it; of many a limit is found."""
    plan = planned("SELECT COUNT(DISTINCT x > 3) AS d FROM t", UNKNOWN)
    assert [each.sensitivity for each in readings(plan)] == [2]
    assert readings(decided_by(planned("SELECT COUNT(DISTINCT g) AS d FROM t", UNKNOWN), top_rungs))[0].sensitivity == 3
    assert not isinstance(planned(TEXTS[0], UNKNOWN).stage, type(plan.stage))


def test_few_values_need_no_limit() -> None:
    few_values_need_no_limit()


def one_row_each_needs_no_limit() -> None:
    """Rows of people, of whom each has one, move a count by one value."""
    inside = "(SELECT who, MAX(x) AS m FROM t GROUP BY who)"
    for unit, most in ((UNKNOWN, 1), (PERSON, 1), (turned(UNKNOWN), 1)):
        plan = planned(f"SELECT COUNT(DISTINCT m) AS d FROM {inside}", unit)
        (reading,) = readings(plan)
        assert reading.sensitivity == most and not reading.told(1)


def test_one_row_each_needs_no_limit() -> None:
    one_row_each_needs_no_limit()


@pytest.mark.parametrize(
    ("protected", "text", "note"),
    [
        (PERSON, TEXTS[0], "of each who at most 2 values of note count, chosen at random"),
        (TOTAL, TEXTS[5], "of each who at most 3 values of note count in all, chosen at random"),
        (
            ALL,
            TEXTS[5],
            "of each who at most 2 values of note count in a group, and at most 3 in all, and in at most 2 of the 3 groups,"
            " chosen at random",
        ),
        (replace(PERSON, max_rows=1), TEXTS[2], "of each who at most 1 value of y counts, chosen at random"),
    ],
)
def test_what_is_kept_is_said(protected: Protected, text: str, note: str) -> None:
    assert note in planned(text, protected).notes


def test_the_person_is_counted_as_before() -> None:
    """COUNT(DISTINCT person) is a count of people, by whatever name; another column is not, whatever it is called."""
    catalog = Catalog((TABLE,), PERSON)
    for text in ("COUNT(DISTINCT who)", "APPROX_COUNT_DISTINCT(who)"):
        plan = planned(f"SELECT {text} AS n FROM t", PERSON)
        assert not plan.decided.readings
        assert digest(plan) == digest(planned("SELECT COUNT(DISTINCT who) AS n FROM t", PERSON))
    for text in (
        "SELECT COUNT(DISTINCT who) AS n FROM (SELECT x AS who FROM t)",
        "SELECT COUNT(DISTINCT who + 0) AS n FROM t",
    ):
        assert planned(text, PERSON).decided.readings, text
    same = [question(f"SELECT {each}(DISTINCT note) AS n FROM t", catalog) for each in ("COUNT", "count")]
    assert same[0] == same[1] == question("SELECT APPROX_COUNT_DISTINCT(note) AS n FROM t", catalog)


def test_one_column_at_a_time() -> None:
    with pytest.raises(QueryError) as refusal:
        planned("SELECT COUNT(DISTINCT note, g) FROM t", PERSON)
    assert refusal.value.code == "distinct"
    assert planned("SELECT COUNT(DISTINCT note || '/' || g) FROM t", PERSON).decided.readings
