"""A kind of leaf is known in one place: what it costs, for groups, for zCDP and for grants."""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest

from discreet.curator.money import spent_by
from discreet.errors import Fault, Invalid, Refused
from discreet.mechanisms.allowance import Allowance
from discreet.privacy import cost, events, loss
from discreet.privacy.cost import Cost, costs
from discreet.privacy.filters import SpentConcentrated
from discreet.privacy.numeric.kinds import AtPoints
from discreet.privacy.numeric.side import Points, Sides, symmetric

F = Fraction


@dataclass(frozen=True, slots=True)
class Toy(events.Leaf):
    """A coin that shows the truth with probability 3/4."""

    kind: ClassVar[str] = "toy"
    size: int = field(default=1, metadata=events.COUNT)


del events.KINDS[Toy.kind]  # no record is ever read as one


class ToyCost(Cost[Toy]):
    """All that anyone knows of it."""

    def sides(self) -> Sides:
        loss = np.log(3.0)
        return symmetric(AtPoints(Points(np.array([-loss, loss]), np.log([0.25, 0.75]))))


def with_toy(check: Callable[[Toy], None]) -> None:
    """The check, while the toy is registered: in one place."""
    costs(Toy)(ToyCost)
    try:
        check(Toy())
    finally:
        del cost.COSTS[Toy]
        cost.sides.cache_clear()


def test_a_new_leaf_is_composed() -> None:
    def check(toy: Toy) -> None:
        response = loss(events.RandomizedResponse(F(str(float(np.log(3.0))))))
        for times in (1, 2, 10):
            spent = times * loss(toy)
            assert spent.delta(F(1, 2)) == pytest.approx((times * response).delta(F(1, 2)), rel=1e-9)
            assert spent.epsilon(1e-3) == pytest.approx((times * response).epsilon(1e-3), rel=1e-9)
            assert (spent + loss(events.Gaussian(3))).interval(1e-6)[1] > spent.interval(1e-6)[0]

    with_toy(check)


def test_a_new_leaf_is_grouped() -> None:
    def check(toy: Toy) -> None:
        pure = loss(toy).pure_epsilon()
        assert pure is not None
        assert loss(toy).group(3).terms == ((events.Pure(3 * pure), 1),)

    with_toy(check)


def test_a_new_leaf_is_charged_by_zcdp() -> None:
    def check(toy: Toy) -> None:
        pure = loss(toy).pure_epsilon()
        assert spent_by(events.Repeated(toy, 2)).rho == 2 * SpentConcentrated.by_approximate(pure or 0).rho

    with_toy(check)


def test_a_new_leaf_is_granted_and_drawn_once() -> None:
    def check(toy: Toy) -> None:
        allowance = Allowance(toy)
        assert not allowance.covers(Toy(2))
        allowance.take(toy)
        with pytest.raises(Fault):
            allowance.take(toy)
        by_pure = Allowance(events.Pure(2))
        by_pure.take(toy)
        with pytest.raises(Fault):
            by_pure.take(toy)

    with_toy(check)


def test_a_new_leaf_may_be_sampled() -> None:
    def check(toy: Toy) -> None:
        assert 0 < loss(toy).sampled(F(1, 10)).delta(0) < loss(toy).delta(0)

    with_toy(check)


def test_a_leaf_that_nobody_registered_is_refused() -> None:
    with pytest.raises(Invalid, match="no privacy loss is known for the event Toy"):
        loss(Toy())


def test_a_grant_covers_the_same_noise_on_less() -> None:
    for kind in (events.Laplace, events.Gaussian, events.DiscreteLaplace):
        assert cost.cost_of(kind(2, 3)).covers(kind(2, 2))
        assert not cost.cost_of(kind(2, 2)).covers(kind(2, 3))
        assert cost.cost_of(kind(2, 3)).covers(kind(3, 3)) is (kind is events.Gaussian)
    assert cost.cost_of(events.Gaussian(2, 3)).covers(events.Gaussian(4, 6))
    assert not cost.cost_of(events.Gaussian(2, 3)).covers(events.Gaussian(4, 7))
    assert not cost.cost_of(events.Gaussian(2, 3)).covers(events.Laplace(4, 6))
    assert not cost.cost_of(events.DiscreteGaussian(2, 3)).covers(events.DiscreteGaussian(2, 2))
    assert cost.cost_of(events.DiscreteGaussian(6000, 3)).covers(events.DiscreteGaussian(6000, 2))


def test_a_grant_of_a_sample_covers_that_rate_only() -> None:
    granted = cost.cost_of(events.Sampled(F(1, 10), events.Gaussian(2, 3)))
    assert granted.covers(events.Sampled(F(1, 10), events.Gaussian(2, 2)))
    assert not granted.covers(events.Sampled(F(1, 5), events.Gaussian(2, 2)))
    assert not granted.covers(events.Gaussian(2, 2))


@pytest.mark.parametrize("kind", sorted(events.KINDS))
def test_every_leaf_of_the_house_has_a_cost(kind: str) -> None:
    leaf = events.KINDS[kind]
    assert not issubclass(leaf, events.Leaf) or leaf in cost.COSTS


def test_what_has_no_theorem_is_refused_by_zcdp() -> None:
    with pytest.raises(Refused, match="no theorem"):
        spent_by(events.Sampled(F(1, 10), events.Gaussian(1)))


@pytest.mark.parametrize("scale", [F(1, 3), F(1), F(7, 2), F(1000)])
@pytest.mark.parametrize("sensitivity", [0, 1, 2, 9_999, 10_000, 10_001, 10**6])
def test_what_is_said_of_the_largest_loss_is_what_the_sides_have(scale: Fraction, sensitivity: int) -> None:
    """On a lattice, and beyond the longest one that is computed with."""
    leaf = events.DiscreteLaplace(scale, sensitivity)
    assert cost.cost_of(leaf).pure == loss(leaf).pure_epsilon() == max(side.pure or 0 for side in cost.sides(leaf))
