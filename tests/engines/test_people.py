"""Rows of people in both engines: the same to the last bit, in a table as it is and in one that is arranged by person and cut in slices."""

import random
from typing import Any

from discreet.engines.base import Data
from discreet.plan import relation as r
from discreet.plan import scalar as s
from discreet.plan.scalar import Column, Type
from tests.engines.twins import agree, arranged

COLUMNS = (
    Column("who", Type.TEXT),
    Column("x", Type.NUMBER),
    Column("n", Type.INTEGER),
    Column("t", Type.TEXT),
    Column("b", Type.BOOLEAN),
)
WHO, X, N, T, B = COLUMNS
STEPS = s.Steps(X, -2.0, 2.0, 10, 0.25)
ONE = s.Literal(1, Type.INTEGER)


def table(draw: random.Random, rows: int = 40) -> dict[str, list[Any]]:
    """Few people, some of them nobody, with values at the ends, both zeros and nothing."""
    pools: dict[str, list[Any]] = {
        "who": ["a", "b", "c", "d", "", None],
        "x": [0.0, -0.0, 1.5, -2.5, 1e308, float("inf"), 0.1, 0.2, None],
        "n": [0, 1, -7, 2**62, None],
        "t": ["k", "K", "", "é", None],
        "b": [True, False, None],
    }
    return {name: draw.choices(pool, k=rows) for name, pool in pools.items()}


def features() -> tuple[r.PersonFeature, ...]:
    """Every way to gather, of every type."""
    how = [
        (r.Summary.SUM, each) for each in (ONE, STEPS, s.Product(STEPS, STEPS, 4, 0), s.Indicator(s.Not(s.IsNull(X))))
    ]
    how += [(each, column) for each in r.Summary if each is not r.Summary.SUM for column in (X, N, T, B)]
    return tuple(
        r.PersonFeature(
            Column(f"f{i}", s.type_of(value) if each in (r.Summary.LEAST, r.Summary.LARGEST) else Type.INTEGER),
            each,
            value,
        )
        for i, (each, value) in enumerate(how)
    )


def queries() -> list[r.Totals]:
    """Each feature as a group, and as what is summed; rows of people once, by key, and again of these."""
    made = features()
    scan = r.Filter(r.Scan("t", COLUMNS), s.Not(s.Comparison(s.Order.EQUAL, T, s.Literal("K", Type.TEXT))))
    key = Column("k", Type.TEXT)
    once, keyed = r.PerPerson(scan, WHO, (), made), r.PerPerson(scan, WHO, ((key, T),), made)
    count, mean = r.Term(r.How.SUM, ONE), r.Term(r.How.MEAN, STEPS)
    found = [r.Totals(r.Contributions(rows, WHO, (each.column,), (count,))) for rows in (once, keyed) for each in made]
    numbers = [each.column for each in made if each.column.type.numeric]
    summed = tuple(r.Term(r.How.SUM, s.Steps(each, -100.0, 100.0, 4, 0.0)) for each in numbers)
    found += [r.Totals(r.Contributions(rows, WHO, (), summed)) for rows in (once, keyed)]
    again = r.PerPerson(keyed, WHO, (), (r.PersonFeature(Column("g", Type.INTEGER), r.Summary.SUM, ONE),))
    found.append(r.Totals(r.Contributions(again, WHO, (Column("g", Type.INTEGER),), (count,))))
    capped = r.CapGroups(r.CapRows(r.Contributions(keyed, WHO, (key,), (count,)), 1), 2)
    found += [r.Totals(capped), r.Totals(r.CapTotal(capped, 2))]
    found += [r.Totals(r.Exceeding(r.Contributions(keyed, WHO, (key,), ()), extent, (0, 1, 2))) for extent in r.Extent]
    found.append(r.Totals(r.CapGroups(r.CapRows(r.Contributions(scan, WHO, (T,), (mean, count)), 1), 2)))
    return found


def both_engines_gather_alike() -> None:
    for seed in range(3):
        agree([Data("t", table(random.Random(seed)), COLUMNS, person="who")], queries())


def both_engines_gather_alike_in_slices() -> None:
    with arranged():
        for threads in (1, 3):
            agree([Data("t", table(random.Random(threads)), COLUMNS, person="who")], queries(), threads=threads)


def test_both_engines_gather_alike() -> None:
    both_engines_gather_alike()


def test_both_engines_gather_alike_in_slices() -> None:
    both_engines_gather_alike_in_slices()


def test_names_are_never_taken_for_our_own() -> None:
    """Features that are called like what a table or we have besides."""
    names = ("number", "hash", "of person", "of key0", "of feature1", "key0", "total0", "#0", "rows", "person")
    scan = r.Scan("t", COLUMNS)
    made = tuple(r.PersonFeature(Column(name, Type.INTEGER), r.Summary.SUM, ONE) for name in names)
    people = r.Filter(r.PerPerson(scan, WHO, (), made), s.Comparison(s.Order.GREATER, made[0].column, ONE))
    terms = tuple(r.Term(r.How.SUM, s.Steps(each.column, 0.0, 9.0, 0, 0.0)) for each in made)
    asked = [r.Totals(r.Contributions(people, WHO, (each.column,), terms)) for each in made]
    agree([Data("t", table(random.Random(5)), COLUMNS, person="who")], asked)
    with arranged():
        agree([Data("t", table(random.Random(5)), COLUMNS, person="who")], asked)
