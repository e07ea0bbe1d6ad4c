"""Products of what people give to two sums: by multiplication, and in DuckDB as in plain Python, whatever keys, terms and caps are."""

from contextlib import nullcontext
from itertools import combinations_with_replacement, product
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.engines.base import Data
from discreet.errors import Fault
from discreet.plan import relation as r
from discreet.plan.rules.relations import reach_into
from discreet.privacy import Unit
from tests.engines.test_caps import BY_PERSON, below, many_rows, table
from tests.engines.twins import SALT, agree, arranged, computed
from tests.plan import strategies as made
from tests.scale import repeats

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
PAIRS = tuple(combinations_with_replacement(range(3), 2))
SHIFTS = (0, 14, 0)


def halves_up(t: int, shift: int) -> int:
    """t/2^shift, to the nearest whole number."""
    return (2 * t + 2**shift) // 2 ** (shift + 1)


def people_are_multiplied() -> None:
    """Each person by themselves, after all caps: BY_PERSON has a key that says who they are, so that a group is of one person."""
    data = many_rows(20, 8, 200, 5)
    for rows, groups, total in product((None, 1, 3), (None, 2), (None, 4)):
        source: Any = below(BY_PERSON, rows, groups)
        source = source if total is None else r.CapTotal(source, total)
        kept = computed(data, r.Totals(source))
        found = computed(data, r.Totals(r.SecondMoments(source, PAIRS, SHIFTS)))
        assert found.keys() == kept.keys()
        for group, terms in kept.items():
            coarse = [halves_up(t, shift) for t, shift in zip(terms, SHIFTS, strict=True)]
            assert found[group] == tuple(coarse[a] * coarse[b] for a, b in PAIRS), (rows, groups, total)


def test_people_are_multiplied() -> None:
    people_are_multiplied()


@pytest.mark.parametrize("shift", [0, 1, 5])
def test_steps_are_the_nearest_ones(shift: int) -> None:
    """Of numbers of both signs, at halves too."""
    values = range(-70, 71)
    data = table((i, "w", value) for i, value in enumerate(values))
    found = computed(data, r.Totals(r.SecondMoments(BY_PERSON, ((0, 1),), (0, shift, 0))))
    assert sorted(found.values()) == sorted((halves_up(value, shift),) for value in values)


@st.composite
def multiplied(draw: st.DrawFn, columns: tuple[made.Column, ...]) -> r.Totals:
    """Any keys, any filter, any terms, any caps below; steps as coarse as they come, and as fine as they fit."""
    person = next(column for column in columns if column.name == "person")
    terms = tuple(draw(st.lists(made.terms(columns), min_size=1, max_size=3)))
    people = r.Contributions(draw(made.sources("t", columns)), person, draw(made.keys(columns)), terms)
    caps = st.none() | st.integers(1, 3)
    source: Any = below(people, draw(caps), draw(caps))
    if draw(st.booleans()):
        source = r.CapTotal(source, draw(st.integers(1, 5)))
    pairs = draw(st.lists(st.sampled_from(list(combinations_with_replacement(range(len(terms)), 2))), min_size=1))
    shifts = draw(st.lists(st.integers(10, 26), min_size=len(terms), max_size=len(terms)))
    return r.Totals(r.SecondMoments(source, tuple(dict.fromkeys(pairs)), tuple(shifts)))


@pytest.mark.parametrize("kept", [nullcontext, arranged], ids=["as-it-is", "arranged"])
@settings(max_examples=repeats(6), suppress_health_check=SLOW)
@given(data=st.data())
def test_engines_multiply_alike(data: st.DataObject, kept: type[nullcontext[None]]) -> None:
    columns = data.draw(made.catalogs())
    rows = data.draw(made.tables(columns))
    queries = data.draw(st.lists(multiplied(columns), min_size=3, max_size=3))
    with kept():
        agree([Data("t", rows, columns, person=data.draw(st.sampled_from([None, "person"])))], queries, SALT)


def test_only_what_people_give_to_sums_is_multiplied() -> None:
    once: Any = r.SecondMoments(BY_PERSON, ((0, 0),), SHIFTS)
    faults: list[Any] = [
        r.SecondMoments(once, ((0, 0),), SHIFTS),
        r.SecondMoments(r.Exceeding(BY_PERSON, r.Extent.ROWS, (1,)), ((0, 0),), SHIFTS),  # type: ignore[arg-type]
        r.SecondMoments(BY_PERSON, ((0, 3),), SHIFTS),
        r.SecondMoments(BY_PERSON, ((0, 0),), (0, 0)),
        r.CapTotal(once, 3),
    ]
    for each in faults:
        with pytest.raises(Fault):
            reach_into(each, Unit.PERSON)
