"""Whose rows are used: at most so many of each person, by a priority that depends on nobody else."""

from collections.abc import Hashable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import chdtrc

from discreet.errors import Invalid
from discreet.learn.people import LONG, MOST_ROWS_EACH, RowsOfPeople
from discreet.learn.training_plan import STEPS_OF_CLIP
from discreet.noise import Tape
from tests.learn.cases import NO_NUMBERS, Telling, nothing_told
from tests.scale import repeats

IDS = st.lists(st.one_of(st.none(), st.integers(0, 4), st.sampled_from(["a", "b", "1", ""]), st.just(float("nan"))))


@given(IDS, st.integers(1, 4), st.integers(0, 1000))
def test_each_person_has_at_most_so_many_rows_of_their_own(ids: list[Any], most: int, seed: int) -> None:
    rows_are_of_their_person(ids, most, seed)


def rows_are_of_their_person(ids: list[Any] | None = None, most: int = 2, seed: int = 1) -> None:
    given_ids = [1, 1, 1, 2, None, "1", 1, 2, 2, float("nan"), 3] if ids is None else ids
    people = RowsOfPeople(given_ids, most, Tape(seed))
    known = [each for each in given_ids if each is not None and each == each]
    assert len(people) == len({(type(each), each) for each in known})
    for person in range(len(people)):
        rows, firsts = people.of(np.array([person]))
        names = {(type(given_ids[row]), given_ids[row]) for row in rows}
        assert firsts.tolist() == [0] and len(names) == 1
        name = names.pop()
        assert len(set(rows.tolist())) == len(rows) == min(most, [(type(each), each) for each in known].count(name))


def test_a_batch_has_the_rows_of_its_people_one_after_the_other() -> None:
    people = RowsOfPeople([5, 6, 5, 7, 5, 6], 2)
    rows, firsts = people.of(np.array([2, 0]))
    alone = [people.of(np.array([person]))[0].tolist() for person in (2, 0)]
    assert rows.tolist() == alone[0] + alone[1] and firsts.tolist() == [0, len(alone[0])]
    every, begins = people.of(slice(None))
    assert sorted(every.tolist()) == sorted(people.rows.tolist()) and len(begins) == 3


def test_every_row_of_a_person_is_as_likely_as_the_others() -> None:
    rows_are_equally_likely()


def rows_are_equally_likely() -> None:
    """Pairs out of four rows, by chi-square over six pairs; a false alarm with probability 1e-6."""
    draws = repeats(3_000)
    counts: dict[tuple[int, ...], int] = {}
    for _ in range(draws):
        rows, _ = RowsOfPeople([9, 9, 9, 9], 2).of(slice(None))
        kept = tuple(sorted(rows.tolist()))
        counts[kept] = counts.get(kept, 0) + 1
    expected = draws / 6
    statistic = sum((count - expected) ** 2 / expected for count in counts.values())
    assert len(counts) == 6 and chdtrc(5, statistic) > 1e-6


def test_what_a_person_adds_can_be_summed_exactly() -> None:
    assert LONG * STEPS_OF_CLIP * MOST_ROWS_EACH < 1 << 53
    with pytest.raises(Invalid, match="at most 1,024 a person"):
        RowsOfPeople([1], MOST_ROWS_EACH + 1)


def no_id_raises() -> None:
    """What cannot be compared is nobody: an error would tell that somebody is called so."""
    for each in (*(cell for cell in NO_NUMBERS if not isinstance(cell, Telling)), {"a": 1}, np.zeros(2)):
        with nothing_told():
            people = RowsOfPeople(["a", each, "a"], 3)
        told = isinstance(each, Hashable) and not isinstance(each, Decimal | None)
        assert len(people) == 1 + told and sorted(people.of(np.array([0]))[0].tolist()) == [0, 2]


def test_no_id_raises() -> None:
    no_id_raises()


def equal_ids_are_one_person() -> None:
    """Wherever they come from: a column that was put together out of several holds numbers of several types, and NAs of several kinds."""
    mixed = [1, np.int64(1), 1.0, np.float32(1), "1", np.str_("1"), None, pd.NA, pd.NaT, float("nan"), 2]
    for ids in (mixed, np.array(mixed, object), pd.Series(mixed, dtype=object), iter(mixed)):
        people = RowsOfPeople(ids, 4)
        assert [sorted(people.of(np.array([i]))[0].tolist()) for i in range(3)] == [[0, 1, 2, 3], [4, 5], [10]]
        assert len(people) == 3


def test_equal_ids_are_one_person() -> None:
    equal_ids_are_one_person()
