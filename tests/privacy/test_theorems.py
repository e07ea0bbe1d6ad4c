"""Each theorem against an independent oracle: mpmath at 60 digits, or all subsets one by one; and the laws between theorems."""

import itertools
import math
import re
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from random import Random

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import Invalid
from discreet.exact import exp_up, log_up
from discreet.privacy import theorems
from discreet.privacy.adjacency import Adjacency
from discreet.privacy.theorems import (
    advanced_composition,
    approximate_delta,
    approximate_epsilon,
    basic_composition,
    bayes_success,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_mu,
    gaussian_rho,
    group_delta,
    group_delta_short,
    group_delta_shortest,
    group_epsilon,
    group_mu,
    group_rho,
    laplace_rho,
    optimal_delta,
    optimal_epsilon,
    optimal_mixed_delta,
    optimal_mixed_epsilon,
    parallel_composition,
    posterior_bounds,
    pure_delta,
    pure_epsilon,
    pure_mu,
    pure_rdp,
    pure_rho,
    renyi_delta,
    renyi_epsilon,
    renyi_least_delta,
    renyi_least_epsilon,
    zcdp_delta,
    zcdp_epsilon,
    zcdp_implies,
    zcdp_rho,
)
from discreet.privacy.theorems.mixed import SIZES, Mixed
from discreet.privacy.theorems.parts import MAX_MIXED
from tests.scale import repeats

ULPS = 5e-16  # a result that is rounded once
DELTAS = (0.3, 1e-2, 1e-6, 1e-12, 1e-30, 1e-100, 1e-300)


@pytest.fixture(autouse=True)
def sixty_digits() -> Iterator[None]:
    with mp.workdps(60):
        yield


def meant(x: float | Fraction) -> Fraction:
    """What a number means: a float is the decimal it prints."""
    return Fraction(repr(x)) if isinstance(x, float) else Fraction(x)


def real(x: float | Fraction) -> mp.mpf:
    exact = meant(x)
    return mp.mpf(exact.numerator) / exact.denominator


def assert_above(found: float | Fraction, truth: mp.mpf, share: float = ULPS) -> None:
    """Not below the truth, as far as 60 digits tell, and not more than a share of it above (or of the least floats)."""
    assert truth * (1 - mp.mpf(10) ** -50) <= real(found) <= truth * (1 + mp.mpf(share)) + real(1e-322), (found, truth)


# Oracles.


def response_delta(epsilons: Sequence[float | Fraction], target: float | Fraction) -> mp.mpf:
    """δ(target) of randomised responses, over all subsets."""
    total = mp.mpf(0)
    logs = [real(e) for e in epsilons]
    for signs in itertools.product((1, -1), repeat=len(logs)):
        loss = mp.fsum(s * e for s, e in zip(signs, logs, strict=True))
        if loss > real(target):
            chance = mp.fprod(1 / (1 + mp.exp(-s * e)) for s, e in zip(signs, logs, strict=True))
            total += chance * (1 - mp.exp(real(target) - loss))
    return total


def binomial_delta(epsilon: float, k: int, target: float) -> mp.mpf:
    """δ(target) of k equal randomised responses: the sum of its terms from the lowest that counts, while they count."""
    e, to = real(epsilon), real(target)
    j = max(0, int(mp.floor((to / e + k) / 2)) + 1)
    term = mp.binomial(k, j) * mp.exp(j * e) / (1 + mp.exp(e)) ** k
    total, growth, peak = mp.mpf(0), mp.exp(e), mp.mpf(0)
    while j <= k and (term > peak or term * (k - j + 1) > total * mp.mpf(10) ** -30):
        peak = term
        total += term * (1 - mp.exp(to - (2 * j - k) * e))
        term *= growth * (k - j) / (j + 1)
        j += 1
    return total


def normal_delta(mu: float | Fraction, epsilon: float | Fraction) -> mp.mpf:
    with mp.workdps(120 if mu > 1e-20 else 400):  # for differences of tails
        m, e = real(mu), real(epsilon)
        return mp.ncdf(m / 2 - e / m) - mp.exp(e) * mp.ncdf(-m / 2 - e / m)


def renyi_of_response(epsilon: float, order: float) -> mp.mpf:
    e, a = real(epsilon), real(order)
    return mp.log((mp.exp(a * e) + mp.exp((1 - a) * e)) / (1 + mp.exp(e))) / (a - 1)


def renyi_of_laplace(epsilon: float, order: float) -> mp.mpf:
    e, a = real(epsilon), real(order)
    return mp.log((a * mp.exp((a - 1) * e) + (a - 1) * mp.exp(-a * e)) / (2 * a - 1)) / (a - 1)


def renyi_to_delta(order: mp.mpf, divergence: mp.mpf, epsilon: mp.mpf) -> mp.mpf:
    return mp.exp((order - 1) * (divergence - epsilon)) * (1 - 1 / order) ** order / (order - 1)


# Composition.


def test_basic_composition_is_an_exact_sum() -> None:
    assert basic_composition([(0.1, 0.01)] * 10) == (1, Fraction(1, 10))
    assert basic_composition([(1e-6, 0)] * 10**4) == (Fraction(1, 100), 0)
    assert basic_composition([]) == (0, 0)
    assert basic_composition([(1, 0.9), (1, 0.9)]) == (2, 1)


def test_parallel_composition_takes_the_largest_or_the_two_largest() -> None:
    parts = [(0.3, 1e-6), (0.1, 3e-6), (0.2, 2e-6)]
    assert parallel_composition(parts, Adjacency.ADD_REMOVE) == (Fraction(3, 10), Fraction(3, 10**6))
    assert parallel_composition(parts, Adjacency.REPLACE) == (Fraction(1, 2), Fraction(5, 10**6))
    assert parallel_composition(parts[:1], Adjacency.REPLACE) == (Fraction(3, 10), Fraction(1, 10**6))
    assert parallel_composition([], Adjacency.REPLACE) == (0, 0)


ODDS = (Fraction(2), Fraction(3), Fraction(3, 2))  # e^ε of three groups
FAILS = Fraction(1, 100)  # and their δ
PARTS = [(log_up(odds), FAILS) for odds in ODDS]


def told_by_groups(held: Sequence[bool]) -> dict[tuple[str, ...], Fraction]:
    """Each group tells whether it holds somebody: for certain with probability δ, else by randomised response."""
    answers: dict[tuple[str, ...], Fraction] = {(): Fraction(1)}
    for odds, here in zip(ODDS, held, strict=True):
        right, wrong = (1 - FAILS) * odds / (1 + odds), (1 - FAILS) / (1 + odds)
        chances = {f"surely {here}": FAILS, "yes": right if here else wrong, "no": wrong if here else right}
        answers = {(*told, one): p * q for told, p in answers.items() for one, q in chances.items()}
    return answers


