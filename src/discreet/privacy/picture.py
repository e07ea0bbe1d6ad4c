"""Pictures of a privacy loss: a Vega-Lite specification for notebooks and web pages, and bars of text for a terminal.

Both show how likely which loss is, the guarantee δ(ε), and what an attacker can achieve. Pictures are read, not charged: they are
near-exact, and what they round in words they round to the worse side. Nothing here computes a loss by any new rule.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from itertools import pairwise
from math import ceil, exp, floor, inf, log, log10
from textwrap import wrap
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from discreet.errors import Invalid
from discreet.exact import shown, to_float_up, whole
from discreet.privacy.numeric.contour import Lattice
from discreet.privacy.numeric.direction import Direction

if TYPE_CHECKING:
    from discreet.privacy.loss import PrivacyLoss

Spec: TypeAlias = dict[str, Any]
Row: TypeAlias = dict[str, float | str]
Curve: TypeAlias = list[tuple[float, float]]

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
TAIL = 1e-4  # what the bars may leave out at either end
BARS, LINES = 40, 20  # at most so many, on a page and in a terminal, and one or two more at the ends
THIN = 40  # a loss with a probability of its own is drawn as wide as such a part of the whole
UNSEEN = 1e-7  # of all finite losses; no picture shows a bar of less, and rounding may be all of it
ONE_POINT = 1e-9  # of where the losses might lie; within it they are one
TURNS = 64
FIRST, MORE = 28, 16  # points of δ(ε): denser near 0, where most attackers are, and then where it falls most
PIXEL = 1 / 500  # of an axis; nobody sees points closer than that
LEAST_DELTA, DECADES = 1e-9, 1e-6  # how low δ is shown, and how far below δ(0) at least
NO_LESS = 1e-300
FIRST_ALPHA, ALPHAS = 1e-9, 21  # rates of false alarms that are shown in any case
NARROWEST, WIDEST = 40, 200
DELTAS = (Fraction(1, 10**3), Fraction(1, 10**6), Fraction(1, 10**9))
EIGHTHS = " ▏▎▍▌▋▊▉"
COLOURS = ["#4c78a8", "#f58518"]


def specification(loss: "PrivacyLoss") -> Spec:
    """The picture as a Vega-Lite specification, with its data inside: all numbers are finite, so that it is JSON as it stands.

    A panel that has nothing to show is left out: the losses and the errors where only zCDP is known, δ(ε) where it is 0 everywhere.
    """
    curve = _guarantee(loss)
    panels = [panel for panel in (_loss_panel(loss), _delta_panel(loss, curve), _error_panel(loss, curve)) if panel]
    said = _facts(loss)
    return {
        "$schema": SCHEMA,
        "description": " ".join([*said, *(panel["description"] for panel in panels)]),
        "title": {
            "text": f"What can be learned about one {_unit(loss)}",
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


def drawing(loss: "PrivacyLoss", width: int = 72) -> str:
    """The picture as text of at most `width` columns, 40 to 200: bars of the loss, ε at three δ, and the best attacker's success."""
    columns = whole(width, "width")
    if not NARROWEST <= columns <= WIDEST:
        raise Invalid(f"width must be from {NARROWEST} to {WIDEST} columns, got {shown(width)}")
    parts = [_bar_lines(loss, columns), _epsilon_lines(loss, columns)]
    parts += [wrap(fact, columns) for fact in _facts(loss)]
    return "\n\n".join("\n".join(line.rstrip() for line in part) for part in parts if part)


# What is said in words.


def _facts(loss: "PrivacyLoss") -> list[str]:
    """What everybody should know, in sentences."""
    success = (
        f"Asked which of two data sets was used, equally likely and different in one {_unit(loss)} only, "
        f"the best attacker is right at most {_percent(loss.posterior())} of the time; a coin is right 50%."
    )
    failure = max(to_float_up(direction.failure) for direction in loss._directions)
    fails = (
        f"With probability {_percent(failure)} the privacy loss is infinite: "
        "the output then shows for certain which data set was used."
    )
    unknown = "Only zCDP is known of a part of it, so that these are upper bounds, and the loss itself is not known."
    nothing = "Nothing is revealed: δ is 0 for every ε."
    silent = not failure and all(direction.largest == 0 for direction in loss._directions)
    said = ((success, True), (fails, failure > 0), (unknown, _concentrated(loss)), (nothing, silent))
    return [fact for fact, holds in said if holds]


