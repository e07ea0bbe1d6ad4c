"""Filters stop exactly at their cap, in rational arithmetic, and exist only where a theorem allows them."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import Invalid, Refused
from discreet.privacy.filters import (
    Accountant,
    ConcentratedFilter,
    GaussianFilter,
    PureFilter,
    Spent,
    SpentConcentrated,
    SpentGaussian,
    filter_for,
)
from discreet.privacy.theorems import gaussian_mu, laplace_rho, pure_rho, zcdp_delta, zcdp_rho
from tests.scale import repeats

LEAST = Fraction(1, 10**1000)


def test_ten_tenths_of_one_are_admitted_and_the_eleventh_is_not() -> None:
    pure, spent = PureFilter(1), Spent()
    for _ in range(10):
        assert pure.admits(spent, Spent(0.1))
        spent += Spent(0.1)
    assert spent == Spent(1)
    assert not pure.admits(spent, Spent(0.1))
    assert not pure.admits(spent, Spent(LEAST))
    assert pure.admits(spent, Spent(0))


def test_a_million_millionths_are_exactly_one() -> None:
    price, spent, pure = Spent(1e-6, 1e-12), Spent(), PureFilter(1, 1e-6)
    thousand = sum((price for _ in range(1000)), Spent())
    for _ in range(1000):
        assert pure.admits(spent, thousand)
        spent += thousand
    assert spent == Spent(1, 1e-6)
    assert not pure.admits(spent, price)


def test_delta_is_capped_beside_epsilon() -> None:
    pure = PureFilter(1, 1e-6)
    assert pure.admits(Spent(0.5, 1e-6), Spent(0.5))
    assert not pure.admits(Spent(0.5, 1e-6), Spent(0.1, LEAST))
    assert not PureFilter(1).admits(Spent(), Spent(0.1, 1e-300))


def test_the_concentrated_filter_of_a_budget() -> None:
    zcdp = ConcentratedFilter.for_budget(1, 2e-7)
    assert zcdp.rho == zcdp_rho(1, 1e-7)
    assert math.floor(zcdp.rho * 10**5) == 2018
    assert zcdp.delta_spent == Fraction(1, 10**7)
    assert zcdp_delta(zcdp.rho, 1) <= 1e-7
    assert zcdp.admits(SpentConcentrated(), SpentConcentrated(zcdp.rho, 1e-7))
    assert not zcdp.admits(SpentConcentrated(), SpentConcentrated(zcdp.rho + LEAST))
    assert not zcdp.admits(SpentConcentrated(0, 1e-7), SpentConcentrated(0, LEAST))
    assert not zcdp.admits(SpentConcentrated(zcdp.rho), SpentConcentrated(LEAST))


def test_the_concentrated_filter_divides_delta_as_told() -> None:
    most = ConcentratedFilter.for_budget(1, 1e-6, share=0)
    some = ConcentratedFilter.for_budget(1, 1e-6, share=0.9)
    assert (most.delta_spent, some.delta_spent) == (0, Fraction(9, 10**7))
    assert most.rho > some.rho > 0
    assert not most.admits(SpentConcentrated(), SpentConcentrated.by_approximate(0.01, 1e-9))
    for delta, share in ((0, 0.5), (1e-6, 1)):
        with pytest.raises(Invalid, match="needs a delta above 0"):
            ConcentratedFilter.for_budget(1, delta, share=share)


def test_a_cap_that_its_budget_does_not_allow_is_refused() -> None:
    fine = ConcentratedFilter.for_budget(1, 1e-6)
    with pytest.raises(Invalid, match="rho is too large"):
        ConcentratedFilter(fine.epsilon, fine.delta, fine.rho * (1 + Fraction(1, 10**12)), fine.delta_spent)
    with pytest.raises(Invalid, match="rho is too large"):
        ConcentratedFilter(fine.epsilon, fine.delta, fine.rho, fine.delta)
    with pytest.raises(Invalid, match="delta_spent must be at most delta"):
        ConcentratedFilter(fine.epsilon, fine.delta, fine.rho, Fraction(1, 10))
    mu = GaussianFilter.for_budget(1, 1e-6).mu
    with pytest.raises(Invalid, match="mu is too large"):
        GaussianFilter(Fraction(1), Fraction(1, 10**6), mu * (1 + Fraction(1, 10**9)))


def test_prices_of_releases_are_the_theorems() -> None:
    assert SpentConcentrated.by_gaussian(0.2) == SpentConcentrated(Fraction(1, 50))
    assert SpentConcentrated.by_laplace(0.1) == SpentConcentrated(laplace_rho(0.1))
    assert SpentConcentrated.by_approximate(0.1, 1e-9) == SpentConcentrated(pure_rho(0.1), 1e-9)
    assert SpentGaussian.by_gaussian(0.1) == SpentGaussian(0.01)


def test_the_concentrated_filter_admits_many_more_small_releases_than_the_sum() -> None:
    """What it is for: of ε = 0.01 the sum admits 100; zCDP admits 405 Laplace releases."""
    zcdp, price = ConcentratedFilter.for_budget(1, 2e-7), SpentConcentrated.by_laplace(0.01)
    count, spent = 0, SpentConcentrated()
    while zcdp.admits(spent, price):
        spent, count = spent + price, count + 1
    assert count == zcdp.rho // laplace_rho(0.01) == 405


def test_the_gaussian_filter_adds_squares() -> None:
    gaussian = GaussianFilter.for_budget(1, 1e-5)
    assert gaussian.mu == gaussian_mu(1, 1e-5)
    assert abs(1 / gaussian.mu - Fraction("3.7306")) < Fraction(1, 10**4)
    quarter = SpentGaussian.by_gaussian(gaussian.mu / 2)
    spent = quarter + quarter + quarter
    assert gaussian.admits(spent, quarter)
    assert not gaussian.admits(spent + quarter, SpentGaussian(LEAST))


@pytest.mark.parametrize("accountant", ["numerical", Accountant.NUMERICAL])
def test_a_filter_without_a_theorem_is_refused(accountant: str) -> None:
    with pytest.raises(Refused, match="numerical accountant has no filter") as caught:
        filter_for(accountant, 1, 1e-6)
    assert caught.value.code == "no-filter"
    assert "fixed in advance" in caught.value.message


def test_filters_by_accountant() -> None:
    assert filter_for("pure", 1, 1e-6) == PureFilter(1, 1e-6)
    assert filter_for(Accountant.ZCDP, 1, 2e-7) == ConcentratedFilter.for_budget(1, 2e-7)
    assert filter_for("gaussian", 1, 1e-6) == GaussianFilter.for_budget(1, 1e-6)
    with pytest.raises(Invalid, match="accountant must be one of 'pure', 'zcdp'"):
        filter_for("pld", 1, 1e-6)
    for accountant in ("zcdp", "gaussian"):
        with pytest.raises(Invalid, match="delta above 0"):
            filter_for(accountant, 1)


PRICES = st.fractions(min_value=0, max_value=1, max_denominator=10**6)


@settings(max_examples=repeats(50), deadline=None)
@given(st.lists(st.tuples(PRICES, PRICES), max_size=12), st.tuples(PRICES, PRICES))
def test_what_is_admitted_never_sums_to_more_than_the_cap(
    prices: list[tuple[Fraction, Fraction]], cap: tuple[Fraction, Fraction]
) -> None:
    pure, spent = PureFilter(*cap), Spent()
    for price in (Spent(*each) for each in prices):
        fits = spent.epsilon + price.epsilon <= cap[0] and spent.delta + price.delta <= cap[1]
        assert pure.admits(spent, price) == fits
        if fits:
            spent += price


def test_sums_of_very_many_denominators_stay_short_and_are_rounded_up() -> None:
    primes = [n for n in range(2, 3000) if all(n % d for d in range(2, math.isqrt(n) + 1))]
    spent, exact = Spent(), Fraction(0)
    for n in primes:
        spent, exact = spent + Spent(Fraction(1, n)), exact + Fraction(1, n)
    assert exact.denominator.bit_length() > 4096 > spent.epsilon.denominator.bit_length()
    assert exact <= spent.epsilon <= exact * (1 + Fraction(1, 10**300))


BAD = [math.nan, math.inf, -1, -1e-300, "1", None, True]


@pytest.mark.parametrize("bad", BAD)
def test_bad_amounts_are_refused_by_name(bad: object) -> None:
    for make, name in (
        (lambda: Spent(bad), "epsilon"),
        (lambda: Spent(0, bad), "delta"),
        (lambda: SpentConcentrated(bad), "rho"),
        (lambda: SpentConcentrated.by_approximate(1, bad), "delta"),
        (lambda: SpentGaussian(bad), "mu_squared"),
        (lambda: SpentGaussian.by_gaussian(bad), "mu"),
        (lambda: PureFilter(bad), "epsilon"),
        (lambda: PureFilter(1, bad), "delta"),
        (lambda: ConcentratedFilter.for_budget(bad, 1e-6), "epsilon"),
        (lambda: ConcentratedFilter.for_budget(1, bad), "delta"),
        (lambda: ConcentratedFilter.for_budget(1, 1e-6, share=bad), "share"),
        (lambda: GaussianFilter.for_budget(bad, 1e-6), "epsilon"),
        (lambda: GaussianFilter.for_budget(1, bad), "delta"),
    ):
        with pytest.raises(Invalid, match=f"^{name} must"):
            make()
    with pytest.raises(Invalid, match="delta must be between 0 and 1"):
        PureFilter(1, 1.5)