def largest_delta(pairs: Sequence[Sequence[dict[tuple[str, ...], Fraction]]], ratio: Fraction) -> Fraction:
    """δ at ε = ln ratio over pairs of distributions, in both directions."""
    both = [(p, q) for one, other in pairs for p, q in ((one, other), (other, one))]
    return max(sum((max(Fraction(0), p[y] - ratio * q.get(y, 0)) for y in p), Fraction(0)) for p, q in both)


NOBODY, EVERYWHERE = told_by_groups([False] * 3), told_by_groups([True] * 3)
ALONE = [told_by_groups([here == group for here in range(3)]) for group in range(3)]
CHANGES = {
    Adjacency.ADD_REMOVE: [(one, NOBODY) for one in ALONE],
    Adjacency.REPLACE: list(itertools.combinations(ALONE, 2)),
}


@pytest.mark.parametrize("adjacency", Adjacency)
def test_parallel_composition_is_what_enumeration_finds(adjacency: Adjacency) -> None:
    """One person leaves or enters a group, or is replaced by one of another group."""
    epsilon, delta = parallel_composition(PARTS, adjacency)
    assert largest_delta(CHANGES[adjacency], exp_up(epsilon)) <= delta
    assert largest_delta(CHANGES[adjacency], exp_up(epsilon) * Fraction(99, 100)) > delta


def test_a_partition_of_rows_gives_no_discount() -> None:
    """One person with rows in every group: parallel composition does not hold, basic composition does."""
    for adjacency in Adjacency:
        epsilon, delta = parallel_composition(PARTS, adjacency)
        assert largest_delta([(EVERYWHERE, NOBODY)], exp_up(epsilon)) > delta
    epsilon, delta = basic_composition(PARTS)
    assert largest_delta([(EVERYWHERE, NOBODY)], exp_up(epsilon)) <= delta


@pytest.mark.parametrize("epsilon", [0, 1e-9, 0.1, 1, 20])
@pytest.mark.parametrize("k", [1, 10, 10**6])
def test_advanced_composition_is_its_formula(epsilon: float, k: int) -> None:
    for slack in (0.5, 1e-6, 1e-300):
        found, delta = advanced_composition(epsilon, 1e-9, k, slack)
        e = real(epsilon)
        assert_above(found, e * mp.sqrt(2 * k * mp.log(1 / real(slack))) + k * e * mp.expm1(e))
        assert delta == min(1, Fraction(k, 10**9) + Fraction(repr(slack)))


def test_optimal_composition_is_what_all_subsets_give() -> None:
    rng = Random(1)
    for _ in range(repeats(60)):
        k, epsilon, delta = rng.randint(1, 7), rng.choice([1e-6, 0.1, 0.7, 3.0, 40.0]), rng.choice([0, 1e-9, 0.01])
        target = rng.uniform(0, 1) * k * epsilon
        truth = 1 - (1 - real(delta)) ** k * (1 - response_delta([epsilon] * k, target))
        assert_above(optimal_delta(epsilon, k, target, delta=delta), truth)


@pytest.mark.parametrize(
    ("epsilon", "k", "target"),
    [
        (0.1, 100, 3.7),
        (0.1, 10_000, 96.5),
        (0.01, 10**5, 30),
        (0.001, 10**6, 37.44441),
        (1.0, 2000, 1300),
        (2.5, 50, 1),
    ],
)
def test_optimal_composition_of_many_is_the_binomial_sum(epsilon: float, k: int, target: float) -> None:
    assert_above(optimal_delta(epsilon, k, target), binomial_delta(epsilon, k, target))


def test_optimal_composition_at_a_known_value() -> None:
    assert abs(optimal_epsilon(0.1, 10_000, 1e-6) / 96.57184003 - 1) < 1e-10
    assert abs(optimal_epsilon(0.1, 100, 1e-6) / 4.7746 - 1) < 1e-5


@pytest.mark.parametrize(("epsilon", "k"), [(1.0, 1), (0.5, 8), (0.1, 1000), (0.001, 10**4), (30.0, 3), (1e-6, 10)])
def test_optimal_epsilon_is_the_least_that_meets_delta(epsilon: float, k: int) -> None:
    for delta in (*DELTAS, 0.9, 1) if k < 10**4 else (0.3, 1e-6, 1e-100):
        found = optimal_epsilon(epsilon, k, delta)
        assert 0 <= found <= k * epsilon * (1 + ULPS)
        truth = binomial_delta if k > 8 else lambda e, n, x: response_delta([e] * n, x)
        assert truth(epsilon, k, found) <= real(delta)
        if found > 0:
            assert truth(epsilon, k, found * (1 - 4 * ULPS)) > real(delta) * (1 - mp.mpf(10) ** -15)


@pytest.mark.parametrize("delta", [0.1, 1e-6, 1e-15])
def test_the_root_of_the_number_of_parts_cannot_be_improved(delta: float) -> None:
    """k randomised responses of ε = 1/√k tend to Gaussian privacy of μ = 1: their ε does not fall with k, so √k is needed."""
    limit = gaussian_epsilon(1, delta)
    for root, away in ((10, 0.1), (100, 1e-3), (1000, 1e-5)):
        assert abs(optimal_epsilon(Fraction(1, root), root**2, delta) / limit - 1) < away


def test_optimal_composition_at_zero_delta_is_basic() -> None:
    for epsilon, k in ((0.1, 10), (0.3, 7), (1e-6, 10**6)):
        total = basic_composition([(epsilon, 0)])[0] * k
        assert Fraction(repr(optimal_epsilon(epsilon, k, 0))) == total
        assert optimal_delta(epsilon, k, total) == 0


def test_failures_add_up_and_leave_nothing_below_them() -> None:
    assert optimal_epsilon(0.1, 10, 1e-6, delta=1e-6) == math.inf
    assert optimal_epsilon(0.1, 1, 1e-6, delta=1e-6) == 0.1
    assert optimal_epsilon(0.1, 10**5, 0.000099995, delta=1e-9) == math.inf  # 1 − (1 − 1e-9)^1e5 = 0.00009999500017
    assert optimal_epsilon(0.1, 10**5, 0.000099996, delta=1e-9) < 10**4
    assert_above(optimal_delta(0, 10, 0, delta=1e-6), 1 - (1 - real(1e-6)) ** 10)
    assert optimal_epsilon(0.1, 5, 1, delta=1) == 0


