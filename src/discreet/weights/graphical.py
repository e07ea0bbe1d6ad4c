"""Models of large domains: a distribution that is the product of small tables, one for each clique of a junction tree.

The cells of the whole domain are never listed. Marginals are sums over a few cliques, and rows are drawn clique by clique, each given
what was drawn before.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from discreet.cells import Ints
from discreet.errors import Invalid
from discreet.exact import shown, whole
from discreet.noise import Source, uniform
from discreet.weights.domain import Domain
from discreet.weights.factors import Axes, Factor, product_onto
from discreet.weights.model import Floats
from discreet.weights.propagation import CliqueShares

MOST_MARGINAL = 1 << 25
"""Cells of a marginal that is asked for."""

GRID = 40
"""Rows are drawn with probabilities that are multiples of 2^-40 in each clique."""


@dataclass(frozen=True, slots=True)
class Factored:
    """A distribution over a domain, clique by clique, and about how many units it stands for."""

    domain: Domain
    total: float
    shares: CliqueShares

    @property
    def cliques(self) -> tuple[Axes, ...]:
        """The sets of attributes that the model knows together."""
        return self.shares.cliques.tree.cliques

    def marginal(self, axes: Sequence[int]) -> Floats:
        """The counts that the model expects by these attributes, in their order; they add up to `total`."""
        wanted = self._checked(axes)
        found = self._told(0, wanted, self._needed(wanted))
        return self.total * found.onto(wanted).values

    def _checked(self, axes: Sequence[int]) -> Axes:
        wanted = tuple(axes)
        places = range(len(self.domain.shape))
        if len(set(wanted)) < len(wanted) or any(axis not in places for axis in wanted):
            raise Invalid(f"axes must be different places in 0 … {len(places) - 1}, got {shown(wanted)}")
        cells = prod(self.domain.shape[axis] for axis in wanted)
        if cells > MOST_MARGINAL:
            raise Invalid(
                f"a marginal of {cells:,} cells was asked for; {MOST_MARGINAL:,} are the most",
                hint="ask for fewer attributes at once, or draw rows",
            )
        return wanted

    def _needed(self, wanted: Axes) -> set[int]:
        """The cliques that have something wanted of their own, and all on the way from them to the root."""
        cliques = self.shares.cliques
        needed = {0}
        for number, (axes, shared) in enumerate(zip(cliques.axes, cliques.shared, strict=True)):
            at = number if set(wanted) & (set(axes) - set(shared)) else 0
            while at not in needed:
                needed.add(at)
                at = cliques.tree.parents[at]
        return needed

    def _told(self, number: int, wanted: Axes, needed: set[int]) -> Factor:
        """What a clique and all below it say: of its separator, and of what is wanted. Whatever else is there is summed out here."""
        cliques = self.shares.cliques
        children = [each for each in needed if each and cliques.tree.parents[each] == number]
        below = (self._told(each, wanted, needed) for each in children)
        shared = cliques.shared[number]
        return product_onto(
            [self.shares.factor(number), *below], (*shared, *(axis for axis in wanted if axis not in shared))
        )

    def draw(self, rows: int, source: Source | None = None) -> Ints:
        """The cells of so many units, drawn independently from secure bits: a row of codes each.

        Clique by clique from the root, the probabilities of each rounded to a public grid; what is impossible has probability 0 there.
        """
        codes = np.zeros((whole(rows, "rows", least=0), len(self.domain.shape)), np.int64)
        cliques = self.shares.cliques
        for number, (axes, shared) in enumerate(zip(cliques.axes, cliques.shared, strict=True)):
            own = axes[len(shared) :]
            row = _places(codes, shared, self.domain.shape)
            table = self.shares.given[number].reshape(cliques.rows(number), -1)
            chosen = _drawn(table, row, source)
            if own:
                codes[:, list(own)] = np.stack(np.unravel_index(chosen, cliques.lengths(own)), axis=1)
        return codes


def _places(codes: Ints, axes: Axes, shape: Sequence[int]) -> Ints:
    """The place of each row of codes in an array over some axes, flattened."""
    place = np.zeros(len(codes), np.int64)
    for axis in axes:
        place = place * shape[axis] + codes[:, axis]
    return place


def _drawn(table: Floats, row: Ints, source: Source | None) -> Ints:
    """A column for each entry of `row`, with the probabilities of that row of the table."""
    rows, place = np.unique(row, return_inverse=True)
    bits = min(GRID, 62 - len(rows).bit_length())
    weights = _on_grid(table[rows], bits)
    # Running totals of all rows in one rising list: row i has the stretch from i·2^bits to (i + 1)·2^bits.
    upto = np.cumsum(weights, axis=1) + (np.arange(len(rows), dtype=np.int64) << bits)[:, None]
    at = uniform(1 << bits, row.size, source=source) + (place.reshape(-1).astype(np.int64) << bits)
    found: Ints = np.searchsorted(upto.reshape(-1), at, side="right") - place.reshape(-1) * table.shape[1]
    return found


def _on_grid(shares: Floats, bits: int) -> Ints:
    """Rows of probabilities as whole numbers that add up to 2^bits: rounded down, and the rest goes to the largest of a row."""
    whole_numbers = np.floor(shares * 2.0**bits).astype(np.int64)
    largest = shares.argmax(axis=1)
    whole_numbers[np.arange(len(shares)), largest] += (1 << bits) - whole_numbers.sum(axis=1)
    return whole_numbers
