"""Some of the losses of a composition of different mechanisms, put together: exactly, or on a grid from above."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, expm1

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.exact import to_float_up
from discreet.privacy.theorems.equal import Equal

Reals = NDArray[np.float64]

MAX_MIXED = 4000
"""The most mechanisms in a composition of different ones that has to go to the grid."""


@dataclass(frozen=True, slots=True)
class Part:
    """Some of the losses, composed: the values of their sum in ascending order, and the probability of each."""

    loss: Reals
    mass: Reals


def exact_part(half: Sequence[tuple[Fraction, int]], gap: Fraction) -> Part:
    """All sums of the losses that are at most −gap below the highest; n equal ones have n + 1 levels."""
    loss, mass = np.zeros(1), np.ones(1)
    for epsilon, n in half:
        levels = np.array([float((2 * j - n) * epsilon) for j in range(n + 1)])
        loss = (loss[:, None] + levels[None, :]).ravel()
        mass = (mass[:, None] * _binomial(epsilon, n)[None, :]).ravel()
    order = np.argsort(loss)
    loss, mass = loss[order], mass[order]
    keep = loss >= loss[-1] + float(gap) - 1e-6  # more than floats may be wrong by
    return Part(loss[keep], mass[keep])


def _binomial(epsilon: Fraction, n: int) -> Reals:
    """The probabilities of j times +epsilon in n."""
    equal = Equal(epsilon, n, 1200)
    out = np.zeros(n + 1)
    out[equal.least : equal.least + len(equal.weights)] = [weight / equal.total for weight in equal.weights]
    return out


def grid_parts(halves: Sequence[list[tuple[Fraction, int]]], width: Fraction, size: int) -> Iterator[Part]:
    """Both halves on one grid of `size` points, for sums that are at most `width` below the highest."""
    lists = [[epsilon for epsilon, n in half for _ in range(n)] for half in halves]
    count = sum(map(len, lists))
    if count > MAX_MIXED:
        raise Invalid(f"at most {MAX_MIXED:,} mechanisms of many different epsilons can be composed, got {count:,}")
    # Rounded up, the highest sum is at most `count` steps higher, and that is part of the width. A step finer than floats tells nothing.
    finest = sum((epsilon for half in lists for epsilon in half), Fraction(0)) / 2**60
    step = Fraction(to_float_up(max(finest, width / (size - count - 2))))
    return (_grid_part(epsilons, step, size) for epsilons in lists)


def _grid_part(epsilons: Sequence[Fraction], step: Fraction, size: int) -> Part:
    """The sum of the losses ±epsilon_i on multiples of `step`: its `size` highest values."""
    mass, new = np.zeros(size), np.zeros(size)
    mass[0] = 1.0  # indexed by the distance from the highest sum
    top, used = 0, 1
    for epsilon in epsilons:
        n = int(epsilon // step)
        top, used = top + n + 1, min(size, used + 2 * n + 2)
        for start in range(0, used, BLOCK):
            _spread(mass, new, _shares(epsilon, n, step), start, min(used, start + BLOCK))
        mass, new = new, mass
    loss: Reals = (top - np.arange(size, dtype=np.float64)) * float(step)
    return Part(loss[::-1].copy(), mass[::-1].copy())


BLOCK = 1 << 15
"""Values that are worked on together, so that they stay in the cache: four times faster than all at once."""


def _spread(mass: Reals, new: Reals, shares: Sequence[tuple[int, float]], start: int, stop: int) -> None:
    """new[i] = Σ share · mass[i − distance], for start <= i < stop."""
    new[start:stop] = 0.0
    for distance, share in shares:
        first = max(start, distance)
        if first < stop:
            new[first:stop] += share * mass[first - distance : stop - distance]


def _shares(epsilon: Fraction, n: int, step: Fraction) -> list[tuple[int, float]]:
    """How ±epsilon is split over (n+1), n, −n and −(n+1) steps: distance from n+1, and probability.

    A value v of mass p between g and g + step gives p (1 − e^(g−v))/(1 − e^-step) to the upper one: then p and p e^-v are both kept.
    """
    rest, gap = float(epsilon - n * step), float((n + 1) * step - epsilon)
    fall = exp(-float(epsilon))
    unit = -expm1(-float(step)) * (1 + fall)
    low, high = -expm1(-rest) / unit, -expm1(-gap) / unit
    return [
        (0, low),
        (1, high * exp(-rest)),
        (2 * n + 1, high * fall),
        (2 * n + 2, low * exp(-gap) * fall),
    ]