@pytest.mark.parametrize(("epsilon", "k"), [(0.01, 1000), (0.1, 100), (1.0, 10), (0.5, 1), (0.001, 10**5)])
def test_optimal_is_never_above_advanced_nor_basic(epsilon: float, k: int) -> None:
    for slack in (0.1, 1e-3, 1e-9, 1e-50):
        for delta in (0, 1e-12):
            advanced, total = advanced_composition(epsilon, delta, k, slack)
            assert optimal_epsilon(epsilon, k, total, delta=delta) <= advanced
            assert optimal_epsilon(epsilon, k, total, delta=delta) <= group_epsilon(epsilon, k)


@pytest.mark.parametrize(("epsilon", "k"), [(0.7, 5), (0.05, 400)])
def test_optimal_delta_falls_and_is_convex_in_the_exponential(epsilon: float, k: int) -> None:
    points = np.linspace(0, min(k * epsilon, 4), 60)
    deltas = [optimal_delta(epsilon, k, float(x)) for x in points]
    slopes = np.diff(deltas) / np.diff(np.exp(points))
    assert (np.diff(deltas) <= 0).all()
    assert (np.diff(slopes) >= -1e-12).all()
    assert slopes[0] >= -1


def test_a_composition_too_large_to_compute_is_refused() -> None:
    with pytest.raises(Invalid, match="k must be at most"):
        optimal_epsilon(0.1, 10**8, 1e-6)
    with pytest.raises(Invalid, match="k must be at most"):
        optimal_delta(0.1, 10**8, 1)
    for large in ([(1000, 0), (900, 0)], [(10**1000, 0), (1, 0)]):
        with pytest.raises(Invalid, match="epsilons may add up to"):
            optimal_mixed_delta(large, 0)
    with pytest.raises(Invalid, match="epsilons may add up to"):
        optimal_mixed_delta([(10**1000, 0), (1, 0)], 10**1000)
    many = [(Fraction(n, 10**6), 0) for n in range(1, MAX_MIXED + 2)]
    with pytest.raises(Invalid, match="mechanisms of many different epsilons"):
        optimal_mixed_epsilon(many, 1e-6)


# Composition of different mechanisms.


def lattice_delta(counts: Sequence[int], unit: float, target: float) -> float:
    """δ(target) of responses ±n·unit, n from counts, by convolution over multiples of the unit; floats, right to 1e-13."""
    half = sum(counts)
    mass = np.zeros(2 * half + 1)
    mass[half] = 1.0
    for n in counts:
        plus = 1 / (1 + math.exp(-n * unit))
        mass = plus * np.roll(mass, n) + (1 - plus) * np.roll(mass, -n)
    loss = unit * (np.arange(2 * half + 1) - half)
    return float((mass * -np.expm1(np.minimum(target - loss, 0.0))).sum())


def test_mixed_composition_is_what_all_subsets_give() -> None:
    rng = Random(2)
    for _ in range(repeats(12)):
        k = rng.randint(2, 7)
        epsilons = [round(rng.choice([0.01, 0.3, 2.0]) * rng.uniform(0.5, 1), rng.choice([1, 4])) for _ in range(k)]
        deltas = [rng.choice([0, 1e-9, 1e-3]) for _ in range(k)]
        parts, target = list(zip(epsilons, deltas, strict=True)), rng.uniform(0, 1) * sum(epsilons)
        survive = mp.fprod(1 - real(d) for d in deltas)
        inner = response_delta(epsilons, target)
        found = optimal_mixed_delta(parts, target)
        assert_above(found, 1 - survive * (1 - inner), 1e-9)
        back = optimal_mixed_epsilon(parts, found)
        assert back <= target * (1 + 1e-6) + 1e-9
        rounding = mp.mpf(10) ** -50  # of 60 digits of what is near 1
        assert 1 - survive * (1 - response_delta(epsilons, back)) <= real(found) + rounding


COUNTS = {
    "sixty, spread": [1 + (7 * n) % 61 for n in range(60)],
    "a hundred": list(range(10, 110)),
}


@pytest.mark.parametrize("delta", [0.1, 1e-6, 1e-9, 1e-40])
@pytest.mark.parametrize("counts", COUNTS.values(), ids=COUNTS)
def test_mixed_composition_on_the_grid_is_from_above_and_close(counts: list[int], delta: float) -> None:
    unit = 1 / 128
    parts = [(Fraction(n, 128), 0) for n in counts]
    assert not Mixed([e for e, _ in parts], Fraction(0), SIZES[0]).exact
    found = optimal_mixed_epsilon(parts, delta)
    assert lattice_delta(counts, unit, found) <= delta * (1 + 1e-12)
    lower = found * (1 - 1e-6)
    assert lattice_delta(counts, unit, lower) > delta * (1 - 1e-12)
    if delta == 1e-9:
        truth = lattice_delta(counts, unit, lower)
        assert truth * (1 - 1e-12) <= optimal_mixed_delta(parts, lower) <= truth * (1 + 2e-6)


def test_mixed_composition_does_not_under_report_next_to_a_loss() -> None:
    """Where ε is a loss less some 1e-16 of it, floats cannot tell the two apart."""
    rng = Random(3)
    for _ in range(repeats(40)):
        epsilons = [Fraction(rng.randint(1, 3000), rng.choice([10, 997, 1000])) for _ in range(rng.randint(2, 4))]
        loss = sum(epsilons) - 2 * rng.choice([0, epsilons[0]])
        target = loss * (1 - Fraction(1, 10 ** rng.randint(13, 20)))
        if target > 0 and len(set(epsilons)) > 1:
            found = optimal_mixed_delta([(e, 0) for e in epsilons], target)
            assert real(found) >= response_delta(epsilons, target)


def test_mixed_composition_at_the_ends_of_floats() -> None:
    parts = [(Fraction(n, 1000), 0) for n in range(1, 60)]
    total = basic_composition(parts)[0]
    for target in (5e-324, Fraction(1, 10**400)):
        assert optimal_mixed_epsilon(parts, target) == float(total)
        assert optimal_mixed_epsilon([(0.1, 0), (0.2, 0)], target) == 0.3
    assert 0 < optimal_mixed_delta(parts, total - Fraction(1, 10**1000)) < 1e-25
    wide = [Fraction(3275 + n, 1000) for n in range(400)]  # up to a loss of 1,390, of which floats do not hold e^L
    with np.errstate(over="raise", invalid="raise"):
        mixed = Mixed(wide, Fraction(0), SIZES[0])
        assert not mixed.exact
        assert 0 < mixed.delta(1385.0)[0] < mixed.delta(0.0)[0] == 1


