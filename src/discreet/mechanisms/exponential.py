"""Choosing among candidates by private scores: the exponential mechanism, and permute-and-flip.

Scores are integers or Fractions, and each changes by at most the sensitivity between neighbours. Probabilities are exact: weights
e^-x are known as floats with a bounded error and as integer brackets to any precision, floats decide only what they can decide for
certain, and brackets the rest. How many random bits are drawn depends on how many candidates there are, not on their scores (but
for fewer than one choice in a million, where a float cannot tell).
"""

import numbers
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from math import ceil, exp, expm1, inf, log, log1p
from typing import Any, Self, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.exact import (
    Number,
    exp_neg_bounds,
    nonnegative,
    positive,
    probability,
    rational,
    shift_up,
    shown,
    whole,
)
from discreet.fields import Exact, frozen, otherwise
from discreet.mechanisms.base import Example, Mechanism, confidence_level, registry
from discreet.noise import Source
from discreet.noise.bernoulli import decide, exp_bounds
from discreet.noise.source import chosen, words
from discreet.privacy import PrivacyLoss, events, loss
from discreet.privacy.numeric.quadrature import legendre

Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]
Ints: TypeAlias = NDArray[np.int64]
Bracket: TypeAlias = tuple[int, int]
Scores = TypeVar("Scores", bound=NDArray[Any])

MOST_SCORE = 1 << 61  # of integers that are kept as int64, so that differences are int64 too
FAN = 1024  # candidates, or groups of them, that one random word decides among
BAND = 2.0**-39  # of a total: nearer to an edge than this, floats do not decide (see `Wheel`)
LEAST = 2.0**-40  # totals below this are left to integers
COIN_BAND = 2.0**-45
REACH = 90  # e^-90 < 2^-129: exponents beyond are cut off in floats
DIGIT = 10  # binary digits of one look-up
PRECISION = 192  # binary digits of what is tabled
FINE = 50  # binary digits after the point of an exponent that is not an integer times the rate


@dataclass(frozen=True, slots=True)
class Wheel:
    """Rows of weights, the largest of each row about 1: floats near them, and brackets of 2^bits times each of them.

    `near` may be wrong by 2^-48 of itself and by 2^-128. A sum of FAN floats adds at most 2^-43 of itself, and there are at most four
    such sums on the way from a candidate to a running total, so both a running total and the point V·total are off by less
    than 2^-40 of the total: BAND is twice that. Totals below LEAST, where the 2^-128 might count, are not trusted at all.
    """

    near: Floats
    bounds: Callable[[int, int, int], Bracket]  # of a row, a candidate, a number of bits

    def spin(self, source: Source) -> Ints:
        """A candidate for each row, with probability exactly its weight over the sum of the row."""
        rows, count = self.near.shape
        if count <= FAN:
            return _choose(self.near, self.bounds, source)
        return np.array([self._descend(row, source) for row in range(rows)], np.int64)

    def _descend(self, row: int, source: Source) -> int:
        """A group of candidates by the sum of its weights, then one of the group, and so on."""
        levels = [self.near[row]]
        while levels[-1].size > FAN:
            levels.append(np.add.reduceat(levels[-1], np.arange(0, levels[-1].size, FAN)))
        node = 0
        for depth in reversed(range(len(levels))):
            begin = node * FAN
            inside = levels[depth][None, begin : begin + FAN]
            node = begin + int(_choose(inside, self._sums(row, begin, FAN**depth), source)[0])
        return node

    def _sums(self, row: int, begin: int, span: int) -> Callable[[int, int, int], Bracket]:
        """Brackets of the sums of `span` weights each; as many bits more as the sum loses."""

        def bounds(_: int, at: int, bits: int) -> Bracket:
            first, extra = (begin + at) * span, span.bit_length()
            last = min(first + span, self.near.shape[1])
            parts = [self.bounds(row, i, bits + extra) for i in range(first, last)]
            return sum(lo for lo, _ in parts) >> extra, shift_up(sum(hi for _, hi in parts), extra)

        return bounds


