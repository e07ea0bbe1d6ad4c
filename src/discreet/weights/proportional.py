"""Iterative proportional fitting: cells are multiplied so that marginals are as they should be, one after the other, again and again.

Each step is a projection in relative entropy (Deming and Stephan 1940; Csiszár 1975): what a histogram says beyond the marginals stays.
"""

from collections.abc import Sequence

import numpy as np

from discreet.weights.model import Floats
from discreet.weights.transform import Axes

LEAST = 1e-290
"""What is below has no weight that a float could be divided by."""


def scaled(cells: Floats, targets: Sequence[tuple[Axes, Floats]], passes: int) -> Floats:
    """The cells after so many passes over all targets, whose axes rise. A cell without weight stays so. The array itself is changed."""
    for _ in range(passes):
        for axes, target in targets:
            now = cells.sum(axis=tuple(axis for axis in range(cells.ndim) if axis not in axes))
            factor = np.divide(target, now, out=np.zeros_like(target), where=now > LEAST)
            cells *= factor.reshape([length if axis in axes else 1 for axis, length in enumerate(cells.shape)])
    return cells


def nearest_counts(values: Floats, total: float) -> Floats:
    """The nearest counts that are not negative and add up to `total`: all are lowered by one number, and cut off at 0."""
    falling = np.sort(values.ravel())[::-1]
    level = (np.cumsum(falling) - total) / np.arange(1, falling.size + 1)
    found: Floats = np.maximum(values - level[np.flatnonzero(falling > level)[-1]], 0)
    return found
