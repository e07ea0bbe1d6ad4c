"""The picture of accuracy against ε: a panel for each table, a line for each library."""

from collections.abc import Mapping, Sequence
from math import log10

COLOURS = {"discreet": "#4c78a8", "discreet, wide bounds": "#9ecae9", "diffprivlib": "#f58518"}
WIDE, HIGH, LEFT, TOP, GAP = 220, 170, 44, 64, 50


def picture(found: Mapping[str, Mapping[str, Sequence[float]]], epsilons: Sequence[float]) -> str:
    """Shares from 0 to 1 upwards, ε to the right by its logarithm; what is below 0 is drawn at 0."""
    width, height = LEFT + len(found) * (WIDE + GAP), TOP + HIGH + 44
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        ' font-family="sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        _text(LEFT, 16, "Accuracy on rows that were not trained on (of the line: R²), against ε", bold=True),
    ]
    for at, (name, colour) in enumerate(COLOURS.items()):
        x = LEFT + at * 190
        lines.append(f'<line x1="{x}" x2="{x + 18}" y1="31" y2="31" stroke="{colour}" stroke-width="3"/>')
        lines.append(_text(x + 24, 35, name))
    for i, (title, ways) in enumerate(found.items()):
        lines += _panel(LEFT + i * (WIDE + GAP), title, ways, epsilons)
    return "\n".join([*lines, "</svg>", ""])


def _panel(x: float, title: str, ways: Mapping[str, Sequence[float]], epsilons: Sequence[float]) -> list[str]:
    bottom = TOP + HIGH
    first, last = log10(epsilons[0]), log10(epsilons[-1])

    def along(epsilon: float) -> float:
        return x + WIDE * (log10(epsilon) - first) / (last - first)

    found = [
        _text(x, TOP - 8, title),
        f'<rect x="{x}" y="{TOP}" width="{WIDE}" height="{HIGH}" fill="none" stroke="#bbb"/>',
    ]
    for epsilon in epsilons:
        found.append(_text(along(epsilon), bottom + 15, f"{epsilon:g}", "middle"))
    for share in (0, 0.25, 0.5, 0.75, 1):
        at = bottom - HIGH * share
        found.append(f'<line x1="{x}" x2="{x + WIDE}" y1="{at:.1f}" y2="{at:.1f}" stroke="#eee"/>')
        found.append(_text(x - 5, at + 4, f"{share:g}", "end"))
    for name, values in ways.items():
        points = " ".join(
            f"{along(epsilon):.1f},{bottom - HIGH * min(max(value, 0), 1):.1f}"
            for epsilon, value in zip(epsilons, values, strict=True)
        )
        found.append(f'<polyline points="{points}" fill="none" stroke="{COLOURS[name]}" stroke-width="2"/>')
    return [*found, _text(x + WIDE / 2, bottom + 32, "ε", "middle")]


def _text(x: float, y: float, words: str, anchor: str = "start", bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="#333"{weight}>{words}</text>'
