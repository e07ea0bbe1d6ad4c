"""Losses with a closed form, or nearly: all-Gaussian, and few Laplace releases of one scale.

Everything is returned as ln δ, so that δ = 1e-300 is as good as 1e-3.
"""

from functools import cached_property
from math import ceil, erfc, exp, inf, lgamma, log, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from discreet.privacy.numeric.quadrature import legendre
from discreet.privacy.numeric.special import erfcx, log_gamma, log_ndtr

Reals = NDArray[np.float64]
# e^(−27²) is 3e-317, below the least float that has all its digits.
NO_FLOAT = 27.0
# Over so short a way five points of Legendre, which are exact to degree 9, leave (0.05/2)^10 = 1e-16 of erfcx.
FLAT = 0.05
_erfc = np.frompyfunc(erfc, 1, 1)


def gaussian_log_delta(mu: float, epsilon: float) -> float:
    """ln δ(ε) of Gaussian noise with Δ/σ = μ: δ = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) (Balle and Wang 2018).

    >>> from math import exp
    >>> round(exp(gaussian_log_delta(1 / 3.7306, 1.0)) * 1e5, 3)
    1.0
    """
    return gaussian_log_gap((epsilon / mu - mu / 2) / sqrt(2), mu / sqrt(2))


def gaussian_log_tail(mu: float, epsilon: float) -> float:
    """ln P(L > ε) of Gaussian noise with Δ/σ = μ: L ~ N(μ²/2, μ²)."""
    return log_ndtr(mu / 2 - epsilon / mu) if mu else (0.0 if epsilon < 0 else -inf)


def gaussian_deltas(mu: float, epsilon: Reals) -> Reals:
    """δ of Gaussian noise with Δ/σ = μ at many ε; 0 where it is no float.

    Far to the left, where both terms of δ are near their limits, it is 1 − e^ε less what they fall short of those.

    >>> float(gaussian_deltas(1.0, np.array([1.0]))[0])
    0.12693...
    """
    u, w = (epsilon / mu - mu / 2) / sqrt(2), mu / sqrt(2)
    deltas = np.zeros_like(epsilon)
    left, near = u < -4, (u >= -4) & (u < NO_FLOAT)
    deltas[left] = _left_deltas(epsilon[left], -u[left], w)
    u = u[near]
    if w < 1:
        points, weights = legendre(20 if w > FLAT else 5)
        at = u[:, None] + w * points[None, :]
        gap = w * ((2 / sqrt(pi) - 2 * at * erfcx(at.ravel()).reshape(at.shape)) @ weights)
    else:
        gap = erfcx(u) - erfcx(u + w)
    deltas[near] = np.exp(-u * u) * np.maximum(gap, 0.0) / 2
    return deltas


def _left_deltas(epsilon: Reals, far: Reals, w: float) -> Reals:
    """Far to the left δ is, at u = −far < −4: δ = 1 − erfc(far)/2 − e^ε erfc(w − far)/2."""
    missing = np.asarray(_erfc(far), np.float64) / 2
    deltas = 1 - missing
    inside = far > w + 4  # here ε < 0
    low = epsilon[inside]
    deltas[inside] = -np.expm1(low) - missing[inside] + np.exp(low) * np.asarray(_erfc(far[inside] - w), np.float64) / 2
    rest = far[~inside]
    deltas[~inside] -= np.exp(-rest * rest) * erfcx(w - rest) / 2
    return deltas


def gaussian_tails(mu: float, epsilon: Reals) -> Reals:
    """P(L > ε) of Gaussian noise with Δ/σ = μ at many ε."""
    return np.asarray(_erfc((epsilon / mu - mu / 2) / sqrt(2)), np.float64) / 2


