"""Ends of quantiles: what they lose, by enumeration of all small tables, and how often they enclose a quantile."""

import random
from collections import Counter
from fractions import Fraction as F
from itertools import product
from math import exp, log
from typing import Any

import numpy as np
import pytest

from discreet.errors import Invalid
from discreet.mechanisms.falls import Falls
from discreet.mechanisms.quantile_ends import MOST_MASS, Exchange, QuantileEnds
from discreet.noise import Tape
from tests.scale import repeats

SHARES = (F(0), F(1, 4), F(1, 2), F(9, 10), F(1))


def laws(mechanism: QuantileEnds, counts: Any, occupied: int = 10**6) -> list[np.ndarray]:
    """For each end the probability of each place, in each group, after so many cells were said to have rows."""
    exact, found = np.asarray(counts, np.int64), []
    for q in mechanism.probabilities:
        margin = mechanism.margin(q, np.full(len(exact), occupied, np.int64))
        for sign in (-1, 1):
            near = Falls.of(-mechanism.gaps(exact, q, sign * margin), mechanism.rate(q) / q.denominator).near
            found.append(near / near.sum(axis=1, keepdims=True))
    return found


def loss_between(mechanism: QuantileEnds, first: Any, second: Any) -> float:
    """The largest log ratio of the probabilities of an outcome: of each group and each end, which are drawn by themselves, added up."""
    return sum(
        float(np.abs(np.log(one) - np.log(other)).max(axis=1).sum())
        for one, other in zip(laws(mechanism, first), laws(mechanism, second), strict=True)
    )


def tables(groups: int, cells: int, rows: int) -> list[np.ndarray]:
    """All tables of at most so many rows."""
    size = groups * cells
    every = (np.array(each) for each in product(range(rows + 1), repeat=size) if sum(each) <= rows)
    return [each.reshape(groups, cells) for each in every]


def neighbours(table: np.ndarray, unit: list[np.ndarray], exchange: Exchange) -> list[tuple[np.ndarray, np.ndarray]]:
    """The table with a unit more, beside it without, or with another unit instead."""
    if exchange is Exchange.NONE:
        return [(table, table + mine) for mine in unit]
    return [(table + mine, table + other) for mine, other in product(unit, unit)]


def far_apart(low: int, high: int, middle: int = 0, cells: int = 2000) -> np.ndarray:
    """Rows in three cells: the empty ones before the middle one outweigh all others, and move together."""
    counts = np.zeros(cells, np.int64)
    counts[0], counts[-10], counts[-1] = low, middle, high
    return counts


def nobody_is_told_apart() -> None:
    """All tables of up to three rows beside all units of up to two, in one group and in two, added, removed and replaced."""
    for exchange, groups, q in product(Exchange, (1, 2), SHARES):
        if exchange is Exchange.WITHIN and groups > 1:
            continue
        # at such a price ends lie one row from the quantile, so that places of few rows are on both sides of it
        mechanism = QuantileEnds(F(80), (q,), 3, 2, exchange)
        for table in tables(groups, 3, 3 if groups == 1 else 1):
            for first, second in neighbours(table, tables(groups, 3, 2 if groups == 1 else 1), exchange):
                loss = loss_between(mechanism, first, second)
                assert loss <= 72 * (1 + 1e-9), (exchange, groups, q, first, second, loss)


def nobody_is_told_apart_among_empty_cells() -> None:
    """Where thousands of cells move as one, a choice loses nearly all that it is charged for, and no more."""
    for exchange, q in product(Exchange, (F(1, 4), F(1, 2), F(9, 10))):
        groups = 2 if exchange is Exchange.ACROSS else 1
        mechanism = QuantileEnds(F(6), (q,), 2000, 1, exchange)
        rows = [far_apart(1, 0), far_apart(0, 1)]
        zero = far_apart(0, 0)
        units = [
            np.stack(each)
            for each in (
                [(row,) for row in rows]
                if groups == 1
                else [(rows[0], zero), (zero, rows[1]), (rows[1], zero), (zero, rows[0])]
            )
        ]
        worst = 0.0
        for low, high, middle in product(range(0, 24, 2), (0, 3, 9), (0, 5)):
            table = np.stack([far_apart(low, high, middle)] * groups)
            for first, second in neighbours(table, units, exchange):
                for one, other in zip(laws(mechanism, first), laws(mechanism, second), strict=True):
                    worst = max(worst, float(np.abs(np.log(one) - np.log(other)).max(axis=1).sum()))
        assert 0.75 * mechanism.each < worst <= mechanism.each * (1 + F(1, 10**9)), (exchange, q, worst)


def test_nobody_is_told_apart_among_empty_cells() -> None:
    nobody_is_told_apart_among_empty_cells()


def test_nobody_is_told_apart() -> None:
    nobody_is_told_apart()