def test_mixed_composition_of_equal_parts_is_the_homogeneous_one() -> None:
    parts = [(0.1, 1e-9)] * 100
    assert optimal_mixed_epsilon(parts, 1e-6) == optimal_epsilon(0.1, 100, 1e-6, delta=1e-9)
    assert optimal_mixed_delta(parts, 3) == optimal_delta(0.1, 100, 3, delta=1e-9)


def test_mixed_composition_of_nearly_equal_parts_is_near_the_homogeneous_one() -> None:
    parts = [(0.1, 0)] * 5000 + [(Fraction(1000001, 10**7), 0)] * 5000
    assert optimal_epsilon(0.1, 10_000, 1e-6) < optimal_mixed_epsilon(parts, 1e-6) < 1.00001 * 96.57184003


def test_mixed_composition_at_the_ends() -> None:
    parts = [(0.1, 0), (0.3, 1e-6), (0, 0)]
    assert optimal_mixed_epsilon(parts, 1e-7) == math.inf
    assert optimal_mixed_epsilon(parts, 1e-6) == 0.4
    assert optimal_mixed_epsilon(parts, 1) == 0
    assert optimal_mixed_delta(parts, 0.4) == 1e-6
    assert (optimal_mixed_epsilon([], 0.5), optimal_mixed_delta([], 0)) == (0, 0)
    assert (optimal_mixed_epsilon([(0, 0.1)], 0.2), optimal_mixed_delta([(0, 0.1)], 0)) == (0, 0.1)


def test_the_order_of_parts_does_not_matter() -> None:
    parts = [(0.1, 1e-8), (0.5, 0), (0.3, 1e-7)] * 3
    assert optimal_mixed_epsilon(parts, 1e-5) == optimal_mixed_epsilon(parts[::-1], 1e-5)


# Groups.


@pytest.mark.parametrize("k", [1, 2, 7, 1000])
@pytest.mark.parametrize("epsilon", [0, 1e-12, 0.1, 1, 30])
def test_group_privacy_in_its_three_forms(epsilon: float, k: int) -> None:
    for delta in (0, 1e-300, 1e-9, 0.5):
        e, d = real(epsilon), real(delta)
        tight, short, shortest = (f(epsilon, delta, k) for f in (group_delta, group_delta_short, group_delta_shortest))
        assert group_epsilon(epsilon, k) == k * Fraction(repr(epsilon))
        assert_above(tight, min(1, d * mp.fsum(mp.exp(j * e) for j in range(k))))
        assert_above(short, min(1, k * mp.exp((k - 1) * e) * d))
        assert_above(shortest, min(1, k * mp.exp(k * e) * d))
        assert tight <= short * (1 + ULPS) and short <= shortest * (1 + ULPS)


def random_row(rng: Random, outputs: int) -> list[Fraction]:
    weights = [rng.choice([0, 1, 1, 2, 5, 20]) for _ in range(outputs)]
    weights[rng.randrange(outputs)] += 1
    return [Fraction(weight, sum(weights)) for weight in weights]


def row_delta(p: Sequence[Fraction], q: Sequence[Fraction], ratio: Fraction) -> Fraction:
    """δ at ε = ln ratio, in both directions."""
    return max(
        sum((max(Fraction(0), a - ratio * b) for a, b in zip(one, other, strict=True)), Fraction(0))
        for one, other in ((p, q), (q, p))
    )


def test_group_privacy_holds_along_every_chain_of_neighbours() -> None:
    """Rows of a table, each a neighbour of the next: the first against the last, in rationals."""
    rng = Random(4)
    for _ in range(repeats(100)):
        k, outputs, ratio = rng.randint(1, 4), rng.randint(2, 5), Fraction(rng.randint(11, 30), 10)
        chain = [random_row(rng, outputs) for _ in range(k + 1)]
        delta = max(row_delta(p, q, ratio) for p, q in itertools.pairwise(chain))
        assert row_delta(chain[0], chain[-1], ratio**k) <= meant(group_delta(log_up(ratio), delta, k))


def test_group_privacy_is_attained() -> None:
    """An output of chance 0, δ, δ(1 + e^ε), δ(1 + e^ε + e^2ε), … for data sets that differ in 0, 1, 2, … people."""
    ratio, delta = Fraction(2), Fraction(1, 100)
    chances = [delta * sum(ratio**j for j in range(people)) for people in range(5)]
    chain = [[chance, 1 - chance] for chance in chances]
    assert max(row_delta(p, q, ratio) for p, q in itertools.pairwise(chain)) == delta
    for k in range(1, 5):
        assert_above(group_delta(log_up(ratio), delta, k), real(row_delta(chain[0], chain[k], ratio**k)))


@pytest.mark.parametrize("k", [1, 3, 1000])
def test_groups_under_concentrated_and_gaussian_privacy_are_noise_on_k_times_the_sensitivity(k: int) -> None:
    assert group_mu(0.3, k) == k * Fraction(3, 10)
    assert gaussian_rho(group_mu(0.3, k)) == group_rho(gaussian_rho(0.3), k)


def test_group_privacy_with_an_exponent_beyond_everything() -> None:
    assert group_delta(1e6, 1e-300, 3) == group_delta_short(1e6, 1e-300, 3) == group_delta_shortest(1e6, 1e-300, 3) == 1
    assert group_delta(1e6, 0, 3) == group_delta_short(1e6, 0, 3) == 0


# Post-processing.


def test_post_processing_never_costs_more() -> None:
    """Any channel behind a table, a randomised one too, and at every ε; some channels do gain."""
    rng, gained = Random(5), 0
    for _ in range(repeats(100)):
        rows = [random_row(rng, 4) for _ in range(2)]
        channel = [random_row(rng, 3) for _ in range(4)]
        after = [[sum(p * out[y] for p, out in zip(row, channel, strict=True)) for y in range(3)] for row in rows]
        for ratio in (Fraction(1), Fraction(3, 2), Fraction(5)):
            assert row_delta(after[0], after[1], ratio) <= row_delta(rows[0], rows[1], ratio)
            gained += row_delta(after[0], after[1], ratio) < row_delta(rows[0], rows[1], ratio)
    assert gained > 0


# Pure and approximate.


