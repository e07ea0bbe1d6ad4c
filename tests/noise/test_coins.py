"""Coins, uniform integers and randomized response are exact: by enumeration where the bits can be enumerated, by counts beside that.

Statistical tests draw from the operating system and raise a false alarm with probability ALPHA each. Their powers are worked out
in the docstrings for `make test`; with 20 times the samples the deviations found are about 4.5 times smaller.
"""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc, chdtrc

from discreet.exact import rational
from discreet.noise import SecureBits, Tape, bernoulli, bernoulli_exp, keep_or_replace, odds, uniform
from discreet.noise.bernoulli import Coin, coin_of, decide, exp_coin_of, flip
from discreet.noise.size import CHUNK
from discreet.noise.uniform import _mask, _multiply, below, fill_below
from tests.noise.counting import Counting
from tests.scale import repeats

ALPHA = 1e-6

EVERY_PATTERN = np.arange(1 << 16, dtype=np.uint16)
DIGITS = 128  # of V that the enumeration sets: 16, then 48, then 64
BELOW_16 = (1 << (DIGITS - 16)) - 1
MORE = 64  # digits of p that tell where V goes on as a script says


@dataclass(frozen=True)
class Chance:
    """A coin, and the first digits of its probability by ball arithmetic or by long division."""

    name: str
    coin: Coin
    toss: Callable[..., Any] = field(compare=False)  # the public way to toss it
    finer: int  # floor(2^(DIGITS + MORE) p)
    dyadic: bool  # 2^(DIGITS + MORE) p is whole

    def __str__(self) -> str:
        return self.name

    def heads(self, digits: int) -> bool:
        """V < p, for V that begins with these DIGITS digits and goes on as `seventh` does."""
        return (digits << MORE) | seventh(MORE) < self.finer

    @property
    def scaled(self) -> int:
        """floor(2^DIGITS p)."""
        return self.finer >> MORE


def seventh(count: int) -> int:
    """The first digits of 1/7, which no probability here goes on with."""
    return (1 << count) // 7


def of_ball(truth: Callable[[], arb]) -> int:
    with ctx.workprec(6_000):
        digits = (truth() * arb(fmpq(1 << DIGITS + MORE))).floor().unique_fmpz()
    assert digits is not None
    return int(digits)


def ball(value: object) -> arb:
    exact = rational(value, "value")
    return arb(fmpq(exact.numerator, exact.denominator))


def chances() -> Iterator[Chance]:
    for p in (
        0,
        1,
        0.5,
        "1/3",
        "2/3",
        1e-5,
        1 - 1e-5,
        2.0**-20,
        2.0**-16,
        1 - 2.0**-16,
        0.1,
        5e-324,
        1e-30,
        "65535/131072",
    ):
        exact = Fraction(p) if isinstance(p, str) else rational(p, "p")
        finer, rest = divmod(exact.numerator << DIGITS + MORE, exact.denominator)
        toss = lambda size=None, *, source, p=exact: bernoulli(p, size, source=source)  # noqa: E731
        yield Chance(f"p = {p}", coin_of(exact), toss, finer, rest == 0)
    for x in (0, 5e-324, 1e-30, 1e-25, 1e-19, 1e-5, Fraction(1, 3), 1, 10, 11.1, 50, 100, 1e308):
        finer = 0 if x == 1e308 else of_ball(lambda x=x: (-ball(x)).exp())
        toss = lambda size=None, *, source, x=x: bernoulli_exp(x, size, source=source)  # noqa: E731
        yield Chance(f"e^-{x}", exp_coin_of(x), toss, finer, x == 0)
    for epsilon, k in (
        (0, 2),
        (0, 5),
        (1, 2),
        (1, 5),
        (0.1, 1000),
        (20, 2),
        (50, 3),
        (1e-30, 2),
        (Fraction(1, 3), 1 << 40),
    ):
        finer = of_ball(lambda e=epsilon, k=k: ball(e).exp() / (ball(e).exp() + (k - 1)))
        kept = odds(epsilon, k)
        toss = lambda size=None, *, source, p=kept: bernoulli(p, size, source=source)  # noqa: E731
        yield Chance(f"odds({epsilon}, {k})", coin_of(kept), toss, finer, (epsilon, k) == (0, 2))


CHANCES = list(chances())