def gaps_of(mechanism: QuantileEnds, counts: np.ndarray, q: F) -> np.ndarray:
    return mechanism.gaps(counts, q, np.zeros(len(counts), np.int64))


def occupied_cells_move_as_far_as_is_said() -> None:
    """How many cells have rows: by as many as a unit has rows, in all groups together, also where two make one row."""
    for exchange, unit in product(Exchange, (1, 2)):
        groups = 2 if exchange is Exchange.ACROSS else 1
        mechanism = QuantileEnds(F(1), (F(1, 2),), 3, 2, exchange, unit)
        moved = max(
            int(np.abs(mechanism.occupied(first) - mechanism.occupied(second)).sum())
            for table in tables(groups, 3, 3 if groups == 1 else 1)
            for first, second in neighbours(table, tables(groups, 3, 2), exchange)
        )
        assert moved == mechanism.noise.scale * mechanism.epsilon / 10, (exchange, unit, moved)


def test_occupied_cells_move_as_far_as_is_said() -> None:
    occupied_cells_move_as_far_as_is_said()


def scores_move_as_far_as_is_said() -> None:
    """The bounds on scores are reached, so that none is larger than it must be."""
    for exchange, q in product(Exchange, SHARES[1:-1]):
        mechanism = QuantileEnds(F(1), (q,), 3, 1, exchange)
        groups = 2 if exchange is Exchange.ACROSS else 1
        moved = max(
            int(np.abs(gaps_of(mechanism, first, q) - gaps_of(mechanism, second, q)).max(axis=1).sum())
            for table in tables(groups, 3, 4 if groups == 1 else 2)
            for first, second in neighbours(table, tables(groups, 3, 1), exchange)
        )
        assert F(moved, q.denominator) <= mechanism.moved(q), (exchange, q)
        if q == F(1, 2):
            assert F(moved, q.denominator) == mechanism.moved(q), exchange


def test_scores_move_as_far_as_is_said() -> None:
    scores_move_as_far_as_is_said()


def parts_cost_what_the_whole_costs() -> None:
    quarters = (F(1, 4), F(1, 2), F(3, 4))
    mechanism = QuantileEnds(F(3, 2), quarters, 16, 8)
    assert mechanism.loss().epsilon() == pytest.approx(1.5)
    assert mechanism.loss(4).epsilon() == pytest.approx(0.75)
    assert mechanism.loss(16).epsilon() == pytest.approx(3)
    assert mechanism.ends == 6 and mechanism(np.ones((5, 16), np.int64), Tape(1)).shape == (5, 6)
    for q in quarters:
        ends = mechanism.rate(q) * 2 * 8 * mechanism.moved(q) * 6
        assert ends + F(8) / mechanism.noise.scale == F(3, 2)


def test_parts_cost_what_the_whole_costs() -> None:
    parts_cost_what_the_whole_costs()


def draws_follow_the_law() -> None:
    """Chosen cells are as likely as the law says: 4 standard errors and a margin, at a false alarm rate below 1e-6 for 8 cells."""
    mechanism = QuantileEnds(F(1), (F(1, 2),), 4)  # of so few cells that the margin is the same however many have rows
    counts, runs = np.array([[3, 0, 5, 2]]), repeats(4000)
    low, high = laws(mechanism, counts)
    lower = np.array([low[0][0] + low[0][1], low[0][2], low[0][3], low[0][4] + low[0][5]])
    upper = np.array([high[0][0] + high[0][1], high[0][2], high[0][3], high[0][4] + high[0][5]])
    drawn = mechanism(np.repeat(counts, runs, axis=0), Tape(3))
    assert (drawn[:, 0] <= drawn[:, 1]).all()
    seen = Counter(drawn[:, 0].tolist())
    for cell in range(4):
        # the least of two independent choices
        chance = 1 - (1 - lower[: cell + 1].sum()) * (1 - upper[: cell + 1].sum())
        before = 1 - (1 - lower[:cell].sum()) * (1 - upper[:cell].sum())
        expected = chance - before
        assert abs(seen[cell] / runs - expected) <= 5.5 * (expected * (1 - expected) / runs) ** 0.5 + 1e-9


def test_draws_follow_the_law() -> None:
    draws_follow_the_law()


KINDS = {
    "even": lambda chance: chance.random(),
    "skewed": lambda chance: min(chance.lognormvariate(0, 1) / 20, 0.999),
    "atom": lambda chance: 0.3 if chance.random() < 0.4 else chance.random(),
    "far": lambda chance: chance.choice([0.1, 0.3, 0.5, 0.7, 0.9]),
}


