"""Lower bounds hold at their confidence: by exact enumeration of small runs, and by plain sums of fractions."""

from fractions import Fraction
from itertools import product
from math import comb, exp, inf, log

import numpy as np
import pytest
from scipy import stats

import discreet as dp
from discreet.audit.confidence import (
    Wager,
    binomial_lower,
    excess,
    fixed,
)
from discreet.binomial import tail
from discreet.privacy.theorems import gaussian_epsilon

CHANCES = (0.0, 0.02, 0.1, 0.3, 0.5, 0.8, 1.0)
DELTAS = (0.0, 0.05, 0.2)
ALPHAS = (0.3, 0.05)


def exact_tail(trials: int, least: int, chance: Fraction) -> Fraction:
    return sum(
        (comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(max(least, 0), trials + 1)),
        Fraction(0),
    )


def test_a_tail_is_the_sum_of_its_terms() -> None:
    for trials, chance in product(
        (1, 2, 7, 40), (Fraction(0), Fraction(1, 1000), Fraction(1, 3), Fraction(9, 10), Fraction(1))
    ):
        for least in range(-1, trials + 2):
            exact = float(exact_tail(trials, least, chance))
            assert tail(least, trials, float(chance)) == pytest.approx(exact, rel=1e-9, abs=1e-300)


def test_long_tails_agree_with_another_library() -> None:
    for trials, chance in product((10**4, 10**6, 10**8), (1e-5, 0.01, 0.5, 0.999)):
        for deviations in (-6, -1, 0, 2, 8):
            least = int(trials * chance + deviations * (trials * chance * (1 - chance)) ** 0.5)
            other = stats.binom.sf(least - 1, trials, chance)
            assert tail(least, trials, chance) == pytest.approx(other, rel=1e-6)


def test_the_lower_end_is_that_of_clopper_and_pearson() -> None:
    for trials in (1, 5, 100, 10**6):
        for successes in {0, 1, trials // 2, trials - 1, trials}:
            for alpha in (0.05, 1e-6):
                other = stats.beta.ppf(alpha, successes, trials - successes + 1) if successes else 0.0
                end = binomial_lower(trials, successes, alpha)
                assert end <= other * (1 + 1e-12)
                assert end == pytest.approx(other, rel=1e-4)


def test_the_excess_is_the_least_number_that_is_passed_seldom() -> None:
    for outputs, delta, beta in product((10, 1000, 10**6), (1e-5, 0.01, 1.0), (0.03, 1e-7)):
        most = excess(outputs, delta, beta)
        assert stats.binom.sf(most, outputs, delta / 2) <= beta
        assert most == 0 or stats.binom.sf(most - 1, outputs, delta / 2) > beta * (1 - 1e-5)


def true_epsilon(likely: float, rare: float, delta: float) -> float:
    """The least ε with likely ≤ e^ε rare + δ."""
    gain = likely - delta
    if gain <= rare:
        return 0.0
    return inf if rare == 0 else log(gain / rare)


def fixed_is_above_the_truth_seldom() -> float:
    """The largest probability, over all chances of an event, that the bound is above the truth, in units of α: exactly, by enumeration."""
    outputs, worst = 14, 0.0
    for delta, alpha in product(DELTAS, ALPHAS):
        bounds = {
            (hits, misses): fixed(hits, misses, outputs, delta, alpha)
            for hits in range(outputs + 1)
            for misses in range(outputs + 1 - hits)
        }
        for likely, rare in product(CHANCES, CHANCES):
            truth = true_epsilon(likely, rare, delta)
            wrong = sum(
                comb(outputs, hits)
                * comb(outputs - hits, misses)
                * (likely / 2) ** hits
                * (rare / 2) ** misses
                * (1 - likely / 2 - rare / 2) ** (outputs - hits - misses)
                for (hits, misses), bound in bounds.items()
                if bound > truth
            )
            worst = max(worst, wrong / alpha)
            assert wrong <= alpha * (1 + 1e-9), (delta, alpha, likely, rare)
    return worst


def test_a_bound_of_fixed_size_is_above_the_truth_at_its_rate_at_most() -> None:
    # That the rate is nearly reached somewhere shows that the enumeration reaches the deciding cases.
    assert fixed_is_above_the_truth_seldom() > 0.5


def capital_never_grows_on_average() -> None:
    """For every chance that the claim allows, one output on each neighbour multiplies the capital by 1 at most, on average."""
    for delta in DELTAS:
        wager = Wager(delta, 0.05)
        for likely, rare in product((0.01, 0.2, 0.9), (0.0, 0.01, 0.5)):
            stakes = wager.stakes(likely, rare)
            grown = []
            for on_x, on_y in product((0, 1), (0, 1)):
                round_ = Wager(delta, 0.05)
                round_.settle(stakes, on_x, 1 - on_x, on_y)
                grown.append(np.exp(round_._capital))
            for p, q in product(CHANCES, CHANCES):
                weights = [(1 - p) * (1 - q), (1 - p) * q, p * (1 - q), p * q]
                average = sum(w * g for w, g in zip(weights, grown, strict=True))
                allowed = wager.ladder >= true_epsilon(p, q, delta)
                assert (average[allowed] <= 1 + 1e-12).all(), (delta, p, q)


def test_a_gambler_wins_nothing_on_average_while_the_claim_holds() -> None:
    capital_never_grows_on_average()


def test_a_gambler_grows_rich_where_the_claim_fails() -> None:
    wager = Wager(0.0, 0.05)
    stakes = wager.stakes(0.5, 0.1)
    wager.settle(stakes, 5000, 5000, 1000)
    assert 1.4 < wager.epsilon < log(5)


def test_what_was_rejected_stays_rejected() -> None:
    wager = Wager(0.0, 0.05)
    stakes = wager.stakes(0.5, 0.1)
    wager.settle(stakes, 500, 500, 100)
    before = wager.epsilon
    wager.settle(stakes, 0, 1000, 500)
    assert wager.epsilon == before > 1


def test_a_rejection_far_up_counts_only_above_others() -> None:
    """A bound is the end of an unbroken run of rejected claims: one lucky claim above a sound one says nothing."""
    wager = Wager(0.0, 0.05)
    wager._most[100] = 50.0
    assert wager.epsilon == 0.0


def test_gaussian_shapes_have_the_epsilon_of_the_accounting() -> None:
    for scale, delta in product((0.5, 1, 3.7306, 20), (1e-10, 1e-5, 0.01)):
        exact = dp.Gaussian(scale=scale).loss().epsilon(delta)
        assert gaussian_epsilon(1 / scale, delta) == pytest.approx(exact, rel=1e-3)
    assert gaussian_epsilon(0.0, 1e-5) == 0.0
    assert gaussian_epsilon(0.001, 0.5) == 0.0
    assert exp(gaussian_epsilon(0.1, 1e-9)) > 1
