"""Sensitivities are what an exhaustive search over all neighbours of small data sets finds: no more, and no less."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from typing import Any, TypeAlias

import pytest

from discreet.errors import Invalid
from discreet.exact import shown
from discreet.mechanisms import sensitivity
from discreet.mechanisms.sensitivity import Sensitivity, total_mean
from discreet.privacy import Adjacency, Relation, Unit

Row: TypeAlias = tuple[int, Any]  # a group, a value
Rows: TypeAlias = tuple[Row, ...]  # of one unit
Vector: TypeAlias = tuple[Any, ...]

ADD_REMOVE, REPLACE = (Relation(adjacency, Unit.PERSON) for adjacency in Adjacency)
RELATIONS = [pytest.param(relation, id=relation.adjacency.value) for relation in (ADD_REMOVE, REPLACE)]
BOUNDS = [
    (0, 1),
    (0, 3),
    (-1, 1),
    (-1, 3),
    (-3, 1),
    (2, 3),
    (-3, -2),
    (1, 1),
    (0, 0),
    (Fraction(-1, 2), Fraction(2, 3)),
]


def units(cells: int, values: list[Any], rows: int, groups: int) -> list[Rows]:
    """All that one unit can hold: at most `groups` of the cells, and in each between one and `rows` rows of these values."""
    inside = [held for size in range(1, rows + 1) for held in combinations_with_replacement(values, size)]
    return [
        tuple((cell, value) for cell, held in zip(chosen, each, strict=True) for value in held)
        for size in range(groups + 1)
        for chosen in combinations(range(cells), size)
        for each in product(inside, repeat=size)
    ]


def neighbours(data: Rows, held: list[Rows], relation: Relation) -> Iterator[tuple[Rows, Rows]]:
    """The rows of others, with one more unit and without it, or with one unit and another in its place."""
    if relation.adjacency is Adjacency.ADD_REMOVE:
        return ((data, data + one) for one in held)
    return ((data + one, data + other) for one, other in combinations(held, 2))


def searched(
    answer: Callable[[Rows], Vector], others: list[Rows], held: list[Rows], relation: Relation
) -> tuple[Fraction, Fraction]:
    """The largest L1 and squared L2 distance of the answers of any two neighbours."""
    l1 = l2_squared = Fraction(0)
    remembered: dict[Rows, Vector] = {}
    for data in others:
        for x, y in neighbours(data, held, relation):
            for each in (x, y):
                if each not in remembered:
                    remembered[each] = answer(each)
            away = [abs(a - b) for a, b in zip(remembered[x], remembered[y], strict=True)]
            l1, l2_squared = max(l1, sum(away)), max(l2_squared, sum(d * d for d in away))
    return Fraction(l1), Fraction(l2_squared)


def is_exactly(found: Sensitivity, truth: tuple[Fraction, Fraction], relation: Relation) -> None:
    assert (found.l1, found.l2_squared) == truth
    assert found.relation == relation


def sums(cells: int) -> Callable[[Rows], Vector]:
    def answer(data: Rows) -> Vector:
        return tuple(sum(value for group, value in data if group == cell) for cell in range(cells))

    return answer


def people(values: list[Any], most: int) -> list[Rows]:
    """Data sets of up to so many others, with one row each, in cell 0."""
    return [
        tuple((0, value) for value in held)
        for size in range(most + 1)
        for held in combinations_with_replacement(values, size)
    ]


def domain(low: Any, high: Any) -> list[Any]:
    """The bounds, and between them the middle and zero where it lies there."""
    return sorted({low, high, (Fraction(low) + high) / 2, *([0] if low <= 0 <= high else [])})


def sums_are(relation: Relation, low: Any, high: Any, rows: int) -> None:
    """One sum; what drops rows, or a unit without any, is among the neighbours."""
    values = domain(low, high)
    truth = searched(sums(1), people(values, 2), units(1, values, rows, 1), relation)
    is_exactly(sensitivity.bounded_sum(relation, low, high, rows=rows), truth, relation)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("low", "high"), BOUNDS)
def test_a_sum_over_declared_bounds(low: Any, high: Any, relation: Relation) -> None:
    for rows in (1, 2, 3):
        sums_are(relation, low, high, rows)


def sums_of_all_are(relation: Relation, low: Any, high: Any, rows: int) -> None:
    """One sum, of units that have exactly so many rows, each of which surely contributes."""
    values = domain(low, high)
    held = [tuple((0, value) for value in each) for each in combinations_with_replacement(values, rows)]
    truth = searched(sums(1), people(values, 2), held, relation)
    is_exactly(sensitivity.bounded_sum(relation, low, high, rows=rows, surely=True), truth, relation)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("low", "high"), BOUNDS)
def test_a_sum_to_which_every_row_surely_contributes(low: Any, high: Any, relation: Relation) -> None:
    for rows in (1, 2, 3):
        sums_of_all_are(relation, low, high, rows)


def test_the_difference_of_bounds_needs_that_every_row_surely_contributes() -> None:
    """Ages in [20, 60]: where a filter may drop a row, replacing it moves the sum by 60 and not by 40."""
    assert sensitivity.bounded_sum(REPLACE, 20, 60, surely=True).l1 == 40
    assert sensitivity.bounded_sum(REPLACE, 20, 60).l1 == 60
    assert sensitivity.bounded_sum(REPLACE, -60, -20).l1 == 60
    assert sensitivity.bounded_sum(REPLACE, -20, 60).l1 == 80
    assert sensitivity.bounded_sum(ADD_REMOVE, -20, 60).l1 == 60


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_count_moves_by_the_rows_of_a_unit(relation: Relation) -> None:
    for rows in (1, 2, 4):
        held = [((0, 1),) * size for size in range(rows + 1)]  # so many of the unit's rows pass the condition
        truth = searched(sums(1), people([1], 3), held, relation)
        is_exactly(sensitivity.count(relation, rows=rows), truth, relation)
        assert truth[0] == rows


def grouped_sums_are(relation: Relation, low: Any, high: Any, rows: int, groups: int, cells: int) -> None:
    values = [low, high]
    truth = searched(sums(cells), [()], units(cells, values, rows, groups), relation)
    is_exactly(sensitivity.grouped_sum(relation, low, high, rows=rows, groups=groups, cells=cells), truth, relation)
    if cells >= 2 * groups:
        is_exactly(sensitivity.grouped_sum(relation, low, high, rows=rows, groups=groups), truth, relation)


SHAPES = [(1, 1, 1), (1, 1, 2), (2, 1, 2), (1, 2, 2), (1, 2, 3), (2, 2, 3), (1, 2, 4), (2, 2, 4), (1, 3, 4), (1, 4, 3)]


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("low", "high"), BOUNDS)
def test_grouped_sums(low: Any, high: Any, relation: Relation) -> None:
    """Rows in a group, groups of a unit, groups in all; a sum does not depend on the others, who are left out."""
    for rows, groups, cells in SHAPES:
        grouped_sums_are(relation, low, high, rows, groups, cells)


@pytest.mark.parametrize(("k", "c"), [(1, 1), (1, 5), (3, 1), (3, 5)])
def test_the_table_of_grouped_sums(k: int, c: int) -> None:
    """Δ₁ = kc and Δ₂ = √k·c under add/remove, 2kc and √(2k)·c under replace, and 2√k·c for values of both signs."""
    added = sensitivity.grouped_count(ADD_REMOVE, rows=c, groups=k)
    assert (added.l1, added.l2_squared) == (k * c, k * c**2)
    swapped = sensitivity.grouped_count(REPLACE, rows=c, groups=k)
    assert (swapped.l1, swapped.l2_squared) == (2 * k * c, 2 * k * c**2)
    signed = sensitivity.grouped_sum(REPLACE, -1, 1, rows=c, groups=k)
    assert (signed.l1, signed.l2_squared) == (2 * k * c, 4 * k * c**2)


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_histogram(relation: Relation) -> None:
    """A unit has so many rows in all, in any of three cells."""
    for rows in (1, 2, 3):
        held = [
            tuple((cell, 1) for cell in each)
            for size in range(rows + 1)
            for each in combinations_with_replacement(range(3), size)
        ]
        truth = searched(sums(3), people([1], 2), held, relation)
        is_exactly(sensitivity.histogram(relation, rows=rows), truth, relation)
    found = sensitivity.histogram(relation)
    expected = (1, 1) if relation is ADD_REMOVE else (2, 2)
    assert (found.l1, found.l2_squared) == expected


@pytest.mark.parametrize("relation", RELATIONS)
def test_statistical_queries(relation: Relation) -> None:
    """Σ q(x) for every q from rows of three kinds to {0, 1/2, 1}, and for all pairs of such q at once."""
    kinds, queries = range(3), list(product((Fraction(0), Fraction(1, 2), Fraction(1)), repeat=3))
    for rows in (1, 2):
        held = [
            tuple((0, kind) for kind in each)
            for size in range(rows + 1)
            for each in combinations_with_replacement(kinds, size)
        ]
        for many in (1, 2):
            worst = (Fraction(0), Fraction(0))
            for asked in combinations_with_replacement(queries, many):
                answer = lambda data, asked=asked: tuple(sum(q[kind] for _, kind in data) for q in asked)  # noqa: E731
                found = searched(answer, [()], held, relation)
                worst = max(worst[0], found[0]), max(worst[1], found[1])
            is_exactly(sensitivity.statistical(relation, queries=many, rows=rows), worst, relation)


def means_are(relation: Relation, low: Any, high: Any, least: int, rows: int) -> None:
    """Over all data sets of few rows: some smaller than `least`, the others so large that farther ones move less."""
    values = [low, high]

    def answer(data: Rows) -> Vector:
        return (total_mean([value for _, value in data], low, high, least=least),)

    truth = searched(answer, people(values, least + 1), units(1, values, rows, 1), relation)
    is_exactly(sensitivity.mean(relation, low, high, least=least, rows=rows), truth, relation)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("low", "high"), [(0, 1), (0, 150), (-1, 3), (2, 5), (-3, -2), (1, 1)])
def test_a_mean_over_declared_bounds(low: Any, high: Any, relation: Relation) -> None:
    for least, rows in product((1, 2, 3, 4), (1, 2, 3)):
        means_are(relation, low, high, least, rows)


def test_values_inside_the_bounds_move_a_mean_by_no_more() -> None:
    values = [Fraction(v) for v in (0, 1, 2, 3)]
    for relation in (ADD_REMOVE, REPLACE):
        for least in (1, 2, 3):

            def answer(data: Rows, least: int = least) -> Vector:
                return (total_mean([value for _, value in data], 0, 3, least=least),)

            truth = searched(answer, people(values, 4), units(1, values, 1, 1), relation)
            is_exactly(sensitivity.mean(relation, 0, 3, least=least), truth, relation)


def test_ages_of_at_least_100_people() -> None:
    """Average of ages in [0, 150]: 3/2 where one is replaced, 150/101 where one is added or removed."""
    assert sensitivity.mean(REPLACE, 0, 150, least=100).l1 == Fraction(3, 2)
    assert sensitivity.mean(ADD_REMOVE, 0, 150, least=100).l1 == Fraction(150, 101)
    old = [Fraction(150)] * 100
    assert total_mean(old, 0, 150, least=100) - total_mean([*old[1:], Fraction(0)], 0, 150, least=100) == Fraction(3, 2)
    assert total_mean(old, 0, 150, least=100) - total_mean([*old, Fraction(0)], 0, 150, least=100) == Fraction(150, 101)
    assert total_mean([], 0, 150, least=100) == 75
    assert total_mean([Fraction(10), Fraction(20)], 0, 150, least=2) == 15


def test_the_root_is_rounded_up_and_hardly() -> None:
    for squared in (Fraction(2), Fraction(1, 3), Fraction(10**9 + 7)):
        root = Sensitivity(Fraction(1), squared, REPLACE).l2
        assert root**2 >= squared > (root * (1 - Fraction(1, 2**62))) ** 2
    assert Sensitivity(Fraction(2), Fraction(9, 4), REPLACE).l2 == Fraction(3, 2)
    assert Sensitivity(Fraction(0), Fraction(0), REPLACE).l2 == 0


def refused(ask: Callable[[], object], name: str) -> None:
    with pytest.raises(Invalid, match=rf"^{name} ") as caught:
        ask()
    assert "31337" not in str(caught.value), "a message holds a data value"


@pytest.mark.parametrize("bad", [0, -1, 1.0, True, "1", None, [1]], ids=shown)
def test_bad_counts_are_refused_by_name(bad: Any) -> None:
    refused(lambda: sensitivity.count(REPLACE, rows=bad), "rows")
    refused(lambda: sensitivity.bounded_sum(REPLACE, 0, 1, rows=bad, surely=True), "rows")
    refused(lambda: sensitivity.grouped_sum(REPLACE, 0, 1, groups=bad), "groups")
    refused(lambda: sensitivity.histogram(REPLACE, rows=bad), "rows")
    refused(lambda: sensitivity.statistical(REPLACE, queries=bad), "queries")
    refused(lambda: sensitivity.statistical(REPLACE, rows=bad), "rows")
    refused(lambda: sensitivity.mean(REPLACE, 0, 1, least=bad), "least")
    refused(lambda: sensitivity.mean(REPLACE, 0, 1, least=1, rows=bad), "rows")
    if bad is not None:
        refused(lambda: sensitivity.grouped_sum(REPLACE, 0, 1, cells=bad), "cells")


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), True, "1", None, 10**9_999], ids=shown)
def test_bad_bounds_are_refused_by_name(bad: Any) -> None:
    for ask in (sensitivity.bounded_sum, sensitivity.grouped_sum):
        refused(lambda ask=ask: ask(REPLACE, bad, 1), "low")
        refused(lambda ask=ask: ask(REPLACE, 0, bad), "high")
        refused(lambda ask=ask: ask(REPLACE, 2, 1), "low")
    refused(lambda: sensitivity.mean(REPLACE, bad, 1, least=1), "low")
    refused(lambda: sensitivity.bounded_sum(REPLACE, 3, 1, surely=True), "low")


@pytest.mark.parametrize("bad", [None, "replace", Adjacency.REPLACE, 1], ids=shown)
def test_what_is_no_relation_is_refused(bad: Any) -> None:
    for ask in (sensitivity.count, sensitivity.histogram, sensitivity.statistical, sensitivity.grouped_count):
        refused(lambda ask=ask: ask(bad), "relation")
    refused(lambda: sensitivity.bounded_sum(bad, 0, 1, surely=True), "relation")
    refused(lambda: sensitivity.mean(bad, 0, 1, least=1), "relation")
    refused(lambda: Sensitivity(Fraction(1), Fraction(1), bad), "relation")


def test_other_bad_arguments_are_refused_by_name() -> None:
    refused(lambda: sensitivity.bounded_sum(REPLACE, 0, 1, surely=1), "surely")  # type: ignore[arg-type]
    refused(lambda: Sensitivity(Fraction(-1), Fraction(1), REPLACE), "l1")
    refused(lambda: Sensitivity(Fraction(1), Fraction(-1), REPLACE), "l2_squared")
    for bad in ([31337], [float("nan")], ["31337"]):
        refused(lambda bad=bad: total_mean(bad, 0, 1, least=1), "values")
