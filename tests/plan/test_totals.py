"""A limit on all rows of a person: nobody moves a total by more than is said, somebody as much, and nobody counts with more rows.

All that one person can give is enumerated on tiny tables: every choice of up to four rows, each in any group, at a bound (or, in one
group, missing), with several priorities. Neighbours are all pairs of these; others are a shift, which moves nothing.
"""

from dataclasses import replace
from fractions import Fraction as F
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest

from discreet.curator.declaration import protected
from discreet.engines.base import Data
from discreet.engines.memory import MemoryEngine
from discreet.errors import Invalid
from discreet.plan import relation as r
from discreet.plan import scalar as s
from discreet.plan.catalog import Protected
from discreet.plan.check import digest
from discreet.plan.rules.relations import MOST_TOTAL, combined
from discreet.plan.scalar import Column, Type
from discreet.privacy import Adjacency, Relation, Unit
from tests.plan.laws import (
    FIRST,
    Combination,
    decided_by,
    exact,
    honest,
    is_a_fault,
    planned,
    searched,
    top_rungs,
    turned,
)
from tests.scale import repeats

WHO, X, G = Column("who", Type.INTEGER), Column("x", Type.NUMBER), Column("g", Type.INTEGER)
COLUMNS = (WHO, X, G)
SCAN = r.Scan("t", COLUMNS)
MOST_ROWS = 4
BOUNDS = [(0, 1), (-3, 2), (2, 5), (-5, -2)]
Limits = tuple[int | None, int | None, int | None]
LIMITS: list[Limits] = [  # rows, groups, total
    (None, None, 1), (None, None, 2), (None, None, 3), (1, None, 2), (2, None, 3), (2, 2, 3), (None, 2, 3), (3, 1, 2),
]  # fmt: skip


def terms(low: int, high: int) -> tuple[r.Term, ...]:
    """Of steps of rows, of how many rows there are, and of people."""
    steps = s.Steps(X, float(low), float(high), 0, 0.0)
    one = s.Literal(1, Type.INTEGER)
    return r.Term(r.How.SUM, steps), r.Term(r.How.SUM, one), r.Term(r.How.ANY, one)


def query(limits: Limits, keys: tuple[Column, ...], of: tuple[r.Term, ...]) -> r.Totals:
    rows, groups, total = limits
    made: Any = r.Contributions(SCAN, WHO, keys, of)
    made = made if rows is None else r.CapRows(made, rows)
    made = made if groups is None else r.CapGroups(made, groups)
    return r.Totals(made if total is None else r.CapTotal(made, total))


def everyone(bounds: tuple[int, int], limits: Limits, cells: int) -> list[np.ndarray]:
    """For each term the vectors over all groups that one person can have, also by not being there."""
    values = (float(bounds[0]), float(bounds[1]), None)[: 3 if cells == 1 else 2]
    kinds = list(product(range(cells), values))
    lists = [rows for n in range(1, MOST_ROWS + 1) for rows in combinations_with_replacement(kinds, n)]
    people = [rows for rows in lists for _ in range(2)]
    data = [(i, *row) for i, rows in enumerate(people) for row in rows]
    table = {"who": [i for i, _, _ in data], "g": [g for _, g, _ in data], "x": [x for _, _, x in data]}
    priorities = {(i, (i, g)): i * (2 * g + 1) + g for i in range(len(people)) for g in range(cells)}
    found = MemoryEngine([Data("t", table, COLUMNS)], priorities).run(query(limits, (WHO, G), terms(*bounds)), 0)
    vectors = []
    for totals in found.totals:
        each = np.zeros((len(people) + 1, cells), np.int64)
        for (i, g), total in zip(found.keys, totals, strict=True):
            each[i, g] = total
        vectors.append(np.unique(each, axis=0))
    return vectors


def farthest(vectors: np.ndarray, adjacency: Adjacency) -> tuple[int, int]:
    """The largest L1 distance, and the largest L2 distance squared, of any two neighbours."""
    others = vectors if adjacency is Adjacency.REPLACE else np.zeros((1, vectors.shape[1]), np.int64)
    apart = vectors[:, None, :] - others[None, :, :]
    return int(np.abs(apart).sum(2).max()), int((apart**2).sum(2).max())


