"""Laws of sums of many kinds: never below the truth, never beyond the certified ends, and never a raw exception."""

import warnings
from fractions import Fraction
from itertools import cycle, islice
from math import exp, inf, log

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from discreet.errors import DiscreetError
from discreet.privacy import PrivacyLoss, calibrate, loss
from discreet.privacy.cost import sides
from discreet.privacy.events import (
    Approximate,
    DiscreteGaussian,
    DiscreteLaplace,
    FiniteTable,
    Gaussian,
    Laplace,
    Leaf,
    Pure,
    RandomizedResponse,
    Sampled,
)
from discreet.privacy.numeric.unresolved import Unresolved
from tests.privacy import oracle
from tests.scale import repeats

F = Fraction
PHASES = [Phase.explicit, Phase.reuse, Phase.generate]  # a sum takes up to a second, too long to shrink
SAME = 1e-9  # relative: what near-exact means
TABLE = FiniteTable(((F(3, 4), F(1, 4)), (F(1, 3), F(2, 3))))


def scales(low: float, high: float) -> st.SearchStrategy[Fraction]:
    return st.floats(log(low), log(high)).map(lambda x: F(f"{exp(x):.4g}"))


PURE = st.one_of(
    st.builds(RandomizedResponse, scales(0.01, 5), st.sampled_from([2, 2, 3, 10])),
    st.builds(DiscreteLaplace, scales(0.3, 50), st.sampled_from([1, 2, 5])),
    st.builds(Pure, scales(0.01, 3)),
    st.just(TABLE),
)
POINTS = st.one_of(PURE, st.builds(DiscreteGaussian, scales(0.3, 30), st.sampled_from([1, 2])))
SMOOTH = st.one_of(st.builds(Gaussian, scales(0.3, 1e6)), st.builds(Laplace, scales(0.3, 100)))
RATES = st.sampled_from([F(1, 10**6), F(1, 1000), F(1, 100), F(1, 10), F(1, 2), F(999, 1000)])
SAMPLED = st.builds(Sampled, RATES, st.one_of(POINTS, SMOOTH))
OPEN = st.builds(Approximate, scales(0.01, 3), st.sampled_from([F(1, 100), F(1, 10**6), F(1, 10**12)]))
LEAVES = st.one_of(POINTS, SMOOTH, SAMPLED, OPEN)
COUNTS = st.sampled_from([1, 1, 1, 2, 3, 5, 10, 100, 1000, 10**4, 10**6, 10**9])
DELTAS = st.sampled_from([0.3, 1e-2, 1e-3, 1e-5, 1e-6, 1e-9, 1e-12, 1e-20, 1e-30])


@st.composite
def sums(draw: st.DrawFn, least: int = 1) -> PrivacyLoss:
    """At least one part that is points and one that is not, or whatever comes."""
    leaves = [draw(POINTS), draw(st.one_of(SMOOTH, SAMPLED))] if draw(st.booleans()) else [draw(LEAVES)]
    leaves += draw(st.lists(LEAVES, max_size=2, min_size=max(0, least - len(leaves))))
    total = PrivacyLoss()
    for leaf in leaves:
        total = total + draw(COUNTS) * loss(leaf)
    return total


def check_answers(spent: PrivacyLoss, delta: float) -> None:
    """Every answer lies between the certified ends: ε at this δ, and δ at the lower end of ε, where it is at least this δ."""
    low, high = spent.interval(delta)
    epsilon = spent.epsilon(delta)
    assert low * (1 - SAME) <= epsilon <= high * (1 + SAME)
    if 0 < low < 1e12:
        assert spent.delta(low) >= delta * (1 - 1e-8)
    if 0 < epsilon < 1e12:
        above = spent.log_delta_above(epsilon)
        found = spent.delta(epsilon)
        assert not found or log(found) <= above + 1e-3  # which lattice is taken hangs on the questions before


def check_more_costs_more(spent: PrivacyLoss, more: PrivacyLoss, delta: float) -> None:
    """A sum is nowhere below what is certain of its first part; nor below its value, unless that is a bound from above itself.

    A bound may lie 1e-4 above the truth, and a sum that has a near-exact value below the bound of its part: like is compared with like.
    K of one use is rounded to 1e-16 or so, of a billion uses to 1e-7, which is then what near-exact means.
    """
    first, both = spent.epsilon(delta), (spent + more).epsilon(delta)
    assert both >= spent.interval(delta)[0] * (1 - SAME)
    if near_exact(spent, first, delta):
        uses = sum(n for _, n in (spent + more).terms)
        assert both >= first * (1 - max(SAME, 1e-16 * uses))


def near_exact(spent: PrivacyLoss, epsilon: float, delta: float) -> bool:
    """Whether a value of ε is the root of a near-exact δ, in one direction, and not a certified bound in its place."""
    for direction in spent._directions:
        left = delta - float(direction.failure)
        try:
            if left > 0 and abs(direction.near_exact(epsilon) - log(left)) < 1e-8:
                return True
        except Unresolved:
            continue
    return epsilon in (0.0, inf) or epsilon == spent.epsilon(0)


