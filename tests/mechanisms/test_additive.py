"""Noise that is added: budgets are met with rounding included, bad input is refused by name, vectors are priced as drawn."""

import itertools
from fractions import Fraction
from math import log, sqrt

import numpy as np
import pytest

from discreet.errors import Invalid
from discreet.exact import sqrt_up
from discreet.mechanisms import DiscreteGaussian, Gaussian, Geometric, Laplace, RoundedGaussian, gaussian
from discreet.mechanisms.additive import IntegerNoise, NoiseShape
from discreet.mechanisms.base import registry
from discreet.mechanisms.sensitivity import Norm
from discreet.mechanisms.vector import choose
from discreet.noise import Grid, Tape
from discreet.privacy import events, loss

MILLIONTH = Fraction(1, 10**6)


@pytest.mark.parametrize("kind", [Geometric, Laplace])
@pytest.mark.parametrize("epsilon", [Fraction(1, 1000), Fraction(1, 2), 1, 50])
def test_noise_for_an_epsilon_meets_it_and_is_least(kind: type[Geometric], epsilon: Fraction) -> None:
    found = kind.for_epsilon(epsilon, sensitivity=3)
    assert found.loss(3).certifies(epsilon, 0)
    assert not kind(found.scale * Fraction(999_999, 10**6)).loss(3).certifies(epsilon, 0)


@pytest.mark.parametrize("kind", [Geometric, Laplace, Gaussian, DiscreteGaussian])
@pytest.mark.parametrize(("epsilon", "delta"), [(1, MILLIONTH), (Fraction(1, 10), Fraction(1, 10**9)), (8, MILLIONTH)])
def test_noise_for_a_budget_is_certified(kind: type[Geometric], epsilon: Fraction, delta: Fraction) -> None:
    assert kind.for_budget(epsilon, delta, sensitivity=2).loss(2).certifies(epsilon, delta)


def test_known_scales() -> None:
    assert float(Gaussian.for_budget(1, Fraction(1, 10**5)).scale) == pytest.approx(3.7306316, rel=1e-6)
    assert Gaussian.for_budget(0, Fraction(1, 100)).scale > 39  # works without any epsilon
    classical = Gaussian.classical(1, Fraction(1, 10**5))
    assert float(classical.scale) == pytest.approx(sqrt(2 * log(1.25e5)), rel=1e-8)
    with pytest.raises(Invalid, match="at most 1"):
        Gaussian.classical(2, Fraction(1, 10**5))


@pytest.mark.parametrize("kind", [Geometric, Laplace, Gaussian, DiscreteGaussian])
def test_noise_for_an_error_stays_within_it_and_nearly_fills_it(kind: type[Geometric]) -> None:
    found = kind.for_error(50, confidence=0.9)
    assert found.error(0.9) <= 50 * (1 + 1e-9)
    assert kind(found.scale * Fraction(11, 10)).error(0.9) > 50


def test_real_noise_costs_what_continuous_noise_costs_to_a_billionth() -> None:
    for ours, continuous in (
        (Laplace(Fraction(10)), events.Laplace(10)),
        (Gaussian(Fraction(50)), events.Gaussian(50)),
    ):
        many, limit = 1000 * ours.loss(), 1000 * loss(continuous)
        assert limit.epsilon(MILLIONTH) <= many.epsilon(MILLIONTH) <= limit.epsilon(MILLIONTH) * (1 + 1e-9)


def test_numbers_and_arrays_are_rounded_alike() -> None:
    """To the nearest step, a half up, on both sides of 0: what is charged for rounding is one step, and not two around 0."""
    coarse = Laplace(Fraction(1), grid=Grid(-2))
    values = [Fraction(i, 64) for i in range(-200, 201)]
    one_by_one = [coarse.grid.index(value) for value in values]
    assert coarse._on_grid(np.array([float(value) for value in values])).tolist() == one_by_one
    assert all(abs(4 * value - index) <= Fraction(1, 2) for value, index in zip(values, one_by_one, strict=True))


