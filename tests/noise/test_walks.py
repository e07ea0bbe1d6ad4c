"""The scalar paths are exact: all coin strings, likeliest first, give rational brackets around the true probabilities."""

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from unittest import mock

import pytest
from flint import arb

from discreet.noise import deviate, walk
from discreet.noise.bernoulli import decide, exp_brackets, odds
from discreet.noise.uniform import below
from tests.noise.oracle import Case, ball, contains
from tests.noise.scripted import Branch, walk_all
from tests.scale import repeats

RUNS = 1_200


def brackets_hold(
    draw: Callable[[Branch], int], truth: Callable[[int], arb], most_open: Fraction, runs: int = RUNS
) -> None:
    """P(r) lies in [reached, reached + undecided] for every r; a wrong probability shows when it is off by more than `most_open`."""
    reached, undecided = walk_all(draw, repeats(runs))
    assert undecided <= most_open, f"{float(undecided)} undecided"
    for result, mass in reached.items():
        assert contains(mass, mass + undecided, truth(result)), f"P({result}) is not in {mass} + {undecided}"


@pytest.mark.parametrize("n", [1, 2, 3, 5, 7, 8, 12])
def test_below_is_uniform(n: int) -> None:
    brackets_hold(lambda bits: below(n, bits), lambda _: ball(Fraction(1, n)), Fraction(1, 10), runs=800)


@pytest.mark.parametrize("x", [Fraction(0), Fraction(1, 3), Fraction(1), Fraction(5, 2), Fraction(9)])
def test_the_rational_coin_of_e_to_the_minus_x(x: Fraction) -> None:
    heads = (-ball(x)).exp()
    brackets_hold(
        lambda bits: int(walk.bernoulli_exp_by_walk(x.numerator, x.denominator, bits)),
        lambda result: heads if result else 1 - heads,
        Fraction(1, 20),
    )


@pytest.mark.parametrize("x", [Fraction(1, 3), Fraction(2)])
def test_the_lazy_coin_of_e_to_the_minus_x(x: Fraction) -> None:
    heads = (-ball(x)).exp()
    brackets_hold(
        lambda bits: int(decide(exp_brackets(x), bits, step=2)),
        lambda result: heads if result else 1 - heads,
        Fraction(1, 1000),
        runs=500,
    )


@pytest.mark.parametrize("k", [2, 5, 1000])
def test_the_lazy_coin_of_the_response_odds(k: int) -> None:
    grown = ball(Fraction(3, 2)).exp()
    heads = grown / (grown + k - 1)
    brackets_hold(
        lambda bits: int(decide(odds(1.5, k).bounds, bits, step=2)),
        lambda result: heads if result else 1 - heads,
        Fraction(1, 1000),
        runs=500,
    )


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(1), Fraction(2)])
def test_the_rational_geometric(scale: Fraction) -> None:
    case = Case("geometric", scale)
    brackets_hold(lambda bits: walk.geometric_by_walk(1 / scale, bits), case.probability, Fraction(1, 4))


@cache
def first_digits(digits: int) -> tuple[Fraction, ...]:
    """P(floor(2^digits E) = k) for k = 0, 1, …, rounded down to 60 bits."""
    ratio = (-ball(Fraction(1, 1 << digits))).exp()
    edges = [int(((1 - ratio) * ratio**k * (1 << 60)).floor().unique_fmpz()) for k in range(8 << digits)]
    return tuple(Fraction(edge, 1 << 60) for edge in edges)


def short_deviate(digits: int, branch: Branch) -> deviate.ExponentialDeviate:
    """A deviate of few digits, so that the tree reaches the refinement too; its first digits are one choice."""
    return deviate.ExponentialDeviate(branch.choose(first_digits(digits)), digits, branch)


def from_short_deviates(case: Case) -> Callable[[Branch], int]:
    def draw(branch: Branch) -> int:
        with mock.patch.object(deviate, "DIGITS", 2):
            return deviate.draw_one(case.shape, lambda: short_deviate(2, branch), branch)

    return draw


@pytest.mark.parametrize(
    ("case", "most_open"),
    [
        (Case("geometric", Fraction(2, 3)), Fraction(1, 10)),
        (Case("geometric", Fraction(3)), Fraction(3, 10)),
        (Case("laplace", Fraction(1, 2)), Fraction(1, 10)),
        (Case("laplace", Fraction(5, 4)), Fraction(3, 10)),
        (Case("gaussian", Fraction(3, 4)), Fraction(5, 10)),
    ],
    ids=str,
)
def test_noise_from_deviates(case: Case, most_open: Fraction) -> None:
    brackets_hold(from_short_deviates(case), case.probability, most_open)


def test_an_exponential_deviate_compares_like_one() -> None:
    for x in (Fraction(1, 3), Fraction(2), Fraction(7, 5)):

        def at_least(bits: Branch, x: Fraction = x) -> int:
            with mock.patch.object(deviate, "DIGITS", 3):
                return int(short_deviate(1, bits).at_least(x.numerator, x.denominator))

        heads = (-ball(x)).exp()
        brackets_hold(at_least, lambda result, heads=heads: heads if result else 1 - heads, Fraction(1, 5))