def ends_enclose_quantiles() -> None:
    """Of 800 rows, in 95 of 100 answers where rows lie smoothly: exactly, from the law of both ends."""
    chance = random.Random(5)
    for (kind, draw), q, epsilon in product(KINDS.items(), (F(1, 4), F(1, 2), F(9, 10)), (F(1), F(1, 2))):
        mechanism = QuantileEnds(epsilon, (q,), 1024)
        counts = np.bincount([int(draw(chance) * 1024) for _ in range(800)], minlength=1024)[None, :]
        upto, rank = np.cumsum(counts[0]), float(q) * 800
        holds = np.flatnonzero((upto - counts[0] <= rank) & (upto >= rank))
        noisy = int(mechanism.occupied(counts)[0])  # what its noise may have added is taken away again
        low, high = (law[0] for law in laws(mechanism, counts, noisy))
        below, above = low[: holds[-1] + 2].sum(), high[holds[0] + 1 :].sum()
        assert below * above >= 0.925, (kind, q, epsilon, below * above)


def test_ends_enclose_quantiles() -> None:
    ends_enclose_quantiles()


def few_values_far_apart_are_enclosed() -> None:
    """Of two values with hundreds of empty cells between them, and the quantile a few rows inside of one."""
    for epsilon, inside in product((F(1), F(1, 4)), (1, 3, 10, 30)):
        mechanism = QuantileEnds(epsilon, (F(1, 2),), 1024)
        counts = np.zeros((1, 1024), np.int64)
        counts[0, 300], counts[0, 700] = 400 + inside, 400 - inside
        low, high = (law[0] for law in laws(mechanism, counts, int(mechanism.occupied(counts)[0])))
        held = low[: 300 + 2].sum() * high[300 + 1 :].sum()
        assert held >= 0.93, (epsilon, inside, held)


def test_few_values_far_apart_are_enclosed() -> None:
    few_values_far_apart_are_enclosed()


def test_where_rows_are_smooth_the_margin_is_that_of_an_exponential() -> None:
    mechanism = QuantileEnds(F(1), (F(1, 2),), 1024)
    rate, (t,) = float(mechanism.rate(F(1, 2))), mechanism.margin(F(1, 2), np.array([600]))
    (nothing,) = mechanism.margin(F(1, 2), np.array([0]))
    assert nothing == -(-log(20 * 1024 / 4) // rate)
    assert exp(-rate * t) <= 1 / 20 < exp(-rate * (t - 1))
    assert t == -(-log(20) // rate)


@pytest.mark.parametrize("epsilon", [F(1, 1000), F(1), F(50)])
def test_any_counts_are_answered(epsilon: F) -> None:
    """Nothing, one row, all rows in one cell, as many as there may be; with shares of rows; at any price."""
    for counts in ([0, 0, 0], [0, 1, 0], [MOST_MASS, 0, 0], [0, MOST_MASS // 2, MOST_MASS // 2]):
        for q, rows in product(SHARES, (1, 256 * 3, 1 << 32)):
            cells = QuantileEnds(epsilon, (q,), 3, rows)(np.array([counts, counts]), Tape(1))
            assert cells.shape == (2, 2) and (cells >= 0).all() and (cells < 3).all()
            assert (cells[:, 0] <= cells[:, 1]).all()
    assert QuantileEnds(epsilon, (F(1, 2),), 3)(np.zeros((0, 3), np.int64), Tape(1)).shape == (0, 2)


def test_of_nothing_the_interval_is_everything() -> None:
    """With no rows, or few against the noise, ends lie at the bounds far more often than a confidence leaves."""
    mechanism = QuantileEnds(F(1, 10), (F(1, 2),), 64)
    low, high = laws(mechanism, np.zeros((1, 64), np.int64))
    assert low[0].sum() == pytest.approx(1) and np.allclose(high[0], low[0][::-1])


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: QuantileEnds(F(0), (F(1, 2),), 4),
        lambda: QuantileEnds(F(1), (), 4),
        lambda: QuantileEnds(F(1), (F(1, 2), F(1, 4)), 4),
        lambda: QuantileEnds(F(1), (F(1, 10_007),), 4),
        lambda: QuantileEnds(F(1), (F(1, 2),), 0),
        lambda: QuantileEnds(F(1), (F(1, 2),), 4, 0),
        lambda: QuantileEnds(F(1), (F(1, 2),), 4, 1, "none"),  # type: ignore[arg-type]
        lambda: QuantileEnds(F(1), (F(1, 2),), 4)([1, 2, 3, 4]),
        lambda: QuantileEnds(F(1), (F(1, 2),), 4)([[1, 2, 3]]),
        lambda: QuantileEnds(F(1), (F(1, 2),), 4)([[1, 2, 3, -1]]),
        lambda: QuantileEnds(F(1), (F(1, 2),), 4)([[1.0, 2, 3, 4]]),
    ],
)
def test_what_is_refused(wrong: Any) -> None:
    with pytest.raises(Invalid):
        wrong()
