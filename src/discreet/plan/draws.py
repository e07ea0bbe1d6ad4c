"""Draws of noise, and what they tell of the truth behind released numbers, where a statistic is no ratio of sums.

What was released is the truth and noise, whose law is public and symmetric. So released numbers less a draw of that noise are where the
truth may lie; a statistic of so many of them has quantiles, and between these the truth lies as often as they say: exactly where the
statistic is affine, and nearly so elsewhere (docs/asking.md has how often, by simulation). The draws are no chance: they are points of
a sequence that fills the unit cube evenly (Roberts 2018, after Kronecker), the same for every plan, turned into noise by its quantiles.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import exp, pi, sqrt
from statistics import NormalDist

import numpy as np

from discreet.mechanisms.additive import NoiseShape
from discreet.plan.affine import Reals, Span
from discreet.plan.forms import Reader
from discreet.plan.spread import Noise, SummedNoise, within

Rule = Callable[..., Reals]
"""A statistic of totals, each in an array; not a number where there is none."""

DRAWS = 2048
"""So many as 99 % needs; of a larger confidence as many more as keep so many of them beyond each end."""

BEYOND = 8
CAREFUL = 0.8
"""Of what may be missed is: where a statistic bends, released numbers less noise are not quite where the truth is."""

PIECE = 64
"""Rows of which all draws are made at once."""

EIGHTH = 8

LATTICE = 1 << 14


def likely(reader: Reader, places: Sequence[int], rule: Rule, ends: tuple[Reals, Reals], confidence: float) -> Span:
    """The span that the truth of a statistic of measurements lies in; between these ends it lies in any case."""
    measurements = [reader.plan.measurements[i] for i in places]
    steps = [float(each.step) for each in measurements]
    totals = [step * reader.totals[i] for i, step in zip(places, steps, strict=True)]
    draws = draws_for(confidence)
    noises = [  # a measurement that a statistic has twice has one noise
        step * noise_points(each.noise, places.index(i), len(places), draws) if each.noise is not None else np.zeros(1)
        for i, each, step in zip(places, measurements, steps, strict=True)
    ]
    low, high = np.zeros(reader.size), np.zeros(reader.size)
    piece = max(1, PIECE * DRAWS // draws)
    for start in range(0, reader.size, piece):
        at = slice(start, start + piece)
        truths = [total[at, None] - noise for total, noise in zip(totals, noises, strict=True)]
        drawn = np.broadcast_to(rule(*truths), (len(truths[0]), draws))
        low[at], high[at] = _quantiles(drawn, CAREFUL * (1 - confidence) / 2)
    off = _rounding(rule, totals, [np.asarray(reader.total(i).off) for i in places])
    first, last = within(low - off, high + off, *ends)
    return Span(first, last, ~np.isfinite(high - low))


def draws_for(confidence: float) -> int:
    """How many draws tell the quantiles of a confidence.

    >>> draws_for(0.5), draws_for(0.95), draws_for(0.99), draws_for(0.999)
    (2048, 2048, 2048, 20000)
    """
    return max(DRAWS, round(2 * BEYOND / (CAREFUL * (1 - confidence))))


def _quantiles(drawn: Reals, miss: float) -> tuple[Reals, Reals]:
    """The ends that so many of the draws are beyond, on either side; what is not a number is beyond both."""
    most = int(miss * drawn.shape[1])
    nothing = np.isnan(drawn)
    missing = np.count_nonzero(nothing, axis=1)
    low, high = np.full(len(drawn), -np.inf), np.full(len(drawn), np.inf)  # where more than these are no numbers
    whole, some = missing == 0, (missing > 0) & (missing <= most)
    if whole.any():
        complete = drawn if whole.all() else drawn[whole]
        low[whole], high[whole] = _least(complete, most), -_least(-complete, most)
    if some.any():
        low[some] = _least(np.where(nothing[some], -np.inf, drawn[some]), most)
        high[some] = -_least(np.where(nothing[some], -np.inf, -drawn[some]), most)
    return low, high


def _least(drawn: Reals, most: int) -> Reals:
    """The number in each row that `most` others are before, in order.

    It is looked for among those that are no larger than one of every eighth draw, where there are enough of these: a few, of many.
    """
    pilot = drawn[:, ::EIGHTH]
    place = min(most // EIGHTH * 2 + EIGHTH, pilot.shape[1] - 1)
    small = drawn <= np.partition(pilot, place, axis=1)[:, place, None]
    counts = np.count_nonzero(small, axis=1)
    if counts.min() <= most:
        return np.asarray(np.partition(drawn, most, axis=1)[:, most], np.float64)
    few = np.full((len(drawn), counts.max()), np.inf)
    few[np.arange(counts.max()) < counts[:, None]] = drawn[small]
    return np.asarray(np.partition(few, most, axis=1)[:, most], np.float64)


def _rounding(rule: Rule, totals: Sequence[Reals], off: Sequence[Reals]) -> Reals:
    """How far a statistic may be off for what was rounded of each total: by as much as it moves if that is."""
    value, moved = rule(*totals), np.zeros(len(totals[0]))
    for i, each in enumerate(off):
        if each.any():
            sides = [
                rule(*(total + sign * each if i == j else total for j, total in enumerate(totals))) for sign in (-1, 1)
            ]
            moved += np.fmax.reduce([np.abs(side - value) for side in sides])
    return np.where(np.isnan(moved), 0.0, moved)


def noise_points(noise: Noise, axis: int, axes: int, draws: int = DRAWS) -> Reals:
    """Draws of a noise, as the coordinates of so many points along one of so many axes."""
    if isinstance(noise, SummedNoise):
        if noise.shape is NoiseShape.GAUSSIAN:
            several: Reals = np.rint(float(noise.scale) * sqrt(noise.times) * _normal(axis, axes, draws))
        else:
            several = np.rint(float(noise.scale) * _laplace_sums(noise.times, axis, axes, draws))
        return several
    if noise.shape is NoiseShape.GAUSSIAN:
        rounded: Reals = np.rint(float(noise.scale) * _normal(axis, axes, draws))
        return rounded
    # Pr[z <= -k] = α^k/(1 + α)
    alpha = exp(-1 / float(noise.scale))
    point = _coordinates(axis, axes, draws)
    tail = np.minimum(point, 1 - point)
    size = np.maximum(np.floor(-float(noise.scale) * np.log(tail * (1 + alpha))), 0.0)
    return np.where(point < 1 / 2, -size, size)


@lru_cache(maxsize=32)
def _laplace_sums(times: int, axis: int, axes: int, draws: int) -> Reals:
    """The coordinates, as quantiles of the sum of so many Laplace variables of scale 1, of variance 2 · times.

    Its density is the Fourier transform of (1 + t²)^−times, on a lattice that reaches as far as any of the points.
    """
    reach = 32 + 12 * sqrt(2 * times)
    points = np.linspace(-reach, reach, LATTICE, endpoint=False)
    frequencies = 2 * pi * np.fft.fftfreq(LATTICE, 2 * reach / LATTICE)
    density = np.fft.fftshift(np.fft.ifft((1 + frequencies**2) ** -float(times)).real)
    below = np.cumsum(np.maximum(density, 0.0))
    middles = (below - density / 2) / below[-1]
    quantiles: Reals = np.interp(_coordinates(axis, axes, draws), middles, points)
    return quantiles


@lru_cache(maxsize=32)
def _coordinates(axis: int, axes: int, draws: int) -> Reals:
    """The coordinates of all points: the fractions of multiples of φ^−(axis + 1), where φ^(axes + 1) = φ + 1."""
    ratio = 2.0
    for _ in range(64):
        ratio = (1 + ratio) ** (1 / (axes + 1))
    points = (0.5 + ratio ** -(axis + 1) * np.arange(1, draws + 1)) % 1
    return np.asarray(np.clip(points, 1e-9, 1 - 1e-9), np.float64)


@lru_cache(maxsize=32)
def _normal(axis: int, axes: int, draws: int) -> Reals:
    quantile = NormalDist().inv_cdf
    return np.array([quantile(each) for each in _coordinates(axis, axes, draws).tolist()])
