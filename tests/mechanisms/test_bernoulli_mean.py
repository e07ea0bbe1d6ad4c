"""The mean of bits and inference on p: errors, sizes, power and coverage, added up exactly where n is small."""

import json
from fractions import Fraction
from functools import cache
from itertools import accumulate, pairwise
from math import comb, exp, floor, fsum, log, sqrt
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.stats import binom

from discreet.errors import Invalid
from discreet.mechanisms import Geometric, Laplace, registry
from discreet.mechanisms.bernoulli_mean import (
    Alternative,
    BernoulliCount,
    BernoulliMean,
    Inference,
    LaplaceNoise,
    Tulap,
    least_error,
    mean_widths,
    picture_of_widths,
)
from discreet.mechanisms.inference import binomial
from discreet.noise import Tape
from tests.scale import repeats

ALPHA = 1e-6  # false-alarm rate of each statistical test
NEAR = 1e-10
Floats = NDArray[np.float64]

GRID_P = (0.0, 1e-4, 0.003, 0.02, 0.1, 0.3, 0.5, 0.81, 0.999, 1.0)
EPSILONS = (Fraction(1, 20), Fraction(1, 2), Fraction(1), Fraction(5))


# The truth, from textbook formulas.


@cache
def exact_binomial(n: int, p: float) -> list[float]:
    q = Fraction(p)
    return [float(comb(n, s) * q**s * (1 - q) ** (n - s)) for s in range(n + 1)]


def geometric(z: int, epsilon: float) -> float:
    return (1 - exp(-epsilon)) / (1 + exp(-epsilon)) * exp(-epsilon * abs(z))


@cache
def geometric_sums(epsilon: float) -> tuple[int, list[float]]:
    """The least number that counts, and from there on the sums of all probabilities up to a number."""
    least = -int(80 / epsilon) - 10
    return least, list(accumulate(geometric(z, epsilon) for z in range(least, -least + 1)))


def below(x: float, noise: str, epsilon: float) -> float:
    """Pr[noise <= x]: of Laplace noise in closed form, of a geometric and a uniform number as the sum of those that lie below."""
    if noise == "laplace":
        return exp(epsilon * x) / 2 if x < 0 else 1 - exp(-epsilon * x) / 2
    z = floor(x + 0.5)
    least, sums = geometric_sums(epsilon)
    if not least < z < -least:
        return float(z > 0)
    return sums[z - 1 - least] + geometric(z, epsilon) * (x - z + 0.5)


def cdf(t: float, n: int, p: float, noise: str, epsilon: float) -> float:
    return fsum(weight * below(t - s, noise, epsilon) for s, weight in enumerate(exact_binomial(n, p)) if weight)


def inference(n: int, t: float, noise: str, epsilon: float) -> Inference:
    return Inference(n, t, LaplaceNoise(1 / epsilon) if noise == "laplace" else Tulap(1 / epsilon))


def where(function: Any, level: float, low: float, high: float, turns: int = 60) -> float:
    """Where a growing function reaches a level."""
    for _ in range(turns):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) < level else (low, middle)
    return high


# What it is made of.


@pytest.mark.parametrize("n", [1, 7, 60])
@pytest.mark.parametrize("p", GRID_P)
def test_binomial_probabilities(n: int, p: float) -> None:
    s, weights = binomial(n, p)
    truth = exact_binomial(n, p)
    assert all(abs(w - truth[int(k)]) <= 1e-13 for k, w in zip(s, weights, strict=True))
    assert abs(fsum(truth[int(k)] for k in s) - 1) < 1e-13


@pytest.mark.parametrize("p", [1e-7, 0.003, 0.5, 0.9999])
def test_binomial_probabilities_of_many_bits(p: float) -> None:
    s, weights = binomial(10**5, p)
    assert np.abs(weights - binom.pmf(s, 10**5, p)).max() < 1e-11
    assert binom.sf(s[-1], 10**5, p) + binom.cdf(s[0] - 1, 10**5, p) < 1e-15


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 5.0])
def test_noise_lies_below_as_often_as_it_should(epsilon: float) -> None:
    x = np.concatenate((np.linspace(-7.3, 7.9, 50), [-1.5, -0.5, 0.0, 0.5, 2.5]))
    for noise, found in (("laplace", LaplaceNoise(1 / epsilon)), ("geometric", Tulap(1 / epsilon))):
        assert np.allclose(found.below(x), [below(float(each), noise, epsilon) for each in x], rtol=1e-12, atol=0)