def _unit(loss: "PrivacyLoss") -> str:
    return loss.relation.unit.value if loss.relation and loss.relation.unit else "unit"


def _cases(loss: "PrivacyLoss") -> list[str]:
    """What is true in each direction, where they differ."""
    if len(loss._directions) == 1:
        return [""]
    return [f"the {_unit(loss)} is in the data", f"the {_unit(loss)} is not in the data"]


def _concentrated(loss: "PrivacyLoss") -> bool:
    return any(direction.rho for direction in loss._directions)


def _percent(probability: float) -> str:
    """Rounded up.

    >>> _percent(0.691462461274013)
    '69.15%'
    """
    return f"{_rounded_up(Decimal(repr(float(probability))).scaleb(2))}%"


def _rounded_up(value: Decimal) -> str:
    """Four digits, never less than the value.

    >>> _rounded_up(Decimal("0.12341")), _rounded_up(Decimal("0.5")), _rounded_up(Decimal("500004753423.3"))
    ('0.1235', '0.5', '5.001e+11')
    """
    return f"{float(Context(prec=4, rounding=ROUND_CEILING).create_decimal(value)):g}"


# The distribution of the loss.


@dataclass(frozen=True, slots=True)
class Bar:
    """P(loss − half < L <= loss + half), or where half is 0 P(L = loss)."""

    loss: float
    half: float
    probability: float


def _bars(loss: "PrivacyLoss", most: int) -> list[list[Bar]]:
    """The bars of each direction, over one range; none where no loss is finite, or none is known."""
    directions = loss._directions
    if _concentrated(loss) or any(not float(1 - direction.failure) for direction in directions):
        return []
    reach = max(_reach(direction) for direction in directions)
    spans = [_span(direction, reach) for direction in directions]
    low, high = min(low for low, _ in spans), max(high for _, high in spans)
    return [_bars_between(direction, low, high, most) for direction in directions]


def _reach(direction: Direction) -> float:
    """A loss that is hardly ever exceeded. The losses of the other direction are hardly ever below its negative."""
    return abs(direction.largest) if direction.largest < inf else direction.epsilon(_least_delta(direction))


def _least_delta(direction: Direction) -> float:
    """The δ, apart from open failure, down to which the guarantee is shown."""
    return max(NO_LESS, min(LEAST_DELTA, DECADES * exp(direction.log_delta(0.0))))


def _span(direction: Direction, reach: float) -> tuple[float, float]:
    """(low, high] with all finite losses but TAIL at either end, by bisection; both ends together, since each look tells of both."""
    finite = float(1 - direction.failure)
    least = sum(n * side.least for side, n in direction.parts)

    def exceeding(x: float) -> float:
        return 1.0 if x < least else exp(direction.log_tail(x)) / finite

    low, high = -1.05 * reach, reach
    if exceeding(low) < 1 - TAIL:
        low = min(low, log(TAIL * finite)) - 1  # P(L <= x) <= e^x, whatever the mechanism
    while exceeding(high) > TAIL:
        high += high or 1.0
    whole_range, above_low, below_high = high - low, high, low
    for _ in range(TURNS):
        widest = max(above_low - low, high - below_high)
        if widest <= max((high - low) / LINES, ONE_POINT / 2 * whole_range):
            break
        middle = (low + above_low) / 2 if above_low - low == widest else (below_high + high) / 2
        more = exceeding(middle)
        low, above_low = (max(low, middle), above_low) if more >= 1 - TAIL else (low, min(above_low, middle))
        below_high, high = (max(below_high, middle), high) if more > TAIL else (below_high, min(high, middle))
    return (high, high) if high - low <= ONE_POINT * whole_range else (low, high)


def _bars_between(direction: Direction, low: float, high: float, most: int) -> list[Bar]:
    if low == high:
        return [Bar(high, 0.0, float(1 - direction.failure))]
    lattice = direction.lattice
    if lattice is not None:
        return _lattice_bars(direction, lattice, low, high, most)
    step = _round_step((high - low) / most)
    first, last = floor(Fraction(low) / step + Fraction(1, 2)), ceil(Fraction(high) / step - Fraction(1, 2))
    return _counted(direction, step * first, step, last - first + 1, float(step) / 2)


