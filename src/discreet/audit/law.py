"""Laws of outputs that are known exactly, and what two of them differ by.

A `Law` gives each outcome a probability: an exact fraction, or a bracket with the truth inside. What is not listed may have some mass
too, of which only a bound is known (`rest`), and an outcome may stand for many (`lumps`): for all outputs of which it is the beginning.

Two laws P and Q are compared by δ(t) = sup P(A) − t·Q(A), t = e^ε, and by the least t at which it is at most δ. Both are functions of
rationals, so that they come as brackets of rationals; a logarithm is taken at the very end, and rounded outward.

What is unknown makes brackets wider, never wrong. A *lower* bound uses single outcomes, and lumps that both laws have: whether an output
is in a lump is a function of the output, and a function of outputs differs by no more than they do. An *upper* bound takes all that is not
known of a single outcome for lost: what is not listed, and every lump with what it stands for, adds its whole mass to δ.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product as combinations
from math import inf
from typing import Any, TypeAlias

from discreet.errors import Invalid
from discreet.exact import (
    EXP_LIMIT,
    Number,
    exp_bounds,
    log_down,
    log_up,
    nonnegative,
    probability,
    round_down,
    round_up,
    shown,
    to_float_down,
    to_float_up,
)

__all__ = ["Bracket", "Epsilon", "Law", "delta", "epsilon", "product"]

Ratio: TypeAlias = Fraction | float
"""A quotient of probabilities: a fraction, or infinity (the one float that is meant)."""

ZERO, ONE = Fraction(0), Fraction(1)
BITS = 192
"""Binary digits to which the ends of a bracket are rounded outward; what is exact is never rounded."""

SHORT = 10**9
"""Fractions are written out where both numbers are below this."""


@dataclass(frozen=True, slots=True)
class Bracket:
    """A number that is not below `low` and not above `high`.

    >>> Bracket.of(0.25) * Bracket(Fraction(1, 4), Fraction(1, 2))
    Bracket(low=Fraction(1, 16), high=Fraction(1, 8))
    """

    low: Fraction
    high: Fraction

    @classmethod
    def of(cls, value: "Number | Bracket", name: str = "probability") -> "Bracket":
        """A probability that is known exactly, or a bracket as it is."""
        if isinstance(value, Bracket):
            return value
        exact = probability(value, name)
        return cls(exact, exact)

    @property
    def exact(self) -> bool:
        """Whether the number itself is known."""
        return self.low == self.high

    def __add__(self, other: "Bracket") -> "Bracket":
        return Bracket(self.low + other.low, self.high + other.high).short()

    def __mul__(self, other: "Bracket") -> "Bracket":
        """The product of two numbers of which none is negative."""
        return Bracket(self.low * other.low, self.high * other.high).short()

    def short(self) -> "Bracket":
        """The bracket with ends of few digits, rounded outward, unless it is exact."""
        return self if self.low == self.high else Bracket(round_down(self.low, BITS), round_up(self.high, BITS))

    def __str__(self) -> str:
        if self.exact:
            return written(self.low)
        low, high = to_float_down(self.low), to_float_up(self.high)
        return f"{low:.9g}" if f"{low:.9g}" == f"{high:.9g}" else f"between {low:.9g} and {high:.9g}"


NEVER, SURE = Bracket(ZERO, ZERO), Bracket(ONE, ONE)


def written(value: Fraction) -> str:
    """A short fraction as it is, and any other as a decimal near it."""
    return str(value) if max(abs(value.numerator), value.denominator) < SHORT else f"about {float(value):.9g}"


@dataclass(frozen=True, slots=True)
class Epsilon:
    """An ε of which e^ε is known: exactly where both ratios are equal, else between them. `low` and `high` bound ε itself.

    >>> found = Epsilon(Fraction(3), Fraction(3))
    >>> print(found)
    ln 3 = 1.09861229
    """

    ratio_low: Ratio
    ratio_high: Ratio

    @property
    def low(self) -> float:
        """The greatest float that is surely not above ε."""
        return to_float_down(log_down(self.ratio_low)) if isinstance(self.ratio_low, Fraction) else inf

    @property
    def high(self) -> float:
        """The least float that is surely not below ε."""
        return to_float_up(log_up(self.ratio_high)) if isinstance(self.ratio_high, Fraction) else inf

    @property
    def exact(self) -> bool:
        """Whether e^ε itself is known."""
        return self.ratio_low == self.ratio_high

    def __str__(self) -> str:
        low, high = (f"{value:.9g}" if value < inf else "∞" for value in (self.low, self.high))
        if low != high:
            return f"between {low} and {high}"
        ratio = self.ratio_low
        brief = isinstance(ratio, Fraction) and max(ratio.numerator, ratio.denominator) < SHORT
        return f"ln {ratio} = {low}" if self.exact and brief and ratio != 1 else low


@dataclass(frozen=True, slots=True)
class Law:
    """The probability of each outcome; at most `rest` lies elsewhere. Outcomes in `lumps` stand for all outputs that begin so.

    >>> Law.of({"heads": 0.75, "tails": 0.25}).chance("heads")
    Bracket(low=Fraction(3, 4), high=Fraction(3, 4))
    """

    chances: Mapping[Any, Bracket]
    rest: Fraction = ZERO
    lumps: frozenset[Hashable] = frozenset()

    def __post_init__(self) -> None:
        low = sum((each.low for each in self.chances.values()), ZERO)
        high = sum((each.high for each in self.chances.values()), self.rest)
        if not low <= 1 <= high or self.rest < 0:
            raise Invalid("probabilities must add up to exactly 1", hint="write them as fractions or decimals")

    @classmethod
    def of(cls, chances: "Mapping[Any, Number | Bracket] | Law") -> "Law":
        """The law of a table of outcomes and their probabilities, which must add up to exactly 1."""
        if isinstance(chances, Law):
            return chances
        if not isinstance(chances, Mapping):
            raise Invalid(f"a law must be a mapping of outcomes to probabilities, got {shown(chances)}")
        return cls({outcome: Bracket.of(each) for outcome, each in chances.items()})

    def chance(self, outcome: Hashable) -> Bracket:
        """The probability of an outcome; one that is not listed may have all of what is unknown."""
        found = self.chances.get(outcome)
        return Bracket(ZERO, min(ONE, self.hidden)) if found is None else found

    @property
    def hidden(self) -> Fraction:
        """A bound of the mass of all outcomes that are not listed one by one."""
        return self.rest + sum((self.chances[lump].high for lump in self.lumps), ZERO)

    @property
    def exact(self) -> bool:
        """Whether every probability is known exactly."""
        return not self.hidden and all(each.exact for each in self.chances.values())


def product(first: Law, second: Law) -> Law:
    """The law of both, drawn independently of one another; its outcomes are pairs. Laws with lumps are Invalid."""
    if first.lumps or second.lumps:
        raise Invalid("a law with lumps has no product: what a lump stands for is not known")
    chances = {
        (one, two): p * q
        for (one, p), (two, q) in combinations(first.chances.items(), second.chances.items())
        if p.high and q.high
    }
    return Law(chances, min(ONE, first.rest + second.rest))


Pair: TypeAlias = tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True)
class _Excess:
    """The function Σ max(0, a − t·b) + more − t·slope of t, which is convex and falls."""

    pairs: Sequence[Pair]
    more: Fraction = ZERO
    slope: Fraction = ZERO

    def at(self, t: Fraction) -> Fraction:
        return sum((a - t * b for a, b in self.pairs if a > t * b), self.more - t * self.slope)

    def least(self, most: Fraction) -> Ratio:
        """The least t >= 1 at which it is at most this; infinity where there is none."""
        if self.at(ONE) <= most:
            return ONE
        top = self.more + sum((a for a, b in self.pairs if not b), ZERO)
        turns = sorted(((a / b, a, b) for a, b in self.pairs if b and a > b), reverse=True)
        slope = self.slope
        if not slope and top > most:
            return inf
        # From the right: between two turns it is top − t·slope, of all terms that are positive there.
        for turn, a, b in turns:
            if top - turn * slope > most:
                break
            top, slope = top + a, slope + b
        return (top - most) / slope


def _above(p: Law, q: Law) -> list[_Excess]:
    """Functions that are nowhere below δ(t): with what is surely there of P and all the rest on top, or with the most of each outcome."""
    lumps = p.lumps | q.lumps
    listed = [outcome for outcome in p.chances if outcome not in lumps]
    sure = [(p.chances[outcome].low, _low(q, outcome)) for outcome in listed]
    most = [(p.chances[outcome].high, _low(q, outcome)) for outcome in listed]
    lumped = sum((p.chances[lump].high for lump in lumps if lump in p.chances), ZERO)
    missing = ONE - sum((low for low, _ in sure), ZERO)
    return [_Excess(sure, missing), _Excess(most, p.rest + lumped)]


def _below(p: Law, q: Law) -> list[_Excess]:
    """Functions that are nowhere above δ(t): each outcome by itself, or all others as far as Q surely has them."""
    common = p.lumps & q.lumps
    either = p.lumps | q.lumps
    listed = [outcome for outcome in p.chances if outcome in common or outcome not in either]
    elsewhere = _elsewhere(p, q)
    apart = [(p.chances[outcome].low, _high(q, outcome, elsewhere)) for outcome in listed]
    sure = [(p.chances[outcome].low, _low(q, outcome)) for outcome in listed]
    others = (each.low for outcome, each in q.chances.items() if outcome not in either or outcome in common)
    return [_Excess(apart), _Excess(sure, slope=ONE - sum(others, ZERO))]


def _low(law: Law, outcome: Hashable) -> Fraction:
    found = law.chances.get(outcome)
    return ZERO if found is None else found.low


def _high(law: Law, outcome: Hashable, elsewhere: Fraction) -> Fraction:
    found = law.chances.get(outcome)
    return elsewhere if found is None else found.high


def _elsewhere(p: Law, q: Law) -> Fraction:
    """The most that Q has on an outcome of P that it does not list. It is in no lump of P, and so in none that both have."""
    return min(ONE, q.rest + sum((q.chances[lump].high for lump in q.lumps - p.lumps), ZERO))


def epsilon(p: Law, q: Law, delta: Number = 0) -> Epsilon:
    """The least ε >= 0 with P(A) <= e^ε Q(A) + δ for every set A of outputs.

    >>> truth, lie = Law.of({1: 0.75, 0: 0.25}), Law.of({1: 0.25, 0: 0.75})
    >>> print(epsilon(truth, lie), epsilon(truth, lie, 0.5))
    ln 3 = 1.09861229 0
    """
    allowed = probability(delta, "delta")
    low = max(each.least(allowed) for each in _below(p, q))
    high = min(each.least(allowed) for each in _above(p, q))
    return Epsilon(low, high)


def delta(p: Law, q: Law, epsilon: Number = 0) -> Bracket:
    """The hockey-stick divergence: the greatest P(A) − e^ε Q(A) over all sets A of outputs; exact at ε = 0 for exact laws.

    >>> print(delta(Law.of({1: 0.75, 0: 0.25}), Law.of({1: 0.25, 0: 0.75})))
    1/2
    """
    exponent = nonnegative(epsilon, "epsilon")
    if exponent > EXP_LIMIT:
        raise Invalid(f"epsilon must be at most {EXP_LIMIT}, got {shown(epsilon)}")
    low, high = exp_bounds(exponent, BITS)
    return delta_at(p, q, Bracket(low, high))


def delta_at(p: Law, q: Law, ratio: Bracket) -> Bracket:
    """The greatest P(A) − t·Q(A), for a t = e^ε >= 1 that is itself known by a bracket."""
    least = max(ZERO, *(each.at(ratio.high) for each in _below(p, q)))
    most = min(ONE, *(max(ZERO, each.at(ratio.low)) for each in _above(p, q)))
    return Bracket(least, most)


def worst(p: Law, q: Law) -> tuple[Hashable, Ratio]:
    """The outcome that tells P from Q best, and how much likelier it surely is; of equal ones the likeliest."""
    common = p.lumps & q.lumps
    listed: Iterable[Hashable] = [each for each in p.chances if each not in p.lumps | q.lumps or each in common]
    elsewhere = _elsewhere(p, q)
    ratios = [(over(p.chances[each].low, _high(q, each, elsewhere)), p.chances[each].low, each) for each in listed]
    if not ratios:
        return None, ZERO
    ratio, _, outcome = max(ratios, key=lambda each: each[:2])
    return outcome, ratio


def over(a: Fraction, b: Fraction) -> Ratio:
    if b:
        return a / b
    return inf if a else ZERO


def __dir__() -> list[str]:
    return sorted(__all__)