@settings(max_examples=repeats(10), deadline=None, phases=PHASES)
@given(sums(), DELTAS)
def test_every_answer_lies_between_the_certified_ends(spent: PrivacyLoss, delta: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            check_answers(spent, delta)
        except DiscreetError as refused:
            assert refused.code != "fault"


@settings(max_examples=repeats(8), deadline=None, phases=PHASES)
@given(sums(), sums(), DELTAS)
def test_one_more_release_never_costs_less(spent: PrivacyLoss, more: PrivacyLoss, delta: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_more_costs_more(spent, more, delta)


KINDS = [
    RandomizedResponse(1),
    DiscreteLaplace(2),
    DiscreteGaussian(2),
    Laplace(2),
    Gaussian(2),
    TABLE,
    Approximate(1, F(1, 1000)),
    Sampled(F(1, 10), Gaussian(1)),
    Sampled(F(1, 10), Laplace(1)),
]
BESIDE = [Gaussian(3), Laplace(2), Sampled(F(1, 10), Gaussian(1))]
USES = [(1, 1, 1e-5), (1000, 1, 1e-30), (10, 10, 0.3), (10**9, 3, 1e-9), (3, 1000, 1e-12)]


@pytest.mark.parametrize("beside", BESIDE, ids=str)
def test_every_kind_beside_every_density_is_answered(beside: Leaf) -> None:
    """Once and a billion times, each of a few counts in turn."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for i, leaf in enumerate(KINDS):
            for times, more, delta in islice(
                cycle(USES), i + BESIDE.index(beside), i + BESIDE.index(beside) + repeats(1)
            ):
                check_answers(times * loss(leaf) + more * loss(beside), delta)


WIDE = [Gaussian(30), Gaussian(10**6), Sampled(F(1, 10**4), Gaussian(10))]
NARROW = [
    (RandomizedResponse(1), 100),
    (DiscreteGaussian(1), 30),
    (DiscreteGaussian(2), 1000),
    (DiscreteLaplace(1), 10**4),
]


@pytest.mark.parametrize("beside", WIDE, ids=str)
@pytest.mark.parametrize("leaf, times", NARROW, ids=str)
def test_a_wide_noise_beside_points_never_makes_them_cheaper(leaf: Leaf, times: int, beside: Leaf) -> None:
    """To 1e-9 of ε and to 1e-8 of δ, both ways of asking."""
    alone = times * loss(leaf)
    both = alone + loss(beside)
    for delta in (1e-2, 1e-5, 1e-9):
        epsilon = alone.epsilon(delta)
        assert both.epsilon(delta) >= epsilon * (1 - SAME)
        assert both.delta(epsilon) >= alone.delta(epsilon) * (1 - 1e-8)


@pytest.mark.parametrize("sigma", ["3", "50", "1000", "1000000"])
@pytest.mark.parametrize("times", [1, 7, 100])
def test_points_beside_a_gaussian_are_exact(sigma: str, times: int) -> None:
    """Against the oracle, however narrow the Gaussian's loss is."""
    truth = oracle.together(oracle.response(F(1)) * times, oracle.gaussian(1 / F(sigma) ** 2))
    spent = times * loss(RandomizedResponse(1)) + loss(Gaussian(F(sigma)))
    for epsilon in (F(0), F(times, 3), F(9 * times, 10)):
        assert oracle.relative_error(spent.delta(epsilon), truth(epsilon)) < SAME


@pytest.mark.parametrize(
    "leaf",
    [Gaussian(2), Laplace(2), Laplace(F(1, 5)), Sampled(F(1, 10), Gaussian(1)), Sampled(F(1, 2), Laplace(1))],
    ids=str,
)
def test_a_cover_holds_at_all_larger_heights(leaf: Leaf) -> None:
    """Nothing that was cut off comes back: |E e^((c + is)L)|/E e^(cL) is below the cover of every smaller s."""
    for side in sides(leaf):
        for c in (0.1, 1.0, 8.0):
            for start in (0.5, 5.0, 40.0):
                t = c + 1j * np.geomspace(start, 10 * start, 150)
                covered = float(side.log_cover(c, np.array([start]))[0])
                assert float((side.k(t).real - side.real(c)).max()) <= covered + 1e-6


def test_ordinary_sums_of_two_kinds_are_answered() -> None:
    for spent, epsilon in (
        (loss(RandomizedResponse(F(1, 10))) + loss(Gaussian(100)), 1),
        (loss(DiscreteLaplace(10)) + loss(Gaussian(50)), 2),
    ):
        assert 0 <= spent.delta(epsilon) <= exp(spent.log_delta_above(epsilon))
        assert 0 <= spent.tradeoff(F(1, 100)) <= 1 - 0.01


@pytest.mark.parametrize("times, rate", [(10, F(1, 1000)), (30, F(1, 1000)), (5, F(1, 100)), (2, F(1, 100))])
def test_few_sampled_releases_are_calibrated(times: int, rate: Fraction) -> None:
    assert calibrate.gaussian(1, F(1, 10**6), times=times, rate=rate).certificate.holds()


@pytest.mark.parametrize("leaf", KINDS, ids=str)
@pytest.mark.parametrize("times", [3, 10**9])
def test_extreme_questions_are_answered(leaf: Leaf, times: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        spent = times * loss(leaf)
        for delta in (F("1e-320"), F(1, 10**400), 1e-300):
            low, high = spent.interval(delta)
            assert 0 <= low <= high
            assert low * (1 - SAME) <= spent.epsilon(delta) <= high * (1 + SAME)
            assert spent.certifies(1, delta) in (True, False)
        for epsilon in (10**400, 1e300, 10**12):
            assert 0 <= spent.delta(epsilon) <= 1
            assert spent.log_delta_above(epsilon) <= 0
            assert 0 <= spent.exceeds(epsilon) <= spent.bad_event(epsilon) <= 1
        assert spent.certifies(10**400, F(1, 2)) == (spent.catastrophe() <= 0.5)


def test_a_table_used_very_often_is_answered() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert 0 < (10**9 * loss(TABLE)).epsilon(1e-12) < inf