def _choose(near: Floats, bounds: Callable[[int, int, int], Bracket], source: Source) -> Ints:
    """The first place in each row whose running total exceeds V times the whole, V uniform in [0, 1)."""
    word = words(source, near.shape[0])
    upto = np.cumsum(near, axis=1)
    total, last = upto[:, -1], near.shape[1] - 1
    at = word * 2.0**-64 * total
    place: Ints = np.minimum((upto <= at[:, None]).sum(axis=1, dtype=np.int64), last)
    row = np.arange(place.size)
    room = BAND * total
    above = (place == 0) | (upto[row, place - 1] + room <= at)
    below = (place == last) | (at <= upto[row, place] - room)
    for r in np.flatnonzero(~(above & below & (total >= LEAST))):
        place[r] = _settle(int(word[r]), last + 1, partial(bounds, int(r)), source)
    return place


def _settle(known: int, count: int, bounds: Callable[[int, int], Bracket], source: Source) -> int:
    """One row of `_choose`, in integers; `known` is the first 64 binary digits of V, and more are drawn until they tell."""
    width = 64
    while True:
        low, high = [0], [0]
        for i in range(count):
            lo, hi = bounds(i, width + 64)
            low.append(low[-1] + lo)
            high.append(high[-1] + hi)
        for i in range(count):
            after = i == 0 or high[i] << width <= known * low[-1]
            if after and (i == count - 1 or (known + 1) * high[-1] <= low[i + 1] << width):
                return i
        known, width = (known << width) | source.bits(width), 2 * width


@dataclass(frozen=True, slots=True)
class Falls:
    """How far each score falls short of the best of its row, as an exponent x >= 0: floats near e^-x, and x itself."""

    near: Floats
    exponent: Callable[[int, int], Fraction]

    @classmethod
    def of(cls, exact: "Ints | NDArray[np.object_]", rate: Fraction) -> "Falls":
        """x = rate · (best − score), for one list of scores or for rows of them."""
        scores: NDArray[Any] = np.atleast_2d(exact)
        if scores.dtype != np.object_:
            gaps = scores.max(axis=1, keepdims=True) - scores
            return cls(_near(gaps, rate), lambda row, at: rate * int(gaps[row, at]))
        best = [max(row) for row in scores]
        exponents = [[rate * (top - score) for score in row] for top, row in zip(best, scores, strict=True)]
        fixed = [[min(int(x * (1 << FINE)), REACH << FINE) for x in row] for row in exponents]
        return cls(
            _near(np.array(fixed, np.int64).reshape(scores.shape), Fraction(1, 1 << FINE)),
            lambda row, at: exponents[row][at],
        )

    @property
    def wheel(self) -> Wheel:
        return Wheel(self.near, lambda row, at, bits: exp_neg_bounds(self.exponent(row, at), bits))


def _near(gaps: Ints, rate: Fraction) -> Floats:
    """e^(−rate·gap), wrong by at most 2^-48 of itself and 2^-128: a product of look-ups, one for DIGIT binary digits each.

    No libm is used: each factor is an exact value rounded once, and each product rounds once more.
    """
    reach, tables = _powers_of(rate)
    left = np.minimum(gaps, reach)
    mask = (1 << DIGIT) - 1
    out: Floats = tables[0][left & mask]
    for table in tables[1:]:
        left >>= DIGIT
        out *= table[left & mask]
    return out


@lru_cache(maxsize=64)
def _powers_of(rate: Fraction) -> tuple[int, tuple[Floats, ...]]:
    """Where gaps may be cut off, and the tables for gaps up to there."""
    reach = min(ceil(REACH / rate), (1 << 63) - 1)
    shifts = range(0, reach.bit_length(), DIGIT)
    return reach, tuple(_powers(rate * (1 << shift), min(1 << DIGIT, (reach >> shift) + 1)) for shift in shifts)


def _powers(step: Fraction, count: int) -> Floats:
    """1, e^-step, e^(−2·step), …: each the one before times a lower bound, off by less than 2^-170."""
    ratio, value, found = exp_neg_bounds(step, PRECISION)[0], 1 << PRECISION, []
    for _ in range(count):
        found.append(value / (1 << PRECISION))
        value = value * ratio >> PRECISION
    return np.array(found)