def nobody_moves_more(cells: tuple[int, ...] = (1, 3)) -> None:
    """Under both relations, whichever limits there are; and as much where a limit on all rows stands alone."""
    for bounds, limits, groups in product(BOUNDS, LIMITS, cells):
        vectors = everyone(bounds, limits, groups)
        for place, adjacency in product(range(3), Adjacency):
            l1, l2 = farthest(vectors[place], adjacency)
            made = query(limits, (G,) if groups > 1 else (), terms(*bounds))
            allowed = combined(Combination.plain(place), made, Relation(adjacency, Unit.PERSON), groups)
            assert l1 <= allowed.l1 and l2 <= allowed.l2_squared, (bounds, limits, groups, place, adjacency)
            if place == 1:
                assert (l1, l2) == (allowed.l1, allowed.l2_squared) or limits not in TIGHT, (limits, groups, adjacency)


TIGHT = [(None, None, 1), (None, None, 2), (None, None, 3), (1, None, 2)]
"""Limits whose bounds on a count are reached: of rows in all, and of one row in each of two groups."""


def test_nobody_moves_a_total_by_more_than_is_said_and_somebody_as_much() -> None:
    nobody_moves_more()


def said(limits: Limits, adjacency: Adjacency, bounds: tuple[int, int] = (0, 1), cells: int = 100) -> tuple[F, F]:
    found = combined(FIRST, query(limits, (G,), terms(*bounds)), Relation(adjacency, Unit.PERSON), cells)
    return found.l1, found.l2_squared


def sensitivities_are_the_least_of_what_is_known() -> None:
    """Δ1 = min(r·g, C) and Δ2² = min(g·r², r·C, C²) rows; replaced twice that, or √2 times in L2 where nothing is below 0."""
    for rows, groups, total in product((None, 1, 4, 50), (None, 2, 9), (1, 10, 40)):
        g = 100 if groups is None else groups
        l1 = total if rows is None else min(rows * g, total)
        l2 = total**2 if rows is None else min(g * rows**2, rows * total, total**2)
        for bounds, sign in (((0, 3), 2), ((-3, 0), 2), ((-3, 1), 4)):
            assert said((rows, groups, total), Adjacency.ADD_REMOVE, bounds) == (3 * l1, 9 * l2)
            replaced = said((rows, groups, total), Adjacency.REPLACE, bounds)
            assert replaced[0] == 6 * l1 and replaced[1] <= 9 * sign * l2


def test_the_sensitivity_of_rows_is_the_least_of_what_is_known() -> None:
    sensitivities_are_the_least_of_what_is_known()


def far_sums_move_by_all_rows() -> None:
    """Σy + W·n, both scaled and truncated: by no more than all rows of a person give to both, as far as anybody can get; rounded, by less
    than 1 more in each group.
    """
    low, high, middle = 100, 104, 102
    of = (r.Term(r.How.SUM, s.Steps(X, 100.0, 104.0, 0, 102.0)), r.Term(r.How.SUM, s.Indicator(s.Not(s.IsNull(X)))))
    for limits, adjacency, divisor in product(((None, None, 2), (3, None, 2), (50, 1, 3)), Adjacency, (1, 8)):
        lists = [
            each for n in range(1, 6) for each in combinations_with_replacement((float(low), float(high), None), n)
        ]
        data = [(i, x) for i, rows in enumerate(lists) for x in rows]
        table = {"who": [i for i, _ in data], "g": [0] * len(data), "x": [x for _, x in data]}
        priorities = {(i, (i,)): i for i in range(len(lists))}
        found = MemoryEngine([Data("t", table, COLUMNS)], priorities).run(query(limits, (WHO,), of), 0)
        possible = [0, *(int(y) + middle * int(n) for y, n in zip(*found.totals, strict=True))]
        ends = (0, 0) if adjacency is Adjacency.ADD_REMOVE else (min(possible), max(possible))
        moved = max(abs(each - end) for each in possible for end in ends)
        allowed = combined(
            Combination(((0, 1), (1, middle)), divisor), query(limits, (), of), Relation(adjacency, Unit.PERSON), 1
        )
        total = limits[2] or 0
        assert F(moved, divisor) <= allowed.l1 <= F(total * (middle + 2 * (high - middle)), divisor) + 1
        assert allowed.l1.denominator == 1


def test_a_sum_far_from_0_moves_by_all_rows() -> None:
    far_sums_move_by_all_rows()


def test_groups_alone_bound_no_rows() -> None:
    for limits in ((None, 2, None), (None, None, None)):
        assert is_a_fault(lambda limits=limits: said(limits, Adjacency.ADD_REMOVE))  # type: ignore[misc]


