"""How wide intervals for p are, and a picture of it."""

from typing import Any

import numpy as np

from discreet.errors import Invalid
from discreet.exact import Number, positive, shown, whole
from discreet.mechanisms.base import confidence_level
from discreet.mechanisms.inference import Floats, LaplaceNoise, Noise, Tulap, binomial
from discreet.privacy.numeric.search import root
from discreet.privacy.picture.panels import SCHEMA

POINTS, MOST_DRAWN = 401, 10_000  # of p in a picture, and bits
COLOURS = ("#888888", "#4c78a8", "#f58518")


def mean_widths(n: int, epsilon: Number, p: Floats, confidence: Number = 0.95) -> dict[str, Floats]:
    """The expected width of intervals for p, at each p: of the plain one, that of `BernoulliMean`, that of `BernoulliCount`.

    The plain one is the Laplace estimate, clamped, ± what covers p = ½, where sampling spreads most, cut off at 0 and 1. The expected
    width is ∫ Pr_p[q in the interval] dq (Pratt 1961), a sum over a grid of q.
    """
    size, tail = whole(n, "n", least=1), (1 - confidence_level(confidence)) / 2
    if size > MOST_DRAWN:
        raise Invalid(f"n must be at most {MOST_DRAWN} for a picture, got {shown(n)}")
    scale = float(1 / positive(epsilon, "epsilon"))
    laplace, tulap = LaplaceNoise(scale), Tulap(scale)
    q = np.sin(np.linspace(0.0, np.pi / 2, POINTS)) ** 2  # denser at the ends, where intervals are narrow
    half = float(_quantiles(size, laplace, np.array([0.5]), 1 - tail)[0]) - size / 2
    widths = {"plain": _mean_width(size, laplace, p, q, (size * q - half, size * q + half))}
    for name, noise in (("laplace", laplace), ("geometric", tulap)):
        first, last = (_quantiles(size, noise, q, level) for level in (tail, 1 - tail))
        widths[name] = _mean_width(size, noise, p, q, (first, last))
    return widths


def _binomials(n: int, p: Floats) -> Floats:
    """A row of n + 1 probabilities for each p."""
    table = np.zeros((p.size, n + 1))
    for row, each in zip(table, p, strict=True):
        s, weights = binomial(n, float(each))
        row[s.astype(np.int64)] = weights
    return table


def _quantiles(n: int, noise: Noise, p: Floats, level: float) -> Floats:
    """The number that ones plus noise do not exceed with this probability, at each p."""
    spread = 1.0
    while float(noise.below(np.array([-spread]))[0]) > min(level, 1 - level):
        spread *= 2
    quantiles = np.empty(p.size)
    for i, each in enumerate(p):
        s, weights = binomial(n, float(each))

        def short(t: float, s: Floats = s, weights: Floats = weights) -> float:
            return level - float(weights @ noise.below(t - s))

        low, high = float(s[0]) - spread, float(s[-1]) + spread
        quantiles[i] = root(short, low, high, short(low), short(high), close=1e-12)
    return quantiles


def _mean_width(n: int, noise: Noise, p: Floats, q: Floats, ends: tuple[Floats, Floats]) -> Floats:
    """∫ Pr_p[q in the interval] dq, where that is X + N, taken into 0 to n, between two ends at each q."""
    ones = np.arange(n + 1.0)[:, None]
    first, last = (noise.below(end - ones) for end in ends)
    inside = _binomials(n, p) @ (np.where(ends[1] >= n, 1.0, last) - np.where(ends[0] <= 0, 0.0, first))
    return np.asarray((inside[:, 1:] + inside[:, :-1]) @ np.diff(q) / 2)


def picture_of_widths(n: int, epsilon: Number, confidence: Number = 0.95) -> dict[str, Any]:
    """A Vega-Lite picture of what better intervals gain: their expected width over p, with its data inside."""
    p = np.concatenate((np.linspace(0.0, 0.1, 11), np.linspace(0.15, 0.85, 15), np.linspace(0.9, 1.0, 11)))
    widths = mean_widths(n, epsilon, p, confidence)
    names = {
        "plain": "the same ± at every p",
        "laplace": "exact limits, Laplace noise",
        "geometric": "most powerful tests, geometric noise",
    }
    rows = [
        {"p": round(float(x), 6), "width": float(width), "interval": names[kind]}
        for kind in names
        for x, width in zip(p, widths[kind], strict=True)
    ]
    gain = 1 - widths["geometric"] / widths["plain"]
    summary = f"Narrower by {gain[0]:.0%} at p = 0, and by {float(gain[18]):.0%} at p = 1/2, than the plain interval."
    return {
        "$schema": SCHEMA,
        "description": f"The expected width of {confidence_level(confidence):.0%} intervals for p, over p. {summary}",
        "title": {
            "text": f"Intervals for p from {n} bits at ε = {float(positive(epsilon, 'epsilon')):g}",
            "subtitle": summary,
        },
        "data": {"values": rows},
        "mark": {"type": "line", "point": "transparent", "strokeWidth": 2},
        "encoding": {
            "x": {"field": "p", "type": "quantitative", "scale": {"domain": [0, 1]}, "title": "p"},
            "y": {"field": "width", "type": "quantitative", "scale": {"zero": True}, "title": "expected width"},
            "color": {
                "field": "interval",
                "type": "nominal",
                "scale": {"domain": list(names.values()), "range": list(COLOURS)},
                "legend": {"orient": "bottom", "title": None},
            },
            "tooltip": [
                {"field": "interval", "type": "nominal"},
                {"field": "p", "type": "quantitative", "format": ".3~g"},
                {"field": "width", "type": "quantitative", "format": ".3~g"},
            ],
        },
        "width": 360,
        "height": 240,
    }