@dataclass
class Digits:
    """Plays every pattern of 16 bits once; a coin that asks for 48 and then 64 more gets the same each time."""

    rest: int
    stock: dict[Hashable, Any] = field(default_factory=dict)
    private: bool = False

    def fill(self, out: NDArray[np.uint8]) -> None:
        out[:] = EVERY_PATTERN.view(np.uint8)

    def bits(self, count: int) -> int:
        return {48: self.rest >> 64, 64: self.rest & ((1 << 64) - 1)}.get(count, seventh(count))


@dataclass
class Words:
    """Plays the digits of one V, 64 at a time."""

    digits: list[int]
    stock: dict[Hashable, Any] = field(default_factory=dict)
    private: bool = False

    def fill(self, out: NDArray[np.uint8]) -> None:
        raise AssertionError("a single toss reads bits")

    def bits(self, count: int) -> int:
        return self.digits.pop(0) if self.digits else seventh(count)


def continuations(scaled: int) -> list[int]:
    """Digits after the first 16: the lowest, the highest, and those around the digits of p."""
    here = scaled & BELOW_16
    near = [here + step for step in (-(1 << 64), -(1 << 64) + 1, -2, -1, 0, 1, 2, 1 << 64)]
    return [0, 1, BELOW_16 - 1, BELOW_16, *(rest for rest in near if 0 <= rest <= BELOW_16)]


def every_pattern_is_decided(coin: Coin, chance: Chance) -> None:
    """All 2^16 first patterns, each once: heads exactly where V < p."""
    for rest in continuations(chance.scaled):
        out = np.full(EVERY_PATTERN.size, -1, np.int64)
        flip(coin, out, Digits(rest))
        first = chance.scaled >> (DIGITS - 16)  # patterns below are heads, patterns above are tails
        expected = (first > EVERY_PATTERN).astype(np.int64)
        if first < expected.size:
            expected[first] = chance.heads((first << (DIGITS - 16)) | rest)
        wrong = np.flatnonzero(out != expected)
        assert wrong.size == 0, f"{chance}: patterns {wrong[:5]} followed by {rest:#x}"


@pytest.mark.parametrize("chance", CHANCES, ids=str)
def test_an_array_of_coins_is_decided_as_it_should_by_every_pattern(chance: Chance) -> None:
    every_pattern_is_decided(chance.coin, chance)


@pytest.mark.parametrize("chance", CHANCES, ids=str)
def test_the_other_side_is_decided_as_it_should_by_every_pattern(chance: Chance) -> None:
    finer = (1 << DIGITS + MORE) - chance.finer - (not chance.dyadic)
    other = Chance(f"1 − {chance}", chance.coin.other_side(), chance.toss, finer, chance.dyadic)
    every_pattern_is_decided(other.coin, other)
    for bits in (1, 16, 64, 100):
        lo, hi = chance.coin.bounds(bits)
        assert other.coin.bounds(bits) == ((1 << bits) - hi, (1 << bits) - lo)
    back = other.coin.other_side()
    assert (back.low, back.high) == (chance.coin.low, chance.coin.high)


def test_a_coin_shifted_by_one_pattern_is_noticed() -> None:
    """The planted bug: a threshold one 2^-16 too high."""
    third = next(chance for chance in CHANCES if chance.name == "p = 1/3")
    shifted = Coin(third.coin.bounds, third.coin.low + (1 << 48), third.coin.high + (1 << 48))
    with pytest.raises(AssertionError):
        every_pattern_is_decided(shifted, third)


@pytest.mark.parametrize("chance", CHANCES, ids=str)
def test_a_single_coin_is_decided_as_it_should_around_its_probability(chance: Chance) -> None:
    edges = [chance.scaled + step for step in (-(1 << 64), -2, -1, 0, 1, 2, 1 << 64)]
    for digits in [0, (1 << DIGITS) - 1, *(edge for edge in edges if 0 <= edge < 1 << DIGITS)]:
        result = chance.toss(source=Words([digits >> 64, digits & ((1 << 64) - 1)]))
        assert result == chance.heads(digits), f"{chance} at {digits:#x}"


class Asked(Exception):
    """More bits than there are."""


