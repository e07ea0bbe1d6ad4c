"""Made-up tables of ten mixed attributes: people as a census has them, mixtures, trees, and attributes that are strangers."""

from collections.abc import Callable
from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

SIZES = (2, 2, 5, 6, 7, 8, 9, 15, 16, 20)
ROWS = 48_842
TRIPLES = tuple(combinations(range(len(SIZES)), 3))

Codes = NDArray[np.int64]
Counts = NDArray[np.float64]


def census(seed: int) -> Codes:
    """Continuous traits that nobody sees, and attributes that follow from them and from one another, cut into cells of uneven sizes."""
    rng = np.random.default_rng(seed)
    traits = rng.standard_normal((ROWS, 4))
    codes = np.empty((ROWS, len(SIZES)), np.int64)
    order = rng.permutation(len(SIZES))
    for place, axis in enumerate(order):
        loads = rng.standard_normal(4) * (rng.random(4) < 0.6)
        length = float(np.linalg.norm(loads))
        strength = rng.uniform(0.3, 0.9)
        value = strength * (traits @ loads) / (length or 1.0)
        if place and rng.random() < 0.7:
            for parent in rng.choice(order[:place], size=min(place, int(rng.integers(1, 3))), replace=False):
                value = value + rng.uniform(0.3, 1.0) * rng.standard_normal(SIZES[parent])[codes[:, parent]]
        value = value + np.sqrt(1 - strength**2) * rng.standard_normal(ROWS)
        shares = rng.dirichlet(np.ones(SIZES[axis])) + 0.02 / SIZES[axis]
        cells = np.searchsorted(np.quantile(value, np.cumsum(shares / shares.sum())[:-1]), value)
        codes[:, axis] = rng.permutation(SIZES[axis])[cells] if rng.random() < 0.5 else cells
    return codes


def mixture(seed: int) -> Codes:
    """Eight kinds of people, and attributes that depend on the kind alone: every attribute tells of every other."""
    rng = np.random.default_rng(1000 + seed)
    kind = rng.choice(8, p=rng.dirichlet(np.ones(8)), size=ROWS)
    return np.stack([_given(rng, kind, rng.dirichlet(np.full(size, 0.7), size=8)) for size in SIZES], axis=1)


def tree(seed: int) -> Codes:
    """Each attribute depends on one before it: what a tree of pairs can say exactly."""
    rng = np.random.default_rng(3000 + seed)
    codes = np.empty((ROWS, len(SIZES)), np.int64)
    order = rng.permutation(len(SIZES))
    for place, axis in enumerate(order):
        parent = order[rng.integers(0, place)] if place else axis
        given = codes[:, parent] if place else np.zeros(ROWS, np.int64)
        codes[:, axis] = _given(rng, given, rng.dirichlet(np.full(SIZES[axis], 0.5), size=SIZES[parent]))
    return codes


def strangers(seed: int) -> Codes:
    """Attributes that have nothing to do with one another."""
    rng = np.random.default_rng(2000 + seed)
    return np.stack([rng.choice(size, p=rng.dirichlet(np.ones(size)), size=ROWS) for size in SIZES], axis=1)


def _given(rng: np.random.Generator, known: Codes, shares: Counts) -> Codes:
    upto = shares.cumsum(axis=1)
    found = (rng.random(known.size)[:, None] > upto[known]).sum(axis=1)
    return np.minimum(found, shares.shape[1] - 1).astype(np.int64)


KINDS: dict[str, Callable[[int], Codes]] = {"census": census, "mixture": mixture, "tree": tree, "strangers": strangers}


def marginal(codes: Codes, axes: tuple[int, ...]) -> Counts:
    """The exact counts by some attributes."""
    shape = [SIZES[axis] for axis in axes]
    flat = np.ravel_multi_index(tuple(codes[:, axis] for axis in axes), shape)
    return np.bincount(flat, minlength=prod(shape)).reshape(shape).astype(float)


def error(codes: Codes, answer: Callable[[tuple[int, ...]], Counts]) -> float:
    """The mean over all three-way marginals of the L1 distance, as a share of all rows."""
    return float(np.mean([np.abs(marginal(codes, axes) - answer(axes)).sum() / len(codes) for axes in TRIPLES]))