def among(flags: Flags, source: Source) -> Ints:
    """One of the flagged places for each row, each with the same probability."""
    whole_numbers = Wheel(flags.astype(np.float64), lambda row, at, bits: (int(flags[row, at]) << bits,) * 2)
    return whole_numbers.spin(source)


def scores_of(exact: Any) -> "Ints | NDArray[np.object_]":
    """Scores as int64, or as Fractions where they are not such integers: one row, or one for each choice. Else Invalid."""
    found = _array(exact)
    if found.dtype.kind in "iu":
        if _fits(found):
            return found.astype(np.int64)
        return _fractions(found.astype(np.object_))
    if found.dtype.kind != "O":
        raise Invalid(
            f"exact must hold integers or Fractions, got {found.dtype} values",
            hint="round scores to a public grid, and count the rounding in the sensitivity",
        )
    return _fractions(found)


def _fractions(values: NDArray[Any]) -> NDArray[np.object_]:
    out = np.empty(values.shape, np.object_)
    for at, value in np.ndenumerate(values):
        if isinstance(value, bool) or not isinstance(value, numbers.Rational):
            raise Invalid(f"exact must hold integers or Fractions, got a {type(value).__name__}")
        out[at] = rational(value, "exact")
    return out


def integer_scores_of(exact: Any) -> Ints:
    """Scores as int64, of at most MOST_SCORE in size; else Invalid."""
    found = _array(exact)
    if found.dtype.kind not in "iu":
        raise Invalid(f"exact must hold integers, got {found.dtype} values", hint="round scores to integers first")
    if not _fits(found):
        raise Invalid("exact must be at most 2^61 in size")
    return found.astype(np.int64)


def _fits(values: NDArray[Any]) -> bool:
    return int(values.min(initial=0)) >= -MOST_SCORE and int(values.max(initial=0)) <= MOST_SCORE


def _array(exact: Any) -> NDArray[Any]:
    try:
        found = np.asarray(exact)
    except ValueError as error:
        raise Invalid("exact must be a list of scores, or rows of equally many") from error
    if found.ndim not in (1, 2):
        raise Invalid("exact must be a list of scores, or rows of equally many")
    if not found.shape[-1]:
        raise Invalid("exact must hold at least one candidate")
    return found


class Declared(Mechanism):
    """A mechanism that was made for a sensitivity, which counts where no other one is said."""

    __slots__ = ()

    @abstractmethod
    def event(self, sensitivity: Number | None = None) -> events.Event:
        """What is drawn, for units that change exact values by at most this, or by what was declared."""

    def loss(self, sensitivity: Number | None = None) -> PrivacyLoss:
        """What that costs."""
        return loss(self.event(sensitivity))


@frozen
class Selection(Declared):
    """The number of one candidate of a list, chosen by their scores; for rows of scores one of each row.

    Scores change by at most `sensitivity` each between neighbours; where all of them change in one direction, as counts do when
    a row is added, they are `monotone`, and the choice may be twice as sharp. Costs `epsilon`.
    """

    epsilon: Exact
    sensitivity: Exact = otherwise(Fraction(1))
    monotone: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        object.__setattr__(self, "sensitivity", positive(self.sensitivity, "sensitivity"))
        if not isinstance(self.monotone, bool):
            raise Invalid(f"monotone must be True or False, got {shown(self.monotone)}")

    @classmethod
    def for_epsilon(cls, epsilon: Number, sensitivity: Number = 1, *, monotone: bool = False) -> Self:
        """The sharpest choice that is epsilon-DP."""
        return cls(positive(epsilon, "epsilon"), positive(sensitivity, "sensitivity"), monotone)

    @classmethod
    def for_budget(cls, epsilon: Number, delta: Number = 0, *, sensitivity: Number = 1, monotone: bool = False) -> Self:
        """A choice that is (epsilon, delta)-DP; it is epsilon-DP, and makes no use of delta."""
        probability(delta, "delta")
        return cls.for_epsilon(epsilon, sensitivity, monotone=monotone)

    @property
    def rate(self) -> Fraction:
        """What a score is multiplied with: ε/2Δ, or ε/Δ for monotone scores."""
        return self.epsilon / (self.sensitivity if self.monotone else 2 * self.sensitivity)

    def cost(self, sensitivity: Number | None = None) -> Fraction:
        """The ε of one choice, where scores change by at most this; by what they were declared to, if it is not said."""
        changed = self.sensitivity if sensitivity is None else nonnegative(sensitivity, "sensitivity")
        return self.epsilon * changed / self.sensitivity

    def event(self, sensitivity: Number | None = None) -> events.Pure:
        """The choice, for scores that change by at most this, or by what was declared."""
        return events.Pure(self.cost(sensitivity))

    @overload
    def __call__(self, exact: Sequence[int | Fraction], source: Source | None = None) -> int: ...
    @overload
    def __call__(self, exact: Sequence[Sequence[int | Fraction]], source: Source | None = None) -> Ints: ...
    @overload
    def __call__(self, exact: NDArray[Any], source: Source | None = None) -> Any: ...
    def __call__(self, exact: object, source: Source | None = None) -> Any:
        """The number of a candidate for a list of scores; an int64 array of them for rows of scores. Anything else is Invalid."""
        return self._released(exact, chosen(source))

    @abstractmethod
    def _released(self, exact: object, source: Source) -> "int | Ints":
        """The number of the candidate that is chosen, or one for each row of scores."""


