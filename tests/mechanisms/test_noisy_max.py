"""Report noisy max: ε by enumeration of all noise through the mechanism itself, ties included, and fits of what is drawn.

False alarms: 1e-6 for each statistical test; power: as in test_exponential.py.
"""

import itertools
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from math import exp
from unittest import mock

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.exact import exp_bounds
from discreet.mechanisms import noisy_max
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.noise import Tape
from discreet.noise.size import Ints
from discreet.privacy import events
from tests.mechanisms.test_exponential import Nothing, drawn, fits, neighbours
from tests.noise.counting import Counting
from tests.scale import repeats

REACH = 8
"""The noise that is enumerated is at most this; at the scales used here more has a probability below e^-40."""
TIGHT = 1 + Fraction(1, 10**9)

Tied = NDArray[np.bool_]
Rule = Callable[[Tied, Ints], Ints]
"""Who wins: of tied candidates and exact scores, how many of SHARES in each row."""
SHARES = 6  # of a tie of up to three


@cache
def noise_chances(scale: Fraction) -> list[int]:
    """2^64 Pr[noise = −REACH … REACH], from below, by the textbook formula."""
    low, high = exp_bounds(-1 / scale, 128)
    return [int((1 - high) / (1 + high) * low ** abs(z) * 2**64) for z in range(-REACH, REACH + 1)]


