"""The exact laws of our own mechanisms, each from its parameters and by its textbook formula, in rationals and in brackets of them.

What a mechanism says of itself (`probability`, in floats) is not used: these laws are what it is held to. Noise that may be any integer has
a `Window` of values that are listed; all below it are one outcome, and all above it another.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, singledispatch
from itertools import product as combinations
from math import ceil
from typing import Any, TypeAlias

import numpy as np

from discreet.audit.law import NEVER, ONE, SURE, ZERO, Bracket, Law
from discreet.audit.tails import tail, threshold_tail
from discreet.audit.tree import outcome_of
from discreet.errors import Invalid
from discreet.exact import exp_neg_bounds, shift_up, shown
from discreet.mechanisms.above_threshold import AboveThreshold
from discreet.mechanisms.additive import IntegerNoise
from discreet.mechanisms.base import Mechanism
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.keys import LaplaceThreshold, OptimalKeys, Threshold
from discreet.mechanisms.most_frequent import MostFrequent
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.permute_and_flip import PermuteAndFlip
from discreet.mechanisms.quantile import Quantiles, Slice, _cut
from discreet.mechanisms.randomized_response import RandomizedResponse, Response
from discreet.mechanisms.selection import Selection
from discreet.mechanisms.unsafe import NameAndShame, RandomRow
from discreet.noise.bernoulli import Odds

MOST_OUTCOMES = 1 << 16
BITS = 160
UNIT = 1 << BITS
MOST_REACH = 1 << 12
REACH = 80  # scales of noise that are added up one by one: e^-80 < 2^-115


@dataclass(frozen=True, slots=True)
class Beyond:
    """All values of noise on one side of a window."""

    above: bool

    def __repr__(self) -> str:
        return "above the window" if self.above else "below the window"


BELOW, ABOVE = Beyond(False), Beyond(True)


@dataclass(frozen=True, slots=True)
class Window:
    """The integers from `first` to `last`."""

    first: int
    last: int

    @classmethod
    def around(cls, values: Sequence[int], reach: int) -> "Window":
        """All integers within this reach of any of the values."""
        return cls(min(values) - reach, max(values) + reach)


@singledispatch
def law_of(mechanism: Mechanism, exact: Any) -> Law:
    """The law of what a mechanism with finitely many outputs releases of an exact value; Invalid for any other one."""
    raise Invalid(
        f"{type(mechanism).__name__} has no finite law that is known here",
        hint="give its law as a function of the data, or bound its loss by sampling",
    )


def _few(count: int) -> None:
    if count > MOST_OUTCOMES:
        raise Invalid(f"there are more than {MOST_OUTCOMES} outputs", hint="use fewer rows, answers or candidates")


# Responses, and what must not be used.


@law_of.register
def _response(mechanism: Response, exact: Any) -> Law:
    """Each answer by itself: kept, or one of the others."""
    codes, chances = mechanism._codes(exact), mechanism._chances
    several = outcome_of(codes)
    answers: tuple[Any, ...] = several if isinstance(several, tuple) else (several,)
    _few(chances.k ** len(answers))
    keep = odds(chances.keep)
    other = Bracket((1 - keep.high) / (chances.k - 1), (1 - keep.low) / (chances.k - 1))
    found = {}
    for output in combinations(range(chances.k), repeat=len(answers)):
        chance = SURE
        for told, true in zip(output, answers, strict=True):
            chance *= keep if told == true else other
        found[output if isinstance(several, tuple) else output[0]] = chance
    return Law(found)


def odds(keep: Fraction | Odds) -> Bracket:
    """The probability that an answer is kept."""
    if isinstance(keep, Fraction):
        return Bracket(keep, keep)
    low, high = keep.bounds(BITS)
    return Bracket(Fraction(low, UNIT), Fraction(high, UNIT))


@law_of.register
def _random_row(mechanism: RandomRow, exact: Any) -> Law:
    rows = [outcome_of(row) for row in exact]
    if len(rows) != mechanism.rows:
        raise Invalid("exact must hold as many rows as are declared")
    return Law.of({row: Fraction(rows.count(row), len(rows)) for row in rows})


@law_of.register
def _name_and_shame(mechanism: NameAndShame, exact: Any) -> Law:
    """The rows that are shown, in their order: every subset by its probability."""
    rows = [outcome_of(row) for row in exact]
    _few(1 << len(rows))
    found: dict[Hashable, Fraction] = {}
    for shown_ in combinations((False, True), repeat=len(rows)):
        output = tuple(row for row, told in zip(rows, shown_, strict=True) if told)
        chance = mechanism.delta ** len(output) * (1 - mechanism.delta) ** (len(rows) - len(output))
        found[output] = found.get(output, ZERO) + chance
    return Law.of(found)


# Choices by scores. Weights e^(−rate·gap) as brackets; a larger weight makes its own candidate likelier, and all others less.


def _weights(mechanism: Selection, exact: Any) -> list[Bracket]:
    scores = [Fraction(each) for each in (exact.tolist() if isinstance(exact, np.ndarray) else exact)]
    best = max(scores)
    return [_exp(mechanism.rate * (best - score)) for score in scores]


def _exp(x: Fraction) -> Bracket:
    """A bracket of e^-x."""
    low, high = exp_neg_bounds(x, BITS)
    return Bracket(Fraction(low, UNIT), Fraction(high, UNIT))


@law_of.register
def _exponential(mechanism: Exponential, exact: Any) -> Law:
    return Law(dict(enumerate(_shares(_weights(mechanism, exact)))))


def _shares(weights: list[Bracket]) -> list[Bracket]:
    """Each weight over the sum of all."""
    low, high = (sum((getattr(each, end) for each in weights), ZERO) for end in ("low", "high"))
    return [
        Bracket(each.low / (each.low + high - each.high), each.high / (each.high + low - each.low)).short()
        for each in weights
    ]


@law_of.register
def _permute_and_flip(mechanism: PermuteAndFlip, exact: Any) -> Law:
    """w_i times the mean of 1/(1 + heads among the others)."""
    weights = _weights(mechanism, exact)
    found: dict[Hashable, Bracket] = {}
    for i, own in enumerate(weights):
        others = [each for j, each in enumerate(weights) if j != i]
        low = own.low * _mean_share([each.high for each in others])
        high = own.high * _mean_share([each.low for each in others])
        found[i] = Bracket(low, high).short()
    return Law(found)


@law_of.register
def _most_frequent(mechanism: MostFrequent, exact: Any) -> Law:
    """A choice in each group, by itself."""
    counts = mechanism.counts(exact)
    _few(mechanism.values ** len(counts))
    found: dict[tuple[int, ...], Bracket] = {(): SURE}
    for row in counts.tolist():
        law = law_of(mechanism.choice, row)
        found = {
            (*before, place): (chance * law.chances[place]).short()
            for before, chance in found.items()
            for place in range(mechanism.values)
        }
    return Law(dict(found))


def _mean_share(coins: list[Fraction]) -> Fraction:
    """The mean of 1/(1 + heads) of coins with these chances."""
    heads = [ONE]
    for coin in coins:
        stay, more = [each * (1 - coin) for each in heads], [each * coin for each in heads]
        heads = [a + b for a, b in zip([*stay, ZERO], [ZERO, *more], strict=True)]
    return sum((each / (1 + k) for k, each in enumerate(heads)), ZERO)


# Quantiles: a choice of a place, and then of places on both sides of it.


@law_of.register
def _quantiles(mechanism: Quantiles, exact: Any) -> Law:
    counts = tuple(int(each) for each in mechanism._counts(exact))
    _few(mechanism.cells ** len(mechanism.probabilities))
    cells = _cells(mechanism, counts, 0, Slice(mechanism.probabilities, ZERO, ONE))
    return Law({tuple(mechanism._value(cell) for cell in each): chance for each, chance in cells.items()})


@lru_cache(maxsize=4096)
def _cells(mechanism: Quantiles, counts: tuple[int, ...], start: int, wanted: Slice) -> dict[tuple[int, ...], Bracket]:
    """The cells of the wanted quantiles. Places that cut the rows alike have the same law on both sides, and are taken together."""
    if not wanted.probabilities:
        return {(): SURE}
    rows, parts = np.array(counts, np.int64), mechanism.parts if len(wanted.probabilities) > 1 else 1
    gaps, rate = mechanism._middle(rows, wanted, parts)
    least = int(gaps.min())
    cuts: dict[Any, Bracket] = {}
    for place, chance in enumerate(_shares([_exp(rate * (int(gap) - least)) for gap in gaps])):
        cell, part = divmod(place, parts)
        sides = _cut(rows, cell, Fraction(2 * part + 1, 2 * parts))
        cut = (cell, *(tuple(side.tolist()) for side in sides))
        cuts[cut] = cuts.get(cut, NEVER) + chance
    found: dict[tuple[int, ...], Bracket] = {}
    for (cell, left, right), chance in cuts.items():
        below = _cells(mechanism, left, start, wanted.lower)
        above = _cells(mechanism, right, start + cell, wanted.upper)
        for (low, p), (high, q) in combinations(below.items(), above.items()):
            cells = (*low, start + cell, *high)
            found[cells] = found.get(cells, NEVER) + chance * p * q
    return found


# Sums over noise, in integers of BITS binary digits: pairs (low, high).

Fixed = tuple[int, int]


def _times(a: Fixed, b: Fixed) -> Fixed:
    return a[0] * b[0] >> BITS, shift_up(a[1] * b[1], BITS)


def _plus(a: Fixed, b: Fixed) -> Fixed:
    return a[0] + b[0], a[1] + b[1]


@lru_cache(maxsize=16)
def _noise(scale: Fraction) -> tuple[list[Fixed], list[Fixed]]:
    """Pr[noise = z] and Pr[noise >= z], for z >= 0 up to the reach, of discrete Laplace noise: α^z (1 − α)/(1 + α), α^z/(1 + α)."""
    reach = ceil(REACH * scale) + 2
    if reach > MOST_REACH:
        raise Invalid(f"scale must be at most {MOST_REACH // REACH} to add up all noise, got {shown(scale)}")
    alpha = _exp(1 / scale)
    here, beyond = [], []
    for z in range(reach + 2):
        power = _exp(z / scale)
        low, high = power.low / (1 + alpha.high), power.high / (1 + alpha.low)
        here.append((int(low * (1 - alpha.high) * UNIT), ceil(high * (1 - alpha.low) * UNIT)))
        beyond.append((int(low * UNIT), ceil(high * UNIT)))
    beyond[0] = (UNIT - beyond[1][1], UNIT - beyond[1][0])
    return here, beyond


def _exactly(z: int, scale: Fraction) -> Fixed:
    here = _noise(scale)[0]
    return here[abs(z)] if abs(z) < len(here) else (0, here[-1][1])


def _at_least(z: int, scale: Fraction) -> Fixed:
    beyond = _noise(scale)[1]
    if z < 0:
        low, high = _at_least(1 - z, scale)
        return UNIT - high, UNIT - low
    return beyond[z] if z < len(beyond) else (0, beyond[-1][1])


def _bracket(fixed: Fixed) -> Bracket:
    return Bracket(Fraction(max(0, fixed[0]), UNIT), Fraction(min(UNIT, fixed[1]), UNIT))


@law_of.register
def _noisy_max(mechanism: NoisyMax, exact: Any) -> Law:
    return _largest(mechanism.scale, tuple(int(each) for each in exact))


@lru_cache(maxsize=1024)
def _largest(scale: Fraction, scores: tuple[int, ...]) -> Law:
    """Over all values of a candidate's own noisy score: that no other is above it, and its share among those that tie with it."""
    reach = len(_noise(scale)[0]) - 2
    found: dict[Hashable, Bracket] = {}
    for i, own in enumerate(scores):
        total: Fixed = (0, 0)
        for value in range(own - reach, own + reach + 1):
            ties: list[Fixed] = [(UNIT, UNIT)]
            for j, score in enumerate(scores):
                if j == i:
                    continue
                low, high = _at_least(value - score, scale)
                below, here = (UNIT - high, UNIT - low), _exactly(value - score, scale)
                fewer, more = [_times(each, below) for each in ties], [_times(each, here) for each in ties]
                ties = [_plus(a, b) for a, b in zip([*fewer, (0, 0)], [(0, 0), *more], strict=True)]
            share: Fixed = (0, 0)
            for k, (low, high) in enumerate(ties):
                share = _plus(share, (low // (k + 1), -(-high // (k + 1))))
            total = _plus(total, _times(_exactly(value - own, scale), share))
        outside = 2 * _at_least(reach + 1, scale)[1]
        found[i] = _bracket((total[0], total[1] + outside))
    return Law(found)


@law_of.register
def _above_threshold(mechanism: AboveThreshold, exact: Any) -> Law:
    return _answers(mechanism, tuple(int(each) for each in exact))


@lru_cache(maxsize=1024)
def _answers(mechanism: AboveThreshold, scores: tuple[int, ...]) -> Law:
    """Lists of answers, up to the last hit that is allowed: a product over hits of sums over the noise of the threshold."""
    _few(1 << len(scores))
    found: dict[Hashable, Bracket] = {}
    for length in range(1, len(scores) + 1):
        for output in combinations((False, True), repeat=length):
            hits = sum(output)
            ended = hits == mechanism.hits and output[-1]
            if ended or (hits < mechanism.hits and length == len(scores)):
                found[output] = _chance(mechanism, scores, output)
    return Law(found)


def _chance(mechanism: AboveThreshold, scores: tuple[int, ...], output: tuple[bool, ...]) -> Bracket:
    threshold, query = mechanism.threshold_scale, mechanism.query_scale
    reach = len(_noise(threshold)[0]) - 2
    outside = (0, 2 * _at_least(reach + 1, threshold)[1])
    total, start = SURE, 0
    while start < len(output):
        end = output.index(True, start) + 1 if True in output[start:] else len(output)
        chance: Fixed = outside
        for noise in range(-reach, reach + 1):
            each = _exactly(noise, threshold)
            for score, above in zip(scores[start:end], output[start:end], strict=True):
                low, high = _at_least(noise + mechanism.threshold - score, query)
                each = _times(each, (low, high) if above else (UNIT - high, UNIT - low))
            chance = _plus(chance, each)
        total *= _bracket(chance)
        start = end
    return total


# Noise on integers, by its tails.


def noisy(mechanism: IntegerNoise, exact: int, window: Window) -> Law:
    """The law of an integer with noise: each value of the window, and all below and above it as one lump each."""
    _few(window.last - window.first)
    found: dict[Hashable, Bracket] = {}
    upper = tail(mechanism, window.first - exact)
    found[BELOW] = Bracket(1 - upper.high, 1 - upper.low)
    for value in range(window.first, window.last + 1):
        lower = tail(mechanism, value + 1 - exact)
        found[value] = Bracket(max(ZERO, upper.low - lower.high), upper.high - lower.low)
        upper = lower
    found[ABOVE] = upper
    return Law(found, lumps=frozenset({BELOW, ABOVE}))


def geometric_pair(mechanism: Geometric, x: int, y: int, reach: int) -> tuple[Law, Law]:
    """Two laws of geometric noise, where no lump hides anything.

    Outside of a window that holds both exact values every single output has the ratio α^(|z − x| − |z − y|), which is the same for
    all of one side: the lump is no coarser than its outputs, and counts as an outcome of its own.
    """
    window = Window.around([x, y], reach)
    first, second = (noisy(mechanism, value, window) for value in (x, y))
    return Law(first.chances), Law(second.chances)


# Keys: for each of them its noisy count, or None where it is not kept.

Rule: TypeAlias = Threshold | OptimalKeys


def keys(rule: Rule, counts: Sequence[int], last: int) -> Law:
    """The law of the keys that are kept, with their noisy counts up to `last`; all larger ones are one value.

    An outcome has an entry for each key: its noisy count, `ABOVE`, or None. Those with an `ABOVE` are lumps.
    """
    law = Law({(): SURE})
    for count in counts:
        each = _key(rule, int(count), last)
        _few(len(law.chances) * len(each))
        law = Law(
            {
                (*before, value): chance * more
                for before, chance in law.chances.items()
                for value, more in each.items()
                if more.high
            }
        )
    return Law(law.chances, lumps=frozenset(outcome for outcome in law.chances if ABOVE in outcome))


@singledispatch
def _key(rule: Rule, count: int, last: int) -> dict[Hashable, Bracket]:
    raise Invalid(f"{type(rule).__name__} is no rule for keys that is known here")


@_key.register
def _noisy_key(rule: Threshold, count: int, last: int) -> dict[Hashable, Bracket]:
    """Pr[Z >= z] is how often a threshold of z keeps a count of 1."""
    if not count:
        return {None: SURE}
    upper = Bracket(*rule.keeps(count))
    found: dict[Hashable, Bracket] = {None: Bracket(1 - upper.high, 1 - upper.low)}
    for value in range(rule.threshold + 1, last + 1):
        lower = threshold_tail(type(rule), rule.scale, value + 1 - count)
        found[value] = Bracket(max(ZERO, upper.low - lower.high), upper.high - lower.low)
        upper = lower
    return found | {ABOVE: upper}


@_key.register
def _optimal_key(rule: OptimalKeys, count: int, last: int) -> dict[Hashable, Bracket]:
    """The noise is τ − J, and Pr[J < n] is how often a count of n is kept: so a count of n becomes n + τ − j for a j below n."""
    keeps = [Bracket(*rule.keeps(n)) for n in range(count + 1)]
    found: dict[Hashable, Bracket] = {None: Bracket(1 - keeps[count].high, 1 - keeps[count].low)}
    for j in range(count):
        low, high = keeps[j + 1].low - keeps[j].high, keeps[j + 1].high - keeps[j].low
        found[count + rule.threshold - j] = Bracket(max(ZERO, low), high)
    return found


def keys_pair(rule: Rule, x: Sequence[int], y: Sequence[int], reach: int) -> tuple[Law, Law]:
    """The laws for two lists of counts, up to the same noisy count.

    Beyond all counts the ratio of geometric noise is the same for all noisy counts, and a lump is no coarser than its outputs.
    """
    last = max([*x, *y, rule.threshold]) + reach
    first, second = keys(rule, x, last), keys(rule, y, last)
    return (Law(first.chances), Law(second.chances)) if isinstance(rule, LaplaceThreshold) else (first, second)


def answers_of(mechanism: Mechanism) -> list[int] | None:
    """All exact answers that one person may give, where they are known: any two are neighbours."""
    if isinstance(mechanism, Response):
        codes = range(mechanism._chances.k)
        _few(len(codes))
        return list(codes) if isinstance(mechanism, RandomizedResponse) or _takes_zero(mechanism) else [-1, 1]
    return None


def _takes_zero(mechanism: Response) -> bool:
    try:
        mechanism._codes(0)
    except Invalid:
        return False
    return True


__all__ = [
    "Beyond",
    "Rule",
    "Window",
    "answers_of",
    "geometric_pair",
    "keys",
    "keys_pair",
    "law_of",
    "noisy",
    "odds",
    "tail",
]
