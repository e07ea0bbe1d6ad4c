"""People who have more than so many rows or groups: by counting, and in DuckDB as in plain Python, whatever keys and caps are."""

from collections import defaultdict
from contextlib import nullcontext
from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.engines.base import Data
from discreet.plan import relation as r
from tests.engines.test_caps import BY_PERSON, COLUMNS, COUNT, PERSON, SAME, WARD, below, many_rows, table
from tests.engines.twins import SALT, agree, arranged, computed
from tests.plan import strategies as made
from tests.scale import repeats

RUNGS = (0, 1, 2, 3, 5, 9, 30, 10**6)
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
BARE = r.Contributions(r.Scan("t", COLUMNS), PERSON, (SAME, WARD), ())


def beyond(counts: dict[int, list[int]], extent: r.Extent) -> tuple[int, ...]:
    """By counting, from the rows of each person in each group."""
    has = {r.Extent.ROWS: sum, r.Extent.ROWS_IN_A_GROUP: max, r.Extent.GROUPS: len}[extent]
    return tuple(sum(has(rows) > rung for rows in counts.values()) for rung in RUNGS)


def people_beyond_are_counted() -> None:
    """Each person once, by what the caps left of them; whoever has no row, or no name, not at all."""
    data = many_rows(30, 12, 300, 5)
    for rows, groups in product((None, 1, 3), (None, 2, 20)):
        counts = defaultdict[int, list[int]](list)
        for (person, _), (n, _, _) in computed(data, r.Totals(below(BY_PERSON, rows, groups))).items():
            counts[person].append(n)
        for extent in r.Extent:
            query = r.Totals(r.Exceeding(below(BARE, rows, groups), extent, RUNGS))
            assert computed(data, query) == {(): beyond(counts, extent)}, (rows, groups, extent)


def test_people_beyond_are_counted() -> None:
    people_beyond_are_counted()


def nobody_is_counted_without_a_name() -> None:
    rows = [(None, "w0", 1)] * 9 + [(1, "w0", 1)] * 2 + [(1, None, 1)] + [(2, "w1", None)]
    for by_name in (nullcontext, arranged):
        with by_name():
            for extent, expected in (
                (r.Extent.ROWS, (2, 1, 1, 0)),
                (r.Extent.ROWS_IN_A_GROUP, (2, 1, 0, 0)),
                (r.Extent.GROUPS, (2, 1, 0, 0)),
            ):
                query = r.Totals(r.Exceeding(BARE, extent, (0, 1, 2, 3)))
                assert computed(table(rows), query) == {(): expected}, extent
                agree(table(rows), [query])
                assert set(computed(table([]), query).values()) <= {(0, 0, 0, 0)}, "of an empty table"


def test_nobody_is_counted_without_a_name() -> None:
    nobody_is_counted_without_a_name()


@st.composite
def exceeding(draw: st.DrawFn, columns: tuple[made.Column, ...]) -> r.Totals:
    """Any keys, any filter, any caps below; with terms and without."""
    person = next(column for column in columns if column.name == "person")
    terms = draw(st.sampled_from([(), (COUNT,)]))
    people = r.Contributions(draw(made.sources("t", columns)), person, draw(made.keys(columns)), terms)
    caps = st.none() | st.integers(1, 3)
    rungs = sorted(draw(st.sets(st.integers(0, 8), min_size=1, max_size=5)))
    return r.Totals(r.Exceeding(below(people, draw(caps), draw(caps)), draw(st.sampled_from(r.Extent)), tuple(rungs)))


@pytest.mark.parametrize("kept", [nullcontext, arranged], ids=["as-it-is", "arranged"])
@settings(max_examples=repeats(20), suppress_health_check=SLOW)
@given(data=st.data())
def test_engines_count_the_same_people(data: st.DataObject, kept: type[nullcontext[None]]) -> None:
    columns = data.draw(made.catalogs())
    rows = data.draw(made.tables(columns))
    queries = data.draw(st.lists(exceeding(columns), min_size=3, max_size=3))
    with kept():
        agree([Data("t", rows, columns, person=data.draw(st.sampled_from([None, "person"])))], queries, SALT)