@pytest.mark.parametrize("kind", [BernoulliMean, BernoulliCount])
def test_a_release_is_the_count_with_the_noise_that_is_charged(kind: Any) -> None:
    m, noise = kind(4, Fraction(3)), (Laplace if kind is BernoulliMean else Geometric)(Fraction(3))
    for exact in (3, [1, 0, 1, 1], np.array([True, False, True, True])):
        noisy = noise(3, Tape(1))
        assert m(exact, Tape(1)) == (noisy / 4 if kind is BernoulliMean else noisy)
    assert m.event(1) == noise.event(1)
    assert m.error(0.9) == noise.error(0.9) / 4


def test_budgets_are_those_of_the_noise() -> None:
    assert BernoulliCount.for_epsilon(0.1, 9) == BernoulliCount(9, Fraction(10))
    for kind, noise in ((BernoulliMean, Laplace), (BernoulliCount, Geometric)):
        assert kind.for_epsilon(0.5, 9).loss().certifies(0.5, 0)
        assert kind.for_budget(0.5, 0.01, n=9).scale == noise.for_budget(0.5, 0.01).scale
        assert kind.for_budget(0.5, n=9).loss().certifies(0.5, 0)


# Errors.


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("n", [10, 1000])
def test_sampling_and_privacy_are_told_apart(epsilon: Fraction, n: int) -> None:
    """p(1 − p)/n, and 2/(ε²n²) with Laplace noise, or 2α/(1 − α)²/n² with geometric noise."""
    for p in GRID_P:
        plain, whole = (
            BernoulliMean.for_epsilon(epsilon, n).variance(p),
            BernoulliCount.for_epsilon(epsilon, n).variance(p),
        )
        assert plain.sampling == whole.sampling == p * (1 - p) / n
        assert abs(plain.privacy * (float(epsilon) * n) ** 2 / 2 - 1) < 1e-9
        alpha = exp(-float(epsilon))
        assert abs(whole.privacy * n * n / (2 * alpha / (1 - alpha) ** 2) - 1) < 1e-12
        assert whole.privacy < plain.privacy and plain.total == plain.sampling + plain.privacy


def test_errors_of_releases_are_the_sum_of_both() -> None:
    """Of many releases of fresh bits; by Chebyshev with room for the fourth moment, 12 of its standard deviations."""
    count, n, p = repeats(1_500), 20, 0.3
    ones = np.random.default_rng(1).binomial(n, p, count)
    tape = Tape(1)
    for m in (BernoulliMean.for_epsilon(0.4, n), BernoulliCount.for_epsilon(0.4, n)):
        released = np.array([m(int(k), tape) for k in ones]) / (1 if isinstance(m, BernoulliMean) else n)
        found = float(((released - p) ** 2).mean())
        assert abs(found / m.variance(p).total - 1) <= 12 * sqrt(5 / count)
        assert abs(float(released.mean()) - p) <= 6 * sqrt(m.variance(p).total / count)


def brute_force(m: BernoulliCount, p: float) -> float:
    """E(p − estimate)², a noisy count at a time."""
    epsilon = float(1 / m.scale)
    reach = int(45 / epsilon) + 3
    estimates = np.array([m.estimate(z) for z in range(-reach, m.n + reach + 1)])
    noise = np.array([geometric(z, epsilon) for z in range(-m.n - reach, m.n + reach + 1)])
    total = 0.0
    for s, weight in enumerate(exact_binomial(m.n, p)):
        total += weight * float(noise[m.n - s : m.n - s + estimates.size] @ (estimates - p) ** 2)
    return total


@pytest.mark.parametrize(("n", "epsilon"), [(1, 1.0), (2, 0.3), (7, 0.5), (10, 0.05), (40, 0.2), (50, 2.0)])
def test_the_mean_square_error_is_that_of_the_estimates(n: int, epsilon: float) -> None:
    m = BernoulliCount.for_epsilon(epsilon, n)
    for p in (0.0, 0.01, 0.2, 0.5, 0.97, 1.0):
        truth = brute_force(m, p)
        assert abs(m.mean_square_error(p) - truth) <= 1e-10 * m.variance(p).total + 1e-13


