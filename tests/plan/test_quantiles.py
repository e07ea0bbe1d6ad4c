"""Quantiles from text to answer: what they read and cost, how far a neighbour moves what is read, and what is refused."""

import random
from dataclasses import replace
from fractions import Fraction as F
from itertools import product
from typing import Any

import numpy as np
import pytest

from discreet.answer import Answer
from discreet.audit.twins import Draws, compare
from discreet.engines.base import Data
from discreet.errors import Fault, QueryError
from discreet.mechanisms import Grant
from discreet.mechanisms.quantile_ends import Exchange
from discreet.noise import Tape
from discreet.plan.apportioned import Apportioned
from discreet.plan.catalog import Catalog, Column, Protected, Table
from discreet.plan.check import check, digest, event_of
from discreet.plan.intervals import predicted
from discreet.plan.plan import Plan
from discreet.plan.quantile_reading import MOST_PLACES, QuantileAsked, QuantileReading, cell_steps, cells_of
from discreet.plan.release import decided, release
from discreet.plan.scalar import Column as Node
from discreet.plan.scalar import Type
from discreet.plan.sql import question
from discreet.plan.within import plan_within
from discreet.privacy import Adjacency, loss
from tests.engines.twins import agree, arranged
from tests.plan.laws import (
    CLIPPED,
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
ONCE = "SELECT MEDIAN(total) AS m FROM (SELECT who, COUNT(*) AS total FROM t GROUP BY who)"
TEXTS = [
    "SELECT MEDIAN(y) AS m FROM t",
    "SELECT g, QUANTILE(y, 0.9) AS q FROM t GROUP BY g",
    "SELECT g, MEDIAN(x) AS m, QUANTILE(x, 0.25) AS q, COUNT(*) AS n FROM t WHERE y > 0 GROUP BY g",
    "SELECT PERCENTILE_DISC(0.25) WITHIN GROUP (ORDER BY x) FILTER (WHERE g = 'A') AS d, AVG(y) AS a FROM t",
]
PROTECTED = [*UNITS, FREE, turned(FREE), replace(PERSON, max_total=3)]


def people(size: int = 600, seed: int = 1) -> list[Row]:
    draw = random.Random(seed)
    return [
        {**EMPTY, "who": who, "x": draw.randint(2, 5), "g": "ABC"[who % 3], "y": draw.uniform(-1, 3)}
        for who in range(size)
        for _ in range(1 + who % 3)
    ]


def plans(epsilon: F = F(1)) -> list[tuple[str, Protected, Plan]]:
    delta = F(1, 10**6)
    return [
        (text, each, planned(text, each, epsilon, delta if each.clip == "l2" else F(0)))
        for text, each in product(TEXTS, PROTECTED)
    ]


def readings_of(plan: Plan) -> list[QuantileReading]:
    return [each for each in plan.decided.readings if isinstance(each, QuantileReading)]


def plans_hold_and_cost_what_they_say() -> None:
    for text, protected, plan in plans():
        check(plan)
        assert loss(plan.event).certifies(plan.epsilon, plan.delta), (text, protected)
        assert not loss(plan.event).certifies(plan.epsilon * F(9, 10), plan.delta), (text, protected)


def test_plans_hold_and_cost_what_they_say() -> None:
    plans_hold_and_cost_what_they_say()


def false_readings_are_found() -> None:
    """Noise for fewer rows, for other neighbours, of other cells or other rows is a fault, however the event is made."""
    for text, protected, plan in plans():
        stage = decided_by(plan, top_rungs).decided
        (reading,) = [each for each in stage.readings if isinstance(each, QuantileReading)]
        made = reading.mechanism
        wrong = [replace(reading, mechanism=replace(made, cells=made.cells + 1))]
        if made.unit > 1:
            wrong.append(replace(reading, mechanism=replace(made, unit=1, rows=made.rows // made.unit)))
        if made.rows > 1:
            wrong.append(replace(reading, mechanism=replace(made, rows=made.rows - 1)))
        if protected.adjacency is Adjacency.REPLACE:
            wrong.append(replace(reading, mechanism=replace(made, exchange=Exchange.NONE)))
        if made.exchange is Exchange.ACROSS:
            wrong.append(replace(reading, mechanism=replace(made, exchange=Exchange.WITHIN)))
        wrong.append(replace(reading, value=replace(reading.value, shift=reading.value.shift + 1)))
        for each in wrong:
            false = replace(plan, stage=replace(stage, readings=(each,)))
            with pytest.raises(Fault, match="does not hold"):
                check(replace(false, event=event_of(false.stage, false.relation)))
        for each in (replace(stage, readings=()), replace(stage, readings=(reading, reading))):
            with pytest.raises(Fault, match="does not hold"):
                check(replace(plan, stage=each))
        assert text


def test_false_readings_are_found() -> None:
    false_readings_are_found()


def no_neighbour_moves_more(tries: int = 12) -> None:
    """Rows by group and cell: added or removed together by no more than the noise is made for, replaced by as much out as in."""
    reached = 0
    for text, protected in product(TEXTS, PROTECTED):
        draw = random.Random(text)
        plan = decided_by(
            planned(text, protected, F(1), F(1, 10**6) if protected.clip == "l2" else F(0)), low_rungs(draw)
        )
        (reading,) = readings_of(plan)
        for salt in range(repeats(tries)):
            first, second = (
                reading._counted(engine(rows).run, salt, plan.domain) for rows in neighbours(draw, protected)
            )
            gone, come = (int(np.maximum(0, sign * (second - first)).sum()) for sign in (-1, 1))
            far = gone + come if protected.adjacency is Adjacency.ADD_REMOVE else max(gone, come)
            assert far <= reading.mechanism.rows, (text, protected, far)
            reached += far == reading.mechanism.rows
    assert reached > 20, "the bound is reached, so that no smaller one would do"


def test_no_neighbour_moves_more() -> None:
    no_neighbour_moves_more()


def people_in_many_groups_count_in_few() -> None:
    """Somebody in three groups counts in as many as the limit says, chosen by lot, and with as many rows in each."""
    rows = [{**EMPTY, "who": 1, "g": g, "y": 0.5} for g in "ABC" for _ in range(4)]
    plan = planned(TEXTS[1], PERSON, F(1))
    (reading,) = readings_of(plan)
    for salt in range(4):
        counts = reading._counted(engine(rows).run, salt, plan.domain)
        assert sorted(counts.sum(axis=1).tolist()) == [0, 512, 512] and reading.mechanism.rows == 1024


def test_people_in_many_groups_count_in_few() -> None:
    people_in_many_groups_count_in_few()


def neighbours_of_many_groups_are_exchanged_across() -> None:
    for text, expected in ((TEXTS[0], Exchange.WITHIN), (TEXTS[1], Exchange.ACROSS)):
        for protected in (turned(PERSON), turned(ROW)):
            (reading,) = readings_of(planned(text, protected, F(1)))
            assert reading.mechanism.exchange is expected, (text, protected)


def test_neighbours_of_many_groups_are_exchanged_across() -> None:
    neighbours_of_many_groups_are_exchanged_across()


def rank_of(values: list[float], q: F) -> float:
    """The value that holds the rank q·n."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -(-(q * len(ordered)) // 1) - 1))]


def answered(plan: Plan, rows: list[Row], seed: int = 1) -> Answer:
    grant = Grant(plan.event, Tape(seed))
    one = decided(plan, engine(rows).run, grant, seed)
    return Answer.make(one, release(one, engine(rows).run, grant, seed), text="?")


def answers_are_right() -> None:
    """At a high price answers are the quantiles, to a cell; intervals hold them; shares turn where the order does."""
    rows = people()
    y = {g: [row["y"] for row in rows if row["g"] == g] for g in "ABC"}
    text = (
        "SELECT g, MEDIAN(y) AS m, QUANTILE(y, 0.9) AS high, PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY y DESC) AS low,"
        " QUANTILE(y, 0.75) - QUANTILE(y, 0.25) AS iqr, QUANTILE_DISC(x, 0.6) AS d, QUANTILE(y, [0.1, 0.5]) AS q"
        " FROM t GROUP BY g ORDER BY g"
    )
    for protected in (ROW, turned(ROW), replace(PERSON, max_groups=1, max_rows=3)):
        answer = answered(planned(text, protected, F(3000)), rows)
        names = [column.name for column in answer.columns]
        assert names == ["g", "m", "high", "low", "iqr", "d", "q_10", "q_50"]
        for row, spans in zip(answer.rows, answer.intervals, strict=True):
            told: dict[str, Any] = dict(zip(names, row, strict=True))
            mine = y[told["g"]]
            truths = {"m": F(1, 2), "high": F(9, 10), "low": F(1, 10), "q_10": F(1, 10), "q_50": F(1, 2)}
            for name, q in truths.items():
                assert abs(told[name] - rank_of(mine, q)) < 0.05, (protected, name)
                span = spans[names.index(name)]
                assert span is not None and span.low <= told[name] <= span.high  # type: ignore[operator]
            iqr = rank_of(mine, F(3, 4)) - rank_of(mine, F(1, 4))
            assert abs(told["iqr"] - iqr) < 0.1 and told["q_10"] == told["low"] and told["q_50"] == told["m"]
            assert isinstance(told["d"], int) and told["d"] in (3, 4)


def test_answers_are_right() -> None:
    answers_are_right()


def people_share_their_rows() -> None:
    """Nothing of whoever has more rows is left out by lot: their values have equal shares, whatever the salt."""
    rows = [{**EMPTY, "who": 1, "g": "A", "x": x} for x in (2, 3, 4, 5)]
    plan = planned("SELECT MEDIAN(x) AS m FROM t", replace(PERSON, max_rows=2), F(1))
    (reading,) = readings_of(plan)
    for salt in range(5):
        assert reading._counted(engine(rows).run, salt, plan.domain).tolist() == [[128] * 4]
    assert isinstance(reading.query.source, Apportioned) and reading.mechanism.rows == 512


def test_people_share_their_rows() -> None:
    people_share_their_rows()


def people_with_one_row_need_no_limit() -> None:
    plan = planned(ONCE.replace("COUNT(*)", "COUNT(*) % 5"), FREE, F(1))
    (reading,) = readings_of(plan)
    assert not isinstance(reading.query.source, Apportioned) and reading.mechanism.rows == 1
    check(plan)


def test_people_with_one_row_need_no_limit() -> None:
    people_with_one_row_need_no_limit()


def quantiles_of_one_argument_are_one_reading() -> None:
    def count(text: str) -> list[int]:
        return [each.mechanism.ends for each in readings_of(planned(text, PERSON, F(1)))]

    assert count("SELECT MEDIAN(y), QUANTILE(y, 0.9), QUANTILE_DISC(y, 0.5), APPROX_QUANTILE(y, 0.9) FROM t") == [4]
    assert count("SELECT MEDIAN(y), MEDIAN(x) FROM t") == [2, 2]
    assert count("SELECT MEDIAN(y), QUANTILE(y, 0.9) FILTER (WHERE x > 3) FROM t") == [2, 2]
    one, other = (
        digest(planned(f"SELECT {each} AS m FROM t", PERSON, F(1)))
        for each in ("PERCENTILE_CONT(0.1) WITHIN GROUP (ORDER BY y DESC)", "QUANTILE(y, 0.9)")
    )
    assert one == other
    names = {digest(planned(f"SELECT {each} AS m FROM t", PERSON, F(1))) for each in ("MEDIAN(y)", "QUANTILE(y, 0.4)")}
    assert len(names) == 2


def test_quantiles_of_one_argument_are_one_reading() -> None:
    quantiles_of_one_argument_are_one_reading()


def grids_are_fine_and_bounded() -> None:
    """Whole numbers of few values have a cell each; others 512 to 1,024, fewer for very many groups; every value is in a cell."""
    node = Node("y", Type.NUMBER)
    for low, high, whole, groups in product(
        (-7.3, 0.0, 1e9), (1e-9, 0.3, 1.0, 120.0, 5000.0, 1e12), (True, False), (1, 9999)
    ):
        if whole and not (low.is_integer() and high.is_integer()):
            continue
        asked = QuantileAsked(node, low, low + high, whole, None, (F(1, 2),))
        value = cell_steps(asked, groups)
        cells = cells_of(value)
        assert cells * groups <= MOST_PLACES + groups
        assert 1 <= cells <= 4096 and (not whole or value.shift <= 0)
        if groups == 1 and not whole and low + high - low > 1e-6:
            assert 512 <= cells <= 1025, (low, high)
        if whole and high <= 120 and groups == 1:
            assert value.shift == 0 and cells == high + 1


def test_grids_are_fine_and_bounded() -> None:
    grids_are_fine_and_bounded()


REFUSED = [
    ("SELECT QUANTILE(y, 1.5) FROM t", "quantile"),
    ("SELECT QUANTILE(y, -0.1) FROM t", "quantile"),
    ("SELECT QUANTILE(y, x) FROM t", "quantile"),
    ("SELECT QUANTILE(y, NULL) FROM t", "quantile"),
    ("SELECT QUANTILE(y, 0.12345) FROM t", "quantile"),
    ("SELECT QUANTILE(y) FROM t", "function"),
    ("SELECT QUANTILE(y, 0.5, 1) FROM t", "unread"),
    ("SELECT MEDIAN(y, x) FROM t", "syntax"),
    ("SELECT MEDIAN(DISTINCT y) FROM t", "distinct"),
    ("SELECT MEDIAN(note) FROM t", "types"),
    ("SELECT MEDIAN(CAST(note AS DATE)) FROM t", "types"),
    ("SELECT QUANTILE(CAST(note AS TIMESTAMP), 0.9) FROM t", "types"),
    ("SELECT MEDIAN(who) FROM t", "missing-bounds"),
    ("SELECT PERCENTILE_CONT(0.5) FROM t", "function"),
    ("SELECT COUNT(*) WITHIN GROUP (ORDER BY y) FROM t", "function"),
    ("SELECT QUANTILE(y, 0.5) WITHIN GROUP (ORDER BY y) FROM t", "function"),
    ("SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY y, x) FROM t", "function"),
    ("SELECT QUANTILE(y, [0.1, x]) FROM t", "operator"),
    ("SELECT QUANTILE(y, []) FROM t", "operator"),
    ("SELECT QUANTILE(y, [0.1, 0.2]) + 1 FROM t", "operator"),
    ("SELECT COUNT(*) FROM t HAVING QUANTILE(y, [0.1]) > 1", "operator"),
    ("SELECT QUANTILE(y, [0.1, 0.1]) FROM t", "duplicate-name"),
    ("SELECT AVG(m) FROM (SELECT who, MEDIAN(y) AS m FROM t GROUP BY who)", "function"),
    ("SELECT MEDIAN(y) OVER () FROM t", "window"),
    ("SELECT MAX(y) FROM t", "extreme"),
    ("SELECT MAD(y) FROM t", "quantile"),
]


@pytest.mark.parametrize(("text", "code"), REFUSED)
def test_what_is_refused(text: str, code: str) -> None:
    with pytest.raises(QueryError) as caught:
        planned(text, PERSON, F(1))
    assert caught.value.code == code


@pytest.mark.parametrize("name", ["MIN", "MAX"])
def test_extremes_are_rewritten_as_quantiles(name: str) -> None:
    with pytest.raises(QueryError, match=r"QUANTILE\(x, 0.01\) or QUANTILE\(x, 0.99\)"):
        planned(f"SELECT {name}(y) FROM t", PERSON, F(1))
    check(planned("SELECT QUANTILE(y, 0.01), QUANTILE(y, 0.99) FROM t", PERSON, F(1)))


def no_error_is_told_beforehand() -> None:
    catalog = Catalog((TABLE,), replace(PERSON, people=1000))
    asked = question("SELECT MEDIAN(y) AS m, COUNT(*) AS n FROM t", catalog)
    with pytest.raises(QueryError, match="within cannot be promised for QUANTILE"):
        plan_within(asked, catalog, 10)
    told = {each.name: each for each in predicted(planned("SELECT MEDIAN(y) AS m, COUNT(*) AS n FROM t", PERSON, F(1)))}
    assert told["m"].error is None and "how values lie" in (told["m"].reason or "") and told["n"].error is not None


def test_no_error_is_told_beforehand() -> None:
    no_error_is_told_beforehand()


def ranges_are_found() -> None:
    """A range that nobody declared is found first, and clamps what the quantile is of."""
    table = Table(
        "t",
        tuple(replace(each, low=None, high=None, auto=True) if each.name == "y" else each for each in TABLE.columns),
    )
    catalog = Catalog((table,), PERSON)
    from discreet.plan.private import plan_for

    plan = plan_for(question("SELECT MEDIAN(y) AS m FROM t", catalog), catalog, F(50))
    check(plan)
    (row,) = answered(plan, people(900)).rows
    assert isinstance(row[0], float) and 0 < row[0] < 2


def test_ranges_are_found() -> None:
    ranges_are_found()


def test_engines_read_the_same_cells() -> None:
    rows = people(40)
    lists = {column.name: [row[column.name] for row in rows] for column in COLUMNS}
    data = [Data("t", lists, COLUMNS, person="who")]
    queries = [
        reading.query
        for _, protected, plan in plans()
        for reading in readings_of(decided_by(plan, low_rungs(random.Random(3))))
        if protected.person is not None or plan
    ]
    agree(data, queries)
    with arranged():
        agree(data, queries)


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
    """Of no rows, of hostile ones, and of whole numbers of one value."""
    draw = random.Random(2)
    for text, protected in product(TEXTS, (ROW, PERSON, FREE, CLIPPED)):
        plan = planned(text, protected, F(1), F(1, 10**6) if protected.clip == "l2" else F(0))
        for rows in ([], neighbours(draw, protected)[0]):
            for row in answered(plan, rows).rows:
                assert all(cell is None or cell == cell for cell in row)
    constant = Table("t", (*TABLE.columns, Column("c", Type.INTEGER, F(7), F(7))))
    assert cells_of(readings_of(planned("SELECT MEDIAN(c) AS m FROM t", ROW, F(1), table=constant))[0].value) == 1
