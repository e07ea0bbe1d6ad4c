"""Belief propagation: from potentials on the cliques of a junction tree to probabilities, in one pass up and one pass down.

Each clique is kept as what it adds to its parent: the shares of its own attributes, given the separator. These are found on the way up,
each row shifted by its own maximum, so that impossible combinations (potentials of −∞) and vast ratios leave no other row in error; on the
way down they are multiplied by what the parent says of the separator.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from discreet.weights.factors import Axes, Factor, aligned, log_sums, summed
from discreet.weights.junction import JunctionTree
from discreet.weights.model import Floats


@dataclass(frozen=True, slots=True)
class Cliques:
    """The cliques of a tree as arrays have them: axes of the separator first, then a clique's own."""

    tree: JunctionTree
    shape: tuple[int, ...]
    axes: tuple[Axes, ...] = field(init=False)
    shared: tuple[Axes, ...] = field(init=False)

    def __post_init__(self) -> None:
        numbers = range(len(self.tree.cliques))
        shared = tuple(self.tree.separator(number) for number in numbers)
        own = (tuple(axis for axis in self.tree.cliques[i] if axis not in shared[i]) for i in numbers)
        object.__setattr__(self, "shared", shared)
        object.__setattr__(self, "axes", tuple(map(tuple.__add__, shared, own)))

    def lengths(self, axes: Sequence[int]) -> tuple[int, ...]:
        """How many cells each of these attributes has."""
        return tuple(self.shape[axis] for axis in axes)

    def rows(self, number: int) -> int:
        """How many cells the separator of a clique has."""
        return prod(self.lengths(self.shared[number]))

    def empty(self) -> list[Floats]:
        """Potentials that say nothing."""
        return [np.zeros(self.lengths(axes)) for axes in self.axes]

    def home(self, axes: Sequence[int]) -> int:
        """The smallest clique that these axes are all in."""
        homes = (i for i, clique in enumerate(self.axes) if set(axes) <= set(clique))
        return min(homes, key=lambda number: (prod(self.lengths(self.axes[number])), number))


@dataclass(frozen=True, slots=True)
class CliqueShares:
    """A distribution: for each clique the probabilities of its own attributes given its separator, a factor each."""

    cliques: Cliques
    given: tuple[Floats, ...]

    def beliefs(self) -> list[Floats]:
        """The probabilities of all cells of each clique."""
        found: list[Floats] = []
        for number, shares in enumerate(self.given):
            shared = self.cliques.shared[number]
            if not number:
                found.append(shares)
                continue
            parent = self.cliques.tree.parents[number]
            weight = summed(found[parent], self.cliques.axes[parent], shared)
            found.append(shares * aligned(weight, shared, self.cliques.axes[number]))
        return found

    def factor(self, number: int) -> Factor:
        return Factor(self.cliques.axes[number], self.given[number])


def propagated(cliques: Cliques, potentials: Sequence[Floats]) -> tuple[float, CliqueShares]:
    """The distribution whose probabilities are proportional to the product of e^potential over all cliques, and the logarithm of their
    sum before; −∞ where no cell is possible."""
    logs = list(potentials)
    given: list[Floats] = list(potentials)
    log_total = 0.0
    for number in reversed(range(len(logs))):
        rows, shared = cliques.rows(number), cliques.shared[number]
        message, shares = log_sums(logs[number].reshape(rows, -1))
        given[number] = shares.reshape(logs[number].shape)
        if number:
            parent = cliques.tree.parents[number]
            told = aligned(message.reshape(cliques.lengths(shared)), shared, cliques.axes[parent])
            logs[parent] = logs[parent] + told
        else:
            log_total = float(message[0])
    return log_total, CliqueShares(cliques, tuple(given))
