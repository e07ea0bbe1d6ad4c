"""What people count with, by value: by counting, in DuckDB as in plain Python, and never more than the caps left of them."""

import random
from collections import Counter
from contextlib import nullcontext
from fractions import Fraction
from itertools import product
from math import floor
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.engines.base import Data
from discreet.engines.duckdb import DuckDB
from discreet.engines.memory import MemoryEngine
from discreet.errors import Fault
from discreet.plan import relation as r
from discreet.plan import scalar as s
from discreet.plan.apportioned import Apportioned
from discreet.plan.combination import Combination
from discreet.plan.rules import apportioned as rules  # noqa: F401 (its rule registers itself)
from discreet.plan.rules.relations import MOST_TOTAL, combined
from discreet.plan.scalar import Column, Type
from discreet.privacy import Adjacency, Relation, Unit
from tests.engines.test_caps import COLUMNS, PERSON, SAME, VALUE, WARD, below, table
from tests.engines.twins import SALT, agree, arranged, computed
from tests.plan import strategies as made
from tests.plan.laws import Priorities
from tests.scale import repeats

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
FINE = r.Term(r.How.SUM, s.Literal(1 << 12, Type.INTEGER))
SCAN = r.Scan("t", COLUMNS)
WHOLE = Combination.plain(0)


def capped(people: r.Contributions, rows: int | None, groups: int | None, total: int | None) -> Any:
    kept = below(people, rows, groups)
    return kept if total is None else r.CapTotal(kept, total)


CAPS = list(product((None, 1, 3), (None, 1, 2), (None, 2)))


def some_rows(seed: int, people: int = 6, rows: int = 60) -> list[tuple[Any, str | None, int | None]]:
    """People, some of them nobody, with few values and with none, in few wards and in none."""
    chance = random.Random(seed)
    wards, values = ("w0", "w1", "w2", None), (1, 1, 1, 2, 5, -7, None)
    return [(chance.choice([*range(people), None]), chance.choice(wards), chance.choice(values)) for _ in range(rows)]


def values_share_what_a_person_counts_with() -> None:
    """floor(t·n_v/n), with n and n_v of the person's rows in the group that have a value, whatever the caps left of them."""
    rows = some_rows(3)
    there = Counter((who, ward, value) for who, ward, value in rows if who is not None and value is not None)
    of_group = Counter[Any]()
    for (who, ward, _), n in there.items():
        of_group[who, ward] += n
    people = r.Contributions(SCAN, PERSON, (SAME, WARD), (FINE,))
    for caps in CAPS:
        kept = capped(people, *caps)
        before = computed(table(rows), r.Totals(kept))
        expected = {
            (who, ward, value): (floor(Fraction(before[who, ward][0] * n, of_group[who, ward])),)
            for (who, ward, value), n in there.items()
            if (who, ward) in before
        }
        for by_name in (nullcontext, arranged):
            with by_name():
                assert computed(table(rows), r.Totals(Apportioned(kept, VALUE))) == expected, caps


def test_values_share_what_a_person_counts_with() -> None:
    values_share_what_a_person_counts_with()


def values_share_what_a_person_counts_with_slowly() -> None:
    """The same of the slow engine: rows without a value have no share, and take none away."""
    query = r.Totals(Apportioned(r.CapRows(r.Contributions(SCAN, PERSON, (WARD,), (FINE,)), 1), VALUE))
    assert vector([(1, "w0", 3), (1, "w0", None), (1, "w1", None)], query, 1) == Counter({("w0", 3): 1 << 12})


def test_values_share_what_a_person_counts_with_slowly() -> None:
    values_share_what_a_person_counts_with_slowly()


@st.composite
def apportioned(draw: st.DrawFn, columns: tuple[Column, ...]) -> r.Totals:
    """Any keys, any filter, any caps, any value."""
    person = next(column for column in columns if column.name == "person")
    source = draw(made.sources("t", columns))
    if draw(st.integers(0, 3)) == 0:
        source, columns = draw(made.rows_of_people(source, columns))
    count = st.sampled_from([s.Literal(1, Type.INTEGER), s.Literal(1 << 12, Type.INTEGER)])
    counted = r.Term(r.How.SUM, draw(count | st.builds(s.Indicator, made.scalars(Type.BOOLEAN, columns, 1))))
    people = r.Contributions(source, person, draw(made.keys(columns)), (counted,))
    caps = st.none() | st.integers(1, 3)
    kept = capped(people, draw(caps), draw(caps), draw(st.none() | st.integers(1, 5)))
    value = draw(st.sampled_from(Type).flatmap(lambda type: made.scalars(type, columns, 1)))
    return r.Totals(Apportioned(kept, value))


@pytest.mark.parametrize("kept", [nullcontext, arranged], ids=["as-it-is", "arranged"])
@settings(max_examples=repeats(20), suppress_health_check=SLOW)
@given(data=st.data())
def test_engines_tell_the_same_values_apart(data: st.DataObject, kept: type[nullcontext[None]]) -> None:
    columns = data.draw(made.catalogs())
    rows = data.draw(made.tables(columns))
    queries = data.draw(st.lists(apportioned(columns), min_size=4, max_size=4))
    with kept():
        agree([Data("t", rows, columns, person="person")], queries)


def vector(rows: list[tuple[Any, Any, Any]], query: r.Totals, salt: int) -> Counter[Any]:
    found = MemoryEngine(table(rows), lambda query, salt: Priorities(salt)).run(query, salt)
    return Counter({group: int(n) for group, n in zip(found.keys, found.totals[0], strict=True)})


