"""Calibrated noise meets its target, by a certificate that can be checked again, and less noise would not; known values; refusals."""

from collections.abc import Callable
from fractions import Fraction
from math import exp, log, log1p, sqrt
from typing import Any

import pytest

from discreet.errors import Invalid
from discreet.privacy import calibrate
from discreet.privacy.calibrate import Calibrated, Certificate
from discreet.privacy.events import (
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    Gaussian,
    Laplace,
    Leaf,
    RandomizedResponse,
    Repeated,
    Sampled,
)
from discreet.privacy.loss import loss
from tests.privacy import oracle
from tests.privacy.cases import side_of
from tests.scale import repeats

F = Fraction
Make = Callable[..., Calibrated]


# Known values.


def test_the_analytic_gaussian_at_known_values() -> None:
    assert float(calibrate.gaussian(1, 1e-5).scale) == pytest.approx(3.7306, abs=5e-5)
    at_zero = float(calibrate.gaussian(0, F("0.01")).scale)  # δ(0) = 2Φ(1/2σ) − 1
    assert oracle.relative_error(0.01, oracle.gaussian(1 / F(at_zero) ** 2)(0)) < 1e-8
    assert float(calibrate.gaussian(F("2.92160059"), 1e-6, times=1000).scale) == pytest.approx(50, rel=1e-8)


def test_gaussian_noise_grows_with_the_sensitivity_and_with_the_root_of_the_number_of_releases() -> None:
    one = calibrate.gaussian(1, 1e-5)
    assert calibrate.gaussian(1, 1e-5, F(7, 3)).scale == pytest.approx(float(one.scale) * 7 / 3, rel=1e-8)
    assert calibrate.gaussian(1, 1e-5, times=100).scale == pytest.approx(float(one.scale) * 10, rel=1e-8)


def test_private_descent_at_a_known_value() -> None:
    """σ = 1, q = 0.01, 10,000 steps and δ = 1e-5 have ε = 6.18771239."""
    found = calibrate.gaussian(F("6.18771239"), 1e-5, times=10_000, rate=F("0.01"))
    assert float(found.scale) == pytest.approx(1, rel=1e-4)
    assert found.certificate.event == Repeated(Sampled(F("0.01"), Gaussian(found.scale)), 10_000)


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-5"), ("0.1", "1e-9"), ("0.5", "0.99"), ("1", "0.1")])
def test_the_classical_gaussian_is_its_formula_and_never_less_than_is_needed(epsilon: str, delta: str) -> None:
    found = calibrate.classical_gaussian(F(epsilon), F(delta), 3)
    formula = 3 * sqrt(2 * log(1.25 / float(F(delta)))) / float(F(epsilon))
    assert formula * (1 - 1e-14) <= float(found.scale) <= formula * (1 + 1e-8)
    assert found.scale >= calibrate.gaussian(F(epsilon), F(delta), 3).scale
    assert found.certificate.holds()


@pytest.mark.parametrize("epsilon", [0, F("1.0001"), 10])
def test_the_classical_gaussian_is_refused_where_its_proof_ends(epsilon: Fraction) -> None:
    with pytest.raises(Invalid, match="epsilon must be greater than 0 and at most 1"):
        calibrate.classical_gaussian(epsilon, 1e-5)


def test_beyond_its_range_the_classical_formula_would_not_be_private() -> None:
    """Which is why it is refused: at ε = 30, δ = 1e-5 its σ falls short."""
    formula = sqrt(2 * log(1.25e5)) / 30
    assert loss(Gaussian(F(formula))).delta(30) > 1e-5


def test_pure_noise_is_exact() -> None:
    assert calibrate.laplace(F(1, 3)).scale == 3
    assert calibrate.laplace(F(1, 3), 0, F(5, 7), times=11).scale == F(5, 7) * 33
    assert calibrate.discrete_laplace(F(1, 3), 0, 4, times=2).scale == 24
    assert calibrate.randomized_response(2, times=7).scale == F(2, 7)
    assert calibrate.randomized_response(2, 0, 50).event == RandomizedResponse(2, 50)


def test_laplace_noise_of_one_release_is_its_closed_form() -> None:
    """δ(ε) = 1 − e^((ε − Δ/b)/2), so b = Δ/(ε − 2 ln(1 − δ))."""
    for epsilon, delta in (("1", "1e-6"), ("1", "0.1"), ("0", "0.1"), ("3", "0.5")):
        scale = 1 / (float(F(epsilon)) - 2 * log1p(-float(F(delta))))
        assert scale * (1 - 1e-12) <= float(calibrate.laplace(F(epsilon), F(delta)).scale) <= scale * (1 + 1e-6)


