"""Shuffled reports: the bound against every neighbouring input of small randomisers, in rationals, and the laws between its values."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction as F
from functools import cache
from itertools import combinations_with_replacement, permutations
from math import comb
from random import Random
from unittest import mock

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import Invalid
from discreet.exact import Number, log_down, log_up
from discreet.privacy.numeric.finite import hockey_stick, ratio_of_table
from discreet.privacy.theorems import (
    gaussian_delta,
    gaussian_epsilon,
    pure_delta,
    pure_epsilon,
    shuffled_delta,
    shuffled_epsilon,
    shuffling,
)
from tests.scale import SCALE, repeats

Channel = Sequence[Sequence[F]]
PRECISION = 1e-3  # relative, of δ: what is promised for ε₀ up to 8 and δ from 1e-12 on
EXACT = 3e-5  # relative, where every number of clones is looked at: the slack and its rounding
ABOVE_BINARY = (
    2.5,
    1.4,
)  # times the exact δ of binary response, e^ε₀ <= 3, at most 8 people: of any randomiser, of a binary one
GAMMAS = (F(1), F(21, 20), F(5, 4), F(3, 2), F(2), F(5, 2))


# What is exact: every set of reports that shuffling can give.


def response(k: int, ratio: F) -> Channel:
    """k-ary randomised response, with e^ε₀ = ratio."""
    return [[(ratio if x == y else F(1)) / (ratio + k - 1) for y in range(k)] for x in range(k)]


def odd_channel(seed: int) -> Channel:
    """A randomiser of three values and four reports that nobody would choose."""
    random = Random(seed)
    rows = [[random.randint(2, 7) for _ in range(4)] for _ in range(3)]
    return [[F(each, sum(row)) for each in row] for row in rows]


@cache
def shuffled(rows: tuple[tuple[F, ...], ...]) -> dict[tuple[int, ...], F]:
    """The probability of each histogram of the reports of people with these rows."""
    if not rows:
        return {(0,) * 0: F(1)}
    found: Counter[tuple[int, ...]] = Counter()
    for counts, chance in shuffled(rows[1:]).items():
        for y, p in enumerate(rows[0]):
            after = list(counts or (0,) * len(rows[0]))
            after[y] += 1
            found[tuple(after)] += chance * p  # type: ignore[assignment]
    return dict(found)  # type: ignore[arg-type]


def neighbours(channel: Channel, n: int, pairs: Sequence[tuple[int, int]]) -> Iterator[tuple[list[F], list[F]]]:
    """The laws of shuffled reports for all inputs of the others and each of these changes of one."""
    rows = [tuple(row) for row in channel]
    for others in combinations_with_replacement(range(len(rows)), n - 1):
        rest = tuple(rows[x] for x in others)
        for x, y in pairs:
            one, two = shuffled((rows[x], *rest)), shuffled((rows[y], *rest))
            yield [one[key] for key in one], [two[key] for key in one]


def bound(ratio: F, n: int, gamma: F, binary: bool = False) -> float:
    """δ by the theorem for e^ε₀ = ratio and e^ε = gamma."""
    return shuffled_delta(log_up(ratio), n, max(F(0), log_down(gamma)), binary=binary)


def holds_for(channel: Channel, n: int, pairs: Sequence[tuple[int, int]], binary: bool = False) -> list[float]:
    """The bound is kept at every γ; the factors by which it is above the exact δ, where that is not 0."""
    ratio = ratio_of_table(channel)
    assert ratio is not None
    laws = list(neighbours(channel, n, pairs))
    factors = []
    for gamma in GAMMAS:
        exact = max(hockey_stick(p, q, gamma) for p, q in laws)
        stated = bound(ratio, n, gamma, binary)
        assert exact <= F(stated), (n, gamma)
        if exact:
            factors.append(stated / float(exact))
    return factors


def binary_responses_lose_no_more() -> None:
    """Both directions of a change are alike: reports 0 and 1 change places."""
    for ratio in (F(3, 2), F(2), F(3)):
        for n in range(1, 9):
            for binary, most in zip((False, True), ABOVE_BINARY, strict=True):
                factors = holds_for(response(2, ratio), n, [(0, 1)], binary)
                assert max(factors) <= most, (ratio, n, binary)


def test_binary_responses_lose_no_more() -> None:
    binary_responses_lose_no_more()


@pytest.mark.parametrize(("k", "most"), [(3, 8), (4, 5 if SCALE == 1 else 8)])
def test_k_ary_responses_lose_no_more(k: int, most: int) -> None:
    for ratio in (F(2), F(4)):
        for n in range(2, most + 1):
            holds_for(response(k, ratio), n, [(0, 1)])


def randomisers_with_two_reports_lose_no_more() -> None:
    """Also where the reports are not alike, and values lie between the two that differ most."""
    for chances in ((F(1, 10), F(3, 10), F(2, 10)), (F(1, 2), F(9, 10), F(6, 10)), (F(1, 4), F(3, 4), F(1, 2))):
        channel = [[chance, 1 - chance] for chance in chances]
        for n in (1, 2, 5, 8):
            holds_for(channel, n, list(permutations(range(3), 2)), binary=True)


def test_randomisers_with_two_reports_lose_no_more() -> None:
    randomisers_with_two_reports_lose_no_more()


def odd_randomisers_lose_no_more() -> None:
    for seed in range(repeats(3)):
        for n in (1, 2, 4):
            holds_for(odd_channel(seed), n, list(permutations(range(3), 2)))


def test_odd_randomisers_lose_no_more() -> None:
    odd_randomisers_lose_no_more()


def clones(keep: F, ratio: F, n: int, gamma: F) -> F:
    """The hockey-stick divergence of the pair of clones, where each of the others is one with probability `keep`, as it is defined."""
    p = ratio / (1 + ratio)
    total = F(0)
    for c in range(n):
        weight = comb(n - 1, c) * keep**c * (1 - keep) ** (n - 1 - c)
        coins = [F(comb(c, a), 2**c) for a in range(c + 1)]
        first = [p * high + (1 - p) * low for high, low in zip([F(0), *coins], [*coins, F(0)], strict=True)]
        total += weight * hockey_stick(first, first[::-1], gamma)
    return total


def values_are_those_of_clones() -> None:
    """From above, and no farther than rounding: every number of clones is looked at."""
    for ratio in (F(11, 10), F(2), F(5), F(1000)):
        for n in (2, 3, 8, 30):
            for gamma in (*GAMMAS, F(4), F(500)):
                for binary, keep in ((False, 1 / ratio), (True, 2 / (1 + ratio))):
                    exact = clones(keep, ratio, n, gamma)
                    stated = F(bound(ratio, n, gamma, binary))
                    assert exact <= stated <= exact * F(1 + EXACT) + F(1, 10**12), (ratio, n, gamma)


def test_values_are_those_of_clones() -> None:
    values_are_those_of_clones()


# Many people.


def blocks_are_from_above_and_fine() -> None:
    """Against every number of clones by itself, at an ε that matters."""
    for local, n, delta in ((1, 30_000, 1e-6), (4, 4 * 10**5, 1e-12)):
        epsilon = shuffled_epsilon(local, n, delta)
        with mock.patch.multiple(shuffling, MOST_BLOCKS=10**6, MOST_TERMS=10**10):
            fine = shuffled_delta(local, n, epsilon)
        assert fine <= shuffled_delta(local, n, epsilon) <= fine * (1 + PRECISION)
        with mock.patch.multiple(shuffling, MOST_BLOCKS=20, FEWEST_BLOCKS=20):
            assert fine <= shuffled_delta(local, n, epsilon)


def test_blocks_are_from_above_and_fine() -> None:
    blocks_are_from_above_and_fine()


def many_reports_are_gaussian() -> None:
    """With N clones the loss is about Gaussian, μ = 2 tanh(ε₀/2)/√N: another formula for another limit of the same pair."""
    for local, n in ((0.5, 10**9), (3.0, 10**7)):
        mu = 2 * math.tanh(local / 2) / math.sqrt(n * math.exp(-local))
        assert shuffled_epsilon(local, n, 1e-4 * mu) == pytest.approx(gaussian_epsilon(mu, 1e-4 * mu), rel=2e-3)
        assert shuffled_delta(local, n, 2 * mu) == pytest.approx(gaussian_delta(mu, 2 * mu), rel=5e-3)


def test_many_reports_are_gaussian() -> None:
    many_reports_are_gaussian()


def binomials_are_those_of_sixty_digits() -> None:
    """Well within the slack, from the mean far out, and at both ends."""
    with mp.workdps(60):
        for trials, q in ((10, mp.mpf(1) / 3), (5000, mp.e**-4), (10**9, mp.e**-1), (10**9, mp.e**-15)):
            mean = float(trials * q)
            spread = math.sqrt(mean)
            numbers = {0, 1, trials, int(mean), int(mean + 9 * spread) % trials, max(0, int(mean - 9 * spread))}
            for k in numbers:
                exact = mp.log(mp.binomial(trials, k)) + k * mp.log(q) + (trials - k) * mp.log(1 - q)
                found = shuffling._log_binomial(np.array([k]), trials, mean, float(trials * (1 - q)))[0]
                assert abs(float(exact) - float(found)) <= shuffling.SLACK / 10 + 1e-15 * abs(float(exact)), (trials, k)


def test_binomials_are_those_of_sixty_digits() -> None:
    binomials_are_those_of_sixty_digits()


def what_is_left_out_is_added() -> None:
    """A bulk that is far too small makes δ larger, never smaller."""
    for local, n, epsilon in ((1, 1000, 0.05), (3, 3000, 0.2), (6, 200, 1), (1, 1000, 0.4)):
        true = shuffled_delta(local, n, epsilon)
        pair = shuffling._Pair(float(local), epsilon, False)
        for exponent in (0.1, 1.0, 3.0):
            inside, outside = pair._parts(shuffling._Clones.of(n - 1, shuffling._rates(local, False), exponent))
            assert inside < true * (1 + EXACT) and true <= (inside + outside) * (1 + EXACT)


def test_what_is_left_out_is_added() -> None:
    what_is_left_out_is_added()


def sums_that_are_cut_short_are_bounded() -> None:
    """Few terms and a geometric series for the rest are above all terms."""
    for kinds in (5, 100, 3001):
        for epsilon in (0.0, 0.01, 0.3):
            pair = shuffling._Pair(1.0, epsilon, False)
            true = pair.given(kinds)
            with mock.patch.object(shuffling, "NEGLIGIBLE", 1e-3):
                assert true * (1 - 1e-9) <= pair.given(kinds)


def test_sums_that_are_cut_short_are_bounded() -> None:
    sums_that_are_cut_short_are_bounded()


def closed(local: float, n: int, delta: float) -> float:
    """Feldman, McMillan and Talwar 2021, theorem 3.1."""
    e = math.exp(local)
    return math.log1p((e - 1) / (e + 1) * (8 * math.sqrt(e * math.log(4 / delta) / n) + 8 * e / n))


def test_the_closed_form_is_never_better() -> None:
    for local, n, delta in [
        (0.01, 10**3, 0.1),
        (1, 10**3, 1e-6),
        (0.5, 10**4, 1e-3),
        (3, 10**4, 1e-9),
        (5, 10**6, 1e-6),
        (9, 10**9, 1e-12),
    ]:
        assert local <= math.log(n / (16 * math.log(2 / delta)))
        assert shuffled_delta(local, n, closed(local, n, delta)) <= delta
        assert shuffled_epsilon(local, n, delta) <= closed(local, n, delta)


# Laws between values.

LOCAL = st.floats(0.01, 8)
PEOPLE = st.one_of(st.integers(1, 300), st.sampled_from([10**4, 10**6, 10**9]))
DELTA = st.sampled_from([0.1, 1e-3, 1e-6, 1e-12])


def epsilons_meet_their_delta() -> None:
    for local, n, delta in ((1, 100, 1e-3), (2, 3000, 1e-6)):
        assert shuffled_delta(local, n, shuffled_epsilon(local, n, delta)) <= delta


def test_epsilons_meet_their_delta() -> None:
    epsilons_meet_their_delta()


@settings(max_examples=repeats(8), deadline=None)
@given(local=LOCAL, n=PEOPLE, delta=DELTA, binary=st.booleans())
def test_shuffled_epsilon_is_the_least_that_meets_delta(local: float, n: int, delta: float, binary: bool) -> None:
    found = shuffled_epsilon(local, n, delta, binary=binary)
    assert shuffled_delta(local, n, found, binary=binary) <= delta
    assert 0 <= found <= pure_epsilon(local, delta) <= local
    assert not found or shuffled_delta(local, n, found * (1 - PRECISION), binary=binary) >= delta * (1 - PRECISION)


@settings(max_examples=repeats(8), deadline=None)
@given(
    local=LOCAL,
    n=PEOPLE,
    share=st.floats(0, 1),
    more=st.sampled_from([(1.0, 1, 1.01), (1.0, 2, 1.0), (1.0, 10, 1.0), (0.8, 1, 1.0), (0.99, 1, 1.0)]),
)
def test_more_people_less_local_loss_or_a_larger_epsilon_never_cost_more(
    local: float, n: int, share: float, more: tuple[float, int, float]
) -> None:
    """To the precision that is promised: numbers of clones are taken in blocks."""
    less, times, larger = more
    epsilon = share * local
    before, after = shuffled_delta(local, n, epsilon), shuffled_delta(local * less, n * times, epsilon * larger)
    assert 0 <= after <= before * (1 + PRECISION) + 1e-12
    assert before <= pure_delta(local, epsilon)


def values_at_the_ends() -> None:
    """Zero and infinity first: no local loss, no loss; nobody else, no gain; δ = 0, the local loss; more than 10^9 count as 10^9."""
    assert shuffled_delta(0, 10, 0) == 0 and shuffled_epsilon(0, 10, 0.1) == 0
    assert shuffled_epsilon(0.3, 10**6, 0) == 0.3 and shuffled_epsilon(0.3, 10**6, 1) == 0
    assert shuffled_delta(2, 1, 0.5) == pure_delta(2, 0.5) and shuffled_epsilon(2, 1, 1e-3) == pure_epsilon(2, 1e-3)
    assert shuffled_delta(2, 50, 2) == 0 and shuffled_delta(2, 50, 10**300) == 0
    assert shuffled_delta(1, 10**30, 1e-4) == shuffled_delta(1, 10**9, 1e-4)
    assert shuffled_epsilon(F(1, 3), 100, F(1, 10**1000)) <= F(1, 3) + F(1, 10**15)
    for local in (5e-324, F(1, 10**1000), 1e-150, 1e-5, 99.0, 1000, 1e300):
        for n in (2, 10**5):
            delta, epsilon = shuffled_delta(local, n, 0), shuffled_epsilon(local, n, 1e-9)
            assert 0 <= delta <= pure_delta(local, 0) and 0 <= epsilon <= pure_epsilon(local, 1e-9)


def test_values_at_the_ends() -> None:
    values_at_the_ends()


@pytest.mark.parametrize(
    ("name", "value"),
    [("epsilon0", -1), ("epsilon0", math.nan), ("n", 0), ("n", 2.0), ("n", True), ("epsilon", -0.1), ("delta", 1.5)],
)
def test_bad_arguments_of_shuffling_are_refused_by_name(name: str, value: Number) -> None:
    if name != "delta":
        with pytest.raises(Invalid, match=f"^{name} must"):
            shuffled_delta(**{"epsilon0": 1, "n": 10, "epsilon": 0.1, name: value})  # type: ignore[arg-type]
    if name != "epsilon":
        with pytest.raises(Invalid, match=f"^{name} must"):
            shuffled_epsilon(**{"epsilon0": 1, "n": 10, "delta": 1e-6, name: value})  # type: ignore[arg-type]
