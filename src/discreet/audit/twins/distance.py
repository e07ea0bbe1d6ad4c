"""How far the inputs of a mechanism may be apart on neighbours: a rule for each kind, in the norm that its price is made for.

A kind of your own takes a rule of its own: `too_far.register(MyMechanism, rule)`.
"""

from fractions import Fraction
from functools import singledispatch
from math import ceil
from typing import Any

import numpy as np

from discreet.exact import sqrt_up
from discreet.mechanisms.above_threshold import AboveThreshold
from discreet.mechanisms.additive import GridNoise, IntegerNoise, steps_up
from discreet.mechanisms.base import Mechanism
from discreet.mechanisms.bernoulli_mean import OnBits
from discreet.mechanisms.gaussian import DiscreteGaussian, Gaussian
from discreet.mechanisms.keys import KeysByName, NamedKeys, OptimalKeys, Threshold
from discreet.mechanisms.most_frequent import MostFrequent
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.quantile import Ranked
from discreet.mechanisms.quantile_ends import Exchange, QuantileEnds
from discreet.mechanisms.randomized_response import Response
from discreet.mechanisms.selection import Selection
from discreet.mechanisms.sensitivity import Norm
from discreet.mechanisms.unsafe import NameAndShame, RandomRow

NEAR = ""
"""What is said of inputs that differ by no more than is charged for."""


@singledispatch
def too_far(mechanism: Mechanism, sensitivity: Fraction | None, first: Any, second: Any) -> str:
    """In words, how two exact inputs of one shape differ by more than a mechanism is charged for; "" where they do not.

    For a kind of mechanism without a rule it says that there is none: what is not known is not passed over.
    """
    return f"how far its exact values may differ is not known: register a rule for {type(mechanism).__name__}"


@too_far.register
def integers_too_far(mechanism: IntegerNoise, sensitivity: Fraction | None, first: Any, second: Any) -> str:
    """Totals, in L1 or in L2; a sensitivity of integers that is none is charged for rounded up."""
    moves, allowed = _moves(first, second), _said(sensitivity)
    if mechanism.norm is Norm.L1:
        return _beyond_l1(moves, Fraction(ceil(allowed)))
    if mechanism.norm is None and not isinstance(mechanism, DiscreteGaussian) and np.ndim(first):
        return "its noise is made for single integers, and it is given several"
    return _beyond_l2(moves, allowed)


@too_far.register
def reals_too_far(mechanism: GridNoise, sensitivity: Fraction | None, first: Any, second: Any) -> str:
    """Reals as they lie on the grid, where its rounding may add a step in each coordinate, which is charged for."""
    allowed, grid, size = _said(sensitivity), mechanism.grid, max(1, np.size(first))
    moves = [Fraction(grid.index(b) - grid.index(a)) for a, b in _changed(first, second)]
    shown = f"{float(allowed):.6g} and the rounding to its grid"
    if isinstance(mechanism, Gaussian) and size > 1:
        most = allowed / grid.step + sqrt_up(Fraction(size)) if allowed else Fraction(0)
        far = sum(move**2 for move in moves) > most**2
        return _apart(f"{float(_length(moves) * grid.step):.6g} in L2", shown) if far else NEAR
    total = _total(moves)
    far = total > steps_up(allowed, grid, size)
    return _apart(f"{float(total * grid.step):.6g} in L1", shown) if far else NEAR


@too_far.register
def scores_too_far(mechanism: Selection, sensitivity: Fraction | None, first: Any, second: Any) -> str:
    """Scores, each by itself; of rows, whose choices are charged for once, the largest move of each row, added up."""
    declared = mechanism.sensitivity if sensitivity is None else sensitivity
    allowed = Fraction(ceil(declared)) if isinstance(mechanism, NoisyMax) else declared
    rows = [_moves(a, b) for a, b in zip(_rows(first), _rows(second), strict=True)]
    if mechanism.monotone and any(map(_both_ways, rows)):
        return "its scores move in both directions, and the choice is made for monotone ones"
    far = _total([_largest(row) for row in rows])
    what = f"a score differs by {far}" if len(rows) == 1 else f"the scores of its rows differ by {far} together"
    return f"{what}, and the choice is made for {allowed}" if far > allowed else NEAR


@too_far.register
def answers_above_too_far(mechanism: AboveThreshold, sensitivity: Fraction | None, first: Any, second: Any) -> str:
    """Scores of a stream of questions, each by itself."""
    allowed = ceil(mechanism.sensitivity if sensitivity is None else sensitivity)
    moves = _moves(first, second)
    if mechanism.monotone and _both_ways(moves):
        return "its scores move in both directions, and the threshold is made for monotone ones"
    far = _largest(moves)
    return f"a score differs by {far}, and the threshold is made for {allowed}" if far > allowed else NEAR


@too_far.register
def rows_too_far(mechanism: Ranked, sensitivity: Fraction | None, first: Any, second: Any) -> str:
    """Counts of rows by cell: a unit has so many rows, in any cells."""
    allowed = Fraction(mechanism.rows) if sensitivity is None else sensitivity
    far = _total(_moves(first, second))
    return f"{far} rows differ, and its quantiles are made for {allowed} of a unit" if far > allowed else NEAR


@too_far.register
def shares_too_far(mechanism: QuantileEnds, sensitivity: Fraction | None, first: Any, second: Any) -> str:
    """Rows by group and cell: a unit has so many in all; where it is replaced as many leave as come."""
    allowed = Fraction(mechanism.rows) if sensitivity is None else sensitivity
    far = _exchanged(first, second, mechanism.exchange is not Exchange.NONE)
    return f"{far} rows differ, and its ends are made for {allowed} of a unit" if far > allowed else NEAR


