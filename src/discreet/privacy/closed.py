"""Losses with a closed form, or nearly: all-Gaussian, and few Laplace releases of one scale.

Everything is returned as ln δ, so that δ = 1e-300 is as good as 1e-3.
"""

from functools import lru_cache
from itertools import pairwise
from math import ceil, comb, erfc, exp, inf, lgamma, log, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from discreet.privacy.special import erfcx, log_gamma, log_ndtr


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
        points, weights = _legendre(20)
        x = u + w * points
        gap = w * float(weights @ (2 / sqrt(pi) - 2 * x * erfcx(x)))
    else:
        gap = float(-np.diff(erfcx(np.array([u, u + w])))[0])
    return -u * u + log(gap) - log(2) if gap > 0 else -inf


@lru_cache(maxsize=4)
def _legendre(nodes: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Nodes and weights of Gauss and Legendre on (0, 1)."""
    points, weights = np.polynomial.legendre.leggauss(nodes)
    return (points + 1) / 2, weights / 2


class FewLaplace:
    """δ(ε) of n Laplace releases with Δ/b = e each, at every real ε.

    The loss of one release is e with probability 1/2, −e with probability e^-e/2, and between them has density e^((l − e)/2)/4.
    So m releases that fall between have the density e^(s/2) (e e^(−e/2)/2)^m h_m(s), h_m that of a sum of m uniform
    variables on (−e, e): an Irwin–Hall spline, built by its recurrence of positive terms. The other n − m are a binomial
    sum of atoms ±e.
    """

    def __init__(self, e: float, n: int) -> None:
        self.e, self.n = e, n

    def log_delta(self, epsilon: float, tail: bool = False) -> float:
        """ln δ(ε), or of P(L > ε)."""
        e, n = self.e, self.n
        if epsilon >= n * e:
            return -inf
        rest, weight = _pieces(epsilon / (2 * e) + n / 2, e)
        loss = e * (2 * (np.arange(n)[:, None] + rest[None, :]) - n)
        kept = 1.0 if tail else -np.expm1(np.minimum(epsilon - loss, 0.0))
        gain = np.where(loss > epsilon, kept, 0.0) * weight
        total = _log_atoms(epsilon, e, n, tail)
        spline = np.ones((1, rest.size))  # Irwin–Hall of one variable at j + rest, j = 0
        for m in range(1, n + 1):
            if m > 1:
                spline = _next_spline(spline, rest, m)
            log_scale, density = self._with_between(m, spline, rest)
            inner = float((density * gain).sum())
            if inner > 0:
                total = np.logaddexp(total, log_scale + log(inner))
        return float(total)

    def _with_between(
        self, m: int, spline: NDArray[np.float64], rest: NDArray[np.float64]
    ) -> tuple[float, NDArray[np.float64]]:
        """The density of the loss, where exactly m releases fall between their atoms, at e(2(J + rest) − n); J = 0 … n − 1.

        With i of the others at +e and the m at piece j the loss depends on J = i + j alone: a convolution of positive terms.
        """
        e, n = self.e, self.n
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


def _pieces(corner: float, e: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Nodes and weights on (0, 1), split at the fraction where δ has its kink, and where e^(s/2) and e^-s have turned by 12."""
    points, weights = _legendre(24)
    cuts = sorted({*np.linspace(0.0, 1.0, 1 + ceil(e / 12)).tolist(), corner % 1.0})
    rest = [(b - a) * points + a for a, b in pairwise(cuts)]
    weight = [(b - a) * weights for a, b in pairwise(cuts)]
    return np.concatenate(rest), np.concatenate(weight)


def _next_spline(spline: NDArray[np.float64], rest: NDArray[np.float64], m: int) -> NDArray[np.float64]:
    """h_m(x) = (x h_(m−1)(x) + (m − x) h_(m−1)(x − 1)) / (m − 1), at x = j + rest."""
    x = np.arange(m)[:, None] + rest[None, :]
    here = np.vstack([spline, np.zeros((1, rest.size))])
    before = np.vstack([np.zeros((1, rest.size)), spline])
    out: NDArray[np.float64] = (x * here + (m - x) * before) / (m - 1)
    return out


def _log_atoms(epsilon: float, e: float, n: int, tail: bool) -> float:
    """ln of the part of δ, or of P(L > ε), where all n releases are at ±e."""
    up = np.arange(n + 1)
    loss = e * (2 * up - n)
    log_p = np.array([log(comb(n, int(i))) for i in up]) + n * log(0.5) - e * (n - up)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        kept = 0.0 if tail else np.log(-np.expm1(np.minimum(epsilon - loss, -0.0)))
        gain = np.where(loss > epsilon * (1 + 4e-16), kept, -inf)  # a loss that is ε but for rounding does not count
    return float(np.logaddexp.reduce(log_p + gain))
