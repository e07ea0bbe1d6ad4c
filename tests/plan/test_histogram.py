"""HISTOGRAM: the same question as GROUP BY of bins by hand, with the bins of numpy, and no others."""

import random
from dataclasses import replace
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest

from discreet.answer import Answer
from discreet.answer.chart import keys_of, points_of, specification
from discreet.errors import QueryError
from discreet.mechanisms import Grant
from discreet.noise import Tape
from discreet.plan.check import check
from discreet.plan.plan import Plan
from discreet.plan.post import released_rows
from discreet.plan.release import release
from tests.plan.laws import PERSON, ROW, Row, any_row, engine, planned
from tests.scale import repeats

FREE = replace(PERSON, max_rows=50, max_groups=50)


def rows_drawn(seed: int) -> list[Row]:
    """Rows with values on the ends of bins, between them, beyond all bounds, and without any."""
    draw = random.Random(seed)
    values: list[Any] = [None, 2, 3, 4, 5, -7, 9]
    reals: list[Any] = [None, -1.0, 0.0, 1.0, 3.0, 2.999999, -9.5, 8.0, 0.3, float("nan"), float("inf")]
    return [any_row(draw, draw.randrange(9)) | {"x": draw.choice(values), "y": draw.choice(reals)} for _ in range(60)]


def without_noise(plan: Plan, rows: list[Row]) -> list[tuple[Any, ...]]:
    return list(released_rows(plan, release(plan, engine(rows).run, Grant(plan.event, Tape(1)), 1)).rows)


def numbers(rows: list[Row], name: str) -> list[float]:
    return [row[name] for row in rows if row[name] is not None and row[name] == row[name]]


def bins_are_those_of_numpy() -> None:
    """Ends, and counts on exact data: of whole numbers and of others, clamped to their bounds, or within given ends."""
    seen = 0
    for seed in range(repeats(6)):
        rows = rows_drawn(seed)
        for name, low, high in (("x", 2, 5), ("y", -1, 3)):
            for bins in (2, 3, 7):
                found = without_noise(planned(f"SELECT HISTOGRAM({name}, {bins}) FROM t", FREE, 10**6), rows)
                counts, ends = np.histogram(np.clip(numbers(rows, name), low, high), bins, (low, high))
                assert [row[2] for row in found] == counts.tolist(), (name, bins)
                assert np.allclose([row[0] for row in found], ends[:-1]) and np.allclose(
                    [row[1] for row in found], ends[1:]
                )
                assert [row[1] for row in found[:-1]] == [row[0] for row in found[1:]] and found[-1][1] == high
            for given in ([-1, 0, 3], [0, 2.5, 4, 5], [-7, 2, 3, 4, 9]):
                found = without_noise(planned(f"SELECT HISTOGRAM({name}, {given}) AS h FROM t", FREE, 10**6), rows)
                counts, _ = np.histogram([each for each in numbers(rows, name) if abs(each) < 1e9], given)
                assert found == list(zip(given[:-1], given[1:], counts.tolist(), strict=True))
                seen += int(counts[-1])
    assert seen, "some values are on the last end"


def test_bins_are_those_of_numpy() -> None:
    bins_are_those_of_numpy()


def a_histogram_is_a_question_by_hand() -> None:
    """The same rows, terms, noise and price as GROUP BY of CASE; FILTER, WHERE, keys and other aggregates beside it are as there."""
    hand = "CASE WHEN y < 0 THEN -1 WHEN y < 1 THEN 0 WHEN y < 2 THEN 1 ELSE 2 END"
    for unit in (ROW, PERSON):
        for where, beside, group in (
            ("y IS NOT NULL", "", ""),
            ("y IS NOT NULL", ", SUM(x) AS s", "g, "),
            ("x > 3 AND y IS NOT NULL", ", COUNT(DISTINCT who) AS p" if unit is PERSON else "", "g, "),
        ):
            own = where.replace("y IS NOT NULL", "").removesuffix(" AND ")
            one = planned(
                f"SELECT {group}HISTOGRAM(y, 4) FILTER (WHERE x > 2) AS n{beside} FROM t"
                + (f" WHERE {own}" if own else "")
                + (f" GROUP BY {group[:-2]}" if group else ""),
                unit,
            )
            other = planned(
                f"SELECT {group}{hand} AS n_from, COUNT(*) FILTER (WHERE x > 2) AS n{beside} FROM t WHERE {where} GROUP BY {group}n_from",
                unit,
            )
            check(one)
            assert one.domain == other.domain and one.event == other.event and one.measurements == other.measurements
            assert one.question.keys == other.question.keys and one.question.aggregates == other.question.aggregates
            rows = rows_drawn(2)
            assert [each.name for each in one.question.outputs if each.name.startswith("n")] == ["n_from", "n_to", "n"]
            drop = len(one.question.keys)
            assert [row[:drop] + row[drop + 1 :] for row in without_noise(one, rows)] == without_noise(other, rows)
            assert sum("is in no bin" in note or "are in no bin" in note for note in one.told) == 1


def test_a_histogram_is_a_question_by_hand() -> None:
    a_histogram_is_a_question_by_hand()


