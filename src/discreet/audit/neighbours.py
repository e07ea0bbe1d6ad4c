"""Pairs of neighbours to try a mechanism on: small tables of every shape, and numbers that one person moves by 1."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, TypeAlias

from discreet.errors import Invalid
from discreet.mechanisms.base import Mechanism, registry
from discreet.privacy.adjacency import Adjacency

Pair: TypeAlias = tuple[Any, Any]

# A number that one person moves by at most 1: a count, far from 0 too, where floating-point noise is coarser.
NUMBERS: tuple[Pair, ...] = ((0, 1), (100, 101), (2**30, 2**30 + 1))
# A table of some length beside the smallest ones: a threshold on the number of rows is passed there.
LONGER: dict[Adjacency, Pair] = {
    Adjacency.ADD_REMOVE: ([1] * 20, [1] * 21),
    Adjacency.REPLACE: ([0] * 20, [0] * 19 + [1]),
}


def tables(values: Sequence[Any], most: int, relation: Adjacency = Adjacency.ADD_REMOVE) -> Iterator[Pair]:
    """Every pair of neighbouring tables with at most so many rows of these values, each pair once, as lists.

    Rows are added at the end: what depends on their order is told apart by the tables in which they stand in another one.

    >>> list(tables([0], 2))
    [([], [0]), ([0], [0, 0])]
    >>> list(tables([0, 1], 1, Adjacency.REPLACE))
    [([0], [1])]
    """
    for rows in range(most + (relation is Adjacency.REPLACE)):
        for first in product(values, repeat=rows):
            if relation is Adjacency.ADD_REMOVE:
                yield from ((list(first), [*first, value]) for value in values)
            else:
                yield from _replaced(first, values)


def _replaced(first: tuple[Any, ...], values: Sequence[Any]) -> Iterator[Pair]:
    for place, value in product(range(len(first)), values):
        if values.index(value) > values.index(first[place]):
            yield list(first), [*first[:place], value, *first[place + 1 :]]


def suited(mechanism: Any, relation: Adjacency = Adjacency.ADD_REMOVE) -> list[Pair]:
    """Neighbours for a mechanism of which nothing else is known: numbers if it takes numbers, small tables of 0 and 1 if it takes rows.

    A mechanism of this package has examples of its own. Raises Invalid where neither is taken.
    """
    if isinstance(mechanism, Mechanism):
        examples = registry.examples(type(mechanism).__name__) if type(mechanism).__name__ in registry.names() else []
        own = [(each.x, each.y) for each in examples if each.mechanism == mechanism and each.sensitivity == 1]
        if own:
            return own
    rows = [*tables((0, 1), 2, relation), LONGER[relation]]
    for pairs in (list(NUMBERS), rows):
        if any(_takes(mechanism, each) for pair in pairs for each in pair):
            return pairs
    raise Invalid(
        "neither a number nor a list of 0 and 1 is what this mechanism takes",
        hint="give neighbours=[(x, y), …]: pairs of data sets that differ in one person",
    )


def _takes(mechanism: Any, data: Any) -> bool:
    try:
        mechanism(data)
    except Exception:
        return False
    return True
