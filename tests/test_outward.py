"""Outward rounding of `exact`: e^x, ln x, √x, floats and short fractions, against mpmath at 120 digits."""

import math
from fractions import Fraction
from random import Random

import mpmath as mp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import Invalid
from discreet.exact import (
    EXP_LIMIT,
    exp_bounds,
    exp_down,
    exp_up,
    log_bounds,
    log_down,
    log_up,
    nonnegative,
    probability,
    round_down,
    round_up,
    sqrt_up,
    to_float_down,
    to_float_up,
)
from tests.scale import repeats

RATIONALS = st.fractions(min_value=-(10**9), max_value=10**9)


def real(x: Fraction) -> mp.mpf:
    return mp.mpf(x.numerator) / x.denominator


def numbers(seed: int, n: int) -> list[Fraction]:
    """Positive rationals over many sizes."""
    rng = Random(seed)
    return [Fraction(rng.randrange(1, 10**30), 10**30) * Fraction(10) ** rng.randint(-20, 20) for _ in range(n)]


@pytest.mark.parametrize("bits", [40, 64, 200])
def test_logarithms_are_between_their_bounds(bits: int) -> None:
    with mp.workdps(120):
        for x in [*numbers(1, repeats(200)), Fraction(2) ** -4000, Fraction(10) ** 400, 1 + Fraction(1, 10**40)]:
            low, high = log_bounds(x, bits)
            assert real(low) <= mp.log(real(x)) <= real(high)
            assert high - low <= Fraction(1, 1 << bits)
            assert (log_down(x, bits), log_up(x, bits)) == (low, high)


@pytest.mark.parametrize("bits", [40, 64, 200])
def test_exponentials_are_between_their_bounds(bits: int) -> None:
    with mp.workdps(120):
        for x in numbers(2, repeats(200)):
            for signed in (min(x, Fraction(1000)), -min(x, Fraction(1000))):
                low, high = exp_bounds(signed, bits)
                assert real(low) <= mp.exp(real(signed)) <= real(high)
                assert (high - low) * (1 << bits) <= low
                assert (exp_down(signed, bits), exp_up(signed, bits)) == (low, high)


def test_exponentials_beyond_the_limit() -> None:
    assert exp_bounds(Fraction(-(10**9)))[0] == 0
    assert 0 < exp_up(Fraction(-(10**9))) == exp_up(Fraction(-EXP_LIMIT)) < Fraction(2) ** -90_000
    with pytest.raises(OverflowError):
        exp_up(Fraction(EXP_LIMIT + 1))


@given(st.fractions(min_value=0, max_value=10**9), st.integers(10, 100))
def test_square_roots_are_from_above_and_close(x: Fraction, bits: int) -> None:
    root = sqrt_up(x, bits)
    assert root * root >= x
    assert (root * (1 - Fraction(1, 1 << bits))) ** 2 <= x


@given(RATIONALS, st.integers(2, 100))
def test_short_fractions_are_outward_short_and_close(x: Fraction, bits: int) -> None:
    up, down = round_up(x, bits), round_down(x, bits)
    assert down <= x <= up
    assert up - down <= abs(x) * Fraction(2, 1 << bits - 1)
    for rounded in (up, down):
        numerator = rounded.numerator
        odd = numerator // (numerator & -numerator) if numerator else 0
        assert abs(odd).bit_length() <= bits
        assert rounded.denominator & (rounded.denominator - 1) == 0


@given(RATIONALS)
def test_floats_mean_at_least_what_they_round_up(x: Fraction) -> None:
    up, down = to_float_up(x), to_float_down(x)
    assert Fraction(repr(down)) <= x <= Fraction(repr(up))
    assert down == up or math.nextafter(math.nextafter(down, math.inf), math.inf) >= up


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_that_was_read_comes_back(x: float) -> None:
    assert to_float_up(Fraction(repr(x))) == x == to_float_down(Fraction(repr(x)))


def test_floats_at_the_ends_of_their_range() -> None:
    assert to_float_up(Fraction(10) ** 400) == math.inf
    assert to_float_up(-(Fraction(10) ** 400)) == -1.7976931348623157e308
    assert to_float_up(Fraction(1, 10**400)) == 5e-324
    assert to_float_down(Fraction(1, 10**400)) == 0


@pytest.mark.parametrize("value", [-1, -1e-300, math.nan, math.inf, True, "1", None])
def test_negative_numbers_are_refused_by_name(value: object) -> None:
    with pytest.raises(Invalid, match=r"^epsilon must"):
        nonnegative(value, "epsilon")
    with pytest.raises(Invalid, match=r"^delta must"):
        probability(value, "delta")


def test_probabilities_end_at_one() -> None:
    assert (probability(0, "delta"), probability(1.0, "delta")) == (0, 1)
    with pytest.raises(Invalid, match="delta must be between 0 and 1"):
        probability(1 + 1e-15, "delta")
