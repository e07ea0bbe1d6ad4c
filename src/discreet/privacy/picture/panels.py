"""A privacy loss as a Vega-Lite specification: three panels, with the sentences above them."""

from collections.abc import Sequence
from itertools import pairwise
from math import ceil, floor, inf, log10
from textwrap import wrap
from typing import TYPE_CHECKING, Any, TypeAlias

from discreet.privacy.picture.bars import BARS, TAIL, Bar, bars_of, labels
from discreet.privacy.picture.curve import Curve, errors, guarantee, seen
from discreet.privacy.picture.words import cases, concentrated, facts, unit

if TYPE_CHECKING:
    from discreet.privacy.loss import PrivacyLoss

Spec: TypeAlias = dict[str, Any]
Row: TypeAlias = dict[str, float | str]

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
# A loss with a probability of its own is drawn as wide as such a part of the whole.
THIN = 40
COLOURS = ["#4c78a8", "#f58518"]


def specification(loss: "PrivacyLoss") -> Spec:
    """The picture as a Vega-Lite specification, with its data inside: all numbers are finite, so that it is JSON as it stands.

    A panel that has nothing to show is left out: the losses and the errors where only zCDP is known, δ(ε) where it is 0 everywhere.
    """
    curve = guarantee(loss)
    panels = [panel for panel in (_loss_panel(loss), _delta_panel(loss, curve), _error_panel(loss, curve)) if panel]
    said = facts(loss)
    return {
        "$schema": SCHEMA,
        "description": " ".join([*said, *(panel["description"] for panel in panels)]),
        "title": {
            "text": f"What can be learned about one {unit(loss)}",
            "subtitle": [line for fact in said for line in wrap(fact, 60 * len(panels))],
            "anchor": "start",
            "fontSize": 16,
            "offset": 16,
        },
        "hconcat": panels,
        "spacing": 75,
        "bounds": "flush",
        "resolve": {"scale": {"color": "independent", "strokeDash": "independent"}},
        "config": {"view": {"continuousWidth": 270, "continuousHeight": 230}, "title": {"anchor": "start"}},
    }


def _loss_panel(loss: "PrivacyLoss") -> Spec | None:
    series = bars_of(loss, BARS)
    if not series:
        return None
    several = len(series) > 1
    edges = sorted(bar.loss + sign * bar.half for bars in series for bar in bars for sign in (-1, 1))
    room = (abs(edges[0]) or 1.0) if edges[0] == edges[-1] else 0.0  # a single loss gets some at both sides
    low, high = edges[0] - room, edges[-1] + room
    thin = (high - low) / THIN / 2
    names = cases(loss)
    rows = [row for case, bars in zip(names, series, strict=True) for row in _bar_rows(bars, thin, case)]
    text = "Above 0 the output speaks for the truth, below 0 against it."
    encoding: Spec = {
        "x": {
            "field": "from",
            "type": "quantitative",
            "bin": "binned",
            "scale": {"domain": [low - 2 * thin, high + 2 * thin], "zero": False, "nice": False},
            "axis": {"format": "~g", "tickCount": 6},
            "title": "privacy loss",
        },
        "x2": {"field": "to"},
        "y": {"field": "probability", "type": "quantitative", "stack": None, "title": "probability"},
        "tooltip": [
            {"field": "losses", "type": "nominal", "title": "privacy loss"},
            {"field": "probability", "type": "quantitative", "format": ".3~g"},
            *([{"field": "case", "type": "nominal", "title": "when"}] if several else []),
        ],
    }
    if several:
        encoding["color"] = _colour("case", names, COLOURS, "bottom")
    return {
        "description": f"How likely which privacy loss is: from {edges[0]:.3g} to {edges[-1]:.3g}, but for {TAIL:g} at either end.",
        "title": {"text": "How much an output gives away", "subtitle": text},
        "data": {"values": rows},
        "mark": {"type": "bar", "opacity": 0.6 if several else 1, "color": COLOURS[0], "binSpacing": 0},
        "encoding": encoding,
    }


