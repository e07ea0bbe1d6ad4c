"""Where one function per mechanism is not enough: each shortcut that would be a privacy hole, with the example that shows it."""

from fractions import Fraction
from itertools import product
from math import exp, expm1, fsum, log, tanh
from statistics import NormalDist

import numpy as np
import pytest

from discreet.errors import Invalid
from discreet.privacy.adjacency import Adjacency, Relation
from discreet.privacy.events import (
    Approximate,
    Composed,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    RandomizedResponse,
    Repeated,
    Sampled,
    Under,
    ZeroConcentrated,
)
from discreet.privacy.loss import loss
from tests.privacy import oracle
from tests.privacy.cases import side_of

F = Fraction
NEAR = 1e-9
NORMAL = NormalDist()
ADD_REMOVE, REPLACE = Relation(Adjacency.ADD_REMOVE), Relation(Adjacency.REPLACE)


# Copies are priced as often as they are used.


def test_eight_responses_are_priced_as_eight() -> None:
    """ε = 8 ln 4 at δ = 0, not ln 4: accountants that look at one copy only say 1.39."""
    response = RandomizedResponse(F("1.3862943611198906"))
    assert loss(Repeated(response, 8)).epsilon(0) == pytest.approx(8 * log(4), rel=NEAR)
    assert loss(Composed((response,) * 8)).epsilon(1e-12) == pytest.approx(8 * log(4), rel=1e-6)


# The event names what was drawn.


def test_geometric_noise_by_one_step_is_randomized_response_and_worse_than_laplace() -> None:
    """Its loss is always ±ε: 100 counts at ε = 0.1 cost 4.7746 at δ = 1e-6, where Laplace noise costs 4.6927."""
    geometric, response, laplace = (
        100 * loss(leaf) for leaf in (DiscreteLaplace(10), RandomizedResponse(F("0.1")), Laplace(10))
    )
    assert geometric.epsilon(1e-6) == pytest.approx(response.epsilon(1e-6), rel=1e-12)
    assert geometric.epsilon(1e-6) == pytest.approx(4.7746, abs=5e-5)
    assert laplace.epsilon(1e-6) == pytest.approx(4.6927, abs=5e-5)
    for epsilon in (0, 1, 5, F("9.5")):
        assert geometric.delta(epsilon) == pytest.approx(response.delta(epsilon), rel=1e-12, abs=0)
        assert geometric.delta(epsilon) >= laplace.delta(epsilon)


@pytest.mark.parametrize("steps", [1, 3, 10, 1000])
def test_noise_on_a_grid_costs_more_than_continuous_noise_and_at_most_its_correction(steps: int) -> None:
    """Δ = b = `steps` steps, g/b = 1/steps: δ(ε) <= e^(g/2b) δ_continuous(ε − g/b), and between two losses δ is larger."""
    on_grid, continuous = loss(DiscreteLaplace(steps, steps)), loss(Laplace(1))
    for i in (0, steps // 3, 2 * steps // 3):  # half-way between two possible losses, above 0
        epsilon = 1 - F(2 * i + 1, steps) if steps > 1 else F(1, 2)
        if epsilon < 0:
            continue
        corrected = exp(0.5 / steps) * -expm1((float(epsilon) - 1 / steps - 1) / 2)
        assert continuous.delta(epsilon) * (1 + 1e-14) < on_grid.delta(epsilon) <= corrected


def test_a_grid_too_fine_to_tell_is_never_priced_below_what_it_is() -> None:
    """One use, exactly: straight lines in γ = e^ε between the corners 1 − √(γ/e^(Δ/b)) at the possible losses."""
    steps, scale = 20_001, 15_000
    spent = loss(DiscreteLaplace(scale, steps))
    with oracle.ctx.workprec(oracle.PRECISION):
        for i in (10, 3_000, 9_000):
            corners = [oracle.ball(F(steps - 2 * x, scale)) for x in (i, i + 1)]
            heights = [1 - ((corner - oracle.ball(F(steps, scale))) / 2).exp() for corner in corners]
            truth = (heights[0] + heights[1]) / 2
            epsilon = float(((corners[0].exp() + corners[1].exp()) / 2).log())
            assert oracle.arb(spent.delta(epsilon)) >= truth * (1 - 1e-14)
            assert oracle.arb(spent.delta(epsilon)) <= truth * (1 + 1e-4)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 2.0])