@pytest.mark.parametrize("epsilon", [1e-9, 0.1, 1.0, 50.0, 1e6])
def test_conversions_of_approximate_privacy_are_one_randomised_response(epsilon: float) -> None:
    for share in (0, 0.3, 0.999999, 1, 2):
        target = epsilon * share
        truth = mp.mpf(0) if share >= 1 else response_delta([epsilon], target)
        assert_above(pure_delta(epsilon, target), truth)
        for delta in (0, 1e-12, 0.2, 1):
            found = approximate_delta(epsilon, delta, target)
            assert_above(found, real(delta) + (1 - real(delta)) * truth)
            assert approximate_epsilon(epsilon, delta, found) <= max(target, 0) * (1 + 1e-9) + 1e-9
    assert pure_epsilon(epsilon, 0) == epsilon == approximate_epsilon(epsilon, 1e-9, 1e-9)
    assert approximate_epsilon(epsilon, 1e-9, 1e-10) == math.inf
    assert pure_epsilon(epsilon, 1) == pure_epsilon(0, 0) == 0


@pytest.mark.parametrize("delta", [1e-15, 1e-6, 0.2])
def test_pure_epsilon_meets_its_delta(delta: float) -> None:
    found = pure_epsilon(1, delta)
    assert response_delta([1], found) <= real(delta)
    assert response_delta([1], found * (1 - 4 * ULPS)) > real(delta)


# Concentrated.


ORDERS = (1 + 1e-9, 1.01, 1.5, 2, 3.7, 10, 100, 10**4)


@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 0.1, 1.0, 5.0, 40.0])
def test_concentrated_prices_are_suprema_over_all_orders(epsilon: float) -> None:
    for price, renyi in ((pure_rho, renyi_of_response), (laplace_rho, renyi_of_laplace)):
        rho = real(price(epsilon))
        assert all(renyi(epsilon, a) <= rho * real(a) for a in ORDERS)
        assert renyi(epsilon, ORDERS[0]) >= rho * (1 - mp.mpf(10) ** -6)
    e = real(epsilon)
    assert_above(pure_rho(epsilon), e * mp.tanh(e / 2), 1e-18)
    assert_above(laplace_rho(epsilon), e + mp.exp(-e) - 1, 1e-18)
    assert pure_rho(epsilon).denominator.bit_length() < 200  # short, so that sums stay short


def test_concentrated_prices_at_the_ends() -> None:
    assert pure_rho(0) == laplace_rho(0) == gaussian_rho(0) == 0
    assert pure_rho(1e6) == 10**6
    assert gaussian_rho(0.3) == Fraction(9, 200)


def zcdp_oracle(rho: float, epsilon: float) -> mp.mpf:
    """The least δ over orders, by golden search on its logarithm."""

    def exponent(log_beta: mp.mpf) -> mp.mpf:
        a = 1 + mp.exp(log_beta)
        return (a - 1) * (a * real(rho) - real(epsilon)) + a * mp.log(1 - 1 / a) - mp.log(a - 1)

    low, high, ratio = mp.mpf(-40), mp.mpf(40), (mp.sqrt(5) - 1) / 2
    for _ in range(100):
        a, b = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, b) if exponent(a) < exponent(b) else (a, high)
    return min(mp.mpf(1), mp.exp(exponent(low)))


@pytest.mark.parametrize("rho", [1e-12, 1e-4, 0.02, 0.5, 30])
def test_conversion_of_concentrated_privacy_is_the_best_order(rho: float) -> None:
    for sigmas in (0, 1, 5, 35):
        epsilon = float(rho + sigmas * math.sqrt(2 * rho))
        truth = zcdp_oracle(rho, epsilon)
        found = zcdp_delta(rho, epsilon)
        assert_above(found, truth, 1e-13)
        assert normal_delta(Fraction(math.sqrt(2 * rho)), epsilon) <= real(found) * (1 + mp.mpf(10) ** -12)
        if found < 1:
            assert abs(zcdp_epsilon(rho, found) - epsilon) <= 1e-13 * (epsilon + math.sqrt(rho))


def test_the_largest_rho_of_a_budget() -> None:
    assert math.floor(zcdp_rho(1, 1e-7) * 10**5) == 2018
    for epsilon, delta in itertools.product((0, 1e-6, 0.1, 1, 10, 1000), DELTAS[:-1]):
        rho = zcdp_rho(epsilon, delta)
        assert rho > 0
        assert zcdp_implies(rho, epsilon, delta)
        assert not zcdp_implies(rho * (1 + Fraction(1, 10**12)), epsilon, delta)
        assert zcdp_epsilon(rho, delta) <= epsilon * (1 + ULPS)


def test_concentrated_conversions_at_the_ends() -> None:
    assert zcdp_rho(1, 0) == 0
    assert zcdp_delta(0, 0) == zcdp_epsilon(0, 0) == zcdp_epsilon(1, 1) == 0
    assert zcdp_epsilon(1, 0) == math.inf
    assert zcdp_delta(1, 1e9) == 5e-324
    assert zcdp_delta(10**600, 0) == 1
    assert zcdp_delta(Fraction(1, 10**600), 1) == 5e-324
    with pytest.raises(Invalid, match="delta must be below 1"):
        zcdp_rho(1, 1)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_the_price_of_pure_privacy_covers_its_true_curve(epsilon: float) -> None:
    for share in (0, 0.5, 0.9, 0.999):
        assert response_delta([epsilon], epsilon * share) <= real(zcdp_delta(pure_rho(epsilon), epsilon * share))


# Rényi.


@pytest.mark.parametrize("epsilon", [1e-9, 0.1, 1.0, 40.0, 1e6])
def test_renyi_privacy_of_pure_privacy_is_that_of_randomised_response(epsilon: float) -> None:
    for order in (1.0001, 1.5, 2, 64.5, 10**6):
        with mp.workdps(120):
            assert_above(
                pure_rdp(epsilon, order), renyi_of_response(epsilon, order) if epsilon < 100 else real(epsilon)
            )
        assert pure_rdp(epsilon, order) <= order * pure_rho(epsilon) * (1 + 2 * Fraction(ULPS))
    assert pure_rdp(0, 2) == 0