@pytest.mark.parametrize("epsilon", [0.01, 0.05, 0.13, 0.3, 0.5, 0.7, 1.0, 1.75, 2.5, 5.0])
@pytest.mark.parametrize("n", [1, 2, 10, 35, 100, 1000, 10**5])
def test_the_estimate_adapts_to_the_ends_and_loses_nowhere(n: int, epsilon: float) -> None:
    """At most half of 2/(ε²n²) at p = 0 and 1, in truth 0.451; and at no p of a grid above the plain estimator, nor above noisy/n."""
    m, plain = BernoulliCount.for_epsilon(epsilon, n), 2 / (epsilon * n) ** 2
    for p in (0, 1):
        assert m.mean_square_error(p) <= 0.451 * plain
    near_the_end = [x / (epsilon * n) for x in (0.1, 0.5, 1, 1.5, 2, 3, 4, 6, 9) if x < epsilon * n / 2]
    for p in (*GRID_P, *near_the_end):
        found, noisy = m.mean_square_error(p), m.variance(p)
        assert found <= noisy.total * (1 + 1e-11) and noisy.total < noisy.sampling + plain
        assert found < noisy.sampling + plain


def test_clamping_alone_would_be_half_and_no_better() -> None:
    """Shrinking is what makes 0.45 of it, where noise is wide: E max(G, 0)² is half of E G²."""
    m = BernoulliCount.for_epsilon(0.01, 5000)
    clamped = m.variance(0).privacy / 2
    assert 0.89 < m.mean_square_error(0) / clamped < 0.91


def test_estimates_grow_and_are_the_same_from_both_ends() -> None:
    for n, scale in ((1, 3), (9, 1), (10, 4), (200, 10)):
        m = BernoulliCount(n, Fraction(scale))
        found = [m.estimate(z) for z in range(-20, n + 21)]
        assert found == sorted(found) and found[0] == 0 and found[-1] == 1
        assert all(abs(a + b - 1) < 1e-12 for a, b in zip(found, reversed(found), strict=True) if a != 0.5 or n % 2)
        assert all(m.estimate(z) == z / n for z in range(-(-7 * scale // 4), n // 2 + 1))


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 4.0])
@pytest.mark.parametrize("n", [3, 100, 10**4])
def test_no_estimator_is_better_than_the_lower_bound(n: int, epsilon: float) -> None:
    """Neither of ours, nor saying 0 whatever the data. And the bound is of the same order as what is reached."""
    bound = least_error(epsilon, n)
    m = BernoulliCount.for_epsilon(epsilon, n)
    nearby = [min(1.0, x / (n * (1 - exp(-epsilon)))) for x in np.linspace(0, 8, 81)]
    reached = max(m.mean_square_error(q) for q in nearby)
    assert 0 < bound <= min(reached, max(q * q for q in nearby))
    assert reached < 25 * bound or epsilon > 0.1 or n == 3
    if n == 10**4:
        assert 0.12 <= bound * (n * (1 - exp(-epsilon))) ** 2 <= 0.123


def test_the_lower_bound_is_below_the_best_of_all_estimators_of_one_bit() -> None:
    """n = 1: randomized response, and the best two values for its answers, on a grid: no pair goes below."""
    for epsilon in (0.5, 2.0):
        told = exp(epsilon) / (1 + exp(epsilon))
        values, q = np.linspace(0, 1, 101), np.linspace(0.0, 1.0, 41)[:, None, None]
        says_one = q * told + (1 - q) * (1 - told)
        risk = (1 - says_one) * (values[:, None] - q) ** 2 + says_one * (values[None, :] - q) ** 2
        assert least_error(epsilon, 1) <= float(risk.max(0).min())


# Tests of hypotheses.


@pytest.mark.parametrize(("n", "epsilon", "p"), [(3, 1.0, 0.5), (8, 0.3, 0.2), (12, 2.0, 0.9), (5, 5.0, 0.0)])
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.3])
def test_tests_have_exactly_their_size(n: int, epsilon: float, p: float, alpha: float) -> None:
    """A p-value falls as the count grows. Where it is α, on the line of counts with a uniform number, exactly α lies beyond."""
    ends = (-40 / epsilon - 2, n + 40 / epsilon + 2)

    def value(t: float, alternative: Alternative) -> float:
        return inference(n, t, "geometric", epsilon).p_value(p, alternative)

    high = where(lambda t: -value(t, Alternative.GREATER), -alpha, *ends)
    low = where(lambda t: value(t, Alternative.LESS), alpha, *ends)
    assert abs(1 - cdf(high, n, p, "geometric", epsilon) - alpha) < NEAR
    assert abs(cdf(low, n, p, "geometric", epsilon) - alpha) < NEAR
    middle = where(lambda t: value(t, Alternative.LESS), 0.5, *ends)
    low = where(lambda t: value(t, Alternative.DIFFERENT), alpha, ends[0], middle)
    high = where(lambda t: -value(t, Alternative.DIFFERENT), -alpha, middle, ends[1])
    outside = cdf(low, n, p, "geometric", epsilon) + 1 - cdf(high, n, p, "geometric", epsilon)
    assert abs(outside - alpha) < NEAR