def gaussian_log_gap(u: float, w: float) -> float:
    """ln of e^(−u²)/2 (erfcx(u) − erfcx(u + w)): δ of a Gaussian, u = (ε/μ − μ/2)/√2 and w = μ/√2.

    Both terms of δ share the factor e^(−u²), so nothing is lost in the tails. Where the two are close their difference is the
    integral of −erfcx'(x) = 2/√π − 2x erfcx(x) over (u, u + w).
    """
    if u < -4:  # nothing is small here, and erfcx would overflow
        other = (
            float(erfcx(np.array([u + w]))[0]) * float(np.exp(-u * u))
            if u + w > -4
            else exp(w * (2 * u + w)) * erfc(u + w)
        )
        return log(erfc(u) / 2 - other / 2)
    if w < 1:
        points, weights = legendre(20)
        x = u + w * points
        gap = w * float(weights @ (2 / sqrt(pi) - 2 * x * erfcx(x)))
    else:
        gap = float(-np.diff(erfcx(np.array([u, u + w])))[0])
    return -u * u + log(gap) - log(2) if gap > 0 else -inf


# Points of Legendre in each piece of a spline, over which exponents change by 12 at most: of an exponential they leave 6^48/48! = 2e-24,
# which is room for the polynomial beside it.
NODES = 24


class FewLaplace:
    """δ(ε) of n Laplace releases with Δ/b = e each, at every real ε.

    The loss of one release is e with probability 1/2, −e with probability e^-e/2, and between them has density e^((l − e)/2)/4.
    So m releases that fall between have the density e^(s/2) (e e^(−e/2)/2)^m h_m(s), h_m that of a sum of m uniform
    variables on (−e, e): an Irwin–Hall spline, built by its recurrence of positive terms. The other n − m are a binomial
    sum of atoms ±e. On each piece between two atoms, J = 0 … n − 1, the density is e^(s/2) times a polynomial: it is tabled
    once, at NODES points of each piece, and integrated from there; where ε cuts a piece the polynomial is interpolated.
    """

    def __init__(self, e: float, n: int) -> None:
        self.e, self.n = e, n
        self._parts = ceil(e / 12)  # of one piece, so short that e^(s/2) and e^-s turn by 12 at most
        points, weights = legendre(NODES)
        self._cuts = np.linspace(0.0, 1.0, self._parts + 1)
        self._rest = (self._cuts[:-1, None] + points[None, :] / self._parts).ravel()
        self._log_weight = np.log(np.tile(weights, self._parts) / self._parts)

    def log_delta(self, epsilon: float, tail: bool = False) -> float:
        """ln δ(ε), or of P(L > ε)."""
        if epsilon >= self.n * self.e:
            return -inf
        place = max(0.0, (epsilon / self.e + self.n) / 2) * self._parts  # counted in parts of pieces
        cut = int(place)
        above = slice((cut + 1) * NODES, None)
        inside = _log_gained(self._log_density[above], self._losses[above], epsilon, tail)
        part = slice(cut * NODES, (cut + 1) * NODES)
        log_p, losses = self._from(place - cut, self._log_density[part], self._losses[part])
        started = _log_gained(log_p, losses, epsilon, tail)
        return float(np.logaddexp(np.logaddexp(inside, started), _log_atoms(epsilon, self.e, self.n, tail)))

    def _from(self, start: float, log_p: Reals, losses: Reals) -> tuple[Reals, Reals]:
        """What is left of one part from `start` on: its density at new points, by interpolation."""
        points, weights = legendre(NODES)
        new = start + (1 - start) * points
        log_smooth = log_p - np.log(weights) - losses / 2
        top = max(float(log_smooth.max()), -1e300)
        smooth = np.maximum(_interpolate(np.exp(log_smooth - top), new), 1e-300)
        ends = losses[0] - points[0] * 2 * self.e / self._parts
        at = ends + new * 2 * self.e / self._parts
        return np.log(smooth) + top + at / 2 + np.log(weights * (1 - start)), at

    @cached_property
    def _losses(self) -> Reals:
        pieces = np.arange(self.n)[:, None] + self._rest[None, :]
        losses: Reals = (self.e * (2 * pieces - self.n)).ravel()
        return losses

    @cached_property
    def _log_density(self) -> Reals:
        """ln of the probability of each quadrature point, over all numbers m of releases that fall between."""
        total = np.full((self.n, self._rest.size), -inf)
        spline = np.ones((1, self._rest.size))  # Irwin–Hall of one variable at j + rest, j = 0
        with np.errstate(divide="ignore"):
            for m in range(1, self.n + 1):
                if m > 1:
                    spline = _next_spline(spline, self._rest, m)
                log_scale, density = self._with_between(m, spline)
                total = np.logaddexp(total, log_scale + np.log(density))
        log_p: Reals = (total + self._log_weight).ravel()
        return log_p

    def _with_between(self, m: int, spline: Reals) -> tuple[float, Reals]:
        """The density of the loss, where exactly m releases fall between their atoms, at e(2(J + rest) − n); J = 0 … n − 1.

        With i of the others at +e and the m at piece j the loss depends on J = i + j alone: a convolution of positive terms.
        """
        e, n, rest = self.e, self.n, self._rest
        up = np.arange(n - m + 1)
        log_choice = lgamma(n + 1) - lgamma(m + 1) - log_gamma(up + 1) - log_gamma(n - m - up + 1)
        log_weight = log_choice + (n - m) * log(0.5) - e * (n - m - up) + m * (log(e / 2) - e / 2)
        top = float(log_weight.max())
        tilt = e * (2 * (np.arange(m)[:, None] + rest[None, :]) - m) / 2
        high = float(tilt.max())
        padded = np.zeros((n + (n - m), rest.size))
        padded[n - m : n] = np.exp(tilt - high) * spline
        windows = np.lib.stride_tricks.sliding_window_view(padded, n - m + 1, axis=0)  # at J: pieces J − (n − m) … J
        density = windows @ np.exp(log_weight[::-1] - top)
        return top + high, density