def two_outputs(a: float, rdp: float, epsilon: float) -> float:
    """The largest P(A) − e^ε Q(A) of P and Q with two outputs and a divergence of at most rdp, by searches in floats."""

    def largest_p(q: float) -> float:
        low, high = q, 1.0
        for _ in range(60):
            p = (low + high) / 2
            within = q * (p / q) ** a + (1 - q) * ((1 - p) / (1 - q)) ** a <= math.exp((a - 1) * rdp)
            low, high = (p, high) if within else (low, p)
        return low

    def gain(log_q: float) -> float:
        return largest_p(math.exp(log_q)) - math.exp(epsilon + log_q)

    low, high, ratio = -10.0, -1e-6, (math.sqrt(5) - 1) / 2
    for _ in range(60):
        x, y = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, y) if gain(x) > gain(y) else (x, high)
    return gain(low)


@pytest.mark.parametrize(
    ("order", "rdp", "epsilon"),
    [(2, 0.001, 0.1), (2, 5, 1), (1.1, 0.01, 0.2), (1.5, 0.3, 0), (8, 0.5, 1), (64, 0.001, 0.001), (20, 0.4, 0.1)],
)
def test_the_least_delta_of_one_order_is_attained_by_two_outputs(order: float, rdp: float, epsilon: float) -> None:
    found = renyi_least_delta(order, rdp, epsilon)
    assert abs(two_outputs(order, rdp, epsilon) / found - 1) < 1e-7
    assert found < renyi_delta(order, rdp, epsilon)


@pytest.mark.parametrize("rdp", [1e-6, 0.01, 0.9])
def test_the_least_delta_of_order_two_has_a_closed_form(rdp: float) -> None:
    """Where the χ² divergence is x = e^r − 1: (√(x + c²) − c)/2, c = e^ε − 1, up to where one of P's outputs is certain."""
    for epsilon in (0.3, 2.0, 9.5):
        x, c = mp.expm1(real(rdp)), mp.expm1(real(epsilon))
        assert_above(renyi_least_delta(2, rdp, epsilon), (mp.sqrt(x + c * c) - c) / 2, 1e-12)


def test_the_least_epsilon_of_one_order_is_the_inverse() -> None:
    for order, rdp, epsilon in ((1.01, 2e-6, 2), (2, 0.001, 0.1), (64, 3, 3.5)):
        delta = renyi_least_delta(order, rdp, epsilon)
        assert delta * order < 1
        assert abs(renyi_least_epsilon(order, rdp, delta) / epsilon - 1) < 1e-12
        assert renyi_least_epsilon(order, rdp, delta) <= renyi_epsilon(order, rdp, delta)
    assert_above(renyi_least_epsilon(4, 2, 0.5), 2 + mp.log(0.5))
    assert renyi_least_epsilon(4, 0, 0) == renyi_least_epsilon(4, 2, 1) == renyi_least_epsilon(4, 0.1, 0.5) == 0
    assert renyi_least_epsilon(4, 2, 0) == math.inf


@pytest.mark.parametrize("order", [1.001, 1.5, 2, 8, 64.5, 10**6])
def test_renyi_conversions_are_their_formulas(order: float) -> None:
    a = real(order)
    for rdp, epsilon, delta in itertools.product((0, 0.01, 3), (0, 0.5, 10), (1e-300, 1e-6, 0.5)):
        formula = renyi_to_delta(a, real(rdp), real(epsilon))
        assert_above(renyi_delta(order, rdp, epsilon), min(mp.mpf(1), formula))
        inverse = real(rdp) + mp.log(1 - 1 / a) - mp.log(a * real(delta)) / (a - 1)
        assert_above(renyi_epsilon(order, rdp, delta), max(mp.mpf(0), inverse))
    assert renyi_epsilon(order, 0, 0) == math.inf


@pytest.mark.parametrize("order", [1.5, 3, 20])
def test_renyi_conversions_cover_the_true_curves(order: float) -> None:
    for delta, epsilon in itertools.product((renyi_delta, renyi_least_delta), (0, 0.3, 0.9, 2.5)):
        response = Fraction(math.nextafter(float(renyi_of_response(1.0, order)), 9))
        assert response_delta([1.0], epsilon) <= real(delta(order, response, epsilon))
        assert normal_delta(1, epsilon) <= real(delta(order, Fraction(repr(order)) / 2, epsilon))


# Gaussian.


@pytest.mark.parametrize("mu", [1e-12, 1e-3, 0.1, 1 / 3.7306, 0.999, 1.42, 5, 70])
def test_gaussian_delta_is_the_difference_of_two_tails(mu: float) -> None:
    for sigmas in (-30, -3, -0.5, 0, 0.5, 5, 20, 36.9):
        epsilon = mu * (mu / 2 + sigmas)
        if epsilon >= 0:
            assert_above(gaussian_delta(mu, epsilon), normal_delta(mu, epsilon), 2e-11)
    assert_above(gaussian_delta(mu, 0), normal_delta(mu, 0), 2e-11)


def test_gaussian_delta_at_the_ends() -> None:
    assert gaussian_delta(0, 0) == 0
    assert gaussian_delta(1, 10**6) == 5e-324
    assert gaussian_delta(10**400, 1) == gaussian_delta(1000, 0) == 1
    assert gaussian_delta(Fraction(1, 10**400), 0) <= 1e-320


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("mu", [1e-3, 0.27, 4])
def test_gaussian_epsilon_is_the_least_that_meets_delta(mu: float, delta: float) -> None:
    found = gaussian_epsilon(mu, delta)
    assert normal_delta(mu, found) <= real(delta)
    if found > 0:
        assert normal_delta(mu, found * (1 - 1e-10)) > real(delta)


@pytest.mark.parametrize("delta", [1e-320, *DELTAS])
@pytest.mark.parametrize("epsilon", [0, 1e-3, 1, 30])
def test_gaussian_mu_is_the_largest_that_meets_delta(epsilon: float, delta: float) -> None:
    found = gaussian_mu(epsilon, delta)
    if delta < 1e-300 and epsilon == 0:
        assert found == 2 * Fraction(repr(delta))
        return
    assert normal_delta(found, epsilon) <= real(delta)
    if delta >= 1e-300:
        assert normal_delta(found * (1 + Fraction(1, 10**10)), epsilon) > real(delta)


def test_gaussian_conversions_at_known_values_and_ends() -> None:
    assert abs(1 / gaussian_mu(1, 1e-5) / Fraction("3.7306") - 1) < Fraction(1, 10**5)
    assert abs(gaussian_epsilon(math.sqrt(1000) / 50, 1e-6) / 2.92160059 - 1) < 1e-9
    assert gaussian_epsilon(0, 0) == gaussian_epsilon(3, 1) == gaussian_mu(1, 0) == 0
    assert gaussian_epsilon(1, 0) == gaussian_epsilon(10**200, 1e-6) == math.inf
    assert gaussian_epsilon(1, Fraction(1, 10**400)) < 100
    assert gaussian_mu(1, Fraction(1, 10**400)) > 0
    with pytest.raises(Invalid, match="delta must be below 1"):
        gaussian_mu(1, 1)