def released(place: Ints, scores: NDArray[Any]) -> "int | Ints":
    """An int for a list of scores, an int64 array for rows of them."""
    return int(place[0]) if scores.ndim == 1 else place


def one_list(scores: Scores) -> Scores:
    """These scores, unless they are rows of them."""
    if scores.ndim != 1:
        raise Invalid("exact must be one list of scores")
    return scores


def candidate(output: object, count: int) -> int:
    """The number of a candidate, below `count`; else Invalid."""
    found = whole(output, "output")
    if found >= count:
        raise Invalid(f"output must be below {count}, the number of candidates, got {shown(output)}")
    return found


def _examples() -> list[Example]:
    return [
        Example(Exponential(Fraction(1)), 1, [3, 5, 4, 0], [4, 4, 4, 1]),
        Example(Exponential(Fraction(2), Fraction(3), monotone=True), 3, [7, 0, 2], [10, 0, 4]),
        Example(Exponential(Fraction(1, 2), Fraction(1, 3)), Fraction(1, 3), [Fraction(1, 2), 0], [Fraction(1, 6), 0]),
    ]


@registry.add(_examples)
class Exponential(Selection):
    """Candidate i with probability ∝ e^(ε u_i/2Δ), or e^(ε u_i/Δ) for monotone scores (McSherry and Talwar 2007): ε-DP.

    >>> third = Exponential(1).probability(0, [0, 0, 0])
    >>> round(third, 9), Exponential(1).loss().epsilon()
    (0.333333333, 1.0)
    """

    __slots__ = ()

    def _released(self, exact: object, source: Source) -> "int | Ints":
        scores = scores_of(exact)
        falls = Falls.of(scores, self.rate)
        return released(falls.wheel.spin(source), scores)

    def concentrated(self, sensitivity: Number | None = None) -> events.ZeroConcentrated:
        """The release is ε²/8-zCDP: its loss lies in an interval of length ε (Cesar and Rogers 2021, bounded range).

        Instead of `event`, where all is counted in zCDP; never both.

        >>> Exponential(2).concentrated()
        ZeroConcentrated(rho=Fraction(1, 2))
        """
        return events.ZeroConcentrated(self.cost(sensitivity) ** 2 / 8)

    def probability(self, output: int, exact: Any) -> float:
        """Pr[output], given the scores of all candidates."""
        near = Falls.of(one_list(scores_of(exact)), self.rate).near[0]
        return float(near[candidate(output, near.size)] / near.sum())

    def error(self, confidence: Number = 0.95, candidates: int = 2) -> float:
        """How far below the best score the chosen one is at most, with this confidence, whatever the scores are.

        Worst is one best candidate with all others equal: 1/(1 + (n−1)w) >= confidence for w = e^(−rate·error).
        """
        return worst_gap(confidence, candidates, self.rate)