def what_was_scaled_is_not_capped_again() -> None:
    """Rows and groups are capped below; and a limit is at least 1 and no wider than engines can multiply."""
    gathered = r.Contributions(SCAN, WHO, (), terms(0, 1))
    scaled = r.CapTotal(gathered, 2)
    wrong: list[Any] = [
        r.CapRows(scaled, 1),  # type: ignore[arg-type]
        r.CapGroups(scaled, 1),  # type: ignore[arg-type]
        r.CapTotal(scaled, 1),  # type: ignore[arg-type]
        r.CapTotal(r.ClipNorm(gathered, (1, 1, 1)), 1),  # type: ignore[arg-type]
        r.CapTotal(SCAN, 1),  # type: ignore[arg-type]
        r.CapTotal(gathered, 0),
        r.CapTotal(gathered, MOST_TOTAL + 1),
    ]
    for source in wrong:
        for adjacency in Adjacency:
            relation = Relation(adjacency, Unit.PERSON)
            assert is_a_fault(lambda source=source, relation=relation: combined(FIRST, r.Totals(source), relation, 1))  # type: ignore[misc]
    for source in (scaled, r.ClipNorm(scaled, (1, 1, 1)), r.CapTotal(gathered, MOST_TOTAL)):
        assert combined(FIRST, r.Totals(source), Relation(Adjacency.REPLACE, Unit.PERSON), 1).l1 > 0


def test_what_was_scaled_is_not_capped_again() -> None:
    what_was_scaled_is_not_capped_again()


def test_the_rows_that_count_are_scaled() -> None:
    """Whoever has 100 rows in one group, of which 4 count, and 4 in another, has 8: a limit of 6 leaves 3 of each."""
    table = {"who": [1] * 104, "g": [0] * 100 + [1] * 4, "x": [1.0] * 104}
    engine = MemoryEngine([Data("t", table, COLUMNS)], {(1, (0,)): 5, (1, (1,)): 6})
    found = engine.run(query((4, None, 6), (G,), terms(0, 1)), 0)
    assert sorted(zip(found.keys, found.totals[1].tolist(), strict=True)) == [((0,), 3), ((1,), 3)]


# Plans.

ALONE = protected("who", max_total=3)
UNITS = [
    ALONE,
    protected("who", max_total=3, max_rows=2),
    protected("who", max_total=3, max_rows=2, max_groups=2),
    replace(ALONE, clip="l2"),
    protected("who", max_total=3, max_rows=2, max_groups=2, clip="l2"),
]
TEXTS = [
    "SELECT COUNT(*) FROM t",
    "SELECT SUM(y), COUNT(x) FROM t",
    "SELECT g, COUNT(*), AVG(x) FROM t GROUP BY g",
    "SELECT g, SUM(far), COUNT(far) FROM t GROUP BY g",
    "SELECT SUM(deep) FILTER (WHERE g = 'A'), AVG(deep) FROM t",
    "SELECT g, SUM(wide), COUNT(DISTINCT who) FROM t WHERE y > 0 GROUP BY g",
    "SELECT g, COUNT(DISTINCT who) FROM t GROUP BY g",
]


def no_neighbour_moves_more(tries: int = 30) -> None:
    """No total moves by more than the sensitivity that its noise is made for, whichever noise a plan has."""
    for unit, text, delta in product([*UNITS, *map(turned, UNITS)], TEXTS, (0, F(1, 10**6))):
        if unit.clip == "l2" and not delta:
            continue
        moved = searched(text, unit, tries, delta)
        for far, allowed in zip(moved.farthest, moved.allowed, strict=True):
            assert far <= allowed, (text, unit, far, allowed)


def test_no_neighbour_moves_more_than_its_noise_is_made_for() -> None:
    no_neighbour_moves_more(repeats(30))


def nobody_counts_with_more() -> None:
    """Over all groups a person counts with at most so many rows, of whatever they have; and with all of them where it is less."""
    text = "SELECT g, COUNT(*), COUNT(DISTINCT who), SUM(x) FROM t GROUP BY g"
    for unit, total, many in product(UNITS, (1, 2, 3, 4, 7, 30), (1, 4, 40)):
        plan = decided_by(planned(text, replace(unit, max_total=total), delta=F(1, 10**6)), top_rungs)
        rows = [{**honest()[0], "g": "ABC"[i % 3], "x": 5} for i in range(many)]
        totals = exact(plan, rows)
        counted, people, summed = (F(sum(each)) * m.step for each, m in zip(totals, plan.measurements, strict=True))
        assert counted <= min(many, total) and summed <= 5 * min(many, total), (unit, total, many)
        if unit is ALONE:
            assert counted >= min(many, total) - F(3, 256) and summed >= 5 * min(many, total) - F(3, 256)
        if unit.clip != "l2":
            assert people == min(many, 3 if unit.max_groups is None else unit.max_groups)


