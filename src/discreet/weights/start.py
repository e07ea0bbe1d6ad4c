"""Where an online session starts: low-order marginals, chosen by their size alone, measured, and a histogram fitted to them.

A marginal is worth its noise where it has few cells. All pairs of attributes are worth more than anything else that was tried: on data with
dependences what a model without pairs gets wrong is far more than their noise. Triples are better yet where even half of the cells of
the largest has little noise; figures are in docs/weights.md.
"""

from collections.abc import Callable, Sequence
from itertools import combinations
from math import comb, prod, sqrt

import numpy as np

from discreet.weights.margins import Axes
from discreet.weights.model import Floats, NoisyMarginal
from discreet.weights.proportional import nearest_counts, scaled

ITERATIONS = 8
"""Passes over all marginals: more change the histogram by less than its noise."""

WORTH = {3: 0.25, 2: 2.0}
"""How large the ± of half of the cells of a marginal may be, in units of the error that is asked for, by its order."""

EVEN = 1e-4
"""Of all units, what is spread evenly over all cells: so none is without weight, and every question can be learned."""

MOST_WORK = 1 << 33
"""Cells that are multiplied in all passes together, above which triples are left out."""

Z95 = 1.96


def chosen(shape: Sequence[int], error: float, deviation: Callable[[int], float]) -> tuple[Axes, ...]:
    """The marginals to measure: all triples of attributes if all are worth their noise, else the pairs that are, and what these do not
    cover by itself.

    `deviation` tells the noise on a cell where so many marginals are measured. Nothing is known here of any data: of two tables with
    the same attributes the same marginals are chosen.
    """
    singles = tuple((axis,) for axis in range(len(shape)))
    triples = _worthy(shape, 3, lambda cells, k: _half(cells, deviation(k)) <= WORTH[3] * error)
    if triples and len(triples) == comb(len(shape), 3) and len(triples) * ITERATIONS * prod(shape) <= MOST_WORK:
        return triples
    pairs = _worthy(shape, 2, lambda cells, k: _half(cells, deviation(k)) <= WORTH[2] * error)
    covered = {axis for axes in pairs for axis in axes}
    return pairs + tuple(axes for axes in singles if axes[0] not in covered)


def _worthy(shape: Sequence[int], order: int, fits: Callable[[int, int], bool]) -> tuple[Axes, ...]:
    """The marginals of one order, without the largest ones as long as these do not fit: the fewer there are the less noise they have."""
    found = sorted(combinations(range(len(shape)), order), key=lambda axes: (_size(shape, axes), axes))
    while found and not fits(_size(shape, found[-1]), len(found)):
        found.pop()
    return tuple(sorted(found))


def _half(cells: int, deviation: float) -> float:
    """± of the sum over half of the cells of a marginal."""
    return Z95 * deviation * sqrt(cells / 2)


def _size(shape: Sequence[int], axes: Axes) -> int:
    return prod(shape[axis] for axis in axes)


def fitted(shape: Sequence[int], marginals: Sequence[NoisyMarginal], total: float, iterations: int) -> Floats:
    """Expected counts of all cells: from equal ones, multiplied again and again so that each marginal in turn is as it was measured.

    Iterative proportional fitting (Deming and Stephan 1940; each step is a projection in relative entropy, Csiszár 1975). What was
    measured is first brought to the nearest counts that are not negative and add up to `total`.
    """
    cells = np.full(tuple(shape), total / prod(shape))
    targets = [(each.axes, nearest_counts(each.values, total)) for each in marginals]
    cells = scaled(cells, targets, iterations)
    left = float(cells.sum())
    scale = (1 - EVEN) * total / left if left > 0 else 0.0
    found: Floats = cells * scale + (total - scale * left) / prod(shape)
    return found


def size_of(noisy: float | None, deviation: float, marginals: Sequence[NoisyMarginal]) -> float:
    """About how many units there are: the noisy size and the sums of all marginals, each by its precision; at least 1."""
    sums = [(float(each.values.sum()), each.deviation**2 * each.values.size) for each in marginals]
    known = [*([] if noisy is None else [(float(noisy), deviation**2)]), *sums]
    return max(1.0, sum(value / variance for value, variance in known) / sum(1 / variance for _, variance in known))
