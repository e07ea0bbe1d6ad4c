"""ln Σ e^x, for one t or for many: what K of points and of quadrature nodes is made of."""

from collections.abc import Callable
from math import ceil, sqrt
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Complex: TypeAlias = NDArray[np.complex128]
Reals: TypeAlias = NDArray[np.float64]
LogMgf: TypeAlias = Callable[[Complex], Complex]

# Terms summed at once: 16 MB of complex numbers, which a cache nearly holds; more would only take memory.
AT_ONCE = 1 << 20
# From so many nodes on, products of few exponentials are quicker than an exponential for each; below it they are not.
MANY_NODES = 16
# Relative: nodes whose distances differ by less are evenly spaced. 1e-9 of a turn is far below what a sum of 1e5 turns shows.
EVEN = 1e-9


def log_sum(exponents: NDArray[Any]) -> NDArray[Any]:
    """ln Σ e^x over the first axis, shifted so that nothing overflows."""
    top = exponents.real.max(axis=0)
    total: NDArray[Any] = np.log(np.exp(exponents - top).sum(axis=0)) + top
    return total


def log_sum_of(log_w: Reals, losses: Reals, t: Complex) -> Complex:
    """ln Σ e^(log_w + t·loss) for each t, a bounded number of terms at once; in real numbers where t is real."""
    if not t.imag.any():
        return log_sum(log_w[:, None] + losses[:, None] * t.real[None, :]).astype(np.complex128)
    if t.size >= MANY_NODES and _evenly_up(t):
        return _log_sum_along_line(log_w, losses, t)
    pieces = np.array_split(t, ceil(t.size * log_w.size / AT_ONCE))
    return np.concatenate([log_sum(log_w[:, None] + losses[:, None] * piece[None, :]) for piece in pieces])


def _evenly_up(t: Complex) -> bool:
    """Whether the points lie one above the other, evenly spaced."""
    steps = np.diff(t.imag)
    return bool(np.ptp(t.real) == 0 and np.ptp(steps) <= EVEN * abs(steps[0]))


def _log_sum_along_line(log_w: Reals, losses: Reals, t: Complex) -> Complex:
    """ln Σ e^(log_w + t·loss) for evenly spaced t, with few exponentials: e^((ma + b)·i·h·loss) is a product of two."""
    m = ceil(sqrt(t.size))
    turns = 1j * ((t[-1].imag - t[0].imag) / (t.size - 1)) * losses
    log_base = log_w + t[0] * losses
    top = float(log_base.real.max())
    fine = _powers(np.ones_like(turns), np.exp(turns), m)
    coarse = _powers(np.exp(log_base - top), np.exp(m * turns), m)
    sums: Complex = (coarse @ fine.T).ravel()[: t.size]
    return np.asarray(np.log(sums) + top, np.complex128)


def _powers(first: Complex, ratio: Complex, count: int) -> Complex:
    """first · ratio^i, i = 0 … count − 1, a row each."""
    rows = np.empty((count, first.size), np.complex128)
    rows[0] = first
    for i in range(1, count):
        np.multiply(rows[i - 1], ratio, out=rows[i])
    return rows
