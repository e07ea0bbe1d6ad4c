"""Tables and domains for the laws of weights: small ones, of which there are all, and one with structure."""

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement, product

import numpy as np

from discreet.cells import Categorical, Ints
from discreet.privacy import Adjacency, Relation, Unit
from discreet.weights.domain import Domain

ADDED = Relation(Adjacency.ADD_REMOVE, Unit.ROW)
REPLACED = Relation(Adjacency.REPLACE, Unit.ROW)
RELATIONS = (ADDED, REPLACED)
Row = tuple[int, ...]
Rows = tuple[Row, ...]


def domain(shape: Sequence[int]) -> Domain:
    """Attributes of these numbers of cells."""
    return Domain(
        tuple(Categorical(f"a{i}", tuple(range(size)), other=False, missing=False) for i, size in enumerate(shape))
    )


def codes(rows: Rows, shape: Sequence[int]) -> Ints:
    return np.array(rows, np.int64).reshape(len(rows), len(shape))


def dense(rows: Rows, shape: Sequence[int]) -> Ints:
    """The counts of all cells."""
    cells = np.zeros(tuple(shape), np.int64)
    for row in rows:
        cells[row] += 1
    return cells


def neighbours(shape: Sequence[int], relation: Relation, most: int) -> Iterator[tuple[Rows, Rows]]:
    """All tables of up to `most` rows with all of their neighbours, each pair once."""
    cells = list(product(*map(range, shape)))
    for count in range(most + 1):
        for rows in combinations_with_replacement(cells, count):
            if relation is ADDED:
                yield from ((rows, (*rows, cell)) for cell in cells)
            else:
                yield from (
                    (rows, (*rows[:i], cell, *rows[i + 1 :])) for i in range(count) for cell in cells if rows[i] < cell
                )


def chain(rows: int, attributes: int, seed: int) -> Ints:
    """Binary attributes, each of which is mostly as the one before."""
    random = np.random.default_rng(seed)
    out = np.zeros((rows, attributes), np.int64)
    out[:, 0] = random.random(rows) < 0.4
    for i in range(1, attributes):
        same = random.random(rows) < 0.85
        out[:, i] = np.where(same, out[:, i - 1], random.integers(2, size=rows))
    return out
