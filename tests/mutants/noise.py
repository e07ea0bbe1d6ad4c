"""Planted bugs of `discreet.noise`."""

import os
from collections.abc import Callable
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet import noise
from discreet.errors import Fault, Invalid
from discreet.noise import SecureBits, Tape, envelope, shape, stock
from discreet.noise.bernoulli import coin_of, flip
from discreet.noise.table import sampler_table
from discreet.noise.walk import bernoulli_exp_by_walk
from tests.mutants import Mutant, by_itself
from tests.noise import laws, test_arguments, test_fit, test_grid
from tests.noise.oracle import Case
from tests.noise.scripted import Scripted, walk_all

NOISE = "discreet.noise."


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
            made = sampler_table.__wrapped__(case.shape, 64)
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
            made = (stock.ExponentialDeviate(tape_geometric(), 0, tape) for _ in range(n))
            return np.array([each.floor_times(40, 1) for each in made], np.int64)

        def tape_geometric() -> int:
            return stock._without_table(Case("geometric", Fraction(1)).shape, tape, tape.stock)

        laws.fits(case, draw, 4_000, cells=24)


def coins() -> None:
    reached, undecided = walk_all(lambda bits: bernoulli_exp_by_walk(1, 3, bits), 500)
    assert reached[True] <= Fraction("0.71653131057379") <= reached[True] + undecided  # e^(-1/3)


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


def sizes_are_whole() -> None:
    for size in (2.5, True, -1, (3, 1.0)):
        with pytest.raises(Invalid, match="size"):
            noise.discrete_laplace(1, size)  # type: ignore[call-overload]


