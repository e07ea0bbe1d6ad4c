"""Laws of coin trees: the samplers have the laws that they claim, to the last bit, and undetermined programs are refused."""

import random
from collections.abc import Callable
from fractions import Fraction as F
from itertools import count, product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flint import arb

from discreet import noise
from discreet.audit.chances import law_of
from discreet.audit.law import Bracket, Law
from discreet.audit.tree import Program, Word
from discreet.errors import Invalid
from discreet.mechanisms import CoinToss, RandomizedResponse, SignedResponse
from discreet.mechanisms.unsafe import RandomRow
from discreet.noise import walk
from tests.noise.oracle import Case, ball, contains
from tests.scale import repeats


def law(program: Callable[[Any], Any], runs: int = 4000) -> Law:
    return Program(lambda _, source: program(source), runs).law(None)


def is_law(found: Law, truth: Callable[[Any], arb], most_open: float) -> None:
    """Every bracket holds the truth, and little is left open."""
    assert found.rest <= most_open
    for outcome, each in found.chances.items():
        assert contains(each.low, each.high, truth(outcome)), outcome


def coin(p: arb) -> Callable[[Any], arb]:
    return lambda heads: p if heads else 1 - p


def coins_of_rationals_are_exact() -> None:
    for seed in range(repeats(20)):
        p = F(random.Random(seed).randint(0, 40), 40)
        is_law(law(lambda source, p=p: noise.bernoulli(p, source=source)), coin(ball(p)), 2.0**-64)


def test_coins_of_rationals_are_exact() -> None:
    coins_of_rationals_are_exact()


@pytest.mark.parametrize("x", [F(0), F(1, 3), F(1), F(9)])
def test_coins_of_exponentials_are_exact(x: F) -> None:
    heads = (-ball(x)).exp()
    is_law(law(lambda source: noise.bernoulli_exp(x, source=source)), coin(heads), 2.0**-64)
    is_law(law(lambda source: walk.bernoulli_exp_by_walk(x.numerator, x.denominator, source)), coin(heads), 0.05)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 7, 12])
def test_uniform_integers_are_uniform(n: int) -> None:
    is_law(law(lambda source: noise.uniform(n, source=source), 800), lambda _: ball(F(1, n)), 2.0**-30)


@pytest.mark.parametrize("k", [2, 3, 7])
def test_keep_or_replace_keeps_its_odds(k: int) -> None:
    grown = ball(F(3, 2)).exp()
    for value in range(k):
        found = law(lambda source, v=value: noise.keep_or_replace(v, k, noise.odds(1.5, k), source=source))
        is_law(found, lambda o, v=value: (grown if o == v else arb(1)) / (grown + k - 1), 2.0**-30)


def test_geometric_noise_of_rational_tosses() -> None:
    is_law(law(lambda source: walk.geometric_by_walk(F(1), source), 1500), Case("geometric", F(1)).probability, 0.05)


def responses_are_drawn_as_they_say() -> None:
    """The coins that a response tosses give the law that it is held to."""
    for mechanism, exact in [(CoinToss(), 1), (RandomizedResponse(F(1), 3), 2), (SignedResponse(F(1, 10)), -1)]:
        found, held = Program(lambda x, source, m=mechanism: m(x, source)).law(exact), law_of(mechanism, exact)
        assert set(found.chances) == set(held.chances) and found.rest < 2.0**-60
        for outcome, each in found.chances.items():
            assert each.low <= held.chances[outcome].high and held.chances[outcome].low <= each.high


def test_responses_are_drawn_as_they_say() -> None:
    responses_are_drawn_as_they_say()


def test_a_random_row_is_drawn_as_it_says() -> None:
    found = Program(lambda rows, source: RandomRow(3)(rows, source)).law(["a", "b", "a"])
    assert found.rest < 2.0**-60
    assert found.chance("a").low <= F(2, 3) <= found.chance("a").high


def by_hand(program: Callable[[random.Random, Any], int], seed: int, bits: int) -> dict[int, F]:
    """The law by running over all integers of so many bits."""

    class Fixed:
        def __init__(self, value: int) -> None:
            self.value = value

        def bits(self, _: int) -> int:
            return self.value

    found: dict[int, F] = {}
    for value in range(1 << bits):
        outcome = int(program(random.Random(seed), Fixed(value)))
        found[outcome] = found.get(outcome, F(0)) + F(1, 1 << bits)
    return found


def looks(draw: random.Random, source: Any) -> int:
    """A word is looked at in random ways."""
    word, outcome = source.bits(6), 0
    for _ in range(4):
        cut, more, by = draw.randint(-5, 200), draw.randint(-9, 9), draw.randint(1, 3)
        kind = draw.randrange(6)
        moved = word * by + more if kind % 2 else (word << 1) + more
        seen = [moved < cut, moved >= cut, moved <= cut, moved > cut, moved == cut, cut | 64 == cut][kind]
        outcome = 2 * outcome + bool(seen)
    return outcome * 64 + (word % 7 if draw.random() < 0.3 else 0)


