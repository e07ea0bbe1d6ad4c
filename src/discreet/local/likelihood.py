"""The distribution that explains reports of a moving window best, by expectation maximisation, with or without smoothing."""

import numpy as np
from numpy.typing import NDArray

from discreet.local.window import ReportWindow
from discreet.noise.size import Ints

Shares = NDArray[np.float64]

# Nats of all reports together: a step that gains less is the last one. Smoothed it is what Li et al. 2020 stop at (section 5.5). Without
# smoothing they stop at 0.001 e^ε, before there are peaks of noise: this is the same at an ε of 2.3, and for large ε it goes on.
ENOUGH, ENOUGH_SMOOTHED = 1e-2, 1e-3
MOST_STEPS = 10_000


def explained(window: ReportWindow, totals: Ints, *, smooth: bool) -> Shares:
    """The shares of all places, none negative and 1 in all, after steps of expectation maximisation from even ones.

    With `smooth` each step is followed by averages of three neighbours, of weights ¼, ½ and ¼: for few reports, of which the likeliest
    distribution has peaks that are noise.
    """
    counts = totals.astype(np.float64)
    enough = ENOUGH_SMOOTHED if smooth else ENOUGH
    shares, before = np.full(window.places, 1 / window.places), -np.inf
    for _ in range(MOST_STEPS):
        chances = forward(window, shares)
        nats = float(counts @ np.log(chances))
        if abs(nats - before) < enough:
            break
        before = nats
        shares = shares * backward(window, counts / chances)
        if smooth:
            shares = smoothed(shares)
        shares /= shares.sum()
    return shares


def forward(window: ReportWindow, shares: Shares) -> Shares:
    """The chance of each report, for a person who is drawn by these shares: the channel times the shares."""
    return _mixed(window, np.pad(shares, (window.width - 1, window.width - 1)))


def backward(window: ReportWindow, weights: Shares) -> Shares:
    """For each place the expectation of a weight that each report has: the transposed channel times the weights."""
    return _mixed(window, weights)


def _mixed(window: ReportWindow, values: Shares) -> Shares:
    """All values at the rare chance, and those of each window at what the likely one is above it."""
    sums = np.cumsum(np.concatenate(([0.0], values)))
    near: Shares = sums[window.width :] - sums[: -window.width]
    near *= float(window.likely - window.rare)
    near += float(window.rare) * sums[-1]
    return near


def smoothed(shares: Shares) -> Shares:
    """Averages of three neighbours; at the ends the missing one is the place itself, so the sum stays."""
    wide = np.pad(shares, 1, mode="edge")
    return (wide[:-2] + 2 * shares + wide[2:]) / 4
