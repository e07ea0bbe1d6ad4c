"""Nobody counts in more groups, with more rows, or with a longer vector than the caps allow; and which groups count is chance alone."""

import random
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations
from math import isqrt
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import parse_one

from discreet.engines.base import Data
from discreet.engines.duckdb import DuckDB
from discreet.engines.memory import MemoryEngine
from discreet.engines.render.nodes import T, bare_integer, cast
from discreet.engines.render.relations import Writer
from discreet.plan import relation as r
from discreet.plan import scalar as s
from discreet.plan.rules.relations import MOST_TOTAL
from discreet.plan.scalar import Column, Type
from tests.engines.twins import SALT, arranged, by_group, computed
from tests.scale import repeats

PERSON, SAME, WARD = Column("person", Type.INTEGER), Column("same", Type.INTEGER), Column("ward", Type.TEXT)
VALUE = Column("value", Type.INTEGER)
COLUMNS = (PERSON, SAME, WARD, VALUE)  # `same` says who it is too, so that a query can be grouped by it
MOST = 2**24
COUNT = r.Term(r.How.SUM, s.Literal(1, Type.INTEGER))
SUM = r.Term(r.How.SUM, s.Steps(VALUE, float(-MOST), float(MOST), 0, 0.0))
ANY = r.Term(r.How.ANY, s.Indicator(s.Comparison(s.Order.GREATER, VALUE, s.Literal(0, Type.INTEGER))))
BY_PERSON = r.Contributions(r.Scan("t", COLUMNS), PERSON, (SAME, WARD), (COUNT, SUM, ANY))

# Quantiles of chi-square at 1 - 1e-6, by degrees of freedom.
CHI_SQUARE = {14: 56.5, 1: 23.93}


def table(rows: Iterable[tuple[Any, str | None, int | None]]) -> list[Data]:
    columns = list(zip(*((person, person, ward, value) for person, ward, value in rows), strict=True)) or [[]] * 4
    named = {column.name: list(values) for column, values in zip(COLUMNS, columns, strict=True)}
    return [Data("t", named, COLUMNS, person="person")]


def many_rows(people: int, wards: int, rows: int, seed: int) -> list[Data]:
    chance = random.Random(seed)
    values = (0, 1, -1, 7, MOST, -MOST, 2**62, None)
    return table((chance.randrange(people), f"w{chance.randrange(wards)}", chance.choice(values)) for _ in range(rows))


@pytest.mark.parametrize("groups", [1, 3, 20])
@pytest.mark.parametrize("rows", [1, 2, 5])
def test_nobody_is_in_more_groups_or_with_more_rows(groups: int, rows: int) -> None:
    """Of people in up to 40 groups, some with many rows in one of them; k above and below the use of a mask."""
    data = many_rows(30, 40, 1500, groups * 10 + rows)
    query = r.Totals(r.CapGroups(r.CapRows(BY_PERSON, rows), groups))
    whole = computed(data, r.Totals(BY_PERSON))
    for salt in range(3):
        found = computed(data, query, salt << 60)
        kept = Counter(person for person, _ in found)
        there = Counter(person for person, _ in whole)
        assert kept == {person: min(n, groups) for person, n in there.items()}
        for group, (n, total, present) in found.items():
            assert n == min(whole[group][0], rows)
            assert abs(total) <= rows * MOST
            assert present == whole[group][2]


def test_rows_without_a_person_count_for_nobody() -> None:
    data = table([(None, "w0", 1), (None, "w1", 1), (1, "w0", 1)])
    assert computed(data, r.Totals(BY_PERSON)) == {(1, "w0"): (1, 1, 1)}
    with arranged():
        assert computed(data, r.Totals(BY_PERSON)) == {(1, "w0"): (1, 1, 1)}