def words_are_uniform_however_they_are_looked_at() -> None:
    for seed in range(repeats(60)):
        found = law(lambda source, s=seed: looks(random.Random(s), source))
        assert found.exact and {o: each.low for o, each in found.chances.items()} == by_hand(looks, seed, 6)


def test_words_are_uniform_however_they_are_looked_at() -> None:
    words_are_uniform_however_they_are_looked_at()


def test_bits_below_a_word_make_a_longer_one() -> None:
    def longer(source: Any) -> int:
        word = source.bits(3)
        if word < 2:
            return -1
        word = (word << 4) | source.bits(4)
        return 2 if word < 77 else 3

    found = law(longer)
    assert {o: each.low for o, each in found.chances.items()} == {-1: F(1, 4), 2: F(77 - 32, 128), 3: F(51, 128)}


def test_a_word_that_was_put_into_another_is_not_used_again() -> None:
    def twice(source: Any) -> bool:
        word = source.bits(3)
        longer = (word << 4) | source.bits(4)
        return bool(longer < 9) and bool(word < 1)

    with pytest.raises(Invalid, match="used again"):
        law(twice)


MIXED: list[Callable[[Any], Any]] = [
    lambda source: 3 | source.bits(4),
    lambda source: 32 | source.bits(4),
    lambda source: (source.bits(4) - 1) | 16,
    lambda source: (source.bits(4) << 2) | source.bits(3),
    lambda source: (source.bits(4) << 3) | source.bits(3),
    lambda source: (source.bits(4) << 3) | (source.bits(3) + 1),
]


def bits_are_put_together_as_integers_are() -> None:
    """Whether or not they overlap."""
    for mixed in MIXED:
        found: dict[int, F] = {}
        for first, second in product(range(16), range(8)):
            script = iter((first, second))
            outcome = mixed(SimpleNamespace(bits=lambda _, script=script: next(script)))
            found[outcome] = found.get(outcome, F(0)) + F(1, 128)
        assert {outcome: each.low for outcome, each in law(mixed).chances.items()} == found


def test_bits_are_put_together_as_integers_are() -> None:
    bits_are_put_together_as_integers_are()


def test_a_program_that_ends_early_is_refused() -> None:
    state = count()
    with pytest.raises(Invalid, match="ended early"):
        law(lambda source: 0 if next(state) else source.bits(1))


def test_chances_of_more_than_one_are_refused() -> None:
    with pytest.raises(Invalid, match="at most 1"):
        law(lambda source: source.walk.choose("a", [Bracket.of(0.6)] * 2))


def undetermined_programs_are_refused() -> None:
    state = count()
    with pytest.raises(Invalid, match="not determined"):
        law(lambda source: [int(source.bits(next(state) % 4 + 1)) for _ in range(3)])


def test_undetermined_programs_are_refused() -> None:
    undetermined_programs_are_refused()


def test_what_has_too_many_values_is_refused() -> None:
    with pytest.raises(Invalid, match="values left"):
        law(lambda source: source.bits(64) % 3)
    with pytest.raises(Invalid, match="too many"):
        law(lambda source: noise.discrete_laplace(1, source=source))


def test_arrays_of_a_byte_are_branched_over() -> None:
    def ones(source: Any) -> int:
        out = np.zeros(1, np.uint8)
        source.fill(out)
        return int(out[0]).bit_count()

    assert [law(ones).chance(k).low for k in (0, 4, 8)] == [F(1, 256), F(70, 256), F(1, 256)]


def loops_without_end_leave_a_rest() -> None:
    """A program that may go on for ever is followed for as long as it is likely, and the rest is told."""

    def tosses(source: Any) -> int:
        for n in count():
            if source.bits(1):
                return n
        raise AssertionError

    found = law(tosses)
    assert 0 < found.rest <= F(1, 1 << 100)
    assert all(each.low <= F(1, 2 << n) <= each.high for n, each in found.chances.items())
    few = law(tosses, runs=3)
    assert few.rest == 1 - sum(each.low for each in few.chances.values()) > 0


def test_loops_without_end_leave_a_rest() -> None:
    loops_without_end_leave_a_rest()


def what_is_not_followed_may_be_any_outcome() -> None:
    for runs in (1, 2, 3, 10):
        is_law(law(lambda source: noise.uniform(5, source=source), runs), lambda _: ball(F(1, 5)), 1)


def test_what_is_not_followed_may_be_any_outcome() -> None:
    what_is_not_followed_may_be_any_outcome()


def test_a_program_that_keeps_exceptions_does_not_keep_ours() -> None:
    def keeps(source: Any) -> int:
        total = 0
        for _ in range(40):
            try:
                total += source.bits(1)
            except Exception:
                total = -1
        return total

    assert -1 not in law(keeps, runs=200).chances


def test_a_word_says_nothing_of_itself() -> None:
    seen = []
    law(lambda source: seen.append(repr(source.bits(5))) or 0)
    assert seen == ["Word(undecided)"] and not isinstance(Word, int)
