"""Every planted bug of the noise package makes the law named here fail; without the bug the same law holds."""

import os
from collections.abc import Callable
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet import noise
from discreet.errors import Fault
from discreet.noise import SecureBits, Tape, envelope, shape, stock
from discreet.noise.bernoulli import coin_of, flip
from discreet.noise.table import table
from discreet.noise.walk import bernoulli_exp
from tests.mutants import Mutant, of_part
from tests.noise import laws
from tests.noise.oracle import Case
from tests.noise.scripted import Scripted, walk_all

LAPLACE, GAUSSIAN = Case("laplace", Fraction(7, 3)), Case("gaussian", Fraction(5, 2))
WIDE_LAPLACE, WIDE_GAUSSIAN = Case("laplace", Fraction(1000)), Case("gaussian", Fraction(1000))


def units(case: Case) -> Callable[[], None]:
    return lambda: laws.units_are_owned_as_they_should(case, 18)


def points(case: Case) -> Callable[[], None]:
    return lambda: laws.points_have_their_chance(case, 64)


def integers(case: Case) -> Callable[[], object]:
    return lambda: laws.filter_agrees_with_integers(case, 64, Tape(1), 2_000)


def tails(case: Case) -> Callable[[], None]:
    return lambda: laws.tails_have_their_chance(case, 18)


def far_out(case: Case) -> Callable[[], None]:
    """Fit of a table whose blocks end early, so that a good part of all samples comes from the tails."""

    def draw(n: int) -> NDArray[np.int64]:
        with mock.patch.object(shape, "TAIL", Fraction(1, 2)):
            made = table.__wrapped__(case.shape, 64)
        out = np.empty(n, np.int64)
        envelope.fill(made, out, Tape(2))
        return out

    return lambda: void(laws.fits(case, draw, 6_000, cells=24))


def single(case: Case) -> Callable[[], None]:
    """Fit of samples made from deviates."""
    tape = Tape(3)

    def draw(n: int) -> NDArray[np.int64]:
        return np.array([stock._without_table(case.shape, tape, tape.stock) for _ in range(n)], np.int64)

    return lambda: void(laws.fits(case, draw, 4_000, cells=24))


def short_digits() -> None:
    """Fit of geometric samples from deviates that begin with no digits and get two at a time, so that digits beyond the first matter."""
    case = Case("geometric", Fraction(40))
    tape = Tape(4)
    with mock.patch.object(stock.deviate, "DIGITS", 2):

        def draw(n: int) -> NDArray[np.int64]:
            made = (stock.Exponential(tape_geometric(), 0, tape) for _ in range(n))
            return np.array([each.floor_times(40, 1) for each in made], np.int64)

        def tape_geometric() -> int:
            return stock._without_table(Case("geometric", Fraction(1)).shape, tape, tape.stock)

        laws.fits(case, draw, 4_000, cells=24)


def coins() -> None:
    reached, undecided = walk_all(lambda bits: bernoulli_exp(1, 3, bits), 2_000)
    assert reached[True] <= Fraction(7166, 10_000) <= reached[True] + undecided


def every_first_word() -> None:
    """Of all 65,536 first words exactly those below 2^16 p are heads; the one that ties is settled by what follows."""
    out = np.empty(1 << 16, np.int64)
    flip(coin_of(Fraction(1, 3)), out, Scripted([laws.EVERY_BUCKET], integers=[(1 << 48) - 1]))
    assert out.sum() == (1 << 16) // 3


def replaced_answers_differ() -> None:
    truth = np.arange(3_000) % 5
    assert not np.any(noise.keep_or_replace(truth, 5, 0, source=Tape(5)) == truth)


def uniform_integers_fit() -> None:
    """n = 3·2^30: without rejection the remainders 0 … 2^30 − 1 of the four quarters are hit unevenly."""
    drawn = noise.uniform(3 << 30, 20_000, source=Tape(6))
    counts = np.bincount(drawn % 3, minlength=3)
    assert abs(counts - 20_000 / 3).max() < 6 * (20_000 * 2 / 9) ** 0.5


def no_sample_is_served_twice() -> None:
    tape = Tape(7)
    drawn = [noise.discrete_laplace(1 << 40, source=tape) for _ in range(100)]
    assert len(set(drawn)) == 100


def a_child_draws_its_own() -> None:
    source = SecureBits()
    source.bits(64)
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.write(write, source.bits(128).to_bytes(16, "little"))
        os._exit(0)
    theirs = int.from_bytes(os.read(read, 16), "little")
    os.waitpid(child, 0)
    os.close(read)
    os.close(write)
    assert theirs != source.bits(128)


def every_refill_is_new() -> None:
    source = SecureBits()
    blocks = [np.empty(4_096, np.uint8) for _ in range(2)]
    try:
        for block in blocks:
            source.fill(block)
    except Fault as fault:
        raise AssertionError("entropy repeats") from fault
    assert not np.array_equal(*blocks)


def scales_are_scales() -> None:
    laws.fits(Case("gaussian", Fraction(10)), lambda n: noise.discrete_gaussian(10, n, source=Tape(8)), 20_000)


def void(_: object) -> None:
    return None


CAUGHT_BY: dict[str, Callable[[], object]] = {
    "tail-starts-late": units(LAPLACE),
    "left-tail-starts-early": units(LAPLACE),
    "tail-always-entered": tails(LAPLACE),
    "tail-without-curve": far_out(GAUSSIAN),
    "tail-on-one-side": units(LAPLACE),
    "last-unit-always-accepted": units(LAPLACE),
    "last-unit-missed": units(LAPLACE),
    "block-looked-up-one-too-low": units(LAPLACE),
    "negative-blocks-shifted": units(LAPLACE),
    "negative-tops-unshifted": units(LAPLACE),
    "ratio-not-shrunk": units(GAUSSIAN),
    "acceptance-limit-high": points(WIDE_LAPLACE),
    "series-off": integers(WIDE_LAPLACE),
    "band-forgotten": integers(WIDE_LAPLACE),
    "sides-confused": integers(WIDE_GAUSSIAN),
    "zero-twice": single(LAPLACE),
    "gaussian-test-inverted": single(GAUSSIAN),
    "digits-uniform": short_digits,
    "coin-parity": coins,
    "variance-for-scale": scales_are_scales,
    "tie-is-heads": every_first_word,
    "replacement-may-be-the-truth": replaced_answers_differ,
    "uniform-without-rejection": uniform_integers_fit,
    "samples-served-twice": no_sample_is_served_twice,
    "fork-unnoticed": a_child_draws_its_own,
    "key-kept": every_refill_is_new,
}


def test_every_planted_bug_has_its_law() -> None:
    assert {mutant.name for mutant in of_part("noise")} == set(CAUGHT_BY)
    assert len(CAUGHT_BY) >= 10


@pytest.mark.parametrize("mutant", of_part("noise"), ids=lambda mutant: mutant.name)
def test_the_planted_bug_is_caught(mutant: Mutant) -> None:
    law = CAUGHT_BY[mutant.name]
    law()
    with mutant.planted(), pytest.raises(AssertionError):
        law()
    law()
