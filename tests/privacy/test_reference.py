"""epsilon(delta) and delta(epsilon) against an oracle in many digits, down to δ = 1e-30.

`make test` takes the sharpest of the cases, `make soak` all of them.
"""

from decimal import Decimal
from fractions import Fraction
from math import exp, inf, tanh

import pytest
from flint import ctx

from discreet.privacy.events import DiscreteGaussian, Gaussian, Laplace, Sampled, ZeroConcentrated
from discreet.privacy.loss import loss
from tests.privacy import oracle
from tests.privacy.cases import HUNDRED_LAPLACE, SAMPLED, SHARPEST, Case, first
from tests.privacy.oracle import brackets, relative_error
from tests.scale import SCALE, repeats

TOLERANCE = 1e-9
DELTAS = ("1e-3", "1e-10", "1e-30")
F = Fraction


@pytest.mark.parametrize("case", first(SHARPEST), ids=str)
def test_epsilon_is_true_to_1e_9_at_every_delta(case: Case) -> None:
    spent = loss(case.event)
    at_zero = case.curve(0)
    for delta in map(F, DELTAS):
        found = spent.epsilon(delta)
        if at_zero <= oracle.ball(delta):
            assert found == 0
        elif found == inf:  # only where the loss itself may be infinite
            assert case.curve(F(10**6)) > oracle.ball(delta)
        else:
            assert brackets(case.curve, found, delta, F(TOLERANCE)), (delta, found)


@pytest.mark.parametrize("case", first(24), ids=str)
def test_delta_is_true_to_1e_9_at_every_epsilon(case: Case) -> None:
    """From ε = 0 to where δ is 1e-30, or nearly to the largest loss, where δ is as sensitive to ε as the float of ε is wrong."""
    spent = loss(case.event)
    far = min(0.99 * float(case.largest), 2.5 * spent.epsilon(F("2e-6")))
    for share in (0, 0.01, 0.3, 0.7, 1):
        epsilon = far * share
        truth = case.curve(F(epsilon))
        if truth < 1e-300:
            continue
        assert relative_error(spent.delta(epsilon), truth) <= TOLERANCE, epsilon


@pytest.mark.parametrize(("q", "sigma"), [("0.01", "1"), ("0.5", "1"), ("0.1", "2")][: repeats(1)])
def test_two_steps_of_the_sampled_gaussian_are_true_to_1e_9(q: str, sigma: str) -> None:
    spent, curve = 2 * loss(Sampled(F(q), Gaussian(F(sigma)))), oracle.sampled_gaussian(F(q), F(sigma), 2)
    for epsilon in (0.0, spent.epsilon(1e-6), spent.epsilon(1e-30)):
        assert relative_error(spent.delta(epsilon), curve(F(epsilon))) <= TOLERANCE
    assert brackets(curve, spent.epsilon(1e-6), F("1e-6"), F(TOLERANCE))


@pytest.mark.parametrize(("q", "sigma", "k", "epsilon", "delta"), SAMPLED)
def test_more_steps_of_the_sampled_gaussian_are_true_to_1e_9(
    q: str, sigma: str, k: int, epsilon: str, delta: str
) -> None:
    spent = k * loss(Sampled(F(q), Gaussian(F(sigma))))
    assert spent.delta(F(epsilon)) == pytest.approx(float(delta), rel=TOLERANCE, abs=0)
    assert spent.epsilon(Decimal(delta)) == pytest.approx(float(F(epsilon)), rel=TOLERANCE)


def test_ten_sampled_discrete_gaussians_are_bounded_from_above_to_1e_7() -> None:
    """δ by adding up all pairs of the points of five releases, of which there are some 40,000: too many to tell apart in a value."""
    spent = 10 * loss(Sampled(F("0.2"), DiscreteGaussian(1)))
    assert 0.2001345047712142 * (1 - TOLERANCE) <= spent.delta(F("0.23")) <= 0.2001345047712142 * (1 + 1e-7)


@pytest.mark.parametrize(("epsilon", "delta"), HUNDRED_LAPLACE)
def test_a_hundred_laplace_releases_are_true_to_1e_9(epsilon: str, delta: str) -> None:
    spent = 100 * loss(Laplace(10))
    assert spent.delta(F(epsilon)) == pytest.approx(float(delta), rel=TOLERANCE, abs=0)
    assert spent.epsilon(Decimal(delta)) == pytest.approx(float(F(epsilon)), rel=TOLERANCE)


@pytest.mark.skipif(SCALE == 1, reason="takes minutes: in the soak run only")
def test_the_written_values_are_what_the_oracle_says() -> None:
    epsilon, delta = HUNDRED_LAPLACE[-1]
    assert relative_error(float(delta), oracle.laplace(F(1, 10), 100)(F(epsilon))) < 1e-15
    q, sigma, k, epsilon, delta = SAMPLED[-1]
    line = oracle.sampled_gaussian_line(F(q), F(sigma), k, F(epsilon), F(6), F(1, 8))
    assert relative_error(float(delta), line) < 1e-15


def test_the_oracles_agree_with_each_other() -> None:
    """Each is checked where another one reaches it, or where the answer is known."""
    with ctx.workprec(oracle.PRECISION):
        agree()


def agree() -> None:
    few = oracle.laplace(F(1, 2), 2)
    peeled = oracle.with_laplace(F(1, 2), oracle.laplace(F(1, 2), 1))
    assert abs(few(F(0)) - peeled(F(0))) < 1e-15  # ε = 0 is on a corner of the panels
    once = oracle.laplace(F(1), 1)
    assert relative_error(1 - exp(-0.5 * (1 - 0.3)), once(F("0.3"))) < 1e-15
    assert relative_error(tanh(0.5), oracle.response(F(1)).delta(0)) < 1e-15
    assert abs(few(F(-9)) - (1 - oracle.ball(F(-9)).exp())) < 1e-60
    one = oracle.sampled_gaussian(F(1, 10), F(2), 1)
    assert relative_error(float(one(F(1, 2))), oracle.sampled(F(1, 10), oracle.gaussian(F(1, 4)))(F(1, 2))) < 1e-15
    coarse, fine = (oracle.sampled_gaussian(F(1, 10), F(2), 2, panels)(F(1, 2)) for panels in (9, 12))
    assert abs(coarse / fine - 1) < 1e-14
    line = oracle.sampled_gaussian_line(F(1, 2), F(1), 10, F(25), F(3), F(1, 8))
    assert relative_error(float("2.5272627103147992026e-20"), line) < 1e-15
    geometric = oracle.discrete_laplace(F(2))
    assert abs(geometric.delta(0) - oracle.response(F(1, 2)).delta(0)) < 1e-60
    atoms = oracle.sampled_atoms(F(1, 3), oracle.response(F(1)), 1)
    assert abs(atoms(F(1, 9)) - oracle.sampled(F(1, 3), oracle.response(F(1)).delta)(F(1, 9))) < 1e-60


@pytest.mark.parametrize(
    ("rho", "epsilon"), [("0.01", "0.5"), ("0.4621", "0"), ("0.4621", "5"), ("2", "30"), ("1e-8", "0.001")]
)
def test_zcdp_alone_is_the_tight_conversion_from_above(rho: str, epsilon: str) -> None:
    best = oracle.least_conversion(F(rho), F(epsilon))
    found = loss(ZeroConcentrated(F(rho))).delta(F(epsilon))
    assert best * (1 - 1e-12) <= found <= best * (1 + 1e-6)