def test_nobody_counts_with_more_rows_than_the_limit() -> None:
    nobody_counts_with_more()


def people_are_not_touched() -> None:
    """A question about people is the same, at the same price, whatever limits there are on rows, and needs none."""
    for text in ("SELECT COUNT(DISTINCT who) FROM t", "SELECT g, COUNT(DISTINCT who) FROM t GROUP BY g"):
        for unit in (Protected("who", max_groups=2), turned(Protected("who", max_groups=2))):
            plain = planned(text, unit)
            for limits in ({"max_total": 1}, {"max_total": 7, "max_rows": 9}):
                limited = planned(text, replace(unit, **limits))  # type: ignore[arg-type]
                assert (limited.query, limited.event, limited.measurements) == (
                    plain.query,
                    plain.event,
                    plain.measurements,
                )


def test_limits_on_rows_do_not_touch_people() -> None:
    people_are_not_touched()


def test_a_norm_is_no_longer_than_all_rows_make_it() -> None:
    """Where people are shortened: √g·r rows, or √(r·C), or C, whichever is least; people by their groups alone."""
    text = "SELECT g, COUNT(*), COUNT(DISTINCT who) FROM t GROUP BY g"
    for rows, groups, total in product((None, 2, 9), (1, 2), (1, 4, 20)):
        limits = {"max_rows": rows, "max_groups": groups, "max_total": total}
        plan = planned(text, protected("who", clip="l2", **limits), delta=F(1, 10**6))
        square = min(total**2, (rows or total) * total, groups * (rows or total) ** 2)
        by_rows, by_people = (each.sensitivity * each.step for each in plan.measurements)
        assert abs(by_rows - F(square**0.5)) <= F(1, 64), (limits, by_rows)
        assert abs(by_people - F(groups**0.5)) <= F(1, 64), limits


def test_a_whole_count_stays_whole() -> None:
    """All rows in one group are scaled without a fraction; where fractions are possible steps are fine."""
    whole, parts = planned("SELECT COUNT(*) FROM t", ALONE), planned("SELECT g, COUNT(*) FROM t GROUP BY g", ALONE)
    assert whole.measurements[0].step == 1 and parts.measurements[0].step == F(1, 256)
    sums = planned("SELECT SUM(x) FROM t", ALONE).measurements[0]
    assert sums.step == F(1, 256) and not sums.rounding


def test_a_limit_that_does_nothing_is_in_no_plan() -> None:
    """Where rows and groups are within it, the plan is that of rows and groups, and has its name; that it does nothing is said."""
    for unit in (Protected("who", max_rows=2, max_groups=3), Protected("who", max_rows=2, max_groups=9)):
        for text in TEXTS:
            first, second = planned(text, unit), planned(text, replace(unit, max_total=6))
            assert (first.query, first.measurements, first.event) == (second.query, second.measurements, second.event)
            assert digest(planned(text, replace(unit, max_total=1))) != digest(first)
            if "DISTINCT who) FROM t GROUP" not in text or "SUM" in text:
                assert digest(second) == digest(first) and second.notes == first.notes
                said = [note.split(":")[0] for note in second.assumed if "max_total" in note]
                assert said == ["max_total = 6 changes nothing here"]


@pytest.mark.parametrize(
    ("text", "limits", "said"),
    [
        ("SELECT COUNT(*) FROM t", {}, "each who counts with at most 500 rows"),
        ("SELECT g, COUNT(*) FROM t GROUP BY g", {}, "each who counts with at most 500 rows in all"),
        (
            "SELECT g, COUNT(*) FROM t GROUP BY g",
            {"max_rows": 400, "max_groups": 2},
            "each who counts with at most 500 rows in all, and with at most 400 rows in a group, and in at most 2 of the 3 groups",
        ),
    ],
)
def test_a_plan_says_what_counts(text: str, limits: dict[str, int], said: str) -> None:
    plan = planned(text, protected("who", max_total=500, **limits))
    assert plan.notes[0] == said and not plan.assumed


@pytest.mark.parametrize("limit", [0, -1, 2**20 + 1, 2.5, True, "many"])
def test_a_limit_that_is_none_is_refused(limit: object) -> None:
    with pytest.raises(Invalid, match="max_total"):
        protected("who", max_total=limit)