@too_far.register
def frequencies_too_far(mechanism: MostFrequent, sensitivity: Fraction | None, first: Any, second: Any) -> str:
    """Rows by group and value, as for quantiles."""
    allowed = Fraction(mechanism.rows) if sensitivity is None else sensitivity
    far = _exchanged(first, second, mechanism.replaced)
    if not mechanism.replaced and _both_ways(_moves(first, second)):
        return "its counts move in both directions, and the choice is made for units that are added or removed"
    return f"{far} rows differ, and its choice is made for {allowed} of a unit" if far > allowed else NEAR


def _exchanged(first: Any, second: Any, replaced: bool) -> Fraction:
    """How many rows a unit has that comes or goes; where it is replaced, whichever has more, the one that goes or the one that comes."""
    moves = _moves(first, second)
    gone, come = (_total([each for each in moves if each * sign > 0]) for sign in (-1, 1))
    return max(gone, come) if replaced else gone + come


@too_far.register(Threshold)
@too_far.register(OptimalKeys)
def keys_too_far(
    mechanism: Threshold | OptimalKeys | NamedKeys, sensitivity: Fraction | None, first: Any, second: Any
) -> str:
    """Counts of people by key: a person is in at most so many groups, and counts once in each."""
    moves, allowed = _moves(first, second), _said(sensitivity)
    if _largest(moves) > allowed:
        return f"a count of people differs by {_largest(moves)}, and keys are selected for {allowed}"
    far = len(moves)
    return f"the counts of {far} keys differ, and a person is in {mechanism.groups}" if far > mechanism.groups else NEAR


@too_far.register
def named_keys_too_far(mechanism: NamedKeys, sensitivity: Fraction | None, first: Any, second: Any) -> str:
    """Counts of people by name of a key."""
    return keys_too_far(mechanism, sensitivity, *_by_name(first, second))


@too_far.register
def names_too_far(mechanism: KeysByName, sensitivity: Fraction | None, first: Any, second: Any) -> str:
    """Counts of people by name, of which a rule for keys keeps some."""
    return keys_too_far(mechanism.rule, sensitivity, *_by_name(first, second))


def _by_name(first: Any, second: Any) -> tuple[list[int], list[int]]:
    """Both counts in the order of all names: a name that is on one side only has nobody on the other."""
    names = sorted({*first, *second})
    return [first.get(name, 0) for name in names], [second.get(name, 0) for name in names]


@too_far.register
def responses_too_far(mechanism: Response, sensitivity: Fraction | None, first: Any, second: Any) -> str:
    """Answers: a unit gives so many, and each may become any other."""
    allowed, far = ceil(_said(sensitivity)), len(_moves(first, second))
    return f"{far} answers differ, and a unit gives {allowed}" if far > allowed else NEAR


@too_far.register
def ones_too_far(mechanism: OnBits, sensitivity: Fraction | None, first: Any, second: Any) -> str:
    """The number of ones, which is given as it is or as bits."""
    return _beyond_l1([Fraction(int(np.sum(second)) - int(np.sum(first)))], Fraction(ceil(_said(sensitivity))))


@too_far.register(NameAndShame)
@too_far.register(RandomRow)
def shown_rows_too_far(
    mechanism: NameAndShame | RandomRow, sensitivity: Fraction | None, first: Any, second: Any
) -> str:
    """Rows that may be shown as they are: so many of them may be replaced."""
    allowed = ceil(_said(sensitivity))
    far = sum(not bool(np.all(a == b)) for a, b in zip(first, second, strict=True))
    return f"{far} rows differ, and {allowed} may be replaced" if far > allowed else NEAR


def _said(sensitivity: Fraction | None) -> Fraction:
    return Fraction(1) if sensitivity is None else sensitivity


def _changed(first: Any, second: Any) -> list[tuple[Any, Any]]:
    a, b = np.ravel(np.asarray(first)), np.ravel(np.asarray(second))
    return [(_plain(a[at]), _plain(b[at])) for at in np.flatnonzero(a != b)]


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _moves(first: Any, second: Any) -> list[Fraction]:
    """By how much each coordinate moves, of those that do."""
    return [Fraction(b) - Fraction(a) for a, b in _changed(first, second)]


def _rows(scores: Any) -> list[Any]:
    return list(scores) if np.ndim(scores) == 2 else [scores]


def _total(moves: list[Fraction]) -> Fraction:
    return sum(map(abs, moves), Fraction(0))


def _largest(moves: list[Fraction]) -> Fraction:
    return max(map(abs, moves), default=Fraction(0))


def _length(moves: list[Fraction]) -> Fraction:
    return sqrt_up(sum((move**2 for move in moves), Fraction(0)))


def _both_ways(moves: list[Fraction]) -> bool:
    return any(move > 0 for move in moves) and any(move < 0 for move in moves)


def _beyond_l1(moves: list[Fraction], allowed: Fraction) -> str:
    far = _total(moves)
    return _apart(f"{far} in L1", allowed) if far > allowed else NEAR


def _beyond_l2(moves: list[Fraction], allowed: Fraction) -> str:
    squared = sum((move**2 for move in moves), Fraction(0))
    return _apart(f"√{squared} in L2", allowed) if squared > allowed**2 else NEAR


def _apart(far: str, allowed: object) -> str:
    return f"its exact values differ by {far}, and it is made for {allowed}"