def test_sampled_pure_noise_is_the_inverse_of_amplification() -> None:
    """ε = ln(1 + q(e^Δ/b − 1)) for each of them."""
    for rate, times in (("0.1", 1), ("0.5", 3)):
        found = calibrate.laplace(1, rate=F(rate), times=times)
        each = log(1 + float(F(rate)) * (exp(1 / float(found.scale)) - 1))
        assert times * each == pytest.approx(1, rel=1e-8)
        assert times * each < 1


def test_sampled_pure_noise_is_certified_at_small_epsilon() -> None:
    assert calibrate.laplace(F("1e-5"), rate=F("0.1"), times=1000).certificate.holds()


def test_one_randomized_response_is_its_closed_form() -> None:
    """δ(0) = tanh(e/2) of a response of ε = e."""
    found = calibrate.randomized_response(0, F("0.1"))
    assert float(found.scale) == pytest.approx(log(1.1 / 0.9), rel=2e-8)


# What every calibration promises.

KINDS: dict[Make, type[Leaf]] = {
    calibrate.gaussian: Gaussian,
    calibrate.laplace: Laplace,
    calibrate.discrete_laplace: DiscreteLaplace,
    calibrate.discrete_gaussian: DiscreteGaussian,
    calibrate.randomized_response: RandomizedResponse,
}
Target = tuple[Make, tuple[Any, ...], int, Fraction]

# The function, its arguments, how many releases, and the rate; the sharpest first.
TARGETS: list[Target] = [
    (calibrate.gaussian, (1, F("1e-5")), 1, F(1)),
    (calibrate.gaussian, (1, F("1e-6")), 3, F(1, 5)),
    (calibrate.laplace, (1, F("1e-6")), 30, F(1)),
    (calibrate.laplace, (1, F("0.3"), 5), 3, F(1)),
    (calibrate.discrete_laplace, (1, F("1e-6"), 3), 10, F(1)),
    (calibrate.discrete_gaussian, (1, F("1e-5")), 50, F(1)),
    (calibrate.randomized_response, (1, F("1e-6"), 10), 100, F(1)),
    (calibrate.gaussian, (0, F("0.001")), 1000, F(1, 100)),
    (calibrate.randomized_response, (0, F("0.1")), 5, F(1)),
    (calibrate.discrete_gaussian, (4, F("0.05")), 1, F(1)),
    (calibrate.gaussian, (F("1e-6"), F("1e-6"), F(1, 3)), 1, F(1)),
    (calibrate.gaussian, (20, F("1e-5")), 1000, F(1, 100)),
    (calibrate.laplace, (1, F("1e-6")), 100, F(1)),
    (calibrate.laplace, (1, F("1e-6")), 100, F(1, 10)),
    (calibrate.discrete_laplace, (1, F("0.2"), 3), 1, F(1)),
    (calibrate.discrete_laplace, (50, F("1e-6")), 10, F(1)),
    (calibrate.discrete_gaussian, (1, F("1e-5"), 3), 1, F(1, 10)),
]


def said(target: Target) -> str:
    make, arguments, times, rate = target
    return f"{make.__name__}({', '.join(map(str, arguments))}) {times} at {rate}"


def composed(leaf: Leaf, times: int, rate: Fraction) -> Event:
    one = leaf if rate == 1 else Sampled(rate, leaf)
    return one if times == 1 else Repeated(one, times)


@pytest.mark.parametrize("target", TARGETS[: repeats(9)], ids=said)
def test_the_noise_is_certified_and_a_thousandth_less_is_too_little(target: Target) -> None:
    make, (epsilon, delta, *size), times, rate = target
    sampling = {} if rate == 1 else {"rate": rate}
    found = make(epsilon, delta, *size, times=times, **sampling)
    assert found.event == KINDS[make](found.scale, *size)  # type: ignore[call-arg]
    assert found.certificate == Certificate(composed(found.event, times, rate), F(epsilon), F(delta))
    assert found.certificate.holds()
    assert loss(found.certificate.event).delta(epsilon) <= delta * (1 + F("1e-9"))
    if make is not calibrate.discrete_gaussian:  # where less noise may cost less
        less = found.scale * F("1.001" if make is calibrate.randomized_response else "0.999")
        event = composed(KINDS[make](less, *size), times, rate)  # type: ignore[call-arg]
        assert loss(event).delta(epsilon) > delta
        assert not Certificate(event, F(epsilon), F(delta)).holds()