MUTANTS = (
    Mutant(
        "tail-starts-late",
        NOISE + "table:_tail_start",
        "return blocks * width + side",
        "return blocks * width + side + 1",
        "the first point beyond the blocks never comes up",
        units(LAPLACE),
    ),
    Mutant(
        "left-tail-starts-early",
        NOISE + "table:_tail_start",
        "return blocks * width + side",
        "return blocks * width",
        "the left tail begins at a point that its last block holds already",
        units(LAPLACE),
    ),
    Mutant(
        "tail-always-entered",
        NOISE + "envelope:tail",
        "if not decide(table.accept_tail(owner), source):",
        "if decide(table.accept_tail(owner), source) is None:",
        "the rounding of the tail's share is not undone",
        tails(LAPLACE),
    ),
    Mutant(
        "tail-without-curve",
        NOISE + "envelope:tail",
        "if not bernoulli_exp_by_walk(curve.numerator, curve.denominator, source):",
        "if bernoulli_exp_by_walk(curve.numerator, curve.denominator, source) is None:",
        "a Gaussian tail decays like an exponential",
        far_out(GAUSSIAN),
    ),
    Mutant(
        "tail-on-one-side",
        NOISE + "envelope:tail",
        "return x if owner == table.block_owners else -x",
        "return x",
        "both tails land on the right",
        units(LAPLACE),
    ),
    Mutant(
        "last-unit-always-accepted",
        NOISE + "envelope:settle_units",
        "rejected[at] = not decide(table.accept_last(int(owners[at])), source)",
        "rejected[at] = False",
        "every probability is rounded up to a whole unit",
        units(LAPLACE),
    ),
    Mutant(
        "last-unit-missed",
        NOISE + "envelope:settle_units",
        "units + np.uint64(1) == table.ends[owners]",
        "units == table.ends[owners]",
        "an off-by-one in looking for the last unit: it is never found",
        units(LAPLACE),
    ),
    Mutant(
        "block-looked-up-one-too-low",
        NOISE + "envelope:look_up",
        'searchsorted(units[shared], "right")',
        'searchsorted(units[shared], "left")',
        "the first left-over unit of a block goes to the block before it",
        units(LAPLACE),
    ),
    Mutant(
        "negative-blocks-shifted",
        NOISE + "table:sampler_table",
        "[-1 - m for m in range(blocks)]",
        "[-2 - m for m in range(blocks)]",
        "every negative value is one block too far out",
        units(LAPLACE),
    ),
    Mutant(
        "negative-tops-unshifted",
        NOISE + "table:_shares",
        "_tops(shape, 1, width, blocks, p)",
        "_tops(shape, 0, width, blocks, p)",
        "block −1 owns the mass of block 0",
        units(LAPLACE),
    ),
    Mutant(
        "ratio-not-shrunk",
        NOISE + "table:_tops",
        "if shape.square:",
        "if shape.square and not shape.two_sided:",
        "Gaussian blocks fall off like Laplace ones",
        units(GAUSSIAN),
    ),
    Mutant(
        "acceptance-limit-high",
        NOISE + "table:_limit",
        "bound = min(bound, lo * (least - 1) // least)",
        "bound = min(bound, lo * 101 // 100)",
        "points at the far end of a block are accepted too often, by up to 1 %",
        points(WIDE_LAPLACE),
    ),
    Mutant(
        "series-off",
        NOISE + "table:_filter",
        "(-1) ** i / factorial(i)",
        "(-1) ** i / factorial(i) * (1 - 1e-4 * (i == 1))",
        "the float filter's exponential is wrong by up to 1e-4",
        integers(WIDE_LAPLACE),
    ),
    Mutant(
        "band-forgotten",
        NOISE + "table:_filter",
        "band = 2.0 ** (b - 64) + 1.0 / least + FLOAT_SLACK",
        "band = 0.0",
        "close calls are decided by rounding errors",
        integers(WIDE_LAPLACE),
    ),
    Mutant(
        "sides-confused",
        NOISE + "envelope:closeness",
        "^ (x >> 63 & inside)",
        "^ (0 & inside)",
        "blocks below zero fall off in the wrong direction",
        integers(WIDE_GAUSSIAN),
    ),
    Mutant(
        "zero-twice",
        NOISE + "deviate:_laplace",
        "if size or not negative:",
        "if size or negative or True:",
        "zero comes up under both signs, twice as often as it should",
        single(LAPLACE),
    ),
    Mutant(
        "gaussian-test-inverted",
        NOISE + "deviate:_gaussian",
        "if deviate().at_least(",
        "if not deviate().at_least(",
        "the rejection step keeps what it should drop",
        single(GAUSSIAN),
    ),
    Mutant(
        "digits-uniform",
        NOISE + "deviate:ExponentialDeviate.refine",
        "while not bernoulli_exp_by_walk(k := self.bits.bits(DIGITS), 1 << self.digits, self.bits):",
        "while (k := self.bits.bits(DIGITS)) < 0:",
        "later digits of an exponential deviate are not tilted",
        short_digits,
    ),
    Mutant(
        "coin-parity",
        NOISE + "walk:_exp_of_at_most_one",
        "return k & 1 == 1",
        "return k & 1 == 0",
        "Bernoulli(e^-x) comes out as its complement",
        coins,
    ),
    Mutant(
        "variance-for-scale",
        NOISE + "gaussian:gaussian_shape",
        "Shape.gaussian(n * n, d * d)",
        "Shape.gaussian(n, d)",
        "the scale is taken for the variance",
        scales_are_scales,
    ),
    Mutant(
        "tie-is-heads",
        NOISE + "bernoulli:tosses",
        "flag[tie] = each.settle((heads + int(u[tie]) << 48) | source.bits(48), source)",
        "flag[tie] = True",
        "the probability is rounded up to 16 bits",
        every_first_word,
    ),
    Mutant(
        "replacement-may-be-the-truth",
        NOISE + "response:_replace",
        "other += other >= true[places]",
        "other += other > true[places]",
        "a replaced answer can equal the true one",
        replaced_answers_differ,
    ),
    Mutant(
        "uniform-without-rejection",
        NOISE + "uniform:_multiply",
        "np.uint64((1 << 32) % n)",
        "np.uint64(0)",
        "some integers come up more often than others",
        uniform_integers_fit,
    ),
    Mutant(
        "samples-served-twice",
        NOISE + "stock:Stock.one",
        "self.next = at + 1",
        "self.next = at + (at & 1)",
        "one noise value is added to two answers",
        no_sample_is_served_twice,
    ),
    Mutant(
        "fork-unnoticed",
        NOISE + "source:SecureBits._held",
        "if held is None or held.pid != os.getpid() or held.forks != _forks:",
        "if held is None:",
        "a forked worker repeats its parent's noise",
        a_child_draws_its_own,
    ),
    Mutant(
        "key-kept",
        NOISE + "source:_new_key",
        "key = _entropy()",
        "key = bytes(32)",
        "every refill of the pool repeats the one before",
        every_refill_is_new,
    ),
    Mutant(
        "steps-of-half-the-scale",
        NOISE + "grid:_steps",
        'positive(scale, "scale") / grid.step',
        'positive(scale, "scale") / (2 * grid.step)',
        "noise on a grid has half of its scale",
        by_itself(test_grid.test_grid_noise_is_integer_noise_times_the_step),
    ),
    Mutant(
        "points-that-floats-round",
        NOISE + "grid:Grid.to_float",
        "if least < -FLOAT_INTEGERS or most > FLOAT_INTEGERS:",
        "if False:",
        "a release leaves its grid where float64 cannot hold it, and its low bits tell of the data",
        by_itself(test_arguments.test_a_point_that_no_float_holds_is_refused, 2**53 + 1),
    ),
    Mutant(
        "noise-on-one-side",
        NOISE + "laplace:laplace_shape",
        "two_sided=True",
        "two_sided=False",
        "noise is never below 0: an answer is never below the truth",
        lambda: void(laws.fits(LAPLACE, lambda n: noise.discrete_laplace(LAPLACE.scale, n), 6_000, cells=24)),
    ),
    Mutant(
        "half-of-the-variance",
        NOISE + "shape:Shape.gaussian",
        "2 // common * n",
        "n",
        "the density falls twice as fast",
        by_itself(test_fit.test_arrays_fit_their_distribution, Case("gaussian", Fraction(1))),
    ),
    Mutant(
        "a-size-is-rounded",
        NOISE + "size:empty_array",
        'whole(part, "size")',
        "int(part)",
        "fewer draws are made than were asked for",
        sizes_are_whole,
    ),
)