def no_neighbour_moves_values_more(tries: int = 12) -> None:
    """Added, removed or replaced: in L1 and in L2 by no more than the rule says, with a cell for each group and value."""
    people = r.Contributions(SCAN, PERSON, (WARD,), (FINE,))
    for caps, adjacency in product(CAPS, Adjacency):
        rows, groups, total = caps
        if total is None and (rows is None or groups is None):
            continue
        query = r.Totals(Apportioned(capped(people, *caps), VALUE))
        allowed = combined(WHOLE, query, Relation(adjacency, Unit.PERSON), 4 * 5)
        for seed in range(repeats(tries)):
            others = [row for row in some_rows(seed, people=3, rows=12) if row[0] != 9]
            mine = [(9, ward, value) for _, ward, value in some_rows(100 + seed, rows=1 + seed % 9)]
            instead = [(9, ward, value) for _, ward, value in some_rows(200 + seed, rows=1 + seed % 7)]
            first = vector(others + mine, query, seed)
            second = vector(others + (instead if adjacency is Adjacency.REPLACE else []), query, seed)
            moved = [first[group] - second[group] for group in {*first, *second}]
            assert sum(map(abs, moved)) <= allowed.l1, (caps, adjacency)
            assert sum(by**2 for by in moved) <= allowed.l2_squared, (caps, adjacency)


def test_no_neighbour_moves_values_more() -> None:
    no_neighbour_moves_values_more()


def some_neighbour_moves_values_as_much() -> None:
    """The bounds are reached: by one person with as many rows as count, and by one who replaces all of them with others."""
    people = r.Contributions(SCAN, PERSON, (WARD,), (FINE,))
    query = r.Totals(Apportioned(r.CapGroups(r.CapRows(people, 2), 1), VALUE))
    first, second = [(9, "w0", 1), (9, "w0", 2)], [(9, "w1", 5)] * 2
    one, other = vector(first, query, 1), vector(second, query, 1)
    relation = Relation(Adjacency.ADD_REMOVE, Unit.PERSON)
    assert sum(one.values()) == combined(WHOLE, query, relation, 20).l1 == 2 << 12
    replaced = combined(WHOLE, query, Relation(Adjacency.REPLACE, Unit.PERSON), 20).l1
    assert sum(abs(one[key] - other[key]) for key in {*one, *other}) == replaced == 4 << 12


def test_some_neighbour_moves_values_as_much() -> None:
    some_neighbour_moves_values_as_much()


def only_counts_are_told_apart() -> None:
    """What may be negative, is of people, or was told apart before is refused; and nothing is capped or gathered after it."""
    whole = r.Contributions(SCAN, PERSON, (WARD,), (FINE,))
    steps = s.Steps(VALUE, -4.0, 4.0, 0, 0.0)
    once: Any = Apportioned(r.CapRows(whole, 1), VALUE)
    faults = [
        Apportioned(r.CapRows(r.Contributions(SCAN, PERSON, (WARD,), (r.Term(how, value),)), 1), VALUE)
        for how, value in ((r.How.SUM, steps), (r.How.MEAN, steps), (r.How.ANY, s.Literal(1, Type.INTEGER)))
    ]
    faults += [Apportioned(each, VALUE) for each in (once, r.ClipNorm(r.CapRows(whole, 1), (1,)), SCAN)]  # type: ignore[arg-type]
    faults += [r.CapRows(once, 1), r.CapGroups(once, 1), r.CapTotal(once, 1), r.ClipNorm(once, (1,))]  # type: ignore[list-item]
    for each in faults:
        with pytest.raises(Fault):
            combined(WHOLE, r.Totals(each), Relation(Adjacency.ADD_REMOVE, Unit.PERSON), 4)


def test_only_counts_are_told_apart() -> None:
    only_counts_are_told_apart()


def shares_of_a_full_table_are_right() -> None:
    """All rows of the largest table are one person's, of two values, and no limit is narrow: the product does not fit 64 bits."""
    from discreet.engines.render.apportioned import _share
    from discreet.engines.render.duckdb import DUCKDB
    from discreet.engines.render.relations import Writer

    people = r.Contributions(SCAN, PERSON, (), (FINE,))
    rows = r.MOST_ROWS
    for most in (1, 3, 4096, 4097, MOST_TOTAL):
        t = min(most, rows) << 12
        relation = Apportioned(r.CapTotal(people, most), VALUE)
        for part in (1, rows // 3, rows - 1, rows):
            share = DUCKDB.text(_share(relation, 0, Writer({}, DUCKDB)))
            values = f'SELECT {t}::BIGINT AS "total0", {part}::BIGINT AS "some rows", {rows}::BIGINT AS "all rows"'
            with DuckDB([], threads=1) as engine:
                try:
                    ((found,),) = engine._connection.execute(f"SELECT {share} FROM ({values})").fetchall()
                except duckdb.Error as error:
                    raise AssertionError("an engine fails for what somebody has") from error
            assert found == t * part // rows, (most, part)


def test_shares_of_a_full_table_are_right() -> None:
    shares_of_a_full_table_are_right()


def test_salts_do_not_matter_to_whoever_is_within_the_limits() -> None:
    rows = some_rows(5)
    query = r.Totals(Apportioned(r.CapRows(r.Contributions(SCAN, PERSON, (WARD,), (FINE,)), 100), VALUE))
    assert computed(table(rows), query) == computed(table(rows), query, SALT + 1)