def test_the_noise_is_enough_by_the_oracle_too() -> None:
    cases = [
        (calibrate.gaussian(1, 1e-5), lambda s: oracle.gaussian(1 / s**2)),
        (calibrate.gaussian(30, 1e-9), lambda s: oracle.gaussian(1 / s**2)),
        (calibrate.laplace(1, F("1e-6"), times=3), lambda s: oracle.laplace(1 / s, 3)),
        (calibrate.discrete_laplace(1, F("1e-6"), 3, times=4), lambda s: (oracle.discrete_laplace(s, 3) * 4).delta),
        (calibrate.discrete_gaussian(1, F("1e-5")), lambda s: oracle.discrete_gaussian(s).delta),
        (calibrate.randomized_response(1, F("1e-6"), 5, times=20), lambda e: (oracle.response(e, 5) * 20).delta),
        (
            calibrate.gaussian(1, F("1e-5"), rate=F(1, 10)),
            lambda s: oracle.sampled(F(1, 10), oracle.gaussian(1 / s**2)),
        ),
    ]
    for found, curve in cases:
        assert side_of(curve(found.scale), found.certificate.epsilon, found.certificate.delta) <= 0, found


def test_discrete_gaussian_noise_is_certified_at_the_scale_itself_since_more_may_cost_more() -> None:
    """At ε = 4: σ = .354 has δ = .018, σ = .519 has .095. Who found the first enough, and added for safety, is not private."""
    less, more = (oracle.discrete_gaussian(F(sigma)).delta(4) for sigma in ("0.354", "0.519"))
    assert (float(less), float(more)) == pytest.approx((0.018, 0.095), abs=5e-4)
    for delta in ("0.018", "0.05", "0.095")[: repeats(2)]:
        found = calibrate.discrete_gaussian(4, F(delta))
        assert side_of(oracle.discrete_gaussian(found.scale).delta, F(4), F(delta)) <= 0


def test_a_certificate_that_claims_too_much_does_not_hold() -> None:
    for event, epsilon, delta in (
        (Gaussian(1), "1", "1e-5"),
        (Repeated(Laplace(10), 100), "4.69", "1e-6"),
        (Laplace(1), "0.999", "0"),
        (Repeated(Sampled(F("0.01"), Gaussian(1)), 10_000), "6.18", "1e-5"),
    ):
        assert not Certificate(event, F(epsilon), F(delta)).holds()


# Refusals.

EVERY = [
    calibrate.gaussian,
    calibrate.classical_gaussian,
    calibrate.laplace,
    calibrate.discrete_laplace,
    calibrate.discrete_gaussian,
    calibrate.randomized_response,
]
NAN = float("nan")


@pytest.mark.parametrize("make", EVERY, ids=lambda make: make.__name__)
def test_a_target_that_is_none_is_refused_by_name(make: Make) -> None:
    for epsilon in (-1, NAN, float("inf"), "1", True, None):
        with pytest.raises(Invalid, match="epsilon"):
            make(epsilon, 1e-5)
    for delta in (-1e-9, 1, 1.5, NAN, "0", None):
        with pytest.raises(Invalid, match="delta"):
            make(1, delta)
    with pytest.raises(Invalid, match="epsilon and delta are both 0"):
        make(0, 0)


@pytest.mark.parametrize("make", EVERY, ids=lambda make: make.__name__)
def test_other_arguments_are_refused_by_name(make: Make) -> None:
    if make is not calibrate.randomized_response:
        for sensitivity in (0, -1, NAN, "1"):
            with pytest.raises(Invalid, match="sensitivity"):
                make(1, 1e-5, sensitivity)
    else:
        for k in (1, 2.5, -3):
            with pytest.raises(Invalid, match="k must be"):
                make(1, 1e-5, k)
    if make is not calibrate.classical_gaussian:
        for times in (0, -1, 1.5, True):
            with pytest.raises(Invalid, match="times"):
                make(1, 1e-5, times=times)
    if make not in (calibrate.classical_gaussian, calibrate.randomized_response):
        for rate in (0, -0.1, 1.1, NAN):
            with pytest.raises(Invalid, match="rate"):
                make(1, 1e-5, rate=rate)


@pytest.mark.parametrize("make", [calibrate.gaussian, calibrate.classical_gaussian, calibrate.discrete_gaussian])
def test_gaussian_noise_is_never_purely_private(make: Make) -> None:
    with pytest.raises(Invalid, match="delta must be greater than 0"):
        make(1, 0)


@pytest.mark.parametrize("make", [calibrate.discrete_laplace, calibrate.discrete_gaussian])
def test_discrete_noise_is_for_integers(make: Make) -> None:
    with pytest.raises(Invalid, match="sensitivity must be an integer"):
        make(1, 1e-5, F(3, 2))
