"""The people of the benchmarks of local privacy: 1000 cells, of which few are frequent, and the four protocols at ε = 1."""

import numpy as np

from discreet.local.frequency import ALL

CELLS, EPSILON = 1000, 1
KINDS = {kind.name: kind(CELLS, EPSILON) for kind in ALL}


def shares() -> np.ndarray:
    """The share of each cell: Zipf's law."""
    weights = 1 / np.arange(1, CELLS + 1)
    return weights / weights.sum()


def people(n: int) -> np.ndarray:
    """The cell of each of n people, the same at each call."""
    return np.random.default_rng(1).choice(CELLS, n, p=shares())
