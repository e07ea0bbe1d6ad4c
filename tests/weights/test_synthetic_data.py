"""Synthetic data: rows of a model and of nothing else, as many as are asked for, in the attributes' own types."""

from itertools import product as combinations
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.cli import synth
from discreet.errors import Invalid
from discreet.mechanisms.measure import unmetered
from discreet.noise import Tape
from discreet.weights import Domain, Learned, independent, synthetic, synthetic_data
from tests.weights.synthesis import KINDS, SMALL, measured, stopped_after, table, unlooked


def learned_of(domain: Domain = SMALL, impossible: Any = (), seed: int = 1) -> Learned:
    source = table(600, domain, seed)
    return independent(measured(source, unmetered(Tape(seed))), epsilon=5, impossible=impossible)


def as_many_rows_as_asked() -> None:
    """Any number, also over several draws; without one as many as the model stands for."""
    model = learned_of().model
    for rows in (0, 1, 17):
        with mock.patch.object(synthetic_data, "ROWS", 5):
            data = synthetic(model, rows)
        assert len(data) == len(data.to_dicts()) == rows and len(data.to_csv().splitlines()) == rows + 1
    assert len(synthetic(model)) == round(model.total)


def test_as_many_rows_as_asked() -> None:
    as_many_rows_as_asked()


@pytest.mark.parametrize("rows", [-1, 1.5, True, "10", 10**12])
def test_a_number_of_rows_is_a_whole_number_that_fits(rows: Any) -> None:
    with pytest.raises(Invalid, match=r"rows must be|rows are drawn at once"):
        synthetic(learned_of().model, rows)


def nothing_exact_is_looked_at() -> None:
    """A model that was released gives rows, though nobody can look at the data any more; nor is anything spent for them."""
    measure, source = unmetered(), table(300)
    independent(measured(source, measure), epsilon=1, key="a")
    spent = measure.spent.terms
    # whoever learns it again under its key has the same values, and looks at nothing exact either
    learned = independent(unlooked(source, stopped_after(3, measure)), epsilon=1, key="a")
    assert len(synthetic(learned.model, 50).to_dicts()) == 50
    assert measure.spent.terms == spent


def test_nothing_exact_is_looked_at() -> None:
    nothing_exact_is_looked_at()


@given(st.lists(st.tuples(*(st.integers(0, size - 1) for size in SMALL.shape[:2])), max_size=8))
@settings(max_examples=25)
def test_no_impossible_row_is_drawn(cells: list[tuple[int, int]]) -> None:
    mask = np.zeros((*SMALL.shape[:2], 1), np.bool_)
    for cell in cells:
        mask[cell] = True
    if mask.all():
        return
    rows = synthetic(learned_of(impossible=(mask,)).model, 200, source=Tape(3)).to_dicts()
    wards, ages = ("A", "B", "other"), (range(10), range(10, 20), [None])
    for ward, age in combinations(range(3), range(3)):
        if mask[ward, age, 0]:
            assert not any(row["ward"] == wards[ward] and row["age"] in ages[age] for row in rows)


def test_columns_are_those_of_the_domain() -> None:
    data = synthetic(learned_of(Domain(KINDS)).model, 300)
    assert [column.name for column in data.columns] == [each.name for each in KINDS]
    for each, column in zip(KINDS, data.columns, strict=True):
        assert column.numbers.size == column.present.size == 300
        assert column.present.all() or each.missing or getattr(each, "other", False)


def test_the_same_bits_give_the_same_rows() -> None:
    model = learned_of().model
    first, second = (synthetic(model, 40, source=Tape(9)).to_csv() for _ in range(2))
    assert first == second != synthetic(model, 40).to_csv()


def test_the_command_knows_how_many_rows_fit() -> None:
    assert synth.MOST_ROWS == synthetic_data.MOST_ROWS