def test_a_discrete_gaussian_too_wide_to_enumerate_is_never_priced_below_what_it_is(epsilon: float) -> None:
    sigma, shift = 6_000, 3_000
    x = np.arange(-14 * sigma, 14 * sigma + 1, dtype=np.float64)
    weight = np.exp(-(x**2) / (2 * sigma**2))
    gain = weight * -np.expm1(np.minimum(0.0, epsilon - shift * (shift - 2 * x) / (2 * sigma**2)))
    truth = fsum(gain) / fsum(weight)
    assert truth * (1 - 1e-12) <= loss(DiscreteGaussian(sigma, shift)).delta(epsilon) <= truth * (1 + 1e-6)


def test_discrete_noise_on_a_fine_grid_costs_what_continuous_noise_costs() -> None:
    """Real-valued mechanisms draw on a grid of about 2^-40 of their scale; their events are discrete ones."""
    grid = 2**40
    fine = loss(DiscreteLaplace(grid, grid // 10 + 1))
    assert (100 * fine).epsilon(1e-6) == pytest.approx((100 * loss(Laplace(10))).epsilon(1e-6), rel=NEAR)
    fine = loss(DiscreteGaussian(grid, grid // 50 + 1))
    assert (1000 * fine).epsilon(1e-6) == pytest.approx(2.92160059, rel=NEAR)


# More noise.


def test_more_discrete_gaussian_noise_may_cost_more() -> None:
    """At ε = 4: why calibration certifies the very scale that it returns."""
    assert loss(DiscreteGaussian(F("0.354"))).delta(4) == pytest.approx(0.018, abs=5e-4)
    assert loss(DiscreteGaussian(F("0.519"))).delta(4) == pytest.approx(0.095, abs=5e-4)


# Vectors of discrete Gaussian noise.


def vector_delta(sigma: float, shift: tuple[int, int], epsilon: float) -> float:
    """Σ (P − e^ε Q)₊ over the plane, P centred at 0 and Q at the shift."""
    x = np.arange(-40, 41, dtype=np.float64)
    total = np.exp(-(x**2) / (2 * sigma**2)).sum()
    p, q = (
        np.exp(-((x - a) ** 2) / (2 * sigma**2))[:, None] * np.exp(-((x - b) ** 2) / (2 * sigma**2))[None, :] / total**2
        for a, b in ((0, 0), shift)
    )
    return float(np.maximum(0.0, p - exp(epsilon) * q).sum())


@pytest.mark.parametrize(("sigma", "shift"), [("0.7", (3, 4)), ("1", (3, 4)), ("0.6", (1, 1))])
def test_the_shift_of_a_discrete_gaussian_vector_is_one_event_per_coordinate(
    sigma: str, shift: tuple[int, int]
) -> None:
    spent = loss(Composed(tuple(DiscreteGaussian(F(sigma), d) for d in shift)))
    for epsilon in (0.0, 2.0, 8.0):
        truth = vector_delta(float(F(sigma)), shift, epsilon)
        assert spent.delta(epsilon) == pytest.approx(truth, rel=1e-9, abs=1e-14)


def test_a_discrete_gaussian_vector_costs_more_than_its_length() -> None:
    """(3, 4) against 5 on one axis: δ is half as large again, and a fifth larger than continuous noise says (σ = 0.7)."""
    vector = loss(DiscreteGaussian(F("0.7"), 3)) + loss(DiscreteGaussian(F("0.7"), 4))
    axis, continuous = loss(DiscreteGaussian(F("0.7"), 5)), loss(Gaussian(F("0.7"), 5))
    assert vector.delta(F("25.55")) > 1.5 * axis.delta(F("25.55"))
    assert vector.delta(30) > 1.19 * continuous.delta(30)
    assert vector_delta(0.7, (3, 4), 30) > 1.19 * continuous.delta(30)


@pytest.mark.parametrize("sigma", ["0.5", "1", "3"])
def test_concentrated_privacy_bounds_every_shift_of_a_discrete_gaussian_vector(sigma: str) -> None:
    """ρ = Δ₂²/2σ² (Canonne, Kamath and Steinke 2020)."""
    bound = loss(ZeroConcentrated(25 / (2 * F(sigma) ** 2)))
    for shift, epsilon in product(((3, 4), (5, 0)), (0, 3, 12)):
        parts = tuple(DiscreteGaussian(F(sigma), d) for d in shift if d)
        assert bound.delta(epsilon) >= loss(Composed(parts)).delta(epsilon) * (1 - NEAR)


# What is known by zCDP alone has no dominating pair.


def test_zcdp_alone_is_not_priced_as_gaussian_noise() -> None:
    """Randomized response at ε = 1 is .4621-zCDP with δ(0) = .4621; Gaussian noise of that ρ would say .3693."""
    rho = tanh(0.5)
    response = loss(RandomizedResponse(1))
    assert response.zcdp() == pytest.approx(rho, rel=NEAR)
    assert response.delta(0) == pytest.approx(rho, rel=NEAR)
    gaussian = loss(Gaussian(F((2 * rho) ** -0.5)))
    assert gaussian.zcdp() == pytest.approx(rho, rel=NEAR)
    assert gaussian.delta(0) == pytest.approx(0.3693, abs=5e-5)
    assert loss(ZeroConcentrated(F(rho))).delta(0) >= response.delta(0)


def test_a_sum_with_a_zcdp_part_is_converted_by_the_real_axis() -> None:
    """At least the truth of any mechanism with that ρ, and no lower end, no sample, no distribution."""
    alone = loss(ZeroConcentrated(F(tanh(0.5) * (1 + NEAR)))) + loss(Laplace(2))
    truth = loss(RandomizedResponse(1)) + loss(Laplace(2))
    for epsilon in (0, F("0.5"), 1):
        assert alone.delta(epsilon) >= truth.delta(epsilon) * (1 - NEAR)
        with pytest.raises(Invalid, match="zCDP"):
            alone.exceeds(epsilon)
    with pytest.raises(Invalid, match="zCDP"):
        alone.interval(1e-6)
    with pytest.raises(Invalid):
        loss(ZeroConcentrated(1)).sampled(F("0.1"))


def test_zcdp_is_the_supremum_over_orders_and_not_the_mean_loss() -> None:
    """Response of 1,000 answers at ε = 3: ρ = .4233 at an order between, its KL divergence is .056."""
    spent = loss(RandomizedResponse(3, 1000))
    assert spent.zcdp() == pytest.approx(0.4233, abs=5e-5)
    told = exp(3) / (exp(3) + 999)
    assert 3 * (told - told / exp(3)) == pytest.approx(0.056, abs=5e-4)
    assert spent.rdp(1 + F(1, 10**6)) == pytest.approx(0.056, abs=5e-4)
    best = max(spent.rdp(1 + F(i, 10)) / (1 + i / 10) for i in range(1, 40))
    assert 0.9 * spent.zcdp() < best <= spent.zcdp() * (1 + NEAR)


# Sampling is for adding or removing a person.


def test_replacing_a_person_costs_more_than_sampling_says() -> None:
    """One step at q = .01, σ = 1 and ε = 0: q(2Φ(1/2) − 1) for a removal, q(2Φ(1) − 1) where one gradient takes another's place."""
    removed, replaced = (0.01 * (2 * NORMAL.cdf(x) - 1) for x in (0.5, 1.0))
    spent = loss(Sampled(F("0.01"), Gaussian(1)))
    assert spent.delta(0) == pytest.approx(removed, rel=NEAR)
    assert spent.delta(0) < replaced <= spent.group(2).delta(0)


def test_private_descent_under_replacement_is_refused_or_bounded_by_two() -> None:
    """σ = 1, q = .01, 10,000 steps, δ = 1e-5: 6.19 under add/remove, at least 10.88 under replacement."""
    spent = 10_000 * loss(Sampled(F("0.01"), Gaussian(1)))
    assert spent.epsilon(1e-5) == pytest.approx(6.19, abs=5e-3)
    assert spent.group(2).epsilon(1e-5) >= 10.88
    with pytest.raises(Invalid, match="cannot be composed"):
        spent + loss(Under(Laplace(1), REPLACE))
    with pytest.raises(Invalid):
        loss(Under(Sampled(F("0.01"), Gaussian(1)), REPLACE))
    assert spent.relation == ADD_REMOVE


def test_a_sample_is_drawn_anew_at_each_use() -> None:
    """Two uses of one sample are a coin toss over both: at q = 1/100 they lose far more often than two samples do."""
    q, both = F(1, 100), oracle.gaussian(F(2))
    one_sample = oracle.sampled_remove(q, both)
    spent = 2 * loss(Sampled(q, Gaussian(1)))
    with oracle.ctx.workprec(oracle.PRECISION):
        assert one_sample(F(2)) > 5 * oracle.arb(spent.delta(2))
    with pytest.raises(Invalid, match="single leaf"):
        (2 * loss(Gaussian(1))).sampled(q)
    with pytest.raises(Invalid, match="part"):
        Sampled(q, Repeated(Gaussian(1), 2))  # type: ignore[arg-type]


def test_both_directions_of_sampling_count() -> None:
    """Removing is worse for large losses; for few and large rates adding may be, and the guarantee is the worse."""
    for q, sigma in (("0.01", "1"), ("0.5", "1"), ("0.9", "4")):
        part = oracle.gaussian(1 / F(sigma) ** 2)
        remove, add = oracle.sampled_remove(F(q), part), oracle.sampled_add(F(q), part)
        spent = loss(Sampled(F(q), Gaussian(F(sigma))))
        for epsilon in (F("0.001"), F("0.1"), F(1)):
            worse = max(float(remove(epsilon)), float(add(epsilon)))
            assert spent.delta(epsilon) == pytest.approx(worse, rel=NEAR, abs=0)


# Groups.


def test_k_times_epsilon_and_delta_are_not_enough_for_a_group() -> None:
    """Gaussian noise: two people are a shift of 2Δ; the bound from one person's curve holds, twice ε and δ does not."""
    one, two = oracle.gaussian(F(1)), oracle.gaussian(F(4))
    epsilon = F(1)
    delta = F(float(one(epsilon)))
    assert side_of(two, 2 * epsilon, 2 * delta) > 0
    grown = loss(Approximate(epsilon, delta * (1 + F(1, 10**9)))).group(2).delta(2 * epsilon)
    assert side_of(two, 2 * epsilon, F(grown)) < 0
    assert loss(Gaussian(1)).group(2).delta(2) == pytest.approx(float(two(2)), rel=NEAR)


# The posterior.


def test_the_largest_posterior_is_not_the_success_of_the_attacker() -> None:
    """Gaussian noise can end in any certainty, though rarely; how often the attacker is right stays bounded."""
    spent = loss(Gaussian(1))
    assert spent.epsilon(0) == float("inf")
    assert spent.posterior() == pytest.approx(NORMAL.cdf(0.5), rel=NEAR)
    assert spent.exceeds(3) == pytest.approx(NORMAL.cdf(0.5 - 3), rel=NEAR)  # a posterior above e³/(1 + e³)


# A failure is kept apart.


def test_an_open_failure_is_never_averaged_away() -> None:
    """δ = 1 − (1 − δ₀)^k + (1 − δ₀)^k δ(ε), at any ε and beside any noise."""
    spent = 10 * loss(Approximate(F("0.1"), F("1e-4"))) + loss(Gaussian(3))
    failure = 1 - (1 - F("1e-4")) ** 10
    rest = loss(Gaussian(3)) + 10 * loss(RandomizedResponse(F("0.1")))
    for epsilon in (0, 1, 50):
        total = float(failure) + float(1 - failure) * rest.delta(epsilon)
        assert spent.delta(epsilon) == pytest.approx(total, rel=NEAR)
    assert spent.epsilon(failure * F("0.999")) == float("inf")