@pytest.mark.parametrize("epsilon", [1e-9, 0.1, 0.999, 1.0, 5.0, 30.0, 1e4])
def test_gaussian_privacy_of_pure_privacy_is_where_both_errors_are_equal(epsilon: float) -> None:
    """Φ(−μ/2) = 1/(1 + e^ε): as a ratio of 1 − 2Φ(−μ/2), or of logarithms, whichever keeps its digits."""
    e, x = real(epsilon), real(pure_mu(epsilon)) / mp.sqrt(8)
    if epsilon < 1:
        ratio = mp.erf(x) / mp.tanh(e / 2)
    else:
        ratio = mp.log(mp.erfc(x) / 2) / -(e + mp.log1p(mp.exp(-e)))
    assert 1 <= ratio <= 1 + mp.mpf(3) / 10**11


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 30.0])
def test_gaussian_privacy_of_pure_privacy_covers_its_true_curve(epsilon: float) -> None:
    for share in (0, 0.5, 0.9, 0.999):
        assert response_delta([epsilon], epsilon * share) <= normal_delta(pure_mu(epsilon), epsilon * share)
    assert response_delta([epsilon], 0) > normal_delta(pure_mu(epsilon) * (1 - 1e-9), 0)
    assert pure_mu(0) == 0


# The Bayesian reading.


def posterior(prior: dict[tuple[int, ...], Fraction], chance: Callable[[tuple[int, ...]], Fraction]) -> Fraction:
    """The probability that the first bit is 1, given an answer of this chance for each data set."""
    weights = {bits: p * chance(bits) for bits, p in prior.items()}
    return sum(p for bits, p in weights.items() if bits[0]) / sum(weights.values())


def test_posteriors_stay_within_their_bounds_for_every_prior_and_reach_them() -> None:
    odds = Fraction(3)  # randomised response on one bit, when the other people are known
    for n in range(1, 20):
        p = Fraction(n, 20)
        low, high = map(meant, posterior_bounds(p, log_up(odds)))
        found = [
            posterior({(1,): p, (0,): 1 - p}, lambda bits, said=said: odds if bits[0] == said else 1) for said in (0, 1)
        ]
        assert low <= found[0] < p < found[1] <= high
        assert max(abs(low / found[0] - 1), abs(high / found[1] - 1)) < Fraction(1, 10**14)
        assert 1 / odds <= found[0] / p and found[1] / p <= odds
    assert posterior_bounds(0, 1) == (0, 0) and posterior_bounds(1, 1) == (1, 1)
    assert posterior_bounds(0.5, 10**6) == (0, 1)


def test_without_knowing_the_others_the_bounds_say_neither_more_nor_less() -> None:
    """For one prior: an exclusive or is published and moves no posterior; two equal bits move it by twice ε."""
    even = {bits: Fraction(1, 4) for bits in itertools.product((0, 1), repeat=2)}
    for said in (
        0,
        1,
    ):  # the exact answer x1 xor x2: nothing is learned of x1, and to one who knows x2 it tells everything
        assert posterior(even, lambda bits, said=said: Fraction(bits[0] ^ bits[1] == said)) == Fraction(1, 2)
        known = {(0, 1): Fraction(1, 2), (1, 1): Fraction(1, 2)}
        assert posterior(known, lambda bits, said=said: Fraction(bits[0] ^ bits[1] == said)) in (0, 1)
    odds, p = (
        Fraction(3),
        Fraction(1, 10**6),
    )  # both bits are one person's secret, and each is answered by randomised response
    equal = {(1, 1): p, (0, 0): 1 - p}
    found = posterior(equal, lambda bits: math.prod(odds if bit else Fraction(1) for bit in bits))
    assert found > meant(posterior_bounds(p, log_up(odds))[1])
    assert odds**2 * (1 - 10 * p) < found / p <= odds**2


@pytest.mark.parametrize("epsilon", [0, 1e-9, 0.1, 1, 20, 1e5])
def test_bayes_success_is_its_formula_and_one_guess_at_an_even_prior(epsilon: float) -> None:
    e = real(epsilon)
    for delta in (0, 1e-6, 0.3, 1):
        d = real(delta)
        assert_above(bayes_success(epsilon, delta), (1 + d * mp.exp(-e)) / (1 + mp.exp(-e)))
    # The best guess of a randomised response that fails with probability δ is right with (1 + total variation)/2.
    total_variation = response_delta([epsilon], 0) if epsilon else mp.mpf(0)
    assert_above(bayes_success(epsilon, 0.3), (1 + real(0.3) + (1 - real(0.3)) * total_variation) / 2)


# Arguments.


FUNCTIONS: list[tuple[Callable[..., object], dict[str, object]]] = [
    (advanced_composition, {"epsilon": 0.1, "delta": 1e-9, "k": 10, "slack": 1e-6}),
    (optimal_delta, {"epsilon": 0.1, "k": 10, "target": 0.5, "delta": 1e-9}),
    (optimal_epsilon, {"epsilon": 0.1, "k": 10, "target": 1e-6, "delta": 1e-9}),
    (group_epsilon, {"epsilon": 0.1, "k": 10}),
    (group_delta, {"epsilon": 0.1, "delta": 1e-9, "k": 10}),
    (group_delta_short, {"epsilon": 0.1, "delta": 1e-9, "k": 10}),
    (group_delta_shortest, {"epsilon": 0.1, "delta": 1e-9, "k": 10}),
    (approximate_delta, {"epsilon": 0.1, "delta": 1e-9, "target": 0.05}),
    (approximate_epsilon, {"epsilon": 0.1, "delta": 1e-9, "target": 1e-6}),
    (pure_rho, {"epsilon": 0.1}),
    (laplace_rho, {"epsilon": 0.1}),
    (gaussian_rho, {"mu": 0.1}),
    (zcdp_delta, {"rho": 0.02, "epsilon": 1}),
    (zcdp_epsilon, {"rho": 0.02, "delta": 1e-6}),
    (zcdp_rho, {"epsilon": 1, "delta": 1e-6}),
    (zcdp_implies, {"rho": 0.02, "epsilon": 1, "delta": 1e-6}),
    (renyi_delta, {"order": 2, "rdp": 0.1, "epsilon": 1}),
    (renyi_epsilon, {"order": 2, "rdp": 0.1, "delta": 1e-6}),
    (gaussian_delta, {"mu": 0.1, "epsilon": 1}),
    (gaussian_epsilon, {"mu": 0.1, "delta": 1e-6}),
    (gaussian_mu, {"epsilon": 1, "delta": 1e-6}),
    (bayes_success, {"epsilon": 0.1, "delta": 1e-6}),
    (posterior_bounds, {"prior": 0.1, "epsilon": 1}),
    (group_rho, {"rho": 0.1, "k": 10}),
    (group_mu, {"mu": 0.1, "k": 10}),
    (pure_delta, {"epsilon": 0.1, "target": 0.05}),
    (pure_epsilon, {"epsilon": 0.1, "target": 1e-6}),
    (pure_rdp, {"epsilon": 0.1, "order": 2}),
    (pure_mu, {"epsilon": 0.1}),
    (renyi_least_delta, {"order": 2, "rdp": 0.1, "epsilon": 1}),
    (renyi_least_epsilon, {"order": 2, "rdp": 0.1, "delta": 1e-6}),
]
PLACES = [(function, good, name) for function, good in FUNCTIONS for name in good]
OF_DELTA = (optimal_epsilon, approximate_epsilon, pure_epsilon)  # their target is a δ
NOT_NUMBERS = st.sampled_from([math.nan, math.inf, -math.inf, "0.1", None, True, 1j, [1], np.nan])


