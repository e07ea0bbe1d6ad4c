"""Spend and measure in one act: nothing is drawn that was not granted, and nothing is looked at before."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import Fault, Invalid
from discreet.mechanisms import DiscreteGaussian, Gaussian, Geometric, Laplace
from discreet.mechanisms.measure import unmetered
from discreet.noise import Tape
from discreet.privacy import events

NOISE = Geometric(Fraction(10))


def never() -> int:
    raise AssertionError("the exact value was looked at")


def test_what_was_granted_can_be_drawn_and_is_spent() -> None:
    measure = unmetered(Tape(1))
    with measure(events.Repeated(NOISE.event(1), 2), label="two counts") as grant:
        assert isinstance(grant(NOISE, 1, lambda: 5), int)
        assert grant(NOISE, 1, lambda: np.array([5, 6])).shape == (2,)
    assert measure.spent.pure_epsilon() == Fraction(1, 5)


def test_what_was_not_drawn_is_spent_all_the_same() -> None:
    measure = unmetered()
    with measure(events.Repeated(NOISE.event(1), 3)):
        pass
    with pytest.raises(KeyError), measure(NOISE.event(1)):
        raise KeyError
    assert measure.spent.pure_epsilon() == Fraction(4, 10)


@pytest.mark.parametrize(
    ("mechanism", "sensitivity"),
    [
        (NOISE, 2),  # more sensitivity
        (Geometric(Fraction(9)), 1),  # less noise
        (DiscreteGaussian(Fraction(10)), 1),  # other noise
        (Laplace(Fraction(10)), 1),
    ],
)
def test_a_draw_beyond_the_grant_is_a_fault_and_sees_nothing(mechanism: Geometric, sensitivity: int) -> None:
    with unmetered()(NOISE.event(1)) as grant:
        with pytest.raises(Fault, match="beyond what was granted"):
            grant(mechanism, sensitivity, never)
        assert isinstance(grant(NOISE, 1, lambda: 5), int)  # the grant itself was not touched


def test_the_second_draw_of_one_grant_is_a_fault() -> None:
    with unmetered()(NOISE.event(1)) as grant:
        grant(NOISE, 1, lambda: 5)
        with pytest.raises(Fault, match="beyond what was granted"):
            grant(NOISE, 1, never)


def test_a_grant_ends_with_its_block() -> None:
    with unmetered()(NOISE.event(1)) as grant:
        pass
    with pytest.raises(Fault, match="has ended"):
        grant(NOISE, 1, never)


def test_less_sensitivity_is_covered_by_more_and_pure_privacy_by_its_sum() -> None:
    with unmetered()(NOISE.event(5)) as grant:
        grant(NOISE, 3, lambda: 5)
    with unmetered()(events.Pure(Fraction(3, 10))) as grant:
        grant(NOISE, 1, lambda: 5)
        grant(NOISE, 2, lambda: 5)
        with pytest.raises(Fault, match="beyond"):
            grant(NOISE, 1, never)


def test_less_sensitivity_of_a_coarse_discrete_gaussian_is_not_covered() -> None:
    """There more noise may cost more, and so may less sensitivity."""
    coarse = DiscreteGaussian(Fraction(1, 2))
    with unmetered()(coarse.event(2)) as grant, pytest.raises(Fault, match="beyond"):
        grant(coarse, 1, never)


def test_gaussian_noise_is_never_covered_by_a_pure_grant() -> None:
    with unmetered()(events.Pure(Fraction(100))) as grant, pytest.raises(Fault, match="beyond"):
        grant(Gaussian(Fraction(10)), 1, never)


def test_a_longer_vector_of_reals_than_was_granted_is_a_fault() -> None:
    noise = Laplace(Fraction(10))
    with unmetered()(noise.event(1, 2)) as grant, pytest.raises(Fault, match="longer"):
        grant(noise, 1, lambda: np.zeros(3), size=2)


def test_what_is_no_mechanism_is_refused_by_name() -> None:
    with unmetered()(NOISE.event(1)) as grant, pytest.raises(Invalid, match="mechanism must be"):
        grant("laplace", 1, never)  # type: ignore[arg-type]
