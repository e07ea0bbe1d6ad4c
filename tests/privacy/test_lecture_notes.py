"""Five statements of the lecture notes that are wrong: each fails on an example, and what is right holds. See docs/theory.md.

In rationals, or for Gaussian noise in 25-digit integrals of the densities; nothing is sampled.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from random import Random

import mpmath as mp
import pytest

from discreet.exact import exp_down, exp_up
from discreet.privacy.theorems import gaussian_delta, gaussian_mu
from tests.scale import repeats

Row = Sequence[Fraction]
HALF = Fraction(1, 2)


@pytest.fixture(autouse=True)
def many_digits() -> Iterator[None]:
    with mp.workdps(25):
        yield


# Whether a likely bad event breaks (ε, δ)-privacy. With ratio = e^ε, L = ln P/Q and y drawn from P:


def delta(p: Row, q: Row, ratio: Fraction) -> Fraction:
    """δ(ε), the largest P(A) − e^ε Q(A)."""
    return sum((max(Fraction(0), a - ratio * b) for a, b in zip(p, q, strict=True)), Fraction(0))


def loss_above(p: Row, q: Row, ratio: Fraction) -> Fraction:
    """Pr[L > ε]."""
    return sum((a for a, b in zip(p, q, strict=True) if a > ratio * b), Fraction(0))


def loss_outside(p: Row, q: Row, ratio: Fraction) -> Fraction:
    """Pr[|L| > ε]."""
    return sum((a for a, b in zip(p, q, strict=True) if a > ratio * b or ratio * a < b), Fraction(0))


def impossible(p: Row, q: Row) -> Fraction:
    """Pr[L = ∞]: outputs that x′ never gives."""
    return sum((a for a, b in zip(p, q, strict=True) if not b), Fraction(0))


def random_rows(rng: Random) -> tuple[Row, Row]:
    rows = []
    for _ in range(2):
        weights = [rng.choice([0, 1, 1, 2, 3, 7, 30]) for _ in range(5)]
        weights[rng.randrange(5)] += 1
        rows.append([Fraction(weight, sum(weights)) for weight in weights])
    return rows[0], rows[1]


def test_a_bad_event_may_be_more_likely_than_delta() -> None:
    """Two coins, e^ε = 3, looked at with e^ε = 2: private with δ = 1/4, and the loss is above ln 2 in size for certain."""
    p, q = [Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]
    assert delta(p, q, Fraction(2)) == delta(q, p, Fraction(2)) == Fraction(1, 4)
    assert loss_above(p, q, Fraction(2)) == Fraction(3, 4)
    assert loss_outside(p, q, Fraction(2)) == 1


def test_a_bad_event_of_probability_delta_is_sufficient() -> None:
    """Pr[|L| > ε] >= Pr[L > ε] >= δ(ε) >= Pr[L = ∞], and none of the three is always an equality."""
    rng, strict = Random(1), [0, 0, 0]
    for _ in range(repeats(300)):
        p, q = random_rows(rng)
        for ratio in (Fraction(1), Fraction(3, 2), Fraction(4)):
            falling = [loss_outside(p, q, ratio), loss_above(p, q, ratio), delta(p, q, ratio), impossible(p, q)]
            assert falling == sorted(falling, reverse=True)
            strict = [n + (a > b) for n, (a, b) in zip(strict, itertools.pairwise(falling), strict=True)]
    assert min(strict) > 0


def test_a_loss_well_above_epsilon_is_rare() -> None:
    """What is necessary: Pr[L > ε + t] <= δ/(1 − e^-t). It is attained, and with t = 0 nothing is left of it."""
    rng = Random(2)
    for _ in range(repeats(300)):
        p, q = random_rows(rng)
        for ratio, more in itertools.product((Fraction(1), Fraction(3, 2)), (Fraction(11, 10), Fraction(3))):
            assert loss_above(p, q, ratio * more) * (1 - 1 / more) <= delta(p, q, ratio)
    p, q = [Fraction(3, 5), Fraction(2, 5)], [Fraction(1, 5), Fraction(4, 5)]
    assert loss_above(p, q, Fraction(299, 100)) * (1 - Fraction(1, 3)) == delta(p, q, Fraction(1))


# ±1 randomised response: b in {−1, +1} is told as 1 with probability ½ + ηb, else as 0, and the sum is released.


def sum_of_answers(bits: Sequence[int], eta: Fraction) -> list[Fraction]:
    """The distribution of the sum."""
    row = [Fraction(1)]
    for bit in bits:
        one = HALF + eta * bit
        row = [
            (row[k] if k < len(row) else 0) * (1 - one) + (row[k - 1] if k else 0) * one for k in range(len(row) + 1)
        ]
    return row


def largest_ratio(n: int, eta: Fraction) -> Fraction:
    """e^ε over all data sets of n bits, one of which is replaced, and all sums."""
    ratios = []
    for bits in itertools.product((-1, 1), repeat=n):
        for i in range(n):
            other = (*bits[:i], -bits[i], *bits[i + 1 :])
            pairs = zip(sum_of_answers(bits, eta), sum_of_answers(other, eta), strict=True)
            ratios.append(max(a / b for a, b in pairs))
    return max(ratios)


@pytest.mark.parametrize("eta", [Fraction(1, 1000), Fraction(1, 10), Fraction(1, 4), Fraction(49, 100)])
def test_signed_response_loses_more_than_four_times_its_bias(eta: Fraction) -> None:
    """Twice the bias is claimed. Exactly it is ln((½ + η)/(½ − η)) for one bit and for every sum, at most 4η/(1 − 4η²)."""
    for n in (1, 2, 4):
        assert largest_ratio(n, eta) == (HALF + eta) / (HALF - eta)
    assert exp_up(2 * eta) < exp_up(4 * eta) < (HALF + eta) / (HALF - eta) < exp_down(4 * eta / (1 - 4 * eta**2))


def test_the_bias_for_an_epsilon_is_half_a_hyperbolic_tangent() -> None:
    """2 artanh 2η = ε for η = tanh(ε/2)/2, which is truth with probability e^ε/(1 + e^ε)."""
    for epsilon in (mp.mpf("0.01"), mp.mpf(1), mp.mpf(5)):
        eta = mp.tanh(epsilon / 2) / 2
        assert abs(mp.log((0.5 + eta) / (0.5 - eta)) - epsilon) < mp.mpf(10) ** -20
        assert abs(0.5 + eta - 1 / (1 + mp.exp(-epsilon))) < mp.mpf(10) ** -20


def test_the_estimate_of_signed_response_is_unbiased() -> None:
    """(sum − n/2)/η has mean Σb and variance n(¼ − η²)/η², whatever the bits."""
    eta = Fraction(1, 10)
    for bits in itertools.product((-1, 1), repeat=4):
        row, n = sum_of_answers(bits, eta), len(bits)
        values = [(total - Fraction(n, 2)) / eta for total in range(n + 1)]
        mean = sum(p * v for p, v in zip(row, values, strict=True))
        assert mean == sum(bits)
        assert (
            sum(p * (v - mean) ** 2 for p, v in zip(row, values, strict=True)) == n * (Fraction(1, 4) - eta**2) / eta**2
        )


# Gaussian noise of standard deviation σ on a value of L2 sensitivity 1: along the change it is N(1, σ²) against N(0, σ²).


def normal_delta(sigma: mp.mpf, epsilon: float) -> mp.mpf:
    """∫ (p − e^ε q)₊: p/q rises with the answer, so over all answers above the one where p = e^ε q."""
    crossing = mp.mpf(1) / 2 + epsilon * sigma**2

    def excess(z: mp.mpf) -> mp.mpf:
        return mp.npdf(z, 1, sigma) - mp.exp(epsilon) * mp.npdf(z, 0, sigma)

    assert abs(excess(crossing)) < mp.mpf(10) ** -15 / sigma
    return mp.quad(excess, [crossing + n * sigma for n in (0, 1, 2, 4, 8, 16)])


def noted_sigma(epsilon: float, delta: float) -> mp.mpf:
    return mp.sqrt(2 * mp.log(1 / mp.mpf(repr(delta)))) / epsilon


def classical_sigma(epsilon: float, delta: float) -> mp.mpf:
    return mp.sqrt(2 * mp.log(mp.mpf("1.25") / mp.mpf(repr(delta)))) / epsilon


def test_the_noted_gaussian_noise_is_too_small_for_a_delta_near_one() -> None:
    sigma = noted_sigma(1, 0.99)
    answer = mp.mpf(1) / 2 + sigma**2  # all answers above it, with a person and without
    with_person, without = mp.ncdf((1 - answer) / sigma), mp.ncdf(-answer / sigma)
    assert with_person > mp.e * without + mp.mpf("0.999")  # and not 0.99
    assert abs(normal_delta(sigma, 1) - (with_person - mp.e * without)) < mp.mpf(10) ** -15
    assert normal_delta(noted_sigma(1, 0.98), 1) < 0.98 < 0.981 < normal_delta(noted_sigma(1, 0.981), 1)


@pytest.mark.parametrize("delta", [0.999999, 0.5, 1e-5, 1e-12])
def test_the_classical_gaussian_noise_is_enough_up_to_epsilon_one(delta: float) -> None:
    for epsilon in (0.01, 0.3, 1):
        assert normal_delta(classical_sigma(epsilon, delta), epsilon) <= delta


def test_the_classical_gaussian_noise_is_too_small_for_a_large_epsilon() -> None:
    assert normal_delta(classical_sigma(10, 1e-5), 10) > 2e-5
    for epsilon, delta in ((10, 1e-5), (1, 0.99)):  # the least noise holds at any ε and δ
        sigma = 1 / (mp.mpf(gaussian_mu(epsilon, delta).numerator) / gaussian_mu(epsilon, delta).denominator)
        assert delta * (1 - mp.mpf(10) ** -9) < normal_delta(sigma, epsilon) <= delta


# The exact δ of Gaussian noise.


def tails(sigma: mp.mpf, epsilon: float, sign: int) -> mp.mpf:
    """Φ(1/2σ − εσ) − e^(±ε) Φ(−1/2σ − εσ)."""
    near, far = 1 / (2 * sigma) - epsilon * sigma, -1 / (2 * sigma) - epsilon * sigma
    return mp.ncdf(near) - mp.exp(sign * epsilon) * mp.ncdf(far)


@pytest.mark.parametrize(("sigma", "epsilon"), [("1", 1), ("3.7306", 1), ("0.4", 0.5), ("2", 3)])
def test_the_exact_delta_of_gaussian_noise_has_a_rising_exponential(sigma: str, epsilon: float) -> None:
    s = mp.mpf(sigma)
    truth = normal_delta(s, epsilon)
    assert abs(tails(s, epsilon, +1) - truth) < mp.mpf(10) ** -15
    assert tails(s, epsilon, -1) > 1.1 * truth
    assert 1 <= mp.mpf(gaussian_delta(1 / Fraction(sigma), epsilon)) / truth < 1 + 1e-10


def test_the_falling_exponential_refuses_noise_that_is_enough() -> None:
    """At ε = 1 and δ = 1e-5: 3.7307 is enough, and would be refused, as would all below 4.34."""
    for sigma in (mp.mpf("3.7307"), mp.mpf("4.34")):
        assert normal_delta(sigma, 1) < mp.mpf("1e-5") < tails(sigma, 1, -1)
    assert normal_delta(mp.mpf("3.7306"), 1) > mp.mpf("1e-5") > tails(mp.mpf("4.35"), 1, -1)
    assert tails(mp.mpf(1), 0, +1) == tails(mp.mpf(1), 0, -1)  # at ε = 0 the sign makes no difference


# The mean of n points of the cube [0, 1]^k, one of which is replaced.


def sensitivities(k: int, n: int) -> tuple[Fraction, Fraction]:
    """L1, and L2 squared, of the mean: the largest over all differences of two corners of the cube."""
    changes = list(itertools.product((-1, 0, 1), repeat=k))
    return (
        Fraction(max(sum(map(abs, change)) for change in changes), n),
        Fraction(max(sum(c * c for c in change) for change in changes), n * n),
    )


def squared_errors(k: int, n: int) -> tuple[Fraction, Fraction]:
    """E|error|² at ε = 1, δ = 1e-5: Laplace noise of scale Δ₁/ε, variance 2Δ₁²/ε², and the least Gaussian noise, on k coordinates."""
    l1, l2_squared = sensitivities(k, n)
    return k * 2 * l1**2, k * l2_squared / gaussian_mu(1, 1e-5) ** 2


def test_gaussian_noise_on_a_mean_gains_the_root_of_the_dimension() -> None:
    """k^(3/2)/nε against k/nε: four times the dimension doubles the gain, and does not make it four times as large."""
    for k, n in itertools.product((1, 2), (10, 1000)):
        gain, gain4 = (
            math.sqrt(laplace / gaussian) for laplace, gaussian in (squared_errors(k, n), squared_errors(4 * k, n))
        )
        assert abs(gain4 / gain - 2) < 1e-12


def test_errors_of_a_mean_grow_as_stated() -> None:
    """By 2^(3/2) and by 2 when the dimension doubles; both fall with n."""
    for k in (1, 2, 4):
        (laplace, gaussian), (laplace2, gaussian2) = squared_errors(k, 10), squared_errors(2 * k, 10)
        assert (laplace2 / laplace, gaussian2 / gaussian) == (2**3, 2**2)
        assert squared_errors(k, 20) == (laplace / 4, gaussian / 4)


def test_gaussian_noise_on_a_mean_is_better_from_dimension_seven_on() -> None:
    """At ε = 1 and δ = 1e-5; below, Laplace noise is better, so neither is better for all."""
    errors = {k: squared_errors(k, 100) for k in range(1, 9)}
    assert [k for k, (laplace, gaussian) in errors.items() if gaussian < laplace] == [7, 8]
