"""Made-up people in cells: seven attributes of a hospital that depend on one another, and a stream of questions about them."""

from collections.abc import Iterator
from math import prod

import numpy as np
import numpy.typing as npt

from discreet.cells import Categorical
from discreet.weights import Domain

Whole = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]

NAMES = ("age", "ward", "diagnosis", "stay", "cost", "insurance", "outcome")
SHAPES = {
    6: (4, 4, 2, 2),
    8: (4, 4, 4, 4),
    12: (4, 4, 4, 4, 4, 2, 2),
    16: (8, 8, 8, 4, 4, 4, 2),
    20: (16, 8, 8, 8, 8, 4, 4),
}
"""Cells of each attribute, by the binary logarithm of all cells."""

HIDDEN = 3  # kinds of people, which no attribute tells
BASE, SLOPE, ROUGH, JOINT = (
    0.5,
    1.5,
    0.5,
    0.4,
)  # how strongly an attribute hangs on the kind, on the one before, and on two together


def domain_of(bits: int) -> Domain:
    return Domain(
        tuple(
            Categorical(name, tuple(range(size)), other=False, missing=False)
            for name, size in zip(NAMES, SHAPES[bits], strict=False)
        )
    )


def people(bits: int, count: int, seed: int) -> Whole:
    """Codes: each attribute hangs on a hidden kind of people, on the attribute before it, and on the one three before, jointly."""
    rng, shape = np.random.default_rng(seed), SHAPES[bits]
    codes, kind = np.zeros((count, len(shape)), np.int64), rng.integers(0, HIDDEN, count)
    for axis, size in enumerate(shape):
        parents = [parent for parent in (axis - 1, axis - 3) if parent >= 0]
        above = prod(shape[parent] for parent in parents)
        place = kind
        for parent in parents:
            place = place * shape[parent] + codes[:, parent]
        cases = np.arange(HIDDEN * above)
        scores = np.log(rng.dirichlet(np.full(size, 2.0))) + rng.normal(0, BASE, (HIDDEN, size))[cases // above]
        if parents:
            first = shape[parents[0]]
            trend = rng.normal(0, SLOPE) * np.outer(np.linspace(-1.5, 1.5, first), np.linspace(-1, 1, size))
            scores += (trend + rng.normal(0, ROUGH, trend.shape))[cases % above // (above // first)]
            scores += rng.normal(0, JOINT, scores.shape)
        chances = np.exp(scores)
        ends = (chances / chances.sum(axis=1, keepdims=True)).cumsum(axis=1)
        codes[:, axis] = np.minimum((rng.random(count)[:, None] > ends[place]).sum(axis=1), size - 1)
    return codes


def tangled(bits: int, count: int, seed: int) -> Whole:
    """People whose last attributes are told by two others together, and by none of them alone: what pairs of attributes cannot see."""
    codes, shape = people(bits, count, seed), SHAPES[bits]
    rng = np.random.default_rng(seed + 1)
    for axis in range(4):
        codes[:, axis] = rng.integers(0, shape[axis], count)
    for axis, (first, second) in {4: (0, 1), 5: (1, 2), 6: (2, 3)}.items():
        codes[:, axis] = (codes[:, first] + codes[:, second]) % shape[axis]
    return codes


def questions(bits: int, count: int, seed: int) -> Iterator[Truths]:
    """Distinct conjunctions of ranges and categories over 2 to 5 attributes."""
    rng, shape = np.random.default_rng(seed), SHAPES[bits]
    known: set[tuple[tuple[int, int, int], ...]] = set()
    while len(known) < count:
        axes = np.sort(rng.choice(len(shape), min(len(shape), rng.integers(2, 6)), replace=False)).tolist()
        asked = tuple((axis, *_range(shape[axis], rng)) for axis in axes)
        if asked not in known:
            known.add(asked)
            yield _cells(shape, asked)


def _range(size: int, rng: np.random.Generator) -> tuple[int, int]:
    """A range of cells of an attribute, or a single one."""
    if size == 2 or rng.random() < 0.5:
        low = int(rng.integers(size))
        return low, low + 1
    low, high = sorted(rng.choice(size + 1, 2, replace=False).tolist())
    return low, high


def _cells(shape: tuple[int, ...], asked: tuple[tuple[int, int, int], ...]) -> Truths:
    mask = np.ones((1,) * len(shape), np.bool_)
    for axis, low, high in asked:
        inside = np.zeros(shape[axis], np.bool_)
        inside[low:high] = True
        mask = mask & inside.reshape([shape[axis] if each == axis else 1 for each in range(len(shape))])
    return mask