class Bits:
    """One string of bits; asking for more than it has left raises."""

    def __init__(self, string: int, length: int) -> None:
        self.string, self.left, self.wanted = string, length, 0

    def bits(self, count: int) -> int:
        if count > self.left:
            self.wanted = count - self.left
            raise Asked
        self.left -= count
        return (self.string >> self.left) & ((1 << count) - 1)


def reached(draw: Callable[[Bits], Hashable], most: int) -> tuple[dict[Hashable, Fraction], Fraction]:
    """The exact probability of each result over all strings of up to `most` bits, and what is undecided then."""
    found: dict[Hashable, Fraction] = {}
    undecided = Fraction(0)
    todo = [(0, 0)]
    while todo:
        string, length = todo.pop()
        source = Bits(string, length)
        try:
            result = draw(source)
        except Asked:
            more = source.wanted
            if length + more > most:
                undecided += Fraction(1, 1 << length)
            else:
                todo += [((string << more) | tail, length + more) for tail in range(1 << more)]
        else:
            assert source.left == 0
            found[result] = found.get(result, Fraction(0)) + Fraction(1, 1 << length)
    return found, undecided


@pytest.mark.parametrize("step", [1, 2, 3, 4])
@pytest.mark.parametrize("chance", CHANCES, ids=str)
def test_lazy_digits_decide_with_the_exact_probability(chance: Chance, step: int) -> None:
    found, undecided = reached(lambda bits: decide(chance.coin.bounds, bits, step=step), 12)
    heads, tails = found.get(True, Fraction(0)), found.get(False, Fraction(0))
    low, high = (Fraction(chance.scaled + more, 1 << DIGITS) for more in (0, not chance.dyadic))
    assert heads + tails + undecided == 1 and undecided <= Fraction(6, 1 << 8)
    assert heads <= high and low <= heads + undecided


def test_digits_already_drawn_count() -> None:
    third = coin_of(Fraction(1, 3))
    for known, width in ((0b01, 2), (0b0101, 4), (0b010101, 6)):
        found, undecided = reached(lambda bits, k=known, w=width: decide(third.bounds, bits, k, w), 8)
        rest = Fraction(1 << width, 3) - known  # what the digits so far leave to be decided
        assert found[True] <= rest <= found[True] + undecided


@pytest.mark.parametrize("n", range(1, 66))
def test_one_round_of_a_single_integer_gives_each_value_one_string(n: int) -> None:
    width = (n - 1).bit_length()
    found, undecided = reached(lambda bits: below(n, bits), width)
    assert found == {value: Fraction(1, 1 << width) for value in range(n)}
    assert undecided == Fraction((1 << width) - n, 1 << width)


WORD = 1 << 32
SMALL = [1, 2, 3, 4, 5, 6, 7, 10, 12, 100, 255, 256, 257, 999, 1000]
LARGE = [65_537, (1 << 31) - 1, 1 << 31, (1 << 31) + 1, WORD - 1, WORD]


class Play:
    """Hands out scripted arrays, one for each fill."""

    private = False

    def __init__(self, *arrays: NDArray[Any]) -> None:
        self.arrays = list(arrays)
        self.stock: dict[Hashable, Any] = {}

    def fill(self, out: NDArray[np.uint8]) -> None:
        array = self.arrays.pop(0)
        assert array.nbytes == out.size
        out[:] = array.view(np.uint8)

    def bits(self, count: int) -> int:
        raise AssertionError("arrays read bytes")


def judged(propose: Callable[..., Any], n: int, script: NDArray[Any]) -> list[int | None]:
    """The value that each scripted word stands for, or None where it is rejected."""
    out = np.full(script.size, -1, np.int64)
    rejected = set(propose(n, out, Play(script)).tolist())
    return [None if at in rejected else int(value) for at, value in enumerate(out)]


