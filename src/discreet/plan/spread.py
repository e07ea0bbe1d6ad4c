"""How far sums of independent noises reach: quantiles of Σ c_i z_i, and the region that two such sums stay in.

The noises are geometric and Gaussian, on integers. A single one has its exact quantile. For sums each is taken as continuous, which
Gaussian noise is before it is rounded, and half a step is added for each: z and its continuous twin differ by rounding. The tail of
a sum of Laplace and Gaussian variables is an integral of M(s) e^(−sx)/s, M(s) = e^(σ²s²/2)/Π(1 − β_i²s²), along a hyperbola that
crosses the real axis between 0 and the first pole; both factors vanish along it, so that the trapezium rule with few points gives
six digits (Weideman and Trefethen 2007 choose such paths).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms.additive import IntegerNoise, NoiseShape

Reals = NDArray[np.float64]
Bools = NDArray[np.bool_]

ANGLE = pi / 3
"""Of the hyperbola's arms: above π/4, where the Gaussian's factor vanishes, below π/2, where e^(−sx) does."""

STEP, POINTS = 0.15, 40
HALVINGS = 36

FEW_DIRECTIONS = 16
"""Of those on one side where each row has a polygon of its own, which is half a percent larger than its circle."""

TINY = 1e-300

DIRECTIONS = 64
"""Of the half-planes on one side; a circle and its polygon then differ by 3e-4."""

ROUNDING = 1 / 12
"""The variance that rounding to integers adds."""

USUAL = 0.95
"""The confidence of a ± where none is asked for."""

FLAT = 1e-12
"""Two sums whose noises differ by less are one."""

PIECE = 4096

_turned = STEP * np.arange(POINTS) + 1j * ANGLE
_PATH, _SLOPE = 0.5 + np.cosh(_turned), np.sinh(_turned)  # in units of where it crosses the axis


MOST_COPIES = 32
"""A sum of more Laplace noises than these is taken as Gaussian: its quantile at 95 % is then less than 1 % off."""

FAR_COPIES = 256
"""The same beyond 95 %, up to 99.99 %, where tails differ more."""


@dataclass(frozen=True, slots=True)
class SummedNoise:
    """The sum of so many independent noises, as the total of several groups has it."""

    noise: IntegerNoise
    times: int

    @property
    def scale(self) -> Any:
        return self.noise.scale

    @property
    def shape(self) -> NoiseShape:
        return self.noise.shape

    def error(self, confidence: float) -> int:
        """Its ±; it is a whole number, as each of the noises is."""
        return int(smooth_widths(np.ones((1, 1)), (self,), confidence)[0])


Noise = IntegerNoise | SummedNoise


def deviation(noise: Noise | None) -> float:
    """The standard deviation of noise, up to its rounding; 0 of none."""
    if noise is None:
        return 0.0
    times = noise.times if isinstance(noise, SummedNoise) else 1
    return float(noise.scale) * sqrt(times * (1 if noise.shape is NoiseShape.GAUSSIAN else 2))


def summed(noise: Noise, times: int) -> Noise:
    """The sum of so many independent noises that are alike: one is that noise itself."""
    if times == 1:
        return noise
    if isinstance(noise, SummedNoise):
        return SummedNoise(noise.noise, noise.times * times)
    return SummedNoise(noise, times)


def half_widths(coefficients: Reals, noises: Sequence[Noise], confidence: float) -> Reals:
    """For each row c of coefficients the least w, to six digits, with Pr[|Σ c_i z_i| <= w] >= confidence.

    Exact where a row has one coefficient; else by continuous twins, with half a step of each noise on top.
    """
    sizes = np.abs(np.asarray(coefficients, np.float64))
    several = (sizes > 0).sum(axis=1) > 1
    single = np.array([noise.error(confidence) for noise in noises])
    widths: Reals = (sizes * single).max(axis=1, initial=0.0)
    if several.any():
        widths[several] = _several_widths(sizes[several], noises, confidence)
    return widths


def _several_widths(sizes: Reals, noises: Sequence[Noise], confidence: float) -> Reals:
    """The half-widths of sums of several noises: of all groups that have the same coefficients there is one, computed once."""
    kinds, kind_of = told_apart(sizes)
    pieces = [kinds[i : i + PIECE] for i in range(0, len(kinds), PIECE)]
    widths = [smooth_widths(piece, noises, confidence) - _counted_twice(piece) for piece in pieces]
    return np.asarray(np.concatenate(widths)[kind_of], np.float64)


def told_apart(rows: Reals) -> tuple[Reals, NDArray[np.int64]]:
    """The rows without repeats, and for each which of them it is."""
    if (rows == rows[:1]).all():
        return rows[:1], np.zeros(len(rows), np.int64)
    kinds, kind_of = np.unique(rows, axis=0, return_inverse=True)
    return kinds, kind_of.ravel()


def _counted_twice(sizes: Reals) -> Reals:
    """What is too much where all coefficients are alike: the sum is a multiple of one step, as each noise is, and half a step is enough."""
    most = sizes.max(axis=1)
    alike = ((sizes == 0) | (sizes == most[:, None])).all(axis=1)
    twice: Reals = np.where(alike, (sizes.sum(axis=1) - most) / 2, 0.0)
    return twice


def smooth_widths(sizes: Reals, noises: Sequence[Noise], confidence: float, beside: Reals | float = 0.0) -> Reals:
    """Half-widths without the exact case, so that it varies smoothly with the coefficients. `beside` is the standard deviation of what
    else is added in each row, which is Gaussian."""
    scales = np.array([float(noise.scale) for noise in noises], np.float64)
    times = np.array([noise.times if isinstance(noise, SummedNoise) else 1 for noise in noises], np.int64)
    gaussian = np.array([noise.shape is NoiseShape.GAUSSIAN for noise in noises], np.bool_)
    many = ~gaussian & (times > (MOST_COPIES if confidence <= USUAL else FAR_COPIES))
    laplace = np.repeat(sizes * scales, np.where(gaussian | many, 0, times), axis=1)
    normal = np.where(gaussian, 1, 2) * scales**2 + ROUNDING
    rounded = np.where(gaussian | many, normal, np.where(times > 1, ROUNDING, 0.0)) * times
    sigma = np.sqrt((sizes**2 * rounded).sum(axis=1) + np.asarray(beside) ** 2)
    deviation = np.sqrt(2 * (laplace**2).sum(axis=1) + sigma**2)
    unit = np.where(deviation > 0, deviation, 1.0)
    quantiles = _quantiles(laplace / unit[:, None], sigma / unit, 1 - confidence)
    widths: Reals = np.where(deviation > 0, quantiles * unit, 0.0) + sizes.sum(axis=1) / 2
    return widths


def _quantiles(laplace: Reals, sigma: Reals, miss: float) -> Reals:
    """For each row the x with Pr[|W| > x] = miss; all have variance 1."""
    widest = laplace.max(axis=1, initial=0.0)
    cross = 1 / np.maximum(2 * widest + sigma / 2, 0.5)
    path = cross[:, None] * _PATH
    with np.errstate(under="ignore"):
        weight = np.exp((sigma[:, None] * path) ** 2 / 2) / path * (cross[:, None] * _SLOPE * STEP * 2 / pi)
        for scale in laplace.T:
            weight = weight / (1 - (scale[:, None] * path) ** 2)
        weight[:, 0] /= 2  # the point on the axis, which the other arm has too
        low, high = np.zeros(len(path)), np.full(len(path), 1 / sqrt(miss))  # Chebyshev
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            beyond = np.imag(weight * np.exp(-path * middle[:, None])).sum(axis=1) > miss
            low, high = np.where(beyond, middle, low), np.where(beyond, high, middle)
    return high


def region(top: Reals, bottom: Reals, noises: tuple[Noise, ...], confidence: float) -> Reals:
    """The corners (u, v) of a polygon P such that for every line through the origin Σ a_i z_i − t Σ b_i z_i stays within what
    P reaches across that line, with this confidence.

    The quantiles of all directions are the support function of a convex body, since the noise is symmetric and log-concave
    (Meyer and Reisner 1991); P is an intersection of its half-planes, and so larger. Of bottom at least one is not 0.
    """
    return _region(tuple(top.tolist()), tuple(bottom.tolist()), noises, confidence)


@lru_cache(maxsize=256)
def _region(top: tuple[float, ...], bottom: tuple[float, ...], noises: tuple[Noise, ...], confidence: float) -> Reals:
    a, b = np.array(top), np.array(bottom)
    variances = np.array(
        [float(noise.scale) ** 2 * (1 if noise.shape is NoiseShape.GAUSSIAN else 2) for noise in noises]
    ) * np.array([noise.times if isinstance(noise, SummedNoise) else 1 for noise in noises])
    across = sqrt(float((b * b * variances).sum()))
    shared = float((a * b * variances).sum()) / across
    rest = float((a * a * variances).sum()) - shared**2
    b1 = b / across
    if rest <= FLAT * (shared**2 + FLAT):
        corner = smooth_widths(np.abs(b1)[None, :], noises, confidence)[0] * np.array([shared, across])
        return np.stack([corner, -corner])
    own = sqrt(rest)
    a1 = (a - shared * b1) / own  # in these coordinates the noise is alike in all directions
    angles = pi / DIRECTIONS * np.arange(DIRECTIONS)
    sizes = np.abs(np.cos(angles)[:, None] * b1 + np.sin(angles)[:, None] * a1)
    reach = smooth_widths(sizes, noises, confidence)
    angle, after = np.append(angles, pi), np.append(reach, reach[0])
    turn = np.sin(pi / DIRECTIONS)
    x = (after[:-1] * np.sin(angle[1:]) - after[1:] * np.sin(angle[:-1])) / turn
    y = (after[1:] * np.cos(angle[:-1]) - after[:-1] * np.cos(angle[1:])) / turn
    corners = np.stack([shared * x + own * y, across * x], axis=1)
    return np.concatenate([corners, -corners])


def regions(
    top: Reals, bottom: Reals, noises: Sequence[Noise], confidence: float, beside: Callable[[Reals, Reals], Reals]
) -> Reals:
    """Polygons like that of `region`, one for each row, of what is off by noise and, besides, by something Gaussian: `beside` tells the
    standard deviation of u·x + v·y for arrays of u and v, one row for each row. Between two directions it reaches as far as where those
    meet.
    """
    spread = np.array([deviation(noise) for noise in noises], np.float64)
    one, nothing = np.ones((len(top), 1)), np.zeros((len(top), 1))

    def variance(u: Reals, v: Reals) -> Reals:
        noise = ((u[..., None] * top[:, None, :] + v[..., None] * bottom[:, None, :]) ** 2 * spread**2).sum(axis=2)
        return np.asarray(noise + beside(u, v) ** 2, np.float64)

    # in coordinates in which what is off is about alike in all directions
    across = np.sqrt(np.maximum(variance(nothing, one), TINY))
    shared = (variance(one, one) - variance(one, -one)) / (4 * across)
    own = np.sqrt(np.maximum(variance(one, nothing) - shared**2, FLAT * shared**2 + TINY))
    angles = pi / FEW_DIRECTIONS * np.arange(FEW_DIRECTIONS)[None, :]
    u, v = np.sin(angles) / own, np.cos(angles) / across - np.sin(angles) * shared / (own * across)
    sizes = np.abs(u[..., None] * top[:, None, :] + v[..., None] * bottom[:, None, :])
    flat = sizes.reshape(u.size, len(noises))
    reach = np.concatenate(
        [
            smooth_widths(flat[i : i + PIECE], noises, confidence, beside(u, v).reshape(-1)[i : i + PIECE])
            for i in range(0, len(flat), PIECE)
        ]
    ).reshape(u.shape)
    angle, after = np.append(angles, [[pi]], axis=1), np.append(reach, reach[:, :1], axis=1)
    turn = np.sin(pi / FEW_DIRECTIONS)
    x = (after[:, :-1] * np.sin(angle[:, 1:]) - after[:, 1:] * np.sin(angle[:, :-1])) / turn
    y = (after[:, 1:] * np.cos(angle[:, :-1]) - after[:, :-1] * np.cos(angle[:, 1:])) / turn
    corners = np.stack([shared * x + own * y, across * x], axis=2)
    return np.concatenate([corners, -corners], axis=1)


def slopes(
    top: Reals, bottom: Reals, corners: Reals, low: Reals, high: Reals, off: Reals | None = None
) -> tuple[Reals, Reals, Bools]:
    """Fieller's set for each ratio top/bottom, within [low, high], which may be infinite: its ends, and whether it had none.

    `off` is how far top and bottom may each be off besides; the polygon is larger by that. t is in the set where the line u = t v
    meets the polygon around (top, bottom), which is one for all, or one for each row. Where all of the polygon has one sign of v these
    are the slopes of its corners. Elsewhere the set has no ends of its own: it leaves out an interval or two.
    """
    more = np.zeros((2, len(top))) if off is None else off
    ends = np.zeros((2, len(top)))
    # whether the polygon has both signs of v is told by its outermost corners
    outermost = bottom + corners[..., 1].min(axis=-1) - more[1], bottom + corners[..., 1].max(axis=-1) + more[1]
    crosses: Bools = ~((outermost[0] > 0) | (outermost[1] < 0))
    for rule, chosen in ((_own_slopes, ~crosses), (_open_slopes, crosses)):
        rows = np.flatnonzero(chosen)
        for at in (rows[i : i + PIECE] for i in range(0, len(rows), PIECE)):
            around = corners if corners.ndim == 2 else corners[at]
            ends[:, at] = rule(top[at], bottom[at], around, low[at], high[at], more[:, at])
    return ends[0], ends[1], crosses


def _own_slopes(top: Reals, bottom: Reals, corners: Reals, low: Reals, high: Reals, off: Reals) -> tuple[Reals, Reals]:
    """The ends where all of the polygon has one sign of v.

    Both top and bottom may be off to either side, so that each corner becomes four. The least slope has the one with the least u where
    v is positive, and with the largest where it is negative; and there the least v where that u is negative, else the largest. The
    largest slope is its mirror image. Rounding is monotone, and so these are the least and the largest of the rounded slopes, too.
    """
    u, v = top[:, None] + corners[..., 0], bottom[:, None] + corners[..., 1]
    by = np.where(bottom > 0, off[0], -off[0])[:, None]
    least, most, across = u - by, u + by, off[1][:, None]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        first = least / np.where(least < 0, v - across, v + across)
        last = most / np.where(most > 0, v - across, v + across)
    return within(first.min(axis=1), last.max(axis=1), low, high)


def _open_slopes(top: Reals, bottom: Reals, corners: Reals, low: Reals, high: Reals, off: Reals) -> tuple[Reals, Reals]:
    """The ends where the polygon has both signs of v, or touches 0."""
    u, v = top[:, None] + corners[..., 0], bottom[:, None] + corners[..., 1]
    if off.any():
        signs = np.array([(x, y) for x in (-1.0, 1.0) for y in (-1.0, 1.0)])
        u, v = (
            np.concatenate([at + sign * by[:, None] for sign in side], axis=1)
            for at, by, side in zip((u, v), off, signs.T, strict=True)
        )
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        slope = u / v
        above, below = np.where(v > 0, slope, np.nan), np.where(v < 0, slope, np.nan)
        first, last = _next(u, v, low, below, above, np.nanmin), _next(u, v, high, above, below, np.nanmax)
    return within(first, last, low, high)


def _next(u: Reals, v: Reals, end: Reals, below: Reals, above: Reals, nearest: Any) -> Reals:
    """The end itself where it is in the set; else the other end of the interval that is left out and that it lies in.

    `below` holds the slopes at which a corner first gets to the line from below, `above` from above.
    """
    finite = np.where(np.isfinite(end), end, 0.0)
    apart = u - finite[:, None] * v
    over, under = (apart > 0).all(axis=1), (apart < 0).all(axis=1)
    ends = end.copy()
    for out, slope in ((over, above), (under, below)):
        rows = out & np.isfinite(end) & ~np.isnan(slope).all(axis=1)
        if rows.any():
            ends[rows] = nearest(slope[rows], axis=1)
    return ends


def within(first: Reals, last: Reals, low: Reals, high: Reals) -> tuple[Reals, Reals]:
    """The part within [low, high]. Where there is none the end that is near, and half of the width of the set toward the other."""
    with np.errstate(invalid="ignore"):  # of ends at infinity, which nothing lies beyond
        ends = np.isfinite(first) & np.isfinite(last) & (first <= last)
        half = np.where(ends, (last - first) / 2, high - low)  # an empty set says nothing, nor does one without an end
        first = np.where(first > high, np.maximum(high - half, low), np.maximum(first, low))
        last = np.where(last < low, np.minimum(low + half, high), np.minimum(last, high))
    return first, np.maximum(first, last)