def _bar_rows(bars: Sequence[Bar], thin: float, case: str) -> list[Row]:
    closest = min((after.loss - before.loss for before, after in pairwise(bars)), default=inf)
    rows: list[Row] = []
    for bar, exact, left, right in zip(bars, labels(bars), labels(bars, -1), labels(bars, 1), strict=True):
        half = bar.half or min(thin, 0.45 * closest)
        said = f"{left} to {right}" if bar.half else exact
        rows.append({"from": bar.loss - half, "to": bar.loss + half, "losses": said, "probability": bar.probability})
        if case:
            rows[-1]["case"] = case
    return rows


def _delta_panel(loss: "PrivacyLoss", curve: Curve) -> Spec | None:
    if not curve[0][1]:
        return None
    rows = [{"epsilon": epsilon, "delta": seen(delta, curve)} for epsilon, delta in curve]
    low, high = floor(log10(rows[-1]["delta"])), ceil(log10(rows[0]["delta"]))
    low = min(low, high - 1)
    end = curve[-1][0]
    text = "Each point of the curve is a guarantee (ε, δ): lower is better."
    return {
        "description": f"The least δ for each ε from 0 to {end:.3g}: it falls from {rows[0]['delta']:.3g} to {rows[-1]['delta']:.3g}.",
        "title": {"text": "The guarantee: δ for each ε", "subtitle": text},
        "data": {"values": rows},
        "mark": {"type": "line", "color": COLOURS[0], "point": "transparent", "strokeWidth": 2},
        "encoding": {
            "x": {
                "field": "epsilon",
                "type": "quantitative",
                "scale": {"domain": [0, 1.01 * end], "nice": False},
                "axis": {"format": "~g", "tickCount": 6},
                "title": "ε",
            },
            "y": {
                "field": "delta",
                "type": "quantitative",
                "scale": {"type": "log", "domain": [10.0**low, 10.0**high]},
                "axis": {
                    "values": [10.0**power for power in range(low, high + 1, ceil((high - low) / 10))],
                    "labelExpr": "datum.value == 1 ? '1' : format(datum.value, '.0e')",
                },
                "title": "δ, at most" if concentrated(loss) else "δ",
            },
            "tooltip": [
                {"field": "epsilon", "type": "quantitative", "title": "ε", "format": ".4~g"},
                {"field": "delta", "type": "quantitative", "title": "δ", "format": ".3~g"},
            ],
        },
    }


def _error_panel(loss: "PrivacyLoss", curve: Curve) -> Spec | None:
    if concentrated(loss):
        return None
    failure = max(float(direction.failure) for direction in loss._directions)
    ours, perfect = "this release", "perfect privacy"
    rows: list[Row] = [{"alpha": alpha, "beta": beta, "curve": ours} for alpha, beta in errors(curve, failure)]
    rows += [{"alpha": alpha, "beta": 1 - alpha, "curve": perfect} for alpha in (0.0, 1.0)]
    shares = {"type": "quantitative", "scale": {"domain": [0, 1]}, "axis": {"format": ".0%", "tickCount": 5}}
    return {
        "description": "How rarely an attacker can err, who tells the two data sets apart: the least rate of misses for each rate of "
        "false alarms. The nearer to the diagonal, the nearer to guessing.",
        "title": {
            "text": "What an attacker can achieve",
            "subtitle": "No attacker errs less: nearer to the diagonal is better.",
        },
        "data": {"values": rows},
        "mark": {"type": "line", "point": "transparent", "strokeWidth": 2},
        "encoding": {
            "x": {"field": "alpha", "title": "false alarms: false-positive rate α", **shares},
            "y": {"field": "beta", "title": "misses: least false-negative rate β", **shares},
            "color": _colour("curve", [ours, perfect], [COLOURS[0], "#888888"], "top-right"),
            "strokeDash": {
                "field": "curve",
                "type": "nominal",
                "scale": {"domain": [ours, perfect], "range": [[1, 0], [4, 4]]},
                "legend": None,
            },
            "tooltip": [
                {"field": "curve", "type": "nominal", "title": "curve"},
                {"field": "alpha", "type": "quantitative", "title": "false-positive rate α", "format": ".3~g"},
                {"field": "beta", "type": "quantitative", "title": "least false-negative rate β", "format": ".3~g"},
            ],
        },
    }


def _colour(field: str, names: Sequence[str], colours: Sequence[str], orient: str) -> Spec:
    scale = {"domain": list(names), "range": list(colours)}
    return {"field": field, "type": "nominal", "scale": scale, "legend": {"orient": orient, "title": None}}
