"""Mechanisms that must not be used: they keep (0, δ) over all neighbours, and expose somebody. No one can reach them by accident."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations, product
from math import log, sqrt
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import mechanisms
from discreet.errors import Invalid
from discreet.mechanisms import registry
from discreet.mechanisms.unsafe import NameAndShame, RandomRow
from discreet.noise import Tape
from discreet.privacy import events
from discreet.privacy.numeric.finite import hockey_stick
from tests.scale import repeats

ALPHA = 1e-6
GAMMAS = [Fraction(1), Fraction(3, 2), Fraction(10**6)]  # e^ε
VALUES = "abc"


def replaced(n: int) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """All ordered pairs of data sets of n rows that differ in one row at most."""
    for rows in product(VALUES, repeat=n):
        for i, value in product(range(n), VALUES):
            yield rows, (*rows[:i], value, *rows[i + 1 :])


def subsequences(n: int) -> list[tuple[str, ...]]:
    return [each for size in range(n + 1) for each in product(VALUES, repeat=size)]


def is_private(mechanism: Any, n: int, results: list[Any], delta: Fraction) -> None:
    """Over all neighbours of n rows of three values the largest δ is this, at every ε, from exact probabilities."""
    laws = {rows: [mechanism.probability(result, rows) for result in results] for rows in product(VALUES, repeat=n)}
    assert all(sum(law) == 1 for law in laws.values())
    for gamma in GAMMAS:
        assert max(hockey_stick(laws[x], laws[y], gamma) for x, y in replaced(n)) == delta, gamma
    assert mechanism.event() == events.Approximate(0, delta)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_a_random_row_is_zero_and_one_nth_private_at_every_epsilon(n: int) -> None:
    is_private(RandomRow(n), n, list(VALUES), Fraction(1, n))
    for epsilon in (0, 1, 50):
        assert RandomRow(n).loss().delta(epsilon) == pytest.approx(1 / n, rel=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 10), Fraction(3, 4), Fraction(1)], ids=str)
def test_naming_each_with_a_chance_is_zero_and_that_chance_private(n: int, delta: Fraction) -> None:
    is_private(NameAndShame(delta), n, subsequences(n), delta)


def test_more_rows_cost_more() -> None:
    assert RandomRow(10).loss(3).delta(0) == pytest.approx(0.3, rel=1e-12)
    assert RandomRow(10).loss(20).delta(0) == 1
    assert NameAndShame(0.1).loss(3).delta(0) == pytest.approx(1 - 0.9**3, rel=1e-12)
    assert RandomRow(10).loss(0).delta(0) == NameAndShame(0.1).loss(0).delta(0) == 0


def test_somebody_is_exposed_as_often_as_is_said() -> None:
    for delta in (Fraction(0), Fraction(1, 10), Fraction(2, 3), Fraction(999_999, 10**6), Fraction(1)):
        for n in (0, 1, 2, 7, 100):
            exact = 1 - (1 - delta) ** n
            assert NameAndShame(delta).exposure(n) == pytest.approx(float(exact), rel=1e-14)
            if n in (1, 2):
                assert 1 - NameAndShame(delta).probability([], ["a"] * n) == exact
    assert NameAndShame(1e-6).exposure(10**6) == pytest.approx(0.6321207, rel=1e-6)
    assert NameAndShame(5e-324).exposure(1) > 0 and NameAndShame(1 - Fraction(1, 10**400)).exposure(1) == 1
    assert NameAndShame(0.5).exposure(10**400) == 1


def test_the_probability_of_a_list_is_that_of_all_its_choices() -> None:
    """The slow twin: every choice of rows, one by one."""
    delta, rows = Fraction(1, 3), ("a", "b", "a", "a")
    law: dict[tuple[str, ...], Fraction] = {}
    for size in range(5):
        for chosen in combinations(range(4), size):
            key = tuple(rows[i] for i in chosen)
            law[key] = law.get(key, Fraction(0)) + delta**size * (1 - delta) ** (4 - size)
    for each in [*subsequences(4), tuple("aaaaa")]:
        assert NameAndShame(delta).probability(each, rows) == law.get(each, 0)


def test_rows_come_as_they_are_and_as_often_as_is_said() -> None:
    """Power at 4,000 runs: a chance that is off by 0.1 is missed with probability ALPHA at most."""
    rows, runs = [("Ann", 31), ("Bob", 47), ("Cy", 5)], repeats(4_000)
    level = log(12 / ALPHA)
    found = [RandomRow(3)(rows) for _ in range(runs)]
    named = [row for _ in range(runs) for row in NameAndShame(0.25)(rows)]
    for row in rows:
        for times, p in ((found.count(row), 1 / 3), (named.count(row), 1 / 4)):
            assert abs(times - runs * p) <= sqrt(2 * runs * p * (1 - p) * level) + level / 3
    assert set(found) | set(named) == set(rows)


def test_extreme_chances_name_nobody_or_everybody_in_order() -> None:
    assert NameAndShame(0)(list("abc"), Tape(1)) == [] and NameAndShame(1)(list("abc"), Tape(1)) == list("abc")
    table = np.arange(6).reshape(3, 2)
    assert np.array_equal(NameAndShame(1)(table, Tape(1)), table)
    assert RandomRow(3).probability(table[1], table) == Fraction(1, 3)
    assert RandomRow(3).error() == NameAndShame(1).error() == 0


def test_they_cannot_be_reached_by_accident() -> None:
    for name in ("RandomRow", "NameAndShame", "unsafe"):
        assert name not in registry.names()
        assert name not in mechanisms.__all__ and name not in discreet.__all__


def refused(ask: Callable[[Tape], object], name: str) -> None:
    tape = Tape(1)
    with pytest.raises(Invalid, match=rf"^{name} ") as caught:
        ask(tape)
    assert tape.used == 0 and "31337" not in str(caught.value)


def test_bad_input_is_refused_by_name_before_anything_is_drawn() -> None:
    for bad in (0, -1, 1.0, True, "3", None):
        refused(lambda _, bad=bad: RandomRow(bad), "rows")
    for bad in (-0.1, 1.1, float("nan"), True, "0.5", None):
        refused(lambda _, bad=bad: NameAndShame(bad), "delta")
    for bad in (31337, "31337", None, {31337}, {31337: 1}, np.array(31337)):
        refused(lambda tape, bad=bad: RandomRow(5)(bad, tape), "exact")
        refused(lambda tape, bad=bad: NameAndShame(0.5)(bad, tape), "exact")
        refused(lambda _, bad=bad: NameAndShame(0.5).probability(bad, [1]), "output")
    refused(lambda tape: RandomRow(2)([31337] * 3, tape), "exact")
    refused(lambda _: NameAndShame(0.5).exposure(-1), "n")
    refused(lambda _: RandomRow(2).event(-1), "sensitivity")
    refused(lambda _: RandomRow(2).error(1), "confidence")
