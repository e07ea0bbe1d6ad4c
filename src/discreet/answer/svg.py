"""An answer as an SVG: for each number its values and their intervals, which any browser and any office program draws.

Groups that are called by words lie below each other, as words are read from left to right; groups on a scale (numbers, dates) stand
beside each other in their order.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import floor, log10
from typing import TYPE_CHECKING, Any

from discreet.answer.chart import MOST_BARS, drawn, is_sideways, points_of
from discreet.answer.digits import grouped, price
from discreet.plan.visible import visible

if TYPE_CHECKING:
    from discreet.answer.record import Answer

# In pixels: a character, a line of text, and what lies between panels.
LETTER, LINE, GAP = 7, 22, 26
# In pixels: the width of a drawing, and the height of one whose groups stand beside each other.
WIDE, TALL = 420, 180
LONGEST_LABEL = 30
LARGEST = 1e300
TICKS = 5
STYLE = 'font-family="system-ui, sans-serif" font-size="12" fill="currentColor"'


@dataclass(frozen=True, slots=True)
class Axis:
    """A scale from `low` to `high` over so many pixels, which begin at `start`; they may run backwards."""

    low: float
    high: float
    start: float
    pixels: float

    def at(self, value: float) -> float:
        """The place of a value inside of the drawing.

        >>> Axis(0, 10, 100, 50).at(5), Axis(0, 10, 150, -50).at(5), Axis(0, 10, 100, 50).at(99)
        (125.0, 125.0, 150.0)
        """
        share = (value - self.low) / (self.high - self.low)
        return round(self.start + self.pixels * min(max(share, 0.0), 1.0), 1)

    def ticks(self) -> Iterator[float]:
        """Round numbers along the scale.

        >>> list(Axis(0, 97, 0, 1).ticks()), list(Axis(-0.3, 0.9, 0, 1).ticks())
        ([0.0, 20.0, 40.0, 60.0, 80.0], [0.0, 0.5])
        """
        rough = (self.high - self.low) / TICKS
        power = 10.0 ** floor(log10(rough))
        step = next(power * each for each in (1, 2, 5, 10) if power * each >= rough)
        first = -floor(-self.low / step)
        yield from (float(f"{k * step:.12g}") for k in range(first, floor(self.high / step) + 1))


def svg_of(answer: "Answer") -> str:
    """The picture of an answer; raises Invalid where no column is a number with an error."""
    panels, top, width = [], 0.0, 0.0
    keys = (
        [", ".join(column.head for column in answer.columns if column.key)]
        if any(column.key for column in answer.columns)
        else []
    )
    for j in drawn(answer):
        points = points_of(answer, j)
        heading = " by ".join([answer.columns[j].head, *keys])
        title = f'<text x="0" y="{top + 14}" font-weight="bold">{escape(visible(heading))}</text>'
        draw = _below_each_other if is_sideways(answer) else _side_by_side
        body, height, reach = draw(points, top + LINE)
        panels.append(title + body)
        top, width = top + LINE + height + GAP, max(width, reach)
    legend = f"± is {answer.covered}, {answer.confidence_said}. {price(answer.epsilon, answer.delta, answer.relation)}."
    foot = f'<text x="0" y="{top}" opacity="0.75">{escape(legend)}</text>'
    width = max(width, LETTER * len(legend))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{top + 8:g}" '
        f'viewBox="0 0 {width:g} {top + 8:g}" role="img" {STYLE}>{"".join(panels)}{foot}</svg>'
    )


def _range(points: Sequence[dict[str, Any]], zero: bool) -> tuple[float, float]:
    """The least and the greatest end, apart where there is nothing between them, and never so far that their distance is no number."""
    ends = [float(point[name]) for point in points for name in ("value", "low", "high") if name in point]
    ends += [0.0] if zero or not ends else []
    low, high = max(min(ends), -LARGEST), min(max(ends), LARGEST)
    return (low, high) if high - low > 1 / LARGEST else (low - 1, high + 1)


def _below_each_other(points: Sequence[dict[str, Any]], top: float) -> tuple[str, float, float]:
    """A bar for each group, with its words before it and its number behind it; the height, and the width."""
    shown = points[:MOST_BARS]
    labels = [_label(point) for point in shown]
    left = LETTER * max((len(label) for label in labels), default=0) + 16
    axis = Axis(*_range(shown, True), left, WIDE)
    zero = axis.at(0)
    parts = []
    for i, (point, label) in enumerate(zip(shown, labels, strict=True)):
        y = top + LINE * i + LINE / 2
        at = axis.at(point["value"])
        parts.append(
            f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{escape(label)}</text>'
            f'<rect x="{min(zero, at)}" y="{y - 7}" width="{abs(at - zero):.1f}" height="14" opacity="0.35"/>'
            f'<text x="{left + WIDE + 10}" y="{y + 4}">{escape(point["said"])}</text>'
        )
        if "low" in point:
            low, high = axis.at(point["low"]), axis.at(point["high"])
            parts.append(_line(f"M{low} {y}H{high}M{low} {y - 4}V{y + 4}M{high} {y - 4}V{y + 4}"))
    bottom = top + LINE * len(shown)
    parts.append(_line(f"M{zero} {top}V{bottom}", 0.5))
    if len(points) > len(shown):
        parts.append(f'<text x="0" y="{bottom + 14}">… and {len(points) - len(shown):,} more</text>')
    written = LETTER * max((len(point["said"]) for point in shown), default=0)
    return "".join(parts), bottom - top + (LINE if len(points) > len(shown) else 0), left + WIDE + 10 + written


def _side_by_side(points: Sequence[dict[str, Any]], top: float) -> tuple[str, float, float]:
    """A bar, or where there are many a point, for each group along the scale of its key; the height, and the width."""
    bars = len(points) <= MOST_BARS
    low, high = _range(points, bars)
    axis = Axis(low, high, top + TALL, -TALL)
    ticks = [(axis.at(tick), grouped(tick)) for tick in axis.ticks()]
    left = LETTER * max((len(tick) for _, tick in ticks), default=0) + 10
    parts = [
        f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{tick}</text>{_line(f"M{left} {y}H{left + WIDE}", 0.15)}'
        for y, tick in ticks
    ]
    room = WIDE / max(len(points), 1)
    longest = max((len(_label(point)) for point in points), default=0)
    every = max(1, -floor(-(LETTER * (longest + 1)) / room))
    for i, point in enumerate(points):
        x, at = round(left + room * (i + 0.5), 1), axis.at(point["value"])
        if bars:
            zero, wide = axis.at(0), round(0.7 * room, 1)
            parts.append(
                f'<rect x="{x - wide / 2:.1f}" y="{min(zero, at)}" width="{wide}" height="{abs(at - zero):.1f}" opacity="0.35"/>'
            )
        else:
            parts.append(f'<circle cx="{x}" cy="{at}" r="2"/>')
        if "low" in point:
            y1, y2, cap = axis.at(point["low"]), axis.at(point["high"]), min(4.0, round(room / 3, 1))
            caps = f"M{x - cap:.1f} {y1}H{x + cap:.1f}M{x - cap:.1f} {y2}H{x + cap:.1f}"
            parts.append(_line(f"M{x} {y1}V{y2}{caps if bars else ''}", 1 if bars else 0.3))
        if i % every == 0:
            parts.append(f'<text x="{x}" y="{top + TALL + 16}" text-anchor="middle">{escape(_label(point))}</text>')
    return "".join(parts), TALL + LINE, left + WIDE + LETTER * longest / 2


def _label(point: dict[str, Any]) -> str:
    label = visible(" · ".join(str(point[name]) for name in ("group", "series") if name in point))
    return label if len(label) <= LONGEST_LABEL else f"{label[: LONGEST_LABEL - 1]}…"


def _line(path: str, opacity: float = 1) -> str:
    return f'<path d="{path}" stroke="currentColor" fill="none" opacity="{opacity:g}"/>'
