"""The most frequent value of groups: what a choice loses, by its exact law on all small tables; how often it is as near as it says."""

from fractions import Fraction as F
from itertools import product
from math import log
from typing import Any

import numpy as np
import pytest

from discreet.audit.chances import law_of
from discreet.audit.enumeration import exact
from discreet.errors import Invalid
from discreet.mechanisms.most_frequent import MOST_MASS, MOST_VALUES, MostFrequent
from discreet.noise import Tape
from tests.scale import repeats

NEAR = 1e-9
Counts = tuple[tuple[int, ...], ...]


def tables(groups: int, values: int, rows: int) -> list[np.ndarray]:
    """All tables of at most so many rows."""
    every = (np.array(each) for each in product(range(rows + 1), repeat=groups * values) if sum(each) <= rows)
    return [each.reshape(groups, values) for each in every]


def neighbours(table: np.ndarray, units: list[np.ndarray], replaced: bool) -> list[tuple[Any, Any]]:
    """The table with a unit more, beside it without, or with another unit instead; units are in any groups."""
    if not replaced:
        return [((table + mine).tolist(), table.tolist()) for mine in units]
    return [((table + mine).tolist(), (table + other).tolist()) for mine, other in product(units, units)]


CASES = [(1, 2, 2, 2), (1, 3, 2, 1), (2, 2, 1, 2), (3, 2, 0, 1)]
"""Groups, values, rows of the others, rows of a unit."""


def nobody_is_told_apart() -> None:
    """All small tables beside all units, in one group and in several, added, removed and replaced."""
    for (groups, values, others, rows), replaced in product(CASES, (False, True)):
        mechanism = MostFrequent(F(3, 2), values, rows, replaced)
        units = tables(groups, values, rows)
        pairs = [pair for table in tables(groups, values, others) for pair in neighbours(table, units, replaced)]
        found = exact(mechanism, pairs).epsilon()
        assert found.high <= 1.5 + NEAR, (groups, values, rows, replaced, found)


def test_nobody_is_told_apart() -> None:
    nobody_is_told_apart()


def no_sharper_choice_would_do() -> None:
    """Where one value is far ahead, a rare choice loses nearly all that it is charged for, in one group and in two."""
    far = 30
    pairs: dict[tuple[bool, int], tuple[Counts, Counts]] = {
        (False, 1): (((far, 0),), ((far, 1),)),
        (False, 2): (((far, 0), (far, 0)), ((far, 1), (far, 1))),
        (True, 1): (((far, 0),), ((far - 1, 1),)),
        (True, 2): (((far - 1, 0), (far, 1)), ((far, 0), (far, 0))),
    }
    for (replaced, groups), (first, second) in pairs.items():
        mechanism = MostFrequent(F(2), 2, groups if not replaced else 1, replaced)
        found = exact(mechanism, [(first, second)]).epsilon()
        assert 2 - 1e-3 < found.low <= found.high <= 2 + NEAR, (replaced, groups, found)


def test_no_sharper_choice_would_do() -> None:
    no_sharper_choice_would_do()


def prices_are_in_proportion_to_rows() -> None:
    mechanism = MostFrequent(F(3, 2), 5, 8)
    for rows, epsilon in ((None, 1.5), (4, 0.75), (16, 3), (0, 0)):
        assert mechanism.loss(rows).epsilon() == pytest.approx(epsilon)


def test_prices_are_in_proportion_to_rows() -> None:
    prices_are_in_proportion_to_rows()


def draws_follow_the_law() -> None:
    """Choices are as likely as the law says, in each group by itself: 5.5 standard errors, at a false alarm rate below 1e-6."""
    runs = repeats(2000)
    for replaced in (False, True):
        mechanism, counts = MostFrequent(F(2), 3, 2, replaced), ((3, 0, 2), (0, 0, 1))
        law = law_of(mechanism, counts)
        drawn = mechanism(np.tile(np.array(counts), (runs, 1)), Tape(3)).reshape(runs, 2)
        for outcome, chance in law.chances.items():
            p = float(chance.low)
            seen = float((drawn == np.array(outcome)).all(axis=1).mean())
            assert abs(seen - p) <= 5.5 * (p * (1 - p) / runs) ** 0.5 + 1e-9, (replaced, outcome)


def test_draws_follow_the_law() -> None:
    draws_follow_the_law()


def errors_hold() -> None:
    """In 95 of 100 draws a choice is at most so many rows behind, whatever the counts are; there are counts for which no less would do."""
    for values, rows, unit, replaced in product((1, 2, 5, 12), (1, 3), (1, 2), (False, True)):
        mechanism = MostFrequent(F(1), values, rows * unit, replaced, unit)
        error = mechanism.error()
        behind = round(error * unit + 1)
        assert error <= log(max(1, values) / 0.05) / float(mechanism.choice.rate) / unit + NEAR
        law = law_of(mechanism, [[behind, *[0] * (values - 1)]])
        assert float(law.chances[(0,)].low) >= 0.95 - NEAR
        if values > 1:
            less = law_of(mechanism, [[max(1, behind - 3 * unit * rows), *[0] * (values - 1)]])
            assert float(less.chances[(0,)].high) < 0.95, (values, rows, unit, replaced)


def test_errors_hold() -> None:
    errors_hold()


@pytest.mark.parametrize("epsilon", [F(1, 1000), F(1), F(10**6)])
def test_any_counts_are_answered(epsilon: F) -> None:
    for counts in ([0, 0, 0], [0, 1, 0], [MOST_MASS, 0, 0], [0, MOST_MASS, MOST_MASS]):
        for rows in (1, 256 * 3, 1 << 32):
            places = MostFrequent(epsilon, 3, rows)(np.array([counts, counts]), Tape(1))
            assert places.shape == (2,) and places.dtype == np.int64 and set(places.tolist()) <= {0, 1, 2}
    assert MostFrequent(epsilon, 3)(np.zeros((0, 3), np.int64), Tape(1)).shape == (0,)
    assert MostFrequent(epsilon, 1)([[7]], Tape(1)).tolist() == [0]
    assert 0 <= MostFrequent(epsilon, MOST_VALUES)(np.zeros((1, MOST_VALUES), np.int64), Tape(1))[0] < MOST_VALUES


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: MostFrequent(F(0), 4),
        lambda: MostFrequent(F(1), 0),
        lambda: MostFrequent(F(1), MOST_VALUES + 1),
        lambda: MostFrequent(F(1), 4, 0),
        lambda: MostFrequent(F(1), 4, 1, "yes"),  # type: ignore[arg-type]
        lambda: MostFrequent(F(1), 4, 1, False, 0),
        lambda: MostFrequent(F(1), 4)([1, 2, 3, 4]),
        lambda: MostFrequent(F(1), 4)([[1, 2, 3]]),
        lambda: MostFrequent(F(1), 4)([[1, 2, 3, -1]]),
        lambda: MostFrequent(F(1), 4)([[1, 2, 3, MOST_MASS + 1]]),
        lambda: MostFrequent(F(1), 4)([[1.0, 2, 3, 4]]),
        lambda: MostFrequent(F(1), 4).event(-1),
    ],
)
def test_what_is_refused(wrong: Any) -> None:
    with pytest.raises(Invalid):
        wrong()