@pytest.mark.parametrize("scale", [1, 2])
@pytest.mark.parametrize("shift", [1, 3])
def test_integer_noise_of_few_steps_costs_what_it_draws(
    scale: int, shift: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On so coarse a grid that the continuous curve of the same shift is up to 2.8 times too low between two losses."""
    monkeypatch.setattr(gaussian, "FINE", 1)
    drawn = loss(events.DiscreteGaussian(scale, shift))
    charged = RoundedGaussian(Fraction(scale)).loss(shift)
    assert RoundedGaussian(Fraction(scale)).bits == 0
    for i in range(40):
        assert drawn.delta(Fraction(i, 4)) <= charged.delta(Fraction(i, 4)) * (1 + 1e-9)


def test_rounding_is_part_of_the_sensitivity() -> None:
    """Inputs one sensitivity apart may be rounded one step farther apart, in every coordinate."""
    coarse = Laplace(Fraction(1), grid=Grid(-2))
    x, y = 0.124, 0.376  # a quarter and a bit apart, and two steps of a quarter
    assert coarse.grid.index(x) - coarse.grid.index(y) == -2
    assert coarse.event(Fraction(252, 1000)) == events.DiscreteLaplace(4, 3)
    assert coarse.event(1, size=3) == events.DiscreteLaplace(4, 7)


def test_gaussian_vectors_are_priced_by_their_norm_and_rounding() -> None:
    event = Gaussian(Fraction(3), grid=Grid(0)).event(5, size=16)
    assert isinstance(event, events.Gaussian)
    assert event.sensitivity >= 5 + 4
    assert DiscreteGaussian(Fraction(2)).event_of_shift([1, -1, 0]) == events.Composed(
        (events.DiscreteGaussian(2, 1), events.DiscreteGaussian(2, 1), events.DiscreteGaussian(2, 0))
    )
    assert DiscreteGaussian(Fraction(2)).event_of_norm(3) == events.ZeroConcentrated(Fraction(9, 8))


def test_one_coordinate_is_the_worst_case_of_geometric_noise_on_a_vector() -> None:
    one = Geometric(Fraction(4)).loss(3)
    for parts in ((1, 1, 1), (2, 1)):
        many = loss(events.Composed(tuple(events.DiscreteLaplace(4, part) for part in parts)))
        for epsilon in (0, Fraction(1, 10), Fraction(1, 4), Fraction(1, 2), Fraction(7, 10)):
            assert many.delta(epsilon) <= one.delta(epsilon) * (1 + 1e-12)


ON_INTEGERS = [name for name in registry.names() if isinstance(registry.examples(name)[0].mechanism, IntegerNoise)]


@pytest.mark.parametrize("name", ON_INTEGERS)
def test_a_vector_costs_no_more_than_its_norm_in_one_coordinate(name: str) -> None:
    """Which norm that is, a mechanism says itself; one that prices single integers only says none."""
    for example in registry.examples(name):
        noise = example.mechanism
        assert isinstance(noise, IntegerNoise) and isinstance(noise.shape, NoiseShape)
        if noise.norm is None:
            continue
        for moves in ((1, 1), (2, 1, 3), (4, 0, 3)):
            size = sum(moves) if noise.norm is Norm.L1 else sqrt_up(Fraction(sum(d * d for d in moves)))
            parts = loss(events.Composed(tuple(noise.event(d) for d in moves)))
            whole = noise.loss(size)
            for epsilon in (0, Fraction(1, 10), Fraction(1, 2)):
                assert parts.delta(epsilon) <= whole.delta(epsilon) * (1 + 1e-9)
            assert (whole.pure_epsilon() or 0) >= (parts.pure_epsilon() or 0)


def test_noise_for_single_integers_says_no_norm() -> None:
    """No single shift of a vector is the worst for discrete Gaussian noise at every δ."""
    assert (Geometric.norm, RoundedGaussian.norm, DiscreteGaussian.norm) == (Norm.L1, Norm.L2, None)


def test_scalars_and_arrays_keep_their_shapes() -> None:
    assert type(Geometric(Fraction(2))(3, Tape(1))) is int
    assert type(Laplace(Fraction(2))(3.5, Tape(1))) is float
    assert Geometric(Fraction(2))([[1, 2], [3, 4]], Tape(1)).shape == (2, 2)
    assert Gaussian(Fraction(2))(np.zeros((3, 0)), Tape(1)).shape == (3, 0)


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), "1", None, True])
@pytest.mark.parametrize("kind", [Geometric, Laplace, Gaussian, DiscreteGaussian])
def test_a_bad_scale_is_refused_by_name(kind: type[Geometric], bad: object) -> None:
    with pytest.raises(Invalid, match="scale"):
        kind(bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [1.5, "3", None, True, [1.5], ["a"], [2**63 - 1]])
def test_a_bad_integer_is_refused_before_anything_is_drawn(bad: object) -> None:
    with pytest.raises(Invalid, match="exact"):
        Geometric(Fraction(1))(bad, _Nothing())


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), "3", 1e300, [float("nan")], ["a"], [1e300]])
def test_a_bad_real_is_refused_before_anything_is_drawn(bad: object) -> None:
    with pytest.raises(Invalid, match=r"exact|value"):
        Laplace(Fraction(1))(bad, _Nothing())


@pytest.mark.parametrize("bad", [-1, float("nan"), "1", None])
def test_a_bad_sensitivity_is_refused_by_name(bad: object) -> None:
    for mechanism in (
        Geometric(Fraction(1)),
        Laplace(Fraction(1)),
        Gaussian(Fraction(1)),
        DiscreteGaussian(Fraction(1)),
    ):
        with pytest.raises(Invalid, match="sensitivity"):
            mechanism.event(bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [0, 1, -0.5, 2, float("nan"), "a"])
def test_a_bad_confidence_is_refused_by_name(bad: object) -> None:
    with pytest.raises(Invalid, match="confidence"):
        Laplace(Fraction(1)).error(bad)  # type: ignore[arg-type]


def test_vectors_take_the_noise_that_is_predicted_to_be_closer() -> None:
    """On a mean of vectors the gain of Gaussian noise grows like √k."""
    ratios = []
    for k in (1, 4, 16, 64, 256):
        choice = choose(1, MILLIONTH, l1=k, l2=Fraction(str(sqrt(k))) if k > 1 else 1, size=k)
        assert choice.gaussian_error is not None
        ratios.append(choice.laplace_error / choice.gaussian_error)
        better = Gaussian if choice.gaussian_error < choice.laplace_error else Laplace
        assert isinstance(choice.mechanism, better)
    assert ratios[0] < 1 < ratios[-1]
    for earlier, later in itertools.pairwise(ratios):
        assert later / earlier == pytest.approx(2, rel=1e-6)  # k four times as large, the gain twice


def test_a_vector_without_delta_gets_laplace_noise_that_is_certified() -> None:
    choice = choose(Fraction(1, 2), 0, l1=10, l2=4, size=1000)
    assert isinstance(choice.mechanism, Laplace) and choice.gaussian_error is None
    assert loss(choice.mechanism.event(10, 1000)).certifies(Fraction(1, 2), 0)
    with pytest.raises(Invalid, match="l2 <= l1"):
        choose(1, 0, l1=1, l2=2, size=4)


class _Nothing:
    """A source that fails the test when it is asked."""

    private = False

    def __getattr__(self, name: str) -> object:
        raise AssertionError("noise was drawn")
