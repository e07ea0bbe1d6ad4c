"""How many values occur in each group: by counting, and in DuckDB as in plain Python; whose are kept is chance, within the caps."""

from collections import Counter
from contextlib import nullcontext
from itertools import product
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.engines.base import Data
from discreet.plan import relation as r
from discreet.plan.scalar import Column
from tests.engines.test_caps import COLUMNS, PERSON, SAME, VALUE, WARD, table
from tests.engines.twins import SALT, agree, arranged, computed
from tests.plan import strategies as made
from tests.scale import repeats

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
SCAN = r.Scan("t", COLUMNS)
ROWS = [(who, f"w{(who * k) % 4}", k % 6) for who in range(12) for k in range(who)]


def kept(people: r.Contributions, rows: int | None, groups: int | None, total: int | None) -> Any:
    """What is left of people within limits on values in a group, on groups and on pairs of both."""
    size = len(people.keys)
    limits = ((0, size - 1, groups if size > 1 else None), (size - 1, size, rows), (0, size, total))
    left: Any = people
    for within, of, most in limits:
        left = left if most is None else r.KeepKeys(left, within, of, most)
    return left


def people(*keys: Column) -> r.Contributions:
    return r.Contributions(SCAN, PERSON, keys, ())


def each_value_counts_once() -> None:
    """However many rows or people have it, and in every group where it occurs."""
    pairs = {(ward, value) for _, ward, value in ROWS}
    by_ward = Counter(ward for ward, _ in pairs)
    for query, expected in (
        (r.Occurring(SCAN, (WARD, VALUE)), {(ward,): (n,) for ward, n in by_ward.items()}),
        (r.Occurring(people(WARD, VALUE)), {(ward,): (n,) for ward, n in by_ward.items()}),
        (r.Occurring(SCAN, (VALUE,)), {(): (6,)}),
        (r.Occurring(people(VALUE)), {(): (6,)}),
    ):
        for arrangement in (nullcontext, arranged):
            with arrangement():
                assert computed(table(ROWS), r.Totals(query), threads=3) == expected, query
                agree(table(ROWS), [r.Totals(query)], threads=3)
    assert computed(table([]), r.Totals(r.Occurring(SCAN, (VALUE,)))) == {(): (0,)}
    assert computed(table([]), r.Totals(r.Occurring(people(VALUE)))) == {(): (0,)}


def test_each_value_counts_once() -> None:
    each_value_counts_once()


def everybody(limits: tuple[int | None, int | None, int | None]) -> r.Totals:
    """How many values are kept of each person in each ward: who it is stands in the group, so that nobody shares a value."""
    return r.Totals(r.Occurring(kept(people(SAME, WARD, VALUE), *limits)))


def nobody_keeps_more() -> None:
    """As much is left of each as the limits allow, and as they have; for every salt."""
    had = Counter({(who, ward): len({v for w, x, v in ROWS if (w, x) == (who, ward)}) for who, ward, _ in ROWS})
    for limits in product((None, 1, 2), (None, 1, 3), (None, 1, 4)):
        rows, groups, total = (each or 100 for each in limits)
        for salt in range(2):
            found = computed(table(ROWS), everybody(limits), salt << 60)
            for who in range(1, 12):
                mine = {ward: n for (person, ward), (n,) in found.items() if person == who}
                there = {ward: n for (person, ward), n in had.items() if person == who}
                assert all(n <= min(rows, there[ward]) for ward, n in mine.items())
                assert len(mine) <= groups and sum(mine.values()) <= total
                wanted = min(total, sum(min(rows, n) for n in there.values()))
                assert sum(mine.values()) == wanted if groups >= len(there) else mine


def test_nobody_keeps_more() -> None:
    nobody_keeps_more()


def what_is_kept_depends_on_nobody_else() -> None:
    """Nor on the order of rows, or how often a value is there; and on the salt it does."""
    limits = [(2, None, None), (None, 2, None), (None, None, 3), (1, 2, 2)]
    query = [everybody(each) for each in limits]
    alone = {
        who: [computed(table([row for row in ROWS if row[0] == who]), each) for each in query] for who in (5, 8, 11)
    }
    for rows in (ROWS, ROWS[::-1], ROWS * 2, sorted(ROWS, key=lambda row: row[2])):
        for arrangement in (nullcontext, arranged):
            with arrangement():
                found = [computed(table(rows), each) for each in query]
            for who, mine in alone.items():
                assert [{k: n for k, n in each.items() if k[0] == who} for each in found] == mine
    others = {tuple(sorted(computed(table(ROWS), query[2], salt << 60).items())) for salt in range(4)}
    assert len(others) == 4


def test_what_is_kept_depends_on_nobody_else() -> None:
    what_is_kept_depends_on_nobody_else()


def groups_are_kept_as_for_rows() -> None:
    """The groups in which values of a person are kept are those in which their rows are."""
    rows = r.Totals(r.CapGroups(r.Contributions(SCAN, PERSON, (SAME, WARD), ()), 2))
    for salt in range(3):
        of_rows, of_values = (
            set(computed(table(ROWS), each, salt << 60)) for each in (rows, everybody((None, 2, None)))
        )
        assert of_rows == of_values


def test_groups_are_kept_as_for_rows() -> None:
    groups_are_kept_as_for_rows()


@st.composite
def occurring(draw: st.DrawFn, columns: tuple[made.Column, ...]) -> r.Totals:
    """Any keys, any filter, any limits; of people and of rows."""
    person = next(column for column in columns if column.name == "person")
    source, value = draw(made.sources("t", columns)), draw(st.sampled_from(columns))
    keys = (*draw(made.keys(columns)), value)
    if draw(st.booleans()):
        return r.Totals(r.Occurring(source, keys))
    limit = st.none() | st.integers(1, 3)
    everyone = r.Contributions(source, person, keys, ())
    return r.Totals(r.Occurring(kept(everyone, draw(limit), draw(limit), draw(limit))))


@pytest.mark.parametrize("arrangement", [nullcontext, arranged], ids=["as-it-is", "arranged"])
@settings(max_examples=repeats(20), suppress_health_check=SLOW)
@given(data=st.data())
def test_engines_count_the_same_values(data: st.DataObject, arrangement: type[nullcontext[None]]) -> None:
    columns = data.draw(made.catalogs())
    rows = data.draw(made.tables(columns))
    queries = data.draw(st.lists(occurring(columns), min_size=3, max_size=3))
    with arrangement():
        agree([Data("t", rows, columns, person=data.draw(st.sampled_from([None, "person"])))], queries, SALT)
