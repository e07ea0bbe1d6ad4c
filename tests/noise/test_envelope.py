"""The integer envelope is exact: every unit enumerated at tiny widths, the float filter against integers at full width."""

from fractions import Fraction

import pytest

from discreet.noise import SecureBits
from discreet.noise.table import COARSE, FINE, UNIT_BITS, fits, sampler_table
from tests.noise import laws
from tests.noise.oracle import Case
from tests.scale import repeats

ONE_POINT = [
    Case(kind, Fraction(scale))
    for kind in ("laplace", "gaussian", "geometric")
    for scale in ("1/20", "1/7", "1/2", "1", "7/3", "19/4", "15", "37")
]
MANY_POINTS = [
    Case(kind, Fraction(scale))
    for kind in ("laplace", "gaussian", "geometric")
    for scale in ("129", "1000/3", "70000", "1099511627776", "35184372088832/3", "70368744177664")
]


@pytest.mark.parametrize("unit_bits", [17, 18])
@pytest.mark.parametrize("case", ONE_POINT, ids=str)
def test_all_units_enumerated_add_up_to_the_density(case: Case, unit_bits: int) -> None:
    laws.units_are_owned_as_they_should(case, unit_bits)


@pytest.mark.parametrize("per_scale", [2, COARSE])
@pytest.mark.parametrize("case", MANY_POINTS, ids=str)
def test_all_units_enumerated_give_each_block_its_share(case: Case, per_scale: int) -> None:
    laws.blocks_are_owned_as_they_should(case, 18, per_scale)


@pytest.mark.parametrize("case", ONE_POINT + MANY_POINTS, ids=str)
@pytest.mark.parametrize("per_scale", [COARSE, FINE])
def test_tails_are_entered_with_their_chance(case: Case, per_scale: int) -> None:
    laws.tails_have_their_chance(case, UNIT_BITS, per_scale)


@pytest.mark.parametrize("case", MANY_POINTS, ids=str)
@pytest.mark.parametrize("per_scale", [COARSE, FINE])
def test_points_are_accepted_with_their_chance(case: Case, per_scale: int) -> None:
    laws.points_have_their_chance(case, per_scale)


@pytest.mark.parametrize("case", MANY_POINTS, ids=str)
@pytest.mark.parametrize("per_scale", [COARSE, FINE])
def test_the_filter_agrees_with_integers_on_the_same_bits(case: Case, per_scale: int) -> None:
    """36 cases of 12,000: 432,000 decisions a run, half of them next to the edge."""
    count = repeats(12_000)
    assert laws.filter_agrees_with_integers(case, per_scale, SecureBits(), count) == count


def test_tables_reach_as_far_as_they_say() -> None:
    for kind in ("laplace", "gaussian", "geometric"):
        assert fits(Case(kind, Fraction(1 << 46)).shape)
        assert not fits(Case(kind, Fraction(1 << 49)).shape)
        assert fits(Case(kind, Fraction(1, 1000)).shape)


def test_a_table_owns_every_unit_once() -> None:
    for case in ONE_POINT + MANY_POINTS:
        for per_scale in (COARSE, FINE):
            made = sampler_table(case.shape, per_scale)
            assert sum(made.owned) == 1 << 64
            assert made.ends[-1] == ((1 << 16) - made.cut) << 48
            assert made.owned[made.reject] <= 2 * len(made.owned) + 2