def worst_gap(confidence: Number, candidates: int, rate: Fraction) -> float:
    """The least t >= 0 with (n − 1) e^(−rate·t) <= (1 − confidence)/confidence."""
    level, others = confidence_level(confidence), whole(candidates, "candidates", least=1) - 1
    if not others:
        return 0.0
    return float_of(Fraction(max(0.0, log(others) + log(level) - log1p(-level))) / rate)


def float_of(x: Fraction) -> float:
    """About x, and infinity where no float is as large."""
    try:
        return float(x)
    except OverflowError:
        return inf


def _flip_examples() -> list[Example]:
    return [
        Example(PermuteAndFlip(Fraction(1)), 1, [3, 5, 4, 0], [4, 4, 4, 1]),
        Example(PermuteAndFlip(Fraction(3), Fraction(2), monotone=True), 2, [6, 6, 1], [8, 6, 2]),
    ]


@registry.add(_flip_examples)
class PermuteAndFlip(Selection):
    """The first candidate, in random order, whose coin e^(−ε(best − u_i)/2Δ) shows heads; without the 2 for monotone scores.

    ε-DP, and in expectation nowhere a worse choice than the exponential mechanism (McKenna and Sheldon 2020). All coins are
    tossed, and one of the heads is chosen uniformly: in a random order each of them is equally likely to be the first. Its loss may
    fill all of (−ε, ε), so it has no bounded range, and no `concentrated`.
    """

    __slots__ = ()

    def _released(self, exact: object, source: Source) -> "int | Ints":
        scores = scores_of(exact)
        heads = _tosses(Falls.of(scores, self.rate), source)
        return released(among(heads, source), scores)

    def probability(self, output: int, exact: Any) -> float:
        """Pr[output], given the scores of all candidates: w_i ∫ Π(1 − w_j s) ds over s in (0, 1), over all j but i.

        That is the mean of 1/(1 + other heads). The integral is taken piece by piece, each twice as long as the one before.
        """
        near = Falls.of(one_list(scores_of(exact)), self.rate).near[0]
        at = candidate(output, near.size)
        return float(near[at]) * _mean_share(np.delete(near, at))

    def error(self, confidence: Number = 0.95, candidates: int = 2) -> float:
        """How far below the best score the chosen one is at most, with this confidence, whatever the scores are.

        Worst is one best candidate with all others equal: it is chosen with probability (1 − (1 − w)^n)/(nw).
        """
        level, n = confidence_level(confidence), whole(candidates, "candidates", least=1)
        low, high = 0.0, worst_gap(confidence, n, Fraction(1))  # permute-and-flip is nowhere worse
        for _ in range(100):
            middle = (low + high) / 2
            low, high = (low, middle) if _best_of(n, middle) >= level else (middle, high)
        return float_of(Fraction(high) / self.rate)


def _tosses(falls: Falls, source: Source) -> Flags:
    """Heads with probability exactly e^-x each; the few that 53 binary digits cannot tell are decided by integers."""
    word = words(source, falls.near.size).reshape(falls.near.shape)
    over = word * 2.0**-64 - falls.near
    heads: Flags = over < 0
    for row, at in np.argwhere(np.abs(over) < COIN_BAND):
        heads[row, at] = decide(exp_bounds(falls.exponent(int(row), int(at))), source, int(word[row, at]), 64)
    return heads


def _mean_share(others: Floats) -> float:
    points, weights = legendre(24)
    start, width, total = 0.0, 1 / (1 + float(others.sum())), 0.0
    while start < 1:
        width = min(width, 1 - start)
        s = start + width * points
        total += width * float(weights @ np.prod(1 - others[None, :] * s[:, None], axis=1))
        start, width = start + width, max(start + width, width)
    return total


def _best_of(n: int, x: float) -> float:
    """(1 − (1 − w)^n)/(nw), w = e^-x: how often the best of n is chosen, where all others fall short of it by x."""
    w = exp(-x)
    if w == 0:
        return 1.0
    return -expm1(n * log1p(-w)) / (n * w) if w < 1 else 1 / n