@pytest.mark.parametrize(("n", "epsilon", "p", "q"), [(4, 1.0, 0.3, 0.8), (9, 0.4, 0.5, 0.7), (15, 1.5, 0.1, 0.3)])
def test_no_private_test_is_more_powerful(n: int, epsilon: float, p: float, q: float) -> None:
    """The best of all ε-DP tests at level 0.05, as a linear program over how often it rejects at each number of ones."""
    alpha, ones = 0.05, range(n + 1)
    rows, limits = [], []
    for s in range(n):
        for a, b in ((s, s + 1), (s + 1, s)):
            row = np.zeros(n + 1)
            row[a], row[b] = 1, -exp(epsilon)  # φ(a) <= e^ε φ(b)
            rows.append(row)
            limits.append(0.0)
            row = np.zeros(n + 1)
            row[a], row[b] = -1, exp(epsilon)  # 1 − φ(a) <= e^ε (1 − φ(b))
            rows.append(row)
            limits.append(exp(epsilon) - 1)
    null, other = exact_binomial(n, p), exact_binomial(n, q)
    best = linprog([-w for w in other], [*rows, null], [*limits, alpha], bounds=(0, 1))
    ends = (-60 / epsilon, n + 60 / epsilon)
    t = where(lambda t: -inference(n, t, "geometric", epsilon).p_value(p, Alternative.GREATER), -alpha, *ends)
    power = fsum(other[s] * (1 - below(t - s, "geometric", epsilon)) for s in ones)
    assert abs(power + best.fun) < 1e-8
    t = where(lambda t: -inference(n, t, "laplace", epsilon).p_value(p, Alternative.GREATER), -alpha, *ends)
    assert fsum(other[s] * (1 - below(t - s, "laplace", epsilon)) for s in ones) < power


@pytest.mark.parametrize(("n", "epsilon", "p"), [(10, 3.0, 0.4), (10**5, 0.05, 0.001)])
def test_releases_have_uniform_p_values(n: int, epsilon: float, p: float) -> None:
    """By Kolmogorov's distance and the bound of Massart. Without the uniform number the first would come in jumps of up to 1/4."""
    count = repeats(1_000)
    ones, tape = np.random.default_rng(2).binomial(n, p, count), Tape(2)
    mean, whole = BernoulliMean.for_epsilon(epsilon, n), BernoulliCount.for_epsilon(epsilon, n)
    room = sqrt(log(2 / ALPHA) / (2 * count)) + 1 / count
    for found in (
        [mean.infer(mean(int(s), tape)).p_value(p, Alternative.GREATER) for s in ones],
        [whole.infer(whole(int(s), tape), tape).p_value(p, Alternative.GREATER) for s in ones],
    ):
        assert np.abs(np.sort(found) - np.arange(count) / count).max() <= room


def test_limits_are_where_tests_turn() -> None:
    for noise in ("laplace", "geometric"):
        found = inference(30, 11.3, noise, 0.8)
        low, high = found.lower(0.9), found.upper(0.9)
        assert abs(found.p_value(low, Alternative.GREATER) - 0.1) < 1e-9
        assert abs(found.p_value(high, Alternative.LESS) - 0.1) < 1e-9
        assert found.interval(0.8) == (low, high)
        assert inference(30, -90.0, noise, 0.8).upper() == 0 == inference(30, -90.0, noise, 0.8).lower()
        assert inference(30, 120.0, noise, 0.8).lower() == 1 == inference(30, 120.0, noise, 0.8).upper()