def uniformly(tied: Tied, scores: Ints) -> Ints:
    return tied * (SHARES // tied.sum(axis=1, keepdims=True))


def to_the_first(tied: Tied, scores: Ints) -> Ints:
    return SHARES * (np.arange(tied.shape[1]) == tied.argmax(axis=1)[:, None])


def to_the_larger(tied: Tied, scores: Ints) -> Ints:
    return uniformly(tied & (scores == np.where(tied, scores, scores.min()).max(axis=1, keepdims=True)), scores)


def enumerated(mechanism: NoisyMax, scores: tuple[int, ...], rule: Rule = uniformly) -> list[tuple[Fraction, Fraction]]:
    """Brackets of the probability of each candidate: what the mechanism does with every noise, of the scale it asks for.

    The upper end is what the others do not have for certain.
    """
    noise = np.array(list(itertools.product(range(-REACH, REACH + 1), repeat=len(scores))), np.int64)
    asked: list[Fraction] = []
    seen: list[Tied] = []

    def discrete_laplace(scale: Fraction, size: tuple[int, ...], *, source: object) -> Ints:
        asked.append(scale)
        assert size == noise.shape
        return noise

    def among(tied: Tied, source: object) -> Ints:
        seen.append(tied)
        return np.zeros(len(tied), np.int64)

    rows = np.tile(np.array(scores, np.int64), (len(noise), 1))
    with mock.patch.multiple(noisy_max, discrete_laplace=discrete_laplace, among=among):
        mechanism(rows, Tape(0))
    chance = np.array(noise_chances(asked[0]), np.object_)
    weight = np.prod(chance[noise + REACH], axis=1)
    low = (weight[:, None] * rule(seen[0], rows).astype(np.object_)).sum(axis=0)
    all_of_it = SHARES << 64 * len(scores)
    return [(Fraction(p, all_of_it), 1 - Fraction(sum(low) - p, all_of_it)) for p in low]


def epsilon_is_kept(epsilon: Fraction, size: int, monotone: bool, count: int = 3, rule: Rule = uniformly) -> None:
    """Over all scores of 0 and 1 (or 0 … 3 for two) and their neighbours, no probability is above e^ε times the other."""
    mechanism = NoisyMax(epsilon, Fraction(size), monotone)
    law = cache(lambda scores: enumerated(mechanism, scores, rule))
    bound, most = exp_bounds(epsilon)[1], Fraction(0)
    for x in itertools.product(range(4 if count == 2 else 2), repeat=count):
        for y in neighbours(x, size, monotone):
            for (p, p_up), (q, q_up) in zip(law(x), law(y), strict=True):
                most = max(most, p_up / q, q_up / p)
    assert most <= bound * TIGHT, f"a ratio of {float(most)} where e^ε = {exp(epsilon)}"
    assert most > exp_bounds(epsilon / 2)[1], "far less than ε is used"


@pytest.mark.parametrize("monotone", [False, True])
def test_epsilon_is_kept_over_all_small_neighbours_ties_included(monotone: bool) -> None:
    wide = Fraction(10) if not monotone else Fraction(5)
    epsilon_is_kept(wide, 1, monotone)
    epsilon_is_kept(wide, 1, monotone, count=2)
    epsilon_is_kept(2 * wide, 2, monotone, count=2)


def test_any_order_drawn_without_the_data_may_break_ties() -> None:
    epsilon_is_kept(Fraction(10), 1, False, count=2, rule=to_the_first)
    epsilon_is_kept(Fraction(10), 1, False, count=3, rule=to_the_first)


def test_breaking_ties_by_exact_scores_is_not_private() -> None:
    with pytest.raises(AssertionError, match="a ratio of"):
        epsilon_is_kept(Fraction(10), 1, False, count=2, rule=to_the_larger)


def test_the_smaller_noise_is_not_private_for_scores_that_move_both_ways() -> None:
    sharp = NoisyMax(Fraction(5), Fraction(1), True)
    p, q = (enumerated(sharp, scores)[0] for scores in ((1, 2), (0, 3)))
    assert p[0] / q[1] > exp_bounds(Fraction(5))[1]


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("epsilon", [Fraction(1, 20), Fraction(1), Fraction(5, 2)])
def test_epsilon_is_kept_at_any_scale_by_the_probabilities(epsilon: Fraction, monotone: bool) -> None:
    for size, x in ((1, (0, 2, 1)), (3, (5, 0, 4)), (2, (1, 1, 1))):
        mechanism = NoisyMax(epsilon, Fraction(size), monotone)
        p = np.array([mechanism.probability(i, x) for i in range(3)])
        for y in list(neighbours(x, size, monotone))[::11]:
            q = np.array([mechanism.probability(i, y) for i in range(3)])
            assert max((p / q).max(), (q / p).max()) <= exp(epsilon) * (1 + 1e-9)


def probabilities_are_those_of_all_noise(monotone: bool) -> None:
    for scores in ((0, 0, 0), (1, 0, 2), (2, 2, 0)):
        mechanism = NoisyMax(Fraction(8), Fraction(2), monotone)
        for at, (low, up) in enumerate(enumerated(mechanism, scores)):
            assert float(low) * (1 - 1e-9) <= mechanism.probability(at, scores) <= float(up) * (1 + 1e-9)


@pytest.mark.parametrize("monotone", [False, True])
def test_probabilities_are_those_of_all_noise(monotone: bool) -> None:
    probabilities_are_those_of_all_noise(monotone)


def drawn_as_they_say(count: int) -> None:
    """With ties in one draw of five, and hardly any."""
    for scores, mechanism in (
        ([3, 5, 4, 0, 5, 1], NoisyMax(Fraction(2))),
        ([30, 50, 47, 0], NoisyMax(Fraction(1, 5), Fraction(2), True)),
        ([1, 1, 1, 0], NoisyMax(Fraction(6))),
    ):
        fits(drawn(mechanism, scores, count), [mechanism.probability(at, scores) for at in range(len(scores))])


def test_choices_are_drawn_as_they_say() -> None:
    drawn_as_they_say(repeats(100_000))


def test_random_bits_do_not_depend_on_scores() -> None:
    used = set()
    for scores in (np.zeros(5_000, np.int64), np.arange(5_000), np.arange(5_000)[::-1] ** 2):
        source = Counting(1)
        NoisyMax(Fraction(1, 10))(scores, source)
        used.add(source.used)
    assert len(used) == 1


def error_is_kept() -> None:
    """One best and all others equally far below: the chance of one of them is at most what is left, and not far from it."""
    mechanism = NoisyMax(Fraction(1, 2), Fraction(1))
    for n in (2, 20):
        for confidence in (0.8, 0.99):
            t = int(mechanism.error(confidence, n))
            missed = [(n - 1) * mechanism.probability(1, [gap, *[0] * (n - 1)]) for gap in (t + 1, t // 2)]
            assert missed[0] <= 1 - confidence < missed[1]
    assert mechanism.error(0.95, 1) == 0


def test_error_is_kept() -> None:
    error_is_kept()


def test_cost_follows_from_the_parameters() -> None:
    mechanism = NoisyMax(Fraction(1), Fraction(2))
    assert mechanism.scale == 4 and NoisyMax(Fraction(1), Fraction(2), True).scale == 2
    assert mechanism.event() == mechanism.event(2) == mechanism.event(1.5) == events.Pure(1)
    assert mechanism.event(1) == events.Pure(Fraction(1, 2)) and mechanism.event(0) == events.Pure(0)
    assert mechanism.loss().epsilon() == 1
    assert (
        NoisyMax.for_epsilon(0.1, 1.5)
        == NoisyMax.for_budget(0.1, sensitivity=2)
        == NoisyMax(Fraction(1, 10), Fraction(2))
    )
    assert NoisyMax(Fraction(1), Fraction(3, 2)).sensitivity == 2
    assert not hasattr(NoisyMax, "concentrated")


def test_shapes_and_extremes() -> None:
    sharp = NoisyMax(Fraction(10**6))
    assert sharp([[1, 2, 3], [9, 5, 4]], Tape(1)).tolist() == [2, 0]
    assert type(sharp([3, 4], Tape(1))) is int and sharp([7], Tape(1)) == 0
    for epsilon in (1e-12, 50, 1e308):
        for scores in ([0, 0], [-(2**61), 2**61]):
            assert NoisyMax(epsilon)(scores) in (0, 1)  # type: ignore[arg-type]
    assert NoisyMax(1e308).probability(1, [0, 5]) == 1  # type: ignore[arg-type]
    assert NoisyMax(Fraction(1, 1000))(np.arange(1_000_000)) > 900_000


@pytest.mark.parametrize(
    "bad", [[1.5], ["a"], None, 3, [], [[]], [[1], [2, 3]], [Fraction(1, 2)], [2**62], [True, False]]
)
def test_bad_scores_are_refused_before_anything_is_drawn(bad: object) -> None:
    with pytest.raises(Invalid, match="exact"):
        NoisyMax(Fraction(1))(bad, Nothing())


def test_bad_parameters_are_refused_by_name() -> None:
    for bad in (0, -1, float("nan"), "1", None, True, 5e-324):
        with pytest.raises(Invalid, match="epsilon"):
            NoisyMax(bad)  # type: ignore[arg-type]
    for bad in (0, -1, float("nan"), "1", None):
        with pytest.raises(Invalid, match="sensitivity"):
            NoisyMax(Fraction(1), bad)  # type: ignore[arg-type]
        if bad not in (0, None):
            with pytest.raises(Invalid, match="sensitivity"):
                NoisyMax(Fraction(1)).event(bad)  # type: ignore[arg-type]
    with pytest.raises(Invalid, match="one list"):
        NoisyMax(Fraction(1)).probability(0, [[1, 2], [3, 4]])
    with pytest.raises(Invalid, match="epsilon is too small"):
        NoisyMax(Fraction(1, 10**9)).probability(0, [1, 2])