def bad_values(function: Callable[..., object], name: str) -> st.SearchStrategy[object]:
    """What an argument of that name may not be."""
    below = st.floats(max_value=-1e-300, allow_nan=False)
    above = st.floats(min_value=1.0000001, allow_nan=False)
    of_delta = name in ("delta", "slack", "prior") or (name == "target" and function in OF_DELTA)
    if name == "k":
        return st.one_of(NOT_NUMBERS, st.integers(max_value=0), st.floats(1, 100))
    if name == "order":
        return st.one_of(NOT_NUMBERS, st.floats(max_value=1, allow_nan=False))
    return st.one_of(NOT_NUMBERS, below, above) if of_delta else st.one_of(NOT_NUMBERS, below)


@pytest.mark.parametrize(
    ("function", "good", "name"), PLACES, ids=[f"{function.__name__}-{name}" for function, _, name in PLACES]
)
@settings(max_examples=repeats(3), deadline=None)
@given(data=st.data())
def test_bad_arguments_are_refused_by_name(
    function: Callable[..., object], good: dict[str, object], name: str, data: st.DataObject
) -> None:
    with pytest.raises(Invalid, match=f"^{name} must"):
        function(**{**good, name: data.draw(bad_values(function, name))})


@pytest.mark.parametrize("slack", [0, 1])
def test_advanced_composition_needs_a_slack(slack: int) -> None:
    with pytest.raises(Invalid, match="slack must be strictly between"):
        advanced_composition(0.1, 0, 10, slack)


@pytest.mark.parametrize("target", [-1, math.nan, "1", None])
def test_bad_targets_of_mixed_parts_are_refused_by_name(target: object) -> None:
    for function in (optimal_mixed_delta, optimal_mixed_epsilon):
        with pytest.raises(Invalid, match=r"^target must"):
            function([(0.1, 0), (0.2, 0)], target)  # type: ignore[operator]


@pytest.mark.parametrize("part", [(0.1,), 0.1, (0.1, 0, 0), (-0.1, 0), (0.1, 2), ("x", 0)])
def test_bad_parts_are_refused(part: object) -> None:
    for function in (
        basic_composition,
        lambda parts: parallel_composition(parts, Adjacency.REPLACE),
        lambda parts: optimal_mixed_delta(parts, 0.1),
        lambda parts: optimal_mixed_epsilon(parts, 1e-6),
    ):
        with pytest.raises(Invalid, match=r"epsilon|delta"):
            function([(0.1, 0), part])
        with pytest.raises(Invalid, match=r"^parts must"):
            function(0.1)
    with pytest.raises(Invalid, match="adjacency must be an Adjacency"):
        parallel_composition([(0.1, 0)], "replace")  # type: ignore[arg-type]


NUMBERS = st.one_of(
    st.floats(0, 1e300),
    st.floats(0, 100),
    st.fractions(0, 10),
    st.sampled_from([0, 5e-324, Fraction(1, 10**1000), 10**1000]),
)
CHANCES = st.one_of(
    st.floats(0, 1), st.fractions(0, 1), st.sampled_from([0, 1, 5e-324, Fraction(1, 10**1000), 1 - 1e-16])
)
COUNTED = st.one_of(st.integers(1, 300), st.sampled_from([1, 2, 10**5]))


def good_values(function: Callable[..., object], name: str) -> st.SearchStrategy[object]:
    of_delta = name in ("delta", "prior") or (name == "target" and function in OF_DELTA)
    if name == "k":
        return COUNTED
    if name == "order":
        return NUMBERS.filter(lambda x: x > 1)
    if name == "slack" or (name == "delta" and function in (zcdp_rho, gaussian_mu)):
        return CHANCES.filter(lambda x: 0 < x < 1)
    return CHANCES if of_delta else NUMBERS


@pytest.mark.parametrize(("function", "good"), FUNCTIONS, ids=[function.__name__ for function, _ in FUNCTIONS])
@settings(max_examples=repeats(4), deadline=None)
@given(data=st.data())
def test_no_arguments_give_a_number_that_is_none(
    function: Callable[..., object], good: dict[str, object], data: st.DataObject
) -> None:
    """Never NaN, never negative, and a δ never above 1, whatever the sizes of the arguments."""
    found = function(**{name: data.draw(good_values(function, name), label=name) for name in good})
    numbers = found if isinstance(found, tuple) else (found,)
    assert all(number >= 0 for number in numbers)
    if function.__name__.endswith("_delta"):
        assert all(number <= 1 for number in numbers)


# The documentation.


def test_the_table_of_theorems_names_every_function_and_tests_that_exist() -> None:
    here = Path(__file__).parent
    page = (here.parent.parent / "docs" / "theory.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith("|") and "`test_" in line]
    tests = {test for line in rows for test in re.findall(r"`(test_\w+)`", line)}
    defined = {
        test
        for file in here.parent.rglob("test_*.py")
        for test in re.findall(r"^def (test_\w+)", file.read_text("utf-8"), re.M)
    }
    assert tests - defined == set()
    assert set(theorems.__all__) - {name for line in rows for name in re.findall(r"`(\w+)`", line)} == set()