@pytest.mark.parametrize("most", [1, 2, 5])
def test_a_tie_keeps_no_more_and_the_first_keys(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def tie(self: Writer, hashed: Any, keys: Any) -> Any:
        return cast(bare_integer(7), T.UBIGINT)

    monkeypatch.setattr(Writer, "priority", tie)
    wards = ["b", "a", None, "Z", "ä", "", "c"]
    data = table((person, ward, 1) for person in range(5) for ward in wards)
    first = ["", "Z", "a", "b", "c", "ä", None][:most]
    for order in (data, [Data("t", {k: v[::-1] for k, v in data[0].source.items()}, COLUMNS)]):
        found = computed(order, r.Totals(r.CapGroups(BY_PERSON, most)))
        assert set(found) == {(person, ward) for person in range(5) for ward in first}


def kept_pairs(salt: int, people: int, wards: int, most: int) -> dict[int, frozenset[str]]:
    data = table((person, f"w{ward}", 1) for person in range(people) for ward in range(wards))
    found = computed(data, r.Totals(r.CapGroups(BY_PERSON, most)), salt)
    kept: dict[int, set[str]] = {}
    for person, ward in found:
        kept.setdefault(person, set()).add(ward)
    return {person: frozenset(some) for person, some in kept.items()}


def test_which_groups_are_kept_is_uniform_over_people_and_over_salts() -> None:
    """α = 1e-6 each. Power: with a salt that does not reshuffle all of the second counts are in one cell."""
    people, before = repeats(2000), None
    for salt in (0, 1, SALT):
        kept = kept_pairs(salt, people, 6, 2)
        counts = Counter(kept.values())
        expected = people / 15
        pairs = [frozenset(f"w{i}" for i in pair) for pair in combinations(range(6), 2)]
        assert sum((counts[pair] - expected) ** 2 / expected for pair in pairs) < CHI_SQUARE[14]
        if before is not None:
            again = sum(kept[person] == before[person] for person in kept)
            assert (again - expected) ** 2 / (expected * 14 / 15) < CHI_SQUARE[1]
        before = kept


def test_a_choice_depends_on_the_person_alone() -> None:
    """Other people, other rows of them, and the order of rows change nothing."""
    mine = [(7, f"w{ward}", ward) for ward in range(9)]
    query = r.Totals(r.CapGroups(r.CapRows(BY_PERSON, 1), 3))
    alone = {group: found for group, found in computed(table(mine), query).items() if group[0] == 7}
    others = [(person, f"w{ward}", 3) for person in (1, 2, 8, None) for ward in range(12)]
    for rows in (mine + others, others + mine[::-1]):
        found = computed(table(rows), query)
        assert {group: each for group, each in found.items() if group[0] == 7} == alone
        with arranged():
            found = computed(table(rows), query)
        assert {group: each for group, each in found.items() if group[0] == 7} == alone


def test_a_person_with_very_many_rows_counts_as_few() -> None:
    n = repeats(20_000)
    data = table([*((1, "w0", MOST) for _ in range(n)), (2, "w0", 5)])
    found = computed(data, r.Totals(r.CapRows(BY_PERSON, 3)))
    assert found == {(1, "w0"): (3, 3 * MOST, 1), (2, "w0"): (1, 5, 1)}


def test_capped_sums_are_right_on_average() -> None:
    """Each person's sum is 7 in 4 rows of which 2 count: 3.5 on average, within five standard errors of 1/2."""
    people = repeats(2000)
    data = table((person, "w0", value) for person in range(people) for value in (1, 1, 2, 3))
    found = computed(data, r.Totals(r.CapRows(BY_PERSON, 2)))
    sums = [total for _, total, _ in found.values()]
    assert set(sums) == {3, 4}
    assert abs(sum(sums) - 3.5 * people) < 5 * 0.5 * people**0.5


def below(people: r.Contributions, rows: int | None, groups: int | None) -> r.Contributions | r.CapRows | r.CapGroups:
    capped = people if rows is None else r.CapRows(people, rows)
    return capped if groups is None else r.CapGroups(capped, groups)


@pytest.mark.parametrize("groups", [None, 2, 20])
@pytest.mark.parametrize("rows", [None, 1, 3])
def test_nobody_counts_with_more_rows_in_all(rows: int | None, groups: int | None) -> None:
    """Exactly, in integers: everybody beyond the limit by one factor, toward 0; who is within it, and people, as they were."""
    data = many_rows(30, 12, 900, 7)
    before = computed(data, r.Totals(below(BY_PERSON, rows, groups)))
    in_all = Counter[Any]()
    for (person, _), (n, _, _) in before.items():
        in_all[person] += n
    for most in (1, 4, 29, 10**6):
        query = r.Totals(r.CapTotal(below(BY_PERSON, rows, groups), most))
        scaled = computed(data, query)
        with arranged():
            assert computed(data, query) == scaled
        assert scaled.keys() == before.keys()
        for (person, ward), (n, total, present) in before.items():
            share = min(Fraction(most, in_all[person]), Fraction(1))
            assert scaled[person, ward] == (int(n * share), int(total * share), present)


def test_one_group_counts_with_exactly_the_limit() -> None:
    """Whoever has n rows and counts with m < n of them counts with m, for every m and n: a factor in doubles gives one less of some."""
    people = r.Contributions(r.Scan("t", COLUMNS), PERSON, (SAME,), (COUNT,))
    data = table((n, "w0", 1) for n in range(1, 120) for _ in range(n))
    for most in (1, 3, 7, 50):
        counted = computed(data, r.Totals(r.CapTotal(people, most)))
        assert counted == {(n,): (min(n, most),) for n in range(1, 120)}


def test_the_rows_of_a_full_table_are_scaled_without_overflow(monkeypatch: pytest.MonkeyPatch) -> None:
    """All rows of the largest table are one person's, each at a bound, and the limit is the widest that there is."""
    size = r.MOST_ROWS * MOST
    for total in (size, -size, size - 1, 1 - size, 12345, 0):
        one = f'SELECT 1 AS "person", {r.MOST_ROWS} AS "rows", CAST({total} AS BIGINT) AS "total0"'
        monkeypatch.setattr(Writer, "contributed", lambda self, contributions, caps, one=one: parse_one(one))
        people = r.Contributions(r.Scan("t", COLUMNS), PERSON, (), (SUM,))
        for most in (1, 1000, MOST_TOTAL):
            with DuckDB(table([(1, "w0", 1)]), threads=1) as engine:
                scaled = engine.run(r.Totals(r.CapTotal(people, most)), SALT).totals[0]
            assert scaled.tolist() == [int(Fraction(total * most, r.MOST_ROWS))]


vectors = st.lists(
    st.integers(-MOST, MOST) | st.integers(-3, 3) | st.sampled_from([MOST, -MOST, 0]), min_size=1, max_size=6
)


@settings(max_examples=repeats(30))
@given(
    people=st.lists(vectors, min_size=20, max_size=40),
    limit=st.sampled_from([1, 2, 3, 5, 1000, MOST, 3 * MOST, 2**40]) | st.integers(1, 2 * MOST),
    capped=st.booleans(),
)
def test_a_clipped_vector_is_no_longer_than_its_limit(people: list[list[int]], limit: int, capped: bool) -> None:
    """Exactly, in integers; and no shorter than truncation makes it."""
    data = table((i, f"w{j}", x) for i, vector in enumerate(people) for j, x in enumerate(vector))
    source = r.Contributions(r.Scan("t", COLUMNS), PERSON, (SAME, WARD), (SUM,))
    query = r.Totals(r.ClipNorm(r.CapRows(source, 1) if capped else source, (limit,)))
    with DuckDB(data, threads=1) as engine:
        found = by_group(engine._run(query, SALT))
        assert found == by_group(MemoryEngine(data, engine.priorities).run(query, SALT))
    for i, vector in enumerate(people):
        clipped = [found[i, f"w{j}"][0] for j in range(len(vector))]
        norm = sum(x * x for x in vector)
        assert sum(y * y for y in clipped) <= limit * limit
        if norm * (1 + 2**-30) <= limit * limit:
            assert clipped == vector
        for x, y in zip(vector, clipped, strict=True):
            ideal = abs(x) * min(limit, isqrt(norm) + 1) / (isqrt(norm) + 1)
            assert 0 <= y * (1 if x >= 0 else -1) <= abs(x)
            assert abs(y) >= ideal * (1 - 1e-9) - 1


def test_all_terms_are_shortened_by_one_factor() -> None:
    data = table([(1, "w0", 30), (1, "w1", 40), (2, "w0", 3)])
    query = r.Totals(r.ClipNorm(BY_PERSON, (100, 25, 100)))
    assert computed(data, query) == {(1, "w0"): (0, 14, 0), (1, "w1"): (0, 19, 0), (2, "w0"): (1, 3, 1)}


@pytest.mark.parametrize("type", [Type.TEXT, Type.INTEGER, Type.NUMBER])
def test_people_are_told_apart_by_value(type: Type) -> None:
    values = {
        Type.TEXT: ["1", "01", "1 ", "a", "A", "é", "e\u0301", "", "\x00"],
        Type.INTEGER: [0, 1, -1, 2**63 - 1, -(2**63), 2**53, 2**53 + 1],
        Type.NUMBER: [0.0, 1.0, -0.5, 5e-324, 2.0**53 - 1],
    }[type]
    person = Column("person", type)
    columns = (person, WARD)
    rows = [(value, f"w{ward}") for value in [*values, None] for ward in range(4)]
    if type is Type.NUMBER:  # both zeros are one; what is not a number is nobody, and what a reader may have rounded
        rows += [(nobody, "w0") for nobody in (-0.0, float("nan"), 2.0**53, -1e300, float("inf"))]
    data = [Data("t", {"person": [p for p, _ in rows], "ward": [w for _, w in rows]}, columns, person="person")]
    people = r.Contributions(r.Scan("t", columns), person, (WARD,), (r.Term(r.How.ANY, s.Literal(1, Type.INTEGER)),))
    n = len(values)
    assert computed(data, r.Totals(people)) == {(f"w{ward}",): (n,) for ward in range(4)}
    with arranged():
        assert computed(data, r.Totals(people)) == {(f"w{ward}",): (n,) for ward in range(4)}
        assert sum(each for (each,) in computed(data, r.Totals(r.CapGroups(people, 2))).values()) == 2 * n