# Coverage.


def turns(n: int, p: float, noise: str, epsilon: float, level: float) -> float:
    """The t that X + noise does not exceed with this probability: by the truth, or where n is large by sums over the same window."""
    ends = (-40 / epsilon - 2, n + 40 / epsilon + 2)
    if n <= 50:
        return where(lambda t: cdf(t, n, p, noise, epsilon), level, *ends, turns=45)
    s, kind = np.arange(n + 1.0), LaplaceNoise(1 / epsilon) if noise == "laplace" else Tulap(1 / epsilon)
    weights = binom.pmf(s, n, p)
    s, weights = s[weights > 1e-18], weights[weights > 1e-18]
    return where(lambda t: float(weights @ kind.below(t - s)), level, *ends, turns=50)


CASES = [(10, p) for p in (0.0, 0.05, 0.5, 1.0)] + [(50, 0.02), (50, 0.4)]
LARGE = [(1000, 0.0), (1000, 0.001), (1000, 0.3), (10**5, 1e-5), (10**5, 0.01), (10**5, 0.5), (10**5, 1.0)]


@pytest.mark.parametrize("noise", ["laplace", "geometric"])
@pytest.mark.parametrize("epsilon", [0.05, 0.6, 5.0])
@pytest.mark.parametrize(("n", "p"), CASES + LARGE)
def test_intervals_cover_p_with_sampling_and_noise(n: int, p: float, epsilon: float, noise: str) -> None:
    """Exactly 2.5 % of all releases are so high, and 2.5 % so low, that the interval misses p; less only where p is at an end.

    Intervals move up with the release. So those that miss p are the ones beyond a number, which is where the release has its 2.5 %.
    """
    low, high = (turns(n, p, noise, epsilon, level) for level in (0.025, 0.975))
    step = 1e-6 * (1 + abs(low) + abs(high))

    def covers(t: float) -> bool:
        first, last = inference(n, t, noise, epsilon).interval(0.95)
        return first <= p <= last

    assert covers(low + step) and covers((low + high) / 2) and covers(high - step)
    assert covers(low - step) == (p == 0 or low <= 0)  # where what lies below 0 is taken as 0
    assert covers(high + step) == (p == 1 or high >= n)


@pytest.mark.parametrize("epsilon", [0.05, 0.6, 5.0])
@pytest.mark.parametrize("n", [10, 50])
def test_the_plain_interval_of_the_picture_covers_p_too(n: int, epsilon: float) -> None:
    """So that it is fair to compare with: an estimate ± what covers p = ½ covers every p."""
    half = turns(n, 0.5, "laplace", epsilon, 0.975) - n / 2
    for p in GRID_P:
        low, high = (cdf(n * p + end, n, p, "laplace", epsilon) for end in (-half, half))
        assert high - low > 0.94


@pytest.mark.parametrize("noise", ["laplace", "geometric"])
def test_intervals_move_up_with_the_release_and_are_never_empty(noise: str) -> None:
    for n, epsilon in ((10, 0.05), (40, 1.0)):
        found = [inference(n, t, noise, epsilon).interval() for t in np.linspace(-30 / epsilon, n + 30 / epsilon, 60)]
        for (low, high), (lower, higher) in pairwise(found):
            assert low <= lower + 1e-12 and high <= higher + 1e-12
        assert all(0 <= low < high <= 1 for low, high in found)


@pytest.mark.parametrize(("n", "epsilon", "p"), [(10, 0.2, 0.1), (300, 1.0, 0.5)])
def test_intervals_of_releases_cover_p(n: int, epsilon: float, p: float) -> None:
    """At least 95 % of releases of fresh bits; at most 97.5 %, which would be one side alone."""
    count = repeats(200)
    ones, tape = np.random.default_rng(3).binomial(n, p, count), Tape(3)
    mean, whole = BernoulliMean.for_epsilon(epsilon, n), BernoulliCount.for_epsilon(epsilon, n)
    room = sqrt(-log(ALPHA / 2) / (2 * count))
    for intervals in (
        [mean.interval(mean(int(s), tape)) for s in ones],
        [whole.infer(whole(int(s), tape), tape).interval() for s in ones],
    ):
        covered = sum(low <= p <= high for low, high in intervals) / count
        assert 0.95 - room <= covered <= 0.975 + room