def _log_gained(log_p: Reals, losses: Reals, epsilon: float, tail: bool) -> float:
    """ln Σ p (1 − e^(ε − loss)), or of Σ p."""
    if not log_p.size:
        return -inf
    gain = 1.0 if tail else -np.expm1(np.minimum(epsilon - losses, 0.0))
    top = float(log_p.max())
    total = float((np.exp(log_p - top) * gain).sum())
    return top + log(total) if total > 0 else -inf


def _interpolate(values: Reals, x: Reals) -> Reals:
    """The polynomial through the values at the points of Legendre on (0, 1), at x: the second barycentric formula."""
    points, weights = legendre(NODES)
    signs = np.where(np.arange(NODES) % 2, -1.0, 1.0) * np.sqrt(points * (1 - points) * weights)
    away = x[:, None] - points[None, :]
    same = away == 0
    ratio = signs[None, :] / np.where(same, 1.0, away)
    found: Reals = (ratio @ values) / ratio.sum(axis=1)
    hit = same.any(axis=1)
    found[hit] = values[np.argmax(same[hit], axis=1)]
    return found


def _next_spline(spline: Reals, rest: Reals, m: int) -> Reals:
    """h_m(x) = (x h_(m−1)(x) + (m − x) h_(m−1)(x − 1)) / (m − 1), at x = j + rest."""
    x = np.arange(m)[:, None] + rest[None, :]
    here = np.vstack([spline, np.zeros((1, rest.size))])
    before = np.vstack([np.zeros((1, rest.size)), spline])
    out: Reals = (x * here + (m - x) * before) / (m - 1)
    return out


def _log_atoms(epsilon: float, e: float, n: int, tail: bool) -> float:
    """ln of the part of δ, or of P(L > ε), where all n releases are at ±e."""
    up = np.arange(n + 1)
    loss = e * (2.0 * up.astype(np.float64) - n)
    log_p = lgamma(n + 1) - log_gamma(up + 1) - log_gamma(n - up + 1) + n * log(0.5) - e * (n - up)
    above = loss > epsilon * (1 + 4e-16)  # a loss that is ε but for rounding does not count
    return _log_gained(log_p[above], loss[above], epsilon, tail)