@pytest.mark.parametrize("n", SMALL + LARGE)
def test_every_value_owns_equally_many_words(n: int) -> None:
    """w·n grows with w, so the words of a value are a run that ends where the next value begins; only its first few are rejected.

    The two ends of a run are looked at through the real code; for n up to 1,000 of all values, else of some.
    """
    some = range(n) if n in SMALL else sorted({0, 1, 2, n // 3, n // 2, n - 2, n - 1})
    each = WORD // n
    for value in some:
        last = ((value + 1) * WORD - 1) // n
        first = last - each + 1
        assert first * n // WORD == last * n // WORD == value
        around = [*range(first - 2, first + 2), last - 1, last, last + 1]
        around = sorted({word for word in around if 0 <= word < WORD})
        expected = []
        for word in around:
            owner = word * n // WORD
            expected.append(owner if word > ((owner + 1) * WORD - 1) // n - each else None)
        assert judged(_multiply, n, np.array(around, np.uint32)) == expected


@pytest.mark.parametrize("n", SMALL + LARGE)
def test_words_beyond_the_equal_shares_are_rejected(n: int) -> None:
    """Between the runs of two values lie only rejected words; with their lengths all 2^32 words are accounted for."""
    values = range(n) if n in SMALL else []
    each = WORD // n
    total = 0
    for value in values:
        last = ((value + 1) * WORD - 1) // n
        before = (value * WORD - 1) // n if value else -1
        between = list(range(before + 1, last - each + 1))
        assert len(between) <= 1
        if between:
            assert judged(_multiply, n, np.array(between, np.uint32)) == [None]
        total += each + len(between)
    assert total == (WORD if values else 0)


@pytest.mark.parametrize("n", [WORD + 1, (1 << 33) - 1, 1 << 33, 3 << 40, (1 << 62) + 1, (1 << 63) - 1, 1 << 63])
def test_masked_words_stand_for_themselves(n: int) -> None:
    low = (1 << (n - 1).bit_length()) - 1
    candidates = sorted({value for value in (0, 1, n // 2, n - 1, n, n + 1, low - 1, low) if value <= low})
    for above in (0, ~low & ((1 << 64) - 1)):  # the bits above the mask do not matter
        script = np.array([candidate | above for candidate in candidates], np.uint64)
        assert judged(_mask, n, script) == [value if value < n else None for value in candidates]


@pytest.mark.parametrize(("n", "dtype"), [(3, np.uint32), (WORD + 1, np.uint64)])
def test_a_rejected_place_is_drawn_again_until_it_is_accepted(n: int, dtype: type) -> None:
    """All places, in their order: 0 is a rejected word of 3, 2^32 + 2 one of 2^32 + 1."""
    bad = 0 if n == 3 else WORD + 2
    word = {0: 1, 1: 1_500_000_000, 2: 4_000_000_000} if n == 3 else {0: 0, 1: 1, 2: 2}
    rounds = [[bad, word[1], bad, word[2], bad], [bad, word[0], bad], [bad, word[1]], [word[2]]]
    out = np.full(5, -1, np.int64)
    source = Play(*(np.array(words, dtype) for words in rounds))
    fill_below(n, out, source)
    assert out.tolist() == [2, 1, 0, 2, 1] and source.arrays == []


def fits(counts: NDArray[np.int64], chances: NDArray[np.float64]) -> bool:
    """Chi-square at ALPHA; every outcome of chance 0 must be absent."""
    possible = chances > 0
    if counts[~possible].any():
        return False
    expected = counts.sum() * chances[possible]
    assert expected.min() >= 10
    statistic = float(((counts[possible] - expected) ** 2 / expected).sum())
    return bool(chdtrc(max(1, expected.size - 1), statistic) > ALPHA)


def plausible(heads: int, count: int, p: float) -> bool:
    """Exact binomial tails, ALPHA/2 each."""
    return bool(bdtr(heads, count, p) > ALPHA / 2 and (heads == 0 or bdtrc(heads - 1, count, p) > ALPHA / 2))


def heads_of(p: float | Fraction, count: int) -> int:
    """Heads among `count` coins, drawn in pieces."""
    piece = 1 << 20
    return sum(int(bernoulli(p, min(piece, count - begin)).sum()) for begin in range(0, count, piece))


FREQUENCIES: dict[str, tuple[float | Fraction, float]] = {
    "1/3": (Fraction(1, 3), 1 / 3),
    "1e-5": (1e-5, 1e-5),
    "1 - 1e-5": (1 - 1e-5, 1 - 1e-5),
    "2^-20": (2.0**-20, 2.0**-20),
}


@pytest.mark.parametrize(("p", "truth"), FREQUENCIES.values(), ids=FREQUENCIES)
def test_heads_come_up_as_often_as_they_should(p: float | Fraction, truth: float) -> None:
    """16 million coins. Found with 99 %: 1/3 off by 0.0009; 1e-5 and 1 − 1e-5 off by 6.5e-6; 2^-20 with 4 times as many."""
    count = repeats(1 << 24)
    assert plausible(heads_of(p, count), count, truth)


def test_a_wrong_frequency_is_noticed() -> None:
    """Planted bugs, somewhat larger than those found with 99 %, so that one escapes with less than ALPHA."""
    count = repeats(1 << 24)
    for p, truth in ((1 / 3 + 0.0015, 1 / 3), (2.4e-5, 1e-5), (1 - 2.4e-5, 1 - 1e-5), (8 * 2.0**-20, 2.0**-20)):
        assert not plausible(heads_of(p, count), count, truth)


@pytest.mark.parametrize("p", [Fraction(1, 3), 0.9], ids=str)
def test_single_heads_come_up_as_often_as_they_should(p: float | Fraction) -> None:
    """50,000 single tosses. Found with 99 %: a probability off by 0.016."""
    count = repeats(50_000)
    source = SecureBits()
    assert plausible(sum(bernoulli(p, source=source) for _ in range(count)), count, float(p))


def test_exponential_heads_come_up_as_often_as_they_should() -> None:
    """2 million coins each. Found with 99 %: a probability off by 0.0026."""
    count = repeats(2_000_000)
    for x, truth in ((0.5, np.exp(-0.5)), (Fraction(1, 1000), np.exp(-0.001)), (3, np.exp(-3))):
        heads = sum(int(bernoulli_exp(x, min(1 << 20, count - at)).sum()) for at in range(0, count, 1 << 20))
        assert plausible(heads, count, float(truth))


@pytest.mark.parametrize("sure", [0, 1])
def test_certainty_never_fails(sure: int) -> None:
    count = repeats(1 << 22)
    for p in (sure, float(sure), Fraction(sure)):
        assert heads_of(p, count) == sure * count
        assert all(bernoulli(p) == sure for _ in range(repeats(1000)))


@pytest.mark.parametrize("x", [0, 1e-30, 5e-324])
def test_a_coin_next_to_certainty_does_not_fail(x: float) -> None:
    """e^-1e-30: a single tail among so many coins has a chance below 1e-20."""
    count = repeats(1 << 22)
    assert sum(int(bernoulli_exp(x, min(1 << 20, count - at)).sum()) for at in range(0, count, 1 << 20)) == count


@pytest.mark.parametrize("n", [2, 3, 10, 1000, 1 << 16])
def test_uniform_integers_are_uniform(n: int) -> None:
    """Chi-square, 1 million. Found with 99 %: one half of the values likelier than the other by 1.8 % (n up to 10), 4 % (1000),
    11 % (2^16)."""
    counts = np.bincount(uniform(n, repeats(1_000_000)), minlength=n)
    assert counts.size == n
    assert fits(counts, np.full(n, 1 / n))


@pytest.mark.parametrize("n", [3 << 40, 5 << 60, 3 << 20], ids=["3·2^40", "5·2^60", "3·2^20"])
def test_long_uniform_integers_are_uniform_above_and_below(n: int) -> None:
    """Chi-square of the highest third or fifth, and of the lowest 4 bits, 200,000. Found with 99 %: one half likelier by 4.1 %."""
    values = uniform(n, repeats(200_000))
    assert values.min() >= 0 and values.max() < n
    high = n // (5 if n % 5 == 0 else 3)
    for counts in (np.bincount(values // high), np.bincount(values & 15, minlength=16)):
        assert fits(counts, np.full(counts.size, 1 / counts.size))


def test_lopsided_integers_are_noticed() -> None:
    """The planted bug: 12 bits modulo 1000, so that 96 values are likelier by a quarter."""
    word = np.empty(repeats(1_000_000), np.uint16)
    SecureBits().fill(word.view(np.uint8))
    assert not fits(np.bincount((word & 4095) % 1000, minlength=1000), np.full(1000, 1 / 1000))


def response_chances(k: int, truth: int, keep: float) -> NDArray[np.float64]:
    chances = np.full(k, (1 - keep) / (k - 1))
    chances[truth] = keep
    return chances


RESPONSES = [(2, 0.75), (3, 0.5), (5, 0.3), (1000, 0.25)]


@pytest.mark.parametrize(("k", "keep"), RESPONSES)
def test_every_answer_is_replaced_as_it_should(k: int, keep: float) -> None:
    """Chi-square over all k outcomes, 200,000 for the first, middle and last truth. Found with 99 %: `keep` off by 0.009, or 0.019
    for k = 1000; one half of the other answers likelier than the other by 5 %, or 10 % for k = 1000."""
    for truth in (0, k // 2, k - 1):
        answers = keep_or_replace(np.full(repeats(200_000), truth), k, keep)
        assert fits(np.bincount(answers, minlength=k), response_chances(k, truth, keep))


@pytest.mark.parametrize("k", [2, 3, 5])
def test_single_answers_are_replaced_as_they_should(k: int) -> None:
    """Chi-square, 20,000. Found with 99 %: `keep` off by 0.03."""
    source, keep = SecureBits(), odds(1, k)
    exact = float(np.e / (np.e + k - 1))
    answers = [keep_or_replace(k - 1, k, keep, source=source) for _ in range(repeats(20_000))]
    assert fits(np.bincount(answers, minlength=k), response_chances(k, k - 1, exact))


def test_wrong_responses_are_noticed() -> None:
    """The planted bugs: a truth kept too often; a replacement that may be the truth; one that never is the last answer."""
    count = repeats(200_000)
    truth = np.full(count, 1)
    chances = response_chances(5, 1, 0.3)
    assert not fits(np.bincount(keep_or_replace(truth, 5, 0.32), minlength=5), chances)
    kept = bernoulli(0.3, count) == 1
    assert not fits(np.bincount(np.where(kept, truth, uniform(5, count)), minlength=5), chances)
    assert not fits(np.bincount(np.where(kept, truth, uniform(4, count)), minlength=5), chances)


@pytest.mark.parametrize("k", [2, 3, 5, 1000, 1 << 40])
def test_a_replaced_answer_is_never_the_truth(k: int) -> None:
    truth = uniform(k, repeats(50_000))
    moved = keep_or_replace(truth, k, 0)
    assert (moved != truth).all() and moved.min() >= 0 and moved.max() < k
    assert (keep_or_replace(truth, k, 1) == truth).all()
    for value in truth[: repeats(200)].tolist():
        assert keep_or_replace(value, k, 0) != value
        assert keep_or_replace(value, k, 1) == value


@pytest.mark.parametrize(("k", "keep"), RESPONSES)
def test_the_bits_of_a_response_do_not_depend_on_the_answers(k: int, keep: float) -> None:
    """And neither does who is replaced, nor by the how-many-th of the others."""
    for size in (1, 100, CHUNK + 5):
        twins = [np.zeros(size, np.int64), np.full(size, k - 1), uniform(k, size, source=Tape(9))]
        requests, ranks = [], []
        for truth in twins:
            source = Counting(4)
            answers = keep_or_replace(truth, k, keep, source=source)
            requests.append(source.requests)
            ranks.append(np.where(answers == truth, -1, answers - (answers > truth)))
        assert all(one == two for one, two in pairwise(requests))
        assert all((one == two).all() for one, two in pairwise(ranks))
    for seed in range(repeats(50)):
        requests = []
        for value in {0, k // 2, k - 1}:
            source = Counting(seed)
            keep_or_replace(value, k, keep, source=source)
            requests.append(source.requests)
        assert all(one == two for one, two in pairwise(requests))


def test_every_piece_of_a_long_array_is_drawn_anew() -> None:
    """Two sound pieces are equal with a chance below 2^-100."""
    for values in (uniform(1 << 62, 2 * CHUNK + 200), uniform(7, 2 * CHUNK + 200), bernoulli(0.5, 2 * CHUNK + 200)):
        first, second, third = values[:CHUNK], values[CHUNK : 2 * CHUNK], values[2 * CHUNK :]
        assert (first != second).any() and (first[: third.size] != third).any()


def test_a_tape_tosses_the_same_coins_again_and_the_operating_system_never() -> None:
    """2^-1000 for the latter."""
    assert (bernoulli(0.5, 1000, source=Tape(3)) == bernoulli(0.5, 1000, source=Tape(3))).all()
    assert (bernoulli(0.5, 1000) != bernoulli(0.5, 1000)).any()