# The picture.


def test_expected_widths_are_those_of_the_intervals() -> None:
    """Against an integral over releases, one noisy count at a time."""
    n, epsilon, p = 12, 1.0, np.array([0.0, 0.3])
    found = mean_widths(n, epsilon, p)
    for noise in ("laplace", "geometric"):
        edges = np.linspace(-15, n + 15, 301)
        widths = [
            np.subtract(*reversed(inference(n, float(t), noise, epsilon).interval()))
            for t in (edges[1:] + edges[:-1]) / 2
        ]
        for i, each in enumerate(p):
            chance = np.diff([cdf(float(t), n, float(each), noise, epsilon) for t in edges])
            assert abs(float(chance @ np.array(widths)) / found[noise][i] - 1) < 3e-3


@pytest.mark.parametrize(("n", "epsilon"), [(50, 0.3), (200, 1.0), (100, 5.0)])
def test_better_intervals_are_narrower_at_every_p(n: int, epsilon: float) -> None:
    p = np.linspace(0, 1, 11)
    found = mean_widths(n, epsilon, p)
    assert (found["geometric"] <= found["laplace"] * (1 + 1e-6)).all()
    assert (found["laplace"] <= found["plain"] * 1.001).all()
    assert found["geometric"][0] < found["plain"][0]
    assert all(np.allclose(widths, widths[::-1], rtol=1e-6) for widths in found.values())


def test_the_picture_is_a_specification_with_its_data() -> None:
    spec = picture_of_widths(60, 1)
    assert json.loads(json.dumps(spec, allow_nan=False)) == spec
    rows = spec["data"]["values"]
    assert len({row["interval"] for row in rows}) == 3 and len(rows) == 3 * 37
    assert all(0 < row["width"] <= 1 for row in rows)
    fields = {channel["field"] for channel in spec["encoding"].values() if isinstance(channel, dict)}
    assert fields == set(rows[0])
    at_half = {row["interval"]: row["width"] for row in rows if row["p"] == 0.5}
    gain = 1 - at_half["most powerful tests, geometric noise"] / at_half["the same ± at every p"]
    assert f"by {gain:.0%} at p = 1/2" in spec["title"]["subtitle"]


# What is refused.


@pytest.mark.parametrize("kind", [BernoulliMean, BernoulliCount])
def test_what_is_not_so_many_bits_is_refused(kind: Any) -> None:
    m = kind(3, 1)
    for exact in (-1, 4, 1.0, True, [0, 1], [0, 1, 2], [0, 1, -1], [0.0, 1.0, 1.0], "101", [[0, 1, 1]], None):
        with pytest.raises(Invalid, match="exact must be 3 bits"):
            m(exact, Tape(1))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: BernoulliMean(0, 1), "n must be at least 1"),
        (lambda: BernoulliMean(1 << 33, 1), "n must be at most"),
        (lambda: BernoulliCount(5, 0), "scale must be positive"),
        (lambda: BernoulliCount(5, 1).estimate(1.5), "noisy must be an integer"),
        (lambda: BernoulliCount(5, 1).variance(2), "p must be between 0 and 1"),
        (lambda: BernoulliCount(5, 1).infer(2, Tape(1)).p_value(0.5, "greater"), "alternative must be an Alternative"),
        (lambda: BernoulliMean(5, 1).interval(0.5, 1), "confidence must lie between 0 and 1"),
        (lambda: BernoulliMean(5, 1).infer(float("nan")), "estimate must be finite"),
        (lambda: mean_widths(50_000, 1, np.zeros(1)), "n must be at most 10000"),
        (lambda: least_error(0, 5), "epsilon must be positive"),
    ],
)
def test_wrong_parameters_are_named(make: Any, message: str) -> None:
    with pytest.raises(Invalid, match=message):
        make()


def test_they_are_registered_with_neighbours_as_examples() -> None:
    for name in ("BernoulliMean", "BernoulliCount"):
        for example in registry.examples(name):
            assert np.abs(np.array(example.x) - np.array(example.y)).sum() == example.sensitivity
