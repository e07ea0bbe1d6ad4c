"""Exact coins: Bernoulli(p) for rational p, for e^-x, and for any probability that has integer brackets.

A coin compares the lazily drawn binary digits of a uniform V in [0, 1) with brackets of p. A vector of coins looks at 16 bits
of each V; the 2^-16 that tie look at 48 more, and what still ties goes on in integers for as long as it takes.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.exact import Number, divide_up, exp_neg_bounds, rational, remembered, shift_up, shown, whole
from discreet.noise.size import CHUNK, Ints, Many, Size, empty_array
from discreet.noise.source import Bits, Source, chosen

Bounds: TypeAlias = Callable[[int], tuple[int, int]]
"""bits -> (lo, hi) with lo <= 2^bits p <= hi: a probability, to any precision asked."""


def decide(bounds: Bounds, source: Bits, known: int = 0, width: int = 0, step: int = 64) -> bool:
    """True with probability exactly p.

    V = 0.known… in binary, its first `width` digits already drawn; further digits are drawn until the brackets of p
    tell V < p. After d digits the chance of being still undecided is at most (hi - lo + 1) 2^-d.
    """
    while True:
        if width:
            lo, hi = bounds(width)
            if known + 1 <= lo:
                return True
            if known >= hi:
                return False
        more = width or step
        known = (known << more) | source.bits(more)
        width += more


def exp_brackets(x: Fraction, times: int = 1, minus: int = 0, over: int = 1) -> Bounds:
    """Brackets of (times · e^-x − minus) / over."""

    def bounds(bits: int) -> tuple[int, int]:
        extra = times.bit_length() + 1
        lo, hi = exp_neg_bounds(x, bits + extra)
        taken, per = minus << (bits + extra), over << extra
        return (times * lo - taken) // per, divide_up(times * hi - taken, per)

    return bounds


@dataclass(frozen=True, slots=True)
class Odds:
    """The probability e^epsilon / (e^epsilon + k − 1) of keeping the truth among k answers."""

    epsilon: Fraction
    k: int

    def bounds(self, bits: int) -> tuple[int, int]:
        """p = 1 / (1 + (k−1) e^-epsilon), and each bracket of e^-epsilon gives one of p."""
        precision = bits + self.k.bit_length() + 2
        lo, hi = exp_neg_bounds(self.epsilon, precision)
        one = 1 << precision
        top = 1 << (precision + bits)
        return top // (one + (self.k - 1) * hi), divide_up(top, one + (self.k - 1) * lo)


def odds(epsilon: Number, k: int = 2) -> Odds:
    """The probability e^ε/(e^ε + k − 1), exactly: how often k-ary randomized response tells the truth."""
    exact = rational(epsilon, "epsilon")
    if exact < 0:
        raise Invalid(f"epsilon must not be negative, got {shown(epsilon)}")
    return Odds(exact, whole(k, "k", least=2))


@dataclass(frozen=True, slots=True)
class Coin:
    """A probability with the first 64 binary digits of its brackets at hand."""

    bounds: Bounds
    low: int  # 64-digit words below this are heads
    high: int  # words from here on are tails; between the two, more digits decide

    def other_side(self) -> "Coin":
        """The coin of probability 1 − p."""

        def bounds(bits: int) -> tuple[int, int]:
            lo, hi = self.bounds(bits)
            return (1 << bits) - hi, (1 << bits) - lo

        return Coin(bounds, (1 << 64) - self.high, (1 << 64) - self.low)

    def settle(self, word: int, source: Bits) -> int:
        if word < self.low:
            return 1
        if word >= self.high:
            return 0
        return int(decide(self.bounds, source, word, 64))


def coin(bounds: Bounds) -> Coin:
    """Brackets may stick out of [0, 1] by a unit; a probability does not."""
    lo, hi = bounds(64)
    return Coin(bounds, max(lo, 0), min(hi, 1 << 64))


@remembered
def coin_of(p: "Number | Odds", name: str = "p") -> Coin:
    """The coin of a caller's probability."""
    if isinstance(p, Odds):
        return coin(p.bounds)
    exact = rational(p, name)
    if not 0 <= exact <= 1:
        raise Invalid(f"{name} must lie between 0 and 1, got {shown(p)}")
    return coin(lambda bits: _ratio_bounds(exact, bits))


def _ratio_bounds(p: Fraction, bits: int) -> tuple[int, int]:
    scaled = p.numerator << bits
    return scaled // p.denominator, divide_up(scaled, p.denominator)


@remembered
def exp_coin_of(x: Number) -> Coin:
    """The coin of probability e^-x of a caller's x >= 0."""
    exact = rational(x, "x")
    if exact < 0:
        raise Invalid(f"x must not be negative, got {shown(x)}")
    return coin(exp_brackets(exact))


def tosses(each: Coin, size: int, source: Source) -> Iterator[tuple[slice, NDArray[np.bool_]]]:
    """Independent coins, piece by piece: where they belong in an array of `size`, and heads or tails."""
    heads, tails = each.low >> 48, shift_up(each.high, 48)  # first words below heads, or from tails on, decide
    first = np.empty(min(CHUNK, size), np.uint16)
    for begin in range(0, size, CHUNK):
        u = first[: size - begin]
        source.fill(u.view(np.uint8))
        flag = np.less(u, heads)
        if heads < tails:
            u -= heads
            for tie in np.flatnonzero(u < tails - heads):
                flag[tie] = each.settle((heads + int(u[tie]) << 48) | source.bits(48), source)
        yield slice(begin, begin + u.size), flag
    first[:] = 0


def flip(each: Coin, out: Ints, source: Source) -> None:
    """Fill `out` with independent 0/1 coins."""
    for where, flag in tosses(each, out.size, source):
        out[where] = flag


@overload
def bernoulli(p: "Number | Odds", size: None = None, *, source: Source | None = None) -> int: ...
@overload
def bernoulli(p: "Number | Odds", size: Many, *, source: Source | None = None) -> Ints: ...
def bernoulli(p: "Number | Odds", size: Size = None, *, source: Source | None = None) -> "int | Ints":
    """1 with probability exactly p, else 0: an int, or an int64 array of shape `size`.

    `p` is a number taken as the decimal it prints, or `odds(epsilon, k)`.
    """
    return _toss(coin_of(p), size, chosen(source))


@overload
def bernoulli_exp(x: Number, size: None = None, *, source: Source | None = None) -> int: ...
@overload
def bernoulli_exp(x: Number, size: Many, *, source: Source | None = None) -> Ints: ...
def bernoulli_exp(x: Number, size: Size = None, *, source: Source | None = None) -> "int | Ints":
    """1 with probability exactly e^-x, x >= 0 rational."""
    return _toss(exp_coin_of(x), size, chosen(source))


def _toss(each: Coin, size: Size, source: Source) -> "int | Ints":
    if size is None:
        return each.settle(source.bits(64), source)
    out = empty_array(size)
    flip(each, out.reshape(-1), source)
    return out