def _lattice_bars(direction: Direction, lattice: Lattice, low: float, high: float, most: int) -> list[Bar]:
    """Every possible loss by itself, or where they are too many equally many in each bar, so that no bar stands out by chance."""
    first = floor((Fraction(low) - lattice.offset) / lattice.step)
    last = ceil((Fraction(high) - lattice.offset) / lattice.step)
    together = max(1, ceil(Fraction(last - first - 1, most)))
    count = ceil(Fraction(last - first + 1, together))
    middle = lattice.offset + lattice.step * (first + Fraction(together - 1, 2))
    width = lattice.step * together
    if together > 1:
        return _counted(direction, middle, width, count, float(width) / 2)
    return [bar for bar in _counted(direction, middle, width, count, 0.0) if bar.probability]


def _counted(direction: Direction, first: Fraction, step: Fraction, count: int, half: float) -> list[Bar]:
    """`count` bars around first, first + step, …: what exceeds their left edge and not their right one."""
    edges = [float(first + step * (i - Fraction(1, 2))) for i in range(count + 1)]
    beyond = np.minimum.accumulate([exp(direction.log_tail(edge)) for edge in edges])
    between = beyond[:-1] - beyond[1:]
    between[between < UNSEEN * float(1 - direction.failure)] = 0.0
    return [Bar(float(first + step * i), half, float(between[i])) for i in range(count)]


def _round_step(least: float) -> Fraction:
    """The first of … 0.1, 0.2, 0.5, 1, 2, 5, … that is not less.

    >>> _round_step(0.03), _round_step(11.0)
    (Fraction(1, 20), Fraction(20, 1))
    """
    power = Fraction(10) ** floor(log10(least))
    return next(power * digit for digit in (1, 2, 5, 10, 20) if power * digit >= least)


def _labels(bars: Sequence[Bar], offset: float = 0.0) -> list[str]:
    """The losses, `offset` halves away, with as many digits as tell neighbours apart."""
    losses = [bar.loss for bar in bars]
    least = min((after - before for before, after in pairwise(losses)), default=inf)
    digits = 3 if least == inf else max(3, ceil(log10(max(abs(x) for x in losses) / least)) + 2)
    return [f"{bar.loss + offset * bar.half:.{min(digits, 12)}g}" for bar in bars]


# The guarantee, and what follows from it.


def _guarantee(loss: "PrivacyLoss") -> Curve:
    """(ε, δ(ε)) from 0 to where δ is so small that nobody asks, with more points where it falls fast."""
    end = max(direction.epsilon(_least_delta(direction)) for direction in loss._directions) or 1.0
    if any(direction.failure for direction in loss._directions):
        end *= 1.1  # to show that δ falls no further
    curve = [(epsilon, loss.delta(epsilon)) for epsilon in (end * np.linspace(0.0, 1.0, FIRST) ** 2).tolist()]
    for _ in range(MORE):
        falls = [
            log(_seen(a, curve) / _seen(b, curve)) if y - x > PIXEL * end else 0.0 for (x, a), (y, b) in pairwise(curve)
        ]
        at = int(np.argmax(falls))
        if falls[at] > 0:
            middle = (curve[at][0] + curve[at + 1][0]) / 2
            curve.insert(at + 1, (middle, loss.delta(middle)))
    return curve


def _seen(delta: float, curve: Curve) -> float:
    """δ, or the least δ shown where it is less."""
    return max(delta, NO_LESS, min(LEAST_DELTA, DECADES * curve[0][1]))


def _errors(curve: Curve, failure: float) -> Curve:
    """(α, β): the least false-negative rate β of all attackers with the false-positive rate α, which is convex.

    Each (ε, δ) forbids all below the lines β = 1 − δ − e^ε α and β = e^-ε (1 − δ − α) (Dong, Roth and Su 2022). Corners are where
    neighbouring lines meet; between the lines known here the curve can only lie higher, so that no attacker is shown too weak.
    """
    epsilon, delta = np.array(curve).T
    slopes, kept = np.exp(np.minimum(epsilon, 700.0)), 1 - delta
    rises = np.maximum(0.0, -np.diff(delta)) / -np.expm1(-np.diff(epsilon))
    rises = np.minimum(rises, kept[1:])  # e^ε α, where the lines of two ε meet
    corners_at = [np.exp(-epsilon[1:]) * rises, kept[1:] - rises, kept[-1:]]
    alphas = np.concatenate([*corners_at, [FIRST_ALPHA], np.linspace(0.0, 1.0, ALPHAS)])
    corners = [(0.0, 1 - failure)]
    for alpha in np.unique(alphas[alphas > 0]).tolist():
        steep = np.where(epsilon <= 700.0, kept - slopes * alpha, -inf)
        corners.append((alpha, max(0.0, float(np.max(steep)), float(np.max((kept - alpha) / slopes)))))
    return corners