def test_names_and_clauses_of_a_histogram() -> None:
    plain = planned("SELECT HISTOGRAM(x, 3) FROM t", ROW)
    assert [each.name for each in plain.question.outputs] == ["x_from", "x_to", "count"]
    plan = planned("SELECT HISTOGRAM(x, 3) AS h FROM t HAVING h > -1000 ORDER BY h_from DESC LIMIT 2", ROW, 1000)
    assert [row[:2] for row in without_noise(plan, rows_drawn(1))] == [(4, 5), (3, 4)]
    inside = planned("SELECT h_to, h FROM (SELECT HISTOGRAM(x, 3) AS h FROM t GROUP BY ALL) WHERE h > -1000", ROW, 1000)
    assert [row[0] for row in without_noise(inside, rows_drawn(1))] == [3, 4, 5]
    levels = planned("SELECT g, HISTOGRAM(x, 3) AS h FROM t GROUP BY ROLLUP (g)", ROW, 1000)
    found = without_noise(levels, rows_drawn(1))
    assert len(found) == 3 * 3 + 3 and [row[:3] for row in found[-3:]] == [(None, 2, 3), (None, 3, 4), (None, 4, 5)]


def test_a_picture_has_a_bar_for_each_bin() -> None:
    for text, keys in (("SELECT HISTOGRAM(x, 3) AS h FROM t", 1), ("SELECT g, HISTOGRAM(x, 3) FROM t GROUP BY g", 2)):
        plan = planned(text, ROW)
        released = release(plan, engine(rows_drawn(1)).run, Grant(plan.event, Tape(1)), 1)
        answer = Answer.make(plan, released, text=text)
        assert len(keys_of(answer)) == keys and Answer.from_bytes(answer.to_bytes()) == answer
        points = points_of(answer, len(answer.columns) - 1)
        assert points[0]["group" if keys == 1 else "series"] == "2 … 3"
        assert specification(answer)["vconcat"] and answer.to_html() and answer.to_svg()


REFUSED = [
    ("collection", "SELECT HISTOGRAM(x) FROM t"),
    ("function", "SELECT HISTOGRAM(x, 3, 4) FROM t"),
    ("function", "SELECT HISTOGRAM(x, 1) FROM t"),
    ("function", "SELECT HISTOGRAM(x, 1001) FROM t"),
    ("function", "SELECT HISTOGRAM(x, 2.5) FROM t"),
    ("function", "SELECT HISTOGRAM(x, x) FROM t"),
    ("literal", "SELECT HISTOGRAM(x, [1]) FROM t"),
    ("literal", "SELECT HISTOGRAM(x, []) FROM t"),
    ("literal", "SELECT HISTOGRAM(x, [1, 1, 2]) FROM t"),
    ("literal", "SELECT HISTOGRAM(x, [3, 2, 1]) FROM t"),
    ("literal", "SELECT HISTOGRAM(x, [1, 'a', 2]) FROM t"),
    ("literal", "SELECT HISTOGRAM(x, [1, x, 2]) FROM t"),
    ("distinct", "SELECT HISTOGRAM(DISTINCT x, 3) FROM t"),
    ("types", "SELECT HISTOGRAM(g, 3) FROM t"),
    ("collection", "SELECT HISTOGRAM(x, 3), HISTOGRAM(y, 3) FROM t"),
    ("aggregate-place", "SELECT 2 * HISTOGRAM(x, 3) FROM t"),
    ("aggregate-place", "SELECT COUNT(*) FROM t WHERE HISTOGRAM(x, 3) > 2"),
    ("aggregate-place", "SELECT COUNT(*) FROM t HAVING HISTOGRAM(x, 3) > 2"),
    ("aggregate-place", "SELECT HISTOGRAM(COUNT(*), 3) FROM t"),
    ("aggregate-place", "SELECT HISTOGRAM(n, 3) FROM (SELECT g, COUNT(*) AS n FROM t GROUP BY g)"),
    ("collection", "SELECT AVG(h) FROM (SELECT who, HISTOGRAM(x, 3) AS h FROM t GROUP BY who)"),
    ("not-grouped", "SELECT g, HISTOGRAM(x, 3) FROM t"),
    ("person", "SELECT HISTOGRAM(who, [1, 2, 3]) FROM t"),
    ("duplicate-name", "SELECT g AS h_to, HISTOGRAM(x, 3) AS h FROM t GROUP BY g"),
    ("operator", "SELECT COUNT([1, 2]) FROM t"),
    ("too-many-items", f"SELECT HISTOGRAM({'+'.join(['x'] * 30)}, 1000) FROM t"),
    ("missing-bounds", "SELECT HISTOGRAM(CAST(note AS INTEGER), 4) FROM t"),
]


@pytest.mark.parametrize(("code", "text"), REFUSED)
def test_what_is_no_histogram_is_refused(code: str, text: str) -> None:
    with pytest.raises(QueryError) as caught:
        planned(text, PERSON, 1, F(1, 10**6))
    assert caught.value.code == code and caught.value.hint, caught.value


def test_ends_that_are_given_need_no_bounds() -> None:
    check(planned("SELECT HISTOGRAM(CAST(note AS INTEGER), [0, 5, 10]) AS h FROM t", ROW))
