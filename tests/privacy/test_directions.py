"""Where adding a unit is the worse direction, adding decides every answer: each law checks in itself that it does."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import exp, log

import pytest

from discreet.privacy import calibrate, loss
from discreet.privacy.events import DiscreteLaplace, Laplace, Leaf, Pure, RandomizedResponse, Sampled, ZeroConcentrated
from tests.privacy import oracle

F = Fraction
HALF = F(1, 2)
NEAR = 1e-6  # relative: that of the oracle's quadrature, and of certified ends


@dataclass(frozen=True)
class Case:
    """`times` releases of a part, each sampled at 1/2, asked at ε; the oracle's curves for removing and for adding."""

    name: str
    part: Leaf
    times: int
    epsilon: Fraction
    build: Callable[[], tuple[oracle.Curve, oracle.Curve]]

    def __str__(self) -> str:
        return self.name

    @property
    def loss(self) -> object:
        return self.times * loss(Sampled(HALF, self.part))

    def truths(self, epsilon: Fraction | None = None) -> tuple[float, float]:
        """δ for removing and for adding."""
        return _truths(self, self.epsilon if epsilon is None else epsilon)

    def decided(self) -> float:
        """δ for adding, which is the worse direction here by more than any tolerance of these tests."""
        removing, adding = self.truths()
        assert adding > 1.002 * removing, f"adding does not decide: {removing}, {adding}"
        return adding


@cache
def _curves(case: Case) -> tuple[oracle.Curve, oracle.Curve]:
    return case.build()


@cache
def _truths(case: Case, epsilon: Fraction) -> tuple[float, float]:
    removing, adding = (float(curve(epsilon)) for curve in _curves(case))
    return removing, adding


def _atoms(name: str, part: Leaf, one: Callable[[], oracle.Losses], times: int, epsilon: str) -> Case:
    sides = lambda: oracle.sampled_atom_sides(HALF, one(), times)  # noqa: E731
    return Case(f"{times} {name} at ε={epsilon}", part, times, F(epsilon), sides)


CASES = [
    *(
        _atoms("responses", RandomizedResponse(1), lambda: oracle.response(F(1)), times, epsilon)
        for times, epsilon in ((2, "0.2"), (2, "0.4"), (5, "0.1"), (5, "0.2"), (20, "0.4"))
    ),
    _atoms("responses of 3", RandomizedResponse(1, 3), lambda: oracle.response(F(1), 3), 2, "0.2"),
    _atoms("geometric", DiscreteLaplace(1), lambda: oracle.discrete_laplace(F(1)), 2, "0.2"),
    _atoms("geometric", DiscreteLaplace(1), lambda: oracle.discrete_laplace(F(1)), 20, "0.4"),
    *(
        Case(f"2 Laplace at ε={e}", Laplace(1), 2, F(e), lambda: oracle.sampled_laplace_sides(HALF, F(1)))
        for e in ("0.1", "0.2")
    ),
]
every_case = pytest.mark.parametrize("case", CASES, ids=str)


@every_case
def test_delta_is_that_of_adding(case: Case) -> None:
    truth = case.decided()
    assert case.loss.delta(case.epsilon) == pytest.approx(truth, rel=NEAR, abs=0)
    assert case.loss.worse_direction(case.epsilon) == 1


@every_case
def test_epsilon_is_that_of_adding(case: Case) -> None:
    truth = case.decided()
    assert case.loss.epsilon(truth) == pytest.approx(float(case.epsilon), rel=1e-5)


@every_case
def test_the_certified_interval_holds_the_epsilon_of_adding(case: Case) -> None:
    truth = case.decided()
    low, high = case.loss.interval(truth)
    assert low * (1 - 1e-5) <= case.epsilon <= high * (1 + 1e-5)
    assert high == pytest.approx(float(case.epsilon), rel=1e-3)


@every_case
def test_nothing_below_the_delta_of_adding_is_certified(case: Case) -> None:
    truth = case.decided()
    between = (truth + case.truths()[0]) / 2
    assert not case.loss.certifies(case.epsilon, between)
    assert not case.loss.certifies(case.epsilon, truth * (1 - 1e-4))
    assert case.loss.certifies(case.epsilon, truth * 1.001)


@every_case
def test_the_certified_delta_is_at_least_that_of_adding(case: Case) -> None:
    truth = case.decided()
    above = case.loss.log_delta_above(case.epsilon)
    assert log(truth) - NEAR <= above <= log(truth) + 1e-3


@every_case
def test_an_attacker_does_as_well_as_adding_allows(case: Case) -> None:
    """At a false-positive rate for which the oracle's curve of adding decides the trade-off."""
    case.decided()
    grid = [case.epsilon * F(i, 8) for i in range(25)]
    rate = 0.3 if case.times < 20 else 0.1

    def least_error(deltas: list[float]) -> float:
        pairs = [(float(epsilon), delta) for epsilon, delta in zip(grid, deltas, strict=True)]
        return max(max(1 - d - exp(e) * rate, exp(-e) * (1 - d - rate)) for e, d in pairs)

    removing = least_error([case.truths(epsilon)[0] for epsilon in grid])
    both = least_error([max(case.truths(epsilon)) for epsilon in grid])
    assert both < removing, "adding does not decide"
    found = case.loss.tradeoff(F(rate))
    assert both - NEAR <= found <= both + (removing - both) / 2  # the grid may miss the least error by a little


@pytest.mark.parametrize("case", [CASES[6], CASES[9]], ids=str)
def test_calibrated_noise_is_enough_for_adding(case: Case) -> None:
    truth = case.decided()
    find = calibrate.laplace if isinstance(case.part, Laplace) else calibrate.discrete_laplace
    scale = find(case.epsilon, truth, times=case.times, rate=HALF).scale
    assert 1 - 1e-5 <= scale <= 1.01


def nothing_below_the_worse_direction_is_certified() -> None:
    """At δ = 0: the ε of both directions, of which that of adding a unit may be the smaller one."""
    for rate in (F(1, 10), F(1, 2), F(9, 10)):
        for leaf in (Laplace(1), RandomizedResponse(2), Pure(F(1, 3))):
            spent = loss(Sampled(rate, leaf))
            pure = spent.pure_epsilon()
            assert pure is not None and spent.certifies(pure, 0)
            for less in (F(1, 100), F(1, 2), F(95, 100), F(999, 1000)):
                assert not spent.certifies(less * pure, 0)


def test_nothing_below_the_worse_direction_is_certified() -> None:
    nothing_below_the_worse_direction_is_certified()


def a_release_beside_it_hides_no_direction() -> None:
    """Where adding a unit is worse, it stays so beside a release for which both directions are the same."""
    for case in CASES[:1]:
        spent = case.times * loss(Sampled(HALF, case.part))
        beside = spent + loss(Pure(F(1, 10**9)))
        assert beside.delta(case.epsilon) >= spent.delta(case.epsilon) * (1 - NEAR)


def test_a_release_beside_it_hides_no_direction() -> None:
    a_release_beside_it_hides_no_direction()


def concentrated_parts_add_up() -> None:
    """What is known by zCDP alone costs, used many times, what the sum of its ρ costs."""
    for times in (2, 5, 100):
        many, one = times * loss(ZeroConcentrated(F(1, 1000))), loss(ZeroConcentrated(F(times, 1000)))
        assert many.epsilon(F(1, 10**6)) == pytest.approx(one.epsilon(F(1, 10**6)), rel=NEAR)


def test_concentrated_parts_add_up() -> None:
    concentrated_parts_add_up()