# The three panels.


def _loss_panel(loss: "PrivacyLoss") -> Spec | None:
    series = _bars(loss, BARS)
    if not series:
        return None
    several = len(series) > 1
    edges = sorted(bar.loss + sign * bar.half for bars in series for bar in bars for sign in (-1, 1))
    room = (abs(edges[0]) or 1.0) if edges[0] == edges[-1] else 0.0  # a single loss gets some at both sides
    low, high = edges[0] - room, edges[-1] + room
    thin = (high - low) / THIN / 2
    cases = _cases(loss)
    rows = [row for case, bars in zip(cases, series, strict=True) for row in _bar_rows(bars, thin, case)]
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
        encoding["color"] = _colour("case", cases, COLOURS, "bottom")
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
    for bar, exact, left, right in zip(bars, _labels(bars), _labels(bars, -1), _labels(bars, 1), strict=True):
        half = bar.half or min(thin, 0.45 * closest)
        said = f"{left} to {right}" if bar.half else exact
        rows.append({"from": bar.loss - half, "to": bar.loss + half, "losses": said, "probability": bar.probability})
        if case:
            rows[-1]["case"] = case
    return rows


def _delta_panel(loss: "PrivacyLoss", curve: Curve) -> Spec | None:
    if not curve[0][1]:
        return None
    rows = [{"epsilon": epsilon, "delta": _seen(delta, curve)} for epsilon, delta in curve]
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
                "title": "δ, at most" if _concentrated(loss) else "δ",
            },
            "tooltip": [
                {"field": "epsilon", "type": "quantitative", "title": "ε", "format": ".4~g"},
                {"field": "delta", "type": "quantitative", "title": "δ", "format": ".3~g"},
            ],
        },
    }


def _error_panel(loss: "PrivacyLoss", curve: Curve) -> Spec | None:
    if _concentrated(loss):
        return None
    failure = max(float(direction.failure) for direction in loss._directions)
    ours, perfect = "this release", "perfect privacy"
    rows: list[Row] = [{"alpha": alpha, "beta": beta, "curve": ours} for alpha, beta in _errors(curve, failure)]
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


# The terminal.


def _bar_lines(loss: "PrivacyLoss", columns: int) -> list[str]:
    series = _bars(loss, LINES)
    if not series:
        return []
    lines = wrap(
        "Privacy loss, and how likely it is. Above 0 the output speaks for the truth, below 0 against it.", columns
    )
    highest = max(bar.probability for bars in series for bar in bars)
    for case, bars in zip(_cases(loss), series, strict=True):
        lines += ["", *wrap(f"When {case}:", columns)] if case else [""]
        labels = _labels(bars)
        left = max(len(label) for label in labels)
        room = columns - left - 9
        for label, bar in zip(labels, bars, strict=True):
            lines.append(f"{label:>{left}} │{_blocks(bar.probability / highest, room)} {_share(bar.probability)}")
    return lines


def _blocks(share: float, room: int) -> str:
    """A bar of eighths of a column, and at least one where there is anything to see.

    >>> _blocks(0.5, 3), _blocks(1e-3, 3), _blocks(0.0, 3)
    ('█▌', '▏', '')
    """
    eighths = max(round(8 * room * share), share > 0)
    return ("█" * (eighths // 8) + EIGHTHS[eighths % 8]).rstrip()


def _share(probability: float) -> str:
    if not probability:
        return ""
    return "<0.1%" if probability < 0.001 else f"{100 * probability:.1f}%"


def _epsilon_lines(loss: "PrivacyLoss", columns: int) -> list[str]:
    lines = wrap("(ε, δ)-differentially private, ε rounded up, with", columns)
    for delta in DELTAS:
        epsilon = loss.epsilon(delta)
        said = "no finite ε" if epsilon == inf else f"ε = {_rounded_up(Decimal(repr(float(epsilon))))}"
        lines.append(f"  δ = {float(delta):g}: {said}")
    return lines
